/* SPDX-License-Identifier: Apache-2.0 */

/* What nobody measured takes part in an advice where that is wanted, and is
 * marked everywhere. */

#include "config.h"

#include "answers.h"
#include "data/carry.h"
#include "data/training-rates.h"
#include "pricing/advice/qm-advice.h"
#include "pricing/advice/qm-odds.h"
#include "pricing/advice/qm-offers.h"
#include "pricing/advice/qm-prose.h"
#include "tests/pricing/forecasts.h"

#include <glib/gstdio.h>
#include <string.h>

static QmCatalog *catalog; /* with a model of the user's: "own" */

#define DAYS 400.0 /* of one GPU */

static QmQuestion *
ask (const char *model, QmPredictions predictions)
{
  QmQuestion *question = qm_question_new ();

  question->time_factor = 1;
  question->model = g_strdup (model);
  question->predictions = predictions;
  question->budget_minor = 40000 * 100;
  question->forecasts = qm_forecasts_new ();
  add_forecasts (question->forecasts, catalog, "pythia-1b", "tuned", DAYS);
  add_forecasts (question->forecasts, catalog, "own", "tuned", DAYS);
  return question;
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
  g_assert_cmpfloat (candidate->days, >=, DAYS / candidate->gpus);
  g_assert_cmpfloat (candidate->days, <, 1.1 * DAYS / candidate->gpus);
  g_assert_cmpint (candidate->prediction->forecast.fit, ==, QM_FIT_WELL);
  g_assert_cmpstr (whose, ==, "PyTorch, predicted");
  g_assert_nonnull (interval);
}

/* What nobody measured is predicted, unless that is not wanted, and only with
 * such a question's software. */
static void
test_asked_for (void)
{
  g_autoptr (QmQuestion) none = ask ("pythia-1b", QM_PREDICTIONS_NONE);
  g_autoptr (QmQuestion) all = ask ("pythia-1b", QM_PREDICTIONS_ALL);
  g_autoptr (QmQuestion) filtered = ask ("pythia-1b", QM_PREDICTIONS_ALL);
  g_autoptr (QmQuestion) eager = ask ("pythia-1b", QM_PREDICTIONS_ALL);
  g_autoptr (QmAdvice) without = answer (catalog, none);
  g_autoptr (QmAdvice) with = answer (catalog, all);
  g_autoptr (QmAdvice) few = NULL;
  g_autoptr (QmAdvice) other = NULL;
  const char *const gpus[] = { "rtx4090", NULL };

  g_assert_cmpuint (count (without, TRUE), ==, 0);
  g_assert_cmpuint (count (with, FALSE), ==, count (without, FALSE));
  g_assert_cmpuint (count (with, TRUE), >, 20);
  check_prediction (find (with, "rtx4090", 2));
  g_assert_null (find (with, "h100-80gb-sxm", 8)->prediction);
  /* Nobody can buy what has no price, nor is it built into a machine. */
  g_assert_null (find (with, "a10", 1));
  g_assert_null (find (with, "gb10", 1));

  filtered->gpus = g_strdupv ((GStrv) gpus);
  few = answer (catalog, filtered);
  g_assert_cmpuint (count (few, TRUE), ==, 4);
  g_assert_cmpuint (count (few, FALSE), ==, 0);

  eager->settings = QM_SETTINGS_EAGER;
  other = answer (catalog, eager);
  g_assert_cmpuint (count (other, TRUE), ==, 0);
}

/* What no dealer sells for five years and more takes part where any price
 * does. */
static void
test_old (void)
{
  g_autoptr (QmQuestion) question = ask ("own", QM_PREDICTIONS_ALL);
  g_autoptr (QmQuestion) any = ask ("own", QM_PREDICTIONS_ALL);
  g_autoptr (QmAdvice) without = NULL;
  g_autoptr (QmAdvice) with = NULL;

  question->today = any->today = (QmDate){ 2026, 11, 23 };
  any->any_price = TRUE;
  without = answer (catalog, question);
  with = answer (catalog, any);
  g_assert_null (find (without, "v100-32gb-pcie", 1));
  g_assert_nonnull (find (without, "a6000", 1));
  g_assert_nonnull (find (with, "v100-32gb-pcie", 1));
}

/* The time on one GPU that an advice counts, its interval with it. */
static double
days_on (const QmAdvice *advice, const char *gpu)
{
  const QmCandidate *candidate = find (advice, gpu, 1);

  g_assert_nonnull (candidate);
  g_assert_nonnull (candidate->prediction);
  g_assert_cmpfloat (candidate->days_low, <, candidate->days);
  g_assert_cmpfloat (candidate->days, <, candidate->days_high);
  return candidate->days;
}

/* What is predicted of a GPU is no faster than what was measured of one that is
 * better in everything; of others it may be. */
static void
test_held (void)
{
  g_autoptr (QmQuestion) question = ask ("pythia-1b", QM_PREDICTIONS_ALL);
  g_autoptr (QmAdvice) advice = NULL;
  g_auto (GStrv) notes = NULL;
  const QmCandidate *measured;

  g_clear_pointer (&question->forecasts, qm_forecasts_unref);
  question->forecasts = qm_forecasts_new ();
  add_forecasts (question->forecasts, catalog, "pythia-1b", "tuned", 8);
  advice = answer (catalog, question);
  measured = find (advice, "a100-80gb-sxm", 1);
  g_assert_nonnull (measured);
  g_assert_null (measured->prediction);
  g_assert_cmpfloat (measured->days, >, 20);
  g_assert_cmpfloat_with_epsilon (days_on (advice, "a100-40gb-pcie"),
                                  measured->days, 1e-9);
  g_assert_cmpfloat (days_on (advice, "b200-180gb-sxm"), <, 9);
  notes = qm_prose_notes (advice, question);
  g_assert_true (mentions (notes, "better in everything"));
}

/* In the publication nothing is predicted, and it is compared with nothing. */
static void
test_publication (void)
{
  g_autoptr (QmQuestion) question = ask ("pythia-1b", QM_PREDICTIONS_ALL);
  g_autoptr (QmAdvice) advice = NULL;
  guint n;
  const QmCandidate *candidates;

  qm_question_set_as_in_paper (question);
  g_assert_null (qm_question_level (question));
  advice = answer (catalog, question);
  candidates = qm_advice_candidates (advice, &n);
  g_assert_cmpuint (n, ==, 16);
  for (guint i = 0; i < n; i++)
    g_assert_cmpint (candidates[i].measurement->provenance, ==,
                     QM_PROVENANCE_PUBLISHED);
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
  add_forecast (question->forecasts, "convnext-xlarge", "naive",
                "h100-80gb-sxm", 1, DAYS);
  advice = answer (catalog, question);
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
  g_autoptr (QmQuestion) question = ask ("own", QM_PREDICTIONS_ALL);
  g_autoptr (QmQuestion) none = ask ("own", QM_PREDICTIONS_NONE);
  g_autoptr (QmAdvice) advice = answer (catalog, question);
  g_autoptr (QmAdvice) empty = answer (catalog, none);
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
  g_assert_true (g_str_has_suffix (headline, "(predicted)"));
  g_assert_true (mentions (warnings, "The advice rests on a prediction"));
  g_assert_true (mentions (notes, "times are predicted for compiled PyTorch"));
  g_assert_true (mentions (sources, "predicted for PyTorch"));
}

/* A question about two GPU types, of which the second is predicted to take so
 * many times as long as the first, within so many times that. */
static QmOdds
odds_with (double second, double deadline, double slack_percent, int *best)
{
  static const char *const gpus[] = { "rtx4090", "a6000", NULL };
  g_autoptr (QmQuestion) question = ask ("own", QM_PREDICTIONS_ALL);
  g_autoptr (QmAdvice) advice = NULL;
  QmRecommendation found;
  int one = 1;

  question->gpus = g_strdupv ((GStrv) gpus);
  question->counts = g_array_new (FALSE, FALSE, sizeof (int));
  g_array_append_val (question->counts, one);
  question->any_price = TRUE;
  question->slack_percent = slack_percent;
  add_forecast (question->forecasts, "own", "tuned", "rtx4090", 1, DAYS);
  add_forecast (question->forecasts, "own", "tuned", "a6000", 1, DAYS * second);
  advice = answer (catalog, question);
  found = qm_advice_recommend (advice, -1, DAYS * deadline);
  *best = found.best;
  return qm_odds_draw (advice, -1, DAYS * deadline, &found);
}

static QmOdds
odds_of (double second, double deadline)
{
  int best;

  return odds_with (second, deadline, 0, &best);
}

/* What times within the slack make of them: the dearer one has to be faster by
 * more. */
static void
test_slack (void)
{
  int fast, close, cheap, wide;
  QmOdds without = odds_with (0.98, NAN, 0, &fast);
  QmOdds with = odds_with (0.98, NAN, 5, &close);
  QmOdds far = odds_with (1.06, NAN, 5, &cheap);

  /* Half of the time is worth more than half of the money. */
  odds_with (0.5, NAN, 100, &wide);

  g_assert_cmpint (fast, >=, 0);
  g_assert_cmpint (close, !=, fast);
  g_assert_cmpint (cheap, ==, close);
  g_assert_cmpint (wide, ==, fast);
  g_assert_cmpfloat (with.best, >, 1 - without.best + 0.05);
  g_assert_cmpfloat (far.best, >, with.best);
}

/* The interval is from 0.8 to 1.25: a standard deviation of 0.136, and
 * two types do not share six tenths of the variance. */
static void
test_odds (void)
{
  QmOdds equal = odds_of (1.0001, NAN);
  QmOdds near = odds_of (1.05, NAN);
  QmOdds far = odds_of (2, NAN);
  QmOdds late = odds_of (1.5, 1.02);
  QmOdds early = odds_of (3, 1.146);

  g_assert_cmpfloat_with_epsilon (equal.best, 0.5, 0.06);
  g_assert_cmpfloat_with_epsilon (equal.best + equal.share, 1, 1e-9);
  g_assert_cmpint (equal.other, >=, 0);
  /* log 1.05 / (0.136 sqrt (2 x 0.6)) = 0.33 standard deviations. */
  g_assert_cmpfloat_with_epsilon (near.best, 0.63, 0.06);
  g_assert_cmpfloat (far.best, ==, 1);
  g_assert_cmpint (far.other, ==, -1);
  /* log 1.02 / 0.136 = 0.146: in time with 0.56. */
  g_assert_cmpfloat_with_epsilon (late.best, 0.56, 0.06);
  g_assert_cmpint (late.other, ==, -1);
  g_assert_cmpfloat_with_epsilon (late.best + late.share, 1, 0.02);
  /* One standard deviation of all that it shares and does not: 0.84. */
  g_assert_cmpfloat_with_epsilon (early.best, 0.841, 0.03);
}

/* What does not fit is no time, and not recommended; what fits with the memory
 * of the host takes that. */
static void
test_memory (void)
{
  g_autoptr (QmQuestion) question = ask ("own", QM_PREDICTIONS_ALL);
  g_autoptr (QmAdvice) advice = NULL;
  g_auto (GStrv) notes = NULL;
  json_t *line =
      forecast_line ("tuned", "rtx4090", 4, 100, G_GINT64_CONSTANT (96) << 30);
  const QmCandidate *two, *four, *eight;

  add_forecast (question->forecasts, "own", "tuned", "rtx4090", 2, -1);
  g_assert_true (qm_forecasts_add (question->forecasts, "own", line));
  json_decref (line);
  advice = answer (catalog, question);
  two = find (advice, "rtx4090", 2);
  four = find (advice, "rtx4090", 4);
  eight = find (advice, "rtx4090", 8);
  g_assert_cmpint (two->verdict, ==, QM_VERDICT_INFEASIBLE);
  g_assert_true (isnan (two->days));
  g_assert_false (two->eligible);
  g_assert_true (two->predicted);
  g_assert_cmpint (four->verdict, ==, QM_VERDICT_OK);
  g_assert_cmpfloat (four->host_gib, ==, 96);
  g_assert_cmpfloat (eight->host_gib, ==, 0);
  notes = qm_prose_notes (advice, question);
  g_assert_true (
      mentions (notes, "RTX 4090: some of them train sooner, or at all"));
  g_assert_true (mentions (notes, "up to 96 GiB"));
}

/* That nothing could be predicted, or not yet, is said. */
static void
test_lack (void)
{
  g_autoptr (QmQuestion) question = ask ("pythia-1b", QM_PREDICTIONS_ALL);
  g_autoptr (QmAdvice) advice = NULL;
  g_auto (GStrv) pending = NULL;
  g_auto (GStrv) failed = NULL;
  g_auto (GStrv) other = NULL;

  qm_forecasts_unref (question->forecasts);
  question->forecasts = qm_forecasts_new ();
  qm_forecasts_set_pending (question->forecasts, TRUE);
  advice = answer (catalog, question);
  g_assert_cmpuint (count (advice, TRUE), ==, 0);
  pending = qm_prose_notes (advice, question);
  g_assert_true (mentions (pending, "are being predicted"));
  qm_forecasts_set_pending (question->forecasts, FALSE);
  qm_forecasts_set_problem (question->forecasts, "pythia-1b", "tuned",
                            "there is no qm-bench");
  failed = qm_prose_notes (advice, question);
  g_assert_true (mentions (failed, "not predicted: there is no qm-bench"));
  question->times_of = QM_TIMES_OF_QUARTERMASTER;
  question->settings = QM_SETTINGS_NAIVE;
  other = qm_prose_notes (advice, question);
  g_assert_true (mentions (other, "Of Quartermaster only times with optimal"));
}

static void
add_unsupported (QmForecasts *forecasts,
                 const char *gpu,
                 int gpus,
                 const char *why)
{
  json_t *line = json_pack ("{s:s, s:s, s:i, s:s}", "level", "tuned", "gpu_id",
                            gpu, "gpus", gpus, "unsupported", why);

  g_assert_true (qm_forecasts_add (forecasts, "pythia-1b", line));
  json_decref (line);
}

/* What is asked for by name, or sold, and cannot be predicted in any number, is
 * said to take no part. */
static void
test_unsupported (void)
{
  g_autoptr (QmQuestion) question = ask ("pythia-1b", QM_PREDICTIONS_ALL);
  g_autoptr (QmAdvice) unasked = NULL;
  g_autoptr (QmAdvice) asked = NULL;
  g_autoptr (QmAdvice) some = NULL;
  g_auto (GStrv) notes = NULL;
  const GPtrArray *gpus;

  qm_forecasts_unref (question->forecasts);
  question->forecasts = qm_forecasts_new ();
  for (int n = 1; n <= 8; n *= 2)
    {
      add_unsupported (question->forecasts, "rtx4090", n, "nobody knows");
      add_unsupported (question->forecasts, "mi300x", n, "nobody knows");
      if (n > 1)
        add_unsupported (question->forecasts, "h100-80gb-sxm", n,
                         "nobody knows");
    }
  add_forecast (question->forecasts, "pythia-1b", "tuned", "h100-80gb-sxm", 1,
                50);
  unasked = answer (catalog, question);
  gpus = qm_advice_unpredicted (unasked);
  g_assert_cmpuint (gpus->len, ==, 1);
  g_assert_cmpstr (((const QmGpu *) gpus->pdata[0])->id, ==, "rtx4090");
  g_strfreev (question->gpus);
  question->gpus = g_strsplit ("mi300x h100-80gb-sxm", " ", -1);
  asked = answer (catalog, question);
  gpus = qm_advice_unpredicted (asked);
  g_assert_cmpuint (gpus->len, ==, 1);
  g_assert_cmpstr (((const QmGpu *) gpus->pdata[0])->id, ==, "mi300x");
  notes = qm_prose_notes (asked, question);
  g_assert_true (mentions (notes, "MI300X: nothing is known to predict"));
  question->predictions = QM_PREDICTIONS_NONE;
  some = answer (catalog, question);
  g_assert_cmpuint (qm_advice_unpredicted (some)->len, ==, 0);
}

/* That what is asked about is in FP8 is said, and not that nothing is known of
 * a GPU, unless that is the reason. */
static void
test_unsupported_fp8 (void)
{
  g_autoptr (QmQuestion) question = ask ("pythia-1b", QM_PREDICTIONS_ALL);
  g_autoptr (QmAdvice) advice = NULL;
  g_auto (GStrv) notes = NULL;
  g_autofree char *why = NULL;
  QmRecommendation nothing = { .outcome = QM_OUTCOME_NOTHING };

  qm_forecasts_unref (question->forecasts);
  question->forecasts = qm_forecasts_new ();
  question->gpus = g_strsplit ("rtx4090 mi300x", " ", -1);
  for (int n = 1; n <= 8; n *= 2)
    {
      add_unsupported (question->forecasts, "rtx4090", n,
                       n == 4 ? "nobody knows" : QM_PREDICT_NO_FP8);
      add_unsupported (question->forecasts, "mi300x", n, "nobody knows");
    }
  advice = answer (catalog, question);
  g_assert_true (qm_advice_lacks_fp8 (advice));
  g_assert_cmpuint (qm_advice_unpredicted (advice)->len, ==, 1);
  notes = qm_prose_notes (advice, question);
  g_assert_true (mentions (notes, "trainings in FP8 are not predicted"));
  g_assert_true (mentions (notes, "MI300X: nothing is known"));
  g_assert_false (mentions (notes, "4090: nothing is known"));
  why = qm_prose_why (advice, question, &nothing);
  g_assert_nonnull (strstr (why, "ask about a recipe in bf16"));
}

/* A year's runs of which some are known: the interval is that of those that are
 * predicted. */
static void
test_portfolio (void)
{
  g_autoptr (QmQuestion) question = ask (NULL, QM_PREDICTIONS_ALL);
  g_autoptr (QmQuestion) alone = ask ("own", QM_PREDICTIONS_ALL);
  g_autoptr (QmAdvice) advice = NULL;
  g_autoptr (QmAdvice) single = answer (catalog, alone);
  const QmCandidate *both, *one = find (single, "h100-80gb-sxm", 8);

  qm_question_add_run (question, "pythia-1b", 2);
  qm_question_add_run (question, "own", 1);
  advice = answer (catalog, question);
  both = find (advice, "h100-80gb-sxm", 8);
  g_assert_true (both->predicted);
  g_assert_cmpint (both->machines, ==, 1);
  g_assert_cmpfloat_with_epsilon (both->days - one->days,
                                  both->days_low - one->days_low, 1e-9);
  g_assert_cmpfloat_with_epsilon (both->days - one->days,
                                  both->days_high - one->days_high, 1e-9);
  g_assert_cmpfloat (both->days, >, one->days);
}

/* Times of other software are left out, and what is predicted there is not. */
static void
test_left_out (void)
{
  g_autoptr (QmQuestion) question = ask ("pythia-1b", QM_PREDICTIONS_ALL);
  g_autoptr (QmAdvice) advice = NULL;

  question->times_of = QM_TIMES_OF_QUARTERMASTER;
  add_forecast (question->forecasts, "pythia-1b", "engine", "h100-80gb-sxm", 2,
                20);
  advice = answer (catalog, question);
  g_assert_null (find (advice, "h100-80gb-sxm", 1));
  g_assert_false (is_left_out (advice, "h100-80gb-sxm", 2));
  g_assert_true (is_left_out (advice, "h100-80gb-sxm", 1));
  g_assert_cmpfloat (find (advice, "h100-80gb-sxm", 2)->days, ==, 20);
  g_assert_cmpuint (count (advice, TRUE), ==, 1);
}

/* Writes the user's model: one of the catalog's under another name. */
/* What is said of a candidate of which `link`, and `bridged` days if any, are
 * predicted.  (transfer full) */
static char *
link_of (const char *id, int gpus, const char *link, double bridged)
{
  g_autoptr (QmQuestion) question = ask ("pythia-1b", QM_PREDICTIONS_ALL);
  json_t *line = forecast_line ("tuned", id, gpus, 20, 0);
  g_autoptr (QmAdvice) advice = NULL;
  g_autofree char *about = NULL;
  char *said;

  json_object_set_new (line, "link", json_string (link));
  if (bridged > 0)
    json_object_set_new (line, "bridged", json_pack ("{s:f}", "days", bridged));
  g_assert_true (qm_forecasts_add (question->forecasts, "pythia-1b", line));
  json_decref (line);
  advice = answer (catalog, question);
  g_assert_nonnull (find (advice, id, gpus));
  said = qm_prose_link (find (advice, id, gpus));
  about = qm_prose_about_machine (find (advice, id, gpus), NULL);
  g_assert_true (said == NULL || strstr (about, said) != NULL);
  return said;
}

/* A board, cards that read their neighbours' memory, cards that do not, and
 * cards that a bridge would join are told apart. */
static void
test_links (void)
{
  g_autofree char *board = link_of ("h200-141gb-sxm", 8, "nvlink", 0);
  g_autofree char *peers = link_of ("rtxpro6000-ws", 4, "pcie", 0);
  g_autofree char *host = link_of ("rtx4090", 4, "host", 0);
  g_autofree char *bridge = link_of ("a5000", 2, "pcie", 15);
  g_autofree char *useless = link_of ("a5000", 2, "pcie", 19.9);
  g_autofree char *one = link_of ("rtx4090", 1, "none", 0);
  g_autofree char *unsaid = link_of ("rtx4090", 4, "somehow", 0);

  g_assert_nonnull (strstr (board, "NVLink"));
  g_assert_nonnull (strstr (peers, "from card to card"));
  g_assert_nonnull (strstr (host, "the memory of the host"));
  g_assert_nonnull (strstr (bridge, "would save 25\u00a0%"));
  g_assert_true (g_str_has_prefix (peers, useless));
  g_assert_null (one);
  g_assert_null (unsaid);
}

/* Where a machine's places are slower than its cards, that is said, unless the
 * time knows it. */
static void
test_places (void)
{
  QmForecast forecast = { .link = "host", .days = 20, .half_lanes = NAN };
  QmPredicted predicted = { .forecast = forecast };
  QmPlatform platform = { .pcie_generation = 5, .pcie_lanes = 8 };
  QmCandidate candidate = { .gpu = qm_catalog_gpu (catalog, "rtx5090"),
                            .gpus = 2,
                            .platform = &platform,
                            .prediction = &predicted };
  g_autofree char *slow = qm_prose_link (&candidate);
  g_autofree char *older = NULL;
  g_autofree char *counted = NULL;
  g_autofree char *slowed = NULL;
  g_autofree char *fast = NULL;

  /* A card of the generation before moves no more by the newer one's place. */
  candidate.gpu = qm_catalog_gpu (catalog, "rtx4090");
  older = qm_prose_link (&candidate);
  predicted.forecast.half_lanes = 21;
  counted = qm_prose_link (&candidate);
  predicted.slowed = TRUE;
  slowed = qm_prose_link (&candidate);
  predicted.slowed = FALSE;
  platform.pcie_lanes = 16;
  candidate.gpu = qm_catalog_gpu (catalog, "rtx5090");
  fast = qm_prose_link (&candidate);
  g_assert_nonnull (strstr (slow, "(PCIe 5.0 x8) than its cards "
                                  "(PCIe 5.0 x16)"));
  g_assert_nonnull (strstr (older, "(PCIe 5.0 x8) than its cards "
                                   "(PCIe 4.0 x16)"));
  g_assert_cmpstr (counted, ==, fast);
  g_assert_nonnull (strstr (slowed, "the time is that of such places"));
  g_assert_null (strstr (fast, "slower"));
}

/* Says that cards take 20 days, and with half of their lanes 24. */
static void
add_slower (QmQuestion *question, const char *model, const char *id, int gpus)
{
  json_t *line = forecast_line ("tuned", id, gpus, 20, 0);

  json_object_set_new (line, "half_lanes", json_pack ("{s:f}", "days", 24.0));
  g_assert_true (qm_forecasts_add (question->forecasts, model, line));
  json_decref (line);
}

/* Cards take as long as the places of the machine that carries them make it, of
 * one model and of a year's runs. */
static void
test_lanes (void)
{
  g_autoptr (QmQuestion) question = ask ("own", QM_PREDICTIONS_ALL);
  g_autoptr (QmQuestion) year = ask (NULL, QM_PREDICTIONS_ALL);
  g_autoptr (QmAdvice) single = NULL;
  g_autoptr (QmAdvice) portfolio = NULL;
  const QmCandidate *newer, *same, *runs;

  add_slower (question, "own", "rtxpro6000-ws", 2);
  add_slower (question, "own", "rtx4090", 4);
  single = answer (catalog, question);
  newer = find (single, "rtxpro6000-ws", 2);
  same = find (single, "rtx4090", 4);
  g_assert_cmpfloat (qm_carry_share_of_lanes (newer->platform, newer->gpu), ==,
                     0.5);
  g_assert_cmpfloat_with_epsilon (newer->days, 24, 1e-9);
  g_assert_cmpfloat_with_epsilon (newer->days_high / newer->days, 1.25, 1e-9);
  g_assert_cmpfloat (qm_carry_share_of_lanes (same->platform, same->gpu), ==,
                     1);
  g_assert_cmpfloat_with_epsilon (same->days, 20, 1e-9);

  add_slower (year, "own", "rtxpro6000-ws", 2);
  qm_question_add_run (year, "own", 1);
  portfolio = answer (catalog, year);
  runs = find (portfolio, "rtxpro6000-ws", 2);
  g_assert_cmpfloat_with_epsilon (runs->longest_days, 24, 1e-9);
}

/* A whole machine that is offered has its own places, which nobody knows. */
static void
test_lanes_offered (void)
{
  const QmDate day = { 2026, 11, 1 }, until = { 2026, 12, 31 };
  g_autoptr (QmQuestion) question = ask ("own", QM_PREDICTIONS_ALL);
  g_autoptr (QmQuestion) year = ask (NULL, QM_PREDICTIONS_ALL);
  g_autoptr (GPtrArray) quotes =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
  g_autoptr (QmAdvice) single = NULL;
  g_autoptr (QmAdvice) portfolio = NULL;
  QmQuote *quote = qm_quote_new ();
  QmQuoteLine *line = qm_quote_add_line (quote, QM_LINE_QUOTED);

  quote->id = 1;
  quote->vendor = g_strdup ("Delta");
  g_strlcpy (quote->currency, "USD", sizeof quote->currency);
  quote->issued_on = day;
  quote->valid_until = until;
  line->description = g_strdup ("GPU server, 2x RTX PRO 6000");
  line->item = g_strdup ("rtxpro6000-ws");
  line->match = QM_MATCH_FOUND;
  line->gpus = 2;
  line->quantity_micros = 1000000;
  line->price_micros = INT64_C (30000) * 1000000;
  g_ptr_array_add (quotes, quote);

  add_slower (question, "own", "rtxpro6000-ws", 2);
  question->offers =
      qm_offers_new (catalog, quotes, NULL, (QmDate){ 2026, 11, 20 });
  single = answer (catalog, question);
  g_assert_true (qm_candidate_is_whole (find (single, "rtxpro6000-ws", 2)));
  g_assert_cmpfloat_with_epsilon (find (single, "rtxpro6000-ws", 2)->days, 20,
                                  1e-9);

  add_slower (year, "own", "rtxpro6000-ws", 2);
  qm_question_add_run (year, "own", 1);
  year->offers = qm_offers_ref (question->offers);
  portfolio = answer (catalog, year);
  g_assert_true (qm_candidate_is_whole (find (portfolio, "rtxpro6000-ws", 2)));
  g_assert_cmpfloat_with_epsilon (
      find (portfolio, "rtxpro6000-ws", 2)->longest_days, 20, 1e-9);
}

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

/* Of an old GPU there is a price that nobody sells at. */
static void
write_claim (const char *folder)
{
  g_autofree char *file = g_build_filename (folder, "prices.csv", NULL);

  g_assert_true (
      g_file_set_contents (file,
                           "item,kind,price,currency,observed_on,source\n"
                           "v100-32gb-pcie,claim,500,USD,2026-11-01,somebody\n",
                           -1, NULL));
}

static void
remove_own_model (const char *folder)
{
  g_autofree char *models = g_build_filename (folder, "models", NULL);
  g_autofree char *file = g_build_filename (models, "own.json", NULL);

  g_autofree char *prices = g_build_filename (folder, "prices.csv", NULL);

  g_unlink (file);
  g_unlink (prices);
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
  write_claim (folder);
  g_assert_cmpint (qm_catalog_load (g_getenv ("QM_MEASURED_DATA_DIR"), folder,
                                    &catalog, &error),
                   ==, QM_OK);
  qm_catalog_problems (catalog, &n_problems);
  g_assert_cmpuint (n_problems, ==, 0);
  g_test_add_func ("/predictions/asked-for", test_asked_for);
  g_test_add_func ("/predictions/old", test_old);
  g_test_add_func ("/predictions/held", test_held);
  g_test_add_func ("/predictions/publication", test_publication);
  g_test_add_func ("/predictions/illegible", test_illegible);
  g_test_add_func ("/predictions/own-model", test_own_model);
  g_test_add_func ("/predictions/odds", test_odds);
  g_test_add_func ("/predictions/slack", test_slack);
  g_test_add_func ("/predictions/links", test_links);
  g_test_add_func ("/predictions/places", test_places);
  g_test_add_func ("/predictions/lanes", test_lanes);
  g_test_add_func ("/predictions/lanes-offered", test_lanes_offered);
  g_test_add_func ("/predictions/memory", test_memory);
  g_test_add_func ("/predictions/lack", test_lack);
  g_test_add_func ("/predictions/unsupported", test_unsupported);
  g_test_add_func ("/predictions/unsupported/fp8", test_unsupported_fp8);
  g_test_add_func ("/predictions/portfolio", test_portfolio);
  g_test_add_func ("/predictions/left-out", test_left_out);
  status = g_test_run ();
  qm_catalog_free (catalog);
  remove_own_model (folder);
  return status;
}
