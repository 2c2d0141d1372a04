/* SPDX-License-Identifier: Apache-2.0 */

/* The update of a step, as nodes behind those of a pass. */

#include "engine/plan.h"

/* What an update reads and writes: all parameters in one piece, with the gaps
 * between them. */
typedef struct Slab
{
  QmValueId gradients; /* fp32 */
  QmValueId weights;   /* as products read them */
  QmValueId master;    /* fp32; `weights` where those are */
  QmValueId first, second;
} Slab;

static QmValueId
whole (const QmPlan *plan, QmRole role, QmType type, const char *name)
{
  return qm_graph_value (plan->graph, role, type, 1, &plan->units.slab, "%s",
                         name);
}

static Slab
make_slab (const QmPlan *plan)
{
  Slab slab = {
    .gradients = whole (plan, QM_ROLE_GRADIENT, QM_TYPE_F32, "all gradients"),
    .weights = whole (plan, QM_ROLE_PARAMETER, plan->type, "all weights"),
  };

  slab.master = slab.weights;
  if (plan->options.offload)
    return slab;
  if (plan->type != QM_TYPE_F32)
    slab.master =
        whole (plan, QM_ROLE_PARAMETER, QM_TYPE_F32, "all fp32 weights");
  slab.first = whole (plan, QM_ROLE_MOMENT, QM_TYPE_F32, "first moments");
  slab.second = whole (plan, QM_ROLE_MOMENT, QM_TYPE_F32, "second moments");
  return slab;
}

/* Elements [begin, end) of it. */
static QmValueId
part (const QmPlan *plan, QmValueId slab, int64_t begin, int64_t end)
{
  const int64_t n = end - begin, one = 1;

  return qm_graph_view (plan->graph, slab, 1, &n, &one, begin);
}

/* The loss of the step becomes a part of the state, and begins anew. */
static void
append_loss (const QmPlan *plan)
{
  QmGraph *graph = plan->graph;
  const int64_t one = 1;
  QmValueId last =
      qm_graph_view (graph, graph->state, 1, &one, &one, QM_STATE_LOSS);
  QmNode *node = qm_graph_append (graph, QM_OP_COPY);

  node->inputs[0] = graph->loss;
  node->outputs[0] = last;
  qm_graph_append (graph, QM_OP_FILL)->outputs[0] = graph->loss;
}

/* The norm of the gradients, and what follows from it. */
static void
append_state (const QmPlan *plan, QmValueId gradients)
{
  QmGraph *graph = plan->graph;
  const int64_t one = 1;
  bool on_host =
      plan->options.offload && qm_sharding_gradients (plan->options.sharding);
  QmValueId sum = qm_graph_value (graph, QM_ROLE_STATE, QM_TYPE_F32, 1, &one,
                                  "sum of squares");
  QmNode *node = qm_graph_append (graph, on_host ? QM_OP_HOST_SUM_SQUARES
                                                 : QM_OP_SUM_SQUARES);

  if (!on_host)
    node->inputs[0] = gradients;
  node->outputs[0] = sum;
  node = qm_graph_append (graph, QM_OP_UPDATE_STATE);
  node->attributes.max_norm = plan->recipe.max_grad_norm;
  node->attributes.dynamic = plan->type == QM_TYPE_F16;
  node->inputs[0] = sum;
  node->outputs[0] = graph->state;
}

static void
describe_adam (const QmPlan *plan, QmNode *node)
{
  const QmRecipe *recipe = &plan->recipe;

  node->attributes.beta1 = recipe->beta1;
  node->attributes.beta2 = recipe->beta2;
  node->attributes.epsilon = recipe->epsilon;
  node->attributes.weight_decay = recipe->weight_decay;
  node->attributes.decoupled = recipe->optimizer == QM_OPTIMIZER_ADAMW;
  node->inputs[0] = plan->graph->state;
}

static void
append_adam (const QmPlan *plan, const Slab *slab)
{
  QmNode *node = qm_graph_append (plan->graph, QM_OP_ADAM);

  describe_adam (plan, node);
  node->outputs[0] = slab->gradients;
  node->outputs[1] = slab->master;
  node->outputs[2] = slab->first;
  node->outputs[3] = slab->second;
  if (slab->weights != slab->master)
    node->outputs[4] = slab->weights;
}

/* The host updates part by part, so that gradients come down and weights go up
 * meanwhile; in one, where neither does. */
static void
append_host_adam (const QmPlan *plan, const Slab *slab)
{
  QmGraph *graph = plan->graph;
  QmSharding sharding = plan->options.sharding;
  int64_t n = plan->units.slab, unit = 0;
  int64_t chunk = qm_sharding_weights (sharding) ? n : plan->host.chunk;

  for (int64_t begin = 0; begin < n; begin += chunk, unit++)
    {
      int64_t end = begin + chunk < n ? begin + chunk : n;
      QmValueId gradients = qm_sharding_gradients (sharding)
                                ? QM_NO_VALUE
                                : part (plan, slab->gradients, begin, end);
      QmValueId weights = qm_sharding_weights (sharding)
                              ? QM_NO_VALUE
                              : part (plan, slab->weights, begin, end);
      QmNode *node = qm_graph_append (graph, QM_OP_HOST_ADAM);

      describe_adam (plan, node);
      node->attributes.unit = unit;
      node->outputs[0] = gradients;
      node->outputs[1] = weights;
    }
  qm_graph_append (graph, QM_OP_HOST_UPDATED);
}

QmStatus
qm_plan_update (QmPlan *plan, QmError *error)
{
  QmGraph *graph = plan->graph;
  Slab slab;

  graph->phase = QM_PHASE_UPDATE;
  slab = make_slab (plan);
  append_loss (plan);
  append_state (plan, slab.gradients);
  if (plan->options.offload)
    append_host_adam (plan, &slab);
  else
    append_adam (plan, &slab);
  return qm_graph_status (graph, error);
}
