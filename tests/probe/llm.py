#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A server that answers like vLLM, SGLang or llama.cpp's server, with a model that follows chains of facts to a given depth.

Prints its port and serves until its standard input ends. The model is a function of the prompt: up to --depth it is right in
97 of 100 cases, beyond it names one of the names in the facts. What a real server may lack can be switched off."""
import argparse
import hashlib
import http.server
import json
import math
import re
import sys
import threading
import time

parser = argparse.ArgumentParser()
parser.add_argument("--flavour", default="vllm", choices=["vllm", "sglang", "llama", "openai"])
parser.add_argument("--model", default="toy")
parser.add_argument("--depth", type=int, default=2)
parser.add_argument("--blind", action="store_true", help="does not read the facts at all")
parser.add_argument("--no-logprobs", action="store_true")
parser.add_argument("--thoughts", default="", choices=["", "text", "field", "unless-told"])
parser.add_argument("--truncate", type=int, default=0, help="tokens that are kept")
parser.add_argument("--no-tokenize", action="store_true")
parser.add_argument("--no-completions", action="store_true")
parser.add_argument("--most-logprobs", type=int, default=20)
parser.add_argument("--long-words", default="", help="letters: words that begin with one are two tokens")
parser.add_argument("--key", default="")
parser.add_argument("--context", type=int, default=100000)
parser.add_argument("--forever", action="store_true", help="ten minutes, whatever standard input does")
args = parser.parse_args()
count = {"requests": 0}


def tokens_of(text):
    pieces = re.findall(r"[A-Za-z0-9]+|[^A-Za-z0-9\s]", text)
    return sum(2 if args.long_words and p[0] in args.long_words else 1 for p in pieces)


def chain(prompt):
    """(right answer, hops, names in the facts)"""
    last = prompt.strip().split("\n\n")[-1]
    table, names = {}, []
    for relation, who, place, value in re.findall(r"The (\w+) of (\w+)(?: at (\w+))? is (\w+)\.", last):
        table[relation, who, place] = value
        names.append(value)
    question = re.search(r"Start at (\w+)\. Take its (\w+)((?:, then the \w+ at \w+)*)\.", last)
    if question:
        steps = [(question[2], "")] + re.findall(r"then the (\w+) at (\w+)", question[3])
        at = question[1]
        for relation, place in steps:
            at = table.get((relation, at, place), names[0] if names else "none")
        return at, len(steps), names
    question = re.search(r"What is the value of (\w+)\?", last)
    if question:
        return table.get(("value", question[1], ""), "none"), 1, names
    numbers = re.search(r"Facts: ([\d, ]+)\.", last)
    if numbers:
        return ("yes" if "Is" in last else "no"), 1, ["yes", "no"]
    return "stone", 1, ["stone", "river"]


def choose(prompt):
    """[(token, probability)], the likeliest first"""
    right, hops, names = chain(prompt)
    draw = int(hashlib.sha256(prompt.encode()).hexdigest(), 16)
    names = sorted(set(names)) or ["stone", "river"]
    other = names[draw % len(names)]
    good = hops <= args.depth and not args.blind and draw % 100 < 97
    first = right if good else other
    rest = [n for n in names if n != first][:19]
    options = [(" " + first, 0.7)] + [(" " + n, 0.29 / len(rest)) for n in rest]
    return options[:args.most_logprobs]


def logprobs(options, chat):
    pairs = [(t, math.log(p)) for t, p in options]
    if chat or args.flavour == "llama":
        top = [{"token": t, "logprob": lp, "bytes": list(t.encode())} for t, lp in pairs]
        return {"content": [dict(top[0], top_logprobs=top)]}
    return {"text_offset": [0], "tokens": [pairs[0][0]], "token_logprobs": [pairs[0][1]], "top_logprobs": [dict(pairs)]}


class Refused(Exception):
    pass


def complete(body, chat):
    prompt = body["messages"][0]["content"] if chat else body["prompt"]
    size = tokens_of(prompt)
    wanted = body.get("top_logprobs" if chat else "logprobs", 0)
    if size > args.context:
        raise Refused("This model's maximum context length is %d tokens, and you asked for %d" % (args.context, size))
    if wanted is not True and wanted > args.most_logprobs:
        raise Refused("logprobs must be at most %d" % args.most_logprobs)
    options = choose(prompt)
    text = options[0][0]
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "finish_reason": "length"}
    if wanted and not args.no_logprobs:
        choice["logprobs"] = logprobs(options, chat)
    if body["max_tokens"] > 1:
        text = "First I look.\nThen I look again.\nAnswer: " + chain(prompt)[0]
        message["content"], choice["finish_reason"] = text, "stop"
        if body["max_tokens"] < 20:
            message["content"], choice["finish_reason"] = text[:20], "length"
    quiet = body.get("chat_template_kwargs", {}).get("enable_thinking") is False
    if chat and body["max_tokens"] == 1 and (args.thoughts in ("text", "field") or (args.thoughts == "unless-told" and not quiet)):
        if args.thoughts == "field":
            message = {"role": "assistant", "content": "", "reasoning_content": "Okay"}
        else:
            message["content"] = "<think>"
            if "logprobs" in choice:
                choice["logprobs"] = logprobs([("<think>", 0.99), (" stone", 0.001)], True)
    if chat:
        choice["message"] = message
    else:
        choice["text"] = message["content"]
    reply = {"id": "x", "object": "chat.completion" if chat else "text_completion", "model": args.model, "choices": [choice],
             "usage": {"prompt_tokens": min(size, args.truncate) if args.truncate else size,
                       "completion_tokens": 1 if body["max_tokens"] == 1 else 14, "total_tokens": size + 1},
             "system_fingerprint": "toy-1"}
    if args.flavour == "llama" and args.truncate:
        reply["truncated"] = size > args.truncate
    return reply


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def allowed(self):
        if not args.key or self.headers.get("Authorization") == "Bearer " + args.key:
            return True
        self.send(401, {"error": {"message": "Unauthorized"}})
        return False

    def do_GET(self):
        if self.path == "/count":
            return self.send(200, count)
        if not self.allowed():
            return
        if self.path == "/v1/models":
            return self.send(200, {"object": "list", "data": [{"id": args.model, "max_model_len": args.context}]})
        self.send(404, {"detail": "Not Found"})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.allowed():
            return
        count["requests"] += 1
        try:
            if self.path == "/tokenize" and not args.no_tokenize:
                text = body.get("content", "") if args.flavour == "llama" else body["prompt"]
                ids = list(range(tokens_of(text)))
                if args.flavour == "llama":
                    return self.send(200, {"tokens": ids})
                return self.send(200, {"count": len(ids), "max_model_len": args.context, "tokens": ids, "token_strs": None})
            if self.path == "/v1/completions" and not args.no_completions:
                return self.send(200, complete(body, False))
            if self.path == "/v1/chat/completions":
                return self.send(200, complete(body, True))
        except Refused as refusal:
            return self.send(400, {"error": {"message": str(refusal), "type": "BadRequestError", "code": 400}})
        self.send(404, {"detail": "Not Found"})


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


server = Server(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
if args.forever:
    time.sleep(600)
else:
    sys.stdin.read()
