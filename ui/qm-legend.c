/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/qm-legend.h"

#include "ui/qm-theme.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

#define SAMPLE_GAP    6 /* from a sample to its words */
#define ITEM_GAP      12
#define LINE_GAP      4
#define LINE_LENGTH   18
#define SAMPLE_WEIGHT 2 /* of markers whose size means nothing */

/* Items that are not shown are kept for when they are again. */
#define MAX_SPARE 64

/* More names than this help nobody. */
#define MAX_SERIES 24

/* What stands before the words of an item. */
typedef enum
{
  SAMPLE_NONE,
  SAMPLE_SERIES,  /* a marker in its colour */
  SAMPLE_NEUTRAL, /* a marker that stands for no series */
  SAMPLE_LINE
} Sample;

typedef struct
{
  Sample sample;
  guint style;
  guint weight;
  QmPlotProvenance provenance;
  QmPlotPointFlags flags;
  PangoLayout *layout;
  GskRenderNode *node; /* of the sample; NULL: not drawn yet */
  int node_height, node_scale;
  int sample_size;
  int width, height;
} Item;

struct _QmLegend
{
  GtkWidget parent_instance;

  GArray *items;  /* Item */
  GArray *spare;  /* Item: not shown now */
  guint n_stayed; /* items that are where they were, while others are made */
};

G_DEFINE_FINAL_TYPE (QmLegend, qm_legend, GTK_TYPE_WIDGET)

static void
item_clear (gpointer data)
{
  Item *item = data;

  g_clear_object (&item->layout);
  g_clear_pointer (&item->node, gsk_render_node_unref);
}

static GArray *
new_items (void)
{
  GArray *items = g_array_new (FALSE, FALSE, sizeof (Item));

  g_array_set_clear_func (items, item_clear);
  return items;
}

static void
measure_item (Item *item)
{
  int width, height;

  pango_layout_get_pixel_size (item->layout, &width, &height);
  item->width = width;
  if (item->sample_size > 0)
    item->width += item->sample_size + SAMPLE_GAP;
  item->height =
      MAX (height, item->sample != SAMPLE_LINE ? item->sample_size : 0);
}

static gboolean
is_same_item (const Item *a, const Item *b, const char *text)
{
  return a->sample == b->sample && a->style == b->style
         && a->weight == b->weight && a->provenance == b->provenance
         && a->flags == b->flags
         && strcmp (pango_layout_get_text (a->layout), text) == 0;
}

/* Takes an item over that is spare, with what is shaped and drawn of it: as a
 * slider moves, series come and go. */
static gboolean
take_spare (QmLegend *self, const char *text, const Item *item)
{
  for (guint i = 0; i < self->spare->len; i++)
    {
      Item *spare = &g_array_index (self->spare, Item, i);

      if (spare->layout == NULL || !is_same_item (spare, item, text))
        continue;
      g_array_append_vals (self->items, spare, 1);
      spare->layout = NULL;
      spare->node = NULL;
      self->n_stayed += i + 1 == self->items->len;
      return TRUE;
    }
  return FALSE;
}

static void
add_item (QmLegend *self, const char *text, Item item)
{
  if (take_spare (self, text, &item))
    return;
  item.layout = gtk_widget_create_pango_layout (GTK_WIDGET (self), text);
  if (item.sample == SAMPLE_LINE)
    item.sample_size = LINE_LENGTH;
  else if (item.sample != SAMPLE_NONE)
    item.sample_size =
        2
        * (int) ceil (qm_plot_marker_radius (qm_theme_current (), item.weight)
                      + 1);
  measure_item (&item);
  g_array_append_val (self->items, item);
}

/* What occurs among the points of the plots. */
#define N_PROVENANCES G_N_ELEMENTS (((QmPlotData *) NULL)->provenance_names)

typedef struct
{
  GHashTable *series; /* char* */
  GString *names;
  GPtrArray *provenances[N_PROVENANCES]; /* const char*: their names */
  gboolean crossed;
  gboolean grey;
} Contents;

/* What a plot calls a provenance that occurs; plots may call it differently. */
static void
name_provenance (Contents *contents, const QmPlotData *data, guint provenance)
{
  const char *name;

  if (provenance >= N_PROVENANCES)
    return;
  name = data->provenance_names[provenance];
  if (name != NULL
      && !g_ptr_array_find_with_equal_func (contents->provenances[provenance],
                                            name, g_str_equal, NULL))
    g_ptr_array_add (contents->provenances[provenance], (gpointer) name);
}

/* Which series of a plot have a point. */
static gboolean *
look_at_points (const QmPlotData *data, Contents *contents)
{
  gboolean *used = g_new0 (gboolean, data->n_series + 1);

  for (guint i = 0; i < data->n_points; i++)
    {
      const QmPlotPoint *point = &data->points[i];

      if ((point->flags & QM_PLOT_POINT_HIDDEN) != 0 || !isfinite (point->x)
          || !isfinite (point->y) || point->series >= data->n_series)
        continue;
      used[point->series] = TRUE;
      name_provenance (contents, data, point->provenance);
      if ((point->flags & QM_PLOT_POINT_CROSSED) != 0)
        contents->crossed = TRUE;
      if ((point->flags & QM_PLOT_POINT_GREY) != 0)
        contents->grey = TRUE;
    }
  return used;
}

static void
add_series (QmLegend *self, const QmPlotData *data, Contents *contents)
{
  g_autofree gboolean *used = look_at_points (data, contents);

  for (guint i = 0; i < data->n_series; i++)
    {
      const QmPlotSeries *series = &data->series[i];
      guint n = g_hash_table_size (contents->series);

      if (!used[i] || n > MAX_SERIES
          || !g_hash_table_add (contents->series, g_strdup (series->name)))
        continue;
      if (n == MAX_SERIES)
        {
          add_item (self, "…", (Item){ .sample = SAMPLE_NONE });
          continue;
        }
      add_item (self, series->name,
                (Item){ .sample = SAMPLE_SERIES,
                        .style = series->style,
                        .weight = SAMPLE_WEIGHT });
      if (contents->names->len > 0)
        g_string_append (contents->names, ", ");
      g_string_append (contents->names, series->name);
    }
}

static void
add_weights (QmLegend *self, const QmPlotData *data)
{
  if (data->n_legend_weights > 0 && data->weight_title != NULL)
    add_item (self, data->weight_title, (Item){ .sample = SAMPLE_NONE });
  for (guint i = 0; i < data->n_legend_weights; i++)
    {
      g_autofree char *text = g_strdup_printf ("%u", data->legend_weights[i]);

      add_item (self, text,
                (Item){ .sample = SAMPLE_NEUTRAL,
                        .weight = data->legend_weights[i] });
    }
}

/* What the marks of the points mean, as the plots have words for it. */
static void
add_marks (QmLegend *self, const QmPlotData *data, const Contents *contents)
{
  for (guint i = 0; i < N_PROVENANCES; i++)
    for (guint j = 0; j < contents->provenances[i]->len; j++)
      add_item (self, g_ptr_array_index (contents->provenances[i], j),
                (Item){ .sample = SAMPLE_NEUTRAL,
                        .weight = SAMPLE_WEIGHT,
                        .provenance = i });
  if (contents->crossed && data->crossed_name != NULL)
    add_item (self, data->crossed_name,
              (Item){ .sample = SAMPLE_NEUTRAL,
                      .weight = SAMPLE_WEIGHT,
                      .flags = QM_PLOT_POINT_CROSSED });
  if (contents->grey && data->grey_name != NULL)
    add_item (self, data->grey_name,
              (Item){ .sample = SAMPLE_NEUTRAL,
                      .weight = SAMPLE_WEIGHT,
                      .flags = QM_PLOT_POINT_GREY });
  if (data->n_frontier > 1 && data->frontier_name != NULL)
    add_item (self, data->frontier_name, (Item){ .sample = SAMPLE_LINE });
}

/* Takes out what has been taken over, and the last ones where they are too
 * many. */
static void
tidy_spare (QmLegend *self)
{
  GArray *left = new_items ();

  for (guint i = 0; i < self->spare->len && left->len < MAX_SPARE; i++)
    {
      Item *spare = &g_array_index (self->spare, Item, i);

      if (spare->layout == NULL)
        continue;
      g_array_append_vals (left, spare, 1);
      spare->layout = NULL;
      spare->node = NULL;
    }
  g_array_unref (self->spare);
  self->spare = left;
}

/* Makes the items.  Returns the names of the series.  (transfer full) */
static GString *
make_items (QmLegend *self, const QmPlotData *const *plots, guint n_plots)
{
  Contents contents = { 0 };

  contents.series =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  contents.names = g_string_new (NULL);
  for (guint i = 0; i < N_PROVENANCES; i++)
    contents.provenances[i] = g_ptr_array_new ();
  for (guint i = 0; i < n_plots; i++)
    add_series (self, plots[i], &contents);
  if (n_plots > 0)
    {
      add_weights (self, plots[0]);
      add_marks (self, plots[0], &contents);
    }
  g_hash_table_unref (contents.series);
  for (guint i = 0; i < N_PROVENANCES; i++)
    g_ptr_array_unref (contents.provenances[i]);
  return contents.names;
}

void
qm_legend_set_plots (QmLegend *self,
                     const QmPlotData *const *plots,
                     guint n_plots)
{
  g_autoptr (GString) names = NULL;
  g_autofree char *label = NULL;
  guint n_before;

  g_return_if_fail (QM_IS_LEGEND (self));

  n_before = self->items->len;
  g_array_prepend_vals (self->spare, self->items->data, n_before);
  g_array_set_clear_func (self->items, NULL);
  g_array_set_size (self->items, 0);
  g_array_set_clear_func (self->items, item_clear);
  self->n_stayed = 0;
  names = make_items (self, plots, n_plots);
  tidy_spare (self);
  if (self->n_stayed == n_before && self->items->len == n_before)
    return;
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
                     Item *item,
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
          Item *item = &g_array_index (self->items, Item, i);

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

/* A theme in which every series has the colour of words. */
static QmPlotTheme
neutral_theme (void)
{
  QmPlotTheme theme = *qm_theme_current ();

  for (guint i = 0; i < G_N_ELEMENTS (theme.palette); i++)
    {
      theme.palette[i] = theme.faint_text;
      theme.palette[i].alpha = 0.6;
    }
  return theme;
}

static void
draw_sample (const Item *item, cairo_t *cr, int height)
{
  QmPlotTheme theme =
      item->sample == SAMPLE_SERIES ? *qm_theme_current () : neutral_theme ();

  cairo_translate (cr, item->sample_size / 2.0, height / 2.0);
  if (item->sample == SAMPLE_LINE)
    {
      cairo_set_source_rgba (cr, theme.text.red, theme.text.green,
                             theme.text.blue, 0.55);
      cairo_set_line_width (cr, 1.6);
      cairo_move_to (cr, -item->sample_size / 2.0, 0);
      cairo_line_to (cr, item->sample_size / 2.0, 0);
      cairo_stroke (cr);
    }
  else
    qm_plot_draw_marker (cr, &theme, item->style, item->weight,
                         item->provenance, item->flags);
}

/* As pixels: paths would be filled anew whenever something near them is drawn.
 */
static GskRenderNode *
new_node (const Item *item, int height, int scale)
{
  const int width = item->sample_size;
  cairo_surface_t *image =
      cairo_image_surface_create (CAIRO_FORMAT_ARGB32, width * scale,
                                  height * scale);
  GskRenderNode *node =
      gsk_cairo_node_new (&GRAPHENE_RECT_INIT (0, 0, width, height));
  cairo_t *cr;

  cairo_surface_set_device_scale (image, scale, scale);
  cr = cairo_create (image);
  draw_sample (item, cr, height);
  cairo_destroy (cr);
  cr = gsk_cairo_node_get_draw_context (node);
  cairo_set_source_surface (cr, image, 0, 0);
  cairo_paint (cr);
  cairo_destroy (cr);
  cairo_surface_destroy (image);
  return node;
}

/* The same node stays as long as it looks the same: GTK draws anew what is
 * drawn with Cairo, unless it is that. */
static void
append_sample (Item *item, GtkSnapshot *snapshot, int height, int scale)
{
  if (item->node == NULL || item->node_height != height
      || item->node_scale != scale)
    {
      g_clear_pointer (&item->node, gsk_render_node_unref);
      item->node = new_node (item, height, scale);
      item->node_height = height;
      item->node_scale = scale;
    }
  gtk_snapshot_append_node (snapshot, item->node);
}

static void
place_item (QmLegend *self,
            Item *item,
            int x,
            int y,
            int line_height,
            GtkSnapshot *snapshot)
{
  GtkWidget *widget = GTK_WIDGET (self);
  gboolean mirrored = gtk_widget_get_direction (widget) == GTK_TEXT_DIR_RTL;
  int indent = item->sample_size > 0 ? item->sample_size + SAMPLE_GAP : 0;
  int height;
  GdkRGBA color;

  if (mirrored)
    x = gtk_widget_get_width (widget) - x - item->width;
  if (item->sample_size > 0)
    {
      int at = mirrored ? x + item->width - item->sample_size : x;

      gtk_snapshot_save (snapshot);
      gtk_snapshot_translate (snapshot,
                              &GRAPHENE_POINT_INIT ((float) at, (float) y));
      append_sample (item, snapshot, line_height,
                     gtk_widget_get_scale_factor (widget));
      gtk_snapshot_restore (snapshot);
    }
  gtk_style_context_get_color (gtk_widget_get_style_context (widget), &color);
  pango_layout_get_pixel_size (item->layout, NULL, &height);
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (
      snapshot,
      &GRAPHENE_POINT_INIT ((float) (mirrored ? x : x + indent),
                            (float) (y + (line_height - height) / 2)));
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

  g_array_set_size (self->spare, 0);
  for (guint i = 0; i < self->items->len; i++)
    {
      Item *item = &g_array_index (self->items, Item, i);

      g_clear_pointer (&item->node, gsk_render_node_unref);
      pango_layout_context_changed (item->layout);
      measure_item (item);
    }
  gtk_widget_queue_resize (widget);
}

static void
theme_changed_cb (GtkWidget *widget)
{
  QmLegend *self = QM_LEGEND (widget);

  g_array_set_size (self->spare, 0);
  for (guint i = 0; i < self->items->len; i++)
    g_clear_pointer (&g_array_index (self->items, Item, i).node,
                     gsk_render_node_unref);
  gtk_widget_queue_draw (widget);
}

static void
qm_legend_finalize (GObject *object)
{
  g_array_unref (QM_LEGEND (object)->items);
  g_array_unref (QM_LEGEND (object)->spare);

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
  self->items = new_items ();
  self->spare = new_items ();
  gtk_widget_add_css_class (GTK_WIDGET (self), "caption");
  qm_theme_watch (GTK_WIDGET (self), theme_changed_cb);
}

GtkWidget *
qm_legend_new (void)
{
  return g_object_new (QM_TYPE_LEGEND, NULL);
}
