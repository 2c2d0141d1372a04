/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-plot-grid.h"

#include "ui/advisor/qm-advice-source.h"
#include "ui/qm-legend.h"
#include "ui/qm-terms-button.h"

#include <glib/gi18n-lib.h>
#include <math.h>

#define N_KINDS       2
#define NATURAL_WIDTH 420
#define GAP           12

/* Least width of a plot beside another one, and of a small multiple. */
#define LEAST_PAIR     300
#define LEAST_MULTIPLE 260

/* A width in which all plots stand in one line. */
#define WIDEST 100000

/* Heights that suit a width. */
#define ASPECT           0.72
#define MIN_HEIGHT       220
#define LARGEST_NATURAL  400
#define SMALL_MIN_HEIGHT 190
#define SMALL_NATURAL    270

struct _QmPlotGrid
{
  GtkWidget parent_instance;

  QmAdvisor *advisor;
  GtkWidget *legend;
  GtkWidget *heading; /* the legend, and what its words mean */
  guint64 told;       /* what the legend is of: told_of() */
  GtkWidget *headings[N_KINDS];
  GPtrArray *views[N_KINDS];   /* QmPlotView, owned as children */
  GPtrArray *sources[N_KINDS]; /* QmAdviceSource, of those */
};

G_DEFINE_FINAL_TYPE (QmPlotGrid, qm_plot_grid, GTK_TYPE_WIDGET)

/* How the plots of a width are arranged.  All cells are of one size. */
typedef struct
{
  guint n;       /* topics */
  gboolean pair; /* the kinds stand side by side */
  guint columns, rows;
  int cell_width;
  int fixed_height;  /* legend, headings and gaps */
  guint n_cell_rows; /* cells one above the other */
} Arrangement;

guint
qm_plot_grid_columns (guint n, int width, int least, int gap)
{
  guint most;
  guint rows;

  if (n == 0 || least <= 0)
    return 1;
  most = (guint) MAX (1, (width + gap) / (least + gap));
  most = MIN (most, n);
  rows = (n + most - 1) / most;
  return (n + rows - 1) / rows;
}

static int
height_of (GtkWidget *child, int width)
{
  int natural;

  if (!gtk_widget_should_layout (child))
    return 0;
  gtk_widget_measure (child, GTK_ORIENTATION_VERTICAL, width, NULL, &natural,
                      NULL, NULL);
  return natural + GAP;
}

static Arrangement
arrange (QmPlotGrid *self, int width)
{
  Arrangement way = { .n = self->views[0]->len, .columns = 1, .rows = 1 };

  if (way.n <= 1)
    way.pair = width >= 2 * LEAST_PAIR + GAP;
  else
    {
      way.columns = qm_plot_grid_columns (way.n, width, LEAST_MULTIPLE, GAP);
      way.rows = (way.n + way.columns - 1) / way.columns;
    }
  way.cell_width =
      way.pair ? (width - GAP) / 2
               : (width - (int) (way.columns - 1) * GAP) / (int) way.columns;
  way.n_cell_rows = way.pair ? 1 : way.rows * N_KINDS;
  way.fixed_height =
      height_of (self->heading, width) + (int) (way.n_cell_rows - 1) * GAP;
  for (guint i = 0; i < N_KINDS; i++)
    way.fixed_height += height_of (self->headings[i], width);
  return way;
}

static GtkSizeRequestMode
qm_plot_grid_get_request_mode (GtkWidget *widget)
{
  return GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}

static void
qm_plot_grid_measure (GtkWidget *widget,
                      GtkOrientation orientation,
                      int for_size,
                      int *minimum,
                      int *natural,
                      int *minimum_baseline,
                      int *natural_baseline)
{
  QmPlotGrid *self = QM_PLOT_GRID (widget);
  Arrangement way;
  int least, wanted;

  if (orientation == GTK_ORIENTATION_HORIZONTAL)
    {
      *minimum = LEAST_MULTIPLE;
      *natural = 2 * NATURAL_WIDTH + GAP;
      return;
    }
  way = arrange (self, for_size < 0 ? 2 * NATURAL_WIDTH + GAP : for_size);
  least = way.n > 1 ? SMALL_MIN_HEIGHT : MIN_HEIGHT;
  wanted = CLAMP ((int) (way.cell_width * ASPECT), least,
                  way.n > 1 ? SMALL_NATURAL : LARGEST_NATURAL);
  *minimum = way.fixed_height + (int) way.n_cell_rows * least;
  *natural = way.fixed_height + (int) way.n_cell_rows * wanted;
  if (for_size >= 0)
    return;
  /* The least of any width is that of the widest. */
  way = arrange (self, WIDEST);
  *minimum = MIN (*natural, way.fixed_height + (int) way.n_cell_rows * least);
}

/* Allocates a child, mirrored where text runs from right to left. */
static void
place (QmPlotGrid *self, GtkWidget *child, GtkAllocation area)
{
  if (gtk_widget_get_direction (GTK_WIDGET (self)) == GTK_TEXT_DIR_RTL)
    area.x = gtk_widget_get_width (GTK_WIDGET (self)) - area.x - area.width;
  gtk_widget_size_allocate (child, &area, -1);
}

static int
place_line (QmPlotGrid *self, GtkWidget *child, int width, int y)
{
  int height = height_of (child, width);

  if (height > 0)
    place (self, child, (GtkAllocation){ 0, y, width, height - GAP });
  return y + height;
}

static void
qm_plot_grid_size_allocate (GtkWidget *widget,
                            int width,
                            int height,
                            int baseline)
{
  QmPlotGrid *self = QM_PLOT_GRID (widget);
  Arrangement way = arrange (self, width);
  int cell_height =
      MAX ((height - way.fixed_height) / MAX ((int) way.n_cell_rows, 1), 1);
  int y = place_line (self, self->heading, width, 0);

  for (guint kind = 0; kind < N_KINDS; kind++)
    {
      int top =
          way.pair ? y : place_line (self, self->headings[kind], width, y);

      for (guint i = 0; i < way.n; i++)
        {
          int column = way.pair ? (int) kind : (int) (i % way.columns);
          int row = way.pair ? 0 : (int) (i / way.columns);

          place (self, g_ptr_array_index (self->views[kind], i),
                 (GtkAllocation){ column * (way.cell_width + GAP),
                                  top + row * (cell_height + GAP),
                                  way.cell_width, cell_height });
        }
      if (!way.pair)
        y = top + (int) way.rows * (cell_height + GAP);
    }
}

/* A bit for each series of which points are shown, and for each number of GPUs.
 */
static guint64
told_of (const QmPlotData *data)
{
  guint64 told = 0;

  for (guint i = 0; i < data->n_points; i++)
    if ((data->points[i].flags & QM_PLOT_POINT_HIDDEN) == 0)
      told |= G_GUINT64_CONSTANT (1) << data->points[i].series % 56
              | G_GUINT64_CONSTANT (1) << (56 + data->points[i].weight % 8);
  return told;
}

/* Of all plots; one that shows the same as before stays. */
static void
renew_legend (QmPlotGrid *self, gboolean whole)
{
  g_autoptr (GPtrArray) plots = g_ptr_array_new ();
  guint64 told = 0;

  for (guint i = 0; i < N_KINDS * self->views[0]->len; i++)
    {
      GPtrArray *views = self->views[i / self->views[0]->len];
      const QmPlotData *data = qm_plot_view_get_data (
          g_ptr_array_index (views, i % self->views[0]->len));

      if (data == NULL)
        continue;
      g_ptr_array_add (plots, (gpointer) data);
      told |= told_of (data);
    }
  if (!whole && told == self->told)
    return;
  self->told = told;
  qm_legend_set_plots (QM_LEGEND (self->legend),
                       (const QmPlotData *const *) plots->pdata, plots->len);
}

/* Plots side by side have the same axes. */
static void
share_axes (QmPlotGrid *self)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new ();

  for (guint kind = 0; kind < N_KINDS; kind++)
    for (guint i = 0; i < self->sources[kind]->len; i++)
      g_ptr_array_add (all, g_ptr_array_index (self->sources[kind], i));
  qm_advice_source_share ((QmAdviceSource *const *) all->pdata, all->len);
}

/* Something on the plots that a shortlist leaves out. */
static void
shown_changed_cb (QmPlotGrid *self)
{
  renew_legend (self, FALSE);
}

/* Other axes, or another shortlist. */
static void
plots_changed_cb (QmPlotGrid *self)
{
  share_axes (self);
  renew_legend (self, FALSE);
}

/* As many views as topics.  Those that stay bring themselves up to date. */
static void
update_views (QmPlotGrid *self)
{
  guint n = self->advisor != NULL ? qm_advisor_get_n_topics (self->advisor) : 0;

  for (guint kind = 0; kind < N_KINDS; kind++)
    {
      GPtrArray *views = self->views[kind];

      while (views->len > n)
        {
          g_ptr_array_remove_index (self->sources[kind], views->len - 1);
          g_ptr_array_remove_index (views, views->len - 1);
        }
      while (views->len < n)
        {
          g_autoptr (QmPlotSource) source =
              qm_advice_source_new (self->advisor, views->len, kind);
          GtkWidget *view = qm_plot_view_new (source);

          /* In the order in which the focus should move. */
          if (views->len > 0)
            gtk_widget_insert_after (view, GTK_WIDGET (self),
                                     g_ptr_array_index (views, views->len - 1));
          else
            gtk_widget_insert_after (view, GTK_WIDGET (self),
                                     self->headings[kind]);
          g_ptr_array_add (views, view);
          g_ptr_array_add (self->sources[kind], g_object_ref (source));
        }
      gtk_widget_set_visible (self->headings[kind], n > 1);
    }
  share_axes (self);
  renew_legend (self, TRUE);
  gtk_widget_queue_resize (GTK_WIDGET (self));
}

void
qm_plot_grid_set_advisor (QmPlotGrid *self, QmAdvisor *advisor)
{
  g_return_if_fail (QM_IS_PLOT_GRID (self));
  g_return_if_fail (advisor == NULL || QM_IS_ADVISOR (advisor));

  if (self->advisor == advisor)
    return;
  if (self->advisor != NULL)
    g_signal_handlers_disconnect_by_data (self->advisor, self);
  for (guint kind = 0; kind < N_KINDS; kind++)
    {
      g_ptr_array_set_size (self->views[kind], 0);
      g_ptr_array_set_size (self->sources[kind], 0);
    }
  g_set_object (&self->advisor, advisor);
  if (advisor != NULL)
    {
      static const char *const shown[] = { "limits-changed",
                                           "selection-changed" };
      static const char *const others[] = { "notify::all-gpus",
                                            "notify::log-axes" };

      /* After the views have taken in what is new. */
      g_signal_connect_object (advisor, "rebuilt", G_CALLBACK (update_views),
                               self, G_CONNECT_SWAPPED | G_CONNECT_AFTER);
      for (guint i = 0; i < G_N_ELEMENTS (shown); i++)
        g_signal_connect_object (advisor, shown[i],
                                 G_CALLBACK (shown_changed_cb), self,
                                 G_CONNECT_SWAPPED | G_CONNECT_AFTER);
      for (guint i = 0; i < G_N_ELEMENTS (others); i++)
        g_signal_connect_object (advisor, others[i],
                                 G_CALLBACK (plots_changed_cb), self,
                                 G_CONNECT_SWAPPED | G_CONNECT_AFTER);
    }
  update_views (self);
}

static void
qm_plot_grid_dispose (GObject *object)
{
  QmPlotGrid *self = QM_PLOT_GRID (object);

  if (self->advisor != NULL)
    g_signal_handlers_disconnect_by_data (self->advisor, self);
  for (guint kind = 0; kind < N_KINDS; kind++)
    {
      g_clear_pointer (&self->views[kind], g_ptr_array_unref);
      g_clear_pointer (&self->sources[kind], g_ptr_array_unref);
      g_clear_pointer (&self->headings[kind], gtk_widget_unparent);
    }
  g_clear_pointer (&self->heading, gtk_widget_unparent);
  g_clear_object (&self->advisor);

  G_OBJECT_CLASS (qm_plot_grid_parent_class)->dispose (object);
}

static void
qm_plot_grid_class_init (QmPlotGridClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->dispose = qm_plot_grid_dispose;
  widget_class->get_request_mode = qm_plot_grid_get_request_mode;
  widget_class->measure = qm_plot_grid_measure;
  widget_class->size_allocate = qm_plot_grid_size_allocate;

  gtk_widget_class_set_css_name (widget_class, "plotgrid");
  gtk_widget_class_set_accessible_role (widget_class,
                                        GTK_ACCESSIBLE_ROLE_GROUP);
}

static GtkWidget *
add_heading (QmPlotGrid *self, const char *text)
{
  GtkWidget *heading = gtk_label_new (text);

  gtk_label_set_xalign (GTK_LABEL (heading), 0);
  gtk_widget_add_css_class (heading, "heading");
  gtk_widget_set_visible (heading, FALSE);
  gtk_widget_set_parent (heading, GTK_WIDGET (self));
  return heading;
}

static void
qm_plot_grid_init (QmPlotGrid *self)
{
  GtkWidget *terms;

  self->legend = qm_legend_new ();
  gtk_widget_set_hexpand (self->legend, TRUE);
  gtk_widget_set_valign (self->legend, GTK_ALIGN_CENTER);
  terms = g_object_new (QM_TYPE_TERMS_BUTTON, "terms",
                        "frontier measured reported predicted interval",
                        "valign", GTK_ALIGN_START, NULL);
  self->heading = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  gtk_box_append (GTK_BOX (self->heading), self->legend);
  gtk_box_append (GTK_BOX (self->heading), terms);
  gtk_widget_set_parent (self->heading, GTK_WIDGET (self));
  self->headings[0] = add_heading (self, _ ("Overall cost"));
  self->headings[1] = add_heading (self, _ ("Cost of one experiment"));
  for (guint kind = 0; kind < N_KINDS; kind++)
    {
      self->views[kind] =
          g_ptr_array_new_with_free_func ((GDestroyNotify) gtk_widget_unparent);
      self->sources[kind] = g_ptr_array_new_with_free_func (g_object_unref);
    }
}

QmPlotView *
qm_plot_grid_get_view (QmPlotGrid *self, guint topic, QmAdvicePlotKind kind)
{
  g_return_val_if_fail (QM_IS_PLOT_GRID (self) && kind < N_KINDS, NULL);

  if (topic >= self->views[kind]->len)
    return NULL;
  return g_ptr_array_index (self->views[kind], topic);
}

static void
for_each_view (QmPlotGrid *self,
               void (*visit) (QmPlotView *view, double factor),
               double factor)
{
  for (guint kind = 0; kind < N_KINDS; kind++)
    for (guint i = 0; i < self->views[kind]->len; i++)
      visit (g_ptr_array_index (self->views[kind], i), factor);
}

static void
zoom_view (QmPlotView *view, double factor)
{
  qm_plot_view_zoom (view, factor, NAN, NAN);
}

static void
reset_view (QmPlotView *view, double factor)
{
  qm_plot_view_zoom_reset (view);
}

void
qm_plot_grid_zoom (QmPlotGrid *self, double factor)
{
  g_return_if_fail (QM_IS_PLOT_GRID (self) && factor > 0);

  for_each_view (self, zoom_view, factor);
}

void
qm_plot_grid_zoom_reset (QmPlotGrid *self)
{
  g_return_if_fail (QM_IS_PLOT_GRID (self));

  for_each_view (self, reset_view, 1);
}
