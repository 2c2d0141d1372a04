/* SPDX-License-Identifier: Apache-2.0 */

/* The operators of the GPU that multiply, and those that move and add, against
 * those of the CPU.
 *
 *   test-cuda-products [--cases N] [--small] [--own] [--architecture N]
 *
 * --architecture uses the kernels of older GPUs, as 80 for sm_80.
 * --small is for tools under which everything is slow; --own runs only the
 * products that are our own.  Leaves with 77 where there is no GPU. */

#include "kernels/backend.h"
#include "kernels/convert.h"
#include "tests/data/check.h"
#include "tests/kernels/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHAPE(...) ((int64_t[]){ __VA_ARGS__ })

/* Relative differences: of sums in fp32 in another order; of factors rounded to
 * TF32; of intermediate results rounded to a 16-bit type. */
#define FP32 5e-6
#define TF32 1e-3
#define HALF 4e-3

typedef struct Test
{
  Compare compare;
  int64_t most; /* elements in a dimension */
  int architecture;
} Test;

static int64_t
between (Test *test, int64_t low, int64_t high)
{
  return compare_between (&test->compare, low, high);
}

static bool
toss (Test *test)
{
  return compare_toss (&test->compare);
}

/* A size of a dimension, mostly of a kind that vectors fit. */
static int64_t
size (Test *test)
{
  int64_t n = between (test, 1, test->most);

  return toss (test) ? n : (n + 63) / 64 * 64;
}

static QmTensor
matrix (Test *test, QmType type, int64_t rows, int64_t columns)
{
  int64_t gap =
      toss (test) ? 0 : between (test, 1, 2) * 8 - between (test, 0, 1);

  return compare_tensor (&test->compare, type, 2, SHAPE (rows, columns), gap,
                         between (test, 0, 3) == 0 ? between (test, 0, 16) : 0);
}

static QmTensor
line (Test *test, QmType type, int64_t n)
{
  return compare_tensor (&test->compare, type, 1, &n, 0, 0);
}

/* The first `rows` and `columns` of a matrix, all else of which is zero. */
static QmTensor
room (Test *test,
      QmType type,
      int64_t rows,
      int64_t all_rows,
      int64_t columns,
      int64_t all_columns)
{
  QmTensor tensor = compare_tensor (&test->compare, type, 2,
                                    SHAPE (all_rows, all_columns), 0, 0);
  size_t element = qm_type_size (type);

  for (int64_t r = 0; r < all_rows; r++)
    for (int64_t c = 0; c < all_columns; c++)
      if (r >= rows || c >= columns)
        memset ((char *) tensor.data + (size_t) (r * all_columns + c) * element,
                0, element);
  tensor.shape[0] = rows;
  tensor.shape[1] = columns;
  return tensor;
}

static double
tolerance (const QmOpCall *call, bool rounded_twice)
{
  /* A square is off by twice as much as its root. */
  const double slope = call->attributes.activation == QM_FUNCTION_RELU2 ? 2 : 1;

  if (call->inputs[0].type == QM_TYPE_F32)
    return slope * (call->attributes.tf32 ? TF32 : FP32);
  return slope * (rounded_twice ? HALF : FP32);
}

static QmFunction
any_function (Test *test)
{
  return (QmFunction) between (test, QM_FUNCTION_NONE, QM_FUNCTION_QUICK_GELU);
}

static void
test_linear (Test *test)
{
  QmType type = compare_type (&test->compare);
  int64_t rows = size (test), in = size (test), out = size (test);
  bool pre = toss (test), bias = toss (test);
  QmOpCall call = { .op = QM_OP_LINEAR };

  call.attributes.activation = any_function (test);
  call.attributes.tf32 = toss (test);
  call.inputs[0] = matrix (test, type, rows, in);
  call.inputs[1] = matrix (test, type, out, in);
  if (bias)
    call.inputs[2] = line (test, type, out);
  call.outputs[0] = matrix (test, type, rows, out);
  if (pre)
    call.outputs[1] = matrix (test, type, rows, out);
  compare_run (&test->compare, &call, tolerance (&call, true));
}

/* The head of a language model: more columns than classes. */
static void
test_padded (Test *test)
{
  QmType type = compare_type (&test->compare);
  int64_t rows = size (test), in = size (test), out = size (test);
  int64_t padded = (out + 63) / 64 * 64;
  QmOpCall call = { .op = QM_OP_LINEAR };

  call.attributes.padded = padded;
  call.inputs[0] = matrix (test, type, rows, in);
  call.inputs[1] = room (test, type, out, padded, in, in);
  call.inputs[2] = room (test, type, 1, 1, out, padded);
  call.inputs[2] = qm_tensor_dense (type, 1, &out, call.inputs[2].data);
  call.outputs[0] = room (test, type, rows, rows, out, padded);
  compare_run (&test->compare, &call, tolerance (&call, true));

  call = (QmOpCall){ .op = QM_OP_LINEAR_INPUT_GRAD };
  call.attributes.padded = padded;
  call.inputs[0] = room (test, type, rows, rows, out, padded);
  call.inputs[1] = room (test, type, out, padded, in, in);
  call.outputs[0] = matrix (test, type, rows, in);
  compare_run (&test->compare, &call, tolerance (&call, false));

  call = (QmOpCall){ .op = QM_OP_LINEAR_WEIGHT_GRAD };
  call.attributes.padded = padded;
  call.inputs[0] = room (test, type, rows, rows, out, padded);
  call.inputs[1] = matrix (test, type, rows, in);
  call.outputs[0] = room (test, QM_TYPE_F32, out, padded, in, in);
  call.outputs[1] = room (test, QM_TYPE_F32, 1, 1, out, padded);
  call.outputs[1] =
      qm_tensor_dense (QM_TYPE_F32, 1, &out, call.outputs[1].data);
  compare_run (&test->compare, &call, FP32);
}

static void
test_input_grad (Test *test)
{
  QmType type = compare_type (&test->compare);
  int64_t rows = size (test), in = size (test), out = size (test);
  bool pre = toss (test), add = toss (test);
  QmOpCall call = { .op = QM_OP_LINEAR_INPUT_GRAD };

  call.attributes.tf32 = toss (test);
  call.inputs[0] = matrix (test, type, rows, out);
  call.inputs[1] = matrix (test, type, out, in);
  if (pre)
    {
      call.attributes.activation = any_function (test);
      call.inputs[2] = matrix (test, type, rows, in);
    }
  if (add)
    call.inputs[3] = matrix (test, type, rows, in);
  /* In the place of the addend, if it is added by the product. */
  call.outputs[0] = add && !pre && toss (test) ? call.inputs[3]
                                               : matrix (test, type, rows, in);
  compare_run (&test->compare, &call, tolerance (&call, true));
}

/* A product that ends in a gate, or in its gradient. */
/* Gate and up are rounded, each by itself, and so is what is made of them. */
static double
gated_tolerance (const QmOpCall *call)
{
  return 1.5 * tolerance (call, true);
}

static void
test_gated (Test *test)
{
  QmType type = compare_type (&test->compare);
  int64_t rows = size (test), in = size (test), out = size (test);
  QmOpCall call = { .op = QM_OP_GATED_LINEAR };

  call.attributes.activation = any_function (test);
  call.attributes.tf32 = toss (test);
  call.inputs[0] = matrix (test, type, rows, in);
  call.inputs[1] = matrix (test, type, 2 * out, in);
  if (toss (test))
    call.inputs[2] = line (test, type, 2 * out);
  call.outputs[0] = matrix (test, type, rows, out);
  if (toss (test))
    call.outputs[1] = matrix (test, type, rows, 2 * out);
  compare_run (&test->compare, &call, gated_tolerance (&call));

  call = (QmOpCall){ .op = QM_OP_GATED_INPUT_GRAD };
  call.attributes.activation = any_function (test);
  call.attributes.tf32 = toss (test);
  call.inputs[0] = matrix (test, type, rows, in);
  call.inputs[1] = matrix (test, type, in, out);
  call.inputs[2] = matrix (test, type, rows, 2 * out);
  call.outputs[0] =
      toss (test) ? call.inputs[2] : matrix (test, type, rows, 2 * out);
  compare_run (&test->compare, &call, gated_tolerance (&call));
}

/* More rows than are multiplied at a time where what is between a product and a
 * gate is not kept. */
static void
test_gated_parts (Test *test)
{
  const QmType type = toss (test) ? QM_TYPE_F16 : QM_TYPE_BF16;
  int64_t rows = 300 + between (test, 1, 40), out = 64 << 10;
  QmOpCall call = { .op = QM_OP_GATED_LINEAR };

  if (test->most < 300)
    return;
  qm_cuda_prefer (test->compare.gpu, QM_CUDA_PREFER_LIBRARY);
  call.attributes.activation = QM_FUNCTION_SILU;
  call.inputs[0] = matrix (test, type, rows, 8);
  call.inputs[1] = matrix (test, type, 2 * out, 8);
  call.outputs[0] = matrix (test, type, rows, out);
  compare_run (&test->compare, &call, gated_tolerance (&call));

  call = (QmOpCall){ .op = QM_OP_GATED_INPUT_GRAD };
  call.attributes.activation = QM_FUNCTION_GELU;
  call.inputs[0] = matrix (test, type, rows, 8);
  call.inputs[1] = matrix (test, type, 8, 2 * out);
  call.inputs[2] = matrix (test, type, rows, 4 * out);
  call.outputs[0] = call.inputs[2];
  compare_run (&test->compare, &call, gated_tolerance (&call));
  qm_cuda_prefer (test->compare.gpu, QM_CUDA_PREFER_FASTEST);
}

/* A product whose result turns: any heads, of sequences of any length. */
static void
test_turned (Test *test)
{
  static const int64_t widths[] = { 64, 80, 96, 128, 10, 24, 32, 256 };
  QmType type = compare_type (&test->compare);
  int64_t width = widths[between (test, 0, 7)], in = size (test);
  int64_t length = between (test, 1, test->most), batch = between (test, 1, 3);
  int64_t chunk = between (test, 1, 5), out = width * chunk;
  QmOpCall call = { .op = QM_OP_ROTARY_LINEAR };

  out *= between (test, 1, 3);
  call.attributes.tf32 = toss (test);
  call.attributes.width = width;
  call.attributes.chunk = chunk;
  call.attributes.count = between (test, 1, chunk);
  call.attributes.rotary =
      toss (test) ? width : 2 * between (test, 1, width / 2);
  call.inputs[0] = matrix (test, type, batch * length, in);
  call.inputs[1] = matrix (test, type, out, in);
  if (toss (test))
    call.inputs[2] = line (test, type, out);
  call.inputs[3] =
      compare_tensor (&test->compare, QM_TYPE_F32, 2,
                      SHAPE (length, call.attributes.rotary), 0, 0);
  call.outputs[0] = matrix (test, type, batch * length, out);
  compare_run (&test->compare, &call, gated_tolerance (&call));
}

/* Rows that the copy engine can reach: of whole 16 bytes. */
static QmTensor
whole (Test *test, QmType type, int64_t rows, int64_t columns)
{
  int64_t gap = (8 - columns % 8) % 8 + (toss (test) ? 0 : 8);

  return compare_tensor (&test->compare, type, 2, SHAPE (rows, columns), gap,
                         toss (test) ? 0 : 8);
}

/* Our own products have several tiles in a row, or a part of one. */
static int64_t
own_size (Test *test, int64_t multiple)
{
  int64_t n = size (test) + (between (test, 0, 3) == 0 ? test->most * 2 : 0);

  return (n + multiple - 1) / multiple * multiple;
}

static void
run_own (Test *test, int64_t rows, int64_t inner, int64_t columns)
{
  static const QmFunction functions[] = { QM_FUNCTION_NONE, QM_FUNCTION_GELU,
                                          QM_FUNCTION_GELU_TANH };
  QmType type = toss (test) ? QM_TYPE_F16 : QM_TYPE_BF16;
  QmFunction function = functions[between (test, 0, 2)];
  QmOpCall call = { .op = QM_OP_LINEAR };

  if (test->architecture != 90)
    return;
  qm_cuda_prefer (test->compare.gpu, QM_CUDA_PREFER_OWN);
  call.attributes.activation = function;
  call.inputs[0] = whole (test, type, rows, inner);
  call.inputs[1] = whole (test, type, columns, inner);
  if (toss (test))
    call.inputs[2] = line (test, type, columns);
  call.outputs[0] = whole (test, type, rows, columns);
  if (toss (test) && function != QM_FUNCTION_NONE)
    call.outputs[1] = whole (test, type, rows, columns);
  compare_run (&test->compare, &call, tolerance (&call, true));

  call = (QmOpCall){ .op = QM_OP_LINEAR_INPUT_GRAD };
  call.inputs[0] = whole (test, type, rows, inner);
  call.inputs[1] = whole (test, type, inner, columns);
  if (function != QM_FUNCTION_NONE)
    {
      call.attributes.activation = function;
      call.inputs[2] = whole (test, type, rows, columns);
    }
  call.outputs[0] = whole (test, type, rows, columns);
  compare_run (&test->compare, &call, tolerance (&call, true));

  call = (QmOpCall){ .op = QM_OP_LINEAR_WEIGHT_GRAD };
  call.inputs[0] = whole (test, type, inner, rows);
  call.inputs[1] = whole (test, type, inner, columns);
  call.outputs[0] = whole (test, QM_TYPE_F32, rows, columns);
  if (toss (test))
    call.outputs[1] = line (test, QM_TYPE_F32, rows);
  compare_run (&test->compare, &call, FP32);
  qm_cuda_prefer (test->compare.gpu, QM_CUDA_PREFER_FASTEST);
}

static void
run_own_gates (Test *test, int64_t rows, int64_t inner, int64_t columns)
{
  static const QmFunction functions[] = { QM_FUNCTION_SILU, QM_FUNCTION_GELU,
                                          QM_FUNCTION_GELU_TANH };
  QmType type = toss (test) ? QM_TYPE_F16 : QM_TYPE_BF16;
  QmFunction function = functions[between (test, 0, 2)];
  QmOpCall call = { .op = QM_OP_GATED_LINEAR };

  if (test->architecture != 90)
    return;
  qm_cuda_prefer (test->compare.gpu, QM_CUDA_PREFER_OWN);
  call.attributes.activation = function;
  call.inputs[0] = whole (test, type, rows, inner);
  call.inputs[1] = whole (test, type, 2 * columns, inner);
  if (toss (test))
    call.inputs[2] = line (test, type, 2 * columns);
  call.outputs[0] = whole (test, type, rows, columns);
  if (between (test, 0, 2) > 0)
    call.outputs[1] = whole (test, type, rows, 2 * columns);
  compare_run (&test->compare, &call, tolerance (&call, true));

  call = (QmOpCall){ .op = QM_OP_GATED_INPUT_GRAD };
  call.attributes.activation = function;
  call.inputs[0] = whole (test, type, rows, inner);
  call.inputs[1] = whole (test, type, inner, columns);
  call.inputs[2] = whole (test, type, rows, 2 * columns);
  call.outputs[0] =
      toss (test) ? call.inputs[2] : whole (test, type, rows, 2 * columns);
  compare_run (&test->compare, &call, tolerance (&call, true));
  qm_cuda_prefer (test->compare.gpu, QM_CUDA_PREFER_FASTEST);
}

static void
test_own_gates (Test *test)
{
  int64_t rows = own_size (test, 1), inner = own_size (test, 1);

  run_own_gates (test, rows, inner, own_size (test, 8));
}

static void
test_own_gates_rounds (Test *test)
{
  static const int64_t inner[] = { 520, 776, 1032, 1544, 3080 };

  if (test->most >= 300)
    run_own_gates (test, 2048 + between (test, 1, 300),
                   inner[between (test, 0, 4)] + between (test, -8, 60),
                   2304 + 8 * between (test, 0, 40));
}

/* At least so many rows and columns, of heads of which all or a part turns. */
static void
run_own_rotary (Test *test, int64_t rows, int64_t inner, int64_t columns)
{
  static const int64_t heads[][2] = { { 64, 64 },  { 128, 128 }, { 64, 16 },
                                      { 128, 32 }, { 32, 32 },   { 80, 16 },
                                      { 96, 32 },  { 256, 64 },  { 16, 16 } };
  const int64_t *head = heads[between (test, 0, 8)];
  QmType type = toss (test) ? QM_TYPE_F16 : QM_TYPE_BF16;
  int64_t length = between (test, 1, rows), chunk = between (test, 1, 6);
  QmOpCall call = { .op = QM_OP_ROTARY_LINEAR };

  if (test->architecture != 90)
    return;
  rows = (rows + length - 1) / length * length;
  columns = (columns / (head[0] * chunk) + 1) * head[0] * chunk;
  qm_cuda_prefer (test->compare.gpu, QM_CUDA_PREFER_OWN);
  call.attributes.width = head[0];
  call.attributes.rotary = head[1];
  call.attributes.chunk = chunk;
  call.attributes.count = between (test, 1, chunk);
  call.inputs[0] = whole (test, type, rows, inner);
  call.inputs[1] = whole (test, type, columns, inner);
  if (toss (test))
    call.inputs[2] = line (test, type, columns);
  call.inputs[3] = compare_tensor (&test->compare, QM_TYPE_F32, 2,
                                   SHAPE (length, head[1]), 0, 0);
  call.outputs[0] = whole (test, type, rows, columns);
  compare_run (&test->compare, &call, tolerance (&call, true));
  qm_cuda_prefer (test->compare.gpu, QM_CUDA_PREFER_FASTEST);
}

static void
test_own_rotary (Test *test)
{
  int64_t rows = own_size (test, 1), inner = own_size (test, 1);

  run_own_rotary (test, rows, inner, own_size (test, 1));
}

static void
test_own_rotary_rounds (Test *test)
{
  static const int64_t inner[] = { 520, 776, 1032, 1544, 3080 };

  if (test->most >= 300)
    run_own_rotary (test, 2048 + between (test, 1, 300),
                    inner[between (test, 0, 4)] + between (test, -8, 60),
                    2304 + 8 * between (test, 0, 40));
}

static void
test_own (Test *test)
{
  int64_t rows = own_size (test, 1), inner = own_size (test, 1);

  run_own (test, rows, inner, own_size (test, 8));
}

/* More tiles than a GPU takes at once, and sums of all lengths that the kernels
 * tell apart. */
static void
test_own_rounds (Test *test)
{
  static const int64_t inner[] = { 520, 776, 1032, 3080 };

  if (test->most >= 300)
    run_own (test, 2048 + between (test, 1, 300),
             inner[between (test, 0, 3)] + between (test, -8, 60),
             2304 + 8 * between (test, 0, 40));
}

static void
test_weight_grad (Test *test)
{
  QmType type = compare_type (&test->compare);
  int64_t rows = size (test), in = size (test), out = size (test);
  QmOpCall call = { .op = QM_OP_LINEAR_WEIGHT_GRAD };

  call.attributes.tf32 = toss (test);
  call.attributes.deterministic = toss (test);
  call.inputs[0] = matrix (test, type, rows, out);
  call.inputs[1] = matrix (test, type, rows, in);
  call.outputs[0] = matrix (test, QM_TYPE_F32, out, in);
  if (toss (test))
    call.outputs[1] = line (test, QM_TYPE_F32, out);
  compare_run (&test->compare, &call, tolerance (&call, false) * 2);
}

/* Long enough for the ways that transpose a factor before. */
static void
test_long_weight_grad (Test *test)
{
  int64_t rows = test->most * 10 + size (test) * 4;
  int64_t in = 64 + size (test) / 8 * 4, out = 64 + size (test) / 8 * 4;
  QmOpCall call = { .op = QM_OP_LINEAR_WEIGHT_GRAD };

  call.attributes.tf32 = true;
  call.inputs[0] =
      compare_tensor (&test->compare, QM_TYPE_F32, 2, SHAPE (rows, out), 0, 0);
  call.inputs[1] = compare_tensor (&test->compare, QM_TYPE_F32, 2,
                                   SHAPE (rows, in), toss (test) ? 8 : 0, 0);
  call.outputs[0] = matrix (test, QM_TYPE_F32, out, in);
  if (toss (test))
    call.outputs[1] = line (test, QM_TYPE_F32, out);
  compare_run (&test->compare, &call, tolerance (&call, false) * 2);
}

/* [B, H, rows, columns], laid out as [B, H, r, c], [B, r, H, c] or either with
 * columns following each other. */
static QmTensor
batch (Test *test, QmType type, int64_t b, int64_t h, int64_t r, int64_t c)
{
  bool turned = toss (test), inside = toss (test);
  int64_t down = turned ? c : r, right = turned ? r : c;
  QmTensor tensor;
  int64_t swap;

  if (inside)
    tensor = compare_tensor (&test->compare, type, 4, SHAPE (b, down, h, right),
                             toss (test) ? 8 : 0, 0);
  else
    tensor = compare_tensor (&test->compare, type, 4, SHAPE (b, h, down, right),
                             toss (test) ? 8 : 0, 0);
  if (inside)
    {
      swap = tensor.stride[1];
      tensor.stride[1] = tensor.stride[2];
      tensor.stride[2] = swap;
    }
  if (turned)
    {
      swap = tensor.stride[2];
      tensor.stride[2] = tensor.stride[3];
      tensor.stride[3] = swap;
    }
  memcpy (tensor.shape, SHAPE (b, h, r, c), 4 * sizeof (int64_t));
  return tensor;
}

static void
test_matmul (Test *test)
{
  QmType type = compare_type (&test->compare);
  int64_t b = between (test, 1, 3), h = between (test, 1, 4);
  int64_t m = size (test), n = size (test), k = size (test);
  QmOpCall call = { .op = QM_OP_MATMUL };

  call.attributes.scale = 0.125;
  call.attributes.tf32 = toss (test);
  call.inputs[0] = batch (test, type, b, h, m, k);
  call.inputs[1] = batch (test, type, b, h, k, n);
  call.outputs[0] = batch (test, type, b, h, m, n);
  compare_run (&test->compare, &call, tolerance (&call, false));
}

/* Three parts of [B, S, 3, H, D], as [B, H, S, D]. */
static void
packed (Test *test, QmType type, const int64_t *shape, QmTensor *parts)
{
  int64_t b = shape[0], h = shape[1], s = shape[2], d = shape[3];
  bool by_head = toss (test);
  QmTensor tensor =
      compare_tensor (&test->compare, type, 5,
                      by_head ? SHAPE (b, s, h, 3, d) : SHAPE (b, s, 3, h, d),
                      0, 0);

  for (int64_t i = 0; i < 3; i++)
    {
      parts[i] = qm_tensor_dense (type, 4, shape, tensor.data);
      parts[i].stride[0] = tensor.stride[0];
      parts[i].stride[1] = tensor.stride[by_head ? 2 : 3];
      parts[i].stride[2] = tensor.stride[1];
      parts[i].data =
          (char *) tensor.data
          + (size_t) (i * tensor.stride[by_head ? 3 : 2]) * qm_type_size (type);
    }
}

/* [B, H, S, D] in memory of [B, S, H, D]. */
static QmTensor
joined (Test *test, QmType type, const int64_t *shape)
{
  QmTensor tensor =
      compare_tensor (&test->compare, type, 4,
                      SHAPE (shape[0], shape[2], shape[1], shape[3]), 0, 0);

  memcpy (tensor.shape, shape, 4 * sizeof *shape);
  tensor.stride[2] = tensor.stride[1];
  tensor.stride[1] = shape[3];
  return tensor;
}

static void
test_attention (Test *test)
{
  static const int64_t widths[] = { 64, 80, 96, 128, 256, 8, 12, 32 };
  QmType type = compare_type (&test->compare);
  int64_t shape[] = { between (test, 1, 2), between (test, 1, 3), size (test),
                      widths[between (test, 0, 7)] };
  double allowed = type == QM_TYPE_BF16 ? 1e-2 : 2e-3;
  QmOpCall call = { .op = QM_OP_ATTENTION };
  QmAttributes attributes = { .tf32 = toss (test), .site = 7 };

  attributes.scale = 1 / sqrt ((double) shape[3]);
  attributes.causal = toss (test) ? QM_CAUSAL_RESULT : QM_CAUSAL_NONE;
  attributes.dropout = toss (test) ? 0.1 : 0;
  attributes.deterministic = true;
  if (type == QM_TYPE_F32 && !attributes.tf32)
    allowed = 1e-5;
  call.attributes = attributes;
  packed (test, type, shape, call.inputs);
  if (attributes.dropout > 0)
    call.inputs[3] = compare_rng (&test->compare);
  call.outputs[0] = joined (test, type, shape);
  call.outputs[1] =
      compare_tensor (&test->compare, QM_TYPE_F32, 3, shape, 0, 0);
  compare_run (&test->compare, &call, allowed);

  call = (QmOpCall){ .op = QM_OP_ATTENTION_BACKWARD };
  call.attributes = attributes;
  call.inputs[0] = joined (test, type, shape);
  packed (test, type, shape, &call.inputs[1]);
  call.inputs[4] = joined (test, type, shape);
  call.inputs[5] = compare_tensor (&test->compare, QM_TYPE_F32, 3, shape, 0, 0);
  if (attributes.dropout > 0)
    call.inputs[6] = compare_rng (&test->compare);
  if (toss (test))
    {
      int64_t turned = toss (test) ? shape[3] : (shape[3] + 7) / 8 * 2;

      call.attributes.rotary = turned;
      call.inputs[7] = compare_tensor (&test->compare, QM_TYPE_F32, 2,
                                       SHAPE (shape[2], turned), 0, 0);
    }
  packed (test, type, shape, call.outputs);
  compare_run (&test->compare, &call, allowed);
}

/* A view of any strides. */
static QmTensor
view (Test *test, QmType type, int32_t rank, const int64_t *shape)
{
  int64_t inner[QM_MAX_RANK];
  int32_t order[QM_MAX_RANK];
  QmTensor tensor, result;

  for (int32_t i = 0; i < rank; i++)
    order[i] = i;
  for (int32_t i = rank - 1; i > 0 && between (test, 0, 2) == 0; i--)
    {
      int32_t j = (int32_t) between (test, 0, i), swap = order[i];

      order[i] = order[j];
      order[j] = swap;
    }
  for (int32_t i = 0; i < rank; i++)
    inner[i] = shape[order[i]];
  tensor = compare_tensor (&test->compare, type, rank, inner,
                           toss (test) ? 0 : between (test, 1, 8), 0);
  result = tensor;
  for (int32_t i = 0; i < rank; i++)
    {
      result.shape[order[i]] = tensor.shape[i];
      result.stride[order[i]] = tensor.stride[i];
    }
  return result;
}

static QmType
moved_type (Test *test)
{
  return between (test, 0, 4) == 0 ? QM_TYPE_I32
                                   : compare_type (&test->compare);
}

static void
test_copy (Test *test)
{
  int32_t rank = (int32_t) between (test, 1, QM_MAX_RANK);
  int64_t shape[QM_MAX_RANK];
  QmOpCall call = { .op = QM_OP_COPY };

  for (int32_t i = 0; i < rank; i++)
    shape[i] = between (test, 1, rank > 2 ? 12 : test->most);
  shape[rank - 1] = toss (test) ? 64 : shape[rank - 1];
  call.inputs[0] = view (test, moved_type (test), rank, shape);
  call.outputs[0] = view (test, moved_type (test), rank, shape);
  compare_run (&test->compare, &call, 0);

  call = (QmOpCall){ .op = QM_OP_FILL };
  call.attributes.value = -3;
  call.outputs[0] = view (test, moved_type (test), rank, shape);
  compare_run (&test->compare, &call, 0);
}

static void
test_add (Test *test)
{
  int64_t shape[] = { between (test, 1, 9), size (test), size (test) };
  QmOpCall call = { .op = QM_OP_ADD };

  call.inputs[0] =
      compare_tensor (&test->compare, compare_type (&test->compare), 3, shape,
                      0, 0);
  call.inputs[1] =
      compare_tensor (&test->compare, compare_type (&test->compare), 3, shape,
                      0, 0);
  call.outputs[0] =
      compare_tensor (&test->compare, compare_type (&test->compare), 3, shape,
                      0, 0);
  compare_run (&test->compare, &call, FP32);

  call = (QmOpCall){ .op = QM_OP_COLUMN_SUM };
  call.attributes.scale = 0.5;
  call.inputs[0] = matrix (test, compare_type (&test->compare), size (test) * 8,
                           size (test));
  call.outputs[0] = line (test, QM_TYPE_F32, call.inputs[0].shape[1]);
  compare_run (&test->compare, &call, FP32);
}

/* Of how many cases one is made: what takes long is made less often. */
static long
cases_for_one (void (*test) (Test *), long cases)
{
  if (test == test_gated_parts)
    return cases;
  return test == test_own_rounds || test == test_own_gates_rounds
                 || test == test_own_rotary_rounds
             ? 10
             : 1;
}

int
main (int argc, char **argv)
{
  static void (*const tests[]) (Test *) = {
    test_own,
    test_own_rounds,
    test_own_gates,
    test_own_gates_rounds,
    test_own_rotary,
    test_own_rotary_rounds,
    test_gated_parts,
    test_gated,
    test_turned,
    test_copy,
    test_add,
    test_linear,
    test_input_grad,
    test_weight_grad,
    test_long_weight_grad,
    test_padded,
    test_attention,
    test_matmul,
  };
  size_t kinds = sizeof tests / sizeof tests[0];
  Test test = { .most = 300 };
  long cases = 40;
  int architecture = 0;

  for (int i = 1; i < argc; i++)
    if (strcmp (argv[i], "--small") == 0)
      test.most = 70;
    else if (strcmp (argv[i], "--own") == 0)
      kinds = 6;
    else if (strcmp (argv[i], "--cases") == 0 && i + 1 < argc)
      cases = strtol (argv[++i], NULL, 10);
    else if (strcmp (argv[i], "--architecture") == 0 && i + 1 < argc)
      architecture = (int) strtol (argv[++i], NULL, 10);
  if (!compare_open (&test.compare, architecture))
    return CHECK_SKIPPED;
  test.architecture = qm_device_info (test.compare.gpu)->target.architecture;
  for (size_t t = 0; t < kinds; t++)
    {
      test.compare.worst = 0;
      test.compare.calls = 0;
      for (long i = 0; i < cases; i += cases_for_one (tests[t], cases))
        tests[t](&test);
      printf ("%2zu: %4d calls, worst error %.2f of what is allowed\n", t,
              test.compare.calls, test.compare.worst);
    }
  compare_close (&test.compare);
  return check_report ();
}
