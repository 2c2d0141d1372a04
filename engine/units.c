/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/units.h"

#include <stdlib.h>

static int64_t
rounded (int64_t elements)
{
  return (elements + QM_SLAB_ALIGNMENT - 1) / QM_SLAB_ALIGNMENT
         * QM_SLAB_ALIGNMENT;
}

static bool
is_owner (const QmGraph *graph, size_t value, QmRole role)
{
  return graph->values[value].role == role
         && graph->values[value].owner == (QmValueId) value;
}

/* Gradients were declared in the order of the parameters that they belong to.
 */
static void
place (const QmGraph *graph, QmRole role, QmUnits *units)
{
  int64_t next = 0;

  for (size_t i = 0; i < graph->n_values; i++)
    if (is_owner (graph, i, role))
      {
        units->place[i] = next;
        next += rounded (graph->values[i].room);
      }
  units->slab = next;
}

/* What is being cut, all owners of a role that move. */
typedef struct Cut
{
  const QmGraph *graph;
  const QmUnits *units;
  bool blocks;
  int64_t elements;
  QmUnit *list;
  size_t n;
  int32_t *unit_of;
  int32_t block; /* of the newest unit */
} Cut;

static void
add (Cut *cut, size_t value, int32_t block)
{
  int64_t begin = cut->units->place[value];
  int64_t end = begin + rounded (cut->graph->values[value].room);
  QmUnit *newest = cut->n > 0 ? &cut->list[cut->n - 1] : NULL;

  if (newest != NULL)
    {
      int64_t first = begin < newest->begin ? begin : newest->begin;
      int64_t last = end > newest->end ? end : newest->end;

      if (cut->blocks ? block == cut->block : last - first <= cut->elements)
        {
          *newest = (QmUnit){ first, last };
          cut->unit_of[value] = (int32_t) (cut->n - 1);
          return;
        }
    }
  cut->block = block;
  cut->unit_of[value] = (int32_t) cut->n;
  cut->list[cut->n++] = (QmUnit){ begin, end };
}

static bool
stays (const QmGraph *graph, const QmUnitRules *rules, size_t value)
{
  const QmValue *owner = &graph->values[value];

  return owner->tensor.type != rules->type || owner->room < rules->threshold;
}

/* From the last on.  Gradients are like the parameters that they belong to, but
 * were not made while the block of these was built. */
static void
cut_gradients (const QmGraph *graph, const QmUnitRules *rules, QmUnits *units)
{
  Cut cut = { .graph = graph,
              .units = units,
              .blocks = rules->blocks,
              .elements = rules->gradient_elements,
              .list = units->gradients,
              .unit_of = units->gradient_unit };
  size_t parameter = graph->n_values;

  for (size_t i = graph->n_values; i-- > 0;)
    if (is_owner (graph, i, QM_ROLE_GRADIENT))
      {
        while (!is_owner (graph, --parameter, QM_ROLE_PARAMETER))
          ;
        add (&cut, i, graph->values[parameter].block);
      }
  units->n_gradients = cut.n;
}

static void
cut_weights (const QmGraph *graph, const QmUnitRules *rules, QmUnits *units)
{
  Cut cut = { .graph = graph,
              .units = units,
              .blocks = rules->blocks,
              .elements = rules->weight_elements,
              .list = units->weights,
              .unit_of = units->weight_unit };

  for (size_t i = 0; i < graph->n_values; i++)
    if (is_owner (graph, i, QM_ROLE_PARAMETER) && !stays (graph, rules, i))
      add (&cut, i, graph->values[i].block);
  units->n_weights = cut.n;
}

QmStatus
qm_units_find (const QmGraph *graph,
               const QmUnitRules *rules,
               QmUnits *units,
               QmError *error)
{
  size_t n = graph->n_values + 1;

  *units = (QmUnits){
    .place = calloc (n, sizeof *units->place),
    .n_values = graph->n_values,
    .gradients = malloc (n * sizeof *units->gradients),
    .weights = malloc (n * sizeof *units->weights),
    .gradient_unit = malloc (n * sizeof *units->gradient_unit),
    .weight_unit = malloc (n * sizeof *units->weight_unit),
  };
  if (units->place == NULL || units->gradients == NULL || units->weights == NULL
      || units->gradient_unit == NULL || units->weight_unit == NULL)
    {
      qm_units_clear (units);
      return qm_error_set (error, QM_STATUS_NO_MEMORY, "", 0, 0,
                           "the host is out of memory");
    }
  for (size_t i = 0; i < n; i++)
    units->gradient_unit[i] = units->weight_unit[i] = QM_NO_UNIT;
  place (graph, QM_ROLE_GRADIENT, units);
  place (graph, QM_ROLE_PARAMETER, units);
  if (rules->gradients)
    cut_gradients (graph, rules, units);
  if (rules->weights)
    cut_weights (graph, rules, units);
  return QM_OK;
}

void
qm_units_clear (QmUnits *units)
{
  free (units->place);
  free (units->gradients);
  free (units->weights);
  free (units->gradient_unit);
  free (units->weight_unit);
  *units = (QmUnits){ 0 };
}
