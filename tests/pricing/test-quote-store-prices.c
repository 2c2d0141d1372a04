/* SPDX-License-Identifier: Apache-2.0 */

/* Exchange rates, price history and watched pages. */

#include "pricing/quotes/qm-quote-store-prices.h"
#include "random-quote.h"
#include "stored.h"

#include <string.h>

static QmQuoteStore *
open_store (void)
{
  g_autoptr (GError) error = NULL;
  QmQuoteStore *store = qm_quote_store_open (QM_QUOTE_STORE_IN_MEMORY, &error);

  g_assert_no_error (error);
  return store;
}

static QmRates *
make_rates (const QmRate *rates, gsize n)
{
  g_autoptr (GError) error = NULL;
  QmRates *table = qm_rates_new (rates, n, &error);

  g_assert_no_error (error);
  return table;
}

static void
test_rates (void)
{
  const QmRate old[] = { { "USD", { 2026, 3, 2 }, 1084000000 },
                         { "USD", { 2026, 3, 3 }, 1085500000 },
                         { "JPY", { 2026, 3, 2 }, 162350000000 } };
  const QmRate new[] = { { "USD", { 2026, 3, 3 }, 1085600000 },
                         { "USD", { 2026, 3, 4 }, 1 },
                         { "JPY", { 2026, 3, 2 }, 162350000000 } };
  g_autoptr (QmQuoteStore) store = open_store ();
  g_autoptr (QmRates) first = make_rates (old, G_N_ELEMENTS (old));
  g_autoptr (QmRates) second = make_rates (new, G_N_ELEMENTS (new));
  g_autoptr (QmRates) none = qm_quote_store_get_rates (store, NULL);
  g_autoptr (QmRates) all = NULL;
  g_autoptr (QmRates) merged = qm_rates_merge (first, second);
  g_autofree char *kept = NULL;
  g_autofree char *replaced = NULL;
  const QmRate *is, *should;
  gsize n, n_expected;

  qm_rates_list (none, &n);
  g_assert_cmpuint (n, ==, 0);
  g_assert_true (qm_quote_store_put_rates (store, first, "old.xml", NULL));
  g_assert_true (qm_quote_store_put_rates (store, second, "new.xml", NULL));
  all = qm_quote_store_get_rates (store, NULL);
  is = qm_rates_list (all, &n);
  should = qm_rates_list (merged, &n_expected);
  g_assert_cmpuint (n, ==, n_expected);
  for (gsize i = 0; i < n; i++)
    {
      g_assert_cmpstr (is[i].currency, ==, should[i].currency);
      g_assert_cmpint (is[i].nanos, ==, should[i].nanos);
      g_assert_cmpint (qm_date_compare (is[i].date, should[i].date), ==, 0);
    }
  kept =
      qm_quote_store_rate_source (store, "JPY", (QmDate){ 2026, 3, 2 }, NULL);
  replaced =
      qm_quote_store_rate_source (store, "USD", (QmDate){ 2026, 3, 3 }, NULL);
  g_assert_cmpstr (kept, ==, "old.xml");
  g_assert_cmpstr (replaced, ==, "new.xml");
  g_assert_null (
      qm_quote_store_rate_source (store, "CHF", (QmDate){ 2026, 3, 3 }, NULL));
}

static gboolean
put (QmQuoteStore *store,
     const char *item,
     QmDate date,
     gint64 micros,
     GError **error)
{
  g_autoptr (GPtrArray) points = g_ptr_array_new ();
  QmPricePoint point = { .item = (char *) item,
                         .kind = QM_PRICE_STREET,
                         .unit = QM_PRICE_EACH,
                         .gpus = 1,
                         .date = date,
                         .micros = micros,
                         .currency = "USD",
                         .tax_included = QM_UNSTATED,
                         .source = (char *) "https://shop.example/h100" };

  g_ptr_array_add (points, &point);
  return qm_quote_store_put_prices (store, points, error);
}

/* Adds a quote with one line of an item, at `price` for `base` pieces. */
static gint64
quote_item (QmQuoteStore *store,
            QmDate issued,
            QmLineRole role,
            gint64 price,
            gint64 base)
{
  g_autoptr (QmQuote) quote = qm_quote_new ();
  QmQuoteLine *line = qm_quote_add_line (quote, role);

  quote->vendor = g_strdup ("Delta");
  quote->issued_on = issued;
  quote->read_at = 1773100800; /* 2026-03-10 */
  strcpy (quote->currency, "EUR");
  line->item = g_strdup ("h100");
  line->price_micros = price;
  line->base_quantity_micros = base;
  return add_quote (store, quote, NULL, NULL, NULL);
}

static void
test_history (void)
{
  g_autoptr (QmQuoteStore) store = open_store ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) points = NULL;
  g_autoptr (GPtrArray) seen = NULL;
  const QmPricePoint *point;
  gint64 kept, deleted;
  guint without_item = 0;

  g_assert_true (put (store, "h100", (QmDate){ 2026, 3, 5 }, 5, NULL));
  g_assert_true (put (store, "h100", (QmDate){ 2026, 3, 5 }, 6, NULL));
  g_assert_true (put (store, NULL, (QmDate){ 2026, 3, 6 }, 7, NULL));
  g_assert_true (put (store, "h200", (QmDate){ 2026, 3, 6 }, 8, NULL));
  kept = quote_item (store, (QmDate){ 2026, 3, 1 }, QM_LINE_QUOTED, 100000000,
                     3000000);
  quote_item (store, (QmDate){ 0 }, QM_LINE_QUOTED, 9000000, 1000000);
  quote_item (store, (QmDate){ 2026 }, QM_LINE_SUBSTITUTE, 1, 1000000);
  quote_item (store, (QmDate){ 2026 }, QM_LINE_QUOTED, QM_AMOUNT_UNSTATED,
              1000000);
  quote_item (store, (QmDate){ 2026 }, QM_LINE_QUOTED, 1, 0);
  quote_item (store, (QmDate){ 2026 }, QM_LINE_QUOTED, G_MAXINT64, 1);
  deleted = quote_item (store, (QmDate){ 2026 }, QM_LINE_QUOTED, 1, 1000000);
  g_assert_true (qm_quote_store_delete (store, deleted, NULL));

  points = qm_quote_store_price_history (store, NULL, "h100", &error);
  g_assert_no_error (error);
  g_assert_cmpuint (points->len, ==, 3);
  point = g_ptr_array_index (points, 0);
  g_assert_cmpint (point->quote, ==, kept);
  g_assert_cmpint (point->micros, ==, 33333333);
  g_assert_cmpstr (point->vendor, ==, "Delta");
  g_assert_cmpstr (point->currency, ==, "EUR");
  point = g_ptr_array_index (points, 1);
  g_assert_cmpint (point->quote, ==, 0);
  g_assert_cmpint (point->micros, ==, 6);
  g_assert_cmpint (point->kind, ==, QM_PRICE_STREET);
  point = g_ptr_array_index (points, 2);
  g_assert_cmpint (point->date.day, ==, 10);

  seen = qm_quote_store_price_history_of_source (store,
                                                 "https://shop.example/h100",
                                                 NULL);
  g_assert_cmpuint (seen->len, ==, 3);
  for (guint i = 0; i < seen->len; i++)
    {
      point = g_ptr_array_index (seen, i);
      without_item += point->item == NULL;
    }
  g_assert_cmpuint (without_item, ==, 1);
}

static void
test_invalid_prices (void)
{
  g_autoptr (QmQuoteStore) store = open_store ();
  g_autoptr (GError) error = NULL;

  g_assert_false (put (store, "h100", (QmDate){ 0 }, 5, &error));
  g_assert_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_false (put (store, "h100", (QmDate){ 2026 }, -1, &error));
  g_assert_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_false (put (store, "\xff", (QmDate){ 2026 }, 1, &error));
  g_assert_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_INVALID);
}

/* All or none. */
static void
test_many_prices (void)
{
  g_autoptr (QmQuoteStore) store = open_store ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) points = g_ptr_array_new ();
  QmPricePoint some[3] = { 0 };

  for (int i = 0; i < 3; i++)
    {
      some[i] = (QmPricePoint){ .item = (char *) "h100",
                                .kind = QM_PRICE_CLOUD,
                                .unit = QM_PRICE_HOUR,
                                .date = { 2026, 11, 1 + i },
                                .currency = "USD",
                                .source = (char *) "feed" };
      g_ptr_array_add (points, &some[i]);
    }
  for (int round = 0; round < 2; round++)
    {
      g_autoptr (GPtrArray) history = NULL;

      some[2].micros = round == 0 ? -1 : 1;
      g_assert_cmpint (qm_quote_store_put_prices (store, points, &error), ==,
                       round == 1);
      g_clear_error (&error);
      history = qm_quote_store_price_history (store, NULL, "h100", NULL);
      g_assert_cmpuint (history->len, ==, round == 0 ? 0 : 3);
    }
}

static void
assert_watched_equal (const QmWatched *a, const QmWatched *b)
{
  g_assert_cmpstr (a->address, ==, b->address);
  g_assert_cmpstr (a->title, ==, b->title);
  g_assert_cmpstr (a->item, ==, b->item);
  g_assert_cmpint (a->last_micros, ==, b->last_micros);
  g_assert_cmpstr (a->last_currency, ==, b->last_currency);
  g_assert_cmpint (qm_date_compare (a->last_date, b->last_date), ==, 0);
  g_assert_cmpstr (a->etag, ==, b->etag);
  g_assert_cmpstr (a->last_modified, ==, b->last_modified);
  g_assert_cmpint (a->tried_at, ==, b->tried_at);
  g_assert_cmpstr (a->error, ==, b->error);
  g_assert_cmpint (a->error_at, ==, b->error_at);
}

static void
test_watched (void)
{
  static const char address[] = "https://shop.example/h100?a=1&b='%_\"";
  g_autoptr (QmQuoteStore) store = open_store ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QmWatched) watched = qm_watched_new (address);
  g_autoptr (QmWatched) other = qm_watched_new ("https://b.example/");
  g_autoptr (QmWatched) first = NULL;
  g_autoptr (QmWatched) second = NULL;
  g_autoptr (GPtrArray) all = NULL;
  g_autoptr (GPtrArray) seen = NULL;
  QmPricePoint point = { .date = { 2026, 11, 21 },
                         .micros = 25000000000,
                         .currency = "EUR",
                         .kind = QM_PRICE_STREET,
                         .source = (char *) address };
  gint64 id;

  id = qm_quote_store_put_watched (store, watched, NULL, &error);
  g_assert_cmpint (id, >, 0);
  g_assert_cmpint (qm_quote_store_put_watched (store, other, NULL, NULL), >,
                   id);
  first = qm_quote_store_get_watched (store, address, &error);
  assert_watched_equal (first, watched);
  g_assert_cmpint (first->id, ==, id);

  watched->title = g_strdup ("H100");
  watched->item = g_strdup ("h100-80gb-pcie");
  watched->last_micros = point.micros;
  strcpy (watched->last_currency, "EUR");
  watched->last_date = point.date;
  watched->etag = g_strdup ("W/\"1\"");
  watched->last_modified = g_strdup ("Sat, 21 Nov 2026 10:00:00 GMT");
  watched->tried_at = 1795255200;
  watched->error = g_strdup ("shop.example does not answer");
  watched->error_at = 1795255201;
  g_assert_cmpint (qm_quote_store_put_watched (store, watched, &point, NULL),
                   ==, id);
  second = qm_quote_store_get_watched (store, address, NULL);
  assert_watched_equal (second, watched);
  all = qm_quote_store_watched (store, NULL);
  g_assert_cmpuint (all->len, ==, 2);
  assert_watched_equal (g_ptr_array_index (all, 0), watched);

  g_assert_true (qm_quote_store_remove_watched (store, address, NULL));
  g_assert_false (qm_quote_store_remove_watched (store, address, &error));
  g_assert_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_NOT_FOUND);
  g_clear_error (&error);
  g_assert_null (qm_quote_store_get_watched (store, address, &error));
  g_assert_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_NOT_FOUND);
  seen = qm_quote_store_price_history_of_source (store, address, NULL);
  g_assert_cmpuint (seen->len, ==, 1);
}

/* Where the price is not stored, nor is what is known of the page. */
static void
test_watched_whole (void)
{
  g_autoptr (QmQuoteStore) store = open_store ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QmWatched) watched = qm_watched_new ("https://a.example/");
  g_autoptr (GPtrArray) all = NULL;
  QmPricePoint point = { .micros = 1 };

  g_assert_cmpint (qm_quote_store_put_watched (store, watched, &point, &error),
                   ==, 0);
  g_assert_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_INVALID);
  all = qm_quote_store_watched (store, NULL);
  g_assert_cmpuint (all->len, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/quote-store-prices/rates", test_rates);
  g_test_add_func ("/quote-store-prices/history", test_history);
  g_test_add_func ("/quote-store-prices/invalid", test_invalid_prices);
  g_test_add_func ("/quote-store-prices/many", test_many_prices);
  g_test_add_func ("/quote-store-prices/watched", test_watched);
  g_test_add_func ("/quote-store-prices/watched-whole", test_watched_whole);
  return g_test_run ();
}
