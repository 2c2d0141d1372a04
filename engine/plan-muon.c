/* SPDX-License-Identifier: Apache-2.0 */

/* Muon's part of an update (Jordan et al. 2024): momentum of each hidden
 * matrix, whose singular values five steps of a Newton-Schulz iteration then
 * drive to about 1, by products; AdamW of what is between these matrices. Every
 * rank does all of it, or where ranks share states, each does it to its own
 * matrices, which are whole (engine/units.h). */

#include "engine/plan-update.h"

#include <math.h>
#include <stdlib.h>

/* Of all nodes that make one. */
static QmValueId
matrix (const QmPlan *plan, QmType type, int64_t rows, int64_t columns)
{
  return qm_graph_value (plan->graph, QM_ROLE_TEMPORARY, type, 2,
                         (int64_t[]){ rows, columns }, "%s", "Muon's matrix");
}

/* In bf16, as its authors have it, where the device multiplies that, else in
 * fp32. */
static QmType
iteration_type (const QmTarget *target)
{
  return qm_target_is_gpu (target)
                 && qm_target_multiplies (target, QM_TYPE_BF16, false)
             ? QM_TYPE_BF16
             : QM_TYPE_F32;
}

bool
qm_plan_is_alike (const QmRecipe *recipe, const QmTarget *a, const QmTarget *b)
{
  return recipe->optimizer != QM_OPTIMIZER_MUON
         || iteration_type (a) == iteration_type (b);
}

/* The momentum, divided by its norm. */
static QmValueId
append_direction (const QmPlan *plan,
                  const QmSlab *slab,
                  const QmSlabTensor *tensor,
                  const QmPiece *piece)
{
  const int64_t one = 1;
  QmGraph *graph = plan->graph;
  QmValueId gradient =
      qm_slab_piece (plan, slab->gradients, slab->all_gradients, piece);
  QmValueId moment = qm_slab_piece (plan, slab->first, false, piece);
  QmValueId sum = qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, 1,
                                  &one, "%s", "sum of squares");
  QmValueId x = matrix (plan, iteration_type (&plan->options.target),
                        tensor->rows, tensor->columns);
  QmValueId flat = qm_graph_reshape (graph, x, 1, &tensor->n);
  QmNode *node = qm_graph_append (graph, QM_OP_MUON_MOMENTUM);

  node->attributes.beta1 = plan->recipe.muon_momentum;
  node->inputs[0] = graph->state;
  node->outputs[0] = gradient;
  node->outputs[1] = moment;
  qm_update_squares (plan, gradient, sum);
  node = qm_graph_append (graph, QM_OP_MUON_NORMALIZE);
  node->attributes.epsilon = QM_MUON_EPSILON;
  node->inputs[0] = sum;
  node->outputs[0] = gradient;
  node->outputs[1] = flat;
  return x;
}

static QmValueId
append_transpose (const QmPlan *plan, QmValueId x)
{
  QmGraph *graph = plan->graph;
  QmTensor t;
  QmValueId turned, y;
  QmNode *node;

  if (graph->status != QM_OK)
    return QM_NO_VALUE;
  t = *qm_graph_tensor (graph, x);
  turned = qm_graph_view (graph, x, 2, (int64_t[]){ t.shape[1], t.shape[0] },
                          (int64_t[]){ 1, t.shape[1] }, 0);
  y = matrix (plan, t.type, t.shape[1], t.shape[0]);
  node = qm_graph_append (graph, QM_OP_COPY);
  node->inputs[0] = turned;
  node->outputs[0] = y;
  return y;
}

/* `op` of two matrices, with a result of that many rows and columns. */
static QmValueId
append_product (const QmPlan *plan,
                QmOp op,
                QmValueId a,
                QmValueId b,
                int64_t rows,
                int64_t columns)
{
  QmValueId y =
      matrix (plan, iteration_type (&plan->options.target), rows, columns);
  QmNode *node = qm_graph_append (plan->graph, op);

  node->inputs[0] = a;
  node->inputs[1] = b;
  node->outputs[0] = y;
  return y;
}

/* x becomes (c + b a + d a a) x with a = x x', which is symmetric, so that its
 * square is a a'.  x has no more rows than columns. */
static QmValueId
append_step (const QmPlan *plan, QmValueId x, int64_t rows, int64_t columns)
{
  QmValueId a = append_product (plan, QM_OP_LINEAR, x, x, rows, rows);
  QmValueId square = append_product (plan, QM_OP_LINEAR, a, a, rows, rows);
  QmValueId polynomial =
      append_product (plan, QM_OP_MUON_POLYNOMIAL, a, square, rows, rows);

  return append_product (plan, QM_OP_LINEAR_INPUT_GRAD, polynomial, x, rows,
                         columns);
}

static double
scale_of (const QmPlan *plan, const QmSlabTensor *tensor)
{
  double rows = (double) tensor->rows, columns = (double) tensor->columns;

  return plan->recipe.muon_scale == QM_MUON_SCALE_MOONSHOT
             ? 0.2 * sqrt (fmax (rows, columns))
             : sqrt (fmax (1, rows / columns));
}

static void
append_update (const QmPlan *plan,
               const QmSlab *slab,
               const QmSlabTensor *tensor,
               const QmPiece *piece,
               QmValueId x)
{
  QmGraph *graph = plan->graph;
  QmValueId flat = qm_graph_reshape (graph, x, 1, &tensor->n);
  QmValueId master = qm_update_master (plan, slab, piece);
  QmValueId weights = qm_update_weights (plan, slab, 0, piece);
  QmNode *node = qm_graph_append (graph, QM_OP_MUON_UPDATE);

  node->attributes.value = plan->recipe.muon_learning_rate;
  node->attributes.cap = plan->recipe.learning_rate;
  node->attributes.weight_decay = plan->recipe.muon_weight_decay;
  node->attributes.scale = scale_of (plan, tensor);
  node->inputs[0] = graph->state;
  node->inputs[1] = flat;
  node->outputs[0] = master;
  node->outputs[1] = weights;
}

static void
append_matrix (const QmPlan *plan,
               const QmSlab *slab,
               const QmSlabTensor *tensor,
               const QmPiece *piece)
{
  bool tall = tensor->rows > tensor->columns;
  int64_t rows = tall ? tensor->columns : tensor->rows;
  QmValueId x = append_direction (plan, slab, tensor, piece);

  if (tall)
    x = append_transpose (plan, x);
  for (int i = 0; i < QM_MUON_STEPS; i++)
    x = append_step (plan, x, rows, tensor->n / rows);
  if (tall)
    x = append_transpose (plan, x);
  append_update (plan, slab, tensor, piece, x);
}

/* What AdamW has of the slab. */
typedef struct Rest
{
  QmPiece *pieces;
  size_t n;
  int64_t elements;
} Rest;

/* Parameters begin at multiples of QM_SLAB_ALIGNMENT, and nothing else is
 * between the end of a matrix and the next of these. */
static void
add_rest (Rest *rest, int64_t end, int64_t begin)
{
  int64_t from =
      (end + QM_SLAB_ALIGNMENT - 1) / QM_SLAB_ALIGNMENT * QM_SLAB_ALIGNMENT;

  if (from >= begin)
    return;
  rest->pieces[rest->n++] = (QmPiece){ from, from, begin - from };
  rest->elements += begin - from;
}

static QmValueId
second_moments (const QmPlan *plan, int64_t elements)
{
  if (elements == 0)
    return QM_NO_VALUE;
  return qm_graph_value (plan->graph, QM_ROLE_MOMENT, QM_TYPE_F32, 1, &elements,
                         "%s", "second moments");
}

static void
append_rest (const QmPlan *plan, const QmSlab *slab, const Rest *rest)
{
  QmValueId seconds = second_moments (plan, rest->elements);
  int64_t at = 0;

  for (size_t i = 0; i < rest->n; i++)
    {
      const QmPiece *piece = &rest->pieces[i];

      qm_update_adam (plan, slab, piece,
                      qm_slab_part (plan, seconds, at, piece->n),
                      qm_update_weights (plan, slab, 0, piece));
      at += piece->n;
    }
}

static void
append_all (const QmPlan *plan,
            const QmSlab *slab,
            const QmSlabTensor *tensors,
            size_t n)
{
  Rest rest = { .pieces = calloc (n + 1, sizeof *rest.pieces) };
  int64_t end = 0;

  if (rest.pieces == NULL)
    {
      qm_graph_fail (plan->graph, QM_STATUS_NO_MEMORY,
                     "the host is out of memory");
      return;
    }
  for (size_t i = 0; i < n; i++)
    if (qm_tensor_is_hidden_matrix (plan, &tensors[i]))
      {
        const QmPiece piece = { tensors[i].begin, tensors[i].begin,
                                tensors[i].n };

        add_rest (&rest, end, tensors[i].begin);
        end = tensors[i].begin + tensors[i].n;
        append_matrix (plan, slab, &tensors[i], &piece);
      }
  add_rest (&rest, end, plan->slab);
  append_rest (plan, slab, &rest);
  free (rest.pieces);
}

static bool
is_of_matrices (const QmUnits *units, size_t unit)
{
  return unit >= units->n_cut && unit < units->n_moving;
}

/* Where a tensor is; of none where another rank has it. */
static QmPiece
piece_of (const QmPlan *plan, const QmSlabTensor *tensor)
{
  return qm_units_piece (&plan->units, plan->units.of[tensor->owner],
                         plan->parts, plan->part, tensor->begin,
                         tensor->begin + tensor->n);
}

/* If it is one of this rank's. */
static void
append_own_matrix (const QmPlan *plan,
                   const QmSlab *slab,
                   const QmSlabTensor *tensor)
{
  const QmPiece piece = piece_of (plan, tensor);

  if (!qm_tensor_is_hidden_matrix (plan, tensor))
    qm_graph_fail (plan->graph, QM_STATUS_UNSUPPORTED,
                   "%s is in one piece with a matrix, and cannot be divided",
                   tensor->parameter->name);
  else if (piece.n > 0)
    append_matrix (plan, slab, tensor, &piece);
}

/* Unit by unit, so that what one rank updated goes to the others while it
 * updates more.  Those that are cut anywhere are first: what they are of, such
 * as embeddings, is large and soon updated, and goes while others are
 * multiplied. */
static void
append_own (const QmPlan *plan,
            const QmSlab *slab,
            const QmSlabTensor *tensors,
            size_t n)
{
  const QmUnits *units = &plan->units;
  int64_t elements = 0, at = 0;
  size_t next = 0;
  QmValueId seconds;

  for (size_t u = 0; u < units->n; u++)
    if (!is_of_matrices (units, u))
      elements += qm_update_own_piece (plan, u).n;
  seconds = second_moments (plan, elements);
  for (size_t u = 0; u < units->n; u++)
    {
      QmPiece piece = qm_update_own_piece (plan, u);

      for (; next < n && units->of[tensors[next].owner] == (int32_t) u; next++)
        if (is_of_matrices (units, u))
          append_own_matrix (plan, slab, &tensors[next]);
      if (!is_of_matrices (units, u))
        {
          qm_update_adam (plan, slab, &piece,
                          qm_slab_part (plan, seconds, at, piece.n),
                          qm_update_weights (plan, slab, u, &piece));
          at += piece.n;
        }
      qm_update_gather (plan, slab, u);
    }
  qm_graph_append (plan->graph, QM_OP_EXCHANGED);
}

void
qm_update_muon (const QmPlan *plan, const QmSlab *slab)
{
  size_t n;
  QmSlabTensor *tensors = qm_slab_tensors (plan, &n);

  if (tensors != NULL && plan->parts > 1)
    append_own (plan, slab, tensors, n);
  else if (tensors != NULL)
    append_all (plan, slab, tensors, n);
  free (tensors);
}

/* The nodes that update one matrix, and nothing else. */
static QmGraph *
update_of (const QmPlan *plan, const QmSlabTensor *tensor)
{
  const QmPiece piece = { 0, 0, tensor->n };
  const int64_t states = QM_STATE_SIZE;
  QmGraph *graph = qm_graph_new ();
  QmPlan alone = *plan;
  QmSlab slab = { .all_gradients = true, .all_weights = true };

  if (graph == NULL)
    return NULL;
  alone.graph = graph;
  alone.parts = 1;
  graph->phase = QM_PHASE_UPDATE;
  graph->state = qm_graph_value (graph, QM_ROLE_STATE, QM_TYPE_F32, 1, &states,
                                 "%s", "state");
  slab.gradients = qm_graph_value (graph, QM_ROLE_GRADIENT, QM_TYPE_F32, 1,
                                   &tensor->n, "%s", "gradient");
  slab.first = qm_graph_value (graph, QM_ROLE_MOMENT, QM_TYPE_F32, 1,
                               &tensor->n, "%s", "momentum");
  slab.weights = qm_graph_value (graph, QM_ROLE_PARAMETER, QM_TYPE_F32, 1,
                                 &tensor->n, "%s", "weights");
  slab.master = slab.weights;
  append_matrix (&alone, &slab, tensor, &piece);
  return graph;
}

static QmStatus
make_room_for (const QmPlan *plan,
               const QmSlabTensor *tensor,
               QmMemory *memory,
               QmError *error)
{
  QmGraph *graph = update_of (plan, tensor);
  int64_t *place =
      graph != NULL ? calloc (graph->n_values + 1, sizeof *place) : NULL;
  uint64_t arena = 0, live = 0;
  QmStatus status = place != NULL ? qm_graph_status (graph, error)
                                  : qm_error_no_memory (error);

  if (status == QM_OK)
    status = qm_memory_arena (graph, place, &arena, &live, error);
  if (arena > memory->activations)
    memory->activations = arena;
  if (live > memory->live)
    memory->live = live;
  free (place);
  qm_graph_free (graph);
  return status;
}

/* Whether one of the first `n` that Muon updates has the shape of the next. */
static bool
has_shape_of (const QmPlan *plan, const QmSlabTensor *tensors, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (tensors[i].rows == tensors[n].rows
        && tensors[i].columns == tensors[n].columns
        && qm_tensor_is_hidden_matrix (plan, &tensors[i]))
      return true;
  return false;
}

QmStatus
qm_plan_muon (QmPlan *plan, QmError *error)
{
  size_t n;
  QmSlabTensor *tensors = qm_slab_tensors (plan, &n);
  QmStatus status = qm_graph_status (plan->graph, error);

  for (size_t i = 0; i < n && status == QM_OK; i++)
    if (qm_tensor_is_hidden_matrix (plan, &tensors[i])
        && !has_shape_of (plan, tensors, i))
      status = make_room_for (plan, &tensors[i], &plan->memory, error);
  free (tensors);
  return status;
}
