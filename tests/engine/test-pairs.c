/* SPDX-License-Identifier: Apache-2.0 */

/* Pairs of images and texts: gradients of their losses, and what a pass is to
 * be told from.  usage: test-pairs FOLDER [DEVICE [MODEL]...] */

#include "engine/executor.h"
#include "engine/plan.h"
#include "tests/data/check.h"
#include "tests/engine/golden-config.h"
#include "tests/engine/gradient-bench.h"
#include "tests/engine/in-ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES  4
#define FEATURES 5

static QmValueId
keep (GradientBench *bench, QmValueId x, QmValueId *first)
{
  QmValueId all = qm_graph_value (bench->graph, QM_ROLE_STATE, QM_TYPE_F32, 2,
                                  (int64_t[]){ SAMPLES, FEATURES }, "kept");
  QmNode *node;

  *first = qm_graph_value (bench->graph, QM_ROLE_TEMPORARY, QM_TYPE_I32, 1,
                           (int64_t[]){ 1 }, "first");
  node = gradient_append (bench, QM_OP_KEEP_ROWS);
  node->attributes.count = node->attributes.chunk = 1;
  node->inputs[0] = x;
  node->inputs[1] = bench->graph->rng;
  node->outputs[0] = all;
  node->outputs[1] = *first;
  return all;
}

static QmValueId
multiply (GradientBench *bench, QmValueId x, QmValueId all)
{
  QmValueId y = gradient_value (bench, 2, (int64_t[]){ SAMPLES, SAMPLES });
  QmNode *node = gradient_append (bench, QM_OP_LINEAR);

  node->inputs[0] = x;
  node->inputs[1] = all;
  node->outputs[0] = y;
  return y;
}

static QmValueId
sum_up (GradientBench *bench, QmValueId x, QmValueId temperature)
{
  QmValueId y = gradient_value (bench, 1, (int64_t[]){ SAMPLES });
  QmNode *node = gradient_append (bench, QM_OP_CONTRAST_SUMS);

  node->inputs[0] = x;
  node->inputs[1] = temperature;
  node->outputs[0] = y;
  return y;
}

/* Rows of both sides lose something, and each has the gradient of both. */
static void
test_gradients (bool pairs)
{
  GradientBench bench;
  QmValueId x[2], all[2], cosines[2], sums[2] = { QM_NO_VALUE, QM_NO_VALUE };
  QmValueId first, temperature, bias = QM_NO_VALUE, losses;

  gradient_begin (&bench, pairs ? "loss of pairs" : "loss of directions");
  for (int i = 0; i < 2; i++)
    {
      QmValueId given = gradient_input2 (&bench, SAMPLES, FEATURES);

      x[i] = gradient_copy (&bench, given);
    }
  temperature = gradient_input1 (&bench, 1);
  if (pairs)
    bias = gradient_input1 (&bench, 1);
  losses = gradient_value (&bench, 1, (int64_t[]){ 2 * SAMPLES });
  for (int i = 0; i < 2; i++)
    all[i] = keep (&bench, x[i], &first);
  for (int i = 0; i < 2; i++)
    {
      cosines[i] = multiply (&bench, x[i], all[1 - i]);
      if (!pairs)
        sums[i] = sum_up (&bench, cosines[i], temperature);
    }
  for (int i = 0; i < 2; i++)
    {
      QmValueId slope =
          gradient_value (&bench, 2, (int64_t[]){ SAMPLES, SAMPLES });
      QmValueId along = gradient_value (&bench, 1, (int64_t[]){ SAMPLES });
      QmValueId shift = pairs
                            ? gradient_value (&bench, 1, (int64_t[]){ SAMPLES })
                            : QM_NO_VALUE;
      QmNode *node;

      all[i] = qm_graph_view (bench.graph, losses, 1, (int64_t[]){ SAMPLES },
                              (int64_t[]){ 1 }, i * SAMPLES);
      node = gradient_append (&bench, QM_OP_CONTRAST_LOSS);
      node->attributes.scale = 0.3;
      node->inputs[0] = cosines[i];
      node->inputs[1] = temperature;
      node->inputs[2] = bias;
      node->inputs[3] = first;
      node->inputs[4] = sums[i];
      node->inputs[5] = sums[1 - i];
      node->inputs[6] = bench.graph->state;
      node->outputs[0] = slope;
      node->outputs[1] = all[i];
      node->outputs[2] = along;
      node->outputs[3] = shift;
    }
  gradient_sum (&bench, losses);
  gradient_end (&bench);
}

/* How a model is trained on ALL pairs a pass, and what came of it. */
typedef struct Way
{
  QmModelConfig config;
  QmPlanOptions options;
  QmPrecision precision;
  float *gradients; /* after the first pass, of all parameters */
  size_t n;
  float losses[2], norms[2];
} Way;

#define ALL 12

static void
read_gradients (QmExecutor *executor, const QmGraph *graph, Way *way)
{
  for (size_t i = 0; i < graph->n_parameters; i++)
    way->n += (size_t) qm_tensor_elements (
        qm_graph_tensor (graph, graph->parameters[i].value));
  way->gradients = calloc (way->n, sizeof *way->gradients);
  way->n = 0;
  for (size_t i = 0; i < graph->n_parameters && way->gradients != NULL; i++)
    {
      CHECK_INT (qm_executor_read_floats (executor,
                                          graph->parameters[i].gradient,
                                          way->gradients + way->n, NULL),
                 QM_OK);
      way->n += (size_t) qm_tensor_elements (
          qm_graph_tensor (graph, graph->parameters[i].value));
    }
}

/* Samples from `first` on, of a step. */
static QmStatus
write_samples (QmExecutor *executor,
               const QmGraph *graph,
               int64_t first,
               int step,
               QmError *error)
{
  int64_t n = qm_tensor_elements (qm_graph_tensor (graph, graph->pixels));
  int64_t tokens = qm_tensor_elements (qm_graph_tensor (graph, graph->ids));
  int64_t batch = qm_graph_tensor (graph, graph->ids)->shape[0];
  float *pixels = calloc ((size_t) n, sizeof *pixels);
  int32_t *ids = calloc ((size_t) tokens, sizeof *ids);
  QmStatus status;

  for (int64_t i = 0; i < n; i++)
    pixels[i] = (float) sin ((double) (first * (n / batch) + i + step) * 0.37);
  for (int64_t i = 0; i < tokens; i++)
    ids[i] = (int32_t) ((first * (tokens / batch) + i + step) * 7919 % 67);
  status = qm_executor_write_floats (executor, graph->pixels, pixels, error);
  if (status == QM_OK)
    status = qm_executor_write_ints (executor, graph->ids, ids, error);
  free (pixels);
  free (ids);
  return status;
}

static QmStatus
run_steps (QmExecutor *executor, const QmPlan *plan, Way *way, QmError *error)
{
  int64_t first = plan->options.rank * plan->options.micro_batch;
  float state[QM_STATE_SIZE];
  QmStatus status = QM_OK;

  for (int i = 0; i < 2 && status == QM_OK; i++)
    {
      status = write_samples (executor, plan->graph, first, i, error);
      if (status == QM_OK)
        status = qm_executor_pass (executor, true, error);
      if (status == QM_OK && i == 0)
        read_gradients (executor, plan->graph, way);
      if (status == QM_OK)
        status = qm_executor_update (executor, error);
      if (status == QM_OK)
        status = qm_executor_read_floats (executor, plan->graph->state, state,
                                          error);
      way->losses[i] = state[QM_STATE_LOSS];
      way->norms[i] = state[QM_STATE_NORM];
    }
  return status;
}

static QmStatus
train (void *data,
       int rank,
       QmDevice *device,
       QmCommunicator *communicator,
       QmError *error)
{
  Way *way = data;
  const QmRecipe recipe = { .batch_size = ALL,
                            .steps = 2,
                            .image_size = way->config.clip.image_size,
                            .precision = way->precision,
                            .optimizer = QM_OPTIMIZER_ADAMW,
                            .learning_rate = 1e-3,
                            .beta1 = 0.9,
                            .beta2 = 0.95,
                            .epsilon = 1e-8,
                            .dropout = NAN };
  QmExecutor *executor = NULL;
  QmPlan *plan = NULL;
  QmStatus status;

  way->options.rank = rank;
  status = qm_plan_new (&way->config, &recipe, &way->options, &plan, error);
  if (status == QM_OK)
    status = qm_executor_new (plan, device, communicator, 11, &executor, error);
  if (status == QM_OK)
    status = qm_executor_initialise (executor, error);
  if (status == QM_OK)
    status = run_steps (executor, plan, way, error);
  qm_executor_free (executor);
  qm_plan_free (plan);
  return status;
}

static void
compare (const Way *one, const Way *other, double allowed)
{
  double difference = 0, size = 0;

  CHECK_INT ((int64_t) other->n, (int64_t) one->n);
  for (size_t i = 0; i < one->n && i < other->n; i++)
    {
      double wrong = (double) other->gradients[i] - one->gradients[i];

      difference += wrong * wrong;
      size += (double) one->gradients[i] * one->gradients[i];
    }
  CHECK (size > 0 && sqrt (difference) <= allowed * sqrt (size));
  for (int i = 0; i < 2; i++)
    {
      CHECK_NEAR (other->losses[i], one->losses[i],
                  allowed * fabs (one->losses[i]));
      CHECK_NEAR (other->norms[i], one->norms[i],
                  (1 + 9 * i) * allowed * fabs (one->norms[i]));
    }
}

/* Ranks tell pairs from those of all of them: loss and gradients are those of
 * one that has all of the micro-batches at once, and of one that tells them
 * from its own alone they are not. */
static void
test_ranks (const RanksPlace *place,
            const QmModelConfig *config,
            const QmPlanOptions *options,
            QmPrecision precision)
{
  double allowed = precision == QM_PRECISION_FP32 ? 1e-4 : 3e-2;
  int n = in_ranks_some (place, 3);
  Way one = { .config = *config, .options = *options, .precision = precision };
  Way apart, ranks[IN_RANKS_MAX];

  one.options.target = place->target;
  one.options.micro_batch = ALL;
  one.options.sharding = QM_SHARDING_NONE;
  apart = one;
  apart.options.micro_batch = ALL / n;
  in_ranks_run (place, 1, train, &one, sizeof one);
  in_ranks_run (place, 1, train, &apart, sizeof apart);
  for (int i = 0; i < n; i++)
    {
      ranks[i] = apart;
      ranks[i].options.ranks = n;
      ranks[i].options.sharding = options->sharding;
      ranks[i].gradients = NULL;
      ranks[i].n = 0;
    }
  in_ranks_run (place, n, train, ranks, sizeof *ranks);
  for (int i = 0; i < n; i++)
    {
      compare (&one, &ranks[i], allowed);
      free (ranks[i].gradients);
    }
  CHECK (n == 1
         || fabsf (apart.losses[0] - one.losses[0] / (float) n)
                > 0.01f * fabsf (apart.losses[0]));
  free (one.gradients);
  free (apart.gradients);
}

static void
test_model (const char *folder, const RanksPlace *place, const char *model)
{
  static const QmSharding shardings[3] = { QM_SHARDING_NONE, QM_SHARDING_ZERO_2,
                                           QM_SHARDING_FSDP_3 };
  QmModelConfig config = { 0 };

  golden_config (folder, model, &config);
  for (int i = 0; i < 6; i++)
    {
      const QmPlanOptions options = {
        .methods = i % 2 == 0 ? QM_METHOD_ALL & ~QM_METHOD_TF32 : 0,
        .checkpoint = i % 3 == 1,
        .deterministic = true,
        .sharding = shardings[i % 3],
        .bucket = 500,
      };
      char name[64];

      snprintf (name, sizeof name, "%s, %s, %d", model,
                qm_sharding_name (options.sharding), i);
      check_case (name);
      test_ranks (place, &config, &options,
                  i < 4 ? QM_PRECISION_FP32 : QM_PRECISION_BF16);
    }
}

int
main (int argc, char **argv)
{
  RanksPlace place;

  CHECK (argc >= 2);
  test_gradients (false);
  test_gradients (true);
  if (argc < 2)
    return check_report ();
  place = in_ranks_place (argc > 2 ? argv[2] : "cpu");
  for (int i = 3; i < argc; i++)
    test_model (argv[1], &place, argv[i]);
  for (int i = 0; argc <= 3 && i < 2; i++)
    test_model (argv[1], &place, i == 0 ? "clip" : "siglip");
  return check_report ();
}
