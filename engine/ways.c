/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/ways.h"

#include "data/family.h"
#include "engine/search.h"

#include <stdlib.h>
#include <string.h>

/* What a step may take longer at a smaller micro-batch: no more than two
 * measurements of the same differ by. */
#define NO_SLOWER 1.005

unsigned
qm_level_methods (const QmLevel *level)
{
  if (strcmp (level->name, "naive") == 0)
    return 0;
  return strcmp (level->name, "eager") == 0 ? QM_METHOD_KERNELS | QM_METHOD_TF32
                                            : QM_METHOD_ALL;
}

/* Predicts what was planned, and keeps it if it is the fastest so far; *slower
 * says that it is not. */
static QmStatus
take_plan (const QmPlan *plan,
           const QmExchange *exchange,
           const QmLevel *level,
           QmWayFound *found,
           bool *slower,
           QmError *error)
{
  QmPrediction prediction;
  QmExchanged exchanged;
  QmWork *work;
  QmStatus status = qm_work_new (plan, &work, error);

  if (status == QM_OK)
    status = qm_predict_ranks (work, exchange, level, &prediction, &exchanged,
                               error);
  qm_work_free (work);
  if (status != QM_OK)
    return status;
  *slower = found->fits && prediction.step >= found->prediction.step;
  if (*slower)
    return QM_OK;
  found->fits = true;
  found->micro_batch = plan->options.micro_batch;
  found->accumulation = plan->accumulation;
  found->memory = plan->memory;
  found->prediction = prediction;
  found->exchanged = exchanged;
  return QM_OK;
}

/* Halves of a micro-batch as long as they are faster. */
static QmStatus
try_halves (const QmModelConfig *config,
            const QmRecipe *recipe,
            QmPlanOptions options,
            const QmExchange *exchange,
            const QmLevel *level,
            QmWayFound *found,
            QmError *error)
{
  bool slower = false;
  QmStatus status = QM_OK;

  for (options.micro_batch /= 2;
       options.micro_batch > 0 && !slower && status == QM_OK;
       options.micro_batch /= 2)
    {
      QmPlan *plan = NULL;

      status = qm_plan_new (config, recipe, &options, &plan, error);
      if (status == QM_OK)
        status = take_plan (plan, exchange, level, found, &slower, error);
      qm_plan_free (plan);
    }
  return status;
}

QmStatus
qm_way_find (const QmModelConfig *config,
             const QmRecipe *recipe,
             const QmPlanOptions *options,
             uint64_t bytes,
             const QmExchange *exchange,
             const QmLevel *level,
             QmWayFound *found,
             QmError *error)
{
  QmPlanOptions one = *options;
  QmPlan *plan = NULL;
  bool fixed = options->micro_batch > 0, fits = true, slower;
  QmStatus status = QM_OK;

  memset (found, 0, sizeof *found);
  one.foreign = !level->own;
  if (!fixed)
    status = qm_search_fit (config, recipe, &one, bytes, &found->memory, &fits,
                            &found->shortage, error);
  if (status != QM_OK || !fits)
    return status;
  status = qm_plan_new (config, recipe, &one, &plan, error);
  if (status == QM_OK)
    found->memory = plan->memory;
  if (status == QM_OK && !qm_plan_is_short (plan, bytes, &found->shortage))
    status = take_plan (plan, exchange, level, found, &slower, error);
  qm_plan_free (plan);
  return status == QM_OK && found->fits && !fixed
             ? try_halves (config, recipe, one, exchange, level, found, error)
             : status;
}

QmStatus
qm_way_shorten (const QmModelConfig *config,
                const QmRecipe *recipe,
                QmPlanOptions *options,
                uint64_t bytes,
                const QmExchange *exchange,
                const QmLevel *level,
                double enough,
                QmMemory *memory,
                QmError *error)
{
  QmPlanOptions half = *options;
  QmWayFound found;
  QmStatus status = qm_way_find (config, recipe, options, bytes, exchange,
                                 level, &found, error);
  double longest = NO_SLOWER * found.prediction.step;

  while (status == QM_OK && found.fits && half.micro_batch > 1
         && found.prediction.pass > enough)
    {
      half.micro_batch /= 2;
      status = qm_way_find (config, recipe, &half, bytes, exchange, level,
                            &found, error);
      if (status != QM_OK || !found.fits || found.prediction.step > longest)
        break;
      *options = half;
      *memory = found.memory;
    }
  return status;
}

/* What was planned of a way, for PLANNED_RANKS: more of them have smaller parts
 * of what they divide, and do less of its update.  Where matrices are dealt to
 * ranks parts are not equal, and where pairs are told from those of all ranks
 * more of them compare more: each number of them is planned for itself. */
#define PLANNED_RANKS 2

typedef struct Planned
{
  QmPlanOptions options; /* with the ranks that it was planned for */
  bool impossible;       /* it cannot be planned */
  QmMemory *memory;      /* by target */
  uint64_t host_own;     /* of the host's, what each has for itself */
  QmWork *work;
} Planned;

struct QmWayPlans
{
  const QmModelConfig *config;
  const QmRecipe *recipe;
  const QmTarget *targets;
  size_t n_targets;
  QmPlanBases *bases;
  Planned **list;
  size_t n, room;
};

QmStatus
qm_way_plans_new (const QmModelConfig *config,
                  const QmRecipe *recipe,
                  const QmTarget *targets,
                  size_t n,
                  QmWayPlans **plans,
                  QmError *error)
{
  QmPlanBases *bases = qm_plan_bases_new ();

  *plans = bases != NULL ? calloc (1, sizeof **plans) : NULL;
  if (*plans == NULL)
    {
      qm_plan_bases_free (bases);
      return qm_error_no_memory (error);
    }
  **plans = (QmWayPlans){ .config = config,
                          .recipe = recipe,
                          .targets = targets,
                          .n_targets = n,
                          .bases = bases };
  return QM_OK;
}

QmPlanBases *
qm_way_plans_bases (QmWayPlans *plans)
{
  return plans->bases;
}

static void
free_planned (Planned *planned)
{
  if (planned == NULL)
    return;
  qm_work_free (planned->work);
  free (planned->memory);
  free (planned);
}

void
qm_way_plans_free (QmWayPlans *plans)
{
  if (plans == NULL)
    return;
  for (size_t i = 0; i < plans->n; i++)
    free_planned (plans->list[i]);
  free (plans->list);
  qm_plan_bases_free (plans->bases);
  free (plans);
}

static int
ranks_to_plan (const QmWayPlans *plans, const QmPlanOptions *options)
{
  bool dealt = plans->recipe->optimizer == QM_OPTIMIZER_MUON
               && options->sharding != QM_SHARDING_NONE;

  return dealt
                 || qm_family_info (plans->config->family)->objective
                        == QM_OBJECTIVE_PAIRS
             ? options->ranks
             : PLANNED_RANKS;
}

static bool
is_planned (const QmPlanOptions *planned, const QmPlanOptions *asked, int ranks)
{
  return planned->micro_batch == asked->micro_batch
         && planned->sharding == asked->sharding
         && planned->offload == asked->offload
         && planned->checkpoint == asked->checkpoint
         && planned->methods == asked->methods && planned->ranks == ranks;
}

/* Plans it for the first target: others differ in what they need alone. */
static QmStatus
plan_way (const QmWayPlans *plans, Planned *planned, QmError *error)
{
  QmPlan *plan = NULL;
  QmStatus status =
      qm_plan_new_from (plans->bases, plans->config, plans->recipe,
                        &planned->options, &plan, error);

  if (status == QM_STATUS_UNSUPPORTED)
    {
      planned->impossible = true;
      return QM_OK;
    }
  if (status == QM_OK)
    {
      qm_plan_memories (plan, plans->targets, plans->n_targets,
                        planned->memory);
      planned->host_own = plan->host.staging;
      status = qm_work_new (plan, &planned->work, error);
    }
  qm_plan_free (plan);
  return status;
}

static QmStatus
add_planned (QmWayPlans *plans,
             const QmPlanOptions *options,
             Planned **added,
             QmError *error)
{
  Planned *planned = calloc (1, sizeof *planned);
  QmStatus status;

  if (plans->n == plans->room)
    {
      size_t room = 2 * plans->room + 32;
      Planned **list = realloc (plans->list, room * sizeof (Planned *));

      plans->list = list != NULL ? list : plans->list;
      plans->room = list != NULL ? room : plans->room;
    }
  if (planned != NULL)
    planned->memory = calloc (plans->n_targets + 1, sizeof *planned->memory);
  if (planned == NULL || planned->memory == NULL || plans->n == plans->room)
    {
      free_planned (planned);
      return qm_error_no_memory (error);
    }
  planned->options = *options;
  planned->options.target = plans->targets[0];
  planned->options.ranks = ranks_to_plan (plans, options);
  status = plan_way (plans, planned, error);
  if (status != QM_OK)
    free_planned (planned);
  else
    *added = plans->list[plans->n++] = planned;
  return status;
}

/* Of so many bytes that each of `planned` ranks has, what each of `ranks` has.
 */
static uint64_t
share_of_rank (uint64_t bytes, int planned, int ranks)
{
  return (bytes * (uint64_t) planned + (uint64_t) ranks - 1) / (uint64_t) ranks;
}

/* What each of so many ranks needs. */
static QmMemory
memory_of (const Planned *planned, size_t target, int ranks)
{
  QmMemory memory = planned->memory[target];
  int before = planned->options.ranks;
  uint64_t *const divided[] = { &memory.weights, &memory.master,
                                &memory.gradients, &memory.optimizer };
  const bool is[] = { qm_sharding_weights (planned->options.sharding), true,
                      qm_sharding_gradients (planned->options.sharding), true };

  if (planned->work->parts == 1)
    return memory;
  for (size_t i = 0; i < sizeof divided / sizeof divided[0]; i++)
    if (is[i])
      {
        uint64_t whole = *divided[i];

        *divided[i] = share_of_rank (whole, before, ranks);
        memory.total -= whole - *divided[i];
      }
  if (memory.host > 0)
    memory.host = share_of_rank (memory.host - planned->host_own, before, ranks)
                  + planned->host_own;
  return memory;
}

/* What each of so many ranks does, with `rows` for its rows. */
static QmWork
work_of (const QmWork *planned, int ranks, double passes, QmWorkRow *rows)
{
  QmWork work = *planned;
  double share = (double) planned->ranks / ranks;

  memcpy (rows, planned->rows, planned->n * sizeof *rows);
  work.rows = rows;
  work.ranks = ranks;
  work.passes = passes;
  if (planned->parts == 1)
    return work;
  work.parts = ranks;
  work.down *= share;
  work.up *= share;
  work.update_down *= share;
  work.update_up *= share;
  for (size_t i = 0; i < work.n; i++)
    if (rows[i].update)
      {
        rows[i].flops *= share;
        rows[i].bytes *= share;
      }
  return work;
}

QmStatus
qm_way_plans_find (QmWayPlans *plans,
                   size_t target,
                   const QmPlanOptions *options,
                   uint64_t bytes,
                   const QmExchange *exchange,
                   const QmLevel *level,
                   QmWayFound *found,
                   QmError *error)
{
  Planned *planned = NULL;
  uint64_t host = options->host_bytes;
  int64_t all = options->micro_batch * options->ranks;
  QmWorkRow *rows;
  QmWork work;
  QmStatus status = QM_OK;

  memset (found, 0, sizeof *found);
  for (size_t i = 0; i < plans->n && planned == NULL; i++)
    if (is_planned (&plans->list[i]->options, options,
                    ranks_to_plan (plans, options)))
      planned = plans->list[i];
  if (planned == NULL)
    status = add_planned (plans, options, &planned, error);
  if (status != QM_OK || planned == NULL || planned->impossible)
    return status;
  found->memory = memory_of (planned, target, options->ranks);
  if (found->memory.total > bytes || (host > 0 && found->memory.host > host))
    return QM_OK;
  found->fits = true;
  found->micro_batch = options->micro_batch;
  found->accumulation = (plans->recipe->batch_size + all - 1) / all;
  rows = calloc (planned->work->n + 1, sizeof *rows);
  if (rows == NULL)
    return qm_error_no_memory (error);
  work = work_of (planned->work, options->ranks, (double) found->accumulation,
                  rows);
  status = qm_predict_ranks (&work, exchange, level, &found->prediction,
                             &found->exchanged, error);
  free (rows);
  return status;
}
