/* SPDX-License-Identifier: Apache-2.0 */

/* Text of an SVG file that stays text, which Cairo would make outlines of:
 * it can be searched, read aloud and changed.  Private to the plot. */

#pragma once

#include <cairo.h>
#include <glib.h>
#include <pango/pango.h>

G_BEGIN_DECLS

/* Has text that is drawn on a surface added to `elements` as SVG elements
 * instead, which belong before the end of the file.  `elements` must outlive
 * the surface. */
void qm_plot_svg_text_keep (cairo_surface_t *surface, GString *elements);

/* Adds a layout whose upper left corner is at (x, y) of `cr`, in its source
 * colour.  Returns FALSE where it has to be drawn: on any other surface,
 * several lines, what is cut, and what XML has no characters for. */
gboolean
qm_plot_svg_text_add (cairo_t *cr, PangoLayout *layout, double x, double y);

G_END_DECLS
