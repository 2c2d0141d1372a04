/* SPDX-License-Identifier: Apache-2.0 */

/* What a run takes besides its steps is in every time, and once. */

#include "config.h"

#include "answers.h"
#include "pricing/advice/qm-ownership.h"
#include "pricing/advice/qm-prose.h"
#include "tests/pricing/forecasts.h"

#define FACTOR 1.25

static QmCatalog *catalog;

/* One training, or with `runs` a year of them, with GPUs to use, one that
 * nobody measured among them. */
static QmQuestion *
ask (double factor, double runs)
{
  QmQuestion *question = qm_question_new ();

  question->time_factor = factor;
  question->model = g_strdup ("pythia-1b");
  if (runs > 0)
    qm_question_add_run (question, "pythia-1b", runs);
  question->forecasts = qm_forecasts_new ();
  add_forecasts (question->forecasts, catalog, "pythia-1b", "tuned", 200);
  qm_question_add_use (question, "a6000", 4, 2 * QM_MICROS_PER_UNIT, 24);
  qm_question_add_use (question, "l40s", 2, QM_MICROS_PER_UNIT, NAN);
  return question;
}

static void
assert_times (double more, double less, double factor)
{
  if (isnan (less))
    g_assert_true (isnan (more));
  else
    g_assert_cmpfloat_with_epsilon (more, less * factor, 1e-9 * more);
}

/* A cent is the least that a cost can differ by. */
static void
assert_cents (gint64 more, gint64 less, double factor)
{
  g_assert_cmpfloat_with_epsilon ((double) more, (double) less * factor, 1);
}

/* The same candidate at the factor and at 1. */
static void
compare (const QmCandidate *more, const QmCandidate *less)
{
  g_assert_true (more->gpu == less->gpu && more->gpus == less->gpus);
  g_assert_cmpint (more->machines, ==, less->machines);
  assert_times (more->days, less->days, FACTOR);
  assert_times (more->days_low, less->days_low, FACTOR);
  assert_times (more->days_high, less->days_high, FACTOR);
  g_assert_cmpint (more->price_minor, ==, less->price_minor);
  if (more->use != NULL)
    assert_cents (more->cost_minor, less->cost_minor, FACTOR);
  else
    g_assert_cmpint (more->cost_minor, ==, less->cost_minor);
  if (isnan (less->experiment_cost))
    g_assert_true (isnan (more->experiment_cost));
  else
    g_assert_cmpfloat_with_epsilon (more->experiment_cost,
                                    less->experiment_cost * FACTOR, 0.011);
  /* What the hardware reaches in a step has nothing to do with it. */
  g_assert_cmpint (more->verdict, ==, less->verdict);
  if (!isnan (less->implied_utilization))
    g_assert_cmpfloat (more->implied_utilization, ==,
                       less->implied_utilization);
  if (less->measurement != NULL && !isnan (less->days))
    g_assert_cmpfloat (more->measurement->days, ==, less->measurement->days);
}

/* Of one training, or of so many a year: days, their interval, what an hour of
 * rent and of electricity costs. */
static void
check_once (double runs, gboolean owning)
{
  g_autoptr (QmQuestion) question = ask (1, runs);
  g_autoptr (QmQuestion) stretched = ask (FACTOR, runs);
  QmOwnershipSettings settings = qm_ownership_settings_default ();
  g_autoptr (QmAdvice) plain = NULL;
  g_autoptr (QmAdvice) advice = NULL;
  const QmCandidate *less, *more;
  guint n, n_plain, measured = 0, predicted = 0, used = 0;

  settings.parts = QM_OWNERSHIP_ELECTRICITY;
  if (owning)
    {
      qm_question_set_ownership (question, &settings);
      qm_question_set_ownership (stretched, &settings);
    }
  plain = answer (catalog, question);
  advice = answer (catalog, stretched);
  less = qm_advice_candidates (plain, &n_plain);
  more = qm_advice_candidates (advice, &n);
  g_assert_cmpuint (n, ==, n_plain);
  for (guint i = 0; i < n; i++)
    {
      compare (&more[i], &less[i]);
      measured += !less[i].predicted && less[i].cost_minor > 0;
      predicted += less[i].predicted && less[i].cost_minor > 0;
      used += less[i].use != NULL && less[i].cost_minor > 0;
    }
  g_assert_cmpuint (measured, >=, 16);
  g_assert_cmpuint (predicted, >, 16);
  g_assert_cmpuint (used, ==, 2);
}

static void
test_single (void)
{
  check_once (0, FALSE);
}

static void
test_electricity (void)
{
  check_once (0, TRUE);
}

static void
test_portfolio (void)
{
  check_once (0.5, FALSE);
}

/* 16 runs of 22 days fill a machine, and with a tenth more a second one. */
static void
test_machines (void)
{
  g_autoptr (QmQuestion) question = qm_question_new ();
  static const char *const only[] = { "a6000", NULL };
  const int machines[] = { 1, 2 };

  qm_question_add_run (question, "pythia-1b", 16); /* 352 days of 8 A6000 */
  question->gpus = g_strdupv ((GStrv) only);
  question->counts = g_array_new (FALSE, FALSE, sizeof (int));
  g_array_append_vals (question->counts, &(int){ 8 }, 1);
  for (guint i = 0; i < G_N_ELEMENTS (machines); i++)
    {
      g_autoptr (QmAdvice) advice = NULL;
      guint n;

      question->time_factor = i == 0 ? 1 : QM_TIME_FACTOR_DEFAULT;
      advice = answer (catalog, question);
      g_assert_cmpint (qm_advice_candidates (advice, &n)->machines, ==,
                       machines[i]);
      g_assert_cmpuint (n, ==, 1);
    }
}

/* 8 days of steps on 4 H100 are 8.8 of the run. */
static void
test_deadline (void)
{
  g_autoptr (QmQuestion) question = qm_question_new ();
  static const char *const only[] = { "h100-80gb-sxm", NULL };
  g_autoptr (QmAdvice) advice = NULL;

  question->model = g_strdup ("pythia-1b");
  question->gpus = g_strdupv ((GStrv) only);
  question->counts = g_array_new (FALSE, FALSE, sizeof (int));
  g_array_append_vals (question->counts, &(int){ 4 }, 1);
  advice = answer (catalog, question);
  g_assert_cmpint (qm_advice_recommend (advice, -1, 8.9).outcome, ==,
                   QM_OUTCOME_FOUND);
  g_assert_cmpint (qm_advice_recommend (advice, -1, 8.7).outcome, ==,
                   QM_OUTCOME_TOO_LATE);
}

/* A run of 40 days of steps in jobs of a day takes 44 and more jobs. */
static void
test_jobs (void)
{
  g_autoptr (QmQuestion) question = ask (QM_TIME_FACTOR_DEFAULT, 0);
  g_autoptr (QmAdvice) advice = answer (catalog, question);
  guint n;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n);

  for (guint i = 0; i < n; i++)
    if (candidates[i].use != NULL
        && qm_known (candidates[i].use->walltime_hours))
      {
        g_assert_cmpint (qm_candidate_jobs (&candidates[i]), ==, 44);
        return;
      }
  g_assert_not_reached ();
}

static void
test_default (void)
{
  g_autoptr (QmQuestion) question = qm_question_new ();
  g_autoptr (QmAdvice) advice = NULL;
  g_auto (GStrv) notes = NULL;
  g_auto (GStrv) none = NULL;

  g_assert_cmpfloat (question->time_factor, ==, 1.1);
  question->model = g_strdup ("pythia-1b");
  advice = answer (catalog, question);
  notes = qm_prose_notes (advice, question);
  g_assert_cmpstr (notes[0], ==,
                   "Times hold 10\u00a0% for the loading of data, evaluation, "
                   "checkpoints and restarts: they are 1.1 times what the "
                   "steps alone take.");
  qm_question_set_as_in_paper (question);
  g_assert_cmpfloat (question->time_factor, ==, 1);
  none = qm_prose_notes (advice, question);
  g_assert_false (none[0] != NULL && g_str_has_prefix (none[0], "Times hold"));
}

static void
test_limits (void)
{
  const double bad[] = { 0, -1, 0.999, 10.001, NAN, INFINITY, -INFINITY };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (QmQuestion) question = ask (bad[i], 0);
      g_autoptr (GError) error = NULL;

      g_assert_null (qm_advice_new (catalog, question, &error));
      g_assert_error (error, QM_ADVICE_ERROR, QM_ADVICE_ERROR_INVALID);
      g_assert_nonnull (strstr (error->message, "from 1 to 10"));
    }
}

int
main (int argc, char **argv)
{
  QmError problem;
  int failed;

  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (qm_catalog_load (g_getenv ("QM_TEST_DATA_DIR"), NULL,
                                    &catalog, &problem),
                   ==, QM_OK);
  g_test_add_func ("/time-factor/single", test_single);
  g_test_add_func ("/time-factor/electricity", test_electricity);
  g_test_add_func ("/time-factor/portfolio", test_portfolio);
  g_test_add_func ("/time-factor/machines", test_machines);
  g_test_add_func ("/time-factor/deadline", test_deadline);
  g_test_add_func ("/time-factor/jobs", test_jobs);
  g_test_add_func ("/time-factor/default", test_default);
  g_test_add_func ("/time-factor/limits", test_limits);
  failed = g_test_run ();
  qm_catalog_free (catalog);
  return failed;
}
