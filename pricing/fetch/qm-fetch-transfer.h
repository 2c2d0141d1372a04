/* SPDX-License-Identifier: Apache-2.0 */

/* One request and its answer, without redirects. */

#pragma once

#include "pricing/fetch/qm-fetch-address.h"
#include "pricing/fetch/qm-fetch.h"

G_BEGIN_DECLS

/* What to ask; everything outlives the transfer. */
typedef struct
{
  const QmFetchLimits *limits;
  const QmFetchRequest *request;
  const QmAddress *address;
  const char *proxy;  /* NULL: none */
  QmNearness nearest; /* connect to nothing nearer */
  gint64 left_ms;     /* of the whole fetch */
  QmFetchProgress progress;
  gpointer progress_data;
} QmTransfer;

/* What came; strings are NULL where the answer has none. */
typedef struct
{
  int status;
  QmNearness nearness; /* of who was asked */
  char *location;      /* where it redirects to, as the answer says it */
  char *content_type;
  char *etag;
  char *last_modified;
  char *retry_after;
  gint64 received;
  GByteArray *body; /* of a success only, else empty */
} QmAnswer;

/* Returns: (transfer full): the answer, whatever its status, or NULL with
 *   QM_FETCH_ERROR or G_IO_ERROR_CANCELLED. */
QmAnswer *qm_transfer_run (const QmTransfer *transfer,
                           GCancellable *cancellable,
                           GError **error);

void qm_answer_free (QmAnswer *answer);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmAnswer, qm_answer_free)

G_END_DECLS
