/* SPDX-License-Identifier: Apache-2.0 */

/* Printing the advice. */

#pragma once

#include "ui/advisor/qm-advisor.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* An operation that prints the page of qm_report_draw() as the advisor stands
 * when printing begins.  (transfer full) */
GtkPrintOperation *qm_report_print_operation_new (QmAdvisor *advisor);

G_END_DECLS
