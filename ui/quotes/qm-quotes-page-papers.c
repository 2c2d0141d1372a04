/* SPDX-License-Identifier: Apache-2.0 */

/* Documents of the page of quotes as files. */

#include "config.h"

#include "ui/quotes/qm-quotes-page-private.h"

#include "ui/advisor/qm-results-files.h"
#include "ui/plot/qm-paper-pdf.h"

#include <glib/gi18n-lib.h>

/* What the user's printer has, as far as it is one of the two. */
static QmPageSize
page_size (void)
{
  return g_str_equal (gtk_paper_size_get_default (), GTK_PAPER_NAME_LETTER)
             ? QM_PAGE_LETTER
             : QM_PAGE_A4;
}

static void
done_cb (gpointer owner, const char *message)
{
  qm_quotes_page_tell (owner, message);
}

static GBytes *
to_pdf (const QmPaper *paper, GError **error)
{
  GBytes *bytes = qm_paper_to_pdf (paper, page_size (), NULL);

  if (bytes == NULL)
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED,
                         _ ("the pages could not be drawn"));
  return bytes;
}

/* --- the comparison --- */

static GBytes *
compared_bytes (gpointer owner,
                QmPlotFormat format,
                guint as_pdf,
                GError **error)
{
  QmQuotesPage *self = owner;
  const QmPaper *paper = qm_quote_compare_view_get_paper (self->compare_view);

  if (paper == NULL)
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED,
                           _ ("no quotes are compared"));
      return NULL;
    }
  return as_pdf != 0 ? to_pdf (paper, error) : qm_paper_to_ods (paper);
}

static void
compared_ods_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  const QmSaveRequest request = {
    .title = _ ("Save the Comparison"),
    .name = _ ("comparison.ods"),
    .filter_name = _ ("Spreadsheets"),
    .filter_pattern = "*.ods",
    .kinds = FALSE,
    .make_bytes = compared_bytes,
    .done = done_cb,
  };

  qm_results_save (widget, &request);
}

static void
compared_pdf_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  const QmSaveRequest request = {
    .title = _ ("Save the Comparison"),
    .name = _ ("comparison.pdf"),
    .filter_name = _ ("PDF documents"),
    .filter_pattern = "*.pdf",
    .kinds = TRUE,
    .make_bytes = compared_bytes,
    .done = done_cb,
  };

  qm_results_save (widget, &request);
}

void
qm_quotes_page_install_papers (GtkWidgetClass *widget_class)
{
  gtk_widget_class_install_action (widget_class, "quotes.compare-ods", NULL,
                                   compared_ods_cb);
  gtk_widget_class_install_action (widget_class, "quotes.compare-pdf", NULL,
                                   compared_pdf_cb);
}

void
qm_quotes_page_update_papers (QmQuotesPage *self)
{
  gboolean comparing =
      g_strcmp0 (gtk_stack_get_visible_child_name (self->detail_stack),
                 "compare")
      == 0;

  gtk_widget_action_set_enabled (GTK_WIDGET (self), "quotes.compare-ods",
                                 comparing);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "quotes.compare-pdf",
                                 comparing);
}
