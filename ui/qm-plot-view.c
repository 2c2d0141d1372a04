/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/qm-plot-view-private.h"

#include "ui/qm-theme.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

#define MIN_WIDTH      200
#define MIN_HEIGHT     180
#define NATURAL_WIDTH  420
#define NATURAL_HEIGHT 340

/* The size of text for which themes are made, in pixels: 11 points.  Text that
 * is some times as large leaves the plot some place. */
#define USUAL_TEXT     (11 * 96 / 72.0)
#define LEAST_SCALE    1.0
#define GREATEST_SCALE 2.0

/* Radius of a card's corners. */
#define CORNER 12.0

static const QmPlotLayers stage_layers[N_STAGES] = {
  [STAGE_FRAME] = QM_PLOT_LAYER_FRAME,
  [STAGE_POINTS] = QM_PLOT_LAYER_POINTS,
  [STAGE_OVERLAY] = QM_PLOT_LAYER_OVERLAY,
};

G_DEFINE_FINAL_TYPE (QmPlotView, qm_plot_view, GTK_TYPE_WIDGET)

const QmPlotData *
_qm_plot_view_data (QmPlotView *self)
{
  return qm_plot_source_get_data (self->source);
}

/* Has everything drawn anew from a stage on. */
static void
invalidate (QmPlotView *self, guint stage)
{
  for (guint i = stage; i < N_STAGES; i++)
    self->drawn[i] = FALSE;
  g_clear_object (&self->texture);
  if (stage == STAGE_FRAME)
    {
      self->layout_valid = FALSE;
      qm_plot_painter_reset (self->painter);
    }
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* Tells assistive technology what the widget is now called. */
static void
update_label (QmPlotView *self)
{
  const QmPlotData *data;
  g_autofree char *label = NULL;

  /* Asking may bring another plot: before it is looked at. */
  qm_plot_source_settle (self->source);
  data = _qm_plot_view_data (self);
  if (data != NULL && self->walked >= 0 && data->hovered_label != NULL)
    label = g_strdup (data->hovered_label);
  else
    label = qm_plot_source_describe (self->source);
  if (g_strcmp0 (label, self->spoken) == 0)
    return;
  gtk_accessible_update_property (GTK_ACCESSIBLE (self),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
  g_free (self->spoken);
  self->spoken = g_steal_pointer (&label);
}

void
_qm_plot_view_set_hovered (QmPlotView *self, int index)
{
  const QmPlotData *data = _qm_plot_view_data (self);

  if (data == NULL || data->hovered == index)
    return;
  qm_plot_source_set_hovered (self->source, index);
  invalidate (self, STAGE_OVERLAY);
}

void
_qm_plot_view_set_walked (QmPlotView *self, int index)
{
  self->walked = index;
  _qm_plot_view_set_hovered (self, index);
  if (_qm_plot_view_data (self) != NULL)
    update_label (self);
}

void
_qm_plot_view_set_range (QmPlotView *self, const QmPlotZoom *range)
{
  self->range = *range;
  qm_plot_source_set_range (self->source, range);
  invalidate (self, STAGE_FRAME);
}

static void
source_rebuilt_cb (QmPlotView *self, gboolean whole)
{
  QmPlotZoom range = whole ? qm_plot_zoom_all () : self->range;

  self->walked = -1;
  self->dragging = FALSE;
  _qm_plot_view_set_range (self, &range);
  if (_qm_plot_view_data (self) != NULL)
    update_label (self);
}

static void
source_changed_cb (QmPlotView *self, guint part)
{
  /* What is told of the plot has limits and the recommendation in it. */
  update_label (self);
  invalidate (self,
              part == QM_PLOT_SOURCE_POINTS ? STAGE_POINTS : STAGE_OVERLAY);
}

/* How much larger than GNOME's own the text of the window is. */
static double
text_scale (const PangoFontDescription *font)
{
  double size;

  if (font == NULL || !pango_font_description_get_size_is_absolute (font))
    return 1;
  size = pango_font_description_get_size (font) / (double) PANGO_SCALE;
  return CLAMP (size / USUAL_TEXT, LEAST_SCALE, GREATEST_SCALE);
}

static void
theme_cb (GtkWidget *widget)
{
  QmPlotView *self = QM_PLOT_VIEW (widget);

  PangoContext *context = gtk_widget_get_pango_context (widget);
  const PangoFontDescription *font =
      pango_context_get_font_description (context);
  const char *family =
      font != NULL ? pango_font_description_get_family (font) : NULL;

  self->theme = *qm_theme_current ();
  self->theme.font_size *= text_scale (font);
  if (family != NULL)
    {
      g_free (self->font);
      self->font = g_strdup (family);
      self->theme.font = self->font;
    }
  invalidate (self, STAGE_FRAME);
}

/* The style may have brought another font. */
static void
qm_plot_view_css_changed (GtkWidget *widget, GtkCssStyleChange *change)
{
  GTK_WIDGET_CLASS (qm_plot_view_parent_class)->css_changed (widget, change);

  theme_cb (widget);
}

/* Clips to the rounded corners of the widget. */
static void
clip_corners (cairo_t *cr, double width, double height)
{
  cairo_new_path (cr);
  cairo_arc (cr, width - CORNER, CORNER, CORNER, -G_PI_2, 0);
  cairo_arc (cr, width - CORNER, height - CORNER, CORNER, 0, G_PI_2);
  cairo_arc (cr, CORNER, height - CORNER, CORNER, G_PI_2, G_PI);
  cairo_arc (cr, CORNER, CORNER, CORNER, G_PI, 1.5 * G_PI);
  cairo_close_path (cr);
  cairo_clip (cr);
}

/* Layouts of the visible range and of everything. */
gboolean
_qm_plot_view_layouts (QmPlotView *self, QmPlotLayout *now, QmPlotLayout *all)
{
  const QmPlotData *data = _qm_plot_view_data (self);
  int width = gtk_widget_get_width (GTK_WIDGET (self));
  int height = gtk_widget_get_height (GTK_WIDGET (self));
  QmPlotData whole;

  if (data == NULL || width <= 0 || height <= 0)
    return FALSE;
  if (!self->layout_valid)
    qm_plot_layout (data, width, height, &self->theme, &self->layout);
  self->layout_valid = TRUE;
  *now = self->layout;
  if (all == NULL)
    return TRUE;
  *all = self->layout;
  if (!qm_plot_zoom_is_all (&self->range))
    {
      whole = *data;
      whole.x.min = whole.x.max = whole.y.min = whole.y.max = NAN;
      qm_plot_layout (&whole, width, height, &self->theme, all);
    }
  return TRUE;
}

static void
drop_images (QmPlotView *self)
{
  for (guint i = 0; i < N_STAGES; i++)
    {
      g_clear_pointer (&self->images[i], cairo_surface_destroy);
      self->drawn[i] = FALSE;
    }
  g_clear_pointer (&self->shown, cairo_surface_destroy);
  g_clear_object (&self->texture);
}

static cairo_surface_t *
new_image (QmPlotView *self)
{
  int scale = self->images_scale;
  cairo_surface_t *image =
      cairo_image_surface_create (CAIRO_FORMAT_ARGB32,
                                  self->images_width * scale,
                                  self->images_height * scale);

  cairo_surface_set_device_scale (image, scale, scale);
  return image;
}

/* Begins an image with the pixels of the stage below, or with none.  One image
 * holds all layers, since each one that GTK has to lay over the window costs as
 * much as drawing its contents does. */
static void
begin_image (cairo_surface_t *image, cairo_surface_t *below)
{
  gsize size = (gsize) cairo_image_surface_get_stride (image)
               * (gsize) cairo_image_surface_get_height (image);
  guchar *pixels;

  cairo_surface_flush (image);
  pixels = cairo_image_surface_get_data (image);
  if (below != NULL)
    memcpy (pixels, cairo_image_surface_get_data (below), size);
  else
    memset (pixels, 0, size);
  cairo_surface_mark_dirty (image);
}

static void
draw_stage (QmPlotView *self, guint stage)
{
  cairo_t *cr;

  if (stage == STAGE_OVERLAY)
    {
      /* GTK still holds the last frame: draw into the one before. */
      cairo_surface_t *spare = self->images[stage];

      self->images[stage] = self->shown;
      self->shown = spare;
    }
  if (self->images[stage] == NULL)
    self->images[stage] = new_image (self);
  begin_image (self->images[stage], stage > 0 ? self->images[stage - 1] : NULL);
  cr = cairo_create (self->images[stage]);
  if (stage == STAGE_FRAME)
    clip_corners (cr, self->images_width, self->images_height);
  qm_plot_painter_draw (self->painter, cr, _qm_plot_view_data (self),
                        self->images_width, self->images_height, &self->theme,
                        stage_layers[stage]);
  cairo_destroy (cr);
  cairo_surface_flush (self->images[stage]);
  self->drawn[stage] = TRUE;
}

static void
draw_stages (QmPlotView *self)
{
  int scale = gtk_widget_get_scale_factor (GTK_WIDGET (self));
  int width = gtk_widget_get_width (GTK_WIDGET (self));
  int height = gtk_widget_get_height (GTK_WIDGET (self));

  if (width != self->images_width || height != self->images_height
      || scale != self->images_scale)
    {
      drop_images (self);
      self->images_width = width;
      self->images_height = height;
      self->images_scale = scale;
    }
  for (guint i = 0; i < N_STAGES; i++)
    if (!self->drawn[i])
      draw_stage (self, i);
}

/* A copy, since the image is drawn on again. */
static GdkTexture *
texture_of (cairo_surface_t *image)
{
  gsize stride = (gsize) cairo_image_surface_get_stride (image);
  int height = cairo_image_surface_get_height (image);
  g_autoptr (GBytes) bytes = g_bytes_new (cairo_image_surface_get_data (image),
                                          stride * (gsize) height);

  return gdk_memory_texture_new (cairo_image_surface_get_width (image), height,
                                 GDK_MEMORY_DEFAULT, bytes, stride);
}

/* A GPU wants a texture, which it keeps until it changes.  Software rendering
 * would convert every pixel of one through floating point, so that there the
 * image itself is handed over. */
static void
snapshot_image (QmPlotView *self,
                GtkSnapshot *snapshot,
                const graphene_rect_t *bounds)
{
  GtkNative *native = gtk_widget_get_native (GTK_WIDGET (self));
  GskRenderer *renderer =
      native != NULL ? gtk_native_get_renderer (native) : NULL;
  cairo_surface_t *image = self->images[STAGE_OVERLAY];
  cairo_t *cr;

  if (renderer == NULL || GSK_IS_CAIRO_RENDERER (renderer))
    {
      cr = gtk_snapshot_append_cairo (snapshot, bounds);
      cairo_set_source_surface (cr, image, 0, 0);
      cairo_paint (cr);
      cairo_destroy (cr);
      return;
    }
  if (self->texture == NULL)
    self->texture = texture_of (image);
  gtk_snapshot_append_texture (snapshot, self->texture, bounds);
}

static void
snapshot_rubber_band (QmPlotView *self, GtkSnapshot *snapshot)
{
  GdkRGBA color = { (float) self->theme.accent.red,
                    (float) self->theme.accent.green,
                    (float) self->theme.accent.blue, 1 };
  graphene_rect_t rect;
  GskRoundedRect outline;

  graphene_rect_init (&rect, (float) MIN (self->drag_x, self->drag_to_x),
                      (float) MIN (self->drag_y, self->drag_to_y),
                      (float) fabs (self->drag_to_x - self->drag_x),
                      (float) fabs (self->drag_to_y - self->drag_y));
  gsk_rounded_rect_init_from_rect (&outline, &rect, 0);
  gtk_snapshot_append_border (snapshot, &outline, (float[4]){ 1, 1, 1, 1 },
                              (GdkRGBA[4]){ color, color, color, color });
  color.alpha = 0.15f;
  gtk_snapshot_append_color (snapshot, &color, &rect);
}

static void
snapshot_focus (QmPlotView *self,
                GtkSnapshot *snapshot,
                const graphene_rect_t *bounds)
{
  GdkRGBA color;
  GskRoundedRect outline;

  if (!gtk_style_context_lookup_color (gtk_widget_get_style_context (
                                           GTK_WIDGET (self)),
                                       "accent_color", &color))
    gtk_style_context_get_color (
        gtk_widget_get_style_context (GTK_WIDGET (self)), &color);
  gsk_rounded_rect_init_from_rect (&outline, bounds, CORNER);
  gtk_snapshot_append_border (snapshot, &outline, (float[4]){ 2, 2, 2, 2 },
                              (GdkRGBA[4]){ color, color, color, color });
}

static void
qm_plot_view_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  QmPlotView *self = QM_PLOT_VIEW (widget);
  int width = gtk_widget_get_width (widget);
  int height = gtk_widget_get_height (widget);
  graphene_rect_t bounds = GRAPHENE_RECT_INIT (0, 0, width, height);

  if (_qm_plot_view_data (self) == NULL || width <= 0 || height <= 0)
    return;
  draw_stages (self);
  snapshot_image (self, snapshot, &bounds);
  if (self->dragging)
    snapshot_rubber_band (self, snapshot);
  if (gtk_widget_has_visible_focus (widget))
    snapshot_focus (self, snapshot, &bounds);
}

static void
qm_plot_view_measure (GtkWidget *widget,
                      GtkOrientation orientation,
                      int for_size,
                      int *minimum,
                      int *natural,
                      int *minimum_baseline,
                      int *natural_baseline)
{
  gboolean horizontal = orientation == GTK_ORIENTATION_HORIZONTAL;

  *minimum = horizontal ? MIN_WIDTH : MIN_HEIGHT;
  *natural = horizontal ? NATURAL_WIDTH : NATURAL_HEIGHT;
}

static void
qm_plot_view_size_allocate (GtkWidget *widget,
                            int width,
                            int height,
                            int baseline)
{
  QmPlotView *self = QM_PLOT_VIEW (widget);

  self->layout_valid = FALSE;
  if (self->menu != NULL)
    gtk_popover_present (GTK_POPOVER (self->menu));
}

static void
qm_plot_view_dispose (GObject *object)
{
  QmPlotView *self = QM_PLOT_VIEW (object);

  g_clear_pointer (&self->menu, gtk_widget_unparent);
  drop_images (self);

  G_OBJECT_CLASS (qm_plot_view_parent_class)->dispose (object);
}

static void
qm_plot_view_finalize (GObject *object)
{
  QmPlotView *self = QM_PLOT_VIEW (object);

  g_clear_object (&self->source);
  qm_plot_painter_free (self->painter);
  g_free (self->font);
  g_free (self->spoken);

  G_OBJECT_CLASS (qm_plot_view_parent_class)->finalize (object);
}

static void
qm_plot_view_class_init (QmPlotViewClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->dispose = qm_plot_view_dispose;
  object_class->finalize = qm_plot_view_finalize;
  widget_class->css_changed = qm_plot_view_css_changed;
  widget_class->measure = qm_plot_view_measure;
  widget_class->size_allocate = qm_plot_view_size_allocate;
  widget_class->snapshot = qm_plot_view_snapshot;

  gtk_widget_class_install_action (widget_class, "menu.popup", NULL,
                                   _qm_plot_view_popup_menu);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_F10,
                                       GDK_SHIFT_MASK, "menu.popup", NULL);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_Menu, 0,
                                       "menu.popup", NULL);
  gtk_widget_class_set_css_name (widget_class, "plotview");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
qm_plot_view_init (QmPlotView *self)
{
  self->walked = -1;
  self->painter = qm_plot_painter_new ();
  self->range = qm_plot_zoom_all ();
  self->pointer_x = self->pointer_y = NAN;
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  gtk_widget_add_css_class (GTK_WIDGET (self), "card");
  _qm_plot_view_add_controllers (self);
}

GtkWidget *
qm_plot_view_new (QmPlotSource *source)
{
  QmPlotView *self;

  g_return_val_if_fail (QM_IS_PLOT_SOURCE (source), NULL);

  self = g_object_new (QM_TYPE_PLOT_VIEW, NULL);
  self->source = g_object_ref (source);
  g_signal_connect_object (source, "rebuilt", G_CALLBACK (source_rebuilt_cb),
                           self, G_CONNECT_SWAPPED);
  g_signal_connect_object (source, "changed", G_CALLBACK (source_changed_cb),
                           self, G_CONNECT_SWAPPED);
  gtk_accessible_update_property (
      GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
      qm_plot_source_can_select (source)
          ? _ ("Arrow keys walk the points, Return selects one")
          : _ ("Arrow keys walk the points"),
      -1);
  theme_cb (GTK_WIDGET (self));
  qm_theme_watch (GTK_WIDGET (self), theme_cb);
  update_label (self);
  return GTK_WIDGET (self);
}

const QmPlotData *
qm_plot_view_get_data (QmPlotView *self)
{
  g_return_val_if_fail (QM_IS_PLOT_VIEW (self), NULL);

  return _qm_plot_view_data (self);
}

int
_qm_plot_view_walk_start (const QmPlotData *data)
{
  return data->selected >= 0 ? data->selected : data->recommended;
}

/* Where to zoom without a pointer. */
static void
zoom_centre (QmPlotView *self, const QmPlotLayout *layout, double *x, double *y)
{
  const QmPlotData *data = _qm_plot_view_data (self);
  int index =
      self->walked >= 0 ? self->walked : _qm_plot_view_walk_start (data);

  if (index >= 0
      && qm_plot_position (layout, data->points[index].x, data->points[index].y,
                           x, y)
      && *x >= layout->zero_left && *x <= layout->right && *y >= layout->top
      && *y <= layout->bottom)
    return;
  *x = (layout->left + layout->right) / 2;
  *y = (layout->top + layout->bottom) / 2;
}

void
qm_plot_view_zoom (QmPlotView *self, double factor, double x, double y)
{
  QmPlotLayout now, all;
  QmPlotZoom range;

  g_return_if_fail (QM_IS_PLOT_VIEW (self) && factor > 0);

  if (!_qm_plot_view_layouts (self, &now, &all))
    return;
  if (isnan (x) || isnan (y))
    zoom_centre (self, &now, &x, &y);
  range = qm_plot_zoom_by (&now, &all, factor, x, y);
  _qm_plot_view_set_range (self, &range);
}

void
qm_plot_view_zoom_reset (QmPlotView *self)
{
  QmPlotZoom all = qm_plot_zoom_all ();

  g_return_if_fail (QM_IS_PLOT_VIEW (self));

  if (qm_plot_view_is_zoomed (self))
    _qm_plot_view_set_range (self, &all);
}

gboolean
qm_plot_view_is_zoomed (QmPlotView *self)
{
  g_return_val_if_fail (QM_IS_PLOT_VIEW (self), FALSE);

  return !qm_plot_zoom_is_all (&self->range);
}

void
qm_plot_view_get_range (QmPlotView *self, double range[4])
{
  g_return_if_fail (QM_IS_PLOT_VIEW (self) && range != NULL);

  range[0] = self->range.x_min;
  range[1] = self->range.x_max;
  range[2] = self->range.y_min;
  range[3] = self->range.y_max;
}
