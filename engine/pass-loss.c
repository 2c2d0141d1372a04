/* SPDX-License-Identifier: Apache-2.0 */

/* The head of a model, its loss, and what of the backward pass reads the
 * gradient of the logits:
 *
 *   logits = x w' + bias, dlogits = cross entropy, dx = dlogits w,
 *   dw += dlogits' x, dbias += column sums of dlogits
 *
 * Each row of logits has to do with its own row of x, dx and losses alone, and
 * what is added up over rows is added to.  So the same operators do it for some
 * rows, then for the next, all where the loss was: what a gradient has to be
 * multiplied by is known before, since it depends on the labels and the loss
 * scale alone.  Of logits and their gradient there is then one piece at a time.
 * Nothing is computed twice, and losses and dx do not change by a bit; sums
 * over rows are in another order.  What it costs is that dw is read and written
 * once for every piece. */

#include "engine/passes.h"

#include <stdlib.h>

/* The most nodes that read the gradient of the logits. */
#define MOST_READERS 4

/* Rows of a piece are a multiple of this, so that products have whole tiles. */
#define TILE 256

typedef struct Head
{
  size_t linear, loss; /* nodes */
  size_t readers[MOST_READERS];
  size_t n_readers;
  int64_t rows, classes, padded;
} Head;

/* Whether a node from `from` on writes a value. */
static bool
is_written_from (const QmGraph *graph, size_t from, QmValueId value)
{
  for (size_t i = from; i < graph->n_nodes; i++)
    for (int j = 0; j < QM_OP_MAX_OUTPUTS; j++)
      if (graph->nodes[i].outputs[j] != QM_NO_VALUE
          && qm_graph_owner (graph, graph->nodes[i].outputs[j])
                 == qm_graph_owner (graph, value))
        return true;
  return false;
}

/* Whether a node can be moved to where the loss is and done row by row: it is
 * one of those above, reads nothing that is made later, and writes what nobody
 * else does, or adds. */
static bool
can_be_cut (const QmUses *uses,
            const QmGraph *graph,
            const QmNode *node,
            size_t loss,
            QmValueId dlogits)
{
  if (!qm_graph_same_view (graph, node->inputs[0], dlogits))
    return false;
  for (int i = 1; i < QM_OP_MAX_INPUTS; i++)
    if (node->inputs[i] != QM_NO_VALUE
        && is_written_from (graph, loss, node->inputs[i]))
      return false;
  switch (node->op)
    {
    case QM_OP_LINEAR_INPUT_GRAD:
      return graph->values[node->outputs[0]].role == QM_ROLE_TEMPORARY
             && uses->writers[qm_graph_owner (graph, node->outputs[0])] == 1;
    case QM_OP_LINEAR_WEIGHT_GRAD:
    case QM_OP_COLUMN_SUM:
      return true;
    default:
      return false;
    }
}

static bool
find_readers (const QmUses *uses, const QmGraph *graph, Head *head)
{
  QmValueId dlogits = graph->nodes[head->loss].outputs[0];

  for (size_t i = head->loss + 1; i < graph->n_nodes; i++)
    for (int j = 0; j < QM_OP_MAX_INPUTS; j++)
      {
        const QmNode *node = &graph->nodes[i];

        if (qm_graph_owner (graph, node->inputs[j])
            != qm_graph_owner (graph, dlogits))
          continue;
        if (j != 0 || head->n_readers == MOST_READERS
            || !can_be_cut (uses, graph, node, head->loss, dlogits))
          return false;
        head->readers[head->n_readers++] = i;
      }
  return true;
}

/* Whether a loss is one of logits that a product makes for it alone. */
static bool
find_head (const QmUses *uses, QmGraph *graph, size_t loss, Head *head)
{
  const QmNode *node = &graph->nodes[loss];
  const QmTensor *logits;
  QmNode *linear;

  *head = (Head){ .loss = loss };
  if (node->op != QM_OP_CROSS_ENTROPY)
    return false;
  linear = qm_uses_maker (uses, graph, node->inputs[0], QM_OP_LINEAR, true);
  if (linear == NULL || linear->attributes.activation != QM_FUNCTION_NONE
      || linear->outputs[1] != QM_NO_VALUE
      || !qm_graph_same_view (graph, linear->outputs[0], node->inputs[0])
      || graph->values[node->outputs[0]].role != QM_ROLE_TEMPORARY)
    return false;
  logits = qm_graph_tensor (graph, node->inputs[0]);
  head->linear = (size_t) (linear - graph->nodes);
  head->rows = logits->shape[0];
  head->classes = logits->shape[1];
  head->padded = logits->stride[0];
  return find_readers (uses, graph, head);
}

/* Rows of each piece but the last: as many as are allowed, or fewer, so that
 * pieces are alike. */
static int64_t
rows_of_piece (int64_t all, int64_t most)
{
  int64_t pieces = (all + most - 1) / most;
  int64_t rows = (all + pieces - 1) / pieces;

  rows = (rows + TILE - 1) / TILE * TILE;
  return rows < most ? rows : most;
}

/* Rows [begin, begin + rows) of a value, whose first dimension has them. */
static QmValueId
rows_of (QmGraph *graph, QmValueId value, int64_t begin, int64_t rows)
{
  QmTensor tensor;

  if (value == QM_NO_VALUE || graph->status != QM_OK)
    return QM_NO_VALUE;
  tensor = *qm_graph_tensor (graph, value);
  tensor.shape[0] = rows;
  return qm_graph_view (graph, value, tensor.rank, tensor.shape, tensor.stride,
                        begin * tensor.stride[0]);
}

static QmValueId
piece (QmGraph *graph, const Head *head, QmValueId whole, int64_t rows)
{
  QmValue value = graph->values[whole];
  int32_t block = graph->block;
  QmValueId id;

  graph->block = value.block;
  id = qm_graph_padded_columns (graph, QM_ROLE_TEMPORARY, value.tensor.type,
                                rows, head->classes, head->padded, value.name);
  graph->block = block;
  return id;
}

static void
append_same (QmGraph *graph, const QmNode *node)
{
  *qm_graph_append (graph, node->op) = *node;
}

/* What of a node's inputs and outputs has a row for each of the logits; all
 * others are read or added to as a whole. */
static void
cut_reader (QmGraph *graph,
            QmNode *node,
            QmValueId dlogits,
            int64_t begin,
            int64_t rows)
{
  node->inputs[0] = dlogits;
  if (node->op == QM_OP_LINEAR_WEIGHT_GRAD)
    node->inputs[1] = rows_of (graph, node->inputs[1], begin, rows);
  if (node->op != QM_OP_LINEAR_INPUT_GRAD)
    return;
  for (int i = 2; i < 4; i++)
    node->inputs[i] = rows_of (graph, node->inputs[i], begin, rows);
  node->outputs[0] = rows_of (graph, node->outputs[0], begin, rows);
}

static void
append_piece (QmGraph *graph,
              const QmNode *nodes,
              const Head *head,
              int64_t begin,
              int64_t rows)
{
  QmNode linear = nodes[head->linear], loss = nodes[head->loss];
  QmValueId logits = piece (graph, head, linear.outputs[0], rows);
  QmValueId dlogits = piece (graph, head, loss.outputs[0], rows);

  if (begin == 0 && graph->logits == linear.outputs[0])
    graph->logits = logits;
  linear.inputs[0] = rows_of (graph, linear.inputs[0], begin, rows);
  linear.outputs[0] = logits;
  append_same (graph, &linear);
  loss.attributes.first += begin;
  loss.inputs[0] = logits;
  loss.outputs[0] = dlogits;
  loss.outputs[1] = rows_of (graph, loss.outputs[1], begin, rows);
  append_same (graph, &loss);
  for (size_t i = 0; i < head->n_readers; i++)
    {
      QmNode reader = nodes[head->readers[i]];

      cut_reader (graph, &reader, dlogits, begin, rows);
      append_same (graph, &reader);
    }
}

static bool
is_reader (const Head *head, size_t node)
{
  for (size_t i = 0; i < head->n_readers; i++)
    if (head->readers[i] == node)
      return true;
  return false;
}

static void
cut_head (QmGraph *graph, const Head *head, int64_t rows)
{
  QmNode *nodes = graph->nodes;
  size_t n = graph->n_nodes;

  graph->nodes = NULL;
  graph->n_nodes = graph->nodes_capacity = 0;
  for (size_t i = 0; i < n && graph->status == QM_OK; i++)
    if (i == head->loss)
      for (int64_t begin = 0; begin < head->rows; begin += rows)
        append_piece (graph, nodes, head, begin,
                      begin + rows < head->rows ? rows : head->rows - begin);
    else if (i != head->linear && !is_reader (head, i))
      append_same (graph, &nodes[i]);
  free (nodes);
}

QmStatus
qm_pass_loss (QmGraph *graph, int64_t most, QmError *error)
{
  QmUses uses;
  QmStatus status = qm_uses_find (graph, &uses, error);

  for (size_t i = 0; status == QM_OK && i < graph->n_nodes; i++)
    {
      Head head;
      int64_t rows = most;

      if (!find_head (&uses, graph, i, &head))
        continue;
      if (rows == 0)
        rows = head.classes > QM_LOSS_WHOLE_CLASSES ? QM_LOSS_ROWS : head.rows;
      if (rows >= head.rows)
        continue;
      cut_head (graph, &head, rows_of_piece (head.rows, rows));
      qm_uses_clear (&uses);
      status = qm_uses_find (graph, &uses, error);
    }
  qm_uses_clear (&uses);
  return status;
}
