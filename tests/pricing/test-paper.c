/* SPDX-License-Identifier: Apache-2.0 */

/* Documents as Markdown, CSV and spreadsheets. */

#include "pricing/formats/qm-workbook.h"
#include "pricing/formats/qm-zip.h"
#include "pricing/papers/qm-paper.h"

#include <libxml/parser.h>
#include <string.h>

static QmPaper *
make_paper (void)
{
  static const char *const heads[] = { "EUR", "A & B", "C|D", NULL };
  QmPaper *paper = qm_paper_new ("A *title*", "of today");
  QmPaperTable *table;
  QmPaperCell *cells;

  qm_paper_add (paper, QM_PAPER_HEADING, "Numbers");
  table = qm_paper_add_table (paper, "Table <1>", heads);
  qm_paper_table_add_row (table, QM_ROW_SECTION, "What it comes to");
  cells = qm_paper_table_add_row (table, QM_ROW_STRONG, "Net");
  qm_paper_cell_set (&cells[1], g_strdup ("1.234,50 EUR"),
                     g_strdup ("1234.50"));
  cells[1].best = TRUE;
  qm_paper_cell_set (&cells[2], g_strdup ("=HYPERLINK(\"x\")\nsecond\x01 line"),
                     NULL);
  qm_paper_add (paper, QM_PAPER_ITEM, "first");
  qm_paper_add (paper, QM_PAPER_ITEM, "second");
  qm_paper_add (paper, QM_PAPER_TEXT, "The end.");
  return paper;
}

static void
test_markdown (void)
{
  g_autoptr (QmPaper) paper = make_paper ();
  g_autofree char *text = qm_paper_to_markdown (paper);

  g_assert_cmpstr (text, ==,
                   "# A \\*title\\*\n\nof today\n\n## Numbers\n\n"
                   "| EUR | A & B | C\\|D |\n| --- | ---: | ---: |\n"
                   "| **What it comes to** |  |  |\n"
                   "| **Net** | **1.234,50 EUR** | "
                   "=HYPERLINK(\"x\")<br>second\x01 line |\n\n"
                   "- first\n- second\n\nThe end.\n");
}

/* Columns of words begin at the left, each for itself. */
static void
test_words (void)
{
  static const char *const heads[] = { "a", "b", "c", "d", NULL };
  g_autoptr (QmPaper) paper = qm_paper_new ("Words", NULL);
  QmPaperTable *table = qm_paper_add_table (paper, "t", heads);
  g_autofree char *markdown = NULL;
  g_autofree char *latex = NULL;
  const char *at;

  qm_paper_table_set_words (table, (const guint[]){ 2, 0 });
  g_assert_true (qm_paper_table_is_words (table, 0));
  g_assert_false (qm_paper_table_is_words (table, 1));
  g_assert_true (qm_paper_table_is_words (table, 2));
  markdown = qm_paper_to_markdown (paper);
  g_assert_nonnull (strstr (markdown, "| --- | ---: | --- | ---: |\n"));
  latex = qm_paper_to_latex (paper);
  at = strstr (latex, "\\begin{longtable}");
  for (guint i = 0; i < 4; i++)
    {
      at = strstr (at, "\\ragged");
      g_assert_nonnull (at);
      g_assert_true (
          g_str_has_prefix (at, i % 2 == 0 ? "\\raggedright" : "\\raggedleft"));
      at++;
    }
}

static void
test_csv (void)
{
  g_autoptr (QmPaper) paper = make_paper ();
  g_autoptr (GBytes) bytes = qm_paper_to_csv (paper);
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);
  g_autofree char *text = g_strndup (data, size);

  g_assert_cmpstr (
      text, ==,
      "EUR,A & B,\"C|D\"\r\nWhat it comes to,,\r\n"
      "Net,1234.50,\"'=HYPERLINK(\"\"x\"\")\nsecond\x01 line\"\r\n");
}

/* Whether a member of an archive is XML; its text.  (transfer full) */
static char *
read_member (GBytes *bytes, const char *name)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmZip) zip = qm_zip_new (g_bytes_get_data (bytes, NULL),
                                      g_bytes_get_size (bytes), &error);
  g_autoptr (GBytes) content = NULL;
  xmlDoc *document;

  g_assert_no_error (error);
  content = qm_zip_read (zip, name, 1 << 20, &error);
  g_assert_no_error (error);
  document = xmlReadMemory (g_bytes_get_data (content, NULL),
                            (int) g_bytes_get_size (content), name, NULL,
                            XML_PARSE_NONET);
  g_assert_nonnull (document);
  xmlFreeDoc (document);
  return g_strndup (g_bytes_get_data (content, NULL),
                    g_bytes_get_size (content));
}

/* As an office program has it: every part is XML, sheets have names that they
 * may have, each another, and our own reader finds what was written. */
static void
test_xlsx (void)
{
  static const char *const heads[] = { "a", "b", NULL };
  static const char *const parts[] = {
    "[Content_Types].xml",        "_rels/.rels",   "xl/workbook.xml",
    "xl/_rels/workbook.xml.rels", "xl/styles.xml", "xl/worksheets/sheet1.xml",
    "xl/worksheets/sheet4.xml"
  };
  g_autoptr (QmPaper) paper = make_paper ();
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GBytes) again = NULL;
  g_autoptr (GBytes) csv = NULL;
  g_autoptr (GPtrArray) sheets = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;

  qm_paper_add_table (paper, "Table <1>", heads);
  qm_paper_add_table (paper, "[a:very*long?name/of\\a sheet that is cut",
                      heads);
  bytes = qm_paper_to_xlsx (paper);
  again = qm_paper_to_xlsx (paper);
  g_assert_true (g_bytes_equal (bytes, again));
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      g_autofree char *part = read_member (bytes, parts[i]);

      g_assert_cmpuint (strlen (part), >, 0);
    }
  sheets = qm_workbook_read (g_bytes_get_data (bytes, NULL),
                             g_bytes_get_size (bytes), NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (sheets->len, ==, 4);
  g_assert_cmpstr (qm_cells_get_name (g_ptr_array_index (sheets, 0)), ==,
                   "Table <1>");
  g_assert_cmpstr (qm_cells_get_name (g_ptr_array_index (sheets, 1)), ==,
                   "Table <1> 2");
  g_assert_cmpstr (qm_cells_get_name (g_ptr_array_index (sheets, 2)), ==,
                   "a very long name of a sheet");
  csv = qm_cells_to_csv (g_ptr_array_index (sheets, 0));
  text = g_strndup (g_bytes_get_data (csv, NULL), g_bytes_get_size (csv));
  g_assert_nonnull (strstr (text, "1234.50"));
  g_assert_nonnull (strstr (text, "HYPERLINK"));
  g_assert_nonnull (strstr (text, "A & B"));
}

/* A text that is valid XML, with headings, a list, and a table whose numbers
 * stand at the right. */
static void
test_odt (void)
{
  g_autoptr (QmPaper) paper = make_paper ();
  g_autoptr (GBytes) bytes = qm_paper_to_odt (paper);
  g_autofree char *content = read_member (bytes, "content.xml");
  g_autofree char *manifest = read_member (bytes, "META-INF/manifest.xml");

  g_assert_cmpmem ((const char *) g_bytes_get_data (bytes, NULL) + 30, 8,
                   "mimetype", 8);
  g_assert_nonnull (strstr (manifest, "opendocument.text"));
  g_assert_nonnull (strstr (content, "text:outline-level=\"1\">A *title*<"));
  g_assert_nonnull (strstr (content, "text:outline-level=\"2\">Numbers<"));
  g_assert_nonnull (strstr (
      content, "<text:list><text:list-item><text:p text:style-name=\"body\">"
               "first</text:p></text:list-item><text:list-item>"));
  g_assert_nonnull (strstr (content, "</text:list><text:p"));
  g_assert_nonnull (
      strstr (content, "<text:p text:style-name=\"number\"><text:span "
                       "text:style-name=\"strong\">1.234,50 EUR</text:span>"));
  g_assert_nonnull (
      strstr (content, "=HYPERLINK(&quot;x&quot;)<text:line-break/>second"));
}

/* What another reader finds in the sheet. */
static void
test_ods (void)
{
  g_autoptr (QmPaper) paper = make_paper ();
  g_autoptr (GBytes) bytes = qm_paper_to_ods (paper);
  g_autoptr (GBytes) again = qm_paper_to_ods (paper);
  g_autoptr (GBytes) content = NULL;
  g_autoptr (GBytes) csv = NULL;
  g_autoptr (GPtrArray) sheets = NULL;
  g_autoptr (QmZip) zip = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);
  xmlDoc *document;

  g_assert_true (g_bytes_equal (bytes, again));
  g_assert_cmpmem (data + 30, 8, "mimetype", 8);
  sheets = qm_workbook_read (data, size, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (sheets->len, ==, 2);
  g_assert_cmpstr (qm_cells_get_name (g_ptr_array_index (sheets, 0)), ==,
                   "Table <1>");
  csv = qm_cells_to_csv (g_ptr_array_index (sheets, 0));
  text = g_strndup (g_bytes_get_data (csv, NULL), g_bytes_get_size (csv));
  g_assert_nonnull (strstr (text, "1234.50"));
  g_assert_nonnull (strstr (text, "HYPERLINK"));
  g_assert_nonnull (strstr (text, "A & B"));

  zip = qm_zip_new (data, size, &error);
  g_assert_no_error (error);
  content = qm_zip_read (zip, "content.xml", 1 << 20, &error);
  g_assert_no_error (error);
  document = xmlReadMemory (g_bytes_get_data (content, NULL),
                            (int) g_bytes_get_size (content), "content.xml",
                            NULL, XML_PARSE_NONET);
  g_assert_nonnull (document);
  xmlFreeDoc (document);
  g_assert_true (qm_zip_has (zip, "META-INF/manifest.xml"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/paper/markdown", test_markdown);
  g_test_add_func ("/paper/words", test_words);
  g_test_add_func ("/paper/csv", test_csv);
  g_test_add_func ("/paper/ods", test_ods);
  g_test_add_func ("/paper/xlsx", test_xlsx);
  g_test_add_func ("/paper/odt", test_odt);
  return g_test_run ();
}
