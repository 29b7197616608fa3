/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * AdamW (Loshchilov and Hutter 2019) with the conventions of torch.optim.AdamW and torch.nn.utils.clip_grad_norm_:
 *   g *= min(1, clip / (|g| + 1e-6));  w -= rate decay w;  m = b1 m + (1-b1) g;  v = b2 v + (1-b2) g^2;
 *   w -= rate / (1 - b1^t) m / (sqrt(v) / sqrt(1 - b2^t) + eps),  t = step + 1.
 */
#include "net.h"
#include "tiny.h"

#include "rung/kern.h"

#include <math.h>

const char *const rung_schedule_names[] = {"constant", "cosine", "linear", NULL};

double rung_adamw_rate(const rung_adamw *conf, uint64_t step)
{
    const double pi = 3.14159265358979323846;
    if (step < conf->warmup) return conf->rate * (double)(step + 1) / (double)conf->warmup;
    double span = conf->steps > conf->warmup ? (double)(conf->steps - conf->warmup) : 1;
    double done = fmin(1, (double)(step - conf->warmup) / span);
    if (conf->schedule == RUNG_SCHEDULE_COSINE) return conf->rate * 0.5 * (1 + cos(pi * done));
    if (conf->schedule == RUNG_SCHEDULE_LINEAR) return conf->rate * (1 - done);
    return conf->rate;
}

double rung_adamw_step(rung_net *net, float *m, float *v, float *grad, const rung_adamw *conf, uint64_t step)
{
    const rung_kernels *kern = rung_kernels_get();
    tiny_mode before = tiny_to_zero();
    double t = (double)(step + 1), rate = rung_adamw_rate(conf, step),
           norm = sqrt(kern->square_sum(grad, net->parameters));
    rung_adam_step u = {.beta1 = (float)conf->beta1,
                        .beta2 = (float)conf->beta2,
                        .rest1 = (float)(1 - conf->beta1),
                        .rest2 = (float)(1 - conf->beta2),
                        .epsilon = (float)conf->epsilon,
                        .step = (float)(rate / (1 - pow(conf->beta1, t))),
                        .root = (float)sqrt(1 - pow(conf->beta2, t)),
                        .clip = 1};
    if (conf->clip > 0 && norm + 1e-6 > conf->clip) u.clip = (float)(conf->clip / (norm + 1e-6));
    for (size_t i = 0; i < net->tensor_count; i++) {
        const rung_net_tensor *tensor = &net->tensor[i];
        size_t at = tensor->offset;
        u.keep = tensor->decays ? (float)(1 - rate * conf->decay) : 1;
        kern->adam(net->values + at, m + at, v + at, grad + at, tensor->elements, &u);
    }
    tiny_back(before);
    return norm;
}
