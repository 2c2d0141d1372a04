/* SPDX-License-Identifier: Apache-2.0 */

#include "pricing/formats/qm-quote-csv.h"
#include "pricing/formats/qm-quote-import.h"
#include "pricing/formats/qm-quote-json.h"
#include "pricing/quotes/qm-quote-totals.h"
#include "tests/pricing/samples.h"

static QmCatalog *catalog;
static QmMatcher *matcher;

static QmImport *
import_data (const char *data,
             gsize size,
             const char *name,
             const QmImportOptions *options,
             GError **error)
{
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);

  return qm_import_bytes (bytes, name, NULL, options, NULL, error);
}

static void
test_kinds (void)
{
  static const struct
  {
    const char *data;
    gsize size; /* 0: up to the zero */
    const char *media_type;
    QmDocumentKind kind;
  } cases[] = {
    { "<?xml version='1.0'?><a/>", 0, NULL, QM_DOCUMENT_XML },
    { "\xef\xbb\xbf  <!-- x --><a/>", 0, NULL, QM_DOCUMENT_XML },
    { "\xff\xfe<\0a\0/\0>\0", 10, NULL, QM_DOCUMENT_XML },
    { "\xfe\xff\0<\0a\0/\0>", 10, NULL, QM_DOCUMENT_XML },
    { "<x:Quotation/>", 0, "text/html", QM_DOCUMENT_PAGE },
    { "<!DOCTYPE html><html>", 0, NULL, QM_DOCUMENT_PAGE },
    { "<!doctype HTML>", 0, "text/plain", QM_DOCUMENT_PAGE },
    { "\n\n<html lang=de>", 0, NULL, QM_DOCUMENT_PAGE },
    { "<?xml version='1.0'?><!DOCTYPE html PUBLIC 'x'>", 0, NULL,
      QM_DOCUMENT_PAGE },
    { "<!DOCTYPE quotation []><a/>", 0, NULL, QM_DOCUMENT_XML },
    { "{\"a\":1}", 0, NULL, QM_DOCUMENT_JSON },
    { " [ {} ]", 0, NULL, QM_DOCUMENT_JSON },
    { "a,b\n1,2\n", 0, NULL, QM_DOCUMENT_CSV },
    { "a,b\n1,2\n", 0, "text/html", QM_DOCUMENT_PAGE },
    { "PK\x03\x04", 0, NULL, QM_DOCUMENT_WORKBOOK },
    { "PK\x05\x06", 0, NULL, QM_DOCUMENT_OTHER },
    { "%PDF-1.7", 0, "text/csv", QM_DOCUMENT_PDF },
    { "\xd0\xcf\x11\xe0", 0, NULL, QM_DOCUMENT_OTHER },
    { "\x78\x9f\x3e\x22\x01", 0, NULL, QM_DOCUMENT_OTHER },
    { "\x89PNG\r\n", 0, NULL, QM_DOCUMENT_OTHER },
    { "\x1f\x8b\x08", 0, NULL, QM_DOCUMENT_OTHER },
    { "", 0, NULL, QM_DOCUMENT_OTHER },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      gsize size = cases[i].size > 0 ? cases[i].size : strlen (cases[i].data);

      if (qm_document_kind (cases[i].data, size, NULL, cases[i].media_type)
          != cases[i].kind)
        g_error ("case %u", i);
    }
}

static void
test_refused (void)
{
  static const struct
  {
    const char *data;
    int code;
    const char *words;
  } cases[] = {
    { "PK\x03\x04...", QM_READ_ERROR_MALFORMED, "cut off" },
    { "\xd0\xcf\x11\xe0", QM_READ_ERROR_KIND, "XLSX" },
    { "\x78\x9f\x3e\x22\x01", QM_READ_ERROR_KIND, "winmail.dat" },
    { "%PDF-1.7", QM_READ_ERROR_MALFORMED, "cut off" },
    { "\x89PNG\r\n", QM_READ_ERROR_KIND, "picture" },
    { "", QM_READ_ERROR_KIND, "empty" },
    { "Subject: your inquiry\n\nDear colleague,\n\nwe offer:\n1 server, with 4 "
      "GPUs\nunit price EUR 58,900.00 net\nBest regards\nJane Doe\n",
      QM_READ_ERROR_KIND, "e-mail" },
    { "<!DOCTYPE html><html><body><p>Hello</p></body></html>",
      QM_READ_ERROR_NO_QUOTE, "Type in what it offers" },
    { "<Invoice xmlns='urn:oasis:names:specification:ubl:schema:xsd:"
      "Invoice-2'/>",
      QM_READ_ERROR_NO_QUOTE, "Invoice" },
    { "{}", QM_READ_ERROR_NO_QUOTE, "JSON" },
    { "<a", QM_READ_ERROR_MALFORMED, "Line 1" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (import_data (cases[i].data, strlen (cases[i].data), "x",
                                  NULL, &error));
      g_assert_error (error, QM_READ_ERROR, cases[i].code);
      if (strstr (error->message, cases[i].words) == NULL)
        g_error ("“%s” does not say “%s”", error->message, cases[i].words);
    }
}

static void
test_ubl (void)
{
  g_autoptr (GBytes) bytes = sample_load ("server.xml");
  g_autoptr (GError) error = NULL;
  g_autoptr (QmImport) import = NULL;
  QmImportOptions options = { .matcher = matcher, .now = 1795000000 };
  const QmQuote *quote;

  import = qm_import_bytes (bytes, "server.xml", "application/xml", &options,
                            NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (import->kind, ==, QM_DOCUMENT_XML);
  quote = g_ptr_array_index (import->quotes, 0);
  g_assert_cmpstr (quote->source, ==, "server.xml");
  g_assert_cmpint (quote->read_at, ==, 1795000000);
  g_assert_cmpuint (strlen (quote->sha256), ==, 64);
  g_assert_cmpstr (sample_line (quote, 0)->item, ==, "a100-80gb-sxm");
  g_assert_cmpint (sample_line (quote, 0)->gpus, ==, 8);
  g_assert_cmpint (sample_line (quote, 6)->match, ==, QM_MATCH_NONE);
}

/* A table of which the columns are not known is asked about, and then known. */
static void
test_mapping (void)
{
  static const char text[] = "Was;Wieviel;Kosten\nRTX A6000;2;4500,50\n";
  static const char more[] =
      "Titel;;\n1;2;3\nWas;Wieviel;Kosten\nRTX 6000 Ada;1;7000\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (QmImport) asked = NULL;
  g_autoptr (QmImport) told = NULL;
  g_autoptr (QmImport) again = NULL;
  g_autofree char *mappings = NULL;
  QmImportOptions options = { .matcher = matcher };

  asked = import_data (text, strlen (text), "a.csv", &options, &error);
  g_assert_no_error (error);
  g_assert_true (asked->mapping_wanted && asked->mapping_guessed);
  g_assert_nonnull (asked->mapping_reason);
  g_assert_cmpuint (asked->quotes->len, ==, 0);
  g_assert_nonnull (asked->sample);

  g_assert_cmpint (asked->mapping->delimiter, ==, ';');
  g_assert_cmpint (asked->mapping->header_row, ==, 0);
  qm_csv_mapping_set_field (asked->mapping, 0, QM_CSV_DESCRIPTION);
  qm_csv_mapping_set_field (asked->mapping, 1, QM_CSV_QUANTITY);
  qm_csv_mapping_set_field (asked->mapping, 2, QM_CSV_PRICE);
  asked->mapping->decimal = QM_DECIMAL_COMMA;
  options.mapping = asked->mapping;
  told = import_data (text, strlen (text), "a.csv", &options, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (told->quotes->len, ==, 1);
  g_assert_cmpstr (sample_line (g_ptr_array_index (told->quotes, 0), 0)->item,
                   ==, "a6000");
  g_assert_nonnull (told->fingerprint);

  mappings = qm_csv_mappings_add (NULL, told->fingerprint, told->mapping);
  options.mapping = NULL;
  options.mappings = mappings;
  again = import_data (more, strlen (more), "b.csv", &options, &error);
  g_assert_no_error (error);
  g_assert_false (again->mapping_wanted || again->mapping_guessed);
  g_assert_cmpint (
      sample_line (g_ptr_array_index (again->quotes, 0), 0)->price_micros, ==,
      7000000000);
}

/* Where the header is recognised, but the user has said otherwise once, that
 * counts the next time. */
static void
test_remembered (void)
{
  static const char text[] = "Product,Qty,Price,Rate\nGPU,2,100.00,50.00\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (QmImport) first = NULL;
  g_autoptr (QmImport) second = NULL;
  g_autofree char *mappings = NULL;
  QmImportOptions options = { .matcher = matcher };

  first = import_data (text, strlen (text), "a.csv", &options, &error);
  g_assert_no_error (error);
  g_assert_true (first->mapping_guessed && !first->mapping_wanted);
  qm_csv_mapping_set_field (first->mapping, 3, QM_CSV_PRICE);
  qm_csv_mapping_set_field (first->mapping, 2, QM_CSV_TOTAL);
  mappings = qm_csv_mappings_add (NULL, first->fingerprint, first->mapping);
  options.mappings = mappings;
  second = import_data (text, strlen (text), "b.csv", &options, &error);
  g_assert_no_error (error);
  g_assert_false (second->mapping_guessed);
  g_assert_cmpint (
      sample_line (g_ptr_array_index (second->quotes, 0), 0)->total_minor, ==,
      10000);
}

static GPtrArray *
read_page (const char *data,
           gsize size,
           const char *address,
           const char *media_type,
           gpointer user_data,
           GCancellable *cancellable,
           GError **error)
{
  GPtrArray *quotes =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
  QmQuote *quote = qm_quote_new ();

  qm_quote_add_line (quote, QM_LINE_QUOTED)->description =
      g_strdup ("RTX A6000");
  g_ptr_array_add (quotes, quote);
  *(guint *) user_data += 1;
  return quotes;
}

static void
test_page (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmImport) import = NULL;
  guint calls = 0;
  QmImportOptions options = { .matcher = matcher,
                              .page_reader = read_page,
                              .page_data = &calls };

  import =
      import_data ("<html></html>", 13, "https://127.0.0.1/", &options, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (calls, ==, 1);
  g_assert_cmpstr (sample_line (g_ptr_array_index (import->quotes, 0), 0)->item,
                   ==, "a6000");
}

static void
test_real_page (void)
{
  static const char page[] =
      "<!DOCTYPE html><html><head><title>RTX A6000</title>"
      "<script type='application/ld+json'>{\"@context\":"
      "\"https://schema.org\",\"@type\":\"Product\",\"name\":"
      "\"NVIDIA RTX A6000 48GB\",\"offers\":{\"@type\":\"Offer\","
      "\"price\":\"4650.00\",\"priceCurrency\":\"EUR\"}}</script></head>"
      "<body><h1>NVIDIA RTX A6000 48GB</h1><p>4650.00 EUR</p></body></html>";
  g_autoptr (GError) error = NULL;
  g_autoptr (QmImport) import = NULL;
  QmImportOptions options = { .matcher = matcher };
  const QmQuote *quote;

  import = import_data (page, strlen (page), "https://127.0.0.1/a6000",
                        &options, &error);
  g_assert_no_error (error);
  quote = g_ptr_array_index (import->quotes, 0);
  g_assert_cmpstr (quote->currency, ==, "EUR");
  g_assert_cmpint (sample_line (quote, 0)->price_micros, ==, 4650000000);
  g_assert_cmpstr (sample_line (quote, 0)->item, ==, "a6000");
  g_assert_cmpstr (quote->source, ==, "https://127.0.0.1/a6000");
  g_assert_cmpuint (strlen (quote->sha256), ==, 64);
}

static void
test_json (void)
{
  g_autoptr (GPtrArray) quotes =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmImport) import = NULL;
  g_autoptr (GBytes) bytes = NULL;
  QmQuote *quote = qm_quote_new ();

  quote->source = g_strdup ("where it came from");
  quote->sha256 = g_strnfill (64, '0');
  g_ptr_array_add (quotes, quote);
  bytes = qm_quote_json_write (quotes);
  import = qm_import_bytes (bytes, "mine.json", NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (qm_quote_equal (quote, g_ptr_array_index (import->quotes, 0)));
}

static void
test_cancelled (void)
{
  g_autoptr (GBytes) bytes = sample_load ("four-lines.xml");
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;

  g_cancellable_cancel (cancellable);
  g_assert_null (qm_import_bytes (bytes, "x", NULL, NULL, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static void
test_contradictions (void)
{
  g_autoptr (QmQuote) quote = qm_quote_new ();
  QmQuoteLine *line = qm_quote_add_line (quote, QM_LINE_QUOTED);

  memcpy (quote->currency, "USD", 4);
  quote->issued_on = (QmDate){ 2026, 5, 1 };
  quote->valid_until = (QmDate){ 2026, 4, 1 };
  line->quantity_micros = 2000000;
  line->price_micros = 5000000;
  line->total_minor = 1100;
  quote->net_minor = 1200;
  quote->tax_minor = 100;
  quote->payable_minor = 1500;
  g_assert_cmpuint (qm_quote_check (quote), ==, 4);
  g_assert_cmpuint (quote->findings->len, ==, 4);
  g_assert_cmpint (line->total_minor, ==, 1100);
  g_assert_cmpint (quote->net_minor, ==, 1200);
  g_assert_cmpint (quote->payable_minor, ==, 1500);
}

/* One minor unit a line is rounding, and a note. */
static void
test_rounding (void)
{
  g_autoptr (QmQuote) quote = qm_quote_new ();

  memcpy (quote->currency, "EUR", 4);
  for (int i = 0; i < 3; i++)
    {
      QmQuoteLine *line = qm_quote_add_line (quote, QM_LINE_QUOTED);

      line->quantity_micros = 1000000;
      line->price_micros = 3333333;
      line->base_quantity_micros = 1000000;
      line->total_minor = 334;
    }
  quote->net_minor = 1000;
  quote->payable_minor = 1000;
  g_assert_cmpuint (qm_quote_check (quote), ==, 0);
  g_assert_cmpuint (sample_findings (quote, QM_FINDING_NOTE, "rounding"), ==,
                    3);
  quote->net_minor = 900;
  quote->payable_minor = 900;
  g_ptr_array_set_size (quote->findings, 0);
  g_assert_cmpuint (qm_quote_check (quote), ==, 1);
}

static void
test_gross (void)
{
  g_autoptr (QmQuote) quote = qm_quote_new ();
  QmQuoteLine *line = qm_quote_add_line (quote, QM_LINE_QUOTED);

  memcpy (quote->currency, "EUR", 4);
  quote->tax_included = QM_YES;
  line->quantity_micros = 1000000;
  line->price_micros = 119000000;
  quote->net_minor = 10000;
  quote->tax_minor = 1900;
  quote->payable_minor = 11900;
  g_assert_cmpuint (qm_quote_check (quote), ==, 0);
  quote->payable_minor = 12900;
  g_assert_cmpuint (qm_quote_check (quote), ==, 1);
}

/* Halves go away from zero, and nothing overflows silently. */
static void
test_arithmetic (void)
{
  static const struct
  {
    gint64 quantity, price, base, minor;
  } cases[] = {
    { 1000000, 5000, 1000000, 1 },
    { 1000000, 4999, 1000000, 0 },
    { 1000000, -5000, 1000000, -1 },
    { -1000000, 5000, 1000000, -1 },
    { 333333, 3000000, 1000000, 100 },
    { 1, 1, 1, 0 },
    { 1000000, 10000, G_MAXINT64, 0 },
    { 1000000, G_MAXINT64, 1000000, 922337203685478 },
    { G_MAXINT64, G_MAXINT64, 1000000, QM_AMOUNT_UNSTATED },
    { G_MAXINT64, G_MAXINT64, G_MAXINT64, 922337203685478 },
    { G_MAXINT64, -G_MAXINT64, 1, QM_AMOUNT_UNSTATED },
    { 1, 1, 0, QM_AMOUNT_UNSTATED },
    { 1, 1, -5, QM_AMOUNT_UNSTATED },
    { QM_AMOUNT_UNSTATED, 1, 1000000, QM_AMOUNT_UNSTATED },
  };
  g_autoptr (QmQuote) quote = qm_quote_new ();
  QmQuoteLine *line = qm_quote_add_line (quote, QM_LINE_QUOTED);

  memcpy (quote->currency, "EUR", 4);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      line->quantity_micros = cases[i].quantity;
      line->price_micros = cases[i].price;
      line->base_quantity_micros = cases[i].base;
      g_assert_cmpint (qm_quote_line_computed (quote, line), ==,
                       cases[i].minor);
    }
  memcpy (quote->currency, "JPY", 4);
  *line = (QmQuoteLine){ .quantity_micros = 3000000,
                         .price_micros = 500000,
                         .base_quantity_micros = 1000000,
                         .total_minor = QM_AMOUNT_UNSTATED };
  g_assert_cmpint (qm_quote_line_computed (quote, line), ==, 2);
}

static void
test_texts (void)
{
  static const struct
  {
    const char *text;
    const char *clean;
  } cases[] = {
    { "  a \t b\r\n\n c\x01"
      "d ",
      "a b\nc d" },
    { "\xff", "\xef\xbf\xbd" },
    { "   ", NULL },
    { "a\xe2\x80\xa8"
      "b",
      "a\nb" },
  };
  g_autofree char *long_text = g_strnfill (100000, 'x');
  g_autofree char *cut = qm_read_text (long_text);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *clean = qm_read_text (cases[i].text);

      g_assert_cmpstr (clean, ==, cases[i].clean);
    }
  g_assert_cmpuint (strlen (cut), <=, QM_READ_MAX_TEXT);
}

int
main (int argc, char **argv)
{
  const char *directory = g_getenv ("QM_SHIPPED_DATA_DIR");
  int status;

  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (qm_catalog_load (directory, NULL, &catalog, NULL), ==,
                   QM_OK);
  matcher = qm_matcher_new (catalog, directory, NULL, NULL);
  g_test_add_func ("/import/kinds", test_kinds);
  g_test_add_func ("/import/refused", test_refused);
  g_test_add_func ("/import/ubl", test_ubl);
  g_test_add_func ("/import/mapping", test_mapping);
  g_test_add_func ("/import/remembered", test_remembered);
  g_test_add_func ("/import/page", test_page);
  g_test_add_func ("/import/real-page", test_real_page);
  g_test_add_func ("/import/json", test_json);
  g_test_add_func ("/quote-import/cancelled", test_cancelled);
  g_test_add_func ("/import/contradictions", test_contradictions);
  g_test_add_func ("/import/rounding", test_rounding);
  g_test_add_func ("/import/gross", test_gross);
  g_test_add_func ("/import/arithmetic", test_arithmetic);
  g_test_add_func ("/import/texts", test_texts);
  status = g_test_run ();
  qm_matcher_free (matcher);
  qm_catalog_free (catalog);
  return status;
}
