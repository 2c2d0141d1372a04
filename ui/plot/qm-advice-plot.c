/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-prose.h"
#include "pricing/advice/qm-shortlist.h"
#include "pricing/qm-format.h"
#include "ui/plot/qm-advice-plot.h"

#include <glib/gi18n-lib.h>
#include <math.h>

/* Markers of more GPUs than this would hide the plot. */
#define MAX_WEIGHT 32

#define MAX_LEGEND_WEIGHTS 5

/* What a cost may be is drawn where that is wider than this share of it. */
#define NARROW 0.02

struct _QmAdvicePlot
{
  QmAdvicePlotKind kind;
  gboolean portfolio;
  gboolean ownership; /* costs are totals */
  const QmAdvice *advice;
  const QmCandidate *candidates; /* the advice's */
  GHashTable *shortlist;         /* of QmGpu; NULL: all are shown */
  QmRecommendation told;         /* what is shown in any case */
  guint unit;                    /* of times: an index of units[] */
  QmPurse purse;                 /* that costs are told in */
  double rate;                   /* its major units of a USD without tax */
  QmPlotData data;
  QmPlotPoint *points;
  QmPlotInterval *x_intervals; /* NULL: all costs are known */
  QmPlotInterval *y_intervals; /* NULL: nothing is predicted */
  GArray *series;              /* QmPlotSeries */
  guint16 legend_weights[MAX_LEGEND_WEIGHTS];
  char *title;
  char *cost_title;
  char *budget_label;
  char *deadline_label;
  char *recommended_label;
  char *recommended_short;
  char *hovered_label;
};

/* --- Units --------------------------------------------------------------- */

enum
{
  UNIT_DAYS,
  UNIT_HOURS,
  UNIT_MINUTES,
  UNIT_SECONDS
};

/* Of each in a day. */
static const double units[] = { 1, 24, 24 * 60, 24 * 60 * 60 };

static double
in_unit (const QmAdvicePlot *self, double days)
{
  return days * units[self->unit];
}

/* Days, but where nothing takes one: the largest unit of which the longest time
 * has more than one. */
static void
choose_unit (QmAdvicePlot *self, guint n)
{
  double longest = 0;

  for (guint i = 0; i < n; i++)
    if (isfinite (self->candidates[i].days))
      longest = fmax (longest, self->candidates[i].days);
  self->unit = UNIT_DAYS;
  while (longest > 0 && in_unit (self, longest) < 1
         && self->unit < UNIT_SECONDS)
    self->unit++;
}

/* --- Series -------------------------------------------------------------- */

/* GPU -> its style + 1: first for those that have measurements, then for the
 * others, in the catalog's order. */
static GHashTable *
number_styles (const QmCatalog *catalog)
{
  g_autoptr (GHashTable) measured = g_hash_table_new (NULL, NULL);
  GHashTable *styles = g_hash_table_new (NULL, NULL);
  size_t n_gpus;
  size_t n_measurements;
  const QmGpu *gpus = qm_catalog_gpus (catalog, &n_gpus);
  const QmMeasurement *measurements =
      qm_catalog_measurements (catalog, &n_measurements);

  for (size_t i = 0; i < n_measurements; i++)
    g_hash_table_add (measured, (gpointer) measurements[i].gpu);
  for (size_t i = 0; i < n_gpus; i++)
    if (g_hash_table_contains (measured, &gpus[i]))
      g_hash_table_insert (styles, (gpointer) &gpus[i],
                           GUINT_TO_POINTER (g_hash_table_size (styles) + 1));
  for (size_t i = 0; i < n_gpus; i++)
    if (!g_hash_table_contains (measured, &gpus[i]))
      g_hash_table_insert (styles, (gpointer) &gpus[i],
                           GUINT_TO_POINTER (g_hash_table_size (styles) + 1));
  return styles;
}

static int
compare_styles (gconstpointer a, gconstpointer b)
{
  const QmPlotSeries *p = a;
  const QmPlotSeries *q = b;

  return (p->style > q->style) - (p->style < q->style);
}

/* Makes a series of each GPU that occurs, in the order of the styles.  Returns
 * GPU -> its style + 1. */
static GHashTable *
collect_series (QmAdvicePlot *self, const QmCatalog *catalog, guint n)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  GHashTable *styles = number_styles (catalog);

  for (guint i = 0; i < n; i++)
    {
      const QmGpu *gpu = self->candidates[i].gpu;
      QmPlotSeries series = { gpu->name, 0 };

      if (!g_hash_table_add (seen, (gpointer) gpu))
        continue;
      if (!g_hash_table_contains (styles, gpu))
        g_hash_table_insert (styles, (gpointer) gpu,
                             GUINT_TO_POINTER (g_hash_table_size (styles) + 1));
      series.style = GPOINTER_TO_UINT (g_hash_table_lookup (styles, gpu)) - 1;
      g_array_append_val (self->series, series);
    }
  g_array_sort (self->series, compare_styles);
  return styles;
}

/* style + 1 -> series */
static GHashTable *
index_series (const QmAdvicePlot *self)
{
  GHashTable *indices = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < self->series->len; i++)
    g_hash_table_insert (indices,
                         GUINT_TO_POINTER (
                             g_array_index (self->series, QmPlotSeries, i).style
                             + 1),
                         GUINT_TO_POINTER (i));
  return indices;
}

/* --- Points -------------------------------------------------------------- */

static guint16
weight_of (const QmCandidate *candidate)
{
  gint64 gpus = (gint64) candidate->gpus * candidate->machines;

  return (guint16) CLAMP (gpus, 1, MAX_WEIGHT);
}

QmPlotProvenance
qm_advice_plot_provenance (const QmCandidate *candidate)
{
  g_return_val_if_fail (candidate != NULL, QM_PLOT_PUBLISHED);

  if (candidate->predicted)
    return QM_PLOT_PREDICTED;
  if (candidate->measurement == NULL)
    return QM_PLOT_PUBLISHED;
  switch (candidate->measurement->provenance)
    {
    case QM_PROVENANCE_MEASURED:
      return QM_PLOT_MEASURED;
    case QM_PROVENANCE_PREDICTED:
      return QM_PLOT_PREDICTED;
    case QM_PROVENANCE_PUBLISHED:
    case QM_PROVENANCE_REPORTED:
    default:
      return QM_PLOT_PUBLISHED;
    }
}

static double
cost_of (const QmAdvicePlot *self, const QmCandidate *candidate)
{
  if (candidate->cost_minor < 0)
    return NAN;
  return self->rate
         * (self->kind == QM_ADVICE_PLOT_OVERALL
                ? (double) candidate->cost_minor / 100
                : candidate->experiment_cost);
}

static guint8
verdict_flags (const QmCandidate *candidate)
{
  return candidate->verdict == QM_VERDICT_IMPOSSIBLE ? QM_PLOT_POINT_CROSSED
                                                     : QM_PLOT_POINT_NORMAL;
}

/* What a cost may be, by what is known of the prices. */
static QmPlotInterval
cost_interval (const QmCandidate *candidate, double cost)
{
  double minor = (double) candidate->cost_minor;
  double low = (double) candidate->cost_low_minor;
  double high = (double) candidate->cost_high_minor;

  if (minor <= 0 || low < 0 || high < 0 || high - low <= NARROW * minor)
    return (QmPlotInterval){ NAN, NAN };
  /* An experiment's share of the cost is the same at both ends. */
  return (QmPlotInterval){ cost * low / minor, cost * high / minor };
}

static void
fill_cost_intervals (QmAdvicePlot *self, guint n)
{
  gboolean any = FALSE;

  self->x_intervals = g_new (QmPlotInterval, n);
  for (guint i = 0; i < n; i++)
    {
      self->x_intervals[i] =
          cost_interval (&self->candidates[i], self->points[i].x);
      any |= isfinite (self->x_intervals[i].low);
    }
  if (!any)
    g_clear_pointer (&self->x_intervals, g_free);
}

/* The bars of what is predicted. */
static void
fill_time_intervals (QmAdvicePlot *self, guint n)
{
  gboolean predicted = FALSE;

  for (guint i = 0; i < n; i++)
    predicted |= self->candidates[i].predicted;
  if (!predicted)
    return;
  self->y_intervals = g_new (QmPlotInterval, n);
  for (guint i = 0; i < n; i++)
    self->y_intervals[i] =
        self->candidates[i].predicted
            ? (QmPlotInterval){ in_unit (self, self->candidates[i].days_low),
                                in_unit (self, self->candidates[i].days_high) }
            : (QmPlotInterval){ NAN, NAN };
}

static void
fill_points (QmAdvicePlot *self, const QmCatalog *catalog, guint n)
{
  g_autoptr (GHashTable) styles = collect_series (self, catalog, n);
  g_autoptr (GHashTable) series = index_series (self);

  self->points = g_new (QmPlotPoint, n);
  for (guint i = 0; i < n; i++)
    {
      const QmCandidate *candidate = &self->candidates[i];
      gpointer style = g_hash_table_lookup (styles, candidate->gpu);

      self->points[i] = (QmPlotPoint){
        .x = cost_of (self, candidate),
        .y = in_unit (self, candidate->days),
        .series =
            (guint16) GPOINTER_TO_UINT (g_hash_table_lookup (series, style)),
        .weight = weight_of (candidate),
        .provenance = (guint8) qm_advice_plot_provenance (candidate),
        .flags = verdict_flags (candidate),
      };
    }
  fill_cost_intervals (self, n);
  fill_time_intervals (self, n);
}

/* Shows the areas of the counts that occur, a few from the least to the most
 * where there are many. */
static void
choose_legend_weights (QmAdvicePlot *self)
{
  gboolean occurs[MAX_WEIGHT + 1] = { FALSE };
  guint16 all[MAX_WEIGHT];
  guint n = 0;
  guint shown;

  for (guint i = 0; i < self->data.n_points; i++)
    if ((self->points[i].flags & QM_PLOT_POINT_HIDDEN) == 0)
      occurs[self->points[i].weight] = TRUE;
  for (guint16 weight = 1; weight <= MAX_WEIGHT; weight++)
    if (occurs[weight])
      all[n++] = weight;
  shown = MIN (n, MAX_LEGEND_WEIGHTS);
  for (guint i = 0; i < shown; i++)
    self->legend_weights[i] = all[shown > 1 ? i * (n - 1) / (shown - 1) : 0];
  self->data.legend_weights = self->legend_weights;
  self->data.n_legend_weights = shown;
}

/* The engine that all measured, or all predicted, times are of; unstated where
 * they differ. */
static QmEngine
common_engine (const QmAdvicePlot *self, QmPlotProvenance provenance)
{
  QmEngine common = QM_ENGINE_UNSTATED;
  gboolean first = TRUE;

  for (guint i = 0; i < self->data.n_points; i++)
    {
      const QmMeasurement *m = self->candidates[i].measurement;

      if (m == NULL || self->points[i].provenance != provenance)
        continue;
      if (!first && m->engine != common)
        return QM_ENGINE_UNSTATED;
      common = m->engine;
      first = FALSE;
    }
  return common;
}

static const char *
measured_name (QmEngine engine)
{
  switch (engine)
    {
    case QM_ENGINE_QUARTERMASTER:
      return C_ ("times", "Measured, Quartermaster");
    case QM_ENGINE_PYTORCH:
      return C_ ("times", "Measured, PyTorch");
    case QM_ENGINE_UNSTATED:
    default:
      return C_ ("times", "Measured");
    }
}

static const char *
predicted_name (QmEngine engine)
{
  switch (engine)
    {
    case QM_ENGINE_QUARTERMASTER:
      return C_ ("times", "Predicted, Quartermaster");
    case QM_ENGINE_PYTORCH:
      return C_ ("times", "Predicted, PyTorch");
    case QM_ENGINE_UNSTATED:
    default:
      return C_ ("times", "Predicted");
    }
}

/* Names how times are known, where they are not the published ones, which stand
 * alone. */
static void
name_provenances (QmAdvicePlot *self)
{
  gboolean told[QM_PLOT_PREDICTED + 1] = { FALSE };

  for (guint i = 0; i < self->data.n_points; i++)
    told[self->points[i].provenance] = TRUE;
  if (!told[QM_PLOT_MEASURED] && !told[QM_PLOT_PREDICTED])
    return;
  if (told[QM_PLOT_PUBLISHED])
    self->data.provenance_names[QM_PLOT_PUBLISHED] = C_ ("times", "Reported");
  if (told[QM_PLOT_MEASURED])
    self->data.provenance_names[QM_PLOT_MEASURED] =
        measured_name (common_engine (self, QM_PLOT_MEASURED));
  if (told[QM_PLOT_PREDICTED])
    self->data.provenance_names[QM_PLOT_PREDICTED] =
        predicted_name (common_engine (self, QM_PLOT_PREDICTED));
}

static const char *
time_title (const QmAdvicePlot *self)
{
  switch (self->unit)
    {
    case UNIT_HOURS:
      return self->portfolio ? _ ("Time of a year’s runs (hours)")
                             : _ ("Training time (hours)");
    case UNIT_MINUTES:
      return self->portfolio ? _ ("Time of a year’s runs (minutes)")
                             : _ ("Training time (minutes)");
    case UNIT_SECONDS:
      return self->portfolio ? _ ("Time of a year’s runs (seconds)")
                             : _ ("Training time (seconds)");
    case UNIT_DAYS:
    default:
      return self->portfolio ? _ ("Time of a year’s runs (days)")
                             : _ ("Training time (days)");
    }
}

/* "EUR", "EUR with tax". */
static char *
money_name (const QmPurse *purse)
{
  if (purse->tax_percent <= 0)
    return g_strdup (purse->currency);
  /* Translators: the code of a currency. */
  return g_strdup_printf (purse->gross ? _ ("%s with tax")
                                       : _ ("%s without tax"),
                          purse->currency);
}

static char *
cost_title (const QmAdvicePlot *self)
{
  g_autofree char *money = money_name (&self->purse);

  if (self->kind == QM_ADVICE_PLOT_OVERALL)
    return self->ownership
               /* Translators: the code of a currency, or "EUR with tax". */
               ? g_strdup_printf (_ ("Total cost of owning (%s)"), money)
               /* Translators: the code of a currency, or "EUR with tax". */
               : g_strdup_printf (_ ("Overall cost (%s)"), money);
  return self->portfolio
             /* Translators: the code of a currency, or "EUR with tax". */
             ? g_strdup_printf (_ ("Cost of a year’s runs (%s)"), money)
             /* Translators: the code of a currency, or "EUR with tax". */
             : g_strdup_printf (_ ("Experiment cost (%s)"), money);
}

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
    .title = time_title (self),
    .unit = QM_PLOT_UNIT_DAYS,
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
  self->told = (QmRecommendation){ QM_OUTCOME_NOTHING, -1, -1, -1, -1, -1, -1 };
  self->series = g_array_new (FALSE, FALSE, sizeof (QmPlotSeries));
  self->title = g_strdup (title);
  self->purse = purse != NULL ? *purse : qm_purse_default ();
  self->rate =
      qm_purse_from_usd (&self->purse, million, self->purse.gross) / 1e6;
  self->cost_title = cost_title (self);
  choose_unit (self, n);
  fill_points (self, catalog, n);
  data->title = self->title;
  set_axes (self, log);
  data->points = self->points;
  data->x_intervals = self->x_intervals;
  data->y_intervals = self->y_intervals;
  data->n_points = n;
  data->series = (const QmPlotSeries *) (void *) self->series->data;
  data->n_series = self->series->len;
  data->frontier =
      kind == QM_ADVICE_PLOT_OVERALL
          ? qm_advice_frontier (advice, &data->n_frontier)
          : qm_advice_experiment_frontier (advice, &data->n_frontier);
  data->recommended = data->selected = data->hovered = -1;
  data->legend = TRUE;
  data->weight_title = _ ("GPUs");
  data->crossed_name = _ ("Impossible time");
  data->stairs = TRUE;
  data->frontier_name = _ ("Pareto frontier");
  data->empty_text = _ ("Nothing to show");
  choose_legend_weights (self);
  name_provenances (self);
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
  g_free (self->cost_title);
  g_free (self->title);
  g_free (self->budget_label);
  g_free (self->deadline_label);
  g_free (self->recommended_label);
  g_free (self->recommended_short);
  g_free (self->hovered_label);
  g_free (self);
}

/* --- Shortlist ----------------------------------------------------------- */

/* Hides what is of no type of the shortlist, but for the ends of the frontier,
 * what the answer tells of, what is selected, and what is there already. */
static void
hide_others (QmAdvicePlot *self)
{
  const guint n = self->data.n_frontier;
  const int shown[] = { n > 0 ? self->data.frontier[0] : -1,
                        n > 0 ? self->data.frontier[n - 1] : -1,
                        self->data.selected,
                        self->told.best,
                        self->told.runner_up,
                        self->told.faster,
                        self->told.cheaper,
                        self->told.would_do,
                        self->told.denied };

  for (guint i = 0; i < self->data.n_points; i++)
    {
      self->points[i].flags &= (guint8) ~QM_PLOT_POINT_HIDDEN;
      if (self->shortlist != NULL && !self->candidates[i].here
          && !g_hash_table_contains (self->shortlist, self->candidates[i].gpu))
        self->points[i].flags |= QM_PLOT_POINT_HIDDEN;
    }
  for (guint i = 0; i < G_N_ELEMENTS (shown); i++)
    if (shown[i] >= 0 && shown[i] < (int) self->data.n_points)
      self->points[shown[i]].flags &= (guint8) ~QM_PLOT_POINT_HIDDEN;
  choose_legend_weights (self);
}

void
qm_advice_plot_set_shortlist (QmAdvicePlot *self, gboolean shortlist)
{
  g_return_if_fail (self != NULL);

  g_clear_pointer (&self->shortlist, g_hash_table_unref);
  if (shortlist)
    self->shortlist = qm_shortlist_new (self->advice);
  hide_others (self);
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
  self->data.y.limit = in_unit (self, deadline_days);
  if (qm_known (deadline_days))
    {
      days = qm_format_days (deadline_days);
      /* Translators: a number of days. */
      self->deadline_label = g_strdup_printf (_ ("Deadline %s"), days);
    }
  self->data.y.limit_label = self->deadline_label;
}

void
qm_advice_plot_set_limits (QmAdvicePlot *self,
                           gint64 budget_minor,
                           double deadline_days,
                           const QmRecommendation *recommendation)
{
  g_return_if_fail (self != NULL);

  for (guint i = 0; i < self->data.n_points; i++)
    {
      guint8 flags = self->points[i].flags & ~(guint8) QM_PLOT_POINT_DIMMED;

      if (!qm_candidate_within (&self->candidates[i], budget_minor,
                                deadline_days)
          || qm_candidate_is_aside (&self->candidates[i]))
        flags |= QM_PLOT_POINT_DIMMED;
      self->points[i].flags = flags;
    }
  /* A budget is an overall cost: among experiment costs it has no place. */
  if (self->kind == QM_ADVICE_PLOT_OVERALL)
    set_budget_line (self, budget_minor);
  set_deadline_line (self, deadline_days);
  set_recommended (self, recommendation != NULL ? recommendation->best : -1);
  if (recommendation != NULL)
    self->told = *recommendation;
  hide_others (self);
}

/* --- Single points ------------------------------------------------------- */

void
qm_advice_plot_set_selected (QmAdvicePlot *self, int index)
{
  g_return_if_fail (self != NULL);

  self->data.selected = index < (int) self->data.n_points ? index : -1;
  hide_others (self);
}

/* Takes the line. */
static void
add_line (GString *text, char *line)
{
  if (line == NULL)
    return;
  if (text->len > 0)
    g_string_append_c (text, '\n');
  g_string_append (text, line);
  g_free (line);
}

/* "119 % of the peak: impossible" */
static void
add_audit (GString *text, const QmCandidate *candidate)
{
  g_autofree char *share = NULL;

  if (!qm_known (candidate->implied_utilization))
    return;
  share = qm_format_percent (candidate->implied_utilization);
  /* Translators: a percentage, "ok", "doubtful" or "impossible". */
  add_line (text, g_strdup_printf (_ ("Utilization %s: %s"), share,
                                   qm_prose_verdict_name (candidate->verdict)));
}

/* What it costs in all, and what of that is the price. */
static void
add_cost (GString *text, const QmAdvicePlot *self, const QmCandidate *candidate)
{
  g_autofree char *cost = qm_purse_format (&self->purse, candidate->cost_minor);
  g_autofree char *price =
      qm_purse_format (&self->purse, candidate->price_minor);

  if (self->ownership)
    /* Translators: two amounts. */
    add_line (text, g_strdup_printf (_ ("Total cost of owning %s, price %s"),
                                     cost, price));
  else
    add_line (text, g_strdup_printf (_ ("Overall cost %s"), cost));
}

static char *
describe (const QmAdvicePlot *self, const QmCandidate *candidate)
{
  GString *text = g_string_new (NULL);
  g_autofree char *days = qm_format_days (candidate->days);
  g_autofree char *experiment =
      qm_format_money (self->rate * candidate->experiment_cost,
                       self->purse.currency, FALSE);
  g_autofree char *source = NULL;

  add_line (text, qm_prose_candidate (candidate));
  add_cost (text, self, candidate);
  add_line (text,
            g_strdup_printf (self->portfolio ? _ ("Time of a year’s runs %s")
                                             : _ ("Training time %s"),
                             days));
  add_line (text,
            g_strdup_printf (self->portfolio ? _ ("Cost of a year’s runs %s")
                                             : _ ("Experiment cost %s"),
                             experiment));
  add_audit (text, candidate);
  if (candidate->measurement != NULL)
    {
      g_autofree char *interval = qm_prose_interval (candidate);

      if (interval != NULL)
        /* Translators: "20 days to 30 days". */
        add_line (text, g_strdup_printf (_ ("Predicted within %s"), interval));
      source = qm_prose_source (candidate->measurement);
      /* Translators: "published (arXiv 2410.23261)". */
      add_line (text, g_strdup_printf (_ ("Time %s"), source));
    }
  add_line (text, qm_prose_price_basis (candidate));
  if (candidate->foreign)
    add_line (text, g_strdup (_ ("Of other software than asked for")));
  if (candidate->insufficient)
    add_line (text, g_strdup (_ ("Not enough for a year’s runs")));
  if (candidate->superseded)
    add_line (text, g_strdup (_ ("A measured time takes its place")));
  add_line (text, qm_prose_cost_interval (candidate, &self->purse));
  return g_string_free (text, FALSE);
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
    self->hovered_label = describe (self, &self->candidates[index]);
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

const QmPlotData *
qm_advice_plot_data (const QmAdvicePlot *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return &self->data;
}
