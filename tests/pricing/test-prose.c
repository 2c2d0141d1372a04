/* SPDX-License-Identifier: Apache-2.0 */

/* What is said about an advice must be true of it: limits, filters, ties and
 * what a whole portfolio would need. */

#include "answers.h"
#include "pricing/advice/qm-prose-rent.h"
#include "pricing/advice/qm-prose.h"

#include <glib/gstdio.h>
#include <string.h>

static QmCatalog *catalog;

static QmAdvice *
answer_and_recommend (const QmQuestion *question, QmRecommendation *found)
{
  g_autoptr (GError) error = NULL;
  QmAdvice *advice = qm_advice_new (catalog, question, &error);

  g_assert_no_error (error);
  *found = qm_advice_recommend (advice, question->budget_minor,
                                question->deadline_days);
  return advice;
}

static void
assert_reason (const QmQuestion *question, const char *expected)
{
  QmRecommendation found;
  g_autoptr (QmAdvice) advice = answer_and_recommend (question, &found);
  g_autofree char *reason = qm_prose_reason (advice, question, &found);

  /* What is to be known of its machine follows. */
  g_assert_true (g_str_has_prefix (reason, expected));
  g_assert_true (
      g_str_has_prefix (reason + strlen (expected), " The machine is the "));
}

static GStrv
warnings_of (const QmQuestion *question)
{
  QmRecommendation found;
  g_autoptr (QmAdvice) advice = answer_and_recommend (question, &found);
  QmDate today = { 2024, 9, 22 };

  return qm_prose_warnings (advice, question, &found, today);
}

static char *
join_warnings (const QmQuestion *question)
{
  g_auto (GStrv) warnings = warnings_of (question);

  return g_strjoinv ("\n", warnings);
}

static void
assert_warns (const QmQuestion *question, const char *expected)
{
  g_auto (GStrv) warnings = warnings_of (question);

  if (!g_strv_contains ((const char *const *) warnings, expected))
    {
      g_autofree char *all = g_strjoinv ("\n", warnings);

      g_error ("“%s” is not among:\n%s", expected, all);
    }
}

static void
test_limits (void)
{
  g_autoptr (QmQuestion) question = ask_about ("pythia-1b");

  assert_reason (question,
                 "Nothing else trains Pythia (1B) sooner, at any price.");
  question->budget_minor = 4000000;
  assert_reason (question,
                 "Nothing else within $40,000 trains Pythia (1B) sooner.");
  question->deadline_days = 60;
  assert_reason (
      question,
      "Nothing else within $40,000 and 60 days trains Pythia (1B) sooner.");
  question->budget_minor = 3100000;
  question->deadline_days = 35;
  assert_reason (question, "It is the only machine within $31,000 and 35 days "
                           "that trains Pythia (1B).");
}

/* An H100 would be faster: "nothing else" alone would be untrue. */
static void
test_filters (void)
{
  g_autoptr (QmQuestion) question = ask_about ("pythia-1b");
  static const char *const only[] = { "a6000", NULL };

  question->gpus = g_strdupv ((char **) only);
  assert_reason (question, "Nothing else within the filters trains Pythia (1B) "
                           "sooner.");
  question->budget_minor = 4000000;
  assert_reason (question, "Nothing else within $40,000 and the filters trains "
                           "Pythia (1B) sooner.");
  question->deadline_days = 45;
  assert_reason (question, "It is the only machine within $40,000, 45 days and "
                           "the filters that trains Pythia (1B).");
  question->budget_minor = -1;
  question->deadline_days = NAN;
  g_clear_pointer (&question->gpus, g_strfreev);
  question->kinds = QM_KINDS_DESKTOP;
  assert_reason (question, "Nothing else within the filters trains Pythia (1B) "
                           "sooner.");
}

static void
assert_tie (gint64 cost_minor, int gpus, const char *expected)
{
  g_autoptr (QmQuestion) question = ask_about ("pythia-1b");
  const QmGpu *gpu = qm_catalog_gpu (catalog, "a6000");
  QmCandidate pair[2] = { { .gpu = gpu,
                            .gpus = 2,
                            .machines = 1,
                            .cost_minor = 100,
                            .days = 7,
                            .eligible = TRUE } };
  g_autoptr (QmAdvice) advice = NULL;
  g_autofree char *reason = NULL;
  QmRecommendation found;

  pair[1] = pair[0];
  pair[1].cost_minor = cost_minor;
  pair[1].gpus = gpus;
  advice = qm_advice_new_for_candidates (pair, 2);
  found = qm_advice_recommend (advice, -1, NAN);
  reason = qm_prose_reason (advice, question, &found);
  g_assert_cmpint (found.best, ==, 0);
  g_assert_cmpstr (reason, ==, expected);
}

/* What the machine is, what it draws, and what the price rests on. */
static void
test_machine (void)
{
  g_autoptr (QmQuestion) question = ask_about ("pythia-1b");
  QmRecommendation found;
  g_autoptr (QmAdvice) advice = answer_and_recommend (question, &found);
  g_autofree char *reason = qm_prose_reason (advice, question, &found);

  g_assert_cmpstr (
      reason, ==,
      "Nothing else trains Pythia (1B) sooner, at any price. The machine is "
      "the GPU server for 8 GPUs, a rack machine of 4 units. At full load it "
      "draws 6.4\u00a0kW: three phases of 32\u00a0A (400\u00a0V).");
}

/* What the room does not give is not offered, and the reason is told. */
static void
test_room (void)
{
  g_autoptr (QmQuestion) question = ask_about ("pythia-1b");
  QmRecommendation found;
  g_autoptr (QmAdvice) advice = NULL;
  const QmCandidate *candidates;
  guint n, refused = 0;

  question->room_watts = qm_room_watts (QM_ROOM_ONE_CIRCUIT);
  advice = answer_and_recommend (question, &found);
  candidates = qm_advice_candidates (advice, &n);
  g_assert_cmpint (candidates[found.best].gpus, ==, 2);
  for (guint i = 0; i < n; i++)
    if (qm_candidate_is_not_carried (&candidates[i]))
      {
        g_autofree char *why = qm_prose_machine (&candidates[i]);

        refused++;
        g_assert_cmpint (candidates[i].carry.problem, ==, QM_CARRY_CIRCUIT);
        g_assert_false (candidates[i].eligible);
        g_assert_cmpint (candidates[i].price_minor, ==, -1);
        g_assert_nonnull (strstr (why, "and the circuit gives 2,944\u00a0W"));
      }
  g_assert_cmpuint (refused, >=, 4);
}

static void
test_ties (void)
{
  assert_tie (101, 2,
              "Nothing affordable trains pythia-1b sooner; 2 × RTX A6000 takes "
              "as long and costs more.");
  assert_tie (100, 4,
              "Nothing affordable trains pythia-1b sooner; 4 × RTX A6000 takes "
              "as long and costs as much.");
  assert_tie (100, 2,
              "Nothing affordable trains pythia-1b sooner; 2 × RTX A6000 takes "
              "as long and costs as much.");
}

/* The slowest training of a portfolio need not be the one that gives it away:
 * 30 days are those of Pythia (1B), the 174 % those of Pythia (160M). */
static void
test_portfolio_claims (void)
{
  g_autoptr (QmQuestion) question = qm_question_new ();
  static const char *const only[] = { "rtx3090", NULL };

  question->time_factor = 1;
  qm_question_add_run (question, "pythia-1b", 3);
  qm_question_add_run (question, "pythia-160m", 10);
  question->at_once = 2;
  question->gpus = g_strdupv ((char **) only);
  assert_warns (question,
                "Left out as impossible: 3 days for Pythia (160M) on "
                "8 × GeForce RTX 3090 would need 174\u00a0% of the cards’ "
                "peak.");
  qm_question_set_as_in_paper (question);
  assert_warns (
      question,
      "3 days for Pythia (160M) on 8 × GeForce RTX 3090 would need "
      "174\u00a0% of the cards’ peak: the published time cannot be true, "
      "plan with more.");
}

static void
test_single_claims (void)
{
  g_autoptr (QmQuestion) question = ask_about ("pythia-1b");

  question->budget_minor = 4000000;
  assert_warns (question, "Left out as impossible: 30 days on 8 × GeForce RTX "
                          "3090 would need 119\u00a0% of the cards’ peak.");
}

/* 72 days on a machine that is to serve for 46: nobody could follow it, and as
 * in the paper it is said at least. */
static void
test_lifetime (void)
{
  static const char said[] = "would not end in that time";
  static const char *const only[] = { "a6000", NULL };
  g_autoptr (QmQuestion) question = ask_about ("pythia-1b");
  g_autofree char *longer = NULL;
  g_autofree char *within = NULL;

  question->gpus = g_strdupv ((char **) only);
  question->budget_minor = 2000000;
  question->lifetime_years = 0.125;
  question->as_in_paper = TRUE;
  longer = join_warnings (question);
  g_assert_nonnull (strstr (longer, said));
  g_assert_nonnull (strstr (
      longer, "A run takes 72 days, but the machine is to serve for 46 days:"));
  question->lifetime_years = 1;
  within = join_warnings (question);
  g_assert_null (strstr (within, said));
}

/* Otherwise it is no answer, and what would have to change is said. */
static void
test_outlived (void)
{
  static const char *const only[] = { "a6000", NULL };
  g_autoptr (QmQuestion) question = ask_about ("pythia-1b");
  QmRecommendation found;
  g_autoptr (QmAdvice) advice = NULL;
  g_autofree char *headline = NULL;
  g_autofree char *why = NULL;
  g_autofree char *warnings = NULL;
  const QmCandidate *closest, *other;

  question->gpus = g_strdupv ((char **) only);
  question->budget_minor = 2000000;
  question->lifetime_years = 0.125;
  advice = answer_and_recommend (question, &found);
  headline = qm_prose_headline (advice, question, &found);
  why = qm_prose_why (advice, question, &found);
  warnings = join_warnings (question);
  g_assert_cmpint (found.outcome, ==, QM_OUTCOME_OVER_BUDGET);
  g_assert_cmpint (found.best, ==, -1);
  closest = qm_advice_candidate (advice, found.outlived);
  other = qm_advice_candidate (advice, found.would_do);
  g_assert_true (closest->outlived && closest->cost_minor <= 2000000);
  g_assert_true (!other->outlived && other->cost_minor > 2000000);
  g_assert_cmpstr (headline, ==,
                   "No machine within the budget finishes in its lifetime");
  g_assert_nonnull (strstr (
      why, "a run takes 72 days, and the machine is to serve for 46 days, so "
           "that it is 26 days too long. With $"));
  g_assert_nonnull (
      strstr (why, "The closest would do if it served for 72 days."));
  g_assert_null (strstr (warnings, "would not end in that time"));
}

/* Who asks again with the time that is said is told that it does. */
static void
test_life_needed (void)
{
  /* Days of the closest: in days, about two years, and in years of 365 days,
   * which are not those of a calendar. */
  static const double longest[] = { 500.3, 730.2, 731, 839.8, 1460.5 };
  static const char *const only[] = { "a6000", NULL };
  static const char before[] = "would do if it served for ";

  for (guint i = 0; i < G_N_ELEMENTS (longest); i++)
    {
      g_autoptr (QmQuestion) question = ask_about ("pythia-1b");
      g_autoptr (QmAdvice) advice = NULL;
      g_autoptr (QmAdvice) again = NULL;
      g_autofree char *why = NULL;
      QmRecommendation found;
      const char *said;
      char *unit;
      double life;
      int index, one = 1;

      question->gpus = g_strdupv ((char **) only);
      question->budget_minor = 2000000;
      question->counts = g_array_new (FALSE, FALSE, sizeof (int));
      g_array_append_val (question->counts, one);
      question->lifetime_years = 0.125;
      question->time_factor = longest[i] / 152;
      advice = answer_and_recommend (question, &found);
      index = found.outlived;
      g_assert_cmpfloat_with_epsilon (
          qm_advice_candidate (advice, index)->longest_days, longest[i], 1e-6);
      why = qm_prose_why (advice, question, &found);
      said = strstr (why, before);
      g_assert_nonnull (said);
      life = g_ascii_strtod (said + strlen (before), &unit);
      if (!g_str_has_prefix (unit, " years"))
        life /= QM_DAYS_PER_YEAR;
      question->lifetime_years = life;
      again = answer_and_recommend (question, &found);
      g_assert_false (qm_advice_candidate (again, index)->outlived);
      question->lifetime_years = life * 0.94;
      g_clear_pointer (&again, qm_advice_free);
      again = answer_and_recommend (question, &found);
      g_assert_true (qm_advice_candidate (again, index)->outlived);
    }
}

/* With no budget that would help, and with one that does. */
static void
test_outlived_by_all (void)
{
  g_autoptr (QmQuestion) question = ask_about ("pythia-1b");
  QmRecommendation found;
  g_autoptr (QmAdvice) advice = NULL;
  g_autoptr (QmAdvice) within = NULL;
  g_autofree char *headline = NULL;
  g_autofree char *why = NULL;

  question->lifetime_years = 0.0001;
  advice = answer_and_recommend (question, &found);
  headline = qm_prose_headline (advice, question, &found);
  why = qm_prose_why (advice, question, &found);
  g_assert_cmpint (found.outcome, ==, QM_OUTCOME_TOO_LATE);
  g_assert_cmpstr (headline, ==, "No machine finishes in its lifetime");
  g_assert_true (g_str_has_prefix (why, "The closest is "));
  g_assert_nonnull (strstr (why, "It would do if it served for "));
  question->lifetime_years = 0.125;
  within = answer_and_recommend (question, &found);
  g_assert_cmpint (found.outcome, ==, QM_OUTCOME_FOUND);
  g_assert_cmpfloat (qm_advice_candidate (within, found.best)->longest_days, <=,
                     0.125 * 365);
  g_assert_cmpint (found.outlived, ==, -1);
}

/* While times are being predicted, that there is no machine is no answer. */
static void
test_early (void)
{
  g_autoptr (QmQuestion) question = ask_about ("pythia-1b");
  g_autoptr (QmForecasts) forecasts = qm_forecasts_new ();
  const QmRecommendation nothing = {
    .outcome = QM_OUTCOME_NOTHING, .best = -1, .would_do = -1, .outlived = -1
  };
  QmRecommendation found;
  g_autoptr (QmAdvice) advice = answer_and_recommend (question, &found);
  g_autofree char *headline = NULL;
  g_autofree char *why = NULL;
  g_autofree char *late = NULL;
  g_autofree char *filtered = NULL;

  question->forecasts = qm_forecasts_ref (forecasts);
  qm_forecasts_set_pending (forecasts, TRUE);
  headline = qm_prose_headline (advice, question, &nothing);
  why = qm_prose_why (advice, question, &nothing);
  g_assert_cmpstr (headline, ==, "The answer is being computed");
  g_assert_nonnull (strstr (why, "are being predicted"));
  question->kinds = 0;
  filtered = qm_prose_headline (advice, question, &nothing);
  g_assert_cmpstr (filtered, ==, "No machine is left to choose from");
  question->kinds = QM_KINDS_ALL;
  qm_forecasts_set_pending (forecasts, FALSE);
  late = qm_prose_headline (advice, question, &nothing);
  g_assert_cmpstr (late, ==, "No machine is left to choose from");
}

/* An hour of one card is not for nothing. */
static void
test_hour (void)
{
  const QmPurse purse = qm_purse_default ();
  const QmPrice price = { .source = (char *) "Cloud" };
  const QmCandidate rented = { .gpu = qm_catalog_gpu (catalog, "rtx3090"),
                               .gpus = 1,
                               .machines = 1 };
  QmRentPlan plan = { .price = &price, .hour = 23 };
  g_autofree char *little = qm_prose_rent_hour (&plan, &rented, &purse, FALSE);
  g_autofree char *much = NULL;

  g_assert_nonnull (strstr (little, "costs $0.23 at Cloud:"));
  plan.hour = 123456;
  much = qm_prose_rent_hour (&plan, &rented, &purse, FALSE);
  g_assert_nonnull (strstr (much, "costs $1,235 at Cloud:"));
}

/* The GPU's newest price is younger than that of its machine. */
static void
test_ages (void)
{
  static const char own[] = "item,kind,price,currency,observed_on,source\n"
                            "h100-80gb-sxm,quote,29000,USD,2026-09-01,shop\n";
  g_autofree char *folder = g_dir_make_tmp ("ages-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "prices.csv", NULL);
  g_autoptr (QmQuestion) question = ask_about ("pythia-1b");
  QmCatalog *shipped = catalog;
  QmCatalog *aged = NULL;
  QmError error;
  QmRecommendation found;
  g_autoptr (QmAdvice) advice = NULL;
  QmDate today = { 2026, 9, 22 };
  g_auto (GStrv) warnings = NULL;
  g_autofree char *headline = NULL;

  g_assert_true (g_file_set_contents (path, own, -1, NULL));
  g_assert_cmpint (qm_catalog_load (g_getenv ("QM_TEST_DATA_DIR"), folder,
                                    &aged, &error),
                   ==, QM_OK);
  catalog = aged;
  question->today = today;
  advice = answer_and_recommend (question, &found);
  catalog = shipped;
  headline = qm_prose_headline (advice, question, &found);
  g_assert_cmpstr (headline, ==,
                   "Buy 8 × H100 SXM5 80GB: $242,500 (a price 2 years old), 4 "
                   "days");
  warnings = qm_prose_warnings (advice, question, &found, today);
  g_assert_cmpstr (warnings[g_strv_length (warnings) - 1], ==,
                   "The price of the GPU server for 8 GPUs dates from "
                   "21 September 2024 (2 years old): ask for a quote.");
  g_clear_pointer (&advice, qm_advice_free);
  qm_catalog_free (aged);
  g_unlink (path);
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  QmError error;
  int result;

  g_setenv ("LC_ALL", "C", TRUE);
  g_test_init (&argc, &argv, NULL);
  if (qm_catalog_load (g_getenv ("QM_TEST_DATA_DIR"), NULL, &catalog, &error)
      != QM_OK)
    g_error ("%s: %s", error.file, error.message);

  g_test_add_func ("/prose/limits", test_limits);
  g_test_add_func ("/prose/filters", test_filters);
  g_test_add_func ("/prose/machine", test_machine);
  g_test_add_func ("/prose/room", test_room);
  g_test_add_func ("/prose/ties", test_ties);
  g_test_add_func ("/prose/portfolio-claims", test_portfolio_claims);
  g_test_add_func ("/prose/single-claims", test_single_claims);
  g_test_add_func ("/prose/lifetime", test_lifetime);
  g_test_add_func ("/prose/outlived", test_outlived);
  g_test_add_func ("/prose/life-needed", test_life_needed);
  g_test_add_func ("/prose/outlived-by-all", test_outlived_by_all);
  g_test_add_func ("/prose/early", test_early);
  g_test_add_func ("/prose/hour", test_hour);
  g_test_add_func ("/prose/ages", test_ages);
  result = g_test_run ();
  qm_catalog_free (catalog);
  return result;
}
