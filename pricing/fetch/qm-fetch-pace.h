/* SPDX-License-Identifier: Apache-2.0 */

/* One request every so often to a host, over all threads that share a pace. */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _QmFetchPace QmFetchPace;

QmFetchPace *qm_fetch_pace_new (guint interval_ms);

/* Not while somebody waits. */
void qm_fetch_pace_free (QmFetchPace *pace);

/* Takes the host's next free moment, and waits for it.
 *
 * Returns: FALSE with G_IO_ERROR_CANCELLED. */
gboolean qm_fetch_pace_wait (QmFetchPace *pace,
                             const char *host,
                             GCancellable *cancellable,
                             GError **error);

G_END_DECLS
