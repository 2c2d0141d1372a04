/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-csv-words.h"

#include "pricing/words-quotes.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* No name of a column is longer, in bytes. */
#define LONGEST_HEADER 100
/* No name with words that are cut short has more bytes, or words. */
#define LONGEST_SHORT 40
#define MOST_SHORT    4

typedef struct
{
  QmCsvField field;
  const char *words; /* normalized, separated by "|" */
} FieldWords;

#define FIELD(words, field) { QM_CSV_##field, words },
static const FieldWords fields[] = { QM_ROWS_COLUMN (FIELD) };

static const char *const field_names[QM_N_CSV_FIELDS] = {
  "ignored",     "number",
  "part_number", "description",
  "quantity",    "unit",
  "price",       "base_quantity",
  "discount",    "discount_percent",
  "charge",      "total",
  "currency",    "vendor",
  "quote",       "issued",
  "valid_from",  "valid_until",
  "note",        "total_gross",
  "alternative", "role",
  "supersedes",  "thing"
};

/* All phrases of columns' names, and of rows; never changed once they are
 * there. */
static GHashTable *
field_phrases (void)
{
  static GHashTable *table;

  if (g_once_init_enter (&table))
    {
      GHashTable *made = qm_csv_phrases_new ();

      for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
        qm_csv_phrases_add (made, fields[i].words, fields[i].field);
      g_once_init_leave (&table, made);
    }
  return table;
}

static QmCsvField
find_field (const char *phrase, gsize length)
{
  return (QmCsvField) qm_csv_phrases_find (field_phrases (), phrase, length);
}

/* "Price per node": a price whatever it is of, but for a number of pieces. */
static gboolean
is_price_of_one (const char *normal)
{
  static const char *const beginnings[] = {
    "price per ",  "cost per ",   "preis pro ", "preis je ",  "prix par ",
    "precio por ", "prezzo per ", "prijs per ", "preco por ", "cena za ",
  };

  for (guint i = 0; i < G_N_ELEMENTS (beginnings); i++)
    if (g_str_has_prefix (normal, beginnings[i]))
      return g_ascii_isalpha (normal[strlen (beginnings[i])]);
  return FALSE;
}

/* A name that begins or ends with a known one: "Unit price per piece". */
static QmCsvField
find_affix (const char *normal)
{
  gsize length = strlen (normal);

  for (gsize n = length; n >= 3; n--)
    if ((normal[n] == ' ' || normal[n] == '\0') && n >= length / 2)
      {
        QmCsvField field = find_field (normal, n);

        if (field != QM_CSV_IGNORED)
          return field;
      }
  for (gsize i = 1; i + 3 <= length && i <= length / 2; i++)
    if (normal[i - 1] == ' ')
      {
        QmCsvField field = find_field (normal + i, length - i);

        if (field != QM_CSV_IGNORED)
          return field;
      }
  return QM_CSV_IGNORED;
}

/* Prices that nobody pays, and taxes: known, and not wanted. */
static gboolean
is_unwanted (const char *normal)
{
  static const char list[] = QM_WORDS_UNWANTED;

  static GHashTable *set;

  return g_hash_table_contains (qm_csv_phrases_once (&set, list), normal);
}

typedef struct
{
  char *words[MOST_SHORT];
  gboolean is_cut[MOST_SHORT]; /* a point stands behind it */
  guint n;
} ShortName;

static void
short_name_clear (ShortName *name)
{
  for (guint i = 0; i < name->n; i++)
    g_free (name->words[i]);
}

/* The words of a name without what qm_csv_strip_additions() leaves out.  FALSE:
 * none of them is cut short, or it is no name. */
static gboolean
split_short (const char *text, ShortName *name)
{
  g_auto (GStrv) all = g_strsplit_set (text, " \t\n()[]/-:", -1);
  gboolean any = FALSE;

  for (guint i = 0; all[i] != NULL; i++)
    {
      g_autofree char *normal = qm_csv_normalize (all[i]);
      g_autofree char *stripped = qm_csv_strip_additions (normal);

      if (stripped[0] == '\0' || strcmp (stripped, "percent") == 0)
        continue;
      if (name->n == MOST_SHORT || strchr (stripped, ' ') != NULL)
        return FALSE;
      name->is_cut[name->n] =
          strlen (stripped) >= 2 && g_str_has_suffix (all[i], ".");
      any = any || name->is_cut[name->n];
      name->words[name->n++] = g_steal_pointer (&stripped);
    }
  return any;
}

static gboolean
is_short_for (const ShortName *name, const char *phrase)
{
  for (guint i = 0; i < name->n; i++)
    {
      gsize n = strlen (name->words[i]);

      if (strncmp (phrase, name->words[i], n) != 0)
        return FALSE;
      phrase += n;
      if (name->is_cut[i])
        phrase += strcspn (phrase, " ");
      if (*phrase != (i + 1 < name->n ? ' ' : '\0'))
        return FALSE;
      phrase += *phrase == ' ';
    }
  return TRUE;
}

/* The field of a name with words that are cut short, "Cena jedn. netto": the
 * only one whose names it can be short for. */
static QmCsvField
find_short (const char *text)
{
  ShortName name = { .n = 0 };
  QmCsvField field = QM_CSV_IGNORED;
  GHashTableIter iter;
  gpointer phrase, value;

  if (strchr (text, '.') == NULL || strpbrk (text, "0123456789,;") != NULL
      || strlen (text) > LONGEST_SHORT || !split_short (text, &name))
    {
      short_name_clear (&name);
      return QM_CSV_IGNORED;
    }
  g_hash_table_iter_init (&iter, field_phrases ());
  while (g_hash_table_iter_next (&iter, &phrase, &value))
    if (is_short_for (&name, phrase))
      {
        if (field != QM_CSV_IGNORED && field != GPOINTER_TO_UINT (value))
          {
            field = QM_CSV_IGNORED;
            break;
          }
        field = (QmCsvField) GPOINTER_TO_UINT (value);
      }
  short_name_clear (&name);
  return field;
}

/* Without the rate of a tax: "totaal incl 8 1 percent btw". */
static char *
strip_rate (const char *normal)
{
  const char *end = strstr (normal, " percent ");
  const char *start = end;

  if (end == NULL)
    return g_strdup (normal);
  while (start > normal && (g_ascii_isdigit (start[-1]) || start[-1] == ' '))
    start--;
  return start == end ? g_strdup (normal)
                      : g_strdup_printf ("%.*s%s", (int) (start - normal),
                                         normal, end + strlen (" percent"));
}

/* "Menge / Quantité": the field of names in several languages, if those that
 * are known are one. */
static QmCsvField
field_of_parts (const char *name)
{
  g_auto (GStrv) parts = g_strsplit (name, "/", 4);
  QmCsvField field = QM_CSV_IGNORED;

  for (guint i = 0; parts[i] != NULL; i++)
    {
      int tax;
      QmCsvField part = strchr (parts[i], '/') == NULL
                            ? qm_csv_field_of (parts[i], &tax)
                            : QM_CSV_IGNORED;

      /* "Remise / Korting %" */
      if (part == QM_CSV_DISCOUNT_PERCENT && field == QM_CSV_DISCOUNT)
        field = part;
      if (part != QM_CSV_IGNORED && field != QM_CSV_IGNORED && part != field)
        return QM_CSV_IGNORED;
      field = part != QM_CSV_IGNORED ? part : field;
    }
  return field;
}

gboolean
qm_csv_fields_suffice (guint seen)
{
  const guint named = 1u << QM_CSV_DESCRIPTION | 1u << QM_CSV_PART_NUMBER
                      | 1u << QM_CSV_ALTERNATIVE;

  return (seen & named) != 0
         && (seen & (1u << QM_CSV_PRICE | 1u << QM_CSV_TOTAL)) != 0;
}

QmCsvField
qm_csv_field_of (const char *name, int *tax)
{
  g_autofree char *normal = NULL;
  g_autofree char *untaxed = NULL;
  g_autofree char *stripped = NULL;
  QmCsvField field;

  *tax = -1;
  if (strnlen (name, LONGEST_HEADER + 1) > LONGEST_HEADER
      || name[strspn (name, " .,-0123456789")] == '\0')
    return QM_CSV_IGNORED;
  normal = qm_csv_normalize (name);
  if (normal[0] == '\0' || is_unwanted (normal))
    return QM_CSV_IGNORED;
  field = find_field (normal, strlen (normal));
  untaxed = strip_rate (normal);
  stripped = qm_csv_strip_additions (untaxed);
  if (field == QM_CSV_IGNORED && stripped[0] != '\0' && !is_unwanted (stripped))
    {
      field = find_field (stripped, strlen (stripped));
      if (field == QM_CSV_IGNORED)
        field = find_short (name);
      if (field == QM_CSV_IGNORED && is_price_of_one (stripped))
        field = QM_CSV_PRICE;
      if (field == QM_CSV_IGNORED)
        field = find_affix (stripped);
    }
  if (field == QM_CSV_IGNORED && strchr (name, '/') != NULL)
    field = field_of_parts (name);
  if (field != QM_CSV_IGNORED)
    *tax = qm_csv_tax_in (normal);
  if (field == QM_CSV_IGNORED && g_str_has_suffix (normal, " percent"))
    field = find_field (normal, strlen (normal) - strlen (" percent"));
  if (field == QM_CSV_DISCOUNT && strstr (normal, "percent") != NULL)
    field = QM_CSV_DISCOUNT_PERCENT;
  return field;
}

QmCsvField
qm_csv_field_exactly (const char *normal)
{
  return find_field (normal, strlen (normal));
}

const char *
qm_csv_field_name (QmCsvField field)
{
  g_return_val_if_fail (field < QM_N_CSV_FIELDS, "");
  return field_names[field];
}

QmCsvField
qm_csv_field_named (const char *name)
{
  int field = 0;

  while (field < QM_N_CSV_FIELDS && g_strcmp0 (field_names[field], name) != 0)
    field++;
  return (QmCsvField) field;
}

const char *
qm_csv_field_label (QmCsvField field)
{
  static const char *const labels[QM_N_CSV_FIELDS] = {
    N_ ("Not used"),
    N_ ("Line number"),
    N_ ("Part number"),
    N_ ("Description"),
    N_ ("Quantity"),
    N_ ("Unit"),
    N_ ("Unit price"),
    N_ ("Price is for this many"),
    N_ ("Discount"),
    N_ ("Discount in percent"),
    N_ ("Surcharge"),
    N_ ("Line total"),
    N_ ("Currency"),
    N_ ("Vendor"),
    N_ ("Quote number"),
    N_ ("Date of issue"),
    N_ ("Valid from"),
    N_ ("Valid until"),
    N_ ("Note"),
    N_ ("Line total with tax"),
    N_ ("Alternative of the quote"),
    N_ ("Role of the line"),
    N_ ("Number of the quote it replaces"),
    N_ ("What the line sells"),
  };

  g_return_val_if_fail (field < QM_N_CSV_FIELDS, "");
  return _ (labels[field]);
}
