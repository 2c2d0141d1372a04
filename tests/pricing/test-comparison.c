/* SPDX-License-Identifier: Apache-2.0 */

/* Published times beside those of the yardstick. */

#include "config.h"

#include "pricing/advice/qm-prose-comparison.h"
#include "tests/pricing/forecasts.h"

#include <string.h>

static QmCatalog *catalog;  /* published times alone */
static QmCatalog *measured; /* and the same again, as measured */

#define MODEL "pythia-1b"

static QmQuestion *
ask (void)
{
  QmQuestion *question = qm_question_new ();

  question->model = g_strdup (MODEL);
  question->budget_minor = 40000 * 100;
  question->forecasts = qm_forecasts_new ();
  return question;
}

static QmComparison *
compare (const QmQuestion *question)
{
  return qm_comparison_new (catalog, question,
                            qm_catalog_model (catalog, MODEL));
}

static const QmCompared *
find (const QmComparison *comparison,
      const char *gpu,
      int gpus,
      QmSettings settings)
{
  guint n;
  const QmCompared *rows = qm_comparison_rows (comparison, &n);

  for (guint i = 0; i < n; i++)
    if (strcmp (rows[i].published->gpu->id, gpu) == 0
        && rows[i].published->gpus == gpus
        && rows[i].published->settings == settings)
      return &rows[i];
  return NULL;
}

/* 30 days were published for 8 RTX 3090, and 22 for 8 A6000; 12 naive ones for
 * 8 H100. */
static void
test_rows (void)
{
  g_autoptr (QmQuestion) question = ask ();
  g_autoptr (QmComparison) comparison = NULL;
  const QmCompared *row, *rows;
  g_autofree char *time = NULL;
  g_autofree char *verdict = NULL;
  guint n;

  add_forecast (question->forecasts, MODEL, "tuned", "rtx3090", 8, 120);
  add_forecast (question->forecasts, MODEL, "tuned", "a6000", 8, 24);
  add_forecast (question->forecasts, MODEL, "naive", "h100-80gb-sxm", 8, 6);
  add_forecast (question->forecasts, MODEL, "tuned", "a6000", 4, 0);
  comparison = compare (question);
  rows = qm_comparison_rows (comparison, &n);
  g_assert_cmpuint (n, ==, 32);

  g_assert_cmpfloat (rows[0].ratio, ==, 0.25);
  row = find (comparison, "rtx3090", 8, QM_SETTINGS_OPTIMAL);
  g_assert_true (row == &rows[0]);
  g_assert_cmpint (row->verdict, ==, QM_VERDICT_IMPOSSIBLE);
  time = qm_prose_compared_time (row->yardstick, TRUE);
  g_assert_cmpstr (time, ==, "120 days (96 to 150 days)");
  verdict = qm_prose_compared_verdict (row);
  g_assert_cmpstr (verdict, ==, "impossible (119\u00a0%)");

  /* A level is compared with its own. */
  g_assert_cmpfloat (rows[1].ratio, ==, 2);
  g_assert_cmpint (rows[1].published->settings, ==, QM_SETTINGS_NAIVE);
  row = find (comparison, "h100-80gb-sxm", 8, QM_SETTINGS_OPTIMAL);
  g_assert_true (row->yardstick == NULL && isnan (row->ratio));

  /* What does not fit has no ratio. */
  row = find (comparison, "a6000", 4, QM_SETTINGS_OPTIMAL);
  g_assert_cmpint (row->yardstick->feasibility, ==, QM_INFEASIBLE);
  g_assert_true (isnan (row->ratio));
}

/* Where it is measured, nothing is predicted. */
static void
test_measured (void)
{
  g_autoptr (QmQuestion) question = ask ();
  g_autoptr (QmComparison) all = NULL;
  guint n, n_measured = 0;
  const QmCompared *rows;

  add_forecasts (question->forecasts, measured, MODEL, "tuned", 100);
  all = qm_comparison_new (measured, question, NULL);
  rows = qm_comparison_rows (all, &n);
  g_assert_cmpuint (n, >, 32);
  for (guint i = 0; i < n; i++)
    if (rows[i].yardstick != NULL)
      {
        g_assert_cmpint (rows[i].yardstick->provenance, !=,
                         QM_PROVENANCE_PUBLISHED);
        g_assert_cmpint (rows[i].yardstick->engine, !=,
                         QM_ENGINE_QUARTERMASTER);
        n_measured += rows[i].yardstick->provenance == QM_PROVENANCE_MEASURED;
      }
  g_assert_cmpuint (n_measured, >, 0);

  question->predictions = QM_PREDICTIONS_NONE;
  qm_comparison_free (g_steal_pointer (&all));
  all = qm_comparison_new (measured, question, NULL);
  rows = qm_comparison_rows (all, &n);
  for (guint i = 0; i < n; i++)
    if (rows[i].yardstick != NULL)
      g_assert_cmpint (rows[i].yardstick->provenance, !=,
                       QM_PROVENANCE_PREDICTED);
}

static void
test_sum (void)
{
  g_autoptr (QmQuestion) question = ask ();
  g_autoptr (QmComparison) comparison = NULL;
  g_autofree char *sum = NULL;
  g_autofree char *nothing = NULL;
  QmComparisonSummary summary;
  static char *gpus[] = { (char *) "a6000", (char *) "rtx3090", NULL };

  question->gpus = g_strdupv (gpus);
  add_forecast (question->forecasts, MODEL, "tuned", "rtx3090", 8, 60);
  add_forecast (question->forecasts, MODEL, "tuned", "a6000", 8, 24);
  add_forecast (question->forecasts, MODEL, "tuned", "a6000", 4, 10);
  comparison = compare (question);
  summary = qm_comparison_sum_up (comparison, QM_SETTINGS_OPTIMAL);
  g_assert_cmpuint (summary.n_compared, ==, 3);
  g_assert_cmpfloat (summary.least, ==, 0.5);
  g_assert_cmpfloat (summary.median, ==, 22.0 / 24);
  g_assert_cmpfloat (summary.greatest, ==, 4);
  g_assert_cmpuint (summary.n_shorter, ==, 2);
  g_assert_cmpuint (summary.n_predicted, ==, 3);
  g_assert_cmpuint (summary.n_within, ==, 1);
  sum = qm_prose_comparison_sum (comparison, QM_SETTINGS_OPTIMAL);
  g_assert_cmpstr (sum, ==,
                   "Optimal settings, 3 places: the published time is 0.92 of "
                   "the yardstick’s in the median, from 0.5 to 4; 2 are "
                   "shorter.");
  nothing = qm_prose_comparison_sum (comparison, QM_SETTINGS_NAIVE);
  g_assert_cmpstr (nothing, ==, "Naive settings: no place has both times.");
}

/* Both answer the same question, of whatever software it was asked. */
static void
test_answers (void)
{
  g_autoptr (QmQuestion) question = ask ();
  g_autoptr (QmComparison) comparison = NULL;
  g_autoptr (QmComparedAnswer) paper = NULL;
  g_autoptr (QmComparedAnswer) yardstick = NULL;
  g_auto (GStrv) answers = NULL;

  question->times_of = QM_TIMES_OF_QUARTERMASTER;
  question->settings = QM_SETTINGS_EAGER;
  add_forecast (question->forecasts, MODEL, "tuned", "rtx3090", 8, 88);
  add_forecast (question->forecasts, MODEL, "tuned", "rtx4090", 1, 77);
  comparison = compare (question);
  paper = qm_compared_answer_new (catalog, question, TRUE, NULL);
  yardstick = qm_compared_answer_new (catalog, question, FALSE, NULL);
  g_assert_cmpstr (qm_compared_answer_best (paper)->gpu->id, ==, "rtx3090");
  g_assert_cmpint (qm_compared_answer_best (yardstick)->measurement->settings,
                   ==, QM_SETTINGS_OPTIMAL);
  answers = qm_prose_comparison_answers (comparison, paper, yardstick);
  g_assert_cmpuint (g_strv_length (answers), ==, 4);
  g_assert_cmpstr (answers[0], ==,
                   "As in the paper: Buy 8 × GeForce RTX 3090: $20,900, 30 "
                   "days");
  g_assert_cmpstr (answers[1], ==,
                   "On 8 × GeForce RTX 3090 the training takes 88 days (70 "
                   "to 110 days) by the yardstick, predicted, instead of "
                   "30 days.");
  g_assert_true (g_str_has_prefix (answers[2], "By the yardstick: Buy "));
  /* 88 days of steps. */
  g_assert_true (g_str_has_suffix (answers[2], ", 97 days (predicted)"));
  g_assert_cmpstr (answers[3], ==,
                   "This last time holds 10 % for the loading of data, "
                   "evaluation, checkpoints and restarts, as in every advice; "
                   "all others are of the steps alone.");
}

/* Where the steps are all that is counted, all times are alike. */
static void
test_answers_of_steps (void)
{
  g_autoptr (QmQuestion) question = ask ();
  g_autoptr (QmComparison) comparison = NULL;
  g_autoptr (QmComparedAnswer) paper = NULL;
  g_autoptr (QmComparedAnswer) yardstick = NULL;
  g_auto (GStrv) answers = NULL;

  question->time_factor = 1;
  add_forecast (question->forecasts, MODEL, "tuned", "rtx3090", 8, 88);
  add_forecast (question->forecasts, MODEL, "tuned", "rtx4090", 1, 77);
  comparison = compare (question);
  paper = qm_compared_answer_new (catalog, question, TRUE, NULL);
  yardstick = qm_compared_answer_new (catalog, question, FALSE, NULL);
  answers = qm_prose_comparison_answers (comparison, paper, yardstick);
  g_assert_cmpuint (g_strv_length (answers), ==, 3);
  g_assert_true (g_str_has_suffix (answers[2], ", 88 days (predicted)"));
}

int
main (int argc, char **argv)
{
  QmError error;
  int status;

  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (qm_catalog_load (g_getenv ("QM_PUBLISHED_DATA_DIR"), NULL,
                                    &catalog, &error),
                   ==, QM_OK);
  g_assert_cmpint (qm_catalog_load (g_getenv ("QM_MEASURED_DATA_DIR"), NULL,
                                    &measured, &error),
                   ==, QM_OK);
  g_test_add_func ("/comparison/rows", test_rows);
  g_test_add_func ("/comparison/measured", test_measured);
  g_test_add_func ("/comparison/sum", test_sum);
  g_test_add_func ("/comparison/answers", test_answers);
  g_test_add_func ("/comparison/answers-of-steps", test_answers_of_steps);
  status = g_test_run ();
  qm_catalog_free (catalog);
  qm_catalog_free (measured);
  return status;
}
