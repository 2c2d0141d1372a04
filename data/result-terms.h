/* SPDX-License-Identifier: Apache-2.0 */

/* What a result of a results file is in the terms of the catalog. */

#ifndef QM_DATA_RESULT_TERMS_H
#define QM_DATA_RESULT_TERMS_H

#include "data/catalog.h"
#include "data/results.h"

#include <stdbool.h>

/* The engine that it names; QM_ENGINE_UNSTATED: none that is known. */
QmEngine qm_result_engine (const QmResult *result);

/* Naive is what nothing was done to; all else counts as the best there is. */
QmSettings qm_result_settings (const QmResult *result);

/* Whether that model, in its present configuration and recipe, is what was
 * trained; a result without a `model_key` is believed, but that one in FP8 is
 * none of a model in anything else. */
bool qm_result_is_of_model (const QmResult *result, const QmModel *model);

/* Why its time is none of a machine with so many of that GPU, which it is of:
 * several machines had it, or the GPUs exchanged in a slower way than theirs,
 * as the user said or, where links join them, through the memory of the host
 * though nothing had shown that this is the faster. */
QmAside qm_result_aside (const QmResult *result, const QmGpu *gpu);

#endif
