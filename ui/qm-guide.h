/* SPDX-License-Identifier: Apache-2.0 */

/* The user guide: pages of HTML that are installed beside the catalog, for
 * whichever browser there is. */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Where the guide is below a folder, in the first of these languages that there
 * is, as g_get_language_names() has them, else in English: its first page, or
 * the place of its glossary that explains a term of qm_term_find().
 *
 * Returns: (transfer full) (nullable): its URI; NULL: there is no guide. */
char *qm_guide_find (const char *folder,
                     const char *const *languages,
                     const char *term);

G_END_DECLS
