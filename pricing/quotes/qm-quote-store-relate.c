/* SPDX-License-Identifier: Apache-2.0 */

/* Duplicates and revisions among quotes that are to be added. */

#include "config.h"

#include "pricing/quotes/qm-quote-family.h"
#include "pricing/quotes/qm-quote-read.h"
#include "pricing/quotes/qm-quote-store-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

typedef struct
{
  GPtrArray *quotes;
  GArray *relations;
} Work;

/* The heads of all stored quotes that have a number, by their family: the
 * newest of each. */
static GHashTable *
read_families (QmQuoteStore *store, GError **error)
{
  static const char sql[] =
      "SELECT quotes.id, vendors.name, number, alternative, supersedes, asked,"
      "  answered, sha256, issued_on"
      " FROM quotes JOIN vendors ON vendors.id = vendor"
      " WHERE number IS NOT NULL AND deleted_at IS NULL ORDER BY quotes.id";
  g_autoptr (GHashTable) families =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                             (GDestroyNotify) qm_quote_free);
  g_autoptr (QmStatement) row = qm_store_prepare (store, sql, error);
  int step = -1;

  while (row != NULL && (step = qm_store_step (store, row, error)) == 1)
    {
      g_autoptr (QmQuote) head = qm_quote_new ();
      gboolean known = TRUE;
      int n = -1;
      char *key;

      head->id = qm_column_int (row, &n, NULL);
      head->vendor = qm_column_dup (row, &n);
      head->number = qm_column_dup (row, &n);
      head->alternative = qm_column_dup (row, &n);
      head->supersedes = qm_column_dup (row, &n);
      head->asked = qm_column_asks (row, &n, &known);
      head->answered = qm_column_asks (row, &n, &known);
      head->sha256 = qm_column_dup (row, &n);
      head->issued_on = qm_column_date (row, &n, NULL);
      key = qm_quote_family_key (head);
      if (key != NULL)
        g_hash_table_replace (families, key, g_steal_pointer (&head));
    }
  return step == 0 ? g_steal_pointer (&families) : NULL;
}

/* Whether a quote says that it is of an earlier day. */
static gboolean
is_earlier (const QmQuote *quote, const QmQuote *other)
{
  return quote->issued_on.year != 0 && other->issued_on.year != 0
         && qm_date_compare (quote->issued_on, other->issued_on) < 0;
}

/* Links a quote to the one that it is a revision of, or an earlier state. */
static void
link_to (QmQuote *quote, const QmQuote *older)
{
  if ((quote->answered & QM_ASK_REVISION) != 0)
    return;
  qm_quote_ask (quote, QM_ASK_REVISION);
  if (quote->supersedes == NULL && !is_earlier (quote, older))
    quote->supersedes = g_strdup (older->number);
  qm_read_find (quote, QM_FINDING_NOTE, NULL,
                /* Translators: the number of a quote in the list, the number
                 * that its vendor gave it. */
                _ ("Quote %lld of this vendor has the number %s, but says "
                   "something else. Of the two the newer revision counts, "
                   "unless you say that this one is another quote."),
                (long long) older->id, older->number);
}

static gboolean
relate (QmQuoteStore *store, gpointer data, GError **error)
{
  Work *work = data;
  g_autoptr (GHashTable) families = read_families (store, error);
  g_autoptr (GHashTable) counts =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; families != NULL && i < work->quotes->len; i++)
    {
      QmQuote *quote = g_ptr_array_index (work->quotes, i);
      QmQuoteRelation relation = { 0 };
      g_autofree char *key = qm_quote_family_key (quote);
      const QmQuote *older =
          key != NULL ? g_hash_table_lookup (families, key) : NULL;

      relation.same =
          qm_store_find_same (store, quote,
                              qm_store_count_occurrence (counts, quote), error);
      if (relation.same < 0)
        return FALSE;
      if (relation.same == 0 && older != NULL && older->id != quote->id
          && (quote->sha256 == NULL
              || g_strcmp0 (older->sha256, quote->sha256) != 0))
        {
          relation.older = older->id;
          link_to (quote, older);
        }
      g_array_append_val (work->relations, relation);
    }
  return families != NULL;
}

GArray *
qm_quote_store_relate (QmQuoteStore *store, GPtrArray *quotes, GError **error)
{
  g_autoptr (GArray) relations =
      g_array_new (FALSE, FALSE, sizeof (QmQuoteRelation));
  Work work = { quotes, relations };

  g_return_val_if_fail (store != NULL && quotes != NULL, NULL);

  if (!qm_store_read (store, relate, &work, error))
    return NULL;
  return g_steal_pointer (&relations);
}
