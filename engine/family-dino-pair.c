/* SPDX-License-Identifier: Apache-2.0 */

/* DINO's training: a teacher, which is the average of the student's weights,
 * says of two crops of every image how much they are of each prototype; the
 * student is to say the same of the other of the two, and of smaller crops of
 * the image (Caron et al. 2021; Oquab et al. 2023, 4).  As
 * facebookresearch/dinov2 has it, but that all prototypes have the length of 1
 * for good, as in DINO, and that shares are made out of the micro-batch.  Of
 * one of the two crops some patches are hidden from the student, which is to
 * say of them, too, what the teacher says (Zhou et al. 2022). */

#include "engine/family.h"

#include <stdio.h>

/* What lengths are not divided by, and below. */
#define EPSILON 1e-24

/* As facebookresearch/dinov2 has it, dinov2/loss/koleo_loss.py. */
#define SPREAD_EPSILON 1e-8

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

/* A head, and what its parameters are called. */
typedef struct Head
{
  const char *mlp, *last;
  int64_t bottleneck, prototypes;
} Head;

static Head
head_of_classes (const QmDinoConfig *config)
{
  return (Head){ "dino_head.mlp.", "dino_head.last_layer.",
                 config->head_bottleneck, config->prototypes };
}

static Head
head_of_patches (const QmDinoConfig *config)
{
  return (Head){ "ibot_head.mlp.", "ibot_head.last_layer.",
                 config->patch_bottleneck, config->patch_prototypes };
}

/* Cosines of tokens and prototypes. */
static QmValueId
append_head (QmBuilder *builder,
             const QmDinoConfig *config,
             const Head *head,
             QmValueId x)
{
  QmAffine prototypes = { .bias = QM_NO_VALUE };

  for (int64_t i = 0; i < config->head_layers; i++)
    {
      bool last = i == config->head_layers - 1;
      QmAffine layer;
      char name[32];

      snprintf (name, sizeof name, "%lld", (long long) (2 * i));
      layer = qm_build_linear_weights (
          builder, last ? head->bottleneck : config->head_hidden,
          i == 0 ? config->hidden_size : config->head_hidden, true, head->mlp,
          name);
      x = qm_build_linear (builder, x, &layer);
      if (!last)
        x = qm_build_activation (builder, x, QM_ACTIVATION_GELU);
    }
  x = qm_build_directions (builder, x, EPSILON);
  prototypes.weight =
      qm_build_directions (builder,
                           qm_build_weight (builder, QM_INITIAL_NORMAL,
                                            head->prototypes, head->bottleneck,
                                            head->last, "weight_v"),
                           EPSILON);
  return qm_build_linear (builder, x, &prototypes);
}

/* Class tokens of images become rows of `rows` from `first` on. */
static void
take_class_tokens (QmBuilder *builder,
                   const QmModelConfig *model,
                   QmValueId tokens,
                   QmValueId rows,
                   int64_t first)
{
  QmGraph *graph = builder->graph;
  int64_t hidden = model->dino.hidden_size;
  QmValueId from, to;
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

/* Tokens of the patches that are hidden, of those of the crops that both see.
 */
static QmValueId
pick_hidden (QmBuilder *builder, const QmDinoConfig *config, QmValueId tokens)
{
  QmGraph *graph = builder->graph;
  const int64_t *shape;
  QmValueId y;
  QmNode *node;

  if (builder->hidden == QM_NO_VALUE || graph->status != QM_OK)
    return QM_NO_VALUE;
  shape = qm_graph_tensor (graph, builder->hidden)->shape;
  y = qm_graph_value (graph, QM_ROLE_TEMPORARY, builder->options->type, 2,
                      (int64_t[]){ shape[0] * shape[1], config->hidden_size },
                      "hidden patches");
  node = qm_graph_append (graph, QM_OP_PICK_ROWS);
  node->attributes.count = QM_DINO_GLOBAL_CROPS;
  node->attributes.first = 1 + config->registers;
  node->inputs[0] = tokens;
  node->inputs[1] = builder->hidden;
  node->inputs[2] = builder->places;
  node->outputs[0] = y;
  return y;
}

static QmValueId
share_out (QmBuilder *builder, const QmDinoConfig *config, QmValueId cosines)
{
  QmGraph *graph = builder->graph;
  QmValueId shares, columns, rows;
  const int64_t *shape;
  QmNode *node;

  if (graph->status != QM_OK)
    return QM_NO_VALUE;
  shares =
      qm_graph_like (graph, cosines, QM_ROLE_TEMPORARY, QM_TYPE_F32, "shares");
  shape = qm_graph_tensor (graph, cosines)->shape;
  rows = qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, 1,
                         (int64_t[]){ shape[0] }, "factors of tokens");
  shape = qm_graph_tensor (graph, cosines)->shape;
  columns = qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, 1,
                            (int64_t[]){ shape[1] }, "factors of prototypes");
  node = qm_graph_append (graph, QM_OP_SHARE_OUT);
  node->attributes.value = config->teacher_temperature;
  node->attributes.count = QM_DINO_ROUNDS;
  node->inputs[0] = cosines;
  node->outputs[0] = shares;
  node->outputs[1] = columns;
  node->outputs[2] = rows;
  return shares;
}

/* What a teacher says: shares of class tokens, and of hidden patches. */
typedef struct Told
{
  QmValueId classes, patches;
} Told;

/* Nothing is dropped of the teacher. */
static Told
teach (QmBuilder *builder, const QmModelConfig *model, int64_t n)
{
  const QmDinoConfig *config = &model->dino;
  const Head of_classes = head_of_classes (config);
  const Head of_patches = head_of_patches (config);
  const QmBuildOptions *options = builder->options;
  QmBuildOptions whole = *options;
  QmValueId rows = class_rows (builder, model, n), tokens, patches;
  Told told = { .patches = QM_NO_VALUE };

  whole.dropout = false;
  builder->options = &whole;
  builder->taught = true;
  tokens = qm_build_dino_tokens (builder, model, builder->graph->pixels);
  take_class_tokens (builder, model, tokens, rows, 0);
  patches = pick_hidden (builder, config, tokens);
  told.classes = share_out (builder, config,
                            append_head (builder, config, &of_classes, rows));
  if (patches != QM_NO_VALUE)
    told.patches =
        share_out (builder, config,
                   append_head (builder, config, &of_patches, patches));
  builder->taught = false;
  builder->options = options;
  return told;
}

static QmValueId
losses_of (QmBuilder *builder, int64_t n)
{
  return qm_graph_value (builder->graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, 1, &n,
                         "losses");
}

/* A sum over pairs of a row and what is told of it, times `scale`; `crops` as
 * QM_OP_TEACHER_LOSS counts them. */
static void
append_teacher_loss (QmBuilder *builder,
                     QmValueId cosines,
                     QmValueId shares,
                     int64_t crops,
                     double scale)
{
  QmGraph *graph = builder->graph;
  QmValueId gradient =
      qm_graph_like (graph, cosines, QM_ROLE_TEMPORARY, builder->options->type,
                     "gradient of the cosines");
  int64_t n =
      graph->status == QM_OK ? qm_graph_tensor (graph, cosines)->shape[0] : 1;
  QmValueId losses = losses_of (builder, n);
  QmNode *node = qm_graph_append (graph, QM_OP_TEACHER_LOSS);

  node->attributes.value = QM_DINO_STUDENT_TEMPERATURE;
  node->attributes.count = crops;
  node->attributes.scale = scale / (double) builder->options->accumulation;
  node->inputs[0] = cosines;
  node->inputs[1] = shares;
  node->inputs[2] = graph->state;
  node->outputs[0] = gradient;
  node->outputs[1] = losses;
  qm_build_loss_sum (builder, losses, n);
}

/* KoLeo of the class tokens of the crops that both see, a mean for each of the
 * two.  One image alone has no neighbour. */
static void
spread (QmBuilder *builder, const QmDinoConfig *config, QmValueId rows)
{
  QmGraph *graph = builder->graph;
  int64_t images = builder->options->micro_batch;
  int64_t n = images * QM_DINO_GLOBAL_CROPS;
  QmValueId x, gradient, losses, nearest, factors;
  QmNode *node;

  if (config->spread <= 0 || images == 1)
    return;
  x = qm_graph_view (graph, rows, 2, (int64_t[]){ n, config->hidden_size },
                     (int64_t[]){ config->hidden_size, 1 }, 0);
  gradient = qm_graph_like (graph, x, QM_ROLE_TEMPORARY, builder->options->type,
                            "gradient of class tokens");
  losses = losses_of (builder, n);
  nearest =
      qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_I32, 1, &n, "nearest");
  factors = qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, 2,
                            (int64_t[]){ 2, n }, "lengths and distances");
  node = qm_graph_append (graph, QM_OP_SPREAD_LOSS);
  node->attributes.count = QM_DINO_GLOBAL_CROPS;
  node->attributes.epsilon = SPREAD_EPSILON;
  node->attributes.scale =
      config->spread
      / ((double) images * (double) builder->options->accumulation);
  node->inputs[0] = x;
  node->inputs[1] = graph->state;
  node->outputs[0] = gradient;
  node->outputs[1] = losses;
  node->outputs[2] = nearest;
  node->outputs[3] = factors;
  qm_build_loss_sum (builder, losses, n);
}

/* Which patches of the first crop of each image are hidden: those with the
 * least noise. */
static void
hide (QmBuilder *builder, const QmModelConfig *model, int64_t size)
{
  const QmDinoConfig *config = &model->dino;
  bool newer = model->family == QM_FAMILY_DINOV3_VIT;
  QmGraph *graph = builder->graph;
  int64_t side = size / config->patch_size, hidden = config->hidden_size;
  int64_t n = builder->options->micro_batch;
  const char *prefix = newer ? ""
                       : model->family == QM_FAMILY_DINOV2
                           ? "dinov2."
                           : "dinov2_with_registers.";
  char name[64];

  snprintf (name, sizeof name, "%sembeddings.mask_token", prefix);
  builder->mask_token = qm_build_parameter (
      builder, QM_INITIAL_ZERO, builder->options->type, newer ? 3 : 2,
      newer ? (int64_t[]){ 1, 1, hidden } : (int64_t[]){ 1, hidden }, name);
  builder->mask_token =
      qm_graph_reshape (graph, builder->mask_token, 1, &hidden);
  builder->hidden =
      qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_I32, 2,
                      (int64_t[]){ n, qm_dino_hidden (config, size) },
                      "patches that are hidden");
  builder->places =
      qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_I32, 2,
                      (int64_t[]){ n, side * side }, "places of patches");
  qm_build_mask (builder, n, side * side, builder->hidden, builder->places);
}

/* What the student makes of it all.  Losses of class tokens are a mean over all
 * pairs of a crop of the teacher and another one; those of patches one over
 * both crops, of one of which none is hidden. */
static void
learn (QmBuilder *builder, const QmModelConfig *model, const Told *told)
{
  const QmDinoConfig *config = &model->dino;
  const Head of_classes = head_of_classes (config);
  const Head of_patches = head_of_patches (config);
  QmGraph *graph = builder->graph;
  int64_t n = builder->options->micro_batch, both = n * QM_DINO_GLOBAL_CROPS;
  double pairs = QM_DINO_GLOBAL_CROPS
                 * (QM_DINO_GLOBAL_CROPS - 1 + (double) config->local_crops);
  QmValueId rows = class_rows (builder, model, both + n * config->local_crops);
  QmValueId tokens, patches;

  tokens = qm_build_dino_tokens (builder, model, graph->pixels);
  take_class_tokens (builder, model, tokens, rows, 0);
  patches = pick_hidden (builder, config, tokens);
  builder->hidden = QM_NO_VALUE;
  tokens = qm_build_dino_tokens (builder, model, graph->local_pixels);
  take_class_tokens (builder, model, tokens, rows, both);
  graph->logits = append_head (builder, config, &of_classes, rows);
  append_teacher_loss (builder, graph->logits, told->classes,
                       QM_DINO_GLOBAL_CROPS, 1 / (pairs * (double) n));
  spread (builder, config, rows);
  if (patches == QM_NO_VALUE || graph->status != QM_OK)
    return;
  patches = append_head (builder, config, &of_patches, patches);
  append_teacher_loss (
      builder, patches, told->patches, 0,
      1
          / (QM_DINO_GLOBAL_CROPS
             * (double) qm_graph_tensor (graph, patches)->shape[0]));
}

void
qm_build_dino_pair (QmBuilder *builder, const QmModelConfig *model)
{
  const QmDinoConfig *config = &model->dino;
  QmGraph *graph = builder->graph;
  bool newer = model->family == QM_FAMILY_DINOV3_VIT;
  int64_t size = newer ? builder->image_size : config->image_size;
  Told told;

  graph->pixels =
      crops (builder, config, QM_DINO_GLOBAL_CROPS, size, "pixel_values");
  graph->local_pixels = crops (builder, config, config->local_crops,
                               config->local_size, "local_pixel_values");
  if (config->patch_prototypes > 0)
    hide (builder, model, size);
  told = teach (builder, model,
                builder->options->micro_batch * QM_DINO_GLOBAL_CROPS);
  builder->again = true;
  builder->next = 0;
  learn (builder, model, &told);
  builder->again = false;
}
