/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/fetch/qm-price-feed-private.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

#define MAX_PAGES  50
#define MAX_PRICES 20000
#define MAX_TEXT   200

/* An hour of whatever machine does not cost more. */
#define MAX_HOUR 1e6

static const struct
{
  const char *seller;
  const char *address;
  const char *body; /* NULL: a GET */
} feeds[QM_N_FEEDS] = {
  [QM_FEED_AZURE] = { "Microsoft Azure",
                      "https://prices.azure.com/api/retail/prices?$filter="
                      "serviceName%20eq%20'Virtual%20Machines'%20and%20"
                      "priceType%20eq%20'Consumption'%20and%20"
                      "armRegionName%20eq%20'eastus'%20and%20("
                      "contains(armSkuName,'Standard_NC')%20or%20"
                      "contains(armSkuName,'Standard_ND')%20or%20"
                      "contains(armSkuName,'Standard_NV'))",
                      NULL },
  [QM_FEED_VAST] = { "Vast.ai", "https://console.vast.ai/api/v0/bundles/",
                     "{\"type\": \"on-demand\", \"rentable\": {\"eq\": true}, "
                     "\"verified\": {\"eq\": true}, \"limit\": 5000}" },
  [QM_FEED_RUNPOD] = { "RunPod", "https://api.runpod.io/graphql",
                       "{\"query\": \"query { gpuTypes { id displayName "
                       "memoryInGb securePrice communityPrice } }\"}" },
};

G_DEFINE_QUARK (qm - feed - error - quark, qm_feed_error)

const char *
qm_feed_address (QmFeed feed)
{
  g_return_val_if_fail (feed < QM_N_FEEDS, NULL);

  return feeds[feed].address;
}

static void
free_price (QmFeedPrice *price)
{
  g_free (price->offer);
  g_free (price->gpu);
  g_free (price->region);
  g_free (price->terms);
  g_free (price);
}

void
qm_feed_page_free (QmFeedPage *page)
{
  if (page == NULL)
    return;
  g_ptr_array_unref (page->prices);
  g_free (page->next);
  g_free (page);
}

const char *
qm_feed_string (json_t *object, const char *key)
{
  json_t *value = json_object_get (object, key);
  const char *text = json_string_value (value);

  if (text == NULL || *text == '\0' || json_string_length (value) > MAX_TEXT
      || strlen (text) != json_string_length (value))
    return NULL;
  for (const char *c = text; *c != '\0'; c = g_utf8_next_char (c))
    if (g_unichar_iscntrl (g_utf8_get_char (c)))
      return NULL;
  return text;
}

gboolean
qm_feed_micros (json_t *object, const char *key, gint64 *micros)
{
  json_t *value = json_object_get (object, key);
  double number = json_number_value (value);

  if (!json_is_number (value) || !(number > 0) || number > MAX_HOUR)
    return FALSE;
  *micros = llround (number * QM_MICROS_PER_UNIT);
  return *micros > 0;
}

gint64
qm_feed_integer (
    json_t *object, const char *key, gint64 low, gint64 high, gint64 otherwise)
{
  json_t *value = json_object_get (object, key);
  double number = json_number_value (value);

  if (!json_is_number (value) || number != floor (number)
      || !(number >= (double) low && number <= (double) high))
    return otherwise;
  return (gint64) number;
}

json_t *
qm_feed_list (json_t *object,
              const char *key,
              const char *name,
              QmFeedPage *page,
              GError **error)
{
  json_t *list = json_object_get (object, key);

  page->rows = (guint) json_array_size (list);
  if (json_is_array (list))
    return list;
  g_set_error (error, QM_FEED_ERROR, QM_FEED_ERROR_FORMAT,
               _ ("%s: there is no list “%s” in the answer"), name, key);
  return NULL;
}

gboolean
qm_feed_denies (json_t *object, const char *key)
{
  return json_is_false (json_object_get (object, key));
}

gboolean
qm_feed_contains (const char *text, const char *part)
{
  gsize length = strlen (part);

  for (; *text != '\0'; text++)
    if (g_ascii_strncasecmp (text, part, length) == 0)
      return TRUE;
  return FALSE;
}

QmFeedPrice *
qm_feed_page_add (QmFeedPage *page,
                  const char *offer,
                  const char *currency,
                  gint64 hour_micros)
{
  QmFeedPrice *price = g_new0 (QmFeedPrice, 1);

  price->offer = g_strdup (offer);
  g_strlcpy (price->currency, currency, sizeof price->currency);
  price->hour_micros = hour_micros;
  price->low_micros = hour_micros;
  price->high_micros = hour_micros;
  price->offers = 1;
  price->gpus = 1;
  g_ptr_array_add (page->prices, price);
  return price;
}

QmFeedPage *
qm_feed_read (QmFeed feed, GBytes *bytes, const char *name, GError **error)
{
  static gboolean (*const readers[QM_N_FEEDS]) (json_t *, const char *,
                                                QmFeedPage *, GError **) = {
    [QM_FEED_AZURE] = qm_feed_read_azure,
    [QM_FEED_VAST] = qm_feed_read_vast,
    [QM_FEED_RUNPOD] = qm_feed_read_runpod,
  };
  g_autoptr (QmFeedPage) page = NULL;
  json_error_t problem;
  json_t *root;
  gsize size;
  const char *text;
  gboolean read;

  g_return_val_if_fail (feed < QM_N_FEEDS && bytes != NULL, NULL);
  g_return_val_if_fail (name != NULL, NULL);

  text = g_bytes_get_data (bytes, &size);
  root = json_loadb (size > 0 ? text : "", size, 0, &problem);
  if (!json_is_object (root))
    {
      if (root != NULL)
        g_set_error (error, QM_FEED_ERROR, QM_FEED_ERROR_FORMAT,
                     _ ("%s: is not an answer of %s"), name,
                     feeds[feed].seller);
      else
        {
          g_autofree char *why = g_utf8_make_valid (problem.text, -1);

          g_set_error (error, QM_FEED_ERROR, QM_FEED_ERROR_FORMAT,
                       _ ("%s, line %d: is not JSON: %s"), name, problem.line,
                       why);
        }
      json_decref (root);
      return NULL;
    }
  page = g_new0 (QmFeedPage, 1);
  page->prices = g_ptr_array_new_with_free_func ((GDestroyNotify) free_price);
  read = readers[feed](root, name, page, error);
  json_decref (root);
  return read ? g_steal_pointer (&page) : NULL;
}

static char *
key_of_feed_price (const QmFeedPrice *price)
{
  return g_strdup_printf ("%s\n%s\n%s\n%s\n%d", price->offer, price->gpu,
                          price->region != NULL ? price->region : "",
                          price->terms != NULL ? price->terms : "",
                          price->gpus);
}

void
qm_feed_page_drop_repeated (QmFeedPage *page)
{
  GPtrArray *prices = page->prices;
  g_autoptr (GHashTable) best =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  gsize n;
  g_autofree gpointer *all = g_ptr_array_steal (prices, &n);

  for (gsize i = 0; i < n; i++)
    {
      const QmFeedPrice *price = all[i];
      g_autofree char *key = key_of_feed_price (price);
      const QmFeedPrice *other = g_hash_table_lookup (best, key);

      if (other == NULL
          || qm_date_compare (price->effective_on, other->effective_on) > 0)
        g_hash_table_insert (best, g_steal_pointer (&key), all[i]);
    }
  for (gsize i = 0; i < n; i++)
    {
      g_autofree char *key = key_of_feed_price (all[i]);

      if (g_hash_table_lookup (best, key) == all[i])
        g_ptr_array_add (prices, all[i]);
      else
        free_price (all[i]);
    }
}

/* Joins the prices of the second page to the first; of the same offer, region
 * and terms only the one that is in effect later stays (pages drift while they
 * are read). */
static void
join_pages (QmFeedPage *page, const QmFeedPage *more)
{
  g_ptr_array_extend_and_steal (page->prices, g_ptr_array_ref (more->prices));
  page->rows += more->rows;
  page->left_out += more->left_out;
  page->broken += more->broken;
  g_free (page->next);
  page->next = g_strdup (more->next);
  qm_feed_page_drop_repeated (page);
}

static QmFeedPage *
fetch_page (QmFeed feed,
            const char *address,
            QmFetcher *fetcher,
            GCancellable *cancellable,
            GError **error)
{
  QmFetchRequest request = { .address = address,
                             .accept = "application/json",
                             .body = feeds[feed].body };
  g_autoptr (QmFetchResult) result =
      qm_fetcher_fetch (fetcher, &request, NULL, NULL, cancellable, error);

  if (result == NULL)
    return NULL;
  return qm_feed_read (feed, result->body, feeds[feed].seller, error);
}

/* A feed goes on where it began: the same host by the same protocol.  Whether
 * the port is written does not matter. */
static gboolean
is_same_place (const char *address, const char *next)
{
  const GUriFlags flags = G_URI_FLAGS_ENCODED | G_URI_FLAGS_SCHEME_NORMALIZE;
  g_autoptr (GUri) a = g_uri_parse (address, flags, NULL);
  g_autoptr (GUri) b = g_uri_parse (next, flags, NULL);

  return a != NULL && b != NULL && g_uri_get_host (a) != NULL
         && g_uri_get_host (b) != NULL
         && g_strcmp0 (g_uri_get_scheme (a), g_uri_get_scheme (b)) == 0
         && g_ascii_strcasecmp (g_uri_get_host (a), g_uri_get_host (b)) == 0
         && g_uri_get_port (a) == g_uri_get_port (b);
}

/* Blanks that stand in links of the feed itself. */
static char *
tidy_link (const char *link)
{
  g_auto (GStrv) parts = g_strsplit (link, " ", -1);

  return g_strjoinv ("%20", parts);
}

static gboolean
fetch_rest (QmFeed feed,
            const char *first,
            QmFeedPage *page,
            QmFetcher *fetcher,
            GCancellable *cancellable,
            GError **error)
{
  g_autoptr (GHashTable) seen =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  while (page->next != NULL)
    {
      g_autofree char *address = tidy_link (page->next);
      g_autoptr (QmFeedPage) more = NULL;

      if (!is_same_place (first, address)
          || !g_hash_table_add (seen, g_strdup (address))
          || g_hash_table_size (seen) >= MAX_PAGES
          || page->prices->len > MAX_PRICES)
        {
          g_set_error (error, QM_FEED_ERROR, QM_FEED_ERROR_PAGING,
                       _ ("%s: the list goes on elsewhere or without end"),
                       feeds[feed].seller);
          return FALSE;
        }
      more = fetch_page (feed, address, fetcher, cancellable, error);
      if (more == NULL)
        return FALSE;
      join_pages (page, more);
    }
  return TRUE;
}

QmFeedPage *
qm_feed_fetch (QmFeed feed,
               const char *address,
               QmFetcher *fetcher,
               GCancellable *cancellable,
               GError **error)
{
  g_autoptr (QmFeedPage) page = NULL;

  g_return_val_if_fail (feed < QM_N_FEEDS && fetcher != NULL, NULL);

  if (address == NULL)
    address = feeds[feed].address;
  page = fetch_page (feed, address, fetcher, cancellable, error);
  if (page == NULL
      || !fetch_rest (feed, address, page, fetcher, cancellable, error))
    return NULL;
  if (page->prices->len == 0)
    {
      g_set_error (error, QM_FEED_ERROR, QM_FEED_ERROR_EMPTY,
                   _ ("%s: there are no prices in the answer"),
                   feeds[feed].seller);
      return NULL;
    }
  return g_steal_pointer (&page);
}

static void
add_feed_line (QmQuote *quote, const QmFeedPrice *price)
{
  QmQuoteLine *line = qm_quote_add_line (quote, QM_LINE_QUOTED);
  g_autoptr (GString) words = g_string_new (NULL);

  if (price->gpus > 1)
    g_string_append_printf (words, "%dx ", price->gpus);
  g_string_append (words, price->gpu);
  if (price->region != NULL)
    g_string_append_printf (words, ", %s", price->region);
  if (price->terms != NULL)
    g_string_append_printf (words, ", %s", price->terms);
  line->description = g_string_free (g_steal_pointer (&words), FALSE);
  line->part_number = g_strdup (price->offer);
  line->unit = g_strdup ("HUR"); /* an hour, UN/ECE recommendation 20 */
  line->quantity_micros = QM_MICROS_PER_UNIT;
  line->price_micros = price->hour_micros;
  line->base_quantity_micros = QM_MICROS_PER_UNIT;
  line->gpus = price->gpus;
}

QmQuote *
qm_feed_page_to_quote (const QmFeedPage *page,
                       QmFeed feed,
                       const char *source,
                       QmDate read_on,
                       GError **error)
{
  g_autoptr (QmQuote) quote = qm_quote_new ();

  g_return_val_if_fail (page != NULL && feed < QM_N_FEEDS, NULL);

  quote->vendor = g_strdup (feeds[feed].seller);
  quote->kind = QM_PRICE_CLOUD;
  quote->unit = QM_PRICE_HOUR;
  quote->origin = QM_QUOTE_FROM_PAGE;
  quote->issued_on = read_on;
  quote->source = g_strdup (source);
  quote->read_at = g_get_real_time () / G_USEC_PER_SEC;
  for (guint i = 0; i < page->prices->len; i++)
    {
      const QmFeedPrice *price = g_ptr_array_index (page->prices, i);

      if (i == 0)
        memcpy (quote->currency, price->currency, sizeof quote->currency);
      else if (strcmp (quote->currency, price->currency) != 0)
        {
          g_set_error (error, QM_FEED_ERROR, QM_FEED_ERROR_FORMAT,
                       _ ("%s: prices are in %s and %s"), feeds[feed].seller,
                       quote->currency, price->currency);
          return NULL;
        }
      add_feed_line (quote, price);
    }
  if (page->broken > 0)
    {
      g_autofree char *message = g_strdup_printf (
          g_dngettext (GETTEXT_PACKAGE, "%u row makes no sense and is left out",
                       "%u rows make no sense and are left out", page->broken),
          page->broken);

      qm_quote_add_finding (quote, QM_FINDING_WARNING, NULL, message);
    }
  return g_steal_pointer (&quote);
}
