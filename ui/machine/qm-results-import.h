/* SPDX-License-Identifier: Apache-2.0 */

/* Results files of other machines into the user's own folder, where the catalog
 * reads them. */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Reads a results file, refuses it with its line where something in it is
 * wrong, and copies it into `folder` as it is, under a name that nothing there
 * has yet.  Not blocking. */
void qm_results_import_async (GFile *file,
                              const char *folder,
                              GCancellable *cancellable,
                              GAsyncReadyCallback callback,
                              gpointer data);

/* How many results the file holds; 0 with an error. */
guint qm_results_import_finish (GAsyncResult *result, GError **error);

/* The folder of the user's results; NULL where there is no home.
 * (transfer full) */
char *qm_results_import_folder (void);

G_END_DECLS
