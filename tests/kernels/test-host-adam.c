/* SPDX-License-Identifier: Apache-2.0 */

/* The update on the host gives the bits of the CPU device: every kernel that
 * this processor can run, every type, length and alignment, and any numbers. */

#include "kernels/convert.h"
#include "kernels/operators.h"
#include "tests/data/check.h"
#include "tests/kernels/host-kernels.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Elements before and after an array, which nobody may touch. */
#define MARGIN 64

#define LONGEST (3 * 16384 + 77)
#define ROOM    (LONGEST + 2 * MARGIN)

static const QmType types[] = { QM_TYPE_F32, QM_TYPE_F16, QM_TYPE_BF16,
                                QM_TYPE_NONE };

/* Arrays of one update; element 0 of each is at its offset. */
typedef struct Arrays
{
  _Alignas(256) float master[ROOM], m[ROOM], v[ROOM];
  _Alignas(256) unsigned char gradient[ROOM * 4], weights[ROOM * 4];
} Arrays;

typedef struct Case
{
  QmType gradient, weights;
  bool decoupled, clear, strange;
  int64_t n;
  int offsets[5]; /* of gradient, master, m, v, weights */
} Case;

static float
uniform (uint32_t *seed)
{
  *seed = *seed * 1664525u + 1013904223u;
  return (float) (*seed >> 8) * 0x1p-24f;
}

/* Now and then one of those that kernels get wrong. */
static float
number (uint32_t *seed, bool strange)
{
  static const float strangers[] = {
    0,         -0.0f,   INFINITY, -INFINITY,    NAN,        FLT_MAX,
    -FLT_MAX,  FLT_MIN, 0x1p-149, -0x1.8p-140f, 0x1p-25f,   0x1p-133f,
    65519.99f, 1e-20f,  65520,    3.4e38f,      1 + 0x1p-8f
  };
  float x = (uniform (seed) - 0.5f) * exp2f (floorf (uniform (seed) * 20) - 12);
  uint32_t i = (uint32_t) (uniform (seed) * 4 * sizeof strangers / sizeof x);

  return strange && i < sizeof strangers / sizeof x ? strangers[i] : x;
}

static void *
at (QmType type, void *data, int64_t i)
{
  return (char *) data + (size_t) i * qm_type_size (type);
}

/* Elements of each array that the case is about, with those around it. */
static int64_t
room_of (const Case *c)
{
  return c->n + 2 * MARGIN;
}

static void
copy (Arrays *to, const Arrays *from, const Case *c)
{
  size_t bytes = (size_t) room_of (c) * sizeof (float);

  memcpy (to->master, from->master, bytes);
  memcpy (to->m, from->m, bytes);
  memcpy (to->v, from->v, bytes);
  memcpy (to->gradient, from->gradient, bytes);
  memcpy (to->weights, from->weights, bytes);
}

static void
fill (Arrays *arrays, const Case *c, uint32_t seed)
{
  for (int64_t i = 0; i < room_of (c); i++)
    {
      float g = number (&seed, c->strange);

      arrays->master[i] = number (&seed, c->strange);
      arrays->m[i] = number (&seed, c->strange);
      arrays->v[i] = number (&seed, c->strange);
      if (!c->strange)
        arrays->v[i] = fabsf (arrays->v[i]);
      qm_floats_store (c->gradient, at (c->gradient, arrays->gradient, i), 1, 1,
                       &g);
    }
  memset (arrays->weights, 0x5a, (size_t) room_of (c) * 4);
}

static void
fill_state (float *state, bool finite)
{
  memset (state, 0, QM_STATE_SIZE * sizeof *state);
  state[QM_STATE_LEARNING_RATE] = 3e-3f;
  state[QM_STATE_UPDATES] = 7;
  state[QM_STATE_FACTOR] = 0.37f;
  state[QM_STATE_NOT_FINITE] = finite ? 0 : 1;
}

static QmHostAdam
update_of (Arrays *arrays, const Case *c, QmHostKernel kernel, float *state)
{
  return (QmHostAdam){
    .kernel = kernel,
    .beta1 = 0.9f,
    .beta2 = 0.95f,
    .epsilon = 1e-8f,
    .weight_decay = 0.1f,
    .decoupled = c->decoupled,
    .clear = c->clear,
    .state = state,
    .gradient_type = c->gradient,
    .gradient = at (c->gradient, arrays->gradient, MARGIN + c->offsets[0]),
    .master = arrays->master + MARGIN + c->offsets[1],
    .m = arrays->m + MARGIN + c->offsets[2],
    .v = arrays->v + MARGIN + c->offsets[3],
    .weights_type = c->weights,
    .weights = at (c->weights, arrays->weights, MARGIN + c->offsets[4]),
  };
}

static QmTensor
vector (int64_t n, QmType type, void *data)
{
  return qm_tensor_dense (type, 1, &n, data);
}

/* What the CPU device makes of the arrays. */
static void
update_by_device (QmDevice *device,
                  QmStream *stream,
                  const QmHostAdam *adam,
                  const Case *c)
{
  static _Alignas(256) float gradient[ROOM];
  QmError error = { 0 };
  QmOpCall call = {
    .op = QM_OP_ADAM,
    .attributes = { .beta1 = 0.9,
                    .beta2 = 0.95,
                    .epsilon = 1e-8,
                    .weight_decay = 0.1,
                    .decoupled = c->decoupled },
    .inputs = { vector (QM_STATE_SIZE, QM_TYPE_F32, (void *) adam->state) },
    .outputs = { vector (c->n, QM_TYPE_F32, gradient),
                 vector (c->n, QM_TYPE_F32, adam->master),
                 vector (c->n, QM_TYPE_F32, adam->m),
                 vector (c->n, QM_TYPE_F32, adam->v) },
  };

  qm_floats_load (c->gradient, adam->gradient, 1, c->n, gradient);
  if (c->weights != QM_TYPE_NONE)
    call.outputs[4] = vector (c->n, c->weights, adam->weights);
  CHECK_INT (qm_op_run (device, stream, &call, &error), QM_OK);
  if (c->clear)
    qm_floats_store (c->gradient, adam->gradient, 1, c->n, gradient);
}

static uint32_t
bits_of (QmType type, const void *data, int64_t i)
{
  uint32_t bits = 0;

  memcpy (&bits, at (type, (void *) data, i), qm_type_size (type));
  return bits;
}

/* How many elements differ, other than by two kinds of NaN. */
static int64_t
differences (QmType type, const void *a, const void *b, int64_t room)
{
  int64_t n = 0;

  if (type == QM_TYPE_NONE)
    return memcmp (a, b, (size_t) room * 4) != 0;
  for (int64_t i = 0; i < room; i++)
    {
      float x, y;

      if (bits_of (type, a, i) == bits_of (type, b, i))
        continue;
      qm_floats_load (type, at (type, (void *) a, i), 1, 1, &x);
      qm_floats_load (type, at (type, (void *) b, i), 1, 1, &y);
      n += !isnan (x) || !isnan (y);
    }
  return n;
}

static void
check_same (const Arrays *a, const Arrays *b, const Case *c)
{
  int64_t room = room_of (c);

  CHECK_INT (differences (QM_TYPE_F32, a->master, b->master, room), 0);
  CHECK_INT (differences (QM_TYPE_F32, a->m, b->m, room), 0);
  CHECK_INT (differences (QM_TYPE_F32, a->v, b->v, room), 0);
  CHECK_INT (differences (c->gradient, a->gradient, b->gradient, room), 0);
  CHECK_INT (differences (c->weights, a->weights, b->weights, room), 0);
}

typedef struct Test
{
  QmDevice *device;
  QmStream *stream;
  QmThreads *threads;
  QmTask *tasks[3];
  QmThreads *thread;
  QmTask *alone; /* of that one */
  Arrays *before, *wanted, *got;
} Test;

/* By one thread in two ranges, or by many in three tasks at once. */
static void
update (Test *test, const QmHostAdam *adam, int64_t n, bool threaded)
{
  int64_t cuts[] = { 0, n / 3, n - n / 5, n };

  if (!threaded)
    {
      qm_host_adam (adam, 0, n / 2);
      qm_host_adam (adam, n / 2, n);
      return;
    }
  for (int i = 2; i >= 0; i--)
    qm_host_adam_start (test->tasks[i], adam, cuts[i], cuts[i + 1]);
  for (int i = 0; i < 3; i++)
    qm_task_wait (test->tasks[i]);
}

static void
check_case_of (Test *test, const Case *c, bool finite)
{
  float state[64];
  QmHostAdam adam;

  fill_state (state, finite);
  fill (test->before, c, (uint32_t) c->n + 1);
  copy (test->wanted, test->before, c);
  adam = update_of (test->wanted, c, QM_HOST_SCALAR, state);
  if (c->n > 0)
    update_by_device (test->device, test->stream, &adam, c);
  for (int kernel = 0; kernel < QM_HOST_KERNEL_COUNT; kernel++)
    for (int threaded = 0;
         threaded < 2 && qm_host_kernel_works ((QmHostKernel) kernel);
         threaded++)
      {
        check_case (host_kernel_name (kernel));
        copy (test->got, test->before, c);
        adam = update_of (test->got, c, (QmHostKernel) kernel, state);
        update (test, &adam, c->n, threaded);
        check_same (test->got, test->wanted, c);
      }
}

/* All types; only the numbers of the reference are rounded as they are. */
static void
check_types (Test *test, Case *c)
{
  for (int g = 0; g < 3; g++)
    for (int w = 0; w < 4; w++)
      {
        c->gradient = types[g];
        c->weights = types[w];
        check_case_of (test, c, true);
      }
}

static void
test_lengths (Test *test)
{
  Case c = { .decoupled = true };

  for (c.n = 0; c.n <= 100; c.n += c.n < 40 ? 1 : 3)
    {
      c.decoupled = !c.decoupled;
      c.clear = c.n % 3 == 0;
      c.strange = c.n % 4 == 1;
      check_types (test, &c);
    }
  c.n = LONGEST;
  check_types (test, &c);
}

static void
test_offsets (Test *test)
{
  Case c = { .n = 777, .decoupled = true, .clear = true };

  for (int i = 0; i < 33; i += 1 + i / 5)
    {
      for (int j = 0; j < 5; j++)
        c.offsets[j] = i * (j + 3) % 33;
      check_types (test, &c);
    }
}

static void
test_strange (Test *test)
{
  for (int i = 0; i < 4; i++)
    {
      Case c = {
        .n = LONGEST, .decoupled = i % 2, .clear = i / 2, .strange = true
      };

      check_types (test, &c);
    }
}

/* Zero instead of subnormal numbers, and the mode of the processor as before.
 */
static void
test_flush (Test *test)
{
#if defined(__x86_64__)
  float state[64];
  volatile float small = FLT_MIN;
  Case c = { .gradient = QM_TYPE_F32, .weights = QM_TYPE_F32, .n = 100 };

  fill_state (state, true);
  for (int kernel = 0; kernel < QM_HOST_KERNEL_COUNT; kernel++)
    if (qm_host_kernel_works ((QmHostKernel) kernel))
      {
        QmHostAdam adam =
            update_of (test->got, &c, (QmHostKernel) kernel, state);

        check_case (host_kernel_name (kernel));
        fill (test->got, &c, 1);
        memset (adam.gradient, 0, 400);
        memset (adam.master, 0, 400);
        for (int i = 0; i < 100; i++)
          adam.m[i] = adam.v[i] = i % 2 == 0 ? 1e-40f : FLT_MIN;
        adam.flush = true;
        qm_host_adam (&adam, 0, 100);
        for (int i = 0; i < 100; i++)
          CHECK (adam.m[i] == 0 && adam.v[i] == 0);
        CHECK (small / 2 > 0);
      }
#endif
}

/* Nothing but clearing. */
static void
test_not_finite (Test *test)
{
  for (int i = 0; i < 12; i++)
    {
      Case c = { .n = 1000 + i,
                 .gradient = types[i % 3],
                 .clear = i % 2,
                 .weights = types[i % 4] };

      check_case_of (test, &c, false);
    }
}

static void
test_touch (Test *test)
{
  float state[64];
  Case c = { .gradient = QM_TYPE_BF16, .weights = QM_TYPE_F16, .n = 40000 };
  QmHostAdam adam;

  fill (test->got, &c, 1);
  adam = update_of (test->got, &c, QM_HOST_SCALAR, state);
  qm_host_adam_touch_start (test->tasks[0], &adam, 100, c.n);
  qm_task_wait (test->tasks[0]);
  for (int64_t i = 0; i < c.n; i++)
    {
      bool touched = i >= 100;

      CHECK_INT (adam.master[i] == 0 && adam.m[i] == 0 && adam.v[i] == 0
                     && bits_of (QM_TYPE_BF16, adam.gradient, i) == 0
                     && bits_of (QM_TYPE_F16, adam.weights, i) == 0,
                 touched);
    }
  CHECK_INT (bits_of (QM_TYPE_F16, adam.weights, c.n), 0x5a5a);
}

static double
sum_squares (QmTask *task, QmHostSquares *squares)
{
  memset (squares->parts, 0, sizeof squares->parts);
  qm_host_squares_start (task, squares);
  qm_task_wait (task);
  return qm_host_squares_result (squares);
}

/* The same bits from every kernel and number of threads, near those that the
 * device has. */
static void
check_squares (Test *test, QmType type, int64_t n, int offset, bool strange)
{
  static QmHostSquares squares;
  Case c = { .gradient = type, .strange = strange, .n = n };
  const void *x = at (type, test->got->gradient, MARGIN + offset);
  double plain = 0, first = 0;

  fill (test->got, &c, (uint32_t) n);
  for (int64_t i = 0; i < n; i++)
    {
      float value;

      qm_floats_load (type, at (type, (void *) x, i), 1, 1, &value);
      plain += (double) value * value;
    }
  for (int kernel = 0; kernel < QM_HOST_KERNEL_COUNT; kernel++)
    if (qm_host_kernel_works ((QmHostKernel) kernel))
      {
        double alone, together;

        squares = (QmHostSquares){ (QmHostKernel) kernel, type, x, n, { 0 } };
        alone = sum_squares (test->alone, &squares);
        together = sum_squares (test->tasks[0], &squares);
        if (kernel == 0)
          first = alone;
        check_case (host_kernel_name (kernel));
        CHECK (alone == first || (isnan (alone) && isnan (first)));
        CHECK (together == first || (isnan (together) && isnan (first)));
      }
  if (isnan (plain))
    CHECK (isnan (first));
  else if (isinf (plain))
    CHECK (isinf (first));
  else
    CHECK_NEAR (first, plain, 1e-12);
}

static void
test_squares (Test *test)
{
  for (int type = 0; type < 3; type++)
    {
      for (int64_t n = 0; n < 100; n++)
        {
          check_squares (test, types[type], n, (int) n % 7, false);
          check_squares (test, types[type], n, (int) n % 5, true);
        }
      check_squares (test, types[type], 4099, 1, false);
      check_squares (test, types[type], LONGEST, 0, false);
      check_squares (test, types[type], LONGEST, 0, true);
    }
}

static void
check_add (Test *test, const Case *c)
{
  fill (test->before, c, (uint32_t) c->n + 5);
  copy (test->wanted, test->before, c);
  for (int64_t i = 0; i < c->n; i++)
    {
      float x;

      qm_floats_load (c->gradient,
                      at (c->gradient, test->before->gradient,
                          MARGIN + c->offsets[0] + i),
                      1, 1, &x);
      test->wanted->master[MARGIN + c->offsets[1] + i] += x;
    }
  for (int kernel = 0; kernel < QM_HOST_KERNEL_COUNT; kernel++)
    for (int threaded = 0;
         threaded < 2 && qm_host_kernel_works ((QmHostKernel) kernel);
         threaded++)
      {
        QmHostAdd add = { (QmHostKernel) kernel, c->gradient,
                          at (c->gradient, test->got->gradient,
                              MARGIN + c->offsets[0]),
                          test->got->master + MARGIN + c->offsets[1] };

        check_case (host_kernel_name (kernel));
        copy (test->got, test->before, c);
        if (threaded)
          qm_host_add_start (test->tasks[0], &add, 0, c->n);
        else
          qm_host_add (&add, 0, c->n);
        qm_task_wait (test->tasks[0]);
        check_same (test->got, test->wanted, c);
      }
}

static void
test_add (Test *test)
{
  for (int type = 0; type < 3; type++)
    {
      Case c = { .gradient = types[type], .weights = QM_TYPE_NONE };

      for (c.n = 0; c.n < 100; c.n++)
        {
          c.offsets[0] = (int) c.n * 3 % 17;
          c.offsets[1] = (int) c.n * 5 % 19;
          c.strange = c.n % 2 == 1;
          check_add (test, &c);
        }
      c.n = LONGEST;
      check_add (test, &c);
    }
}

/* More parts than there is room for would be needed with the usual length. */
static void
test_many_squares (Test *test)
{
  static QmHostSquares squares;
  int64_t n = (int64_t) 16384 * QM_HOST_SQUARES_PARTS + 12345;
  uint16_t *x = calloc ((size_t) n, sizeof *x);

  CHECK (x != NULL);
  if (x == NULL)
    return;
  x[0] = x[16384] = x[n - 1] = qm_float_to_f16 (3);
  squares = (QmHostSquares){ qm_host_kernel_best (), QM_TYPE_F16, x, n, { 0 } };
  qm_host_squares_start (test->tasks[0], &squares);
  qm_task_wait (test->tasks[0]);
  CHECK_NEAR (qm_host_squares_result (&squares), 27, 0);
  free (x);
}

typedef struct Step
{
  double sum, max_norm;
  bool dynamic;
  float not_finite, updates, loss_scale, growth, factor;
} Step;

/* The operator of the CPU device is the same function, and tested with the
 * others; here for what is added: sums that are too large for fp32. */
static void
test_state (void)
{
  static const Step steps[] = {
    { 4.0 * 65536 * 65536, 1, true, 0, 1, 131072, 0, 0.5f / 65536 },
    { 1e39, 1, true, 1, 1, 65536, 0, 0 },
    { NAN, 0, true, 1, 1, 32768, 0, 1.f / 65536 },
    { 1e30, 0, true, 0, 2, 32768, 1, 1.f / 32768 },
    { INFINITY, 0, false, 1, 2, 32768, 1, 1.f / 32768 },
    { 0, 1, false, 0, 3, 32768, 1, 1.f / 32768 },
  };
  float state[QM_STATE_SIZE] = { [QM_STATE_LOSS_SCALE] = QM_SCALE_FIRST,
                                 [QM_STATE_GROWTH] = QM_SCALE_GROWTH - 1 };

  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
    {
      const Step *step = &steps[i];

      qm_host_update_state (state, step->sum, step->max_norm, step->dynamic);
      CHECK_NEAR (state[QM_STATE_NOT_FINITE], step->not_finite, 0);
      CHECK_NEAR (state[QM_STATE_UPDATES], step->updates, 0);
      CHECK_NEAR (state[QM_STATE_LOSS_SCALE], step->loss_scale, 0);
      CHECK_NEAR (state[QM_STATE_GROWTH], step->growth, 0);
      CHECK_NEAR (state[QM_STATE_FACTOR], step->factor, 1e-6);
    }
}

static void
test_memory (void)
{
  for (size_t bytes = 0; bytes < (size_t) 9 << 20; bytes += 1234567)
    {
      char *memory = qm_host_memory_new (bytes);

      CHECK (memory != NULL && (uintptr_t) memory % ((size_t) 2 << 20) == 0);
      if (memory == NULL)
        continue;
      if (bytes > 0)
        {
          CHECK_INT (memory[0], 0);
          CHECK_INT (memory[bytes - 1], 0);
          memset (memory, 1, bytes);
        }
      qm_host_memory_free (memory, bytes);
    }
  CHECK (qm_host_memory_new (SIZE_MAX) == NULL);
  CHECK (qm_host_memory_new (SIZE_MAX / 4 * 3) == NULL);
  qm_host_memory_free (NULL, 0);
}

static void
test_names (void)
{
  CHECK (qm_host_kernel_works (QM_HOST_SCALAR));
  CHECK (qm_host_kernel_works (qm_host_kernel_best ()));
}

static void
run_tests (Test *test)
{
  test_lengths (test);
  test_offsets (test);
  test_strange (test);
  test_flush (test);
  test_not_finite (test);
  test_touch (test);
  test_add (test);
  test_squares (test);
  test_many_squares (test);
  check_case ("state");
  test_state ();
  test_memory ();
  test_names ();
}

int
main (void)
{
  Test test = { 0 };
  QmError error = { 0 };

  test.before = aligned_alloc (256, sizeof (Arrays));
  test.wanted = aligned_alloc (256, sizeof (Arrays));
  test.got = aligned_alloc (256, sizeof (Arrays));
  CHECK_INT (qm_device_open ("cpu", 0, &test.device, &error), QM_OK);
  CHECK_INT (qm_stream_create (test.device, &test.stream, &error), QM_OK);
  CHECK_INT (qm_threads_new (7, true, &test.threads, &error), QM_OK);
  for (int i = 0; i < 3; i++)
    CHECK_INT (qm_task_new (test.threads, &test.tasks[i], &error), QM_OK);
  CHECK_INT (qm_threads_new (1, false, &test.thread, &error), QM_OK);
  CHECK_INT (qm_task_new (test.thread, &test.alone, &error), QM_OK);
  if (test.before != NULL && test.wanted != NULL && test.got != NULL)
    run_tests (&test);
  for (int i = 0; i < 3; i++)
    qm_task_free (test.tasks[i]);
  qm_threads_free (test.threads);
  qm_task_free (test.alone);
  qm_threads_free (test.thread);
  qm_stream_free (test.device, test.stream);
  qm_device_close (test.device);
  free (test.before);
  free (test.wanted);
  free (test.got);
  return check_report ();
}
