/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/rank-side.h"

#include <stdlib.h>

struct QmRankSide
{
  const QmPlan *plan;
  const QmRegions *regions;
  QmDevice *device;
  QmStream *stream; /* which everything else is queued on */
  QmHostSide *side;
  QmCommunicator *communicator;
  QmStream *own;
  QmEvent *ready; /* on the stream */
  QmEvent *done;  /* on its own, of the newest exchange */
  /* By unit, that it was fetched, or sent. */
  QmEvent **fetched, **sent;
};

/* What is queued here from now on waits for what is queued on the stream. */
static QmStatus
fork_own (QmRankSide *x, QmError *error)
{
  QmStatus status = qm_event_record (x->device, x->stream, x->ready, error);

  return status == QM_OK ? qm_stream_wait (x->device, x->own, x->ready, error)
                         : status;
}

/* Elements of this rank's part of a unit. */
static int64_t
own_part_size (const QmRankSide *x, size_t unit)
{
  return qm_unit_part (&x->plan->units.list[unit], x->plan->parts);
}

/* Where this rank's part of all of a unit is. */
static char *
own_part (const QmRankSide *x, size_t unit, void *all)
{
  return (char *) all
         + (size_t) (x->plan->part * own_part_size (x, unit))
               * qm_type_size (x->plan->type);
}

static int64_t
own_begin (const QmRankSide *x, size_t unit)
{
  return x->plan->units.list[unit].begin / x->plan->parts;
}

static QmStatus
fetch_unit (QmRankSide *x, size_t unit, void *to, QmError *error)
{
  QmType type = x->plan->type;
  const char *from = own_part (x, unit, to);
  QmStatus status;

  if (x->side != NULL)
    {
      status =
          qm_host_side_fetch (x->side, unit, own_part (x, unit, to), error);
      if (status == QM_OK)
        status = qm_host_side_await_fetched (x->side, unit, x->own, error);
    }
  else
    {
      from = x->regions->weights
             + (size_t) own_begin (x, unit) * qm_type_size (type);
      status = fork_own (x, error);
    }
  if (status == QM_OK)
    status = qm_all_gather (x->communicator, x->own, from, to,
                            (size_t) own_part_size (x, unit), type, error);
  return status == QM_OK
             ? qm_event_record (x->device, x->own, x->fetched[unit], error)
             : status;
}

/* Adds the sum of this rank's part to those of the passes before. */
static QmStatus
add_part (QmRankSide *x, size_t unit, void *part, QmError *error)
{
  int64_t n = own_part_size (x, unit);
  float *sums = (float *) (void *) x->regions->gradients + own_begin (x, unit);
  QmOpCall call = { .op = QM_OP_ADD };

  call.inputs[0] = qm_tensor_dense (QM_TYPE_F32, 1, &n, sums);
  call.inputs[1] = qm_tensor_dense (x->plan->type, 1, &n, part);
  call.outputs[0] = call.inputs[0];
  return qm_op_run (x->device, x->own, &call, error);
}

static QmStatus
send_unit (QmRankSide *x, size_t unit, void *from, QmError *error)
{
  char *part = own_part (x, unit, from);
  QmStatus status = fork_own (x, error);

  if (status == QM_OK)
    status = qm_reduce_scatter (x->communicator, x->own, from, part,
                                (size_t) own_part_size (x, unit), x->plan->type,
                                error);
  if (status == QM_OK && x->side != NULL)
    return qm_host_side_send (x->side, unit, part, x->own, error);
  if (status == QM_OK)
    status = add_part (x, unit, part, error);
  return status == QM_OK
             ? qm_event_record (x->device, x->own, x->sent[unit], error)
             : status;
}

/* In place; of parts, this rank's is the rank-th. */
static QmStatus
exchange_all (QmRankSide *x, const QmOpCall *call, QmError *error)
{
  const QmTensor *all = &call->outputs[0];
  size_t n = (size_t) qm_tensor_elements (all);
  size_t each = n / (size_t) x->plan->options.ranks;
  char *part =
      (char *) all->data
      + (size_t) x->plan->options.rank * each * qm_type_size (all->type);
  QmStatus status = fork_own (x, error);

  if (status != QM_OK)
    return status;
  if (call->op == QM_OP_ALL_REDUCE)
    return qm_all_reduce (x->communicator, x->own, all->data, all->data, n,
                          all->type, error);
  if (call->op == QM_OP_REDUCE_SCATTER)
    return qm_reduce_scatter (x->communicator, x->own, all->data, part, each,
                              all->type, error);
  return qm_all_gather (x->communicator, x->own, part, all->data, each,
                        all->type, error);
}

/* What is queued on the stream from now on waits for all exchanges. */
static QmStatus
await_exchanges (QmRankSide *x, QmError *error)
{
  QmStatus status = qm_event_record (x->device, x->own, x->done, error);

  return status == QM_OK ? qm_stream_wait (x->device, x->stream, x->done, error)
                         : status;
}

QmStatus
qm_rank_side_run (QmRankSide *x, const QmOpCall *call, QmError *error)
{
  size_t unit = (size_t) call->attributes.unit;

  switch (call->op)
    {
    case QM_OP_FETCH:
      return fetch_unit (x, unit, call->outputs[0].data, error);
    case QM_OP_SEND:
      return send_unit (x, unit, call->inputs[0].data, error);
    case QM_OP_FETCHED:
      return qm_stream_wait (x->device, x->stream, x->fetched[unit], error);
    case QM_OP_SENT:
      return x->side != NULL
                 ? qm_host_side_await_sent (x->side, unit, x->stream, error)
                 : qm_stream_wait (x->device, x->stream, x->sent[unit], error);
    case QM_OP_EXCHANGED:
      return await_exchanges (x, error);
    default:
      return exchange_all (x, call, error);
    }
}

/* Elements of every rank's part of a unit, and what is read of the unit. */
typedef struct Range
{
  const QmUnit *unit;
  int64_t part;       /* elements of each */
  int64_t begin, end; /* of the slab, to be read */
} Range;

/* What of [begin, end) rank `rank` has, from the beginning of its part on. */
static bool
rank_has (const Range *range, int rank, int64_t *from, int64_t *to)
{
  int64_t first = range->unit->begin + rank * range->part;

  *from = range->begin > first ? range->begin - first : 0;
  *to = range->end < first + range->part ? range->end - first : range->part;
  return *from < *to;
}

/* Reads what ranks have of the range in elements [from, from + n) of their
 * parts, which were gathered one behind the other. */
static QmStatus
read_gathered (QmRankSide *x,
               const Range *range,
               int64_t from,
               int64_t n,
               float *to,
               QmError *error)
{
  const float *gathered = (const float *) (const void *) x->regions->arena;
  QmStatus status = QM_OK;

  for (int rank = 0; rank < x->plan->parts && status == QM_OK; rank++)
    {
      int64_t first, last, at;

      if (!rank_has (range, rank, &first, &last))
        continue;
      first = first > from ? first : from;
      last = last < from + n ? last : from + n;
      at = range->unit->begin + rank * range->part + first - range->begin;
      if (first < last)
        status = qm_device_read (x->device, x->stream, to + at,
                                 gathered + rank * n + first - from,
                                 (size_t) (last - first) * sizeof *to, error);
    }
  return status;
}

static QmStatus
gather_floats (
    QmRankSide *x, const float *from, bool of_host, int64_t n, QmError *error)
{
  float *all = (float *) (void *) x->regions->arena;
  float *mine = all + x->plan->part * n;
  QmStatus status = QM_OK;

  if (of_host)
    status = qm_device_write (x->device, x->stream, mine, from,
                              (size_t) n * sizeof *from, error);
  return status == QM_OK
             ? qm_all_gather (x->communicator, x->stream, of_host ? mine : from,
                              all, (size_t) n, QM_TYPE_F32, error)
             : status;
}

QmStatus
qm_rank_side_read (QmRankSide *x,
                   int32_t unit,
                   const float *part,
                   bool of_host,
                   int64_t begin,
                   int64_t n,
                   float *to,
                   QmError *error)
{
  const QmPlan *plan = x->plan;
  Range range = { &plan->units.list[unit], own_part_size (x, (size_t) unit),
                  begin, begin + n };
  int64_t first = range.part, last = 0, from, end;
  int64_t chunk = (int64_t) (plan->memory.activations / sizeof (float))
                  / plan->parts / QM_SLAB_ALIGNMENT * QM_SLAB_ALIGNMENT;
  QmStatus status = QM_OK;

  for (int rank = 0; rank < plan->parts; rank++)
    if (rank_has (&range, rank, &from, &end))
      {
        first = from < first ? from : first;
        last = end > last ? end : last;
      }
  if (chunk == 0)
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "too little is left on the device to gather weights");
  for (int64_t i = first; i < last && status == QM_OK; i += chunk)
    {
      int64_t now = last - i < chunk ? last - i : chunk;

      status = gather_floats (x, part + i, of_host, now, error);
      if (status == QM_OK)
        status = read_gathered (x, &range, i, now, to, error);
    }
  return status;
}

static QmStatus
make_events (QmRankSide *x, size_t n, QmEvent ***events, QmError *error)
{
  QmStatus status = QM_OK;

  *events = calloc (n + 1, sizeof **events);
  if (*events == NULL)
    return qm_error_no_memory (error);
  for (size_t i = 0; i < n && status == QM_OK; i++)
    status = qm_event_create (x->device, &(*events)[i], error);
  return status;
}

QmStatus
qm_rank_side_new (const QmPlan *plan,
                  const QmRegions *regions,
                  QmDevice *device,
                  QmStream *stream,
                  QmHostSide *side,
                  QmCommunicator *communicator,
                  QmRankSide **ranks,
                  QmError *error)
{
  QmRankSide *new = calloc (1, sizeof *new);
  QmStatus status;

  *ranks = NULL;
  if (new == NULL)
    return qm_error_no_memory (error);
  new->plan = plan;
  new->regions = regions;
  new->device = device;
  new->stream = stream;
  new->side = side;
  new->communicator = communicator;
  status = qm_stream_create (device, &new->own, error);
  if (status == QM_OK)
    status = qm_event_create (device, &new->ready, error);
  if (status == QM_OK)
    status = qm_event_create (device, &new->done, error);
  if (status == QM_OK)
    status = make_events (new, plan->units.n_fetched, &new->fetched, error);
  if (status == QM_OK)
    status = make_events (new, plan->units.n_sent, &new->sent, error);
  if (status == QM_OK)
    *ranks = new;
  else
    qm_rank_side_free (new);
  return status;
}

static void
free_events (QmRankSide *x, QmEvent **events, size_t n)
{
  for (size_t i = 0; events != NULL && i < n; i++)
    qm_event_free (x->device, events[i]);
  free (events);
}

void
qm_rank_side_free (QmRankSide *x)
{
  if (x == NULL)
    return;
  if (x->own != NULL)
    qm_stream_synchronize (x->device, x->own, NULL);
  free_events (x, x->fetched, x->plan->units.n_fetched);
  free_events (x, x->sent, x->plan->units.n_sent);
  qm_event_free (x->device, x->ready);
  qm_event_free (x->device, x->done);
  qm_stream_free (x->device, x->own);
  free (x);
}
