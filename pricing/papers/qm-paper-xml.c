/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/papers/qm-paper-xml.h"

#include "pricing/papers/qm-zip-write.h"

#include <string.h>

void
qm_paper_xml_append (GString *xml, const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  g_autofree char *escaped = NULL;

  for (char *p = valid; *p != '\0'; p++)
    if ((guchar) *p < ' ' && strchr ("\t\n", *p) == NULL)
      *p = ' ';
  escaped = g_markup_escape_text (valid, -1);
  g_string_append (xml, escaped);
}

GBytes *
qm_paper_odf_package (const char *mime, const char *content)
{
  g_autofree char *manifest = g_strdup_printf (
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<manifest:manifest "
      "xmlns:manifest=\"urn:oasis:names:tc:opendocument:xmlns:manifest:1.0\" "
      "manifest:version=\"1.2\">"
      "<manifest:file-entry manifest:full-path=\"/\" "
      "manifest:media-type=\"%s\"/>"
      "<manifest:file-entry manifest:full-path=\"content.xml\" "
      "manifest:media-type=\"text/xml\"/>"
      "</manifest:manifest>",
      mime);

  /* The type comes first, and uncompressed: ODF 1.2, part 3, 3.3. */
  return qm_zip_write ((const QmZipPart[]){ { "mimetype", mime },
                                            { "content.xml", content },
                                            { "META-INF/manifest.xml",
                                              manifest } },
                       3);
}
