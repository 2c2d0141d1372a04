/* SPDX-License-Identifier: Apache-2.0 */

/* A spinner that only moves where it can be seen.  One of GTK goes on on the
 * hidden page of a stack, and has the window drawn sixty times a second for
 * nobody. */

#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_SPINNER (qm_spinner_get_type ())
G_DECLARE_FINAL_TYPE (QmSpinner, qm_spinner, QM, SPINNER, AdwBin)

/* Property "spinning": whether something is going on. */
void qm_spinner_set_spinning (QmSpinner *self, gboolean spinning);

G_END_DECLS
