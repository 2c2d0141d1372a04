/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-standing-source.h"

#include "pricing/advice/qm-prose.h"
#include "pricing/qm-format.h"

#include <glib/gi18n-lib.h>
#include <math.h>

struct _QmStandingSource
{
  QmPlotSource parent_instance;

  QmCatalog *catalog;
  QmStanding standing;
  GArray *all;    /* QmStandingPoint, which the points are of, in their order */
  GArray *points; /* QmPlotPoint, and two more: the ends of the line */
  GArray *series; /* QmPlotSeries */
  int line[2];
  QmPlotZoom range;
  int hovered;
  char *hovered_label;
  QmPlotData data;
};

G_DEFINE_FINAL_TYPE (QmStandingSource, qm_standing_source, QM_TYPE_PLOT_SOURCE)

const char *
qm_standing_source_title (QmStanding standing)
{
  switch (standing)
    {
    case QM_STANDING_ORIGINAL:
      return _ ("GPU-days against the original trainings");
    case QM_STANDING_PEAK:
      return _ ("Days against those at the peak");
    case QM_STANDING_MEMORY:
      return _ ("What saving memory gains and costs");
    case QM_STANDING_FREE_LUNCH:
    case QM_N_STANDINGS:
    default:
      return _ ("What free-lunch settings gain");
    }
}

static const char *
x_title (QmStanding standing)
{
  switch (standing)
    {
    case QM_STANDING_ORIGINAL:
      return _ ("GPU-days of the original training");
    case QM_STANDING_PEAK:
      return _ ("Days by FLOPs at the peak");
    case QM_STANDING_MEMORY:
      return _ ("Days with free-lunch settings alone");
    case QM_STANDING_FREE_LUNCH:
    case QM_N_STANDINGS:
    default:
      return _ ("Days with naive settings");
    }
}

static const char *
y_title (QmStanding standing)
{
  switch (standing)
    {
    case QM_STANDING_ORIGINAL:
      return _ ("GPU-days, measured");
    case QM_STANDING_PEAK:
      return _ ("Days that are known");
    case QM_STANDING_MEMORY:
      return _ ("Days with methods that save memory, too");
    case QM_STANDING_FREE_LUNCH:
    case QM_N_STANDINGS:
    default:
      return _ ("Days with the best settings");
    }
}

static const char *
rank_name (QmStandingRank rank)
{
  return rank == QM_STANDING_BEST     ? C_ ("ways", "Fastest way")
         : rank == QM_STANDING_MIDDLE ? C_ ("ways", "Median of the ways")
                                      : C_ ("ways", "Slowest way");
}

/* The place of a point's GPU, or rank, among the series, which get it where
 * they do not have it. */
static guint
series_of (QmStandingSource *self, const QmStandingPoint *point)
{
  QmPlotSeries series = { self->standing == QM_STANDING_MEMORY
                              ? rank_name (point->rank)
                              : point->gpu->name,
                          self->series->len };

  for (guint i = 0; i < self->series->len; i++)
    if (g_str_equal (g_array_index (self->series, QmPlotSeries, i).name,
                     series.name))
      return i;
  g_array_append_val (self->series, series);
  return self->series->len - 1;
}

static void
add_end (QmStandingSource *self, double value, guint end)
{
  QmPlotPoint point = {
    .x = value, .y = value, .weight = 1, .flags = QM_PLOT_POINT_HIDDEN
  };

  self->line[end] = (int) self->points->len;
  g_array_append_val (self->points, point);
}

static void
fill_points (QmStandingSource *self)
{
  double least = INFINITY, most = 0;

  for (guint i = 0; i < self->all->len; i++)
    {
      const QmStandingPoint *one =
          &g_array_index (self->all, QmStandingPoint, i);
      QmPlotPoint point = {
        .x = one->x,
        .y = one->y,
        .series = (guint16) series_of (self, one),
        .weight = (guint16) CLAMP (one->gpus, 1, 32),
        .provenance = one->measured ? QM_PLOT_MEASURED : QM_PLOT_PUBLISHED,
        .flags = self->standing == QM_STANDING_PEAK && one->x > one->y
                     ? QM_PLOT_POINT_CROSSED
                     : QM_PLOT_POINT_NORMAL,
      };

      least = fmin (least, fmin (one->x, one->y));
      most = fmax (most, fmax (one->x, one->y));
      g_array_append_val (self->points, point);
    }
  if (self->all->len == 0)
    return;
  add_end (self, least, 0);
  add_end (self, most, 1);
}

static QmPlotAxis
axis (const char *title, double min, double max)
{
  return (QmPlotAxis){ .title = title,
                       .unit = QM_PLOT_UNIT_NUMBER,
                       .log = TRUE,
                       .min = min,
                       .max = max,
                       .limit = NAN };
}

static void
fill_data (QmStandingSource *self)
{
  self->data = (QmPlotData){
    .title = qm_standing_source_title (self->standing),
    .x = axis (x_title (self->standing), self->range.x_min, self->range.x_max),
    .y = axis (y_title (self->standing), self->range.y_min, self->range.y_max),
    .series = (const QmPlotSeries *) (gpointer) self->series->data,
    .n_series = self->series->len,
    .points = (const QmPlotPoint *) (gpointer) self->points->data,
    .n_points = self->points->len,
    .frontier = self->line,
    .n_frontier = self->points->len > self->all->len ? 2 : 0,
    .recommended = -1,
    .selected = -1,
    .hovered = self->hovered,
    .hovered_label = self->hovered_label,
    .provenance_names = { C_ ("times", "Published or reported"),
                          C_ ("times", "Measured") },
    .crossed_name = _ ("Impossible time"),
    .frontier_name = _ ("Both equal"),
    .empty_text = _ ("Nothing to show"),
  };
}

static const QmPlotData *
get_data (QmPlotSource *source)
{
  return &QM_STANDING_SOURCE (source)->data;
}

/* (transfer full) */
static char *
point_text (QmStandingSource *self, guint index)
{
  const QmStandingPoint *one =
      &g_array_index (self->all, QmStandingPoint, index);
  g_autofree char *x = qm_format_number (one->x, one->x < 10 ? 1 : 0);
  g_autofree char *y = qm_format_number (one->y, one->y < 10 ? 1 : 0);
  g_autofree char *source = one->measurement != NULL
                                ? qm_prose_source (one->measurement)
                                : g_strdup (rank_name (one->rank));

  return g_strdup_printf ("%s, %d × %s\n%s: %s\n%s: %s\n%s", one->model->name,
                          one->gpus, one->gpu->name, x_title (self->standing),
                          x, y_title (self->standing), y, source);
}

static void
set_hovered (QmPlotSource *source, int index)
{
  QmStandingSource *self = QM_STANDING_SOURCE (source);

  self->hovered = index;
  g_free (self->hovered_label);
  self->hovered_label = index >= 0 && (guint) index < self->all->len
                            ? point_text (self, (guint) index)
                            : NULL;
  fill_data (self);
}

static void
set_range (QmPlotSource *source, const QmPlotZoom *range)
{
  QmStandingSource *self = QM_STANDING_SOURCE (source);

  self->range = *range;
  fill_data (self);
}

/* "the fastest way takes 1.1 times as long" and so on.  (transfer full) */
static char *
sum_up_memory (QmStandingSource *self)
{
  char *numbers[QM_N_STANDING_RANKS];
  char *text;

  for (int i = 0; i < QM_N_STANDING_RANKS; i++)
    numbers[i] = qm_format_number (qm_standing_ratio (self->all, i), 2);
  text = g_strdup_printf (
      /* Translators: three numbers. */
      _ ("Half of these trainings take more than %s times as long in their "
         "fastest way that saves memory as with free-lunch settings alone, %s "
         "times in the median and %s times in the slowest, where all were "
         "measured."),
      numbers[0], numbers[1], numbers[2]);
  for (int i = 0; i < QM_N_STANDING_RANKS; i++)
    g_free (numbers[i]);
  return text;
}

char *
qm_standing_source_sum_up (QmStandingSource *self)
{
  const double ratio = qm_standing_ratio (self->all, QM_STANDING_BEST);
  g_autofree char *number = NULL;

  if (!isfinite (ratio))
    return g_strdup (_ ("Nothing is known to compare."));
  if (self->standing == QM_STANDING_MEMORY)
    return sum_up_memory (self);
  number = qm_format_number (ratio < 1 ? 1 / ratio : ratio, 1);
  switch (self->standing)
    {
    case QM_STANDING_ORIGINAL:
      return g_strdup_printf (
          ratio < 1
              /* Translators: a number. */
              ? _ ("Half of these trainings take less than 1/%s of the "
                   "GPU-days of the original one.")
              /* Translators: a number. */
              : _ ("Half of these trainings take more than %s times the "
                   "GPU-days of the original one."),
          number);
    case QM_STANDING_PEAK:
      /* Translators: a number. */
      return g_strdup_printf (
          _ ("Half of all trainings take more than %s times "
             "as long as their FLOPs at the peak of the "
             "GPUs. What lies below the line cannot be."),
          number);
    case QM_STANDING_FREE_LUNCH:
    case QM_STANDING_MEMORY:
    case QM_N_STANDINGS:
    default:
      /* Translators: a number. */
      return g_strdup_printf (_ ("Half of these trainings are more than %s "
                                 "times as fast with the best settings as with "
                                 "naive ones."),
                              number);
    }
}

static char *
describe_standing (QmPlotSource *source)
{
  QmStandingSource *self = QM_STANDING_SOURCE (source);
  g_autofree char *sum = qm_standing_source_sum_up (self);

  /* Translators: what a plot shows, a sentence about it. */
  return g_strdup_printf (_ ("%s. %s"),
                          qm_standing_source_title (self->standing), sum);
}

QmPlotSource *
qm_standing_source_new (const QmCatalog *catalog,
                        const QmStudy *study,
                        const char *folder,
                        QmStanding standing)
{
  QmStandingSource *self;

  g_return_val_if_fail (catalog != NULL && folder != NULL, NULL);

  self = g_object_new (QM_TYPE_STANDING_SOURCE, NULL);
  self->catalog = qm_catalog_ref (catalog);
  self->standing = standing;
  self->all = standing == QM_STANDING_MEMORY
                  ? qm_standing_memory_points (catalog, folder)
                  : qm_standing_points (catalog, study, standing);
  fill_points (self);
  fill_data (self);
  return QM_PLOT_SOURCE (self);
}

static void
qm_standing_source_finalize (GObject *object)
{
  QmStandingSource *self = QM_STANDING_SOURCE (object);

  g_clear_pointer (&self->all, g_array_unref);
  g_clear_pointer (&self->points, g_array_unref);
  g_clear_pointer (&self->series, g_array_unref);
  g_free (self->hovered_label);
  qm_catalog_free (self->catalog);

  G_OBJECT_CLASS (qm_standing_source_parent_class)->finalize (object);
}

static void
qm_standing_source_class_init (QmStandingSourceClass *klass)
{
  QmPlotSourceClass *source_class = QM_PLOT_SOURCE_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = qm_standing_source_finalize;

  source_class->get_data = get_data;
  source_class->set_hovered = set_hovered;
  source_class->set_range = set_range;
  source_class->describe = describe_standing;
}

static void
qm_standing_source_init (QmStandingSource *self)
{
  self->points = g_array_new (FALSE, FALSE, sizeof (QmPlotPoint));
  self->series = g_array_new (FALSE, FALSE, sizeof (QmPlotSeries));
  self->range = qm_plot_zoom_all ();
  self->hovered = -1;
}
