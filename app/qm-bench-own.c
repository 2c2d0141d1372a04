/* SPDX-License-Identifier: Apache-2.0 */

/* What the user measured of a model, beside what is predicted of it. */

#include "app/qm-bench.h"
#include "data/architecture.h"
#include "data/file.h"
#include "data/results-file.h"
#include "engine/trained.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* What is predicted beside what. */
typedef struct Own
{
  const QmBenchModel *model;
  const QmCatalog *catalog;
  const QmCalibration *calibration;
  QmResiduals *residuals;
  char key[QM_MODEL_KEY_BYTES];      /* that results have of the model */
  char residual[QM_MODEL_KEY_BYTES]; /* qm_residual_key() */
} Own;

/* Reads a result of the model on one machine; false: it is none, or was trained
 * in a way that tells nothing of others. */
static bool
read_own (const Own *own, const QmResult *result, QmTrained *trained)
{
  return strcmp (result->model_key, own->key) == 0 && result->step > 0
         && qm_trained_of_result (result, own->catalog, &own->model->config,
                                  &own->model->recipe, trained)
         && qm_trained_is_plain (trained);
}

/* Whether another result of the same place is faster: what is predicted is of
 * the fastest settings. */
static bool
has_faster (const Own *own, const QmResult *list, size_t n, size_t index)
{
  QmTrained trained, other;

  read_own (own, &list[index], &trained);
  for (size_t i = 0; i < n; i++)
    if (i != index && read_own (own, &list[i], &other)
        && other.gpu == trained.gpu && other.gpus == trained.gpus
        && strcmp (other.level, trained.level) == 0
        && (list[i].step < list[index].step
            || (list[i].step <= list[index].step && i < index)))
      return true;
  return false;
}

static QmStatus
add_own (const Own *own,
         const QmResult *result,
         QmTrained *trained,
         QmError *error)
{
  QmResidualRate rate = {
    .place = { .gpu = trained->gpu->id, .gpus = trained->gpus }, .own = true
  };
  QmPrediction prediction;
  QmError unused = { 0 };
  QmStatus status = QM_OK;

  rate.place.generation = qm_gpu_architecture (trained->gpu);
  /* What cannot be planned or predicted tells nothing. */
  if (qm_trained_plan (trained, &unused) == QM_OK
      && qm_trained_predict_ranks (trained, own->calibration, &prediction,
                                   &unused)
             == QM_OK)
    {
      rate.error = log (prediction.step / result->step);
      if (isfinite (rate.error))
        status = qm_residuals_add (own->residuals, own->residual,
                                   trained->level, &rate, error);
    }
  qm_trained_clear (trained);
  return status;
}

QmStatus
qm_bench_add_own (const QmBenchModel *model,
                  const QmCatalog *catalog,
                  const QmCalibration *calibration,
                  QmResiduals *residuals,
                  QmError *error)
{
  Own own = { model, catalog, calibration, residuals, "", "" };
  char path[PATH_MAX];
  QmResults *results;
  const QmResult *list;
  size_t n;
  QmStatus status = QM_OK;

  if (!qm_results_default_path (path, sizeof path) || !qm_file_exists (path))
    return QM_OK;
  results = qm_results_new ();
  if (results == NULL)
    return qm_error_set (error, QM_STATUS_NO_MEMORY, path, 0, 0,
                         "the host is out of memory");
  qm_model_key (&model->config, &model->recipe, own.key);
  qm_residual_key (&model->config, &model->recipe, own.residual);
  status = qm_results_read (results, path, NULL, NULL, error);
  list = qm_results_list (results, &n);
  for (size_t i = 0; i < n && status == QM_OK; i++)
    {
      QmTrained trained;

      if (read_own (&own, &list[i], &trained) && !has_faster (&own, list, n, i))
        status = add_own (&own, &list[i], &trained, error);
    }
  qm_results_free (results);
  return status;
}
