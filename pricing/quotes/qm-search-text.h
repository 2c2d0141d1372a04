/* SPDX-License-Identifier: Apache-2.0 */

/* Text as a search compares it. */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Without case and accents ("Königsweg" is "konigsweg"), compatibility forms
 * resolved ("²" is "2"), every run of white space one space and none at the
 * ends.
 *
 * Returns: (transfer full): valid UTF-8 without line breaks. */
char *qm_search_text_fold (const char *text);

/* The words of what somebody typed, folded; none where it is empty or NULL.
 * (transfer full) */
GStrv qm_search_text_words (const char *typed);

G_END_DECLS
