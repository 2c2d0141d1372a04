/* SPDX-License-Identifier: Apache-2.0 */

/* Work that takes a while: what it is at, and Ctrl-C. */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* From now on the first SIGINT or SIGTERM cancels what is returned, so that
 * nothing is left half done; the second one ends the program at once.  To be
 * called before any thread is started.  (transfer full) */
GCancellable *qm_cli_cancellable_new (void);

/* Shows one line in place of the one before, where standard error is a
 * terminal; NULL takes it away. */
void qm_cli_progress (const char *text);

G_END_DECLS
