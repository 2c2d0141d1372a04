/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-results-view.h"

#include "pricing/advice/qm-shortlist.h"
#include "ui/advisor/qm-candidate-table.h"
#include "ui/advisor/qm-plot-grid.h"
#include "ui/advisor/qm-plot-set.h"
#include "ui/advisor/qm-proposal-bytes.h"
#include "ui/advisor/qm-recommendation-card.h"
#include "ui/advisor/qm-report-print.h"
#include "ui/advisor/qm-results-files.h"
#include "ui/advisor/qm-year-view.h"
#include "ui/qm-terms-button.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define ZOOM_STEP 1.5

struct _QmResultsView
{
  GtkWidget parent_instance;

  GtkWidget *toolbar;
  GtkWidget *scroller;
  GtkToggleButton *linear_button;
  GtkToggleButton *log_button;
  GtkToggleButton *all_button;
  QmYearView *year;
  QmPlotGrid *plots;
  QmRecommendationCard *card;
  QmCandidateTable *table;

  QmAdvisor *advisor;
  GtkPrintOperation *printing;
};

enum
{
  PROP_0,
  PROP_ADVISOR,
  N_PROPS
};

enum
{
  MESSAGE,
  N_SIGNALS
};

G_DEFINE_FINAL_TYPE (QmResultsView, qm_results_view, GTK_TYPE_WIDGET)

static GParamSpec *properties[N_PROPS];
static guint signals[N_SIGNALS];

static void
send_message (gpointer self, const char *message)
{
  g_signal_emit (self, signals[MESSAGE], 0, message);
}

/* The plots as they are seen, in colours for paper. */
static GBytes *
render_plots_cb (gpointer owner,
                 QmPlotFormat format,
                 guint kinds,
                 GError **error)
{
  QmResultsView *self = QM_RESULTS_VIEW (owner);
  g_autoptr (QmPlotSet) set = qm_plot_set_new (self->advisor, kinds);
  const QmPlotData *const *data;
  guint n;

  for (guint i = 0; i < qm_advisor_get_n_topics (self->advisor); i++)
    for (guint kind = QM_ADVICE_PLOT_OVERALL; kind <= QM_ADVICE_PLOT_EXPERIMENT;
         kind++)
      {
        QmPlotView *view = qm_plot_grid_get_view (self->plots, i, kind);
        double range[4];

        if (view == NULL)
          continue;
        qm_plot_view_get_range (view, range);
        qm_plot_set_set_range (set, i, kind, range);
      }
  data = qm_plot_set_data (set, &n);
  return qm_results_render (data, n, format, error);
}

static GBytes *
make_csv_cb (gpointer owner, QmPlotFormat format, guint kinds, GError **error)
{
  char *csv =
      qm_candidate_table_get_csv (QM_RESULTS_VIEW (owner)->table, FALSE);

  return g_bytes_new_take (csv, strlen (csv));
}

static QmPlotSetKinds
kinds_of (GVariant *parameter)
{
  if (parameter == NULL)
    return QM_PLOT_SET_BOTH;
  return strcmp (g_variant_get_string (parameter, NULL), "experiment") == 0
             ? QM_PLOT_SET_EXPERIMENT
             : QM_PLOT_SET_OVERALL;
}

static void
export_plot_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  QmSaveRequest request = { .title = _ ("Export Plot"),
                            .name = _ ("quartermaster.png"),
                            .plot = TRUE,
                            .kinds = kinds_of (parameter),
                            .make_bytes = render_plots_cb,
                            .done = send_message };

  qm_results_save (widget, &request);
}

static void
save_table_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  QmSaveRequest request = { .title = _ ("Save Table"),
                            .name = _ ("quartermaster.csv"),
                            .make_bytes = make_csv_cb,
                            .done = send_message };

  qm_results_save (widget, &request);
}

static void
copy_plot_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = render_plots_cb (widget, QM_PLOT_FORMAT_PNG,
                                              kinds_of (parameter), &error);
  g_autoptr (GdkTexture) texture = NULL;

  if (bytes != NULL)
    texture = gdk_texture_new_from_bytes (bytes, &error);
  if (texture == NULL)
    {
      send_message (widget, error->message);
      return;
    }
  gdk_clipboard_set_texture (gtk_widget_get_clipboard (widget), texture);
  send_message (widget,
                parameter == NULL ? _ ("Plots copied") : _ ("Plot copied"));
}

static void
copy_csv (QmResultsView *self, gboolean only_selected)
{
  g_autofree char *csv =
      qm_candidate_table_get_csv (self->table, only_selected);

  gdk_clipboard_set_text (gtk_widget_get_clipboard (GTK_WIDGET (self)), csv);
  send_message (self, only_selected ? _ ("Row copied") : _ ("Table copied"));
}

static void
copy_table_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  copy_csv (QM_RESULTS_VIEW (widget), FALSE);
}

static void
copy_row_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  QmResultsView *self = QM_RESULTS_VIEW (widget);

  copy_csv (self, qm_candidate_table_has_selected (self->table));
}

static void
print_done_cb (GtkPrintOperation *operation,
               GtkPrintOperationResult result,
               gpointer data)
{
  QmResultsView *self = QM_RESULTS_VIEW (data);
  g_autoptr (GError) error = NULL;
  g_autofree char *message = NULL;

  if (result == GTK_PRINT_OPERATION_RESULT_ERROR)
    {
      gtk_print_operation_get_error (operation, &error);
      /* Translators: what went wrong. */
      message = g_strdup_printf (_ ("Could not print: %s"),
                                 error != NULL ? error->message : "");
      send_message (self, message);
    }
  g_clear_object (&self->printing);
}

static void
print_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  QmResultsView *self = QM_RESULTS_VIEW (widget);
  GtkRoot *root = gtk_widget_get_root (widget);

  if (self->printing != NULL)
    return;
  self->printing = qm_report_print_operation_new (self->advisor);
  gtk_print_operation_set_allow_async (self->printing, TRUE);
  g_signal_connect_object (self->printing, "done", G_CALLBACK (print_done_cb),
                           self, 0);
  gtk_print_operation_run (self->printing,
                           GTK_PRINT_OPERATION_ACTION_PRINT_DIALOG,
                           GTK_IS_WINDOW (root) ? GTK_WINDOW (root) : NULL,
                           NULL);
}

/* --- the proposal --- */

static GBytes *
proposal_bytes (gpointer owner, QmPlotFormat format, guint form, GError **error)
{
  return qm_proposal_bytes (QM_RESULTS_VIEW (owner)->advisor,
                            (QmProposalForm) form, error);
}

static void
proposal_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  QmSaveRequest request = {
    .title = _ ("Save the Proposal"),
    .name = _ ("proposal.pdf"),
    .filter_name = _ ("PDF documents"),
    .filter_pattern = "*.pdf",
    .kinds = QM_PROPOSAL_PDF,
    .make_bytes = proposal_bytes,
    .done = send_message,
  };

  if (strcmp (action, "results.proposal-latex") == 0)
    {
      request.name = _ ("proposal.tex");
      request.filter_name = _ ("LaTeX documents");
      request.filter_pattern = "*.tex";
      request.kinds = QM_PROPOSAL_LATEX;
    }
  else if (strcmp (action, "results.proposal-odt") == 0)
    {
      request.name = _ ("proposal.odt");
      request.filter_name = _ ("OpenDocument texts");
      request.filter_pattern = "*.odt";
      request.kinds = QM_PROPOSAL_ODT;
    }
  qm_results_save (widget, &request);
}

static void
zoom_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  QmResultsView *self = QM_RESULTS_VIEW (widget);

  if (strcmp (action, "results.zoom-in") == 0)
    qm_plot_grid_zoom (self->plots, ZOOM_STEP);
  else if (strcmp (action, "results.zoom-out") == 0)
    qm_plot_grid_zoom (self->plots, 1 / ZOOM_STEP);
  else
    qm_plot_grid_zoom_reset (self->plots);
}

static void
qm_results_view_get_property (GObject *object,
                              guint prop_id,
                              GValue *value,
                              GParamSpec *pspec)
{
  switch (prop_id)
    {
    case PROP_ADVISOR:
      g_value_set_object (value, QM_RESULTS_VIEW (object)->advisor);
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
qm_results_view_set_property (GObject *object,
                              guint prop_id,
                              const GValue *value,
                              GParamSpec *pspec)
{
  switch (prop_id)
    {
    case PROP_ADVISOR:
      QM_RESULTS_VIEW (object)->advisor = g_value_dup_object (value);
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

/* Whether there are so many types of GPU that some are left out. */
static void
update_shortlist (QmResultsView *self)
{
  gboolean many = FALSE;

  for (guint i = 0; !many && i < qm_advisor_get_n_topics (self->advisor); i++)
    {
      g_autoptr (GHashTable) shortlist =
          qm_shortlist_new (qm_advisor_get_advice (self->advisor, i));

      many = shortlist != NULL;
    }
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "results.all-gpus", many);
  gtk_widget_set_sensitive (GTK_WIDGET (self->all_button), many);
  gtk_widget_set_tooltip_text (
      GTK_WIDGET (self->all_button),
      many ? _ ("All types of GPU, or the six that are on the frontier or "
                "nearest to it")
           : _ ("There are no more types of GPU than are shown"));
}

static void
all_gpus_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmResultsView *self = QM_RESULTS_VIEW (widget);

  gtk_toggle_button_set_active (
      self->all_button, !gtk_toggle_button_get_active (self->all_button));
}

static void
qm_results_view_constructed (GObject *object)
{
  QmResultsView *self = QM_RESULTS_VIEW (object);
  gboolean log_axes;

  G_OBJECT_CLASS (qm_results_view_parent_class)->constructed (object);

  qm_year_view_set_advisor (self->year, self->advisor);
  qm_plot_grid_set_advisor (self->plots, self->advisor);
  qm_recommendation_card_set_advisor (self->card, self->advisor);
  qm_candidate_table_set_advisor (self->table, self->advisor);
  g_object_get (self->advisor, "log-axes", &log_axes, NULL);
  gtk_toggle_button_set_active (log_axes ? self->log_button
                                         : self->linear_button,
                                TRUE);
  g_object_bind_property (self->advisor, "log-axes", self->log_button, "active",
                          G_BINDING_BIDIRECTIONAL);
  g_object_bind_property (self->advisor, "log-axes", self->linear_button,
                          "active", G_BINDING_INVERT_BOOLEAN);
  g_object_bind_property (self->advisor, "all-gpus", self->all_button, "active",
                          G_BINDING_BIDIRECTIONAL | G_BINDING_SYNC_CREATE);
  g_signal_connect_object (self->advisor, "rebuilt",
                           G_CALLBACK (update_shortlist), self,
                           G_CONNECT_SWAPPED);
  update_shortlist (self);
}

static void
qm_results_view_dispose (GObject *object)
{
  QmResultsView *self = QM_RESULTS_VIEW (object);

  g_clear_pointer (&self->toolbar, gtk_widget_unparent);
  g_clear_pointer (&self->scroller, gtk_widget_unparent);
  g_clear_object (&self->printing);
  g_clear_object (&self->advisor);

  G_OBJECT_CLASS (qm_results_view_parent_class)->dispose (object);
}

static void
install_actions (GtkWidgetClass *widget_class)
{
  gtk_widget_class_install_action (widget_class, "results.export-plot", NULL,
                                   export_plot_cb);
  gtk_widget_class_install_action (widget_class, "results.export-kind", "s",
                                   export_plot_cb);
  gtk_widget_class_install_action (widget_class, "results.copy-plot", NULL,
                                   copy_plot_cb);
  gtk_widget_class_install_action (widget_class, "results.copy-kind", "s",
                                   copy_plot_cb);
  gtk_widget_class_install_action (widget_class, "results.save-table", NULL,
                                   save_table_cb);
  gtk_widget_class_install_action (widget_class, "results.copy-table", NULL,
                                   copy_table_cb);
  gtk_widget_class_install_action (widget_class, "results.copy-row", NULL,
                                   copy_row_cb);
  gtk_widget_class_install_action (widget_class, "results.print", NULL,
                                   print_cb);
  gtk_widget_class_install_action (widget_class, "results.proposal-pdf", NULL,
                                   proposal_cb);
  gtk_widget_class_install_action (widget_class, "results.proposal-latex", NULL,
                                   proposal_cb);
  gtk_widget_class_install_action (widget_class, "results.proposal-odt", NULL,
                                   proposal_cb);
  gtk_widget_class_install_action (widget_class, "results.all-gpus", NULL,
                                   all_gpus_cb);
  gtk_widget_class_install_action (widget_class, "results.zoom-in", NULL,
                                   zoom_cb);
  gtk_widget_class_install_action (widget_class, "results.zoom-out", NULL,
                                   zoom_cb);
  gtk_widget_class_install_action (widget_class, "results.zoom-reset", NULL,
                                   zoom_cb);
}

static void
qm_results_view_class_init (QmResultsViewClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->get_property = qm_results_view_get_property;
  object_class->set_property = qm_results_view_set_property;
  object_class->constructed = qm_results_view_constructed;
  object_class->dispose = qm_results_view_dispose;

  g_type_ensure (QM_TYPE_PLOT_GRID);
  g_type_ensure (QM_TYPE_RECOMMENDATION_CARD);
  g_type_ensure (QM_TYPE_CANDIDATE_TABLE);
  g_type_ensure (QM_TYPE_YEAR_VIEW);

  properties[PROP_ADVISOR] =
      g_param_spec_object ("advisor", NULL, NULL, QM_TYPE_ADVISOR,
                           G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY
                               | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);

  signals[MESSAGE] =
      g_signal_new ("message", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0,
                    NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_STRING);

  g_type_ensure (QM_TYPE_TERMS_BUTTON);
  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-results-view.ui");
  gtk_widget_class_bind_template_child (widget_class, QmResultsView, toolbar);
  gtk_widget_class_bind_template_child (widget_class, QmResultsView, scroller);
  gtk_widget_class_bind_template_child (widget_class, QmResultsView,
                                        linear_button);
  gtk_widget_class_bind_template_child (widget_class, QmResultsView,
                                        log_button);
  gtk_widget_class_bind_template_child (widget_class, QmResultsView,
                                        all_button);
  gtk_widget_class_bind_template_child (widget_class, QmResultsView, year);
  gtk_widget_class_bind_template_child (widget_class, QmResultsView, plots);
  gtk_widget_class_bind_template_child (widget_class, QmResultsView, card);
  gtk_widget_class_bind_template_child (widget_class, QmResultsView, table);
  install_actions (widget_class);
}

static void
qm_results_view_init (QmResultsView *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
