/* SPDX-License-Identifier: Apache-2.0 */

/* DINOv2 and DINOv3.  Files on the hub have the names that Transformers had
 * before its version 5; those of version 5 are the aliases. */

#include "engine/family.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* One layer: what names of its parameters begin with, older and newer. */
typedef struct Layer
{
  const QmDinoConfig *config;
  bool newer; /* DINOv3, whose names within layers did not change */
  char prefix[64], alias[72];
  int64_t all, some;      /* samples, and how many of them go through a branch;
                             0: all */
  QmValueId kept, places; /* which, of every branch, as QM_OP_MASK_PATCHES has
                             it */
  int64_t branch;         /* the number of the one that is built */
} Layer;

/* Who trains with a teacher takes branches of layers in training of a random
 * part of the samples alone, and adds what comes out times the inverse of the
 * part (facebookresearch/dinov2, dinov2/layers/block.py,
 * drop_add_residual_stochastic_depth_list; the same in facebookresearch/dinov3,
 * dinov3/layers/block.py): crops of a size are one list of samples, and each
 * branch has a part of its own.  Others, as timm, compute all and multiply. */
static void
choose_samples (QmBuilder *builder, Layer *layer)
{
  const QmDinoConfig *config = layer->config;
  QmGraph *graph = builder->graph;
  int64_t branches = 2 * config->layers, all = builder->batch;
  int64_t some = (int64_t) ((double) all * (1 - config->drop_path_rate));
  QmNode *node;

  some = some > 1 ? some : 1;
  if (!builder->options->dropout || config->prototypes == 0
      || config->drop_path_rate <= 0 || some >= all)
    return;
  layer->all = all;
  layer->some = some;
  layer->kept =
      qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_I32, 2,
                      (int64_t[]){ branches, some }, "samples of branches");
  layer->places =
      qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_I32, 2,
                      (int64_t[]){ branches, all }, "places of samples");
  node = qm_graph_append (graph, QM_OP_MASK_PATCHES);
  node->attributes.site = qm_graph_site (graph);
  node->inputs[1] = graph->rng;
  node->outputs[0] = layer->kept;
  node->outputs[1] = layer->places;
}

/* What of `n` indices a branch has that belongs to the layer's. */
static QmValueId
of_branch (QmBuilder *builder, const Layer *layer, QmValueId value, int64_t n)
{
  return qm_graph_view (builder->graph, value, 2, (int64_t[]){ 1, n },
                        (int64_t[]){ n, 1 }, layer->branch * n);
}

/* The samples of x that go through the next branch. */
static QmValueId
begin_branch (QmBuilder *builder, Layer *layer, QmValueId x)
{
  QmGraph *graph = builder->graph;
  int64_t hidden = layer->config->hidden_size, rows = builder->length;
  QmValueId y;
  QmNode *node;

  if (layer->some == 0 || graph->status != QM_OK)
    return x;
  y = qm_graph_value (graph, QM_ROLE_TEMPORARY, builder->options->residual, 2,
                      (int64_t[]){ layer->some * rows, hidden },
                      "samples of a branch");
  node = qm_graph_append (graph, QM_OP_PICK_ROWS);
  node->attributes.count = 1;
  node->inputs[0] =
      qm_graph_reshape (graph, x, 2, (int64_t[]){ layer->all, rows * hidden });
  node->inputs[1] = of_branch (builder, layer, layer->kept, layer->some);
  node->inputs[2] = of_branch (builder, layer, layer->places, layer->all);
  node->outputs[0] =
      qm_graph_reshape (graph, y, 2, (int64_t[]){ layer->some, rows * hidden });
  builder->batch = layer->some;
  return y;
}

static QmAffine
linear_weights (QmBuilder *builder,
                const Layer *layer,
                int64_t out,
                int64_t in,
                bool bias,
                const char *older,
                const char *newer)
{
  QmAffine affine =
      qm_build_linear_weights (builder, out, in, bias, layer->prefix,
                               layer->newer ? newer : older);

  qm_build_alias (builder, bias ? 2 : 1, layer->alias, newer);
  return affine;
}

static QmValueId
dino_norm (QmBuilder *builder,
           const Layer *layer,
           QmValueId x,
           const char *name)
{
  const QmDinoConfig *config = layer->config;
  QmAffine weights = qm_build_norm_weights (builder, config->hidden_size, true,
                                            layer->prefix, name);

  qm_build_alias (builder, 2, layer->alias, name);
  return qm_build_norm (builder, x, &weights, config->layer_norm_eps);
}

/* Layer scale and stochastic depth of a branch, and the sum. */
static QmValueId
add_scaled (QmBuilder *builder,
            Layer *layer,
            QmValueId x,
            QmValueId branch,
            const char *name)
{
  const QmDinoConfig *config = layer->config;
  QmGraph *graph = builder->graph;
  QmType type = builder->options->residual;
  char text[96];
  QmValueId gamma, y;
  QmNode *node;

  snprintf (text, sizeof text, "%s%s.lambda1", layer->prefix, name);
  gamma = qm_build_parameter (builder, QM_INITIAL_CONSTANT, QM_TYPE_F32, 1,
                              &config->hidden_size, text);
  qm_build_begin (builder, QM_INITIAL_CONSTANT, config->layer_scale_init);
  qm_build_alias (builder, 1, layer->alias, name);
  y = qm_graph_like (graph, layer->some > 0 ? x : branch, QM_ROLE_TEMPORARY,
                     type, "scaled");
  node = qm_graph_append (graph, QM_OP_LAYER_SCALE);
  node->inputs[0] = branch;
  node->inputs[1] = gamma;
  node->outputs[0] = y;
  if (layer->some > 0)
    {
      node->attributes.scale = (double) layer->all / (double) layer->some;
      node->inputs[4] = of_branch (builder, layer, layer->places, layer->all);
      node->inputs[5] = of_branch (builder, layer, layer->kept, layer->some);
      builder->batch = layer->all;
      layer->branch++;
      return qm_build_residual (builder, x, y);
    }
  node->attributes.height = 1;
  node->attributes.width = builder->length;
  if (builder->options->dropout && config->prototypes == 0
      && qm_dropout_is_on (config->drop_path_rate))
    {
      node->attributes.dropout = config->drop_path_rate;
      node->attributes.site = qm_graph_site (graph);
      node->inputs[3] = graph->rng;
    }
  return qm_build_residual (builder, x, y);
}

/* Projections with a bias are one product, and those without another. */
static void
project (QmBuilder *builder,
         const Layer *layer,
         QmValueId x,
         QmValueId table,
         QmHeads *heads)
{
  static const char *const older[3] = { "query", "key", "value" };
  static const char *const letters = "qkv";
  const QmDinoConfig *config = layer->config;
  const bool biases[3] = { config->query_bias, config->key_bias,
                           config->value_bias };
  QmValueId *const ends[3] = { &heads->q, &heads->k, &heads->v };
  int64_t hidden = config->hidden_size, width = hidden / config->heads;
  char names[3][96], aliases[3][96];

  for (int i = 0; i < 3; i++)
    {
      snprintf (aliases[i], sizeof aliases[i], "%sattention.%c_proj",
                layer->alias, letters[i]);
      if (layer->newer)
        snprintf (names[i], sizeof names[i], "%sattention.%c_proj",
                  layer->prefix, letters[i]);
      else
        snprintf (names[i], sizeof names[i], "%sattention.attention.%s",
                  layer->prefix, older[i]);
    }
  for (int bias = 0; bias < 2; bias++)
    {
      QmStackPart parts[3];
      int n = 0, turning = 0, place[3];
      QmValueId y;

      for (int i = 0; i < 3; i++)
        {
          place[i] = n;
          if (biases[i] != bias)
            continue;
          parts[n++] = (QmStackPart){ names[i], aliases[i], hidden };
          turning += i < 2;
        }
      if (n == 0)
        continue;
      y = qm_build_stack (builder, x, bias, parts, n, "query, key, value");
      if (turning > 0)
        y = qm_build_rotated (builder, y, table, n * config->heads,
                              turning * config->heads, width);
      for (int i = 0; i < 3; i++)
        if (biases[i] == bias)
          *ends[i] =
              qm_build_heads_of (builder, y, n * hidden, place[i] * hidden,
                                 config->heads, width);
    }
}

static QmValueId
dino_attention (QmBuilder *builder,
                const Layer *layer,
                QmValueId x,
                QmValueId table)
{
  const QmDinoConfig *config = layer->config;
  int64_t hidden = config->hidden_size;
  QmHeads heads = { .scale = 1 / sqrt ((double) (hidden / config->heads)),
                    .dropout = config->attention_dropout };
  QmAffine dense;

  project (builder, layer, x, table, &heads);
  dense = linear_weights (builder, layer, hidden, hidden, config->output_bias,
                          "attention.output.dense", "attention.o_proj");
  return qm_build_linear (builder, qm_build_heads (builder, &heads), &dense);
}

/* The gate and what it is multiplied by, side by side: files of DINOv2 have
 * them as one, which is what Transformers 5 writes, too. */
static QmValueId
gate (QmBuilder *builder, const Layer *layer, QmValueId x)
{
  const QmDinoConfig *config = layer->config;
  int64_t hidden = config->hidden_size, inner = config->intermediate_size;
  char names[2][96], aliases[2][96];
  QmStackPart parts[2];

  if (!layer->newer)
    {
      QmAffine both = qm_build_linear_weights (builder, 2 * inner, hidden, true,
                                               layer->prefix, "mlp.weights_in");

      return qm_build_gate (builder, qm_build_linear (builder, x, &both),
                            QM_ACTIVATION_SILU);
    }
  for (int i = 0; i < 2; i++)
    {
      const char *what = i == 0 ? "gate" : "up";

      snprintf (names[i], sizeof names[i], "%smlp.%s_proj", layer->prefix,
                what);
      snprintf (aliases[i], sizeof aliases[i], "%smlp.%s_proj", layer->alias,
                what);
      parts[i] = (QmStackPart){ names[i], aliases[i], inner };
    }
  return qm_build_gate (builder,
                        qm_build_stack (builder, x, config->mlp_bias, parts, 2,
                                        "gate, up"),
                        config->activation);
}

static QmValueId
dino_mlp (QmBuilder *builder, const Layer *layer, QmValueId x)
{
  const QmDinoConfig *config = layer->config;
  int64_t hidden = config->hidden_size, inner = config->intermediate_size;
  bool newer = layer->newer;
  QmAffine up, down;

  if (config->gated)
    x = gate (builder, layer, x);
  else
    {
      up = linear_weights (builder, layer, inner, hidden, config->mlp_bias,
                           "mlp.fc1", newer ? "mlp.up_proj" : "mlp.fc1");
      x = qm_build_activation (builder, qm_build_linear (builder, x, &up),
                               config->activation);
    }
  down = linear_weights (builder, layer, hidden, inner, config->mlp_bias,
                         config->gated ? "mlp.weights_out" : "mlp.fc2",
                         newer || config->gated ? "mlp.down_proj" : "mlp.fc2");
  return qm_build_linear (builder, x, &down);
}

/* The products of a convolution that does not overlap, as one linear layer;
 * names begin with `prefix`. */
static QmValueId
dino_patches (QmBuilder *builder,
              const QmDinoConfig *config,
              QmValueId pixels,
              const char *prefix)
{
  int64_t side = config->patch_size;
  QmAffine projection =
      qm_build_patch_weights (builder, NULL, config->hidden_size,
                              config->channels, side, true, prefix);

  return qm_build_linear (builder,
                          qm_build_patches (builder, pixels, QM_NO_VALUE, side),
                          &projection);
}

/* What a student sees in the place of patches that are hidden from it. */
static QmValueId
hide (QmBuilder *builder, QmValueId patches)
{
  QmGraph *graph = builder->graph;
  QmValueId y;
  QmNode *node;

  if (builder->taught || builder->hidden == QM_NO_VALUE)
    return patches;
  y = qm_graph_like (graph, patches, QM_ROLE_TEMPORARY, builder->options->type,
                     "patches with hidden ones");
  node = qm_graph_append (graph, QM_OP_HIDE_ROWS);
  node->attributes.count = QM_DINO_GLOBAL_CROPS;
  node->inputs[0] = patches;
  node->inputs[1] = builder->places;
  node->inputs[2] = builder->mask_token;
  node->inputs[3] = builder->hidden;
  node->outputs[0] = y;
  return y;
}

/* Patches a side. */
static int64_t
side_of (QmBuilder *builder, const QmDinoConfig *config, QmValueId pixels)
{
  return builder->graph->status == QM_OK
             ? qm_graph_tensor (builder->graph, pixels)->shape[2]
                   / config->patch_size
             : 1;
}

/* `n` tokens of parameters [1, n, hidden], as rows. */
static QmValueId
token_weights (QmBuilder *builder,
               const QmDinoConfig *config,
               QmInitial initial,
               int64_t n,
               const char *prefix,
               const char *name)
{
  int64_t hidden = config->hidden_size;
  char text[96];
  QmValueId value;

  snprintf (text, sizeof text, "%sembeddings.%s", prefix, name);
  value = qm_build_parameter (builder, initial, builder->options->type, 3,
                              (int64_t[]){ 1, n, hidden }, text);
  return qm_graph_reshape (builder->graph, value, 2, (int64_t[]){ n, hidden });
}

/* Positions of `side` x `side` patches, made of those of more or fewer, in
 * fp32. */
static QmValueId
resize (QmBuilder *builder,
        const QmDinoConfig *config,
        QmValueId position,
        int64_t from,
        int64_t side,
        bool smooth)
{
  QmGraph *graph = builder->graph;
  int64_t n = 1 + side * side, all = 1 + from * from;
  int64_t hidden = config->hidden_size;
  QmResizing *resizing = &graph->resizing;
  QmValueId y, table;
  QmNode *node;

  if (resizing->value == QM_NO_VALUE)
    *resizing =
        (QmResizing){ qm_graph_value (graph, QM_ROLE_CONSTANT, QM_TYPE_F32, 2,
                                      (int64_t[]){ n, all },
                                      "resizing of positions"),
                      from, side, smooth };
  position = qm_build_cast (builder, position, QM_TYPE_F32);
  position =
      qm_graph_reshape (graph, position, 4, (int64_t[]){ 1, 1, all, hidden });
  table =
      qm_graph_reshape (graph, resizing->value, 4, (int64_t[]){ 1, 1, n, all });
  y = qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, 4,
                      (int64_t[]){ 1, 1, n, hidden }, "resized positions");
  node = qm_graph_append (graph, QM_OP_MATMUL);
  node->attributes.scale = 1;
  node->inputs[0] = table;
  node->inputs[1] = position;
  node->outputs[0] = y;
  return qm_graph_reshape (graph, y, 2, (int64_t[]){ n, hidden });
}

static QmValueId
dino_positions (QmBuilder *builder,
                const QmModelConfig *model,
                int64_t side,
                const char *prefix)
{
  const QmDinoConfig *config = &model->dino;
  int64_t from = config->image_size / config->patch_size;
  QmValueId position =
      token_weights (builder, config, QM_INITIAL_NORMAL, 1 + from * from,
                     prefix, "position_embeddings");

  return side == from
             ? position
             : resize (builder, config, position, from, side,
                       model->family == QM_FAMILY_DINOV2_WITH_REGISTERS);
}

static QmValueId
dino_embeddings (QmBuilder *builder,
                 const QmModelConfig *model,
                 QmValueId pixels,
                 bool newer,
                 const char *prefix)
{
  const QmDinoConfig *config = &model->dino;
  QmGraph *graph = builder->graph;
  int64_t hidden = config->hidden_size, registers = config->registers;
  QmValueId token = token_weights (builder, config, QM_INITIAL_NORMAL, 1,
                                   prefix, "cls_token");
  QmValueId position = QM_NO_VALUE, others = QM_NO_VALUE, patches, y;
  char name[96];
  QmNode *node;

  if (!newer)
    position = dino_positions (builder, model,
                               side_of (builder, config, pixels), prefix);
  if (registers > 0)
    others = token_weights (builder, config,
                            newer ? QM_INITIAL_NORMAL : QM_INITIAL_ZERO,
                            registers, prefix, "register_tokens");
  snprintf (name, sizeof name, "%sembeddings.patch_embeddings.%s", prefix,
            newer ? "" : "projection.");
  patches = hide (builder, dino_patches (builder, config, pixels, name));
  y = qm_graph_value (graph, QM_ROLE_TEMPORARY, builder->options->residual, 2,
                      (int64_t[]){ builder->batch * builder->length, hidden },
                      "embeddings");
  token = qm_graph_reshape (graph, token, 1, &hidden);
  node = qm_graph_append (graph, QM_OP_CLASS_TOKEN);
  node->inputs[0] = patches;
  node->inputs[1] = token;
  node->inputs[2] = position;
  node->inputs[3] = others;
  node->outputs[0] = y;
  return y;
}

/* The angles of the patches; in training, all patches of a pass are moved. */
static QmValueId
angles (QmBuilder *builder, const QmDinoConfig *config, int64_t side)
{
  QmGraph *graph = builder->graph;
  bool moved = config->move > 0 || config->jitter > 1 || config->rescale > 1;
  QmValueId table =
      qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, 2,
                      (int64_t[]){ builder->length,
                                   config->hidden_size / config->heads },
                      "rotary angles");
  QmNode *node = qm_graph_append (graph, QM_OP_PATCH_ANGLES);

  node->attributes.height = node->attributes.width = side;
  node->attributes.count = 1 + config->registers;
  node->attributes.value = config->rope_theta;
  node->outputs[0] = table;
  if (!builder->options->dropout || !moved)
    return table;
  node->attributes.move = config->move;
  node->attributes.jitter = config->jitter;
  node->attributes.rescale = config->rescale;
  node->attributes.site = qm_graph_site (graph);
  node->inputs[0] = graph->rng;
  return table;
}

/* What the classifier sees: the class token, and of DINOv2 the mean of the
 * patches beside it. */
static QmValueId
pool (QmBuilder *builder, const QmDinoConfig *config, bool newer, QmValueId x)
{
  QmGraph *graph = builder->graph;
  int64_t hidden = config->hidden_size;
  QmValueId y;
  QmNode *node;

  if (newer)
    return qm_graph_view (graph, x, 2, (int64_t[]){ builder->batch, hidden },
                          (int64_t[]){ builder->length * hidden, 1 }, 0);
  y = qm_graph_value (graph, QM_ROLE_TEMPORARY, builder->options->type, 2,
                      (int64_t[]){ builder->batch, 2 * hidden }, "pooled");
  node = qm_graph_append (graph, QM_OP_POOL);
  node->attributes.first = 1 + config->registers;
  node->inputs[0] = x;
  node->outputs[0] = y;
  return y;
}

static QmValueId
build_layers (QmBuilder *builder,
              QmValueId x,
              const QmDinoConfig *config,
              bool newer,
              const char *prefix,
              QmValueId table)
{
  Layer layer = { .config = config, .newer = newer };

  choose_samples (builder, &layer);
  for (int64_t i = 0; i < config->layers && builder->graph->status == QM_OK;
       i++)
    {
      QmValueId y;

      snprintf (layer.prefix, sizeof layer.prefix, "%s%slayer.%lld.", prefix,
                newer ? "" : "encoder.", (long long) i);
      snprintf (layer.alias, sizeof layer.alias, "%s%s", newer ? "model." : "",
                layer.prefix);
      qm_graph_begin_block (builder->graph);
      y = begin_branch (builder, &layer, x);
      y = dino_attention (builder, &layer,
                          dino_norm (builder, &layer, y, "norm1"), table);
      x = add_scaled (builder, &layer, x, y, "layer_scale1");
      y = begin_branch (builder, &layer, x);
      y = dino_mlp (builder, &layer, dino_norm (builder, &layer, y, "norm2"));
      x = add_scaled (builder, &layer, x, y, "layer_scale2");
      qm_graph_end_block (builder->graph, x);
    }
  return x;
}

QmValueId
qm_build_dino_tokens (QmBuilder *builder,
                      const QmModelConfig *model,
                      QmValueId pixels)
{
  const QmDinoConfig *config = &model->dino;
  bool newer = model->family == QM_FAMILY_DINOV3_VIT;
  int64_t side = side_of (builder, config, pixels);
  const char *prefix = newer ? ""
                       : model->family == QM_FAMILY_DINOV2
                           ? "dinov2."
                           : "dinov2_with_registers.";
  QmValueId table, x;
  QmAffine last;

  if (builder->graph->status != QM_OK)
    return QM_NO_VALUE;
  builder->batch = qm_graph_tensor (builder->graph, pixels)->shape[0];
  builder->length = side * side + 1 + config->registers;
  x = dino_embeddings (builder, model, pixels, newer, prefix);
  table = newer ? angles (builder, config, side) : QM_NO_VALUE;
  x = build_layers (builder, x, config, newer, prefix, table);
  last = qm_build_norm_weights (builder, config->hidden_size, true, prefix,
                                newer ? "norm" : "layernorm");
  return qm_build_norm (builder, x, &last, config->layer_norm_eps);
}

void
qm_build_dino (QmBuilder *builder, const QmModelConfig *model)
{
  const QmDinoConfig *config = &model->dino;
  bool newer = model->family == QM_FAMILY_DINOV3_VIT;
  QmValueId x;

  if (config->prototypes > 0)
    {
      qm_build_dino_pair (builder, model);
      return;
    }
  qm_build_image_inputs (builder, config->channels,
                         newer ? builder->image_size : config->image_size);
  qm_build_class_inputs (builder);
  x = qm_build_dino_tokens (builder, model, builder->graph->pixels);
  x = pool (builder, config, newer, x);
  qm_build_classifier (builder, x, config->classes,
                       (newer ? 1 : 2) * config->hidden_size);
}
