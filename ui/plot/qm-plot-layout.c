/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/plot/qm-plot-private.h"

#include <math.h>

#define MARGIN       10.0
#define SMALL_MARGIN 4.0
#define TITLE_GAP    8.0  /* below the title */
#define LABEL_GAP    5.0  /* from labels to the axis' title */
#define LEGEND_GAP   16.0 /* around the legend */
#define ROWS_GAP     10.0 /* below a legend of rows */

/* Below these sizes parts are left out, the least needed first. */
#define MIN_HEIGHT_X_TITLE 150.0
#define MIN_WIDTH_Y_TITLE  180.0
#define MIN_HEIGHT_TITLE   90.0
#define MIN_WIDTH_TICKS    110.0
#define MIN_HEIGHT_TICKS   70.0

/* What a legend must leave to the plot. */
#define MIN_WIDTH_BESIDE  300.0
#define MIN_SHARE_BESIDE  0.6
#define MAX_SHARE_OF_ROWS 0.3

/* Labels beside the plot that take more of the width are written in short. */
#define MAX_SHARE_OF_LABELS 0.1

/* A marker on the outermost value stays this far from the edge. */
#define POINT_MARGIN 3.0

/* Between the place of zero and a logarithmic axis, and how many of both the
 * area must have room for. */
#define BREAK_GAP    8.0
#define MIN_OF_ZEROS 3

/* Room beside a marker of zero: for the ring around the one that is selected.
 */
#define ZERO_MARGIN 6.0

/* From the label of zero to the first one of the axis, in ems. */
#define ZERO_LABEL_GAP 0.6

/* What is being laid out. */
typedef struct
{
  QmPlotFrame *frame;
  const QmPlotData *data;
  const QmPlotTheme *theme;
  QmPlotText text;
  double margin;
  double line_height;
  double padding; /* for the markers */
} Planner;

static gboolean
is_set (const char *string)
{
  return string != NULL && *string != '\0';
}

static void
choose_parts (Planner *planner)
{
  QmPlotFrame *frame = planner->frame;
  const QmPlotData *data = planner->data;
  double width = frame->layout.width;
  double height = frame->layout.height;

  frame->has_title = is_set (data->title) && height >= MIN_HEIGHT_TITLE;
  frame->has_x_title = is_set (data->x.title) && height >= MIN_HEIGHT_X_TITLE;
  frame->has_y_title = is_set (data->y.title) && width >= MIN_WIDTH_Y_TITLE;
  frame->has_ticks = width >= MIN_WIDTH_TICKS && height >= MIN_HEIGHT_TICKS;
  planner->margin = frame->has_ticks ? MARGIN : SMALL_MARGIN;
}

/* The lines of text above and below the plotting area. */
static void
stack_lines (Planner *planner)
{
  QmPlotFrame *frame = planner->frame;
  QmPlotLayout *layout = &frame->layout;

  layout->top = planner->margin;
  layout->bottom = layout->height - planner->margin;
  frame->title_y = layout->top;
  if (frame->has_title)
    layout->top += qm_plot_text_line_height (&planner->text, QM_PLOT_FONT_TITLE)
                   + TITLE_GAP;
  if (frame->has_x_title)
    {
      layout->bottom -= planner->line_height;
      frame->x_title_y = layout->bottom;
      layout->bottom -= LABEL_GAP;
    }
  if (frame->has_ticks)
    layout->bottom -= planner->line_height + QM_PLOT_TICK_GAP;
}

/* Takes the legend's column away from the right, if it leaves enough. */
static gboolean
place_column (Planner *planner)
{
  QmPlotLayout *layout = &planner->frame->layout;
  QmPlotLegend *legend = &planner->frame->legend;
  double right;

  qm_plot_legend_arrange_column (legend, layout->width * 0.3);
  right = layout->width - planner->margin - legend->width - LEGEND_GAP;
  if (right < MAX (MIN_WIDTH_BESIDE, MIN_SHARE_BESIDE * layout->width)
      || legend->height > layout->bottom - layout->top)
    return FALSE;
  legend->place = QM_PLOT_LEGEND_COLUMN;
  legend->x = right + LEGEND_GAP;
  layout->right = right;
  return TRUE;
}

static gboolean
place_rows (Planner *planner)
{
  QmPlotLayout *layout = &planner->frame->layout;
  QmPlotLegend *legend = &planner->frame->legend;

  qm_plot_legend_arrange_rows (legend, layout->right - layout->left);
  if (legend->height > MAX_SHARE_OF_ROWS * (layout->bottom - layout->top))
    return FALSE;
  legend->place = QM_PLOT_LEGEND_ROWS;
  legend->x = layout->left;
  legend->y = layout->top;
  layout->top += legend->height + ROWS_GAP;
  return TRUE;
}

/* Whether an axis has anything to count: data, or a range asked for. */
static gboolean
wants_ticks (const Planner *planner,
             const QmPlotAxis *axis,
             const QmPlotSpan *span)
{
  return planner->frame->has_ticks
         && (span->known || (isfinite (axis->min) && isfinite (axis->max)));
}

static double
widest_label (const QmPlotTicks *ticks)
{
  double widest = 0;

  for (guint i = 0; i < ticks->n_major; i++)
    widest = MAX (widest, ticks->major[i].width);
  return widest;
}

static void
plan_y (Planner *planner)
{
  QmPlotFrame *frame = planner->frame;
  QmPlotLayout *layout = &frame->layout;
  double length = MAX (layout->bottom - layout->top, 1);
  double widest;
  QmPlotRange range;

  qm_plot_range_init (&range, &planner->data->y, &frame->contents.y, length,
                      planner->padding);
  layout->y_min = range.min;
  layout->y_max = range.max;
  qm_plot_ticks_clear (&frame->y_ticks);
  if (wants_ticks (planner, &planner->data->y, &frame->contents.y))
    qm_plot_ticks_init (&frame->y_ticks, &planner->data->y, &range, length,
                        TRUE, &planner->text);
  widest = widest_label (&frame->y_ticks);
  if (widest > MAX_SHARE_OF_LABELS * layout->width)
    {
      qm_plot_ticks_shorten (&frame->y_ticks, &planner->data->y,
                             &planner->text);
      widest = widest_label (&frame->y_ticks);
    }
  frame->y_title_x = planner->margin;
  layout->left =
      planner->margin + (widest > 0 ? ceil (widest) + QM_PLOT_TICK_GAP : 0);
  if (frame->has_y_title)
    layout->left += planner->line_height + LABEL_GAP;
}

/* Returns how far the last label sticks out beyond where it may. */
static double
plan_x (Planner *planner)
{
  QmPlotFrame *frame = planner->frame;
  QmPlotLayout *layout = &frame->layout;
  double length = MAX (layout->right - layout->left, 1);
  const QmPlotTick *last;
  QmPlotRange range;

  qm_plot_range_init (&range, &planner->data->x, &frame->contents.x, length,
                      planner->padding);
  layout->x_min = range.min;
  layout->x_max = range.max;
  qm_plot_ticks_clear (&frame->x_ticks);
  if (wants_ticks (planner, &planner->data->x, &frame->contents.x))
    qm_plot_ticks_init (&frame->x_ticks, &planner->data->x, &range, length,
                        FALSE, &planner->text);
  if (frame->x_ticks.n_major == 0)
    return 0;
  last = &frame->x_ticks.major[frame->x_ticks.n_major - 1];
  return layout->left + length * qm_plot_range_fraction (&range, last->value)
         + last->width / 2 + 2 - layout->width;
}

/* How far from their middles markers of up to `weight` reach. */
static double
largest_reach (const QmPlotFrame *frame, const QmPlotTheme *theme, guint weight)
{
  double reach = 0;

  for (guint style = 0; style < QM_PLOT_N_LOOKS; style++)
    if (frame->contents.styles >> style & 1)
      {
        QmPlotMarker marker;

        qm_plot_marker_init (&marker, theme, style, weight, QM_PLOT_PUBLISHED,
                             frame->contents.crossed ? QM_PLOT_POINT_CROSSED
                                                     : QM_PLOT_POINT_NORMAL);
        reach = MAX (reach, qm_plot_marker_extent (&marker));
      }
  return reach;
}

/* Whether zero is in sight: where the least value above it is. */
static gboolean
shows_zero (const Planner *planner)
{
  const QmPlotContents *contents = &planner->frame->contents;
  double min = planner->data->x.min;

  return contents->n_zero > 0
         && !(contents->x.known && isfinite (min) && min > contents->x.min);
}

/* Takes the place of zero away from the left, if there is enough. */
static void
plan_zero (Planner *planner)
{
  QmPlotFrame *frame = planner->frame;
  QmPlotLayout *layout = &frame->layout;
  double width =
      2
      * ceil (largest_reach (frame, planner->theme, frame->contents.zero_weight)
              + ZERO_MARGIN);

  layout->left = ceil (layout->left);
  layout->zero_left = layout->zero_right = layout->left;
  if (!shows_zero (planner)
      || layout->right - layout->left < MIN_OF_ZEROS * (width + BREAK_GAP))
    return;
  layout->zero_right = layout->zero_left + width;
  layout->left = layout->zero_right + BREAK_GAP;
  if (!frame->has_ticks)
    return;
  qm_plot_tick_labels (&frame->zero_tick, 1, &planner->data->x, FALSE);
  frame->zero_tick.width =
      qm_plot_text_measure (&planner->text, frame->zero_tick.label,
                            QM_PLOT_FONT_NORMAL);
}

/* How far the label of zero reaches into the first one of the axis. */
static double
zero_overlap (const Planner *planner)
{
  const QmPlotFrame *frame = planner->frame;
  const QmPlotLayout *layout = &frame->layout;
  const QmPlotTick *first = &frame->x_ticks.major[0];
  double x;
  double y;

  if (frame->zero_tick.label == NULL || frame->x_ticks.n_major == 0)
    return 0;
  qm_plot_position (layout, first->value, layout->y_min, &x, &y);
  return (layout->zero_left + layout->zero_right + frame->zero_tick.width) / 2
         + ZERO_LABEL_GAP * planner->text.size - (x - first->width / 2);
}

static void
plan_legend (Planner *planner)
{
  QmPlotFrame *frame = planner->frame;
  double wanted_left;

  frame->layout.right = frame->layout.width - planner->margin;
  if (frame->legend.entries->len == 0 || place_column (planner))
    {
      plan_y (planner);
      return;
    }
  plan_y (planner);
  wanted_left = frame->layout.left;
  if (!place_rows (planner))
    {
      qm_plot_legend_keep_series (&frame->legend);
      if (!place_rows (planner))
        return;
    }
  plan_y (planner);
  frame->layout.left = MAX (frame->layout.left, wanted_left);
}

/* Edges on whole units, and an area however small. */
static void
settle (QmPlotLayout *layout)
{
  layout->zero_left = CLAMP (layout->zero_left, 0, layout->width);
  layout->zero_right = CLAMP (layout->zero_right, 0, layout->width);
  layout->left = CLAMP (ceil (layout->left), 0, layout->width);
  layout->top = CLAMP (ceil (layout->top), 0, layout->height);
  layout->right = CLAMP (floor (layout->right), 0, layout->width);
  layout->bottom = CLAMP (floor (layout->bottom), 0, layout->height);
  if (layout->right - layout->left < 1)
    {
      layout->left = layout->zero_left = layout->zero_right = 0;
      layout->right = layout->width;
    }
  if (layout->bottom - layout->top < 1)
    {
      layout->top = 0;
      layout->bottom = layout->height;
    }
}

void
qm_plot_frame_init (QmPlotFrame *frame,
                    const QmPlotData *data,
                    double width,
                    double height,
                    const QmPlotTheme *theme,
                    double min_left)
{
  Planner planner = { .frame = frame, .data = data, .theme = theme };
  QmPlotLayout *layout = &frame->layout;
  double overhang;
  double overlap;

  *frame = (QmPlotFrame){ .layout = { .width = width,
                                      .height = height,
                                      .x_log = data->x.log,
                                      .y_log = data->y.log } };
  qm_plot_contents_init (&frame->contents, data);
  qm_plot_text_init (&planner.text, theme, NULL);
  planner.line_height =
      qm_plot_text_line_height (&planner.text, QM_PLOT_FONT_NORMAL);
  planner.padding =
      largest_reach (frame, theme, frame->contents.weight) + POINT_MARGIN;
  choose_parts (&planner);
  stack_lines (&planner);
  qm_plot_legend_init (&frame->legend, &planner.text);
  if (data->legend && frame->has_ticks)
    qm_plot_legend_add (&frame->legend, data, &frame->contents, theme,
                        &planner.text);
  plan_legend (&planner);
  layout->left = MAX (layout->left, min_left);
  plan_zero (&planner);
  overhang = plan_x (&planner);
  overlap = zero_overlap (&planner);
  if (overhang > 0 || overlap > 0)
    {
      layout->right -= ceil (MAX (overhang, 0));
      layout->left += ceil (MAX (overlap, 0));
      plan_x (&planner);
    }
  settle (layout);
  if (frame->legend.place == QM_PLOT_LEGEND_COLUMN)
    frame->legend.y = layout->top;
  qm_plot_text_clear (&planner.text);
}

void
qm_plot_frame_clear (QmPlotFrame *frame)
{
  qm_plot_ticks_clear (&frame->x_ticks);
  qm_plot_ticks_clear (&frame->y_ticks);
  g_clear_pointer (&frame->zero_tick.label, g_free);
  qm_plot_legend_clear (&frame->legend);
}
