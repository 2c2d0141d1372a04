/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/fetch/qm-fetch-pace.h"

/* Hosts are forgotten when there are more than these and their time is over. */
#define MANY_HOSTS 256

struct _QmFetchPace
{
  GMutex mutex;
  gint64 interval;  /* microseconds */
  GHashTable *free; /* host -> gint64*: from when on it may be asked again */
};

QmFetchPace *
qm_fetch_pace_new (guint interval_ms)
{
  QmFetchPace *pace = g_new0 (QmFetchPace, 1);

  g_mutex_init (&pace->mutex);
  pace->interval = (gint64) interval_ms * 1000;
  pace->free = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return pace;
}

void
qm_fetch_pace_free (QmFetchPace *pace)
{
  if (pace == NULL)
    return;
  g_mutex_clear (&pace->mutex);
  g_hash_table_unref (pace->free);
  g_free (pace);
}

static gboolean
is_over (gpointer host, gpointer moment, gpointer now)
{
  return *(gint64 *) moment <= *(gint64 *) now;
}

/* The moment that is now taken. */
static gint64
take_moment (QmFetchPace *pace, const char *host)
{
  gint64 now = g_get_monotonic_time ();
  gint64 moment = now;
  gint64 *free;

  g_mutex_lock (&pace->mutex);
  if (g_hash_table_size (pace->free) > MANY_HOSTS)
    g_hash_table_foreach_remove (pace->free, is_over, &now);
  free = g_hash_table_lookup (pace->free, host);
  if (free == NULL)
    {
      free = g_new0 (gint64, 1);
      g_hash_table_insert (pace->free, g_strdup (host), free);
    }
  else
    moment = MAX (now, *free);
  *free = moment + pace->interval;
  g_mutex_unlock (&pace->mutex);
  return moment;
}

/* Whoever gives up was the last in the queue, or leaves a gap. */
static void
give_back (QmFetchPace *pace, const char *host, gint64 moment)
{
  gint64 *free;

  g_mutex_lock (&pace->mutex);
  free = g_hash_table_lookup (pace->free, host);
  if (free != NULL && *free == moment + pace->interval)
    *free = moment;
  g_mutex_unlock (&pace->mutex);
}

gboolean
qm_fetch_pace_wait (QmFetchPace *pace,
                    const char *host,
                    GCancellable *cancellable,
                    GError **error)
{
  gint64 moment;
  gboolean cancelled;
  GPollFD poll;
  gboolean pollable;

  g_return_val_if_fail (pace != NULL && host != NULL, FALSE);

  moment = take_moment (pace, host);
  pollable =
      cancellable != NULL && g_cancellable_make_pollfd (cancellable, &poll);
  for (;;)
    {
      gint64 left = moment - g_get_monotonic_time ();

      cancelled = g_cancellable_is_cancelled (cancellable);
      if (left <= 0 || cancelled)
        break;
      if (pollable)
        g_poll (&poll, 1, (int) ((left + 999) / 1000));
      else
        g_usleep (MIN ((gulong) left, 100000));
    }
  if (pollable)
    g_cancellable_release_fd (cancellable);
  if (cancelled)
    give_back (pace, host, moment);
  return !g_cancellable_set_error_if_cancelled (cancellable, error);
}
