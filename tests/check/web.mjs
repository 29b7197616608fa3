// SPDX-License-Identifier: MIT
// web.mjs WASM: reads lines "CERT<tab>MODEL", runs rung-check as WebAssembly on each with the script of the pages, and prints a JSON line
// {code, text} for each. The script is src/audit/checker.js; what it needs of a page stands below.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const source = readFileSync(new URL("../../src/audit/checker.js", import.meta.url), "utf8");
const base64 = (path) => readFileSync(path).toString("base64");

// One place with a button, as rung_checker_put writes it.
function place(certificate, model) {
    const parts = { button: {}, output: {}, pre: {} };
    parts.button.addEventListener = (event, act) => { parts.button.click = act; };
    return { dataset: { cert: base64(certificate), model: base64(model) }, parts, hidden: true, querySelector: (name) => parts[name] || null };
}

async function check(certificate, model) {
    const one = place(certificate, model);
    new Function("rungChecker", "document", source)(program, { querySelectorAll: () => [one] });
    if (one.hidden) throw new Error("the button is still hidden");
    one.parts.button.click();
    while (!("code" in one.dataset)) await new Promise((done) => setTimeout(done, 1));
    return { code: one.dataset.code, text: one.parts.pre.textContent, said: one.parts.output.textContent };
}

const program = base64(process.argv[2]);
for await (const line of createInterface({ input: process.stdin })) {
    const [certificate, model] = line.split("\t");
    console.log(JSON.stringify(await check(certificate, model)));
}
