/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-prose-plan.h"

#include "pricing/advice/qm-prose-private.h"
#include "pricing/qm-format.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

/* How many machines, and how busy they are. */
static char *
machines_text (const QmCandidate *candidate)
{
  g_autofree char *busy = qm_format_percent (candidate->busy);

  if (candidate->machines == 1 && candidate->busy > 1)
    return NULL;
  if (candidate->machines == 1)
    /* Translators: a share. */
    return g_strdup_printf (
        _ ("One machine does a year’s runs: it trains %s of the year."), busy);
  /* Translators: a number of machines, more than 1, a share. */
  return g_strdup_printf (
      ngettext ("%d machine does a year’s runs: it trains %s of the year.",
                "%d machines do a year’s runs: they train %s of the year.",
                (gulong) candidate->machines),
      candidate->machines, busy);
}

/* Why one machine is not enough. */
static char *
several_text (const QmCandidate *candidate, const QmQuestion *question)
{
  g_autofree char *alone = NULL;
  g_autofree char *deadline = NULL;

  if (candidate->machines == 1)
    return NULL;
  if (candidate->machines == question->at_once)
    return g_strdup (_ ("So many are asked for, to train side by side."));
  alone = qm_format_days (candidate->machine_days);
  if (candidate->machine_days > QM_DAYS_PER_YEAR)
    /* Translators: a time of more than a year. */
    return g_strdup_printf (_ ("One alone would take %s for them."), alone);
  deadline = qm_format_days (question->deadline_days);
  /* Translators: two times. */
  return g_strdup_printf (_ ("One alone would take %s, which is more than %s."),
                          alone, deadline);
}

char *
qm_prose_run_days (const QmRunTime *run)
{
  g_return_val_if_fail (run != NULL, NULL);

  if (qm_known (run->days))
    return qm_format_days (run->days);
  if (run->verdict == QM_VERDICT_INFEASIBLE)
    return g_strdup (_ ("does not fit"));
  return g_strdup (_ ("no time known"));
}

/* "Pythia (1B): 12 days a run (PyTorch, predicted: 9 to 15 days), 5 runs a
 * year". */
static char *
run_text (const QmRun *asked, const QmRunTime *run)
{
  g_autofree char *days = qm_prose_run_days (run);
  g_autofree char *whose = qm_prose_run_times_of (run);
  g_autofree char *runs = qm_format_number (asked->runs_per_year, 2);
  g_autofree char *range = NULL;
  gulong plural = (gulong) ceil (asked->runs_per_year);
  const char *format;

  if (run->measurement == NULL || whose == NULL || !qm_known (run->days))
    return NULL;
  if (!run->predicted)
    {
      /* Translators: model, time, whose time, a number. */
      format = ngettext ("%s: %s a run (%s), %s run a year.",
                         "%s: %s a run (%s), %s runs a year.", plural);
      return g_strdup_printf (format, run->measurement->model->name, days,
                              whose, runs);
    }
  range = qm_format_days_range (run->days, run->days_low, run->days_high);
  /* Translators: model, time, whose time, its interval, a number. */
  format = ngettext ("%s: %s a run (%s: %s), %s run a year.",
                     "%s: %s a run (%s: %s), %s runs a year.", plural);
  return g_strdup_printf (format, run->measurement->model->name, days, whose,
                          range, runs);
}

/* Whether the longest run is back in time. */
static char *
longest_text (const QmCandidate *candidate, const QmQuestion *question)
{
  g_autofree char *longest = NULL;
  g_autofree char *limit = NULL;

  if (!qm_known (question->run_deadline_days)
      || !qm_known (candidate->longest_days))
    return NULL;
  longest = qm_format_days (candidate->longest_days);
  limit = qm_format_days (question->run_deadline_days);
  if (candidate->longest_days > question->run_deadline_days)
    /* Translators: two times. */
    return g_strdup_printf (
        _ ("The longest run takes %s, and may take %s at most."), longest,
        limit);
  /* Translators: two times. */
  return g_strdup_printf (_ ("The longest run is back %s after it began; %s "
                             "are allowed. A run that is asked for while the "
                             "machines train waits before that."),
                          longest, limit);
}

/* Runs are not shared between machines, so that these may not end together: no
 * order of them takes longer than that (R. L. Graham, Bounds for certain
 * multiprocessing anomalies, 1966).  It holds for whole runs: of one in three
 * years there is either none in a year or one. */
static char *
uneven_text (const QmCandidate *candidate,
             const GArray *asked,
             const QmRunTime *runs)
{
  double machines = candidate->machines;
  double last = (1 - 1 / machines) * candidate->longest_days;
  g_autofree char *even = NULL;
  g_autofree char *text = NULL;

  for (guint i = 0; i < asked->len; i++)
    last += ceil (g_array_index (asked, QmRun, i).runs_per_year) * runs[i].days
            / machines;
  if (candidate->machines == 1 || !qm_known (last))
    return NULL;
  even = qm_format_days (candidate->days);
  text = qm_format_days (last);
  /* Translators: two times. */
  return g_strdup_printf (
      _ ("Shared out evenly the runs take %s; begun one after the other, as "
         "machines become free, the last is back after %s at most."),
      even, text);
}

char *
qm_prose_warn_about_lifetime (const QmCandidate *candidate,
                              const QmQuestion *question)
{
  double life = question->lifetime_years * QM_DAYS_PER_YEAR;
  g_autofree char *takes = NULL;
  g_autofree char *serves = NULL;

  if (candidate->here || candidate->outlived
      || !qm_known (candidate->longest_days) || candidate->longest_days <= life)
    return NULL;
  takes = qm_format_days (candidate->longest_days);
  serves = qm_format_days (life);
  if (strcmp (takes, serves) == 0)
    return NULL;
  /* Translators: two times. */
  return g_strdup_printf (
      _ ("A run takes %s, but the machine is to serve for %s: it would not end "
         "in that time. A deadline leaves such machines out."),
      takes, serves);
}

/* What is left of the budget, or missing. */
static char *
left_text (const QmCandidate *candidate, const QmQuestion *question)
{
  gint64 left = question->budget_minor - candidate->cost_minor;
  g_autofree char *amount = NULL;

  if (question->budget_minor < 0)
    return NULL;
  amount = qm_purse_format (&question->purse, left < 0 ? -left : left);
  /* Translators: an amount. */
  return left < 0
             ? g_strdup_printf (_ ("%s are missing in the budget."), amount)
             : g_strdup_printf (_ ("%s of the budget are left."), amount);
}

/* Net and gross, in the user's currency. */
static char *
money_text (const QmCandidate *candidate, const QmPurse *purse)
{
  g_autofree char *net = NULL;
  g_autofree char *gross = NULL;
  g_autofree char *tax = NULL;

  if (candidate->cost_minor < 0 || qm_purse_is_plain (purse))
    return NULL;
  net =
      qm_format_money (qm_purse_from_usd (purse, candidate->cost_minor, FALSE),
                       purse->currency, FALSE);
  if (purse->tax_percent == 0)
    /* Translators: an amount. */
    return g_strdup_printf (_ ("It costs %s without tax."), net);
  gross =
      qm_format_money (qm_purse_from_usd (purse, candidate->cost_minor, TRUE),
                       purse->currency, FALSE);
  tax = qm_format_percentage (purse->tax_percent, 2);
  /* Translators: two amounts, a percentage. */
  return g_strdup_printf (_ ("It costs %s without tax and %s with tax of %s."),
                          net, gross, tax);
}

GStrv
qm_prose_plan (const QmAdvice *advice,
               const QmQuestion *question,
               const QmCandidate *candidate)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  const QmRunTime *runs;
  guint n;

  g_return_val_if_fail (advice != NULL && question != NULL, NULL);
  g_return_val_if_fail (candidate != NULL, NULL);

  runs = qm_advice_runs (advice, candidate, &n);
  if (n > 0 && qm_known (candidate->busy))
    {
      qm_prose_add (builder, machines_text (candidate));
      qm_prose_add (builder, several_text (candidate, question));
      for (guint i = 0; i < n; i++)
        qm_prose_add (builder,
                      run_text (&g_array_index (question->runs, QmRun, i),
                                &runs[i]));
      qm_prose_add (builder, longest_text (candidate, question));
      qm_prose_add (builder, uneven_text (candidate, question->runs, runs));
    }
  qm_prose_add (builder, money_text (candidate, &question->purse));
  if (candidate->cost_minor >= 0
      && (n > 0 || !qm_purse_is_plain (&question->purse)))
    qm_prose_add (builder, left_text (candidate, question));
  return g_strv_builder_end (builder);
}

char *
qm_prose_purse (const QmPurse *purse)
{
  g_autofree char *tax = NULL;
  g_autofree char *basis = NULL;
  g_autofree char *rate = NULL;
  g_autofree char *day = NULL;

  g_return_val_if_fail (purse != NULL, NULL);

  if (qm_purse_is_plain (purse))
    return NULL;
  tax = qm_format_percentage (purse->tax_percent, 2);
  basis = purse->gross
              /* Translators: a currency, a percentage. */
              ? g_strdup_printf (_ ("%s with tax of %s"), purse->currency, tax)
              /* Translators: a currency. */
              : g_strdup_printf (_ ("%s without tax"), purse->currency);
  if (strcmp (purse->currency, "USD") == 0)
    /* Translators: "EUR with tax of 19 %". */
    return g_strdup_printf (_ ("Budget and costs are in %s."), basis);
  rate = qm_cross_rate_text (&purse->rate);
  day = qm_format_date (purse->rate.date);
  if (purse->rate.stale)
    /* Translators: "EUR with tax of 19 %", a number, a currency, a date. */
    return g_strdup_printf (_ ("Budget and costs are in %s: a USD was %s %s by "
                               "the reference rate of %s, which is old: renew "
                               "the exchange rates."),
                            basis, rate, purse->currency, day);
  /* Translators: "EUR with tax of 19 %", a number, a currency, a date. */
  return g_strdup_printf (_ ("Budget and costs are in %s: a USD was %s %s by "
                             "the European Central Bank’s reference rate of "
                             "%s."),
                          basis, rate, purse->currency, day);
}
