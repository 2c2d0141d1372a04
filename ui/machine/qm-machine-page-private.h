/* SPDX-License-Identifier: Apache-2.0 */

/* What the parts of the page of this machine share. */

#pragma once

#include "ui/machine/qm-bench-setup.h"
#include "ui/machine/qm-bench-table.h"
#include "ui/machine/qm-bench-trouble.h"
#include "ui/machine/qm-bench-watch.h"
#include "ui/machine/qm-machine-page.h"

G_BEGIN_DECLS

struct _QmMachinePage
{
  AdwBin parent_instance;

  AdwToastOverlay *overlay;
  AdwLeaflet *leaflet;
  QmBenchSetup *setup;
  GtkWidget *back_button;
  QmBenchWatch *watch;
  GtkWidget *plots_button;
  GtkStack *stack;
  AdwStatusPage *empty;
  QmBenchTable *table;
  QmBenchTrouble *trouble; /* of the selected row */

  QmLocalMachine *machine;
  QmCatalogKeeper *keeper;
  QmBenchSession *session;
  QmBenchSession *overview; /* plans every model, and measures nothing */
  gboolean stale;           /* it is of another catalog than there is */
  gboolean busy;            /* the session was, when it changed last */
  gboolean asked;           /* which devices there are */
  gboolean restoring;       /* what was left unfinished is being planned */
  GSettings *settings;      /* NULL: nothing is kept */
};

/* Installs the actions that put the table somewhere else and get results in. */
void qm_machine_page_install_files (GtkWidgetClass *widget_class);

/* Shows how the benchmark is going. */
void qm_machine_page_show_watch (QmMachinePage *self);

/* Says what a benchmark leads to: into the plots, or, of a device that is none
 * of the catalog's, not. */
void qm_machine_page_show_promises (QmMachinePage *self, gboolean in_catalog);

/* Shows what is predicted of every model. */
void qm_machine_page_show_predictions (QmMachinePage *self);

/* Shows how long the chosen benchmark will take. */
void qm_machine_page_show_estimate (QmMachinePage *self);

/* How many configurations of a session are in that state. */
guint qm_machine_page_count (QmBenchSession *session, QmBenchRowState state);

/* Whether there is something that can be measured. */
gboolean qm_machine_page_can_start (QmMachinePage *self);

/* Shows a message for a few seconds. */
void qm_machine_page_tell (QmMachinePage *self, const char *message);

G_END_DECLS
