/* SPDX-License-Identifier: Apache-2.0 */

/* The page of the user's quotes: their list, one of them in full or several
 * side by side, and the ways in and out. */

#pragma once

#include "ui/advisor/qm-advisor.h"
#include "ui/quotes/qm-price-watch.h"
#include "ui/quotes/qm-quote-book.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_QUOTES_PAGE (qm_quotes_page_get_type ())
G_DECLARE_FINAL_TYPE (QmQuotesPage, qm_quotes_page, QM, QUOTES_PAGE, AdwBin)

/* Actions: "quotes.import", "quotes.paste", "quotes.address", "quotes.new",
 * "quotes.edit", "quotes.delete", "quotes.undo", "quotes.restore" (int64 id),
 * "quotes.compare", "quotes.compare-ods", "quotes.compare-pdf",
 * "quotes.export-csv", "quotes.export-ubl", "quotes.history",
 * "quotes.watch", "quotes.request-pdf", "quotes.request-ubl",
 * "quotes.answers-pdf".
 *
 * watch: (nullable): of the same book; without it nothing is watched. */
GtkWidget *qm_quotes_page_new (QmQuoteBook *book, QmPriceWatch *watch);

/* Whose trainings and money quotes are compared with, from now on; NULL:
 * nobody's. */
void qm_quotes_page_set_advisor (QmQuotesPage *self, QmAdvisor *advisor);

/* Moves the focus to where quotes are searched. */
void qm_quotes_page_focus_search (QmQuotesPage *self);

G_END_DECLS
