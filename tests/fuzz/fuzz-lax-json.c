/* SPDX-License-Identifier: Apache-2.0 */

/* JSON of the scripts of pages, mended. */

#include "pricing/pages/qm-lax-json.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void
require (gboolean holds)
{
  if (!holds)
    abort ();
}

/* What strict JSON says, mending must not change. */
static void
check_strict (const char *text, size_t size, const GPtrArray *values)
{
  json_t *strict = json_loadb (text, size, JSON_ALLOW_NUL, NULL);

  if (strict != NULL && values->len > 0)
    {
      json_t *mended = g_ptr_array_index (values, 0);

      require (json_typeof (strict) == json_typeof (mended));
      require (json_object_size (strict) == json_object_size (mended));
      require (json_array_size (strict) == json_array_size (mended));
    }
  json_decref (strict);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  char *text = malloc (size > 0 ? size : 1);
  g_autoptr (GPtrArray) values = NULL;

  require (text != NULL);
  if (size > 0)
    memcpy (text, data, size);
  values = qm_lax_json_read (text, size);
  for (guint i = 0; i < values->len; i++)
    {
      json_t *value = g_ptr_array_index (values, i);

      require (json_is_object (value) || json_is_array (value));
    }
  check_strict (text, size, values);
  free (text);
  return 0;
}
