/* SPDX-License-Identifier: Apache-2.0 */

/* Between executor.c, which executes, executor-values.c, which reads and writes
 * what it works on, and executor-constants.c, which knows some of that. */

#ifndef QM_ENGINE_EXECUTOR_PRIVATE_H
#define QM_ENGINE_EXECUTOR_PRIVATE_H

#include "engine/executor.h"
#include "engine/host-side.h"
#include "engine/rank-side.h"

/* Calls that are queued together, and what was captured of them. */
typedef struct QmRow
{
  QmOpCall *calls;
  size_t n;
  QmCapture *captured;
} QmRow;

enum
{
  ROW_PASS,
  ROW_LAST, /* a pass that is the last of a step, where that does more */
  ROW_UPDATE,
  N_ROWS
};

struct QmExecutor
{
  const QmPlan *plan;
  QmDevice *device;
  QmStream *stream;
  QmRegions regions;
  void *memory[7]; /* what has to be freed */
  size_t n_memory;
  uint64_t allocated;
  QmRow rows[N_ROWS];
  QmHostSide *side;  /* NULL: nothing is offloaded */
  QmRankSide *ranks; /* NULL: there is one rank */
  QmCommunicator *communicator;
  uint64_t seed;
};

/* Where the fp32 weights that this rank has begin, on the device or the host;
 * NULL where they are those that products read. */
float *qm_executor_master (const QmExecutor *executor);

/* What the rank has of a parameter, or of the gradient of one. */
QmPiece qm_executor_piece (const QmPlan *plan, QmValueId id, size_t n);

/* A tensor at the address of a value. */
QmTensor qm_executor_bind (const QmExecutor *executor, QmValueId id);

/* Angles of rotary positions, and positions of patches. */
QmStatus qm_executor_write_constants (QmExecutor *executor, QmError *error);

/* Whether all ranks are there: what fails between them no stream tells. */
QmStatus qm_executor_check_others (const QmExecutor *executor, QmError *error);

#endif
