/* SPDX-License-Identifier: Apache-2.0 */

/* How fast the update on the host is, beside the bandwidth of the memory:
 *
 *     bench-host-adam [MILLIONS OF WEIGHTS]
 *
 * The bytes counted are those that must move: weight and moments read and
 * written, the gradient read, the 16-bit copy written, 28 or 30 for a weight.
 * The share is of the best of three bandwidths, with the same threads and
 * memory, that no line is moved for in vain: a copy past the caches; x *= a in
 * place; and what Adam moves without its arithmetic, which is asked for ahead
 * as there.  Triad (a = b + s c) is counted as STREAM does, without the line
 * that is read to be written.  Medians of PASSES passes.  The arrays should be
 * many times as large as the last cache. */

#include "kernels/convert.h"
#include "kernels/operators.h"
#include "tests/kernels/host-kernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define PASSES 7
#define CHUNK  16384
#define AHEAD  8192

typedef struct Bench
{
  int64_t n;
  float *master, *m, *v, *gradient;
  uint16_t *weights;
  QmThreads *threads;
  QmTask *task;
  double bandwidth; /* bytes a second */
} Bench;

static double
now (void)
{
  struct timespec time;

  clock_gettime (CLOCK_MONOTONIC, &time);
  return (double) time.tv_sec + (double) time.tv_nsec * 1e-9;
}

static int
compare_times (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

typedef void (*Pass) (Bench *bench, void *data);

/* Median of the seconds that a pass takes, after one to warm up. */
static double
seconds_of (Bench *bench, Pass pass, void *data)
{
  double times[PASSES];

  pass (bench, data);
  for (int i = 0; i < PASSES; i++)
    {
      double start = now ();

      pass (bench, data);
      times[i] = now () - start;
    }
  qsort (times, PASSES, sizeof times[0], compare_times);
  return times[PASSES / 2];
}

static void
copy_body (void *data, int64_t begin, int64_t end)
{
  Bench *bench = data;
#ifdef __SSE2__
  for (int64_t i = begin; i < end; i += 4)
    _mm_stream_ps (bench->m + i, _mm_load_ps (bench->master + i));
  _mm_sfence ();
#else
  memcpy (bench->m + begin, bench->master + begin,
          (size_t) (end - begin) * sizeof (float));
#endif
}

static void
in_place_body (void *data, int64_t begin, int64_t end)
{
  float *x = ((Bench *) data)->m;

  for (int64_t i = begin; i < end; i++)
    x[i] *= 0.999f;
}

/* The accesses of the kernels, with as good as nothing in between. */
static void
moves_body (void *data, int64_t begin, int64_t end)
{
  Bench *bench = data;
  float *arrays[] = { bench->gradient, bench->master, bench->m, bench->v };

  for (int64_t i = begin; i + 32 <= end; i += 32)
    {
#ifdef __SSE2__
      __m128 sums[8] = { _mm_setzero_ps () };

      for (int j = 0; j < 4; j++)
        for (int k = 0; k < 8; k++)
          {
            float *x = arrays[j] + i + 4 * k;

            if (k % 4 == 0)
              _mm_prefetch ((const char *) x + AHEAD, _MM_HINT_T1);
            sums[k] = _mm_add_ps (sums[k], _mm_load_ps (x));
            if (j > 0)
              _mm_store_ps (x, sums[k]);
          }
      for (int k = 0; k < 4; k++)
        _mm_stream_ps ((float *) (void *) (bench->weights + i) + 4 * k,
                       _mm_add_ps (sums[k], sums[k + 4]));
#else
      for (int k = 0; k < 32; k++)
        {
          float sum = arrays[0][i + k];

          for (int j = 1; j < 4; j++)
            sum = arrays[j][i + k] += sum;
          bench->weights[i + k] = (uint16_t) sum;
        }
#endif
    }
}

static void
triad_body (void *data, int64_t begin, int64_t end)
{
  Bench *bench = data;
  float *restrict a = bench->m;
  const float *restrict b = bench->v, *restrict c = bench->master;

  for (int64_t i = begin; i < end; i++)
    a[i] = b[i] + 3 * c[i];
}

static void
fill_body (void *data, int64_t begin, int64_t end)
{
  Bench *bench = data;

  for (int64_t i = begin; i < end; i++)
    {
      float x =
          (float) ((uint32_t) i * UINT32_C (2654435761) >> 8) * 0x1p-23f - 1;

      bench->master[i] = 0.02f * x;
      bench->m[i] = 1e-4f * x;
      bench->v[i] = 1e-8f * (x * x + 0.1f);
      bench->gradient[i] = 1e-3f * x;
    }
}

static void
subnormal_body (void *data, int64_t begin, int64_t end)
{
  Bench *bench = data;

  for (int64_t i = begin; i < end; i++)
    {
      bench->m[i] = 1e-42f;
      bench->v[i] = 1e-41f;
      bench->gradient[i] = 0;
    }
}

static void
run (Bench *bench, QmTaskBody body)
{
  qm_task_start (bench->task, &(QmTaskRange){ 0, bench->n, CHUNK, false }, body,
                 bench);
  qm_task_wait (bench->task);
}

static void
body_pass (Bench *bench, void *data)
{
  run (bench, *(QmTaskBody *) data);
}

static double
bandwidth (Bench *bench, const char *name, QmTaskBody body, int bytes)
{
  double rate =
      (double) (bytes * bench->n) / seconds_of (bench, body_pass, &body);

  printf ("%-8s %-28s %7d %19.1f\n", "", name,
          qm_threads_count (bench->threads), rate * 1e-9);
  return rate;
}

static const float state[QM_STATE_SIZE] = { [QM_STATE_LEARNING_RATE] = 1e-4f,
                                            [QM_STATE_UPDATES] = 10,
                                            [QM_STATE_FACTOR] = 1 };

static QmHostAdam
update_of (Bench *bench, QmHostKernel kernel, QmType gradient, QmType weights)
{
  return (QmHostAdam){ .kernel = kernel,
                       .beta1 = 0.9f,
                       .beta2 = 0.95f,
                       .epsilon = 1e-8f,
                       .weight_decay = 0.01f,
                       .decoupled = true,
                       .state = state,
                       .gradient_type = gradient,
                       .gradient = bench->gradient,
                       .master = bench->master,
                       .m = bench->m,
                       .v = bench->v,
                       .weights_type = weights,
                       .weights = bench->weights };
}

static void
adam_pass (Bench *bench, void *data)
{
  qm_host_adam_start (bench->task, data, 0, bench->n);
  qm_task_wait (bench->task);
}

/* As gradients arrive: a task for each range of 2^20, all started, then all
 * waited for. */
static void
ranges_pass (Bench *bench, void *data)
{
  enum
  {
    LIVE = 8
  };
  QmTask *tasks[LIVE] = { NULL };
  int64_t range = 1 << 20;

  for (int i = 0; i < LIVE; i++)
    if (qm_task_new (bench->threads, &tasks[i], NULL) != QM_OK)
      exit (1);
  for (int64_t i = 0; i < bench->n; i += range)
    {
      QmTask *task = tasks[i / range % LIVE];

      qm_task_wait (task);
      qm_host_adam_start (task, data, i,
                          i + range < bench->n ? i + range : bench->n);
    }
  for (int i = 0; i < LIVE; i++)
    {
      qm_task_wait (tasks[i]);
      qm_task_free (tasks[i]);
    }
}

static void
squares_pass (Bench *bench, void *data)
{
  QmHostSquares *squares = data;

  qm_host_squares_start (bench->task, squares);
  qm_task_wait (bench->task);
}

static void
add_pass (Bench *bench, void *data)
{
  qm_host_add_start (bench->task, data, 0, bench->n);
  qm_task_wait (bench->task);
}

static void
print_row (Bench *bench,
           const char *kernel,
           const char *what,
           double seconds,
           int bytes)
{
  double rate = (double) bench->n / seconds;

  printf ("%-8s %-28s %7d %11.3f %7.1f %8.1f %%\n", kernel, what,
          qm_threads_count (bench->threads), rate * 1e-9, rate * bytes * 1e-9,
          100 * rate * bytes / bench->bandwidth);
}

static void
print_update (Bench *bench,
              QmHostKernel kernel,
              QmType gradient,
              QmType weights,
              Pass pass)
{
  QmHostAdam adam = update_of (bench, kernel, gradient, weights);
  int bytes = 24 + (int) qm_type_size (gradient) + (int) qm_type_size (weights);
  char what[64];

  snprintf (what, sizeof what, "g %s, copy %s%s", qm_type_name (gradient),
            qm_type_name (weights), pass == ranges_pass ? ", ranges" : "");
  print_row (bench, host_kernel_name (kernel), what,
             seconds_of (bench, pass, &adam), bytes);
}

/* Sums of squares, and sums of micro-batches. */
static void
print_sums (Bench *bench, QmHostKernel kernel)
{
  static QmHostSquares squares;
  const char *name = host_kernel_name (kernel);

  for (int i = QM_TYPE_F32; i <= QM_TYPE_F16; i++)
    {
      QmType type = (QmType) i;
      QmHostAdd add = { kernel, type, bench->gradient, bench->m };
      int bytes = (int) qm_type_size (type);
      char what[64];

      squares =
          (QmHostSquares){ kernel, type, bench->gradient, bench->n, { 0 } };
      snprintf (what, sizeof what, "squares %s", qm_type_name (type));
      print_row (bench, name, what, seconds_of (bench, squares_pass, &squares),
                 bytes);
      snprintf (what, sizeof what, "add %s", qm_type_name (type));
      print_row (bench, name, what, seconds_of (bench, add_pass, &add),
                 8 + bytes);
    }
}

static void
print_kernel (Bench *bench, QmHostKernel kernel, bool all)
{
  print_update (bench, kernel, QM_TYPE_F32, QM_TYPE_BF16, adam_pass);
  if (!all)
    return;
  print_update (bench, kernel, QM_TYPE_F32, QM_TYPE_F16, adam_pass);
  print_update (bench, kernel, QM_TYPE_F32, QM_TYPE_NONE, adam_pass);
  print_update (bench, kernel, QM_TYPE_F32, QM_TYPE_BF16, ranges_pass);
  /* As 16-bit numbers: none that is subnormal. */
  memset (bench->gradient, 0x11, (size_t) bench->n * 2);
  print_update (bench, kernel, QM_TYPE_BF16, QM_TYPE_BF16, adam_pass);
  print_update (bench, kernel, QM_TYPE_F16, QM_TYPE_F16, adam_pass);
  print_sums (bench, kernel);
  run (bench, fill_body);
}

static void
print_subnormal (Bench *bench, QmHostKernel kernel)
{
  QmHostAdam adam = update_of (bench, kernel, QM_TYPE_F32, QM_TYPE_BF16);

  run (bench, subnormal_body);
  print_row (bench, host_kernel_name (kernel), "subnormal moments",
             seconds_of (bench, adam_pass, &adam), 30);
  run (bench, subnormal_body);
  adam.flush = true;
  print_row (bench, host_kernel_name (kernel), "subnormal moments, flush",
             seconds_of (bench, adam_pass, &adam), 30);
  run (bench, fill_body);
}

/* One number of threads, with memory that they touched first. */
static bool
bench_threads (int64_t n, int count, bool all)
{
  size_t bytes = (size_t) n * sizeof (float);
  QmHostKernel best = qm_host_kernel_best ();
  Bench bench = { .n = n,
                  .master = qm_host_memory_new (bytes),
                  .m = qm_host_memory_new (bytes),
                  .v = qm_host_memory_new (bytes),
                  .gradient = qm_host_memory_new (bytes),
                  .weights = qm_host_memory_new (bytes / 2) };
  QmHostAdam touched = update_of (&bench, best, QM_TYPE_F32, QM_TYPE_BF16);

  if (bench.master == NULL || bench.m == NULL || bench.v == NULL
      || bench.gradient == NULL || bench.weights == NULL
      || qm_threads_new (count, true, &bench.threads, NULL) != QM_OK
      || qm_task_new (bench.threads, &bench.task, NULL) != QM_OK)
    return false;
  qm_host_adam_touch_start (bench.task, &touched, 0, n);
  qm_task_wait (bench.task);
  run (&bench, fill_body);
  bench.bandwidth = bandwidth (&bench, "copy", copy_body, 8);
  bench.bandwidth =
      fmax (bench.bandwidth, bandwidth (&bench, "in place", in_place_body, 8));
  bench.bandwidth = fmax (bench.bandwidth,
                          bandwidth (&bench, "as Adam moves", moves_body, 30));
  if (all)
    bandwidth (&bench, "triad", triad_body, 12);
  run (&bench, fill_body);
  for (int kernel = all ? 0 : 1; kernel < QM_HOST_KERNEL_COUNT; kernel++)
    if (qm_host_kernel_works ((QmHostKernel) kernel))
      print_kernel (&bench, (QmHostKernel) kernel, all && kernel == (int) best);
  if (all)
    print_subnormal (&bench, best);
  qm_task_free (bench.task);
  qm_threads_free (bench.threads);
  qm_host_memory_free (bench.master, bytes);
  qm_host_memory_free (bench.m, bytes);
  qm_host_memory_free (bench.v, bytes);
  qm_host_memory_free (bench.gradient, bytes);
  qm_host_memory_free (bench.weights, bytes / 2);
  return true;
}

int
main (int argc, char **argv)
{
  double millions = argc > 1 ? atof (argv[1]) : 256;
  int available = qm_threads_available ();
  bool good = true;

  if (!(millions >= 1 && millions <= 1e6))
    {
      fprintf (stderr, "bench-host-adam: from 1 to 1000000 millions\n");
      return 2;
    }
  setvbuf (stdout, NULL, _IOLBF, 0);
  printf ("%.0f million weights, %d cores\n", millions, available);
  printf ("%-8s %-28s %7s %11s %7s %10s\n", "kernel", "", "threads",
          "Gweights/s", "GB/s", "share");
  for (int count = 1; count < available && good; count *= 2)
    good = bench_threads ((int64_t) (millions * 1e6), count, false);
  good = good && bench_threads ((int64_t) (millions * 1e6), available, true);
  if (!good)
    fprintf (stderr, "bench-host-adam: the host is out of memory\n");
  return good ? 0 : 1;
}
