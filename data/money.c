/* SPDX-License-Identifier: Apache-2.0 */

#include "data/money.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The end of the year 9999, in seconds since 1970. */
#define MAX_EPOCH 253402300799LL

#define MICRO_DECIMALS 6

bool
qm_currency_valid (const char *currency)
{
  for (int i = 0; i < 3; i++)
    if (currency[i] < 'A' || currency[i] > 'Z')
      return false;
  return currency[3] == '\0';
}

/* ISO 4217, table A.1 (the currencies that do not have two decimals). */
int
qm_currency_decimals (const char *currency)
{
  static const char none[][4] = { "BIF", "CLP", "DJF", "GNF", "ISK", "JPY",
                                  "KMF", "KRW", "PYG", "RWF", "UGX", "UYI",
                                  "VND", "VUV", "XAF", "XOF", "XPF" };
  static const char three[][4] = { "BHD", "IQD", "JOD", "KWD",
                                   "LYD", "OMR", "TND" };
  static const char four[][4] = { "CLF", "UYW" };

  for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
    if (strcmp (currency, none[i]) == 0)
      return 0;
  for (size_t i = 0; i < sizeof three / sizeof three[0]; i++)
    if (strcmp (currency, three[i]) == 0)
      return 3;
  for (size_t i = 0; i < sizeof four / sizeof four[0]; i++)
    if (strcmp (currency, four[i]) == 0)
      return 4;
  return 2;
}

static int64_t
power_of_ten (int exponent)
{
  int64_t power = 1;

  while (exponent-- > 0)
    power *= 10;
  return power;
}

static QmMoney
money_new (int64_t minor, const char *currency)
{
  QmMoney money = { .minor = minor };

  strncpy (money.currency, currency, sizeof money.currency - 1);
  return money;
}

QmMoney
qm_money_from_micros (int64_t micros, const char *currency)
{
  int64_t scale =
      power_of_ten (MICRO_DECIMALS - qm_currency_decimals (currency));
  int64_t minor = micros / scale;
  int64_t rest = micros % scale;

  if (rest >= scale - rest)
    minor++;
  else if (-rest >= scale + rest)
    minor--;
  return money_new (minor, currency);
}

double
qm_money_to_double (QmMoney money)
{
  return (double) money.minor
         / (double) power_of_ten (qm_currency_decimals (money.currency));
}

QmMoney
qm_money_from_double (double major, const char *currency)
{
  double minor =
      major * (double) power_of_ten (qm_currency_decimals (currency));

  if (isnan (minor))
    return money_new (0, currency);
  if (minor >= 0x1p63)
    return money_new (INT64_MAX, currency);
  if (minor <= -0x1p63)
    return money_new (INT64_MIN, currency);
  return money_new (llround (minor), currency);
}

static bool
is_digit (char c)
{
  return c >= '0' && c <= '9';
}

/* Appends a decimal digit; false on overflow. */
static bool
append_digit (int64_t *value, int digit)
{
  if (*value > (INT64_MAX - digit) / 10)
    return false;
  *value = *value * 10 + digit;
  return true;
}

bool
qm_micros_parse (const char *text, int64_t *micros)
{
  bool negative = *text == '-';
  int64_t value = 0;
  int decimals = 0;

  text += negative;
  if (!is_digit (*text))
    return false;
  for (; is_digit (*text); text++)
    if (!append_digit (&value, *text - '0'))
      return false;

  if (*text == '.')
    {
      text++;
      if (!is_digit (*text))
        return false;
      for (; is_digit (*text); text++, decimals++)
        if (decimals == MICRO_DECIMALS || !append_digit (&value, *text - '0'))
          return false;
    }
  if (*text != '\0')
    return false;

  for (; decimals < MICRO_DECIMALS; decimals++)
    if (!append_digit (&value, 0))
      return false;

  *micros = negative ? -value : value;
  return true;
}

static int
days_of_month (int year, int month)
{
  static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
  bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

  return month == 2 && leap ? 29 : days[month - 1];
}

/* Reads exactly `digits` digits; -1 where there are fewer. */
static int
parse_digits (const char **text, int digits)
{
  int value = 0;

  for (; digits > 0; digits--, (*text)++)
    {
      if (!is_digit (**text))
        return -1;
      value = value * 10 + (**text - '0');
    }
  return value;
}

bool
qm_date_parse (const char *text, QmDate *date)
{
  QmDate parsed = { 0 };

  parsed.year = parse_digits (&text, 4);
  if (parsed.year < 1970)
    return false;

  if (*text == '-')
    {
      text++;
      parsed.month = parse_digits (&text, 2);
      if (parsed.month < 1 || parsed.month > 12)
        return false;

      if (*text == '-')
        {
          text++;
          parsed.day = parse_digits (&text, 2);
          if (parsed.day < 1
              || parsed.day > days_of_month (parsed.year, parsed.month))
            return false;
        }
    }
  if (*text != '\0')
    return false;

  *date = parsed;
  return true;
}

static QmDate
date_filled (QmDate date)
{
  if (date.month == 0)
    date.month = 1;
  if (date.day == 0)
    date.day = 1;
  return date;
}

int
qm_date_compare (QmDate a, QmDate b)
{
  a = date_filled (a);
  b = date_filled (b);

  if (a.year != b.year)
    return a.year < b.year ? -1 : 1;
  if (a.month != b.month)
    return a.month < b.month ? -1 : 1;
  if (a.day != b.day)
    return a.day < b.day ? -1 : 1;
  return 0;
}

/* Days since an arbitrary day in the proleptic Gregorian calendar, with years
 * that begin in March so that the leap day is the last. */
static int
day_number (QmDate date)
{
  int year, month;

  date = date_filled (date);
  year = date.month > 2 ? date.year : date.year - 1;
  month = (date.month + 9) % 12;
  return 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5
         + date.day;
}

int
qm_date_days_between (QmDate from, QmDate to)
{
  return day_number (to) - day_number (from);
}

QmDate
qm_date_today (void)
{
  const char *text = getenv ("SOURCE_DATE_EPOCH");
  time_t now = time (NULL);
  struct tm utc;
  char *end;

  if (text != NULL && *text >= '0' && *text <= '9')
    {
      long long epoch = strtoll (text, &end, 10);

      if (*end == '\0' && epoch <= MAX_EPOCH)
        now = (time_t) epoch;
    }

  if (gmtime_r (&now, &utc) == NULL)
    return (QmDate){ 0 };
  return (QmDate){ .year = utc.tm_year + 1900,
                   .month = utc.tm_mon + 1,
                   .day = utc.tm_mday };
}
