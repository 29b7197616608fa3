// SPDX-License-Identifier: MIT
// onnx-runtime.mjs MODULES ASK.json ANSWER.json: what ONNX Runtime says behind prompts. MODULES is the folder that has
// node_modules/onnxruntime-node. Ask: {"file": "m.onnx", "prompts": [[1, 2, 3], ...], "everywhere": true}. Answer:
// {"engine": "...", "scores": [[...], ...]}: for each prompt the logits behind its last token, or behind each of its
// tokens, one after the other.
import fs from "node:fs";
import {createRequire} from "node:module";
import {join} from "node:path";

const [modules, question, answer] = process.argv.slice(2);
const require = createRequire(join(modules, "package.json"));
const ort = require("onnxruntime-node");
const ask = JSON.parse(fs.readFileSync(question, "utf8"));
const session = await ort.InferenceSession.create(ask.file, {intraOpNumThreads: 1, interOpNumThreads: 1});
const scores = [];
for (const prompt of ask.prompts) {
    const ids = new ort.Tensor("int64", BigInt64Array.from(prompt, BigInt), [1, prompt.length]);
    const all = [...(await session.run({ids})).logits.data];
    scores.push(ask.everywhere ? all : all.slice(-all.length / prompt.length));
}
fs.writeFileSync(answer, JSON.stringify({engine: "ONNX Runtime " + ort.env.versions.node, scores}));
