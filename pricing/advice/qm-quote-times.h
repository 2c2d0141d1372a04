/* SPDX-License-Identifier: Apache-2.0 */

/* How long the trainings of a question take on what quotes offer, for their
 * comparison (pricing/quotes/qm-quote-compare.h). */

#pragma once

#include "pricing/advice/qm-question.h"
#include "pricing/quotes/qm-quote-compare.h"

G_BEGIN_DECLS

/* Lets a question be about as many GPUs in a machine as quotes offer, so that
 * what is predicted for it (qm_predictions_counts()) has their times, too. */
void qm_quote_times_ask (QmQuestion *question,
                         const QmCatalog *catalog,
                         GPtrArray *quotes);

/* Adds to a comparison what one training of a question's model takes on what
 * each quote offers, or where it is about a year's runs, what each of those
 * takes.  GPUs without a machine are taken in one of the catalog, or of their
 * quote, and what that costs besides is told.  The limits of the question and
 * its filters do not count, since it is the quotes that are asked about.
 *
 * quotes: those of the comparison.
 *
 * Returns: FALSE with an error of qm_advice_new(). */
gboolean qm_quote_times_add (QmQuoteComparison *comparison,
                             const QmCatalog *catalog,
                             const QmQuestion *question,
                             GPtrArray *quotes,
                             GError **error);

G_END_DECLS
