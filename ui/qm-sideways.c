/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/qm-sideways.h"

#include <math.h>

/* Lets what scrolls the widget by itself have events, or not; who looks at them
 * on their way to it goes on doing so. */
static void
let_scroll (GtkWidget *widget, gboolean let)
{
  g_autoptr (GListModel) controllers = gtk_widget_observe_controllers (widget);

  for (guint i = 0; i < g_list_model_get_n_items (controllers); i++)
    {
      g_autoptr (GtkEventController) one =
          g_list_model_get_item (controllers, i);

      if (GTK_IS_EVENT_CONTROLLER_SCROLL (one)
          && gtk_event_controller_get_propagation_phase (one)
                 != GTK_PHASE_CAPTURE)
        gtk_event_controller_set_propagation_phase (one, let ? GTK_PHASE_BUBBLE
                                                             : GTK_PHASE_NONE);
    }
}

/* Before anything else has the event. */
static gboolean
scroll_cb (GtkEventController *controller, double dx, double dy)
{
  gboolean shift = (gtk_event_controller_get_current_event_state (controller)
                    & GDK_SHIFT_MASK)
                   != 0;

  let_scroll (gtk_event_controller_get_widget (controller),
              shift || fabs (dx) >= fabs (dy));
  return GDK_EVENT_PROPAGATE;
}

void
qm_sideways_init (GtkScrolledWindow *scroller)
{
  GtkEventController *controller;

  g_return_if_fail (GTK_IS_SCROLLED_WINDOW (scroller));

  controller =
      gtk_event_controller_scroll_new (GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES);
  gtk_event_controller_set_name (controller, "sideways");
  gtk_event_controller_set_propagation_phase (controller, GTK_PHASE_CAPTURE);
  g_signal_connect (controller, "scroll", G_CALLBACK (scroll_cb), NULL);
  gtk_widget_add_controller (GTK_WIDGET (scroller), controller);
}
