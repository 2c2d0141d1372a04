/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/qm-format.h"

#include <glib/gi18n-lib.h>
#include <locale.h>
#include <math.h>
#include <string.h>

#define DAYS_PER_YEAR   365.25
#define DAYS_PER_MONTH  (DAYS_PER_YEAR / 12)
#define SECONDS_PER_DAY 86400.0

static const struct
{
  const char *code;
  const char *symbol;
} symbols[] = {
  { "USD", "$" },
  { "EUR", "€" },
  { "GBP", "£" },
  { "JPY", "¥" },
};

static const char *
decimal_point (void)
{
  return localeconv ()->decimal_point;
}

/* The C locale does not group; English prose without a locale does. */
static const char *
thousands_separator (void)
{
  const char *separator = localeconv ()->thousands_sep;

  return *separator != '\0' ? separator : ",";
}

char *
qm_format_number (double value, int decimals)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE + 64];
  GString *text = g_string_new (NULL);
  const char *point;
  size_t whole;

  decimals = CLAMP (decimals, 0, 9);
  if (!isfinite (value) || fabs (value) >= 1e18)
    {
      g_string_printf (text, "%g", value);
      return g_string_free (text, FALSE);
    }
  g_snprintf (digits, sizeof digits, "%.*f", decimals, fabs (value));
  whole = strspn (digits, "0123456789");
  if (value < 0 && strpbrk (digits, "123456789") != NULL)
    g_string_append (text, "−");
  for (size_t i = 0; i < whole; i++)
    {
      if (i > 0 && (whole - i) % 3 == 0)
        g_string_append (text, thousands_separator ());
      g_string_append_c (text, digits[i]);
    }
  point = digits + whole;
  if (*point != '\0')
    {
      size_t end = strlen (digits);
      size_t first = end - (size_t) decimals;

      while (end > first && digits[end - 1] == '0')
        end--;
      if (end > first)
        {
          g_string_append (text, decimal_point ());
          g_string_append_len (text, digits + first, (gssize) (end - first));
        }
    }
  return g_string_free (text, FALSE);
}

static char *
with_currency (const char *amount, const char *currency)
{
  for (gsize i = 0; i < G_N_ELEMENTS (symbols); i++)
    if (strcmp (symbols[i].code, currency) == 0)
      /* Translators: money; %1$s is the currency's symbol, %2$s the amount. */
      return g_strdup_printf (C_ ("money", "%1$s%2$s"), symbols[i].symbol,
                              amount);
  /* Translators: money; %1$s is the currency's code, %2$s the amount. */
  return g_strdup_printf (C_ ("money", "%1$s %2$s"), currency, amount);
}

char *
qm_format_money (double major, const char *currency, gboolean cents)
{
  int decimals = cents ? qm_currency_decimals (currency) : 0;
  g_autofree char *amount = qm_format_number (major, decimals);

  /* Cents are all shown or none: "$1.50", never "$1.5". */
  if (cents && decimals > 0 && isfinite (major) && fabs (major) < 1e15)
    {
      double scale = pow (10, decimals);
      double minor = round (fabs (major) * scale);
      g_autofree char *whole =
          qm_format_number (copysign (floor (minor / scale), major), 0);
      g_autofree char *full =
          g_strdup_printf ("%s%s%0*d", whole, decimal_point (), decimals,
                           (int) fmod (minor, scale));

      return with_currency (full, currency);
    }
  return with_currency (amount, currency);
}

static char *
format_micros (gint64 micros, const char *currency, gboolean cents)
{
  return qm_format_money ((double) micros / QM_MICROS_PER_UNIT, currency,
                          cents);
}

char *
qm_format_price (const QmPrice *price, gboolean cents)
{
  g_autofree char *low = NULL;
  g_autofree char *high = NULL;

  g_return_val_if_fail (price != NULL, NULL);

  if (price->micros >= 0)
    return format_micros (price->micros, price->currency, cents);
  low = format_micros (price->low_micros, price->currency, cents);
  high = format_micros (price->high_micros, price->currency, cents);
  /* Translators: a range of prices. */
  return g_strdup_printf (_ ("%s to %s"), low, high);
}

char *
qm_format_money_short (double major, const char *currency)
{
  double size = fabs (major);
  double scaled = major;
  const char *pattern = "%s";
  g_autofree char *number = NULL;
  g_autofree char *amount = NULL;

  if (size >= 999.5e6)
    {
      scaled = major / 1e9;
      /* Translators: thousand millions, as short as possible. */
      pattern = C_ ("number", "%sB");
    }
  else if (size >= 999.5e3)
    {
      scaled = major / 1e6;
      /* Translators: millions, as short as possible. */
      pattern = C_ ("number", "%sM");
    }
  else if (size >= 999.5)
    {
      scaled = major / 1e3;
      /* Translators: thousands, as short as possible. */
      pattern = C_ ("number", "%sk");
    }
  size = fabs (scaled);
  number = qm_format_number (scaled, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
  amount = g_strdup_printf (pattern, number);
  return with_currency (amount, currency);
}

static char *
count_seconds (double seconds)
{
  const double size = fabs (seconds);
  g_autofree char *number = qm_format_number (seconds, size < 0.995  ? 2
                                                       : size < 9.95 ? 1
                                                                     : 0);

  return g_strdup_printf (ngettext ("%s second", "%s seconds",
                                    strcmp (number, "1") == 0 ? 1 : 2),
                          number);
}

static char *
count_minutes (guint minutes)
{
  return g_strdup_printf (ngettext ("%u minute", "%u minutes", minutes),
                          minutes);
}

static char *
count_hours (guint minutes)
{
  g_autofree char *hours =
      g_strdup_printf (ngettext ("%u hour", "%u hours", minutes / 60),
                       minutes / 60);
  g_autofree char *rest = NULL;

  if (minutes % 60 == 0)
    return g_steal_pointer (&hours);
  rest = count_minutes (minutes % 60);
  /* Translators: hours, minutes: "2 hours 5 minutes". */
  return g_strdup_printf (_ ("%s %s"), hours, rest);
}

/* Less than a day. */
static char *
format_seconds (double seconds)
{
  if (seconds < 90)
    return count_seconds (seconds);
  if (seconds < 90 * 60)
    return count_minutes ((guint) (seconds / 60 + 0.5));
  if (seconds < 12 * 3600)
    /* To five minutes: nobody knows it better. */
    return count_hours ((guint) (seconds / 300 + 0.5) * 5);
  return count_hours ((guint) (seconds / 3600 + 0.5) * 60);
}

/* "28", as qm_format_days() has it. */
static char *
count_days (double days)
{
  return qm_format_number (days, days < 9.95 ? 1 : 0);
}

char *
qm_format_days (double days)
{
  g_autofree char *number = NULL;

  if (!isfinite (days))
    return g_strdup ("–");
  if (days < 1)
    return format_seconds (days * SECONDS_PER_DAY);
  if (days >= 2 * DAYS_PER_YEAR)
    {
      number = qm_format_number (days / DAYS_PER_YEAR, 1);
      return g_strdup_printf (_ ("%s years"), number);
    }
  number = count_days (days);
  return g_strdup_printf (ngettext ("%s day", "%s days",
                                    strcmp (number, "1") == 0 ? 1 : 2),
                          number);
}

char *
qm_format_days_range (double value, double low, double high)
{
  g_autofree char *from = NULL;
  g_autofree char *to = NULL;
  gboolean in_days = low >= 1 && high < 2 * DAYS_PER_YEAR;

  if (!(isfinite (low) && isfinite (high) && low < high))
    return qm_format_days (value);
  from = in_days ? count_days (low) : qm_format_days (low);
  to = in_days ? count_days (high) : qm_format_days (high);
  if (strcmp (from, to) == 0)
    return qm_format_days (value);
  if (in_days)
    /* Translators: numbers of days: "28 to 46 days". */
    return g_strdup_printf (_ ("%s to %s days"), from, to);
  /* Translators: the ends of an interval: "40 minutes to 2 hours". */
  return g_strdup_printf (_ ("%s to %s"), from, to);
}

char *
qm_format_percent (double share)
{
  return qm_format_percentage (share * 100, 0);
}

char *
qm_format_percentage (double percent, int decimals)
{
  g_autofree char *number = NULL;

  if (!isfinite (percent))
    return g_strdup ("–");
  number = qm_format_number (percent, decimals);
  /* Translators: a percentage, with a space at which no line may end. */
  return g_strdup_printf (C_ ("number", "%s\u00a0%%"), number);
}

static char *
format_date (QmDate date, const char *of_month, const char *of_day)
{
  g_autoptr (GDateTime) time = NULL;

  if (date.year == 0)
    return g_strdup (_ ("undated"));
  time = g_date_time_new_utc (date.year, MAX (date.month, 1), MAX (date.day, 1),
                              0, 0, 0);
  if (time == NULL)
    return g_strdup (_ ("undated"));
  if (date.month == 0)
    return g_date_time_format (time, "%Y");
  return g_date_time_format (time, date.day == 0 ? of_month : of_day);
}

char *
qm_format_date (QmDate date)
{
  /* Translators: a month, and a day, see g_date_time_format(). */
  return format_date (date, C_ ("date", "%B %Y"), C_ ("date", "%-e %B %Y"));
}

char *
qm_format_date_brief (QmDate date)
{
  /* Translators: a month, and a day, in a list, see g_date_time_format(). */
  return format_date (date, C_ ("date", "%b %Y"), C_ ("date", "%-e %b %Y"));
}

char *
qm_format_moment (gint64 seconds)
{
  g_autoptr (GDateTime) time = g_date_time_new_from_unix_local (seconds);
  g_autofree char *day = NULL;
  g_autofree char *hour = NULL;

  if (time == NULL)
    return g_strdup ("");
  day = qm_format_date ((QmDate){ g_date_time_get_year (time),
                                  g_date_time_get_month (time),
                                  g_date_time_get_day_of_month (time) });
  hour = g_date_time_format (time, "%R");
  /* Translators: a day, a time: "2 November 2026, 14:30". */
  return g_strdup_printf (_ ("%s, %s"), day, hour);
}

char *
qm_format_age (QmDate date, QmDate today)
{
  int days;
  gulong n;

  if (date.year == 0)
    return g_strdup (_ ("undated"));
  days = qm_date_days_between (date, today);
  if (days <= 0)
    return g_strdup (_ ("today"));
  if (days < 2 * DAYS_PER_MONTH)
    return g_strdup_printf (
        ngettext ("%d day old", "%d days old", (gulong) days), days);
  if (days < 2 * DAYS_PER_YEAR)
    {
      n = (gulong) (days / DAYS_PER_MONTH);
      return g_strdup_printf (ngettext ("%lu month old", "%lu months old", n),
                              n);
    }
  n = (gulong) (days / DAYS_PER_YEAR);
  return g_strdup_printf (ngettext ("%lu year old", "%lu years old", n), n);
}

/* Copies `text` without spaces and currency signs, folded to lower case. */
static char *
strip_amount (const char *text)
{
  g_autofree char *folded = g_utf8_strdown (text, -1);
  GString *plain = g_string_new (NULL);

  for (const char *p = folded; *p != '\0'; p = g_utf8_next_char (p))
    {
      gunichar c = g_utf8_get_char (p);

      if (!g_unichar_isspace (c)
          && g_unichar_type (c) != G_UNICODE_CURRENCY_SYMBOL)
        g_string_append_unichar (plain, c);
    }
  if (g_str_has_prefix (plain->str, "usd"))
    g_string_erase (plain, 0, 3);
  else if (g_str_has_suffix (plain->str, "usd"))
    g_string_truncate (plain, plain->len - 3);
  return g_string_free (plain, FALSE);
}

/* Takes a scale word off the end. */
static double
take_scale (char *plain)
{
  static const struct
  {
    const char *word;
    double scale;
  } words[] = {
    { "tsd.", 1e3 }, { "tsd", 1e3 }, { "mio.", 1e6 },
    { "mio", 1e6 },  { "k", 1e3 },   { "m", 1e6 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (words); i++)
    if (g_str_has_suffix (plain, words[i].word))
      {
        plain[strlen (plain) - strlen (words[i].word)] = '\0';
        return words[i].scale;
      }
  return 1;
}

/* Groups of three digits behind separators, as in 1,234,567. */
static gboolean
is_grouped (const char *digits, char separator)
{
  size_t first = strcspn (digits, (char[]){ separator, '\0' });

  if (first < 1 || first > 3)
    return FALSE;
  for (const char *p = digits + first; *p != '\0'; p += 4)
    if (*p != separator || strspn (p + 1, "0123456789") < 3
        || (p[4] != '\0' && p[4] != separator))
      return FALSE;
  return TRUE;
}

/* Makes a C number of `plain`: at most one decimal sign, groups removed.
 * A lone sign is read the locale's way. */
static gboolean
normalize_number (char *plain)
{
  const char *dot = strrchr (plain, '.');
  const char *comma = strrchr (plain, ',');
  char decimal = strcmp (decimal_point (), ",") == 0 ? ',' : '.';
  char group;
  char *tail;
  char *out = plain;

  if (dot != NULL && comma != NULL)
    decimal = dot > comma ? '.' : ',';
  group = decimal == '.' ? ',' : '.';
  tail = strchr (plain, decimal);
  if (tail != NULL)
    {
      if (strspn (tail + 1, "0123456789") != strlen (tail + 1))
        return FALSE;
      *tail = '\0';
    }
  if (strchr (plain, group) != NULL && !is_grouped (plain, group))
    return FALSE;
  for (const char *p = plain; *p != '\0'; p++)
    if (g_ascii_isdigit (*p))
      *out++ = *p;
    else if (*p != group)
      return FALSE;
  if (tail != NULL)
    {
      size_t length = strlen (tail + 1);

      *out++ = '.';
      memmove (out, tail + 1, length);
      out += length;
    }
  *out = '\0';
  return TRUE;
}

gboolean
qm_parse_amount (const char *text, double *major)
{
  g_autofree char *plain = NULL;
  double scale, value;

  g_return_val_if_fail (text != NULL && major != NULL, FALSE);

  if (!g_utf8_validate (text, -1, NULL) || strlen (text) > 64)
    return FALSE;
  plain = strip_amount (text);
  scale = take_scale (plain);
  if (!normalize_number (plain) || !g_ascii_isdigit (plain[0]))
    return FALSE;
  value = g_ascii_strtod (plain, NULL) * scale;
  if (!(value > 0) || value > 1e15)
    return FALSE;
  *major = value;
  return TRUE;
}
