/* SPDX-License-Identifier: Apache-2.0 */

#include "data/family-counts.h"
#include "data/family-read.h"
#include "data/flops.h"

#include <string.h>

#define QM_MEMBER mamba2

/* From here on a limit is none. */
#define ENDLESS 1e30

static const QmField fields[] = {
  QM_COUNT (vocab_size, "vocab_size", QM_MAX_VOCAB, 32768),
  QM_COUNT (hidden_size, "hidden_size", QM_MAX_HIDDEN, QM_REQUIRED),
  QM_COUNT (layers, "num_hidden_layers", QM_MAX_LAYERS, QM_REQUIRED),
  QM_COUNT (heads, "num_heads", QM_MAX_HEADS, 128),
  QM_COUNT (head_dim, "head_dim", QM_MAX_HIDDEN, 64),
  QM_COUNT (groups, "n_groups", QM_MAX_HEADS, 8),
  QM_COUNT (state_size, "state_size", QM_MAX_STATE, 128),
  QM_COUNT (expand, "expand", 8, 2),
  QM_COUNT (conv_kernel, "conv_kernel", QM_MAX_KERNEL, 4),
  QM_COUNT (chunk_size, "chunk_size", QM_MAX_POSITIONS, 256),
  QM_NUMBER (norm_eps, "layer_norm_epsilon", 0, 1, 1e-5),
  QM_NUMBER (initializer_range, "initializer_range", 0, 10, 0.1),
  QM_NUMBER (time_step_min, "time_step_min", 1e-12, 1e3, 0.001),
  QM_NUMBER (time_step_max, "time_step_max", 1e-12, 1e3, 0.1),
  QM_NUMBER (time_step_floor, "time_step_floor", 1e-12, 1e3, 1e-4),
  QM_NUMBER (
      time_step_least, "time_step_least", 0, ENDLESS, 0, QM_OPTIONAL_APART),
  QM_NUMBER (
      time_step_most, "time_step_most", 0, ENDLESS, 0, QM_OPTIONAL_APART),
  QM_SWITCH (rescale_prenorm_residual, "rescale_prenorm_residual", false),
  QM_SWITCH (use_bias, "use_bias", false),
  QM_SWITCH (use_conv_bias, "use_conv_bias", true),
  QM_SWITCH (residual_in_fp32, "residual_in_fp32", true),
  QM_SWITCH (tie_word_embeddings, "tie_word_embeddings", false),
};

/* The number of an element of time_step_limit; without end, as Transformers 5
 * writes it, is {"__float__": "Infinity"}. */
static bool
read_step_limit (const json_t *value, double *limit)
{
  const char *word = json_string_value (json_object_get (value, "__float__"));

  *limit = word != NULL ? ENDLESS : json_number_value (value);
  return word != NULL
             ? strcmp (word, "Infinity") == 0 && json_object_size (value) == 1
             : json_is_number (value);
}

/* Steps are above 0 whatever the lower limit is, and none is kept below one
 * that has no end. */
static void
read_limits (QmJsonObject *object, QmMamba2Config *config)
{
  json_t *list = qm_json_take (object, "time_step_limit");
  double least = 0, most = ENDLESS;

  if (list == NULL)
    return;
  if (!json_is_array (list) || json_array_size (list) != 2
      || !read_step_limit (json_array_get (list, 0), &least)
      || !read_step_limit (json_array_get (list, 1), &most))
    qm_json_fail (object, "time_step_limit", QM_STATUS_INVALID,
                  "is not a list of two numbers");
  else if (!(most > 0) || !(least < most) || least >= ENDLESS)
    qm_json_fail (object, "time_step_limit", QM_STATUS_UNSUPPORTED,
                  "nothing is between %.10g and %.10g", least, most);
  config->time_step_least = least > 0 ? least : 0;
  config->time_step_most = most < ENDLESS ? most : 0;
}

static void
read_mamba2 (QmJsonObject *object, QmModelConfig *model)
{
  QmMamba2Config *config = &model->mamba2;
  int64_t inner = config->expand * config->hidden_size;

  read_limits (object, config);
  if (object->status == QM_OK && config->heads * config->head_dim != inner)
    qm_json_fail (object, "num_heads", QM_STATUS_INVALID,
                  "%lld heads of %lld are not the %lld channels that there are",
                  (long long) config->heads, (long long) config->head_dim,
                  (long long) inner);
  if (object->status == QM_OK && config->heads % config->groups != 0)
    qm_json_fail (object, "n_groups", QM_STATUS_INVALID,
                  "%lld heads are not divisible by %lld",
                  (long long) config->heads, (long long) config->groups);
  qm_config_require_word (object, "hidden_act", "silu");
  qm_config_require_switch (object, "rms_norm", true);
  /* The class of Transformers reads neither, and norms behind the gate whatever
   * files say; there is no such rank in Mamba-2. */
  qm_json_take (object, "norm_before_gate");
  qm_json_take (object, "time_step_rank");
}

static void
write_mamba2 (json_t *object, const QmModelConfig *model)
{
  const QmMamba2Config *config = &model->mamba2;
  double most = config->time_step_most > 0 ? config->time_step_most : ENDLESS;

  if (config->time_step_least > 0 || config->time_step_most > 0)
    json_object_set_new (object, "time_step_limit",
                         json_pack ("[f, f]", config->time_step_least, most));
}

/* Columns of what goes through the convolution: x, B and C. */
static int64_t
convolved (const QmMamba2Config *config)
{
  return config->heads * config->head_dim
         + 2 * config->groups * config->state_size;
}

static double
mamba2_flops (const QmModelConfig *model, const QmRecipe *recipe)
{
  const QmMamba2Config *config = &model->mamba2;
  double tokens = (double) recipe->sequence_length;
  double hidden = (double) config->hidden_size;
  double inner = (double) (config->heads * config->head_dim);
  double both = (double) convolved (config);
  double layer =
      qm_count_product (tokens, hidden, inner + both + (double) config->heads)
      + qm_count_product (tokens, (double) config->conv_kernel, both)
      + QM_MAMBA2_SCAN_FLOPS * tokens * inner * (double) config->state_size
      + qm_count_product (tokens, inner, hidden);

  return (double) config->layers * layer
         + qm_count_product (tokens, hidden, (double) config->vocab_size);
}

static int64_t
mamba2_parameters (const QmModelConfig *model)
{
  const QmMamba2Config *config = &model->mamba2;
  int64_t hidden = config->hidden_size;
  int64_t inner = config->heads * config->head_dim;
  int64_t both = convolved (config);
  int64_t layer =
      hidden
      + qm_count_linear (hidden, inner + both + config->heads, config->use_bias)
      + qm_count_linear (config->conv_kernel, both, config->use_conv_bias)
      + 3 * config->heads + inner
      + qm_count_linear (inner, hidden, config->use_bias);

  return config->vocab_size * hidden * (config->tie_word_embeddings ? 1 : 2)
         + config->layers * layer + hidden;
}

const QmFamilyInfo qm_mamba2_family = {
  .name = "mamba2",
  .architecture = "Mamba2ForCausalLM",
  .block = "Mamba2Block",
  .objective = QM_OBJECTIVE_NEXT_TOKEN,
  .fields = fields,
  .n_fields = sizeof fields / sizeof fields[0],
  .read = read_mamba2,
  .write = write_mamba2,
  .flops = mamba2_flops,
  .parameters = mamba2_parameters,
};
