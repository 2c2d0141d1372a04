/* SPDX-License-Identifier: Apache-2.0 */

/* What the parts of the page of this machine share. */

#pragma once

#include "ui/machine/qm-bench-setup.h"
#include "ui/machine/qm-bench-table.h"
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
  GtkStack *stack;
  QmBenchTable *table;

  QmLocalMachine *machine;
  QmBenchSession *session;
  GSettings *settings; /* NULL: nothing is kept */
  GtkFileChooserNative *chooser;
};

/* Installs the actions that put the table somewhere else and get results in. */
void qm_machine_page_install_files (GtkWidgetClass *widget_class);

/* Shows a message for a few seconds. */
void qm_machine_page_tell (QmMachinePage *self, const char *message);

G_END_DECLS
