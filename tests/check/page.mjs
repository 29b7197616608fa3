// SPDX-License-Identifier: MIT
// page.mjs PAGE MODULES [MODEL]: opens a page that carries certificates in Chromium, checks all of them as a reader would, and demands that
// each is accepted. MODULES has puppeteer-core; MODEL is chosen where the page has no model. PICTURE=file.png keeps what is seen.
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { openPage } from "../open_page.mjs";

const [path, modules, model] = process.argv.slice(2);
await openPage(path, modules, async (page) => {
    await page.evaluate(() => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
    const places = await page.$$(".checker");
    assert.ok(places.length > 0, "the page carries no certificate that it can check");
    for (const place of places) {
        const button = await place.$("button"), file = await place.$("input");
        if (button) await button.click();
        else await file.uploadFile(resolve(model));
        await page.waitForFunction((p) => "code" in p.dataset, { timeout: 60000 }, place);
        const [code, said, text] = await place.evaluate((p) => [p.dataset.code, p.querySelector("output").textContent, p.querySelector("pre").textContent]);
        assert.equal(code, process.env.WANTED || "10", said + "\n" + text);
        assert.match(said, code === "10" ? /^accepted: checked in this page, \d+\.\d\d s$/ : /^rejected: checked in this page/);
        assert.match(text, code === "10" ? /^accepted: [a-z-]+\n/ : /^rejected: /);
        if (process.env.PICTURE && place === places[0]) {
            await place.scrollIntoView();
            await page.screenshot({ path: process.env.PICTURE });
        }
    }
    console.log(places.length);
});
