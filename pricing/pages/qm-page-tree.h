/* SPDX-License-Identifier: Apache-2.0 */

/* HTML as a tree, and what people see of it. */

#pragma once

#include <glib.h>
#include <libxml/HTMLparser.h>

G_BEGIN_DECLS

/* Whether a text is likely to be HTML: a tag is near its beginning, and it is
 * no XML of another kind. */
gboolean qm_page_looks_like_html (const char *text, gsize length);

/* Builds the tree; broken markup is mended.  Nothing is loaded.
 *
 * text: UTF-8, as qm_page_to_utf8() makes it.
 * cut: (out): whether it is not read to the end, as it is too deep, or a tag
 * has more than a thousand attributes.
 *
 * Returns: (transfer full): NULL where there is no element. */
xmlDoc *qm_page_tree_parse (const char *text, gsize length, gboolean *cut);

/* Finds out what people see of a tree: what is not hidden or struck through, by
 * names of elements, their attributes, their style, or the sheets of the page.
 * Of these, rules count that name one class or id; those for certain screens do
 * not.  It is kept in the `_private` of nodes, and has to come before what
 * follows here.
 *
 * Returns: how many elements with text are hidden or struck through, each
 *   outermost one. */
guint qm_page_mark_seen (xmlDoc *doc);

/* Whether people do not see a node. */
gboolean qm_page_is_hidden (const xmlNode *node);

/* Whether an element is, or has, a table that people see. */
gboolean qm_page_has_table (const xmlNode *node);

/* Whether a text has a character that people see: spaces of all kinds (as
 * `&nbsp;`) are none. */
gboolean qm_page_is_seen_text (const char *text);

/* Appends what people see of siblings as lines, with single spaces: fields of
 * forms have their value, marks of footnotes are left out, and decimals that
 * are raised get their sign.
 *
 * first: (nullable)
 * end: the first that is not meant any more; NULL: up to the last.
 * max: no more is appended, in bytes, but for the last character.
 *
 * Returns: whether that was all. */
gboolean qm_page_append_seen (const xmlNode *first,
                              const xmlNode *end,
                              gsize max,
                              GString *out);

G_END_DECLS
