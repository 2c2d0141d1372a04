/* SPDX-License-Identifier: Apache-2.0 */

/* Quotes on one basis (pricing/quotes/qm-quote-compare.h), as a grid: what the
 * document about them has as a table. */

#pragma once

#include "pricing/papers/qm-paper.h"
#include "pricing/quotes/qm-quote-compare.h"
#include "ui/advisor/qm-advisor.h"
#include "ui/quotes/qm-quote-book.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_QUOTE_COMPARE_VIEW (qm_quote_compare_view_get_type ())
G_DECLARE_FINAL_TYPE (
    QmQuoteCompareView, qm_quote_compare_view, QM, QUOTE_COMPARE_VIEW, AdwBin)

/* Shows quotes, which are not needed afterwards, and what the trainings of the
 * advisor take on them.  Amounts are in its currency where that is not USD,
 * else in the quotes' own.
 *
 * advisor: (nullable).
 * quotes: of QmQuote, at least one and QM_COMPARED_MOST at most. */
void qm_quote_compare_view_set_quotes (QmQuoteCompareView *self,
                                       QmQuoteBook *book,
                                       QmAdvisor *advisor,
                                       GPtrArray *quotes);

/* Compares quotes as the view does, with the trainings of one question; NULL:
 * with none.  (transfer full) */
QmQuoteComparison *qm_quote_compare_make (QmQuoteBook *book,
                                          QmAdvisor *advisor,
                                          const QmQuestion *question,
                                          GPtrArray *quotes);

/* The document about what is shown; NULL: nothing is.  (transfer none) */
const QmPaper *qm_quote_compare_view_get_paper (QmQuoteCompareView *self);

G_END_DECLS
