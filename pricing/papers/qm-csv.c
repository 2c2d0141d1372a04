/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/papers/qm-csv.h"

#include <math.h>
#include <string.h>

void
qm_csv_append_text (GString *csv, const char *text)
{
  gboolean formula;

  if (text == NULL)
    text = "";
  formula = *text != '\0' && strchr ("=+-@\t\r", *text) != NULL;
  if (!formula && strpbrk (text, ",\"\r\n") == NULL)
    {
      g_string_append (csv, text);
      return;
    }
  g_string_append_c (csv, '"');
  if (formula)
    g_string_append_c (csv, '\'');
  for (const char *c = text; *c != '\0'; c++)
    {
      if (*c == '"')
        g_string_append_c (csv, '"');
      g_string_append_c (csv, *c);
    }
  g_string_append_c (csv, '"');
}

void
qm_csv_append_number (GString *csv, const char *format, double value)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];

  if (isfinite (value))
    g_string_append (csv,
                     g_ascii_formatd (buffer, sizeof buffer, format, value));
}
