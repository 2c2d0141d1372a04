/* SPDX-License-Identifier: Apache-2.0 */

/* A quote: what a vendor offers, as it was read.
 *
 * Amounts, dates and words are the document's own.  What follows from them is
 * computed beside them and never written over them:
 * pricing/quotes/qm-quote-totals.h adds up, pricing/quotes/qm-match.h finds out
 * which GPU or machine a line is about. What a reader noticed is kept with the
 * quote as findings.
 *
 * A quote has one currency.  A document with several is refused by its reader.
 */

#pragma once

#include "data/catalog.h"

#include <glib.h>

G_BEGIN_DECLS

/* An amount, price or quantity that the document does not state. */
#define QM_AMOUNT_UNSTATED G_MININT64

/* What a quote was read from. */
typedef enum
{
  QM_QUOTE_FROM_HAND, /* typed in */
  QM_QUOTE_FROM_UBL,
  QM_QUOTE_FROM_CSV,
  QM_QUOTE_FROM_PAGE,
  QM_QUOTE_FROM_JSON, /* the project's own format */
  QM_N_QUOTE_ORIGINS
} QmQuoteOrigin;

/* Whether a line counts. */
typedef enum
{
  QM_LINE_QUOTED,      /* counts */
  QM_LINE_PART,        /* is contained in the quoted line before it */
  QM_LINE_SUBSTITUTE,  /* offered instead of the quoted line before it */
  QM_LINE_ALTERNATIVE, /* could be had instead of it */
  QM_N_LINE_ROLES
} QmLineRole;

/* How the GPU or machine of a line is known. */
typedef enum
{
  QM_MATCH_NONE,      /* nothing of the catalog; kept as it is */
  QM_MATCH_AMBIGUOUS, /* several; `item` is NULL until the user chooses */
  QM_MATCH_FOUND,     /* by its words or part number */
  QM_MATCH_CHOSEN,    /* by the user */
  QM_N_MATCHES
} QmMatchState;

/* One line.  Strings are valid UTF-8 without control characters other than
 * line breaks, NULL where the document has none. */
typedef struct
{
  QmLineRole role;
  char *number;      /* as the document numbers it */
  char *part_number; /* the seller's or maker's */
  char *description;
  char *unit;             /* of the quantity, as written: "EA", "C62" */
  gint64 quantity_micros; /* millionths of a unit */
  gint64 price_micros;    /* for `base_quantity_micros` units, millionths of
                             the major unit */
  gint64 base_quantity_micros; /* 1 unit where the document has none */
  gint64 discount_minor;       /* taken from the line, >= 0; 0: none */
  gint64 charge_minor;         /* added to it, >= 0; 0: none */
  gint64 total_minor;          /* of the line, as written */
  QmMatchState match;
  char *item;       /* id of a GPU or machine of the catalog, or NULL */
  int gpus;         /* GPUs in one unit: 8 for a server with eight; 0: none or
                       unknown */
  char *candidates; /* where ambiguous, the ids, by ";" */
} QmQuoteLine;

typedef enum
{
  QM_FINDING_NOTE,    /* worth knowing */
  QM_FINDING_WARNING, /* not understood, or it does not add up */
  QM_N_FINDING_LEVELS
} QmFindingLevel;

/* Something noticed while reading; texts are in the user's language. */
typedef struct
{
  QmFindingLevel level;
  char *place; /* "line 3", "row 5, column Price"; NULL: the whole document */
  char *message;
} QmFinding;

typedef struct
{
  gint64 id; /* in the store; 0: not stored */
  char *vendor;
  char *number;
  char *note;
  char currency[4]; /* empty: unstated */
  QmPriceKind kind; /* QM_PRICE_QUOTE, QM_PRICE_STREET for a page's price,
                       QM_PRICE_CLOUD ... */
  QmPriceUnit unit; /* of every line: a piece or an hour */
  QmDate issued_on; /* year 0: unstated */
  QmDate valid_from;
  QmDate valid_until;      /* the last day on which it holds */
  QmTristate tax_included; /* whether the lines' prices contain tax */
  gint64 net_minor;        /* totals, as written */
  gint64 discount_minor;
  gint64 charge_minor; /* shipping and other charges */
  gint64 tax_minor;
  gint64 payable_minor;
  QmQuoteOrigin origin;
  char *source;        /* file name without its folder, or address */
  char *sha256;        /* of the document, 64 hexadecimal digits; NULL: none */
  gint64 read_at;      /* seconds since 1970, UTC; 0: unknown */
  GPtrArray *lines;    /* of QmQuoteLine, owned */
  GPtrArray *findings; /* of QmFinding, owned */
} QmQuote;

/* A quote with nothing stated and no lines. */
QmQuote *qm_quote_new (void);

/* Deep copy. */
QmQuote *qm_quote_copy (const QmQuote *quote);

void qm_quote_free (QmQuote *quote);

/* Appends a line of which nothing is known but its role.
 *
 * Returns: (transfer none): the line, valid until lines are removed. */
QmQuoteLine *qm_quote_add_line (QmQuote *quote, QmLineRole role);

/* Appends a finding; `place` may be NULL.  Both texts are copied. */
void qm_quote_add_finding (QmQuote *quote,
                           QmFindingLevel level,
                           const char *place,
                           const char *message);

/* Whether two quotes say the same: every field but `id` and `read_at`. */
gboolean qm_quote_equal (const QmQuote *a, const QmQuote *b);

/* Whether a quote of these dates holds on a day: not before it begins
 * (`valid_from`, else `issued_on`) and not after `valid_until`.  One that
 * states no end holds on; an unknown month or day counts as the first. */
gboolean qm_quote_dates_hold (QmDate issued_on,
                              QmDate valid_from,
                              QmDate valid_until,
                              QmDate on);

/* Names of the enumerations as files have them; static. */
const char *qm_quote_origin_name (QmQuoteOrigin origin);
const char *qm_line_role_name (QmLineRole role);
const char *qm_match_state_name (QmMatchState state);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmQuote, qm_quote_free)

G_END_DECLS
