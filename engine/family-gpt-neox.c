/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/family.h"

#include <stdio.h>

/* Rotated elements of a head, as Transformers rounds. */
static int64_t
rotated (const QmGptNeoxConfig *config)
{
  return (int64_t) ((double) (config->hidden_size / config->heads)
                    * config->rotary_pct);
}

static QmValueId
rotate (QmBuilder *builder, QmValueId packed, const QmGptNeoxConfig *config)
{
  QmGraph *graph = builder->graph;
  int64_t width = config->hidden_size / config->heads;
  int64_t row = 3 * config->hidden_size;
  int64_t sizes[5] = { builder->batch, builder->length, 3, config->heads,
                       width };
  int64_t strides[5] = { builder->length * row, row, width, 3 * width, 1 };
  const QmRope rope = { .theta = config->rotary_base, .amplitude = 1 };
  QmValueId turned, table;
  QmNode *node;

  if (rotated (config) == 0 || graph->status != QM_OK)
    return packed;
  table = qm_build_rotary (builder, &rope, rotated (config));
  turned = qm_graph_like (graph, packed, QM_ROLE_TEMPORARY,
                          builder->options->type, "rotated");
  packed = qm_graph_view (graph, packed, 5, sizes, strides, 0);
  node = qm_graph_append (graph, QM_OP_ROTARY);
  node->attributes.rotary = rotated (config);
  node->attributes.count = 2; /* of queries, keys and values */
  node->inputs[0] = packed;
  node->inputs[1] = table;
  node->outputs[0] = qm_graph_view (graph, turned, 5, sizes, strides, 0);
  return turned;
}

static QmValueId
gpt_neox_attention (QmBuilder *builder,
                    QmValueId x,
                    const QmGptNeoxConfig *config,
                    const char *prefix)
{
  QmAttentionShape shape = { .heads = config->heads,
                             .hidden = config->hidden_size,
                             .causal = true,
                             .interleaved = true,
                             .dropout = config->attention_dropout };
  QmAffine qkv =
      qm_build_linear_weights (builder, 3 * config->hidden_size,
                               config->hidden_size, config->attention_bias,
                               prefix, "attention.query_key_value");
  QmAffine dense =
      qm_build_linear_weights (builder, config->hidden_size,
                               config->hidden_size, config->attention_bias,
                               prefix, "attention.dense");
  QmValueId packed =
      rotate (builder, qm_build_linear (builder, x, &qkv), config);

  return qm_build_dropout (
      builder,
      qm_build_linear (builder, qm_build_attention (builder, packed, &shape),
                       &dense),
      config->hidden_dropout);
}

static QmValueId
gpt_neox_mlp (QmBuilder *builder,
              QmValueId x,
              const QmGptNeoxConfig *config,
              const char *prefix)
{
  QmAffine up = qm_build_linear_weights (builder, config->intermediate_size,
                                         config->hidden_size, true, prefix,
                                         "mlp.dense_h_to_4h");
  QmAffine down = qm_build_linear_weights (builder, config->hidden_size,
                                           config->intermediate_size, true,
                                           prefix, "mlp.dense_4h_to_h");

  return qm_build_mlp (builder, x, &up, config->activation, &down,
                       config->hidden_dropout);
}

static QmValueId
gpt_neox_layer (QmBuilder *builder,
                QmValueId x,
                const QmModelConfig *model,
                int64_t index,
                const char *prefix)
{
  const QmGptNeoxConfig *config = &model->gpt_neox;
  double epsilon = config->layer_norm_eps;
  QmAffine before = qm_build_norm_weights (builder, config->hidden_size, true,
                                           prefix, "input_layernorm");
  QmAffine after = qm_build_norm_weights (builder, config->hidden_size, true,
                                          prefix, "post_attention_layernorm");
  QmValueId attended =
      gpt_neox_attention (builder, qm_build_norm (builder, x, &before, epsilon),
                          config, prefix);
  QmValueId sum, y;

  if (config->parallel_residual)
    {
      y = gpt_neox_mlp (builder, qm_build_norm (builder, x, &after, epsilon),
                        config, prefix);
      sum = qm_build_residual (builder, x, attended);
    }
  else
    {
      sum = qm_build_residual (builder, x, attended);
      y = gpt_neox_mlp (builder, qm_build_norm (builder, sum, &after, epsilon),
                        config, prefix);
    }
  return qm_build_residual (builder, sum, y);
}

void
qm_build_gpt_neox (QmBuilder *builder, const QmModelConfig *model)
{
  const QmGptNeoxConfig *config = &model->gpt_neox;
  QmGraph *graph = builder->graph;
  QmValueId embed, x;
  QmAffine norm;

  qm_build_text_inputs (builder);
  embed =
      qm_build_vocab_weight (builder, config->vocab_size, config->hidden_size,
                             "gpt_neox.embed_in.weight", NULL);
  x = qm_build_dropout (builder,
                        qm_build_embedding (builder, graph->ids, embed, -1,
                                            builder->options->residual),
                        config->hidden_dropout);
  x = qm_build_layers (builder, x, model, config->layers, "gpt_neox.layers.",
                       gpt_neox_layer);
  norm = qm_build_norm_weights (builder, config->hidden_size, true, "gpt_neox.",
                                "final_layer_norm");
  x = qm_build_norm (builder, x, &norm, config->layer_norm_eps);
  /* As files have it; Transformers 5 calls it lm_head once it is loaded. */
  qm_build_next_token (builder, x, embed, config->tie_word_embeddings,
                       "embed_out.weight", "lm_head.weight");
}
