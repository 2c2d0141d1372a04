/* SPDX-License-Identifier: Apache-2.0 */

#include "pricing/qm-format.h"

#include <locale.h>

#define assert_text(expression, expected)  \
  G_STMT_START                             \
  {                                        \
    g_autofree char *text_ = (expression); \
    g_assert_cmpstr (text_, ==, expected); \
  }                                        \
  G_STMT_END

static void
test_numbers (void)
{
  assert_text (qm_format_number (0, 0), "0");
  assert_text (qm_format_number (999, 0), "999");
  assert_text (qm_format_number (1000, 0), "1,000");
  assert_text (qm_format_number (1234567.891, 2), "1,234,567.89");
  assert_text (qm_format_number (0.5, 3), "0.5");
  assert_text (qm_format_number (12.0, 2), "12");
  assert_text (qm_format_number (-4321, 0), "−4,321");
  assert_text (qm_format_number (-0.001, 1), "0");
  assert_text (qm_format_number (999.96, 1), "1,000");
}

static void
test_money (void)
{
  assert_text (qm_format_money (127500, "USD", FALSE), "$127,500");
  assert_text (qm_format_money (558.904, "USD", FALSE), "$559");
  assert_text (qm_format_money (1020.41, "USD", TRUE), "$1,020.41");
  assert_text (qm_format_money (1.5, "USD", TRUE), "$1.50");
  assert_text (qm_format_money (1.999, "USD", TRUE), "$2.00");
  assert_text (qm_format_money (20, "CHF", FALSE), "CHF 20");
  assert_text (qm_format_money_short (40000, "USD"), "$40k");
  assert_text (qm_format_money_short (1500000, "USD"), "$1.5M");
  assert_text (qm_format_money_short (999, "USD"), "$999");
  assert_text (qm_format_money_short (999.9, "USD"), "$1k");
  assert_text (qm_format_money_short (127500, "USD"), "$128k");
  assert_text (qm_format_money_short (2300, "EUR"), "€2.3k");
  assert_text (qm_format_money_short (0, "USD"), "$0");
  /* What rounds to a thousand of one is one of the next. */
  assert_text (qm_format_money_short (999499, "USD"), "$999k");
  assert_text (qm_format_money_short (999500, "USD"), "$1M");
  assert_text (qm_format_money_short (999499999, "USD"), "$999M");
  assert_text (qm_format_money_short (999500000, "USD"), "$1B");
}

static void
test_times (void)
{
  QmDate published = { 2024, 9, 21 };

  assert_text (qm_format_days (0), "0 seconds");
  assert_text (qm_format_days (0.1 / 86400), "0.1 seconds");
  assert_text (qm_format_days (3e-5), "2.6 seconds");
  assert_text (qm_format_days (1.0 / 86400), "1 second");
  assert_text (qm_format_days (41.4 / 86400), "41 seconds");
  assert_text (qm_format_days (100.0 / 86400), "2 minutes");
  assert_text (qm_format_days (89.0 / 1440), "89 minutes");
  assert_text (qm_format_days (2.0 / 24), "2 hours");
  assert_text (qm_format_days (7500.0 / 86400), "2 hours 5 minutes");
  assert_text (qm_format_days (0.999), "24 hours");
  assert_text (qm_format_days (1), "1 day");
  assert_text (qm_format_days (8), "8 days");
  assert_text (qm_format_days (8.44), "8.4 days");
  assert_text (qm_format_days (370), "370 days");
  assert_text (qm_format_days (7157), "19.6 years");
  assert_text (qm_format_days_range (30, 28.1, 45.6), "28 to 46 days");
  assert_text (qm_format_days_range (2, 1.5, 3), "1.5 to 3 days");
  assert_text (qm_format_days_range (30, NAN, 45.6), "30 days");
  assert_text (qm_format_days_range (30, 30.001, 30.002), "30 days");
  assert_text (qm_format_days_range (700, 400, 900), "400 days to 2.5 years");
  assert_text (qm_format_days_range (0.5, 0.1, 1.2),
               "2 hours 25 minutes to 1.2 days");
  assert_text (qm_format_percent (1.1949), "119\u00a0%");
  assert_text (qm_format_percentage (7.25, 2), "7.25\u00a0%");
  assert_text (qm_format_percentage (19, 2), "19\u00a0%");
  assert_text (qm_format_percentage (NAN, 0), "–");
  assert_text (qm_format_date (published), "21 September 2024");
  assert_text (qm_format_date ((QmDate){ 2025, 8, 0 }), "August 2025");
  assert_text (qm_format_date_brief (published), "21 Sep 2024");
  assert_text (qm_format_date_brief ((QmDate){ 2025, 8, 0 }), "Aug 2025");
  assert_text (qm_format_date ((QmDate){ 2026, 0, 0 }), "2026");
  assert_text (qm_format_date ((QmDate){ 0, 0, 0 }), "undated");
  assert_text (qm_format_moment (1726928100), "21 September 2024, 14:15");
  assert_text (qm_format_age (published, published), "today");
  assert_text (qm_format_age (published, (QmDate){ 2024, 9, 22 }), "1 day old");
  assert_text (qm_format_age (published, (QmDate){ 2025, 3, 1 }),
               "5 months old");
  assert_text (qm_format_age (published, (QmDate){ 2026, 11, 20 }),
               "2 years old");
}

static void
test_amounts (void)
{
  static const struct
  {
    const char *text;
    double value;
  } good[] = {
    { "40000", 40000 },     { "40,000", 40000 }, { "$40k", 40000 },
    { " 1.5 M ", 1500000 }, { "12.5", 12.5 },    { "1,234,567.5", 1234567.5 },
    { "40000 USD", 40000 }, { "USD 9", 9 },      { "40.000,50", 40000.5 },
    { "$ 2 300", 2300 },    { "40K", 40000 },
  };
  static const char *const bad[] = { "",
                                     "k",
                                     "-5",
                                     "0",
                                     "1e5",
                                     "1,2",
                                     "12,34,567",
                                     "1.2.3",
                                     "nan",
                                     "inf",
                                     "0x10",
                                     "40kk",
                                     "$",
                                     "1,,000",
                                     "5 apples",
                                     "1.,5",
                                     "99999999999999999999",
                                     "\xff" };
  double value;

  for (gsize i = 0; i < G_N_ELEMENTS (good); i++)
    {
      value = 0;
      g_assert_true (qm_parse_amount (good[i].text, &value));
      g_assert_cmpfloat_with_epsilon (value, good[i].value, 1e-9);
    }
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      value = 7;
      g_assert_false (qm_parse_amount (bad[i], &value));
      g_assert_cmpfloat (value, ==, 7);
    }
}

static void
test_locale (void)
{
  double value;

  if (setlocale (LC_ALL, "de_DE.utf8") == NULL)
    {
      g_test_skip ("no German locale on this machine");
      return;
    }
  assert_text (qm_format_number (1234567.5, 1), "1.234.567,5");
  assert_text (qm_format_number (-0.25, 2), "−0,25");
  g_assert_true (qm_parse_amount ("40.000", &value));
  g_assert_cmpfloat (value, ==, 40000);
  g_assert_true (qm_parse_amount ("1,5", &value));
  g_assert_cmpfloat (value, ==, 1.5);
  g_assert_true (qm_parse_amount ("40 Tsd. $", &value));
  g_assert_cmpfloat (value, ==, 40000);
  g_assert_false (qm_parse_amount ("40.00", &value));
  setlocale (LC_ALL, "C");
}

int
main (int argc, char **argv)
{
  g_setenv ("TZ", "UTC", TRUE);
  setlocale (LC_ALL, "C");
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/format/numbers", test_numbers);
  g_test_add_func ("/format/money", test_money);
  g_test_add_func ("/format/times", test_times);
  g_test_add_func ("/format/amounts", test_amounts);
  g_test_add_func ("/format/locale", test_locale);
  return g_test_run ();
}
