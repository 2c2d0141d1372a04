/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-prose-private.h"
#include "pricing/advice/qm-prose.h"
#include "pricing/qm-format.h"

#include <glib/gi18n-lib.h>
#include <math.h>

/* Days of a year, as times are written. */
#define YEAR 365.25

/* The smallest time in which a run ends: tenths of a year, or days, where
 * qm_format_days() would round to the nearest.  Years are those of a question,
 * which may be asked with what is said here. */
static char *
life_needed (const QmCandidate *candidate)
{
  double days = candidate->longest_days;

  if (days <= 2 * QM_DAYS_PER_YEAR)
    return qm_format_days (ceil (days - 1e-9));
  return qm_format_days (ceil (days / QM_DAYS_PER_YEAR * 10 - 1e-9) / 10
                         * YEAR);
}

/* "the closest is": how much too slow it is. */
static char *
closest_text (const QmCandidate *closest,
              const QmQuestion *question,
              gboolean within_budget)
{
  double life = question->lifetime_years * QM_DAYS_PER_YEAR;
  g_autofree char *what = qm_prose_candidate (closest);
  g_autofree char *takes = qm_format_days (closest->longest_days);
  g_autofree char *serves = qm_format_days (life);
  g_autofree char *over = qm_format_days (closest->longest_days - life);
  const char *format;

  if (within_budget)
    /* Translators: machine, time of a run, two times. */
    format = _ ("The closest within the budget is %s: a run takes %s, and the "
                "machine is to serve for %s, so that it is %s too long.");
  else
    /* Translators: machine, time of a run, two times. */
    format = _ ("The closest is %s: a run takes %s, and the machine is to "
                "serve for %s, so that it is %s too long.");
  return g_strdup_printf (format, what, takes, serves, over);
}

/* The cheapest one that ends in time, and what is missing for it. */
static char *
money_needed (const QmCandidate *other, const QmQuestion *question)
{
  g_autofree char *what = qm_prose_candidate (other);
  g_autofree char *more = NULL;
  g_autofree char *cost = qm_purse_format (&question->purse, other->cost_minor);
  g_autofree char *days = qm_format_days (other->days);

  more = qm_purse_format (&question->purse,
                          other->cost_minor - question->budget_minor);
  /* Translators: an amount, machine, its cost, training time. */
  return g_strdup_printf (
      _ ("With %s more, %s would do: it costs %s and takes %s."), more, what,
      cost, days);
}

/* The models of which a run does not end in time there, where others do. */
static char *
runs_to_leave (const QmAdvice *advice,
               const QmQuestion *question,
               const QmCandidate *candidate)
{
  double most = qm_advice_get_run_limit (advice);
  g_autoptr (GString) names = g_string_new (NULL);
  gboolean others = FALSE;
  guint n;
  const QmRunTime *runs = qm_advice_runs (advice, candidate, &n);

  for (guint i = 0; i < n && i < question->runs->len; i++)
    if (runs[i].days > most && runs[i].measurement != NULL)
      g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "",
                              runs[i].measurement->model->name);
    else
      others = TRUE;
  return others && names->len > 0
             ? g_string_free (g_steal_pointer (&names), FALSE)
             : NULL;
}

/* How long it would have to serve, or what to do without. */
static char *
life_text (const QmAdvice *advice,
           const QmQuestion *question,
           const QmCandidate *closest,
           gboolean alone)
{
  g_autofree char *years = life_needed (closest);
  g_autofree char *leave = runs_to_leave (advice, question, closest);

  if (leave != NULL)
    return g_strdup_printf (
        alone ? /* Translators: a time, names of models. */
            _ ("It would do if it served for %s, or without the runs of "
               "%s.")
              : /* Translators: a time, names of models. */
            _ ("The closest would do if it served for %s, or without the "
               "runs of %s."),
        years, leave);
  return g_strdup_printf (alone ? /* Translators: a time. */
                              _ ("It would do if it served for %s.")
                                : /* Translators: a time. */
                              _ ("The closest would do if it served for %s."),
                          years);
}

char *
qm_prose_why_outlived (const QmAdvice *advice,
                       const QmQuestion *question,
                       const QmRecommendation *recommendation)
{
  const QmCandidate *closest =
      qm_advice_candidate (advice, recommendation->outlived);
  const QmCandidate *other =
      qm_advice_candidate (advice, recommendation->would_do);
  gboolean dear = recommendation->outcome == QM_OUTCOME_OVER_BUDGET;
  g_autofree char *first = NULL;
  g_autofree char *money = NULL;
  g_autofree char *life = NULL;

  if (recommendation->outcome == QM_OUTCOME_FOUND || closest == NULL)
    return NULL;
  first = closest_text (closest, question, question->budget_minor >= 0);
  if (dear && other != NULL)
    money = money_needed (other, question);
  life = life_text (advice, question, closest, money == NULL);
  return money != NULL ? g_strjoin (" ", first, money, life, NULL)
                       : g_strjoin (" ", first, life, NULL);
}
