/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/family.h"

#include <math.h>

static QmValueId
starcoder2_norm (QmBuilder *builder,
                 QmValueId x,
                 const QmStarcoder2Config *config,
                 const char *prefix,
                 const char *name)
{
  QmAffine weights =
      qm_build_norm_weights (builder, config->hidden_size, true, prefix, name);

  return qm_build_norm (builder, x, &weights, config->norm_eps);
}

static QmValueId
starcoder2_attention (QmBuilder *builder,
                      QmValueId x,
                      const QmStarcoder2Config *config,
                      const char *prefix)
{
  int64_t hidden = config->hidden_size, width = hidden / config->heads;
  bool windowed = config->window > 0 && config->window < builder->length;
  QmHeads heads = { .scale = 1 / sqrt ((double) width),
                    .causal = true,
                    .window = windowed ? config->window : 0,
                    .dropout = config->attention_dropout };
  QmAffine output;

  qm_build_packed (builder, x, config->use_bias, prefix,
                   qm_build_rotary (builder, &config->rope, width),
                   config->heads, config->key_heads, width, &heads);
  output = qm_build_linear_weights (builder, hidden, hidden, config->use_bias,
                                    prefix, "self_attn.o_proj");
  x = qm_build_linear (builder, qm_build_heads (builder, &heads), &output);
  return qm_build_dropout (builder, x, config->hidden_dropout);
}

static QmValueId
starcoder2_mlp (QmBuilder *builder,
                QmValueId x,
                const QmStarcoder2Config *config,
                const char *prefix)
{
  int64_t hidden = config->hidden_size, inner = config->intermediate_size;
  QmAffine up = qm_build_linear_weights (builder, inner, hidden,
                                         config->use_bias, prefix, "mlp.c_fc");
  QmAffine down =
      qm_build_linear_weights (builder, hidden, inner, config->use_bias, prefix,
                               "mlp.c_proj");

  return qm_build_mlp (builder, x, &up, config->activation, &down,
                       config->hidden_dropout);
}

static QmValueId
starcoder2_layer (QmBuilder *builder,
                  QmValueId x,
                  const QmModelConfig *model,
                  int64_t index,
                  const char *prefix)
{
  const QmStarcoder2Config *config = &model->starcoder2;
  QmValueId y = starcoder2_norm (builder, x, config, prefix, "input_layernorm");

  x = qm_build_residual (builder, x,
                         starcoder2_attention (builder, y, config, prefix));
  y = starcoder2_norm (builder, x, config, prefix, "post_attention_layernorm");
  return qm_build_residual (builder, x,
                            starcoder2_mlp (builder, y, config, prefix));
}

void
qm_build_starcoder2 (QmBuilder *builder, const QmModelConfig *model)
{
  const QmStarcoder2Config *config = &model->starcoder2;
  QmGraph *graph = builder->graph;
  QmValueId words, x;

  qm_build_text_inputs (builder);
  words =
      qm_build_vocab_weight (builder, config->vocab_size, config->hidden_size,
                             "model.embed_tokens.weight", NULL);
  x = qm_build_embedding (builder, graph->ids, words, config->pad_token_id,
                          builder->options->residual);
  x = qm_build_dropout (builder, x, config->embedding_dropout);
  x = qm_build_layers (builder, x, model, config->layers, "model.layers.",
                       starcoder2_layer);
  x = starcoder2_norm (builder, x, config, "model.", "norm");
  qm_build_next_token (builder, x, words, config->tie_word_embeddings,
                       "lm_head.weight", NULL);
}
