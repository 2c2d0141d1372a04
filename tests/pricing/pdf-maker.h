/* SPDX-License-Identifier: Apache-2.0 */

/* Draws the table of a vendor as a PDF, as programs that print offers do. */

#pragma once

#include "pricing/formats/qm-csv-mapping.h"

typedef enum
{
  PDF_LEFT,
  PDF_RIGHT, /* columns of numbers */
  PDF_CENTRE /* they and their names */
} PdfAlign;

typedef struct
{
  const char *name;
  double width, height; /* of the page, in points */
  double margin;
  const char *font;     /* as Pango has it, "DejaVu Sans 9" */
  double across, above; /* space around a cell's text, in points */
  PdfAlign align;
  double upright;    /* where a lower cell stands in its row: 0 above, 1
                        below */
  gboolean ruled;    /* with lines around cells */
  gboolean bold;     /* the head is */
  gboolean glued;    /* "Date: 2 July", not in two cells */
  guint rows_a_page; /* of the table, after which a page ends; 0: none */
  gboolean foot;     /* what vendors print at the foot of each page */
  double narrow;     /* of the room for descriptions, so much is used */
} PdfLayout;

extern const PdfLayout pdf_layouts[];
extern const guint pdf_n_layouts;

/* Another one, with something of each; the same for the same number. */
void pdf_layout_by_chance (guint32 seed, PdfLayout *layout);

/* The PDF of a sheet that is read by a mapping. */
GBytes *pdf_draw_table (const PdfLayout *layout,
                        const QmSheet *sheet,
                        const QmCsvMapping *mapping);

/* One with a paragraph, or a picture alone where that is NULL, on each of so
 * many pages. */
GBytes *pdf_draw_text (const char *text, guint pages);

/* One of objects as they stand, from 1 (ISO 32000-1, 7.5); the first is its
 * catalog.
 *
 * trailer: what its trailer has besides, "/Encrypt 5 0 R" or "". */
GBytes *pdf_build (GBytes *const *objects, guint n, const char *trailer);
