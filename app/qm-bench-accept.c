/* SPDX-License-Identifier: Apache-2.0 */

/* qm-bench accept: whether a machine that was delivered is what was ordered and
 * trains as fast as is guaranteed. */

#include "config.h"

#include "app/qm-bench-accept.h"

#include "app/qm-bench-progress.h"
#include "app/qm-bench-ranks.h"
#include "app/qm-bench-run.h"
#include "data/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Seconds of full load before a measurement, and of one: heat takes minutes to
 * hold a machine back. */
#define LOAD 600.0

/* No measurement is repeated more often. */
#define MOST_REPEATS 1000000.0

#define SECONDS_PER_DAY 86400.0

/* --- what was ordered --- */

static QmStatus
read_acceptance (QmBenchAcceptance *acceptance, QmError *error)
{
  const char *path = acceptance->options->against;
  char *text;
  size_t length;
  QmStatus status;

  if (path == NULL)
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "--against has to say what was ordered");
  status = qm_text_read_file (path, &text, &length, error);
  if (status != QM_OK)
    return status;
  qm_sha256 (text, length, acceptance->digest);
  status = qm_acceptance_parse (text, length, path, &acceptance->asked, error);
  free (text);
  return status;
}

/* Whether the catalog has the models that were meant, and no others of their
 * names. */
static QmStatus
check_models (const QmBenchAcceptance *acceptance,
              const QmCatalog *catalog,
              QmError *error)
{
  const char *path = acceptance->options->against;

  for (size_t i = 0; i < acceptance->asked.n; i++)
    {
      const QmAcceptanceTraining *training = &acceptance->asked.trainings[i];
      const QmModel *model = qm_catalog_model (catalog, training->model);
      char key[QM_MODEL_KEY_BYTES];

      if (model == NULL)
        return qm_error_set (error, QM_STATUS_NOT_FOUND, path, 0, 0,
                             "there is no model '%.63s' here: if it is one of "
                             "your own, bring its file",
                             training->model);
      qm_model_key (&model->config, &model->recipe, key);
      if (strcmp (key, training->key) != 0)
        return qm_error_set (error, QM_STATUS_INVALID, path, 0, 0,
                             "'%.63s' is another model here than the one that "
                             "was meant, or trained otherwise",
                             training->model);
    }
  return QM_OK;
}

/* --- what is there --- */

static QmStatus
add_device (QmBenchAcceptance *acceptance,
            const QmDeviceInfo *info,
            QmError *error)
{
  if (acceptance->n_devices == QM_ACCEPTANCE_MOST_GPUS)
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "there are more than %d devices; --device names those "
                         "to measure",
                         QM_ACCEPTANCE_MOST_GPUS);
  acceptance->devices[acceptance->n_devices++] = *info;
  return QM_OK;
}

/* Those that --device names. */
static QmStatus
find_named (QmBenchAcceptance *acceptance, QmError *error)
{
  const char *names = acceptance->options->device;
  QmStatus status = QM_OK;

  for (; status == QM_OK; names++)
    {
      int length = (int) strcspn (names, ",");
      QmDeviceInfo info = { 0 };
      char id[32];

      snprintf (id, sizeof id, "%.*s", length, names);
      /* "" would be whichever there is. */
      status = length == 0 ? qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                                           "--device has an empty name")
                           : qm_device_describe (id, &info, error);
      if (status == QM_OK && info.trouble[0] != '\0')
        status = qm_error_set (error, QM_STATUS_DEVICE, "", 0, 0, "%s: %s", id,
                               info.trouble);
      if (status == QM_OK)
        status = add_device (acceptance, &info, error);
      names += length;
      if (*names == '\0')
        break;
    }
  return status;
}

/* All GPUs that can be used. */
static QmStatus
find_gpus (QmBenchAcceptance *acceptance, QmError *error)
{
  enum
  {
    MOST = 64
  };
  QmDeviceInfo *infos = calloc (MOST, sizeof *infos);
  char note[192] = "";
  QmStatus status = QM_OK;
  size_t n;

  if (infos == NULL)
    return qm_error_no_memory (error);
  n = qm_device_list (infos, MOST, note, sizeof note);
  for (size_t i = 0; i < n && i < MOST && status == QM_OK; i++)
    if (qm_target_is_gpu (&infos[i].target) && infos[i].trouble[0] == '\0')
      status = add_device (acceptance, &infos[i], error);
    else if (qm_target_is_gpu (&infos[i].target))
      qm_bench_say ("%s is left out: %s", infos[i].id, infos[i].trouble);
  free (infos);
  if (status == QM_OK && acceptance->n_devices == 0)
    return qm_error_set (error, QM_STATUS_DEVICE, "", 0, 0,
                         "there is no GPU here that can be used%s%s",
                         note[0] != '\0' ? ": " : "", note);
  return status;
}

static QmStatus
find_devices (QmBenchAcceptance *acceptance,
              const QmCatalog *catalog,
              QmError *error)
{
  QmStatus status = acceptance->options->device != NULL
                        ? find_named (acceptance, error)
                        : find_gpus (acceptance, error);

  for (int i = 0; i < acceptance->n_devices; i++)
    {
      const QmGpu *gpu = qm_bench_find_gpu (catalog, &acceptance->devices[i]);

      if (gpu != NULL)
        snprintf (acceptance->gpus[i], sizeof acceptance->gpus[i], "%s",
                  gpu->id);
    }
  return status;
}

/* Whether they are what was ordered; the reason where they are not. */
static void
check_devices (const QmBenchAcceptance *acceptance, QmBenchTrial *trial)
{
  const QmAcceptanceTraining *asked = trial->asked;
  int n = acceptance->n_devices;

  trial->gpus = asked->gpus > 0 ? asked->gpus : n;
  if (asked->gpus > n)
    {
      snprintf (trial->reason, sizeof trial->reason,
                "%d GPUs were ordered, and %d can be used", asked->gpus, n);
      return;
    }
  for (int i = 0; asked->gpu[0] != '\0' && i < trial->gpus; i++)
    if (strcmp (acceptance->gpus[i], asked->gpu) != 0)
      {
        snprintf (trial->reason, sizeof trial->reason,
                  "%s was ordered, and %s is %.95s", asked->gpu,
                  acceptance->devices[i].id, acceptance->devices[i].name);
        return;
      }
}

/* --- measuring --- */

/* A way to train it. */
typedef struct Way
{
  const char *settings, *sharding, *offload;
  bool checkpoint;
} Way;

/* A training on the delivered devices. */
typedef struct Trying
{
  const QmBenchAcceptance *acceptance;
  QmBenchTrial *trial;
  QmBenchOptions options; /* of the run */
  QmBenchModel model;
  QmBenchMeter meter;
  double load;
  char devices[QM_ACCEPTANCE_MOST_GPUS * 32];
} Trying;

static void
name_devices (Trying *trying)
{
  size_t used = 0;

  for (int i = 0; i < trying->trial->gpus; i++)
    used +=
        (size_t) snprintf (trying->devices + used,
                           sizeof trying->devices - used, "%s%s",
                           i > 0 ? "," : "", trying->acceptance->devices[i].id);
}

static void
take_way (QmBenchOptions *options, const Way *way)
{
  options->settings = way->settings;
  options->sharding = way->sharding;
  options->offload = way->offload;
  options->checkpoint = way->checkpoint;
}

/* Measures as often as takes so many seconds, where once takes `once`. */
static QmStatus
measure_for (Trying *trying, QmBenchRun *run, double once, QmError *error)
{
  double times = once > 0 ? ceil (trying->load / once) : 1;

  trying->options.repeat = (int64_t) fmax (1, fmin (times, MOST_REPEATS));
  qm_bench_run_clear (run);
  return qm_bench_run_measure (run, qm_bench_meter_move, &trying->meter, error);
}

static void
take_result (QmBenchTrial *trial, const QmBenchRun *run)
{
  const QmRecipe *recipe = &run->plan->recipe;
  double samples = (double) recipe->batch_size;

  if (trial->asked->tokens)
    samples *= (double) recipe->sequence_length;
  trial->measured = true;
  trial->per_second = samples / run->result.step.mean;
  trial->days = run->result.total / SECONDS_PER_DAY;
  trial->seconds = run->result.phases.measure;
  trial->watched = run->monitor != NULL;
  for (int i = 0; i < run->local; i++)
    {
      const QmWatch *watch = &qm_bench_run_rank (run, i)->result.watch;

      if (qm_bench_run_rank (run, i)->monitor == NULL)
        trial->watched = false;
      else if (qm_throttle_slows (watch->throttle))
        trial->throttle |= watch->throttle;
    }
  qm_bench_format_settings (run->plan, trial->way, sizeof trial->way);
}

/* Once to see how long it takes, then under load, then what counts. */
static QmStatus
measure_trial (Trying *trying, QmError *error)
{
  QmBenchRun run = { .options = &trying->options, .model = &trying->model };
  QmStatus status = qm_bench_run_open (&run, error);

  trying->options.repeat = 1;
  if (status == QM_OK)
    status =
        qm_bench_run_measure (&run, qm_bench_meter_move, &trying->meter, error);
  for (int i = 0; i < 2 && trying->load > 0 && status == QM_OK; i++)
    status = measure_for (trying, &run,
                          run.result.phases.measure
                              / (double) trying->options.repeat,
                          error);
  if (status == QM_OK)
    take_result (trying->trial, &run);
  qm_bench_meter_break (&trying->meter);
  qm_bench_run_clear (&run);
  qm_bench_run_close (&run);
  return status;
}

/* As the file says; where it does not, in the first way that fits. */
static QmStatus
measure_in_a_way (Trying *trying, QmError *error)
{
  static const Way ways[] = {
    { "free-lunch", NULL, NULL, false },
    { "free-lunch", NULL, NULL, true },
    { "free-lunch", "fsdp_3", NULL, true },
    { "free-lunch", NULL, "fsdp_3", true },
  };
  const QmAcceptanceTraining *asked = trying->trial->asked;
  QmStatus status = QM_STATUS_DEVICE_FULL;
  Way way = { asked->settings, NULL, NULL, asked->checkpointing };

  if (asked->has_way)
    {
      if (asked->offloading)
        way.offload = asked->sharding;
      else if (strcmp (asked->sharding, "none") != 0)
        way.sharding = asked->sharding;
      take_way (&trying->options, &way);
      return measure_trial (trying, error);
    }
  for (size_t i = 0;
       i < sizeof ways / sizeof ways[0] && status == QM_STATUS_DEVICE_FULL; i++)
    if (ways[i].sharding == NULL || trying->trial->gpus > 1)
      {
        take_way (&trying->options, &ways[i]);
        status = measure_trial (trying, error);
      }
  return status;
}

/* Whether what was measured suffices; the reason where it does not. */
static void
judge_trial (const QmAcceptance *asked, QmBenchTrial *trial)
{
  double least = qm_acceptance_least (asked, trial->asked);

  if (!(trial->per_second >= least))
    snprintf (trial->reason, sizeof trial->reason,
              "it is %.3g %% below the guaranteed rate, and %.3g %% are "
              "tolerated%s",
              100 * (1 - trial->per_second / trial->asked->guaranteed),
              asked->tolerance,
              trial->throttle != 0 ? "; its GPUs were held back" : "");
}

static QmStatus
try_training (QmBenchAcceptance *acceptance,
              QmBenchTrial *trial,
              double load,
              QmError *error)
{
  Trying trying = { .acceptance = acceptance,
                    .trial = trial,
                    .options = { .command = "run",
                                 .model = trial->asked->model,
                                 .gpus = trial->gpus,
                                 .node = -1,
                                 .json = acceptance->options->json },
                    .load = load };
  QmStatus status;

  name_devices (&trying);
  trying.options.device = trying.devices;
  trying.meter = qm_bench_meter (&trying.options);
  status = qm_bench_load_model (&trying.options, true, &trying.model, error);
  if (status != QM_OK)
    return status;
  if (trial->asked->tokens && trying.model.recipe.sequence_length == 0)
    status =
        qm_error_set (error, QM_STATUS_INVALID, acceptance->options->against, 0,
                      0, "%.63s has no tokens", trial->asked->model);
  if (status == QM_OK)
    status = measure_in_a_way (&trying, error);
  if (status == QM_OK)
    judge_trial (&acceptance->asked, trial);
  qm_bench_clear_model (&trying.model);
  return status;
}

static QmStatus
try_all (QmBenchAcceptance *acceptance, double load, QmError *error)
{
  QmStatus status = QM_OK;

  for (size_t i = 0; i < acceptance->asked.n && status == QM_OK; i++)
    {
      QmBenchTrial *trial = &acceptance->trials[i];

      trial->asked = &acceptance->asked.trainings[i];
      check_devices (acceptance, trial);
      if (trial->reason[0] == '\0')
        status = try_training (acceptance, trial, load, error);
    }
  return status;
}

bool
qm_bench_accepted (const QmBenchAcceptance *acceptance)
{
  for (size_t i = 0; i < acceptance->asked.n; i++)
    if (acceptance->trials[i].reason[0] != '\0')
      return false;
  return true;
}

int
qm_bench_accept (const QmBenchOptions *options)
{
  QmBenchAcceptance *acceptance = calloc (1, sizeof *acceptance);
  QmCatalog *catalog = NULL;
  double load = LOAD;
  bool accepted = false;
  QmError error = { 0 };
  QmStatus status = QM_OK;

  if (acceptance == NULL)
    status = qm_error_no_memory (&error);
  else
    acceptance->options = options;
  if (status == QM_OK && options->load != NULL)
    status = qm_bench_read_time (options->load, &load, &error);
  if (status == QM_OK)
    status = read_acceptance (acceptance, &error);
  if (status == QM_OK)
    status = qm_bench_load_catalog (&catalog, &error);
  if (status == QM_OK)
    status = check_models (acceptance, catalog, &error);
  if (status == QM_OK)
    status = find_devices (acceptance, catalog, &error);
  if (status == QM_OK)
    {
      qm_results_now (acceptance->begun);
      status = try_all (acceptance, load, &error);
    }
  if (status == QM_OK)
    {
      accepted = qm_bench_accepted (acceptance);
      if (options->json)
        qm_bench_print_acceptance_json (acceptance);
      else
        qm_bench_print_acceptance (acceptance);
    }
  qm_catalog_free (catalog);
  free (acceptance);
  if (status != QM_OK)
    return qm_bench_fail (&error);
  return accepted ? QM_BENCH_OK : QM_BENCH_REFUSED;
}
