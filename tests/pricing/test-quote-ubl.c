/* SPDX-License-Identifier: Apache-2.0 */

#include "pricing/formats/qm-quote-ubl.h"
#include "pricing/quotes/qm-quote-read.h"
#include "pricing/quotes/qm-quote-totals.h"
#include "tests/pricing/samples.h"

#define HEAD                                                                 \
  "<Quotation xmlns='urn:oasis:names:specification:ubl:schema:xsd:"          \
  "Quotation-2' xmlns:a='urn:oasis:names:specification:ubl:schema:xsd:"      \
  "CommonAggregateComponents-2' xmlns:b='urn:oasis:names:specification:ubl:" \
  "schema:xsd:CommonBasicComponents-2'>"
#define LINE(quantity, price, total)                                        \
  "<a:QuotationLine><b:ID>1</b:ID><a:LineItem><b:ID>1</"                    \
  "b:ID><b:Quantity>" quantity                                              \
  "</b:Quantity><b:LineExtensionAmount currencyID='EUR'>" total             \
  "</b:LineExtensionAmount><a:Price><b:PriceAmount currencyID='EUR'>" price \
  "</b:PriceAmount></a:Price><a:Item><b:Name>GPU</b:Name></a:Item>"         \
  "</a:LineItem></a:QuotationLine>"
#define TAIL "</Quotation>"

static QmQuote *
read_text (const char *text, GError **error)
{
  return qm_quote_ubl_read (text, strlen (text), NULL, error);
}

static QmQuote *
read_sample (const char *name)
{
  g_autoptr (GBytes) bytes = sample_load (name);
  g_autoptr (GError) error = NULL;
  QmQuote *quote = qm_quote_ubl_read (g_bytes_get_data (bytes, NULL),
                                      g_bytes_get_size (bytes), NULL, &error);

  g_assert_no_error (error);
  g_assert_nonnull (quote);
  return quote;
}

/* The shape of the standard's 2.1 example. */
static void
test_four_lines (void)
{
  static const gint64 prices[] = { 4300, 1250, 50, 50 };
  static const char *const parts[] = { "NL100", "NL200", "NL301", "NL302" };
  g_autoptr (QmQuote) quote = read_sample ("four-lines.xml");
  QmQuoteTotals totals;

  g_assert_cmpstr (quote->vendor, ==, "Nordlys Data A/S");
  g_assert_cmpstr (quote->number, ==, "T-2008-77");
  g_assert_cmpstr (quote->note, ==, "Tilbud på arbejdspladser\nFrit leveret");
  g_assert_cmpstr (quote->currency, ==, "DKK");
  sample_assert_date (quote->issued_on, 2008, 5, 1);
  sample_assert_date (quote->valid_from, 2008, 5, 1);
  sample_assert_date (quote->valid_until, 2008, 5, 6);
  g_assert_cmpuint (quote->lines->len, ==, 4);
  for (guint i = 0; i < 4; i++)
    {
      const QmQuoteLine *line = sample_line (quote, i);

      g_assert_cmpint (line->quantity_micros, ==, 35 * 1000000);
      g_assert_cmpint (line->price_micros, ==, prices[i] * 1000000);
      g_assert_cmpint (line->total_minor, ==, prices[i] * 35 * 100);
      g_assert_cmpstr (line->part_number, ==, parts[i]);
      g_assert_cmpstr (line->unit, ==, "EA");
      g_assert_cmpint (line->role, ==, QM_LINE_QUOTED);
    }
  g_assert_cmpstr (sample_line (quote, 2)->description, ==,
                   "USB-sæt, sort\nMus");
  g_assert_cmpint (quote->net_minor, ==, 19775000);
  g_assert_cmpint (quote->tax_minor, ==, 4943750);
  g_assert_cmpint (quote->payable_minor, ==, 24718750);
  g_assert_cmpint (quote->tax_included, ==, QM_NO);
  qm_quote_totals_compute (quote, &totals);
  g_assert_cmpint (totals.lines_minor, ==, 19775000);
  g_assert_cmpint (totals.payable_minor, ==, 24718750);
  g_assert_cmpuint (qm_quote_totals_check (quote), ==, 0);
  g_assert_cmpuint (quote->findings->len, ==, 1);
  g_assert_cmpuint (
      sample_findings (quote, QM_FINDING_WARNING, "which is the tax"), ==, 1);
}

/* The shape of the standard's 2.0 example. */
static void
test_inconsistent (void)
{
  g_autoptr (QmQuote) quote = read_sample ("inconsistent.xml");
  const QmQuoteLine *line = sample_line (quote, 0);

  g_assert_cmpstr (quote->vendor, ==, "Waxworks Ltd");
  g_assert_cmpstr (quote->currency, ==, "GBP");
  sample_assert_date (quote->valid_until, 2005, 7, 20);
  g_assert_cmpuint (quote->lines->len, ==, 1);
  g_assert_cmpint (line->quantity_micros, ==, 100 * 1000000);
  g_assert_cmpstr (line->unit, ==, "KGM");
  g_assert_cmpstr (line->part_number, ==, "17500");
  g_assert_cmpint (line->price_micros, ==, 100 * 1000000);
  g_assert_cmpint (line->total_minor, ==, 10000);
  g_assert_cmpint (quote->discount_minor, ==, 1000);
  g_assert_cmpint (quote->tax_minor, ==, 1750);
  g_assert_cmpint (quote->payable_minor, ==, 10750);
  g_assert_cmpuint (quote->findings->len, ==, 0);
  g_assert_cmpuint (qm_quote_totals_check (quote), ==, 1);
  g_assert_cmpuint (sample_findings (quote, QM_FINDING_WARNING,
                                     "says 100.00 GBP, but quantity and price "
                                     "come to 10,000.00 GBP"),
                    ==, 1);
  g_assert_cmpint (line->total_minor, ==, 10000);
}

static void
test_server (void)
{
  static const QmLineRole roles[] = { QM_LINE_QUOTED,     QM_LINE_PART,
                                      QM_LINE_PART,       QM_LINE_PART,
                                      QM_LINE_SUBSTITUTE, QM_LINE_ALTERNATIVE,
                                      QM_LINE_QUOTED };
  g_autoptr (QmQuote) quote = read_sample ("server.xml");
  QmQuoteTotals totals;

  g_assert_cmpuint (quote->lines->len, ==, G_N_ELEMENTS (roles));
  for (guint i = 0; i < G_N_ELEMENTS (roles); i++)
    g_assert_cmpint (sample_line (quote, i)->role, ==, roles[i]);
  g_assert_cmpstr (quote->currency, ==, "EUR");
  sample_assert_date (quote->issued_on, 2026, 10, 1);
  sample_assert_date (quote->valid_until, 2026, 10, 31);
  g_assert_cmpstr (sample_line (quote, 0)->part_number, ==, "GS-8");
  g_assert_cmpint (sample_line (quote, 0)->discount_minor, ==, 10000);
  g_assert_cmpint (sample_line (quote, 0)->total_minor, ==, 19990000);
  g_assert_cmpint (sample_line (quote, 6)->base_quantity_micros, ==, 10000000);
  g_assert_cmpstr (sample_line (quote, 6)->part_number, ==, "SCR-M3");
  g_assert_cmpint (quote->charge_minor, ==, 25000);
  qm_quote_totals_compute (quote, &totals);
  g_assert_cmpint (totals.lines_minor, ==, 19995810);
  g_assert_cmpint (totals.net_minor, ==, 20020810);
  g_assert_cmpint (totals.payable_minor, ==, 23824764);
  g_assert_cmpuint (qm_quote_totals_check (quote), ==, 0);
  g_assert_cmpuint (sample_findings (quote, QM_FINDING_WARNING, ""), ==, 0);
}

static void
assert_refused (const char *text, int code, const char *words)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmQuote) quote = read_text (text, &error);

  g_assert_null (quote);
  g_assert_error (error, QM_READ_ERROR, code);
  if (strstr (error->message, words) == NULL)
    g_error ("“%s” does not say “%s”", error->message, words);
}

static void
test_roots (void)
{
  static const char *const others[] = { "Order", "Invoice",
                                        "RequestForQuotation" };

  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    {
      g_autofree char *text = g_strdup_printf (
          "<x:%s xmlns:x='urn:oasis:names:specification:ubl:schema:xsd:%s-2'/>",
          others[i], others[i]);

      assert_refused (text, QM_READ_ERROR_NO_QUOTE, others[i]);
    }
  assert_refused ("<Quotation/>", QM_READ_ERROR_NO_QUOTE, "Quotation");
  assert_refused ("<feed xmlns='http://www.w3.org/2005/Atom'/>",
                  QM_READ_ERROR_NO_QUOTE, "2005/Atom");
  assert_refused (HEAD TAIL, QM_READ_ERROR_NO_QUOTE, "no lines");
}

/* Documents made to harm. */
static void
test_hostile (void)
{
  static const char bomb[] =
      "<?xml version='1.0'?><!DOCTYPE lolz [<!ENTITY a 'aaaaaaaaaa'>"
      "<!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;'>"
      "<!ENTITY c '&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;'>"
      "<!ENTITY d '&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;'>]>" HEAD
      "<b:Note>&d;</b:Note>" LINE ("1", "1", "1.00") TAIL;
  static const char *const documents[] = {
    "<!DOCTYPE x [<!ENTITY f SYSTEM 'file:///etc/passwd'>]>" HEAD
    "<b:Note>&f;</b:Note>" LINE ("1", "1", "1.00") TAIL,
    "<!DOCTYPE x SYSTEM 'http://127.0.0.1:9/x.dtd'>" HEAD LINE ("1", "1",
                                                                "1.00") TAIL,
    "<!DOCTYPE x [<!ENTITY % p SYSTEM 'http://127.0.0.1:9/p'> %p;]>" HEAD LINE (
        "1", "1", "1.00") TAIL,
    "<!DOCTYPE x>" HEAD LINE ("1", "1", "1.00") TAIL,
    bomb,
  };

  for (guint i = 0; i < G_N_ELEMENTS (documents); i++)
    assert_refused (documents[i], QM_READ_ERROR_MALFORMED, "DOCTYPE");
  assert_refused (HEAD "<b:Note>&f;</b:Note>" TAIL, QM_READ_ERROR_MALFORMED,
                  "Line 1");
  assert_refused (HEAD "<xi:include xmlns:xi='http://www.w3.org/2001/XInclude' "
                       "href='file:///etc/passwd'/>" TAIL,
                  QM_READ_ERROR_NO_QUOTE, "no lines");
}

static void
test_depth_and_number (void)
{
  GString *deep = g_string_new (HEAD);
  GString *many = g_string_new (HEAD);

  for (int i = 0; i < 100000; i++)
    g_string_append (deep, "<a:SubLineItem>");
  assert_refused (deep->str, QM_READ_ERROR_TOO_LARGE, "nested");
  for (int i = 0; i < 500000; i++)
    g_string_append (many, "<b:I/>");
  g_string_append (many, TAIL);
  assert_refused (many->str, QM_READ_ERROR_TOO_LARGE, "too many elements");
  g_string_set_size (many, QM_READ_MAX_BYTES + 1);
  memset (many->str, ' ', many->len);
  assert_refused (many->str, QM_READ_ERROR_TOO_LARGE, "8 MiB");
  g_string_free (deep, TRUE);
  g_string_free (many, TRUE);
}

/* Cut anywhere, a document is refused and nothing is left over. */
static void
test_truncated (void)
{
  g_autoptr (GBytes) bytes = sample_load ("inconsistent.xml");
  const char *data = g_bytes_get_data (bytes, NULL);
  gsize size = g_bytes_get_size (bytes);

  while (g_ascii_isspace (data[size - 1]))
    size--;
  for (gsize n = 0; n < size; n++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *cut = g_memdup2 (data, n);
      g_autoptr (QmQuote) quote = qm_quote_ubl_read (cut, n, NULL, &error);

      g_assert_null (quote);
      g_assert_error (error, QM_READ_ERROR, QM_READ_ERROR_MALFORMED);
      g_assert_cmpint (error->message[0], !=, '\0');
    }
}

static void
test_encodings (void)
{
  static const char text[] =
      "<?xml version='1.0' encoding='ISO-8859-1'?>" HEAD
      "<b:Note>Prüfung</b:Note>" LINE ("1", "1", "1.00") TAIL;
  static const char utf16[] =
      "<?xml version='1.0' encoding='UTF-16'?>" HEAD
      "<b:Note>Prüfung</b:Note>" LINE ("1", "1", "1.00") TAIL;
  g_autoptr (GError) error = NULL;
  g_autoptr (QmQuote) quote = NULL;
  g_autofree char *data = NULL;
  gsize size;

  data = g_convert (text, -1, "ISO-8859-1", "UTF-8", NULL, &size, &error);
  g_assert_no_error (error);
  quote = qm_quote_ubl_read (data, size, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (quote->note, ==, "Prüfung");

  g_clear_pointer (&data, g_free);
  g_clear_pointer (&quote, qm_quote_free);
  data = g_convert (utf16, -1, "UTF-16", "UTF-8", NULL, &size, &error);
  quote = qm_quote_ubl_read (data, size, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (quote->note, ==, "Prüfung");

  assert_refused (HEAD "<b:Note>Pr\xfc"
                       "fung</b:Note>" TAIL,
                  QM_READ_ERROR_MALFORMED, "Line 1");
  assert_refused ("<?xml version='1.0' encoding='KLINGON'?>" HEAD TAIL,
                  QM_READ_ERROR_MALFORMED, "");
  quote = (qm_quote_free (quote), NULL);
  quote = qm_quote_ubl_read ("<a>\0</a>", 8, NULL, &error);
  g_assert_null (quote);
  g_assert_error (error, QM_READ_ERROR, QM_READ_ERROR_MALFORMED);
}

static void
test_currencies (void)
{
  assert_refused (HEAD
                  "<b:PricingCurrencyCode>USD</b:PricingCurrencyCode>" LINE (
                      "1", "1", "1.00") TAIL,
                  QM_READ_ERROR_CURRENCY, "USD and in EUR");
  assert_refused (
      HEAD LINE (
          "1", "1",
          "1.00") "<a:QuotationLine><a:LineItem><b:LineExtensionAmount "
                  "currencyID='CHF'>1</b:LineExtensionAmount></a:LineItem>"
                  "</a:QuotationLine>" TAIL,
      QM_READ_ERROR_CURRENCY, "EUR and in CHF");
  assert_refused (HEAD
                  "<b:PricingCurrencyCode>euro</b:PricingCurrencyCode>" LINE (
                      "1", "1", "1.00") TAIL,
                  QM_READ_ERROR_CURRENCY, "euro");
}

/* Amounts that are none, negative, absurd, or too fine. */
static void
test_amounts (void)
{
  static const struct
  {
    const char *text;
    const char *words;
    guint warnings; /* of the check */
  } cases[] = {
    { HEAD LINE ("1", "1e5", "1.00") TAIL, "not a number", 0 },
    { HEAD LINE ("1", "12,50", "1.00") TAIL, "not a number", 0 },
    { HEAD LINE ("1", "99999999999999999999", "1.00") TAIL, "not a number", 0 },
    { HEAD LINE ("1", "1", "1.005") TAIL, "rounded", 0 },
    { HEAD LINE ("1", "-5", "-5.00") TAIL, "price is negative", 1 },
    { HEAD LINE ("0", "5", "0.00") TAIL, "quantity is not above zero", 1 },
    { HEAD LINE ("-1", "5", "-5.00") TAIL, "quantity is not above zero", 2 },
    { HEAD LINE ("1", "2000000000000", "2000000000000") TAIL, "too large", 1 },
    { HEAD LINE ("9000000000000", "9000000000000", "1.00") TAIL,
      "too large to be computed", 2 },
    { HEAD LINE ("", "5", "") TAIL, "neither its total", 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (QmQuote) quote = read_text (cases[i].text, &error);
      guint warnings;

      g_assert_no_error (error);
      warnings = qm_quote_totals_check (quote);
      g_assert_cmpuint (warnings, ==, cases[i].warnings);
      g_assert_cmpuint (
          sample_findings (quote, QM_FINDING_WARNING, cases[i].words), >=, 1);
    }
}

static void
assert_round_trip (QmQuote *quote)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (QmQuote) again = NULL;

  bytes = qm_quote_ubl_write (quote, &error);
  g_assert_no_error (error);
  again = qm_quote_ubl_read (g_bytes_get_data (bytes, NULL),
                             g_bytes_get_size (bytes), NULL, &error);
  g_assert_no_error (error);
  g_ptr_array_set_size (quote->findings, 0);
  g_ptr_array_set_size (again->findings, 0);
  if (!qm_quote_equal (quote, again))
    g_error ("%s", (const char *) g_bytes_get_data (bytes, NULL));
}

static void
test_round_trip (void)
{
  static const char *const samples[] = { "four-lines.xml", "server.xml",
                                         "inconsistent.xml" };

  for (guint i = 0; i < G_N_ELEMENTS (samples); i++)
    {
      g_autoptr (QmQuote) quote = read_sample (samples[i]);

      assert_round_trip (quote);
    }
}

static void
test_round_trip_text (void)
{
  g_autoptr (QmQuote) quote = qm_quote_new ();
  QmQuoteLine *line = qm_quote_add_line (quote, QM_LINE_QUOTED);

  quote->origin = QM_QUOTE_FROM_UBL;
  quote->vendor = g_strdup ("<A> & \"B\" 'C' ]]> Müller");
  quote->number = g_strdup ("=1+1");
  memcpy (quote->currency, "JPY", 4);
  quote->issued_on = (QmDate){ 2026, 11, 21 };
  quote->tax_included = QM_NO;
  quote->payable_minor = 123;
  line->number = g_strdup ("&amp;");
  line->part_number = g_strdup ("a<b");
  line->description = g_strdup ("first\nsecond & third");
  line->unit = g_strdup ("\"EA\"");
  line->quantity_micros = 1500000;
  line->price_micros = 123456;
  line->base_quantity_micros = 100000000;
  line->charge_minor = 3;
  line->thing = QM_THING_RENT;
  qm_quote_add_line (quote, QM_LINE_PART)->number = g_strdup ("1.1");
  qm_quote_add_line (quote, QM_LINE_ALTERNATIVE)->number = g_strdup ("2");
  qm_quote_add_line (quote, QM_LINE_PART)->number = g_strdup ("2.1");
  qm_quote_add_line (quote, QM_LINE_OPTION)->number = g_strdup ("3");
  quote->alternative = g_strdup ("Option A");
  quote->supersedes = g_strdup ("=1+0");
  assert_round_trip (quote);
}

static void
test_unsuited (void)
{
  g_autoptr (QmQuote) quote = qm_quote_new ();
  g_autoptr (GError) error = NULL;

  g_assert_null (qm_quote_ubl_write (quote, &error));
  g_assert_error (error, QM_READ_ERROR, QM_READ_ERROR_UNSUITED);
  g_clear_error (&error);
  qm_quote_add_line (quote, QM_LINE_QUOTED)->total_minor = 5;
  g_assert_null (qm_quote_ubl_write (quote, &error));
  g_clear_error (&error);
  memcpy (quote->currency, "EUR", 4);
  quote->read_at = 86400;
  quote->tax_included = QM_YES;
  g_assert_null (qm_quote_ubl_write (quote, &error));
  g_clear_error (&error);
  quote->tax_included = QM_NO;
  g_bytes_unref (qm_quote_ubl_write (quote, &error));
  g_assert_no_error (error);
}

static void
test_cancelled (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  GString *many = g_string_new (HEAD);

  for (int i = 0; i < 3000; i++)
    g_string_append (many, "<b:I/>");
  g_string_append (many, TAIL);
  g_cancellable_cancel (cancellable);
  g_assert_null (qm_quote_ubl_read (many->str, many->len, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_string_free (many, TRUE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ubl/four-lines", test_four_lines);
  g_test_add_func ("/ubl/inconsistent", test_inconsistent);
  g_test_add_func ("/ubl/server", test_server);
  g_test_add_func ("/ubl/roots", test_roots);
  g_test_add_func ("/ubl/hostile", test_hostile);
  g_test_add_func ("/ubl/depth-and-number", test_depth_and_number);
  g_test_add_func ("/ubl/truncated", test_truncated);
  g_test_add_func ("/ubl/encodings", test_encodings);
  g_test_add_func ("/ubl/currencies", test_currencies);
  g_test_add_func ("/ubl/amounts", test_amounts);
  g_test_add_func ("/ubl/round-trip", test_round_trip);
  g_test_add_func ("/ubl/round-trip-text", test_round_trip_text);
  g_test_add_func ("/ubl/unsuited", test_unsuited);
  g_test_add_func ("/ubl/cancelled", test_cancelled);
  return g_test_run ();
}
