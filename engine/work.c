/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/work.h"

#include <stdlib.h>

static QmArithmetic
arithmetic_of (const QmOpCall *call)
{
  if (call->inputs[0].type != QM_TYPE_F32)
    return QM_ARITHMETIC_16;
  return call->attributes.tf32 ? QM_ARITHMETIC_TF32 : QM_ARITHMETIC_FP32;
}

static double
length_of (const QmOpCall *call)
{
  double length = (double) call->inputs[0].shape[2];
  double share = (double) call->attributes.window / length;

  return share > 0 && share < 1 ? length * share * (2 - share) : length;
}

static double
whole_of (const QmOpCall *call)
{
  const QmTensor *heads = &call->inputs[0];

  /* Otherwise its bytes are those of all. */
  return call->attributes.rotary < heads->shape[4]
                 && heads->data == call->outputs[0].data
             ? 2 * (double) qm_tensor_elements (heads)
                   * (double) qm_type_size (heads->type)
                   * (double) call->attributes.count / (double) heads->shape[2]
             : 0;
}

/* Whether rows of so many elements of the type do not begin at multiples of 16
 * bytes. */
static bool
is_unaligned (int64_t elements, QmType type)
{
  return elements * (int64_t) qm_type_size (type) % 16 != 0;
}

/* Of a product with weights, whose x, y and w are all in memory row by row. */
static bool
unaligned_of (const QmOpCall *call)
{
  QmType type = call->inputs[0].type;
  const int64_t *a = call->inputs[0].shape, *b = call->inputs[1].shape;

  switch (call->op)
    {
    case QM_OP_LINEAR:
      return is_unaligned (a[1], type) || is_unaligned (b[0], type);
    case QM_OP_LINEAR_INPUT_GRAD:
    case QM_OP_LINEAR_WEIGHT_GRAD:
      return is_unaligned (a[1], type) || is_unaligned (b[1], type);
    default:
      return false;
    }
}

/* A product of one pair, of which the first is read by columns: a gradient of
 * weights that is written to where it is sent from. */
static bool
is_sent_gradient (const QmOpCall *call)
{
  const QmTensor *a = &call->inputs[0];

  return call->op == QM_OP_MATMUL && a->shape[0] == 1 && a->shape[1] == 1
         && a->stride[2] == 1 && a->stride[3] > 1;
}

static QmWorkRow
sent_gradient_row (const QmOpCall *call, QmWorkRow row)
{
  const int64_t *a = call->inputs[0].shape, *c = call->outputs[0].shape;
  const QmType type = call->inputs[0].type;

  row.op = QM_OP_LINEAR_WEIGHT_GRAD;
  row.inner = (double) a[3];
  row.rows = (double) c[2];
  row.columns = (double) c[3];
  row.unaligned = is_unaligned (c[2], type) || is_unaligned (c[3], type);
  return row;
}

static QmWorkRow
row_of (const QmOpCall *call, bool update)
{
  const int64_t *first = call->inputs[0].shape;
  QmWorkRow row = { .op = call->op,
                    .update = update,
                    .arithmetic = arithmetic_of (call),
                    .count = 1,
                    .rms = call->attributes.rms,
                    .unaligned = unaligned_of (call),
                    .flops = qm_op_flops (call),
                    .bytes = qm_op_bytes (call) };

  if (is_sent_gradient (call))
    return sent_gradient_row (call, row);
  switch (call->op)
    {
    case QM_OP_LINEAR:
    case QM_OP_LINEAR_INPUT_GRAD:
      row.inner = (double) first[1];
      break;
    case QM_OP_LINEAR_WEIGHT_GRAD:
      row.inner = (double) first[0];
      break;
    case QM_OP_GROUPED_LINEAR:
    case QM_OP_GROUPED_INPUT_GRAD:
      row.inner = (double) first[1];
      row.groups = (double) call->inputs[1].shape[0];
      row.rows = (double) first[0];
      row.columns = (double) call->outputs[0].shape[1];
      break;
    case QM_OP_GROUPED_WEIGHT_GRAD:
      row.groups = (double) call->outputs[0].shape[0];
      row.inner = (double) first[0] / row.groups;
      row.rows = row.groups * (double) call->outputs[0].shape[1];
      row.columns = (double) call->outputs[0].shape[2];
      break;
    case QM_OP_MATMUL:
      row.inner = (double) first[3];
      break;
    case QM_OP_ATTENTION:
    case QM_OP_ATTENTION_BACKWARD:
      row.length = length_of (call);
      row.inner = (double) first[3];
      break;
    case QM_OP_ROTARY:
      row.whole = whole_of (call);
      break;
    default:
      break;
    }
  if (call->op == QM_OP_LINEAR || call->op == QM_OP_LINEAR_INPUT_GRAD
      || call->op == QM_OP_LINEAR_WEIGHT_GRAD)
    {
      row.rows = (double) call->outputs[0].shape[0];
      row.columns = (double) call->outputs[0].shape[1];
    }
  return row;
}

static bool
asks_the_same (const QmWorkRow *a, const QmWorkRow *b)
{
  return a->op == b->op && a->update == b->update
         && a->arithmetic == b->arithmetic && a->flops == b->flops
         && a->bytes == b->bytes && a->inner == b->inner && a->rows == b->rows
         && a->columns == b->columns && a->groups == b->groups
         && a->length == b->length && a->whole == b->whole && a->rms == b->rms
         && a->unaligned == b->unaligned && a->composed == b->composed;
}

static double
bytes_of (const QmTensor *tensor)
{
  return (double) qm_tensor_elements (tensor)
         * (double) qm_type_size (tensor->type);
}

/* Whether a call moves something to or from the host or between ranks, waits
 * for that, or is the host's; adds what a host has to do with. */
static bool
add_transfer (QmWork *work, const QmPlan *plan, const QmOpCall *call)
{
  double share = plan->options.offload ? 1.0 / plan->parts : 0;

  switch (call->op)
    {
    case QM_OP_FETCH:
      work->up += bytes_of (&call->outputs[0]) * share;
      return true;
    case QM_OP_SEND:
      work->down += bytes_of (&call->inputs[0]) * share;
      return true;
    case QM_OP_HOST_ADAM:
      work->update_down += bytes_of (&call->outputs[0]);
      work->update_up += bytes_of (&call->outputs[1]);
      return true;
    case QM_OP_FETCHED:
    case QM_OP_SENT:
    case QM_OP_HOST_SUM_SQUARES:
    case QM_OP_HOST_UPDATED:
    case QM_OP_ALL_REDUCE:
    case QM_OP_REDUCE_SCATTER:
    case QM_OP_ALL_GATHER:
    case QM_OP_EXCHANGED:
      return true;
    default:
      return false;
    }
}

static bool
is_composed (const QmPlan *plan, const QmOpCall *call)
{
  return (call->op == QM_OP_ACTIVATION || call->op == QM_OP_ACTIVATION_BACKWARD)
         && call->attributes.activation == QM_FUNCTION_GELU_TANH
         && qm_model_composes_gelu (&plan->config);
}

/* The row that the call is in, or -1. */
static int32_t
add (QmWork *work, const QmPlan *plan, const QmOpCall *call, bool update)
{
  QmWorkRow row;

  if (add_transfer (work, plan, call))
    return -1;
  row = row_of (call, update);
  row.composed = is_composed (plan, call);
  if (!update)
    work->calls++;
  for (size_t i = 0; i < work->n; i++)
    if (asks_the_same (&work->rows[i], &row))
      {
        work->rows[i].count++;
        return (int32_t) i;
      }
  work->rows[work->n] = row;
  return (int32_t) work->n++;
}

static bool
has_unit (QmOp op)
{
  return op == QM_OP_FETCH || op == QM_OP_FETCHED || op == QM_OP_SEND
         || op == QM_OP_SENT;
}

/* What ranks exchange with a call. */
static double
exchanged_by (const QmOpCall *call)
{
  switch (call->op)
    {
    case QM_OP_SEND:
      return bytes_of (&call->inputs[0]);
    case QM_OP_FETCH:
    case QM_OP_ALL_REDUCE:
    case QM_OP_REDUCE_SCATTER:
    case QM_OP_ALL_GATHER:
      return bytes_of (&call->outputs[0]);
    default:
      return 0;
    }
}

QmStatus
qm_work_new (const QmPlan *plan, QmWork **work, QmError *error)
{
  const QmGraph *graph = plan->graph;
  QmWork *new = calloc (1, sizeof *new);

  *work = NULL;
  if (new != NULL)
    new->rows = calloc (graph->n_nodes + 1, sizeof *new->rows);
  if (new != NULL && plan->options.ranks > 1)
    new->order = calloc (graph->n_nodes + 1, sizeof *new->order);
  if (new == NULL || new->rows == NULL
      || (new->order == NULL && plan->options.ranks > 1))
    {
      qm_work_free (new);
      return qm_error_set (error, QM_STATUS_NO_MEMORY, "", 0, 0,
                           "the host is out of memory");
    }
  for (size_t i = 0; i < graph->n_nodes; i++)
    {
      QmPhase phase = graph->nodes[i].phase;
      QmOpCall call;
      int32_t row;

      qm_graph_call (graph, &graph->nodes[i], &call);
      row = add (new, plan, &call, phase == QM_PHASE_UPDATE);
      if (new->order != NULL)
        new->order[new->n_order++] = (QmWorkCall){
          .op = call.op,
          .phase = phase,
          .row = row,
          .unit = has_unit (call.op) ? (int32_t) call.attributes.unit : -1,
          .bytes = exchanged_by (&call)
        };
    }
  new->ranks = plan->options.ranks > 1 ? plan->options.ranks : 1;
  new->parts = plan->parts > 1 ? plan->parts : 1;
  new->passes = (double) plan->accumulation;
  new->samples = (double) plan->recipe.batch_size;
  new->steps = (double) plan->recipe.steps;
  new->parameters = (double) plan->slab;
  new->type = plan->type;
  new->offload = plan->options.offload;
  new->averaged = plan->recipe.ema_decay > 0;
  *work = new;
  return QM_OK;
}

void
qm_work_free (QmWork *work)
{
  if (work == NULL)
    return;
  free (work->rows);
  free (work->order);
  free (work);
}
