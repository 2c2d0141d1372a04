/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-filter-group.h"

#include "pricing/qm-format.h"
#include "ui/plot/qm-plot.h"
#include "ui/qm-marker.h"

#include <glib/gi18n-lib.h>

struct _QmFilterGroup
{
  AdwPreferencesGroup parent_instance;

  GtkWidget *reset_button;
  GtkWidget *gpus_box;
  GtkWidget *counts_box;
  GtkWidget *desktops_check;
  GtkWidget *servers_check;

  QmAdvisor *advisor;
  GPtrArray *gpu_checks;   /* of GtkCheckButton, as qm_advisor_get_gpus() */
  GPtrArray *count_checks; /* of GtkCheckButton, as qm_advisor_get_counts() */
  gboolean updating;       /* the checks are being set from the advisor */
};

G_DEFINE_FINAL_TYPE (QmFilterGroup, qm_filter_group, ADW_TYPE_PREFERENCES_GROUP)

static void
sync_checks (QmFilterGroup *self)
{
  const char *const *gpus = qm_advisor_get_gpus (self->advisor);
  guint n_counts;
  const int *counts = qm_advisor_get_counts (self->advisor, &n_counts);
  gboolean desktops, servers;
  gboolean all;

  g_object_get (self->advisor, "desktops", &desktops, "servers", &servers,
                NULL);
  all = desktops && servers;

  self->updating = TRUE;
  for (guint i = 0; i < self->gpu_checks->len; i++)
    {
      gboolean on = qm_advisor_get_gpu_enabled (self->advisor, gpus[i]);

      gtk_check_button_set_active (self->gpu_checks->pdata[i], on);
      gtk_widget_set_visible (self->gpu_checks->pdata[i],
                              qm_advisor_has_gpu (self->advisor, gpus[i]));
      all = all && on;
    }
  for (guint i = 0; i < self->count_checks->len; i++)
    {
      gboolean on = qm_advisor_get_count_enabled (self->advisor, counts[i]);

      gtk_check_button_set_active (self->count_checks->pdata[i], on);
      all = all && on;
    }
  self->updating = FALSE;

  gtk_widget_set_visible (self->reset_button, !all);
}

static void
gpu_toggled_cb (QmFilterGroup *self, GtkCheckButton *check)
{
  guint index;

  if (self->updating || !g_ptr_array_find (self->gpu_checks, check, &index))
    return;

  qm_advisor_set_gpu_enabled (self->advisor,
                              qm_advisor_get_gpus (self->advisor)[index],
                              gtk_check_button_get_active (check));
  sync_checks (self);
}

static void
count_toggled_cb (QmFilterGroup *self, GtkCheckButton *check)
{
  guint index, n;

  if (self->updating || !g_ptr_array_find (self->count_checks, check, &index))
    return;

  qm_advisor_set_count_enabled (
      self->advisor, qm_advisor_get_counts (self->advisor, &n)[index],
      gtk_check_button_get_active (check));
  sync_checks (self);
}

static void
filters_reset_cb (QmFilterGroup *self)
{
  const char *const *gpus = qm_advisor_get_gpus (self->advisor);
  guint n_counts;
  const int *counts = qm_advisor_get_counts (self->advisor, &n_counts);

  /* The button is about to go, and the focus must not go with it. */
  if (gtk_widget_has_focus (self->reset_button))
    gtk_widget_child_focus (self->gpus_box, GTK_DIR_TAB_FORWARD);

  for (guint i = 0; gpus[i] != NULL; i++)
    qm_advisor_set_gpu_enabled (self->advisor, gpus[i], TRUE);
  for (guint i = 0; i < n_counts; i++)
    qm_advisor_set_count_enabled (self->advisor, counts[i], TRUE);
  g_object_set (self->advisor, "desktops", TRUE, "servers", TRUE, NULL);
  sync_checks (self);
}

static void
add_gpu (QmFilterGroup *self, const char *id, guint style)
{
  const QmCatalog *catalog = qm_advisor_get_catalog (self->advisor);
  const QmGpu *gpu = qm_catalog_gpu (catalog, id);
  const char *name = gpu != NULL ? gpu->name : id;
  GtkWidget *check = gtk_check_button_new ();
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  GtkWidget *label = gtk_label_new (name);

  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_box_append (GTK_BOX (box), qm_marker_new (style));
  gtk_box_append (GTK_BOX (box), label);
  gtk_check_button_set_child (GTK_CHECK_BUTTON (check), box);
  gtk_accessible_update_property (GTK_ACCESSIBLE (check),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);

  g_signal_connect_object (check, "toggled", G_CALLBACK (gpu_toggled_cb), self,
                           G_CONNECT_SWAPPED);
  g_ptr_array_add (self->gpu_checks, check);
  gtk_box_append (GTK_BOX (self->gpus_box), check);
}

static void
add_count (QmFilterGroup *self, int count)
{
  g_autofree char *number = qm_format_number (count, 0);
  g_autofree char *name =
      g_strdup_printf (ngettext ("%d GPU", "%d GPUs", count), count);
  GtkWidget *check = gtk_check_button_new_with_label (number);

  gtk_accessible_update_property (GTK_ACCESSIBLE (check),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);

  g_signal_connect_object (check, "toggled", G_CALLBACK (count_toggled_cb),
                           self, G_CONNECT_SWAPPED);
  g_ptr_array_add (self->count_checks, check);
  gtk_box_append (GTK_BOX (self->counts_box), check);
}

void
qm_filter_group_set_advisor (QmFilterGroup *self, QmAdvisor *advisor)
{
  const char *const *gpus;
  const int *counts;
  guint n_counts;

  g_return_if_fail (QM_IS_FILTER_GROUP (self));
  g_return_if_fail (QM_IS_ADVISOR (advisor));
  g_return_if_fail (self->advisor == NULL);

  self->advisor = g_object_ref (advisor);

  gpus = qm_advisor_get_gpus (advisor);
  for (guint i = 0; gpus[i] != NULL; i++)
    add_gpu (self, gpus[i], i);

  counts = qm_advisor_get_counts (advisor, &n_counts);
  for (guint i = 0; i < n_counts; i++)
    add_count (self, counts[i]);

  g_object_bind_property (advisor, "desktops", self->desktops_check, "active",
                          G_BINDING_SYNC_CREATE | G_BINDING_BIDIRECTIONAL);
  g_object_bind_property (advisor, "servers", self->servers_check, "active",
                          G_BINDING_SYNC_CREATE | G_BINDING_BIDIRECTIONAL);
  g_signal_connect_object (advisor, "rebuilt", G_CALLBACK (sync_checks), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (advisor, "notify::desktops",
                           G_CALLBACK (sync_checks), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (advisor, "notify::servers", G_CALLBACK (sync_checks),
                           self, G_CONNECT_SWAPPED);
  sync_checks (self);
}

static void
qm_filter_group_dispose (GObject *object)
{
  QmFilterGroup *self = QM_FILTER_GROUP (object);

  g_ptr_array_set_size (self->gpu_checks, 0);
  g_ptr_array_set_size (self->count_checks, 0);
  g_clear_object (&self->advisor);

  G_OBJECT_CLASS (qm_filter_group_parent_class)->dispose (object);
}

static void
qm_filter_group_finalize (GObject *object)
{
  QmFilterGroup *self = QM_FILTER_GROUP (object);

  g_clear_pointer (&self->gpu_checks, g_ptr_array_unref);
  g_clear_pointer (&self->count_checks, g_ptr_array_unref);

  G_OBJECT_CLASS (qm_filter_group_parent_class)->finalize (object);
}

static void
qm_filter_group_class_init (QmFilterGroupClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->dispose = qm_filter_group_dispose;
  object_class->finalize = qm_filter_group_finalize;

  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-filter-group.ui");
  gtk_widget_class_bind_template_child (widget_class, QmFilterGroup,
                                        reset_button);
  gtk_widget_class_bind_template_child (widget_class, QmFilterGroup, gpus_box);
  gtk_widget_class_bind_template_child (widget_class, QmFilterGroup,
                                        counts_box);
  gtk_widget_class_bind_template_child (widget_class, QmFilterGroup,
                                        desktops_check);
  gtk_widget_class_bind_template_child (widget_class, QmFilterGroup,
                                        servers_check);
  gtk_widget_class_bind_template_callback (widget_class, filters_reset_cb);
}

static void
qm_filter_group_init (QmFilterGroup *self)
{
  self->gpu_checks = g_ptr_array_new ();
  self->count_checks = g_ptr_array_new ();
  gtk_widget_init_template (GTK_WIDGET (self));
}
