/* SPDX-License-Identifier: Apache-2.0 */

/* For data/family-llama*.c alone. */

#ifndef QM_DATA_FAMILY_LLAMA_H
#define QM_DATA_FAMILY_LLAMA_H

#include "data/family-read.h"

/* Which layers have a window, and which no positions. */
void qm_llama_read_layers (QmJsonObject *object, QmModelConfig *model);

/* The opposite, of a config.json. */
void qm_llama_write_layers (json_t *object, const QmModelConfig *model);

#endif
