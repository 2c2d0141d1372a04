/* SPDX-License-Identifier: Apache-2.0 */

/* How fast the GPU has branches of some samples alone, as a student of DINOv2
 * trains: of 128 crops of 257 and of 50 tokens, 76.
 *
 *   bench-cuda-samples [--repeat N] [--only TEXT]
 *
 * Prints the median time of a call, GB/s over what has to be moved, and which
 * share of the time a plain copy of as much would take. */

#include "tests/kernels/cuda-bench.h"

#include <stdio.h>
#include <string.h>

enum
{
  CROPS = 128,
  CHOSEN = 76,
  BRANCHES = 48,
  FEATURES = 1024
};

typedef struct Bench
{
  CudaBench gpu;
  const char *only;
  double copy; /* bytes a second */
  int64_t tokens;
} Bench;

static QmTensor
matrix (Bench *bench, QmType type, int64_t rows, int64_t columns)
{
  return bench_normal (&bench->gpu, type, 2, SHAPE (rows, columns), 0, 1);
}

static QmTensor
gain (Bench *bench)
{
  return bench_normal (&bench->gpu, QM_TYPE_F32, 1, SHAPE (FEATURES), 0, 1);
}

static QmTensor
numbers (Bench *bench, int64_t rows, int64_t n)
{
  return bench_indices (&bench->gpu, 2, SHAPE (rows, n), 1);
}

static void
report (Bench *bench, const char *name, QmOpCall *call)
{
  double bytes = qm_op_bytes (call), seconds;

  if (bench->only == NULL || strstr (name, bench->only) != NULL)
    {
      bench_workspace (&bench->gpu, call);
      seconds = bench_time (&bench->gpu, call);
      printf ("%3lld tokens, %-22s %9.1f us %8.3f GB %6.0f GB/s %5.1f %%\n",
              (long long) bench->tokens, name, seconds * 1e6, bytes * 1e-9,
              bytes / seconds * 1e-9, 100 * bytes / bench->copy / seconds);
      fflush (stdout);
    }
  bench_release (&bench->gpu);
}

/* Which crops go through the branch, as QM_OP_MASK_PATCHES says it. */
static void
choose (Bench *bench, QmTensor *kept, QmTensor *places)
{
  int32_t chosen[CHOSEN] = { 0 }, all[CROPS];
  int n = 0;

  for (int i = 0; i < CROPS; i++)
    {
      bool goes = n < CHOSEN && i * CHOSEN / CROPS >= n;

      all[i] = goes ? n : -1;
      if (goes)
        chosen[n++] = i;
    }
  *kept = numbers (bench, 1, CHOSEN);
  *places = numbers (bench, 1, CROPS);
  bench_write (&bench->gpu, kept->data, chosen, sizeof chosen);
  bench_write (&bench->gpu, places->data, all, sizeof all);
}

/* Residuals are in fp32, what branches make in bf16. */
static void
bench_forward (Bench *bench)
{
  const int64_t rows = CROPS * bench->tokens, some = CHOSEN * bench->tokens;
  QmOpCall call = { .op = QM_OP_MASK_PATCHES };

  call.inputs[1] = bench->gpu.rng;
  call.outputs[0] = numbers (bench, BRANCHES, CHOSEN);
  call.outputs[1] = numbers (bench, BRANCHES, CROPS);
  report (bench, "choice", &call);
  call = (QmOpCall){ .op = QM_OP_PICK_ROWS, .attributes.count = 1 };
  choose (bench, &call.inputs[1], &call.inputs[2]);
  call.inputs[0] = matrix (bench, QM_TYPE_F32, CROPS, bench->tokens * FEATURES);
  call.outputs[0] =
      matrix (bench, QM_TYPE_F32, CHOSEN, bench->tokens * FEATURES);
  report (bench, "picked", &call);
  for (int in_place = 0; in_place < 2; in_place++)
    {
      call = (QmOpCall){ .op = QM_OP_LAYER_SCALE, .attributes.scale = 1.7 };
      choose (bench, &call.inputs[5], &call.inputs[4]);
      call.inputs[0] = matrix (bench, QM_TYPE_BF16, some, FEATURES);
      call.inputs[1] = gain (bench);
      call.inputs[2] = matrix (bench, QM_TYPE_F32, rows, FEATURES);
      call.outputs[0] = in_place > 0
                            ? call.inputs[2]
                            : matrix (bench, QM_TYPE_F32, rows, FEATURES);
      report (bench, in_place > 0 ? "added in place" : "added", &call);
    }
}

static void
bench_backward (Bench *bench)
{
  const int64_t rows = CROPS * bench->tokens, some = CHOSEN * bench->tokens;
  QmOpCall call = { .op = QM_OP_LAYER_SCALE_BACKWARD };

  call.attributes.scale = 1.7;
  choose (bench, &call.inputs[5], &call.inputs[4]);
  call.inputs[0] = matrix (bench, QM_TYPE_F32, rows, FEATURES);
  call.inputs[1] = call.outputs[0] =
      matrix (bench, QM_TYPE_BF16, some, FEATURES);
  call.inputs[2] = gain (bench);
  call.outputs[1] = gain (bench);
  report (bench, "gradient of the branch", &call);
  call = (QmOpCall){ .op = QM_OP_LAYER_SCALE, .attributes.scale = 1 };
  choose (bench, &call.inputs[5], &call.inputs[4]);
  call.inputs[0] = matrix (bench, QM_TYPE_F32, some, FEATURES);
  call.inputs[2] = call.outputs[0] =
      matrix (bench, QM_TYPE_F32, rows, FEATURES);
  report (bench, "gradients added", &call);
}

int
main (int argc, char **argv)
{
  Bench bench = { .only = NULL };
  int repeat;

  if (!bench_options (argc, argv, &repeat, &bench.only))
    return 2;
  bench_open (&bench.gpu, repeat);
  bench.copy = bench_copy_rate (&bench.gpu);
  printf ("copy %.0f GB/s\n", bench.copy * 1e-9);
  for (int i = 0; i < 2; i++)
    {
      bench.tokens = i == 0 ? 257 : 50;
      bench_forward (&bench);
      bench_backward (&bench);
    }
  bench_close (&bench.gpu);
  return 0;
}
