/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-odds.h"

#include <math.h>

#define OF_GPU 0.60
#define OF_OWN (1 - OF_GPU)

/* Between which nine of ten of a normal distribution are, in standard
 * deviations. */
#define NINE_OF_TEN 1.6448536

/* One that may be the best. */
typedef struct
{
  int index;
  double days;
  double longest; /* of a single run */
  double cost;
  double deviation;
  gboolean weak;    /* its price */
  guint64 gpu, own; /* seeds */
} Contender;

/* SplitMix64 (Steele, Lea and Flood 2014). */
static guint64
scramble (guint64 x)
{
  x += G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return x ^ (x >> 31);
}

/* Above 0, below 1. */
static double
uniform (guint64 seed)
{
  return ((double) (scramble (seed) >> 11) + 0.5) / 9007199254740992.0;
}

/* The n-th draw of a seed from a normal distribution (Box and Muller 1958). */
static double
normal (guint64 seed, guint n)
{
  guint64 at = scramble (seed) + 2 * (guint64) n;

  return sqrt (-2 * log (uniform (at))) * cos (2 * G_PI * uniform (at + 1));
}

static Contender
contender_of (const QmCandidate *candidate, int index)
{
  Contender contender = { .index = index,
                          .days = candidate->days,
                          .longest = candidate->longest_days,
                          .cost = (double) candidate->cost_minor,
                          .weak = candidate->weak };

  contender.gpu = g_str_hash (candidate->gpu->id);
  contender.own = contender.gpu * 1031 + (guint64) candidate->gpus;
  if (candidate->predicted && candidate->days_low > 0
      && candidate->days_high > candidate->days_low)
    contender.deviation =
        log (candidate->days_high / candidate->days_low) / (2 * NINE_OF_TEN);
  return contender;
}

/* Whether one could be as fast as another that may take so many times its time.
 * Between predicted ones the ends of
 * their intervals are 3 standard deviations or more of what they do not share
 * apart; beside a measured one, twice the interval are 3.3. */
static gboolean
may_be_as_fast (const QmCandidate *one, const QmCandidate *other, double times)
{
  double low = one->days, high = other->days;

  if (one->predicted)
    low = other->predicted ? one->days_low
                           : one->days_low * one->days_low / one->days;
  if (other->predicted)
    high = one->predicted ? other->days_high
                          : other->days_high * other->days_high / other->days;
  return low <= high * times;
}

/* Whether a budget pays it, whenever it is done. */
static gboolean
is_affordable (const QmCandidate *candidate, gint64 budget_minor)
{
  QmCandidate in_time = *candidate;

  in_time.late = FALSE;
  return qm_candidate_within (&in_time, budget_minor, NAN);
}

/* All that are affordable and may be as fast as the best one. */
static GArray *
find_contenders (const QmAdvice *advice, gint64 budget_minor, int best)
{
  GArray *contenders = g_array_new (FALSE, FALSE, sizeof (Contender));
  guint n;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n);

  for (guint i = 0; i < n; i++)
    {
      Contender contender;

      if (!candidates[i].eligible
          || !may_be_as_fast (&candidates[i], &candidates[best],
                              1 + qm_advice_get_slack (advice))
          || !is_affordable (&candidates[i], budget_minor))
        continue;
      contender = contender_of (&candidates[i], (int) i);
      g_array_append_val (contenders, contender);
    }
  return contenders;
}

/* How long each takes in a draw; INFINITY: too long. */
static void
draw_days (const GArray *contenders,
           double deadline_days,
           double run_most,
           guint draw,
           double *days)
{
  double run_limit = qm_known (run_most) ? run_most : INFINITY;
  double limit = qm_known (deadline_days) ? deadline_days : INFINITY;

  for (guint i = 0; i < contenders->len; i++)
    {
      const Contender *one = &g_array_index (contenders, Contender, i);
      double error = 0;

      if (one->deviation > 0)
        error = one->deviation
                * (sqrt (OF_GPU) * normal (one->gpu, draw)
                   + sqrt (OF_OWN) * normal (one->own, draw));
      days[i] = one->days * exp (error);
      if (one->longest * exp (error) > run_limit || days[i] > limit)
        days[i] = INFINITY;
    }
}

/* The place of the one that would be advised; -1: none is in time. */
static int
find_best (const GArray *contenders, const double *days, double slack)
{
  double shortest = INFINITY, least = INFINITY;
  gboolean weak = FALSE;
  int best = -1;

  for (guint i = 0; i < contenders->len; i++)
    if (days[i] < shortest)
      {
        shortest = days[i];
        weak = g_array_index (contenders, Contender, i).weak;
      }
  for (guint i = 0; i < contenders->len && shortest < INFINITY; i++)
    {
      const Contender *one = &g_array_index (contenders, Contender, i);
      double product = one->cost * days[i];

      if (days[i] > shortest * (1 + slack) || product >= least
          || (one->weak && !weak))
        continue;
      least = product;
      best = (int) i;
    }
  return best;
}

QmOdds
qm_odds_draw (const QmAdvice *advice,
              gint64 budget_minor,
              double deadline_days,
              const QmRecommendation *found)
{
  QmOdds odds = { 1, -1, 0 };
  g_autoptr (GArray) contenders = NULL;
  g_autofree guint *wins = NULL;
  g_autofree double *days = NULL;
  guint none = 0, most = 0;

  g_return_val_if_fail (advice != NULL && found != NULL, odds);
  g_return_val_if_fail (found->best >= 0, odds);

  contenders = find_contenders (advice, budget_minor, found->best);
  wins = g_new0 (guint, contenders->len);
  days = g_new (double, contenders->len);
  for (guint draw = 0; draw < QM_ODDS_DRAWS; draw++)
    {
      int best;

      draw_days (contenders, deadline_days, qm_advice_get_run_limit (advice),
                 draw, days);
      best = find_best (contenders, days, qm_advice_get_slack (advice));
      if (best >= 0)
        wins[best]++;
      else
        none++;
    }
  for (guint i = 0; i < contenders->len; i++)
    {
      int index = g_array_index (contenders, Contender, i).index;

      if (index == found->best)
        odds.best = (double) wins[i] / QM_ODDS_DRAWS;
      else if (wins[i] > most)
        {
          most = wins[i];
          odds.other = index;
        }
    }
  if (none > most)
    odds.other = -1;
  odds.share = (double) MAX (most, none) / QM_ODDS_DRAWS;
  return odds;
}
