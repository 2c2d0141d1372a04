/* SPDX-License-Identifier: Apache-2.0 */

/* A model and a recipe as Transformers would be told them. */

#include "app/qm-bench.h"
#include "data/family.h"

static void
add_whole (json_t *object, const char *name, int64_t value)
{
  json_object_set_new (object, name, json_integer ((json_int_t) value));
}

static void
add_config_number (json_t *object, const char *name, double value)
{
  json_object_set_new (object, name, json_real (value));
}

json_t *
qm_bench_json_config (const QmModelConfig *config)
{
  return qm_model_config_json (config, true);
}

void
qm_bench_json_precision (json_t *object, const QmRecipe *recipe)
{
  const QmFp8 *fp8 = &recipe->fp8;

  json_object_set_new (object, "precision",
                       json_string (qm_precision_name (recipe->precision)));
  if (recipe->precision != QM_PRECISION_FP8)
    return;
  json_object_set_new (object, "fp8_scales",
                       json_string (qm_fp8_scales_name (fp8->scales)));
  json_object_set_new (object, "fp8_amax",
                       json_string (qm_fp8_amax_name (fp8->amax)));
  json_object_set_new (object, "fp8_gradients",
                       json_string (qm_fp8_gradients_name (fp8->gradients)));
}

json_t *
qm_bench_json_recipe (const QmRecipe *recipe)
{
  json_t *object = json_object ();

  add_whole (object, "batch_size", recipe->batch_size);
  add_whole (object, "steps", recipe->steps);
  add_whole (object, "sequence_length", recipe->sequence_length);
  add_whole (object, "image_size", recipe->image_size);
  qm_bench_json_precision (object, recipe);
  json_object_set_new (object, "optimizer",
                       json_string (qm_optimizer_name (recipe->optimizer)));
  add_config_number (object, "learning_rate", recipe->learning_rate);
  add_config_number (object, "beta1", recipe->beta1);
  add_config_number (object, "beta2", recipe->beta2);
  add_config_number (object, "epsilon", recipe->epsilon);
  add_config_number (object, "weight_decay", recipe->weight_decay);
  add_config_number (object, "max_grad_norm", recipe->max_grad_norm);
  if (recipe->z_loss > 0)
    add_config_number (object, "z_loss", recipe->z_loss);
  if (recipe->ema_decay > 0)
    add_config_number (object, "ema_decay", recipe->ema_decay);
  if (recipe->optimizer != QM_OPTIMIZER_MUON)
    return object;
  add_config_number (object, "muon_learning_rate", recipe->muon_learning_rate);
  add_config_number (object, "muon_momentum", recipe->muon_momentum);
  add_config_number (object, "muon_weight_decay", recipe->muon_weight_decay);
  json_object_set_new (object, "muon_scale",
                       json_string (qm_muon_scale_name (recipe->muon_scale)));
  return object;
}
