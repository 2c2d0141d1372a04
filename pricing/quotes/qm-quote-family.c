/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/quotes/qm-quote-family.h"

#include "pricing/quotes/qm-search-text.h"

#include <stdlib.h>
#include <string.h>

/* What may part the mark of a revision from the number. */
#define SIGNS " -_./(,#"

/* The number that the end of a text says a revision is: 2 for "2", "02" and
 * "b".  0: it is none. */
static int
revision_of (const char *text, gboolean letters)
{
  gsize digits = strspn (text, "0123456789");

  if (digits > 0 && digits < 3 && text[digits] == '\0')
    return atoi (text);
  if (letters && g_ascii_islower (text[0]) && text[1] == '\0')
    return text[0] - 'a' + 1;
  return 0;
}

/* The revision that stands at `at`: behind a word any, behind a letter a
 * number only ("R2", not "RB"). */
static int
read_mark (const char *at)
{
  static const char *const words[] = { "revision", "version", "rev",
                                       "ver",      "v",       "r" };

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    {
      gboolean letter = strlen (words[i]) == 1;
      const char *after = at + strlen (words[i]);
      int revision;

      if (!g_str_has_prefix (at, words[i]))
        continue;
      after += strspn (after, letter ? "." : " .-_:");
      revision = revision_of (after, !letter);
      if (revision > 0)
        return revision;
    }
  return 0;
}

/* Where the mark of a revision stands, after a sign that parts it from a
 * number with a digit; NULL: there is none. */
static char *
find_mark (char *number, int *revision)
{
  gsize digit = strcspn (number, "0123456789");

  for (gsize i = strlen (number); i-- > digit + 1;)
    if (strchr (SIGNS, number[i - 1]) != NULL)
      {
        *revision = read_mark (number + i);
        if (*revision > 0)
          return number + i;
      }
  return NULL;
}

char *
qm_quote_number_family (const char *number, int *revision)
{
  g_autofree char *folded = qm_search_text_fold (number != NULL ? number : "");
  gsize length = strlen (folded);
  int found = 0;
  char *mark;

  while (length > 0 && strchr (" )].", folded[length - 1]) != NULL)
    folded[--length] = '\0';
  mark = find_mark (folded, &found);
  if (mark != NULL)
    for (*mark = '\0'; mark > folded && strchr (SIGNS, mark[-1]) != NULL;)
      *--mark = '\0';
  if (revision != NULL)
    *revision = found;
  return g_steal_pointer (&folded);
}

/* Whether the user has said that a quote replaces none. */
static gboolean
stands_alone (const QmQuote *quote)
{
  return (quote->answered & QM_ASK_REVISION) != 0 && quote->supersedes == NULL;
}

static gboolean
same_family (const char *a, const char *b)
{
  g_autofree char *one = qm_quote_number_family (a, NULL);
  g_autofree char *other = qm_quote_number_family (b, NULL);

  return one[0] != '\0' && strcmp (one, other) == 0;
}

/* The day of a quote as it says it; year 0 where it does not, clearly. */
static QmDate
stated_day (const QmQuote *quote)
{
  if (qm_quote_is_undated (quote))
    return (QmDate){ 0 };
  return quote->issued_on.year != 0 ? quote->issued_on : quote->valid_from;
}

/* By what the quotes themselves say: 0 where they do not. */
static int
compare_stated (const QmQuote *a, const QmQuote *b)
{
  g_autofree char *one = qm_quote_number_family (a->number, NULL);
  g_autofree char *other = qm_quote_number_family (b->number, NULL);
  int revision_a, revision_b;

  if (strcmp (one, other) != 0)
    return (int) same_family (a->supersedes, b->number)
           - (int) same_family (b->supersedes, a->number);
  g_free (qm_quote_number_family (a->number, &revision_a));
  g_free (qm_quote_number_family (b->number, &revision_b));
  return (revision_a > revision_b) - (revision_a < revision_b);
}

/* Which of two quotes of one family is the newer revision: the one that
 * supersedes the other, else the one with the higher revision in its number,
 * else the one of the later day, else the one that was stored later.
 *
 * Returns: > 0 where that is `a`, < 0 where it is `b`. */
static int
compare_revisions (const QmQuote *a, const QmQuote *b)
{
  int order;

  g_return_val_if_fail (a != NULL && b != NULL, 0);

  order = compare_stated (a, b);
  if (order == 0)
    order = qm_date_compare (stated_day (a), stated_day (b));
  return order != 0 ? order : (a->id > b->id) - (a->id < b->id);
}

/* What the revisions of one quote have in common, the number being `number`;
 * NULL: it has no revisions.  (transfer full) */
static char *
key_of_family (const QmQuote *quote, const char *number)
{
  g_autofree char *family = qm_quote_number_family (number, NULL);
  g_autofree char *vendor = NULL;
  g_autofree char *alternative = NULL;

  if (quote->vendor == NULL || family[0] == '\0' || stands_alone (quote))
    return NULL;
  vendor = qm_search_text_fold (quote->vendor);
  alternative = qm_search_text_fold (
      quote->alternative != NULL ? quote->alternative : "");
  return g_strdup_printf ("%s\n%s\n%s", vendor, alternative, family);
}

/* Key -> the key that it has been made one with. */
static const char *
find_root (GHashTable *roots, const char *key)
{
  const char *next;

  for (guint i = 0; i < 100; i++)
    {
      next = g_hash_table_lookup (roots, key);
      if (next == NULL)
        break;
      key = next;
    }
  return key;
}

/* Makes the numbers of a quote and of the one that it supersedes one. */
static void
join (GHashTable *roots, const QmQuote *quote)
{
  g_autofree char *own = key_of_family (quote, quote->number);
  g_autofree char *older = key_of_family (quote, quote->supersedes);
  const char *a, *b;

  if (own == NULL || older == NULL)
    return;
  a = find_root (roots, own);
  b = find_root (roots, older);
  if (strcmp (a, b) != 0)
    g_hash_table_insert (roots, g_strdup (a), g_strdup (b));
}

/* Whether `newer`, which holds, counts in the place of `older`, both being
 * revisions of one quote. */
static gboolean
displaces (const QmQuote *newer, const QmQuote *older)
{
  return compare_revisions (newer, older) > 0
         && (!qm_quote_is_undated (newer) || qm_quote_is_undated (older)
             || compare_stated (newer, older) > 0);
}

/* The newest of a family that holds, or NULL. */
static const QmQuote *
newest_of (GPtrArray *family, gboolean dated, QmDate on)
{
  const QmQuote *best = NULL;

  for (guint i = 0; i < family->len; i++)
    {
      const QmQuote *quote = g_ptr_array_index (family, i);

      if ((dated && qm_quote_is_undated (quote))
          || !qm_quote_dates_hold (quote->issued_on, quote->valid_from,
                                   quote->valid_until, on))
        continue;
      if (best == NULL || compare_revisions (quote, best) > 0)
        best = quote;
    }
  return best;
}

static void
choose_revisions (GPtrArray *family, GHashTable *chosen, QmDate on)
{
  const QmQuote *newest = newest_of (family, FALSE, on);
  const QmQuote *dated = newest_of (family, TRUE, on);

  for (guint i = 0; i < family->len; i++)
    {
      const QmQuote *quote = g_ptr_array_index (family, i);
      const QmQuote *best = quote;

      if (newest != NULL && displaces (newest, quote))
        best = newest;
      else if (dated != NULL && displaces (dated, quote))
        best = dated;
      g_hash_table_insert (chosen, (gpointer) quote, (gpointer) best);
    }
}

GPtrArray *
qm_quote_newest_revisions (GPtrArray *quotes, QmDate on)
{
  GPtrArray *newest = g_ptr_array_sized_new (quotes->len);
  g_autoptr (GHashTable) roots =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autoptr (GHashTable) families =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                             (GDestroyNotify) g_ptr_array_unref);
  g_autoptr (GHashTable) chosen = g_hash_table_new (NULL, NULL);
  GHashTableIter iter;
  gpointer family;

  for (guint i = 0; i < quotes->len; i++)
    join (roots, g_ptr_array_index (quotes, i));
  for (guint i = 0; i < quotes->len; i++)
    {
      const QmQuote *quote = g_ptr_array_index (quotes, i);
      g_autofree char *key = key_of_family (quote, quote->number);
      const char *root = key != NULL ? find_root (roots, key) : NULL;

      if (root == NULL)
        continue;
      family = g_hash_table_lookup (families, root);
      if (family == NULL)
        {
          family = g_ptr_array_new ();
          g_hash_table_insert (families, g_strdup (root), family);
        }
      g_ptr_array_add (family, (gpointer) quote);
    }
  g_hash_table_iter_init (&iter, families);
  while (g_hash_table_iter_next (&iter, NULL, &family))
    if (((GPtrArray *) family)->len > 1)
      choose_revisions (family, chosen, on);
  for (guint i = 0; i < quotes->len; i++)
    {
      gpointer quote = g_ptr_array_index (quotes, i);
      gpointer best = g_hash_table_lookup (chosen, quote);

      g_ptr_array_add (newest, best != NULL ? best : quote);
    }
  return newest;
}

char *
qm_quote_family_key (const QmQuote *quote)
{
  g_return_val_if_fail (quote != NULL, NULL);

  return key_of_family (quote, quote->number);
}
