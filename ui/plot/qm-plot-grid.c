/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/plot/qm-plot-export.h"
#include "ui/plot/qm-plot-private.h"

#include <math.h>

/* Width over height that a plot looks best in. */
#define BEST_ASPECT 1.4

/* An empty cell is worth avoiding as much as this error of the aspect. */
#define EMPTY_COST 0.35

#define MARGIN     10.0
#define LEGEND_GAP 6.0

/* Small multiples: what is the same in all plots is drawn once, around them. */
typedef struct
{
  const QmPlotData *const *plots;
  guint n;
  const QmPlotTheme *theme;
  guint columns, rows;
  gboolean same_x_title, same_y_title;
  QmPlotText text;
  QmPlotLegend legend;
  QmPlotBox cells; /* all of them together */
} Grid;

static void
choose_columns (Grid *grid, double width, double height)
{
  double best = HUGE_VAL;

  for (guint columns = 1; columns <= grid->n; columns++)
    {
      guint rows = (grid->n + columns - 1) / columns;
      double aspect = width / columns / (height / rows);
      double empty = (double) (columns * rows - grid->n) / grid->n;
      double cost = fabs (log (aspect / BEST_ASPECT)) + EMPTY_COST * empty;

      if (cost < best)
        {
          best = cost;
          grid->columns = columns;
          grid->rows = rows;
        }
    }
}

static void
find_common_titles (Grid *grid)
{
  grid->same_x_title = grid->plots[0]->x.title != NULL;
  grid->same_y_title = grid->plots[0]->y.title != NULL;
  for (guint i = 1; i < grid->n; i++)
    {
      grid->same_x_title &=
          g_strcmp0 (grid->plots[i]->x.title, grid->plots[0]->x.title) == 0;
      grid->same_y_title &=
          g_strcmp0 (grid->plots[i]->y.title, grid->plots[0]->y.title) == 0;
    }
}

/* Takes rows for the legend of all plots from the top of the cells. */
static void
place_legend (Grid *grid)
{
  qm_plot_legend_init (&grid->legend, &grid->text);
  for (guint i = 0; i < grid->n; i++)
    if (grid->plots[i]->legend)
      {
        QmPlotContents contents;

        qm_plot_contents_init (&contents, grid->plots[i]);
        qm_plot_legend_add (&grid->legend, grid->plots[i], &contents,
                            grid->theme, &grid->text);
      }
  if (grid->legend.entries->len == 0)
    return;
  qm_plot_legend_arrange_rows (&grid->legend, grid->cells.width - 2 * MARGIN);
  if (grid->legend.height + MARGIN > grid->cells.height / 4)
    return;
  grid->legend.place = QM_PLOT_LEGEND_ROWS;
  grid->legend.x = grid->cells.x + (grid->cells.width - grid->legend.width) / 2;
  grid->legend.y = grid->cells.y + MARGIN;
  grid->cells.y += grid->legend.height + MARGIN + LEGEND_GAP;
  grid->cells.height -= grid->legend.height + MARGIN + LEGEND_GAP;
}

static void
draw_legend (Grid *grid, cairo_t *cr)
{
  if (grid->legend.place != QM_PLOT_LEGEND_NONE)
    qm_plot_legend_draw (&grid->legend, cr, grid->theme, &grid->text);
}

/* Takes a line below the cells and one beside them for titles they share. */
static void
draw_common_titles (Grid *grid, cairo_t *cr)
{
  double line = qm_plot_text_line_height (&grid->text, QM_PLOT_FONT_NORMAL);
  QmPlotBox *cells = &grid->cells;
  double width;
  double height;

  if (grid->same_x_title)
    cells->height -= line + MARGIN / 2;
  if (grid->same_y_title)
    {
      cells->x += line + MARGIN / 2;
      cells->width -= line + MARGIN / 2;
    }
  qm_plot_set_color (cr, &grid->theme->text, 1);
  if (grid->same_x_title)
    {
      qm_plot_text_set (&grid->text, grid->plots[0]->x.title,
                        QM_PLOT_FONT_NORMAL, MAX (cells->width, 1));
      qm_plot_text_get_size (&grid->text, &width, &height);
      qm_plot_text_show (&grid->text, cr, cells->x + (cells->width - width) / 2,
                         cells->y + cells->height - MARGIN / 2);
    }
  if (grid->same_y_title)
    {
      qm_plot_text_set (&grid->text, grid->plots[0]->y.title,
                        QM_PLOT_FONT_NORMAL, MAX (cells->height, 1));
      qm_plot_text_get_size (&grid->text, &width, &height);
      cairo_save (cr);
      cairo_translate (cr, cells->x - line + MARGIN / 2,
                       cells->y + (cells->height + width) / 2);
      cairo_rotate (cr, -G_PI_2);
      qm_plot_text_show (&grid->text, cr, 0, 0);
      cairo_restore (cr);
    }
}

/* A plot without what the grid draws for all. */
static QmPlotData
bare_plot (const Grid *grid, guint i)
{
  QmPlotData data = *grid->plots[i];

  data.legend = FALSE;
  if (grid->same_x_title)
    data.x.title = NULL;
  if (grid->same_y_title)
    data.y.title = NULL;
  return data;
}

/* The left edge that the plots of a column share. */
static double
column_left (const Grid *grid, guint column, double width, double height)
{
  double left = 0;

  for (guint i = column; i < grid->n; i += grid->columns)
    {
      QmPlotData data = bare_plot (grid, i);
      QmPlotLayout layout;

      qm_plot_layout (&data, width, height, grid->theme, &layout);
      left = MAX (left, layout.zero_left);
    }
  return left;
}

static void
draw_cells (const Grid *grid, cairo_t *cr)
{
  double width = floor (grid->cells.width / grid->columns);
  double height = floor (grid->cells.height / grid->rows);
  QmPlotTheme theme = *grid->theme;

  /* The background has been painted. */
  theme.background.alpha = 0;
  for (guint column = 0; column < grid->columns; column++)
    {
      double left = column_left (grid, column, width, height);

      for (guint i = column; i < grid->n; i += grid->columns)
        {
          QmPlotData data = bare_plot (grid, i);

          cairo_save (cr);
          cairo_translate (cr, floor (grid->cells.x) + column * width,
                           floor (grid->cells.y) + i / grid->columns * height);
          qm_plot_draw_from (cr, &data, width, height, &theme,
                             QM_PLOT_LAYER_ALL, left);
          cairo_restore (cr);
        }
    }
}

static void
draw_background (cairo_t *cr,
                 const QmPlotTheme *theme,
                 double width,
                 double height)
{
  if (theme->background.alpha <= 0)
    return;
  cairo_rectangle (cr, 0, 0, width, height);
  qm_plot_set_color (cr, &theme->background, 1);
  cairo_fill (cr);
}

void
qm_plot_draw_grid (cairo_t *cr,
                   const QmPlotData *const *plots,
                   guint n,
                   double width,
                   double height,
                   const QmPlotTheme *theme)
{
  Grid grid = { .plots = plots, .n = n, .theme = theme };

  g_return_if_fail (cr != NULL && theme != NULL && (plots != NULL || n == 0));

  if (!(width > 0) || !(height > 0))
    return;
  if (n == 1)
    {
      qm_plot_draw (cr, plots[0], width, height, theme, QM_PLOT_LAYER_ALL);
      return;
    }
  cairo_save (cr);
  cairo_new_path (cr);
  cairo_rectangle (cr, 0, 0, width, height);
  cairo_clip (cr);
  draw_background (cr, theme, width, height);
  if (n > 0)
    {
      grid.cells = (QmPlotBox){ 0, 0, width, height };
      qm_plot_text_init (&grid.text, theme, cr);
      find_common_titles (&grid);
      place_legend (&grid);
      draw_legend (&grid, cr);
      draw_common_titles (&grid, cr);
      choose_columns (&grid, MAX (grid.cells.width, 1),
                      MAX (grid.cells.height, 1));
      draw_cells (&grid, cr);
      qm_plot_legend_clear (&grid.legend);
      qm_plot_text_clear (&grid.text);
    }
  cairo_restore (cr);
}
