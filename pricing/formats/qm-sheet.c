/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-sheet.h"

#include "pricing/quotes/qm-quote-read.h"

#include <csv.h>
#include <glib/gi18n-lib.h>
#include <string.h>

/* How much libcsv is given at once; between two, it may be cancelled. */
#define PIECE ((gsize) 1 << 16)

struct _QmSheet
{
  GString *text; /* cells, each with a terminating zero */
  GArray *cells; /* of gsize: where in `text` */
  GArray *rows;  /* of guint: the first cell of each row, and the end */
  guint max_rows;
  int last_end;   /* the character that ended the row before */
  gboolean ended; /* a row has ended since this was last set to FALSE */
  gboolean too_wide;
};

static gboolean
has_zeros (const char *data, gsize size)
{
  return memchr (data, '\0', size) != NULL;
}

/* UTF-16 without a mark: of the first characters every other byte is zero. */
static const char *
guess_utf16 (const char *data, gsize size)
{
  gsize n = MIN (size, 400) / 2, first = 0, second = 0;

  for (gsize i = 0; i < n; i++)
    {
      first += data[2 * i] == '\0';
      second += data[2 * i + 1] == '\0';
    }
  if (size % 2 != 0 || n < 2)
    return NULL;
  if (second > n / 2 && first == 0)
    return "UTF-16LE";
  if (first > n / 2 && second == 0)
    return "UTF-16BE";
  return NULL;
}

static const char *
guess_encoding (const char **data, gsize *size)
{
  static const struct
  {
    const char *mark;
    gsize length;
    const char *name;
  } marks[] = { { "\xef\xbb\xbf", 3, "UTF-8" },
                { "\xff\xfe", 2, "UTF-16LE" },
                { "\xfe\xff", 2, "UTF-16BE" } };
  const char *guess;

  for (guint i = 0; i < G_N_ELEMENTS (marks); i++)
    if (*size >= marks[i].length
        && memcmp (*data, marks[i].mark, marks[i].length) == 0)
      {
        *data += marks[i].length;
        *size -= marks[i].length;
        return marks[i].name;
      }
  guess = guess_utf16 (*data, *size);
  if (guess != NULL)
    return guess;
  return g_utf8_validate_len (*data, *size, NULL) ? "UTF-8" : "WINDOWS-1252";
}

char *
qm_sheet_decode (const char *data,
                 gsize size,
                 const char *encoding,
                 gsize *length,
                 const char **used,
                 GError **error)
{
  const char *guess = guess_encoding (&data, &size);
  g_autofree char *text = NULL;

  if (encoding == NULL || g_str_has_prefix (guess, "UTF-16"))
    encoding = guess;
  if (strcmp (encoding, "UTF-8") == 0)
    text = g_strndup (data, size);
  else
    text =
        g_convert (data, (gssize) size, "UTF-8", encoding, NULL, length, NULL);
  if (text == NULL && g_str_has_prefix (encoding, "WINDOWS"))
    {
      encoding = "ISO-8859-1";
      text = g_convert (data, (gssize) size, "UTF-8", encoding, NULL, length,
                        NULL);
    }
  if (strcmp (encoding, "UTF-8") == 0)
    *length = size;
  if (text == NULL || has_zeros (text, *length)
      || !g_utf8_validate (text, (gssize) *length, NULL))
    {
      g_set_error (error, QM_READ_ERROR, QM_READ_ERROR_MALFORMED,
                   _ ("This is not text in the encoding %s."), encoding);
      return NULL;
    }
  if (used != NULL)
    *used = encoding;
  return g_steal_pointer (&text);
}

char
qm_sheet_declared_delimiter (const char *text)
{
  if (g_ascii_strncasecmp (text, "sep=", 4) != 0 || text[4] == '\0'
      || (text[5] != '\n' && text[5] != '\r'))
    return '\0';
  return strchr (",;\t|", text[4]) != NULL ? text[4] : '\0';
}

static void
cell_cb (void *cell, size_t length, void *user_data)
{
  QmSheet *sheet = user_data;
  gsize place = sheet->text->len;
  guint first = g_array_index (sheet->rows, guint, sheet->rows->len - 1);

  if (sheet->cells->len - first >= QM_SHEET_MAX_COLUMNS)
    {
      sheet->too_wide = TRUE;
      return;
    }
  if (cell != NULL)
    g_string_append_len (sheet->text, cell, (gssize) length);
  g_string_append_c (sheet->text, '\0');
  g_array_append_val (sheet->cells, place);
}

static void
row_cb (int end, void *user_data)
{
  QmSheet *sheet = user_data;
  guint cells = sheet->cells->len;
  guint first = g_array_index (sheet->rows, guint, sheet->rows->len - 1);
  gboolean is_second_half =
      end == '\n' && sheet->last_end == '\r' && cells == first;

  sheet->ended = TRUE;
  /* Empty lines count, as they do in a spreadsheet. */
  sheet->last_end = is_second_half ? 0 : end;
  if (!is_second_half && (end != -1 || cells > first))
    g_array_append_val (sheet->rows, cells);
}

static gboolean
is_full (const QmSheet *sheet)
{
  return sheet->max_rows > 0 && sheet->rows->len > sheet->max_rows;
}

/* Ends the last row with a line break, which does not end it where a quotation
 * mark is open: FALSE then. */
static gboolean
end_last_row (QmSheet *sheet, struct csv_parser *parser)
{
  guint rows = sheet->rows->len, cells = sheet->cells->len;

  sheet->ended = FALSE;
  csv_parse (parser, "\n", 1, cell_cb, row_cb, sheet);
  if (!sheet->ended)
    {
      csv_fini (parser, cell_cb, row_cb, sheet);
      return FALSE;
    }
  if (sheet->cells->len == cells)
    g_array_set_size (sheet->rows, rows);
  return !sheet->too_wide || sheet->max_rows > 0;
}

static gboolean
feed (QmSheet *sheet,
      struct csv_parser *parser,
      const char *text,
      gsize length,
      GCancellable *cancellable,
      GError **error)
{
  for (gsize at = 0; at < length && !is_full (sheet); at += PIECE)
    {
      gsize n = MIN (PIECE, length - at);

      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return FALSE;
      if (csv_parse (parser, text + at, n, cell_cb, row_cb, sheet) != n)
        return qm_read_refuse (error, QM_READ_ERROR_MALFORMED,
                               _ ("The rows cannot be told apart."));
      if (sheet->too_wide && sheet->max_rows == 0)
        return qm_read_refuse (error, QM_READ_ERROR_TOO_LARGE,
                               _ ("A row has too many columns."));
      if (sheet->rows->len > QM_SHEET_MAX_ROWS + 1)
        return qm_read_refuse (error, QM_READ_ERROR_TOO_LARGE,
                               _ ("There are too many rows."));
    }
  if (!is_full (sheet) && !end_last_row (sheet, parser) && sheet->max_rows == 0)
    return sheet->too_wide
               ? qm_read_refuse (error, QM_READ_ERROR_TOO_LARGE,
                                 _ ("A row has too many columns."))
               : qm_read_refuse (
                   error, QM_READ_ERROR_MALFORMED,
                   _ ("A quotation mark that opens a cell is never closed."));
  return TRUE;
}

QmSheet *
qm_sheet_new (const char *text,
              gsize length,
              char delimiter,
              guint max_rows,
              GCancellable *cancellable,
              GError **error)
{
  g_autoptr (QmSheet) sheet = g_new0 (QmSheet, 1);
  struct csv_parser parser;
  guint none = 0;
  gsize skip = 0;
  gboolean good;

  g_return_val_if_fail (text != NULL, NULL);

  if (qm_sheet_declared_delimiter (text) != '\0')
    skip = 5;
  sheet->text = g_string_new (NULL);
  sheet->cells = g_array_new (FALSE, FALSE, sizeof (gsize));
  sheet->rows = g_array_new (FALSE, FALSE, sizeof (guint));
  sheet->max_rows = max_rows;
  g_array_append_val (sheet->rows, none);
  if (csv_init (&parser, CSV_REPALL_NL) != 0)
    {
      qm_read_refuse (error, QM_READ_ERROR_TOO_LARGE,
                      _ ("There is no memory left."));
      return NULL;
    }
  csv_set_delim (&parser, (unsigned char) delimiter);
  good = feed (sheet, &parser, text + skip, length - skip, cancellable, error);
  csv_free (&parser);
  return good ? g_steal_pointer (&sheet) : NULL;
}

void
qm_sheet_free (QmSheet *sheet)
{
  if (sheet == NULL)
    return;
  if (sheet->text != NULL)
    g_string_free (sheet->text, TRUE);
  g_clear_pointer (&sheet->cells, g_array_unref);
  g_clear_pointer (&sheet->rows, g_array_unref);
  g_free (sheet);
}

guint
qm_sheet_n_rows (const QmSheet *sheet)
{
  guint n = sheet->rows->len - 1;

  return sheet->max_rows > 0 ? MIN (n, sheet->max_rows) : n;
}

guint
qm_sheet_n_cells (const QmSheet *sheet, guint row)
{
  if (row >= qm_sheet_n_rows (sheet))
    return 0;
  return g_array_index (sheet->rows, guint, row + 1)
         - g_array_index (sheet->rows, guint, row);
}

const char *
qm_sheet_cell (const QmSheet *sheet, guint row, guint column)
{
  guint first;

  if (column >= qm_sheet_n_cells (sheet, row))
    return "";
  first = g_array_index (sheet->rows, guint, row);
  return sheet->text->str + g_array_index (sheet->cells, gsize, first + column);
}

gboolean
qm_sheet_is_blank (const QmSheet *sheet, guint row)
{
  guint n = qm_sheet_n_cells (sheet, row);

  for (guint i = 0; i < n; i++)
    if (qm_sheet_cell (sheet, row, i)[0] != '\0')
      return FALSE;
  return TRUE;
}
