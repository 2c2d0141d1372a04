/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-quote-json.h"

#include "pricing/formats/qm-quote-json-private.h"
#include "pricing/quotes/qm-quote-read.h"

#include <jansson.h>

typedef struct
{
  const QmQuote *quote;
  json_t *object;
} Writer;

static void
put_member (Writer *writer, const char *name, const char *text)
{
  if (text != NULL && text[0] != '\0')
    json_object_set_new (writer->object, name, json_string (text));
}

static void
put_micros (Writer *writer, const char *name, gint64 micros)
{
  g_autofree char *text = NULL;

  if (micros == QM_AMOUNT_UNSTATED)
    return;
  text = qm_micros_to_text (micros, 0);
  put_member (writer, name, text);
}

static void
put_minor (Writer *writer, const char *name, gint64 minor)
{
  g_autofree char *text = NULL;

  if (minor == QM_AMOUNT_UNSTATED)
    return;
  text = qm_minor_to_text (minor, writer->quote->currency);
  put_member (writer, name, text);
}

static void
put_date (Writer *writer, const char *name, QmDate date)
{
  g_autofree char *text = NULL;

  if (date.year == 0)
    return;
  if (date.month == 0)
    text = g_strdup_printf ("%04d", date.year);
  else if (date.day == 0)
    text = g_strdup_printf ("%04d-%02d", date.year, date.month);
  else
    text = qm_read_date_text (date);
  put_member (writer, name, text);
}

static void
put_time (Writer *writer, const char *name, gint64 seconds)
{
  g_autoptr (GDateTime) time = NULL;
  g_autofree char *text = NULL;

  if (seconds <= 0)
    return;
  time = g_date_time_new_from_unix_utc (seconds);
  if (time == NULL)
    return;
  text = g_date_time_format (time, "%Y-%m-%dT%H:%M:%SZ");
  put_member (writer, name, text);
}

static void
put_asks (Writer *writer, const char *name, guint asks)
{
  g_autofree char *text = qm_asks_to_text (asks);

  put_member (writer, name, text);
}

static json_t *
line_to_json (const QmQuote *quote, const QmQuoteLine *line)
{
  Writer writer = { quote, json_object () };

  put_member (&writer, "role", qm_line_role_name (line->role));
  put_member (&writer, "number", line->number);
  put_member (&writer, "part_number", line->part_number);
  put_member (&writer, "description", line->description);
  put_micros (&writer, "quantity", line->quantity_micros);
  put_member (&writer, "unit", line->unit);
  put_micros (&writer, "price", line->price_micros);
  if (line->base_quantity_micros != QM_MICROS_PER_UNIT)
    put_micros (&writer, "base_quantity", line->base_quantity_micros);
  if (line->discount_minor != 0)
    put_minor (&writer, "discount", line->discount_minor);
  if (line->charge_minor != 0)
    put_minor (&writer, "charge", line->charge_minor);
  put_minor (&writer, "total", line->total_minor);
  put_member (&writer, "match", qm_match_state_name (line->match));
  put_member (&writer, "item", line->item);
  if (line->gpus != 0)
    json_object_set_new (writer.object, "gpus", json_integer (line->gpus));
  put_member (&writer, "candidates", line->candidates);
  put_member (&writer, "thing", qm_line_thing_name (line->thing));
  put_asks (&writer, "asked", line->asked);
  put_asks (&writer, "answered", line->answered);
  return writer.object;
}

static json_t *
finding_to_json (const QmFinding *finding)
{
  Writer writer = { NULL, json_object () };

  put_member (&writer, "level", qm_json_finding_levels[finding->level]);
  put_member (&writer, "place", finding->place);
  put_member (&writer, "message", finding->message);
  return writer.object;
}

static void
put_arrays (Writer *writer)
{
  const QmQuote *quote = writer->quote;
  json_t *lines = json_array (), *findings = json_array ();

  for (guint i = 0; i < quote->lines->len; i++)
    json_array_append_new (
        lines, line_to_json (quote, g_ptr_array_index (quote->lines, i)));
  for (guint i = 0; i < quote->findings->len; i++)
    json_array_append_new (
        findings, finding_to_json (g_ptr_array_index (quote->findings, i)));
  json_object_set_new (writer->object, "lines", lines);
  json_object_set_new (writer->object, "findings", findings);
}

static json_t *
quote_to_json (const QmQuote *quote)
{
  Writer writer = { quote, json_object () };

  put_member (&writer, "vendor", quote->vendor);
  put_member (&writer, "number", quote->number);
  put_member (&writer, "alternative", quote->alternative);
  put_member (&writer, "supersedes", quote->supersedes);
  put_member (&writer, "note", quote->note);
  put_member (&writer, "currency", quote->currency);
  put_member (&writer, "kind", qm_price_kind_name (quote->kind));
  put_member (&writer, "unit", qm_price_unit_name (quote->unit));
  put_date (&writer, "issued_on", quote->issued_on);
  put_date (&writer, "valid_from", quote->valid_from);
  put_date (&writer, "valid_until", quote->valid_until);
  if (quote->tax_included != QM_UNSTATED)
    json_object_set_new (writer.object, "tax_included",
                         json_boolean (quote->tax_included == QM_YES));
  put_minor (&writer, "net", quote->net_minor);
  put_minor (&writer, "discount", quote->discount_minor);
  put_minor (&writer, "charge", quote->charge_minor);
  put_minor (&writer, "tax", quote->tax_minor);
  put_minor (&writer, "payable", quote->payable_minor);
  put_member (&writer, "origin", qm_quote_origin_name (quote->origin));
  put_member (&writer, "source", quote->source);
  put_member (&writer, "sha256", quote->sha256);
  put_time (&writer, "read_at", quote->read_at);
  put_asks (&writer, "asked", quote->asked);
  put_asks (&writer, "answered", quote->answered);
  put_arrays (&writer);
  return writer.object;
}

GBytes *
qm_quote_json_write (GPtrArray *quotes)
{
  json_t *root = json_object (), *list = json_array ();
  GString *text;
  char *dump;

  g_return_val_if_fail (quotes != NULL, NULL);

  for (guint i = 0; i < quotes->len; i++)
    json_array_append_new (list, quote_to_json (g_ptr_array_index (quotes, i)));
  json_object_set_new (root, "format", json_string (QM_JSON_FORMAT));
  json_object_set_new (root, "schema", json_integer (QM_JSON_SCHEMA));
  json_object_set_new (root, "quotes", list);
  dump = json_dumps (root, JSON_INDENT (2));
  json_decref (root);
  text = g_string_new (dump != NULL ? dump : "");
  free (dump);
  g_string_append_c (text, '\n');
  return g_string_free_to_bytes (text);
}
