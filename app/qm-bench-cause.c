/* SPDX-License-Identifier: Apache-2.0 */

#include "app/qm-bench-cause.h"

#include "app/qm-bench.h"

/* What a cause can be about. */
static const char *const fields[] = {
  "cause",       "memory",    "needs_bytes", "available_bytes", "signal",
  "exit_status", "silence_s", "cut_step_s",  "fastest_step_s"
};

static void
set_cause (json_t *object, const char *cause)
{
  json_object_set_new (object, "cause", json_string (cause));
}

void
qm_bench_cause_shortage (json_t *object, const QmShortage *shortage)
{
  set_cause (object, "memory");
  json_object_set_new (object, "memory",
                       json_string (shortage->host ? "host" : "device"));
  json_object_set_new (object, "needs_bytes",
                       json_integer ((json_int_t) shortage->needs));
  json_object_set_new (object, "available_bytes",
                       json_integer ((json_int_t) shortage->available));
}

void
qm_bench_cause_failure (json_t *object,
                        QmStatus status,
                        const QmBenchWorker *worker)
{
  QmBenchEnd end = { QM_BENCH_NO_END, 0 };

  if (worker != NULL)
    end = qm_bench_worker_end (worker);
  switch (end.kind)
    {
    case QM_BENCH_END_SIGNAL:
      set_cause (object, "signal");
      json_object_set_new (object, "signal", json_integer (end.number));
      return;
    case QM_BENCH_END_EXIT:
      set_cause (object, "exit");
      json_object_set_new (object, "exit_status", json_integer (end.number));
      return;
    case QM_BENCH_END_SILENCE:
      set_cause (object, "silence");
      json_object_set_new (object, "silence_s", json_integer (end.number));
      return;
    case QM_BENCH_NO_END:
      break;
    }
  set_cause (object,
             status == QM_STATUS_DEVICE_FULL || status == QM_STATUS_NO_MEMORY
                 ? "out-of-memory"
                 : "device");
}

void
qm_bench_cause_unsupported (json_t *object)
{
  set_cause (object, "unsupported");
}

void
qm_bench_cause_slower (json_t *object, double fastest_step)
{
  json_object_set_new (object, "cut", json_true ());
  set_cause (object, "slower");
  qm_bench_json_number (object, "fastest_step_s", fastest_step);
}

void
qm_bench_cause_of_result (json_t *object, const char *line)
{
  json_t *result = json_loads (line, 0, NULL);

  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
    {
      json_t *value = json_object_get (result, fields[i]);

      if (value != NULL)
        json_object_set (object, fields[i], value);
    }
  json_decref (result);
}
