/* SPDX-License-Identifier: Apache-2.0 */

/* The list of quotes: searched while typing, filtered by vendor, GPU and
 * validity, sorted by its columns, with marks for those to be compared. */

#pragma once

#include "ui/quotes/qm-quote-book.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* At most so many are compared. */
#define QM_QUOTES_COMPARED 4

#define QM_TYPE_QUOTE_LIST (qm_quote_list_get_type ())
G_DECLARE_FINAL_TYPE (QmQuoteList, qm_quote_list, QM, QUOTE_LIST, GtkWidget)

/* Signals:
 *
 *   "selected"   another quote, or none, is selected
 *   "activated"  the selected quote was pressed
 *   "marked"     other quotes are marked */

/* To be called once. */
void qm_quote_list_set_book (QmQuoteList *self, QmQuoteBook *book);

/* Id of the selected quote; 0: none. */
gint64 qm_quote_list_get_selected (QmQuoteList *self);

/* Selects a quote, at the latest when the book has it, unless a filter hides
 * it. */
void qm_quote_list_select (QmQuoteList *self, gint64 id);

/* Selects it, and acts as if it was pressed. */
void qm_quote_list_open (QmQuoteList *self, gint64 id);

/* Ids of the marked quotes, in the order of marking.  (transfer none) */
GArray *qm_quote_list_get_marked (QmQuoteList *self);

gboolean qm_quote_list_is_marked (QmQuoteList *self, gint64 id);

/* Marks one, or takes its mark away, or all marks. */
void qm_quote_list_mark (QmQuoteList *self, gint64 id, gboolean marked);
void qm_quote_list_unmark_all (QmQuoteList *self);

/* Takes one press for activating, as where a quote takes the place of the list.
 */
void qm_quote_list_set_narrow (QmQuoteList *self, gboolean narrow);

/* Puts the keyboard on a row; whether there is one to be seen. */
gboolean qm_quote_list_focus_rows (QmQuoteList *self);

/* Puts the keyboard into the search. */
void qm_quote_list_focus_search (QmQuoteList *self);

G_END_DECLS
