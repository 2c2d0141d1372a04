/* SPDX-License-Identifier: Apache-2.0 */

/* Quotes that follow from a number. */

#pragma once

#include "pricing/quotes/qm-quote.h"

/* Every field is something else, or nothing, from seed to seed: empty and long
 * texts, odd characters, the ends of every range.  The sha256 is the seed's
 * own.  (transfer full) */
QmQuote *random_quote (guint32 seed);

/* A quote as vendors write them, with `n_lines` lines.  (transfer full) */
QmQuote *plausible_quote (guint32 seed, guint n_lines);
