/* SPDX-License-Identifier: Apache-2.0 */

#include "app/qm-bench.h"

#include "data/file.h"
#include "data/identity.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
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

void
qm_bench_format_settings (const QmPlan *plan, char *text, size_t size)
{
  const QmPlanOptions *options = &plan->options;
  bool offload = options->offload != QM_OFFLOAD_NONE;
  char methods[64];

  qm_methods_format (options->methods, methods, sizeof methods);
  snprintf (text, size, "%s%s%s%s", methods,
            options->checkpoint ? ", checkpointing" : "", offload ? ", " : "",
            offload ? qm_offload_name (options->offload) : "");
}

void
qm_bench_print_json (json_t *object)
{
  char *text = json_dumps (object, JSON_COMPACT | JSON_REAL_PRECISION (12));

  if (text != NULL)
    puts (text);
  free (text);
  json_decref (object);
  fflush (stdout);
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
  if (info->target.kind != QM_DEVICE_CUDA)
    return object;
  json_object_set_new (object, "architecture",
                       json_integer (info->target.architecture));
  json_object_set_new (object, "capability", json_integer (info->capability));
  json_object_set_new (object, "bus", json_string (info->bus));
  json_object_set_new (object, "driver_cuda", json_integer (info->driver_cuda));
  json_object_set_new (object, "runtime_cuda",
                       json_integer (info->runtime_cuda));
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

json_t *
qm_bench_json_setting (const QmPlanOptions *options, const QmRecipe *recipe)
{
  int64_t passes =
      (recipe->batch_size + options->micro_batch - 1) / options->micro_batch;
  json_t *object = json_object ();
  char settings[64];

  qm_methods_format (options->methods, settings, sizeof settings);
  json_object_set_new (object, "settings", json_string (settings));
  json_object_set_new (object, "checkpointing",
                       json_boolean (options->checkpoint));
  json_object_set_new (object, "sharding",
                       json_string (qm_offload_name (options->offload)));
  json_object_set_new (object, "offloading",
                       json_boolean (options->offload != QM_OFFLOAD_NONE));
  json_object_set_new (object, "precision",
                       json_string (qm_precision_name (recipe->precision)));
  json_object_set_new (object, "micro_batch",
                       json_integer (options->micro_batch));
  json_object_set_new (object, "accumulation", json_integer (passes));
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

json_t *
qm_bench_json_plan (const QmPlan *plan)
{
  json_t *object = qm_bench_json_setting (&plan->options, &plan->recipe);

  json_object_set_new (object, "memory_bytes",
                       qm_bench_json_memory (&plan->memory));
  return object;
}

void
qm_bench_print_memory (const QmMemory *memory)
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
    { "of the host", memory->host },
  };

  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (rows[i].bytes > 0)
      printf ("  %-20s %10.3f GiB\n", rows[i].name,
              (double) rows[i].bytes / 0x1p30);
}

/* "f16[64,128]", with the strides where there are gaps. */
static void
print_tensor (const QmTensor *tensor)
{
  if (!qm_tensor_present (tensor))
    {
      printf (" -");
      return;
    }
  printf (" %s[", qm_type_name (tensor->type));
  for (int32_t i = 0; i < tensor->rank; i++)
    printf ("%s%lld", i > 0 ? "," : "", (long long) tensor->shape[i]);
  printf ("]");
  if (qm_tensor_is_dense (tensor))
    return;
  for (int32_t i = 0; i < tensor->rank; i++)
    printf ("%c%lld", i > 0 ? ',' : '/', (long long) tensor->stride[i]);
}

void
qm_bench_print_operators (const QmPlan *plan)
{
  for (size_t i = 0; i < plan->graph->n_nodes; i++)
    {
      const QmNode *node = &plan->graph->nodes[i];
      QmOpCall call;

      qm_graph_call (plan->graph, node, &call);
      printf ("%s:", qm_op_name (node->op));
      for (int j = 0; j < qm_op_inputs (node->op); j++)
        print_tensor (&call.inputs[j]);
      printf (" ->");
      for (int j = 0; j < qm_op_outputs (node->op); j++)
        print_tensor (&call.outputs[j]);
      printf ("\n");
    }
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
