/* SPDX-License-Identifier: Apache-2.0 */

/* Gradients of queries and keys that attention's gradient turns back by itself:
 * which are, and which are not; that they are right; and that of every model
 * that turns some, loss and gradients stay as they are.
 * usage: test-turn FOLDER */

#include "data/catalog.h"
#include "engine/executor.h"
#include "engine/passes.h"
#include "engine/work.h"
#include "tests/data/check.h"
#include "tests/engine/golden-config.h"
#include "tests/engine/gradient-bench.h"
#include "tests/engine/vary.h"

#include <stdlib.h>
#include <string.h>

#define BATCH 2
#define ROWS  5 /* one of no place, and 2 x 2 */
#define WIDTH 8

static const QmTarget hopper = { QM_DEVICE_CUDA, 90 };

/* Of attention's gradients, those that turn; and nodes that turn back. */
typedef struct Counts
{
  int attentions, turning, back;
} Counts;

static Counts
counts_of (const QmGraph *graph)
{
  Counts counts = { 0 };

  for (size_t i = 0; i < graph->n_nodes; i++)
    {
      const QmNode *node = &graph->nodes[i];

      if (node->op == QM_OP_ATTENTION_BACKWARD)
        {
          counts.attentions++;
          counts.turning += node->inputs[7] != QM_NO_VALUE;
        }
      counts.back += node->op == QM_OP_ROTARY && node->attributes.inverse;
    }
  return counts;
}

typedef enum Layout
{
  PACKED,   /* queries, then keys, then values */
  BY_HEAD,  /* of each head all three, as GPT-NeoX */
  APART,    /* three values */
  TWO_OF_IT /* queries and values, and keys, as DINOv3 */
} Layout;

/* An attention, and how many nodes turn its gradients back after the pass. */
typedef struct Layer
{
  const char *name;
  Layout layout;
  int queries, keys; /* heads */
  int64_t rotary;
  int more; /* heads of values, or, below 0, of those before, that turn as well
             */
  bool other_table; /* keys turn by another one */
  bool read;        /* what was turned is read by something else, too */
  int turning, back;
} Layer;

static const Layer layers[] = {
  { "packed", PACKED, 3, 3, WIDTH, 0, false, false, 1, 0 },
  { "a part of a head", PACKED, 3, 3, 4, 0, false, false, 1, 0 },
  { "shared keys", PACKED, 4, 2, WIDTH, 0, false, false, 1, 0 },
  { "by head", BY_HEAD, 3, 3, 4, 0, false, false, 1, 0 },
  { "apart", APART, 4, 2, WIDTH, 0, false, false, 1, 0 },
  { "two of it", TWO_OF_IT, 2, 2, WIDTH, 0, false, false, 1, 0 },
  { "a value as well", PACKED, 3, 3, WIDTH, 1, false, false, 0, 1 },
  { "a key is not", PACKED, 3, 3, WIDTH, -1, false, false, 0, 1 },
  { "values as well", BY_HEAD, 3, 3, 4, 1, false, false, 0, 1 },
  { "queries alone", BY_HEAD, 3, 3, 4, -1, false, false, 0, 1 },
  { "two tables", APART, 2, 2, WIDTH, 0, true, false, 0, 2 },
  { "read as well", APART, 2, 2, WIDTH, 0, false, true, 0, 2 },
};

static const Layer *layer_of_pass;

static QmStatus
pass_and_count (QmGraph *graph, QmError *error)
{
  Counts before = counts_of (graph), after;
  QmStatus status = qm_pass_turn (graph, error);

  after = counts_of (graph);
  CHECK_INT (before.turning, 0);
  CHECK (before.back > 0);
  CHECK_INT (after.attentions, 1);
  CHECK_INT (after.turning, layer_of_pass->turning);
  CHECK_INT (after.back, layer_of_pass->back);
  return status;
}

static QmValueId
append_table (GradientBench *bench, int64_t rotary, double theta)
{
  QmValueId table =
      qm_graph_value (bench->graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, 2,
                      (int64_t[]){ ROWS, rotary }, "angles");
  QmNode *node = gradient_append (bench, QM_OP_PATCH_ANGLES);

  node->attributes =
      (QmAttributes){ .height = 2, .width = 2, .count = 1, .value = theta };
  node->outputs[0] = table;
  return table;
}

/* So many heads a row, of which the first parts turn. */
static QmValueId
append_turned (GradientBench *bench,
               const Layer *layer,
               QmValueId table,
               int heads,
               int parts)
{
  int64_t row = heads * WIDTH, third = heads / 3;
  bool by_head = layer->layout == BY_HEAD;
  int64_t sizes[5] = { BATCH, ROWS, by_head ? 3 : heads, by_head ? third : 1,
                       WIDTH };
  int64_t strides[5] = { ROWS * row, row, WIDTH, by_head ? 3 * WIDTH : WIDTH,
                         1 };
  QmValueId x = gradient_input2 (bench, BATCH * ROWS, row), y;
  QmNode *node;

  if (parts == 0)
    return x;
  y = gradient_value (bench, 2, (int64_t[]){ BATCH * ROWS, row });
  x = qm_graph_view (bench->graph, x, 5, sizes, strides, 0);
  node = gradient_append (bench, QM_OP_ROTARY);
  node->attributes = (QmAttributes){ .rotary = layer->rotary, .count = parts };
  node->inputs[0] = x;
  node->inputs[1] = table;
  node->outputs[0] = qm_graph_view (bench->graph, y, 5, sizes, strides, 0);
  return y;
}

static QmValueId
heads_of_rows (
    GradientBench *bench, QmValueId rows, int64_t first, int heads, int between)
{
  int64_t row = qm_graph_tensor (bench->graph, rows)->shape[1];

  return qm_graph_view (bench->graph, rows, 4,
                        (int64_t[]){ BATCH, heads, ROWS, WIDTH },
                        (int64_t[]){ ROWS * row, between * WIDTH, row, 1 },
                        first * WIDTH);
}

/* Queries, keys and values of the layer. */
static void
append_parts (GradientBench *bench, const Layer *layer, QmValueId parts[3])
{
  int q = layer->queries, k = layer->keys;
  QmValueId table = append_table (bench, layer->rotary, 100), other = table, x;

  if (layer->other_table)
    other = append_table (bench, layer->rotary, 10);
  switch (layer->layout)
    {
    case PACKED:
      x = append_turned (bench, layer, table, q + 2 * k, q + k + layer->more);
      parts[0] = heads_of_rows (bench, x, 0, q, 1);
      parts[1] = heads_of_rows (bench, x, q, k, 1);
      parts[2] = heads_of_rows (bench, x, q + k, k, 1);
      return;
    case BY_HEAD:
      x = append_turned (bench, layer, table, 3 * q, 2 + layer->more);
      for (int i = 0; i < 3; i++)
        parts[i] = heads_of_rows (bench, x, i, q, 3);
      return;
    case APART:
      parts[0] =
          heads_of_rows (bench, append_turned (bench, layer, table, q, q), 0, q,
                         1);
      parts[1] =
          heads_of_rows (bench, append_turned (bench, layer, other, k, k), 0, k,
                         1);
      parts[2] =
          heads_of_rows (bench, append_turned (bench, layer, table, k, 0), 0, k,
                         1);
      return;
    case TWO_OF_IT:
    default:
      x = append_turned (bench, layer, table, 2 * q, q);
      parts[0] = heads_of_rows (bench, x, 0, q, 1);
      parts[2] = heads_of_rows (bench, x, q, q, 1);
      parts[1] =
          heads_of_rows (bench, append_turned (bench, layer, other, k, k), 0, k,
                         1);
    }
}

static void
test_layer (const Layer *layer)
{
  const int64_t row = layer->queries * WIDTH;
  const int64_t shape[4] = { BATCH, layer->queries, ROWS, WIDTH };
  GradientBench bench;
  QmValueId parts[3], out;
  QmNode *node;

  gradient_begin (&bench, layer->name);
  append_parts (&bench, layer, parts);
  out = gradient_value (&bench, 2, (int64_t[]){ BATCH * ROWS, row });
  node = gradient_append (&bench, QM_OP_ATTENTION);
  node->attributes.scale = 0.5;
  for (int i = 0; i < 3; i++)
    node->inputs[i] = parts[i];
  node->outputs[0] =
      qm_graph_view (bench.graph, out, 4, shape,
                     (int64_t[]){ ROWS * row, WIDTH, row, 1 }, 0);
  node->outputs[1] = gradient_value (&bench, 3, shape);
  bench.output = out;
  if (layer->read)
    {
      QmValueId all = qm_graph_owner (bench.graph, parts[0]);
      int64_t columns = qm_graph_tensor (bench.graph, all)->shape[1];
      QmValueId sum =
          gradient_value (&bench, 2, (int64_t[]){ BATCH * ROWS, columns });
      QmValueId product =
          gradient_value (&bench, 2, (int64_t[]){ BATCH * ROWS, columns });

      node = gradient_append (&bench, QM_OP_ADD);
      node->inputs[0] = node->inputs[1] = all;
      node->outputs[0] = sum;
      node = gradient_append (&bench, QM_OP_LINEAR);
      node->inputs[0] = out;
      node->inputs[1] = gradient_input2 (&bench, columns, row);
      node->outputs[0] = product;
      node = gradient_append (&bench, QM_OP_ADD);
      node->inputs[0] = sum;
      node->inputs[1] = product;
      node->outputs[0] = bench.output =
          gradient_value (&bench, 2, (int64_t[]){ BATCH * ROWS, columns });
    }
  layer_of_pass = layer;
  bench.pass = pass_and_count;
  gradient_end (&bench);
}

/* Calls that take nothing on GPUs that turn what they make. */
static double
turned_by_prediction (const QmPlan *plan)
{
  double count = 0;
  QmWork *work;

  CHECK_INT (qm_work_new (plan, &work, NULL), QM_OK);
  for (size_t i = 0; work != NULL && i < work->n; i++)
    count += work->rows[i].turned ? work->rows[i].count : 0;
  qm_work_free (work);
  return count;
}

/* Which models turn, in how many layers; in fp32 no GPU does as it makes them.
 */
static void
test_plan (const QmCatalog *catalog, const char *id, int turning)
{
  const QmModel *model = qm_catalog_model (catalog, id);

  for (int way = 0; way < 5; way++)
    {
      QmRecipe recipe = model->recipe;
      QmPlanOptions options = { .target = hopper,
                                .methods = QM_METHOD_ALL,
                                .checkpoint = way == 1,
                                .foreign = way == 2,
                                .micro_batch = 1 };
      Counts counts;
      QmPlan *plan;

      if (way == 3)
        options.methods = 0;
      if (way == 4)
        recipe.precision = QM_PRECISION_FP32;
      check_case (id);
      CHECK_INT (qm_plan_new (&model->config, &recipe, &options, &plan, NULL),
                 QM_OK);
      if (plan == NULL)
        return;
      counts = counts_of (plan->graph);
      CHECK_INT (counts.turning, way % 4 < 2 ? turning : 0);
      CHECK_NEAR (turned_by_prediction (plan), way < 2 ? turning : 0, 0);
      if (way % 4 < 2)
        CHECK_INT (counts.back, 0);
      else
        CHECK (counts.back >= turning);
      qm_plan_free (plan);
    }
}

/* Heads as what is turned by an operator of its own. */
static QmValueId
turning_part (QmGraph *graph, QmValueId heads)
{
  const QmValue v = graph->values[heads];
  const int64_t *shape = v.tensor.shape, *stride = v.tensor.stride;

  return qm_graph_view (
      graph, v.owner, 5,
      (int64_t[]){ shape[0], shape[2], 1, shape[1], shape[3] },
      (int64_t[]){ stride[0], stride[2], stride[1], stride[1], 1 }, v.offset);
}

/* Takes everything that the pass did back: in the places that it planned. */
static void
take_apart (QmGraph *graph)
{
  for (size_t i = 0; i < graph->n_nodes; i++)
    {
      QmNode node = graph->nodes[i];

      if (node.op != QM_OP_ATTENTION_BACKWARD || node.inputs[7] == QM_NO_VALUE)
        continue;
      graph->nodes[i].inputs[7] = QM_NO_VALUE;
      graph->nodes[i].attributes.rotary = 0;
      for (size_t j = 0; j < 2; j++)
        {
          QmValueId part = turning_part (graph, node.outputs[j]);
          QmNode back = *qm_graph_append (graph, QM_OP_ROTARY);

          back.phase = node.phase;
          back.attributes.rotary = node.attributes.rotary;
          back.attributes.count = 1;
          back.attributes.inverse = true;
          back.inputs[0] = back.outputs[0] = part;
          back.inputs[1] = node.inputs[7];
          memmove (&graph->nodes[i + 2 + j], &graph->nodes[i + 1 + j],
                   (graph->n_nodes - i - 2 - j) * sizeof *graph->nodes);
          graph->nodes[i + 1 + j] = back;
        }
    }
}

/* A pass of a golden model, and its gradients. */
typedef struct Run
{
  QmPlan *plan;
  QmExecutor *executor;
  float loss;
} Run;

static bool
compute (Run *run,
         QmDevice *device,
         const QmModelConfig *config,
         QmPrecision precision,
         bool apart)
{
  int64_t side = vary_image_size (config);
  QmRecipe recipe = { .batch_size = 64,
                      .steps = 1,
                      .sequence_length = side > 0 ? 0 : 15,
                      .image_size = side,
                      .precision = precision,
                      .optimizer = QM_OPTIMIZER_ADAMW,
                      .learning_rate = 1e-3,
                      .beta1 = 0.9,
                      .beta2 = 0.95,
                      .epsilon = 1e-8,
                      .ema_decay = qm_model_has_teacher (config) ? 0.9 : 0,
                      .max_grad_norm = 1 };
  QmPlanOptions options = { .target = qm_device_info (device)->target,
                            .micro_batch = 2,
                            .methods = QM_METHOD_ALL & ~QM_METHOD_TF32,
                            .deterministic = true };
  QmError error = { 0 };

  *run = (Run){ NULL };
  CHECK_INT (qm_plan_new (config, &recipe, &options, &run->plan, &error),
             QM_OK);
  if (run->plan != NULL && apart)
    take_apart (run->plan->graph);
  if (run->plan != NULL)
    CHECK_INT (qm_executor_new (run->plan, device, NULL, 7, &run->executor,
                                &error),
               QM_OK);
  CHECK_STRING (error.message, "");
  if (run->executor == NULL)
    return false;
  CHECK_INT (qm_executor_initialise (run->executor, NULL), QM_OK);
  CHECK_INT (qm_executor_random_batch (run->executor, NULL), QM_OK);
  CHECK_INT (qm_executor_pass (run->executor, true, NULL), QM_OK);
  CHECK_INT (qm_executor_read_floats (run->executor, run->plan->graph->loss,
                                      &run->loss, NULL),
             QM_OK);
  return true;
}

/* Whether gradients of a parameter are the same to the bit. */
static bool
is_the_same (Run *a, Run *b, size_t parameter)
{
  QmValueId x = a->plan->graph->parameters[parameter].gradient;
  QmValueId y = b->plan->graph->parameters[parameter].gradient;
  size_t n = (size_t) qm_tensor_elements (qm_graph_tensor (a->plan->graph, x));
  float *one = calloc (n, sizeof *one), *other = calloc (n, sizeof *other);
  bool same;

  CHECK_INT (qm_executor_read_floats (a->executor, x, one, NULL), QM_OK);
  CHECK_INT (qm_executor_read_floats (b->executor, y, other, NULL), QM_OK);
  same = memcmp (one, other, n * sizeof *one) == 0;
  free (one);
  free (other);
  return same;
}

/* On a CPU all is rounded as two operators would: nothing differs. */
static void
test_model (const char *folder, const char *model, QmDevice *device)
{
  QmModelConfig config = { 0 };
  char name[96];

  golden_config (folder, model, &config);
  for (int precision = 0; precision < 3; precision++)
    {
      Run own, apart;

      snprintf (name, sizeof name, "%s, %s", model,
                qm_precision_name ((QmPrecision) precision));
      check_case (name);
      if (compute (&own, device, &config, (QmPrecision) precision, false)
          && compute (&apart, device, &config, (QmPrecision) precision, true))
        {
          Counts counts = counts_of (own.plan->graph);

          CHECK (counts.turning > 0);
          CHECK_INT (counts.back, 0);
          CHECK_INT (counts_of (apart.plan->graph).turning, 0);
          CHECK_INT (counts_of (apart.plan->graph).back, 2 * counts.turning);
          CHECK (own.loss > 0 && own.loss == apart.loss);
          for (size_t i = 0; i < own.plan->graph->n_parameters; i++)
            CHECK (is_the_same (&own, &apart, i));
          qm_executor_free (apart.executor);
          qm_plan_free (apart.plan);
        }
      qm_executor_free (own.executor);
      qm_plan_free (own.plan);
    }
}

int
main (int argc, char **argv)
{
  static const char *const models[] = { "gpt-neox-parallel",
                                        "gpt-neox-sequential",
                                        "llama",
                                        "qwen2-yarn",
                                        "mistral",
                                        "mixtral",
                                        "olmoe",
                                        "qwen3-grouped",
                                        "qwen3-moe",
                                        "olmo3",
                                        "smollm3",
                                        "gemma3",
                                        "starcoder2",
                                        "modernbert",
                                        "esm",
                                        "dinov3",
                                        "dinov3-unbiased",
                                        "dinov3-pair" };
  QmCatalog *catalog;
  QmDevice *device;

  for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++)
    test_layer (&layers[i]);
  CHECK_INT (qm_catalog_load (getenv ("QM_TEST_DATA_DIR"), NULL, &catalog,
                              NULL),
             QM_OK);
  test_plan (catalog, "pythia-160m", 12);
  test_plan (catalog, "modernbert-large", 28);
  test_plan (catalog, "smollm3-3b", 27);
  test_plan (catalog, "llama-3.2-1b", 16);
  test_plan (catalog, "qwen3-0.6b", 28);
  test_plan (catalog, "dinov3-large-supervised", 24);
  test_plan (catalog, "starcoder2-3b", 30);
  test_plan (catalog, "esm-2-650m", 33);
  qm_catalog_free (catalog);
  CHECK_INT (qm_device_open ("cpu", 0, &device, NULL), QM_OK);
  for (size_t i = 0; argc > 1 && i < sizeof models / sizeof models[0]; i++)
    test_model (argv[1], models[i], device);
  qm_device_close (device);
  return check_report ();
}
