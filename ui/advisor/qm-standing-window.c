/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-standing-window.h"

#include "data/datadir.h"
#include "data/flops.h"
#include "pricing/qm-format.h"
#include "ui/advisor/qm-standing-source.h"
#include "ui/qm-dialog.h"
#include "ui/qm-input.h"
#include "ui/qm-legend.h"
#include "ui/qm-plot-view.h"

#include <glib/gi18n-lib.h>
#include <limits.h>
#include <math.h>

#define PLOT_HEIGHT 380

struct _QmStandingWindow
{
  AdwWindow parent_instance;

  AdwPreferencesGroup *survey;
  GtkDropDown *choice;
  GtkLabel *sum;
  AdwBin *plot;
  QmLegend *legend;

  QmCatalog *catalog;
  QmStudy *study; /* NULL: there is none */
};

G_DEFINE_FINAL_TYPE (QmStandingWindow, qm_standing_window, ADW_TYPE_WINDOW)

/* GPUs that the lab has. */
typedef struct
{
  const QmGpu *gpu;
  int gpus;
  double hours; /* that a job may run; NaN: any */
} Own;

/* --- what the lab has --- */

static void
add_own (GArray *owns, const QmGpu *gpu, int gpus, double hours)
{
  Own own = { gpu, gpus, hours };

  for (guint i = 0; i < owns->len; i++)
    if (g_array_index (owns, Own, i).gpu == gpu
        && g_array_index (owns, Own, i).gpus >= gpus)
      return;
  if (gpu != NULL)
    g_array_append_val (owns, own);
}

/* GPUs to use, and what was measured of this machine.  (transfer full) */
static GArray *
find_own (QmAdvisor *advisor)
{
  const QmCatalog *catalog = qm_advisor_get_catalog (advisor);
  GArray *owns = g_array_new (FALSE, FALSE, sizeof (Own));
  const QmHostTimes *host = qm_advisor_get_n_topics (advisor) > 0
                                ? qm_advisor_get_question (advisor, 0)->host
                                : NULL;

  for (guint i = 0; i < qm_advisor_get_n_uses (advisor); i++)
    {
      const QmUse *use = qm_advisor_get_use (advisor, i);

      add_own (owns, qm_catalog_gpu (catalog, use->gpu), use->gpus,
               use->walltime_hours);
    }
  if (host != NULL)
    {
      guint n;
      const QmMeasurement *times = qm_host_times_list (host, &n);

      for (guint i = 0; i < n; i++)
        add_own (owns, qm_catalog_gpu (catalog, times[i].gpu->id),
                 times[i].gpus, (double) NAN);
    }
  return owns;
}

/* "8 × A100 for 72 hours a job; 1 × H200".  (transfer full) */
static char *
own_text (GArray *owns)
{
  GString *text = g_string_new (NULL);

  if (owns->len == 0)
    return g_string_free (text, FALSE);
  for (guint i = 0; i < owns->len; i++)
    {
      const Own *own = &g_array_index (owns, Own, i);
      g_autofree char *hours =
          isfinite (own->hours) ? qm_format_number (own->hours, 0) : NULL;

      g_string_append_printf (text, "%s%d × %s", i > 0 ? "; " : "", own->gpus,
                              own->gpu->name);
      if (hours != NULL)
        /* Translators: behind GPUs, a number of hours. */
        g_string_append_printf (text, _ (" for %s hours a job"), hours);
    }
  return g_string_free (text, FALSE);
}

static gboolean
has_links (GArray *owns)
{
  for (guint i = 0; i < owns->len; i++)
    if (qm_known (g_array_index (owns, Own, i).gpu->nvlink_gbs)
        && g_array_index (owns, Own, i).gpus > 1)
      return TRUE;
  return FALSE;
}

/* Whether a GPU multiplies at least as fast as the slowest H100. */
static gboolean
has_h100 (GArray *owns, const QmCatalog *catalog)
{
  const QmGpu *h100 = qm_catalog_gpu (catalog, "h100-80gb-pcie");

  for (guint i = 0; h100 != NULL && i < owns->len; i++)
    if (qm_gpu_peak_tflops (g_array_index (owns, Own, i).gpu, QM_PRECISION_BF16,
                            TRUE)
        >= qm_gpu_peak_tflops (h100, QM_PRECISION_BF16, TRUE))
      return TRUE;
  return FALSE;
}

/* --- the survey --- */

/* own: what this lab says to it; NULL: nothing is known of that. */
static void
add_own_row (QmStandingWindow *self, char *title, const char *own)
{
  GtkWidget *row = adw_action_row_new ();

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  adw_action_row_set_title_lines (ADW_ACTION_ROW (row), 0);
  adw_action_row_set_subtitle_lines (ADW_ACTION_ROW (row), 0);
  if (own != NULL)
    {
      /* Translators: what a lab itself has or does. */
      g_autofree char *yours = g_strdup_printf (_ ("You: %s"), own);

      adw_action_row_set_subtitle (ADW_ACTION_ROW (row), yours);
    }
  adw_preferences_group_add (self->survey, row);
  g_free (title);
}

/* Adds a sentence with the number of an answer; nothing where that is not
 * known.
 */
static void
add_share (QmStandingWindow *self,
           const char *id,
           const char *format,
           const char *own)
{
  const QmSurveyed *surveyed = qm_study_surveyed (self->study, id);
  g_autofree char *number = NULL;

  if (surveyed == NULL)
    return;
  number = qm_format_percentage (surveyed->value, 0);
  add_own_row (self, g_strdup_printf (format, number), own);
}

static void
add_typical (QmStandingWindow *self, GArray *owns)
{
  const QmSurveyed *typical = qm_study_surveyed (self->study, "typical_gpus");
  const QmSurveyed *most = qm_study_surveyed (self->study, "most_gpus");
  g_autofree char *own = own_text (owns);

  if (typical == NULL || most == NULL)
    return;
  add_own_row (
      self,
      /* Translators: two numbers of GPUs. */
      g_strdup_printf (_ ("A researcher can typically use %.0f GPUs of a "
                          "data center for days at a time, and at the "
                          "higher end for weeks, or up to %.0f for days"),
                       typical->value, most->value),
      owns->len > 0
          ? own
          : _ ("nothing is known; GPUs to Use and This Machine tell it"));
}

static void
describe_survey (QmStandingWindow *self)
{
  const QmSurveyed *asked = qm_study_surveyed (self->study, "respondents");
  const QmSurveyed *places = qm_study_surveyed (self->study, "institutions");
  g_autofree char *text = NULL;

  if (asked == NULL || places == NULL)
    return;
  text = g_strdup_printf (
      /* Translators: two numbers, a source. */
      _ ("%.0f researchers of %.0f institutions, asked in April 2024 (%s)"),
      asked->value, places->value, asked->source);
  adw_preferences_group_set_description (self->survey, text);
}

/* "Pythia (1B): 1.0 billion parameters".  (transfer full) (nullable) */
static char *
asked_model (QmAdvisor *advisor)
{
  const QmModel *model =
      qm_advisor_get_n_topics (advisor) == 1
              && qm_advisor_get_question (advisor, 0)->model != NULL
          ? qm_catalog_model (qm_advisor_get_catalog (advisor),
                              qm_advisor_get_question (advisor, 0)->model)
          : NULL;
  g_autofree char *number = NULL;

  if (model == NULL)
    return NULL;
  number =
      qm_format_number ((double) qm_parameter_count (&model->config) / 1e9, 1);
  /* Translators: a model, a number. */
  return g_strdup_printf (_ ("%s has %s billion"), model->name, number);
}

static void
fill_survey (QmStandingWindow *self, QmAdvisor *advisor)
{
  g_autoptr (GArray) owns = find_own (advisor);
  g_autofree char *model = asked_model (advisor);
  const gboolean any = owns->len > 0;

  if (self->study == NULL)
    return;
  describe_survey (self);
  add_typical (self, owns);
  add_share (self, "linked_percent",
             /* Translators: a percentage. */
             _ ("%s have GPUs that are linked with each other, as by NVLink"),
             any ? (has_links (owns) ? _ ("yes") : _ ("no")) : NULL);
  add_share (self, "h100_percent",
             /* Translators: a percentage. */
             _ ("%s can use an H100"),
             any ? (has_h100 (owns, self->catalog)
                        ? _ ("yes, or one that is as fast")
                        : _ ("no"))
                 : NULL);
  add_share (self, "pretraining_percent",
             /* Translators: a percentage. */
             _ ("%s pre-train models of less than a billion parameters"),
             model);
  add_share (self, "no_cloud_percent",
             /* Translators: a percentage. */
             _ ("%s have no money for GPUs of a cloud"), NULL);
  add_share (self, "one_node_percent",
             /* Translators: a percentage. */
             _ ("%s cannot train on several machines at once"), NULL);
  add_share (self, "dissatisfied_percent",
             /* Translators: a percentage. */
             _ ("%s give what they have 3 points of 5, or fewer"), NULL);
}

/* --- comparisons --- */

static void
show_chosen (QmStandingWindow *self)
{
  const QmStanding standing = gtk_drop_down_get_selected (self->choice);
  g_autoptr (QmPlotSource) source = NULL;
  g_autofree char *folder = NULL;
  g_autofree char *text = NULL;
  char data_dir[PATH_MAX];
  const QmPlotData *data;
  GtkWidget *view;

  if (standing >= QM_N_STANDINGS)
    return;
  if (qm_data_dir (data_dir, sizeof data_dir))
    folder = g_build_filename (data_dir, "measurements", NULL);
  source = qm_standing_source_new (self->catalog, self->study,
                                   folder != NULL ? folder : "", standing);
  text = qm_standing_source_sum_up (QM_STANDING_SOURCE (source));
  qm_input_name_drop_down (self->choice, _ ("Comparison"),
                           qm_standing_source_title (standing));
  gtk_label_set_label (self->sum, text);
  data = qm_plot_source_get_data (source);
  qm_legend_set_plots (self->legend, &data, 1);
  view = qm_plot_view_new (source);
  gtk_widget_set_size_request (view, -1, PLOT_HEIGHT);
  adw_bin_set_child (self->plot, view);
}

static void
fill_choice (QmStandingWindow *self)
{
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);

  for (int i = 0; i < QM_N_STANDINGS; i++)
    gtk_string_list_append (names, qm_standing_source_title (i));
  gtk_drop_down_set_model (self->choice, G_LIST_MODEL (names));
}

/* --- the window --- */

static void
load_study (QmStandingWindow *self)
{
  char folder[PATH_MAX];
  QmError error = { 0 };

  if (qm_data_dir (folder, sizeof folder)
      && qm_study_load (folder, &self->study, &error) != QM_OK)
    g_message ("%s:%d: %s", error.file, error.line, error.message);
}

GtkWidget *
qm_standing_window_new (GtkWindow *parent, QmAdvisor *advisor)
{
  QmStandingWindow *self;

  g_return_val_if_fail (QM_IS_ADVISOR (advisor), NULL);

  self = g_object_new (QM_TYPE_STANDING_WINDOW, NULL);
  self->catalog = qm_catalog_ref (qm_advisor_get_catalog (advisor));
  load_study (self);
  fill_survey (self, advisor);
  show_chosen (self);
  g_signal_connect_object (self->choice, "notify::selected",
                           G_CALLBACK (show_chosen), self, G_CONNECT_SWAPPED);
  qm_dialog_follow (GTK_WINDOW (self), parent);
  return GTK_WIDGET (self);
}

static void
qm_standing_window_finalize (GObject *object)
{
  QmStandingWindow *self = QM_STANDING_WINDOW (object);

  qm_study_free (self->study);
  qm_catalog_free (self->catalog);

  G_OBJECT_CLASS (qm_standing_window_parent_class)->finalize (object);
}

static void
qm_standing_window_class_init (QmStandingWindowClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = qm_standing_window_finalize;

  g_type_ensure (QM_TYPE_LEGEND);
  gtk_widget_class_set_template_from_resource (
      widget_class,
      "/org/quartermaster/Quartermaster/ui/qm-standing-window.ui");
  gtk_widget_class_bind_template_child (widget_class, QmStandingWindow, survey);
  gtk_widget_class_bind_template_child (widget_class, QmStandingWindow, choice);
  gtk_widget_class_bind_template_child (widget_class, QmStandingWindow, sum);
  gtk_widget_class_bind_template_child (widget_class, QmStandingWindow, plot);
  gtk_widget_class_bind_template_child (widget_class, QmStandingWindow, legend);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_Escape, 0,
                                       "window.close", NULL);
}

static void
qm_standing_window_init (QmStandingWindow *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  fill_choice (self);
}
