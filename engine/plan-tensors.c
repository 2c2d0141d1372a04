/* SPDX-License-Identifier: Apache-2.0 */

/* Parameters in the slab, for optimizers that tell them apart. */

#include "engine/plan-update.h"

#include "kernels/training.h"

#include <math.h>
#include <stdlib.h>

static int
by_place (const void *a, const void *b)
{
  const QmSlabTensor *x = a, *y = b;

  return (x->begin > y->begin) - (x->begin < y->begin);
}

static QmSlabTensor
describe_tensor (const QmPlan *plan, const QmParameter *parameter)
{
  const QmValue *value = &plan->graph->values[parameter->value];

  return (QmSlabTensor){
    .parameter = parameter,
    .owner = value->owner,
    .n = qm_tensor_elements (&value->tensor),
    .rows = value->tensor.shape[0],
    .columns = value->tensor.rank == 2 ? value->tensor.shape[1] : 1,
  };
}

QmSlabTensor *
qm_slab_tensors (const QmPlan *plan, size_t *n)
{
  QmGraph *graph = plan->graph;
  QmSlabTensor *tensors = calloc (graph->n_parameters + 1, sizeof *tensors);

  *n = 0;
  if (tensors == NULL)
    {
      qm_graph_fail (graph, QM_STATUS_NO_MEMORY, "the host is out of memory");
      return NULL;
    }
  for (size_t i = 0; i < graph->n_parameters; i++)
    {
      const QmParameter *parameter = &graph->parameters[i];
      const QmValue *value = &graph->values[parameter->value];

      if (!qm_tensor_is_dense (&value->tensor))
        {
          qm_graph_fail (graph, QM_STATUS_UNSUPPORTED, "%s is not in one piece",
                         parameter->name);
          free (tensors);
          return NULL;
        }
      tensors[*n] = describe_tensor (plan, parameter);
      tensors[(*n)++].begin = plan->units.place[value->owner] + value->offset;
    }
  qsort (tensors, *n, sizeof *tensors, by_place);
  return tensors;
}

bool
qm_tensor_is_hidden_matrix (const QmPlan *plan, const QmSlabTensor *tensor)
{
  const QmValue *owner = &plan->graph->values[tensor->owner];

  return owner->block > 0 && tensor->rows > 1 && tensor->columns > 1
         && owner->tensor.type == plan->type
         && tensor->parameter->initial != QM_INITIAL_STATES;
}

double *
qm_muon_costs (const QmPlan *plan)
{
  QmGraph *graph = plan->graph;
  double *costs = calloc (graph->n_values + 1, sizeof *costs);

  if (costs == NULL)
    qm_graph_fail (graph, QM_STATUS_NO_MEMORY, "the host is out of memory");
  for (size_t i = 0; costs != NULL && i < graph->n_parameters; i++)
    {
      QmSlabTensor tensor = describe_tensor (plan, &graph->parameters[i]);
      double n = (double) tensor.n, rows = (double) tensor.rows;
      double side = fmin (rows, n / rows);

      if (qm_tensor_is_hidden_matrix (plan, &tensor))
        costs[tensor.owner] +=
            QM_MUON_STEPS * (4 * side * n + 2 * side * side * side);
    }
  return costs;
}
