/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-take-away-window.h"

#include "pricing/advice/qm-prose.h"
#include "pricing/qm-format.h"
#include "ui/advisor/qm-report.h"
#include "ui/advisor/qm-results-files.h"
#include "ui/machine/qm-bench-process.h"
#include "ui/qm-dialog.h"
#include "ui/qm-field-row.h"
#include "ui/qm-toasts.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define MOST_MICRO_BATCH 1000000

static const char *const formats[] = { "transformers", "deepspeed" };
static const char *const format_names[] = { "Transformers", "DeepSpeed" };

struct _QmTakeAwayWindow
{
  AdwWindow parent_instance;

  AdwWindowTitle *title;
  AdwToastOverlay *toasts;
  AdwActionRow *time_row;
  GtkLabel *time_label;
  AdwPreferencesGroup *settings;
  AdwComboRow *format_row;
  GtkTextView *text;
  GtkLabel *notes;
  QmFieldRow *micro_row;

  QmAdvisor *advisor;
  guint topic, index;        /* of the candidate */
  GCancellable *cancellable; /* of the question to qm-bench */
  char *lines;               /* the settings; NULL: none yet */
};

G_DEFINE_FINAL_TYPE (QmTakeAwayWindow, qm_take_away_window, ADW_TYPE_WINDOW)

static const QmCandidate *
candidate_taken_away (QmTakeAwayWindow *self)
{
  return qm_advice_candidate (
      qm_advisor_get_advice (self->advisor, self->topic), (int) self->index);
}

static const QmMeasurement *
measurement_of (QmTakeAwayWindow *self)
{
  return candidate_taken_away (self)->measurement;
}

/* --- Asking qm-bench ------------------------------------------------------ */

static void
set_lines (QmTakeAwayWindow *self, const char *lines, const char *notes)
{
  const gboolean any = lines != NULL;

  g_free (self->lines);
  self->lines = g_strdup (lines);
  gtk_text_buffer_set_text (gtk_text_view_get_buffer (self->text),
                            any ? lines : "", -1);
  gtk_label_set_text (self->notes, notes ? notes : "");
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "take.copy", any);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "take.save", any);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "take.pdf", any);
}

/* Whether a measurement shards without offloading, which single settings do not
 * say. */
static gboolean
shards_alone (const QmMeasurement *measurement)
{
  return *measurement->sharding != '\0'
         && strcmp (measurement->sharding, "none") != 0
         && measurement->offloading != QM_YES;
}

/* What is left to do, a line each.  (transfer full) */
static char *
describe_notes (QmTakeAwayWindow *self, const json_t *answer)
{
  const json_t *notes = json_object_get (answer, "notes");
  const QmMeasurement *measurement = measurement_of (self);
  GString *text = g_string_new (NULL);

  if (shards_alone (measurement))
    {
      /* Translators: a way of sharding, "zero_2". */
      g_string_append_printf (
          text, _ ("• The result was sharded (%s), which is yours to add\n"),
          measurement->sharding);
    }
  for (size_t i = 0; i < json_array_size (notes); i++)
    g_string_append_printf (text, "• %s\n",
                            json_string_value (json_array_get (notes, i)));
  if (text->len > 0)
    g_string_truncate (text, text->len - 1);
  return g_string_free (text, FALSE);
}

static void
commands_answered_cb (GObject *object, GAsyncResult *result, gpointer data)
{
  g_autoptr (QmTakeAwayWindow) self = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) answers = qm_bench_query_finish (result, NULL, &error);
  g_autofree char *notes = NULL;
  char *lines = NULL;

  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return;
  g_clear_object (&self->cancellable);
  if (answers != NULL && answers->len > 0)
    {
      const json_t *answer = g_ptr_array_index (answers, 0);

      lines = json_dumps (json_object_get (answer, "arguments"),
                          JSON_INDENT (2) | JSON_REAL_PRECISION (12));
      notes = describe_notes (self, answer);
    }
  set_lines (self, lines, error != NULL ? error->message : notes);
  free (lines);
}

static void
forget_question (QmTakeAwayWindow *self)
{
  if (self->cancellable != NULL)
    g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
}

static void
ask_for_micro_batch (QmTakeAwayWindow *self, gint64 micro_batch)
{
  const QmMeasurement *measurement = measurement_of (self);
  g_autofree char *micro = g_strdup_printf ("%" G_GINT64_FORMAT, micro_batch);
  g_autofree char *gpus = g_strdup_printf ("%d", measurement->gpus);
  g_autoptr (GPtrArray) arguments = g_ptr_array_new ();
  guint format = adw_combo_row_get_selected (self->format_row);
  const char *usual[] = {
    "export",
    "--json",
    "--model",
    measurement->model->id,
    "--micro-batch",
    micro,
    "--gpus",
    gpus,
    "--format",
    formats[MIN (format, G_N_ELEMENTS (formats) - 1)],
    "--settings",
    measurement->settings == QM_SETTINGS_NAIVE ? "naive" : "free-lunch",
  };

  for (guint i = 0; i < G_N_ELEMENTS (usual); i++)
    g_ptr_array_add (arguments, (gpointer) usual[i]);
  if (measurement->checkpointing == QM_YES)
    g_ptr_array_add (arguments, (gpointer) "--checkpoint");
  if (measurement->offloading == QM_YES && *measurement->sharding != '\0')
    {
      g_ptr_array_add (arguments, (gpointer) "--offload");
      g_ptr_array_add (arguments, (gpointer) measurement->sharding);
    }
  g_ptr_array_add (arguments, NULL);
  self->cancellable = g_cancellable_new ();
  qm_bench_query_async ((const char *const *) arguments->pdata, 0,
                        self->cancellable, commands_answered_cb,
                        g_object_ref (self));
}

static void
ask_for_commands (QmTakeAwayWindow *self)
{
  gint64 micro_batch;

  if (self->advisor == NULL)
    return;
  forget_question (self);
  if (qm_field_row_read_whole (self->micro_row, 1, MOST_MICRO_BATCH,
                               &micro_batch))
    ask_for_micro_batch (self, micro_batch);
  else
    set_lines (self, NULL, NULL);
}

/* --- Taking along --------------------------------------------------------- */

static void
tell_take_away (gpointer owner, const char *message)
{
  qm_toasts_tell (QM_TAKE_AWAY_WINDOW (owner)->toasts, message);
}

static void
copy_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmTakeAwayWindow *self = QM_TAKE_AWAY_WINDOW (widget);

  if (self->lines == NULL)
    return;
  gdk_clipboard_set_text (gtk_widget_get_clipboard (widget), self->lines);
  tell_take_away (self, _ ("The settings are on the clipboard"));
}

static GBytes *
make_json_cb (gpointer owner, QmPlotFormat format, guint kinds, GError **error)
{
  QmTakeAwayWindow *self = owner;
  char *text = g_strconcat (self->lines ? self->lines : "{}", "\n", NULL);

  return g_bytes_new_take (text, strlen (text));
}

static void
save_commands_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmTakeAwayWindow *self = QM_TAKE_AWAY_WINDOW (widget);
  guint format = adw_combo_row_get_selected (self->format_row);
  QmSaveRequest request = {
    .title = _ ("Save Settings"),
    .name = format == 0 ? "arguments.json" : "deepspeed.json",
    .filter_name = _ ("JSON"),
    .filter_pattern = "*.json",
    .make_bytes = make_json_cb,
    .done = tell_take_away,
  };

  qm_results_save (widget, &request);
}

static GBytes *
make_pdf_cb (gpointer owner, QmPlotFormat format, guint kinds, GError **error)
{
  QmTakeAwayWindow *self = owner;
  g_autoptr (QmReport) report = qm_report_new (self->advisor, qm_date_today ());
  guint chosen = adw_combo_row_get_selected (self->format_row);
  /* Translators: name of software. */
  g_autofree char *title =
      g_strdup_printf (_ ("Settings for %s"), format_names[MIN (chosen, 1)]);

  qm_report_take (report, self->topic, self->index, title,
                  self->lines ? self->lines : "");
  return qm_report_pdf (report);
}

static void
pdf_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmSaveRequest request = {
    .title = _ ("Save PDF"),
    .name = _ ("quartermaster.pdf"),
    .filter_name = _ ("PDF document"),
    .filter_pattern = "*.pdf",
    .make_bytes = make_pdf_cb,
    .done = tell_take_away,
  };

  qm_results_save (widget, &request);
}

/* --- The window ----------------------------------------------------------- */

static void
show_candidate (QmTakeAwayWindow *self)
{
  const QmCandidate *candidate = candidate_taken_away (self);
  const QmMeasurement *measurement = measurement_of (self);
  g_autofree char *name = qm_prose_candidate (candidate);
  g_autofree char *days = qm_format_days (candidate->days);
  g_autofree char *source = qm_prose_source (candidate->measurement);
  /* Translators: name of a model, GPUs. */
  g_autofree char *subtitle =
      g_strdup_printf (_ ("%s on %s"), measurement->model->name, name);

  adw_window_title_set_subtitle (self->title, subtitle);
  gtk_label_set_text (self->time_label, days);
  adw_action_row_set_subtitle (self->time_row, source);
  if (measurement->micro_batch_size > 0)
    qm_field_row_set_number (self->micro_row,
                             (double) measurement->micro_batch_size);
  else
    qm_field_row_set_hint (self->micro_row,
                           _ ("Of one GPU; the source of the time does not "
                              "say it"));
}

/* The candidate that is meant; FALSE where there is none. */
static gboolean
find_candidate (QmTakeAwayWindow *self)
{
  const QmRecommendation *recommendation;

  if (qm_advisor_get_selected (self->advisor, &self->topic, &self->index))
    return candidate_taken_away (self)->measurement != NULL;
  if (qm_advisor_get_n_topics (self->advisor) == 0)
    return FALSE;
  recommendation = qm_advisor_get_recommendation (self->advisor, 0);
  if (recommendation->best < 0)
    return FALSE;
  self->topic = 0;
  self->index = (guint) recommendation->best;
  return TRUE;
}

GtkWidget *
qm_take_away_window_new (GtkWindow *parent, QmAdvisor *advisor)
{
  QmTakeAwayWindow *self;

  g_return_val_if_fail (parent == NULL || GTK_IS_WINDOW (parent), NULL);
  g_return_val_if_fail (QM_IS_ADVISOR (advisor), NULL);

  self = g_object_new (QM_TYPE_TAKE_AWAY_WINDOW, NULL);
  qm_dialog_follow (GTK_WINDOW (self), parent);
  self->advisor = g_object_ref (advisor);
  if (!find_candidate (self))
    {
      gtk_window_destroy (GTK_WINDOW (self));
      return NULL;
    }
  show_candidate (self);
  ask_for_commands (self);
  /* Indices mean nothing in other answers. */
  g_signal_connect_object (advisor, "rebuilt", G_CALLBACK (gtk_window_close),
                           self, G_CONNECT_SWAPPED);
  return GTK_WIDGET (self);
}

static void
qm_take_away_window_dispose (GObject *object)
{
  QmTakeAwayWindow *self = QM_TAKE_AWAY_WINDOW (object);

  forget_question (self);
  g_clear_object (&self->advisor);
  G_OBJECT_CLASS (qm_take_away_window_parent_class)->dispose (object);
}

static void
qm_take_away_window_finalize (GObject *object)
{
  g_free (QM_TAKE_AWAY_WINDOW (object)->lines);
  G_OBJECT_CLASS (qm_take_away_window_parent_class)->finalize (object);
}

static void
qm_take_away_window_class_init (QmTakeAwayWindowClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->dispose = qm_take_away_window_dispose;
  object_class->finalize = qm_take_away_window_finalize;

  gtk_widget_class_install_action (widget_class, "take.copy", NULL, copy_cb);
  gtk_widget_class_install_action (widget_class, "take.save", NULL,
                                   save_commands_cb);
  gtk_widget_class_install_action (widget_class, "take.pdf", NULL, pdf_cb);
  gtk_widget_class_set_template_from_resource (
      widget_class,
      "/org/quartermaster/Quartermaster/ui/qm-take-away-window.ui");
#define BIND(name) \
  gtk_widget_class_bind_template_child (widget_class, QmTakeAwayWindow, name)
  BIND (title);
  BIND (toasts);
  BIND (time_row);
  BIND (time_label);
  BIND (settings);
  BIND (format_row);
  BIND (text);
  BIND (notes);
#undef BIND
  gtk_widget_class_bind_template_callback (widget_class, ask_for_commands);
}

static void
qm_take_away_window_init (QmTakeAwayWindow *self)
{
  const char *names[] = { format_names[0], format_names[1], NULL };
  g_autoptr (GtkStringList) list = gtk_string_list_new (names);

  gtk_widget_init_template (GTK_WIDGET (self));
  adw_combo_row_set_model (self->format_row, G_LIST_MODEL (list));
  self->micro_row = QM_FIELD_ROW (
      qm_field_row_new (_ ("Micro-batch"), _ ("Samples of one pass")));
  g_signal_connect_object (self->micro_row, "changed",
                           G_CALLBACK (ask_for_commands), self,
                           G_CONNECT_SWAPPED);
  adw_preferences_group_add (self->settings, GTK_WIDGET (self->micro_row));
  set_lines (self, NULL, NULL);
}
