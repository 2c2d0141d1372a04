/* SPDX-License-Identifier: Apache-2.0 */

/* Text of pages that are printed or become a PDF: in the plots' font, black on
 * white whatever the window looks like. */

#pragma once

#include <pango/pangocairo.h>

G_BEGIN_DECLS

/* Text of a size in user units, which wraps where pango_layout_set_width() says
 * how wide it may be.  (transfer full) */
PangoLayout *
qm_page_text_new (cairo_t *cr, const char *text, double size, gboolean bold);

/* Its size, in user units. */
double qm_page_text_height (PangoLayout *layout);
double qm_page_text_width (PangoLayout *layout);

G_END_DECLS
