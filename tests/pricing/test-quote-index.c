/* SPDX-License-Identifier: Apache-2.0 */

/* Lists are what a slow look through all quotes finds. */

#include "pricing/quotes/qm-quote-index.h"
#include "pricing/quotes/qm-quote-store-private.h"
#include "pricing/quotes/qm-quote-totals.h"
#include "pricing/quotes/qm-search-text.h"
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

static QmQuoteIndex *
read_index (QmQuoteStore *store)
{
  g_autoptr (GError) error = NULL;
  QmQuoteIndex *index = qm_quote_index_new (store, NULL, &error);

  g_assert_no_error (error);
  return index;
}

static gint64
add (QmQuoteStore *store, const QmQuote *quote)
{
  gint64 id = add_quote (store, quote, NULL, NULL, NULL);

  g_assert_cmpint (id, >, 0);
  return id;
}

static gint64
add_vendor (QmQuoteStore *store, const char *vendor, const char *description)
{
  g_autoptr (QmQuote) quote = qm_quote_new ();

  quote->vendor = g_strdup (vendor);
  if (description != NULL)
    qm_quote_add_line (quote, QM_LINE_QUOTED)->description =
        g_strdup (description);
  return add (store, quote);
}

static guint
count_quotes (QmQuoteIndex *index, const char *search)
{
  QmQuoteFilter filter = { .search = search };
  guint n;
  g_autoptr (GPtrArray) rows =
      qm_quote_index_quotes (index, &filter, QM_QUOTE_SORT_ADDED, FALSE, 0,
                             G_MAXUINT, &n);

  g_assert_cmpuint (rows->len, ==, n);
  return n;
}

static void
test_empty (void)
{
  g_autoptr (QmQuoteStore) store = open_store ();
  g_autoptr (QmQuoteIndex) index = read_index (store);

  g_assert_cmpuint (count_quotes (index, NULL), ==, 0);
  g_assert_cmpuint (count_quotes (index, "a"), ==, 0);
  g_assert_cmpuint (count_quotes (index, "a b"), ==, 0);
  g_assert_null (qm_quote_index_get (index, 1));
}

static void
test_search (void)
{
  g_autoptr (QmQuoteStore) store = open_store ();
  g_autoptr (QmQuoteIndex) index = NULL;

  add_vendor (store, "Königsweg GmbH", "NVIDIA H100\n80 GB, 50 % off");
  add_vendor (store, "STRASSE & Söhne", "A100 \"bulk\" it's a_b*c");
  add_vendor (store, "Delta", NULL);
  add_vendor (store, NULL, "100\\% ④ (x) [y] --; DROP TABLE lines");
  index = read_index (store);

  g_assert_cmpuint (count_quotes (index, NULL), ==, 4);
  g_assert_cmpuint (count_quotes (index, "  "), ==, 4);
  g_assert_cmpuint (count_quotes (index, "konigs"), ==, 1);
  g_assert_cmpuint (count_quotes (index, "KÖNIGSWEG"), ==, 1);
  g_assert_cmpuint (count_quotes (index, "straße"), ==, 1);
  g_assert_cmpuint (count_quotes (index, "100"), ==, 3);
  g_assert_cmpuint (count_quotes (index, "100 a"), ==, 3);
  g_assert_cmpuint (count_quotes (index, "weg h100"), ==, 1);
  g_assert_cmpuint (count_quotes (index, "h100 80"), ==, 1);
  g_assert_cmpuint (count_quotes (index, "delta h100"), ==, 0);
  /* None of these is anything but itself. */
  g_assert_cmpuint (count_quotes (index, "%"), ==, 2);
  g_assert_cmpuint (count_quotes (index, "_"), ==, 1);
  g_assert_cmpuint (count_quotes (index, "a_b"), ==, 1);
  g_assert_cmpuint (count_quotes (index, "*"), ==, 1);
  g_assert_cmpuint (count_quotes (index, "\""), ==, 1);
  g_assert_cmpuint (count_quotes (index, "\"bulk\""), ==, 1);
  g_assert_cmpuint (count_quotes (index, "'"), ==, 1);
  g_assert_cmpuint (count_quotes (index, "\\"), ==, 1);
  g_assert_cmpuint (count_quotes (index, "(x) [y]"), ==, 1);
  g_assert_cmpuint (count_quotes (index, "-- ; OR 1=1"), ==, 0);
  g_assert_cmpuint (count_quotes (index, "\xff\xfe"), ==, 0);
  g_assert_cmpuint (count_quotes (index, "4"), ==, 1);
}

/* Whether all words are in one of the texts, the slow way. */
static gboolean
slow_match (char **words, GPtrArray *texts)
{
  for (guint w = 0; words[w] != NULL; w++)
    {
      gboolean found = FALSE;

      for (guint i = 0; i < texts->len && !found; i++)
        found = strstr (g_ptr_array_index (texts, i), words[w]) != NULL;
      if (!found)
        return FALSE;
    }
  return TRUE;
}

static void
push_text (GPtrArray *texts, const char *text)
{
  g_autofree char *limited = NULL;

  if (text == NULL)
    return;
  /* No text of random_quote() that is cut has anything else at its end. */
  limited = g_strndup (text, QM_QUOTE_INDEX_MAX_TEXT);
  g_ptr_array_add (texts, qm_search_text_fold (limited));
}

static void
push_line (GPtrArray *texts, const QmQuoteLine *line)
{
  push_text (texts, line->description);
  push_text (texts, line->part_number);
  push_text (texts, line->item);
  push_text (texts, line->candidates);
}

static void
push_head (GPtrArray *texts, const QmQuote *quote)
{
  push_text (texts, quote->vendor);
  push_text (texts, quote->number);
  push_text (texts, quote->alternative);
  push_text (texts, quote->note);
  push_text (texts, quote->source);
}

/* Whether the quote or its lines have all words. */
static gboolean
slow_find (const QmQuote *quote, char **words)
{
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);

  push_head (texts, quote);
  for (guint i = 0; i < quote->lines->len; i++)
    push_line (texts, g_ptr_array_index (quote->lines, i));
  return slow_match (words, texts);
}

static void
test_against_slow_search (void)
{
  static const char *const searches[] = {
    "text",      "H100",      "text 1",   "nvidia 80gb",      "drop table",
    "königsweg", "xxx",       "line two", "it's %",           "テスト",
    "1 2 3",     "a e i o u", "no such",  "\xf0\x9f\x96\xa5",
  };
  g_autoptr (QmQuoteStore) store = open_store ();
  g_autoptr (GPtrArray) quotes =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
  g_autoptr (QmQuoteIndex) index = NULL;

  for (guint32 seed = 0; seed < 150; seed++)
    {
      g_ptr_array_add (quotes, random_quote (seed));
      add (store, g_ptr_array_index (quotes, seed));
    }
  index = read_index (store);
  for (guint s = 0; s < G_N_ELEMENTS (searches); s++)
    {
      g_auto (GStrv) words = qm_search_text_words (searches[s]);
      guint n = 0;

      for (guint i = 0; i < quotes->len; i++)
        n += slow_find (g_ptr_array_index (quotes, i), words);
      g_assert_cmpuint (count_quotes (index, searches[s]), ==, n);
    }
}

static void
test_rows (void)
{
  g_autoptr (QmQuoteStore) store = open_store ();
  g_autoptr (QmQuote) quote = plausible_quote (3, 5);
  g_autoptr (QmQuoteIndex) index = NULL;
  const QmQuoteRow *row;
  QmQuoteTotals totals;
  gint64 id;

  quote->payable_minor = QM_AMOUNT_UNSTATED;
  quote->tax_minor = 500;
  qm_quote_add_finding (quote, QM_FINDING_WARNING, NULL, "w");
  qm_quote_add_finding (quote, QM_FINDING_NOTE, NULL, "n");
  add_vendor (store, "before", NULL);
  id = add (store, quote);
  add_vendor (store, "after", NULL);
  index = read_index (store);
  row = qm_quote_index_get (index, id);
  qm_quote_totals_compute (quote, &totals);
  g_assert_cmpstr (row->vendor, ==, quote->vendor);
  g_assert_cmpstr (row->number, ==, quote->number);
  g_assert_cmpstr (row->currency, ==, quote->currency);
  g_assert_cmpint (row->payable_minor, ==, QM_AMOUNT_UNSTATED);
  g_assert_cmpint (row->total_minor, ==, totals.payable_minor);
  g_assert_cmpint (row->total_minor, ==, quote->net_minor + 500);
  g_assert_cmpuint (row->n_lines, ==, 5);
  g_assert_cmpuint (row->n_warnings, ==, 1);
  for (guint i = 0; i < 5; i++)
    {
      const QmQuoteLine *line = g_ptr_array_index (quote->lines, i);

      g_assert_true (line->item == NULL
                     || strstr (row->items, line->item) != NULL);
    }
}

static void
assert_order_of (QmQuoteIndex *index,
                 const QmQuoteFilter *filter,
                 QmQuoteSort sort,
                 gboolean descending,
                 const char *expected)
{
  g_autoptr (GPtrArray) rows =
      qm_quote_index_quotes (index, filter, sort, descending, 0, G_MAXUINT,
                             NULL);
  g_autoptr (GString) order = g_string_new (NULL);

  for (guint i = 0; i < rows->len; i++)
    g_string_append_printf (
        order, "%d", (int) ((QmQuoteRow *) g_ptr_array_index (rows, i))->id);
  g_assert_cmpstr (order->str, ==, expected);
}

static void
assert_order (QmQuoteIndex *index,
              QmQuoteSort sort,
              gboolean descending,
              const char *expected)
{
  QmQuoteFilter filter = { 0 };

  assert_order_of (index, &filter, sort, descending, expected);
}

static void
test_sorting (void)
{
  static const struct
  {
    const char *vendor;
    const char *currency;
    gint64 payable;
    QmDate issued;
  } quotes[] = {
    { "beta", "USD", 500, { 2026, 5, 1 } },
    { "Alpha", "USD", -7, { 2026, 5, 0 } },
    { NULL, "EUR", 900, { 0, 0, 0 } },
    { "Änder", "USD", QM_AMOUNT_UNSTATED, { 2025, 0, 0 } },
    { "beta", "USD", 500, { 2026, 4, 30 } },
  };
  g_autoptr (QmQuoteStore) store = open_store ();
  g_autoptr (QmQuoteIndex) index = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (quotes); i++)
    {
      g_autoptr (QmQuote) quote = qm_quote_new ();

      quote->vendor = g_strdup (quotes[i].vendor);
      strcpy (quote->currency, quotes[i].currency);
      quote->payable_minor = quotes[i].payable;
      quote->issued_on = quotes[i].issued;
      add (store, quote);
    }
  index = read_index (store);
  assert_order (index, QM_QUOTE_SORT_ADDED, FALSE, "12345");
  assert_order (index, QM_QUOTE_SORT_ADDED, TRUE, "54321");
  assert_order (index, QM_QUOTE_SORT_VENDOR, FALSE, "24513");
  assert_order (index, QM_QUOTE_SORT_VENDOR, TRUE, "51423");
  assert_order (index, QM_QUOTE_SORT_TOTAL, FALSE, "32514");
  assert_order (index, QM_QUOTE_SORT_TOTAL, TRUE, "51234");
  assert_order (index, QM_QUOTE_SORT_ISSUED, FALSE, "45213");
  assert_order (index, QM_QUOTE_SORT_ISSUED, TRUE, "12543");
  assert_order (index, QM_QUOTE_SORT_LINES, FALSE, "54321");
}

/* All pages together are the list, for every order. */
static void
test_paging (void)
{
  g_autoptr (QmQuoteStore) store = open_store ();
  g_autoptr (QmQuoteIndex) index = NULL;
  QmQuoteFilter filter = { .search = "e" };

  for (guint32 seed = 0; seed < 160; seed++)
    {
      g_autoptr (QmQuote) quote = plausible_quote (seed, 1);

      add (store, quote);
    }
  index = read_index (store);
  for (int sort = 0; sort < QM_N_QUOTE_SORTS; sort++)
    {
      guint n_all, n;
      g_autoptr (GPtrArray) all =
          qm_quote_index_quotes (index, &filter, (QmQuoteSort) sort, sort % 2,
                                 0, G_MAXUINT, &n_all);

      g_assert_cmpuint (all->len, ==, 160);
      for (guint offset = 0; offset < 200; offset += 7)
        {
          g_autoptr (GPtrArray) page =
              qm_quote_index_quotes (index, &filter, (QmQuoteSort) sort,
                                     sort % 2, offset, 7, &n);

          g_assert_cmpuint (n, ==, n_all);
          g_assert_cmpuint (page->len, ==,
                            offset >= 160 ? 0 : MIN (7, 160 - offset));
          for (guint i = 0; i < page->len; i++)
            g_assert_true (g_ptr_array_index (page, i)
                           == g_ptr_array_index (all, offset + i));
        }
    }
}

/* Adds a quote of one H100. */
static gint64
add_offer (QmQuoteStore *store, QmDate issued, QmDate from, QmDate until)
{
  g_autoptr (QmQuote) quote = qm_quote_new ();
  QmQuoteLine *line = qm_quote_add_line (quote, QM_LINE_QUOTED);

  quote->issued_on = issued;
  quote->valid_from = from;
  quote->valid_until = until;
  quote->read_at = 1;
  strcpy (quote->currency, "USD");
  line->item = g_strdup ("h100");
  line->price_micros = 1000000;
  return add (store, quote);
}

/* What holds on a day, the day that it was issued first. */
static void
assert_valid (QmQuoteIndex *index, QmDate on, const char *expected)
{
  QmQuoteFilter filter = { .valid_on = on, .item = "h100" };

  assert_order_of (index, &filter, QM_QUOTE_SORT_ISSUED, FALSE, expected);
}

static void
test_valid (void)
{
  const QmDate none = { 0, 0, 0 };
  g_autoptr (QmQuoteStore) store = open_store ();
  g_autoptr (QmQuoteIndex) index = NULL;

  add_offer (store, (QmDate){ 2026, 5, 1 }, none, (QmDate){ 2026, 5, 31 });
  add_offer (store, (QmDate){ 2026, 5, 10 }, none, (QmDate){ 2026, 5, 14 });
  add_offer (store, (QmDate){ 2026, 4, 1 }, none, none);
  add_offer (store, (QmDate){ 2026, 4, 2 }, (QmDate){ 2026, 6, 1 }, none);
  add_offer (store, none, none, none);
  add_offer (store, (QmDate){ 2026, 5, 1 }, none, (QmDate){ 2026, 5, 15 });
  g_assert_true (qm_quote_store_delete (
      store, add_offer (store, (QmDate){ 2026, 5, 2 }, none, none), NULL));
  add_vendor (store, "another item", "x");
  index = read_index (store);
  assert_valid (index, (QmDate){ 2026, 5, 14 }, "36125");
  assert_valid (index, (QmDate){ 2026, 5, 15 }, "3615");
  assert_valid (index, (QmDate){ 2026, 5, 16 }, "315");
  assert_valid (index, (QmDate){ 2026, 6, 1 }, "345");
  assert_valid (index, none, "346125");
}

static void
test_filters (void)
{
  g_autoptr (QmQuoteStore) store = open_store ();
  g_autoptr (QmQuoteIndex) index = NULL;
  QmQuoteFilter vendor = { .vendor = "b" };
  QmQuoteFilter deleted = { .deleted = TRUE };
  QmQuoteFilter item = { .item = "nothing" };
  gint64 gone;
  guint n;

  add_vendor (store, "a", "x");
  add_vendor (store, "b", "x");
  add_vendor (store, "B", "x");
  gone = add_vendor (store, "b", "y");
  g_assert_true (qm_quote_store_delete (store, gone, NULL));
  index = read_index (store);
  g_ptr_array_unref (qm_quote_index_quotes (index, &vendor, QM_QUOTE_SORT_ADDED,
                                            FALSE, 0, 0, &n));
  g_assert_cmpuint (n, ==, 1);
  g_ptr_array_unref (qm_quote_index_quotes (
      index, &deleted, QM_QUOTE_SORT_ADDED, FALSE, 0, 0, &n));
  g_assert_cmpuint (n, ==, 1);
  g_ptr_array_unref (qm_quote_index_quotes (index, &item, QM_QUOTE_SORT_ADDED,
                                            FALSE, 0, 0, &n));
  g_assert_cmpuint (n, ==, 0);
  g_assert_cmpint (qm_quote_index_get (index, gone)->deleted_at, >, 0);
}

static void
test_current (void)
{
  g_autoptr (QmQuoteStore) store = open_store ();
  g_autoptr (QmQuoteIndex) index = read_index (store);

  g_assert_true (qm_quote_index_is_current (index, store));
  add_vendor (store, "a", NULL);
  g_assert_false (qm_quote_index_is_current (index, store));
  g_assert_cmpuint (count_quotes (index, NULL), ==, 0);
}

static void
test_cancelled (void)
{
  g_autoptr (QmQuoteStore) store = open_store ();
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;

  g_cancellable_cancel (cancellable);
  g_assert_null (qm_quote_index_new (store, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* Lines without a quote, which only a damaged file has. */
static void
test_inconsistent (void)
{
  g_autoptr (QmQuoteStore) store = open_store ();
  g_autoptr (GError) error = NULL;

  g_assert_true (
      qm_store_execute (store,
                        "PRAGMA foreign_keys = OFF;"
                        "INSERT INTO lines (quote, position, role, match, gpus)"
                        " VALUES (5, 0, 'quoted', 'none', 0)",
                        NULL));
  g_assert_null (qm_quote_index_new (store, NULL, &error));
  g_assert_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_DAMAGED);
  g_clear_error (&error);
  add_vendor (store, "a", "x");
  g_assert_null (qm_quote_index_new (store, NULL, &error));
  g_assert_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_DAMAGED);
}

/* A quote that says what nobody understands is marked, and hides no other. */
static void
test_broken (void)
{
  g_autoptr (QmQuoteStore) store = open_store ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QmQuoteIndex) index = NULL;
  QmDate today = { 2026, 11, 26 };
  QmQuoteRow whole;

  for (guint i = 0; i < 3; i++)
    add_vendor (store, "a", "x");
  g_assert_true (qm_store_execute (
      store,
      "INSERT INTO lines (quote, position, role, match, gpus)"
      " VALUES (3, 9, 'quoted', 'none', 0);"
      "UPDATE quotes SET kind = 'zzz', valid_until = '9999-12-31'"
      " WHERE id = 2;"
      "UPDATE lines SET answered = 'zzz' WHERE quote = 3",
      NULL));
  index = qm_quote_index_new (store, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (count_quotes (index, NULL), ==, 3);
  for (gint64 id = 1; id <= 3; id++)
    g_assert_cmpint (qm_quote_index_get (index, id)->broken, ==, id > 1);
  g_assert_false (qm_quote_row_holds (qm_quote_index_get (index, 2), today));
  whole = *qm_quote_index_get (index, 2);
  whole.broken = FALSE;
  g_assert_true (qm_quote_row_holds (&whole, today));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/quote-index/empty", test_empty);
  g_test_add_func ("/quote-index/search", test_search);
  g_test_add_func ("/quote-index/against-slow-search",
                   test_against_slow_search);
  g_test_add_func ("/quote-index/rows", test_rows);
  g_test_add_func ("/quote-index/sorting", test_sorting);
  g_test_add_func ("/quote-index/paging", test_paging);
  g_test_add_func ("/quote-index/valid", test_valid);
  g_test_add_func ("/quote-index/filters", test_filters);
  g_test_add_func ("/quote-index/current", test_current);
  g_test_add_func ("/quote-index/cancelled", test_cancelled);
  g_test_add_func ("/quote-index/broken", test_broken);
  g_test_add_func ("/quote-index/inconsistent", test_inconsistent);
  return g_test_run ();
}
