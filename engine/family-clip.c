/* SPDX-License-Identifier: Apache-2.0 */

/* A tower of images and one of texts: CLIP (Radford et al. 2021, arXiv
 * 2103.00020) and SigLIP (Zhai et al. 2023, arXiv 2303.15343).  Weights begin
 * as Transformers has them, but SigLIP's temperature and bias, and its words,
 * as its paper.
 *
 * Of texts, one token alone is normed and projected, which is all that counts
 * of them after the last layer. */

#include "engine/family.h"

#include <math.h>
#include <stdio.h>

/* As SigLIP's begin: the logarithm of what cosines are multiplied by, and what
 * is added (3.2, algorithm 1). */
#define SIGLIP_TEMPERATURE 2.302585092994046
#define SIGLIP_BIAS        -10.0

/* A tower of one of the two families. */
typedef struct Tower
{
  const QmTower *sizes;
  const char *prefix;
  bool clip, causal;
  double factor; /* of CLIP's deviations */
} Tower;

/* Of a weight of a linear layer: normal with a deviation for CLIP, else as
 * Glorot and Bengio have it. */
static QmBeginning
begins (const Tower *tower, double deviation, int64_t out, int64_t in)
{
  return tower->clip
             ? (QmBeginning){ QM_INITIAL_NORMAL, deviation * tower->factor }
             : qm_build_glorot (in, out);
}

/* Deviations of CLIP (Transformers' CLIPPreTrainedModel). */
static double
narrow (const QmTower *sizes)
{
  return 1 / sqrt ((double) (sizes->hidden_size * 2 * sizes->layers));
}

static QmValueId
clip_attention (QmBuilder *builder,
                QmValueId x,
                const Tower *tower,
                const char *prefix)
{
  const QmNamesOf names = {
    prefix, { "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj" }
  };
  const QmTower *sizes = tower->sizes;
  int64_t hidden = sizes->hidden_size;
  QmAttentionShape shape = { .heads = sizes->heads,
                             .hidden = hidden,
                             .causal = tower->causal,
                             .dropout = sizes->attention_dropout };
  QmGraph *graph = builder->graph;
  size_t first = graph->n_parameters;
  QmBeginning begin = begins (tower, narrow (sizes), hidden, hidden);
  QmAffine out;
  QmValueId y;

  y = qm_build_qkv (builder, x, hidden, true, &names, NULL);
  for (size_t i = first; i < graph->n_parameters; i++)
    if (graph->status == QM_OK
        && graph->parameters[i].initial == QM_INITIAL_NORMAL)
      {
        graph->parameters[i].initial = begin.initial;
        graph->parameters[i].amounts[0] = begin.amount;
      }
  y = qm_build_attention (builder, y, &shape);
  begin = begins (tower, 1 / sqrt ((double) hidden), hidden, hidden);
  out = qm_build_linear_begun (builder, &begin, hidden, hidden, true, prefix,
                               "self_attn.out_proj");
  return qm_build_linear (builder, y, &out);
}

static QmValueId
append_mlp (QmBuilder *builder,
            QmValueId x,
            const Tower *tower,
            const char *prefix)
{
  const QmTower *sizes = tower->sizes;
  int64_t hidden = sizes->hidden_size, inner = sizes->intermediate_size;
  QmBeginning rises =
      begins (tower, 1 / sqrt (2.0 * (double) hidden), inner, hidden);
  QmBeginning falls = begins (tower, narrow (sizes), hidden, inner);
  QmAffine up = qm_build_linear_begun (builder, &rises, inner, hidden, true,
                                       prefix, "mlp.fc1");
  QmAffine down = qm_build_linear_begun (builder, &falls, hidden, inner, true,
                                         prefix, "mlp.fc2");

  return qm_build_mlp (builder, x, &up, sizes->activation, &down, 0);
}

static QmValueId
append_norm (QmBuilder *builder,
             QmValueId x,
             const Tower *tower,
             const char *prefix,
             const char *name,
             QmType type)
{
  QmAffine weights = qm_build_norm_weights (builder, tower->sizes->hidden_size,
                                            true, prefix, name);

  return qm_build_norm_as (builder, x, &weights, tower->sizes->layer_norm_eps,
                           type);
}

static QmValueId
build_layers (QmBuilder *builder, QmValueId x, const Tower *tower)
{
  QmGraph *graph = builder->graph;
  QmType type = builder->options->type;

  for (int64_t i = 0; i < tower->sizes->layers && graph->status == QM_OK; i++)
    {
      char prefix[64];
      QmValueId y;

      snprintf (prefix, sizeof prefix, "%sencoder.layers.%lld.", tower->prefix,
                (long long) i);
      qm_graph_begin_block (graph);
      y = append_norm (builder, x, tower, prefix, "layer_norm1", type);
      y = clip_attention (builder, y, tower, prefix);
      x = qm_build_residual (builder, x, y);
      y = append_norm (builder, x, tower, prefix, "layer_norm2", type);
      y = append_mlp (builder, y, tower, prefix);
      x = qm_build_residual (builder, x, y);
      qm_graph_end_block (graph, x);
    }
  return x;
}

/* One token of each sample, the first or the last. */
static QmValueId
take_token (QmBuilder *builder, QmValueId x, int64_t token)
{
  QmGraph *graph = builder->graph;
  int64_t hidden;

  if (graph->status != QM_OK)
    return QM_NO_VALUE;
  hidden = qm_graph_tensor (graph, x)->shape[1];
  return qm_graph_view (graph, x, 2, (int64_t[]){ builder->batch, hidden },
                        (int64_t[]){ builder->length * hidden, 1 },
                        token * hidden);
}

static QmValueId
new_rows (QmBuilder *builder,
          QmType type,
          int64_t rows,
          int64_t columns,
          const char *name)
{
  return qm_graph_value (builder->graph, QM_ROLE_TEMPORARY, type, 2,
                         (int64_t[]){ rows, columns }, "%s", name);
}

static QmValueId
add_positions (QmBuilder *builder, QmValueId x, QmValueId positions)
{
  QmValueId y = qm_graph_like (builder->graph, x, QM_ROLE_TEMPORARY,
                               builder->options->residual, "embeddings");
  QmNode *node = qm_graph_append (builder->graph, QM_OP_ADD_POSITIONS);

  node->inputs[0] = x;
  node->inputs[1] = positions;
  node->outputs[0] = y;
  return y;
}

/* The products of a convolution that does not overlap, as one linear layer. */
static QmValueId
clip_patches (QmBuilder *builder,
              const QmClipConfig *config,
              const Tower *tower)
{
  int64_t side = config->patch_size, hidden = config->vision.hidden_size;
  /* As LeCun's for SigLIP. */
  QmBeginning begin = {
    QM_INITIAL_NORMAL,
    tower->clip ? config->initializer_range * tower->factor
                : 1 / sqrt ((double) (config->channels * side * side))
  };
  QmAffine projection =
      qm_build_patch_weights (builder, &begin, hidden, config->channels, side,
                              !tower->clip,
                              "vision_model.embeddings.patch_embedding.");

  return qm_build_linear (builder,
                          qm_build_patches (builder, builder->graph->pixels,
                                            QM_NO_VALUE, side),
                          &projection);
}

static QmValueId
embed_images (QmBuilder *builder,
              const QmClipConfig *config,
              const Tower *tower)
{
  QmGraph *graph = builder->graph;
  int64_t hidden = config->vision.hidden_size;
  QmValueId token = QM_NO_VALUE, patches, positions, y;
  QmNode *node;

  if (tower->clip)
    {
      token = qm_build_parameter (builder, QM_INITIAL_NORMAL,
                                  builder->options->type, 1, &hidden,
                                  "vision_model.embeddings.class_embedding");
      qm_build_begin (builder, QM_INITIAL_NORMAL,
                      tower->factor / sqrt ((double) hidden));
    }
  patches = clip_patches (builder, config, tower);
  positions =
      qm_build_weight (builder, QM_INITIAL_NORMAL, builder->length, hidden,
                       tower->prefix, "embeddings.position_embedding.weight");
  qm_build_begin (builder, QM_INITIAL_NORMAL,
                  tower->clip ? config->initializer_range * tower->factor
                              : 1 / sqrt ((double) hidden));
  if (!tower->clip)
    return add_positions (builder, patches, positions);
  y = new_rows (builder, builder->options->residual,
                builder->batch * builder->length, hidden, "embeddings");
  node = qm_graph_append (graph, QM_OP_CLASS_TOKEN);
  node->inputs[0] = patches;
  node->inputs[1] = token;
  node->inputs[2] = positions;
  node->outputs[0] = y;
  return append_norm (builder, y, tower, tower->prefix, "pre_layrnorm",
                      builder->options->residual);
}

/* A row of its own for each sample, all alike. */
static QmValueId
repeat_probe (QmBuilder *builder, const Tower *tower)
{
  QmGraph *graph = builder->graph;
  int64_t hidden = tower->sizes->hidden_size;
  QmValueId probe =
      qm_build_parameter (builder, QM_INITIAL_NORMAL, builder->options->type, 3,
                          (int64_t[]){ 1, 1, hidden },
                          "vision_model.head.probe");
  QmValueId nothing = new_rows (builder, builder->options->type, builder->batch,
                                hidden, "zeros");
  QmValueId rows = new_rows (builder, builder->options->type, builder->batch,
                             hidden, "probes");
  QmBeginning begin = qm_build_glorot (hidden, hidden);
  QmNode *node;

  qm_build_begin (builder, begin.initial, begin.amount);
  qm_graph_append (graph, QM_OP_FILL)->outputs[0] = nothing;
  probe = qm_graph_reshape (graph, probe, 2, (int64_t[]){ 1, hidden });
  node = qm_graph_append (graph, QM_OP_ADD_POSITIONS);
  node->inputs[0] = nothing;
  node->inputs[1] = probe;
  node->outputs[0] = rows;
  return rows;
}

/* Of `rows` rows from `first` on, of a weight that a file has as one. */
static QmAffine
rows_of_weight (QmBuilder *builder,
                const QmAffine *all,
                int64_t first,
                int64_t rows)
{
  QmGraph *graph = builder->graph;
  QmAffine part = { .bias = QM_NO_VALUE };
  int64_t hidden;

  if (graph->status != QM_OK)
    return part;
  hidden = qm_graph_tensor (graph, all->weight)->shape[1];
  part.weight =
      qm_graph_view (graph, all->weight, 2, (int64_t[]){ rows, hidden },
                     (int64_t[]){ hidden, 1 }, first * hidden);
  part.bias =
      qm_graph_view (graph, all->bias, 1, &rows, (int64_t[]){ 1 }, first);
  return part;
}

/* Scores of one query and all tokens, their softmax, and the sum of what tokens
 * say, of every head. */
static QmValueId
attend_once (QmBuilder *builder,
             QmValueId query,
             QmValueId packed,
             const QmTower *sizes)
{
  QmGraph *graph = builder->graph;
  QmType type = builder->options->type;
  int64_t hidden = sizes->hidden_size, width = hidden / sizes->heads;
  int64_t batch = builder->batch, length = builder->length, row = 2 * hidden;
  const int64_t one[4] = { batch, sizes->heads, 1, width };
  const int64_t strides[4] = { hidden, width, width, 1 };
  QmValueId keys, values, scores, weights, y;
  QmNode *node;

  query = qm_graph_view (graph, query, 4, one, strides, 0);
  keys = qm_graph_view (graph, packed, 4,
                        (int64_t[]){ batch, sizes->heads, width, length },
                        (int64_t[]){ length * row, width, 1, row }, 0);
  values = qm_graph_view (graph, packed, 4,
                          (int64_t[]){ batch, sizes->heads, length, width },
                          (int64_t[]){ length * row, width, row, 1 }, hidden);
  scores = qm_graph_value (graph, QM_ROLE_TEMPORARY, type, 4,
                           (int64_t[]){ batch, sizes->heads, 1, length },
                           "attention scores");
  weights = qm_graph_like (graph, scores, QM_ROLE_TEMPORARY, type,
                           "attention weights");
  y = new_rows (builder, type, batch, hidden, "attention output");
  node = qm_graph_append (graph, QM_OP_MATMUL);
  node->attributes.scale = 1 / sqrt ((double) width);
  node->inputs[0] = query;
  node->inputs[1] = keys;
  node->outputs[0] = scores;
  node = qm_graph_append (graph, QM_OP_SOFTMAX);
  node->inputs[0] = scores;
  node->outputs[0] = weights;
  keys = qm_graph_view (graph, y, 4, one, strides, 0);
  node = qm_graph_append (graph, QM_OP_MATMUL);
  node->attributes.scale = 1;
  node->inputs[0] = weights;
  node->inputs[1] = values;
  node->outputs[0] = keys;
  return y;
}

/* SigLIP's head: attention of one query that is learned, and an MLP. */
static QmValueId
pool_by_attention (QmBuilder *builder, QmValueId x, const Tower *tower)
{
  const char *prefix = "vision_model.head.";
  int64_t hidden = tower->sizes->hidden_size;
  QmValueId query = repeat_probe (builder, tower), packed, y;
  QmBeginning begin = qm_build_glorot (hidden, 3 * hidden);
  QmAffine all, out, part;

  all.weight = qm_build_weight (builder, QM_INITIAL_NORMAL, 3 * hidden, hidden,
                                prefix, "attention.in_proj_weight");
  qm_build_begin (builder, begin.initial, begin.amount);
  all.bias = qm_build_weight (builder, QM_INITIAL_ZERO, 3 * hidden, 0, prefix,
                              "attention.in_proj_bias");
  part = rows_of_weight (builder, &all, 0, hidden);
  query = qm_build_linear (builder, query, &part);
  part = rows_of_weight (builder, &all, hidden, 2 * hidden);
  packed = qm_build_linear (builder, x, &part);
  y = attend_once (builder, query, packed, tower->sizes);
  begin = qm_build_glorot (hidden, hidden);
  out = qm_build_linear_begun (builder, &begin, hidden, hidden, true, prefix,
                               "attention.out_proj");
  x = qm_build_linear (builder, y, &out);
  y = append_norm (builder, x, tower, prefix, "layernorm",
                   builder->options->type);
  y = append_mlp (builder, y, tower, prefix);
  return qm_build_add (builder, x, y, builder->options->type);
}

/* Features of images. */
static QmValueId
build_vision (QmBuilder *builder, const QmModelConfig *model)
{
  const QmClipConfig *config = &model->clip;
  const Tower tower = { .sizes = &config->vision,
                        .prefix = "vision_model.",
                        .clip = model->family == QM_FAMILY_CLIP,
                        .factor = config->initializer_factor };
  QmType type = builder->options->type;
  int64_t hidden = config->vision.hidden_size;
  QmBeginning begin =
      begins (&tower, 1 / sqrt ((double) hidden), config->projection, hidden);
  QmAffine projection;
  QmValueId x;

  builder->length = qm_clip_vision_tokens (model);
  x = embed_images (builder, config, &tower);
  x = build_layers (builder, x, &tower);
  if (tower.clip)
    x = take_token (builder, x, 0);
  x = append_norm (builder, x, &tower, tower.prefix, "post_layernorm", type);
  if (!tower.clip)
    return pool_by_attention (builder, x, &tower);
  projection = qm_build_linear_begun (builder, &begin, config->projection,
                                      hidden, false, "", "visual_projection");
  return qm_build_linear (builder, x, &projection);
}

/* The token that stands for a text. */
static QmValueId
take_end (QmBuilder *builder, const QmClipConfig *config, QmValueId x)
{
  QmGraph *graph = builder->graph;
  int64_t batch = builder->batch, length = builder->length;
  QmValueId found, places, y;
  QmNode *node;

  found = qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_I32, 2,
                          (int64_t[]){ batch, 1 }, "ends of texts");
  places = qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_I32, 2,
                           (int64_t[]){ batch, length }, "tokens of ends");
  y = new_rows (builder, builder->options->residual, batch,
                config->text.hidden_size, "last tokens");
  node = qm_graph_append (graph, QM_OP_FIND_TOKENS);
  node->attributes.padding =
      config->eos_token_id == 2 ? -1 : config->eos_token_id;
  node->inputs[0] = graph->ids;
  node->outputs[0] = found;
  node->outputs[1] = places;
  node = qm_graph_append (graph, QM_OP_PICK_ROWS);
  node->attributes.count = 1;
  node->inputs[0] = x;
  node->inputs[1] = found;
  node->inputs[2] = places;
  node->outputs[0] = y;
  return y;
}

/* Features of texts. */
static QmValueId
build_text (QmBuilder *builder, const QmModelConfig *model)
{
  const QmClipConfig *config = &model->clip;
  bool clip = model->family == QM_FAMILY_CLIP;
  const Tower tower = { .sizes = &config->text,
                        .prefix = "text_model.",
                        .clip = clip,
                        .causal = clip,
                        .factor = config->initializer_factor };
  QmType type = builder->options->type;
  int64_t hidden = config->text.hidden_size;
  /* SigLIP's tables have a variance of 1 over the features, as in Flax. */
  double deviation = clip ? 0.02 * tower.factor : 1 / sqrt ((double) hidden);
  QmBeginning begin =
      begins (&tower, 1 / sqrt ((double) hidden), config->projection, hidden);
  QmValueId words, positions, x;
  QmAffine projection;

  builder->length = config->max_positions;
  words =
      qm_build_weight (builder, QM_INITIAL_NORMAL, config->vocab_size, hidden,
                       tower.prefix, "embeddings.token_embedding.weight");
  qm_build_begin (builder, QM_INITIAL_NORMAL, deviation);
  positions =
      qm_build_weight (builder, QM_INITIAL_NORMAL, builder->length, hidden,
                       tower.prefix, "embeddings.position_embedding.weight");
  qm_build_begin (builder, QM_INITIAL_NORMAL, deviation);
  x = qm_build_embedding (builder, builder->graph->ids, words, -1,
                          builder->options->residual);
  x = add_positions (builder, x, positions);
  x = build_layers (builder, x, &tower);
  x = clip ? take_end (builder, config, x)
           : take_token (builder, x, builder->length - 1);
  x = append_norm (builder, x, &tower, tower.prefix, "final_layer_norm", type);
  projection =
      qm_build_linear_begun (builder, &begin, config->projection, hidden, !clip,
                             "", clip ? "text_projection" : "text_model.head");
  return qm_build_linear (builder, x, &projection);
}

void
qm_build_clip (QmBuilder *builder, const QmModelConfig *model)
{
  const QmClipConfig *config = &model->clip;
  QmGraph *graph = builder->graph;
  QmValueId images, texts;

  graph->classes = config->vocab_size;
  qm_build_image_inputs (builder, config->channels, config->image_size);
  graph->ids =
      qm_graph_value (graph, QM_ROLE_INPUT, QM_TYPE_I32, 2,
                      (int64_t[]){ builder->batch, config->max_positions },
                      "input_ids");
  images = build_vision (builder, model);
  texts = build_text (builder, model);
  if (model->family == QM_FAMILY_CLIP)
    qm_build_pairs (builder, images, texts, config->temperature, NAN);
  else
    qm_build_pairs (builder, images, texts, SIGLIP_TEMPERATURE, SIGLIP_BIAS);
}
