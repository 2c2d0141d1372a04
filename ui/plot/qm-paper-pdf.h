/* SPDX-License-Identifier: Apache-2.0 */

/* A document (pricing/papers/qm-paper.h) as pages: headings stay with what
 * follows them, rows of tables are never cut, heads of tables come again on
 * each page, and each page says which one of how many it is.  The same document
 * gives the same bytes. */

#pragma once

#include "pricing/papers/qm-paper.h"

#include <cairo.h>

G_BEGIN_DECLS

typedef enum
{
  QM_PAGE_A4,
  QM_PAGE_LETTER
} QmPageSize;

/* Draws a figure into the rectangle (0, 0, width, height), in points. */
typedef void (*QmPaperDrawFunc) (cairo_t *cr,
                                 double width,
                                 double height,
                                 gpointer data);

/* Lays a document out and writes it as PDF, with tags for those who have it
 * read to them, as far as Cairo has any.
 *
 * draw: (nullable): draws the document's figure, twice; without there is none.
 * n_pages: (out) (optional).
 *
 * Returns: (transfer full): NULL where Cairo failed. */
GBytes *qm_paper_to_pdf (const QmPaper *paper,
                         QmPageSize size,
                         QmPaperDrawFunc draw,
                         gpointer data,
                         guint *n_pages);

G_END_DECLS
