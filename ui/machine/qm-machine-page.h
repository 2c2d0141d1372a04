/* SPDX-License-Identifier: Apache-2.0 */

/* What this machine can train: its devices, what is predicted for each model,
 * a benchmark that measures it, and what that found. */

#pragma once

#include "ui/machine/qm-bench-session.h"
#include "ui/machine/qm-local-machine.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_MACHINE_PAGE (qm_machine_page_get_type ())
G_DECLARE_FINAL_TYPE (QmMachinePage, qm_machine_page, QM, MACHINE_PAGE, AdwBin)

/* Signals:
 *
 *   "show-plots"   the user wants to see this machine in the advisor's plots
 */

/* `settings` keep the choice of models and methods; NULL: nothing is kept.
 * Keeps the machine and the session, and follows the catalog. */
GtkWidget *qm_machine_page_new (QmCatalogKeeper *keeper,
                                QmLocalMachine *machine,
                                QmBenchSession *session,
                                GSettings *settings);

/* Gives the keyboard to what is to be done next. */
void qm_machine_page_focus (QmMachinePage *self);

G_END_DECLS
