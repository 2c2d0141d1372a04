/* SPDX-License-Identifier: Apache-2.0 */

/* Amounts, dates and numbers. */

#include "data/money.h"
#include "data/text.h"
#include "tests/data/check.h"

#include <math.h>
#include <string.h>

static void
test_currencies (void)
{
  CHECK_INT (qm_currency_decimals ("USD"), 2);
  CHECK_INT (qm_currency_decimals ("JPY"), 0);
  CHECK_INT (qm_currency_decimals ("KRW"), 0);
  CHECK_INT (qm_currency_decimals ("KWD"), 3);
  CHECK_INT (qm_currency_decimals ("CLF"), 4);
  CHECK (qm_currency_valid ("EUR"));
  CHECK (!qm_currency_valid ("eur"));
  CHECK (!qm_currency_valid ("EU"));
  CHECK (!qm_currency_valid ("EURO"));
  CHECK (!qm_currency_valid (""));
  CHECK (!qm_currency_valid ("E1R"));
}

/* All of ISO 4217 that do not have two decimals, and neighbours that do. */
static void
test_decimals (void)
{
  static const struct
  {
    const char *codes;
    int decimals;
  } groups[] = {
    { "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
      0 },
    { "BHD IQD JOD KWD LYD OMR TND", 3 },
    { "CLF UYW", 4 },
    { "AED BRL CHF CNY CZK DKK EUR GBP HUF IDR INR IRR MGA MRU MXN PLN SEK TWD"
      " USD UYU ZAR",
      2 },
  };

  for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
    for (const char *code = groups[i].codes; strlen (code) >= 3;
         code += code[3] == ' ' ? 4 : 3)
      {
        char name[4] = { code[0], code[1], code[2], '\0' };

        check_case (name);
        CHECK_INT (qm_currency_decimals (name), groups[i].decimals);
      }
  check_case ("");
}

static void
check_rounding (int64_t micros, const char *currency, int64_t minor)
{
  QmMoney money = qm_money_from_micros (micros, currency);

  CHECK_INT (money.minor, minor);
  CHECK_STRING (money.currency, currency);
}

static void
test_rounding (void)
{
  check_rounding (21957642, "USD", 2196);
  check_rounding (5000, "USD", 1);
  check_rounding (4999, "USD", 0);
  check_rounding (-5000, "USD", -1);
  check_rounding (-4999, "USD", 0);
  check_rounding (1500000, "JPY", 2);
  check_rounding (-1500000, "JPY", -2);
  check_rounding (1499999, "JPY", 1);
  check_rounding (500, "KWD", 1);
  check_rounding (50, "CLF", 1);
  check_rounding (INT64_MAX, "USD", 922337203685478);
  check_rounding (INT64_MIN, "USD", -922337203685478);
}

static void
test_doubles (void)
{
  CHECK_NEAR (qm_money_to_double (qm_money_from_micros (1499990000, "USD")),
              1499.99, 1e-15);
  CHECK_INT (qm_money_from_double (1499.99, "USD").minor, 149999);
  CHECK_INT (qm_money_from_double (0.005, "USD").minor, 1);
  CHECK_INT (qm_money_from_double (-2.5, "JPY").minor, -3);
  CHECK_INT (qm_money_from_double (1e300, "USD").minor, INT64_MAX);
  CHECK_INT (qm_money_from_double (-1e300, "USD").minor, INT64_MIN);
  CHECK_INT (qm_money_from_double (NAN, "USD").minor, 0);
  CHECK_INT (qm_money_from_double (INFINITY, "USD").minor, INT64_MAX);
}

static void
test_micros (void)
{
  static const struct
  {
    const char *text;
    int64_t micros;
  } good[] = {
    { "0", 0 },
    { "1499.99", 1499990000 },
    { "21.957642", 21957642 },
    { "1899.0", 1899000000 },
    { "-3.5", -3500000 },
    { "0.000001", 1 },
    { "007", 7000000 },
    { "9223372036854.775807", INT64_MAX },
  };
  static const char *const bad[] = {
    "",
    "-",
    ".5",
    "5.",
    "1,5",
    "1 000",
    "1e3",
    "+1",
    "0x10",
    "inf",
    "nan",
    "1.23456789",
    "--1",
    "1.2.3",
    "9223372036854.775808",
    "99999999999999999999999",
    "1.0000000",
    "١",
  };

  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
    {
      int64_t micros = -7;

      check_case (good[i].text);
      CHECK (qm_micros_parse (good[i].text, &micros));
      CHECK_INT (micros, good[i].micros);
    }
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    {
      int64_t micros = -7;

      check_case (bad[i]);
      CHECK (!qm_micros_parse (bad[i], &micros));
      CHECK_INT (micros, -7);
    }
  check_case ("");
}

static void
test_dates (void)
{
  static const char *const bad[] = { "",           "1969",       "24",
                                     "2024-1",     "2024-13",    "2024-00",
                                     "2023-02-29", "2100-02-29", "2024-02-30",
                                     "2024-2-03",  "2024-01-00", "2024-01-01T",
                                     "20240101",   " 2024",      "2024-",
                                     "2024-01-",   "-2024",      "10000" };
  QmDate date = { 0 };

  CHECK (qm_date_parse ("2024-02-29", &date));
  CHECK_INT (date.year * 10000 + date.month * 100 + date.day, 20240229);
  CHECK (qm_date_parse ("2000-02-29", &date));
  CHECK (qm_date_parse ("2400-02-29", &date));
  CHECK (qm_date_parse ("2024-10", &date));
  CHECK_INT (date.month * 100 + date.day, 1000);
  CHECK (qm_date_parse ("2000", &date));
  CHECK_INT (date.year * 10000 + date.month * 100 + date.day, 20000000);
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    {
      check_case (bad[i]);
      CHECK (!qm_date_parse (bad[i], &date));
      CHECK_INT (date.year, 2000);
    }
  check_case ("");
}

static QmDate
date (const char *text)
{
  QmDate parsed = { 0 };

  CHECK (qm_date_parse (text, &parsed));
  return parsed;
}

static void
test_date_arithmetic (void)
{
  QmDate today = qm_date_today ();

  CHECK_INT (qm_date_compare (date ("2024"), date ("2024-01-01")), 0);
  CHECK_INT (qm_date_compare (date ("2024-02"), date ("2024-01-31")), 1);
  CHECK_INT (qm_date_compare (date ("2023-12-31"), date ("2024")), -1);
  CHECK_INT (qm_date_compare (date ("2024-01-02"), date ("2024-01-03")), -1);
  CHECK_INT (qm_date_days_between (date ("2024-02-28"), date ("2024-03-01")),
             2);
  CHECK_INT (qm_date_days_between (date ("2023-02-28"), date ("2023-03-01")),
             1);
  CHECK_INT (qm_date_days_between (date ("1970-01-01"), date ("2024-09-21")),
             19987);
  CHECK_INT (qm_date_days_between (date ("2025"), date ("2024")), -366);
  CHECK_INT (qm_date_days_between (date ("2000-01-01"), date ("2400-01-01")),
             146097);
  CHECK_INT (qm_date_days_between (date ("2000-02-28"), date ("2000-03-01")),
             2);
  CHECK_INT (qm_date_days_between (date ("2100-02-28"), date ("2100-03-01")),
             1);
  CHECK (today.year >= 2024 && today.month >= 1 && today.day >= 1);
}

static void
test_numbers (void)
{
  static const char *const bad[] = {
    "",    "-",    ".5", "5.",   "1,5",   "1e",       "1e+",  "inf",
    "nan", "0x10", "1 ", " 1",   "1e999", "-1e999",   "1.5f", "1_000",
    "INF", "NaN",  "٣",  "1..2", "--1",   "infinity", "1e1.5"
  };
  double value = -7;

  CHECK (qm_number_parse ("1.5", &value));
  CHECK_NEAR (value, 1.5, 0);
  CHECK (qm_number_parse ("-2.5E-3", &value));
  CHECK_NEAR (value, -0.0025, 0);
  CHECK (qm_number_parse ("+0", &value));
  CHECK (value == 0);
  CHECK (qm_number_parse ("1e-999", &value));
  CHECK (value == 0);
  value = -7;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    {
      check_case (bad[i]);
      CHECK (!qm_number_parse (bad[i], &value));
      CHECK_NEAR (value, -7, 0);
    }
  check_case ("");
}

/* What strangers wrote must not steer a terminal. */
static void
test_escapes (void)
{
  static const struct
  {
    const char *text, *safe;
  } cases[] = {
    { "", "" },
    { "Größe 3 × 4 — 漢字 🙂", "Größe 3 × 4 — 漢字 🙂" },
    { "\x1b[31m\r\n\t\x7f", "\\x1b[31m\\x0d\\x0a\\x09\\x7f" },
    { "\xc2\x9b"
      "2J",
      "\\u009b2J" },
    { "a\u202e"
      "cod\u2066\u200f",
      "a\\u202ecod\\u2066\\u200f" },
    { "\u2028\ufeff\u00ad", "\\u2028\\ufeff\\u00ad" },
    { "\xf3\xa0\x81\x81", "\\ue0041" },
    { "\xff\xc3(\xed\xa0\x80", "\\xff\\xc3(\\xed\\xa0\\x80" },
    { "\xe2\x82", "\\xe2\\x82" },
  };
  char safe[80], small[8];
  QmError error;

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    CHECK_STRING (qm_text_escape (cases[i].text, safe, sizeof safe),
                  cases[i].safe);
  CHECK_STRING (qm_text_escape ("1234567", small, sizeof small), "1234567");
  CHECK_STRING (qm_text_escape ("12345678", small, sizeof small), "1234…");
  CHECK_STRING (qm_text_escape ("\x1b\x1b", small, sizeof small), "\\x1b…");
  CHECK_STRING (qm_text_escape ("ää\x1b", small, sizeof small), "ää…");
  CHECK_STRING (qm_text_escape ("12", small, 2), "");
  qm_error_set (&error, QM_STATUS_IO, "\x1b]0;x", 0, 0, "%s", "\xc2\x9bx");
  CHECK_STRING (error.file, "\\x1b]0;x");
  CHECK_STRING (error.message, "\\u009bx");
}

static void
test_messages (void)
{
  char quoted[QM_QUOTE_BYTES];
  QmError error;
  char name[900];

  CHECK_STRING (qm_text_quote ("a\nb", quoted), "'a\\x0ab'");
  memset (name, 0xc3, sizeof name);
  for (size_t i = 1; i < sizeof name; i += 2)
    name[i] = (char) 0xa4;
  name[sizeof name - 2] = '\0';
  qm_text_quote (name, quoted);
  CHECK (qm_text_check (quoted, strlen (quoted), "", &error) == QM_OK);
  CHECK_CONTAINS (quoted, "ä…'");
  CHECK_INT (qm_error_set (&error, QM_STATUS_IO, name, 3, 4, "x%s", name),
             QM_STATUS_IO);
  CHECK_INT ((int64_t) strlen (error.file), 255);
  CHECK_INT ((int64_t) strlen (error.message), QM_MESSAGE_BYTES - 2);
  CHECK (qm_text_check (error.file, strlen (error.file), "", NULL) == QM_OK);
  CHECK (qm_text_check (error.message, strlen (error.message), "", NULL)
         == QM_OK);
  CHECK_INT (error.line * 10 + error.column, 34);
  CHECK_INT (qm_error_set (NULL, QM_STATUS_PARSE, NULL, 0, 0, "none"),
             QM_STATUS_PARSE);
  qm_error_set (&error, QM_STATUS_PARSE, NULL, 0, 0, "%s", "");
  CHECK_STRING (error.file, "");
  CHECK_STRING (error.message, "");
}

int
main (void)
{
  test_currencies ();
  test_decimals ();
  test_rounding ();
  test_doubles ();
  test_micros ();
  test_dates ();
  test_date_arithmetic ();
  test_numbers ();
  test_escapes ();
  test_messages ();
  return check_report ();
}
