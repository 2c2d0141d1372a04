/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/plot/qm-plot-clutter.h"

#include <math.h>

/* A share of more markers than this tells as much as all of them. */
#define ENOUGH 2000

#define CELL      5.0
#define MAX_CELLS 512 /* a side */

/* What it costs to cover another label, in cells with a marker, and to be a
 * step further away than need be. */
#define LABEL_COST    1000.0
#define DISTANCE_COST 1.5

/* The cell of a position, kept within 0 to `n`; `up` rounds up. */
static int
cell_at (double position, int n, gboolean up)
{
  int cell;

  if (!(position > 0))
    return 0;
  if (position >= n)
    return n;
  cell = (int) position;
  return up && cell < position ? cell + 1 : cell;
}

/* The cells that a box touches; end is one beyond the last. */
static void
cells_of (const QmPlotClutter *clutter,
          const QmPlotBox *box,
          int *column,
          int *row,
          int *column_end,
          int *row_end)
{
  double x = (box->x - clutter->area.x) * clutter->columns_per_unit;
  double y = (box->y - clutter->area.y) * clutter->rows_per_unit;
  double width = box->width * clutter->columns_per_unit;
  double height = box->height * clutter->rows_per_unit;

  *column = cell_at (x, clutter->columns, FALSE);
  *row = cell_at (y, clutter->rows, FALSE);
  *column_end = cell_at (x + width, clutter->columns, TRUE);
  *row_end = cell_at (y + height, clutter->rows, TRUE);
}

static int *
sum_at (const QmPlotClutter *clutter, int column, int row)
{
  return &clutter->sums[row * (clutter->columns + 1) + column];
}

/* Two-dimensional differences: summing them once gives the markers and bars in
 * each cell. */
static void
add_box (QmPlotClutter *clutter, const QmPlotBox *box)
{
  int column;
  int row;
  int column_end;
  int row_end;

  cells_of (clutter, box, &column, &row, &column_end, &row_end);
  if (column >= column_end || row >= row_end)
    return;
  ++*sum_at (clutter, column, row);
  --*sum_at (clutter, column_end, row);
  --*sum_at (clutter, column, row_end);
  ++*sum_at (clutter, column_end, row_end);
}

/* The bars of a point that lies at (x, y). */
static void
add_bars (QmPlotClutter *clutter,
          const QmPlotData *data,
          const QmPlotProjection *projection,
          const QmPlotSpot *spot)
{
  const QmPlotPoint *point = &data->points[spot->index];
  const QmPlotInterval *of_x =
      qm_plot_interval_at (&data->x, data->x_intervals, spot->index);
  const QmPlotInterval *of_y =
      qm_plot_interval_at (&data->y, data->y_intervals, spot->index);
  double from, to, unused;

  if (of_x != NULL)
    {
      qm_plot_project (projection, of_x->low, point->y, &from, &unused);
      qm_plot_project (projection, of_x->high, point->y, &to, &unused);
      add_box (clutter, &(QmPlotBox){ from, spot->y, to - from, 1 });
    }
  if (of_y != NULL)
    {
      qm_plot_project (projection, point->x, of_y->low, &unused, &from);
      qm_plot_project (projection, point->x, of_y->high, &unused, &to);
      add_box (clutter, &(QmPlotBox){ spot->x, to, 1, from - to });
    }
}

/* A line that runs along an axis, or its corners where it does not. */
static void
add_clutter_line (
    QmPlotClutter *clutter, double x1, double y1, double x2, double y2)
{
  const int steps =
      fabs (x2 - x1) < 1 || fabs (y2 - y1) < 1
          ? 1
          : (int) CLAMP (hypot (x2 - x1, y2 - y1) / CELL, 1, MAX_CELLS);
  const double dx = (x2 - x1) / steps, dy = (y2 - y1) / steps;

  for (int i = 0; i < steps; i++)
    add_box (clutter, &(QmPlotBox){ MIN (x1 + i * dx, x1 + (i + 1) * dx),
                                    MIN (y1 + i * dy, y1 + (i + 1) * dy),
                                    fabs (dx) + 1, fabs (dy) + 1 });
}

/* The line of the frontier, as it is drawn. */
static void
add_frontier (QmPlotClutter *clutter,
              const QmPlotData *data,
              const QmPlotProjection *projection)
{
  double last_x = NAN, last_y = NAN;

  for (guint i = 0; i < data->n_frontier; i++)
    {
      QmPlotPoint point;
      double x, y;

      if (data->frontier[i] < 0 || (guint) data->frontier[i] >= data->n_points)
        continue;
      point = data->points[data->frontier[i]];
      point.flags &= (guint8) ~QM_PLOT_POINT_HIDDEN;
      if (!qm_plot_point_drawable (data, &point))
        continue;
      qm_plot_project (projection, point.x, point.y, &x, &y);
      if (isfinite (last_x) && isfinite (x) && data->stairs)
        {
          add_clutter_line (clutter, last_x, last_y, MAX (last_x, x),
                            MIN (last_y, y));
          add_clutter_line (clutter, MAX (last_x, x), MIN (last_y, y), x, y);
        }
      else if (isfinite (last_x) && isfinite (x))
        {
          add_clutter_line (clutter, last_x, last_y, x, y);
        }
      last_x = x;
      last_y = y;
    }
}

static void
sum_up (QmPlotClutter *clutter)
{
  for (int row = 0; row <= clutter->rows; row++)
    for (int column = 1; column <= clutter->columns; column++)
      *sum_at (clutter, column, row) += *sum_at (clutter, column - 1, row);
  for (int row = 1; row <= clutter->rows; row++)
    for (int column = 0; column <= clutter->columns; column++)
      *sum_at (clutter, column, row) += *sum_at (clutter, column, row - 1);
}

/* Turns counts into sums over all cells above and to the left, itself
 * excluded. */
static void
accumulate (QmPlotClutter *clutter)
{
  sum_up (clutter);
  sum_up (clutter);
  for (int row = clutter->rows; row >= 0; row--)
    for (int column = clutter->columns; column >= 0; column--)
      *sum_at (clutter, column, row) =
          row == 0 || column == 0 ? 0 : *sum_at (clutter, column - 1, row - 1);
}

void
qm_plot_clutter_init (QmPlotClutter *clutter,
                      const QmPlotData *data,
                      const QmPlotTheme *theme,
                      const QmPlotLayout *layout,
                      const QmPlotSpot *spots,
                      guint n)
{
  QmPlotProjection projection;
  guint size = 0;
  double radius = 0;
  gboolean bars = !qm_plot_bars_are_too_many (data, spots, n);

  qm_plot_projection_init (&projection, layout);
  clutter->area = (QmPlotBox){ layout->zero_left, layout->top,
                               layout->right - layout->zero_left,
                               layout->bottom - layout->top };
  clutter->columns =
      (int) CLAMP (ceil (clutter->area.width / CELL), 1, MAX_CELLS);
  clutter->rows =
      (int) CLAMP (ceil (clutter->area.height / CELL), 1, MAX_CELLS);
  clutter->columns_per_unit = clutter->columns / clutter->area.width;
  clutter->rows_per_unit = clutter->rows / clutter->area.height;
  clutter->sums = g_new0 (int, (gsize) (clutter->columns + 1)
                                   * (gsize) (clutter->rows + 1));
  clutter->n_taken = 0;
  for (guint i = 0; i < n; i += 1 + n / ENOUGH)
    {
      guint weight = data->points[spots[i].index].weight;

      if (weight != size || i == 0)
        radius = qm_plot_marker_radius (theme, weight);
      size = weight;
      add_box (clutter, &(QmPlotBox){ spots[i].x - radius, spots[i].y - radius,
                                      2 * radius, 2 * radius });
      if (bars)
        add_bars (clutter, data, &projection, &spots[i]);
    }
  add_frontier (clutter, data, &projection);
  accumulate (clutter);
}

void
qm_plot_clutter_clear (QmPlotClutter *clutter)
{
  g_clear_pointer (&clutter->sums, g_free);
}

void
qm_plot_clutter_take (QmPlotClutter *clutter, const QmPlotBox *box)
{
  if (clutter->n_taken < G_N_ELEMENTS (clutter->taken))
    clutter->taken[clutter->n_taken++] = *box;
}

double
qm_plot_clutter_cost (const QmPlotClutter *clutter, const QmPlotBox *box)
{
  int column;
  int row;
  int column_end;
  int row_end;
  double cost;

  cells_of (clutter, box, &column, &row, &column_end, &row_end);
  column_end = MAX (column_end, column);
  row_end = MAX (row_end, row);
  cost = (double) *sum_at (clutter, column_end, row_end)
         - *sum_at (clutter, column, row_end)
         - *sum_at (clutter, column_end, row) + *sum_at (clutter, column, row);
  for (guint i = 0; i < clutter->n_taken; i++)
    if (qm_plot_boxes_meet (box, &clutter->taken[i]))
      cost += LABEL_COST;
  return cost;
}

static gboolean
is_within (const QmPlotBox *box, const QmPlotBox *bounds)
{
  return box->x >= bounds->x && box->y >= bounds->y
         && box->x + box->width <= bounds->x + bounds->width
         && box->y + box->height <= bounds->y + bounds->height;
}

/* Moves a box into the bounds, its upper left corner first. */
static void
push_within (QmPlotBox *box, const QmPlotBox *bounds)
{
  box->x = MIN (box->x, bounds->x + bounds->width - box->width);
  box->y = MIN (box->y, bounds->y + bounds->height - box->height);
  box->x = MAX (box->x, bounds->x);
  box->y = MAX (box->y, bounds->y);
}

/* Best directions first. */
static const double directions[][2] = {
  { 1, 0 },     { -1, 0 },      { 0, -1 },     { 0, 1 },    { 0.8, -0.7 },
  { 0.8, 0.7 }, { -0.8, -0.7 }, { -0.8, 0.7 }, { 0.5, -1 }, { -0.5, -1 },
};

/* The box beside a marker, so far in a direction from its middle. */
static QmPlotBox
beside (const QmPlotBox *box,
        double x,
        double y,
        double reach,
        const double direction[2])
{
  double dx = direction[0];
  double dy = direction[1];

  return (QmPlotBox){ x + dx * reach + (dx - 1) / 2 * box->width,
                      y + dy * reach + (dy - 1) / 2 * box->height, box->width,
                      box->height };
}

/* How many cells two boxes share. */
static int
shared_cells (const QmPlotClutter *clutter,
              const QmPlotBox *a,
              const QmPlotBox *b)
{
  int column[2], row[2], column_end[2], row_end[2];
  int columns, rows;

  cells_of (clutter, a, &column[0], &row[0], &column_end[0], &row_end[0]);
  cells_of (clutter, b, &column[1], &row[1], &column_end[1], &row_end[1]);
  columns = MIN (column_end[0], column_end[1]) - MAX (column[0], column[1]);
  rows = MIN (row_end[0], row_end[1]) - MAX (row[0], row[1]);
  return MAX (columns, 0) * MAX (rows, 0);
}

gboolean
qm_plot_clutter_find_free (const QmPlotClutter *clutter,
                           const QmPlotBox *bounds,
                           double x,
                           double y,
                           double radius,
                           QmPlotBox *box)
{
  static const double ways[][2] = { { 1, 0 },   { -1, 0 },  { 0, -1 },
                                    { 0, 1 },   { -1, 1 },  { 1, -1 },
                                    { 1, 1 },   { -1, -1 }, { -0.5, 1 },
                                    { 0.5, -1 } };
  static const double distances[] = { 1, 5, 10 };
  const QmPlotBox own = { x - radius, y - radius, 2 * radius, 2 * radius };

  for (guint i = 0; i < G_N_ELEMENTS (distances); i++)
    for (guint j = 0; j < G_N_ELEMENTS (ways); j++)
      {
        QmPlotBox candidate =
            beside (box, x, y, radius + distances[i], ways[j]);

        if (is_within (&candidate, bounds)
            && !qm_plot_boxes_meet (&candidate, &own)
            && qm_plot_clutter_cost (clutter, &candidate)
                       - shared_cells (clutter, &candidate, &own)
                   <= 0)
          {
            *box = candidate;
            return TRUE;
          }
      }
  return FALSE;
}

double
qm_plot_clutter_place (const QmPlotClutter *clutter,
                       const QmPlotBox *bounds,
                       double x,
                       double y,
                       double radius,
                       gboolean near,
                       QmPlotBox *box)
{
  static const double distances[] = { 5, 22, 44, 70 };
  guint n_distances = near ? 1 : G_N_ELEMENTS (distances);
  QmPlotBox found = { 0, 0, box->width, box->height };
  double found_cost = HUGE_VAL;
  double found_distance = 0;

  for (guint i = 0; i < n_distances; i++)
    for (guint j = 0; j < G_N_ELEMENTS (directions); j++)
      {
        QmPlotBox candidate =
            beside (box, x, y, radius + distances[i], directions[j]);
        double cost = DISTANCE_COST * i + 0.1 * j;

        if (!is_within (&candidate, bounds))
          continue;
        cost += qm_plot_clutter_cost (clutter, &candidate);
        if (cost < found_cost)
          {
            found_cost = cost;
            found_distance = distances[i];
            found = candidate;
          }
      }
  if (found_cost == HUGE_VAL)
    {
      found.x = x + radius + distances[0];
      found.y = y - box->height / 2;
      push_within (&found, bounds);
    }
  *box = found;
  return found_distance;
}
