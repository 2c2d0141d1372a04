/* SPDX-License-Identifier: Apache-2.0 */

/* Pairs of an image and a text that are to be told from all others. */

#include "engine/family.h"

#include <math.h>

/* Rows of the length 1: an RMS norm, all weights of which are a root of the
 * number of features less than 1. */
QmValueId
qm_build_directions (QmBuilder *builder, QmValueId x, double epsilon)
{
  QmGraph *graph = builder->graph;
  int64_t features;
  QmAffine weights = { .bias = QM_NO_VALUE, .rms = true };
  QmNode *node;

  if (graph->status != QM_OK)
    return QM_NO_VALUE;
  features = qm_graph_tensor (graph, x)->shape[1];
  weights.weight = qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, 1,
                                   &features, "length of rows");
  node = qm_graph_append (graph, QM_OP_FILL);
  node->attributes.value = 1 / sqrt ((double) features);
  node->outputs[0] = weights.weight;
  return qm_build_norm (builder, x, &weights, epsilon / (double) features);
}

/* Squares of lengths that are not divided by, and below. */
#define EPSILON 1e-24

/* One side of all pairs. */
typedef struct Side
{
  QmValueId own;  /* features of this pass */
  QmValueId all;  /* of all ranks */
  QmValueId sums; /* the same, of a loss of directions, else QM_NO_VALUE */
  QmValueId cosines;
} Side;

/* What both sides have. */
typedef struct Pairs
{
  QmValueId temperature, bias; /* bias: QM_NO_VALUE of directions */
  QmValueId first;
  int64_t ranks, n; /* n: samples of all ranks */
} Pairs;

/* Of rows of a rank, those of all. */
static void
gather (QmBuilder *builder, QmValueId rows, const Pairs *pairs)
{
  if (pairs->ranks > 1)
    qm_graph_append (builder->graph, QM_OP_ALL_GATHER)->outputs[0] = rows;
}

static void
await (QmBuilder *builder, const Pairs *pairs)
{
  if (pairs->ranks > 1)
    qm_graph_append (builder->graph, QM_OP_EXCHANGED);
}

static QmValueId
one_number (QmBuilder *builder, double begin, const char *name, bool scalar)
{
  int64_t one = 1;
  QmValueId value = qm_build_parameter (builder, QM_INITIAL_CONSTANT,
                                        QM_TYPE_F32, 1, &one, name);

  qm_build_begin (builder, QM_INITIAL_CONSTANT, begin);
  if (scalar)
    qm_graph_scalar (builder->graph);
  return value;
}

static void
keep_features (QmBuilder *builder, Side *side, Pairs *pairs, const char *name)
{
  QmGraph *graph = builder->graph;
  int64_t features;
  QmNode *node;

  if (graph->status != QM_OK)
    return;
  features = qm_graph_tensor (graph, side->own)->shape[1];
  side->all = qm_graph_value (graph, QM_ROLE_STATE, builder->options->type, 2,
                              (int64_t[]){ pairs->n, features }, "%s", name);
  pairs->first = qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_I32, 1,
                                 (int64_t[]){ 1 }, "first row");
  node = qm_graph_append (graph, QM_OP_KEEP_ROWS);
  node->attributes.count = pairs->ranks;
  node->attributes.chunk = 1;
  node->inputs[0] = side->own;
  node->inputs[1] = graph->rng;
  node->outputs[0] = side->all;
  node->outputs[1] = pairs->first;
  gather (builder, side->all, pairs);
}

static void
compare_sides (QmBuilder *builder,
               Side *side,
               const Side *other,
               const Pairs *pairs)
{
  QmGraph *graph = builder->graph;
  const QmAffine all = { .weight = other->all, .bias = QM_NO_VALUE };
  QmValueId own;
  QmNode *node;

  side->sums = QM_NO_VALUE;
  side->cosines = qm_build_linear (builder, side->own, &all);
  if (pairs->bias != QM_NO_VALUE || graph->status != QM_OK)
    return;
  side->sums = qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, 1,
                               &pairs->n, "logarithms of sums");
  own = qm_graph_view (graph, side->sums, 1, &builder->batch, (int64_t[]){ 1 },
                       builder->options->rank * builder->batch);
  node = qm_graph_append (graph, QM_OP_CONTRAST_SUMS);
  node->inputs[0] = side->cosines;
  node->inputs[1] = pairs->temperature;
  node->outputs[0] = own;
  gather (builder, side->sums, pairs);
}

static void
append_pairs_loss (QmBuilder *builder,
                   const Side *side,
                   const Side *other,
                   const Pairs *pairs)
{
  QmGraph *graph = builder->graph;
  int64_t rows = builder->batch;
  QmValueId slope, losses, along, shift = QM_NO_VALUE;
  QmNode *node;

  slope = qm_graph_like (graph, side->cosines, QM_ROLE_TEMPORARY,
                         builder->options->type, "gradient of cosines");
  losses = qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, 1, &rows,
                           "losses");
  along = qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, 1, &rows,
                          "gradients of the temperature");
  if (pairs->bias != QM_NO_VALUE)
    shift = qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, 1, &rows,
                            "gradients of the bias");
  node = qm_graph_append (graph, QM_OP_CONTRAST_LOSS);
  node->attributes.scale =
      0.5 / (double) (builder->options->accumulation * rows);
  node->inputs[0] = side->cosines;
  node->inputs[1] = pairs->temperature;
  node->inputs[2] = pairs->bias;
  node->inputs[3] = pairs->first;
  node->inputs[4] = side->sums;
  node->inputs[5] = other->sums;
  node->inputs[6] = graph->state;
  node->outputs[0] = slope;
  node->outputs[1] = losses;
  node->outputs[2] = along;
  node->outputs[3] = shift;
  qm_build_loss_sum (builder, losses, rows);
}

void
qm_build_pairs (QmBuilder *builder,
                QmValueId images,
                QmValueId texts,
                double temperature,
                double bias)
{
  QmGraph *graph = builder->graph;
  int ranks = builder->options->ranks > 1 ? builder->options->ranks : 1;
  Pairs pairs = { .bias = QM_NO_VALUE,
                  .ranks = ranks,
                  .n = ranks * builder->batch };
  Side sides[2];

  pairs.temperature =
      one_number (builder, temperature, "logit_scale", isnan (bias));
  if (!isnan (bias))
    pairs.bias = one_number (builder, bias, "logit_bias", false);
  sides[0].own = qm_build_directions (builder, images, EPSILON);
  sides[1].own = qm_build_directions (builder, texts, EPSILON);
  keep_features (builder, &sides[0], &pairs, "features of images");
  keep_features (builder, &sides[1], &pairs, "features of texts");
  await (builder, &pairs);
  for (int i = 0; i < 2; i++)
    compare_sides (builder, &sides[i], &sides[1 - i], &pairs);
  if (isnan (bias))
    await (builder, &pairs);
  for (int i = 0; i < 2 && graph->status == QM_OK; i++)
    append_pairs_loss (builder, &sides[i], &sides[1 - i], &pairs);
  graph->logits = sides[0].cosines;
}
