/* SPDX-License-Identifier: Apache-2.0 */

/* Plots to test with, and what tests look at. */

#pragma once

#include "ui/plot/qm-plot.h"

G_BEGIN_DECLS

/* A plot that owns all that it points to. */
typedef struct
{
  QmPlotData data;
  GArray *points;   /* QmPlotPoint */
  GArray *series;   /* QmPlotSeries */
  GArray *frontier; /* int */
} Fixture;

/* The sixteen candidates of the published analysis for pythia-1b: cost against
 * days, four GPU types, 1 to 8 of each. */
Fixture *fixture_new_published (gboolean log);

/* `n` points spread over `decades`, the same for the same seed. */
Fixture *fixture_new_random (guint n, guint32 seed, double decades);

Fixture *fixture_new_empty (void);
void fixture_free (Fixture *fixture);

void fixture_add (
    Fixture *fixture, double x, double y, guint16 series, guint16 weight);

/* Fills in `data` again after a change of the arrays. */
void fixture_sync (Fixture *fixture);

/* Turns on everything that the overlay can show. */
void fixture_decorate (Fixture *fixture);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Fixture, fixture_free)

/* Draws onto a new image, of `scale` pixels a user unit. */
cairo_surface_t *render (const QmPlotData *data,
                         const QmPlotTheme *theme,
                         int width,
                         int height,
                         double scale,
                         QmPlotLayers layers);

/* The greatest difference of any channel of two images, and how many pixels
 * differ by more than `tolerance`. */
guint compare_images (cairo_surface_t *a,
                      cairo_surface_t *b,
                      guint tolerance,
                      guint *greatest);

/* The channels of a pixel as 0xAARRGGBB, premultiplied. */
guint32 pixel_at (cairo_surface_t *image, int x, int y);

G_END_DECLS
