/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/qm-toasts.h"

/* How long a toast may slide, in microseconds: libadwaita's REPLACE_DURATION,
 * and what it cuts off where it counts milliseconds. */
#define SLIDE (502 * G_TIME_SPAN_MILLISECOND)

/* What is known of an overlay, kept with it. */
typedef struct
{
  AdwToastOverlay *overlay;
  GQueue waiting;     /* of AdwToast, owned */
  AdwToast *shown;    /* owned; none where nothing is there, or it fades */
  gint64 since;       /* the time of the frame in which it began to slide */
  guint tick;         /* counts its frames until it has arrived */
  gboolean dismissed; /* it goes then */
} Toasts;

static void show_next (Toasts *self);

static void
free_toasts (Toasts *self)
{
  g_queue_clear_full (&self->waiting, g_object_unref);
  if (self->shown != NULL)
    g_signal_handlers_disconnect_by_data (self->shown, self);
  g_clear_object (&self->shown);
  g_free (self);
}

/* It does not move any more: it may go.  adw_toast_dismiss() would do nothing,
 * as the toast takes itself for dismissed already. */
static void
arrive (Toasts *self)
{
  self->tick = 0;
  if (self->dismissed)
    g_signal_emit_by_name (self->shown, "dismissed");
}

static gboolean
tick_cb (GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
  Toasts *self = data;

  if (gdk_frame_clock_get_frame_time (clock) - self->since < SLIDE)
    return G_SOURCE_CONTINUE;
  arrive (self);
  return G_SOURCE_REMOVE;
}

/* libadwaita has ended each animation of what is not to be seen any more. */
static void
unmap_cb (Toasts *self)
{
  if (self->tick == 0)
    return;
  gtk_widget_remove_tick_callback (GTK_WIDGET (self->overlay), self->tick);
  arrive (self);
}

/* Before the overlay hears of it. */
static void
dismissed_cb (AdwToast *toast, Toasts *self)
{
  if (self->tick == 0)
    return;
  self->dismissed = TRUE;
  g_signal_stop_emission_by_name (toast, "dismissed");
}

/* After the overlay has heard of it. */
static void
gone_cb (AdwToast *toast, Toasts *self)
{
  g_signal_handlers_disconnect_by_data (toast, self);
  g_clear_object (&self->shown);
  /* An overlay that goes dismisses what it shows. */
  if (gtk_widget_get_root (GTK_WIDGET (self->overlay)) != NULL)
    show_next (self);
}

static void
show_next (Toasts *self)
{
  GtkWidget *widget = GTK_WIDGET (self->overlay);

  self->shown = g_queue_pop_head (&self->waiting);
  self->dismissed = FALSE;
  if (self->shown == NULL)
    return;
  g_signal_connect (self->shown, "dismissed", G_CALLBACK (dismissed_cb), self);
  adw_toast_overlay_add_toast (self->overlay, g_object_ref (self->shown));
  g_signal_connect (self->shown, "dismissed", G_CALLBACK (gone_cb), self);
  if (!gtk_widget_get_mapped (widget) || !adw_get_enable_animations (widget))
    return;
  self->since =
      gdk_frame_clock_get_frame_time (gtk_widget_get_frame_clock (widget));
  self->tick = gtk_widget_add_tick_callback (widget, tick_cb, self, NULL);
}

static Toasts *
get_toasts (AdwToastOverlay *overlay)
{
  Toasts *self = g_object_get_data (G_OBJECT (overlay), "qm-toasts");

  if (self != NULL)
    return self;
  self = g_new0 (Toasts, 1);
  self->overlay = overlay;
  g_queue_init (&self->waiting);
  g_object_set_data_full (G_OBJECT (overlay), "qm-toasts", self,
                          (GDestroyNotify) free_toasts);
  /* After libadwaita's. */
  g_signal_connect_data (overlay, "unmap", G_CALLBACK (unmap_cb), self, NULL,
                         G_CONNECT_AFTER | G_CONNECT_SWAPPED);
  return self;
}

void
qm_toasts_show (AdwToastOverlay *overlay, AdwToast *toast)
{
  Toasts *self;

  g_return_if_fail (ADW_IS_TOAST_OVERLAY (overlay));
  g_return_if_fail (ADW_IS_TOAST (toast));

  self = get_toasts (overlay);
  g_queue_push_tail (&self->waiting, toast);
  if (self->shown == NULL)
    show_next (self);
}

void
qm_toasts_tell (AdwToastOverlay *overlay, const char *text)
{
  g_autofree char *markup = NULL;

  g_return_if_fail (text != NULL);

  markup = g_markup_escape_text (text, -1);
  qm_toasts_show (overlay, adw_toast_new (markup));
}

void
qm_toasts_dismiss (AdwToastOverlay *overlay, AdwToast *toast)
{
  g_return_if_fail (ADW_IS_TOAST_OVERLAY (overlay));
  g_return_if_fail (ADW_IS_TOAST (toast));

  if (g_queue_remove (&get_toasts (overlay)->waiting, toast))
    g_object_unref (toast);
  else
    adw_toast_dismiss (toast);
}
