/* SPDX-License-Identifier: Apache-2.0 */

/* What the options name: a model, how it is trained, on what. */

#include "app/qm-bench.h"

#include "app/qm-bench-nodes.h"

#include "kernels/host/host-limit.h"

#include "data/datadir.h"
#include "data/text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

QmStatus
qm_bench_load_catalog (QmCatalog **catalog, QmError *error)
{
  char shipped[PATH_MAX], user[PATH_MAX];

  qm_data_dir (shipped, sizeof shipped);
  return qm_catalog_load_without_times (
      shipped, qm_user_data_dir (user, sizeof user) ? user : NULL, catalog,
      error);
}

/* Says where what is trained is not what a file is named for.  The worker of a
 * search reads it once more for every measurement. */
static void
say_other_head (const QmBenchOptions *options, const QmBenchModel *model)
{
  if (model->config.other_head[0] != '\0'
      && !qm_model_has_teacher (&model->config)
      && strcmp (options->command, "worker") != 0)
    qm_bench_say ("%s: architectures names %s; what is planned and trained "
                  "here is %s",
                  model->name, model->config.other_head,
                  qm_family_architecture (model->config.family));
}

static QmStatus
load_from_catalog (const QmBenchOptions *options,
                   QmBenchModel *model,
                   QmError *error)
{
  const QmModel *entry;
  QmStatus status = qm_bench_load_catalog (&model->catalog, error);

  if (status != QM_OK)
    return status;
  entry = qm_catalog_model (model->catalog, options->model);
  if (entry == NULL)
    {
      size_t n;
      const QmModel *models = qm_catalog_models (model->catalog, &n);
      QmBenchNames names = { .more = 0 };

      for (size_t i = 0; i < n; i++)
        qm_bench_names_add (&names, models[i].id);
      return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                           "there is no model '%.32s'; there are %s",
                           options->model, qm_bench_names_text (&names));
    }
  model->config = entry->config;
  model->recipe = entry->recipe;
  snprintf (model->name, sizeof model->name, "%s", entry->id);
  return QM_OK;
}

static QmStatus
load_config (const char *path, QmModelConfig *config, QmError *error)
{
  char *text;
  size_t length;
  QmStatus status = qm_text_read_file (path, &text, &length, error);

  if (status != QM_OK)
    return status;
  status = qm_model_config_parse (text, length, path, config, error);
  free (text);
  return status;
}

static QmStatus
load_recipe (const char *path, QmRecipe *recipe, QmError *error)
{
  char *text;
  size_t length;
  QmStatus status = qm_text_read_file (path, &text, &length, error);

  if (status != QM_OK)
    return status;
  status = qm_recipe_parse (text, length, path, recipe, error);
  free (text);
  return status;
}

/* A model is named as its file is, in every result. */
static QmStatus
take_name (const char *path, QmBenchModel *model, QmError *error)
{
  QmError problem;

  if (qm_text_check (path, strlen (path), "", &problem) != QM_OK
      || !qm_text_is_line (path))
    return qm_error_set (error, QM_STATUS_INVALID, path, 0, 0,
                         "has a name that is not one line of UTF-8");
  snprintf (model->name, sizeof model->name, "%s", path);
  qm_text_trim (model->name);
  return QM_OK;
}

QmStatus
qm_bench_load_model (const QmBenchOptions *options,
                     bool recipe,
                     QmBenchModel *model,
                     QmError *error)
{
  QmStatus status = QM_OK;

  memset (model, 0, sizeof *model);
  if ((options->model == NULL) == (options->config == NULL))
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "exactly one of --model and --config has to be given");
  if (recipe && options->config != NULL && options->recipe == NULL)
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "--config needs a --recipe");
  if (options->model != NULL)
    status = load_from_catalog (options, model, error);
  else
    {
      status = take_name (options->config, model, error);
      if (status == QM_OK)
        status = load_config (options->config, &model->config, error);
    }
  if (status == QM_OK && recipe && options->recipe != NULL)
    {
      status = load_recipe (options->recipe, &model->recipe, error);
      if (status == QM_OK)
        status = qm_model_apply_recipe (&model->config, &model->recipe,
                                        options->recipe, error);
    }
  if (status == QM_OK)
    say_other_head (options, model);
  else
    qm_bench_clear_model (model);
  return status;
}

void
qm_bench_clear_model (QmBenchModel *model)
{
  qm_catalog_free (model->catalog);
  model->catalog = NULL;
}

QmStatus
qm_bench_read_methods (const QmBenchOptions *options,
                       unsigned *methods,
                       QmError *error)
{
  const char *text =
      options->settings != NULL ? options->settings : "free-lunch";

  if (qm_methods_parse (text, methods))
    return QM_OK;
  return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                       "--settings: '%.32s' is not naive, free-lunch, compile, "
                       "kernels, tf32 or some of the last three joined by +",
                       text);
}

QmStatus
qm_bench_read_size (const char *text, uint64_t *bytes, QmError *error)
{
  static const QmOptionUnit units[] = { { "", 1 },         { "B", 1 },
                                        { "MB", 1e6 },     { "GB", 1e9 },
                                        { "TB", 1e12 },    { "MiB", 0x1p20 },
                                        { "GiB", 0x1p30 }, { "TiB", 0x1p40 } };
  double value;

  if (!qm_option_amount (text, units, sizeof units / sizeof units[0], 0x1p60,
                         &value)
      || value < 1)
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "'%.32s' is no size; 24GiB is one", text);
  *bytes = (uint64_t) value;
  return QM_OK;
}

QmStatus
qm_bench_read_time (const char *text, double *seconds, QmError *error)
{
  static const QmOptionUnit units[] = { { "", 1 },     { "s", 1 },
                                        { "min", 60 }, { "m", 60 },
                                        { "h", 3600 }, { "d", 86400 } };

  if (qm_option_amount (text, units, sizeof units / sizeof units[0], 1e9,
                        seconds))
    return QM_OK;
  return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                       "'%.32s' is no time; 25min is one", text);
}

uint64_t
qm_bench_usable_memory (const QmDeviceInfo *info)
{
  uint64_t usable = info->free_bytes + qm_target_reserved (&info->target);

  /* A host has other programs to run as well. */
  if (!qm_target_is_gpu (&info->target))
    return info->free_bytes / 10 * 8;
  /* What is free of an open GPU is what its driver has left. */
  return info->free_bytes > 0 && usable < info->memory_bytes
             ? usable
             : info->memory_bytes;
}

/* Of a program of this kind, and of the driver's that pins its memory. */
uint64_t
qm_bench_usable_host (void)
{
  return qm_host_available ("") / 100 * 97;
}

static QmStatus
read_host_memory (const QmBenchOptions *options,
                  uint64_t *bytes,
                  QmError *error)
{
  bool elsewhere =
      strcmp (options->command, "plan") == 0 && options->device == NULL;

  *bytes = 0;
  if (options->host_memory != NULL)
    return qm_bench_read_size (options->host_memory, bytes, error);
  if (!elsewhere)
    *bytes = qm_bench_usable_host ();
  return QM_OK;
}

QmStatus
qm_bench_read_samples (const QmBenchOptions *options,
                       const QmRecipe *recipe,
                       int ranks,
                       int64_t *micro_batch,
                       QmError *error)
{
  const char *text = options->micro_batch;
  int64_t most = recipe->batch_size / ranks;

  *micro_batch = 0;
  if (most == 0)
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "--gpus is %d, and a step has %lld samples", ranks,
                         (long long) recipe->batch_size);
  if (text == NULL || strcmp (text, "auto") == 0)
    return QM_OK;
  if (qm_bench_read_count ("--micro-batch", text, micro_batch)
      && *micro_batch > 0 && *micro_batch <= most)
    return QM_OK;
  return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                       "--micro-batch is auto or a number up to %lld, the "
                       "samples of a step%s",
                       (long long) most, ranks > 1 ? " on each GPU" : "");
}

/* Reads what --offload says, QM_SHARDING_NONE without it. */
static QmStatus
read_offload (const QmBenchOptions *options,
              QmSharding *sharding,
              QmError *error)
{
  *sharding = QM_SHARDING_NONE;
  if (options->offload == NULL
      || qm_sharding_parse (options->offload, sharding))
    return QM_OK;
  return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                       "--offload is zero_1, zero_2, zero_3, fsdp_2, fsdp_3 or "
                       "none, not '%.32s'",
                       options->offload);
}

QmStatus
qm_bench_read_ranks (const QmBenchOptions *options, int *ranks, QmError *error)
{
  *ranks = options->gpus > 0 ? (int) options->gpus : 1;
  if (*ranks <= QM_BENCH_MOST_RANKS)
    return QM_OK;
  return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                       "--gpus is a number from 1 to %d", QM_BENCH_MOST_RANKS);
}

QmStatus
qm_bench_read_sharding (const QmBenchOptions *options,
                        QmPlanOptions *plan,
                        QmError *error)
{
  QmSharding offload;
  QmStatus status = read_offload (options, &offload, error);

  if (status != QM_OK)
    return status;
  plan->sharding = offload;
  plan->offload = offload != QM_SHARDING_NONE;
  if (options->sharding == NULL)
    return QM_OK;
  if (!qm_sharding_parse (options->sharding, &plan->sharding))
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "--sharding is zero_1, zero_2, zero_3, fsdp_2, fsdp_3 "
                         "or none, not '%.32s'",
                         options->sharding);
  if (plan->ranks == 1 && plan->sharding != QM_SHARDING_NONE)
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "--sharding needs several GPUs (--gpus)");
  if (plan->offload && plan->sharding != offload)
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "--sharding and --offload name two variants");
  return QM_OK;
}

QmStatus
qm_bench_make_plan (const QmBenchOptions *options,
                    const QmBenchModel *model,
                    const QmTarget *target,
                    int rank,
                    uint64_t bytes,
                    QmPlan **plan,
                    QmError *error)
{
  QmPlanOptions plan_options = { .target = *target,
                                 .rank = rank,
                                 .checkpoint = options->checkpoint,
                                 .deterministic = options->deterministic,
                                 .loss_rows = options->loss_rows };
  QmStatus status =
      qm_bench_read_methods (options, &plan_options.methods, error);
  int64_t size;
  int local = 1;

  *plan = NULL;
  if (status == QM_OK)
    status = qm_bench_read_total (options, &local, &plan_options.ranks, error);
  if (status == QM_OK)
    status = qm_bench_read_sharding (options, &plan_options, error);
  if (status == QM_OK)
    status = read_host_memory (options, &plan_options.host_bytes, error);
  if (status == QM_OK)
    plan_options.host_bytes /= (uint64_t) local;
  if (status == QM_OK && !qm_target_is_gpu (target))
    bytes /= (uint64_t) local;
  if (status != QM_OK)
    return status;
  if (options->micro_batch == NULL
      || strcmp (options->micro_batch, "auto") == 0)
    return qm_plan_largest (&model->config, &model->recipe, &plan_options,
                            bytes, plan, error);
  if (!qm_bench_read_count ("--micro-batch", options->micro_batch, &size)
      || size < 1 || size > model->recipe.batch_size)
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "--micro-batch is auto or a number up to %lld, the "
                         "samples of a step",
                         (long long) model->recipe.batch_size);
  plan_options.micro_batch = size;
  return qm_plan_new (&model->config, &model->recipe, &plan_options, plan,
                      error);
}

QmStatus
qm_bench_read_architecture (const QmBenchOptions *options,
                            int *architecture,
                            QmError *error)
{
  double number = 0;

  *architecture = 0;
  if (options->architecture == NULL)
    return QM_OK;
  if (!qm_number_parse (options->architecture, &number) || number < 10
      || number > 999 || number != (int) number)
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "--architecture is a number as 90, for compute "
                         "capability 9.0");
  *architecture = (int) number;
  return qm_bench_can_use (*architecture, error);
}

QmStatus
qm_bench_can_use (int architecture, QmError *error)
{
  if (architecture >= QM_BENCH_OLDEST)
    return QM_OK;
  return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                       "compute capability %d.%d is too old: 7.5 or newer is "
                       "needed (Turing, Ampere, Ada, Hopper or later)",
                       architecture / 10, architecture % 10);
}

/* Says why it is the CPU that was taken. */
static void
say_why_cpu (void)
{
  QmDeviceInfo first;
  char note[192] = "";

  qm_device_list (&first, 1, note, sizeof note);
  if (note[0] == '\0')
    snprintf (note, sizeof note, "%s", first.trouble);
  fprintf (stderr, "qm-bench: %s  This is the cpu.\n", note);
}

QmStatus
qm_bench_open_device (const QmBenchOptions *options,
                      QmDevice **device,
                      QmError *error)
{
  QmDeviceInfo info;
  int architecture;
  QmStatus status = qm_bench_read_architecture (options, &architecture, error);

  if (status != QM_OK)
    return status;
  status = qm_device_describe (options->device != NULL ? options->device : "",
                               &info, error);
  if (status == QM_OK && options->device == NULL
      && !qm_target_is_gpu (&info.target))
    say_why_cpu ();
  if (status == QM_OK)
    status = qm_device_open (info.id, architecture, device, error);
  if (status == QM_STATUS_NOT_FOUND)
    status = error->status = QM_STATUS_DEVICE;
  if (status == QM_STATUS_INVALID && architecture != 0)
    status = error->status = QM_STATUS_USAGE;
  return status;
}

QmStatus
qm_bench_plan_rank (const QmBenchOptions *options,
                    const QmBenchModel *model,
                    QmDevice *device,
                    QmCommunicator *communicator,
                    QmPlan **plan,
                    QmError *error)
{
  const QmDeviceInfo *info = qm_device_info (device);
  double least = (double) qm_bench_usable_memory (info);
  int rank = communicator != NULL ? qm_communicator_rank (communicator) : 0;
  QmStatus status = QM_OK;

  *plan = NULL;
  if (communicator != NULL)
    status = qm_communicator_agree (communicator, QM_AGREE_MINIMUM, &least, 1,
                                    error);
  return status == QM_OK
             ? qm_bench_make_plan (options, model, &info->target, rank,
                                   (uint64_t) least, plan, error)
             : status;
}
