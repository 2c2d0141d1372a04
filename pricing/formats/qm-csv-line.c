/* SPDX-License-Identifier: Apache-2.0 */

/* Rows of a spreadsheet that are lines of a quote. */

#include "config.h"

#include "pricing/formats/qm-csv-reader.h"

#include "pricing/formats/qm-csv-alternative.h"
#include "pricing/formats/qm-csv-tier.h"
#include "pricing/quotes/qm-line-thing.h"
#include "pricing/quotes/qm-quote-read.h"
#include "pricing/words-quotes.h"

#include <glib/gi18n-lib.h>
#include <string.h>

QmCsvDraft *
qm_csv_last_draft (QmCsvReader *reader)
{
  return reader->drafts->len > 0
             ? g_ptr_array_index (reader->drafts, reader->drafts->len - 1)
             : NULL;
}

/* Whether a row has something in a cell for amounts that is none of "included"
 * and "on request". */
gboolean
qm_csv_has_amount (QmCsvReader *reader, guint row)
{
  static const QmCsvField fields[] = { QM_CSV_PRICE, QM_CSV_TOTAL };

  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    {
      g_autofree char *text = qm_csv_cell_of (reader, row, fields[i]);

      if (text != NULL && !qm_csv_cell_is_included (text)
          && !qm_csv_cell_is_on_request (text))
        return TRUE;
    }
  return FALSE;
}

gboolean
qm_csv_is_header_again (QmCsvReader *reader, guint row)
{
  guint header = (guint) reader->mapping->header_row;

  if (reader->mapping->header_row < 0)
    return FALSE;
  for (guint i = 0; i < reader->mapping->columns->len; i++)
    if (strcmp (qm_sheet_cell (reader->sheet, row, i),
                qm_sheet_cell (reader->sheet, header, i))
        != 0)
      return FALSE;
  return TRUE;
}

static gboolean
is_on_request (QmCsvReader *reader, guint row)
{
  g_autofree char *price = qm_csv_cell_of (reader, row, QM_CSV_PRICE);
  g_autofree char *total = qm_csv_cell_of (reader, row, QM_CSV_TOTAL);

  return !qm_csv_has_amount (reader, row)
         && ((price != NULL && qm_csv_cell_is_on_request (price))
             || (total != NULL && qm_csv_cell_is_on_request (total)));
}

/* Whether a row tells of a part that the price above contains: it costs
 * nothing, and is set in from the others by a mark or has no number as they
 * have. */
static gboolean
is_free_part (QmCsvReader *reader, guint row, const char *words)
{
  gint64 price = 0, total = 0;
  gboolean priced = qm_csv_cell_has_amount (reader, row, QM_CSV_PRICE, &price);
  gboolean summed = qm_csv_cell_has_amount (reader, row, QM_CSV_TOTAL, &total);
  const QmCsvDraft *draft = qm_csv_last_draft (reader);
  const QmQuoteLine *first = draft != NULL && draft->quote->lines->len > 0
                                 ? g_ptr_array_index (draft->quote->lines, 0)
                                 : NULL;

  if ((!priced && !summed) || price != 0 || total != 0 || words == NULL
      || first == NULL)
    return FALSE;
  if (strchr ("-*>+", words[0]) != NULL || g_str_has_prefix (words, "–")
      || g_str_has_prefix (words, "•") || g_str_has_prefix (words, "·"))
    return TRUE;
  return (first->number != NULL || first->part_number != NULL)
         && qm_csv_cell_is_empty (reader, row, QM_CSV_NUMBER)
         && qm_csv_cell_is_empty (reader, row, QM_CSV_PART_NUMBER);
}

/* Whether a text is one of some characters, and nothing else. */
static gboolean
is_sign (const char *text, const char *signs)
{
  return text[0] != '\0' && *g_utf8_next_char (text) == '\0'
         && g_utf8_strchr (signs, -1, g_utf8_get_char (text)) != NULL;
}

/* What a mark in a column says: 1 yes, 0 no, -1: it is none. */
static int
read_mark (const char *text)
{
  static const char yes[] = QM_WORDS_MARK_YES;
  static const char no[] = QM_WORDS_MARK_NO;
  static GHashTable *yes_set, *no_set;
  g_autofree char *normal = qm_csv_normalize (text);

  if (g_hash_table_contains (qm_csv_phrases_once (&yes_set, yes), normal)
      || is_sign (text, "✓✔☑☒●■×+"))
    return 1;
  return g_hash_table_contains (qm_csv_phrases_once (&no_set, no), normal)
                 || is_sign (text, "-–—☐○□")
             ? 0
             : -1;
}

/* Whether the column of alternatives has marks and no names: "J" and "N" below
 * "Option" are no options of these names. */
gboolean
qm_csv_has_marks (QmCsvReader *reader)
{
  int column = qm_csv_mapping_column (reader->mapping, QM_CSV_ALTERNATIVE);
  guint first = (guint) (reader->mapping->header_row + 1);
  gboolean any = FALSE;

  for (guint i = first; column >= 0 && i < qm_sheet_n_rows (reader->sheet); i++)
    {
      g_autofree char *text = qm_csv_cell_text (reader, i, column);

      if (text == NULL || qm_csv_is_header_again (reader, i))
        continue;
      if (read_mark (text) < 0)
        return FALSE;
      any = TRUE;
    }
  return any;
}

/* A mark in the column of alternatives that is no name of one: "x", "yes". */
static gboolean
is_marked_optional (QmCsvReader *reader, guint row)
{
  g_autofree char *value = qm_csv_cell_of (reader, row, QM_CSV_ALTERNATIVE);

  return value != NULL && read_mark (value) == 1;
}

/* How the words of a line with an amount offer it. */
static QmCsvOffered
offer_of (QmCsvReader *reader, guint row, const char *words)
{
  g_autofree char *name = NULL;
  const char *rest = words;

  if (reader->is_ours || words == NULL || !qm_csv_has_amount (reader, row)
      || (qm_csv_last_draft (reader) != NULL
          && qm_csv_words_break_down (words)))
    return QM_CSV_OFFERED_PLAINLY;
  /* "oder 8x ..." without a word before what it is instead of. */
  if (reader->n_either == 0 && qm_csv_words_say_or (words, FALSE))
    return QM_CSV_OFFERED_INSTEAD;
  name = qm_csv_alternative_parse (words, &rest);
  return qm_csv_words_offer (rest);
}

/* Whether a row is a price for so many pieces or more.
 *
 * what: (out) (optional) (transfer full): what it sells, without the range */
static gboolean
read_tier (QmCsvReader *reader, guint row, int *least, char **what)
{
  g_autofree char *quantity = qm_csv_cell_of (reader, row, QM_CSV_QUANTITY);
  g_autofree char *words = qm_csv_cell_of (reader, row, QM_CSV_DESCRIPTION);
  gsize length = words != NULL ? strlen (words) : 0;
  gboolean is_tier = FALSE;

  if (reader->is_ours || !qm_csv_has_amount (reader, row))
    return FALSE;
  if (quantity != NULL)
    is_tier = qm_csv_tier_parse (quantity, least);
  else if (words != NULL)
    is_tier = qm_csv_tier_find (words, least, &length);
  if (is_tier && what != NULL)
    *what = words != NULL ? g_strndup (words, length) : NULL;
  return is_tier;
}

/* Whether a row is the price of what the last line sells, too, for another
 * number of pieces. */
static gboolean
is_next_tier (QmCsvReader *reader, guint row, const QmCsvDraft *draft)
{
  g_autofree char *what = NULL;
  int least;

  if (draft->tier == NULL || draft->quote->lines->len == 0
      || !read_tier (reader, row, &least, &what))
    return FALSE;
  return what == NULL || strcmp (what, draft->tier) == 0;
}

/* Takes the fewest pieces of a range for the quantity of the last line. */
static void
take_tier (QmCsvReader *reader, QmCsvDraft *draft, guint row, QmQuoteLine *line)
{
  g_autofree char *what = NULL;
  g_autofree char *place = NULL;
  int least;

  if (!read_tier (reader, row, &least, &what))
    {
      g_clear_pointer (&draft->tier, g_free);
      return;
    }
  line->quantity_micros = least * (gint64) QM_MICROS_PER_UNIT;
  if (what == NULL && draft->tier != NULL)
    line->description = g_strdup (draft->tier);
  if (what == NULL || g_strcmp0 (what, draft->tier) == 0)
    return;
  g_free (draft->tier);
  draft->tier = g_steal_pointer (&what);
  place = qm_csv_cell_place (reader, row, -1);
  qm_read_find (draft->quote, QM_FINDING_NOTE, place,
                _ ("The price depends on how many are bought. The first one "
                   "counts, for %d; the others can be had instead."),
                least);
}

/* Whether a line with a price is of no pieces: it can be had besides. */
static gboolean
is_of_none (QmCsvReader *reader, guint row)
{
  gint64 quantity, price, total;

  return !reader->is_ours
         && qm_csv_cell_has_amount (reader, row, QM_CSV_QUANTITY, &quantity)
         && quantity == 0
         && qm_csv_cell_has_amount (reader, row, QM_CSV_PRICE, &price)
         && price > 0
         && (!qm_csv_cell_has_amount (reader, row, QM_CSV_TOTAL, &total)
             || total == 0);
}

static QmLineRole
read_role (QmCsvReader *reader, guint row, const QmCsvDraft *draft)
{
  g_autofree char *word = qm_csv_cell_of (reader, row, QM_CSV_ROLE);
  g_autofree char *words = qm_csv_cell_of (reader, row, QM_CSV_DESCRIPTION);
  const GPtrArray *lines = draft->quote->lines;
  const QmQuoteLine *last =
      lines->len > 0 ? g_ptr_array_index (lines, lines->len - 1) : NULL;
  QmCsvOffered offered;

  for (int i = 0; word != NULL && i < QM_N_LINE_ROLES; i++)
    if (strcmp (word, qm_line_role_name ((QmLineRole) i)) == 0)
      return (QmLineRole) i;
  offered = offer_of (reader, row, words);
  if (offered == QM_CSV_OFFERED_INSTEAD)
    return QM_LINE_ALTERNATIVE;
  if (offered == QM_CSV_OFFERED_BESIDES)
    return QM_LINE_OPTION;
  if (is_marked_optional (reader, row) || is_on_request (reader, row)
      || is_of_none (reader, row))
    return QM_LINE_OPTION;
  if (reader->role != QM_LINE_QUOTED)
    return reader->role;
  if (is_next_tier (reader, row, draft))
    return QM_LINE_ALTERNATIVE;
  if (last == NULL
      || (qm_csv_has_amount (reader, row)
          && !is_free_part (reader, row, words)))
    return QM_LINE_QUOTED;
  return last->role == QM_LINE_QUOTED ? QM_LINE_PART : last->role;
}

static QmLineThing
read_thing (QmCsvReader *reader, guint row)
{
  g_autofree char *word = qm_csv_cell_of (reader, row, QM_CSV_THING);

  for (int i = 0; word != NULL && i < QM_N_THINGS; i++)
    if (strcmp (word, qm_line_thing_name ((QmLineThing) i)) == 0)
      return (QmLineThing) i;
  return QM_THING_UNSTATED;
}

/* Whether a row has but words that name no goods, and an amount. */
static gboolean
is_bare (QmCsvReader *reader, guint row, const QmQuoteLine *line)
{
  return !reader->is_ours && line->description != NULL
         && line->part_number == NULL
         && qm_csv_cell_is_empty (reader, row, QM_CSV_QUANTITY)
         && qm_csv_cell_is_empty (reader, row, QM_CSV_NUMBER)
         && !qm_words_name_goods (line->description);
}

void
qm_csv_read_line (QmCsvReader *reader, QmCsvDraft *draft, guint row)
{
  QmQuoteLine *line = qm_csv_draft_add (draft, read_role (reader, row, draft));
  gint64 charge, base;
  int least;

  line->thing = read_thing (reader, row);
  line->number = qm_csv_cell_of (reader, row, QM_CSV_NUMBER);
  line->part_number = qm_csv_cell_of (reader, row, QM_CSV_PART_NUMBER);
  line->description = qm_csv_cell_of (reader, row, QM_CSV_DESCRIPTION);
  line->unit = qm_csv_cell_of (reader, row, QM_CSV_UNIT);
  if (!read_tier (reader, row, &least, NULL))
    line->quantity_micros = qm_csv_cell_quantity (reader, draft, row, line);
  line->price_micros = qm_csv_cell_amount_of (reader, draft, row, QM_CSV_PRICE);
  line->total_minor = qm_csv_cell_amount_of (reader, draft, row, QM_CSV_TOTAL);
  /* "(1,200.00)" of an option is in no total, and takes nothing off. */
  if (line->role != QM_LINE_QUOTED && line->role != QM_LINE_PART
      && line->total_minor != QM_AMOUNT_UNSTATED && line->price_micros > 0)
    line->total_minor = ABS (line->total_minor);
  if (line->price_micros != QM_AMOUNT_UNSTATED
      && qm_csv_mapping_column (reader->mapping, QM_CSV_QUANTITY) < 0)
    line->quantity_micros = QM_MICROS_PER_UNIT;
  take_tier (reader, draft, row, line);
  base = qm_csv_cell_amount_of (reader, draft, row, QM_CSV_BASE_QUANTITY);
  if (base > 0)
    line->base_quantity_micros = base;
  charge = qm_csv_cell_amount_of (reader, draft, row, QM_CSV_CHARGE);
  if (charge > 0)
    line->charge_minor = charge;
  qm_csv_cell_discount (reader, draft, row, line);
  if (!reader->is_ours && line->description != NULL
      && draft->quote->lines->len > 1
      && qm_csv_words_break_down (line->description))
    qm_csv_draft_set_within (draft);
  if (is_bare (reader, row, line))
    qm_csv_draft_set_bare (draft);
  if (offer_of (reader, row, line->description) == QM_CSV_OFFERED_PERHAPS)
    qm_csv_draft_set_perhaps (draft);
  qm_csv_read_beside (reader, draft, row, line);
  if (is_on_request (reader, row))
    {
      g_autofree char *place = qm_csv_cell_place (reader, row, -1);

      qm_read_find (draft->quote, QM_FINDING_NOTE, place,
                    _ ("The price is to be asked for, so this does not "
                       "count."));
    }
}
