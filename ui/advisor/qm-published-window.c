/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-published-window.h"

#include "pricing/advice/qm-predictions.h"
#include "pricing/advice/qm-prose-comparison.h"
#include "ui/advisor/qm-published-table.h"
#include "ui/machine/qm-forecaster.h"
#include "ui/qm-dialog.h"
#include "ui/qm-input.h"
#include "ui/qm-terms-button.h"

#include <glib/gi18n-lib.h>

struct _QmPublishedWindow
{
  AdwWindow parent_instance;

  GtkDropDown *model_list;
  GtkLabel *sums;
  GtkLabel *answers;
  GtkLabel *state;
  GtkLabel *why;
  QmPublishedTable *table;

  QmAdvisor *advisor;
  QmForecaster *forecaster; /* its own: the advisor is not to be rebuilt */
  QmComparison *comparison;
  GPtrArray *models; /* const QmModel*, that times are published of */
  guint answers_idle;
};

G_DEFINE_FINAL_TYPE (QmPublishedWindow, qm_published_window, ADW_TYPE_WINDOW)

/* NULL: all of them, which is the first choice. */
static const QmModel *
chosen_model (QmPublishedWindow *self)
{
  guint selected = gtk_drop_down_get_selected (self->model_list);

  return selected > 0 && selected <= self->models->len
             ? g_ptr_array_index (self->models, selected - 1)
             : NULL;
}

/* What the advisor is asked, about the model, on this window's forecasts. */
static QmQuestion *
question_about (QmPublishedWindow *self, const QmModel *model)
{
  QmQuestion *question =
      qm_advisor_get_n_topics (self->advisor) > 0
          ? qm_question_copy (qm_advisor_get_question (self->advisor, 0))
          : qm_question_new ();

  g_free (question->model);
  question->model = g_strdup (model != NULL ? model->id : NULL);
  g_clear_pointer (&question->runs, g_array_unref);
  question->predictions = QM_PREDICTIONS_ALL;
  g_clear_pointer (&question->forecasts, qm_forecasts_unref);
  question->forecasts = qm_forecasts_ref (qm_forecaster_get (self->forecaster));
  question->budget_minor = qm_advisor_get_budget_minor (self->advisor);
  question->deadline_days = qm_advisor_get_deadline_days (self->advisor);
  return question;
}

/* Has a model predicted where that was not done, and what its published times
 * are to be held against. */
static void
ask_about_model (QmPublishedWindow *self, const QmModel *model)
{
  const QmCatalog *catalog = qm_advisor_get_catalog (self->advisor);
  g_autoptr (QmQuestion) question = question_about (self, model);
  g_autofree char *counts = qm_predictions_counts (catalog, question);
  g_autofree char *audited_gpus = NULL;
  g_autofree char *audited_counts = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (qm_comparison_settings); i++)
    {
      g_autoptr (QmQuestion) asked =
          qm_comparison_question (question, model->id,
                                  qm_comparison_settings[i]);
      const char *level = qm_question_level (asked);

      if (level != NULL)
        qm_forecaster_ask (self->forecaster, model->id, level, "all", counts);
    }
  if (qm_predictions_to_audit (catalog, NULL, model->id, &audited_gpus,
                               &audited_counts))
    qm_forecaster_ask (self->forecaster, model->id, QM_FORECAST_LEVELS,
                       audited_gpus, audited_counts);
}

static void
ask_all (QmPublishedWindow *self)
{
  if (chosen_model (self) != NULL)
    ask_about_model (self, chosen_model (self));
  else
    for (guint i = 0; i < self->models->len; i++)
      ask_about_model (self, g_ptr_array_index (self->models, i));
}

/* Why a model is not predicted; NULL: it is. */
static const char *
problem_of (QmPublishedWindow *self, const QmModel *model)
{
  const QmForecasts *forecasts = qm_forecaster_get (self->forecaster);
  const char *problem =
      qm_forecasts_get_problem (forecasts, model->id, "tuned");

  return problem != NULL
             ? problem
             : qm_forecasts_get_problem (forecasts, model->id, "naive");
}

static void
show_state (QmPublishedWindow *self)
{
  g_autofree char *text = NULL;

  if (qm_forecasts_is_pending (qm_forecaster_get (self->forecaster)))
    text = g_strdup (_ ("Times that nobody measured are being predicted."));
  for (guint i = 0; text == NULL && i < self->models->len; i++)
    {
      const char *problem =
          problem_of (self, g_ptr_array_index (self->models, i));

      if (problem != NULL)
        text = g_strdup_printf (
            _ ("Times that nobody measured are not predicted: %s"), problem);
    }
  gtk_label_set_text (self->state, text != NULL ? text : "");
  gtk_widget_set_visible (GTK_WIDGET (self->state), text != NULL);
}

/* What both answer; of a single model. */
static void
show_answers (QmPublishedWindow *self)
{
  const QmCatalog *catalog = qm_advisor_get_catalog (self->advisor);
  const QmModel *model = chosen_model (self);
  g_autoptr (QmQuestion) question = question_about (self, model);
  g_autoptr (QmComparedAnswer) paper = NULL;
  g_autoptr (QmComparedAnswer) yardstick = NULL;
  g_auto (GStrv) answers = NULL;
  g_autofree char *text = NULL;

  if (model != NULL)
    {
      paper = qm_compared_answer_new (catalog, question, TRUE, NULL);
      yardstick = qm_compared_answer_new (catalog, question, FALSE, NULL);
    }
  if (paper != NULL && yardstick != NULL)
    {
      answers =
          qm_prose_comparison_answers (self->comparison, paper, yardstick);
      text = g_strjoinv ("\n", answers);
    }
  gtk_label_set_text (self->answers, text != NULL ? text : "");
  gtk_widget_set_visible (GTK_WIDGET (self->answers), text != NULL);
}

static void
show_sums (QmPublishedWindow *self)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (qm_comparison_settings); i++)
    {
      g_autofree char *sum =
          qm_prose_comparison_sum (self->comparison, qm_comparison_settings[i]);

      g_string_append_printf (text, "%s%s", i > 0 ? "\n" : "", sum);
    }
  gtk_label_set_text (self->sums, text->str);
}

static void
refresh_published (QmPublishedWindow *self)
{
  const QmModel *model = chosen_model (self);
  g_autoptr (QmQuestion) question = question_about (self, model);
  const QmCompared *rows;
  guint n;

  /* All that is published, whatever the advisor leaves out. */
  g_clear_pointer (&question->gpus, g_strfreev);
  g_clear_pointer (&question->counts, g_array_unref);
  g_clear_pointer (&self->comparison, qm_comparison_free);
  self->comparison = qm_comparison_new (qm_advisor_get_catalog (self->advisor),
                                        question, model);
  rows = qm_comparison_rows (self->comparison, &n);
  qm_published_table_set_several (self->table, model == NULL);
  qm_published_table_set_rows (self->table, rows, n);
  show_sums (self);
  show_state (self);
  show_answers (self);
}

static gboolean
answers_cb (gpointer data)
{
  QmPublishedWindow *self = data;

  self->answers_idle = 0;
  show_answers (self);
  return G_SOURCE_REMOVE;
}

/* Once for all that changes at a time, such as a budget that is dragged. */
static void
question_changed_cb (QmPublishedWindow *self)
{
  if (self->answers_idle == 0)
    self->answers_idle = g_idle_add (answers_cb, self);
}

static void
name_list (QmPublishedWindow *self)
{
  GtkStringObject *item = gtk_drop_down_get_selected_item (self->model_list);

  qm_input_name_drop_down (self->model_list, _ ("Model"),
                           gtk_string_object_get_string (item));
}

static void
model_chosen_cb (QmPublishedWindow *self)
{
  if (self->advisor == NULL)
    return;
  name_list (self);
  ask_all (self);
  refresh_published (self);
}

/* The models of the catalog that times are published of, in its order. */
static void
find_models (QmPublishedWindow *self)
{
  const QmCatalog *catalog = qm_advisor_get_catalog (self->advisor);
  size_t n_models, n_times;
  const QmModel *models = qm_catalog_models (catalog, &n_models);
  const QmMeasurement *times = qm_catalog_measurements (catalog, &n_times);

  for (size_t i = 0; i < n_models; i++)
    for (size_t j = 0; j < n_times; j++)
      if (times[j].model == &models[i]
          && times[j].provenance == QM_PROVENANCE_PUBLISHED)
        {
          g_ptr_array_add (self->models, (gpointer) &models[i]);
          break;
        }
}

static void
fill_list (QmPublishedWindow *self)
{
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);
  const QmQuestion *question = qm_advisor_get_n_topics (self->advisor) > 0
                                   ? qm_advisor_get_question (self->advisor, 0)
                                   : NULL;
  guint selected = 0;

  gtk_string_list_append (names, _ ("All Models"));
  for (guint i = 0; i < self->models->len; i++)
    {
      const QmModel *model = g_ptr_array_index (self->models, i);

      gtk_string_list_append (names, model->name);
      if (question != NULL && g_strcmp0 (question->model, model->id) == 0)
        selected = i + 1;
    }
  gtk_drop_down_set_model (self->model_list, G_LIST_MODEL (names));
  gtk_drop_down_set_selected (self->model_list, selected);
}

GtkWidget *
qm_published_window_new (GtkWindow *parent, QmAdvisor *advisor)
{
  QmPublishedWindow *self;

  g_return_val_if_fail (parent == NULL || GTK_IS_WINDOW (parent), NULL);
  g_return_val_if_fail (QM_IS_ADVISOR (advisor), NULL);

  self = g_object_new (QM_TYPE_PUBLISHED_WINDOW, NULL);
  qm_dialog_follow (GTK_WINDOW (self), parent);
  g_set_object (&self->advisor, advisor);
  find_models (self);
  g_signal_handlers_block_by_func (self->model_list, model_chosen_cb, self);
  fill_list (self);
  g_signal_handlers_unblock_by_func (self->model_list, model_chosen_cb, self);
  g_signal_connect_object (advisor, "rebuilt", G_CALLBACK (question_changed_cb),
                           self, G_CONNECT_SWAPPED);
  g_signal_connect_object (advisor, "limits-changed",
                           G_CALLBACK (question_changed_cb), self,
                           G_CONNECT_SWAPPED);
  model_chosen_cb (self);
  return GTK_WIDGET (self);
}

static void
qm_published_window_dispose (GObject *object)
{
  QmPublishedWindow *self = QM_PUBLISHED_WINDOW (object);

  g_clear_handle_id (&self->answers_idle, g_source_remove);
  g_clear_object (&self->forecaster);
  g_clear_object (&self->advisor);
  G_OBJECT_CLASS (qm_published_window_parent_class)->dispose (object);
}

static void
qm_published_window_finalize (GObject *object)
{
  QmPublishedWindow *self = QM_PUBLISHED_WINDOW (object);

  g_clear_pointer (&self->comparison, qm_comparison_free);
  g_clear_pointer (&self->models, g_ptr_array_unref);
  G_OBJECT_CLASS (qm_published_window_parent_class)->finalize (object);
}

static void
qm_published_window_class_init (QmPublishedWindowClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->dispose = qm_published_window_dispose;
  object_class->finalize = qm_published_window_finalize;

  g_type_ensure (QM_TYPE_PUBLISHED_TABLE);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_Escape, 0,
                                       "window.close", NULL);
  g_type_ensure (QM_TYPE_TERMS_BUTTON);
  gtk_widget_class_set_template_from_resource (
      widget_class,
      "/org/quartermaster/Quartermaster/ui/qm-published-window.ui");
#define BIND(name) \
  gtk_widget_class_bind_template_child (widget_class, QmPublishedWindow, name)
  BIND (model_list);
  BIND (sums);
  BIND (answers);
  BIND (state);
  BIND (why);
  BIND (table);
#undef BIND
  gtk_widget_class_bind_template_callback (widget_class, model_chosen_cb);
}

static void
qm_published_window_init (QmPublishedWindow *self)
{
  self->models = g_ptr_array_new ();
  self->forecaster = qm_forecaster_new ();
  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_label_set_text (self->why, qm_prose_comparison_why ());
  g_signal_connect_object (self->forecaster, "changed",
                           G_CALLBACK (refresh_published), self,
                           G_CONNECT_SWAPPED);
}
