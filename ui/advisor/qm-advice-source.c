/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-advice-source.h"

#include "pricing/advice/qm-prose.h"

#include <glib/gi18n-lib.h>
#include <string.h>

struct _QmAdviceSource
{
  QmPlotSource parent_instance;

  QmAdvisor *advisor;
  guint topic;
  QmAdvicePlotKind kind;

  QmAdvicePlot *plot;
  char *title;   /* of the topic that was shown last */
  QmPurse purse; /* and the money */
};

G_DEFINE_FINAL_TYPE (QmAdviceSource, qm_advice_source, QM_TYPE_PLOT_SOURCE)

static const char *
kind_title (QmAdviceSource *self)
{
  if (self->kind == QM_ADVICE_PLOT_OVERALL)
    return _ ("Overall cost");
  if (self->topic < qm_advisor_get_n_topics (self->advisor)
      && qm_advice_is_portfolio (
          qm_advisor_get_advice (self->advisor, self->topic)))
    return _ ("Cost of a year’s runs");
  return _ ("Cost of one experiment");
}

static const QmPlotData *
get_data (QmPlotSource *source)
{
  QmAdviceSource *self = QM_ADVICE_SOURCE (source);

  return self->plot != NULL ? qm_advice_plot_data (self->plot) : NULL;
}

/* "16 candidates", "16 of 60 candidates".  (transfer full) */
static char *
count_text (const QmPlotData *data)
{
  guint shown = 0;

  for (guint i = 0; i < data->n_points; i++)
    shown += (data->points[i].flags & QM_PLOT_POINT_HIDDEN) == 0;
  if (shown == data->n_points)
    return g_strdup_printf (ngettext ("%u candidate", "%u candidates", shown),
                            shown);
  /* Translators: how many a plot shows, and how many there are. */
  return g_strdup_printf (ngettext ("%u of %u candidate", "%u of %u candidates",
                                    data->n_points),
                          shown, data->n_points);
}

static char *
describe_advice (QmPlotSource *source)
{
  QmAdviceSource *self = QM_ADVICE_SOURCE (source);
  const QmPlotData *data = get_data (source);
  const QmAdvice *advice;
  g_autofree char *count = NULL;
  g_autofree char *headline = NULL;

  if (data == NULL)
    return g_strdup (kind_title (self));
  advice = qm_advisor_get_advice (self->advisor, self->topic);
  count = count_text (data);
  headline = qm_prose_headline (
      advice, qm_advisor_get_question (self->advisor, self->topic),
      qm_advisor_get_recommendation (self->advisor, self->topic));
  /* Translators: what a plot shows, of which model, "16 candidates", the
   * recommendation. */
  return g_strdup_printf (_ ("%s, %s: %s. %s"), kind_title (self),
                          qm_advisor_get_title (self->advisor, self->topic),
                          count, headline);
}

/* The advisor answers a question that has changed when it is asked. */
static void
settle (QmPlotSource *source)
{
  qm_advisor_get_n_topics (QM_ADVICE_SOURCE (source)->advisor);
}

static void
set_hovered (QmPlotSource *source, int index)
{
  qm_advice_plot_set_hovered (QM_ADVICE_SOURCE (source)->plot, index);
}

static void
set_range (QmPlotSource *source, const QmPlotZoom *range)
{
  QmAdviceSource *self = QM_ADVICE_SOURCE (source);

  if (self->plot != NULL)
    qm_advice_plot_set_range (self->plot, range->x_min, range->x_max,
                              range->y_min, range->y_max);
}

static gboolean
select_point (QmPlotSource *source, int index)
{
  QmAdviceSource *self = QM_ADVICE_SOURCE (source);
  gboolean selected = qm_advisor_get_selected (self->advisor, NULL, NULL);

  if (index >= 0)
    qm_advisor_select (self->advisor, self->topic, (guint) index);
  else
    qm_advisor_unselect (self->advisor);
  return selected;
}

static GMenuModel *
create_menu (QmPlotSource *source)
{
  const char *kind = QM_ADVICE_SOURCE (source)->kind == QM_ADVICE_PLOT_OVERALL
                         ? "overall"
                         : "experiment";
  GMenu *menu = g_menu_new ();
  g_autoptr (GMenuItem) copy = g_menu_item_new (_ ("_Copy This Plot"), NULL);
  g_autoptr (GMenuItem) save = g_menu_item_new (_ ("_Export This Plot…"), NULL);

  g_menu_item_set_action_and_target (copy, "results.copy-kind", "s", kind);
  g_menu_item_set_action_and_target (save, "results.export-kind", "s", kind);
  g_menu_append_item (menu, copy);
  g_menu_append_item (menu, save);
  g_menu_append (menu, _ ("_Show Everything"), "results.zoom-reset");
  return G_MENU_MODEL (menu);
}

/* Following the advisor. */

static gboolean
update_selected (QmAdviceSource *self)
{
  guint topic, candidate;
  int selected = -1;
  const QmPlotData *data;

  if (qm_advisor_get_selected (self->advisor, &topic, &candidate)
      && topic == self->topic)
    selected = (int) candidate;
  data = get_data (QM_PLOT_SOURCE (self));
  if (data == NULL || data->selected == selected)
    return FALSE;
  qm_advice_plot_set_selected (self->plot, selected);
  return TRUE;
}

/* Whether points look otherwise. */
static gboolean
apply_limits (QmAdviceSource *self)
{
  return qm_advice_plot_set_limits (
      self->plot, qm_advisor_get_budget_minor (self->advisor),
      qm_advisor_get_deadline_days (self->advisor),
      qm_advisor_get_recommendation (self->advisor, self->topic));
}

/* Whether an amount is another number in them. */
static gboolean
counts_otherwise (const QmPurse *a, const QmPurse *b)
{
  const gint64 million = G_GINT64_CONSTANT (100000000);

  return strcmp (a->currency, b->currency) != 0
         || qm_purse_from_usd (a, million, a->gross)
                != qm_purse_from_usd (b, million, b->gross);
}

/* Makes the plot of the topic as it is now.  Whether it is of another topic
 * than before, or in other money. */
static gboolean
make_plot (QmAdviceSource *self)
{
  /* Asking may bring us here once more: before anything is made. */
  guint n_topics = qm_advisor_get_n_topics (self->advisor);
  const QmPurse *purse;
  gboolean log_axes, all_gpus, other;
  const char *title;

  g_clear_pointer (&self->plot, qm_advice_plot_free);
  if (self->topic >= n_topics)
    return FALSE;
  title = qm_advisor_get_title (self->advisor, self->topic);
  purse = &qm_advisor_get_question (self->advisor, self->topic)->purse;
  g_object_get (self->advisor, "log-axes", &log_axes, "all-gpus", &all_gpus,
                NULL);
  self->plot =
      qm_advice_plot_new (qm_advisor_get_catalog (self->advisor),
                          qm_advisor_get_advice (self->advisor, self->topic),
                          self->kind, n_topics > 1 ? title : kind_title (self),
                          purse, log_axes);
  qm_advice_plot_set_shortlist (self->plot, !all_gpus);
  qm_advice_plot_set_legend (self->plot, FALSE);
  apply_limits (self);
  update_selected (self);
  other = g_strcmp0 (title, self->title) != 0
          || counts_otherwise (purse, &self->purse);
  g_free (self->title);
  self->title = g_strdup (title);
  self->purse = *purse;
  return other;
}

static void
advice_rebuilt_cb (QmAdviceSource *self)
{
  qm_plot_source_rebuilt (QM_PLOT_SOURCE (self), make_plot (self));
}

/* Other axes, or other points. */
static void
view_changed_cb (QmAdviceSource *self)
{
  make_plot (self);
  qm_plot_source_rebuilt (QM_PLOT_SOURCE (self), TRUE);
}

static void
source_limits_cb (QmAdviceSource *self)
{
  if (self->plot == NULL)
    return;
  /* The least moves dim nothing: points stay as they are drawn. */
  qm_plot_source_changed (QM_PLOT_SOURCE (self), apply_limits (self)
                                                     ? QM_PLOT_SOURCE_POINTS
                                                     : QM_PLOT_SOURCE_OVERLAY);
}

static void
selection_changed_cb (QmAdviceSource *self)
{
  gboolean all_gpus;

  g_object_get (self->advisor, "all-gpus", &all_gpus, NULL);
  /* What a shortlist hides is shown while it is selected. */
  if (update_selected (self))
    qm_plot_source_changed (QM_PLOT_SOURCE (self), all_gpus
                                                       ? QM_PLOT_SOURCE_OVERLAY
                                                       : QM_PLOT_SOURCE_POINTS);
}

QmPlotSource *
qm_advice_source_new (QmAdvisor *advisor, guint topic, QmAdvicePlotKind kind)
{
  QmAdviceSource *self;

  g_return_val_if_fail (QM_IS_ADVISOR (advisor), NULL);

  self = g_object_new (QM_TYPE_ADVICE_SOURCE, NULL);
  self->advisor = g_object_ref (advisor);
  self->topic = topic;
  self->kind = kind;
  g_signal_connect_object (advisor, "rebuilt", G_CALLBACK (advice_rebuilt_cb),
                           self, G_CONNECT_SWAPPED);
  g_signal_connect_object (advisor, "limits-changed",
                           G_CALLBACK (source_limits_cb), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (advisor, "selection-changed",
                           G_CALLBACK (selection_changed_cb), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (advisor, "notify::log-axes",
                           G_CALLBACK (view_changed_cb), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (advisor, "notify::all-gpus",
                           G_CALLBACK (view_changed_cb), self,
                           G_CONNECT_SWAPPED);
  make_plot (self);
  return QM_PLOT_SOURCE (self);
}

void
qm_advice_source_share (QmAdviceSource *const *sources, guint n)
{
  g_autofree QmAdvicePlot **plots = g_new0 (QmAdvicePlot *, n + 1);
  guint n_plots = 0;

  for (guint i = 0; i < n; i++)
    if (sources[i]->plot != NULL)
      plots[n_plots++] = sources[i]->plot;
  qm_advice_plot_share (plots, n_plots);
  for (guint i = 0; i < n; i++)
    qm_plot_source_rebuilt (QM_PLOT_SOURCE (sources[i]), FALSE);
}

static void
qm_advice_source_finalize (GObject *object)
{
  QmAdviceSource *self = QM_ADVICE_SOURCE (object);

  g_clear_pointer (&self->plot, qm_advice_plot_free);
  g_clear_object (&self->advisor);
  g_free (self->title);

  G_OBJECT_CLASS (qm_advice_source_parent_class)->finalize (object);
}

static void
qm_advice_source_class_init (QmAdviceSourceClass *klass)
{
  QmPlotSourceClass *source_class = QM_PLOT_SOURCE_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = qm_advice_source_finalize;

  source_class->settle = settle;
  source_class->get_data = get_data;
  source_class->set_hovered = set_hovered;
  source_class->set_range = set_range;
  source_class->describe = describe_advice;
  source_class->select = select_point;
  source_class->create_menu = create_menu;
}

static void
qm_advice_source_init (QmAdviceSource *self)
{
}
