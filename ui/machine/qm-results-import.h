/* SPDX-License-Identifier: Apache-2.0 */

/* Results files from other machines: what is in them joins the user's
 * measurements, in a file of its own for each machine. */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* What an import did. */
typedef struct
{
  char *host;     /* the machine, as the file is named after it */
  gboolean other; /* one that is called like this one, and is another */
  guint added;    /* results that were new, or newer */
  guint present;  /* that were there before */
} QmResultsImport;

/* Reads a results file whole, or refuses it whole, and adds what is new to
 * measurements/HOST.jsonl of the user's directory, HOST being what the file is
 * called up to its first point.  Where that is this host, what does not say
 * that it is of this machine goes into HOST-other.jsonl.  In a thread of its
 * own. */
void qm_results_import_async (GFile *file,
                              GCancellable *cancellable,
                              GAsyncReadyCallback callback,
                              gpointer data);

/* `import` is filled in where this succeeds; its `host` is then the caller's.
 */
gboolean qm_results_import_finish (GAsyncResult *result,
                                   QmResultsImport *import,
                                   GError **error);

/* The name of the machine in the name of a file; empty where there is none.
 * (transfer full) */
char *qm_results_import_host (const char *file_name);

G_END_DECLS
