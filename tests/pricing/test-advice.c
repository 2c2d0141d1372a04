/* SPDX-License-Identifier: Apache-2.0 */

/* The advice on the shipped catalog against the figures of "$100K or 100 Days"
 * (arXiv 2410.23261) and against sums done here from first principles. */

#include "answers.h"
#include "pricing/advice/qm-advice.h"
#include "pricing/advice/qm-prose.h"
#include "tests/pricing/forecasts.h"

#include <glib/gstdio.h>
#include <string.h>

static QmCatalog *catalog;

static const QmCandidate *
find (const QmAdvice *advice, const char *gpu, int gpus, int *index)
{
  guint n;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n);

  for (guint i = 0; i < n; i++)
    if (strcmp (candidates[i].gpu->id, gpu) == 0 && candidates[i].gpus == gpus)
      {
        if (index != NULL)
          *index = (int) i;
        return &candidates[i];
      }
  g_assert_not_reached ();
}

/* Prices of section 4.1, days of table 1. */
static const struct
{
  const char *gpu;
  int price;
  int days[4];
} published[] = {
  { "rtx3090", 1300, { 370, 109, 77, 30 } },
  { "a6000", 4800, { 152, 72, 40, 22 } },
  { "a100-80gb-sxm", 19000, { 72, 36, 18, 9 } },
  { "h100-80gb-sxm", 30000, { 34, 16, 8, 4 } },
};
static const int counts[] = { 1, 2, 4, 8 };
static const int machine_prices[] = { 1000, 1500, 7500, 10500 };

static void
test_published_costs (void)
{
  g_autoptr (QmQuestion) question = ask_about ("pythia-1b");
  g_autoptr (QmAdvice) advice = NULL;
  guint n;

  qm_question_set_as_in_paper (question);
  advice = answer (catalog, question);
  qm_advice_candidates (advice, &n);
  g_assert_cmpuint (n, ==, 16);
  for (gsize g = 0; g < G_N_ELEMENTS (published); g++)
    for (gsize c = 0; c < G_N_ELEMENTS (counts); c++)
      {
        const QmCandidate *candidate =
            find (advice, published[g].gpu, counts[c], NULL);
        int cost = machine_prices[c] + counts[c] * published[g].price;

        g_assert_cmpint (candidate->cost_minor, ==, cost * 100);
        g_assert_cmpint (candidate->machine->gpus, ==, counts[c]);
        g_assert_cmpfloat (candidate->days, ==, published[g].days[c]);
        g_assert_cmpfloat_with_epsilon (candidate->experiment_cost,
                                        cost * (double) published[g].days[c]
                                            / (5 * 365.0),
                                        1e-9);
      }
}

/* The three that the paper names. */
static void
test_named_costs (void)
{
  g_autoptr (QmQuestion) question = ask_about ("pythia-1b");
  g_autoptr (QmAdvice) advice = answer (catalog, question);
  const QmCandidate *h100 = find (advice, "h100-80gb-sxm", 4, NULL);
  const QmCandidate *a100 = find (advice, "a100-80gb-sxm", 8, NULL);
  const QmCandidate *rtx = find (advice, "rtx3090", 8, NULL);

  g_assert_cmpint (h100->cost_minor, ==, 12750000);
  g_assert_cmpfloat (round (h100->experiment_cost), ==, 559);
  g_assert_cmpint (a100->cost_minor, ==, 16250000);
  g_assert_cmpfloat (round (a100->experiment_cost), ==, 801);
  g_assert_cmpint (rtx->cost_minor, ==, 2090000);
  g_assert_cmpfloat (round (rtx->experiment_cost), ==, 344);
}

static void
test_audit (void)
{
  static const struct
  {
    const char *model;
    const char *gpu;
    int gpus;
  } impossible[] = {
    { "pythia-160m", "rtx3090", 1 }, { "pythia-160m", "rtx3090", 2 },
    { "pythia-160m", "rtx3090", 4 }, { "pythia-160m", "rtx3090", 8 },
    { "pythia-1b", "rtx3090", 2 },   { "pythia-1b", "rtx3090", 8 },
  };
  size_t n;
  const QmMeasurement *measurements = qm_catalog_measurements (catalog, &n);
  guint found = 0, feasible = 0, listed = 0;

  for (size_t i = 0; i < n; i++)
    {
      const QmMeasurement *m = &measurements[i];

      if (m->settings != QM_SETTINGS_OPTIMAL
          || m->provenance != QM_PROVENANCE_PUBLISHED
          || m->feasibility != QM_FEASIBLE)
        continue;
      feasible++;
      if (qm_audit_measurement (m, NULL, NULL) != QM_VERDICT_IMPOSSIBLE)
        continue;
      found++;
      for (gsize k = 0; k < G_N_ELEMENTS (impossible); k++)
        listed += strcmp (impossible[k].model, m->model->id) == 0
                  && strcmp (impossible[k].gpu, m->gpu->id) == 0
                  && impossible[k].gpus == m->gpus;
    }
  g_assert_cmpuint (feasible, ==, 140);
  g_assert_cmpuint (found, ==, G_N_ELEMENTS (impossible));
  g_assert_cmpuint (listed, ==, G_N_ELEMENTS (impossible));
}

/* What a time was rounded by is granted to it: it may have been that much
 * longer. */
static void
test_rounded (void)
{
  g_autoptr (QmQuestion) question = ask_about ("pythia-1b");
  g_autoptr (QmAdvice) advice = answer (catalog, question);
  QmMeasurement time = *find (advice, "a100-80gb-sxm", 1, NULL)->measurement;
  QmAudit audit;

  /* In so many days it would take 104 % of the peak. */
  time.days =
      qm_audit_utilization (time.model, time.gpu, 1, time.settings, 1) / 1.04;
  time.rounding_days = 0;
  g_assert_cmpint (qm_audit_measurement (&time, NULL, &audit), ==,
                   QM_VERDICT_IMPOSSIBLE);
  g_assert_cmpfloat_with_epsilon (audit.utilization, 1.04, 1e-9);
  time.rounding_days = time.days * 0.03;
  g_assert_cmpint (qm_audit_measurement (&time, NULL, NULL), ==,
                   QM_VERDICT_IMPOSSIBLE);
  time.rounding_days = time.days * 0.05;
  g_assert_cmpint (qm_audit_measurement (&time, NULL, &audit), ==,
                   QM_VERDICT_POSSIBLE);
  g_assert_cmpfloat_with_epsilon (audit.utilization, 1.04, 1e-9);
  g_assert_true (isnan (audit.reachable_days));
}

/* A recipe in FP8 is held against the peak of FP8, and not at all where the GPU
 * has none. */
static void
test_fp8 (void)
{
  g_autoptr (QmQuestion) question = ask_about ("pythia-1b");
  g_autoptr (QmAdvice) advice = answer (catalog, question);
  QmMeasurement time = *find (advice, "a100-80gb-sxm", 1, NULL)->measurement;
  QmModel model = *time.model;
  QmGpu gpu = *time.gpu;
  QmAudit audit;

  model.recipe.precision = QM_PRECISION_BF16;
  time.model = &model;
  time.gpu = &gpu;
  time.rounding_days = 0;
  time.days = qm_audit_utilization (&model, &gpu, 1, time.settings, 1) / 1.5;
  g_assert_cmpint (qm_audit_measurement (&time, NULL, NULL), ==,
                   QM_VERDICT_IMPOSSIBLE);
  model.recipe.precision = QM_PRECISION_FP8;
  g_assert_true (isnan (gpu.fp8_tflops));
  g_assert_cmpint (qm_audit_measurement (&time, NULL, NULL), ==,
                   QM_VERDICT_UNKNOWN);
  gpu.fp8_tflops = 2 * gpu.fp16_tflops;
  g_assert_cmpint (qm_audit_measurement (&time, NULL, &audit), ==,
                   QM_VERDICT_POSSIBLE);
  g_assert_cmpfloat_with_epsilon (audit.utilization, 0.75, 1e-9);
  time.days /= 1.4;
  g_assert_cmpint (qm_audit_measurement (&time, NULL, &audit), ==,
                   QM_VERDICT_IMPOSSIBLE);
  g_assert_cmpfloat_with_epsilon (audit.utilization, 1.05, 1e-9);
}

/* What every level of software is predicted to take there, the engine the
 * least: nine of ten are within 0.8 and 1.25 of it. */
static void
add_levels (QmForecasts *forecasts,
            const char *model,
            const char *gpu,
            int gpus,
            double days)
{
  g_auto (GStrv) levels = g_strsplit (QM_FORECAST_LEVELS, ",", -1);

  for (guint i = 0; levels[i] != NULL; i++)
    add_forecast (forecasts, model, levels[i], gpu, gpus,
                  days > 0 ? days * (1 + 0.1 * i) : days);
}

/* Below the peak a time is held against the fastest that is predicted. */
static void
test_reachable (void)
{
  g_autoptr (QmQuestion) question = ask_about ("pythia-1b");
  g_autoptr (QmAdvice) advice = answer (catalog, question);
  g_autoptr (QmForecasts) forecasts = qm_forecasts_new ();
  QmMeasurement time = *find (advice, "a100-80gb-sxm", 1, NULL)->measurement;
  QmAudit audit;

  time.rounding_days = 0;
  add_levels (forecasts, "pythia-1b", "a100-80gb-sxm", 1, 100);
  time.days = 80;
  g_assert_cmpint (qm_audit_measurement (&time, forecasts, &audit), ==,
                   QM_VERDICT_OK);
  g_assert_cmpfloat (audit.reachable_days, ==, 80);
  time.days = 79.9;
  g_assert_cmpint (qm_audit_measurement (&time, forecasts, NULL), ==,
                   QM_VERDICT_DOUBTFUL);
  time.rounding_days = 0.1;
  g_assert_cmpint (qm_audit_measurement (&time, forecasts, NULL), ==,
                   QM_VERDICT_OK);
  /* Whatever is reached: above the peak it is impossible. */
  time.days = 60;
  g_assert_cmpint (qm_audit_measurement (&time, forecasts, NULL), ==,
                   QM_VERDICT_IMPOSSIBLE);
  /* A prediction is not held against one. */
  time.days = 79;
  time.provenance = QM_PROVENANCE_PREDICTED;
  g_assert_cmpint (qm_audit_measurement (&time, forecasts, NULL), ==,
                   QM_VERDICT_OK);
  /* Two of them are another place, and so is another model. */
  time.provenance = QM_PROVENANCE_REPORTED;
  g_assert_cmpint (qm_audit_measurement (&time, forecasts, NULL), ==,
                   QM_VERDICT_DOUBTFUL);
  time.gpus = 2;
  g_assert_cmpint (qm_audit_measurement (&time, forecasts, NULL), ==,
                   QM_VERDICT_POSSIBLE);
  add_levels (forecasts, "pythia-1b", "a100-80gb-sxm", 2, 0);
  g_assert_cmpint (qm_audit_measurement (&time, forecasts, NULL), ==,
                   QM_VERDICT_POSSIBLE);
}

/* One level that may be the fastest has not answered yet. */
static void
test_reachable_later (void)
{
  g_autoptr (QmForecasts) forecasts = qm_forecasts_new ();
  const QmGpu *gpu = qm_catalog_gpu (catalog, "a6000");
  g_auto (GStrv) levels = g_strsplit (QM_FORECAST_LEVELS, ",", -1);

  for (guint i = 0; levels[i] != NULL; i++)
    {
      g_assert_null (qm_forecasts_fastest (forecasts, "pythia-1b", gpu, 4));
      add_forecast (forecasts, "pythia-1b", levels[i], "a6000", 4, 50 - i);
    }
  g_assert_cmpstr (qm_forecasts_fastest (forecasts, "pythia-1b", gpu, 4)->level,
                   ==, levels[g_strv_length (levels) - 1]);
  g_assert_null (qm_forecasts_fastest (NULL, "pythia-1b", gpu, 4));
}

/* Of a year's runs the worst one is told of, whichever uses more of the peak.
 */
static void
test_doubtful_run (void)
{
  const char *const models[] = { "pythia-1b", "vit-large" };

  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    {
      g_autoptr (QmQuestion) question = qm_question_new ();
      g_autoptr (QmAdvice) advice = NULL;
      const QmCandidate *candidate;

      for (guint j = 0; j < G_N_ELEMENTS (models); j++)
        qm_question_add_run (question, models[j], 1);
      question->forecasts = qm_forecasts_new ();
      add_levels (question->forecasts, models[i], "a6000", 8, 30);
      add_levels (question->forecasts, models[1 - i], "a6000", 8, 10);
      advice = answer (catalog, question);
      candidate = find (advice, "a6000", 8, NULL);
      g_assert_cmpint (candidate->verdict, ==, QM_VERDICT_DOUBTFUL);
      g_assert_cmpstr (candidate->audited->model->id, ==, models[i]);
      g_assert_cmpfloat (candidate->reachable_days, ==, 24);
    }
}

/* A doubtful time is recommended, and says so; beside times that hold more it
 * is told of the steps. */
static void
test_doubtful (void)
{
  const double factors[] = { 1, 2 };
  const char *const warnings[] = {
    "4 days on 8 × H100 SXM5 80GB is less than 8 days, the least that is "
    "predicted to be reachable there: measure it again before you rely on it.",
    "4 days of steps alone on 8 × H100 SXM5 80GB is less than 8 days, the "
    "least that is predicted to be reachable there: measure it again before "
    "you rely on it.",
  };

  for (guint i = 0; i < G_N_ELEMENTS (factors); i++)
    {
      g_autoptr (QmQuestion) question = ask_about ("pythia-1b");
      g_autoptr (QmAdvice) advice = NULL;
      g_auto (GStrv) said = NULL;
      QmRecommendation found;
      const QmCandidate *best;
      int index;

      question->forecasts = qm_forecasts_new ();
      question->time_factor = factors[i];
      add_levels (question->forecasts, "pythia-1b", "h100-80gb-sxm", 8, 10);
      advice = answer (catalog, question);
      best = find (advice, "h100-80gb-sxm", 8, &index);
      g_assert_cmpint (best->verdict, ==, QM_VERDICT_DOUBTFUL);
      g_assert_cmpfloat (best->reachable_days, ==, 8);
      found = qm_advice_recommend (advice, -1, NAN);
      g_assert_cmpint (found.best, ==, index);
      said = qm_prose_warnings (advice, question, &found,
                                (QmDate){ 2024, 11, 20 });
      g_assert_true (g_strv_contains ((const char *const *) said, warnings[i]));
    }
}

/* The figures that the project's premise rests on. */
static void
test_utilization (void)
{
  static const struct
  {
    const char *gpu;
    int gpus;
    int percent;
    QmVerdict verdict;
  } cells[] = {
    { "rtx3090", 2, 131, QM_VERDICT_IMPOSSIBLE },
    { "rtx3090", 8, 119, QM_VERDICT_IMPOSSIBLE },
    { "a100-80gb-sxm", 1, 91, QM_VERDICT_DOUBTFUL },
    { "h100-80gb-sxm", 4, 64, QM_VERDICT_OK },
    { "h100-80gb-sxm", 8, 64, QM_VERDICT_POSSIBLE },
  };
  g_autoptr (QmQuestion) question = ask_about ("pythia-1b");
  g_autoptr (QmAdvice) advice = NULL;

  question->forecasts = qm_forecasts_new ();
  add_levels (question->forecasts, "pythia-1b", "rtx3090", 2, 160);
  add_levels (question->forecasts, "pythia-1b", "a100-80gb-sxm", 1, 95);
  add_levels (question->forecasts, "pythia-1b", "h100-80gb-sxm", 4, 9);
  advice = answer (catalog, question);
  for (gsize i = 0; i < G_N_ELEMENTS (cells); i++)
    {
      const QmCandidate *candidate =
          find (advice, cells[i].gpu, cells[i].gpus, NULL);

      g_assert_cmpfloat_with_epsilon (candidate->implied_utilization * 100,
                                      cells[i].percent, 1.0);
      g_assert_cmpint (candidate->verdict, ==, cells[i].verdict);
    }
}

static void
test_infeasible (void)
{
  g_autoptr (QmQuestion) question = ask_about ("pythia-6.9b");
  g_autoptr (QmAdvice) advice = answer (catalog, question);
  const QmCandidate *candidate = find (advice, "h100-80gb-sxm", 1, NULL);

  g_assert_cmpint (candidate->verdict, ==, QM_VERDICT_INFEASIBLE);
  g_assert_false (candidate->eligible);
  g_assert_true (isnan (candidate->days));
}

static void
test_as_in_paper (void)
{
  g_autoptr (QmQuestion) question = ask_about ("pythia-1b");
  g_autoptr (QmAdvice) advice = NULL;
  g_auto (GStrv) warnings = NULL;
  g_autofree char *headline = NULL;
  g_autofree char *all = NULL;
  QmRecommendation found;
  int index;

  question->budget_minor = 4000000;
  qm_question_set_as_in_paper (question);
  advice = answer (catalog, question);
  found = qm_advice_recommend (advice, question->budget_minor, NAN);
  find (advice, "rtx3090", 8, &index);
  g_assert_cmpint (found.outcome, ==, QM_OUTCOME_FOUND);
  g_assert_cmpint (found.best, ==, index);

  headline = qm_prose_headline (advice, question, &found);
  g_assert_nonnull (strstr (headline, "8 × GeForce RTX 3090"));
  warnings =
      qm_prose_warnings (advice, question, &found, (QmDate){ 2026, 11, 20 });
  all = g_strjoinv ("\n", warnings);
  g_assert_nonnull (strstr (all, "30 days"));
  g_assert_nonnull (strstr (all, "119\u00a0%"));
  g_assert_nonnull (strstr (all, "2 years old"));
}

static void
test_audited_times (void)
{
  g_autoptr (QmQuestion) question = ask_about ("pythia-1b");
  g_autoptr (QmAdvice) advice = NULL;
  g_auto (GStrv) alternatives = NULL;
  g_auto (GStrv) warnings = NULL;
  g_autofree char *all = NULL;
  QmRecommendation found;
  int best, denied, runner_up, faster, cheaper;

  question->budget_minor = 4000000;
  advice = answer (catalog, question);
  found = qm_advice_recommend (advice, question->budget_minor, NAN);
  find (advice, "h100-80gb-sxm", 1, &best);      /* $31,000, 34 days */
  find (advice, "rtx3090", 8, &denied);          /* $20,900, 30 days */
  find (advice, "a100-80gb-sxm", 2, &runner_up); /* $39,500, 36 days */
  find (advice, "a6000", 8, &faster);            /* $48,900, 22 days */
  find (advice, "a6000", 4, &cheaper);           /* $26,700, 40 days */
  g_assert_cmpint (found.best, ==, best);
  g_assert_cmpint (found.denied, ==, denied);
  g_assert_cmpint (found.runner_up, ==, runner_up);
  g_assert_cmpint (found.faster, ==, faster);
  g_assert_cmpint (found.cheaper, ==, cheaper);

  alternatives = qm_prose_alternatives (advice, &found, NULL);
  g_assert_cmpuint (g_strv_length (alternatives), ==, 3);
  g_assert_cmpstr (alternatives[1], ==,
                   "Next faster: 8 × RTX A6000 costs $17,900 more and saves "
                   "12 days.");
  warnings =
      qm_prose_warnings (advice, question, &found, (QmDate){ 2024, 9, 30 });
  all = g_strjoinv ("\n", warnings);
  g_assert_nonnull (strstr (all, "119\u00a0%"));
  g_assert_null (strstr (all, "years old"));
}

static void
test_outcomes (void)
{
  g_autoptr (QmQuestion) question = ask_about ("pythia-1b");
  g_autoptr (QmAdvice) advice = answer (catalog, question);
  g_autofree char *reason = NULL;
  QmRecommendation found;

  found = qm_advice_recommend (advice, 100000, NAN);
  g_assert_cmpint (found.outcome, ==, QM_OUTCOME_OVER_BUDGET);
  question->budget_minor = 100000;
  reason = qm_prose_reason (advice, question, &found);
  g_assert_cmpstr (reason, ==,
                   "The cheapest that would do is 1 × GeForce RTX 3090: it "
                   "costs $2,300 and takes 370 days.");

  found = qm_advice_recommend (advice, -1, 2);
  g_assert_cmpint (found.outcome, ==, QM_OUTCOME_TOO_LATE);
  found = qm_advice_recommend (advice, -1, NAN);
  g_assert_cmpint (found.outcome, ==, QM_OUTCOME_FOUND);
}

static void
test_filters (void)
{
  g_autoptr (QmQuestion) question = ask_about ("pythia-1b");
  g_autoptr (QmAdvice) advice = NULL;
  const QmCandidate *candidates;
  int two = 2;
  guint n;

  question->gpus = g_strsplit ("a6000,h100-80gb-sxm", ",", -1);
  question->counts = g_array_new (FALSE, FALSE, sizeof (int));
  g_array_append_val (question->counts, two);
  question->kinds = QM_KINDS_SERVER;
  advice = answer (catalog, question);
  candidates = qm_advice_candidates (advice, &n);
  g_assert_cmpuint (n, ==, 2);
  for (guint i = 0; i < n; i++)
    {
      g_assert_cmpint (candidates[i].gpus, ==, 2);
      /* No desktop: the cheapest server that carries two. */
      g_assert_cmpstr (candidates[i].platform->id, ==, "server-4");
    }
}

/* What no desktop carries is no candidate among desktops. */
static void
test_machine_kinds (void)
{
  g_autoptr (QmQuestion) question = ask_about ("pythia-1b");
  g_autoptr (QmAdvice) advice = NULL;
  const QmCandidate *candidates;
  guint n;

  question->kinds = QM_KINDS_DESKTOP;
  advice = answer (catalog, question);
  candidates = qm_advice_candidates (advice, &n);
  g_assert_cmpuint (n, ==, 8);
  for (guint i = 0; i < n; i++)
    g_assert_cmpint (candidates[i].platform->form, ==, QM_PLATFORM_DESKTOP);
}

static void
test_errors (void)
{
  g_autoptr (QmQuestion) question = ask_about ("no-such-model");
  g_autoptr (GError) error = NULL;

  g_assert_null (qm_advice_new (catalog, question, &error));
  g_assert_error (error, QM_ADVICE_ERROR, QM_ADVICE_ERROR_UNKNOWN_MODEL);
  g_clear_error (&error);

  g_free (question->model);
  question->model = g_strdup ("pythia-1b");
  question->gpus = g_strsplit ("a6000,nothing", ",", -1);
  g_assert_null (qm_advice_new (catalog, question, &error));
  g_assert_error (error, QM_ADVICE_ERROR, QM_ADVICE_ERROR_UNKNOWN_GPU);
  g_clear_error (&error);

  g_clear_pointer (&question->gpus, g_strfreev);
  question->lifetime_years = 0;
  g_assert_null (qm_advice_new (catalog, question, &error));
  g_assert_error (error, QM_ADVICE_ERROR, QM_ADVICE_ERROR_INVALID);
}

/* 3 runs of pythia-1b and 10 of vit-large a year on 8 x RTX A6000:
 * 3 x 22 + 10 x 16 = 226 machine days. */
static void
test_portfolio (void)
{
  g_autoptr (QmQuestion) question = qm_question_new ();
  g_autoptr (QmAdvice) advice = NULL;
  const QmCandidate *candidate;
  double one = 10500 + 8 * 4800;

  question->time_factor = 1;
  qm_question_add_run (question, "pythia-1b", 3);
  qm_question_add_run (question, "vit-large", 10);
  advice = answer (catalog, question);
  candidate = find (advice, "a6000", 8, NULL);
  g_assert_cmpint (candidate->machines, ==, 1);
  g_assert_cmpfloat (candidate->days, ==, 226);
  g_assert_cmpint (candidate->cost_minor, ==, (gint64) one * 100);
  g_assert_cmpfloat_with_epsilon (candidate->experiment_cost, one * 226 / 1825,
                                  1e-9);
  g_assert_cmpstr (candidate->measurement->model->id, ==, "pythia-1b");

  /* On 4 of them: 3 x 40 + 10 x 31 = 430 days need two machines. */
  candidate = find (advice, "a6000", 4, NULL);
  g_assert_cmpint (candidate->machines, ==, 2);
  g_assert_cmpfloat (candidate->days, ==, 215);
  g_assert_cmpint (candidate->cost_minor, ==, 2 * (7500 + 4 * 4800) * 100);

  /* An impossible run spoils the portfolio. */
  candidate = find (advice, "rtx3090", 8, NULL);
  g_assert_cmpint (candidate->verdict, ==, QM_VERDICT_IMPOSSIBLE);
  g_assert_false (candidate->eligible);

  /* Its worst verdict goes with the utilisation that was judged. */
  g_assert_cmpstr (candidate->audited->model->id, ==, "pythia-1b");
  g_assert_cmpfloat (candidate->implied_utilization, ==,
                     qm_audit_utilization (candidate->audited->model,
                                           candidate->gpu, candidate->gpus,
                                           QM_SETTINGS_OPTIMAL,
                                           candidate->audited->days));
}

static void
test_portfolio_at_once (void)
{
  g_autoptr (QmQuestion) question = qm_question_new ();
  g_autoptr (QmAdvice) advice = NULL;
  const QmCandidate *candidate;

  question->time_factor = 1;
  qm_question_add_run (question, "pythia-1b", 2);
  question->at_once = 3;
  advice = answer (catalog, question);
  candidate = find (advice, "a6000", 8, NULL);
  g_assert_cmpint (candidate->machines, ==, 3);
  /* Two runs on three machines still take as long as one run. */
  g_assert_cmpfloat (candidate->days, ==, 22);
  g_assert_cmpfloat_with_epsilon (candidate->experiment_cost,
                                  48900.0 * 44 / 1825, 1e-9);
}

int
main (int argc, char **argv)
{
  QmError error;
  size_t n;
  int result;

  g_test_init (&argc, &argv, NULL);
  if (qm_catalog_load (g_getenv ("QM_TEST_DATA_DIR"), NULL, &catalog, &error)
      != QM_OK)
    g_error ("%s", error.message);
  qm_catalog_problems (catalog, &n);
  g_assert_cmpuint (n, ==, 0);

  g_test_add_func ("/advice/published-costs", test_published_costs);
  g_test_add_func ("/advice/named-costs", test_named_costs);
  g_test_add_func ("/advice/audit", test_audit);
  g_test_add_func ("/advice/rounded", test_rounded);
  g_test_add_func ("/advice/fp8", test_fp8);
  g_test_add_func ("/advice/utilization", test_utilization);
  g_test_add_func ("/advice/infeasible", test_infeasible);
  g_test_add_func ("/advice/as-in-paper", test_as_in_paper);
  g_test_add_func ("/advice/reachable", test_reachable);
  g_test_add_func ("/advice/reachable-later", test_reachable_later);
  g_test_add_func ("/advice/doubtful-run", test_doubtful_run);
  g_test_add_func ("/advice/doubtful", test_doubtful);
  g_test_add_func ("/advice/audited-times", test_audited_times);
  g_test_add_func ("/advice/outcomes", test_outcomes);
  g_test_add_func ("/advice/filters", test_filters);
  g_test_add_func ("/advice/machine-kinds", test_machine_kinds);
  g_test_add_func ("/advice/errors", test_errors);
  g_test_add_func ("/advice/portfolio", test_portfolio);
  g_test_add_func ("/advice/portfolio-at-once", test_portfolio_at_once);
  result = g_test_run ();
  qm_catalog_free (catalog);
  return result;
}
