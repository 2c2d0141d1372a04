/* SPDX-License-Identifier: Apache-2.0 */

#include "app/qm-bench.h"

#include "data/family.h"
#include "data/file.h"
#include "data/identity.h"
#include "data/text.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void
qm_bench_json_number (json_t *object, const char *name, double value)
{
  json_object_set_new (object, name,
                       isfinite (value) ? json_real (value) : json_null ());
}

void
qm_bench_json_whole (json_t *object, const char *name, int64_t value)
{
  json_object_set_new (object, name,
                       value >= 0 ? json_integer (value) : json_null ());
}

void
qm_bench_json_switch (json_t *object, const char *name, int value)
{
  json_object_set_new (object, name,
                       value >= 0 ? json_boolean (value != 0) : json_null ());
}

#define MAX_WORDS 12

void
qm_bench_json_throttle (json_t *object, int64_t throttle)
{
  const char *words[MAX_WORDS];
  size_t n = qm_throttle_words (throttle, words, MAX_WORDS);
  json_t *array = throttle >= 0 ? json_array () : json_null ();

  for (size_t i = 0; i < n && i < MAX_WORDS; i++)
    json_array_append_new (array, json_string (words[i]));
  json_object_set_new (object, "throttle", array);
}

void
qm_bench_json_reading (json_t *object, const QmReading *reading)
{
  qm_bench_json_number (object, "sm_mhz", reading->sm_mhz);
  qm_bench_json_number (object, "memory_mhz", reading->memory_mhz);
  qm_bench_json_number (object, "celsius", reading->celsius);
  qm_bench_json_number (object, "watts", reading->watts);
  qm_bench_json_throttle (object, reading->throttle);
}

static void
set_bytes (json_t *object, const char *name, uint64_t bytes)
{
  json_object_set_new (object, name, json_integer ((json_int_t) bytes));
}

const char *
qm_bench_format_days (double days, int digits, char text[32])
{
  /* What rounds to 1000 would be 1e+03. */
  if (days < pow (10, digits) - 0.5)
    snprintf (text, 32, "%.*g", digits, days);
  else
    snprintf (text, 32, "%.0f", days);
  return text;
}

void
qm_bench_format_way (bool checkpoint,
                     QmSharding sharding,
                     bool offload,
                     char *text)
{
  bool shards = sharding != QM_SHARDING_NONE;

  snprintf (text, QM_BENCH_WAY_BYTES, "%s%s%s%s",
            checkpoint ? "checkpointing" : "", checkpoint && shards ? ", " : "",
            shards ? qm_sharding_name (sharding) : "",
            shards && offload ? ", offloading" : "");
}

void
qm_bench_format_settings (const QmPlan *plan, char *text, size_t size)
{
  const QmPlanOptions *options = &plan->options;
  char methods[64], way[QM_BENCH_WAY_BYTES];

  qm_methods_format (options->methods, methods, sizeof methods);
  qm_bench_format_way (options->checkpoint, qm_plan_sharding (options),
                       options->offload, way);
  snprintf (text, size, "%s%s%s", methods, way[0] != '\0' ? ", " : "", way);
}

/* A line is not longer; two paths and some words fit. */
#define MOST_LINE 2048

static void
put_line (FILE *out, const char *begin, const char *format, va_list arguments)
{
  char text[2 * PATH_MAX], safe[MOST_LINE];

  vsnprintf (text, sizeof text, format, arguments);
  qm_text_trim (text);
  fprintf (out, "%s%s\n", begin, qm_text_escape (text, safe, sizeof safe));
}

void
qm_bench_say (const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  put_line (stderr, "qm-bench: ", format, arguments);
  va_end (arguments);
}

void
qm_bench_print (const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  put_line (stdout, "", format, arguments);
  va_end (arguments);
}

void
qm_bench_put_json (const char *text)
{
  while (*text != '\0')
    {
      uint32_t code;
      size_t length = qm_text_next (text, &code);

      if (length > 0 || code < ' ')
        fwrite (text, 1, length = length > 0 ? length : 1, stdout);
      else if (code >= 0x10000)
        printf ("\\u%04x\\u%04x", 0xd800 + ((code - 0x10000) >> 10),
                0xdc00 + ((code - 0x10000) & 0x3ff));
      else
        printf ("\\u%04x", code);
      if (length == 0)
        length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
      text += length;
    }
  putchar ('\n');
}

void
qm_bench_print_json (json_t *object)
{
  char *text = json_dumps (object, JSON_COMPACT | JSON_REAL_PRECISION (12));

  if (text != NULL)
    qm_bench_put_json (text);
  free (text);
  json_decref (object);
  fflush (stdout);
}

void
qm_bench_say_products (const QmDeviceInfo *info)
{
  if (!qm_target_is_gpu (&info->target))
    return;
  if (strcmp (info->products.name, "own") == 0)
    fprintf (stderr, "qm-bench: there is no cuBLASLt here: products of our own "
                     "take up to 2.5 times as long (see 'qm-bench devices')\n");
  else
    fprintf (stderr, "qm-bench: products by %s\n", info->products.name);
}

json_t *
qm_bench_json_device (const QmDeviceInfo *info)
{
  json_t *object =
      json_pack ("{s:s, s:s, s:s, s:i}", "id", info->id, "name", info->name,
                 "driver", info->driver, "processors", info->processors);

  set_bytes (object, "memory_bytes", info->memory_bytes);
  qm_bench_json_whole (object, "free_bytes",
                       info->free_bytes > 0 ? (int64_t) info->free_bytes : -1);
  if (!qm_target_is_gpu (&info->target))
    return object;
  json_object_set_new (object, "architecture",
                       json_integer (info->target.architecture));
  json_object_set_new (object, "capability", json_integer (info->capability));
  json_object_set_new (object, "bus", json_string (info->bus));
  json_object_set_new (object, "driver_cuda", json_integer (info->driver_cuda));
  json_object_set_new (object, "runtime_cuda",
                       json_integer (info->runtime_cuda));
  json_object_set_new (object, "products", json_string (info->products.name));
  return object;
}

/* Which machine and GPU it is: data/identity.h. */
json_t *
qm_bench_json_machine (const QmDeviceInfo *info)
{
  QmIdentity here;
  char gpu[QM_IDENTITY_BYTES];
  json_t *object = json_object (), *gpus = json_array ();

  qm_identity_here (&here);
  json_object_set_new (object, "id",
                       here.machine[0] != '\0' ? json_string (here.machine)
                                               : json_null ());
  if (info->bus[0] != '\0' && qm_identity_gpu (info->bus, gpu))
    json_array_append_new (gpus, json_string (gpu));
  json_object_set_new (object, "gpus", gpus);
  return object;
}

int64_t
qm_bench_samples_of_pass (const QmPlanOptions *options)
{
  return options->micro_batch * (options->ranks > 0 ? options->ranks : 1);
}

/* Whether the loss sees pairs, and not all of a step at once. */
static bool
divides_pairs (const QmModelConfig *config,
               const QmRecipe *recipe,
               int64_t samples)
{
  return samples < recipe->batch_size
         && qm_family_info (config->family)->objective == QM_OBJECTIVE_PAIRS;
}

void
qm_bench_json_pairs (json_t *object,
                     const QmModelConfig *config,
                     const QmRecipe *recipe,
                     int64_t samples)
{
  if (divides_pairs (config, recipe, samples))
    json_object_set_new (object, "pairs_compared",
                         json_integer ((json_int_t) samples));
}

void
qm_bench_print_pairs (const char *indent,
                      const QmModelConfig *config,
                      const QmRecipe *recipe,
                      int64_t samples)
{
  if (divides_pairs (config, recipe, samples))
    qm_bench_print (
        "%sthe loss compares the %lld pairs of a pass, not the %lld "
        "of a step",
        indent, (long long) samples, (long long) recipe->batch_size);
}

json_t *
qm_bench_json_setting (const QmPlanOptions *options, const QmRecipe *recipe)
{
  int ranks = options->ranks > 0 ? options->ranks : 1;
  int64_t together = qm_bench_samples_of_pass (options);
  int64_t passes = (recipe->batch_size + together - 1) / together;
  json_t *object = json_object ();
  char settings[64];

  qm_methods_format (options->methods, settings, sizeof settings);
  json_object_set_new (object, "settings", json_string (settings));
  json_object_set_new (object, "checkpointing",
                       json_boolean (options->checkpoint));
  json_object_set_new (object, "sharding",
                       json_string (qm_sharding_name (options->sharding)));
  json_object_set_new (object, "offloading", json_boolean (options->offload));
  qm_bench_json_precision (object, recipe);
  json_object_set_new (object, "micro_batch",
                       json_integer (options->micro_batch));
  json_object_set_new (object, "accumulation", json_integer (passes));
  if (ranks > 1)
    json_object_set_new (object, "gpus", json_integer (ranks));
  return object;
}

json_t *
qm_bench_json_memory (const QmMemory *memory)
{
  json_t *bytes = json_object ();

  set_bytes (bytes, "weights", memory->weights);
  set_bytes (bytes, "master_weights", memory->master);
  set_bytes (bytes, "gradients", memory->gradients);
  set_bytes (bytes, "optimizer", memory->optimizer);
  set_bytes (bytes, "activations", memory->activations);
  set_bytes (bytes, "other", memory->other);
  set_bytes (bytes, "workspace", memory->workspace);
  set_bytes (bytes, "reserved", memory->reserved);
  set_bytes (bytes, "total", memory->total);
  set_bytes (bytes, "host", memory->host);
  return bytes;
}

void
qm_bench_format_precision (const QmRecipe *recipe, char *text, size_t size)
{
  const QmFp8 *fp8 = &recipe->fp8;

  snprintf (text, size, "%s", qm_precision_name (recipe->precision));
  if (recipe->precision == QM_PRECISION_FP8)
    snprintf (text, size, "%s (%s, %s, %s)",
              qm_precision_name (recipe->precision),
              qm_fp8_scales_name (fp8->scales), qm_fp8_amax_name (fp8->amax),
              qm_fp8_gradients_name (fp8->gradients));
}

void
qm_bench_json_sums (json_t *object,
                    const QmPlanOptions *options,
                    const QmRecipe *recipe)
{
  if (options->ranks > 1)
    json_object_set_new (object, "sums",
                         json_string (qm_precision_name (
                             qm_plan_sums (options, recipe))));
}

json_t *
qm_bench_json_plan (const QmPlan *plan)
{
  json_t *object = qm_bench_json_setting (&plan->options, &plan->recipe);

  if (plan->recipe.precision == QM_PRECISION_FP8)
    json_object_set_new (object, "fp8_share",
                         json_real (qm_plan_fp8_share (plan)));
  qm_bench_json_sums (object, &plan->options, &plan->recipe);
  json_object_set_new (object, "memory_bytes",
                       qm_bench_json_memory (&plan->memory));
  if (qm_plan_loss_rows (plan) < qm_plan_all_rows (plan))
    json_object_set_new (object, "loss_rows",
                         json_integer (qm_plan_loss_rows (plan)));
  qm_bench_json_pairs (object, &plan->config, &plan->recipe,
                       qm_bench_samples_of_pass (&plan->options));
  return object;
}

void
qm_bench_print_memory (const QmMemory *memory, int ranks)
{
  const struct
  {
    const char *name;
    uint64_t bytes;
  } rows[] = {
    { "weights", memory->weights },
    { "master weights", memory->master },
    { "gradients", memory->gradients },
    { "optimizer states", memory->optimizer },
    { "activations", memory->activations },
    { "inputs and state", memory->other },
    { "workspace", memory->workspace },
    { "driver and libraries", memory->reserved },
    { "in all", memory->total },
    { ranks > 1 ? "of the host, for all" : "of the host",
      memory->host * (uint64_t) ranks },
  };

  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (rows[i].bytes > 0)
      printf ("  %-20s %10.3f GiB\n", rows[i].name,
              (double) rows[i].bytes / 0x1p30);
}

#define MAX_TENSOR 512

/* "f16[64,128]", with the strides where there are gaps; "-" for none. */
static const char *
format_tensor (const QmTensor *tensor, char text[MAX_TENSOR])
{
  size_t used = 0;

  if (!qm_tensor_present (tensor))
    return "-";
  used +=
      (size_t) snprintf (text, MAX_TENSOR, "%s[", qm_type_name (tensor->type));
  for (int32_t i = 0; i < tensor->rank; i++)
    used += (size_t) snprintf (text + used, MAX_TENSOR - used, "%s%lld",
                               i > 0 ? "," : "", (long long) tensor->shape[i]);
  used += (size_t) snprintf (text + used, MAX_TENSOR - used, "]");
  for (int32_t i = 0; i < tensor->rank && !qm_tensor_is_dense (tensor); i++)
    used +=
        (size_t) snprintf (text + used, MAX_TENSOR - used, "%c%lld",
                           i > 0 ? ',' : '/', (long long) tensor->stride[i]);
  return text;
}

static const char *const phases[] = {
  [QM_PHASE_FORWARD] = "forward",     [QM_PHASE_BACKWARD] = "backward",
  [QM_PHASE_RECOMPUTE] = "recompute", [QM_PHASE_LAST] = "last",
  [QM_PHASE_UPDATE] = "update",
};

void
qm_bench_print_operators (const QmPlan *plan)
{
  char text[MAX_TENSOR];

  for (size_t i = 0; i < plan->graph->n_nodes; i++)
    {
      const QmNode *node = &plan->graph->nodes[i];
      QmOpCall call;

      qm_graph_call (plan->graph, node, &call);
      printf ("%s %s:", phases[node->phase], qm_op_name (node->op));
      for (int j = 0; j < qm_op_inputs (node->op); j++)
        printf (" %s", format_tensor (&call.inputs[j], text));
      printf (" ->");
      for (int j = 0; j < qm_op_outputs (node->op); j++)
        printf (" %s", format_tensor (&call.outputs[j], text));
      printf ("\n");
    }
}

static json_t *
json_tensors (const QmTensor *tensors, int n)
{
  json_t *array = json_array ();
  char text[MAX_TENSOR];

  for (int i = 0; i < n; i++)
    json_array_append_new (array,
                           qm_tensor_present (&tensors[i])
                               ? json_string (format_tensor (&tensors[i], text))
                               : json_null ());
  return array;
}

json_t *
qm_bench_json_passes (const QmPlan *plan, const char *last)
{
  json_t *array = json_array ();
  const char *names[QM_PLAN_PASSES];
  size_t n = qm_plan_passes (&plan->recipe, &plan->options, names);

  if (last != NULL && strcmp (last, QM_PLAN_NO_PASS) == 0)
    n = 0;
  for (size_t i = 0; i < n; i++)
    {
      json_array_append_new (array, json_string (names[i]));
      if (last != NULL && strcmp (names[i], last) == 0)
        break;
    }
  return array;
}

/* The owners of values, null where there is none. */
static json_t *
json_owners (const QmGraph *graph, const QmValueId *values, int n)
{
  json_t *array = json_array ();

  for (int i = 0; i < n; i++)
    json_array_append_new (array, values[i] != QM_NO_VALUE ? json_integer (
                                      qm_graph_get (graph, values[i])->owner)
                                                           : json_null ());
  return array;
}

json_t *
qm_bench_json_operators (const QmPlan *plan)
{
  json_t *array = json_array ();

  for (size_t i = 0; i < plan->graph->n_nodes; i++)
    {
      const QmNode *node = &plan->graph->nodes[i];
      json_t *object = json_object ();
      QmOpCall call;

      qm_graph_call (plan->graph, node, &call);
      json_object_set_new (object, "phase", json_string (phases[node->phase]));
      json_object_set_new (object, "operator",
                           json_string (qm_op_name (node->op)));
      json_object_set_new (object, "inputs",
                           json_tensors (call.inputs, qm_op_inputs (node->op)));
      json_object_set_new (object, "outputs",
                           json_tensors (call.outputs,
                                         qm_op_outputs (node->op)));
      json_object_set_new (object, "reads",
                           json_owners (plan->graph, node->inputs,
                                        qm_op_inputs (node->op)));
      json_object_set_new (object, "writes",
                           json_owners (plan->graph, node->outputs,
                                        qm_op_outputs (node->op)));
      json_array_append_new (array, object);
    }
  return array;
}

QmStatus
qm_bench_check_out (const char *path, char *part, size_t size, QmError *error)
{
  char place[PATH_MAX];
  char *slash;
  QmStatus status = qm_file_place (path, place, sizeof place, error);

  if (status != QM_OK)
    return status;
  if (!qm_file_part_name (place, part, size))
    return qm_error_set (error, QM_STATUS_IO, path, 0, 0,
                         "is longer than a path may be");
  slash = strrchr (place, '/');
  if (slash == NULL)
    strcpy (place, ".");
  else
    slash[slash == place] = '\0';
  if (access (place, W_OK) == 0)
    return QM_OK;
  return qm_error_set (error, QM_STATUS_IO, path, 0, 0, "cannot be written: %s",
                       strerror (errno));
}
