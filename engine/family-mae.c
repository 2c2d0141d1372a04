/* SPDX-License-Identifier: Apache-2.0 */

/* A masked autoencoder (He et al. 2022, arXiv 2111.06377).  Kept patches are in
 * their order in the encoder, where Transformers shuffles them: attention does
 * not know of orders, and the decoder has all of them in their places.  What is
 * hidden is not projected either. */

#include "engine/family.h"

#include <math.h>

/* Transformers adds this to variances. */
#define EPSILON 1e-6

/* Patches of all samples: those that are kept, and where they are. */
typedef struct Mask
{
  int64_t side, all, keeps;
  QmValueId kept, places;
} Mask;

static Mask
hide (QmBuilder *builder, const QmMaeConfig *config)
{
  QmGraph *graph = builder->graph;
  Mask mask = { .side = config->image_size / config->patch_size,
                .all = qm_mae_patches (config),
                .keeps = qm_mae_kept (config) };
  int64_t batch = builder->batch;

  mask.kept = qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_I32, 2,
                              (int64_t[]){ batch, mask.keeps }, "kept patches");
  mask.places =
      qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_I32, 2,
                      (int64_t[]){ batch, mask.all }, "places of patches");
  qm_build_mask (builder, batch, mask.all, mask.kept, mask.places);
  return mask;
}

/* Positions of all patches, as `slot` of the tables. */
static QmValueId
mae_positions (QmBuilder *builder,
               int slot,
               int64_t side,
               int64_t features,
               const char *name)
{
  QmGraph *graph = builder->graph;
  QmValueId value =
      qm_graph_value (graph, QM_ROLE_CONSTANT, QM_TYPE_F32, 2,
                      (int64_t[]){ 1 + side * side, features }, "positions");

  graph->tables[slot] = (QmTable){ value, side, name };
  return value;
}

/* A parameter [1, 1, features], as [features]. */
static QmValueId
token_weights (QmBuilder *builder, int64_t features, const char *name)
{
  QmValueId value =
      qm_build_parameter (builder, QM_INITIAL_NORMAL, builder->options->type, 3,
                          (int64_t[]){ 1, 1, features }, name);

  return qm_graph_reshape (builder->graph, value, 1, &features);
}

/* The products of a convolution that does not overlap, as one linear layer,
 * whose weights begin as those of one (Glorot and Bengio 2010, uniform). */
static QmValueId
mae_patches (QmBuilder *builder, const QmMaeConfig *config, const Mask *mask)
{
  int64_t side = config->patch_size, hidden = config->hidden_size;
  int64_t elements = config->channels * side * side;
  QmBeginning begin = qm_build_glorot (elements, hidden);
  QmAffine projection =
      qm_build_patch_weights (builder, &begin, hidden, config->channels, side,
                              true,
                              "vit.embeddings.patch_embeddings.projection.");

  return qm_build_linear (builder,
                          qm_build_patches (builder, builder->graph->pixels,
                                            mask->kept, side),
                          &projection);
}

static QmValueId
mae_embeddings (QmBuilder *builder, const QmMaeConfig *config, const Mask *mask)
{
  QmGraph *graph = builder->graph;
  int64_t hidden = config->hidden_size;
  QmValueId token = token_weights (builder, hidden, "vit.embeddings.cls_token");
  QmValueId position = mae_positions (builder, 0, mask->side, hidden,
                                      "vit.embeddings.position_embeddings");
  QmValueId patches = mae_patches (builder, config, mask);
  QmValueId y =
      qm_graph_value (graph, QM_ROLE_TEMPORARY, builder->options->residual, 2,
                      (int64_t[]){ builder->batch * builder->length, hidden },
                      "embeddings");
  QmNode *node = qm_graph_append (graph, QM_OP_CLASS_TOKEN);

  node->inputs[0] = patches;
  node->inputs[1] = token;
  node->inputs[2] = position;
  node->inputs[4] = mask->kept;
  node->outputs[0] = y;
  return y;
}

/* All tokens of the decoder. */
static QmValueId
restore_order (QmBuilder *builder,
               QmValueId x,
               const QmMaeConfig *config,
               const Mask *mask)
{
  QmGraph *graph = builder->graph;
  int64_t hidden = config->decoder_hidden_size;
  QmAffine embedding =
      qm_build_linear_weights (builder, hidden, config->hidden_size, true,
                               "decoder.", "decoder_embed");
  QmValueId token = token_weights (builder, hidden, "decoder.mask_token");
  QmValueId position = mae_positions (builder, 1, mask->side, hidden,
                                      "decoder.decoder_pos_embed");
  QmValueId y =
      qm_graph_value (graph, QM_ROLE_TEMPORARY, builder->options->residual, 2,
                      (int64_t[]){ builder->batch * builder->length, hidden },
                      "restored tokens");
  QmNode *node;

  x = qm_build_linear (builder, x, &embedding);
  node = qm_graph_append (graph, QM_OP_RESTORE_TOKENS);
  node->inputs[0] = x;
  node->inputs[1] = token;
  node->inputs[2] = mask->places;
  node->inputs[3] = position;
  node->outputs[0] = y;
  return y;
}

/* The loss is a mean over micro-batches of as many hidden patches each. */
static void
append_patch_loss (QmBuilder *builder,
                   const QmMaeConfig *config,
                   const Mask *mask)
{
  QmGraph *graph = builder->graph;
  int64_t rows = builder->batch * builder->length;
  QmValueId losses, gradient;
  QmNode *node;

  losses = qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, 1, &rows,
                           "losses");
  gradient = qm_graph_like (graph, graph->logits, QM_ROLE_TEMPORARY,
                            builder->options->type, "gradient of the pixels");
  node = qm_graph_append (graph, QM_OP_PIXEL_LOSS);
  node->attributes.patch = config->patch_size;
  node->attributes.count = mask->all - mask->keeps;
  node->attributes.normalized = config->normalized_pixels;
  node->attributes.epsilon = EPSILON;
  node->attributes.scale = 1 / (double) builder->options->accumulation;
  node->inputs[0] = graph->logits;
  node->inputs[1] = graph->pixels;
  node->inputs[2] = mask->places;
  node->inputs[3] = graph->state;
  node->outputs[0] = gradient;
  node->outputs[1] = losses;
  qm_build_loss_sum (builder, losses, rows);
}

static QmValueId
encode (QmBuilder *builder, const QmMaeConfig *config, const Mask *mask)
{
  const QmVitLayers layers = { .n = config->layers,
                               .hidden = config->hidden_size,
                               .inner = config->intermediate_size,
                               .heads = config->heads,
                               .prefix = "vit.encoder.layer.",
                               .alias = "vit.layers.",
                               .epsilon = config->layer_norm_eps,
                               .hidden_dropout = config->hidden_dropout,
                               .attention_dropout = config->attention_dropout,
                               .activation = config->activation,
                               .qkv_bias = config->qkv_bias };
  QmValueId x;
  QmAffine norm;

  builder->length = mask->keeps + 1;
  x = qm_build_vit_layers (builder, mae_embeddings (builder, config, mask),
                           &layers);
  norm = qm_build_norm_weights (builder, config->hidden_size, true, "vit.",
                                "layernorm");
  return qm_build_norm (builder, x, &norm, config->layer_norm_eps);
}

static QmValueId
decode (QmBuilder *builder,
        QmValueId x,
        const QmMaeConfig *config,
        const Mask *mask)
{
  const QmVitLayers layers = { .n = config->decoder_layers,
                               .hidden = config->decoder_hidden_size,
                               .inner = config->decoder_intermediate_size,
                               .heads = config->decoder_heads,
                               .prefix = "decoder.decoder_layers.",
                               .alias = "decoder.decoder_layers.",
                               .epsilon = config->layer_norm_eps,
                               .hidden_dropout = config->hidden_dropout,
                               .attention_dropout = config->attention_dropout,
                               .activation = config->activation,
                               .qkv_bias = config->qkv_bias };
  int64_t side = config->patch_size;
  QmAffine norm, head;

  builder->length = mask->all + 1;
  x = qm_build_vit_layers (builder, restore_order (builder, x, config, mask),
                           &layers);
  norm = qm_build_norm_weights (builder, config->decoder_hidden_size, true,
                                "decoder.", "decoder_norm");
  x = qm_build_norm (builder, x, &norm, config->layer_norm_eps);
  head = qm_build_linear_weights (builder, config->channels * side * side,
                                  config->decoder_hidden_size, true, "decoder.",
                                  "decoder_pred");
  return qm_build_linear (builder, x, &head);
}

void
qm_build_mae (QmBuilder *builder, const QmModelConfig *model)
{
  const QmMaeConfig *config = &model->mae;
  QmGraph *graph = builder->graph;
  Mask mask;

  qm_build_image_inputs (builder, config->channels, config->image_size);
  mask = hide (builder, config);
  graph->logits =
      decode (builder, encode (builder, config, &mask), config, &mask);
  append_patch_loss (builder, config, &mask);
}
