/* SPDX-License-Identifier: Apache-2.0 */

/* Offloading: training gives what it gives without, for every family, way of
 * offloading and precision, with several buckets and parts of them.
 * usage: test-offload FOLDER [DEVICE [MODEL]...] */

#include "engine/executor.h"
#include "tests/data/check.h"
#include "tests/engine/all-models.h"
#include "tests/engine/golden-config.h"
#include "tests/engine/vary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 3
#define RATE  0.01

/* So low that no gradient overflows in fp16. */
#define SCALE 256

/* Few enough elements that units, slots and parts are used several times. */
#define BUCKET 700

static void
change_config (QmModelConfig *config)
{
  if (config->family != QM_FAMILY_MAMBA)
    vary_whole (config, "layers", 3);
  if (config->family == QM_FAMILY_GPT_NEOX)
    config->gpt_neox.hidden_dropout = 0.1;
}

/* Whether two passes draw other random numbers. */
static bool
config_drops (const QmModelConfig *config)
{
  return vary_get_number (config, "hidden_dropout") > 0
         || vary_get_number (config, "attention_dropout") > 0
         || vary_get_number (config, "drop_path_rate") > 0
         || vary_get_number (config, "rescale") > 0
         || vary_get_number (config, "mask_ratio") > 0
         || config->family == QM_FAMILY_DIT;
}

static int64_t
image_size (const QmModelConfig *config)
{
  return vary_image_size (config);
}

/* One training, and what it left. */
typedef struct Training
{
  QmPlan *plan;
  QmExecutor *executor;
  float losses[STEPS], norms[STEPS - 1];
} Training;

typedef struct Setting
{
  const char *model;
  const QmModelConfig *config;
  QmPrecision precision;
  QmPlanOptions options;
  int passes; /* in a step */
} Setting;

static bool
begin (Training *training, QmDevice *device, const Setting *setting)
{
  int64_t side = image_size (setting->config);
  QmRecipe recipe = { .batch_size = 2 * setting->passes,
                      .steps = STEPS,
                      .sequence_length = side > 0 ? 0 : 16,
                      .image_size = side,
                      .precision = setting->precision,
                      .optimizer = QM_OPTIMIZER_ADAMW,
                      .learning_rate = RATE,
                      .beta1 = 0.9,
                      .beta2 = 0.95,
                      .epsilon = 1e-8,
                      .weight_decay = 0.1,
                      .max_grad_norm = 1 };
  QmError error = { 0 };

  *training = (Training){ NULL };
  CHECK_INT (qm_plan_new (setting->config, &recipe, &setting->options,
                          &training->plan, &error),
             QM_OK);
  if (training->plan != NULL)
    CHECK_INT (qm_executor_new (training->plan, device, NULL, 7,
                                &training->executor, &error),
               QM_OK);
  CHECK_STRING (error.message, "");
  return training->executor != NULL;
}

static void
end (Training *training)
{
  qm_executor_free (training->executor);
  qm_plan_free (training->plan);
}

static void
train (Training *training, int passes)
{
  QmExecutor *executor = training->executor;
  QmError error = { 0 };

  CHECK_INT (qm_executor_initialise (executor, &error), QM_OK);
  CHECK_INT (qm_executor_random_batch (executor, &error), QM_OK);
  if (training->plan->type == QM_TYPE_F16)
    CHECK_INT (qm_executor_write_state (executor, QM_STATE_LOSS_SCALE, SCALE,
                                        &error),
               QM_OK);
  for (int step = 0; step < STEPS; step++)
    {
      for (int i = 0; i < passes; i++)
        CHECK_INT (qm_executor_pass (executor, true, &error), QM_OK);
      if (step + 1 == STEPS)
        {
          CHECK_INT (qm_executor_read_floats (executor,
                                              training->plan->graph->loss,
                                              &training->losses[step], &error),
                     QM_OK);
          break;
        }
      CHECK_INT (qm_executor_update (executor, &error), QM_OK);
      CHECK_INT (qm_executor_read_state (executor, QM_STATE_LOSS,
                                         &training->losses[step], &error),
                 QM_OK);
      CHECK_INT (qm_executor_read_state (executor, QM_STATE_NORM,
                                         &training->norms[step], &error),
                 QM_OK);
    }
  CHECK_STRING (error.message, "");
}

typedef struct Difference
{
  double most, largest; /* of all differences, and of all numbers */
} Difference;

static void
differ (const Training *a,
        QmValueId x,
        const Training *b,
        QmValueId y,
        Difference *difference)
{
  size_t n = (size_t) qm_tensor_elements (qm_graph_tensor (a->plan->graph, x));
  float *one = malloc (n * sizeof *one), *other = malloc (n * sizeof *other);

  CHECK_INT (qm_executor_read_floats (a->executor, x, one, NULL), QM_OK);
  CHECK_INT (qm_executor_read_floats (b->executor, y, other, NULL), QM_OK);
  for (size_t i = 0; i < n; i++)
    {
      difference->largest = fmax (difference->largest, fabs (one[i]));
      difference->most =
          fmax (difference->most, fabs ((double) one[i] - other[i]));
      if (isnan (one[i]) || isnan (other[i]))
        difference->most = INFINITY;
    }
  free (one);
  free (other);
}

typedef struct Tolerance
{
  double losses, weights, gradients;
} Tolerance;

static void
compare (const Training *plain,
         const Training *saving,
         const Tolerance *tolerance)
{
  const QmGraph *a = plain->plan->graph, *b = saving->plan->graph;
  Difference weights = { 0 }, gradients = { 0 };

  for (int i = 0; i < STEPS; i++)
    CHECK_NEAR (saving->losses[i], plain->losses[i],
                tolerance->losses * fabs (plain->losses[i]));
  for (int i = 0; i + 1 < STEPS; i++)
    CHECK_NEAR (saving->norms[i], plain->norms[i],
                tolerance->losses * fabs (plain->norms[i]));
  CHECK (plain->losses[0] != plain->losses[STEPS - 1]);
  for (size_t i = 0; i < a->n_parameters; i++)
    {
      differ (plain, a->parameters[i].value, saving, b->parameters[i].value,
              &weights);
      differ (plain, a->parameters[i].gradient, saving,
              b->parameters[i].gradient, &gradients);
    }
  CHECK (gradients.largest > 0);
  CHECK (weights.most <= tolerance->weights);
  CHECK (gradients.most <= tolerance->gradients * gradients.largest);
}

static bool
run (QmDevice *device,
     Setting *setting,
     QmSharding sharding,
     Training *training)
{
  static char name[160];

  setting->options.sharding = sharding;
  setting->options.offload = sharding != QM_SHARDING_NONE;
  snprintf (name, sizeof name, "%s, %s, methods %u%s, %s, %d passes",
            setting->model, qm_precision_name (setting->precision),
            setting->options.methods,
            setting->options.checkpoint ? ", checkpointing" : "",
            qm_sharding_name (sharding), setting->passes);
  check_case (name);
  if (!begin (training, device, setting))
    return false;
  train (training, setting->passes);
  return true;
}

/* ZeRO 1 adds gradients up on the device, as without offloading.  Those that
 * leave with every pass are added up in fp32 in another order of roundings, and
 * those of 16 bits are rounded before; with one pass of fp32 nothing differs.
 * All four that do so do the same. */
static void
test_setting (QmDevice *device, Setting *setting)
{
  /* Adam makes a whole step of a gradient that is nothing but rounding. */
  const double steps = 2 * STEPS * RATE;
  static const Tolerance exact = { 0, 0, 0 };
  const Tolerance sums = { 1e-4, steps, 1e-3 };
  Tolerance rounded = { 0.02, steps, 0.1 };
  /* Of a GPU, square roots and quotients may be others than of the host. */
  bool cpu = qm_device_info (device)->target.kind == QM_DEVICE_CPU;
  Training plain, saving, other;

  if (run (device, setting, QM_SHARDING_NONE, &plain)
      && run (device, setting, QM_SHARDING_ZERO_1, &other))
    compare (&plain, &other,
             cpu                                       ? &exact
             : setting->precision == QM_PRECISION_FP32 ? &sums
                                                       : &rounded);
  end (&other);
  /* CLIP multiplies its features by 14 before it compares them, and gradients
   * of the few pairs here are small: steps of nothing but rounding show. */
  if (plain.plan && plain.plan->config.family == QM_FAMILY_CLIP)
    rounded.gradients = 0.5;
  if (run (device, setting, QM_SHARDING_ZERO_2, &saving))
    {
      compare (&plain, &saving,
               setting->precision != QM_PRECISION_FP32 ? &rounded
               : setting->passes > 1 || !cpu           ? &sums
                                                       : &exact);
      for (int i = QM_SHARDING_ZERO_3; i < QM_N_SHARDINGS; i++)
        {
          if (run (device, setting, (QmSharding) i, &other))
            compare (&saving, &other, &exact);
          end (&other);
        }
    }
  end (&saving);
  end (&plain);
}

/* An update that is left out, because a gradient was infinite, leaves the
 * weights as they are, wherever they are, and no gradients. */
static void
test_overflow (QmDevice *device, Setting *setting, QmSharding sharding)
{
  Training training;
  float scale, loss[2];

  setting->options.sharding = sharding;
  setting->options.offload = sharding != QM_SHARDING_NONE;
  check_case (qm_sharding_name (sharding));
  if (begin (&training, device, setting))
    {
      QmExecutor *executor = training.executor;
      QmValueId id = training.plan->graph->loss;

      CHECK_INT (qm_executor_initialise (executor, NULL), QM_OK);
      CHECK_INT (qm_executor_random_batch (executor, NULL), QM_OK);
      CHECK_INT (qm_executor_pass (executor, true, NULL), QM_OK);
      CHECK_INT (qm_executor_read_floats (executor, id, &loss[0], NULL), QM_OK);
      CHECK_INT (qm_executor_clear (executor, NULL), QM_OK);
      CHECK_INT (qm_executor_write_state (executor, QM_STATE_LOSS_SCALE, 1e30f,
                                          NULL),
                 QM_OK);
      CHECK_INT (qm_executor_pass (executor, true, NULL), QM_OK);
      CHECK_INT (qm_executor_update (executor, NULL), QM_OK);
      CHECK_INT (qm_executor_read_state (executor, QM_STATE_LOSS_SCALE, &scale,
                                         NULL),
                 QM_OK);
      CHECK_NEAR (scale, 0.5e30, 1e-6 * 1e30);
      CHECK_INT (qm_executor_write_state (executor, QM_STATE_LOSS_SCALE, SCALE,
                                          NULL),
                 QM_OK);
      CHECK_INT (qm_executor_pass (executor, true, NULL), QM_OK);
      CHECK_INT (qm_executor_read_floats (executor, id, &loss[1], NULL), QM_OK);
      CHECK_NEAR (loss[1], loss[0], 0);
      CHECK_INT (qm_executor_update (executor, NULL), QM_OK);
      CHECK_INT (qm_executor_read_state (executor, QM_STATE_NOT_FINITE, &scale,
                                         NULL),
                 QM_OK);
      CHECK_NEAR (scale, 0, 0);
    }
  end (&training);
}

static void
test_model (const char *folder, const char *model, QmDevice *device)
{
  QmModelConfig config = { 0 };

  golden_config (folder, model, &config);
  change_config (&config);
  for (int i = 0; i < 6; i++)
    {
      Setting setting = { .model = model,
                          .config = &config,
                          .precision = (QmPrecision) (i % 3),
                          .passes = i < 3 ? 1 : 3,
                          .options = {
                              .target = qm_device_info (device)->target,
                              .deterministic = true,
                              .micro_batch = 2,
                              .methods = i % 2 == 0 ? QM_METHOD_ALL : 0,
                              .checkpoint = i % 4 >= 2,
                              .loss_rows = i % 2 == 0 ? 13 : 0,
                              .bucket = BUCKET } };

      test_setting (device, &setting);
      if (setting.precision == QM_PRECISION_FP16 && !config_drops (&config))
        for (int j = QM_SHARDING_ZERO_1; j < QM_N_SHARDINGS; j++)
          test_overflow (device, &setting, (QmSharding) j);
    }
}

int
main (int argc, char **argv)
{
  const char *const *models = all_models;
  size_t n = N_WITHOUT_TEACHER;
  QmDevice *device = NULL;

  CHECK (argc >= 2);
  CHECK_INT (qm_device_open (argc > 2 ? argv[2] : "cpu", 0, &device, NULL),
             QM_OK);
  if (argc < 2 || device == NULL)
    return check_report ();
  if (argc > 3)
    {
      models = (const char *const *) argv + 3;
      n = (size_t) argc - 3;
    }
  for (size_t i = 0; i < n; i++)
    test_model (argv[1], models[i], device);
  qm_device_close (device);
  return check_report ();
}
