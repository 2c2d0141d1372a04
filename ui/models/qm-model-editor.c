/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/models/qm-model-editor.h"

#include "data/csv-table.h"
#include "data/flops.h"
#include "data/text.h"
#include "pricing/qm-format.h"
#include "ui/models/qm-model-gpus.h"
#include "ui/models/qm-model-memory.h"
#include "ui/models/qm-recipe-form.h"
#include "ui/qm-dialog.h"
#include "ui/qm-field-row.h"
#include "ui/qm-show.h"
#include "ui/qm-spinner.h"

#include <glib/gi18n-lib.h>
#include <math.h>

/* GiB that a host may have. */
#define HOST_MOST 65536

struct _QmModelEditor
{
  AdwWindow parent_instance;

  GtkToggleButton *needs_button;
  QmSpinner *spinner;
  GtkLabel *problem;
  GtkStack *stack;
  AdwStatusPage *refusal;
  AdwLeaflet *leaflet;
  AdwPreferencesPage *form_page;
  AdwPreferencesPage *needs_page;
  AdwActionRow *config_row;
  GtkLabel *parameters_label;
  GtkLabel *flops_label;
  AdwActionRow *data_row;
  GtkLabel *data_label;
  QmFieldRow *name_row;
  QmFieldRow *id_row;
  QmRecipeForm *form;
  QmModelGpus *gpus;
  QmFieldRow *host_row;
  GtkFileChooserNative *chooser; /* while a file is chosen */

  QmCatalogKeeper *keeper;
  QmModelPlans *plans;
  char *config_text; /* NULL: no configuration yet */
  QmModelConfig config;
  QmRecipe recipe;
  char *source; /* where the configuration is from */
  char *path;   /* of the file that is changed; NULL: a new model */
  char *own_id; /* that it has */
  gboolean id_typed;
  gboolean updating;
};

G_DEFINE_FINAL_TYPE (QmModelEditor, qm_model_editor, ADW_TYPE_WINDOW)

/* --- What it takes -------------------------------------------------------- */

/* "2.31 × 10²¹".  (transfer full) */
static char *
format_power (double value)
{
  static const char *const digits[] = { "⁰", "¹", "²", "³", "⁴",
                                        "⁵", "⁶", "⁷", "⁸", "⁹" };
  const int exponent = (int) floor (log10 (value));
  g_autofree char *mantissa = qm_format_number (value / pow (10, exponent), 2);
  g_autofree char *plain = g_strdup_printf ("%d", exponent);
  g_autoptr (GString) raised = g_string_new (NULL);

  for (const char *at = plain; *at != '\0'; at++)
    if (g_ascii_isdigit (*at))
      g_string_append (raised, digits[*at - '0']);
  return g_strdup_printf ("%s × 10%s", mantissa, raised->str);
}

static void
show_facts (QmModelEditor *self, const QmModelConfig *config)
{
  const QmRecipe *recipe = &self->recipe;
  const gboolean images = qm_family_has_images (config->family);
  const double in_sample = images ? 1 : (double) recipe->sequence_length;
  g_autofree char *flops = format_power (qm_flops_train (config, recipe));
  g_autofree char *data = qm_format_number (
      (double) recipe->steps * (double) recipe->batch_size * in_sample, 0);

  gtk_label_set_text (self->flops_label, flops);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->data_row),
                                 images ? _ ("Images that are seen")
                                        : _ ("Tokens that are seen"));
  gtk_label_set_text (self->data_label, data);
}

static void
plans_changed_cb (QmModelEditor *self)
{
  const gboolean busy = qm_model_plans_is_busy (self->plans);

  qm_spinner_set_spinning (self->spinner, busy);
  /* Numbers that are about to change look so. */
  gtk_widget_set_opacity (GTK_WIDGET (self->needs_page), busy ? 0.55 : 1);
  if (!busy)
    qm_show_where_any (self->problem, qm_model_plans_get_problem (self->plans));
}

/* --- Names ---------------------------------------------------------------- */

static gboolean
check_name (QmModelEditor *self)
{
  const char *name = qm_field_row_get_text (self->name_row);
  const char *problem = NULL;

  if (*name == '\0')
    problem = _ ("The model needs a name");
  else if (!qm_text_is_line (name))
    problem = _ ("A name is one line");
  qm_field_row_set_problem (self->name_row, problem);
  return problem == NULL;
}

static gboolean
check_id (QmModelEditor *self)
{
  const char *id = qm_field_row_get_text (self->id_row);
  const QmModel *other =
      qm_catalog_model (qm_catalog_keeper_get (self->keeper), id);
  g_autofree char *taken = NULL;
  const char *problem = NULL;

  if (qm_id_problem (id) != NULL)
    problem = _ ("Of a to z, 0 to 9, points and hyphens, at most 64");
  else if (other != NULL && g_strcmp0 (id, self->own_id) != 0)
    {
      /* Translators: name of a model. */
      taken = g_strdup_printf (_ ("It is that of “%s”"), other->name);
      problem = taken;
    }
  qm_field_row_set_problem (self->id_row, problem);
  return problem == NULL;
}

/* What refers to the model that is changed. */
static void
hint_references (QmModelEditor *self)
{
  guint n = self->own_id != NULL ? qm_model_folder_count_times (
                qm_catalog_keeper_get (self->keeper), self->own_id)
                                 : 0;
  g_autofree char *hint = NULL;

  if (n > 0)
    hint = g_strdup_printf (
        ngettext ("%u training time refers to it as it was saved; changed, it "
                  "is left out",
                  "%u training times refer to it as it was saved; changed, "
                  "they are left out",
                  n),
        n);
  else
    hint = g_strdup (_ ("What command lines and results call it"));
  qm_field_row_set_hint (self->id_row, hint);
}

/* --- The whole ------------------------------------------------------------ */

/* Reads everything anew; asks for plans where the training is another one. */
static void
read_anew (QmModelEditor *self)
{
  QmModelConfig config = self->config;
  gboolean named, trained;

  if (self->updating || self->config_text == NULL)
    return;
  named = check_name (self);
  named = check_id (self) && named;
  trained = qm_recipe_form_read (self->form, &config, &self->recipe);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "model.save",
                                 named && trained);
  if (trained)
    show_facts (self, &config);
}

/* GiB of the host for what is offloaded; 0: as many as it takes. */
static gboolean
read_host (QmModelEditor *self, gint64 *gib)
{
  *gib = 0;
  if (*qm_field_row_get_text (self->host_row) != '\0')
    return qm_field_row_read_whole (self->host_row, 1, HOST_MOST, gib);
  qm_field_row_set_problem (self->host_row, NULL);
  return TRUE;
}

static void
training_changed_cb (QmModelEditor *self)
{
  QmModelConfig config = self->config;
  QmRecipe recipe;
  gint64 host;

  read_anew (self);
  if (self->config_text == NULL)
    return;
  if (read_host (self, &host)
      && qm_recipe_form_read (self->form, &config, &recipe))
    qm_model_plans_ask (self->plans, self->config_text, &recipe, host);
  else
    {
      gtk_label_set_text (self->flops_label, "–");
      gtk_label_set_text (self->data_label, "–");
      qm_model_plans_clear (self->plans);
    }
}

static void
name_changed_cb (QmModelEditor *self)
{
  if (!self->id_typed && self->own_id == NULL)
    {
      g_autofree char *id =
          qm_model_folder_make_id (qm_field_row_get_text (self->name_row));

      self->updating = TRUE;
      qm_field_row_set_text (self->id_row, id);
      self->updating = FALSE;
    }
  read_anew (self);
}

static void
id_changed_cb (QmModelEditor *self)
{
  if (self->updating)
    return;
  self->id_typed = TRUE;
  read_anew (self);
}

/* The model of the catalog whose recipe comes nearest: of that family, or of
 * the same kind of data, and of that size. */
static const QmModel *
find_like (QmModelEditor *self, const QmModelConfig *config)
{
  const double size = log ((double) qm_parameter_count (config));
  const QmModel *models, *best = NULL;
  double least = INFINITY;
  size_t n;

  models = qm_catalog_models (qm_catalog_keeper_get (self->keeper), &n);
  for (size_t i = 0; i < n; i++)
    {
      double distance =
          fabs (log ((double) qm_parameter_count (&models[i].config)) - size);

      if (qm_family_has_images (models[i].config.family)
          != qm_family_has_images (config->family))
        continue;
      if (models[i].config.family != config->family)
        distance += 100;
      if (distance < least)
        {
          least = distance;
          best = &models[i];
        }
    }
  return best;
}

/* Puts a recipe in that can be changed, and says whose it is. */
static void
propose_recipe (QmModelEditor *self)
{
  const QmModel *like = find_like (self, &self->config);
  g_autofree char *text = NULL, *markup = NULL;
  QmRecipe recipe;

  if (like == NULL)
    return;
  recipe = like->recipe;
  if (qm_model_image_size (&self->config) > 0)
    recipe.image_size = qm_model_image_size (&self->config);
  qm_recipe_form_set_recipe (self->form, &recipe);
  /* Translators: name of a model. */
  text = g_strdup_printf (_ ("Filled in as for %s: change what differs."),
                          like->name);
  markup = g_markup_escape_text (text, -1);
  adw_preferences_group_set_description (ADW_PREFERENCES_GROUP (self->form),
                                         markup);
}

static void
take_config (QmModelEditor *self,
             const QmModelConfig *config,
             const char *text,
             const char *from)
{
  g_autofree char *subtitle =
      g_strdup_printf ("%s · %s", qm_family_name (config->family), from);
  g_autofree char *parameters =
      qm_format_number ((double) qm_parameter_count (config), 0);

  g_free (self->config_text);
  self->config_text = g_strdup (text);
  self->config = *config;
  adw_action_row_set_subtitle (self->config_row, subtitle);
  gtk_label_set_text (self->parameters_label, parameters);
  qm_recipe_form_set_config (self->form, config);
  gtk_stack_set_visible_child_name (self->stack, "form");
}

/* Names what cannot be used, and what can. */
static void
refuse (QmModelEditor *self, const char *name, const QmError *error)
{
  g_autoptr (GString) families = g_string_new (NULL);
  g_autofree char *text = NULL;
  g_autofree char *markup = NULL;

  for (int i = 0; i < QM_FAMILY_COUNT; i++)
    g_string_append_printf (families, "%s%s", i > 0 ? ", " : "",
                            qm_family_name ((QmFamily) i));
  /* Translators: file name, what is wrong, names of architectures. */
  text = g_strdup_printf (_ ("“%s”: %s.\n\nModels of these architectures can "
                             "be used: %s."),
                          name, error->message, families->str);
  markup = g_markup_escape_text (text, -1);
  adw_status_page_set_title (self->refusal,
                             error->status == QM_STATUS_UNSUPPORTED
                                 ? _ ("Not Supported Yet")
                                 : _ ("Not a Configuration of a Model"));
  adw_status_page_set_description (self->refusal, markup);
  gtk_stack_set_visible_child_name (self->stack, "refused");
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "model.save", FALSE);
}

/* What a configuration of that file is called at first.  (transfer full) */
static char *
propose_name (GFile *file)
{
  g_autofree char *name = g_file_get_basename (file);
  g_autoptr (GFile) folder = g_file_get_parent (file);
  char *end;

  if (g_strcmp0 (name, "config.json") == 0 && folder != NULL)
    {
      g_free (name);
      name = g_file_get_basename (folder);
    }
  end = g_strrstr (name, ".json");
  if (end != NULL)
    *end = '\0';
  return g_utf8_make_valid (name, -1);
}

/* Reads the file; NULL and why where that fails.  (transfer full) */
static char *
read_file (GFile *file, size_t *length, QmError *error)
{
  const char *path = g_file_peek_path (file);
  char *text = NULL, *copy;

  if (path == NULL)
    {
      qm_error_set (error, QM_STATUS_IO, "", 0, 0, "%s",
                    _ ("only files of this computer can be opened"));
      return NULL;
    }
  if (qm_text_read_file (path, &text, length, error) != QM_OK)
    return NULL;
  copy = g_strndup (text, *length);
  free (text);
  return copy;
}

void
qm_model_editor_open (QmModelEditor *self, GFile *file)
{
  g_autofree char *name = NULL;
  g_autofree char *text = NULL;
  g_autofree char *base = NULL;
  QmModelConfig config;
  QmError error = { 0 };
  gboolean first;
  size_t length;

  g_return_if_fail (QM_IS_MODEL_EDITOR (self) && G_IS_FILE (file));

  first = self->config_text == NULL;
  base = g_file_get_basename (file);
  name = g_filename_display_name (base);
  qm_show_where_any (self->problem, NULL);
  text = read_file (file, &length, &error);
  if (text == NULL
      || qm_model_config_parse (text, length, name, &config, &error) != QM_OK)
    {
      refuse (self, name, &error);
      return;
    }
  take_config (self, &config, text, name);
  g_free (self->source);
  self->source =
      g_strdup_printf ("%s of the user, and a recipe of theirs", name);
  g_strdelimit (self->source, "\n\r\t", ' ');
  if (first)
    {
      g_autofree char *title = propose_name (file);

      qm_field_row_set_text (self->name_row, title);
      propose_recipe (self);
    }
  training_changed_cb (self);
  qm_field_row_focus (self->name_row);
}

void
qm_model_editor_edit (QmModelEditor *self, const QmOwnModel *model)
{
  QmModelConfig config;
  QmError error;

  g_return_if_fail (QM_IS_MODEL_EDITOR (self) && model != NULL);

  /* Without the recipe's dropout, which is a field here. */
  if (qm_model_config_parse (model->file.config_text,
                             strlen (model->file.config_text), model->file.name,
                             &config, &error)
      != QM_OK)
    {
      refuse (self, model->file.name, &error);
      return;
    }
  self->path = g_strdup (model->path);
  self->own_id = g_strdup (model->file.id);
  self->source = g_strdup (model->file.source);
  take_config (self, &config, model->file.config_text, model->file.source);
  self->updating = TRUE;
  qm_field_row_set_text (self->name_row, model->file.name);
  qm_field_row_set_text (self->id_row, model->file.id);
  self->updating = FALSE;
  qm_recipe_form_set_recipe (self->form, &model->file.recipe);
  hint_references (self);
  training_changed_cb (self);
}

static void
save_model_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmModelEditor *self = QM_MODEL_EDITOR (widget);
  g_autofree char *id = g_strdup (qm_field_row_get_text (self->id_row));
  g_autoptr (GError) error = NULL;
  char *text =
      qm_model_file_format (id, qm_field_row_get_text (self->name_row),
                            self->source, self->config_text, &self->recipe);
  gboolean written =
      text != NULL && qm_model_folder_write (id, text, self->path, &error);

  free (text);
  if (!written)
    {
      qm_show_where_any (self->problem, error != NULL ? error->message : "");
      return;
    }
  g_signal_emit_by_name (self, "saved", id);
  qm_catalog_keeper_load (self->keeper, NULL);
  gtk_window_close (GTK_WINDOW (self));
}

/* --- Files ---------------------------------------------------------------- */

/* An editor that nobody saw yet has nothing to show without a file. */
static void
config_chosen_cb (QmModelEditor *self, int response)
{
  g_autoptr (GtkFileChooserNative) chooser = g_steal_pointer (&self->chooser);
  g_autoptr (GFile) file = NULL;

  if (response == GTK_RESPONSE_ACCEPT)
    file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (chooser));
  if (file != NULL)
    {
      qm_model_editor_open (self, file);
      gtk_window_present (GTK_WINDOW (self));
    }
  else if (!gtk_widget_get_visible (GTK_WIDGET (self)))
    gtk_window_destroy (GTK_WINDOW (self));
}

static void
choose_config (QmModelEditor *self, GtkWindow *parent)
{
  GtkFileChooserNative *chooser =
      gtk_file_chooser_native_new (_ ("Open a Configuration"), parent,
                                   GTK_FILE_CHOOSER_ACTION_OPEN, NULL, NULL);
  g_autoptr (GtkFileFilter) json = gtk_file_filter_new ();
  g_autoptr (GtkFileFilter) all = gtk_file_filter_new ();

  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (chooser), TRUE);
  gtk_file_filter_set_name (json, _ ("Configurations (config.json)"));
  gtk_file_filter_add_pattern (json, "*.json");
  gtk_file_chooser_add_filter (GTK_FILE_CHOOSER (chooser), json);
  gtk_file_filter_set_name (all, _ ("All files"));
  gtk_file_filter_add_pattern (all, "*");
  gtk_file_chooser_add_filter (GTK_FILE_CHOOSER (chooser), all);
  g_signal_connect_object (chooser, "response", G_CALLBACK (config_chosen_cb),
                           self, G_CONNECT_SWAPPED);
  self->chooser = chooser;
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (chooser));
}

static void
open_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  if (QM_MODEL_EDITOR (widget)->chooser == NULL)
    choose_config (QM_MODEL_EDITOR (widget), GTK_WINDOW (widget));
}

static gboolean
config_dropped_cb (QmModelEditor *self, const GValue *value)
{
  GFile *file = g_value_get_object (value);

  if (file == NULL)
    return FALSE;
  qm_model_editor_open (self, file);
  return TRUE;
}

void
qm_model_editor_choose (GtkWindow *parent,
                        QmCatalogKeeper *keeper,
                        GCallback saved,
                        gpointer data)
{
  GtkWidget *editor;

  g_return_if_fail (GTK_IS_WINDOW (parent) && QM_IS_CATALOG_KEEPER (keeper));
  g_return_if_fail (G_IS_OBJECT (data));

  editor = qm_model_editor_new (parent, keeper);
  g_signal_connect_object (editor, "saved", saved, data, G_CONNECT_SWAPPED);
  choose_config (QM_MODEL_EDITOR (editor), parent);
}

/* --- The window ----------------------------------------------------------- */

static void
needs_toggled_cb (QmModelEditor *self)
{
  gboolean needs = gtk_toggle_button_get_active (self->needs_button);

  adw_leaflet_set_visible_child (self->leaflet,
                                 needs ? GTK_WIDGET (self->needs_page)
                                       : GTK_WIDGET (self->form_page));
}

static void
leaflet_moved_cb (QmModelEditor *self)
{
  gtk_toggle_button_set_active (self->needs_button,
                                adw_leaflet_get_visible_child (self->leaflet)
                                    == GTK_WIDGET (self->needs_page));
}

/* Which ids are taken, and what refers to this one. */
static void
editor_catalog_cb (QmModelEditor *self)
{
  hint_references (self);
  if (self->config_text != NULL)
    check_id (self);
}

GtkWidget *
qm_model_editor_new (GtkWindow *parent, QmCatalogKeeper *keeper)
{
  QmModelEditor *self;
  GtkWidget *memory;

  g_return_val_if_fail (parent == NULL || GTK_IS_WINDOW (parent), NULL);
  g_return_val_if_fail (QM_IS_CATALOG_KEEPER (keeper), NULL);

  self = g_object_new (QM_TYPE_MODEL_EDITOR, NULL);
  qm_dialog_follow (GTK_WINDOW (self), parent);
  self->keeper = g_object_ref (keeper);
  memory = qm_model_memory_new (keeper, self->plans);
  self->gpus = QM_MODEL_GPUS (qm_model_gpus_new (keeper, self->plans));
  adw_preferences_page_add (self->needs_page, ADW_PREFERENCES_GROUP (memory));
  adw_preferences_page_add (self->needs_page,
                            ADW_PREFERENCES_GROUP (self->gpus));
  editor_catalog_cb (self);
  g_signal_connect_object (keeper, "changed", G_CALLBACK (editor_catalog_cb),
                           self, G_CONNECT_SWAPPED);
  return GTK_WIDGET (self);
}

static void
qm_model_editor_dispose (GObject *object)
{
  QmModelEditor *self = QM_MODEL_EDITOR (object);

  g_clear_object (&self->plans);
  g_clear_object (&self->chooser);
  g_clear_object (&self->keeper);
  g_clear_pointer (&self->config_text, g_free);
  g_clear_pointer (&self->source, g_free);
  g_clear_pointer (&self->path, g_free);
  g_clear_pointer (&self->own_id, g_free);
  G_OBJECT_CLASS (qm_model_editor_parent_class)->dispose (object);
}

static void
qm_model_editor_class_init (QmModelEditorClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = qm_model_editor_dispose;
  g_signal_new ("saved", QM_TYPE_MODEL_EDITOR, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                NULL, G_TYPE_NONE, 1, G_TYPE_STRING);

  gtk_widget_class_install_action (widget_class, "model.save", NULL,
                                   save_model_cb);
  gtk_widget_class_install_action (widget_class, "model.open", NULL, open_cb);
  g_type_ensure (QM_TYPE_SPINNER);
  g_type_ensure (QM_TYPE_FIELD_ROW);
  g_type_ensure (QM_TYPE_RECIPE_FORM);
  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-model-editor.ui");
#define BIND(name) \
  gtk_widget_class_bind_template_child (widget_class, QmModelEditor, name)
  BIND (needs_button);
  BIND (spinner);
  BIND (problem);
  BIND (stack);
  BIND (refusal);
  BIND (leaflet);
  BIND (form_page);
  BIND (needs_page);
  BIND (config_row);
  BIND (name_row);
  BIND (id_row);
  BIND (form);
  BIND (host_row);
  BIND (parameters_label);
  BIND (flops_label);
  BIND (data_row);
  BIND (data_label);
#undef BIND
#define CALL(name) gtk_widget_class_bind_template_callback (widget_class, name)
  CALL (name_changed_cb);
  CALL (id_changed_cb);
  CALL (training_changed_cb);
  CALL (config_dropped_cb);
  CALL (needs_toggled_cb);
  CALL (leaflet_moved_cb);
#undef CALL
}

static void
qm_model_editor_init (QmModelEditor *self)
{
  self->plans = qm_model_plans_new ();
  gtk_widget_init_template (GTK_WIDGET (self));
  qm_field_row_set_hint (self->host_row,
                         _ ("For what is offloaded; empty: as much as it "
                            "takes"));
  g_signal_connect_object (self->plans, "changed",
                           G_CALLBACK (plans_changed_cb), self,
                           G_CONNECT_SWAPPED);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "model.save", FALSE);
}
