/* SPDX-License-Identifier: Apache-2.0 */

/* XML from strangers, as a tree: nothing is loaded from anywhere, nothing is
 * substituted, a document type is refused before anything of it is read, and
 * depth and number of elements are limited. */

#pragma once

#include <gio/gio.h>
#include <libxml/tree.h>

G_BEGIN_DECLS

#define QM_XML_MAX_DEPTH    64
#define QM_XML_MAX_ELEMENTS 400000

/* Parses a document of at most QM_READ_MAX_BYTES bytes.
 *
 * Returns: (transfer full): the tree, to be freed with xmlFreeDoc(), or NULL
 *   with an error of QM_READ_ERROR that names the line, or of G_IO_ERROR where
 *   it was cancelled. */
xmlDoc *qm_xml_parse (const char *data,
                      gsize size,
                      GCancellable *cancellable,
                      GError **error);

/* Whether an element has that name in that namespace; prefixes do not count. */
gboolean
qm_xml_is (const xmlNode *node, const char *namespace, const char *name);

/* The first child element of that name at or after `node`'s first child; NULL
 * where there is none, or `node` is NULL. */
xmlNode *
qm_xml_child (const xmlNode *node, const char *namespace, const char *name);

/* The next sibling element of that name. */
xmlNode *
qm_xml_next (const xmlNode *node, const char *namespace, const char *name);

/* An element's text without blanks at its ends; NULL where there is none, or
 * `node` is NULL. */
char *qm_xml_text (const xmlNode *node);

/* An attribute without namespace, likewise. */
char *qm_xml_attribute (const xmlNode *node, const char *name);

G_END_DECLS
