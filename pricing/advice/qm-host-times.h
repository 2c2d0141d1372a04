/* SPDX-License-Identifier: Apache-2.0 */

/* What this machine takes, as was measured on it, so that it can be held
 * against what could be bought.  Which results those are they say themselves
 * (data/identity.h), whatever file they are in and however that is called. */

#pragma once

#include "data/catalog.h"
#include "data/results.h"

#include <glib.h>

G_BEGIN_DECLS

typedef struct _QmHostTimes QmHostTimes;

/* Reads results files: all of the user's, or without those `path` alone.  Like
 * the catalog it takes of each model, GPU, number of GPUs and engine the naive
 * result and the fastest of all others; models, recipes and GPUs that are not
 * those of the catalog, which the times keep, are left out, and so are other
 * machines.
 *
 * Returns: (transfer full) (nullable): NULL where nothing counts and nothing is
 *   to be asked; of files that are broken the catalog tells. */
QmHostTimes *qm_host_times_load (const QmCatalog *catalog, const char *path);

/* The two halves of it: reading the files, which any thread may do, and finding
 * what counts in them.  Of the first file, the one of this host
 * (qm_results_default_path()), it is known what does not say where it was
 * measured.
 *
 * Returns: (transfer full) (element-type QmResults); the second one takes it
 *   over and returns (transfer full) (nullable). */
GPtrArray *qm_host_times_read (const char *path);
QmHostTimes *qm_host_times_new (const QmCatalog *catalog, GPtrArray *results);

QmHostTimes *qm_host_times_ref (QmHostTimes *times);
void qm_host_times_unref (QmHostTimes *times);

/* How many results in the file of this host do not say of which machine they
 * are: they do not count before somebody says it (data/results-adopt.h). */
guint qm_host_times_n_unsaid (const QmHostTimes *times);

/* The times, all measured and feasible. */
const QmMeasurement *qm_host_times_list (const QmHostTimes *times, guint *n);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmHostTimes, qm_host_times_unref)

G_END_DECLS
