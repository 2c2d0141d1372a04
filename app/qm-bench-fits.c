/* SPDX-License-Identifier: Apache-2.0 */

#include "app/qm-bench-fits.h"

#include "app/qm-bench-predict.h"
#include "app/qm-bench-progress.h"
#include "data/architecture.h"
#include "data/clock.h"
#include "data/file.h"
#include "data/results-file.h"
#include "engine/trained.h"
#include "engine/ways.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Seconds in which nobody asks how far it is. */
#define SOON 1.0

struct QmBenchFits
{
  const QmModel *entry; /* in hand */
  QmBenchChange change; /* of the place in hand */
  QmResults *own;       /* what the user measured; NULL: nothing */
  QmBenchFit *list;     /* by model, then by place */
  size_t n, room;
  /* Of progress: */
  QmBenchMeter meter;
  double begun;
  size_t done, all; /* places of models */
};

static int
machines_of (const QmBenchQuestion *question)
{
  return question->options.machines > 1 ? question->options.machines : 1;
}

/* Reads what the user measured.  That a file is wrong is said with the first
 * model (qm_bench_read_residuals()). */
static void
read_own_results (QmBenchFits *fits)
{
  char path[PATH_MAX];

  if (!qm_results_default_path (path, sizeof path) || !qm_file_exists (path))
    return;
  fits->own = qm_results_new ();
  if (fits->own != NULL
      && qm_results_read (fits->own, path, NULL, NULL, NULL) != QM_OK)
    {
      qm_results_free (fits->own);
      fits->own = NULL;
    }
}

/* The fastest that was measured of the model in hand on as many such GPUs, with
 * the software of the place, or where there is none with another. */
static void
find_measured (const QmBenchFits *fits,
               const QmBenchQuestion *question,
               QmBenchPlace *place)
{
  const QmBenchModel *model = &question->model;
  int machines = machines_of (question);
  char key[QM_MODEL_KEY_BYTES];
  const QmResult *list;
  bool same = false;
  size_t n;

  if (fits->own == NULL)
    return;
  qm_model_key (&model->config, &model->recipe, key);
  list = qm_results_list (fits->own, &n);
  for (size_t i = 0; i < n; i++)
    {
      QmTrained trained;
      bool is_same;

      if (strcmp (list[i].model_key, key) != 0
          || !qm_trained_of_result (&list[i], question->catalog, &model->config,
                                    &model->recipe, &trained)
          || trained.gpu != place->gpu || trained.gpus != place->gpus * machines
          || (list[i].nodes > 1 ? list[i].nodes : 1) != machines)
        continue;
      is_same = strcmp (trained.level, place->level) == 0;
      if (place->own != NULL
          && (is_same != same ? same : list[i].days >= place->own->days))
        continue;
      same = is_same;
      place->own = &list[i];
      place->own_level = trained.level;
    }
}

/* What it takes without anything that saves memory, a sample at a time. */
static QmStatus
find_plain (const QmBenchQuestion *question,
            QmBenchPlace *place,
            QmError *error)
{
  const QmLevel *level = question->options.level;
  const QmPlanOptions options = {
    .target = { QM_DEVICE_CUDA, qm_gpu_architecture (place->gpu) },
    .micro_batch = 1,
    .methods = qm_level_methods (level),
    .ranks = place->gpus * machines_of (question),
    .loss_rows = qm_level_loss_rows (level->name),
    .foreign = !level->own
  };
  QmPlan *plan = NULL;
  QmStatus status;

  if (place->problem != NULL)
    return QM_OK;
  status = qm_plan_new (&question->model.config, &question->model.recipe,
                        &options, &plan, error);
  if (status == QM_OK)
    place->plain = plan->memory.total;
  qm_plan_free (plan);
  return status == QM_STATUS_UNSUPPORTED ? QM_OK : status;
}

/* Whether there may be more of the GPUs in a machine. */
static bool
may_be_more (const QmBenchPlace *place)
{
  return place->machines < 2
         && (qm_gpu_is_card (place->gpu) || qm_gpu_is_mezzanine (place->gpu));
}

/* Looks at more of the GPUs, one number after the other, and in fp16 first at
 * as many; the first is kept where none fits. */
static QmStatus
try_numbers (const QmBenchQuestion *question,
             QmPlaces *places,
             const QmBenchPlace *place,
             QmBenchChange *change,
             QmError *error)
{
  int numbers[] = { change->fp16 ? place->gpus : 0, 2, 4, 8 };

  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]
                     && !change->found.fits && !qm_bench_interrupted ();
       i++)
    {
      QmError none = { 0 };
      QmPlaceFound found;
      QmStatus status;

      if (i == 0 ? numbers[0] == 0
                 : numbers[i] <= place->gpus || !may_be_more (place))
        continue;
      status = qm_places_find (places, place->gpu, numbers[i], question->link,
                               place->bytes, &found, &none);
      if (status == QM_STATUS_UNSUPPORTED)
        break;
      if (status != QM_OK)
        {
          *error = none;
          return status;
        }
      if (i == 0)
        change->here = found;
      if (found.fits || change->gpus == 0)
        {
          change->gpus = numbers[i];
          change->found = found;
        }
    }
  return QM_OK;
}

/* The smallest change that makes it fit: fp16 where the GPU has no bf16, and
 * more of the GPUs. */
static QmStatus
find_change (const QmBenchQuestion *question,
             QmPlaces *places,
             QmBenchPlace *place,
             QmBenchChange *change,
             QmError *error)
{
  const QmBenchModel *model = &question->model;
  QmPlacesOptions options = question->options;
  QmRecipe recipe = model->recipe;
  int architecture = qm_gpu_architecture (place->gpu);
  char key[QM_MODEL_KEY_BYTES];
  QmPlaces *narrow = NULL;
  QmResidual residual;
  QmStatus status = QM_OK;

  *change = (QmBenchChange){ .fp16 = place->problem != NULL };
  if (strcmp (place->level, "engine") == 0
      && qm_bench_can_use (architecture, &(QmError){ 0 }) != QM_OK)
    return QM_OK;
  if (place->problem != NULL
          ? place->gpu->bf16 != QM_NO || recipe.precision != QM_PRECISION_BF16
          : place->found->fits)
    return QM_OK;
  if (change->fp16)
    {
      recipe.precision = QM_PRECISION_FP16;
      options.recipe = &recipe;
      status = qm_places_new (&options, &architecture, 1, &narrow, error);
    }
  if (status == QM_OK)
    status = try_numbers (question, change->fp16 ? narrow : places, place,
                          change, error);
  qm_places_free (narrow);
  if (status != QM_OK || change->gpus == 0
      || (!change->fp16 && !change->found.fits))
    return status;
  qm_residual_key (&model->config, &recipe, key);
  residual =
      qm_residuals_find (question->residuals, options.level, key, place->gpu,
                         change->gpus * machines_of (question), false);
  if (change->found.fits)
    qm_residual_apply (&residual, &change->found.prediction);
  place->change = change;
  return QM_OK;
}

static QmStatus
keep_fit (QmBenchFits *fits,
          const QmBenchQuestion *question,
          const QmBenchPlace *place,
          QmError *error)
{
  QmBenchFit *fit;

  if (fits->n == fits->room)
    {
      size_t room = 2 * fits->room + 32;
      QmBenchFit *list = realloc (fits->list, room * sizeof *list);

      if (list == NULL)
        return qm_error_no_memory (error);
      fits->list = list;
      fits->room = room;
    }
  fit = &fits->list[fits->n++];
  *fit = (QmBenchFit){ .asked = question->asked_with,
                       .entry = place->entry,
                       .gpu = place->gpu,
                       .gpus = place->gpus,
                       .machines = place->machines,
                       .between = place->between,
                       .level = place->level,
                       .bytes = place->bytes,
                       .host = question->options.host_bytes,
                       .plain = place->plain,
                       .own = place->own,
                       .own_level = place->own_level };
  if (place->problem != NULL)
    snprintf (fit->problem, sizeof fit->problem, "%s", place->problem->message);
  else
    fit->found = *place->found;
  fit->changed = place->change != NULL;
  if (fit->changed)
    fit->change = *place->change;
  return QM_OK;
}

/* Says how far it is, if it takes long. */
static void
show_fits (QmBenchFits *fits)
{
  fits->done++;
  if (qm_clock () - fits->begun > SOON
      && (fits->done < fits->all || fits->meter.shown > 0))
    qm_bench_meter_move (&fits->meter,
                         (double) fits->done / (double) fits->all);
}

QmStatus
qm_bench_fits_add (QmBenchFits *fits,
                   const QmBenchQuestion *question,
                   QmPlaces *places,
                   QmBenchPlace *place,
                   QmError *error)
{
  QmStatus status = find_plain (question, place, error);

  place->entry = fits->entry;
  if (status == QM_OK)
    status = find_change (question, places, place, &fits->change, error);
  if (status != QM_OK)
    return status;
  find_measured (fits, question, place);
  if (question->json)
    qm_bench_print_place_json (place);
  else
    status = keep_fit (fits, question, place, error);
  show_fits (fits);
  return status;
}

/* Everything of one place after the other. */
static QmStatus
print_fits (const QmBenchFits *fits, size_t n_models, QmError *error)
{
  const QmBenchFit **place = calloc (n_models + 1, sizeof *place);
  size_t n_places = n_models > 0 ? fits->n / n_models : 0;

  if (place == NULL)
    return qm_error_no_memory (error);
  for (size_t i = 0; i < n_places; i++)
    {
      for (size_t j = 0; j < n_models; j++)
        place[j] = &fits->list[j * n_places + i];
      if (i > 0)
        qm_bench_print ("%s", "");
      qm_bench_print_fits (place, n_models);
    }
  free (place);
  return QM_OK;
}

/* One of the catalog becomes the model in hand. */
static QmStatus
predict_entry (QmBenchQuestion *question, const QmModel *entry, QmError *error)
{
  QmBenchModel *model = &question->model;
  QmStatus status;

  question->fits->entry = entry;
  snprintf (model->name, sizeof model->name, "%s", entry->id);
  model->config = entry->config;
  model->recipe = entry->recipe;
  status = qm_bench_read_residuals (question, error);
  return status == QM_OK ? qm_bench_predict_model (question, error) : status;
}

QmStatus
qm_bench_predict_models (QmBenchQuestion *question, QmError *error)
{
  size_t n;
  const QmModel **models = qm_catalog_models_sorted (question->catalog, &n);
  QmBenchFits fits = { .meter = qm_bench_meter (question->asked_with),
                       .begun = qm_clock (),
                       .all = n * question->n_levels * question->n_asked
                              * (size_t) question->n_counts };
  QmStatus status = models != NULL ? QM_OK : qm_error_no_memory (error);

  read_own_results (&fits);
  question->fits = &fits;
  for (size_t i = 0; i < n && status == QM_OK; i++)
    status = predict_entry (question, models[i], error);
  if (status != QM_OK)
    qm_bench_meter_break (&fits.meter);
  else if (!question->json)
    status = print_fits (&fits, n, error);
  question->fits = NULL;
  qm_results_free (fits.own);
  free (fits.list);
  free (models);
  return status;
}
