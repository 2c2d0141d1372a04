/* SPDX-License-Identifier: Apache-2.0 */

/* Words at their places, and the table that a person sees. */

#include "pricing/formats/qm-pdf-table.h"

#include <string.h>

typedef struct
{
  guint page;
  double left, top;
  const char *text; /* words with spaces of 2.5 points between them */
} Text;

#define PAGE "<page width='600' height='800'>"

/* The table of texts of which each letter is 5 points wide and 10 high. */
static char *
read_texts (const Text *texts, guint n)
{
  g_autoptr (GString) written = g_string_new ("<doc>" PAGE);
  g_autoptr (GPtrArray) pages = NULL;
  g_autoptr (QmCells) cells = NULL;
  g_autoptr (GBytes) table = NULL;
  g_autoptr (GError) error = NULL;
  guint page = 0;

  for (guint i = 0; i < n; i++)
    {
      g_auto (GStrv) words = g_strsplit (texts[i].text, " ", -1);
      double x = texts[i].left;

      for (; page < texts[i].page; page++)
        g_string_append (written, "</page>" PAGE);
      for (guint j = 0; words[j] != NULL; j++)
        {
          double width = 5.0 * (double) g_utf8_strlen (words[j], -1);

          g_string_append_printf (
              written,
              "<word xMin='%d' yMin='%d' xMax='%d' yMax='%d'>%s</word>",
              (int) x, (int) texts[i].top, (int) (x + width),
              (int) texts[i].top + 10, words[j]);
          x += width + 2.5;
        }
    }
  g_string_append (written, "</page></doc>");
  pages = qm_pdf_words_parse (written->str, written->len, NULL, &error);
  g_assert_no_error (error);
  cells = qm_pdf_cells (pages, NULL, &error);
  g_assert_no_error (error);
  table = qm_cells_to_csv (cells);
  return g_strndup (g_bytes_get_data (table, NULL), g_bytes_get_size (table));
}

#define HEAD(page, top)                                        \
  { page, 50, top, "Description" }, { page, 300, top, "Qty" }, \
      { page, 400, top, "Price" },                             \
  {                                                            \
    page, 500, top, "Total"                                    \
  }
#define ROW(page, top, what, price)                                            \
  { page, 50, top, what }, { page, 300, top, "1" }, { page, 400, top, price }, \
  {                                                                            \
    page, 500, top, price                                                      \
  }
#define NAMES "\"Description\";\"Qty\";\"Price\";\"Total\"\n"

static void
check (const Text *texts, guint n, const char *table)
{
  g_autofree char *is = read_texts (texts, n);
  g_autofree char *should = g_strconcat ("sep=;\n", table, NULL);

  g_assert_cmpstr (is, ==, should);
}

#define CHECK(texts, table) check (texts, G_N_ELEMENTS (texts), table)

/* A number at the foot of a page that begins where amounts do is none. */
static void
test_foot (void)
{
  static const Text texts[] = { HEAD (0, 100),
                                ROW (0, 120, "Card", "12.50"),
                                ROW (0, 140, "Case", "9.50"),
                                { 0, 50, 760, "Bank" },
                                { 0, 500, 760, "20260401" } };

  CHECK (texts, NAMES "\"Card\";\"1\";\"12.50\";\"12.50\"\n"
                      "\"Case\";\"1\";\"9.50\";\"9.50\"\n"
                      ";;;;\"Bank\";\"20260401\"\n");
}

/* Labels of totals below the quantities are no quantities. */
static void
test_labels (void)
{
  static const Text texts[] = {
    HEAD (0, 100),
    ROW (0, 120, "Card", "12.50"),
    { 0, 290, 140, "Subtotal" },
    { 0, 500, 140, "12.50" },
    { 0, 290, 160, "Tax 20 %" },
    { 0, 500, 160, "2.50" },
    { 0, 300, 180, "Total" },
    { 0, 500, 180, "15.00" },
  };

  CHECK (texts, NAMES "\"Card\";\"1\";\"12.50\";\"12.50\"\n"
                      "\"Subtotal\";;;\"12.50\"\n"
                      "\"Tax 20 %\";;;\"2.50\"\n"
                      "\"Total\";;;\"15.00\"\n");
}

/* Lines of a cell are closer than rows, and a heading is not; though no two
 * rows have nothing between them. */
static void
test_lines (void)
{
  static const Text texts[] = {
    HEAD (0, 100),
    ROW (0, 120, "Card", "12.50"),
    { 0, 50, 131, "of 48 GB" },
    { 0, 50, 150, "Optional" },
    ROW (0, 170, "Case", "9.50"),
    { 0, 50, 181, "of steel" },
  };

  CHECK (texts, NAMES "\"Card of 48 GB\";\"1\";\"12.50\";\"12.50\"\n"
                      "\"Optional\"\n"
                      "\"Case of steel\";\"1\";\"9.50\";\"9.50\"\n");
}

/* What is on each page is read once, and rows that are alike each time. */
static void
test_pages (void)
{
  static const Text texts[] = {
    { 0, 50, 40, "Vendor: Delta" }, HEAD (0, 100),
    ROW (0, 120, "Card", "12.50"),  { 0, 50, 140, "Carried forward" },
    { 0, 500, 140, "12.50" },       { 0, 50, 780, "Page 1 of 2" },
    { 1, 50, 40, "Vendor: Delta" }, HEAD (1, 100),
    ROW (1, 120, "Card", "12.50"),  { 1, 50, 140, "Total" },
    { 1, 500, 140, "25.00" },       { 1, 50, 780, "Page 2 of 2" },
  };

  CHECK (texts, "\"Vendor: Delta\"\n" NAMES
                "\"Card\";\"1\";\"12.50\";\"12.50\"\n" NAMES
                "\"Card\";\"1\";\"12.50\";\"12.50\"\n"
                "\"Total\";;;\"25.00\"\n");
}

/* Names on two lines are one head, and a line without names is none. */
static void
test_head (void)
{
  static const Text texts[] = {
    { 0, 50, 60, "All prices in EUR" }, HEAD (0, 100),
    { 0, 400, 111, "(EUR)" },           { 0, 500, 111, "(EUR)" },
    ROW (0, 130, "Card", "12.50"),
  };

  CHECK (texts, "\"All prices in EUR\"\n"
                "\"Description\";\"Qty\";\"Price (EUR)\";\"Total (EUR)\"\n"
                "\"Card\";\"1\";\"12.50\";\"12.50\"\n");
}

/* What is at the foot of every page is no row, though nothing else is below
 * the names there; "Of:" at the top of one is none of its number. */
static void
test_repeated_foot (void)
{
  static const Text texts[] = {
    HEAD (0, 100),
    ROW (0, 120, "Card", "12.50"),
    { 0, 50, 760, "BIC ABC" },
    { 0, 400, 760, "20260401" },
    { 1, 50, 40, "Of:" },
    HEAD (1, 100),
    { 1, 50, 760, "BIC ABC" },
    { 1, 400, 760, "20260401" },
    HEAD (2, 100),
    ROW (2, 120, "Case", "9.50"),
  };

  CHECK (texts, NAMES "\"Card\";\"1\";\"12.50\";\"12.50\"\n"
                      ";;;;\"BIC ABC\";\"20260401\"\n"
                      ";;;;\"Of:\"\n" NAMES NAMES
                      "\"Case\";\"1\";\"9.50\";\"9.50\"\n");
}

#define LONG "RechnerRechnerRechnerRechnerRechnerRechnerRechnerxx"

/* What is printed over another word is none of it. */
static void
test_overprinted (void)
{
  static const Text texts[] = {
    HEAD (0, 100),           { 0, 50, 120, LONG },
    { 0, 300, 120, "4" },    { 0, 400, 120, "2.00" },
    { 0, 500, 120, "8.00" }, ROW (0, 140, "Case", "9.50")
  };

  CHECK (texts, NAMES "\"" LONG "\";\"4\";\"2.00\";\"8.00\"\n"
                      "\"Case\";\"1\";\"9.50\";\"9.50\"\n");
}

/* Names of totals above their amounts are a row of their own, however close,
 * and at the end of the page before. */
static void
test_total_table (void)
{
  static const Text close[] = {
    HEAD (0, 100),
    ROW (0, 110, "Card", "12.50"),
    { 0, 50, 120, "Net" },
    { 0, 400, 120, "VAT 20%" },
    { 0, 500, 120, "Total" },
    { 0, 50, 130, "12.50" },
    { 0, 400, 130, "2.50" },
    { 0, 500, 130, "15.00" },
  };
  static const Text apart[] = {
    HEAD (0, 100),
    ROW (0, 120, "Card", "12.50"),
    { 0, 50, 140, "Net" },
    { 0, 400, 140, "VAT 20%" },
    { 0, 500, 140, "Total" },
    HEAD (1, 100),
    { 1, 50, 120, "12.50" },
    { 1, 400, 120, "2.50" },
    { 1, 500, 120, "15.00" },
  };

  CHECK (close, NAMES "\"Card\";\"1\";\"12.50\";\"12.50\"\n"
                      "\"Net\";;\"VAT 20%\";\"Total\"\n"
                      "\"12.50\";;\"2.50\";\"15.00\"\n");
  CHECK (apart, NAMES "\"Card\";\"1\";\"12.50\";\"12.50\"\n"
                      "\"Net\";;\"VAT 20%\";\"Total\"\n" NAMES
                      "\"12.50\";;\"2.50\";\"15.00\"\n");
}

/* The rest of a name is one, though the name is known without it, and rows are
 * no further away. */
static void
test_rest_of_name (void)
{
  static const Text texts[] = { HEAD (0, 100),
                                { 0, 400, 110, "list" },
                                { 0, 500, 110, "EUR" },
                                ROW (0, 121, "Card", "12.50"),
                                ROW (0, 132, "Case", "9.50") };

  CHECK (texts, "\"Description\";\"Qty\";\"Price list\";\"Total EUR\"\n"
                "\"Card\";\"1\";\"12.50\";\"12.50\"\n"
                "\"Case\";\"1\";\"9.50\";\"9.50\"\n");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pdf-table/foot", test_foot);
  g_test_add_func ("/pdf-table/labels", test_labels);
  g_test_add_func ("/pdf-table/lines", test_lines);
  g_test_add_func ("/pdf-table/pages", test_pages);
  g_test_add_func ("/pdf-table/head", test_head);
  g_test_add_func ("/pdf-table/repeated-foot", test_repeated_foot);
  g_test_add_func ("/pdf-table/overprinted", test_overprinted);
  g_test_add_func ("/pdf-table/total-table", test_total_table);
  g_test_add_func ("/pdf-table/rest-of-name", test_rest_of_name);
  return g_test_run ();
}
