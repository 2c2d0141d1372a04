/* SPDX-License-Identifier: Apache-2.0 */

/* Quotes on one basis: what each comes to with and without tax, in one
 * currency, for a GPU and for a day of its life; what of a whole offer it has,
 * part by part; what trainings take and cost on it; and which of them is best
 * by each of these.
 *
 * Amounts are converted at the rate of each quote's day, and are what
 * pricing/quotes/qm-quote-offer.h makes of the quote.  What is bought serves
 * for a lifetime: a day of it costs the net amount / (years x 365), and a
 * training, which takes one of its machines, its days x that of one, as in an
 * advice (pricing/advice/qm-advice.h). */

#pragma once

#include "pricing/qm-rates.h"
#include "pricing/quotes/qm-line-part.h"

G_BEGIN_DECLS

/* No more quotes are compared at once. */
#define QM_COMPARED_MOST 4

typedef enum
{
  QM_STATE_MISSING,
  QM_STATE_CONTAINED, /* in another part's price */
  QM_STATE_UNPRICED,  /* offered, but the quote tells no price */
  QM_STATE_PRICED
} QmPartState;

/* A part of one quote. */
typedef struct
{
  QmPartState state;
  gint64 minor;     /* of all its lines, without tax, in the common currency;
                       QM_AMOUNT_UNSTATED */
  GPtrArray *lines; /* of const QmQuoteLine *, the quote's own */
} QmComparedPart;

typedef struct
{
  const QmQuote *quote;
  gint64 payable_minor; /* what is to be paid: as written, else computed, in
                           the common currency; QM_AMOUNT_UNSTATED */
  gint64 net_minor;
  gint64 tax_minor;
  gint64 gross_minor;
  gboolean net_derived;   /* by the terms' tax, not the quote's */
  gboolean gross_derived; /* likewise */
  QmCrossRate rate;       /* to the common currency; `from` is empty where no
                             rate is known */
  char *reason;           /* why an amount is not stated; NULL */
  gint64 machines;        /* whole ones; 0: none */
  gint64 gpus;            /* in all of it; 0: not known */
  char *gpu;              /* names of their types; NULL: not known */
  gint64 per_gpu_minor;   /* net amount / GPUs */
  double day_minor;       /* net amount / days of its life, NaN: not known */
  QmComparedPart parts[QM_N_PARTS];
  guint lacks;    /* bits 1 << QmOfferPart: parts that it has not, and
                     another quote has, or has for nothing */
  gboolean holds; /* on the day of the terms */
} QmComparedQuote;

/* What its quote is called: qm_quote_title().  (transfer full) */
char *qm_compared_title (const QmComparedQuote *compared);

/* What one training takes on what a quote offers. */
typedef struct
{
  double days;            /* NaN: not known */
  double low, high;       /* the interval where it is predicted, else NaN */
  gint64 added_usd_minor; /* what has to be bought besides, in USD cents; -1:
                             not known what that costs */
  double added_minor;     /* the same in the common currency, NaN: not known;
                             set by the comparison */
  char *added;            /* what that is; NULL: nothing */
  char *reason;           /* why there is no time; NULL: there is */
} QmTrainingTime;

typedef enum
{
  QM_MEASURE_NET,
  QM_MEASURE_GROSS,
  QM_MEASURE_PER_GPU,
  QM_MEASURE_DAY,
  QM_MEASURE_RUN_DAYS, /* of one training, in days */
  QM_MEASURE_RUN_COST,
  QM_MEASURE_YEAR_DAYS, /* of all runs of a year */
  QM_MEASURE_YEAR_COST,
  QM_N_MEASURES
} QmMeasureKind;

/* By what quotes are compared.  Amounts are in minor units of the common
 * currency, and without tax but for QM_MEASURE_GROSS. */
typedef struct
{
  QmMeasureKind kind;
  int training;                    /* index; -1: of none */
  double values[QM_COMPARED_MOST]; /* NaN: not known */
  guint winners; /* bits of quotes with the lowest value, of those that lack
                    neither GPUs nor a server; 0 where fewer than two are known
                    or all are the same */
} QmComparedMeasure;

typedef struct
{
  char *title;
  double runs_per_year; /* NaN: nobody says */
  QmTrainingTime times[QM_COMPARED_MOST];
} QmComparedTraining;

/* On which terms quotes are compared. */
typedef struct
{
  char currency[4];      /* empty: that of all quotes, or else USD */
  double tax_percent;    /* where a quote does not tell its tax; 0: nobody says,
                            unless */
  gboolean tax_free;     /* it was said that there is none */
  double lifetime_years; /* > 0 */
  QmDate today;
} QmComparedTerms;

typedef struct
{
  QmComparedTerms terms; /* with the currency that was chosen */
  guint n_quotes;
  QmComparedQuote quotes[QM_COMPARED_MOST];
  double time_factor; /* days of trainings are so many times those of the steps
                         alone; 1: no more */
  GArray *trainings;  /* of QmComparedTraining */
  GArray *measures;   /* of QmComparedMeasure, in the order of their kinds */
} QmQuoteComparison;

/* Compares from one to QM_COMPARED_MOST quotes, which must outlive what is
 * returned.
 *
 * rates: (nullable): without, only quotes in the common currency have amounts.
 *
 * Returns: (transfer full). */
QmQuoteComparison *qm_quote_comparison_new (const QmCatalog *catalog,
                                            GPtrArray *quotes,
                                            QmRates *rates,
                                            const QmComparedTerms *terms);

void qm_quote_comparison_free (QmQuoteComparison *comparison);

/* Adds a training, of which `times` has as many as there are quotes and is
 * taken over: their texts belong to the comparison from now on. */
void qm_quote_comparison_add_training (QmQuoteComparison *comparison,
                                       const char *title,
                                       double runs_per_year,
                                       const QmTrainingTime *times,
                                       QmRates *rates);

/* The measure of that kind and training; NULL: it is not known of any quote.
 * (transfer none) */
const QmComparedMeasure *qm_quote_comparison_measure (
    const QmQuoteComparison *comparison, QmMeasureKind kind, int training);

/* "net", "gross", "per_gpu" and so on, as files have it; static. */
const char *qm_measure_name (QmMeasureKind kind);

/* Whether a measure is a time in days, not an amount. */
gboolean qm_measure_is_days (QmMeasureKind kind);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmQuoteComparison, qm_quote_comparison_free)

G_END_DECLS
