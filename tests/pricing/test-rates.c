/* SPDX-License-Identifier: Apache-2.0 */

/* Exchange rates: the shipped table, the ECB's documents, and conversions whose
 * results were computed by hand. */

#include "pricing/qm-exact.h"
#include "pricing/qm-rates.h"

#include <string.h>

static QmRates *shipped;

static QmDate
day (const char *text)
{
  QmDate date = { 0 };

  g_assert_true (qm_date_parse (text, &date));
  return date;
}

static void
assert_day (QmDate date, const char *expected)
{
  g_assert_cmpint (qm_date_compare (date, day (expected)), ==, 0);
}

static QmCrossRate
find (QmRates *rates, const char *from, const char *to, const char *date)
{
  g_autoptr (GError) error = NULL;
  QmCrossRate rate = { 0 };

  qm_rates_find (rates, from, to, day (date), QM_RATES_STALE_DAYS, &rate,
                 &error);
  g_assert_no_error (error);
  return rate;
}

static void
assert_none (QmRates *rates,
             const char *from,
             const char *to,
             const char *date,
             int code)
{
  g_autoptr (GError) error = NULL;
  QmCrossRate rate = { .age_days = -99 };

  g_assert_false (qm_rates_find (rates, from, to, day (date),
                                 QM_RATES_STALE_DAYS, &rate, &error));
  g_assert_error (error, QM_RATES_ERROR, code);
  g_assert_cmpint (rate.age_days, ==, -99);
}

static gint64
convert (const QmCrossRate *rate, gint64 minor)
{
  g_autoptr (GError) error = NULL;
  QmMoney amount = { .minor = minor };
  QmMoney converted;

  memcpy (amount.currency, rate->from, sizeof amount.currency);
  qm_cross_rate_convert (rate, amount, &converted, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (converted.currency, ==, rate->to);
  return converted.minor;
}

static QmRates *
read_xml (const char *text, GError **error)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static (text, strlen (text));

  return qm_rates_new_from_ecb (bytes, "rates.xml", error);
}

static QmRates *
read_csv (const char *text, GError **error)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static (text, strlen (text));

  return qm_rates_new_from_csv (bytes, "rates.csv", error);
}

static void
test_exact (void)
{
  static const struct
  {
    gint64 value;
    gint64 numerator;
    gint64 denominator;
    gint64 expected;
  } cases[] = {
    { 10, 1, 4, 3 },   /* 2.5 */
    { -10, 1, 4, -3 }, /* halves go away from zero */
    { 9, 1, 4, 2 },
    { 11, 1, 4, 3 },
    { -9, 1, 4, -2 },
    { 0, 5, 7, 0 },
    { G_MAXINT64, 1, 1, G_MAXINT64 },
    { G_MININT64, 1, 1, G_MININT64 },
    { G_MAXINT64, G_MAXINT64, G_MAXINT64, G_MAXINT64 },
    { G_MAXINT64, 1, G_MAXINT64, 1 },
    { 5, 0, 3, 0 },
  };
  gint64 result = 42;

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_assert_true (qm_exact_scale (cases[i].value, cases[i].numerator,
                                     cases[i].denominator, &result));
      g_assert_cmpint (result, ==, cases[i].expected);
    }
  result = 42;
  g_assert_false (qm_exact_scale (G_MAXINT64, 2, 1, &result));
  g_assert_false (qm_exact_scale (G_MININT64, 3, 2, &result));
  g_assert_false (qm_exact_scale (
      G_MAXINT64, (QmInt128) G_MAXINT64 * G_MAXINT64, 3, &result));
  g_assert_cmpint (result, ==, 42);
  result = G_MAXINT64;
  g_assert_false (qm_exact_add (&result, 1));
  g_assert_true (qm_exact_add (&result, -1));
  g_assert_cmpint (result, ==, G_MAXINT64 - 1);
}

static void
test_shipped (void)
{
  QmCrossRate rate = find (shipped, "USD", "EUR", "2026-04-13");
  g_autofree char *text = qm_cross_rate_text (&rate);

  assert_day (qm_rates_last_day (shipped), "2026-04-13");
  assert_day (qm_rates_first_day (shipped), "2004-12-31");
  g_assert_true (g_strv_contains (qm_rates_currencies (shipped), "GBP"));
  g_assert_false (g_strv_contains (qm_rates_currencies (shipped), "EUR"));

  /* 100.00 / 1.1684 = 85.587... */
  assert_day (rate.date, "2026-04-13");
  g_assert_cmpint (rate.age_days, ==, 0);
  g_assert_false (rate.stale);
  g_assert_cmpint (convert (&rate, 10000), ==, 8559);
  g_assert_cmpint (convert (&rate, -10000), ==, -8559);
  g_assert_cmpstr (text, ==, "0.855871");

  /* 1 000 000 JPY / 186.75 x 0.87058 = 4661.74 GBP */
  rate = find (shipped, "JPY", "GBP", "2026-04-13");
  g_assert_cmpint (convert (&rate, 1000000), ==, 466174);
  /* 12.34 GBP / 0.87058 x 186.75 = 2647.07 JPY, which has no minor unit */
  rate = find (shipped, "GBP", "JPY", "2026-04-13");
  g_assert_cmpint (convert (&rate, 1234), ==, 2647);
  rate = find (shipped, "IDR", "USD", "2026-04-13");
  g_assert_cmpint (convert (&rate, 100000000), ==, 5818);

  rate = find (shipped, "USD", "USD", "1980-01-01");
  g_assert_cmpint (convert (&rate, G_MAXINT64), ==, G_MAXINT64);
}

static void
test_days (void)
{
  QmCrossRate rate;

  /* Easter 2026: no rates from 3 to 6 April. */
  rate = find (shipped, "EUR", "USD", "2026-04-06");
  assert_day (rate.date, "2026-04-02");
  assert_day (rate.asked, "2026-04-06");
  g_assert_cmpint (rate.age_days, ==, 4);
  g_assert_false (rate.stale);

  rate = find (shipped, "EUR", "USD", "2026-04-20");
  g_assert_cmpint (rate.age_days, ==, 7);
  g_assert_false (rate.stale);
  rate = find (shipped, "EUR", "USD", "2026-04-21");
  assert_day (rate.date, "2026-04-13");
  g_assert_true (rate.stale);

  assert_none (shipped, "USD", "EUR", "1999-01-04", QM_RATES_ERROR_EARLY);
  assert_none (shipped, "XYZ", "EUR", "2026-04-13", QM_RATES_ERROR_UNKNOWN);
  assert_none (shipped, "EUR", "usd", "2026-04-13", QM_RATES_ERROR_UNKNOWN);
  assert_none (shipped, "EUR", "", "2026-04-13", QM_RATES_ERROR_UNKNOWN);
}

static void
test_ended (void)
{
  static const struct
  {
    const char *currency;
    const char *last;
    const char *after;
  } ended[] = {
    { "HRK", "2022-12-30", "2023-01-02" },
    { "BGN", "2025-12-31", "2026-01-02" },
    { "RUB", "2022-03-01", "2022-03-02" },
    { "LTL", "2014-12-31", "2022-01-03" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (ended); i++)
    {
      QmCrossRate rate =
          find (shipped, ended[i].currency, "EUR", ended[i].last);

      g_assert_cmpint (rate.age_days, ==, 0);
      assert_none (shipped, ended[i].currency, "USD", ended[i].after,
                   QM_RATES_ERROR_ENDED);
      assert_none (shipped, "USD", ended[i].currency, "2026-11-21",
                   QM_RATES_ERROR_ENDED);
    }
  /* New Year's Eve was a Saturday: the kuna was still money. */
  assert_day (find (shipped, "HRK", "EUR", "2022-12-31").date, "2022-12-30");
}

static void
test_common_day (void)
{
  static const QmRate list[] = {
    { "AAA", { 2026, 1, 5 }, 2 * QM_RATE_NANOS },
    { "AAA", { 2026, 1, 7 }, 3 * QM_RATE_NANOS },
    { "AAA", { 2026, 1, 9 }, 9 * QM_RATE_NANOS },
    { "BBB", { 2026, 1, 6 }, 1 * QM_RATE_NANOS },
    { "BBB", { 2026, 1, 5 }, 5 * QM_RATE_NANOS },
    { "BBB", { 2026, 1, 9 }, 1 * QM_RATE_NANOS },
    { "CCC", { 2026, 1, 8 }, 1 * QM_RATE_NANOS },
    { "CCC", { 2026, 1, 10 }, 1 * QM_RATE_NANOS },
  };
  g_autoptr (GError) error = NULL;
  g_autoptr (QmRates) rates = qm_rates_new (list, G_N_ELEMENTS (list), &error);
  QmCrossRate rate;
  QmRate bad = list[0];

  g_assert_no_error (error);
  rate = find (rates, "AAA", "BBB", "2026-01-08");
  assert_day (rate.date, "2026-01-05");
  g_assert_cmpint (convert (&rate, 200), ==, 500);
  g_assert_cmpint (rate.age_days, ==, 3);
  assert_none (rates, "AAA", "CCC", "2026-01-08", QM_RATES_ERROR_EARLY);

  bad.nanos = 0;
  g_assert_null (qm_rates_new (&bad, 1, &error));
  g_assert_error (error, QM_RATES_ERROR, QM_RATES_ERROR_FORMAT);
}

static void
test_merge (void)
{
  g_autoptr (QmRates) older =
      read_csv ("Date,USD,GBP\n2026-05-04,1.1,0.9\n2026-05-05,1.2,N/A\n", NULL);
  g_autoptr (QmRates) newer =
      read_csv ("\xef\xbb\xbf"
                "Date, USD, SEK, \r\n2026-05-05, 1.25, 11, \r\n",
                NULL);
  g_autoptr (QmRates) merged = qm_rates_merge (older, newer);
  g_autoptr (QmRates) again = NULL;
  gsize n;
  const QmRate *list = qm_rates_list (merged, &n);

  g_assert_cmpuint (n, ==, 4);
  g_assert_cmpstr (list[0].currency, ==, "GBP");
  g_assert_cmpint (list[3].nanos, ==, 1250000000);
  again = qm_rates_new (list, n, NULL);
  qm_rates_list (again, &n);
  g_assert_cmpuint (n, ==, 4);
}

static void
test_limits (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmRates) rates =
      read_csv ("Date,AAA,BBB\n2026-05-04,0.000000001,999999999.999999999\n",
                &error);
  QmCrossRate rate;
  QmMoney amount = { .minor = G_MAXINT64, .currency = "AAA" };
  QmMoney converted = { .minor = 7 };
  gint64 micros = 7;

  g_assert_no_error (error);
  rate = find (rates, "AAA", "BBB", "2026-05-04");
  g_assert_false (qm_cross_rate_convert (&rate, amount, &converted, &error));
  g_assert_error (error, QM_RATES_ERROR, QM_RATES_ERROR_RANGE);
  g_assert_cmpint (converted.minor, ==, 7);
  g_clear_error (&error);
  g_assert_false (
      qm_cross_rate_convert_micros (&rate, G_MININT64, &micros, &error));
  g_assert_error (error, QM_RATES_ERROR, QM_RATES_ERROR_RANGE);
  rate = find (rates, "BBB", "AAA", "2026-05-04");
  g_assert_true (
      qm_cross_rate_convert_micros (&rate, G_MAXINT64, &micros, NULL));
  g_assert_cmpint (micros, ==, 9);
}

static void
test_ecb (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "pages", "ecb-daily.xml", NULL);
  g_autofree char *text = NULL;
  g_autoptr (QmRates) daily = NULL;
  g_autoptr (QmRates) history = read_xml (
      "<e:Envelope xmlns:e=\"http://www.gesmes.org/xml/2002-08-01\" "
      "xmlns=\"http://www.ecb.int/vocabulary/2002-08-01/eurofxref\">"
      "<Cube><Cube time=\"2026-02-03\"><Cube currency=\"USD\" rate=\"1.2\"/>"
      "<Cube currency=\"GBP\" rate=\"0.9\"/></Cube>"
      "<Cube time=\"2026-02-02\"><Cube currency=\"USD\" rate=\"1.19\"/>"
      "</Cube></Cube></e:Envelope>",
      &error);
  gsize n, m;
  const QmRate *list;

  g_assert_no_error (error);
  qm_rates_list (history, &n);
  g_assert_cmpuint (n, ==, 3);
  assert_day (find (history, "USD", "EUR", "2026-02-02").date, "2026-02-02");

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  daily = read_xml (text, &error);
  g_assert_no_error (error);
  list = qm_rates_list (daily, &m);
  g_assert_cmpuint (m, ==, 5);
  for (gsize i = 0; i < m; i++)
    {
      QmCrossRate rate = find (shipped, "EUR", list[i].currency, "2026-04-13");

      g_assert_cmpint (rate.numerator, ==, list[i].nanos);
    }
}

#define ECB_BEGIN                                               \
  "<e:Envelope xmlns:e='http://www.gesmes.org/xml/2002-08-01' " \
  "xmlns='http://www.ecb.int/vocabulary/2002-08-01/eurofxref'><Cube>"
#define ECB_END "</Cube></e:Envelope>"

static void
test_bad_xml (void)
{
  static const struct
  {
    const char *text;
    const char *words;
  } cases[] = {
    { "", NULL },
    { "<html><body>Service unavailable</body></html>", "html" },
    { "Service unavailable", NULL },
    { ECB_BEGIN ECB_END, "no exchange rates" },
    { ECB_BEGIN "<Cube time='2026-02-03'><Cube currency='USD' rate='1.2'/>",
      NULL },
    { ECB_BEGIN "<Cube time='yesterday'/>" ECB_END, "yesterday" },
    { ECB_BEGIN "<Cube time='2026-02'/>" ECB_END, "2026-02" },
    { ECB_BEGIN "<Cube currency='USD' rate='1.2'/>" ECB_END, "day" },
    { ECB_BEGIN
      "<Cube time='2026-02-03'/><Cube currency='USD' rate='1'/>" ECB_END,
      "day" },
    { ECB_BEGIN "<Cube time='2026-02-03'><Cube currency='USD'/></Cube>" ECB_END,
      "value" },
    { ECB_BEGIN "<Cube time='2026-02-03'><Cube currency='USD' rate='0.00'/>"
                "</Cube>" ECB_END,
      "0.00" },
    { ECB_BEGIN "<Cube time='2026-02-03'><Cube currency='USD' rate='-1'/>"
                "</Cube>" ECB_END,
      "-1" },
    { ECB_BEGIN "<Cube time='2026-02-03'><Cube currency='USD' rate='1e3'/>"
                "</Cube>" ECB_END,
      "1e3" },
    { ECB_BEGIN "<Cube time='2026-02-03'><Cube currency='USD' rate='1,2'/>"
                "</Cube>" ECB_END,
      "1,2" },
    { ECB_BEGIN "<Cube time='2026-02-03'>"
                "<Cube currency='USD' rate='1.2345678901'/></Cube>" ECB_END,
      "1.2345678901" },
    { ECB_BEGIN
      "<Cube time='2026-02-03'>"
      "<Cube currency='USD' rate='99999999999999999999'/></Cube>" ECB_END,
      NULL },
    { ECB_BEGIN "<Cube time='2026-02-03'><Cube currency='EUR' rate='1'/>"
                "</Cube>" ECB_END,
      "EUR" },
    { ECB_BEGIN "<Cube time='2026-02-03'><Cube currency='USDT' rate='1'/>"
                "</Cube>" ECB_END,
      "USDT" },
    { ECB_BEGIN "<Cube time='2026-02-03'><Cube currency='USD' rate='1'/>"
                "<Cube currency='USD' rate='2'/></Cube>" ECB_END,
      "two different" },
    { "<!DOCTYPE e [<!ENTITY a SYSTEM 'file:///etc/passwd'>]>" ECB_BEGIN
      "<Cube time='2026-02-03'>&a;</Cube>" ECB_END,
      "document type" },
    { "<!DOCTYPE e [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;'>"
      "<!ENTITY c '&b;&b;&b;&b;&b;'>]>" ECB_BEGIN "<Cube time='&c;'/>" ECB_END,
      "document type" },
    { "<!DOCTYPE e SYSTEM 'http://127.0.0.1:1/x.dtd'>" ECB_BEGIN ECB_END,
      "document type" },
    { "<?xml version='1.0' encoding='no-such'?>" ECB_BEGIN ECB_END, NULL },
    { "<?xml version='1.0' encoding='latin1'?>" ECB_BEGIN "\xfc" ECB_END,
      "UTF-8" },
    /* An umlaut that is cut in two in the message. */
    { ECB_BEGIN "<Cube time='2026-02-03'><Cube rate='1' "
                "currency='aaaaaaaaaaaaaaaaaaa\xc3\xbc'/></Cube>" ECB_END,
      "currency" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (read_xml (cases[i].text, &error));
      g_assert_error (error, QM_RATES_ERROR, QM_RATES_ERROR_FORMAT);
      g_assert_true (g_str_has_prefix (error->message, "rates.xml"));
      g_assert_true (g_utf8_validate (error->message, -1, NULL));
      if (cases[i].words != NULL
          && strstr (error->message, cases[i].words) == NULL)
        g_error ("“%s” is not in “%s”", cases[i].words, error->message);
    }
}

static void
test_deep_xml (void)
{
  g_autoptr (GString) deep = g_string_new (ECB_BEGIN);
  g_autoptr (GError) error = NULL;

  for (int i = 0; i < 100; i++)
    g_string_append (deep, "<Cube>");
  g_assert_null (read_xml (deep->str, &error));
  g_assert_error (error, QM_RATES_ERROR, QM_RATES_ERROR_FORMAT);
  g_assert_nonnull (strstr (error->message, "deep"));
}

static void
test_bad_csv (void)
{
  static const struct
  {
    const char *text;
    const char *words;
  } cases[] = {
    { "", NULL },
    { "# nothing\n", "no exchange rates" },
    { "Day,USD\n2026-02-03,1\n", "Date" },
    { "Date\n2026-02-03\n", "Date" },
    { "Date,USD\n", "no exchange rates" },
    { "Date,USD\n2026-02-30,1\n", "line 2" },
    { "Date,USD\n2026-02-03,1,2\n", "more cells" },
    { "Date,USD\n2026-02-03,x\n", "“x”" },
    { "Date,US\n2026-02-03,1\n", "US" },
    { "Date,USD\n2026-02-03,1\n2026-02-03,2\n", "two different" },
    { "Date,USD\n2026-02-03,\xff\n", "UTF-8" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (read_csv (cases[i].text, &error));
      g_assert_error (error, QM_RATES_ERROR, QM_RATES_ERROR_FORMAT);
      if (cases[i].words != NULL
          && strstr (error->message, cases[i].words) == NULL)
        g_error ("“%s” is not in “%s”", cases[i].words, error->message);
    }
}

static gpointer
reading_thread (gpointer data)
{
  for (int i = 0; i < 2000; i++)
    {
      g_autoptr (QmRates) rates = qm_rates_ref (data);

      g_assert_cmpint (find (rates, "GBP", "USD", "2025-03-04").stale, ==,
                       FALSE);
    }
  return NULL;
}

static void
test_threads (void)
{
  GThread *threads[4];

  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("rates", reading_thread, shipped);
  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  int status;

  g_test_init (&argc, &argv, NULL);
  shipped = qm_rates_new_shipped (g_getenv ("QM_SHIPPED_DATA_DIR"), &error);
  g_assert_no_error (error);
  g_test_add_func ("/rates/exact", test_exact);
  g_test_add_func ("/rates/shipped", test_shipped);
  g_test_add_func ("/rates/days", test_days);
  g_test_add_func ("/rates/ended", test_ended);
  g_test_add_func ("/rates/common-day", test_common_day);
  g_test_add_func ("/rates/merge", test_merge);
  g_test_add_func ("/rates/limits", test_limits);
  g_test_add_func ("/rates/ecb", test_ecb);
  g_test_add_func ("/rates/bad-xml", test_bad_xml);
  g_test_add_func ("/rates/deep-xml", test_deep_xml);
  g_test_add_func ("/rates/bad-csv", test_bad_csv);
  g_test_add_func ("/rates/threads", test_threads);
  status = g_test_run ();
  qm_rates_unref (shipped);
  return status;
}
