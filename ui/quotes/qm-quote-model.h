/* SPDX-License-Identifier: Apache-2.0 */

/* The rows of a list of quotes, made into items only where they are looked at.
 *
 * GTK 4.8 keeps widgets for two hundred rows, of which making each takes nearly
 * a millisecond, and makes them anew where items are others.  So items are
 * places, into which other quotes move; a list that grows shows a screenful
 * first and the others when nothing else is to be done, and one that becomes
 * empty lets go of them likewise (it is not to be seen then). */

#pragma once

#include "pricing/quotes/qm-quote-index.h"
#include "ui/qm-catalog-keeper.h"
#include "ui/quotes/qm-quote-item.h"

#include <gio/gio.h>

G_BEGIN_DECLS

#define QM_TYPE_QUOTE_MODEL (qm_quote_model_get_type ())
G_DECLARE_FINAL_TYPE (QmQuoteModel, qm_quote_model, QM, QUOTE_MODEL, GObject)

/* (transfer full) */
QmQuoteModel *qm_quote_model_new (QmCatalogKeeper *keeper);

/* Shows other rows; where a few came or went, the others keep their places.
 *
 * rows: of const QmQuoteRow, kept: to be replaced before their index goes.
 * anew: they are looked through from the beginning, to which the list is
 *   scrolled afterwards. */
void
qm_quote_model_set_rows (QmQuoteModel *self, GPtrArray *rows, gboolean anew);

/* Has everything filled in again, for what is known of quotes elsewhere. */
void qm_quote_model_touch (QmQuoteModel *self);

/* Where a quote is among what is there for GTK; GTK_INVALID_LIST_POSITION,
 * which is G_MAXUINT: it is not. */
guint qm_quote_model_find (QmQuoteModel *self, gint64 id);

G_END_DECLS
