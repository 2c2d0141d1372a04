/* SPDX-License-Identifier: Apache-2.0 */

#include "ui/qm-patience.h"

/* Belongs to both threads. */
typedef struct
{
  GMutex lock;
  GCond changed;
  gboolean done;
  void (*work) (gpointer data);
  gpointer data;
} Patience;

static void
clear_patience (gpointer data)
{
  Patience *patience = data;

  g_mutex_clear (&patience->lock);
  g_cond_clear (&patience->changed);
}

static gpointer
run_patience (gpointer data)
{
  Patience *patience = data;

  patience->work (patience->data);
  g_mutex_lock (&patience->lock);
  patience->done = TRUE;
  g_cond_signal (&patience->changed);
  g_mutex_unlock (&patience->lock);
  g_atomic_rc_box_release_full (patience, clear_patience);
  return NULL;
}

gboolean
qm_patience_run (void (*work) (gpointer data), gpointer data, gint64 most_usec)
{
  gint64 until = g_get_monotonic_time () + most_usec;
  Patience *patience;
  gboolean done;

  g_return_val_if_fail (work != NULL, FALSE);

  patience = g_atomic_rc_box_new0 (Patience);
  g_mutex_init (&patience->lock);
  g_cond_init (&patience->changed);
  patience->work = work;
  patience->data = data;
  g_thread_unref (g_thread_new ("patience", run_patience,
                                g_atomic_rc_box_acquire (patience)));
  g_mutex_lock (&patience->lock);
  while (!patience->done
         && g_cond_wait_until (&patience->changed, &patience->lock, until))
    ;
  done = patience->done;
  g_mutex_unlock (&patience->lock);
  g_atomic_rc_box_release_full (patience, clear_patience);
  return done;
}

static gboolean
wake_cb (gpointer data)
{
  return G_SOURCE_CONTINUE;
}

gboolean
qm_patience_iterate (gboolean (*is_busy) (gpointer data),
                     gpointer data,
                     gint64 most_usec)
{
  gint64 until = g_get_monotonic_time () + most_usec;
  guint timer;

  g_return_val_if_fail (is_busy != NULL, FALSE);

  if (!is_busy (data))
    return TRUE;
  timer = g_timeout_add (100, wake_cb, NULL);
  while (is_busy (data) && g_get_monotonic_time () < until)
    g_main_context_iteration (NULL, TRUE);
  g_source_remove (timer);
  return !is_busy (data);
}
