/* SPDX-License-Identifier: Apache-2.0 */

/* Candidates as CSV, for the clipboard and for files. */

#pragma once

#include "pricing/advice/qm-advice.h"

G_BEGIN_DECLS

/* One line of the table. */
typedef struct
{
  const char *model; /* id, or what a portfolio is called */
  const QmCandidate *candidate;
  gboolean recommended;
  QmRates *rates; /* for prices in other currencies; NULL: there are none */
} QmTableRow;

/* Writes a header line and one line a row as RFC 4180 has it (CRLF, quotes
 * doubled), in UTF-8 and with the numbers of the C locale whatever the user's
 * is.  Money is in USD, utilisation is a share (1.19), dates are ISO 8601 with
 * as much as is known, and what is unknown is empty.  A text that a spreadsheet
 * would take for a formula gets an apostrophe before it.  (transfer full) */
char *qm_table_csv (const QmTableRow *rows, guint n_rows);

G_END_DECLS
