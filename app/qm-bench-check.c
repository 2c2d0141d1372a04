/* SPDX-License-Identifier: Apache-2.0 */

/* qm-bench check. */

#include "app/qm-bench.h"

#include "app/qm-bench-events.h"
#include "engine/check.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static QmStatus
read_precision (const char *text, QmCheckOptions *check, QmError *error)
{
  check->tf32 = text != NULL && strcmp (text, "tf32") == 0;
  check->precision = QM_PRECISION_FP32;
  if (text == NULL || check->tf32)
    return QM_OK;
  for (int i = 0; i < QM_N_PRECISIONS; i++)
    if (strcmp (text, qm_precision_name ((QmPrecision) i)) == 0)
      {
        check->precision = (QmPrecision) i;
        return QM_OK;
      }
  return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                       "--precision: '%.32s' is not fp32, tf32, fp16, bf16 or "
                       "fp8",
                       text);
}

static json_t *
json_check (const QmBenchOptions *options, const QmCheckResult *result)
{
  json_t *object = json_object ();

  qm_bench_json_number (object, "loss", result->loss);
  json_object_set_new (object, "parameters",
                       json_integer ((json_int_t) result->parameters));
  json_object_set_new (object, "out", json_string (options->out));
  return object;
}

static void
print_check (const QmBenchOptions *options,
             const QmCheckResult *result,
             QmBenchEvents *events)
{
  if (result->unused > 0)
    qm_bench_say ("%s: %zu tensors are not of this model and were not "
                  "used, '%s' among them",
                  options->weights, result->unused, result->first_unused);
  if (events != NULL)
    {
      qm_bench_events_say (events, "result", json_check (options, result));
      qm_bench_events_end (events, NULL);
    }
  else if (options->json)
    qm_bench_print_json (json_check (options, result));
  else
    qm_bench_print ("loss %.9g; gradients of %zu parameters are in %s",
                    result->loss, result->parameters, options->out);
}

int
qm_bench_check (const QmBenchOptions *options)
{
  QmCheckOptions check = { .weights = options->weights,
                           .batch = options->batch,
                           .out = options->out,
                           .checkpoint = options->checkpoint,
                           .deterministic = options->deterministic,
                           .loss_rows = options->loss_rows };
  QmCheckResult result;
  QmBenchModel model = { NULL };
  QmDevice *device = NULL;
  QmBenchEvents *events;
  char part[PATH_MAX];
  QmError error = { 0 };
  QmStatus status;

  if (options->config == NULL || options->weights == NULL
      || options->batch == NULL || options->out == NULL)
    {
      fprintf (stderr, "qm-bench: check needs --config, --weights, --batch and "
                       "--out\n");
      return QM_BENCH_USAGE;
    }
  events = options->events ? qm_bench_events_new () : NULL;
  status = qm_bench_load_model (options, false, &model, &error);
  if (status == QM_OK)
    status = qm_bench_read_methods (options, &check.methods, &error);
  if (status == QM_OK)
    status = read_precision (options->precision, &check, &error);
  if (status == QM_OK)
    status = qm_bench_open_device (options, &device, &error);
  check.config = &model.config;
  if (status == QM_OK)
    status = qm_bench_check_out (options->out, part, sizeof part, &error);
  if (status == QM_OK)
    qm_bench_remove_if_killed (part);
  if (status == QM_OK)
    qm_bench_events_open (events, qm_device_info (device));
  if (status == QM_OK)
    status = qm_check (&check, device, &result, &error);
  qm_bench_remove_if_killed (NULL);
  if (status == QM_OK)
    print_check (options, &result, events);
  if (status != QM_OK)
    qm_bench_events_error (events, &error, NULL);
  qm_bench_events_free (events);
  qm_device_close (device);
  qm_bench_clear_model (&model);
  return status == QM_OK ? QM_BENCH_OK : qm_bench_fail (&error);
}
