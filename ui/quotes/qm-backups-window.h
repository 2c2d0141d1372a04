/* SPDX-License-Identifier: Apache-2.0 */

/* The window of backups: which there are, with their dates and numbers of
 * quotes, to be brought back; and damaged files that were kept. */

#pragma once

#include "ui/quotes/qm-quote-book.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_BACKUPS_WINDOW (qm_backups_window_get_type ())
G_DECLARE_FINAL_TYPE (
    QmBackupsWindow, qm_backups_window, QM, BACKUPS_WINDOW, AdwWindow)

/* parent: (nullable): what it belongs to. */
GtkWidget *qm_backups_window_new (GtkWindow *parent, QmQuoteBook *book);

G_END_DECLS
