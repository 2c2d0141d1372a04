/* SPDX-License-Identifier: Apache-2.0 */

#include "app/qm-bench.h"

#include "data/datadir.h"
#include "data/text.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_COUNT INT64_C (1000000000)

typedef enum Kind
{
  TEXT,
  COUNT,
  FLAG
} Kind;

/* Which commands take an option. */
enum
{
  DEVICES = 1,
  PLAN = 2,
  RUN = 4,
  CHECK = 8,
  TRAIN = 16,
  MODEL = PLAN | RUN | TRAIN
};

typedef struct Option
{
  const char *name;
  Kind kind;
  unsigned commands;
  size_t offset;
} Option;

#define FIELD(name) offsetof (QmBenchOptions, name)

static const Option known[] = {
  { "--model", TEXT, MODEL, FIELD (model) },
  { "--config", TEXT, MODEL | CHECK, FIELD (config) },
  { "--recipe", TEXT, MODEL, FIELD (recipe) },
  { "--settings", TEXT, MODEL | CHECK, FIELD (settings) },
  { "--micro-batch", TEXT, MODEL, FIELD (micro_batch) },
  { "--device", TEXT, MODEL | CHECK, FIELD (device) },
  { "--memory", TEXT, PLAN, FIELD (memory) },
  { "--architecture", TEXT, PLAN, FIELD (architecture) },
  { "--repeat", COUNT, RUN, FIELD (repeat) },
  { "--validate", COUNT, RUN, FIELD (validate) },
  { "--seed", COUNT, RUN | TRAIN, FIELD (seed) },
  { "--weights", TEXT, CHECK | TRAIN, FIELD (weights) },
  { "--batch", TEXT, CHECK, FIELD (batch) },
  { "--out", TEXT, CHECK, FIELD (out) },
  { "--precision", TEXT, CHECK, FIELD (precision) },
  { "--text", TEXT, TRAIN, FIELD (text) },
  { "--tokens", TEXT, TRAIN, FIELD (tokens) },
  { "--steps", COUNT, TRAIN, FIELD (steps) },
  { "--batch-size", TEXT, TRAIN, FIELD (batch_size) },
  { "--learning-rate", TEXT, TRAIN, FIELD (learning_rate) },
  { "--checkpoint", FLAG, MODEL | CHECK, FIELD (checkpoint) },
  { "--operators", FLAG, PLAN, FIELD (operators) },
  { "--json", FLAG, DEVICES | MODEL | CHECK, FIELD (json) },
};

#define N_KNOWN (sizeof known / sizeof known[0])

static unsigned
command_bit (const char *command)
{
  static const char *const names[] = { "devices", "plan", "run", "check",
                                       "train" };

  for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp (names[i], command) == 0)
      return 1u << i;
  return 0;
}

static bool
read_count (const char *name, const char *text, int64_t *count)
{
  char *end;
  long long value;

  errno = 0;
  value = strtoll (text, &end, 10);
  if (end == text || *end != '\0' || errno != 0 || value < 0
      || value > MAX_COUNT)
    {
      fprintf (stderr, "qm-bench: %s: '%.32s' is no whole number up to %lld\n",
               name, text, (long long) MAX_COUNT);
      return false;
    }
  *count = value;
  return true;
}

static const Option *
find_option (const char *argument, size_t length)
{
  for (size_t i = 0; i < N_KNOWN; i++)
    if (strlen (known[i].name) == length
        && strncmp (known[i].name, argument, length) == 0)
      return &known[i];
  return NULL;
}

/* Handles argv[*at], and moves *at over what it took. */
static bool
read_option (int argc, char **argv, int *at, QmBenchOptions *options)
{
  const char *argument = argv[*at];
  size_t length = strcspn (argument, "=");
  const Option *option = find_option (argument, length);
  const char *value = NULL;
  char *field;

  if (option == NULL
      || (option->commands & command_bit (options->command)) == 0)
    {
      fprintf (stderr, "qm-bench: %s takes no %.*s; see --help\n",
               options->command, (int) length, argument);
      return false;
    }
  field = (char *) options + option->offset;
  if (option->kind != FLAG)
    value = argument[length] == '=' ? argument + length + 1
            : *at + 1 < argc        ? argv[++*at]
                                    : NULL;
  if ((value == NULL) != (option->kind == FLAG)
      || (option->kind == FLAG && argument[length] == '='))
    {
      fprintf (stderr, "qm-bench: %s %s\n", option->name,
               option->kind == FLAG ? "takes no value" : "needs a value");
      return false;
    }
  switch (option->kind)
    {
    case TEXT:
      *(const char **) (void *) field = value;
      return true;
    case COUNT:
      return read_count (option->name, value, (int64_t *) (void *) field);
    case FLAG:
      *(bool *) field = true;
      return true;
    }
  return false;
}

bool
qm_bench_parse (int argc, char **argv, QmBenchOptions *options)
{
  memset (options, 0, sizeof *options);
  options->repeat = 1;
  options->steps = 200;
  if (argc < 2 || command_bit (argv[1]) == 0)
    {
      fprintf (stderr,
               "qm-bench: the first word has to be a command: devices, plan, "
               "run, check or train; see --help\n");
      return false;
    }
  options->command = argv[1];
  for (int i = 2; i < argc; i++)
    if (!read_option (argc, argv, &i, options))
      return false;
  if (options->repeat < 1)
    {
      fprintf (stderr, "qm-bench: --repeat has to be at least 1\n");
      return false;
    }
  return true;
}

QmStatus
qm_bench_load_catalog (QmCatalog **catalog, QmError *error)
{
  char shipped[PATH_MAX], user[PATH_MAX];

  qm_data_dir (shipped, sizeof shipped);
  return qm_catalog_load (shipped,
                          qm_user_data_dir (user, sizeof user) ? user : NULL,
                          catalog, error);
}

static QmStatus
load_from_catalog (const QmBenchOptions *options,
                   QmBenchModel *model,
                   QmError *error)
{
  const QmModel *entry;
  QmStatus status = qm_bench_load_catalog (&model->catalog, error);

  if (status != QM_OK)
    return status;
  entry = qm_catalog_model (model->catalog, options->model);
  if (entry == NULL)
    {
      size_t n;
      const QmModel *models = qm_catalog_models (model->catalog, &n);
      char list[160] = "";

      for (size_t i = 0; i < n; i++)
        snprintf (list + strlen (list), sizeof list - strlen (list), "%s%s",
                  i > 0 ? ", " : "", models[i].id);
      return qm_error_set (error, QM_STATUS_NOT_FOUND, "", 0, 0,
                           "there is no model '%.32s'; there are %s",
                           options->model, list);
    }
  model->config = entry->config;
  model->recipe = entry->recipe;
  snprintf (model->name, sizeof model->name, "%s", entry->id);
  return QM_OK;
}

static QmStatus
load_config (const char *path, QmModelConfig *config, QmError *error)
{
  char *text;
  size_t length;
  QmStatus status = qm_text_read_file (path, &text, &length, error);

  if (status != QM_OK)
    return status;
  status = qm_model_config_parse (text, length, path, config, error);
  free (text);
  return status;
}

static QmStatus
load_recipe (const char *path, QmRecipe *recipe, QmError *error)
{
  char *text;
  size_t length;
  QmStatus status = qm_text_read_file (path, &text, &length, error);

  if (status != QM_OK)
    return status;
  status = qm_recipe_parse (text, length, path, recipe, error);
  free (text);
  return status;
}

QmStatus
qm_bench_load_model (const QmBenchOptions *options,
                     bool recipe,
                     QmBenchModel *model,
                     QmError *error)
{
  QmStatus status = QM_OK;

  memset (model, 0, sizeof *model);
  if ((options->model == NULL) == (options->config == NULL))
    return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                         "exactly one of --model and --config has to be given");
  if (recipe && options->config != NULL && options->recipe == NULL)
    return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                         "--config needs a --recipe");
  if (options->model != NULL)
    status = load_from_catalog (options, model, error);
  else
    {
      snprintf (model->name, sizeof model->name, "%s", options->config);
      status = load_config (options->config, &model->config, error);
    }
  if (status == QM_OK && recipe && options->recipe != NULL)
    {
      status = load_recipe (options->recipe, &model->recipe, error);
      if (status == QM_OK)
        status = qm_model_apply_recipe (&model->config, &model->recipe,
                                        options->recipe, error);
    }
  if (status != QM_OK)
    qm_bench_clear_model (model);
  return status;
}

void
qm_bench_clear_model (QmBenchModel *model)
{
  qm_catalog_free (model->catalog);
  model->catalog = NULL;
}

QmStatus
qm_bench_read_methods (const QmBenchOptions *options,
                       unsigned *methods,
                       QmError *error)
{
  const char *text =
      options->settings != NULL ? options->settings : "free-lunch";

  if (qm_methods_parse (text, methods))
    return QM_OK;
  return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                       "--settings: '%.32s' is not naive, free-lunch, compile, "
                       "kernels, tf32 or some of the last three joined by +",
                       text);
}

QmStatus
qm_bench_read_size (const char *text, uint64_t *bytes, QmError *error)
{
  static const struct
  {
    const char *name;
    double bytes;
  } units[] = { { "", 1 },         { "B", 1 },       { "MB", 1e6 },
                { "GB", 1e9 },     { "TB", 1e12 },   { "MiB", 0x1p20 },
                { "GiB", 0x1p30 }, { "TiB", 0x1p40 } };
  size_t digits = strspn (text, "0123456789.");
  char number[32];
  double value;

  if (digits > 0 && digits < sizeof number)
    {
      const char *unit = text + digits + strspn (text + digits, " ");

      memcpy (number, text, digits);
      number[digits] = '\0';
      if (qm_number_parse (number, &value))
        for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
          if (strcmp (units[i].name, unit) == 0
              && value * units[i].bytes < 0x1p60)
            {
              *bytes = (uint64_t) (value * units[i].bytes);
              return QM_OK;
            }
    }
  return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                       "'%.32s' is no size; 24GiB is one", text);
}

uint64_t
qm_bench_usable_memory (const QmDeviceInfo *info)
{
  /* A host has other programs to run as well. */
  return info->target.kind == QM_DEVICE_CPU ? info->free_bytes / 10 * 8
                                            : info->memory_bytes;
}

QmStatus
qm_bench_make_plan (const QmBenchOptions *options,
                    const QmBenchModel *model,
                    const QmTarget *target,
                    uint64_t bytes,
                    QmPlan **plan,
                    QmError *error)
{
  QmPlanOptions plan_options = { .target = *target,
                                 .checkpoint = options->checkpoint };
  QmStatus status =
      qm_bench_read_methods (options, &plan_options.methods, error);
  int64_t size;

  *plan = NULL;
  if (status != QM_OK)
    return status;
  if (options->micro_batch == NULL
      || strcmp (options->micro_batch, "auto") == 0)
    return qm_plan_largest (&model->config, &model->recipe, &plan_options,
                            bytes, plan, error);
  if (!read_count ("--micro-batch", options->micro_batch, &size))
    return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                         "--micro-batch is a number or auto");
  plan_options.micro_batch = size;
  return qm_plan_new (&model->config, &model->recipe, &plan_options, plan,
                      error);
}
