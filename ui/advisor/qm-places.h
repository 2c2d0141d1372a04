/* SPDX-License-Identifier: Apache-2.0 */

/* Where a catalog has training times: what the filters let choose from. */

#pragma once

#include "data/catalog.h"

#include <glib.h>

G_BEGIN_DECLS

/* Ids of all GPU types in the order of their styles (qm_advice_plot_gpus()), so
 * those with times first; the catalog owns them, and NULL ends them.
 * (transfer container) */
GPtrArray *qm_places_gpus (const QmCatalog *catalog);

/* The numbers of GPUs with times, an int each, ascending.  (transfer full) */
GArray *qm_places_counts (const QmCatalog *catalog);

G_END_DECLS
