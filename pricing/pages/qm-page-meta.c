/* SPDX-License-Identifier: Apache-2.0 */

#include "pricing/pages/qm-page-private.h"

#include "pricing/pages/qm-page-text.h"

#include <string.h>

/* Names of <meta> elements, a better one before a worse one. */
static const char *const price_names[] = QM_PAGE_LIST (QM_EACH_META_PRICE);
static const char *const currency_names[] =
    QM_PAGE_LIST (QM_EACH_META_CURRENCY);
static const char *const availability_names[] =
    QM_PAGE_LIST (QM_EACH_META_AVAILABILITY);

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
      g_autofree char *key = NULL;

      if (!qm_page_is (node, "meta"))
        continue;
      name = qm_page_attribute (node, "property");
      if (name == NULL)
        name = qm_page_attribute (node, "name");
      content = qm_page_attribute (node, "content");
      if (name == NULL || content == NULL || *content == '\0')
        continue;
      key = g_ascii_strdown (name, -1);
      if (!g_hash_table_contains (names, key))
        g_hash_table_insert (names, g_steal_pointer (&key), (char *) content);
    }
  return names;
}

static const char *
look_up (GHashTable *names, const char *const *list)
{
  const char *content = NULL;

  for (; content == NULL && *list != NULL; list++)
    content = g_hash_table_lookup (names, *list);
  return content;
}

/* twitter:label1 "Price" with twitter:data1 "$12". */
static const char *
twitter_price (GHashTable *names)
{
  static const char *const pairs[][2] = {
    { "twitter:label1", "twitter:data1" }, { "twitter:label2", "twitter:data2" }
  };

  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++)
    {
      const char *label = g_hash_table_lookup (names, pairs[i][0]);

      if (label != NULL && g_ascii_strcasecmp (label, "price") == 0)
        return g_hash_table_lookup (names, pairs[i][1]);
    }
  return NULL;
}

static void
read_price (QmPage *page, GHashTable *names, const char *text)
{
  QmStatedProduct *product =
      qm_page_add_priced (page, QM_PAGE_META, text,
                          look_up (names, currency_names));
  QmStatedPrice *price;

  if (product == NULL)
    return;
  price = g_ptr_array_index (product->prices, 0);
  price->availability =
      qm_page_parse_availability (look_up (names, availability_names));
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
  const char *text = look_up (names, price_names);

  page->title =
      qm_page_one_line_unescaped (g_hash_table_lookup (names, "og:title"), 500);
  read_type (page, names);
  if (text == NULL)
    text = twitter_price (names);
  read_price (page, names, text);
}
