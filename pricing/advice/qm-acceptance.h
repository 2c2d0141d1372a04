/* SPDX-License-Identifier: Apache-2.0 */

/* What the machine that a plan asks for is held against once it is delivered
 * (data/acceptance.h).  It is measured with the project's own engine, so that
 * what it has to reach is of that engine, too.  Where the plan's GPUs are what
 * is ordered, that is the low end of the interval of the rate r that is
 * predicted of it there: what they were bought for.  Where any GPUs will do, it
 * is what the plan needs of them, with the days d that a training takes by the
 * plan, with whatever software that is, and those that it may take, D,
 *
 *   min (r x d / D, the low end of the interval of r)
 *
 * so that a machine as predicted passes, also where the deadline leaves nothing
 * to spare.  Both are to three digits, down.  Where the engine's rate is not
 * predicted, it is the rate of the request. */

#pragma once

#include "data/acceptance.h"
#include "pricing/advice/qm-request.h"

G_BEGIN_DECLS

/* named: the plan's GPUs are what is ordered; else whichever reach it will do.
 * tolerance: in percent, up to QM_ACCEPTANCE_MOST_TOLERANCE.  Of trainings of
 * one model, the fastest counts. */
void qm_acceptance_of_request (const QmRequest *request,
                               const QmForecasts *forecasts,
                               gboolean named,
                               double tolerance,
                               QmAcceptance *acceptance);

G_END_DECLS
