/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-candidate-column.h"

#include "pricing/advice/qm-prose.h"
#include "pricing/qm-format.h"

#include <glib/gi18n-lib.h>
#include <string.h>

static const char *const titles[QM_N_COLUMNS] = {
  [QM_COLUMN_MODEL] = N_ ("Model"),
  [QM_COLUMN_GPU] = N_ ("GPU"),
  [QM_COLUMN_GPUS] = N_ ("GPUs"),
  [QM_COLUMN_MACHINE] = N_ ("Machine"),
  [QM_COLUMN_MACHINES] = N_ ("Machines"),
  [QM_COLUMN_COST] = N_ ("Overall cost"),
  [QM_COLUMN_DAYS] = N_ ("Days"),
  [QM_COLUMN_EXPERIMENT] = N_ ("Experiment cost"),
  [QM_COLUMN_UTILIZATION] = N_ ("Utilization"),
  [QM_COLUMN_VERDICT] = N_ ("Verdict"),
  [QM_COLUMN_TIMES_OF] = N_ ("Times of"),
  [QM_COLUMN_SOURCE] = N_ ("Source"),
};

const char *
qm_candidate_column_title (QmCandidateColumn column)
{
  g_return_val_if_fail (column < QM_N_COLUMNS, NULL);

  return _ (titles[column]);
}

const char *
qm_candidate_column_portfolio_title (QmCandidateColumn column)
{
  if (column == QM_COLUMN_DAYS)
    return _ ("Days of all runs");
  if (column == QM_COLUMN_EXPERIMENT)
    return _ ("Cost of a year’s runs");
  return qm_candidate_column_title (column);
}

gboolean
qm_candidate_column_tells_times (const QmAdvice *advice)
{
  const QmCandidate *candidates;
  guint n;

  g_return_val_if_fail (advice != NULL, FALSE);

  candidates = qm_advice_candidates (advice, &n);
  for (guint i = 0; i < n; i++)
    if (candidates[i].measurement != NULL
        && candidates[i].measurement->provenance != QM_PROVENANCE_PUBLISHED)
      return TRUE;
  return FALSE;
}

/* The value that a numeric column shows and sorts by; NaN: unknown. */
static double
number_of (QmCandidateColumn column, const QmCandidate *candidate)
{
  switch (column)
    {
    case QM_COLUMN_GPUS:
      return candidate->gpus;
    case QM_COLUMN_MACHINES:
      return candidate->machines;
    case QM_COLUMN_COST:
      return candidate->cost_minor >= 0 ? (double) candidate->cost_minor / 100
                                        : NAN;
    case QM_COLUMN_DAYS:
      return candidate->days;
    case QM_COLUMN_EXPERIMENT:
      return candidate->experiment_cost;
    case QM_COLUMN_UTILIZATION:
      return candidate->implied_utilization;
    case QM_COLUMN_MODEL:
    case QM_COLUMN_GPU:
    case QM_COLUMN_MACHINE:
    case QM_COLUMN_VERDICT:
    case QM_COLUMN_TIMES_OF:
    case QM_COLUMN_SOURCE:
    case QM_N_COLUMNS:
    default:
      return NAN;
    }
}

gboolean
qm_candidate_column_is_number (QmCandidateColumn column)
{
  return column == QM_COLUMN_GPUS || column == QM_COLUMN_MACHINES
         || column == QM_COLUMN_COST || column == QM_COLUMN_DAYS
         || column == QM_COLUMN_EXPERIMENT || column == QM_COLUMN_UTILIZATION;
}

static char *
format_number_of (QmCandidateColumn column,
                  const QmCandidate *candidate,
                  const QmPurse *purse)
{
  double value = number_of (column, candidate);

  if (!isfinite (value))
    return g_strdup ("–");
  switch (column)
    {
    case QM_COLUMN_COST:
    case QM_COLUMN_EXPERIMENT:
      return qm_purse_format (purse, llround (value * 100));
    case QM_COLUMN_UTILIZATION:
      return qm_format_percent (value);
    case QM_COLUMN_DAYS:
      /* The head says days; what takes less says what it is. */
      return value < 1 ? qm_format_days (value)
                       : qm_format_number (value, value < 10 ? 1 : 0);
    case QM_COLUMN_GPUS:
    case QM_COLUMN_MACHINES:
    case QM_COLUMN_MODEL:
    case QM_COLUMN_GPU:
    case QM_COLUMN_MACHINE:
    case QM_COLUMN_VERDICT:
    case QM_COLUMN_TIMES_OF:
    case QM_COLUMN_SOURCE:
    case QM_N_COLUMNS:
    default:
      return qm_format_number (value, 0);
    }
}

/* Whether no machine carries it, whatever its time is. */
static gboolean
lacks_machine (const QmCandidate *candidate)
{
  return !candidate->here && candidate->carry.problem != QM_CARRY_NONE;
}

/* The name of its machine or, of a whole one, what it is called; NULL where
 * there is none. */
static const char *
machine_of (const QmCandidate *candidate)
{
  if (candidate->use != NULL)
    return _ ("is not to be bought");
  return candidate->here ? _ ("is here already")
                         : qm_candidate_machine_name (candidate);
}

/* Where it is: its machine, or why there is none. */
static char *
machine_text (const QmCandidate *candidate)
{
  const char *name;

  if (lacks_machine (candidate))
    return qm_prose_not_carried (candidate);
  if (qm_candidate_is_whole (candidate))
    return g_strdup (candidate->machine_offer->price.source);
  name = machine_of (candidate);
  return g_strdup (name != NULL ? name : "–");
}

char *
qm_candidate_column_text (QmCandidateColumn column,
                          const char *title,
                          const QmCandidate *candidate,
                          const QmPurse *purse)
{
  g_return_val_if_fail (column < QM_N_COLUMNS && candidate != NULL, NULL);

  if (qm_candidate_column_is_number (column))
    return format_number_of (column, candidate, purse);
  switch (column)
    {
    case QM_COLUMN_MODEL:
      return g_strdup (title);
    case QM_COLUMN_GPU:
      return g_strdup (candidate->gpu->name);
    case QM_COLUMN_MACHINE:
      return machine_text (candidate);
    case QM_COLUMN_VERDICT:
      return g_strdup (qm_prose_verdict_name (candidate->verdict));
    case QM_COLUMN_TIMES_OF:
      return candidate->measurement != NULL ? qm_prose_times_of (candidate)
                                            : g_strdup ("–");
    case QM_COLUMN_SOURCE:
      return candidate->measurement != NULL
                 ? qm_prose_source (candidate->measurement)
                 : g_strdup ("–");
    case QM_COLUMN_GPUS:
    case QM_COLUMN_MACHINES:
    case QM_COLUMN_COST:
    case QM_COLUMN_DAYS:
    case QM_COLUMN_EXPERIMENT:
    case QM_COLUMN_UTILIZATION:
    case QM_N_COLUMNS:
    default:
      return NULL;
    }
}

/* "RTX 3090: $1,300, published, September 2024 (2 years old), source". */
static void
append_price (GString *text, const char *name, const QmPrice *price, QmDate now)
{
  g_autofree char *amount = NULL;
  g_autofree char *date = NULL;

  if (text->len > 0)
    g_string_append_c (text, '\n');
  if (price == NULL)
    {
      /* Translators: name of a GPU or machine. */
      g_string_append_printf (text, _ ("%s: no price known"), name);
      return;
    }
  amount = qm_format_price (price, FALSE);
  date = qm_format_date (price->observed_on);
  if (price->observed_on.year != 0)
    {
      g_autofree char *age = qm_format_age (price->observed_on, now);

      /* Translators: GPU or machine, its price, date of the price, "2 years
       * old", where the price is from. */
      g_string_append_printf (text, _ ("%s: %s, %s (%s), %s"), name, amount,
                              date, age, price->source);
    }
  else
    /* Translators: GPU or machine, its price, "undated", where the price is
     * from. */
    g_string_append_printf (text, _ ("%s: %s, %s, %s"), name, amount, date,
                            price->source);
}

/* Whether GPUs and machine have one price. */
static gboolean
has_one_price (const QmCandidate *candidate)
{
  return qm_candidate_is_whole (candidate)
         || (candidate->platform != NULL
             && *candidate->platform->sold_with != '\0');
}

/* What a cost is made of, and what it may be; why there is none. */
static char *
cost_tooltip (const QmCandidate *candidate, QmDate today)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *interval = qm_prose_cost_interval (candidate, NULL);
  gboolean one = has_one_price (candidate);

  if (candidate->use != NULL)
    return qm_prose_use (candidate->use, candidate->gpu);
  if (candidate->here)
    return NULL;
  if (lacks_machine (candidate))
    return qm_prose_not_carried (candidate);
  if (!one)
    append_price (text, candidate->gpu->name, candidate->gpu_price, today);
  /* That of the machine was not looked up where the GPU has none. */
  if (machine_of (candidate) != NULL && (one || candidate->gpu_price != NULL))
    append_price (text, machine_of (candidate), candidate->machine_price,
                  today);
  if (candidate->memory_price != NULL)
    append_price (text, _ ("A GiB of memory"), candidate->memory_price, today);
  if (interval != NULL)
    g_string_append_printf (text, "\n%s", interval);
  return g_strdup (text->str);
}

/* Where a time is from, and why it does not count. */
static char *
times_of_tooltip (const QmCandidate *candidate)
{
  g_autofree char *source = qm_prose_source (candidate->measurement);

  if (candidate->superseded)
    return g_strdup_printf ("%s\n%s", source,
                            _ ("A measured time takes its place"));
  return g_steal_pointer (&source);
}

/* The interval of a time that is predicted, and what GPUs exchange through. */
static char *
days_tooltip (const QmCandidate *candidate)
{
  g_autofree char *interval = qm_prose_interval (candidate);
  g_autofree char *link = qm_prose_link (candidate);

  if (interval == NULL || link == NULL)
    return g_strdup (interval != NULL ? interval : link);
  return g_strdup_printf ("%s\n%s", interval, link);
}

char *
qm_candidate_column_tooltip (QmCandidateColumn column,
                             const QmCandidate *candidate,
                             QmDate today)
{
  g_return_val_if_fail (column < QM_N_COLUMNS && candidate != NULL, NULL);

  if (column == QM_COLUMN_COST || column == QM_COLUMN_EXPERIMENT)
    return cost_tooltip (candidate, today);
  if (column == QM_COLUMN_VERDICT && candidate->verdict == QM_VERDICT_POSSIBLE)
    return g_strdup (_ ("Nothing is predicted there: the cards’ peak alone was "
                        "held against it"));
  if (column == QM_COLUMN_VERDICT || column == QM_COLUMN_UTILIZATION)
    return qm_prose_verdict (candidate);
  if (candidate->measurement == NULL)
    return NULL;
  if (column == QM_COLUMN_DAYS)
    return days_tooltip (candidate);
  if (column == QM_COLUMN_TIMES_OF)
    return times_of_tooltip (candidate);
  return NULL;
}

static int
compare_numbers (double a, double b, gboolean descending)
{
  gboolean known_a = isfinite (a);
  gboolean known_b = isfinite (b);
  int order;

  if (!known_a || !known_b)
    return known_b - known_a;
  order = (a > b) - (a < b);
  return descending ? -order : order;
}

static int
compare_names (const char *a, const char *b, gboolean descending)
{
  int order;

  if (a == NULL || b == NULL)
    return (b != NULL) - (a != NULL);
  order = a == b ? 0 : g_utf8_collate (a, b);
  return descending ? -order : order;
}

static const char *
source_of (const QmCandidate *candidate)
{
  return candidate->measurement != NULL ? candidate->measurement->source : NULL;
}

int
qm_candidate_column_compare (QmCandidateColumn column,
                             const QmCandidate *a,
                             const QmCandidate *b,
                             gboolean descending)
{
  g_return_val_if_fail (column < QM_N_COLUMNS, 0);
  g_return_val_if_fail (a != NULL && b != NULL, 0);

  if (qm_candidate_column_is_number (column))
    return compare_numbers (number_of (column, a), number_of (column, b),
                            descending);
  switch (column)
    {
    case QM_COLUMN_GPU:
      return compare_names (a->gpu->name, b->gpu->name, descending);
    case QM_COLUMN_MACHINE:
      return compare_names (machine_of (a), machine_of (b), descending);
    case QM_COLUMN_VERDICT:
      return compare_numbers (
          a->verdict == QM_VERDICT_UNKNOWN ? NAN : a->verdict,
          b->verdict == QM_VERDICT_UNKNOWN ? NAN : b->verdict, descending);
    case QM_COLUMN_TIMES_OF:
      {
        g_autofree char *p = qm_prose_times_of (a);
        g_autofree char *q = qm_prose_times_of (b);

        return compare_names (p, q, descending);
      }
    case QM_COLUMN_SOURCE:
      return compare_names (source_of (a), source_of (b), descending);
    case QM_COLUMN_MODEL:
    case QM_COLUMN_GPUS:
    case QM_COLUMN_MACHINES:
    case QM_COLUMN_COST:
    case QM_COLUMN_DAYS:
    case QM_COLUMN_EXPERIMENT:
    case QM_COLUMN_UTILIZATION:
    case QM_N_COLUMNS:
    default:
      return 0;
    }
}
