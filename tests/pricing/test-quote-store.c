/* SPDX-License-Identifier: Apache-2.0 */

/* What is put into the store comes out of it, all of it or nothing. */

#include "pricing/quotes/qm-quote-store-private.h"
#include "random-quote.h"
#include "stored.h"

#include <string.h>

static QmQuoteStore *
open_store (void)
{
  g_autoptr (GError) error = NULL;
  QmQuoteStore *store = qm_quote_store_open (QM_QUOTE_STORE_IN_MEMORY, &error);

  g_assert_no_error (error);
  g_assert_nonnull (store);
  return store;
}

static gint64
add (QmQuoteStore *store, const QmQuote *quote)
{
  g_autoptr (GError) error = NULL;
  gboolean already = TRUE;
  gint64 id = add_quote (store, quote, NULL, &already, &error);

  g_assert_no_error (error);
  g_assert_cmpint (id, >, 0);
  g_assert_false (already);
  return id;
}

static QmQuote *
get (QmQuoteStore *store, gint64 id)
{
  g_autoptr (GError) error = NULL;
  QmQuote *quote = qm_quote_store_get (store, id, &error);

  g_assert_no_error (error);
  g_assert_cmpint (quote->id, ==, id);
  return quote;
}

static void
assert_error (GError **error, int code)
{
  g_assert_error (*error, QM_QUOTE_STORE_ERROR, code);
  g_assert_true (g_utf8_validate ((*error)->message, -1, NULL));
  g_clear_error (error);
}

static gint64
count (QmQuoteStore *store, const char *table)
{
  g_autofree char *sql = g_strdup_printf ("SELECT count (*) FROM %s", table);
  gint64 number = -1;

  g_assert_true (qm_store_number (store, sql, &number, NULL));
  return number;
}

static void
test_round_trip (void)
{
  g_autoptr (QmQuoteStore) store = open_store ();

  for (guint32 seed = 0; seed < 500; seed++)
    {
      g_autoptr (QmQuote) quote = random_quote (seed);
      g_autoptr (QmQuote) stored = get (store, add (store, quote));

      g_assert_true (qm_quote_equal (quote, stored));
      g_assert_cmpint (quote->read_at, ==, stored->read_at);
    }
}

static void
test_extremes (void)
{
  g_autoptr (QmQuoteStore) store = open_store ();
  g_autoptr (QmQuote) quote = random_quote (1);
  g_autoptr (QmQuote) empty = qm_quote_new ();
  g_autoptr (QmQuote) stored = NULL;
  g_autoptr (QmQuote) stored_empty = NULL;

  g_free (quote->note);
  quote->note = g_strnfill (QM_QUOTE_STORE_MAX_TEXT, 'n');
  quote->net_minor = G_MAXINT64;
  quote->payable_minor = G_MININT64 + 1;
  quote->tax_minor = QM_AMOUNT_UNSTATED;
  for (guint i = 0; i < 5000; i++)
    qm_quote_add_line (quote, QM_LINE_PART);
  stored = get (store, add (store, quote));
  g_assert_true (qm_quote_equal (quote, stored));
  g_assert_cmpint (stored->net_minor, ==, G_MAXINT64);

  stored_empty = get (store, add (store, empty));
  g_assert_true (qm_quote_equal (empty, stored_empty));
  g_assert_null (stored_empty->vendor);
}

static void
test_same_document (void)
{
  g_autoptr (QmQuoteStore) store = open_store ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QmQuote) quote = plausible_quote (7, 3);
  g_autoptr (QmQuote) changed = NULL;
  gboolean already = FALSE;
  gint64 id = add (store, quote);

  g_assert_cmpint (add_quote (store, quote, NULL, &already, &error), ==, id);
  g_assert_true (already);
  g_assert_cmpint (count (store, "quotes"), ==, 1);
  g_assert_cmpint (count (store, "lines"), ==, 3);

  /* Still the same document after somebody has edited the quote. */
  changed = get (store, id);
  g_free (changed->vendor);
  changed->vendor = g_strdup ("another");
  g_assert_true (qm_quote_store_update (store, changed, NULL, &error));
  g_assert_cmpint (add_quote (store, quote, NULL, &already, &error), ==, id);

  /* The same bytes are the same document, whatever it is called; another
   * alternative in it is another quote. */
  g_free (quote->source);
  quote->source = g_strdup ("elsewhere.xml");
  g_assert_cmpint (add_quote (store, quote, NULL, &already, &error), ==, id);
  g_assert_true (already);
  quote->alternative = g_strdup ("Option B");
  g_assert_cmpint (add (store, quote), !=, id);
  g_clear_pointer (&quote->sha256, g_free);
  add (store, quote);
  add (store, quote);
  g_assert_cmpint (count (store, "quotes"), ==, 4);
}

/* Told before they are added: the same document, and revisions. */
static void
test_relations (void)
{
  g_autoptr (QmQuoteStore) store = open_store ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) quotes =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
  g_autoptr (GArray) relations = NULL;
  QmQuote *same = plausible_quote (7, 3);
  QmQuote *revision = plausible_quote (8, 3);
  QmQuote *other = plausible_quote (9, 3);
  gint64 id = add (store, same);
  const QmQuoteRelation *relation;

  g_free (revision->vendor);
  revision->vendor = g_ascii_strup (same->vendor, -1);
  g_free (revision->number);
  revision->number = g_strconcat (same->number, " Rev. B", NULL);
  g_ptr_array_add (quotes, same);
  g_ptr_array_add (quotes, revision);
  g_ptr_array_add (quotes, other);
  relations = qm_quote_store_relate (store, quotes, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (relations->len, ==, 3);
  relation = &g_array_index (relations, QmQuoteRelation, 0);
  g_assert_cmpint (relation->same, ==, id);
  g_assert_cmpint (relation->older, ==, 0);
  g_assert_null (same->supersedes);
  relation = &g_array_index (relations, QmQuoteRelation, 1);
  g_assert_cmpint (relation->same, ==, 0);
  g_assert_cmpint (relation->older, ==, id);
  g_assert_cmpstr (revision->supersedes, ==, same->number);
  g_assert_cmpuint (qm_quote_open (revision), ==, QM_ASK_REVISION);
  relation = &g_array_index (relations, QmQuoteRelation, 2);
  g_assert_cmpint (relation->same, ==, 0);
  g_assert_cmpint (relation->older, ==, 0);
  g_assert_cmpuint (qm_quote_open (other), ==, 0);
}

static void
test_many_of_one_document (void)
{
  g_autoptr (QmQuoteStore) store = open_store ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) quotes =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
  guint added = 0;

  /* Two of the same vendor and number, and one of another number. */
  for (guint i = 0; i < 3; i++)
    {
      QmQuote *quote = plausible_quote (7, 2);

      if (i == 1)
        quote->number[0] = 'P';
      quote->payable_minor = i;
      g_ptr_array_add (quotes, quote);
    }
  for (guint round = 0; round < 2; round++)
    {
      g_autoptr (GArray) ids =
          qm_quote_store_add_all (store, quotes, NULL, &added, &error);

      g_assert_no_error (error);
      g_assert_cmpuint (added, ==, round == 0 ? 3 : 0);
      for (guint i = 0; i < 3; i++)
        {
          g_autoptr (QmQuote) stored =
              get (store, g_array_index (ids, gint64, i));

          g_assert_cmpint (stored->payable_minor, ==, i);
        }
    }
  g_assert_cmpint (count (store, "quotes"), ==, 3);
}

static void
test_all_or_none (void)
{
  g_autoptr (QmQuoteStore) store = open_store ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) quotes =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
  g_autoptr (QmQuote) before = random_quote (1);
  guint64 changes;

  add (store, before);
  changes = qm_quote_store_changes (store);
  for (guint32 seed = 100; seed < 120; seed++)
    g_ptr_array_add (quotes, random_quote (seed));
  strcpy (((QmQuote *) g_ptr_array_index (quotes, 19))->currency, "us$");
  g_assert_null (qm_quote_store_add_all (store, quotes, NULL, NULL, &error));
  assert_error (&error, QM_QUOTE_STORE_ERROR_INVALID);

  /* One that only the database refuses, after nineteen were written. */
  strcpy (((QmQuote *) g_ptr_array_index (quotes, 19))->currency, "USD");
  g_assert_true (qm_store_execute (
      store, "CREATE UNIQUE INDEX test ON quotes (read_at)", NULL));
  ((QmQuote *) g_ptr_array_index (quotes, 19))->read_at = before->read_at;
  g_assert_null (qm_quote_store_add_all (store, quotes, NULL, NULL, &error));
  assert_error (&error, QM_QUOTE_STORE_ERROR_EXISTS);
  g_assert_cmpint (count (store, "quotes"), ==, 1);
  g_assert_cmpint (count (store, "lines"), ==, before->lines->len);
  g_assert_cmpuint (qm_quote_store_changes (store), ==, changes);
}

static void
test_update (void)
{
  g_autoptr (QmQuoteStore) store = open_store ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QmQuote) first = random_quote (1);
  g_autoptr (QmQuote) second = random_quote (2);
  g_autoptr (QmQuote) third = random_quote (3);
  g_autoptr (QmQuote) stored = NULL;

  first->id = second->id = third->id = add (store, first);
  g_assert_true (qm_quote_store_update (store, second, first, &error));
  g_assert_no_error (error);
  stored = get (store, first->id);
  g_assert_true (qm_quote_equal (stored, second));
  g_assert_cmpint (count (store, "lines"), ==, second->lines->len);
  g_assert_cmpint (count (store, "findings"), ==, second->findings->len);
  g_assert_cmpint (count (store, "vendors"), ==, second->vendor != NULL);

  /* Another window has seen the first version only. */
  g_assert_false (qm_quote_store_update (store, third, first, &error));
  assert_error (&error, QM_QUOTE_STORE_ERROR_CHANGED);
  g_assert_true (qm_quote_store_update (store, third, NULL, &error));

  third->id = 99;
  g_assert_false (qm_quote_store_update (store, third, NULL, &error));
  assert_error (&error, QM_QUOTE_STORE_ERROR_NOT_FOUND);
}

static void
test_delete (void)
{
  g_autoptr (QmQuoteStore) store = open_store ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QmQuote) quote = random_quote (1);
  g_autoptr (QmQuote) stored = NULL;
  gint64 id = add (store, quote);
  gint64 again;

  g_assert_true (qm_quote_store_delete (store, id, &error));
  g_assert_false (qm_quote_store_delete (store, id, &error));
  assert_error (&error, QM_QUOTE_STORE_ERROR_NOT_FOUND);
  quote->id = id;
  g_assert_false (qm_quote_store_update (store, quote, NULL, &error));
  assert_error (&error, QM_QUOTE_STORE_ERROR_NOT_FOUND);

  g_assert_true (qm_quote_store_restore (store, id, &error));
  g_assert_false (qm_quote_store_restore (store, id, &error));
  assert_error (&error, QM_QUOTE_STORE_ERROR_NOT_FOUND);
  stored = get (store, id);
  g_assert_true (qm_quote_equal (stored, quote));

  /* Imported again after it was deleted, it is another one. */
  g_assert_true (qm_quote_store_delete (store, id, &error));
  again = add (store, quote);
  g_assert_cmpint (again, !=, id);
  g_assert_false (qm_quote_store_restore (store, id, &error));
  assert_error (&error, QM_QUOTE_STORE_ERROR_EXISTS);

  g_assert_cmpint (qm_quote_store_purge (store, 1000, &error), ==, 0);
  g_assert_cmpint (qm_quote_store_purge (store, G_MAXINT64, &error), ==, 1);
  g_assert_null (qm_quote_store_get (store, id, &error));
  assert_error (&error, QM_QUOTE_STORE_ERROR_NOT_FOUND);
  g_assert_cmpint (count (store, "lines"), ==, quote->lines->len);

  g_assert_true (qm_quote_store_delete (store, again, &error));
  g_assert_cmpint (qm_quote_store_purge (store, G_MAXINT64, &error), ==, 1);
  g_assert_cmpint (count (store, "lines"), ==, 0);
  g_assert_cmpint (count (store, "findings"), ==, 0);
  g_assert_cmpint (count (store, "vendors"), ==, 0);
  /* An id is not given twice. */
  g_assert_cmpint (add (store, quote), >, again);
}

static void
test_get_all (void)
{
  g_autoptr (QmQuoteStore) store = open_store ();
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) all = NULL;
  g_autoptr (GPtrArray) some = NULL;
  g_autoptr (GPtrArray) problems = g_ptr_array_new_with_free_func (g_free);
  gint64 gone;

  for (guint i = 0; i < 4; i++)
    {
      g_autoptr (QmQuote) quote = qm_quote_new ();

      quote->payable_minor = i;
      qm_quote_add_line (quote, QM_LINE_QUOTED);
      if (i % 2 == 1)
        qm_quote_add_line (quote, QM_LINE_QUOTED)->item = g_strdup ("h100");
      gone = add (store, quote);
    }
  g_assert_true (qm_quote_store_delete (store, gone, NULL));
  all = qm_quote_store_get_all (store, FALSE, problems, cancellable, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (all->len, ==, 3);
  some = qm_quote_store_get_all (store, TRUE, problems, NULL, NULL);
  g_assert_cmpuint (problems->len, ==, 0);
  g_assert_cmpuint (some->len, ==, 1);
  g_assert_true (
      qm_quote_equal (g_ptr_array_index (some, 0), g_ptr_array_index (all, 1)));
  g_cancellable_cancel (cancellable);
  g_assert_null (
      qm_quote_store_get_all (store, TRUE, problems, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* SQL that makes the second of three quotes say what nobody understands. */
static const char *const unreadable[] = {
  "UPDATE quotes SET asked = 'zzz' WHERE id = 2",
  "UPDATE quotes SET kind = 'zzz' WHERE id = 2",
  "UPDATE lines SET asked = 'zzz' WHERE quote = 2",
  "UPDATE lines SET match = 'zzz', item = NULL WHERE quote = 2",
  "UPDATE findings SET level = 'zzz' WHERE quote = 2",
  "UPDATE quotes SET valid_until = 'r026-12-20' WHERE id = 2",
  "UPDATE quotes SET issued_on = '2026-13-20' WHERE id = 2",
  "UPDATE quotes SET valid_from = '' WHERE id = 2",
  "UPDATE quotes SET currency = 'eUR' WHERE id = 2",
  "UPDATE quotes SET payable_minor = 'abc' WHERE id = 2",
  "UPDATE quotes SET tax_included = 'yes' WHERE id = 2",
  "UPDATE quotes SET read_at = 1.5 WHERE id = 2",
  "UPDATE quotes SET deleted_at = 'abc' WHERE id = 2",
  "UPDATE lines SET price_micros = 'abc' WHERE quote = 2",
  "UPDATE lines SET quantity_micros = x'01' WHERE quote = 2",
  "UPDATE lines SET gpus = 'abc' WHERE quote = 2",
};

static void
assert_second_left_out (const char *sql)
{
  g_autoptr (QmQuoteStore) store = open_store ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) problems = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) quotes = NULL;

  for (guint i = 0; i < 3; i++)
    {
      g_autoptr (QmQuote) quote = qm_quote_new ();
      QmQuoteLine *line = qm_quote_add_line (quote, QM_LINE_QUOTED);

      line->item = g_strdup ("h100");
      line->match = QM_MATCH_FOUND;
      qm_quote_add_finding (quote, QM_FINDING_NOTE, NULL, "Read.");
      add (store, quote);
    }
  g_test_message ("%s", sql);
  g_assert_true (qm_store_execute (store, sql, NULL));
  quotes = qm_quote_store_get_all (store, TRUE, problems, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (quotes->len, ==, 2);
  g_assert_cmpint (((QmQuote *) g_ptr_array_index (quotes, 1))->id, ==, 3);
  g_assert_cmpuint (problems->len, ==, 1);
  g_assert_nonnull (strstr (g_ptr_array_index (problems, 0), "Quote 2 "));
  g_assert_null (qm_quote_store_get (store, 2, &error));
  assert_error (&error, QM_QUOTE_STORE_ERROR_INVALID);
}

/* What cannot be understood of one quote takes no other out. */
static void
test_unreadable (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (unreadable); i++)
    assert_second_left_out (unreadable[i]);
}

static void
test_attachments (void)
{
  g_autoptr (QmQuoteStore) store = open_store ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) small = g_bytes_new_static ("<q/>\0\1", 6);
  g_autoptr (GBytes) large =
      g_bytes_new_take (g_malloc0 (QM_QUOTE_STORE_MAX_ATTACHMENT + 1),
                        QM_QUOTE_STORE_MAX_ATTACHMENT + 1);
  g_autoptr (GBytes) none = g_bytes_new (NULL, 0);
  g_autoptr (GPtrArray) documents = g_ptr_array_new_with_free_func (
      (GDestroyNotify) qm_quote_attachment_free);
  g_autoptr (GPtrArray) stored = NULL;
  g_autoptr (QmQuote) quote = random_quote (1);
  g_autoptr (QmQuote) other = random_quote (2);
  gint64 id;

  g_ptr_array_add (documents,
                   qm_quote_attachment_new (small, "q.xml", "text/xml"));
  g_ptr_array_add (documents, qm_quote_attachment_new (large, "l", NULL));
  g_ptr_array_add (documents, qm_quote_attachment_new (none, NULL, NULL));
  id = add_quote (store, quote, documents, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (add_quote (store, other, documents, NULL, NULL), >, id);
  g_assert_cmpint (count (store, "documents"), ==, 3);

  stored = qm_quote_store_attachments (store, id, &error);
  g_assert_cmpuint (stored->len, ==, 3);
  for (guint i = 0; i < stored->len; i++)
    {
      const QmQuoteAttachment *is = g_ptr_array_index (stored, i);
      const QmQuoteAttachment *was = g_ptr_array_index (documents, i);

      g_assert_cmpstr (is->sha256, ==, was->sha256);
      g_assert_cmpstr (is->name, ==, was->name);
      g_assert_cmpstr (is->media_type, ==, was->media_type);
      g_assert_cmpint (is->size, ==, was->size);
      g_assert_true ((is->bytes == NULL) == (i == 1));
      g_assert_true (i == 1 || g_bytes_equal (is->bytes, was->bytes));
    }

  /* The bytes go with the last quote that they belong to. */
  g_assert_true (qm_quote_store_delete (store, id, &error));
  g_assert_cmpint (qm_quote_store_purge (store, G_MAXINT64, &error), ==, 1);
  g_assert_cmpint (count (store, "documents"), ==, 3);
  g_assert_true (qm_quote_store_delete (store, id + 1, &error));
  g_assert_cmpint (qm_quote_store_purge (store, G_MAXINT64, &error), ==, 1);
  g_assert_cmpint (count (store, "documents"), ==, 0);
}

static void
assert_vendors (QmQuoteStore *store, const char *typed, const char *expected)
{
  g_auto (GStrv) names = qm_quote_store_vendors (store, typed, 10, NULL);
  g_autofree char *joined = g_strjoinv ("|", names);

  g_assert_cmpstr (joined, ==, expected);
}

static void
test_vendors (void)
{
  static const char *const names[] = {
    "Königsweg GmbH", "Delta 100%", "Delta 100%", "DELTA", "d'Été", "_under",
  };
  g_autoptr (QmQuoteStore) store = open_store ();
  g_auto (GStrv) first = NULL;
  gint64 id = 0;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (QmQuote) quote = qm_quote_new ();

      quote->vendor = g_strdup (names[i]);
      id = add (store, quote);
    }
  assert_vendors (store, NULL, "Delta 100%|DELTA|Königsweg GmbH|_under|d'Été");
  assert_vendors (store, "del", "Delta 100%|DELTA");
  assert_vendors (store, "KONIG", "Königsweg GmbH");
  assert_vendors (store, "gmb", "Königsweg GmbH");
  assert_vendors (store, "weg", "");
  assert_vendors (store, "%", "");
  assert_vendors (store, "100%", "Delta 100%");
  assert_vendors (store, "_", "_under");
  assert_vendors (store, "d'ete", "d'Été");
  first = qm_quote_store_vendors (store, "", 1, NULL);
  g_assert_cmpuint (g_strv_length (first), ==, 1);
  g_assert_true (qm_quote_store_delete (store, id, NULL));
  assert_vendors (store, "_", "");
}

typedef void (*Spoil) (QmQuote *quote);

static void
spoil_utf8 (QmQuote *quote)
{
  qm_quote_add_line (quote, QM_LINE_QUOTED)->description = g_strdup ("a\xff");
}

static void
spoil_length (QmQuote *quote)
{
  qm_quote_add_finding (quote, QM_FINDING_NOTE, NULL, "x");
  ((QmFinding *) g_ptr_array_index (quote->findings, 0))->place =
      g_strnfill (QM_QUOTE_STORE_MAX_TEXT + 1, 'x');
}

static void
spoil_date (QmQuote *quote)
{
  quote->valid_until = (QmDate){ 2026, 2, 29 };
}

static void
spoil_day (QmQuote *quote)
{
  quote->issued_on = (QmDate){ 2026, 0, 5 };
}

static void
spoil_role (QmQuote *quote)
{
  qm_quote_add_line (quote, QM_N_LINE_ROLES);
}

static void
spoil_digest (QmQuote *quote)
{
  quote->sha256 = g_strdup ("abc");
}

static void
spoil_kind (QmQuote *quote)
{
  quote->kind = (QmPriceKind) 99;
}

static void
spoil_lines (QmQuote *quote)
{
  for (guint i = 0; i <= QM_QUOTE_STORE_MAX_LINES; i++)
    qm_quote_add_line (quote, QM_LINE_QUOTED);
}

static void
test_invalid (void)
{
  static const Spoil spoils[] = { spoil_utf8, spoil_length, spoil_date,
                                  spoil_day,  spoil_role,   spoil_digest,
                                  spoil_kind, spoil_lines };
  g_autoptr (QmQuoteStore) store = open_store ();

  for (guint i = 0; i < G_N_ELEMENTS (spoils); i++)
    {
      g_autoptr (QmQuote) quote = qm_quote_new ();
      g_autoptr (GError) error = NULL;

      spoils[i](quote);
      g_assert_cmpint (add_quote (store, quote, NULL, NULL, &error), ==, 0);
      assert_error (&error, QM_QUOTE_STORE_ERROR_INVALID);
    }
  g_assert_cmpint (count (store, "quotes"), ==, 0);
}

static void
test_foreign_keys (void)
{
  g_autoptr (QmQuoteStore) store = open_store ();
  g_autoptr (GError) error = NULL;

  g_assert_false (qm_store_execute (
      store, "INSERT INTO findings VALUES (5, 0, 'note', NULL, 'x')", &error));
  assert_error (&error, QM_QUOTE_STORE_ERROR_INVALID);
  g_assert_false (qm_store_execute (
      store, "INSERT INTO rates VALUES ('USD','',1,9)", &error));
  assert_error (&error, QM_QUOTE_STORE_ERROR_INVALID);
}

/* A word of a later version is reported, not taken for another one. */
static void
test_unknown_word (void)
{
  g_autoptr (QmQuoteStore) store = open_store ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QmQuote) quote = plausible_quote (1, 2);
  gint64 id = add (store, quote);

  g_assert_true (qm_store_execute (
      store, "UPDATE lines SET role = 'bundle' WHERE position = 1", NULL));
  g_assert_null (qm_quote_store_get (store, id, &error));
  assert_error (&error, QM_QUOTE_STORE_ERROR_INVALID);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/quote-store/round-trip", test_round_trip);
  g_test_add_func ("/quote-store/extremes", test_extremes);
  g_test_add_func ("/quote-store/same-document", test_same_document);
  g_test_add_func ("/quote-store/relations", test_relations);
  g_test_add_func ("/quote-store/many-of-one-document",
                   test_many_of_one_document);
  g_test_add_func ("/quote-store/all-or-none", test_all_or_none);
  g_test_add_func ("/quote-store/update", test_update);
  g_test_add_func ("/quote-store/delete", test_delete);
  g_test_add_func ("/quote-store/get-all", test_get_all);
  g_test_add_func ("/quote-store/unreadable", test_unreadable);
  g_test_add_func ("/quote-store/attachments", test_attachments);
  g_test_add_func ("/quote-store/vendors", test_vendors);
  g_test_add_func ("/quote-store/invalid", test_invalid);
  g_test_add_func ("/quote-store/foreign-keys", test_foreign_keys);
  g_test_add_func ("/quote-store/unknown-word", test_unknown_word);
  return g_test_run ();
}
