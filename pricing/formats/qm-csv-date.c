/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-quote-csv.h"

#include <stdio.h>
#include <string.h>

static gboolean
make_date (int year, int month, int day, QmDate *date)
{
  char text[16];
  QmDate parsed;

  if (year < 100)
    year += 2000;
  if (year < 1970 || year > 9999 || month < 1 || month > 12 || day < 1
      || day > 31)
    return FALSE;
  g_snprintf (text, sizeof text, "%04d-%02d-%02d", year, month, day);
  if (!qm_date_parse (text, &parsed))
    return FALSE;
  *date = parsed;
  return TRUE;
}

/* The month of a name of three letters or more; 0: none. */
static int
month_of (const char *name)
{
  static const char *const months[][3] = {
    { "january", "januar", "janner" },
    { "february", "februar", NULL },
    { "march", "marz", "maerz" },
    { "april", NULL, NULL },
    { "may", "mai", NULL },
    { "june", "juni", NULL },
    { "july", "juli", NULL },
    { "august", NULL, NULL },
    { "september", "sept", NULL },
    { "october", "oktober", NULL },
    { "november", NULL, NULL },
    { "december", "dezember", NULL },
  };
  gsize length = strlen (name);

  for (guint i = 0; i < G_N_ELEMENTS (months) && length >= 3; i++)
    for (guint j = 0; j < 3 && months[i][j] != NULL; j++)
      if (strncmp (months[i][j], name, length) == 0)
        return (int) i + 1;
  return 0;
}

/* "31 March 2026", "March 31, 2026", "31. März 2026". */
static gboolean
parse_words (const char *text, QmDate *date)
{
  g_autofree char *normal = qm_csv_normalize (text);
  char name[16];
  int day, year, end = 0;

  if (sscanf (normal, "%2d %15[a-z] %4d%n", &day, name, &year, &end) == 3
      && normal[end] == '\0')
    return make_date (year, month_of (name), day, date);
  end = 0;
  if (sscanf (normal, "%15[a-z] %2d %4d%n", name, &day, &year, &end) == 3
      && normal[end] == '\0')
    return make_date (year, month_of (name), day, date);
  return FALSE;
}

static gboolean
parse_strokes (int first, int second, int year, QmDateOrder order, QmDate *date)
{
  if (order == QM_DATES_GUESS && first <= 12 && second <= 12 && first != second)
    return FALSE;
  if (order == QM_DATES_MONTH_FIRST || (order == QM_DATES_GUESS && second > 12))
    return make_date (year, first, second, date);
  return make_date (year, second, first, date);
}

gboolean
qm_csv_date_parse (const char *text, QmDateOrder order, QmDate *date)
{
  char separator[2], again[2];
  int a, b, c, end = 0;

  g_return_val_if_fail (text != NULL && date != NULL, FALSE);

  while (g_ascii_isspace (*text))
    text++;
  /* A time of day may follow. */
  if (sscanf (text, "%4d%1[-/.]%2d%1[-/.]%2d%n", &a, separator, &b, again, &c,
              &end)
          == 5
      && a >= 1000 && separator[0] == again[0]
      && (text[end] == '\0' || text[end] == 'T' || text[end] == ' '))
    return make_date (a, b, c, date);
  end = 0;
  if (sscanf (text, "%2d%1[-/.]%2d%1[-/.]%4d%n", &a, separator, &b, again, &c,
              &end)
          == 5
      && a > 0 && b > 0 && c > 0 && separator[0] == again[0]
      && (text[end] == '\0' || text[end] == ' '))
    {
      if (separator[0] == '.')
        return make_date (c, b, a, date);
      return parse_strokes (a, b, c, order, date);
    }
  return parse_words (text, date);
}
