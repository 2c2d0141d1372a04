/* SPDX-License-Identifier: Apache-2.0 */

/* What columns say of a line that are none of a quote's own: for how long it is
 * paid, and how many come in one. */

#include "config.h"

#include "pricing/formats/qm-csv-reader.h"

#include "pricing/formats/qm-csv-phrases.h"
#include "pricing/quotes/qm-line-ask.h"
#include "pricing/quotes/qm-line-thing.h"
#include "pricing/quotes/qm-quote-read.h"
#include "pricing/words-quotes.h"
#include "pricing/words-thresholds.h"

#include <glib/gi18n-lib.h>
#include <stdlib.h>
#include <string.h>

/* A cell that says but how it is paid is no longer, in bytes. */
#define LONGEST_CELL 24

/* Names of columns with a time, and with one in months. */
static const char term_names[] = QM_WORDS_TERM_NAME;
static const char month_names[] = QM_WORDS_MONTH_NAME;
static const char pack_names[] = QM_WORDS_PACK_NAME;

static gboolean
is_named (GHashTable **set, const char *list, const char *name)
{
  g_autofree char *normal = qm_csv_normalize (name);

  return g_hash_table_contains (qm_csv_phrases_once (set, list), normal);
}

/* What a column is called; "" where there is no header. */
static const char *
name_of_column (QmCsvReader *reader, guint column)
{
  return reader->mapping->header_row >= 0
             ? qm_sheet_cell (reader->sheet,
                              (guint) reader->mapping->header_row, column)
             : "";
}

/* The whole number that a cell begins with, and what is behind it. */
static int
leading_number (const char *cell, const char **rest)
{
  gsize digits = strspn (cell, "0123456789");
  int number = digits > 0 && digits <= 4 ? atoi (cell) : 0;

  *rest = cell + digits + strspn (cell + digits, " ");
  return number;
}

/* "36", "36 months", "3 years", "monthly": what stands in a column of times. */
static gboolean
is_time (const char *cell, gboolean of_months)
{
  static const char units[] = QM_WORDS_TERM_UNIT;
  static GHashTable *set;
  const char *rest;
  int number = leading_number (cell, &rest);

  if (number == 0)
    return qm_words_say_rent (cell);
  if (number > QM_LONGEST_TERM)
    return FALSE;
  return rest[0] == '\0' ? of_months || number >= 6
                         : is_named (&set, units, rest);
}

/* Whether a cell beside a line says for which time its amount is. */
static gboolean
says_time (QmCsvReader *reader, guint row, guint column)
{
  static GHashTable *terms, *months;
  const char *cell = qm_sheet_cell (reader->sheet, row, column);
  const char *name = name_of_column (reader, column);
  gboolean of_months = is_named (&months, month_names, name);

  if (cell[0] == '\0'
      || qm_csv_mapping_field (reader->mapping, column) != QM_CSV_IGNORED)
    return FALSE;
  if (of_months || is_named (&terms, term_names, name))
    return is_time (cell, of_months);
  return strlen (cell) <= LONGEST_CELL && !g_ascii_isdigit (cell[0])
         && qm_words_say_rent (cell);
}

/* How many pieces a cell beside a line says come in one; 0: it does not. */
static int
says_pack (QmCsvReader *reader, guint row, guint column)
{
  static GHashTable *set;
  const char *cell = qm_sheet_cell (reader->sheet, row, column);
  const char *rest;
  int number = leading_number (cell, &rest);

  return number > 1 && number <= QM_LARGEST_PACK
                 && qm_csv_mapping_field (reader->mapping, column)
                        == QM_CSV_IGNORED
                 && is_named (&set, pack_names, name_of_column (reader, column))
             ? number
             : 0;
}

static gboolean
may_be_goods (const QmQuoteLine *line)
{
  return line->role == QM_LINE_QUOTED && line->description != NULL
         && qm_words_name_goods (line->description)
         && !qm_line_names_service (line)
         && !qm_words_say_once (line->description);
}

void
qm_csv_read_beside (QmCsvReader *reader,
                    QmCsvDraft *draft,
                    guint row,
                    QmQuoteLine *line)
{
  if (reader->is_ours || !may_be_goods (line))
    return;
  for (guint i = 0; i < qm_sheet_n_cells (reader->sheet, row); i++)
    {
      int pieces = says_pack (reader, row, i);

      if (pieces > 0 && line->unit == NULL)
        line->unit =
            g_strdup_printf ("%s %d", name_of_column (reader, i), pieces);
      if ((line->asked & QM_ASK_RENT) == 0 && says_time (reader, row, i))
        {
          g_autofree char *place = qm_csv_cell_place (reader, row, (int) i);
          g_autofree char *excerpt =
              qm_read_excerpt (qm_sheet_cell (reader->sheet, row, i));

          qm_quote_line_ask (line, QM_ASK_RENT);
          qm_read_find (draft->quote, QM_FINDING_WARNING, place,
                        _ ("“%s” seems to be the time that the price is for, "
                           "as that of a rent. The line does not count until "
                           "you have said whether it is one."),
                        excerpt);
        }
    }
}
