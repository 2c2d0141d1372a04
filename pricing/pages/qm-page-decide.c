/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/pages/qm-page-private.h"

#include "pricing/pages/qm-page-sight.h"
#include "pricing/pages/qm-page-text.h"
#include "pricing/pages/qm-page-words.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define PLACEHOLDER_MICROS ((gint64) QM_PAGE_PLACEHOLDER * QM_MICROS_PER_UNIT)
#define ABSURD_MICROS      ((gint64) QM_PAGE_ABSURD * QM_MICROS_PER_UNIT)

/* What one kind of data states. */
typedef struct
{
  QmPageMethod method;
  const QmStatedProduct *product; /* NULL: none */
  const QmStatedPrice *price;     /* NULL: none */
  gint64 micros;
  gboolean several; /* products or prices, and nothing says which one */
} Statement;

/* In the order of trust. */
static const QmPageMethod methods[] = {
  QM_PAGE_JSON_LD, QM_PAGE_MICRODATA, QM_PAGE_RDFA,
  QM_PAGE_META,    QM_PAGE_SCRIPT,    QM_PAGE_RULE,
};

#define N_STATEMENTS G_N_ELEMENTS (methods)

typedef struct
{
  QmPage *page;
  QmPageOffer *offer;
  QmSight sight;
  Statement statements[N_STATEMENTS];
} Judge;

static gboolean
holds_heading (const QmPage *page, const QmStatedProduct *product)
{
  for (const xmlNode *node = page->heading; node != NULL; node = node->parent)
    if (node == product->node)
      return TRUE;
  return FALSE;
}

static gboolean
is_own_address (const QmPage *page, const char *url)
{
  const char *own = page->context->url;

  return url != NULL && strstr (url, "://") != NULL
         && (g_strcmp0 (url, own) == 0
             || g_strcmp0 (url, page->canonical) == 0);
}

/* How likely a product is the page's own among several. */
static guint
rate_product (const QmPage *page, const QmStatedProduct *product)
{
  guint rating = qm_page_names_alike (product->name, page->heading_text) ? 4
                 : qm_page_names_alike (product->name, page->title)      ? 2
                                                                         : 0;

  return rating + (product->prices->len > 0 ? 1 : 0)
         + (!product->listed ? 8 : 0)
         + (product->node != NULL && holds_heading (page, product) ? 4 : 0)
         + (is_own_address (page, product->url) ? 3 : 0);
}

/* NULL: none. */
static const QmStatedPrice *
first_price (const QmStatedProduct *product)
{
  return product != NULL && product->prices->len > 0
             ? g_ptr_array_index (product->prices, 0)
             : NULL;
}

static gboolean
is_real (const QmStatedPrice *price)
{
  return price->micros != QM_AMOUNT_UNSTATED && price->micros > 0
         && price->micros < ABSURD_MICROS;
}

static const QmStatedPrice *
first_real (const QmStatedProduct *product)
{
  for (guint i = 0; i < product->prices->len; i++)
    if (is_real (g_ptr_array_index (product->prices, i)))
      return g_ptr_array_index (product->prices, i);
  return NULL;
}

static gboolean
products_differ (const QmStatedProduct *a, const QmStatedProduct *b)
{
  const QmStatedPrice *x = first_real (a);
  const QmStatedPrice *y = first_real (b);

  return x != NULL && y != NULL && x->micros != y->micros;
}

/* The product that is the page's own; NULL: none. */
static void
choose_product (const QmPage *page, Statement *statement)
{
  guint best = 0, listed = 0;

  for (guint i = 0; i < page->products->len; i++)
    {
      const QmStatedProduct *product = g_ptr_array_index (page->products, i);
      guint rating;

      if (product->method != statement->method)
        continue;
      listed += product->listed;
      rating = rate_product (page, product);
      if (statement->product == NULL || rating > best)
        {
          statement->product = product;
          statement->several = FALSE;
          best = rating;
        }
      else if (rating == best && products_differ (statement->product, product))
        statement->several = TRUE;
    }
  if (statement->product != NULL && statement->product->listed
      && (listed > 1 || best < 4))
    statement->several = TRUE;
}

/* Of different prices, the only one that people see; NULL: none or several. */
static const QmStatedPrice *
only_seen (const QmPage *page, const QmStatedProduct *product)
{
  const guint elsewhere = QM_SEEN_OLD | QM_SEEN_PART | QM_SEEN_ASIDE
                          | QM_SEEN_CARD | QM_SEEN_LINK | QM_SEEN_FROM
                          | QM_SEEN_RANGE;
  const QmStatedPrice *found = NULL;

  for (guint i = 0; i < product->prices->len; i++)
    {
      const QmStatedPrice *price = g_ptr_array_index (product->prices, i);

      if (!is_real (price) || (found != NULL && price->micros == found->micros)
          || !qm_page_is_seen (page, price->micros, elsewhere))
        continue;
      if (found != NULL)
        return NULL;
      found = price;
    }
  return found;
}

/* The one price of a product: that of its own number or address, or the one
 * that people see. */
static void
choose_price (const Judge *judge, Statement *statement)
{
  const QmStatedProduct *product = statement->product;
  const QmStatedPrice *own = NULL, *seen = NULL;
  const QmSight *sight = &judge->sight;
  gboolean differ = FALSE;

  for (guint i = 0; i < product->prices->len; i++)
    {
      const QmStatedPrice *price = g_ptr_array_index (product->prices, i);

      if (!is_real (price))
        continue;
      if (statement->price == NULL)
        statement->price = price;
      else if (price->micros != statement->price->micros)
        differ = TRUE;
      if (own == NULL
          && ((product->sku != NULL
               && g_strcmp0 (product->sku, price->sku) == 0)
              || (product->prices->len > 1
                  && g_strcmp0 (price->url, judge->page->context->url) == 0
                  && price->url != NULL)))
        own = price;
      if (seen == NULL && sight->amount != NULL && !sight->several
          && price->micros == sight->amount->micros)
        seen = price;
    }
  if (differ && own == NULL && seen == NULL)
    seen = only_seen (judge->page, product);
  if (differ && (own != NULL || seen != NULL))
    statement->price = own != NULL ? own : seen;
  else if (differ)
    statement->several = TRUE;
  if (statement->price != NULL
      && statement->price->high_micros != QM_AMOUNT_UNSTATED && seen == NULL)
    statement->several = TRUE;
}

static void
make_statement (const Judge *judge, Statement *statement, QmPageMethod method)
{
  const QmPage *page = judge->page;

  statement->method = method;
  statement->micros = QM_AMOUNT_UNSTATED;
  choose_product (page, statement);
  if (statement->product == NULL)
    return;
  choose_price (judge, statement);
  if (statement->price == NULL)
    return;
  statement->micros = statement->price->micros;
  if (statement->price->other_micros != QM_AMOUNT_UNSTATED
      && !qm_page_is_seen (page, statement->micros, 0))
    {
      if (qm_page_is_seen (page, statement->price->other_micros, 0))
        statement->micros = statement->price->other_micros;
      else
        statement->several = TRUE;
    }
  /* A price of nothing by name counts where it is seen. */
  if (statement->product->name == NULL && statement->product->node != NULL
      && !qm_page_is_seen (page, statement->micros,
                           QM_SEEN_OLD | QM_SEEN_ASIDE | QM_SEEN_CARD))
    statement->several = TRUE;
  if (statement->micros <= PLACEHOLDER_MICROS
      && !qm_page_is_seen (page, statement->micros, QM_SEEN_OLD))
    statement->price = NULL;
}

static gboolean
is_clear (const Statement *statement)
{
  return statement->price != NULL && !statement->several;
}

/* The most trusted statement of a price, or of the price `micros`; those that
 * people see go before others, and the page's own before the rule's. */
static const Statement *
find_statement (const Judge *judge, gint64 micros)
{
  const Statement *first = NULL;

  for (guint i = 0; i < N_STATEMENTS; i++)
    {
      const Statement *statement = &judge->statements[i];

      if (!is_clear (statement)
          || (micros != QM_AMOUNT_UNSTATED && statement->micros != micros))
        continue;
      if (statement->method == QM_PAGE_RULE)
        return first != NULL ? first : statement;
      if (first == NULL)
        first = statement;
      if (qm_page_is_seen (judge->page, statement->micros, QM_SEEN_OLD))
        return statement;
    }
  return first;
}

/* Whether another of the page's own statements names another price. */
static gboolean
is_contradicted (const Judge *judge, const Statement *statement)
{
  for (guint i = 0; i < N_STATEMENTS; i++)
    if (is_clear (&judge->statements[i]) && methods[i] != QM_PAGE_RULE
        && judge->statements[i].micros != statement->micros)
      return TRUE;
  return FALSE;
}

/* Whether a product is stated to cost nothing, or not to be had. */
static gboolean
is_not_for_sale (const Judge *judge)
{
  for (guint i = 0; i < N_STATEMENTS; i++)
    {
      const QmStatedProduct *product = judge->statements[i].product;

      for (guint j = 0; product != NULL && j < product->prices->len; j++)
        {
          const QmStatedPrice *price = g_ptr_array_index (product->prices, j);

          if (price->micros == 0
              || price->availability == QM_AVAILABILITY_OUT_OF_STOCK
              || price->availability == QM_AVAILABILITY_DISCONTINUED)
            return TRUE;
        }
    }
  return FALSE;
}

static void
fill_text (char **field, const char *text)
{
  if (*field == NULL)
    *field = g_strdup (text);
}

static void
fill_words (QmPageOffer *offer, const Statement *statement)
{
  const QmStatedProduct *product = statement->product;
  const QmStatedPrice *price = statement->price;

  if (product == NULL || product->listed)
    return;
  if (price == NULL)
    price = first_price (product);
  fill_text (&offer->name, product->name);
  if (price != NULL)
    {
      fill_text (&offer->sku, price->sku);
      fill_text (&offer->mpn, price->mpn);
    }
  fill_text (&offer->sku, product->sku);
  fill_text (&offer->mpn, product->mpn);
  if (price == NULL)
    return;
  fill_text (&offer->seller, price->seller);
  if (offer->availability == QM_AVAILABILITY_UNSTATED)
    offer->availability = price->availability;
  if (offer->valid_until.year == 0)
    offer->valid_until = price->valid_until;
  if (offer->tax_included == QM_UNSTATED)
    offer->tax_included = price->tax_included;
}

static void
decide_nothing (Judge *judge, const char *reason)
{
  judge->offer->method = QM_PAGE_NOTHING;
  judge->offer->reason = g_strdup (reason);
}

static void
refuse_contradiction (Judge *judge)
{
  decide_nothing (judge,
                  _ ("what the page states for programs and what it shows to "
                     "people are different prices"));
}

/* The currency of the amounts: the statement's, the one that is seen, or that
 * of other statements, where they do not contradict each other.
 *
 * Returns: FALSE where they do. */
static gboolean
choose_currency (Judge *judge, const Statement *statement)
{
  QmPageOffer *offer = judge->offer;
  const QmSeenAmount *seen = judge->sight.amount;

  if (seen != NULL && seen->micros != offer->price_micros)
    seen = NULL;
  if (statement != NULL && statement->price != NULL)
    memcpy (offer->currency, statement->price->currency, 4);
  if (offer->currency[0] != '\0' && seen != NULL && statement != NULL
      && seen->currency[0] != '\0'
      && strcmp (seen->currency, offer->currency) != 0)
    return FALSE;
  if (offer->currency[0] == '\0' && seen != NULL)
    memcpy (offer->currency, seen->currency, 4);
  for (guint i = 0; offer->currency[0] == '\0' && i < N_STATEMENTS; i++)
    {
      const QmStatedPrice *price = first_price (judge->statements[i].product);

      if (price != NULL && price->currency[0] != '\0'
          && (seen == NULL || seen->sign[0] == '\0'
              || !qm_amount_parse_currency (seen->sign, offer->currency)
              || qm_amount_sign_may_mean (seen->sign, price->currency)))
        memcpy (offer->currency, price->currency, 4);
    }
  if (offer->currency[0] == '\0' && seen != NULL)
    {
      qm_page_guess_currency (judge->page, seen->sign, offer->currency);
      if (offer->currency[0] != '\0')
        g_ptr_array_add (offer->notes,
                         g_strdup_printf (_ ("it writes %s, which is taken for "
                                             "%s by its address or language"),
                                          seen->sign, offer->currency));
    }
  return TRUE;
}

/* What stands close to an amount about tax. */
static QmTristate
see_tax (const QmSeenAmount *amount)
{
  const xmlNode *node = amount->node;
  QmTristate tax = QM_UNSTATED;

  for (guint i = 0; i < QM_PAGE_TAX_LEVELS && tax == QM_UNSTATED && node != NULL
                    && node->type == XML_ELEMENT_NODE;
       i++, node = node->parent)
    {
      g_autofree char *text = qm_page_node_text (node, QM_PAGE_TAX_TEXT + 1);

      if (text == NULL)
        continue;
      if (g_utf8_strlen (text, -1) > QM_PAGE_TAX_TEXT)
        break;
      tax = qm_page_words_tax (text);
    }
  return tax;
}

static void
accept (Judge *judge, const Statement *statement, gint64 micros)
{
  QmPageOffer *offer = judge->offer;

  offer->price_micros = micros;
  offer->confirmed =
      qm_page_is_seen (judge->page, micros,
                       QM_SEEN_OLD | QM_SEEN_PART | QM_SEEN_ASIDE);
  offer->method = statement != NULL && statement->micros == micros
                      ? statement->method
                      : QM_PAGE_TEXT;
  if (offer->tax_included == QM_UNSTATED && judge->sight.amount != NULL
      && judge->sight.amount->micros == micros)
    offer->tax_included = see_tax (judge->sight.amount);
  if (!choose_currency (judge, statement))
    {
      offer->price_micros = QM_AMOUNT_UNSTATED;
      offer->currency[0] = '\0';
      offer->confirmed = FALSE;
      decide_nothing (judge, _ ("the page names two currencies for its price"));
    }
}

/* Notes what other statements say. */
static void
note_others (Judge *judge)
{
  QmPageOffer *offer = judge->offer;

  for (guint i = 0; i < N_STATEMENTS; i++)
    {
      const Statement *other = &judge->statements[i];
      char text[G_ASCII_DTOSTR_BUF_SIZE];

      if (!is_clear (other) || other->micros == offer->price_micros)
        continue;
      g_ascii_formatd (text, sizeof text, "%.2f",
                       (double) other->micros / QM_MICROS_PER_UNIT);
      /* Translators: a kind of data, "json-ld", and an amount. */
      g_ptr_array_add (offer->notes,
                       g_strdup_printf (_ ("its %s says %s instead"),
                                        qm_page_method_name (other->method),
                                        text));
    }
}

/* A price is stated, and people see another one. */
static void
settle_contradiction (Judge *judge, const Statement *statement)
{
  const QmPage *page = judge->page;
  gint64 seen = judge->sight.amount->micros;
  const Statement *other = find_statement (judge, seen);

  if (other != NULL)
    accept (judge, other, seen);
  else if (qm_page_is_seen (page, statement->micros, 0)
           && !qm_page_is_seen (page, statement->micros, QM_SEEN_OLD))
    /* What is stated is the old price, seen as such. */
    accept (judge, statement, seen);
  else if (qm_page_is_seen_as_price (page, statement->micros))
    accept (judge, statement, statement->micros);
  else
    refuse_contradiction (judge);
}

/* Whether there are signs that the page is about one product that can be
 * bought. */
static gboolean
is_product_page (const Judge *judge)
{
  const QmPage *page = judge->page;

  gboolean stated = page->is_product;

  for (guint i = 0; i < N_STATEMENTS && !stated; i++)
    stated = judge->statements[i].product != NULL
             && !judge->statements[i].product->listed;
  return !page->is_list && (page->can_buy || (!page->is_article && stated));
}

static gboolean
is_clear_sight (const Judge *judge)
{
  const QmSeenAmount *seen = judge->sight.amount;

  return judge->sight.called_price && seen->micros > PLACEHOLDER_MICROS
         && seen->micros < ABSURD_MICROS && seen->area <= QM_PAGE_AREA
         && (seen->sign[0] != '\0' || !judge->page->sees_signed)
         && !is_not_for_sale (judge);
}

static void
decide_by_sight (Judge *judge)
{
  const QmSeenAmount *seen = judge->sight.amount;
  gboolean several = judge->sight.several;

  for (guint i = 0; i < N_STATEMENTS; i++)
    several = several || judge->statements[i].several;
  if (several)
    decide_nothing (judge,
                    _ ("the page names several prices and does not say which "
                       "one is its product’s"));
  else if (seen == NULL || judge->page->heading == NULL)
    decide_nothing (
        judge, judge->page->cut ? _ (
                   "the page nests too deeply, or has too long a tag, to be "
                   "read to its end")
                                : _ ("the page names no price"));
  else if (!is_product_page (judge) || !is_clear_sight (judge))
    decide_nothing (judge,
                    _ ("the page does not say clearly what a product costs"));
  else
    accept (judge, NULL, seen->micros);
}

/* Shops leave in their data what a thing cost when they still had it, and no
 * longer show it. */
static gboolean
is_gone (const Judge *judge, const Statement *statement)
{
  QmAvailability availability = statement->price->availability;

  return (availability == QM_AVAILABILITY_DISCONTINUED
          || availability == QM_AVAILABILITY_OUT_OF_STOCK)
         && !qm_page_is_seen (judge->page, statement->micros,
                              QM_SEEN_OLD | QM_SEEN_PART | QM_SEEN_ASIDE);
}

/* Something is stated and nothing clear is seen where the product stands. */
static void
decide_by_statement (Judge *judge, const Statement *statement)
{
  const QmPage *page = judge->page;
  gboolean seen = qm_page_is_seen (page, statement->micros, QM_SEEN_OLD);

  if (!seen
      && (judge->sight.several || qm_page_is_seen (page, statement->micros, 0)
          || (statement->method == QM_PAGE_SCRIPT && page->sees_signed)
          || is_contradicted (judge, statement)))
    refuse_contradiction (judge);
  else if (is_gone (judge, statement))
    decide_nothing (judge,
                    _ ("the page shows no price, and what it states for "
                       "programs is of something that is not to be had"));
  else
    accept (judge, statement, statement->micros);
}

static void
decide (Judge *judge, gboolean rule_first)
{
  const Statement *statement = rule_first
                                   ? &judge->statements[N_STATEMENTS - 1]
                                   : find_statement (judge, QM_AMOUNT_UNSTATED);

  if (statement == NULL)
    decide_by_sight (judge);
  else if (statement->method != QM_PAGE_RULE
           && (judge->sight.amount == NULL || judge->sight.several
               || !judge->sight.called_price))
    decide_by_statement (judge, statement);
  else if (statement->method == QM_PAGE_RULE
           || judge->sight.amount->micros == statement->micros)
    accept (judge, statement, statement->micros);
  else
    settle_contradiction (judge, statement);
}

void
qm_page_decide (QmPage *page, QmPageOffer *offer)
{
  Judge judge = { .page = page, .offer = offer };
  gboolean rule_first = FALSE;
  gboolean rule = qm_page_apply_rules (page, &rule_first);

  judge.sight = qm_page_see_price (page);
  for (guint i = 0; i < N_STATEMENTS; i++)
    make_statement (&judge, &judge.statements[i], methods[i]);
  if (rule && rule_first)
    fill_words (offer, &judge.statements[N_STATEMENTS - 1]);
  for (guint i = 0; i < N_STATEMENTS; i++)
    fill_words (offer, &judge.statements[i]);
  fill_text (&offer->name, page->heading_text);
  fill_text (&offer->name, page->title);
  decide (&judge, rule && rule_first);
  if (offer->price_micros != QM_AMOUNT_UNSTATED)
    note_others (&judge);
}
