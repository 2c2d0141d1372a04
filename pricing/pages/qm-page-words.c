/* SPDX-License-Identifier: Apache-2.0 */

#include "pricing/pages/qm-page-words.h"

#include "pricing/pages/qm-page-text.h"
#include "pricing/words-pages.h"

#include <string.h>

#define NAMES_MAX 400  /* bytes of the names of an element */
#define LABEL_MAX 30   /* bytes of a label that is a name */
#define KNOWN_MAX 5000 /* names that are kept with what they tell */

typedef struct
{
  const char *word;
  guint flags;
} Word;

#define SEEN(word, tells) { word, QM_SEEN_##tells },
#define TEXT(word, tells) word,

/* Anywhere in the names of an element. */
static const Word parts[] = { QM_EACH_PARTS (SEEN) };

/* Whole words among the names. */
static const Word names[] = { QM_EACH_NAMES (SEEN) };

/* At the end of what stands before an amount. */
static const Word before[] = { QM_EACH_BEFORE (SEEN) };

/* At the beginning of what stands after one. */
static const Word after[] = { QM_EACH_AFTER (SEEN) };

/* Whether an attribute names what its element is for. */
static gboolean
is_telling (const xmlChar *name)
{
  static const char *const attributes[] = {
    "class",          "id",
    "itemprop",       "data-testid",
    "data-test",      "data-test-id",
    "data-qa",        "data-role",
    "data-hook",      "data-automation",
    "data-component", "aria-label",
  };

  for (guint i = 0; i < G_N_ELEMENTS (attributes); i++)
    if (qm_page_same_name (name, attributes[i]))
      return TRUE;
  return FALSE;
}

/* The names of an element: words in lower case with spaces between them, and
 * at each end; "-", "_" and a new capital letter begin a word. */
static gsize
collect_names (const xmlNode *node, char out[NAMES_MAX])
{
  gsize n = 0;

  out[n++] = ' ';
  for (const xmlAttr *a = node->properties; a != NULL; a = a->next)
    {
      const char *name = (const char *) a->name;
      const char *value =
          a->children != NULL ? (const char *) a->children->content : NULL;
      gboolean lower = FALSE;

      if (value == NULL || !is_telling (a->name))
        continue;
      if (strcmp (name, "aria-label") == 0 && strlen (value) > LABEL_MAX)
        continue;
      for (; *value != '\0' && n + 3 < NAMES_MAX; value++)
        {
          if (!g_ascii_isalpha (*value))
            {
              if (out[n - 1] != ' ')
                out[n++] = ' ';
              lower = FALSE;
              continue;
            }
          if (g_ascii_isupper (*value) && lower && out[n - 1] != ' ')
            out[n++] = ' ';
          lower = g_ascii_islower (*value);
          out[n++] = g_ascii_tolower (*value);
        }
      if (out[n - 1] != ' ')
        out[n++] = ' ';
    }
  out[n] = '\0';
  return n;
}

/* The names without spaces, so that "old price" is "oldprice". */
static void
join (const char *text, char out[NAMES_MAX])
{
  for (; *text != '\0'; text++)
    if (*text != ' ')
      *out++ = *text;
  *out = '\0';
}

static guint
find_names (const char *text)
{
  guint flags = 0;

  while (*text != '\0')
    {
      gsize n;

      while (*text == ' ')
        text++;
      n = strcspn (text, " ");
      for (guint i = 0; n > 0 && i < G_N_ELEMENTS (names); i++)
        if (strlen (names[i].word) == n && memcmp (text, names[i].word, n) == 0)
          flags |= names[i].flags;
      text += n;
    }
  return flags;
}

/* What the names of an element tell. */
static guint
read_names (const char *text)
{
  char joined[NAMES_MAX];
  guint flags;

  join (text, joined);
  flags = find_names (text);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    if (strstr (joined, parts[i].word) != NULL)
      flags |= parts[i].flags;
  /* With the tax, a price is whole. */
  if ((flags & QM_SEEN_PART) != 0
      && (strstr (joined, "withtax") != NULL || strstr (joined, "incl") != NULL
          || strstr (joined, "withvat") != NULL))
    flags &= ~(guint) QM_SEEN_PART;
  /* Buttons that add to the basket name it. */
  if ((flags & QM_SEEN_ASIDE) != 0 && strstr (joined, "addto") != NULL)
    flags &= ~(guint) QM_SEEN_ASIDE;
  return flags;
}

/* The same, found out once for each text. */
static guint
look_up_names (const QmPage *page, const char *text)
{
  gpointer known;
  guint flags;

  if (g_hash_table_lookup_extended (page->words, text, NULL, &known))
    return GPOINTER_TO_UINT (known);
  flags = read_names (text);
  if (g_hash_table_size (page->words) < KNOWN_MAX)
    g_hash_table_insert (page->words, g_strdup (text),
                         GUINT_TO_POINTER (flags));
  return flags;
}

guint
qm_page_words_of_element (const QmPage *page,
                          const xmlNode *node,
                          gboolean small)
{
  char text[NAMES_MAX];
  guint flags = 0;

  if (qm_page_is (node, "del") || qm_page_is (node, "s")
      || qm_page_is (node, "strike"))
    return QM_SEEN_OLD;
  if (qm_page_is (node, "nav") || qm_page_is (node, "footer")
      || qm_page_is (node, "aside"))
    flags |= QM_SEEN_ASIDE;
  if (node->properties == NULL)
    return flags;
  if (small)
    {
      const char *style = qm_page_attribute (node, "style");

      if (style != NULL && strstr (style, "line-through") != NULL)
        flags |= QM_SEEN_OLD;
    }
  collect_names (node, text);
  if (text[1] == '\0')
    return flags;
  flags |= look_up_names (page, text);
  if (!small)
    flags &= ~(guint) (QM_SEEN_OLD | QM_SEEN_PART | QM_SEEN_FROM
                       | QM_SEEN_CURRENT | QM_SEEN_REGULAR);
  return flags;
}

guint
qm_page_words_before (const char *text, gsize length)
{
  g_autofree char *start = NULL;
  g_autofree char *lower = NULL;
  gsize from;

  while (length > 0 && text[length - 1] == ' ')
    length--;
  from = length > 40 ? length - 40 : 0;
  while (from < length && (text[from] & 0xc0) == 0x80)
    from++;
  start = g_strndup (text + from, length - from);
  lower = g_utf8_strdown (start, -1);
  for (guint i = 0; i < G_N_ELEMENTS (before); i++)
    {
      gsize n = strlen (before[i].word);
      gsize all = strlen (lower);

      if (all >= n && memcmp (lower + all - n, before[i].word, n) == 0
          && (all == n || !g_ascii_isalnum (lower[all - n - 1])
              || !g_ascii_isalnum (before[i].word[0])))
        return before[i].flags;
    }
  return 0;
}

guint
qm_page_words_after (const char *text)
{
  g_autofree char *start = NULL;
  g_autofree char *lower = NULL;

  while (*text == ' ' || *text == '*')
    text++;
  start = g_utf8_substring (text, 0, MIN (g_utf8_strlen (text, 200), 24));
  lower = g_utf8_strdown (start, -1);
  for (guint i = 0; i < G_N_ELEMENTS (after); i++)
    if (g_str_has_prefix (lower, after[i].word)
        && !(g_ascii_isalpha (lower[strlen (after[i].word)])
             && g_ascii_isalpha (after[i].word[strlen (after[i].word) - 1])))
      return after[i].flags;
  return 0;
}

/* Beside prices with tax, in lower case. */
static const char *const with_tax[] = { QM_EACH_WITH_TAX (TEXT) };

/* Beside prices without. */
static const char *const without_tax[] = { QM_EACH_WITHOUT_TAX (TEXT) };

QmTristate
qm_page_words_tax (const char *text)
{
  g_autofree char *lower = g_utf8_strdown (text, -1);
  gboolean says_with = FALSE, says_without = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (with_tax); i++)
    says_with = says_with || strstr (lower, with_tax[i]) != NULL;
  for (guint i = 0; i < G_N_ELEMENTS (without_tax); i++)
    says_without = says_without || strstr (lower, without_tax[i]) != NULL;
  if (says_with == says_without)
    return QM_UNSTATED;
  return says_with ? QM_YES : QM_NO;
}

/* In the names of what buys, without spaces. */
static const char *const buy_names[] = { QM_EACH_BUY_NAMES (TEXT) };

/* What is written on it. */
static const char *const buy_words[] = { QM_EACH_BUY_WORDS (TEXT) };

gboolean
qm_page_words_buy (const xmlNode *node)
{
  char text[NAMES_MAX], joined[NAMES_MAX];
  g_autofree char *content = NULL;
  g_autofree char *lower = NULL;

  if (!qm_page_is (node, "button") && !qm_page_is (node, "input")
      && !qm_page_is (node, "a") && !qm_page_is (node, "form"))
    return FALSE;
  collect_names (node, text);
  join (text, joined);
  for (guint i = 0; i < G_N_ELEMENTS (buy_names); i++)
    if (strstr (joined, buy_names[i]) != NULL)
      return TRUE;
  if (qm_page_is (node, "form"))
    return FALSE;
  content = qm_page_is (node, "input")
                ? qm_page_one_line (qm_page_attribute (node, "value"), 40)
                : qm_page_node_text (node, 40);
  if (content == NULL)
    return FALSE;
  lower = g_utf8_strdown (content, -1);
  for (guint i = 0; i < G_N_ELEMENTS (buy_words); i++)
    if (strstr (lower, buy_words[i]) != NULL)
      return TRUE;
  return FALSE;
}
