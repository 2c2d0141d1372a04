/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-model-picker.h"

#include "ui/advisor/qm-model-row.h"
#include "ui/advisor/qm-models.h"

#include <glib/gi18n-lib.h>

struct _QmModelPicker
{
  AdwActionRow parent_instance;

  GtkWidget *reset_button;
  GtkWidget *button;
  GtkWidget *summary_label;
  GtkWidget *popover;
  GtkWidget *search_entry;
  GtkWidget *list;
  GtkWidget *all_button;
  GtkWidget *one_button;

  GPtrArray *models; /* of const QmModel, in the order of the list */
  GPtrArray *rows;   /* of QmModelRow, of the same; none until it is filled */
  guint fill_source;
  GStrv selected;
  GStrv defaults;
  gboolean updating; /* the rows are being set from the selection */
};

enum
{
  PROP_0,
  PROP_SELECTED,
  N_PROPS
};

G_DEFINE_FINAL_TYPE (QmModelPicker, qm_model_picker, ADW_TYPE_ACTION_ROW)

static GParamSpec *properties[N_PROPS];

static gboolean
contains (const char *const *ids, const char *id)
{
  return ids != NULL && g_strv_contains (ids, id);
}

static void
sync_widgets (QmModelPicker *self)
{
  guint n = g_strv_length (self->selected);
  g_autofree char *summary = NULL;
  g_autofree char *label = NULL;

  self->updating = TRUE;
  for (guint i = 0; i < self->models->len; i++)
    {
      const QmModel *model = self->models->pdata[i];
      gboolean checked =
          contains ((const char *const *) self->selected, model->id);

      if (i < self->rows->len)
        qm_model_row_set_checked (self->rows->pdata[i], checked);
      if (checked && n == 1)
        summary = g_strdup (model->name);
    }
  self->updating = FALSE;

  if (n > 1)
    summary = g_strdup_printf (ngettext ("%u model", "%u models", n), n);
  gtk_label_set_text (GTK_LABEL (self->summary_label), summary ?: "");

  /* Translators: the name of the button that opens the list of models; the
   * parameter is what is chosen. */
  label = g_strdup_printf (_ ("Model: %s"), summary ?: "");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->button),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);

  gtk_widget_set_sensitive (self->all_button, n < self->models->len);
  gtk_widget_set_sensitive (self->one_button, n > 1);
  gtk_widget_set_visible (
      self->reset_button,
      self->defaults != NULL && self->defaults[0] != NULL
          && !g_strv_equal ((const char *const *) self->selected,
                            (const char *const *) self->defaults));
}

static void
take_selected (QmModelPicker *self, GStrv selected)
{
  if (self->selected != NULL
      && g_strv_equal ((const char *const *) self->selected,
                       (const char *const *) selected))
    {
      g_strfreev (selected);
      return;
    }

  g_strfreev (self->selected);
  self->selected = selected;
  sync_widgets (self);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_SELECTED]);
}

/* The known ids among `ids`, in the order of the list.  (transfer full) */
static GStrv
known_ids (QmModelPicker *self, const char *const *ids)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  for (guint i = 0; i < self->models->len; i++)
    {
      const QmModel *model = self->models->pdata[i];

      if (contains (ids, model->id))
        g_strv_builder_add (builder, model->id);
    }

  return g_strv_builder_end (builder);
}

void
qm_model_picker_set_selected (QmModelPicker *self, const char *const *ids)
{
  g_auto (GStrv) known = NULL;

  g_return_if_fail (QM_IS_MODEL_PICKER (self));

  known = known_ids (self, ids);
  if (known[0] != NULL)
    take_selected (self, g_steal_pointer (&known));
}

static void
select_only (QmModelPicker *self, const char *id)
{
  const char *ids[] = { id, NULL };

  qm_model_picker_set_selected (self, ids);
}

static void
row_checked_cb (QmModelPicker *self)
{
  g_autoptr (GStrvBuilder) builder = NULL;
  g_auto (GStrv) checked = NULL;

  if (self->updating)
    return;

  builder = g_strv_builder_new ();
  for (guint i = 0; i < self->rows->len; i++)
    {
      QmModelRow *row = self->rows->pdata[i];

      if (qm_model_row_get_checked (row))
        g_strv_builder_add (builder, qm_model_row_get_model (row)->id);
    }

  checked = g_strv_builder_end (builder);
  if (checked[0] != NULL)
    take_selected (self, g_steal_pointer (&checked));
  else
    {
      gtk_widget_error_bell (GTK_WIDGET (self));
      sync_widgets (self);
    }
}

static void
fill_model_list (QmModelPicker *self)
{
  g_clear_handle_id (&self->fill_source, g_source_remove);
  if (self->rows->len > 0)
    return;
  for (guint i = 0; i < self->models->len; i++)
    {
      GtkWidget *row = qm_model_row_new (self->models->pdata[i]);

      qm_models_mark_row (GTK_LIST_BOX_ROW (row), self->models->pdata[i]);
      g_signal_connect_object (row, "notify::checked",
                               G_CALLBACK (row_checked_cb), self,
                               G_CONNECT_SWAPPED);
      gtk_list_box_append (GTK_LIST_BOX (self->list), row);
      g_ptr_array_add (self->rows, row);
    }
  sync_widgets (self);
}

static gboolean
fill_models_cb (gpointer data)
{
  QmModelPicker *self = data;

  self->fill_source = 0;
  fill_model_list (self);
  return G_SOURCE_REMOVE;
}

void
qm_model_picker_set_catalog (QmModelPicker *self,
                             const QmCatalog *catalog,
                             const char *const *defaults)
{
  g_return_if_fail (QM_IS_MODEL_PICKER (self));
  g_return_if_fail (catalog != NULL);

  for (guint i = 0; i < self->rows->len; i++)
    gtk_list_box_remove (GTK_LIST_BOX (self->list), self->rows->pdata[i]);
  g_ptr_array_set_size (self->rows, 0);
  g_ptr_array_unref (self->models);
  self->models = qm_models_sorted (catalog);
  /* No frame waits for a list that nobody has opened. */
  if (self->fill_source == 0)
    self->fill_source =
        g_idle_add_full (G_PRIORITY_LOW, fill_models_cb, self, NULL);

  g_clear_pointer (&self->defaults, g_strfreev);
  self->defaults = known_ids (self, defaults);
  if (self->defaults[0] != NULL)
    take_selected (self, g_strdupv (self->defaults));
  else if (self->models->len > 0)
    select_only (self, ((const QmModel *) self->models->pdata[0])->id);
}

void
qm_model_picker_open (QmModelPicker *self)
{
  g_return_if_fail (QM_IS_MODEL_PICKER (self));

  fill_model_list (self);
  gtk_menu_button_popup (GTK_MENU_BUTTON (self->button));
}

static void
models_reset_cb (QmModelPicker *self)
{
  /* The button is about to go, and the focus must not go with it. */
  if (gtk_widget_has_focus (self->reset_button))
    gtk_widget_grab_focus (self->button);
  qm_model_picker_set_selected (self, (const char *const *) self->defaults);
}

static void
popover_show_cb (QmModelPicker *self)
{
  fill_model_list (self);
  gtk_widget_grab_focus (self->search_entry);
}

static void
popover_closed_cb (QmModelPicker *self)
{
  gtk_editable_set_text (GTK_EDITABLE (self->search_entry), "");
}

static gboolean
filter_row (GtkListBoxRow *row, gpointer user_data)
{
  QmModelPicker *self = user_data;
  const char *query = gtk_editable_get_text (GTK_EDITABLE (self->search_entry));

  return qm_model_row_matches (QM_MODEL_ROW (row), query);
}

static void
search_changed_cb (QmModelPicker *self)
{
  gtk_list_box_invalidate_filter (GTK_LIST_BOX (self->list));
}

static void
choose_and_close (QmModelPicker *self, QmModelRow *row)
{
  select_only (self, qm_model_row_get_model (row)->id);
  gtk_popover_popdown (GTK_POPOVER (self->popover));
}

static void
row_activated_cb (QmModelPicker *self, GtkListBoxRow *row)
{
  choose_and_close (self, QM_MODEL_ROW (row));
}

static QmModelRow *
first_found (QmModelPicker *self)
{
  for (guint i = 0; i < self->rows->len; i++)
    if (filter_row (self->rows->pdata[i], self))
      return self->rows->pdata[i];

  return NULL;
}

static void
search_activate_cb (QmModelPicker *self)
{
  QmModelRow *row = first_found (self);

  if (row != NULL)
    choose_and_close (self, row);
}

static gboolean
search_key_pressed_cb (QmModelPicker *self, guint keyval)
{
  QmModelRow *row = first_found (self);

  if ((keyval != GDK_KEY_Down && keyval != GDK_KEY_KP_Down) || row == NULL)
    return GDK_EVENT_PROPAGATE;

  gtk_widget_grab_focus (GTK_WIDGET (row));
  return GDK_EVENT_STOP;
}

/* Typing in the list goes on with the search.  The key capture of
 * GtkSearchEntry would take Return too, which is the row's. */
static gboolean
list_key_pressed_cb (GtkEventControllerKey *controller,
                     guint keyval,
                     guint keycode,
                     GdkModifierType state,
                     QmModelPicker *self)
{
  GtkEditable *text =
      gtk_editable_get_delegate (GTK_EDITABLE (self->search_entry));

  if (!g_unichar_isgraph (gdk_keyval_to_unicode (keyval))
      || (state & (GDK_CONTROL_MASK | GDK_ALT_MASK)) != 0)
    return GDK_EVENT_PROPAGATE;

  gtk_text_grab_focus_without_selecting (GTK_TEXT (text));
  return gtk_event_controller_key_forward (controller, GTK_WIDGET (text));
}

static void
search_stop_cb (QmModelPicker *self)
{
  if (*gtk_editable_get_text (GTK_EDITABLE (self->search_entry)) != '\0')
    gtk_editable_set_text (GTK_EDITABLE (self->search_entry), "");
  else
    gtk_popover_popdown (GTK_POPOVER (self->popover));
}

static void
select_all_cb (QmModelPicker *self)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  for (guint i = 0; i < self->models->len; i++)
    g_strv_builder_add (builder,
                        ((const QmModel *) self->models->pdata[i])->id);
  take_selected (self, g_strv_builder_end (builder));
}

static void
select_one_cb (QmModelPicker *self)
{
  g_autofree char *first = g_strdup (self->selected[0]);

  select_only (self, first);
}

static void
qm_model_picker_dispose (GObject *object)
{
  g_clear_handle_id (&QM_MODEL_PICKER (object)->fill_source, g_source_remove);

  G_OBJECT_CLASS (qm_model_picker_parent_class)->dispose (object);
}

static void
qm_model_picker_finalize (GObject *object)
{
  QmModelPicker *self = QM_MODEL_PICKER (object);

  g_clear_pointer (&self->models, g_ptr_array_unref);
  g_clear_pointer (&self->rows, g_ptr_array_unref);
  g_clear_pointer (&self->selected, g_strfreev);
  g_clear_pointer (&self->defaults, g_strfreev);

  G_OBJECT_CLASS (qm_model_picker_parent_class)->finalize (object);
}

static void
qm_model_picker_get_property (GObject *object,
                              guint prop_id,
                              GValue *value,
                              GParamSpec *pspec)
{
  switch (prop_id)
    {
    case PROP_SELECTED:
      g_value_set_boxed (value, QM_MODEL_PICKER (object)->selected);
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
qm_model_picker_set_property (GObject *object,
                              guint prop_id,
                              const GValue *value,
                              GParamSpec *pspec)
{
  switch (prop_id)
    {
    case PROP_SELECTED:
      qm_model_picker_set_selected (QM_MODEL_PICKER (object),
                                    g_value_get_boxed (value));
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
qm_model_picker_class_init (QmModelPickerClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->dispose = qm_model_picker_dispose;
  object_class->finalize = qm_model_picker_finalize;
  object_class->get_property = qm_model_picker_get_property;
  object_class->set_property = qm_model_picker_set_property;

  properties[PROP_SELECTED] =
      g_param_spec_boxed ("selected", NULL, NULL, G_TYPE_STRV,
                          G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY
                              | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);

  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-model-picker.ui");
  gtk_widget_class_bind_template_child (widget_class, QmModelPicker,
                                        reset_button);
  gtk_widget_class_bind_template_child (widget_class, QmModelPicker, button);
  gtk_widget_class_bind_template_child (widget_class, QmModelPicker,
                                        summary_label);
  gtk_widget_class_bind_template_child (widget_class, QmModelPicker, popover);
  gtk_widget_class_bind_template_child (widget_class, QmModelPicker,
                                        search_entry);
  gtk_widget_class_bind_template_child (widget_class, QmModelPicker, list);
  gtk_widget_class_bind_template_child (widget_class, QmModelPicker,
                                        all_button);
  gtk_widget_class_bind_template_child (widget_class, QmModelPicker,
                                        one_button);
  gtk_widget_class_bind_template_callback (widget_class, models_reset_cb);
  gtk_widget_class_bind_template_callback (widget_class, popover_show_cb);
  gtk_widget_class_bind_template_callback (widget_class, popover_closed_cb);
  gtk_widget_class_bind_template_callback (widget_class, search_changed_cb);
  gtk_widget_class_bind_template_callback (widget_class, search_activate_cb);
  gtk_widget_class_bind_template_callback (widget_class, search_key_pressed_cb);
  gtk_widget_class_bind_template_callback (widget_class, list_key_pressed_cb);
  gtk_widget_class_bind_template_callback (widget_class, search_stop_cb);
  gtk_widget_class_bind_template_callback (widget_class, row_activated_cb);
  gtk_widget_class_bind_template_callback (widget_class, select_all_cb);
  gtk_widget_class_bind_template_callback (widget_class, select_one_cb);
}

static void
qm_model_picker_init (QmModelPicker *self)
{
  self->models = g_ptr_array_new ();
  self->rows = g_ptr_array_new ();
  self->selected = g_new0 (char *, 1);
  gtk_widget_init_template (GTK_WIDGET (self));
  /* The row's title, which says no choice, is no name for the button. */
  gtk_accessible_reset_relation (GTK_ACCESSIBLE (self->button),
                                 GTK_ACCESSIBLE_RELATION_LABELLED_BY);
  gtk_list_box_set_filter_func (GTK_LIST_BOX (self->list), filter_row, self,
                                NULL);
  qm_models_show_headers (GTK_LIST_BOX (self->list));
}
