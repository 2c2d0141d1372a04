/* SPDX-License-Identifier: Apache-2.0 */

/* The readers of the two kinds of workbooks. */

#pragma once

#include "pricing/formats/qm-workbook.h"
#include "pricing/formats/qm-xml.h"
#include "pricing/formats/qm-zip.h"

G_BEGIN_DECLS

/* What reading is given, and what it has so far. */
typedef struct
{
  const QmZip *zip;
  GPtrArray *sheets; /* of QmCells */
  GCancellable *cancellable;
} QmWorkbook;

/* Parses a part of the archive; NULL with an error. (transfer full) */
xmlDoc *
qm_workbook_parse (const QmWorkbook *book, const char *name, GError **error);

/* Begins a sheet, unless there are too many. (transfer none) */
QmCells *qm_workbook_begin (QmWorkbook *book, const char *name, GError **error);

gboolean qm_workbook_read_xlsx (QmWorkbook *book, GError **error);

gboolean qm_workbook_read_ods (QmWorkbook *book, GError **error);

/* How numbers of a format code are shown: as days, and if not, with so many
 * decimals, times 100, and with what behind them. */
typedef struct
{
  gboolean is_day, is_percent;
  guint decimals;
  char unit[8]; /* of a currency; "": none */
} QmNumberFormat;

/* The currency in the first `length` bytes of a text: its symbol or code; NULL:
 * none that is known. */
const char *qm_number_format_unit (const char *text, gssize length);

/* What a format code says, "#,##0.00 [$€-407]" (ISO/IEC 29500-1, 18.8.31). */
QmNumberFormat qm_number_format_read (const char *code);

/* What a built-in format says (18.8.30). */
QmNumberFormat qm_number_format_of_id (guint id);

G_END_DECLS
