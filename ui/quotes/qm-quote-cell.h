/* SPDX-License-Identifier: Apache-2.0 */

/* The cells of the list of quotes.  Each follows the item that it shows, so
 * that other quotes can move into the rows that are there. */

#pragma once

#include "ui/quotes/qm-quote-item.h"
#include "ui/quotes/qm-quote-list.h"

G_BEGIN_DECLS

typedef enum
{
  QM_QUOTE_CELL_MARK,
  QM_QUOTE_CELL_QUOTE,
  QM_QUOTE_CELL_ISSUED,
  QM_QUOTE_CELL_VALIDITY,
  QM_QUOTE_CELL_TOTAL,
  QM_N_QUOTE_CELLS
} QmQuoteCellKind;

/* list: borrowed; must outlive the cell. */
GtkWidget *qm_quote_cell_new (QmQuoteList *list, QmQuoteCellKind kind);

/* Shows an item from now on. */
void qm_quote_cell_set_item (GtkWidget *cell, QmQuoteItem *item);

G_END_DECLS
