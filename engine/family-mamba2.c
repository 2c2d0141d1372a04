/* SPDX-License-Identifier: Apache-2.0 */

/* In which type what is computed, and what residual_in_fp32 changes (nothing),
 * is as family-mamba.c says.  One product makes the gate, x, B, C and the time
 * steps of all heads; x, B and C go through the convolution together. */

#include "engine/family.h"

#include <math.h>
#include <stdio.h>

typedef struct Mixer2
{
  QmAffine in, out, convolution, norm;
  QmValueId rates, skip,
      steps; /* log of -A, D, and what steps are shifted by */
} Mixer2;

static QmValueId
declare_numbers (QmBuilder *builder,
                 QmInitial initial,
                 int64_t size,
                 const char *prefix,
                 const char *name)
{
  char text[128];

  snprintf (text, sizeof text, "%s%s", prefix, name);
  return qm_build_parameter (builder, initial, QM_TYPE_F32, 1, &size, text);
}

static QmAffine
declare_norm (QmBuilder *builder,
              int64_t size,
              const char *prefix,
              const char *name)
{
  return (QmAffine){
    .weight = declare_numbers (builder, QM_INITIAL_ONE, size, prefix, name),
    .bias = QM_NO_VALUE,
    .rms = true,
  };
}

static void
declare_heads (QmBuilder *builder,
               const QmMamba2Config *config,
               const char *prefix,
               Mixer2 *mixer)
{
  mixer->rates = declare_numbers (builder, QM_INITIAL_STATES, config->heads,
                                  prefix, "A_log");
  mixer->skip =
      declare_numbers (builder, QM_INITIAL_ONE, config->heads, prefix, "D");
  mixer->steps = declare_numbers (builder, QM_INITIAL_TIME_STEPS, config->heads,
                                  prefix, "dt_bias");
  qm_graph_initial (builder->graph, QM_INITIAL_TIME_STEPS,
                    (double[QM_INITIAL_AMOUNTS]){ config->time_step_min,
                                                  config->time_step_max,
                                                  config->time_step_floor });
}

static QmAffine
declare_convolution (QmBuilder *builder,
                     const QmMamba2Config *config,
                     int64_t channels,
                     const char *prefix)
{
  int64_t kernel = config->conv_kernel;
  QmAffine weights = { .bias = QM_NO_VALUE };
  char text[128];

  snprintf (text, sizeof text, "%sconv1d.weight", prefix);
  weights.weight =
      qm_build_parameter (builder, QM_INITIAL_UNIFORM, builder->options->type,
                          3, (int64_t[]){ channels, 1, kernel }, text);
  qm_build_begin (builder, QM_INITIAL_UNIFORM, 1 / sqrt ((double) kernel));
  if (config->use_conv_bias)
    weights.bias = qm_build_weight (builder, QM_INITIAL_ZERO, channels, 0,
                                    prefix, "conv1d.bias");
  return weights;
}

static void
declare_mixer (QmBuilder *builder,
               const QmMamba2Config *config,
               const char *prefix,
               Mixer2 *mixer)
{
  int64_t inner = config->heads * config->head_dim;
  int64_t both = inner + 2 * config->groups * config->state_size;
  double bound = 1 / sqrt ((double) inner);

  if (config->rescale_prenorm_residual)
    bound /= sqrt ((double) config->layers);
  declare_heads (builder, config, prefix, mixer);
  mixer->convolution = declare_convolution (builder, config, both, prefix);
  mixer->in = qm_build_linear_weights (builder, inner + both + config->heads,
                                       config->hidden_size, config->use_bias,
                                       prefix, "in_proj");
  mixer->norm = declare_norm (builder, inner, prefix, "norm.weight");
  mixer->out = qm_build_linear_begun (
      builder, &(QmBeginning){ .initial = QM_INITIAL_UNIFORM, .amount = bound },
      config->hidden_size, inner, config->use_bias, prefix, "out_proj");
}

/* `u` is x, B and C behind the convolution. */
static QmValueId
dual_scan (QmBuilder *builder,
           const QmMamba2Config *config,
           QmValueId u,
           QmValueId steps,
           const Mixer2 *mixer)
{
  int64_t inner = config->heads * config->head_dim;
  int64_t states = config->groups * config->state_size;
  QmValueId x = qm_build_columns (builder, u, 0, inner);
  QmValueId b = qm_build_columns (builder, u, inner, states);
  QmValueId c = qm_build_columns (builder, u, inner + states, states);
  QmValueId inputs[7] = { x, steps,       mixer->rates, b,
                          c, mixer->skip, mixer->steps };
  QmValueId y =
      qm_graph_value (builder->graph, QM_ROLE_TEMPORARY, builder->options->type,
                      2, (int64_t[]){ builder->batch * builder->length, inner },
                      "scan");
  QmNode *node = qm_graph_append (builder->graph, QM_OP_DUAL_SCAN);

  node->attributes.width = builder->length;
  node->attributes.count = config->groups;
  node->attributes.value = config->time_step_least;
  node->attributes.cap = config->time_step_most;
  for (int i = 0; i < 7; i++)
    node->inputs[i] = inputs[i];
  node->outputs[0] = y;
  return y;
}

static void
append_gate (QmBuilder *builder, QmValueId gate, QmValueId x, QmValueId y)
{
  QmNode *node = qm_graph_append (builder->graph, QM_OP_GATE);

  node->attributes.activation = qm_build_function (QM_ACTIVATION_SILU);
  node->inputs[0] = gate;
  node->inputs[1] = x;
  node->outputs[0] = y;
}

static void
append_norm (QmBuilder *builder,
             const QmMamba2Config *config,
             QmValueId x,
             QmValueId weight,
             QmValueId y)
{
  QmGraph *graph = builder->graph;
  QmValueId rstd = qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, 1,
                                   qm_graph_tensor (graph, x)->shape, "rstd");
  QmNode *node = qm_graph_append (graph, QM_OP_LAYER_NORM);

  node->attributes.epsilon = config->norm_eps;
  node->attributes.rms = true;
  node->inputs[0] = x;
  node->inputs[1] = weight;
  node->outputs[0] = y;
  node->outputs[2] = rstd;
}

/* x behind its gate, normalized.  The root of the mean square is that of a
 * group's channels: so the authors have it (RMSNormGated's group_size), and so
 * has Transformers 5.23; before, it took the mean over all of them where
 * mamba-ssm was missing, and else that of a group.  Of one group both are the
 * same. */
static QmValueId
gated_norm (QmBuilder *builder,
            QmValueId gate,
            QmValueId x,
            const QmMamba2Config *config,
            const QmAffine *norm)
{
  QmGraph *graph = builder->graph;
  int64_t size = config->heads * config->head_dim / config->groups;
  QmValueId y = qm_graph_like (graph, x, QM_ROLE_TEMPORARY,
                               builder->options->type, "norm");

  for (int64_t i = 0; i < config->groups && graph->status == QM_OK; i++)
    {
      bool one = config->groups == 1;
      QmValueId part = one ? x : qm_build_columns (builder, x, i * size, size);
      QmValueId weight =
          one ? norm->weight
              : qm_graph_view (graph, norm->weight, 1, (int64_t[]){ size },
                               (int64_t[]){ 1 }, i * size);
      QmValueId gated = qm_graph_like (graph, part, QM_ROLE_TEMPORARY,
                                       builder->options->type, "gated");

      append_gate (builder, qm_build_columns (builder, gate, i * size, size),
                   part, gated);
      append_norm (builder, config, gated, weight,
                   one ? y : qm_build_columns (builder, y, i * size, size));
    }
  return y;
}

static QmValueId
mamba2_mixer (QmBuilder *builder,
              QmValueId x,
              const QmMamba2Config *config,
              const char *prefix)
{
  int64_t inner = config->heads * config->head_dim;
  int64_t both = inner + 2 * config->groups * config->state_size;
  QmConvolutionShape shape = { .height = 1,
                               .width = builder->length,
                               .down = 1,
                               .across = config->conv_kernel,
                               .causal = true };
  Mixer2 mixer;
  QmValueId all, u, steps;

  declare_mixer (builder, config, prefix, &mixer);
  all = qm_build_linear (builder, x, &mixer.in);
  u = qm_build_convolution (builder,
                            qm_build_columns (builder, all, inner, both),
                            mixer.convolution.weight, mixer.convolution.bias,
                            &shape);
  u = qm_build_activation (builder, u, QM_ACTIVATION_SILU);
  steps = qm_build_columns (builder, all, inner + both, config->heads);
  x = dual_scan (builder, config, u, steps, &mixer);
  x = gated_norm (builder, qm_build_columns (builder, all, 0, inner), x, config,
                  &mixer.norm);
  return qm_build_linear (builder, x, &mixer.out);
}

static QmValueId
mamba2_layer (QmBuilder *builder,
              QmValueId x,
              const QmModelConfig *model,
              int64_t index,
              const char *prefix)
{
  const QmMamba2Config *config = &model->mamba2;
  QmAffine norm =
      declare_norm (builder, config->hidden_size, prefix, "norm.weight");
  char mixer[96];

  snprintf (mixer, sizeof mixer, "%smixer.", prefix);
  return qm_build_residual (builder, x,
                            mamba2_mixer (builder,
                                          qm_build_norm (builder, x, &norm,
                                                         config->norm_eps),
                                          config, mixer));
}

void
qm_build_mamba2 (QmBuilder *builder, const QmModelConfig *model)
{
  const QmMamba2Config *config = &model->mamba2;
  QmValueId words, x;
  QmAffine norm;

  qm_build_text_inputs (builder);
  words =
      qm_build_vocab_weight (builder, config->vocab_size, config->hidden_size,
                             "backbone.embeddings.weight",
                             "backbone.embedding.weight");
  x = qm_build_embedding (builder, builder->graph->ids, words, -1,
                          builder->options->residual);
  x = qm_build_layers (builder, x, model, config->layers, "backbone.layers.",
                       mamba2_layer);
  norm =
      declare_norm (builder, config->hidden_size, "backbone.", "norm_f.weight");
  x = qm_build_norm (builder, x, &norm, config->norm_eps);
  qm_build_next_token (builder, x, words, config->tie_word_embeddings,
                       "lm_head.weight", NULL);
}
