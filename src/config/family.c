/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Families by model_type: which recurrent mechanism they have, and the pattern that their configuration class makes when
 * the file does not write it. A file that says more than its class is read from the file; the table is the last resort.
 */
#include "reader.h"

/* Patterns are tiled over the layers. H: recurrent and full side by side. */
unsigned cfg_letter(char letter)
{
    switch (letter) {
    case 'F':
        return KIND_FULL;
    case 'W':
        return KIND_WINDOW;
    case 'C':
        return KIND_CHUNK;
    case 'R':
        return KIND_RECURRENT;
    case 'S':
        return KIND_SPARSE;
    case 'H':
        return KIND_RECURRENT | KIND_FULL;
    default:
        return 0;
    }
}

static const cfg_family families[] = {
    /* one mechanism in every layer */
    {"mamba", "mamba1", "R", 0, 0},
    {"falcon_mamba", "mamba1", "R", 0, 0},
    {"mamba2", "mamba2", "R", 0, 0},
    {"mamba3", "mamba3", "R", 0, 0},
    {"log_linear_mamba2", "loglinear_mamba2", "R", 0, 0},
    {"rwkv", "rwkv4", "R", 0, 0},
    {"rwkv5", "rwkv", "R", 0, 0},
    {"rwkv6", "rwkv", "R", 0, 0},
    {"rwkv7", "rwkv7", "R", 0, 0},
    {"xlstm", "mlstm", "R", 0, 32},
    {"moba", NULL, "S", 0, 0},
    {"nsa", NULL, "S", 0, 0},
    /* flash-linear-attention: the mixer everywhere, but for what `attn` names */
    {"gla", "gla", "R", 0, 0},
    {"retnet", "retnet", "R", 0, 0},
    {"linear_attn", "linear", "R", 0, 0},
    {"delta_net", "delta", "R", 0, 0},
    {"gated_deltanet", "fla_gdelta", "R", 0, 0},
    {"comba", "fla_gdelta", "R", 0, 0},
    {"gated_deltaproduct", "fla_deltaproduct", "R", 0, 0},
    {"kda", "fla_kda", "R", 0, 0},
    {"gsa", "gsa", "R", 0, 0},
    {"hgrn", "hgrn", "R", 0, 0},
    {"hgrn2", "hgrn2", "R", 0, 0},
    {"samba", "mamba1", "RWRWRWRWRWRWRWRWRW", 0, 0},
    /* hybrids */
    {"jamba", "mamba1", NULL, 0, 0},
    {"zamba", "mamba1", NULL, 0, 0},
    {"zamba2", "mamba2", "RRRRRRHRRRRRHRRRRRHRRRRRHRRRRRHRRRRRHRRRRRHRRRRHRRRHRR", FAMILY_LIST_WINS, 0},
    {"bamba", "mamba2", "R", 0, 0},
    {"granitemoehybrid", "mamba2", "R", 0, 0},
    {"falcon_h1", "mamba2", "H", 0, 0},
    {"nemotron_h", "mamba2", NULL, FAMILY_LIST_WINS, 0},
    {"nemotron_h_moe", "mamba2", NULL, FAMILY_LIST_WINS, 0},
    {"hymba", "mamba1", NULL, 0, 0},
    {"recurrent_gemma", "rglru", "RRW", 0, 0},
    {"lfm2", "shortconv", NULL, 0, 0},
    {"lfm2_moe", "shortconv", NULL, 0, 0},
    {"zaya", "cca", "H", FAMILY_LIST_WINS, 0},
    {"qwen3_next", "gdelta", "RRRF", 0, 32},
    {"qwen3_5", "gdelta", "RRRF", 0, 32},
    {"qwen3_5_text", "gdelta", "RRRF", 0, 32},
    {"qwen3_5_moe", "gdelta", "RRRF", 0, 32},
    {"qwen3_5_moe_text", "gdelta", "RRRF", 0, 32},
    {"olmo_hybrid", "gdelta", "RRRF", 0, 0},
    {"kimi_linear", "kda", NULL, 0, 32},
    {"kimi_k3", "kda", NULL, 0, 32},
    {"glm5_next", "kda", "RRRF", 0, 32},
    {"glm5_next_text", "kda", "RRRF", 0, 32},
    {"minimax", "lightning", "FR", 0, 0},
    {"minimax_text_01", "lightning", NULL, 0, 0},
    {"minimax_m1", "lightning", NULL, 0, 0},
    {"bailing_moe_linear", "lightning", NULL, 0, 0},
    {"bailing_hybrid", "bailing", NULL, 0, 0},
    {"minicpm_sala", "lightning", NULL, 0, 0},
    {"jet_nemotron", "jet", NULL, 0, 0},
    /* attention only, with a pattern of the class */
    {"gemma2", NULL, "WF", 0, 0},
    {"gemma3", NULL, "WWWWWF", 0, 0},
    {"gemma3_text", NULL, "WWWWWF", 0, 0},
    {"gemma3n", NULL, "WWWWF", 0, 0},
    {"gemma3n_text", NULL, "WWWWF", 0, 0},
    {"gemma4", NULL, "WWWWWF", FAMILY_LAST_FULL, 0},
    {"gemma4_text", NULL, "WWWWWF", FAMILY_LAST_FULL, 0},
    {"gpt_oss", NULL, "WF", 0, 0},
    {"cohere2", NULL, "WWWF", 0, 0},
    {"olmo3", NULL, "WWWF", 0, 0},
    {"afmoe", NULL, "WWWF", 0, 0},
    {"llama4", NULL, "CCCF", 0, 0},
    {"llama4_text", NULL, "CCCF", 0, 0},
    {"transformer", NULL, "F", 0, 0}, /* of flash-linear-attention */
    {"longcat_flash", NULL, "F", FAMILY_DOUBLED, 0},
};

const cfg_family *cfg_family_of(const char *type)
{
    static const cfg_family unknown = {"", NULL, NULL, 0, 0};
    for (size_t i = 0; i < RUNG_COUNT(families); i++)
        if (strcmp(families[i].type, type) == 0) return &families[i];
    return &unknown;
}
