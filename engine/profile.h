/* SPDX-License-Identifier: Apache-2.0 */

/* Where the time of a step goes, operator by operator. */

#ifndef QM_ENGINE_PROFILE_H
#define QM_ENGINE_PROFILE_H

#include "engine/executor.h"

/* Calls of one operator with the same types and shapes. */
typedef struct QmProfileRow
{
  QmOp op;
  bool update;     /* of an update, not of a pass */
  char shape[160]; /* "f16[64,128] f16[256,128] -> f16[64,256]", perhaps cut */
  int64_t count;
  double seconds;      /* of all of them */
  double flops, bytes; /* of all: qm_op_flops(), qm_op_bytes() */
} QmProfileRow;

/* Rows sorted by time, those of a pass before those of the update. */
typedef struct QmProfile
{
  QmProfileRow *rows;
  size_t n;
  double pass, update; /* seconds of the operators of one each */
} QmProfile;

/* Executes one pass and one update operator by operator, with the device's
 * clock read between any two, after a whole pass that gives the host a head
 * start.  The executor must have run a pass before, so that nothing is learned
 * about shapes any more. */
QmStatus qm_profile (QmExecutor *executor, QmProfile *profile, QmError *error);

/* Frees the rows. */
void qm_profile_clear (QmProfile *profile);

#endif
