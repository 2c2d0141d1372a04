/* SPDX-License-Identifier: Apache-2.0 */

/* Tables of tests/pricing/procurement, as vendors of several countries write
 * them: each comes to what a person reads off it, which stands beside it, or to
 * a question.  See its README. */

#include "pricing/formats/qm-csv-mapping.h"
#include "pricing/quotes/qm-quote.h"
#include "tests/pricing/procurement.h"

#include <string.h>

/* The bytes of a text as its vendor would have sent them. */
static GBytes *
encode (const char *file, const char *text)
{
  g_autoptr (GKeyFile) expected = procurement_expected (file);
  g_autofree char *encoding =
      g_key_file_get_string (expected, "file", "encoding", NULL);
  g_auto (GStrv) lines = NULL;
  g_autofree char *whole = NULL;
  g_autofree char *marked = NULL;
  g_autoptr (GError) error = NULL;
  gsize size;
  char *bytes;

  lines = g_strsplit (text, "\n", -1);
  whole = g_strjoinv ("\r\n", lines);
  marked = g_strconcat (g_key_file_get_boolean (expected, "file", "mark", NULL)
                            ? "\xef\xbb\xbf"
                            : "",
                        whole, NULL);
  bytes = g_convert (marked, -1, encoding, "UTF-8", NULL, &size, &error);
  g_assert_no_error (error);
  return g_bytes_new_take (bytes, size);
}

static GBytes *
load_table (const char *file)
{
  g_autofree char *path = g_build_filename (procurement_folder (), file, NULL);
  g_autofree char *text = NULL;
  gsize size;

  g_assert_true (g_file_get_contents (path, &text, &size, NULL));
  return g_str_has_suffix (path, ".csv")
             ? encode (file, text)
             : g_bytes_new_take (g_steal_pointer (&text), size);
}

static void
test_table (gconstpointer data)
{
  g_autoptr (GBytes) bytes = load_table (data);

  procurement_check (data, bytes);
}

/* The header of a table of which each row is a line of the text, and is none of
 * several tables; -1: there is none. */
static int
find_header (const char *text, guint n_lines)
{
  g_autoptr (QmCsvMapping) mapping =
      qm_csv_mapping_guess (text, strlen (text), NULL);
  g_autoptr (QmSheet) sheet = NULL;

  if (mapping == NULL || mapping->header_row < 0)
    return -1;
  sheet = qm_sheet_new (text, strlen (text), mapping->delimiter, 0, NULL, NULL);
  if (sheet == NULL || qm_sheet_n_rows (sheet) + 1 != n_lines)
    return -1;
  for (guint i = (guint) mapping->header_row + 1; i < qm_sheet_n_rows (sheet);
       i++)
    if (qm_csv_header_score (sheet, i) > 0)
      return -1;
  return mapping->header_row;
}

/* A header that comes again on each page changes nothing, wherever a page
 * ends. */
static void
test_pages (gconstpointer data)
{
  g_autofree char *path = g_build_filename (procurement_folder (), data, NULL);
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  int header;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  lines = g_strsplit (text, "\n", -1);
  header = find_header (text, g_strv_length (lines));
  for (int end = header + 2; header >= 0 && lines[end] != NULL; end++)
    {
      g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
      g_auto (GStrv) paged = NULL;
      g_autofree char *whole = NULL;
      g_autoptr (GBytes) bytes = NULL;

      for (int i = 0; lines[i] != NULL; i++)
        {
          if (i == end)
            g_strv_builder_add (builder, lines[header]);
          g_strv_builder_add (builder, lines[i]);
        }
      paged = g_strv_builder_end (builder);
      whole = g_strjoinv ("\n", paged);
      bytes = encode (data, whole);
      g_test_message ("before line %d", end + 1);
      procurement_check (data, bytes);
    }
}

/* What is found in a workbook is told by the rows that it shows, with a cover
 * sheet or without. */
static void
test_places (void)
{
  static const char *const files[] = { "de-anfrage-teilsummen.csv",
                                       "de-anfrage-teilsummen.xlsx" };

  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autoptr (GBytes) bytes = load_table (files[i]);
      g_autoptr (GPtrArray) quotes = procurement_quotes (files[i], bytes);
      const QmQuote *quote = g_ptr_array_index (quotes, 0);
      gboolean found = FALSE;

      for (guint j = 0; j < quote->findings->len; j++)
        {
          const QmFinding *finding = g_ptr_array_index (quote->findings, j);

          found = found || g_strcmp0 (finding->place, "row 13") == 0;
        }
      g_assert_true (found);
    }
}

int
main (int argc, char **argv)
{
  static const char *const endings[] = { ".csv", ".xlsx", ".ods", ".xml",
                                         NULL };
  g_autoptr (GPtrArray) names = NULL;
  int result;

  g_test_init (&argc, &argv, NULL);
  procurement_begin ();
  names = procurement_files (endings);
  g_assert_cmpuint (names->len, >=, 174);
  for (guint i = 0; i < names->len; i++)
    {
      const char *name = g_ptr_array_index (names, i);
      g_autofree char *path = g_strconcat ("/procurement/", name, NULL);
      g_autofree char *pages = g_strconcat ("/procurement-pages/", name, NULL);

      g_test_add_data_func (path, name, test_table);
      if (g_str_has_suffix (name, ".csv"))
        g_test_add_data_func (pages, name, test_pages);
    }
  g_test_add_func ("/procurement-places", test_places);
  result = g_test_run ();
  procurement_end ();
  return result;
}
