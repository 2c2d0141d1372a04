/* SPDX-License-Identifier: Apache-2.0 */

/* For data/family-llama*.c alone. */

#ifndef QM_DATA_FAMILY_LLAMA_H
#define QM_DATA_FAMILY_LLAMA_H

#include "data/family-read.h"

/* Which layers have a window, and which no positions. */
void qm_llama_read_layers (QmJsonObject *object, QmModelConfig *model);

/* The opposite, of a config.json. */
void qm_llama_write_layers (json_t *object, const QmModelConfig *model);

/* Experts of a model that has them. */
void qm_llama_read_experts (QmJsonObject *object, QmModelConfig *model);
void qm_llama_write_experts (json_t *object, const QmModelConfig *model);

/* Whether a model is a mixture of experts. */
static inline bool
qm_llama_has_experts (QmFamily family)
{
  return family == QM_FAMILY_OLMOE || family == QM_FAMILY_QWEN3_MOE
         || family == QM_FAMILY_MIXTRAL;
}

#endif
