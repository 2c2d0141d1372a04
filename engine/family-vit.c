/* SPDX-License-Identifier: Apache-2.0 */

/* Files on the hub have the names that Transformers had before its version 5;
 * those of version 5 are the aliases. */

#include "engine/family.h"

#include <stdio.h>

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
    }
}

static QmAffine
linear_weights (QmBuilder *builder,
                int64_t out,
                int64_t in,
                int64_t index,
                const char *name,
                const char *alias)
{
  char prefix[64], other[96];
  QmAffine affine;

  snprintf (prefix, sizeof prefix, "vit.encoder.layer.%lld.",
            (long long) index);
  snprintf (other, sizeof other, "vit.layers.%lld.%s", (long long) index,
            alias);
  affine = qm_build_linear_weights (builder, out, in, true, prefix, name);
  add_alias (builder, true, other);
  return affine;
}

static QmAffine
norm_weights (QmBuilder *builder, int64_t size, int64_t index, const char *name)
{
  char prefix[64], other[96];
  QmAffine affine;

  snprintf (prefix, sizeof prefix, "vit.encoder.layer.%lld.",
            (long long) index);
  snprintf (other, sizeof other, "vit.layers.%lld.%s", (long long) index, name);
  affine = qm_build_norm_weights (builder, size, true, prefix, name);
  add_alias (builder, true, other);
  return affine;
}

static QmValueId
attend (QmBuilder *builder,
        QmValueId x,
        const QmVitConfig *config,
        int64_t index)
{
  static const char *const parts[3] = { "query", "key", "value" };
  static const char *const letters = "qkv";
  QmAttentionShape shape = { .heads = config->heads,
                             .hidden = config->hidden_size,
                             .dropout = config->attention_dropout };
  char names[3][96], aliases[3][96];
  QmAffine dense;
  QmValueId packed, y;

  for (int i = 0; i < 3; i++)
    {
      snprintf (names[i], sizeof names[i],
                "vit.encoder.layer.%lld.attention.attention.%s",
                (long long) index, parts[i]);
      snprintf (aliases[i], sizeof aliases[i],
                "vit.layers.%lld.attention.%c_proj", (long long) index,
                letters[i]);
    }
  packed =
      qm_build_qkv (builder, x, config->hidden_size, config->qkv_bias,
                    (const char *[]){ names[0], names[1], names[2] },
                    (const char *[]){ aliases[0], aliases[1], aliases[2] });
  dense = linear_weights (builder, config->hidden_size, config->hidden_size,
                          index, "attention.output.dense", "attention.o_proj");
  y = qm_build_linear (builder, qm_build_attention (builder, packed, &shape),
                       &dense);
  return qm_build_dropout (builder, y, config->hidden_dropout);
}

static QmValueId
layer (QmBuilder *builder,
       QmValueId x,
       const QmVitConfig *config,
       int64_t index)
{
  QmType type = builder->options->residual;
  int64_t hidden = config->hidden_size, inner = config->intermediate_size;
  double epsilon = config->layer_norm_eps;
  QmAffine before = norm_weights (builder, hidden, index, "layernorm_before");
  QmAffine after = norm_weights (builder, hidden, index, "layernorm_after");
  QmAffine up = linear_weights (builder, inner, hidden, index,
                                "intermediate.dense", "mlp.fc1");
  QmAffine down =
      linear_weights (builder, hidden, inner, index, "output.dense", "mlp.fc2");
  QmValueId y;

  x = qm_build_add (builder, x,
                    attend (builder,
                            qm_build_norm (builder, x, &before, epsilon),
                            config, index),
                    type);
  y = qm_build_linear (builder, qm_build_norm (builder, x, &after, epsilon),
                       &up);
  y = qm_build_linear (builder,
                       qm_build_activation (builder, y, config->activation),
                       &down);
  return qm_build_add (builder, x,
                       qm_build_dropout (builder, y, config->hidden_dropout),
                       type);
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
  return qm_build_linear (builder,
                          qm_build_patches (builder, graph->pixels, side),
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
  x = embed (builder, config);
  for (int64_t i = 0; i < config->layers && graph->status == QM_OK; i++)
    {
      qm_graph_begin_block (graph);
      x = layer (builder, x, config, i);
      qm_graph_end_block (graph, x);
    }
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
