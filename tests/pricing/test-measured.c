/* SPDX-License-Identifier: Apache-2.0 */

/* Advice with measured times: which ones count for which question, what is
 * predicted where, and that it is said.  The catalog has made-up results of an
 * H200: of Quartermaster's engine for seven models, of PyTorch for all of them
 * but pythia-6.9b. */

#include "pricing/advice/qm-advice.h"
#include "pricing/advice/qm-prose.h"
#include "tests/pricing/forecasts.h"

#include <glib/gstdio.h>
#include <string.h>

#define H200 "h200-141gb-sxm"

static QmCatalog *catalog; /* with a price of the H200 */
static QmCatalog *unpriced;

static QmQuestion *
ask (const char *model, QmTimesOf times_of)
{
  QmQuestion *question = qm_question_new ();

  question->time_factor = 1;
  question->model = g_strdup (model);
  question->times_of = times_of;
  return question;
}

static QmAdvice *
answer (const QmCatalog *facts, const QmQuestion *question)
{
  g_autoptr (GError) error = NULL;
  QmAdvice *advice = qm_advice_new (facts, question, &error);

  g_assert_no_error (error);
  return advice;
}

/* The candidate of a place, of which there must be `n`. */
static const QmCandidate *
find (const QmAdvice *advice, const char *gpu, int gpus, guint n)
{
  const QmCandidate *found = NULL;
  guint n_candidates, n_found = 0;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n_candidates);

  for (guint i = 0; i < n_candidates; i++)
    if (strcmp (candidates[i].gpu->id, gpu) == 0 && candidates[i].gpus == gpus)
      {
        found = &candidates[i];
        n_found++;
      }
  g_assert_cmpuint (n_found, ==, n);
  return found;
}

static const QmMeasurement *
measurement (const char *model, QmEngine engine, QmSettings settings)
{
  size_t n;
  const QmMeasurement *all = qm_catalog_measurements (catalog, &n);

  for (size_t i = 0; i < n; i++)
    if (strcmp (all[i].model->id, model) == 0
        && strcmp (all[i].gpu->id, H200) == 0 && all[i].engine == engine
        && all[i].settings == settings
        && all[i].provenance == QM_PROVENANCE_MEASURED)
      return &all[i];
  g_assert_not_reached ();
}

/* What PyTorch was measured with. */
static void
test_times_of_pytorch (void)
{
  g_autoptr (QmQuestion) question = ask ("pythia-1b", QM_TIMES_OF_PYTORCH);
  g_autoptr (QmAdvice) advice = answer (catalog, question);
  const QmCandidate *h200 = find (advice, H200, 1, 1);
  guint n;

  qm_advice_candidates (advice, &n);
  g_assert_cmpuint (n, ==, 17);
  g_assert_cmpint (h200->measurement->engine, ==, QM_ENGINE_PYTORCH);
  g_assert_cmpint (h200->measurement->provenance, ==, QM_PROVENANCE_MEASURED);
  g_assert_true (h200->eligible && !h200->superseded);
  g_assert_cmpint (h200->verdict, ==, QM_VERDICT_POSSIBLE);
  g_assert_cmpint (h200->cost_minor, ==, 3200000);
  g_assert_true (find (advice, "h100-80gb-sxm", 1, 1)->eligible);
}

static gboolean
is_left_out (const QmAdvice *advice, const char *gpu, int gpus)
{
  const GPtrArray *times = qm_advice_left_out (advice);

  for (guint i = 0; i < times->len; i++)
    {
      const QmMeasurement *time = g_ptr_array_index (times, i);

      if (strcmp (time->gpu->id, gpu) == 0 && time->gpus == gpus)
        return TRUE;
    }
  return FALSE;
}

/* Only what the engine was measured with; the others are left out. */
static void
test_times_of_quartermaster (void)
{
  g_autoptr (QmQuestion) question =
      ask ("pythia-1b", QM_TIMES_OF_QUARTERMASTER);
  g_autoptr (QmAdvice) advice = answer (catalog, question);
  QmRecommendation found = qm_advice_recommend (advice, -1, NAN);
  const QmCandidate *h200 = find (advice, H200, 1, 1);
  guint n;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n);

  g_assert_cmpuint (n, ==, 1);
  g_assert_cmpint (h200->measurement->engine, ==, QM_ENGINE_QUARTERMASTER);
  g_assert_true (&candidates[found.best] == h200);
  g_assert_cmpint (found.runner_up, ==, -1);
  g_assert_true (is_left_out (advice, "rtx3090", 8));
  g_assert_false (is_left_out (advice, H200, 1));
  g_assert_cmpuint (qm_advice_left_out (advice)->len, ==, 16);
  /* It is faster on the paper, but that is not why it is left out. */
  g_assert_cmpint (found.denied, ==, -1);
}

/* The published analysis alone, as if nothing had been measured since. */
static void
test_times_of_publication (void)
{
  g_autoptr (QmQuestion) question = ask ("pythia-1b", QM_TIMES_OF_PUBLICATION);
  g_autoptr (QmAdvice) advice = answer (catalog, question);
  guint n;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n);

  g_assert_cmpuint (n, ==, 16);
  for (guint i = 0; i < n; i++)
    g_assert_cmpint (candidates[i].measurement->provenance, ==,
                     QM_PROVENANCE_PUBLISHED);
}

static gboolean
says (GStrv sentences, const char *words)
{
  for (guint i = 0; sentences[i] != NULL; i++)
    if (strstr (sentences[i], words) != NULL)
      return TRUE;
  return FALSE;
}

/* PyTorch was not measured there, the engine was. */
static void
test_predicted_candidate (void)
{
  g_autoptr (QmQuestion) question = ask ("pythia-6.9b", QM_TIMES_OF_PYTORCH);
  g_autoptr (QmAdvice) advice = NULL;
  const QmCandidate *h200;
  g_auto (GStrv) notes = NULL;
  g_autofree char *source = NULL;
  g_autofree char *whose = NULL;
  g_autofree char *interval = NULL;

  question->forecasts = qm_forecasts_new ();
  add_forecast (question->forecasts, "pythia-6.9b", "tuned", H200, 1, 350);
  advice = answer (catalog, question);
  h200 = find (advice, H200, 1, 1);
  notes = qm_prose_notes (advice, question);
  source = qm_prose_source (h200->measurement);
  whose = qm_prose_times_of (h200);
  interval = qm_prose_interval (h200);
  g_assert_cmpint (h200->measurement->provenance, ==, QM_PROVENANCE_PREDICTED);
  g_assert_cmpfloat (h200->days, ==, 350);
  g_assert_true (h200->eligible);
  g_assert_cmpstr (whose, ==, "PyTorch, predicted");
  g_assert_cmpstr (interval, ==, "280 days to 438 days");
  g_assert_cmpstr (source, ==, "predicted for PyTorch, operator by operator");
  g_assert_true (says (notes, "1 time is predicted for compiled PyTorch"));
}

/* Nothing is predicted: what was measured with other software is left out, and
 * named. */
static void
test_left_out (void)
{
  g_autoptr (QmQuestion) question = ask ("pythia-1b", QM_TIMES_OF_PYTORCH);
  g_autoptr (QmAdvice) advice = NULL;
  g_autoptr (QmAdvice) without = NULL;
  g_autofree char *folder = g_dir_make_tmp ("qm-XXXXXX", NULL);
  g_autofree char *measurements =
      g_build_filename (folder, "measurements", NULL);
  g_autofree char *file = g_build_filename (measurements, "t.csv", NULL);
  QmCatalog *own = NULL;
  QmError error;
  const QmCandidate *candidate;
  g_auto (GStrv) notes = NULL;
  g_auto (GStrv) others = NULL;

  g_assert_cmpint (g_mkdir (measurements, 0700), ==, 0);
  g_assert_true (g_file_set_contents (
      file,
      "model,gpu,gpus,settings,feasibility,days,provenance,engine,source\n"
      "pythia-1b,l40s,1,optimal,feasible,60,measured,quartermaster,us\n"
      "pythia-1b,a6000,1,optimal,feasible,160,reported,pytorch,them\n"
      "pythia-1b,a6000,2,optimal,feasible,80,measured,quartermaster,us\n"
      "pythia-1b,a6000,4,optimal,infeasible,,measured,,us\n",
      -1, NULL));
  g_assert_cmpint (qm_catalog_load (g_getenv ("QM_TEST_DATA_DIR"), folder, &own,
                                    &error),
                   ==, QM_OK);
  advice = answer (own, question);
  notes = qm_prose_notes (advice, question);

  find (advice, "l40s", 1, 0);
  g_assert_true (is_left_out (advice, "l40s", 1));
  g_assert_cmpuint (qm_advice_left_out (advice)->len, ==, 1);
  g_assert_true (says (notes, "no time of PyTorch is known there and those of "
                              "other software are not comparable: 1 × L40S "
                              "(Quartermaster)."));
  g_assert_false (says (notes, "With predictions"));
  question->predictions = QM_PREDICTIONS_NONE;
  without = answer (own, question);
  others = qm_prose_notes (without, question);
  find (without, "l40s", 1, 0);
  g_assert_true (says (others, "(Quartermaster). With predictions they take"));

  /* A measured time takes the place of the reported one; what other software
   * takes is not shown beside it. */
  candidate = find (advice, "a6000", 1, 2);
  g_assert_cmpint (candidate->measurement->provenance, ==,
                   QM_PROVENANCE_REPORTED);
  g_assert_true (candidate->superseded && !candidate->eligible);
  g_assert_true (says (notes, "RTX A6000: measured times go before"));
  candidate = find (advice, "a6000", 2, 1);
  g_assert_cmpint (candidate->measurement->engine, ==, QM_ENGINE_PYTORCH);
  g_assert_true (candidate->eligible);
  candidate = find (advice, "a6000", 4, 2);
  g_assert_cmpint (candidate->verdict, ==, QM_VERDICT_INFEASIBLE);

  g_clear_pointer (&advice, qm_advice_free);
  g_clear_pointer (&without, qm_advice_free);
  qm_catalog_free (own);
  g_unlink (file);
  g_rmdir (measurements);
  g_rmdir (folder);
}

/* What is only claimed counts where nothing else is known, and says so. */
static void
test_claimed (void)
{
  g_autoptr (QmQuestion) question = ask ("pythia-1b", QM_TIMES_OF_PYTORCH);
  g_autoptr (QmAdvice) advice = answer (unpriced, question);
  g_autoptr (QmAdvice) priced = answer (catalog, question);
  const QmCandidate *h200 = find (advice, H200, 1, 1);
  g_auto (GStrv) notes = qm_prose_notes (advice, question);
  g_auto (GStrv) others = qm_prose_notes (priced, question);
  g_autofree char *quality =
      qm_prose_price_quality (h200, (QmDate){ 2026, 11, 1 });

  /* The middle of $28,000 to $35,000. */
  g_assert_cmpint (
      h200->cost_minor, ==,
      3150000
          + qm_money_from_micros (h200->machine_price->micros, "USD").minor);
  g_assert_true (h200->weak && h200->eligible);
  g_assert_cmpint (h200->cost_high_minor - h200->cost_low_minor, ==, 700000);
  g_assert_false (find (priced, H200, 1, 1)->weak);
  g_assert_cmpstr (quality, ==, "claimed price, 2 years old");
  g_assert_true (
      says (notes, "H200 SXM 141GB: no dealer’s price is known of them"));
  g_assert_true (says (notes, "A quote that you import"));
  g_assert_false (says (others, "no dealer’s price is known"));
}

static void
test_portfolio (void)
{
  g_autoptr (QmQuestion) question = ask ("pythia-1b", QM_TIMES_OF_PYTORCH);
  g_autoptr (QmAdvice) advice = NULL;
  g_autoptr (QmAdvice) ours = NULL;
  const QmCandidate *h200;
  double torch, predicted;

  question->forecasts = qm_forecasts_new ();
  add_forecast (question->forecasts, "pythia-6.9b", "tuned", H200, 1, 350);
  qm_question_add_run (question, "pythia-1b", 1);
  qm_question_add_run (question, "pythia-6.9b", 1);
  advice = answer (catalog, question);
  h200 = find (advice, H200, 1, 1);
  torch =
      measurement ("pythia-1b", QM_ENGINE_PYTORCH, QM_SETTINGS_OPTIMAL)->days;
  predicted = h200->measurement->days;
  g_assert_cmpint (h200->measurement->provenance, ==, QM_PROVENANCE_PREDICTED);
  g_assert_cmpint (h200->machines, ==, 2);
  g_assert_cmpfloat_with_epsilon (h200->days,
                                  MAX (predicted, (torch + predicted) / 2),
                                  1e-9);
  g_assert_true (h200->eligible);

  question->times_of = QM_TIMES_OF_QUARTERMASTER;
  ours = answer (catalog, question);
  g_assert_true (find (ours, H200, 1, 1)->eligible);
  find (ours, "h100-80gb-sxm", 8, 0);
  g_assert_true (is_left_out (ours, "h100-80gb-sxm", 8));
}

static void
test_words (void)
{
  QmMeasurement m = { .provenance = QM_PROVENANCE_MEASURED };
  char *words;

  words = qm_prose_source (&m);
  g_assert_cmpstr (words, ==, "measured");
  g_free (words);
  m.measured_on = (QmDate){ 2026, 11, 21 };
  words = qm_prose_source (&m);
  g_assert_cmpstr (words, ==, "measured, 21 November 2026");
  g_free (words);
  m.engine = QM_ENGINE_PYTORCH;
  m.engine_version = "torch 2.11.0";
  m.source = "f, line 1";
  words = qm_prose_source (&m);
  g_assert_cmpstr (words, ==,
                   "measured with PyTorch 2.11.0, 21 November 2026 (f, line "
                   "1)");
  g_free (words);
  m.engine = QM_ENGINE_QUARTERMASTER;
  m.engine_version = "";
  m.measured_on = (QmDate){ 0 };
  words = qm_prose_source (&m);
  g_assert_cmpstr (words, ==, "measured with Quartermaster (f, line 1)");
  g_free (words);
  words = qm_prose_times_of (&(QmCandidate){ .measurement = &m });
  g_assert_cmpstr (words, ==, "Quartermaster");
  g_free (words);
}

static QmCatalog *
load (const char *user)
{
  QmCatalog *loaded = NULL;
  QmError error;
  size_t n;

  g_assert_cmpint (qm_catalog_load (g_getenv ("QM_MEASURED_DATA_DIR"), user,
                                    &loaded, &error),
                   ==, QM_OK);
  qm_catalog_problems (loaded, &n);
  g_assert_cmpuint (n, ==, 0);
  qm_catalog_notices (loaded, &n);
  g_assert_cmpuint (n, ==, 0);
  return loaded;
}

int
main (int argc, char **argv)
{
  g_autofree char *folder = g_dir_make_tmp ("qm-XXXXXX", NULL);
  g_autofree char *prices = g_build_filename (folder, "prices.csv", NULL);
  int result;

  g_test_init (&argc, &argv, NULL);
  g_assert_true (
      g_file_set_contents (prices,
                           "item,kind,price,currency,observed_on,source\n" H200
                           ",quote,31000,USD,2026-11-01,offer\n",
                           -1, NULL));
  unpriced = load (NULL);
  catalog = load (folder);
  g_unlink (prices);
  g_rmdir (folder);

  g_test_add_func ("/measured/times-of-pytorch", test_times_of_pytorch);
  g_test_add_func ("/measured/times-of-quartermaster",
                   test_times_of_quartermaster);
  g_test_add_func ("/measured/times-of-publication", test_times_of_publication);
  g_test_add_func ("/measured/predicted", test_predicted_candidate);
  g_test_add_func ("/measured/left-out", test_left_out);
  g_test_add_func ("/measured/claimed", test_claimed);
  g_test_add_func ("/measured/portfolio", test_portfolio);
  g_test_add_func ("/measured/words", test_words);
  result = g_test_run ();
  qm_catalog_free (catalog);
  qm_catalog_free (unpriced);
  return result;
}
