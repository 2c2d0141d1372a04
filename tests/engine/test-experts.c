/* SPDX-License-Identifier: Apache-2.0 */

/* Graphs of mixtures of experts: what is counted, balanced, and a parameter. */

#include "data/flops.h"
#include "engine/plan.h"
#include "tests/data/check.h"
#include "tests/engine/graph-sums.h"

#include <stdio.h>
#include <string.h>

#define CONFIG                                                           \
  "\"hidden_size\": 16, \"num_attention_heads\": 2, \"vocab_size\": 64," \
  "\"num_key_value_heads\": 2, \"head_dim\": 8, \"intermediate_size\": 32"
#define QWEN3                                                             \
  "{\"model_type\": \"qwen3_moe\", " CONFIG ", \"num_hidden_layers\": 3," \
  "\"mlp_only_layers\": [1], \"num_experts\": 5,"                         \
  "\"num_experts_per_tok\": 2, \"moe_intermediate_size\": 24"

#define BATCH 12

static QmPlan *
plan_of (const char *text, int64_t micro_batch, int ranks)
{
  QmModelConfig config = { 0 };
  const QmRecipe recipe = { .batch_size = BATCH,
                            .steps = 1,
                            .sequence_length = 9,
                            .precision = QM_PRECISION_FP32,
                            .optimizer = QM_OPTIMIZER_ADAMW,
                            .dropout = 0 };
  const QmPlanOptions options = { .target = { QM_DEVICE_CPU, 0 },
                                  .micro_batch = micro_batch,
                                  .ranks = ranks };
  QmError error = { 0 };
  QmPlan *plan = NULL;

  CHECK_INT (qm_model_config_parse (text, strlen (text), "config.json", &config,
                                    &error),
             QM_OK);
  CHECK_INT (qm_plan_new (&config, &recipe, &options, &plan, &error), QM_OK);
  CHECK_STRING (error.message, "");
  if (plan != NULL)
    CHECK_NEAR (graph_flops (plan->graph, QM_PHASE_FORWARD),
                (double) micro_batch
                    * qm_flops_forward_sample (&config, &recipe),
                1e-9);
  return plan;
}

static const QmNode *
find (const QmPlan *plan, QmOp op, int *n)
{
  const QmNode *found = NULL;

  *n = 0;
  for (size_t i = 0; i < plan->graph->n_nodes; i++)
    if (plan->graph->nodes[i].op == op)
      {
        found = &plan->graph->nodes[i];
        ++*n;
      }
  return found;
}

/* Of so many micro-batches of a step, and of so many ranks, each adds its
 * share; of the layers that have experts, the loads are in one tensor. */
static void
test_balance (int64_t micro_batch, int ranks)
{
  QmPlan *plan = plan_of (QWEN3 ", \"output_router_logits\": true,"
                                "\"router_aux_loss_coef\": 0.5}",
                          micro_batch, ranks);
  const QmNode *node;
  int n;

  check_case ("balance");
  if (plan == NULL)
    return;
  node = find (plan, QM_OP_BALANCE, &n);
  CHECK_INT (n, 1);
  if (node != NULL)
    {
      CHECK_NEAR (node->attributes.scale, 0.5 * (double) micro_batch / BATCH,
                  1e-12);
      CHECK_INT (node->attributes.count, micro_batch * 9);
      CHECK_INT (qm_graph_tensor (plan->graph, node->inputs[0])->shape[0], 2);
    }
  find (plan, QM_OP_EXPERT_LOAD, &n);
  CHECK_INT (n, 2);
  find (plan, QM_OP_ROUTE, &n);
  CHECK_INT (n, 2);
  qm_plan_free (plan);
}

/* Without, nothing of it is computed. */
static void
test_unbalanced (void)
{
  QmPlan *plan = plan_of (QWEN3 "}", 2, 1);
  int n;

  check_case ("no balance");
  if (plan == NULL)
    return;
  find (plan, QM_OP_BALANCE, &n);
  CHECK_INT (n, 0);
  find (plan, QM_OP_EXPERT_LOAD, &n);
  CHECK_INT (n, 0);
  qm_plan_free (plan);
}

/* Every matrix of every expert is a parameter, under the hub's name, and those
 * of a layer are neighbours. */
static void
test_parameters (const char *text, const char *const names[3], const char *all)
{
  QmPlan *plan = plan_of (text, 1, 1);
  int64_t offsets[3] = { -1, -1, -1 };
  QmValueId owners[3];

  check_case (names[0]);
  if (plan == NULL)
    return;
  for (size_t i = 0; i < plan->graph->n_parameters; i++)
    for (int j = 0; j < 3; j++)
      if (strcmp (plan->graph->parameters[i].name, names[j]) == 0)
        {
          const QmParameter *parameter = &plan->graph->parameters[i];
          const QmValue *value = &plan->graph->values[parameter->value];

          CHECK_CONTAINS (parameter->packed, all);
          CHECK_INT (value->tensor.rank, 2);
          offsets[j] = value->offset;
          owners[j] = value->owner;
        }
  for (int j = 0; j < 3; j++)
    CHECK (offsets[j] >= 0);
  if (offsets[0] >= 0 && offsets[1] >= 0 && offsets[2] >= 0)
    {
      CHECK_INT (offsets[1] - offsets[0], 24 * 16);
      CHECK_INT (offsets[0], 4 * 2 * 24 * 16);
      CHECK_INT (offsets[2], 4 * 24 * 16);
      CHECK_INT (owners[0], owners[1]);
      CHECK (owners[0] != owners[2]);
    }
  qm_plan_free (plan);
}

int
main (void)
{
  static const char *const qwen3[3] = {
    "model.layers.2.mlp.experts.4.gate_proj.weight",
    "model.layers.2.mlp.experts.4.up_proj.weight",
    "model.layers.2.mlp.experts.4.down_proj.weight"
  };
  static const char *const mixtral[3] = {
    "model.layers.0.block_sparse_moe.experts.4.w1.weight",
    "model.layers.0.block_sparse_moe.experts.4.w3.weight",
    "model.layers.0.block_sparse_moe.experts.4.w2.weight"
  };

  test_balance (2, 1);
  test_balance (12, 1);
  test_balance (3, 2);
  test_unbalanced ();
  test_parameters (QWEN3 "}", qwen3, "model.layers.2.mlp.experts.");
  test_parameters ("{\"model_type\": \"mixtral\", \"hidden_size\": 16,"
                   "\"num_attention_heads\": 2, \"vocab_size\": 64,"
                   "\"num_key_value_heads\": 2, \"intermediate_size\": 24,"
                   "\"num_hidden_layers\": 1, \"num_local_experts\": 5}",
                   mixtral, "model.layers.0.mlp.experts.");
  return check_report ();
}
