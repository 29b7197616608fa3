/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Recurrent mechanisms: which one a file has (by its family, else by the fields that it carries) and its sizes under
 * all their names. The elements come from state_sizes.c. Where heads are given, heads times their size is the inner width; an
 * expansion factor is the last resort, for published files carry factors that do not belong to the model.
 */
#include "mixer.h"

#define STATE_KEYS  "mamba_d_state ssm_state_size state_size d_state ssm_cfg.d_state"
#define CONV_KEYS   "mamba_d_conv conv_kernel conv_dimension d_conv ssm_cfg.d_conv"
#define EXPAND_KEYS "mamba_expand expand expansion_factor ssm_cfg.expand"
#define GROUP_KEYS  "mamba_n_groups n_groups mamba_ngroups ngroups ssm_cfg.ngroups"

/* ---- state spaces ---- */

/* intermediate_size is the inner width only in pure state-space models, which have no attention heads. In others it may
 * be the width of an MLP. */
static bool find_inner(uint64_t *inner, cfg_reader *r)
{
    bool pure = !cfg_has(r, "num_attention_heads mamba_d_state attn");
    return cfg_find_size(inner, r, "mamba_d_ssm mamba_d_inner mamba_intermediate_size") ||
           (pure && cfg_find_size(inner, r, "intermediate_size"));
}

static uint64_t expanded(cfg_reader *r)
{
    return (uint64_t)(cfg_real_or(r, EXPAND_KEYS, 2) * (double)cfg_hidden_size(r));
}

/* Sizes that the format of mamba_ssm leaves to its class. */
static uint64_t native_size_or(cfg_reader *r, const char *keys, uint64_t taken)
{
    uint64_t value;
    if (cfg_find_size(&value, r, keys)) return value;
    cfg_note(r, "%s is not in the file; mamba_ssm takes %zu", strrchr(keys, ' ') + 1, (size_t)taken);
    return taken;
}

static void mix_mamba1(rung_ledger_layer *held, cfg_reader *r, size_t i)
{
    uint64_t inner;
    (void)i;
    if (!find_inner(&inner, r)) inner = expanded(r);
    if (inner == 0) cfg_fail(r, "the width of its state space is 0");
    bool native = cfg_has(r, "ssm_cfg");
    uint64_t state = native ? native_size_or(r, STATE_KEYS, 16) : cfg_need_size(r, STATE_KEYS, "state size");
    cfg_state_mamba1(held, inner, state,
                     native ? native_size_or(r, CONV_KEYS, 4) : cfg_need_size(r, CONV_KEYS, "convolution"));
}

#define SSM_HEAD_KEYS "mamba_n_heads mamba_num_heads n_mamba_heads ssm_cfg.nheads"
#define SSM_SIZE_KEYS "mamba_d_head mamba_head_dim mamba_headdim ssm_cfg.headdim"

/* Heads and their size: both are given, or one of them and the inner width. What the file states overrides a default of
 * the class. If the file states one of them the other is derived from it. */
static void read_ssm_heads(uint64_t *heads, uint64_t *head_dim, cfg_reader *r)
{
    uint64_t inner;
    bool pure = !cfg_has(r, "num_attention_heads n_head");
    const char *head_keys = pure ? SSM_HEAD_KEYS " num_heads" : SSM_HEAD_KEYS;
    const char *size_keys = pure ? SSM_SIZE_KEYS " head_dim" : SSM_SIZE_KEYS;
    bool counted = cfg_find_size_in(heads, r, r->config, head_keys);
    bool sized = cfg_find_size_in(head_dim, r, r->config, size_keys);
    if (!counted && !sized) {
        counted = cfg_find_size(heads, r, head_keys);
        sized = cfg_find_size(head_dim, r, size_keys);
    }
    if (counted && sized) return;
    if (!find_inner(&inner, r)) inner = expanded(r);
    cfg_note(r, "%s of the state space: not in the file; derived from its width", counted ? "head size" : "heads");
    if (!counted && !sized) {
        if (!cfg_has(r, "ssm_cfg"))
            cfg_fail(r, "has neither heads nor head size of its state space; looked for: "
                        "mamba_n_heads mamba_num_heads n_mamba_heads mamba_d_head mamba_head_dim");
        *head_dim = 64; /* the default of mamba_ssm's class */
    }
    if (counted)
        *head_dim = cfg_divide(r, inner, *heads, "head size of the state space");
    else
        *heads = cfg_divide(r, inner, *head_dim, "heads of the state space");
}

static void mix_mamba2(rung_ledger_layer *held, cfg_reader *r, size_t i)
{
    uint64_t heads = 0, head_dim = 0;
    (void)i;
    read_ssm_heads(&heads, &head_dim, r);
    bool native = cfg_has(r, "ssm_cfg");
    uint64_t state = native ? native_size_or(r, STATE_KEYS, 128) : cfg_need_size(r, STATE_KEYS, "state size");
    uint64_t groups =
        native ? native_size_or(r, GROUP_KEYS, 1) : cfg_need_size(r, GROUP_KEYS, "groups of the state space");
    uint64_t kernel = native ? native_size_or(r, CONV_KEYS, 4) : cfg_need_size(r, CONV_KEYS, "convolution");
    cfg_state_mamba2(held, heads, head_dim, state, groups, kernel);
}

static void mix_loglinear_mamba2(rung_ledger_layer *held, cfg_reader *r, size_t i)
{
    mix_mamba2(held, r, i);
    held->levels = true;
}

/* TTT: weights (and biases) that every mini-batch of tokens updates, and their accumulated gradients. */
static void mix_ttt(rung_ledger_layer *held, cfg_reader *r, size_t i)
{
    uint64_t hidden = cfg_hidden_size(r), heads = cfg_need_size(r, "num_attention_heads num_heads", "number of heads");
    const char *layer = cfg_find_text(r, "ttt_layer_type");
    bool mlp = layer && strcmp(layer, "mlp") == 0;
    uint64_t dim = r->status ? 0 : cfg_divide(r, hidden, heads, "head size"), wide = mlp ? cfg_times(4, dim) : dim;
    (void)i;
    if (layer && !mlp && strcmp(layer, "linear") != 0)
        cfg_fail(r, "'ttt_layer_type' is '%s', and linear and mlp are known", SHOW(layer));
    if (r->status) return;
    cfg_state_matrix(held, cfg_times(2, heads), cfg_plus(dim, 1), wide);
    if (mlp) cfg_state_matrix(held, cfg_times(2, heads), cfg_plus(wide, 1), dim);
    uint64_t convolved = cfg_times(hidden, (cfg_flag_or(r, "pre_conv", false) ? 1 : 0) + 2);
    cfg_state_conv(held, convolved, cfg_size_or(r, "conv_kernel", 4));
}

/* There is no convolution. The trapezoidal rule needs the last key (of each rank) and the last value, and the rotation
 * keeps its angles. */
static void mix_mamba3(rung_ledger_layer *held, cfg_reader *r, size_t i)
{
    bool native = cfg_has(r, "ssm_cfg");
    uint64_t heads = 0, head_dim = 0;
    uint64_t state = native ? native_size_or(r, STATE_KEYS, 128) : cfg_need_size(r, STATE_KEYS, "state size");
    (void)i;
    read_ssm_heads(&heads, &head_dim, r);
    bool mimo = cfg_flag_or(r, "is_mimo ssm_cfg.is_mimo", false);
    uint64_t rank = mimo ? cfg_size_or(r, "mimo_rank ssm_cfg.mimo_rank", 4) : 1;
    uint64_t angles = (uint64_t)(cfg_real_or(r, "rope_fraction ssm_cfg.rope_fraction", 0.5) * (double)state) / 2;
    if (!mimo) cfg_note(r, "is_mimo is not set; one key of each head is counted");
    cfg_state_matrix(held, heads, head_dim, state);
    held->extra_elements = cfg_times(heads, cfg_plus(angles, cfg_plus(cfg_times(rank, state), head_dim)));
}

/* ---- delta rules ---- */

/* OLMo-Hybrid leaves all sizes null: heads as in attention, keys of 3/4 of the width, values twice as wide. */
static void mix_gdelta(rung_ledger_layer *held, cfg_reader *r, size_t i)
{
    (void)i;
    uint64_t heads = cfg_size_or(r, "num_attention_heads", 0);
    uint64_t key_heads = cfg_size_or(r, "linear_num_key_heads", heads);
    uint64_t value_heads = cfg_size_or(r, "linear_num_value_heads", heads), key_dim, value_dim;
    if (key_heads == 0 || value_heads == 0)
        cfg_fail(r, "has no heads of its linear layers; looked for: linear_num_key_heads linear_num_value_heads");
    if (r->status) return;
    if (!cfg_find_size(&key_dim, r, "linear_key_head_dim"))
        key_dim = (uint64_t)(0.75 * (double)cfg_hidden_size(r) / (double)key_heads);
    if (!cfg_find_size(&value_dim, r, "linear_value_head_dim")) value_dim = cfg_times(2, key_dim);
    cfg_state_delta(held, key_heads, value_heads, key_dim, value_dim,
                    cfg_need_size(r, "linear_conv_kernel_dim", "convolution of the linear layers"));
}

static void mix_kda(rung_ledger_layer *held, cfg_reader *r, size_t i)
{
    (void)i;
    uint64_t heads = cfg_need_size(r, "linear_attn_config.num_heads linear_num_heads", "heads of its linear layers");
    uint64_t dim = cfg_need_size(r, "linear_attn_config.head_dim linear_head_dim", "head size of its linear layers");
    uint64_t kernel =
        cfg_need_size(r, "linear_attn_config.short_conv_kernel_size linear_conv_kernel_dim", "convolution");
    cfg_state_delta(held, heads, heads, dim, dim, kernel);
}

/* ---- matrices without a convolution ---- */

static uint64_t linear_head_dim(cfg_reader *r, uint64_t heads)
{
    uint64_t dim;
    return cfg_find_size(&dim, r, "lightning_head_dim head_dim")
               ? dim
               : cfg_divide(r, cfg_hidden_size(r), heads, "head size");
}

static void mix_lightning(rung_ledger_layer *held, cfg_reader *r, size_t i)
{
    (void)i;
    uint64_t heads = cfg_need_size(r, "lightning_nh num_attention_heads", "heads of its linear layers");
    uint64_t dim = linear_head_dim(r, heads);
    cfg_state_matrix(held, heads, dim, dim);
}

/* Ling: KDA if there is a short convolution, otherwise lightning attention. */
static void mix_bailing(rung_ledger_layer *held, cfg_reader *r, size_t i)
{
    uint64_t kernel, heads, dim;
    if (!cfg_find_size(&kernel, r, "short_conv_kernel_size")) {
        cfg_note(r, "no short_conv_kernel_size is in the file, so the linear layers are lightning attention");
        cfg_doubt(r, "no 'short_conv_kernel_size' is in the file, which tells KDA from lightning attention");
        mix_lightning(held, r, i);
        return;
    }
    heads = cfg_need_size(r, "num_attention_heads", "heads of its linear layers");
    dim = linear_head_dim(r, heads);
    cfg_state_delta(held, heads, heads, dim, dim, kernel);
}

static void mix_jet(rung_ledger_layer *held, cfg_reader *r, size_t i)
{
    (void)i;
    uint64_t heads = cfg_need_size(r, "efficient_attention_config.jet.num_heads", "heads of its linear layers");
    uint64_t dim = cfg_need_size(r, "efficient_attention_config.jet.head_dim", "head size of its linear layers");
    double expand = cfg_real_or(r, "efficient_attention_config.jet.expand_v", 2);
    cfg_state_delta(held, heads, heads, dim, (uint64_t)((double)dim * expand),
                    cfg_need_size(r, "efficient_attention_config.jet.conv_size", "convolution"));
}

/* ---- others ---- */

static void mix_rwkv4(rung_ledger_layer *held, cfg_reader *r, size_t i)
{
    (void)i;
    uint64_t hidden = cfg_hidden_size(r);
    cfg_state_rwkv4(held, cfg_size_or(r, "attention_hidden_size", hidden), hidden);
}

/* RWKV-5 and -6. Two classes are called rwkv6. The one of flash-linear-attention has expansion factors and no head
 * size. */
static void mix_rwkv(rung_ledger_layer *held, cfg_reader *r, size_t i)
{
    (void)i;
    uint64_t hidden = cfg_hidden_size(r);
    bool expands = cfg_has(r, "expand_k expand_v") && !cfg_has(r, "head_size");
    if (!expands) {
        cfg_state_rwkv(held, cfg_size_or(r, "attention_hidden_size", hidden),
                       cfg_need_size(r, "head_size head_dim", "head size"), 0);
    } else {
        uint64_t key = (uint64_t)(cfg_real_or(r, "expand_k", 0.5) * (double)hidden);
        uint64_t value = (uint64_t)(cfg_real_or(r, "expand_v", 1) * (double)hidden),
                 heads = cfg_size_or(r, "num_heads", 4);
        cfg_state_matrix(held, 1, cfg_divide(r, key, heads, "head size"), value);
    }
    held->conv_elements = cfg_times(2, hidden);
}

/* value_dim may be a list with the width of every layer. */
static void mix_rwkv7(rung_ledger_layer *held, cfg_reader *r, size_t i)
{
    uint64_t hidden = cfg_hidden_size(r), value = hidden, dim, heads;
    (void)cfg_find_size_at(&value, r, "value_dim", i);
    if (!cfg_find_size(&dim, r, "head_dim head_size")) {
        heads = cfg_need_size(r, "num_heads", "number of heads");
        dim = cfg_divide(r, hidden, heads, "head size");
    }
    cfg_state_heads(held, dim ? hidden / dim : 0, dim, value);
    held->conv_elements = cfg_times(2, hidden);
}

static uint64_t round_up_64(double width)
{
    return ((uint64_t)width + 63) / 64 * 64;
}

static void mix_mlstm(rung_ledger_layer *held, cfg_reader *r, size_t i)
{
    (void)i;
    double hidden = (double)cfg_hidden_size(r);
    uint64_t heads = cfg_need_size(r, "num_heads", "number of heads");
    uint64_t key = round_up_64(hidden * cfg_real_or(r, "qk_dim_factor", 0.5));
    uint64_t value = round_up_64(hidden * cfg_real_or(r, "v_dim_factor", 1));
    if (heads == 0) cfg_fail(r, "has 0 heads");
    if (!r->status) cfg_state_mlstm(held, heads, key / heads, value / heads);
}

static void mix_rglru(rung_ledger_layer *held, cfg_reader *r, size_t i)
{
    (void)i;
    uint64_t width;
    if (!cfg_find_size(&width, r, "lru_width")) width = cfg_hidden_size(r);
    cfg_state_rglru(held, width, cfg_need_size(r, "conv1d_width", "convolution"));
}

static void mix_shortconv(rung_ledger_layer *held, cfg_reader *r, size_t i)
{
    (void)i;
    uint64_t width;
    if (!cfg_find_size(&width, r, "conv_dim")) width = cfg_hidden_size(r);
    cfg_state_conv(held, width, cfg_need_size(r, "conv_L_cache", "convolution"));
}

/* ZAYA: two convolutions in a row over queries and keys, and values that also read the previous hidden state. */
static void mix_cca(rung_ledger_layer *held, cfg_reader *r, size_t i)
{
    uint64_t heads = 0, dim = cfg_need_size(r, "head_dim kv_channels", "head size");
    (void)cfg_find_size_at(&heads, r, "cca_num_q_heads num_attention_heads", i);
    uint64_t kv = cfg_need_size(r, "num_key_value_heads num_query_groups", "key and value heads");
    uint64_t tokens = cfg_plus(cfg_size_or(r, "cca_time0", 2), cfg_size_or(r, "cca_time1", 2));
    uint64_t reach = tokens > 2 ? tokens - 2 : 0;
    held->conv_elements = cfg_plus(cfg_times(cfg_times(cfg_plus(heads, kv), dim), reach), cfg_hidden_size(r));
}

/* PLaMo 2: Mamba-2 whose convolution runs over its input alone. */
static void mix_plamo2(rung_ledger_layer *held, cfg_reader *r, size_t i)
{
    uint64_t heads = cfg_need_size(r, "mamba_num_heads", "heads of the state space");
    uint64_t dim = cfg_need_size(r, "hidden_size_per_head", "head size of the state space");
    (void)i;
    cfg_state_mamba1(held, cfg_times(heads, dim), cfg_need_size(r, "mamba_d_state", "state size"),
                     cfg_need_size(r, "mamba_d_conv", "convolution"));
}

/* Inkling: four convolutions in every layer, over keys, over values, behind the attention and behind the MLP. */
static void mix_inkling(rung_ledger_layer *held, cfg_reader *r, size_t i)
{
    bool windowed = r->layer[i].kinds & KIND_WINDOW;
    uint64_t kv = cfg_need_size(r, windowed ? "swa_num_key_value_heads" : "num_key_value_heads", "key and value heads");
    uint64_t dim = cfg_need_size(r, windowed ? "swa_head_dim" : "head_dim", "head size");
    uint64_t width = cfg_times(2, cfg_plus(cfg_times(kv, dim), cfg_hidden_size(r)));
    cfg_state_conv(held, width, cfg_need_size(r, "conv_kernel_size sconv_kernel_size", "convolution"));
}

/* ---- the table ---- */

struct cfg_mixer {
    const char *name;      /* as in family.c */
    const char *mechanism; /* for display */
    mixer_fn *read;
    const char *fields; /* in a file of an unknown family any of these keys identifies it */
};

static const cfg_mixer mixers[] = {
    {"kda", "kda", mix_kda, "linear_attn_config linear_num_heads"},
    {"jet", "gdelta", mix_jet, "efficient_attention_config.jet"},
    {"gdelta", "gdelta", mix_gdelta, "linear_num_value_heads linear_key_head_dim"},
    {"lightning", "lightning", mix_lightning, "lightning_nh lightning_head_dim attn_type_list mixer_types"},
    {"shortconv", "conv", mix_shortconv, "conv_L_cache"},
    {"rglru", "rglru", mix_rglru, "lru_width conv1d_width"},
    {"mamba2", "mamba2", mix_mamba2, "mamba_n_heads mamba_num_heads mamba_d_head mamba_head_dim mamba_headdim"},
    {"mamba1", "mamba", mix_mamba1, "mamba_d_state mamba_dt_rank time_step_rank ssm_cfg"},
    {"cca", "cca", mix_cca, "cca cca_time0"},
    {"ttt", "ttt", mix_ttt, "ttt_layer_type"},
    {"inkling", "conv", mix_inkling, ""},
    {"plamo2", "mamba2", mix_plamo2, ""},
    {"bailing", "lightning", mix_bailing, ""},
    {"loglinear_mamba2", "loglinear:mamba2", mix_loglinear_mamba2, ""},
    {"mamba3", "mamba3", mix_mamba3, ""},
    {"rwkv4", "rwkv4", mix_rwkv4, ""},
    {"rwkv", "rwkv6", mix_rwkv, ""},
    {"rwkv7", "rwkv7", mix_rwkv7, ""},
    {"mlstm", "mlstm", mix_mlstm, ""},
    {"gla", "gla", cfg_mix_fla_expand, ""},
    {"retnet", "retnet", cfg_mix_fla_expand, ""},
    {"linear", "linear", cfg_mix_fla_expand, ""},
    {"delta", "delta", cfg_mix_fla_expand, ""},
    {"fla_gdelta", "gdelta", cfg_mix_fla_delta, ""},
    {"fla_kda", "kda", cfg_mix_fla_delta, ""},
    {"fla_deltaproduct", "deltaproduct", cfg_mix_fla_deltaproduct, ""},
    {"gsa", "gsa", cfg_mix_fla_gsa, ""},
    {"hgrn", "hgrn", cfg_mix_fla_hgrn, ""},
    {"hgrn2", "hgrn2", cfg_mix_fla_hgrn2, ""},
};

static const cfg_mixer *mixer_named(const char *name)
{
    for (size_t i = 0; i < RUNG_COUNT(mixers); i++)
        if (strcmp(mixers[i].name, name) == 0) return &mixers[i];
    return NULL;
}

/* The format of mamba_ssm states its class. */
static const cfg_mixer *native_mixer(const cfg_reader *r)
{
    const char *layer = cfg_find_text(r, "ssm_cfg.layer");
    if (layer && strcmp(layer, "Mamba3") == 0) return mixer_named("mamba3");
    return mixer_named(layer && strcmp(layer, "Mamba2") == 0 ? "mamba2" : "mamba1");
}

const cfg_mixer *cfg_find_mixer(cfg_reader *r)
{
    if (r->family->mixer) return mixer_named(r->family->mixer);
    if (cfg_has(r, "ssm_cfg")) return native_mixer(r);
    for (size_t i = 0; i < RUNG_COUNT(mixers); i++)
        if (mixers[i].fields[0] && cfg_has(r, mixers[i].fields)) return &mixers[i];
    cfg_fail(r, "has recurrent layers, and neither model_type '%s' nor a field says of which kind they are",
             SHOW(r->type));
    return NULL;
}

void cfg_read_mixer(rung_ledger_layer *held, cfg_reader *r, const cfg_mixer *mixer, size_t i)
{
    mixer->read(held, r, i);
    bool kda = mixer->read == mix_bailing && held->conv_elements > 0;
    cfg_layer_name(held, kda ? "kda" : mixer->mechanism);
}
