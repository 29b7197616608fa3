/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to train: where each weight of a model lies in the one array of parameters. Names and shapes come from the
 * model module and are turned into offsets once, so that a step looks up no names.
 */
#ifndef RUNG_TRAIN_NET_H
#define RUNG_TRAIN_NET_H

#include "rung/train.h"

#define ABSENT SIZE_MAX /* offset of a tensor that the model lacks */

/* y = W x + b, W = [rows][cols]. panels: where those of W^T lie among the panels of the network. index: its place in
 * the list of all projections. */
typedef struct net_linear {
    size_t rows, cols, weight, bias, panels, index;
} net_linear;

typedef struct net_norm {
    size_t weight, bias;
} net_norm;

typedef struct net_input {
    net_linear linear;
    size_t rate, conv, constant, norm; /* conv = [row][width], oldest token first */
} net_input;

typedef struct net_group {
    const rung_mech_conf *conf;
    net_input input[RUNG_MECH_INPUT_MAX];
    net_linear gate;
    size_t gate_norm;
} net_group;

typedef struct net_layer {
    net_norm norm1, norm2;
    size_t group_count;
    net_group *group;
    net_linear out;
    rung_mlp mlp;
    net_linear up, gate, down;
    net_linear layer_readout; /* auxiliary read-out; weight ABSENT: this layer has none */
    double layer_loss_weight;
} net_layer;

struct rung_net {
    rung_model_spec spec; /* texts in the arena */
    rung_arch arch;
    bool has_arch;
    rung_arena arena;
    size_t tensor_count, tensor_capacity, model_tensors; /* those of the model come first */
    rung_net_tensor *tensor;
    size_t parameters;
    float *values;
    size_t embed; /* [vocab][d_model] */
    net_linear feature;
    size_t positions, cos, sin;
    net_layer *layer;
    net_norm final_norm;
    net_linear readout;
    size_t linear_count, panels; /* all projections in a list, and the floats that their panels take */
    net_linear *linear;
    bool rounded;
    rung_fmt numbers;
};

/* The weights that the forward pass sees: the values, rounded if the network is. out = [parameters]. */
void train_net_seen(float *out, const rung_net *net);

#endif
