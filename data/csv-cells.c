/* SPDX-License-Identifier: Apache-2.0 */

#include "data/csv-table.h"

#include "data/catalog.h"
#include "data/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* More than anything costs in any currency, and small enough that a price
 * times a count cannot overflow. */
#define MAX_UNITS INT64_C (1000000000000)

void
qm_csv_fail (
    QmCsvRow *row, size_t column, QmStatus status, const char *format, ...)
{
  char message[QM_MESSAGE_BYTES];
  va_list arguments;

  if (row->status != QM_OK)
    return;
  va_start (arguments, format);
  vsnprintf (message, sizeof message, format, arguments);
  va_end (arguments);
  row->status =
      qm_error_set (row->error, status, row->file, row->cells[column].line,
                    row->cells[column].column, "%s: %s",
                    row->columns[column].name, message);
}

bool
qm_csv_is_empty (const QmCsvRow *row, size_t column)
{
  return row->cells[column].text[0] == '\0';
}

static void
refuse_empty (QmCsvRow *row, size_t column)
{
  qm_csv_fail (row, column, QM_STATUS_INVALID, "must not be empty");
}

const char *
qm_csv_text (QmCsvRow *row, size_t column, bool required)
{
  const char *copy;

  if (qm_csv_is_empty (row, column))
    {
      if (required)
        refuse_empty (row, column);
      return "";
    }
  if (!qm_text_is_line (row->cells[column].text))
    qm_csv_fail (row, column, QM_STATUS_INVALID, "must be a single line");
  copy = qm_pool_string (row->pool, row->cells[column].text);
  if (copy == NULL)
    {
      qm_csv_fail (row, column, QM_STATUS_NO_MEMORY, "out of memory");
      return "";
    }
  return copy;
}

const char *
qm_id_problem (const char *text)
{
  if (*text == '\0')
    return "must not be empty";
  if (strlen (text) > QM_ID_MAX_BYTES)
    return "is longer than 64 characters";
  if (text[strspn (text, "abcdefghijklmnopqrstuvwxyz0123456789.-")] != '\0')
    return "may only have a-z, 0-9, '.' and '-'";
  return NULL;
}

const char *
qm_csv_id (QmCsvRow *row, size_t column)
{
  const char *text = row->cells[column].text;
  const char *problem = qm_id_problem (text);
  char quoted[QM_QUOTE_BYTES];

  if (problem == NULL)
    return qm_csv_text (row, column, true);
  if (*text == '\0')
    refuse_empty (row, column);
  else
    qm_csv_fail (row, column, QM_STATUS_INVALID, "%s %s",
                 qm_text_quote (text, quoted), problem);
  return "";
}

double
qm_csv_number (QmCsvRow *row, size_t column, double min, double max)
{
  const char *text = row->cells[column].text;
  char quoted[QM_QUOTE_BYTES];
  double value;

  if (*text == '\0')
    return NAN;
  if (!qm_number_parse (text, &value))
    {
      qm_csv_fail (row, column, QM_STATUS_INVALID, "%s is not a number",
                   qm_text_quote (text, quoted));
      return NAN;
    }
  if (value < min || value > max)
    {
      qm_csv_fail (row, column, QM_STATUS_INVALID,
                   "%s is not between %.10g and %.10g",
                   qm_text_quote (text, quoted), min, max);
      return NAN;
    }
  return value;
}

double
qm_csv_number_or_none (QmCsvRow *row, size_t column, double min, double max)
{
  if (strcmp (row->cells[column].text, "none") == 0)
    return 0;
  return qm_csv_number (row, column, min, max);
}

static bool
is_column (const QmCsvRow *row, size_t n, const char *name, size_t length)
{
  for (size_t i = 0; i < n; i++)
    if (strlen (row->columns[i].name) == length
        && strncmp (row->columns[i].name, name, length) == 0)
      return true;
  return false;
}

const char *
qm_csv_columns (QmCsvRow *row, size_t column, size_t n_columns)
{
  const char *text = row->cells[column].text;

  while (*text != '\0')
    {
      size_t length = strcspn (text, ";");

      if (!is_column (row, n_columns, text, length))
        {
          qm_csv_fail (row, column, QM_STATUS_INVALID, "'%.*s' is not a column",
                       length < 40 ? (int) length : 40, text);
          break;
        }
      text += length + (text[length] == ';');
    }
  return qm_csv_text (row, column, false);
}

int64_t
qm_csv_integer (
    QmCsvRow *row, size_t column, int64_t min, int64_t max, int64_t fallback)
{
  const char *text = row->cells[column].text;
  char quoted[QM_QUOTE_BYTES];
  int64_t micros;

  if (*text == '\0')
    {
      if (fallback < 0)
        refuse_empty (row, column);
      return fallback;
    }
  if (strchr (text, '.') != NULL || !qm_micros_parse (text, &micros))
    {
      qm_csv_fail (row, column, QM_STATUS_INVALID, "%s is not a whole number",
                   qm_text_quote (text, quoted));
      return min;
    }
  if (micros / QM_MICROS_PER_UNIT < min || micros / QM_MICROS_PER_UNIT > max)
    {
      qm_csv_fail (row, column, QM_STATUS_INVALID,
                   "%s is not between %lld and %lld",
                   qm_text_quote (text, quoted), (long long) min,
                   (long long) max);
      return min;
    }
  return micros / QM_MICROS_PER_UNIT;
}

int64_t
qm_csv_micros (QmCsvRow *row, size_t column)
{
  const char *text = row->cells[column].text;
  char quoted[QM_QUOTE_BYTES];
  int64_t micros;
  double number;

  if (*text == '\0')
    return -1;
  qm_text_quote (text, quoted);
  if (!qm_micros_parse (text, &micros))
    {
      if (qm_number_parse (text, &number))
        qm_csv_fail (row, column, QM_STATUS_INVALID,
                     "%s is not a plain amount with at most 6 decimals",
                     quoted);
      else
        qm_csv_fail (row, column, QM_STATUS_INVALID, "%s is not a number",
                     quoted);
      return -1;
    }
  if (micros < 0 || *text == '-')
    {
      qm_csv_fail (row, column, QM_STATUS_INVALID, "%s is negative", quoted);
      return -1;
    }
  if (micros > MAX_UNITS * QM_MICROS_PER_UNIT)
    {
      qm_csv_fail (row, column, QM_STATUS_INVALID, "%s is not a price", quoted);
      return -1;
    }
  return micros;
}

void
qm_csv_currency (QmCsvRow *row, size_t column, char currency[4])
{
  const char *text = row->cells[column].text;
  char quoted[QM_QUOTE_BYTES];

  if (*text == '\0')
    refuse_empty (row, column);
  else if (!qm_currency_valid (text))
    qm_csv_fail (row, column, QM_STATUS_INVALID,
                 "%s is not a currency code such as 'USD'",
                 qm_text_quote (text, quoted));
  else
    memcpy (currency, text, 4);
}

QmDate
qm_csv_date (QmCsvRow *row, size_t column)
{
  const char *text = row->cells[column].text;
  char quoted[QM_QUOTE_BYTES];
  QmDate date = { 0 };

  if (*text != '\0' && !qm_date_parse (text, &date))
    qm_csv_fail (row, column, QM_STATUS_INVALID,
                 "%s is not a date such as '2026-03-31', '2026-03' or '2026'",
                 qm_text_quote (text, quoted));
  return date;
}

int
qm_csv_word (QmCsvRow *row,
             size_t column,
             const char *const *words,
             size_t n_words,
             int fallback)
{
  const char *text = row->cells[column].text;
  char list[160] = "";
  char quoted[QM_QUOTE_BYTES];
  size_t used = 0;

  if (*text == '\0' && fallback >= 0)
    return fallback;
  for (size_t i = 0; i < n_words; i++)
    {
      if (strcmp (text, words[i]) == 0)
        return (int) i;
      used += (size_t) snprintf (list + used, sizeof list - used, "%s'%s'",
                                 i == 0             ? ""
                                 : i + 1 == n_words ? " or "
                                                    : ", ",
                                 words[i]);
      if (used >= sizeof list)
        used = sizeof list - 1;
    }
  if (*text == '\0')
    qm_csv_fail (row, column, QM_STATUS_INVALID, "must be %s", list);
  else
    qm_csv_fail (row, column, QM_STATUS_INVALID, "%s is not %s",
                 qm_text_quote (text, quoted), list);
  return fallback < 0 ? 0 : fallback;
}
