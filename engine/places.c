/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/places.h"

#include "data/architecture.h"
#include "engine/ways.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How states are divided over GPUs that do not offload. */
#define DIVIDED QM_SHARDING_ZERO_3

#define MOST_SIZES 40 /* powers of two up to a batch */

/* Of a step, more than which GPUs that divide states are slow for: small
 * micro-batches alone leave each pass an exchange that nothing hides. */
#define MUCH_EXCHANGE 0.1

/* Who can do without dividing or offloading does, unless it makes a step
 * shorter than that share. */
#define WORTH 0.95

/* A way to train. */
typedef struct Way
{
  bool checkpoint;
  QmSharding offload; /* its variant; QM_SHARDING_NONE: it is not done */
} Way;

static const Way ways[] = {
  { false, QM_SHARDING_NONE },   { true, QM_SHARDING_NONE },
  { false, QM_SHARDING_ZERO_2 }, { true, QM_SHARDING_ZERO_2 },
  { false, QM_SHARDING_FSDP_3 }, { true, QM_SHARDING_FSDP_3 },
};

#define N_WAYS (sizeof ways / sizeof ways[0])

/* What a way needs and does at a micro-batch. */
typedef struct Need
{
  enum
  {
    UNKNOWN,
    PLANNED,
    TOO_LARGE /* one of its tensors is larger than any memory */
  } state;
  QmMemory memory[QM_PLACES_ARCHITECTURES];
  uint64_t staging; /* of `host`, what each GPU has for itself */
  QmWork *work;
  const QmGpu *gpu; /* that it was predicted for last */
  QmPrediction alone;
} Need;

struct QmPlaces
{
  const QmPlacesOptions *options;
  unsigned methods;
  bool naive;
  QmTarget targets[QM_PLACES_ARCHITECTURES];
  size_t n_targets;
  Need *needs[N_WAYS][MOST_SIZES];
  QmWayPlans *ranked; /* plans of several GPUs */
};

/* What is looked for in hand. */
typedef struct Search
{
  QmPlaces *places;
  const QmGpu *gpu;
  size_t target; /* its index */
  QmSpeeds speeds;
  uint64_t bytes;
  int64_t share; /* samples of a step, of each GPU */
  int parts;     /* that states are divided into */
  int at;        /* which micro-batch was found */
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
static void
add_target (QmPlaces *places, int architecture)
{
  QmTarget *targets = places->targets;
  size_t last = places->n_targets++;

  targets[last] = (QmTarget){ QM_DEVICE_CUDA, architecture };
  if (architecture > targets[0].architecture)
    {
      targets[last] = targets[0];
      targets[0].architecture = architecture;
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

  *places = new;
  if (new == NULL)
    return qm_error_set (error, QM_STATUS_NO_MEMORY, "", 0, 0,
                         "the host is out of memory");
  new->options = options;
  new->naive = strcmp (options->level->name, "naive") == 0;
  new->methods = new->naive ? 0 : QM_METHOD_ALL;
  if (strcmp (options->level->name, "eager") == 0)
    new->methods = QM_METHOD_KERNELS | QM_METHOD_TF32;
  for (size_t i = 0; i < n; i++)
    if (target_of (new, architectures[i]) == new->n_targets
        && architectures[i] > 0 && new->n_targets < QM_PLACES_ARCHITECTURES)
      add_target (new, architectures[i]);
  return qm_way_plans_new (options->config, options->recipe, new->targets,
                           new->n_targets, &new->ranked, error);
}

void
qm_places_free (QmPlaces *places)
{
  if (places == NULL)
    return;
  for (size_t i = 0; i < N_WAYS; i++)
    for (size_t j = 0; j < MOST_SIZES; j++)
      if (places->needs[i][j] != NULL)
        {
          qm_work_free (places->needs[i][j]->work);
          free (places->needs[i][j]);
        }
  qm_way_plans_free (places->ranked);
  free (places);
}

static int64_t
micro_batch_at (const QmPlaces *places, int at)
{
  int64_t asked = places->options->micro_batch;

  return asked > 0 ? asked : INT64_C (1) << at;
}

static QmPlanOptions
options_of (const QmPlaces *places, size_t way, int at)
{
  return (QmPlanOptions){ .target = places->targets[0],
                          .micro_batch = micro_batch_at (places, at),
                          .methods = places->methods,
                          .checkpoint = ways[way].checkpoint,
                          .loss_rows =
                              qm_level_loss_rows (places->options->level->name),
                          .sharding = ways[way].offload,
                          .offload = ways[way].offload != QM_SHARDING_NONE };
}

/* Takes what is needed on each architecture, and what is done. */
static QmStatus
keep (const QmPlaces *places, const QmPlan *plan, Need *need, QmError *error)
{
  qm_plan_memories (plan, places->targets, places->n_targets, need->memory);
  need->staging = plan->host.staging;
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
                             places->options->config, places->options->recipe,
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
divide (uint64_t *bytes, int parts)
{
  uint64_t whole = *bytes, n = (uint64_t) parts;

  *bytes = whole / n + (whole % n != 0);
  return whole - *bytes;
}

static uint64_t
machines_of (const QmPlaces *places)
{
  return places->options->machines > 1 ? (uint64_t) places->options->machines
                                       : 1;
}

/* What each GPU needs while states are divided; in *host, what those of a
 * machine need of its host. */
static QmMemory
memory_of (const Search *search, const Need *need, uint64_t *host)
{
  QmMemory memory = need->memory[search->target];
  uint64_t divided;

  *host = memory.host;
  if (search->parts == 1)
    return memory;
  memory.total -= divide (&memory.weights, search->parts);
  memory.total -= divide (&memory.master, search->parts);
  memory.total -= divide (&memory.gradients, search->parts);
  memory.total -= divide (&memory.optimizer, search->parts);
  if (memory.host > 0)
    {
      divided = memory.host - need->staging;
      divide (&divided, search->parts);
      memory.host = divided + need->staging;
      *host =
          memory.host * (uint64_t) search->parts / machines_of (search->places);
    }
  return memory;
}

static bool
fits (const Search *search, const Need *need)
{
  uint64_t limit = search->places->options->host_bytes, host;
  QmMemory memory;

  if (need->state != PLANNED)
    return false;
  memory = memory_of (search, need, &host);
  return memory.total <= search->bytes && (limit == 0 || host <= limit);
}

/* Finds the largest micro-batch that fits, from the smallest on: what is
 * planned on the way is asked for again in smaller places.  -1 where not even 1
 * does. */
static QmStatus
find_largest (const Search *search, size_t way, int *at, QmError *error)
{
  QmStatus status = QM_OK;

  *at = -1;
  for (int i = 0; i < MOST_SIZES; i++)
    {
      Need *need;

      if (i > 0
          && (search->places->options->micro_batch > 0
              || INT64_C (1) << i > search->share))
        break;
      status = plan_need (search->places, way, i, &need, error);
      if (status != QM_OK || !fits (search, need))
        break;
      *at = i;
    }
  return status;
}

/* Predicts a way at a micro-batch; what does not depend on the number of GPUs,
 * once for each type. */
static QmStatus
predict (const Search *search,
         Need *need,
         int64_t micro_batch,
         QmPrediction *prediction,
         QmError *error)
{
  const QmLevel *level = search->places->options->level;
  QmWork work = *need->work;
  QmStatus status = QM_OK;

  if (need->gpu != search->gpu)
    {
      need->gpu = NULL;
      status =
          qm_predict_alone (&work, &search->speeds, level, &need->alone, error);
    }
  if (status != QM_OK)
    return status;
  need->gpu = search->gpu;
  work.samples = (double) search->share;
  work.passes = (double) ((search->share + micro_batch - 1) / micro_batch);
  *prediction = need->alone;
  return qm_predict_step (&work, &search->speeds, level, prediction, error);
}

static void
take (Search *search,
      size_t way,
      int at,
      const Need *need,
      const QmPrediction *prediction)
{
  QmPlaceFound *found = search->found;
  int64_t micro_batch = micro_batch_at (search->places, at);

  search->at = at;
  found->fits = true;
  found->options = options_of (search->places, way, at);
  found->options.target.architecture = qm_gpu_architecture (search->gpu);
  found->accumulation = (search->share + micro_batch - 1) / micro_batch;
  found->sharded = search->speeds.sharded;
  found->way = search->speeds.way;
  found->links_measured = search->speeds.links != NULL;
  found->memory = memory_of (search, need, &found->host_bytes);
  found->prediction = *prediction;
}

static bool
is_faster (const Search *search, size_t way, const QmPrediction *prediction)
{
  const QmPlaceFound *found = search->found;
  bool divides = search->speeds.sharded && !found->sharded;
  bool offloads =
      ways[way].offload != QM_SHARDING_NONE && !found->options.offload;
  double worth = divides || offloads ? WORTH : 1;

  return !found->fits || prediction->step < worth * found->prediction.step;
}

/* What a step takes at least at smaller micro-batches: a sample takes no less
 * there, but no part of the last pass need be empty. */
static double
least_below (const Search *search, int at, const QmPrediction *prediction)
{
  double size = (double) micro_batch_at (search->places, at);
  double share = (double) search->share;

  return prediction->step * share / (ceil (share / size) * size);
}

/* Takes the fastest micro-batch of a way, if it is faster than what was
 * found. */
static QmStatus
try_way (Search *search, size_t way, QmError *error)
{
  const QmPlaceFound *found = search->found;
  double best = found->fits ? found->prediction.step : INFINITY;
  Need *need;
  int at;
  QmStatus status = find_largest (search, way, &at, error);

  for (; at >= 0 && status == QM_OK; at--)
    {
      QmPrediction prediction;

      status = plan_need (search->places, way, at, &need, error);
      if (status == QM_OK)
        status = predict (search, need, micro_batch_at (search->places, at),
                          &prediction, error);
      if (status != QM_OK)
        break;
      best = fmin (best, prediction.step);
      if (is_faster (search, way, &prediction))
        take (search, way, at, need, &prediction);
      if (least_below (search, at, &prediction) >= best)
        break;
    }
  return status;
}

static QmStatus
note_smallest (const Search *search, size_t way, QmError *error)
{
  uint64_t host, total;
  Need *need;
  QmStatus status = plan_need (search->places, way, 0, &need, error);

  if (status != QM_OK || need->state != PLANNED)
    return status;
  total = memory_of (search, need, &host).total;
  if (search->found->smallest == 0 || total < search->found->smallest)
    search->found->smallest = total;
  return QM_OK;
}

/* Says of a step how long its passes and its update take by themselves: all
 * else is exchange. */
static QmStatus
part_step (const Search *search,
           size_t way,
           int at,
           QmWayFound *ranked,
           QmError *error)
{
  QmPrediction *prediction = &ranked->prediction, alone;
  double passes = (double) ranked->accumulation;
  Need *need;
  QmStatus status = plan_need (search->places, way, at, &need, error);

  if (status == QM_OK)
    status = predict (search, need, ranked->micro_batch, &alone, error);
  if (status != QM_OK)
    return status;
  prediction->update = alone.update;
  prediction->pass =
      fmin (alone.pass, (prediction->step - alone.update) / passes);
  prediction->exchange =
      prediction->step - prediction->update - passes * prediction->pass;
  return QM_OK;
}

/* What was found for several GPUs, as it is by a plan that has their exchange,
 * and that says what they need for it: at a smaller micro-batch, if it has to
 * be. */
static QmStatus
plan_ranks (Search *search, size_t way, QmError *error)
{
  QmPlaces *places = search->places;
  QmPlaceFound *found = search->found;
  int machines = (int) machines_of (places), at = search->at;
  QmExchange exchange =
      qm_exchange_of (&search->speeds, places->options->level, NULL);
  QmWayFound ranked = { 0 };
  QmStatus status = QM_OK;

  for (; at >= 0 && status == QM_OK && !ranked.fits; at--)
    {
      QmPlanOptions options = options_of (places, way, at);

      options.ranks = search->speeds.gpus;
      options.host_bytes = places->options->host_bytes * (uint64_t) machines
                           / (uint64_t) options.ranks;
      if (search->speeds.sharded && !options.offload)
        options.sharding = DIVIDED;
      status = qm_way_plans_find (places->ranked, search->target, &options,
                                  search->bytes, &exchange,
                                  places->options->level, &ranked, error);
    }
  if (status != QM_OK || !ranked.fits)
    return status;
  status = part_step (search, way, at + 1, &ranked, error);
  found->options.micro_batch = ranked.micro_batch;
  found->accumulation = ranked.accumulation;
  found->memory = ranked.memory;
  found->host_bytes =
      ranked.memory.host * (uint64_t) search->speeds.gpus / (uint64_t) machines;
  found->prediction = ranked.prediction;
  return status;
}

/* Finds a way for several GPUs, and takes it if it is faster than what was
 * found.  The closed formula knows of no exchange that is not hidden but by
 * others, so that it says less than a plan: what is no faster by it is not
 * planned. */
static QmStatus
try_ranks (Search *search, size_t way, QmError *error)
{
  QmPlaceFound *best = search->found, found = { 0 };
  QmStatus status;

  search->found = &found;
  status = try_way (search, way, error);
  search->found = best;
  if (status != QM_OK || !found.fits
      || !is_faster (search, way, &found.prediction))
    return status;
  search->found = &found;
  status = plan_ranks (search, way, error);
  search->found = best;
  if (status == QM_OK && is_faster (search, way, &found.prediction))
    {
      found.smallest = best->smallest;
      found.measured = best->measured;
      *best = found;
    }
  return status;
}

static QmStatus
try_ways (Search *search, bool sharded, bool offload, QmError *error)
{
  QmStatus status = QM_OK;

  search->speeds.sharded = sharded;
  search->parts = sharded ? search->speeds.gpus : 1;
  for (size_t i = 0; i < N_WAYS && status == QM_OK; i++)
    {
      if ((ways[i].offload != QM_SHARDING_NONE) != offload
          || (search->places->options->checkpoint && !ways[i].checkpoint)
          || (search->places->naive && i > 0)
          || !qm_plan_takes (search->places->options->config,
                             search->places->options->recipe,
                             sharded ? QM_SHARDING_ZERO_1 : ways[i].offload,
                             offload, sharded ? search->parts : 1))
        continue;
      status = search->speeds.gpus > 1 ? try_ranks (search, i, error)
                                       : try_way (search, i, error);
      if (status == QM_OK)
        status = note_smallest (search, i, error);
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
  return QM_OK;
}

/* Whether offloading may help what fits without: GPUs that divide states and
 * yet compute activations twice, or wait much for each other.  Not where it is
 * unknown how they are connected to the host. */
static bool
is_slow_for_want_of_memory (const Search *search)
{
  const QmPlaceFound *found = search->found;

  return found->sharded && search->speeds.host.copies > 0
         && (found->options.checkpoint
             || found->prediction.exchange
                    > found->prediction.step * MUCH_EXCHANGE);
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
  Search search = {
    .places = places, .gpu = gpu, .bytes = bytes, .found = found, .parts = 1
  };
  int machines = (int) machines_of (places);
  QmStatus status;

  memset (found, 0, sizeof *found);
  status = refuse (places->options, gpu, gpus * machines, error);
  if (status == QM_OK)
    status = qm_speeds_of_gpu (places->options->calibration, gpu, gpus, link,
                               &search.speeds, error);
  if (status != QM_OK)
    return status;
  if (machines > 1)
    qm_speeds_join (&search.speeds, machines, places->options->network,
                    places->options->adapters);
  found->measured = search.speeds.measured;
  gpus *= machines;
  search.share = (places->options->recipe->batch_size + gpus - 1) / gpus;
  search.target = target_of (places, search.speeds.architecture);
  if (search.target == places->n_targets)
    return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                         "nothing was planned for compute capability %d",
                         search.speeds.architecture);
  status = try_ways (&search, false, false, error);
  if (status == QM_OK && gpus > 1 && !places->naive)
    status = try_ways (&search, true, false, error);
  if (status == QM_OK && !places->naive
      && (!found->fits || is_slow_for_want_of_memory (&search)))
    status = try_ways (&search, gpus > 1, true, error);
  return status;
}
