#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# bench: all sides are run, agree, and the figures are there; whether a bar is met is for `make bench`, on a quiet machine.
load common

@test "bench exact measures every kind of format beside the yardstick, and memory grows as the tokens do" {
    rung bench exact --tokens 200 --dim 6 --threads 2 --json >bench.json
    has_schema rung.bench/1 <bench.json
    python '
import json
b = json.load(open("bench.json"))
assert (b["tokens"], b["dim"], b["threads"], b["runs"]) == (200, 6, 2, 5)
assert {r["format"] for r in b["rows"]} >= {"e8m3", "bf16", "f16", "f32", "e8m25", "f64", "q3.12"}
for r in b["rows"]:
    assert r["ratio"] > 0 and r["exact_ms"] > 0 and r["fp32_ms"] > 0
    assert r["bar"] is None and not r["too_slow"]  # no bar for these sizes
    assert r["state_bytes"] == 200 * (6 + 6) * 8 and r["state_bytes_at_twice_the_tokens"] == 2 * r["state_bytes"]
assert len(b["mixed"]) == 6 and {"served:bf16", "served:int8"} <= {r["numbers"] for r in b["mixed"]}
for r in b["mixed"]:
    assert r["ratio"] > 0 and r["mixed_ms"] > 0 and r["f32_ms"] > 0 and r["bar"] is None and not r["too_slow"]'
}

# bats test_tags=plain
@test "bench exact has a bar at the standard sizes, and its exit code says whether it is met" {
    without_sanitizers "seconds"
    status=0
    rung bench exact --numbers bf16 --json >bench.json || status=$?
    python '
import json, sys
(r,) = json.load(open("bench.json"))["rows"]
assert r["format"] == "bf16" and r["bar"] == 3.5 and r["too_slow"] == (r["ratio"] > 3.5)
assert int(sys.argv[1]) == (1 if r["too_slow"] else 0)' "$status"
}

@test "bench prints one line per format, in the units of its head" {
    run -0 rung bench exact --numbers q3.4 --tokens 70 --dim 3
    [[ ${lines[0]} == *"n = 70, dk = dv = 3"* ]]
    [[ ${lines[1]} == format*"exact ms"*"fp32 ms"*ratio*bar* ]]
    [[ ${lines[2]} == "q3.4 "* && ${#lines[@]} -eq 3 ]]
}

@test "bench refuses an unknown subject and sizes that are none" {
    run -2 --separate-stderr rung bench exakt
    [[ $stderr == *"exact"* ]]
    run -2 --separate-stderr rung bench exact --tokens 0
    run -2 --separate-stderr rung bench exact --runs 4
    run -2 --separate-stderr rung bench exact --numbers e99m1
    [[ $stderr == *"e99m1"* ]]
}

@test "bench break attacks random models, and rung-check accepts what is found" {
    status=0
    rung bench break --seeds 1 --json >bench.json || status=$?
    has_schema rung.bench-break/1 <bench.json
    python '
import json, sys
rows = json.load(open("bench.json"))["rows"]
assert {r["attack"] for r in rows} == {"swallow", "wagner", "relation", "block"}
assert any(r["found"] for r in rows) and all(r.get("accepted", 1) >= r["found"] for r in rows)
assert int(sys.argv[1]) == any(r["missed"] for r in rows)' "$status"
}

# has_peer: whether rung finds a PyTorch here.
has_peer() { "$PYTHON" -c 'import numpy, torch' 2>/dev/null && [ "$PYTHON" = /usr/bin/python3 ]; }

small=(--quick --threads 2 --json)

@test "bench peak measures multiply-adds of the instruction set that RUNG_ISA allows" {
    for isa in ref avx2; do
        RUNG_ISA=$isa rung bench peak "${small[@]}" >peak.json
        has_schema rung.bench-speed/1 <peak.json
        python '
import json, sys
b = json.load(open("peak.json"))
(row,) = b["rows"]
assert b["subject"] == "peak" and b["instruction_set"] in (sys.argv[1], "ref"), b
assert 0.01 < row["one_thread"]["low"] <= row["one_thread"]["value"] <= row["one_thread"]["high"]
assert row["all_threads"]["value"] > 0' "$isa"
    done
}

@test "bench products states every product of a step as a share of the peak of one thread" {
    rung bench products "${small[@]}" >products.json
    has_schema rung.bench-speed/1 <products.json
    python '
import json
b = json.load(open("products.json"))
assert b["subject"] == "products" and b["threads"] == 1 and len(b["rows"]) == 10
for r in b["rows"]:
    assert abs(r["share_of_peak"]["high"] - r["gflops"]["high"] / r["peak_gflops"]["value"]) < 1e-9
    assert 0 < r["share_of_peak"]["value"] < 8, r  # a busy machine slows the peak, too'
}

@test "bench step trains the same model as PyTorch, and counts tokens and operations as it says" {
    rung bench step --layers 1,2 --tokens 24 --batch 5 --d-model 16 --heads 2 --vocab 11 "${small[@]}" >step.json
    has_schema rung.bench-speed/1 <step.json
    peer=0
    has_peer && peer=1
    python '
import json, sys
b = json.load(open("step.json"))
assert [r["name"] for r in b["rows"]] == ["1 layers, 24 tokens", "2 layers, 24 tokens"]
for layers, r in enumerate(b["rows"], 1):
    matrices = layers * (4 * 16 * 16 + 2 * 16 * 64) + 11 * 16
    flops = 6 * matrices + 3 * layers * 24 * (16 + 16)
    assert abs(r["gflops"]["high"] / (r["ktok_per_s"]["high"] * flops * 1e-6) - 1) < 1e-6
    assert abs(r["share_of_peak"]["high"] - r["gflops"]["high"] / r["peak_gflops"]["value"]) < 1e-9
    assert 2 < r["loss_at_first"]["value"] < 6
    assert not any("at_least" in f for f in r.values() if isinstance(f, dict))  # no bars at these sizes
    assert ("ratio" in r and "ratio_to_best" in r) == bool(int(sys.argv[1]))
assert (b["peer"] is not None) == bool(int(sys.argv[1]))' "$peer"
}

@test "bench mixers computes the outputs and gradients that PyTorch has, for every mechanism with a chunked form" {
    rung bench mixers --tokens 128 --batch 3 --dim 8 --heads 2 "${small[@]}" >mixers.json
    has_schema rung.bench-speed/1 <mixers.json
    peer=0
    has_peer && peer=1
    python '
import json, sys
rows = {r["name"].split(",")[0]: r for r in json.load(open("mixers.json"))["rows"]}
chunked = {"full", "linear", "gla", "retnet", "mamba2", "delta", "gdelta"}
assert set(rows) == chunked | {"kda", "rwkv7", "mamba", "loglinear"}
for name, r in rows.items():
    assert r["forward_ms"]["value"] > 0 and r["forward_backward_ms"]["value"] > 0
    assert ("ratio" in r) == (bool(int(sys.argv[1])) and name in chunked), name' "$peer"
}

@test "bench step and mixers without PyTorch measure rung alone and say so" {
    for subject in "step --layers 1 --d-model 16" "mixers --mech full --dim 4"; do
        # shellcheck disable=SC2086
        PYTHONHOME=/nowhere run -0 --separate-stderr rung bench $subject --tokens 16 --batch 2 "${small[@]}"
        [[ $stderr == *"no PyTorch"* && $output == *'"peer": null'* && $output != *ratio* ]]
        # shellcheck disable=SC2086
        run -0 --separate-stderr rung bench $subject --tokens 16 --batch 2 --no-peer "${small[@]}"
        [[ $stderr != *"no PyTorch"* && $output == *'"peer": null'* ]]
    done
}

@test "bench --peer takes a python or a virtual environment, and refuses what is neither" {
    run -2 --separate-stderr rung bench step --tokens 16 --peer /nowhere "${small[@]}"
    [[ $stderr == *"--peer /nowhere"* && $stderr == *"make peer"* ]]
    mkdir -p env/bin
    printf '#!/bin/sh\nexit 3\n' >env/bin/python
    chmod +x env/bin/python
    run -4 --separate-stderr rung bench step --tokens 16 --peer env "${small[@]}"
    [[ $stderr == *"--peer env: it has no PyTorch"* ]]
}

# fake_peer GFLOPS: an environment whose python says hello with such a product, and nothing else.
fake_peer() {
    mkdir -p env/bin
    cat >env/bin/python <<EOF
#!/bin/sh
read -r question
echo '{"torch": "9.1.0", "blas": "MKL", "product_gflops": $1}'
EOF
    chmod +x env/bin/python
}

@test "bench refuses a PyTorch whose BLAS does not suit the processor, and with --quick says what it has" {
    fake_peer 0.01
    run -4 --separate-stderr rung bench step --layers 1 --tokens 16 --threads 1 --peer env --json
    [[ $stderr == *"PyTorch 9.1.0 with MKL multiplies matrices at 0.01 GFLOP/s"* && $stderr == *"make peer"* ]]
    run -4 --separate-stderr rung bench step --layers 1 --tokens 16 --peer env "${small[@]}"
    [[ $stderr == *"compare nothing with it"* && $stderr == *"PyTorch has ended"* ]]
    fake_peer 1e9
    run -4 --separate-stderr rung bench step --layers 1 --tokens 16 --threads 1 --peer env --json
    [[ $stderr != *"multiplies"* && $stderr == *"PyTorch has ended"* ]]
}

@test "bench length compares tokens per second of every recurrent mechanism at two lengths" {
    rung bench length --tokens 32,64 --batch 4 --dim 8 --heads 2 "${small[@]}" >length.json
    python '
import json
rows = json.load(open("length.json"))["rows"]
assert {r["name"].split(",")[0] for r in rows} == {"linear", "gla", "retnet", "mamba2", "delta", "gdelta", "kda", "rwkv7",
                                                   "mamba", "loglinear"}
for r in rows:
    for work in ("forward", "both"):
        assert r[work + "_long_to_short"]["value"] > 0 and "at_least" not in r[work + "_long_to_short"]'
    run -2 --separate-stderr rung bench length --tokens 64
    run -2 --separate-stderr rung bench length --mech full-stop
}

# bats test_tags=plain
@test "bench mixers and length judge shares of the peak and of the speed at the standard sizes" {
    without_sanitizers "bars are for the usual build"
    judged() {
        status=0
        rung bench "$1" --mech "$2" --no-peer --json >row.json || status=$?
        python '
import json, sys
(r,) = json.load(open("row.json"))["rows"]
f, bar = r[sys.argv[1]], float(sys.argv[2])
assert f["at_least"] == bar and f["missed"] == (f["value"] < bar), f
assert int(sys.argv[3]) == any(x.get("missed", False) for x in r.values() if isinstance(x, dict))' "$3" "$4" "$status"
    }
    judged mixers retnet forward_share_of_peak 0.4
    judged mixers kda forward_share_of_peak 0.35
    judged mixers rwkv7 forward_share_of_peak 0.3
    judged length mamba2 both_long_to_short 0.85
}

# bats test_tags=plain
@test "bench memory has a bar at the standard sizes, and its exit code says whether it is met" {
    without_sanitizers "they need memory of their own"
    status=0
    rung bench memory --json >memory.json || status=$?
    python '
import json, sys
(r,) = json.load(open("memory.json"))["rows"]
f = r["peak_mib"]
assert f["at_most"] == 1024 and f["value"] > 30 and f["missed"] == (f["value"] > 1024)
assert int(sys.argv[1]) == f["missed"]' "$status"
    rung bench memory --layers 1 --tokens 64 --d-model 16 --json >small.json
    python '
import json
small, large = (json.load(open(n))["rows"][0]["peak_mib"] for n in ("small.json", "memory.json"))
assert small["value"] < large["value"] and "at_most" not in small'
}
