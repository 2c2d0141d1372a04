/* SPDX-License-Identifier: Apache-2.0 */

/* The operators of the GPU in FP8 against those of the CPU: what is quantised,
 * to the bit, and products.
 *
 *   test-cuda-scaled [--cases N] [--architecture N]
 *
 * --architecture uses the kernels of older GPUs, as 80 for sm_80, which have no
 * products.  Leaves with 77 where there is no GPU. */

#include "kernels/backend.h"
#include "kernels/convert.h"
#include "kernels/scaled.h"
#include "tests/data/check.h"
#include "tests/kernels/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHAPE(...) ((int64_t[]){ __VA_ARGS__ })

/* Relative differences.  Tensor cores of Hopper add 32 products and what there
 * was with 13 bits below the largest of them; 128 are then added in fp32.  A
 * result of 16 bits has its own rounding, twice where the bias is added behind.
 */
#define SUMS 2e-3
#define HALF 4e-3
#define BF16 1e-2

typedef struct Test
{
  Compare compare;
  int architecture;
} Test;

/* Multiples of 16: tails of tiles, and several tiles. */
static int64_t
even_size (Test *test)
{
  static const int64_t sizes[] = { 16, 48, 112, 128, 144, 256, 400 };
  int64_t i = compare_between (&test->compare, 0, 15);

  return i < 7 ? sizes[i] : 16 * compare_between (&test->compare, 1, 40);
}

static QmType
eight_bits (Test *test)
{
  return compare_toss (&test->compare) ? QM_TYPE_E4M3 : QM_TYPE_E5M2;
}

/* Writes `count` numbers, `stride` apart. */
static void
put_number (
    const QmTensor *tensor, int64_t at, int64_t stride, int64_t count, float x)
{
  size_t size = qm_type_size (tensor->type);

  for (int64_t i = 0; i < count; i++)
    qm_floats_store (tensor->type,
                     (char *) tensor->data + (size_t) (at + i * stride) * size,
                     1, 1, &x);
}

/* Rows, columns and numbers that scales trip over. */
static void
make_special (Test *test, const QmTensor *x)
{
  static const float numbers[] = {
    NAN, INFINITY, -INFINITY, 1e-38f, 6e4f, -0.0f
  };
  int64_t rows = x->shape[0], columns = x->shape[1], step = x->stride[0];
  int64_t row = compare_between (&test->compare, 0, rows - 1);
  int64_t column = compare_between (&test->compare, 0, columns - 1);

  switch (compare_between (&test->compare, 0, 5))
    {
    case 0:
      put_number (x, row * step, 1, columns, 0);
      put_number (x, column, step, rows, 0);
      break;
    case 1:
      for (int64_t i = 0; i < rows; i++)
        put_number (x, i * step, 1, columns,
                    compare_toss (&test->compare) ? 0 : -0.0f);
      break;
    case 2:
      put_number (x, row * step + column, 1, 1,
                  numbers[compare_between (&test->compare, 0, 5)]);
      break;
    default:
      break;
    }
}

/* A row of those of a model. */
static QmTensor
new_history (Test *test)
{
  int64_t n = compare_between (&test->compare, 1, 70);
  QmTensor history = compare_tensor (&test->compare, QM_TYPE_F32, 1, &n, 0,
                                     compare_between (&test->compare, 0, 5));
  bool nothing = compare_toss (&test->compare);

  for (int64_t i = 0; i < history.shape[0]; i++)
    ((float *) history.data)[i] =
        nothing ? 0 : fabsf (((float *) history.data)[i]) / 2;
  return history;
}

static void
run_quantize (Test *test, int64_t rows, int64_t columns)
{
  QmType type = eight_bits (test);
  bool by_row = compare_toss (&test->compare),
       turned = compare_between (&test->compare, 0, 3) > 0;
  bool plain = !turned || compare_between (&test->compare, 0, 3) > 0;
  /* As far as a multiple of 16, or somewhere. */
  int64_t behind = compare_toss (&test->compare)
                       ? (rows + 15) / 16 * 16
                       : rows + compare_between (&test->compare, 0, 300);
  Compare *compare = &test->compare;
  QmOpCall call = { .op = QM_OP_QUANTIZE };

  call.attributes.by_row = by_row;
  call.inputs[0] =
      compare_tensor (compare, compare_type (compare), 2, SHAPE (rows, columns),
                      compare_between (&test->compare, 0, 2) * 8,
                      compare_between (&test->compare, 0, 7) == 0 ? 1 : 0);
  make_special (test, &call.inputs[0]);
  if (!by_row && compare_toss (&test->compare))
    call.inputs[1] = new_history (test);
  if (plain)
    call.outputs[0] =
        compare_tensor (compare, type, 2, SHAPE (rows, columns), 0, 0);
  if (plain || !by_row)
    call.outputs[1] = compare_tensor (compare, QM_TYPE_F32, 1,
                                      SHAPE (by_row ? rows : 1), 0, 0);
  if (turned)
    call.outputs[2] =
        compare_tensor (compare, type, 2, SHAPE (columns, behind), 0, 0);
  if (turned && by_row)
    call.outputs[3] =
        compare_tensor (compare, QM_TYPE_F32, 1, SHAPE (columns), 0, 0);
  if (qm_tensor_present (&call.inputs[1]) && compare_toss (&test->compare))
    call.outputs[4] = compare_tensor (compare, QM_TYPE_F32, 1, SHAPE (1), 0,
                                      compare_between (&test->compare, 0, 5));
  compare_run (compare, &call, 0);
}

static void
test_quantize (Test *test)
{
  int64_t rows = compare_toss (&test->compare)
                     ? even_size (test)
                     : compare_between (&test->compare, 1, 300);

  run_quantize (test, rows, even_size (test));
}

/* What cannot be read or written 16 bytes at a time. */
static void
test_odd (Test *test)
{
  int64_t rows = compare_between (&test->compare, 1, 300);

  run_quantize (test, rows, compare_between (&test->compare, 1, 300));
}

/* More tiles than a GPU takes at once. */
static void
test_long (Test *test)
{
  run_quantize (test, 4112 + 16 * compare_between (&test->compare, 0, 9), 1040);
}

static void
test_note (Test *test)
{
  int64_t rows = compare_between (&test->compare, 1, 400),
          n = compare_between (&test->compare, 1, 20);
  QmOpCall call = { .op = QM_OP_NOTE_AMAX };

  call.inputs[0] =
      compare_tensor (&test->compare, QM_TYPE_F32, 1, SHAPE (rows), 0, 0);
  put_number (&call.inputs[0], compare_between (&test->compare, 0, rows - 1), 1,
              1, compare_toss (&test->compare) ? NAN : INFINITY);
  call.outputs[0] =
      compare_tensor (&test->compare, QM_TYPE_F32, 2, SHAPE (rows, n), 0, 0);
  compare_run (&test->compare, &call, 0);
}

static QmTensor
new_scales (Test *test, int64_t n)
{
  QmTensor scales =
      compare_tensor (&test->compare, QM_TYPE_F32, 1, SHAPE (n), 0, 0);

  for (int64_t i = 0; i < n; i++)
    ((float *) scales.data)[i] = 0.125f + fabsf (((float *) scales.data)[i]);
  return scales;
}

/* Factors and scales of a product, of which not both are E5M2. */
static void
set_factors (Test *test,
             QmOpCall *call,
             bool by_row,
             int64_t rows,
             int64_t inner,
             int64_t columns)
{
  QmType type = eight_bits (test);

  call->inputs[0] =
      compare_tensor (&test->compare, type, 2, SHAPE (rows, inner), 0, 0);
  call->inputs[1] =
      compare_tensor (&test->compare,
                      type == QM_TYPE_E5M2 ? QM_TYPE_E4M3 : eight_bits (test),
                      2, SHAPE (columns, inner), 0, 0);
  call->inputs[2] = new_scales (test, by_row ? rows : 1);
  call->inputs[3] = new_scales (test, by_row ? columns : 1);
}

static double
allowed (QmType type)
{
  return type == QM_TYPE_F32 ? SUMS : type == QM_TYPE_F16 ? HALF : BF16;
}

/* Of scales of rows, where there are such. */
static bool
draw_by_row (Test *test)
{
  return test->architecture == 90 && compare_toss (&test->compare);
}

static void
run_linear (
    Test *test, bool by_row, int64_t rows, int64_t inner, int64_t columns)
{
  QmType type = compare_type (&test->compare);
  QmOpCall call = { .op = QM_OP_SCALED_LINEAR };

  set_factors (test, &call, by_row, rows, inner, columns);
  call.attributes.deterministic = compare_toss (&test->compare);
  if (compare_toss (&test->compare))
    call.inputs[4] = compare_tensor (&test->compare,
                                     compare_toss (&test->compare)
                                         ? type
                                         : compare_type (&test->compare),
                                     1, SHAPE (columns), 0, 0);
  call.outputs[0] =
      compare_tensor (&test->compare, type, 2, SHAPE (rows, columns),
                      8 * compare_between (&test->compare, 0, 1), 0);
  compare_run (&test->compare, &call, allowed (type));
}

static void
run_weight_grad (
    Test *test, bool by_row, int64_t rows, int64_t inner, int64_t columns)
{
  QmOpCall call = { .op = QM_OP_SCALED_WEIGHT_GRAD };

  set_factors (test, &call, by_row, rows, inner, columns);
  call.attributes.deterministic = compare_toss (&test->compare);
  call.outputs[0] =
      compare_tensor (&test->compare, QM_TYPE_F32, 2, SHAPE (rows, columns),
                      8 * compare_between (&test->compare, 0, 1), 0);
  compare_run (&test->compare, &call, SUMS);
}

static void
test_linear (Test *test)
{
  int64_t rows = compare_toss (&test->compare)
                     ? even_size (test)
                     : compare_between (&test->compare, 1, 300);
  int64_t inner = even_size (test);

  run_linear (test, draw_by_row (test), rows, inner, even_size (test));
}

/* A factor of one row, beside whose scale the other has one or many. */
static void
test_one_row (Test *test)
{
  for (int by_row = 0; by_row <= (test->architecture == 90); by_row++)
    {
      run_linear (test, by_row == 1, 1, 64, 48);
      run_weight_grad (test, by_row == 1, 1, 64, 48);
    }
}

static void
test_weight_grad (Test *test)
{
  int64_t rows = even_size (test), inner = even_size (test);

  run_weight_grad (test, draw_by_row (test), rows, inner, even_size (test));
}

static void
test_long_products (Test *test)
{
  run_linear (test, draw_by_row (test), 4112, 528, 144);
  run_weight_grad (test, draw_by_row (test), 144, 4112, 272);
}

/* So many ones that a sum with few bits stops growing; fp32 is exact. */
static void
test_sums (Test *test)
{
  const int64_t rows = 128, inner = 1 << 16, columns = 256;
  QmOpCall call = { .op = QM_OP_SCALED_LINEAR };

  for (int i = 0; i < 2; i++)
    {
      const int64_t count = i == 0 ? rows : columns;

      call.inputs[i] = compare_tensor (&test->compare, QM_TYPE_E4M3, 2,
                                       SHAPE (count, inner), 0, 0);
      put_number (&call.inputs[i], 0, 1, count * inner, 1);
      call.inputs[2 + i] =
          compare_tensor (&test->compare, QM_TYPE_F32, 1, SHAPE (1), 0, 0);
      put_number (&call.inputs[2 + i], 0, 1, 1, 0.5f);
    }
  call.outputs[0] = compare_tensor (&test->compare, QM_TYPE_F32, 2,
                                    SHAPE (rows, columns), 0, 0);
  compare_run (&test->compare, &call, 0);
}

/* What no GPU, or not this one, has is refused before anything is queued. */
static void
check_refused (Test *test, QmType a, QmType b, int64_t rows, bool refused)
{
  const QmTarget *target = &qm_device_info (test->compare.gpu)->target;
  QmOpCall call = { .op = QM_OP_SCALED_LINEAR };
  QmError error = { 0 };
  float memory[1];

  call.inputs[0] = qm_tensor_dense (a, 2, SHAPE (rows, 64), memory);
  call.inputs[1] = qm_tensor_dense (b, 2, SHAPE (32, 64), memory);
  call.inputs[2] = call.inputs[3] =
      qm_tensor_dense (QM_TYPE_F32, 1, SHAPE (1), memory);
  call.outputs[0] = qm_tensor_dense (QM_TYPE_BF16, 2, SHAPE (rows, 32), memory);
  CHECK_INT (qm_target_takes (target, &call, &error),
             refused ? QM_STATUS_UNSUPPORTED : QM_OK);
  if (!refused)
    return;
  CHECK_INT (qm_op_run (test->compare.gpu, test->compare.gpu_stream, &call,
                        &error),
             QM_STATUS_UNSUPPORTED);
  CHECK_CONTAINS (error.message, "scaled_linear");
}

static void
test_refused (Test *test)
{
  bool old = test->architecture < 89;

  check_case ("refused");
  check_refused (test, QM_TYPE_E4M3, QM_TYPE_E4M3, 48, old);
  check_refused (test, QM_TYPE_E5M2, QM_TYPE_E4M3, 48, old);
  check_refused (test, QM_TYPE_E5M2, QM_TYPE_E5M2, 48, true);
  check_refused (test, QM_TYPE_E4M3, QM_TYPE_E4M3, 47, old);
}

typedef struct Kind
{
  const char *name;
  void (*run) (Test *test);
  long share; /* one case in so many */
  bool products;
} Kind;

static const Kind kinds[] = {
  { "quantize", test_quantize, 1, false },
  { "quantize, odd sizes", test_odd, 1, false },
  { "quantize, many tiles", test_long, 10, false },
  { "note", test_note, 4, false },
  { "sums", test_sums, 1000000, true },
  { "linear", test_linear, 1, true },
  { "one row", test_one_row, 10, true },
  { "weight gradient", test_weight_grad, 1, true },
  { "many rows", test_long_products, 10, true },
};

int
main (int argc, char **argv)
{
  Test test = { 0 };
  long cases = 40;
  int architecture = 0;

  for (int i = 1; i + 1 < argc; i += 2)
    if (strcmp (argv[i], "--cases") == 0)
      cases = strtol (argv[i + 1], NULL, 10);
    else if (strcmp (argv[i], "--architecture") == 0)
      architecture = (int) strtol (argv[i + 1], NULL, 10);
    else
      return 2;
  if (!compare_open (&test.compare, architecture))
    return CHECK_SKIPPED;
  test.architecture = qm_device_info (test.compare.gpu)->target.architecture;
  test_refused (&test);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    {
      if (kinds[k].products && test.architecture < 89)
        continue;
      test.compare.worst = 0;
      test.compare.calls = 0;
      for (long i = 0; i < cases; i += kinds[k].share)
        kinds[k].run (&test);
      printf ("%-20s %4d calls, worst error %.2f of what is allowed\n",
              kinds[k].name, test.compare.calls, test.compare.worst);
      fflush (stdout);
    }
  compare_close (&test.compare);
  return check_report ();
}
