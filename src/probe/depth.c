/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * How deep: the largest depth up to which accuracy stays at or above a threshold, with an interval that holds although
 * the number of questions depends on the answers.
 *
 * At one depth, with s right and f wrong answers so far, the evidence that the accuracy p is above theta is the
 * likelihood ratio against theta, averaged over q uniform in [theta, 1]:
 *     E = 1/(1-theta) Int_theta^1 (q/theta)^s ((1-q)/(1-theta))^f dq.
 * For every q >= theta >= p one factor has expectation p q/theta + (1-p)(1-q)/(1-theta) <= 1, so E is a non-negative
 * supermartingale if p <= theta, and by Ville's inequality it ever reaches 1/a with probability at most a, however long
 * and for whatever reason one goes on (Robbins 1970). Below theta the same with right and wrong exchanged. The integral
 * is the tail of a binomial: Int_theta^1 q^s (1-q)^f dq = B(s+1, f+1) P(Bin(s+f+1, theta) <= s).
 */
#include <math.h>

#include "rung/probe.h"

#define NEGLIGIBLE 1e-20 /* smaller terms do not count, even thousands of them, because they fall geometrically */

/* log P(Bin(n, theta) <= s): the largest term, and the others relative to it while they count. */
static double log_binomial_below(uint64_t s, uint64_t n, double theta)
{
    const double odds = theta / (1 - theta), size = (double)n;
    double mode = fmin((double)s, floor((size + 1) * theta));
    double top = lgamma(size + 1) - lgamma(mode + 1) - lgamma(size - mode + 1) + mode * log(theta) +
                 (size - mode) * log1p(-theta);
    double sum = 1, term = 1;
    for (double k = mode; k > 0 && term > NEGLIGIBLE; k--) sum += term *= k / (size - k + 1) / odds;
    term = 1;
    for (double k = mode; k < (double)s && term > NEGLIGIBLE; k++) sum += term *= (size - k) / (k + 1) * odds;
    return top + log(sum);
}

double rung_depth_evidence(uint64_t right, uint64_t wrong, double theta)
{
    if (!(theta > 0 && theta < 1)) return 0; /* there is no threshold, so there is no evidence for either side */
    const double s = (double)right, f = (double)wrong;
    double log_beta = lgamma(s + 1) + lgamma(f + 1) - lgamma(s + f + 2);
    return log_beta + log_binomial_below(right, right + wrong + 1, theta) - log1p(-theta) - s * log(theta) -
           f * log1p(-theta);
}

/* "Above" needs no correction for other depths: the interval is wrong on that side only if the first depth that is
 * truly below is called above. "Below" does: any of the depths before it could be called below wrongly. */
rung_side rung_depth_side(uint64_t right, uint64_t wrong, double theta, double confidence, size_t depths)
{
    const double risk = (1 - confidence) / 2;
    if (rung_depth_evidence(right, wrong, theta) >= -log(risk)) return RUNG_SIDE_ABOVE;
    if (rung_depth_evidence(wrong, right, 1 - theta) >= log((double)depths) - log(risk)) return RUNG_SIDE_BELOW;
    return RUNG_SIDE_OPEN;
}

rung_depth rung_depth_of(const rung_side *side, size_t depths)
{
    rung_depth d = {.low = 0, .high = depths};
    while (d.low < depths && side[d.low] == RUNG_SIDE_ABOVE) d.low++;
    for (size_t i = 0; i < depths && d.high == depths; i++)
        if (side[i] == RUNG_SIDE_BELOW) d.high = i;
    return d;
}

size_t rung_depth_next(const rung_side *side, const uint64_t *asked, uint64_t most, size_t depths)
{
    const rung_depth d = rung_depth_of(side, depths);
    for (size_t i = 0; i < d.high; i++)
        if (side[i] == RUNG_SIDE_OPEN && asked[i] < most) return i;
    return SIZE_MAX;
}
