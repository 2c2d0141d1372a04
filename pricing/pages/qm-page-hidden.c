/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/pages/qm-page-private.h"
#include "pricing/pages/qm-page-tree.h"

#include <string.h>

/* A style that is longer is none that a mail has. */
#define MOST_STYLE 2000
/* Nodes below one that are looked at for sizes of letters, or for text. */
#define MOST_LOOKED 200

/* What is known of a node, in its `_private`. */
enum
{
  IS_HIDDEN = 1 << 0,
  HAS_TABLE = 1 << 1
};

/* What the sheets say. */
typedef struct
{
  GHashTable *hides; /* ".class" and "#id" that one hides, ... */
  GHashTable *shows; /* ... and those that some rule shows all the same */
} Sheets;

/* A text without blanks and in lower case: "Display : None" as "display:none".
 */
static char *
squeeze (const char *text, gsize length)
{
  GString *out = g_string_new (NULL);

  for (gsize i = 0; i < length && text[i] != '\0' && out->len < MOST_STYLE; i++)
    if (!g_ascii_isspace (text[i]))
      g_string_append_c (out, g_ascii_tolower (text[i]));
  return g_string_free (out, FALSE);
}

/* A declaration, or a property, of a style: "opacity:" is not that of
 * "fill-opacity:".  NULL: there is none. */
static const char *
find_in_style (const char *style, const char *text)
{
  const char *found = strstr (style, text);

  while (found != NULL && found > style
         && (found[-1] == '-' || g_ascii_isalnum (found[-1])))
    found = strstr (found + 1, text);
  return found;
}

/* Whether a property is nothing at all: "0", "0px", but not "0.9em". */
static gboolean
is_zero (const char *style, const char *property)
{
  const char *found = find_in_style (style, property);

  if (found == NULL)
    return FALSE;
  found += strlen (property);
  if (*found != '0')
    return FALSE;
  found += strspn (found, "0.");
  return !g_ascii_isdigit (*found);
}

static gboolean
is_hiding (const char *style)
{
  return find_in_style (style, "display:none") != NULL
         || find_in_style (style, "visibility:hidden") != NULL
         || find_in_style (style, "visibility:collapse") != NULL
         || find_in_style (style, "mso-hide:all") != NULL
         || is_zero (style, "opacity:")
         || (find_in_style (style, "overflow:hidden") != NULL
             && (is_zero (style, "max-height:") || is_zero (style, "height:")));
}

/* The next character behind a comment, or where the text ends. */
static const char *
skip_comment (const char *css)
{
  const char *end = strstr (css + 2, "*/");

  return end != NULL ? end + 2 : css + strlen (css);
}

/* Behind a block and those in it, or behind a statement without one. */
static const char *
skip_at_rule (const char *css)
{
  int depth = 0;

  for (; *css != '\0'; css++)
    if (*css == '{')
      depth++;
    else if (*css == ';' && depth == 0)
      return css + 1;
    else if (*css == '}' && --depth <= 0)
      return css + 1;
  return css;
}

static gboolean
is_name (char c)
{
  return g_ascii_isalnum (c) || c == '-' || c == '_' || (guchar) c >= 0x80;
}

/* Takes a selector of a rule.  One of a class or an id alone hides; one that
 * shows says of all that it names that it may be seen. */
static void
take_selector (Sheets *sheets, const char *selector, gboolean hides)
{
  for (const char *at = strpbrk (selector, ".#"); at != NULL;
       at = strpbrk (at + 1, ".#"))
    {
      const char *end = at + 1;

      while (is_name (*end))
        end++;
      if (end == at + 1)
        continue;
      if (!hides)
        g_hash_table_add (sheets->shows, g_strndup (at, (gsize) (end - at)));
      else if (at == selector && *end == '\0')
        g_hash_table_add (sheets->hides, g_strdup (selector));
    }
}

static void
take_rule (Sheets *sheets,
           const char *selectors,
           gsize length,
           const char *style)
{
  gboolean hides = is_hiding (style);
  g_autofree char *text = NULL;
  g_auto (GStrv) each = NULL;

  if (!hides && strstr (style, "display:") == NULL)
    return;
  text = g_strndup (selectors, length);
  each = g_strsplit (text, ",", 100);
  for (guint i = 0; each[i] != NULL; i++)
    take_selector (sheets, g_strstrip (each[i]), hides);
}

static void
read_sheet (Sheets *sheets, const char *css)
{
  while (*css != '\0')
    {
      const char *open, *close;
      g_autofree char *style = NULL;

      if (g_ascii_isspace (*css) || *css == '}')
        css++;
      else if (g_str_has_prefix (css, "/*"))
        css = skip_comment (css);
      else if (g_str_has_prefix (css, "<!--"))
        css += 4;
      else if (g_str_has_prefix (css, "-->"))
        css += 3;
      else if (*css == '@')
        css = skip_at_rule (css);
      else
        {
          open = strchr (css, '{');
          close = open != NULL ? strchr (open, '}') : NULL;
          if (close == NULL)
            return;
          style = squeeze (open + 1, (gsize) (close - open - 1));
          take_rule (sheets, css, (gsize) (open - css), style);
          css = close + 1;
        }
    }
}

static gboolean
is_hidden_name (const Sheets *sheets, char mark, const char *name)
{
  g_autofree char *key = g_strdup_printf ("%c%s", mark, name);

  return g_hash_table_contains (sheets->hides, key)
         && !g_hash_table_contains (sheets->shows, key);
}

/* Whether the sheets hide it. */
static gboolean
is_hidden_by_sheet (const Sheets *sheets, const xmlNode *node)
{
  const char *classes = qm_page_attribute (node, "class");
  const char *id = qm_page_attribute (node, "id");
  g_auto (GStrv) names = NULL;

  if (g_hash_table_size (sheets->hides) == 0)
    return FALSE;
  if (id != NULL && is_hidden_name (sheets, '#', id))
    return TRUE;
  if (classes == NULL)
    return FALSE;
  names = g_strsplit_set (classes, " \t\n", 50);
  for (guint i = 0; names[i] != NULL; i++)
    if (*names[i] != '\0' && is_hidden_name (sheets, '.', names[i]))
      return TRUE;
  return FALSE;
}

/* Letters of no size hide a text, but mails have them around what says its own
 * size. */
static gboolean
has_own_size (const xmlNode *node)
{
  xmlNode *at = node->children;

  for (guint i = 0; at != NULL && i < MOST_LOOKED; i++)
    {
      const char *style = qm_page_attribute (at, "style");

      if (style != NULL && strstr (style, "font") != NULL)
        return TRUE;
      at = qm_page_next (node, at, TRUE);
    }
  return at != NULL && at != node;
}

static gboolean
is_hidden_by_style (const xmlNode *node)
{
  const char *style = qm_page_attribute (node, "style");
  g_autofree char *squeezed = NULL;

  if (style == NULL)
    return FALSE;
  squeezed = squeeze (style, MOST_STYLE);
  return is_hiding (squeezed) || strstr (squeezed, "line-through") != NULL
         || (is_zero (squeezed, "font-size:") && !has_own_size (node));
}

static gboolean
has_text (const xmlNode *node)
{
  xmlNode *at = (xmlNode *) node;

  for (guint i = 0; at != NULL && i < MOST_LOOKED; i++)
    {
      if (at->type == XML_TEXT_NODE && at->content != NULL
          && qm_page_is_seen_text ((const char *) at->content))
        return TRUE;
      at = qm_page_next (node, at, !qm_page_is_code (at));
    }
  return FALSE;
}

static gboolean
hides (const Sheets *sheets, const xmlNode *node)
{
  return qm_page_attribute (node, "hidden") != NULL || qm_page_is_struck (node)
         || is_hidden_by_style (node) || is_hidden_by_sheet (sheets, node);
}

static gboolean
is_marked (const xmlNode *node, guint mark)
{
  return (GPOINTER_TO_UINT (node->_private) & mark) != 0;
}

static void
mark (xmlNode *node, guint mark)
{
  node->_private = GUINT_TO_POINTER (GPOINTER_TO_UINT (node->_private) | mark);
}

static void
mark_around_table (xmlNode *node)
{
  for (; node != NULL && node->type == XML_ELEMENT_NODE
         && !is_marked (node, HAS_TABLE);
       node = node->parent)
    mark (node, HAS_TABLE);
}

static guint
mark_nodes (const Sheets *sheets, xmlNode *top)
{
  static const char *const unseen[] = { "head",   "title",    "script",
                                        "style",  "template", "noscript",
                                        "object", NULL };
  guint n = 0;

  for (xmlNode *node = top; node != NULL;
       node = qm_page_next (top, node, !is_marked (node, IS_HIDDEN)))
    {
      if (node->type == XML_TEXT_NODE || node->type == XML_CDATA_SECTION_NODE)
        continue;
      if (node->type != XML_ELEMENT_NODE || qm_page_is_any (node, unseen))
        mark (node, IS_HIDDEN);
      else if (hides (sheets, node))
        {
          mark (node, IS_HIDDEN);
          n += has_text (node) ? 1 : 0;
        }
      else if (qm_page_is (node, "table"))
        mark_around_table (node);
    }
  return n;
}

guint
qm_page_mark_seen (xmlDoc *doc)
{
  Sheets sheets = { 0 };
  xmlNode *top = xmlDocGetRootElement (doc);
  guint n;

  sheets.hides = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  sheets.shows = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (xmlNode *node = top; node != NULL; node = qm_page_next (top, node, TRUE))
    if (qm_page_is (node, "style") && node->children != NULL
        && node->children->content != NULL)
      read_sheet (&sheets, (const char *) node->children->content);
  n = mark_nodes (&sheets, top);
  g_hash_table_unref (sheets.hides);
  g_hash_table_unref (sheets.shows);
  return n;
}

gboolean
qm_page_is_hidden (const xmlNode *node)
{
  return is_marked (node, IS_HIDDEN);
}

gboolean
qm_page_has_table (const xmlNode *node)
{
  return node->type == XML_ELEMENT_NODE && is_marked (node, HAS_TABLE);
}
