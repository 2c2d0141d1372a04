/* SPDX-License-Identifier: Apache-2.0 */

/* What layers of several families have in common, and how models begin and
 * end. */

#include "engine/family.h"

#include <stdio.h>

void
qm_build_text_inputs (QmBuilder *builder)
{
  QmGraph *graph = builder->graph;
  int64_t tokens[2] = { builder->batch, builder->length };

  graph->ids = qm_graph_value (graph, QM_ROLE_INPUT, QM_TYPE_I32, 2, tokens,
                               "input_ids");
  graph->labels =
      qm_graph_value (graph, QM_ROLE_INPUT, QM_TYPE_I32, 2, tokens, "labels");
}

void
qm_build_image_inputs (QmBuilder *builder, int64_t channels, int64_t size)
{
  builder->graph->pixels =
      qm_graph_value (builder->graph, QM_ROLE_INPUT, QM_TYPE_F32, 4,
                      (int64_t[]){ builder->batch, channels, size, size },
                      "pixel_values");
}

void
qm_build_class_inputs (QmBuilder *builder)
{
  builder->graph->labels =
      qm_graph_value (builder->graph, QM_ROLE_INPUT, QM_TYPE_I32, 2,
                      (int64_t[]){ builder->batch, 1 }, "labels");
}

QmValueId
qm_build_positions (QmBuilder *builder, int64_t padding)
{
  QmGraph *graph = builder->graph;
  QmValueId y = qm_graph_like (graph, graph->ids, QM_ROLE_TEMPORARY,
                               QM_TYPE_I32, "positions");
  QmNode *node = qm_graph_append (graph, QM_OP_POSITIONS);

  node->attributes.padding = padding;
  node->inputs[0] = graph->ids;
  node->outputs[0] = y;
  return y;
}

void
qm_build_mask (QmBuilder *builder,
               int64_t images,
               int64_t patches,
               QmValueId picked,
               QmValueId places)
{
  QmGraph *graph = builder->graph;
  QmNode *node;

  if (!builder->options->dropout)
    graph->noise = qm_graph_value (graph, QM_ROLE_INPUT, QM_TYPE_F32, 2,
                                   (int64_t[]){ images, patches }, "noise");
  node = qm_graph_append (graph, QM_OP_MASK_PATCHES);
  node->inputs[0] = graph->noise;
  if (builder->options->dropout)
    {
      node->attributes.site = qm_graph_site (graph);
      node->inputs[1] = graph->rng;
    }
  node->outputs[0] = picked;
  node->outputs[1] = places;
}

QmValueId
qm_build_residual (QmBuilder *builder, QmValueId x, QmValueId y)
{
  return qm_build_add (builder, x, y, builder->options->residual);
}

QmValueId
qm_build_mlp (QmBuilder *builder,
              QmValueId x,
              const QmAffine *up,
              QmActivation activation,
              const QmAffine *down,
              double dropout)
{
  x = qm_build_activation (builder, qm_build_linear (builder, x, up),
                           activation);
  return qm_build_dropout (builder, qm_build_linear (builder, x, down),
                           dropout);
}

QmValueId
qm_build_layers (QmBuilder *builder,
                 QmValueId x,
                 const QmModelConfig *model,
                 int64_t n,
                 const char *prefix,
                 QmBuildLayer layer)
{
  QmGraph *graph = builder->graph;

  for (int64_t i = 0; i < n && graph->status == QM_OK; i++)
    {
      char name[64];

      snprintf (name, sizeof name, "%s%lld.", prefix, (long long) i);
      qm_graph_begin_block (graph);
      x = layer (builder, x, model, i, name);
      qm_graph_end_block (graph, x);
    }
  return x;
}

void
qm_build_next_token (QmBuilder *builder,
                     QmValueId x,
                     QmValueId words,
                     bool tied,
                     const char *name,
                     const char *alias)
{
  QmTensor table;

  if (builder->graph->status != QM_OK)
    return;
  table = *qm_graph_tensor (builder->graph, words);
  if (!tied)
    words = qm_build_vocab_weight (builder, table.shape[0], table.shape[1],
                                   name, alias);
  qm_build_loss (builder, x, words, QM_NO_VALUE, true);
}

void
qm_build_classifier (QmBuilder *builder,
                     QmValueId x,
                     int64_t classes,
                     int64_t width)
{
  QmValueId weight = qm_build_vocab_weight (builder, classes, width,
                                            "classifier.weight", NULL);
  QmValueId bias =
      qm_build_vocab_bias (builder, classes, "classifier.bias", NULL);

  if (classes == 1)
    qm_graph_fail (builder->graph, QM_STATUS_UNSUPPORTED,
                   "num_labels: 1 means regression, which is not supported");
  qm_build_loss (builder, x, weight, bias, false);
}
