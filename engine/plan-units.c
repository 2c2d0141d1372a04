/* SPDX-License-Identifier: Apache-2.0 */

/* The part of a plan that says what of the parameters and what belongs to them
 * each rank has, and what of that its device. */

#include "engine/plan-update.h"

#include <stdlib.h>

static int64_t
least (int64_t elements, int64_t limit)
{
  return limit > 0 && limit < elements ? limit : elements;
}

static int64_t
bucket_of (const QmPlanOptions *options)
{
  QmSharding sharding = qm_plan_sharding (options);
  int64_t elements = QM_BUCKET_GRADIENTS;

  if (qm_sharding_weights (sharding))
    elements = QM_BUCKET_WEIGHTS;
  else if (options->ranks > 1 && !qm_sharding_gradients (sharding))
    elements = QM_BUCKET_REDUCED;
  return least (elements, options->bucket);
}

static QmUnitRules
make_rules (const QmPlan *plan)
{
  const QmPlanOptions *options = &plan->options;
  QmSharding sharding = qm_plan_sharding (options);
  bool shards = sharding != QM_SHARDING_NONE;

  return (QmUnitRules){
    .cut = shards || options->ranks > 1,
    .gradients = qm_sharding_gradients (sharding),
    .weights = qm_sharding_weights (sharding),
    .blocks = sharding == QM_SHARDING_FSDP_2 || sharding == QM_SHARDING_FSDP_3,
    .elements = bucket_of (options),
    .parts = options->ranks,
    .apart = shards,
    .threshold = sharding == QM_SHARDING_ZERO_3
                     ? least (QM_BUCKET_THRESHOLD, options->bucket)
                     : 0,
    .type = plan->type,
  };
}

/* Weights that stay on the device, while the others are not there or are of
 * another type, are as they are in the slab, gaps and all, so that what a rank
 * has of them is in one piece there, too. */
static QmStatus
place_resident (QmPlan *plan, QmError *error)
{
  const QmGraph *graph = plan->graph;
  const QmUnits *units = &plan->units;

  plan->resident = malloc ((units->n_values + 1) * sizeof *plan->resident);
  if (plan->resident == NULL)
    return qm_error_no_memory (error);
  for (size_t i = 0; i < units->n_values; i++)
    plan->resident[i] = QM_NOT_RESIDENT;
  for (size_t u = units->n_moving; u < units->n; u++)
    {
      const QmUnit *unit = &units->list[u];
      QmResident *stays = &plan->stays[u - units->n_moving];

      stays->begin = plan->resident_bytes;
      for (size_t i = 0; i < units->n_values; i++)
        if (graph->values[i].role == QM_ROLE_PARAMETER
            && graph->values[i].owner == (QmValueId) i
            && units->of[i] == (int32_t) u)
          {
            stays->type = graph->values[i].tensor.type;
            plan->resident[i] = (int64_t) stays->begin
                                + (units->place[i] - unit->begin)
                                      * (int64_t) qm_type_size (stays->type);
          }
      plan->resident_bytes +=
          (uint64_t) (unit->end - unit->begin) * qm_type_size (stays->type);
    }
  return QM_OK;
}

QmStatus
qm_plan_units (QmPlan *plan, QmError *error)
{
  QmUnitRules rules = make_rules (plan);
  double *costs = NULL;
  QmStatus status = QM_OK;

  if (plan->parts > 1 && plan->recipe.optimizer == QM_OPTIMIZER_MUON)
    rules.whole = costs = qm_muon_costs (plan);
  if (qm_graph_status (plan->graph, NULL) == QM_OK)
    status = qm_units_find (plan->graph, &rules, &plan->units, error);
  else
    status = qm_graph_status (plan->graph, error);
  free (costs);
  if (status != QM_OK)
    return status;
  plan->slab = plan->units.slab;
  plan->own = plan->slab / plan->parts;
  for (int i = 0; i < QM_MAX_RESIDENT; i++)
    plan->stays[i].all = QM_NO_VALUE;
  if (rules.apart)
    status = place_resident (plan, error);
  if (status == QM_OK && plan->options.offload)
    status = qm_plan_host_parts (plan, error);
  if (status == QM_OK && rules.gradients)
    status = qm_pass_transfers (plan->graph, &plan->units, plan->type, error);
  return status;
}

void
qm_plan_sharded (QmPlan *plan)
{
  QmSharding sharding = qm_plan_sharding (&plan->options);
  uint64_t slab = (uint64_t) plan->slab, own = (uint64_t) plan->own;
  uint64_t size = qm_type_size (plan->type);
  QmMemory *memory = &plan->memory;

  if (sharding == QM_SHARDING_NONE)
    return;
  memory->weights =
      plan->resident_bytes
      + (qm_sharding_weights (sharding) ? own * size : slab * size);
  memory->master = plan->type != QM_TYPE_F32 ? own * 4 : 0;
  memory->gradients = qm_sharding_gradients (sharding) ? own * 4 : slab * 4;
}
