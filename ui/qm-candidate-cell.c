/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/qm-candidate-cell.h"

#include "ui/plot/qm-plot.h"
#include "ui/qm-marker.h"

#include <glib/gi18n-lib.h>

#define SPACING 6

struct _QmCandidateCell
{
  GtkWidget parent_instance;

  QmCandidateColumn column;
  const QmCandidate *candidate;
  gboolean dimmed;
  gboolean recommended;

  GtkWidget *marker; /* of the GPU column only */
  GtkWidget *icon;   /* made when it is first needed */
  GtkWidget *text;
};

G_DEFINE_FINAL_TYPE (QmCandidateCell, qm_candidate_cell, GTK_TYPE_WIDGET)

/* Characters that a column should have room for. */
static const struct
{
  guint least, natural;
} widths[QM_N_COLUMNS] = {
  [QM_COLUMN_MODEL] = { 10, 16 },     [QM_COLUMN_GPU] = { 14, 20 },
  [QM_COLUMN_GPUS] = { 4, 5 },        [QM_COLUMN_MACHINE] = { 12, 22 },
  [QM_COLUMN_MACHINES] = { 5, 7 },    [QM_COLUMN_COST] = { 7, 9 },
  [QM_COLUMN_DAYS] = { 4, 6 },        [QM_COLUMN_EXPERIMENT] = { 7, 9 },
  [QM_COLUMN_UTILIZATION] = { 5, 6 }, [QM_COLUMN_VERDICT] = { 9, 12 },
  [QM_COLUMN_SOURCE] = { 8, 22 },
};

/* The icon says in shape what dimming and stars say by looks. */
static const char *
icon_name (QmCandidateCell *self)
{
  if (self->candidate == NULL)
    return NULL;
  if (self->column == QM_COLUMN_GPU && self->recommended)
    return "starred-symbolic";
  if (self->column == QM_COLUMN_VERDICT
      && (self->candidate->verdict == QM_VERDICT_IMPOSSIBLE
          || self->candidate->verdict == QM_VERDICT_DOUBTFUL))
    return "dialog-warning-symbolic";
  return NULL;
}

static void
update_icon (QmCandidateCell *self)
{
  const char *name = icon_name (self);

  if (name == NULL)
    {
      g_clear_pointer (&self->icon, gtk_widget_unparent);
      return;
    }
  if (self->icon == NULL)
    {
      self->icon = gtk_image_new ();
      if (self->column == QM_COLUMN_GPU)
        gtk_widget_insert_before (self->icon, GTK_WIDGET (self), NULL);
      else
        gtk_widget_insert_after (self->icon, GTK_WIDGET (self), NULL);
    }
  gtk_image_set_from_icon_name (GTK_IMAGE (self->icon), name);
  if (self->column == QM_COLUMN_GPU)
    {
      gtk_widget_add_css_class (self->icon, "accent");
      gtk_accessible_update_property (GTK_ACCESSIBLE (self->icon),
                                      GTK_ACCESSIBLE_PROPERTY_LABEL,
                                      _ ("Recommended"), -1);
    }
  else
    gtk_widget_add_css_class (self->icon, "warning");
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
qm_candidate_cell_dispose (GObject *object)
{
  QmCandidateCell *self = QM_CANDIDATE_CELL (object);

  self->candidate = NULL;
  g_clear_pointer (&self->marker, gtk_widget_unparent);
  g_clear_pointer (&self->icon, gtk_widget_unparent);
  g_clear_pointer (&self->text, gtk_widget_unparent);

  G_OBJECT_CLASS (qm_candidate_cell_parent_class)->dispose (object);
}

static void
qm_candidate_cell_class_init (QmCandidateCellClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->dispose = qm_candidate_cell_dispose;
  widget_class->query_tooltip = qm_candidate_cell_query_tooltip;

  gtk_widget_class_set_css_name (widget_class, "candidatecell");
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BOX_LAYOUT);
}

static void
qm_candidate_cell_init (QmCandidateCell *self)
{
  GtkLayoutManager *layout = gtk_widget_get_layout_manager (GTK_WIDGET (self));

  gtk_box_layout_set_spacing (GTK_BOX_LAYOUT (layout), SPACING);
  gtk_widget_set_has_tooltip (GTK_WIDGET (self), TRUE);
}

GtkWidget *
qm_candidate_cell_new (QmCandidateColumn column)
{
  QmCandidateCell *self;
  GtkInscription *text;

  g_return_val_if_fail (column < QM_N_COLUMNS, NULL);

  self = g_object_new (QM_TYPE_CANDIDATE_CELL, NULL);
  self->column = column;
  self->text = gtk_inscription_new (NULL);
  text = GTK_INSCRIPTION (self->text);
  gtk_inscription_set_min_chars (text, widths[column].least);
  gtk_inscription_set_nat_chars (text, widths[column].natural);
  gtk_inscription_set_text_overflow (text,
                                     GTK_INSCRIPTION_OVERFLOW_ELLIPSIZE_END);
  gtk_inscription_set_xalign (text,
                              qm_candidate_column_is_number (column) ? 1 : 0);
  gtk_widget_set_hexpand (self->text, TRUE);
  gtk_widget_set_parent (self->text, GTK_WIDGET (self));
  if (qm_candidate_column_is_number (column))
    gtk_widget_add_css_class (self->text, "numeric");
  if (column == QM_COLUMN_GPU)
    {
      self->marker = qm_marker_new (0);
      gtk_widget_set_valign (self->marker, GTK_ALIGN_CENTER);
      gtk_widget_insert_after (self->marker, GTK_WIDGET (self), NULL);
    }
  return GTK_WIDGET (self);
}

void
qm_candidate_cell_set_candidate (QmCandidateCell *self,
                                 const QmCandidate *candidate,
                                 const char *title,
                                 guint style)
{
  g_autofree char *text = NULL;

  g_return_if_fail (QM_IS_CANDIDATE_CELL (self));

  self->candidate = candidate;
  if (candidate != NULL)
    text = qm_candidate_column_text (self->column, title, candidate);
  gtk_inscription_set_text (GTK_INSCRIPTION (self->text), text);
  if (self->marker != NULL && candidate != NULL)
    qm_marker_set_look (QM_MARKER (self->marker), style,
                        candidate->verdict == QM_VERDICT_IMPOSSIBLE
                            ? QM_PLOT_POINT_CROSSED
                            : QM_PLOT_POINT_NORMAL);
  update_icon (self);
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
      if (self->dimmed)
        gtk_widget_add_css_class (GTK_WIDGET (self), "dim-label");
      else
        gtk_widget_remove_css_class (GTK_WIDGET (self), "dim-label");
    }
  if (self->recommended != !!recommended)
    {
      self->recommended = !!recommended;
      update_icon (self);
    }
}

const char *
qm_candidate_cell_get_text (QmCandidateCell *self)
{
  g_return_val_if_fail (QM_IS_CANDIDATE_CELL (self), NULL);

  return gtk_inscription_get_text (GTK_INSCRIPTION (self->text));
}
