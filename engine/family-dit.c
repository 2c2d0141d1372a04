/* SPDX-License-Identifier: Apache-2.0 */

/* Diffusion transformers (Peebles and Xie 2023, arXiv 2212.09748), with adaLN-
 * Zero, as their authors train them (facebookresearch/DiT, models.py, train.py
 * and diffusion/gaussian_diffusion.py): the mean square of what is told of the
 * noise, plus, where variances are told, too, their term of the variational
 * bound, which has no gradient to the noise; both count as they are there.
 * What is left out is the model that makes latents of images, which is not
 * trained, and the mirrored images that it is given. */

#include "engine/family.h"

#include <math.h>
#include <stdio.h>

/* Of all norms but those before MLPs, whatever the configuration says. */
#define EPSILON 1e-6

/* Vectors of samples that a block is told: of attention and of the MLP, each
 * shift, scale and gate. */
#define PARTS 6

/* A linear layer with a bias of 0, whose weights begin as `initial` says:
 * uniform as Glorot and Bengio (2010) have it. */
static QmValueId
append_linear (QmBuilder *builder,
               QmValueId x,
               int64_t out,
               QmInitial initial,
               bool bias,
               const char *prefix,
               const char *name)
{
  QmBeginning begin = { initial, 0 };
  QmAffine affine;
  int64_t in;

  if (builder->graph->status != QM_OK)
    return QM_NO_VALUE;
  in = qm_graph_tensor (builder->graph, x)->shape[1];
  if (initial == QM_INITIAL_UNIFORM)
    begin = qm_build_glorot (in, out);
  affine = qm_build_linear_begun (builder,
                                  initial == QM_INITIAL_NORMAL ? NULL : &begin,
                                  out, in, bias, prefix, name);
  return qm_build_linear (builder, x, &affine);
}

/* What a sample of a training needs besides its image and label; drawn, or
 * given. */
typedef struct Noise
{
  QmValueId times, classes, noise;
} Noise;

static Noise
draw_noise (QmBuilder *builder, const QmDitConfig *config)
{
  QmGraph *graph = builder->graph;
  bool given = !builder->options->dropout;
  QmRole role = given ? QM_ROLE_INPUT : QM_ROLE_TEMPORARY;
  int64_t one[2] = { builder->batch, 1 };
  int64_t side = config->image_size;
  Noise drawn = { .classes = graph->labels };
  QmNode *node;

  drawn.times = qm_graph_value (graph, role, QM_TYPE_I32, 2, one, "timesteps");
  drawn.noise = qm_graph_value (
      graph, role, QM_TYPE_F32, 4,
      (int64_t[]){ builder->batch, config->channels, side, side }, "noise");
  if (given)
    {
      graph->times = drawn.times;
      graph->noise = drawn.noise;
      return drawn;
    }
  drawn.classes =
      qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_I32, 2, one, "classes");
  node = qm_graph_append (graph, QM_OP_DRAW_NOISE);
  node->attributes.site = qm_graph_site (graph);
  node->attributes.count = QM_DIT_TIMES;
  node->attributes.padding = config->classes;
  node->attributes.dropout = config->class_dropout;
  node->inputs[0] = graph->labels;
  node->inputs[1] = graph->rng;
  node->outputs[0] = drawn.times;
  node->outputs[1] = drawn.classes;
  node->outputs[2] = drawn.noise;
  return drawn;
}

static void
declare_constants (QmBuilder *builder)
{
  QmGraph *graph = builder->graph;

  graph->diffusion.schedule =
      qm_graph_value (graph, QM_ROLE_CONSTANT, QM_TYPE_F32, 2,
                      (int64_t[]){ QM_DIT_TIMES, QM_SCHEDULE_SIZE },
                      "schedule of the noise");
  graph->diffusion.waves =
      qm_graph_value (graph, QM_ROLE_CONSTANT, QM_TYPE_F32, 2,
                      (int64_t[]){ QM_DIT_TIMES, QM_DIT_FREQUENCIES },
                      "waves of times");
}

/* What blocks are told of a sample. */
static QmValueId
condition (QmBuilder *builder, const QmDitConfig *config, const Noise *drawn)
{
  QmType type = builder->options->type, wide = builder->options->residual;
  int64_t hidden = qm_dit_hidden (config);
  QmValueId x, class, table;

  x = qm_build_embedding (builder, drawn->times,
                          builder->graph->diffusion.waves, -1, type);
  x = append_linear (builder, x, hidden, QM_INITIAL_NORMAL, true, "",
                     "t_embedder.mlp.0");
  x = qm_build_activation (builder, x, QM_ACTIVATION_SILU);
  x = append_linear (builder, x, hidden, QM_INITIAL_NORMAL, true, "",
                     "t_embedder.mlp.2");
  table =
      qm_build_weight (builder, QM_INITIAL_NORMAL, qm_dit_class_rows (config),
                       hidden, "y_embedder.embedding_table.", "weight");
  class = qm_build_embedding (builder, drawn->classes, table, -1, wide);
  x = qm_build_add (builder, x, class, wide);
  return qm_build_activation (builder, x, QM_ACTIVATION_SILU);
}

/* Vector `i` of `n` that follow each other. */
static QmValueId
part (QmBuilder *builder, QmValueId vectors, int i, int n)
{
  const QmTensor *all;
  int64_t size;

  if (builder->graph->status != QM_OK)
    return QM_NO_VALUE;
  all = qm_graph_tensor (builder->graph, vectors);
  size = all->shape[1] / n;
  return qm_graph_view (builder->graph, vectors, 2,
                        (int64_t[]){ builder->batch, size },
                        (int64_t[]){ all->stride[0], 1 }, i * size);
}

static QmValueId
append_norm (QmBuilder *builder,
             QmValueId x,
             QmValueId shift,
             QmValueId scale,
             double epsilon)
{
  QmGraph *graph = builder->graph;
  QmValueId y, mean, rstd;
  int64_t rows;
  QmNode *node;

  if (graph->status != QM_OK)
    return QM_NO_VALUE;
  rows = qm_graph_tensor (graph, x)->shape[0];
  y = qm_graph_like (graph, x, QM_ROLE_TEMPORARY, builder->options->type,
                     "norm");
  mean =
      qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, 1, &rows, "mean");
  rstd =
      qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, 1, &rows, "rstd");
  node = qm_graph_append (graph, QM_OP_ADAPTIVE_NORM);
  node->attributes.epsilon = epsilon;
  node->inputs[0] = x;
  node->inputs[1] = shift;
  node->inputs[2] = scale;
  node->outputs[0] = y;
  node->outputs[1] = mean;
  node->outputs[2] = rstd;
  return y;
}

static QmValueId
append_gate (QmBuilder *builder, QmValueId x, QmValueId branch, QmValueId gate)
{
  QmValueId y = qm_graph_like (builder->graph, x, QM_ROLE_TEMPORARY,
                               builder->options->residual, "sum");
  QmNode *node = qm_graph_append (builder->graph, QM_OP_GATED_ADD);

  node->inputs[0] = branch;
  node->inputs[1] = gate;
  node->inputs[2] = x;
  node->outputs[0] = y;
  return y;
}

static QmValueId
build_block (QmBuilder *builder,
             QmValueId x,
             QmValueId told,
             const QmDitConfig *config,
             const char *prefix)
{
  int64_t hidden = qm_dit_hidden (config);
  QmAttentionShape shape = { .heads = config->heads, .hidden = hidden };
  QmValueId vectors, parts[PARTS], y;

  vectors = append_linear (builder, told, PARTS * hidden, QM_INITIAL_ZERO, true,
                           prefix, "adaLN_modulation.1");
  for (int i = 0; i < PARTS; i++)
    parts[i] = part (builder, vectors, i, PARTS);
  y = append_norm (builder, x, parts[0], parts[1], EPSILON);
  y = append_linear (builder, y, 3 * hidden, QM_INITIAL_UNIFORM,
                     config->attention_bias, prefix, "attn.qkv");
  y = qm_build_attention (builder, y, &shape);
  y = append_linear (builder, y, hidden, QM_INITIAL_UNIFORM, true, prefix,
                     "attn.proj");
  x = append_gate (builder, x, y, parts[2]);
  y = append_norm (builder, x, parts[3], parts[4], config->layer_norm_eps);
  y = append_linear (builder, y, QM_DIT_MLP_RATIO * hidden, QM_INITIAL_UNIFORM,
                     true, prefix, "mlp.fc1");
  y = qm_build_activation (builder, y,
                           config->activation == 0 ? QM_ACTIVATION_GELU_TANH
                                                   : QM_ACTIVATION_GELU);
  y = append_linear (builder, y, hidden, QM_INITIAL_UNIFORM, true, prefix,
                     "mlp.fc2");
  return append_gate (builder, x, y, parts[5]);
}

/* The products of a convolution that does not overlap, as one linear layer, and
 * places, which are constants. */
static QmValueId
dit_embeddings (QmBuilder *builder,
                const QmDitConfig *config,
                const Noise *drawn)
{
  QmGraph *graph = builder->graph;
  int64_t side = config->patch_size, across = config->image_size / side;
  int64_t hidden = qm_dit_hidden (config);
  QmBeginning begin = qm_build_glorot (config->channels * side * side, hidden);
  QmValueId noisy, position, y;
  QmAffine projection;
  QmNode *node;

  noisy = qm_graph_like (graph, drawn->noise, QM_ROLE_TEMPORARY, QM_TYPE_F32,
                         "noisy images");
  node = qm_graph_append (graph, QM_OP_ADD_NOISE);
  node->inputs[0] = graph->pixels;
  node->inputs[1] = drawn->noise;
  node->inputs[2] = drawn->times;
  node->inputs[3] = graph->diffusion.schedule;
  node->outputs[0] = noisy;
  projection =
      qm_build_patch_weights (builder, &begin, hidden, config->channels, side,
                              true, "x_embedder.proj.");
  position =
      qm_graph_value (graph, QM_ROLE_CONSTANT, QM_TYPE_F32, 2,
                      (int64_t[]){ builder->length, hidden }, "positions");
  graph->tables[0] = (QmTable){
    .value = position, .side = across, .name = "pos_embed", .bare = true
  };
  y = qm_build_linear (builder,
                       qm_build_patches (builder, noisy, QM_NO_VALUE, side),
                       &projection);
  noisy = y;
  y = qm_graph_like (graph, noisy, QM_ROLE_TEMPORARY,
                     builder->options->residual, "embeddings");
  node = qm_graph_append (graph, QM_OP_ADD_POSITIONS);
  node->inputs[0] = noisy;
  node->inputs[1] = position;
  node->outputs[0] = y;
  return y;
}

/* The loss is a mean over micro-batches of as many images each. */
static void
append_noise_loss (QmBuilder *builder,
                   const QmDitConfig *config,
                   const Noise *drawn)
{
  QmGraph *graph = builder->graph;
  int64_t rows = builder->batch * builder->length;
  QmValueId losses, gradient;
  QmNode *node;

  losses = qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, 1, &rows,
                           "losses");
  gradient = qm_graph_like (graph, graph->logits, QM_ROLE_TEMPORARY,
                            builder->options->type, "gradient of the noise");
  node = qm_graph_append (graph, QM_OP_NOISE_LOSS);
  node->attributes.patch = config->patch_size;
  node->attributes.learned = config->learned;
  node->attributes.scale = 1 / (double) builder->options->accumulation;
  node->inputs[0] = graph->logits;
  node->inputs[1] = graph->pixels;
  node->inputs[2] = drawn->noise;
  node->inputs[3] = drawn->times;
  node->inputs[4] = graph->diffusion.schedule;
  node->inputs[5] = graph->state;
  node->outputs[0] = gradient;
  node->outputs[1] = losses;
  qm_build_loss_sum (builder, losses, rows);
}

static QmValueId
dit_end (QmBuilder *builder,
         QmValueId x,
         QmValueId told,
         const QmDitConfig *config)
{
  int64_t side = config->patch_size;
  QmValueId vectors =
      append_linear (builder, told, 2 * qm_dit_hidden (config), QM_INITIAL_ZERO,
                     true, "final_layer.", "adaLN_modulation.1");
  QmValueId shift = part (builder, vectors, 0, 2);
  QmValueId scale = part (builder, vectors, 1, 2);

  x = append_norm (builder, x, shift, scale, EPSILON);
  return append_linear (builder, x, config->out_channels * side * side,
                        QM_INITIAL_ZERO, true, "final_layer.", "linear");
}

void
qm_build_dit (QmBuilder *builder, const QmModelConfig *model)
{
  const QmDitConfig *config = &model->dit;
  QmGraph *graph = builder->graph;
  QmValueId x, told;
  Noise drawn;

  builder->length = qm_dit_patches (config);
  qm_build_image_inputs (builder, config->channels, config->image_size);
  qm_build_class_inputs (builder);
  /* Where nothing is drawn, a label may say that there is no class. */
  graph->classes =
      builder->options->dropout ? config->classes : qm_dit_class_rows (config);
  declare_constants (builder);
  drawn = draw_noise (builder, config);
  x = dit_embeddings (builder, config, &drawn);
  told = condition (builder, config, &drawn);
  for (int64_t i = 0; i < config->layers && graph->status == QM_OK; i++)
    {
      char prefix[32];

      snprintf (prefix, sizeof prefix, "blocks.%lld.", (long long) i);
      qm_graph_begin_block (graph);
      x = build_block (builder, x, told, config, prefix);
      qm_graph_end_block (graph, x);
    }
  graph->logits = dit_end (builder, x, told, config);
  if (graph->status == QM_OK)
    append_noise_loss (builder, config, &drawn);
}
