/* SPDX-License-Identifier: Apache-2.0 */

/* Activations have channels last: a row a pixel. */

#include "engine/family.h"

#include <stdio.h>

#define KERNEL    7
#define EXPANSION 4

/* Of every norm but the last, whatever the configuration says. */
#define EPSILON 1e-6

/* Rows of pixels [B side side, width]. */
typedef struct Features
{
  QmValueId x;
  int64_t side, width;
} Features;

static Features
stem (QmBuilder *builder, const QmConvnextConfig *config, int64_t image_size)
{
  QmGraph *graph = builder->graph;
  int64_t patch = config->patch_size;
  Features features = { .side = image_size / patch,
                        .width = config->hidden_sizes[0] };
  QmAffine weights =
      qm_build_patch_weights (builder, NULL, features.width, config->channels,
                              patch, true,
                              "convnext.embeddings.patch_embeddings.");
  QmAffine norm = qm_build_norm_weights (builder, features.width, true,
                                         "convnext.embeddings.", "layernorm");

  features.x = qm_build_linear (
      builder, qm_build_patches (builder, graph->pixels, QM_NO_VALUE, patch),
      &weights);
  features.x = qm_build_norm_as (builder, features.x, &norm, EPSILON,
                                 builder->options->residual);
  return features;
}

/* Halves the side. */
static Features
downsample (QmBuilder *builder,
            const Features *from,
            int64_t width,
            int64_t stage)
{
  int64_t side = from->side, channels = from->width;
  Features features = { .side = side / 2, .width = width };
  char prefix[96];
  QmAffine norm, weights;
  QmValueId x;

  snprintf (prefix, sizeof prefix,
            "convnext.encoder.stages.%lld.downsampling_layer.",
            (long long) stage);
  norm = qm_build_norm_weights (builder, channels, true, prefix, "0");
  snprintf (prefix, sizeof prefix,
            "convnext.encoder.stages.%lld.downsampling_layer.1.",
            (long long) stage);
  weights =
      qm_build_patch_weights (builder, NULL, width, channels, 2, true, prefix);
  x = qm_build_norm (builder, from->x, &norm, EPSILON);
  x = qm_graph_view (
      builder->graph, x, 4, (int64_t[]){ builder->batch, channels, side, side },
      (int64_t[]){ side * side * channels, 1, side * channels, channels }, 0);
  features.x =
      qm_build_linear (builder, qm_build_patches (builder, x, QM_NO_VALUE, 2),
                       &weights);
  return features;
}

static QmValueId
convolve (QmBuilder *builder, const Features *features, const char *prefix)
{
  QmConvolutionShape shape = { .height = features->side,
                               .width = features->side,
                               .down = KERNEL,
                               .across = KERNEL };
  char name[128];
  QmValueId weight, bias;

  snprintf (name, sizeof name, "%sdwconv.weight", prefix);
  weight =
      qm_build_parameter (builder, QM_INITIAL_NORMAL, builder->options->type, 4,
                          (int64_t[]){ features->width, 1, KERNEL, KERNEL },
                          name);
  bias = qm_build_weight (builder, QM_INITIAL_ZERO, features->width, 0, prefix,
                          "dwconv.bias");
  return qm_build_convolution (builder, features->x, weight, bias, &shape);
}

/* Layer scale and stochastic depth of a branch. */
static QmValueId
scale_branch (QmBuilder *builder,
              const Features *features,
              QmValueId x,
              const QmConvnextConfig *config,
              double drop,
              const char *prefix)
{
  QmGraph *graph = builder->graph;
  bool random = builder->options->dropout && qm_dropout_is_on (drop);
  QmValueId gamma = QM_NO_VALUE, y;
  char name[128];
  QmNode *node;

  snprintf (name, sizeof name, "%slayer_scale_parameter", prefix);
  if (config->layer_scale_init > 0)
    {
      gamma = qm_build_parameter (builder, QM_INITIAL_CONSTANT, QM_TYPE_F32, 1,
                                  &features->width, name);
      qm_build_begin (builder, QM_INITIAL_CONSTANT, config->layer_scale_init);
    }
  else if (!random)
    return x;
  y = qm_graph_like (graph, x, QM_ROLE_TEMPORARY, builder->options->residual,
                     "scaled");
  node = qm_graph_append (graph, QM_OP_LAYER_SCALE);
  node->attributes.height = node->attributes.width = features->side;
  node->inputs[0] = x;
  node->inputs[1] = gamma;
  node->outputs[0] = y;
  if (random)
    {
      node->attributes.dropout = drop;
      node->attributes.site = qm_graph_site (graph);
      node->inputs[3] = graph->rng;
    }
  return y;
}

static void
block (QmBuilder *builder,
       Features *features,
       const QmConvnextConfig *config,
       double drop,
       const char *prefix)
{
  int64_t width = features->width, inner = EXPANSION * width;
  QmValueId y = convolve (builder, features, prefix);
  QmAffine norm =
      qm_build_norm_weights (builder, width, true, prefix, "layernorm");
  QmAffine up =
      qm_build_linear_weights (builder, inner, width, true, prefix, "pwconv1");
  QmAffine down =
      qm_build_linear_weights (builder, width, inner, true, prefix, "pwconv2");

  y = qm_build_mlp (builder, qm_build_norm (builder, y, &norm, EPSILON), &up,
                    config->activation, &down, 0);
  y = scale_branch (builder, features, y, config, drop, prefix);
  features->x = qm_build_residual (builder, features->x, y);
}

static QmValueId
pool (QmBuilder *builder, const Features *features)
{
  QmGraph *graph = builder->graph;
  QmValueId y =
      qm_graph_value (graph, QM_ROLE_TEMPORARY, builder->options->residual, 2,
                      (int64_t[]){ builder->batch, features->width }, "pooled");
  QmNode *node = qm_graph_append (graph, QM_OP_POOL);

  node->inputs[0] = features->x;
  node->outputs[0] = y;
  return y;
}

/* Depth is dropped the more often the deeper a block is. */
static double
drop_rate (const QmConvnextConfig *config, int64_t index)
{
  int64_t blocks = 0;

  for (int64_t i = 0; i < config->stages; i++)
    blocks += config->depths[i];
  return blocks > 1
             ? config->drop_path_rate * (double) index / (double) (blocks - 1)
             : 0;
}

static Features
build_stages (QmBuilder *builder,
              const QmConvnextConfig *config,
              int64_t image_size)
{
  Features features = stem (builder, config, image_size);
  int64_t index = 0;

  for (int64_t i = 0; i < config->stages; i++)
    {
      qm_graph_begin_block (builder->graph);
      if (i > 0)
        features = downsample (builder, &features, config->hidden_sizes[i], i);
      for (int64_t j = 0;
           j < config->depths[i] && builder->graph->status == QM_OK; j++)
        {
          char prefix[96];

          snprintf (prefix, sizeof prefix,
                    "convnext.encoder.stages.%lld.layers.%lld.", (long long) i,
                    (long long) j);
          block (builder, &features, config, drop_rate (config, index++),
                 prefix);
        }
      qm_graph_end_block (builder->graph, features.x);
    }
  return features;
}

void
qm_build_convnext (QmBuilder *builder, const QmModelConfig *model)
{
  const QmConvnextConfig *config = &model->convnext;
  Features features;
  QmAffine norm;
  QmValueId x;

  builder->length = 1;
  qm_build_image_inputs (builder, config->channels, builder->image_size);
  qm_build_class_inputs (builder);
  features = build_stages (builder, config, builder->image_size);
  norm = qm_build_norm_weights (builder, features.width, true, "convnext.",
                                "layernorm");
  x = qm_build_norm (builder, pool (builder, &features), &norm,
                     config->layer_norm_eps);
  qm_build_classifier (builder, x, config->classes, features.width);
}
