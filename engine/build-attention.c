/* SPDX-License-Identifier: Apache-2.0 */

/* Attention and rotary positions, for the builders of families. */

#include "data/rope.h"
#include "engine/family.h"

#include <math.h>
#include <stdio.h>

static const QmTensor *
tensor_of (const QmBuilder *builder, QmValueId id)
{
  return qm_graph_tensor (builder->graph, id);
}

/* Part 0, 1 or 2 of packed queries, keys and values, as [B, H, S, D]. */
static QmValueId
packed_part (QmBuilder *builder,
             QmValueId packed,
             const QmAttentionShape *shape,
             int part)
{
  int64_t width = shape->hidden / shape->heads, row = 3 * shape->hidden;

  return qm_graph_view (
      builder->graph, packed, 4,
      (int64_t[]){ builder->batch, shape->heads, builder->length, width },
      (int64_t[]){ builder->length * row,
                   shape->interleaved ? 3 * width : width, row, 1 },
      part * (shape->interleaved ? width : shape->hidden));
}

static QmValueId
append_matmul (QmBuilder *builder,
               QmValueId a,
               QmValueId b,
               QmValueId c,
               double scale,
               QmCausal causal)
{
  QmNode *node = qm_graph_append (builder->graph, QM_OP_MATMUL);

  node->attributes.scale = scale;
  node->attributes.causal = causal;
  node->inputs[0] = a;
  node->inputs[1] = b;
  node->outputs[0] = c;
  return c;
}

QmValueId
qm_build_attention (QmBuilder *builder,
                    QmValueId packed,
                    const QmAttentionShape *shape)
{
  int64_t width = shape->hidden / shape->heads;
  QmHeads heads = { .q = packed_part (builder, packed, shape, 0),
                    .k = packed_part (builder, packed, shape, 1),
                    .v = packed_part (builder, packed, shape, 2),
                    .scale = 1 / sqrt ((double) width),
                    .causal = shape->causal,
                    .dropout = shape->dropout };

  return qm_build_heads (builder, &heads);
}

/* Heads of keys or values for each head of the queries. */
static QmValueId
repeat (QmBuilder *builder, QmValueId x, int64_t heads)
{
  QmTensor t = *tensor_of (builder, x);
  QmValueId y;
  QmNode *node;

  if (t.shape[1] == heads)
    return x;
  y = qm_graph_value (builder->graph, QM_ROLE_TEMPORARY, builder->options->type,
                      4,
                      (int64_t[]){ t.shape[0], heads, t.shape[2], t.shape[3] },
                      "repeated");
  node = qm_graph_append (builder->graph, QM_OP_REPEAT_HEADS);
  node->inputs[0] = x;
  node->outputs[0] = y;
  return y;
}

QmValueId
qm_build_heads (QmBuilder *builder, const QmHeads *heads)
{
  QmGraph *graph = builder->graph;
  QmType type = builder->options->type;
  QmCausal causal = heads->causal ? QM_CAUSAL_RESULT : QM_CAUSAL_NONE;
  QmValueId scores, weights, output, keys;
  QmNode *node;
  QmTensor q;

  if (graph->status != QM_OK)
    return QM_NO_VALUE;
  q = *tensor_of (builder, heads->q);
  scores = qm_graph_value (graph, QM_ROLE_TEMPORARY, type, 4,
                           (int64_t[]){ q.shape[0], q.shape[1], q.shape[2],
                                        q.shape[2] },
                           "attention scores");
  weights = qm_graph_like (graph, scores, QM_ROLE_TEMPORARY, type,
                           "attention weights");
  output = qm_graph_value (graph, QM_ROLE_TEMPORARY, type, 2,
                           (int64_t[]){ q.shape[0] * q.shape[2],
                                        q.shape[1] * q.shape[3] },
                           "attention output");
  keys = repeat (builder, heads->k, q.shape[1]);
  if (graph->status != QM_OK)
    return QM_NO_VALUE;
  append_matmul (builder, heads->q, qm_graph_turned (graph, keys), scores,
                 heads->scale, causal);
  node = qm_graph_append (graph, QM_OP_SOFTMAX);
  node->attributes.causal = causal;
  node->attributes.window = heads->window;
  node->inputs[0] = scores;
  node->outputs[0] = weights;
  weights = qm_build_dropout_of_weights (builder, weights, heads->dropout);
  append_matmul (builder, weights, repeat (builder, heads->v, q.shape[1]),
                 qm_graph_view (graph, output, 4, q.shape,
                                (int64_t[]){
                                    q.shape[2] * q.shape[1] * q.shape[3],
                                    q.shape[3], q.shape[1] * q.shape[3], 1 },
                                0),
                 1, heads->causal ? QM_CAUSAL_LOWER : QM_CAUSAL_NONE);
  return output;
}

QmValueId
qm_build_rotary (QmBuilder *builder, const QmRope *rope, int64_t rotated)
{
  QmGraph *graph = builder->graph;

  for (int i = 0; i < QM_GRAPH_ROTARIES; i++)
    {
      QmRotary *rotary = &graph->rotary[i];

      if (rotary->value == QM_NO_VALUE)
        *rotary =
            (QmRotary){ qm_graph_value (graph, QM_ROLE_CONSTANT, QM_TYPE_F32, 2,
                                        (int64_t[]){ builder->length, rotated },
                                        "rotary angles"),
                        *rope };
      if (qm_rope_is_same (&rotary->rope, rope))
        return rotary->value;
    }
  qm_graph_fail (graph, QM_STATUS_UNSUPPORTED,
                 "more than %d kinds of rotary positions", QM_GRAPH_ROTARIES);
  return QM_NO_VALUE;
}

QmValueId
qm_build_rotated (QmBuilder *builder,
                  QmValueId x,
                  QmValueId table,
                  int64_t heads,
                  int64_t count,
                  int64_t width)
{
  QmGraph *graph = builder->graph;
  int64_t row = heads * width;
  int64_t sizes[5] = { builder->batch, builder->length, heads, 1, width };
  int64_t strides[5] = { builder->length * row, row, width, width, 1 };
  QmValueId turned;
  QmNode *node;

  if (table == QM_NO_VALUE || graph->status != QM_OK)
    return x;
  turned = qm_graph_like (graph, x, QM_ROLE_TEMPORARY, builder->options->type,
                          "rotated");
  x = qm_graph_view (graph, x, 5, sizes, strides, 0);
  node = qm_graph_append (graph, QM_OP_ROTARY);
  node->attributes.rotary = width;
  node->attributes.count = count;
  node->inputs[0] = x;
  node->inputs[1] = table;
  node->outputs[0] = qm_graph_view (graph, turned, 5, sizes, strides, 0);
  return turned;
}

QmValueId
qm_build_heads_of (QmBuilder *builder,
                   QmValueId x,
                   int64_t row,
                   int64_t first,
                   int64_t heads,
                   int64_t width)
{
  return qm_graph_view (
      builder->graph, x, 4,
      (int64_t[]){ builder->batch, heads, builder->length, width },
      (int64_t[]){ builder->length * row, width, row, 1 }, first);
}

/* Query, key and value of rows of their own. */
static QmValueId
build_three (QmBuilder *builder,
             QmValueId x,
             bool bias,
             const int64_t rows[3],
             const QmNamesOf *names,
             const QmNamesOf *aliases)
{
  QmStackPart parts[3];
  char texts[3][160], others[3][160];

  for (int i = 0; i < 3; i++)
    {
      snprintf (texts[i], sizeof texts[i], "%s%s", names->prefix,
                names->parts[i]);
      if (aliases != NULL)
        snprintf (others[i], sizeof others[i], "%s%s", aliases->prefix,
                  aliases->parts[i]);
      parts[i] = (QmStackPart){ texts[i], aliases != NULL ? others[i] : NULL,
                                rows[i] };
    }
  return qm_build_stack (builder, x, bias, parts, 3, "query, key, value");
}

QmValueId
qm_build_qkv (QmBuilder *builder,
              QmValueId x,
              int64_t hidden,
              bool bias,
              const QmNamesOf *names,
              const QmNamesOf *aliases)
{
  return build_three (builder, x, bias, (int64_t[]){ hidden, hidden, hidden },
                      names, aliases);
}

void
qm_build_packed_heads (QmBuilder *builder,
                       QmValueId packed,
                       QmValueId table,
                       int64_t queries,
                       int64_t keys,
                       int64_t width,
                       QmHeads *heads)
{
  int64_t row = (queries + 2 * keys) * width;

  packed = qm_build_rotated (builder, packed, table, queries + 2 * keys,
                             queries + keys, width);
  heads->q = qm_build_heads_of (builder, packed, row, 0, queries, width);
  heads->k =
      qm_build_heads_of (builder, packed, row, queries * width, keys, width);
  heads->v = qm_build_heads_of (builder, packed, row, (queries + keys) * width,
                                keys, width);
}

void
qm_build_packed (QmBuilder *builder,
                 QmValueId x,
                 bool bias,
                 const char *prefix,
                 QmValueId table,
                 int64_t queries,
                 int64_t keys,
                 int64_t width,
                 QmHeads *heads)
{
  const QmNamesOf names = {
    prefix, { "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj" }
  };

  x = build_three (builder, x, bias,
                   (int64_t[]){ queries * width, keys * width, keys * width },
                   &names, NULL);
  qm_build_packed_heads (builder, x, table, queries, keys, width, heads);
}
