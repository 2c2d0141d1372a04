/* SPDX-License-Identifier: Apache-2.0 */

/* What the very first start asks: which models, for how much, until when. */

#pragma once

#include "ui/advisor/qm-advisor.h"

#include <adwaita.h>

G_BEGIN_DECLS

/* Answered "advise", it asks the advisor what was chosen; answered "skip",
 * which closing it does, it leaves the advisor as it is. */
#define QM_TYPE_FIRST_DIALOG (qm_first_dialog_get_type ())
G_DECLARE_FINAL_TYPE (
    QmFirstDialog, qm_first_dialog, QM, FIRST_DIALOG, AdwMessageDialog)

/* Starts with what the advisor is asked. */
GtkWidget *qm_first_dialog_new (GtkWindow *parent, QmAdvisor *advisor);

/* Has the answers go to another advisor, as of another catalog; what was chosen
 * so far stays, as far as that one knows it. */
void qm_first_dialog_set_advisor (QmFirstDialog *self, QmAdvisor *advisor);

G_END_DECLS
