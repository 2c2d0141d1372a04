/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/plot/qm-plot-clutter.h"

#include <math.h>

/* A share of more markers than this tells as much as all of them. */
#define ENOUGH 2000

#define CELL      8.0
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

double
qm_plot_clutter_place (const QmPlotClutter *clutter,
                       const QmPlotBox *bounds,
                       double x,
                       double y,
                       double radius,
                       gboolean near,
                       QmPlotBox *box)
{
  /* Best directions first. */
  static const double directions[][2] = {
    { 1, 0 },     { -1, 0 },      { 0, -1 },     { 0, 1 },    { 0.8, -0.7 },
    { 0.8, 0.7 }, { -0.8, -0.7 }, { -0.8, 0.7 }, { 0.5, -1 }, { -0.5, -1 },
  };
  static const double distances[] = { 5, 22, 44, 70 };
  guint n_distances = near ? 1 : G_N_ELEMENTS (distances);
  QmPlotBox found = { 0, 0, box->width, box->height };
  double found_cost = HUGE_VAL;
  double found_distance = 0;

  for (guint i = 0; i < n_distances; i++)
    for (guint j = 0; j < G_N_ELEMENTS (directions); j++)
      {
        double reach = radius + distances[i];
        double dx = directions[j][0];
        double dy = directions[j][1];
        QmPlotBox candidate = { x + dx * reach + (dx - 1) / 2 * box->width,
                                y + dy * reach + (dy - 1) / 2 * box->height,
                                box->width, box->height };
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
