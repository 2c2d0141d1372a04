/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/family.h"

#include <stdio.h>

/* The names in which BERT and RoBERTa differ. */
typedef struct Names
{
  const char *model;
  const char *dense, *norm; /* of the head */
  const char *bias;         /* of the head, tied or not */
  const char *decoder, *decoder_bias;
} Names;

static const Names bert_names = {
  .model = "bert.",
  .dense = "cls.predictions.transform.dense",
  .norm = "cls.predictions.transform.LayerNorm",
  .bias = "cls.predictions.bias",
  .decoder = "cls.predictions.decoder.weight",
  .decoder_bias = "cls.predictions.decoder.bias",
};

static const Names roberta_names = {
  .model = "roberta.",
  .dense = "lm_head.dense",
  .norm = "lm_head.layer_norm",
  .bias = "lm_head.bias",
  .decoder = "lm_head.decoder.weight",
  .decoder_bias = "lm_head.decoder.bias",
};

/* Returns the sum of the embeddings; *words is the table of the words. */
static QmValueId
bert_embeddings (QmBuilder *builder,
                 const QmBertConfig *config,
                 bool roberta,
                 const char *prefix,
                 QmValueId *words)
{
  QmGraph *graph = builder->graph;
  QmType type = builder->options->residual;
  int64_t padding = config->pad_token_id, hidden = config->hidden_size;
  char name[96];
  QmValueId places, types, x;

  snprintf (name, sizeof name, "%sword_embeddings.weight", prefix);
  *words =
      qm_build_vocab_weight (builder, config->vocab_size, hidden, name, NULL);
  places = qm_build_weight (builder, QM_INITIAL_NORMAL, config->max_positions,
                            hidden, prefix, "position_embeddings.weight");
  types = qm_build_weight (builder, QM_INITIAL_NORMAL, config->type_vocab_size,
                           hidden, prefix, "token_type_embeddings.weight");
  x = qm_build_embedding (builder, graph->ids, *words, padding, type);
  x = qm_build_residual (
      builder, x, qm_build_embedding (builder, graph->types, types, -1, type));
  padding = roberta ? padding : -1;
  return qm_build_residual (
      builder, x,
      qm_build_embedding (builder, qm_build_positions (builder, padding),
                          places, padding, type));
}

static QmValueId
bert_attention (QmBuilder *builder,
                QmValueId x,
                const QmBertConfig *config,
                const char *prefix)
{
  const QmNamesOf names = { prefix,
                            { "attention.self.query", "attention.self.key",
                              "attention.self.value" } };
  QmAttentionShape shape = { .heads = config->heads,
                             .hidden = config->hidden_size,
                             .dropout = config->attention_dropout };
  QmAffine dense;
  QmValueId y;

  y = qm_build_qkv (builder, x, config->hidden_size, true, &names, NULL);
  dense = qm_build_linear_weights (builder, config->hidden_size,
                                   config->hidden_size, true, prefix,
                                   "attention.output.dense");
  y = qm_build_linear (builder, qm_build_attention (builder, y, &shape),
                       &dense);
  return qm_build_dropout (builder, y, config->hidden_dropout);
}

static QmValueId
bert_layer (QmBuilder *builder,
            QmValueId x,
            const QmBertConfig *config,
            const char *prefix)
{
  QmType type = builder->options->residual;
  QmType product = builder->options->type;
  int64_t hidden = config->hidden_size, inner = config->intermediate_size;
  QmValueId y = bert_attention (builder, qm_build_cast (builder, x, product),
                                config, prefix);
  QmAffine norm = qm_build_norm_weights (builder, hidden, true, prefix,
                                         "attention.output.LayerNorm");
  QmAffine up = qm_build_linear_weights (builder, inner, hidden, true, prefix,
                                         "intermediate.dense");
  QmAffine down = qm_build_linear_weights (builder, hidden, inner, true, prefix,
                                           "output.dense");
  QmAffine last =
      qm_build_norm_weights (builder, hidden, true, prefix, "output.LayerNorm");

  x = qm_build_norm_as (builder, qm_build_residual (builder, x, y), &norm,
                        config->layer_norm_eps, type);
  y = qm_build_mlp (builder, qm_build_cast (builder, x, product), &up,
                    config->activation, &down, config->hidden_dropout);
  return qm_build_norm_as (builder, qm_build_residual (builder, x, y), &last,
                           config->layer_norm_eps, type);
}

static void
head (QmBuilder *builder,
      QmValueId x,
      const QmBertConfig *config,
      bool roberta,
      QmValueId words)
{
  const Names *names = roberta ? &roberta_names : &bert_names;
  int64_t hidden = config->hidden_size, vocab = config->vocab_size;
  bool tied = config->tie_word_embeddings;
  QmAffine dense =
      qm_build_linear_weights (builder, hidden, hidden, true, "", names->dense);
  QmAffine norm =
      qm_build_norm_weights (builder, hidden, true, "", names->norm);
  QmValueId bias =
      qm_build_vocab_bias (builder, vocab,
                           tied ? names->bias : names->decoder_bias,
                           tied ? names->decoder_bias : names->bias);

  /* Transformers 4 reads the one name and 5 the other. */
  if (!tied)
    qm_graph_both_names (builder->graph);
  if (!tied)
    words =
        qm_build_vocab_weight (builder, vocab, hidden, names->decoder, NULL);
  x = qm_build_cast (builder, x, builder->options->type);
  /* RoBERTa's head has its own function, whatever the layers have. */
  x = qm_build_activation (builder, qm_build_linear (builder, x, &dense),
                           roberta ? QM_ACTIVATION_GELU : config->activation);
  x = qm_build_norm (builder, x, &norm, config->layer_norm_eps);
  qm_build_loss (builder, x, words, bias, false);
}

void
qm_build_bert (QmBuilder *builder, const QmModelConfig *model)
{
  const QmBertConfig *config = &model->bert;
  bool roberta = model->family == QM_FAMILY_ROBERTA;
  const Names *names = roberta ? &roberta_names : &bert_names;
  QmGraph *graph = builder->graph;
  char prefix[64];
  QmAffine norm;
  QmValueId words, x;

  qm_build_text_inputs (builder);
  graph->types = qm_graph_like (graph, graph->ids, QM_ROLE_INPUT, QM_TYPE_I32,
                                "token_type_ids");
  snprintf (prefix, sizeof prefix, "%sembeddings.", names->model);
  x = bert_embeddings (builder, config, roberta, prefix, &words);
  norm = qm_build_norm_weights (builder, config->hidden_size, true, prefix,
                                "LayerNorm");
  x = qm_build_dropout (builder,
                        qm_build_norm_as (builder, x, &norm,
                                          config->layer_norm_eps,
                                          builder->options->residual),
                        config->hidden_dropout);
  for (int64_t i = 0; i < config->layers && graph->status == QM_OK; i++)
    {
      snprintf (prefix, sizeof prefix, "%sencoder.layer.%lld.", names->model,
                (long long) i);
      qm_graph_begin_block (graph);
      x = bert_layer (builder, x, config, prefix);
      qm_graph_end_block (graph, x);
    }
  head (builder, x, config, roberta, words);
}
