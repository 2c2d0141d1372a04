/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-candidate-cell.h"

#include "ui/plot/qm-advice-plot.h"
#include "ui/qm-theme.h"

#include <glib/gi18n-lib.h>

#define SYMBOL_SIZE 16
#define SPACING     6

/* Opacity of what is beyond the limits. */
#define DIM_ALPHA 0.5

/* There are hundreds of cells, and many of them change with every move of a
 * slider.  So a cell is one widget that draws all by itself, in room that is
 * always there: dimming, stars and warnings take neither style sheets nor a new
 * layout. */
struct _QmCandidateCell
{
  GtkWidget parent_instance;

  QmCandidateColumn column;
  const QmCandidate *candidate;
  guint style; /* look of the marker */
  gboolean dimmed;
  gboolean recommended;

  char *text;
  PangoLayout *layout; /* of the text, made when it is drawn */
};

G_DEFINE_FINAL_TYPE (QmCandidateCell, qm_candidate_cell, GTK_TYPE_WIDGET)

/* Characters that a column should have room for. */
static const struct
{
  guint least, natural;
} widths[QM_N_COLUMNS] = {
  [QM_COLUMN_MODEL] = { 10, 16 },     [QM_COLUMN_GPU] = { 17, 20 },
  [QM_COLUMN_GPUS] = { 4, 5 },        [QM_COLUMN_MACHINE] = { 16, 34 },
  [QM_COLUMN_MACHINES] = { 5, 7 },    [QM_COLUMN_COST] = { 7, 9 },
  [QM_COLUMN_DAYS] = { 4, 6 },        [QM_COLUMN_EXPERIMENT] = { 7, 9 },
  [QM_COLUMN_UTILIZATION] = { 5, 6 }, [QM_COLUMN_VERDICT] = { 9, 12 },
  [QM_COLUMN_TIMES_OF] = { 9, 14 },   [QM_COLUMN_SOURCE] = { 8, 22 },
};

/* Room for symbols before and after the text. */
static int
room_before (QmCandidateCell *self)
{
  return self->column == QM_COLUMN_GPU || self->column == QM_COLUMN_VERDICT
             ? SYMBOL_SIZE + SPACING
             : 0;
}

static int
room_after (QmCandidateCell *self)
{
  return self->column == QM_COLUMN_GPU ? SPACING + SYMBOL_SIZE : 0;
}

static void
qm_candidate_cell_measure (GtkWidget *widget,
                           GtkOrientation orientation,
                           int for_size,
                           int *minimum,
                           int *natural,
                           int *minimum_baseline,
                           int *natural_baseline)
{
  QmCandidateCell *self = QM_CANDIDATE_CELL (widget);
  PangoFontMetrics *metrics =
      pango_context_get_metrics (gtk_widget_get_pango_context (widget), NULL,
                                 NULL);
  int room = room_before (self) + room_after (self);
  int char_width =
      MAX (pango_font_metrics_get_approximate_char_width (metrics),
           pango_font_metrics_get_approximate_digit_width (metrics));

  if (orientation == GTK_ORIENTATION_HORIZONTAL)
    {
      *minimum =
          room
          + PANGO_PIXELS_CEIL (char_width * (int) widths[self->column].least);
      *natural =
          room
          + PANGO_PIXELS_CEIL (char_width * (int) widths[self->column].natural);
    }
  else
    *minimum = *natural =
        MAX (PANGO_PIXELS_CEIL (pango_font_metrics_get_height (metrics)),
             SYMBOL_SIZE);
  pango_font_metrics_unref (metrics);
}

static gboolean
is_mirrored (QmCandidateCell *self)
{
  return gtk_widget_get_direction (GTK_WIDGET (self)) == GTK_TEXT_DIR_RTL;
}

static void
snapshot_text (QmCandidateCell *self, GtkSnapshot *snapshot)
{
  GtkWidget *widget = GTK_WIDGET (self);
  gboolean mirrored = is_mirrored (self);
  int width =
      gtk_widget_get_width (widget) - room_before (self) - room_after (self);
  int height;
  GdkRGBA color;

  if (self->layout == NULL)
    {
      self->layout = gtk_widget_create_pango_layout (widget, self->text);
      pango_layout_set_ellipsize (self->layout, PANGO_ELLIPSIZE_END);
      pango_layout_set_height (self->layout, -1);
      if (qm_candidate_column_is_number (self->column))
        pango_layout_set_alignment (self->layout, PANGO_ALIGN_RIGHT);
    }
  pango_layout_set_width (self->layout, MAX (width, 0) * PANGO_SCALE);
  pango_layout_get_pixel_size (self->layout, NULL, &height);
  gtk_style_context_get_color (gtk_widget_get_style_context (widget), &color);
  if (self->dimmed)
    color.alpha *= (float) DIM_ALPHA;
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (
      snapshot, &GRAPHENE_POINT_INIT (
                    (float) (mirrored ? room_after (self) : room_before (self)),
                    (float) ((gtk_widget_get_height (widget) - height) / 2)));
  gtk_snapshot_append_layout (snapshot, self->layout, &color);
  gtk_snapshot_restore (snapshot);
}

static void
snapshot_marker (QmCandidateCell *self, GtkSnapshot *snapshot)
{
  const QmPlotTheme *theme = qm_theme_current ();
  double scale = 0.3 * SYMBOL_SIZE / qm_plot_marker_radius (theme, 1);
  QmPlotPointFlags flags = QM_PLOT_POINT_NORMAL;
  cairo_t *cr = gtk_snapshot_append_cairo (
      snapshot, &GRAPHENE_RECT_INIT (0, 0, SYMBOL_SIZE, SYMBOL_SIZE));

  if (self->candidate->verdict == QM_VERDICT_IMPOSSIBLE)
    flags |= QM_PLOT_POINT_CROSSED;
  if (self->dimmed)
    flags |= QM_PLOT_POINT_DIMMED;
  cairo_translate (cr, SYMBOL_SIZE / 2.0, SYMBOL_SIZE / 2.0);
  cairo_scale (cr, scale, scale);
  qm_plot_draw_marker (cr, theme, self->style, 1,
                       qm_advice_plot_provenance (self->candidate), flags);
  cairo_destroy (cr);
}

static void
snapshot_icon (QmCandidateCell *self,
               GtkSnapshot *snapshot,
               const char *name,
               const char *color_name)
{
  GtkWidget *widget = GTK_WIDGET (self);
  GtkStyleContext *style = gtk_widget_get_style_context (widget);
  g_autoptr (GtkIconPaintable) icon = gtk_icon_theme_lookup_icon (
      gtk_icon_theme_get_for_display (gtk_widget_get_display (widget)), name,
      NULL, SYMBOL_SIZE, gtk_widget_get_scale_factor (widget),
      gtk_widget_get_direction (widget), GTK_ICON_LOOKUP_FORCE_SYMBOLIC);
  GdkRGBA color;

  if (!gtk_style_context_lookup_color (style, color_name, &color))
    gtk_style_context_get_color (style, &color);
  if (self->dimmed)
    color.alpha *= (float) DIM_ALPHA;
  gtk_symbolic_paintable_snapshot_symbolic (
      GTK_SYMBOLIC_PAINTABLE (icon), snapshot, SYMBOL_SIZE, SYMBOL_SIZE,
      (GdkRGBA[4]){ color, color, color, color }, 4);
}

static void
begin_symbol (QmCandidateCell *self, GtkSnapshot *snapshot, gboolean before)
{
  int width = gtk_widget_get_width (GTK_WIDGET (self));
  int height = gtk_widget_get_height (GTK_WIDGET (self));
  gboolean left = before != is_mirrored (self);

  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (
      snapshot, &GRAPHENE_POINT_INIT ((float) (left ? 0 : width - SYMBOL_SIZE),
                                      (float) ((height - SYMBOL_SIZE) / 2)));
}

/* Shapes say what dimming and colours say. */
static void
qm_candidate_cell_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  QmCandidateCell *self = QM_CANDIDATE_CELL (widget);

  if (self->candidate == NULL)
    return;
  snapshot_text (self, snapshot);
  if (self->column == QM_COLUMN_GPU)
    {
      begin_symbol (self, snapshot, TRUE);
      snapshot_marker (self, snapshot);
      gtk_snapshot_restore (snapshot);
    }
  if (self->column == QM_COLUMN_GPU && self->recommended)
    {
      begin_symbol (self, snapshot, FALSE);
      snapshot_icon (self, snapshot, "starred-symbolic", "accent_color");
      gtk_snapshot_restore (snapshot);
    }
  if (self->column == QM_COLUMN_VERDICT
      && (self->candidate->verdict == QM_VERDICT_IMPOSSIBLE
          || self->candidate->verdict == QM_VERDICT_DOUBTFUL))
    {
      begin_symbol (self, snapshot, TRUE);
      snapshot_icon (self, snapshot, "dialog-warning-symbolic",
                     "warning_color");
      gtk_snapshot_restore (snapshot);
    }
}

static gboolean
qm_candidate_cell_query_tooltip (
    GtkWidget *widget, int x, int y, gboolean keyboard, GtkTooltip *tooltip)
{
  QmCandidateCell *self = QM_CANDIDATE_CELL (widget);
  g_autofree char *text = NULL;

  if (self->candidate == NULL)
    return FALSE;
  text = qm_candidate_column_tooltip (self->column, self->candidate,
                                      qm_date_today ());
  if (text == NULL)
    text = g_strdup (qm_candidate_cell_get_text (self));
  gtk_tooltip_set_text (tooltip, text);
  return TRUE;
}

static void
qm_candidate_cell_css_changed (GtkWidget *widget, GtkCssStyleChange *change)
{
  GTK_WIDGET_CLASS (qm_candidate_cell_parent_class)
      ->css_changed (widget, change);

  g_clear_object (&QM_CANDIDATE_CELL (widget)->layout);
  gtk_widget_queue_draw (widget);
}

static void
qm_candidate_cell_direction_changed (GtkWidget *widget,
                                     GtkTextDirection previous)
{
  g_clear_object (&QM_CANDIDATE_CELL (widget)->layout);
  gtk_widget_queue_draw (widget);
}

static void
qm_candidate_cell_finalize (GObject *object)
{
  QmCandidateCell *self = QM_CANDIDATE_CELL (object);

  g_free (self->text);
  g_clear_object (&self->layout);

  G_OBJECT_CLASS (qm_candidate_cell_parent_class)->finalize (object);
}

static void
qm_candidate_cell_class_init (QmCandidateCellClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->finalize = qm_candidate_cell_finalize;
  widget_class->css_changed = qm_candidate_cell_css_changed;
  widget_class->direction_changed = qm_candidate_cell_direction_changed;
  widget_class->measure = qm_candidate_cell_measure;
  widget_class->snapshot = qm_candidate_cell_snapshot;
  widget_class->query_tooltip = qm_candidate_cell_query_tooltip;

  gtk_widget_class_set_css_name (widget_class, "candidatecell");
  gtk_widget_class_set_accessible_role (widget_class,
                                        GTK_ACCESSIBLE_ROLE_LABEL);
}

static void
qm_candidate_cell_init (QmCandidateCell *self)
{
  gtk_widget_set_has_tooltip (GTK_WIDGET (self), TRUE);
}

GtkWidget *
qm_candidate_cell_new (QmCandidateColumn column)
{
  QmCandidateCell *self;

  g_return_val_if_fail (column < QM_N_COLUMNS, NULL);

  self = g_object_new (QM_TYPE_CANDIDATE_CELL, NULL);
  self->column = column;
  if (qm_candidate_column_is_number (column))
    gtk_widget_add_css_class (GTK_WIDGET (self), "numeric");
  if (column == QM_COLUMN_GPU)
    qm_theme_watch (GTK_WIDGET (self), gtk_widget_queue_draw);
  return GTK_WIDGET (self);
}

void
qm_candidate_cell_set_candidate (QmCandidateCell *self,
                                 const QmCandidate *candidate,
                                 const char *title,
                                 const QmPurse *purse,
                                 guint style)
{
  g_return_if_fail (QM_IS_CANDIDATE_CELL (self));

  self->candidate = candidate;
  self->style = style;
  g_clear_object (&self->layout);
  g_free (self->text);
  self->text =
      candidate != NULL
          ? qm_candidate_column_text (self->column, title, candidate, purse)
          : g_strdup ("");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL, self->text,
                                  -1);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
set_recommended (QmCandidateCell *self, gboolean recommended)
{
  self->recommended = recommended;
  if (self->column != QM_COLUMN_GPU)
    return;
  if (recommended)
    gtk_accessible_update_property (GTK_ACCESSIBLE (self),
                                    GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                    _ ("Recommended"), -1);
  else
    gtk_accessible_reset_property (GTK_ACCESSIBLE (self),
                                   GTK_ACCESSIBLE_PROPERTY_DESCRIPTION);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
qm_candidate_cell_set_state (QmCandidateCell *self,
                             gboolean within,
                             gboolean recommended)
{
  g_return_if_fail (QM_IS_CANDIDATE_CELL (self));

  if (self->dimmed != !within)
    {
      self->dimmed = !within;
      gtk_widget_queue_draw (GTK_WIDGET (self));
    }
  if (self->recommended != !!recommended)
    set_recommended (self, !!recommended);
}

const char *
qm_candidate_cell_get_text (QmCandidateCell *self)
{
  g_return_val_if_fail (QM_IS_CANDIDATE_CELL (self), NULL);

  return self->text;
}
