/* SPDX-License-Identifier: Apache-2.0 */

/* A row that chooses whose training times count, with a line that explains the
 * choice. */

#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

/* Property: "times-of" (int: a QmTimesOf). */
#define QM_TYPE_TIMES_OF_ROW (qm_times_of_row_get_type ())
G_DECLARE_FINAL_TYPE (
    QmTimesOfRow, qm_times_of_row, QM, TIMES_OF_ROW, AdwPreferencesRow)

G_END_DECLS
