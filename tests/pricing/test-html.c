/* SPDX-License-Identifier: Apache-2.0 */

/* What is read of HTML and what is left out, and pages that mean harm.  Whole
 * mails and pages are in tests/pricing/procurement. */

#include "data/datadir.h"
#include "pricing/formats/qm-quote-import.h"

#include <string.h>

#define HEAD                                                                \
  "<tr><th>Pos</th><th>Description</th><th>Qty</th><th>Unit price EUR</th>" \
  "<th>Total EUR</th></tr>"
#define ROW                                                            \
  "<tr><td>1</td><td>NVIDIA L40S 48GB</td><td>2</td><td>8,000.00</td>" \
  "<td>16,000.00</td></tr>"

static QmCatalog *catalog;
static QmMatcher *matcher;

static QmImport *
read_html (const char *html, gssize size, GError **error)
{
  QmImportOptions options = { .matcher = matcher, .now = 1795000000 };
  g_autoptr (GBytes) bytes =
      g_bytes_new (html, size >= 0 ? (gsize) size : strlen (html));

  return qm_import_bytes (bytes, "quote.html", NULL, &options, NULL, error);
}

static QmQuote *
only_quote (QmImport *import)
{
  g_assert_nonnull (import);
  g_assert_false (import->mapping_wanted);
  g_assert_cmpuint (import->quotes->len, ==, 1);
  return g_ptr_array_index (import->quotes, 0);
}

static gboolean
finds (const QmQuote *quote, const char *words)
{
  for (guint i = 0; i < quote->findings->len; i++)
    {
      const QmFinding *finding = g_ptr_array_index (quote->findings, i);

      if (strstr (finding->message, words) != NULL)
        return TRUE;
    }
  return FALSE;
}

static guint
count_quoted (const QmQuote *quote)
{
  guint n = 0;

  for (guint i = 0; i < quote->lines->len; i++)
    n += ((QmQuoteLine *) g_ptr_array_index (quote->lines, i))->role
         == QM_LINE_QUOTED;
  return n;
}

static void
test_told (void)
{
  static const char html[] =
      "<p>Quote 77</p><div style='Display : None'>1 H100 9.00 EUR</div>"
      "<table>" HEAD ROW
      "<tr hidden><td>2</td><td>NVIDIA L4</td><td>1</td><td>9.00</td>"
      "<td>9.00</td></tr><tr><td colspan=4>Total</td><td>16,000.00</td></tr>"
      "</table><blockquote><table>" HEAD
      "<tr><td>1</td><td>NVIDIA L4</td><td>1</td><td>7.00</td><td>7.00</td>"
      "</tr></table></blockquote>";
  g_autoptr (GError) error = NULL;
  g_autoptr (QmImport) import = read_html (html, -1, &error);
  const QmQuote *quote;

  g_assert_no_error (error);
  quote = only_quote (import);
  g_assert_cmpuint (count_quoted (quote), ==, 1);
  g_assert_true (finds (quote, "3 rows of tables were read off the page"));
  g_assert_true (finds (quote, "2 texts were left out that are hidden"));
  g_assert_true (finds (quote, "An earlier message"));
  g_assert_false (finds (quote, "too deeply"));
}

/* How far a cell reaches, as browsers take what is written. */
static void
test_spans (void)
{
  static const char *const spans[] = {
    "",           "colspan=0",    "colspan=-1",   "colspan=x", "colspan=''",
    "rowspan=-1", "rowspan=none", "rowspan=' 1'", "colspan=+1"
  };

  for (guint i = 0; i < G_N_ELEMENTS (spans); i++)
    {
      g_autofree char *html = g_strdup_printf (
          "<table>" HEAD "<tr><td %s>1</td><td>NVIDIA L40S 48GB</td>"
          "<td>2</td><td>8,000.00</td><td>16,000.00</td></tr>" ROW "</table>",
          spans[i]);
      g_autoptr (GError) error = NULL;
      g_autoptr (QmImport) import = read_html (html, -1, &error);

      g_assert_no_error (error);
      if (count_quoted (only_quote (import)) != 2)
        g_error ("“%s”", spans[i]);
    }
}

/* The rows that are read off a page, as text. */
static char *
read_rows (const char *html)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static (html, strlen (html));
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) table = qm_import_html (bytes, NULL, NULL, NULL, &error);

  g_assert_no_error (error);
  return g_strndup (g_bytes_get_data (table, NULL), g_bytes_get_size (table));
}

/* Cells of several lines become rows of cells where they have as many, and
 * lines of their own where not. */
static void
test_lines_of_cells (void)
{
  static const char html[] =
      "<table><tr><td>a<br>b</td><td>1 EUR<br>2 EUR</td></tr>"
      "<tr><td>c<br>d</td><td>3</td><td></td></tr></table>";
  g_autofree char *text = read_rows (html);

  g_assert_cmpstr (strchr (text, '\n') + 1, ==,
                   "\"a\";\"1 EUR\"\n\"b\";\"2 EUR\"\n"
                   "\"c\"\n\"d\"\n\"3\"\n");
}

/* An amount of several rows counts once, and words of them in each. */
static void
test_amount_of_rows (void)
{
  static const char html[] =
      "<table>" HEAD "<tr><td>1</td><td rowspan=2>NVIDIA L40S 48GB</td>"
      "<td>2</td><td>8,000.00</td><td rowspan=2>16,500.00</td></tr>"
      "<tr><td>2</td><td>1</td><td>500.00</td></tr></table>";
  g_autofree char *text = read_rows (html);

  g_assert_nonnull (strstr (text, "\n\"2\";\"NVIDIA L40S 48GB\";\"1\";"
                                  "\"500.00\"\n"));
}

/* Two lines above a table, as those of a letter, are no head of a mail: the day
 * is that of the quote. */
static void
test_day_of_letter (void)
{
  static const char *const third[] = { "", "<p>Subject: your quote</p>" };

  for (guint i = 0; i < G_N_ELEMENTS (third); i++)
    {
      g_autofree char *html =
          g_strdup_printf ("<p>To: Dana Reed</p><p>Date: 2026-03-01</p>%s"
                           "<table>" HEAD ROW "</table>",
                           third[i]);
      g_autoptr (GError) error = NULL;
      g_autoptr (QmImport) import = read_html (html, -1, &error);

      g_assert_no_error (error);
      g_assert_cmpint (only_quote (import)->issued_on.year, ==,
                       i == 0 ? 2026 : 0);
    }
}

/* Each of these hides the second row, or does not. */
static void
test_hidden (void)
{
  static const struct
  {
    const char *head;
    const char *row;
    gboolean hidden;
  } cases[] = {
    { "", "", FALSE },
    { "", "style='visibility: hidden'", TRUE },
    { "", "style='Visibility:collapse'", TRUE },
    { "", "style='backface-visibility:hidden'", FALSE },
    { "", "style='color:red;display:none !important'", TRUE },
    { "", "style='mso-hide:all'", TRUE },
    { "", "style='opacity:0'", TRUE },
    { "", "style='opacity:0.9'", FALSE },
    { "", "style='fill-opacity:0;opacity:1'", FALSE },
    { "", "style='font-size:0'", TRUE },
    { "", "style='font-size:0.9em'", FALSE },
    { "", "style='text-decoration:line-through'", TRUE },
    { "", "style='max-height:0;overflow:hidden'", TRUE },
    { "", "style='overflow:hidden;height:0'", TRUE },
    { "", "style='overflow:hidden;height:0.9em;line-height:0'", FALSE },
    { "", "hidden", TRUE },
    { ".no { color: red; display: none }", "class='a no'", TRUE },
    { "#row{display:none!important}", "id=row", TRUE },
    { "/* .no { */ .yes{display:none}", "class=no", FALSE },
    { "@media print { .no{display:none} } .yes{color:red}", "class=no", FALSE },
    { "@import 'x'; .no{display:none}", "class=no", TRUE },
    { ".no{display:none} .no.on{display:table-row}", "class='no on'", FALSE },
    { ".a .no{display:none}", "class=no", FALSE },
    { ".no{display:none", "class=no", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *html = g_strdup_printf (
          "<html><head><style>%s</style></head><body><table>" HEAD ROW
          "<tr %s><td>2</td><td>NVIDIA L4</td><td>1</td><td>90.00</td>"
          "<td>90.00</td></tr></table></body></html>",
          cases[i].head, cases[i].row);
      g_autoptr (GError) error = NULL;
      g_autoptr (QmImport) import = read_html (html, -1, &error);

      g_assert_no_error (error);
      if (count_quoted (only_quote (import)) != (cases[i].hidden ? 1 : 2))
        g_error ("case %u", i);
    }
}

/* Cells for a margin, with a space that is kept or none of any width, make no
 * table of a cell. */
static void
test_margins (void)
{
  static const char *const margins[] = { "", "&nbsp;", " &nbsp;\n&#8195; ",
                                         "&#8203;&shy;&#x202f;" };
  static const char *const texts[] = { "a", "NVIDIA L40S 48GB", "2",
                                       "8.000,50 &euro;", "16.001,00 &euro;" };

  for (guint i = 0; i < G_N_ELEMENTS (margins); i++)
    {
      g_autoptr (GString) html = g_string_new ("<table><tr>");
      g_autoptr (GError) error = NULL;
      g_autoptr (QmImport) import = NULL;

      for (guint j = 0; j < G_N_ELEMENTS (texts); j++)
        g_string_append_printf (html,
                                "<td><table><tr><td>%s</td><td>%s</td><td>%s"
                                "</td></tr></table></td>",
                                margins[i], texts[j], margins[i]);
      g_string_append (html, "</tr></table>");
      import = read_html (html->str, -1, &error);
      g_assert_no_error (error);
      g_test_message ("margins %u", i);
      g_assert_cmpuint (count_quoted (only_quote (import)), ==, 1);
      g_assert_false (finds (only_quote (import), "hidden"));
    }
}

/* A hidden text that is no more than a space is none that was left out. */
static void
test_hidden_space (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmImport) import = read_html (
      "<div style='display:none'>&nbsp;&zwnj;&nbsp;</div><table>" HEAD ROW
      "</table>",
      -1, &error);

  g_assert_no_error (error);
  g_assert_false (finds (only_quote (import), "hidden"));
}

/* Text between tables, and of cells, that is longer than what is read. */
static void
test_long_texts (void)
{
  static const struct
  {
    guint between;
    guint of_cell;
    const char *words; /* NULL: nothing was left out */
  } cases[] = {
    { 32 * 1024, 4096, NULL },
    { 32 * 1024 + 1, 4096, "1 text of the page is too long" },
    { 32 * 1024, 4097, "1 text of the page is too long" },
    { 40000, 5000, "2 texts of the page are too long" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *between = g_strnfill (cases[i].between, 'x');
      g_autofree char *of_cell = g_strnfill (cases[i].of_cell, 'y');
      g_autofree char *html = g_strdup_printf (
          "<table>" HEAD ROW "<tr><td>2</td><td>%s</td><td>1</td>"
          "<td>90.00</td><td>90.00</td></tr></table><p>%s</p> &nbsp; <table>"
          "<tr><td>Total</td><td>16,090.00</td></tr></table>",
          of_cell, between);
      g_autoptr (GError) error = NULL;
      g_autoptr (QmImport) import = read_html (html, -1, &error);

      g_assert_no_error (error);
      g_test_message ("case %u", i);
      g_assert_true (finds (only_quote (import), "too long")
                     == (cases[i].words != NULL));
      if (cases[i].words != NULL)
        g_assert_true (finds (only_quote (import), cases[i].words));
    }
}

/* Columns without names are told by quantity times price, or by nobody. */
static void
test_without_names (void)
{
  static const char good[] =
      "<table><tr><td>a</td><td>NVIDIA L40S 48GB</td><td>2</td><td>8.000,50 "
      "&euro;</td><td>16.001,00 &euro;</td></tr><tr><td>b</td><td>Server</td>"
      "<td>1</td><td>9.000,00 &euro;</td><td>9.000,00 &euro;</td></tr></table>";
  static const char bad[] =
      "<table><tr><td>a</td><td>NVIDIA L40S 48GB</td><td>2</td><td>8.000,50 "
      "&euro;</td><td>16.001,01 &euro;</td></tr></table>";
  static const char counts[] =
      "<table><tr><td>NVIDIA L40S 48GB</td><td>2</td><td>8000</td>"
      "<td>16000</td><td>EUR 1</td></tr></table>";
  g_autoptr (GError) error = NULL;
  g_autoptr (QmImport) read = read_html (good, -1, &error);
  g_autoptr (QmImport) asked = NULL;
  g_autoptr (QmImport) unclear = NULL;
  const QmQuoteLine *line;

  g_assert_no_error (error);
  line = g_ptr_array_index (only_quote (read)->lines, 0);
  g_assert_cmpint (line->price_micros, ==, 8000500000);
  g_assert_cmpint (line->quantity_micros, ==, 2 * QM_MICROS_PER_UNIT);
  g_assert_cmpstr (line->item, ==, "l40s");
  asked = read_html (bad, -1, &error);
  g_assert_no_error (error);
  g_assert_true (asked->mapping_wanted);
  g_assert_nonnull (asked->sample);
  /* Which of 2 and 8000 is the quantity, nothing says. */
  unclear = read_html (counts, -1, &error);
  g_assert_no_error (error);
  g_assert_true (unclear->mapping_wanted);
}

/* Which column is what, as the user says. */
static void
test_mapped (void)
{
  static const char html[] =
      "<table><tr><td>NVIDIA L40S 48GB</td><td>EUR 8,000.00</td></tr></table>";
  g_autoptr (GBytes) bytes = g_bytes_new_static (html, strlen (html));
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) table = qm_import_html (bytes, NULL, NULL, NULL, &error);
  g_autoptr (QmCsvMapping) mapping = NULL;
  g_autoptr (QmImport) import = NULL;
  QmImportOptions options = { .matcher = matcher, .now = 1 };

  g_assert_no_error (error);
  mapping = qm_csv_mapping_guess (g_bytes_get_data (table, NULL),
                                  g_bytes_get_size (table), &error);
  g_assert_no_error (error);
  mapping->header_row = -1;
  qm_csv_mapping_set_field (mapping, 0, QM_CSV_DESCRIPTION);
  qm_csv_mapping_set_field (mapping, 1, QM_CSV_PRICE);
  options.mapping = mapping;
  import = qm_import_bytes (bytes, "x.html", NULL, &options, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (count_quoted (only_quote (import)), ==, 1);
}

/* A shop's page with the price of its product stays one, whatever table it has
 * besides; a table that is a quote goes before. */
static void
test_product (void)
{
  static const char product[] =
      "<!DOCTYPE html><html><head><title>RTX A6000</title>"
      "<script type='application/ld+json'>{\"@context\":"
      "\"https://schema.org\",\"@type\":\"Product\",\"name\":"
      "\"NVIDIA RTX A6000 48GB\",\"offers\":{\"@type\":\"Offer\","
      "\"price\":\"4650.00\",\"priceCurrency\":\"EUR\"}}</script></head>"
      "<body><h1>NVIDIA RTX A6000 48GB</h1><p>4650.00 EUR</p>";
  static const char accessory[] =
      "<table><tr><th>Description</th><th>Price</th></tr><tr><td>NVLink bridge"
      "</td><td>249.00 EUR</td></tr></table>";
  static const char quote[] =
      "<p>Quote number: 4711</p><table>" HEAD ROW "</table>";
  g_autofree char *shop = g_strconcat (product, accessory, NULL);
  g_autofree char *mail = g_strconcat (product, quote, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmImport) of_shop = read_html (shop, -1, &error);
  g_autoptr (QmImport) of_mail = NULL;

  g_assert_no_error (error);
  g_assert_cmpint (only_quote (of_shop)->origin, ==, QM_QUOTE_FROM_PAGE);
  g_assert_null (of_shop->mapping);
  of_mail = read_html (mail, -1, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (only_quote (of_mail)->number, ==, "4711");
  g_assert_nonnull (of_mail->mapping);
}

/* Reads a page that may be anything, in a short time. */
static void
survive (const GString *html)
{
  gint64 begun = g_get_monotonic_time ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QmImport) import =
      read_html (html->str, (gssize) html->len, &error);

  g_assert_true ((import == NULL) == (error != NULL));
  /* Each takes well below one second; a machine under test may be slow. */
  g_assert_cmpint (g_get_monotonic_time () - begun, <, 60 * G_USEC_PER_SEC);
}

static void
test_deep (void)
{
  static const char *const opens[] = {
    "<table><tr><td>",
    "<div>",
    "<table>",
    "<tr>",
    "<td>x",
    "<blockquote>",
    "<table><tr><td>a</td><td>b</td></tr><tr><td>",
  };

  for (guint i = 0; i < G_N_ELEMENTS (opens); i++)
    {
      g_autoptr (GString) html = g_string_new ("<html><body>");

      for (guint j = 0; j < 100000; j++)
        g_string_append (html, opens[i]);
      g_string_append (html, "<table>" HEAD ROW "</table>");
      survive (html);
    }
}

/* As deep as it may be, and what is innermost is read. */
static void
test_nested (void)
{
  g_autoptr (GString) html = g_string_new ("<html><body>");
  g_autoptr (GError) error = NULL;
  g_autoptr (QmImport) import = NULL;

  for (guint i = 0; i < 20; i++)
    g_string_append (html, "<table><tr><td>a</td><td><div>");
  g_string_append (html, "<table>" HEAD ROW "</table>");
  for (guint i = 0; i < 20; i++)
    g_string_append (html, "</div></td></tr></table>");
  import = read_html (html->str, -1, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (count_quoted (only_quote (import)), ==, 1);
}

static void
test_cut (void)
{
  g_autoptr (GString) html = g_string_new ("<table>" HEAD ROW "</table>");
  g_autoptr (GError) error = NULL;
  g_autoptr (QmImport) import = NULL;

  for (guint i = 0; i < 1000; i++)
    g_string_append (html, "<div>");
  import = read_html (html->str, -1, &error);
  g_assert_no_error (error);
  g_assert_true (finds (only_quote (import), "too deeply nested"));
}

/* One tag with more attributes than anybody compares with each other, after a
 * table and after what only looks like such a tag. */
static void
test_attributes (void)
{
  g_autoptr (GString) html = g_string_new ("<script>if (a <b) {");
  g_autoptr (GError) error = NULL;
  g_autoptr (QmImport) import = NULL;

  for (guint i = 0; i < 2000; i++)
    g_string_append (html, " a + b");
  g_string_append (html, "</script><p title='");
  for (guint i = 0; i < 2000; i++)
    g_string_append (html, " many words");
  g_string_append (html, "'>Quote</p><table>" HEAD ROW "</table><p");
  for (guint i = 0; i < 500000; i++)
    g_string_append_printf (html, " a%u=1", i);
  g_string_append (html, "><table>" HEAD ROW "</table>");
  import = read_html (html->str, -1, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (count_quoted (only_quote (import)), ==, 1);
  g_assert_true (finds (only_quote (import), "a tag of it is too long"));
}

static void
test_large (void)
{
  g_autoptr (GString) spans = g_string_new ("<table>" HEAD);
  g_autoptr (GString) cells = g_string_new ("<table><tr>");
  g_autoptr (GString) rows = g_string_new ("<table>" HEAD);
  g_autoptr (GString) boxes = g_string_new ("<body>");
  g_autoptr (GString) styles = g_string_new ("<style>");

  for (guint i = 0; i < 20000; i++)
    g_string_append (spans,
                     "<tr><td rowspan=65534 colspan=1000>words and words</td>"
                     "<td rowspan=0 colspan=0>1.00</td></tr>");
  for (guint i = 0; i < 500000; i++)
    g_string_append (cells, "<td>7 EUR");
  for (guint i = 0; i < 50000; i++)
    g_string_append (rows, ROW);
  for (guint i = 0; i < 50; i++)
    g_string_append (boxes, "<table><tr><td>");
  for (guint i = 0; i < 300000; i++)
    g_string_append (boxes, "<b>x</b>y");
  for (guint i = 0; i < 100000; i++)
    g_string_append_printf (styles, ".c%u,#d%u.e{display:none}/*", i, i);
  g_string_append (styles, "</style><table>" HEAD ROW "</table>");
  survive (spans);
  survive (cells);
  survive (rows);
  survive (boxes);
  survive (styles);
}

static void
test_charset (void)
{
  static const char *const encodings[] = { "WINDOWS-1252", "UTF-8", "UTF-16" };
  static const char *const declared[] = { "utf-8", "iso-8859-1", "utf-16",
                                          "no-such" };

  for (guint i = 0; i < G_N_ELEMENTS (encodings); i++)
    for (guint j = 0; j < G_N_ELEMENTS (declared); j++)
      {
        g_autofree char *html = g_strdup_printf (
            "<html><head><meta charset='%s'></head><body><table><tr><th>Stück"
            "</th><th>Bezeichnung</th><th>Preis (€)</th></tr><tr><td>2</td><td>"
            "Gehäuse für NVIDIA L40S, große Lüfter</td><td>800,00 €</td></tr>"
            "</table></body></html>",
            declared[j]);
        g_autoptr (GError) error = NULL;
        gsize size;
        g_autofree char *text =
            g_convert (html, -1, encodings[i], "UTF-8", NULL, &size, &error);
        g_autoptr (QmImport) import = NULL;
        const QmQuote *quote;

        g_assert_no_error (error);
        import = read_html (text, (gssize) size, &error);
        g_assert_no_error (error);
        quote = only_quote (import);
        g_assert_cmpstr (quote->currency, ==, "EUR");
        g_assert_cmpstr (
            ((QmQuoteLine *) g_ptr_array_index (quote->lines, 0))->description,
            ==, "Gehäuse für NVIDIA L40S, große Lüfter");
      }
}

int
main (int argc, char **argv)
{
  int result;

  g_test_init (&argc, &argv, NULL);
  g_assert_true (
      qm_catalog_load (g_getenv ("QM_SHIPPED_DATA_DIR"), NULL, &catalog, NULL)
      == QM_OK);
  matcher =
      qm_matcher_new (catalog, g_getenv ("QM_SHIPPED_DATA_DIR"), NULL, NULL);
  g_test_add_func ("/html/told", test_told);
  g_test_add_func ("/html/spans", test_spans);
  g_test_add_func ("/html/lines-of-cells", test_lines_of_cells);
  g_test_add_func ("/html/amount-of-rows", test_amount_of_rows);
  g_test_add_func ("/html/day-of-letter", test_day_of_letter);
  g_test_add_func ("/html/hidden", test_hidden);
  g_test_add_func ("/html/margins", test_margins);
  g_test_add_func ("/html/hidden-space", test_hidden_space);
  g_test_add_func ("/html/long-texts", test_long_texts);
  g_test_add_func ("/html/without-names", test_without_names);
  g_test_add_func ("/html/mapped", test_mapped);
  g_test_add_func ("/html/product", test_product);
  g_test_add_func ("/html/attributes", test_attributes);
  g_test_add_func ("/html/deep", test_deep);
  g_test_add_func ("/html/nested", test_nested);
  g_test_add_func ("/html/cut", test_cut);
  g_test_add_func ("/html/large", test_large);
  g_test_add_func ("/html/charset", test_charset);
  result = g_test_run ();
  qm_matcher_free (matcher);
  qm_catalog_free (catalog);
  return result;
}
