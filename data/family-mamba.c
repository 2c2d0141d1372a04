/* SPDX-License-Identifier: Apache-2.0 */

#include "data/family-counts.h"
#include "data/family-read.h"
#include "data/flops.h"
#include "data/text.h"

#include <string.h>

#define QM_MEMBER mamba

static const QmField fields[] = {
  QM_COUNT (vocab_size, "vocab_size", QM_MAX_VOCAB, 50280),
  QM_COUNT (hidden_size, "hidden_size", QM_MAX_HIDDEN, QM_REQUIRED),
  QM_COUNT (layers, "num_hidden_layers", QM_MAX_LAYERS, QM_REQUIRED),
  QM_COUNT (state_size, "state_size", QM_MAX_STATE, 16),
  QM_COUNT (inner_size, "expand", 8, 2, QM_APART),
  QM_COUNT (conv_kernel, "conv_kernel", QM_MAX_KERNEL, 4),
  QM_COUNT (time_step_rank, "time_step_rank", QM_MAX_HIDDEN, 0, QM_READ_APART),
  QM_NUMBER (norm_eps, "layer_norm_epsilon", 0, 1, 1e-5),
  QM_NUMBER (initializer_range, "initializer_range", 0, 10, 0.1),
  QM_NUMBER (time_step_min, "time_step_min", 1e-12, 1e3, 0.001),
  QM_NUMBER (time_step_max, "time_step_max", 1e-12, 1e3, 0.1),
  QM_NUMBER (time_step_floor, "time_step_floor", 1e-12, 1e3, 1e-4),
  QM_NUMBER (time_step_scale, "time_step_scale", 0, 1e3, 1),
  QM_SWITCH (time_step_random, "time_step_init_scheme", true, QM_APART),
  QM_SWITCH (rescale_prenorm_residual, "rescale_prenorm_residual", false),
  QM_SWITCH (use_bias, "use_bias", false),
  QM_SWITCH (use_conv_bias, "use_conv_bias", true),
  QM_SWITCH (residual_in_fp32, "residual_in_fp32", true),
  QM_SWITCH (tie_word_embeddings, "tie_word_embeddings", true),
};

static int64_t
read_time_step_rank (QmJsonObject *object, int64_t hidden_size)
{
  json_t *value = json_object_get (object->json, "time_step_rank");
  int64_t automatic = (hidden_size + 15) / 16;

  if (json_is_string (value))
    {
      qm_config_require_word (object, "time_step_rank", "auto");
      return automatic;
    }
  return qm_json_integer_or (object, "time_step_rank", 1, QM_MAX_HIDDEN,
                             automatic);
}

/* Refuses a second name of a size that says something else. */
static void
require_same (QmJsonObject *object, const char *name, int64_t size)
{
  if (qm_json_integer_or (object, name, 1, QM_MAX_INNER, size) != size)
    qm_json_fail (object, name, QM_STATUS_INVALID, "is not %lld",
                  (long long) size);
}

/* How the time steps of a new model are spread. */
static void
read_scheme (QmJsonObject *object, QmMambaConfig *config)
{
  const char *scheme = qm_json_string (object, "time_step_init_scheme", false);
  char quoted[QM_QUOTE_BYTES];

  config->time_step_random = scheme == NULL || strcmp (scheme, "random") == 0;
  if (!config->time_step_random && strcmp (scheme, "constant") != 0)
    qm_json_fail (object, "time_step_init_scheme", QM_STATUS_UNSUPPORTED,
                  "%s is not supported; random and constant are",
                  qm_text_quote (scheme, quoted));
}

static void
read_mamba (QmJsonObject *object, QmModelConfig *model)
{
  QmMambaConfig *config = &model->mamba;
  int64_t expand = qm_json_integer_or (object, "expand", 1, 8, 2);

  config->inner_size = expand * config->hidden_size;
  config->time_step_rank = read_time_step_rank (object, config->hidden_size);
  qm_config_require_word (object, "hidden_act", "silu");
  qm_config_require_switch (object, "rms_norm", true);
  qm_config_require_empty (object, "ssm_cfg");
  require_same (object, "intermediate_size", config->inner_size);
  require_same (object, "d_inner", config->inner_size);
  require_same (object, "d_model", config->hidden_size);
  require_same (object, "n_layer", config->layers);
  read_scheme (object, config);
  /* Which kernel computes the same. */
  qm_json_take (object, "pad_vocab_size_multiple");
  qm_json_take (object, "fused_add_norm");
  qm_json_take (object, "use_mambapy");
  qm_json_take (object, "use_associative_scan");
}

static void
write_mamba (json_t *object, const QmModelConfig *model)
{
  const QmMambaConfig *config = &model->mamba;

  json_object_set_new (object, "expand",
                       json_integer ((json_int_t) (config->inner_size
                                                   / config->hidden_size)));
  json_object_set_new (object, "time_step_init_scheme",
                       json_string (config->time_step_random ? "random"
                                                             : "constant"));
}

static double
mamba_flops (const QmModelConfig *model, const QmRecipe *recipe)
{
  const QmMambaConfig *config = &model->mamba;
  double tokens = (double) recipe->sequence_length;
  double hidden = (double) config->hidden_size;
  double inner = (double) config->inner_size;
  double state = (double) config->state_size;
  double rank = (double) config->time_step_rank;
  double layer =
      qm_count_product (tokens, hidden, 2 * inner)
      + qm_count_product (tokens, (double) config->conv_kernel, inner)
      + qm_count_product (tokens, inner, rank + 2 * state)
      + qm_count_product (tokens, rank, inner)
      + QM_MAMBA_SCAN_FLOPS * tokens * inner * state
      + qm_count_product (tokens, inner, hidden);

  return (double) config->layers * layer
         + qm_count_product (tokens, hidden, (double) config->vocab_size);
}

static int64_t
mamba_parameters (const QmModelConfig *model)
{
  const QmMambaConfig *config = &model->mamba;
  int64_t hidden = config->hidden_size;
  int64_t inner = config->inner_size;
  int64_t state = config->state_size;
  int64_t rank = config->time_step_rank;
  int64_t layer =
      hidden + qm_count_linear (hidden, 2 * inner, config->use_bias)
      + qm_count_linear (config->conv_kernel, inner, config->use_conv_bias)
      + qm_count_linear (inner, rank + 2 * state, false)
      + qm_count_linear (rank, inner, true) + inner * state + inner
      + qm_count_linear (inner, hidden, config->use_bias);

  return config->vocab_size * hidden * (config->tie_word_embeddings ? 1 : 2)
         + config->layers * layer + hidden;
}

const QmFamilyInfo qm_mamba_family = {
  .name = "mamba",
  .architecture = "MambaForCausalLM",
  .block = "MambaBlock",
  .objective = QM_OBJECTIVE_NEXT_TOKEN,
  .fields = fields,
  .n_fields = sizeof fields / sizeof fields[0],
  .read = read_mamba,
  .write = write_mamba,
  .flops = mamba_flops,
  .parameters = mamba_parameters,
};
