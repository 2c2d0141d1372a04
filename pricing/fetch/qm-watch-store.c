/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/fetch/qm-watch-store.h"

#include <string.h>

#define SECONDS_PER_DAY 86400

static const QmDate epoch = { 1970, 1, 1 };

static QmDate
day_of (gint64 seconds)
{
  g_autoptr (GDateTime) time = g_date_time_new_from_unix_utc (seconds);

  if (time == NULL)
    return (QmDate){ 0 };
  return (QmDate){ g_date_time_get_year (time), g_date_time_get_month (time),
                   g_date_time_get_day_of_month (time) };
}

/* The last price of a page, with what its history tells besides. */
static QmQuote *
quote_of (QmQuoteStore *store, const QmWatched *watched, GError **error)
{
  g_autoptr (GPtrArray) history =
      qm_quote_store_price_history_of_source (store, watched->address, error);
  const QmPricePoint *last = NULL;
  QmQuote *quote;
  QmQuoteLine *line;

  if (history == NULL)
    return NULL;
  if (history->len > 0)
    last = g_ptr_array_index (history, history->len - 1);
  quote = qm_quote_new ();
  line = qm_quote_add_line (quote, QM_LINE_QUOTED);
  memcpy (quote->currency, watched->last_currency, sizeof quote->currency);
  quote->kind = QM_PRICE_STREET;
  quote->origin = QM_QUOTE_FROM_PAGE;
  quote->source = g_strdup (watched->address);
  quote->issued_on = watched->last_date;
  line->price_micros = watched->last_micros;
  if (last != NULL && last->micros == watched->last_micros)
    {
      quote->kind = last->kind;
      quote->unit = last->unit;
      quote->tax_included = last->tax_included;
      line->gpus = last->gpus;
      line->item = g_strdup (last->item);
    }
  return quote;
}

static QmWatch *
watch_of (QmQuoteStore *store, const QmWatched *watched, GError **error)
{
  g_autoptr (QmWatch) watch = g_new0 (QmWatch, 1);

  watch->id = watched->id;
  watch->kind = qm_watch_kind_of_address (watched->address);
  watch->address = g_strdup (watched->address);
  watch->etag = g_strdup (watched->etag);
  watch->last_modified = g_strdup (watched->last_modified);
  watch->tried_at = watched->tried_at;
  watch->failure = g_strdup (watched->error);
  if (watched->last_date.year > 0)
    watch->read_at = (gint64) qm_date_days_between (epoch, watched->last_date)
                     * SECONDS_PER_DAY;
  if (watch->kind == QM_WATCH_PAGE
      && watched->last_micros != QM_AMOUNT_UNSTATED)
    {
      watch->quote = quote_of (store, watched, error);
      if (watch->quote == NULL)
        return NULL;
    }
  return g_steal_pointer (&watch);
}

GPtrArray *
qm_watch_store_load (QmQuoteStore *store, GError **error)
{
  g_autoptr (GPtrArray) watched = NULL;
  g_autoptr (GPtrArray) watches = NULL;

  g_return_val_if_fail (store != NULL, NULL);

  watched = qm_quote_store_watched (store, error);
  if (watched == NULL)
    return NULL;
  watches = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_watch_free);
  for (guint i = 0; i < watched->len; i++)
    {
      QmWatch *watch = watch_of (store, g_ptr_array_index (watched, i), error);

      if (watch == NULL)
        return NULL;
      g_ptr_array_add (watches, watch);
    }
  return g_steal_pointer (&watches);
}

/* A price of an entry; its strings are borrowed. */
static QmPricePoint
point_of (const QmWatch *watch, const QmQuoteLine *line, char *source)
{
  QmPricePoint point = {
    .item = line->item,
    .kind = watch->quote->kind,
    .unit = watch->quote->unit,
    .gpus = line->gpus,
    .date = day_of (watch->read_at),
    .micros = line->price_micros,
    .tax_included = watch->quote->tax_included,
    .source = source,
  };

  memcpy (point.currency, watch->quote->currency, sizeof point.currency);
  return point;
}

static gboolean
has_price (const QmWatch *watch, const QmQuoteLine *line)
{
  return line->role == QM_LINE_QUOTED
         && line->price_micros != QM_AMOUNT_UNSTATED && line->price_micros >= 0
         && watch->quote->currency[0] != '\0';
}

/* Where a line of a feed is, the same in every refresh.  How many offers the
 * median of Vast.ai is of stands in its description, and changes. */
static char *
source_of (const QmWatch *watch, const QmQuoteLine *line)
{
  const char *words = watch->kind == QM_WATCH_VAST && line->part_number != NULL
                          ? line->part_number
                          : line->description;

  return g_strdup_printf ("%s#%s", watch->address,
                          words != NULL ? words : line->item);
}

/* All prices of a feed that are of a known GPU, or none where one of them
 * cannot be kept. */
static gboolean
put_feed_prices (QmQuoteStore *store, const QmWatch *watch, GError **error)
{
  g_autoptr (GPtrArray) points =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_price_point_free);

  for (guint i = 0; i < watch->quote->lines->len; i++)
    {
      const QmQuoteLine *line = g_ptr_array_index (watch->quote->lines, i);
      QmPricePoint *point;

      if (line->item == NULL || !has_price (watch, line))
        continue;
      point = g_new (QmPricePoint, 1);
      *point = point_of (watch, line, source_of (watch, line));
      point->item = g_strdup (line->item);
      g_ptr_array_add (points, point);
    }
  return qm_quote_store_put_prices (store, points, error);
}

/* What the store knows of the entry's address, or nothing yet. */
static QmWatched *
watched_of (QmQuoteStore *store, const QmWatch *watch, GError **error)
{
  g_autoptr (GError) local = NULL;
  QmWatched *watched =
      qm_quote_store_get_watched (store, watch->address, &local);

  if (g_error_matches (local, QM_QUOTE_STORE_ERROR,
                       QM_QUOTE_STORE_ERROR_NOT_FOUND))
    return qm_watched_new (watch->address);
  if (local != NULL)
    g_propagate_error (error, g_steal_pointer (&local));
  return watched;
}

gboolean
qm_watch_store_save (QmQuoteStore *store,
                     const QmWatch *watch,
                     QmWatchOutcome outcome,
                     GError **error)
{
  g_autoptr (QmWatched) watched = NULL;
  const QmQuoteLine *line = NULL;
  gboolean read = outcome != QM_WATCH_FAILED && watch->quote != NULL;
  gboolean seen;
  QmPricePoint point;

  g_return_val_if_fail (store != NULL && watch != NULL, FALSE);

  if (outcome == QM_WATCH_CANCELLED)
    return TRUE;
  watched = watched_of (store, watch, error);
  if (watched == NULL)
    return FALSE;
  qm_watch_set_text (&watched->etag, watch->etag);
  qm_watch_set_text (&watched->last_modified, watch->last_modified);
  qm_watch_set_text (&watched->error, watch->failure);
  watched->tried_at = watch->tried_at;
  if (watch->failure != NULL)
    watched->error_at = watch->tried_at;
  if (read)
    watched->last_date = day_of (watch->read_at);
  if (read && watch->quote->lines->len > 0)
    line = g_ptr_array_index (watch->quote->lines, 0);
  seen =
      watch->kind == QM_WATCH_PAGE && line != NULL && has_price (watch, line);
  if (seen)
    {
      point = point_of (watch, line, watch->address);
      if (point.item == NULL)
        point.item = watched->item;
      watched->last_micros = point.micros;
      memcpy (watched->last_currency, point.currency,
              sizeof watched->last_currency);
    }
  if (read && watch->kind != QM_WATCH_PAGE
      && !put_feed_prices (store, watch, error))
    return FALSE;
  return qm_quote_store_put_watched (store, watched, seen ? &point : NULL,
                                     error)
         != 0;
}
