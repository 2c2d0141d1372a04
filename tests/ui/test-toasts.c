/* SPDX-License-Identifier: Apache-2.0 */

/* Messages that go while they still move, one after the other, and with their
 * window.  Each of these ended with SIGSEGV, or with what was released read,
 * where libadwaita 1.2 alone showed them. */

#include "config.h"

#include "tests/ui/widgets.h"
#include "ui/qm-toasts.h"

typedef struct
{
  GtkWindow *window;
  AdwToastOverlay *overlay;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  g_object_set (gtk_settings_get_default (), "gtk-enable-animations", TRUE,
                NULL);
  fixture->window = GTK_WINDOW (adw_window_new ());
  fixture->overlay = ADW_TOAST_OVERLAY (adw_toast_overlay_new ());
  adw_toast_overlay_set_child (fixture->overlay, gtk_label_new ("Page"));
  adw_window_set_content (ADW_WINDOW (fixture->window),
                          GTK_WIDGET (fixture->overlay));
  gtk_window_set_default_size (fixture->window, 400, 300);
  gtk_window_present (fixture->window);
  while (!gtk_widget_get_mapped (GTK_WIDGET (fixture->overlay)))
    g_main_context_iteration (NULL, TRUE);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  gpointer gone = fixture->overlay;

  g_object_add_weak_pointer (gone, &gone);
  if (fixture->window != NULL)
    gtk_window_destroy (fixture->window);
  widgets_settle ();
  g_assert_null (gone);
}

/* Runs the main loop for that long. */
static void
wait (guint milliseconds)
{
  gint64 end = g_get_monotonic_time () + milliseconds * G_TIME_SPAN_MILLISECOND;

  while (g_get_monotonic_time () < end)
    if (!g_main_context_iteration (NULL, FALSE))
      g_usleep (1000);
}

static AdwToast *
show (Fixture *fixture, const char *title)
{
  AdwToast *toast = adw_toast_new (title);

  qm_toasts_show (fixture->overlay, g_object_ref (toast));
  return toast;
}

/* Whether a toast is there, though it may fade. */
static gboolean
is_there (Fixture *fixture)
{
  return gtk_widget_get_first_child (GTK_WIDGET (fixture->overlay))
         != gtk_widget_get_last_child (GTK_WIDGET (fixture->overlay));
}

/* What the last toast says, or NULL. */
static const char *
get_shown (Fixture *fixture)
{
  GtkWidget *toast = gtk_widget_get_last_child (GTK_WIDGET (fixture->overlay));

  if (!is_there (fixture))
    return NULL;
  return gtk_label_get_text (widgets_find (toast, GTK_TYPE_LABEL, 0));
}

/* Deleted, deleted, and undone at once: the second message has not arrived when
 * it has faded. */
static void
test_goes_before_it_arrives (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AdwToast) first = show (fixture, "First");
  g_autoptr (AdwToast) second = NULL;

  wait (600);
  qm_toasts_dismiss (fixture->overlay, first);
  second = show (fixture, "Second");
  wait (50);
  adw_toast_dismiss (second);
  g_assert_true (is_there (fixture));
  wait (1200);
  g_assert_false (is_there (fixture));
}

/* No frame is drawn of a window that nobody sees. */
static void
test_no_frames (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AdwToast) toast = show (fixture, "Done");

  g_usleep (10000);
  qm_toasts_dismiss (fixture->overlay, toast);
  g_usleep (900000);
  wait (1200);
  g_assert_false (is_there (fixture));
}

/* What waits is shown in its turn, or never. */
static void
test_waiting (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AdwToast) first = show (fixture, "First");
  g_autoptr (AdwToast) second = show (fixture, "Second");
  g_autoptr (AdwToast) third = show (fixture, "Third");

  wait (600);
  g_assert_cmpstr (get_shown (fixture), ==, "First");
  qm_toasts_dismiss (fixture->overlay, second);
  qm_toasts_dismiss (fixture->overlay, first);
  wait (1000);
  g_assert_cmpstr (get_shown (fixture), ==, "Third");
  adw_toast_dismiss (third);
  wait (1000);
  g_assert_null (get_shown (fixture));
}

/* A text that looks like markup. */
static void
test_text (Fixture *fixture, gconstpointer data)
{
  qm_toasts_tell (fixture->overlay, "<b>&");
  g_assert_cmpstr (get_shown (fixture), ==, "<b>&");
}

/* Nothing slides where a person wants nothing to. */
static void
test_no_animations (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AdwToast) toast = NULL;

  g_object_set (gtk_settings_get_default (), "gtk-enable-animations", FALSE,
                NULL);
  toast = show (fixture, "First");
  g_assert_true (is_there (fixture));
  qm_toasts_dismiss (fixture->overlay, toast);
  g_assert_false (is_there (fixture));
}

static void
test_window_goes (Fixture *fixture, gconstpointer data)
{
  for (guint delay = 0; delay < 600; delay += 100)
    {
      g_autoptr (AdwToast) first = show (fixture, "First");
      g_autoptr (AdwToast) second = NULL;

      wait (600);
      qm_toasts_dismiss (fixture->overlay, first);
      second = show (fixture, "Second");
      show (fixture, "Third");
      wait (20);
      qm_toasts_dismiss (fixture->overlay, second);
      wait (delay);
      tear_down (fixture, data);
      set_up (fixture, data);
    }
}

int
main (int argc, char **argv)
{
  widgets_init (&argc, &argv);
  g_test_add ("/toasts/goes-before-it-arrives", Fixture, NULL, set_up,
              test_goes_before_it_arrives, tear_down);
  g_test_add ("/toasts/no-frames", Fixture, NULL, set_up, test_no_frames,
              tear_down);
  g_test_add ("/toasts/waiting", Fixture, NULL, set_up, test_waiting,
              tear_down);
  g_test_add ("/toasts/text", Fixture, NULL, set_up, test_text, tear_down);
  g_test_add ("/toasts/no-animations", Fixture, NULL, set_up,
              test_no_animations, tear_down);
  g_test_add ("/toasts/window-goes", Fixture, NULL, set_up, test_window_goes,
              tear_down);
  return g_test_run ();
}
