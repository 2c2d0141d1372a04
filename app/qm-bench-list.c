/* SPDX-License-Identifier: Apache-2.0 */

/* The work of a search: which configurations at which micro-batches, in which
 * order, and what of it is known. */

#include "config.h"

#include "app/qm-bench-nodes.h"
#include "app/qm-bench-search.h"
#include "data/results-adopt.h"
#include "data/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The key that the result of an entry has. */
static char *
make_key (const QmBenchSearch *search, const QmBenchEntry *entry)
{
  const QmBenchSearched *model = &search->models[entry->model];
  QmResult r = qm_result_nothing ();
  char key[QM_RESULT_KEY_BYTES], settings[64];

  qm_methods_format (entry->config.methods, settings, sizeof settings);
  r.model = model->name;
  r.model_key = model->key;
  r.device = search->info.name;
  r.driver = search->info.driver;
  r.architecture = search->info.target.architecture;
  r.engine = "quartermaster";
  r.version = strcmp (search->info.products.name, "own") == 0
                  ? QM_VERSION QM_RESULT_OWN_PRODUCTS
                  : QM_VERSION;
  r.gpus = search->gpus;
  r.nodes = qm_bench_nodes (search->options);
  r.transport = qm_bench_search_transport (search);
  if (search->gpus > 1 && qm_target_is_gpu (&search->info.target))
    r.path = qm_bench_path (search->options);
  r.settings = settings;
  r.checkpointing = entry->config.checkpoint;
  r.sharding = qm_sharding_name (entry->config.sharding);
  r.offloading = entry->config.offload;
  r.micro_batch = entry->options.micro_batch;
  r.deterministic = search->options->deterministic;
  if (!entry->fits)
    {
      r.memory_limit = search->memory_limit;
      r.host_limit = search->host_limit;
    }
  return qm_result_key (&r, key) ? strdup (key) : NULL;
}

const char *
qm_bench_search_transport (const QmBenchSearch *search)
{
  char note[192];
  bool gpu = qm_target_is_gpu (&search->info.target), nccl;

  if (search->gpus == 1)
    return "";
  if (search->transport != NULL)
    nccl =
        strcmp (search->transport, qm_transport_name (QM_TRANSPORT_NCCL)) == 0;
  else
    nccl = gpu && !search->options->no_peer && qm_nccl_find (note, sizeof note);
  return qm_bench_transport (search->options,
                             nccl ? QM_TRANSPORT_NCCL : QM_TRANSPORT_HOST);
}

void
qm_bench_format_shortage (const QmBenchEntry *entry, char *text, size_t size)
{
  const QmShortage *shortage = &entry->shortage;
  char needs[QM_BENCH_CELL], available[QM_BENCH_CELL];

  qm_bench_format_bytes ((double) shortage->needs, needs);
  qm_bench_format_bytes ((double) shortage->available, available);
  snprintf (text, size,
            "a micro-batch of 1 needs %s of %s memory, and there are %s", needs,
            shortage->host ? "the host's" : "the device's", available);
}

static double
peak_of (const QmBenchSearch *search, const QmBenchEntry *entry)
{
  return search->gpu == NULL
             ? NAN
             : qm_gpu_peak_tflops (
                 search->gpu, search->models[entry->model].recipe.precision,
                 (entry->config.methods & QM_METHOD_TF32) != 0);
}

static double
guess_pass (const QmBenchSearch *search,
            const QmBenchEntry *entry,
            const QmPlanOptions *options)
{
  const QmBenchSearched *model = &search->models[entry->model];

  return qm_search_guess_pass (&model->config, &model->recipe, options,
                               peak_of (search, entry));
}

static void
guess (const QmBenchSearch *search, QmBenchEntry *entry)
{
  entry->guess.pass = guess_pass (search, entry, &entry->options);
  entry->guess.overhead =
      qm_search_guess_overhead (&entry->options, &entry->memory);
}

const QmResult *
qm_bench_entry_result (const QmBenchSearch *search, const QmBenchEntry *entry)
{
  const QmResult *result =
      entry->key == NULL || search->file == NULL
          ? NULL
          : qm_results_find (qm_results_file_content (search->file),
                             entry->key);

  /* Another machine's, however much it is like this one, is no result of this
   * one; nodes that were given one file to share go on with each other's. */
  if (result != NULL && search->options->results == NULL
      && qm_result_where (result, &search->here) == QM_WHERE_ELSEWHERE)
    return NULL;
  return result;
}

/* Whether nothing has to be done for an entry.  That something does not fit is
 * found anew every time; a measurement from when it did is kept. */
static bool
is_known_entry (const QmBenchSearch *search, const QmBenchEntry *entry)
{
  const QmResult *result = qm_bench_entry_result (search, entry);
  const char *again = search->options->again;

  if (result == NULL
      || (result->status == QM_RESULT_CUT && search->options->no_cut))
    return false;
  if (again == NULL)
    return entry->fits ? result->status != QM_RESULT_INFEASIBLE
                       : result->status != QM_RESULT_FAILED;
  return strcmp (again, "failed") == 0 && result->status != QM_RESULT_FAILED
         && (result->status == QM_RESULT_MEASURED
             || result->status == QM_RESULT_CUT || !entry->fits);
}

/* Takes over the entry, and its key. */
static QmStatus
add_search_entry (QmBenchSearch *search, QmBenchEntry *entry, QmError *error)
{
  if (search->n_entries == search->capacity)
    {
      size_t capacity = search->capacity * 2 + 64;
      QmBenchEntry *grown = realloc (search->entries, capacity * sizeof *grown);

      if (grown == NULL)
        return qm_error_no_memory (error);
      search->entries = grown;
      search->capacity = capacity;
    }
  entry->key = make_key (search, entry);
  if (entry->key == NULL)
    return qm_error_no_memory (error);
  if (entry->state != QM_BENCH_NOT_RUN && is_known_entry (search, entry))
    entry->state = QM_BENCH_KNOWN;
  search->entries[search->n_entries++] = *entry;
  return QM_OK;
}

/* Plans an entry at half of its micro-batch. */
static QmStatus
halve (const QmBenchSearch *search, QmBenchEntry *entry, QmError *error)
{
  const QmBenchSearched *model = &search->models[entry->model];
  QmPlan *plan;
  QmStatus status;

  entry->options.micro_batch /= 2;
  entry->half = true;
  entry->rank += QM_SEARCH_MOST;
  entry->state = QM_BENCH_LEFT;
  status = qm_plan_new (&model->config, &model->recipe, &entry->options, &plan,
                        error);
  if (status != QM_OK)
    return status;
  entry->memory = plan->memory;
  qm_plan_free (plan);
  guess (search, entry);
  return QM_OK;
}

QmStatus
qm_bench_add_half (QmBenchSearch *search, size_t index, QmError *error)
{
  QmBenchEntry half = search->entries[index];
  QmStatus status;

  if (half.half || !half.fits || half.options.micro_batch < 2)
    return QM_OK;
  for (size_t i = 0; i < search->n_entries; i++)
    if (search->entries[i].half && search->entries[i].model == half.model
        && search->entries[i].rank == half.rank + QM_SEARCH_MOST)
      return QM_OK;
  status = halve (search, &half, error);
  return status == QM_OK ? add_search_entry (search, &half, error) : status;
}

/* Whether half of an entry's micro-batch is in order. */
static bool
wants_half (const QmBenchSearch *search, const QmBenchEntry *entry)
{
  const QmResult *result = qm_bench_entry_result (search, entry);
  QmPlanOptions half = entry->options;

  if (!entry->fits || entry->state == QM_BENCH_NOT_RUN || half.micro_batch < 2)
    return false;
  if (entry->state == QM_BENCH_KNOWN && result->status == QM_RESULT_FAILED)
    return true;
  half.micro_batch /= 2;
  return qm_search_wants_half (&entry->config,
                               guess_pass (search, entry, &half));
}

/* Plans one configuration at its largest micro-batch. */
static QmStatus
plan_entry (QmBenchSearch *search, QmBenchEntry *entry, QmError *error)
{
  const QmBenchSearched *model = &search->models[entry->model];
  const QmSearchConfig *config = &entry->config;
  QmStatus status;

  entry->options = (QmPlanOptions){
    .target = search->info.target,
    .micro_batch = 1,
    .methods = config->methods,
    .checkpoint = config->checkpoint,
    .sharding = config->sharding,
    .offload = config->offload,
    .ranks = search->gpus,
    .host_bytes =
        search->host_bytes
        / (uint64_t) (search->gpus / qm_bench_nodes (search->options)),
    .deterministic = search->options->deterministic
  };
  status = qm_search_fit (&model->config, &model->recipe, &entry->options,
                          search->device_bytes, &entry->memory, &entry->fits,
                          &entry->shortage, error);
  if (status == QM_STATUS_UNSUPPORTED)
    {
      entry->state = QM_BENCH_NOT_RUN;
      snprintf (entry->reason, sizeof entry->reason, "%s", error->message);
      return QM_OK;
    }
  return status;
}

static QmStatus
list_model (QmBenchSearch *search, size_t model, QmError *error)
{
  QmSearchConfig configs[QM_SEARCH_MOST];
  QmBenchEntry entries[QM_SEARCH_MOST];
  size_t n = qm_search_configurations (search->methods, search->gpus, configs);
  QmStatus status = QM_OK;

  for (size_t i = 0; i < n && status == QM_OK; i++)
    {
      entries[i] = (QmBenchEntry){ .model = model,
                                   .config = configs[i],
                                   .rank = (int) i };
      status = plan_entry (search, &entries[i], error);
    }
  if (status == QM_OK && search->gpus > 1)
    status = qm_bench_shorten (search, entries, n, error);
  for (size_t i = 0; i < n && status == QM_OK; i++)
    {
      if (entries[i].state != QM_BENCH_NOT_RUN)
        guess (search, &entries[i]);
      status = add_search_entry (search, &entries[i], error);
      if (status == QM_OK
          && wants_half (search, &search->entries[search->n_entries - 1]))
        status = qm_bench_add_half (search, search->n_entries - 1, error);
    }
  return status;
}

double
qm_bench_forecast (const QmBenchSearch *search, const QmBenchEntry *entry)
{
  return entry->fits
             ? qm_search_predict (&search->models[entry->model].pace,
                                  &search->pace, &entry->config, entry->guess,
                                  (int) search->options->repeat)
             : 0;
}

void
qm_bench_learn (QmBenchSearch *search, const QmBenchEntry *entry)
{
  const QmResult *result = qm_bench_entry_result (search, entry);
  QmSearchPace *paces[] = { &search->models[entry->model].pace, &search->pace };

  if (result == NULL || result->status != QM_RESULT_MEASURED)
    return;
  for (int i = 0; i < 2; i++)
    qm_search_pace_add (paces[i], &entry->config, entry->guess, result->pass,
                        result->cost, (int) search->options->repeat);
}

/* Whether another of the same model is forecast to be faster. */
static bool
is_behind (const QmBenchEntry *entry, const QmBenchEntry *other)
{
  return other->model == entry->model && other->fits
         && (other->step < entry->step
             || (other->step <= entry->step && other->rank < entry->rank));
}

/* Whether the same way is forecast to be faster with another micro-batch. */
static bool
is_second (const QmBenchSearch *search, const QmBenchEntry *entry)
{
  for (size_t i = 0; i < search->n_entries; i++)
    {
      const QmBenchEntry *other = &search->entries[i];

      if (is_behind (entry, other)
          && other->rank % QM_SEARCH_MOST == entry->rank % QM_SEARCH_MOST)
        return true;
    }
  return false;
}

/* How many of its model's come before an entry on several GPUs: those that are
 * forecast to be faster, each way with one micro-batch before any with two. */
static int
place_in_model (const QmBenchSearch *search, const QmBenchEntry *entry)
{
  int place = 0;

  for (size_t i = 0; i < search->n_entries; i++)
    {
      const QmBenchEntry *other = &search->entries[i];

      place += other->second == entry->second
                   ? is_behind (entry, other)
                   : entry->second && other->model == entry->model;
    }
  return place;
}

static QmStatus
put_in_order (QmBenchSearch *search, QmError *error)
{
  QmSearchRank *ranks = calloc (search->n_entries + 1, sizeof *ranks);
  QmBenchEntry *sorted =
      malloc ((search->n_entries + 1) * sizeof *search->entries);

  if (ranks == NULL || sorted == NULL)
    {
      free (ranks);
      free (sorted);
      return qm_error_no_memory (error);
    }
  for (size_t i = 0; i < search->n_entries; i++)
    search->entries[i].second = is_second (search, &search->entries[i]);
  for (size_t i = 0; i < search->n_entries; i++)
    ranks[i] = (QmSearchRank){
      .free = !search->entries[i].fits,
      .rank = search->gpus > 1 ? place_in_model (search, &search->entries[i])
                               : search->entries[i].rank,
      .cost = qm_bench_forecast (search, &search->entries[i]),
      .index = i
    };
  qm_search_order (ranks, search->n_entries);
  for (size_t i = 0; i < search->n_entries; i++)
    sorted[i] = search->entries[ranks[i].index];
  free (search->entries);
  free (ranks);
  search->entries = sorted;
  search->capacity = search->n_entries + 1;
  return QM_OK;
}

/* A limit that is none is -1; of the memory 0 is known where that is 0. */
static QmStatus
read_limit (const char *text, uint64_t *bytes, int64_t *limit, QmError *error)
{
  uint64_t size;
  QmStatus status;

  *limit = -1;
  if (text == NULL)
    return QM_OK;
  status = qm_bench_read_size (text, &size, error);
  if (status == QM_OK && (size < *bytes || *bytes == 0))
    {
      *bytes = size;
      *limit = (int64_t) size;
    }
  return status;
}

QmStatus
qm_bench_search_memory (QmBenchSearch *search, QmError *error)
{
  QmStatus status;

  search->device_bytes = qm_bench_usable_memory (&search->info);
  if (!qm_target_is_gpu (&search->info.target))
    search->device_bytes /=
        (uint64_t) (search->gpus / qm_bench_nodes (search->options));
  search->host_bytes = qm_bench_usable_host ();
  status = read_limit (search->options->memory, &search->device_bytes,
                       &search->memory_limit, error);
  if (status == QM_OK)
    status = read_limit (search->options->host_memory, &search->host_bytes,
                         &search->host_limit, error);
  return status;
}

QmStatus
qm_bench_list_work (QmBenchSearch *search, QmError *error)
{
  QmStatus status = qm_bench_say_search_links (search, error);

  for (size_t i = 0; i < search->n_models && status == QM_OK; i++)
    status = list_model (search, i, error);
  for (size_t i = 0; i < search->n_entries && status == QM_OK; i++)
    if (search->entries[i].state == QM_BENCH_KNOWN)
      qm_bench_learn (search, &search->entries[i]);
  if (status == QM_OK && search->gpus > 1)
    status = qm_bench_forecast_steps (search, error);
  return status == QM_OK ? put_in_order (search, error) : status;
}

void
qm_bench_free_work (QmBenchSearch *search)
{
  for (size_t i = 0; i < search->n_entries; i++)
    free (search->entries[i].key);
  free (search->entries);
  search->entries = NULL;
  search->n_entries = search->capacity = 0;
}

void
qm_bench_describe (const QmBenchSearch *search,
                   const QmBenchEntry *entry,
                   char *text,
                   size_t size)
{
  char settings[64], name[QM_BENCH_CELL], gpus[24] = "";
  char way[QM_BENCH_WAY_BYTES];
  const QmSearchConfig *config = &entry->config;

  qm_methods_format (config->methods, settings, sizeof settings);
  qm_text_escape (search->models[entry->model].name, name, sizeof name);
  if (search->gpus > 1)
    snprintf (gpus, sizeof gpus, ", %d GPUs", search->gpus);
  qm_bench_format_way (config->checkpoint, config->sharding, config->offload,
                       way);
  snprintf (text, size, "%s%s, %s%s%s, micro-batch %lld", name, gpus, settings,
            way[0] != '\0' ? ", " : "", way,
            (long long) entry->options.micro_batch);
}
