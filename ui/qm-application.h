/* SPDX-License-Identifier: Apache-2.0 */

/* The program with its window. */

#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

/* Property "color-scheme" (string): "system", "light" or "dark". */
#define QM_TYPE_APPLICATION (qm_application_get_type ())
G_DECLARE_FINAL_TYPE (
    QmApplication, qm_application, QM, APPLICATION, AdwApplication)

/* `settings`, of the schema QM_APP_ID, keep state from one start to the next;
 * NULL: nothing is kept.  (transfer full) */
QmApplication *qm_application_new (GSettings *settings);

G_END_DECLS
