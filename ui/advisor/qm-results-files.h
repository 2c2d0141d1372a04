/* SPDX-License-Identifier: Apache-2.0 */

/* The answers as files and on the clipboard. */

#pragma once

#include "ui/plot/qm-paper-pdf.h"
#include "ui/plot/qm-plot-export.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Told when something is done, with what to tell the user; not called where
 * the user changed their mind. */
typedef void (*QmDoneFunc) (gpointer owner, const char *message);

/* The bytes of the file that the user has chosen; NULL with an error.  `owner`
 * still lives. */
typedef GBytes *(*QmBytesFunc) (gpointer owner,
                                QmPlotFormat format,
                                guint kinds,
                                GError **error);

/* What the user is asked and what to do with the answer. */
typedef struct
{
  const char *title;
  const char *name;        /* suggested */
  gboolean plot;           /* PNG, SVG or PDF, else CSV, ... */
  const char *filter_name; /* ... or what this says; NULL: CSV */
  const char *filter_pattern;
  guint kinds; /* handed to `make_bytes` */
  QmBytesFunc make_bytes;
  QmDoneFunc done;
} QmSaveRequest;

/* Asks for a file and writes it, complete or not at all, without blocking.
 * Nothing is called once `owner` is gone. */
void qm_results_save (GtkWidget *owner, const QmSaveRequest *request);

/* The paper of the user's printer, as far as it is one of the two. */
QmPageSize qm_results_page (void);

/* A document as a PDF, on that paper.
 * (transfer full): NULL with an error. */
GBytes *qm_results_pdf (const QmPaper *paper, GError **error);

/* Renders plots for a file or the clipboard: light and opaque, in a size that
 * suits their number.  Returns NULL with an error. */
GBytes *qm_results_render (const QmPlotData *const *plots,
                           guint n,
                           QmPlotFormat format,
                           GError **error);

G_END_DECLS
