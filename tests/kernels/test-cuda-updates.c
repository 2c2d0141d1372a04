/* SPDX-License-Identifier: Apache-2.0 */

/* The operators of updates on the GPU, against those of the CPU.
 *
 *   test-cuda-updates [--cases N] [--small] [--only TEXT]
 *
 * --small is for tools under which everything is slow.  Leaves with 77 where
 * there is no GPU. */

#include "kernels/convert.h"
#include "tests/data/check.h"
#include "tests/kernels/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Test
{
  Compare compare;
  bool small;
} Test;

static int64_t
between (Test *test, int64_t low, int64_t high)
{
  return compare_between (&test->compare, low, high);
}

/* One in four is not aligned. */
static QmTensor
dense (Test *test, QmType type, int32_t rank, int64_t rows, int64_t columns)
{
  return compare_tensor (&test->compare, type, rank,
                         (int64_t[]){ rows, columns }, 0,
                         between (test, 0, 3) == 0);
}

static QmTensor
line (Test *test, QmType type, int64_t n)
{
  return dense (test, type, 1, n, 0);
}

static QmType
any_type (Test *test)
{
  return compare_type (&test->compare);
}

static void
set_floats (const QmTensor *tensor, const float *values)
{
  qm_floats_store (tensor->type, tensor->data, 1, qm_tensor_elements (tensor),
                   values);
}

static void
sum_squares (Test *test)
{
  QmOpCall call = { .op = QM_OP_SUM_SQUARES };

  call.inputs[0] =
      line (test, QM_TYPE_F32, between (test, 1, test->small ? 5000 : 3000000));
  call.outputs[0] = line (test, QM_TYPE_F32, 1);
  compare_run (&test->compare, &call, 1e-6);
}

static void
update_state (Test *test)
{
  const float squares[] = { 1e6f, 3, INFINITY, NAN };
  float sum = squares[between (test, 0, 3)];
  float state[QM_STATE_SIZE] = { 0 };
  QmOpCall call = { .op = QM_OP_UPDATE_STATE };

  state[QM_STATE_LOSS_SCALE] = 1024;
  state[QM_STATE_GROWTH] = between (test, 0, 1) ? 5 : QM_SCALE_GROWTH - 1;
  call.attributes.max_norm = (double) between (test, 0, 1);
  call.attributes.dynamic = between (test, 0, 1) == 1;
  call.inputs[0] = line (test, QM_TYPE_F32, 1);
  call.outputs[0] = line (test, QM_TYPE_F32, QM_STATE_SIZE);
  set_floats (&call.inputs[0], &sum);
  set_floats (&call.outputs[0], state);
  compare_run (&test->compare, &call, 1e-6);
}

static void
adam (Test *test)
{
  int64_t n = between (test, 1, test->small ? 3000 : 300000);
  float state[QM_STATE_SIZE] = { 1e-3f, 7, 4, 0, 0, 0, 0.25f, 0 };
  QmOpCall call = { .op = QM_OP_ADAM };
  float *v;

  state[QM_STATE_NOT_FINITE] = between (test, 0, 4) == 0;
  call.attributes.beta1 = 0.9;
  call.attributes.beta2 = 0.95;
  call.attributes.epsilon = 1e-8;
  call.attributes.weight_decay = 0.1;
  call.attributes.decoupled = between (test, 0, 1) == 1;
  call.inputs[0] = line (test, QM_TYPE_F32, QM_STATE_SIZE);
  set_floats (&call.inputs[0], state);
  for (int i = 0; i < 4; i++)
    call.outputs[i] = line (test, QM_TYPE_F32, n);
  v = call.outputs[3].data;
  for (int64_t i = 0; i < n; i++)
    v[i] = fabsf (v[i]);
  if (between (test, 0, 1))
    call.outputs[4] = line (test, any_type (test), n);
  compare_run (&test->compare, &call, 1e-5);
}

/* A state, and lines of `n` floats as the first outputs. */
static void
begin_update (Test *test, QmOpCall *call, int64_t n, int outputs)
{
  float state[QM_STATE_SIZE] = { 1e-3f, 7, 4, 0, 0, 0, 0.25f, 0 };

  state[QM_STATE_NOT_FINITE] = between (test, 0, 4) == 0;
  call->inputs[0] = line (test, QM_TYPE_F32, QM_STATE_SIZE);
  set_floats (&call->inputs[0], state);
  for (int i = 0; i < outputs; i++)
    call->outputs[i] = line (test, QM_TYPE_F32, n);
}

static void
lamb (Test *test)
{
  int64_t n = between (test, 1, test->small ? 3000 : 300000);
  const float norms[2] = { 4, between (test, 0, 3) == 0 ? 0 : 9 };
  QmOpCall direction = { .op = QM_OP_LAMB_DIRECTION,
                         .attributes = { .beta1 = 0.9,
                                         .beta2 = 0.95,
                                         .epsilon = 1e-6,
                                         .weight_decay = 0.1 } };
  QmOpCall update = { .op = QM_OP_LAMB_UPDATE };
  float *v;

  begin_update (test, &direction, n, 3);
  direction.inputs[1] = line (test, QM_TYPE_F32, n);
  v = direction.outputs[2].data;
  for (int64_t i = 0; i < n; i++)
    v[i] = fabsf (v[i]);
  compare_run (&test->compare, &direction, 1e-5);
  begin_update (test, &update, n, 2);
  update.inputs[1] = line (test, QM_TYPE_F32, 2);
  set_floats (&update.inputs[1], norms);
  if (between (test, 0, 1))
    update.outputs[2] = line (test, any_type (test), n);
  compare_run (&test->compare, &update, 1e-5);
}

static void
muon (Test *test)
{
  int64_t n = between (test, 1, test->small ? 3000 : 300000);
  int64_t side = between (test, 1, test->small ? 50 : 500);
  float sum = between (test, 0, 1) ? 7 : 0;
  QmOpCall momentum = { .op = QM_OP_MUON_MOMENTUM,
                        .attributes = { .beta1 = 0.95 } };
  QmOpCall normalize = { .op = QM_OP_MUON_NORMALIZE,
                         .attributes = { .epsilon = 1e-3 } };
  QmOpCall polynomial = { .op = QM_OP_MUON_POLYNOMIAL };
  QmOpCall update = { .op = QM_OP_MUON_UPDATE,
                      .attributes = {
                          .value = 0.02, .scale = 2, .weight_decay = 0.1 } };
  QmType type = any_type (test);

  begin_update (test, &momentum, n, 2);
  compare_run (&test->compare, &momentum, 1e-5);
  normalize.inputs[0] = line (test, QM_TYPE_F32, 1);
  set_floats (&normalize.inputs[0], &sum);
  normalize.outputs[0] = line (test, QM_TYPE_F32, n);
  normalize.outputs[1] = line (test, type, n);
  compare_run (&test->compare, &normalize, 1e-5);
  for (int i = 0; i < 2; i++)
    polynomial.inputs[i] = dense (test, type, 2, side, side);
  polynomial.outputs[0] = dense (test, type, 2, side, side);
  compare_run (&test->compare, &polynomial, 1e-5);
  begin_update (test, &update, n, 1);
  update.attributes.cap = between (test, 0, 1) ? 4e-3 : 0;
  update.inputs[1] = line (test, type, n);
  if (between (test, 0, 1))
    update.outputs[1] = line (test, any_type (test), n);
  compare_run (&test->compare, &update, 1e-5);
}

static const struct
{
  const char *name;
  void (*run) (Test *test);
} families[] = {
  { "sum of squares", sum_squares },
  { "update of the state", update_state },
  { "adam", adam },
  { "lamb", lamb },
  { "muon", muon },
};

int
main (int argc, char **argv)
{
  Test test = { 0 };
  const char *only = NULL;
  int cases = 12;

  for (int i = 1; i < argc; i++)
    if (strcmp (argv[i], "--small") == 0)
      test.small = true;
    else if (strcmp (argv[i], "--cases") == 0 && i + 1 < argc)
      cases = atoi (argv[++i]);
    else if (strcmp (argv[i], "--only") == 0 && i + 1 < argc)
      only = argv[++i];
    else
      return 2;
  if (!compare_open (&test.compare, 0))
    return CHECK_SKIPPED;
  for (size_t f = 0; f < sizeof families / sizeof *families; f++)
    {
      if (only != NULL && strstr (families[f].name, only) == NULL)
        continue;
      test.compare.worst = 0;
      test.compare.calls = 0;
      for (int i = 0; i < cases; i++)
        families[f].run (&test);
      printf ("%-22s %4d calls, error up to %5.1f %% of what is allowed\n",
              families[f].name, test.compare.calls, 100 * test.compare.worst);
      fflush (stdout);
    }
  compare_close (&test.compare);
  return check_report ();
}
