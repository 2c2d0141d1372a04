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
 *
 * A quote is one offer that can be accepted as it stands, with totals of its
 * own.  A document that offers several alternatives ("Option A", "Option B") is
 * as many quotes of the same vendor, number and document, told apart by
 * `alternative`; what is common to all of them (shipping, a service) is in
 * each.
 *
 * What a reader is not sure of is asked (QmAsk): the quote is kept and shown,
 * and what the question is about does not count until the user has answered.
 */

#pragma once

#include "data/catalog.h"

#include <glib.h>

G_BEGIN_DECLS

/* An amount, price or quantity that the document does not state. */
#define QM_AMOUNT_UNSTATED G_MININT64

static inline gboolean
qm_amount_is_stated (gint64 amount)
{
  return amount != QM_AMOUNT_UNSTATED;
}

/* 0 where it is not stated. */
static inline gint64
qm_amount_or_nothing (gint64 amount)
{
  return qm_amount_is_stated (amount) ? amount : 0;
}

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
  QM_LINE_PART,        /* is contained in the line before it that is no part */
  QM_LINE_SUBSTITUTE,  /* offered instead of the quoted line before it */
  QM_LINE_ALTERNATIVE, /* could be had instead of it */
  QM_LINE_OPTION,      /* could be had in addition, for its own price */
  QM_N_LINE_ROLES
} QmLineRole;

/* What a line sells. */
typedef enum
{
  QM_THING_UNSTATED, /* as its words tell: qm_line_thing() of
                        pricing/quotes/qm-line-thing.h */
  QM_THING_GPU,      /* cards or modules without a machine, also several on a
                        baseboard or in a pack */
  QM_THING_MACHINE,  /* a whole machine, with or without GPUs */
  QM_THING_PART,     /* of a machine: chassis, processor, memory, cable ... */
  QM_THING_SERVICE,  /* warranty, support, installation, licence */
  QM_THING_SHIPPING,
  QM_THING_RENT, /* whatever it is, it is paid for as long as it is used */
  QM_THING_OTHER,
  QM_N_THINGS
} QmLineThing;

/* What the user is asked: bits of a set.  A quote and each of its lines have a
 * set of what has been asked and one of what has been answered. */
typedef enum
{
  /* About a line, which does not count until it is answered: */
  QM_ASK_RENT = 1 << 0,  /* whether it is a rent */
  QM_ASK_PACK = 1 << 1,  /* how many pieces the price is for */
  QM_ASK_PRICE = 1 << 2, /* whether the price is right: it is far from every
                            known one */
  /* About a quote, which is undated until it is answered: */
  QM_ASK_DATE = 1 << 3,     /* on which day it was issued */
  QM_ASK_VALIDITY = 1 << 4, /* until when it holds */
  /* About a quote, which counts as a revision until it is answered: */
  QM_ASK_REVISION = 1 << 5, /* whether it is one of `supersedes` */
  /* About a quote, of which nothing counts until it is answered: */
  QM_ASK_TOTALS = 1 << 6 /* whether what it comes to is right: its amounts
                            contradict each other */
} QmAsk;

#define QM_N_ASKS       7
#define QM_ASKS_OF_LINE (QM_ASK_RENT | QM_ASK_PACK | QM_ASK_PRICE)
#define QM_ASKS_OF_QUOTE \
  (QM_ASK_DATE | QM_ASK_VALIDITY | QM_ASK_REVISION | QM_ASK_TOTALS)

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
  int gpus;         /* GPUs in one unit: 8 for a server with eight, 4 for a pack
                       of four; 0: none or unknown */
  char *candidates; /* where ambiguous, the ids, by ";" */
  QmLineThing thing; /* as the document or the user says */
  guint asked;       /* of QM_ASKS_OF_LINE */
  guint answered;    /* no more than was asked */
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
  char *alternative; /* which one of its document's: "Option A"; NULL: there is
                        but one */
  char *supersedes;  /* number of the same vendor's quote that this one is a
                        newer revision of; NULL: none, see
                        pricing/quotes/qm-quote-family.h */
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
  guint asked;         /* of QM_ASKS_OF_QUOTE */
  guint answered;      /* no more than was asked */
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

/* One of its lines. */
static inline const QmQuoteLine *
qm_quote_line_at (const QmQuote *quote, guint i)
{
  return g_ptr_array_index (quote->lines, i);
}

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

/* The day of a quote: on which it was issued, else from which it holds, else on
 * which it was read; year 0: unknown. */
QmDate qm_quote_day (const QmQuote *quote);

/* "Delta Computers, Q-17, Option A"; what is not stated is left out, and
 * without vendor and number it is the source.  (transfer full) */
char *qm_quote_title (const char *vendor,
                      const char *number,
                      const char *alternative,
                      const char *source);

/* Asks, about a line or a quote.  What has been answered is not asked again. */
void qm_quote_line_ask (QmQuoteLine *line, QmAsk ask);
void qm_quote_ask (QmQuote *quote, QmAsk ask);

/* The questions that are not answered: of a line, and of a quote without its
 * lines. */
guint qm_quote_line_open (const QmQuoteLine *line);
guint qm_quote_open (const QmQuote *quote);

/* How many questions are open, of the quote and all its lines. */
guint qm_quote_n_open (const QmQuote *quote);

/* Answers about a line.  What was not asked may be answered, too.
 *
 * QM_ASK_RENT: `number` is 1 for a rent and 0 for a price that buys.
 * QM_ASK_PACK: `number` is of the GPUs that one unit has.
 * QM_ASK_PRICE: the price is right; `number` is not looked at.
 *
 * Returns: FALSE for a number that is none of these. */
gboolean qm_quote_line_answer (QmQuoteLine *line, QmAsk ask, int number);

/* Answers about a quote, of which the dates, and `supersedes`, have been set:
 * all zeros, or NULL, where it has none.  QM_ASK_TOTALS: what it comes to is
 * right. */
void qm_quote_answer (QmQuote *quote, QmAsk ask);

/* Whether it is not known from when a quote is, or until when it holds: no
 * day of issue or beginning is stated, or one of these is asked.  Such a quote
 * displaces no other. */
gboolean qm_quote_is_undated (const QmQuote *quote);

/* Names of the enumerations as files have them; static.  That of
 * QM_THING_UNSTATED is "". */
const char *qm_quote_origin_name (QmQuoteOrigin origin);
const char *qm_line_role_name (QmLineRole role);
const char *qm_match_state_name (QmMatchState state);
const char *qm_line_thing_name (QmLineThing thing);

/* The question as it is put to the user; static, translated. */
const char *qm_ask_text (QmAsk ask);

/* Its name as files and command lines have it; static. */
const char *qm_ask_name (QmAsk ask);

/* A set of questions as files have it, their names by ";": "rent;price".
 * (transfer full) (nullable): NULL for none */
char *qm_asks_to_text (guint asks);

/* The set that a text names, which may be NULL.  FALSE: it names another. */
gboolean qm_asks_from_text (const char *text, guint *asks);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmQuote, qm_quote_free)

G_END_DECLS
