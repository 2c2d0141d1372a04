/* SPDX-License-Identifier: Apache-2.0 */

/* Several models a year with a deadline for a run and one for the year's work,
 * in the user's money: machines, how busy they are, the matrix of runs by
 * machines.  Figures from the catalog's round times: on 8 x RTX A6000 a run of
 * pythia-1b takes 22 days and one of vit-large 16, on 4 of them 40 and 31. */

#include "answers.h"
#include "pricing/advice/qm-advice.h"
#include "pricing/advice/qm-odds.h"
#include "pricing/advice/qm-prose-plan.h"
#include "pricing/advice/qm-prose.h"
#include "tests/pricing/forecasts.h"

#include <string.h>

static QmCatalog *catalog;

/* A euro is worth 1.25 USD, then 1.2 of them. */
static QmRates *
rates_new (void)
{
  const QmRate rates[] = { { "USD", { 2026, 3, 2 }, 1250000000 },
                           { "USD", { 2026, 3, 3 }, 1200000000 },
                           { "JPY", { 2026, 3, 3 }, 180 * QM_RATE_NANOS } };
  g_autoptr (GError) error = NULL;
  QmRates *table = qm_rates_new (rates, G_N_ELEMENTS (rates), &error);

  g_assert_no_error (error);
  return table;
}

static QmQuestion *
ask (void)
{
  QmQuestion *question = qm_question_new ();

  question->time_factor = 1;
  question->room_watts = INFINITY;
  qm_question_add_run (question, "pythia-1b", 3);
  qm_question_add_run (question, "vit-large", 10);
  return question;
}

/* More machines only where they are in time by it. */
static void
test_deadline_of_the_year (void)
{
  static const struct
  {
    double deadline;
    int machines;
    double days;
  } cases[] = {
    { NAN, 1, 226 },      { 400, 1, 226 }, { 226, 1, 226 }, { 225, 2, 113 },
    { 60, 4, 226.0 / 4 }, { 22, 11, 22 },  { 21, 1, 226 }, /* a run of pythia-1b
                                                              is longer */
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (QmQuestion) question = ask ();
      g_autoptr (QmAdvice) advice = NULL;
      const QmCandidate *candidate;

      question->deadline_days = cases[i].deadline;
      advice = answer (catalog, question);
      candidate = find_candidate (advice, "a6000", 8);
      g_assert_cmpint (candidate->machines, ==, cases[i].machines);
      g_assert_cmpfloat_with_epsilon (candidate->days, cases[i].days, 1e-9);
      g_assert_cmpfloat (candidate->machine_days, ==, 226);
      g_assert_cmpfloat_with_epsilon (candidate->busy,
                                      226.0 / 365 / cases[i].machines, 1e-12);
      g_assert_cmpint (candidate->cost_minor, ==,
                       cases[i].machines * G_GINT64_CONSTANT (4890000));
    }
}

/* That of a run is another limit, whatever all of them take. */
static void
test_deadline_of_a_run (void)
{
  g_autoptr (QmQuestion) question = ask ();
  g_autoptr (QmAdvice) advice = NULL;
  const QmCandidate *slow, *fast;
  QmRecommendation found;

  question->run_deadline_days = 30;
  advice = answer (catalog, question);
  slow = find_candidate (advice, "a6000", 4);
  fast = find_candidate (advice, "a6000", 8);
  g_assert_cmpfloat (slow->longest_days, ==, 40);
  g_assert_cmpfloat (fast->longest_days, ==, 22);
  g_assert_true (slow->late);
  g_assert_false (fast->late);
  g_assert_true (qm_candidate_within (fast, -1, NAN));
  g_assert_false (qm_candidate_within (slow, -1, NAN));
  /* The year's work of the slower one is done sooner, since it is two. */
  g_assert_cmpfloat (slow->days, <, fast->days);

  qm_advice_set_run_deadline (advice, 40);
  g_assert_false (slow->late);
  qm_advice_set_run_deadline (advice, NAN);
  g_assert_false (slow->late);

  /* What nobody is in time with: the one that is soonest back with a run. */
  qm_advice_set_run_deadline (advice, 0.5);
  found = qm_advice_recommend (advice, -1, NAN);
  g_assert_cmpint (found.outcome, ==, QM_OUTCOME_TOO_LATE);
  g_assert_cmpint (found.best, ==, -1);
  g_assert_cmpstr (
      qm_advice_candidates (advice, &(guint){ 0 })[found.would_do].gpu->id, ==,
      "h100-80gb-sxm");
}

/* Nor may a run take longer than its machine is to serve; without a deadline,
 * and with one that is longer. */
static void
test_life_of_a_machine (void)
{
  g_autoptr (QmQuestion) question = ask ();
  g_autoptr (QmAdvice) advice = NULL;
  const QmCandidate *slow, *fast;

  question->lifetime_years = 30.0 / 365;
  advice = answer (catalog, question);
  slow = find_candidate (advice, "a6000", 4);
  fast = find_candidate (advice, "a6000", 8);
  g_assert_true (slow->late && slow->outlived);
  g_assert_false (fast->late || fast->outlived);
  g_assert_cmpfloat_with_epsilon (qm_advice_get_run_limit (advice), 30, 1e-9);
  qm_advice_set_run_deadline (advice, 100);
  g_assert_true (slow->late && slow->outlived);
  qm_advice_set_run_deadline (advice, 20);
  g_assert_true (fast->late);
  g_assert_false (fast->outlived);
  g_assert_cmpfloat (qm_advice_get_run_limit (advice), ==, 20);
}

/* Which runs could be left out, so that the others end in time. */
static void
test_runs_to_leave (void)
{
  g_autoptr (QmQuestion) question = ask ();
  g_autoptr (QmAdvice) advice = NULL;
  g_autofree char *why = NULL;
  QmRecommendation found;
  static const char *const only[] = { "a6000", NULL };

  g_strfreev (question->gpus);
  question->gpus = g_strdupv ((char **) only);
  question->lifetime_years = 20.0 / 365;
  advice = answer (catalog, question);
  found = qm_advice_recommend (advice, -1, NAN);
  g_assert_cmpint (found.outcome, ==, QM_OUTCOME_TOO_LATE);
  why = qm_prose_why (advice, question, &found);
  g_assert_nonnull (strstr (
      why, "a run takes 22 days, and the machine is to serve for 20 days"));
  g_assert_nonnull (strstr (why, "or without the runs of "));
}

/* The recommendation is as fast as any that is in time with a run. */
static void
test_recommendation (void)
{
  g_autoptr (QmQuestion) question = ask ();
  g_autoptr (QmAdvice) advice = answer (catalog, question);
  const QmCandidate *candidates;
  guint n, recommended = 0;

  candidates = qm_advice_candidates (advice, &n);
  for (int limit = 4; limit <= 80; limit += 4)
    for (gint64 budget = 2000000; budget <= 40000000; budget += 2000000)
      {
        QmRecommendation found;

        qm_advice_set_run_deadline (advice, limit);
        found = qm_advice_recommend (advice, budget, NAN);
        for (guint i = 0; i < n; i++)
          if (candidates[i].eligible && candidates[i].cost_minor <= budget
              && candidates[i].longest_days <= limit)
            {
              g_assert_cmpint (found.outcome, ==, QM_OUTCOME_FOUND);
              g_assert_cmpfloat (candidates[found.best].days, <=,
                                 candidates[i].days
                                     * (1 + QM_SLACK_DEFAULT / 100));
            }
        if (found.best < 0)
          continue;
        recommended++;
        g_assert_cmpfloat (candidates[found.best].longest_days, <=, limit);
        g_assert_cmpint (candidates[found.best].cost_minor, <=, budget);
      }
  g_assert_cmpuint (recommended, >, 50);
}

/* What each run takes is what it takes alone, on every machine. */
static void
test_matrix (void)
{
  static const char *const models[] = { "pythia-1b", "vit-large" };
  g_autoptr (QmQuestion) question = ask ();
  g_autoptr (QmAdvice) advice = answer (catalog, question);
  guint n, n_runs;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n);

  g_assert_cmpuint (n, ==, 16);
  for (guint m = 0; m < G_N_ELEMENTS (models); m++)
    {
      g_autoptr (QmQuestion) single = qm_question_new ();
      g_autoptr (QmAdvice) alone = NULL;

      single->time_factor = 1;
      single->model = g_strdup (models[m]);
      alone = answer (catalog, single);
      for (guint i = 0; i < n; i++)
        {
          const QmRunTime *runs =
              qm_advice_runs (advice, &candidates[i], &n_runs);
          const QmCandidate *one =
              find_candidate (alone, candidates[i].gpu->id, candidates[i].gpus);

          g_assert_cmpuint (n_runs, ==, 2);
          g_assert_cmpfloat (runs[m].days, ==, one->days);
          g_assert_true (runs[m].measurement == one->measurement);
          g_assert_cmpint (runs[m].verdict, ==, one->verdict);
          g_assert_cmpfloat (one->longest_days, ==, one->days);
          g_assert_null (qm_advice_runs (alone, one, &n_runs));
          g_assert_cmpuint (n_runs, ==, 0);
        }
    }
}

/* One that does not fit is told apart from one of which nothing is known. */
static void
test_matrix_gaps (void)
{
  g_autoptr (QmQuestion) question = qm_question_new ();
  g_autoptr (QmAdvice) advice = NULL;
  const QmCandidate *candidate;
  const QmRunTime *runs;
  guint n;

  question->forecasts = qm_forecasts_new ();
  question->predictions = QM_PREDICTIONS_ALL;
  add_forecast (question->forecasts, "pythia-1b", "tuned", "rtx4090", 4, 20);
  add_forecast (question->forecasts, "pythia-6.9b", "tuned", "rtx4090", 4, -1);
  qm_question_add_run (question, "pythia-1b", 1);
  qm_question_add_run (question, "pythia-6.9b", 1);
  qm_question_add_run (question, "roberta-large", 1);
  advice = answer (catalog, question);
  candidate = find_candidate (advice, "rtx4090", 4);
  runs = qm_advice_runs (advice, candidate, &n);
  g_assert_cmpuint (n, ==, 3);
  g_assert_cmpfloat_with_epsilon (runs[0].days, 22, 1e-9);
  g_assert_cmpfloat_with_epsilon (runs[0].days_low, 0.8 * 22, 1e-9);
  g_assert_true (runs[0].predicted);
  g_assert_cmpint (runs[1].verdict, ==, QM_VERDICT_INFEASIBLE);
  g_assert_false (qm_known (runs[1].days));
  g_assert_null (runs[2].measurement);
  for (guint i = 0; i < n; i++)
    {
      static const char *const words[] = { "22 days", "does not fit",
                                           "no time known" };
      g_autofree char *days = qm_prose_run_days (&runs[i]);

      g_assert_cmpstr (days, ==, words[i]);
    }
  g_assert_false (qm_known (candidate->busy));
  g_assert_false (candidate->eligible);
}

/* 60,000 EUR with 19 % tax are 50,420.17 EUR without, at 1.2 USD for a euro
 * 60,504.20 USD. */
static void
test_purse (void)
{
  g_autoptr (QmRates) rates = rates_new ();
  g_autoptr (GError) error = NULL;
  QmPurse purse = qm_purse_default ();
  g_autofree char *text = NULL;

  g_assert_true (qm_purse_is_plain (&purse));
  g_assert_cmpint (qm_purse_to_usd (&purse, 6000001), ==, 6000001);
  g_assert_cmpint (qm_purse_to_usd (&purse, -1), ==, -1);
  g_assert_true (qm_purse_set_currency (&purse, "EUR", rates,
                                        (QmDate){ 2026, 3, 4 }, &error));
  g_assert_no_error (error);
  g_assert_cmpint (purse.rate.date.day, ==, 3);
  g_assert_cmpint (qm_purse_to_usd (&purse, 6000000), ==, 7200000);
  purse.tax_percent = 19;
  g_assert_cmpint (qm_purse_to_usd (&purse, 6000000), ==, 7200000);
  purse.gross = TRUE;
  g_assert_false (qm_purse_is_plain (&purse));
  g_assert_cmpint (qm_purse_to_usd (&purse, 6000000), ==, 6050420);
  g_assert_cmpfloat_with_epsilon (qm_purse_from_usd (&purse, 6050420, TRUE),
                                  59999.998, 1e-3);
  g_assert_cmpfloat_with_epsilon (qm_purse_from_usd (&purse, 6050420, FALSE),
                                  50420.17, 1e-2);
  text = qm_purse_format (&purse, 6050420);
  g_assert_cmpstr (text, ==, "€60,000");

  /* A currency without a minor unit, and none. */
  g_assert_true (qm_purse_set_currency (&purse, "JPY", rates,
                                        (QmDate){ 2026, 3, 3 }, NULL));
  purse.gross = FALSE;
  g_assert_cmpint (qm_purse_to_usd (&purse, 1500000), ==, 1000000);
  g_assert_false (qm_purse_set_currency (&purse, "XYZ", rates,
                                         (QmDate){ 2026, 3, 3 }, &error));
  g_assert_nonnull (error);
  g_assert_cmpstr (purse.currency, ==, "JPY");
}

/* What is told to cost an amount is within it, and no minor unit less. */
static void
test_purse_back (void)
{
  g_autoptr (QmRates) rates = rates_new ();
  QmPurse purse = qm_purse_default ();

  qm_purse_set_currency (&purse, "EUR", rates, (QmDate){ 2026, 3, 3 }, NULL);
  purse.tax_percent = 19;
  for (int i = 0; i < 2000; i++)
    {
      gint64 usd = g_random_int_range (1000, G_MAXINT32);
      double amount;
      gint64 minor;

      purse.gross = i % 2 != 0;
      amount = qm_purse_from_usd (&purse, usd, purse.gross) * 100;
      minor = llround (amount);
      /* Halfway between two minor units either may be told. */
      if (fabs (fabs (amount - (double) minor) - 0.5) < 1e-4)
        continue;
      g_assert_cmpint (ABS (qm_purse_to_usd (&purse, minor) - usd), <=, 1);
      g_assert_cmpint (qm_purse_to_usd (&purse, minor), >=, usd);
      g_assert_cmpint (qm_purse_to_usd (&purse, minor - 1), <, usd);
      purse.machine_least = purse.machine_most = minor;
      g_assert_true (qm_purse_funds (&purse, usd));
      purse.machine_least = minor + 1;
      g_assert_false (qm_purse_funds (&purse, usd));
      purse.machine_least = -1;
      purse.machine_most = minor - 1;
      g_assert_false (qm_purse_funds (&purse, usd));
    }
}

static void
test_funding (void)
{
  g_autoptr (QmQuestion) question = ask ();
  g_autoptr (QmAdvice) advice = NULL;
  QmPurse purse = qm_purse_default ();
  const QmCandidate *candidates;
  guint n, paid = 0, unpaid = 0;

  purse.budget_minor = 20000000;
  purse.machine_least = 3000000;
  purse.machine_most = 10000000;
  qm_question_take_purse (question, &purse);
  g_assert_cmpint (question->budget_minor, ==, 20000000);
  advice = answer (catalog, question);
  candidates = qm_advice_candidates (advice, &n);
  for (guint i = 0; i < n; i++)
    {
      gint64 one = candidates[i].price_minor / candidates[i].machines;
      gboolean funded = one >= 3000000 && one <= 10000000;

      g_assert_cmpint (candidates[i].unfunded, ==, !funded);
      if (funded)
        paid++;
      else
        unpaid++;
      if (!funded)
        {
          g_assert_false (candidates[i].eligible);
          g_assert_false (qm_candidate_within (&candidates[i], -1, NAN));
        }
    }
  g_assert_cmpuint (paid, >, 2);
  g_assert_cmpuint (unpaid, >, 2);
}

/* "…" of a plan, in one text. */
static char *
plan_of (const QmQuestion *question, const char *gpu, int gpus)
{
  g_autoptr (QmAdvice) advice = answer (catalog, question);
  g_auto (GStrv) plan =
      qm_prose_plan (advice, question, find_candidate (advice, gpu, gpus));

  return g_strjoinv ("\n", plan);
}

static void
test_plan (void)
{
  g_autoptr (QmQuestion) question = ask ();
  g_autoptr (QmRates) rates = rates_new ();
  QmPurse purse = qm_purse_default ();
  g_autofree char *one = NULL;
  g_autofree char *two = NULL;
  g_autofree char *three = NULL;
  g_autofree char *four = NULL;

  purse.budget_minor = 6000000;
  purse.tax_percent = 19;
  purse.gross = TRUE;
  qm_purse_set_currency (&purse, "EUR", rates, (QmDate){ 2026, 3, 3 }, NULL);
  qm_question_take_purse (question, &purse);
  question->run_deadline_days = 42;
  one = plan_of (question, "a6000", 8);
  /* 226 of 365 days; 48,900 USD / 1.2 and 19 % more, of 60,000. */
  g_assert_nonnull (strstr (one, "One machine does a year’s runs: it trains "
                                 "62\u00a0% of the year."));
  g_assert_nonnull (strstr (one, "Pythia (1B): 22 days a run ("));
  g_assert_nonnull (strstr (one, "), 3 runs a year."));
  g_assert_nonnull (strstr (one, "is back 22 days after it began; 42 days "));
  g_assert_nonnull (strstr (
      one, "It costs €40,750 without tax and €48,492 with tax of 19\u00a0%."));
  g_assert_nonnull (strstr (one, "€11,507 of the budget are left."));
  g_assert_null (strstr (one, "Shared out"));

  two = plan_of (question, "a6000", 4);
  /* 430 machine days; the last ends after 215 + 40 / 2. */
  g_assert_nonnull (strstr (two,
                            "2 machines do a year’s runs: they train 59\u00a0% "
                            "of the year."));
  g_assert_nonnull (strstr (two, "One alone would take 430 days for them."));
  g_assert_nonnull (strstr (two, "take 215 days; begun one after the other"));
  g_assert_nonnull (strstr (two, "after 235 days at most."));
  g_assert_nonnull (strstr (two, "are left."));

  /* Of half a run a year there is one in some years: 120 + 31 machine days,
     which end after 75.5 + 40 / 2; never before the longest run does. */
  g_array_index (question->runs, QmRun, 1).runs_per_year = 0.5;
  question->at_once = 2;
  four = plan_of (question, "a6000", 4);
  g_assert_nonnull (strstr (four, "after 96 days at most."));
  g_array_index (question->runs, QmRun, 1).runs_per_year = 10;
  question->at_once = 1;

  qm_question_add_run (question, "pythia-160m", 1);
  three = plan_of (question, "a6000", 8);
  g_assert_nonnull (strstr (three, "), 3 runs a year."));
  g_assert_nonnull (strstr (three, "), 1 run a year."));
}

int
main (int argc, char **argv)
{
  QmError error;
  int result;

  g_test_init (&argc, &argv, NULL);
  if (qm_catalog_load (g_getenv ("QM_TEST_DATA_DIR"), NULL, &catalog, &error)
      != QM_OK)
    g_error ("%s", error.message);
  g_test_add_func ("/question/deadline-of-the-year", test_deadline_of_the_year);
  g_test_add_func ("/question/deadline-of-a-run", test_deadline_of_a_run);
  g_test_add_func ("/question/life-of-a-machine", test_life_of_a_machine);
  g_test_add_func ("/question/runs-to-leave", test_runs_to_leave);
  g_test_add_func ("/question/recommendation", test_recommendation);
  g_test_add_func ("/question/matrix", test_matrix);
  g_test_add_func ("/question/matrix-gaps", test_matrix_gaps);
  g_test_add_func ("/question/purse", test_purse);
  g_test_add_func ("/question/purse-back", test_purse_back);
  g_test_add_func ("/question/funding", test_funding);
  g_test_add_func ("/question/plan", test_plan);
  result = g_test_run ();
  qm_catalog_free (catalog);
  return result;
}
