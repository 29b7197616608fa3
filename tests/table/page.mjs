// SPDX-License-Identifier: MIT
// page.mjs PAGE MODULES: reads the page of rung table as a person does. MODULES has puppeteer-core.
import assert from "node:assert/strict";
import { openPage } from "../open_page.mjs";

const [path, modules] = process.argv.slice(2);
await openPage(path, modules, async (page) => {
    // The matrix is the first thing that is seen, and says in words what its colours say.
    const top = await page.$eval(".matrix", (e) => e.getBoundingClientRect().top);
    assert.ok(top < 200, `the matrix begins at ${top}`);
    const cells = await page.$$eval(".matrix tbody td", (all) => all.map((td) => [td.className, td.querySelector("a.v").textContent]));
    assert.equal(cells.length, 60);
    const words = { can: /✓ CAN$/, cannot: /✗ CANNOT$/, sampled: /≈ SAMPLED$/, unknown: /\? UNKNOWN$/ };
    for (const [name, text] of cells) assert.match(text, words[name]);

    // One click: the evidence is open, in view and marked.
    for (const href of await page.$$eval(".matrix a.v", (all) => all.map((a) => a.getAttribute("href")))) {
        await page.evaluate((h) => document.querySelector(`.matrix a[href="${h}"]`).click(), href);
        const there = await page.$eval(href, (e) => e.closest("details").open && e.textContent.length > 40);
        assert.ok(there, href);
    }
    await page.waitForFunction((id) => { const r = document.getElementById(id).getBoundingClientRect(); return r.top >= 0 && r.top < innerHeight; },
        { timeout: 10000 }, cells.length && (await page.evaluate(() => location.hash.slice(1))));
    // Every link inside leads somewhere.
    const dead = await page.$$eval('a[href^="#"]', (all) => all.filter((a) => !document.getElementById(a.getAttribute("href").slice(1))).map((a) => a.href));
    assert.deepEqual(dead, []);

    // The head stays when one scrolls.
    await page.evaluate(() => scrollTo(0, 500));
    assert.equal(Math.round(await page.$eval(".matrix thead th", (e) => e.getBoundingClientRect().top)), 0);

    // L: only its column changes. Two full layers compose one function and not three.
    const column = () => page.$$eval(".matrix tbody tr", (rows) => rows.map((r) => [r.cells[3].className, r.cells[3].innerText]));
    const row = 1, before = await column();
    assert.match(before[row][1], /CANNOT/);
    await page.focus("#L");
    await page.keyboard.press("ArrowLeft");
    assert.match((await column())[row][1], /CAN\b/);
    assert.equal((await column())[row][0], "can");
    assert.equal(await page.$eval("#L-shown", (e) => e.textContent), "1");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    assert.match((await column())[row][1], /CANNOT\s+from 79,026 tokens/);
    await page.keyboard.press("ArrowLeft");
    assert.deepEqual(await column(), before);

    // Paper: two pages. A phone: no wider than its window.
    const pdf = Buffer.from(await page.pdf({ preferCSSPageSize: true, printBackground: true })).toString("latin1");
    assert.equal((pdf.match(/\/Type\s*\/Page\b/g) || []).length, 2);
    await page.setViewport({ width: 390, height: 800 });
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
});
