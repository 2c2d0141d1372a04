/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/qm-legend.h"

#include "ui/qm-theme.h"

#include <glib/gi18n-lib.h>
#include <math.h>

#define MARKER_GAP 6
#define ITEM_GAP   16
#define LINE_GAP   4

/* More names than this help nobody. */
#define MAX_SERIES 16

/* A marker, or none, with words beside it. */
typedef struct
{
  PangoLayout *layout;
  double marker; /* radius; 0: none */
  guint style;
  guint weight;
  gboolean neutral; /* a size, which has no colour */
  int width, height;
} Item;

struct _QmLegend
{
  GtkWidget parent_instance;

  GArray *items; /* Item */
};

G_DEFINE_FINAL_TYPE (QmLegend, qm_legend, GTK_TYPE_WIDGET)

static void
item_clear (gpointer data)
{
  Item *item = data;

  g_clear_object (&item->layout);
}

static void
measure_item (Item *item)
{
  int width, height;

  pango_layout_get_pixel_size (item->layout, &width, &height);
  item->width = width;
  if (item->marker > 0)
    item->width += (int) ceil (2 * item->marker) + MARKER_GAP;
  item->height = MAX (height, (int) ceil (2 * item->marker));
}

static void
add_item (QmLegend *self,
          const char *text,
          guint style,
          guint weight,
          gboolean neutral)
{
  Item item = { .style = style, .weight = weight, .neutral = neutral };

  item.layout = gtk_widget_create_pango_layout (GTK_WIDGET (self), text);
  if (weight > 0)
    item.marker = qm_plot_marker_radius (qm_theme_current (), weight) + 1;
  measure_item (&item);
  g_array_append_val (self->items, item);
}

/* Which series of a plot have a point. */
static gboolean *
used_series (const QmPlotData *data)
{
  gboolean *used = g_new0 (gboolean, data->n_series + 1);

  for (guint i = 0; i < data->n_points; i++)
    if ((data->points[i].flags & QM_PLOT_POINT_HIDDEN) == 0
        && isfinite (data->points[i].x) && isfinite (data->points[i].y)
        && data->points[i].series < data->n_series)
      used[data->points[i].series] = TRUE;
  return used;
}

static void
add_series (QmLegend *self,
            const QmPlotData *data,
            GHashTable *seen,
            GString *names)
{
  g_autofree gboolean *used = used_series (data);

  for (guint i = 0; i < data->n_series; i++)
    {
      const QmPlotSeries *series = &data->series[i];

      if (!used[i] || g_hash_table_contains (seen, series->name)
          || g_hash_table_size (seen) > MAX_SERIES)
        continue;
      g_hash_table_add (seen, g_strdup (series->name));
      if (g_hash_table_size (seen) > MAX_SERIES)
        {
          add_item (self, "…", 0, 0, TRUE);
          continue;
        }
      add_item (self, series->name, series->style, 1, FALSE);
      if (names->len > 0)
        g_string_append (names, ", ");
      g_string_append (names, series->name);
    }
}

static void
add_weights (QmLegend *self, const QmPlotData *data)
{
  for (guint i = 0; i < data->n_legend_weights; i++)
    {
      g_autofree char *text = NULL;

      if (i == 0 && data->weight_title != NULL)
        add_item (self, data->weight_title, 0, 0, TRUE);
      text = g_strdup_printf ("%u", data->legend_weights[i]);
      add_item (self, text, 0, data->legend_weights[i], TRUE);
    }
}

void
qm_legend_set_plots (QmLegend *self,
                     const QmPlotData *const *plots,
                     guint n_plots)
{
  g_autoptr (GHashTable) seen = NULL;
  g_autoptr (GString) names = g_string_new (NULL);
  g_autofree char *label = NULL;

  g_return_if_fail (QM_IS_LEGEND (self));

  seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_array_set_size (self->items, 0);
  for (guint i = 0; i < n_plots; i++)
    add_series (self, plots[i], seen, names);
  for (guint i = 0; i < n_plots; i++)
    if (plots[i]->n_legend_weights > 0)
      {
        add_weights (self, plots[i]);
        break;
      }
  /* Translators: names of GPUs. */
  label = g_strdup_printf (_ ("Legend: %s"), names->str);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
  gtk_widget_queue_resize (GTK_WIDGET (self));
}

/* Places the items in lines of `width`, calling `place` (may be NULL) for
 * each; returns the height. */
static int
flow (QmLegend *self,
      int width,
      void (*place) (QmLegend *self,
                     const Item *item,
                     int x,
                     int y,
                     int line_height,
                     GtkSnapshot *snapshot),
      GtkSnapshot *snapshot)
{
  guint first = 0;
  int y = 0;

  while (first < self->items->len)
    {
      guint end = first;
      int line_width = 0;
      int line_height = 0;
      int x = 0;

      for (; end < self->items->len; end++)
        {
          const Item *item = &g_array_index (self->items, Item, end);
          int wanted = line_width + (end > first ? ITEM_GAP : 0) + item->width;

          if (end > first && wanted > width)
            break;
          line_width = wanted;
          line_height = MAX (line_height, item->height);
        }
      for (guint i = first; i < end && place != NULL; i++)
        {
          const Item *item = &g_array_index (self->items, Item, i);

          place (self, item, x, y, line_height, snapshot);
          x += item->width + ITEM_GAP;
        }
      y += line_height + (end < self->items->len ? LINE_GAP : 0);
      first = end;
    }
  return y;
}

static GtkSizeRequestMode
qm_legend_get_request_mode (GtkWidget *widget)
{
  return GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}

static void
qm_legend_measure (GtkWidget *widget,
                   GtkOrientation orientation,
                   int for_size,
                   int *minimum,
                   int *natural,
                   int *minimum_baseline,
                   int *natural_baseline)
{
  QmLegend *self = QM_LEGEND (widget);

  *minimum = *natural = 0;
  if (orientation == GTK_ORIENTATION_VERTICAL)
    {
      *minimum = *natural =
          flow (self, for_size < 0 ? G_MAXINT : for_size, NULL, NULL);
      return;
    }
  for (guint i = 0; i < self->items->len; i++)
    {
      const Item *item = &g_array_index (self->items, Item, i);

      *minimum = MAX (*minimum, item->width);
      *natural += item->width + (i > 0 ? ITEM_GAP : 0);
    }
}

static void
draw_marker (const Item *item, GtkSnapshot *snapshot, const GdkRGBA *color)
{
  const QmPlotTheme *theme = qm_theme_current ();
  float size = (float) (2 * item->marker);
  cairo_t *cr =
      gtk_snapshot_append_cairo (snapshot,
                                 &GRAPHENE_RECT_INIT (0, 0, size, size));

  cairo_translate (cr, item->marker, item->marker);
  if (item->neutral)
    {
      gdk_cairo_set_source_rgba (cr, color);
      cairo_set_line_width (cr, 1);
      cairo_arc (cr, 0, 0, item->marker - 1, 0, 2 * G_PI);
      cairo_stroke (cr);
    }
  else
    qm_plot_draw_marker (cr, theme, item->style, item->weight,
                         QM_PLOT_PUBLISHED, QM_PLOT_POINT_NORMAL);
  cairo_destroy (cr);
}

static void
place_item (QmLegend *self,
            const Item *item,
            int x,
            int y,
            int line_height,
            GtkSnapshot *snapshot)
{
  GtkWidget *widget = GTK_WIDGET (self);
  gboolean mirrored = gtk_widget_get_direction (widget) == GTK_TEXT_DIR_RTL;
  int marker_width =
      item->marker > 0 ? (int) ceil (2 * item->marker) + MARKER_GAP : 0;
  int height;
  GdkRGBA color;

  if (mirrored)
    x = gtk_widget_get_width (widget) - x - item->width;
  gtk_style_context_get_color (gtk_widget_get_style_context (widget), &color);
  if (item->marker > 0)
    {
      double at = mirrored ? x + item->width - 2 * item->marker : x;

      gtk_snapshot_save (snapshot);
      gtk_snapshot_translate (
          snapshot,
          &GRAPHENE_POINT_INIT ((float) at, (float) (y + line_height / 2.0
                                                     - item->marker)));
      draw_marker (item, snapshot, &color);
      gtk_snapshot_restore (snapshot);
    }
  pango_layout_get_pixel_size (item->layout, NULL, &height);
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (
      snapshot, &GRAPHENE_POINT_INIT (mirrored ? x : x + marker_width,
                                      y + (line_height - height) / 2));
  gtk_snapshot_append_layout (snapshot, item->layout, &color);
  gtk_snapshot_restore (snapshot);
}

static void
qm_legend_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  flow (QM_LEGEND (widget), gtk_widget_get_width (widget), place_item,
        snapshot);
}

static void
qm_legend_css_changed (GtkWidget *widget, GtkCssStyleChange *change)
{
  QmLegend *self = QM_LEGEND (widget);

  GTK_WIDGET_CLASS (qm_legend_parent_class)->css_changed (widget, change);

  for (guint i = 0; i < self->items->len; i++)
    {
      Item *item = &g_array_index (self->items, Item, i);

      pango_layout_context_changed (item->layout);
      measure_item (item);
    }
  gtk_widget_queue_resize (widget);
}

static void
qm_legend_finalize (GObject *object)
{
  g_array_unref (QM_LEGEND (object)->items);

  G_OBJECT_CLASS (qm_legend_parent_class)->finalize (object);
}

static void
qm_legend_class_init (QmLegendClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->finalize = qm_legend_finalize;
  widget_class->get_request_mode = qm_legend_get_request_mode;
  widget_class->measure = qm_legend_measure;
  widget_class->snapshot = qm_legend_snapshot;
  widget_class->css_changed = qm_legend_css_changed;

  gtk_widget_class_set_css_name (widget_class, "plotlegend");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
qm_legend_init (QmLegend *self)
{
  self->items = g_array_new (FALSE, FALSE, sizeof (Item));
  g_array_set_clear_func (self->items, item_clear);
  gtk_widget_add_css_class (GTK_WIDGET (self), "caption");
  qm_theme_watch (GTK_WIDGET (self), gtk_widget_queue_draw);
}

GtkWidget *
qm_legend_new (void)
{
  return g_object_new (QM_TYPE_LEGEND, NULL);
}
