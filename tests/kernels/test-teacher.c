/* SPDX-License-Identifier: Apache-2.0 */

/* What a student learns from a teacher, on the CPU, against what the table of
 * operators says. */

#include "kernels/operators.h"
#include "tests/data/check.h"
#include "tests/kernels/operator-bench.h"

#include <math.h>
#include <string.h>

#define T 5
#define V 4

static void
share_out (const Bench *bench,
           float x[T][V],
           int64_t rounds,
           double temperature,
           float p[T][V])
{
  float columns[V], rows[T];
  QmOpCall call = { .op = QM_OP_SHARE_OUT,
                    .attributes.value = temperature,
                    .attributes.count = rounds };

  call.inputs[0] = tensor2 (QM_TYPE_F32, T, V, x);
  call.outputs[0] = tensor2 (QM_TYPE_F32, T, V, p);
  call.outputs[1] = tensor1 (QM_TYPE_F32, V, columns);
  call.outputs[2] = tensor1 (QM_TYPE_F32, T, rows);
  run (bench, &call);
  call.attributes.count = 0;
  refused (bench, &call);
  call.attributes.count = rounds;
  call.attributes.value = 0;
  refused (bench, &call);
}

/* One round by the words of the paper: columns to the same, rows to 1.  After
 * many, columns have the same as well. */
static void
test_shares (const Bench *bench)
{
  float x[T][V], p[T][V];
  double wanted[T][V], all[T] = { 0 };

  check_case ("shares");
  for (int t = 0; t < T; t++)
    for (int k = 0; k < V; k++)
      x[t][k] = (float) sin (1.7 * t + 2.3 * k * k);
  for (int k = 0; k < V; k++)
    {
      double sum = 0;

      for (int t = 0; t < T; t++)
        sum += exp (x[t][k] / 0.5);
      for (int t = 0; t < T; t++)
        all[t] += wanted[t][k] = exp (x[t][k] / 0.5) / sum;
    }
  share_out (bench, x, 1, 0.5, p);
  for (int t = 0; t < T; t++)
    for (int k = 0; k < V; k++)
      CHECK_NEAR (p[t][k], wanted[t][k] / all[t], 1e-6);
  share_out (bench, x, 60, 0.5, p);
  for (int k = 0; k < V; k++)
    {
      double sum = 0;

      for (int t = 0; t < T; t++)
        sum += p[t][k];
      CHECK_NEAR (sum, (double) T / V, 1e-5);
    }
  for (int t = 0; t < T; t++)
    CHECK_NEAR (p[t][0] + p[t][1] + p[t][2] + p[t][3], 1, 1e-6);
  /* The sharpest temperature of cosines is far from overflow. */
  share_out (bench, x, 3, 0.03, p);
  for (int t = 0; t < T; t++)
    CHECK_NEAR (p[t][0] + p[t][1] + p[t][2] + p[t][3], 1, 1e-5);
}

enum
{
  IMAGES = 2,
  TOLD = 2,
  OTHERS = 3,
  ROWS = IMAGES * (TOLD + OTHERS)
};

/* The cross entropy of row `r` with row `i` of the shares. */
static double
entropy (float x[ROWS][V], float p[IMAGES * TOLD][V], int r, int i)
{
  double sum = 0, dot = 0, told = 0;

  for (int k = 0; k < V; k++)
    {
      sum += exp (x[r][k] / 0.1);
      told += p[i][k];
      dot += p[i][k] * x[r][k] / 0.1;
    }
  return told * log (sum) - dot;
}

static void
test_loss (const Bench *bench)
{
  float x[ROWS][V], p[IMAGES * TOLD][V], dx[ROWS][V], losses[ROWS];
  float state[QM_STATE_SIZE] = { 0 };
  QmOpCall call = { .op = QM_OP_TEACHER_LOSS,
                    .attributes.value = 0.1,
                    .attributes.count = TOLD,
                    .attributes.scale = 0.25 };
  double total = 0, wanted = 0;

  check_case ("loss");
  state[QM_STATE_LOSS_SCALE] = 8;
  for (int r = 0; r < ROWS; r++)
    for (int k = 0; k < V; k++)
      x[r][k] = (float) sin (2.1 * r + 1.1 * k * k);
  for (int i = 0; i < IMAGES * TOLD; i++)
    for (int k = 0; k < V; k++)
      p[i][k] = (float) (0.25 + 0.1 * cos (i + k));
  call.inputs[0] = tensor2 (QM_TYPE_F32, ROWS, V, x);
  call.inputs[1] = tensor2 (QM_TYPE_F32, IMAGES * TOLD, V, p);
  call.inputs[2] = tensor1 (QM_TYPE_F32, QM_STATE_SIZE, state);
  call.outputs[0] = tensor2 (QM_TYPE_F32, ROWS, V, dx);
  call.outputs[1] = tensor1 (QM_TYPE_F32, ROWS, losses);
  run (bench, &call);
  /* Every pair of a crop that is told and another one of the same image. */
  for (int b = 0; b < IMAGES; b++)
    for (int i = 0; i < TOLD; i++)
      {
        wanted += entropy (x, p, b * TOLD + 1 - i, b * TOLD + i);
        for (int j = 0; j < OTHERS; j++)
          wanted +=
              entropy (x, p, IMAGES * TOLD + b * OTHERS + j, b * TOLD + i);
      }
  for (int r = 0; r < ROWS; r++)
    total += losses[r];
  CHECK_NEAR (total, 0.25 * wanted, 1e-6);
  for (int r = 0; r < ROWS; r++)
    for (int k = 0; k < V; k++)
      {
        float kept = x[r][k], before = losses[r], *place = &x[r][k];
        float slope = dx[r][k];

        *place = kept + 1e-3f;
        run (bench, &call);
        before = losses[r];
        *place = kept - 1e-3f;
        run (bench, &call);
        CHECK (fabs ((before - losses[r]) / 2e-3 * 8 - slope) < 2e-2);
        *place = kept;
        run (bench, &call);
      }
  call.attributes.count = 3;
  refused (bench, &call);
  call.attributes.count = TOLD;
  call.inputs[0].shape[0] = call.outputs[0].shape[0] =
      call.outputs[1].shape[0] = ROWS - 1;
  refused (bench, &call);
  call.inputs[0].shape[0] = call.outputs[0].shape[0] =
      call.outputs[1].shape[0] = IMAGES * TOLD - IMAGES;
  refused (bench, &call);
}

/* An average that is read in 16 bits, too, is rounded where it changes. */
static void
test_average (const Bench *bench)
{
  float state[QM_STATE_SIZE] = { 0 }, master[2] = { 1, 3 };
  float average[2] = { 0, 1 };
  uint16_t rounded[2] = { 7, 7 };
  QmOpCall call = { .op = QM_OP_AVERAGE, .attributes.value = 0.5 };

  check_case ("average");
  call.inputs[0] = tensor1 (QM_TYPE_F32, QM_STATE_SIZE, state);
  call.inputs[1] = tensor1 (QM_TYPE_F32, 2, master);
  call.outputs[0] = tensor1 (QM_TYPE_F32, 2, average);
  call.outputs[1] = tensor1 (QM_TYPE_BF16, 2, rounded);
  run (bench, &call);
  CHECK_NEAR (average[0], 0.5, 0);
  CHECK_NEAR (average[1], 2, 0);
  CHECK_INT (rounded[0], 0x3f00);
  CHECK_INT (rounded[1], 0x4000);
  state[QM_STATE_NOT_FINITE] = 1;
  rounded[0] = 7;
  run (bench, &call);
  CHECK_INT (rounded[0], 7);
}

int
main (void)
{
  Bench bench = { NULL };

  CHECK_INT (qm_device_open ("cpu", 0, &bench.device, NULL), QM_OK);
  CHECK_INT (qm_stream_create (bench.device, &bench.stream, NULL), QM_OK);
  test_shares (&bench);
  test_loss (&bench);
  test_average (&bench);
  qm_stream_free (bench.device, bench.stream);
  qm_device_close (bench.device);
  return check_report ();
}
