/* SPDX-License-Identifier: Apache-2.0 */

/* Between host-side.c, which has the memory and moves what a pass moves, and
 * host-side-update.c. */

#ifndef QM_ENGINE_HOST_SIDE_PRIVATE_H
#define QM_ENGINE_HOST_SIDE_PRIVATE_H

#include "engine/host-side.h"
#include "kernels/host/host-adam.h"
#include "kernels/threads.h"

/* Gradients that go through a slot together. */
typedef struct QmSending
{
  QmHostSide *side;
  QmHostAdd add;
  int64_t begin, n; /* elements; the first, of what the rank has */
  int slot;
} QmSending;

/* Between two copies: what arrived is added, and the next waits for its slot.
 * Either may be NULL. */
typedef struct QmArrival
{
  const QmSending *arrived, *next;
} QmArrival;

/* The sendings of a unit, and the arrivals before, between and after them. */
typedef struct QmUnitSending
{
  QmSending *sendings;
  QmArrival *arrivals; /* one more */
  size_t n;
  QmEvent *sent;
} QmUnitSending;

/* Weights that are updated together. */
typedef struct QmUpdating
{
  QmHostSide *side;
  QmHostAdam adam; /* its addresses are those of the first of them */
  int64_t begin, n;
  int slot;
} QmUpdating;

typedef struct QmSlot
{
  QmTask *task;
  char *gradients, *weights; /* weights NULL where they do not go through it */
  QmEvent *started;          /* the task was */
  QmEvent *emptied;          /* the weights are on the device */
} QmSlot;

struct QmHostSide
{
  const QmPlan *plan;
  const QmRegions *regions;
  QmDevice *device;
  QmStream *stream;
  QmStream *down, *up; /* copies from and to the device */
  QmThreads *threads;
  QmSlot slots[QM_HOST_SLOTS];
  QmEvent *ready; /* on the stream */
  QmEvent *down_done, *up_done;

  float *master, *m, *v, *gradients;
  float *average; /* NULL: there is none */
  void *weights;
  char *staging, *resident;
  float *state, *sum; /* of the device; in the staging */
  void *pinned[2];
  size_t n_pinned;

  QmUnitSending *sending; /* by unit of gradients */
  QmEvent **fetched;      /* by unit of weights */
  QmUpdating *updating;
  size_t n_updating;
  QmHostSquares squares;
};

static inline size_t
qm_host_side_bytes (const QmHostSide *side, int64_t elements)
{
  return (size_t) elements * qm_type_size (side->plan->type);
}

/* What is queued on `stream` from now on waits for what is queued on `after`.
 */
QmStatus qm_host_side_follow (QmHostSide *side,
                              QmStream *stream,
                              QmStream *after,
                              QmError *error);

/* The stream that everything is queued on waits for `stream`; `event` is free
 * for it. */
QmStatus qm_host_side_join (QmHostSide *side,
                            QmStream *stream,
                            QmEvent *event,
                            QmError *error);

/* Bytes of what the rank has of the parameters that stay on the device by
 * themselves. */
static inline size_t
qm_host_side_resident (const QmHostSide *side)
{
  return (size_t) (side->plan->resident_bytes / (uint64_t) side->plan->parts);
}

/* Copies that to the staging, and queues copying it from there to the device.
 */
void qm_host_side_gather (QmHostSide *side);
QmStatus
qm_host_side_raise (QmHostSide *side, QmStream *stream, QmError *error);

/* Describes the parts of an update. */
QmStatus qm_host_side_plan_update (QmHostSide *side, QmError *error);

/* Queues an operator of an update. */
QmStatus
qm_host_side_update (QmHostSide *side, const QmOpCall *call, QmError *error);

#endif
