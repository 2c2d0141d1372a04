/* SPDX-License-Identifier: Apache-2.0 */

/* A plot on the screen, through the event controllers that it has. */

#include "pricing/qm-format.h"
#include "tests/ui/widgets.h"
#include "ui/advisor/qm-advice-source.h"
#include "ui/advisor/qm-plot-grid.h"
#include "ui/qm-plot-view-private.h"
#include "ui/qm-plot-view.h"

#include <math.h>
#include <string.h>

#define SIZE 400

typedef struct
{
  QmAdvisor *advisor;
  GtkWidget *window;
  QmPlotView *view;
} Fixture;

static QmPlotView *
new_view (QmAdvisor *advisor, guint topic, QmAdvicePlotKind kind)
{
  g_autoptr (QmPlotSource) source = qm_advice_source_new (advisor, topic, kind);

  return QM_PLOT_VIEW (qm_plot_view_new (source));
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->advisor = qm_advisor_new (widgets_catalog ());
  /* Predictions, which come when they are there, would change the picture. */
  g_object_set (fixture->advisor, "measured-only", TRUE, NULL);
  fixture->window = gtk_window_new ();
  fixture->view = new_view (fixture->advisor, 0, QM_ADVICE_PLOT_OVERALL);
  /* The pointer of the display, which may stand above the window and of which
   * GTK tells after a frame, is not the one that the tests move. */
  gtk_widget_set_can_target (GTK_WIDGET (fixture->view), FALSE);
  gtk_window_set_default_size (GTK_WINDOW (fixture->window), SIZE, SIZE);
  gtk_window_set_child (GTK_WINDOW (fixture->window),
                        GTK_WIDGET (fixture->view));
  gtk_window_present (GTK_WINDOW (fixture->window));
  gtk_test_widget_wait_for_draw (fixture->window);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  GtkWidget *view = GTK_WIDGET (fixture->view);

  g_object_add_weak_pointer (G_OBJECT (view), (gpointer *) &view);
  gtk_window_destroy (GTK_WINDOW (fixture->window));
  widgets_settle ();
  g_assert_null (view);
  g_assert_finalize_object (fixture->advisor);
}

static gpointer
controller_of (Fixture *fixture, GType type, guint button)
{
  g_autoptr (GListModel) controllers =
      gtk_widget_observe_controllers (GTK_WIDGET (fixture->view));

  for (guint i = 0; i < g_list_model_get_n_items (controllers); i++)
    {
      g_autoptr (GObject) controller = g_list_model_get_item (controllers, i);

      if (G_OBJECT_TYPE (controller) == type
          && (!GTK_IS_GESTURE_SINGLE (controller)
              || gtk_gesture_single_get_button (GTK_GESTURE_SINGLE (controller))
                     == button))
        return controller; /* the widget keeps it */
    }
  g_error ("no %s", g_type_name (type));
}

static void
move_to (Fixture *fixture, double x, double y)
{
  g_signal_emit_by_name (controller_of (fixture,
                                        GTK_TYPE_EVENT_CONTROLLER_MOTION, 0),
                         "motion", x, y);
}

static void
click (Fixture *fixture, int n, double x, double y)
{
  gpointer gesture =
      controller_of (fixture, GTK_TYPE_GESTURE_CLICK, GDK_BUTTON_PRIMARY);

  g_signal_emit_by_name (gesture, "pressed", n, x, y);
  g_signal_emit_by_name (gesture, "released", n, x, y);
}

static void
drag (
    Fixture *fixture, guint button, double x1, double y1, double x2, double y2)
{
  gpointer gesture = controller_of (fixture, GTK_TYPE_GESTURE_DRAG, button);

  g_signal_emit_by_name (gesture, "drag-begin", x1, y1);
  g_signal_emit_by_name (gesture, "drag-update", x2 - x1, y2 - y1);
  g_signal_emit_by_name (gesture, "drag-end", x2 - x1, y2 - y1);
}

static gboolean
press (Fixture *fixture, guint key)
{
  gboolean handled;

  g_signal_emit_by_name (controller_of (fixture, GTK_TYPE_EVENT_CONTROLLER_KEY,
                                        0),
                         "key-pressed", key, 0, 0, &handled);
  return handled;
}

/* Where a point is in the widget. */
static void
find_point (Fixture *fixture, guint index, double *x, double *y)
{
  const QmPlotData *data = qm_plot_view_get_data (fixture->view);
  QmPlotLayout layout;

  g_assert_true (_qm_plot_view_layouts (fixture->view, &layout, NULL));
  g_assert_true (qm_plot_position (&layout, data->points[index].x,
                                   data->points[index].y, x, y));
}

static int
selected (Fixture *fixture)
{
  guint topic, candidate;

  if (!qm_advisor_get_selected (fixture->advisor, &topic, &candidate))
    return -1;
  g_assert_cmpuint (topic, ==, 0);
  g_assert_cmpint (qm_plot_view_get_data (fixture->view)->selected, ==,
                   (int) candidate);
  return (int) candidate;
}

static void
expect_label (Fixture *fixture, const char *expected)
{
  g_autofree char *problem = gtk_test_accessible_check_property (
      GTK_ACCESSIBLE (fixture->view), GTK_ACCESSIBLE_PROPERTY_LABEL, expected);

  g_assert_cmpstr (problem, ==, NULL);
}

/* What is recommended, at prices of two years ago or more. */
static void
expect_advice (Fixture *fixture, const char *what, const char *days)
{
  const QmDate observed_on = { 2024, 9, 21 };
  g_autofree char *age = qm_format_age (observed_on, qm_date_today ());
  g_autofree char *label =
      g_strdup_printf ("Overall cost, Pythia (1B): 16 candidates. "
                       "Buy %s (a price %s), %s",
                       what, age, days);

  expect_label (fixture, label);
}

static void
test_names (Fixture *fixture, gconstpointer data)
{
  gtk_test_accessible_assert_role (fixture->view, GTK_ACCESSIBLE_ROLE_IMG);
  expect_advice (fixture, "1 × H100 SXM5 80GB: $31,000", "37 days");
  g_object_set (fixture->advisor, "budget", 130000.0, NULL);
  expect_advice (fixture, "4 × H100 SXM5 80GB: $127,500", "8.8 days");
}

static void
test_hover (Fixture *fixture, gconstpointer data)
{
  const QmPlotData *plot = qm_plot_view_get_data (fixture->view);
  double x, y;

  find_point (fixture, 0, &x, &y);
  move_to (fixture, x, y);
  g_assert_cmpint (plot->hovered, ==, 0);
  g_assert_nonnull (strstr (plot->hovered_label, "$2,300"));
  move_to (fixture, 1, 1);
  g_assert_cmpint (plot->hovered, ==, -1);
  move_to (fixture, x, y);
  g_signal_emit_by_name (
      controller_of (fixture, GTK_TYPE_EVENT_CONTROLLER_MOTION, 0), "leave");
  g_assert_cmpint (plot->hovered, ==, -1);
}

static void
test_click (Fixture *fixture, gconstpointer data)
{
  double x, y;

  find_point (fixture, 1, &x, &y);
  click (fixture, 1, x, y);
  g_assert_cmpint (selected (fixture), ==, 1);
  click (fixture, 1, 1, 1);
  g_assert_cmpint (selected (fixture), ==, -1);
}

static void
test_drag_zooms (Fixture *fixture, gconstpointer data)
{
  QmPlotLayout before, after;
  double x, y;
  double left_x, left_y;

  find_point (fixture, 1, &x, &y);
  g_assert_true (_qm_plot_view_layouts (fixture->view, &before, NULL));
  drag (fixture, GDK_BUTTON_PRIMARY, x - 40, y - 40, x + 40, y + 40);
  g_assert_true (qm_plot_view_is_zoomed (fixture->view));
  g_assert_true (_qm_plot_view_layouts (fixture->view, &after, NULL));
  g_assert_true (
      qm_plot_position (&before, after.x_min, after.y_min, &left_x, &left_y));
  g_assert_cmpfloat_with_epsilon (left_x, x - 40, 1e-6);
  g_assert_cmpfloat_with_epsilon (left_y, y + 40, 1e-6);
  /* A drag is not a click. */
  g_assert_cmpint (selected (fixture), ==, -1);

  click (fixture, 2, 1, 1);
  g_assert_false (qm_plot_view_is_zoomed (fixture->view));
  /* Neither is a twitch a drag. */
  drag (fixture, GDK_BUTTON_PRIMARY, x, y, x + 3, y + 3);
  g_assert_false (qm_plot_view_is_zoomed (fixture->view));
  drag (fixture, GDK_BUTTON_PRIMARY, x, y, x + 200, y + 2);
  g_assert_false (qm_plot_view_is_zoomed (fixture->view));
}

static void
test_pan (Fixture *fixture, gconstpointer data)
{
  QmPlotLayout before, after;

  qm_plot_view_zoom (fixture->view, 3, SIZE / 2, SIZE / 2);
  g_assert_true (_qm_plot_view_layouts (fixture->view, &before, NULL));
  drag (fixture, GDK_BUTTON_MIDDLE, 200, 200, 230, 200);
  g_assert_true (_qm_plot_view_layouts (fixture->view, &after, NULL));
  g_assert_cmpfloat (after.x_min, <, before.x_min);
  g_assert_cmpfloat_with_epsilon (after.x_max / after.x_min,
                                  before.x_max / before.x_min, 1e-6);
  g_assert_cmpfloat_with_epsilon (after.y_min, before.y_min, 1e-9);
}

static void
test_keys_walk (Fixture *fixture, gconstpointer data)
{
  const QmPlotData *plot = qm_plot_view_get_data (fixture->view);
  double last = -INFINITY;
  guint seen = 1;

  /* The walk begins where the eye is. */
  g_assert_true (press (fixture, GDK_KEY_Right));
  g_assert_cmpint (plot->hovered, ==, plot->recommended);
  g_assert_true (press (fixture, GDK_KEY_Home));
  expect_label (fixture, plot->hovered_label);
  for (int before = -1; before != plot->hovered;)
    {
      g_assert_cmpfloat (plot->points[plot->hovered].x, >=, last);
      last = plot->points[plot->hovered].x;
      before = plot->hovered;
      g_assert_true (press (fixture, GDK_KEY_Right));
      seen += before != plot->hovered;
    }
  g_assert_cmpuint (seen, ==, 16);
  expect_label (fixture, plot->hovered_label);
  g_assert_true (press (fixture, GDK_KEY_Up));
  g_assert_cmpfloat (plot->points[plot->hovered].y, >, 4);
}

static void
test_keys_select (Fixture *fixture, gconstpointer data)
{
  const QmPlotData *plot = qm_plot_view_get_data (fixture->view);

  g_assert_false (press (fixture, GDK_KEY_Return));
  g_assert_false (press (fixture, GDK_KEY_Escape));
  press (fixture, GDK_KEY_End);
  g_assert_true (press (fixture, GDK_KEY_Return));
  g_assert_cmpint (selected (fixture), ==, plot->hovered);
  g_assert_cmpint (selected (fixture), >=, 0);
  g_assert_true (press (fixture, GDK_KEY_Escape));
  g_assert_cmpint (selected (fixture), ==, -1);
  g_assert_cmpint (plot->hovered, ==, -1);
  expect_advice (fixture, "1 × H100 SXM5 80GB: $31,000", "37 days");
}

static void
test_keys_zoom (Fixture *fixture, gconstpointer data)
{
  QmPlotLayout layout;
  double x, y;

  press (fixture, GDK_KEY_plus);
  g_assert_true (qm_plot_view_is_zoomed (fixture->view));
  press (fixture, GDK_KEY_minus);
  press (fixture, GDK_KEY_minus);
  g_assert_false (qm_plot_view_is_zoomed (fixture->view));
  for (guint i = 0; i < 12; i++)
    press (fixture, GDK_KEY_plus);
  /* Walking follows into what is not in sight. */
  press (fixture, GDK_KEY_Home);
  find_point (fixture, (guint) qm_plot_view_get_data (fixture->view)->hovered,
              &x, &y);
  g_assert_true (_qm_plot_view_layouts (fixture->view, &layout, NULL));
  g_assert_cmpfloat (x, >=, layout.left);
  g_assert_cmpfloat (x, <=, layout.right);
  g_assert_cmpfloat (y, >=, layout.top);
  g_assert_cmpfloat (y, <=, layout.bottom);
  press (fixture, GDK_KEY_0);
  g_assert_false (qm_plot_view_is_zoomed (fixture->view));
}

/* A zoom outlives a changed price of time, not a changed model or axis. */
static void
test_zoom_stays (Fixture *fixture, gconstpointer data)
{
  static const char *const models[] = { "vit-large", NULL };

  qm_plot_view_zoom (fixture->view, 2, NAN, NAN);
  g_object_set (fixture->advisor, "lifetime", 3.0, NULL);
  widgets_settle ();
  g_assert_true (qm_plot_view_is_zoomed (fixture->view));
  g_object_set (fixture->advisor, "models", models, NULL);
  widgets_settle ();
  g_assert_false (qm_plot_view_is_zoomed (fixture->view));
  qm_plot_view_zoom (fixture->view, 2, NAN, NAN);
  g_object_set (fixture->advisor, "log-axes", FALSE, NULL);
  g_assert_false (qm_plot_view_is_zoomed (fixture->view));
  g_assert_false (qm_plot_view_get_data (fixture->view)->x.log);
}

/* A topic that goes away leaves an empty view, without complaint. */
static void
test_topic_goes (Fixture *fixture, gconstpointer data)
{
  static const char *const two[] = { "vit-large", "pythia-1b", NULL };
  static const char *const one[] = { "vit-large", NULL };
  GtkWidget *second;

  g_object_set (fixture->advisor, "models", two, NULL);
  second =
      GTK_WIDGET (new_view (fixture->advisor, 1, QM_ADVICE_PLOT_EXPERIMENT));
  g_object_ref_sink (second);
  g_assert_nonnull (qm_plot_view_get_data (QM_PLOT_VIEW (second)));
  g_object_set (fixture->advisor, "models", one, NULL);
  widgets_settle ();
  g_assert_null (qm_plot_view_get_data (QM_PLOT_VIEW (second)));
  g_assert_finalize_object (G_OBJECT (second));
}

/* Counts the colours of a frame: the picture changes with what it shows. */
static guint
picture_hash (Fixture *fixture)
{
  g_autoptr (GdkPaintable) paintable =
      gtk_widget_paintable_new (GTK_WIDGET (fixture->view));
  g_autoptr (GskRenderer) renderer = gsk_cairo_renderer_new ();
  g_autoptr (GError) error = NULL;
  GtkSnapshot *snapshot = gtk_snapshot_new ();
  GskRenderNode *node;
  g_autoptr (GdkTexture) texture = NULL;
  g_autoptr (GBytes) bytes = NULL;

  gtk_widget_queue_draw (GTK_WIDGET (fixture->view));
  gtk_test_widget_wait_for_draw (GTK_WIDGET (fixture->view));
  widgets_settle ();
  gdk_paintable_snapshot (paintable, snapshot, SIZE, SIZE);
  node = gtk_snapshot_free_to_node (snapshot);
  g_assert_nonnull (node);
  gsk_renderer_realize (renderer, NULL, &error);
  g_assert_no_error (error);
  texture = gsk_renderer_render_texture (renderer, node, NULL);
  gsk_render_node_unref (node);
  gsk_renderer_unrealize (renderer);
  bytes = gdk_texture_save_to_png_bytes (texture);
  return g_bytes_hash (bytes);
}

/* Looks until the picture is `other` than the plain one, or not: a frame may be
 * shown later than the one that was waited for.  With `hovered` the pointer is
 * at the first point, again for every look, since what the display says of the
 * window, such as a focus that leaves it, ends that. */
static void
wait_for_picture (Fixture *fixture,
                  guint plain,
                  gboolean other,
                  gboolean hovered)
{
  gint64 end = g_get_monotonic_time () + 5 * G_USEC_PER_SEC;
  double x, y;
  guint hash;

  do
    {
      if (hovered)
        {
          find_point (fixture, 0, &x, &y);
          move_to (fixture, x, y);
        }
      hash = picture_hash (fixture);
    }
  while ((hash != plain) != other && g_get_monotonic_time () < end);
  g_assert_cmpint (hash != plain, ==, other);
}

static void
test_picture (Fixture *fixture, gconstpointer data)
{
  guint plain = picture_hash (fixture);

  wait_for_picture (fixture, plain, FALSE, FALSE);
  wait_for_picture (fixture, plain, TRUE, TRUE);
  move_to (fixture, 1, 1);
  wait_for_picture (fixture, plain, FALSE, FALSE);
  g_object_set (fixture->advisor, "budget", 10000.0, NULL);
  wait_for_picture (fixture, plain, TRUE, FALSE);
  g_object_set (fixture->advisor, "budget", 40000.0, NULL);
  wait_for_picture (fixture, plain, FALSE, FALSE);
}

static void
test_grid (void)
{
  static const char *const two[] = { "vit-large", "pythia-1b", NULL };
  static const char *const one[] = { "vit-large", NULL };
  g_autoptr (QmAdvisor) advisor = qm_advisor_new (widgets_catalog ());
  GtkWidget *window = gtk_window_new ();
  GtkWidget *grid = g_object_new (QM_TYPE_PLOT_GRID, NULL);
  QmPlotView *view;

  qm_plot_grid_set_advisor (QM_PLOT_GRID (grid), advisor);
  gtk_window_set_default_size (GTK_WINDOW (window), 900, 500);
  gtk_window_set_child (GTK_WINDOW (window), grid);
  gtk_window_present (GTK_WINDOW (window));
  gtk_test_widget_wait_for_draw (window);
  g_assert_cmpuint (widgets_count_visible (grid, QM_TYPE_PLOT_VIEW), ==, 2);
  view =
      qm_plot_grid_get_view (QM_PLOT_GRID (grid), 0, QM_ADVICE_PLOT_EXPERIMENT);
  g_assert_cmpstr (qm_plot_view_get_data (view)->x.title, ==,
                   "Experiment cost (USD)");
  g_assert_cmpint (gtk_widget_get_width (GTK_WIDGET (view)), <, 500);

  g_object_set (advisor, "models", two, NULL);
  widgets_settle ();
  gtk_test_widget_wait_for_draw (window);
  g_assert_cmpuint (widgets_count_visible (grid, QM_TYPE_PLOT_VIEW), ==, 4);
  view = qm_plot_grid_get_view (QM_PLOT_GRID (grid), 1, QM_ADVICE_PLOT_OVERALL);
  g_assert_cmpstr (qm_plot_view_get_data (view)->title, ==, "Pythia (1B)");
  qm_plot_grid_zoom (QM_PLOT_GRID (grid), 2);
  g_assert_true (qm_plot_view_is_zoomed (view));
  qm_plot_grid_zoom_reset (QM_PLOT_GRID (grid));
  g_assert_false (qm_plot_view_is_zoomed (view));

  g_object_set (advisor, "models", one, NULL);
  widgets_settle ();
  g_assert_cmpuint (widgets_count_visible (grid, QM_TYPE_PLOT_VIEW), ==, 2);
  g_object_ref (grid);
  gtk_window_destroy (GTK_WINDOW (window));
  widgets_settle ();
  g_assert_finalize_object (G_OBJECT (grid));
}

static double
text_size_with (Fixture *fixture, const char *font, int dpi)
{
  g_object_set (gtk_settings_get_default (), "gtk-font-name", font,
                "gtk-xft-dpi", dpi, NULL);
  widgets_settle ();
  gtk_test_widget_wait_for_draw (fixture->window);
  return fixture->view->theme.font_size;
}

/* The desktop's size of text is that of the plot, too. */
static void
test_text_size (Fixture *fixture, gconstpointer data)
{
  g_autofree char *font = NULL;
  double usual;
  int dpi;

  g_object_get (gtk_settings_get_default (), "gtk-font-name", &font,
                "gtk-xft-dpi", &dpi, NULL);
  usual = text_size_with (fixture, "Sans 11", 96 * 1024);
  g_assert_cmpfloat_with_epsilon (
      text_size_with (fixture, "Sans 11", 144 * 1024), 1.5 * usual, 0.01);
  g_assert_cmpfloat_with_epsilon (
      text_size_with (fixture, "Sans 22", 96 * 1024), 2 * usual, 0.01);
  text_size_with (fixture, font, dpi);
}

#define ADD(name, function) \
  g_test_add ("/plot-view/" name, Fixture, NULL, set_up, function, tear_down)

int
main (int argc, char **argv)
{
  widgets_init (&argc, &argv);
  ADD ("names", test_names);
  ADD ("hover", test_hover);
  ADD ("click", test_click);
  ADD ("drag-zooms", test_drag_zooms);
  ADD ("pan", test_pan);
  ADD ("keys-walk", test_keys_walk);
  ADD ("keys-select", test_keys_select);
  ADD ("keys-zoom", test_keys_zoom);
  ADD ("zoom-stays", test_zoom_stays);
  ADD ("topic-goes", test_topic_goes);
  ADD ("picture", test_picture);
  ADD ("text-size", test_text_size);
  g_test_add_func ("/plot-grid/views", test_grid);
  return g_test_run ();
}
