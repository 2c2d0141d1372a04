/* SPDX-License-Identifier: Apache-2.0 */

/* One scatter plot, drawn by a pure function of its data, its size and a
 * theme.
 *
 * Cairo and Pango only: no widget, no display, no global state, so that the
 * window, the exports, the printer, the command line and the tests draw the
 * very same thing.  The same arguments give the same bytes.
 *
 * A drawing has three layers, drawn in this order: the frame (title, axes,
 * grid, legend), the points, and the overlay (limits, frontier, recommended,
 * selected and hovered point with their labels).  A widget may draw and cache
 * them apart; drawn in order they equal QM_PLOT_LAYER_ALL.
 *
 * Onto surfaces of pixels, points are composited from ready-made images; onto
 * vector and recording surfaces each is a path of its own.  Both look the same,
 * but the former is more than ten times as fast: with many points draw into an
 * image surface of the window's scale and show that, rather than through
 * gtk_snapshot_append_cairo(), which records.
 */

#pragma once

#include <cairo.h>
#include <glib.h>
#include <pango/pangocairo.h>

G_BEGIN_DECLS

/* How a value is known; shown by the way its marker is filled. */
typedef enum
{
  QM_PLOT_PUBLISHED, /* filled in the series' colour */
  QM_PLOT_MEASURED,  /* filled, with a heavy outline in the text colour */
  QM_PLOT_PREDICTED  /* hollow */
} QmPlotProvenance;

typedef enum
{
  QM_PLOT_POINT_NORMAL = 0,
  QM_PLOT_POINT_CROSSED = 1 << 0, /* an impossible value: crossed out */
  QM_PLOT_POINT_DIMMED = 1 << 1,  /* excluded, by the budget say */
  QM_PLOT_POINT_HIDDEN = 1 << 2,  /* filtered out: not drawn, not picked, but
 a line of the frontier goes through it */
  QM_PLOT_POINT_GREY = 1 << 3     /* another is better in both: in grey, and in
 colour while it, or one of its series, is marked */
} QmPlotPointFlags;

typedef struct
{
  double x; /* in data units; a point with a NaN or infinite value, or on a
               logarithmic axis a value <= 0, is not drawn, but for an x of 0
               where the axis has a place for it */
  double y;
  guint16 series;    /* index into the series */
  guint16 weight;    /* the marker's area grows with it (GPU count), from 1 */
  guint8 provenance; /* QmPlotProvenance */
  guint8 flags;      /* QmPlotPointFlags */
} QmPlotPoint;

/* What the x or the y of a point may be instead; NaN: it is known. */
typedef struct
{
  double low, high;
} QmPlotInterval;

/* A group of points of one colour and marker shape. */
typedef struct
{
  const char *name;
  guint style; /* index into the palette of colours and shapes, so that a
                  series keeps its look when others come and go */
} QmPlotSeries;

/* How an axis writes its ticks. */
typedef enum
{
  QM_PLOT_UNIT_NUMBER,
  QM_PLOT_UNIT_MONEY, /* "$40k", by qm_format_money_short() */
  QM_PLOT_UNIT_TIME,  /* days, told in units from seconds to years */
  QM_PLOT_UNIT_DATE   /* days since 1970-01-01, written as dates */
} QmPlotUnit;

typedef struct
{
  const char *title;
  QmPlotUnit unit;
  const char *currency; /* for money */
  gboolean log;
  double min; /* the visible range; NaN: from the data, with a margin */
  double max;
  double limit; /* a limit line across the plot; NaN: none */
  const char *limit_label;
  gboolean zero; /* of x: where the axis is logarithmic and a value of 0 occurs,
                    it has a place before the axis, parted from it by a break,
                    which is in sight together with the least value above 0 */
  double shared_min; /* what is visible where that is left to the data, for */
  double shared_max; /* plots that stand side by side; both are 0: no such */
} QmPlotAxis;

typedef struct
{
  const char *title;
  QmPlotAxis x;
  QmPlotAxis y;
  const QmPlotSeries *series;
  guint n_series;
  const QmPlotPoint *points;
  guint n_points;
  const QmPlotInterval
      *x_intervals; /* of the points, drawn as bars; NULL: none */
  const QmPlotInterval *y_intervals;
  const int *frontier; /* indices of points, in drawing order */
  guint n_frontier;
  const char *const *frontier_names; /* of those, beside them where they cover
                                        nothing; NULL, or NULL for one: none */
  const char *const *frontier_short_names; /* for where those do not fit */
  gboolean stairs; /* the frontier goes from one to the next in two steps, by
                      the larger x and the larger y, and not straight */
  int recommended; /* indices of points; -1: none */
  int selected;
  int hovered;
  const char *recommended_label;
  const char *recommended_short; /* for plots too small for the label */
  const char *hovered_label;     /* drawn beside the hovered point; may hold
                                    several lines */
  gboolean legend; /* series, and the marker areas of `legend_weights` */
  const guint16 *legend_weights;
  guint n_legend_weights;
  const char *weight_title; /* legend heading of the areas, "GPUs" */

  /* Legend entries for what the marks mean; NULL: none.  A provenance is named
   * where points of it occur, crosses and grey where such points do, and the
   * frontier where there is one. */
  const char *provenance_names[3]; /* by QmPlotProvenance */
  const char *crossed_name;
  const char *grey_name;
  const char *frontier_name;

  const char *empty_text; /* shown where there is no point to draw */

  /* Of exported figures, which have those of the first plot; NULL: none. */
  const char *note;    /* below: source, date, assumptions */
  const char *summary; /* for who does not see them: what they show */
} QmPlotData;

typedef enum
{
  QM_PLOT_LAYER_FRAME = 1 << 0,
  QM_PLOT_LAYER_POINTS = 1 << 1,
  QM_PLOT_LAYER_OVERLAY = 1 << 2,
  QM_PLOT_LAYER_ALL = 7
} QmPlotLayers;

/* Colours, and shapes. */
#define QM_PLOT_N_STYLES 8

/* Styles from there on look like earlier ones.  Those below repeat a colour
 * with another shape, until each colour had each shape: more than the catalog
 * has types of GPU. */
#define QM_PLOT_N_LOOKS (QM_PLOT_N_STYLES * QM_PLOT_N_STYLES)

typedef struct
{
  double red, green, blue, alpha;
} QmPlotColor;

/* How a plot looks.  The palette is made for colour-blind readers: Okabe and
 * Ito, "Color Universal Design" (2008), adjusted for contrast in the dark
 * theme; a shape goes with every colour. */
typedef struct
{
  QmPlotColor background; /* alpha 0: none is painted */
  QmPlotColor text;
  QmPlotColor faint_text;
  QmPlotColor grid;
  QmPlotColor limit;
  QmPlotColor accent; /* the ring of the recommended point */
  QmPlotColor grey;   /* of points of QM_PLOT_POINT_GREY */
  QmPlotColor palette[QM_PLOT_N_STYLES];
  double dim_alpha;     /* opacity of dimmed points */
  const char *font;     /* Pango family list */
  double font_size;     /* of tick labels, in user units */
  double marker_radius; /* of weight 1, in user units */
} QmPlotTheme;

/* The themes.  `light` is what exports use; static, do not modify. */
const QmPlotTheme *qm_plot_theme_light (void);
const QmPlotTheme *qm_plot_theme_dark (void);
const QmPlotTheme *qm_plot_theme_high_contrast (gboolean dark);

/* Where things are, in the user units that qm_plot_draw() draws in. */
typedef struct
{
  double width, height;
  double left, top, right, bottom;   /* the plotting area */
  double x_min, x_max, y_min, y_max; /* the visible range in data units */
  gboolean x_log, y_log;
  double zero_left, zero_right; /* the place of an x of 0 on a logarithmic axis,
                                   before the plotting area; both are `left`
                                   where there is none */
} QmPlotLayout;

/* Computes the layout that qm_plot_draw() uses for the same arguments. */
void qm_plot_layout (const QmPlotData *data,
                     double width,
                     double height,
                     const QmPlotTheme *theme,
                     QmPlotLayout *layout);

/* Draws the plot into the rectangle (0, 0, width, height) of `cr`.  A size too
 * small for a plot draws what fits; nothing is drawn outside the rectangle. */
void qm_plot_draw (cairo_t *cr,
                   const QmPlotData *data,
                   double width,
                   double height,
                   const QmPlotTheme *theme,
                   QmPlotLayers layers);

/* From data to user units.  Positions outside the visible range are
 * extrapolated.  Returns FALSE where there is none (log of a value <= 0, but
 * for an x of 0 that has a place). */
gboolean qm_plot_position (const QmPlotLayout *layout,
                           double x,
                           double y,
                           double *user_x,
                           double *user_y);

/* Whether the point of an index can be drawn, in sight or not. */
gboolean qm_plot_is_drawn (const QmPlotData *data, guint index);

/* The topmost visible point whose marker is within `reach` user units of a
 * position, the nearest one where several are; -1: none. */
int qm_plot_pick (const QmPlotData *data,
                  const QmPlotLayout *layout,
                  const QmPlotTheme *theme,
                  double user_x,
                  double user_y,
                  double reach);

/* Radius of a marker. */
double qm_plot_marker_radius (const QmPlotTheme *theme, guint weight);

/* Draws the marker of a style alone, centred at the origin of `cr`, for table
 * rows and legends made of widgets. */
void qm_plot_draw_marker (cairo_t *cr,
                          const QmPlotTheme *theme,
                          guint style,
                          guint weight,
                          QmPlotProvenance provenance,
                          QmPlotPointFlags flags);

G_END_DECLS
