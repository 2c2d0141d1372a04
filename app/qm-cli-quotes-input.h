/* SPDX-License-Identifier: Apache-2.0 */

/* Documents from files, standard input and addresses. */

#pragma once

#include "pricing/fetch/qm-fetch.h"

G_BEGIN_DECLS

/* A document as it came. */
typedef struct
{
  GBytes *bytes;
  char *name;       /* of the file without its folder, or the address */
  char *media_type; /* NULL: unstated */
  char *charset;    /* NULL: unstated */
} QmCliInput;

void qm_cli_input_clear (QmCliInput *input);

/* Reads a file, standard input for "-", or an address; no more than a document
 * of its kind may have and one byte.  Fails where it cannot be read. */
gboolean qm_cli_input_read (QmCliInput *input,
                            const char *argument,
                            QmFetcher *fetcher,
                            GCancellable *cancellable,
                            GError **error);

/* Reads a file, or standard input for "-". */
gboolean qm_cli_input_read_file (QmCliInput *input,
                                 const char *path,
                                 GCancellable *cancellable,
                                 GError **error);

/* Shows how far a fetch is; a QmFetchProgress, `user_data` the address. */
void qm_cli_input_progress (gint64 received, gint64 total, gpointer user_data);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QmCliInput, qm_cli_input_clear)

G_END_DECLS
