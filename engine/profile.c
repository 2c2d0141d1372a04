/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/profile.h"

#include "engine/waits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
append_to_text (char *text, size_t size, const char *more)
{
  size_t used = strlen (text);

  snprintf (text + used, size - used, "%s", more);
}

static void
append_tensor (char *text, size_t size, const QmTensor *tensor)
{
  char part[96];

  if (!qm_tensor_present (tensor))
    return;
  append_to_text (text, size, text[0] != '\0' ? " " : "");
  snprintf (part, sizeof part, "%s[", qm_type_name (tensor->type));
  append_to_text (text, size, part);
  for (int32_t i = 0; i < tensor->rank; i++)
    {
      snprintf (part, sizeof part, "%s%lld", i > 0 ? "," : "",
                (long long) tensor->shape[i]);
      append_to_text (text, size, part);
    }
  append_to_text (text, size, "]");
}

static void
describe_call (const QmOpCall *call, char *text, size_t size)
{
  text[0] = '\0';
  for (int i = 0; i < QM_OP_MAX_INPUTS; i++)
    append_tensor (text, size, &call->inputs[i]);
  append_to_text (text, size, text[0] != '\0' ? " ->" : "->");
  for (int i = 0; i < QM_OP_MAX_OUTPUTS; i++)
    append_tensor (text, size, &call->outputs[i]);
}

/* Adds a call to the row of its operator and shape. */
static void
add_call (QmProfile *profile, const QmOpCall *call, bool update, double seconds)
{
  QmProfileRow row = { .op = call->op, .update = update }, *found = NULL;

  describe_call (call, row.shape, sizeof row.shape);
  for (size_t i = 0; i < profile->n && found == NULL; i++)
    if (profile->rows[i].op == row.op && profile->rows[i].update == update
        && strcmp (profile->rows[i].shape, row.shape) == 0)
      found = &profile->rows[i];
  if (found == NULL)
    {
      found = &profile->rows[profile->n++];
      *found = row;
    }
  found->count++;
  found->seconds += seconds;
  found->flops += qm_op_flops (call);
  found->bytes += qm_op_bytes (call);
  if (update)
    profile->update += seconds;
  else
    profile->pass += seconds;
}

/* Queues calls with an event before each and after the last. */
static QmStatus
queue_profiled (QmExecutor *executor,
                const QmOpCall *calls,
                size_t n,
                QmDevice *device,
                QmEvent **events,
                QmError *error)
{
  const QmOpCall wait = { .op = QM_OP_EXCHANGED };
  QmStream *stream = qm_executor_stream (executor);
  QmStatus status = qm_event_record (device, stream, events[0], error);

  for (size_t i = 0; i < n && status == QM_OK; i++)
    {
      status = qm_executor_queue (executor, &calls[i], error);
      /* By itself, as everything here. */
      if (status == QM_OK && qm_is_exchange (calls[i].op))
        status = qm_executor_queue (executor, &wait, error);
      if (status == QM_OK)
        status = qm_event_record (device, stream, events[i + 1], error);
    }
  return status;
}

static QmStatus
profile_phase (QmExecutor *executor,
               QmPhase phase,
               QmProfile *profile,
               QmError *error)
{
  QmDevice *device = qm_executor_device (executor);
  size_t n, made = 0;
  const QmOpCall *calls = qm_executor_calls (executor, phase, &n);
  QmEvent **events = calloc (n + 1, sizeof *events);
  QmStatus status = events != NULL ? QM_OK : qm_error_no_memory (error);

  while (status == QM_OK && made <= n)
    {
      status = qm_event_create (device, &events[made], error);
      made += status == QM_OK;
    }
  if (status == QM_OK)
    status = qm_executor_pass (executor, true, error);
  if (status == QM_OK)
    status = queue_profiled (executor, calls, n, device, events, error);
  if (status == QM_OK)
    status = qm_executor_synchronize (executor, error);
  for (size_t i = 0; i < n && status == QM_OK; i++)
    {
      double seconds = 0;

      status =
          qm_event_elapsed (device, events[i], events[i + 1], &seconds, error);
      add_call (profile, &calls[i], phase == QM_PHASE_UPDATE, seconds);
    }
  for (size_t i = 0; i < made; i++)
    qm_event_free (device, events[i]);
  free (events);
  return status;
}

static int
by_time (const void *a, const void *b)
{
  const QmProfileRow *x = a, *y = b;

  if (x->update != y->update)
    return x->update ? 1 : -1;
  return x->seconds > y->seconds ? -1 : x->seconds < y->seconds;
}

QmStatus
qm_profile (QmExecutor *executor, QmProfile *profile, QmError *error)
{
  size_t pass, update;
  QmStatus status;

  *profile = (QmProfile){ NULL };
  qm_executor_calls (executor, QM_PHASE_LAST, &pass);
  qm_executor_calls (executor, QM_PHASE_UPDATE, &update);
  profile->rows = calloc (pass + update, sizeof *profile->rows);
  if (profile->rows == NULL)
    return qm_error_no_memory (error);
  status = profile_phase (executor, QM_PHASE_LAST, profile, error);
  if (status == QM_OK)
    status = profile_phase (executor, QM_PHASE_UPDATE, profile, error);
  if (status != QM_OK)
    {
      qm_profile_clear (profile);
      return status;
    }
  qsort (profile->rows, profile->n, sizeof *profile->rows, by_time);
  return QM_OK;
}

void
qm_profile_clear (QmProfile *profile)
{
  free (profile->rows);
  *profile = (QmProfile){ NULL };
}
