/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-quote-json-private.h"
#include "pricing/formats/qm-quote-json.h"
#include "pricing/quotes/qm-quote-read.h"

#include <glib/gi18n-lib.h>
#include <jansson.h>
#include <string.h>

#define MAX_QUOTES 100000
#define MAX_LINES  20000
#define MAX_GPUS   1024

const char *const qm_json_finding_levels[QM_N_FINDING_LEVELS] = { "note",
                                                                  "warning" };

typedef const char *(*NameFunc) (int value);

/* An object while it is read. */
typedef struct
{
  QmQuote *quote;
  json_t *object;
  guint n_read;
  const char *place; /* "quote 2, line 3" */
  GError *error;     /* the first */
} Reader;

static void
fail_field (Reader *reader, const char *name, const char *message)
{
  if (reader->error == NULL)
    reader->error = g_error_new (QM_READ_ERROR, QM_READ_ERROR_MALFORMED,
                                 "%s, %s: %s", reader->place, name, message);
}

/* The value of a field; NULL where it is absent or null. */
static json_t *
take_field (Reader *reader, const char *name)
{
  json_t *value = json_object_get (reader->object, name);

  if (value == NULL)
    return NULL;
  reader->n_read++;
  return json_is_null (value) ? NULL : value;
}

/* Whether a text is as quotes have it already: it is kept to the byte then. */
static gboolean
is_clean (const char *text)
{
  for (const char *p = text; *p != '\0'; p = g_utf8_next_char (p))
    if (*p != '\n' && g_unichar_iscntrl (g_utf8_get_char (p)))
      return FALSE;
  return strlen (text) <= 4 * QM_READ_MAX_TEXT;
}

static char *
take_text_field (Reader *reader, const char *name)
{
  json_t *value = take_field (reader, name);
  const char *text = json_string_value (value);

  if (value == NULL)
    return NULL;
  if (text == NULL)
    {
      fail_field (reader, name, _ ("is not a string"));
      return NULL;
    }
  if (*text == '\0')
    return NULL;
  return is_clean (text) ? g_strdup (text) : qm_read_text (text);
}

static gint64
take_decimal (Reader *reader, const char *name, int decimals)
{
  json_t *value = take_field (reader, name);
  gint64 amount = QM_AMOUNT_UNSTATED;

  if (value == NULL)
    return QM_AMOUNT_UNSTATED;
  if (!json_is_string (value))
    fail_field (reader, name,
                _ ("is not a string that holds a decimal number"));
  else if (qm_read_decimal (json_string_value (value), decimals, &amount)
           != QM_DECIMAL_EXACT)
    {
      fail_field (reader, name,
                  _ ("is not a decimal number, or has too many digits"));
      return QM_AMOUNT_UNSTATED;
    }
  return amount;
}

static gint64
take_minor (Reader *reader, const char *name)
{
  return take_decimal (reader, name,
                       qm_currency_decimals (reader->quote->currency));
}

static gint64
take_micros (Reader *reader, const char *name)
{
  return take_decimal (reader, name, 6);
}

static QmDate
take_date (Reader *reader, const char *name)
{
  json_t *value = take_field (reader, name);
  QmDate date = { 0 };

  if (value != NULL
      && (!json_is_string (value)
          || !qm_date_parse (json_string_value (value), &date)))
    fail_field (reader, name, _ ("is not a date such as “2026-03-31”"));
  return date;
}

static gint64
take_time (Reader *reader, const char *name)
{
  json_t *value = take_field (reader, name);
  g_autoptr (GDateTime) time = NULL;

  if (value == NULL)
    return 0;
  if (json_is_string (value) && json_string_length (value) == 20)
    time = g_date_time_new_from_iso8601 (json_string_value (value), NULL);
  if (time != NULL && g_date_time_to_unix (time) > 0)
    return g_date_time_to_unix (time);
  fail_field (reader, name, _ ("is not a time such as “2026-03-31T12:00:00Z”"));
  return 0;
}

static const char *
kind_name (int value)
{
  return qm_price_kind_name ((QmPriceKind) value);
}

static const char *
unit_name (int value)
{
  return qm_price_unit_name ((QmPriceUnit) value);
}

static const char *
origin_name (int value)
{
  return qm_quote_origin_name ((QmQuoteOrigin) value);
}

static const char *
role_name (int value)
{
  return qm_line_role_name ((QmLineRole) value);
}

static const char *
match_name (int value)
{
  return qm_match_state_name ((QmMatchState) value);
}

static const char *
thing_name (int value)
{
  return qm_line_thing_name ((QmLineThing) value);
}

static const char *
level_name (int value)
{
  return qm_json_finding_levels[value];
}

/* One of n words; `absent` where there is none. */
static int
take_word (Reader *reader, const char *name, NameFunc word, int n, int absent)
{
  json_t *value = take_field (reader, name);

  if (value == NULL)
    return absent;
  for (int i = 0; i < n; i++)
    if (json_is_string (value)
        && strcmp (json_string_value (value), word (i)) == 0)
      return i;
  fail_field (reader, name, _ ("is not one of the words that it may be"));
  return absent;
}

static QmTristate
take_tristate (Reader *reader, const char *name)
{
  json_t *value = take_field (reader, name);

  if (value == NULL)
    return QM_UNSTATED;
  if (!json_is_boolean (value))
    fail_field (reader, name, _ ("is neither true nor false"));
  return json_is_true (value) ? QM_YES : QM_NO;
}

static int
take_count (Reader *reader, const char *name, int most)
{
  json_t *value = take_field (reader, name);

  if (value == NULL)
    return 0;
  if (json_is_integer (value) && json_integer_value (value) >= 0
      && json_integer_value (value) <= most)
    return (int) json_integer_value (value);
  fail_field (reader, name, _ ("is not a whole number in its range"));
  return 0;
}

/* A set of questions, of which `all` may be asked here. */
static guint
take_asks (Reader *reader, const char *name, guint all)
{
  json_t *value = take_field (reader, name);
  guint asks = 0;

  if (value == NULL)
    return 0;
  if (json_is_string (value)
      && qm_asks_from_text (json_string_value (value), &asks)
      && (asks & ~all) == 0)
    return asks;
  fail_field (reader, name, _ ("is not one of the words that it may be"));
  return 0;
}

static void
take_currency (Reader *reader)
{
  json_t *value = take_field (reader, "currency");

  if (value == NULL)
    return;
  if (!json_is_string (value) || json_string_length (value) != 3
      || !qm_currency_valid (json_string_value (value)))
    fail_field (reader, "currency", _ ("is not a currency code such as “USD”"));
  else
    memcpy (reader->quote->currency, json_string_value (value), 4);
}

static void
take_sha256 (Reader *reader)
{
  char *text = take_text_field (reader, "sha256");

  if (text != NULL
      && (strlen (text) != 64
          || text[strspn (text, "0123456789abcdef")] != '\0'))
    {
      fail_field (reader, "sha256", _ ("is not 64 hexadecimal digits"));
      g_clear_pointer (&text, g_free);
    }
  reader->quote->sha256 = text;
}

/* Whatever nobody asked for. */
static void
report_unknown (Reader *reader, const char *const *known)
{
  const char *name;
  json_t *value;

  if (reader->n_read == json_object_size (reader->object))
    return;
  json_object_foreach (reader->object, name,
                       value) if (!g_strv_contains (known, name))
  {
    g_autofree char *clean = qm_read_text (name);

    qm_read_find (reader->quote, QM_FINDING_WARNING, reader->place,
                  _ ("The field “%s” is not known; it was left out."),
                  clean != NULL ? clean : "");
  }
}

static gint64
or_else (gint64 amount, gint64 absent)
{
  return amount != QM_AMOUNT_UNSTATED ? amount : absent;
}

static void
read_line (Reader *reader)
{
  static const char *const known[] = {
    "role",          "number",     "part_number", "description", "quantity",
    "unit",          "price",      "discount",    "charge",      "total",
    "base_quantity", "candidates", "match",       "item",        "gpus",
    "thing",         "asked",      "answered",    NULL
  };
  QmQuoteLine *line = qm_quote_add_line (
      reader->quote, (QmLineRole) take_word (reader, "role", role_name,
                                             QM_N_LINE_ROLES, QM_LINE_QUOTED));

  line->number = take_text_field (reader, "number");
  line->part_number = take_text_field (reader, "part_number");
  line->description = take_text_field (reader, "description");
  line->quantity_micros = take_micros (reader, "quantity");
  line->unit = take_text_field (reader, "unit");
  line->price_micros = take_micros (reader, "price");
  line->base_quantity_micros =
      or_else (take_micros (reader, "base_quantity"), QM_MICROS_PER_UNIT);
  line->discount_minor = or_else (take_minor (reader, "discount"), 0);
  line->charge_minor = or_else (take_minor (reader, "charge"), 0);
  line->total_minor = take_minor (reader, "total");
  line->match = (QmMatchState) take_word (reader, "match", match_name,
                                          QM_N_MATCHES, QM_MATCH_NONE);
  line->item = take_text_field (reader, "item");
  line->gpus = take_count (reader, "gpus", MAX_GPUS);
  line->candidates = take_text_field (reader, "candidates");
  line->thing = (QmLineThing) take_word (reader, "thing", thing_name,
                                         QM_N_THINGS, QM_THING_UNSTATED);
  line->asked = take_asks (reader, "asked", QM_ASKS_OF_LINE);
  line->answered = take_asks (reader, "answered", QM_ASKS_OF_LINE);
  if (line->base_quantity_micros <= 0)
    fail_field (reader, "base_quantity", _ ("is not above zero"));
  if (line->discount_minor < 0 || line->charge_minor < 0)
    fail_field (reader, "discount", _ ("a discount or charge is negative"));
  report_unknown (reader, known);
}

static void
read_finding (Reader *reader)
{
  int level = take_word (reader, "level", level_name, QM_N_FINDING_LEVELS, 0);
  g_autofree char *place = take_text_field (reader, "place");
  g_autofree char *message = take_text_field (reader, "message");

  if (message == NULL)
    fail_field (reader, "message", _ ("is missing"));
  else
    qm_quote_add_finding (reader->quote, (QmFindingLevel) level, place,
                          message);
}

/* Reads every object of an array. */
static void
read_array (Reader *reader,
            const char *name,
            const char *format,
            void (*read) (Reader *))
{
  json_t *array = take_field (reader, name);
  json_t *object;
  gsize i;

  if (array == NULL)
    return;
  if (!json_is_array (array) || json_array_size (array) > MAX_LINES)
    {
      fail_field (reader, name, _ ("is not an array, or too long"));
      return;
    }
  json_array_foreach (array, i, object)
  {
    g_autofree char *place =
        g_strdup_printf (format, reader->place, (guint) i + 1);
    Reader inner = { reader->quote, object, 0, place, NULL };

    if (!json_is_object (object))
      fail_field (&inner, name, _ ("is not an object"));
    else
      read (&inner);
    if (inner.error != NULL && reader->error == NULL)
      reader->error = g_steal_pointer (&inner.error);
    g_clear_error (&inner.error);
    if (reader->error != NULL)
      return;
  }
}

static void
read_head (Reader *reader)
{
  QmQuote *quote = reader->quote;

  take_currency (reader);
  quote->vendor = take_text_field (reader, "vendor");
  quote->number = take_text_field (reader, "number");
  quote->alternative = take_text_field (reader, "alternative");
  quote->supersedes = take_text_field (reader, "supersedes");
  quote->note = take_text_field (reader, "note");
  quote->kind = (QmPriceKind) take_word (reader, "kind", kind_name,
                                         QM_PRICE_CLOUD + 1, QM_PRICE_QUOTE);
  quote->unit = (QmPriceUnit) take_word (reader, "unit", unit_name,
                                         QM_PRICE_HOUR + 1, QM_PRICE_EACH);
  quote->issued_on = take_date (reader, "issued_on");
  quote->valid_from = take_date (reader, "valid_from");
  quote->valid_until = take_date (reader, "valid_until");
  quote->tax_included = take_tristate (reader, "tax_included");
  quote->net_minor = take_minor (reader, "net");
  quote->discount_minor = take_minor (reader, "discount");
  quote->charge_minor = take_minor (reader, "charge");
  quote->tax_minor = take_minor (reader, "tax");
  quote->payable_minor = take_minor (reader, "payable");
  quote->origin =
      (QmQuoteOrigin) take_word (reader, "origin", origin_name,
                                 QM_N_QUOTE_ORIGINS, QM_QUOTE_FROM_JSON);
  quote->source = take_text_field (reader, "source");
  take_sha256 (reader);
  quote->read_at = take_time (reader, "read_at");
  quote->asked = take_asks (reader, "asked", QM_ASKS_OF_QUOTE);
  quote->answered = take_asks (reader, "answered", QM_ASKS_OF_QUOTE);
}

static QmQuote *
read_quote (json_t *object, guint number, GError **error)
{
  static const char *const known[] = {
    "vendor",      "number",       "note",       "currency", "kind",
    "unit",        "issued_on",    "net",        "discount", "valid_from",
    "valid_until", "tax_included", "charge",     "tax",      "payable",
    "origin",      "source",       "sha256",     "read_at",  "lines",
    "findings",    "alternative",  "supersedes", "asked",    "answered",
    NULL
  };
  g_autoptr (QmQuote) quote = qm_quote_new ();
  g_autofree char *place = g_strdup_printf (_ ("quote %u"), number);
  Reader reader = { quote, object, 0, place, NULL };

  if (!json_is_object (object))
    fail_field (&reader, "quotes", _ ("is not an object"));
  else
    {
      read_head (&reader);
      /* Translators: the place of a line: "quote 2, line 3" */
      read_array (&reader, "lines", _ ("%s, line %u"), read_line);
      read_array (&reader, "findings", _ ("%s, finding %u"), read_finding);
      report_unknown (&reader, known);
    }
  if (reader.error != NULL)
    {
      g_propagate_error (error, reader.error);
      return NULL;
    }
  return g_steal_pointer (&quote);
}

static json_t *
parse_document (const char *data, gsize size, GError **error)
{
  json_error_t problem;
  json_t *root = NULL;

  if (size > QM_READ_MAX_BYTES)
    g_set_error (error, QM_READ_ERROR, QM_READ_ERROR_TOO_LARGE,
                 _ ("The document is larger than %u MiB."),
                 (guint) (QM_READ_MAX_BYTES >> 20));
  else
    {
      root = json_loadb (data, size, JSON_REJECT_DUPLICATES, &problem);
      if (root == NULL)
        {
          g_autofree char *text = qm_read_text (problem.text);

          g_set_error (error, QM_READ_ERROR, QM_READ_ERROR_MALFORMED,
                       _ ("Line %d, column %d is not JSON that can be read: "
                          "%s."),
                       MAX (problem.line, 1), MAX (problem.column, 1),
                       text != NULL ? text : "");
        }
    }
  return root;
}

/* The array of quotes, of a document of this format and schema. */
static json_t *
find_quotes (json_t *root, GError **error)
{
  const char *format = json_string_value (json_object_get (root, "format"));
  json_t *schema = json_object_get (root, "schema");
  json_t *quotes = json_object_get (root, "quotes");

  if (g_strcmp0 (format, QM_JSON_FORMAT) != 0)
    g_set_error (error, QM_READ_ERROR, QM_READ_ERROR_NO_QUOTE,
                 _ ("This is JSON, but not of the format “%s”."),
                 QM_JSON_FORMAT);
  else if (!json_is_integer (schema)
           || json_integer_value (schema) != QM_JSON_SCHEMA)
    g_set_error (error, QM_READ_ERROR, QM_READ_ERROR_KIND,
                 _ ("These quotes were written by another version of the "
                    "program; only schema %d is read."),
                 QM_JSON_SCHEMA);
  else if (!json_is_array (quotes) || json_array_size (quotes) == 0
           || json_array_size (quotes) > MAX_QUOTES)
    g_set_error_literal (error, QM_READ_ERROR, QM_READ_ERROR_NO_QUOTE,
                         _ ("There are no quotes in the document, or too "
                            "many."));
  else
    return quotes;
  return NULL;
}

GPtrArray *
qm_quote_json_read (const char *data, gsize size, GError **error)
{
  g_autoptr (GPtrArray) list =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
  json_t *root, *quotes, *object;
  gboolean good = TRUE;
  gsize i;

  g_return_val_if_fail (data != NULL || size == 0, NULL);

  root = parse_document (data != NULL ? data : "", size, error);
  if (root == NULL)
    return NULL;
  quotes = find_quotes (root, error);
  json_array_foreach (quotes, i, object)
  {
    QmQuote *quote = read_quote (object, (guint) i + 1, error);

    good = quote != NULL;
    if (!good)
      break;
    g_ptr_array_add (list, quote);
  }
  json_decref (root);
  return quotes != NULL && good ? g_steal_pointer (&list) : NULL;
}
