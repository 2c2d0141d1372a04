/* SPDX-License-Identifier: Apache-2.0 */

/* This machine as a candidate: it costs nothing, no filter leaves it out, and
 * it is never recommended to buy. */

#include "answers.h"
#include "data/identity.h"
#include "pricing/advice/qm-advice.h"
#include "pricing/advice/qm-ownership.h"
#include "pricing/advice/qm-prose.h"
#include "tests/pricing/forecasts.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

static QmCatalog *catalog;
static char *folder;
static QmIdentity machine_here;

/* A line of a results file of some machine; NULL: it does not say which. */
static char *
line_at (const char *machine,
         const char *model,
         const char *status,
         const char *settings,
         const char *gpu,
         gint64 micro_batch,
         double days)
{
  const QmModel *known = qm_catalog_model (catalog, model);
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  char key[QM_MODEL_KEY_BYTES] = "0123456789abcdef";
  g_autofree char *where =
      machine != NULL
          ? g_strdup_printf ("\"machine\": {\"id\": \"%s\"},", machine)
          : g_strdup ("");

  if (known != NULL)
    qm_model_key (&known->config, &known->recipe, key);
  g_ascii_formatd (number, sizeof number, "%.17g", days);
  return g_strdup_printf (
      "{\"schema\": 1, \"status\": \"%s\", \"model\": \"%s\","
      " \"model_key\": \"%s\", \"settings\": \"%s\", \"checkpointing\": false,"
      " \"sharding\": \"none\", \"offloading\": false,"
      " \"precision\": \"bf16\", \"micro_batch\": %" G_GINT64_FORMAT ","
      " \"accumulation\": 8, \"gpu\": \"%s\", \"gpus\": 1,"
      " \"engine\": \"quartermaster\", \"version\": \"0.1.0\","
      " \"provenance\": \"measured\", \"deterministic\": false, \"time\": "
      "\"2026-11-20T10:00:00Z\","
      " \"reason\": \"made up\", %s"
      " \"device\": {\"name\": \"A device\", \"driver\": \"1\","
      " \"architecture\": 80, \"memory_bytes\": 1000},"
      " \"pass\": {\"mean_s\": 1}, \"update\": {\"mean_s\": 1},"
      " \"step\": {\"mean_s\": 9}, \"days\": %s}\n",
      status, model, key, settings, micro_batch, gpu, where, number);
}

static char *
line_of (const char *model,
         const char *status,
         const char *settings,
         const char *gpu,
         gint64 micro_batch,
         double days)
{
  return line_at (machine_here.machine, model, status, settings, gpu,
                  micro_batch, days);
}

/* Writes lines, which it takes, and reads them. */
static QmHostTimes *
times_of (char *first, char *second, char *third)
{
  g_autofree char *path = g_build_filename (folder, "here.jsonl", NULL);
  g_autofree char *text = g_strconcat (first, second != NULL ? second : "",
                                       third != NULL ? third : "", NULL);
  QmHostTimes *times;

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  times = qm_host_times_load (catalog, path);
  g_unlink (path);
  g_free (first);
  g_free (second);
  g_free (third);
  return times;
}

static QmQuestion *
ask (QmHostTimes *times, QmTimesOf times_of)
{
  QmQuestion *question = qm_question_new ();

  question->time_factor = 1;
  question->model = g_strdup ("pythia-1b");
  question->times_of = times_of;
  if (times != NULL)
    question->host = qm_host_times_ref (times);
  return question;
}

/* This machine among the candidates, of which there must be `n`. */
static const QmCandidate *
find (const QmAdvice *advice, guint n)
{
  const QmCandidate *found = NULL;
  guint n_candidates, n_found = 0;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n_candidates);

  for (guint i = 0; i < n_candidates; i++)
    if (candidates[i].here)
      {
        found = &candidates[i];
        n_found++;
      }
  g_assert_cmpuint (n_found, ==, n);
  return found;
}

static void
test_times (void)
{
  g_autoptr (QmHostTimes) times =
      times_of (line_of ("pythia-1b", "measured", "free-lunch", "a6000", 8, 90),
                line_of ("pythia-1b", "measured", "free-lunch", "a6000", 4, 80),
                line_of ("pythia-1b", "measured", "naive", "a6000", 4, 200));
  const QmMeasurement *list;
  guint n;

  g_assert_nonnull (times);
  list = qm_host_times_list (times, &n);
  g_assert_cmpuint (n, ==, 2);
  g_assert_cmpfloat (list[0].days, ==, 80);
  g_assert_cmpint (list[0].micro_batch_size, ==, 4);
  g_assert_cmpint (list[0].settings, ==, QM_SETTINGS_OPTIMAL);
  g_assert_cmpint (list[0].provenance, ==, QM_PROVENANCE_MEASURED);
  g_assert_cmpstr (list[0].source, ==, "here.jsonl, line 2");
  g_assert_cmpint (list[1].settings, ==, QM_SETTINGS_NAIVE);
  g_assert_cmpfloat (list[1].days, ==, 200);
}

/* Only what says that it is of this machine is; what does not say anything is
 * counted. */
static void
test_whose (void)
{
  static const char other[] = "0123456789abcdef0123456789abcdef";
  g_autoptr (QmHostTimes) times = times_of (
      line_at (other, "pythia-1b", "measured", "free-lunch", "a6000", 8, 10),
      line_at (NULL, "pythia-1b", "measured", "free-lunch", "a6000", 4, 20),
      line_of ("pythia-1b", "measured", "free-lunch", "a6000", 2, 90));
  g_autoptr (QmHostTimes) none = NULL;
  const QmMeasurement *list;
  guint n;

  g_assert_nonnull (times);
  list = qm_host_times_list (times, &n);
  g_assert_cmpuint (n, ==, 1);
  g_assert_cmpfloat (list[0].days, ==, 90);
  g_assert_cmpuint (qm_host_times_n_unsaid (times), ==, 1);

  none = times_of (line_at (NULL, "pythia-1b", "measured", "naive", "a6000", 4,
                            20),
                   NULL, NULL);
  g_assert_nonnull (none);
  qm_host_times_list (none, &n);
  g_assert_cmpuint (n, ==, 0);
  g_assert_null (times_of (line_at (other, "pythia-1b", "measured", "naive",
                                    "a6000", 4, 20),
                           NULL, NULL));
}

/* All files of the user's are looked through, whatever they are called. */
static void
test_files (void)
{
  g_autofree char *data =
      g_build_filename (folder, "quartermaster", "measurements", NULL);
  g_autofree char *old = g_build_filename (data, "old-name.jsonl", NULL);
  g_autofree char *bad = g_build_filename (data, "bad.jsonl", NULL);
  g_autofree char *line =
      line_of ("pythia-1b", "measured", "naive", "a6000", 4, 20);
  g_autoptr (QmHostTimes) times = NULL;
  guint n;

  g_setenv ("XDG_DATA_HOME", folder, TRUE);
  g_assert_cmpint (g_mkdir_with_parents (data, 0700), ==, 0);
  g_assert_true (g_file_set_contents (old, line, -1, NULL));
  g_assert_cmpint (mkfifo (bad, 0600), ==, 0);
  times = qm_host_times_load (catalog, NULL);
  g_assert_nonnull (times);
  qm_host_times_list (times, &n);
  g_assert_cmpuint (n, ==, 1);
  g_unlink (old);
  g_unlink (bad);
  g_rmdir (data);
  g_free (data);
  data = g_build_filename (folder, "quartermaster", NULL);
  g_rmdir (data);
}

static void
test_nothing (void)
{
  g_assert_null (qm_host_times_load (catalog, "/nonexistent/file.jsonl"));
  g_assert_null (times_of (g_strdup ("{\"schema\": 1\n"), NULL, NULL));
  g_assert_null (times_of (g_strdup (""), NULL, NULL));
  g_assert_null (
      times_of (line_of ("pythia-1b", "failed", "naive", "a6000", 1, 0),
                line_of ("no-model", "measured", "naive", "a6000", 1, 9),
                line_of ("pythia-1b", "measured", "naive", "no-gpu", 1, 9)));
}

static void
test_candidate (void)
{
  g_autoptr (QmHostTimes) times =
      times_of (line_of ("pythia-1b", "measured", "free-lunch", "a6000", 4, 99),
                line_of ("vit-large", "measured", "free-lunch", "a6000", 4, 50),
                NULL);
  g_autoptr (QmQuestion) question = ask (times, QM_TIMES_OF_QUARTERMASTER);
  g_autoptr (QmQuestion) without = ask (NULL, QM_TIMES_OF_QUARTERMASTER);
  g_autoptr (QmAdvice) advice = answer (catalog, question);
  g_autoptr (QmAdvice) plain = answer (catalog, without);
  const QmCandidate *here = find (advice, 1);
  g_autofree char *name = qm_prose_candidate (here);
  g_autofree char *machine = qm_prose_machine (here);

  find (plain, 0);
  g_assert_cmpfloat (here->days, ==, 99);
  g_assert_cmpint (here->cost_minor, ==, 0);
  g_assert_cmpfloat (here->experiment_cost, ==, 0);
  g_assert_false (here->eligible);
  g_assert_false (here->on_frontier);
  g_assert_null (here->gpu_price);
  g_assert_null (here->machine_price);
  g_assert_true (here->implied_utilization > 0);
  g_assert_true (qm_candidate_within (here, 0, NAN));
  g_assert_false (qm_candidate_within (here, 0, 98));
  g_assert_true (g_str_has_prefix (name, "This machine"));
  g_assert_cmpstr (machine, ==, "is here already");
}

/* Where costs are totals, it takes power, and has no price. */
static void
test_total (void)
{
  g_autoptr (QmHostTimes) times =
      times_of (line_of ("pythia-1b", "measured", "free-lunch", "a6000", 4, 99),
                NULL, NULL);
  g_autoptr (QmQuestion) question = ask (times, QM_TIMES_OF_QUARTERMASTER);
  g_autoptr (QmAdvice) advice = NULL;
  QmOwnershipSettings settings = qm_ownership_settings_default ();
  const QmCandidate *here;

  settings.parts = QM_OWNERSHIP_ALL;
  qm_question_set_ownership (question, &settings);
  advice = answer (catalog, question);
  here = find (advice, 1);
  g_assert_cmpint (here->price_minor, ==, 0);
  g_assert_cmpint (here->cost_minor, >, 0);
  g_assert_true (here->experiment_cost > 0);
  g_assert_false (here->eligible);
}

/* Whatever may be bought. */
static void
test_filters (void)
{
  g_autoptr (QmHostTimes) times =
      times_of (line_of ("pythia-1b", "measured", "free-lunch", "a6000", 4, 99),
                NULL, NULL);
  g_autoptr (QmQuestion) question = ask (times, QM_TIMES_OF_QUARTERMASTER);
  g_autoptr (QmAdvice) advice = NULL;
  int count = 8;

  question->gpus = g_strsplit ("a100-80gb-pcie", ",", -1);
  if (qm_catalog_gpu (catalog, question->gpus[0]) == NULL)
    g_clear_pointer (&question->gpus, g_strfreev);
  question->counts = g_array_new (FALSE, FALSE, sizeof (int));
  g_array_append_val (question->counts, count);
  question->kinds = QM_KINDS_SERVER;
  advice = answer (catalog, question);
  find (advice, 1);
  question->settings = QM_SETTINGS_NAIVE;
  g_clear_pointer (&advice, qm_advice_free);
  advice = answer (catalog, question);
  find (advice, 0);
}

/* The recommendation is the same as without it, whatever the limits. */
static void
test_recommendation (void)
{
  g_autoptr (QmHostTimes) times =
      times_of (line_of ("pythia-1b", "measured", "free-lunch", "a6000", 4,
                         0.5),
                NULL, NULL);
  const gint64 budgets[] = { 0, 500000, 4000000, 100000000, -1 };
  const double deadlines[] = { 0.1, 1, 40, 1000, NAN };

  for (int software = 0; software < QM_N_TIMES_OF; software++)
    {
      g_autoptr (QmQuestion) question = ask (times, (QmTimesOf) software);
      g_autoptr (QmQuestion) without = ask (NULL, (QmTimesOf) software);
      g_autoptr (QmAdvice) advice = answer (catalog, question);
      g_autoptr (QmAdvice) plain = answer (catalog, without);

      for (gsize i = 0; i < G_N_ELEMENTS (budgets); i++)
        for (gsize j = 0; j < G_N_ELEMENTS (deadlines); j++)
          {
            QmRecommendation a =
                qm_advice_recommend (advice, budgets[i], deadlines[j]);
            QmRecommendation b =
                qm_advice_recommend (plain, budgets[i], deadlines[j]);

            g_assert_cmpmem (&a, sizeof a, &b, sizeof b);
          }
    }
}

static char *
last_alternative (double days, gint64 budget)
{
  g_autoptr (QmHostTimes) times =
      times_of (line_of ("pythia-1b", "measured", "free-lunch", "a6000", 4,
                         days),
                NULL, NULL);
  g_autoptr (QmQuestion) question = ask (times, QM_TIMES_OF_PYTORCH);
  g_autoptr (QmAdvice) advice = NULL;
  g_auto (GStrv) lines = NULL;
  QmRecommendation found;
  guint n;

  question->forecasts = qm_forecasts_new ();
  add_forecast (question->forecasts, "pythia-1b", "tuned", "a6000", 1, days);
  advice = answer (catalog, question);
  found = qm_advice_recommend (advice, budget, NAN);
  lines = qm_prose_alternatives (advice, &found, NULL);
  n = g_strv_length (lines);

  g_assert_cmpuint (n, >, 0);
  return g_strdup (lines[n - 1]);
}

static void
test_prose (void)
{
  g_autofree char *wait = last_alternative (5000, -1);
  g_autofree char *keep = last_alternative (0.01, -1);
  g_autofree char *only = last_alternative (5000, 0);

  g_assert_true (g_str_has_prefix (wait, "Wait: This machine (1 × "));
  g_assert_nonnull (strstr (wait, "is paid for and takes"));
  g_assert_true (g_str_has_prefix (keep, "Buy nothing: This machine"));
  g_assert_nonnull (strstr (keep, "no longer than"));
  g_assert_true (g_str_has_prefix (only, "Buy nothing: This machine"));
  g_assert_nonnull (strstr (only, "is paid for and takes"));
}

/* Of other software its time is predicted, or where that is not known left
 * out. */
static void
test_other_software (void)
{
  g_autoptr (QmHostTimes) times =
      times_of (line_of ("pythia-1b", "measured", "free-lunch", "a6000", 4, 99),
                NULL, NULL);
  g_autoptr (QmQuestion) question = ask (times, QM_TIMES_OF_PYTORCH);
  g_autoptr (QmQuestion) predicted = ask (times, QM_TIMES_OF_PYTORCH);
  g_autoptr (QmQuestion) published = ask (times, QM_TIMES_OF_PUBLICATION);
  g_autoptr (QmAdvice) advice = answer (catalog, question);
  g_autoptr (QmAdvice) better = NULL;
  g_autoptr (QmAdvice) other = answer (catalog, published);
  const QmCandidate *here;

  find (advice, 0);
  g_assert_cmpuint (qm_advice_left_out (advice)->len, ==, 1);

  predicted->forecasts = qm_forecasts_new ();
  add_forecast (predicted->forecasts, "pythia-1b", "tuned", "a6000", 1, 140);
  better = answer (catalog, predicted);
  here = find (better, 1);
  g_assert_cmpuint (qm_advice_left_out (better)->len, ==, 0);
  g_assert_cmpint (here->measurement->provenance, ==, QM_PROVENANCE_PREDICTED);
  g_assert_cmpfloat (here->days, ==, 140);
  find (other, 0);
}

static QmQuestion *
ask_runs (QmHostTimes *times, double of_first, double of_second)
{
  QmQuestion *question = ask (times, QM_TIMES_OF_QUARTERMASTER);

  qm_question_add_run (question, "pythia-1b", of_first);
  if (of_second > 0)
    qm_question_add_run (question, "vit-large", of_second);
  return question;
}

static QmHostTimes *
two_times (void)
{
  return times_of (
      line_of ("pythia-1b", "measured", "free-lunch", "a6000", 4, 90),
      line_of ("vit-large", "measured", "free-lunch", "a6000", 4, 20), NULL);
}

/* The one machine that there is, with all its runs one after the other. */
static void
test_portfolio (void)
{
  g_autoptr (QmHostTimes) times = two_times ();
  g_autoptr (QmQuestion) question = ask_runs (times, 3, 4);
  g_autoptr (QmAdvice) advice = answer (catalog, question);
  const QmCandidate *here = find (advice, 1);
  g_autofree char *name = qm_prose_candidate (here);

  g_assert_cmpint (here->machines, ==, 1);
  g_assert_cmpfloat (here->days, ==, 3 * 90 + 4 * 20);
  g_assert_cmpint (here->price_minor, ==, 0);
  g_assert_cmpint (here->cost_minor, ==, 0);
  g_assert_cmpfloat (here->experiment_cost, ==, 0);
  g_assert_cmpfloat (here->measurement->days, ==, 90);
  g_assert_true (here->implied_utilization > 0);
  g_assert_false (here->insufficient);
  g_assert_false (here->eligible);
  g_assert_false (here->on_frontier);
  g_assert_true (qm_candidate_within (here, 0, NAN));
  g_assert_false (qm_candidate_within (here, 0, 349));
  g_assert_true (g_str_has_prefix (name, "This machine (1 × "));
}

/* What takes more than there is does not get more of it. */
static void
test_portfolio_too_large (void)
{
  const struct
  {
    double runs;
    int at_once;
    gboolean insufficient;
    const char *prose;
  } cases[] = {
    { 4, 1, FALSE, NULL },
    { 5, 1, TRUE, "a year’s runs take it" },
    { 1, 2, TRUE, "more trainings are to run at once" },
    { 1e9, 1, TRUE, NULL },
  };
  g_autoptr (QmHostTimes) times = two_times ();

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (QmQuestion) question = ask_runs (times, cases[i].runs, 0);
      g_autoptr (QmAdvice) advice = NULL;
      g_auto (GStrv) lines = NULL;
      QmRecommendation found;
      const QmCandidate *here;
      guint n;

      question->at_once = cases[i].at_once;
      advice = answer (catalog, question);
      here = find (advice, 1);
      g_assert_cmpint (here->machines, ==, 1);
      g_assert_cmpint (here->insufficient, ==, cases[i].insufficient);
      g_assert_cmpint (qm_candidate_within (here, 0, NAN), ==,
                       !cases[i].insufficient);
      found = qm_advice_recommend (advice, -1, NAN);
      lines = qm_prose_alternatives (advice, &found, NULL);
      n = g_strv_length (lines);
      if (cases[i].prose != NULL)
        {
          g_assert_cmpuint (n, >, 0);
          g_assert_nonnull (strstr (lines[n - 1], cases[i].prose));
          g_assert_true (g_str_has_prefix (lines[n - 1], "This machine (1 ×"));
        }
    }
}

/* Where not all its models were measured, its time is not known. */
static void
test_portfolio_unmeasured (void)
{
  g_autoptr (QmHostTimes) times =
      times_of (line_of ("pythia-1b", "measured", "free-lunch", "a6000", 4, 90),
                NULL, NULL);
  g_autoptr (QmQuestion) question = ask_runs (times, 1, 1);
  g_autoptr (QmAdvice) advice = answer (catalog, question);
  g_auto (GStrv) notes = qm_prose_notes (advice, question);
  QmRecommendation found = qm_advice_recommend (advice, -1, NAN);
  g_auto (GStrv) lines = qm_prose_alternatives (advice, &found, NULL);
  const QmCandidate *here = find (advice, 1);
  gboolean told = FALSE;

  g_assert_true (isnan (here->days));
  g_assert_cmpint (here->machines, ==, 1);
  g_assert_false (qm_candidate_within (here, -1, NAN));
  for (guint i = 0; notes[i] != NULL; i++)
    told |= strstr (notes[i], "not all of these models were measured") != NULL;
  g_assert_true (told);
  for (guint i = 0; lines[i] != NULL; i++)
    g_assert_null (strstr (lines[i], "This machine"));
}

/* The recommendation to a portfolio is the same as without it. */
static void
test_portfolio_recommendation (void)
{
  g_autoptr (QmHostTimes) times = two_times ();
  g_autoptr (QmQuestion) question = ask_runs (times, 3, 4);
  g_autoptr (QmQuestion) without = ask_runs (NULL, 3, 4);
  g_autoptr (QmAdvice) advice = answer (catalog, question);
  g_autoptr (QmAdvice) plain = answer (catalog, without);
  const gint64 budgets[] = { 0, 4000000, 100000000, -1 };

  find (plain, 0);
  for (gsize i = 0; i < G_N_ELEMENTS (budgets); i++)
    {
      QmRecommendation a = qm_advice_recommend (advice, budgets[i], NAN);
      QmRecommendation b = qm_advice_recommend (plain, budgets[i], NAN);

      g_assert_cmpmem (&a, sizeof a, &b, sizeof b);
    }
}

/* In all it costs what it takes to run, as much in a portfolio as alone, and
 * nothing is shipped. */
static void
test_portfolio_total (void)
{
  g_autoptr (QmHostTimes) times = two_times ();
  g_autoptr (QmQuestion) question = ask_runs (times, 3, 4);
  QmOwnershipSettings settings = qm_ownership_settings_default ();
  QmOwnership sum;
  QmOwned owned;

  settings.parts = QM_OWNERSHIP_ELECTRICITY | QM_OWNERSHIP_SHIPPING;
  settings.shipping_minor = 100000;
  for (int alone = 0; alone < 2; alone++)
    {
      g_autoptr (QmAdvice) advice = NULL;
      const QmCandidate *here;

      qm_question_set_ownership (question, &settings);
      if (alone)
        g_clear_pointer (&question->runs, g_array_unref);
      advice = answer (catalog, question);
      here = find (advice, 1);
      settings.lifetime_years = question->lifetime_years;
      g_assert_true (qm_owned_of_candidate (here, &owned));
      g_assert_true (qm_ownership_compute (&settings, &owned, &sum, NULL));
      g_assert_cmpint (here->price_minor, ==, 0);
      g_assert_cmpint (sum.shipping, ==, 0);
      g_assert_cmpint (sum.electricity, >, 0);
      g_assert_cmpint (here->cost_minor, ==, sum.electricity);
      g_assert_cmpfloat_with_epsilon (
          here->experiment_cost,
          here->cost_minor / 100.0 * (alone ? 90 : 350)
              / (question->lifetime_years * QM_DAYS_PER_YEAR),
          1e-9);
    }
}

/* An advice outlives the question that it answers. */
static void
test_lifetime (void)
{
  QmHostTimes *times =
      times_of (line_of ("pythia-1b", "measured", "free-lunch", "a6000", 4, 99),
                NULL, NULL);
  QmQuestion *question = ask (times, QM_TIMES_OF_QUARTERMASTER);
  QmQuestion *copy = qm_question_copy (question);
  g_autoptr (QmAdvice) advice = answer (catalog, copy);

  qm_question_free (question);
  qm_question_free (copy);
  qm_host_times_unref (times);
  g_assert_cmpstr (find (advice, 1)->measurement->source, ==,
                   "here.jsonl, line 1");
}

int
main (int argc, char **argv)
{
  g_autofree char *id = NULL;
  QmError error;
  int status;

  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (qm_catalog_load (g_getenv ("QM_MEASURED_DATA_DIR"), NULL,
                                    &catalog, &error),
                   ==, QM_OK);
  folder = g_dir_make_tmp ("qm-host-XXXXXX", NULL);
  id = g_build_filename (folder, "machine-id", NULL);
  g_assert_true (
      g_file_set_contents (id, "0123456789abcdef0123456789abcdef\n", -1, NULL));
  g_setenv ("QUARTERMASTER_MACHINE_ID", id, TRUE);
  qm_identity_here (&machine_here);
  g_test_add_func ("/host-times/whose", test_whose);
  g_test_add_func ("/host-times/files", test_files);
  g_test_add_func ("/host-times/times", test_times);
  g_test_add_func ("/host-times/nothing", test_nothing);
  g_test_add_func ("/host-times/candidate", test_candidate);
  g_test_add_func ("/host-times/total", test_total);
  g_test_add_func ("/host-times/filters", test_filters);
  g_test_add_func ("/host-times/recommendation", test_recommendation);
  g_test_add_func ("/host-times/prose", test_prose);
  g_test_add_func ("/host-times/other-software", test_other_software);
  g_test_add_func ("/host-times/portfolio", test_portfolio);
  g_test_add_func ("/host-times/portfolio-too-large", test_portfolio_too_large);
  g_test_add_func ("/host-times/portfolio-unmeasured",
                   test_portfolio_unmeasured);
  g_test_add_func ("/host-times/portfolio-recommendation",
                   test_portfolio_recommendation);
  g_test_add_func ("/host-times/portfolio-total", test_portfolio_total);
  g_test_add_func ("/host-times/lifetime", test_lifetime);
  status = g_test_run ();
  g_unlink (id);
  g_rmdir (folder);
  g_free (folder);
  qm_catalog_free (catalog);
  return status;
}
