/* SPDX-License-Identifier: Apache-2.0 */

/* How long the trainings of a question take where nobody measured them, as
 * qm-bench predicts it. */

#pragma once

#include "pricing/advice/qm-question.h"

G_BEGIN_DECLS

/* Asks qm-bench about every model of the question, and waits for it.  That it
 * does not answer the advice says. */
void qm_cli_forecast (QmQuestion *question, const QmCatalog *catalog);

G_END_DECLS
