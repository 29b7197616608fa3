// SPDX-License-Identifier: MIT
// llama-cpp.mjs MODULES FILE.gguf IDS TYPE OUT.json: the probabilities of all tokens behind each of the ids, from llama.cpp with a
// cache of the given type (F32, F16). MODULES is the folder that has node_modules/node-llama-cpp.
import fs from "node:fs";
import {createRequire} from "node:module";
import {join} from "node:path";
import {pathToFileURL} from "node:url";

const [modules, path, ids, type, out] = process.argv.slice(2);
const entry = createRequire(join(modules, "package.json")).resolve("node-llama-cpp");
const {getLlama, LlamaLogLevel} = await import(pathToFileURL(entry));
const llama = await getLlama({gpu: false, build: "never", logLevel: LlamaLogLevel.error});
const model = await llama.loadModel({modelPath: path});
const tokens = ids.split(",").map(Number);
const context = await model.createContext({
    contextSize: Math.max(32, tokens.length), flashAttention: false, experimentalKvCacheKeyType: type, experimentalKvCacheValueType: type});
const steps = await context.getSequence().controlledEvaluate(tokens.map(token => [token, {generateNext: {probabilities: true}}]));
const rows = steps.map(step => [...step.next.probabilities].sort((a, b) => a[0] - b[0]).map(([, probability]) => probability));
fs.writeFileSync(out, JSON.stringify(rows));
process.exit(0);
