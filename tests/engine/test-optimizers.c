/* SPDX-License-Identifier: Apache-2.0 */

/* Updates by Muon and LAMB against plain ones in fp64, of the gradients that
 * the engine found; what they need, and what is refused.
 * usage: test-optimizers FOLDER [DEVICE] */

#include "engine/executor.h"
#include "tests/data/check.h"
#include "tests/engine/golden-config.h"
#include "tests/engine/graph-sums.h"
#include "tests/engine/vary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS  3
#define LENGTH 16
#define RATE   0.01
#define BETA1  0.9
#define BETA2  0.95
#define SMALL  1e-8
#define DECAY  0.1

#define MUON_RATE  0.02
#define MUON_BETA  0.9
#define MUON_DECAY 0.05

/* A parameter and its states. */
typedef struct Tensor
{
  const QmParameter *parameter;
  int64_t rows, columns;
  size_t n;
  bool hidden;
  double *w, *m, *v;
  double rounding; /* norm of what rounding to bf16 changes of its update */
  float *read;     /* from the device */
} Tensor;

typedef struct Training
{
  QmRecipe recipe;
  QmPlan *plan;
  QmExecutor *executor;
  Tensor *tensors;
  size_t n;
  double factor, worst;
  double schedule;      /* of all rates, in the step in hand */
  double off, rounding; /* squares of norms, of all that Muon updates */
} Training;

/* By its name: a matrix of a layer, but for the rates of scans. */
static bool
is_hidden (const char *name, const QmTensor *tensor)
{
  return (strstr (name, "layer") != NULL || strstr (name, ".h.") != NULL
          || strncmp (name, "blocks.", 7) == 0)
         && strncmp (name, "final_", 6) != 0 && tensor->rank == 2
         && strstr (name, "A_log") == NULL;
}

static QmRecipe
make_recipe (const QmModelConfig *config,
             QmOptimizer optimizer,
             QmMuonScale scale)
{
  int64_t side = vary_image_size (config);

  return (QmRecipe){ .batch_size = 2,
                     .steps = STEPS,
                     .sequence_length = side > 0 ? 0 : LENGTH,
                     .image_size = side,
                     .precision = QM_PRECISION_FP32,
                     .optimizer = optimizer,
                     .learning_rate = RATE,
                     .beta1 = BETA1,
                     .beta2 = BETA2,
                     .epsilon = SMALL,
                     .weight_decay = DECAY,
                     .max_grad_norm = 0.5,
                     .dropout = NAN,
                     .muon_learning_rate = MUON_RATE,
                     .muon_momentum = MUON_BETA,
                     .muon_weight_decay = MUON_DECAY,
                     .muon_scale = scale };
}

static void
read_tensors (Training *training, bool gradients)
{
  for (size_t i = 0; i < training->n; i++)
    {
      Tensor *t = &training->tensors[i];

      CHECK_INT (qm_executor_read_floats (training->executor,
                                          gradients ? t->parameter->gradient
                                                    : t->parameter->value,
                                          t->read, NULL),
                 QM_OK);
    }
}

static void
make_tensors (Training *training)
{
  const QmGraph *graph = training->plan->graph;

  training->n = graph->n_parameters;
  training->tensors = calloc (training->n, sizeof *training->tensors);
  for (size_t i = 0; i < training->n; i++)
    {
      const QmParameter *parameter = &graph->parameters[i];
      const QmTensor *value = qm_graph_tensor (graph, parameter->value);
      Tensor *t = &training->tensors[i];

      t->parameter = parameter;
      t->n = (size_t) qm_tensor_elements (value);
      t->rows = value->shape[0];
      t->columns = value->rank == 2 ? value->shape[1] : 1;
      t->hidden = is_hidden (parameter->name, value);
      t->w = calloc (t->n, sizeof (double));
      t->m = calloc (t->n, sizeof (double));
      t->v = calloc (t->n, sizeof (double));
      t->read = calloc (t->n, sizeof (float));
    }
}

static void
free_tensors (Training *training)
{
  for (size_t i = 0; i < training->n; i++)
    {
      free (training->tensors[i].w);
      free (training->tensors[i].m);
      free (training->tensors[i].v);
      free (training->tensors[i].read);
    }
  free (training->tensors);
}

static double
squared (double x)
{
  return x * x;
}

/* c = a b, with `turned` a b', all row by row. */
static void
multiply (const double *a,
          const double *b,
          bool turned,
          int64_t m,
          int64_t k,
          int64_t n,
          double *c)
{
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++)
      {
        double sum = 0;

        for (int64_t l = 0; l < k; l++)
          sum += a[i * k + l] * (turned ? b[j * k + l] : b[l * n + j]);
        c[i * n + j] = sum;
      }
}

/* To the nearest number of bf16, or not. */
static void
round_all (double *x, size_t n, bool rounds)
{
  for (size_t i = 0; i < n && rounds; i++)
    {
      int exponent;
      double part = frexp (x[i], &exponent);

      x[i] = ldexp (nearbyint (part * 256), exponent - 8);
    }
}

/* x becomes 3.4445 x - 4.7750 (x x') x + 2.0315 (x x')^2 x, five times, after
 * division by its norm: without turning x, which its authors do for speed. With
 * `rounds` whatever is made is rounded to bf16, as they have it. */
static void
iterate (double *x, int64_t rows, int64_t columns, bool rounds)
{
  size_t n = (size_t) (rows * columns), square = (size_t) (rows * rows);
  double *gram = calloc (square, sizeof *gram);
  double *once = calloc (n, sizeof *once), *twice = calloc (n, sizeof *twice);
  double norm = 0;

  for (size_t i = 0; i < n; i++)
    norm += x[i] * x[i];
  for (size_t i = 0; i < n; i++)
    x[i] /= fmax (sqrt (norm), 1e-7);
  round_all (x, n, rounds);
  for (int step = 0; step < 5; step++)
    {
      multiply (x, x, true, rows, columns, rows, gram);
      round_all (gram, square, rounds);
      multiply (gram, x, false, rows, rows, columns, once);
      round_all (once, n, rounds);
      multiply (gram, once, false, rows, rows, columns, twice);
      round_all (twice, n, rounds);
      for (size_t i = 0; i < n; i++)
        x[i] = 3.4445 * x[i] - 4.7750 * once[i] + 2.0315 * twice[i];
      round_all (x, n, rounds);
    }
  free (gram);
  free (once);
  free (twice);
}

static void
update_matrix (const Training *training, Tensor *t)
{
  double *x = calloc (t->n, sizeof *x), scale;
  double *rounded = calloc (t->n, sizeof *rounded);
  double rows = (double) t->rows, columns = (double) t->columns;
  double rate = training->schedule * MUON_RATE;

  for (size_t i = 0; i < t->n; i++)
    {
      double g = t->read[i] * training->factor;

      t->m[i] = MUON_BETA * t->m[i] + (1 - MUON_BETA) * g;
      x[i] = rounded[i] = MUON_BETA * t->m[i] + (1 - MUON_BETA) * g;
    }
  iterate (x, t->rows, t->columns, false);
  iterate (rounded, t->rows, t->columns, true);
  scale = training->recipe.muon_scale == QM_MUON_SCALE_JORDAN
              ? sqrt (fmax (1, rows / columns))
              : 0.2 * sqrt (fmax (rows, columns));
  t->rounding = 0;
  for (size_t i = 0; i < t->n; i++)
    {
      t->w[i] = t->w[i] * (1 - rate * MUON_DECAY) - rate * scale * x[i];
      t->rounding += squared (rate * scale * (x[i] - rounded[i]));
    }
  t->rounding = sqrt (t->rounding);
  free (x);
  free (rounded);
}

/* AdamW, or with `lamb` that. */
static void
update_adam (const Training *training, Tensor *t, int step, bool lamb)
{
  double *u = calloc (t->n, sizeof *u), weights = 0, all = 0, trust = 1;

  for (size_t i = 0; i < t->n; i++)
    {
      double g = t->read[i] * training->factor;

      t->m[i] = BETA1 * t->m[i] + (1 - BETA1) * g;
      t->v[i] = BETA2 * t->v[i] + (1 - BETA2) * g * g;
      u[i] = t->m[i] / (1 - pow (BETA1, step))
                 / (sqrt (t->v[i] / (1 - pow (BETA2, step))) + SMALL)
             + DECAY * t->w[i];
      weights += t->w[i] * t->w[i];
      all += u[i] * u[i];
    }
  if (lamb && weights > 0 && all > 0)
    trust = sqrt (weights / all);
  for (size_t i = 0; i < t->n; i++)
    t->w[i] -= training->schedule * RATE * trust * u[i];
  free (u);
}

static void
update_plainly (Training *training, int step)
{
  bool lamb = training->recipe.optimizer == QM_OPTIMIZER_LAMB;
  double norm = 0;

  for (size_t i = 0; i < training->n; i++)
    for (size_t j = 0; j < training->tensors[i].n; j++)
      norm +=
          (double) training->tensors[i].read[j] * training->tensors[i].read[j];
  norm = sqrt (norm);
  training->factor = norm > 0.5 ? 0.5 / (norm + 1e-6) : 1;
  for (size_t i = 0; i < training->n; i++)
    {
      Tensor *t = &training->tensors[i];

      if (!lamb && t->hidden)
        update_matrix (training, t);
      else
        update_adam (training, t, step, lamb);
    }
}

/* Of a tensor that hardly has a gradient, Adam makes noise of roundings. */
static bool
has_gradient (const Tensor *t)
{
  double all = 0;

  for (size_t i = 0; i < t->n; i++)
    all += t->v[i] + fabs (t->m[i]);
  return all > 1e-6 * (double) t->n;
}

/* GPUs iterate in bf16.  One matrix may be off by twice as much as it is by
 * plain rounding, for which numbers are rounded is chance, all of them together
 * by 1.3 times. */
static void
compare_tensor (Training *training, const Tensor *t)
{
  bool rounds =
      training->plan->options.target.kind == QM_DEVICE_CUDA && t->rounding > 0;
  double most = 0, off = 0;

  for (size_t i = 0; i < t->n; i++)
    {
      most = fmax (most, fabs (t->w[i] - t->read[i]));
      off += squared (t->w[i] - t->read[i]);
    }
  training->worst = fmax (training->worst, most);
  if (!rounds)
    {
      CHECK (most <= 1e-6);
      return;
    }
  CHECK (sqrt (off) <= 2 * t->rounding);
  training->off += off;
  training->rounding += squared (t->rounding);
}

static void
compare (Training *training)
{
  for (size_t i = 0; i < training->n; i++)
    {
      Tensor *t = &training->tensors[i];

      if (has_gradient (t))
        compare_tensor (training, t);
      for (size_t j = 0; j < t->n; j++)
        t->w[j] = t->read[j];
    }
}

/* What is not finite changes nothing, and is forgotten. */
static void
check_skipped (Training *training)
{
  Tensor *t = &training->tensors[training->n / 2];
  QmExecutor *executor = training->executor;

  CHECK_INT (qm_executor_random_batch (executor, NULL), QM_OK);
  CHECK_INT (qm_executor_pass (executor, true, NULL), QM_OK);
  read_tensors (training, true);
  t->read[0] = NAN;
  CHECK_INT (qm_executor_write_floats (executor, t->parameter->gradient,
                                       t->read, NULL),
             QM_OK);
  CHECK_INT (qm_executor_update (executor, NULL), QM_OK);
  read_tensors (training, false);
  for (size_t i = 0; i < training->n; i++)
    for (size_t j = 0; j < training->tensors[i].n; j++)
      CHECK_NEAR (training->tensors[i].read[j], training->tensors[i].w[j], 0);
  read_tensors (training, true);
  for (size_t i = 0; i < training->n; i++)
    for (size_t j = 0; j < training->tensors[i].n; j++)
      CHECK_NEAR (training->tensors[i].read[j], 0, 0);
}

static void
train (Training *training)
{
  read_tensors (training, false);
  for (size_t i = 0; i < training->n; i++)
    for (size_t j = 0; j < training->tensors[i].n; j++)
      training->tensors[i].w[j] = training->tensors[i].read[j];
  for (int step = 1; step <= STEPS; step++)
    {
      training->schedule = 1.25 - 0.25 * step;
      CHECK_INT (
          qm_executor_write_state (training->executor, QM_STATE_LEARNING_RATE,
                                   (float) (training->schedule * RATE), NULL),
          QM_OK);
      CHECK_INT (qm_executor_random_batch (training->executor, NULL), QM_OK);
      CHECK_INT (qm_executor_pass (training->executor, true, NULL), QM_OK);
      read_tensors (training, true);
      update_plainly (training, step);
      CHECK_INT (qm_executor_update (training->executor, NULL), QM_OK);
      read_tensors (training, false);
      compare (training);
    }
  check_skipped (training);
}

/* Muon has one moment of its matrices and two of all else, and counts the
 * products of five steps; LAMB has what Adam has. */
static void
check_plan (const Training *training)
{
  const QmPlan *plan = training->plan;
  double flops = 0;
  int64_t others = 0, gaps = 0;
  bool muon = training->recipe.optimizer == QM_OPTIMIZER_MUON;

  for (size_t i = 0; i < training->n; i++)
    {
      const Tensor *t = &training->tensors[i];
      double r = (double) (t->rows < t->columns ? t->rows : t->columns);

      gaps += QM_SLAB_ALIGNMENT;
      if (muon && t->hidden)
        flops += 5 * (4 * r * (double) t->n + 2 * r * r * r);
      else
        others += (int64_t) t->n;
    }
  CHECK (!muon || flops > 0);
  CHECK_NEAR (graph_flops (plan->graph, QM_PHASE_UPDATE), flops, 0.5);
  CHECK (plan->memory.optimizer >= 4 * (uint64_t) (plan->slab + others));
  CHECK (plan->memory.optimizer <= 4 * (uint64_t) (plan->slab + others + gaps));
  if (!muon)
    CHECK_INT (plan->memory.optimizer, 8 * plan->slab);
}

static void
test_optimizer (const char *folder,
                QmDevice *device,
                const QmTarget *target,
                const char *model,
                QmOptimizer optimizer,
                QmMuonScale scale)
{
  const QmPlanOptions options = { .target = *target,
                                  .micro_batch = 2,
                                  .no_dropout = true };
  Training training = { .plan = NULL };
  QmModelConfig config = { 0 };
  char name[100];

  snprintf (name, sizeof name, "%s, %s, %s", model,
            qm_optimizer_name (optimizer), qm_muon_scale_name (scale));
  check_case (name);
  golden_config (folder, model, &config);
  training.recipe = make_recipe (&config, optimizer, scale);
  CHECK_INT (qm_plan_new (&config, &training.recipe, &options, &training.plan,
                          NULL),
             QM_OK);
  if (training.plan == NULL)
    return;
  make_tensors (&training);
  check_plan (&training);
  CHECK_INT (qm_executor_new (training.plan, device, NULL, 5,
                              &training.executor, NULL),
             QM_OK);
  CHECK_INT (qm_executor_initialise (training.executor, NULL), QM_OK);
  train (&training);
  CHECK (training.off <= squared (1.3) * training.rounding);
  printf ("%s: weights differ by %.2g at most, ", name, training.worst);
  printf ("all by %.2g, which rounding to bf16 does by %.2g\n",
          sqrt (training.off), sqrt (training.rounding));
  qm_executor_free (training.executor);
  free_tensors (&training);
  qm_plan_free (training.plan);
}

static void
check_refusal (const QmModelConfig *config,
               QmOptimizer optimizer,
               const QmPlanOptions *options,
               bool refused,
               const char *what)
{
  QmRecipe recipe = make_recipe (config, optimizer, QM_MUON_SCALE_JORDAN);
  QmError error = { 0 };
  QmPlan *plan = NULL;
  QmStatus status = qm_plan_new (config, &recipe, options, &plan, &error);

  CHECK_INT (status, refused ? QM_STATUS_UNSUPPORTED : QM_OK);
  CHECK (qm_plan_takes (config, &recipe, options->sharding, options->offload,
                        options->ranks)
         != refused);
  if (refused)
    {
      CHECK (strstr (error.message, qm_optimizer_name (optimizer)) != NULL);
      CHECK (strstr (error.message, what) != NULL);
      CHECK (strstr (error.message, qm_sharding_name (options->sharding))
             != NULL);
    }
  qm_plan_free (plan);
}

static void
test_refusals (const char *folder)
{
  QmModelConfig config = { 0 };

  check_case ("refusals");
  golden_config (folder, "llama", &config);
  for (int i = 0; i < QM_N_SHARDINGS; i++)
    {
      QmPlanOptions options = { .micro_batch = 1,
                                .sharding = (QmSharding) i,
                                .ranks = 2 };

      check_refusal (&config, QM_OPTIMIZER_LAMB, &options, false, "");
      check_refusal (&config, QM_OPTIMIZER_MUON, &options,
                     i > QM_SHARDING_ZERO_2, "whole matrices");
      options.ranks = 1;
      check_refusal (&config, QM_OPTIMIZER_MUON, &options, false, "");
      options.offload = true;
      if (i == QM_SHARDING_NONE)
        continue;
      check_refusal (&config, QM_OPTIMIZER_LAMB, &options, true, "offloaded");
      check_refusal (&config, QM_OPTIMIZER_MUON, &options, true, "offloaded");
      check_refusal (&config, QM_OPTIMIZER_ADAMW, &options, false, "");
    }
}

int
main (int argc, char **argv)
{
  static const char *const models[] = {
    "gpt-neox-parallel", "llama", "gpt2",  "vit",
    "vit-mae",           "dit",   "mamba", "clip"
  };
  QmDevice *device = NULL;
  QmDeviceInfo info = { .id = "" };

  CHECK (argc >= 2);
  CHECK_INT (qm_device_open (argc > 2 ? argv[2] : "cpu", 0, &device, NULL),
             QM_OK);
  if (argc < 2 || device == NULL)
    return check_report ();
  CHECK_INT (qm_device_describe (argc > 2 ? argv[2] : "cpu", &info, NULL),
             QM_OK);
  for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
    {
      test_optimizer (argv[1], device, &info.target, models[i],
                      QM_OPTIMIZER_LAMB, QM_MUON_SCALE_JORDAN);
      for (int j = 0; j < QM_N_MUON_SCALES; j++)
        test_optimizer (argv[1], device, &info.target, models[i],
                        QM_OPTIMIZER_MUON, (QmMuonScale) j);
    }
  test_refusals (argv[1]);
  qm_device_close (device);
  return check_report ();
}
