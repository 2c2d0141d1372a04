/* SPDX-License-Identifier: Apache-2.0 */

/* The few types of GPU that a plot can show without becoming a cloud: those of
 * the frontier of price and time, where they are many spread evenly from the
 * cheapest to the fastest, and where they are few those besides that come
 * nearest to it, by the least price x time that a candidate of theirs has.
 * Budget and deadline have no say, so that a slider changes nothing in it. */

#pragma once

#include "pricing/advice/qm-advice.h"

G_BEGIN_DECLS

#define QM_SHORTLIST_MOST 6

/* Returns: (transfer container) (nullable): the set of their const QmGpu *;
 * NULL where there are no more than that, so that nothing is left out. */
GHashTable *qm_shortlist_new (const QmAdvice *advice);

G_END_DECLS
