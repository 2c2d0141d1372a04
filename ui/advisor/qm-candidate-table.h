/* SPDX-License-Identifier: Apache-2.0 */

/* The sortable table of all candidates of all topics.
 *
 * Its selection is the advisor's.  A moved limit changes how the rows look and
 * never which rows there are; neither does a changed question that leaves as
 * many candidates as before.
 */

#pragma once

#include "ui/advisor/qm-advisor.h"
#include "ui/advisor/qm-candidate-column.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define QM_TYPE_CANDIDATE_TABLE (qm_candidate_table_get_type ())
G_DECLARE_FINAL_TYPE (
    QmCandidateTable, qm_candidate_table, QM, CANDIDATE_TABLE, GtkWidget)

/* Shows another advisor's candidates; NULL: none. */
void qm_candidate_table_set_advisor (QmCandidateTable *self,
                                     QmAdvisor *advisor);

/* Sorts by a column as a click on its header does. */
void qm_candidate_table_sort (QmCandidateTable *self,
                              QmCandidateColumn column,
                              GtkSortType order);

/* The table as CSV in the order in which it is shown, or only the selected
 * row.  (transfer full) */
char *qm_candidate_table_get_csv (QmCandidateTable *self,
                                  gboolean only_selected);

/* Whether a row is selected. */
gboolean qm_candidate_table_has_selected (QmCandidateTable *self);

G_END_DECLS
