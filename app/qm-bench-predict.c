/* SPDX-License-Identifier: Apache-2.0 */

/* qm-bench predict: in one place or in many, a GPU of the catalog and a number
 * of them each; with --rates, where rates are from. */

#include "app/qm-bench-predict.h"

#include "app/qm-bench-nodes.h"
#include "app/qm-bench-ways.h"
#include "data/architecture.h"
#include "data/datadir.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_LEVEL "tuned"

#define MOST_MACHINES 4096

static QmStatus
refuse_level (const QmCalibration *calibration,
              const char *name,
              QmError *error)
{
  char list[160] = "";

  for (size_t i = 0; i < calibration->n_levels; i++)
    snprintf (list + strlen (list), sizeof list - strlen (list), "%s%s",
              i > 0 ? ", " : "", calibration->levels[i].name);
  return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                       "there is no level '%.32s'; there are %s", name, list);
}

/* The levels between the commas, each once. */
static QmStatus
read_levels (const char *name, QmBenchQuestion *question, QmError *error)
{
  for (;;)
    {
      size_t length = strcspn (name, ",");
      const QmLevel *level;
      size_t i = 0;
      char one[64];

      snprintf (one, sizeof one, "%.*s", (int) (length < 64 ? length : 64),
                name);
      level = qm_calibration_level (&question->calibration, one);
      if (level == NULL)
        return refuse_level (&question->calibration, one, error);
      while (i < question->n_levels && question->levels[i] != level)
        i++;
      if (i == question->n_levels && i < QM_BENCH_LEVELS)
        question->levels[question->n_levels++] = level;
      if (name[length] == '\0')
        return QM_OK;
      name += length + 1;
    }
}

/* Those of `name`; NULL: none. */
static QmStatus
read_level (const char *name, QmBenchQuestion *question, QmError *error)
{
  char folder[PATH_MAX], path[PATH_MAX + 32];
  QmStatus status;

  qm_data_dir (folder, sizeof folder);
  snprintf (path, sizeof path, "%s/calibration.csv", folder);
  status = qm_calibration_load (path, &question->calibration, error);
  return status == QM_OK && name != NULL ? read_levels (name, question, error)
                                         : status;
}

static QmInterconnect
read_link (const QmBenchOptions *options)
{
  static const char *const links[] = { "auto", "nvlink", "pcie" };

  for (int i = 0; options->link != NULL && i < 3; i++)
    if (strcmp (options->link, links[i]) == 0)
      return (QmInterconnect) i;
  return QM_INTERCONNECT_OF_GPU;
}

/* "hdr", or "8xhdr" where each machine has 8 adapters. */
static QmStatus
read_network (const QmBenchOptions *options,
              QmBenchQuestion *question,
              QmError *error)
{
  QmPlacesOptions *places = &question->options;
  const char *name = options->between;
  char list[160] = "";
  size_t n;
  const QmNetwork *networks = qm_networks (&n);

  if (options->links == NULL && (options->n_nodes > 1) != (name != NULL))
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "--nodes says how many machines there are, and "
                         "--between what is between them: both or none");
  if (name == NULL)
    return QM_OK;
  if (options->links != NULL)
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "--links was measured, with the network if there is "
                         "one; --between does not go with it");
  places->machines = (int) options->n_nodes;
  places->network = qm_network_parse (name, &places->adapters);
  question->between = name;
  for (size_t i = 0; i < n; i++)
    snprintf (list + strlen (list), sizeof list - strlen (list), "%s%s",
              i > 0 ? ", " : "", networks[i].id);
  if (options->n_nodes > MOST_MACHINES)
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "--nodes is up to %d", MOST_MACHINES);
  if (places->network == NULL)
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "'%.32s' is no network; there are %s, and up to %d "
                         "adapters of a machine, as 8xhdr",
                         name, list, QM_NETWORK_ADAPTERS);
  return QM_OK;
}

static int
compare_counts (const void *a, const void *b)
{
  return *(const int *) a - *(const int *) b;
}

static void
read_counts (const QmBenchOptions *options, QmBenchQuestion *question)
{
  question->counts[0] = 1;
  question->n_counts = options->gpu_counts.n > 0 ? 0 : 1;
  for (int i = 0; i < options->gpu_counts.n; i++)
    {
      int64_t count = options->gpu_counts.numbers[i];
      bool seen = false;

      for (int j = 0; j < question->n_counts; j++)
        seen |= question->counts[j] == count;
      if (!seen)
        question->counts[question->n_counts++] = (int) count;
    }
  qsort (question->counts, (size_t) question->n_counts,
         sizeof *question->counts, compare_counts);
}

/* The GPUs between the commas. */
static QmStatus
read_names (const char *name, QmBenchQuestion *question, QmError *error)
{
  QmStatus status = QM_OK;

  while (status == QM_OK)
    {
      size_t length = strcspn (name, ",");
      const QmGpu *gpu = NULL;
      char one[64];

      snprintf (one, sizeof one, "%.*s", (int) (length < 64 ? length : 64),
                name);
      status = qm_bench_named_gpu (question->catalog, one, &gpu, error);
      if (status == QM_OK)
        question->asked[gpu - question->gpus] = true;
      if (name[length] == '\0')
        break;
      name += length + 1;
    }
  return status;
}

/* The type of the device at hand, with what can be used of its memory and of
 * the host's. */
static QmStatus
read_own_device (const char *id, QmBenchQuestion *question, QmError *error)
{
  QmDeviceInfo info;
  const QmGpu *gpu;
  char one[32];
  QmStatus status;

  snprintf (one, sizeof one, "%.*s", (int) strcspn (id, ","), id);
  status = qm_device_describe (one, &info, error);
  if (status != QM_OK)
    return qm_error_set (error, QM_STATUS_DEVICE, "", 0, 0,
                         "there is no device '%.32s' here; --gpu predicts for "
                         "one that is not",
                         one);
  gpu = qm_bench_find_gpu (question->catalog, &info);
  if (gpu == NULL)
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "times are predicted for GPUs of the catalog, and %s, "
                         "%.100s, is none; --gpu names one",
                         info.id, info.name);
  question->asked[gpu - question->gpus] = true;
  question->bytes = qm_bench_usable_memory (&info);
  question->options.host_bytes = qm_bench_usable_host ();
  return QM_OK;
}

/* Those that are named, or with `device` the type of that. */
static QmStatus
read_gpus (const char *names,
           const char *device,
           QmBenchQuestion *question,
           QmError *error)
{
  QmStatus status = qm_bench_load_catalog (&question->catalog, error);
  if (status != QM_OK)
    return status;
  question->gpus = qm_catalog_gpus (question->catalog, &question->n_gpus);
  question->asked = calloc (question->n_gpus + 1, sizeof *question->asked);
  if (question->asked == NULL)
    return qm_error_no_memory (error);
  if (names == NULL)
    status = read_own_device (device, question, error);
  else if (strcmp (names, "all") == 0)
    memset (question->asked, true, question->n_gpus);
  else
    status = read_names (names, question, error);
  for (size_t i = 0; i < question->n_gpus; i++)
    question->n_asked += question->asked[i];
  return status;
}

static QmStatus
read_limits (const QmBenchOptions *options,
             QmBenchQuestion *question,
             QmError *error)
{
  QmPlacesOptions *limits = &question->options;
  int64_t batch = question->all ? INT64_MAX : question->model.recipe.batch_size;

  limits->checkpoint = options->checkpoint;
  if (options->micro_batch != NULL && strcmp (options->micro_batch, "auto") != 0
      && (!qm_bench_read_count ("--micro-batch", options->micro_batch,
                                &limits->micro_batch)
          || limits->micro_batch < 1 || limits->micro_batch > batch))
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         question->all
                             ? "--micro-batch is auto or a number from 1 on"
                             : "--micro-batch is auto or a number up to %lld, "
                               "the samples of a step",
                         (long long) batch);
  return options->host_memory != NULL
             ? qm_bench_read_size (options->host_memory, &limits->host_bytes,
                                   error)
             : QM_OK;
}

static QmStatus
load_residuals (QmBenchQuestion *question, QmError *error)
{
  char folder[PATH_MAX], path[PATH_MAX + 32];

  qm_data_dir (folder, sizeof folder);
  snprintf (path, sizeof path, "%s/residuals.csv", folder);
  return qm_residuals_load (path, &question->residuals, error);
}

QmStatus
qm_bench_read_residuals (QmBenchQuestion *question, QmError *error)
{
  QmError notice = { 0 };
  QmStatus status;

  qm_residuals_free (question->residuals);
  question->residuals = NULL;
  status = load_residuals (question, error);

  qm_residual_key (&question->model.config, &question->model.recipe,
                   question->key);
  /* A file of results that is broken is no reason to predict nothing. */
  if (status == QM_OK && !question->own_is_wrong
      && qm_bench_add_own (&question->model, question->catalog,
                           &question->calibration, question->residuals, &notice)
             != QM_OK)
    {
      question->own_is_wrong = true;
      fprintf (stderr, "qm-bench: %s:%d: %s: own results are left out\n",
               notice.file, notice.line, notice.message);
    }
  return status;
}

/* Bytes of such a GPU that can be used. */
static uint64_t
memory_there (const QmBenchQuestion *question, const QmGpu *gpu)
{
  return question->bytes > 0 ? question->bytes : qm_bench_gpu_memory (gpu);
}

/* Whether settings are asked for that are not the fastest there. */
static bool
asks_other (const QmBenchQuestion *question, const QmGpu *gpu, int gpus)
{
  const QmPlacesOptions *asked = &question->options;
  QmPlaceFound found = { 0 };

  return question->free != NULL
         && (qm_places_find (question->free, gpu, gpus, question->link,
                             memory_there (question, gpu), &found, NULL)
                 != QM_OK
             || !found.fits
             || (question->ways == NULL
                 && found.options.checkpoint != asked->checkpoint)
             || (asked->micro_batch > 0
                 && found.options.micro_batch != asked->micro_batch));
}

/* What is known of the model at the level in hand, on so many GPUs. */
static QmResidual
find_residual (const QmBenchQuestion *question, const QmGpu *gpu, int gpus)
{
  int machines = question->options.machines;

  return qm_residuals_find (question->residuals, question->options.level,
                            question->key, gpu,
                            gpus * (machines > 1 ? machines : 1),
                            asks_other (question, gpu, gpus));
}

/* Of several machines they are those that --nodes means. */
static QmStatus
read_measured_links (const QmBenchOptions *options,
                     QmBenchQuestion *question,
                     QmError *error)
{
  QmPlacesOptions *places = &question->options;
  QmLinkTimes *links = &question->links;
  QmStatus status = qm_link_times_load (options->links, links, error);

  if (status == QM_OK)
    status =
        qm_bench_check_links (options, links, (int) options->n_nodes, error);
  /* Of what is refused, as it is in FP8, nothing is made of them. */
  for (int i = 0; i < question->n_counts && status == QM_OK
                  && question->model.recipe.precision != QM_PRECISION_FP8;
       i++)
    qm_bench_say_other_links (options, links,
                              question->counts[i]
                                  * (links->nodes > 1 ? links->nodes : 1));
  if (status != QM_OK || links->nodes < 2)
    return status;
  question->network = qm_network_of_links (links);
  question->between = question->network.id;
  places->machines = links->nodes;
  places->network = &question->network;
  places->adapters = 1;
  return QM_OK;
}

/* Whether all models of the catalog are meant: none is named. */
static bool
means_all (const QmBenchOptions *options)
{
  return options->model != NULL
             ? strcmp (options->model, "all") == 0 && options->config == NULL
             : options->config == NULL;
}

static QmStatus
read_models (const QmBenchOptions *options,
             QmBenchQuestion *question,
             QmError *error)
{
  question->all = means_all (options);
  if (!question->all)
    return qm_bench_load_model (options, true, &question->model, error);
  if (!qm_bench_names_ways (options) && options->recipe == NULL)
    return QM_OK;
  return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                       "%s of one model: --model has to say of which",
                       options->recipe != NULL ? "--recipe is"
                                               : "--sharding, --offload, "
                                                 "--methods and --links are");
}

static QmStatus
read_question (const QmBenchOptions *options,
               QmBenchQuestion *question,
               QmError *error)
{
  QmStatus status =
      (options->gpu != NULL) != (options->device != NULL)
          ? read_gpus (options->gpu, options->device, question, error)
          : qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                          "either --gpu has to say on which GPU, or "
                          "--device on which of this machine");

  question->link = read_link (options);
  read_counts (options, question);
  if (status == QM_OK)
    status = read_network (options, question, error);
  if (status == QM_OK)
    status =
        read_level (options->level != NULL ? options->level : DEFAULT_LEVEL,
                    question, error);
  if (status == QM_OK)
    status =
        qm_bench_read_probes (question->catalog, options->speeds,
                              &question->probes, &question->calibration, error);
  if (status == QM_OK)
    status = read_models (options, question, error);
  if (status == QM_OK && !question->all)
    status = qm_bench_read_residuals (question, error);
  if (status == QM_OK)
    status = read_limits (options, question, error);
  question->ways = qm_bench_names_ways (options) ? options : NULL;
  if (status == QM_OK && options->links != NULL)
    status = read_measured_links (options, question, error);
  question->asked_with = options;
  question->options.config = &question->model.config;
  question->options.recipe = &question->model.recipe;
  question->options.calibration = &question->calibration;
  return status;
}

static void
clear_question (QmBenchQuestion *question)
{
  qm_bench_clear_model (&question->model);
  qm_bench_clear_probes (&question->probes);
  qm_residuals_free (question->residuals);
  qm_catalog_free (question->catalog);
  free (question->asked);
}

/* That no way fits, for who asked for one place alone. */
static QmStatus
report_shortage (const QmBenchQuestion *question,
                 const QmPlaceFound *found,
                 uint64_t bytes,
                 QmError *error)
{
  const QmShortage shortage = { false, found->smallest, bytes };
  int64_t asked = question->options.micro_batch;

  if (found->smallest <= bytes)
    return qm_error_set (error, QM_STATUS_DEVICE_FULL, "", 0, 0,
                         "offloading needs at least %.1f GiB of the host's "
                         "memory, and %.1f are available",
                         (double) found->smallest_host / 0x1p30,
                         (double) question->options.host_bytes / 0x1p30);
  return qm_shortage_report (&shortage, asked > 0 ? asked : 1, error);
}

/* What bridges between cards change, of which there may be some: whether there
 * are, is not known. */
static QmStatus
find_bridged (const QmBenchQuestion *question,
              QmPlaces *places,
              QmBenchPlace *place,
              QmPlaceFound *bridged,
              QmError *error)
{
  QmStatus status;

  if (place->problem != NULL || !place->found->fits || place->gpus == 1
      || place->found->way == QM_WAY_NVLINK || place->found->links_measured
      || question->link != QM_INTERCONNECT_OF_GPU
      || !(place->gpu->nvlink_gbs > 0))
    return QM_OK;
  status =
      qm_places_find (places, place->gpu, place->gpus, QM_INTERCONNECT_NVLINK,
                      place->bytes, bridged, error);
  if (status != QM_OK || !bridged->fits || bridged->way != QM_WAY_NVLINK)
    return status;
  qm_residual_apply (place->residual, &bridged->prediction);
  place->bridged = bridged;
  return status;
}

/* What it changes that a machine has half of a card's lanes for it, or those of
 * the generation before, for programs. */
static QmStatus
find_half_lanes (const QmBenchQuestion *question,
                 QmPlaces *places,
                 QmBenchPlace *place,
                 QmPlaceFound *half,
                 QmError *error)
{
  const QmPlaceFound *found = place->found;
  QmGpu gpu = *place->gpu;
  QmStatus status;

  if (!question->json || place->problem != NULL || !found->fits
      || !qm_gpu_is_card (&gpu) || !(gpu.pcie_lanes > 0)
      || found->links_measured
      || ((place->gpus == 1 || found->way == QM_WAY_NVLINK)
          && !found->options.offload))
    return QM_OK;
  gpu.pcie_lanes /= 2;
  status = qm_places_find (places, &gpu, place->gpus, question->link,
                           place->bytes, half, error);
  if (status != QM_OK || !half->fits)
    return status;
  qm_residual_apply (place->residual, &half->prediction);
  place->half_lanes = half;
  return status;
}

/* Predicts one place, and says so.  What cannot be predicted or does not fit is
 * an answer among many, and for people who ask for one an error. */
static QmStatus
predict_place (const QmBenchQuestion *question,
               QmPlaces *places,
               const QmGpu *gpu,
               int gpus,
               QmError *error)
{
  const char *level = question->options.level->name;
  uint64_t bytes = memory_there (question, gpu);
  bool one = !question->all && question->n_asked == 1 && question->n_counts == 1
             && question->n_levels == 1;
  QmResidual residual = find_residual (question, gpu, gpus);
  QmPlaceFound found = { 0 }, bridged, half;
  QmBenchPlace place = { .model = &question->model,
                         .gpu = gpu,
                         .gpus = gpus,
                         .machines = question->options.machines,
                         .between = question->between,
                         .level = level,
                         .found = &found,
                         .residual = &residual,
                         .bytes = bytes };
  char command[QM_BENCH_LINE_BYTES];
  QmStatus status = QM_OK;

  if (strcmp (level, "engine") == 0 && qm_gpu_architecture (gpu) > 0)
    status = qm_bench_can_use (qm_gpu_architecture (gpu), error);
  if (status == QM_OK)
    status = qm_places_find (places, gpu, gpus, question->link, bytes, &found,
                             error);
  if (status == QM_OK && found.fits)
    qm_residual_apply (&residual, &found.prediction);
  if (status == QM_STATUS_UNSUPPORTED && (question->json || !one))
    {
      place.problem = error;
      status = QM_OK;
    }
  if (status == QM_OK)
    status = find_bridged (question, places, &place, &bridged, error);
  if (status == QM_OK)
    status = find_half_lanes (question, places, &place, &half, error);
  if (status != QM_OK)
    return status;
  if (place.problem == NULL && found.fits && question->options.machines < 2
      && qm_bench_trains_framework (question->options.level)
      && qm_bench_format_export (&question->model, question->asked_with,
                                 &found.options, command, sizeof command))
    place.command = command;
  if (question->fits != NULL)
    status =
        qm_bench_fits_add (question->fits, question, places, &place, error);
  else if (question->json)
    qm_bench_print_place_json (&place);
  else if (!one)
    qm_bench_print_place_line (&place, question->n_levels > 1);
  else if (found.fits)
    qm_bench_print_place_text (&place);
  else
    status = report_shortage (question, &found, bytes, error);
  return status;
}

/* The ways that are named, in one place. */
static QmStatus
predict_ways (const QmBenchQuestion *question,
              const QmGpu *gpu,
              int gpus,
              QmError *error)
{
  int machines =
      question->options.machines > 1 ? question->options.machines : 1;
  QmResidual residual = find_residual (question, gpu, gpus);
  QmBenchWays ways = {
    .model = &question->model,
    .calibration = &question->calibration,
    .level = question->options.level,
    .residual = &residual,
    .options = question->asked_with,
    .gpu = gpu,
    .bytes = memory_there (question, gpu),
    .gpus = gpus * machines,
    .places = &question->options,
    .between = question->between,
    .link = question->link,
    .measured = question->links.ranks > 0 ? &question->links : NULL,
    .micro_batch = question->options.micro_batch,
    .host_bytes = question->options.host_bytes,
    .json = question->json,
  };
  QmStatus status = qm_bench_read_ways (question->ways, &ways, error);

  if (status == QM_OK && ways.level->own && qm_gpu_architecture (gpu) > 0)
    status = qm_bench_can_use (qm_gpu_architecture (gpu), error);
  if (status == QM_OK)
    status = qm_bench_predict_ways (&ways, error);
  if (status == QM_STATUS_UNSUPPORTED
      && (question->json || question->n_asked > 1 || question->n_counts > 1))
    {
      const QmBenchPlace place = { .model = &question->model,
                                   .gpu = gpu,
                                   .gpus = gpus,
                                   .machines = question->options.machines,
                                   .between = question->between,
                                   .level = ways.level->name,
                                   .problem = error };

      if (question->json)
        qm_bench_print_place_json (&place);
      else
        qm_bench_print_place_line (&place, question->n_levels > 1);
      return QM_OK;
    }
  return status;
}

/* Begins to look for the fastest settings, too, where some are named; of ways,
 * all that are listed are known alike. */
static QmStatus
begin_free (QmBenchQuestion *question,
            const int *architectures,
            size_t n,
            QmError *error)
{
  QmPlacesOptions options = question->options;

  if (options.micro_batch == 0
      && (question->ways != NULL || !options.checkpoint))
    return QM_OK;
  options.checkpoint = false;
  options.micro_batch = 0;
  return qm_places_new (&options, architectures, n, &question->free, error);
}

/* In every place, at the level of the options. */
static QmStatus
predict_places (QmBenchQuestion *question, QmError *error)
{
  int architectures[QM_PLACES_ARCHITECTURES];
  size_t n = 0;
  QmPlaces *places = NULL;
  QmStatus status;

  for (size_t i = 0; i < question->n_gpus; i++)
    {
      int architecture = qm_gpu_architecture (&question->gpus[i]);
      size_t j = 0;

      while (j < n && architectures[j] != architecture)
        j++;
      if (question->asked[i] && j == n && n < QM_PLACES_ARCHITECTURES)
        architectures[n++] = architecture;
    }
  status = qm_places_new (&question->options, architectures, n, &places, error);
  if (status == QM_OK)
    status = begin_free (question, architectures, n, error);
  for (size_t i = 0; i < question->n_gpus && status == QM_OK; i++)
    for (int j = 0;
         question->asked[i] && j < question->n_counts && status == QM_OK; j++)
      status = qm_bench_interrupted ()
                   ? qm_error_set (error, QM_STATUS_INTERRUPTED, "", 0, 0,
                                   "interrupted")
               : question->ways != NULL
                   ? predict_ways (question, &question->gpus[i],
                                   question->counts[j], error)
                   : predict_place (question, places, &question->gpus[i],
                                    question->counts[j], error);
  qm_places_free (places);
  qm_places_free (question->free);
  question->free = NULL;
  return status;
}

QmStatus
qm_bench_predict_model (QmBenchQuestion *question, QmError *error)
{
  QmStatus status = QM_OK;

  for (size_t i = 0; i < question->n_levels && status == QM_OK; i++)
    {
      question->options.level = question->levels[i];
      status = predict_places (question, error);
    }
  return status;
}

/* What a machine was measured to do, and own results are left aside, since who
 * trained had others, and since the fit does so, too. */
static QmStatus
predict_rates (const QmBenchOptions *options,
               QmBenchQuestion *question,
               QmError *error)
{
  char folder[PATH_MAX];
  QmTrainingRates *rates = NULL;
  QmStatus status;

  if (options->model != NULL || options->config != NULL
      || options->recipe != NULL || options->micro_batch != NULL
      || options->link != NULL || options->host_memory != NULL
      || qm_bench_names_ways (options) || options->speeds != NULL
      || options->checkpoint || options->gpu_counts.n > 0
      || options->device != NULL || options->n_nodes > 0
      || options->between != NULL)
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "--rates takes --gpu, --level and --json alone; each "
                         "rate says the rest");
  status = read_gpus (options->gpu != NULL ? options->gpu : "all", NULL,
                      question, error);
  if (status == QM_OK)
    status = read_level (options->level, question, error);
  if (status == QM_OK)
    {
      qm_data_dir (folder, sizeof folder);
      status = qm_training_rates_load (folder, &rates, error);
    }
  if (status == QM_OK)
    status = load_residuals (question, error);
  if (status == QM_OK)
    status = qm_bench_print_rates (
        &(QmBenchRates){ .catalog = question->catalog,
                         .calibration = &question->calibration,
                         .residuals = question->residuals,
                         .gpus = question->gpus,
                         .asked = question->n_asked < question->n_gpus
                                      ? question->asked
                                      : NULL,
                         .levels = question->levels,
                         .n_levels = question->n_levels,
                         .json = question->json },
        rates, error);
  qm_training_rates_free (rates);
  return status;
}

int
qm_bench_predict (const QmBenchOptions *options)
{
  QmBenchQuestion question = { .json = options->json };
  QmError error = { 0 };
  QmStatus status = options->rates ? predict_rates (options, &question, &error)
                                   : read_question (options, &question, &error);

  if (status == QM_OK && !options->rates)
    status = question.all ? qm_bench_predict_models (&question, &error)
                          : qm_bench_predict_model (&question, &error);
  clear_question (&question);
  return status == QM_OK ? QM_BENCH_OK : qm_bench_fail (&error);
}
