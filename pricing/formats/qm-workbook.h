/* SPDX-License-Identifier: Apache-2.0 */

/* Workbooks of spreadsheet programs: Office Open XML (ISO/IEC 29500, .xlsx) and
 * OpenDocument (ISO/IEC 26300, .ods).  What a person sees is read: sheets, rows
 * and columns that are hidden are left out, formulae are what they came to when
 * the file was saved, and nothing that is outside the file is looked for. */

#pragma once

#include "pricing/formats/qm-cells.h"

G_BEGIN_DECLS

/* More sheets are refused. */
#define QM_WORKBOOK_MOST_SHEETS 64

/* Whether a document may be a workbook: it begins as a zip archive does. */
gboolean qm_workbook_may_be (const char *data, gsize size);

/* Reads the sheets in which there is something, in their order.
 *
 * Returns: (transfer full): of QmCells, at least one; or NULL with an error of
 *   QM_READ_ERROR: another kind of archive, protected by a password, damaged,
 *   too large, or empty; or of G_IO_ERROR where it was cancelled. */
GPtrArray *qm_workbook_read (const char *data,
                             gsize size,
                             GCancellable *cancellable,
                             GError **error);

G_END_DECLS
