/* SPDX-License-Identifier: Apache-2.0 */

/* Several ranks train as one does that makes all of their passes: for every
 * family, way of sharding and precision, with and without offloading.
 * usage: test-ranks FOLDER [DEVICE [MODEL]...]
 *        test-ranks FOLDER --list
 * DEVICE: as in_ranks_place() has it; --list: which program tries what. */

#include "engine/executor.h"
#include "tests/data/check.h"
#include "tests/engine/all-models.h"
#include "tests/engine/golden-config.h"
#include "tests/engine/in-ranks.h"
#include "tests/engine/vary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 3
#define RATE  0.01
#define SEED  7

/* So low that no gradient overflows in fp16: at 256 that of DINO's spread of
 * class tokens does, where two images are all there are. */
#define SCALE 64

/* Few enough elements that there are several units, and several parts of what
 * the host works on. */
#define BUCKET 3000

#define MICRO_BATCH 2
#define LENGTH      16

static void
read_config (const char *folder, const char *model, QmModelConfig *config)
{
  golden_config (folder, model, config);
  if (config->family == QM_FAMILY_GPT_NEOX)
    config->gpt_neox.hidden_dropout = 0.1;
}

typedef struct Setting
{
  const RanksPlace *place;
  const char *model;
  const QmModelConfig *config;
  QmPrecision precision;
  QmPlanOptions options;
  int passes; /* in a step, of each rank */
  double max_norm;
  QmOptimizer optimizer;
} Setting;

/* What a training left: of all parameters, one behind the other. */
typedef struct Outcome
{
  float losses[STEPS], norms[STEPS];
  float *weights, *gradients;
} Outcome;

/* One rank of a training. */
typedef struct Rank
{
  const Setting *setting;
  Outcome outcome;
} Rank;

static uint32_t
hash (uint32_t x)
{
  x = (x ^ (x >> 16)) * UINT32_C (0x45d9f3b);
  x = (x ^ (x >> 16)) * UINT32_C (0x45d9f3b);
  return x ^ (x >> 16);
}

/* Sets an input to whole numbers below `count` that depend on the pass alone.
 */
static QmStatus
write_indices (QmExecutor *executor,
               const QmGraph *graph,
               QmValueId id,
               int64_t count,
               uint32_t pass,
               bool ignore,
               QmError *error)
{
  int32_t values[MICRO_BATCH * LENGTH];
  size_t n;

  if (id == QM_NO_VALUE)
    return QM_OK;
  n = (size_t) qm_tensor_elements (qm_graph_tensor (graph, id));
  for (size_t i = 0; i < n; i++)
    {
      uint32_t drawn = hash (pass * 1000 + (uint32_t) i + (ignore ? 500 : 0));

      values[i] = ignore && drawn % 5 == 0
                      ? QM_IGNORE_LABEL
                      : (int32_t) ((int64_t) (drawn % 65536) % count);
    }
  return qm_executor_write_ints (executor, id, values, error);
}

static QmStatus
write_pixels (QmExecutor *executor,
              const QmGraph *graph,
              QmValueId id,
              uint32_t pass,
              QmError *error)
{
  size_t n;
  float *values;
  QmStatus status;

  if (id == QM_NO_VALUE)
    return QM_OK;
  n = (size_t) qm_tensor_elements (qm_graph_tensor (graph, id));
  values = malloc (n * sizeof *values);
  for (size_t i = 0; i < n; i++)
    values[i] = (float) (hash (pass * 100003 + (uint32_t) i) % 2048) / 1024 - 1;
  status = qm_executor_write_floats (executor, id, values, error);
  free (values);
  return status;
}

/* The micro-batch of one of all passes of all ranks. */
static QmStatus
write_batch (QmExecutor *executor,
             const QmPlan *plan,
             uint32_t pass,
             QmError *error)
{
  const QmGraph *graph = plan->graph;
  int64_t classes = qm_graph_classes (graph);
  bool tokens = graph->ids != QM_NO_VALUE;
  QmStatus status =
      write_indices (executor, graph, graph->ids, classes, pass, false, error);

  if (status == QM_OK)
    status =
        write_indices (executor, graph, graph->types,
                       plan->config.bert.type_vocab_size, pass, false, error);
  if (status == QM_OK)
    status = write_indices (executor, graph, graph->labels, classes, pass,
                            tokens, error);
  if (status == QM_OK)
    status = write_pixels (executor, graph, graph->pixels, pass, error);
  return status == QM_OK ? write_pixels (executor, graph, graph->local_pixels,
                                         pass + 7, error)
                         : status;
}

static size_t
count (const QmGraph *graph)
{
  size_t n = 0;

  for (size_t i = 0; i < graph->n_parameters; i++)
    n += (size_t) qm_tensor_elements (
        qm_graph_tensor (graph, graph->parameters[i].value));
  return n;
}

/* The weights, or the gradients, of all parameters, one behind the other.
 * Gradients of fp16 are scaled. */
static QmStatus
read_all (QmExecutor *executor,
          const QmPlan *plan,
          bool gradients,
          float **values,
          QmError *error)
{
  const QmGraph *graph = plan->graph;
  QmType type = plan->type;
  QmStatus status = QM_OK;
  size_t at = 0;

  *values = calloc (count (graph), sizeof **values);
  for (size_t i = 0; i < graph->n_parameters && status == QM_OK; i++)
    {
      const QmParameter *parameter = &graph->parameters[i];
      size_t n = (size_t) qm_tensor_elements (
          qm_graph_tensor (graph, parameter->value));

      status = qm_executor_read_floats (executor,
                                        gradients ? parameter->gradient
                                                  : parameter->value,
                                        *values + at, error);
      for (size_t j = at; gradients && type == QM_TYPE_F16 && j < at + n; j++)
        (*values)[j] /= SCALE;
      at += n;
    }
  return status;
}

/* The passes of one step, and the update.  Gradients are those of the first, of
 * the same weights in every way. */
static QmStatus
run_step (QmExecutor *executor,
          const QmPlan *plan,
          int step,
          Outcome *outcome,
          QmError *error)
{
  int ranks = plan->options.ranks;
  QmStatus status = QM_OK;

  for (int64_t i = 0; i < plan->accumulation && status == QM_OK; i++)
    {
      uint32_t pass = (uint32_t) ((step * plan->accumulation + i) * ranks)
                      + (uint32_t) plan->options.rank;

      status = write_batch (executor, plan, pass, error);
      if (status == QM_OK)
        status =
            qm_executor_pass (executor, i + 1 == plan->accumulation, error);
    }
  if (status == QM_OK && step == 0)
    status = read_all (executor, plan, true, &outcome->gradients, error);
  if (status == QM_OK)
    status = qm_executor_update (executor, error);
  if (status == QM_OK)
    status = qm_executor_read_state (executor, QM_STATE_LOSS,
                                     &outcome->losses[step], error);
  if (status == QM_OK)
    status = qm_executor_read_state (executor, QM_STATE_NORM,
                                     &outcome->norms[step], error);
  return status;
}

static QmStatus
make_plan (const Setting *setting, int rank, QmPlan **plan, QmError *error)
{
  int64_t side = vary_image_size (setting->config);
  int ranks = setting->options.ranks;
  QmRecipe recipe = { .batch_size = MICRO_BATCH * ranks * setting->passes,
                      .steps = STEPS,
                      .sequence_length = side > 0 ? 0 : LENGTH,
                      .image_size = side,
                      .precision = setting->precision,
                      .optimizer = setting->optimizer,
                      .learning_rate = RATE,
                      .beta1 = 0.9,
                      .beta2 = 0.95,
                      .epsilon = 1e-8,
                      .weight_decay = 0.1,
                      .max_grad_norm = setting->max_norm,
                      .ema_decay =
                          qm_model_has_teacher (setting->config) ? 0.9 : 0,
                      .muon_learning_rate = RATE,
                      .muon_momentum = 0.9,
                      .muon_weight_decay = 0.1 };
  QmPlanOptions options = setting->options;

  options.rank = rank;
  return qm_plan_new (setting->config, &recipe, &options, plan, error);
}

static QmStatus
train (void *data,
       int number,
       QmDevice *device,
       QmCommunicator *communicator,
       QmError *error)
{
  Rank *rank = data;
  Outcome *outcome = &rank->outcome;
  QmExecutor *executor = NULL;
  QmPlan *plan;
  QmStatus status = make_plan (rank->setting, number, &plan, error);

  if (status == QM_OK)
    status =
        qm_executor_new (plan, device, communicator, SEED, &executor, error);
  if (status == QM_OK)
    status = qm_executor_initialise (executor, error);
  if (status == QM_OK && plan->type == QM_TYPE_F16)
    status =
        qm_executor_write_state (executor, QM_STATE_LOSS_SCALE, SCALE, error);
  for (int step = 0; step < STEPS && status == QM_OK; step++)
    status = run_step (executor, plan, step, outcome, error);
  if (status == QM_OK)
    status = read_all (executor, plan, false, &outcome->weights, error);
  qm_executor_free (executor);
  qm_plan_free (plan);
  return status;
}

static void
run (const Setting *setting, Outcome *outcomes)
{
  Rank ranks[IN_RANKS_MAX] = { { NULL } };
  int n = setting->options.ranks;

  for (int i = 0; i < n; i++)
    ranks[i].setting = setting;
  in_ranks_run (setting->place, n, train, ranks, sizeof *ranks);
  for (int i = 0; i < n; i++)
    outcomes[i] = ranks[i].outcome;
}

static void
clear (Outcome *outcomes, int n)
{
  for (int i = 0; i < n; i++)
    {
      free (outcomes[i].weights);
      free (outcomes[i].gradients);
      outcomes[i] = (Outcome){ .weights = NULL };
    }
}

/* Of the same, or of 16 bits: whose errors the others' are held against. */
typedef struct Wanted
{
  const Outcome *outcome; /* of fp32, or what is reproduced to the last bit */
  const struct Tolerance *tolerance; /* NULL: by errors */
  const Outcome *exact, *alone; /* one rank's in fp32, and as it is trained */
} Wanted;

typedef struct Tolerance
{
  double losses;
  double gradients; /* of each tensor's norm, */
  double all;       /* or, where that is less, of the norm of all */
  double weights;   /* root mean square */
} Tolerance;

/* Norms of the gradients of a parameter, and of how they differ. */
static void
measure (const float *a, const float *b, size_t n, double *norm, double *off)
{
  *norm = *off = 0;
  for (size_t i = 0; i < n; i++)
    {
      *norm += (double) a[i] * a[i];
      *off += ((double) a[i] - b[i]) * ((double) a[i] - b[i]);
    }
  *norm = sqrt (*norm);
  *off = sqrt (*off);
}

/* How far the weights from `at` on lie apart, root mean square.  Of a gradient
 * that is zero in exact arithmetic, as those of the keys' bias are (a third of
 * a tensor, where it lies with those of queries and values), Adam makes whole
 * steps whose direction is that of roundings: elements whose gradient is less
 * than their part of `zero`, the norm of all that counts as zero, are left out.
 */
static double
weights_off (
    const Outcome *one, const Outcome *other, size_t at, size_t n, double zero)
{
  double off = 0;

  for (size_t i = at; i < at + n; i++)
    {
      double d = (double) one->weights[i] - other->weights[i];

      if (fabs (one->gradients[i]) * sqrt ((double) n) >= zero)
        off += d * d;
    }
  return sqrt (off / (double) n);
}

static void
compare (const QmPlan *plan,
         const Outcome *one,
         const Outcome *other,
         const Tolerance *tolerance)
{
  const QmGraph *graph = plan->graph;
  size_t at = 0;
  double all, off;

  if (one->weights == NULL || other->weights == NULL)
    return;
  measure (one->gradients, other->gradients, count (graph), &all, &off);
  CHECK (all > 0 && isfinite (all));
  for (int i = 0; i < STEPS; i++)
    {
      CHECK_NEAR (other->losses[i], one->losses[i], tolerance->losses);
      /* Each way adds squares up in another order. */
      CHECK_NEAR (other->norms[i], one->norms[i],
                  fmax (tolerance->losses, i == 0 ? 1e-6 : 1e-5));
    }
  CHECK (one->losses[0] != one->losses[1]);
  for (size_t i = 0; i < graph->n_parameters; i++)
    {
      size_t n = (size_t) qm_tensor_elements (
          qm_graph_tensor (graph, graph->parameters[i].value));
      double norm;

      measure (one->gradients + at, other->gradients + at, n, &norm, &off);
      CHECK (off <= fmax (tolerance->gradients * norm, tolerance->all * all));
      off = weights_off (one, other, at, n, tolerance->all * all);
      CHECK (off <= tolerance->weights);
      if (off > tolerance->weights)
        fprintf (stderr, "weights of %s: %g\n", graph->parameters[i].name, off);
      at += n;
    }
}

/* How far what a training left lies from what is left in fp32. */
typedef struct Errors
{
  double losses, norms; /* the mean of all steps, as a share */
  double gradients;     /* of their norm, */
  double weights;       /* root mean square */
} Errors;

static Errors
errors_of (const QmPlan *plan,
           const Outcome *exact,
           const Outcome *outcome,
           double unit)
{
  size_t n = count (plan->graph);
  Errors errors = { 0 };
  double all, off;

  for (int i = 0; i < STEPS; i++)
    {
      errors.losses += fabs (outcome->losses[i] / exact->losses[i] - 1) / STEPS;
      errors.norms += fabs (outcome->norms[i] / exact->norms[i] - 1) / STEPS;
    }
  measure (exact->gradients, outcome->gradients, n, &all, &off);
  errors.gradients = off / all;
  errors.weights = weights_off (exact, outcome, 0, n, unit * all);
  return errors;
}

/* More than one rank's error is none that roundings explain. */
#define MORE 1.3

static void
check_error (const char *what, double other, double one, double floor)
{
  CHECK (other <= fmax (MORE * one, floor));
  if (!(other <= fmax (MORE * one, floor)))
    fprintf (stderr, "%s: %g, of one rank %g\n", what, other, one);
}

/* The error of a rank in 16 bits against that of one rank that makes all
 * passes. The gradients of a pass are the same.  Where they are rounded on
 * their way, before and after they are summed up, there are roundings that one
 * rank does not make, and more of them count where parts cancel, as those of
 * small tensors do: errors below some of these are none.  After the first step
 * Adam makes whole steps of what is next to nothing, and tokens go to other
 * experts, by chance: what weights and norms are off then is as large for one,
 * but not the same. */
static void
check_errors (const QmPlan *plan, const Wanted *wanted, const Outcome *outcome)
{
  double unit = plan->type == QM_TYPE_BF16 ? 0x1p-8 : 0x1p-11;
  bool narrow =
      qm_plan_sums (&plan->options, &plan->recipe) != QM_PRECISION_FP32;
  /* One of every part, and of a sum as many as there are ranks but one. */
  double most = (1 + plan->options.ranks) / 2.0;
  const float *exact = wanted->exact->gradients;
  Errors one = errors_of (plan, wanted->exact, wanted->alone, unit);
  Errors other = errors_of (plan, wanted->exact, outcome, unit);
  size_t at = 0;
  double all, off;

  check_error ("losses", other.losses, one.losses, unit / 4);
  check_error ("norms", other.norms, one.norms, 0.01);
  check_error ("gradients", other.gradients, one.gradients,
               narrow ? most * unit : 1e-6);
  check_error ("weights", other.weights, one.weights, STEPS * RATE / 30);
  measure (exact, outcome->gradients, count (plan->graph), &all, &off);
  for (size_t i = 0; i < plan->graph->n_parameters; i++)
    {
      const QmParameter *parameter = &plan->graph->parameters[i];
      size_t n = (size_t) qm_tensor_elements (
          qm_graph_tensor (plan->graph, parameter->value));
      double norm, alone;

      measure (exact + at, wanted->alone->gradients + at, n, &norm, &alone);
      measure (exact + at, outcome->gradients + at, n, &norm, &off);
      check_error (parameter->name, off, alone,
                   narrow ? fmax (1.5 * most * norm, all / 4) * unit
                          : 1e-6 * all);
      at += n;
    }
}

static void
name_case (const Setting *setting)
{
  static char name[200];
  const QmPlanOptions *options = &setting->options;

  snprintf (name, sizeof name,
            "%s, %s, %s, methods %u%s, %s%s, %d ranks, %d passes",
            setting->model, qm_optimizer_name (setting->optimizer),
            qm_precision_name (setting->precision), options->methods,
            options->checkpoint ? ", checkpointing" : "",
            qm_sharding_name (options->sharding),
            options->offload ? ", offloading" : "", options->ranks,
            setting->passes);
  check_case (name);
}

/* Every rank of a way of sharding, held against what is wanted. */
static void
try (Setting *setting,
     QmSharding sharding,
     bool offload,
     const Wanted *wanted,
     Outcome *kept)
{
  Outcome outcomes[IN_RANKS_MAX];
  QmPlan *plan = NULL;

  setting->options.sharding = sharding;
  setting->options.offload = offload;
  name_case (setting);
  run (setting, outcomes);
  CHECK_INT (make_plan (setting, 0, &plan, NULL), QM_OK);
  for (int i = 0; i < setting->options.ranks && plan != NULL; i++)
    if (wanted->tolerance != NULL)
      compare (plan, wanted->outcome, &outcomes[i], wanted->tolerance);
    else if (wanted->alone->weights != NULL && wanted->exact->weights != NULL
             && outcomes[i].weights != NULL)
      check_errors (plan, wanted, &outcomes[i]);
  qm_plan_free (plan);
  if (kept != NULL)
    {
      *kept = outcomes[0];
      outcomes[0] = (Outcome){ .weights = NULL };
    }
  clear (outcomes, setting->options.ranks);
}

/* What the first rank has after a training, to hold others against. */
static void
run_first (Setting *setting, Outcome *first)
{
  Outcome outcomes[IN_RANKS_MAX];

  name_case (setting);
  run (setting, outcomes);
  *first = outcomes[0];
  outcomes[0] = (Outcome){ .weights = NULL };
  clear (outcomes, setting->options.ranks);
}

/* One rank that makes all passes. */
static void
try_alone (Setting setting, Outcome *outcome)
{
  setting.passes *= setting.options.ranks;
  setting.options.ranks = 1;
  setting.options.sharding = QM_SHARDING_NONE;
  setting.options.offload = false;
  setting.options.loss_rows = 0;
  name_case (&setting);
  run (&setting, outcome);
}

/* One rank that makes all passes, and the same in fp32, which it is where that
 * is what is trained. */
static Wanted
begin (const Setting *setting, const Tolerance *sums, Outcome alone[2])
{
  Setting exact = *setting;
  bool full = setting->precision == QM_PRECISION_FP32;

  alone[1] = (Outcome){ .weights = NULL };
  try_alone (*setting, &alone[0]);
  exact.precision = QM_PRECISION_FP32;
  if (!full)
    try_alone (exact, &alone[1]);
  return (Wanted){ .outcome = alone,
                   .tolerance = full ? sums : NULL,
                   .exact = &alone[1],
                   .alone = alone };
}

/* Sums over ranks and over passes differ by their order of roundings, and where
 * gradients leave with every pass in 16 bits, by that.  Without clipping, which
 * needs a norm that each way adds up in another order, all ways of fp32 that
 * sum one pass do the same to the last bit, and so do those that round.  A
 * teacher is divided in none of them. */
static void
test_setting (Setting *setting)
{
  static const Tolerance exact = { 0, 0, 0, 0 };
  const Tolerance sums = { 1e-6, 1e-6, 1e-7, 5e-6 };
  bool full = setting->precision == QM_PRECISION_FP32;
  /* Of a GPU, square roots and quotients may be others than of the host. */
  bool same =
      setting->max_norm == 0 && setting->options.target.kind == QM_DEVICE_CPU;
  Outcome alone[2], kept, sent = { .weights = NULL };
  Wanted wanted = begin (setting, &sums, alone), again = wanted;

  try (setting, QM_SHARDING_NONE, false, &wanted, &kept);
  again.outcome = &kept;
  if (same)
    again.tolerance = &exact;
  if (!qm_model_has_teacher (setting->config))
    {
      for (int offload = 0; offload < 2; offload++)
        try (setting, QM_SHARDING_ZERO_1, offload != 0, &again, NULL);
      wanted.outcome = &kept;
      try (setting, QM_SHARDING_ZERO_2, false,
           full && setting->passes == 1 ? &again : &wanted, &sent);
      again.outcome = &sent;
      for (int i = QM_SHARDING_ZERO_2; i < QM_N_SHARDINGS; i++)
        for (int offload = i == QM_SHARDING_ZERO_2; offload < 2; offload++)
          try (setting, (QmSharding) i, offload != 0, &again, NULL);
    }
  clear (alone, 2);
  clear (&kept, 1);
  clear (&sent, 1);
}

/* Ranks tell pairs from those of each other, and a pass of one rank alone does
 * not from those of others: tests/engine/test-pairs.c. */
static bool
is_of_pairs (const QmModelConfig *config)
{
  return qm_family_info (config->family)->objective == QM_OBJECTIVE_PAIRS;
}

/* Whether an optimizer can be divided in a way: Muon needs whole matrices. */
static bool
is_way_of (QmOptimizer optimizer, QmSharding sharding)
{
  return optimizer != QM_OPTIMIZER_MUON || sharding <= QM_SHARDING_ZERO_2;
}

/* The ways that other optimizers can be divided in.  The norms of LAMB are sums
 * over ranks; Muon is every rank's own, or its owner's of each matrix.  GPUs
 * iterate in bf16, where sums in another order may round otherwise. */
static void
test_optimizer (const char *folder,
                const RanksPlace *place,
                const char *model,
                QmOptimizer optimizer)
{
  Tolerance sums = { 2e-6, 1e-5, 1e-5, 1e-4 };
  QmModelConfig config = { 0 };

  if (optimizer == QM_OPTIMIZER_MUON && place->target.kind == QM_DEVICE_CUDA)
    sums = (Tolerance){ 1e-4, 1e-3, 1e-3, 0.1 * STEPS * RATE };
  read_config (folder, model, &config);
  if (qm_model_has_teacher (&config) || is_of_pairs (&config))
    return;
  for (int i = 0; i < 3; i++)
    {
      Setting setting = { .place = place,
                          .model = model,
                          .config = &config,
                          .precision = (QmPrecision) i,
                          .passes = 1 + i % 2,
                          .max_norm = 0.5,
                          .optimizer = optimizer,
                          .options = { .target = place->target,
                                       .deterministic = true,
                                       .micro_batch = MICRO_BATCH,
                                       .ranks = in_ranks_some (place, 2 + i),
                                       .bucket = BUCKET } };
      Outcome alone[2];
      const Wanted wanted = begin (&setting, &sums, alone);

      for (int j = 0; j < QM_N_SHARDINGS; j++)
        if (is_way_of (optimizer, (QmSharding) j))
          try (&setting, (QmSharding) j, false, &wanted, NULL);
      clear (alone, 2);
    }
}

/* The owner of a matrix does to it what each rank does without owners, to the
 * last bit but for the norm that clips, and all of it does the same twice. */
static void
test_owners (const char *folder, const RanksPlace *place, const char *model)
{
  static const Tolerance exact = { 0, 0, 0, 0 };
  QmModelConfig config = { 0 };

  read_config (folder, model, &config);
  if (qm_model_has_teacher (&config) || is_of_pairs (&config))
    return;
  for (int i = 0; i < 3; i++)
    for (int clips = 0; clips < 2; clips++)
      {
        Setting setting = { .place = place,
                            .model = model,
                            .config = &config,
                            .precision = QM_PRECISION_FP32,
                            .passes = 1 + i % 2,
                            .max_norm = clips * 0.5,
                            .optimizer = QM_OPTIMIZER_MUON,
                            .options = { .target = place->target,
                                         .deterministic = true,
                                         .micro_batch = MICRO_BATCH,
                                         .ranks = in_ranks_some (place, 2 + i),
                                         .bucket = BUCKET } };
        Outcome first[1];

        setting.options.sharding =
            clips ? QM_SHARDING_ZERO_1 : QM_SHARDING_NONE;
        run_first (&setting, first);
        try (&setting, QM_SHARDING_ZERO_1, false, &(Wanted){ first, &exact },
             NULL);
        clear (first, 1);
      }
}

static void
test_model (const char *folder,
            const RanksPlace *place,
            const char *model,
            bool all)
{
  QmModelConfig config = { 0 };

  read_config (folder, model, &config);
  for (int i = 0; i < (all ? 6 : 2) && !is_of_pairs (&config); i++)
    {
      Setting setting = {
        .place = place,
        .model = model,
        .config = &config,
        .precision = (QmPrecision) (i % 3),
        .passes = i < 3 ? 1 : 2,
        .max_norm = i % 2 == 0 ? 0 : 0.5,
        .optimizer = QM_OPTIMIZER_ADAMW,
        .options = { .target = place->target,
                     .deterministic = true,
                     .micro_batch = MICRO_BATCH,
                     .ranks = in_ranks_some (place, 2 + i % 3),
                     .methods =
                         i % 2 == 0 ? QM_METHOD_ALL & ~QM_METHOD_TF32 : 0,
                     .checkpoint = i % 4 >= 2,
                     .loss_rows = i % 2 == 0 ? 13 : 0,
                     .bucket = BUCKET },
      };

      test_setting (&setting);
    }
}

static void
test_optimizers (const char *folder, const RanksPlace *place, const char *model)
{
  for (int i = QM_OPTIMIZER_LAMB; i < QM_N_OPTIMIZERS; i++)
    test_optimizer (folder, place, model, (QmOptimizer) i);
  test_owners (folder, place, model);
}

static void
print_list (const char *folder)
{
  for (size_t i = 0; i < N_ALL_MODELS; i++)
    {
      QmModelConfig config = { 0 };

      read_config (folder, all_models[i], &config);
      printf ("%s %s\n", all_models[i],
              is_of_pairs (&config) ? "test-pairs" : "test-ranks");
    }
}

int
main (int argc, char **argv)
{
  const char *const *models = all_models;
  size_t n = N_ALL_MODELS;
  /* Where there is time, or GPUs, every model is tried in every way. */
  bool whole = getenv ("QM_TEST_FULL") != NULL
               || (argc > 2 && strcmp (argv[2], "cpu") != 0);
  RanksPlace place;

  CHECK (argc >= 2);
  if (argc < 2)
    return check_report ();
  if (argc == 3 && strcmp (argv[2], "--list") == 0)
    {
      print_list (argv[1]);
      return EXIT_SUCCESS;
    }
  place = in_ranks_place (argc > 2 ? argv[2] : "cpu");
  if (argc > 3)
    {
      models = (const char *const *) argv + 3;
      n = (size_t) argc - 3;
    }
  for (size_t i = 0; i < n; i++)
    test_model (argv[1], &place, models[i], whole || i == 0);
  for (size_t i = 0; i < n && argc > 3; i++)
    if (whole || i == 0)
      test_optimizers (argv[1], &place, models[i]);
  for (int i = 0; argc <= 3 && i < 2; i++)
    test_optimizers (argv[1], &place, i == 0 ? "gpt-neox-parallel" : "llama");
  return check_report ();
}
