#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# explore: the page over HTTP, its refusals, and the page in a browser.
load common

FIXTURES=$BATS_TEST_DIRNAME/../fixtures/config
HERE=$BATS_TEST_DIRNAME/../explore

# explore [INPUT...]: a server; URL says where it is.
explore() {
    start_server '^open ' "$RUNG" explore "$@" || return 1
    URL=$(sed -n 's/^open \(.*\)\/ in a browser.*/\1/p' server.out)
}

# post BODY: status in CODE, reply in reply.json.
post() { CODE=$(curl -s -o reply.json -w '%{http_code}' "$URL/look" --data-binary "$1"); }

@test "the page comes with what it needs, and with rules for the browser" {
    explore
    curl -s -D head "$URL/" >page.html
    grep -qi "^content-security-policy: default-src 'none'; script-src 'nonce-" head
    grep -qi '^content-type: text/html' head
    run ! grep -qE 'src=|href=|@import|url\(' page.html
    stop_server
    [ "$SERVER_CODE" = 143 ]
}

@test "the numbers are those of rung card and rung bound, and the commands print them" {
    explore "$FIXTURES/qwen3_next.json"
    post '{"input":0,"context":131072,"task":"eva","n":4096}'
    [ "$CODE" = 200 ]
    has_schema rung.explore/1 <reply.json
    rung card "$FIXTURES/qwen3_next.json" --context 131072 --json >card.json
    rung bound "$FIXTURES/qwen3_next.json" --task eva --n 4096 --no-weights --json >bound.json
    python '
import json, shlex
d, card, bound = (json.load(open(f)) for f in ("reply.json", "card.json", "bound.json"))
assert d["card"] == card["cards"][0]
assert {k: v for k, v in bound.items() if k != "schema"} == d["claim"]
assert shlex.split(d["commands"]["card"])[:2] == ["rung", "card"]
assert d["card"]["memory"]["held_by_one_sequence"]["cache_bytes"] == 3221225472'
}

@test "strangers and bad requests are refused, and the server goes on" {
    explore
    [ "$(curl -s -o /dev/null -w '%{http_code}' -H 'Origin: https://evil.example' -d '{}' "$URL/look")" = 403 ]
    [ "$(curl -s -o /dev/null -w '%{http_code}' -H 'Host: evil.example' "$URL/")" = 403 ]
    [ "$(curl -s -o /dev/null -w '%{http_code}' "$URL/other")" = 404 ]
    head -c 26000000 /dev/zero >large
    [ "$(curl -s -o /dev/null -w '%{http_code}' --data-binary @large "$URL/look")" = 413 ]
    post '{"arch":"full,nonsense"}'
    [ "$CODE" = 400 ]
    grep -q nonsense reply.json
    post '{"arch":"full"}'
    [ "$CODE" = 200 ]
    run -2 rung explore no-such-file
    [[ $output == *"no file has this name"* ]]
}

# bats test_tags=plain
@test "the page in a browser: keyboard, phone, dark, no messages, names stay text" {
    command -v chromium >/dev/null || skip "chromium is not installed"
    command -v node >/dev/null || skip "node is not installed"
    without_sanitizers "a browser looks at the page, not at the program"
    modules=${BUILD:-$BATS_TEST_DIRNAME/../../build}/npm-explore
    "$BATS_TEST_DIRNAME/../../scripts/test-library.sh" "$modules" || skip "puppeteer-core could not be fetched"
    name='<img src=x onerror=alert(1)>.json'
    sed 's/"model_type": *"[^"]*"/"model_type": "<script>alert(2)<\/script>"/' "$FIXTURES/llama_small.json" >"$name"
    grep -q alert "$name"
    explore "$FIXTURES/qwen3_next.json"
    node "$HERE/page.mjs" "$URL" "$modules" "$PWD/$name"
}
