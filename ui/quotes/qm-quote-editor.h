/* SPDX-License-Identifier: Apache-2.0 */

/* Typing a quote in, or changing any field of one. */

#pragma once

#include "ui/quotes/qm-quote-book.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_QUOTE_EDITOR (qm_quote_editor_get_type ())
G_DECLARE_FINAL_TYPE (
    QmQuoteEditor, qm_quote_editor, QM, QUOTE_EDITOR, AdwWindow)

/* Signal "saved" (gint64 id): the quote was stored.
 *
 * quote: (nullable): what to change; NULL: a new one. */
GtkWidget *qm_quote_editor_new (GtkWindow *parent,
                                QmQuoteBook *book,
                                const QmQuote *quote);

G_END_DECLS
