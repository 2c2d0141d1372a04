/* SPDX-License-Identifier: Apache-2.0 */

#include "data/family.h"
#include "engine/family.h"

#include <math.h>
#include <stdio.h>

static QmValueId
modernbert_norm (QmBuilder *builder,
                 QmValueId x,
                 const QmModernBertConfig *config,
                 const char *prefix,
                 const char *name,
                 QmType type)
{
  QmAffine weights = qm_build_norm_weights (builder, config->hidden_size,
                                            config->norm_bias, prefix, name);

  return qm_build_norm_as (builder, x, &weights, config->norm_eps, type);
}

static QmValueId
modernbert_attention (QmBuilder *builder,
                      QmValueId x,
                      const QmModernBertConfig *config,
                      int64_t index,
                      const char *prefix)
{
  bool windowed = qm_layers_have (config->windowed, index);
  int64_t hidden = config->hidden_size, n = config->heads, width = hidden / n;
  /* Half of the window on each side, and the token itself. */
  int64_t reach = config->window / 2 + 1;
  QmHeads heads = { .scale = 1 / sqrt ((double) width),
                    .window = windowed && reach < builder->length ? reach : 0,
                    .dropout = config->attention_dropout };
  QmAffine qkv =
      qm_build_linear_weights (builder, 3 * hidden, hidden,
                               config->attention_bias, prefix, "attn.Wqkv");
  QmAffine output =
      qm_build_linear_weights (builder, hidden, hidden, config->attention_bias,
                               prefix, "attn.Wo");
  QmValueId table =
      qm_build_rotary (builder, windowed ? &config->local_rope : &config->rope,
                       width);

  x = qm_build_linear (builder, x, &qkv);
  qm_build_packed_heads (builder, x, table, n, n, width, &heads);
  x = qm_build_linear (builder, qm_build_heads (builder, &heads), &output);
  return qm_build_dropout (builder, x, config->attention_dropout);
}

static QmValueId
modernbert_mlp (QmBuilder *builder,
                QmValueId x,
                const QmModernBertConfig *config,
                const char *prefix)
{
  int64_t hidden = config->hidden_size, inner = config->intermediate_size;
  QmAffine up = qm_build_linear_weights (builder, 2 * inner, hidden,
                                         config->mlp_bias, prefix, "mlp.Wi");
  QmAffine down = qm_build_linear_weights (builder, hidden, inner,
                                           config->mlp_bias, prefix, "mlp.Wo");

  x = qm_build_linear (builder, x, &up);
  x = qm_build_gate (builder, x, config->activation);
  x = qm_build_dropout (builder, x, config->mlp_dropout);
  return qm_build_linear (builder, x, &down);
}

/* The first layer has no norm before its attention: that of the embeddings is
 * just before it. */
static QmValueId
modernbert_layer (QmBuilder *builder,
                  QmValueId x,
                  const QmModelConfig *model,
                  int64_t index,
                  const char *prefix)
{
  const QmModernBertConfig *config = &model->modernbert;
  QmType product = builder->options->type;
  QmValueId y = index == 0 ? qm_build_cast (builder, x, product)
                           : modernbert_norm (builder, x, config, prefix,
                                              "attn_norm", product);

  x = qm_build_residual (
      builder, x, modernbert_attention (builder, y, config, index, prefix));
  y = modernbert_norm (builder, x, config, prefix, "mlp_norm", product);
  return qm_build_residual (builder, x,
                            modernbert_mlp (builder, y, config, prefix));
}

static void
head (QmBuilder *builder,
      QmValueId x,
      const QmModernBertConfig *config,
      QmValueId words)
{
  int64_t hidden = config->hidden_size;
  QmAffine dense =
      qm_build_linear_weights (builder, hidden, hidden, config->head_bias,
                               "head.", "dense");
  QmValueId bias = QM_NO_VALUE;

  x = qm_build_activation (builder, qm_build_linear (builder, x, &dense),
                           config->head_activation);
  x = modernbert_norm (builder, x, config, "head.", "norm",
                       builder->options->type);
  if (!config->tie_word_embeddings)
    words = qm_build_vocab_weight (builder, config->vocab_size, hidden,
                                   "decoder.weight", NULL);
  if (config->decoder_bias)
    bias =
        qm_build_vocab_bias (builder, config->vocab_size, "decoder.bias", NULL);
  qm_build_loss (builder, x, words, bias, false);
}

void
qm_build_modernbert (QmBuilder *builder, const QmModelConfig *model)
{
  const QmModernBertConfig *config = &model->modernbert;
  QmGraph *graph = builder->graph;
  QmType type = builder->options->residual;
  QmValueId words, x;

  qm_build_text_inputs (builder);
  words =
      qm_build_vocab_weight (builder, config->vocab_size, config->hidden_size,
                             "model.embeddings.tok_embeddings.weight", NULL);
  x = qm_build_embedding (builder, graph->ids, words, config->pad_token_id,
                          type);
  x = modernbert_norm (builder, x, config, "model.embeddings.", "norm", type);
  x = qm_build_dropout (builder, x, config->embedding_dropout);
  x = qm_build_layers (builder, x, model, config->layers, "model.layers.",
                       modernbert_layer);
  x = modernbert_norm (builder, x, config, "model.", "final_norm",
                       builder->options->type);
  head (builder, x, config, words);
}
