/* SPDX-License-Identifier: Apache-2.0 */

/* Documents as pages. */

#include "tests/plot/pdf.h"
#include "ui/plot/qm-paper-pdf.h"

#include <string.h>

/* A table of so many rows between two paragraphs. */
static QmPaper *
make_paper (guint n_rows)
{
  static const char *const heads[] = { "What", "First", "Second", NULL };
  QmPaper *paper = qm_paper_new ("A title", "of today");
  QmPaperTable *table;

  qm_paper_add (paper, QM_PAPER_HEADING, "Before");
  qm_paper_add (paper, QM_PAPER_TEXT, "Some words.");
  table = qm_paper_add_table (paper, "Table", heads);
  for (guint i = 0; i < n_rows; i++)
    {
      QmPaperCell *cells = qm_paper_table_add_row (
          table, i % 10 == 0 ? QM_ROW_SECTION : QM_ROW_PLAIN, "a row");

      if (i % 10 != 0)
        qm_paper_cell_set (&cells[1], g_strdup ("1,234.50 EUR\nand more"),
                           NULL);
    }
  qm_paper_add (paper, QM_PAPER_ITEM, "The end.");
  return paper;
}

static guint
count_pages (const QmPaper *paper, QmPageSize size)
{
  guint n_pages;
  g_autoptr (GBytes) bytes =
      qm_paper_to_pdf (paper, size, NULL, NULL, &n_pages);
  g_autoptr (GBytes) again = qm_paper_to_pdf (paper, size, NULL, NULL, NULL);
  g_autoptr (GString) objects = NULL;
  gsize length;

  g_assert_nonnull (bytes);
  g_assert_cmpmem (g_bytes_get_data (bytes, &length), 5, "%PDF-", 5);
  g_assert_true (g_bytes_equal (bytes, again));
  objects = pdf_objects (bytes);
  g_assert_cmpuint (pdf_count (objects, "/Type /Page\n")
                        + pdf_count (objects, "/Type /Page "),
                    ==, n_pages);
  g_assert_cmpuint (pdf_count (objects, "/CreationDate"), ==, 0);
  return n_pages;
}

static void
test_pages (void)
{
  g_autoptr (QmPaper) one = make_paper (5);
  g_autoptr (QmPaper) many = make_paper (200);

  g_assert_cmpuint (count_pages (one, QM_PAGE_A4), ==, 1);
  g_assert_cmpuint (count_pages (many, QM_PAGE_A4), >=, 6);
  g_assert_cmpuint (count_pages (many, QM_PAGE_LETTER), >=,
                    count_pages (many, QM_PAGE_A4));
}

/* A paragraph that is longer than a page goes on on the next ones. */
static void
test_long (void)
{
  g_autoptr (QmPaper) paper = qm_paper_new ("Long", NULL);
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < 4000; i++)
    g_string_append (text, "many words ");
  qm_paper_add (paper, QM_PAPER_TEXT, text->str);
  g_assert_cmpuint (count_pages (paper, QM_PAGE_A4), >=, 4);
}

/* What reads a document aloud finds its headings, its tables and their heads,
 * as far as Cairo writes them. */
static void
test_tags (void)
{
  g_autoptr (QmPaper) paper = make_paper (5);
  g_autoptr (GBytes) bytes =
      qm_paper_to_pdf (paper, QM_PAGE_A4, NULL, NULL, NULL);
  g_autoptr (GString) objects = pdf_objects (bytes);

  g_assert_cmpuint (pdf_count (objects, "/StructTreeRoot"), >=, 1);
  g_assert_cmpuint (pdf_count (objects, "/S /H1"), ==, 1);
  g_assert_cmpuint (pdf_count (objects, "/S /Table"), ==, 1);
  g_assert_cmpuint (pdf_count (objects, "/S /TR"), >=, 5);
  g_assert_cmpuint (pdf_count (objects, "/S /TH"), >=, 1);
  g_assert_cmpuint (pdf_count (objects, "/S /TD"), >=, 4);
}

/* Nothing, and a cell that is higher than a page. */
static void
test_extremes (void)
{
  static const char *const heads[] = { "One", NULL };
  g_autoptr (QmPaper) nothing = qm_paper_new ("", NULL);
  g_autoptr (QmPaper) high = qm_paper_new ("High", NULL);
  g_autoptr (GString) text = g_string_new (NULL);
  QmPaperTable *table = qm_paper_add_table (high, "Table", heads);

  for (guint i = 0; i < 200; i++)
    g_string_append (text, "line\n");
  qm_paper_table_add_row (table, QM_ROW_PLAIN, text->str);
  qm_paper_table_add_row (table, QM_ROW_PLAIN, "after");
  g_assert_cmpuint (count_pages (nothing, QM_PAGE_A4), ==, 1);
  g_assert_cmpuint (count_pages (high, QM_PAGE_A4), <=, 3);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/paper-pdf/pages", test_pages);
  g_test_add_func ("/paper-pdf/long", test_long);
  g_test_add_func ("/paper-pdf/tags", test_tags);
  g_test_add_func ("/paper-pdf/extremes", test_extremes);
  return g_test_run ();
}
