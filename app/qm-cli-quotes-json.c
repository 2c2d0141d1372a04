/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-json.h"
#include "app/qm-cli-quotes-private.h"
#include "pricing/formats/qm-quote-json.h"
#include "pricing/quotes/qm-quote-offer.h"
#include "pricing/quotes/qm-quote-read.h"
#include "pricing/quotes/qm-quote-totals.h"

#include <string.h>

#define COUNTED_IN "USD"

/* What the project's own format leaves out where it is unknown. */
static const char *const quote_keys[] = {
  "vendor",      "number",       "alternative", "supersedes", "note",
  "currency",    "kind",         "unit",        "issued_on",  "valid_from",
  "valid_until", "tax_included", "net",         "discount",   "charge",
  "tax",         "payable",      "origin",      "source",     "sha256",
  "read_at",     "lines",        "asked",       "answered",   "findings"
};
static const char *const line_keys[] = {
  "role",  "number",        "part_number", "description", "quantity", "unit",
  "price", "base_quantity", "discount",    "charge",      "total",    "match",
  "item",  "gpus",          "candidates",  "thing",       "asked",    "answered"
};
static const char *const finding_keys[] = { "level", "place", "message" };

/* The object with all keys, in that order.  Takes `object`. */
static json_t *
with_all_keys (json_t *object, const char *const *keys, guint n)
{
  json_t *whole = json_object ();

  for (guint i = 0; i < n; i++)
    {
      json_t *value = json_object_get (object, keys[i]);

      json_object_set_new (whole, keys[i],
                           value != NULL ? json_incref (value) : json_null ());
    }
  json_decref (object);
  return whole;
}

static void
complete_all (json_t *array, const char *const *keys, guint n)
{
  for (size_t i = 0; i < json_array_size (array); i++)
    json_array_set_new (array, i,
                        with_all_keys (json_incref (json_array_get (array, i)),
                                       keys, n));
}

/* As it is exported; (transfer full). */
static json_t *
exported (const QmQuote *quote)
{
  g_autoptr (GPtrArray) one = g_ptr_array_new ();
  g_autoptr (GBytes) bytes = NULL;
  json_t *root;
  json_t *object;
  gsize size;
  const char *text;

  g_ptr_array_add (one, (gpointer) quote);
  bytes = qm_quote_json_write (one);
  text = g_bytes_get_data (bytes, &size);
  root = json_loadb (text, size, 0, NULL);
  object = json_incref (json_array_get (json_object_get (root, "quotes"), 0));
  json_decref (root);
  object = with_all_keys (object, quote_keys, G_N_ELEMENTS (quote_keys));
  complete_all (json_object_get (object, "lines"), line_keys,
                G_N_ELEMENTS (line_keys));
  complete_all (json_object_get (object, "findings"), finding_keys,
                G_N_ELEMENTS (finding_keys));
  return object;
}

static json_t *
minor_json (gint64 minor, const char *currency)
{
  g_autofree char *text = NULL;

  if (minor == QM_AMOUNT_UNSTATED)
    return json_null ();
  text = qm_minor_to_text (minor, currency);
  return json_string (text);
}

json_t *
qm_cli_rate_json (const QmCrossRate *rate)
{
  g_autofree char *number = NULL;
  json_t *object;

  if (rate->denominator == 0 || strcmp (rate->from, rate->to) == 0)
    return json_null ();
  number = qm_cross_rate_text (rate);
  object = json_object ();
  json_object_set_new (object, "from", json_string (rate->from));
  json_object_set_new (object, "to", json_string (rate->to));
  json_object_set_new (object, "rate", json_string (number));
  json_object_set_new (object, "date", qm_cli_json_date (rate->date));
  json_object_set_new (object, "age_days", json_integer (rate->age_days));
  json_object_set_new (object, "stale", json_boolean (rate->stale));
  return object;
}

/* What it comes to, by our own sum. */
static json_t *
computed_json (const QmQuote *quote)
{
  json_t *object = json_object ();
  QmQuoteTotals totals;
  gint64 net, tax;
  gboolean taxed;

  qm_quote_totals_compute (quote, &totals);
  json_object_set_new (object, "lines",
                       minor_json (totals.lines_minor, quote->currency));
  json_object_set_new (object, "net",
                       minor_json (totals.net_minor, quote->currency));
  json_object_set_new (object, "payable",
                       minor_json (totals.payable_minor, quote->currency));
  qm_quote_come_to (quote, &net, &tax, &taxed);
  json_object_set_new (object, "counts", minor_json (net, quote->currency));
  json_object_set_new (object, "counts_tax", minor_json (tax, quote->currency));
  json_object_set_new (object, "counts_with_tax", json_boolean (taxed));
  return object;
}

json_t *
qm_cli_quote_json (const QmQuote *quote, QmRates *rates, QmDate today)
{
  json_t *object = json_object ();
  json_t *rest = exported (quote);
  gint64 total = qm_cli_quote_total (quote);
  gint64 converted = QM_AMOUNT_UNSTATED;
  QmCrossRate rate = { 0 };

  json_object_set_new (object, "id",
                       quote->id != 0 ? json_integer (quote->id)
                                      : json_null ());
  json_object_update (object, rest);
  json_decref (rest);
  json_object_set_new (object, "holds",
                       json_boolean (qm_cli_quote_holds (quote, today)));
  json_object_set_new (object, "undated",
                       json_boolean (qm_quote_is_undated (quote)));
  json_object_set_new (object, "open_questions",
                       json_integer (qm_quote_n_open (quote)));
  json_object_set_new (object, "computed", computed_json (quote));
  json_object_set_new (object, "total", minor_json (total, quote->currency));
  qm_cli_quote_convert (quote, total, rates, COUNTED_IN, &converted, &rate,
                        NULL);
  json_object_set_new (object, "total_usd", minor_json (converted, COUNTED_IN));
  json_object_set_new (object, "rate", qm_cli_rate_json (&rate));
  return object;
}
