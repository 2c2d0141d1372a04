/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-options.h"
#include "app/qm-cli-quotes-mapping.h"
#include "app/qm-cli-quotes-private.h"
#include "data/datadir.h"

#include <errno.h>
#include <glib/gi18n-lib.h>
#include <glib/gstdio.h>
#include <limits.h>
#include <string.h>

#define SAMPLE_ROWS   30
#define COLUMNS_SHOWN 40

/* Beside the store, in the user's data directory. */
#define MAPPINGS_FILE "csv-mappings.json"

void
qm_cli_mapping_add_options (QmCliMapping *typed, GArray *options)
{
  qm_cli_options_add_value (
      options, "map", 0, _ ("COLUMN=FIELD"),
      _ ("What a column holds: Preis=price, C=quantity, 1=description"),
      &typed->columns);
  qm_cli_options_add_value (options, "decimal", 0, "point|comma",
                            _ ("How numbers of a table are written"),
                            &typed->decimal);
  qm_cli_options_add_value (options, "dates", 0, "day-first|month-first",
                            _ ("How dates like 3/4/2026 of a table are meant"),
                            &typed->dates);
  qm_cli_options_add_value (options, "currency", 0, _ ("CODE"),
                            _ ("Of the amounts of a table that names none"),
                            &typed->currency);
}

void
qm_cli_mapping_clear (QmCliMapping *typed)
{
  g_clear_pointer (&typed->columns, g_strfreev);
  g_clear_pointer (&typed->decimal, g_strfreev);
  g_clear_pointer (&typed->dates, g_strfreev);
  g_clear_pointer (&typed->currency, g_strfreev);
}

gboolean
qm_cli_mapping_is_given (const QmCliMapping *typed)
{
  return typed->columns != NULL || typed->decimal != NULL
         || typed->dates != NULL || typed->currency != NULL;
}

/* By its letter, as spreadsheets name columns; -1 where it is none. */
static int
column_of_letters (const char *word)
{
  int column = 0;

  if (*word == '\0' || strlen (word) > 2)
    return -1;
  for (; *word != '\0'; word++)
    {
      if (!g_ascii_isupper (*word))
        return -1;
      column = column * 26 + (*word - 'A' + 1);
    }
  return column - 1;
}

/* By its name, its number from 1, or its letter; -1 where there is no such
 * column. */
static int
find_column (const QmCsvMapping *mapping,
             const QmSheet *sheet,
             const char *word)
{
  guint header = (guint) MAX (mapping->header_row, 0);
  guint n = MAX (mapping->columns->len, qm_sheet_n_cells (sheet, header));
  g_autofree char *wanted = qm_csv_normalize (word);
  guint64 number;
  int letters;

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name =
          qm_csv_normalize (qm_sheet_cell (sheet, header, i));

      if (*wanted != '\0' && g_str_equal (name, wanted))
        return (int) i;
    }
  if (g_ascii_string_to_unsigned (word, 10, 1, n, &number, NULL))
    return (int) number - 1;
  letters = column_of_letters (word);
  return letters < (int) n ? letters : -1;
}

static gboolean
set_column (QmCsvMapping *mapping,
            const QmSheet *sheet,
            const char *pair,
            GError **error)
{
  const char *sign = strrchr (pair, '=');
  g_autofree char *quoted = qm_cli_quote (pair);
  g_autofree char *word = NULL;
  const char *names[QM_N_CSV_FIELDS];
  QmCsvField field;
  int column;

  if (sign == NULL || sign == pair || !g_utf8_validate (pair, -1, NULL))
    {
      g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                   _ ("--map: %s is not a column and what it holds; write it "
                      "like Preis=price or 3=quantity"),
                   quoted);
      return FALSE;
    }
  word = g_strndup (pair, (gsize) (sign - pair));
  column = find_column (mapping, sheet, word);
  if (column < 0)
    {
      g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                   _ ("--map: there is no column for %s"), quoted);
      return FALSE;
    }
  field = qm_csv_field_named (sign + 1);
  if (field < QM_N_CSV_FIELDS)
    {
      qm_csv_mapping_set_field (mapping, (guint) column, field);
      return TRUE;
    }
  for (int i = 0; i < QM_N_CSV_FIELDS; i++)
    names[i] = qm_csv_field_name ((QmCsvField) i);
  return qm_cli_set_unknown (
      error, _ ("--map: a column cannot hold what %s says"), sign + 1, names,
      QM_N_CSV_FIELDS,
      _ ("choose description, part_number, quantity, price, total, currency, "
         "vendor, quote, …"));
}

/* A first row without a number where prices are is a header whose words are not
 * known. */
static void
find_header (QmCsvMapping *mapping, const QmSheet *sheet)
{
  int column = qm_csv_mapping_column (mapping, QM_CSV_PRICE);

  if (column < 0)
    column = qm_csv_mapping_column (mapping, QM_CSV_TOTAL);
  if (mapping->header_row < 0 && column >= 0 && qm_sheet_n_rows (sheet) > 0
      && strpbrk (qm_sheet_cell (sheet, 0, (guint) column), "0123456789")
             == NULL)
    mapping->header_row = 0;
}

static gboolean
apply (const QmCliMapping *typed,
       QmCsvMapping *mapping,
       const QmSheet *sheet,
       GError **error)
{
  static const char *const decimals[] = { "point", "comma" };
  static const char *const orders[] = { "day-first", "month-first" };
  int decimal = -1;
  int order = -1;

  for (guint i = 0; typed->columns != NULL && typed->columns[i] != NULL; i++)
    if (!set_column (mapping, sheet, typed->columns[i], error))
      return FALSE;
  find_header (mapping, sheet);
  if (!qm_cli_option_choice ("decimal", typed->decimal, decimals,
                             G_N_ELEMENTS (decimals), &decimal, error)
      || !qm_cli_option_choice ("dates", typed->dates, orders,
                                G_N_ELEMENTS (orders), &order, error)
      || !qm_cli_option_currency ("currency", typed->currency,
                                  mapping->currency, error))
    return FALSE;
  if (decimal >= 0)
    mapping->decimal = decimal == 0 ? QM_DECIMAL_POINT : QM_DECIMAL_COMMA;
  if (order >= 0)
    mapping->date_order =
        order == 0 ? QM_DATES_DAY_FIRST : QM_DATES_MONTH_FIRST;
  return TRUE;
}

/* The columns as they are remembered for such a header, where they are. */
static void
recall (QmCsvMapping *mapping, const QmSheet *sheet, const char *mappings)
{
  g_autofree char *fingerprint = qm_csv_mapping_fingerprint (mapping, sheet);
  g_autoptr (QmCsvMapping) found =
      fingerprint != NULL ? qm_csv_mappings_find (mappings, fingerprint) : NULL;

  if (found == NULL || found->columns->len < mapping->columns->len)
    return;
  for (guint i = 0; i < found->columns->len; i++)
    qm_csv_mapping_set_field (mapping, i, qm_csv_mapping_field (found, i));
  mapping->decimal = found->decimal;
  mapping->date_order = found->date_order;
  mapping->tax_included = found->tax_included;
  memcpy (mapping->currency, found->currency, sizeof mapping->currency);
}

/* The table within a document that is none itself. */
static GBytes *
table_of (QmDocumentKind kind,
          GBytes *bytes,
          const char *media_type,
          GError **error)
{
  if (kind == QM_DOCUMENT_PDF)
    return qm_import_pdf (bytes, NULL, NULL, error);
  if (kind == QM_DOCUMENT_PAGE)
    return qm_import_html (bytes, media_type, NULL, NULL, error);
  return qm_import_sheet (bytes, NULL, NULL, NULL, NULL, error);
}

static void
refuse_no_table (const char *name, GError **error)
{
  g_autofree char *quoted = qm_cli_quote (name);

  g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
               _ ("%s is no table; --map, --decimal, --dates and "
                  "--currency are for tables"),
               quoted);
}

/* The mapping of the document in a mail that is read of it. */
static QmCsvMapping *
read_of_mail (const QmCliMapping *typed,
              GBytes *bytes,
              const char *name,
              const char *mappings,
              GError **error)
{
  QmImportOptions options = { .mappings = mappings };
  g_autoptr (QmImport) import =
      qm_import_bytes (bytes, name, "message/rfc822", &options, NULL, error);
  const char *data;
  gsize size;

  if (import == NULL)
    return NULL;
  data = g_bytes_get_data (import->part, &size);
  /* What reads as one more is prose. */
  if (import->mapping == NULL
      || qm_document_kind (data, size, import->part_name, import->part_type)
             == QM_DOCUMENT_MAIL)
    {
      refuse_no_table (name, error);
      return NULL;
    }
  return qm_cli_mapping_read (typed, import->part,
                              import->part_name != NULL ? import->part_name
                                                        : import->part_type,
                              import->part_type, mappings, error);
}

QmCsvMapping *
qm_cli_mapping_read (const QmCliMapping *typed,
                     GBytes *bytes,
                     const char *name,
                     const char *media_type,
                     const char *mappings,
                     GError **error)
{
  g_autoptr (GBytes) table = g_bytes_ref (bytes);
  g_autoptr (QmCsvMapping) mapping = NULL;
  g_autoptr (QmSheet) sheet = NULL;
  g_autofree char *text = NULL;
  gsize size, length;
  const char *data = g_bytes_get_data (bytes, &size);
  QmDocumentKind kind = size > 0
                            ? qm_document_kind (data, size, name, media_type)
                            : QM_DOCUMENT_OTHER;

  if (kind == QM_DOCUMENT_MAIL)
    return read_of_mail (typed, bytes, name, mappings, error);
  if (kind == QM_DOCUMENT_WORKBOOK || kind == QM_DOCUMENT_PDF
      || kind == QM_DOCUMENT_PAGE)
    {
      g_bytes_unref (table);
      table = table_of (kind, bytes, media_type, error);
      if (table == NULL)
        return NULL;
      data = g_bytes_get_data (table, &size);
    }
  else if (kind != QM_DOCUMENT_CSV)
    {
      refuse_no_table (name, error);
      return NULL;
    }
  mapping = qm_csv_mapping_guess (data, size, error);
  if (mapping == NULL)
    return NULL;
  text = qm_sheet_decode (data, size, mapping->encoding, &length, NULL, error);
  if (text == NULL)
    return NULL;
  sheet =
      qm_sheet_new (text, length, mapping->delimiter, SAMPLE_ROWS, NULL, error);
  if (sheet == NULL)
    return NULL;
  recall (mapping, sheet, mappings);
  return apply (typed, mapping, sheet, error) ? g_steal_pointer (&mapping)
                                              : NULL;
}

/* "“Menge”: quantity", for all columns or those that are not used. */
static void
append_columns (const QmImport *import, gboolean used, GString *out)
{
  const QmCsvMapping *mapping = import->mapping;
  guint header = (guint) MAX (mapping->header_row, 0);

  for (guint i = 0; i < mapping->columns->len && i < COLUMNS_SHOWN; i++)
    {
      QmCsvField field = qm_csv_mapping_field (mapping, i);
      const char *name = mapping->header_row >= 0 && import->sample != NULL
                             ? qm_sheet_cell (import->sample, header, i)
                             : "";
      g_autofree char *number = g_strdup_printf ("%u", i + 1);

      if ((field != QM_CSV_IGNORED) != used)
        continue;
      g_string_append_printf (out, "%s“%s”", out->len > 0 ? ", " : "",
                              *name != '\0' ? name : number);
      if (used)
        g_string_append_printf (out, " = %s", qm_csv_field_name (field));
    }
}

char *
qm_cli_mapping_text (const QmImport *import)
{
  g_autoptr (GString) used = g_string_new (NULL);
  g_autoptr (GString) unused = g_string_new (NULL);

  append_columns (import, TRUE, used);
  append_columns (import, FALSE, unused);
  if (unused->len == 0)
    return g_strdup (used->str);
  /* Translators: columns and what they hold, other columns. */
  return g_strdup_printf (_ ("%s; not used: %s"), used->str, unused->str);
}

void
qm_cli_mapping_want (const QmImport *import, const char *name, GError **error)
{
  g_autofree char *quoted = qm_cli_quote (name);
  g_autofree char *columns = qm_cli_mapping_text (import);

  g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
               /* Translators: a file, what is missing, its columns. */
               _ ("%s: %s  Columns: %s.  Say what they hold with --map, as in "
                  "“--map 1=description --map 3=price”"),
               quoted, import->mapping_reason, columns);
}

/* (transfer full) (nullable) */
static char *
mappings_path (void)
{
  char folder[PATH_MAX];

  if (!qm_user_data_dir (folder, sizeof folder))
    return NULL;
  return g_build_filename (folder, MAPPINGS_FILE, NULL);
}

char *
qm_cli_mappings_load (void)
{
  g_autoptr (GArray) problems = g_array_new (FALSE, FALSE, sizeof (QmError));
  g_autofree char *path = mappings_path ();
  char *text = path != NULL ? qm_csv_mappings_load (path, problems) : NULL;

  /* Where that fails nothing is remembered, which is no obstacle. */
  for (guint i = 0; i < problems->len; i++)
    qm_cli_warn (&g_array_index (problems, QmError, i));
  return text;
}

gboolean
qm_cli_mappings_save (const char *mappings, GError **error)
{
  g_autofree char *path = mappings_path ();

  return path == NULL || qm_csv_mappings_save (path, mappings, error);
}
