/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/plot/qm-advice-plot-private.h"

#include <math.h>

/* Markers of more GPUs than this would hide the plot. */
#define MAX_WEIGHT 32

/* What a cost may be is drawn where that is wider than this share of it. */
#define NARROW 0.02

/* --- Series -------------------------------------------------------------- */

GPtrArray *
qm_advice_plot_gpus (const QmCatalog *catalog)
{
  g_autoptr (GHashTable) measured = g_hash_table_new (NULL, NULL);
  GPtrArray *all = g_ptr_array_new ();
  size_t n_gpus;
  size_t n_measurements;
  const QmGpu *gpus = qm_catalog_gpus (catalog, &n_gpus);
  const QmMeasurement *measurements =
      qm_catalog_measurements (catalog, &n_measurements);

  for (size_t i = 0; i < n_measurements; i++)
    g_hash_table_add (measured, (gpointer) measurements[i].gpu);
  for (size_t i = 0; i < n_gpus; i++)
    if (g_hash_table_contains (measured, &gpus[i]))
      g_ptr_array_add (all, (gpointer) &gpus[i]);
  for (size_t i = 0; i < n_gpus; i++)
    if (!g_hash_table_contains (measured, &gpus[i]))
      g_ptr_array_add (all, (gpointer) &gpus[i]);
  return all;
}

/* GPU -> its style + 1. */
static GHashTable *
number_styles (const QmCatalog *catalog)
{
  g_autoptr (GPtrArray) gpus = qm_advice_plot_gpus (catalog);
  GHashTable *styles = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < gpus->len; i++)
    g_hash_table_insert (styles, g_ptr_array_index (gpus, i),
                         GUINT_TO_POINTER (i + 1));
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
cost_of_point (const QmAdvicePlot *self, const QmCandidate *candidate)
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
            ? (QmPlotInterval){ self->candidates[i].days_low,
                                self->candidates[i].days_high }
            : (QmPlotInterval){ NAN, NAN };
}

/* What is not on the frontier: another is both cheaper and faster.  Where there
 * is no frontier, nothing is better. */
static void
grey_out (QmAdvicePlot *self, guint n)
{
  if (self->data.n_frontier == 0)
    return;
  for (guint i = 0; i < n; i++)
    self->points[i].flags |= QM_PLOT_POINT_GREY;
  for (guint i = 0; i < self->data.n_frontier; i++)
    self->points[self->data.frontier[i]].flags &= (guint8) ~QM_PLOT_POINT_GREY;
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
        .x = cost_of_point (self, candidate),
        .y = candidate->days,
        .series =
            (guint16) GPOINTER_TO_UINT (g_hash_table_lookup (series, style)),
        .weight = weight_of (candidate),
        .provenance = (guint8) qm_advice_plot_provenance (candidate),
        .flags = verdict_flags (candidate),
      };
    }
  grey_out (self, n);
  fill_cost_intervals (self, n);
  fill_time_intervals (self, n);
}

void
_qm_advice_plot_choose_legend_weights (QmAdvicePlot *self)
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
  shown = MIN (n, QM_ADVICE_PLOT_LEGEND_WEIGHTS);
  for (guint i = 0; i < shown; i++)
    self->legend_weights[i] = all[shown > 1 ? i * (n - 1) / (shown - 1) : 0];
  self->data.legend_weights = self->legend_weights;
  self->data.n_legend_weights = shown;
}

void
_qm_advice_plot_fill (QmAdvicePlot *self, const QmCatalog *catalog)
{
  fill_points (self, catalog, self->data.n_points);
  self->data.points = self->points;
  self->data.x_intervals = self->x_intervals;
  self->data.y_intervals = self->y_intervals;
  self->data.series = (const QmPlotSeries *) (void *) self->series->data;
  self->data.n_series = self->series->len;
  _qm_advice_plot_choose_legend_weights (self);
}
