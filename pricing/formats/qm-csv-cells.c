/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-csv-reader.h"

#include "pricing/formats/qm-csv-row.h"
#include "pricing/qm-exact.h"
#include "pricing/quotes/qm-quote-read.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* A cell without what spreadsheets put around text: ="text" and 'text. */
char *
qm_csv_cell_text (QmCsvReader *reader, guint row, int column)
{
  const char *cell;
  gsize length;

  if (column < 0)
    return NULL;
  cell = qm_sheet_cell (reader->sheet, row, (guint) column);
  length = strlen (cell);
  if (length >= 3 && g_str_has_prefix (cell, "=\"") && cell[length - 1] == '"')
    {
      g_autofree char *inner = g_strndup (cell + 2, length - 3);

      return qm_read_text (inner);
    }
  if (cell[0] == '\'' && cell[1] != '\0' && strchr ("=+-@'\t\r", cell[1]))
    cell++;
  return qm_read_text (cell);
}

char *
qm_csv_cell_of (QmCsvReader *reader, guint row, QmCsvField field)
{
  return qm_csv_cell_text (reader, row,
                           qm_csv_mapping_column (reader->mapping, field));
}

gboolean
qm_csv_cell_is_empty (QmCsvReader *reader, guint row, QmCsvField field)
{
  int column = qm_csv_mapping_column (reader->mapping, field);

  return column < 0
         || qm_sheet_cell (reader->sheet, row, (guint) column)[0] == '\0';
}

/* "row 5, column Price" */
char *
qm_csv_cell_place (QmCsvReader *reader, guint row, int column)
{
  g_autofree char *name = NULL;

  if (column >= 0 && reader->mapping->header_row >= 0)
    name = qm_read_excerpt (qm_sheet_cell (
        reader->sheet, (guint) reader->mapping->header_row, (guint) column));
  if (row < reader->n_above)
    return g_strdup (_ ("another sheet"));
  if (name == NULL || name[0] == '\0')
    return g_strdup_printf (_ ("row %u"), row - reader->n_above + 1);
  return g_strdup_printf (_ ("row %u, column %s"), row - reader->n_above + 1,
                          name);
}

void
qm_csv_set_currency (QmCsvReader *reader,
                     QmCsvDraft *draft,
                     guint row,
                     const char *currency)
{
  qm_csv_draft_set_currency (draft, currency, row - MIN (row, reader->n_above),
                             &reader->error);
}

void
qm_csv_cell_report (QmCsvReader *reader,
                    QmQuote *quote,
                    guint row,
                    int column,
                    const char *text)
{
  g_autofree char *place = qm_csv_cell_place (reader, row, column);
  g_autofree char *excerpt = qm_read_excerpt (text);

  if (text[0] == '=')
    qm_read_find (quote, QM_FINDING_WARNING, place,
                  _ ("“%s” is a formula, not its result; it was left out. "
                     "Save the table as CSV once more with values shown."),
                  excerpt);
  else
    qm_read_find (quote, QM_FINDING_WARNING, place,
                  _ ("“%s” is not clearly an amount; it was left out."),
                  excerpt);
}

/* The amount in a cell in millionths.  Notes its currency. */
gint64
qm_csv_cell_amount (QmCsvReader *reader,
                    QmCsvDraft *draft,
                    guint row,
                    int column)
{
  g_autofree char *text = qm_csv_cell_text (reader, row, column);
  char currency[4] = "";
  gint64 micros;

  if (text == NULL || strcmp (text, "-") == 0 || strcmp (text, "–") == 0
      || qm_csv_cell_is_included (text) || qm_csv_cell_is_on_request (text))
    return QM_AMOUNT_UNSTATED;
  if (text[0] == '='
      || !qm_amount_parse (text, reader->mapping->decimal, &micros, currency)
      || __builtin_mul_overflow (
          micros, reader->in_thousands[column] ? 1000 : 1, &micros))
    {
      qm_csv_cell_report (reader, draft->quote, row, column, text);
      return QM_AMOUNT_UNSTATED;
    }
  if (currency[0] != '\0')
    qm_csv_set_currency (reader, draft, row, currency);
  return micros;
}

gint64
qm_csv_cell_amount_of (QmCsvReader *reader,
                       QmCsvDraft *draft,
                       guint row,
                       QmCsvField field)
{
  int column = qm_csv_mapping_column (reader->mapping, field);

  return column >= 0 ? qm_csv_cell_amount (reader, draft, row, column)
                     : QM_AMOUNT_UNSTATED;
}

/* A quantity may have its unit beside it: "2 pcs". */
gint64
qm_csv_cell_quantity (QmCsvReader *reader,
                      QmCsvDraft *draft,
                      guint row,
                      QmQuoteLine *line)
{
  int column = qm_csv_mapping_column (reader->mapping, QM_CSV_QUANTITY);
  g_autofree char *text = qm_csv_cell_text (reader, row, column);
  g_autofree char *number = NULL;
  char currency[4];
  gint64 micros;
  gsize n;

  if (text == NULL)
    return QM_AMOUNT_UNSTATED;
  n = strspn (text, "-0123456789.,");
  number = g_strndup (text, n);
  if (n == 0
      || !qm_amount_parse (number, reader->mapping->decimal, &micros, currency))
    {
      qm_csv_cell_report (reader, draft->quote, row, column, text);
      return QM_AMOUNT_UNSTATED;
    }
  while (text[n] == ' ')
    n++;
  if (text[n] != '\0' && line->unit == NULL
      && g_ascii_strcasecmp (text + n, "x") != 0)
    line->unit = qm_read_text (text + n);
  return micros;
}

/* "10+5": what is left of it is lessened again.  In millionths of a percent. */
static gboolean
parse_percents (const char *text, QmDecimal decimal, gint64 *micros)
{
  const gint64 whole = 100 * (gint64) QM_MICROS_PER_UNIT;
  g_auto (GStrv) steps = g_strsplit (text, "+", 5);
  gint64 left = whole;

  for (guint i = 0; steps[i] != NULL; i++)
    {
      char currency[4];
      gint64 step;

      if (!qm_amount_parse (g_strstrip (steps[i]), decimal, &step, currency)
          || ABS (step) > whole)
        return FALSE;
      if (!qm_exact_scale (left, whole - ABS (step), whole, &left))
        return FALSE;
    }
  *micros = whole - left;
  return steps[0] != NULL;
}

void
qm_csv_cell_discount (QmCsvReader *reader,
                      QmCsvDraft *draft,
                      guint row,
                      QmQuoteLine *line)
{
  static const QmCsvField fields[] = { QM_CSV_DISCOUNT,
                                       QM_CSV_DISCOUNT_PERCENT };

  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    {
      int column = qm_csv_mapping_column (reader->mapping, fields[i]);
      g_autofree char *text = qm_csv_cell_text (reader, row, column);
      char *sign = text != NULL ? strchr (text, '%') : NULL;
      gint64 micros;

      if (text == NULL)
        continue;
      if (sign == NULL && fields[i] == QM_CSV_DISCOUNT)
        {
          gint64 amount = qm_csv_cell_amount (reader, draft, row, column);

          line->discount_minor =
              amount != QM_AMOUNT_UNSTATED ? ABS (amount) : 0;
          continue;
        }
      if (sign != NULL)
        *sign = '\0';
      if (parse_percents (text, reader->mapping->decimal, &micros))
        qm_csv_draft_set_percent (draft, micros);
      else
        qm_csv_cell_report (reader, draft->quote, row, column, text);
    }
}

gboolean
qm_csv_cell_has_amount (QmCsvReader *reader,
                        guint row,
                        QmCsvField field,
                        gint64 *micros)
{
  g_autofree char *text = qm_csv_cell_of (reader, row, field);
  char currency[4];

  return text != NULL
         && qm_amount_parse (text, reader->mapping->decimal, micros, currency);
}
