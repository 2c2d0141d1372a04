/* SPDX-License-Identifier: Apache-2.0 */

/* Laying out buffers, each of which lives for a while, in one piece of memory;
 * only for engine/. */

#ifndef QM_ENGINE_ARENA_H
#define QM_ENGINE_ARENA_H

#include "data/error.h"

#include <stddef.h>
#include <stdint.h>

typedef struct QmBuffer
{
  int32_t id;
  int64_t bytes;       /* a multiple of the alignment */
  int64_t first, last; /* moments at which it lives, the last one included */
  int64_t offset;      /* where it is laid */
} QmBuffer;

/* Sets the offsets of `n` buffers that live at moments below `moments`, in any
 * order afterwards.  Returns in *size the bytes that they take, and in *live
 * the most that live at one moment, which no layout can be smaller than.  Time
 * grows with n log n for the buffers of training steps. */
QmStatus qm_arena_lay_out (QmBuffer *buffers,
                           size_t n,
                           size_t moments,
                           uint64_t *size,
                           uint64_t *live,
                           QmError *error);

#endif
