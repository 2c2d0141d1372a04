/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-plot-set.h"

#include <glib/gi18n-lib.h>

struct _QmPlotSet
{
  QmPlotSetKinds kinds;
  guint n_topics;
  GPtrArray *plots; /* QmAdvicePlot */
  GPtrArray *data;  /* const QmPlotData */
};

/* Beside other models the axis has to say what is shown: small multiples have
 * no room for both. */
static char *
title_of (QmAdvisor *advisor, guint topic, QmAdvicePlotKind kind)
{
  const char *model = qm_advisor_get_title (advisor, topic);

  if (qm_advisor_get_n_topics (advisor) > 1)
    return g_strdup (model);
  if (kind == QM_ADVICE_PLOT_OVERALL)
    /* Translators: name of a model. */
    return g_strdup_printf (_ ("%s: overall cost"), model);
  if (qm_advice_is_portfolio (qm_advisor_get_advice (advisor, topic)))
    return g_strdup (_ ("Cost of a year’s runs"));
  /* Translators: name of a model. */
  return g_strdup_printf (_ ("%s: cost of one experiment"), model);
}

static QmAdvicePlot *
make_plot (QmAdvisor *advisor, guint topic, QmAdvicePlotKind kind)
{
  g_autofree char *title = title_of (advisor, topic, kind);
  QmAdvicePlot *plot;
  guint selected_topic, selected;
  gboolean log_axes, all_gpus;

  g_object_get (advisor, "log-axes", &log_axes, "all-gpus", &all_gpus, NULL);
  plot = qm_advice_plot_new (
      qm_advisor_get_catalog (advisor), qm_advisor_get_advice (advisor, topic),
      kind, title, &qm_advisor_get_question (advisor, topic)->purse, log_axes);
  qm_advice_plot_set_shortlist (plot, !all_gpus);
  qm_advice_plot_set_legend (plot, TRUE);
  qm_advice_plot_set_limits (plot, qm_advisor_get_budget_minor (advisor),
                             qm_advisor_get_deadline_days (advisor),
                             qm_advisor_get_recommendation (advisor, topic));
  qm_advice_plot_set_words (plot, qm_advisor_get_question (advisor, topic),
                            qm_advisor_get_recommendation (advisor, topic),
                            qm_date_today ());
  if (qm_advisor_get_selected (advisor, &selected_topic, &selected)
      && selected_topic == topic)
    qm_advice_plot_set_selected (plot, (int) selected);
  return plot;
}

QmPlotSet *
qm_plot_set_new (QmAdvisor *advisor, QmPlotSetKinds kinds)
{
  QmPlotSet *set;

  g_return_val_if_fail (QM_IS_ADVISOR (advisor), NULL);

  set = g_new0 (QmPlotSet, 1);
  set->kinds = kinds;
  set->n_topics = qm_advisor_get_n_topics (advisor);
  set->plots =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_advice_plot_free);
  set->data = g_ptr_array_new ();
  for (guint kind = 0; kind < 2; kind++)
    for (guint i = 0; i < set->n_topics; i++)
      if ((kinds & (1u << kind)) != 0)
        g_ptr_array_add (set->plots, make_plot (advisor, i, kind));
  qm_advice_plot_share ((QmAdvicePlot *const *) set->plots->pdata,
                        set->plots->len);
  return set;
}

void
qm_plot_set_free (QmPlotSet *set)
{
  if (set == NULL)
    return;
  g_ptr_array_unref (set->plots);
  g_ptr_array_unref (set->data);
  g_free (set);
}

void
qm_plot_set_set_range (QmPlotSet *set,
                       guint topic,
                       QmAdvicePlotKind kind,
                       const double range[4])
{
  guint first = 0;

  g_return_if_fail (set != NULL && range != NULL);

  if (topic >= set->n_topics || (set->kinds & (1u << kind)) == 0)
    return;
  if (kind == QM_ADVICE_PLOT_EXPERIMENT
      && (set->kinds & QM_PLOT_SET_OVERALL) != 0)
    first = set->n_topics;
  qm_advice_plot_set_range (g_ptr_array_index (set->plots, first + topic),
                            range[0], range[1], range[2], range[3]);
}

const QmPlotData *const *
qm_plot_set_data (QmPlotSet *set, guint *n)
{
  g_return_val_if_fail (set != NULL && n != NULL, NULL);

  g_ptr_array_set_size (set->data, 0);
  for (guint i = 0; i < set->plots->len; i++)
    g_ptr_array_add (set->data, (gpointer) qm_advice_plot_data (
                                    g_ptr_array_index (set->plots, i)));
  *n = set->data->len;
  return (const QmPlotData *const *) set->data->pdata;
}
