/* SPDX-License-Identifier: Apache-2.0 */

/* Operators of convolution networks and state space models on the CPU, against
 * their definitions. */

#include "kernels/convert.h"
#include "kernels/operators.h"
#include "kernels/random.h"
#include "tests/data/check.h"
#include "tests/kernels/operator-bench.h"

#include <math.h>
#include <string.h>

static void
fill (float *values, size_t n, uint32_t seed)
{
  for (size_t i = 0; i < n; i++)
    values[i] =
        qm_random_normal (qm_philox (seed, 3, (uint32_t) i, 0, 0, 0), 0);
}

enum
{
  IMAGES = 2,
  HEIGHT = 4,
  WIDTH = 3,
  CHANNELS = 2,
  PIXELS = HEIGHT * WIDTH,
  GAP = 3, /* after the channels of a row */
  ROW = CHANNELS + GAP
};

/* What the table says, pixel by pixel. */
static double
convolved (float x[IMAGES][HEIGHT][WIDTH][ROW],
           const float *w, /* [CHANNELS][m][n] */
           int64_t m,
           int64_t n,
           bool causal,
           const int64_t at[4])
{
  double sum = 0;

  for (int64_t u = 0; u < m; u++)
    for (int64_t v = 0; v < n; v++)
      {
        int64_t i = at[1] + u - (causal ? m - 1 : m / 2);
        int64_t j = at[2] + v - (causal ? n - 1 : n / 2);

        if (i >= 0 && i < HEIGHT && j >= 0 && j < WIDTH)
          sum += (double) x[at[0]][i][j][at[3]] * w[(at[3] * m + u) * n + v];
      }
  return sum;
}

static void
test_convolution (const Bench *bench, int64_t m, int64_t n, bool causal)
{
  float x[IMAGES][HEIGHT][WIDTH][ROW], w[CHANNELS * 49];
  float bias[CHANNELS] = { 0.5f, -2 }, y[IMAGES * PIXELS][CHANNELS];
  QmOpCall call = { .op = QM_OP_DEPTHWISE_CONV };

  check_case (causal ? "causal convolution" : "convolution");
  fill (&x[0][0][0][0], sizeof x / sizeof (float), 1);
  fill (w, sizeof w / sizeof *w, 2);
  call.attributes.height = HEIGHT;
  call.attributes.width = WIDTH;
  call.attributes.causal = causal ? QM_CAUSAL_RESULT : QM_CAUSAL_NONE;
  call.attributes.activation = QM_FUNCTION_SILU;
  call.inputs[0] = tensor2 (QM_TYPE_F32, IMAGES * PIXELS, CHANNELS, x);
  call.inputs[0].stride[0] = ROW;
  call.inputs[1] =
      qm_tensor_dense (QM_TYPE_F32, 3, (int64_t[]){ CHANNELS, m, n }, w);
  call.inputs[2] = tensor1 (QM_TYPE_F32, CHANNELS, bias);
  call.outputs[0] = tensor2 (QM_TYPE_F32, IMAGES * PIXELS, CHANNELS, y);
  run (bench, &call);
  for (int64_t r = 0; r < IMAGES * PIXELS; r++)
    for (int64_t c = 0; c < CHANNELS; c++)
      {
        double sum = bias[c]
                     + convolved (x, w, m, n, causal,
                                  (int64_t[]){ r / PIXELS, r / WIDTH % HEIGHT,
                                               r % WIDTH, c });

        CHECK (fabs (y[r][c] - sum / (1 + exp (-sum))) < 1e-5);
      }
  call.attributes.width = 5;
  refused (bench, &call);
  call.attributes.width = 0;
  refused (bench, &call);
  call.attributes.height = INT64_MAX;
  call.attributes.width = INT64_MAX;
  refused (bench, &call);
}

/* dx takes `add` in, also where it is the same memory. */
static void
test_convolution_adds (const Bench *bench)
{
  float dy[3] = { 1, 2, 4 }, x[3] = { 8, 16, 32 }, w[2] = { 3, 5 };
  float dx[3] = { 100, 200, 400 }, dw[2] = { 1, 1 }, dbias = 1;
  QmOpCall call = { .op = QM_OP_DEPTHWISE_CONV_BACKWARD };

  check_case ("gradient of a convolution, added to another");
  call.attributes.height = 1;
  call.attributes.width = 3;
  call.attributes.causal = QM_CAUSAL_RESULT;
  call.inputs[0] = tensor2 (QM_TYPE_F32, 3, 1, dy);
  call.inputs[1] = tensor2 (QM_TYPE_F32, 3, 1, x);
  call.inputs[2] = qm_tensor_dense (QM_TYPE_F32, 3, (int64_t[]){ 1, 1, 2 }, w);
  call.inputs[4] = tensor2 (QM_TYPE_F32, 3, 1, dx);
  call.outputs[0] = call.inputs[4];
  call.outputs[1] =
      qm_tensor_dense (QM_TYPE_F32, 3, (int64_t[]){ 1, 1, 2 }, dw);
  call.outputs[2] = tensor1 (QM_TYPE_F32, 1, &dbias);
  run (bench, &call);
  CHECK_NEAR (dx[0], 100 + 5 * 1 + 3 * 2, 0);
  CHECK_NEAR (dx[1], 200 + 5 * 2 + 3 * 4, 0);
  CHECK_NEAR (dx[2], 400 + 5 * 4, 0);
  CHECK_NEAR (dw[0], 1 + 2 * 8 + 4 * 16, 0);
  CHECK_NEAR (dw[1], 1 + 1 * 8 + 2 * 16 + 4 * 32, 0);
  CHECK_NEAR (dbias, 8, 0);
}

/* Patches of a map of bf16 with channels last, and back; a column is in none.
 */
static void
test_patches (const Bench *bench)
{
  float map[4][5][2], patches[4][8], back[4][5][2];
  uint16_t low[4][5][2];
  QmOpCall call = { .op = QM_OP_PATCHIFY };

  check_case ("patches of features");
  for (int i = 0; i < 40; i++)
    (&map[0][0][0])[i] = (float) i;
  qm_floats_store (QM_TYPE_BF16, low, 1, 40, &map[0][0][0]);
  memset (back, 1, sizeof back);
  call.attributes.patch = 2;
  call.inputs[0] = (QmTensor){ .type = QM_TYPE_BF16,
                               .rank = 4,
                               .shape = { 1, 2, 4, 5 },
                               .stride = { 40, 1, 10, 2 },
                               .data = low };
  call.outputs[0] = tensor2 (QM_TYPE_F32, 4, 8, patches);
  run (bench, &call);
  for (int p = 0; p < 4; p++)
    for (int e = 0; e < 8; e++)
      CHECK_NEAR (patches[p][e],
                  map[p / 2 * 2 + e / 2 % 2][p % 2 * 2 + e % 2][e / 4], 0);
  call.op = QM_OP_UNPATCHIFY;
  call.outputs[0] = call.inputs[0];
  call.outputs[0].type = QM_TYPE_F32;
  call.outputs[0].data = back;
  call.inputs[0] = tensor2 (QM_TYPE_F32, 4, 8, patches);
  run (bench, &call);
  for (int i = 0; i < 40; i++)
    CHECK_NEAR ((&back[0][0][0])[i], i / 2 % 5 == 4 ? 0 : i, 0);
}

/* Whole samples are dropped, those that dropout drops of a tensor of samples,
 * and the gradient drops the same. */
static void
test_depth (const Bench *bench)
{
  enum
  {
    SAMPLES = 2000,
    ROWS = 6
  };
  static float x[SAMPLES * ROWS][2], y[SAMPLES * ROWS][2],
      dx[SAMPLES * ROWS][2];
  static float ones[SAMPLES], kept[SAMPLES];
  float gamma[2] = { 3, 5 }, dgamma[2] = { 0, 0 };
  int32_t rng[QM_RNG_SIZE] = { 1, 2, 3 };
  QmOpCall call = { .op = QM_OP_DROPOUT };
  int n = 0;

  check_case ("stochastic depth");
  for (int i = 0; i < SAMPLES; i++)
    ones[i] = 1;
  for (int i = 0; i < SAMPLES * ROWS; i++)
    x[i][0] = x[i][1] = 1;
  call.attributes.dropout = 0.25;
  call.attributes.site = 11;
  call.inputs[0] = tensor1 (QM_TYPE_F32, SAMPLES, ones);
  call.inputs[1] = tensor1 (QM_TYPE_I32, QM_RNG_SIZE, rng);
  call.outputs[0] = tensor1 (QM_TYPE_F32, SAMPLES, kept);
  run (bench, &call);

  call.op = QM_OP_LAYER_SCALE;
  call.attributes.height = 3;
  call.attributes.width = 2;
  call.inputs[3] = call.inputs[1];
  call.inputs[0] = tensor2 (QM_TYPE_F32, SAMPLES * ROWS, 2, x);
  call.inputs[1] = tensor1 (QM_TYPE_F32, 2, gamma);
  call.inputs[2] = call.inputs[0];
  call.outputs[0] = tensor2 (QM_TYPE_F32, SAMPLES * ROWS, 2, y);
  run (bench, &call);
  call.op = QM_OP_LAYER_SCALE_BACKWARD;
  call.inputs[1] = call.inputs[0];
  call.inputs[2] = tensor1 (QM_TYPE_F32, 2, gamma);
  call.outputs[0] = tensor2 (QM_TYPE_F32, SAMPLES * ROWS, 2, dx);
  call.outputs[1] = tensor1 (QM_TYPE_F32, 2, dgamma);
  run (bench, &call);
  for (int i = 0; i < SAMPLES * ROWS; i++)
    for (int j = 0; j < 2; j++)
      {
        CHECK_NEAR (y[i][j], 1 + gamma[j] * kept[i / ROWS], 1e-6);
        CHECK_NEAR (dx[i][j], gamma[j] * kept[i / ROWS], 1e-6);
      }
  for (int i = 0; i < SAMPLES; i++)
    n += kept[i] > 0;
  CHECK_NEAR (n, 0.75 * SAMPLES, 0.05);
  CHECK_NEAR (dgamma[0], n * ROWS / 0.75, 1e-5);
  call.attributes.height = 7;
  refused (bench, &call);
}

/* Samples 0 and 2 of three, of two rows each, go through a branch: 1.5 times 2
 * and 10 times what comes out is added to theirs. */
static void
test_chosen (const Bench *bench)
{
  float x[4][2] = { { 1, 2 }, { 3, 4 }, { 5, 6 }, { 7, 8 } }, dx[4][2];
  float residual[6][2] = { { 1, 0 }, { 2, 0 }, { 3, 0 },
                           { 4, 0 }, { 5, 0 }, { 6, 0 } };
  const float sums[6][2] = { { 4, 30 }, { 11, 60 }, { 3, 0 },
                             { 4, 0 },  { 20, 90 }, { 27, 120 } };
  float y[6][2], gamma[2] = { 2, 10 }, dgamma[2] = { 100, 0 };
  int32_t places[3] = { 0, -1, 1 }, kept[2] = { 0, 2 };
  QmOpCall call = { .op = QM_OP_LAYER_SCALE, .attributes.scale = 1.5 };

  check_case ("chosen samples");
  call.inputs[0] = tensor2 (QM_TYPE_F32, 4, 2, x);
  call.inputs[1] = tensor1 (QM_TYPE_F32, 2, gamma);
  call.inputs[2] = tensor2 (QM_TYPE_F32, 6, 2, residual);
  call.inputs[4] = tensor2 (QM_TYPE_I32, 1, 3, places);
  call.inputs[5] = tensor2 (QM_TYPE_I32, 1, 2, kept);
  call.outputs[0] = tensor2 (QM_TYPE_F32, 6, 2, y);
  run (bench, &call);
  for (int i = 0; i < 12; i++)
    CHECK_NEAR (y[i / 2][i % 2], sums[i / 2][i % 2], 0);
  call.outputs[0] = call.inputs[2];
  run (bench, &call);
  CHECK (memcmp (residual, y, sizeof y) == 0);
  call.inputs[2] = (QmTensor){ 0 };
  call.outputs[0] = tensor2 (QM_TYPE_F32, 6, 2, y);
  run (bench, &call);
  for (int i = 0; i < 6; i++)
    CHECK_NEAR (y[i][0], sums[i][0] - (float) (i + 1), 0);

  call.op = QM_OP_LAYER_SCALE_BACKWARD;
  call.inputs[0] = tensor2 (QM_TYPE_F32, 6, 2, residual);
  call.inputs[1] = tensor2 (QM_TYPE_F32, 4, 2, x);
  call.inputs[2] = tensor1 (QM_TYPE_F32, 2, gamma);
  call.outputs[0] = tensor2 (QM_TYPE_F32, 4, 2, dx);
  call.outputs[1] = tensor1 (QM_TYPE_F32, 2, dgamma);
  run (bench, &call);
  /* Of rows 0, 1, 4 and 5. */
  CHECK_NEAR (dx[0][0], 3 * 4, 0);
  CHECK_NEAR (dx[1][1], 15 * 60, 0);
  CHECK_NEAR (dx[2][0], 3 * 20, 0);
  CHECK_NEAR (dx[3][1], 15 * 120, 0);
  CHECK_NEAR (dgamma[0], 100 + 1.5 * (4 + 3 * 11 + 5 * 20 + 7 * 27), 0);
  CHECK_NEAR (dgamma[1], 1.5 * (2 * 30 + 4 * 60 + 6 * 90 + 8 * 120), 0);
}

/* Who goes through is told of whole samples, both ways, and nothing is drawn
 * any more. */
static void
test_chosen_refused (const Bench *bench)
{
  static float rows[8][2];
  int32_t numbers[4] = { 0 };
  const QmTensor some[2] = { tensor2 (QM_TYPE_I32, 1, 3, numbers),
                             tensor2 (QM_TYPE_I32, 1, 2, numbers) };
  QmOpCall call = { .op = QM_OP_LAYER_SCALE, .attributes.scale = 1.5 }, good;

  check_case ("samples that are not chosen well");
  call.inputs[0] = tensor2 (QM_TYPE_F32, 4, 2, rows);
  call.inputs[4] = some[0];
  call.inputs[5] = some[1];
  call.outputs[0] = tensor2 (QM_TYPE_F32, 6, 2, rows);
  CHECK_INT (qm_op_check (&call, NULL), QM_OK);
  good = call;
  call.outputs[0].shape[0] = 8;
  refused (bench, &call);
  call = good;
  call.inputs[5] = (QmTensor){ 0 };
  refused (bench, &call);
  call = good;
  call.inputs[4] = (QmTensor){ 0 };
  refused (bench, &call);
  call = good;
  call.inputs[4] = some[1];
  refused (bench, &call);
  call = good;
  call.attributes.scale = 0;
  refused (bench, &call);
  call = good;
  call.inputs[3] = tensor1 (QM_TYPE_I32, QM_RNG_SIZE, numbers);
  refused (bench, &call);
  /* Without places, sums have the rows of the branch. */
  call = good;
  call.inputs[4] = call.inputs[5] = (QmTensor){ 0 };
  call.attributes.height = call.attributes.width = 1;
  refused (bench, &call);
  call.outputs[0] = call.inputs[0];
  CHECK_INT (qm_op_check (&call, NULL), QM_OK);
}

static void
test_pool (const Bench *bench)
{
  float x[4][2] = { { 1, 2 }, { 3, 6 }, { 10, 0 }, { 30, 8 } }, y[2][2];
  QmOpCall call = { .op = QM_OP_POOL };

  check_case ("pool");
  call.inputs[0] = tensor2 (QM_TYPE_F32, 4, 2, x);
  call.outputs[0] = tensor2 (QM_TYPE_F32, 2, 2, y);
  run (bench, &call);
  CHECK_NEAR (y[0][0], 2, 0);
  CHECK_NEAR (y[0][1], 4, 0);
  CHECK_NEAR (y[1][0], 20, 0);
  CHECK_NEAR (y[1][1], 4, 0);
  call.op = QM_OP_POOL_BACKWARD;
  call.inputs[0] = call.outputs[0];
  call.outputs[0] = tensor2 (QM_TYPE_F32, 4, 2, x);
  run (bench, &call);
  CHECK_NEAR (x[1][0], 1, 0);
  CHECK_NEAR (x[2][0], 10, 0);
}

/* A row before those that count goes along, others are left out. */
static void
test_pool_of_patches (const Bench *bench)
{
  float x[6][1] = { { 1 }, { 50 }, { 3 }, { 10 }, { 70 }, { 30 } }, y[2][2];
  QmOpCall call = { .op = QM_OP_POOL, .attributes.first = 2 };

  check_case ("pool of patches");
  call.inputs[0] = tensor2 (QM_TYPE_F32, 6, 1, x);
  call.outputs[0] = tensor2 (QM_TYPE_F32, 2, 2, y);
  run (bench, &call);
  CHECK_NEAR (y[0][0], 1, 0);
  CHECK_NEAR (y[0][1], 3, 0);
  CHECK_NEAR (y[1][0], 10, 0);
  CHECK_NEAR (y[1][1], 30, 0);
  call.op = QM_OP_POOL_BACKWARD;
  call.attributes.first = 1;
  call.inputs[0] = call.outputs[0];
  call.outputs[0] = tensor2 (QM_TYPE_F32, 6, 1, x);
  run (bench, &call);
  CHECK_NEAR (x[0][0], 1, 0);
  CHECK_NEAR (x[1][0], 1.5, 0);
  CHECK_NEAR (x[3][0], 10, 0);
  CHECK_NEAR (x[5][0], 15, 0);
  call.attributes.first = 3;
  refused (bench, &call);
  call.attributes.first = 0;
  refused (bench, &call);
}

/* Registers are behind the class token, and have no position. */
static void
test_registers (const Bench *bench)
{
  float x[4][1] = { { 1 }, { 2 }, { 3 }, { 4 } }, token[1] = { 10 };
  float position[3][1] = { { 100 }, { 200 }, { 300 } };
  float registers[2][1] = { { 7 }, { 8 } }, y[10][1], sums[3] = { 0 };
  const float wanted[10] = { 110, 7, 8, 201, 302, 110, 7, 8, 203, 304 };
  QmOpCall call = { .op = QM_OP_CLASS_TOKEN };

  check_case ("registers");
  call.inputs[0] = tensor2 (QM_TYPE_F32, 4, 1, x);
  call.inputs[1] = tensor1 (QM_TYPE_F32, 1, token);
  call.inputs[2] = tensor2 (QM_TYPE_F32, 3, 1, position);
  call.inputs[3] = tensor2 (QM_TYPE_F32, 2, 1, registers);
  call.outputs[0] = tensor2 (QM_TYPE_F32, 10, 1, y);
  run (bench, &call);
  for (int i = 0; i < 10; i++)
    CHECK_NEAR (y[i][0], wanted[i], 0);
  call.inputs[2] = (QmTensor){ 0 };
  run (bench, &call);
  CHECK_NEAR (y[5][0], 10, 0);
  CHECK_NEAR (y[9][0], 4, 0);
  call = (QmOpCall){ .op = QM_OP_CLASS_TOKEN_BACKWARD };
  call.inputs[0] = tensor2 (QM_TYPE_F32, 10, 1, y);
  call.outputs[0] = tensor2 (QM_TYPE_F32, 4, 1, x);
  call.outputs[1] = tensor1 (QM_TYPE_F32, 1, sums);
  call.outputs[3] = tensor2 (QM_TYPE_F32, 2, 1, &sums[1]);
  run (bench, &call);
  CHECK_NEAR (sums[0], 20, 0);
  CHECK_NEAR (sums[1], 14, 0);
  CHECK_NEAR (sums[2], 16, 0);
  CHECK_NEAR (x[3][0], 4, 0);
  call.outputs[3] = tensor2 (QM_TYPE_F32, 3, 1, position);
  refused (bench, &call);
}

/* Of an image of one patch above another: tokens before them and the middle of
 * a side do not turn. */
static void
test_patch_angles (const Bench *bench)
{
  float table[4][8], moved[4][8];
  int32_t rng[QM_RNG_SIZE] = { 5, 6, 7 };
  QmOpCall call = { .op = QM_OP_PATCH_ANGLES,
                    .attributes = {
                        .height = 2, .width = 1, .count = 2, .value = 100 } };

  check_case ("patch angles");
  call.outputs[0] = tensor2 (QM_TYPE_F32, 4, 8, table);
  run (bench, &call);
  for (int s = 0; s < 4; s++)
    for (int j = 0; j < 4; j++)
      {
        /* Two frequencies, 1 and 100^(-1/2); first the rows, then columns. */
        double place = s < 2 || j >= 2 ? 0 : s == 2 ? -0.5 : 0.5;
        double angle = 2 * acos (-1) * place * (j % 2 == 0 ? 1 : 0.1);

        CHECK_NEAR (table[s][j], cos (angle), 1e-6);
        CHECK_NEAR (table[s][4 + j] + 2, sin (angle) + 2, 1e-6);
      }
  call.inputs[0] = tensor1 (QM_TYPE_I32, QM_RNG_SIZE, rng);
  call.attributes.rescale = 2;
  call.outputs[0] = tensor2 (QM_TYPE_F32, 4, 8, moved);
  run (bench, &call);
  /* Both halves of the image turn by one factor, between 1/2 and 2. */
  CHECK_NEAR (moved[0][0], 1, 0);
  CHECK_NEAR (moved[2][5], -moved[3][5], 1e-6);
  CHECK_NEAR (moved[3][6], 0, 0);
  CHECK (fabs (asin (moved[3][5]) / asin (table[3][5]) - 1) > 1e-3);
  CHECK (asin (moved[3][5]) / asin (table[3][5]) > 0.5
         && asin (moved[3][5]) / asin (table[3][5]) < 2);
  call.attributes.move = 0.5;
  run (bench, &call);
  CHECK (fabs (moved[3][6]) > 1e-4);
  CHECK_NEAR (moved[2][6], moved[3][6], 1e-6);
  call.attributes.count = 1;
  refused (bench, &call);
}

static void
test_rms_norm (const Bench *bench)
{
  float x[2] = { 3, 4 }, a[2] = { 1, -1 }, gamma[2] = { 2, 10 };
  float y[2], rstd, sum[2], mean;
  double wanted = 1 / sqrt ((16 + 9) / 2.0 + 0.5);
  QmOpCall call = { .op = QM_OP_LAYER_NORM };

  check_case ("rms norm");
  call.attributes.rms = true;
  call.attributes.epsilon = 0.5;
  call.inputs[0] = tensor2 (QM_TYPE_F32, 1, 2, x);
  call.inputs[1] = tensor1 (QM_TYPE_F32, 2, gamma);
  call.inputs[3] = tensor2 (QM_TYPE_F32, 1, 2, a);
  call.outputs[0] = tensor2 (QM_TYPE_F32, 1, 2, y);
  call.outputs[2] = tensor1 (QM_TYPE_F32, 1, &rstd);
  call.outputs[3] = tensor2 (QM_TYPE_F32, 1, 2, sum);
  run (bench, &call);
  CHECK_NEAR (rstd, wanted, 1e-6);
  CHECK_NEAR (y[0], 8 * wanted, 1e-6);
  CHECK_NEAR (y[1], 30 * wanted, 1e-6);
  CHECK_NEAR (sum[0], 4, 0);
  call.outputs[1] = tensor1 (QM_TYPE_F32, 1, &mean);
  refused (bench, &call);
  call.attributes.rms = false;
  call.outputs[1] = (QmTensor){ 0 };
  refused (bench, &call);
}

/* The mean counts, and there is nothing to be added. */
static void
test_norm_without_bias (const Bench *bench)
{
  float x[2] = { 3, 5 }, gamma[2] = { 2, 10 }, beta[2] = { 1, 1 };
  float y[2], rstd, mean;
  double wanted = 1 / sqrt (1 + 0.5);
  QmOpCall call = { .op = QM_OP_LAYER_NORM };

  check_case ("layer norm without bias");
  call.attributes.epsilon = 0.5;
  call.inputs[0] = tensor2 (QM_TYPE_F32, 1, 2, x);
  call.inputs[1] = tensor1 (QM_TYPE_F32, 2, gamma);
  call.outputs[0] = tensor2 (QM_TYPE_F32, 1, 2, y);
  call.outputs[1] = tensor1 (QM_TYPE_F32, 1, &mean);
  call.outputs[2] = tensor1 (QM_TYPE_F32, 1, &rstd);
  run (bench, &call);
  CHECK_NEAR (mean, 4, 0);
  CHECK_NEAR (rstd, wanted, 1e-6);
  CHECK_NEAR (y[0], -2 * wanted, 1e-6);
  CHECK_NEAR (y[1], 10 * wanted, 1e-6);
  call.inputs[5] = call.inputs[1];
  call.inputs[6] = tensor1 (QM_TYPE_F32, 2, beta);
  call.outputs[4] = call.outputs[0];
  refused (bench, &call);
}

enum
{
  SEQUENCES = 2,
  STEPS = 11,
  INNER = 3,
  STATES = 2
};

typedef struct ScanData
{
  float u[SEQUENCES * STEPS][INNER], dt[SEQUENCES * STEPS][INNER];
  float a[INNER][STATES], bc[SEQUENCES * STEPS][2 * STATES];
  float skip[INNER], bias[INNER], z[SEQUENCES * STEPS][INNER];
} ScanData;

/* The recurrence in double precision; h is left as it is after row t. */
static double
recur (const ScanData *data, int64_t sequence, int64_t t, int d, double *h)
{
  int64_t row = sequence * STEPS + t;
  double raw = (double) data->dt[row][d] + data->bias[d];
  double s = log1p (exp (raw)), u = data->u[row][d];
  double y = data->skip[d] * u;

  for (int n = 0; n < STATES; n++)
    {
      h[n] = exp (-s * exp (data->a[d][n])) * h[n] + s * data->bc[row][n] * u;
      y += data->bc[row][STATES + n] * h[n];
    }
  return y * data->z[row][d] / (1 + exp (-data->z[row][d]));
}

static QmOpCall
scan_call (ScanData *data, int64_t chunk, float *y, float *states)
{
  const int64_t rows = SEQUENCES * STEPS;
  QmOpCall call = { .op = QM_OP_SELECTIVE_SCAN };

  call.attributes.width = STEPS;
  call.attributes.chunk = chunk;
  call.inputs[0] = tensor2 (QM_TYPE_F32, rows, INNER, data->u);
  call.inputs[1] = tensor2 (QM_TYPE_F32, rows, INNER, data->dt);
  call.inputs[2] = tensor2 (QM_TYPE_F32, INNER, STATES, data->a);
  for (int i = 0; i < 2; i++)
    {
      call.inputs[3 + i] =
          tensor2 (QM_TYPE_F32, rows, STATES, &data->bc[0][i * STATES]);
      call.inputs[3 + i].stride[0] = 2 * STATES;
    }
  call.inputs[5] = tensor1 (QM_TYPE_F32, INNER, data->skip);
  call.inputs[6] = tensor1 (QM_TYPE_F32, INNER, data->bias);
  call.inputs[7] = tensor2 (QM_TYPE_F32, rows, INNER, data->z);
  call.outputs[0] = tensor2 (QM_TYPE_F32, rows, INNER, y);
  call.outputs[1] =
      qm_tensor_dense (QM_TYPE_F32, 4,
                       (int64_t[]){ SEQUENCES, (STEPS + chunk - 1) / chunk,
                                    STATES, INNER },
                       states);
  return call;
}

/* Results, and the states where chunks begin. */
static void
test_scan (const Bench *bench, int64_t chunk)
{
  float y[SEQUENCES * STEPS][INNER];
  float states[SEQUENCES * STEPS * STATES * INNER];
  int64_t chunks = (STEPS + chunk - 1) / chunk;
  ScanData data;
  QmOpCall call;

  check_case ("selective scan");
  fill ((float *) &data, sizeof data / sizeof (float), 7);
  data.dt[3][1] = 30; /* softplus must not overflow, and is its argument */
  data.dt[4][1] = -30;
  call = scan_call (&data, chunk, &y[0][0], states);
  run (bench, &call);
  for (int64_t q = 0; q < SEQUENCES; q++)
    for (int d = 0; d < INNER; d++)
      {
        double h[STATES] = { 0 };

        for (int64_t t = 0; t < STEPS; t++)
          {
            for (int n = 0; n < STATES && t % chunk == 0; n++)
              CHECK (
                  fabs (states[((q * chunks + t / chunk) * STATES + n) * INNER
                               + d]
                        - h[n])
                  < 1e-5);
            CHECK (fabs (recur (&data, q, t, d, h) - y[q * STEPS + t][d])
                   < 1e-4);
          }
      }
  call.attributes.chunk = chunk + STEPS;
  refused (bench, &call);
  call.attributes.chunk = 0;
  refused (bench, &call);
}

/* The gradient does not depend on the chunks. */
static void
test_scan_chunks (const Bench *bench)
{
  enum
  {
    ROWS = SEQUENCES * STEPS
  };
  static float got[2]
                  [ROWS * INNER * 3 + INNER * (STATES + 2) + ROWS * STATES * 2];
  float y[ROWS][INNER], dy[ROWS][INNER], states[ROWS * STATES * INNER];
  ScanData data;

  check_case ("chunks of a scan");
  fill ((float *) &data, sizeof data / sizeof (float), 7);
  fill (&dy[0][0], ROWS * INNER, 8);
  for (int i = 0; i < 2; i++)
    {
      QmOpCall forward = scan_call (&data, i == 0 ? 1 : 4, &y[0][0], states);
      QmOpCall call = forward;
      float *to = got[i];

      run (bench, &forward);
      call.op = QM_OP_SELECTIVE_SCAN_BACKWARD;
      call.inputs[0] = tensor2 (QM_TYPE_F32, ROWS, INNER, dy);
      for (int j = 0; j < 8; j++)
        {
          call.inputs[1 + j] = forward.inputs[j];
          call.outputs[j] =
              qm_tensor_dense (QM_TYPE_F32, forward.inputs[j].rank,
                               forward.inputs[j].shape, to);
          to += qm_tensor_elements (&forward.inputs[j]);
        }
      call.inputs[9] = forward.outputs[1];
      CHECK_INT (to - got[i], sizeof got[i] / sizeof (float));
      run (bench, &call);
    }
  for (size_t i = 0; i < sizeof got[0] / sizeof (float); i++)
    CHECK_NEAR (got[0][i], got[1][i], 1e-6);
}

enum
{
  HEADS = 4,
  COLUMNS = 3, /* of a head */
  GROUPS = 2
};

typedef struct DualData
{
  float x[SEQUENCES * STEPS][HEADS * COLUMNS], dt[SEQUENCES * STEPS][HEADS];
  float a[HEADS], bc[SEQUENCES * STEPS][2 * GROUPS * STATES];
  float skip[HEADS], bias[HEADS];
} DualData;

/* y of a head's column in double precision; the states of the column are left
 * as they are after row t. */
static double
recur_dual (const DualData *data,
            int64_t row,
            int head,
            int column,
            double least,
            double most,
            double *state)
{
  double raw = (double) data->dt[row][head] + data->bias[head];
  double s = fmin (fmax (log1p (exp (raw)), least), most);
  double x = data->x[row][head * COLUMNS + column], y = data->skip[head] * x;
  const float *b = data->bc[row] + head / (HEADS / GROUPS) * STATES;

  for (int n = 0; n < STATES; n++)
    {
      state[n] = exp (-s * exp (data->a[head])) * state[n] + s * b[n] * x;
      y += b[GROUPS * STATES + n] * state[n];
    }
  return y;
}

static QmOpCall
dual_call (DualData *data, float *y)
{
  const int64_t rows = SEQUENCES * STEPS;
  QmOpCall call = { .op = QM_OP_DUAL_SCAN };

  call.attributes.width = STEPS;
  call.attributes.count = GROUPS;
  call.inputs[0] = tensor2 (QM_TYPE_F32, rows, HEADS * COLUMNS, data->x);
  call.inputs[1] = tensor2 (QM_TYPE_F32, rows, HEADS, data->dt);
  call.inputs[2] = tensor1 (QM_TYPE_F32, HEADS, data->a);
  for (int i = 0; i < 2; i++)
    {
      call.inputs[3 + i] = tensor2 (QM_TYPE_F32, rows, GROUPS * STATES,
                                    &data->bc[0][i * GROUPS * STATES]);
      call.inputs[3 + i].stride[0] = 2 * GROUPS * STATES;
    }
  call.inputs[5] = tensor1 (QM_TYPE_F32, HEADS, data->skip);
  call.inputs[6] = tensor1 (QM_TYPE_F32, HEADS, data->bias);
  call.outputs[0] = tensor2 (QM_TYPE_F32, rows, HEADS * COLUMNS, y);
  return call;
}

static void
test_dual_scan (const Bench *bench, double least, double most)
{
  float y[SEQUENCES * STEPS][HEADS * COLUMNS];
  DualData data;
  QmOpCall call;

  check_case ("dual scan");
  fill ((float *) &data, sizeof data / sizeof (float), 7);
  data.dt[3][1] = 30;
  data.dt[4][1] = -30;
  call = dual_call (&data, &y[0][0]);
  call.attributes.value = least;
  call.attributes.cap = most < 100 ? most : 0;
  run (bench, &call);
  for (int64_t q = 0; q < SEQUENCES; q++)
    for (int i = 0; i < HEADS * COLUMNS; i++)
      {
        double state[STATES] = { 0 };

        for (int64_t row = q * STEPS; row < (q + 1) * STEPS; row++)
          CHECK (fabs (recur_dual (&data, row, i / COLUMNS, i % COLUMNS, least,
                                   most, state)
                       - y[row][i])
                 < 1e-4);
      }
  call.attributes.count = 3;
  refused (bench, &call);
  call.attributes.count = GROUPS;
  call.attributes.width = STEPS + 1;
  refused (bench, &call);
  call.attributes.width = STEPS;
  call.attributes.value = 1;
  call.attributes.cap = 0.5;
  refused (bench, &call);
}

int
main (void)
{
  Bench bench = { NULL };

  CHECK_INT (qm_device_open ("cpu", 0, &bench.device, NULL), QM_OK);
  CHECK_INT (qm_stream_create (bench.device, &bench.stream, NULL), QM_OK);
  test_convolution (&bench, 7, 7, false);
  test_convolution (&bench, 3, 5, false);
  test_convolution (&bench, 2, 4, true);
  test_convolution_adds (&bench);
  test_patches (&bench);
  test_depth (&bench);
  test_chosen (&bench);
  test_chosen_refused (&bench);
  test_pool (&bench);
  test_pool_of_patches (&bench);
  test_registers (&bench);
  test_patch_angles (&bench);
  test_rms_norm (&bench);
  test_norm_without_bias (&bench);
  test_scan (&bench, 1);
  test_scan (&bench, 4);
  test_scan (&bench, STEPS);
  test_scan_chunks (&bench);
  test_dual_scan (&bench, 0, INFINITY);
  test_dual_scan (&bench, 0.5, 0.9);
  qm_stream_free (bench.device, bench.stream);
  qm_device_close (bench.device);
  return check_report ();
}
