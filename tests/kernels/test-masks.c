/* SPDX-License-Identifier: Apache-2.0 */

/* Patches that are hidden, on the CPU, against what the table of operators
 * says. */

#include "kernels/operators.h"
#include "kernels/random.h"
#include "tests/data/check.h"
#include "tests/kernels/operator-bench.h"

#include <math.h>
#include <string.h>

/* The least stay, of equal ones the first, and in their order. */
static void
test_noise (const Bench *bench)
{
  float noise[2][5] = { { 0.5f, 0.125f, 0.5f, 0.75f, 0.25f },
                        { 0.25f, -1, 0, -0.5f, 1 } };
  int32_t rng[QM_RNG_SIZE] = { 1, 2, 3 };
  int32_t kept[2][3], places[2][5];
  const int32_t wanted_kept[2][3] = { { 0, 1, 4 }, { 1, 2, 3 } };
  const int32_t wanted[2][5] = { { 0, 1, -1, -1, 2 }, { -1, 0, 1, 2, -1 } };
  QmOpCall call = { .op = QM_OP_MASK_PATCHES };

  check_case ("noise");
  call.inputs[0] = tensor2 (QM_TYPE_F32, 2, 5, noise);
  call.outputs[0] = tensor2 (QM_TYPE_I32, 2, 3, kept);
  call.outputs[1] = tensor2 (QM_TYPE_I32, 2, 5, places);
  run (bench, &call);
  CHECK (memcmp (kept, wanted_kept, sizeof kept) == 0);
  CHECK (memcmp (places, wanted, sizeof places) == 0);
  call.inputs[1] = tensor1 (QM_TYPE_I32, QM_RNG_SIZE, rng);
  refused (bench, &call);
  call.inputs[0] = call.inputs[1] = (QmTensor){ 0 };
  refused (bench, &call);
}

enum
{
  SAMPLES = 600,
  PATCHES = 7,
  KEPT = 3
};

static void
draw (const Bench *bench, int32_t pass, int64_t batch, int32_t *places)
{
  static int32_t kept[SAMPLES * KEPT];
  int32_t rng[QM_RNG_SIZE] = { 5, 6, pass };
  QmOpCall call = { .op = QM_OP_MASK_PATCHES, .attributes.site = 9 };

  call.inputs[1] = tensor1 (QM_TYPE_I32, QM_RNG_SIZE, rng);
  call.outputs[0] = tensor2 (QM_TYPE_I32, batch, KEPT, kept);
  call.outputs[1] = tensor2 (QM_TYPE_I32, batch, PATCHES, places);
  run (bench, &call);
}

/* What is drawn of a sample is the same in passes of many and of few, and every
 * patch is kept as often as the others. */
static void
test_drawn (const Bench *bench)
{
  static int32_t all[SAMPLES][PATCHES], few[SAMPLES][PATCHES];
  int counts[PATCHES] = { 0 }, same = 0;
  double expected = SAMPLES * (double) KEPT / PATCHES;

  check_case ("drawn");
  draw (bench, 0, SAMPLES, &all[0][0]);
  for (int32_t pass = 0; pass < SAMPLES / 5; pass++)
    draw (bench, pass, 5, &few[pass * 5][0]);
  CHECK (memcmp (all, few, sizeof all) == 0);
  for (int b = 0; b < SAMPLES; b++)
    {
      int kept = 0;

      for (int n = 0; n < PATCHES; n++)
        if (all[b][n] >= 0)
          {
            CHECK_INT (all[b][n], kept++);
            counts[n]++;
          }
      CHECK_INT (kept, KEPT);
      same += b > 0 && memcmp (all[b], all[b - 1], sizeof all[b]) == 0;
    }
  /* One in 35 is like the one before. */
  CHECK (same < SAMPLES / 10);
  for (int n = 0; n < PATCHES; n++)
    CHECK (fabs (counts[n] - expected) < 4 * sqrt (expected));
  draw (bench, 1, SAMPLES, &few[0][0]);
  CHECK (memcmp (all, few, sizeof all) != 0);
}

/* Patches 1 and 2 of the first image and 0 and 3 of the second, and their
 * positions under a class token. */
static void
test_kept (const Bench *bench)
{
  float images[2][4][4], patches[4][4], y[6][4];
  float position[5][4], token[4] = { 1000, 1000, 1000, 1000 };
  int32_t kept[2][2] = { { 1, 2 }, { 0, 3 } };
  QmOpCall call = { .op = QM_OP_PATCHIFY, .attributes.patch = 2 };

  check_case ("kept patches");
  for (int i = 0; i < 32; i++)
    (&images[0][0][0])[i] = (float) i;
  for (int s = 0; s < 5; s++)
    for (int j = 0; j < 4; j++)
      position[s][j] = (float) (100 * s);
  call.inputs[0] =
      qm_tensor_dense (QM_TYPE_F32, 4, (int64_t[]){ 2, 1, 4, 4 }, images);
  call.inputs[1] = tensor2 (QM_TYPE_I32, 2, 2, kept);
  call.outputs[0] = tensor2 (QM_TYPE_F32, 4, 4, patches);
  run (bench, &call);
  for (int t = 0; t < 4; t++)
    for (int e = 0; e < 4; e++)
      CHECK_NEAR (patches[t][e],
                  images[t / 2][kept[t / 2][t % 2] / 2 * 2 + e / 2]
                        [kept[t / 2][t % 2] % 2 * 2 + e % 2],
                  0);
  call.outputs[0].shape[0] = 8;
  refused (bench, &call);
  call = (QmOpCall){ .op = QM_OP_CLASS_TOKEN };
  call.inputs[0] = tensor2 (QM_TYPE_F32, 4, 4, patches);
  call.inputs[1] = tensor1 (QM_TYPE_F32, 4, token);
  call.inputs[2] = tensor2 (QM_TYPE_F32, 5, 4, position);
  call.inputs[4] = tensor2 (QM_TYPE_I32, 2, 2, kept);
  call.outputs[0] = tensor2 (QM_TYPE_F32, 6, 4, y);
  run (bench, &call);
  for (int b = 0; b < 2; b++)
    {
      CHECK_NEAR (y[3 * b][0], 1000, 0);
      for (int s = 0; s < 2; s++)
        CHECK_NEAR (y[3 * b + 1 + s][3],
                    patches[2 * b + s][3] + (float) (100 + 100 * kept[b][s]),
                    0);
    }
  /* Fewer positions than there are patches. */
  call.inputs[2].shape[0] = 2;
  refused (bench, &call);
}

static void
test_restore (const Bench *bench)
{
  float x[4][1] = { { 1 }, { 2 }, { 3 }, { 4 } }, token[1] = { 50 };
  float position[4][1] = { { 100 }, { 200 }, { 300 }, { 400 } };
  float y[8][1], dx[4][1], dtoken = 7;
  int32_t places[2][3] = { { -1, 0, -1 }, { 0, -1, -1 } };
  const float wanted[8] = { 101, 250, 302, 450, 103, 204, 350, 450 };
  QmOpCall call = { .op = QM_OP_RESTORE_TOKENS };

  check_case ("restored tokens");
  call.inputs[0] = tensor2 (QM_TYPE_F32, 4, 1, x);
  call.inputs[1] = tensor1 (QM_TYPE_F32, 1, token);
  call.inputs[2] = tensor2 (QM_TYPE_I32, 2, 3, places);
  call.inputs[3] = tensor2 (QM_TYPE_F32, 4, 1, position);
  call.outputs[0] = tensor2 (QM_TYPE_F32, 8, 1, y);
  run (bench, &call);
  for (int i = 0; i < 8; i++)
    CHECK_NEAR (y[i][0], wanted[i], 0);
  call.inputs[3] = (QmTensor){ 0 };
  run (bench, &call);
  CHECK_NEAR (y[6][0], 50, 0);
  call = (QmOpCall){ .op = QM_OP_RESTORE_TOKENS_BACKWARD };
  call.inputs[0] = tensor2 (QM_TYPE_F32, 8, 1, y);
  call.inputs[1] = tensor2 (QM_TYPE_I32, 2, 3, places);
  call.outputs[0] = tensor2 (QM_TYPE_F32, 4, 1, dx);
  call.outputs[1] = tensor1 (QM_TYPE_F32, 1, &dtoken);
  run (bench, &call);
  for (int i = 0; i < 4; i++)
    CHECK_NEAR (dx[i][0], x[i][0], 0);
  CHECK_NEAR (dtoken, 7 + 4 * 50, 0);
  call.outputs[0] = tensor2 (QM_TYPE_F32, 2, 1, dx);
  refused (bench, &call);
}

/* Of one image of 2 x 2 patches of 2 x 2 pixels of two channels, of which the
 * second and the last are hidden. */
static void
test_pixels (const Bench *bench, bool normalized)
{
  float image[2][4][4], x[5][8], dx[5][8], losses[5];
  float state[QM_STATE_SIZE] = { [QM_STATE_LOSS_SCALE] = 4 };
  int32_t places[1][4] = { { 0, -1, 1, -1 } };
  QmOpCall call = { .op = QM_OP_PIXEL_LOSS,
                    .attributes = { .patch = 2,
                                    .count = 2,
                                    .scale = 0.5,
                                    .epsilon = 0.25,
                                    .normalized = normalized } };

  check_case (normalized ? "normalized pixels" : "pixels");
  for (int i = 0; i < 32; i++)
    (&image[0][0][0])[i] = (float) (i * i % 13);
  for (int i = 0; i < 40; i++)
    (&x[0][0])[i] = (float) (i % 7) - 3;
  call.inputs[0] = tensor2 (QM_TYPE_F32, 5, 8, x);
  call.inputs[1] =
      qm_tensor_dense (QM_TYPE_F32, 4, (int64_t[]){ 1, 2, 4, 4 }, image);
  call.inputs[2] = tensor2 (QM_TYPE_I32, 1, 4, places);
  call.inputs[3] = tensor1 (QM_TYPE_F32, QM_STATE_SIZE, state);
  call.outputs[0] = tensor2 (QM_TYPE_F32, 5, 8, dx);
  call.outputs[1] = tensor1 (QM_TYPE_F32, 5, losses);
  run (bench, &call);
  for (int s = 0; s < 5; s++)
    {
      double target[8], mean = 0, variance = 0, loss = 0;
      bool hidden = s == 2 || s == 4;

      for (int e = 0; e < 8 && s > 0; e++)
        {
          target[e] = image[e % 2][(s - 1) / 2 * 2 + e / 4]
                           [(s - 1) % 2 * 2 + e / 2 % 2];
          mean += target[e] / 8;
        }
      for (int e = 0; e < 8 && s > 0; e++)
        variance += (target[e] - mean) * (target[e] - mean) / 7;
      for (int e = 0; e < 8; e++)
        {
          double wrong = 0;

          if (hidden && normalized)
            wrong = x[s][e] - (target[e] - mean) / sqrt (variance + 0.25);
          else if (hidden)
            wrong = x[s][e] - target[e];
          loss += wrong * wrong;
          CHECK_NEAR (dx[s][e] + 10, 4 * 0.5 / 2 * 2 * wrong / 8 + 10, 1e-6);
        }
      CHECK_NEAR (losses[s] + 1, 0.5 / 2 * loss / 8 + 1, 1e-6);
    }
  call.attributes.count = 0;
  refused (bench, &call);
  call.attributes.count = 2;
  call.attributes.patch = 1;
  refused (bench, &call);
}

int
main (void)
{
  Bench bench = { NULL };

  CHECK_INT (qm_device_open ("cpu", 0, &bench.device, NULL), QM_OK);
  CHECK_INT (qm_stream_create (bench.device, &bench.stream, NULL), QM_OK);
  test_noise (&bench);
  test_drawn (&bench);
  test_kept (&bench);
  test_restore (&bench);
  test_pixels (&bench, false);
  test_pixels (&bench, true);
  qm_stream_free (bench.device, bench.stream);
  qm_device_close (bench.device);
  return check_report ();
}
