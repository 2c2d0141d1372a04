/* SPDX-License-Identifier: Apache-2.0 */

/* One call on the CPU and on a GPU, from the same memory, and what differs. */

#ifndef QM_TESTS_KERNELS_COMPARE_H
#define QM_TESTS_KERNELS_COMPARE_H

#include "kernels/operators.h"

typedef struct CompareBuffer
{
  size_t bytes;
  unsigned char *initial, *cpu, *gpu;
  void *device;
} CompareBuffer;

#define COMPARE_BUFFERS 20

typedef struct Compare
{
  QmDevice *cpu, *gpu;
  QmStream *cpu_stream, *gpu_stream;
  uint64_t seed;
  int neighbours; /* elements in 16 of bf16 outputs that may be rounded to the
                     number beside; 1 until it is changed */
  double worst;   /* error of all calls, as a share of what is allowed */
  int calls;
  bool older;   /* as a GPU of less: what it refuses is counted, not failed */
  bool refused; /* the last call was */
  int refusals;
  size_t n;
  CompareBuffer buffers[COMPARE_BUFFERS];
} Compare;

/* Takes the GPU as qm_device_open() does.  False where there is none; says
 * so. */
bool compare_open (Compare *compare, int architecture);
void compare_close (Compare *compare);

/* A whole number in [low, high], both included. */
int64_t compare_between (Compare *compare, int64_t low, int64_t high);

/* Either, as often as not. */
bool compare_toss (Compare *compare);

/* One of the float types. */
QmType compare_type (Compare *compare);

/* A tensor of normal numbers (whole ones in [0, 100) if it is i32).  Rows are
 * followed by `gap` elements, and `offset` elements stand before the first. */
QmTensor compare_tensor (Compare *compare,
                         QmType type,
                         int32_t rank,
                         const int64_t *shape,
                         int64_t gap,
                         int64_t offset);

/* What qm_dropout needs: three words. */
QmTensor compare_rng (Compare *compare);

/* Runs the call on both devices, on the GPU twice (the second time out of a
 * capture), and checks: both runs give the same bits; outputs agree to
 * `tolerance` (relative L2, for f32; 16-bit outputs to their own precision);
 * i32 outputs and all memory around the outputs agree exactly.  What a GPU that
 * was opened as an older one has no kernels for is counted alone.  Frees the
 * tensors. */
void compare_run (Compare *compare, const QmOpCall *call, double tolerance);

#endif
