/* SPDX-License-Identifier: Apache-2.0 */

/* What this machine takes, as was measured on it: the results in the file of
 * this host (qm_results_default_path()), so that it can be held against what
 * could be bought. */

#pragma once

#include "data/catalog.h"
#include "data/results.h"

#include <glib.h>

G_BEGIN_DECLS

typedef struct _QmHostTimes QmHostTimes;

/* Reads a results file, the one of this host without `path`.  Like the catalog
 * it takes of each model, GPU, number of GPUs and engine the naive result and
 * the fastest of all others; models, recipes and GPUs that are not those of the
 * catalog, which the times keep, are left out.
 *
 * Returns: (transfer full) (nullable): NULL where there is no such file, or
 *   nothing in it that counts, or something wrong, of which the catalog tells.
 */
QmHostTimes *qm_host_times_load (const QmCatalog *catalog, const char *path);

/* The two halves of it: reading the file, which any thread may do, and finding
 * what counts in it.  The results are taken over.  (transfer full) (nullable)
 */
QmResults *qm_host_times_read (const char *path);
QmHostTimes *qm_host_times_new (const QmCatalog *catalog, QmResults *results);

QmHostTimes *qm_host_times_ref (QmHostTimes *times);
void qm_host_times_unref (QmHostTimes *times);

/* The times, all measured and feasible. */
const QmMeasurement *qm_host_times_list (const QmHostTimes *times, guint *n);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmHostTimes, qm_host_times_unref)

G_END_DECLS
