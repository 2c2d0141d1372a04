/* SPDX-License-Identifier: Apache-2.0 */

/* Decoders that are built like Llama. */

#include "data/family.h"
#include "engine/family.h"

#include <math.h>
#include <stdio.h>

static QmValueId
filled (QmBuilder *builder, int64_t size, double value, const char *name)
{
  QmValueId y = qm_graph_value (builder->graph, QM_ROLE_TEMPORARY, QM_TYPE_F32,
                                1, &size, "%s", name);
  QmNode *node = qm_graph_append (builder->graph, QM_OP_FILL);

  node->attributes.value = value;
  node->outputs[0] = y;
  return y;
}

/* The weights of a norm.  Those of Gemma are kept without the 1 that is added
 * to them, so that weight decay draws to that. */
static QmAffine
norm_weights (QmBuilder *builder,
              const QmLlamaConfig *config,
              int64_t size,
              const char *prefix,
              const char *name)
{
  QmAffine weights = { .bias = QM_NO_VALUE, .rms = true };
  char text[160];

  snprintf (text, sizeof text, "%s%s.weight", prefix, name);
  weights.weight =
      qm_build_parameter (builder,
                          config->unit_norms ? QM_INITIAL_ZERO : QM_INITIAL_ONE,
                          QM_TYPE_F32, 1, &size, text);
  if (config->unit_norms)
    weights.weight =
        qm_build_add (builder, weights.weight,
                      filled (builder, size, 1, "ones"), QM_TYPE_F32);
  return weights;
}

static QmValueId
llama_norm (QmBuilder *builder,
            QmValueId x,
            const QmLlamaConfig *config,
            const char *prefix,
            const char *name)
{
  QmAffine weights =
      norm_weights (builder, config, config->hidden_size, prefix, name);

  return qm_build_norm (builder, x, &weights, config->norm_eps);
}

/* Queries or keys of a product of their own, normed, then turned. */
static QmValueId
build_normed (QmBuilder *builder,
              QmValueId x,
              const QmLlamaConfig *config,
              const char *prefix,
              const char *name,
              QmValueId table,
              int64_t heads)
{
  QmGraph *graph = builder->graph;
  int64_t width = config->head_size, row = heads * width;
  int64_t size =
      config->query_norms == QM_QUERY_NORMS_HEAD ? width : heads * width;
  char text[96];
  QmAffine linear, weights;

  snprintf (text, sizeof text, "self_attn.%s_proj", name);
  linear = qm_build_linear_weights (builder, row, config->hidden_size,
                                    config->attention_bias, prefix, text);
  snprintf (text, sizeof text, "self_attn.%s_norm", name);
  weights = norm_weights (builder, config, size, prefix, text);
  x = qm_build_linear (builder, x, &linear);
  x = qm_graph_reshape (
      graph, x, 2,
      (int64_t[]){ builder->batch * builder->length * (row / size), size });
  x = qm_build_norm (builder, x, &weights, config->norm_eps);
  x = qm_build_rotated (builder, x, table, heads, heads, width);
  return qm_build_heads_of (builder, x, row, 0, heads, width);
}

static QmValueId
llama_attention (QmBuilder *builder,
                 QmValueId x,
                 const QmLlamaConfig *config,
                 int64_t index,
                 const char *prefix)
{
  bool windowed = qm_layers_have (config->windowed, index);
  int64_t width = config->head_size;
  QmHeads heads = { .scale = 1 / sqrt (config->query_scalar),
                    .causal = true,
                    .window = windowed && config->window < builder->length
                                  ? config->window
                                  : 0,
                    .dropout = config->attention_dropout };
  QmValueId table = QM_NO_VALUE;
  QmAffine linear;

  if (!qm_layers_have (config->unrotated, index))
    table =
        qm_build_rotary (builder,
                         windowed ? &config->local_rope : &config->rope, width);
  if (config->query_norms == QM_QUERY_NORMS_NONE)
    qm_build_packed (builder, x, config->attention_bias, prefix, table,
                     config->heads, config->key_heads, width, &heads);
  else
    {
      heads.q =
          build_normed (builder, x, config, prefix, "q", table, config->heads);
      heads.k = build_normed (builder, x, config, prefix, "k", table,
                              config->key_heads);
      linear =
          qm_build_linear_weights (builder, config->key_heads * width,
                                   config->hidden_size, config->attention_bias,
                                   prefix, "self_attn.v_proj");
      heads.v =
          qm_build_heads_of (builder, qm_build_linear (builder, x, &linear),
                             config->key_heads * width, 0, config->key_heads,
                             width);
    }
  linear = qm_build_linear_weights (builder, config->hidden_size,
                                    config->heads * width, config->output_bias,
                                    prefix, "self_attn.o_proj");
  return qm_build_linear (builder, qm_build_heads (builder, &heads), &linear);
}

static QmValueId
llama_mlp (QmBuilder *builder,
           QmValueId x,
           const QmLlamaConfig *config,
           const char *prefix)
{
  int64_t inner = config->intermediate_size;
  char gate[96], up[96];
  QmStackPart parts[2] = { { gate, NULL, inner }, { up, NULL, inner } };
  QmAffine down;

  snprintf (gate, sizeof gate, "%smlp.gate_proj", prefix);
  snprintf (up, sizeof up, "%smlp.up_proj", prefix);
  x = qm_build_stack (builder, x, config->mlp_bias, parts, 2, "gate, up");
  down = qm_build_linear_weights (builder, config->hidden_size, inner,
                                  config->mlp_bias, prefix, "mlp.down_proj");
  x = qm_build_gate (builder, x, config->activation);
  return qm_build_linear (builder, x, &down);
}

/* Names are those of files on the hub, of which Mixtral's are the oldest. */
static QmValueId
experts (QmBuilder *builder,
         QmValueId x,
         const QmModelConfig *model,
         const char *prefix)
{
  const QmLlamaConfig *config = &model->llama;
  bool mixtral = model->family == QM_FAMILY_MIXTRAL;
  const char *part = mixtral ? "block_sparse_moe" : "mlp";
  char router[128], alias[128], own[128], packed[128];
  QmExperts shape = { .count = config->experts,
                      .per_token = config->experts_per_token,
                      .hidden = config->hidden_size,
                      .inner = config->expert_size,
                      .normalized = config->normalized_experts,
                      .activation = config->activation,
                      .router = router,
                      .alias = mixtral ? alias : NULL,
                      .experts = own,
                      .names = { mixtral ? "w1" : "gate_proj",
                                 mixtral ? "w3" : "up_proj",
                                 mixtral ? "w2" : "down_proj" },
                      .packed = packed };

  snprintf (router, sizeof router, "%s%s.gate.weight", prefix, part);
  snprintf (alias, sizeof alias, "%smlp.gate.weight", prefix);
  snprintf (own, sizeof own, "%s%s.experts", prefix, part);
  snprintf (packed, sizeof packed, "%smlp.experts", prefix);
  return qm_build_experts (builder, x, &shape);
}

static bool
has_experts (const QmLlamaConfig *config, int64_t layer)
{
  return config->experts > 0 && !qm_layers_have (config->dense, layer);
}

/* x + what one half of a layer makes of it. */
typedef struct Half
{
  const char *before, *after; /* names of norms; NULL: there is none */
} Half;

static QmValueId
enter (QmBuilder *builder,
       QmValueId x,
       const QmLlamaConfig *config,
       const char *prefix,
       const Half *half)
{
  return half->before != NULL
             ? llama_norm (builder, x, config, prefix, half->before)
             : qm_build_cast (builder, x, builder->options->type);
}

static QmValueId
leave (QmBuilder *builder,
       QmValueId x,
       QmValueId y,
       const QmLlamaConfig *config,
       const char *prefix,
       const Half *half)
{
  if (half->after != NULL)
    y = llama_norm (builder, y, config, prefix, half->after);
  return qm_build_residual (builder, x, y);
}

static QmValueId
llama_layer (QmBuilder *builder,
             QmValueId x,
             const QmModelConfig *model,
             int64_t index,
             const char *prefix)
{
  const QmLlamaConfig *config = &model->llama;
  static const Half halves[][2] = {
    [QM_NORMS_BEFORE] = { { "input_layernorm", NULL },
                          { "post_attention_layernorm", NULL } },
    [QM_NORMS_AFTER] = { { NULL, "post_attention_layernorm" },
                         { NULL, "post_feedforward_layernorm" } },
    [QM_NORMS_AROUND] = { { "input_layernorm", "post_attention_layernorm" },
                          { "pre_feedforward_layernorm",
                            "post_feedforward_layernorm" } },
  };
  const Half *half = halves[config->norms];
  QmValueId y = enter (builder, x, config, prefix, &half[0]);

  y = llama_attention (builder, y, config, index, prefix);
  x = leave (builder, x, y, config, prefix, &half[0]);
  y = enter (builder, x, config, prefix, &half[1]);
  y = has_experts (config, index) ? experts (builder, y, model, prefix)
                                  : llama_mlp (builder, y, config, prefix);
  return leave (builder, x, y, config, prefix, &half[1]);
}

static QmValueId
scale_embeddings (QmBuilder *builder, QmValueId x, int64_t hidden)
{
  QmValueId factor = filled (builder, hidden, sqrt ((double) hidden), "scale");
  QmValueId y = qm_graph_like (builder->graph, x, QM_ROLE_TEMPORARY,
                               builder->options->residual, "scaled");
  QmNode *node = qm_graph_append (builder->graph, QM_OP_LAYER_SCALE);

  node->attributes.height = 1;
  node->attributes.width = builder->length;
  node->inputs[0] = x;
  node->inputs[1] = factor;
  node->outputs[0] = y;
  return y;
}

/* Before the layers, where their load counts. */
static void
begin_loads (QmBuilder *builder, const QmLlamaConfig *config)
{
  int64_t layers = 0;

  for (int64_t i = 0; i < config->layers; i++)
    layers += has_experts (config, i);
  if (config->balance > 0 && layers > 0)
    qm_build_loads (builder, layers, config->experts);
}

void
qm_build_llama (QmBuilder *builder, const QmModelConfig *model)
{
  const QmLlamaConfig *config = &model->llama;
  QmGraph *graph = builder->graph;
  QmValueId words, x;

  qm_build_text_inputs (builder);
  words =
      qm_build_vocab_weight (builder, config->vocab_size, config->hidden_size,
                             "model.embed_tokens.weight", NULL);
  x = qm_build_embedding (builder, graph->ids, words, config->pad_token_id,
                          builder->options->residual);
  if (config->scaled_embeddings)
    x = scale_embeddings (builder, x, config->hidden_size);
  begin_loads (builder, config);
  x = qm_build_layers (builder, x, model, config->layers, "model.layers.",
                       llama_layer);
  qm_build_balance (builder, config->balance);
  builder->logit_cap = config->logit_cap;
  x = llama_norm (builder, x, config, "model.", "norm");
  qm_build_next_token (builder, x, words, config->tie_word_embeddings,
                       "lm_head.weight", NULL);
}
