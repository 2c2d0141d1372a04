/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/host/host-adam.h"

#include "kernels/host/host-kernels.h"
#include "kernels/operators.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>

#ifdef QM_HAVE_X86_KERNELS
#include <cpuid.h>
#include <xmmintrin.h>

/* Of MXCSR: results and operands that are subnormal are zero. */
#define FLUSH 0x8040u
#endif

/* Elements that a thread does at a time: what it still does when the others are
 * done is short, and what it begins with is long enough for prefetching. */
#define CHUNK       16384
#define CHUNK_LEAST 1024

/* Chunks that a thread should have, where there are that many. */
#define CHUNKS_A_THREAD 4

#define PAGE ((size_t) 2 << 20)

static const struct
{
  QmHostAdamKernel adam;
  QmHostAddKernel add;
  QmHostSquaresKernel squares;
} kernels[QM_HOST_KERNEL_COUNT] = {
  [QM_HOST_SCALAR] = { qm_host_adam_scalar, qm_host_add_scalar,
                       qm_host_squares_scalar },
#ifdef QM_HAVE_X86_KERNELS
  [QM_HOST_AVX2] = { qm_host_adam_avx2, qm_host_add_avx2,
                     qm_host_squares_avx2 },
  [QM_HOST_AVX512] = { qm_host_adam_avx512, qm_host_add_avx512,
                       qm_host_squares_avx512 },
#endif
};

#ifdef QM_HAVE_X86_KERNELS
/* The builtin looks at XCR0 too, but not every compiler's knows F16C. */
static bool
has_avx2 (void)
{
  unsigned a, b, c = 0, d;

  __builtin_cpu_init ();
  return __builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma")
         && __get_cpuid (1, &a, &b, &c, &d) && (c & bit_F16C) != 0;
}

static bool
has_avx512 (void)
{
  __builtin_cpu_init ();
  return __builtin_cpu_supports ("avx512f")
         && __builtin_cpu_supports ("avx512bw")
         && __builtin_cpu_supports ("avx512dq")
         && __builtin_cpu_supports ("avx512vl");
}
#endif

bool
qm_host_kernel_works (QmHostKernel kernel)
{
#ifdef QM_HAVE_X86_KERNELS
  if (kernel == QM_HOST_AVX2)
    return has_avx2 ();
  if (kernel == QM_HOST_AVX512)
    return has_avx512 ();
#endif
  return kernel == QM_HOST_SCALAR;
}

QmHostKernel
qm_host_kernel_best (void)
{
  for (int kernel = QM_HOST_KERNEL_COUNT - 1; kernel > QM_HOST_SCALAR; kernel--)
    if (qm_host_kernel_works ((QmHostKernel) kernel))
      return (QmHostKernel) kernel;
  return QM_HOST_SCALAR;
}

static QmHostStep
step_of (const QmHostAdam *adam)
{
  float rate = adam->state[QM_STATE_LEARNING_RATE];
  float updates = adam->state[QM_STATE_UPDATES];

  return (QmHostStep){
    .factor = adam->state[QM_STATE_FACTOR],
    .rate = rate,
    .decay = adam->decoupled ? rate * adam->weight_decay : adam->weight_decay,
    .beta1 = adam->beta1,
    .beta2 = adam->beta2,
    .rest1 = 1 - adam->beta1,
    .rest2 = 1 - adam->beta2,
    .correction1 = 1 - powf (adam->beta1, updates),
    .correction2 = 1 - powf (adam->beta2, updates),
    .epsilon = adam->epsilon,
    .decoupled = adam->decoupled,
  };
}

static void
run_kernel (const QmHostAdam *adam, int64_t begin, int64_t end)
{
  QmHostStep step = step_of (adam);
#ifdef QM_HAVE_X86_KERNELS
  unsigned before = _mm_getcsr ();

  if (adam->flush)
    _mm_setcsr (before | FLUSH);
#endif
  kernels[adam->kernel].adam (adam, &step, begin, end);
#ifdef QM_HAVE_X86_KERNELS
  _mm_setcsr (before);
#endif
}

void
qm_host_adam (const QmHostAdam *adam, int64_t begin, int64_t end)
{
  if (adam->state[QM_STATE_NOT_FINITE] == 0)
    run_kernel (adam, begin, end);
  else if (adam->clear)
    memset (qm_host_at (adam->gradient_type, adam->gradient, begin), 0,
            (size_t) (end - begin) * qm_type_size (adam->gradient_type));
}

static void
adam_body (void *data, int64_t begin, int64_t end)
{
  qm_host_adam (data, begin, end);
}

static void
touch_body (void *data, int64_t begin, int64_t end)
{
  const QmHostAdam *adam = data;
  size_t n = (size_t) (end - begin);

  memset (adam->master + begin, 0, n * sizeof (float));
  memset (adam->m + begin, 0, n * sizeof (float));
  memset (adam->v + begin, 0, n * sizeof (float));
  memset (qm_host_at (adam->gradient_type, adam->gradient, begin), 0,
          n * qm_type_size (adam->gradient_type));
  if (adam->weights_type != QM_TYPE_NONE)
    memset (qm_host_at (adam->weights_type, adam->weights, begin), 0,
            n * qm_type_size (adam->weights_type));
}

static QmTaskRange
range_of (const QmTask *task, int64_t begin, int64_t end, bool fixed)
{
  int64_t threads = qm_task_threads (task);
  int64_t chunk = (end - begin) / (threads * CHUNKS_A_THREAD + 1);

  chunk = (chunk + CHUNK_LEAST - 1) / CHUNK_LEAST * CHUNK_LEAST;
  if (chunk < CHUNK_LEAST)
    chunk = CHUNK_LEAST;
  if (chunk > CHUNK)
    chunk = CHUNK;
  return (QmTaskRange){ begin, end, chunk, fixed };
}

void
qm_host_adam_start (QmTask *task,
                    const QmHostAdam *adam,
                    int64_t begin,
                    int64_t end)
{
  QmTaskRange range = range_of (task, begin, end, false);

  qm_task_start (task, &range, adam_body, (void *) adam);
}

void
qm_host_adam_touch_start (QmTask *task,
                          const QmHostAdam *adam,
                          int64_t begin,
                          int64_t end)
{
  QmTaskRange range = range_of (task, begin, end, true);

  qm_task_start (task, &range, touch_body, (void *) adam);
}

void
qm_host_add (const QmHostAdd *add, int64_t begin, int64_t end)
{
  kernels[add->kernel].add (add, begin, end);
}

static void
add_body (void *data, int64_t begin, int64_t end)
{
  qm_host_add (data, begin, end);
}

void
qm_host_add_start (QmTask *task,
                   const QmHostAdd *add,
                   int64_t begin,
                   int64_t end)
{
  QmTaskRange range = range_of (task, begin, end, false);

  qm_task_start (task, &range, add_body, (void *) add);
}

/* Elements of a part: whole multiples of the lanes, and no more parts than
 * there is room for. */
static int64_t
squares_part (int64_t n)
{
  int64_t part = n / QM_HOST_SQUARES_PARTS + 1;

  if (part < CHUNK)
    return CHUNK;
  return (part + CHUNK_LEAST - 1) / CHUNK_LEAST * CHUNK_LEAST;
}

static int64_t
squares_parts (int64_t n)
{
  int64_t part = squares_part (n);

  return n > 0 ? (n - 1) / part + 1 : 0;
}

/* Of parts. */
static void
squares_body (void *data, int64_t begin, int64_t end)
{
  QmHostSquares *squares = data;
  int64_t part = squares_part (squares->n);

  for (int64_t i = begin; i < end; i++)
    {
      double lanes[QM_HOST_LANES] = { 0 }, sum = 0;
      int64_t n = squares->n - i * part;

      kernels[squares->kernel].squares (
          squares->type, qm_host_at (squares->type, squares->x, i * part),
          n < part ? n : part, lanes);
      for (int j = 0; j < QM_HOST_LANES; j++)
        sum += lanes[j];
      squares->parts[i] = sum;
    }
}

void
qm_host_squares_start (QmTask *task, QmHostSquares *squares)
{
  QmTaskRange range = { 0, squares_parts (squares->n), 1, false };

  qm_task_start (task, &range, squares_body, squares);
}

double
qm_host_squares_result (const QmHostSquares *squares)
{
  int64_t parts = squares_parts (squares->n);
  double sum = 0;

  for (int64_t i = 0; i < parts; i++)
    sum += squares->parts[i];
  return sum;
}

void
qm_host_update_state (float *state, double sum, double max_norm, bool dynamic)
{
  float scale = state[QM_STATE_LOSS_SCALE];
  float norm = sqrtf ((float) sum) / scale;
  bool finite = isfinite ((float) sum);

  state[QM_STATE_NORM] = norm;
  state[QM_STATE_NOT_FINITE] = finite ? 0 : 1;
  state[QM_STATE_FACTOR] = 1 / scale;
  /* The small addend is that of PyTorch's clip_grad_norm_(). */
  if (max_norm > 0 && norm + 1e-6 > max_norm)
    state[QM_STATE_FACTOR] = (float) (max_norm / (norm + 1e-6)) / scale;
  if (finite)
    state[QM_STATE_UPDATES] += 1;
  if (!dynamic)
    return;
  state[QM_STATE_GROWTH] = finite ? state[QM_STATE_GROWTH] + 1 : 0;
  if (!finite)
    state[QM_STATE_LOSS_SCALE] = scale * 0.5f;
  else if (state[QM_STATE_GROWTH] >= QM_SCALE_GROWTH)
    {
      state[QM_STATE_LOSS_SCALE] = scale * 2;
      state[QM_STATE_GROWTH] = 0;
    }
}

static size_t
whole_pages (size_t bytes)
{
  return (bytes + PAGE - 1) / PAGE * PAGE;
}

void *
qm_host_memory_new (size_t bytes)
{
  size_t size = whole_pages (bytes > 0 ? bytes : 1), before, after;
  char *memory;

  if (size < bytes || size + PAGE < size)
    return NULL;
  memory = mmap (NULL, size + PAGE, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return NULL;
  before = (0 - (uintptr_t) memory) % PAGE;
  after = PAGE - before;
  if (before > 0)
    munmap (memory, before);
  memory += before;
  munmap (memory + size, after);
#ifdef MADV_HUGEPAGE
  (void) madvise (memory, size, MADV_HUGEPAGE);
#endif
  return memory;
}

void
qm_host_memory_free (void *memory, size_t bytes)
{
  if (memory != NULL)
    munmap (memory, whole_pages (bytes > 0 ? bytes : 1));
}
