/* SPDX-License-Identifier: Apache-2.0 */

#include "data/csv-table.h"

#include "data/catalog.h"
#include "data/text.h"

#include <csv.h>
#include <stdlib.h>
#include <string.h>

#define ABSENT      ((size_t) -1)
#define BUFFER_STEP 65536

typedef struct Reader
{
  const char *file;
  const QmCsvColumn *columns;
  size_t n_columns;
  QmPool *pool;
  QmCsvRowFunc func;
  void *data;
  QmStatus status;
  QmError *error;

  /* Where in the file a cell of a column stands, or ABSENT. */
  size_t position[QM_CSV_MAX_COLUMNS];
  size_t n_header; /* 0 until the header has been read */

  /* The row so far: its cells' text, one after the other. */
  char *text;
  size_t text_used, text_size;
  size_t offset[QM_CSV_MAX_COLUMNS];
  int cell_line[QM_CSV_MAX_COLUMNS], cell_column[QM_CSV_MAX_COLUMNS];
  size_t n_cells;

  /* The next byte, and where the cell it belongs to begins. */
  int line, column;
  int start_line, start_column;
  bool cell_begun;
} Reader;

static bool
store_text (Reader *reader, const char *text, size_t length)
{
  if (reader->text_size - reader->text_used < length + 1)
    {
      size_t size = (reader->text_used + length + 1) * 2;
      char *grown = realloc (reader->text, size);

      if (grown == NULL)
        return false;
      reader->text = grown;
      reader->text_size = size;
    }
  if (length > 0)
    memcpy (reader->text + reader->text_used, text, length);
  reader->text[reader->text_used + length] = '\0';
  reader->text_used += length + 1;
  return true;
}

static void
cell_cb (void *text, size_t length, void *data)
{
  Reader *reader = data;
  size_t limit = reader->n_header > 0 ? reader->n_header : QM_CSV_MAX_COLUMNS;
  size_t i = reader->n_cells;

  reader->cell_begun = false;
  if (reader->status != QM_OK)
    return;
  if (i == limit)
    {
      reader->status =
          qm_error_set (reader->error, QM_STATUS_PARSE, reader->file,
                        reader->start_line, reader->start_column,
                        reader->n_header > 0
                            ? "the row has more cells than the header's %zu"
                            : "the header has more than %zu columns",
                        limit);
      return;
    }
  reader->offset[i] = reader->text_used;
  reader->cell_line[i] = reader->start_line;
  reader->cell_column[i] = reader->start_column;
  if (!store_text (reader, text, length))
    reader->status = qm_error_set (reader->error, QM_STATUS_NO_MEMORY,
                                   reader->file, 0, 0, "out of memory");
  else
    reader->n_cells++;
}

static void
refuse_column (Reader *reader, size_t cell, const char *name)
{
  const char *names[QM_CSV_MAX_COLUMNS];
  char quoted[QM_QUOTE_BYTES];
  const char *nearest;

  for (size_t i = 0; i < reader->n_columns; i++)
    names[i] = reader->columns[i].name;
  nearest = qm_nearest_name (name, names, reader->n_columns);
  qm_text_quote (name, quoted);
  reader->status =
      qm_error_set (reader->error, QM_STATUS_INVALID, reader->file,
                    reader->cell_line[cell], reader->cell_column[cell],
                    nearest != NULL ? "unknown column %s; did you mean '%s'?"
                                    : "unknown column %s",
                    quoted, nearest);
}

static void
read_header (Reader *reader)
{
  for (size_t i = 0; i < reader->n_columns; i++)
    reader->position[i] = ABSENT;

  for (size_t cell = 0; cell < reader->n_cells; cell++)
    {
      const char *name = reader->text + reader->offset[cell];
      size_t i = 0;

      while (i < reader->n_columns
             && strcmp (reader->columns[i].name, name) != 0)
        i++;
      if (i == reader->n_columns)
        {
          refuse_column (reader, cell, name);
          return;
        }
      if (reader->position[i] != ABSENT)
        {
          reader->status =
              qm_error_set (reader->error, QM_STATUS_INVALID, reader->file,
                            reader->cell_line[cell], reader->cell_column[cell],
                            "column '%s' is there twice", name);
          return;
        }
      reader->position[i] = cell;
    }

  for (size_t i = 0; i < reader->n_columns; i++)
    if (reader->columns[i].required && reader->position[i] == ABSENT)
      {
        reader->status =
            qm_error_set (reader->error, QM_STATUS_INVALID, reader->file,
                          reader->cell_line[0], reader->cell_column[0],
                          "column '%s' is missing", reader->columns[i].name);
        return;
      }
  reader->n_header = reader->n_cells;
}

static void
hand_row_out (Reader *reader)
{
  QmCsvCell cells[QM_CSV_MAX_COLUMNS];
  QmCsvRow row = { .columns = reader->columns,
                   .cells = cells,
                   .file = reader->file,
                   .pool = reader->pool,
                   .error = reader->error };

  if (reader->n_cells < reader->n_header)
    {
      reader->status =
          qm_error_set (reader->error, QM_STATUS_PARSE, reader->file,
                        reader->cell_line[0], reader->cell_column[0],
                        "the row has %zu cells, the header %zu",
                        reader->n_cells, reader->n_header);
      return;
    }
  for (size_t i = 0; i < reader->n_columns; i++)
    {
      size_t cell = reader->position[i];
      bool present = cell != ABSENT;

      cells[i].text = present ? reader->text + reader->offset[cell] : "";
      cells[i].line = reader->cell_line[present ? cell : 0];
      cells[i].column = reader->cell_column[present ? cell : 0];
    }
  reader->func (&row, reader->data);
  reader->status = row.status;
}

static void
row_cb (int end, void *data)
{
  Reader *reader = data;

  if (reader->status == QM_OK && reader->n_cells > 0)
    {
      if (reader->n_header == 0)
        read_header (reader);
      else
        hand_row_out (reader);
    }
  reader->n_cells = 0;
  reader->text_used = 0;
}

static QmStatus
libcsv_error (Reader *reader, struct csv_parser *parser, char byte)
{
  if (csv_error (parser) != CSV_EPARSE)
    return qm_error_set (reader->error, QM_STATUS_NO_MEMORY, reader->file, 0, 0,
                         "out of memory");
  return qm_error_set (
      reader->error, QM_STATUS_PARSE, reader->file, reader->line,
      reader->column,
      byte == '"' ? "a quote inside a cell must be doubled, and the cell quoted"
                  : "text after a closing quote");
}

static void
feed (Reader *reader,
      struct csv_parser *parser,
      const char *text,
      size_t length)
{
  for (size_t i = 0; i < length && reader->status == QM_OK; i++)
    {
      char byte = text[i];
      bool blank = byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';

      if (!reader->cell_begun)
        {
          reader->start_line = reader->line;
          reader->start_column = reader->column;
          reader->cell_begun = !blank;
        }
      if (csv_parse (parser, &byte, 1, cell_cb, row_cb, reader) != 1)
        {
          reader->status = libcsv_error (reader, parser, byte);
          return;
        }
      if (byte == '\n'
          || (byte == '\r' && (i + 1 == length || text[i + 1] != '\n')))
        {
          reader->line++;
          reader->column = 1;
        }
      else
        reader->column++;
    }
}

static void
finish_table (Reader *reader, struct csv_parser *parser)
{
  if (!reader->cell_begun)
    {
      reader->start_line = reader->line;
      reader->start_column = reader->column;
    }
  if (csv_fini (parser, cell_cb, row_cb, reader) != 0
      && reader->status == QM_OK)
    {
      if (csv_error (parser) == CSV_EPARSE)
        reader->status =
            qm_error_set (reader->error, QM_STATUS_PARSE, reader->file,
                          reader->start_line, reader->start_column,
                          "the cell's quote is never closed");
      else
        reader->status = libcsv_error (reader, parser, '\0');
    }
  if (reader->status == QM_OK && reader->n_header == 0)
    reader->status = qm_error_set (
        reader->error, QM_STATUS_PARSE, reader->file, 1, 1,
        "the file is empty; its first line must name the columns");
}

QmStatus
qm_csv_read (const char *text,
             size_t length,
             const char *file,
             const QmCsvColumn *columns,
             size_t n_columns,
             QmPool *pool,
             QmCsvRowFunc func,
             void *data,
             QmError *error)
{
  struct csv_parser parser;
  Reader reader = { .file = file,
                    .columns = columns,
                    .n_columns = n_columns,
                    .pool = pool,
                    .func = func,
                    .data = data,
                    .error = error,
                    .line = 1,
                    .column = 1,
                    .start_line = 1,
                    .start_column = 1 };

  if (csv_init (&parser, CSV_STRICT | CSV_STRICT_FINI) != 0)
    return qm_error_set (error, QM_STATUS_NO_MEMORY, file, 0, 0,
                         "out of memory");
  /* libcsv's own step of 128 bytes makes a long cell quadratic. */
  csv_set_blk_size (&parser, BUFFER_STEP);
  feed (&reader, &parser, text, length);
  if (reader.status == QM_OK)
    finish_table (&reader, &parser);
  csv_free (&parser);
  free (reader.text);
  return reader.status;
}
