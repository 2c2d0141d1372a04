/* SPDX-License-Identifier: Apache-2.0 */

/* Getting quotes back. */

#include "config.h"

#include "pricing/quotes/qm-quote-store-private.h"
#include "pricing/quotes/qm-search-text.h"

#include <glib/gi18n-lib.h>
#include <string.h>

void
qm_quote_attachment_free (QmQuoteAttachment *attachment)
{
  if (attachment == NULL)
    return;
  g_free (attachment->sha256);
  g_free (attachment->name);
  g_free (attachment->media_type);
  g_clear_pointer (&attachment->bytes, g_bytes_unref);
  g_free (attachment);
}

QmQuoteAttachment *
qm_quote_attachment_new (GBytes *bytes,
                         const char *name,
                         const char *media_type)
{
  QmQuoteAttachment *attachment = g_new0 (QmQuoteAttachment, 1);

  g_return_val_if_fail (bytes != NULL, attachment);

  attachment->sha256 = g_compute_checksum_for_bytes (G_CHECKSUM_SHA256, bytes);
  attachment->name = g_strdup (name);
  attachment->media_type = g_strdup (media_type);
  attachment->size = (gint64) g_bytes_get_size (bytes);
  if (attachment->size <= QM_QUOTE_STORE_MAX_ATTACHMENT)
    attachment->bytes = g_bytes_ref (bytes);
  return attachment;
}

/* A statement with the id bound, or NULL with an error. */
static QmStatement *
prepare_for (QmQuoteStore *store, const char *sql, gint64 id, GError **error)
{
  QmStatement *statement = qm_store_prepare (store, sql, error);
  int n = 0;

  if (statement != NULL)
    qm_bind_int (statement, &n, id);
  return statement;
}

/* Words come from a list that a later version may have extended; what is none
 * may also be a damage that looking the file through does not notice. */
static gboolean
check_known (QmQuoteStore *store, gint64 id, gboolean known, GError **error)
{
  if (!known)
    g_set_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_INVALID,
                 _ ("Quote %lld in “%s” says something that is damaged or that "
                    "this version does not know."),
                 (long long) id, store->path);
  return known;
}

static gboolean
load_head (QmQuoteStore *store, QmQuote *quote, GError **error)
{
  static const char sql[] =
      "SELECT vendors.name, number, note, currency, kind, unit, issued_on,"
      "  valid_from, valid_until, tax_included, net_minor, discount_minor,"
      "  charge_minor, tax_minor, payable_minor, origin, source, sha256,"
      "  read_at, alternative, supersedes, asked, answered,"
      "  deleted_at"
      " FROM quotes LEFT JOIN vendors ON vendors.id = vendor"
      " WHERE quotes.id = ?1";
  g_autoptr (QmStatement) row = prepare_for (store, sql, quote->id, error);
  gboolean known = TRUE;
  int n = -1;
  int step;

  if (row == NULL)
    return FALSE;
  step = qm_store_step (store, row, error);
  if (step == 0)
    g_set_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_NOT_FOUND,
                 _ ("There is no quote %lld in “%s”."), (long long) quote->id,
                 store->path);
  if (step != 1)
    return FALSE;
  quote->vendor = qm_column_dup (row, &n);
  quote->number = qm_column_dup (row, &n);
  quote->note = qm_column_dup (row, &n);
  qm_column_currency (row, &n, quote->currency, &known);
  quote->kind = (QmPriceKind) qm_column_word (row, &n, qm_word_of_kind,
                                              QM_PRICE_CLOUD + 1, &known);
  quote->unit = (QmPriceUnit) qm_column_word (row, &n, qm_word_of_unit,
                                              QM_PRICE_HOUR + 1, &known);
  quote->issued_on = qm_column_date (row, &n, &known);
  quote->valid_from = qm_column_date (row, &n, &known);
  quote->valid_until = qm_column_date (row, &n, &known);
  quote->tax_included = qm_column_tristate (row, &n, &known);
  quote->net_minor = qm_column_amount (row, &n, &known);
  quote->discount_minor = qm_column_amount (row, &n, &known);
  quote->charge_minor = qm_column_amount (row, &n, &known);
  quote->tax_minor = qm_column_amount (row, &n, &known);
  quote->payable_minor = qm_column_amount (row, &n, &known);
  quote->origin = (QmQuoteOrigin) qm_column_word (row, &n, qm_word_of_origin,
                                                  QM_N_QUOTE_ORIGINS, &known);
  quote->source = qm_column_dup (row, &n);
  quote->sha256 = qm_column_dup (row, &n);
  quote->read_at = qm_column_int (row, &n, &known);
  quote->alternative = qm_column_dup (row, &n);
  quote->supersedes = qm_column_dup (row, &n);
  quote->asked = qm_column_asks (row, &n, &known);
  quote->answered = qm_column_asks (row, &n, &known);
  qm_column_amount (row, &n, &known); /* when it was deleted */
  return check_known (store, quote->id, known, error);
}

static gboolean
load_line (QmQuote *quote, QmStatement *row)
{
  gboolean known = TRUE;
  int n = -1;
  QmQuoteLine *line =
      qm_quote_add_line (quote,
                         (QmLineRole) qm_column_word (row, &n, qm_word_of_role,
                                                      QM_N_LINE_ROLES, &known));

  line->number = qm_column_dup (row, &n);
  line->part_number = qm_column_dup (row, &n);
  line->description = qm_column_dup (row, &n);
  line->unit = qm_column_dup (row, &n);
  line->quantity_micros = qm_column_amount (row, &n, &known);
  line->price_micros = qm_column_amount (row, &n, &known);
  line->base_quantity_micros = qm_column_amount (row, &n, &known);
  line->discount_minor = qm_column_amount (row, &n, &known);
  line->charge_minor = qm_column_amount (row, &n, &known);
  line->total_minor = qm_column_amount (row, &n, &known);
  line->match = (QmMatchState) qm_column_word (row, &n, qm_word_of_match,
                                               QM_N_MATCHES, &known);
  line->item = qm_column_dup (row, &n);
  line->gpus = (int) qm_column_int (row, &n, &known);
  line->candidates = qm_column_dup (row, &n);
  line->thing = (QmLineThing) qm_column_word (row, &n, qm_word_of_thing,
                                              QM_N_THINGS, &known);
  line->asked = qm_column_asks (row, &n, &known);
  line->answered = qm_column_asks (row, &n, &known);
  return known;
}

static gboolean
load_lines (QmQuoteStore *store, QmQuote *quote, GError **error)
{
  static const char sql[] =
      "SELECT role, number, part_number, description, unit, quantity_micros,"
      "  price_micros, base_quantity_micros, discount_minor, charge_minor,"
      "  total_minor, match, item, gpus, candidates, thing, asked,"
      "  answered"
      " FROM lines WHERE quote = ?1 ORDER BY position";
  g_autoptr (QmStatement) row = prepare_for (store, sql, quote->id, error);
  gboolean known = TRUE;
  int step = -1;

  while (row != NULL && known
         && (step = qm_store_step (store, row, error)) == 1)
    known = load_line (quote, row);
  return check_known (store, quote->id, known, error) && step == 0;
}

static gboolean
load_findings (QmQuoteStore *store, QmQuote *quote, GError **error)
{
  static const char sql[] = "SELECT level, place, message FROM findings"
                            " WHERE quote = ?1 ORDER BY position";
  g_autoptr (QmStatement) row = prepare_for (store, sql, quote->id, error);
  gboolean known = TRUE;
  int step = -1;

  while (row != NULL && known
         && (step = qm_store_step (store, row, error)) == 1)
    {
      int n = -1;
      int level = qm_column_word (row, &n, qm_word_of_level,
                                  QM_N_FINDING_LEVELS, &known);
      g_autofree char *place = qm_column_dup (row, &n);
      g_autofree char *message = qm_column_dup (row, &n);

      qm_quote_add_finding (quote, (QmFindingLevel) level, place,
                            message != NULL ? message : "");
    }
  return check_known (store, quote->id, known, error) && step == 0;
}

QmQuote *
qm_store_load_quote (QmQuoteStore *store, gint64 id, GError **error)
{
  g_autoptr (QmQuote) quote = qm_quote_new ();

  quote->id = id;
  if (!load_head (store, quote, error) || !load_lines (store, quote, error)
      || !load_findings (store, quote, error))
    return NULL;
  return g_steal_pointer (&quote);
}

typedef struct
{
  gint64 id;
  QmQuote *quote;
} Get;

static gboolean
get (QmQuoteStore *store, gpointer data, GError **error)
{
  Get *what = data;

  what->quote = qm_store_load_quote (store, what->id, error);
  return what->quote != NULL;
}

QmQuote *
qm_quote_store_get (QmQuoteStore *store, gint64 id, GError **error)
{
  Get what = { id, NULL };

  g_return_val_if_fail (store != NULL, NULL);

  if (!qm_store_read (store, get, &what, error))
    g_clear_pointer (&what.quote, qm_quote_free);
  return what.quote;
}

typedef struct
{
  gboolean with_items;
  GCancellable *cancellable;
  GPtrArray *quotes;
  GPtrArray *problems;
} GetAll;

/* Reads one more; one that cannot be understood stops none of the others. */
static gboolean
get_one (QmQuoteStore *store, const GetAll *what, gint64 id, GError **error)
{
  g_autoptr (GError) trouble = NULL;
  QmQuote *quote = qm_store_load_quote (store, id, &trouble);

  if (quote != NULL)
    {
      g_ptr_array_add (what->quotes, quote);
      return TRUE;
    }
  if (!g_error_matches (trouble, QM_QUOTE_STORE_ERROR,
                        QM_QUOTE_STORE_ERROR_INVALID))
    {
      g_propagate_error (error, g_steal_pointer (&trouble));
      return FALSE;
    }
  g_ptr_array_add (what->problems,
                   g_strconcat (trouble->message, " ", _ ("It does not count."),
                                NULL));
  return TRUE;
}

/* What is no time does not say that a quote is deleted. */
#define NOT_DELETED "typeof (deleted_at) <> 'integer'"

static gboolean
get_all (QmQuoteStore *store, gpointer data, GError **error)
{
  static const char all[] =
      "SELECT id FROM quotes WHERE " NOT_DELETED " ORDER BY id";
  static const char with_items[] =
      "SELECT id FROM quotes WHERE " NOT_DELETED " AND EXISTS"
      " (SELECT 1 FROM lines WHERE quote = quotes.id"
      "  AND (item IS NOT NULL OR match <> 'none'))"
      " ORDER BY id";
  const GetAll *what = data;
  g_autoptr (QmStatement) row =
      qm_store_prepare (store, what->with_items ? with_items : all, error);
  int step = -1;

  while (row != NULL && (step = qm_store_step (store, row, error)) == 1)
    if (g_cancellable_set_error_if_cancelled (what->cancellable, error)
        || !get_one (store, what, sqlite3_column_int64 (row, 0), error))
      return FALSE;
  return step == 0;
}

GPtrArray *
qm_quote_store_get_all (QmQuoteStore *store,
                        gboolean with_items,
                        GPtrArray *problems,
                        GCancellable *cancellable,
                        GError **error)
{
  g_autoptr (GPtrArray) quotes =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
  GetAll what = { with_items, cancellable, quotes, problems };

  g_return_val_if_fail (store != NULL && problems != NULL, NULL);

  if (!qm_store_read (store, get_all, &what, error))
    return NULL;
  return g_steal_pointer (&quotes);
}

GPtrArray *
qm_quote_store_attachments (QmQuoteStore *store, gint64 id, GError **error)
{
  static const char sql[] = "SELECT sha256, name, media_type, size, bytes"
                            " FROM attachments"
                            " JOIN documents ON documents.id = document"
                            " WHERE quote = ?1 ORDER BY attachments.id";
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (
      (GDestroyNotify) qm_quote_attachment_free);
  g_autoptr (QmStatement) row = NULL;
  int step = -1;

  g_return_val_if_fail (store != NULL, NULL);

  row = prepare_for (store, sql, id, error);
  while (row != NULL && (step = qm_store_step (store, row, error)) == 1)
    {
      QmQuoteAttachment *attachment = g_new0 (QmQuoteAttachment, 1);
      int n = -1;

      attachment->sha256 = qm_column_dup (row, &n);
      attachment->name = qm_column_dup (row, &n);
      attachment->media_type = qm_column_dup (row, &n);
      attachment->size = qm_column_int (row, &n, NULL);
      if (sqlite3_column_type (row, ++n) != SQLITE_NULL)
        attachment->bytes = g_bytes_new (sqlite3_column_blob (row, n),
                                         (gsize) sqlite3_column_bytes (row, n));
      g_ptr_array_add (all, attachment);
    }
  return step == 0 ? g_steal_pointer (&all) : NULL;
}

/* Whether a word of `name` begins with `typed`, both folded. */
static gboolean
a_word_begins (const char *name, const char *typed)
{
  for (const char *at = strstr (name, typed); at != NULL;
       at = strstr (at + 1, typed))
    if (at == name || at[-1] == ' ')
      return TRUE;
  return FALSE;
}

GStrv
qm_quote_store_vendors (QmQuoteStore *store,
                        const char *typed,
                        guint limit,
                        GError **error)
{
  static const char sql[] =
      "SELECT name FROM vendors JOIN quotes ON vendor = vendors.id"
      " WHERE deleted_at IS NULL"
      " GROUP BY vendors.id ORDER BY count (*) DESC, name";
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  g_autofree char *prefix = qm_search_text_fold (typed != NULL ? typed : "");
  g_autoptr (QmStatement) row = NULL;
  int step = -1;
  guint found = 0;

  g_return_val_if_fail (store != NULL, NULL);

  row = qm_store_prepare (store, sql, error);
  while (row != NULL && (step = qm_store_step (store, row, error)) == 1
         && found < limit)
    {
      int n = -1;
      const char *name = qm_column_text (row, &n);
      g_autofree char *folded = qm_search_text_fold (name);

      if (*prefix == '\0' || a_word_begins (folded, prefix))
        {
          g_strv_builder_add (names, name);
          found++;
        }
    }
  return step >= 0 ? g_strv_builder_end (names) : NULL;
}
