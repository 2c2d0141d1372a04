/* SPDX-License-Identifier: Apache-2.0 */

/* Shows what was measured on this machine and can be given away, and writes the
 * file of it for who signs that off. */

#pragma once

#include "ui/qm-catalog-keeper.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_SHARE_WINDOW (qm_share_window_get_type ())
G_DECLARE_FINAL_TYPE (
    QmShareWindow, qm_share_window, QM, SHARE_WINDOW, AdwWindow)

/* Of this machine's results file as it is now. */
GtkWidget *qm_share_window_new (GtkWindow *parent, QmCatalogKeeper *keeper);

G_END_DECLS
