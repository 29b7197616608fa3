// SPDX-License-Identifier: MIT
// page.mjs URL MODULES FILE: looks at the page of rung explore in a browser. MODULES has puppeteer-core, FILE is a configuration
// whose name and model_type are markup. Keyboard, phone, dark, no messages, nothing from elsewhere, names stay text.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";

const [url, modules, file] = process.argv.slice(2);
const puppeteer = createRequire(join(modules, "package.json"))("puppeteer-core");
const profile = mkdtempSync(join(tmpdir(), "rung-explore-"));
const browser = await puppeteer.launch({
    executablePath: "/usr/bin/chromium",
    userDataDir: profile,
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync"],
});
const page = await browser.newPage();
const messages = [], elsewhere = [];
page.on("console", (m) => messages.push(m.text()));
page.on("pageerror", (e) => messages.push(String(e)));
page.on("request", (r) => { if (!r.url().startsWith(url) && !r.url().startsWith("data:")) elsewhere.push(r.url()); });
page.on("dialog", (d) => { messages.push("a dialog: " + d.message()); d.dismiss(); });

const text = (selector) => page.$eval(selector, (e) => e.textContent);
const ready = () => page.evaluate(() => document.body.dataset.ready || "0");
// Waits until an answer that is newer than `before` is shown.
async function answered(before) {
    await page.waitForFunction((b) => (document.body.dataset.ready || "0") !== b, { timeout: 60000 }, before);
}
async function change(act) {
    const before = await ready();
    await act();
    await answered(before);
}
// The page is as wide as its window, whatever it shows.
async function fits(width) {
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= width, `the page is ${wide} pixels wide in a window of ${width}`);
}

try {
    await page.setViewport({ width: 1280, height: 900 });
    await page.goto(url + "/", { waitUntil: "load" });
    await answered("0");
    assert.match(await text("#counts"), /^48 layers: 12\*\(3\*gdelta,full\)$/);
    assert.equal(await page.$$eval("#strip rect", (all) => all.length), 48);
    assert.match(await text("#memory"), /131,072 tokens/);
    assert.match(await text("#commands"), /rung card .*--context 131072/);
    assert.match(await text("#abilities"), /look-up/);
    assert.match(await text("#recall"), /Proved: alone they cannot recall a table of [\d,]+ entries.*Measured, not proved: one trained layer of gdelta/);
    await fits(1280);

    // With the keyboard alone: to the field of the layers, type, Enter.
    await page.focus("#arch");
    await page.keyboard.down("Control");
    await page.keyboard.press("KeyA");
    await page.keyboard.up("Control");
    await page.keyboard.type("full,4*linear");
    await change(() => page.keyboard.press("Enter"));
    assert.match(await text("#counts"), /^5 layers: full,4\*linear$/);
    assert.match(await text("#commands"), /rung bound 'full,4\*linear' --heads 8 --head-dim 64/);
    // A slider by its keys. 2^40 tokens: the theorem about one full layer holds.
    await page.focus("#n");
    await change(() => page.keyboard.press("End"));
    assert.match(await text("#verdict"), /^CANNOT B0/);
    assert.match(await text("#theorems"), /from [\d,]+ tokens/);
    await page.focus("#context");
    await change(() => page.keyboard.press("Home"));
    assert.match(await text("#memory"), /^256 tokens/);
    await page.focus("#ratio");
    await change(() => page.keyboard.press("ArrowRight"));
    assert.match(await text("#h-layers"), /with ratio=1:1/);
    assert.equal(await page.$$eval("#curve path", (all) => all.length), 4);

    // The link shows the same in a new page.
    const link = await page.$eval("#link", (a) => a.href), seen = await text("#memory");
    await page.goto("about:blank");
    await page.goto(link, { waitUntil: "load" });
    await answered("0");
    assert.equal(await text("#memory"), seen);

    // What is wrong is said, and the page goes on.
    await page.focus("#arch");
    await page.$eval("#arch", (e) => { e.value = "full,nonsense"; });
    await page.keyboard.press("Enter");
    await page.waitForSelector("#message:not([hidden])", { timeout: 60000 });
    assert.match(await text("#message"), /nonsense/);

    // A file with markup in its name and in its keys.
    const chooser = await page.$("#file");
    await change(() => chooser.uploadFile(file));
    assert.match(await text("#h-layers"), /<img src=x onerror=alert\(1\)>/);
    assert.equal(await page.$$eval("img", (all) => all.length), 0);
    assert.equal(await page.$$eval("script", (all) => all.length), 1);

    // A phone, in the dark.
    await page.setViewport({ width: 390, height: 800, isMobile: true });
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
    await page.goto(link, { waitUntil: "load" });
    await page.reload({ waitUntil: "load" });
    await answered("0");
    await fits(390);
    const back = await page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0));
    assert.ok(back < 380, "not dark");
    // The refusal of the nonsense is a reply with status 400, which the browser reports.
    assert.deepEqual(messages.filter((m) => !/status of 400/.test(m)), []);
    assert.equal(messages.length, 1);
    assert.deepEqual(elsewhere.filter((u) => u !== "about:blank"), []);
    console.log("ok");
} finally {
    await browser.close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
}
