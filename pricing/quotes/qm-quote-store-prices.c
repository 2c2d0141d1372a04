/* SPDX-License-Identifier: Apache-2.0 */

/* Price history and watched pages in the store. */

#include "config.h"

#include "pricing/qm-exact.h"
#include "pricing/quotes/qm-quote-offer.h"
#include "pricing/quotes/qm-quote-store-prices.h"
#include "pricing/quotes/qm-quote-store-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

void
qm_price_point_free (QmPricePoint *point)
{
  if (point == NULL)
    return;
  g_free (point->item);
  g_free (point->source);
  g_free (point->vendor);
  g_free (point);
}

QmWatched *
qm_watched_new (const char *address)
{
  QmWatched *watched = g_new0 (QmWatched, 1);

  watched->address = g_strdup (address);
  watched->last_micros = QM_AMOUNT_UNSTATED;
  return watched;
}

void
qm_watched_free (QmWatched *watched)
{
  if (watched == NULL)
    return;
  g_free (watched->address);
  g_free (watched->title);
  g_free (watched->item);
  g_free (watched->etag);
  g_free (watched->last_modified);
  g_free (watched->error);
  g_free (watched);
}

static gboolean
check_point (const QmPricePoint *point, GError **error)
{
  if (point->source == NULL || point->date.year == 0 || point->micros < 0
      || !qm_currency_valid (point->currency))
    return qm_quote_store_refuse (
        error, _ ("A price needs an amount with its currency, a "
                  "day and a source."));
  if (point->kind > QM_PRICE_CLOUD || point->unit > QM_PRICE_HOUR)
    return qm_quote_store_refuse (error,
                                  _ ("The kind of the price is not known."));
  return qm_store_check_text (point->source, error)
         && qm_store_check_text (point->item, error)
         && qm_store_check_date (point->date, error);
}

static gboolean
put_price (QmQuoteStore *store, gpointer data, GError **error)
{
  static const char sql[] =
      "INSERT INTO prices (source, item, kind, unit, gpus, date, micros,"
      "  currency, tax_included)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
      " ON CONFLICT (source, ifnull (item, ''), kind, unit, date)"
      " DO UPDATE SET gpus = excluded.gpus, micros = excluded.micros,"
      "  currency = excluded.currency, tax_included = excluded.tax_included";
  const QmPricePoint *point = data;
  QmStatement *statement = qm_store_prepare (store, sql, error);
  int n = 0;

  if (statement == NULL)
    return FALSE;
  qm_bind_text (statement, &n, point->source);
  qm_bind_text (statement, &n, point->item);
  qm_bind_text (statement, &n, qm_price_kind_name (point->kind));
  qm_bind_text (statement, &n, qm_price_unit_name (point->unit));
  qm_bind_int (statement, &n, point->gpus);
  qm_bind_date (statement, &n, point->date);
  qm_bind_int (statement, &n, point->micros);
  qm_bind_text (statement, &n, point->currency);
  qm_bind_tristate (statement, &n, point->tax_included);
  return qm_store_run (store, statement, error);
}

static gboolean
put_prices (QmQuoteStore *store, gpointer data, GError **error)
{
  GPtrArray *points = data;

  for (guint i = 0; i < points->len; i++)
    if (!put_price (store, g_ptr_array_index (points, i), error))
      return FALSE;
  return TRUE;
}

gboolean
qm_quote_store_put_prices (QmQuoteStore *store,
                           GPtrArray *points,
                           GError **error)
{
  g_return_val_if_fail (store != NULL && points != NULL, FALSE);

  for (guint i = 0; i < points->len; i++)
    if (!check_point (g_ptr_array_index (points, i), error))
      return FALSE;
  return qm_store_write (store, put_prices, points, error);
}

/* Columns that both kinds of prices have, in this order. */
static QmPricePoint *
read_point (QmStatement *row, int *n, gboolean *known)
{
  QmPricePoint *point = g_new0 (QmPricePoint, 1);

  point->item = qm_column_dup (row, n);
  point->kind = (QmPriceKind) qm_column_word (row, n, qm_word_of_kind,
                                              QM_PRICE_CLOUD + 1, known);
  point->unit = (QmPriceUnit) qm_column_word (row, n, qm_word_of_unit,
                                              QM_PRICE_HOUR + 1, known);
  point->gpus = (int) qm_column_int (row, n, known);
  point->date = qm_column_date (row, n, known);
  point->micros = qm_column_int (row, n, known);
  qm_column_currency (row, n, point->currency, known);
  point->tax_included = qm_column_tristate (row, n, known);
  point->source = qm_column_dup (row, n);
  return point;
}

/* Appends the prices that were seen. */
static gboolean
append_seen (QmQuoteStore *store,
             const char *sql,
             const char *key,
             GPtrArray *points,
             GError **error)
{
  g_autoptr (QmStatement) row = qm_store_prepare (store, sql, error);
  int step = -1;
  int parameter = 0;

  if (row != NULL)
    qm_bind_text (row, &parameter, key);
  while (row != NULL && (step = qm_store_step (store, row, error)) == 1)
    {
      gboolean known = TRUE;
      int n = -1;
      g_autoptr (QmPricePoint) point = read_point (row, &n, &known);

      if (known)
        g_ptr_array_add (points, g_steal_pointer (&point));
    }
  return step == 0;
}

/* What a quote offers of an item. */
static void
append_offers (const QmCatalog *catalog,
               const QmQuote *quote,
               const char *item,
               GPtrArray *points)
{
  g_autoptr (GArray) offers = qm_quote_offers (catalog, quote, NULL);

  for (guint i = 0; i < offers->len; i++)
    {
      const QmQuoteOffer *offer = &g_array_index (offers, QmQuoteOffer, i);
      QmPricePoint *point;
      gint64 micros;

      if (strcmp (offer->item, item) != 0
          || !qm_quote_offer_price (quote, offer, &micros))
        continue;
      point = g_new0 (QmPricePoint, 1);
      point->item = g_strdup (item);
      point->kind = quote->kind;
      point->unit = quote->unit;
      point->gpus = MAX (offer->gpus, 1);
      point->date = qm_quote_day (quote);
      point->micros = micros;
      memcpy (point->currency, quote->currency, sizeof point->currency);
      point->tax_included = offer->taxed ? QM_YES : QM_NO;
      if (!offer->taxed && offer->tax_minor == QM_AMOUNT_UNSTATED)
        point->tax_included = quote->tax_included;
      point->source = g_strdup (quote->source);
      point->quote = quote->id;
      point->vendor = g_strdup (quote->vendor);
      g_ptr_array_add (points, point);
    }
}

/* Appends what the quotes that name an item offer of it. */
static gboolean
append_offered (QmQuoteStore *store,
                const QmCatalog *catalog,
                const char *item,
                GPtrArray *points,
                GError **error)
{
  static const char sql[] =
      "SELECT DISTINCT quote FROM lines JOIN quotes ON quotes.id = quote"
      " WHERE item = ?1 AND deleted_at IS NULL AND quotes.unit = 'each'";
  g_autoptr (QmStatement) row = qm_store_prepare (store, sql, error);
  int step = -1;
  int parameter = 0;

  if (row != NULL)
    qm_bind_text (row, &parameter, item);
  while (row != NULL && (step = qm_store_step (store, row, error)) == 1)
    {
      g_autoptr (GError) trouble = NULL;
      g_autoptr (QmQuote) quote =
          qm_store_load_quote (store, sqlite3_column_int64 (row, 0), &trouble);

      /* One that cannot be understood stops none of the others. */
      if (g_error_matches (trouble, QM_QUOTE_STORE_ERROR,
                           QM_QUOTE_STORE_ERROR_INVALID))
        continue;
      if (quote == NULL)
        {
          g_propagate_error (error, g_steal_pointer (&trouble));
          return FALSE;
        }
      if (qm_quote_day (quote).year != 0)
        append_offers (catalog, quote, item, points);
    }
  return step == 0;
}

/* Appends the prices of quoted lines: all, or those to rent. */
static gboolean
append_quoted (QmQuoteStore *store,
               const char *item,
               gboolean rents,
               GPtrArray *points,
               GError **error)
{
  static const char sql[] =
      "SELECT lines.item, kind, quotes.unit, gpus,"
      "  coalesce (issued_on, valid_from, date (read_at, 'unixepoch')),"
      "  price_micros, currency, tax_included, source, quotes.id,"
      "  vendors.name, base_quantity_micros"
      " FROM lines JOIN quotes ON quotes.id = lines.quote"
      "  LEFT JOIN vendors ON vendors.id = vendor"
      " WHERE lines.item = ?1 AND role = 'quoted' AND price_micros >= 0"
      "  AND base_quantity_micros > 0 AND currency <> ''"
      "  AND deleted_at IS NULL AND (?2 = 0 OR quotes.unit = 'hour')"
      "  AND (issued_on IS NOT NULL OR valid_from IS NOT NULL OR read_at <> 0)";
  g_autoptr (QmStatement) row = qm_store_prepare (store, sql, error);
  int step = -1;
  int parameter = 0;

  if (row != NULL)
    {
      qm_bind_text (row, &parameter, item);
      qm_bind_int (row, &parameter, rents);
    }
  while (row != NULL && (step = qm_store_step (store, row, error)) == 1)
    {
      gboolean known = TRUE;
      int n = -1;
      g_autoptr (QmPricePoint) point = read_point (row, &n, &known);

      point->quote = qm_column_int (row, &n, NULL);
      point->vendor = qm_column_dup (row, &n);
      if (known && point->date.year != 0
          && qm_exact_scale (point->micros, QM_MICROS_PER_UNIT,
                             qm_column_int (row, &n, NULL), &point->micros))
        g_ptr_array_add (points, g_steal_pointer (&point));
    }
  return step == 0;
}

static int
compare_points (gconstpointer a, gconstpointer b)
{
  const QmPricePoint *const *p = a;
  const QmPricePoint *const *q = b;
  int by_date = qm_date_compare ((*p)->date, (*q)->date);

  if (by_date != 0)
    return by_date;
  return ((*p)->quote > (*q)->quote) - ((*p)->quote < (*q)->quote);
}

static GPtrArray *
points_new (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) qm_price_point_free);
}

typedef struct
{
  const QmCatalog *catalog;
  const char *item;
  GPtrArray *points;
} History;

static gboolean
read_history (QmQuoteStore *store, gpointer data, GError **error)
{
  static const char sql[] =
      "SELECT item, kind, unit, gpus, date, micros, currency, tax_included,"
      "  source FROM prices WHERE item = ?1 ORDER BY date";
  History *history = data;

  return append_seen (store, sql, history->item, history->points, error)
         && append_quoted (store, history->item, history->catalog != NULL,
                           history->points, error)
         && (history->catalog == NULL
             || append_offered (store, history->catalog, history->item,
                                history->points, error));
}

GPtrArray *
qm_quote_store_price_history (QmQuoteStore *store,
                              const QmCatalog *catalog,
                              const char *item,
                              GError **error)
{
  g_autoptr (GPtrArray) points = points_new ();
  History history = { catalog, item, points };

  g_return_val_if_fail (store != NULL && item != NULL, NULL);

  if (!qm_store_read (store, read_history, &history, error))
    return NULL;
  g_ptr_array_sort (points, compare_points);
  return g_steal_pointer (&points);
}

GPtrArray *
qm_quote_store_price_history_of_source (QmQuoteStore *store,
                                        const char *source,
                                        GError **error)
{
  static const char sql[] =
      "SELECT item, kind, unit, gpus, date, micros, currency, tax_included,"
      "  source FROM prices WHERE source = ?1 ORDER BY date";
  g_autoptr (GPtrArray) points = points_new ();

  g_return_val_if_fail (store != NULL && source != NULL, NULL);

  if (!append_seen (store, sql, source, points, error))
    return NULL;
  return g_steal_pointer (&points);
}

/* "$" comes after "#": the address itself, then all that begin with it and
 * "#". */
gint64
qm_quote_store_count_prices (QmQuoteStore *store,
                             const char *address,
                             QmDate date,
                             GError **error)
{
  static const char sql[] =
      "SELECT count (*) FROM prices WHERE date = ?2 AND (source = ?1"
      "  OR (source >= ?1 || '#' AND source < ?1 || '$'))";
  g_autoptr (QmStatement) row = NULL;
  int n = 0;

  g_return_val_if_fail (store != NULL && address != NULL, -1);

  row = qm_store_prepare (store, sql, error);
  if (row == NULL)
    return -1;
  qm_bind_text (row, &n, address);
  qm_bind_date (row, &n, date);
  if (qm_store_step (store, row, error) != 1)
    return -1;
  return sqlite3_column_int64 (row, 0);
}

#define WATCHED_COLUMNS                                                     \
  "SELECT id, address, title, item, last_micros, last_currency, last_date," \
  "  etag, last_modified, tried_at, error, error_at FROM watched"

static QmWatched *
read_watched (QmStatement *row)
{
  QmWatched *watched = g_new0 (QmWatched, 1);
  int n = -1;

  watched->id = qm_column_int (row, &n, NULL);
  watched->address = qm_column_dup (row, &n);
  watched->title = qm_column_dup (row, &n);
  watched->item = qm_column_dup (row, &n);
  watched->last_micros = qm_column_amount (row, &n, NULL);
  qm_column_currency (row, &n, watched->last_currency, NULL);
  watched->last_date = qm_column_date (row, &n, NULL);
  watched->etag = qm_column_dup (row, &n);
  watched->last_modified = qm_column_dup (row, &n);
  watched->tried_at = qm_column_int (row, &n, NULL);
  watched->error = qm_column_dup (row, &n);
  watched->error_at = qm_column_int (row, &n, NULL);
  return watched;
}

GPtrArray *
qm_quote_store_watched (QmQuoteStore *store, GError **error)
{
  static const char sql[] = WATCHED_COLUMNS " ORDER BY id";
  g_autoptr (GPtrArray) all =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_watched_free);
  g_autoptr (QmStatement) row = NULL;
  int step = -1;

  g_return_val_if_fail (store != NULL, NULL);

  row = qm_store_prepare (store, sql, error);
  while (row != NULL && (step = qm_store_step (store, row, error)) == 1)
    g_ptr_array_add (all, read_watched (row));
  return step == 0 ? g_steal_pointer (&all) : NULL;
}

static gboolean
fail_not_watched (QmQuoteStore *store, const char *address, GError **error)
{
  g_set_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_NOT_FOUND,
               _ ("“%s” is not watched."), address);
  return FALSE;
}

QmWatched *
qm_quote_store_get_watched (QmQuoteStore *store,
                            const char *address,
                            GError **error)
{
  static const char sql[] = WATCHED_COLUMNS " WHERE address = ?1";
  g_autoptr (QmStatement) row = NULL;
  int n = 0;
  int step;

  g_return_val_if_fail (store != NULL && address != NULL, NULL);

  row = qm_store_prepare (store, sql, error);
  if (row == NULL)
    return NULL;
  qm_bind_text (row, &n, address);
  step = qm_store_step (store, row, error);
  if (step == 0)
    fail_not_watched (store, address, error);
  return step == 1 ? read_watched (row) : NULL;
}

typedef struct
{
  const QmWatched *watched;
  const QmPricePoint *seen;
  gint64 id;
} Watch;

static gboolean
find_watched_id (QmQuoteStore *store, Watch *watch, GError **error)
{
  static const char sql[] = "SELECT id FROM watched WHERE address = ?1";
  g_autoptr (QmStatement) row = qm_store_prepare (store, sql, error);
  int n = 0;

  if (row == NULL)
    return FALSE;
  qm_bind_text (row, &n, watch->watched->address);
  if (qm_store_step (store, row, error) != 1)
    return FALSE;
  watch->id = sqlite3_column_int64 (row, 0);
  return TRUE;
}

static gboolean
put_watched (QmQuoteStore *store, gpointer data, GError **error)
{
  static const char sql[] =
      "INSERT INTO watched (address, title, item, last_micros, last_currency,"
      "  last_date, etag, last_modified, tried_at, error, error_at)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
      " ON CONFLICT (address) DO UPDATE SET title = excluded.title,"
      "  item = excluded.item, last_micros = excluded.last_micros,"
      "  last_currency = excluded.last_currency,"
      "  last_date = excluded.last_date, etag = excluded.etag,"
      "  last_modified = excluded.last_modified,"
      "  tried_at = excluded.tried_at, error = excluded.error,"
      "  error_at = excluded.error_at";
  Watch *watch = data;
  const QmWatched *watched = watch->watched;
  QmStatement *statement = qm_store_prepare (store, sql, error);
  int n = 0;

  if (statement == NULL)
    return FALSE;
  qm_bind_text (statement, &n, watched->address);
  qm_bind_text (statement, &n, watched->title);
  qm_bind_text (statement, &n, watched->item);
  qm_bind_amount (statement, &n, watched->last_micros);
  qm_bind_text (statement, &n, watched->last_currency);
  qm_bind_date (statement, &n, watched->last_date);
  qm_bind_text (statement, &n, watched->etag);
  qm_bind_text (statement, &n, watched->last_modified);
  qm_bind_int (statement, &n, watched->tried_at);
  qm_bind_text (statement, &n, watched->error);
  qm_bind_int (statement, &n, watched->error_at);
  return qm_store_run (store, statement, error)
         && find_watched_id (store, watch, error)
         && (watch->seen == NULL
             || put_price (store, (gpointer) watch->seen, error));
}

static gboolean
check_watched (const QmWatched *watched, GError **error)
{
  const char *const texts[] = { watched->address,       watched->title,
                                watched->item,          watched->etag,
                                watched->last_modified, watched->error };

  if (watched->address == NULL || watched->address[0] == '\0')
    return qm_quote_store_refuse (error,
                                  _ ("A watched page needs an address."));
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    if (!qm_store_check_text (texts[i], error))
      return FALSE;
  return qm_store_check_currency (watched->last_currency, error)
         && qm_store_check_date (watched->last_date, error);
}

gint64
qm_quote_store_put_watched (QmQuoteStore *store,
                            const QmWatched *watched,
                            const QmPricePoint *seen,
                            GError **error)
{
  Watch watch = { watched, seen, 0 };

  g_return_val_if_fail (store != NULL && watched != NULL, 0);

  if (!check_watched (watched, error)
      || (seen != NULL && !check_point (seen, error))
      || !qm_store_write (store, put_watched, &watch, error))
    return 0;
  return watch.id;
}

static gboolean
remove_watched (QmQuoteStore *store, gpointer data, GError **error)
{
  static const char sql[] = "DELETE FROM watched WHERE address = ?1";
  const char *address = data;
  QmStatement *statement = qm_store_prepare (store, sql, error);
  int n = 0;

  if (statement == NULL)
    return FALSE;
  qm_bind_text (statement, &n, address);
  if (!qm_store_run (store, statement, error))
    return FALSE;
  return sqlite3_changes (store->db) == 1
         || fail_not_watched (store, address, error);
}

gboolean
qm_quote_store_remove_watched (QmQuoteStore *store,
                               const char *address,
                               GError **error)
{
  g_return_val_if_fail (store != NULL && address != NULL, FALSE);

  return qm_store_write (store, remove_watched, (gpointer) address, error);
}
