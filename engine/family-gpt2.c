/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/family.h"

#include <math.h>
#include <stdio.h>

/* A layer whose weights files have as [in, out]. */
static QmAffine
linear_weights (QmBuilder *builder,
                int64_t out,
                int64_t in,
                const char *prefix,
                const char *name)
{
  QmAffine weights = { .bias = QM_NO_VALUE };
  char text[160];

  snprintf (text, sizeof text, "%s%s", prefix, name);
  weights.weight =
      qm_build_weight (builder, QM_INITIAL_NORMAL, out, in, text, ".weight");
  qm_graph_transposed (builder->graph);
  weights.bias =
      qm_build_weight (builder, QM_INITIAL_ZERO, out, 0, text, ".bias");
  return weights;
}

static QmValueId
norm (QmBuilder *builder,
      QmValueId x,
      const QmGpt2Config *config,
      const char *prefix,
      const char *name)
{
  QmAffine weights =
      qm_build_norm_weights (builder, config->hidden_size, true, prefix, name);

  return qm_build_norm (builder, x, &weights, config->layer_norm_eps);
}

static QmValueId
positions (QmBuilder *builder)
{
  QmGraph *graph = builder->graph;
  QmValueId y = qm_graph_like (graph, graph->ids, QM_ROLE_TEMPORARY,
                               QM_TYPE_I32, "positions");
  QmNode *node = qm_graph_append (graph, QM_OP_POSITIONS);

  node->attributes.padding = -1;
  node->inputs[0] = graph->ids;
  node->outputs[0] = y;
  return y;
}

/* Part 0, 1 or 2 of queries, keys and values, as [B, H, S, D]. */
static QmValueId
part (QmBuilder *builder, QmValueId packed, const QmGpt2Config *config, int i)
{
  int64_t width = config->hidden_size / config->heads;
  int64_t row = 3 * config->hidden_size;

  return qm_graph_view (builder->graph, packed, 4,
                        (int64_t[]){ builder->batch, config->heads,
                                     builder->length, width },
                        (int64_t[]){ builder->length * row, width, row, 1 },
                        i * config->hidden_size);
}

static QmValueId
attend (QmBuilder *builder,
        QmValueId x,
        const QmGpt2Config *config,
        int64_t index,
        const char *prefix)
{
  int64_t hidden = config->hidden_size;
  QmHeads heads = { .scale = 1,
                    .causal = true,
                    .dropout = config->attention_dropout };
  QmAffine qkv =
      linear_weights (builder, 3 * hidden, hidden, prefix, "attn.c_attn");
  QmAffine dense =
      linear_weights (builder, hidden, hidden, prefix, "attn.c_proj");

  if (config->scale_attention)
    heads.scale /= sqrt ((double) (hidden / config->heads));
  if (config->scale_by_layer)
    heads.scale /= (double) (index + 1);
  x = qm_build_linear (builder, x, &qkv);
  heads.q = part (builder, x, config, 0);
  heads.k = part (builder, x, config, 1);
  heads.v = part (builder, x, config, 2);
  x = qm_build_linear (builder, qm_build_heads (builder, &heads), &dense);
  return qm_build_dropout (builder, x, config->hidden_dropout);
}

static QmValueId
feed_forward (QmBuilder *builder,
              QmValueId x,
              const QmGpt2Config *config,
              const char *prefix)
{
  QmAffine up = linear_weights (builder, config->intermediate_size,
                                config->hidden_size, prefix, "mlp.c_fc");
  QmAffine down =
      linear_weights (builder, config->hidden_size, config->intermediate_size,
                      prefix, "mlp.c_proj");

  x = qm_build_activation (builder, qm_build_linear (builder, x, &up),
                           config->activation);
  return qm_build_dropout (builder, qm_build_linear (builder, x, &down),
                           config->hidden_dropout);
}

static QmValueId
layer (QmBuilder *builder,
       QmValueId x,
       const QmModelConfig *model,
       int64_t index,
       const char *prefix)
{
  const QmGpt2Config *config = &model->gpt2;
  QmType type = builder->options->residual;
  QmValueId y = norm (builder, x, config, prefix, "ln_1");

  x = qm_build_add (builder, x, attend (builder, y, config, index, prefix),
                    type);
  y = norm (builder, x, config, prefix, "ln_2");
  return qm_build_add (builder, x, feed_forward (builder, y, config, prefix),
                       type);
}

void
qm_build_gpt2 (QmBuilder *builder, const QmModelConfig *model)
{
  const QmGpt2Config *config = &model->gpt2;
  QmGraph *graph = builder->graph;
  QmType type = builder->options->residual;
  QmValueId words, places, x;

  qm_build_text_inputs (builder);
  words =
      qm_build_vocab_weight (builder, config->vocab_size, config->hidden_size,
                             "transformer.wte.weight", NULL);
  places = qm_build_weight (builder, QM_INITIAL_NORMAL, config->max_positions,
                            config->hidden_size, "transformer.", "wpe.weight");
  x = qm_build_embedding (builder, graph->ids, words, -1, type);
  x = qm_build_add (builder, x,
                    qm_build_embedding (builder, positions (builder), places,
                                        -1, type),
                    type);
  x = qm_build_dropout (builder, x, config->embedding_dropout);
  x = qm_build_layers (builder, x, model, config->layers, "transformer.h.",
                       layer);
  x = norm (builder, x, config, "transformer.", "ln_f");
  qm_build_next_token (builder, x, words, config->tie_word_embeddings,
                       "lm_head.weight", NULL);
}
