/* SPDX-License-Identifier: Apache-2.0 */

#include "pricing/pages/qm-page-words.h"

#include "pricing/pages/qm-page-text.h"

#include <string.h>

#define NAMES_MAX 400  /* bytes of the names of an element */
#define KNOWN_MAX 5000 /* names that are kept with what they tell */

typedef struct
{
  const char *word;
  guint flags;
} Word;

#define SEEN(word, tells) { word, QM_SEEN_##tells },

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
  static const char *const attributes[] = QM_PAGE_LIST (QM_EACH_TELLING);

  for (guint i = 0; attributes[i] != NULL; i++)
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
      const char *value =
          a->children != NULL ? (const char *) a->children->content : NULL;
      gboolean lower = FALSE;

      if (value == NULL || !is_telling (a->name)
          || (qm_page_same_name (a->name, "aria-label")
              && strlen (value) > QM_PAGE_LABEL))
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

/* What the names of an element tell. */
static guint
read_names (const char *text)
{
  static const char *const whole[] = { "withtax", "incl", "withvat", NULL };
  char joined[NAMES_MAX];
  guint flags = 0;
  gsize n;

  for (const char *at = text; *at != '\0'; at += n + (at[n] == ' '))
    {
      n = strcspn (at, " ");
      for (guint i = 0; n > 0 && i < G_N_ELEMENTS (names); i++)
        if (strlen (names[i].word) == n && memcmp (at, names[i].word, n) == 0)
          flags |= names[i].flags;
    }
  join (text, joined);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    if (strstr (joined, parts[i].word) != NULL)
      flags |= parts[i].flags;
  /* With the tax, a price is whole. */
  if (qm_page_holds_any (joined, whole))
    flags &= ~(guint) QM_SEEN_PART;
  /* Buttons that add to the basket name it. */
  if (strstr (joined, "addto") != NULL)
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
  static const char *const asides[] = { "nav", "footer", "aside", NULL };
  char text[NAMES_MAX];
  guint flags = 0;

  if (qm_page_is_struck (node))
    return QM_SEEN_OLD;
  if (qm_page_is_any (node, asides))
    flags |= QM_SEEN_ASIDE;
  if (node->properties == NULL)
    return flags;
  if (qm_page_is_styled_struck (node))
    flags |= QM_SEEN_OLD;
  collect_names (node, text);
  if (text[1] != '\0')
    flags |= look_up_names (page, text);
  if (!small)
    flags &= ~(guint) (QM_SEEN_OLD | QM_SEEN_PART | QM_SEEN_FROM
                       | QM_SEEN_CURRENT | QM_SEEN_REGULAR);
  return flags;
}

guint
qm_page_words_before (const char *text, gsize length)
{
  g_autofree char *lower = NULL;
  gsize from, all;

  while (length > 0 && text[length - 1] == ' ')
    length--;
  from = length > 40 ? length - 40 : 0;
  while (from < length && (text[from] & 0xc0) == 0x80)
    from++;
  lower = g_utf8_strdown (text + from, (gssize) (length - from));
  all = strlen (lower);
  for (guint i = 0; i < G_N_ELEMENTS (before); i++)
    {
      const char *word = before[i].word;
      const gsize n = strlen (word);

      if (g_str_has_suffix (lower, word)
          && (all == n || !g_ascii_isalnum (lower[all - n - 1])
              || !g_ascii_isalnum (word[0])))
        return before[i].flags;
    }
  return 0;
}

guint
qm_page_words_after (const char *text)
{
  g_autofree char *start = NULL, *lower = NULL;

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
static const char *const with_tax[] = QM_PAGE_LIST (QM_EACH_WITH_TAX);

/* Beside prices without. */
static const char *const without_tax[] = QM_PAGE_LIST (QM_EACH_WITHOUT_TAX);

QmTristate
qm_page_words_tax (const char *text)
{
  g_autofree char *lower = g_utf8_strdown (text, -1);
  gboolean says_with = qm_page_holds_any (lower, with_tax);
  gboolean says_without = qm_page_holds_any (lower, without_tax);

  if (says_with == says_without)
    return QM_UNSTATED;
  return says_with ? QM_YES : QM_NO;
}

/* In the names of what buys, without spaces. */
static const char *const buy_names[] = QM_PAGE_LIST (QM_EACH_BUY_NAMES);

/* What is written on it. */
static const char *const buy_words[] = QM_PAGE_LIST (QM_EACH_BUY_WORDS);

gboolean
qm_page_words_buy (const xmlNode *node)
{
  static const char *const buyers[] = { "button", "input", "a", "form", NULL };
  char text[NAMES_MAX], joined[NAMES_MAX];
  g_autofree char *content = NULL, *lower = NULL;

  if (!qm_page_is_any (node, buyers))
    return FALSE;
  collect_names (node, text);
  join (text, joined);
  if (qm_page_holds_any (joined, buy_names))
    return TRUE;
  if (qm_page_is (node, "form"))
    return FALSE;
  content = qm_page_is (node, "input")
                ? qm_page_one_line (qm_page_attribute (node, "value"), 40)
                : qm_page_node_text (node, 40);
  if (content == NULL)
    return FALSE;
  lower = g_utf8_strdown (content, -1);
  return qm_page_holds_any (lower, buy_words);
}
