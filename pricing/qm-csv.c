/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/qm-csv.h"

#include <math.h>
#include <string.h>

void
qm_csv_quote (GString *csv, const char *text)
{
  g_string_append_c (csv, '"');
  for (; *text != '\0'; text++)
    {
      if (*text == '"')
        g_string_append_c (csv, '"');
      g_string_append_c (csv, *text);
    }
  g_string_append_c (csv, '"');
}

void
qm_csv_add_text (GString *csv, const char *text)
{
  gsize length = text != NULL ? strlen (text) : 0;
  gsize begin = csv->len;
  gboolean live = length > 0 && strchr ("=+-@\t\r'", *text) != NULL;

  /* Readers try all these as delimiters, and leave spaces at an end out. */
  if (!live
      && (length == 0
          || (strpbrk (text, ",;|\t\"\r\n") == NULL && text[0] != ' '
              && text[length - 1] != ' ')))
    {
      qm_csv_add_written (csv, text);
      return;
    }
  qm_csv_quote (csv, text);
  if (live)
    g_string_insert_c (csv, (gssize) begin + 1, '\'');
  g_string_append_c (csv, ',');
}

void
qm_csv_add_number (GString *csv, const char *format, double value)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];

  qm_csv_add_written (csv, isfinite (value)
                               ? g_ascii_formatd (buffer, sizeof buffer, format,
                                                  value)
                               : NULL);
}

void
qm_csv_add_written (GString *csv, const char *text)
{
  g_string_append (csv, text != NULL ? text : "");
  g_string_append_c (csv, ',');
}

void
qm_csv_end_row (GString *csv)
{
  g_string_truncate (csv, csv->len - 1);
  g_string_append (csv, "\r\n");
}
