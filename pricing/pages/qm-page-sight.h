/* SPDX-License-Identifier: Apache-2.0 */

#pragma once

#include "pricing/pages/qm-page-private.h"

G_BEGIN_DECLS

/* What people see where the product stands. */
typedef struct
{
  const QmSeenAmount *amount; /* the first; NULL: nothing */
  gboolean several;           /* others stand beside it, and nothing tells which
                                 one counts */
  gboolean called_price;      /* the page's own names say that it is one */
} QmSight;

/* Looks near the heading first, then farther away. */
QmSight qm_page_see_price (const QmPage *page);

/* Whether an amount is seen anywhere with none of the flags. */
gboolean qm_page_is_seen (const QmPage *page, gint64 micros, guint without);

/* Whether an amount is seen as a price that somebody could pay. */
gboolean qm_page_is_seen_as_price (const QmPage *page, gint64 micros);

G_END_DECLS
