/* SPDX-License-Identifier: Apache-2.0 */

/* A watched page or price feed: what it sells, its last price with the day, why
 * there is no newer one, and what can be done about it. */

#pragma once

#include "data/catalog.h"
#include "pricing/fetch/qm-watch-list.h"
#include "pricing/quotes/qm-quote-store-prices.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_WATCH_ROW (qm_watch_row_get_type ())
G_DECLARE_FINAL_TYPE (QmWatchRow, qm_watch_row, QM, WATCH_ROW, AdwActionRow)

/* A row for an address; its buttons activate "watch.refresh" and
 * "watch.remove" with it. */
GtkWidget *qm_watch_row_new (const char *address);

const char *qm_watch_row_get_address (QmWatchRow *self);

/* Shows what is known of the address.
 *
 * n_prices: how many it brought the last time; used for feeds. */
void qm_watch_row_set_watched (QmWatchRow *self,
                               const QmCatalog *catalog,
                               const QmWatched *watched,
                               guint n_prices);

/* "Azure", "Vast.ai", "RunPod", or "Web page"; static. */
const char *qm_watch_kind_text (QmWatchKind kind);

G_END_DECLS
