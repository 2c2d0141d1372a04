/* SPDX-License-Identifier: Apache-2.0 */

/* Text in the XML of office documents. */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Appends a text as XML; what XML cannot hold becomes a space. */
void qm_paper_xml_append (GString *xml, const char *text);

/* A file of OpenDocument of that media type, of which `content` is all there
 * is. */
GBytes *qm_paper_odf_package (const char *mime, const char *content);

G_END_DECLS
