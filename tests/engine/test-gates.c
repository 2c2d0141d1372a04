/* SPDX-License-Identifier: Apache-2.0 */

/* Gates in the ends of products: their gradients, which graphs have them and
 * which have not, and what plans of models and predictions gain. */

#include "data/catalog.h"
#include "engine/passes.h"
#include "engine/plan.h"
#include "engine/trained.h"
#include "tests/data/check.h"
#include "tests/engine/gradient-bench.h"

#include <stdio.h>
#include <stdlib.h>

static const QmTarget hopper = { QM_DEVICE_CUDA, 90 };

#define ROWS     5
#define WIDTH    3
#define FEATURES 4

static int
count_in (const QmGraph *graph, QmOp op)
{
  int n = 0;

  for (size_t i = 0; i < graph->n_nodes; i++)
    n += graph->nodes[i].op == op;
  return n;
}

/* What a layer of a test is like, and how many operators of each kind it has
 * after the pass. */
typedef struct Layer
{
  const char *name;
  QmFunction function;
  bool bias;
  bool swapped; /* the second half gates the first */
  bool doubled; /* what is gated goes through a sum before the next product */
  int forward, backward;
} Layer;

static const Layer layers[] = {
  { "silu", QM_FUNCTION_SILU, false, false, false, 1, 1 },
  { "gelu and bias", QM_FUNCTION_GELU, true, false, false, 1, 1 },
  { "squares", QM_FUNCTION_RELU2, false, false, false, 1, 1 },
  { "swapped halves", QM_FUNCTION_SILU, true, true, false, 0, 0 },
  { "a sum between", QM_FUNCTION_SILU, false, false, true, 1, 0 },
};

static const Layer *layer_of_pass;

static QmStatus
pass_and_count (QmGraph *graph, QmError *error)
{
  QmStatus status = qm_pass_gates (graph, error);
  const Layer *layer = layer_of_pass;

  CHECK_INT (count_in (graph, QM_OP_GATED_LINEAR), layer->forward);
  CHECK_INT (count_in (graph, QM_OP_GATE), 1 - layer->forward);
  CHECK_INT (count_in (graph, QM_OP_GATED_INPUT_GRAD), layer->backward);
  CHECK_INT (count_in (graph, QM_OP_GATE_BACKWARD), 1 - layer->backward);
  return status;
}

static QmValueId
append_layer (GradientBench *bench, QmValueId x, QmValueId w, QmValueId bias)
{
  const QmTensor *rows = qm_graph_tensor (bench->graph, x);
  const QmTensor *out = qm_graph_tensor (bench->graph, w);
  QmValueId y =
      gradient_value (bench, 2, (int64_t[]){ rows->shape[0], out->shape[0] });
  QmNode *node = gradient_append (bench, QM_OP_LINEAR);

  node->inputs[0] = x;
  node->inputs[1] = w;
  node->inputs[2] = bias;
  node->outputs[0] = y;
  return y;
}

/* y = (activation(gate) x up) w', where gate and up are halves of one product.
 */
static void
test_layer (const Layer *layer)
{
  GradientBench bench;
  QmValueId x, both, down, bias, pre, halves[2], y;
  QmNode *node;

  gradient_begin (&bench, layer->name);
  x = gradient_input2 (&bench, ROWS, WIDTH);
  both = gradient_input2 (&bench, 2 * FEATURES, WIDTH);
  down = gradient_input2 (&bench, WIDTH, FEATURES);
  bias = layer->bias ? gradient_input1 (&bench, 2 * FEATURES) : QM_NO_VALUE;
  pre = append_layer (&bench, x, both, bias);
  for (int i = 0; i < 2; i++)
    halves[i] =
        qm_graph_view (bench.graph, pre, 2, (int64_t[]){ ROWS, FEATURES },
                       (int64_t[]){ 2 * FEATURES, 1 }, i * FEATURES);
  y = gradient_value (&bench, 2, (int64_t[]){ ROWS, FEATURES });
  node = gradient_append (&bench, QM_OP_GATE);
  node->attributes.activation = layer->function;
  node->inputs[0] = halves[layer->swapped];
  node->inputs[1] = halves[!layer->swapped];
  node->outputs[0] = y;
  if (layer->doubled)
    {
      QmValueId sum = gradient_value (&bench, 2, (int64_t[]){ ROWS, FEATURES });

      node = gradient_append (&bench, QM_OP_ADD);
      node->inputs[0] = node->inputs[1] = y;
      node->outputs[0] = sum;
      y = sum;
    }
  bench.output = append_layer (&bench, y, down, QM_NO_VALUE);
  bench.pass = pass_and_count;
  layer_of_pass = layer;
  gradient_end (&bench);
}

static void
test_plan (const QmModel *model, int n)
{
  QmPlanOptions options = { .target = hopper,
                            .methods = QM_METHOD_ALL,
                            .micro_batch = 1 };
  int kept[2] = { 0, 0 };
  uint64_t live[2] = { 0, 0 };
  QmPlan *plan;

  check_case (model->id);
  /* Other software has both apart, and a gradient more in memory. */
  for (int foreign = 0; foreign < 2; foreign++)
    {
      options.foreign = foreign;
      CHECK_INT (qm_plan_new (&model->config, &model->recipe, &options, &plan,
                              NULL),
                 QM_OK);
      if (plan == NULL)
        return;
      CHECK_INT (count_in (plan->graph, QM_OP_GATED_LINEAR), foreign ? 0 : n);
      CHECK_INT (count_in (plan->graph, QM_OP_GATED_INPUT_GRAD),
                 foreign ? 0 : n);
      CHECK_INT (count_in (plan->graph, QM_OP_GATE), foreign ? n : 0);
      CHECK_INT (count_in (plan->graph, QM_OP_GATE_BACKWARD), foreign ? n : 0);
      live[foreign] = plan->memory.live;
      qm_plan_free (plan);
    }
  CHECK (live[0] <= live[1]);
  /* With checkpointing what is gated is made twice, and what it is made of is
   * kept the second time alone. */
  options.foreign = false;
  options.checkpoint = true;
  CHECK_INT (qm_plan_new (&model->config, &model->recipe, &options, &plan,
                          NULL),
             QM_OK);
  for (size_t i = 0; plan != NULL && i < plan->graph->n_nodes; i++)
    {
      const QmNode *node = &plan->graph->nodes[i];

      if (node->op == QM_OP_GATED_LINEAR && node->outputs[1] != QM_NO_VALUE)
        kept[node->phase == QM_PHASE_RECOMPUTE]++;
    }
  if (plan != NULL)
    {
      CHECK_INT (count_in (plan->graph, QM_OP_GATED_LINEAR), 2 * n);
      CHECK_INT (count_in (plan->graph, QM_OP_GATED_INPUT_GRAD), n);
    }
  CHECK_INT (kept[0], 0);
  CHECK_INT (kept[1], n);
  qm_plan_free (plan);
}

static double
pass_of (const QmWork *work,
         const QmCatalog *catalog,
         const QmCalibration *calibration,
         const char *gpu)
{
  const QmLevel *level = qm_calibration_level (calibration, "engine");
  QmPrediction prediction = { 0 };
  QmSpeeds speeds;

  CHECK_INT (qm_speeds_of_gpu (calibration, qm_catalog_gpu (catalog, gpu), 1,
                               QM_INTERCONNECT_OF_GPU, &speeds, NULL),
             QM_OK);
  CHECK_INT (qm_predict (work, &speeds, level, &prediction, NULL), QM_OK);
  return prediction.pass;
}

/* On Hopper, for which there are kernels, what is between a product and its
 * gate does not move, of `spared` halves of what gates and what is gated;
 * elsewhere it does, and nobody's measurements of before were with them. */
static void
test_prediction (const QmCatalog *catalog,
                 const QmCalibration *calibration,
                 const char *name,
                 int64_t inner,
                 bool checkpoint,
                 int spared)
{
  const QmModel *model = qm_catalog_model (catalog, name);
  QmPlanOptions options = { .target = hopper,
                            .methods = QM_METHOD_ALL,
                            .checkpoint = checkpoint,
                            .micro_batch = 2 };
  double half = 2.0 * (double) (2 * model->recipe.sequence_length * inner);
  double sum = 0, h100, a100;
  QmPlan *plan;
  QmWork *work;

  check_case (name);
  CHECK_INT (qm_plan_new (&model->config, &model->recipe, &options, &plan,
                          NULL),
             QM_OK);
  CHECK_INT (qm_work_new (plan, &work, NULL), QM_OK);
  qm_plan_free (plan);
  if (work == NULL)
    return;
  for (size_t i = 0; i < work->n; i++)
    {
      CHECK (work->rows[i].spared < work->rows[i].bytes);
      sum += work->rows[i].spared * work->rows[i].count;
    }
  CHECK_NEAR (sum, half * spared, 1e-12);
  h100 = pass_of (work, catalog, calibration, "h100-80gb-sxm");
  a100 = pass_of (work, catalog, calibration, "a100-80gb-sxm");
  qm_work_part_gates (work);
  CHECK_NEAR (pass_of (work, catalog, calibration, "a100-80gb-sxm"), a100, 0);
  h100 /= pass_of (work, catalog, calibration, "h100-80gb-sxm");
  CHECK (h100 > 0.95 && h100 < 0.99);
  qm_work_free (work);
}

static void
test_before (void)
{
  check_case ("before and after");
  CHECK (qm_trained_before_gates ((QmDate){ 2026, 11, 27 }));
  CHECK (!qm_trained_before_gates ((QmDate){ 2026, 11, 28 }));
  CHECK (!qm_trained_before_gates ((QmDate){ 2027, 1, 1 }));
}

/* A rate is of the day that it was measured on, and what nobody knows the day
 * of is of before. */
static void
test_rates (const QmCatalog *catalog, const QmCalibration *calibration)
{
  static const QmDate days[] = { { 0 }, { 2026, 11, 27 }, { 2026, 11, 28 } };
  double steps[3];

  check_case ("rates");
  for (size_t i = 0; i < 3; i++)
    {
      const QmTrainingRate rate = { .model = "smollm3-3b",
                                    .config = "",
                                    .batch = 2,
                                    .micro_batch = 2,
                                    .precision = QM_PRECISION_BF16,
                                    .gpu = "h200-141gb-sxm",
                                    .gpus = 1,
                                    .link = "",
                                    .level = "engine",
                                    .settings = "",
                                    .sequence = 4096,
                                    .measured_on = days[i] };
      QmPrediction prediction = { 0 };
      QmTrained trained;

      CHECK_INT (qm_trained_read (&rate, catalog, &trained, NULL), QM_OK);
      CHECK_INT (qm_trained_plan (&trained, NULL), QM_OK);
      CHECK_INT (qm_trained_predict (&trained, calibration, &prediction, NULL),
                 QM_OK);
      steps[i] = prediction.step;
      qm_trained_clear (&trained);
    }
  CHECK (steps[0] > 0);
  CHECK_NEAR (steps[1], steps[0], 0);
  CHECK (steps[2] < 0.99 * steps[1]);
}

int
main (void)
{
  static QmCalibration calibration;
  char path[4096];
  QmCatalog *catalog;

  for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++)
    test_layer (&layers[i]);
  CHECK_INT (qm_catalog_load (getenv ("QM_TEST_DATA_DIR"), NULL, &catalog,
                              NULL),
             QM_OK);
  test_plan (qm_catalog_model (catalog, "smollm3-3b"), 36);
  test_plan (qm_catalog_model (catalog, "modernbert-large"), 28);
  snprintf (path, sizeof path, "%s/calibration.csv",
            getenv ("QM_TEST_DATA_DIR"));
  CHECK_INT (qm_calibration_load (path, &calibration, NULL), QM_OK);
  /* Of each layer the gate reads two less, and on the way back the gradient is
   * neither written nor read; with checkpointing the first of two forward
   * passes writes none of both, either. */
  test_prediction (catalog, &calibration, "smollm3-3b", 11008, false, 36 * 4);
  test_prediction (catalog, &calibration, "smollm3-3b", 11008, true, 36 * 8);
  test_prediction (catalog, &calibration, "modernbert-large", 2624, false,
                   28 * 4);
  test_before ();
  test_rates (catalog, &calibration);
  qm_catalog_free (catalog);
  return check_report ();
}
