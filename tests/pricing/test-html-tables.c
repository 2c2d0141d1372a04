/* SPDX-License-Identifier: Apache-2.0 */

/* Tables of tests/pricing/procurement, as mails and saved pages have them: each
 * comes to what a person reads off it, or to a question.  Each table in one
 * layout, or with QM_TEST_FULL in all. */

#include "tests/pricing/procurement.h"

#include <string.h>

typedef struct
{
  const char *name;
  gboolean above;  /* what stands above the table is no part of it */
  gboolean spans;  /* cells cover the empty ones behind them */
  gboolean nested; /* within tables that lay out, as mails have them */
  gboolean boxed;  /* each cell has a table around its text */
  gboolean head;   /* names in <th>, of a <thead> */
} Layout;

static const Layout layouts[] = {
  { "plain", FALSE, FALSE, FALSE, FALSE, FALSE },
  { "spans", FALSE, TRUE, FALSE, FALSE, FALSE },
  { "page", TRUE, FALSE, FALSE, FALSE, TRUE },
  { "mail", TRUE, TRUE, TRUE, FALSE, FALSE },
  { "boxes", TRUE, FALSE, TRUE, TRUE, FALSE },
};

typedef struct
{
  const char *file;
  const Layout *layout;
} Written;

static void
append_escaped (GString *html, const char *text)
{
  for (; *text != '\0'; text++)
    if (*text == '&')
      g_string_append (html, "&amp;");
    else if (*text == '<')
      g_string_append (html, "&lt;");
    else if (*text == '\n')
      g_string_append (html, "<br>\n");
    else if (g_str_has_prefix (text, "€"))
      {
        g_string_append (html, "&euro;");
        text += strlen ("€") - 1;
      }
    else
      g_string_append_c (html, *text);
}

static void
append_cell (GString *html,
             const Layout *layout,
             const char *name,
             guint span,
             const char *text)
{
  g_string_append_printf (html, "<%s", name);
  if (span > 1)
    g_string_append_printf (html, " colspan=\"%u\"", span);
  g_string_append (html, " style='font-size:0;padding:2px'>\n  ");
  g_string_append (html, layout->boxed ? "<table><tr><td>" : "");
  g_string_append (html, "<p class=MsoNormal><span style='font-size:11pt'>");
  append_escaped (html, text);
  g_string_append (html, "<o:p></o:p></span></p>");
  g_string_append (html, layout->boxed ? "</td></tr></table>" : "");
  g_string_append_printf (html, "</%s>\n", name);
}

static void
append_row (GString *html,
            const Layout *layout,
            const QmSheet *sheet,
            guint row,
            guint width,
            gboolean names)
{
  g_string_append (html, "<tr>");
  for (guint i = 0; i < width;)
    {
      guint span = 1;

      while (layout->spans && !names && i + span < width
             && *qm_sheet_cell (sheet, row, i + span) == '\0')
        span++;
      append_cell (html, layout, names && layout->head ? "th" : "td", span,
                   qm_sheet_cell (sheet, row, i));
      i += span;
    }
  g_string_append (html, "</tr>\n");
}

/* What stands above: a line, or names beside what they name. */
static void
append_above (GString *html,
              const Layout *layout,
              const QmSheet *sheet,
              guint n)
{
  for (guint i = 0; i < n; i++)
    {
      guint cells = qm_sheet_n_cells (sheet, i), filled = 0;

      for (guint j = 0; j < cells; j++)
        filled += *qm_sheet_cell (sheet, i, j) != '\0';
      if (filled > 1)
        {
          g_string_append (html, "<table>");
          append_row (html, layout, sheet, i, cells, FALSE);
          g_string_append (html, "</table>");
        }
      else
        for (guint j = 0; filled > 0 && j < cells; j++)
          if (*qm_sheet_cell (sheet, i, j) != '\0')
            {
              g_string_append (html, "<div>");
              append_escaped (html, qm_sheet_cell (sheet, i, j));
              g_string_append (html, "</div>");
            }
    }
}

static void
append_table (GString *html,
              const Layout *layout,
              const QmSheet *sheet,
              const QmCsvMapping *mapping)
{
  guint header = (guint) mapping->header_row, width = 1;
  guint first = layout->above ? header : 0;

  for (guint i = first; i < qm_sheet_n_rows (sheet); i++)
    width = MAX (width, qm_sheet_n_cells (sheet, i));
  if (layout->above)
    append_above (html, layout, sheet, header);
  g_string_append (html, "<table border=1>\n");
  for (guint i = first; i < qm_sheet_n_rows (sheet); i++)
    {
      gboolean names = i == header;

      g_string_append (html, names && layout->head ? "<thead>" : "");
      append_row (html, layout, sheet, i, width, names);
      g_string_append (html, names && layout->head ? "</thead><tbody>" : "");
    }
  g_string_append (html, "</table>\n");
}

static GBytes *
write_page (const Written *written)
{
  static const char open[] =
      "<table width='100%'><tr><td align=center><table><tr><td>\n";
  static const char close[] = "</td></tr></table></td></tr></table>\n";
  g_autoptr (QmCsvMapping) mapping = NULL;
  g_autoptr (QmSheet) sheet =
      procurement_sheet (written->file, QM_CSV_IGNORED, &mapping);
  g_autoptr (GString) html = NULL;

  if (sheet == NULL || mapping->header_row < 0)
    return NULL;
  html = g_string_new (NULL);
  g_string_append (html, "<!DOCTYPE html>\n<html><head><title>Offer</title>"
                         "<style>p.MsoNormal { margin: 0 }</style></head>"
                         "<body>\n");
  for (guint i = 0; written->layout->nested && i < 3; i++)
    g_string_append (html, open);
  append_table (html, written->layout, sheet, mapping);
  for (guint i = 0; written->layout->nested && i < 3; i++)
    g_string_append (html, close);
  g_string_append (html, "</body></html>\n");
  return g_bytes_new (html->str, html->len);
}

/* A page of the folder, in its encoding. */
static void
test_file (gconstpointer data)
{
  const char *file = data;
  g_autofree char *path = g_build_filename (procurement_folder (), file, NULL);
  g_autoptr (GKeyFile) expected = procurement_expected (file);
  g_autofree char *encoding =
      g_key_file_get_string (expected, "file", "encoding", NULL);
  g_autofree char *text = NULL;
  char *converted;
  gsize size;

  g_assert_true (g_file_get_contents (path, &text, &size, NULL));
  converted =
      g_convert (text, (gssize) size, encoding, "UTF-8", NULL, &size, NULL);
  g_assert_nonnull (converted);
  {
    g_autoptr (GBytes) bytes = g_bytes_new_take (converted, size);

    procurement_check (file, bytes);
  }
}

static void
test_page (gconstpointer data)
{
  const Written *written = data;
  g_autoptr (GBytes) bytes = write_page (written);

  procurement_keep ("QM_KEEP_HTML", bytes);
  if (bytes == NULL)
    g_test_skip ("it is no table with a head that is known");
  else
    procurement_check (written->file, bytes);
}

int
main (int argc, char **argv)
{
  static const char *const endings[] = { ".csv", NULL };
  static const char *const pages[] = { ".html", NULL };
  g_autoptr (GPtrArray) names = NULL;
  g_autoptr (GPtrArray) files = NULL;
  int result;

  g_test_init (&argc, &argv, NULL);
  procurement_begin ();
  names = procurement_files (endings);
  for (guint i = 0; i < names->len; i++)
    for (guint j = 0; j < G_N_ELEMENTS (layouts); j++)
      {
        const char *file = g_ptr_array_index (names, i);
        g_autofree char *path =
            g_strdup_printf ("/html/%s/%s", layouts[j].name, file);
        Written *written;

        if (!procurement_takes (file, j, G_N_ELEMENTS (layouts)))
          continue;
        written = g_new0 (Written, 1);
        written->file = file;
        written->layout = &layouts[j];
        g_test_add_data_func_full (path, written, test_page, g_free);
      }
  files = procurement_files (pages);
  g_assert_cmpuint (files->len, >=, 4);
  for (guint i = 0; i < files->len; i++)
    {
      const char *file = g_ptr_array_index (files, i);
      g_autofree char *path = g_strconcat ("/html-file/", file, NULL);

      g_test_add_data_func (path, file, test_file);
    }
  result = g_test_run ();
  procurement_end ();
  return result;
}
