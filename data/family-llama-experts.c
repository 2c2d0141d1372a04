/* SPDX-License-Identifier: Apache-2.0 */

/* Mixtures of experts: which layers have them, and how many. */

#include "data/family-llama.h"

/* In all layers: far more than anything that was built.  Each has weights of
 * its own, by which a file of a kilobyte would ask for a graph of gigabytes. */
#define MOST_EXPERTS (INT64_C (1) << 18)

/* What is there where nothing is said. */
typedef struct Absent
{
  int64_t experts, per_token;
  double balance;
} Absent;

static Absent
absent_of (QmFamily family)
{
  switch (family)
    {
    case QM_FAMILY_OLMOE:
      return (Absent){ 64, 8, 0.01 };
    case QM_FAMILY_QWEN3_MOE:
      return (Absent){ 128, 8, 0.001 };
    default:
      return (Absent){ 8, 2, 0.001 };
    }
}

/* Files have one name or the other. */
static int64_t
read_expert_count (QmJsonObject *object, int64_t absent)
{
  int64_t experts =
      qm_json_integer_or (object, "num_local_experts", 1, QM_MAX_EXPERTS, 0);
  int64_t again = qm_json_integer_or (object, "num_experts", 1, QM_MAX_EXPERTS,
                                      experts > 0 ? experts : absent);

  if (experts > 0 && again != experts)
    qm_json_fail (object, "num_experts", QM_STATUS_INVALID,
                  "%lld does not agree with the %lld of num_local_experts",
                  (long long) again, (long long) experts);
  return again;
}

/* qwen3_moe: some layers may be as those of others. */
static void
read_dense (QmJsonObject *object, QmLlamaConfig *config)
{
  int64_t step =
      qm_json_integer_or (object, "decoder_sparse_step", 1, QM_MAX_LAYERS, 1);
  json_t *list = qm_json_take (object, "mlp_only_layers");

  if (list != NULL && !json_is_null (list) && !json_is_array (list))
    {
      qm_json_fail (object, "mlp_only_layers", QM_STATUS_INVALID,
                    "is not a list of numbers of layers");
      return;
    }
  for (int64_t i = 0; i < config->layers; i++)
    qm_layers_set (config->dense, i, (i + 1) % step != 0);
  for (size_t i = 0; i < json_array_size (list); i++)
    {
      json_t *value = json_array_get (list, i);

      if (!json_is_integer (value) || json_integer_value (value) < 0
          || json_integer_value (value) >= config->layers)
        qm_json_fail (object, "mlp_only_layers", QM_STATUS_INVALID,
                      "an element is none of the %lld layers",
                      (long long) config->layers);
      else
        qm_layers_set (config->dense, json_integer_value (value), true);
    }
}

static void
check_experts (QmJsonObject *object, const QmLlamaConfig *config)
{
  int64_t dense = 0;

  for (int64_t i = 0; i < config->layers; i++)
    dense += qm_layers_have (config->dense, i);
  if (config->experts_per_token > config->experts)
    qm_json_fail (object, "num_experts_per_tok", QM_STATUS_INVALID,
                  "there are only %lld experts", (long long) config->experts);
  if (dense == config->layers)
    qm_json_fail (object, "mlp_only_layers", QM_STATUS_UNSUPPORTED,
                  "no layer has experts");
  if ((config->layers - dense) * config->experts > MOST_EXPERTS)
    qm_json_fail (object,
                  qm_json_has (object, "num_local_experts")
                      ? "num_local_experts"
                      : "num_experts",
                  QM_STATUS_UNSUPPORTED,
                  "%lld in each of %lld layers are more than the %lld that are "
                  "supported",
                  (long long) config->experts,
                  (long long) (config->layers - dense),
                  (long long) MOST_EXPERTS);
}

void
qm_llama_read_experts (QmJsonObject *object, QmModelConfig *model)
{
  QmLlamaConfig *config = &model->llama;
  QmFamily family = model->family;
  const Absent absent = absent_of (family);

  if (object->status != QM_OK)
    return;
  config->experts = read_expert_count (object, absent.experts);
  config->experts_per_token =
      qm_json_integer_or (object, "num_experts_per_tok", 1, QM_MAX_EXPERTS,
                          absent.per_token);
  config->expert_size = config->intermediate_size;
  config->normalized_experts = family == QM_FAMILY_MIXTRAL;
  if (family == QM_FAMILY_QWEN3_MOE)
    {
      config->expert_size = qm_json_integer_or (object, "moe_intermediate_size",
                                                1, QM_MAX_INNER, 768);
      read_dense (object, config);
    }
  if (family == QM_FAMILY_OLMOE)
    qm_config_require_empty (object, "clip_qkv");
  if (family == QM_FAMILY_MIXTRAL)
    qm_config_require_number (object, "router_jitter_noise", 0);
  else
    config->normalized_experts =
        qm_json_boolean_or (object, "norm_topk_prob", false);
  config->balance = qm_json_number_or (object, "router_aux_loss_coef", 0, 1e3,
                                       absent.balance);
  if (!qm_json_boolean_or (object, "output_router_logits", false))
    config->balance = 0;
  if (object->status == QM_OK)
    check_experts (object, config);
}

static json_t *
dense_json (const QmLlamaConfig *config)
{
  json_t *list = json_array ();

  for (int64_t i = 0; i < config->layers; i++)
    if (qm_layers_have (config->dense, i))
      json_array_append_new (list, json_integer ((json_int_t) i));
  return list;
}

void
qm_llama_write_experts (json_t *object, const QmModelConfig *model)
{
  const QmLlamaConfig *config = &model->llama;
  bool mixtral = model->family == QM_FAMILY_MIXTRAL;

  json_object_set_new (object, mixtral ? "num_local_experts" : "num_experts",
                       json_integer ((json_int_t) config->experts));
  json_object_set_new (object, "num_experts_per_tok",
                       json_integer ((json_int_t) config->experts_per_token));
  if (!mixtral)
    json_object_set_new (object, "norm_topk_prob",
                         json_boolean (config->normalized_experts));
  if (model->family == QM_FAMILY_QWEN3_MOE)
    {
      json_object_set_new (object, "moe_intermediate_size",
                           json_integer ((json_int_t) config->expert_size));
      json_object_set_new (object, "decoder_sparse_step", json_integer (1));
      json_object_set_new (object, "mlp_only_layers", dense_json (config));
    }
  json_object_set_new (object, "router_aux_loss_coef",
                       json_real (config->balance));
  json_object_set_new (object, "output_router_logits",
                       json_boolean (config->balance > 0));
}
