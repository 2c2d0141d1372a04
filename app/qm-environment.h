/* SPDX-License-Identifier: Apache-2.0 */

/* What surrounds the program: its language and its settings, found beside the
 * program while it runs from a build directory and else where it was
 * installed. */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Sets the user's locale and finds the translations. */
void qm_environment_init_locale (void);

/* The settings of the program, or NULL where their schema is not installed;
 * the program then works without memory.  (transfer full) (nullable) */
GSettings *qm_environment_settings (void);

G_END_DECLS
