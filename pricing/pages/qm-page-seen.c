/* SPDX-License-Identifier: Apache-2.0 */

/* The amounts that people see on a page, and what tells of them whether they
 * are the price of its product. */

#include "pricing/pages/qm-page-private.h"

#include "pricing/pages/qm-page-scan.h"
#include "pricing/pages/qm-page-text.h"
#include "pricing/pages/qm-page-words.h"

#include <string.h>

#define SEEN_MAX 4000
#define RUN_MAX  600
#define BUYS_MAX 200 /* things to buy with that are looked at */

typedef struct
{
  QmPage *page;
  GString *run;
  const xmlNode *run_node; /* innermost element of the run's first text */
  guint run_flags;
  gboolean after_dash; /* nothing but the mark of a range stands since the last
                          amount */
  GPtrArray *buys; /* of const xmlNode *, what puts things into the basket */
  GHashTable *above_heading; /* the heading's ancestors */
} Seer;

/* Elements that do not end a line. */
static gboolean
is_inline (const xmlNode *node)
{
  static const char *const elements[] = QM_PAGE_LIST (QM_EACH_INLINE_ELEMENT);

  return qm_page_is_any (node, elements);
}

/* Elements of which nothing is seen, or nothing that is a price. */
static gboolean
is_unseen (const xmlNode *node)
{
  static const char *const elements[] = QM_PAGE_LIST (QM_EACH_UNSEEN_ELEMENT);
  static const char *const styles[] = { "display:none", "display: none",
                                        "visibility:hidden",
                                        "visibility: hidden", NULL };

  return qm_page_is_any (node, elements)
         || qm_page_attribute (node, "hidden") != NULL
         || qm_page_holds_any (qm_page_attribute (node, "style"), styles);
}

/* Whether an element holds little text. */
static gboolean
is_small (const xmlNode *top)
{
  gsize bytes = 0;
  guint nodes = 0;

  for (xmlNode *node = top->children; node != NULL;
       node = qm_page_next (top, node, !qm_page_is_code (node)))
    {
      if (++nodes > QM_PAGE_SMALL_NODES)
        return FALSE;
      if (node->type == XML_TEXT_NODE && node->content != NULL)
        for (const xmlChar *c = node->content; *c != '\0'; c++)
          if (*c > ' ' && ++bytes > QM_PAGE_SMALL_BYTES)
            return FALSE;
    }
  return TRUE;
}

static gboolean
has_digits (const xmlNode *top)
{
  for (xmlNode *node = (xmlNode *) top; node != NULL;
       node = qm_page_next (top, node, TRUE))
    if (node->type == XML_TEXT_NODE && node->content != NULL
        && strpbrk ((const char *) node->content, "0123456789") != NULL)
      return TRUE;
  return FALSE;
}

/* Whether all amounts of an element are the same one; numbers alone do not
 * count beside others. */
static gboolean
has_one_amount (const xmlNode *node)
{
  g_autofree char *run = qm_page_scan_run (node, RUN_MAX);
  g_autofree char *line = NULL;
  g_autoptr (GArray) found = qm_page_scan (run, &line);
  const QmScannedAmount *amounts = (const void *) found->data;
  const QmScannedAmount *first = NULL;

  for (guint i = 0; i < found->len; i++)
    if (amounts[i].sign[0] != '\0')
      {
        if (first != NULL && amounts[i].micros != first->micros)
          return FALSE;
        first = &amounts[i];
      }
  return first != NULL || found->len <= 1;
}

/* Whether an element within a small one says something of its own: an old price
 * and a new one side by side.  Parts of an amount, its sign or its decimals, do
 * not. */
static gboolean
holds_marked (const Seer *seer, const xmlNode *top)
{
  const guint marks = QM_SEEN_OLD | QM_SEEN_PART | QM_SEEN_CURRENT
                      | QM_SEEN_FROM | QM_SEEN_REGULAR;
  gboolean priced = FALSE;

  for (xmlNode *node = top->children; node != NULL;
       node = qm_page_next (top, node, TRUE))
    {
      guint words;

      if (node->type != XML_ELEMENT_NODE)
        continue;
      words = qm_page_words_of_element (seer->page, node, TRUE);
      if ((words & (marks | QM_SEEN_PRICE)) == 0 || !has_digits (node))
        continue;
      if ((words & marks) != 0)
        return TRUE;
      priced = TRUE;
    }
  return priced && !has_one_amount (top);
}

static gboolean
is_range_between (const char *text, gsize length)
{
  static const char *const marks[] = {
    "-", "\342\200\223", "\342\200\224", "~", "to", "bis", "à", "až", "do", NULL
  };
  g_autofree char *mark = g_strndup (text, length);

  return g_strv_contains (marks, g_strstrip (mark));
}

static void
add_amount (Seer *seer,
            const char *line,
            const QmScannedAmount *amount,
            guint flags,
            gsize from)
{
  QmSeenAmount seen = { .micros = amount->micros,
                        .node = (xmlNode *) seer->run_node,
                        .area = G_MAXUINT };

  if (amount->sign[0] != '\0')
    flags |= QM_SEEN_CURRENCY;
  else if ((flags & QM_SEEN_NEAR) == 0)
    return;
  if (line[amount->end] == '%')
    return;
  flags |= qm_page_words_before (line + from, amount->start - from)
           | qm_page_words_after (line + amount->end);
  if (amount->negative)
    flags |= QM_SEEN_PART;
  memcpy (seen.currency, amount->currency, 4);
  g_strlcpy (seen.sign, amount->sign, sizeof seen.sign);
  seen.flags = flags;
  if ((flags & QM_SEEN_CURRENCY) != 0 && (flags & QM_SEEN_PRICE) != 0)
    seer->page->sees_signed = TRUE;
  if (seer->page->seen->len < SEEN_MAX)
    g_array_append_val (seer->page->seen, seen);
}

/* "CHF 4.50 2.25": the sign of one is that of the others. */
static void
share_sign (GArray *found)
{
  QmScannedAmount *amounts = (void *) found->data;
  guint first = 0;

  while (first < found->len && amounts[first].sign[0] == '\0')
    first++;
  for (guint i = 0; i < found->len && first < found->len; i++)
    if (amounts[i].sign[0] == '\0'
        && amounts[i].micros % QM_MICROS_PER_UNIT != 0)
      {
        memcpy (amounts[i].sign, amounts[first].sign, sizeof amounts[i].sign);
        memcpy (amounts[i].currency, amounts[first].currency, 4);
      }
}

/* An amount behind a lone dash, of its own element, is the upper end of a range
 * where it is the larger one: "R$ 0 — R$ 200.000" of a filter.  Of an old and a
 * new price it is the smaller one. */
static void
mark_range (Seer *seer, guint second)
{
  GArray *seen = seer->page->seen;
  QmSeenAmount *low, *high;

  if (second == 0 || second >= seen->len)
    return;
  low = &g_array_index (seen, QmSeenAmount, second - 1);
  high = &g_array_index (seen, QmSeenAmount, second);
  if (low->micros >= high->micros)
    return;
  low->flags |= QM_SEEN_RANGE;
  high->flags |= QM_SEEN_RANGE;
}

static void
end_run (Seer *seer)
{
  g_autofree char *line = NULL;
  g_autoptr (GArray) found = NULL;
  guint flags = seer->run_flags;
  guint first = seer->page->seen->len;
  const QmScannedAmount *amounts;
  gsize rest, from = 0;

  if (seer->run->len == 0)
    return;
  if (strpbrk (seer->run->str, "0123456789") == NULL)
    {
      /* Nothing but space changes nothing. */
      if (seer->run->str[strspn (seer->run->str, " \t\n")] != '\0')
        seer->after_dash = is_range_between (seer->run->str, seer->run->len);
      g_string_truncate (seer->run, 0);
      return;
    }
  found = qm_page_scan (seer->run->str, &line);
  amounts = (const void *) found->data;
  rest = strlen (line);
  for (guint i = 0; i < found->len; i++)
    rest -= amounts[i].end - amounts[i].start;
  if (rest <= ((flags & QM_SEEN_PRICE) != 0 ? QM_PAGE_PRICE_REST
                                            : QM_PAGE_LONE_REST))
    flags |= QM_SEEN_LONE;
  if ((flags & QM_SEEN_NEAR) != 0)
    share_sign (found);
  for (guint i = 0; i < found->len; i++)
    {
      const QmScannedAmount *a = &amounts[i];
      guint own = flags;

      if (i > 0 && is_range_between (line + a[-1].end, a->start - a[-1].end))
        {
          own |= QM_SEEN_RANGE;
          if (seer->page->seen->len > first)
            g_array_index (seer->page->seen, QmSeenAmount,
                           seer->page->seen->len - 1)
                .flags |= QM_SEEN_RANGE;
        }
      add_amount (seer, line, a, own, from);
      from = a->end;
    }
  if (seer->after_dash)
    mark_range (seer, first);
  seer->after_dash = FALSE;
  g_string_truncate (seer->run, 0);
}

static void
append_text (Seer *seer, const xmlNode *text, guint flags)
{
  if (text->content == NULL || text->content[0] == '\0')
    return;
  if (seer->run->len > 0
      && (flags != seer->run_flags || seer->run->len > RUN_MAX))
    end_run (seer);
  if (seer->run->len == 0)
    {
      seer->run_flags = flags;
      seer->run_node = text->parent;
    }
  if (strnlen ((const char *) text->content, RUN_MAX + 1) > RUN_MAX)
    return;
  qm_page_scan_append (seer->run, text);
}

static guint
flags_of (Seer *seer, const xmlNode *node, guint inherited, gboolean *small)
{
  guint own = qm_page_words_of_element (seer->page, node, TRUE);

  *small = own != 0 && is_small (node);
  if (own != 0 && !*small)
    own = qm_page_words_of_element (seer->page, node, FALSE);
  if (g_hash_table_contains (seer->above_heading, node))
    own &= ~(guint) QM_SEEN_ASIDE;
  if (qm_page_is (node, "a"))
    {
      const char *href = qm_page_attribute (node, "href");

      if (href != NULL && *href != '\0' && *href != '#'
          && !g_str_has_prefix (href, "javascript:"))
        own |= QM_SEEN_LINK;
    }
  /* The nearest word counts: a current price within old ones is current. */
  if ((own & QM_SEEN_CURRENT) != 0 && (own & QM_SEEN_OLD) == 0)
    inherited &= ~(guint) QM_SEEN_REGULAR;
  if ((own & QM_SEEN_PRICE) != 0 && *small)
    own |= QM_SEEN_NEAR;
  return inherited | own;
}

/* All texts of an element that is about one price as one run. */
static void
see_whole (Seer *seer, const xmlNode *node, guint flags)
{
  g_autofree char *run = qm_page_scan_run (node, RUN_MAX);

  end_run (seer);
  g_string_assign (seer->run, run);
  seer->run_node = node;
  seer->run_flags = flags;
  end_run (seer);
}

static void
see (Seer *seer, const xmlNode *node, guint inherited, guint depth)
{
  gboolean block, small;
  guint flags;

  if (depth > QM_PAGE_DEPTH_MAX || is_unseen (node))
    return;
  if (node == seer->page->heading)
    end_run (seer);
  if (seer->buys->len < BUYS_MAX && qm_page_words_buy (node))
    g_ptr_array_add (seer->buys, (gpointer) node);
  flags = flags_of (seer, node, inherited, &small);
  if ((flags & QM_SEEN_PRICE) != 0 && small && has_digits (node)
      && !holds_marked (seer, node))
    {
      see_whole (seer, node, flags);
      return;
    }
  block = !is_inline (node);
  if (block)
    end_run (seer);
  for (const xmlNode *child = node->children; child != NULL;
       child = child->next)
    if (child->type == XML_TEXT_NODE)
      append_text (seer, child, flags);
    else if (child->type == XML_ELEMENT_NODE)
      see (seer, child, flags, depth + 1);
  if (block)
    end_run (seer);
}

/* An element with its parent and looks, to count those that are alike. */
typedef struct
{
  const xmlNode *node; /* the last that was counted */
  guint count;
} Card;

static const char *
class_of (const xmlNode *node)
{
  const char *class = qm_page_attribute (node, "class");

  return class != NULL ? class : "";
}

static guint
card_hash (gconstpointer data)
{
  const xmlNode *node = ((const Card *) data)->node;

  return g_direct_hash (node->parent) ^ g_str_hash (node->name)
         ^ g_str_hash (class_of (node));
}

static gboolean
card_equal (gconstpointer a, gconstpointer b)
{
  const xmlNode *one = ((const Card *) a)->node;
  const xmlNode *two = ((const Card *) b)->node;

  return one->parent == two->parent && xmlStrEqual (one->name, two->name)
         && g_str_equal (class_of (one), class_of (two));
}

/* Calls for each element around an amount, up to what also holds the heading.
 * Counts them, or finds out whether one is in a list. */
static gboolean
around (const Seer *seer,
        GHashTable *cards,
        const xmlNode *node,
        gboolean count)
{
  for (guint level = 0; level < QM_PAGE_CARD_LEVELS && node != NULL
                        && node->type == XML_ELEMENT_NODE
                        && !g_hash_table_contains (seer->above_heading, node);
       level++, node = node->parent)
    {
      Card key = { .node = node, .count = 1 };
      Card *card = g_hash_table_lookup (cards, &key);

      if (!count && card != NULL && card->count >= QM_PAGE_CARDS_LEAST)
        return TRUE;
      if (count && card == NULL)
        g_hash_table_add (cards, g_memdup2 (&key, sizeof key));
      else if (count && card->node != node)
        {
          card->node = node;
          card->count++;
        }
    }
  return FALSE;
}

static void
mark_cards (Seer *seer)
{
  g_autoptr (GHashTable) cards =
      g_hash_table_new_full (card_hash, card_equal, g_free, NULL);
  QmSeenAmount *seen = (void *) seer->page->seen->data;
  const guint n = seer->page->seen->len;

  for (guint i = 0; i < n; i++)
    around (seer, cards, seen[i].node, TRUE);
  for (guint i = 0; i < n; i++)
    if (around (seer, cards, seen[i].node, FALSE))
      seen[i].flags |= QM_SEEN_CARD;
  /* What is bought with the button of a card is the card's. */
  for (guint i = 0; i < seer->buys->len && !seer->page->can_buy; i++)
    seer->page->can_buy =
        !around (seer, cards, g_ptr_array_index (seer->buys, i), FALSE);
}

/* How many levels above the heading that is which holds an amount too. */
static void
mark_areas (Seer *seer)
{
  GArray *seen = seer->page->seen;

  for (guint i = 0; i < seen->len; i++)
    {
      QmSeenAmount *amount = &g_array_index (seen, QmSeenAmount, i);
      const xmlNode *node = amount->node;
      gpointer level;

      while (node != NULL
             && !g_hash_table_lookup_extended (seer->above_heading, node, NULL,
                                               &level))
        node = node->parent;
      if (node != NULL)
        amount->area = GPOINTER_TO_UINT (level);
    }
}

static guint
rate_heading (const QmPage *page, const xmlNode *node, const char *text)
{
  const char *prop = qm_page_attribute (node, "itemprop");
  gboolean stated = FALSE;

  for (guint i = 0; i < page->products->len && i < 8 && !stated; i++)
    {
      const QmStatedProduct *product = g_ptr_array_index (page->products, i);

      stated = !product->listed && qm_page_names_alike (text, product->name);
    }
  return (qm_page_is (node, "h1") ? 4 : 0)
         + (prop != NULL && strstr (prop, "name") != NULL ? 1 : 0)
         + (qm_page_names_alike (text, page->title) ? 3 : 0) + (stated ? 3 : 0);
}

static gboolean
may_head (const xmlNode *node)
{
  static const char *const headings[] = { "h1", "h2", "h3", NULL };

  return qm_page_is_any (node, headings)
         || (g_strcmp0 (qm_page_attribute (node, "itemprop"), "name") == 0
             && !qm_page_is (node, "meta"));
}

static void
find_heading (QmPage *page)
{
  xmlNode *top = xmlDocGetRootElement (page->doc);
  guint best = 3, tried = 0;

  for (xmlNode *node = top; node != NULL && tried < 60;
       node = qm_page_next (top, node, !is_unseen (node)))
    {
      g_autofree char *text = NULL;
      guint rating;

      if (!may_head (node))
        continue;
      tried++;
      text = qm_page_node_text (node, 300);
      if (text == NULL)
        continue;
      rating = rate_heading (page, node, text);
      if (rating >= best + (page->heading != NULL))
        {
          best = rating;
          page->heading = node;
          g_free (page->heading_text);
          page->heading_text = g_steal_pointer (&text);
        }
    }
}

void
qm_page_read_seen (QmPage *page)
{
  g_autoptr (GHashTable) above = g_hash_table_new (NULL, NULL);
  g_autoptr (GString) run = g_string_new (NULL);
  g_autoptr (GPtrArray) buys = g_ptr_array_new ();
  Seer seer = {
    .page = page, .run = run, .buys = buys, .above_heading = above
  };
  xmlNode *top = xmlDocGetRootElement (page->doc);
  guint level = 1;

  find_heading (page);
  for (xmlNode *node = page->heading; node != NULL; node = node->parent)
    g_hash_table_insert (above, node, GUINT_TO_POINTER (level++));
  see (&seer, top, 0, 0);
  end_run (&seer);
  mark_cards (&seer);
  mark_areas (&seer);
}
