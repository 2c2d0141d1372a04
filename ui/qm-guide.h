/* SPDX-License-Identifier: Apache-2.0 */

/* The user guide: pages of HTML that are installed beside the catalog, for
 * whichever browser there is. */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The first page in the first of these languages that there is, as
 * g_get_language_names() has them, else in English, below a folder.
 *
 * Returns: (transfer full) (nullable): its path; NULL: there is no guide. */
char *qm_guide_find (const char *folder, const char *const *languages);

G_END_DECLS
