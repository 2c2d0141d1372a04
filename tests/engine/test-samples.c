/* SPDX-License-Identifier: Apache-2.0 */

/* What a model is shown while it trains: masked tokens, images out of a file,
 * and the learning rate of each step. */

#include "engine/samples.h"
#include "engine/train.h"
#include "tests/data/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LENGTH  64
#define VOCAB   1000
#define SAMPLES 2000

/* What became of the positions that were chosen. */
typedef struct Counts
{
  int64_t chosen, masked, other, same;
} Counts;

static void
mask_sample (const QmSamples *samples, int64_t number, Counts *counts)
{
  int32_t ids[LENGTH], labels[LENGTH], again[LENGTH], same[LENGTH];
  int64_t chosen = 0;

  for (int i = 0; i < LENGTH; i++)
    ids[i] = again[i] = i * 7 % VOCAB;
  CHECK_INT (qm_samples_mask (samples, number, LENGTH, VOCAB, ids, labels,
                              NULL),
             QM_OK);
  CHECK_INT (qm_samples_mask (samples, number, LENGTH, VOCAB, again, same,
                              NULL),
             QM_OK);
  CHECK (memcmp (ids, again, sizeof ids) == 0);
  CHECK (memcmp (labels, same, sizeof labels) == 0);
  for (int i = 0; i < LENGTH; i++)
    {
      CHECK (ids[i] >= 0 && ids[i] < VOCAB);
      if (labels[i] == QM_IGNORE_LABEL)
        {
          CHECK_INT (ids[i], i * 7 % VOCAB);
          continue;
        }
      CHECK_INT (labels[i], i * 7 % VOCAB);
      chosen++;
      if (ids[i] == samples->mask_token)
        counts->masked++;
      else if (ids[i] == labels[i])
        counts->same++;
      else
        counts->other++;
    }
  /* 15 % of 64, rounded. */
  CHECK_INT (chosen, 10);
  counts->chosen += chosen;
}

static void
test_masks (void)
{
  QmSamples samples = { .mask_token = VOCAB - 1, .seed = 5 };
  Counts counts = { 0 };
  int32_t id = 3, label;

  check_case ("masks");
  for (int64_t i = 0; i < SAMPLES; i++)
    mask_sample (&samples, (INT64_C (1) << 33) + i, &counts);
  CHECK_NEAR ((double) counts.masked / (double) counts.chosen, 0.8, 0.02);
  CHECK_NEAR ((double) counts.other / (double) counts.chosen, 0.1, 0.05);
  CHECK_NEAR ((double) counts.same / (double) counts.chosen, 0.1, 0.05);
  CHECK_INT (qm_samples_mask (&samples, 0, 1, VOCAB, &id, &label, NULL), QM_OK);
  CHECK_INT (label, 3);
}

/* Samples, seeds and the halves of large numbers all matter. */
static void
test_masks_differ (void)
{
  const struct
  {
    uint64_t seed;
    int64_t sample;
  } cases[] = { { 1, 0 },
                { 2, 0 },
                { 1, 1 },
                { 1, INT64_C (1) << 32 },
                { UINT64_C (1) << 32 | 1, 0 } };
  int32_t labels[5][LENGTH];

  check_case ("masks differ");
  for (int i = 0; i < 5; i++)
    {
      QmSamples samples = { .seed = cases[i].seed };
      int32_t ids[LENGTH] = { 0 };

      CHECK_INT (qm_samples_mask (&samples, cases[i].sample, LENGTH, VOCAB, ids,
                                  labels[i], NULL),
                 QM_OK);
      for (int j = 0; j < i; j++)
        CHECK (memcmp (labels[i], labels[j], sizeof labels[i]) != 0);
    }
}

static void
test_schedules (void)
{
  QmSchedule schedule = QM_SCHEDULE_CONSTANT;

  check_case ("schedules");
  CHECK (qm_schedule_parse ("cosine", &schedule));
  CHECK_INT (schedule, QM_SCHEDULE_COSINE);
  CHECK (!qm_schedule_parse ("cos", &schedule));
  for (int i = 0; i < 3; i++)
    {
      CHECK_NEAR (qm_schedule_rate ((QmSchedule) i, 2, 4, 20, 0), 0, 0);
      CHECK_NEAR (qm_schedule_rate ((QmSchedule) i, 2, 4, 20, 3), 1.5, 1e-12);
      CHECK_NEAR (qm_schedule_rate ((QmSchedule) i, 2, 4, 20, 4), 2, 1e-12);
      CHECK_NEAR (qm_schedule_rate ((QmSchedule) i, 2, 0, 20, 0), 2, 1e-12);
    }
  CHECK_NEAR (qm_schedule_rate (QM_SCHEDULE_CONSTANT, 2, 4, 20, 19), 2, 0);
  CHECK_NEAR (qm_schedule_rate (QM_SCHEDULE_LINEAR, 2, 4, 20, 8), 1.5, 1e-12);
  CHECK_NEAR (qm_schedule_rate (QM_SCHEDULE_LINEAR, 2, 4, 20, 20), 0, 1e-12);
  CHECK_NEAR (qm_schedule_rate (QM_SCHEDULE_COSINE, 2, 4, 20, 12), 1, 1e-12);
  CHECK_NEAR (qm_schedule_rate (QM_SCHEDULE_COSINE, 2, 4, 20, 8),
              1 + sqrt (0.5), 1e-12);
  CHECK_NEAR (qm_schedule_rate (QM_SCHEDULE_LINEAR, 2, 9, 9, 9), 0, 0);
}

/* Tokens are read as they are, and none is beyond the vocabulary. */
static void
test_tokens (void)
{
  static const char bytes[] = { 0, 9, 1, 1, 9 };
  const char *path = scratch_path ("tokens");
  QmSamples samples;
  QmError error = { 0 };

  check_case ("tokens");
  scratch_write ("tokens", bytes, sizeof bytes);
  CHECK_INT (qm_samples_read_tokens (path, false, 10, 5, &samples, &error),
             QM_OK);
  CHECK_INT ((int64_t) samples.n, 5);
  CHECK (samples.ids[0] == 0 && samples.ids[1] == 9 && samples.ids[4] == 9);
  qm_samples_clear (&samples);
  CHECK_INT (qm_samples_read_tokens (path, false, 9, 5, &samples, &error),
             QM_STATUS_INVALID);
  CHECK_CONTAINS (error.message, "token 1 is 9, and the vocabulary has 9");
  CHECK (samples.ids == NULL);
  CHECK_INT (qm_samples_read_tokens (path, false, 10, 6, &samples, &error),
             QM_STATUS_INVALID);
  CHECK_CONTAINS (error.message, "has 5 tokens; a sample needs 6");

  /* Low byte first; half a token at the end is none. */
  CHECK_INT (qm_samples_read_tokens (path, true, 2305, 2, &samples, &error),
             QM_OK);
  CHECK_INT ((int64_t) samples.n, 2);
  CHECK_INT (samples.ids[0], 9 << 8);
  CHECK_INT (samples.ids[1], 1 << 8 | 1);
  qm_samples_clear (&samples);
  CHECK_INT (qm_samples_read_tokens (path, true, 2304, 2, &samples, &error),
             QM_STATUS_INVALID);
  CHECK_INT (qm_samples_read_tokens (scratch_path ("absent"), true, 2305, 2,
                                     &samples, &error),
             QM_STATUS_IO);
  CHECK (samples.ids == NULL);
}

#define SIDE    2
#define IMAGES  3
#define CLASSES 4

/* Pixel p of image i is 100 i + p. */
static void
write_images (uint8_t label)
{
  float pixels[IMAGES * SIDE * SIDE];
  uint8_t labels[IMAGES] = { 0, 2, label };
  char file[512] = { 0 };
  uint64_t length;

  for (int i = 0; i < IMAGES * SIDE * SIDE; i++)
    pixels[i] = (float) (i / (SIDE * SIDE) * 100 + i % (SIDE * SIDE));
  length = (uint64_t) snprintf (
      file + 8, sizeof file - 8,
      "{\"pixel_values\":{\"dtype\":\"F32\",\"shape\":[3,1,2,2],"
      "\"data_offsets\":[0,48]},\"labels\":{\"dtype\":\"U8\",\"shape\":[3],"
      "\"data_offsets\":[48,51]}}");
  memcpy (file, &length, 8);
  memcpy (file + 8 + length, pixels, sizeof pixels);
  memcpy (file + 8 + length + sizeof pixels, labels, sizeof labels);
  scratch_write ("images.safetensors", file,
                 8 + length + sizeof pixels + sizeof labels);
}

static QmPlan *
plan_images (int64_t side)
{
  QmModelConfig config = { .family = QM_FAMILY_VIT,
                           .vit = { .hidden_size = 8,
                                    .layers = 1,
                                    .heads = 2,
                                    .intermediate_size = 8,
                                    .image_size = side,
                                    .patch_size = 2,
                                    .channels = 1,
                                    .classes = CLASSES,
                                    .layer_norm_eps = 1e-12,
                                    .initializer_range = 0.02,
                                    .qkv_bias = true } };
  QmRecipe recipe = { .batch_size = 2,
                      .steps = 1,
                      .image_size = side,
                      .beta1 = 0.9,
                      .beta2 = 0.99,
                      .epsilon = 1e-8,
                      .dropout = NAN };
  QmPlanOptions options = { .micro_batch = 2 };
  QmPlan *plan = NULL;
  QmError error = { 0 };

  CHECK_INT (qm_plan_new (&config, &recipe, &options, &plan, &error), QM_OK);
  CHECK_STRING (error.message, "");
  return plan;
}

static void
test_images (void)
{
  const char *path = scratch_path ("images.safetensors");
  QmPlan *plan = plan_images (SIDE), *larger = plan_images (2 * SIDE);
  QmDevice *device = NULL;
  QmExecutor *executor = NULL;
  QmSamples samples = { NULL };
  float pixels[2 * SIDE * SIDE] = { 0 };

  check_case ("images");
  write_images (3);
  CHECK_INT (qm_device_open ("cpu", 0, &device, NULL), QM_OK);
  if (plan != NULL && larger != NULL && device != NULL)
    {
      CHECK_INT (qm_executor_new (plan, device, NULL, 0, &executor, NULL),
                 QM_OK);
      CHECK_INT (qm_samples_open_images (path, larger, &samples, NULL),
                 QM_STATUS_INVALID);
      CHECK_INT (qm_samples_open_images (path, plan, &samples, NULL), QM_OK);
      CHECK_INT (samples.n, IMAGES);
      /* The last image and, around the end, the first. */
      CHECK_INT (qm_samples_load (&samples, plan, executor, 5, NULL), QM_OK);
      CHECK_INT (qm_executor_read_floats (executor, plan->graph->pixels, pixels,
                                          NULL),
                 QM_OK);
      for (int i = 0; i < 2 * SIDE * SIDE; i++)
        CHECK_NEAR (pixels[i], i < SIDE * SIDE ? 200 + i : i - SIDE * SIDE, 0);
      qm_samples_clear (&samples);
      write_images (CLASSES);
      CHECK_INT (qm_samples_open_images (path, plan, &samples, NULL),
                 QM_STATUS_INVALID);
    }
  qm_executor_free (executor);
  qm_device_close (device);
  qm_plan_free (plan);
  qm_plan_free (larger);
}

int
main (void)
{
  scratch_begin ();
  test_masks ();
  test_masks_differ ();
  test_schedules ();
  test_tokens ();
  test_images ();
  scratch_end ();
  return check_report ();
}
