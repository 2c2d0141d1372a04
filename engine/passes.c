/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/passes.h"

#include <stdlib.h>

static void
count_readers (const QmGraph *graph, QmUses *uses)
{
  for (size_t i = 0; i < graph->n_values; i++)
    uses->producer[i] = -1;
  for (size_t i = 0; i < graph->n_nodes; i++)
    {
      const QmNode *node = &graph->nodes[i];

      for (int j = 0; j < QM_OP_MAX_INPUTS; j++)
        if (node->inputs[j] != QM_NO_VALUE)
          uses->readers[graph->values[node->inputs[j]].owner]++;
      for (int j = 0; j < QM_OP_MAX_OUTPUTS; j++)
        if (node->outputs[j] != QM_NO_VALUE)
          {
            QmValueId owner = graph->values[node->outputs[j]].owner;

            uses->writers[owner]++;
            if (uses->producer[owner] < 0)
              uses->producer[owner] = (int32_t) i;
          }
    }
}

QmStatus
qm_uses_find (const QmGraph *graph, QmUses *uses, QmError *error)
{
  QmStatus status = qm_graph_status (graph, error);
  size_t n = graph->n_values + 1;

  *uses = (QmUses){ .n_values = graph->n_values };
  if (status != QM_OK)
    return status;
  uses->producer = calloc (n, sizeof *uses->producer);
  uses->writers = calloc (n, sizeof *uses->writers);
  uses->readers = calloc (n, sizeof *uses->readers);
  if (uses->producer == NULL || uses->writers == NULL || uses->readers == NULL)
    {
      qm_uses_clear (uses);
      return qm_error_no_memory (error);
    }
  count_readers (graph, uses);
  return QM_OK;
}

void
qm_uses_clear (QmUses *uses)
{
  free (uses->producer);
  free (uses->writers);
  free (uses->readers);
  *uses = (QmUses){ 0 };
}

QmStatus
qm_uses_each (QmGraph *graph, QmRewrite rewrite, QmError *error)
{
  QmUses uses;
  QmStatus status = qm_uses_find (graph, &uses, error);

  for (size_t i = 0; status == QM_OK && i < graph->n_nodes; i++)
    rewrite (&uses, graph, &graph->nodes[i]);
  qm_uses_clear (&uses);
  qm_graph_sweep (graph);
  return status;
}

QmNode *
qm_uses_maker (
    const QmUses *uses, QmGraph *graph, QmValueId value, QmOp op, bool single)
{
  QmValueId owner;
  QmNode *node;

  if (value == QM_NO_VALUE)
    return NULL;
  owner = graph->values[value].owner;
  /* Values that a pass made are not its own to look at. */
  if ((size_t) owner >= uses->n_values
      || graph->values[owner].role != QM_ROLE_TEMPORARY
      || uses->writers[owner] != 1 || (single && uses->readers[owner] != 1))
    return NULL;
  node = &graph->nodes[uses->producer[owner]];
  return node->op == op ? node : NULL;
}

void
qm_node_remove (QmNode *node)
{
  node->op = QM_OP_COUNT;
}

bool
qm_node_removed (const QmNode *node)
{
  return node->op == QM_OP_COUNT;
}

void
qm_graph_sweep (QmGraph *graph)
{
  size_t n = 0;

  for (size_t i = 0; i < graph->n_nodes; i++)
    if (!qm_node_removed (&graph->nodes[i]))
      graph->nodes[n++] = graph->nodes[i];
  graph->n_nodes = n;
}

QmStatus
qm_pass_tf32 (QmGraph *graph, QmError *error)
{
  for (size_t i = 0; i < graph->n_nodes; i++)
    graph->nodes[i].attributes.tf32 = true;
  return qm_graph_status (graph, error);
}

QmStatus
qm_pass_deterministic (QmGraph *graph, QmError *error)
{
  for (size_t i = 0; i < graph->n_nodes; i++)
    graph->nodes[i].attributes.deterministic = true;
  return qm_graph_status (graph, error);
}

bool
qm_used_between (const QmGraph *graph,
                 const QmNode *from,
                 const QmNode *to,
                 QmValueId value,
                 bool reads)
{
  QmValueId owner = qm_graph_owner (graph, value);

  for (const QmNode *node = from + 1; node < to; node++)
    for (int i = 0; i < (reads ? QM_OP_MAX_INPUTS : QM_OP_MAX_OUTPUTS); i++)
      if (!qm_node_removed (node)
          && qm_graph_owner (graph, reads ? node->inputs[i] : node->outputs[i])
                 == owner)
        return true;
  return false;
}
