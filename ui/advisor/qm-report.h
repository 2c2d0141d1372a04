/* SPDX-License-Identifier: Apache-2.0 */

/* The advice on one page: the question, the recommendation and why, the plots
 * and the candidates.  Drawn by a pure function, without a display. */

#pragma once

#include "ui/advisor/qm-advisor.h"

#include <cairo.h>

G_BEGIN_DECLS

/* A page as the advisor stands when it is made; valid as long as the advisor's
 * answers are. */
typedef struct _QmReport QmReport;

/* `today` dates the page and the age of the prices.  (transfer full) */
QmReport *qm_report_new (QmAdvisor *advisor, QmDate today);

void qm_report_free (QmReport *report);

/* Makes the page about one candidate, with the settings to train with on it:
 * `settings` are lines as a file has them, `title` says what they are. */
void qm_report_take (QmReport *report,
                     guint topic,
                     guint candidate,
                     const char *title,
                     const char *settings);

/* The page as a PDF document, A4.  (transfer full) */
GBytes *qm_report_pdf (const QmReport *report);

/* Draws the page into the rectangle (0, 0, width, height) of `cr`, in points;
 * what finds no room is counted in a last line.  Returns how many candidates
 * the table shows. */
guint qm_report_draw (const QmReport *report,
                      cairo_t *cr,
                      double width,
                      double height);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmReport, qm_report_free)

G_END_DECLS
