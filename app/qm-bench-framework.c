/* SPDX-License-Identifier: Apache-2.0 */

/* qm-bench framework: the same training step in PyTorch and Transformers, by a
 * program of Python that is shipped among the data and speaks JSON lines. */

#include "config.h"

#include "app/qm-bench-events.h"
#include "app/qm-bench-export.h"
#include "app/qm-bench-framework.h"
#include "app/qm-bench-nodes.h"
#include "app/qm-bench-ranks.h"
#include "app/qm-child.h"
#include "data/datadir.h"
#include "data/family.h"
#include "data/flops.h"
#include "data/results-file.h"
#include "data/text.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

#define SECONDS_PER_DAY 86400.0

/* Seconds; compiling a large model takes minutes, in which nothing is said. */
#define PATIENCE 900

/* Seconds to end in, when it was interrupted. */
#define MERCY 0.3

/* No line that it says is longer, in bytes. */
#define MAX_LINE ((size_t) 64 * 1024)

typedef struct Framework
{
  const QmBenchOptions *options;
  const char *python;
  char adapter[PATH_MAX];
  QmBenchModel model;
  unsigned methods;
  QmPlanOptions plan; /* ranks, sharding, offload */
  char devices[QM_BENCH_MOST_RANKS][32];
  QmQuestion question;
  QmAnswer answer;
  QmBenchEvents *events; /* NULL: for people */
  int patience;          /* s */
  bool answered, on_terminal;
} Framework;

static QmStatus
find_adapter (Framework *f, QmError *error)
{
  char folder[PATH_MAX - 32];

  qm_data_dir (folder, sizeof folder);
  snprintf (f->adapter, sizeof f->adapter, "%s/adapters/pytorch.py", folder);
  if (access (f->adapter, R_OK) == 0)
    return QM_OK;
  return qm_error_set (error, QM_STATUS_IO, f->adapter, 0, 0,
                       "cannot be read: %s", strerror (errno));
}

/* Whether PyTorch has such a device may be found out by PyTorch. */
static bool
is_device (const char *text)
{
  const char *colon = strchr (text, ':');
  size_t digits = colon != NULL ? strspn (colon + 1, "0123456789") : 0;

  return strcmp (text, "cpu") == 0
         || (strncmp (text, "cuda:", 5) == 0 && digits > 0 && digits < 5
             && colon[1 + digits] == '\0');
}

/* One device, or as many as work together; without any PyTorch takes the first
 * ones. */
static QmStatus
read_device (Framework *f, QmError *error)
{
  const char *text = f->options->device;
  int ranks = f->plan.ranks;

  f->question.gpus = ranks;
  if (text == NULL)
    return QM_OK;
  if (ranks > 1)
    {
      QmStatus status =
          qm_bench_rank_devices (f->options, ranks, f->devices, error);

      if (status != QM_OK)
        return status;
    }
  else
    snprintf (f->devices[0], sizeof f->devices[0], "%s", text);
  for (int i = 0; i < ranks; i++)
    if (!is_device (f->devices[i]))
      return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                           "--device is cpu or cuda:0, not '%.32s'", text);
  f->question.device = f->devices[0];
  return QM_OK;
}

/* PyTorch has no LAMB, and its Muon wants whole matrices. */
static QmStatus
check_optimizer (const Framework *f, QmError *error)
{
  QmOptimizer optimizer = f->model.recipe.optimizer;

  if (optimizer == QM_OPTIMIZER_LAMB)
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "PyTorch has no lamb, the recipe's optimizer");
  if (optimizer == QM_OPTIMIZER_MUON
      && (f->plan.offload || f->plan.sharding != QM_SHARDING_NONE))
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "the muon of PyTorch updates whole matrices, which "
                         "%s divides",
                         qm_sharding_name (f->plan.sharding));
  return QM_OK;
}

/* What tells pairs from each other has those of all GPUs here, and of one alone
 * there. */
static QmStatus
check_pairs (const Framework *f, QmError *error)
{
  QmFamily family = f->model.config.family;

  if (f->plan.ranks == 1
      || qm_family_info (family)->objective != QM_OBJECTIVE_PAIRS)
    return QM_OK;
  return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                       "a %s model is measured in PyTorch on one GPU alone: on "
                       "several, each of Transformers' tells its pairs from no "
                       "others than its own",
                       qm_family_name (family));
}

static QmStatus
prepare_adapter (Framework *f, QmError *error)
{
  const QmBenchOptions *options = f->options;
  QmStatus status = find_adapter (f, error);

  f->python = options->python != NULL ? options->python : "python3";
  if (status == QM_OK)
    status = qm_bench_load_model (options, true, &f->model, error);
  if (status == QM_OK && f->model.recipe.z_loss > 0)
    status =
        qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                      "models of Transformers have no z_loss, as the recipe "
                      "has one");
  if (status == QM_OK && qm_model_has_teacher (&f->model.config))
    status = qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                           "models of Transformers have no teacher, as this "
                           "one has one");
  if (status == QM_OK && f->model.config.family == QM_FAMILY_DIT)
    status = qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                           "Transformers has no dit model");
  if (status == QM_OK && f->model.recipe.ema_decay > 0)
    status = qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                           "the recipe has an average of weights (ema_decay), "
                           "which is not measured in PyTorch");
  if (status == QM_OK && f->model.recipe.precision == QM_PRECISION_FP8)
    status = qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                           "PyTorch has no FP8 of its own, as the recipe has "
                           "it, and its extensions are not measured");
  if (status == QM_OK)
    status = qm_bench_read_methods (options, &f->methods, error);
  if (status == QM_OK)
    status = qm_bench_read_ranks (options, &f->plan.ranks, error);
  if (status == QM_OK)
    status = qm_bench_read_sharding (options, &f->plan, error);
  if (status == QM_OK)
    status = check_pairs (f, error);
  if (status == QM_OK)
    status = check_optimizer (f, error);
  if (status == QM_OK)
    status = qm_bench_read_samples (options, &f->model.recipe, f->plan.ranks,
                                    &f->question.micro_batch, error);
  f->question.batch_size = f->model.recipe.batch_size;
  f->question.precision = f->model.recipe.precision;
  if (status == QM_OK)
    status = read_device (f, error);
  return status;
}

/* Where results are to go has to be known to be good before any are there. */
static QmStatus
try_results (const QmBenchOptions *options, QmError *error)
{
  QmResultsFile *file;
  bool busy;
  QmStatus status;

  if (options->results == NULL)
    return QM_OK;
  status =
      qm_results_open (options->results, false, false, &busy, &file, error);
  if (status == QM_OK)
    qm_results_close (file);
  return busy ? QM_OK : status;
}

/* What ZeRO is configured with; sizes are filled in by the adapter. */
static json_t *
deepspeed_template (const Framework *f)
{
  QmExport settings = { .name = "",
                        .config = &f->model.config,
                        .recipe = &f->model.recipe,
                        .sharding = f->plan.sharding,
                        .offloading = f->plan.offload,
                        .micro_batch = 1,
                        .accumulation = 1,
                        .gpus = f->plan.ranks };
  json_t *notes, *object;

  if (f->plan.sharding != QM_SHARDING_ZERO_1
      && f->plan.sharding != QM_SHARDING_ZERO_2
      && f->plan.sharding != QM_SHARDING_ZERO_3)
    return json_null ();
  notes = json_array ();
  object = qm_export_deepspeed (&settings, notes);
  json_decref (notes);
  return object;
}

static json_t *
json_settings (unsigned methods)
{
  return json_pack ("{s:b, s:b, s:b}", "compile",
                    (methods & QM_METHOD_COMPILE) != 0, "kernels",
                    (methods & QM_METHOD_KERNELS) != 0, "tf32",
                    (methods & QM_METHOD_TF32) != 0);
}

/* Of each rank; none where PyTorch is to choose. */
static json_t *
json_devices (const Framework *f)
{
  json_t *array = json_array ();

  for (int i = 0; f->question.device != NULL && i < f->plan.ranks; i++)
    json_array_append_new (array, json_string (f->devices[i]));
  return array;
}

/* The line that is sent. */
static char *
make_question (const Framework *f)
{
  const QmBenchOptions *options = f->options;
  json_t *object = json_object ();
  char *text;

  json_object_set_new (object, "config",
                       qm_bench_json_config (&f->model.config));
  json_object_set_new (object, "recipe",
                       qm_bench_json_recipe (&f->model.recipe));
  json_object_set_new (object, "parameters",
                       json_integer (
                           (json_int_t) qm_parameter_count (&f->model.config)));
  json_object_set_new (object, "settings", json_settings (f->methods));
  json_object_set_new (object, "lenient",
                       json_boolean (f->methods == QM_METHOD_ALL));
  json_object_set_new (object, "checkpoint",
                       json_boolean (options->checkpoint));
  json_object_set_new (object, "sharding",
                       json_string (qm_sharding_name (f->plan.sharding)));
  json_object_set_new (object, "offload", json_boolean (f->plan.offload));
  json_object_set_new (object, "gpus", json_integer (f->plan.ranks));
  json_object_set_new (object, "deepspeed", deepspeed_template (f));
  json_object_set_new (object, "block",
                       json_string (
                           qm_export_block_class (f->model.config.family)));
  json_object_set_new (object, "micro_batch",
                       json_integer ((json_int_t) f->question.micro_batch));
  json_object_set_new (object, "devices", json_devices (f));
  json_object_set_new (object, "deterministic",
                       json_boolean (options->deterministic));
  json_object_set_new (object, "seed", json_integer (options->seed));
  text = json_dumps (object, JSON_COMPACT | JSON_REAL_PRECISION (17));
  json_decref (object);
  return qm_text_end_line (text);
}

static void
on_glance_at_adapter (void *data)
{
  qm_bench_events_alive (data);
}

static void
show_progress (const Framework *f)
{
  char note[sizeof f->answer.note];

  if (f->events != NULL)
    {
      qm_bench_events_progress (f->events, -1, f->answer.progress, NAN,
                                f->answer.note);
      return;
    }
  qm_text_escape (f->answer.note, note, sizeof note);
  fprintf (stderr, "%s%3.0f %%  %s%s", f->on_terminal ? "\r\033[K" : "",
           f->answer.progress * 100, note, f->on_terminal ? "" : "\n");
}

static bool
is_interrupted (void *data)
{
  return qm_bench_interrupted ();
}

/* What is wrong with what was heard; QM_OK where it is a line, or the end. */
static QmStatus
check_news (const Framework *f, QmChildNewsKind kind, QmError *error)
{
  switch (kind)
    {
    case QM_CHILD_STOPPED:
      return qm_error_set (error, QM_STATUS_INTERRUPTED, "", 0, 0,
                           "interrupted");
    case QM_CHILD_SILENT:
      return qm_error_set (error, QM_STATUS_IO, f->python, 0, 0,
                           "said nothing for %d s and was given up",
                           f->patience);
    case QM_CHILD_TOO_LONG:
      return qm_error_set (error, QM_STATUS_INVALID, f->python, 0, 0,
                           "said a line of more than %d KiB",
                           (int) (MAX_LINE / 1024));
    case QM_CHILD_NO_TEXT:
      return qm_error_set (error, QM_STATUS_INVALID, f->python, 0, 0,
                           "said something that is no text");
    case QM_CHILD_SAID:
    case QM_CHILD_ENDED:
    case QM_CHILD_NOBODY:
      break;
    }
  return QM_OK;
}

/* Listens until the result or the end. */
static QmStatus
listen_for_result (Framework *f, QmChild *child, QmError *error)
{
  const QmChildWait wait = { .patience = f->patience,
                             .stop = is_interrupted,
                             .glance = on_glance_at_adapter,
                             .data = f->events };

  while (!f->answered)
    {
      QmChildNews news = qm_children_hear (&child, 1, &wait);
      QmStatus status = check_news (f, news.kind, error);

      if (status != QM_OK || news.kind != QM_CHILD_SAID)
        return status;
      qm_child_got_on (child);
      status = qm_bench_read_answer (news.text, f->python, &f->question,
                                     &f->answer, error);
      if (status != QM_OK)
        return status;
      if (f->answer.kind == QM_ANSWER_PROGRESS)
        show_progress (f);
      else
        f->answered = true;
    }
  return QM_OK;
}

/* Turns the end of the child into what is to be said. */
static QmStatus
judge_end (const Framework *f, QmStatus status, const char *how, QmError *error)
{
  if (status != QM_OK)
    return status;
  if (!f->answered)
    return qm_error_set (error, QM_STATUS_IO, f->python, 0, 0,
                         "%s without a result", how);
  if (f->answer.kind != QM_ANSWER_ERROR)
    return QM_OK;
  return qm_error_set (error, f->answer.trouble, f->python, 0, 0, "%s%s",
                       f->answer.trouble == QM_STATUS_UNSUPPORTED
                           ? "not supported: "
                           : "",
                       f->answer.message);
}

/* Asks a child that was started, and ends it. */
static QmStatus
question_child (Framework *f,
                QmChild *child,
                const char *question,
                QmError *error)
{
  QmStatus status;
  char how[128];

  /* PyTorch alone finds out what the device is. */
  qm_bench_events_begin (f->events, NULL, NULL, f->options->results);
  qm_child_send (child, question, strlen (question));
  status = listen_for_result (f, child, error);
  if (status == QM_STATUS_INTERRUPTED)
    qm_children_end (&child, 1, &(QmChildMercy){ SIGINT, MERCY, NULL, NULL });
  else
    qm_children_end (&child, 1, &(QmChildMercy){ 0, 0, NULL, NULL });
  qm_child_describe_end (qm_child_end (child), how, sizeof how);
  status = judge_end (f, status, how, error);
  if (f->on_terminal)
    fputc ('\n', stderr);
  if (status != QM_OK && status != QM_STATUS_INTERRUPTED
      && status != QM_STATUS_UNSUPPORTED && status != QM_STATUS_NOT_FOUND)
    qm_child_print_words (child, "  | ", stderr);
  return status;
}

static QmStatus
ask_adapter (Framework *f, QmError *error)
{
  const char *const arguments[] = { f->python, f->adapter, NULL };
  const QmChildStart start = {
    .program = f->python,
    .arguments = arguments,
    .pipes = QM_CHILD_IN | QM_CHILD_OUT | QM_CHILD_ERR,
    .longest = MAX_LINE,
  };
  char *question = make_question (f);
  QmError ours = { 0 };
  QmChild *child;
  QmStatus status;

  if (question == NULL)
    return qm_error_no_memory (error);
  f->on_terminal = f->events == NULL && isatty (STDERR_FILENO);
  status = qm_child_start (&start, &child, &ours);
  if (status == QM_OK)
    status = question_child (f, child, question, error);
  else
    qm_error_set (error, status, f->python, 0, 0, "%s", ours.message);
  qm_child_free (child);
  free (question);
  return status;
}

/* Mean, least and most of the samples. */
static double
add_answer_times (json_t *object,
                  const char *name,
                  const double times[QM_ANSWER_SAMPLES])
{
  double sum = 0, least = times[0], most = times[0];
  json_t *inner = json_object ();

  for (int i = 0; i < QM_ANSWER_SAMPLES; i++)
    {
      sum += times[i];
      least = fmin (least, times[i]);
      most = fmax (most, times[i]);
    }
  qm_bench_json_number (inner, "mean_s", sum / QM_ANSWER_SAMPLES);
  qm_bench_json_number (inner, "min_s", least);
  qm_bench_json_number (inner, "max_s", most);
  json_object_set_new (object, name, inner);
  return sum / QM_ANSWER_SAMPLES;
}

/* The share of the GPU's peak, where it is in the catalog. */
static void
add_utilisation (const Framework *f, json_t *object, double tflops)
{
  const QmRecipe *recipe = &f->model.recipe;
  bool tf32 = (f->methods & QM_METHOD_TF32) != 0;
  QmCatalog *catalog = NULL;
  const QmGpu *gpu = NULL;
  double mfu = NAN;

  if (qm_bench_load_catalog (&catalog, NULL) == QM_OK)
    gpu = qm_bench_find_gpu (catalog, &f->answer.device);
  if (gpu != NULL)
    mfu = tflops / qm_gpu_peak_tflops (gpu, recipe->precision, tf32);
  json_object_set_new (object, "gpu",
                       gpu != NULL ? json_string (gpu->id) : json_null ());
  qm_bench_json_number (object, "model_tflops", tflops);
  qm_bench_json_number (object, "mfu", mfu);
  qm_catalog_free (catalog);
}

static void
add_measured (const Framework *f, json_t *object, int64_t accumulation)
{
  const QmRecipe *recipe = &f->model.recipe;
  double pass = add_answer_times (object, "pass", f->answer.pass);
  double update = add_answer_times (object, "update", f->answer.update);
  double step = (double) accumulation * pass + update;
  json_t *inner = json_object ();

  qm_bench_json_number (inner, "mean_s", step);
  qm_bench_json_number (inner, "min_s", step);
  qm_bench_json_number (inner, "max_s", step);
  json_object_set_new (object, "step", inner);
  qm_bench_json_number (object, "days",
                        step * (double) recipe->steps / SECONDS_PER_DAY);
  add_utilisation (f, object,
                   qm_flops_train_sample (&f->model.config, recipe)
                       * (double) (accumulation * f->answer.micro_batch) / step
                       * 1e-12);
  inner = json_object ();
  qm_bench_json_whole (inner, "used_bytes", f->answer.used_bytes);
  json_object_set_new (inner, "source",
                       f->answer.used_bytes >= 0 ? json_string ("torch")
                                                 : json_null ());
  json_object_set_new (object, "memory_use", inner);
}

static void
add_shortage (const Framework *f, json_t *object)
{
  const QmAnswer *answer = &f->answer;
  char reason[256];

  snprintf (reason, sizeof reason,
            "PyTorch ran out of the %s's memory at a micro-batch of %lld, with "
            "%.1f GiB of %.1f GiB asked for",
            answer->host_is_short ? "host" : "device",
            (long long) answer->micro_batch,
            (double) answer->needs_bytes / 0x1p30,
            (double) answer->available_bytes / 0x1p30);
  json_object_set_new (object, "reason", json_string (reason));
  json_object_set_new (object, "cause", json_string ("memory"));
  json_object_set_new (object, "memory",
                       json_string (answer->host_is_short ? "host" : "device"));
  qm_bench_json_whole (object, "needs_bytes", answer->needs_bytes);
  qm_bench_json_whole (object, "available_bytes", answer->available_bytes);
  qm_bench_say ("%s", reason);
}

static void
add_method (const Framework *f, json_t *object, int64_t accumulation)
{
  char settings[64];

  qm_methods_format (f->methods, settings, sizeof settings);
  json_object_set_new (object, "settings", json_string (settings));
  json_object_set_new (object, "checkpointing",
                       json_boolean (f->options->checkpoint));
  json_object_set_new (object, "sharding",
                       json_string (qm_sharding_name (f->plan.sharding)));
  json_object_set_new (object, "offloading", json_boolean (f->plan.offload));
  json_object_set_new (object, "precision",
                       json_string (
                           qm_precision_name (f->model.recipe.precision)));
  qm_bench_json_whole (object, "micro_batch", f->answer.micro_batch);
  qm_bench_json_whole (object, "accumulation", accumulation);
  json_object_set_new (object, "deterministic",
                       json_boolean (f->options->deterministic));
  qm_bench_json_whole (object, "seed", f->options->seed);
  qm_bench_json_whole (object, "gpus", f->plan.ranks);
  if (f->plan.ranks > 1 && f->answer.sums[0] != '\0')
    json_object_set_new (object, "sums", json_string (f->answer.sums));
  if (f->plan.ranks > 1)
    qm_bench_json_nodes (object, f->options);
}

static void
add_engine (const Framework *f, json_t *object)
{
  const QmAnswer *answer = &f->answer;
  json_t *inner = json_pack ("{s:s, s:s, s:s, s:s}", "torch", answer->torch,
                             "transformers", answer->transformers, "cuda",
                             answer->cuda, "python", answer->python);
  json_t *notes = json_array ();

  if (answer->deepspeed[0] != '\0')
    json_object_set_new (inner, "deepspeed", json_string (answer->deepspeed));
  json_object_set_new (object, "engine", json_string ("pytorch"));
  json_object_set_new (object, "framework", inner);
  json_object_set_new (object, "version", json_string (QM_VERSION));
  json_object_set_new (object, "attention",
                       answer->attention[0] != '\0'
                           ? json_string (answer->attention)
                           : json_null ());
  for (size_t i = 0; i < answer->n_notes; i++)
    json_array_append_new (notes, json_string (answer->notes[i]));
  json_object_set_new (object, "notes", notes);
}

/* What PyTorch knows of it. */
static json_t *
json_device (const QmDeviceInfo *info)
{
  json_t *object = qm_bench_json_device (info);

  json_object_del (object, "free_bytes");
  json_object_del (object, "bus");
  json_object_del (object, "driver_cuda");
  json_object_del (object, "runtime_cuda");
  return object;
}

static json_t *
make_result (const Framework *f)
{
  const QmAnswer *answer = &f->answer;
  int64_t samples = answer->micro_batch * f->plan.ranks;
  int64_t accumulation = (f->question.batch_size + samples - 1) / samples;
  bool measured = answer->kind == QM_ANSWER_MEASURED;
  char key[QM_MODEL_KEY_BYTES], time[QM_RESULTS_TIME_BYTES];
  json_t *object = json_object (), *inner;

  qm_model_key (&f->model.config, &f->model.recipe, key);
  qm_results_now (time);
  qm_bench_json_whole (object, "schema", QM_RESULTS_SCHEMA);
  json_object_set_new (object, "status",
                       json_string (qm_result_status_name (
                           measured ? QM_RESULT_MEASURED
                                    : QM_RESULT_INFEASIBLE)));
  json_object_set_new (object, "time", json_string (time));
  json_object_set_new (object, "model", json_string (f->model.name));
  json_object_set_new (object, "model_key", json_string (key));
  add_engine (f, object);
  add_method (f, object, accumulation);
  json_object_set_new (object, "steps",
                       json_integer ((json_int_t) f->model.recipe.steps));
  json_object_set_new (object, "device", json_device (&answer->device));
  json_object_set_new (object, "machine",
                       qm_bench_json_machine (&answer->device));
  json_object_set_new (object, "provenance", json_string ("measured"));
  if (measured)
    add_measured (f, object, accumulation);
  else
    add_shortage (f, object);
  inner = json_object ();
  qm_bench_json_number (inner, "load", answer->load);
  qm_bench_json_number (inner, "search", answer->search);
  qm_bench_json_number (inner, "measure", answer->measure);
  qm_bench_json_number (inner, "total", answer->total);
  json_object_set_new (object, "phases_s", inner);
  return object;
}

static QmStatus
append_result (const char *path, const json_t *object, QmError *error)
{
  QmResultsFile *file;
  bool busy;
  QmStatus status = qm_results_open (path, false, true, &busy, &file, error);

  if (status != QM_OK)
    return status;
  status = qm_results_append (file, object, error);
  qm_results_close (file);
  return status;
}

static double
mean_of (const json_t *object, const char *name)
{
  return json_number_value (
      json_object_get (json_object_get (object, name), "mean_s"));
}

static void
print_result (const Framework *f, const json_t *object)
{
  const QmAnswer *answer = &f->answer;
  char settings[64], way[QM_BENCH_WAY_BYTES], times[16] = "", days[32];

  qm_methods_format (f->methods, settings, sizeof settings);
  if (f->plan.ranks > 1)
    snprintf (times, sizeof times, "%d x ", f->plan.ranks);
  qm_bench_format_way (f->options->checkpoint, f->plan.sharding,
                       f->plan.offload, way);
  qm_bench_print ("%s, %s, %s%s%s on %s%s", f->model.name,
                  qm_precision_name (f->model.recipe.precision), settings,
                  way[0] != '\0' ? ", " : "", way, times, answer->device.name);
  qm_bench_print ("  PyTorch %s, Transformers %s", answer->torch,
                  answer->transformers);
  for (size_t i = 0; i < answer->n_notes; i++)
    qm_bench_print ("  %s", answer->notes[i]);
  if (answer->kind == QM_ANSWER_INFEASIBLE)
    return;
  printf ("  micro-batch %lld, %lld passes and one update in a step\n",
          (long long) answer->micro_batch,
          (long long) json_integer_value (
              json_object_get (object, "accumulation")));
  printf ("  pass    %10.3f ms\n  update  %10.3f ms\n  step    %10.3f ms\n",
          mean_of (object, "pass") * 1e3, mean_of (object, "update") * 1e3,
          mean_of (object, "step") * 1e3);
  if (answer->used_bytes >= 0)
    printf ("  memory  %.3f GiB\n", (double) answer->used_bytes / 0x1p30);
  printf ("  %lld steps take %s days\n", (long long) f->model.recipe.steps,
          qm_bench_format_days (
              json_number_value (json_object_get (object, "days")), 4, days));
}

static QmStatus
report (const Framework *f, QmError *error)
{
  json_t *object = make_result (f);
  QmStatus status = QM_OK;

  if (f->options->results != NULL)
    status = append_result (f->options->results, object, error);
  if (f->events != NULL)
    {
      qm_bench_events_say (f->events, "result", object);
      qm_bench_events_end (f->events, NULL);
    }
  else if (f->options->json)
    qm_bench_print_json (object);
  else
    {
      print_result (f, object);
      json_decref (object);
    }
  return status;
}

int
qm_bench_framework (const QmBenchOptions *options)
{
  Framework *f = calloc (1, sizeof *f);
  QmError error = { 0 };
  QmStatus status;
  int result;

  if (f == NULL)
    {
      qm_error_no_memory (&error);
      return qm_bench_fail (&error);
    }
  f->options = options;
  f->patience = options->patience > 0 ? (int) options->patience : PATIENCE;
  f->events = options->events ? qm_bench_events_new () : NULL;
  status = prepare_adapter (f, &error);
  if (status == QM_OK)
    status = try_results (options, &error);
  if (status == QM_OK)
    status = ask_adapter (f, &error);
  if (status == QM_OK)
    status = report (f, &error);
  if (status != QM_OK)
    qm_bench_events_error (f->events, &error, NULL);
  result = status != QM_OK                          ? qm_bench_fail (&error)
           : f->answer.kind == QM_ANSWER_INFEASIBLE ? QM_BENCH_FULL
                                                    : QM_BENCH_OK;
  qm_bench_events_free (f->events);
  qm_bench_clear_model (&f->model);
  free (f);
  return result;
}
