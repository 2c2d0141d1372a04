/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/pages/qm-page-private.h"
#include "pricing/pages/qm-page-tree.h"

#include <string.h>

/* A text that is being made. */
typedef struct
{
  GString *out;
  gsize start; /* where ours begins */
  gsize end;   /* no more than that */
  gboolean space;
  gboolean line;
  gboolean cut; /* there is more */
} Lines;

static gboolean
is_block (const xmlNode *node)
{
  static const char *const names[] = {
    "address", "article", "aside",  "blockquote", "body",    "caption",
    "center",  "dd",      "div",    "dl",         "dt",      "fieldset",
    "footer",  "form",    "h1",     "h2",         "h3",      "h4",
    "h5",      "h6",      "header", "hr",         "html",    "li",
    "main",    "nav",     "ol",     "p",          "pre",     "section",
    "table",   "tr",      "ul",     "summary",    "details", NULL
  };

  return qm_page_is_any (node, names);
}

/* Characters that nobody sees: of no width, soft hyphens, directions. */
static gboolean
is_invisible (gunichar c)
{
  return c == 0xad || (c >= 0x200b && c <= 0x200f)
         || (c >= 0x202a && c <= 0x202e) || (c >= 0x2060 && c <= 0x2069)
         || c == 0xfeff || c == 0x34f;
}

/* Neither does one see these, but what is around them stands apart. */
static gboolean
is_gap (gunichar c)
{
  return g_unichar_isspace (c) || g_unichar_iscntrl (c);
}

gboolean
qm_page_is_seen_text (const char *text)
{
  for (; *text != '\0'; text = g_utf8_next_char (text))
    {
      gunichar c = g_utf8_get_char (text);

      if (!is_invisible (c) && !is_gap (c))
        return TRUE;
    }
  return FALSE;
}

static void
append_words (Lines *lines, const char *text)
{
  for (; *text != '\0' && !lines->cut; text = g_utf8_next_char (text))
    {
      gunichar c = g_utf8_get_char (text);

      if (is_invisible (c))
        continue;
      if (is_gap (c))
        {
          lines->space = TRUE;
          continue;
        }
      if (lines->out->len >= lines->end)
        {
          lines->cut = TRUE;
          return;
        }
      if (lines->out->len > lines->start && lines->line)
        g_string_append_c (lines->out, '\n');
      else if (lines->out->len > lines->start && lines->space)
        g_string_append_c (lines->out, ' ');
      lines->line = lines->space = FALSE;
      g_string_append_unichar (lines->out, c);
    }
}

/* The value of a field of a form that people see. */
static void
append_field (Lines *lines, const xmlNode *node)
{
  static const char *const unseen[] = { "hidden", "checkbox", "radio", "submit",
                                        "button", "password", "image", "file",
                                        "reset",  NULL };
  const char *type = qm_page_attribute (node, "type");
  const char *value = qm_page_attribute (node, "value");

  for (guint i = 0; type != NULL && unseen[i] != NULL; i++)
    if (g_ascii_strcasecmp (type, unseen[i]) == 0)
      return;
  lines->space = TRUE;
  if (value != NULL && g_utf8_validate (value, -1, NULL))
    append_words (lines, value);
  lines->space = TRUE;
}

/* The option that is selected, or the first one. */
static const xmlNode *
selected_option (const xmlNode *select)
{
  const xmlNode *first = NULL;

  for (xmlNode *at = select->children; at != NULL;
       at = qm_page_next (select, at, TRUE))
    if (at == select)
      break;
    else if (qm_page_is (at, "option"))
      {
        if (qm_page_attribute (at, "selected") != NULL)
          return at;
        first = first == NULL ? at : first;
      }
  return first;
}

/* What is raised: decimals get their sign, marks of footnotes are left out. */
static void
append_raised (Lines *lines, const xmlNode *node)
{
  g_autofree char *text = qm_page_node_text (node, 100);
  const char *digits = text != NULL ? text : "";
  gsize n = strspn (digits, "0123456789");
  char last =
      lines->out->len > lines->start ? lines->out->str[lines->out->len - 1] : 0;

  if (n == 2 && digits[2] == '\0' && g_ascii_isdigit (last) && !lines->line)
    {
      const char *ours = lines->out->str + lines->start;
      const char *number = lines->out->str + lines->out->len;

      while (number > ours && strchr ("0123456789., '", number[-1]) != NULL)
        number--;
      g_string_append_c (lines->out, strchr (number, '.') != NULL ? ',' : '.');
      lines->space = FALSE;
    }
  else if ((n != 2 || digits[2] != '\0' || last == '\0'
            || strchr (".,", last) == NULL)
           && strspn (digits, "0123456789*,()[] ") == strlen (digits))
    return;
  append_words (lines, digits);
}

static void append_children (Lines *lines, const xmlNode *node, guint depth);

static void
append_element (Lines *lines, const xmlNode *node, guint depth)
{
  gboolean block = is_block (node);

  if (qm_page_is (node, "br"))
    lines->line = TRUE;
  else if (qm_page_is (node, "input"))
    append_field (lines, node);
  else if (qm_page_is (node, "sup"))
    append_raised (lines, node);
  else if (qm_page_is (node, "select"))
    {
      const xmlNode *option = selected_option (node);

      if (option != NULL)
        append_children (lines, option, depth);
    }
  else
    {
      lines->line = lines->line || block;
      /* Cells of a table in a cell stand apart. */
      lines->space = lines->space || qm_page_is (node, "td")
                     || qm_page_is (node, "th") || qm_page_is (node, "img");
      append_children (lines, node, depth);
      lines->line = lines->line || block;
    }
}

static void
append_node (Lines *lines, const xmlNode *node, guint depth)
{
  if (depth > QM_PAGE_DEPTH_MAX || lines->cut || qm_page_is_hidden (node))
    return;
  if (node->type == XML_ELEMENT_NODE)
    append_element (lines, node, depth);
  else if (node->content != NULL)
    append_words (lines, (const char *) node->content);
}

static void
append_children (Lines *lines, const xmlNode *node, guint depth)
{
  for (const xmlNode *child = node->children; child != NULL;
       child = child->next)
    append_node (lines, child, depth + 1);
}

gboolean
qm_page_append_seen (const xmlNode *first,
                     const xmlNode *end,
                     gsize max,
                     GString *out)
{
  Lines lines = { .out = out, .start = out->len, .end = out->len + max };

  for (const xmlNode *node = first; node != NULL && node != end;
       node = node->next)
    append_node (&lines, node, 0);
  return !lines.cut;
}
