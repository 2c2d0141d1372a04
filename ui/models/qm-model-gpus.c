/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/models/qm-model-gpus.h"

#include "pricing/advice/qm-predictions.h"
#include "pricing/advice/qm-prose.h"
#include "pricing/qm-format.h"
#include "ui/machine/qm-machine-text.h"

#include <glib/gi18n-lib.h>

struct _QmModelGpus
{
  AdwPreferencesGroup parent_instance;

  AdwComboRow *count_row;
  GArray *counts;    /* int, as the row has them */
  GPtrArray *rows;   /* of AdwActionRow, one for each GPU */
  GPtrArray *labels; /* of GtkLabel, the time in each */

  QmCatalogKeeper *keeper;
  QmCatalog *catalog; /* that rows are of */
  QmModelPlans *plans;
};

G_DEFINE_FINAL_TYPE (QmModelGpus, qm_model_gpus, ADW_TYPE_PREFERENCES_GROUP)

/* What is to be said of one GPU. */
typedef struct
{
  const QmModelPlan *easiest; /* that fits; NULL: none does */
  gint64 least;               /* bytes that any way takes; 0: none can be */
  gint64 host; /* bytes of the host that it fails for; 0: for none */
  const char *unsupported;
} Summary;

/* Ways come the easiest first, but for the naive one, which is not wanted. */
static Summary
summarise (GPtrArray *plans, const char *gpu)
{
  Summary summary = { NULL };

  for (guint i = 0; i < plans->len; i++)
    {
      const QmModelPlan *plan = g_ptr_array_index (plans, i);

      if (g_strcmp0 (plan->gpu, gpu) != 0)
        continue;
      if (plan->unsupported != NULL)
        {
          summary.unsupported = plan->unsupported;
          continue;
        }
      if (plan->fits && summary.easiest == NULL
          && g_strcmp0 (plan->settings, "naive") != 0)
        summary.easiest = plan;
      if (!plan->fits && plan->host_bytes > 0
          && plan->smallest_bytes <= plan->available_bytes
          && (summary.host == 0 || plan->host_bytes < summary.host))
        summary.host = plan->host_bytes;
      if (summary.least == 0 || plan->smallest_bytes < summary.least)
        summary.least = plan->smallest_bytes;
    }
  return summary;
}

static int
chosen_count (QmModelGpus *self)
{
  guint chosen = adw_combo_row_get_selected (self->count_row);

  return chosen < self->counts->len ? g_array_index (self->counts, int, chosen)
                                    : 1;
}

/* What several of them do.  (transfer full) */
static char *
describe_several (const QmForecast *forecast, int count)
{
  g_autofree char *bytes = qm_machine_text_bytes (forecast->host_bytes);

  switch (forecast->fit)
    {
    case QM_FIT_WELL:
      /* Translators: a number of GPUs. */
      return g_strdup_printf (_ ("Fits, divided among %d of them"), count);
    case QM_FIT_OFFLOADING:
      /* Translators: memory. */
      return g_strdup_printf (_ ("Fits with %s of the host"), bytes);
    case QM_FIT_UNKNOWN:
      return g_strdup (forecast->unsupported);
    case QM_FIT_NOT:
    default:
      /* Translators: a number of GPUs. */
      return g_strdup_printf (_ ("Does not fit into %d of them"), count);
    }
}

/* What one of them does.  (transfer full) */
static char *
describe_one (const Summary *summary)
{
  const QmModelPlan *plan = summary->easiest;
  g_autofree char *bytes = qm_machine_text_bytes (
      summary->host > 0 ? summary->host : summary->least);

  if (plan != NULL)
    {
      g_autofree char *size = qm_format_number ((double) plan->micro_batch, 0);
      g_autofree char *way = qm_model_plan_name (plan);

      /* Translators: a way to train, the largest micro-batch that fits. */
      return g_strdup_printf (_ ("Fits: %s, micro-batch %s"), way, size);
    }
  if (summary->least == 0)
    return g_strdup (summary->unsupported != NULL ? summary->unsupported : "");
  return g_strdup_printf (summary->host > 0
                              /* Translators: memory. */
                              ? _ ("Does not fit: it takes %s of the host")
                              /* Translators: memory. */
                              : _ ("Does not fit: it takes %s at the least"),
                          bytes);
}

static const QmForecast *
forecast_of (QmModelGpus *self, const QmGpu *gpu)
{
  return qm_forecasts_look (qm_model_plans_get_forecasts (self->plans),
                            QM_MODEL_PLANS_MODEL, QM_MODEL_PLANS_LEVEL, gpu,
                            chosen_count (self));
}

static void
show_time (GtkLabel *label, const QmForecast *forecast)
{
  g_autofree char *text = NULL;
  g_autofree char *tip = NULL;

  if (forecast != NULL && qm_known (forecast->days))
    {
      g_autofree char *days = qm_format_days (forecast->days);
      g_autofree char *interval =
          qm_format_days_range (forecast->days, forecast->low, forecast->high);

      /* Translators: time of a training, its interval. */
      text = g_strdup_printf (_ ("%s\n(%s)"), days, interval);
      /* Translators: kind of software. */
      tip = g_strdup_printf (_ ("Predicted for %s, operator by operator. Nine "
                                "of ten are within their interval."),
                             qm_prose_level_name (forecast->level));
    }
  gtk_label_set_text (label, text ? text : "");
  gtk_widget_set_tooltip_text (GTK_WIDGET (label), tip);
}

/* Whether it fits; `text` becomes how.  (transfer full) */
static gboolean
look_at (QmModelGpus *self,
         const QmGpu *gpu,
         const QmForecast *forecast,
         char **text)
{
  Summary summary = summarise (qm_model_plans_get (self->plans), gpu->id);

  if (chosen_count (self) == 1 || summary.unsupported != NULL
      || forecast == NULL)
    {
      *text = describe_one (&summary);
      return summary.easiest != NULL;
    }
  *text = describe_several (forecast, chosen_count (self));
  return forecast->fit == QM_FIT_WELL || forecast->fit == QM_FIT_OFFLOADING;
}

static void
refresh_gpus (QmModelGpus *self)
{
  GPtrArray *plans = qm_model_plans_get (self->plans);
  size_t n;
  const QmGpu *gpus = qm_catalog_gpus (self->catalog, &n);

  for (size_t i = 0; i < n; i++)
    {
      AdwActionRow *row = g_ptr_array_index (self->rows, i);
      g_autofree char *text = NULL;
      const QmForecast *forecast = forecast_of (self, &gpus[i]);
      gboolean fits = look_at (self, &gpus[i], forecast, &text);

      adw_action_row_set_subtitle (row, text);
      adw_action_row_set_icon_name (row, fits ? "emblem-ok-symbolic"
                                              : "action-unavailable-symbolic");
      show_time (g_ptr_array_index (self->labels, i), forecast);
    }
  gtk_widget_set_visible (GTK_WIDGET (self), plans->len > 0);
}

static void
add_gpu_row (QmModelGpus *self, const QmGpu *gpu)
{
  GtkWidget *row = adw_action_row_new ();
  GtkWidget *label = gtk_label_new (NULL);

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), gpu->name);
  adw_action_row_set_subtitle_lines (ADW_ACTION_ROW (row), 0);
  gtk_label_set_justify (GTK_LABEL (label), GTK_JUSTIFY_RIGHT);
  gtk_widget_add_css_class (label, "numeric");
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), label);
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (self), row);
  g_ptr_array_add (self->rows, row);
  g_ptr_array_add (self->labels, label);
}

static void
fill_counts (QmModelGpus *self)
{
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);
  g_autofree char *counts = qm_predictions_counts (self->catalog, NULL);
  guint chosen = adw_combo_row_get_selected (self->count_row);

  g_clear_pointer (&self->counts, g_array_unref);
  self->counts = qm_predictions_sizes (self->catalog);
  qm_model_plans_set_counts (self->plans, counts);
  for (guint i = 0; i < self->counts->len; i++)
    gtk_string_list_take (
        names, qm_format_number (g_array_index (self->counts, int, i), 0));
  adw_combo_row_set_model (self->count_row, G_LIST_MODEL (names));
  if (chosen < self->counts->len)
    adw_combo_row_set_selected (self->count_row, chosen);
}

static void
take_catalog (QmModelGpus *self)
{
  const QmGpu *gpus;
  size_t n;

  qm_catalog_free (self->catalog);
  self->catalog = qm_catalog_ref (qm_catalog_keeper_get (self->keeper));
  for (guint i = 0; i < self->rows->len; i++)
    adw_preferences_group_remove (ADW_PREFERENCES_GROUP (self),
                                  g_ptr_array_index (self->rows, i));
  g_ptr_array_set_size (self->rows, 0);
  g_ptr_array_set_size (self->labels, 0);
  gpus = qm_catalog_gpus (self->catalog, &n);
  for (size_t i = 0; i < n; i++)
    add_gpu_row (self, &gpus[i]);
  fill_counts (self);
  refresh_gpus (self);
}

GtkWidget *
qm_model_gpus_new (QmCatalogKeeper *keeper, QmModelPlans *plans)
{
  QmModelGpus *self;

  g_return_val_if_fail (QM_IS_CATALOG_KEEPER (keeper), NULL);
  g_return_val_if_fail (QM_IS_MODEL_PLANS (plans), NULL);

  self = g_object_new (QM_TYPE_MODEL_GPUS, NULL);
  self->keeper = g_object_ref (keeper);
  self->plans = g_object_ref (plans);
  take_catalog (self);
  g_signal_connect_object (self->count_row, "notify::selected",
                           G_CALLBACK (refresh_gpus), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (plans, "changed", G_CALLBACK (refresh_gpus), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (keeper, "changed", G_CALLBACK (take_catalog), self,
                           G_CONNECT_SWAPPED);
  return GTK_WIDGET (self);
}

static void
qm_model_gpus_finalize (GObject *object)
{
  QmModelGpus *self = QM_MODEL_GPUS (object);

  g_clear_object (&self->plans);
  g_clear_object (&self->keeper);
  qm_catalog_free (self->catalog);
  g_array_unref (self->counts);
  g_ptr_array_unref (self->rows);
  g_ptr_array_unref (self->labels);
  G_OBJECT_CLASS (qm_model_gpus_parent_class)->finalize (object);
}

static void
qm_model_gpus_class_init (QmModelGpusClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = qm_model_gpus_finalize;
}

static void
qm_model_gpus_init (QmModelGpus *self)
{
  GtkWidget *row = adw_combo_row_new ();

  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row),
                                 _ ("GPUs in a machine"));
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (self), row);
  self->count_row = ADW_COMBO_ROW (row);
  self->rows = g_ptr_array_new ();
  self->labels = g_ptr_array_new ();
  adw_preferences_group_set_title (ADW_PREFERENCES_GROUP (self),
                                   _ ("On Each GPU"));
  adw_preferences_group_set_description (
      ADW_PREFERENCES_GROUP (self),
      _ ("The easiest way that fits, and the days that its steps would take: "
         "predicted, with their interval."));
}
