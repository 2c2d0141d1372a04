/* SPDX-License-Identifier: Apache-2.0 */

/* GPUs to use, which one has or is allocated: compared with what could be
 * bought, and never recommended. */

#pragma once

#include "ui/advisor/qm-advisor.h"

#include <adwaita.h>

G_BEGIN_DECLS

/* Actions "uses.add" and "uses.reset". */
#define QM_TYPE_USES_EDITOR (qm_uses_editor_get_type ())
G_DECLARE_FINAL_TYPE (
    QmUsesEditor, qm_uses_editor, QM, USES_EDITOR, AdwPreferencesGroup)

/* To be called once. */
void qm_uses_editor_set_advisor (QmUsesEditor *self, QmAdvisor *advisor);

G_END_DECLS
