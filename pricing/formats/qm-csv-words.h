/* SPDX-License-Identifier: Apache-2.0 */

/* The words by which spreadsheets name the columns of a quote, in English,
 * German, French, Spanish, Italian, Dutch, Portuguese, Polish and a few from
 * the neighbours. */

#pragma once

#include "pricing/formats/qm-csv-phrases.h"

#include <glib.h>

G_BEGIN_DECLS

/* What a column holds. */
typedef enum
{
  QM_CSV_IGNORED,
  QM_CSV_NUMBER, /* of the line */
  QM_CSV_PART_NUMBER,
  QM_CSV_DESCRIPTION,
  QM_CSV_QUANTITY,
  QM_CSV_UNIT,
  QM_CSV_PRICE,         /* of one unit, or of the base quantity */
  QM_CSV_BASE_QUANTITY, /* what the price is for */
  QM_CSV_DISCOUNT,      /* an amount taken off the line */
  QM_CSV_DISCOUNT_PERCENT,
  QM_CSV_CHARGE,
  QM_CSV_TOTAL, /* of the line */
  QM_CSV_CURRENCY,
  QM_CSV_VENDOR,
  QM_CSV_QUOTE, /* its number */
  QM_CSV_ISSUED,
  QM_CSV_VALID_FROM,
  QM_CSV_VALID_UNTIL,
  QM_CSV_NOTE,
  QM_CSV_TOTAL_GROSS, /* of the line, with tax, where another column has it
                         without */
  QM_CSV_ALTERNATIVE, /* which one of several that the document offers */
  QM_CSV_ROLE,        /* as the project writes it: "quoted", "part", ... */
  QM_CSV_SUPERSEDES,  /* number of the quote that this one replaces */
  QM_CSV_THING,       /* as the project writes it: "gpu", "rent", ... */
  QM_N_CSV_FIELDS
} QmCsvField;

/* The field that a column's name means; QM_CSV_IGNORED where it means none.
 *
 * tax: (out): 1 where it says that tax is contained, 0 that it is not, -1 where
 *   it says nothing. */
QmCsvField qm_csv_field_of (const char *name, int *tax);

/* Whether columns of these fields, bits 1 << field, make lines of quotes: what
 * is offered, and an amount. */
gboolean qm_csv_fields_suffice (guint seen);

/* The field that normalized words mean as they stand (qm_csv_normalize()). */
QmCsvField qm_csv_field_exactly (const char *normal);

/* The name of a field as files have it; static. */
const char *qm_csv_field_name (QmCsvField field);

/* The field of such a name; QM_N_CSV_FIELDS where there is none. */
QmCsvField qm_csv_field_named (const char *name);

/* What a field is called on the screen; static, translated. */
const char *qm_csv_field_label (QmCsvField field);

G_END_DECLS
