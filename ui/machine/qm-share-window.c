/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/machine/qm-share-window.h"

#include "pricing/qm-format.h"
#include "ui/advisor/qm-models.h"
#include "ui/advisor/qm-results-files.h"
#include "ui/machine/qm-share.h"
#include "ui/qm-dialog.h"
#include "ui/qm-show.h"
#include "ui/qm-toasts.h"

#include <glib/gi18n-lib.h>

struct _QmShareWindow
{
  AdwWindow parent_instance;

  AdwToastOverlay *toasts;
  GtkStack *stack;
  GtkLabel *problem;
  AdwPreferencesGroup *models;
  GtkTextView *text;
  AdwActionRow *sign_row;
  GtkCheckButton *sign_check;
  GtkLabel *where;

  QmShare *share;    /* NULL: there is nothing */
  GBytes *bytes;     /* of the file; NULL: there can be none */
  GPtrArray *checks; /* of GtkCheckButton, one for each model */
};

G_DEFINE_FINAL_TYPE (QmShareWindow, qm_share_window, ADW_TYPE_WINDOW)

/* --- What the file has ---------------------------------------------------- */

static void
show_text (QmShareWindow *self)
{
  gsize size = 0;
  const char *text =
      self->bytes != NULL ? g_bytes_get_data (self->bytes, &size) : "";

  gtk_text_buffer_set_text (gtk_text_view_get_buffer (self->text), text,
                            (int) size);
}

/* Nothing any more once the window goes away: its widgets go before it. */
static void
refresh_share (QmShareWindow *self)
{
  gboolean signed_off = gtk_check_button_get_active (self->sign_check);

  if (self->share == NULL)
    return;
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "share.save",
                                 self->bytes != NULL && signed_off);
}

/* The file anew, of what is ticked. */
static void
make (QmShareWindow *self)
{
  g_auto (GStrv) models = NULL;
  g_autoptr (GError) error = NULL;

  if (self->share == NULL)
    return;
  models = qm_models_ticked (self->checks);
  g_clear_pointer (&self->bytes, g_bytes_unref);
  if (models[0] != NULL)
    self->bytes =
        qm_share_make (self->share, (const char *const *) models, &error);
  qm_show_where_any (self->problem, error != NULL ? error->message : NULL);
  show_text (self);
  refresh_share (self);
}

/* --- The models and their results ----------------------------------------- */

static GtkWidget *
make_result_row (const QmResult *result)
{
  GtkWidget *row = adw_action_row_new ();
  g_autofree char *method = qm_share_method (result);
  g_autofree char *time = qm_format_days (result->days);
  g_autofree char *software = qm_share_software (result);
  g_autofree char *device = qm_share_device (result);
  g_autofree char *day = qm_format_date (result->measured_on);
  /* Translators: methods, a time. */
  g_autofree char *title = g_strdup_printf (_ ("%s: %s"), method, time);
  /* Translators: GPUs, software, a date. */
  g_autofree char *subtitle =
      g_strdup_printf (_ ("%s, %s, %s"), device, software, day);

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), subtitle);
  adw_action_row_set_title_lines (ADW_ACTION_ROW (row), 0);
  adw_action_row_set_subtitle_lines (ADW_ACTION_ROW (row), 0);
  return row;
}

/* Of a model there may be hundreds: they are made when somebody looks. */
static void
expanded_cb (AdwExpanderRow *row, GParamSpec *pspec, QmShareWindow *self)
{
  const char *model = g_object_get_data (G_OBJECT (row), "model");
  const QmResult *const *results;
  guint n;

  if (self->share == NULL || g_object_get_data (G_OBJECT (row), "filled"))
    return;
  g_object_set_data (G_OBJECT (row), "filled", row);
  results = qm_share_get_results (self->share, &n);
  for (guint i = 0; i < n; i++)
    if (g_str_equal (results[i]->model, model))
      adw_expander_row_add_row (row, make_result_row (results[i]));
}

static GtkWidget *
make_check (QmShareWindow *self, const QmModel *model)
{
  GtkWidget *check = gtk_check_button_new ();

  gtk_check_button_set_active (GTK_CHECK_BUTTON (check), TRUE);
  gtk_widget_set_valign (check, GTK_ALIGN_CENTER);
  gtk_accessible_update_property (GTK_ACCESSIBLE (check),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL, model->name,
                                  -1);
  g_object_set_data_full (G_OBJECT (check), "model", g_strdup (model->id),
                          g_free);
  g_signal_connect_object (check, "toggled", G_CALLBACK (make), self,
                           G_CONNECT_SWAPPED);
  g_ptr_array_add (self->checks, check);
  return check;
}

static void
add_model (QmShareWindow *self, const QmModel *model, guint n)
{
  GtkWidget *row = adw_expander_row_new ();
  g_autofree char *subtitle =
      g_strdup_printf (ngettext ("%u result", "%u results", n), n);

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), model->name);
  adw_expander_row_set_subtitle (ADW_EXPANDER_ROW (row), subtitle);
  adw_expander_row_add_prefix (ADW_EXPANDER_ROW (row),
                               make_check (self, model));
  g_object_set_data_full (G_OBJECT (row), "model", g_strdup (model->id),
                          g_free);
  g_signal_connect_object (row, "notify::expanded", G_CALLBACK (expanded_cb),
                           self, 0);
  adw_preferences_group_add (self->models, row);
}

static void
fill_models (QmShareWindow *self, const QmCatalog *catalog)
{
  g_autoptr (GPtrArray) models = qm_models_sorted (catalog);
  guint n;
  const QmResult *const *results = qm_share_get_results (self->share, &n);

  for (guint i = 0; i < models->len; i++)
    {
      const QmModel *model = g_ptr_array_index (models, i);
      guint of = 0;

      for (guint j = 0; j < n; j++)
        of += g_str_equal (results[j]->model, model->id);
      if (of > 0)
        add_model (self, model, of);
    }
}

/* --- Saving --------------------------------------------------------------- */

static void
tell_share (gpointer owner, const char *message)
{
  qm_toasts_tell (QM_SHARE_WINDOW (owner)->toasts, message);
}

static GBytes *
get_bytes (gpointer owner, QmPlotFormat format, guint kinds, GError **error)
{
  return g_bytes_ref (QM_SHARE_WINDOW (owner)->bytes);
}

static void
save_share_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmSaveRequest request = {
    .title = _ ("Save Results to Share"),
    .name = "shared.jsonl",
    .filter_name = _ ("Results to share (*.jsonl)"),
    .filter_pattern = "*.jsonl",
    .make_bytes = get_bytes,
    .done = tell_share,
  };

  qm_results_save (widget, &request);
}

/* --- The window ----------------------------------------------------------- */

GtkWidget *
qm_share_window_new (GtkWindow *parent, QmCatalogKeeper *keeper)
{
  QmShareWindow *self;
  g_autoptr (GError) error = NULL;

  g_return_val_if_fail (parent == NULL || GTK_IS_WINDOW (parent), NULL);
  g_return_val_if_fail (QM_IS_CATALOG_KEEPER (keeper), NULL);

  self = g_object_new (QM_TYPE_SHARE_WINDOW, NULL);
  qm_dialog_follow (GTK_WINDOW (self), parent);
  self->share =
      qm_share_new (qm_catalog_keeper_get (keeper), NULL, NULL, &error);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "share.save", FALSE);
  gtk_stack_set_visible_child_name (self->stack,
                                    self->share != NULL ? "file" : "nothing");
  if (self->share == NULL)
    {
      if (!g_error_matches (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
        qm_show_where_any (self->problem, error->message);
      return GTK_WIDGET (self);
    }
  fill_models (self, qm_catalog_keeper_get (keeper));
  make (self);
  return GTK_WIDGET (self);
}

static void
qm_share_window_dispose (GObject *object)
{
  QmShareWindow *self = QM_SHARE_WINDOW (object);

  g_clear_pointer (&self->share, qm_share_free);
  g_clear_pointer (&self->bytes, g_bytes_unref);
  G_OBJECT_CLASS (qm_share_window_parent_class)->dispose (object);
}

static void
qm_share_window_finalize (GObject *object)
{
  g_ptr_array_unref (QM_SHARE_WINDOW (object)->checks);
  G_OBJECT_CLASS (qm_share_window_parent_class)->finalize (object);
}

static void
qm_share_window_class_init (QmShareWindowClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->dispose = qm_share_window_dispose;
  object_class->finalize = qm_share_window_finalize;

  gtk_widget_class_install_action (widget_class, "share.save", NULL,
                                   save_share_cb);
  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-share-window.ui");
#define BIND(name) \
  gtk_widget_class_bind_template_child (widget_class, QmShareWindow, name)
  BIND (toasts);
  BIND (stack);
  BIND (problem);
  BIND (models);
  BIND (text);
  BIND (sign_row);
  BIND (sign_check);
  BIND (where);
#undef BIND
  gtk_widget_class_bind_template_callback (widget_class, refresh_share);
}

static void
qm_share_window_init (QmShareWindow *self)
{
  g_autofree char *where = qm_share_where ();

  self->checks = g_ptr_array_new ();
  gtk_widget_init_template (GTK_WIDGET (self));
  adw_preferences_group_set_description (self->models, qm_share_assurance ());
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->sign_row),
                                 qm_share_statement ());
  gtk_label_set_text (self->where, where);
}
