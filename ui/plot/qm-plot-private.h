/* SPDX-License-Identifier: Apache-2.0 */

/* What the layers of one drawing share; private to the plot. */

#pragma once

#include "ui/plot/qm-plot-axis.h"
#include "ui/plot/qm-plot-contents.h"
#include "ui/plot/qm-plot-legend.h"
#include "ui/plot/qm-plot-marker.h"
#include "ui/plot/qm-plot-paint.h"
#include "ui/plot/qm-plot-text.h"
#include "ui/plot/qm-plot.h"

G_BEGIN_DECLS

/* --- Layout -------------------------------------------------------------- */

/* From an axis to its labels. */
#define QM_PLOT_TICK_GAP 7.0

/* Everything that the layers must agree on. */
typedef struct
{
  QmPlotLayout layout;
  QmPlotContents contents;
  QmPlotTicks x_ticks, y_ticks;
  QmPlotTick zero_tick; /* without a label: none */
  QmPlotLegend legend;
  gboolean has_title, has_x_title, has_y_title, has_ticks;
  double title_y; /* upper edges of lines of text */
  double x_title_y;
  double y_title_x; /* left edge of the turned y title */
} QmPlotFrame;

/* Lays out a plot whose plotting area begins no further left than `min_left`,
 * for plots that stand one below the other. */
void qm_plot_frame_init (QmPlotFrame *frame,
                         const QmPlotData *data,
                         double width,
                         double height,
                         const QmPlotTheme *theme,
                         double min_left);
void qm_plot_frame_clear (QmPlotFrame *frame);

/* --- Points -------------------------------------------------------------- */

/* The point of an index, or NULL where there is none or it is not drawn. */
const QmPlotPoint *qm_plot_point_at (const QmPlotData *data, int index);

/* qm_plot_position() with its divisions done, for many points. */
typedef struct
{
  double x_scale, x_offset, y_scale, y_offset;
  gboolean x_log, y_log;
  double zero; /* where an x of 0 lies on a logarithmic axis; -inf: nowhere */
} QmPlotProjection;

void qm_plot_projection_init (QmPlotProjection *projection,
                              const QmPlotLayout *layout);
void qm_plot_project (const QmPlotProjection *projection,
                      double x,
                      double y,
                      double *user_x,
                      double *user_y);

/* A point of which something is visible, and where. */
typedef struct
{
  float x, y; /* user units */
  guint32 index;
} QmPlotSpot;

/* The order in which a point is drawn, later above earlier: dimmed points below
 * others, grey ones below those in colour, large ones below small ones, and
 * else as they come. */
guint qm_plot_point_rank (const QmPlotPoint *point);

#define QM_PLOT_N_RANKS (4 * (QM_PLOT_WEIGHT_MAX + 1))

/* All points in sight, as they come; those that are hidden, too, which a move
 * of a slider may show.  (transfer full) */
QmPlotSpot *qm_plot_spots_find (const QmPlotData *data,
                                const QmPlotTheme *theme,
                                const QmPlotFrame *frame,
                                guint *n);

/* Those of the points that are not hidden, lowest first, and how many they are.
 * (transfer full) */
QmPlotSpot *qm_plot_spots_sort (const QmPlotData *data,
                                const QmPlotSpot *spots,
                                guint n,
                                guint *n_sorted);

/* All visible points, lowest first.  (transfer full) */
QmPlotSpot *qm_plot_spots_new (const QmPlotData *data,
                               const QmPlotTheme *theme,
                               const QmPlotFrame *frame,
                               guint *n);

/* Markers' pixels, private to the drawing of points. */
typedef struct _QmPlotSprites QmPlotSprites;

/* The two ways to draw points.  By pixels draws nothing and returns FALSE where
 * the target has no pixels, or they do not lie square to the plot.  Sprites are
 * left in *sprites for the next time, unless that is NULL; they hold for one
 * theme. */
gboolean qm_plot_draw_points_by_pixels (cairo_t *cr,
                                        const QmPlotData *data,
                                        const QmPlotTheme *theme,
                                        const QmPlotFrame *frame,
                                        const QmPlotSpot *spots,
                                        guint n,
                                        QmPlotSprites **sprites);
void qm_plot_draw_points_by_path (cairo_t *cr,
                                  const QmPlotData *data,
                                  const QmPlotTheme *theme,
                                  const QmPlotSpot *spots,
                                  guint n);

/* Whether the bars of so many points are in sight that they are drawn faintly,
 * but for those of marked points. */
gboolean qm_plot_bars_are_many (const QmPlotData *data,
                                const QmPlotSpot *spots,
                                guint n);

/* Whether they are so many that none is drawn, but those of marked points. */
gboolean qm_plot_bars_are_too_many (const QmPlotData *data,
                                    const QmPlotSpot *spots,
                                    guint n);

/* Draws the bars of points, which go below all markers. */
void qm_plot_draw_intervals (cairo_t *cr,
                             const QmPlotData *data,
                             const QmPlotTheme *theme,
                             const QmPlotFrame *frame,
                             const QmPlotSpot *spots,
                             guint n);

/* Draws those of one point, however many there are, in its colour. */
void qm_plot_draw_interval (cairo_t *cr,
                            const QmPlotData *data,
                            const QmPlotTheme *theme,
                            const QmPlotLayout *layout,
                            guint index);

/* --- Layers -------------------------------------------------------------- */

void qm_plot_draw_frame (cairo_t *cr,
                         const QmPlotData *data,
                         const QmPlotTheme *theme,
                         const QmPlotFrame *frame);
void qm_plot_draw_points (cairo_t *cr,
                          const QmPlotData *data,
                          const QmPlotTheme *theme,
                          const QmPlotFrame *frame,
                          const QmPlotSpot *spots,
                          guint n,
                          QmPlotSprites **sprites);

/* Labels are shaped with `text`. */
void qm_plot_draw_overlay (cairo_t *cr,
                           const QmPlotData *data,
                           const QmPlotTheme *theme,
                           const QmPlotFrame *frame,
                           const QmPlotSpot *spots,
                           guint n,
                           QmPlotText *text);

/* qm_plot_draw() with a plotting area that begins no further left. */
void qm_plot_draw_from (cairo_t *cr,
                        const QmPlotData *data,
                        double width,
                        double height,
                        const QmPlotTheme *theme,
                        QmPlotLayers layers,
                        double min_left);

/* Makes `cr` ready to draw a plot of a size into, whatever its state was; to be
 * undone with cairo_restore().  Returns FALSE, leaving it as it was, where
 * there is nothing to draw on; the size is cut to what Cairo can do. */
gboolean qm_plot_begin (cairo_t *cr, double *width, double *height);

/* Whether an x of 0 has a place before the axis. */
gboolean qm_plot_has_zero (const QmPlotLayout *layout);

/* Restricts drawing to the plotting area, with the place of zero. */
void qm_plot_clip_area (cairo_t *cr, const QmPlotLayout *layout);

G_END_DECLS
