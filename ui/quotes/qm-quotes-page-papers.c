/* SPDX-License-Identifier: Apache-2.0 */

/* Documents of the page of quotes as files. */

#include "config.h"

#include "ui/quotes/qm-quotes-page-private.h"

#include "pricing/papers/qm-request-paper.h"
#include "pricing/papers/qm-request-ubl.h"
#include "ui/advisor/qm-results-files.h"

#include <glib/gi18n-lib.h>

static void
done_cb (gpointer owner, const char *message)
{
  qm_quotes_page_tell (owner, message);
}

/* --- the comparison --- */

/* What a comparison is saved as. */
enum
{
  COMPARED_ODS,
  COMPARED_PDF,
  COMPARED_XLSX
};

static GBytes *
compared_bytes (gpointer owner, QmPlotFormat format, guint kind, GError **error)
{
  QmQuotesPage *self = owner;
  const QmPaper *paper = qm_quote_compare_view_get_paper (self->compare_view);

  if (paper == NULL)
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED,
                           _ ("no quotes are compared"));
      return NULL;
    }
  return kind == COMPARED_PDF    ? qm_results_pdf (paper, error)
         : kind == COMPARED_XLSX ? qm_paper_to_xlsx (paper)
                                 : qm_paper_to_ods (paper);
}

static void
compared_ods_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  const QmSaveRequest request = {
    .title = _ ("Save the Comparison"),
    .name = _ ("comparison.ods"),
    .filter_name = _ ("Spreadsheets"),
    .filter_pattern = "*.ods",
    .kinds = COMPARED_ODS,
    .make_bytes = compared_bytes,
    .done = done_cb,
  };

  qm_results_save (widget, &request);
}

static void
compared_xlsx_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  const QmSaveRequest request = {
    .title = _ ("Save the Comparison"),
    .name = _ ("comparison.xlsx"),
    .filter_name = _ ("Spreadsheets"),
    .filter_pattern = "*.xlsx",
    .kinds = COMPARED_XLSX,
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
    .kinds = COMPARED_PDF,
    .make_bytes = compared_bytes,
    .done = done_cb,
  };

  qm_results_save (widget, &request);
}

/* --- the request for quotation --- */

/* (transfer full) (nullable) */
static QmQuestion *
question_of_page (QmQuotesPage *self)
{
  return self->advisor != NULL ? qm_advisor_ask_whole (self->advisor) : NULL;
}

/* (transfer full): NULL with an error. */
static QmRequest *
make_request (QmQuotesPage *self, const QmQuestion *question, GError **error)
{
  const QmRequestTerms terms = qm_request_terms_default ();

  if (question != NULL)
    return qm_request_new (qm_advisor_get_catalog (self->advisor), question,
                           &terms, error);
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED,
                       _ ("nothing is asked in the advisor yet"));
  return NULL;
}

static GBytes *
request_bytes (gpointer owner,
               QmPlotFormat format,
               guint as_pdf,
               GError **error)
{
  QmQuotesPage *self = owner;
  g_autoptr (QmQuestion) question = question_of_page (self);
  g_autoptr (QmRequest) request = make_request (self, question, error);
  g_autoptr (QmPaper) paper = NULL;

  if (request == NULL)
    return NULL;
  if (as_pdf == 0)
    return qm_request_ubl_write (request, "1");
  paper = qm_request_paper_new (request);
  return qm_results_pdf (paper, error);
}

/* The marked quotes, or else the selected one.  (transfer full) */
static GPtrArray *
take_quotes (QmQuotesPage *self)
{
  GArray *marked = qm_quote_list_get_marked (self->list);
  GPtrArray *quotes =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
  QmQuote *selected;

  for (guint i = 0; i < marked->len && i < QM_COMPARED_MOST; i++)
    {
      QmQuote *quote =
          qm_quote_book_get (self->book, g_array_index (marked, gint64, i),
                             NULL);

      if (quote != NULL)
        g_ptr_array_add (quotes, quote);
    }
  if (quotes->len == 0 && (selected = qm_quotes_page_get_quote (self)) != NULL)
    g_ptr_array_add (quotes, selected);
  return quotes;
}

static GBytes *
answers_bytes (gpointer owner, QmPlotFormat format, guint kinds, GError **error)
{
  QmQuotesPage *self = owner;
  g_autoptr (QmQuestion) question = question_of_page (self);
  g_autoptr (QmRequest) request = make_request (self, question, error);
  g_autoptr (GPtrArray) quotes = take_quotes (self);
  g_autoptr (QmQuoteComparison) comparison = NULL;
  g_autoptr (QmPaper) paper = NULL;

  if (request == NULL)
    return NULL;
  if (quotes->len == 0)
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED,
                           _ ("no quote is marked or selected"));
      return NULL;
    }
  comparison =
      qm_quote_compare_make (self->book, self->advisor, question, quotes);
  paper = qm_answers_paper_new (request, qm_advisor_get_catalog (self->advisor),
                                comparison);
  return qm_results_pdf (paper, error);
}

static void
request_pdf_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  const QmSaveRequest request = {
    .title = _ ("Save the Request for Quotation"),
    .name = _ ("request.pdf"),
    .filter_name = _ ("PDF documents"),
    .filter_pattern = "*.pdf",
    .kinds = TRUE,
    .make_bytes = request_bytes,
    .done = done_cb,
  };

  qm_results_save (widget, &request);
}

static void
request_ubl_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  const QmSaveRequest request = {
    .title = _ ("Save the Request for Quotation"),
    .name = _ ("request.xml"),
    .filter_name = _ ("UBL documents"),
    .filter_pattern = "*.xml",
    .kinds = FALSE,
    .make_bytes = request_bytes,
    .done = done_cb,
  };

  qm_results_save (widget, &request);
}

static void
answers_pdf_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  const QmSaveRequest request = {
    .title = _ ("Save What the Offers Say"),
    .name = _ ("offers.pdf"),
    .filter_name = _ ("PDF documents"),
    .filter_pattern = "*.pdf",
    .make_bytes = answers_bytes,
    .done = done_cb,
  };

  qm_results_save (widget, &request);
}

void
qm_quotes_page_install_papers (GtkWidgetClass *widget_class)
{
  gtk_widget_class_install_action (widget_class, "quotes.compare-ods", NULL,
                                   compared_ods_cb);
  gtk_widget_class_install_action (widget_class, "quotes.compare-xlsx", NULL,
                                   compared_xlsx_cb);
  gtk_widget_class_install_action (widget_class, "quotes.compare-pdf", NULL,
                                   compared_pdf_cb);
  gtk_widget_class_install_action (widget_class, "quotes.request-pdf", NULL,
                                   request_pdf_cb);
  gtk_widget_class_install_action (widget_class, "quotes.request-ubl", NULL,
                                   request_ubl_cb);
  gtk_widget_class_install_action (widget_class, "quotes.answers-pdf", NULL,
                                   answers_pdf_cb);
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
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "quotes.compare-xlsx",
                                 comparing);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "quotes.compare-pdf",
                                 comparing);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "quotes.request-pdf",
                                 self->advisor != NULL);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "quotes.request-ubl",
                                 self->advisor != NULL);
  gtk_widget_action_set_enabled (
      GTK_WIDGET (self), "quotes.answers-pdf",
      self->advisor != NULL
          && (qm_quote_list_get_selected (self->list) != 0
              || qm_quote_list_get_marked (self->list)->len > 0));
}
