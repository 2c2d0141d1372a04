/* SPDX-License-Identifier: Apache-2.0 */

/* Which ways on several GPUs are measured first, at which micro-batch, and
 * which not to the end. */

#include "app/qm-bench-nodes.h"
#include "app/qm-bench-probes.h"
#include "app/qm-bench-search.h"
#include "data/datadir.h"
#include "engine/ways.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of a device that the catalog does not know, and of a CPU, whose times differ
 * from pass to pass: what takes so many times as long is no near miss. */
#define INTERVAL_UNKNOWN 2.0

/* So many seconds of a pass measure it as well as more do. */
#define SECONDS_ENOUGH 1.5

/* What a forecast is made from. */
typedef struct Basis
{
  QmCalibration calibration;
  QmBenchProbes probes;
  QmLinkTimes links;
  QmSpeeds speeds;
  const QmLevel *level;
  QmExchange exchange;
  bool known; /* enough for a prediction */
} Basis;

/* Nothing has to be known of the GPU; a file that was named has to be good. */
static QmStatus
open_basis (QmBenchSearch *search, Basis *basis, QmError *error)
{
  const QmBenchOptions *options = search->options;
  char folder[PATH_MAX], path[PATH_MAX + 32];
  int machines = qm_bench_nodes (options);
  bool joined = options->links != NULL && machines > 1;
  QmStatus status = QM_OK;

  if (options->links != NULL)
    status = qm_link_times_load (options->links, &basis->links, error);
  if (status == QM_OK && options->links != NULL)
    status = qm_bench_check_links (options, &basis->links, machines, error);
  if (status != QM_OK || search->gpu == NULL)
    return status;
  qm_data_dir (folder, sizeof folder);
  snprintf (path, sizeof path, "%s/calibration.csv", folder);
  if (qm_calibration_load (path, &basis->calibration, NULL) != QM_OK)
    return QM_OK;
  status = qm_bench_read_probes (search->catalog, NULL, &basis->probes,
                                 &basis->calibration, error);
  basis->level = qm_calibration_level (&basis->calibration, "engine");
  basis->known =
      status == QM_OK && basis->level != NULL
      && qm_speeds_of_gpu (&basis->calibration, search->gpu,
                           joined ? search->gpus / machines : search->gpus,
                           QM_INTERCONNECT_OF_GPU, &basis->speeds, NULL)
             == QM_OK;
  if (basis->known && joined)
    {
      const QmNetwork network = qm_network_of_links (&basis->links);

      qm_speeds_join (&basis->speeds, machines, &network, 1);
    }
  if (basis->known)
    basis->exchange =
        qm_exchange_of (&basis->speeds, basis->level,
                        basis->links.ranks > 0 ? &basis->links : NULL);
  return status;
}

/* Whether a search is of trainings in FP8 alone. */
static bool
searches_fp8_alone (const QmBenchSearch *search)
{
  for (size_t i = 0; i < search->n_models; i++)
    if (search->models[i].recipe.precision != QM_PRECISION_FP8)
      return false;
  return search->n_models > 0;
}

QmStatus
qm_bench_say_search_links (QmBenchSearch *search, QmError *error)
{
  const QmBenchOptions *options = search->options;
  Basis basis = { 0 };
  QmStatus status;

  if (options->links == NULL)
    return QM_OK;
  status = open_basis (search, &basis, error);
  if (status != QM_OK)
    ;
  else if (search->gpus < 2)
    qm_bench_say ("%.120s is not used: one device exchanges nothing",
                  options->links);
  else if (!basis.known)
    qm_bench_say ("%.120s is not used: nothing is predicted of %.60s, of which "
                  "too little is known to",
                  options->links, search->info.name);
  else if (searches_fp8_alone (search))
    qm_bench_say ("%.120s is not used: nothing is predicted of trainings in "
                  "FP8",
                  options->links);
  else
    qm_bench_say_other_links (options, &basis.links, search->gpus);
  qm_bench_clear_probes (&basis.probes);
  return status;
}

/* The operations of all passes alone. */
static double
guess_step (const QmBenchSearch *search, const QmBenchEntry *entry)
{
  const QmRecipe *recipe = &search->models[entry->model].recipe;
  double each = (double) entry->options.micro_batch * search->gpus;

  return entry->guess.pass * ceil ((double) recipe->batch_size / each);
}

/* Seconds of a step as predicted, or as they were. */
static QmStatus
predict_step (const QmBenchSearch *search,
              const Basis *basis,
              QmBenchEntry *entry,
              QmError *error)
{
  const QmBenchSearched *model = &search->models[entry->model];
  QmWayFound found;
  QmStatus status = qm_way_find (&model->config, &model->recipe,
                                 &entry->options, search->device_bytes,
                                 &basis->exchange, basis->level, &found, error);

  if (status == QM_OK && found.fits)
    entry->step = found.prediction.step;
  return status == QM_STATUS_UNSUPPORTED ? QM_OK : status;
}

QmStatus
qm_bench_shorten (QmBenchSearch *search,
                  QmBenchEntry *entries,
                  size_t n,
                  QmError *error)
{
  Basis basis = { 0 };
  QmStatus status = open_basis (search, &basis, error);

  for (size_t i = 0; i < n && status == QM_OK && basis.known; i++)
    {
      const QmBenchSearched *model = &search->models[entries[i].model];

      if (entries[i].fits && entries[i].state != QM_BENCH_NOT_RUN)
        status =
            qm_way_shorten (&model->config, &model->recipe, &entries[i].options,
                            search->device_bytes, &basis.exchange, basis.level,
                            SECONDS_ENOUGH, &entries[i].memory, error);
      if (status == QM_STATUS_UNSUPPORTED)
        status = QM_OK;
    }
  qm_bench_clear_probes (&basis.probes);
  return status;
}

QmStatus
qm_bench_forecast_steps (QmBenchSearch *search, QmError *error)
{
  Basis basis = { 0 };
  QmStatus status = open_basis (search, &basis, error);

  search->interval = basis.known
                         ? exp (basis.level->constants[QM_CONSTANT_SPREAD])
                         : INTERVAL_UNKNOWN;
  for (size_t i = 0; i < search->n_entries && status == QM_OK; i++)
    {
      QmBenchEntry *entry = &search->entries[i];

      entry->step = guess_step (search, entry);
      if (basis.known && entry->fits && entry->state != QM_BENCH_NOT_RUN)
        status = predict_step (search, &basis, entry, error);
    }
  qm_bench_clear_probes (&basis.probes);
  if (search->options->no_cut)
    search->interval = 0;
  return status;
}

double
qm_bench_cut_above (const QmBenchSearch *search, const QmBenchEntry *entry)
{
  double best = INFINITY;

  for (size_t i = 0; i < search->n_entries && search->interval > 0; i++)
    {
      const QmResult *result =
          search->entries[i].model == entry->model
              ? qm_bench_entry_result (search, &search->entries[i])
              : NULL;

      if (result != NULL && result->status == QM_RESULT_MEASURED)
        best = fmin (best, result->step);
    }
  return isfinite (best) ? best * search->interval : 0;
}
