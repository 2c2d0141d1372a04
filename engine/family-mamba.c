/* SPDX-License-Identifier: Apache-2.0 */

/* What autocast keeps in fp32 is in fp32: the sum that runs through the model
 * (whatever residual_in_fp32 says: fp32 weights make it so), norms, and inside
 * of the scan everything.  Time steps get their bias in the scan, in fp32, as
 * the authors' kernels have it. */

#include "engine/family.h"

#include <math.h>
#include <stdio.h>

typedef struct Mixer
{
  QmAffine in, out, convolution, steps; /* the bias of the steps is fp32 */
  QmAffine parameters;                  /* of time steps, B and C */
  QmValueId rates, skip;                /* log of -A, and D */
} Mixer;

static QmValueId
parameter (QmBuilder *builder,
           QmInitial initial,
           QmType type,
           int32_t rank,
           const int64_t *shape,
           const char *prefix,
           const char *name)
{
  char text[128];

  snprintf (text, sizeof text, "%s%s", prefix, name);
  return qm_build_parameter (builder, initial, type, rank, shape, text);
}

static QmAffine
norm_weights (QmBuilder *builder,
              int64_t size,
              const char *prefix,
              const char *name)
{
  return (QmAffine){ .weight = parameter (builder, QM_INITIAL_ONE, QM_TYPE_F32,
                                          1, &size, prefix, name),
                     .bias = QM_NO_VALUE,
                     .rms = true };
}

/* The weights that make time steps, and what is added to them. */
static void
declare_time_steps (QmBuilder *builder,
                    const QmMambaConfig *config,
                    const char *prefix,
                    Mixer *mixer)
{
  mixer->steps.weight =
      parameter (builder, QM_INITIAL_UNIFORM, builder->options->type, 2,
                 (int64_t[]){ config->inner_size, config->time_step_rank },
                 prefix, "dt_proj.weight");
  qm_build_begin (
      builder,
      config->time_step_random ? QM_INITIAL_UNIFORM : QM_INITIAL_CONSTANT,
      config->time_step_scale / sqrt ((double) config->time_step_rank));
  mixer->steps.bias = parameter (builder, QM_INITIAL_TIME_STEPS, QM_TYPE_F32, 1,
                                 &config->inner_size, prefix, "dt_proj.bias");
  qm_graph_initial (builder->graph, QM_INITIAL_TIME_STEPS,
                    (double[QM_INITIAL_AMOUNTS]){ config->time_step_min,
                                                  config->time_step_max,
                                                  config->time_step_floor });
}

static void
declare (QmBuilder *builder,
         const QmMambaConfig *config,
         const char *prefix,
         Mixer *mixer)
{
  int64_t inner = config->inner_size, kernel = config->conv_kernel;
  double bound = 1 / sqrt ((double) inner);

  mixer->rates =
      parameter (builder, QM_INITIAL_STATES, QM_TYPE_F32, 2,
                 (int64_t[]){ inner, config->state_size }, prefix, "A_log");
  mixer->skip =
      parameter (builder, QM_INITIAL_ONE, QM_TYPE_F32, 1, &inner, prefix, "D");
  mixer->convolution.weight =
      parameter (builder, QM_INITIAL_UNIFORM, builder->options->type, 3,
                 (int64_t[]){ inner, 1, kernel }, prefix, "conv1d.weight");
  qm_build_begin (builder, QM_INITIAL_UNIFORM, 1 / sqrt ((double) kernel));
  mixer->convolution.bias = QM_NO_VALUE;
  if (config->use_conv_bias)
    mixer->convolution.bias = qm_build_weight (builder, QM_INITIAL_ZERO, inner,
                                               0, prefix, "conv1d.bias");
  mixer->in = qm_build_linear_weights (builder, 2 * inner, config->hidden_size,
                                       config->use_bias, prefix, "in_proj");
  mixer->parameters =
      qm_build_linear_weights (builder,
                               config->time_step_rank + 2 * config->state_size,
                               inner, false, prefix, "x_proj");
  declare_time_steps (builder, config, prefix, mixer);
  if (config->rescale_prenorm_residual)
    bound /= sqrt ((double) config->layers);
  mixer->out.weight =
      qm_build_weight (builder, QM_INITIAL_UNIFORM, config->hidden_size, inner,
                       prefix, "out_proj.weight");
  qm_build_begin (builder, QM_INITIAL_UNIFORM, bound);
  mixer->out.bias = QM_NO_VALUE;
  if (config->use_bias)
    mixer->out.bias =
        qm_build_weight (builder, QM_INITIAL_ZERO, config->hidden_size, 0,
                         prefix, "out_proj.bias");
}

/* Every state is kept; qm_pass_scan() makes it fewer. */
static QmValueId
scan (QmBuilder *builder,
      const QmMambaConfig *config,
      QmValueId u,
      QmValueId gate,
      const Mixer *mixer)
{
  QmGraph *graph = builder->graph;
  int64_t rank = config->time_step_rank, size = config->state_size;
  QmValueId parameters = qm_build_linear (builder, u, &mixer->parameters);
  QmAffine weights = { .weight = mixer->steps.weight, .bias = QM_NO_VALUE };
  QmValueId steps =
      qm_build_linear (builder, qm_build_columns (builder, parameters, 0, rank),
                       &weights);
  QmValueId b = qm_build_columns (builder, parameters, rank, size);
  QmValueId c = qm_build_columns (builder, parameters, rank + size, size);
  QmValueId y = qm_graph_like (graph, u, QM_ROLE_TEMPORARY,
                               builder->options->type, "scan");
  QmValueId states =
      qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, 4,
                      (int64_t[]){ builder->batch, builder->length, size,
                                   config->inner_size },
                      "states");
  QmValueId inputs[8] = { u, steps,       mixer->rates,      b,
                          c, mixer->skip, mixer->steps.bias, gate };
  QmNode *node = qm_graph_append (graph, QM_OP_SELECTIVE_SCAN);

  node->attributes.width = builder->length;
  node->attributes.chunk = 1;
  for (int i = 0; i < 8; i++)
    node->inputs[i] = inputs[i];
  node->outputs[0] = y;
  node->outputs[1] = states;
  return y;
}

static QmValueId
mamba_mixer (QmBuilder *builder,
             QmValueId x,
             const QmMambaConfig *config,
             const char *prefix)
{
  int64_t inner = config->inner_size;
  QmConvolutionShape shape = { .height = 1,
                               .width = builder->length,
                               .down = 1,
                               .across = config->conv_kernel,
                               .causal = true };
  Mixer mixer;
  QmValueId both, u;

  declare (builder, config, prefix, &mixer);
  both = qm_build_linear (builder, x, &mixer.in);
  u = qm_build_convolution (builder, qm_build_columns (builder, both, 0, inner),
                            mixer.convolution.weight, mixer.convolution.bias,
                            &shape);
  u = qm_build_activation (builder, u, QM_ACTIVATION_SILU);
  return qm_build_linear (builder,
                          scan (builder, config, u,
                                qm_build_columns (builder, both, inner, inner),
                                &mixer),
                          &mixer.out);
}

static QmValueId
embedding_weights (QmBuilder *builder, const QmMambaConfig *config)
{
  /* The second is what the authors' own files have. */
  return qm_build_vocab_weight (builder, config->vocab_size,
                                config->hidden_size,
                                "backbone.embeddings.weight",
                                "backbone.embedding.weight");
}

void
qm_build_mamba (QmBuilder *builder, const QmModelConfig *model)
{
  const QmMambaConfig *config = &model->mamba;
  QmGraph *graph = builder->graph;
  QmType type = builder->options->residual;
  int64_t tokens[2] = { builder->batch, builder->length };
  QmValueId embed, x, head;
  QmAffine norm;

  graph->ids = qm_graph_value (graph, QM_ROLE_INPUT, QM_TYPE_I32, 2, tokens,
                               "input_ids");
  graph->labels =
      qm_graph_value (graph, QM_ROLE_INPUT, QM_TYPE_I32, 2, tokens, "labels");
  embed = head = embedding_weights (builder, config);
  x = qm_build_embedding (builder, graph->ids, embed, -1, type);
  for (int64_t i = 0; i < config->layers && graph->status == QM_OK; i++)
    {
      char prefix[64];

      qm_graph_begin_block (graph);
      snprintf (prefix, sizeof prefix, "backbone.layers.%lld.", (long long) i);
      norm = norm_weights (builder, config->hidden_size, prefix, "norm.weight");
      snprintf (prefix, sizeof prefix, "backbone.layers.%lld.mixer.",
                (long long) i);
      x = qm_build_add (builder, x,
                        mamba_mixer (builder,
                                     qm_build_norm (builder, x, &norm,
                                                    config->norm_eps),
                                     config, prefix),
                        type);
      qm_graph_end_block (graph, x);
    }
  norm =
      norm_weights (builder, config->hidden_size, "backbone.", "norm_f.weight");
  if (!config->tie_word_embeddings)
    head = qm_build_vocab_weight (builder, config->vocab_size,
                                  config->hidden_size, "lm_head.weight", NULL);
  x = qm_build_norm (builder, x, &norm, config->norm_eps);
  qm_build_loss (builder, x, head, QM_NO_VALUE, true);
}
