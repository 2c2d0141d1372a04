/* SPDX-License-Identifier: Apache-2.0 */

/* Model FLOPs in closed form.
 *
 * Counted: matrix products and convolutions, once for every multiply and once
 * for every add; causal attention half; the backward pass twice the forward.
 * Not counted: everything that a good kernel hides under memory traffic
 * (norms, activations, softmax, dropout, the optimizer).
 */

#ifndef QM_DATA_FLOPS_H
#define QM_DATA_FLOPS_H

#include "data/model.h"

/* Forward FLOPs of one sample (one sequence or one image). */
double qm_flops_forward_sample (const QmModelConfig *config,
                                const QmRecipe *recipe);

/* Forward and backward FLOPs of one sample: three times the forward. */
double qm_flops_train_sample (const QmModelConfig *config,
                              const QmRecipe *recipe);

/* FLOPs of the whole training: sample x batch size x steps. */
double qm_flops_train (const QmModelConfig *config, const QmRecipe *recipe);

/* Number of trainable parameters. */
int64_t qm_parameter_count (const QmModelConfig *config);

#endif
