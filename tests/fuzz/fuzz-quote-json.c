/* SPDX-License-Identifier: Apache-2.0 */

/* The project's own format, and remembered mappings.  What was read is written
 * so that it is read back equal, as the same bytes. */

#include "pricing/formats/qm-quote-json.h"
#include "tests/fuzz/fuzz-quotes.h"

static void
write_again (GPtrArray *quotes)
{
  GBytes *first = qm_quote_json_write (quotes), *second;
  GPtrArray *again = qm_quote_json_read (g_bytes_get_data (first, NULL),
                                         g_bytes_get_size (first), NULL);

  require (again != NULL && again->len == quotes->len);
  for (guint i = 0; i < quotes->len; i++)
    require (qm_quote_equal (g_ptr_array_index (quotes, i),
                             g_ptr_array_index (again, i)));
  second = qm_quote_json_write (again);
  require (g_bytes_equal (first, second));
  g_ptr_array_unref (again);
  g_bytes_unref (first);
  g_bytes_unref (second);
}

static void
find_mapping (const char *text)
{
  QmCsvMapping *mapping = qm_csv_mappings_find (text, "a");

  if (mapping != NULL)
    {
      char *json = qm_csv_mappings_add (text, "b", mapping);
      QmCsvMapping *again = qm_csv_mappings_find (json, "b");
      char *once = qm_csv_mappings_add (NULL, "c", mapping);
      char *twice;

      require (again != NULL);
      twice = qm_csv_mappings_add (NULL, "c", again);
      require (strcmp (once, twice) == 0);
      qm_csv_mapping_free (again);
      g_free (json);
      g_free (once);
      g_free (twice);
    }
  qm_csv_mapping_free (mapping);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  char *copy = copy_input (data, size);
  char *text = g_strndup (copy, size);
  GError *error = NULL;
  GPtrArray *quotes = qm_quote_json_read (copy, size, &error);

  require_outcome (quotes != NULL, error);
  if (quotes != NULL)
    {
      for (guint i = 0; i < quotes->len; i++)
        require_quote (g_ptr_array_index (quotes, i));
      write_again (quotes);
      for (guint i = 0; i < quotes->len; i++)
        qm_quote_check (g_ptr_array_index (quotes, i));
      g_ptr_array_unref (quotes);
    }
  find_mapping (text);
  g_free (text);
  free (copy);
  return 0;
}
