/* SPDX-License-Identifier: Apache-2.0 */

#include "pricing/pages/qm-page-private.h"

#include "pricing/pages/qm-page-text.h"

#include <string.h>

/* Names of <meta> elements, a better one before a worse one. */
static const char *const price_names[] = {
  "product:sale_price:amount",
  "product:price:amount",
  "og:price:amount",
  "product:sale_price",
  "product:price",
  "og:price",
  "og:product:price:amount",
  "product:price.amount",
  "twitter:data:price",
  "price",
  "product_price",
  "itemprop:price",
};
static const char *const currency_names[] = {
  "product:sale_price:currency",
  "product:price:currency",
  "og:price:currency",
  "product:currency",
  "og:product:price:currency",
  "product:price.currency",
  "og:currency",
  "pricecurrency",
  "currency",
};
static const char *const availability_names[] = {
  "product:availability",
  "og:availability",
  "availability",
};

/* (transfer full): the contents of all <meta> elements by name in lower case,
 * the first of each. */
static GHashTable *
collect (const QmPage *page)
{
  GHashTable *names =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  xmlNode *top = xmlDocGetRootElement (page->doc);

  for (xmlNode *node = top; node != NULL; node = qm_page_next (top, node, TRUE))
    {
      const char *name, *content;
      char *key;

      if (!qm_page_is (node, "meta"))
        continue;
      name = qm_page_attribute (node, "property");
      if (name == NULL)
        name = qm_page_attribute (node, "name");
      content = qm_page_attribute (node, "content");
      if (name == NULL || content == NULL || *content == '\0')
        continue;
      key = g_ascii_strdown (name, -1);
      if (g_hash_table_contains (names, key))
        g_free (key);
      else
        g_hash_table_insert (names, key, (char *) content);
    }
  return names;
}

static const char *
look_up (GHashTable *names, const char *const *list, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      const char *content = g_hash_table_lookup (names, list[i]);

      if (content != NULL)
        return content;
    }
  return NULL;
}

/* twitter:label1 "Price" with twitter:data1 "$12". */
static const char *
twitter_price (GHashTable *names)
{
  static const char *const labels[] = { "twitter:label1", "twitter:label2" };
  static const char *const data[] = { "twitter:data1", "twitter:data2" };

  for (guint i = 0; i < G_N_ELEMENTS (labels); i++)
    {
      const char *label = g_hash_table_lookup (names, labels[i]);

      if (label != NULL && g_ascii_strcasecmp (label, "price") == 0)
        return g_hash_table_lookup (names, data[i]);
    }
  return NULL;
}

static void
read_price (QmPage *page, GHashTable *names, const char *text)
{
  const char *code =
      look_up (names, currency_names, G_N_ELEMENTS (currency_names));
  const char *availability =
      look_up (names, availability_names, G_N_ELEMENTS (availability_names));
  gint64 micros, other;
  char currency[4];
  QmStatedProduct *product;
  QmStatedPrice *price;

  if (!qm_page_parse_price (text, &micros, &other, currency))
    return;
  product = qm_page_add_product (page, QM_PAGE_META);
  price = qm_stated_price_new ();
  price->micros = micros;
  price->other_micros = other;
  memcpy (price->currency, currency, 4);
  qm_stated_price_set_currency (price, code);
  price->availability = qm_page_parse_availability (availability);
  g_ptr_array_add (product->prices, price);
  product->name =
      qm_page_one_line_unescaped (g_hash_table_lookup (names, "og:title"), 500);
  product->sku =
      qm_page_one_line (g_hash_table_lookup (names, "product:retailer_item_id"),
                        100);
  product->mpn =
      qm_page_one_line (g_hash_table_lookup (names, "product:mfr_part_no"),
                        100);
}

static void
read_type (QmPage *page, GHashTable *names)
{
  static const char *const lists[] = { "product.group", "og:product.group",
                                       "category", NULL };
  static const char *const articles[] = { "article", "blog", "video", "profile",
                                          NULL };
  static const char *const products[] = { "product", "og:product",
                                          "product.item", "item", NULL };
  const char *type = g_hash_table_lookup (names, "og:type");
  g_autofree char *lower = NULL;

  if (type == NULL)
    return;
  lower = g_ascii_strdown (type, -1);
  page->is_list = page->is_list || g_strv_contains (lists, lower);
  page->is_article = page->is_article || g_strv_contains (articles, lower);
  page->is_product = g_strv_contains (products, lower);
}

void
qm_page_read_meta (QmPage *page)
{
  g_autoptr (GHashTable) names = collect (page);
  const char *text = look_up (names, price_names, G_N_ELEMENTS (price_names));

  page->title =
      qm_page_one_line_unescaped (g_hash_table_lookup (names, "og:title"), 500);
  read_type (page, names);
  if (text == NULL)
    text = twitter_price (names);
  if (text != NULL)
    read_price (page, names, text);
}
