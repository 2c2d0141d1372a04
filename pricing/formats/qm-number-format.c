/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-workbook-private.h"

#include <string.h>

const char *
qm_number_format_unit (const char *text, gssize length)
{
  static const char *const known[] = { "€",   "£",   "¥",   "zł",  "Kč",  "kr",
                                       "R$",  "$",   "EUR", "USD", "GBP", "CHF",
                                       "SEK", "NOK", "DKK", "PLN", "CZK", "HUF",
                                       "RON", "TRY", "JPY", "CNY", "KRW", "INR",
                                       "CAD", "AUD", "BRL" };

  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (g_strstr_len (text, length, known[i]) != NULL)
      return known[i];
  return NULL;
}

/* Takes a currency that is in a text of a format. */
static void
take_unit (QmNumberFormat *format, const char *text, gsize length)
{
  const char *unit = qm_number_format_unit (text, (gssize) length);

  if (unit != NULL && format->unit[0] == '\0')
    g_strlcpy (format->unit, unit, sizeof format->unit);
}

/* Whose dollar it is, by the language behind it ([MS-LCID]). */
static void
settle_dollar (QmNumberFormat *format, const char *language)
{
  static const struct
  {
    guint64 language;
    const char *currency;
  } known[] = {
    { 0x409, "USD" }, { 0x1009, "CAD" }, { 0xc09, "AUD" }, { 0x1409, "NZD" }
  };
  guint64 number = g_ascii_strtoull (language, NULL, 16);

  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (g_str_equal (format->unit, "$") && known[i].language == number)
      g_strlcpy (format->unit, known[i].currency, sizeof format->unit);
}

/* "[$€-407]" is a currency; "[Red]" and "[>=100]" are not shown. */
static const char *
take_bracket (QmNumberFormat *format, const char *code)
{
  const char *end = strchr (code, ']');
  const char *last;

  if (end == NULL)
    return code + strlen (code);
  last = memchr (code, '-', (gsize) (end - code));
  if (code[1] == '$')
    take_unit (format, code + 2,
               (gsize) ((last != NULL ? last : end) - code) - 2);
  if (last != NULL)
    settle_dollar (format, last + 1);
  return end + 1;
}

static const char *
take_quoted (QmNumberFormat *format, const char *code)
{
  const char *end = strchr (code + 1, '"');

  if (end == NULL)
    return code + strlen (code);
  take_unit (format, code + 1, (gsize) (end - code) - 1);
  return end + 1;
}

/* Skips a number's "#,##0.00", and counts its decimals. */
static const char *
take_digits (QmNumberFormat *format, const char *code)
{
  gboolean after_point = FALSE;

  for (; *code != '\0' && strchr ("0#?,.", *code) != NULL; code++)
    if (*code == '.')
      after_point = TRUE;
    else if (*code != ',')
      format->decimals += after_point;
  return code;
}

QmNumberFormat
qm_number_format_read (const char *code)
{
  QmNumberFormat format = { .unit = "" };
  gboolean is_number = FALSE;

  if (g_ascii_strncasecmp (code, "general", 7) == 0)
    return format;
  while (*code != '\0' && *code != ';')
    if (*code == '[')
      code = take_bracket (&format, code);
    else if (*code == '"')
      code = take_quoted (&format, code);
    else if (strchr ("\\_*", *code) != NULL && code[1] != '\0')
      code = g_utf8_next_char (code + 1);
    else if (strchr ("0#?.", *code) != NULL)
      {
        code = take_digits (&format, code);
        is_number = TRUE;
      }
    else
      {
        format.is_percent |= *code == '%';
        format.is_day |= strchr ("yYdD", *code) != NULL;
        take_unit (&format, code, (gsize) (g_utf8_next_char (code) - code));
        code = g_utf8_next_char (code);
      }
  format.is_day &= !is_number || format.decimals == 0;
  return format;
}

QmNumberFormat
qm_number_format_of_id (guint id)
{
  QmNumberFormat format = { .unit = "" };

  format.is_day = (id >= 14 && id <= 17)
                  || id == 22
                  /* Of East Asian languages. */
                  || (id >= 27 && id <= 31) || id == 36
                  || (id >= 50 && id <= 54) || id == 57 || id == 58;
  format.is_percent = id == 9 || id == 10;
  if (id == 2 || id == 4 || id == 7 || id == 8 || id == 10 || id == 39
      || id == 40 || id == 43 || id == 44)
    format.decimals = 2;
  return format;
}
