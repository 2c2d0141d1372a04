/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-catalog.h"
#include "app/qm-cli-forecast.h"
#include "app/qm-cli-json.h"
#include "data/family.h"
#include "data/flops.h"
#include "pricing/advice/qm-advice.h"

/* A field of the catalog as it was read. */
static json_t *
exact (double value)
{
  return qm_known (value) ? json_real (value) : json_null ();
}

/* A count; zero means unstated. */
static json_t *
stated (int64_t value)
{
  return value > 0 ? json_integer (value) : json_null ();
}

static json_t *
tristate (QmTristate value)
{
  return value == QM_UNSTATED ? json_null () : json_boolean (value == QM_YES);
}

static json_t *
gpu_json (const QmGpu *gpu)
{
  const struct
  {
    const char *key;
    double value;
  } numbers[] = {
    { "memory_gib", gpu->memory_gib },
    { "memory_bandwidth_gbs", gpu->memory_bandwidth_gbs },
    { "measured_bandwidth_gbs", gpu->measured_bandwidth_gbs },
    { "fp16_tflops", gpu->fp16_tflops },
    { "fp8_tflops", gpu->fp8_tflops },
    { "tf32_tflops", gpu->tf32_tflops },
    { "fp32_tflops", gpu->fp32_tflops },
    { "measured_fp16_tflops", gpu->measured_fp16_tflops },
    { "tdp_w", gpu->tdp_w },
    { "multiprocessors", gpu->multiprocessors },
    { "boost_mhz", gpu->boost_mhz },
    { "l2_mib", gpu->l2_mib },
    { "nvlink_gbs", gpu->nvlink_gbs },
    { "nvlink_gpus", gpu->nvlink_gpus },
    { "pcie_generation", gpu->pcie_generation },
    { "pcie_lanes", gpu->pcie_lanes },
    { "launch_price_usd", gpu->launch_price_usd },
    { "slot_width", gpu->slot_width },
  };
  const struct
  {
    const char *key;
    const char *value;
  } texts[] = {
    { "cooling", qm_gpu_cooling_name (gpu->cooling) },
    { "peer_to_peer", gpu->peer_to_peer },
    { "source", gpu->source },
    { "vendor_document", gpu->vendor_document },
    { "unverified", gpu->unverified },
    { "notes", gpu->notes },
  };
  json_t *object = json_object ();

  json_object_set_new (object, "id", qm_cli_json_text (gpu->id));
  json_object_set_new (object, "name", qm_cli_json_text (gpu->name));
  json_object_set_new (object, "vendor", qm_cli_json_text (gpu->vendor));
  json_object_set_new (object, "form_factor",
                       qm_cli_json_text (gpu->form_factor));
  json_object_set_new (object, "released_on",
                       qm_cli_json_date (gpu->released_on));
  json_object_set_new (object, "bf16", tristate (gpu->bf16));
  json_object_set_new (object, "peer_access", tristate (gpu->peer_access));
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    json_object_set_new (object, numbers[i].key, exact (numbers[i].value));
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    json_object_set_new (object, texts[i].key,
                         qm_cli_json_text (texts[i].value));
  return object;
}

static json_t *
gpus_json (const QmCatalog *catalog)
{
  json_t *array = json_array ();
  size_t n;
  const QmGpu *gpus = qm_catalog_gpus (catalog, &n);

  for (size_t i = 0; i < n; i++)
    json_array_append_new (array, gpu_json (&gpus[i]));
  return array;
}

static json_t *
parts_json (const QmMachine *machine)
{
  json_t *array = json_array ();

  for (size_t i = 0; i < machine->n_parts; i++)
    {
      const QmMachinePart *part = &machine->parts[i];
      json_t *object = json_object ();

      json_object_set_new (object, "part", qm_cli_json_text (part->part));
      json_object_set_new (object, "detail", qm_cli_json_text (part->detail));
      json_object_set_new (object, "price",
                           qm_cli_json_micros (part->price_micros));
      json_object_set_new (object, "currency",
                           qm_cli_json_text (part->currency));
      json_array_append_new (array, object);
    }
  return array;
}

/* The prices of an item, in the order of the files. */
static json_t *
prices_of (const QmCatalog *catalog, const char *item)
{
  json_t *array = json_array ();
  QmDate today = qm_date_today ();
  size_t n;
  const QmPrice *prices = qm_catalog_prices (catalog, &n);

  for (size_t i = 0; i < n; i++)
    if (item == NULL || g_str_equal (prices[i].item, item))
      json_array_append_new (array, qm_cli_json_price (&prices[i], today));
  return array;
}

static json_t *
machines_json (const QmCatalog *catalog)
{
  json_t *array = json_array ();
  size_t n;
  const QmMachine *machines = qm_catalog_machines (catalog, &n);

  for (size_t i = 0; i < n; i++)
    {
      const QmMachine *machine = &machines[i];
      json_t *object = json_object ();

      json_object_set_new (object, "id", qm_cli_json_text (machine->id));
      json_object_set_new (object, "name", qm_cli_json_text (machine->name));
      json_object_set_new (object, "kind",
                           json_string (qm_machine_kind_name (machine->kind)));
      json_object_set_new (object, "gpus", json_integer (machine->gpus));
      json_object_set_new (object, "memory_gib", exact (machine->memory_gib));
      json_object_set_new (object, "cpu_cores", exact (machine->cpu_cores));
      json_object_set_new (object, "pcie_generation",
                           exact (machine->pcie_generation));
      json_object_set_new (object, "pcie_lanes", exact (machine->pcie_lanes));
      json_object_set_new (object, "parts", parts_json (machine));
      json_object_set_new (object, "prices", prices_of (catalog, machine->id));
      json_object_set_new (object, "source",
                           qm_cli_json_text (machine->source));
      json_array_append_new (array, object);
    }
  return array;
}

static json_t *
platforms_json (const QmCatalog *catalog, const QmCliLoad *load)
{
  json_t *array = json_array ();
  size_t n;
  const QmPlatform *platforms = qm_catalog_platforms (catalog, &n);

  for (size_t i = 0; i < n; i++)
    {
      json_t *object = qm_cli_catalog_platform_json (&platforms[i], load);

      json_object_set_new (object, "prices",
                           prices_of (catalog, platforms[i].id));
      json_array_append_new (array, object);
    }
  return array;
}

static json_t *
recipe_json (const QmRecipe *recipe)
{
  json_t *object = json_object ();

  json_object_set_new (object, "batch_size", json_integer (recipe->batch_size));
  json_object_set_new (object, "steps", json_integer (recipe->steps));
  json_object_set_new (object, "sequence_length",
                       stated (recipe->sequence_length));
  json_object_set_new (object, "image_size", stated (recipe->image_size));
  json_object_set_new (object, "precision",
                       json_string (qm_precision_name (recipe->precision)));
  if (recipe->precision == QM_PRECISION_FP8)
    {
      json_object_set_new (object, "fp8_scales",
                           json_string (
                               qm_fp8_scales_name (recipe->fp8.scales)));
      json_object_set_new (object, "fp8_amax",
                           json_string (qm_fp8_amax_name (recipe->fp8.amax)));
      json_object_set_new (object, "fp8_gradients",
                           json_string (
                               qm_fp8_gradients_name (recipe->fp8.gradients)));
    }
  json_object_set_new (object, "optimizer",
                       json_string (qm_optimizer_name (recipe->optimizer)));
  json_object_set_new (object, "learning_rate", exact (recipe->learning_rate));
  json_object_set_new (object, "beta1", exact (recipe->beta1));
  json_object_set_new (object, "beta2", exact (recipe->beta2));
  json_object_set_new (object, "epsilon", exact (recipe->epsilon));
  json_object_set_new (object, "weight_decay", exact (recipe->weight_decay));
  json_object_set_new (object, "max_grad_norm", exact (recipe->max_grad_norm));
  json_object_set_new (object, "dropout", exact (recipe->dropout));
  if (recipe->z_loss > 0)
    json_object_set_new (object, "z_loss", exact (recipe->z_loss));
  if (recipe->ema_decay > 0)
    json_object_set_new (object, "ema_decay", exact (recipe->ema_decay));
  if (recipe->optimizer != QM_OPTIMIZER_MUON)
    return object;
  json_object_set_new (object, "muon_learning_rate",
                       exact (recipe->muon_learning_rate));
  json_object_set_new (object, "muon_momentum", exact (recipe->muon_momentum));
  json_object_set_new (object, "muon_weight_decay",
                       exact (recipe->muon_weight_decay));
  json_object_set_new (object, "muon_scale",
                       json_string (qm_muon_scale_name (recipe->muon_scale)));
  return object;
}

static json_t *
models_json (const QmCatalog *catalog)
{
  json_t *array = json_array ();
  size_t n;
  g_autofree const QmModel **models = qm_catalog_models_sorted (catalog, &n);

  for (size_t i = 0; models != NULL && i < n; i++)
    {
      const QmModel *model = models[i];
      json_t *object = json_object ();

      json_object_set_new (object, "id", qm_cli_json_text (model->id));
      json_object_set_new (object, "name", qm_cli_json_text (model->name));
      json_object_set_new (object, "group",
                           json_string (qm_model_group_name (model->group)));
      json_object_set_new (object, "family",
                           json_string (qm_family_name (model->config.family)));
      json_object_set_new (object, "parameters",
                           json_integer (qm_parameter_count (&model->config)));
      json_object_set_new (object, "train_flops",
                           exact (qm_flops_train (&model->config,
                                                  &model->recipe)));
      json_object_set_new (object, "train_flops_per_sample",
                           exact (qm_flops_train_sample (&model->config,
                                                         &model->recipe)));
      json_object_set_new (object, "config",
                           qm_model_config_json (&model->config, FALSE));
      json_object_set_new (object, "recipe", recipe_json (&model->recipe));
      json_object_set_new (object, "source", qm_cli_json_text (model->source));
      json_array_append_new (array, object);
    }
  return array;
}

/* Why nothing is advised by it. */
static json_t *
aside (QmAside why)
{
  switch (why)
    {
    case QM_ASIDE_MACHINES:
      return json_string ("machines");
    case QM_ASIDE_PATH:
      return json_string ("path");
    case QM_ASIDE_NOT:
    default:
      return json_null ();
    }
}

static json_t *
measurement_json (const QmMeasurement *measurement,
                  const QmForecasts *forecasts)
{
  json_t *object = json_object ();
  QmAudit audit;
  QmVerdict verdict = qm_audit_measurement (measurement, forecasts, &audit);

  json_object_set_new (object, "model",
                       qm_cli_json_text (measurement->model->id));
  json_object_set_new (object, "gpu", qm_cli_json_text (measurement->gpu->id));
  json_object_set_new (object, "gpus", json_integer (measurement->gpus));
  json_object_set_new (object, "settings",
                       json_string (qm_settings_name (measurement->settings)));
  json_object_set_new (object, "status",
                       json_string (
                           qm_feasibility_name (measurement->feasibility)));
  json_object_set_new (object, "days", exact (measurement->days));
  json_object_set_new (object, "days_low", exact (measurement->days_low));
  json_object_set_new (object, "days_high", exact (measurement->days_high));
  json_object_set_new (object, "rounding_days",
                       exact (measurement->rounding_days));
  json_object_set_new (object, "implied_utilization",
                       qm_cli_json_number (audit.utilization, 6));
  json_object_set_new (object, "reachable_days",
                       qm_cli_json_number (audit.reachable_days, 6));
  json_object_set_new (object, "verdict",
                       json_string (qm_verdict_name (verdict)));
  json_object_set_new (object, "checkpointing",
                       tristate (measurement->checkpointing));
  json_object_set_new (object, "sharding",
                       qm_cli_json_text (measurement->sharding));
  json_object_set_new (object, "offloading",
                       tristate (measurement->offloading));
  json_object_set_new (object, "micro_batch_size",
                       stated (measurement->micro_batch_size));
  json_object_set_new (object, "accumulation",
                       stated (measurement->accumulation));
  json_object_set_new (object, "provenance",
                       json_string (
                           qm_provenance_name (measurement->provenance)));
  json_object_set_new (object, "machines",
                       json_integer (MAX (measurement->machines, 1)));
  json_object_set_new (object, "aside", aside (measurement->aside));
  qm_cli_json_add_engine (object, measurement);
  json_object_set_new (object, "source",
                       qm_cli_json_text (measurement->source));
  return object;
}

static json_t *
measurements_json (const QmCatalog *catalog)
{
  json_t *array = json_array ();
  size_t n;
  const QmMeasurement *measurements = qm_catalog_measurements (catalog, &n);
  g_autoptr (QmForecasts) forecasts = qm_cli_forecast_audits (catalog);

  for (size_t i = 0; i < n; i++)
    json_array_append_new (array,
                           measurement_json (&measurements[i], forecasts));
  measurements = qm_catalog_aside (catalog, &n);
  for (size_t i = 0; i < n; i++)
    json_array_append_new (array, measurement_json (&measurements[i], NULL));
  return array;
}

json_t *
qm_cli_catalog_json (const QmCatalog *catalog,
                     const char *topic,
                     const QmCliLoad *load)
{
  if (g_str_equal (topic, "gpus"))
    return gpus_json (catalog);
  if (g_str_equal (topic, "machines"))
    return machines_json (catalog);
  if (g_str_equal (topic, "platforms"))
    return platforms_json (catalog, load);
  if (g_str_equal (topic, "models"))
    return models_json (catalog);
  if (g_str_equal (topic, "prices"))
    return prices_of (catalog, NULL);
  return measurements_json (catalog);
}
