/* SPDX-License-Identifier: Apache-2.0 */

/* Losses whose logits are never whole in memory: loss and gradients are those
 * of whole logits, for every family, setting and precision, in pieces of any
 * size; what is saved is what was computed; and when it is done.
 * usage: test-loss FOLDER [DEVICE [MODEL]...] */

#include "engine/differentiate.h"
#include "engine/executor.h"
#include "engine/family.h"
#include "engine/passes.h"
#include "tests/data/check.h"
#include "tests/engine/golden-config.h"
#include "tests/engine/graph-sums.h"
#include "tests/engine/vary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MICRO_BATCH 2
#define LENGTH      15
#define ROWS        (MICRO_BATCH * LENGTH)

/* So low that no gradient overflows in fp16. */
#define SCALE 256

static const QmTarget hopper = { QM_DEVICE_CUDA, 90 };

/* Which labels are not learned from. */
typedef enum Ignored
{
  NONE,
  SOME,
  FIRST, /* all of the first pieces, none of the others */
  ALL,
  N_IGNORED
} Ignored;

static int64_t
image_size (const QmModelConfig *config)
{
  return vary_image_size (config);
}

static QmRecipe
recipe_of (const QmModelConfig *config, QmPrecision precision, int64_t length)
{
  int64_t side = image_size (config);

  return (QmRecipe){ .batch_size = 64,
                     .steps = 1,
                     .sequence_length = side > 0 ? 0 : length,
                     .image_size = side,
                     .precision = precision,
                     .optimizer = QM_OPTIMIZER_ADAMW,
                     .learning_rate = 1e-3,
                     .beta1 = 0.9,
                     .beta2 = 0.95,
                     .epsilon = 1e-8,
                     .max_grad_norm = 1,
                     .z_loss = precision == QM_PRECISION_BF16 ? 0.01 : 0 };
}

/* A way to compute loss and gradients, and what it gave. */
typedef struct Run
{
  QmPlan *plan;
  QmExecutor *executor;
  float loss;
} Run;

static void
write_labels (Run *run, Ignored ignored)
{
  const QmGraph *graph = run->plan->graph;
  int64_t n = qm_tensor_elements (qm_graph_tensor (graph, graph->labels));
  int64_t classes = qm_graph_classes (graph);
  int32_t labels[ROWS];

  for (int64_t i = 0; i < n; i++)
    {
      bool none = ignored == ALL || (ignored == SOME && i % 3 == 1)
                  || (ignored == FIRST && n > 14 && i < 14);

      labels[i] = none ? QM_IGNORE_LABEL : (int32_t) (i * 7919 % classes);
    }
  CHECK_INT (qm_executor_write_ints (run->executor, graph->labels, labels,
                                     NULL),
             QM_OK);
}

/* Two passes, so that something is there that gradients are added to. */
static bool
compute (Run *run,
         QmDevice *device,
         const QmModelConfig *config,
         QmPrecision precision,
         const QmPlanOptions *options,
         Ignored ignored)
{
  QmRecipe recipe = recipe_of (config, precision, LENGTH);
  QmError error = { 0 };

  *run = (Run){ NULL };
  CHECK_INT (qm_plan_new (config, &recipe, options, &run->plan, &error), QM_OK);
  if (run->plan != NULL)
    CHECK_INT (qm_executor_new (run->plan, device, NULL, 7, &run->executor,
                                &error),
               QM_OK);
  CHECK_STRING (error.message, "");
  if (run->executor == NULL)
    return false;
  CHECK_INT (qm_executor_initialise (run->executor, NULL), QM_OK);
  CHECK_INT (qm_executor_random_batch (run->executor, NULL), QM_OK);
  write_labels (run, ignored);
  if (run->plan->type == QM_TYPE_F16)
    CHECK_INT (qm_executor_write_state (run->executor, QM_STATE_LOSS_SCALE,
                                        SCALE, NULL),
               QM_OK);
  for (int i = 0; i < 2; i++)
    CHECK_INT (qm_executor_pass (run->executor, true, NULL), QM_OK);
  CHECK_INT (qm_executor_read_floats (run->executor, run->plan->graph->loss,
                                      &run->loss, NULL),
             QM_OK);
  return true;
}

static void
end (Run *run)
{
  qm_executor_free (run->executor);
  qm_plan_free (run->plan);
}

/* The largest element of the gradients of a parameter, and by how much those of
 * another run differ. */
static void
differ (Run *a, Run *b, size_t parameter, double *largest, double *most)
{
  QmValueId x = a->plan->graph->parameters[parameter].gradient;
  QmValueId y = b->plan->graph->parameters[parameter].gradient;
  size_t n = (size_t) qm_tensor_elements (qm_graph_tensor (a->plan->graph, x));
  float *one = malloc (n * sizeof *one), *other = malloc (n * sizeof *other);

  CHECK_INT (qm_executor_read_floats (a->executor, x, one, NULL), QM_OK);
  CHECK_INT (qm_executor_read_floats (b->executor, y, other, NULL), QM_OK);
  for (size_t i = 0; i < n; i++)
    {
      *largest = fmax (*largest, fabs (one[i]));
      *most = fmax (*most, fabs ((double) one[i] - other[i]));
      if (isnan (one[i]) || isnan (other[i]))
        *most = INFINITY;
    }
  free (one);
  free (other);
}

/* Whether its gradient is zero in exact arithmetic, and of it there is nothing
 * but rounding: a bias of keys adds the same to all scores of a query. */
static bool
is_of_rounding (const QmParameter *parameter)
{
  const char *end = strstr (parameter->name, "key.bias");

  return end != NULL && strcmp (end, "key.bias") == 0;
}

/* The largest element of all gradients. */
static double
largest_of_all (Run *run)
{
  double largest = 0, none = 0;

  for (size_t i = 0; i < run->plan->graph->n_parameters; i++)
    differ (run, run, i, &largest, &none);
  return largest;
}

/* On a CPU rows do not depend on how many there are, and losses are added up in
 * one order; a GPU may compute a product of other rows in another way. */
static void
compare (Run *whole, Run *cut, Ignored ignored)
{
  bool cpu = whole->plan->options.target.kind == QM_DEVICE_CPU;
  double tolerance = whole->plan->type == QM_TYPE_F32 ? 1e-6 : 1e-5, all;

  if (!cpu)
    tolerance = whole->plan->type == QM_TYPE_F32 ? 1e-5 : 0.02;
  CHECK_NEAR (cut->loss, whole->loss, cpu ? 0 : tolerance * whole->loss);
  CHECK (ignored == ALL ? whole->loss == 0 : whole->loss > 0);
  all = largest_of_all (whole);
  for (size_t i = 0; i < whole->plan->graph->n_parameters; i++)
    {
      const QmParameter *parameter = &whole->plan->graph->parameters[i];
      double largest = 0, most = 0, bar;

      differ (whole, cut, i, &largest, &most);
      bar = tolerance * (is_of_rounding (parameter) ? 0.01 * all : largest);
      CHECK (most <= bar);
      if (!(most <= bar))
        fprintf (stderr, "  %s: off by %g of %g, %g of all\n", parameter->name,
                 most, largest, all);
      CHECK (isfinite (largest) && (ignored != ALL || largest == 0));
    }
}

static size_t
count (const QmGraph *graph, QmOp op)
{
  size_t n = 0;

  for (size_t i = 0; i < graph->n_nodes; i++)
    n += graph->nodes[i].op == op;
  return n;
}

static void
test_model (const char *folder, const char *model, QmDevice *device)
{
  static const int64_t rows[] = { 15, 10, 13, 1 };
  static const unsigned methods[] = { QM_METHOD_ALL & ~QM_METHOD_TF32,
                                      QM_METHOD_KERNELS, 0 };
  QmModelConfig config = { 0 };
  char name[160];

  golden_config (folder, model, &config);
  for (unsigned i = 0; i < 12; i++)
    {
      QmPlanOptions options = { .target = qm_device_info (device)->target,
                                .micro_batch = MICRO_BATCH,
                                .methods = methods[i % 3],
                                .deterministic = true };
      QmPrecision precision = (QmPrecision) (i / 3 % 3);
      Ignored ignored = (Ignored) (i / 3);
      Run whole, cut;

      if (compute (&whole, device, &config, precision, &options, ignored))
        for (size_t j = 0; j < sizeof rows / sizeof rows[0]; j++)
          {
            options.loss_rows = rows[j];
            options.checkpoint = j % 2 == 1;
            snprintf (name, sizeof name, "%s, %s, methods %u, %lld rows", model,
                      qm_precision_name (precision), options.methods,
                      (long long) rows[j]);
            check_case (name);
            if (compute (&cut, device, &config, precision, &options, ignored))
              {
                compare (&whole, &cut, ignored);
                if (image_size (&config) == 0)
                  CHECK_INT (count (cut.plan->graph, QM_OP_CROSS_ENTROPY),
                             (ROWS + rows[j] - 1) / rows[j]);
              }
            end (&cut);
          }
      end (&whole);
    }
}

static QmPlan *
make_plan (const QmModelConfig *config,
           const QmPlanOptions *options,
           int64_t length)
{
  QmRecipe recipe = recipe_of (config, QM_PRECISION_BF16, length);
  QmError error = { 0 };
  QmPlan *plan = NULL;

  CHECK_INT (qm_plan_new (config, &recipe, options, &plan, &error), QM_OK);
  CHECK_STRING (error.message, "");
  return plan;
}

static void
set_classes (QmModelConfig *config, int64_t classes)
{
  if (config->family == QM_FAMILY_GPT_NEOX)
    config->gpt_neox.vocab_size = classes;
  else if (config->family == QM_FAMILY_MAMBA)
    config->mamba.vocab_size = classes;
  else if (config->family == QM_FAMILY_MAMBA2)
    config->mamba2.vocab_size = classes;
  else
    config->bert.vocab_size = classes;
}

/* Which sizes are cut, and into what. */
static void
test_rule (const char *folder)
{
  static const struct
  {
    int64_t classes, length, wanted, rows; /* pieces, and rows of the first */
    unsigned methods;
    int64_t asked;
  } cases[] = {
    { 65536, 2048, 1, 8192, QM_METHOD_ALL, 0 },
    { 65537, 2048, 2, 4096, QM_METHOD_ALL, 0 },
    { 65537, 2048, 2, 4096, QM_METHOD_KERNELS, 0 },
    { 262144, 2048, 2, 4096, QM_METHOD_ALL, 0 },
    /* As in naive settings. */
    { 262144, 2048, 1, 8192, 0, 0 },
    { 262144, 2048, 1, 8192, QM_METHOD_COMPILE, 0 },
    { 262144, 1024, 1, 4096, QM_METHOD_ALL, 0 },
    /* Pieces are alike, and whole tiles. */
    { 131072, 2049, 3, 2816, QM_METHOD_ALL, 0 },
    { 131072, 1025, 2, 2304, QM_METHOD_ALL, 0 },
    { 131072, 2048, 1, 8192, QM_METHOD_ALL, QM_LOSS_ROWS_ALL },
    { 131072, 2048, 1, 8192, QM_METHOD_ALL, 8192 },
    { 131072, 2048, 4, 2048, QM_METHOD_ALL, 2048 },
    { 1000, 2048, 9, 1000, 0, 1000 },
  };
  QmModelConfig config = { 0 };

  golden_config (folder, "gpt-neox-parallel", &config);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    {
      QmPlanOptions options = { .target = hopper,
                                .micro_batch = 4,
                                .methods = cases[i].methods,
                                .loss_rows = cases[i].asked };
      QmPlan *plan;
      char name[96];

      snprintf (name, sizeof name, "rule, case %zu", i);
      check_case (name);
      set_classes (&config, cases[i].classes);
      plan = make_plan (&config, &options, cases[i].length);
      if (plan == NULL)
        continue;
      CHECK_INT (count (plan->graph, QM_OP_CROSS_ENTROPY), cases[i].wanted);
      CHECK_INT (qm_plan_loss_rows (plan), cases[i].rows);
      CHECK_INT (qm_plan_all_rows (plan), 4 * cases[i].length);
      qm_plan_free (plan);
    }
}

/* Rows of all pieces follow each other, and nothing is left out; each has the
 * recipe's z-loss. */
static void
check_pieces (const QmGraph *graph, int64_t rows, double z_loss)
{
  int64_t next = 0;

  for (size_t i = 0; i < graph->n_nodes; i++)
    if (graph->nodes[i].op == QM_OP_CROSS_ENTROPY)
      {
        CHECK_INT (graph->nodes[i].attributes.first, next);
        CHECK_NEAR (graph->nodes[i].attributes.z_loss, z_loss, 0);
        next += qm_graph_tensor (graph, graph->nodes[i].inputs[0])->shape[0];
      }
  CHECK_INT (next, rows);
}

/* The FLOPs are the same; of logits, and their gradient in the same place, one
 * piece is left, and the gradient of the head's input, which whole logits do
 * not see. */
static void
test_memory (const char *folder, const char *model, bool checkpoint)
{
  const int64_t classes = 70001, padded = 70016, length = 2048, rows = 16384;
  QmPlanOptions options = { .target = hopper,
                            .micro_batch = 8,
                            .methods = QM_METHOD_ALL,
                            .checkpoint = checkpoint };
  QmModelConfig config = { 0 };
  QmPlan *whole, *cut;
  uint64_t saved, needed;
  char name[96];

  snprintf (name, sizeof name, "memory of %s%s", model,
            checkpoint ? ", checkpointing" : "");
  check_case (name);
  golden_config (folder, model, &config);
  set_classes (&config, classes);
  if (config.family == QM_FAMILY_BERT || config.family == QM_FAMILY_ROBERTA)
    config.bert.max_positions = length + 2;
  cut = make_plan (&config, &options, length);
  options.loss_rows = QM_LOSS_ROWS_ALL;
  whole = make_plan (&config, &options, length);
  if (whole != NULL && cut != NULL)
    {
      CHECK_INT (count (cut->graph, QM_OP_CROSS_ENTROPY), 4);
      check_pieces (cut->graph, rows, cut->recipe.z_loss);
      CHECK (cut->recipe.z_loss > 0);
      saved = (uint64_t) ((rows - 4096) * padded * 2);
      needed = cut->memory.activations + saved;
      CHECK (whole->memory.live >= (uint64_t) (rows * padded * 2));
      CHECK (needed >= whole->memory.activations);
      /* Inputs of heads are some dozens wide here. */
      CHECK (needed - whole->memory.activations <= (uint64_t) (rows * 64 * 2));
      CHECK (cut->memory.total + saved
             <= whole->memory.total + (uint64_t) (rows * 64 * 2));
      for (int phase = QM_PHASE_FORWARD; phase <= QM_PHASE_BACKWARD; phase++)
        CHECK_NEAR (graph_flops (cut->graph, (QmPhase) phase),
                    graph_flops (whole->graph, (QmPhase) phase), 0);
    }
  qm_plan_free (whole);
  qm_plan_free (cut);
}

/* Ranks reduce the gradient of a head's weights when its last piece is done,
 * not before. */
static void
test_reduced (const char *folder)
{
  QmPlanOptions options = { .target = hopper,
                            .micro_batch = 4,
                            .methods = QM_METHOD_ALL,
                            .ranks = 2,
                            .bucket = 1 };
  QmModelConfig config = { 0 };
  size_t grad = 0, reduce = 0;
  QmPlan *plan;

  check_case ("ranks");
  golden_config (folder, "gpt-neox-parallel", &config);
  set_classes (&config, 65600);
  plan = make_plan (&config, &options, 2048);
  for (size_t i = 0; plan != NULL && i < plan->graph->n_nodes; i++)
    {
      const QmNode *node = &plan->graph->nodes[i];

      if (node->op == QM_OP_LINEAR_WEIGHT_GRAD
          && qm_graph_tensor (plan->graph, node->outputs[0])->shape[0] == 65600)
        grad = i;
      if (node->op == QM_OP_ALL_REDUCE && reduce == 0)
        reduce = i;
    }
  CHECK (grad > 0 && reduce > grad);
  qm_plan_free (plan);
}

/* A graph of two heads that read the same, as of two tasks. */
static QmGraph *
build_two (const QmBuildOptions *build)
{
  QmGraph *graph = qm_graph_new ();
  QmBuilder builder = { .graph = graph, .options = build, .batch = 2 };
  const int64_t state = QM_STATE_SIZE, one = 1, three = 3;
  QmValueId x, table, weight[2];

  builder.length = 8;
  graph->rng = qm_graph_value (graph, QM_ROLE_STATE, QM_TYPE_I32, 1, &three,
                               "random numbers");
  graph->state =
      qm_graph_value (graph, QM_ROLE_STATE, QM_TYPE_F32, 1, &state, "state");
  graph->loss =
      qm_graph_value (graph, QM_ROLE_STATE, QM_TYPE_F32, 1, &one, "loss");
  graph->ids = qm_graph_value (graph, QM_ROLE_INPUT, QM_TYPE_I32, 2,
                               (int64_t[]){ 2, 8 }, "ids");
  graph->labels = qm_graph_value (graph, QM_ROLE_INPUT, QM_TYPE_I32, 2,
                                  (int64_t[]){ 2, 8 }, "labels");
  table = qm_build_vocab_weight (&builder, 50, 24, "table", NULL);
  weight[0] = qm_build_vocab_weight (&builder, 50, 24, "one", NULL);
  weight[1] = qm_build_vocab_weight (&builder, 50, 24, "other", NULL);
  x = qm_build_embedding (&builder, graph->ids, table, -1, build->type);
  for (int i = 0; i < 2; i++)
    qm_build_loss (&builder, x, weight[i], QM_NO_VALUE, i == 1);
  return graph;
}

static void
test_two_heads (void)
{
  const QmBuildOptions build = { .micro_batch = 2,
                                 .accumulation = 1,
                                 .type = QM_TYPE_F16,
                                 .vocab_multiple = 64 };
  QmGraph *graph = build_two (&build);
  QmError error = { 0 };

  check_case ("two heads");
  CHECK_INT (qm_graph_differentiate (graph, QM_NO_VALUE, QM_NO_VALUE, &error),
             QM_OK);
  CHECK_INT (qm_pass_loss (graph, 5, &error), QM_OK);
  CHECK_INT (count (graph, QM_OP_CROSS_ENTROPY), 8);
  CHECK_INT (count (graph, QM_OP_LINEAR), 8);
  CHECK_INT (count (graph, QM_OP_LINEAR_INPUT_GRAD), 8);
  CHECK_INT (count (graph, QM_OP_LINEAR_WEIGHT_GRAD), 8);
  CHECK_INT (qm_graph_tensor (graph, graph->logits)->shape[0], 5);
  CHECK_INT (qm_graph_check (graph, &error), QM_OK);
  CHECK_STRING (error.message, "");
  qm_graph_free (graph);
}

int
main (int argc, char **argv)
{
  static const char *const all[] = { "gpt-neox-parallel",
                                     "gpt-neox-sequential",
                                     "bert",
                                     "roberta",
                                     "vit",
                                     "convnext",
                                     "mamba",
                                     "mamba-biased",
                                     "mamba2",
                                     "dinov2-registers",
                                     "dinov3" };
  static const char *const of_words[] = { "gpt-neox-parallel",
                                          "gpt-neox-sequential", "bert",
                                          "roberta", "mamba" };
  const char *const *models = all;
  size_t n = sizeof all / sizeof all[0];
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
  test_rule (argv[1]);
  for (size_t i = 0; i < sizeof of_words / sizeof of_words[0]; i++)
    for (int checkpoint = 0; checkpoint < 2; checkpoint++)
      test_memory (argv[1], of_words[i], checkpoint != 0);
  test_reduced (argv[1]);
  test_two_heads ();
  qm_device_close (device);
  return check_report ();
}
