/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "app/qm-bench.h"

#include "data/text.h"
#include "engine/check.h"
#include "engine/measure.h"
#include "engine/train.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_DEVICES        64
#define SECONDS_PER_DAY    86400.0
#define DEFAULT_GPU_TARGET 90

int
qm_bench_devices (const QmBenchOptions *options)
{
  QmDeviceInfo infos[MAX_DEVICES];
  char note[256];
  size_t n = qm_device_list (infos, MAX_DEVICES, note, sizeof note);

  for (size_t i = 0; i < n && i < MAX_DEVICES; i++)
    if (options->json)
      qm_bench_print_json (qm_bench_json_device (&infos[i]));
    else
      printf ("%-8s %s, %.1f GiB%s%s\n", infos[i].id, infos[i].name,
              (double) infos[i].memory_bytes / 0x1p30,
              infos[i].driver[0] != '\0' ? ", driver " : "", infos[i].driver);
  if (note[0] != '\0')
    fprintf (stderr, "%s\n", note);
  return QM_BENCH_OK;
}

/* For which device a plan is made, and how much memory it has: what was said,
 * or what a device of this machine has. */
static QmStatus
find_target (const QmBenchOptions *options,
             QmTarget *target,
             uint64_t *bytes,
             QmError *error)
{
  QmDeviceInfo infos[MAX_DEVICES];
  char note[256];
  size_t n = qm_device_list (infos, MAX_DEVICES, note, sizeof note);
  double number = DEFAULT_GPU_TARGET;

  *target = (QmTarget){ .kind = QM_DEVICE_CUDA };
  *bytes = 0;
  for (size_t i = 0; i < n && options->device != NULL; i++)
    if (strcmp (infos[i].id, options->device) == 0)
      {
        *target = infos[i].target;
        *bytes = qm_bench_usable_memory (&infos[i]);
        number = infos[i].target.architecture;
      }
  if (options->device != NULL && *bytes == 0)
    return qm_error_set (error, QM_STATUS_DEVICE, "", 0, 0,
                         "there is no device '%.32s' here; --memory plans for "
                         "one that is not",
                         options->device);
  if (options->architecture != NULL
      && (!qm_number_parse (options->architecture, &number) || number < 10
          || number > 999))
    return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                         "--architecture is a number as 90");
  target->architecture = (int) number;
  if (options->memory != NULL)
    return qm_bench_read_size (options->memory, bytes, error);
  return QM_OK;
}

static void
print_plan (const QmBenchOptions *options,
            const QmBenchModel *model,
            const QmPlan *plan,
            uint64_t bytes)
{
  char settings[64];

  if (options->json)
    {
      json_t *object = qm_bench_json_plan (plan);

      json_object_set_new (object, "model", json_string (model->name));
      if (bytes > 0)
        json_object_set_new (object, "fits",
                             json_boolean (plan->memory.total <= bytes));
      qm_bench_print_json (object);
      return;
    }
  qm_methods_format (plan->options.methods, settings, sizeof settings);
  printf ("%s, %s, %s%s: micro-batch %lld, %lld passes in a step\n",
          model->name, qm_precision_name (plan->recipe.precision), settings,
          plan->options.checkpoint ? ", checkpointing" : "",
          (long long) plan->options.micro_batch,
          (long long) plan->accumulation);
  qm_bench_print_memory (&plan->memory);
  if (bytes > 0)
    printf ("%s in %.1f GiB\n",
            plan->memory.total <= bytes ? "fits" : "does not fit",
            (double) bytes / 0x1p30);
}

int
qm_bench_plan (const QmBenchOptions *options)
{
  QmBenchModel model;
  QmPlan *plan = NULL;
  QmTarget target;
  uint64_t bytes;
  QmError error = { 0 };
  QmStatus status = find_target (options, &target, &bytes, &error);

  if (status == QM_OK && bytes == 0
      && (options->micro_batch == NULL
          || strcmp (options->micro_batch, "auto") == 0))
    status = qm_error_set (&error, QM_STATUS_INVALID, "", 0, 0,
                           "--memory or --device has to say for how much "
                           "memory, or --micro-batch for what size");
  if (status == QM_OK)
    status = qm_bench_load_model (options, true, &model, &error);
  if (status != QM_OK)
    return qm_bench_fail (&error);
  status = qm_bench_make_plan (options, &model, &target, bytes, &plan, &error);
  if (status == QM_OK)
    print_plan (options, &model, plan, bytes);
  if (status == QM_OK && options->operators)
    qm_bench_print_operators (plan);
  qm_plan_free (plan);
  qm_bench_clear_model (&model);
  return status == QM_OK ? QM_BENCH_OK : qm_bench_fail (&error);
}

/* Opens the device that was named, or the first one. */
static QmStatus
open_device (const QmBenchOptions *options, QmDevice **device, QmError *error)
{
  QmDeviceInfo first;
  char note[256];
  const char *id = options->device;

  if (id == NULL)
    {
      qm_device_list (&first, 1, note, sizeof note);
      id = first.id;
    }
  if (qm_device_open (id, device, error) == QM_OK)
    return QM_OK;
  if (error->status == QM_STATUS_NOT_FOUND)
    error->status = QM_STATUS_DEVICE;
  return error->status;
}

/* Seconds between two lines of progress. */
#define PROGRESS_TERMINAL 0.2
#define PROGRESS_FILE     5.0

typedef struct Meter
{
  double begin;
  double shown; /* when; 0: never */
  bool terminal;
} Meter;

static double
now (void)
{
  struct timespec time = { 0 };

  clock_gettime (CLOCK_MONOTONIC, &time);
  return (double) time.tv_sec + (double) time.tv_nsec * 1e-9;
}

static bool
on_progress (void *data, double done)
{
  Meter *meter = data;
  double time = now (), spent = time - meter->begin;

  if (done < 1 && meter->shown > 0
      && time - meter->shown
             < (meter->terminal ? PROGRESS_TERMINAL : PROGRESS_FILE))
    return !qm_bench_interrupted ();
  meter->shown = time;
  fprintf (stderr, "%s%3.0f %%, %.0f s left%s", meter->terminal ? "\r" : "",
           done * 100, done > 0 ? spent / done - spent : 0,
           meter->terminal && done < 1 ? "   " : "   \n");
  return !qm_bench_interrupted ();
}

static void
add_times (json_t *object, const char *name, const QmTimes *times)
{
  json_t *inner = json_object ();

  qm_bench_json_number (inner, "mean_s", times->mean);
  qm_bench_json_number (inner, "min_s", times->least);
  qm_bench_json_number (inner, "max_s", times->most);
  json_object_set_new (object, name, inner);
}

/* Where the device is in the catalog, and model FLOPs utilisation there, NaN
 * where the peak is not known. */
static double
utilisation (const QmPlan *plan,
             const QmDeviceInfo *info,
             const QmMeasureResult *result,
             char id[64])
{
  bool tf32 = (plan->options.methods & QM_METHOD_TF32) != 0;
  QmCatalog *catalog;
  const QmGpu *gpu;
  double peak = NAN;

  id[0] = '\0';
  if (qm_bench_load_catalog (&catalog, NULL) != QM_OK)
    return NAN;
  gpu = qm_bench_find_gpu (catalog, info);
  if (gpu != NULL)
    {
      snprintf (id, 64, "%s", gpu->id);
      peak = qm_gpu_peak_tflops (gpu, plan->recipe.precision, tf32);
    }
  qm_catalog_free (catalog);
  return result->tflops / peak;
}

static void
print_run_json (const QmBenchModel *model,
                const QmPlan *plan,
                const QmDeviceInfo *info,
                const QmMeasureResult *result)
{
  json_t *object = qm_bench_json_plan (plan);
  char gpu[64];
  double mfu = utilisation (plan, info, result, gpu);

  json_object_set_new (object, "model", json_string (model->name));
  json_object_set_new (object, "gpu",
                       gpu[0] != '\0' ? json_string (gpu) : json_null ());
  qm_bench_json_number (object, "mfu", mfu);
  json_object_set_new (object, "provenance", json_string ("measured"));
  json_object_set_new (object, "version", json_string (QM_VERSION));
  json_object_set_new (object, "device", qm_bench_json_device (info));
  json_object_set_new (object, "steps", json_integer (plan->recipe.steps));
  json_object_set_new (object, "allocated_bytes",
                       json_integer ((json_int_t) result->allocated));
  add_times (object, "pass", &result->pass);
  add_times (object, "update", &result->update);
  add_times (object, "step", &result->step);
  qm_bench_json_number (object, "days", result->total / SECONDS_PER_DAY);
  qm_bench_json_number (object, "model_tflops", result->tflops);
  if (result->validated.mean > 0)
    {
      add_times (object, "validated_step", &result->validated);
      qm_bench_json_number (object, "loss", result->loss);
    }
  qm_bench_print_json (object);
}

static void
print_run (const QmBenchModel *model,
           const QmPlan *plan,
           const QmDeviceInfo *info,
           const QmMeasureResult *result)
{
  char settings[64], gpu[64];
  double mfu = utilisation (plan, info, result, gpu);

  qm_methods_format (plan->options.methods, settings, sizeof settings);
  printf ("%s, %s, %s%s on %s\n", model->name,
          qm_precision_name (plan->recipe.precision), settings,
          plan->options.checkpoint ? ", checkpointing" : "", info->name);
  printf ("  micro-batch %lld, %lld passes and one update in a step\n",
          (long long) plan->options.micro_batch,
          (long long) plan->accumulation);
  printf ("  pass    %10.3f ms (%.3f to %.3f)\n", result->pass.mean * 1e3,
          result->pass.least * 1e3, result->pass.most * 1e3);
  printf ("  update  %10.3f ms (%.3f to %.3f)\n", result->update.mean * 1e3,
          result->update.least * 1e3, result->update.most * 1e3);
  printf ("  step    %10.3f s, %.3g model TFLOP/s\n", result->step.mean,
          result->tflops);
  if (!isnan (mfu))
    printf ("  utilisation of the peak of %s: %.1f %%\n", gpu, mfu * 100);
  if (result->validated.mean > 0)
    printf ("  whole steps took %.3f s (%+.2f %%), loss %.4f\n",
            result->validated.mean,
            100 * (result->validated.mean / result->step.mean - 1),
            result->loss);
  printf ("  memory  %10.3f GiB\n", (double) result->allocated / 0x1p30);
  printf ("  %lld steps take %.4g days\n", (long long) plan->recipe.steps,
          result->total / SECONDS_PER_DAY);
}

/* What run and train begin with. */
static QmStatus
prepare (const QmBenchOptions *options,
         QmBenchModel *model,
         QmDevice **device,
         QmPlan **plan,
         QmError *error)
{
  const QmDeviceInfo *info;
  QmStatus status = open_device (options, device, error);

  if (status != QM_OK)
    return status;
  info = qm_device_info (*device);
  return qm_bench_make_plan (options, model, &info->target,
                             qm_bench_usable_memory (info), plan, error);
}

int
qm_bench_run (const QmBenchOptions *options)
{
  Meter meter = { .begin = now (), .terminal = isatty (STDERR_FILENO) };
  QmMeasureOptions measure = { .repeat = (int) options->repeat,
                               .validate = options->validate,
                               .seed = (uint64_t) options->seed,
                               .progress = on_progress,
                               .data = &meter };
  QmMeasureResult result;
  QmBenchModel model;
  QmDevice *device = NULL;
  QmPlan *plan = NULL;
  QmError error = { 0 };
  QmStatus status = qm_bench_load_model (options, true, &model, &error);

  if (status != QM_OK)
    return qm_bench_fail (&error);
  status = prepare (options, &model, &device, &plan, &error);
  if (status == QM_OK)
    status = qm_measure (plan, device, &measure, &result, &error);
  if (status != QM_OK && meter.terminal && meter.shown > 0)
    fputc ('\n', stderr);
  if (status == QM_OK && options->json)
    print_run_json (&model, plan, qm_device_info (device), &result);
  else if (status == QM_OK)
    print_run (&model, plan, qm_device_info (device), &result);
  qm_plan_free (plan);
  qm_device_close (device);
  qm_bench_clear_model (&model);
  return status == QM_OK ? QM_BENCH_OK : qm_bench_fail (&error);
}

static QmStatus
read_precision (const char *text, QmCheckOptions *check, QmError *error)
{
  check->tf32 = text != NULL && strcmp (text, "tf32") == 0;
  check->precision = QM_PRECISION_FP32;
  if (text == NULL || check->tf32)
    return QM_OK;
  for (int i = QM_PRECISION_FP32; i <= QM_PRECISION_BF16; i++)
    if (strcmp (text, qm_precision_name ((QmPrecision) i)) == 0)
      {
        check->precision = (QmPrecision) i;
        return QM_OK;
      }
  return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                       "--precision: '%.32s' is not fp32, tf32, fp16 or bf16",
                       text);
}

static void
print_check (const QmBenchOptions *options, const QmCheckResult *result)
{
  if (result->unused > 0)
    fprintf (stderr,
             "qm-bench: %s: %zu tensors are not of this model and were not "
             "used, '%s' among them\n",
             options->weights, result->unused, result->first_unused);
  if (options->json)
    {
      json_t *object = json_object ();

      qm_bench_json_number (object, "loss", result->loss);
      json_object_set_new (object, "parameters",
                           json_integer ((json_int_t) result->parameters));
      json_object_set_new (object, "out", json_string (options->out));
      qm_bench_print_json (object);
    }
  else
    printf ("loss %.9g; gradients of %zu parameters are in %s\n", result->loss,
            result->parameters, options->out);
}

int
qm_bench_check (const QmBenchOptions *options)
{
  QmCheckOptions check = { .checkpoint = options->checkpoint,
                           .weights = options->weights,
                           .batch = options->batch,
                           .out = options->out };
  QmCheckResult result;
  QmBenchModel model = { NULL };
  QmDevice *device = NULL;
  QmError error = { 0 };
  QmStatus status;

  if (options->config == NULL || options->weights == NULL
      || options->batch == NULL || options->out == NULL)
    {
      fprintf (stderr, "qm-bench: check needs --config, --weights, --batch and "
                       "--out\n");
      return QM_BENCH_USAGE;
    }
  status = qm_bench_load_model (options, false, &model, &error);
  if (status == QM_OK)
    status = qm_bench_read_methods (options, &check.methods, &error);
  if (status == QM_OK)
    status = read_precision (options->precision, &check, &error);
  if (status == QM_OK)
    status = open_device (options, &device, &error);
  check.config = &model.config;
  if (status == QM_OK)
    status = qm_check (&check, device, &result, &error);
  if (status == QM_OK)
    print_check (options, &result);
  qm_device_close (device);
  qm_bench_clear_model (&model);
  return status == QM_OK ? QM_BENCH_OK : qm_bench_fail (&error);
}

static bool
on_step (void *data, int64_t step, double loss, double seconds)
{
  const QmBenchOptions *options = data;

  if (options->json)
    {
      json_t *object = json_pack ("{s:I}", "step", (json_int_t) step);

      qm_bench_json_number (object, "loss", loss);
      qm_bench_json_number (object, "seconds", seconds);
      qm_bench_print_json (object);
    }
  else
    printf ("step %lld  loss %.4f  %.3f s\n", (long long) step, loss, seconds);
  fflush (stdout);
  return !qm_bench_interrupted ();
}

/* Takes what the command line says instead of the recipe. */
static QmStatus
override_recipe (const QmBenchOptions *options,
                 QmRecipe *recipe,
                 QmError *error)
{
  double number;

  if (options->learning_rate != NULL)
    {
      if (!qm_number_parse (options->learning_rate, &number) || number < 0)
        return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                             "--learning-rate is a number as 0.001");
      recipe->learning_rate = number;
    }
  if (options->batch_size != NULL)
    {
      if (!qm_number_parse (options->batch_size, &number) || number < 1
          || number > 1e6 || number != floor (number))
        return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                             "--batch-size is a whole number");
      recipe->batch_size = (int64_t) number;
    }
  return QM_OK;
}

static QmStatus
train (const QmBenchOptions *options, QmBenchModel *model, QmError *error)
{
  const char *path = options->text != NULL ? options->text : options->tokens;
  QmTrainOptions training = { .steps = options->steps,
                              .seed = (uint64_t) options->seed,
                              .weights = options->weights,
                              .step = on_step,
                              .data = (void *) options };
  QmTokens tokens = { NULL };
  QmDevice *device = NULL;
  QmPlan *plan = NULL;
  QmStatus status = override_recipe (options, &model->recipe, error);

  if (status == QM_OK)
    status = prepare (options, model, &device, &plan, error);
  if (status == QM_OK)
    status = qm_tokens_read (
        path, options->text == NULL,
        qm_graph_tensor (plan->graph, plan->graph->logits)->shape[1],
        model->recipe.sequence_length, &tokens, error);
  if (status == QM_OK)
    status = qm_train (plan, device, &tokens, &training, error);
  qm_tokens_free (&tokens);
  qm_plan_free (plan);
  qm_device_close (device);
  return status;
}

int
qm_bench_train (const QmBenchOptions *options)
{
  QmBenchModel model;
  QmError error = { 0 };
  QmStatus status;

  if ((options->text == NULL) == (options->tokens == NULL))
    {
      fprintf (stderr, "qm-bench: train needs one of --text and --tokens\n");
      return QM_BENCH_USAGE;
    }
  status = qm_bench_load_model (options, true, &model, &error);
  if (status == QM_OK)
    {
      status = train (options, &model, &error);
      qm_bench_clear_model (&model);
    }
  return status == QM_OK ? QM_BENCH_OK : qm_bench_fail (&error);
}
