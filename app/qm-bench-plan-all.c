/* SPDX-License-Identifier: Apache-2.0 */

/* qm-bench plan --methods: every way to train on many GPUs at once.
 *
 * What a way needs at a micro-batch is planned once for each architecture, and
 * then held against the memory of every GPU that has it.  Of several GPUs that
 * work together all of it is of each: its micro-batch, its memory, and its part
 * of the host's. */

#include "app/qm-bench.h"

#include "engine/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_ARCHITECTURE 90
#define MOST_SIZES           32 /* powers of two up to a batch */
#define MOST_ARCHITECTURES   16 /* that are remembered */

/* What one way needs at one micro-batch. */
typedef struct Need
{
  enum
  {
    UNKNOWN,
    PLANNED,
    TOO_LARGE /* one of its tensors is larger than any memory */
  } state;
  QmMemory memory;
} Need;

/* What is known of one architecture. */
typedef struct Needs
{
  int architecture;
  Need of[QM_SEARCH_MOST][MOST_SIZES];
} Needs;

typedef struct Work
{
  const QmBenchModel *model;
  bool json;
  int ranks;
  int64_t micro_batch; /* 0: the largest that fits */
  uint64_t host_bytes; /* of a rank; 0: not known */
  QmSearchConfig configs[QM_SEARCH_MOST];
  size_t n_configs;
  Needs known[MOST_ARCHITECTURES];
  Needs *needs; /* those of the GPU in hand */
} Work;

/* A GPU of the catalog, or only a size of memory. */
typedef struct Place
{
  const QmGpu *gpu; /* NULL: not named */
  uint64_t bytes;
  int architecture;
} Place;

static QmPlanOptions
options_of (const Work *work, size_t config, int64_t micro_batch)
{
  const QmSearchConfig *c = &work->configs[config];

  return (
      QmPlanOptions){ .target = { QM_DEVICE_CUDA, work->needs->architecture },
                      .micro_batch = micro_batch,
                      .methods = c->methods,
                      .checkpoint = c->checkpoint,
                      .ranks = work->ranks,
                      .sharding = c->sharding,
                      .offload = c->offload,
                      .host_bytes = work->host_bytes };
}

/* Plans, and keeps what it needs. */
static QmStatus
plan_need (
    Work *work, size_t config, int64_t micro_batch, Need *need, QmError *error)
{
  const QmPlanOptions options = options_of (work, config, micro_batch);
  QmPlan *plan;
  QmStatus status;

  if (need->state != UNKNOWN)
    return QM_OK;
  status = qm_plan_new (&work->model->config, &work->model->recipe, &options,
                        &plan, error);
  if (status == QM_STATUS_UNSUPPORTED && micro_batch > 1)
    {
      need->state = TOO_LARGE;
      return QM_OK;
    }
  if (status != QM_OK)
    return status;
  need->state = PLANNED;
  need->memory = plan->memory;
  qm_plan_free (plan);
  return QM_OK;
}

static bool
fits (const Work *work, const Need *need, uint64_t bytes)
{
  return need->state == PLANNED && need->memory.total <= bytes
         && (work->host_bytes == 0 || need->memory.host <= work->host_bytes);
}

/* Finds the largest power of two that fits, by halves; *at is 0 where not even
 * 1 does. */
static QmStatus
find_largest (
    Work *work, size_t config, uint64_t bytes, int *at, QmError *error)
{
  int low = 0, high = 0;
  QmStatus status = QM_OK;

  while (INT64_C (2) << high <= work->model->recipe.batch_size / work->ranks)
    high++;
  while (low < high && status == QM_OK)
    {
      int middle = low + (high - low + 1) / 2;
      Need *need = &work->needs->of[config][middle];

      status = plan_need (work, config, INT64_C (1) << middle, need, error);
      if (fits (work, need, bytes))
        low = middle;
      else
        high = middle - 1;
    }
  *at = low;
  return status;
}

static json_t *
json_of_place (const Work *work, const Place *place)
{
  json_t *object = json_object ();

  json_object_set_new (object, "model", json_string (work->model->name));
  if (place->gpu != NULL)
    {
      json_object_set_new (object, "gpu", json_string (place->gpu->name));
      json_object_set_new (object, "gpu_id", json_string (place->gpu->id));
    }
  if (work->ranks > 1)
    json_object_set_new (object, "gpus", json_integer (work->ranks));
  return object;
}

/* Of a GPU, or of one way (`options`) on it. */
static void
print_unsupported (const Work *work,
                   const Place *place,
                   const QmPlanOptions *options,
                   const QmError *why)
{
  char settings[96] = "";
  json_t *object;

  if (options != NULL)
    qm_bench_format_settings (&(QmPlan){ .options = *options }, settings,
                              sizeof settings);
  if (!work->json)
    {
      printf ("  %s%snot possible: %s\n", settings,
              settings[0] != '\0' ? ": " : "", why->message);
      return;
    }
  object = json_of_place (work, place);
  if (options != NULL)
    json_object_update_new (
        object, qm_bench_json_setting (options, &work->model->recipe));
  json_object_set_new (object, "unsupported", json_string (why->message));
  qm_bench_print_json (object);
}

static void
print_need (const Work *work,
            const Place *place,
            const QmPlanOptions *options,
            const Need *need,
            uint64_t smallest)
{
  QmPlan plan = { .options = *options };
  bool enough = fits (work, need, place->bytes);
  char settings[96];
  json_t *object;

  if (!work->json)
    {
      qm_bench_format_settings (&plan, settings, sizeof settings);
      printf ("  %-45s ", settings);
      if (enough)
        printf ("micro-batch %-5lld %8.1f GiB",
                (long long) options->micro_batch,
                (double) need->memory.total / 0x1p30);
      else
        printf ("does not fit:     %8.1f GiB",
                (double) need->memory.total / 0x1p30);
      if (need->memory.host > 0)
        printf (" and %.1f GiB of the host",
                (double) need->memory.host * work->ranks / 0x1p30);
      printf ("\n");
      return;
    }
  object = json_of_place (work, place);
  json_object_update_new (object, qm_bench_json_setting (options,
                                                         &work->model->recipe));
  qm_bench_json_pairs (object, &work->model->config, &work->model->recipe,
                       qm_bench_samples_of_pass (options));
  qm_bench_json_sums (object, options, &work->model->recipe);
  json_object_set_new (object, "verified",
                       json_boolean (qm_plan_is_verified (options)));
  json_object_set_new (object, "memory_bytes",
                       qm_bench_json_memory (&need->memory));
  json_object_set_new (object, "provenance", json_string ("predicted"));
  json_object_set_new (object, "architecture",
                       json_integer (work->needs->architecture));
  json_object_set_new (object, "available_bytes",
                       json_integer ((json_int_t) place->bytes));
  if (work->host_bytes > 0)
    json_object_set_new (object, "host_available_bytes",
                         json_integer ((json_int_t) work->host_bytes));
  json_object_set_new (object, "fits", json_boolean (enough));
  json_object_set_new (object, "smallest_bytes",
                       json_integer ((json_int_t) smallest));
  qm_bench_print_json (object);
}

static QmStatus
plan_config (Work *work, const Place *place, size_t config, QmError *error)
{
  Need asked = { 0 }, *need = &work->needs->of[config][0];
  QmPlanOptions options = options_of (work, config, 1);
  uint64_t smallest = 0;
  int at = 0;
  QmStatus status = plan_need (work, config, 1, need, error);

  if (status == QM_OK)
    smallest = need->memory.total;
  if (status == QM_OK && work->micro_batch > 0)
    {
      options.micro_batch = work->micro_batch;
      need = &asked;
      status = plan_need (work, config, work->micro_batch, need, error);
      if (status == QM_OK && need->state == TOO_LARGE)
        status = qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                               "a tensor would be larger than any memory");
    }
  else if (status == QM_OK)
    {
      status = find_largest (work, config, place->bytes, &at, error);
      options.micro_batch = INT64_C (1) << at;
      need = &work->needs->of[config][at];
    }
  if (status == QM_OK)
    print_need (work, place, &options, need, smallest);
  else if (status == QM_STATUS_UNSUPPORTED)
    {
      print_unsupported (work, place, &options, error);
      status = QM_OK;
    }
  return status;
}

/* What is known of an architecture; 0 is none, so that free places have it. */
static Needs *
needs_of (Work *work, int architecture)
{
  size_t at = 0;

  while (at < MOST_ARCHITECTURES - 1 && work->known[at].architecture != 0
         && work->known[at].architecture != architecture)
    at++;
  if (work->known[at].architecture != architecture)
    memset (&work->known[at], 0, sizeof work->known[at]);
  work->known[at].architecture = architecture;
  return &work->known[at];
}

/* What the lines below it are of; and what nobody held against a driver. */
static void
print_place (const Work *work, const Place *place)
{
  const QmPlanOptions options = { .ranks = work->ranks };
  double gib = (double) place->bytes / 0x1p30;

  if (work->ranks == 1)
    printf ("%s, %.1f GiB\n", place->gpu != NULL ? place->gpu->name : "memory",
            gib);
  else
    printf ("%d x %s, of each its %.1f GiB%s\n", work->ranks,
            place->gpu != NULL ? place->gpu->name : "GPU", gib,
            qm_plan_is_verified (&options) ? "" : ", not verified");
}

static QmStatus
plan_place (Work *work, const Place *place, QmError *error)
{
  QmStatus status = QM_OK;

  if (!work->json)
    print_place (work, place);
  work->needs = needs_of (work, place->architecture);
  for (size_t i = 0; i < work->n_configs && status == QM_OK; i++)
    if (qm_bench_interrupted ())
      status =
          qm_error_set (error, QM_STATUS_INTERRUPTED, "", 0, 0, "interrupted");
    else
      status = plan_config (work, place, i, error);
  return status;
}

/* A GPU of the catalog: plans for it, or says why that cannot be. */
static QmStatus
plan_gpu (Work *work,
          const QmBenchOptions *options,
          const QmGpu *gpu,
          QmError *error)
{
  Place place = { .gpu = gpu, .bytes = qm_bench_gpu_memory (gpu) };
  QmStatus status =
      qm_bench_read_architecture (options, &place.architecture, error);

  if (status != QM_OK)
    return status;
  if (place.architecture == 0)
    status = qm_bench_gpu_architecture (gpu, &place.architecture, error);
  if (status == QM_OK)
    status = qm_bench_can_use (place.architecture, error);
  if (status == QM_OK && options->memory != NULL)
    status = qm_bench_read_size (options->memory, &place.bytes, error);
  if (status == QM_OK)
    return plan_place (work, &place, error);
  if (options->memory != NULL && status == QM_STATUS_INVALID)
    return status;
  if (!work->json)
    printf ("%s\n", gpu->name);
  print_unsupported (work, &place, NULL, error);
  return QM_OK;
}

static QmStatus
plan_every_gpu (Work *work,
                const QmBenchOptions *options,
                const QmCatalog *catalog,
                QmError *error)
{
  size_t n;
  const QmGpu *gpus = qm_catalog_gpus (catalog, &n);
  QmStatus status = QM_OK;

  for (size_t i = 0; i < n && status == QM_OK; i++)
    status = plan_gpu (work, options, &gpus[i], error);
  return status;
}

/* The GPUs between the commas. */
static QmStatus
plan_named_gpus (Work *work,
                 const QmBenchOptions *options,
                 const QmCatalog *catalog,
                 QmError *error)
{
  const char *name = options->gpu;
  QmStatus status = QM_OK;

  while (status == QM_OK)
    {
      size_t length = strcspn (name, ",");
      const QmGpu *gpu = NULL;
      char one[64];

      snprintf (one, sizeof one, "%.*s", (int) length, name);
      status = qm_bench_named_gpu (catalog, one, &gpu, error);
      if (status == QM_OK)
        status = plan_gpu (work, options, gpu, error);
      if (name[length] == '\0')
        break;
      name += length + 1;
    }
  return status;
}

static QmStatus
plan_memory (Work *work, const QmBenchOptions *options, QmError *error)
{
  Place place = { 0 };
  QmStatus status = qm_bench_read_size (options->memory, &place.bytes, error);

  if (status == QM_OK)
    status = qm_bench_read_architecture (options, &place.architecture, error);
  if (place.architecture == 0)
    place.architecture = DEFAULT_ARCHITECTURE;
  return status == QM_OK ? plan_place (work, &place, error) : status;
}

static QmStatus
check_options_of_all (const QmBenchOptions *options, QmError *error)
{
  if (options->settings != NULL || options->checkpoint
      || options->sharding != NULL || options->offload != NULL
      || options->operators || options->after != NULL || options->loss_rows > 0)
    return qm_error_set (
        error, QM_STATUS_USAGE, "", 0, 0,
        "--methods plans many settings; --settings, "
        "--checkpoint, --sharding, --offload, --loss-rows, --operators and "
        "--after are for one");
  if (options->device != NULL
      || (options->gpu == NULL && options->memory == NULL))
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "--methods needs --gpu or --memory");
  return QM_OK;
}

static QmStatus
read_work (const QmBenchOptions *options, Work *work, QmError *error)
{
  QmSearchMethods methods;
  QmStatus status = check_options_of_all (options, error);

  work->json = options->json;
  if (status == QM_OK)
    status = qm_bench_read_ranks (options, &work->ranks, error);
  if (status == QM_OK && !qm_search_methods_parse (options->methods, &methods))
    status = qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                           "--methods is naive, free-lunch or all, not "
                           "'%.32s'",
                           options->methods);
  if (status == QM_OK)
    work->n_configs =
        qm_search_configurations (methods, work->ranks, work->configs);
  if (status == QM_OK && options->host_memory != NULL)
    status =
        qm_bench_read_size (options->host_memory, &work->host_bytes, error);
  if (status == QM_OK)
    work->host_bytes /= (uint64_t) work->ranks;
  return status;
}

static QmStatus
plan_all (Work *work, const QmBenchOptions *options, QmError *error)
{
  QmCatalog *catalog;
  QmStatus status;

  if (options->gpu == NULL)
    return plan_memory (work, options, error);
  status = qm_bench_load_catalog (&catalog, error);
  if (status != QM_OK)
    return status;
  if (strcmp (options->gpu, "all") == 0)
    status = plan_every_gpu (work, options, catalog, error);
  else
    status = plan_named_gpus (work, options, catalog, error);
  qm_catalog_free (catalog);
  return status;
}

int
qm_bench_plan_all (const QmBenchOptions *options)
{
  QmError error = { 0 };
  QmBenchModel model;
  Work *work = calloc (1, sizeof *work);
  QmStatus status = work != NULL ? read_work (options, work, &error)
                                 : qm_error_no_memory (&error);

  if (status == QM_OK)
    status = qm_bench_load_model (options, true, &model, &error);
  if (status == QM_OK)
    {
      work->model = &model;
      /* Of every GPU, so before the first of them is named. */
      status = qm_bench_read_samples (options, &model.recipe, work->ranks,
                                      &work->micro_batch, &error);
      if (status == QM_OK)
        status = plan_all (work, options, &error);
      qm_bench_clear_model (&model);
    }
  free (work);
  return status == QM_OK ? QM_BENCH_OK : qm_bench_fail (&error);
}
