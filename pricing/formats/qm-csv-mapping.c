/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-csv-mapping.h"

#include "pricing/quotes/qm-quote-read.h"

#include <glib/gi18n-lib.h>
#include <jansson.h>
#include <string.h>

#define SCHEMA 1

QmCsvMapping *
qm_csv_mapping_new (void)
{
  QmCsvMapping *mapping = g_new0 (QmCsvMapping, 1);

  mapping->delimiter = ',';
  mapping->header_row = -1;
  mapping->tax_included = QM_UNSTATED;
  mapping->columns = g_array_new (FALSE, TRUE, sizeof (QmCsvField));
  return mapping;
}

QmCsvMapping *
qm_csv_mapping_copy (const QmCsvMapping *mapping)
{
  QmCsvMapping *copy = g_new (QmCsvMapping, 1);

  g_return_val_if_fail (mapping != NULL, NULL);

  *copy = *mapping;
  copy->encoding = g_strdup (mapping->encoding);
  copy->columns = g_array_copy (mapping->columns);
  return copy;
}

void
qm_csv_mapping_free (QmCsvMapping *mapping)
{
  if (mapping == NULL)
    return;
  g_free (mapping->encoding);
  g_array_unref (mapping->columns);
  g_free (mapping);
}

QmCsvField
qm_csv_mapping_field (const QmCsvMapping *mapping, guint column)
{
  g_return_val_if_fail (mapping != NULL, QM_CSV_IGNORED);

  return column < mapping->columns->len
             ? g_array_index (mapping->columns, QmCsvField, column)
             : QM_CSV_IGNORED;
}

int
qm_csv_mapping_column (const QmCsvMapping *mapping, QmCsvField field)
{
  g_return_val_if_fail (mapping != NULL, -1);

  for (guint i = 0; i < mapping->columns->len; i++)
    if (qm_csv_mapping_field (mapping, i) == field)
      return (int) i;
  return -1;
}

void
qm_csv_mapping_set_field (QmCsvMapping *mapping, guint column, QmCsvField field)
{
  int other;

  g_return_if_fail (mapping != NULL && column < QM_SHEET_MAX_COLUMNS);
  g_return_if_fail (field < QM_N_CSV_FIELDS);

  if (column >= mapping->columns->len)
    g_array_set_size (mapping->columns, column + 1);
  other = qm_csv_mapping_column (mapping, field);
  if (field != QM_CSV_IGNORED && other >= 0)
    g_array_index (mapping->columns, QmCsvField, other) = QM_CSV_IGNORED;
  g_array_index (mapping->columns, QmCsvField, column) = field;
}

gboolean
qm_csv_mapping_check (const QmCsvMapping *mapping, GError **error)
{
  const char *missing = NULL;

  g_return_val_if_fail (mapping != NULL, FALSE);

  if (qm_csv_mapping_column (mapping, QM_CSV_DESCRIPTION) < 0
      && qm_csv_mapping_column (mapping, QM_CSV_PART_NUMBER) < 0)
    missing = _ ("It is not clear which column holds the description or part "
                 "number.");
  else if (qm_csv_mapping_column (mapping, QM_CSV_PRICE) < 0
           && qm_csv_mapping_column (mapping, QM_CSV_TOTAL) < 0)
    missing = _ ("It is not clear which column holds the price or total.");
  if (missing == NULL)
    return TRUE;
  g_set_error_literal (error, QM_READ_ERROR, QM_READ_ERROR_MAPPING, missing);
  return FALSE;
}

char *
qm_csv_mapping_fingerprint (const QmCsvMapping *mapping, const QmSheet *sheet)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  guint n;

  g_return_val_if_fail (mapping != NULL && sheet != NULL, NULL);

  if (mapping->header_row < 0)
    return NULL;
  n = qm_sheet_n_cells (sheet, (guint) mapping->header_row);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = qm_csv_normalize (
          qm_sheet_cell (sheet, (guint) mapping->header_row, i));

      g_checksum_update (sum, (const guchar *) name, (gssize) strlen (name));
      g_checksum_update (sum, (const guchar *) "\n", 1);
    }
  return g_strndup (g_checksum_get_string (sum), 16);
}

static json_t *
to_json (const QmCsvMapping *mapping)
{
  const char delimiter[2] = { mapping->delimiter, '\0' };
  json_t *object = json_object (), *columns = json_array ();

  for (guint i = 0; i < mapping->columns->len; i++)
    json_array_append_new (columns, json_string (qm_csv_field_name (
                                        qm_csv_mapping_field (mapping, i))));
  json_object_set_new (object, "delimiter", json_string (delimiter));
  if (mapping->encoding != NULL)
    json_object_set_new (object, "encoding", json_string (mapping->encoding));
  json_object_set_new (object, "header_row",
                       json_integer (mapping->header_row));
  json_object_set_new (object, "decimal",
                       json_integer ((json_int_t) mapping->decimal));
  json_object_set_new (object, "date_order",
                       json_integer ((json_int_t) mapping->date_order));
  json_object_set_new (object, "currency", json_string (mapping->currency));
  json_object_set_new (object, "tax_included",
                       json_integer ((json_int_t) mapping->tax_included));
  json_object_set_new (object, "columns", columns);
  return object;
}

/* A whole number in [least, most]; FALSE on anything else. */
static gboolean
take_number (json_t *object, const char *name, int least, int most, int *value)
{
  json_t *number = json_object_get (object, name);

  if (!json_is_integer (number) || json_integer_value (number) < least
      || json_integer_value (number) > most)
    return FALSE;
  *value = (int) json_integer_value (number);
  return TRUE;
}

static gboolean
take_columns (QmCsvMapping *mapping, json_t *columns)
{
  json_t *name;
  gsize i;

  if (json_array_size (columns) > QM_SHEET_MAX_COLUMNS)
    return FALSE;
  json_array_foreach (columns, i, name)
  {
    QmCsvField field = qm_csv_field_named (json_string_value (name));

    if (field == QM_N_CSV_FIELDS)
      return FALSE;
    qm_csv_mapping_set_field (mapping, (guint) i, field);
  }
  return mapping->columns->len > 0;
}

static gboolean
is_known_encoding (const char *encoding)
{
  return encoding == NULL || strcmp (encoding, "UTF-8") == 0
         || strcmp (encoding, "UTF-16LE") == 0
         || strcmp (encoding, "UTF-16BE") == 0
         || strcmp (encoding, "ISO-8859-1") == 0
         || strcmp (encoding, "WINDOWS-1250") == 0
         || strcmp (encoding, "WINDOWS-1252") == 0;
}

static QmCsvMapping *
from_json (json_t *object)
{
  g_autoptr (QmCsvMapping) mapping = qm_csv_mapping_new ();
  const char *delimiter =
      json_string_value (json_object_get (object, "delimiter"));
  const char *currency =
      json_string_value (json_object_get (object, "currency"));
  const char *encoding =
      json_string_value (json_object_get (object, "encoding"));
  int decimal, dates, tax;

  if (delimiter == NULL || strlen (delimiter) != 1
      || strchr (",;\t|", delimiter[0]) == NULL || currency == NULL
      || !is_known_encoding (encoding)
      || !take_number (object, "header_row", -1, QM_SHEET_MAX_ROWS,
                       &mapping->header_row)
      || !take_number (object, "decimal", 0, QM_DECIMAL_COMMA, &decimal)
      || !take_number (object, "date_order", 0, QM_N_DATE_ORDERS - 1, &dates)
      || !take_number (object, "tax_included", QM_UNSTATED, QM_YES, &tax)
      || !take_columns (mapping, json_object_get (object, "columns")))
    return NULL;
  if (strlen (currency) == 3 && qm_currency_valid (currency))
    memcpy (mapping->currency, currency, 4);
  mapping->delimiter = delimiter[0];
  mapping->encoding = g_strdup (encoding);
  mapping->decimal = (QmDecimal) decimal;
  mapping->date_order = (QmDateOrder) dates;
  mapping->tax_included = (QmTristate) tax;
  return g_steal_pointer (&mapping);
}

static json_t *
parse_mapping (const char *json)
{
  json_t *root =
      json != NULL ? json_loads (json, JSON_REJECT_DUPLICATES, NULL) : NULL;

  if (json_integer_value (json_object_get (root, "schema")) == SCHEMA
      && json_is_object (json_object_get (root, "mappings")))
    return root;
  json_decref (root);
  return NULL;
}

gboolean
qm_csv_mappings_check (const char *json)
{
  json_t *root = parse_mapping (json);

  json_decref (root);
  return root != NULL;
}

QmCsvMapping *
qm_csv_mappings_find (const char *json, const char *fingerprint)
{
  json_t *root = parse_mapping (json);
  json_t *object =
      fingerprint != NULL
          ? json_object_get (json_object_get (root, "mappings"), fingerprint)
          : NULL;
  QmCsvMapping *mapping = object != NULL ? from_json (object) : NULL;

  json_decref (root);
  return mapping;
}

char *
qm_csv_mappings_add (const char *json,
                     const char *fingerprint,
                     const QmCsvMapping *mapping)
{
  json_t *root = parse_mapping (json);
  char *dump, *text;

  g_return_val_if_fail (fingerprint != NULL && mapping != NULL, NULL);

  if (root == NULL)
    {
      root = json_object ();
      json_object_set_new (root, "schema", json_integer (SCHEMA));
      json_object_set_new (root, "mappings", json_object ());
    }
  json_object_set_new (json_object_get (root, "mappings"), fingerprint,
                       to_json (mapping));
  dump = json_dumps (root, JSON_INDENT (2) | JSON_SORT_KEYS);
  text = g_strconcat (dump != NULL ? dump : "", "\n", NULL);
  free (dump);
  json_decref (root);
  return text;
}
