/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/pages/qm-page-tree.h"

#include <string.h>

/* libxml2 compares each attribute of an element with all before it. */
#define MOST_ATTRIBUTES 1000

/* The end of a tag that begins at `i`, or 0 where it has too many attributes:
 * words outside of quotes, more or less. */
static gsize
end_of_tag (const char *text, gsize length, gsize i)
{
  gboolean between = FALSE;
  guint words = 0;
  char quote = 0;

  for (; i < length; i++)
    {
      if (quote != 0)
        {
          if (text[i] == quote)
            quote = 0;
          continue;
        }
      if (text[i] == '>')
        return i + 1;
      if (text[i] == '"' || text[i] == '\'')
        quote = text[i];
      if (quote != 0 || text[i] == '/' || g_ascii_isspace (text[i]))
        between = TRUE;
      else if (between)
        {
          between = FALSE;
          if (++words > MOST_ATTRIBUTES)
            return 0;
        }
    }
  return length;
}

/* How much of a page comes before a tag with too many attributes.  In scripts
 * and style sheets nothing is a tag. */
static gsize
length_to_parse (const char *text, gsize length)
{
  for (gsize i = 0, end; i + 1 < length; i++)
    if (text[i] == '<' && g_ascii_isalpha (text[i + 1]))
      {
        end = end_of_tag (text, length, i);
        if (end == 0)
          return i;
        if (g_ascii_strncasecmp (text + i, "<script", 7) == 0
            || g_ascii_strncasecmp (text + i, "<style", 6) == 0)
          while (end + 1 < length
                 && !(text[end] == '<' && text[end + 1] == '/'))
            end++;
        i = end - 1;
      }
  return length;
}

xmlDoc *
qm_page_tree_parse (const char *text, gsize length, gboolean *cut)
{
  /* libxml2's own limits stay on: elements deeper than 256 end the page there.
   */
  const int options = HTML_PARSE_RECOVER | HTML_PARSE_NOERROR
                      | HTML_PARSE_NOWARNING | HTML_PARSE_NONET
                      | HTML_PARSE_COMPACT;
  const gsize parsed = length_to_parse (text, length);
  htmlParserCtxt *parser = htmlNewParserCtxt ();
  const xmlError *problem;
  xmlDoc *doc;

  if (parser == NULL)
    g_error ("out of memory");
  doc = htmlCtxtReadMemory (parser, text, (int) parsed, NULL, "UTF-8", options);
  problem = xmlCtxtGetLastError (parser);
  *cut = parsed < length || parser->disableSAX != 0
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
