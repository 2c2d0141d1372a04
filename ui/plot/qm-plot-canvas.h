/* SPDX-License-Identifier: Apache-2.0 */

/* Pixels that are composited from the topmost layer downwards; private to the
 * plot.
 *
 * Each layer goes below what is there, so that what is covered can be found out
 * and left: where 20 000 points crowd, most are. */

#pragma once

#include <cairo.h>
#include <glib.h>

G_BEGIN_DECLS

/* Premultiplied pixels that are composited together: they fill the larger
 * vector registers, and two of the smaller. */
#define QM_PLOT_GROUP 8

typedef struct
{
  guint32 pixels[QM_PLOT_GROUP];
} QmPlotGroup;

/* Where the first pixel of a group goes, from the middle of its stamp. */
typedef struct
{
  gint16 x, y;
} QmPlotPlace;

/* An image to put below others. */
typedef struct
{
  int left, top, right, bottom; /* of all pixels; right, bottom excluded */
  const QmPlotGroup *groups;
  const QmPlotPlace *places; /* of the groups */
  guint n;
} QmPlotStamp;

typedef struct
{
  guint32 *pixels;
  int stride; /* in pixels */
  int width, height;
  gboolean wide;  /* the processor has vector registers of 32 bytes */
  int columns;    /* of tiles */
  guint8 *opaque; /* whether a tile is known to be */
} QmPlotCanvas;

/* `image` is empty and CAIRO_FORMAT_ARGB32; it stays the caller's. */
void qm_plot_canvas_init (QmPlotCanvas *canvas, cairo_surface_t *image);
void qm_plot_canvas_clear (QmPlotCanvas *canvas);

/* Puts a stamp below what is there, cut at the edges of the canvas. */
void qm_plot_canvas_stamp (QmPlotCanvas *canvas,
                           const QmPlotStamp *stamp,
                           int x,
                           int y);

G_END_DECLS
