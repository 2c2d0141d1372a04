/* SPDX-License-Identifier: Apache-2.0 */

/* Plans of Muon where ranks share states: each matrix is whole with one of
 * them, nobody does more than the first, and what a plan says of memory is what
 * the rank needs that needs most. */

#include "data/catalog.h"
#include "engine/plan.h"
#include "tests/data/check.h"
#include "tests/engine/graph-sums.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RANKS 8

/* Operations of one matrix's products. */
static double
operations_of (const QmTensor *matrix)
{
  double rows = (double) matrix->shape[0], columns = (double) matrix->shape[1];
  double side = fmin (rows, columns);

  return 5 * (4 * side * rows * columns + 2 * side * side * side);
}

static bool
is_matrix (const QmPlan *plan, const QmParameter *parameter)
{
  const QmValue *value = &plan->graph->values[parameter->value];

  return plan->graph->values[value->owner].block > 0 && value->tensor.rank == 2
         && value->tensor.shape[0] > 1 && value->tensor.shape[1] > 1
         && value->tensor.type == plan->type
         && parameter->initial != QM_INITIAL_STATES;
}

/* Elements of matrices that a rank updates, and of what Adam does there. */
static void
count_updated (const QmPlan *plan, int64_t *matrices, int64_t *others)
{
  const QmGraph *graph = plan->graph;

  *matrices = *others = 0;
  for (size_t i = 0; i < graph->n_nodes; i++)
    {
      const QmNode *node = &graph->nodes[i];

      if (node->op == QM_OP_MUON_UPDATE)
        *matrices +=
            qm_tensor_elements (qm_graph_tensor (graph, node->inputs[1]));
      else if (node->op == QM_OP_ADAM)
        *others +=
            qm_tensor_elements (qm_graph_tensor (graph, node->outputs[0]));
    }
}

/* All of a matrix is with one rank, and the ranks have all matrices. */
static void
check_owners (QmPlan *const *plans, int ranks)
{
  const QmPlan *plan = plans[0];
  int64_t matrices = 0, all = 0, others, updated;
  double costliest = 0, total = 0, first = 0;

  for (size_t i = 0; i < plan->graph->n_parameters; i++)
    {
      const QmParameter *parameter = &plan->graph->parameters[i];
      const QmValue *value = &plan->graph->values[parameter->value];
      int64_t n = qm_tensor_elements (&value->tensor);
      int64_t begin = plan->units.place[value->owner] + value->offset;
      int owners = 0;

      if (!is_matrix (plan, parameter))
        continue;
      matrices += n;
      total += operations_of (&value->tensor);
      costliest =
          fmax (costliest, operations_of (&value->tensor)
                               * (double) plan->graph->values[value->owner].room
                               / (double) n);
      for (int part = 0; part < ranks; part++)
        {
          QmPiece piece =
              qm_units_piece (&plan->units, plan->units.of[value->owner], ranks,
                              part, begin, begin + n);

          CHECK (piece.n == 0 || piece.n == n);
          owners += piece.n == n;
        }
      CHECK_INT (owners, 1);
    }
  for (int r = 0; r < ranks; r++)
    {
      double flops = graph_flops (plans[r]->graph, QM_PHASE_UPDATE);

      count_updated (plans[r], &updated, &others);
      all += updated;
      total -= flops;
      first = r == 0 ? flops : first;
      CHECK (flops <= first * (1 + 1e-12));
      CHECK (flops >= first - costliest * (1 + 1e-12));
      CHECK (others > 0);
      CHECK_INT (
          plans[r]->memory.optimizer,
          4 * (plan->own * (plan->recipe.ema_decay > 0 ? 2 : 1) + others));
    }
  CHECK_INT (all, matrices);
  CHECK (fabs (total) <= 1e-9 * first * ranks);
}

/* Memory is the same for all of them, and one needs all of it. */
static void
check_memory (QmPlan *const *plans, int ranks)
{
  uint64_t most = 0;

  for (int r = 0; r < ranks; r++)
    {
      const QmPlan *plan = plans[r];
      int64_t *place = calloc (plan->graph->n_values + 1, sizeof *place);
      uint64_t arena = 0, live = 0;

      CHECK_INT (qm_memory_arena (plan->graph, place, &arena, &live, NULL),
                 QM_OK);
      most = arena > most ? arena : most;
      CHECK_INT (plan->memory.total, plans[0]->memory.total);
      CHECK_INT (plan->memory.optimizer, plans[0]->memory.optimizer);
      CHECK_INT (plan->memory.activations, plans[0]->memory.activations);
      CHECK_INT (plan->own * ranks, plan->slab);
      free (place);
    }
  CHECK_INT (plans[0]->memory.activations, most);
}

static void
test_model (const QmModel *model, int ranks, bool tiny)
{
  QmRecipe recipe = model->recipe;
  QmPlanOptions options = { .target = { QM_DEVICE_CUDA, 90 },
                            .micro_batch = 1,
                            .methods = QM_METHOD_ALL,
                            .checkpoint = true,
                            .ranks = ranks,
                            .sharding = QM_SHARDING_ZERO_1,
                            .bucket = tiny ? 3000 : 0 };
  QmPlanOptions one = options;
  QmPlan *plans[MOST_RANKS] = { NULL }, *alone = NULL;
  bool made = true;
  char name[100];

  snprintf (name, sizeof name, "%s, %d ranks", model->id, ranks);
  check_case (name);
  recipe.optimizer = QM_OPTIMIZER_MUON;
  recipe.muon_learning_rate = 0.02;
  recipe.muon_momentum = 0.95;
  one.ranks = 1;
  CHECK_INT (qm_plan_new (&model->config, &recipe, &one, &alone, NULL), QM_OK);
  for (options.rank = 0; options.rank < ranks; options.rank++)
    {
      CHECK_INT (qm_plan_new (&model->config, &recipe, &options,
                              &plans[options.rank], NULL),
                 QM_OK);
      made = made && plans[options.rank] != NULL;
    }
  if (made && alone != NULL)
    {
      check_owners (plans, ranks);
      check_memory (plans, ranks);
      printf ("%s: %.2f %% of the slab are gaps, %.2f of its operations are "
              "with the first\n",
              name,
              100 - 100.0 * (double) alone->slab / (double) plans[0]->slab,
              graph_flops (plans[0]->graph, QM_PHASE_UPDATE)
                  / graph_flops (alone->graph, QM_PHASE_UPDATE));
    }
  for (int r = 0; r < ranks; r++)
    qm_plan_free (plans[r]);
  qm_plan_free (alone);
}

/* Of a layer whose queries, keys and values cost most together, but are smaller
 * each than what goes to the second of three ranks. */
static void
test_uneven (void)
{
  static const char text[] =
      "{\"model_type\":\"llama\",\"hidden_size\":64,"
      "\"num_hidden_layers\":1,\"num_attention_heads\":4,"
      "\"intermediate_size\":102,\"vocab_size\":60}";
  QmModel model = { .id = "uneven",
                    .recipe = { .batch_size = 4,
                                .steps = 1,
                                .sequence_length = 2,
                                .precision = QM_PRECISION_BF16 } };

  CHECK_INT (qm_model_config_parse (text, strlen (text), "", &model.config,
                                    NULL),
             QM_OK);
  test_model (&model, 3, true);
}

int
main (void)
{
  /* One of each kind of block, and of matrices of many shapes. */
  static const char *const ids[] = { "pythia-160m", "llama-3.2-1b",
                                     "olmoe-1b-7b", "convnext-xlarge",
                                     "mamba2-1.3b", "clip-vit-l-14" };
  bool whole = getenv ("QM_TEST_FULL") != NULL;
  QmCatalog *catalog;
  const QmModel *models;
  size_t n;

  CHECK_INT (qm_catalog_load (getenv ("QM_TEST_DATA_DIR"), NULL, &catalog,
                              NULL),
             QM_OK);
  models = qm_catalog_models (catalog, &n);
  for (size_t i = 0; i < n && whole; i++)
    for (int ranks = 2; ranks <= MOST_RANKS; ranks++)
      if (!qm_model_has_teacher (&models[i].config))
        test_model (&models[i], ranks, false);
  for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
    for (int ranks = 2; ranks <= MOST_RANKS; ranks += 1 + 4 * (ranks == 3))
      test_model (qm_catalog_model (catalog, ids[i]), ranks, i == 0);
  test_uneven ();
  qm_catalog_free (catalog);
  return check_report ();
}
