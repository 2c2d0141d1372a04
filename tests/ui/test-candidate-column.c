/* SPDX-License-Identifier: Apache-2.0 */

/* Cells and their order, without a table. */

#include "ui/advisor/qm-candidate-column.h"

#include <string.h>

static const QmGpu slow = { .id = "a", .name = "Alpha" };
static const QmGpu fast = { .id = "b", .name = "Beta" };
static const QmMachine desktop = { .id = "d", .name = "Desktop" };
static const QmMeasurement measured = { .provenance = QM_PROVENANCE_MEASURED,
                                        .source = "here" };

static QmCandidate
known (void)
{
  return (QmCandidate){ .gpu = &slow,
                        .gpus = 2,
                        .machine = &desktop,
                        .machines = 3,
                        .cost_minor = 410000,
                        .days = 109,
                        .experiment_cost = 244.8,
                        .implied_utilization = 1.31,
                        .verdict = QM_VERDICT_IMPOSSIBLE,
                        .measurement = &measured };
}

static QmCandidate
unknown (void)
{
  return (QmCandidate){ .gpu = &slow,
                        .gpus = 2,
                        .cost_minor = -1,
                        .machines = 1,
                        .days = NAN,
                        .experiment_cost = NAN,
                        .implied_utilization = NAN,
                        .verdict = QM_VERDICT_UNKNOWN };
}

static void
expect_text (QmCandidateColumn column,
             const QmCandidate *candidate,
             const char *expected)
{
  g_autofree char *text =
      qm_candidate_column_text (column, "Topic", candidate, NULL);

  g_assert_cmpstr (text, ==, expected);
}

static void
test_text (void)
{
  QmCandidate candidate = known ();

  expect_text (QM_COLUMN_MODEL, &candidate, "Topic");
  expect_text (QM_COLUMN_GPU, &candidate, "Alpha");
  expect_text (QM_COLUMN_GPUS, &candidate, "2");
  expect_text (QM_COLUMN_MACHINE, &candidate, "Desktop");
  expect_text (QM_COLUMN_MACHINES, &candidate, "3");
  expect_text (QM_COLUMN_COST, &candidate, "$4,100");
  expect_text (QM_COLUMN_DAYS, &candidate, "109");
  expect_text (QM_COLUMN_EXPERIMENT, &candidate, "$245");
  expect_text (QM_COLUMN_UTILIZATION, &candidate, "131\u00a0%");
  expect_text (QM_COLUMN_VERDICT, &candidate, "impossible");
  expect_text (QM_COLUMN_SOURCE, &candidate, "measured (here)");
  candidate.days = 3.26;
  expect_text (QM_COLUMN_DAYS, &candidate, "3.3");
}

/* Whose time it is, where it is from, and why it does not count. */
static void
test_times_of (void)
{
  QmCandidate candidate = known ();
  QmMeasurement m = measured;
  const QmDate today = { 2026, 11, 21 };
  char *text;

  expect_text (QM_COLUMN_TIMES_OF, &candidate, "measured");
  m.engine = QM_ENGINE_QUARTERMASTER;
  m.engine_version = "0.1.0";
  m.measured_on = today;
  candidate.measurement = &m;
  expect_text (QM_COLUMN_TIMES_OF, &candidate, "Quartermaster");
  expect_text (QM_COLUMN_SOURCE, &candidate,
               "measured with Quartermaster 0.1.0, 21 November 2026 (here)");
  candidate.superseded = TRUE;
  text = qm_candidate_column_tooltip (QM_COLUMN_TIMES_OF, &candidate, today);
  g_assert_cmpstr (text, ==,
                   "measured with Quartermaster 0.1.0, 21 November 2026 "
                   "(here)\nA measured time takes its place");
  g_free (text);

  m.provenance = QM_PROVENANCE_PREDICTED;
  m.engine = QM_ENGINE_PYTORCH;
  m.engine_version = "";
  m.days_low = 20;
  m.days_high = 30;
  candidate.predicted = TRUE;
  candidate.days_low = m.days_low;
  candidate.days_high = m.days_high;
  expect_text (QM_COLUMN_TIMES_OF, &candidate, "PyTorch, predicted");
  text = qm_candidate_column_tooltip (QM_COLUMN_DAYS, &candidate, today);
  g_assert_cmpstr (text, ==, "20 days to 30 days");
  g_free (text);
}

static void
test_unknown_text (void)
{
  static const QmCandidateColumn columns[] = {
    QM_COLUMN_MACHINE,    QM_COLUMN_COST,        QM_COLUMN_DAYS,
    QM_COLUMN_EXPERIMENT, QM_COLUMN_UTILIZATION, QM_COLUMN_SOURCE
  };
  QmCandidate candidate = unknown ();

  for (gsize i = 0; i < G_N_ELEMENTS (columns); i++)
    expect_text (columns[i], &candidate, "–");
}

static void
test_titles (void)
{
  for (guint i = 0; i < QM_N_COLUMNS; i++)
    g_assert_cmpuint (strlen (qm_candidate_column_title (i)), >, 0);
}

/* Every price with its date, its age and where it is from. */
static void
test_tooltip (void)
{
  QmPrice price = { .currency = "USD",
                    .micros = 1300 * (gint64) QM_MICROS_PER_UNIT,
                    .observed_on = { 2024, 9, 21 },
                    .source = "a shop" };
  QmCandidate candidate = known ();
  g_autofree char *text = NULL;
  g_autofree char *possible = NULL;
  g_autofree char *verdict = NULL;

  candidate.gpu_price = &price;
  text = qm_candidate_column_tooltip (QM_COLUMN_COST, &candidate,
                                      (QmDate){ 2026, 10, 1 });
  g_assert_cmpstr (text, ==,
                   "Alpha: $1,300, 21 September 2024 (2 years old), a shop\n"
                   "Desktop: no price known");
  candidate.verdict = QM_VERDICT_POSSIBLE;
  possible = qm_candidate_column_tooltip (QM_COLUMN_VERDICT, &candidate,
                                          (QmDate){ 0 });
  g_assert_nonnull (strstr (possible, "Nothing is predicted there"));
  candidate.verdict = QM_VERDICT_IMPOSSIBLE;
  verdict = qm_candidate_column_tooltip (QM_COLUMN_VERDICT, &candidate,
                                         (QmDate){ 2026, 10, 1 });
  g_assert_cmpstr (verdict, ==, "would need 131\u00a0% of the cards’ peak");
  g_assert_null (qm_candidate_column_tooltip (QM_COLUMN_GPU, &candidate,
                                              (QmDate){ 2026, 10, 1 }));
}

/* What is used instead of bought says so in words, and on which terms. */
static void
test_use (void)
{
  QmUse use = { (char *) "a", 2, 1500000, 24 };
  QmCandidate candidate = known ();
  QmDate today = { 2026, 10, 1 };
  char *text;

  candidate.machine = NULL;
  candidate.here = TRUE;
  candidate.use = &use;
  expect_text (QM_COLUMN_MACHINE, &candidate, "is not to be bought");
  expect_text (QM_COLUMN_COST, &candidate, "$4,100");
  text = qm_candidate_column_tooltip (QM_COLUMN_COST, &candidate, today);
  g_assert_cmpstr (text, ==,
                   "2 × Alpha at 1.5 USD an hour of each, 24 h a job");
  g_free (text);
  use.hour_micros = 0;
  text = qm_candidate_column_tooltip (QM_COLUMN_COST, &candidate, today);
  g_assert_cmpstr (text, ==, "2 × Alpha, 24 h a job");
  g_free (text);
  use.walltime_hours = NAN;
  text = qm_candidate_column_tooltip (QM_COLUMN_COST, &candidate, today);
  g_assert_cmpstr (text, ==, "2 × Alpha");
  g_free (text);
}

/* What a cost may be is told with what it is made of. */
static void
test_cost_tooltip (void)
{
  static const QmPlatform kit = { .id = "k", .name = "Kit", .sold_with = "" };
  static const QmPlatform ready = { .id = "r",
                                    .name = "Ready",
                                    .sold_with = "a" };
  const QmDate today = { 2026, 10, 1 };
  QmPrice price = { .currency = "USD",
                    .micros = 10 * (gint64) QM_MICROS_PER_UNIT,
                    .observed_on = today,
                    .source = "a shop" };
  QmCandidate candidate = known ();
  char *text;

  candidate.machine = NULL;
  candidate.platform = &kit;
  candidate.gpu_price = candidate.machine_price = candidate.memory_price =
      &price;
  candidate.cost_low_minor = 300000;
  candidate.cost_high_minor = 500000;
  text = qm_candidate_column_tooltip (QM_COLUMN_COST, &candidate, today);
  g_assert_nonnull (strstr (text, "Alpha: $10"));
  g_assert_nonnull (strstr (text, "\nKit: $10"));
  g_assert_nonnull (strstr (text, "\nA GiB of memory: $10"));
  g_assert_nonnull (strstr (text, "$3,000 to $5,000"));
  g_free (text);

  candidate.platform = &ready;
  candidate.gpu_price = candidate.memory_price = NULL;
  candidate.cost_low_minor = candidate.cost_high_minor = candidate.cost_minor;
  text = qm_candidate_column_tooltip (QM_COLUMN_COST, &candidate, today);
  g_assert_true (g_str_has_prefix (text, "Ready: $10"));
  g_assert_null (strchr (text, '\n'));
  g_free (text);

  /* Whose price is missing. */
  candidate.platform = &kit;
  candidate.machine_price = NULL;
  text = qm_candidate_column_tooltip (QM_COLUMN_COST, &candidate, today);
  g_assert_cmpstr (text, ==, "Alpha: no price known");
  g_free (text);
}

/* The reason stands where the machine would, and where its cost would be. */
static void
test_not_carried (void)
{
  static const QmPlatform platform = {
    .id = "p", .name = "Platform", .sold_with = "", .gpus = 1
  };
  QmCandidate candidate = unknown ();
  char *text;

  candidate.platform = &platform;
  candidate.carry.problem = QM_CARRY_COUNT;
  expect_text (QM_COLUMN_MACHINE, &candidate,
               "no machine; Platform carries 1 GPU");
  text = qm_candidate_column_tooltip (QM_COLUMN_COST, &candidate,
                                      (QmDate){ 2026, 10, 1 });
  g_assert_cmpstr (text, ==, "no machine; Platform carries 1 GPU");
  g_free (text);
  candidate.platform = NULL;
  candidate.carry.problem = QM_CARRY_SOLD_WITH;
  expect_text (QM_COLUMN_MACHINE, &candidate, "no machine carries that many");
}

/* In both directions: what is known before what is not, and among the known
 * the direction counts. */
static void
test_compare (void)
{
  static const QmCandidateColumn columns[] = {
    QM_COLUMN_MACHINE,     QM_COLUMN_COST,    QM_COLUMN_DAYS,
    QM_COLUMN_EXPERIMENT,  QM_COLUMN_VERDICT, QM_COLUMN_SOURCE,
    QM_COLUMN_UTILIZATION,
  };
  QmCandidate a = known ();
  QmCandidate b = unknown ();

  for (gsize i = 0; i < G_N_ELEMENTS (columns); i++)
    for (int descending = FALSE; descending <= TRUE; descending++)
      {
        g_assert_cmpint (
            qm_candidate_column_compare (columns[i], &a, &b, descending), <, 0);
        g_assert_cmpint (
            qm_candidate_column_compare (columns[i], &b, &a, descending), >, 0);
        g_assert_cmpint (qm_candidate_column_compare (columns[i], &b, &b,
                                                      descending),
                         ==, 0);
      }
}

static void
test_compare_known (void)
{
  QmCandidate a = known ();
  QmCandidate b = known ();

  /* As numbers, not as text. */
  a.cost_minor = 900000;
  b.cost_minor = 10000000;
  b.gpu = &fast;
  g_assert_cmpint (qm_candidate_column_compare (QM_COLUMN_COST, &a, &b, FALSE),
                   <, 0);
  g_assert_cmpint (qm_candidate_column_compare (QM_COLUMN_COST, &a, &b, TRUE),
                   >, 0);
  g_assert_cmpint (qm_candidate_column_compare (QM_COLUMN_GPU, &a, &b, FALSE),
                   <, 0);
  g_assert_cmpint (qm_candidate_column_compare (QM_COLUMN_GPU, &a, &b, TRUE), >,
                   0);
  g_assert_cmpint (qm_candidate_column_compare (QM_COLUMN_DAYS, &a, &b, FALSE),
                   ==, 0);
  b.verdict = QM_VERDICT_OK;
  g_assert_cmpint (
      qm_candidate_column_compare (QM_COLUMN_VERDICT, &b, &a, FALSE), <, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/candidate-column/text", test_text);
  g_test_add_func ("/candidate-column/times-of", test_times_of);
  g_test_add_func ("/candidate-column/unknown-text", test_unknown_text);
  g_test_add_func ("/candidate-column/titles", test_titles);
  g_test_add_func ("/candidate-column/tooltip", test_tooltip);
  g_test_add_func ("/candidate-column/use", test_use);
  g_test_add_func ("/candidate-column/cost-tooltip", test_cost_tooltip);
  g_test_add_func ("/candidate-column/not-carried", test_not_carried);
  g_test_add_func ("/candidate-column/compare", test_compare);
  g_test_add_func ("/candidate-column/compare-known", test_compare_known);
  return g_test_run ();
}
