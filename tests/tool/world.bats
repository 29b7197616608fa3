#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The world around: neither a decimal comma nor a clock that jumps changes a result.
load common

SMALL=(--arch full --task eva N=3 V=2 --d-model 8 --dk 4 --dv 4 --d-mlp 8 --batch 4 --steps 12 --eval-every 3 --eval-prompts 8 --test-prompts 8
    --checkpoint-every 2 --rate 0.0031 --quiet)

spec() { cat <<'JSON'
{"name": "tiny", "base": {"task": "eva N=3 V=2", "steps": 6, "batch": 4, "d-model": 8, "dk": 4, "dv": 4, "d-mlp": 8, "eval-every": 2, "eval-prompts": 8,
 "test-prompts": 8, "checkpoint-every": 2}, "grid": {"arch": ["full", "linear"], "rate": [0.0031, 0.01], "seed": [1]}, "success": 0.5}
JSON
}

# everything PREFIX: files whose bytes and words must not depend on where and when they were made.
everything() {
    rung train "${SMALL[@]}" -o "$1.safetensors" --checkpoint "$1.ckpt" --metrics "$1.metrics" >/dev/null
    rung run "$1.safetensors" --numbers e5m3 --step --json >"$1.run"
    rung sweep spec.json -o "$1.db" --quiet
    results "$1.db" >"$1.results"
    rung bound --help >/dev/null
    rung verify "$1.safetensors" --json >"$1.verify" || true
}

same() { # of two prefixes
    cmp "$1.safetensors" "$2.safetensors"
    cmp "$1.ckpt" "$2.ckpt"
    cmp "$1.results" "$2.results"
    for kind in run verify; do
        diff <(sed "s/$1\\.//g; s/\"seconds\": [^,}]*//g" "$1.$kind") <(sed "s/$2\\.//g; s/\"seconds\": [^,}]*//g" "$2.$kind")
    done
}

german() {
    command -v localedef >/dev/null && localedef -i de_DE -f UTF-8 "$PWD/de_DE.UTF-8" 2>/dev/null || skip "no localedef, or no sources of locales (package locales)"
    export LOCPATH=$PWD LC_ALL=de_DE.UTF-8
    python 'import locale; locale.setlocale(locale.LC_ALL, ""); assert locale.localeconv()["decimal_point"] == ","' || skip "the locale does not load"
}

# bats test_tags=plain
@test "a locale with a decimal comma leaves every result as it is" {
    without_sanitizers "other cases train and sweep under them"
    spec >spec.json
    everything plain
    german
    everything comma
    same plain comma
}

# bats test_tags=plain
@test "the library in a program that has set such a locale reads and writes the same numbers" {
    without_sanitizers "a library with them cannot be loaded into python"
    [ -n "${RUNG_LIBRARY:-}" ] || RUNG_LIBRARY=$(dirname "$RUNG")/librung.so.0
    [ -e "$RUNG_LIBRARY" ] || skip "no library beside the command"
    rung train "${SMALL[@]}" -o m.safetensors --checkpoint m.ckpt >/dev/null
    german
    RUNG_LIBRARY=$RUNG_LIBRARY PYTHONPATH=$BATS_TEST_DIRNAME/../../python PYTHONDONTWRITEBYTECODE=1 python '
import locale, rung
def look(): return [list(rung.Model("m.safetensors").run([0, 1, 0, 3], numbers=n)[0]) for n in ("f32", "e5m3", "q3.4")]
plain = look()
locale.setlocale(locale.LC_ALL, "")
assert locale.localeconv()["decimal_point"] == ","
assert look() == plain
import ctypes, os
library, text = ctypes.CDLL(os.environ["RUNG_LIBRARY"]), ctypes.create_string_buffer(32)
library.rung_real_text(text, ctypes.c_double(-0.5))
assert text.value == b"-0.5", text.value
two = (ctypes.c_double * 2)()
library.rung_read_reals.restype = ctypes.c_char_p
assert library.rung_read_reals(two, ctypes.c_size_t(2), b" -0.5 0x1.8p-1 x") == b" x" and list(two) == [-0.5, 0.75]'
}

# bats test_tags=plain
@test "a clock that jumps back and forth leaves every result as it is" {
    without_sanitizers "they and libfaketime want to be the first library"
    command -v faketime >/dev/null || skip "faketime is not installed"
    spec >spec.json
    everything plain
    echo "+0" >clock
    (while sleep 0.02; do echo "-3d" >clock; sleep 0.02; echo "+2d" >clock; done) 3>&- &
    local jumper=$!
    local library
    library=$(find /usr/lib -name 'libfaketime*.so.1' | head -n 1)
    (
        export LD_PRELOAD=$library FAKETIME_TIMESTAMP_FILE=$PWD/clock FAKETIME_NO_CACHE=1 NO_FAKE_STAT=1 DONT_FAKE_MONOTONIC=1
        everything jumping
    ) || { kill $jumper; false; }
    kill $jumper
    same plain jumping
}
