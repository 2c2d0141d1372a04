/* SPDX-License-Identifier: Apache-2.0 */

/* Pareto frontiers of two quantities that should both be small. */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Finds among points (x[i], y[i]), i in `use`, those that no other used point
 * beats: none is at most as large in both and smaller in one.  Of equal points
 * the first counts.
 *
 * Returns: (transfer full): a GArray of int, indices by growing x and falling
 *   y. */
GArray *
qm_frontier (const double *x, const double *y, const int *use, guint n_use);

G_END_DECLS
