/* SPDX-License-Identifier: Apache-2.0 */

/* One quote in full: its head, totals as written and as computed, lines and
 * what was noticed when it was read. */

#pragma once

#include "pricing/quotes/qm-quote.h"
#include "ui/qm-catalog-keeper.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_QUOTE_VIEW (qm_quote_view_get_type ())
G_DECLARE_FINAL_TYPE (QmQuoteView, qm_quote_view, QM, QUOTE_VIEW, AdwBin)

/* Signal "matched" (guint line, const char *item): the user has chosen which
 * GPU or machine of the catalog a line is about, NULL for none. */

/* Signal "answered" (guint line, guint ask, int number): the user has answered
 * a question; for qm_quote_apply_answer(), after which the quote is to be shown
 * anew. */

/* Shows a copy of a quote, NULL: nothing, in the terms of the catalog that is
 * kept there, which is the same one every time. */
void qm_quote_view_set_quote (QmQuoteView *self,
                              QmCatalogKeeper *keeper,
                              const QmQuote *quote);

/* What is shown, or NULL.  (transfer none) */
const QmQuote *qm_quote_view_get_quote (QmQuoteView *self);

/* Makes a line one about `item`, chosen by the user; NULL: about nothing of the
 * catalog. */
void qm_quote_line_choose (QmQuoteLine *line,
                           const QmCatalog *catalog,
                           const char *item);

G_END_DECLS
