/* SPDX-License-Identifier: Apache-2.0 */

#include "app/qm-bench-scaling.h"

#include "app/qm-bench-probes.h"
#include "data/datadir.h"
#include "engine/search.h"
#include "engine/ways.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A small one, and two that are each about as much larger. */
static const char *const usual[] = { "pythia-160m", "pythia-1b",
                                     "pythia-2.8b" };

#define N_USUAL (sizeof usual / sizeof usual[0])

/* What others have that have none: the GPU of the boards that most people mean
 * by NVLink. */
#define NVLINK_GPU "h100-80gb-sxm"

/* What all of it is predicted from. */
typedef struct Basis
{
  QmCatalog *catalog;
  QmCalibration calibration;
  QmBenchProbes probes;
  const QmLevel *level;
  const QmGpu *gpu;
  QmSpeeds speeds, nvlink, one;
  const QmLinkTimes *times;
} Basis;

/* Days of some ways on some GPUs. */
typedef struct Found
{
  double plain;        /* of each having all; NaN where that does not fit */
  double best;         /* of the fastest; NaN where none fits */
  QmSearchConfig way;  /* that one */
  int64_t micro_batch; /* its */
} Found;

static QmStatus
open_basis (const QmBenchOptions *options,
            const QmDeviceInfo *info,
            Basis *basis,
            QmError *error)
{
  char folder[PATH_MAX], path[PATH_MAX + 32];
  QmStatus status = qm_bench_load_catalog (&basis->catalog, error);

  /* Without a catalog links can be measured all the same. */
  if (status != QM_OK && options->gpu == NULL && options->model == NULL)
    return QM_OK;
  if (status == QM_OK && options->gpu != NULL)
    status =
        qm_bench_named_gpu (basis->catalog, options->gpu, &basis->gpu, error);
  else if (status == QM_OK)
    basis->gpu = qm_bench_find_gpu (basis->catalog, info);
  if (status != QM_OK || basis->gpu == NULL)
    return status;
  qm_data_dir (folder, sizeof folder);
  snprintf (path, sizeof path, "%s/calibration.csv", folder);
  status = qm_calibration_load (path, &basis->calibration, error);
  if (status == QM_OK)
    status = qm_bench_read_probes (basis->catalog, NULL, &basis->probes,
                                   &basis->calibration, error);
  basis->level = qm_calibration_level (&basis->calibration, "engine");
  if (status == QM_OK && basis->level == NULL)
    status = qm_error_set (error, QM_STATUS_INVALID, path, 0, 0,
                           "has no level of this engine");
  return status;
}

static QmStatus
find_speeds (Basis *basis, QmError *error)
{
  const QmCalibration *calibration = &basis->calibration;
  const QmGpu *other = qm_catalog_gpu (basis->catalog, NVLINK_GPU);
  double rate = basis->gpu->nvlink_gbs;
  int machines = basis->times->nodes > 1 ? basis->times->nodes : 1;
  QmNetwork network;
  QmStatus status =
      qm_speeds_of_gpu (calibration, basis->gpu, 1, QM_INTERCONNECT_OF_GPU,
                        &basis->one, error);

  if (status == QM_OK)
    status = qm_speeds_of_gpu (calibration, basis->gpu,
                               basis->times->ranks / machines,
                               QM_INTERCONNECT_OF_GPU, &basis->speeds, error);
  /* All of them as if NVLink joined them, in one machine. */
  if (status == QM_OK)
    status = qm_speeds_of_gpu (calibration, basis->gpu, basis->times->ranks,
                               QM_INTERCONNECT_OF_GPU, &basis->nvlink, error);
  if (status != QM_OK)
    return status;
  /* What was measured is nearer to what it is than what GPUs are sold with. */
  if (strcmp (basis->times->transport, "host") == 0)
    basis->speeds.way = QM_WAY_HOST;
  network = qm_network_of_links (basis->times);
  qm_speeds_join (&basis->speeds, machines, &network, 1);
  basis->nvlink.way = QM_WAY_NVLINK;
  basis->nvlink.links = NULL;
  if (!(rate > 0))
    rate = other != NULL ? other->nvlink_gbs : NAN;
  basis->nvlink.exchange = rate * 1e9 * calibration->nvlink;
  return QM_OK;
}

/* All ways to train a model with free-lunch settings. */
static QmStatus
find_ways (const Basis *basis,
           const QmBenchModel *model,
           const QmSpeeds *speeds,
           const QmLinkTimes *times,
           Found *found,
           QmError *error)
{
  const QmExchange exchange = qm_exchange_of (speeds, basis->level, times);
  QmSearchConfig configs[QM_SEARCH_MOST];
  size_t n = qm_search_configurations (QM_SEARCH_ALL, speeds->gpus, configs);
  QmStatus status = QM_OK;

  *found = (Found){ .plain = NAN, .best = NAN };
  for (size_t i = 0; i < n && status == QM_OK; i++)
    {
      const QmPlanOptions options = { .target = { QM_DEVICE_CUDA,
                                                  speeds->architecture },
                                      .methods = configs[i].methods,
                                      .checkpoint = configs[i].checkpoint,
                                      .ranks = speeds->gpus,
                                      .sharding = configs[i].sharding,
                                      .offload = configs[i].offload };
      QmWayFound way = { 0 };

      if (configs[i].methods == 0)
        continue;
      status = qm_way_find (&model->config, &model->recipe, &options,
                            qm_bench_gpu_memory (basis->gpu), &exchange,
                            basis->level, &way, error);
      if (status == QM_STATUS_UNSUPPORTED)
        status = QM_OK;
      if (status != QM_OK || !way.fits)
        continue;
      if (configs[i].sharding == QM_SHARDING_NONE)
        found->plain = fmin (found->plain, way.prediction.days);
      if (way.prediction.days >= found->best)
        continue;
      found->best = way.prediction.days;
      found->way = configs[i];
      found->micro_batch = way.micro_batch;
    }
  return status;
}

static QmStatus
add_model_scaling (const Basis *basis,
                   const QmBenchModel *model,
                   json_t *scaling,
                   QmError *error)
{
  int gpus = basis->times->ranks;
  Found one, here, nvlink;
  json_t *object;
  QmStatus status = find_ways (basis, model, &basis->one, NULL, &one, error);

  if (status == QM_OK)
    status =
        find_ways (basis, model, &basis->speeds, basis->times, &here, error);
  if (status == QM_OK)
    status = find_ways (basis, model, &basis->nvlink, NULL, &nvlink, error);
  if (status != QM_OK)
    return status;
  object = json_object ();
  json_object_set_new (object, "model", json_string (model->name));
  json_object_set_new (object, "gpu_id", json_string (basis->gpu->id));
  json_object_set_new (object, "provenance", json_string ("predicted"));
  qm_bench_json_number (object, "days_one", one.best);
  qm_bench_json_number (object, "days_data_parallel", here.plain);
  qm_bench_json_number (object, "days_best", here.best);
  qm_bench_json_number (object, "days_nvlink", nvlink.best);
  qm_bench_json_number (object, "data_parallel", one.best / gpus / here.plain);
  qm_bench_json_number (object, "best", one.best / gpus / here.best);
  qm_bench_json_number (object, "nvlink", one.best / gpus / nvlink.best);
  json_object_set_new (object, "sharding",
                       json_string (qm_sharding_name (here.way.sharding)));
  json_object_set_new (object, "offloading", json_boolean (here.way.offload));
  json_object_set_new (object, "checkpointing",
                       json_boolean (here.way.checkpoint));
  json_object_set_new (object, "micro_batch", json_integer (here.micro_batch));
  json_array_append_new (scaling, object);
  return QM_OK;
}

QmStatus
qm_bench_scaling (const QmBenchOptions *options,
                  const QmDeviceInfo *info,
                  const QmLinkTimes *times,
                  json_t **scaling,
                  QmError *error)
{
  Basis basis = { .times = times };
  QmBenchOptions one = *options;
  size_t n = options->model != NULL ? 1 : N_USUAL;
  QmStatus status = open_basis (options, info, &basis, error);

  *scaling = json_array ();
  if (status == QM_OK && basis.gpu != NULL)
    status = find_speeds (&basis, error);
  for (size_t i = 0; i < n && status == QM_OK && basis.gpu != NULL; i++)
    {
      QmBenchModel model;

      if (options->model == NULL)
        one.model = usual[i];
      status = qm_bench_load_model (&one, true, &model, error);
      if (status != QM_OK)
        break;
      status = add_model_scaling (&basis, &model, *scaling, error);
      qm_bench_clear_model (&model);
    }
  qm_bench_clear_probes (&basis.probes);
  qm_catalog_free (basis.catalog);
  if (status != QM_OK)
    {
      json_decref (*scaling);
      *scaling = NULL;
    }
  return status;
}

/* "62 %", or a dash. */
static void
format_share (const json_t *object, const char *name, char cell[24])
{
  const json_t *value = json_object_get (object, name);

  if (json_is_number (value))
    snprintf (cell, 24, "%.0f %%", 100 * json_number_value (value));
  else
    snprintf (cell, 24, "-");
}

void
qm_bench_print_scaling (const json_t *scaling, int gpus)
{
  size_t i;
  const json_t *object;

  if (json_array_size (scaling) == 0)
    return;
  printf ("\nPredicted with these links, as a share of %d times one GPU\n"
          "%-16s %14s %10s %12s  %s\n",
          gpus, "model", "data parallel", "best way", "with NVLink",
          "the best way");
  json_array_foreach (scaling, i, object)
  {
    const char *sharding =
        json_string_value (json_object_get (object, "sharding"));
    char cells[3][24];

    format_share (object, "data_parallel", cells[0]);
    format_share (object, "best", cells[1]);
    format_share (object, "nvlink", cells[2]);
    qm_bench_print ("%-16s %14s %10s %12s  %s%s%s",
                    json_string_value (json_object_get (object, "model")),
                    cells[0], cells[1], cells[2],
                    strcmp (sharding, "none") == 0 ? "all on each" : sharding,
                    json_is_true (json_object_get (object, "offloading"))
                        ? ", offloading"
                        : "",
                    json_is_true (json_object_get (object, "checkpointing"))
                        ? ", checkpointing"
                        : "");
  }
}
