/* SPDX-License-Identifier: Apache-2.0 */

/* Adding, changing and deleting quotes. */

#include "config.h"

#include "pricing/quotes/qm-quote-store-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* The parameters of the two statements that write a quote's head, in their
 * common order. */
static void
bind_head (QmStatement *statement, int *n, const QmQuote *quote)
{
  qm_bind_text (statement, n, quote->vendor);
  qm_bind_text (statement, n, quote->number);
  qm_bind_text (statement, n, quote->note);
  qm_bind_text (statement, n, quote->currency);
  qm_bind_text (statement, n, qm_price_kind_name (quote->kind));
  qm_bind_text (statement, n, qm_price_unit_name (quote->unit));
  qm_bind_date (statement, n, quote->issued_on);
  qm_bind_date (statement, n, quote->valid_from);
  qm_bind_date (statement, n, quote->valid_until);
  qm_bind_tristate (statement, n, quote->tax_included);
  qm_bind_amount (statement, n, quote->net_minor);
  qm_bind_amount (statement, n, quote->discount_minor);
  qm_bind_amount (statement, n, quote->charge_minor);
  qm_bind_amount (statement, n, quote->tax_minor);
  qm_bind_amount (statement, n, quote->payable_minor);
  qm_bind_text (statement, n, qm_quote_origin_name (quote->origin));
  qm_bind_text (statement, n, quote->source);
  qm_bind_text (statement, n, quote->sha256);
  qm_bind_int (statement, n, quote->read_at);
  qm_bind_text (statement, n, quote->alternative);
  qm_bind_text (statement, n, quote->supersedes);
  qm_bind_asks (statement, n, quote->asked);
  qm_bind_asks (statement, n, quote->answered);
}

static gboolean
write_vendor (QmQuoteStore *store, const char *name, GError **error)
{
  static const char sql[] =
      "INSERT INTO vendors (name) VALUES (?1) ON CONFLICT DO NOTHING";
  QmStatement *statement;
  int n = 0;

  if (name == NULL)
    return TRUE;
  statement = qm_store_prepare (store, sql, error);
  if (statement == NULL)
    return FALSE;
  qm_bind_text (statement, &n, name);
  return qm_store_run (store, statement, error);
}

static gboolean
write_line (QmQuoteStore *store,
            gint64 id,
            guint position,
            const QmQuoteLine *line,
            GError **error)
{
  static const char sql[] =
      "INSERT INTO lines VALUES"
      " (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
  QmStatement *statement = qm_store_prepare (store, sql, error);
  int n = 0;

  if (statement == NULL)
    return FALSE;
  qm_bind_int (statement, &n, id);
  qm_bind_int (statement, &n, position);
  qm_bind_text (statement, &n, qm_line_role_name (line->role));
  qm_bind_text (statement, &n, line->number);
  qm_bind_text (statement, &n, line->part_number);
  qm_bind_text (statement, &n, line->description);
  qm_bind_text (statement, &n, line->unit);
  qm_bind_amount (statement, &n, line->quantity_micros);
  qm_bind_amount (statement, &n, line->price_micros);
  qm_bind_amount (statement, &n, line->base_quantity_micros);
  qm_bind_amount (statement, &n, line->discount_minor);
  qm_bind_amount (statement, &n, line->charge_minor);
  qm_bind_amount (statement, &n, line->total_minor);
  qm_bind_text (statement, &n, qm_match_state_name (line->match));
  qm_bind_text (statement, &n, line->item);
  qm_bind_int (statement, &n, line->gpus);
  qm_bind_text (statement, &n, line->candidates);
  qm_bind_text (statement, &n, qm_line_thing_name (line->thing));
  qm_bind_asks (statement, &n, line->asked);
  qm_bind_asks (statement, &n, line->answered);
  return qm_store_run (store, statement, error);
}

static gboolean
write_finding (QmQuoteStore *store,
               gint64 id,
               guint position,
               const QmFinding *finding,
               GError **error)
{
  static const char sql[] = "INSERT INTO findings VALUES (?, ?, ?, ?, ?)";
  QmStatement *statement = qm_store_prepare (store, sql, error);
  int n = 0;

  if (statement == NULL)
    return FALSE;
  qm_bind_int (statement, &n, id);
  qm_bind_int (statement, &n, position);
  qm_bind_text (statement, &n, qm_word_of_level (finding->level));
  qm_bind_text (statement, &n, finding->place);
  qm_bind_text (statement, &n, finding->message);
  return qm_store_run (store, statement, error);
}

static gboolean
write_body (QmQuoteStore *store,
            gint64 id,
            const QmQuote *quote,
            GError **error)
{
  for (guint i = 0; i < quote->lines->len; i++)
    if (!write_line (store, id, i, g_ptr_array_index (quote->lines, i), error))
      return FALSE;
  for (guint i = 0; i < quote->findings->len; i++)
    if (!write_finding (store, id, i, g_ptr_array_index (quote->findings, i),
                        error))
      return FALSE;
  return TRUE;
}

static gboolean
write_document (QmQuoteStore *store,
                const QmQuoteAttachment *attachment,
                GError **error)
{
  static const char sql[] =
      "INSERT INTO documents (sha256, size, bytes) VALUES (?, ?, ?)"
      " ON CONFLICT (sha256) DO UPDATE SET bytes = excluded.bytes"
      "  WHERE bytes IS NULL AND excluded.bytes IS NOT NULL";
  QmStatement *statement = qm_store_prepare (store, sql, error);
  gsize size = 0;
  gconstpointer bytes = attachment->bytes != NULL
                            ? g_bytes_get_data (attachment->bytes, &size)
                            : NULL;
  int n = 0;

  if (statement == NULL)
    return FALSE;
  qm_bind_text (statement, &n, attachment->sha256);
  qm_bind_int (statement, &n, attachment->size);
  if (attachment->bytes != NULL && size <= QM_QUOTE_STORE_MAX_ATTACHMENT)
    sqlite3_bind_blob (statement, ++n, size > 0 ? bytes : "", (int) size,
                       SQLITE_STATIC);
  return qm_store_run (store, statement, error);
}

static gboolean
write_attachment (QmQuoteStore *store,
                  gint64 id,
                  const QmQuoteAttachment *attachment,
                  GError **error)
{
  static const char sql[] =
      "INSERT INTO attachments (quote, document, name, media_type)"
      " VALUES (?, (SELECT id FROM documents WHERE sha256 = ?), ?, ?)";
  QmStatement *statement;
  int n = 0;

  if (!write_document (store, attachment, error))
    return FALSE;
  statement = qm_store_prepare (store, sql, error);
  if (statement == NULL)
    return FALSE;
  qm_bind_int (statement, &n, id);
  qm_bind_text (statement, &n, attachment->sha256);
  qm_bind_text (statement, &n, attachment->name);
  qm_bind_text (statement, &n, attachment->media_type);
  return qm_store_run (store, statement, error);
}

typedef struct
{
  const QmQuote *quote;
  GPtrArray *attachments;
  int occurrence; /* how many of its document, vendor and number went before */
  gint64 id;
  gboolean already;
} Addition;

/* What tells the quotes of one document apart, as they were read: vendor,
 * number and alternative, which may be the same for several.
 * (transfer full) */
static char *
part_of_quote (const QmQuote *quote, int occurrence)
{
  const char *vendor = quote->vendor != NULL ? quote->vendor : "";

  return g_strdup_printf ("%d:%" G_GSIZE_FORMAT ":%s:%s%s%s", occurrence,
                          strlen (vendor), vendor,
                          quote->number != NULL ? quote->number : "",
                          quote->alternative != NULL ? "\n" : "",
                          quote->alternative != NULL ? quote->alternative : "");
}

gint64
qm_store_find_same (QmQuoteStore *store,
                    const QmQuote *quote,
                    int occurrence,
                    GError **error)
{
  static const char sql[] =
      "SELECT id FROM quotes WHERE sha256 = ?1 AND part = ?2"
      " AND deleted_at IS NULL ORDER BY id";
  g_autofree char *part = part_of_quote (quote, occurrence);
  g_autoptr (QmStatement) statement = NULL;
  int n = 0;

  if (quote->sha256 == NULL)
    return 0;
  statement = qm_store_prepare (store, sql, error);
  if (statement == NULL)
    return -1;
  qm_bind_text (statement, &n, quote->sha256);
  qm_bind_text (statement, &n, part);
  switch (qm_store_step (store, statement, error))
    {
    case 1:
      return sqlite3_column_int64 (statement, 0);
    case 0:
      return 0;
    default:
      return -1;
    }
}

static gboolean
insert_quote (QmQuoteStore *store, gpointer data, GError **error)
{
  static const char sql[] =
      "INSERT INTO quotes (vendor, number, note, currency, kind, unit,"
      "  issued_on, valid_from, valid_until, tax_included, net_minor,"
      "  discount_minor, charge_minor, tax_minor, payable_minor, origin,"
      "  source, sha256, read_at, alternative, supersedes, asked, answered,"
      "  part)"
      " VALUES ((SELECT id FROM vendors WHERE name = ?),"
      "  ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
  Addition *addition = data;
  g_autofree char *part = part_of_quote (addition->quote, addition->occurrence);
  QmStatement *statement;
  int n = 0;

  addition->id =
      qm_store_find_same (store, addition->quote, addition->occurrence, error);
  addition->already = addition->id > 0;
  if (addition->id != 0)
    return addition->already;

  if (!write_vendor (store, addition->quote->vendor, error))
    return FALSE;
  statement = qm_store_prepare (store, sql, error);
  if (statement == NULL)
    return FALSE;
  bind_head (statement, &n, addition->quote);
  qm_bind_text (statement, &n, part);
  if (!qm_store_run (store, statement, error))
    return FALSE;
  addition->id = sqlite3_last_insert_rowid (store->db);
  if (!write_body (store, addition->id, addition->quote, error))
    return FALSE;
  for (guint i = 0;
       addition->attachments != NULL && i < addition->attachments->len; i++)
    if (!write_attachment (store, addition->id,
                           g_ptr_array_index (addition->attachments, i), error))
      return FALSE;
  return TRUE;
}

static gboolean
check_attachments (GPtrArray *attachments, GError **error)
{
  for (guint i = 0; attachments != NULL && i < attachments->len; i++)
    {
      const QmQuoteAttachment *attachment = g_ptr_array_index (attachments, i);

      if (!qm_store_check_digest (attachment->sha256, error)
          || !qm_store_check_text (attachment->name, error)
          || !qm_store_check_text (attachment->media_type, error))
        return FALSE;
    }
  return TRUE;
}

typedef struct
{
  GPtrArray *quotes;
  GPtrArray *attachments;
  GArray *ids;
  guint added;
} Additions;

int
qm_store_count_occurrence (GHashTable *counts, const QmQuote *quote)
{
  g_autofree char *part = part_of_quote (quote, 0);
  char *key;
  int count;

  if (quote->sha256 == NULL)
    return 0;
  key = g_strdup_printf ("%s:%s", quote->sha256, part);
  count = GPOINTER_TO_INT (g_hash_table_lookup (counts, key));
  g_hash_table_insert (counts, key, GINT_TO_POINTER (count + 1));
  return count;
}

static gboolean
add_all (QmQuoteStore *store, gpointer data, GError **error)
{
  Additions *additions = data;
  g_autoptr (GHashTable) counts =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < additions->quotes->len; i++)
    {
      const QmQuote *quote = g_ptr_array_index (additions->quotes, i);
      Addition one = { quote, additions->attachments, 0, 0, FALSE };

      one.occurrence = qm_store_count_occurrence (counts, quote);
      if (!insert_quote (store, &one, error))
        return FALSE;
      additions->added += !one.already;
      g_array_append_val (additions->ids, one.id);
    }
  return TRUE;
}

GArray *
qm_quote_store_add_all (QmQuoteStore *store,
                        GPtrArray *quotes,
                        GPtrArray *attachments,
                        guint *added,
                        GError **error)
{
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint64));
  Additions additions = { quotes, attachments, ids, 0 };

  g_return_val_if_fail (store != NULL && quotes != NULL, NULL);

  for (guint i = 0; i < quotes->len; i++)
    if (!qm_store_check_quote (g_ptr_array_index (quotes, i), error))
      return NULL;
  if (!check_attachments (attachments, error)
      || !qm_store_write (store, add_all, &additions, error))
    return NULL;
  if (added != NULL)
    *added = additions.added;
  return g_steal_pointer (&ids);
}

/* Runs a statement with one number and says how many rows it changed; -1 with
 * an error. */
static int
run_with (QmQuoteStore *store, const char *sql, gint64 number, GError **error)
{
  QmStatement *statement = qm_store_prepare (store, sql, error);
  int n = 0;

  if (statement == NULL)
    return -1;
  qm_bind_int (statement, &n, number);
  if (!qm_store_run (store, statement, error))
    return -1;
  return sqlite3_changes (store->db);
}

static gboolean
fail_not_found (QmQuoteStore *store, gint64 id, GError **error)
{
  g_set_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_NOT_FOUND,
               _ ("There is no quote %lld in “%s”."), (long long) id,
               store->path);
  return FALSE;
}

static gboolean
forget_unused_documents (QmQuoteStore *store, GError **error)
{
  static const char sql[] =
      "DELETE FROM documents WHERE NOT EXISTS"
      " (SELECT 1 FROM attachments WHERE document = documents.id)";

  return qm_store_run_sql (store, sql, error);
}

static gboolean
forget_unused_vendors (QmQuoteStore *store, GError **error)
{
  static const char sql[] = "DELETE FROM vendors WHERE NOT EXISTS"
                            " (SELECT 1 FROM quotes WHERE vendor = vendors.id)";

  return qm_store_run_sql (store, sql, error);
}

typedef struct
{
  const QmQuote *quote;
  const QmQuote *before;
} Update;

/* Whether the store still says what the user has seen. */
static gboolean
check_unchanged (QmQuoteStore *store, const Update *update, GError **error)
{
  g_autoptr (QmQuote) stored = NULL;

  if (update->before == NULL)
    return TRUE;
  stored = qm_store_load_quote (store, update->quote->id, error);
  if (stored == NULL)
    return FALSE;
  if (qm_quote_equal (stored, update->before))
    return TRUE;
  g_set_error_literal (error, QM_QUOTE_STORE_ERROR,
                       QM_QUOTE_STORE_ERROR_CHANGED,
                       _ ("The quote has been changed elsewhere meanwhile."));
  return FALSE;
}

static gboolean
update_head (QmQuoteStore *store, const QmQuote *quote, GError **error)
{
  static const char sql[] =
      "UPDATE quotes SET vendor = (SELECT id FROM vendors WHERE name = ?),"
      "  number = ?, note = ?, currency = ?, kind = ?, unit = ?,"
      "  issued_on = ?, valid_from = ?, valid_until = ?, tax_included = ?,"
      "  net_minor = ?, discount_minor = ?, charge_minor = ?, tax_minor = ?,"
      "  payable_minor = ?, origin = ?, source = ?, sha256 = ?, read_at = ?,"
      "  alternative = ?, supersedes = ?, asked = ?, answered = ?"
      " WHERE id = ? AND deleted_at IS NULL";
  QmStatement *statement;
  int n = 0;

  if (!write_vendor (store, quote->vendor, error))
    return FALSE;
  statement = qm_store_prepare (store, sql, error);
  if (statement == NULL)
    return FALSE;
  bind_head (statement, &n, quote);
  qm_bind_int (statement, &n, quote->id);
  if (!qm_store_run (store, statement, error))
    return FALSE;
  return sqlite3_changes (store->db) == 1
         || fail_not_found (store, quote->id, error);
}

static gboolean
update_quote (QmQuoteStore *store, gpointer data, GError **error)
{
  static const char no_lines[] = "DELETE FROM lines WHERE quote = ?1";
  static const char no_findings[] = "DELETE FROM findings WHERE quote = ?1";
  const Update *change = data;
  gint64 id = change->quote->id;

  return check_unchanged (store, change, error)
         && update_head (store, change->quote, error)
         && run_with (store, no_lines, id, error) >= 0
         && run_with (store, no_findings, id, error) >= 0
         && write_body (store, id, change->quote, error)
         && forget_unused_vendors (store, error);
}

gboolean
qm_quote_store_update (QmQuoteStore *store,
                       const QmQuote *quote,
                       const QmQuote *before,
                       GError **error)
{
  Update change = { quote, before };

  g_return_val_if_fail (store != NULL && quote != NULL, FALSE);

  return qm_store_check_quote (quote, error)
         && qm_store_write (store, update_quote, &change, error);
}

static gboolean delete (QmQuoteStore *store, gpointer data, GError **error)
{
  static const char sql[] =
      "UPDATE quotes SET deleted_at = strftime ('%s', 'now')"
      " WHERE id = ?1 AND deleted_at IS NULL";
  const gint64 *id = data;
  int changed = run_with (store, sql, *id, error);

  return changed > 0 || (changed == 0 && fail_not_found (store, *id, error));
}

gboolean
qm_quote_store_delete (QmQuoteStore *store, gint64 id, GError **error)
{
  g_return_val_if_fail (store != NULL, FALSE);

  return qm_store_write (store, delete, &id, error);
}

static gboolean
restore (QmQuoteStore *store, gpointer data, GError **error)
{
  static const char sql[] = "UPDATE quotes SET deleted_at = NULL"
                            " WHERE id = ?1 AND deleted_at IS NOT NULL";
  const gint64 *id = data;
  int changed = run_with (store, sql, *id, error);

  return changed > 0 || (changed == 0 && fail_not_found (store, *id, error));
}

gboolean
qm_quote_store_restore (QmQuoteStore *store, gint64 id, GError **error)
{
  g_return_val_if_fail (store != NULL, FALSE);

  return qm_store_write (store, restore, &id, error);
}

/* Erases quotes from a store or a backup, with vendors and documents that
 * nothing uses any more; to be called in a transaction.  Returns how many; -1
 * with an error. */
static int
erase_quotes (QmQuoteStore *store, const GArray *quotes, GError **error)
{
  static const char sql[] = "DELETE FROM quotes WHERE id = ?1 AND read_at = ?2";
  int erased = 0;

  for (guint i = 0; i < quotes->len; i++)
    {
      const QmStoreErased *quote = &g_array_index (quotes, QmStoreErased, i);
      QmStatement *statement = qm_store_prepare (store, sql, error);
      int n = 0;

      if (statement == NULL)
        return -1;
      qm_bind_int (statement, &n, quote->id);
      qm_bind_int (statement, &n, quote->read_at);
      if (!qm_store_run (store, statement, error))
        return -1;
      erased += sqlite3_changes (store->db);
    }
  return forget_unused_vendors (store, error)
                 && forget_unused_documents (store, error)
             ? erased
             : -1;
}

typedef struct
{
  gint64 before; /* deleted before that; or ... */
  gint64 id;     /* ... this one, deleted or not; 0: none */
  GArray *quotes;
  int erased;
} Purge;

static gboolean
choose_erased (QmQuoteStore *store, gpointer data, GError **error)
{
  static const char sql[] = "SELECT id, read_at FROM quotes"
                            " WHERE deleted_at < ?1 OR id = ?2";
  Purge *purge = data;
  g_autoptr (QmStatement) row = qm_store_prepare (store, sql, error);
  int n = 0, step = -1;

  if (row == NULL)
    return FALSE;
  qm_bind_int (row, &n, purge->before);
  qm_bind_int (row, &n, purge->id);
  while ((step = qm_store_step (store, row, error)) == 1)
    {
      QmStoreErased quote = { sqlite3_column_int64 (row, 0),
                              sqlite3_column_int64 (row, 1) };

      g_array_append_val (purge->quotes, quote);
    }
  return step == 0;
}

static gboolean
erase (QmQuoteStore *store, gpointer data, GError **error)
{
  Purge *purge = data;

  purge->erased = erase_quotes (store, purge->quotes, error);
  return purge->erased >= 0;
}

/* The backups first: whoever is killed in between finds the quotes in the store
 * again, and goes on. */
static gboolean
run_purge (QmQuoteStore *store, Purge *purge, GError **error)
{
  g_autoptr (GArray) quotes =
      g_array_new (FALSE, FALSE, sizeof (QmStoreErased));
  gboolean in_file = strcmp (store->path, QM_QUOTE_STORE_IN_MEMORY) != 0;

  purge->quotes = quotes;
  if (!qm_store_read (store, choose_erased, purge, error))
    return FALSE;
  if (quotes->len == 0)
    return TRUE;
  if (in_file && !qm_store_erase_from_backups (store->path, quotes, error))
    return FALSE;
  if (!qm_store_write (store, erase, purge, error))
    return FALSE;
  /* What was erased is not to stay in the journal, either; where somebody reads
   * just now, it goes with the next writing. */
  if (in_file)
    sqlite3_wal_checkpoint_v2 (store->db, "main", SQLITE_CHECKPOINT_TRUNCATE,
                               NULL, NULL);
  return TRUE;
}

int
qm_quote_store_purge (QmQuoteStore *store, gint64 before, GError **error)
{
  Purge purge = { .before = before };

  g_return_val_if_fail (store != NULL, -1);

  return run_purge (store, &purge, error) ? purge.erased : -1;
}

gboolean
qm_quote_store_erase (QmQuoteStore *store, gint64 id, GError **error)
{
  Purge purge = { .before = G_MININT64, .id = id };

  g_return_val_if_fail (store != NULL, FALSE);

  return run_purge (store, &purge, error)
         && (purge.erased > 0 || fail_not_found (store, id, error));
}
