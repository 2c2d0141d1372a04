/* SPDX-License-Identifier: Apache-2.0 */

/* What the readers of quotes share: their errors, their limits, and how text
 * and numbers of a document become those of a quote. */

#pragma once

#include "pricing/quotes/qm-quote.h"

G_BEGIN_DECLS

#define QM_READ_ERROR (qm_read_error_quark ())

GQuark qm_read_error_quark (void);

typedef enum
{
  QM_READ_ERROR_KIND,      /* a kind of document that is not read */
  QM_READ_ERROR_TOO_LARGE, /* more bytes, depth or parts than are read */
  QM_READ_ERROR_MALFORMED, /* not what it claims to be, or cut off */
  QM_READ_ERROR_NO_QUOTE,  /* read, but there is no quote in it */
  QM_READ_ERROR_CURRENCY,  /* several currencies in one quote */
  QM_READ_ERROR_MAPPING,   /* which column is what has to be said first */
  QM_READ_ERROR_UNSUITED   /* a quote that the format cannot hold */
} QmReadError;

/* Sets an error with a sentence in the user's language; returns FALSE. */
gboolean qm_read_refuse (GError **error, QmReadError code, const char *message);

/* No document is larger, ... */
#define QM_READ_MAX_BYTES ((gsize) 8 << 20)
/* ... but a spreadsheet may be. */
#define QM_READ_MAX_CSV_BYTES ((gsize) 64 << 20)
/* No text of a quote is longer, in bytes. */
#define QM_READ_MAX_TEXT 4096

/* Amounts beyond this many major units are no prices. */
#define QM_READ_MAX_UNITS G_GINT64_CONSTANT (1000000000000)

/* Text as quotes have it: valid UTF-8, spaces and control characters as single
 * spaces, line breaks kept one at a time, nothing at the ends, cut where it is
 * too long.  NULL where nothing is left. */
char *qm_read_text (const char *text);

/* The beginning of a text, cut between characters, for a message. */
char *qm_read_excerpt (const char *text);

/* Of one quote, no more findings than this are kept. */
#define QM_READ_MAX_FINDINGS 1000

/* Adds a finding with a text like printf's; `place` may be NULL. */
void qm_read_find (QmQuote *quote,
                   QmFindingLevel level,
                   const char *place,
                   const char *format,
                   ...) G_GNUC_PRINTF (4, 5);

/* What reading a plain decimal came to. */
typedef enum
{
  QM_DECIMAL_EXACT,
  QM_DECIMAL_ROUNDED, /* had more decimals than are kept */
  QM_DECIMAL_BAD      /* not a decimal, or too large; *value is unchanged */
} QmDecimalResult;

/* Reads a decimal as XML Schema has it ("-1.50", "+.5", "3."), with blanks
 * around it, into 10^-decimals units, rounding halves away from zero. */
QmDecimalResult qm_read_decimal (const char *text, int decimals, gint64 *value);

/* A decimal for files, with a point: of millionths, without needless zeros and
 * with at least `least` decimals, ... */
char *qm_micros_to_text (gint64 micros, int least);
/* ... and of minor units, with as many decimals as the currency has. */
char *qm_minor_to_text (gint64 minor, const char *currency);

/* An amount for people, in the user's locale and exact: "197,750.00 DKK". */
char *qm_minor_for_people (gint64 minor, const char *currency);

/* The same of millionths of the major unit; what is no whole number of minor
 * units as in files, its currency behind it. */
char *qm_micros_for_people (gint64 micros, const char *currency);

/* The full date as "2026-03-31"; NULL where the day is not known. */
char *qm_read_date_text (QmDate date);

/* `days` after a full date. */
QmDate qm_read_date_add (QmDate date, int days);

G_END_DECLS
