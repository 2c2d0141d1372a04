/* SPDX-License-Identifier: Apache-2.0 */

/* A quote while a spreadsheet is read: its amounts are in millionths until the
 * currency is known. */

#pragma once

#include "pricing/formats/qm-csv-row.h"
#include "pricing/quotes/qm-quote.h"

/* What else is known of a line. */
typedef struct
{
  gint64 percent;   /* its discount, in millionths of a percent; 0: none */
  gboolean perhaps; /* by its words it may be in no total */
  gboolean bare;    /* it names no goods, and has no quantity or number */
  gboolean within;  /* by its words it is in the line above */
  gint64 above;     /* the last total above it, 0: none, ... */
  gint64 below;     /* ... and the first one below it */
} QmCsvLineNote;

/* The totals of a draft at a place of the table. */
typedef struct
{
  gint64 discount, charge, tax, payable, before, after, after_tax, pending;
  gint64 percent;
  guint n_nets;
} QmCsvTotals;

typedef struct
{
  QmQuote *quote;    /* "minor" fields in millionths */
  GArray *notes;     /* of QmCsvLineNote, of each line */
  guint n_summed;    /* lines above the last total; the others are in none */
  char *folded;      /* the alternative, normalized; NULL: there is none */
  GArray *nets;      /* of gint64, all rows that may be the net amount */
  gint64 before;     /* a row that says "total" before the tax, ... */
  gint64 sum_before; /* of all such rows, ... */
  guint n_before;    /* ... and how many there are */
  gint64 after;      /* ... and after it */
  gint64 after_tax;  /* discounts that stand below the tax, > 0 */
  gint64 pending;    /* those below what is to be paid, > 0: they count if that
                        is written again below them */
  gint64 by_payment; /* of the discounts those that depend on the payment */
  char *tier;        /* what the last line sells, if its price depends on how
                        many are bought */
  guint again;       /* the first line below a header that is repeated below
                        totals; 0: there is none */
  gint64 percent;    /* of a discount without an amount, in millionths */
  gint64 table_tax;  /* the tax that a small table of totals has; 0: none */
  gint64 last_total; /* the last one so far; 0: none */
  gint64 tax_rate;   /* of what the prices or a total contain, in millionths of
                        a percent; 0: not said */
  QmCsvTotals above; /* the totals above that header */
  gboolean has_totals;
  gboolean advance;    /* a payment of a part was written: what is to be paid
                          stands above it */
  gboolean tax_within; /* the tax is said to be in the total above it */
  gboolean net_said;   /* a total is said to be without tax */
  gboolean gross;      /* what is to be paid is said to contain tax */
  gboolean is_ours;    /* the table is one that the project wrote: its prices
                          are what the names above them say */
  QmTristate taxed;    /* of such a one, whether they contain tax */
  gboolean per_hour;   /* and whether they are for an hour */
  gboolean rent;       /* its prices are for a time */
} QmCsvDraft;

QmCsvDraft *qm_csv_draft_new (const QmQuote *head);

void qm_csv_draft_free (QmCsvDraft *draft);

/* Appends a line.  One behind a total is in none of them, unless they say
 * so. */
QmQuoteLine *qm_csv_draft_add (QmCsvDraft *draft, QmLineRole role);

/* The discount of the last line, in millionths of a percent. */
void qm_csv_draft_set_percent (QmCsvDraft *draft, gint64 micros);

/* The last line may be in the one above. */
void qm_csv_draft_set_within (QmCsvDraft *draft);

/* The last line may be a tax under a name that nobody knows. */
void qm_csv_draft_set_bare (QmCsvDraft *draft);

/* The last line does not count where the totals do without it. */
void qm_csv_draft_set_perhaps (QmCsvDraft *draft);

/* Notes the currency of an amount; another one than before is an error, unless
 * there is one already. */
void qm_csv_draft_set_currency (QmCsvDraft *draft,
                                const char *currency,
                                guint row,
                                GError **error);

/* Adds a row of totals. */
void
qm_csv_draft_add_total (QmCsvDraft *draft, QmCsvRowKind kind, gint64 micros);

/* Adds a discount of which only the percentage is known, in millionths. */
void qm_csv_draft_add_percent (QmCsvDraft *draft, gint64 micros);

/* Puts the lines that a document has for all its alternatives before those of
 * one, with what holds for all. */
void qm_csv_draft_add_common (QmCsvDraft *draft, const QmCsvDraft *common);

/* Appends the lines of another one as what can be had besides. */
void qm_csv_draft_add_besides (QmCsvDraft *draft, const QmCsvDraft *besides);

/* Notes that the header stands there once more, below totals.  If what follows
 * are the same goods, what is then added to the totals is taken back. */
void qm_csv_draft_begin_again (QmCsvDraft *draft);

/* Takes lines out, and what has been added to the totals since
 * qm_csv_draft_begin_again(). */
void qm_csv_draft_forget (QmCsvDraft *draft, guint first, guint n);

/* Adds to a sum that may not be stated yet. */
void qm_csv_add_amount (gint64 *sum, gint64 amount);

/* Makes amounts those of the currency, and decides what the totals mean
 * (qm-csv-settle.c). */
void qm_csv_draft_finish (QmCsvDraft *draft);

/* Makes parts of lines that say what one above them is made of: it is numbered
 * 1, they 1.1 and 1.2, and they come to its price (qm-csv-nested.c).  Whether
 * there are any. */
gboolean qm_csv_nest (QmQuote *quote);
