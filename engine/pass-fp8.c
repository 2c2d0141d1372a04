/* SPDX-License-Identifier: Apache-2.0 */

/* A linear layer and the two products of its gradients become products of what
 * is quantised.  Of each operand, q lies by rows as it does, and qt, its
 * transpose, by columns; a product reads one of them:
 *
 *   y  = x w'    q of x, q of w
 *   dx = dy w    q of dy, qt of w
 *   dw = dy' x   qt of dy, qt of x
 *
 * Both of dy are made at once, right before the first product that reads it. qt
 * of x is made along with q in the forward pass if nothing else of the backward
 * pass reads x, which then need not be kept; else it is made there.  The one of
 * w always is, so that weights that leave the device between the passes are not
 * kept as something else. */

#include "engine/passes.h"
#include "kernels/scaled.h"

#include <stdlib.h>

/* What is quantised. */
typedef struct Operand
{
  QmValueId value;
  int32_t next; /* of the same owner, or -1 */
  bool gradient;
  bool has_q, has_qt; /* there is who reads them */
  bool at_once;
  QmValueId q, qt, scale, scale_t; /* once they were made */
} Operand;

typedef struct Fp8Pass
{
  QmGraph *graph;
  const QmFp8 *fp8;
  QmNode *nodes; /* as they were */
  size_t n_nodes, n_values, n_linear;
  bool *chosen;       /* by node: its product is in FP8 */
  bool *routes;       /* by owner: weights that choose experts */
  bool *kept;         /* by owner: read in the backward pass as it is */
  QmValueId *weights; /* by owner of gradients: that of their parameters */
  int32_t *newest;    /* by owner: its newest operand, or -1 */
  Operand *operands;
  size_t n_operands;
  QmValueId history, amax; /* a row each, of delayed scales */
} Fp8Pass;

static bool
is_multiple (int64_t n)
{
  return n % QM_SCALED_MULTIPLE == 0;
}

static int64_t
next_multiple (int64_t n)
{
  return (n + QM_SCALED_MULTIPLE - 1) / QM_SCALED_MULTIPLE * QM_SCALED_MULTIPLE;
}

static bool
is_of_16_bits (const QmTensor *tensor)
{
  return tensor->type == QM_TYPE_BF16 || tensor->type == QM_TYPE_F16;
}

static const QmTensor *
tensor_of (const Fp8Pass *p, QmValueId value)
{
  return qm_graph_tensor (p->graph, value);
}

static bool
is_dense_or_none (const Fp8Pass *p, QmValueId value)
{
  return value == QM_NO_VALUE || qm_tensor_is_dense (tensor_of (p, value));
}

/* Whether a parameter is of a linear layer of a block. */
static bool
is_of_block (const Fp8Pass *p, QmValueId owner)
{
  const QmValue *value = &p->graph->values[owner];

  return value->role == QM_ROLE_PARAMETER && value->block > 0
         && !p->routes[owner];
}

/* Of these factors, which have a row for each token but for weights. */
static bool
are_taken (const Fp8Pass *p, const QmNode *node)
{
  const QmTensor *a = tensor_of (p, node->inputs[0]);
  const QmTensor *b = tensor_of (p, node->inputs[1]);

  return is_of_16_bits (a) && is_of_16_bits (b) && is_multiple (a->shape[1])
         && (node->op == QM_OP_LINEAR_WEIGHT_GRAD || is_multiple (b->shape[0]))
         && is_multiple (b->shape[1]);
}

/* What else the node does is done by an operator of its own. */
static bool
can_be_split (const Fp8Pass *p, const QmNode *node)
{
  const QmValueId *in = node->inputs, *out = node->outputs;

  switch (node->op)
    {
    case QM_OP_LINEAR:
      return node->attributes.activation == QM_FUNCTION_NONE
                 ? out[1] == QM_NO_VALUE
                 : is_dense_or_none (p, out[0]) && is_dense_or_none (p, out[1]);
    case QM_OP_LINEAR_INPUT_GRAD:
      return (in[2] == QM_NO_VALUE && in[3] == QM_NO_VALUE)
             || (is_dense_or_none (p, out[0]) && is_dense_or_none (p, in[2])
                 && is_dense_or_none (p, in[3]));
    default:
      return true;
    }
}

/* What was padded for kernels in 16 bits is left to these. */
static bool
is_padded (const Fp8Pass *p, const QmNode *node)
{
  const QmTensor *dy = tensor_of (p, node->inputs[0]);
  const QmTensor *w = tensor_of (p, node->inputs[1]);

  return node->attributes.padded
         > (node->op == QM_OP_LINEAR ? w->shape[0] : dy->shape[1]);
}

/* Tensor cores write 16 bytes at a time, too: a part of the columns of
 * something else may not allow for that. */
static bool
is_written_whole (const Fp8Pass *p, const QmNode *node)
{
  const QmValue *result = &p->graph->values[node->outputs[0]];
  const int64_t size = (int64_t) qm_type_size (result->tensor.type);

  return result->tensor.stride[0] * size % QM_SCALED_MULTIPLE == 0
         && result->offset * size % QM_SCALED_MULTIPLE == 0;
}

static bool
is_chosen (const Fp8Pass *p, const QmNode *node)
{
  const QmValueId *in = node->inputs;
  QmValueId weight;

  switch (node->op)
    {
    case QM_OP_LINEAR:
    case QM_OP_LINEAR_INPUT_GRAD:
      weight = qm_graph_owner (p->graph, in[1]);
      break;
    case QM_OP_LINEAR_WEIGHT_GRAD:
      weight = p->weights[qm_graph_owner (p->graph, node->outputs[0])];
      break;
    default:
      return false;
    }
  /* The weights of a gradient have the sizes of its factors. */
  return weight != QM_NO_VALUE && is_of_block (p, weight) && are_taken (p, node)
         && !is_padded (p, node) && is_written_whole (p, node)
         && can_be_split (p, node);
}

/* Weights of products whose results, copied perhaps, choose experts. */
static QmStatus
find_routes (Fp8Pass *p, QmError *error)
{
  QmUses uses;
  QmStatus status = qm_uses_find (p->graph, &uses, error);

  for (size_t i = 0; status == QM_OK && i < p->graph->n_nodes; i++)
    {
      const QmNode *node = &p->graph->nodes[i], *maker;
      QmValueId scores = node->inputs[0];

      if (node->op != QM_OP_ROUTE)
        continue;
      maker = qm_uses_maker (&uses, p->graph, scores, QM_OP_COPY, false);
      maker = qm_uses_maker (&uses, p->graph,
                             maker != NULL ? maker->inputs[0] : scores,
                             QM_OP_LINEAR, false);
      if (maker != NULL)
        p->routes[qm_graph_owner (p->graph, maker->inputs[1])] = true;
    }
  qm_uses_clear (&uses);
  return status;
}

static Operand *
find_operand (const Fp8Pass *p, QmValueId value)
{
  int32_t i = p->newest[qm_graph_owner (p->graph, value)];

  while (i >= 0 && !qm_graph_same_view (p->graph, p->operands[i].value, value))
    i = p->operands[i].next;
  return i >= 0 ? &p->operands[i] : NULL;
}

static Operand *
add_operand (Fp8Pass *p, QmValueId value)
{
  Operand *operand = find_operand (p, value);
  QmValueId owner = qm_graph_owner (p->graph, value);

  if (operand != NULL)
    return operand;
  operand = &p->operands[p->n_operands];
  *operand = (Operand){ .value = value,
                        .next = p->newest[owner],
                        .q = QM_NO_VALUE,
                        .qt = QM_NO_VALUE };
  p->newest[owner] = (int32_t) p->n_operands++;
  return operand;
}

static void
add_operands (Fp8Pass *p, const QmNode *node)
{
  Operand *first = add_operand (p, node->inputs[0]);
  Operand *second = add_operand (p, node->inputs[1]);
  bool weights = node->op == QM_OP_LINEAR_WEIGHT_GRAD;
  bool input = node->op == QM_OP_LINEAR_INPUT_GRAD;

  *(weights ? &first->has_qt : &first->has_q) = true;
  *(weights || input ? &second->has_qt : &second->has_q) = true;
  first->gradient = first->gradient || weights || input;
}

static void
choose_products (Fp8Pass *p)
{
  const QmGraph *graph = p->graph;

  for (size_t i = 0; i < graph->n_parameters; i++)
    {
      QmValueId gradient = graph->parameters[i].gradient;

      if (gradient != QM_NO_VALUE)
        p->weights[qm_graph_owner (graph, gradient)] =
            qm_graph_owner (graph, graph->parameters[i].value);
    }
  for (size_t i = 0; i < p->n_nodes; i++)
    {
      const QmNode *node = &graph->nodes[i];

      p->chosen[i] = is_chosen (p, node);
      if (p->chosen[i])
        add_operands (p, node);
      p->n_linear += p->chosen[i] && node->op == QM_OP_LINEAR;
      for (int j = 0; node->phase != QM_PHASE_FORWARD && j < QM_OP_MAX_INPUTS;
           j++)
        if (node->inputs[j] != QM_NO_VALUE && !(p->chosen[i] && j < 2))
          p->kept[qm_graph_owner (graph, node->inputs[j])] = true;
    }
  for (size_t i = 0; i < p->n_operands; i++)
    {
      Operand *operand = &p->operands[i];
      QmValueId owner = qm_graph_owner (graph, operand->value);

      operand->at_once = graph->values[owner].role == QM_ROLE_TEMPORARY
                         && (operand->gradient || !p->kept[owner]);
    }
}

static QmNode *
append_as (Fp8Pass *p, QmOp op, const QmNode *like)
{
  QmNode *node = qm_graph_append (p->graph, op);

  node->phase = like->phase;
  return node;
}

static QmValueId
new_value (
    Fp8Pass *p, QmType type, int64_t rows, int64_t columns, const char *name)
{
  return qm_graph_value (p->graph, QM_ROLE_TEMPORARY, type, columns > 0 ? 2 : 1,
                         (int64_t[]){ rows, columns }, "%s", name);
}

/* The row of an operand in what is known of all. */
static QmValueId
row_of_operand (Fp8Pass *p, QmValueId all, const Operand *operand, int64_t n)
{
  const int64_t one = 1;

  return qm_graph_view (p->graph, all, 1, &n, &one,
                        (operand - p->operands) * n);
}

static void
append_quantize (
    Fp8Pass *p, Operand *operand, bool q, bool qt, const QmNode *before)
{
  const int64_t rows = tensor_of (p, operand->value)->shape[0];
  const int64_t columns = tensor_of (p, operand->value)->shape[1];
  const bool by_row = p->fp8->scales == QM_FP8_SCALES_ROW;
  const bool noted = operand->q == QM_NO_VALUE && operand->qt == QM_NO_VALUE;
  const QmType type =
      operand->gradient && p->fp8->gradients == QM_FP8_GRADIENTS_E5M2
          ? QM_TYPE_E5M2
          : QM_TYPE_E4M3;
  QmNode node = { .op = QM_OP_QUANTIZE, .attributes.by_row = by_row };
  QmNode *appended;

  for (int i = 0; i < QM_OP_MAX_INPUTS; i++)
    node.inputs[i] = QM_NO_VALUE;
  for (int i = 0; i < QM_OP_MAX_OUTPUTS; i++)
    node.outputs[i] = QM_NO_VALUE;
  node.inputs[0] = operand->value;
  if (q)
    node.outputs[0] = operand->q = new_value (p, type, rows, columns, "fp8");
  if (q || !by_row)
    node.outputs[1] = new_value (p, QM_TYPE_F32, by_row ? rows : 1, 0, "scale");
  if (qt)
    node.outputs[2] = operand->qt =
        new_value (p, type, columns, next_multiple (rows), "fp8 transposed");
  if (qt && by_row)
    node.outputs[3] =
        new_value (p, QM_TYPE_F32, columns, 0, "scale transposed");
  if (q)
    operand->scale = node.outputs[1];
  if (qt)
    operand->scale_t = node.outputs[by_row ? 3 : 1];
  if (p->history != QM_NO_VALUE)
    node.inputs[1] = row_of_operand (p, p->history, operand, QM_FP8_HISTORY);
  if (p->history != QM_NO_VALUE && noted)
    node.outputs[4] = row_of_operand (p, p->amax, operand, 1);
  appended = append_as (p, QM_OP_QUANTIZE, before);
  node.phase = appended->phase;
  *appended = node;
}

/* Has q, or qt, of an operand of a node made, unless it is there. */
static const Operand *
made (Fp8Pass *p, QmValueId value, bool transposed, const QmNode *before)
{
  Operand *operand = find_operand (p, value);
  bool q = !transposed || (operand->at_once && operand->has_q);
  bool qt = transposed || (operand->at_once && operand->has_qt);

  if ((transposed ? operand->qt : operand->q) == QM_NO_VALUE)
    append_quantize (p, operand, q && operand->q == QM_NO_VALUE,
                     qt && operand->qt == QM_NO_VALUE, before);
  return operand;
}

/* A product of q, or qt, of both inputs of a node. */
static QmNode *
append_scaled (
    Fp8Pass *p, QmOp op, const QmNode *like, bool first_t, bool second_t)
{
  const Operand *a = made (p, like->inputs[0], first_t, like);
  const Operand *b = made (p, like->inputs[1], second_t, like);
  QmNode *node = append_as (p, op, like);

  node->inputs[0] = first_t ? a->qt : a->q;
  node->inputs[1] = second_t ? b->qt : b->q;
  node->inputs[2] = first_t ? a->scale_t : a->scale;
  node->inputs[3] = second_t ? b->scale_t : b->scale;
  return node;
}

/* A dense value like another one. */
static QmValueId
new_like (Fp8Pass *p, QmValueId value, const char *name)
{
  const QmTensor *tensor = tensor_of (p, value);

  return new_value (p, tensor->type, tensor->shape[0], tensor->shape[1], name);
}

static void
rewrite_linear (Fp8Pass *p, const QmNode *node)
{
  QmValueId y = node->outputs[0], sum = y;
  QmNode *product, *activation;

  if (node->attributes.activation != QM_FUNCTION_NONE)
    sum = node->outputs[1] != QM_NO_VALUE ? node->outputs[1]
                                          : new_like (p, y, "argument");
  product = append_scaled (p, QM_OP_SCALED_LINEAR, node, false, false);
  product->inputs[4] = node->inputs[2];
  product->outputs[0] = sum;
  if (sum == y)
    return;
  activation = append_as (p, QM_OP_ACTIVATION, node);
  activation->attributes.activation = node->attributes.activation;
  activation->inputs[0] = sum;
  activation->outputs[0] = y;
}

static void
rewrite_input_grad (Fp8Pass *p, const QmNode *node)
{
  QmValueId dx = node->outputs[0], pre = node->inputs[2], add = node->inputs[3];
  QmValueId slope = pre != QM_NO_VALUE && add != QM_NO_VALUE
                        ? new_like (p, dx, "gradient")
                        : dx;
  QmValueId product = pre != QM_NO_VALUE || add != QM_NO_VALUE
                          ? new_like (p, dx, "product")
                          : dx;
  QmNode *next = append_scaled (p, QM_OP_SCALED_LINEAR, node, false, true);

  next->outputs[0] = product;
  if (pre != QM_NO_VALUE)
    {
      next = append_as (p, QM_OP_ACTIVATION_BACKWARD, node);
      next->attributes.activation = node->attributes.activation;
      next->inputs[0] = product;
      next->inputs[1] = pre;
      next->outputs[0] = product = slope;
    }
  if (add != QM_NO_VALUE)
    {
      next = append_as (p, QM_OP_ADD, node);
      next->inputs[0] = product;
      next->inputs[1] = add;
      next->outputs[0] = dx;
    }
}

static void
rewrite_weight_grad (Fp8Pass *p, const QmNode *node)
{
  QmNode *next = append_scaled (p, QM_OP_SCALED_WEIGHT_GRAD, node, true, true);

  next->outputs[0] = node->outputs[0];
  if (node->outputs[1] == QM_NO_VALUE)
    return;
  next = append_as (p, QM_OP_COLUMN_SUM, node);
  next->attributes.scale = 1;
  next->inputs[0] = node->inputs[0];
  next->outputs[0] = node->outputs[1];
}

/* The block of a layer, that what is made of it is in. */
static int32_t
block_of (const Fp8Pass *p, const QmNode *node)
{
  QmValueId weight = node->op == QM_OP_LINEAR ? node->inputs[1] : QM_NO_VALUE;

  return weight == QM_NO_VALUE
             ? 0
             : p->graph->values[qm_graph_owner (p->graph, weight)].block;
}

static void
rewrite_product (Fp8Pass *p, const QmNode *node)
{
  int32_t before = p->graph->block;

  p->graph->block = block_of (p, node);
  if (node->op == QM_OP_LINEAR)
    rewrite_linear (p, node);
  else if (node->op == QM_OP_LINEAR_INPUT_GRAD)
    rewrite_input_grad (p, node);
  else
    rewrite_weight_grad (p, node);
  p->graph->block = before;
}

static void
begin_history (Fp8Pass *p)
{
  const int64_t shape[] = { (int64_t) p->n_operands, QM_FP8_HISTORY };
  const int32_t before = p->graph->block;

  p->history = p->amax = QM_NO_VALUE;
  if (p->fp8->amax != QM_FP8_AMAX_DELAYED)
    return;
  p->history = qm_graph_value (p->graph, QM_ROLE_STATE, QM_TYPE_F32, 2, shape,
                               "history of amax");
  /* It is noted once, however often something is quantised. */
  p->graph->block = 0;
  p->amax = new_value (p, QM_TYPE_F32, shape[0], 0, "amax");
  p->graph->block = before;
}

static void
rewrite_all (Fp8Pass *p)
{
  QmGraph *graph = p->graph;

  p->nodes = graph->nodes;
  graph->nodes = NULL;
  graph->n_nodes = graph->nodes_capacity = 0;
  begin_history (p);
  for (size_t i = 0; i < p->n_nodes && graph->status == QM_OK; i++)
    if (p->chosen[i])
      rewrite_product (p, &p->nodes[i]);
    else
      *qm_graph_append (graph, p->nodes[i].op) = p->nodes[i];
  if (p->history != QM_NO_VALUE && graph->status == QM_OK)
    {
      QmNode *note = qm_graph_append (graph, QM_OP_NOTE_AMAX);

      note->phase = QM_PHASE_BACKWARD;
      note->inputs[0] = p->amax;
      note->outputs[0] = p->history;
    }
}

static bool
begin_pass (Fp8Pass *p)
{
  size_t n = p->n_values + 1;

  p->chosen = calloc (p->n_nodes + 1, sizeof *p->chosen);
  p->routes = calloc (n, sizeof *p->routes);
  p->kept = calloc (n, sizeof *p->kept);
  p->weights = malloc (n * sizeof *p->weights);
  p->newest = malloc (n * sizeof *p->newest);
  p->operands = malloc ((2 * p->n_nodes + 1) * sizeof *p->operands);
  if (p->chosen == NULL || p->routes == NULL || p->kept == NULL
      || p->weights == NULL || p->newest == NULL || p->operands == NULL)
    return false;
  for (size_t i = 0; i < n; i++)
    p->weights[i] = p->newest[i] = -1;
  return true;
}

static void
end_pass (Fp8Pass *p)
{
  free (p->nodes);
  free (p->chosen);
  free (p->routes);
  free (p->kept);
  free (p->weights);
  free (p->newest);
  free (p->operands);
}

QmStatus
qm_pass_fp8 (QmGraph *graph, const QmFp8 *fp8, QmError *error)
{
  Fp8Pass p = { .graph = graph,
                .fp8 = fp8,
                .n_nodes = graph->n_nodes,
                .n_values = graph->n_values };
  QmStatus status = qm_graph_status (graph, error);

  if (status != QM_OK)
    return status;
  status =
      begin_pass (&p) ? find_routes (&p, error) : qm_error_no_memory (error);
  if (status == QM_OK)
    {
      choose_products (&p);
      if (p.n_linear == 0)
        qm_graph_fail (
            graph, QM_STATUS_UNSUPPORTED,
            "nothing would be in FP8: no linear layer of a block has "
            "inputs and outputs in multiples of %d",
            QM_SCALED_MULTIPLE);
      else
        rewrite_all (&p);
      status = qm_graph_status (graph, error);
    }
  end_pass (&p);
  return status;
}
