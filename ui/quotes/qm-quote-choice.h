/* SPDX-License-Identifier: Apache-2.0 */

/* What the list of quotes can be filtered by. */

#pragma once

#include "ui/quotes/qm-quote-book.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* What is chosen of `values`, which stand below "all"; NULL: all, or nothing
 * was filled in yet.  (transfer none) */
const char *qm_quote_choice_get (GtkDropDown *choice, GStrv values);

/* Offers the vendors of all quotes, and keeps what was chosen.
 *
 * values: (inout): what is offered below "all"; NULL before the first time. */
void qm_quote_choice_fill_vendors (GtkDropDown *choice,
                                   GStrv *values,
                                   QmQuoteBook *book);

/* The same with the GPUs and machines that quotes are about, by their ids. */
void qm_quote_choice_fill_items (GtkDropDown *choice,
                                 GStrv *values,
                                 QmQuoteBook *book);

G_END_DECLS
