/* SPDX-License-Identifier: Apache-2.0 */

/* The scans of the GPU and their gradients against those of the CPU.
 *
 *   test-cuda-scan [--cases N] [--small] [--architecture N]
 *
 * --small is for tools under which everything is slow, --architecture uses the
 * kernels of older GPUs, as 75 for sm_75.  Leaves with 77 where there is no
 * GPU. */

#include "tests/data/check.h"
#include "tests/kernels/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHAPE(...) ((int64_t[]){ __VA_ARGS__ })
#define PICK(test, ...)                                                       \
  SHAPE (__VA_ARGS__)                                                         \
  [compare_between (&(test)->compare, 0,                                      \
                    (int64_t) (sizeof SHAPE (__VA_ARGS__) / sizeof (int64_t)) \
                        - 1)]

typedef struct Test
{
  Compare compare;
  bool small, fits; /* `fits`: kernels of few shapes take it */
  int64_t sequences, width, chunk, channels, n;
  QmType type; /* of rows; none: each has its own */
} Test;

static bool
chance (Test *test)
{
  return compare_between (&test->compare, 0, 1) == 1;
}

static void
choose (Test *test)
{
  Compare *compare = &test->compare;

  test->fits = compare_between (compare, 0, 2) == 0;
  test->sequences = compare_between (compare, 1, 3);
  test->width =
      test->small ? PICK (test, 5, 65, 130)
                  : PICK (test, 1, 2, 17, 63, 64, 65, 128, 130, 257, 449, 1000);
  test->channels = test->small ? PICK (test, 8, 33, 40)
                               : PICK (test, 1, 3, 8, 32, 33, 64, 72, 96, 161);
  test->n = chance (test)   ? 16
            : chance (test) ? compare_between (compare, 1, 40)
                            : PICK (test, 1, 7, 8, 9, 15, 17, 32, 64);
  test->chunk = PICK (test, 1, 2, 3, 7, 45, 63, 64, 64, 64, 64, 65, 100, 500);
  if (test->fits)
    {
      test->channels = test->small ? PICK (test, 8, 40)
                                   : PICK (test, 8, 32, 56, 64, 72, 160);
      test->n = 16;
      test->chunk = PICK (test, 8, 32, 64, 64, 64, 500);
    }
  if (test->chunk > test->width)
    test->chunk = test->width;
  test->type = chance (test) ? compare_type (compare) : QM_TYPE_NONE;
  if (test->fits)
    test->type =
        chance (test)
                && qm_target_multiplies (&qm_device_info (compare->gpu)->target,
                                         QM_TYPE_BF16, false)
            ? QM_TYPE_BF16
            : compare_type (compare);
}

static QmType
type_of (Test *test)
{
  return test->type != QM_TYPE_NONE ? test->type
                                    : compare_type (&test->compare);
}

/* Mostly as the kernels like it, where all rows have one type. */
static QmTensor
matrix (Test *test, int64_t columns)
{
  bool plain = test->fits
               || (test->type != QM_TYPE_NONE
                   && compare_between (&test->compare, 0, 9) > 0);
  int64_t gap = plain ? PICK (test, 0, 8, 16) : PICK (test, 0, 3, 8);
  int64_t offset = plain ? PICK (test, 0, 8) : PICK (test, 0, 0, 1);

  return compare_tensor (&test->compare, type_of (test), 2,
                         SHAPE (test->sequences * test->width, columns), gap,
                         offset);
}

static QmTensor
dense (Test *test, int32_t rank, const int64_t *shape)
{
  return compare_tensor (&test->compare, QM_TYPE_F32, rank, shape, 0, 0);
}

/* u, dt, a, b, c, skip, [bias], [z], or their gradients where those inputs
 * are. */
static void
make_operands (Test *test, QmTensor *tensors, const QmTensor *like)
{
  tensors[0] = matrix (test, test->channels);
  tensors[1] = matrix (test, test->channels);
  tensors[2] = dense (test, 2, SHAPE (test->channels, test->n));
  tensors[3] = matrix (test, test->n);
  tensors[4] = matrix (test, test->n);
  tensors[5] = dense (test, 1, SHAPE (test->channels));
  if (like != NULL ? qm_tensor_present (&like[6]) : chance (test))
    tensors[6] = dense (test, 1, SHAPE (test->channels));
  if (like != NULL ? qm_tensor_present (&like[7])
                   : compare_between (&test->compare, 0, 3) > 0)
    tensors[7] = matrix (test, test->channels);
}

static QmOpCall
make_scan (Test *test)
{
  QmOpCall call = { .op = QM_OP_SELECTIVE_SCAN };

  choose (test);
  call.attributes.width = test->width;
  call.attributes.chunk = test->chunk;
  make_operands (test, call.inputs, NULL);
  call.outputs[0] = matrix (test, test->channels);
  call.outputs[1] = dense (test, 4,
                           SHAPE (test->sequences,
                                  (test->width + test->chunk - 1) / test->chunk,
                                  test->n, test->channels));
  return call;
}

static void
scan (Test *test)
{
  QmOpCall call = make_scan (test);

  compare_run (&test->compare, &call, 2e-5);
}

static void
scan_backward (Test *test)
{
  QmOpCall forward = make_scan (test);
  QmOpCall call = { .op = QM_OP_SELECTIVE_SCAN_BACKWARD,
                    .attributes = forward.attributes };
  QmError error = { 0 };

  /* States have to be those of the inputs. */
  CHECK_INT (qm_op_run (test->compare.cpu, test->compare.cpu_stream, &forward,
                        &error),
             QM_OK);
  call.inputs[0] = matrix (test, test->channels);
  memcpy (&call.inputs[1], forward.inputs, 8 * sizeof forward.inputs[0]);
  call.inputs[9] = forward.outputs[1];
  make_operands (test, call.outputs, forward.inputs);
  /* Where gradients of b and c are in bf16, their sums are made in TF32. */
  test->compare.neighbours = 2;
  compare_run (&test->compare, &call, 5e-5);
  test->compare.neighbours = 1;
}

/* Heads as the kernels like them, or not. */
static QmOpCall
make_dual (Test *test, int64_t *heads, int64_t *size)
{
  QmOpCall call = { .op = QM_OP_DUAL_SCAN };
  Compare *compare = &test->compare;
  int64_t groups = compare_between (compare, 1, 2);

  choose (test);
  *heads = groups * compare_between (compare, 1, test->small ? 1 : 3);
  *size = test->small ? PICK (test, 8, 33) : PICK (test, 1, 8, 17, 64, 80, 128);
  test->channels = *heads * *size;
  test->n = test->small ? PICK (test, 16, 40)
                        : PICK (test, 1, 7, 16, 64, 128, 128, 130, 256);
  test->n *= groups;
  call.attributes.width = test->width;
  call.attributes.count = groups;
  if (chance (test))
    {
      call.attributes.value = 0.3;
      call.attributes.cap = 1;
    }
  return call;
}

/* x, dt, a, b, c, skip, [bias], or their gradients. */
static void
make_dual_operands (Test *test,
                    int64_t heads,
                    QmTensor *tensors,
                    const QmTensor *like)
{
  tensors[0] = matrix (test, test->channels);
  tensors[1] = matrix (test, heads);
  tensors[2] = dense (test, 1, SHAPE (heads));
  tensors[3] = matrix (test, test->n);
  tensors[4] = matrix (test, test->n);
  tensors[5] = dense (test, 1, SHAPE (heads));
  if (like != NULL ? qm_tensor_present (&like[6]) : chance (test))
    tensors[6] = dense (test, 1, SHAPE (heads));
}

/* Where all factors are of one 16-bit type products round them to it, states
 * and decays among them, and sums are no better than that. */
static double
dual_tolerance (const QmTensor *const *factors, int n, double exact)
{
  for (int i = 1; i < n; i++)
    if (factors[i]->type != factors[0]->type)
      return exact;
  return factors[0]->type == QM_TYPE_BF16  ? 0x1p-6
         : factors[0]->type == QM_TYPE_F16 ? 0x1p-9
                                           : exact;
}

static void
dual_scan (Test *test)
{
  int64_t heads, size;
  QmOpCall call = make_dual (test, &heads, &size);
  const QmTensor *factors[] = { &call.inputs[0], &call.inputs[3],
                                &call.inputs[4] };

  make_dual_operands (test, heads, call.inputs, NULL);
  call.outputs[0] = matrix (test, test->channels);
  compare_run (&test->compare, &call, dual_tolerance (factors, 3, 2e-5));
}

/* Of fp32, the gradient of a is a sum of numbers of either sign, which adds up
 * to much less than they are. */
static void
dual_scan_backward (Test *test)
{
  int64_t heads, size;
  QmOpCall call = make_dual (test, &heads, &size);
  const QmTensor *factors[] = { &call.inputs[0], &call.inputs[1],
                                &call.inputs[4], &call.inputs[5] };

  call.op = QM_OP_DUAL_SCAN_BACKWARD;
  call.inputs[0] = matrix (test, test->channels);
  make_dual_operands (test, heads, call.inputs + 1, NULL);
  make_dual_operands (test, heads, call.outputs, call.inputs + 1);
  compare_run (&test->compare, &call, dual_tolerance (factors, 4, 2e-4));
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name;
    void (*run) (Test *test);
  } families[] = {
    { "scan", scan },
    { "gradient of scan", scan_backward },
    { "dual scan", dual_scan },
    { "gradient of dual scan", dual_scan_backward },
  };
  Test test = { 0 };
  int cases = 60, architecture = 0;

  for (int i = 1; i < argc; i++)
    if (strcmp (argv[i], "--small") == 0)
      test.small = true;
    else if (strcmp (argv[i], "--cases") == 0 && i + 1 < argc)
      cases = atoi (argv[++i]);
    else if (strcmp (argv[i], "--architecture") == 0 && i + 1 < argc)
      architecture = (int) strtol (argv[++i], NULL, 10);
    else
      return 2;
  if (!compare_open (&test.compare, architecture))
    return CHECK_SKIPPED;
  for (size_t f = 0; f < sizeof families / sizeof *families; f++)
    {
      test.compare.worst = 0;
      test.compare.calls = test.compare.refusals = 0;
      for (int i = 0; i < cases; i++)
        families[f].run (&test);
      printf ("%-22s %4d calls, error up to %5.1f %% of what is allowed",
              families[f].name, test.compare.calls, 100 * test.compare.worst);
      if (test.compare.refusals > 0)
        printf ("; %d such a GPU does not take", test.compare.refusals);
      printf ("\n");
      CHECK (test.compare.calls > 0);
      fflush (stdout);
    }
  compare_close (&test.compare);
  return check_report ();
}
