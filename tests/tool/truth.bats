#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What the command says of models that do what theorems forbid to others, of sizes that are fixed, and of files that leave
# something open. CANNOT would be wrong in every one of these cases unless it is expected by name.
load common

# verdict ARGS...: the word alone.
verdict() { rung bound "$@" --json | python 'import json, sys; print(json.load(sys.stdin)["verdict"])'; }

# not_refuted ARGS...: any verdict but CANNOT.
not_refuted() {
    local word
    word=$(verdict "$@")
    echo "$* -> $word"
    [ -n "$word" ] && [ "$word" != CANNOT ]
}

refuted() { [ "$(verdict "$@")" = CANNOT ]; }

# right MODEL ARGS...: verify finds no wrong prompt.
right() { rung verify "$@" --json | python 'import json, sys; r = json.load(sys.stdin); assert r["wrong"] == 0, r'; }

# Models that are written by hand, by the test that judges them in the library.
hand_made() {
    local made
    made=$(dirname "$RUNG")/test/bound/test_counter_models
    [ -x "$made" ] || skip "the models are made by $made, which is not built"
    RUNG_HAND_MADE=$PWD "$made" >/dev/null 2>&1
    [ -e "$1.safetensors" ]
}

# ---- evaluators ---------------------------------------------------------------------------------------------------------

@test "truth: a lookup inside a chunk of the fast evaluator is CANNOT in exact arithmetic alone" {
    hand_made chunk-looks-up
    right chunk-looks-up.safetensors -n 500
    run ! rung verify chunk-looks-up.safetensors -n 500 --numbers f32
    refuted chunk-looks-up.safetensors --task eva N=31 V=16 form=pair K=31 --bits 32
    not_refuted chunk-looks-up.safetensors --task eva N=31 V=16 form=pair K=31 --bits 32 --kernel fast
    rung bound chunk-looks-up.safetensors --task eva N=31 V=16 form=pair K=31 --bits 32 | grep -q "in exact 32-bit arithmetic"
}

@test "truth: a lookup by clamped exponentials is CANNOT in exact arithmetic alone" {
    hand_made clamp-composes
    right clamp-composes.safetensors -n 500
    refuted clamp-composes.safetensors --task seqcomp L=1 N0=75 V=16 --bits 32
    not_refuted clamp-composes.safetensors --task seqcomp L=1 N0=75 V=16 --bits 32 --kernel fast
}

# ---- layers ---------------------------------------------------------------------------------------------------------------

@test "truth: a convolution before full attention composes and finds continuations" {
    hand_made conv-composes
    right conv-composes.safetensors -n 300
    right conv-composes.safetensors -n 300 --numbers f32
    not_refuted conv-composes.safetensors --task seqcomp L=1 N0=64
    right conv-continues.safetensors -n 100
    not_refuted conv-continues.safetensors --task c-gram c=3 N=600 V=256
    refuted full:dk=2:dv=1 --bits 32 --task seqcomp L=1 N0=64
    refuted full:dk=4:dv=1 --bits 32 --task c-gram c=3 N=600 V=256
}

@test "truth: a sparse model that opens one block per thought finds a partner" {
    hand_made opens-one-by-one
    right opens-one-by-one.safetensors -n 200
    not_refuted opens-one-by-one.safetensors --task two-sum N=192 M=512
    refuted sparse:B=64:k=1:comp=given:lambda=0:dk=5:dv=1 --bits 32 --task two-sum N=192 M=512
}

# ---- sizes ----------------------------------------------------------------------------------------------------------------

@test "truth: a length changes no size that is fixed" {
    not_refuted rnn:dv=4 --bits 16 --task eva V=1 --n 100
    refuted rnn:dv=4 --bits 16 --task eva --n 100
    rung build eva-recurrent N=12 V=2 pack=12 -o er.safetensors
    not_refuted er.safetensors --bits 32 --task eva V=2 --n 13
    refuted er.safetensors --bits 32 --task eva --n 13
    not_refuted 'full@1|linear@1' --head-dim 4 --bits 8 --task seqcomp L=2 V=1 --n 100
    not_refuted linear --head-dim 8 --bits 16 --task assoc-recall N=8 K=8 V=2 --n 10000
    not_refuted linear --head-dim 8 --bits 16 --task eva form=pair K=20 --n 10000
    refuted linear --head-dim 8 --bits 16 --task eva form=pair --n 10000
}

@test "truth: a lookup in a full layer is CAN; a table may have more values than entries" {
    [ "$(verdict full --head-dim 2 --bits 26 --task eva --n 542)" = CAN ]
    refuted full --dk 8 --dv 8 --bits 32 --task seqcomp L=1 N0=21 V=65536
}

# ---- files ----------------------------------------------------------------------------------------------------------------

# config NAME JSON
config() { printf '%s' "$2" >"$1.json"; }

@test "truth: encoders are not refuted for being causal" {
    config bert '{"model_type": "bert", "architectures": ["BertForMaskedLM"], "hidden_size": 8, "num_hidden_layers": 1,
        "num_attention_heads": 2}'
    config albert '{"model_type": "albert", "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}'
    config vit '{"model_type": "vit", "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}'
    config dream '{"model_type": "Dream", "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}'
    config xlnet '{"model_type": "xlnet", "d_model": 8, "n_layer": 1, "n_head": 2}'
    config says_so '{"model_type": "llama", "is_causal": false, "hidden_size": 8, "num_hidden_layers": 1,
        "num_attention_heads": 2}'
    config both_ways '{"model_type": "gemma3_text", "use_bidirectional_attention": true, "hidden_size": 8,
        "num_hidden_layers": 1, "num_attention_heads": 2, "head_dim": 4}'
    judged=0
    for name in bert albert vit dream xlnet says_so both_ways; do
        run rung bound $name.json # a file that cannot be read is refused, which is no verdict
        [ "$status" = 0 ] || continue
        judged=$((judged + 1))
        not_refuted $name.json --task two-sum form=position N=16 M=61
        not_refuted $name.json --task seqcomp L=1 N0=200
    done
    [ $judged -ge 4 ]
}

@test "truth: layers that repeat, share a cache, have a convolution inside, or select only in long prompts" {
    config ouro '{"model_type": "ouro", "architectures": ["OuroForCausalLM"], "hidden_size": 4, "num_hidden_layers": 1,
        "num_attention_heads": 1, "num_key_value_heads": 1, "total_ut_steps": 4}'
    config shared '{"model_type": "llama", "hidden_size": 4, "num_hidden_layers": 2, "num_attention_heads": 1,
        "layer_types": ["full_attention", "sliding_attention"], "sliding_window": 4096, "num_kv_shared_layers": 1}'
    config zaya '{"model_type": "zaya", "hidden_size": 4, "zaya_layers": ["a"], "num_hidden_layers": 1,
        "num_attention_heads": 1, "num_key_value_heads": 1, "head_dim": 4, "cca_time0": 2, "cca_time1": 2}'
    config conv '{"d_model": 4, "n_layer": 1, "ssm_cfg": {"layer": "Mamba2"}, "attn_layer_idx": [0],
        "attn_cfg": {"num_heads": 1, "head_dim": 4, "d_conv": 4, "causal": true}}'
    judged=0
    for name in ouro shared zaya conv; do
        run rung bound $name.json
        [ "$status" = 0 ] || continue
        judged=$((judged + 1))
        not_refuted $name.json --task seqcomp L=1 N0=200
    done
    [ $judged -ge 3 ]
    config dense '{"model_type": "minicpm", "hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 1,
        "num_key_value_heads": 1, "sparse_config": {"kernel_size": 8, "kernel_stride": 8, "init_blocks": 1, "block_size": 8,
        "window_size": 8, "topk": 1, "use_nope": false, "dense_len": 8192}}'
    not_refuted dense.json --task two-sum N=256 M=509
}

@test "truth: accumulators have 32 bits whatever the dtype of a file" {
    config one '{"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2,
        "torch_dtype": "bfloat16"}'
    not_refuted one.json --task seqcomp L=1 N0=200
    config eight '{"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2,
        "torch_dtype": "bfloat16", "quantization_config": {"quant_method": "fp8"}}'
    not_refuted eight.json --task seqcomp L=1 N0=200
}
