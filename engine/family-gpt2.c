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
gpt2_norm (QmBuilder *builder,
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
gpt2_attention (QmBuilder *builder,
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
  qm_build_packed_heads (builder, x, QM_NO_VALUE, config->heads, config->heads,
                         hidden / config->heads, &heads);
  x = qm_build_linear (builder, qm_build_heads (builder, &heads), &dense);
  return qm_build_dropout (builder, x, config->hidden_dropout);
}

static QmValueId
gpt2_mlp (QmBuilder *builder,
          QmValueId x,
          const QmGpt2Config *config,
          const char *prefix)
{
  QmAffine up = linear_weights (builder, config->intermediate_size,
                                config->hidden_size, prefix, "mlp.c_fc");
  QmAffine down =
      linear_weights (builder, config->hidden_size, config->intermediate_size,
                      prefix, "mlp.c_proj");

  return qm_build_mlp (builder, x, &up, config->activation, &down,
                       config->hidden_dropout);
}

static QmValueId
gpt2_layer (QmBuilder *builder,
            QmValueId x,
            const QmModelConfig *model,
            int64_t index,
            const char *prefix)
{
  const QmGpt2Config *config = &model->gpt2;
  QmValueId y = gpt2_norm (builder, x, config, prefix, "ln_1");

  x = qm_build_residual (builder, x,
                         gpt2_attention (builder, y, config, index, prefix));
  y = gpt2_norm (builder, x, config, prefix, "ln_2");
  return qm_build_residual (builder, x, gpt2_mlp (builder, y, config, prefix));
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
  x = qm_build_residual (builder, x,
                         qm_build_embedding (builder,
                                             qm_build_positions (builder, -1),
                                             places, -1, type));
  x = qm_build_dropout (builder, x, config->embedding_dropout);
  x = qm_build_layers (builder, x, model, config->layers, "transformer.h.",
                       gpt2_layer);
  x = gpt2_norm (builder, x, config, "transformer.", "ln_f");
  qm_build_next_token (builder, x, words, config->tie_word_embeddings,
                       "lm_head.weight", NULL);
}
