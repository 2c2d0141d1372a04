/* SPDX-License-Identifier: Apache-2.0 */

/* LAMB's part of an update: the directions of all elements, then the norms of
 * each tensor and of its direction, over all ranks that have a part of it, then
 * the steps. */

#include "engine/plan-update.h"

#include <stdlib.h>

typedef struct Lamb
{
  const QmPlan *plan;
  const QmSlab *slab;
  QmSlabTensor *tensors;
  size_t n;
  QmValueId norms; /* sums of squares: of the weights and of the direction of
                      each tensor */
} Lamb;

static void
append_direction (const Lamb *lamb, const QmPiece *piece)
{
  const QmPlan *plan = lamb->plan;
  const QmSlab *slab = lamb->slab;
  const QmRecipe *recipe = &plan->recipe;
  QmValueId master = qm_update_master (plan, slab, piece);
  QmValueId gradients =
      qm_slab_piece (plan, slab->gradients, slab->all_gradients, piece);
  QmValueId first = qm_slab_piece (plan, slab->first, false, piece);
  QmValueId second = qm_slab_piece (plan, slab->second, false, piece);
  QmNode *node = qm_graph_append (plan->graph, QM_OP_LAMB_DIRECTION);

  node->attributes.beta1 = recipe->beta1;
  node->attributes.beta2 = recipe->beta2;
  node->attributes.epsilon = recipe->epsilon;
  node->attributes.weight_decay = recipe->weight_decay;
  node->inputs[0] = plan->graph->state;
  node->inputs[1] = master;
  node->outputs[0] = gradients;
  node->outputs[1] = first;
  node->outputs[2] = second;
}

static void
append_directions (const Lamb *lamb)
{
  const QmPlan *plan = lamb->plan;
  const QmPiece all = { 0, 0, plan->slab };

  if (plan->parts == 1)
    append_direction (lamb, &all);
  for (size_t i = 0; plan->parts > 1 && i < plan->units.n; i++)
    {
      QmPiece piece = qm_update_own_piece (plan, i);

      append_direction (lamb, &piece);
    }
}

/* What the rank has of a tensor, if anything. */
static QmPiece
own_piece (const QmPlan *plan, const QmSlabTensor *tensor)
{
  return qm_units_piece (&plan->units, plan->units.of[tensor->owner],
                         plan->parts, plan->part, tensor->begin,
                         tensor->begin + tensor->n);
}

static void
append_norms (const Lamb *lamb)
{
  const QmPlan *plan = lamb->plan;
  const QmSlab *slab = lamb->slab;

  if (plan->parts > 1)
    qm_graph_append (plan->graph, QM_OP_FILL)->outputs[0] = lamb->norms;
  for (size_t i = 0; i < lamb->n; i++)
    {
      QmPiece piece = own_piece (plan, &lamb->tensors[i]);
      int64_t at = 2 * (int64_t) i;

      if (piece.n == 0)
        continue;
      qm_update_squares (plan, qm_update_master (plan, slab, &piece),
                         qm_slab_part (plan, lamb->norms, at, 1));
      qm_update_squares (plan,
                         qm_slab_piece (plan, slab->gradients,
                                        slab->all_gradients, &piece),
                         qm_slab_part (plan, lamb->norms, at + 1, 1));
    }
  if (plan->parts > 1)
    qm_update_sum (plan, lamb->norms);
}

static void
append_update (const Lamb *lamb, size_t index)
{
  const QmPlan *plan = lamb->plan;
  const QmSlab *slab = lamb->slab;
  const QmSlabTensor *tensor = &lamb->tensors[index];
  QmPiece piece = own_piece (plan, tensor);
  QmValueId norms, gradients, master, weights;
  QmNode *node;

  if (piece.n == 0)
    return;
  norms = qm_slab_part (plan, lamb->norms, 2 * (int64_t) index, 2);
  gradients =
      qm_slab_piece (plan, slab->gradients, slab->all_gradients, &piece);
  master = qm_update_master (plan, slab, &piece);
  weights = qm_update_weights (
      plan, slab, plan->parts > 1 ? (size_t) plan->units.of[tensor->owner] : 0,
      &piece);
  node = qm_graph_append (plan->graph, QM_OP_LAMB_UPDATE);
  node->inputs[0] = plan->graph->state;
  node->inputs[1] = norms;
  node->outputs[0] = gradients;
  node->outputs[1] = master;
  node->outputs[2] = weights;
}

/* Unit by unit, so that what one rank updated goes to the others while it
 * updates more. */
static void
append_updates (const Lamb *lamb)
{
  const QmPlan *plan = lamb->plan;
  size_t next = 0;

  if (plan->parts == 1)
    {
      for (size_t i = 0; i < lamb->n; i++)
        append_update (lamb, i);
      return;
    }
  for (size_t u = 0; u < plan->units.n; u++)
    {
      while (next < lamb->n
             && plan->units.of[lamb->tensors[next].owner] == (int32_t) u)
        append_update (lamb, next++);
      if (qm_update_is_gathered (plan, u))
        qm_update_gather (plan, lamb->slab, u);
    }
  qm_graph_append (plan->graph, QM_OP_EXCHANGED);
}

void
qm_update_lamb (const QmPlan *plan, const QmSlab *slab)
{
  Lamb lamb = { .plan = plan, .slab = slab };
  int64_t n;

  lamb.tensors = qm_slab_tensors (plan, &lamb.n);
  if (lamb.tensors == NULL)
    return;
  n = 2 * (int64_t) lamb.n;
  lamb.norms = qm_graph_value (plan->graph, QM_ROLE_STATE, QM_TYPE_F32, 1, &n,
                               "%s", "norms of tensors");
  append_directions (&lamb);
  append_norms (&lamb);
  append_updates (&lamb);
  free (lamb.tensors);
}
