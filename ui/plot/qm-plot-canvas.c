/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/plot/qm-plot-canvas.h"

#include <string.h>

/* What is covered is found out by tiles of this side. */
#define TILE 8

/* Pixels of this alpha count as opaque: what is left to the layers below is
 * less than the eye can tell. */
#define OPAQUE 250

typedef guint32 Pixels __attribute__ ((vector_size (4 * QM_PLOT_GROUP)));
typedef guint16 Halves __attribute__ ((vector_size (4 * QM_PLOT_GROUP)));

void
qm_plot_canvas_init (QmPlotCanvas *canvas, cairo_surface_t *image)
{
  canvas->pixels = (guint32 *) (void *) cairo_image_surface_get_data (image);
  canvas->stride = cairo_image_surface_get_stride (image) / 4;
  canvas->width = cairo_image_surface_get_width (image);
  canvas->height = cairo_image_surface_get_height (image);
#if defined(__x86_64__)
  canvas->wide = __builtin_cpu_supports ("avx2") != 0;
#else
  canvas->wide = FALSE;
#endif
  canvas->columns = (canvas->width + TILE - 1) / TILE;
  canvas->opaque =
      g_new0 (guint8, (gsize) canvas->columns
                          * (gsize) ((canvas->height + TILE - 1) / TILE));
}

void
qm_plot_canvas_clear (QmPlotCanvas *canvas)
{
  g_clear_pointer (&canvas->opaque, g_free);
}

static inline guint32 *
line_at (const QmPlotCanvas *canvas, int y)
{
  return canvas->pixels + (gssize) y * canvas->stride;
}

/* --- What is covered ----------------------------------------------------- */

static gboolean
any_clear (const guint32 *pixels)
{
  guint32 least = G_MAXUINT32;

  for (int i = 0; i < QM_PLOT_GROUP; i++)
    least = MIN (least, pixels[i] | 0xffffff);
  return least >> 24 < OPAQUE;
}

static gboolean
tile_is_opaque (const QmPlotCanvas *canvas, int column, int row)
{
  int x_end = MIN ((column + 1) * TILE, canvas->width);
  int y_end = MIN ((row + 1) * TILE, canvas->height);

  for (int y = row * TILE; y < y_end; y++)
    {
      const guint32 *line = line_at (canvas, y);
      int x = column * TILE;

      for (; x + QM_PLOT_GROUP <= x_end; x += QM_PLOT_GROUP)
        {
          if (any_clear (line + x))
            return FALSE;
        }
      for (; x < x_end; x++)
        if (line[x] >> 24 < OPAQUE)
          return FALSE;
    }
  return TRUE;
}

/* Whether all of a box lies in opaque tiles.  Tiles do not become clear again,
 * and where points do not crowd the first look at one tells. */
static gboolean
is_covered (QmPlotCanvas *canvas, int left, int top, int right, int bottom)
{
  for (int row = top / TILE; row <= (bottom - 1) / TILE; row++)
    for (int column = left / TILE; column <= (right - 1) / TILE; column++)
      {
        guint8 *opaque = &canvas->opaque[row * canvas->columns + column];

        if (!*opaque
            && !(*opaque = (guint8) tile_is_opaque (canvas, column, row)))
          return FALSE;
      }
  return TRUE;
}

/* --- Compositing --------------------------------------------------------- */

/* Adds pixels below those that are there: every channel, two of a pixel at a
 * time, as much as the pixel above lets through, rounded. */
static inline __attribute__ ((always_inline)) void
composite_group (guint32 *target, const QmPlotGroup *group)
{
  Pixels above;
  Pixels below;
  Pixels rest;
  Halves even;
  Halves odd;

  memcpy (&above, target, sizeof above);
  memcpy (&below, group, sizeof below);
  rest = 255 - (above >> 24);
  rest |= rest << 16;
  even = (Halves) (below & 0xff00ff) * (Halves) rest + 128;
  odd = (Halves) (below >> 8 & 0xff00ff) * (Halves) rest + 128;
  /* Over 255, exactly. */
  even = (even + (even >> 8)) >> 8;
  odd = (odd + (odd >> 8)) >> 8;
  above += (Pixels) even | (Pixels) odd << 8;
  memcpy (target, &above, sizeof above);
}

/* One loop without a branch in it: rows would be too short to predict. */
static inline __attribute__ ((always_inline)) void
composite_groups (guint32 *middle, gssize stride, const QmPlotStamp *stamp)
{
  for (guint i = 0; i < stamp->n; i++)
    composite_group (middle + stamp->places[i].y * stride + stamp->places[i].x,
                     &stamp->groups[i]);
}

#if defined(__x86_64__)
/* The same instructions at twice the width, which most processors have. */
__attribute__ ((target ("avx2"))) static void
composite_wide (guint32 *middle, gssize stride, const QmPlotStamp *stamp)
{
  composite_groups (middle, stride, stamp);
}
#endif

static void
composite_whole (QmPlotCanvas *canvas, const QmPlotStamp *stamp, int x, int y)
{
  guint32 *middle = line_at (canvas, y) + x;

#if defined(__x86_64__)
  if (canvas->wide)
    {
      composite_wide (middle, canvas->stride, stamp);
      return;
    }
#endif
  composite_groups (middle, canvas->stride, stamp);
}

static void
composite_cut (QmPlotCanvas *canvas, const QmPlotStamp *stamp, int x, int y)
{
  for (guint i = 0; i < stamp->n; i++)
    {
      int group_x = x + stamp->places[i].x;
      int group_y = y + stamp->places[i].y;
      int first = MAX (0, -group_x);
      int end = MIN (QM_PLOT_GROUP, canvas->width - group_x);
      guint32 buffer[QM_PLOT_GROUP] = { 0 };
      guint32 *part;

      if (group_y < 0 || group_y >= canvas->height || first >= end)
        continue;
      part = line_at (canvas, group_y) + group_x + first;
      memcpy (buffer + first, part, (gsize) (end - first) * 4);
      composite_group (buffer, &stamp->groups[i]);
      memcpy (part, buffer + first, (gsize) (end - first) * 4);
    }
}

void
qm_plot_canvas_stamp (QmPlotCanvas *canvas,
                      const QmPlotStamp *stamp,
                      int x,
                      int y)
{
  int left = MAX (x + stamp->left, 0);
  int top = MAX (y + stamp->top, 0);
  int right = MIN (x + stamp->right, canvas->width);
  int bottom = MIN (y + stamp->bottom, canvas->height);

  if (left >= right || top >= bottom
      || is_covered (canvas, left, top, right, bottom))
    return;
  /* The last group of a row may reach beyond the pixels. */
  if (x + stamp->left >= 0 && y + stamp->top >= 0
      && x + stamp->right + QM_PLOT_GROUP <= canvas->width
      && y + stamp->bottom <= canvas->height)
    composite_whole (canvas, stamp, x, y);
  else
    composite_cut (canvas, stamp, x, y);
}
