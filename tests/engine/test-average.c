/* SPDX-License-Identifier: Apache-2.0 */

/* The average of weights against a plain loop over the weights after each
 * update, for every way to train.  usage: test-average FOLDER [DEVICE], which
 * is as in_ranks_place() says. */

#include "engine/executor.h"
#include "tests/data/check.h"
#include "tests/engine/golden-config.h"
#include "tests/engine/in-ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS  4
#define DECAY  0.7
#define LENGTH 9

/* Few enough elements that units and slots are used several times. */
#define BUCKET 700

typedef struct Setting
{
  const QmModelConfig *config;
  const RanksPlace *place;
  QmPrecision precision;
  QmOptimizer optimizer;
  QmPlanOptions options;
} Setting;

/* What a rank found. */
typedef struct Rank
{
  const Setting *setting;
  double off, size; /* of the averages, and of the weights */
  double moved;     /* of averages from weights */
  uint64_t states;  /* bytes */
  int64_t own;
} Rank;

static QmStatus
make_plan (const Setting *setting,
           int rank,
           double decay,
           QmPlan **plan,
           QmError *error)
{
  const QmRecipe recipe = { .batch_size = 2 * setting->options.ranks,
                            .steps = STEPS,
                            .sequence_length = LENGTH,
                            .precision = setting->precision,
                            .optimizer = setting->optimizer,
                            .learning_rate = 0.01,
                            .beta1 = 0.9,
                            .beta2 = 0.95,
                            .epsilon = 1e-8,
                            .weight_decay = 0.1,
                            .max_grad_norm = 1,
                            .dropout = NAN,
                            .ema_decay = decay,
                            .muon_learning_rate = 0.01,
                            .muon_momentum = 0.9 };
  QmPlanOptions options = setting->options;

  options.rank = rank;
  return qm_plan_new (setting->config, &recipe, &options, plan, error);
}

static size_t
count (const QmGraph *graph, size_t parameter)
{
  return (size_t) qm_tensor_elements (
      qm_graph_tensor (graph, graph->parameters[parameter].value));
}

/* Before the first update, the average is the weights. */
static QmStatus
follow (Rank *rank,
        QmExecutor *executor,
        const QmGraph *graph,
        int step,
        double **expected,
        QmError *error)
{
  QmStatus status = QM_OK;

  for (size_t i = 0; i < graph->n_parameters && status == QM_OK; i++)
    {
      size_t n = count (graph, i);
      float *weights = malloc (n * sizeof *weights);
      float *average = malloc (n * sizeof *average);

      status = qm_executor_read_floats (executor, graph->parameters[i].value,
                                        weights, error);
      if (status == QM_OK && step > 0)
        status = qm_executor_read_average (executor, i, average, error);
      if (step == 0)
        expected[i] = malloc (n * sizeof *expected[i]);
      for (size_t j = 0; j < n && status == QM_OK; j++)
        {
          double *e = &expected[i][j];

          *e = step == 0 ? weights[j] : DECAY * *e + (1 - DECAY) * weights[j];
          if (step == 0)
            continue;
          rank->off = fmax (rank->off, fabs (average[j] - *e));
          rank->size = fmax (rank->size, fabs (*e));
          rank->moved = fmax (rank->moved, fabs (*e - weights[j]));
        }
      free (weights);
      free (average);
    }
  return status;
}

static QmStatus
train (void *data,
       int number,
       QmDevice *device,
       QmCommunicator *communicator,
       QmError *error)
{
  Rank *rank = data;
  QmExecutor *executor = NULL;
  QmPlan *plan = NULL;
  double **expected = NULL;
  QmStatus status = make_plan (rank->setting, number, DECAY, &plan, error);

  if (status == QM_OK)
    {
      expected = calloc (plan->graph->n_parameters, sizeof *expected);
      rank->states =
          plan->options.offload ? plan->memory.host : plan->memory.optimizer;
      rank->own = plan->own;
      status =
          qm_executor_new (plan, device, communicator, 5, &executor, error);
    }
  if (status == QM_OK)
    status = qm_executor_initialise (executor, error);
  if (status == QM_OK)
    status = qm_executor_random_batch (executor, error);
  for (int step = 0; step <= STEPS && status == QM_OK; step++)
    {
      if (step > 0)
        status = qm_executor_pass (executor, true, error);
      if (status == QM_OK && step > 0)
        status = qm_executor_update (executor, error);
      if (status == QM_OK)
        status = follow (rank, executor, plan->graph, step, expected, error);
    }
  for (size_t i = 0; expected != NULL && i < plan->graph->n_parameters; i++)
    free (expected[i]);
  free (expected);
  qm_executor_free (executor);
  qm_plan_free (plan);
  return status;
}

/* Of memory, an average is as much as a moment: no more, no less. */
static void
check_memory (const Setting *setting, const Rank *rank, int number)
{
  QmPlan *plan = NULL;
  uint64_t more = 4 * (uint64_t) rank->own, page = UINT64_C (2) << 20;

  CHECK_INT (make_plan (setting, number, 0, &plan, NULL), QM_OK);
  if (plan == NULL)
    return;
  if (setting->options.offload)
    CHECK_INT (rank->states - plan->memory.host,
               (more + page - 1) / page * page);
  else
    CHECK_INT (rank->states - plan->memory.optimizer, more);
  qm_plan_free (plan);
}

static void
test (const Setting *setting)
{
  Rank ranks[IN_RANKS_MAX] = { { NULL } };
  int n = setting->options.ranks;
  char name[120];

  snprintf (name, sizeof name, "%s, %s, %s%s, %d ranks",
            qm_optimizer_name (setting->optimizer),
            qm_precision_name (setting->precision),
            qm_sharding_name (setting->options.sharding),
            setting->options.offload ? ", offloading" : "", n);
  check_case (name);
  for (int i = 0; i < n; i++)
    ranks[i].setting = setting;
  in_ranks_run (setting->place, n, train, ranks, sizeof *ranks);
  for (int i = 0; i < n; i++)
    {
      CHECK (ranks[i].size > 0 && ranks[i].moved > 0.01);
      CHECK (ranks[i].off <= 2e-7 * fmax (1, ranks[i].size));
      check_memory (setting, &ranks[i], i);
    }
}

/* Without, there is nothing to be read. */
static void
test_none (const Setting *setting)
{
  QmDevice *device = NULL;
  QmExecutor *executor = NULL;
  QmPlan *plan = NULL;
  float value;

  check_case ("none");
  CHECK_INT (qm_device_open (setting->place->device, 0, &device, NULL), QM_OK);
  CHECK_INT (make_plan (setting, 0, 0, &plan, NULL), QM_OK);
  CHECK_INT (qm_executor_new (plan, device, NULL, 5, &executor, NULL), QM_OK);
  for (size_t i = 0; plan != NULL && i < plan->graph->n_nodes; i++)
    CHECK (plan->graph->nodes[i].op != QM_OP_AVERAGE);
  if (executor != NULL)
    CHECK_INT (qm_executor_read_average (executor, 0, &value, NULL),
               QM_STATUS_UNSUPPORTED);
  qm_executor_free (executor);
  qm_plan_free (plan);
  qm_device_close (device);
}

int
main (int argc, char **argv)
{
  QmModelConfig config = { 0 };
  const RanksPlace place = in_ranks_place (argc > 2 ? argv[2] : "cpu");
  Setting setting = { .config = &config,
                      .place = &place,
                      .optimizer = QM_OPTIMIZER_ADAMW,
                      .options = {
                          .micro_batch = 2, .bucket = BUCKET, .ranks = 1 } };

  CHECK (argc >= 2);
  if (argc < 2)
    return check_report ();
  setting.options.target = place.target;
  golden_config (argv[1], "gpt2", &config);
  test_none (&setting);
  for (int i = 0; i < QM_N_OPTIMIZERS; i++)
    {
      setting.optimizer = (QmOptimizer) i;
      test (&setting);
    }
  setting.optimizer = QM_OPTIMIZER_ADAMW;
  for (int i = 0; i < 2 * QM_N_SHARDINGS; i++)
    {
      setting.options.sharding = (QmSharding) (i / 2);
      setting.precision = i % 4 == 1 ? QM_PRECISION_FP32 : QM_PRECISION_BF16;
      setting.options.offload = i % 2 == 1;
      setting.options.ranks = 1;
      if (setting.options.offload
          && setting.options.sharding == QM_SHARDING_NONE)
        continue;
      if (setting.options.offload)
        test (&setting);
      setting.options.ranks = in_ranks_some (&place, i % 3 == 0 ? 3 : 2);
      if (setting.options.ranks > 1)
        test (&setting);
    }
  return check_report ();
}
