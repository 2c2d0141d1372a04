/* SPDX-License-Identifier: Apache-2.0 */

/* How fast the GPU scans, beside what it could do at best.
 *
 *   bench-cuda-scan [--repeat N] [--channels N] [--states N] [--rows N]
 *
 * By default a layer of mamba-2.8b in bf16, for sequences of 2048 and 2049 rows
 * and batches of 1 to 8, and behind it one of mamba2-1.3b, whose line has the
 * operations that a recurrence takes, and how many a second that is.  Prints
 * the median time of a call, beside it the time that the driver's own copy
 * takes for the bytes that must be read and written, and that of one
 * exponential a row, channel and state at 16 a cycle on every multiprocessor,
 * and what share of the copy's speed the call reaches. */

#include "tests/kernels/cuda-bench.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Bench
{
  CudaBench gpu;
  int64_t channels, n;
  double copy;         /* bytes a second */
  double exponentials; /* a second */
} Bench;

static void
report (
    Bench *bench, const char *name, int64_t batch, int64_t rows, QmOpCall *call)
{
  double bytes = bench_bytes (call), seconds;
  double cells =
      (double) (batch * rows) * (double) (bench->channels * bench->n);

  bench_workspace (&bench->gpu, call);
  seconds = bench_time (&bench->gpu, call);
  printf ("%lld x %lld %-16s chunk %-4lld %9.1f us, copy %7.1f us, "
          "exponentials %7.1f us, %5.1f %% of copy\n",
          (long long) batch, (long long) rows, name,
          (long long) call->attributes.chunk, seconds * 1e6,
          bytes / bench->copy * 1e6, cells / bench->exponentials * 1e6,
          100 * bytes / bench->copy / seconds);
  fflush (stdout);
}

static void
bench_scan (Bench *bench, int64_t batch, int64_t rows, int64_t chunk)
{
  QmType type = QM_TYPE_BF16;
  int64_t d = bench->channels, n = bench->n;
  int64_t *wide = SHAPE (batch * rows, d), *narrow = SHAPE (batch * rows, n);
  QmOpCall call = { .op = QM_OP_SELECTIVE_SCAN }, back;

  call.attributes.width = rows;
  call.attributes.chunk = chunk;
  call.inputs[0] = bench_normal (&bench->gpu, type, 2, wide, 0, 1);
  call.inputs[1] = bench_normal (&bench->gpu, type, 2, wide, 0, 1);
  call.inputs[2] =
      bench_normal (&bench->gpu, QM_TYPE_F32, 2, SHAPE (d, n), 1.5, 0.5);
  call.inputs[3] = bench_normal (&bench->gpu, type, 2, narrow, 0, 1);
  call.inputs[4] = bench_normal (&bench->gpu, type, 2, narrow, 0, 1);
  call.inputs[5] = bench_normal (&bench->gpu, QM_TYPE_F32, 1, &d, 1, 0.1);
  call.inputs[6] = bench_normal (&bench->gpu, QM_TYPE_F32, 1, &d, -4, 1);
  call.inputs[7] = bench_normal (&bench->gpu, type, 2, wide, 0, 1);
  call.outputs[0] = bench_normal (&bench->gpu, type, 2, wide, 0, 1);
  call.outputs[1] =
      bench_normal (&bench->gpu, QM_TYPE_F32, 4,
                    SHAPE (batch, (rows + chunk - 1) / chunk, n, d), 0, 1);
  report (bench, "scan", batch, rows, &call);
  back = (QmOpCall){ .op = QM_OP_SELECTIVE_SCAN_BACKWARD,
                     .attributes = call.attributes };
  back.inputs[0] = call.outputs[0];
  memcpy (&back.inputs[1], call.inputs, 8 * sizeof call.inputs[0]);
  back.inputs[9] = call.outputs[1];
  for (int i = 0; i < 8; i++)
    back.outputs[i] =
        bench_normal (&bench->gpu, call.inputs[i].type, call.inputs[i].rank,
                      call.inputs[i].shape, 0, 1);
  report (bench, "gradient of scan", batch, rows, &back);
  bench_release (&bench->gpu);
}

static void
report_dual (Bench *bench, const char *name, int64_t batch, QmOpCall *call)
{
  double bytes = bench_bytes (call), flops = qm_op_flops (call), seconds;

  bench_workspace (&bench->gpu, call);
  seconds = bench_time (&bench->gpu, call);
  printf ("%lld x %lld %-21s %9.1f us, copy %7.1f us, %6.2f GFLOP, "
          "%6.1f TFLOP/s, workspace %.0f MiB\n",
          (long long) batch, (long long) call->attributes.width, name,
          seconds * 1e6, bytes / bench->copy * 1e6, flops * 1e-9,
          flops / seconds * 1e-12, (double) call->workspace_bytes / 0x1p20);
  fflush (stdout);
}

/* 64 heads of 64, and one group of 128 states. */
static void
bench_dual (Bench *bench, QmType type, int64_t batch, int64_t rows)
{
  const int64_t heads = 64, size = 64, n = 128;
  int64_t *wide = SHAPE (batch * rows, heads * size);
  int64_t *narrow = SHAPE (batch * rows, n);
  QmOpCall call = { .op = QM_OP_DUAL_SCAN }, back;

  call.attributes.width = rows;
  call.attributes.count = 1;
  call.inputs[0] = bench_normal (&bench->gpu, type, 2, wide, 0, 1);
  call.inputs[1] =
      bench_normal (&bench->gpu, type, 2, SHAPE (batch * rows, heads), 0, 1);
  call.inputs[2] = bench_normal (&bench->gpu, QM_TYPE_F32, 1, &heads, 3, 0.7);
  call.inputs[3] = bench_normal (&bench->gpu, type, 2, narrow, 0, 1);
  call.inputs[4] = bench_normal (&bench->gpu, type, 2, narrow, 0, 1);
  call.inputs[5] = bench_normal (&bench->gpu, QM_TYPE_F32, 1, &heads, 1, 0.1);
  call.inputs[6] = bench_normal (&bench->gpu, QM_TYPE_F32, 1, &heads, -4, 1);
  call.outputs[0] = bench_normal (&bench->gpu, type, 2, wide, 0, 1);
  report_dual (bench, "dual scan", batch, &call);
  back = (QmOpCall){ .op = QM_OP_DUAL_SCAN_BACKWARD,
                     .attributes = call.attributes };
  back.inputs[0] = call.outputs[0];
  memcpy (&back.inputs[1], call.inputs, 7 * sizeof call.inputs[0]);
  for (int i = 0; i < 7; i++)
    back.outputs[i] =
        bench_normal (&bench->gpu, call.inputs[i].type, call.inputs[i].rank,
                      call.inputs[i].shape, 0, 1);
  report_dual (bench, "gradient of dual scan", batch, &back);
  bench_release (&bench->gpu);
}

static void
set_rates (Bench *bench)
{
  int kilohertz = 0;

  if (cudaDeviceGetAttribute (&kilohertz, cudaDevAttrClockRate, 0)
      != cudaSuccess)
    exit (1);
  bench->copy = bench_copy_rate (&bench->gpu);
  bench->exponentials =
      16e3 * kilohertz * qm_device_info (bench->gpu.device)->processors;
  printf ("copy %.0f GB/s, exponentials %.2f T/s at %.0f MHz\n",
          bench->copy * 1e-9, bench->exponentials * 1e-12, kilohertz * 1e-3);
}

int
main (int argc, char **argv)
{
  Bench bench = { .channels = 5120, .n = 16 };
  int64_t only = 0;
  int repeat = 15;

  for (int i = 1; i + 1 < argc; i += 2)
    {
      int64_t value = atoll (argv[i + 1]);

      if (value < 1)
        return 2;
      if (strcmp (argv[i], "--repeat") == 0 && value <= BENCH_MAX_REPEATS)
        repeat = (int) value;
      else if (strcmp (argv[i], "--channels") == 0)
        bench.channels = value;
      else if (strcmp (argv[i], "--states") == 0)
        bench.n = value;
      else if (strcmp (argv[i], "--rows") == 0)
        only = value;
      else
        return 2;
    }
  bench_open (&bench.gpu, repeat);
  set_rates (&bench);
  for (int64_t batch = 1; batch <= 8; batch *= 2)
    for (int64_t rows = only > 0 ? only : 2048;
         rows <= (only > 0 ? only : 2049); rows++)
      bench_scan (&bench, batch, rows,
                  rows < QM_SCAN_CHUNK ? rows : QM_SCAN_CHUNK);
  bench_scan (&bench, 1, only > 0 ? only : 2048, 1);
  for (int64_t batch = 1; batch <= 8; batch *= 2)
    bench_dual (&bench, QM_TYPE_BF16, batch, only > 0 ? only : 2048);
  bench_dual (&bench, QM_TYPE_F32, 1, only > 0 ? only : 2048);
  bench_close (&bench.gpu);
  return 0;
}
