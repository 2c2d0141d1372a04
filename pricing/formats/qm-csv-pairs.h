/* SPDX-License-Identifier: Apache-2.0 */

/* Several names with their values in one text: "Datum: 12.03.2026, gültig bis
 * 30.04.2026", "Quote Q-17 dated 4 June 2026, expires 4 July 2026". */

#pragma once

#include "pricing/formats/qm-csv-words.h"

G_BEGIN_DECLS

typedef struct
{
  QmCsvField field; /* QM_CSV_QUOTE, QM_CSV_ISSUED, QM_CSV_VALID_FROM,
                     * QM_CSV_VALID_UNTIL, QM_CSV_VENDOR or QM_CSV_CURRENCY */
  char *value;      /* without marks around it; may be empty */
} QmCsvPair;

/* Takes a text apart at the names in it.
 *
 * first: what the text begins with, or QM_CSV_IGNORED where what stands before
 *   the first name is no value.
 *
 * Returns: (transfer full) (element-type QmCsvPair): in their order. */
GArray *qm_csv_pairs_split (const char *text, QmCsvField first);

/* Whether a value can be one of a day: it has a number and is short. */
gboolean qm_csv_pair_is_dated (const QmCsvPair *pair);

G_END_DECLS
