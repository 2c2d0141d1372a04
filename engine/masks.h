/* SPDX-License-Identifier: Apache-2.0 */

/* Which attention PyTorch is given a mask for where it compiles a model of
 * Transformers. */

#ifndef QM_ENGINE_MASKS_H
#define QM_ENGINE_MASKS_H

#include "data/model.h"

/* Whether the attention over so many tokens of a model is given one.  While a
 * model is compiled, create_causal_mask() and create_bidirectional_mask() of
 * Transformers (masking_utils.py, 5.17.0) make one even where a kernel could be
 * told what is hidden, or nothing is.  All that attends to text calls them, ViT
 * does, and the encoder of MAE; no other tower of images does, nor do decoders
 * of MAE, nor DiT, which is no model of Transformers. */
bool qm_is_masked (const QmModelConfig *config, int64_t tokens);

#endif
