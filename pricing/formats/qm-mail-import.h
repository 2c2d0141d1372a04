/* SPDX-License-Identifier: Apache-2.0 */

/* Which documents of a mail are its quotes: for qm-quote-import.h alone, which
 * reads each of them. */

#pragma once

#include "pricing/formats/qm-mail.h"
#include "pricing/formats/qm-quote-import.h"

G_BEGIN_DECLS

/* Reads one document of a mail.
 *
 * mapping: (nullable): of its columns.
 *
 * Returns: (transfer full): as qm_import_bytes(). */
typedef QmImport *(*QmMailPartReader) (const QmMailPart *part,
                                       const QmCsvMapping *mapping,
                                       gpointer user_data,
                                       GError **error);

/* Reads the quotes of a mail: of what is attached, else of its text in HTML,
 * else of that without form.  Each quote says where it was, and what is
 * attached besides.
 *
 * mapping: (nullable): of the columns of the table that is taken.
 *
 * Returns: (transfer full): as qm_import_bytes(). */
QmImport *qm_import_mail (GBytes *bytes,
                          const QmCsvMapping *mapping,
                          QmMailPartReader read,
                          gpointer user_data,
                          GCancellable *cancellable,
                          GError **error);

G_END_DECLS
