/* SPDX-License-Identifier: Apache-2.0 */

/* Which types of GPU a plot of few is of. */

#include "pricing/advice/qm-shortlist.h"

#include <math.h>

#define N_TYPES 9

static QmGpu gpus[N_TYPES];

static QmCandidate
candidate (guint type, gint64 cost_minor, double days)
{
  return (QmCandidate){ .gpu = &gpus[type],
                        .gpus = 1,
                        .machines = 1,
                        .cost_minor = cost_minor,
                        .cost_low_minor = -1,
                        .cost_high_minor = -1,
                        .days = days,
                        .days_low = NAN,
                        .days_high = NAN,
                        .experiment_cost = 1,
                        .implied_utilization = NAN,
                        .eligible = TRUE };
}

/* Of no more than six, nothing is left out. */
static void
test_few (void)
{
  QmCandidate some[QM_SHORTLIST_MOST + 1];
  g_autoptr (QmAdvice) advice = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (some); i++)
    some[i] = candidate (i % QM_SHORTLIST_MOST, 1000 + i, 10);
  advice = qm_advice_new_for_candidates (some, G_N_ELEMENTS (some));
  g_assert_null (qm_shortlist_new (advice));
}

/* A long frontier is thinned out evenly, and keeps its ends. */
static void
test_long_frontier (void)
{
  static const gboolean kept[N_TYPES] = { TRUE,  TRUE, FALSE, TRUE, TRUE,
                                          FALSE, TRUE, FALSE, TRUE };
  QmCandidate some[N_TYPES];
  g_autoptr (QmAdvice) advice = NULL;
  g_autoptr (GHashTable) shortlist = NULL;

  for (guint i = 0; i < N_TYPES; i++)
    some[i] = candidate (i, 1000 * (i + 1), 100 - 10.0 * i);
  advice = qm_advice_new_for_candidates (some, N_TYPES);
  shortlist = qm_shortlist_new (advice);
  g_assert_cmpuint (g_hash_table_size (shortlist), ==, QM_SHORTLIST_MOST);
  for (guint i = 0; i < N_TYPES; i++)
    g_assert_cmpint (g_hash_table_contains (shortlist, &gpus[i]), ==, kept[i]);
}

/* A short one is filled up with what comes nearest to it; what may not be
 * recommended is the last. */
static void
test_short_frontier (void)
{
  QmCandidate some[N_TYPES];
  g_autoptr (QmAdvice) advice = NULL;
  g_autoptr (GHashTable) shortlist = NULL;

  some[0] = candidate (0, 1000, 1);
  for (guint i = 1; i < N_TYPES; i++)
    some[i] = candidate (i, 2000, 20.0 - i);
  some[8].eligible = FALSE;
  advice = qm_advice_new_for_candidates (some, N_TYPES);
  shortlist = qm_shortlist_new (advice);
  g_assert_cmpuint (g_hash_table_size (shortlist), ==, QM_SHORTLIST_MOST);
  g_assert_true (g_hash_table_contains (shortlist, &gpus[0]));
  for (guint i = 1; i < N_TYPES; i++)
    g_assert_cmpint (g_hash_table_contains (shortlist, &gpus[i]), ==,
                     i >= 3 && i <= 7);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/shortlist/few", test_few);
  g_test_add_func ("/shortlist/long-frontier", test_long_frontier);
  g_test_add_func ("/shortlist/short-frontier", test_short_frontier);
  return g_test_run ();
}
