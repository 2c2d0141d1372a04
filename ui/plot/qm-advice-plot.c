/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-prose.h"
#include "pricing/advice/qm-shortlist.h"
#include "pricing/qm-format.h"
#include "ui/plot/qm-advice-plot-private.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

static void
set_axes (QmAdvicePlot *self, gboolean is_log)
{
  self->data.x = (QmPlotAxis){
    .title = self->cost_title,
    .unit = QM_PLOT_UNIT_MONEY,
    .currency = self->purse.currency,
    .log = is_log,
    .min = NAN,
    .max = NAN,
    .limit = NAN,
    .zero = TRUE, /* of this machine */
  };
  self->data.y = (QmPlotAxis){
    .title =
        self->portfolio ? _ ("Time of a year’s runs") : _ ("Training time"),
    .unit = QM_PLOT_UNIT_TIME,
    .log = is_log,
    .min = NAN,
    .max = NAN,
    .limit = NAN,
  };
}

QmAdvicePlot *
qm_advice_plot_new (const QmCatalog *catalog,
                    const QmAdvice *advice,
                    QmAdvicePlotKind kind,
                    const char *title,
                    const QmPurse *purse,
                    gboolean log)
{
  const gint64 million = G_GINT64_CONSTANT (100000000); /* in cents */
  QmAdvicePlot *self;
  QmPlotData *data;
  guint n;

  g_return_val_if_fail (catalog != NULL && advice != NULL, NULL);

  self = g_new0 (QmAdvicePlot, 1);
  data = &self->data;
  self->kind = kind;
  self->portfolio = qm_advice_is_portfolio (advice);
  self->ownership = qm_advice_counts_ownership (advice);
  self->advice = advice;
  self->candidates = qm_advice_candidates (advice, &n);
  memset (self->shown, -1, sizeof self->shown);
  self->told = (QmRecommendation){ QM_OUTCOME_NOTHING, -1, -1, -1, -1, -1, -1 };
  self->series = g_array_new (FALSE, FALSE, sizeof (QmPlotSeries));
  self->title = g_strdup (title);
  self->purse = purse != NULL ? *purse : qm_purse_default ();
  self->rate =
      qm_purse_from_usd (&self->purse, million, self->purse.gross) / 1e6;
  self->cost_title = _qm_advice_plot_cost_title (self);
  data->title = self->title;
  data->n_points = n;
  data->frontier =
      kind == QM_ADVICE_PLOT_OVERALL
          ? qm_advice_frontier (advice, &data->n_frontier)
          : qm_advice_experiment_frontier (advice, &data->n_frontier);
  _qm_advice_plot_fill (self, catalog);
  set_axes (self, log);
  data->recommended = data->selected = data->hovered = -1;
  data->legend = TRUE;
  data->weight_title = _ ("GPUs");
  data->crossed_name = _ ("Impossible time");
  /* Translators: of points of a plot: another machine is both cheaper and
   * faster. */
  data->grey_name = _ ("Beaten in cost and time");
  data->stairs = TRUE;
  data->frontier_name = _ ("Pareto frontier");
  data->empty_text = _ ("Nothing to show");
  _qm_advice_plot_name_provenances (self);
  _qm_advice_plot_name_frontier (self);
  return self;
}

void
qm_advice_plot_free (QmAdvicePlot *self)
{
  if (self == NULL)
    return;
  g_clear_pointer (&self->shortlist, g_hash_table_unref);
  g_free (self->points);
  g_free (self->x_intervals);
  g_free (self->y_intervals);
  g_array_unref (self->series);
  g_strfreev (self->frontier_names);
  g_strfreev (self->frontier_short_names);
  g_free (self->cost_title);
  g_free (self->title);
  g_free (self->budget_label);
  g_free (self->deadline_label);
  g_free (self->recommended_label);
  g_free (self->recommended_short);
  g_free (self->hovered_label);
  g_free (self->note);
  g_free (self->summary);
  g_free (self);
}

/* --- Shortlist ----------------------------------------------------------- */

/* Both ends of the frontier, what is selected, and what the answer tells of;
 * -1: there is none. */
static void
find_shown (const QmAdvicePlot *self, int shown[QM_ADVICE_PLOT_SHOWN])
{
  const guint n = self->data.n_frontier;
  const int found[QM_ADVICE_PLOT_SHOWN] = {
    n > 0 ? self->data.frontier[0] : -1,
    n > 0 ? self->data.frontier[n - 1] : -1,
    self->data.selected,
    self->told.best,
    self->told.sooner,
    self->told.runner_up,
    self->told.faster,
    self->told.cheaper,
    self->told.would_do,
    self->told.denied,
  };

  for (guint i = 0; i < QM_ADVICE_PLOT_SHOWN; i++)
    shown[i] = found[i] < (int) self->data.n_points ? found[i] : -1;
}

/* Hides a point that is of no type of the shortlist, unless it is there
 * already.  Returns whether it is hidden. */
static gboolean
hide_other (QmAdvicePlot *self, guint i)
{
  gboolean hidden =
      self->shortlist != NULL && !self->candidates[i].here
      && !g_hash_table_contains (self->shortlist, self->candidates[i].gpu);

  self->points[i].flags &= (guint8) ~QM_PLOT_POINT_HIDDEN;
  if (hidden)
    self->points[i].flags |= QM_PLOT_POINT_HIDDEN;
  return hidden;
}

/* Hides what is of no type of the shortlist, but for what is shown in any case.
 * For every move of a slider: looks at none but the points that are that, or
 * were.  Returns whether others are hidden than before. */
static gboolean
hide_others (QmAdvicePlot *self)
{
  int shown[QM_ADVICE_PLOT_SHOWN];
  gboolean changed = FALSE;

  find_shown (self, shown);
  for (guint i = 0; i < G_N_ELEMENTS (shown); i++)
    if (shown[i] >= 0)
      changed |= (self->points[shown[i]].flags & QM_PLOT_POINT_HIDDEN) != 0;
  for (guint i = 0; i < G_N_ELEMENTS (shown); i++)
    if (self->shown[i] >= 0)
      hide_other (self, (guint) self->shown[i]);
  for (guint i = 0; i < G_N_ELEMENTS (shown); i++)
    if (shown[i] >= 0)
      self->points[shown[i]].flags &= (guint8) ~QM_PLOT_POINT_HIDDEN;
  for (guint i = 0; i < G_N_ELEMENTS (shown); i++)
    if (self->shown[i] >= 0)
      changed |=
          (self->points[self->shown[i]].flags & QM_PLOT_POINT_HIDDEN) != 0;
  memcpy (self->shown, shown, sizeof shown);
  if (changed)
    _qm_advice_plot_choose_legend_weights (self);
  return changed;
}

void
qm_advice_plot_set_shortlist (QmAdvicePlot *self, gboolean shortlist)
{
  g_return_if_fail (self != NULL);

  g_clear_pointer (&self->shortlist, g_hash_table_unref);
  if (shortlist)
    self->shortlist = qm_shortlist_new (self->advice);
  for (guint i = 0; i < self->data.n_points; i++)
    hide_other (self, i);
  hide_others (self);
  _qm_advice_plot_choose_legend_weights (self);
}

/* --- Limits -------------------------------------------------------------- */

static void
set_recommended (QmAdvicePlot *self, int index)
{
  g_autofree char *what = NULL;
  g_autofree char *days = NULL;

  if (index >= (int) self->data.n_points)
    index = -1;
  if (index == self->data.recommended)
    return;
  self->data.recommended = index;
  g_clear_pointer (&self->recommended_label, g_free);
  g_clear_pointer (&self->recommended_short, g_free);
  if (index >= 0)
    {
      what = qm_prose_candidate (&self->candidates[index]);
      days = qm_format_days (self->candidates[index].days);
      /* Translators: a machine, its training time. */
      self->recommended_label = g_strdup_printf (_ ("%s, %s"), what, days);
      self->recommended_short = g_steal_pointer (&days);
    }
  self->data.recommended_label = self->recommended_label;
  self->data.recommended_short = self->recommended_short;
}

static void
set_budget_line (QmAdvicePlot *self, gint64 budget_minor)
{
  g_autofree char *amount = NULL;

  g_clear_pointer (&self->budget_label, g_free);
  self->data.x.limit = NAN;
  if (budget_minor >= 0)
    {
      self->data.x.limit = self->rate * (double) budget_minor / 100;
      amount = qm_purse_format (&self->purse, budget_minor);
      /* Translators: an amount of money. */
      self->budget_label = g_strdup_printf (_ ("Budget %s"), amount);
    }
  self->data.x.limit_label = self->budget_label;
}

static void
set_deadline_line (QmAdvicePlot *self, double deadline_days)
{
  g_autofree char *days = NULL;

  g_clear_pointer (&self->deadline_label, g_free);
  self->data.y.limit = deadline_days;
  if (qm_known (deadline_days))
    {
      days = qm_format_days (deadline_days);
      /* Translators: a number of days. */
      self->deadline_label = g_strdup_printf (_ ("Deadline %s"), days);
    }
  self->data.y.limit_label = self->deadline_label;
}

gboolean
qm_advice_plot_set_limits (QmAdvicePlot *self,
                           gint64 budget_minor,
                           double deadline_days,
                           const QmRecommendation *recommendation)
{
  gboolean changed = FALSE;

  g_return_val_if_fail (self != NULL, FALSE);

  for (guint i = 0; i < self->data.n_points; i++)
    {
      guint8 flags = self->points[i].flags & ~(guint8) QM_PLOT_POINT_DIMMED;

      if (!qm_candidate_within (&self->candidates[i], budget_minor,
                                deadline_days)
          || self->candidates[i].superseded)
        flags |= QM_PLOT_POINT_DIMMED;
      changed |= flags != self->points[i].flags;
      self->points[i].flags = flags;
    }
  /* A budget is an overall cost: among experiment costs it has no place. */
  if (self->kind == QM_ADVICE_PLOT_OVERALL)
    set_budget_line (self, budget_minor);
  set_deadline_line (self, deadline_days);
  set_recommended (self, recommendation != NULL ? recommendation->best : -1);
  if (recommendation != NULL)
    self->told = *recommendation;
  return hide_others (self) || changed;
}

/* --- Single points ------------------------------------------------------- */

void
qm_advice_plot_set_selected (QmAdvicePlot *self, int index)
{
  g_return_if_fail (self != NULL);

  self->data.selected = index < (int) self->data.n_points ? index : -1;
  hide_others (self);
}

void
qm_advice_plot_set_hovered (QmAdvicePlot *self, int index)
{
  g_return_if_fail (self != NULL);

  if (index >= (int) self->data.n_points)
    index = -1;
  if (index == self->data.hovered)
    return;
  self->data.hovered = index;
  g_clear_pointer (&self->hovered_label, g_free);
  if (index >= 0)
    self->hovered_label =
        _qm_advice_plot_describe (self, &self->candidates[index]);
  self->data.hovered_label = self->hovered_label;
}

void
qm_advice_plot_set_range (
    QmAdvicePlot *self, double x_min, double x_max, double y_min, double y_max)
{
  g_return_if_fail (self != NULL);

  self->data.x.min = x_min;
  self->data.x.max = x_max;
  self->data.y.min = y_min;
  self->data.y.max = y_max;
}

void
qm_advice_plot_set_legend (QmAdvicePlot *self, gboolean legend)
{
  g_return_if_fail (self != NULL);

  self->data.legend = legend;
}

void
qm_advice_plot_set_words (QmAdvicePlot *self,
                          const QmQuestion *question,
                          const QmRecommendation *recommendation,
                          QmDate today)
{
  g_autofree char *date = qm_format_date (today);
  g_autofree char *asked = NULL;
  g_autofree char *headline = NULL;
  g_autofree char *count = NULL;

  g_return_if_fail (self != NULL && question != NULL);
  g_return_if_fail (recommendation != NULL);

  asked = qm_prose_question (question);
  headline = qm_prose_headline (self->advice, question, recommendation);
  count = g_strdup_printf (ngettext ("%u candidate", "%u candidates",
                                     self->data.n_points),
                           self->data.n_points);
  g_free (self->note);
  /* Translators: a version, a date, what was asked. */
  self->note = g_strdup_printf (_ ("Source: Quartermaster %s, %s. %s"),
                                QM_VERSION, date, asked);
  if (self->shortlist != NULL)
    {
      g_autofree char *note = g_steal_pointer (&self->note);

      /* Translators: source, date and what was asked, all in one line. */
      self->note = g_strdup_printf (_ ("%s; some of the types of GPU"), note);
    }
  g_free (self->summary);
  /* Translators: what a plot shows, of which model, "16 candidates", the
   * recommendation. */
  self->summary = g_strdup_printf (_ ("%s, %s: %s. %s"), self->data.x.title,
                                   self->data.title, count, headline);
  self->data.note = self->note;
  self->data.summary = self->summary;
}

const QmPlotData *
qm_advice_plot_data (const QmAdvicePlot *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return &self->data;
}
