/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-use-row.h"

#include "pricing/advice/qm-prose.h"
#include "ui/qm-input.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

struct _QmUseRow
{
  AdwPreferencesRow parent_instance;

  GtkDropDown *gpu_drop_down;
  GtkWidget *remove_button;
  GtkWidget *gpus_spin;
  GtkAdjustment *gpus_adjustment;
  GtkWidget *hour_spin;
  GtkAdjustment *hour_adjustment;
  GtkWidget *walltime_spin;
  GtkAdjustment *walltime_adjustment;
  GtkWidget *note_label;

  const QmGpu *gpus; /* as the drop-down lists them */
  gsize n_gpus;
  gboolean updating;
};

enum
{
  CHANGED,
  REMOVED,
  N_SIGNALS
};

G_DEFINE_FINAL_TYPE (QmUseRow, qm_use_row, ADW_TYPE_PREFERENCES_ROW)

static guint signals[N_SIGNALS];

static const QmGpu *
chosen_gpu (QmUseRow *self)
{
  guint selected = gtk_drop_down_get_selected (self->gpu_drop_down);

  return &self->gpus[selected < self->n_gpus ? selected : 0];
}

/* The row is called as what it is, and so is what takes it away: there may be
 * several. */
static void
sync_names (QmUseRow *self)
{
  QmCandidate candidate = { .gpu = chosen_gpu (self) };
  g_autofree char *name = NULL;
  g_autofree char *remove = NULL;
  QmUse use;

  qm_use_row_get (self, &use);
  candidate.gpus = use.gpus;
  candidate.use = &use;
  name = qm_prose_candidate (&candidate);
  /* Translators: the name of a button; the parameter is what it removes, such
   * as "4 × RTX A6000 to use". */
  remove = g_strdup_printf (_ ("Remove: %s"), name);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  qm_input_name_button (self->remove_button, remove);
  qm_input_name_drop_down (self->gpu_drop_down, _ ("GPU"), candidate.gpu->name);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->gpu_drop_down),
                               candidate.gpu->name);
}

GtkWidget *
qm_use_row_new (const QmCatalog *catalog)
{
  QmUseRow *self = g_object_new (QM_TYPE_USE_ROW, NULL);
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);
  size_t n;

  g_return_val_if_fail (catalog != NULL, NULL);

  self->gpus = qm_catalog_gpus (catalog, &n);
  self->n_gpus = n;
  for (gsize i = 0; i < n; i++)
    gtk_string_list_append (names, self->gpus[i].name);
  self->updating = TRUE;
  gtk_drop_down_set_model (self->gpu_drop_down, G_LIST_MODEL (names));
  self->updating = FALSE;
  sync_names (self);
  return GTK_WIDGET (self);
}

void
qm_use_row_get (QmUseRow *self, QmUse *use)
{
  double walltime;

  g_return_if_fail (QM_IS_USE_ROW (self) && use != NULL);

  walltime = gtk_adjustment_get_value (self->walltime_adjustment);
  use->gpu = (char *) chosen_gpu (self)->id;
  use->gpus = (int) lround (gtk_adjustment_get_value (self->gpus_adjustment));
  use->hour_micros = llround (gtk_adjustment_get_value (self->hour_adjustment)
                              * QM_MICROS_PER_UNIT);
  use->walltime_hours = walltime >= QM_USE_WALLTIME_MIN ? walltime : NAN;
}

void
qm_use_row_set (QmUseRow *self, const QmUse *use)
{
  g_return_if_fail (QM_IS_USE_ROW (self));
  g_return_if_fail (use != NULL && use->gpu != NULL);

  self->updating = TRUE;
  for (gsize i = 0; i < self->n_gpus; i++)
    if (strcmp (self->gpus[i].id, use->gpu) == 0)
      gtk_drop_down_set_selected (self->gpu_drop_down, (guint) i);
  gtk_adjustment_set_value (self->gpus_adjustment, use->gpus);
  gtk_adjustment_set_value (self->hour_adjustment,
                            (double) use->hour_micros / QM_MICROS_PER_UNIT);
  gtk_adjustment_set_value (self->walltime_adjustment,
                            qm_known (use->walltime_hours) ? use->walltime_hours
                                                           : 0);
  self->updating = FALSE;
  sync_names (self);
}

void
qm_use_row_set_has_time (QmUseRow *self, gboolean has_time)
{
  g_return_if_fail (QM_IS_USE_ROW (self));

  gtk_widget_set_visible (self->note_label, !has_time);
}

static void
use_row_changed_cb (QmUseRow *self)
{
  if (self->updating)
    return;
  sync_names (self);
  g_signal_emit (self, signals[CHANGED], 0);
}

static void
remove_use_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  g_signal_emit (widget, signals[REMOVED], 0);
}

/* "2", or with `least` decimals or more, "0.0625": what is shown is read back,
 * so that no digit may be missing.  (transfer full) */
static char *
number_text (GtkSpinButton *spin, int least)
{
  double value = gtk_spin_button_get_value (spin);
  int decimals = value == floor (value) ? 0 : least;
  double scale = pow (10, decimals);

  while (decimals < (int) gtk_spin_button_get_digits (spin)
         && fabs (round (value * scale) - value * scale) > 1e-5)
    scale = pow (10, ++decimals);
  return g_strdup_printf ("%.*f", decimals, value);
}

static void
show_number (GtkSpinButton *spin, const char *text)
{
  if (strcmp (text, gtk_editable_get_text (GTK_EDITABLE (spin))) != 0)
    gtk_editable_set_text (GTK_EDITABLE (spin), text);
}

static gboolean
show_hour_cb (GtkSpinButton *spin)
{
  g_autofree char *text = number_text (spin, 2);

  show_number (spin, text);
  return TRUE;
}

/* Nothing where there is no limit, which is 0 for the spin button. */
static gboolean
show_walltime_cb (GtkSpinButton *spin)
{
  gboolean any = gtk_spin_button_get_value (spin) < QM_USE_WALLTIME_MIN;
  g_autofree char *text = any ? g_strdup ("") : number_text (spin, 1);

  show_number (spin, text);
  gtk_accessible_update_property (GTK_ACCESSIBLE (spin),
                                  GTK_ACCESSIBLE_PROPERTY_VALUE_TEXT,
                                  any ? C_ ("hours", "any") : text, -1);
  return TRUE;
}

static void
setup_name_cb (GtkListItemFactory *factory,
               GtkListItem *list_item,
               gpointer data)
{
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_list_item_set_child (list_item, label);
}

static void
bind_name_cb (GtkListItemFactory *factory,
              GtkListItem *list_item,
              gpointer data)
{
  GtkStringObject *name = gtk_list_item_get_item (list_item);

  gtk_label_set_text (GTK_LABEL (gtk_list_item_get_child (list_item)),
                      gtk_string_object_get_string (name));
}

/* Some GPUs have names that are longer than the panel is wide: the button
 * shortens them, the list does not. */
static void
shorten_names (QmUseRow *self)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();

  g_signal_connect (factory, "setup", G_CALLBACK (setup_name_cb), NULL);
  g_signal_connect (factory, "bind", G_CALLBACK (bind_name_cb), NULL);
  gtk_drop_down_set_list_factory (
      self->gpu_drop_down, gtk_drop_down_get_factory (self->gpu_drop_down));
  gtk_drop_down_set_factory (self->gpu_drop_down, factory);
  g_object_unref (factory);
}

static void
bind_use_row (GtkWidgetClass *widget_class)
{
  gtk_widget_class_bind_template_child (widget_class, QmUseRow, gpu_drop_down);
  gtk_widget_class_bind_template_child (widget_class, QmUseRow, remove_button);
  gtk_widget_class_bind_template_child (widget_class, QmUseRow, gpus_spin);
  gtk_widget_class_bind_template_child (widget_class, QmUseRow,
                                        gpus_adjustment);
  gtk_widget_class_bind_template_child (widget_class, QmUseRow, hour_spin);
  gtk_widget_class_bind_template_child (widget_class, QmUseRow,
                                        hour_adjustment);
  gtk_widget_class_bind_template_child (widget_class, QmUseRow, walltime_spin);
  gtk_widget_class_bind_template_child (widget_class, QmUseRow,
                                        walltime_adjustment);
  gtk_widget_class_bind_template_child (widget_class, QmUseRow, note_label);
}

static void
qm_use_row_class_init (QmUseRowClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  signals[CHANGED] =
      g_signal_new ("changed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0,
                    NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[REMOVED] =
      g_signal_new ("removed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0,
                    NULL, NULL, NULL, G_TYPE_NONE, 0);

  gtk_widget_class_install_action (widget_class, "use.remove", NULL,
                                   remove_use_cb);
  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-use-row.ui");
  bind_use_row (widget_class);
  gtk_widget_class_bind_template_callback (widget_class, use_row_changed_cb);
  gtk_widget_class_bind_template_callback (widget_class, show_hour_cb);
  gtk_widget_class_bind_template_callback (widget_class, show_walltime_cb);
}

static void
qm_use_row_init (QmUseRow *self)
{
  GtkEditable *text;

  self->updating = TRUE;
  gtk_widget_init_template (GTK_WIDGET (self));
  shorten_names (self);
  gtk_adjustment_set_upper (self->gpus_adjustment, QM_USE_GPUS_MAX);
  gtk_adjustment_set_upper (self->hour_adjustment, QM_USE_HOUR_MAX);
  gtk_adjustment_set_upper (self->walltime_adjustment, QM_USE_WALLTIME_MAX);
  qm_input_ignore_wheel (self->gpus_spin);
  qm_input_ignore_wheel (self->hour_spin);
  qm_input_ignore_wheel (self->walltime_spin);
  gtk_spin_button_update (GTK_SPIN_BUTTON (self->hour_spin));
  gtk_spin_button_update (GTK_SPIN_BUTTON (self->walltime_spin));
  text = gtk_editable_get_delegate (GTK_EDITABLE (self->walltime_spin));
  /* Translators: as many hours as it takes. */
  gtk_text_set_placeholder_text (GTK_TEXT (text), C_ ("hours", "any"));
  self->updating = FALSE;
}
