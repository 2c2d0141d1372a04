/* SPDX-License-Identifier: Apache-2.0 */

#include "pricing/qm-amount.h"

#include <string.h>

typedef struct
{
  const char *text;
  gint64 micros;
  const char *currency;
} Amount;

static void
check (const Amount *amounts, guint n, QmDecimal decimal)
{
  for (guint i = 0; i < n; i++)
    {
      char currency[4];
      gint64 micros = -1;

      g_test_message ("%s", amounts[i].text);
      g_assert_true (
          qm_amount_parse (amounts[i].text, decimal, &micros, currency));
      g_assert_cmpint (micros, ==, amounts[i].micros);
      g_assert_cmpstr (currency, ==, amounts[i].currency);
    }
}

static void
check_refused (const char *const *texts, guint n, QmDecimal decimal)
{
  for (guint i = 0; i < n; i++)
    {
      char currency[4] = "???";
      gint64 micros = -7;

      g_test_message ("text %u", i);
      g_assert_false (qm_amount_parse (texts[i], decimal, &micros, currency));
      g_assert_cmpint (micros, ==, -7);
      g_assert_cmpstr (currency, ==, "???");
    }
}

static void
test_groups (void)
{
  static const Amount amounts[] = {
    { "0", 0, "" },
    { "1299", 1299000000, "" },
    { "1,299", 1299000000, "" },
    { "1.299", 1299000000, "" },
    { "1,234.50", 1234500000, "" },
    { "1.234,50", 1234500000, "" },
    { "1 234,50", 1234500000, "" },
    { "1\u00a0234,50", 1234500000, "" },
    { "1\u202f234,5", 1234500000, "" },
    { "1\u2009234.50", 1234500000, "" },
    { "1'234.50", 1234500000, "" },
    { "1\u2019234.50", 1234500000, "" },
    { "1 234.567", 1234567000, "" },
    { "1,234,567.89", 1234567890000, "" },
    { "1.234.567", 1234567000000, "" },
    { "12,34,567.00", 1234567000000, "" },
    { "1,23,45,678", 12345678000000, "" },
    { "1234,5678", 1234567800, "" },
    { "1234.567", 1234567000, "" },
    { "0.123", 123000, "" },
    { "0,500", 500000, "" },
    { "21.957642", 21957642, "" },
    { "2879.2", 2879200000, "" },
    { "2879.20", 2879200000, "" },
    { "12,34", 12340000, "" },
    { "\u0661\u0662\u0663", 123000000, "" },
    { "\uff11\uff0c\uff12\uff13\uff14", 1234000000, "" },
    { "\u0661\u066c\u0662\u0663\u0664\u066b\u0665\u0660", 1234500000, "" },
  };

  check (amounts, G_N_ELEMENTS (amounts), QM_DECIMAL_GUESS);
}

static void
test_currencies (void)
{
  static const Amount amounts[] = {
    { "$228.80", 228800000, "" },
    { "12,34 €", 12340000, "EUR" },
    { "€12.34", 12340000, "EUR" },
    { "EUR 1.299,00", 1299000000, "EUR" },
    { "1.299,00 eur", 1299000000, "EUR" },
    { "1299USD", 1299000000, "USD" },
    { "US$ 1,299", 1299000000, "USD" },
    { "U$S 1.299", 1299000000, "USD" },
    { "$1,299.00 USD", 1299000000, "USD" },
    { "CAD $12", 12000000, "CAD" },
    { "A$ 12.50", 12500000, "AUD" },
    { "HK$1,234", 1234000000, "HKD" },
    { "R$ 1.234,56", 1234560000, "BRL" },
    { "R 12 999.00", 12999000000, "ZAR" },
    { "£999", 999000000, "GBP" },
    { "¥12,800", 12800000000, "" },
    { "\uffe512,800", 12800000000, "" },
    { "12,800円", 12800000000, "JPY" },
    { "JPY 12,800", 12800000000, "JPY" },
    { "₹1,49,999.00", 149999000000, "INR" },
    { "Rs. 1,499", 1499000000, "" },
    { "Rs.1,499 INR", 1499000000, "INR" },
    { "1 299 kr", 1299000000, "" },
    { "1 299,00 kr.", 1299000000, "" },
    { "1 299 kr SEK", 1299000000, "SEK" },
    { "1 299,00 zł", 1299000000, "PLN" },
    { "12 990 Kč", 12990000000, "CZK" },
    { "129 990 Ft", 129990000000, "HUF" },
    { "12 990 ₽", 12990000000, "RUB" },
    { "1.299.000 ₫", 1299000000000, "VND" },
    { "RM 5,299.00", 5299000000, "MYR" },
    { "Rp12.999.000", 12999000000000, "IDR" },
    { "KWD 1.234", 1234000, "KWD" },
    { "KWD 1,234.500", 1234500000, "KWD" },
    { "CHF 1'299.\u2013", 1299000000, "CHF" },
    { "1.299,-", 1299000000, "" },
    { "1.299,\u2014 €", 1299000000, "EUR" },
    { "1299.-", 1299000000, "" },
    { "1 299:-", 1299000000, "" },
    { "299€95", 299950000, "EUR" },
    { "1 299€95", 1299950000, "EUR" },
    { "$.99", 990000, "" },
    { "\u200e$12.00\u200f", 12000000, "" },
    { "  \t12 €\n", 12000000, "EUR" },
    { "ALL 500", 500000000, "ALL" },
  };

  check (amounts, G_N_ELEMENTS (amounts), QM_DECIMAL_GUESS);
}

static void
test_negative (void)
{
  static const Amount amounts[] = {
    { "-12.50", -12500000, "" },
    { "\u221212,50 €", -12500000, "EUR" },
    { "-$12.50", -12500000, "" },
    { "$-12.50", -12500000, "" },
    { "(1,234.50)", -1234500000, "" },
    { "($12)", -12000000, "" },
    { "$(12)", -12000000, "" },
    { "(12) USD", -12000000, "USD" },
    { "- 5", -5000000, "" },
    { "-/- € 1.100,-", -1100000000, "EUR" },
    { "4.096,50-", -4096500000, "" },
    { "12,50- €", -12500000, "EUR" },
    { "4,000.00 CR", -4000000000, "" },
    { "12,50CR", -12500000, "" },
  };

  check (amounts, G_N_ELEMENTS (amounts), QM_DECIMAL_GUESS);
}

static void
test_decimal (void)
{
  static const Amount point[] = {
    { "1.234", 1234000, "" },           { "1,234", 1234000000, "" },
    { "1,234.5", 1234500000, "" },      { "1'234.5", 1234500000, "" },
    { "TND 1,234", 1234000000, "TND" }, { "$.99", 990000, "" },
  };
  static const Amount comma[] = {
    { "1.234", 1234000000, "" },   { "1,234", 1234000, "" },
    { "1.234,5", 1234500000, "" }, { "1 234,5", 1234500000, "" },
    { "1.299,-", 1299000000, "" }, { "TND 1,234", 1234000, "TND" },
  };
  static const char *const not_point[] = { "1,23", "1.234,50", "1.234.567",
                                           "1.299,-" };
  static const char *const not_comma[] = { "1.23", "1,234.50", "1,234,567",
                                           ".99", "1,299.-" };

  check (point, G_N_ELEMENTS (point), QM_DECIMAL_POINT);
  check (comma, G_N_ELEMENTS (comma), QM_DECIMAL_COMMA);
  check_refused (not_point, G_N_ELEMENTS (not_point), QM_DECIMAL_POINT);
  check_refused (not_comma, G_N_ELEMENTS (not_comma), QM_DECIMAL_COMMA);
}

static void
test_refused (void)
{
  static const char *const texts[] = {
    "",
    " ",
    "$",
    "USD",
    "free",
    "12 apples",
    "from $12",
    "12 - 15",
    "12-15",
    "$12 $15",
    "1.2.3",
    "1.234.56",
    "1,2,3",
    "12 34",
    "1  23",
    "1,23,4567",
    "012,345.00",
    "1 234.567,89",
    "1,234 567",
    "12.",
    "12,",
    ".",
    ",5",
    "-",
    "--5",
    "()",
    "(12",
    "12)",
    "-(12)",
    "1e5",
    "0x10",
    "12%",
    "12.1234567",
    "99999999999999",
    "9223372036855",
    "€12 USD",
    "EUR 12 GBP",
    "$12 EUR",
    "all 500",
    "top 10",
    "try 5",
    "Max 5",
    "USDX 5",
    "XUSD 5",
    "12 krx",
    "KWD 1,234",
    "12:30",
    "2026-11-21",
    "1/2",
    "+5",
    "12€5",
    "12€505",
    "12\xff",
    "\xc3",
    "1\u00b2",
    "1..5",
    "1,,5",
    "1''5",
    "5 5 5",
    ("1234567890123456789012345678901234567890123456789012345678901234567890"
     "1234567890123456789012345678901234567890"),
  };

  check_refused (texts, G_N_ELEMENTS (texts), QM_DECIMAL_GUESS);
}

static void
test_limits (void)
{
  static const Amount amounts[] = {
    { "9223372036854.775807", G_MAXINT64, "" },
    { "-9223372036854.775807", -G_MAXINT64, "" },
    { "9,223,372,036,854", 9223372036854000000, "" },
  };
  static const char *const texts[] = { "9223372036854.775808",
                                       "9,223,372,036,855" };
  g_autofree char *zeros = g_strnfill (5000, '0');
  const char *const long_text[] = { zeros };

  check (amounts, G_N_ELEMENTS (amounts), QM_DECIMAL_GUESS);
  check_refused (texts, G_N_ELEMENTS (texts), QM_DECIMAL_GUESS);
  check_refused (long_text, 1, QM_DECIMAL_GUESS);
}

static void
test_currency_alone (void)
{
  char currency[4];

  g_assert_true (qm_amount_parse_currency (" € ", currency));
  g_assert_cmpstr (currency, ==, "EUR");
  g_assert_true (qm_amount_parse_currency ("usd", currency));
  g_assert_cmpstr (currency, ==, "USD");
  g_assert_true (qm_amount_parse_currency ("$", currency));
  g_assert_cmpstr (currency, ==, "");
  g_assert_true (qm_amount_parse_currency ("$ CAD", currency));
  g_assert_cmpstr (currency, ==, "CAD");
  g_assert_false (qm_amount_parse_currency ("", currency));
  g_assert_false (qm_amount_parse_currency ("12", currency));
  g_assert_false (qm_amount_parse_currency ("EUR GBP", currency));
  g_assert_false (qm_amount_parse_currency ("price", currency));

  g_assert_true (qm_amount_sign_may_mean ("$", "USD"));
  g_assert_true (qm_amount_sign_may_mean ("$", "AUD"));
  g_assert_true (qm_amount_sign_may_mean ("kr", "SEK"));
  g_assert_true (qm_amount_sign_may_mean ("¥", "CNY"));
  g_assert_true (qm_amount_sign_may_mean ("EUR", "EUR"));
  g_assert_false (qm_amount_sign_may_mean ("$", "EUR"));
  g_assert_false (qm_amount_sign_may_mean ("€", "USD"));
  g_assert_false (qm_amount_sign_may_mean ("$", ""));
  g_assert_false (qm_amount_sign_may_mean ("", "USD"));
  g_assert_false (qm_amount_sign_may_mean ("x", "USD"));
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/amount/groups", test_groups);
  g_test_add_func ("/amount/currencies", test_currencies);
  g_test_add_func ("/amount/negative", test_negative);
  g_test_add_func ("/amount/decimal", test_decimal);
  g_test_add_func ("/amount/refused", test_refused);
  g_test_add_func ("/amount/limits", test_limits);
  g_test_add_func ("/amount/currency-alone", test_currency_alone);
  return g_test_run ();
}
