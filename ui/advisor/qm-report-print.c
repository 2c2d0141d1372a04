/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-report-print.h"

#include "ui/advisor/qm-report.h"

#include <glib/gi18n-lib.h>

static void
begin_print_cb (GtkPrintOperation *operation,
                GtkPrintContext *context,
                gpointer data)
{
  gtk_print_operation_set_n_pages (operation, 1);
}

static void
draw_page_cb (GtkPrintOperation *operation,
              GtkPrintContext *context,
              int page,
              gpointer data)
{
  g_autoptr (QmReport) report = qm_report_new (data, qm_date_today ());

  qm_report_draw (report, gtk_print_context_get_cairo_context (context),
                  gtk_print_context_get_width (context),
                  gtk_print_context_get_height (context));
}

static void
unref_advisor (gpointer data, GClosure *closure)
{
  g_object_unref (data);
}

GtkPrintOperation *
qm_report_print_operation_new (QmAdvisor *advisor)
{
  GtkPrintOperation *operation;

  g_return_val_if_fail (QM_IS_ADVISOR (advisor), NULL);

  operation = gtk_print_operation_new ();
  gtk_print_operation_set_job_name (operation, _ ("Quartermaster advice"));
  gtk_print_operation_set_unit (operation, GTK_UNIT_POINTS);
  gtk_print_operation_set_embed_page_setup (operation, TRUE);
  g_signal_connect (operation, "begin-print", G_CALLBACK (begin_print_cb),
                    NULL);
  g_signal_connect_data (operation, "draw-page", G_CALLBACK (draw_page_cb),
                         g_object_ref (advisor), unref_advisor, 0);
  return operation;
}
