/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/work.h"

#include "data/training-rates.h"

#include <math.h>
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
bytes_of_whole (const QmOpCall *call)
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

/* Libraries make a product of tiles; of the small ones of attention with these
 * sides the rates are predicted best, and of others with those. */
#define SMALL_TILE 64.0
#define TILE       128.0

static double
in_tiles (int64_t size, double tile)
{
  return ceil ((double) size / tile) * tile;
}

/* How often threads load or store, all rows beginning at multiples of so many
 * bytes at least, and of all 16 where that is more.  Each tile of the result
 * reads one of either matrix for each step of the sum, and is written. */
static double
accesses_of (
    double results, double inner, double tile, QmType type, int64_t alignment)
{
  return results * (2 * inner / tile + 1) * (double) qm_type_size (type)
         / (double) alignment;
}

/* Bytes, up to 16, that rows of so many elements begin at multiples of. */
static int64_t
alignment_of (int64_t elements, QmType type)
{
  int64_t bits = (elements * (int64_t) qm_type_size (type)) | 16;

  return bits & -bits;
}

static int64_t
alignment_of_matrix (const QmTensor *matrix)
{
  return alignment_of (matrix->stride[2] == 1 ? matrix->stride[3]
                                              : matrix->stride[2],
                       matrix->type);
}

static double
bytes_of (const QmTensor *tensor)
{
  return (double) qm_tensor_elements (tensor)
         * (double) qm_type_size (tensor->type);
}

static int64_t
smaller (int64_t a, int64_t b)
{
  return a < b ? a : b;
}

/* cuBLAS takes a kernel that reads and writes all three matrices as narrowly as
 * the one that is aligned worst allows. */
static void
add_product (const QmOpCall *call, QmWorkRow *row)
{
  const QmTensor *a = &call->inputs[0], *b = &call->inputs[1];
  double inner = in_tiles (a->shape[3], SMALL_TILE);
  double results = (double) (a->shape[0] * a->shape[1])
                   * in_tiles (a->shape[2], SMALL_TILE)
                   * in_tiles (b->shape[3], SMALL_TILE);
  int64_t alignment =
      smaller (smaller (alignment_of_matrix (a), alignment_of_matrix (b)),
               alignment_of_matrix (&call->outputs[0]));

  row->inner = (double) a->shape[3];
  row->computed = 2 * results * inner;
  row->accesses = accesses_of (results, inner, SMALL_TILE, a->type, alignment);
}

/* A product with weights, of results in rows and columns. */
static void
add_dense (QmWorkRow *row,
           int64_t rows,
           int64_t columns,
           QmType type,
           int64_t alignment)
{
  row->rows = (double) rows;
  row->columns = (double) columns;
  row->unaligned = alignment < 16;
  row->accesses = accesses_of (in_tiles (rows, TILE) * in_tiles (columns, TILE),
                               row->inner, TILE, type, alignment);
}

/* Of a product with weights, whose x, y and w are all in memory row by row. */
static void
add_linear (const QmOpCall *call, QmWorkRow *row)
{
  const QmTensor *y = &call->outputs[0];
  const int64_t *a = call->inputs[0].shape, *b = call->inputs[1].shape;
  QmType type = call->inputs[0].type;

  row->padded = call->attributes.padded > 0
                && alignment_of (call->attributes.padded, type) == 16;
  add_dense (row, y->shape[0], y->shape[1], type,
             smaller (alignment_of (a[1], type),
                      alignment_of (call->op == QM_OP_LINEAR ? b[0] : b[1],
                                    type)));
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

static void
add_sent_gradient (const QmOpCall *call, QmWorkRow *row)
{
  const int64_t *c = call->outputs[0].shape;
  const QmType type = call->inputs[0].type;

  row->op = QM_OP_LINEAR_WEIGHT_GRAD;
  row->inner = (double) call->inputs[0].shape[3];
  /* Read, and written. */
  row->packed = 2 * bytes_of (&call->outputs[0]);
  add_dense (row, c[2], c[3], type,
             smaller (alignment_of (c[2], type), alignment_of (c[3], type)));
}

/* Operations of the products of a dual scan, or of its gradient, which makes
 * states once more: of chunks of `chunk` rows, as kernels/cuda/dual-scan.cuh
 * and dual-backward.cuh have them where shared memory is large. */
static double
products_of_chunks (const QmOpCall *call)
{
  bool forward = call->op == QM_OP_DUAL_SCAN;
  const QmTensor *in = call->inputs + (forward ? 0 : 1);
  double chunk = QM_SCAN_CHUNK, heads = (double) in[2].shape[0];
  double n = (double) (in[3].shape[1] / call->attributes.count);
  double p = (double) in[0].shape[1] / heads;

  return 2 * (double) in[0].shape[0] * heads
         * (forward ? chunk * n + chunk * p + 2 * n * p
                    : 3 * chunk * n + 2 * chunk * p + 5 * n * p);
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
                    .flops = qm_op_flops (call),
                    .bytes = qm_op_bytes (call) };

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
      if (is_sent_gradient (call))
        add_sent_gradient (call, &row);
      else
        add_product (call, &row);
      break;
    case QM_OP_ATTENTION:
    case QM_OP_ATTENTION_BACKWARD:
      row.length = length_of (call);
      row.drops = qm_dropout_is_on (call->attributes.dropout);
      row.inner = (double) first[3];
      break;
    case QM_OP_SOFTMAX:
    case QM_OP_SOFTMAX_BACKWARD:
      row.columns = (double) first[3];
      break;
    case QM_OP_ROTARY:
      row.whole = bytes_of_whole (call);
      break;
    case QM_OP_SELECTIVE_SCAN:
    case QM_OP_SELECTIVE_SCAN_BACKWARD:
      row.rows = (double) (first[0] / call->attributes.width);
      row.columns = (double) first[1];
      break;
    case QM_OP_DUAL_SCAN:
    case QM_OP_DUAL_SCAN_BACKWARD:
      row.computed = products_of_chunks (call);
      break;
    default:
      break;
    }
  if (call->op == QM_OP_LINEAR || call->op == QM_OP_LINEAR_INPUT_GRAD
      || call->op == QM_OP_LINEAR_WEIGHT_GRAD)
    add_linear (call, &row);
  return row;
}

static bool
asks_the_same (const QmWorkRow *a, const QmWorkRow *b)
{
  return a->op == b->op && a->update == b->update
         && a->arithmetic == b->arithmetic && a->flops == b->flops
         && a->bytes == b->bytes && a->inner == b->inner && a->rows == b->rows
         && a->columns == b->columns && a->groups == b->groups
         && a->computed == b->computed && a->accesses == b->accesses
         && a->length == b->length && a->whole == b->whole
         && a->packed == b->packed && a->spared == b->spared
         && a->in_norm == b->in_norm && a->drops == b->drops
         && a->turned == b->turned && a->masked == b->masked && a->rms == b->rms
         && a->unaligned == b->unaligned && a->padded == b->padded
         && a->composed == b->composed;
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

static bool
is_masked (const QmPlan *plan, const QmOpCall *call)
{
  return (call->op == QM_OP_ATTENTION || call->op == QM_OP_ATTENTION_BACKWARD)
         && qm_model_has_mask (&plan->config, call->inputs[0].shape[2]);
}

/* A product with a gate in its end as two calls, with what is between them in
 * memory. */
static void
split_gate (const QmOpCall *call, QmOpCall *product, QmOpCall *gate)
{
  bool forward = call->op == QM_OP_GATED_LINEAR;
  const QmTensor *result = &call->outputs[0];
  int64_t both[2] = { result->shape[0], call->inputs[1].shape[0] };
  int64_t one[2] = { result->shape[0],
                     forward ? result->shape[1] : call->inputs[1].shape[1] };
  QmTensor half = qm_tensor_dense (result->type, 2, one, NULL);

  *product = *call;
  product->op = forward ? QM_OP_LINEAR : QM_OP_LINEAR_INPUT_GRAD;
  product->attributes.activation = QM_FUNCTION_NONE;
  *gate = (QmOpCall){ .op = forward ? QM_OP_GATE : QM_OP_GATE_BACKWARD,
                      .attributes = call->attributes };
  for (int i = 0; i < (forward ? 2 : 3); i++)
    gate->inputs[i] = half;
  for (int i = 0; i < (forward ? 1 : 2); i++)
    gate->outputs[i] = half;
  if (forward)
    product->outputs[0] = qm_tensor_dense (result->type, 2, both, NULL);
  else
    product->outputs[0] = half;
  product->outputs[1] = product->inputs[forward ? 3 : 2] = (QmTensor){ 0 };
}

/* The same of a norm that scales what it adds. */
static void
split_scale (const QmOpCall *call, QmOpCall *scale, QmOpCall *norm)
{
  const QmTensor none = { 0 }, *in = call->inputs, *out = call->outputs;
  bool forward = call->op == QM_OP_LAYER_NORM;

  *norm = *call;
  *scale = (QmOpCall){ .op = forward ? QM_OP_LAYER_SCALE
                                     : QM_OP_LAYER_SCALE_BACKWARD,
                       .attributes = call->attributes };
  if (forward)
    {
      scale->inputs[0] = in[3];
      scale->inputs[1] = in[8];
      scale->inputs[2] = in[0];
      scale->inputs[3] = in[7];
      scale->outputs[0] = norm->inputs[0] = out[3];
      norm->inputs[3] = norm->inputs[7] = norm->inputs[8] = none;
      norm->outputs[3] = none;
      return;
    }
  scale->inputs[0] = out[0];
  scale->inputs[1] = in[9];
  scale->inputs[2] = in[10];
  scale->inputs[3] = in[8];
  scale->outputs[0] = out[5];
  scale->outputs[1] = out[7];
  norm->inputs[8] = norm->inputs[9] = norm->inputs[10] = none;
  norm->outputs[5] = norm->outputs[7] = none;
}

/* The same of an adaptive norm that adds what a gate lets through. */
static void
split_gated_sum (const QmOpCall *call, QmOpCall *sum, QmOpCall *norm)
{
  const QmTensor none = { 0 }, *in = call->inputs, *out = call->outputs;

  *norm = *call;
  *sum = (QmOpCall){ .attributes = call->attributes };
  if (call->op == QM_OP_ADAPTIVE_NORM)
    {
      sum->op = QM_OP_GATED_ADD;
      sum->inputs[0] = in[3];
      sum->inputs[1] = in[4];
      sum->inputs[2] = in[0];
      sum->outputs[0] = norm->inputs[0] = out[3];
      norm->inputs[3] = norm->inputs[4] = norm->outputs[3] = none;
      return;
    }
  sum->op = QM_OP_GATED_ADD_BACKWARD;
  sum->inputs[0] = out[0];
  sum->inputs[1] = in[6];
  sum->inputs[2] = in[7];
  sum->outputs[0] = out[3];
  sum->outputs[1] = out[4];
  norm->inputs[6] = norm->inputs[7] = none;
  norm->outputs[3] = norm->outputs[4] = none;
}

/* What an attention's gradient that is turned back would be as two calls.  The
 * first takes as long as it did with what it makes as it is. */
static void
split_turn (const QmOpCall *call, QmOpCall *attention, QmOpCall *rotary)
{
  const QmTensor *q = &call->inputs[1], *k = &call->inputs[2];
  int64_t turning[5] = { q->shape[0], q->shape[2], q->shape[1] + k->shape[1], 1,
                         q->shape[3] };

  *attention = *call;
  attention->inputs[7] = (QmTensor){ 0 };
  attention->attributes.rotary = 0;
  *rotary = (QmOpCall){ .op = QM_OP_ROTARY };
  rotary->attributes.rotary = call->attributes.rotary;
  rotary->attributes.count = turning[2];
  rotary->attributes.inverse = true;
  rotary->inputs[0] = rotary->outputs[0] =
      qm_tensor_dense (q->type, 5, turning, NULL);
  rotary->inputs[1] = call->inputs[7];
}

/* The calls, one or two, as which a call is predicted; returns how many. */
static int
predicted_as (const QmOpCall *call, QmOpCall parts[2])
{
  bool forward = call->op == QM_OP_LAYER_NORM;

  if (call->op == QM_OP_GATED_LINEAR || call->op == QM_OP_GATED_INPUT_GRAD)
    {
      split_gate (call, &parts[0], &parts[1]);
      return 2;
    }
  if (call->op == QM_OP_ROTARY_LINEAR)
    {
      qm_op_split_rotary (call, &parts[0], &parts[1]);
      return 2;
    }
  if ((forward || call->op == QM_OP_LAYER_NORM_BACKWARD)
      && qm_tensor_present (&call->inputs[forward ? 8 : 10]))
    {
      split_scale (call, &parts[forward ? 0 : 1], &parts[forward ? 1 : 0]);
      return 2;
    }
  if (call->op == QM_OP_ADAPTIVE_NORM && qm_tensor_present (&call->inputs[3]))
    {
      split_gated_sum (call, &parts[0], &parts[1]);
      return 2;
    }
  if (call->op == QM_OP_ADAPTIVE_NORM_BACKWARD
      && qm_tensor_present (&call->inputs[6]))
    {
      split_gated_sum (call, &parts[1], &parts[0]);
      return 2;
    }
  if (call->op == QM_OP_ATTENTION_BACKWARD
      && qm_tensor_present (&call->inputs[7]))
    {
      split_turn (call, &parts[0], &parts[1]);
      return 2;
    }
  parts[0] = *call;
  return 1;
}

/* GPUs that have a kernel for two of these calls.  A plan may be for several,
 * and which one it is for is known where it is predicted (engine/predict.c). */
static const QmTarget joining = { QM_DEVICE_CUDA, 90 };

/* What one of the two calls of a product with a gate in its end, of others
 * nothing, moves for the other, and so does not where they are one.  Gate and
 * up are written once, for the way back if for anything, and the gate finds
 * them where they are made; the gradient of what was gated is not in memory at
 * all. */
static double
spared_by (const QmOpCall *fused, const QmOpCall *part)
{
  bool forward = fused->op == QM_OP_GATED_LINEAR;
  bool gate = part->op == QM_OP_GATE || part->op == QM_OP_GATE_BACKWARD;

  if (!qm_target_gates (&joining, fused))
    return 0;
  if (!forward)
    return bytes_of (gate ? &part->inputs[0] : &part->outputs[0]);
  if (gate)
    return bytes_of (&part->inputs[0]) + bytes_of (&part->inputs[1]);
  return fused->outputs[1].rank == 0 ? bytes_of (&part->outputs[0]) : 0;
}

/* What a sum that a norm makes itself moves for the norm: forward its result,
 * which the norm would read again; backward what the norm has just made.  Of
 * other software rates are known of two kernels. */
static double
spared_by_norm (const QmPlan *plan, const QmOpCall *part)
{
  if (plan->options.foreign)
    return 0;
  switch (part->op)
    {
    case QM_OP_LAYER_SCALE:
    case QM_OP_GATED_ADD:
      return bytes_of (&part->outputs[0]);
    case QM_OP_LAYER_SCALE_BACKWARD:
    case QM_OP_GATED_ADD_BACKWARD:
      return bytes_of (&part->inputs[0]);
    default:
      return 0;
    }
}

/* Whether the second call of a gradient that is turned back is made where
 * gradients are. */
static bool
is_turned_by (const QmOpCall *fused, const QmOpCall *part)
{
  return fused->op == QM_OP_ATTENTION_BACKWARD && part->op == QM_OP_ROTARY
         && qm_target_turns (&joining, fused);
}

/* The row that a call is in, which is predicted for `fused`, or -1. */
static int32_t
add_work_of (QmWork *work,
             const QmPlan *plan,
             const QmOpCall *fused,
             const QmOpCall *call,
             bool update)
{
  QmWorkRow row;

  if (add_transfer (work, plan, call))
    return -1;
  row = row_of (call, update);
  row.spared = spared_by (fused, call);
  if (fused->op != call->op && row.spared == 0)
    {
      row.spared = spared_by_norm (plan, call);
      row.in_norm = row.spared > 0;
    }
  row.turned = is_turned_by (fused, call);
  row.composed = is_composed (plan, call);
  row.masked = is_masked (plan, call);
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

/* What there is to do for a call, and where it comes in the order. */
static void
add_call (QmWork *work,
          const QmPlan *plan,
          const QmOpCall *fused,
          const QmOpCall *call,
          QmPhase phase)
{
  int32_t row = add_work_of (work, plan, fused, call, phase == QM_PHASE_UPDATE);

  if (work->order != NULL)
    work->order[work->n_order++] = (QmWorkCall){
      .op = call->op,
      .phase = phase,
      .row = row,
      .unit = has_unit (call->op) ? (int32_t) call->attributes.unit : -1,
      .bytes = exchanged_by (call)
    };
}

QmStatus
qm_work_new (const QmPlan *plan, QmWork **work, QmError *error)
{
  const QmGraph *graph = plan->graph;
  QmWork *new;

  *work = NULL;
  if (plan->recipe.precision == QM_PRECISION_FP8)
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         QM_PREDICT_NO_FP8);
  new = calloc (1, sizeof *new);
  if (new != NULL)
    new->rows = calloc (2 * graph->n_nodes + 1, sizeof *new->rows);
  if (new != NULL && plan->options.ranks > 1)
    new->order = calloc (2 * graph->n_nodes + 1, sizeof *new->order);
  if (new == NULL || new->rows == NULL
      || (new->order == NULL && plan->options.ranks > 1))
    {
      qm_work_free (new);
      return qm_error_no_memory (error);
    }
  for (size_t i = 0; i < graph->n_nodes; i++)
    {
      QmPhase phase = graph->nodes[i].phase;
      QmOpCall call, parts[2];
      int n;

      qm_graph_call (graph, &graph->nodes[i], &call);
      n = predicted_as (&call, parts);
      for (int j = 0; j < n; j++)
        add_call (new, plan, &call, &parts[j], phase);
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
qm_work_part_gates (QmWork *work)
{
  for (size_t i = 0; i < work->n; i++)
    {
      work->rows[i].spared = 0;
      work->rows[i].in_norm = false;
    }
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
