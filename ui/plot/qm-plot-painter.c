/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/plot/qm-plot-painter.h"

#include "ui/plot/qm-plot-private.h"
#include "ui/plot/qm-plot-sprite.h"

struct _QmPlotPainter
{
  gboolean kept; /* the frame and the spots are valid */
  QmPlotFrame frame;
  QmPlotSpot *spots; /* as they come */
  QmPlotSpot *order; /* lowest first, as the points were last drawn, or NULL */
  guint n_spots, n_order;
  QmPlotSprites *sprites;
  QmPlotText text; /* of the overlay; without a layout: none yet */
};

QmPlotPainter *
qm_plot_painter_new (void)
{
  return g_new0 (QmPlotPainter, 1);
}

static void
drop_frame (QmPlotPainter *painter)
{
  if (!painter->kept)
    return;
  qm_plot_frame_clear (&painter->frame);
  g_clear_pointer (&painter->spots, g_free);
  g_clear_pointer (&painter->order, g_free);
  painter->kept = FALSE;
}

void
qm_plot_painter_reset (QmPlotPainter *painter)
{
  g_return_if_fail (painter != NULL);

  drop_frame (painter);
  g_clear_pointer (&painter->sprites, qm_plot_sprites_free);
  qm_plot_text_clear (&painter->text);
}

void
qm_plot_painter_free (QmPlotPainter *painter)
{
  if (painter == NULL)
    return;
  qm_plot_painter_reset (painter);
  g_free (painter);
}

/* The markers' pixels outlive a new size: only their places change. */
static void
keep_frame (QmPlotPainter *painter,
            const QmPlotData *data,
            double width,
            double height,
            const QmPlotTheme *theme)
{
  if (painter->kept && painter->frame.layout.width == width
      && painter->frame.layout.height == height)
    return;
  drop_frame (painter);
  qm_plot_frame_init (&painter->frame, data, width, height, theme, 0);
  painter->spots =
      qm_plot_spots_find (data, theme, &painter->frame, &painter->n_spots);
  painter->kept = TRUE;
}

/* Of what the overlay says most stays, or comes again, while a slider moves. */
static QmPlotText *
keep_text (QmPlotPainter *painter, cairo_t *cr, const QmPlotTheme *theme)
{
  if (!qm_plot_text_suits (&painter->text, cr))
    {
      qm_plot_text_clear (&painter->text);
      qm_plot_text_init (&painter->text, theme, cr);
      qm_plot_text_keep (&painter->text);
    }
  return &painter->text;
}

void
qm_plot_painter_draw (QmPlotPainter *painter,
                      cairo_t *cr,
                      const QmPlotData *data,
                      double width,
                      double height,
                      const QmPlotTheme *theme,
                      QmPlotLayers layers)
{
  g_return_if_fail (painter != NULL && cr != NULL);
  g_return_if_fail (data != NULL && theme != NULL);

  if (!qm_plot_begin (cr, &width, &height))
    return;
  keep_frame (painter, data, width, height, theme);
  /* Dimming changes which point lies above which, and some may be hidden. */
  if ((layers & QM_PLOT_LAYER_POINTS) != 0)
    g_clear_pointer (&painter->order, g_free);
  if (painter->order == NULL
      && (layers & (QM_PLOT_LAYER_POINTS | QM_PLOT_LAYER_OVERLAY)) != 0)
    painter->order = qm_plot_spots_sort (data, painter->spots, painter->n_spots,
                                         &painter->n_order);
  if ((layers & QM_PLOT_LAYER_FRAME) != 0)
    qm_plot_draw_frame (cr, data, theme, &painter->frame);
  if ((layers & QM_PLOT_LAYER_POINTS) != 0)
    qm_plot_draw_points (cr, data, theme, &painter->frame, painter->order,
                         painter->n_order, &painter->sprites);
  if ((layers & QM_PLOT_LAYER_OVERLAY) != 0)
    qm_plot_draw_overlay (cr, data, theme, &painter->frame, painter->order,
                          painter->n_order, keep_text (painter, cr, theme));
  cairo_restore (cr);
}
