/* SPDX-License-Identifier: Apache-2.0 */

/* Days, and times for which a quote holds, as people write them in the
 * languages of pricing/formats/qm-csv-words.h.
 *
 * A text is a date only as a whole: what goes on after it may change what it
 * says ("30 June 2026 or on request"), so that is none. */

#pragma once

#include "pricing/formats/qm-csv-mapping.h"

G_BEGIN_DECLS

/* For how long a quote holds.  A year of 0: not stated. */
typedef struct
{
  QmDate from;
  QmDate until; /* the last day */
  int days;     /* from the day of issue; 0: not stated */
  int months;
} QmCsvTerm;

/* Reads a date: "2026-03-31", "31.3.26", "31/03/2026", "9 de marzo de 2026",
 * "March 31st, 2026".  A time of day may follow.
 *
 * Returns: FALSE where it is none, or where day and month cannot be told
 *   apart. */
gboolean qm_csv_date_parse (const char *text, QmDateOrder order, QmDate *date);

/* Reads until when, from when to when, or for how long a quote holds:
 * "31.3.2026", "t/m 31-3-2026", "01/04/2026 - 30/11/2027", "ab 1.4.2026",
 * "30 days from date of quote", "4 Wochen".  Of a range with strokes the two
 * dates tell together which of their numbers is the month.
 *
 * Returns: FALSE where it is not clearly one of these; nothing is written
 *   then. */
gboolean
qm_csv_term_parse (const char *text, QmDateOrder order, QmCsvTerm *term);

/* Counts a term from the day of issue on: its last day.  The year is 0 where
 * the term states no length or the day is not known. */
QmDate qm_csv_term_end (const QmCsvTerm *term, QmDate issued_on);

G_END_DECLS
