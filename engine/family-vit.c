/* SPDX-License-Identifier: Apache-2.0 */

/* Files on the hub have the names that Transformers had before its version 5;
 * those of version 5 are the aliases. */

#include "engine/family.h"

#include <stdio.h>

/* Of one layer, the beginnings of names. */
typedef struct Layer
{
  const QmVitLayers *all;
  char prefix[64], alias[64];
} Layer;

static QmAffine
linear_weights (QmBuilder *builder,
                const Layer *layer,
                int64_t out,
                int64_t in,
                const char *name,
                const char *alias)
{
  QmAffine affine =
      qm_build_linear_weights (builder, out, in, true, layer->prefix, name);

  qm_build_alias (builder, 2, layer->alias, alias);
  return affine;
}

static QmAffine
norm_weights (QmBuilder *builder, const Layer *layer, const char *name)
{
  QmAffine affine = qm_build_norm_weights (builder, layer->all->hidden, true,
                                           layer->prefix, name);

  qm_build_alias (builder, 2, layer->alias, name);
  return affine;
}

static QmValueId
vit_attention (QmBuilder *builder, QmValueId x, const Layer *layer)
{
  const QmNamesOf names = { layer->prefix,
                            { "attention.attention.query",
                              "attention.attention.key",
                              "attention.attention.value" } };
  const QmNamesOf aliases = {
    layer->alias, { "attention.q_proj", "attention.k_proj", "attention.v_proj" }
  };
  const QmVitLayers *all = layer->all;
  QmAttentionShape shape = { .heads = all->heads,
                             .hidden = all->hidden,
                             .dropout = all->attention_dropout };
  QmAffine dense;
  QmValueId packed, y;

  packed =
      qm_build_qkv (builder, x, all->hidden, all->qkv_bias, &names, &aliases);
  dense = linear_weights (builder, layer, all->hidden, all->hidden,
                          "attention.output.dense", "attention.o_proj");
  y = qm_build_linear (builder, qm_build_attention (builder, packed, &shape),
                       &dense);
  return qm_build_dropout (builder, y, all->hidden_dropout);
}

static QmValueId
build_layer (QmBuilder *builder, QmValueId x, const Layer *layer)
{
  const QmVitLayers *all = layer->all;
  double epsilon = all->epsilon;
  QmAffine before = norm_weights (builder, layer, "layernorm_before");
  QmAffine after = norm_weights (builder, layer, "layernorm_after");
  QmAffine up = linear_weights (builder, layer, all->inner, all->hidden,
                                "intermediate.dense", "mlp.fc1");
  QmAffine down = linear_weights (builder, layer, all->hidden, all->inner,
                                  "output.dense", "mlp.fc2");

  x = qm_build_residual (
      builder, x,
      vit_attention (builder, qm_build_norm (builder, x, &before, epsilon),
                     layer));
  return qm_build_residual (
      builder, x,
      qm_build_mlp (builder, qm_build_norm (builder, x, &after, epsilon), &up,
                    all->activation, &down, all->hidden_dropout));
}

QmValueId
qm_build_vit_layers (QmBuilder *builder, QmValueId x, const QmVitLayers *layers)
{
  QmGraph *graph = builder->graph;
  Layer layer = { .all = layers };

  for (int64_t i = 0; i < layers->n && graph->status == QM_OK; i++)
    {
      snprintf (layer.prefix, sizeof layer.prefix, "%s%lld.", layers->prefix,
                (long long) i);
      snprintf (layer.alias, sizeof layer.alias, "%s%lld.", layers->alias,
                (long long) i);
      qm_graph_begin_block (graph);
      x = build_layer (builder, x, &layer);
      qm_graph_end_block (graph, x);
    }
  return x;
}

/* The products of a convolution that does not overlap, as one linear layer. */
static QmValueId
vit_patches (QmBuilder *builder, const QmVitConfig *config)
{
  int64_t side = config->patch_size;
  QmAffine projection =
      qm_build_patch_weights (builder, NULL, config->hidden_size,
                              config->channels, side, true,
                              "vit.embeddings.patch_embeddings.projection.");

  return qm_build_linear (builder,
                          qm_build_patches (builder, builder->graph->pixels,
                                            QM_NO_VALUE, side),
                          &projection);
}

static QmValueId
vit_embeddings (QmBuilder *builder, const QmVitConfig *config)
{
  QmGraph *graph = builder->graph;
  int64_t hidden = config->hidden_size;
  QmType type = builder->options->type;
  QmValueId token = qm_build_parameter (builder, QM_INITIAL_NORMAL, type, 3,
                                        (int64_t[]){ 1, 1, hidden },
                                        "vit.embeddings.cls_token");
  QmValueId position =
      qm_build_parameter (builder, QM_INITIAL_NORMAL, type, 3,
                          (int64_t[]){ 1, builder->length, hidden },
                          "vit.embeddings.position_embeddings");
  QmValueId patches = vit_patches (builder, config);
  QmValueId y =
      qm_graph_value (graph, QM_ROLE_TEMPORARY, builder->options->residual, 2,
                      (int64_t[]){ builder->batch * builder->length, hidden },
                      "embeddings");
  QmNode *node;

  token = qm_graph_reshape (graph, token, 1, &hidden);
  position = qm_graph_reshape (graph, position, 2,
                               (int64_t[]){ builder->length, hidden });
  node = qm_graph_append (graph, QM_OP_CLASS_TOKEN);
  node->inputs[0] = patches;
  node->inputs[1] = token;
  node->inputs[2] = position;
  node->outputs[0] = y;
  return qm_build_dropout (builder, y, config->hidden_dropout);
}

void
qm_build_vit (QmBuilder *builder, const QmModelConfig *model)
{
  const QmVitConfig *config = &model->vit;
  QmGraph *graph = builder->graph;
  int64_t side = config->image_size / config->patch_size;
  int64_t hidden = config->hidden_size;
  const QmVitLayers layers = { .n = config->layers,
                               .hidden = hidden,
                               .inner = config->intermediate_size,
                               .heads = config->heads,
                               .prefix = "vit.encoder.layer.",
                               .alias = "vit.layers.",
                               .epsilon = config->layer_norm_eps,
                               .hidden_dropout = config->hidden_dropout,
                               .attention_dropout = config->attention_dropout,
                               .activation = config->activation,
                               .qkv_bias = config->qkv_bias };
  QmAffine norm;
  QmValueId x;

  builder->length = side * side + 1;
  qm_build_image_inputs (builder, config->channels, config->image_size);
  qm_build_class_inputs (builder);
  x = qm_build_vit_layers (builder, vit_embeddings (builder, config), &layers);
  norm = qm_build_norm_weights (builder, hidden, true, "vit.", "layernorm");
  x = qm_build_norm (builder, x, &norm, config->layer_norm_eps);
  x = qm_graph_view (graph, x, 2, (int64_t[]){ builder->batch, hidden },
                     (int64_t[]){ builder->length * hidden, 1 }, 0);
  qm_build_classifier (builder, x, config->classes, hidden);
}
