#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# serve: every route and every refusal over HTTP, hostile clients, load, signals; and a constructed model is right.
load common

HERE=$BATS_TEST_DIRNAME/../serve
PROMPT='z2:0 z2:5 z2:4 z2:7 z2:4 z2:6 z2:2 z2:3 z1:0 z1:1 z1:3 z1:2 z0:2 w:1' # the answer is 3

# start [OPTION...]: a server of m.safetensors.
start() {
    [ -e m.safetensors ] || rung build seqcomp L=2 N0=4 -o m.safetensors -q >/dev/null
    serve m.safetensors "$@"
}

# stop [SIGNAL CODE]: ends it; it must say so in its exit code.
stop() {
    stop_server "${1:-TERM}"
    [ "$SERVER_CODE" = "${2:-143}" ] || { echo "exit code $SERVER_CODE"; cat server.log; return 1; }
}

# post PATH BODY: status in CODE, reply in reply.json.
post() { CODE=$(curl -s -o reply.json -w '%{http_code}' "$URL$1" -H 'Content-Type: application/json' --data-binary "$2"); }

# reply EXPRESSION: of the reply r, must be true.
reply() { python 'import json, sys
r = json.load(open("reply.json"))
assert eval(sys.argv[1]), r' "$1"; }

@test "prompts of the files for lm-eval and inspect are read, with the form of the answer behind them" {
    start
    rung task seqcomp L=2 N0=4 --format lm-eval --count 5 -o lm -q
    rung task seqcomp L=2 N0=4 --format inspect --count 5 -o inspect.jsonl -q
    python '
import json, pathlib, sys, urllib.request
def post(path, body):
    request = urllib.request.Request(sys.argv[1] + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(request))["choices"][0]
[lm] = pathlib.Path("lm").glob("*.jsonl")
rows = [json.loads(line) for line in open(lm)]
assert len(rows) == 5 and rows[0]["input"].endswith("one word.\nAnswer:")
for row in rows:
    assert post("/v1/completions", {"prompt": row["input"], "temperature": 0})["text"].strip() == row["target"]
for row in map(json.loads, open("inspect.jsonl")):
    said = post("/v1/chat/completions", {"messages": [{"role": "user", "content": row["input"]}], "temperature": 0})
    assert said["message"]["content"] == row["target"]' "$URL"
    post /v1/completions "{\"prompt\":\"$PROMPT\n\nReply with the answer only, one word. Please.\"}"
    [ "$CODE" = 400 ]
    stop
}

@test "every route answers" {
    start
    post /v1/completions "{\"model\":\"m\",\"prompt\":\"$PROMPT\",\"max_tokens\":1,\"temperature\":0,\"logprobs\":3}"
    [ "$CODE" = 200 ]
    reply 'r["choices"][0]["text"] == " 3" and r["choices"][0]["finish_reason"] == "length" and r["model"] == "m"'
    reply 'len(r["choices"][0]["logprobs"]["top_logprobs"][0]) == 3 and r["usage"]["prompt_tokens"] == 14'
    post /v1/chat/completions "{\"messages\":[{\"role\":\"user\",\"content\":\"$PROMPT\"}],\"temperature\":0}"
    [ "$CODE" = 200 ]
    reply 'r["choices"][0]["message"] == {"role": "assistant", "content": "3", "tool_calls": []}'
    post /tokenize '{"prompt":"z2:0 apple"}'
    [ "$CODE" = 200 ]
    reply 'r["count"] == 2 == len(r["tokens"])'
    post /detokenize "{\"tokens\":$(python 'import json; print(json.load(open("reply.json"))["tokens"])')}"
    reply 'r == {"prompt": "z2:0 apple"}'
    [ "$(curl -s "$URL/v1/models" | python 'import json, sys; print(json.load(sys.stdin)["data"][0]["id"])')" = m ]
    [ "$(curl -s -w '%{http_code}' "$URL/health")" = 200 ]
    [ "$(curl -s -I -o /dev/null -w '%{http_code}' "$URL/health")" = 200 ]
    curl -s -D - -o /dev/null "$URL/v1/models" | grep -qi '^content-type: application/json'
    stop
    [ "$(grep -c ' ms$' server.log)" = 8 ]
    grep -qE '^20[0-9-]{8}T[0-9:]{8}Z 127.0.0.1 POST /v1/completions 200 14\+1 tokens [0-9.]+ ms$' server.log
}

@test "every refusal has its code and its shape" {
    start
    refused() { # code path body [param]
        post "$2" "$3"
        [ "$CODE" = "$1" ] || { echo "$CODE for $2 $3"; cat reply.json; return 1; }
        reply "set(r) == {'error'} and set(r['error']) == {'message', 'type', 'param', 'code'} and r['error']['code'] == $1"
        reply "r['error']['param'] == ${4:-None}"
    }
    refused 400 /v1/completions '{"prompt":'
    refused 400 /v1/completions '{"prompt":"a","prompt":"b"}'
    refused 400 /v1/completions $'{"prompt":"\xff"}'
    refused 400 /v1/completions "$(python 'print("[" * 3000)')"
    refused 400 /v1/completions '{"prompt":"a","max_tokens":1e400}'
    refused 400 /v1/completions '{"prompt":"a","max_tokens":123456789012345678901234567890}'
    refused 400 /v1/completions '{"prompt":7}' '"prompt"'
    refused 400 /v1/completions '{"prompt":"hello"}' '"prompt"'
    refused 400 /v1/completions "{\"prompt\":\"$PROMPT\",\"echo\":true}" '"echo"'
    refused 400 /v1/completions "{\"prompt\":\"$PROMPT\",\"stream\":true}" '"stream"'
    refused 400 /v1/completions "{\"prompt\":\"$PROMPT\",\"prompt_logprobs\":1}" '"prompt_logprobs"'
    refused 404 /v1/completions "{\"prompt\":\"$PROMPT\",\"model\":\"x\"}" '"model"'
    refused 400 /v1/chat/completions '{"messages":[]}' '"messages"'
    refused 400 /tokenize '{}' '"prompt"'
    refused 400 /detokenize '{"tokens":[-1]}' '"tokens"'
    refused 404 /v1/embeddings '{}'
    refused 405 /health '{}'
    [ "$(curl -s -o reply.json -w '%{http_code}' "$URL/v1/completions")" = 405 ]
    curl -s -D - -o /dev/null "$URL/v1/completions" | grep -q '^Allow: POST'
    stop
}

@test "a key is needed where one is set, and is nowhere to be seen" {
    export SOME_KEY=very-secret-key
    start --api-key-env SOME_KEY
    [ "$(curl -s -o reply.json -w '%{http_code}' "$URL/v1/models")" = 401 ]
    reply 'r["error"]["code"] == 401'
    curl -s -D - -o /dev/null "$URL/v1/models" | grep -qi '^www-authenticate: bearer'
    [ "$(curl -s -o /dev/null -w '%{http_code}' -H 'Authorization: Bearer very-secret-kez' "$URL/v1/models")" = 401 ]
    [ "$(curl -s -o /dev/null -w '%{http_code}' -H 'Authorization: Bearer very-secret-key' "$URL/v1/models")" = 200 ]
    for scheme in bearer BEARER 'Bearer '; do
        [ "$(curl -s -o /dev/null -w '%{http_code}' -H "Authorization: $scheme very-secret-key" "$URL/v1/models")" = 200 ]
    done
    [ "$(curl -s -o /dev/null -w '%{http_code}' "$URL/health")" = 200 ]
    ! tr '\0' ' ' <"/proc/$SERVER/cmdline" | grep -q secret
    stop
    ! grep -rq secret server.out server.log reply.json
    unset SOME_KEY
    run -2 --separate-stderr rung serve m.safetensors --api-key-env SOME_KEY
    grep -q SOME_KEY <<<"$stderr"
}

@test "addresses, ports, names and logs are what the options say" {
    start --name 'some model' --log requests.log
    post /v1/completions "{\"prompt\":\"$PROMPT\",\"model\":\"some model\",\"temperature\":0}"
    [ "$CODE" = 200 ]
    reply 'r["model"] == "some model"'
    run -4 --separate-stderr rung serve m.safetensors --port "$PORT"
    grep -q 'in use' <<<"$stderr"
    run -2 rung serve m.safetensors --listen localhost
    run -2 rung serve m.safetensors --port 65536
    run -3 rung serve server.out
    run -2 rung serve
    stop
    [ ! -s server.log ]
    grep -q '/v1/completions 200' requests.log
    run ! curl -s "$URL/health"
    start --listen 0.0.0.0 -q
    curl -s -f "http://127.0.0.1:$PORT/health"
    stop INT 130
    [ ! -s server.log ]
    start_server . "$RUNG" serve m.safetensors --port 0 --json
    has_schema rung.serve/1 <server.out
    stop
    if [ -e /proc/net/if_inet6 ] && grep -q ' lo$' /proc/net/if_inet6; then
        start --listen ::1
        curl -s -f -g "$URL/health"
        stop
    fi
}

@test "a request in flight is answered before SIGTERM ends the server" {
    start
    coproc CLIENT { "$PYTHON" "$HERE/raw.py" in_flight "$HOST" "$PORT" 3>&-; }
    local client=$CLIENT_PID in=${CLIENT[1]} from=${CLIENT[0]} word
    read -r word <&"$from"
    [ "$word" = half ]
    kill -TERM $SERVER
    echo >&"$in"
    read -r word <&"$from"
    [ "$word" = answered ]
    wait "$client"
    local code=0
    wait $SERVER || code=$?
    SERVER=
    [ "$code" = 143 ]
    grep -q '/v1/completions 200' server.log
}

@test "clients that break the protocol break nothing else" {
    start --max-body 4096
    for case in malformed headers bodies early_close pipelined; do "$PYTHON" "$HERE/raw.py" $case "$HOST" "$PORT"; done
    stop
}

@test "slow clients are left, and too many are not let in" {
    start --timeout 1
    "$PYTHON" "$HERE/raw.py" slow "$HOST" "$PORT"
    stop
    start --max-connections 2 --threads 1
    python '
import socket, sys, time
def ask(s):
    try:
        s.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return s.recv(1000).startswith(b"HTTP/1.1 200")
    except (ConnectionError, socket.timeout):
        return False
open_ = [socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=3) for _ in range(4)]
answered = [ask(s) for s in open_]
assert answered[:2] == [True, True] and answered.count(True) == 2, answered
for s in open_: s.close()
for _ in range(100):
    if ask(socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=3)): break
    time.sleep(0.1)
else: raise SystemExit("closed connections are not replaced")' "$HOST" "$PORT"
    stop
}

@test "64 connections that drip headers hold the server no longer than its timeout" {
    start --timeout 2 --max-connections 64
    "$PYTHON" "$HERE/raw.py" held "$HOST" "$PORT"
    stop
}

@test "pages of other origins and names of others for our address are refused" {
    local name
    start --allow-host 'box.example,other.example'
    status() { curl -s -o reply.json -w '%{http_code}' "$URL/v1/completions" --data-binary "{\"prompt\": \"$PROMPT\"}" "$@"; }
    for name in localhost LOCALHOST:8000 127.0.0.1 '[::1]:80' 192.0.2.7:1 box.example Other.Example:8000; do
        [ "$(status -H "Host: $name")" = 200 ] || { echo "$name"; false; }
        [ "$(status -H "Origin: http://$name")" = 200 ] || { echo "$name"; false; }
    done
    for name in evil.example 127.evil.example localhost.evil.example box.example.evil 'box.example:80x' 'box.example@evil' '[::1' x; do
        [ "$(status -H "Host: $name")" = 403 ] || { echo "$name"; false; }
        [ "$(status -H "Origin: http://$name" -H 'Content-Type: text/plain')" = 403 ] || { echo "$name"; false; }
    done
    [ "$(status -H 'Origin: null')" = 403 ]
    reply 'r["error"]["code"] == 403'
    stop
    start --allow-host '*'
    [ "$(status -H 'Host: anything.example')" = 200 ]
    stop
}

# bats test_tags=plain
@test "64 connections at once: every reply is right" {
    command -v wrk >/dev/null || skip "wrk is not installed"
    start -q
    cat >post.lua <<LUA
wrk.method = "POST"
wrk.body = '{"prompt":"$PROMPT","temperature":0,"max_tokens":1,"logprobs":5}'
local bad = 0
response = function(status, headers, body)
  if status ~= 200 or not body:find('"text":" 3"', 1, true) then error("wrong reply: " .. body) end
end
LUA
    wrk -t2 -c64 -d"$(effort 3 2)"s --timeout 20s -s post.lua "$URL/v1/completions" >wrk.txt 2>&1
    cat wrk.txt
    grep -qE '^ +[0-9]+ requests in' wrk.txt
    [ "$(sed -nE 's/^ +([0-9]+) requests in.*/\1/p' wrk.txt)" -gt 50 ]
    ! grep -qE 'Non-2xx|Socket errors|wrong reply' wrk.txt
    post /v1/completions "{\"prompt\":\"$PROMPT\",\"temperature\":0}"
    [ "$CODE" = 200 ]
    stop
}

# accuracy TASK [WORDS...]: the share of COUNT instances that the server answers right.
accuracy() {
    rung task "$@" --count "$COUNT" --seed 9 --format jsonl >tasks.jsonl
    python '
import json, sys, urllib.request
right = total = 0
for line in open("tasks.jsonl"):
    t = json.loads(line)
    body = json.dumps({"prompt": t["text"], "temperature": 0, "max_tokens": 1, "logprobs": 20}).encode()
    r = json.load(urllib.request.urlopen(urllib.request.Request(sys.argv[1] + "/v1/completions", body)))
    c = r["choices"][0]
    top = max(c["logprobs"]["top_logprobs"][0].items(), key=lambda x: x[1])[0]
    assert top == c["text"] == c["logprobs"]["tokens"][0]
    right += c["text"].strip() == t["answer_text"]
    total += 1
print(right / total)' "$URL"
}

# bats test_tags=plain
@test "L+1 layers that are built for it are right at depth L over HTTP" {
    COUNT=$(effort 100 20)
    for L in 1 2 3; do
        rung build seqcomp L=$L N0=3 -o m.safetensors -q >/dev/null
        start -q
        [ "$(accuracy seqcomp L=$L N0=3)" = 1.0 ]
        stop
    done
}

@test "a trained checkpoint is served as run runs it" {
    echo '{"arch": "full,full", "task": "eva N=4 V=4", "steps": 30, "batch": 16, "d-model": 16, "dk": 8, "dv": 8, "test-prompts": 8}' >spec.json
    rung train spec.json -o m.safetensors -q >/dev/null
    COUNT=60
    start -q
    have=$(accuracy eva N=4 V=4)
    stop
    want=$(rung run m.safetensors --count 60 --seed 9 --json | python 'import json, sys; r = json.load(sys.stdin); print(r["right"] / r["targets"])')
    [ "$have" = "$want" ]
}

@test "the prompt of docs/probing.md has the answer that one reads out of it" {
    rung build seqcomp L=2 N0=2 -o m.safetensors -q >/dev/null
    start
    python '
import json, re, sys, urllib.request
page = open(sys.argv[1], encoding="utf-8").read()
block = re.search(r"```\n(Facts:.*?)\n```", page, re.S).group(1)
block = re.sub(r"\n(?!Question:|Answer:)", " ", block)
body = json.dumps({"prompt": block, "temperature": 0}).encode()
r = json.load(urllib.request.urlopen(urllib.request.Request(sys.argv[2] + "/v1/completions", body)))
assert r["choices"][0]["text"] == " apple", r' "$BATS_TEST_DIRNAME/../../docs/probing.md" "$URL"
    stop
}
