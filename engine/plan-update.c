/* SPDX-License-Identifier: Apache-2.0 */

/* The update of a step, as nodes behind those of a pass. */

#include "engine/plan-update.h"

#include <stdlib.h>

static QmValueId
whole (const QmPlan *plan, QmRole role, QmType type, bool all, const char *name)
{
  return qm_graph_value (plan->graph, role, type, 1,
                         all ? &plan->slab : &plan->own, "%s", name);
}

static QmSlab
make_slab (const QmPlan *plan)
{
  QmSharding sharding = qm_plan_sharding (&plan->options);
  QmSlab slab = {
    .all_gradients = !qm_sharding_gradients (sharding),
    .all_weights = !qm_sharding_weights (sharding),
    .second = QM_NO_VALUE,
    .average = QM_NO_VALUE,
    .teacher = QM_NO_VALUE,
  };

  slab.gradients = whole (plan, QM_ROLE_GRADIENT, QM_TYPE_F32,
                          slab.all_gradients, "all gradients");
  slab.weights = whole (plan, QM_ROLE_PARAMETER, plan->type, slab.all_weights,
                        "all weights");
  slab.master = slab.weights;
  if (plan->options.offload)
    return slab;
  if (plan->type != QM_TYPE_F32)
    slab.master =
        whole (plan, QM_ROLE_PARAMETER, QM_TYPE_F32, false, "all fp32 weights");
  slab.first =
      whole (plan, QM_ROLE_MOMENT, QM_TYPE_F32, false, "first moments");
  /* Muon's are of fewer parameters. */
  if (plan->recipe.optimizer != QM_OPTIMIZER_MUON)
    slab.second =
        whole (plan, QM_ROLE_MOMENT, QM_TYPE_F32, false, "second moments");
  if (plan->recipe.ema_decay > 0)
    slab.average =
        whole (plan, QM_ROLE_MOMENT, QM_TYPE_F32, false, "average of weights");
  if (qm_model_has_teacher (&plan->config) && plan->type != QM_TYPE_F32)
    slab.teacher =
        whole (plan, QM_ROLE_MOMENT, plan->type, false, "teacher's weights");
  return slab;
}

QmValueId
qm_slab_part (const QmPlan *plan, QmValueId slab, int64_t begin, int64_t n)
{
  const int64_t one = 1;

  return qm_graph_view (plan->graph, slab, 1, &n, &one, begin);
}

QmValueId
qm_slab_piece (const QmPlan *plan,
               QmValueId slab,
               bool all,
               const QmPiece *piece)
{
  return qm_slab_part (plan, slab, all ? piece->whole : piece->own, piece->n);
}

bool
qm_update_is_gathered (const QmPlan *plan, size_t unit)
{
  return plan->parts > 1
         && (unit >= plan->units.n_moving
             || !qm_sharding_weights (plan->options.sharding));
}

/* All weights of a unit that products read. */
static QmValueId
unit_weights (const QmPlan *plan, const QmSlab *slab, size_t index)
{
  const QmUnit *unit = &plan->units.list[index];

  if (plan->resident != NULL && index >= plan->units.n_moving)
    return plan->stays[index - plan->units.n_moving].all;
  return qm_slab_part (plan, slab->weights, unit->begin,
                       unit->end - unit->begin);
}

void
qm_update_gather (const QmPlan *plan, const QmSlab *slab, size_t index)
{
  QmValueId weights = unit_weights (plan, slab, index);
  QmNode *node = qm_graph_append (plan->graph, QM_OP_ALL_GATHER);

  node->outputs[0] = weights;
  node->attributes.unit = (int64_t) index;
}

void
qm_update_sum (const QmPlan *plan, QmValueId number)
{
  if (plan->options.ranks == 1)
    return;
  qm_graph_append (plan->graph, QM_OP_ALL_REDUCE)->outputs[0] = number;
  qm_graph_append (plan->graph, QM_OP_EXCHANGED);
}

/* The loss of the step becomes a part of the state, and begins anew. */
static void
append_step_loss (const QmPlan *plan)
{
  QmGraph *graph = plan->graph;
  const int64_t one = 1;
  QmValueId last =
      qm_graph_view (graph, graph->state, 1, &one, &one, QM_STATE_LOSS);
  QmNode *node;

  qm_update_sum (plan, graph->loss);
  node = qm_graph_append (graph, QM_OP_COPY);
  node->inputs[0] = graph->loss;
  node->outputs[0] = last;
  qm_graph_append (graph, QM_OP_FILL)->outputs[0] = graph->loss;
}

QmPiece
qm_update_own_piece (const QmPlan *plan, size_t index)
{
  const QmUnit *unit = &plan->units.list[index];

  return qm_units_piece (&plan->units, (int32_t) index, plan->parts, plan->part,
                         unit->begin, unit->end);
}

void
qm_update_squares (const QmPlan *plan, QmValueId x, QmValueId sum)
{
  QmNode *node = qm_graph_append (plan->graph, QM_OP_SUM_SQUARES);

  node->inputs[0] = x;
  node->outputs[0] = sum;
}

/* Of the rank's part of each unit, where the device has the others, too. */
static void
append_squares_of_parts (const QmPlan *plan, const QmSlab *slab, QmValueId sum)
{
  QmGraph *graph = plan->graph;
  const int64_t n = (int64_t) plan->units.n, column[2] = { n, 1 };
  QmValueId sums = qm_graph_value (graph, QM_ROLE_STATE, QM_TYPE_F32, 1, &n,
                                   "sums of squares");
  QmValueId rows = qm_graph_reshape (graph, sums, 2, column);
  QmNode *node;

  for (size_t i = 0; i < plan->units.n; i++)
    {
      QmPiece piece = qm_update_own_piece (plan, i);

      qm_update_squares (plan,
                         qm_slab_piece (plan, slab->gradients, true, &piece),
                         qm_slab_part (plan, sums, (int64_t) i, 1));
    }
  qm_graph_append (graph, QM_OP_FILL)->outputs[0] = sum;
  node = qm_graph_append (graph, QM_OP_COLUMN_SUM);
  node->attributes.scale = 1;
  node->inputs[0] = rows;
  node->outputs[0] = sum;
}

/* The norm of the gradients, and what follows from it. */
static void
append_state (const QmPlan *plan, const QmSlab *slab)
{
  QmGraph *graph = plan->graph;
  const int64_t one = 1;
  QmValueId sum = qm_graph_value (graph, QM_ROLE_STATE, QM_TYPE_F32, 1, &one,
                                  "sum of squares");
  QmNode *node;

  if (plan->options.offload && !slab->all_gradients)
    qm_graph_append (graph, QM_OP_HOST_SUM_SQUARES)->outputs[0] = sum;
  else if (plan->parts > 1 && slab->all_gradients)
    append_squares_of_parts (plan, slab, sum);
  else
    qm_update_squares (plan, slab->gradients, sum);
  if (plan->parts > 1)
    qm_update_sum (plan, sum);
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
  node->attributes.decoupled = recipe->optimizer != QM_OPTIMIZER_ADAM;
  node->inputs[0] = plan->graph->state;
}

QmValueId
qm_update_master (const QmPlan *plan, const QmSlab *slab, const QmPiece *piece)
{
  bool one = slab->master == slab->weights;

  return qm_slab_piece (plan, slab->master, one && slab->all_weights, piece);
}

/* Of `piece`; `weights` are what else has to be told, or QM_NO_VALUE. */
void
qm_update_adam (const QmPlan *plan,
                const QmSlab *slab,
                const QmPiece *piece,
                QmValueId second,
                QmValueId weights)
{
  QmValueId gradients =
      qm_slab_piece (plan, slab->gradients, slab->all_gradients, piece);
  QmValueId master = qm_update_master (plan, slab, piece);
  QmValueId first = qm_slab_piece (plan, slab->first, false, piece);
  QmNode *node = qm_graph_append (plan->graph, QM_OP_ADAM);

  describe_adam (plan, node);
  node->outputs[0] = gradients;
  node->outputs[1] = master;
  node->outputs[2] = first;
  node->outputs[3] = second;
  node->outputs[4] = weights;
}

QmValueId
qm_update_weights (const QmPlan *plan,
                   const QmSlab *slab,
                   size_t index,
                   const QmPiece *piece)
{
  if (plan->parts > 1 && index >= plan->units.n_moving)
    return qm_slab_part (plan, plan->stays[index - plan->units.n_moving].all,
                         piece->whole - plan->units.list[index].begin,
                         piece->n);
  return slab->weights == slab->master
             ? QM_NO_VALUE
             : qm_slab_piece (plan, slab->weights, slab->all_weights, piece);
}

/* Unit by unit, so that what one rank updated goes to the others while it
 * updates more. */
static void
append_adam_of_parts (const QmPlan *plan, const QmSlab *slab)
{
  for (size_t i = 0; i < plan->units.n; i++)
    {
      QmPiece piece = qm_update_own_piece (plan, i);

      qm_update_adam (plan, slab, &piece,
                      qm_slab_piece (plan, slab->second, false, &piece),
                      qm_update_weights (plan, slab, i, &piece));
      if (qm_update_is_gathered (plan, i))
        qm_update_gather (plan, slab, i);
    }
  qm_graph_append (plan->graph, QM_OP_EXCHANGED);
}

static void
append_host_adam (const QmPlan *plan, const QmSlab *slab)
{
  QmGraph *graph = plan->graph;

  for (size_t i = 0; i < plan->n_host_parts; i++)
    {
      const QmPiece *piece = &plan->host_parts[i];
      QmValueId gradients =
          slab->all_gradients
              ? qm_slab_piece (plan, slab->gradients, true, piece)
              : QM_NO_VALUE;
      QmValueId weights = slab->all_weights
                              ? qm_slab_piece (plan, slab->weights, true, piece)
                              : QM_NO_VALUE;
      QmNode *node = qm_graph_append (graph, QM_OP_HOST_ADAM);

      describe_adam (plan, node);
      node->attributes.unit = (int64_t) i;
      node->outputs[0] = gradients;
      node->outputs[1] = weights;
    }
  qm_graph_append (graph, QM_OP_HOST_UPDATED);
  if (plan->parts == 1)
    return;
  for (size_t i = 0; i < plan->units.n; i++)
    if (qm_update_is_gathered (plan, i))
      qm_update_gather (plan, slab, i);
  qm_graph_append (graph, QM_OP_EXCHANGED);
}

/* Sums of which other ranks have the parts begin anew, too. */
static void
append_clear (const QmPlan *plan, const QmSlab *slab)
{
  qm_graph_append (plan->graph, QM_OP_FILL)->outputs[0] = slab->gradients;
}

/* Names the weights that stay on the device by themselves. */
static void
make_resident (QmPlan *plan)
{
  const QmUnits *units = &plan->units;

  for (size_t i = units->n_moving; plan->resident != NULL && i < units->n; i++)
    {
      const int64_t n = units->list[i].end - units->list[i].begin;
      QmResident *stays = &plan->stays[i - units->n_moving];

      stays->all = qm_graph_value (plan->graph, QM_ROLE_PARAMETER, stays->type,
                                   1, &n, "weights that stay");
    }
}

static void
append_average (const QmPlan *plan,
                const QmSlab *slab,
                const QmPiece *piece,
                bool first)
{
  QmValueId master = qm_update_master (plan, slab, piece);
  QmValueId average = qm_slab_piece (plan, slab->average, false, piece);
  QmValueId weights = slab->teacher != QM_NO_VALUE
                          ? qm_slab_piece (plan, slab->teacher, false, piece)
                          : QM_NO_VALUE;
  QmNode *node = qm_graph_append (plan->graph, QM_OP_AVERAGE);

  node->attributes.value = plan->recipe.ema_decay;
  node->attributes.first = first;
  node->inputs[0] = plan->graph->state;
  node->inputs[1] = master;
  node->outputs[0] = average;
  if (!first && slab->teacher != QM_NO_VALUE)
    node->outputs[1] = weights;
}

/* Before weights are updated, with `first`, or after, of what the rank has of
 * each unit. */
static void
append_averages (const QmPlan *plan, const QmSlab *slab, bool first)
{
  const QmPiece all = { 0, 0, plan->slab };

  if (slab->average == QM_NO_VALUE)
    return;
  if (plan->parts == 1)
    append_average (plan, slab, &all, first);
  else
    for (size_t i = 0; i < plan->units.n; i++)
      {
        QmPiece piece = qm_update_own_piece (plan, i);

        append_average (plan, slab, &piece, first);
      }
}

/* What a teacher reads is where the parameter is in the slab, of the average
 * or, in the type of products, of its copy. */
static void
place_teacher (const QmPlan *plan, const QmSlab *slab)
{
  QmGraph *graph = plan->graph;
  size_t n = plan->units.n_values;
  QmValueId *student =
      graph->status == QM_OK ? malloc ((n + 1) * sizeof *student) : NULL;

  if (student == NULL)
    {
      qm_graph_fail (graph, QM_STATUS_NO_MEMORY, "the host is out of memory");
      return;
    }
  for (size_t i = 0; i < n; i++)
    if (graph->values[i].owner == (QmValueId) i
        && graph->values[i].teacher != QM_NO_VALUE)
      student[graph->values[i].teacher] = (QmValueId) i;
  for (size_t i = 0; i < n; i++)
    {
      QmValue *value = &graph->values[i];

      if (value->role != QM_ROLE_TEACHER)
        continue;
      value->offset += plan->units.place[student[value->owner]];
      value->owner =
          value->tensor.type == QM_TYPE_F32 ? slab->average : slab->teacher;
      value->role = QM_ROLE_MOMENT;
    }
  free (student);
}

static void
append_optimizer (const QmPlan *plan, const QmSlab *slab)
{
  const QmPiece all = { 0, 0, plan->slab };

  if (plan->options.offload)
    append_host_adam (plan, slab);
  else if (plan->recipe.optimizer == QM_OPTIMIZER_LAMB)
    qm_update_lamb (plan, slab);
  else if (plan->recipe.optimizer == QM_OPTIMIZER_MUON)
    qm_update_muon (plan, slab);
  else if (plan->parts > 1)
    append_adam_of_parts (plan, slab);
  else
    qm_update_adam (plan, slab, &all, slab->second,
                    qm_update_weights (plan, slab, 0, &all));
}

QmStatus
qm_plan_update (QmPlan *plan, QmError *error)
{
  QmGraph *graph = plan->graph;
  QmSlab slab;

  graph->phase = QM_PHASE_UPDATE;
  make_resident (plan);
  slab = make_slab (plan);
  append_step_loss (plan);
  append_state (plan, &slab);
  append_averages (plan, &slab, true);
  append_optimizer (plan, &slab);
  append_averages (plan, &slab, false);
  plan->average = slab.average;
  plan->teacher = slab.teacher;
  if (qm_model_has_teacher (&plan->config))
    place_teacher (plan, &slab);
  if (plan->parts > 1 && slab.all_gradients)
    append_clear (plan, &slab);
  return qm_graph_status (graph, error);
}
