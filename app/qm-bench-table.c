/* SPDX-License-Identifier: Apache-2.0 */

/* Tables for people, as wide as they have to be. */

#include "app/qm-bench-search.h"

#include "data/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char (*qm_bench_table_row (QmBenchTable *table))[QM_BENCH_CELL]
{
  if (table->n == table->capacity)
    {
      size_t capacity = table->capacity * 2 + 32;
      void *grown = realloc (table->cells, capacity * sizeof *table->cells);

      if (grown == NULL)
        return NULL;
      table->cells = grown;
      table->capacity = capacity;
    }
  memset (table->cells[table->n], 0, sizeof table->cells[0]);
  return table->cells[table->n++];
}

/* Characters of UTF-8 text. */
static int
width_of (const char *text)
{
  int width = 0;

  for (; *text != '\0'; text++)
    width += ((unsigned char) *text & 0xc0) != 0x80;
  return width;
}

static void
print_row (const QmBenchTable *table, size_t row, const int *widths)
{
  int owed = 0; /* blanks, which are not printed at the end of a line */

  for (int i = 0; i < table->columns; i++)
    {
      /* A column in which nothing stands is left out. */
      if (widths[i] == 0)
        continue;
      const char *cell = table->cells[row][i];
      int blanks = widths[i] - width_of (cell);
      bool left = i < table->left || i == table->columns - 1;

      if (*cell != '\0')
        {
          printf ("%*s%s", owed + (left ? 0 : blanks), "", cell);
          owed = left ? blanks : 0;
        }
      else
        owed += widths[i];
      owed += 2;
    }
  printf ("\n");
}

/* The width of a column; 0 where there is nothing below its head. */
static int
width_of_column (const QmBenchTable *table, int column)
{
  int widest = 0;

  for (size_t row = 1; row < table->n; row++)
    {
      int width = width_of (table->cells[row][column]);

      widest = width > widest ? width : widest;
    }
  if (widest > 0 && width_of (table->cells[0][column]) > widest)
    widest = width_of (table->cells[0][column]);
  return widest;
}

void
qm_bench_table_print (QmBenchTable *table)
{
  int widths[QM_BENCH_COLUMNS] = { 0 };
  char safe[QM_BENCH_CELL];

  for (size_t row = 0; row < table->n; row++)
    for (int i = 0; i < table->columns; i++)
      strcpy (table->cells[row][i],
              qm_text_escape (table->cells[row][i], safe, sizeof safe));
  for (int i = 0; i < table->columns && table->n > 0; i++)
    widths[i] = width_of_column (table, i);
  for (size_t row = 0; row < table->n; row++)
    print_row (table, row, widths);
  free (table->cells);
  table->cells = NULL;
  table->n = table->capacity = 0;
}

void
qm_bench_format (double value, char cell[QM_BENCH_CELL])
{
  int digits;

  if (!isfinite (value))
    {
      snprintf (cell, QM_BENCH_CELL, "-");
      return;
    }
  digits = value > 0 ? 2 - (int) floor (log10 (value)) : 0;
  if (digits > 6)
    snprintf (cell, QM_BENCH_CELL, "%.2e", value);
  else
    snprintf (cell, QM_BENCH_CELL, "%.*f", digits > 0 ? digits : 0, value);
}

void
qm_bench_format_bytes (double bytes, char cell[QM_BENCH_CELL])
{
  bool large = bytes >= 0x1p30;

  qm_bench_format (bytes / (large ? 0x1p30 : 0x1p20), cell);
  strcat (cell, large ? " GiB" : " MiB");
}
