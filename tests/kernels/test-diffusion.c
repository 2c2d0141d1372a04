/* SPDX-License-Identifier: Apache-2.0 */

/* Noise of images, and norms and gates of samples, on the CPU, against what the
 * table of operators says. */

#include "kernels/diffusion.h"
#include "kernels/operators.h"
#include "tests/data/check.h"
#include "tests/kernels/operator-bench.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum
{
  SAMPLES = 1200,
  EACH = 6, /* numbers of noise */
  TIMES = 10
};

typedef struct Drawn
{
  int32_t times[SAMPLES], classes[SAMPLES];
  float noise[SAMPLES][EACH];
} Drawn;

/* Samples from `first` on, those of a pass of `batch` of them. */
static void
draw (const Bench *bench,
      int32_t pass,
      int64_t batch,
      double dropout,
      Drawn *drawn,
      int64_t first)
{
  static int32_t labels[SAMPLES];
  int32_t rng[QM_RNG_SIZE] = { 5, 6, pass };
  QmOpCall call = { .op = QM_OP_DRAW_NOISE,
                    .attributes = { .site = 9,
                                    .count = TIMES,
                                    .padding = 77,
                                    .dropout = dropout } };

  for (int32_t b = 0; b < SAMPLES; b++)
    labels[b] = b % 50;
  call.inputs[0] = tensor2 (QM_TYPE_I32, batch, 1, labels + first);
  call.inputs[1] = tensor1 (QM_TYPE_I32, QM_RNG_SIZE, rng);
  call.outputs[0] = tensor2 (QM_TYPE_I32, batch, 1, drawn->times + first);
  call.outputs[1] = tensor2 (QM_TYPE_I32, batch, 1, drawn->classes + first);
  call.outputs[2] =
      qm_tensor_dense (QM_TYPE_F32, 4, (int64_t[]){ batch, 1, 2, 3 },
                       drawn->noise[first]);
  run (bench, &call);
  call.attributes.count = 0;
  refused (bench, &call);
}

/* The same of a sample in passes of many and of few; times are alike, classes
 * are dropped as often as is said, noise is normal. */
static void
test_drawn (const Bench *bench)
{
  static Drawn all, few;
  int counts[TIMES] = { 0 }, dropped = 0;
  double sum = 0, squares = 0, next = 0;

  check_case ("drawn");
  draw (bench, 0, SAMPLES, 0.25, &all, 0);
  for (int32_t pass = 0; pass < SAMPLES / 4; pass++)
    draw (bench, pass, 4, 0.25, &few, 4 * pass);
  CHECK (memcmp (&all, &few, sizeof all) == 0);
  for (int b = 0; b < SAMPLES; b++)
    {
      CHECK (all.times[b] >= 0 && all.times[b] < TIMES);
      counts[all.times[b]]++;
      dropped += all.classes[b] == 77;
      CHECK (all.classes[b] == 77 || all.classes[b] == b % 50);
      for (int e = 0; e < EACH; e++)
        {
          sum += all.noise[b][e];
          squares += all.noise[b][e] * all.noise[b][e];
          next += all.noise[b][e] * all.noise[b][(e + 1) % EACH];
        }
    }
  for (int t = 0; t < TIMES; t++)
    CHECK (abs (counts[t] - SAMPLES / TIMES) < 50);
  CHECK (abs (dropped - SAMPLES / 4) < 70);
  CHECK_NEAR (sum / (SAMPLES * EACH) + 1, 1, 0.05);
  CHECK_NEAR (squares / (SAMPLES * EACH), 1, 0.07);
  CHECK_NEAR (next / (SAMPLES * EACH) + 1, 1, 0.05);
  draw (bench, 1, SAMPLES, 0, &few, 0);
  CHECK (memcmp (all.noise, few.noise, sizeof all.noise) != 0);
  for (int b = 0; b < SAMPLES; b++)
    CHECK_INT (few.classes[b], b % 50);
}

/* Of betas 0.1, 0.3 and 0.5, by their definitions. */
static void
make_schedule (float (*schedule)[QM_SCHEDULE_SIZE])
{
  const double betas[3] = { 0.1, 0.3, 0.5 };
  double before = 1, variances[3];

  for (int t = 0; t < 3; t++)
    {
      double a = before * (1 - betas[t]);

      schedule[t][QM_SCHEDULE_SIGNAL] = (float) sqrt (a);
      schedule[t][QM_SCHEDULE_NOISE] = (float) sqrt (1 - a);
      schedule[t][QM_SCHEDULE_MEAN] =
          (float) (betas[t] * sqrt (before) / (1 - a));
      schedule[t][QM_SCHEDULE_MEAN_NOISY] =
          (float) ((1 - before) * sqrt (1 - betas[t]) / (1 - a));
      variances[t] = betas[t] * (1 - before) / (1 - a);
      schedule[t][QM_SCHEDULE_MOST] = (float) log (betas[t]);
      before = a;
    }
  for (int t = 0; t < 3; t++)
    schedule[t][QM_SCHEDULE_LEAST] = (float) log (variances[t > 0 ? t : 1]);
}

static void
test_added (const Bench *bench)
{
  float schedule[3][QM_SCHEDULE_SIZE], x[2][2][2], noise[2][2][2], y[2][2][2];
  int32_t times[2] = { 2, 0 };
  QmOpCall call = { .op = QM_OP_ADD_NOISE };

  check_case ("added noise");
  make_schedule (schedule);
  for (int i = 0; i < 8; i++)
    {
      (&x[0][0][0])[i] = (float) i;
      (&noise[0][0][0])[i] = (float) (i * i - 9);
    }
  /* Channels last: of pixel j, channel c is in x[b][j][c]. */
  call.inputs[0] =
      qm_tensor_dense (QM_TYPE_F32, 4, (int64_t[]){ 2, 2, 1, 2 }, x);
  call.inputs[0].stride[1] = 1;
  call.inputs[0].stride[3] = 2;
  call.inputs[1] =
      qm_tensor_dense (QM_TYPE_F32, 4, (int64_t[]){ 2, 2, 1, 2 }, noise);
  call.inputs[2] = tensor2 (QM_TYPE_I32, 2, 1, times);
  call.inputs[3] = tensor2 (QM_TYPE_F32, 3, QM_SCHEDULE_SIZE, schedule);
  call.outputs[0] =
      qm_tensor_dense (QM_TYPE_F32, 4, (int64_t[]){ 2, 2, 1, 2 }, y);
  run (bench, &call);
  for (int b = 0; b < 2; b++)
    for (int c = 0; c < 2; c++)
      for (int j = 0; j < 2; j++)
        {
          double left = b == 0 ? 0.9 * 0.7 * 0.5 : 0.9;

          CHECK_NEAR (y[b][c][j],
                      sqrt (left) * x[b][j][c]
                          + sqrt (1 - left) * noise[b][c][j],
                      1e-5);
        }
}

/* The share of N(0, 1) below x, with the square root of 2 / pi. */
static double
share (double x)
{
  return 0.5 * (1 + tanh (0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

/* The term in bits, from means and variances of distributions, in double. */
static double
bound (int32_t t, double x, double noise, double told, double variance)
{
  const double betas[3] = { 0.1, 0.3, 0.5 };
  double before = 1, a, mean, other, least, logarithm, noisy, guess;

  for (int i = 0; i < t; i++)
    before *= 1 - betas[i];
  a = before * (1 - betas[t]);
  noisy = sqrt (a) * x + sqrt (1 - a) * noise;
  guess = noisy / sqrt (a) - sqrt (1 / a - 1) * told;
  mean = betas[t] * sqrt (before) / (1 - a) * x
         + (1 - before) * sqrt (1 - betas[t]) / (1 - a) * noisy;
  other = betas[t] * sqrt (before) / (1 - a) * guess
          + (1 - before) * sqrt (1 - betas[t]) / (1 - a) * noisy;
  least = log (t > 0 ? betas[t] * (1 - before) / (1 - a)
                     : betas[1] * (1 - 0.9) / (1 - 0.9 * 0.7));
  logarithm = (variance + 1) / 2 * log (betas[t]) + (1 - variance) / 2 * least;
  if (t == 0)
    {
      double above = share (exp (-logarithm / 2) * (x - other + 1.0 / 255));
      double below = share (exp (-logarithm / 2) * (x - other - 1.0 / 255));

      above = x > 0.999 ? 1 : above;
      below = x < -0.999 ? 0 : below;
      return -log (fmax (above - below, 1e-12)) / log (2);
    }
  return 0.5
         * (logarithm - least - 1 + exp (least - logarithm)
            + (mean - other) * (mean - other) * exp (-logarithm))
         / log (2);
}

/* Three images of 1 x 2 patches of 1 x 1 pixels and 2 channels. */
static void
test_loss (const Bench *bench, bool learned)
{
  float schedule[3][QM_SCHEDULE_SIZE], image[3][2][2], noise[3][2][2];
  float x[6][4], dx[6][4], losses[6];
  float state[QM_STATE_SIZE] = { [QM_STATE_LOSS_SCALE] = 4 };
  int32_t times[3] = { 0, 2, 1 };
  int width = learned ? 4 : 2;
  QmOpCall call = { .op = QM_OP_NOISE_LOSS,
                    .attributes = {
                        .patch = 1, .scale = 0.5, .learned = learned } };

  check_case (learned ? "loss with variances" : "loss");
  make_schedule (schedule);
  for (int i = 0; i < 12; i++)
    {
      (&image[0][0][0])[i] = (float) (0.7 * i - 2);
      (&noise[0][0][0])[i] = (float) cos (i);
    }
  image[0][0][0] = 0.31f;
  for (int i = 0; i < 24; i++)
    (&x[0][0])[i] = (float) (0.9 * sin (3 * i));
  call.inputs[0] = tensor2 (QM_TYPE_F32, 6, width, x);
  call.inputs[0].stride[0] = 4;
  call.inputs[1] =
      qm_tensor_dense (QM_TYPE_F32, 4, (int64_t[]){ 3, 2, 1, 2 }, image);
  call.inputs[2] =
      qm_tensor_dense (QM_TYPE_F32, 4, (int64_t[]){ 3, 2, 1, 2 }, noise);
  call.inputs[3] = tensor2 (QM_TYPE_I32, 3, 1, times);
  call.inputs[4] = tensor2 (QM_TYPE_F32, 3, QM_SCHEDULE_SIZE, schedule);
  call.inputs[5] = tensor1 (QM_TYPE_F32, QM_STATE_SIZE, state);
  call.outputs[0] = tensor2 (QM_TYPE_F32, 6, width, dx);
  call.outputs[0].stride[0] = 4;
  call.outputs[1] = tensor1 (QM_TYPE_F32, 6, losses);
  run (bench, &call);
  for (int r = 0; r < 6; r++)
    {
      double sum = 0;

      for (int c = 0; c < 2; c++)
        {
          int b = r / 2, j = r % 2;
          double wrong = x[r][c] - noise[b][c][j], step = 1e-4, slope;

          sum += wrong * wrong;
          CHECK_NEAR (dx[r][c] + 10, 4 * 0.5 / 12 * 2 * wrong + 10, 1e-5);
          if (!learned)
            continue;
          sum += bound (times[b], image[b][c][j], noise[b][c][j], x[r][c],
                        x[r][2 + c]);
          slope = (bound (times[b], image[b][c][j], noise[b][c][j], x[r][c],
                          x[r][2 + c] + step)
                   - bound (times[b], image[b][c][j], noise[b][c][j], x[r][c],
                            x[r][2 + c] - step))
                  / (2 * step);
          CHECK_NEAR (dx[r][2 + c] + 10, 4 * 0.5 / 12 * slope + 10, 1e-5);
        }
      CHECK_NEAR (losses[r], 0.5 / 12 * sum, 1e-5);
    }
  call.attributes.learned = !learned;
  refused (bench, &call);
  call.attributes.learned = learned;
  call.attributes.patch = 2;
  refused (bench, &call);
}

/* Two samples of two rows each. */
static void
test_norm (const Bench *bench)
{
  float x[4][3] = { { 1, 2, 6 }, { -4, 0, 1 }, { 0, 9, 9 }, { 5, 5, 8 } };
  float shift[2][3] = { { 1, 2, 3 }, { -1, 0, 5 } };
  float scale[2][3] = { { 0, 1, -2 }, { 0.5, 3, -1 } };
  float y[4][3], mean[4], rstd[4], dx[4][3], dshift[2][3], dscale[2][3];
  QmOpCall call = { .op = QM_OP_ADAPTIVE_NORM, .attributes.epsilon = 0.5 };

  check_case ("norm of samples");
  call.inputs[0] = tensor2 (QM_TYPE_F32, 4, 3, x);
  call.inputs[1] = tensor2 (QM_TYPE_F32, 2, 3, shift);
  call.inputs[2] = tensor2 (QM_TYPE_F32, 2, 3, scale);
  call.outputs[0] = tensor2 (QM_TYPE_F32, 4, 3, y);
  call.outputs[1] = tensor1 (QM_TYPE_F32, 4, mean);
  call.outputs[2] = tensor1 (QM_TYPE_F32, 4, rstd);
  run (bench, &call);
  CHECK_NEAR (mean[0], 3, 1e-6);
  CHECK_NEAR (rstd[0], 1 / sqrt (14.0 / 3 + 0.5), 1e-6);
  for (int r = 0; r < 4; r++)
    for (int j = 0; j < 3; j++)
      CHECK_NEAR (y[r][j] + 10,
                  (x[r][j] - mean[r]) * rstd[r] * (1 + scale[r / 2][j])
                      + shift[r / 2][j] + 10,
                  1e-5);
  call.op = QM_OP_ADAPTIVE_NORM_BACKWARD;
  call.inputs[0] = tensor2 (QM_TYPE_F32, 4, 3, y);
  call.inputs[1] = tensor2 (QM_TYPE_F32, 4, 3, x);
  call.inputs[3] = tensor1 (QM_TYPE_F32, 4, mean);
  call.inputs[4] = tensor1 (QM_TYPE_F32, 4, rstd);
  call.outputs[0] = tensor2 (QM_TYPE_F32, 4, 3, dx);
  call.outputs[1] = tensor2 (QM_TYPE_F32, 2, 3, dshift);
  call.outputs[2] = tensor2 (QM_TYPE_F32, 2, 3, dscale);
  run (bench, &call);
  for (int b = 0; b < 2; b++)
    for (int j = 0; j < 3; j++)
      {
        double n0 = (x[2 * b][j] - mean[2 * b]) * rstd[2 * b];
        double n1 = (x[2 * b + 1][j] - mean[2 * b + 1]) * rstd[2 * b + 1];

        CHECK_NEAR (dshift[b][j] + 10, y[2 * b][j] + y[2 * b + 1][j] + 10,
                    1e-5);
        CHECK_NEAR (dscale[b][j] + 10,
                    n0 * y[2 * b][j] + n1 * y[2 * b + 1][j] + 10, 1e-5);
      }
  call.inputs[2].shape[0] = 3;
  refused (bench, &call);
}

static void
test_gate (const Bench *bench)
{
  float x[4][1] = { { 1 }, { 2 }, { 3 }, { 4 } },
        gate[2][1] = { { 10 }, { 5 } };
  float residual[4][1] = { { 100 }, { 200 }, { 300 }, { 400 } };
  float y[4][1], dx[4][1], dgate[2][1];
  const float sums[4] = { 110, 220, 315, 420 };
  QmOpCall call = { .op = QM_OP_GATED_ADD };

  check_case ("gates of samples");
  call.inputs[0] = tensor2 (QM_TYPE_F32, 4, 1, x);
  call.inputs[1] = tensor2 (QM_TYPE_F32, 2, 1, gate);
  call.inputs[2] = tensor2 (QM_TYPE_F32, 4, 1, residual);
  call.outputs[0] = tensor2 (QM_TYPE_F32, 4, 1, y);
  run (bench, &call);
  for (int r = 0; r < 4; r++)
    CHECK_NEAR (y[r][0], sums[r], 0);
  call.op = QM_OP_GATED_ADD_BACKWARD;
  call.inputs[0] = tensor2 (QM_TYPE_F32, 4, 1, residual);
  call.inputs[1] = tensor2 (QM_TYPE_F32, 4, 1, x);
  call.inputs[2] = tensor2 (QM_TYPE_F32, 2, 1, gate);
  call.outputs[0] = tensor2 (QM_TYPE_F32, 4, 1, dx);
  call.outputs[1] = tensor2 (QM_TYPE_F32, 2, 1, dgate);
  run (bench, &call);
  for (int r = 0; r < 4; r++)
    CHECK_NEAR (dx[r][0], residual[r][0] * gate[r / 2][0], 0);
  CHECK_NEAR (dgate[0][0], 500, 0);
  CHECK_NEAR (dgate[1][0], 2500, 0);
  /* Positions of two tokens. */
  call = (QmOpCall){ .op = QM_OP_ADD_POSITIONS };
  call.inputs[0] = tensor2 (QM_TYPE_F32, 4, 1, x);
  call.inputs[1] = tensor2 (QM_TYPE_F32, 2, 1, gate);
  call.outputs[0] = tensor2 (QM_TYPE_F32, 4, 1, y);
  run (bench, &call);
  for (int r = 0; r < 4; r++)
    CHECK_NEAR (y[r][0], x[r][0] + gate[r % 2][0], 0);
  call.inputs[1].shape[0] = 3;
  refused (bench, &call);
}

enum
{
  ROWS = 6,
  B = 2,
  N = 5
};

/* What goes into a gated sum, the norm behind it and their gradients, and what
 * comes out. */
typedef struct Gated
{
  float x[ROWS][N], a[ROWS][N], dy[ROWS][N], dsum[ROWS][N];
  float gate[B][N], shift[B][N], scale[B][N];
  struct
  {
    float sum[ROWS][N], y[ROWS][N], mean[ROWS], rstd[ROWS], dx[ROWS][N],
        dshift[B][N], dscale[B][N], da[ROWS][N], dgate[B][N];
  } out[2];
} Gated;

static QmTensor
rows_of (void *data)
{
  return tensor2 (QM_TYPE_F32, ROWS, N, data);
}

static QmTensor
samples_of (void *data)
{
  return tensor2 (QM_TYPE_F32, B, N, data);
}

/* The norm and its gradient, with the branch (`fused`, in place) or without. */
static void
run_norm (const Bench *bench, Gated *gated, int fused)
{
  QmOpCall call = { .op = QM_OP_ADAPTIVE_NORM, .attributes.epsilon = 1e-3 };

  call.inputs[0] = rows_of (gated->out[fused].sum);
  call.inputs[1] = samples_of (gated->shift);
  call.inputs[2] = samples_of (gated->scale);
  call.outputs[0] = rows_of (gated->out[fused].y);
  call.outputs[1] = tensor1 (QM_TYPE_F32, ROWS, gated->out[fused].mean);
  call.outputs[2] = tensor1 (QM_TYPE_F32, ROWS, gated->out[fused].rstd);
  if (fused)
    {
      call.inputs[3] = rows_of (gated->a);
      refused (bench, &call);
      call.inputs[4] = samples_of (gated->gate);
      refused (bench, &call);
      call.outputs[3] = call.inputs[0];
    }
  run (bench, &call);
  call.op = QM_OP_ADAPTIVE_NORM_BACKWARD;
  call.inputs[1] = call.inputs[0];
  call.inputs[0] = rows_of (gated->dy);
  call.inputs[3] = call.outputs[1];
  call.inputs[4] = call.outputs[2];
  call.inputs[5] = rows_of (gated->dsum);
  call.outputs[0] = rows_of (gated->out[fused].dx);
  call.outputs[1] = samples_of (gated->out[fused].dshift);
  call.outputs[2] = samples_of (gated->out[fused].dscale);
  call.outputs[3] = (QmTensor){ 0 };
  if (fused)
    {
      call.inputs[6] = rows_of (gated->a);
      call.inputs[7] = samples_of (gated->gate);
      call.outputs[3] = rows_of (gated->out[1].da);
      refused (bench, &call);
      call.outputs[4] = samples_of (gated->out[1].dgate);
    }
  run (bench, &call);
}

/* A gated branch in the norm, and in its gradient, is what the two operators
 * make one after the other, to the bit. */
static void
test_gated_norm (const Bench *bench)
{
  static Gated gated;
  QmOpCall call = { .op = QM_OP_GATED_ADD };

  check_case ("norm of a gated sum");
  for (int i = 0; i < (int) (offsetof (Gated, out) / sizeof (float)); i++)
    ((float *) &gated)[i] = (float) (i * 37 % 101) / 50 - 1;
  call.inputs[0] = rows_of (gated.a);
  call.inputs[1] = samples_of (gated.gate);
  call.inputs[2] = rows_of (gated.x);
  call.outputs[0] = rows_of (gated.out[0].sum);
  run (bench, &call);
  memcpy (gated.out[1].sum, gated.x, sizeof gated.x);
  for (int fused = 0; fused < 2; fused++)
    run_norm (bench, &gated, fused);
  call = (QmOpCall){ .op = QM_OP_GATED_ADD_BACKWARD };
  call.inputs[0] = rows_of (gated.out[0].dx);
  call.inputs[1] = rows_of (gated.a);
  call.inputs[2] = samples_of (gated.gate);
  call.outputs[0] = rows_of (gated.out[0].da);
  call.outputs[1] = samples_of (gated.out[0].dgate);
  run (bench, &call);
  CHECK (memcmp (&gated.out[0], &gated.out[1], sizeof gated.out[0]) == 0);
  CHECK (gated.out[0].da[ROWS - 1][N - 1] != 0);
  CHECK (gated.out[0].dgate[B - 1][N - 1] != 0);
}

int
main (void)
{
  Bench bench = { NULL };

  CHECK_INT (qm_device_open ("cpu", 0, &bench.device, NULL), QM_OK);
  CHECK_INT (qm_stream_create (bench.device, &bench.stream, NULL), QM_OK);
  test_drawn (&bench);
  test_added (&bench);
  test_loss (&bench, false);
  test_loss (&bench, true);
  test_norm (&bench);
  test_gate (&bench);
  test_gated_norm (&bench);
  qm_stream_free (bench.device, bench.stream);
  qm_device_close (bench.device);
  return check_report ();
}
