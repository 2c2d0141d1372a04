/* SPDX-License-Identifier: Apache-2.0 */

/* A quote while a spreadsheet is read: its amounts are in millionths until the
 * currency is known. */

#pragma once

#include "pricing/formats/qm-csv-row.h"
#include "pricing/quotes/qm-quote.h"

typedef struct
{
  QmQuote *quote;      /* "minor" fields in millionths */
  GArray *percents;    /* of gint64, of each line: its discount in millionths of
                          a percent, 0: none */
  gint64 generic[2];   /* rows that say "total": before and after the tax */
  guint n_net;         /* subtotals */
  gboolean has_totals; /* a row of totals was there */
  gboolean is_ours;    /* the table is one that the project wrote */
} QmCsvDraft;

QmCsvDraft *qm_csv_draft_new (const QmQuote *head);

void qm_csv_draft_free (QmCsvDraft *draft);

/* Appends a line. */
QmQuoteLine *qm_csv_draft_add (QmCsvDraft *draft, QmLineRole role);

/* The discount of the last line, in millionths of a percent. */
void qm_csv_draft_set_percent (QmCsvDraft *draft, gint64 micros);

/* Notes the currency of an amount; another one than before is an error, unless
 * there is one already. */
void qm_csv_draft_set_currency (QmCsvDraft *draft,
                                const char *currency,
                                guint row,
                                GError **error);

/* Adds a row of totals. */
void
qm_csv_draft_add_total (QmCsvDraft *draft, QmCsvRowKind kind, gint64 micros);

/* Makes amounts those of the currency, and decides what the totals mean. */
void qm_csv_draft_finish (QmCsvDraft *draft);
