/* SPDX-License-Identifier: Apache-2.0 */

/* Asks what another machine is to measure, and writes the folder for it. */

#pragma once

#include "ui/qm-catalog-keeper.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_ELSEWHERE_WINDOW (qm_elsewhere_window_get_type ())
G_DECLARE_FINAL_TYPE (
    QmElsewhereWindow, qm_elsewhere_window, QM, ELSEWHERE_WINDOW, AdwWindow)

/* Signal "written" (const char *path): the folder is there. */

/* `chosen` are the models that are ticked at first. */
GtkWidget *qm_elsewhere_window_new (GtkWindow *parent,
                                    QmCatalogKeeper *keeper,
                                    const char *const *chosen);

G_END_DECLS
