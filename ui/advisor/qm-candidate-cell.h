/* SPDX-License-Identifier: Apache-2.0 */

/* One cell of the table of candidates.  Its size does not depend on what it
 * says, so that a table full of them can change without being laid out anew. */

#pragma once

#include "ui/advisor/qm-candidate-column.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define QM_TYPE_CANDIDATE_CELL (qm_candidate_cell_get_type ())
G_DECLARE_FINAL_TYPE (
    QmCandidateCell, qm_candidate_cell, QM, CANDIDATE_CELL, GtkWidget)

/* An empty cell of a column. */
GtkWidget *qm_candidate_cell_new (QmCandidateColumn column);

/* Shows a candidate, which must stay until another one is shown; NULL: empties
 * the cell.  `title` is its topic's, `style` the look of its marker. */
void qm_candidate_cell_set_candidate (QmCandidateCell *self,
                                      const QmCandidate *candidate,
                                      const char *title,
                                      const QmPurse *purse,
                                      guint style);

/* Whether the candidate is within the limits (dimmed if not) and whether it is
 * the recommended one (starred if so).  Costs nothing where that is so
 * already. */
void qm_candidate_cell_set_state (QmCandidateCell *self,
                                  gboolean within,
                                  gboolean recommended);

/* What the cell says.  (transfer none) */
const char *qm_candidate_cell_get_text (QmCandidateCell *self);

G_END_DECLS
