/* SPDX-License-Identifier: Apache-2.0 */

/* Which ways on several GPUs are measured first, at which micro-batch, and
 * which not to the end. */

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

/* What a step may take longer at a smaller micro-batch: no more than two
 * measurements of the same differ by. */
#define NO_SLOWER 1.005

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
  QmStatus status = QM_OK;

  if (options->links != NULL)
    status = qm_link_times_load (options->links, &basis->links, error);
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
      && qm_speeds_of_gpu (&basis->calibration, search->gpu, search->gpus,
                           QM_INTERCONNECT_OF_GPU, &basis->speeds, NULL)
             == QM_OK;
  if (basis->known)
    basis->exchange =
        qm_exchange_of (&basis->speeds, basis->level,
                        basis->links.ranks > 0 ? &basis->links : NULL);
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

/* Predicts an entry at a micro-batch; *found says whether that is possible. */
static QmStatus
predict (const QmBenchSearch *search,
         const Basis *basis,
         const QmBenchEntry *entry,
         int64_t micro_batch,
         QmWayFound *found,
         QmError *error)
{
  const QmBenchSearched *model = &search->models[entry->model];
  QmPlanOptions options = entry->options;
  QmStatus status;

  options.micro_batch = micro_batch;
  status = qm_way_find (&model->config, &model->recipe, &options,
                        search->device_bytes, &basis->exchange, basis->level,
                        found, error);
  found->fits = found->fits && status == QM_OK;
  return status == QM_STATUS_UNSUPPORTED ? QM_OK : status;
}

/* Takes the smallest micro-batch, of the largest and its halves, that is
 * forecast to be as fast as the largest and has passes that are long enough. */
static QmStatus
shorten (const QmBenchSearch *search,
         const Basis *basis,
         QmBenchEntry *entry,
         QmError *error)
{
  QmWayFound largest, half;
  int64_t micro_batch = entry->options.micro_batch;
  QmStatus status =
      predict (search, basis, entry, micro_batch, &largest, error);
  double pass = largest.prediction.pass;

  while (status == QM_OK && largest.fits && micro_batch > 1
         && pass > SECONDS_ENOUGH)
    {
      status = predict (search, basis, entry, micro_batch / 2, &half, error);
      if (status != QM_OK || !half.fits
          || half.prediction.step > NO_SLOWER * largest.prediction.step)
        break;
      micro_batch /= 2;
      pass = half.prediction.pass;
      entry->memory = half.memory;
    }
  entry->options.micro_batch = micro_batch;
  return status;
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
    if (entries[i].fits && entries[i].state != QM_BENCH_NOT_RUN)
      status = shorten (search, &basis, &entries[i], error);
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
      QmWayFound found = { 0 };

      entry->step = guess_step (search, entry);
      if (basis.known && entry->fits && entry->state != QM_BENCH_NOT_RUN)
        status = predict (search, &basis, entry, entry->options.micro_batch,
                          &found, error);
      if (found.fits)
        entry->step = found.prediction.step;
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
