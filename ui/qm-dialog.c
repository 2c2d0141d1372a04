/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/qm-dialog.h"

void
qm_dialog_follow (GtkWindow *dialog, GtkWindow *parent)
{
  g_return_if_fail (GTK_IS_WINDOW (dialog));
  g_return_if_fail (parent == NULL || GTK_IS_WINDOW (parent));

  if (parent == NULL)
    return;
  gtk_window_set_transient_for (dialog, parent);
  g_signal_connect_object (parent, "destroy", G_CALLBACK (gtk_window_destroy),
                           dialog, G_CONNECT_SWAPPED);
}
