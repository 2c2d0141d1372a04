/* SPDX-License-Identifier: Apache-2.0 */

/* Ends of texts, rows of a step, and losses of pairs, on the CPU, against what
 * the list of operators says. */

#include "kernels/operators.h"
#include "kernels/random.h"
#include "tests/data/check.h"
#include "tests/kernels/operator-bench.h"

#include <math.h>
#include <string.h>

static void
test_ends (const Bench *bench)
{
  int32_t ids[3][4] = { { 3, 7, 5, 7 }, { 9, 1, 2, 4 }, { 5, 5, 9, 9 } };
  int32_t found[3], places[3][4];
  const int32_t fives[3] = { 2, 0, 0 }, largest[3] = { 1, 0, 2 };
  const int32_t wanted[3][4] = { { -1, -1, 0, -1 },
                                 { 0, -1, -1, -1 },
                                 { 0, -1, -1, -1 } };
  QmOpCall call = { .op = QM_OP_FIND_TOKENS, .attributes.padding = 5 };

  check_case ("ends of texts");
  call.inputs[0] = tensor2 (QM_TYPE_I32, 3, 4, ids);
  call.outputs[0] = tensor2 (QM_TYPE_I32, 3, 1, found);
  call.outputs[1] = tensor2 (QM_TYPE_I32, 3, 4, places);
  run (bench, &call);
  CHECK (memcmp (found, fives, sizeof found) == 0);
  CHECK (memcmp (places, wanted, sizeof places) == 0);
  call.attributes.padding = -1;
  run (bench, &call);
  CHECK (memcmp (found, largest, sizeof found) == 0);
}

/* Of three ranks with two passes each, whose passes take turns. */
static void
test_kept (const Bench *bench)
{
  float x[2][2] = { { 1, 2 }, { 3, 4 } }, all[12][2] = { { 0 } };
  int32_t rng[QM_RNG_SIZE] = { 1, 2, 0 }, first = -1;
  const int32_t firsts[6] = { 0, 4, 8, 2, 6, 10 };
  QmOpCall call = { .op = QM_OP_KEEP_ROWS,
                    .attributes = { .count = 3, .chunk = 2 } };

  check_case ("rows of a step");
  call.inputs[0] = tensor2 (QM_TYPE_F32, 2, 2, x);
  call.inputs[1] = tensor1 (QM_TYPE_I32, QM_RNG_SIZE, rng);
  call.outputs[0] = tensor2 (QM_TYPE_F32, 12, 2, all);
  call.outputs[1] = tensor1 (QM_TYPE_I32, 1, &first);
  for (int pass = 0; pass < 12; pass++)
    {
      rng[QM_RNG_PASS] = pass;
      memset (all, 0, sizeof all);
      run (bench, &call);
      CHECK_INT (first, firsts[pass % 6]);
      for (int i = 0; i < 12; i++)
        CHECK_NEAR (all[i][1], i == first ? 2 : i == first + 1 ? 4 : 0, 0);
    }
  call.attributes.chunk = 3;
  refused (bench, &call);
}

enum
{
  ROWS = 2,
  ALL = 5,
  FIRST = 2
};

static void
fill (float *x, int n, float step)
{
  for (int i = 0; i < n; i++)
    x[i] = (float) ((i * 7 + 3) % 11) * step - 4 * step;
}

static void
test_directions (const Bench *bench)
{
  float x[ROWS][ALL], dx[ROWS][ALL], losses[ROWS], along[ROWS], sums[ROWS];
  float own[ALL] = { 0, 0, 0, 0, 0 }, others[ALL], temperature = 0.5f;
  float state[QM_STATE_SIZE] = { [QM_STATE_LOSS_SCALE] = 4 };
  int32_t first = FIRST;
  QmOpCall call = { .op = QM_OP_CONTRAST_SUMS };

  check_case ("directions");
  fill (&x[0][0], ROWS * ALL, 0.1f);
  fill (others, ALL, 0.3f);
  call.inputs[0] = tensor2 (QM_TYPE_F32, ROWS, ALL, x);
  call.inputs[1] = tensor1 (QM_TYPE_F32, 1, &temperature);
  call.outputs[0] = tensor1 (QM_TYPE_F32, ROWS, sums);
  run (bench, &call);
  memcpy (own + FIRST, sums, sizeof sums);
  call = (QmOpCall){ .op = QM_OP_CONTRAST_LOSS, .attributes.scale = 0.25 };
  call.inputs[0] = tensor2 (QM_TYPE_F32, ROWS, ALL, x);
  call.inputs[1] = tensor1 (QM_TYPE_F32, 1, &temperature);
  call.inputs[3] = tensor1 (QM_TYPE_I32, 1, &first);
  call.inputs[4] = tensor1 (QM_TYPE_F32, ALL, own);
  call.inputs[5] = tensor1 (QM_TYPE_F32, ALL, others);
  call.inputs[6] = tensor1 (QM_TYPE_F32, QM_STATE_SIZE, state);
  call.outputs[0] = tensor2 (QM_TYPE_F32, ROWS, ALL, dx);
  call.outputs[1] = tensor1 (QM_TYPE_F32, ROWS, losses);
  call.outputs[2] = tensor1 (QM_TYPE_F32, ROWS, along);
  run (bench, &call);
  for (int i = 0; i < ROWS; i++)
    {
      double factor = exp (temperature), sum = 0, slope = 0;

      for (int j = 0; j < ALL; j++)
        sum += exp (factor * x[i][j]);
      CHECK_NEAR (sums[i], log (sum), 1e-6);
      CHECK_NEAR (losses[i], 0.25 * (log (sum) - factor * x[i][FIRST + i]),
                  1e-6);
      for (int j = 0; j < ALL; j++)
        {
          double s = factor * x[i][j], match = j == FIRST + i;
          double share = exp (s) / sum;

          slope += (share - match) * s;
          CHECK_NEAR (dx[i][j],
                      factor * (share + exp (s - others[j]) - 2 * match), 1e-5);
        }
      CHECK_NEAR (along[i], slope, 1e-5);
    }
  /* Neither sums nor a bias, and both. */
  call.inputs[4] = call.inputs[5] = (QmTensor){ 0 };
  refused (bench, &call);
}

static void
test_pairs (const Bench *bench)
{
  float x[ROWS][ALL], dx[ROWS][ALL], losses[ROWS], along[ROWS], shift[ROWS];
  float temperature = 2, bias = -1;
  float state[QM_STATE_SIZE] = { [QM_STATE_LOSS_SCALE] = 2 };
  int32_t first = FIRST;
  QmOpCall call = { .op = QM_OP_CONTRAST_LOSS, .attributes.scale = 0.5 };

  check_case ("pairs");
  fill (&x[0][0], ROWS * ALL, 0.1f);
  call.inputs[0] = tensor2 (QM_TYPE_F32, ROWS, ALL, x);
  call.inputs[1] = tensor1 (QM_TYPE_F32, 1, &temperature);
  call.inputs[2] = tensor1 (QM_TYPE_F32, 1, &bias);
  call.inputs[3] = tensor1 (QM_TYPE_I32, 1, &first);
  call.inputs[6] = tensor1 (QM_TYPE_F32, QM_STATE_SIZE, state);
  call.outputs[0] = tensor2 (QM_TYPE_F32, ROWS, ALL, dx);
  call.outputs[1] = tensor1 (QM_TYPE_F32, ROWS, losses);
  call.outputs[2] = tensor1 (QM_TYPE_F32, ROWS, along);
  call.outputs[3] = tensor1 (QM_TYPE_F32, ROWS, shift);
  run (bench, &call);
  for (int i = 0; i < ROWS; i++)
    {
      double factor = exp (temperature), loss = 0, turn = 0, move = 0;

      for (int j = 0; j < ALL; j++)
        {
          double y = j == FIRST + i ? 1 : -1, s = factor * x[i][j] + bias;
          double slope = -y / (1 + exp (y * s));

          loss += log (1 + exp (-y * s));
          turn += slope * factor * x[i][j];
          move += slope;
          CHECK_NEAR (dx[i][j], 2 * factor * slope, 1e-5);
        }
      CHECK_NEAR (losses[i], 0.5 * loss, 1e-5);
      CHECK_NEAR (along[i], turn, 1e-5);
      CHECK_NEAR (shift[i], move, 1e-5);
    }
  call.outputs[3] = (QmTensor){ 0 };
  refused (bench, &call);
}

/* As many queries as there are keys, or without a mask any number. */
static void
test_softmax (const Bench *bench)
{
  float x[3] = { 0, logf (2), logf (5) }, p[3];
  QmOpCall call = { .op = QM_OP_SOFTMAX };

  check_case ("softmax of one query");
  call.inputs[0] =
      qm_tensor_dense (QM_TYPE_F32, 4, (int64_t[]){ 1, 1, 1, 3 }, x);
  call.outputs[0] =
      qm_tensor_dense (QM_TYPE_F32, 4, (int64_t[]){ 1, 1, 1, 3 }, p);
  run (bench, &call);
  CHECK_NEAR (p[0], 0.125, 1e-6);
  CHECK_NEAR (p[1], 0.25, 1e-6);
  CHECK_NEAR (p[2], 0.625, 1e-6);
  call.attributes.causal = QM_CAUSAL_RESULT;
  refused (bench, &call);
}

int
main (void)
{
  Bench bench = { NULL };

  CHECK_INT (qm_device_open ("cpu", 0, &bench.device, NULL), QM_OK);
  CHECK_INT (qm_stream_create (bench.device, &bench.stream, NULL), QM_OK);
  test_ends (&bench);
  test_kept (&bench);
  test_directions (&bench);
  test_pairs (&bench);
  test_softmax (&bench);
  qm_stream_free (bench.device, bench.stream);
  qm_device_close (bench.device);
  return check_report ();
}
