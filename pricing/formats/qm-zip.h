/* SPDX-License-Identifier: Apache-2.0 */

/* The members of a zip archive from strangers, such as workbooks are.  Nothing
 * of it is unpacked before it is asked for, and no more than was allowed. */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* An archive with more members is refused. */
#define QM_ZIP_MAX_MEMBERS 4096

typedef struct _QmZip QmZip;

/* Reads the list of members.
 *
 * data: kept, not copied, and must outlive what is returned.
 *
 * Returns: (transfer full): the archive, or NULL with an error of
 *   QM_READ_ERROR where it is none, is cut off, or has too many members. */
QmZip *qm_zip_new (const char *data, gsize size, GError **error);

void qm_zip_free (QmZip *zip);

/* Whether there is a member of that name, "xl/workbook.xml". */
gboolean qm_zip_has (const QmZip *zip, const char *name);

/* Unpacks a member: stored or deflated, as workbooks are.
 *
 * most: more bytes than this are an error, whatever the archive says of its
 *   size.
 *
 * Returns: (transfer full): its bytes, or NULL with an error of QM_READ_ERROR:
 *   there is none, it is encrypted, packed in another way, too large, or not
 *   what its checksum says. */
GBytes *
qm_zip_read (const QmZip *zip, const char *name, gsize most, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmZip, qm_zip_free)

G_END_DECLS
