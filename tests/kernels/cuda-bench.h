/* SPDX-License-Identifier: Apache-2.0 */

/* What programs that time operators of the GPU share.  Each function leaves the
 * program with a message where something fails. */

#ifndef QM_TESTS_KERNELS_CUDA_BENCH_H
#define QM_TESTS_KERNELS_CUDA_BENCH_H

#include "kernels/operators.h"

#define SHAPE(...) ((int64_t[]){ __VA_ARGS__ })

#define BENCH_MAX_TENSORS 24
#define BENCH_MAX_REPEATS 64

typedef struct CudaBench
{
  QmDevice *device;
  QmStream *stream;
  QmEvent *begin, *end;
  int repeat; /* timed calls, up to BENCH_MAX_REPEATS */
  QmTensor rng;
  void *seed;
  void *memory[BENCH_MAX_TENSORS];
  size_t n;
} CudaBench;

/* Reads [--repeat N] [--only NAME]; false where there is anything else. */
bool bench_options (int argc, char **argv, int *repeat, const char **only);

/* Opens the first GPU; where there is none, says so and leaves with 77. */
void bench_open (CudaBench *bench, int repeat);
void bench_close (CudaBench *bench);

/* Memory of the device, until bench_release(). */
void *bench_allocate (CudaBench *bench, size_t bytes);
void bench_release (CudaBench *bench);

/* Copies from memory of the host. */
void bench_write (CudaBench *bench, void *to, const void *from, size_t bytes);

/* A dense tensor of normal numbers, `scale` wide around `value`. */
QmTensor bench_normal (CudaBench *bench,
                       QmType type,
                       int32_t rank,
                       const int64_t *shape,
                       double value,
                       double scale);

/* A dense i32 tensor of whole numbers in [0, count). */
QmTensor bench_indices (CudaBench *bench,
                        int32_t rank,
                        const int64_t *shape,
                        int64_t count);

/* Gives a call the workspace that it asks for. */
void bench_workspace (CudaBench *bench, QmOpCall *call);

/* The median seconds of a call; negative where the device has no such operator.
 */
double bench_time (CudaBench *bench, const QmOpCall *call);

/* Bytes of inputs, and of outputs, twice where they are added to. */
double bench_bytes (const QmOpCall *call);

/* Bytes a second, read and written, of the driver's own copy. */
double bench_copy_rate (CudaBench *bench);

#endif
