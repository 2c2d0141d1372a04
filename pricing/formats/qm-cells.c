/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-cells.h"

#include "pricing/formats/qm-sheet.h"
#include "pricing/qm-csv.h"
#include "pricing/quotes/qm-quote-read.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

/* Of a number, more decimals than these are noise of binary fractions. */
#define MOST_DECIMALS 6

typedef struct
{
  guint row, column;
  gboolean is_number; /* with a decimal point, if it has one */
  gsize text;         /* where in `text` */
} Cell;

struct _QmCells
{
  char *name;
  GArray *cells;
  GString *text; /* of all cells, each with a terminating zero */
};

QmCells *
qm_cells_new (const char *name)
{
  QmCells *cells = g_new0 (QmCells, 1);

  cells->name = g_strdup (name);
  cells->cells = g_array_new (FALSE, FALSE, sizeof (Cell));
  cells->text = g_string_new (NULL);
  return cells;
}

void
qm_cells_free (QmCells *cells)
{
  if (cells == NULL)
    return;
  g_free (cells->name);
  g_array_unref (cells->cells);
  g_string_free (cells->text, TRUE);
  g_free (cells);
}

const char *
qm_cells_get_name (const QmCells *cells)
{
  return cells->name;
}

gboolean
qm_cells_is_empty (const QmCells *cells)
{
  return cells->cells->len == 0;
}

static gboolean
has_room (const QmCells *cells, guint row, guint column, GError **error)
{
  guint n = cells->cells->len;
  const Cell *last = n > 0 ? &g_array_index (cells->cells, Cell, n - 1) : NULL;

  if (last != NULL
      && (row < last->row || (row == last->row && column <= last->column)))
    return qm_read_refuse (error, QM_READ_ERROR_MALFORMED,
                           _ ("The cells of the sheet are not in order."));
  if (column >= QM_SHEET_MAX_COLUMNS)
    return qm_read_refuse (error, QM_READ_ERROR_TOO_LARGE,
                           _ ("A row has too many columns."));
  if (row >= QM_SHEET_MAX_ROWS)
    return qm_read_refuse (error, QM_READ_ERROR_TOO_LARGE,
                           _ ("There are too many rows."));
  if (n >= QM_CELLS_MOST || cells->text->len > QM_READ_MAX_CSV_BYTES)
    return qm_read_refuse (error, QM_READ_ERROR_TOO_LARGE,
                           _ ("There are too many cells."));
  return TRUE;
}

static gboolean
add_with_text (QmCells *cells,
               guint row,
               guint column,
               gboolean is_number,
               const char *text,
               GError **error)
{
  Cell cell = { row, column, is_number, cells->text->len };

  if (*text == '\0')
    return TRUE;
  if (!has_room (cells, row, column, error))
    return FALSE;
  g_string_append_len (cells->text, text, (gssize) strlen (text) + 1);
  g_array_append_val (cells->cells, cell);
  return TRUE;
}

gboolean
qm_cells_add_text (
    QmCells *cells, guint row, guint column, const char *text, GError **error)
{
  g_return_val_if_fail (cells != NULL && text != NULL, FALSE);

  return add_with_text (cells, row, column, FALSE, text, error);
}

/* What a person reads: two decimals or more are those of a price, and fewer
 * those of a format that nobody chose.  Never three: with that many a point may
 * stand between thousands. */
static char *
format_number (double value, guint decimals)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  gboolean shown = decimals >= 2;

  for (guint n = MIN (decimals, MOST_DECIMALS);; n++)
    {
      char format[8];

      if (n == 3)
        continue;
      g_snprintf (format, sizeof format, "%%.%uf", n);
      g_ascii_formatd (text, sizeof text, format, value);
      if (shown || n >= MOST_DECIMALS
          || fabs (g_ascii_strtod (text, NULL) - value) <= 1e-12 * fabs (value))
        return g_strdup (text);
    }
}

gboolean
qm_cells_add_number (QmCells *cells,
                     guint row,
                     guint column,
                     double value,
                     guint decimals,
                     const char *unit,
                     GError **error)
{
  g_autofree char *number = NULL;
  g_autofree char *text = NULL;

  g_return_val_if_fail (cells != NULL, FALSE);

  /* Nothing that is bought or that counts things is as large. */
  if (!isfinite (value) || fabs (value) >= 1e15)
    return add_with_text (cells, row, column, FALSE, "?", error);
  number = format_number (value, decimals);
  text = unit != NULL ? g_strdup_printf ("%s %s", number, unit)
                      : g_steal_pointer (&number);
  return add_with_text (cells, row, column, TRUE, text, error);
}

gboolean
qm_cells_add_day (QmCells *cells,
                  guint row,
                  guint column,
                  const GDate *epoch,
                  double days,
                  GError **error)
{
  GDate day = *epoch;
  char text[32];

  g_return_val_if_fail (cells != NULL, FALSE);

  /* The last day of the year 9999 is the last that spreadsheets know. */
  if (!(days >= 1 && days < 2958466))
    return qm_cells_add_number (cells, row, column, days, 0, NULL, error);
  g_date_add_days (&day, (guint) days);
  g_snprintf (text, sizeof text, "%04u-%02u-%02u", g_date_get_year (&day),
              g_date_get_month (&day), g_date_get_day (&day));
  return add_with_text (cells, row, column, FALSE, text, error);
}

/* The decimal sign of a text such as "1.234,50 €"; '\0': it has none. */
static char
decimal_sign (const char *text)
{
  const char *sign = NULL, *end;

  for (const char *c = text; *c != '\0'; c++)
    if (*c == ',' || *c == '.')
      sign = c;
  if (sign == NULL || sign == text || !g_ascii_isdigit (sign[-1]))
    return '\0';
  for (end = sign + 1; g_ascii_isdigit (*end); end++)
    ;
  return end - sign == 2 || end - sign == 3 ? *sign : '\0';
}

/* That of most texts. */
static char
common_sign (const QmCells *cells)
{
  guint commas = 0, points = 0;

  for (guint i = 0; i < cells->cells->len; i++)
    {
      const Cell *cell = &g_array_index (cells->cells, Cell, i);
      char sign =
          cell->is_number ? '\0' : decimal_sign (cells->text->str + cell->text);

      commas += sign == ',';
      points += sign == '.';
    }
  return commas > points ? ',' : '.';
}

static void
append_number (GString *csv, const char *text, char sign)
{
  for (; *text != '\0'; text++)
    g_string_append_c (csv, *text == '.' ? sign : *text);
}

GBytes *
qm_cells_to_csv (const QmCells *cells)
{
  GString *csv = g_string_new ("sep=;\n");
  char sign = common_sign (cells);
  guint row = 0, column = 0;

  for (guint i = 0; i < cells->cells->len; i++)
    {
      const Cell *cell = &g_array_index (cells->cells, Cell, i);
      const char *text = cells->text->str + cell->text;

      for (; row < cell->row; row++, column = 0)
        g_string_append_c (csv, '\n');
      for (; column < cell->column; column++)
        g_string_append_c (csv, ';');
      if (cell->is_number)
        append_number (csv, text, sign);
      else
        qm_csv_quote (csv, text);
    }
  g_string_append_c (csv, '\n');
  return g_string_free_to_bytes (csv);
}
