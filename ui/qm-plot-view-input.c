/* SPDX-License-Identifier: Apache-2.0 */

/* Pointer, touch and keyboard of a plot view. */

#include "config.h"

#include "ui/qm-plot-view-private.h"

#include "ui/qm-plot-walk.h"

#include <math.h>

#define PICK_REACH     6.0
#define DRAG_THRESHOLD 8.0
#define ZOOM_STEP      1.25

static int
pick (QmPlotView *self, double x, double y)
{
  QmPlotLayout layout;

  if (!_qm_plot_view_layouts (self, &layout, NULL))
    return -1;
  return qm_plot_pick (_qm_plot_view_data (self), &layout, &self->theme, x, y,
                       PICK_REACH);
}

static void
motion_cb (QmPlotView *self, double x, double y)
{
  self->pointer_x = x;
  self->pointer_y = y;
  if (self->dragging)
    return;
  self->walked = -1;
  _qm_plot_view_set_hovered (self, pick (self, x, y));
}

static void
leave_cb (QmPlotView *self)
{
  self->pointer_x = self->pointer_y = NAN;
  _qm_plot_view_set_hovered (self, self->walked);
}

static void
focus_leave_cb (QmPlotView *self)
{
  _qm_plot_view_set_walked (self, -1);
}

static void
pressed_cb (QmPlotView *self, int n_press, double x, double y)
{
  gtk_widget_grab_focus (GTK_WIDGET (self));
  if (n_press == 2)
    qm_plot_view_zoom_reset (self);
}

static void
released_cb (QmPlotView *self, int n_press, double x, double y)
{
  /* A question that has just changed must be answered before its points can be
   * picked. */
  qm_plot_source_settle (self->source);
  if (n_press == 1 && !self->dragging && _qm_plot_view_data (self) != NULL)
    qm_plot_source_select (self->source, pick (self, x, y));
}

/* A finger scrolls the page; it zooms with a pinch. */
static gboolean
is_touch (GtkGesture *gesture)
{
  GdkEvent *event =
      gtk_event_controller_get_current_event (GTK_EVENT_CONTROLLER (gesture));
  GdkDevice *device = event != NULL ? gdk_event_get_device (event) : NULL;

  return device != NULL
         && gdk_device_get_source (device) == GDK_SOURCE_TOUCHSCREEN;
}

static void
drag_begin_cb (QmPlotView *self, double x, double y, GtkGesture *gesture)
{
  self->dragging = FALSE;
  self->drag_x = x;
  self->drag_y = y;
  if (is_touch (gesture))
    gtk_gesture_set_state (gesture, GTK_EVENT_SEQUENCE_DENIED);
}

static void
drag_update_cb (QmPlotView *self, double dx, double dy, GtkGesture *gesture)
{
  if (!self->dragging && hypot (dx, dy) < DRAG_THRESHOLD)
    return;
  if (!self->dragging)
    {
      self->dragging = TRUE;
      _qm_plot_view_set_hovered (self, -1);
      gtk_gesture_set_state (gesture, GTK_EVENT_SEQUENCE_CLAIMED);
    }
  self->drag_to_x = self->drag_x + dx;
  self->drag_to_y = self->drag_y + dy;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
drag_end_cb (QmPlotView *self, double dx, double dy, GtkGesture *gesture)
{
  QmPlotLayout now, all;
  QmPlotZoom range;

  if (!self->dragging)
    return;
  self->dragging = FALSE;
  gtk_widget_queue_draw (GTK_WIDGET (self));
  if (fabs (dx) < DRAG_THRESHOLD || fabs (dy) < DRAG_THRESHOLD
      || !_qm_plot_view_layouts (self, &now, &all))
    return;
  range = qm_plot_zoom_box (&now, &all, self->drag_x, self->drag_y,
                            self->drag_x + dx, self->drag_y + dy);
  _qm_plot_view_set_range (self, &range);
}

static void
drag_cancel_cb (QmPlotView *self)
{
  self->dragging = FALSE;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
pan_begin_cb (QmPlotView *self, double x, double y, GtkGesture *gesture)
{
  self->panned_x = self->panned_y = 0;
  gtk_gesture_set_state (gesture, qm_plot_view_is_zoomed (self)
                                      ? GTK_EVENT_SEQUENCE_CLAIMED
                                      : GTK_EVENT_SEQUENCE_DENIED);
}

static void
pan_update_cb (QmPlotView *self, double dx, double dy, GtkGesture *gesture)
{
  QmPlotLayout now, all;
  QmPlotZoom range;

  if (!_qm_plot_view_layouts (self, &now, &all))
    return;
  range =
      qm_plot_zoom_move (&now, &all, dx - self->panned_x, dy - self->panned_y);
  self->panned_x = dx;
  self->panned_y = dy;
  _qm_plot_view_set_range (self, &range);
}

static void
pinch_begin_cb (QmPlotView *self)
{
  self->pinched = 1;
}

static void
pinch_cb (QmPlotView *self, double scale, GtkGesture *gesture)
{
  double x, y;

  if (scale <= 0 || self->pinched <= 0
      || !gtk_gesture_get_bounding_box_center (gesture, &x, &y))
    return;
  qm_plot_view_zoom (self, scale / self->pinched, x, y);
  self->pinched = scale;
}

static gboolean
scroll_cb (QmPlotView *self,
           double dx,
           double dy,
           GtkEventControllerScroll *controller)
{
  GdkModifierType state = gtk_event_controller_get_current_event_state (
      GTK_EVENT_CONTROLLER (controller));
  double steps = -dy;

  if ((state & GDK_CONTROL_MASK) == 0)
    return GDK_EVENT_PROPAGATE;
  if (gtk_event_controller_scroll_get_unit (controller)
      == GDK_SCROLL_UNIT_SURFACE)
    steps /= 40;
  qm_plot_view_zoom (self, pow (ZOOM_STEP, CLAMP (steps, -8, 8)),
                     self->pointer_x, self->pointer_y);
  return GDK_EVENT_STOP;
}

static void
walk (QmPlotView *self, QmPlotWalk way)
{
  const QmPlotData *data = _qm_plot_view_data (self);
  QmPlotLayout now, all;
  int next;

  if (self->walked < 0 && _qm_plot_view_walk_start (data) >= 0
      && way != QM_PLOT_WALK_FIRST && way != QM_PLOT_WALK_LAST)
    next = _qm_plot_view_walk_start (data);
  else
    next = qm_plot_walk (data, self->walked, way);
  _qm_plot_view_set_walked (self, next);
  if (next >= 0 && qm_plot_view_is_zoomed (self)
      && _qm_plot_view_layouts (self, &now, &all))
    {
      QmPlotZoom range = qm_plot_zoom_reveal (&now, &all, data->points[next].x,
                                              data->points[next].y);

      _qm_plot_view_set_range (self, &range);
    }
}

static gboolean
walk_for_key (guint key, QmPlotWalk *way)
{
  switch (key)
    {
    case GDK_KEY_Left:
    case GDK_KEY_KP_Left:
      *way = QM_PLOT_WALK_LEFT;
      return TRUE;
    case GDK_KEY_Right:
    case GDK_KEY_KP_Right:
      *way = QM_PLOT_WALK_RIGHT;
      return TRUE;
    case GDK_KEY_Up:
    case GDK_KEY_KP_Up:
      *way = QM_PLOT_WALK_UP;
      return TRUE;
    case GDK_KEY_Down:
    case GDK_KEY_KP_Down:
      *way = QM_PLOT_WALK_DOWN;
      return TRUE;
    case GDK_KEY_Home:
    case GDK_KEY_KP_Home:
      *way = QM_PLOT_WALK_FIRST;
      return TRUE;
    case GDK_KEY_End:
    case GDK_KEY_KP_End:
      *way = QM_PLOT_WALK_LAST;
      return TRUE;
    default:
      return FALSE;
    }
}

/* Gives Escape on where there is nothing to leave. */
static gboolean
escape (QmPlotView *self)
{
  gboolean walked = self->walked >= 0;

  _qm_plot_view_set_walked (self, -1);
  return qm_plot_source_select (self->source, -1) || walked
             ? GDK_EVENT_STOP
             : GDK_EVENT_PROPAGATE;
}

static gboolean
key_pressed_cb (QmPlotView *self, guint key, guint code, GdkModifierType state)
{
  QmPlotWalk way;

  qm_plot_source_settle (self->source);
  if (_qm_plot_view_data (self) == NULL
      || (state & (GDK_CONTROL_MASK | GDK_ALT_MASK | GDK_SUPER_MASK)) != 0)
    return GDK_EVENT_PROPAGATE;
  if (walk_for_key (key, &way))
    {
      walk (self, way);
      return GDK_EVENT_STOP;
    }
  switch (key)
    {
    case GDK_KEY_Return:
    case GDK_KEY_KP_Enter:
    case GDK_KEY_ISO_Enter:
    case GDK_KEY_space:
      if (self->walked < 0 || !qm_plot_source_can_select (self->source))
        return GDK_EVENT_PROPAGATE;
      qm_plot_source_select (self->source, self->walked);
      return GDK_EVENT_STOP;
    case GDK_KEY_Escape:
      return escape (self);
    case GDK_KEY_plus:
    case GDK_KEY_equal:
    case GDK_KEY_KP_Add:
      qm_plot_view_zoom (self, ZOOM_STEP, NAN, NAN);
      return GDK_EVENT_STOP;
    case GDK_KEY_minus:
    case GDK_KEY_KP_Subtract:
      qm_plot_view_zoom (self, 1 / ZOOM_STEP, NAN, NAN);
      return GDK_EVENT_STOP;
    case GDK_KEY_0:
    case GDK_KEY_KP_0:
      qm_plot_view_zoom_reset (self);
      return GDK_EVENT_STOP;
    default:
      return GDK_EVENT_PROPAGATE;
    }
}

static void
popup_menu (QmPlotView *self, double x, double y)
{
  if (self->menu == NULL)
    {
      g_autoptr (GMenuModel) model = qm_plot_source_create_menu (self->source);

      if (model == NULL)
        return;
      self->menu = gtk_popover_menu_new_from_model (model);
      gtk_popover_set_has_arrow (GTK_POPOVER (self->menu), FALSE);
      gtk_widget_set_halign (self->menu, GTK_ALIGN_START);
      gtk_widget_set_parent (self->menu, GTK_WIDGET (self));
    }
  gtk_popover_set_pointing_to (GTK_POPOVER (self->menu),
                               &(GdkRectangle){ (int) x, (int) y, 1, 1 });
  gtk_popover_popup (GTK_POPOVER (self->menu));
}

static void
secondary_pressed_cb (QmPlotView *self, int n_press, double x, double y)
{
  popup_menu (self, x, y);
}

void
_qm_plot_view_popup_menu (GtkWidget *widget,
                          const char *name,
                          GVariant *parameter)
{
  popup_menu (QM_PLOT_VIEW (widget), gtk_widget_get_width (widget) / 2.0,
              gtk_widget_get_height (widget) / 2.0);
}

static void
add_pointer_controllers (QmPlotView *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  GtkEventController *motion = gtk_event_controller_motion_new ();
  GtkEventController *scroll =
      gtk_event_controller_scroll_new (GTK_EVENT_CONTROLLER_SCROLL_VERTICAL);
  GtkGesture *click = gtk_gesture_click_new ();
  GtkGesture *secondary = gtk_gesture_click_new ();

  g_signal_connect_swapped (motion, "motion", G_CALLBACK (motion_cb), self);
  g_signal_connect_swapped (motion, "leave", G_CALLBACK (leave_cb), self);
  gtk_widget_add_controller (widget, motion);

  g_signal_connect_swapped (scroll, "scroll", G_CALLBACK (scroll_cb), self);
  gtk_widget_add_controller (widget, scroll);

  g_signal_connect_swapped (click, "pressed", G_CALLBACK (pressed_cb), self);
  g_signal_connect_swapped (click, "released", G_CALLBACK (released_cb), self);
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (click));

  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (secondary),
                                 GDK_BUTTON_SECONDARY);
  g_signal_connect_swapped (secondary, "pressed",
                            G_CALLBACK (secondary_pressed_cb), self);
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (secondary));
}

static void
add_zoom_controllers (QmPlotView *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  GtkGesture *drag = gtk_gesture_drag_new ();
  GtkGesture *pan = gtk_gesture_drag_new ();
  GtkGesture *pinch = gtk_gesture_zoom_new ();

  g_signal_connect_swapped (drag, "drag-begin", G_CALLBACK (drag_begin_cb),
                            self);
  g_signal_connect_swapped (drag, "drag-update", G_CALLBACK (drag_update_cb),
                            self);
  g_signal_connect_swapped (drag, "drag-end", G_CALLBACK (drag_end_cb), self);
  g_signal_connect_swapped (drag, "cancel", G_CALLBACK (drag_cancel_cb), self);
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (drag));

  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (pan), GDK_BUTTON_MIDDLE);
  g_signal_connect_swapped (pan, "drag-begin", G_CALLBACK (pan_begin_cb), self);
  g_signal_connect_swapped (pan, "drag-update", G_CALLBACK (pan_update_cb),
                            self);
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (pan));

  g_signal_connect_swapped (pinch, "begin", G_CALLBACK (pinch_begin_cb), self);
  g_signal_connect_swapped (pinch, "scale-changed", G_CALLBACK (pinch_cb),
                            self);
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (pinch));
}

static void
add_keyboard_controllers (QmPlotView *self)
{
  GtkEventController *keys = gtk_event_controller_key_new ();
  GtkEventController *focus = gtk_event_controller_focus_new ();

  g_signal_connect_swapped (keys, "key-pressed", G_CALLBACK (key_pressed_cb),
                            self);
  gtk_widget_add_controller (GTK_WIDGET (self), keys);
  g_signal_connect_swapped (focus, "leave", G_CALLBACK (focus_leave_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self), focus);
}

void
_qm_plot_view_add_controllers (QmPlotView *self)
{
  add_pointer_controllers (self);
  add_zoom_controllers (self);
  add_keyboard_controllers (self);
}
