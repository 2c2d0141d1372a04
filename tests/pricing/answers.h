/* SPDX-License-Identifier: Apache-2.0 */

/* Questions that tests ask, and their answers. */

#pragma once

#include "pricing/advice/qm-advice.h"

/* A question about one model, of which times count as they are.  (transfer
 * full)
 */
QmQuestion *ask_about (const char *model);

/* The answer, which there must be.  (transfer full) */
QmAdvice *answer (const QmCatalog *catalog, const QmQuestion *question);

/* The candidate of so many of a GPU, which there must be. */
const QmCandidate *
find_candidate (const QmAdvice *advice, const char *gpu, int gpus);
