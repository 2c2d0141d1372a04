/* SPDX-License-Identifier: Apache-2.0 */

/* qm-bench export: from a result, or from what the options say. */

#include "app/qm-bench-export.h"

#include "app/qm-bench.h"
#include "data/family.h"
#include "data/file.h"
#include "data/results.h"
#include "data/text.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

/* Everything of one export. */
typedef struct Export
{
  const QmBenchOptions *options;
  QmBenchModel model;
  QmResults *results;
  QmExport settings;
  char folder[64];
  json_t *notes;
} Export;

/* Whether the user may have meant this result. */
static bool
is_meant (const QmBenchOptions *options, const QmResult *result)
{
  return result->status == QM_RESULT_MEASURED
         && (options->model == NULL
             || strcmp (options->model, result->model) == 0)
         && (options->line == 0 || options->line == result->line)
         && (options->gpus == 0 || options->gpus == result->gpus);
}

/* The one result that is meant, or with --best the fastest of them. */
static QmStatus
choose_result (const QmBenchOptions *options,
               const QmResults *results,
               const QmResult **chosen,
               QmError *error)
{
  size_t n, found = 0;
  const QmResult *list = qm_results_list (results, &n);

  *chosen = NULL;
  for (size_t i = 0; i < n; i++)
    {
      if (!is_meant (options, &list[i]))
        continue;
      found++;
      if (*chosen != NULL && strcmp ((*chosen)->model, list[i].model) != 0)
        return qm_error_set (error, QM_STATUS_INVALID, options->result, 0, 0,
                             "has results of several models; --model says "
                             "which");
      if (*chosen == NULL || list[i].days < (*chosen)->days)
        *chosen = &list[i];
    }
  if (found == 0)
    return qm_error_set (error, QM_STATUS_NOT_FOUND, options->result, 0, 0,
                         "has no measured result of that kind");
  if (found > 1 && !options->best)
    return qm_error_set (error, QM_STATUS_INVALID, options->result, 0, 0,
                         "has %zu such results; --best takes the fastest, "
                         "--line the one in that line",
                         found);
  return QM_OK;
}

/* The model that a result is of. */
static QmStatus
load_model_of (Export *export, const QmResult *result, QmError *error)
{
  QmBenchOptions options = *export->options;
  char key[QM_MODEL_KEY_BYTES];
  QmStatus status;

  if (options.config == NULL)
    options.model = result->model;
  else
    options.model = NULL;
  status = qm_bench_load_model (&options, true, &export->model, error);
  if (status != QM_OK)
    return status;
  qm_model_key (&export->model.config, &export->model.recipe, key);
  if (strcmp (key, result->model_key) == 0)
    return QM_OK;
  return qm_error_set (
      error, QM_STATUS_INVALID, result->file, result->line, 1,
      "is of another configuration or recipe than %s; --config "
      "and --recipe say which",
      export->model.name);
}

static QmStatus
read_result (Export *export, QmError *error)
{
  QmExport *settings = &export->settings;
  const QmResult *result;
  QmStatus status;

  export->results = qm_results_new ();
  if (export->results == NULL)
    return qm_error_no_memory (error);
  status = qm_results_read (export->results, export->options->result, NULL,
                            NULL, error);
  if (status == QM_OK)
    status = choose_result (export->options, export->results, &result, error);
  if (status == QM_OK)
    status = load_model_of (export, result, error);
  if (status != QM_OK)
    return status;
  if (!qm_methods_parse (result->settings, &settings->methods))
    return qm_error_set (error, QM_STATUS_INVALID, result->file, result->line,
                         1, "settings: %s is not known", result->settings);
  settings->checkpoint = result->checkpointing;
  qm_sharding_parse (result->sharding, &settings->sharding);
  settings->offloading = result->offloading;
  settings->micro_batch = result->micro_batch;
  settings->gpus = result->gpus;
  settings->nodes = result->nodes;
  if (strcmp (result->engine, "quartermaster") == 0)
    json_array_append_new (export->notes,
                           json_string (
                               "the micro-batch was chosen for the engine of "
                               "Quartermaster; PyTorch may need more memory: "
                               "qm-bench framework finds out"));
  return QM_OK;
}

static QmStatus
read_options (Export *export, QmError *error)
{
  const QmBenchOptions *options = export->options;
  QmExport *settings = &export->settings;
  QmPlanOptions plan = { .ranks = options->gpus > 1 ? (int) options->gpus : 1 };
  QmStatus status = qm_bench_load_model (options, true, &export->model, error);

  if (status == QM_OK)
    status = qm_bench_read_methods (options, &settings->methods, error);
  if (status == QM_OK)
    status = qm_bench_read_sharding (options, &plan, error);
  if (status != QM_OK)
    return status;
  settings->checkpoint = options->checkpoint;
  settings->sharding = plan.sharding;
  settings->offloading = plan.offload;
  settings->gpus = plan.ranks;
  settings->nodes = 1;
  if (!qm_bench_read_count ("--micro-batch", options->micro_batch,
                            &settings->micro_batch)
      || settings->micro_batch < 1)
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "--micro-batch is a number from 1 on");
  return QM_OK;
}

/* The passes of one GPU that make a step. */
static QmStatus
find_accumulation (Export *export, QmError *error)
{
  const char *result = export->options->result;
  QmExport *settings = &export->settings;
  int64_t samples = settings->micro_batch * settings->gpus;
  int64_t batch = export->model.recipe.batch_size;

  if (samples > batch)
    return qm_error_set (error,
                         result != NULL ? QM_STATUS_INVALID : QM_STATUS_USAGE,
                         result, 0, 0,
                         "a micro-batch of %lld on each of %lld GPUs is more "
                         "than the %lld samples of a step",
                         (long long) settings->micro_batch,
                         (long long) settings->gpus, (long long) batch);
  settings->accumulation = (batch + samples - 1) / samples;
  return QM_OK;
}

/* A folder is named like the model, without what leads elsewhere. */
static void
name_folder (Export *export)
{
  const char *slash = strrchr (export->model.name, '/');

  char name[51];

  snprintf (name, sizeof name, "%.50s",
            slash != NULL && slash[1] != '\0' ? slash + 1 : export->model.name);
  qm_text_trim (name);
  snprintf (export->folder, sizeof export->folder, "%s-output", name);
  export->settings.name = export->folder;
  export->settings.config = &export->model.config;
  export->settings.recipe = &export->model.recipe;
}

static void
print_notes (const json_t *notes)
{
  char line[1024];
  size_t i;
  json_t *note;

  json_array_foreach ((json_t *) notes, i, note)
      fprintf (stderr, "note: %s\n",
               qm_text_escape (json_string_value (note), line, sizeof line));
}

/* Settings to a file or the standard output, and notes besides. */
static QmStatus
print_settings (const Export *export,
                const char *format,
                json_t *object,
                QmError *error)
{
  char *text = json_dumps (object, JSON_INDENT (2) | JSON_REAL_PRECISION (12));
  QmStatus status = QM_OK;

  if (text == NULL)
    return qm_error_no_memory (error);
  if (export->options->out != NULL)
    status = qm_file_write (export->options->out, text, error);
  else if (!export->options->json)
    qm_bench_put_json (text);
  free (text);
  if (status != QM_OK)
    return status;
  if (export->options->json)
    qm_bench_print_json (json_pack ("{s:s, s:O, s:O}", "format", format,
                                    "arguments", object, "notes",
                                    export->notes));
  else
    print_notes (export->notes);
  return QM_OK;
}

/* Settings can say no more than Adam and AdamW: those of DeepSpeed for its LAMB
 * limit the trust ratio, which the recipe's does not. */
static QmStatus
check_optimizer (const QmRecipe *recipe, QmError *error)
{
  if (recipe->optimizer == QM_OPTIMIZER_ADAM
      || recipe->optimizer == QM_OPTIMIZER_ADAMW)
    return QM_OK;
  return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                       "the recipe's optimizer, %s, is none that the settings "
                       "of Transformers or DeepSpeed can name",
                       qm_optimizer_name (recipe->optimizer));
}

/* Both know fp16 and bf16; FP8 is of extensions that settings of either do not
 * reach, as torchao and Transformer Engine. */
static QmStatus
check_precision (const QmRecipe *recipe, QmError *error)
{
  if (recipe->precision != QM_PRECISION_FP8)
    return QM_OK;
  return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                       "the recipe's precision, fp8, is none that the settings "
                       "of Transformers or DeepSpeed can name");
}

/* No class of Transformers is trained so. */
static QmStatus
check_teacher (const QmModelConfig *config, QmError *error)
{
  if (config->family == QM_FAMILY_DIT)
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "Transformers has no dit model: there is nothing that "
                         "settings could be for");
  if (qm_family_info (config->family)->objective == QM_OBJECTIVE_PAIRS)
    return qm_error_set (
        error, QM_STATUS_UNSUPPORTED, "", 0, 0,
        "with Trainer or DeepSpeed a %s model would tell pairs "
        "from those of its own micro-batch alone: there is "
        "nothing that settings could be for",
        qm_family_name (config->family));
  return qm_model_has_teacher (config)
             ? qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                             "models of Transformers have no teacher, as this "
                             "one has one: there is nothing that settings "
                             "could be for")
             : QM_OK;
}

/* What settings can say. */
static QmStatus
check_exportable (const QmBenchModel *model, QmError *error)
{
  QmStatus status = check_optimizer (&model->recipe, error);

  if (status == QM_OK)
    status = check_precision (&model->recipe, error);
  return status == QM_OK ? check_teacher (&model->config, error) : status;
}

/* Adds to a command line; a word that a shell would read otherwise in quotes.
 * False where there is no room. */
static bool
add_word (char *line, size_t size, const char *option, const char *word)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-";
  size_t at = strlen (line);
  int written;

  if (word[strspn (word, plain)] == '\0' && word[0] != '\0')
    written = snprintf (line + at, size - at, " %s %s", option, word);
  else if (strchr (word, '\'') == NULL)
    written = snprintf (line + at, size - at, " %s '%s'", option, word);
  else
    return false;
  return written > 0 && (size_t) written < size - at;
}

/* Adds what names the model: files, or its id. */
static bool
add_model_words (const QmBenchModel *model,
                 const QmBenchOptions *options,
                 char *line,
                 size_t size)
{
  if (options->config == NULL)
    return add_word (line, size, "--model", model->name)
           && (options->recipe == NULL
               || add_word (line, size, "--recipe", options->recipe));
  return options->recipe != NULL
         && add_word (line, size, "--config", options->config)
         && add_word (line, size, "--recipe", options->recipe);
}

bool
qm_bench_format_export (const QmBenchModel *model,
                        const QmBenchOptions *options,
                        const QmPlanOptions *way,
                        char *line,
                        size_t size)
{
  bool divides = way->sharding != QM_SHARDING_NONE, fine;
  char number[32], methods[64];

  if (check_exportable (model, &(QmError){ 0 }) != QM_OK
      || way->micro_batch * (way->ranks > 1 ? way->ranks : 1)
             > model->recipe.batch_size
      || (divides && !way->offload && way->ranks < 2))
    return false;
  snprintf (line, size, "qm-bench export");
  snprintf (number, sizeof number, "%lld", (long long) way->micro_batch);
  qm_methods_format (way->methods, methods, sizeof methods);
  fine = add_model_words (model, options, line, size)
         && add_word (line, size, "--micro-batch", number);
  if (fine && way->methods != QM_METHOD_ALL)
    fine = add_word (line, size, "--settings", methods);
  if (fine && way->checkpoint)
    fine = strlen (line) + sizeof " --checkpoint" <= size
           && strcat (line, " --checkpoint") != NULL;
  if (fine && divides)
    fine = add_word (line, size, way->offload ? "--offload" : "--sharding",
                     qm_sharding_name (way->sharding));
  snprintf (number, sizeof number, "%d", way->ranks);
  return fine && (way->ranks < 2 || add_word (line, size, "--gpus", number));
}

static QmStatus
run_export (Export *export, const char *format, QmError *error)
{
  bool deepspeed = strcmp (format, "deepspeed") == 0;
  QmStatus status;
  json_t *object;

  status = export->options->result != NULL ? read_result (export, error)
                                           : read_options (export, error);
  if (status == QM_OK)
    status = check_exportable (&export->model, error);
  if (status == QM_OK)
    status = find_accumulation (export, error);
  if (status != QM_OK)
    return status;
  name_folder (export);
  object = deepspeed
               ? qm_export_deepspeed (&export->settings, export->notes)
               : qm_export_transformers (&export->settings, export->notes);
  status = print_settings (export, format, object, error);
  json_decref (object);
  return status;
}

int
qm_bench_export (const QmBenchOptions *options)
{
  Export export = { .options = options };
  const char *format =
      options->format != NULL ? options->format : "transformers";
  QmError error = { 0 };
  QmStatus status;

  if (strcmp (format, "transformers") != 0 && strcmp (format, "deepspeed") != 0)
    {
      qm_bench_say ("--format is transformers or deepspeed, not '%.32s'",
                    format);
      return QM_BENCH_USAGE;
    }
  if ((options->result == NULL) == (options->micro_batch == NULL))
    {
      fprintf (stderr, "qm-bench: export needs either a --result or a model "
                       "with its --micro-batch\n");
      return QM_BENCH_USAGE;
    }
  export.notes = json_array ();
  status = run_export (&export, format, &error);
  json_decref (export.notes);
  qm_results_free (export.results);
  qm_bench_clear_model (&export.model);
  return status == QM_OK ? QM_BENCH_OK : qm_bench_fail (&error);
}
