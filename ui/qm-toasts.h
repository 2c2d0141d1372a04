/* SPDX-License-Identifier: Apache-2.0 */

/* The messages that slide in at the bottom of a page.
 *
 * In libadwaita before 1.3 a toast that goes while it still slides in is
 * released once it has faded, and then touched when it would have arrived: one
 * that takes another's place slides for half a second and fades in less, and
 * where no frames are drawn both end in the same one.  So here a toast that is
 * dismissed, by whomever, goes once it has arrived; and those that wait do so
 * here, as libadwaita tells nobody when it shows the next. */

#pragma once

#include <adwaita.h>

/* Shows a toast (transfer full), after those that are there.  Whatever is shown
 * on `overlay` has to be shown by this. */
void qm_toasts_show (AdwToastOverlay *overlay, AdwToast *toast);

/* Shows a text, which is no markup. */
void qm_toasts_tell (AdwToastOverlay *overlay, const char *text);

/* Takes a toast away: at once where it waits, else as soon as it has arrived.
 */
void qm_toasts_dismiss (AdwToastOverlay *overlay, AdwToast *toast);
