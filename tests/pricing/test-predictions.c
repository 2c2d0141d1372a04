/* SPDX-License-Identifier: Apache-2.0 */

/* What nobody measured takes part in an advice where that is wanted, and is
 * marked everywhere. */

#include "config.h"

#include "pricing/advice/qm-advice.h"
#include "pricing/advice/qm-prose.h"

#include <glib/gstdio.h>
#include <string.h>

static QmCatalog *catalog; /* with a model of the user's: "own" */

static QmQuestion *
ask (const char *model, QmPredictions predictions)
{
  QmQuestion *question = qm_question_new ();

  question->model = g_strdup (model);
  question->predictions = predictions;
  question->budget_minor = 40000 * 100;
  return question;
}

static QmAdvice *
answer (const QmQuestion *question)
{
  g_autoptr (GError) error = NULL;
  QmAdvice *advice = qm_advice_new (catalog, question, &error);

  g_assert_no_error (error);
  return advice;
}

static const QmCandidate *
find (const QmAdvice *advice, const char *gpu, int gpus)
{
  guint n;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n);

  for (guint i = 0; i < n; i++)
    if (strcmp (candidates[i].gpu->id, gpu) == 0 && candidates[i].gpus == gpus)
      return &candidates[i];
  return NULL;
}

static guint
count (const QmAdvice *advice, gboolean predicted)
{
  guint n, found = 0;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n);

  for (guint i = 0; i < n; i++)
    found += (candidates[i].prediction != NULL) == predicted;
  return found;
}

static gboolean
mentions (const GStrv texts, const char *words)
{
  for (guint i = 0; texts[i] != NULL; i++)
    if (strstr (texts[i], words) != NULL)
      return TRUE;
  return FALSE;
}

static void
check_prediction (const QmCandidate *candidate)
{
  g_autofree char *whose = qm_prose_times_of (candidate);
  g_autofree char *interval = qm_prose_interval (candidate);

  g_assert_nonnull (candidate);
  g_assert_true (candidate->predicted);
  g_assert_nonnull (candidate->prediction);
  g_assert_cmpint (candidate->measurement->provenance, ==,
                   QM_PROVENANCE_PREDICTED);
  g_assert_cmpfloat (candidate->days_low, <, candidate->days);
  g_assert_cmpfloat (candidate->days_high, >, candidate->days);
  g_assert_cmpint (candidate->price_minor, >, 0);
  g_assert_cmpint (candidate->prediction->fit, ==, QM_FIT_UNKNOWN);
  g_assert_cmpstr (whose, ==, "PyTorch, predicted");
  g_assert_nonnull (interval);
}

/* A model with known times is predicted only where that is asked for, and then
 * only where nothing is known. */
static void
test_asked_for (void)
{
  g_autoptr (QmQuestion) needed = ask ("pythia-1b", QM_PREDICTIONS_NEEDED);
  g_autoptr (QmQuestion) all = ask ("pythia-1b", QM_PREDICTIONS_ALL);
  g_autoptr (QmQuestion) filtered = ask ("pythia-1b", QM_PREDICTIONS_ALL);
  g_autoptr (QmAdvice) without = answer (needed);
  g_autoptr (QmAdvice) with = answer (all);
  g_autoptr (QmAdvice) few = NULL;
  const char *const gpus[] = { "rtx4090", NULL };
  guint n_known = count (without, FALSE);

  g_assert_cmpuint (count (without, TRUE), ==, 0);
  g_assert_cmpuint (count (with, FALSE), ==, n_known);
  g_assert_cmpuint (count (with, TRUE), >, 20);
  check_prediction (find (with, "rtx4090", 2));
  g_assert_null (find (with, "h100-80gb-sxm", 8)->prediction);
  /* Nobody can buy what has no price, nor is it built into a machine. */
  g_assert_null (find (with, "a10", 1));
  g_assert_null (find (with, "gb10", 1));

  filtered->gpus = g_strdupv ((GStrv) gpus);
  few = answer (filtered);
  g_assert_cmpuint (count (few, TRUE), ==, 4);
  g_assert_cmpuint (count (few, FALSE), ==, 0);
}

/* A time that nobody can read is none: it is predicted. */
static void
test_illegible (void)
{
  g_autoptr (QmQuestion) question = ask ("convnext-xlarge", QM_PREDICTIONS_ALL);
  g_autoptr (QmAdvice) advice = NULL;
  const QmCandidate *candidates;
  guint n, illegible = 0, predicted = 0;

  question->settings = QM_SETTINGS_NAIVE;
  advice = answer (question);
  candidates = qm_advice_candidates (advice, &n);
  for (guint i = 0; i < n; i++)
    if (candidates[i].gpus == 1
        && strcmp (candidates[i].gpu->id, "h100-80gb-sxm") == 0)
      {
        illegible += candidates[i].measurement->feasibility == QM_ILLEGIBLE;
        predicted += candidates[i].prediction != NULL;
      }
  g_assert_cmpuint (illegible, ==, 1);
  g_assert_cmpuint (predicted, ==, 1);
}

/* A model that nobody has trained has an answer, which says what it rests
 * on. */
static void
test_own_model (void)
{
  g_autoptr (QmQuestion) question = ask ("own", QM_PREDICTIONS_NEEDED);
  g_autoptr (QmQuestion) none = ask ("own", QM_PREDICTIONS_NONE);
  g_autoptr (QmAdvice) advice = answer (question);
  g_autoptr (QmAdvice) empty = answer (none);
  QmRecommendation found =
      qm_advice_recommend (advice, question->budget_minor, NAN);
  QmRecommendation nothing =
      qm_advice_recommend (empty, question->budget_minor, NAN);
  g_autofree char *headline = qm_prose_headline (advice, question, &found);
  g_autofree char *reason = qm_prose_reason (empty, none, &nothing);
  g_auto (GStrv) warnings =
      qm_prose_warnings (advice, question, &found, (QmDate){ 2026, 11, 21 });
  g_auto (GStrv) notes = qm_prose_notes (advice, question);
  g_auto (GStrv) sources = qm_prose_sources (advice);

  g_assert_cmpint (nothing.outcome, ==, QM_OUTCOME_NOTHING);
  g_assert_nonnull (strstr (reason, "predictions"));
  g_assert_cmpint (found.outcome, ==, QM_OUTCOME_FOUND);
  check_prediction (find (advice, "h100-80gb-sxm", 1));
  check_prediction (find (advice, "rtx4090", 4));
  g_assert_cmpint (find (advice, "h100-80gb-sxm", 1)->prediction->forecast.kind,
                   ==, QM_FORECAST_OF_MODEL);
  g_assert_cmpint (find (advice, "rtx4090", 4)->prediction->forecast.kind, ==,
                   QM_FORECAST_OF_BOTH);
  g_assert_true (g_str_has_suffix (headline, "(predicted)"));
  g_assert_true (mentions (warnings, "The advice rests on a prediction"));
  g_assert_true (mentions (notes, "from those of other models on the same"));
  g_assert_true (mentions (notes, "was not looked at"));
  g_assert_true (mentions (sources, "predicted for PyTorch"));
}

/* What would be chosen if the best took as long as it may. */
static void
test_change (void)
{
  g_autoptr (QmQuestion) question = ask ("own", QM_PREDICTIONS_NEEDED);
  g_autoptr (QmAdvice) advice = answer (question);
  QmRecommendation found =
      qm_advice_recommend (advice, question->budget_minor, NAN);
  guint n;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n);
  const QmCandidate *best = &candidates[found.best];
  const QmCandidate *second = &candidates[found.runner_up];

  g_assert_cmpint (qm_advice_best_if (advice, question->budget_minor, NAN,
                                      found.best, best->days_low),
                   ==, found.best);
  g_assert_cmpint (qm_advice_best_if (advice, question->budget_minor, NAN,
                                      found.best, second->days * 1.001),
                   ==, found.runner_up);
  g_assert_cmpint (qm_advice_best_if (advice, question->budget_minor,
                                      best->days, found.best,
                                      best->days * 1.001),
                   ==, -1);
}

/* A line of qm-bench's about a GPU type. */
static void
plan (QmMemoryFit *fit, const char *gpu, gint64 states, gint64 available)
{
  json_t *line = json_pack ("{s:s, s:s, s:{s:I, s:i, s:i, s:i, s:i}, s:I, s:I}",
                            "gpu_id", gpu, "settings", "free-lunch",
                            "memory_bytes", "weights", (json_int_t) states,
                            "master_weights", 0, "gradients", 0, "optimizer", 0,
                            "host", 0, "smallest_bytes", (json_int_t) states,
                            "available_bytes", (json_int_t) available);

  g_assert_nonnull (line);
  g_assert_true (qm_memory_fit_add (fit, "own", line));
  json_decref (line);
}

/* What does not fit is no time, and not recommended. */
static void
test_memory (void)
{
  g_autoptr (QmQuestion) question = ask ("own", QM_PREDICTIONS_NEEDED);
  g_autoptr (QmAdvice) advice = NULL;
  const QmCandidate *two, *four;

  question->memory = qm_memory_fit_new ();
  plan (question->memory, "rtx4090", 100, 30);
  advice = answer (question);
  two = find (advice, "rtx4090", 2);
  four = find (advice, "rtx4090", 4);
  g_assert_cmpint (two->verdict, ==, QM_VERDICT_INFEASIBLE);
  g_assert_true (isnan (two->days));
  g_assert_false (two->eligible);
  g_assert_true (two->predicted);
  g_assert_cmpint (four->verdict, ==, QM_VERDICT_OK);
  g_assert_cmpint (four->prediction->fit, ==, QM_FIT_WELL);
  g_assert_true (four->eligible);
}

/* A year's runs of which some are known: the interval is that of those that are
 * predicted. */
static void
test_portfolio (void)
{
  g_autoptr (QmQuestion) question = ask (NULL, QM_PREDICTIONS_NEEDED);
  g_autoptr (QmQuestion) alone = ask ("own", QM_PREDICTIONS_NEEDED);
  g_autoptr (QmAdvice) advice = NULL;
  g_autoptr (QmAdvice) single = answer (alone);
  const QmCandidate *both, *one = find (single, "h100-80gb-sxm", 8);

  qm_question_add_run (question, "pythia-1b", 2);
  qm_question_add_run (question, "own", 1);
  advice = answer (question);
  both = find (advice, "h100-80gb-sxm", 8);
  g_assert_true (both->predicted);
  g_assert_cmpint (both->machines, ==, 1);
  g_assert_cmpfloat_with_epsilon (both->days - one->days,
                                  both->days_low - one->days_low, 1e-9);
  g_assert_cmpfloat_with_epsilon (both->days - one->days,
                                  both->days_high - one->days_high, 1e-9);
  g_assert_cmpfloat (both->days, >, one->days);
}

/* Known times of other software stay, and what was asked for is predicted. */
static void
test_foreign (void)
{
  g_autoptr (QmQuestion) question = ask ("pythia-1b", QM_PREDICTIONS_ALL);
  g_autoptr (QmAdvice) advice = NULL;

  question->times_of = QM_TIMES_OF_QUARTERMASTER;
  advice = answer (question);
  g_assert_true (find (advice, "h100-80gb-sxm", 1)->foreign);
  g_assert_cmpuint (count (advice, TRUE), >, 20);
}

/* Writes the user's model: one of the catalog's under another name. */
static void
write_own_model (const char *folder)
{
  g_autofree char *from = g_build_filename (g_getenv ("QM_MEASURED_DATA_DIR"),
                                            "models", "pythia-1b.json", NULL);
  g_autofree char *models = g_build_filename (folder, "models", NULL);
  g_autofree char *to = g_build_filename (models, "own.json", NULL);
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *contents = NULL;

  g_assert_true (g_file_get_contents (from, &contents, NULL, NULL));
  g_string_append (text, contents);
  g_assert_cmpuint (g_string_replace (text, "\"id\": \"pythia-1b\"",
                                      "\"id\": \"own\"", 0),
                    ==, 1);
  g_assert_cmpint (g_mkdir (models, 0700), ==, 0);
  g_assert_true (g_file_set_contents (to, text->str, -1, NULL));
}

static void
remove_own_model (const char *folder)
{
  g_autofree char *models = g_build_filename (folder, "models", NULL);
  g_autofree char *file = g_build_filename (models, "own.json", NULL);

  g_unlink (file);
  g_rmdir (models);
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  g_autofree char *folder = g_dir_make_tmp ("predictions-XXXXXX", NULL);
  size_t n_problems;
  QmError error;
  int status;

  g_test_init (&argc, &argv, NULL);
  write_own_model (folder);
  g_assert_cmpint (qm_catalog_load (g_getenv ("QM_MEASURED_DATA_DIR"), folder,
                                    &catalog, &error),
                   ==, QM_OK);
  qm_catalog_problems (catalog, &n_problems);
  g_assert_cmpuint (n_problems, ==, 0);
  g_test_add_func ("/predictions/asked-for", test_asked_for);
  g_test_add_func ("/predictions/illegible", test_illegible);
  g_test_add_func ("/predictions/own-model", test_own_model);
  g_test_add_func ("/predictions/change", test_change);
  g_test_add_func ("/predictions/memory", test_memory);
  g_test_add_func ("/predictions/portfolio", test_portfolio);
  g_test_add_func ("/predictions/foreign", test_foreign);
  status = g_test_run ();
  qm_catalog_free (catalog);
  remove_own_model (folder);
  return status;
}
