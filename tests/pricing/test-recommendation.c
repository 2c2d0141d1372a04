/* SPDX-License-Identifier: Apache-2.0 */

/* Properties of the recommendation and the frontier over made-up candidates:
 * checked against a search through all pairs, which needs no cleverness. */

#include "pricing/advice/qm-advice.h"

#define ROUNDS 400

static const QmGpu gpu = { .id = "test", .name = "Test" };

static QmCandidate
random_candidate (GRand *rand)
{
  QmCandidate candidate = { 0 };

  candidate.gpu = &gpu;
  candidate.gpus = 1 << g_rand_int_range (rand, 0, 4);
  candidate.machines = g_rand_int_range (rand, 1, 4);
  /* Few values, so that ties of every kind occur. */
  candidate.cost_minor = g_rand_int_range (rand, 0, 12) == 0
                             ? -1
                             : (gint64) g_rand_int_range (rand, 1, 30) * 100000;
  candidate.days = g_rand_int_range (rand, 0, 12) == 0
                       ? NAN
                       : g_rand_int_range (rand, 1, 30);
  candidate.experiment_cost =
      candidate.cost_minor < 0 ? NAN
                               : candidate.cost_minor / 100.0 * candidate.days;
  candidate.verdict = g_rand_int_range (rand, 0, 5) == 0 ? QM_VERDICT_IMPOSSIBLE
                                                         : QM_VERDICT_OK;
  candidate.eligible = candidate.verdict == QM_VERDICT_OK
                       && candidate.cost_minor >= 0
                       && qm_known (candidate.days);
  candidate.weak = g_rand_int_range (rand, 0, 3) == 0;
  return candidate;
}

static GArray *
random_candidates (GRand *rand)
{
  GArray *candidates = g_array_new (FALSE, FALSE, sizeof (QmCandidate));
  int n = g_rand_int_range (rand, 0, 40);

  for (int i = 0; i < n; i++)
    {
      QmCandidate candidate = random_candidate (rand);

      g_array_append_val (candidates, candidate);
    }
  return candidates;
}

/* a before b by days, cost, GPUs; the indices settle the rest. */
static gboolean
is_before (const QmCandidate *c, int a, int b)
{
  if (c[a].days != c[b].days)
    return c[a].days < c[b].days;
  if (c[a].cost_minor != c[b].cost_minor)
    return c[a].cost_minor < c[b].cost_minor;
  if (c[a].gpus * c[a].machines != c[b].gpus * c[b].machines)
    return c[a].gpus * c[a].machines < c[b].gpus * c[b].machines;
  return a < b;
}

/* What the limits mean, without what is to be tested. */
static gboolean
is_affordable (const QmCandidate *c, gint64 budget, double deadline)
{
  return (budget < 0 || c->cost_minor <= budget)
         && (!qm_known (deadline) || c->days <= deadline);
}

/* The first of those within the limits but `without`, by the order; -1. */
static int
first_of (
    const QmCandidate *c, guint n, gint64 budget, double deadline, int without)
{
  int first = -1;

  for (int i = 0; i < (int) n; i++)
    if (i != without && c[i].eligible && is_affordable (&c[i], budget, deadline)
        && (first < 0 || is_before (c, i, first)))
      first = i;
  return first;
}

/* Whether nothing within the limits is cheaper and no slower, but what is
 * `without`. */
static gboolean
is_worth_it (const QmCandidate *c,
             guint n,
             gint64 budget,
             double deadline,
             int without,
             int which)
{
  for (int i = 0; i < (int) n; i++)
    if (i != without && i != which && c[i].eligible
        && is_affordable (&c[i], budget, deadline)
        && c[i].cost_minor <= c[which].cost_minor && is_before (c, i, which))
      return FALSE;
  return TRUE;
}

/* That nothing within the limits and the slack is to be preferred. */
static void
check_chosen (const QmCandidate *c,
              guint n,
              gint64 budget,
              double deadline,
              double slack,
              int without,
              int chosen)
{
  int first = first_of (c, n, budget, deadline, without);

  g_assert_true ((chosen < 0) == (first < 0));
  if (chosen < 0)
    return;
  g_assert_cmpint (chosen, !=, without);
  g_assert_true (c[chosen].eligible);
  g_assert_true (is_affordable (&c[chosen], budget, deadline));
  g_assert_cmpfloat (c[chosen].days, <=, c[first].days * (1 + slack));
  g_assert_true (is_worth_it (c, n, budget, deadline, without, chosen));
  g_assert_true (!c[chosen].weak || c[first].weak);
  for (int i = 0; i < (int) n; i++)
    if (i != chosen && i != without && c[i].eligible
        && is_affordable (&c[i], budget, deadline)
        && c[i].days <= c[first].days * (1 + slack)
        && (!c[i].weak || c[first].weak)
        && is_worth_it (c, n, budget, deadline, without, i))
      {
        double one = (double) c[chosen].cost_minor * c[chosen].days;
        double other = (double) c[i].cost_minor * c[i].days;

        g_assert_cmpfloat (one, <=, other);
        if (one == other)
          g_assert_true (is_before (c, chosen, i));
      }
}

static void
check_found (const QmCandidate *c,
             guint n,
             gint64 budget,
             double deadline,
             double slack,
             const QmRecommendation *found)
{
  int best = found->best, first = first_of (c, n, budget, deadline, -1);

  g_assert_cmpint (c[best].cost_minor, >=, 0);
  check_chosen (c, n, budget, deadline, slack, -1, best);
  check_chosen (c, n, budget, deadline, slack, best, found->runner_up);
  g_assert_cmpint (found->sooner, ==, first == best ? -1 : first);
  if (found->sooner >= 0)
    {
      g_assert_cmpint (c[found->sooner].cost_minor, >, c[best].cost_minor);
      g_assert_cmpfloat (c[found->sooner].days, <, c[best].days);
    }
  if (slack == 0)
    g_assert_cmpint (first, ==, best);
  for (guint i = 0; i < n; i++)
    {
      if (!c[i].eligible)
        continue;
      if (c[i].days * (1 + slack) < c[best].days)
        {
          g_assert_cmpint (found->faster, >=, 0);
          g_assert_cmpint (c[found->faster].cost_minor, <=, c[i].cost_minor);
          g_assert_cmpfloat (c[found->faster].days * (1 + slack), <,
                             c[best].days);
        }
      if (c[i].cost_minor < c[best].cost_minor && c[i].days >= c[best].days)
        {
          g_assert_cmpint (found->cheaper, >=, 0);
          g_assert_cmpfloat (c[found->cheaper].days, <=, c[i].days);
          g_assert_cmpint (c[found->cheaper].cost_minor, <, c[best].cost_minor);
        }
    }
}

static void
check_nothing (const QmCandidate *c,
               guint n,
               gint64 budget,
               double deadline,
               const QmRecommendation *found)
{
  gboolean any = FALSE;
  gboolean in_time = FALSE;

  for (guint i = 0; i < n; i++)
    if (c[i].eligible)
      {
        gboolean timely = !qm_known (deadline) || c[i].days <= deadline;

        any = TRUE;
        in_time |= timely;
        g_assert_false (is_affordable (&c[i], budget, deadline));
        if (found->outcome == QM_OUTCOME_OVER_BUDGET && timely)
          g_assert_cmpint (c[found->would_do].cost_minor, <=, c[i].cost_minor);
        if (found->outcome == QM_OUTCOME_TOO_LATE)
          g_assert_cmpfloat (c[found->would_do].days, <=, c[i].days);
      }
  g_assert_cmpint (found->outcome, ==,
                   !any       ? QM_OUTCOME_NOTHING
                   : !in_time ? QM_OUTCOME_TOO_LATE
                              : QM_OUTCOME_OVER_BUDGET);
}

static void
check_denied (const QmCandidate *c,
              guint n,
              gint64 budget,
              double deadline,
              const QmRecommendation *found)
{
  int denied = -1, first = first_of (c, n, budget, deadline, -1);

  for (guint i = 0; i < n; i++)
    if (!c[i].eligible && qm_candidate_within (&c[i], budget, deadline)
        && (first < 0 || is_before (c, (int) i, first))
        && (denied < 0 || is_before (c, (int) i, denied)))
      denied = (int) i;
  g_assert_cmpint (found->denied, ==, denied);
}

/* A budget that is spent to the last cent and a deadline that is met on its day
 * are kept; one cent and one day less are not. */
static void
test_limits (void)
{
  const QmCandidate candidate = { .gpu = &gpu,
                                  .gpus = 1,
                                  .machines = 1,
                                  .cost_minor = 3100000,
                                  .days = 34,
                                  .eligible = TRUE };
  g_autoptr (QmAdvice) advice = qm_advice_new_for_candidates (&candidate, 1);
  static const struct
  {
    gint64 budget;
    double deadline;
    QmOutcome outcome;
  } cases[] = {
    { -1, NAN, QM_OUTCOME_FOUND },
    { 3100000, NAN, QM_OUTCOME_FOUND },
    { 3099999, NAN, QM_OUTCOME_OVER_BUDGET },
    { 0, NAN, QM_OUTCOME_OVER_BUDGET },
    { -1, 34, QM_OUTCOME_FOUND },
    { -1, 33.999, QM_OUTCOME_TOO_LATE },
    { 3100000, 34, QM_OUTCOME_FOUND },
    { 3099999, 34, QM_OUTCOME_OVER_BUDGET },
    { 3100000, 33, QM_OUTCOME_TOO_LATE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      QmRecommendation found =
          qm_advice_recommend (advice, cases[i].budget, cases[i].deadline);

      g_assert_cmpint (found.outcome, ==, cases[i].outcome);
      g_assert_cmpint (qm_candidate_within (&candidate, cases[i].budget,
                                            cases[i].deadline),
                       ==, cases[i].outcome == QM_OUTCOME_FOUND);
    }
}

static void
test_recommendation (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (20241021);

  for (int round = 0; round < ROUNDS; round++)
    {
      g_autoptr (GArray) candidates = random_candidates (rand);
      g_autoptr (QmAdvice) advice = qm_advice_new_for_candidates (
          (QmCandidate *) (void *) candidates->data, candidates->len);
      guint n;
      const QmCandidate *c = qm_advice_candidates (advice, &n);

      g_assert_cmpuint (n, ==, candidates->len);
      for (int limit = 0; limit < 8; limit++)
        {
          double slack = (double[]){ 0, 0.05, 0.2, 1 }[limit / 2];
          gint64 budget =
              limit % 4 == 0 ? -1
                             : (gint64) g_rand_int_range (rand, 0, 32) * 100000;
          double deadline =
              limit % 2 == 0 ? NAN : g_rand_int_range (rand, 0, 32);
          QmRecommendation found;

          qm_advice_set_slack (advice, slack);
          found = qm_advice_recommend (advice, budget, deadline);
          if (found.outcome == QM_OUTCOME_FOUND)
            check_found (c, n, budget, deadline, slack, &found);
          else
            {
              g_assert_cmpint (found.best, ==, -1);
              g_assert_cmpint (found.runner_up, ==, -1);
              check_nothing (c, n, budget, deadline, &found);
            }
          check_denied (c, n, budget, deadline, &found);
        }
    }
}

static gboolean
dominates (const QmCandidate *a, const QmCandidate *b, gboolean experiment)
{
  double x = experiment ? a->experiment_cost : (double) a->cost_minor;
  double y = experiment ? b->experiment_cost : (double) b->cost_minor;

  return x <= y && a->days <= b->days && (x < y || a->days < b->days);
}

static void
check_frontier (const QmCandidate *c,
                guint n,
                const int *frontier,
                guint n_frontier,
                gboolean experiment)
{
  for (guint i = 0; i < n; i++)
    {
      gboolean listed = FALSE;
      gboolean beaten = FALSE;
      gboolean repeated = FALSE;

      for (guint f = 0; f < n_frontier; f++)
        listed |= frontier[f] == (int) i;
      for (guint j = 0; j < n && c[i].eligible; j++)
        if (c[j].eligible)
          {
            beaten |= dominates (&c[j], &c[i], experiment);
            repeated |= j < i && !dominates (&c[i], &c[j], experiment)
                        && !dominates (&c[j], &c[i], experiment)
                        && c[j].days == c[i].days;
          }
      g_assert_cmpint (listed, ==, c[i].eligible && !beaten && !repeated);
      if (!experiment)
        g_assert_cmpint (c[i].on_frontier, ==, listed);
    }
  for (guint f = 1; f < n_frontier; f++)
    g_assert_cmpfloat (c[frontier[f]].days, <, c[frontier[f - 1]].days);
}

static void
test_frontier (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (100);

  for (int round = 0; round < ROUNDS; round++)
    {
      g_autoptr (GArray) candidates = random_candidates (rand);
      g_autoptr (QmAdvice) advice = qm_advice_new_for_candidates (
          (QmCandidate *) (void *) candidates->data, candidates->len);
      guint n, n_frontier;
      const QmCandidate *c = qm_advice_candidates (advice, &n);
      const int *frontier = qm_advice_frontier (advice, &n_frontier);

      check_frontier (c, n, frontier, n_frontier, FALSE);
      frontier = qm_advice_experiment_frontier (advice, &n_frontier);
      check_frontier (c, n, frontier, n_frontier, TRUE);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/recommendation/limits", test_limits);
  g_test_add_func ("/recommendation/properties", test_recommendation);
  g_test_add_func ("/recommendation/frontier", test_frontier);
  return g_test_run ();
}
