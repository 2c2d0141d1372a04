/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-advice.h"
#include "pricing/advice/qm-candidates.h"
#include "pricing/advice/qm-frontier.h"
#include "pricing/advice/qm-predictions.h"

#include <glib/gi18n-lib.h>
#include <math.h>

struct _QmAdvice
{
  GArray *candidates; /* QmCandidate */
  GArray *order;      /* int: those with a price and a time, best first */
  GArray *frontier;   /* int */
  GArray *experiment_frontier; /* int */
  GPtrArray *predictions;      /* QmMeasurement, of the candidates */
  GArray *run_times;           /* QmRunTime, `n_runs` of a candidate */
  guint n_runs;                /* 0: no portfolio */
  QmPurse purse;
  double run_deadline;
  double life; /* days that a machine is to serve; NaN: does not count */
  double slack;
  QmHostTimes *host;       /* which candidates have times of, or NULL */
  GPtrArray *without_rate; /* const QmPrice* of the catalog */
  GPtrArray *left_out;     /* const QmMeasurement* */
  GPtrArray *unpredicted;  /* const QmGpu* */
  GPtrArray *unpredicted8; /* the same, for FP8 */
  gboolean ownership;      /* costs are totals */
};

G_DEFINE_QUARK (qm - advice - error - quark, qm_advice_error)

static gboolean
check_model (const QmCatalog *catalog, const char *id, GError **error)
{
  if (id != NULL && qm_catalog_model (catalog, id) != NULL)
    return TRUE;
  g_set_error (error, QM_ADVICE_ERROR, QM_ADVICE_ERROR_UNKNOWN_MODEL,
               _ ("unknown model “%s”"), id != NULL ? id : "");
  return FALSE;
}

static gboolean
check_question (const QmCatalog *catalog,
                const QmQuestion *question,
                GError **error)
{
  gboolean portfolio = qm_question_is_portfolio (question);

  if (!(question->lifetime_years > 0) || question->at_once < 1)
    {
      g_set_error_literal (
          error, QM_ADVICE_ERROR, QM_ADVICE_ERROR_INVALID,
          _ ("lifetime and machines at once must be positive"));
      return FALSE;
    }
  if (!(question->time_factor >= QM_TIME_FACTOR_MIN)
      || question->time_factor > QM_TIME_FACTOR_MAX)
    {
      g_set_error_literal (error, QM_ADVICE_ERROR, QM_ADVICE_ERROR_INVALID,
                           _ ("the factor of times must be from 1 to 10"));
      return FALSE;
    }
  for (guint i = 0; portfolio && i < question->runs->len; i++)
    {
      const QmRun *run = &g_array_index (question->runs, QmRun, i);

      if (!check_model (catalog, run->model, error))
        return FALSE;
      if (!(run->runs_per_year > 0) || isinf (run->runs_per_year))
        {
          g_set_error_literal (error, QM_ADVICE_ERROR, QM_ADVICE_ERROR_INVALID,
                               _ ("runs a year must be positive"));
          return FALSE;
        }
    }
  if (!portfolio && !check_model (catalog, question->model, error))
    return FALSE;
  for (guint i = 0; question->gpus != NULL && question->gpus[i] != NULL; i++)
    if (qm_catalog_gpu (catalog, question->gpus[i]) == NULL)
      {
        g_set_error (error, QM_ADVICE_ERROR, QM_ADVICE_ERROR_UNKNOWN_GPU,
                     _ ("unknown GPU “%s”"), question->gpus[i]);
        return FALSE;
      }
  return TRUE;
}

static const QmCandidate *
nth_candidate (const QmAdvice *advice, int index)
{
  return &g_array_index (advice->candidates, QmCandidate, (guint) index);
}

/* Shorter time first, then lower cost, fewer GPUs, the catalog's order. */
static int
compare_candidates (gconstpointer a, gconstpointer b, gpointer data)
{
  const int *i = a;
  const int *j = b;
  const QmCandidate *p = nth_candidate (data, *i);
  const QmCandidate *q = nth_candidate (data, *j);
  int p_gpus = p->gpus * p->machines;
  int q_gpus = q->gpus * q->machines;

  if (p->days != q->days)
    return p->days < q->days ? -1 : 1;
  if (p->cost_minor != q->cost_minor)
    return p->cost_minor < q->cost_minor ? -1 : 1;
  if (p_gpus != q_gpus)
    return p_gpus < q_gpus ? -1 : 1;
  return (*i > *j) - (*i < *j);
}

static void
find_frontiers (QmAdvice *advice)
{
  guint n = advice->candidates->len;
  g_autofree double *cost = g_new (double, n);
  g_autofree double *experiment = g_new (double, n);
  g_autofree double *days = g_new (double, n);
  g_autofree int *use = g_new (int, n);
  guint n_use = 0;

  for (guint i = 0; i < n; i++)
    {
      const QmCandidate *candidate = nth_candidate (advice, (int) i);

      cost[i] = (double) candidate->cost_minor;
      experiment[i] = candidate->experiment_cost;
      days[i] = candidate->days;
      if (candidate->eligible)
        use[n_use++] = (int) i;
    }
  advice->frontier = qm_frontier (cost, days, use, n_use);
  advice->experiment_frontier = qm_frontier (experiment, days, use, n_use);
  for (guint i = 0; i < advice->frontier->len; i++)
    {
      int index = g_array_index (advice->frontier, int, i);

      g_array_index (advice->candidates, QmCandidate, (guint) index)
          .on_frontier = TRUE;
    }
}

QmAdvice *
qm_advice_new_for_candidates (const QmCandidate *candidates, guint n_candidates)
{
  QmAdvice *advice = g_new0 (QmAdvice, 1);

  advice->candidates = g_array_new (FALSE, FALSE, sizeof (QmCandidate));
  if (n_candidates > 0)
    g_array_append_vals (advice->candidates, candidates, n_candidates);
  advice->left_out = g_ptr_array_new ();
  advice->unpredicted = g_ptr_array_new ();
  advice->unpredicted8 = g_ptr_array_new ();
  advice->purse = qm_purse_default ();
  advice->run_deadline = NAN;
  advice->life = NAN;
  advice->order = g_array_new (FALSE, FALSE, sizeof (int));
  for (int i = 0; i < (int) n_candidates; i++)
    if (nth_candidate (advice, i)->cost_minor >= 0
        && !nth_candidate (advice, i)->here
        && qm_known (nth_candidate (advice, i)->days))
      g_array_append_val (advice->order, i);
  g_array_sort_with_data (advice->order, compare_candidates, advice);
  find_frontiers (advice);
  return advice;
}

static gboolean
has_candidate (const QmAdvice *advice, const QmGpu *gpu)
{
  for (guint i = 0; i < advice->candidates->len; i++)
    if (nth_candidate (advice, (int) i)->gpu == gpu)
      return TRUE;
  return FALSE;
}

static void
remove_candidates (const QmAdvice *advice, GPtrArray *gpus)
{
  for (guint i = gpus->len; i-- > 0;)
    if (has_candidate (advice, g_ptr_array_index (gpus, i)))
      g_ptr_array_remove_index (gpus, i);
}

/* The types that take no part since nobody can say anything of them. */
static void
find_unpredicted (QmAdvice *advice,
                  const QmCatalog *catalog,
                  const QmQuestion *question)
{
  const GArray *runs = question->runs;
  guint n = runs != NULL && runs->len > 0 ? runs->len : 1;

  for (guint i = 0; i < n; i++)
    {
      const char *id = runs != NULL && runs->len > 0
                           ? g_array_index (runs, QmRun, i).model
                           : question->model;

      qm_predictions_add_unsupported (catalog, question,
                                      qm_catalog_model (catalog, id),
                                      advice->unpredicted,
                                      advice->unpredicted8);
    }
  remove_candidates (advice, advice->unpredicted);
  remove_candidates (advice, advice->unpredicted8);
}

QmAdvice *
qm_advice_new (const QmCatalog *catalog,
               const QmQuestion *question,
               GError **error)
{
  g_autoptr (GPtrArray) predictions = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GArray) run_times = g_array_new (FALSE, FALSE, sizeof (QmRunTime));
  g_autoptr (GPtrArray) left_out = g_ptr_array_new ();
  g_autoptr (GArray) candidates = NULL;
  QmAdvice *advice;

  g_return_val_if_fail (catalog != NULL && question != NULL, NULL);

  if (!check_question (catalog, question, error))
    return NULL;
  candidates =
      qm_candidates_build (catalog, question, predictions, run_times, left_out);
  advice =
      qm_advice_new_for_candidates ((QmCandidate *) (void *) candidates->data,
                                    candidates->len);
  advice->predictions = g_steal_pointer (&predictions);
  advice->run_times = g_steal_pointer (&run_times);
  g_ptr_array_extend_and_steal (advice->left_out, g_steal_pointer (&left_out));
  find_unpredicted (advice, catalog, question);
  advice->purse = question->purse;
  if (question->host != NULL)
    advice->host = qm_host_times_ref (question->host);
  if (!question->as_in_paper)
    advice->without_rate = qm_prices_without_rate (catalog, question->rates);
  if (qm_question_is_portfolio (question))
    advice->n_runs = question->runs->len;
  advice->ownership = question->ownership != NULL;
  qm_advice_set_slack (advice, question->slack_percent / 100);
  if (!question->as_in_paper)
    advice->life = question->lifetime_years * QM_DAYS_PER_YEAR;
  qm_advice_set_run_deadline (advice, question->run_deadline_days);
  return advice;
}

void
qm_advice_free (QmAdvice *advice)
{
  if (advice == NULL)
    return;
  g_array_unref (advice->candidates);
  g_array_unref (advice->order);
  g_array_unref (advice->frontier);
  g_array_unref (advice->experiment_frontier);
  g_ptr_array_unref (advice->left_out);
  g_ptr_array_unref (advice->unpredicted);
  g_ptr_array_unref (advice->unpredicted8);
  g_clear_pointer (&advice->predictions, g_ptr_array_unref);
  g_clear_pointer (&advice->run_times, g_array_unref);
  g_clear_pointer (&advice->host, qm_host_times_unref);
  g_clear_pointer (&advice->without_rate, g_ptr_array_unref);
  g_free (advice);
}

GPtrArray *
qm_advice_prices_without_rate (const QmAdvice *advice)
{
  g_return_val_if_fail (advice != NULL, NULL);

  return advice->without_rate;
}

GPtrArray *
qm_advice_unpredicted (const QmAdvice *advice)
{
  g_return_val_if_fail (advice != NULL, NULL);

  return advice->unpredicted;
}

gboolean
qm_advice_lacks_fp8 (const QmAdvice *advice)
{
  g_return_val_if_fail (advice != NULL, FALSE);

  return advice->unpredicted8->len > 0;
}

GPtrArray *
qm_advice_left_out (const QmAdvice *advice)
{
  g_return_val_if_fail (advice != NULL, NULL);

  return advice->left_out;
}

gboolean
qm_advice_is_portfolio (const QmAdvice *advice)
{
  g_return_val_if_fail (advice != NULL, FALSE);

  return advice->n_runs > 0;
}

void
qm_advice_set_run_deadline (QmAdvice *advice, double days)
{
  g_return_if_fail (advice != NULL);

  advice->run_deadline = days;
  for (guint i = 0; i < advice->candidates->len; i++)
    {
      QmCandidate *candidate =
          &g_array_index (advice->candidates, QmCandidate, i);

      candidate->outlived = !candidate->here && qm_known (advice->life)
                            && candidate->longest_days > advice->life;
      candidate->late = candidate->outlived
                        || (qm_known (days) && candidate->longest_days > days);
    }
}

double
qm_advice_get_run_limit (const QmAdvice *advice)
{
  g_return_val_if_fail (advice != NULL, NAN);

  if (!qm_known (advice->run_deadline) || !qm_known (advice->life))
    return qm_known (advice->life) ? advice->life : advice->run_deadline;
  return MIN (advice->run_deadline, advice->life);
}

double
qm_advice_get_run_deadline (const QmAdvice *advice)
{
  g_return_val_if_fail (advice != NULL, NAN);

  return advice->run_deadline;
}

void
qm_advice_set_slack (QmAdvice *advice, double slack)
{
  g_return_if_fail (advice != NULL && slack >= 0);

  advice->slack = slack;
}

double
qm_advice_get_slack (const QmAdvice *advice)
{
  g_return_val_if_fail (advice != NULL, 0);

  return advice->slack;
}

const QmRunTime *
qm_advice_runs (const QmAdvice *advice, const QmCandidate *candidate, guint *n)
{
  g_return_val_if_fail (advice != NULL && candidate != NULL, NULL);
  g_return_val_if_fail (n != NULL, NULL);

  *n = advice->n_runs;
  if (advice->n_runs == 0)
    return NULL;
  return &g_array_index (advice->run_times, QmRunTime, candidate->first_run);
}

const QmPurse *
qm_advice_purse (const QmAdvice *advice)
{
  g_return_val_if_fail (advice != NULL, NULL);

  return &advice->purse;
}

gboolean
qm_advice_counts_ownership (const QmAdvice *advice)
{
  g_return_val_if_fail (advice != NULL, FALSE);

  return advice->ownership;
}

const QmCandidate *
qm_advice_candidates (const QmAdvice *advice, guint *n)
{
  g_return_val_if_fail (advice != NULL && n != NULL, NULL);

  *n = advice->candidates->len;
  return (const QmCandidate *) (void *) advice->candidates->data;
}

const QmCandidate *
qm_advice_candidate (const QmAdvice *advice, int index)
{
  return index >= 0 && (guint) index < advice->candidates->len
             ? nth_candidate (advice, index)
             : NULL;
}

const int *
qm_advice_frontier (const QmAdvice *advice, guint *n)
{
  g_return_val_if_fail (advice != NULL && n != NULL, NULL);

  *n = advice->frontier->len;
  return (const int *) (void *) advice->frontier->data;
}

const int *
qm_advice_experiment_frontier (const QmAdvice *advice, guint *n)
{
  g_return_val_if_fail (advice != NULL && n != NULL, NULL);

  *n = advice->experiment_frontier->len;
  return (const int *) (void *) advice->experiment_frontier->data;
}

gboolean
qm_candidate_is_whole (const QmCandidate *candidate)
{
  g_return_val_if_fail (candidate != NULL, FALSE);

  return candidate->machine_offer != NULL && candidate->machine_offer->whole;
}

const char *
qm_candidate_machine_name (const QmCandidate *candidate)
{
  g_return_val_if_fail (candidate != NULL, NULL);

  if (candidate->machine != NULL)
    return candidate->machine->name;
  if (candidate->platform != NULL && candidate->carry.problem == QM_CARRY_NONE)
    return candidate->platform->name;
  return qm_candidate_is_whole (candidate)
             ? candidate->machine_offer->description
             : NULL;
}

int
qm_candidate_jobs (const QmCandidate *candidate)
{
  double jobs;

  g_return_val_if_fail (candidate != NULL, 0);

  if (!qm_known (candidate->days))
    return 0;
  if (candidate->use == NULL || !qm_known (candidate->use->walltime_hours))
    return 1;
  jobs = ceil (candidate->days * 24 / candidate->use->walltime_hours);
  return (int) CLAMP (jobs, 1, G_MAXINT);
}

gboolean
qm_candidate_is_not_carried (const QmCandidate *candidate)
{
  g_return_val_if_fail (candidate != NULL, FALSE);

  return !candidate->here && candidate->carry.problem != QM_CARRY_NONE
         && qm_known (candidate->days);
}

gboolean
qm_candidate_within (const QmCandidate *candidate,
                     gint64 budget_minor,
                     double deadline_days)
{
  return candidate->cost_minor >= 0 && qm_known (candidate->days)
         && !candidate->insufficient && !candidate->late && !candidate->unfunded
         && (budget_minor < 0 || candidate->cost_minor <= budget_minor)
         && (!qm_known (deadline_days) || candidate->days <= deadline_days);
}

static gboolean
in_time (const QmCandidate *candidate, double deadline_days)
{
  if (candidate->late)
    return FALSE;
  return !qm_known (deadline_days) || candidate->days <= deadline_days;
}

/* Cost x days, which the cost of an experiment is proportional to. */
static double
product_of (const QmCandidate *candidate)
{
  return (double) candidate->cost_minor * candidate->days;
}

/* Whether what a candidate costs is known as well as what another does. */
static gboolean
is_as_sure (const QmCandidate *candidate, const QmCandidate *other)
{
  return !candidate->weak || other->weak;
}

/* Of those within the limits, without one (-1: none), the one to advise, and
 * the fastest; -1: there is none. */
static int
choose_candidate (const QmAdvice *advice,
                  gint64 budget_minor,
                  double deadline_days,
                  int without,
                  int *fastest)
{
  double longest = INFINITY;
  gint64 cheapest = G_MAXINT64; /* of those that are as fast */
  int chosen = -1;

  *fastest = -1;
  for (guint i = 0; i < advice->order->len; i++)
    {
      int index = g_array_index (advice->order, int, i);
      const QmCandidate *candidate = nth_candidate (advice, index);

      if (candidate->days > longest)
        break;
      if (index == without || !candidate->eligible
          || !qm_candidate_within (candidate, budget_minor, deadline_days))
        continue;
      if (*fastest < 0)
        {
          *fastest = index;
          longest = candidate->days * (1 + advice->slack);
        }
      if (chosen < 0
          || (candidate->cost_minor < cheapest
              && is_as_sure (candidate, nth_candidate (advice, *fastest))
              && product_of (candidate)
                     < product_of (nth_candidate (advice, chosen))))
        chosen = index;
      cheapest = MIN (cheapest, candidate->cost_minor);
    }
  return chosen;
}

/* An impossible one that the audit denied although it would come before what is
 * the fastest, -1: before anything; -1: there is none. */
static int
find_denied (const QmAdvice *advice,
             gint64 budget_minor,
             double deadline_days,
             int fastest)
{
  for (guint i = 0; i < advice->order->len; i++)
    {
      int index = g_array_index (advice->order, int, i);
      const QmCandidate *candidate = nth_candidate (advice, index);

      if (index == fastest)
        break;
      if (!candidate->eligible && !candidate->superseded
          && qm_candidate_within (candidate, budget_minor, deadline_days))
        return index;
    }
  return -1;
}

/* Around the best: what a faster one costs more, what a cheaper one takes
 * longer.  The order is by days, so the first cheaper one is the fastest. */
static void
find_neighbours (const QmAdvice *advice, QmRecommendation *found)
{
  const QmCandidate *best = nth_candidate (advice, found->best);

  for (guint i = 0; i < advice->order->len; i++)
    {
      int index = g_array_index (advice->order, int, i);
      const QmCandidate *candidate = nth_candidate (advice, index);

      if (!candidate->eligible)
        continue;
      if (candidate->days * (1 + advice->slack) < best->days
          && (found->faster < 0
              || candidate->cost_minor
                     < nth_candidate (advice, found->faster)->cost_minor))
        found->faster = index;
      if (candidate->cost_minor < best->cost_minor
          && candidate->days >= best->days && found->cheaper < 0)
        found->cheaper = index;
    }
}

/* Nothing fits: the cheapest that is in time, else the fastest; where single
 * runs are what is late, the one that is soonest back with them. */
static void
find_would_do (const QmAdvice *advice,
               double deadline_days,
               QmRecommendation *found)
{
  int fastest = -1;

  for (guint i = 0; i < advice->order->len; i++)
    {
      int index = g_array_index (advice->order, int, i);
      const QmCandidate *candidate = nth_candidate (advice, index);

      if (!candidate->eligible)
        continue;
      if (fastest < 0
          || (nth_candidate (advice, fastest)->late
              && candidate->longest_days
                     < nth_candidate (advice, fastest)->longest_days))
        fastest = index;
      if (in_time (candidate, deadline_days)
          && (found->would_do < 0
              || candidate->cost_minor
                     < nth_candidate (advice, found->would_do)->cost_minor))
        found->would_do = index;
    }
  if (fastest < 0)
    found->outcome = QM_OUTCOME_NOTHING;
  else if (found->would_do >= 0)
    found->outcome = QM_OUTCOME_OVER_BUDGET;
  else
    {
      found->outcome = QM_OUTCOME_TOO_LATE;
      found->would_do = fastest;
    }
}

/* Whether a candidate is left out for the life of the machine alone. */
static gboolean
is_outlived_only (const QmAdvice *advice,
                  const QmCandidate *candidate,
                  gint64 budget_minor,
                  double deadline_days)
{
  QmCandidate other = *candidate;

  other.late = qm_known (advice->run_deadline)
               && candidate->longest_days > advice->run_deadline;
  return candidate->outlived && candidate->eligible
         && qm_candidate_within (&other, budget_minor, deadline_days);
}

static int
find_outlived (const QmAdvice *advice,
               gint64 budget_minor,
               double deadline_days)
{
  int found = -1;

  for (guint i = 0; i < advice->order->len; i++)
    {
      int index = g_array_index (advice->order, int, i);
      const QmCandidate *candidate = nth_candidate (advice, index);

      if (is_outlived_only (advice, candidate, budget_minor, deadline_days)
          && (found < 0
              || candidate->longest_days
                     < nth_candidate (advice, found)->longest_days))
        found = index;
    }
  return found;
}

QmRecommendation
qm_advice_recommend (const QmAdvice *advice,
                     gint64 budget_minor,
                     double deadline_days)
{
  QmRecommendation found = { QM_OUTCOME_FOUND, -1, -1, -1, -1, -1, -1, -1, -1 };
  int fastest, next;

  g_return_val_if_fail (advice != NULL, found);

  found.best =
      choose_candidate (advice, budget_minor, deadline_days, -1, &fastest);
  found.denied = find_denied (advice, budget_minor, deadline_days, fastest);
  if (fastest != found.best)
    found.sooner = fastest;
  if (found.best >= 0)
    {
      found.runner_up = choose_candidate (advice, budget_minor, deadline_days,
                                          found.best, &next);
      find_neighbours (advice, &found);
    }
  else
    {
      find_would_do (advice, deadline_days, &found);
      found.outlived = find_outlived (advice, budget_minor, deadline_days);
    }
  return found;
}
