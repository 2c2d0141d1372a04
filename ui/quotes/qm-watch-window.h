/* SPDX-License-Identifier: Apache-2.0 */

/* The watch list: what is watched, its last prices, adding and taking off,
 * refreshing with progress, and the switch that allows it at the start. */

#pragma once

#include "ui/quotes/qm-price-watch.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_WATCH_WINDOW (qm_watch_window_get_type ())
G_DECLARE_FINAL_TYPE (
    QmWatchWindow, qm_watch_window, QM, WATCH_WINDOW, AdwWindow)

/* parent: (nullable)
 * watch: of a book that is open. */
GtkWidget *qm_watch_window_new (GtkWindow *parent, QmPriceWatch *watch);

G_END_DECLS
