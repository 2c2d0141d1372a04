/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/places.h"

#include "data/architecture.h"
#include "data/training-rates.h"
#include "engine/places-least.h"
#include "engine/ways.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SIZES 40 /* powers of two up to a batch */

/* What a way needs and does at a micro-batch, on one GPU. */
typedef struct Need
{
  enum
  {
    UNKNOWN,
    PLANNED,
    TOO_LARGE /* one of its tensors is larger than any memory */
  } state;
  QmMemory memory[QM_PLACES_ARCHITECTURES];
  QmWork *work;
  const char *gpu; /* the id of what it was predicted for last */
  QmPrediction alone;
} Need;

struct QmPlaces
{
  QmPlacesOptions options;
  bool naive;
  /* The first two divide and offload nothing, the second with checkpointing;
     naive settings have the first alone. */
  QmSearchConfig ways[QM_SEARCH_MOST];
  size_t n_ways;
  QmTarget targets[QM_PLACES_ARCHITECTURES];
  size_t n_targets;
  Need *needs[QM_SEARCH_MOST][MOST_SIZES];
  QmWayPlans *ranked; /* plans of several GPUs */
  QmPlaces *apart;    /* of architectures for which plans are not alike */
};

/* A way at a micro-batch, and the seconds that a step takes at least. */
typedef struct Candidate
{
  size_t way;
  int at;
  double least;
} Candidate;

/* What is looked for in hand. */
typedef struct Search
{
  QmPlaces *places;
  const QmGpu *gpu;
  size_t target; /* its index */
  QmSpeeds speeds;
  QmExchange exchange;
  uint64_t bytes;
  int64_t share; /* samples of a step, of each GPU */
  Candidate candidates[QM_SEARCH_MOST * MOST_SIZES];
  size_t n;
  double step; /* of what was found; infinite: nothing was */
  QmPlaceFound *found;
} Search;

/* Its index, or n_targets. */
static size_t
target_of (const QmPlaces *places, int architecture)
{
  size_t i = 0;

  while (i < places->n_targets
         && places->targets[i].architecture != architecture)
    i++;
  return i;
}

/* The newest comes first: plans are made for it, since older ones may have no
 * products in the type of a recipe. */
static QmStatus
add_targets (QmPlaces *places,
             const int *architectures,
             size_t n,
             QmError *error)
{
  QmTarget *targets = places->targets;
  int apart[QM_PLACES_ARCHITECTURES];
  size_t n_apart = 0;

  targets[0].kind = QM_DEVICE_CUDA;
  for (size_t i = 0; i < n; i++)
    if (architectures[i] > targets[0].architecture)
      targets[0].architecture = architectures[i];
  places->n_targets = targets[0].architecture > 0 ? 1 : 0;
  for (size_t i = 0; i < n; i++)
    {
      const QmTarget target = { QM_DEVICE_CUDA, architectures[i] };

      if (architectures[i] <= 0)
        continue;
      if (!qm_plan_is_alike (places->options.recipe, &target, &targets[0]))
        {
          if (n_apart < QM_PLACES_ARCHITECTURES)
            apart[n_apart++] = architectures[i];
        }
      else if (target_of (places, architectures[i]) == places->n_targets
               && places->n_targets < QM_PLACES_ARCHITECTURES)
        targets[places->n_targets++] = target;
    }
  return n_apart > 0 ? qm_places_new (&places->options, apart, n_apart,
                                      &places->apart, error)
                     : QM_OK;
}

/* All ways of the search, with the methods of the level.  Of FSDP, PyTorch's
 * offloading waits for each copy to pageable memory (3.1 s where a pass of
 * pythia-1b takes 0.47, and 0.52 with ZeRO 2): nobody would take it where
 * DeepSpeed has the same memory, so it is no way of other software. */
static void
list_ways (QmPlaces *places)
{
  QmSearchConfig all[QM_SEARCH_MOST];
  size_t n =
      qm_search_configurations (places->naive ? QM_SEARCH_NAIVE : QM_SEARCH_ALL,
                                2, all);

  for (size_t i = 0; i < n; i++)
    if (places->naive
        || (all[i].methods != 0
            && (places->options.level->own || !all[i].offload
                || (all[i].sharding != QM_SHARDING_FSDP_2
                    && all[i].sharding != QM_SHARDING_FSDP_3))))
      {
        places->ways[places->n_ways] = all[i];
        places->ways[places->n_ways++].methods =
            qm_level_methods (places->options.level);
      }
}

QmStatus
qm_places_new (const QmPlacesOptions *options,
               const int *architectures,
               size_t n,
               QmPlaces **places,
               QmError *error)
{
  QmPlaces *new = calloc (1, sizeof *new);
  QmStatus status;

  *places = new;
  if (new == NULL)
    return qm_error_set (error, QM_STATUS_NO_MEMORY, "", 0, 0,
                         "the host is out of memory");
  new->options = *options;
  new->naive = strcmp (options->level->name, "naive") == 0;
  list_ways (new);
  status = add_targets (new, architectures, n, error);
  if (status != QM_OK)
    return status;
  return qm_way_plans_new (options->config, options->recipe, new->targets,
                           new->n_targets, &new->ranked, error);
}

void
qm_places_free (QmPlaces *places)
{
  if (places == NULL)
    return;
  for (size_t i = 0; i < places->n_ways; i++)
    for (size_t j = 0; j < MOST_SIZES; j++)
      if (places->needs[i][j] != NULL)
        {
          qm_work_free (places->needs[i][j]->work);
          free (places->needs[i][j]);
        }
  qm_way_plans_free (places->ranked);
  qm_places_free (places->apart);
  free (places);
}

static int64_t
micro_batch_at (const QmPlaces *places, int at)
{
  int64_t asked = places->options.micro_batch;

  return asked > 0 ? asked : INT64_C (1) << at;
}

static QmPlanOptions
options_of (const QmPlaces *places, size_t way, int at)
{
  const QmSearchConfig *config = &places->ways[way];

  return (QmPlanOptions){ .target = places->targets[0],
                          .micro_batch = micro_batch_at (places, at),
                          .methods = config->methods,
                          .checkpoint = config->checkpoint,
                          .loss_rows =
                              qm_level_loss_rows (places->options.level->name),
                          .sharding = config->sharding,
                          .offload = config->offload,
                          .foreign = !places->options.level->own };
}

/* Takes what is needed on each architecture, and what is done. */
static QmStatus
keep (const QmPlaces *places, const QmPlan *plan, Need *need, QmError *error)
{
  qm_plan_memories (plan, places->targets, places->n_targets, need->memory);
  need->state = PLANNED;
  return qm_work_new (plan, &need->work, error);
}

static QmStatus
plan_need (QmPlaces *places, size_t way, int at, Need **need, QmError *error)
{
  const QmPlanOptions options = options_of (places, way, at);
  QmPlan *plan;
  QmStatus status;

  *need = places->needs[way][at];
  if (*need != NULL)
    return QM_OK;
  *need = places->needs[way][at] = calloc (1, sizeof **need);
  if (*need == NULL)
    return qm_error_set (error, QM_STATUS_NO_MEMORY, "", 0, 0,
                         "the host is out of memory");
  status = qm_plan_new_from (qm_way_plans_bases (places->ranked),
                             places->options.config, places->options.recipe,
                             &options, &plan, error);
  if (status == QM_STATUS_UNSUPPORTED && options.micro_batch > 1)
    {
      (*need)->state = TOO_LARGE;
      return QM_OK;
    }
  if (status == QM_OK)
    {
      status = keep (places, plan, *need, error);
      qm_plan_free (plan);
    }
  if (status != QM_OK)
    {
      qm_work_free ((*need)->work);
      free (*need);
      *need = places->needs[way][at] = NULL;
    }
  return status;
}

static uint64_t
machines_of (const QmPlaces *places)
{
  return places->options.machines > 1 ? (uint64_t) places->options.machines : 1;
}

/* Predicts a way of one GPU at a micro-batch; what does not depend on how many
 * passes there are, once for each type. */
static QmStatus
predict_alone (const Search *search, Need *need, QmError *error)
{
  QmStatus status = QM_OK;

  if (need->gpu != search->gpu->id)
    {
      need->gpu = NULL;
      status =
          qm_predict_alone (need->work, &search->speeds,
                            search->places->options.level, &need->alone, error);
    }
  if (status == QM_OK)
    need->gpu = search->gpu->id;
  return status;
}

static int64_t
passes_of (const Search *search, int at)
{
  int64_t size = micro_batch_at (search->places, at);

  return (search->share + size - 1) / size;
}

static QmWork
work_of (const Search *search, const Need *need, int at)
{
  QmWork work = *need->work;

  work.samples = (double) search->share;
  work.passes = (double) passes_of (search, at);
  return work;
}

/* Bytes of a machine's host that a way takes there, of a plan that says what
 * ours does.  Other software has weights, gradients and both states in fp32,
 * gradients on each GPU's behalf, and half as much for buffers: DeepSpeed's own
 * estimate (estimate_zero2_model_states_mem_needs() of 0.19.8).  pythia-6.9b,
 * 153 GiB by that, was ended on a host of 125. */
static uint64_t
host_bytes_of (const Search *search,
               const Candidate *candidate,
               const QmMemory *memory)
{
  const QmPlaces *places = search->places;
  const QmSearchConfig *way = &places->ways[candidate->way];
  const Need *need = places->needs[way->checkpoint][candidate->at];
  int gpus = search->speeds.gpus;
  double bytes;

  if (places->options.level->own || !way->offload)
    return memory->host * (uint64_t) gpus / machines_of (places);
  bytes = 1.5 * fmax (4 * gpus, 16) * need->work->parameters;
  return (uint64_t) bytes / machines_of (places);
}

/* Whether a way is one of those that are looked at here. */
static bool
takes (const Search *search, size_t way, bool checkpoint, bool offload)
{
  const QmPlacesOptions *options = &search->places->options;
  const QmSearchConfig *config = &search->places->ways[way];

  return config->checkpoint == checkpoint && (!config->offload || offload)
         && (search->speeds.gpus > 1 || config->offload
             || config->sharding == QM_SHARDING_NONE)
         && qm_plan_takes (options->config, options->recipe, config->sharding,
                           config->offload, search->speeds.gpus);
}

/* Adds those ways that may fit at a micro-batch, of which the plan that keeps
 * everything is said; *any: there are some. */
static QmStatus
add_candidates (Search *search,
                bool checkpoint,
                bool offload,
                int at,
                Need *need,
                bool *any,
                QmError *error)
{
  const QmPlaces *places = search->places;
  const QmMemory *memory = &need->memory[search->target];
  QmWork work;
  QmStatus status = predict_alone (search, need, error);

  *any = false;
  if (status != QM_OK)
    return status;
  work = work_of (search, need, at);
  for (size_t i = 0; i < places->n_ways; i++)
    {
      const QmSearchConfig *way = &places->ways[i];

      if (!takes (search, i, checkpoint, offload)
          || qm_least_bytes (memory, way, search->speeds.gpus) > search->bytes)
        continue;
      *any = true;
      search->candidates[search->n++] =
          (Candidate){ i, at,
                       qm_least_step (&work, &need->alone, way,
                                      &search->exchange,
                                      places->options.level) };
    }
  return QM_OK;
}

/* All that may fit, from the smallest micro-batch on: what is planned on the
 * way is asked for again in smaller places. */
static QmStatus
list_candidates (Search *search, bool offload, QmError *error)
{
  const QmPlacesOptions *options = &search->places->options;
  QmStatus status = QM_OK;

  search->n = 0;
  for (size_t way = options->checkpoint ? 1 : 0;
       way < 2 && way < search->places->n_ways; way++)
    for (int at = 0; at < MOST_SIZES; at++)
      {
        Need *need;
        bool any;

        if (at > 0
            && (options->micro_batch > 0 || INT64_C (1) << at > search->share))
          break;
        status = plan_need (search->places, way, at, &need, error);
        if (status != QM_OK)
          return status;
        if (need->state != PLANNED)
          break;
        status =
            add_candidates (search, way == 1, offload, at, need, &any, error);
        if (status != QM_OK)
          return status;
        if (!any)
          break;
      }
  return status;
}

static void
take (Search *search,
      const Candidate *candidate,
      const QmMemory *memory,
      const QmPrediction *prediction)
{
  QmPlaceFound *found = search->found;

  search->step = prediction->step;
  found->fits = true;
  found->options = options_of (search->places, candidate->way, candidate->at);
  found->options.target.architecture = qm_gpu_architecture (search->gpu);
  found->options.ranks = search->speeds.gpus;
  found->accumulation = passes_of (search, candidate->at);
  found->way = search->speeds.way;
  found->links_measured = search->speeds.links != NULL;
  found->memory = *memory;
  found->host_bytes = host_bytes_of (search, candidate, memory);
  found->prediction = *prediction;
}

/* Of one GPU. */
static QmStatus
try_alone (Search *search, const Candidate *candidate, QmError *error)
{
  uint64_t limit = search->places->options.host_bytes;
  const QmMemory *memory;
  Need *need;
  QmPrediction prediction;
  QmWork work;
  QmStatus status =
      plan_need (search->places, candidate->way, candidate->at, &need, error);

  if (status != QM_OK || need->state != PLANNED)
    return status;
  memory = &need->memory[search->target];
  if (memory->total > search->bytes
      || (limit > 0 && host_bytes_of (search, candidate, memory) > limit))
    return QM_OK;
  status = predict_alone (search, need, error);
  if (status != QM_OK)
    return status;
  prediction = need->alone;
  work = work_of (search, need, candidate->at);
  status = qm_predict_step (&work, &search->speeds,
                            search->places->options.level, &prediction, error);
  if (status == QM_OK && prediction.step < search->step)
    take (search, candidate, memory, &prediction);
  return status;
}

/* Says of a step how long its passes and its update take by themselves: all
 * else is exchange. */
static void
part_step (const QmWayFound *ranked, QmPrediction *prediction)
{
  double passes = (double) ranked->accumulation;

  prediction->update = ranked->exchanged.update;
  prediction->pass = fmin (ranked->exchanged.pass,
                           (prediction->step - prediction->update) / passes);
  prediction->exchange =
      prediction->step - prediction->update - passes * prediction->pass;
}

/* Of several GPUs, from a plan that has their exchange and what they need for
 * it. */
static QmStatus
find_ranked (Search *search,
             const Candidate *candidate,
             uint64_t bytes,
             QmWayFound *ranked,
             QmError *error)
{
  QmPlaces *places = search->places;
  QmPlanOptions options = options_of (places, candidate->way, candidate->at);

  options.ranks = search->speeds.gpus;
  options.host_bytes = places->options.host_bytes * machines_of (places)
                       / (uint64_t) options.ranks;
  return qm_way_plans_find (places->ranked, search->target, &options, bytes,
                            &search->exchange, places->options.level, ranked,
                            error);
}

static QmStatus
try_ranks (Search *search, const Candidate *candidate, QmError *error)
{
  uint64_t limit = search->places->options.host_bytes;
  QmWayFound ranked;
  QmStatus status =
      find_ranked (search, candidate, search->bytes, &ranked, error);

  if (status != QM_OK || !ranked.fits || ranked.prediction.step >= search->step
      || (limit > 0
          && host_bytes_of (search, candidate, &ranked.memory) > limit))
    return status;
  part_step (&ranked, &ranked.prediction);
  take (search, candidate, &ranked.memory, &ranked.prediction);
  return QM_OK;
}

static int
compare_candidates (const void *first, const void *second)
{
  const Candidate *a = first, *b = second;

  if (a->least < b->least || a->least > b->least)
    return a->least < b->least ? -1 : 1;
  if (a->way != b->way)
    return a->way < b->way ? -1 : 1;
  return a->at - b->at;
}

/* Takes the best of what may fit: those that take least are planned first, and
 * what takes no less than what was found is not. */
static QmStatus
try_ways (Search *search, bool offload, QmError *error)
{
  QmStatus status = list_candidates (search, offload, error);

  if (status == QM_OK && search->n > 1)
    qsort (search->candidates, search->n, sizeof search->candidates[0],
           compare_candidates);
  for (size_t i = 0; i < search->n && status == QM_OK; i++)
    {
      const Candidate *candidate = &search->candidates[i];

      if (candidate->least >= search->step)
        break;
      status = search->speeds.gpus > 1 ? try_ranks (search, candidate, error)
                                       : try_alone (search, candidate, error);
    }
  return status;
}

/* What a way takes at the smallest micro-batch; 0 in all: it cannot be
 * planned. */
static QmStatus
memory_at_least (Search *search, size_t way, QmMemory *memory, QmError *error)
{
  const Candidate candidate = { way, 0, 0 };
  QmWayFound ranked = { 0 };
  Need *need;
  QmStatus status;

  *memory = (QmMemory){ 0 };
  if (search->speeds.gpus > 1)
    {
      status = find_ranked (search, &candidate, 0, &ranked, error);
      *memory = ranked.memory;
      return status;
    }
  status = plan_need (search->places, way, 0, &need, error);
  if (status == QM_OK && need->state == PLANNED)
    *memory = need->memory[search->target];
  return status;
}

/* Whether the target has kernels of ours for what the smallest way does; why
 * not, its plan for that target says. */
static QmStatus
check_target (Search *search, QmError *error)
{
  QmPlaces *places = search->places;
  QmPlanOptions options = options_of (places, 0, 0);
  QmPlan *plan = NULL;
  Need *need;
  QmStatus status;

  if (options.foreign)
    return QM_OK;
  status = plan_need (places, 0, 0, &need, error);
  if (status != QM_OK || need->state != PLANNED
      || need->memory[search->target].total != UINT64_MAX)
    return status;
  options.target = places->targets[search->target];
  status = qm_plan_new (places->options.config, places->options.recipe,
                        &options, &plan, error);
  qm_plan_free (plan);
  return status;
}

/* Keeps what a way takes, if it is the smallest, of the GPU or of the host. */
static void
note_way (Search *search, size_t way, const QmMemory *memory)
{
  const Candidate candidate = { way, 0, 0 };
  QmPlaceFound *found = search->found;
  uint64_t host;

  if (memory->total == 0)
    return;
  host = host_bytes_of (search, &candidate, memory);
  if (memory->total <= search->bytes
      && (found->smallest_host == 0 || host < found->smallest_host))
    found->smallest_host = host;
  if (found->smallest > 0 && memory->total >= found->smallest)
    return;
  found->smallest = memory->total;
  found->options = options_of (search->places, way, 0);
  found->options.ranks = search->speeds.gpus;
}

/* What the smallest way takes, where none fits. */
static QmStatus
note_smallest (Search *search, QmError *error)
{
  const QmPlaceFound *found = search->found;
  const QmPlaces *places = search->places;
  QmStatus status = QM_OK;

  for (size_t i = places->n_ways; i-- > 0 && status == QM_OK;)
    {
      bool checkpoint = places->ways[i].checkpoint;
      QmMemory memory;
      Need *need;

      if ((places->options.checkpoint && !checkpoint)
          || !takes (search, i, checkpoint, true))
        continue;
      status = plan_need (search->places, checkpoint ? 1 : 0, 0, &need, error);
      if (status != QM_OK || need->state != PLANNED
          || (found->smallest > search->bytes
              && qm_least_bytes (&need->memory[search->target],
                                 &places->ways[i], search->speeds.gpus)
                     >= found->smallest))
        continue;
      status = memory_at_least (search, i, &memory, error);
      if (status == QM_OK)
        note_way (search, i, &memory);
    }
  return status;
}

static QmStatus
refuse (const QmPlacesOptions *options,
        const QmGpu *gpu,
        int gpus,
        QmError *error)
{
  const QmRecipe *recipe = options->recipe;
  int machines = options->machines > 1 ? options->machines : 1;
  int64_t share = (recipe->batch_size + gpus - 1) / gpus;

  if (gpus > machines && !qm_gpu_is_card (gpu) && !qm_gpu_is_mezzanine (gpu))
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "%s is part of a machine of its own", gpu->name);
  if (gpus > recipe->batch_size)
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "a batch of %lld has no share for each of %d GPUs",
                         (long long) recipe->batch_size, gpus);
  if (options->micro_batch > share)
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "a micro-batch of %lld is more than the %lld samples "
                         "of a step that each GPU has",
                         (long long) options->micro_batch, (long long) share);
  if (recipe->precision == QM_PRECISION_BF16 && gpu->bf16 == QM_NO)
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "%s has no rate of bf16", gpu->name);
  if (recipe->precision == QM_PRECISION_FP8)
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         QM_PREDICT_NO_FP8);
  return QM_OK;
}

QmStatus
qm_places_find (QmPlaces *places,
                const QmGpu *gpu,
                int gpus,
                QmInterconnect link,
                uint64_t bytes,
                QmPlaceFound *found,
                QmError *error)
{
  Search search = { .places = places,
                    .gpu = gpu,
                    .bytes = bytes,
                    .step = INFINITY,
                    .found = found };
  int machines = (int) machines_of (places);
  bool lanes;
  QmStatus status;

  memset (found, 0, sizeof *found);
  status = refuse (&places->options, gpu, gpus * machines, error);
  if (status == QM_OK)
    status = qm_speeds_of_gpu (places->options.calibration, gpu, gpus, link,
                               &search.speeds, error);
  if (status != QM_OK)
    return status;
  if (machines > 1)
    qm_speeds_join (&search.speeds, machines, places->options.network,
                    places->options.adapters);
  found->measured = search.speeds.measured;
  gpus *= machines;
  search.share = (places->options.recipe->batch_size + gpus - 1) / gpus;
  search.target = target_of (places, search.speeds.architecture);
  if (search.target == places->n_targets && places->apart != NULL)
    return qm_places_find (places->apart, gpu, gpus / machines, link, bytes,
                           found, error);
  if (search.target == places->n_targets)
    return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                         "nothing was planned for compute capability %d",
                         search.speeds.architecture);
  search.exchange =
      qm_exchange_of (&search.speeds, places->options.level, NULL);
  lanes = search.speeds.host.copies > 0;
  status = check_target (&search, error);
  if (status == QM_OK)
    status = try_ways (&search, lanes, error);
  /* Where the lanes to the host are not known, that is the reason. */
  if (status == QM_OK && !found->fits && !lanes && !places->naive)
    status = try_ways (&search, true, error);
  if (status == QM_OK && !found->fits)
    status = note_smallest (&search, error);
  return status;
}
