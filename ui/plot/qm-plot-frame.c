/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/plot/qm-plot-private.h"

#include <math.h>

#define TICK_LENGTH       4.0
#define MINOR_TICK_LENGTH 2.5
#define BREAK_HEIGHT      4.0 /* of the strokes, to either side of the axis */
#define BREAK_SLANT       2.0

typedef struct
{
  cairo_t *cr;
  const QmPlotData *data;
  const QmPlotTheme *theme;
  const QmPlotFrame *frame;
  QmPlotText text;
} Painter;

static double
x_at (const QmPlotLayout *layout, double value)
{
  double x;
  double y;

  qm_plot_position (layout, value, layout->y_min, &x, &y);
  return x;
}

static double
y_at (const QmPlotLayout *layout, double value)
{
  double x;
  double y;

  qm_plot_position (layout, layout->x_min, value, &x, &y);
  return y;
}

static void
draw_background (Painter *painter)
{
  const QmPlotLayout *layout = &painter->frame->layout;

  if (painter->theme->background.alpha <= 0)
    return;
  qm_plot_set_color (painter->cr, &painter->theme->background, 1);
  cairo_rectangle (painter->cr, 0, 0, layout->width, layout->height);
  cairo_fill (painter->cr);
}

/* A line across the plotting area, with a gap where the axis is broken. */
static void
draw_across (Painter *painter, double y)
{
  const QmPlotLayout *layout = &painter->frame->layout;

  if (qm_plot_has_zero (layout))
    qm_plot_straight_line (painter->cr, layout->zero_left, y,
                           layout->zero_right, y, 1);
  qm_plot_straight_line (painter->cr, layout->left, y, layout->right, y, 1);
}

static void
draw_grid (Painter *painter)
{
  const QmPlotFrame *frame = painter->frame;
  const QmPlotLayout *layout = &frame->layout;
  cairo_t *cr = painter->cr;

  qm_plot_set_color (cr, &painter->theme->grid, 1);
  for (guint i = 0; i < frame->x_ticks.n_major; i++)
    {
      double x = x_at (layout, frame->x_ticks.major[i].value);

      qm_plot_straight_line (cr, x, layout->top, x, layout->bottom, 1);
    }
  for (guint i = 0; i < frame->y_ticks.n_major; i++)
    {
      double y = y_at (layout, frame->y_ticks.major[i].value);

      draw_across (painter, y);
    }
  if (qm_plot_has_zero (layout))
    qm_plot_straight_line (cr, x_at (layout, 0), layout->top, x_at (layout, 0),
                           layout->bottom, 1);
}

static void
draw_x_tick (Painter *painter, double value, double length)
{
  const QmPlotLayout *layout = &painter->frame->layout;
  double x = x_at (layout, value);

  qm_plot_straight_line (painter->cr, x, layout->bottom, x,
                         layout->bottom + length, 1);
}

static void
draw_y_tick (Painter *painter, double value, double length)
{
  const QmPlotLayout *layout = &painter->frame->layout;
  double y = y_at (layout, value);

  qm_plot_straight_line (painter->cr, layout->zero_left - length, y,
                         layout->zero_left, y, 1);
}

/* The two strokes by which a broken axis is known, one at each end. */
static void
draw_break (Painter *painter)
{
  const QmPlotLayout *layout = &painter->frame->layout;
  const double ends[] = { layout->zero_right, layout->left };
  cairo_t *cr = painter->cr;

  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    {
      cairo_move_to (cr, ends[i] - BREAK_SLANT, layout->bottom + BREAK_HEIGHT);
      cairo_line_to (cr, ends[i] + BREAK_SLANT, layout->bottom - BREAK_HEIGHT);
    }
  cairo_set_line_width (cr, 1);
  cairo_stroke (cr);
}

static void
draw_axes (Painter *painter)
{
  const QmPlotFrame *frame = painter->frame;
  const QmPlotLayout *layout = &frame->layout;
  cairo_t *cr = painter->cr;

  qm_plot_set_color (cr, &painter->theme->faint_text, 0.7);
  for (guint i = 0; i < frame->x_ticks.n_major; i++)
    draw_x_tick (painter, frame->x_ticks.major[i].value, TICK_LENGTH);
  for (guint i = 0; i < frame->x_ticks.n_minor; i++)
    draw_x_tick (painter, frame->x_ticks.minor[i], MINOR_TICK_LENGTH);
  for (guint i = 0; i < frame->y_ticks.n_major; i++)
    draw_y_tick (painter, frame->y_ticks.major[i].value, TICK_LENGTH);
  for (guint i = 0; i < frame->y_ticks.n_minor; i++)
    draw_y_tick (painter, frame->y_ticks.minor[i], MINOR_TICK_LENGTH);
  draw_across (painter, layout->bottom);
  qm_plot_straight_line (cr, layout->zero_left, layout->top, layout->zero_left,
                         layout->bottom, 1);
  if (!qm_plot_has_zero (layout))
    return;
  if (frame->zero_tick.label != NULL)
    draw_x_tick (painter, 0, TICK_LENGTH);
  draw_break (painter);
}

static void
draw_x_label (Painter *painter, const QmPlotTick *tick)
{
  const QmPlotLayout *layout = &painter->frame->layout;
  double width;
  double height;

  qm_plot_text_set (&painter->text, tick->label, QM_PLOT_FONT_NORMAL, -1);
  qm_plot_text_get_size (&painter->text, &width, &height);
  qm_plot_text_show (&painter->text, painter->cr,
                     x_at (layout, tick->value) - width / 2,
                     layout->bottom + QM_PLOT_TICK_GAP - 1);
}

static void
draw_tick_labels (Painter *painter)
{
  const QmPlotFrame *frame = painter->frame;
  const QmPlotLayout *layout = &frame->layout;
  double width;
  double height;

  qm_plot_set_color (painter->cr, &painter->theme->faint_text, 1);
  if (frame->zero_tick.label != NULL)
    draw_x_label (painter, &frame->zero_tick);
  for (guint i = 0; i < frame->x_ticks.n_major; i++)
    draw_x_label (painter, &frame->x_ticks.major[i]);
  for (guint i = 0; i < frame->y_ticks.n_major; i++)
    {
      const QmPlotTick *tick = &frame->y_ticks.major[i];

      qm_plot_text_set (&painter->text, tick->label, QM_PLOT_FONT_NORMAL, -1);
      qm_plot_text_get_size (&painter->text, &width, &height);
      qm_plot_text_show (&painter->text, painter->cr,
                         layout->zero_left - QM_PLOT_TICK_GAP - width,
                         y_at (layout, tick->value) - height / 2);
    }
}

static void
draw_title (Painter *painter)
{
  const QmPlotFrame *frame = painter->frame;
  const QmPlotLayout *layout = &frame->layout;

  if (!frame->has_title)
    return;
  qm_plot_set_color (painter->cr, &painter->theme->text, 1);
  qm_plot_text_set (&painter->text, painter->data->title, QM_PLOT_FONT_TITLE,
                    layout->width - layout->zero_left
                        - MIN (layout->zero_left, 10));
  qm_plot_text_show (&painter->text, painter->cr, layout->zero_left,
                     frame->title_y);
}

static void
draw_axis_titles (Painter *painter)
{
  const QmPlotFrame *frame = painter->frame;
  const QmPlotLayout *layout = &frame->layout;
  cairo_t *cr = painter->cr;
  double width;
  double height;

  qm_plot_set_color (cr, &painter->theme->text, 1);
  if (frame->has_x_title)
    {
      qm_plot_text_set (&painter->text, painter->data->x.title,
                        QM_PLOT_FONT_NORMAL, layout->right - layout->zero_left);
      qm_plot_text_get_size (&painter->text, &width, &height);
      qm_plot_text_show (&painter->text, cr,
                         (layout->zero_left + layout->right - width) / 2,
                         frame->x_title_y);
    }
  if (frame->has_y_title)
    {
      qm_plot_text_set (&painter->text, painter->data->y.title,
                        QM_PLOT_FONT_NORMAL, layout->bottom - layout->top);
      qm_plot_text_get_size (&painter->text, &width, &height);
      cairo_save (cr);
      cairo_translate (cr, frame->y_title_x,
                       (layout->top + layout->bottom + width) / 2);
      cairo_rotate (cr, -G_PI_2);
      qm_plot_text_show (&painter->text, cr, 0, 0);
      cairo_restore (cr);
    }
}

static void
draw_empty_text (Painter *painter)
{
  const QmPlotLayout *layout = &painter->frame->layout;
  double width;
  double height;

  if (painter->frame->contents.n > 0 || painter->data->empty_text == NULL)
    return;
  qm_plot_text_set (&painter->text, painter->data->empty_text,
                    QM_PLOT_FONT_NORMAL, layout->right - layout->left);
  qm_plot_text_get_size (&painter->text, &width, &height);
  qm_plot_set_color (painter->cr, &painter->theme->faint_text, 1);
  qm_plot_text_show (&painter->text, painter->cr,
                     (layout->left + layout->right - width) / 2,
                     (layout->top + layout->bottom - height) / 2);
}

void
qm_plot_draw_frame (cairo_t *cr,
                    const QmPlotData *data,
                    const QmPlotTheme *theme,
                    const QmPlotFrame *frame)
{
  Painter painter = { cr, data, theme, frame };

  qm_plot_text_init (&painter.text, theme, cr);
  draw_background (&painter);
  draw_grid (&painter);
  draw_axes (&painter);
  draw_tick_labels (&painter);
  draw_title (&painter);
  draw_axis_titles (&painter);
  if (frame->legend.place != QM_PLOT_LEGEND_NONE)
    qm_plot_legend_draw (&frame->legend, cr, theme, &painter.text);
  draw_empty_text (&painter);
  qm_plot_text_clear (&painter.text);
}
