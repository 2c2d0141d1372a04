/* SPDX-License-Identifier: Apache-2.0 */

#include "data/family-read.h"

#include <string.h>

#define FULL    "full_attention"
#define SLIDING "sliding_attention"

bool
qm_config_layer_types (QmJsonObject *object, int64_t layers, uint64_t *sliding)
{
  json_t *list = qm_json_take (object, "layer_types");

  if (list == NULL)
    return false;
  if (!json_is_array (list) || (int64_t) json_array_size (list) != layers)
    {
      qm_json_fail (object, "layer_types", QM_STATUS_INVALID,
                    "is not a list of a word for each of the %lld layers",
                    (long long) layers);
      return false;
    }
  for (int64_t i = 0; i < layers; i++)
    {
      const char *word = json_string_value (json_array_get (list, (size_t) i));
      bool slides = word != NULL && strcmp (word, SLIDING) == 0;

      if (!slides && (word == NULL || strcmp (word, FULL) != 0))
        qm_json_fail (object, "layer_types", QM_STATUS_UNSUPPORTED,
                      "only " FULL " and " SLIDING " are supported");
      qm_layers_set (sliding, i, slides);
    }
  return true;
}

json_t *
qm_config_layer_types_json (int64_t layers, const uint64_t *sliding)
{
  json_t *list = json_array ();

  for (int64_t i = 0; i < layers; i++)
    json_array_append_new (
        list, json_string (qm_layers_have (sliding, i) ? SLIDING : FULL));
  return list;
}
