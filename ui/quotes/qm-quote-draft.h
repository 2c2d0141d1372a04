/* SPDX-License-Identifier: Apache-2.0 */

/* The way of documents into the store: read with progress and cancel, shown
 * with what was not understood, and stored only when the user says so. */

#pragma once

#include "ui/quotes/qm-quote-reader.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_QUOTE_DRAFT (qm_quote_draft_get_type ())
G_DECLARE_FINAL_TYPE (QmQuoteDraft, qm_quote_draft, QM, QUOTE_DRAFT, AdwWindow)

/* Signal "stored" (gint64 id, guint added, guint present): quotes of a document
 * were stored, the first of them with that id; so many were not there, and so
 * many were. */

/* A window that reads documents one after the other.
 *
 * readers: of QmQuoteReader. */
GtkWidget *
qm_quote_draft_new (GtkWindow *parent, QmQuoteBook *book, GPtrArray *readers);

G_END_DECLS
