/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-models.h"

#include <glib/gi18n-lib.h>

#define GROUP "qm-model-group"

GPtrArray *
qm_models_sorted (const QmCatalog *catalog)
{
  size_t n;
  g_autofree const QmModel **models = qm_catalog_models_sorted (catalog, &n);
  GPtrArray *sorted = g_ptr_array_new ();

  for (size_t i = 0; models != NULL && i < n; i++)
    g_ptr_array_add (sorted, (gpointer) models[i]);

  return sorted;
}

/* What a group is called, translated. */
static const char *
group_title (QmModelGroup group)
{
  switch (group)
    {
    case QM_MODEL_GROUP_TODAY:
      return _ ("Trained Today");
    case QM_MODEL_GROUP_PUBLICATION:
      return _ ("Of the Publication");
    case QM_MODEL_GROUP_OWN:
    default:
      return _ ("Your Own");
    }
}

void
qm_models_mark_row (GtkListBoxRow *row, const QmModel *model)
{
  g_return_if_fail (GTK_IS_LIST_BOX_ROW (row));
  g_return_if_fail (model != NULL);

  g_object_set_data (G_OBJECT (row), GROUP, GINT_TO_POINTER (model->group));
}

static QmModelGroup
group_of (GtkListBoxRow *row)
{
  return (QmModelGroup) GPOINTER_TO_INT (
      g_object_get_data (G_OBJECT (row), GROUP));
}

static void
update_header (GtkListBoxRow *row, GtkListBoxRow *before, gpointer user_data)
{
  const char *title = group_title (group_of (row));
  GtkWidget *header = gtk_list_box_row_get_header (row);

  if (before != NULL && group_of (before) == group_of (row))
    {
      gtk_list_box_row_set_header (row, NULL);
      return;
    }
  if (header != NULL)
    return;

  header = gtk_label_new (title);
  gtk_label_set_xalign (GTK_LABEL (header), 0);
  gtk_label_set_ellipsize (GTK_LABEL (header), PANGO_ELLIPSIZE_END);
  gtk_widget_add_css_class (header, "caption-heading");
  gtk_widget_add_css_class (header, "dim-label");
  gtk_widget_set_margin_start (header, 12);
  gtk_widget_set_margin_end (header, 12);
  gtk_widget_set_margin_top (header, before != NULL ? 12 : 6);
  gtk_widget_set_margin_bottom (header, 6);
  gtk_list_box_row_set_header (row, header);
}

void
qm_models_show_headers (GtkListBox *list)
{
  g_return_if_fail (GTK_IS_LIST_BOX (list));

  gtk_list_box_set_header_func (list, update_header, NULL, NULL);
}

GStrv
qm_models_ticked (GPtrArray *checks)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  for (guint i = 0; i < checks->len; i++)
    {
      GtkCheckButton *check = g_ptr_array_index (checks, i);

      if (gtk_check_button_get_active (check))
        g_strv_builder_add (builder,
                            g_object_get_data (G_OBJECT (check), "model"));
    }
  return g_strv_builder_end (builder);
}

void
qm_models_add_row (AdwPreferencesGroup *group,
                   AdwActionRow *row,
                   const QmModel *model)
{
  GtkWidget *list;

  g_return_if_fail (ADW_IS_PREFERENCES_GROUP (group));
  g_return_if_fail (ADW_IS_ACTION_ROW (row));

  qm_models_mark_row (GTK_LIST_BOX_ROW (row), model);
  adw_preferences_group_add (group, GTK_WIDGET (row));
  list = gtk_widget_get_ancestor (GTK_WIDGET (row), GTK_TYPE_LIST_BOX);
  if (list != NULL)
    qm_models_show_headers (GTK_LIST_BOX (list));
}
