/* SPDX-License-Identifier: Apache-2.0 */

/* Norms, with what is added before them, for test-cuda-rows. */

#include "tests/kernels/rows.h"

static void
add_scaled_gradient (Test *test, QmOpCall *call, int64_t rows, int64_t n)
{
  call->inputs[9] = matrix (test, any_type (test), rows, n);
  call->inputs[10] = some_gain (test, &call->attributes, rows, n);
  call->outputs[5] = between (test, 0, 1)
                         ? call->inputs[9]
                         : matrix (test, any_type (test), rows, n);
  call->outputs[7] = line (test, QM_TYPE_F32, n);
}

void
test_layer_norm (Test *test)
{
  int64_t rows = between (test, 1, test->small ? 9 : 700);
  int64_t n = some_columns (test);
  int branches = (int) between (test, 0, 2);
  QmOpCall call = { .op = QM_OP_LAYER_NORM };

  call.attributes.epsilon = 1e-5;
  call.attributes.site = 7;
  call.attributes.site2 = 8;
  call.inputs[0] = matrix (test, any_type (test), rows, n);
  call.inputs[1] = line (test, any_type (test), n);
  call.inputs[2] = line (test, any_type (test), n);
  call.outputs[0] = matrix (test, any_type (test), rows, n);
  call.outputs[1] = line (test, QM_TYPE_F32, rows);
  call.outputs[2] = line (test, QM_TYPE_F32, rows);
  for (int i = 0; i < branches; i++)
    call.inputs[3 + i] = matrix (test, any_type (test), rows, n);
  if (branches > 0)
    {
      call.attributes.dropout = some_dropout (test);
      call.inputs[7] = compare_rng (&test->compare);
      call.outputs[3] = between (test, 0, 1)
                            ? call.inputs[0]
                            : matrix (test, any_type (test), rows, n);
    }
  if (branches == 1 && between (test, 0, 2) > 0)
    call.inputs[8] = some_gain (test, &call.attributes, rows, n);
  if (between (test, 0, 1))
    {
      call.inputs[5] = line (test, any_type (test), n);
      call.inputs[6] = line (test, any_type (test), n);
      call.outputs[4] = matrix (test, any_type (test), rows, n);
    }
  /* The mean of a row is a small difference of large numbers. */
  compare_run (&test->compare, &call, 1e-5);
}

void
test_layer_norm_backward (Test *test)
{
  int64_t rows = between (test, 1, test->small ? 9 : 3000);
  int64_t n = some_columns (test);
  QmOpCall call = { .op = QM_OP_LAYER_NORM_BACKWARD };

  if (!test->small && n > 3000)
    rows = rows % 300 + 1;
  call.attributes.site = 7;
  call.attributes.site2 = 8;
  call.inputs[0] = matrix (test, any_type (test), rows, n);
  call.inputs[1] = matrix (test, any_type (test), rows, n);
  call.inputs[2] = line (test, any_type (test), n);
  call.inputs[3] = line (test, QM_TYPE_F32, rows);
  call.inputs[4] = line (test, QM_TYPE_F32, rows);
  call.outputs[0] = between (test, 0, 3)
                        ? matrix (test, any_type (test), rows, n)
                        : call.inputs[0];
  call.outputs[1] = line (test, QM_TYPE_F32, n);
  call.outputs[2] = line (test, QM_TYPE_F32, n);
  if (between (test, 0, 1))
    call.inputs[5] = matrix (test, any_type (test), rows, n);
  if (between (test, 0, 1))
    {
      call.inputs[6] = matrix (test, any_type (test), rows, n);
      if (between (test, 0, 1))
        {
          call.inputs[7] = line (test, any_type (test), n);
          call.outputs[3] = line (test, QM_TYPE_F32, n);
          call.outputs[4] = line (test, QM_TYPE_F32, n);
        }
    }
  for (int64_t i = 5, last = between (test, 4, 6); i <= last; i++)
    {
      call.attributes.dropout = some_dropout (test);
      call.outputs[i] = matrix (test, any_type (test), rows, n);
    }
  if (qm_tensor_present (&call.outputs[5])
      && !qm_tensor_present (&call.outputs[6]) && between (test, 0, 2) > 0)
    add_scaled_gradient (test, &call, rows, n);
  call.inputs[8] = compare_rng (&test->compare);
  compare_run (&test->compare, &call, 1e-5);
}

/* A norm without what is added after it, around the mean or not. */
void
test_norm_without_bias (Test *test)
{
  int64_t rows = between (test, 1, test->small ? 9 : 700);
  int64_t n = some_columns (test);
  bool rms = between (test, 0, 1);
  QmOpCall call = { .op = QM_OP_LAYER_NORM };

  call.attributes.epsilon = 1e-5;
  call.attributes.rms = rms;
  call.inputs[0] = matrix (test, any_type (test), rows, n);
  call.inputs[1] = line (test, any_type (test), n);
  call.outputs[0] = matrix (test, any_type (test), rows, n);
  if (!rms)
    call.outputs[1] = line (test, QM_TYPE_F32, rows);
  call.outputs[2] = line (test, QM_TYPE_F32, rows);
  if (between (test, 0, 1))
    {
      call.inputs[3] = matrix (test, any_type (test), rows, n);
      call.outputs[3] = call.inputs[0];
      if (between (test, 0, 1))
        call.inputs[8] = some_gain (test, &call.attributes, rows, n);
    }
  if (between (test, 0, 1))
    {
      call.inputs[5] = line (test, any_type (test), n);
      call.outputs[4] = matrix (test, any_type (test), rows, n);
    }
  compare_run (&test->compare, &call, 1e-5);
  call = (QmOpCall){ .op = QM_OP_LAYER_NORM_BACKWARD };
  call.attributes.rms = rms;
  call.inputs[0] = matrix (test, any_type (test), rows, n);
  call.inputs[1] = matrix (test, any_type (test), rows, n);
  call.inputs[2] = line (test, any_type (test), n);
  if (!rms)
    call.inputs[3] = line (test, QM_TYPE_F32, rows);
  call.inputs[4] = line (test, QM_TYPE_F32, rows);
  call.outputs[0] = matrix (test, any_type (test), rows, n);
  call.outputs[1] = line (test, QM_TYPE_F32, n);
  if (between (test, 0, 1))
    call.inputs[5] = matrix (test, any_type (test), rows, n);
  if (between (test, 0, 1))
    {
      call.inputs[6] = matrix (test, any_type (test), rows, n);
      call.inputs[7] = line (test, any_type (test), n);
      call.outputs[3] = line (test, QM_TYPE_F32, n);
    }
  if (between (test, 0, 1))
    add_scaled_gradient (test, &call, rows, n);
  compare_run (&test->compare, &call, 1e-5);
}

/* A norm of samples and its gradient, with and without a gated branch; of types
 * as models have them, or of any. */
void
test_adaptive_norm (Test *test)
{
  int64_t samples = between (test, 1, 9);
  int64_t rows = samples * between (test, 1, test->small ? 9 : 120);
  int64_t n = between (test, 0, 1) ? 1152 : some_columns (test);
  bool alike = between (test, 0, 2) > 0, gated = between (test, 0, 2) > 0;
  QmType wide = alike ? QM_TYPE_F32 : any_type (test), type = any_type (test);
  QmType other = alike ? type : any_type (test);
  QmOpCall call = { .op = QM_OP_ADAPTIVE_NORM, .attributes.epsilon = 1e-5 };

  call.inputs[0] = matrix (test, wide, rows, n);
  call.inputs[1] = matrix (test, type, samples, n);
  call.inputs[2] = matrix (test, other, samples, n);
  call.outputs[0] = matrix (test, type, rows, n);
  call.outputs[1] = line (test, QM_TYPE_F32, rows);
  call.outputs[2] = line (test, QM_TYPE_F32, rows);
  if (gated)
    {
      call.inputs[3] = matrix (test, type, rows, n);
      call.inputs[4] = matrix (test, other, samples, n);
      call.outputs[3] =
          between (test, 0, 1) ? call.inputs[0] : matrix (test, wide, rows, n);
    }
  compare_run (&test->compare, &call, 1e-5);
  call = (QmOpCall){ .op = QM_OP_ADAPTIVE_NORM_BACKWARD };
  call.inputs[0] = matrix (test, type, rows, n);
  call.inputs[1] = matrix (test, wide, rows, n);
  call.inputs[2] = matrix (test, other, samples, n);
  call.inputs[3] = line (test, QM_TYPE_F32, rows);
  call.inputs[4] = line (test, QM_TYPE_F32, rows);
  if (between (test, 0, 2))
    call.inputs[5] = matrix (test, wide, rows, n);
  call.outputs[0] =
      between (test, 0, 1) ? call.inputs[1] : matrix (test, wide, rows, n);
  for (int i = 1; i < 3; i++)
    call.outputs[i] = matrix (test, other, samples, n);
  if (gated)
    {
      call.inputs[6] = matrix (test, type, rows, n);
      call.inputs[7] = matrix (test, other, samples, n);
      call.outputs[3] =
          between (test, 0, 1) ? call.inputs[6] : matrix (test, type, rows, n);
      call.outputs[4] = matrix (test, other, samples, n);
    }
  /* Of dx in 16 bits, an element that is rounded the other way counts. */
  compare_run (&test->compare, &call, wide == QM_TYPE_F32 ? 1e-5 : 1e-3);
}
