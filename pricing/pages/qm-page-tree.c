/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/pages/qm-page-tree.h"

#include <string.h>

xmlDoc *
qm_page_tree_parse (const char *text, gsize length, gboolean *cut)
{
  /* libxml2's own limits stay on: elements deeper than 256 end the page there.
   */
  const int options = HTML_PARSE_RECOVER | HTML_PARSE_NOERROR
                      | HTML_PARSE_NOWARNING | HTML_PARSE_NONET
                      | HTML_PARSE_COMPACT;
  htmlParserCtxt *parser = htmlNewParserCtxt ();
  const xmlError *problem;
  xmlDoc *doc;

  if (parser == NULL)
    g_error ("out of memory");
  doc = htmlCtxtReadMemory (parser, text, (int) length, NULL, "UTF-8", options);
  problem = xmlCtxtGetLastError (parser);
  *cut = parser->disableSAX != 0
         || (problem != NULL && problem->level == XML_ERR_FATAL);
  htmlFreeParserCtxt (parser);
  if (doc != NULL && xmlDocGetRootElement (doc) != NULL)
    return doc;
  if (doc != NULL)
    xmlFreeDoc (doc);
  return NULL;
}

gboolean
qm_page_looks_like_html (const char *text, gsize length)
{
  gsize i = 0, end;

  while (i < length && g_ascii_isspace (text[i]))
    i++;
  if (length - i > 5 && memcmp (text + i, "<?xml", 5) == 0)
    {
      g_autofree char *head = g_strndup (text + i, MIN (length - i, 4096));
      g_autofree char *lower = g_ascii_strdown (head, -1);

      return strstr (lower, "<html") != NULL;
    }
  end = MIN (length, i + 1024);
  for (; i + 1 < end; i++)
    if (text[i] == '<' && (g_ascii_isalpha (text[i + 1]) || text[i + 1] == '!'))
      return g_ascii_strncasecmp (text + i, "<svg", 4) != 0;
  return FALSE;
}
