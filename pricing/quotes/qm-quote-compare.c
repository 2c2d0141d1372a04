/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/quotes/qm-quote-compare.h"

#include "pricing/qm-exact.h"
#include "pricing/quotes/qm-quote-offer.h"
#include "pricing/quotes/qm-quote-totals.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

#define DAYS_PER_YEAR 365.0

/* Without these there is nothing to train on. */
#define NEEDED (1u << QM_PART_GPUS | 1u << QM_PART_SERVER)

/* What is looked for in every offer. */
#define LOOKED_FOR                                       \
  (NEEDED | 1u << QM_PART_MEMORY | 1u << QM_PART_STORAGE \
   | 1u << QM_PART_NETWORK | 1u << QM_PART_SERVICE | 1u << QM_PART_SHIPPING)

static double
or_nan (gint64 amount)
{
  return qm_amount_is_stated (amount) ? (double) amount : (double) NAN;
}

/* --- amounts --- */

static void
choose_currency (QmQuoteComparison *comparison, GPtrArray *quotes)
{
  const QmQuote *first = g_ptr_array_index (quotes, 0);
  gboolean same = qm_currency_valid (first->currency);

  if (comparison->terms.currency[0] != '\0')
    return;
  for (guint i = 1; i < quotes->len; i++)
    {
      const QmQuote *quote = g_ptr_array_index (quotes, i);

      same = same && strcmp (quote->currency, first->currency) == 0;
    }
  g_strlcpy (comparison->terms.currency, same ? first->currency : "USD",
             sizeof comparison->terms.currency);
}

/* Finds the rate of a quote's day; FALSE, and why, where there is none. */
static gboolean
find_rate (const QmQuoteComparison *comparison,
           QmComparedQuote *compared,
           QmRates *rates)
{
  const char *to = comparison->terms.currency;
  const QmQuote *quote = compared->quote;
  g_autoptr (GError) error = NULL;
  QmCrossRate rate;

  if (!qm_currency_valid (quote->currency))
    {
      compared->reason = g_strdup (_ ("the quote does not tell its currency"));
      return FALSE;
    }
  if (strcmp (quote->currency, to) == 0)
    {
      compared->rate = (QmCrossRate){ .numerator = 1, .denominator = 1 };
      g_strlcpy (compared->rate.from, to, sizeof compared->rate.from);
      g_strlcpy (compared->rate.to, to, sizeof compared->rate.to);
      return TRUE;
    }
  if (rates == NULL)
    {
      compared->reason = g_strdup (_ ("no exchange rates are known"));
      return FALSE;
    }
  if (!qm_rates_find (rates, quote->currency, to, qm_quote_day (quote),
                      QM_RATES_STALE_DAYS, &rate, &error))
    {
      compared->reason = g_strdup (error->message);
      return FALSE;
    }
  compared->rate = rate;
  return TRUE;
}

/* An amount of the quote in the common currency; negative ones too. */
static gint64
in_common_currency (QmComparedQuote *compared, gint64 minor)
{
  QmMoney amount = { 0 };
  g_autoptr (GError) error = NULL;
  QmMoney converted;

  if (!qm_amount_is_stated (minor) || compared->rate.from[0] == '\0')
    return QM_AMOUNT_UNSTATED;
  amount.minor = ABS (minor);
  g_strlcpy (amount.currency, compared->rate.from, sizeof amount.currency);
  if (strcmp (compared->rate.from, compared->rate.to) == 0)
    return minor;
  if (qm_cross_rate_convert (&compared->rate, amount, &converted, &error))
    return minor < 0 ? -converted.minor : converted.minor;
  if (compared->reason == NULL)
    compared->reason = g_strdup (error->message);
  return QM_AMOUNT_UNSTATED;
}

/* `minor` x (1 + tax), or that undone. */
static gint64
with_tax (gint64 minor, double tax_percent, gboolean undone)
{
  const gint64 rate = (gint64) llround (tax_percent * 1e6);
  const gint64 all = G_GINT64_CONSTANT (100000000);
  gint64 result;

  if (!qm_amount_is_stated (minor)
      || !qm_exact_scale (minor, undone ? all : all + rate,
                          undone ? all + rate : all, &result))
    return QM_AMOUNT_UNSTATED;
  return result;
}

static gint64
payable_of (const QmQuote *quote)
{
  QmQuoteTotals totals;

  if (qm_amount_is_stated (quote->payable_minor))
    return quote->payable_minor;
  qm_quote_totals_compute (quote, &totals);
  return totals.payable_minor;
}

/* Whether it was said which tax counts where a quote does not tell its own. */
static gboolean
knows_tax (const QmComparedTerms *terms)
{
  return terms->tax_percent > 0 || terms->tax_free;
}

/* What the quote comes to with tax, in its own currency; its net amount is
 * without. */
static gint64
gross_of (const QmQuote *quote, gint64 net, gint64 tax)
{
  gint64 gross = net;

  if (qm_amount_is_stated (net) && qm_amount_is_stated (tax))
    return qm_exact_add (&gross, tax) ? gross : QM_AMOUNT_UNSTATED;
  if (qm_amount_is_stated (quote->payable_minor) && qm_amount_is_stated (net)
      && quote->payable_minor > net)
    return quote->payable_minor;
  return QM_AMOUNT_UNSTATED;
}

static void
set_amounts (const QmQuoteComparison *comparison, QmComparedQuote *compared)
{
  const double tax_percent = comparison->terms.tax_percent;
  const QmQuote *quote = compared->quote;
  gint64 net, tax, gross;
  gboolean taxed;

  qm_quote_come_to (quote, &net, &tax, &taxed);
  gross = taxed ? net : gross_of (quote, net, tax);
  if (taxed)
    {
      net = knows_tax (&comparison->terms) ? with_tax (gross, tax_percent, TRUE)
                                           : QM_AMOUNT_UNSTATED;
      compared->net_derived = qm_amount_is_stated (net);
    }
  else if (!qm_amount_is_stated (gross) && knows_tax (&comparison->terms))
    {
      gross = with_tax (net, tax_percent, FALSE);
      compared->gross_derived = qm_amount_is_stated (gross);
    }
  compared->net_minor = in_common_currency (compared, net);
  compared->gross_minor = in_common_currency (compared, gross);
  compared->tax_minor = qm_amount_is_stated (compared->net_minor)
                                && qm_amount_is_stated (compared->gross_minor)
                            ? compared->gross_minor - compared->net_minor
                            : QM_AMOUNT_UNSTATED;
  compared->payable_minor = in_common_currency (compared, payable_of (quote));
  if (compared->reason != NULL)
    return;
  if (taxed && !qm_amount_is_stated (net) && qm_amount_is_stated (gross))
    compared->reason = g_strdup (
        _ ("the prices contain tax, and the quote does not tell how much"));
  else if (!qm_amount_is_stated (net) && !qm_amount_is_stated (gross))
    compared->reason =
        g_strdup (_ ("the quote tells neither its sum nor all prices"));
}

/* --- what is offered --- */

static void
add_gpu_name (GString *names, const QmCatalog *catalog, const char *id)
{
  const QmGpu *gpu = qm_catalog_gpu (catalog, id);

  if (gpu == NULL || strstr (names->str, gpu->name) != NULL)
    return;
  g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "", gpu->name);
}

static void
set_offered (const QmCatalog *catalog,
             const QmQuoteComparison *comparison,
             QmComparedQuote *compared)
{
  g_autoptr (GArray) offers = qm_quote_offers (catalog, compared->quote, NULL);
  GString *names = g_string_new (NULL);

  for (guint i = 0; i < offers->len; i++)
    {
      const QmQuoteOffer *offer = &g_array_index (offers, QmQuoteOffer, i);
      gboolean is_gpu = qm_catalog_gpu (catalog, offer->item) != NULL;

      if (offer->variant)
        continue;
      if (offer->gpus > 0 || !is_gpu)
        compared->machines += offer->pieces;
      if (!is_gpu)
        continue;
      compared->gpus += offer->pieces * MAX (offer->gpus, 1);
      add_gpu_name (names, catalog, offer->item);
    }
  if (names->len > 0)
    compared->gpu = g_string_free (g_steal_pointer (&names), FALSE);
  else
    g_string_free (names, TRUE);
  compared->per_gpu_minor = QM_AMOUNT_UNSTATED;
  if (compared->gpus > 0 && qm_amount_is_stated (compared->net_minor))
    qm_exact_scale (compared->net_minor, 1, compared->gpus,
                    &compared->per_gpu_minor);
  compared->day_minor = or_nan (compared->net_minor)
                        / (comparison->terms.lifetime_years * DAYS_PER_YEAR);
}

/* A line's cost as a share of the net amount: prices that contain tax are made
 * what they are without.  In the common currency. */
static gint64
net_cost (const QmQuoteComparison *comparison,
          QmComparedQuote *compared,
          gint64 cost)
{
  const QmQuote *quote = compared->quote;
  gint64 net, tax, result;
  gboolean taxed;

  if (!qm_amount_is_stated (cost) || quote->tax_included != QM_YES)
    return in_common_currency (compared, cost);
  qm_quote_come_to (quote, &net, &tax, &taxed);
  if (taxed)
    return knows_tax (&comparison->terms) ? in_common_currency (
               compared, with_tax (cost, comparison->terms.tax_percent, TRUE))
                                          : QM_AMOUNT_UNSTATED;
  if (net <= 0 || !qm_exact_scale (cost, net, (QmInt128) net + tax, &result))
    return QM_AMOUNT_UNSTATED;
  return in_common_currency (compared, result);
}

/* Adds what costs something; what is not told makes the sum unknown. */
static void
add_cost (QmComparedPart *part, gint64 minor)
{
  if (part->state != QM_STATE_PRICED)
    part->minor = minor;
  else if (!qm_amount_is_stated (minor) || !qm_amount_is_stated (part->minor)
           || !qm_exact_add (&part->minor, minor))
    part->minor = QM_AMOUNT_UNSTATED;
  part->state = QM_STATE_PRICED;
}

static void
mention (QmComparedQuote *compared, guint parts)
{
  for (guint i = 0; i < QM_N_PARTS; i++)
    if ((parts & 1u << i) != 0 && compared->parts[i].state == QM_STATE_MISSING)
      compared->parts[i].state = QM_STATE_CONTAINED;
}

static void
add_compared_line (const QmCatalog *catalog,
                   const QmQuoteComparison *comparison,
                   QmComparedQuote *compared,
                   const QmQuoteLine *line)
{
  QmOfferPart index = qm_line_part (catalog, line);
  QmComparedPart *part = &compared->parts[index];
  gint64 cost = qm_quote_line_cost (compared->quote, line);

  g_ptr_array_add (part->lines, (gpointer) line);
  if (index == QM_PART_SERVER)
    mention (compared, qm_line_parts_named (line));
  if (line->item != NULL && qm_catalog_gpu (catalog, line->item) != NULL)
    mention (compared, 1u << QM_PART_GPUS);
  if (index == QM_PART_OPTIONS || line->role == QM_LINE_PART)
    mention (compared, 1u << index);
  else if (!qm_amount_is_stated (cost))
    part->state = MAX (part->state, QM_STATE_UNPRICED);
  else
    add_cost (part, net_cost (comparison, compared, cost));
}

static void
set_parts (const QmCatalog *catalog,
           const QmQuoteComparison *comparison,
           QmComparedQuote *compared)
{
  const QmQuote *quote = compared->quote;

  for (guint i = 0; i < QM_N_PARTS; i++)
    {
      compared->parts[i].minor = QM_AMOUNT_UNSTATED;
      compared->parts[i].lines = g_ptr_array_new ();
    }
  for (guint i = 0; i < quote->lines->len; i++)
    add_compared_line (catalog, comparison, compared,
                       g_ptr_array_index (quote->lines, i));
  if (quote->discount_minor > 0)
    add_cost (&compared->parts[QM_PART_DISCOUNT],
              net_cost (comparison, compared, -quote->discount_minor));
  if (quote->charge_minor > 0)
    add_cost (&compared->parts[QM_PART_SHIPPING],
              net_cost (comparison, compared, quote->charge_minor));
  /* A machine with its GPUs may be of parts, none of which is the machine. */
  if (compared->machines > 0)
    mention (compared, 1u << QM_PART_SERVER);
  if (compared->gpus > 0)
    mention (compared, 1u << QM_PART_GPUS);
}

/* What others have. */
static void
set_lacks (QmQuoteComparison *comparison)
{
  guint all = 0;

  for (guint i = 0; i < comparison->n_quotes; i++)
    for (guint j = 0; j < QM_N_PARTS; j++)
      if (comparison->quotes[i].parts[j].state != QM_STATE_MISSING)
        all |= 1u << j;
  for (guint i = 0; i < comparison->n_quotes; i++)
    for (guint j = 0; j < QM_N_PARTS; j++)
      if ((all & LOOKED_FOR & 1u << j) != 0
          && comparison->quotes[i].parts[j].state == QM_STATE_MISSING)
        comparison->quotes[i].lacks |= 1u << j;
}

/* --- measures --- */

static double
value_of (const QmComparedQuote *compared, QmMeasureKind kind)
{
  switch (kind)
    {
    case QM_MEASURE_NET:
      return or_nan (compared->net_minor);
    case QM_MEASURE_GROSS:
      return or_nan (compared->gross_minor);
    case QM_MEASURE_PER_GPU:
      return or_nan (compared->per_gpu_minor);
    case QM_MEASURE_DAY:
      return compared->day_minor;
    default:
      return (double) NAN;
    }
}

/* Who has the lowest value; those that lack what one trains on take no part,
 * unless the value counts it. */
static guint
find_winners (const QmQuoteComparison *comparison,
              const QmComparedMeasure *measure)
{
  double least = INFINITY;
  guint winners = 0;
  guint n = 0;

  for (guint i = 0; i < comparison->n_quotes; i++)
    {
      double value = measure->values[i];

      if (!isfinite (value)
          || (measure->training < 0
              && (comparison->quotes[i].lacks & NEEDED) != 0))
        continue;
      n++;
      if (value < least)
        winners = 0;
      if (value <= least)
        winners |= 1u << i;
      least = MIN (least, value);
    }
  return n >= 2 && winners != (1u << comparison->n_quotes) - 1 ? winners : 0;
}

static void
add_measure (QmQuoteComparison *comparison, QmComparedMeasure *measure)
{
  gboolean known = FALSE;

  for (guint i = 0; i < comparison->n_quotes; i++)
    known = known || isfinite (measure->values[i]);
  if (!known)
    return;
  measure->winners = find_winners (comparison, measure);
  g_array_append_val (comparison->measures, *measure);
}

static void
training_clear (gpointer data)
{
  QmComparedTraining *training = data;

  g_free (training->title);
  for (guint i = 0; i < QM_COMPARED_MOST; i++)
    {
      g_free (training->times[i].added);
      g_free (training->times[i].reason);
    }
}

QmQuoteComparison *
qm_quote_comparison_new (const QmCatalog *catalog,
                         GPtrArray *quotes,
                         QmRates *rates,
                         const QmComparedTerms *terms)
{
  QmQuoteComparison *comparison;

  g_return_val_if_fail (catalog != NULL && quotes != NULL && terms != NULL,
                        NULL);
  g_return_val_if_fail (quotes->len >= 1 && quotes->len <= QM_COMPARED_MOST,
                        NULL);
  g_return_val_if_fail (terms->lifetime_years > 0, NULL);

  comparison = g_new0 (QmQuoteComparison, 1);
  comparison->terms = *terms;
  comparison->n_quotes = quotes->len;
  comparison->time_factor = 1;
  comparison->trainings =
      g_array_new (FALSE, FALSE, sizeof (QmComparedTraining));
  g_array_set_clear_func (comparison->trainings, training_clear);
  comparison->measures = g_array_new (FALSE, FALSE, sizeof (QmComparedMeasure));
  choose_currency (comparison, quotes);
  for (guint i = 0; i < quotes->len; i++)
    {
      QmComparedQuote *compared = &comparison->quotes[i];

      compared->quote = g_ptr_array_index (quotes, i);
      compared->holds =
          qm_quote_dates_hold (compared->quote->issued_on,
                               compared->quote->valid_from,
                               compared->quote->valid_until, terms->today);
      find_rate (comparison, compared, rates);
      set_amounts (comparison, compared);
      set_offered (catalog, comparison, compared);
      set_parts (catalog, comparison, compared);
    }
  set_lacks (comparison);
  for (int kind = 0; kind <= QM_MEASURE_DAY; kind++)
    {
      QmComparedMeasure measure = { .kind = (QmMeasureKind) kind,
                                    .training = -1 };

      for (guint i = 0; i < quotes->len; i++)
        measure.values[i] =
            value_of (&comparison->quotes[i], (QmMeasureKind) kind);
      add_measure (comparison, &measure);
    }
  return comparison;
}

void
qm_quote_comparison_free (QmQuoteComparison *comparison)
{
  if (comparison == NULL)
    return;
  for (guint i = 0; i < comparison->n_quotes; i++)
    {
      g_free (comparison->quotes[i].reason);
      g_free (comparison->quotes[i].gpu);
      for (guint j = 0; j < QM_N_PARTS; j++)
        g_ptr_array_unref (comparison->quotes[i].parts[j].lines);
    }
  g_array_unref (comparison->trainings);
  g_array_unref (comparison->measures);
  g_free (comparison);
}

/* --- trainings --- */

/* What is bought besides, in minor units of the common currency; NaN where no
 * rate is known. */
static double
added_minor (const QmQuoteComparison *comparison,
             const QmTrainingTime *time,
             QmRates *rates)
{
  QmMoney amount = { .minor = time->added_usd_minor, .currency = "USD" };
  const char *to = comparison->terms.currency;
  QmCrossRate rate;
  QmMoney converted;

  if (time->added_usd_minor < 0)
    return (double) NAN;
  if (time->added_usd_minor == 0 || strcmp (to, "USD") == 0)
    return (double) time->added_usd_minor;
  if (rates == NULL
      || !qm_rates_find (rates, "USD", to, comparison->terms.today,
                         QM_RATES_STALE_DAYS, &rate, NULL)
      || !qm_cross_rate_convert (&rate, amount, &converted, NULL))
    return (double) NAN;
  return (double) converted.minor;
}

/* What a day of one machine costs, with what is bought besides. */
static double
machine_day (const QmQuoteComparison *comparison,
             guint index,
             const QmTrainingTime *time)
{
  const QmComparedQuote *compared = &comparison->quotes[index];

  return (or_nan (compared->net_minor) / (double) MAX (compared->machines, 1)
          + time->added_minor)
         / (comparison->terms.lifetime_years * DAYS_PER_YEAR);
}

/* All runs of a year, where everybody says how many of each there are. */
static void
add_year (QmQuoteComparison *comparison)
{
  QmComparedMeasure days = { .kind = QM_MEASURE_YEAR_DAYS, .training = 0 };
  QmComparedMeasure cost = { .kind = QM_MEASURE_YEAR_COST, .training = 0 };

  for (guint i = comparison->measures->len; i > 0; i--)
    if (g_array_index (comparison->measures, QmComparedMeasure, i - 1).kind
        >= QM_MEASURE_YEAR_DAYS)
      g_array_remove_index (comparison->measures, i - 1);
  for (guint i = 0; i < comparison->trainings->len; i++)
    {
      const QmComparedTraining *training =
          &g_array_index (comparison->trainings, QmComparedTraining, i);

      if (!(training->runs_per_year > 0))
        return;
      for (guint j = 0; j < comparison->n_quotes; j++)
        {
          const QmTrainingTime *time = &training->times[j];
          const double machine_days = training->runs_per_year * time->days;

          days.values[j] +=
              machine_days / (double) MAX (comparison->quotes[j].machines, 1);
          cost.values[j] += machine_days * machine_day (comparison, j, time);
        }
    }
  add_measure (comparison, &days);
  add_measure (comparison, &cost);
}

void
qm_quote_comparison_add_training (QmQuoteComparison *comparison,
                                  const char *title,
                                  double runs_per_year,
                                  const QmTrainingTime *times,
                                  QmRates *rates)
{
  QmComparedTraining training = { .runs_per_year = runs_per_year };
  QmComparedMeasure days = { .kind = QM_MEASURE_RUN_DAYS };
  QmComparedMeasure cost = { .kind = QM_MEASURE_RUN_COST };

  g_return_if_fail (comparison != NULL && title != NULL && times != NULL);

  training.title = g_strdup (title);
  days.training = cost.training = (int) comparison->trainings->len;
  for (guint i = 0; i < comparison->n_quotes; i++)
    {
      training.times[i] = times[i];
      training.times[i].added_minor =
          added_minor (comparison, &times[i], rates);
      days.values[i] = times[i].days;
      cost.values[i] =
          times[i].days * machine_day (comparison, i, &training.times[i]);
    }
  g_array_append_val (comparison->trainings, training);
  add_measure (comparison, &days);
  add_measure (comparison, &cost);
  add_year (comparison);
}

const QmComparedMeasure *
qm_quote_comparison_measure (const QmQuoteComparison *comparison,
                             QmMeasureKind kind,
                             int training)
{
  g_return_val_if_fail (comparison != NULL, NULL);

  for (guint i = 0; i < comparison->measures->len; i++)
    {
      const QmComparedMeasure *measure =
          &g_array_index (comparison->measures, QmComparedMeasure, i);

      if (measure->kind == kind && measure->training == training)
        return measure;
    }
  return NULL;
}

const char *
qm_measure_name (QmMeasureKind kind)
{
  static const char *const names[QM_N_MEASURES] = {
    "net",      "gross",    "per_gpu",   "per_day",
    "run_days", "run_cost", "year_days", "year_cost",
  };

  g_return_val_if_fail (kind < QM_N_MEASURES, NULL);

  return names[kind];
}

gboolean
qm_measure_is_days (QmMeasureKind kind)
{
  return kind == QM_MEASURE_RUN_DAYS || kind == QM_MEASURE_YEAR_DAYS;
}

char *
qm_compared_title (const QmComparedQuote *compared)
{
  const QmQuote *quote = compared->quote;

  return qm_quote_title (quote->vendor, quote->number, quote->alternative,
                         quote->source);
}
