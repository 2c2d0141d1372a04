/* SPDX-License-Identifier: Apache-2.0 */

#pragma once

#include "ui/plot/qm-plot-painter.h"
#include "ui/qm-plot-view.h"
#include "ui/qm-plot-zoom.h"

G_BEGIN_DECLS

/* What is drawn, from what changes seldom to what changes often: each on top of
 * the one before. */
enum
{
  STAGE_FRAME,
  STAGE_POINTS,
  STAGE_OVERLAY,
  N_STAGES
};

struct _QmPlotView
{
  GtkWidget parent_instance;

  QmPlotSource *source;
  QmPlotPainter *painter;
  QmPlotZoom range;
  QmPlotTheme theme;
  char *font; /* of the theme: the desktop's */
  int walked; /* the point that the keyboard is at, -1: none */
  char *spoken;

  cairo_surface_t *images[N_STAGES]; /* kept, since clean memory is dear */
  cairo_surface_t *shown;            /* the last stage of the last frame */
  gboolean drawn[N_STAGES];
  GdkTexture *texture; /* of the last stage */
  int images_width, images_height, images_scale;
  QmPlotLayout layout;
  gboolean layout_valid;

  gboolean dragging;
  double drag_x, drag_y, drag_to_x, drag_to_y;
  double panned_x, panned_y;
  double pinched;
  double pointer_x, pointer_y;
  GtkWidget *menu;
};

/* What is drawn, or NULL. */
const QmPlotData *_qm_plot_view_data (QmPlotView *self);

/* Layouts of the visible range and, unless `all` is NULL, of everything.
 * Returns FALSE while nothing is drawn. */
gboolean
_qm_plot_view_layouts (QmPlotView *self, QmPlotLayout *now, QmPlotLayout *all);

void _qm_plot_view_set_range (QmPlotView *self, const QmPlotZoom *range);
void _qm_plot_view_set_hovered (QmPlotView *self, int index);

/* Hovers a point and names it to assistive technology; -1: none. */
void _qm_plot_view_set_walked (QmPlotView *self, int index);

/* Where a walk begins: not at the edge but where the eye is. */
int _qm_plot_view_walk_start (const QmPlotData *data);

void _qm_plot_view_add_controllers (QmPlotView *self);
void _qm_plot_view_popup_menu (GtkWidget *widget,
                               const char *action,
                               GVariant *parameter);

G_END_DECLS
