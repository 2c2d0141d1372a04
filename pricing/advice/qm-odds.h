/* SPDX-License-Identifier: Apache-2.0 */

/* How sure a recommendation is whose times are predicted.
 *
 * Nine of ten true times are between the ends of a predicted interval, so that
 * the logarithm of true / predicted has a standard deviation of
 *
 *   s = log (high / low) / (2 x 1.645).
 *
 * Errors of one advice are not independent: what is left of them by boards' and
 * cards' own intervals is one type's.  The error of a candidate is taken to be
 *
 *   s (sqrt (0.6) of its type + sqrt (0.4) of its own)
 *
 * with two draws from a normal distribution.  The shares are rounded from
 * what errors of rates by one source do not share on two types of GPU, and on
 * one: pricing/PREDICTION.md, "What errors share".
 *
 * A single run of a portfolio is longer or shorter by as much as all of them.
 * QM_ODDS_DRAWS draws, always the same ones, then tell how often a candidate is
 * the best within the limits, by the rule of qm_advice_recommend() with its
 * slack.  Costs are taken as they are. */

#pragma once

#include "pricing/advice/qm-advice.h"

G_BEGIN_DECLS

#define QM_ODDS_DRAWS 400

typedef struct
{
  double best; /* the share of draws in which the recommended one is the best */
  int other;   /* what is the best most often of all others; -1: nothing is in
                  time, or no other ever is */
  double share; /* of draws in which it is, or nothing in time is */
} QmOdds;

/* Draws about what is recommended within limits, as for qm_advice_recommend();
 * `found` must have a best one. */
QmOdds qm_odds_draw (const QmAdvice *advice,
                     gint64 budget_minor,
                     double deadline_days,
                     const QmRecommendation *found);

G_END_DECLS
