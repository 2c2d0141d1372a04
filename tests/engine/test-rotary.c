/* SPDX-License-Identifier: Apache-2.0 */

/* Rotary positions in the ends of products: their gradients, which graphs have
 * them and which have not, that models compute the same with them, and what
 * plans have.  usage: test-rotary FOLDER */

#include "data/catalog.h"
#include "engine/executor.h"
#include "engine/passes.h"
#include "tests/data/check.h"
#include "tests/engine/golden-config.h"
#include "tests/engine/gradient-bench.h"
#include "tests/engine/vary.h"

#include <math.h>
#include <stdlib.h>

static const QmTarget hopper = { QM_DEVICE_CUDA, 90 };

#define BATCH  2
#define LENGTH 3
#define INNER  4
#define HEADS  6
#define WIDTH  6
#define ROW    (HEADS * WIDTH)
#define TURNED 4

static int
count_of (const QmGraph *graph, QmOp op)
{
  int n = 0;

  for (size_t i = 0; i < graph->n_nodes; i++)
    n += graph->nodes[i].op == op;
  return n;
}

/* What a layer of a test is like: its parts and heads, and the strides of these
 * two; and what it becomes: of how many heads how many turn, or 0 where it
 * stays two operators. */
typedef struct Layer
{
  const char *name;
  int64_t parts, heads, part, head, count;
  bool bias;
  bool inverse;
  bool late;    /* the table is made after the product */
  bool doubled; /* what the product makes is read once more */
  int64_t chunk, turning;
} Layer;

static const Layer layers[] = {
  { "heads packed", 6, 1, WIDTH, WIDTH, 4, true, false, false, false, 6, 4 },
  { "parts of a head", 3, 2, WIDTH, 3 * WIDTH, 2, false, false, false, false, 3,
    2 },
  { "parts apart", 3, 2, 2 * WIDTH, WIDTH, 2, true, false, false, false, 6, 4 },
  { "one part", 1, 6, ROW, WIDTH, 1, false, false, false, false, 6, 6 },
  { "a late table", 6, 1, WIDTH, WIDTH, 5, false, false, true, false, 6, 5 },
  { "backwards", 6, 1, WIDTH, WIDTH, 4, false, true, false, false, 0, 0 },
  { "read twice", 6, 1, WIDTH, WIDTH, 4, true, false, false, true, 0, 0 },
};

static const Layer *layer_of_pass;

static QmStatus
pass_and_look (QmGraph *graph, QmError *error)
{
  QmStatus status = qm_pass_rotary (graph, error);
  const Layer *layer = layer_of_pass;

  CHECK_INT (count_of (graph, QM_OP_ROTARY_LINEAR), layer->chunk > 0);
  CHECK_INT (count_of (graph, QM_OP_LINEAR), layer->chunk == 0);
  /* and one of the gradient, which is none of this pass */
  CHECK_INT (count_of (graph, QM_OP_ROTARY), layer->chunk > 0 ? 1 : 2);
  for (size_t i = 0; i < graph->n_nodes; i++)
    if (graph->nodes[i].op == QM_OP_ROTARY_LINEAR)
      {
        CHECK_INT (graph->nodes[i].attributes.chunk, layer->chunk);
        CHECK_INT (graph->nodes[i].attributes.count, layer->turning);
        CHECK_INT (graph->nodes[i].attributes.width, WIDTH);
      }
  return status;
}

static QmNode *
append_table (GradientBench *bench, QmValueId rng, QmValueId table)
{
  QmNode *node = gradient_append (bench, QM_OP_RANDOM);

  node->attributes.scale = 1;
  node->attributes.site = 5;
  node->inputs[0] = rng;
  node->outputs[0] = table;
  return node;
}

/* Any numbers do as angles: what is tested is linear. */
static void
test_layer (const Layer *layer)
{
  const int64_t shape[5] = { BATCH, LENGTH, layer->parts, layer->heads, WIDTH };
  const int64_t strides[5] = { LENGTH * ROW, ROW, layer->part, layer->head, 1 };
  const int64_t matrix[2] = { BATCH * LENGTH, ROW };
  GradientBench bench;
  QmValueId x, w, bias, y, turned, table;
  QmNode *node;

  gradient_begin (&bench, layer->name);
  x = gradient_input2 (&bench, BATCH * LENGTH, INNER);
  w = gradient_input2 (&bench, ROW, INNER);
  bias = layer->bias ? gradient_input1 (&bench, ROW) : QM_NO_VALUE;
  table = qm_graph_value (bench.graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, 2,
                          (int64_t[]){ LENGTH, TURNED }, "table");
  y = gradient_value (&bench, 2, matrix);
  turned = gradient_value (&bench, 2, matrix);
  if (!layer->late)
    append_table (&bench, bench.graph->rng, table);
  node = gradient_append (&bench, QM_OP_LINEAR);
  node->inputs[0] = x;
  node->inputs[1] = w;
  node->inputs[2] = bias;
  node->outputs[0] = y;
  if (layer->late)
    append_table (&bench, bench.graph->rng, table);
  node = gradient_append (&bench, QM_OP_ROTARY);
  node->attributes = (QmAttributes){ .rotary = TURNED,
                                     .count = layer->count,
                                     .inverse = layer->inverse };
  node->inputs[0] = qm_graph_view (bench.graph, y, 5, shape, strides, 0);
  node->inputs[1] = table;
  node->outputs[0] = qm_graph_view (bench.graph, turned, 5, shape, strides, 0);
  bench.output = turned;
  if (layer->doubled)
    {
      bench.output = gradient_value (&bench, 2, matrix);
      node = gradient_append (&bench, QM_OP_ADD);
      node->inputs[0] = turned;
      node->inputs[1] = y;
      node->outputs[0] = bench.output;
    }
  bench.pass = pass_and_look;
  layer_of_pass = layer;
  gradient_end (&bench);
}

/* What a product reads may not be other numbers where it would be made. */
static void
test_overwritten (bool overwritten)
{
  const int64_t shape[5] = { BATCH, LENGTH, HEADS, 1, WIDTH };
  const int64_t strides[5] = { LENGTH * ROW, ROW, WIDTH, WIDTH, 1 };
  QmGraph *graph = qm_graph_new ();
  QmValueId x, y;
  QmNode *linear, *node;

  check_case (overwritten ? "overwritten" : "written before");
  x = qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, 2,
                      (int64_t[]){ BATCH * LENGTH, INNER }, "x");
  y = qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, 2,
                      (int64_t[]){ BATCH * LENGTH, ROW }, "y");
  for (int i = 0; i < 2; i++)
    {
      if (i == 0 || overwritten)
        qm_graph_append (graph, QM_OP_FILL)->outputs[0] = x;
      if (i > 0)
        break;
      linear = qm_graph_append (graph, QM_OP_LINEAR);
      linear->inputs[0] = x;
      linear->inputs[1] = qm_graph_value (graph, QM_ROLE_CONSTANT, QM_TYPE_F32,
                                          2, (int64_t[]){ ROW, INNER }, "w");
      linear->outputs[0] = y;
    }
  node = qm_graph_append (graph, QM_OP_ROTARY);
  node->attributes = (QmAttributes){ .rotary = TURNED, .count = 4 };
  node->inputs[0] = qm_graph_view (graph, y, 5, shape, strides, 0);
  node->inputs[1] = qm_graph_value (graph, QM_ROLE_CONSTANT, QM_TYPE_F32, 2,
                                    (int64_t[]){ LENGTH, TURNED }, "table");
  node->outputs[0] = qm_graph_view (
      graph, qm_graph_like (graph, y, QM_ROLE_TEMPORARY, QM_TYPE_F32, "turned"),
      5, shape, strides, 0);
  CHECK_INT (qm_pass_rotary (graph, NULL), QM_OK);
  CHECK_INT (count_of (graph, QM_OP_ROTARY_LINEAR), !overwritten);
  qm_graph_free (graph);
}

/* Loss and gradients of two passes, one behind the other. */
static float *
compute (QmDevice *device,
         const QmModelConfig *config,
         const QmRecipe *recipe,
         const QmPlanOptions *options,
         size_t *n,
         int *fused)
{
  QmPlan *plan = NULL;
  QmExecutor *executor = NULL;
  float *all = NULL;

  *n = 1;
  CHECK_INT (qm_plan_new (config, recipe, options, &plan, NULL), QM_OK);
  if (plan != NULL)
    CHECK_INT (qm_executor_new (plan, device, NULL, 7, &executor, NULL), QM_OK);
  if (executor != NULL)
    {
      const QmGraph *graph = plan->graph;

      *fused = count_of (graph, QM_OP_ROTARY_LINEAR);
      for (size_t i = 0; i < graph->n_parameters; i++)
        *n += (size_t) qm_tensor_elements (
            qm_graph_tensor (graph, graph->parameters[i].gradient));
      all = calloc (*n, sizeof *all);
      CHECK_INT (qm_executor_initialise (executor, NULL), QM_OK);
      CHECK_INT (qm_executor_random_batch (executor, NULL), QM_OK);
      for (int i = 0; i < 2; i++)
        CHECK_INT (qm_executor_pass (executor, true, NULL), QM_OK);
      CHECK_INT (qm_executor_read_floats (executor, graph->loss, all, NULL),
                 QM_OK);
      *n = 1;
      for (size_t i = 0; i < graph->n_parameters; i++)
        {
          QmValueId gradient = graph->parameters[i].gradient;

          CHECK_INT (qm_executor_read_floats (executor, gradient, all + *n,
                                              NULL),
                     QM_OK);
          *n += (size_t) qm_tensor_elements (qm_graph_tensor (graph, gradient));
        }
    }
  qm_executor_free (executor);
  qm_plan_free (plan);
  return all;
}

/* How far two are apart, as a share of one. */
static double
apart (const float *a, const float *b, size_t n)
{
  double difference = 0, size = 0;

  for (size_t i = 0; i < n; i++)
    {
      difference += ((double) a[i] - b[i]) * ((double) a[i] - b[i]);
      size += (double) a[i] * a[i];
    }
  return sqrt (difference / size);
}

/* A golden model, and in how many of its layers queries and keys turn right
 * where they were made. */
typedef struct Model
{
  const char *name;
  int layers;
  bool
      gated; /* its gates are rounded otherwise where they are products' ends */
} Model;

static const Model models[] = {
  { "gpt-neox-parallel", 2, false },
  { "gpt-neox-sequential", 2, false },
  { "starcoder2", 2, false },
  { "starcoder2-yarn", 1, false },
  { "esm", 2, false },
  { "dinov3", 4, false },
  { "dinov3-unbiased", 1, false },
  { "dinov3-gated", 2, true },
  { "llama", 2, true },
  { "mistral", 2, true },
  { "mixtral", 2, true },
  { "qwen2-yarn", 2, true },
  { "smollm3", 2, true },
  { "modernbert", 4, true },
  { "qwen3", 0, true },
  { "olmo3", 0, true },
};

static void
test_model (const char *folder, const Model *model, QmDevice *device)
{
  static const QmPrecision precisions[] = { QM_PRECISION_FP32,
                                            QM_PRECISION_BF16 };
  QmModelConfig config = { 0 };
  char name[96];

  golden_config (folder, model->name, &config);
  for (int i = 0; i < 4; i++)
    {
      int64_t side = vary_image_size (&config);
      const QmRecipe recipe = { .batch_size = 4,
                                .steps = 1,
                                .sequence_length = side > 0 ? 0 : 15,
                                .image_size = side,
                                .precision = precisions[i % 2],
                                .optimizer = QM_OPTIMIZER_ADAMW };
      QmPlanOptions options = { .target = qm_device_info (device)->target,
                                .micro_batch = 2,
                                .methods = QM_METHOD_ALL & ~QM_METHOD_TF32,
                                .checkpoint = i / 2 };
      float *results[2];
      size_t n[2];
      int fused[2] = { -1, -1 };

      snprintf (name, sizeof name, "%s, %s%s", model->name,
                qm_precision_name (precisions[i % 2]),
                options.checkpoint ? ", checkpoints" : "");
      check_case (name);
      for (int j = 0; j < 2; j++)
        {
          options.foreign = j == 1;
          results[j] =
              compute (device, &config, &recipe, &options, &n[j], &fused[j]);
        }
      CHECK_INT (fused[0], model->layers << options.checkpoint);
      CHECK_INT (fused[1], 0);
      CHECK (n[0] == n[1] && results[0] != NULL && results[1] != NULL);
      if (n[0] == n[1] && results[0] != NULL && results[1] != NULL)
        {
          double bar = !model->gated ? 0 : i % 2 == 0 ? 1e-6 : 0.01;

          CHECK (results[0][0] > 0);
          CHECK (apart (results[0], results[1], n[0]) <= bar);
        }
      free (results[0]);
      free (results[1]);
    }
}

/* Products of blocks that are in FP8 end in nothing. */
static void
test_plan (const QmModel *model, int n)
{
  QmPlanOptions options = { .target = hopper,
                            .methods = QM_METHOD_ALL,
                            .micro_batch = 1 };
  QmRecipe recipe = model->recipe;
  QmPlan *plan;

  check_case (model->id);
  for (int i = 0; i < 4; i++)
    {
      options.foreign = i == 1;
      options.checkpoint = i == 2;
      if (i == 3)
        recipe.precision = QM_PRECISION_FP8;
      CHECK_INT (qm_plan_new (&model->config, &recipe, &options, &plan, NULL),
                 QM_OK);
      if (plan == NULL)
        return;
      CHECK_INT (count_of (plan->graph, QM_OP_ROTARY_LINEAR), i == 0   ? n
                                                              : i == 2 ? 2 * n
                                                                       : 0);
      qm_plan_free (plan);
    }
}

int
main (int argc, char **argv)
{
  QmCatalog *catalog;
  QmDevice *device = NULL;

  CHECK_INT (argc, 2);
  for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++)
    test_layer (&layers[i]);
  test_overwritten (false);
  test_overwritten (true);
  CHECK_INT (qm_device_open ("cpu", 0, &device, NULL), QM_OK);
  for (size_t i = 0; device != NULL && i < sizeof models / sizeof models[0];
       i++)
    test_model (argv[1], &models[i], device);
  qm_device_close (device);
  CHECK_INT (qm_catalog_load (getenv ("QM_TEST_DATA_DIR"), NULL, &catalog,
                              NULL),
             QM_OK);
  test_plan (qm_catalog_model (catalog, "pythia-160m"), 12);
  test_plan (qm_catalog_model (catalog, "llama-3.2-1b"), 16);
  /* Every fourth layer of 36 has no positions. */
  test_plan (qm_catalog_model (catalog, "smollm3-3b"), 27);
  test_plan (qm_catalog_model (catalog, "starcoder2-3b"), 30);
  test_plan (qm_catalog_model (catalog, "modernbert-large"), 28);
  test_plan (qm_catalog_model (catalog, "esm-2-650m"), 33);
  /* Keys have no bias, and a product of their own. */
  test_plan (qm_catalog_model (catalog, "dinov3-large-supervised"), 48);
  /* A norm is between. */
  test_plan (qm_catalog_model (catalog, "qwen3-0.6b"), 0);
  qm_catalog_free (catalog);
  return check_report ();
}
