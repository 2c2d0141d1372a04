/* SPDX-License-Identifier: Apache-2.0 */

/* DINO's training: a teacher, which is the average of the student's weights,
 * says of two crops of every image how much they are of each prototype; the
 * student is to say the same of the other of the two, and of smaller crops of
 * the image (Caron et al. 2021; Oquab et al. 2023, 4).  As
 * facebookresearch/dinov2 has it, but that all prototypes have the length of 1
 * for good, as in DINO, and that shares are made out of the micro-batch. */

#include "engine/family.h"

#include <math.h>
#include <stdio.h>

/* What lengths are not divided by, and below. */
#define EPSILON 1e-24

static QmValueId
crops (QmBuilder *builder,
       const QmDinoConfig *config,
       int64_t n,
       int64_t size,
       const char *name)
{
  return qm_graph_value (builder->graph, QM_ROLE_INPUT, QM_TYPE_F32, 4,
                         (int64_t[]){ builder->options->micro_batch * n,
                                      config->channels, size, size },
                         "%s", name);
}

/* Rows of the length 1: an RMS norm, all weights of which are a root of the
 * number of features less than 1. */
static QmValueId
normalize (QmBuilder *builder, QmValueId x)
{
  QmGraph *graph = builder->graph;
  int64_t features;
  QmAffine weights = { .bias = QM_NO_VALUE, .rms = true };
  QmNode *node;

  if (graph->status != QM_OK)
    return QM_NO_VALUE;
  features = qm_graph_tensor (graph, x)->shape[1];
  weights.weight = qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, 1,
                                   &features, "length of rows");
  node = qm_graph_append (graph, QM_OP_FILL);
  node->attributes.value = 1 / sqrt ((double) features);
  node->outputs[0] = weights.weight;
  return qm_build_norm (builder, x, &weights, EPSILON / (double) features);
}

/* Cosines of class tokens and prototypes. */
static QmValueId
head (QmBuilder *builder, const QmDinoConfig *config, QmValueId x)
{
  QmAffine prototypes = { .bias = QM_NO_VALUE };

  for (int64_t i = 0; i < config->head_layers; i++)
    {
      bool last = i == config->head_layers - 1;
      QmAffine layer;
      char name[32];

      snprintf (name, sizeof name, "%lld", (long long) (2 * i));
      layer = qm_build_linear_weights (
          builder, last ? config->head_bottleneck : config->head_hidden,
          i == 0 ? config->hidden_size : config->head_hidden, true,
          "dino_head.mlp.", name);
      x = qm_build_linear (builder, x, &layer);
      if (!last)
        x = qm_build_activation (builder, x, QM_ACTIVATION_GELU);
    }
  x = normalize (builder, x);
  prototypes.weight =
      normalize (builder,
                 qm_build_weight (builder, QM_INITIAL_NORMAL,
                                  config->prototypes, config->head_bottleneck,
                                  "dino_head.last_layer.", "weight_v"));
  return qm_build_linear (builder, x, &prototypes);
}

/* Class tokens of images become rows of `rows` from `first` on. */
static void
take_class_tokens (QmBuilder *builder,
                   const QmModelConfig *model,
                   QmValueId pixels,
                   QmValueId rows,
                   int64_t first)
{
  QmGraph *graph = builder->graph;
  int64_t hidden = model->dino.hidden_size;
  QmValueId tokens = qm_build_dino_tokens (builder, model, pixels), from, to;
  QmNode *node;

  from = qm_graph_view (graph, tokens, 2, (int64_t[]){ builder->batch, hidden },
                        (int64_t[]){ builder->length * hidden, 1 }, 0);
  to = qm_graph_view (graph, rows, 2, (int64_t[]){ builder->batch, hidden },
                      (int64_t[]){ hidden, 1 }, first * hidden);
  node = qm_graph_append (graph, QM_OP_COPY);
  node->inputs[0] = from;
  node->outputs[0] = to;
}

static QmValueId
class_rows (QmBuilder *builder, const QmModelConfig *model, int64_t n)
{
  return qm_graph_value (builder->graph, QM_ROLE_TEMPORARY,
                         builder->options->type, 2,
                         (int64_t[]){ n, model->dino.hidden_size },
                         "class tokens");
}

/* What the teacher says, which nothing is dropped of. */
static QmValueId
teach (QmBuilder *builder, const QmModelConfig *model, int64_t n)
{
  const QmDinoConfig *config = &model->dino;
  const QmBuildOptions *options = builder->options;
  QmBuildOptions whole = *options;
  QmGraph *graph = builder->graph;
  QmValueId x = class_rows (builder, model, n), shares, columns, rows;
  QmNode *node;

  whole.dropout = false;
  builder->options = &whole;
  builder->taught = true;
  take_class_tokens (builder, model, graph->pixels, x, 0);
  x = head (builder, config, x);
  builder->taught = false;
  builder->options = options;
  shares = qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, 2,
                           (int64_t[]){ n, config->prototypes }, "shares");
  columns = qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, 1,
                            &config->prototypes, "factors of prototypes");
  rows = qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, 1, &n,
                         "factors of crops");
  node = qm_graph_append (graph, QM_OP_SHARE_OUT);
  node->attributes.value = config->teacher_temperature;
  node->attributes.count = QM_DINO_ROUNDS;
  node->inputs[0] = x;
  node->outputs[0] = shares;
  node->outputs[1] = columns;
  node->outputs[2] = rows;
  return shares;
}

/* A mean over all pairs of a crop of the teacher and another one. */
static void
append_loss (QmBuilder *builder, const QmDinoConfig *config, QmValueId shares)
{
  QmGraph *graph = builder->graph;
  const QmBuildOptions *options = builder->options;
  int64_t pairs =
      QM_DINO_GLOBAL_CROPS * (QM_DINO_GLOBAL_CROPS - 1 + config->local_crops);
  int64_t n =
      options->micro_batch * (QM_DINO_GLOBAL_CROPS + config->local_crops);
  QmValueId gradient = qm_graph_like (graph, graph->logits, QM_ROLE_TEMPORARY,
                                      options->type, "gradient of the cosines");
  QmValueId losses =
      qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, 1, &n, "losses");
  QmNode *node = qm_graph_append (graph, QM_OP_TEACHER_LOSS);

  node->attributes.value = QM_DINO_STUDENT_TEMPERATURE;
  node->attributes.count = QM_DINO_GLOBAL_CROPS;
  node->attributes.scale = 1
                           / ((double) options->accumulation
                              * (double) options->micro_batch * (double) pairs);
  node->inputs[0] = graph->logits;
  node->inputs[1] = shares;
  node->inputs[2] = graph->state;
  node->outputs[0] = gradient;
  node->outputs[1] = losses;
  losses = qm_graph_reshape (graph, losses, 2, (int64_t[]){ n, 1 });
  node = qm_graph_append (graph, QM_OP_COLUMN_SUM);
  node->attributes.scale = 1;
  node->inputs[0] = losses;
  node->outputs[0] = graph->loss;
}

void
qm_build_dino_pair (QmBuilder *builder, const QmModelConfig *model)
{
  const QmDinoConfig *config = &model->dino;
  QmGraph *graph = builder->graph;
  bool newer = model->family == QM_FAMILY_DINOV3_VIT;
  int64_t n = builder->options->micro_batch;
  QmValueId shares, x;

  graph->pixels =
      crops (builder, config, QM_DINO_GLOBAL_CROPS,
             newer ? builder->image_size : config->image_size, "pixel_values");
  graph->local_pixels = crops (builder, config, config->local_crops,
                               config->local_size, "local_pixel_values");
  shares = teach (builder, model, n * QM_DINO_GLOBAL_CROPS);
  builder->again = true;
  builder->next = 0;
  x = class_rows (builder, model,
                  n * (QM_DINO_GLOBAL_CROPS + config->local_crops));
  take_class_tokens (builder, model, graph->pixels, x, 0);
  take_class_tokens (builder, model, graph->local_pixels, x,
                     n * QM_DINO_GLOBAL_CROPS);
  graph->logits = head (builder, config, x);
  builder->again = false;
  append_loss (builder, config, shares);
}
