/* SPDX-License-Identifier: Apache-2.0 */

/* Feed-forward parts of which every token goes through some.
 *
 * Weights of all experts are one value, as products of groups of rows take
 * them, and each expert's own parameters are parts of it, as the hub's files
 * have them; what Transformers 5 has in memory is the same value under one
 * name. */

#include "engine/family.h"

#include <stdio.h>

static QmValueId
of_type (QmBuilder *builder,
         QmType type,
         int64_t rows,
         int64_t columns,
         const char *name)
{
  return qm_graph_value (builder->graph, QM_ROLE_TEMPORARY, type,
                         columns > 0 ? 2 : 1, (int64_t[]){ rows, columns },
                         "%s", name);
}

/* Which rows are whose. */
typedef struct Routes
{
  QmValueId weights, rows, places, offsets;
} Routes;

/* The router's loads go into the row of this layer. */
static void
append_load (QmBuilder *builder, QmValueId logits, const Routes *routes)
{
  QmGraph *graph = builder->graph;
  int64_t experts;
  QmNode *node;

  if (builder->load == QM_NO_VALUE || graph->status != QM_OK)
    return;
  experts = qm_graph_tensor (graph, logits)->shape[1];
  node = qm_graph_append (graph, QM_OP_EXPERT_LOAD);
  node->inputs[0] = logits;
  node->inputs[1] = routes->offsets;
  node->outputs[0] =
      qm_graph_view (graph, builder->load, 2, (int64_t[]){ 2, experts },
                     (int64_t[]){ experts, 1 }, builder->loads++ * 2 * experts);
}

static Routes
route (QmBuilder *builder, QmValueId x, const QmExperts *shape)
{
  QmGraph *graph = builder->graph;
  int64_t tokens = builder->batch * builder->length;
  int64_t k = shape->per_token, experts = shape->count + 1;
  QmAffine router = { .bias = QM_NO_VALUE };
  Routes routes;
  QmValueId logits, chosen;
  QmNode *node;

  router.weight =
      qm_graph_value (graph, QM_ROLE_PARAMETER, builder->options->type, 2,
                      (int64_t[]){ shape->count, shape->hidden }, "%s",
                      shape->router);
  qm_graph_parameter (graph, router.weight, QM_INITIAL_NORMAL, shape->router,
                      shape->alias);
  logits = qm_build_linear (builder, x, &router);
  routes.weights = of_type (builder, QM_TYPE_F32, tokens, k, "weights");
  chosen = of_type (builder, QM_TYPE_I32, tokens, k, "experts");
  routes.rows = of_type (builder, QM_TYPE_I32, tokens * k, 0, "rows");
  routes.places = of_type (builder, QM_TYPE_I32, tokens, k, "places");
  routes.offsets = of_type (builder, QM_TYPE_I32, experts, 0, "offsets");
  node = qm_graph_append (graph, QM_OP_ROUTE);
  node->attributes.normalized = shape->normalized;
  node->inputs[0] = logits;
  node->outputs[0] = routes.weights;
  node->outputs[1] = chosen;
  node->outputs[2] = routes.rows;
  node->outputs[3] = routes.places;
  node->outputs[4] = routes.offsets;
  append_load (builder, logits, &routes);
  return routes;
}

static QmValueId
move_rows (
    QmBuilder *builder, QmOp op, QmValueId x, const Routes *routes, QmValueId y)
{
  QmNode *node = qm_graph_append (builder->graph, op);

  node->inputs[0] = x;
  node->inputs[1] = routes->rows;
  node->inputs[2] = routes->places;
  node->outputs[0] = y;
  return y;
}

static QmValueId
multiply_by_expert (QmBuilder *builder,
                    QmValueId x,
                    QmValueId w,
                    QmValueId offsets,
                    QmValueId y)
{
  QmNode *node = qm_graph_append (builder->graph, QM_OP_GROUPED_LINEAR);

  node->inputs[0] = x;
  node->inputs[1] = w;
  node->inputs[2] = offsets;
  node->outputs[0] = y;
  return y;
}

/* A matrix of an expert, [rows, columns], `first` elements from its beginning.
 */
static void
declare (QmBuilder *builder,
         QmValueId all,
         int64_t expert,
         int64_t rows,
         int64_t columns,
         int64_t first,
         const QmExperts *shape,
         const char *name,
         const char *packed)
{
  const QmTensor *whole;
  int64_t size;
  char text[192];

  if (builder->graph->status != QM_OK)
    return;
  whole = qm_graph_tensor (builder->graph, all);
  size = whole->shape[1] * whole->shape[2];
  snprintf (text, sizeof text, "%s.%lld.%s.weight", shape->experts,
            (long long) expert, name);
  qm_graph_parameter (
      builder->graph,
      qm_graph_view (builder->graph, all, 2, (int64_t[]){ rows, columns },
                     (int64_t[]){ columns, 1 }, expert * size + first),
      QM_INITIAL_NORMAL, text, NULL);
  qm_graph_packed (builder->graph, packed);
}

typedef struct Weights
{
  QmValueId first, last; /* gate and up; down */
} Weights;

static Weights
declare_all (QmBuilder *builder, const QmExperts *shape)
{
  int64_t n = shape->count, hidden = shape->hidden, inner = shape->inner;
  Weights weights;
  char first[160], last[160];

  snprintf (first, sizeof first, "%s.gate_up_proj", shape->packed);
  snprintf (last, sizeof last, "%s.down_proj", shape->packed);
  weights.first =
      qm_graph_value (builder->graph, QM_ROLE_PARAMETER, builder->options->type,
                      3, (int64_t[]){ n, 2 * inner, hidden }, "%s", first);
  weights.last =
      qm_graph_value (builder->graph, QM_ROLE_PARAMETER, builder->options->type,
                      3, (int64_t[]){ n, hidden, inner }, "%s", last);
  for (int64_t e = 0; e < n && builder->graph->status == QM_OK; e++)
    {
      declare (builder, weights.first, e, inner, hidden, 0, shape,
               shape->names[0], first);
      declare (builder, weights.first, e, inner, hidden, inner * hidden, shape,
               shape->names[1], first);
      declare (builder, weights.last, e, hidden, inner, 0, shape,
               shape->names[2], last);
    }
  return weights;
}

QmValueId
qm_build_experts (QmBuilder *builder, QmValueId x, const QmExperts *shape)
{
  QmGraph *graph = builder->graph;
  QmType type = builder->options->type;
  int64_t tokens = builder->batch * builder->length, inner = shape->inner;
  int64_t rows = tokens * shape->per_token;
  Routes routes = route (builder, x, shape);
  Weights weights = declare_all (builder, shape);
  QmValueId y;
  QmNode *node;

  x = move_rows (builder, QM_OP_GATHER_ROWS, x, &routes,
                 of_type (builder, type, rows, shape->hidden, "rows of x"));
  x = multiply_by_expert (builder, x, weights.first, routes.offsets,
                          of_type (builder, type, rows, 2 * inner, "gate, up"));
  y = of_type (builder, type, rows, inner, "weighted gate");
  node = qm_graph_append (graph, QM_OP_WEIGHTED_GATE);
  node->attributes.activation = qm_build_function (shape->activation);
  for (int i = 0; i < 2; i++)
    node->inputs[i] = qm_graph_view (graph, x, 2, (int64_t[]){ rows, inner },
                                     (int64_t[]){ 2 * inner, 1 }, i * inner);
  node->inputs[2] = routes.weights;
  node->inputs[3] = routes.rows;
  node->outputs[0] = y;
  y = multiply_by_expert (builder, y, weights.last, routes.offsets,
                          of_type (builder, type, rows, shape->hidden,
                                   "of experts"));
  return move_rows (builder, QM_OP_COMBINE_ROWS, y, &routes,
                    of_type (builder, type, tokens, shape->hidden, "combined"));
}

void
qm_build_loads (QmBuilder *builder, int64_t layers, int64_t experts)
{
  builder->load =
      qm_graph_value (builder->graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, 3,
                      (int64_t[]){ layers, 2, experts }, "loads of experts");
}

void
qm_build_balance (QmBuilder *builder, double coefficient)
{
  QmGraph *graph = builder->graph;
  QmValueId gradient;
  QmNode *node;

  if (builder->load == QM_NO_VALUE || graph->status != QM_OK)
    return;
  gradient = qm_graph_like (graph, builder->load, QM_ROLE_TEMPORARY,
                            QM_TYPE_F32, "gradient of loads");
  node = qm_graph_append (graph, QM_OP_BALANCE);
  node->attributes.scale =
      coefficient / (double) builder->options->accumulation;
  node->attributes.count = builder->batch * builder->length;
  node->inputs[0] = builder->load;
  node->inputs[1] = graph->state;
  node->outputs[0] = gradient;
  node->outputs[1] = graph->loss;
}
