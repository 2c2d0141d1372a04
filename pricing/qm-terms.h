/* SPDX-License-Identifier: Apache-2.0 */

/* Terms of the trade in a sentence or two: what popovers in the window say of
 * them and what the words of a proposal are.  The glossary of the user guide
 * has a place for each, of the same id. */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A term, in the user's language. */
typedef struct
{
  const char *id;
  const char *name; /* as it is written on its own */
  const char *text; /* what it means: whole sentences */
} QmTerm;

/* Looks a term up by its id, "frontier" say.  Returns FALSE where there is
 * none.  The strings are not to be freed. */
gboolean qm_term_find (const char *id, QmTerm *term);

G_END_DECLS
