/* SPDX-License-Identifier: Apache-2.0 */

/* What the trainings of a question take of the memory of GPUs, as qm-bench
 * plans it. */

#pragma once

#include "pricing/advice/qm-question.h"

G_BEGIN_DECLS

/* Asks qm-bench about every model of the question of which times are predicted,
 * and waits for it.  What it does not answer stays unknown, as the advice
 * says. */
void qm_cli_memory_look (QmQuestion *question, const QmCatalog *catalog);

G_END_DECLS
