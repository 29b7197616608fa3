// SPDX-License-Identifier: MIT
// llama-cpp.mjs MODULES ASK.json ANSWER.json: what llama.cpp says behind prompts. MODULES is the folder that has
// node_modules/node-llama-cpp. Ask: {"file": "m.gguf", "cache": "F32" or "F16", "prompts": [[1, 2, 3], ...], "texts": ["...", ...]}.
// Answer: {"engine": "...", "scores": [[...], ...], "ids": [...]}: for each prompt the logarithms of the probabilities of
// all ids (null: 0 in F32); the ids of each text.
import fs from "node:fs";
import {createRequire} from "node:module";
import {join} from "node:path";
import {pathToFileURL} from "node:url";

const [modules, question, answer] = process.argv.slice(2);
const require = createRequire(join(modules, "package.json"));
const {getLlama, LlamaLogLevel} = await import(pathToFileURL(require.resolve("node-llama-cpp")));
const ask = JSON.parse(fs.readFileSync(question, "utf8"));
const llama = await getLlama({gpu: false, build: "never", logLevel: LlamaLogLevel.error, maxThreads: 1});
const model = await llama.loadModel({modelPath: ask.file});
const longest = Math.max(1, ...(ask.prompts ?? []).map(prompt => prompt.length));
const context = await model.createContext({
    contextSize: longest + 32, threads: 1, flashAttention: false,
    experimentalKvCacheKeyType: ask.cache ?? "F32", experimentalKvCacheValueType: ask.cache ?? "F32"});
const sequence = context.getSequence();

async function scoresBehind(prompt) {
    await sequence.clearHistory();
    const last = prompt.length - 1;
    const steps = await sequence.controlledEvaluate(
        prompt.map((id, i) => i === last ? [id, {generateNext: {probabilities: true}}] : id));
    const row = [];
    for (const [id, probability] of steps[last].next.probabilities) row[id] = Math.log(probability);
    return row;
}

const scores = [];
for (const prompt of ask.prompts ?? []) scores.push(await scoresBehind(prompt));
const ids = (ask.texts ?? []).map(text => [...model.tokenize(text, false)]);
fs.writeFileSync(answer, JSON.stringify({engine: "llama.cpp " + llama.llamaCppRelease.release, scores, ids}));
process.exit(0);
