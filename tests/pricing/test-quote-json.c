/* SPDX-License-Identifier: Apache-2.0 */

#include "pricing/formats/qm-quote-json.h"
#include "pricing/quotes/qm-quote-read.h"
#include "tests/pricing/samples.h"

/* A quote in which every field says something. */
static QmQuote *
make_quote (void)
{
  QmQuote *quote = qm_quote_new ();
  QmQuoteLine *line = qm_quote_add_line (quote, QM_LINE_QUOTED);
  QmQuoteLine *bare = qm_quote_add_line (quote, QM_LINE_SUBSTITUTE);

  quote->vendor = g_strdup ("Müller & \"Söhne\" \\ 株式会社");
  quote->number = g_strdup ("=4711");
  quote->alternative = g_strdup ("Option \"A\"");
  quote->supersedes = g_strdup ("=4710");
  quote->asked = QM_ASK_DATE | QM_ASK_REVISION;
  quote->answered = QM_ASK_DATE;
  quote->note = g_strdup ("two  spaces\n\nand a blank line");
  memcpy (quote->currency, "KWD", 4);
  quote->kind = QM_PRICE_CLOUD;
  quote->unit = QM_PRICE_HOUR;
  quote->issued_on = (QmDate){ 2026, 0, 0 };
  quote->valid_from = (QmDate){ 2026, 2, 0 };
  quote->valid_until = (QmDate){ 2026, 2, 28 };
  quote->tax_included = QM_YES;
  quote->net_minor = -1;
  quote->discount_minor = 0;
  quote->charge_minor = 1;
  quote->tax_minor = G_MAXINT64;
  quote->payable_minor = -G_MAXINT64;
  quote->origin = QM_QUOTE_FROM_PAGE;
  quote->source = g_strdup ("https://127.0.0.1/?a=1&b=2");
  quote->sha256 = g_strnfill (64, 'a');
  quote->read_at = 1795000000;
  line->number = g_strdup ("1");
  line->part_number = g_strdup ("P");
  line->description = g_strdup ("line\nbreak");
  line->unit = g_strdup ("EA");
  line->quantity_micros = 1;
  line->price_micros = G_MAXINT64;
  line->base_quantity_micros = 3;
  line->discount_minor = 4;
  line->charge_minor = 5;
  line->total_minor = 0;
  line->match = QM_MATCH_AMBIGUOUS;
  line->item = g_strdup ("a6000");
  line->gpus = 8;
  line->candidates = g_strdup ("a;b");
  line->thing = QM_THING_MACHINE;
  line->asked = QM_ASKS_OF_LINE;
  line->answered = QM_ASK_PACK;
  bare->match = QM_MATCH_CHOSEN;
  qm_quote_add_finding (quote, QM_FINDING_WARNING, "line 3", "Does not add up");
  qm_quote_add_finding (quote, QM_FINDING_NOTE, NULL, "Fine");
  return quote;
}

static GPtrArray *
read_bytes (GBytes *bytes, GError **error)
{
  return qm_quote_json_read (g_bytes_get_data (bytes, NULL),
                             g_bytes_get_size (bytes), error);
}

static void
test_round_trip (void)
{
  g_autoptr (GPtrArray) quotes =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
  g_autoptr (GPtrArray) again = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) first = NULL;
  g_autoptr (GBytes) second = NULL;

  g_ptr_array_add (quotes, make_quote ());
  g_ptr_array_add (quotes, qm_quote_new ());
  first = qm_quote_json_write (quotes);
  again = read_bytes (first, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (again->len, ==, 2);
  g_assert_true (qm_quote_equal (g_ptr_array_index (quotes, 0),
                                 g_ptr_array_index (again, 0)));
  g_assert_cmpint (((QmQuote *) g_ptr_array_index (again, 0))->read_at, ==,
                   1795000000);
  ((QmQuote *) g_ptr_array_index (quotes, 1))->origin = QM_QUOTE_FROM_HAND;
  g_assert_true (qm_quote_equal (g_ptr_array_index (quotes, 1),
                                 g_ptr_array_index (again, 1)));
  second = qm_quote_json_write (again);
  g_assert_true (g_bytes_equal (first, second));
}

static void
assert_refused (const char *text, int code, const char *words)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) quotes =
      qm_quote_json_read (text, strlen (text), &error);

  g_assert_null (quotes);
  g_assert_error (error, QM_READ_ERROR, code);
  if (strstr (error->message, words) == NULL)
    g_error ("“%s” does not say “%s”", error->message, words);
}

#define HEAD "{\"format\":\"quartermaster-quotes\",\"schema\":1,\"quotes\":["
#define TAIL "]}"

static void
test_refused (void)
{
  g_autofree char *deep = g_strnfill (100000, '[');

  assert_refused ("", QM_READ_ERROR_MALFORMED, "Line 1");
  assert_refused ("{", QM_READ_ERROR_MALFORMED, "Line 1");
  assert_refused (deep, QM_READ_ERROR_MALFORMED, "Line 1");
  assert_refused ("[]", QM_READ_ERROR_NO_QUOTE, "quartermaster-quotes");
  assert_refused ("{\"format\":\"quartermaster-quotes\",\"schema\":2}",
                  QM_READ_ERROR_KIND, "schema 1");
  assert_refused (HEAD TAIL, QM_READ_ERROR_NO_QUOTE, "no quotes");
  assert_refused (HEAD "1" TAIL, QM_READ_ERROR_MALFORMED, "quote 1");
  assert_refused (HEAD "{\"vendor\":\"a\",\"vendor\":\"b\"}" TAIL,
                  QM_READ_ERROR_MALFORMED, "duplicate");
  assert_refused (HEAD "{\"vendor\":\"a\\u0000b\"}" TAIL,
                  QM_READ_ERROR_MALFORMED, "Line 1");
  assert_refused (HEAD "{\"vendor\":\"\xff\"}" TAIL, QM_READ_ERROR_MALFORMED,
                  "Line 1");
  assert_refused (HEAD "{\"vendor\":5}" TAIL, QM_READ_ERROR_MALFORMED,
                  "quote 1, vendor");
  assert_refused (HEAD "{\"net\":5.5}" TAIL, QM_READ_ERROR_MALFORMED, "net");
  assert_refused (HEAD "{\"currency\":\"USD\",\"net\":\"5.555\"}" TAIL,
                  QM_READ_ERROR_MALFORMED, "net");
  assert_refused (HEAD "{\"currency\":\"JPY\",\"net\":\"5.5\"}" TAIL,
                  QM_READ_ERROR_MALFORMED, "net");
  assert_refused (HEAD "{\"net\":\"99999999999999999999\"}" TAIL,
                  QM_READ_ERROR_MALFORMED, "net");
  assert_refused (HEAD "{\"currency\":\"usd\"}" TAIL, QM_READ_ERROR_MALFORMED,
                  "currency");
  assert_refused (HEAD "{\"issued_on\":\"2026-02-30\"}" TAIL,
                  QM_READ_ERROR_MALFORMED, "issued_on");
  assert_refused (HEAD "{\"read_at\":\"yesterday\"}" TAIL,
                  QM_READ_ERROR_MALFORMED, "read_at");
  assert_refused (HEAD "{\"kind\":\"gift\"}" TAIL, QM_READ_ERROR_MALFORMED,
                  "kind");
  assert_refused (HEAD "{\"sha256\":\"abc\"}" TAIL, QM_READ_ERROR_MALFORMED,
                  "sha256");
  assert_refused (HEAD "{\"lines\":[{},{\"gpus\":-1}]}" TAIL,
                  QM_READ_ERROR_MALFORMED, "quote 1, line 2, gpus");
  assert_refused (HEAD "{\"lines\":[{\"base_quantity\":\"0\"}]}" TAIL,
                  QM_READ_ERROR_MALFORMED, "base_quantity");
  assert_refused (HEAD "{\"lines\":{}}" TAIL, QM_READ_ERROR_MALFORMED, "lines");
  assert_refused (HEAD "{\"findings\":[{}]}" TAIL, QM_READ_ERROR_MALFORMED,
                  "message");
}

static void
test_unknown (void)
{
  static const char text[] =
      HEAD "{\"colour\":\"red\",\"lines\":[{\"shade\":1}]}" TAIL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) quotes =
      qm_quote_json_read (text, strlen (text), &error);
  const QmQuote *quote;

  g_assert_no_error (error);
  quote = g_ptr_array_index (quotes, 0);
  g_assert_cmpuint (quote->findings->len, ==, 2);
  g_assert_cmpuint (sample_findings (quote, QM_FINDING_WARNING, "“colour”"), ==,
                    1);
  g_assert_cmpuint (sample_findings (quote, QM_FINDING_WARNING, "“shade”"), ==,
                    1);
}

static void
test_truncated (void)
{
  g_autoptr (GPtrArray) quotes =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
  g_autoptr (GBytes) bytes = NULL;
  const char *data;
  gsize size;

  g_ptr_array_add (quotes, make_quote ());
  bytes = qm_quote_json_write (quotes);
  data = g_bytes_get_data (bytes, &size);
  for (gsize n = 0; n < size - 2; n++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *cut = g_memdup2 (data, n);

      g_assert_null (qm_quote_json_read (cut, n, &error));
      g_assert_error (error, QM_READ_ERROR, QM_READ_ERROR_MALFORMED);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/json/round-trip", test_round_trip);
  g_test_add_func ("/json/refused", test_refused);
  g_test_add_func ("/json/unknown", test_unknown);
  g_test_add_func ("/json/truncated", test_truncated);
  return g_test_run ();
}
