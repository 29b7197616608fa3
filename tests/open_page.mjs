// SPDX-License-Identifier: MIT
// Opens a page of ours in Chromium as a reader would, hands it to `read`, and demands that it has said nothing on the console and asked for nothing
// elsewhere. MODULES has puppeteer-core.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

export async function openPage(path, modules, read) {
    const puppeteer = createRequire(join(modules, "package.json"))("puppeteer-core");
    const profile = mkdtempSync(join(tmpdir(), "rung-page-"));
    const browser = await puppeteer.launch({
        executablePath: "/usr/bin/chromium",
        userDataDir: profile,
        args: ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update"],
    });
    try {
        const page = await browser.newPage();
        const messages = [], elsewhere = [], address = "file://" + resolve(path);
        page.on("console", (m) => messages.push(m.text()));
        page.on("pageerror", (e) => messages.push(String(e)));
        page.on("request", (r) => { if (r.url().split("#")[0] !== address && !/^(data|blob):/.test(r.url())) elsewhere.push(r.url()); });
        await page.setViewport({ width: 1280, height: 900 });
        await page.goto(address, { waitUntil: "load" });
        await read(page);
        assert.deepEqual(messages, []);
        assert.deepEqual(elsewhere, []);
    } finally {
        await browser.close();
        rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    }
}
