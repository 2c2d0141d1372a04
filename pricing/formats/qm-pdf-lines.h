/* SPDX-License-Identifier: Apache-2.0 */

/* Words of a PDF as the lines that a person sees. */

#pragma once

#include "pricing/formats/qm-pdf-words.h"

G_BEGIN_DECLS

typedef struct
{
  guint page;
  QmPdfBox box;
  GArray *words; /* of QmPdfWord, from left to right; their text is borrowed */
  double space;  /* a gap that is wider is none between words, in points, ... */
  double gap;    /* ... and one that is wider than this is one between columns
                    or cells that have nothing to do with each other */
} QmPdfLine;

/* Words of a line that belong together. */
typedef struct
{
  QmPdfBox box;
  guint first, n; /* among those of the line */
  char *text;
} QmPdfRun;

/* All lines, page by page and from above.
 *
 * pages: of QmPdfPage; they must live as long as the lines.
 *
 * Returns: (transfer full): of QmPdfLine. */
GPtrArray *qm_pdf_lines (const GPtrArray *pages);

/* One of them. */
static inline const QmPdfLine *
qm_pdf_line_at (const GPtrArray *lines, guint i)
{
  return g_ptr_array_index (lines, i);
}

void qm_pdf_line_free (QmPdfLine *line);

/* The height of a line's letters, as that of its largest box. */
double qm_pdf_line_height (const QmPdfLine *line);

/* Divides a line where gaps are wider than so many points.
 *
 * Returns: (transfer full): of QmPdfRun. */
GArray *qm_pdf_line_runs (const QmPdfLine *line, double gap);

/* The words of a line from one to before another, with spaces between them. */
char *qm_pdf_line_text (const QmPdfLine *line, guint first, guint end);

/* Makes a box as large as to contain another. */
void qm_pdf_box_join (QmPdfBox *box, const QmPdfBox *other);

G_END_DECLS
