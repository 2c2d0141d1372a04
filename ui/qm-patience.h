/* SPDX-License-Identifier: Apache-2.0 */

/* Waiting that has an end: a home folder in a network may not answer, and the
 * program is to end all the same. */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* So long an end waits for each thing that is still being saved. */
#define QM_PATIENCE_USEC (5 * G_USEC_PER_SEC)

/* Does something in a thread and waits until it is done, at most so long.  What
 * is not done by then goes on, and ends with the process: `data` has to be
 * there until that.
 *
 * Returns: whether it is done. */
gboolean
qm_patience_run (void (*work) (gpointer data), gpointer data, gint64 most_usec);

/* Runs the default main context while something is busy, at most so long.
 *
 * Returns: whether it is busy no more. */
gboolean qm_patience_iterate (gboolean (*is_busy) (gpointer data),
                              gpointer data,
                              gint64 most_usec);

G_END_DECLS
