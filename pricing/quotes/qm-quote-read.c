/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/quotes/qm-quote-read.h"

#include <glib/gi18n-lib.h>
#include <langinfo.h>
#include <string.h>

GQuark
qm_read_error_quark (void)
{
  return g_quark_from_static_string ("qm-read-error-quark");
}

#define MICRO_DECIMALS  6
#define LONGEST_EXCERPT 80 /* characters */

/* A surrogate, or something that XML cannot carry. */
static gboolean
is_unwanted (gunichar c)
{
  return g_unichar_iscntrl (c) || c == 0xfffe || c == 0xffff || c == 0xfeff;
}

static gboolean
is_break (gunichar c)
{
  return c == '\n' || c == 0x2028 || c == 0x2029;
}

/* Appends a character, or remembers the space or line break that it is. */
static void
append_character (GString *clean, gunichar c, char *gap)
{
  if (is_break (c))
    *gap = '\n';
  else if (is_unwanted (c) || g_unichar_isspace (c))
    *gap = *gap == '\n' ? '\n' : ' ';
  else
    {
      if (*gap != '\0' && clean->len > 0)
        g_string_append_c (clean, *gap);
      *gap = '\0';
      g_string_append_unichar (clean, c);
    }
}

gboolean
qm_read_refuse (GError **error, QmReadError code, const char *message)
{
  g_set_error_literal (error, QM_READ_ERROR, (int) code, message);
  return FALSE;
}

char *
qm_read_text (const char *text)
{
  g_autoptr (GString) clean = NULL;
  g_autofree char *valid = NULL;
  char gap = '\0';

  if (text == NULL)
    return NULL;
  valid = g_utf8_make_valid (text, -1);
  clean = g_string_new (NULL);
  for (const char *p = valid; *p != '\0'; p = g_utf8_next_char (p))
    {
      append_character (clean, g_utf8_get_char (p), &gap);
      if (clean->len > QM_READ_MAX_TEXT - 8)
        {
          g_string_append (clean, "…");
          break;
        }
    }
  if (clean->len == 0)
    return NULL;
  return g_string_free (g_steal_pointer (&clean), FALSE);
}

char *
qm_read_excerpt (const char *text)
{
  g_autofree char *clean = qm_read_text (text);

  if (clean == NULL)
    return g_strdup ("");
  if (g_utf8_strlen (clean, -1) <= LONGEST_EXCERPT)
    return g_steal_pointer (&clean);
  *g_utf8_offset_to_pointer (clean, LONGEST_EXCERPT) = '\0';
  return g_strconcat (clean, "…", NULL);
}

void
qm_read_find (QmQuote *quote,
              QmFindingLevel level,
              const char *place,
              const char *format,
              ...)
{
  g_autofree char *message = NULL;
  va_list arguments;

  if (quote->findings->len > QM_READ_MAX_FINDINGS)
    return;
  if (quote->findings->len == QM_READ_MAX_FINDINGS)
    {
      qm_quote_add_finding (quote, QM_FINDING_WARNING, NULL,
                            _ ("There is more to find; it was left out."));
      return;
    }
  va_start (arguments, format);
  message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  qm_quote_add_finding (quote, level, place, message);
}

static gboolean
append_digit (gint64 *value, int digit)
{
  return !__builtin_mul_overflow (*value, 10, value)
         && !__builtin_add_overflow (*value, digit, value);
}

/* Reads the digits after the point; FALSE where the value is too large. */
static gboolean
read_decimals (const char **text, int decimals, gint64 *value, gboolean *exact)
{
  int n = 0;
  gboolean up = FALSE;

  for (; g_ascii_isdigit (**text); (*text)++, n++)
    {
      if (n < decimals && !append_digit (value, **text - '0'))
        return FALSE;
      if (n >= decimals && **text != '0')
        *exact = FALSE;
      if (n == decimals)
        up = **text >= '5';
    }
  for (; n < decimals; n++)
    if (!append_digit (value, 0))
      return FALSE;
  return !up || !__builtin_add_overflow (*value, 1, value);
}

QmDecimalResult
qm_read_decimal (const char *text, int decimals, gint64 *value)
{
  gboolean negative, exact = TRUE;
  gint64 read = 0;
  const char *start;

  while (g_ascii_isspace (*text))
    text++;
  negative = *text == '-';
  if (*text == '-' || *text == '+')
    text++;
  start = text;
  for (; g_ascii_isdigit (*text); text++)
    if (!append_digit (&read, *text - '0'))
      return QM_DECIMAL_BAD;
  if (*text == '.')
    text++;
  if (text == start
      || (text == start + 1 && *start == '.' && !g_ascii_isdigit (*text)))
    return QM_DECIMAL_BAD;
  if (!read_decimals (&text, decimals, &read, &exact))
    return QM_DECIMAL_BAD;
  while (g_ascii_isspace (*text))
    text++;
  if (*text != '\0')
    return QM_DECIMAL_BAD;
  *value = negative ? -read : read;
  return exact ? QM_DECIMAL_EXACT : QM_DECIMAL_ROUNDED;
}

/* value / 10^decimals with at least `least` decimals. */
static char *
scaled_to_text (gint64 value, int decimals, int least)
{
  guint64 size = value < 0 ? -(guint64) value : (guint64) value;
  guint64 scale = 1;
  GString *text = g_string_new (value < 0 ? "-" : "");

  for (int i = 0; i < decimals; i++)
    scale *= 10;
  g_string_append_printf (text, "%" G_GUINT64_FORMAT, size / scale);
  if (decimals > 0)
    {
      gsize shortest;

      g_string_append_c (text, '.');
      shortest = text->len + (gsize) least;
      g_string_append_printf (text, "%0*" G_GUINT64_FORMAT, decimals,
                              size % scale);
      while (text->len > shortest && text->str[text->len - 1] == '0')
        g_string_truncate (text, text->len - 1);
      if (text->str[text->len - 1] == '.')
        g_string_truncate (text, text->len - 1);
    }
  return g_string_free (text, FALSE);
}

char *
qm_micros_to_text (gint64 micros, int least)
{
  return scaled_to_text (micros, MICRO_DECIMALS, MIN (least, MICRO_DECIMALS));
}

char *
qm_minor_to_text (gint64 minor, const char *currency)
{
  int decimals = qm_currency_decimals (currency);

  return scaled_to_text (minor, decimals, decimals);
}

char *
qm_minor_for_people (gint64 minor, const char *currency)
{
  g_autofree char *plain = qm_minor_to_text (minor, currency);
  const char *digits = plain + (*plain == '-');
  gsize whole = strcspn (digits, ".");
  g_autoptr (GString) text = g_string_new (minor < 0 ? "−" : "");

  for (gsize i = 0; i < whole; i++)
    {
      g_string_append_c (text, digits[i]);
      if (i + 1 < whole && (whole - i - 1) % 3 == 0)
        g_string_append (text, nl_langinfo (THOUSEP)[0] != '\0'
                                   ? nl_langinfo (THOUSEP)
                                   : ",");
    }
  if (digits[whole] == '.')
    {
      g_string_append (text, nl_langinfo (RADIXCHAR));
      g_string_append (text, digits + whole + 1);
    }
  if (currency[0] != '\0')
    g_string_append_printf (text, " %s", currency);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

char *
qm_micros_for_people (gint64 micros, const char *currency)
{
  gint64 per_minor = QM_MICROS_PER_UNIT;
  g_autofree char *number = NULL;

  for (int i = qm_currency_decimals (currency); i > 0; i--)
    per_minor /= 10;
  if (micros % per_minor == 0)
    return qm_minor_for_people (micros / per_minor, currency);
  number = qm_micros_to_text (micros, qm_currency_decimals (currency));
  return g_strjoin (" ", number, currency, NULL);
}

char *
qm_read_date_text (QmDate date)
{
  if (date.year == 0 || date.month == 0 || date.day == 0)
    return NULL;
  return g_strdup_printf ("%04d-%02d-%02d", date.year, date.month, date.day);
}

QmDate
qm_read_date_add (QmDate date, int days)
{
  GDate sum;

  g_date_clear (&sum, 1);
  g_date_set_dmy (&sum, (GDateDay) date.day, (GDateMonth) date.month,
                  (GDateYear) date.year);
  g_date_add_days (&sum, (guint) MAX (days, 0));
  if (!g_date_valid (&sum) || g_date_get_year (&sum) > 9999)
    return (QmDate){ 0 };
  return (QmDate){ g_date_get_year (&sum), (int) g_date_get_month (&sum),
                   g_date_get_day (&sum) };
}
