/* SPDX-License-Identifier: Apache-2.0 */

/* Operators whose results can be written down: training, losses, positions. */

#include "kernels/operators.h"
#include "kernels/random.h"
#include "tests/data/check.h"
#include "tests/kernels/operator-bench.h"

#include <math.h>
#include <string.h>

/* Loss of two classes in room for three; the second of three rows is ignored.
 */
static void
test_cross_entropy (const Bench *bench)
{
  float logits[3][3] = { { 1, 2, 9 }, { 5, 5, 9 }, { 0, -1, 9 } };
  float state[QM_STATE_SIZE] = { 0 }, weight[2], losses[3];
  int32_t labels[3] = { 1, QM_IGNORE_LABEL, 0 };
  double p = 1 / (1 + exp (-1));
  QmOpCall call = { .op = QM_OP_LABEL_WEIGHT };

  check_case ("cross entropy");
  state[QM_STATE_LOSS_SCALE] = 8;
  call.attributes.scale = 0.5;
  call.inputs[0] = tensor2 (QM_TYPE_I32, 3, 1, labels);
  call.inputs[1] = tensor1 (QM_TYPE_F32, QM_STATE_SIZE, state);
  call.outputs[0] = tensor1 (QM_TYPE_F32, 2, weight);
  run (bench, &call);
  CHECK_NEAR (weight[0], 0.25, 0);
  CHECK_NEAR (weight[1], 2, 0);

  call = (QmOpCall){ .op = QM_OP_CROSS_ENTROPY };
  call.attributes.padded = 3;
  call.inputs[0] = tensor2 (QM_TYPE_F32, 3, 3, logits);
  call.inputs[0].shape[1] = 2;
  call.inputs[1] = tensor2 (QM_TYPE_I32, 3, 1, labels);
  call.inputs[2] = tensor1 (QM_TYPE_F32, 2, weight);
  call.outputs[0] = call.inputs[0];
  call.outputs[1] = tensor1 (QM_TYPE_F32, 3, losses);
  run (bench, &call);
  CHECK_NEAR (losses[0], -0.25 * log (p), 1e-6);
  CHECK_NEAR (losses[1], 0, 0);
  CHECK_NEAR (losses[2], -0.25 * log (p), 1e-6);
  CHECK_NEAR (logits[0][1], 2 * (p - 1), 1e-5);
  CHECK_NEAR (logits[0][0], 2 * (1 - p), 1e-5);
  for (int i = 0; i < 3; i++)
    CHECK_NEAR (logits[i][2], 0, 0);
  CHECK_NEAR (logits[1][0], 0, 0);
}

/* Every token predicts the next, and the last of a sequence nothing. */
static void
test_shift (const Bench *bench)
{
  float logits[4][2] = { { 3, 0 }, { 3, 0 }, { 3, 0 }, { 3, 0 } };
  float state[QM_STATE_SIZE] = { 0 }, weight[2], losses[4];
  int32_t labels[4] = { 0, 1, 1, 0 };
  QmOpCall call = { .op = QM_OP_LABEL_WEIGHT };

  check_case ("shifted labels");
  state[QM_STATE_LOSS_SCALE] = 1;
  call.attributes.scale = 1;
  call.attributes.shift = true;
  call.inputs[0] = tensor2 (QM_TYPE_I32, 2, 2, labels);
  call.inputs[1] = tensor1 (QM_TYPE_F32, QM_STATE_SIZE, state);
  call.outputs[0] = tensor1 (QM_TYPE_F32, 2, weight);
  run (bench, &call);
  CHECK_NEAR (weight[0], 0.5, 0);
  call.op = QM_OP_CROSS_ENTROPY;
  call.inputs[1] = call.inputs[0];
  call.inputs[0] = tensor2 (QM_TYPE_F32, 4, 2, logits);
  call.inputs[2] = call.outputs[0];
  call.outputs[0] = call.inputs[0];
  call.outputs[1] = tensor1 (QM_TYPE_F32, 4, losses);
  run (bench, &call);
  CHECK_NEAR (losses[0], 0.5 * log1p (exp (3)), 1e-6);
  CHECK_NEAR (losses[1], 0, 0);
  CHECK_NEAR (losses[2], 0.5 * log1p (exp (-3)), 1e-6);
  CHECK_NEAR (losses[3], 0, 0);
  CHECK_NEAR (logits[1][0], 0, 0);
}

/* Some rows alone are as they are among all. */
static void
test_some_rows (const Bench *bench)
{
  const float all[6][2] = { { 3, 0 },  { 1, 0 }, { 2, 1 },
                            { -3, 0 }, { 0, 4 }, { 1, 1 } };
  int32_t labels[6] = { 0, 1, 1, 0, QM_IGNORE_LABEL, 1 };
  float whole[6][2], some[6][2], weight[2] = { 0.25f, 2 };
  float whole_losses[6], losses[6];
  QmOpCall call = { .op = QM_OP_CROSS_ENTROPY };

  check_case ("some rows of logits");
  memcpy (whole, all, sizeof all);
  memcpy (some, all, sizeof all);
  call.attributes.shift = true;
  call.inputs[0] = tensor2 (QM_TYPE_F32, 6, 2, whole);
  call.inputs[1] = tensor2 (QM_TYPE_I32, 2, 3, labels);
  call.inputs[2] = tensor1 (QM_TYPE_F32, 2, weight);
  call.outputs[0] = call.inputs[0];
  call.outputs[1] = tensor1 (QM_TYPE_F32, 6, whole_losses);
  run (bench, &call);
  for (int64_t i = 0; i < 6; i += 4)
    {
      int64_t rows = i + 4 < 6 ? 4 : 6 - i;

      call.attributes.first = i;
      call.inputs[0] = call.outputs[0] =
          tensor2 (QM_TYPE_F32, rows, 2, some[i]);
      call.outputs[1] = tensor1 (QM_TYPE_F32, rows, &losses[i]);
      run (bench, &call);
    }
  for (int i = 0; i < 6; i++)
    {
      CHECK_NEAR (losses[i], whole_losses[i], 0);
      CHECK_NEAR (some[i][0], whole[i][0], 0);
      CHECK_NEAR (some[i][1], whole[i][1], 0);
    }
  CHECK (whole_losses[4] > 0);
  call.attributes.first = 5;
  CHECK_INT (qm_op_check (&call, NULL), QM_STATUS_INVALID);
}

/* Logits of 3 and 0, capped to 2, with a z-loss. */
static void
test_cap (const Bench *bench)
{
  float logits[2] = { 3, 0 }, weight[2] = { 0.5f, 4 }, loss = 0;
  int32_t label = 1;
  double c = 2 * tanh (1.5), all = log (exp (c) + 1), p = exp (c - all);
  double slope = 1 - tanh (1.5) * tanh (1.5), z = 0.25;
  QmOpCall call = { .op = QM_OP_CROSS_ENTROPY };

  check_case ("capped logits, z-loss");
  call.attributes.cap = 2;
  call.attributes.z_loss = z;
  call.inputs[0] = call.outputs[0] = tensor2 (QM_TYPE_F32, 1, 2, logits);
  call.inputs[1] = tensor2 (QM_TYPE_I32, 1, 1, &label);
  call.inputs[2] = tensor1 (QM_TYPE_F32, 2, weight);
  call.outputs[1] = tensor1 (QM_TYPE_F32, 1, &loss);
  run (bench, &call);
  CHECK_NEAR (loss, 0.5 * (all + z * all * all), 1e-6);
  CHECK_NEAR (logits[0], 4 * p * (1 + 2 * z * all) * slope, 1e-6);
  CHECK_NEAR (logits[1], 4 * ((1 - p) * (1 + 2 * z * all) - 1), 1e-6);
  call.attributes.cap = -1;
  CHECK_INT (qm_op_check (&call, NULL), QM_STATUS_INVALID);
  call.attributes.cap = 0;
  call.attributes.z_loss = -1;
  CHECK_INT (qm_op_check (&call, NULL), QM_STATUS_INVALID);
}

static void
update_state (
    const Bench *bench, float sum, double max_norm, bool dynamic, float *state)
{
  QmOpCall call = { .op = QM_OP_UPDATE_STATE };

  call.attributes.max_norm = max_norm;
  call.attributes.dynamic = dynamic;
  call.inputs[0] = tensor1 (QM_TYPE_F32, 1, &sum);
  call.outputs[0] = tensor1 (QM_TYPE_F32, QM_STATE_SIZE, state);
  run (bench, &call);
}

static void
test_update_state (const Bench *bench)
{
  float state[QM_STATE_SIZE] = { 0 };

  check_case ("clipping and loss scale");
  state[QM_STATE_LOSS_SCALE] = 4;
  update_state (bench, 64, 1, true, state);
  CHECK_NEAR (state[QM_STATE_NORM], 2, 0);
  CHECK_NEAR (state[QM_STATE_FACTOR], 0.125, 1e-5);
  CHECK_NEAR (state[QM_STATE_UPDATES], 1, 0);
  update_state (bench, 64, 3, true, state);
  CHECK_NEAR (state[QM_STATE_FACTOR], 0.25, 0);
  update_state (bench, 64, 0, true, state);
  CHECK_NEAR (state[QM_STATE_FACTOR], 0.25, 0);
  update_state (bench, INFINITY, 1, true, state);
  CHECK_NEAR (state[QM_STATE_NOT_FINITE], 1, 0);
  CHECK_NEAR (state[QM_STATE_UPDATES], 3, 0);
  CHECK_NEAR (state[QM_STATE_LOSS_SCALE], 2, 0);
  for (int i = 0; i < QM_SCALE_GROWTH; i++)
    update_state (bench, 1, 0, true, state);
  CHECK_NEAR (state[QM_STATE_LOSS_SCALE], 4, 0);
  update_state (bench, NAN, 0, false, state);
  CHECK_NEAR (state[QM_STATE_LOSS_SCALE], 4, 0);
}

/* Two updates of one weight, by hand in double precision. */
static void
test_adam (const Bench *bench, bool decoupled)
{
  const double rate = 0.1, beta1 = 0.9, beta2 = 0.99, epsilon = 1e-3;
  const double decay = 0.2, gradients[2] = { 0.5, -2 };
  float state[QM_STATE_SIZE] = { 0 }, g, w = 3, m = 0, v = 0;
  double ww = 3, mm = 0, vv = 0;
  uint16_t low = 0;
  QmOpCall call = { .op = QM_OP_ADAM };

  check_case (decoupled ? "adamw" : "adam");
  call.attributes.beta1 = beta1;
  call.attributes.beta2 = beta2;
  call.attributes.epsilon = epsilon;
  call.attributes.weight_decay = decay;
  call.attributes.decoupled = decoupled;
  call.inputs[0] = tensor1 (QM_TYPE_F32, QM_STATE_SIZE, state);
  call.outputs[0] = tensor1 (QM_TYPE_F32, 1, &g);
  call.outputs[1] = tensor1 (QM_TYPE_F32, 1, &w);
  call.outputs[2] = tensor1 (QM_TYPE_F32, 1, &m);
  call.outputs[3] = tensor1 (QM_TYPE_F32, 1, &v);
  call.outputs[4] = tensor1 (QM_TYPE_BF16, 1, &low);
  state[QM_STATE_LEARNING_RATE] = (float) rate;
  state[QM_STATE_FACTOR] = 0.5;
  for (int i = 0; i < 2; i++)
    {
      double gg = gradients[i];

      g = (float) (2 * gradients[i]);
      state[QM_STATE_UPDATES] = (float) (i + 1);
      run (bench, &call);
      if (decoupled)
        ww -= rate * decay * ww;
      else
        gg += decay * ww;
      mm = beta1 * mm + (1 - beta1) * gg;
      vv = beta2 * vv + (1 - beta2) * gg * gg;
      ww -= rate * (mm / (1 - pow (beta1, i + 1)))
            / (sqrt (vv / (1 - pow (beta2, i + 1))) + epsilon);
      CHECK_NEAR (w, ww, 1e-5);
      CHECK_NEAR (g, 0, 0);
    }
  CHECK (low != 0);
  state[QM_STATE_NOT_FINITE] = 1;
  g = NAN;
  run (bench, &call);
  CHECK_NEAR (w, ww, 1e-5);
  CHECK_NEAR (g, 0, 0);
}

static void
test_positions (const Bench *bench)
{
  int32_t ids[10] = { 5, 5, 1, 5, 1, 1, 5, 5, 5, 5 }, got[10];
  static const int32_t wanted[10] = { 2, 3, 1, 4, 1, 1, 2, 3, 4, 5 };
  QmOpCall call = { .op = QM_OP_POSITIONS };

  check_case ("positions");
  call.attributes.padding = 1;
  call.inputs[0] = tensor2 (QM_TYPE_I32, 2, 5, ids);
  call.outputs[0] = tensor2 (QM_TYPE_I32, 2, 5, got);
  run (bench, &call);
  for (int i = 0; i < 10; i++)
    CHECK_INT (got[i], wanted[i]);
  call.attributes.padding = -1;
  run (bench, &call);
  for (int i = 0; i < 10; i++)
    CHECK_INT (got[i], i % 5);
}

/* One of four is hidden, and all of none. */
/* Three tokens, two of four experts each: nobody wants the last, and of equal
 * logits the first counts. */
static void
test_route (Bench *bench)
{
  static const float logits[12] = { 0, 2, 1, -9, 3, 0, 3, -9, NAN, 1, 1, 0 };
  static const int32_t experts[6] = { 1, 2, 0, 2, 1, 2 };
  static const int32_t rows[6] = { 2, 0, 4, 1, 3, 5 };
  static const int32_t places[6] = { 1, 3, 0, 4, 2, 5 };
  static const int32_t offsets[5] = { 0, 1, 3, 6, 6 };
  float x[12], weights[6];
  int32_t got[4][6];
  QmOpCall call = { .op = QM_OP_ROUTE };

  check_case ("route");
  memcpy (x, logits, sizeof x);
  call.attributes.normalized = true;
  call.inputs[0] = tensor2 (QM_TYPE_F32, 3, 4, x);
  call.outputs[0] = tensor2 (QM_TYPE_F32, 3, 2, weights);
  call.outputs[1] = tensor2 (QM_TYPE_I32, 3, 2, got[0]);
  call.outputs[2] = qm_tensor_dense (QM_TYPE_I32, 1, (int64_t[]){ 6 }, got[1]);
  call.outputs[3] = tensor2 (QM_TYPE_I32, 3, 2, got[2]);
  call.outputs[4] = qm_tensor_dense (QM_TYPE_I32, 1, (int64_t[]){ 5 }, got[3]);
  run (bench, &call);
  for (int i = 0; i < 6; i++)
    {
      CHECK_INT (got[0][i], experts[i]);
      CHECK_INT (got[1][i], rows[i]);
      CHECK_INT (got[2][i], places[i]);
    }
  for (int i = 0; i < 5; i++)
    CHECK_INT (got[3][i], offsets[i]);
  CHECK_NEAR (weights[0], 1 / (1 + exp (-1)), 1e-6);
  CHECK_NEAR (weights[1], 1 - weights[0], 1e-6);
  CHECK_NEAR (weights[2], 0.5, 1e-6);
  CHECK (isnan (weights[4]));
  call.outputs[4] = qm_tensor_dense (QM_TYPE_I32, 1, (int64_t[]){ 4 }, got[3]);
  CHECK_INT (qm_op_check (&call, NULL), QM_STATUS_INVALID);
}

/* The loss of one layer is 1 where all experts are chosen equally often. */
static void
test_balance (Bench *bench)
{
  float load[4] = { 2, 2, 2, 2 }, state[QM_STATE_SIZE] = { 0 };
  float dload[4], loss[1] = { 0.5f };
  QmOpCall call = { .op = QM_OP_BALANCE };

  check_case ("balance");
  state[QM_STATE_LOSS_SCALE] = 8;
  call.attributes.scale = 0.1;
  call.attributes.count = 4;
  call.inputs[0] =
      qm_tensor_dense (QM_TYPE_F32, 3, (int64_t[]){ 1, 2, 2 }, load);
  call.inputs[1] =
      qm_tensor_dense (QM_TYPE_F32, 1, (int64_t[]){ QM_STATE_SIZE }, state);
  call.outputs[0] =
      qm_tensor_dense (QM_TYPE_F32, 3, (int64_t[]){ 1, 2, 2 }, dload);
  call.outputs[1] = qm_tensor_dense (QM_TYPE_F32, 1, (int64_t[]){ 1 }, loss);
  run (bench, &call);
  CHECK_NEAR (loss[0], 0.6, 1e-6);
  CHECK_NEAR (dload[0], 0, 0);
  CHECK_NEAR (dload[3], 8 * 0.1 * 2 * 0.5 / 4, 1e-6);
}

static void
test_token_dropout (const Bench *bench)
{
  int32_t ids[8] = { 5, 7, 5, 5, 1, 2, 3, 4 };
  float x[8] = { 3, 3, 6, 9, 1, 2, 3, 4 }, y[8];
  static const float wanted[8] = { 2, 0, 4, 6, 0.5f, 1, 1.5f, 2 };
  QmOpCall call = { .op = QM_OP_TOKEN_DROPOUT };

  check_case ("token dropout");
  call.attributes.padding = 7;
  call.attributes.value = 0.5;
  call.inputs[0] = tensor2 (QM_TYPE_F32, 8, 1, x);
  call.inputs[1] = tensor2 (QM_TYPE_I32, 2, 4, ids);
  call.outputs[0] = tensor2 (QM_TYPE_F32, 8, 1, y);
  run (bench, &call);
  for (int i = 0; i < 8; i++)
    CHECK_NEAR (y[i], wanted[i], 1e-6);
  for (int i = 0; i < 4; i++)
    ids[i] = 7;
  run (bench, &call);
  for (int i = 0; i < 4; i++)
    CHECK_NEAR (y[i], 0, 0);
}

static void
test_padding (const Bench *bench)
{
  int32_t ids[3] = { 1, 0, 1 };
  float dy[3][2] = { { 1, 2 }, { 4, 8 }, { 16, 32 } };
  float dw[2][2] = { { 1, 1 }, { 1, 1 } };
  QmOpCall call = { .op = QM_OP_EMBEDDING_BACKWARD };

  check_case ("padding is not learned");
  call.attributes.padding = 0;
  call.inputs[0] = tensor2 (QM_TYPE_F32, 3, 2, dy);
  call.inputs[1] = tensor2 (QM_TYPE_I32, 1, 3, ids);
  call.outputs[0] = tensor2 (QM_TYPE_F32, 2, 2, dw);
  run (bench, &call);
  CHECK_NEAR (dw[0][0], 1, 0);
  CHECK_NEAR (dw[1][0], 18, 0);
  CHECK_NEAR (dw[1][1], 35, 0);
}

/* Rows and columns of an image of 4 x 5 in patches of 2; the last column is not
 * in any. */
static void
test_patchify (const Bench *bench)
{
  float image[2][4][5], got[4][8];
  QmOpCall call = { .op = QM_OP_PATCHIFY };

  check_case ("patches");
  for (int c = 0; c < 2; c++)
    for (int y = 0; y < 4; y++)
      for (int x = 0; x < 5; x++)
        image[c][y][x] = (float) (100 * c + 10 * y + x);
  call.attributes.patch = 2;
  call.inputs[0] =
      qm_tensor_dense (QM_TYPE_F32, 4, (int64_t[]){ 1, 2, 4, 5 }, image);
  call.outputs[0] = tensor2 (QM_TYPE_F32, 4, 8, got);
  run (bench, &call);
  for (int p = 0; p < 4; p++)
    for (int e = 0; e < 8; e++)
      CHECK_NEAR (got[p][e],
                  100 * (e / 4) + 10 * (p / 2 * 2 + e / 2 % 2)
                      + (p % 2 * 2 + e % 2),
                  0);
}

/* The share that is kept, and that attention drops what dropout drops. */
static void
test_dropout (const Bench *bench)
{
  enum
  {
    S = 40
  };
  static float x[S * S], y[S * S], v[S][S], o[S][S], lse[S];
  int32_t rng[QM_RNG_SIZE] = { 1, 2, 3 };
  const int64_t square[4] = { 1, 1, S, S };
  QmOpCall call = { .op = QM_OP_DROPOUT };
  int kept = 0;

  check_case ("dropout");
  for (int i = 0; i < S * S; i++)
    x[i] = 1.0f / S;
  for (int i = 0; i < S; i++)
    v[i][i] = 1;
  call.attributes.dropout = 0.25;
  call.attributes.site = 8;
  call.attributes.tiled = true;
  call.inputs[0] = qm_tensor_dense (QM_TYPE_F32, 4, square, x);
  call.inputs[1] = tensor1 (QM_TYPE_I32, QM_RNG_SIZE, rng);
  call.outputs[0] = qm_tensor_dense (QM_TYPE_F32, 4, square, y);
  run (bench, &call);
  for (int i = 0; i < S * S; i++)
    kept += y[i] > 0;
  CHECK_NEAR (kept, 0.75 * S * S, 0.06);

  /* Equal weights on unit vectors: the output is the weights themselves. */
  call = (QmOpCall){ .op = QM_OP_ATTENTION };
  call.attributes.dropout = 0.25;
  call.attributes.site = 8;
  call.attributes.scale = 1;
  call.inputs[0] = qm_tensor_dense (QM_TYPE_F32, 4, square, o);
  call.inputs[1] = qm_tensor_dense (QM_TYPE_F32, 4, square, o);
  call.inputs[2] = qm_tensor_dense (QM_TYPE_F32, 4, square, v);
  call.inputs[3] = tensor1 (QM_TYPE_I32, QM_RNG_SIZE, rng);
  call.outputs[0] = qm_tensor_dense (QM_TYPE_F32, 4, square, x);
  call.outputs[1] =
      qm_tensor_dense (QM_TYPE_F32, 3, (int64_t[]){ 1, 1, S }, lse);
  run (bench, &call);
  for (int i = 0; i < S * S; i++)
    CHECK_NEAR (x[i], y[i], 1e-6);
  CHECK_NEAR (lse[0], log (S), 1e-6);
}

/* A sum in two types: 1 + 2^-8 rounds to even in bf16, and is exact in f32. */
static void
test_add (const Bench *bench)
{
  float a[3] = { 1, 1, -2.5f }, y[3] = { 0 };
  uint16_t b[3] = { 0x3b80, 0x3f80, 0 }, y2[3] = { 0 }; /* 2^-8, 1, 0 */
  QmOpCall call = { .op = QM_OP_ADD };

  check_case ("add");
  call.inputs[0] = tensor1 (QM_TYPE_F32, 3, a);
  call.inputs[1] = tensor1 (QM_TYPE_BF16, 3, b);
  call.outputs[0] = tensor1 (QM_TYPE_F32, 3, y);
  call.outputs[1] = tensor1 (QM_TYPE_BF16, 3, y2);
  run (bench, &call);
  CHECK_NEAR (y[0], 1.00390625, 0);
  CHECK_NEAR (y[1], 2, 0);
  CHECK_NEAR (y[2], -2.5, 0);
  CHECK_INT (y2[0], 0x3f80);
  CHECK_INT (y2[1], 0x4000);
  CHECK_INT (y2[2], 0xc020);
}

/* Bytes that have to be moved, counted by hand. */
static void
test_bytes (void)
{
  const int64_t rows[] = { 2, 3 }, packed[] = { 1, 4, 3, 2, 8 };
  static float memory[4 * 3 * 2 * 8];
  QmOpCall call = { .op = QM_OP_ADD };

  check_case ("bytes");
  call.inputs[0] = tensor2 (QM_TYPE_F16, 4, 8, NULL);
  call.inputs[1] = tensor2 (QM_TYPE_F32, 4, 8, NULL);
  call.outputs[0] = tensor2 (QM_TYPE_F32, 4, 8, NULL);
  CHECK_NEAR (qm_op_bytes (&call), 32 * (2 + 4 + 4), 1e-12);
  call.outputs[1] = tensor2 (QM_TYPE_BF16, 4, 8, NULL);
  CHECK_NEAR (qm_op_bytes (&call), 32 * (2 + 4 + 4 + 2), 1e-12);

  /* Six rows of a table of ten; of one of three, all. */
  call = (QmOpCall){ .op = QM_OP_EMBEDDING };
  call.inputs[0] = qm_tensor_dense (QM_TYPE_I32, 2, rows, NULL);
  call.inputs[1] = tensor2 (QM_TYPE_F32, 10, 8, NULL);
  call.outputs[0] = tensor2 (QM_TYPE_F32, 6, 8, NULL);
  CHECK_NEAR (qm_op_bytes (&call), 6 * 4 + 2 * 6 * 8 * 4, 1e-12);
  call.inputs[1] = tensor2 (QM_TYPE_F32, 3, 8, NULL);
  CHECK_NEAR (qm_op_bytes (&call), 6 * 4 + (3 + 6) * 8 * 4, 1e-12);

  /* What is added to is read and written. */
  call = (QmOpCall){ .op = QM_OP_COLUMN_SUM };
  call.inputs[0] = tensor2 (QM_TYPE_F16, 16, 8, NULL);
  call.outputs[0] = tensor1 (QM_TYPE_F32, 8, NULL);
  CHECK_NEAR (qm_op_bytes (&call), 16 * 8 * 2 + 2 * 8 * 4, 1e-12);

  /* In place, of what a branch is added to, the samples that it had alone; of
   * the gradient the same. */
  call = (QmOpCall){ .op = QM_OP_LAYER_SCALE };
  call.inputs[0] = tensor2 (QM_TYPE_F16, 4, 8, NULL);
  call.inputs[2] = tensor2 (QM_TYPE_F32, 6, 8, memory);
  call.inputs[4] = tensor2 (QM_TYPE_I32, 1, 3, NULL);
  call.inputs[5] = tensor2 (QM_TYPE_I32, 1, 2, NULL);
  call.outputs[0] = call.inputs[2];
  CHECK_NEAR (qm_op_bytes (&call), 32 * (2 + 4 + 4) + 5 * 4, 1e-12);
  call.outputs[0].data = NULL;
  CHECK_NEAR (qm_op_bytes (&call), 32 * 2 + 48 * (4 + 4) + 5 * 4, 1e-12);
  call.op = QM_OP_LAYER_SCALE_BACKWARD;
  call.inputs[1] = call.inputs[0];
  call.inputs[0] = call.inputs[2];
  call.inputs[2] = (QmTensor){ 0 };
  call.outputs[0] = call.inputs[1];
  CHECK_NEAR (qm_op_bytes (&call), 32 * (4 + 2 + 2) + 5 * 4, 1e-12);

  /* In place, a quarter of query and key. */
  call = (QmOpCall){ .op = QM_OP_ROTARY };
  call.attributes.rotary = 2;
  call.attributes.count = 2;
  call.inputs[0] = qm_tensor_dense (QM_TYPE_F32, 5, packed, memory);
  call.inputs[1] = tensor2 (QM_TYPE_F32, 4, 2, NULL);
  call.outputs[0] = call.inputs[0];
  CHECK_NEAR (qm_op_bytes (&call), 4 * 2 * 4 + 2 * (4 * 2 * 2 * 2) * 4, 1e-12);
  call.outputs[0].data = NULL;
  CHECK_NEAR (qm_op_bytes (&call), 4 * 2 * 4 + 2 * sizeof memory, 1e-12);
}

/* Two sequences of two tokens; of two heads of three the first turns, without
 * its last element. */
static void
test_rotary_linear (const Bench *bench)
{
  float x[4] = { 1, 2, 3, 4 }, w[6] = { 1, 2, 3, 4, 5, 6 };
  float bias[6] = { 0, 0, 0, 0, 0, 0.5f }, table[2][2] = { { 0, 1 }, { 2, 3 } };
  float y[4][6];
  QmOpCall call = { .op = QM_OP_ROTARY_LINEAR };

  check_case ("a product that turns");
  call.attributes =
      (QmAttributes){ .rotary = 2, .width = 3, .chunk = 2, .count = 1 };
  call.inputs[0] = tensor2 (QM_TYPE_F32, 4, 1, x);
  call.inputs[1] = tensor2 (QM_TYPE_F32, 6, 1, w);
  call.inputs[2] = tensor1 (QM_TYPE_F32, 6, bias);
  call.inputs[3] = tensor2 (QM_TYPE_F32, 2, 2, table);
  call.outputs[0] = tensor2 (QM_TYPE_F32, 4, 6, y);
  run (bench, &call);
  for (int r = 0; r < 4; r++)
    {
      CHECK_NEAR (y[r][0], (r % 2 == 0 ? -2 : 2 - 3 * 2) * x[r], 0);
      CHECK_NEAR (y[r][1], (r % 2 == 0 ? 1 : 2 * 2 + 3) * x[r], 0);
      CHECK_NEAR (y[r][2], 3 * x[r], 0);
      CHECK_NEAR (y[r][3], 4 * x[r], 0);
      CHECK_NEAR (y[r][5], 6 * x[r] + 0.5, 0);
    }
  CHECK_NEAR (qm_op_flops (&call), 2 * 4 * 6, 0);
  call.attributes.count = 3;
  CHECK_INT (qm_op_check (&call, NULL), QM_STATUS_INVALID);
  call.attributes.chunk = 4;
  CHECK_INT (qm_op_check (&call, NULL), QM_STATUS_INVALID);
  call.attributes.chunk = call.attributes.count = INT64_MAX / 3 + 1;
  CHECK_INT (qm_op_check (&call, NULL), QM_STATUS_INVALID);
  call.attributes.chunk = call.attributes.count = 2;
  CHECK_INT (qm_op_check (&call, NULL), QM_OK);
  call.attributes.width = 1;
  CHECK_INT (qm_op_check (&call, NULL), QM_STATUS_INVALID);
  call.attributes.width = 3;
  call.inputs[0].shape[0] = call.outputs[0].shape[0] = 3;
  CHECK_INT (qm_op_check (&call, NULL), QM_STATUS_INVALID);
}

int
main (void)
{
  Bench bench = { NULL };

  CHECK_INT (qm_device_open ("cpu", 0, &bench.device, NULL), QM_OK);
  CHECK_INT (qm_stream_create (bench.device, &bench.stream, NULL), QM_OK);
  test_cross_entropy (&bench);
  test_shift (&bench);
  test_some_rows (&bench);
  test_cap (&bench);
  test_update_state (&bench);
  test_adam (&bench, false);
  test_adam (&bench, true);
  test_positions (&bench);
  test_route (&bench);
  test_balance (&bench);
  test_token_dropout (&bench);
  test_padding (&bench);
  test_patchify (&bench);
  test_dropout (&bench);
  test_add (&bench);
  test_rotary_linear (&bench);
  test_bytes ();
  qm_stream_free (bench.device, bench.stream);
  qm_device_close (bench.device);
  return check_report ();
}
