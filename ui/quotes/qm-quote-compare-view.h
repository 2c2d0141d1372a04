/* SPDX-License-Identifier: Apache-2.0 */

/* Quotes side by side: their lines aligned, differences marked in words, and
 * totals in one currency. */

#pragma once

#include "ui/quotes/qm-quote-book.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_QUOTE_COMPARE_VIEW (qm_quote_compare_view_get_type ())
G_DECLARE_FINAL_TYPE (
    QmQuoteCompareView, qm_quote_compare_view, QM, QUOTE_COMPARE_VIEW, AdwBin)

/* Shows quotes, which are not needed afterwards.  Totals are converted to the
 * currency of the first one.
 *
 * quotes: of QmQuote. */
void qm_quote_compare_view_set_quotes (QmQuoteCompareView *self,
                                       QmQuoteBook *book,
                                       GPtrArray *quotes);

G_END_DECLS
