/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/host-side-private.h"
#include "kernels/convert.h"
#include "kernels/host/host-limit.h"

#include <stdlib.h>
#include <string.h>

/* Elements that a thread copies at a time. */
#define CHUNK 65536

/* Elements that one touches at a time: of a large page. */
#define TOUCHED (INT64_C (1) << 19)

QmStatus
qm_host_side_follow (QmHostSide *side,
                     QmStream *stream,
                     QmStream *after,
                     QmError *error)
{
  QmStatus status = qm_event_record (side->device, after, side->ready, error);

  return status == QM_OK
             ? qm_stream_wait (side->device, stream, side->ready, error)
             : status;
}

QmStatus
qm_host_side_join (QmHostSide *side,
                   QmStream *stream,
                   QmEvent *event,
                   QmError *error)
{
  QmStatus status = qm_event_record (side->device, stream, event, error);

  return status == QM_OK
             ? qm_stream_wait (side->device, side->stream, event, error)
             : status;
}

void
qm_host_side_gather (QmHostSide *side)
{
  const QmPlan *plan = side->plan;
  const QmUnits *units = &plan->units;

  for (size_t i = units->n_moving; i < units->n; i++)
    {
      const QmUnit *unit = &units->list[i];
      const QmResident *stays = &plan->stays[i - units->n_moving];

      qm_floats_store (stays->type,
                       side->resident + stays->begin / (uint64_t) plan->parts,
                       1, qm_unit_part (unit, plan->parts),
                       side->master + unit->begin / plan->parts);
    }
}

QmStatus
qm_host_side_raise (QmHostSide *side, QmStream *stream, QmError *error)
{
  const QmPlan *plan = side->plan;
  const QmUnits *units = &plan->units;
  QmStatus status = QM_OK;

  for (size_t i = units->n_moving; i < units->n && status == QM_OK; i++)
    {
      const QmResident *stays = &plan->stays[i - units->n_moving];
      uint64_t bytes = (uint64_t) qm_unit_part (&units->list[i], plan->parts)
                       * qm_type_size (stays->type);

      status = qm_stream_write (side->device, stream,
                                side->regions->resident + stays->begin
                                    + (uint64_t) plan->part * bytes,
                                side->resident
                                    + stays->begin / (uint64_t) plan->parts,
                                (size_t) bytes, error);
    }
  return status;
}

void
qm_host_side_wait (QmHostSide *side)
{
  for (int i = 0; i < QM_HOST_SLOTS; i++)
    if (side->slots[i].task != NULL)
      qm_task_wait (side->slots[i].task);
}

/* So much that no page is left out, of any size. */
#define PAGE 4096

/* Of elements [begin, end), of `size` bytes each. */
static void
touch_pages (void *memory, size_t size, int64_t begin, int64_t end)
{
  volatile char *bytes = memory;

  if (memory != NULL)
    for (size_t i = (size_t) begin * size; i < (size_t) end * size; i += PAGE)
      bytes[i] = 0;
}

static void
touch_body (void *data, int64_t begin, int64_t end)
{
  const QmUpdating *part = data;
  const QmHostAdam *adam = &part->adam;

  touch_pages (adam->master, sizeof *adam->master, begin, end);
  touch_pages (adam->m, sizeof *adam->m, begin, end);
  touch_pages (adam->v, sizeof *adam->v, begin, end);
  touch_pages (adam->gradient, sizeof (float), begin, end);
  touch_pages (adam->weights, qm_type_size (part->side->plan->type), begin,
               end);
}

/* Memory that the system has given is zero; where its pages are is decided when
 * they are touched, which takes most of the time that it costs.  Each thread
 * touches about what it will update. */
static void
touch (QmHostSide *side)
{
  for (size_t i = 0; i < side->n_updating; i++)
    {
      QmUpdating *part = &side->updating[i];
      QmTask *task = side->slots[part->slot].task;

      qm_task_wait (task);
      qm_task_start (task, &(QmTaskRange){ 0, part->n, TOUCHED, true },
                     touch_body, part);
    }
  qm_host_side_wait (side);
}

/* Zero, each part by the threads that update it. */
static void
clear (QmHostSide *side)
{
  for (size_t i = 0; i < side->n_updating; i++)
    {
      QmUpdating *part = &side->updating[i];

      qm_task_wait (side->slots[part->slot].task);
      qm_host_adam_touch_start (side->slots[part->slot].task, &part->adam, 0,
                                part->n);
    }
  qm_host_side_wait (side);
  if (side->average != NULL)
    memset (side->average, 0, (size_t) side->plan->own * sizeof (float));
}

void
qm_host_side_clear (QmHostSide *side)
{
  clear (side);
  memset (side->resident, 0, qm_host_side_resident (side));
}

static void
clear_body (void *data, int64_t begin, int64_t end)
{
  memset ((float *) data + begin, 0, (size_t) (end - begin) * sizeof (float));
}

void
qm_host_side_clear_gradients (QmHostSide *side)
{
  if (side->gradients == NULL)
    return;
  qm_task_start (side->slots[0].task,
                 &(QmTaskRange){ 0, side->plan->own, CHUNK, false }, clear_body,
                 side->gradients);
  qm_task_wait (side->slots[0].task);
}

/* Between two copies. */
static void
arrive (void *data)
{
  const QmArrival *arrival = data;
  const QmSending *arrived = arrival->arrived, *next = arrival->next;

  if (arrived != NULL)
    qm_host_add_start (arrived->side->slots[arrived->slot].task, &arrived->add,
                       0, arrived->n);
  if (next != NULL)
    qm_task_wait (next->side->slots[next->slot].task);
}

QmStatus
qm_host_side_send (QmHostSide *side,
                   size_t index,
                   const void *from,
                   QmStream *after,
                   QmError *error)
{
  QmUnitSending *unit = &side->sending[index];
  const char *bytes = from;
  QmStatus status = qm_host_side_follow (side, side->down, after, error);

  for (size_t i = 0; i <= unit->n && status == QM_OK; i++)
    {
      const QmSending *sending = &unit->sendings[i];

      status = qm_stream_call (side->device, side->down, arrive,
                               &unit->arrivals[i], error);
      if (status == QM_OK && i < unit->n)
        status = qm_stream_read (
            side->device, side->down, side->slots[sending->slot].gradients,
            bytes
                + qm_host_side_bytes (side,
                                      sending->begin - unit->sendings[0].begin),
            qm_host_side_bytes (side, sending->n), error);
    }
  if (status == QM_OK)
    status = qm_event_record (side->device, side->down, unit->sent, error);
  return status;
}

QmStatus
qm_host_side_fetch (QmHostSide *side, size_t index, void *to, QmError *error)
{
  const QmPlan *plan = side->plan;
  const QmUnit *unit = &plan->units.list[index];
  const char *from = side->weights != NULL ? side->weights : side->master;
  QmStatus status = qm_host_side_follow (side, side->up, side->stream, error);

  if (status == QM_OK)
    status = qm_stream_write (
        side->device, side->up, to,
        from + qm_host_side_bytes (side, unit->begin / plan->parts),
        qm_host_side_bytes (side, qm_unit_part (unit, plan->parts)), error);
  if (status == QM_OK)
    status =
        qm_event_record (side->device, side->up, side->fetched[index], error);
  return status;
}

QmStatus
qm_host_side_await_fetched (QmHostSide *side,
                            size_t unit,
                            QmStream *stream,
                            QmError *error)
{
  return qm_stream_wait (side->device, stream, side->fetched[unit], error);
}

QmStatus
qm_host_side_await_sent (QmHostSide *side,
                         size_t unit,
                         QmStream *stream,
                         QmError *error)
{
  return qm_stream_wait (side->device, stream, side->sending[unit].sent, error);
}

QmStatus
qm_host_side_run (QmHostSide *side, const QmOpCall *call, QmError *error)
{
  size_t unit = (size_t) call->attributes.unit;

  switch (call->op)
    {
    case QM_OP_FETCH:
      return qm_host_side_fetch (side, unit, call->outputs[0].data, error);
    case QM_OP_SEND:
      return qm_host_side_send (side, unit, call->inputs[0].data, side->stream,
                                error);
    case QM_OP_FETCHED:
      return qm_host_side_await_fetched (side, unit, side->stream, error);
    case QM_OP_SENT:
      return qm_host_side_await_sent (side, unit, side->stream, error);
    default:
      return qm_host_side_update (side, call, error);
    }
}

/* Takes memory of the host; `bytes` 0: none. */
static QmStatus
take_host_memory (uint64_t bytes, void *memory, QmError *error)
{
  void *taken = bytes > 0 ? qm_host_memory_new ((size_t) bytes) : NULL;

  memcpy (memory, &taken, sizeof taken);
  if (bytes == 0 || taken != NULL)
    return QM_OK;
  return qm_error_set (error, QM_STATUS_DEVICE_FULL, "", 0, 0,
                       "the host has no %.2f GiB of memory",
                       (double) bytes / 0x1p30);
}

static QmStatus
take_all_host_memory (QmHostSide *side, QmError *error)
{
  const QmHostMemory *host = &side->plan->host;
  uint64_t available = side->plan->options.host_bytes;
  uint64_t wanted = side->plan->memory.host;
  QmStatus status;

  if (available == 0)
    available = qm_host_available ("");

  /* Linux promises more than it has, and ends programs that take it. */
  if (available > 0 && wanted > available)
    return qm_error_set (error, QM_STATUS_DEVICE_FULL, "", 0, 0,
                         "offloading needs %.1f GiB of the host's memory, and "
                         "there are %.1f GiB",
                         (double) wanted / 0x1p30, (double) available / 0x1p30);
  status = take_host_memory (host->states, &side->master, error);
  if (status == QM_OK)
    status = take_host_memory (host->states, &side->m, error);
  if (status == QM_OK)
    status = take_host_memory (host->states, &side->v, error);
  if (status == QM_OK && side->plan->recipe.ema_decay > 0)
    status = take_host_memory (host->states, &side->average, error);
  if (status == QM_OK)
    status = take_host_memory (host->gradients, &side->gradients, error);
  if (status == QM_OK)
    status = take_host_memory (host->weights, &side->weights, error);
  if (status == QM_OK)
    status = take_host_memory (host->staging, &side->staging, error);
  if (status != QM_OK)
    return status;
  for (int i = 0; i < QM_HOST_SLOTS; i++)
    {
      side->slots[i].gradients =
          side->staging + (uint64_t) i * host->gradient_slot;
      if (host->weight_slot > 0)
        side->slots[i].weights = side->staging + host->weight_slots
                                 + (uint64_t) i * host->weight_slot;
    }
  side->resident = side->staging + host->resident;
  side->state =
      (float *) (void *) (side->resident + qm_host_side_resident (side));
  side->sum = side->state + QM_STATE_SIZE;
  side->squares = (QmHostSquares){ .kernel = qm_host_kernel_best (),
                                   .type = QM_TYPE_F32,
                                   .x = side->gradients,
                                   .n = side->plan->own };
  return QM_OK;
}

static QmStatus
pin (QmHostSide *side, void *memory, uint64_t bytes, QmError *error)
{
  QmStatus status = qm_host_pin (side->device, memory, (size_t) bytes, error);

  if (status == QM_OK)
    side->pinned[side->n_pinned++] = memory;
  return status;
}

/* What copies read or write, and no more: it takes time. */
static QmStatus
pin_all (QmHostSide *side, QmError *error)
{
  const QmHostMemory *host = &side->plan->host;
  QmStatus status = pin (side, side->staging, host->staging, error);

  if (status != QM_OK || !qm_sharding_weights (side->plan->options.sharding))
    return status;
  return side->weights != NULL ? pin (side, side->weights, host->weights, error)
                               : pin (side, side->master, host->states, error);
}

static QmStatus
make_streams (QmHostSide *side, QmError *error)
{
  const QmUnits *units = &side->plan->units;
  QmDevice *device = side->device;
  QmEvent **single[] = { &side->ready, &side->down_done, &side->up_done };
  QmStatus status = qm_stream_create (device, &side->down, error);

  if (status == QM_OK)
    status = qm_stream_create (device, &side->up, error);
  for (size_t i = 0; i < 3 && status == QM_OK; i++)
    status = qm_event_create (device, single[i], error);
  for (int i = 0; i < QM_HOST_SLOTS && status == QM_OK; i++)
    {
      status = qm_event_create (device, &side->slots[i].started, error);
      if (status == QM_OK)
        status = qm_event_create (device, &side->slots[i].emptied, error);
    }
  for (size_t i = 0; i < units->n_sent && status == QM_OK; i++)
    status = qm_event_create (device, &side->sending[i].sent, error);
  for (size_t i = 0; i < units->n_fetched && status == QM_OK; i++)
    status = qm_event_create (device, &side->fetched[i], error);
  return status;
}

/* A GPU's copies and kernels are queued by threads that want a core too. */
static QmStatus
make_threads (QmHostSide *side, QmError *error)
{
  bool gpu = qm_target_is_gpu (&qm_device_info (side->device)->target);
  int count = qm_threads_available ();
  QmStatus status = qm_threads_new (gpu && count > 2 ? count - 1 : count, gpu,
                                    &side->threads, error);

  for (int i = 0; i < QM_HOST_SLOTS && status == QM_OK; i++)
    status = qm_task_new (side->threads, &side->slots[i].task, error);
  return status;
}

/* Cuts a unit; *slot is the next one to be used. */
static QmStatus
plan_sending (QmHostSide *side, size_t index, int *slot, QmError *error)
{
  const QmPlan *plan = side->plan;
  const QmUnit *range = &plan->units.list[index];
  int64_t own = range->begin / plan->parts, chunk = plan->host.chunk;
  int64_t end = own + qm_unit_part (range, plan->parts);
  QmUnitSending *unit = &side->sending[index];

  unit->n = (size_t) ((end - own - 1) / chunk + 1);
  unit->sendings = calloc (unit->n + 1, sizeof *unit->sendings);
  unit->arrivals = calloc (unit->n + 1, sizeof *unit->arrivals);
  if (unit->sendings == NULL || unit->arrivals == NULL)
    return qm_error_no_memory (error);
  for (size_t i = 0; i < unit->n; i++)
    {
      QmSending *sending = &unit->sendings[i];
      int64_t begin = own + (int64_t) i * chunk;

      *sending = (QmSending){
        .side = side,
        .begin = begin,
        .n = end - begin < chunk ? end - begin : chunk,
        .slot = *slot,
        .add = { .kernel = qm_host_kernel_best (),
                 .type = plan->type,
                 .x = side->slots[*slot].gradients,
                 .sum = side->gradients + begin },
      };
      unit->arrivals[i].next = sending;
      unit->arrivals[i + 1].arrived = sending;
      *slot = (*slot + 1) % QM_HOST_SLOTS;
    }
  return QM_OK;
}

/* In the order in which units are sent. */
static QmStatus
plan_sendings (QmHostSide *side, QmError *error)
{
  const QmGraph *graph = side->plan->graph;
  QmStatus status = QM_OK;
  int slot = 0;

  for (size_t i = 0; i < graph->n_nodes && status == QM_OK; i++)
    if (graph->nodes[i].op == QM_OP_SEND)
      status = plan_sending (side, (size_t) graph->nodes[i].attributes.unit,
                             &slot, error);
  return status;
}

static QmStatus
make_tables (QmHostSide *side, QmError *error)
{
  const QmUnits *units = &side->plan->units;

  side->sending = calloc (units->n_sent + 1, sizeof *side->sending);
  side->fetched = calloc (units->n_fetched + 1, sizeof *side->fetched);
  if (side->sending != NULL && side->fetched != NULL)
    return QM_OK;
  return qm_error_no_memory (error);
}

QmStatus
qm_host_side_new (const QmPlan *plan,
                  const QmRegions *regions,
                  QmDevice *device,
                  QmStream *stream,
                  QmHostSide **side,
                  QmError *error)
{
  QmHostSide *new = calloc (1, sizeof *new);
  QmStatus status;

  *side = NULL;
  if (new == NULL)
    return qm_error_no_memory (error);
  new->plan = plan;
  new->regions = regions;
  new->device = device;
  new->stream = stream;
  status = make_tables (new, error);
  if (status == QM_OK)
    status = make_threads (new, error);
  if (status == QM_OK)
    status = take_all_host_memory (new, error);
  if (status == QM_OK)
    status = plan_sendings (new, error);
  if (status == QM_OK)
    status = qm_host_side_plan_update (new, error);
  if (status == QM_OK)
    {
      touch (new);
      status = pin_all (new, error);
    }
  if (status == QM_OK)
    status = make_streams (new, error);
  if (status == QM_OK)
    *side = new;
  else
    qm_host_side_free (new);
  return status;
}

static void
free_memory (QmHostSide *side)
{
  const QmHostMemory *host = &side->plan->host;

  while (side->n_pinned > 0)
    qm_host_unpin (side->device, side->pinned[--side->n_pinned]);
  qm_host_memory_free (side->master, (size_t) host->states);
  qm_host_memory_free (side->m, (size_t) host->states);
  qm_host_memory_free (side->v, (size_t) host->states);
  qm_host_memory_free (side->average, (size_t) host->states);
  qm_host_memory_free (side->gradients, (size_t) host->gradients);
  qm_host_memory_free (side->weights, (size_t) host->weights);
  qm_host_memory_free (side->staging, (size_t) host->staging);
}

static void
free_streams (QmHostSide *side)
{
  QmDevice *device = side->device;

  qm_event_free (device, side->ready);
  qm_event_free (device, side->down_done);
  qm_event_free (device, side->up_done);
  for (int i = 0; i < QM_HOST_SLOTS; i++)
    {
      qm_event_free (device, side->slots[i].started);
      qm_event_free (device, side->slots[i].emptied);
    }
  for (size_t i = 0; side->sending != NULL && i < side->plan->units.n_sent; i++)
    {
      qm_event_free (device, side->sending[i].sent);
      free (side->sending[i].sendings);
      free (side->sending[i].arrivals);
    }
  for (size_t i = 0; side->fetched != NULL && i < side->plan->units.n_fetched;
       i++)
    qm_event_free (device, side->fetched[i]);
  qm_stream_free (device, side->down);
  qm_stream_free (device, side->up);
}

void
qm_host_side_free (QmHostSide *side)
{
  if (side == NULL)
    return;
  if (side->down != NULL)
    qm_stream_synchronize (side->device, side->down, NULL);
  if (side->up != NULL)
    qm_stream_synchronize (side->device, side->up, NULL);
  qm_host_side_wait (side);
  free_streams (side);
  for (int i = 0; i < QM_HOST_SLOTS; i++)
    qm_task_free (side->slots[i].task);
  qm_threads_free (side->threads);
  free_memory (side);
  free (side->updating);
  free (side->sending);
  free (side->fetched);
  free (side);
}

/* Bytes from one place to another. */
typedef struct Copy
{
  char *to;
  const char *from;
} Copy;

static void
copy_body (void *data, int64_t begin, int64_t end)
{
  const Copy *copy = data;

  memcpy (copy->to + begin, copy->from + begin, (size_t) (end - begin));
}

QmStatus
qm_host_side_take (
    QmHostSide *side, int64_t own, const void *from, int64_t n, QmError *error)
{
  int64_t most = (int64_t) (side->plan->host.gradient_slot / 4);
  Copy copies[QM_HOST_SLOTS];
  QmStatus status = QM_OK;

  for (int64_t i = 0; i * most < n && status == QM_OK; i++)
    {
      int64_t begin = i * most, now = n - begin < most ? n - begin : most;
      QmSlot *slot = &side->slots[i % QM_HOST_SLOTS];
      Copy *copy = &copies[i % QM_HOST_SLOTS];

      qm_task_wait (slot->task);
      status = qm_stream_read (side->device, side->stream, slot->gradients,
                               (const float *) from + begin, (size_t) now * 4,
                               error);
      if (status == QM_OK)
        status = qm_stream_synchronize (side->device, side->stream, error);
      *copy = (Copy){ (char *) (side->master + own + begin), slot->gradients };
      if (status == QM_OK)
        qm_task_start (slot->task, &(QmTaskRange){ 0, now * 4, CHUNK, false },
                       copy_body, copy);
    }
  qm_host_side_wait (side);
  return status;
}

static void
publish_body (void *data, int64_t begin, int64_t end)
{
  QmHostSide *side = data;

  qm_floats_store (side->plan->type,
                   (char *) side->weights + qm_host_side_bytes (side, begin), 1,
                   end - begin, side->master + begin);
}

QmStatus
qm_host_side_publish (QmHostSide *side, QmError *error)
{
  QmStatus status;

  if (side->weights != NULL)
    qm_task_start (side->slots[0].task,
                   &(QmTaskRange){ 0, side->plan->own, CHUNK, false },
                   publish_body, side);
  qm_host_side_gather (side);
  qm_host_side_wait (side);
  status = qm_host_side_raise (side, side->stream, error);
  if (status == QM_OK)
    status = qm_stream_synchronize (side->device, side->stream, error);
  return status;
}

float *
qm_host_side_master (QmHostSide *side)
{
  return side->master;
}

float *
qm_host_side_average (QmHostSide *side)
{
  return side->average;
}

float *
qm_host_side_gradients (QmHostSide *side)
{
  return side->gradients;
}

void *
qm_host_side_weights (QmHostSide *side)
{
  return side->weights;
}
