/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/family.h"

#include <math.h>

/* The share of tokens that are hidden in training, as ESM has it: 80 % of the
 * 15 % that are to be told. */
#define HIDDEN_SHARE (0.15 * 0.8)

static QmValueId
esm_norm (QmBuilder *builder,
          QmValueId x,
          const QmEsmConfig *config,
          const char *prefix,
          const char *name,
          QmType type)
{
  QmAffine weights =
      qm_build_norm_weights (builder, config->hidden_size, true, prefix, name);

  return qm_build_norm_as (builder, x, &weights, config->layer_norm_eps, type);
}

static QmValueId
esm_embeddings (QmBuilder *builder, const QmEsmConfig *config, QmValueId words)
{
  QmGraph *graph = builder->graph;
  QmType type = builder->options->residual;
  QmValueId x = qm_build_embedding (builder, graph->ids, words,
                                    config->pad_token_id, type);

  if (config->token_dropout)
    {
      QmValueId y = qm_graph_like (graph, x, QM_ROLE_TEMPORARY, type,
                                   "without hidden tokens");
      QmNode *node = qm_graph_append (graph, QM_OP_TOKEN_DROPOUT);

      node->attributes.padding = config->mask_token_id;
      node->attributes.value = 1 - HIDDEN_SHARE;
      node->inputs[0] = x;
      node->inputs[1] = graph->ids;
      node->outputs[0] = y;
      x = y;
    }
  if (config->norm_embeddings)
    x = esm_norm (builder, x, config, "esm.embeddings.", "layer_norm", type);
  return x;
}

static QmValueId
esm_attention (QmBuilder *builder,
               QmValueId x,
               const QmEsmConfig *config,
               const char *prefix)
{
  const QmNamesOf names = { prefix,
                            { "attention.self.query", "attention.self.key",
                              "attention.self.value" } };
  const QmRope rope = { .theta = config->rope_theta, .amplitude = 1 };
  int64_t hidden = config->hidden_size, n = config->heads, width = hidden / n;
  QmHeads heads = { .scale = 1 / sqrt ((double) width),
                    .dropout = config->attention_dropout };
  QmAffine dense;

  x = qm_build_qkv (builder, x, hidden, true, &names, NULL);
  qm_build_packed_heads (builder, x, qm_build_rotary (builder, &rope, width), n,
                         n, width, &heads);
  dense = qm_build_linear_weights (builder, hidden, hidden, true, prefix,
                                   "attention.output.dense");
  x = qm_build_linear (builder, qm_build_heads (builder, &heads), &dense);
  return qm_build_dropout (builder, x, config->hidden_dropout);
}

static QmValueId
esm_mlp (QmBuilder *builder,
         QmValueId x,
         const QmEsmConfig *config,
         const char *prefix)
{
  int64_t hidden = config->hidden_size, inner = config->intermediate_size;
  QmAffine up = qm_build_linear_weights (builder, inner, hidden, true, prefix,
                                         "intermediate.dense");
  QmAffine down = qm_build_linear_weights (builder, hidden, inner, true, prefix,
                                           "output.dense");

  return qm_build_mlp (builder, x, &up, QM_ACTIVATION_GELU, &down,
                       config->hidden_dropout);
}

static QmValueId
esm_layer (QmBuilder *builder,
           QmValueId x,
           const QmModelConfig *model,
           int64_t index,
           const char *prefix)
{
  const QmEsmConfig *config = &model->esm;
  QmType product = builder->options->type;
  QmValueId y =
      esm_norm (builder, x, config, prefix, "attention.LayerNorm", product);

  x = qm_build_residual (builder, x,
                         esm_attention (builder, y, config, prefix));
  y = esm_norm (builder, x, config, prefix, "LayerNorm", product);
  return qm_build_residual (builder, x, esm_mlp (builder, y, config, prefix));
}

static void
head (QmBuilder *builder,
      QmValueId x,
      const QmEsmConfig *config,
      QmValueId words)
{
  int64_t hidden = config->hidden_size, vocab = config->vocab_size;
  QmAffine dense = qm_build_linear_weights (builder, hidden, hidden, true,
                                            "lm_head.", "dense");
  QmValueId bias = qm_build_vocab_bias (builder, vocab, "lm_head.bias", NULL);

  if (!config->tie_word_embeddings)
    words = qm_build_vocab_weight (builder, vocab, hidden,
                                   "lm_head.decoder.weight", NULL);
  x = qm_build_activation (builder, qm_build_linear (builder, x, &dense),
                           QM_ACTIVATION_GELU);
  x = esm_norm (builder, x, config, "lm_head.", "layer_norm",
                builder->options->type);
  qm_build_loss (builder, x, words, bias, false);
}

void
qm_build_esm (QmBuilder *builder, const QmModelConfig *model)
{
  const QmEsmConfig *config = &model->esm;
  QmValueId words, x;

  qm_build_text_inputs (builder);
  words =
      qm_build_vocab_weight (builder, config->vocab_size, config->hidden_size,
                             "esm.embeddings.word_embeddings.weight", NULL);
  x = esm_embeddings (builder, config, words);
  x = qm_build_layers (builder, x, model, config->layers, "esm.encoder.layer.",
                       esm_layer);
  x = esm_norm (builder, x, config, "esm.encoder.", "emb_layer_norm_after",
                builder->options->type);
  head (builder, x, config, words);
}
