#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Certificates that pages check themselves, with rung-check as WebAssembly, in a browser.
# bats file_tags=plain
load common

need_browser() {
    without_sanitizers "a browser looks at the page, not at the program"
    command -v chromium >/dev/null || skip "chromium is not installed"
    command -v node >/dev/null || skip "node is not installed"
    BUILD=${BUILD:-$BATS_TEST_DIRNAME/../../build}
    [ -e "$BUILD/rung-check.wasm" ] || skip "no compiler for WebAssembly (clang, lld, wasi-libc)"
    MODULES=$BUILD/npm-explore
    "$BATS_TEST_DIRNAME/../../scripts/test-library.sh" "$MODULES" || skip "puppeteer-core could not be fetched"
}

@test "the page of the table accepts each of its certificates, and none for another model" {
    need_browser
    rung table --no-depth -q >/dev/null
    certificates=$(ls rung-table/*.cert | grep -vc /trained-) # the page does not hold the models that were trained
    [ "$certificates" -gt 10 ]
    [ "$(node "$BATS_TEST_DIRNAME/../check/page.mjs" rung-table/index.html "$MODULES")" = "$certificates" ]
    # Every model of the page gets another last byte.
    python '
import base64, re
page = open("rung-table/index.html").read()
def other(m):
    data = bytearray(base64.b64decode(m[1])); data[-1] ^= 1
    return "data-model=\"%s\"" % base64.b64encode(bytes(data)).decode()
changed = re.sub("data-model=\"([^\"]*)\"", other, page)
assert changed != page
open("changed.html", "w").write(changed)'
    WANTED=20 node "$BATS_TEST_DIRNAME/../check/page.mjs" changed.html "$MODULES"
}

@test "the page of a report checks a certificate against the model that the reader chooses" {
    need_browser
    echo '{"name": "lost", "base": {"arch": "linear", "task": "eva", "task.N": 16, "steps": 20, "d-model": 8, "dk": 2, "dv": 2, "batch": 4},
           "grid": {"seed": [1]}, "keep-models": true}' >lost.json
    rung sweep lost.json -q --no-estimate >/dev/null
    rung export lost.db --models models
    model=$(ls models/*.safetensors)
    rung break "$model" --numbers e4m3 --kind state-collision --store lost.db -o lost.cert >/dev/null
    rung report lost.db -o page.html >/dev/null
    [ "$(node "$BATS_TEST_DIRNAME/../check/page.mjs" page.html "$MODULES" "$model")" = 1 ]
    rung build random --arch linear --task eva N=16 --d-model 8 --dk 2 --dv 2 -o other.safetensors
    WANTED=20 node "$BATS_TEST_DIRNAME/../check/page.mjs" page.html "$MODULES" other.safetensors
}
