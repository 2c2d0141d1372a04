/* SPDX-License-Identifier: Apache-2.0 */

/* Files on the hub have the names that Transformers had before its version 5;
 * those of version 5 are the aliases. */

#include "engine/family.h"

#include <stdio.h>
#include <string.h>

/* Gives the newest weight, and its bias, another name as well. */
static void
add_alias (QmBuilder *builder, bool bias, const char *alias)
{
  QmGraph *graph = builder->graph;
  size_t n = bias ? 2 : 1;

  for (size_t i = 0; i < n && graph->status == QM_OK; i++)
    {
      QmParameter *parameter = &graph->parameters[graph->n_parameters - n + i];

      parameter->alias = qm_pool_format (&graph->strings, "%s.%s", alias,
                                         i == 0 ? "weight" : "bias");
      if (parameter->alias == NULL)
        qm_graph_fail (graph, QM_STATUS_NO_MEMORY, "the host is out of memory");
      else if (strcmp (parameter->alias, parameter->name) == 0)
        parameter->alias = NULL;
    }
}

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
  char other[96];

  snprintf (other, sizeof other, "%s%s", layer->alias, alias);
  add_alias (builder, true, other);
  return affine;
}

static QmAffine
norm_weights (QmBuilder *builder, const Layer *layer, const char *name)
{
  QmAffine affine = qm_build_norm_weights (builder, layer->all->hidden, true,
                                           layer->prefix, name);
  char other[96];

  snprintf (other, sizeof other, "%s%s", layer->alias, name);
  add_alias (builder, true, other);
  return affine;
}

static QmValueId
attend (QmBuilder *builder, QmValueId x, const Layer *layer)
{
  static const char *const parts[3] = { "query", "key", "value" };
  static const char *const letters = "qkv";
  const QmVitLayers *all = layer->all;
  QmAttentionShape shape = { .heads = all->heads,
                             .hidden = all->hidden,
                             .dropout = all->attention_dropout };
  char names[3][96], aliases[3][96];
  QmAffine dense;
  QmValueId packed, y;

  for (int i = 0; i < 3; i++)
    {
      snprintf (names[i], sizeof names[i], "%sattention.attention.%s",
                layer->prefix, parts[i]);
      snprintf (aliases[i], sizeof aliases[i], "%sattention.%c_proj",
                layer->alias, letters[i]);
    }
  packed =
      qm_build_qkv (builder, x, all->hidden, all->qkv_bias,
                    (const char *[]){ names[0], names[1], names[2] },
                    (const char *[]){ aliases[0], aliases[1], aliases[2] });
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
  QmType type = builder->options->residual;
  double epsilon = all->epsilon;
  QmAffine before = norm_weights (builder, layer, "layernorm_before");
  QmAffine after = norm_weights (builder, layer, "layernorm_after");
  QmAffine up = linear_weights (builder, layer, all->inner, all->hidden,
                                "intermediate.dense", "mlp.fc1");
  QmAffine down = linear_weights (builder, layer, all->hidden, all->inner,
                                  "output.dense", "mlp.fc2");
  QmValueId y;

  x = qm_build_add (
      builder, x,
      attend (builder, qm_build_norm (builder, x, &before, epsilon), layer),
      type);
  y = qm_build_linear (builder, qm_build_norm (builder, x, &after, epsilon),
                       &up);
  y = qm_build_linear (builder,
                       qm_build_activation (builder, y, all->activation),
                       &down);
  return qm_build_add (builder, x,
                       qm_build_dropout (builder, y, all->hidden_dropout),
                       type);
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
embed_patches (QmBuilder *builder, const QmVitConfig *config)
{
  QmGraph *graph = builder->graph;
  int64_t side = config->patch_size, hidden = config->hidden_size;
  int64_t elements = config->channels * side * side;
  QmAffine projection;

  projection.weight =
      qm_build_parameter (builder, QM_INITIAL_NORMAL, builder->options->type, 4,
                          (int64_t[]){ hidden, config->channels, side, side },
                          "vit.embeddings.patch_embeddings.projection.weight");
  projection.weight = qm_graph_reshape (graph, projection.weight, 2,
                                        (int64_t[]){ hidden, elements });
  projection.bias =
      qm_build_weight (builder, QM_INITIAL_ZERO, hidden, 0,
                       "vit.embeddings.patch_embeddings.projection.", "bias");
  return qm_build_linear (
      builder, qm_build_patches (builder, graph->pixels, QM_NO_VALUE, side),
      &projection);
}

static QmValueId
embed (QmBuilder *builder, const QmVitConfig *config)
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
  QmValueId patches = embed_patches (builder, config);
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
  QmAffine norm, classifier;
  QmValueId x;

  if (config->classes == 1)
    qm_graph_fail (graph, QM_STATUS_UNSUPPORTED,
                   "num_labels: 1 means regression, which is not supported");
  builder->length = side * side + 1;
  graph->pixels =
      qm_graph_value (graph, QM_ROLE_INPUT, QM_TYPE_F32, 4,
                      (int64_t[]){ builder->batch, config->channels,
                                   config->image_size, config->image_size },
                      "pixel_values");
  graph->labels = qm_graph_value (graph, QM_ROLE_INPUT, QM_TYPE_I32, 2,
                                  (int64_t[]){ builder->batch, 1 }, "labels");
  x = qm_build_vit_layers (builder, embed (builder, config), &layers);
  norm = qm_build_norm_weights (builder, hidden, true, "vit.", "layernorm");
  x = qm_build_norm (builder, x, &norm, config->layer_norm_eps);
  x = qm_graph_view (graph, x, 2, (int64_t[]){ builder->batch, hidden },
                     (int64_t[]){ builder->length * hidden, 1 }, 0);
  classifier.weight = qm_build_vocab_weight (builder, config->classes, hidden,
                                             "classifier.weight", NULL);
  classifier.bias =
      qm_build_vocab_bias (builder, config->classes, "classifier.bias", NULL);
  qm_build_loss (builder, x, classifier.weight, classifier.bias, false);
}
