/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/papers/qm-paper-xml.h"

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
