/* SPDX-License-Identifier: Apache-2.0 */

/* A bar over the page that asks on which machine results of this host were
 * measured that do not say it themselves: until somebody answers they count as
 * times, and not as this machine. */

#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_ADOPT_BAR (qm_adopt_bar_get_type ())
G_DECLARE_FINAL_TYPE (QmAdoptBar, qm_adopt_bar, QM, ADOPT_BAR, AdwBin)

/* Signals:
 *
 *   "adopted"               the file says it now
 *   "failed" (const char*)  it cannot be written, and why
 */

/* Asks about so many results; 0 hides the bar. */
void qm_adopt_bar_ask (QmAdoptBar *self, guint n);

G_END_DECLS
