/* SPDX-License-Identifier: Apache-2.0 */

/* Windows and positions, layer by layer, as each type of model has them. */

#include "data/family-llama.h"

#include <string.h>

/* Gemma 3: every sixth layer sees everything; OLMo 3: every fourth. */
#define GEMMA3_PATTERN 6
#define OLMO3_PATTERN  4

static bool
has_types (QmFamily family)
{
  return family == QM_FAMILY_QWEN2 || family == QM_FAMILY_QWEN3
         || family == QM_FAMILY_OLMO3 || family == QM_FAMILY_SMOLLM3
         || family == QM_FAMILY_GEMMA3_TEXT;
}

static bool
has_switch (QmFamily family)
{
  return family == QM_FAMILY_QWEN2 || family == QM_FAMILY_QWEN3
         || family == QM_FAMILY_SMOLLM3 || family == QM_FAMILY_QWEN3_MOE;
}

/* Every layer but each `n`-th. */
static void
set_pattern (QmLlamaConfig *config, int64_t n)
{
  for (int64_t i = 0; i < config->layers; i++)
    qm_layers_set (config->windowed, i, (i + 1) % n != 0);
}

/* Those from `first` on. */
static void
set_from (QmLlamaConfig *config, int64_t first)
{
  for (int64_t i = first; i < config->layers; i++)
    qm_layers_set (config->windowed, i, true);
}

/* Transformers writes it under a name of its own, beside a list, and reads that
 * name nowhere: what it says alone would not be so there. */
static int64_t
read_pattern (QmJsonObject *object)
{
  int64_t pattern = qm_json_integer_or (object, "sliding_window_pattern", 1,
                                        QM_MAX_LAYERS, GEMMA3_PATTERN);
  int64_t written = qm_json_integer_or (object, "_sliding_window_pattern", 1,
                                        QM_MAX_LAYERS, pattern);

  if (written != pattern && !qm_json_has (object, "layer_types"))
    qm_json_fail (object, "_sliding_window_pattern", QM_STATUS_UNSUPPORTED,
                  "is not read by Transformers, to which it is %lld; write "
                  "sliding_window_pattern or layer_types",
                  (long long) pattern);
  return pattern;
}

/* Where a list does not say. */
static void
set_windows (QmJsonObject *object, QmFamily family, QmLlamaConfig *config)
{
  int64_t first;

  switch (family)
    {
    case QM_FAMILY_MISTRAL:
    case QM_FAMILY_MIXTRAL:
    case QM_FAMILY_QWEN3_MOE:
      set_from (config, config->window > 0 ? 0 : config->layers);
      break;
    case QM_FAMILY_QWEN2:
    case QM_FAMILY_QWEN3:
      first = qm_json_integer_or (object, "max_window_layers", 0,
                                  QM_MAX_LAYERS * 4, 28);
      set_from (config, config->window > 0 ? first : config->layers);
      break;
    case QM_FAMILY_OLMO3:
      set_pattern (config, OLMO3_PATTERN);
      break;
    case QM_FAMILY_GEMMA3_TEXT:
      set_pattern (config, read_pattern (object));
      break;
    case QM_FAMILY_SMOLLM3:
      for (int64_t i = 0; i < config->layers && config->window > 0; i++)
        qm_layers_set (config->windowed, i,
                       qm_layers_have (config->unrotated, i));
      /* Of the model that it is made from; read by nobody. */
      qm_json_take (object, "max_window_layers");
      break;
    default:
      break;
    }
}

/* Where a list says it; of models that have none, it may say nothing else. */
static void
read_types (QmJsonObject *object, QmFamily family, QmLlamaConfig *config)
{
  uint64_t types[QM_CONFIG_MAX_LAYERS / 64] = { 0 };

  if (!qm_config_layer_types (object, config->layers, types))
    return;
  for (int64_t i = 0; i < config->layers; i++)
    if (!has_types (family)
        && qm_layers_have (types, i) != qm_layers_have (config->windowed, i))
      qm_json_fail (object, "layer_types", QM_STATUS_UNSUPPORTED,
                    "all layers of a %s model are alike",
                    qm_family_name (family));
  memcpy (config->windowed, types, sizeof types);
}

static int64_t
count_layers_in (const QmLlamaConfig *config, const uint64_t *bits)
{
  int64_t n = 0;

  for (int64_t i = 0; i < config->layers; i++)
    n += qm_layers_have (bits, i);
  return n;
}

/* A size of the window that counts: 0 is none. */
static void
read_window (QmJsonObject *object, QmFamily family, QmLlamaConfig *config)
{
  bool on = true;

  if (family == QM_FAMILY_LLAMA || family == QM_FAMILY_OLMO2
      || family == QM_FAMILY_OLMOE)
    return; /* a field that these do not have is refused */
  config->window = qm_json_integer_or (
      object, "sliding_window", 1, QM_MAX_POSITIONS,
      family == QM_FAMILY_SMOLLM3 || family == QM_FAMILY_MIXTRAL
              || qm_config_is_null (object, "sliding_window")
          ? 0
          : 4096);
  if (has_switch (family))
    on = qm_json_boolean_or (object, "use_sliding_window", false);
  if (!on)
    config->window = 0;
}

/* SmolLM3: `no_rope_layers` has 1 where there are positions. */
static void
read_unrotated (QmJsonObject *object, QmLlamaConfig *config)
{
  int64_t interval = qm_json_integer_or (object, "no_rope_layer_interval", 1,
                                         QM_MAX_LAYERS, 4);
  json_t *list = qm_json_take (object, "no_rope_layers");

  if (list != NULL
      && (!json_is_array (list)
          || (int64_t) json_array_size (list) < config->layers))
    {
      qm_json_fail (object, "no_rope_layers", QM_STATUS_INVALID,
                    "is not a list of a number for each of the %lld layers",
                    (long long) config->layers);
      return;
    }
  for (int64_t i = 0; i < config->layers; i++)
    {
      json_t *value = json_array_get (list, (size_t) i);

      if (list != NULL
          && (!json_is_integer (value) || json_integer_value (value) < 0
              || json_integer_value (value) > 1))
        qm_json_fail (object, "no_rope_layers", QM_STATUS_INVALID,
                      "an element is neither 0 nor 1");
      qm_layers_set (config->unrotated, i,
                     list != NULL ? json_integer_value (value) == 0
                                  : (i + 1) % interval == 0);
    }
}

void
qm_llama_read_layers (QmJsonObject *object, QmModelConfig *model)
{
  QmLlamaConfig *config = &model->llama;

  if (object->status != QM_OK)
    return;
  if (model->family == QM_FAMILY_SMOLLM3)
    read_unrotated (object, config);
  read_window (object, model->family, config);
  set_windows (object, model->family, config);
  read_types (object, model->family, config);
  if (object->status != QM_OK)
    return;
  if (count_layers_in (config, config->windowed) == 0)
    config->window = 0;
  else if (config->window == 0)
    qm_json_fail (object, "sliding_window", QM_STATUS_UNSUPPORTED,
                  "layers slide, but there is no window");
}

static json_t *
unrotated_json (const QmLlamaConfig *config)
{
  json_t *list = json_array ();

  for (int64_t i = 0; i < config->layers; i++)
    json_array_append_new (
        list, json_integer (qm_layers_have (config->unrotated, i) ? 0 : 1));
  return list;
}

/* How many layers see everything before the first that does not, which is what
 * versions without a list of types go by. */
static int64_t
first_windowed (const QmLlamaConfig *config)
{
  int64_t first = 0;

  while (first < config->layers && !qm_layers_have (config->windowed, first))
    first++;
  return first;
}

void
qm_llama_write_layers (json_t *object, const QmModelConfig *model)
{
  const QmLlamaConfig *config = &model->llama;
  QmFamily family = model->family;

  if (family == QM_FAMILY_MISTRAL || family == QM_FAMILY_MIXTRAL
      || family == QM_FAMILY_QWEN3_MOE || has_types (family))
    json_object_set_new (object, "sliding_window",
                         config->window > 0
                             ? json_integer ((json_int_t) config->window)
                             : json_null ());
  if (has_switch (family))
    json_object_set_new (object, "use_sliding_window",
                         json_boolean (config->window > 0));
  if (family == QM_FAMILY_QWEN2 || family == QM_FAMILY_QWEN3)
    json_object_set_new (object, "max_window_layers",
                         json_integer ((json_int_t) first_windowed (config)));
  if (has_types (family))
    json_object_set_new (object, "layer_types",
                         qm_config_layer_types_json (config->layers,
                                                     config->windowed));
  if (family == QM_FAMILY_SMOLLM3)
    json_object_set_new (object, "no_rope_layers", unrotated_json (config));
}
