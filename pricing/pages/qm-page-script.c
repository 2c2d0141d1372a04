/* SPDX-License-Identifier: Apache-2.0 */

/* Data that pages hand to their own scripts in forms that many shops use:
 * the ecommerce objects of tag managers, product views of advertisers, and the
 * product objects of Shopify.  Only what is about one product counts. */

#include "pricing/pages/qm-page-private.h"

#include "pricing/pages/qm-lax-json.h"
#include "pricing/pages/qm-page-text.h"

#include <string.h>

#define SCRIPT_BYTES_MAX (1024 * 1024)
#define OBJECT_BYTES_MAX (128 * 1024)
#define FINDS_MAX        8 /* objects of a kind in one script */

typedef struct
{
  const char *text;
  gsize length;
} Script;

/* The first of the members so called that is a text or number.  (transfer full)
 * (nullable) */
static G_GNUC_NULL_TERMINATED char *
first_text (json_t *object, const char *name, ...)
{
  char *text = NULL;
  va_list others;

  va_start (others, name);
  for (; text == NULL && name != NULL; name = va_arg (others, const char *))
    text = qm_page_json_text (json_object_get (object, name));
  va_end (others);
  return text;
}

static void
add_stated_product (QmPage *page,
                    const char *amount,
                    const char *currency,
                    char *name,
                    char *sku)
{
  QmStatedProduct *product =
      qm_page_add_priced (page, QM_PAGE_SCRIPT, amount, currency);

  if (product != NULL)
    {
      product->name = g_steal_pointer (&name);
      product->sku = g_steal_pointer (&sku);
    }
  g_free (name);
  g_free (sku);
}

/* The one product of a list in an ecommerce object. */
static void
read_items (QmPage *page, json_t *items, const char *currency)
{
  json_t *item =
      json_array_size (items) == 1 ? json_array_get (items, 0) : NULL;
  g_autofree char *amount = first_text (item, "price", "item_price", NULL);
  g_autofree char *own = first_text (item, "currency", NULL);

  add_stated_product (page, amount, own != NULL ? own : currency,
                      first_text (item, "name", "item_name", "title", NULL),
                      first_text (item, "id", "item_id", "sku", NULL));
}

/* {detail: {products: [...]}} or {items: [...]} */
static void
read_ecommerce (QmPage *page, json_t *object)
{
  g_autofree char *currency =
      first_text (object, "currencyCode", "currency", NULL);
  json_t *detail = json_object_get (object, "detail");

  if (json_object_get (object, "impressions") != NULL
      || json_object_get (object, "purchase") != NULL
      || json_object_get (object, "item_list_name") != NULL
      || json_object_get (object, "item_list_id") != NULL)
    return;
  if (json_is_object (detail))
    read_items (page, json_object_get (detail, "products"), currency);
  else
    read_items (page, json_object_get (object, "items"), currency);
}

/* {value: 12.5, currency: "EUR", content_type: "product"} */
static void
read_view (QmPage *page, json_t *object)
{
  json_t *ids = json_object_get (object, "content_ids");
  g_autofree char *amount = first_text (object, "value", NULL);
  g_autofree char *currency = first_text (object, "currency", NULL);

  if (json_array_size (ids) <= 1)
    add_stated_product (page, amount, currency,
                        first_text (object, "content_name", NULL), NULL);
}

/* Whether words shortly before say that an object is about a list. */
static gboolean
is_about_list (const Script *script, const char *at)
{
  static const char *const words[] = { "_list",     "add_to_cart", "addToCart",
                                       "AddToCart", "function",    "purchase",
                                       NULL };
  gsize before = MIN ((gsize) (at - script->text), QM_PAGE_SCRIPT_BEFORE);
  g_autofree char *text = g_strndup (at - before, before);

  return qm_page_holds_any (text, words);
}

/* Reads the object that follows each occurrence of a word. */
static void
find_objects (QmPage *page,
              const Script *script,
              const char *word,
              void (*read) (QmPage *, json_t *))
{
  const char *at = script->text;

  for (guint i = 0; i < FINDS_MAX && (at = strstr (at, word)) != NULL; i++)
    {
      gsize n = strlen (word);
      gsize gap = strcspn (at + n, "{;}");
      gsize rest;
      json_t *object;

      if (gap > QM_PAGE_SCRIPT_GAP || at[n + gap] != '{'
          || g_ascii_isalnum (at[n]) || at[n] == '_'
          || is_about_list (script, at))
        {
          at += n;
          continue;
        }
      at += n + gap;
      rest = script->length - (gsize) (at - script->text);
      object = qm_lax_json_read_one (at, MIN (rest, OBJECT_BYTES_MAX), NULL);
      if (object != NULL)
        {
          read (page, object);
          json_decref (object);
        }
    }
}

/* Hundredths, as a decimal.  (transfer full) (nullable) */
static char *
hundredths (json_t *value)
{
  json_int_t n = json_integer_value (value);

  if (!json_is_integer (value) || n <= 0)
    return NULL;
  return g_strdup_printf ("%" JSON_INTEGER_FORMAT ".%02d", n / 100,
                          (int) (n % 100));
}

/* The price of a product object of Shopify, where all variants have it. */
static void
read_shopify (QmPage *page, json_t *product)
{
  json_t *variants = json_object_get (product, "variants");
  json_t *variant, *price = NULL;
  g_autofree char *amount = NULL;
  size_t i;

  json_array_foreach (variants, i, variant)
  {
    json_t *one = json_object_get (variant, "price");

    if (!json_is_integer (one) || (price != NULL && !json_equal (one, price)))
      return;
    price = one;
  }
  amount = hundredths (price);
  add_stated_product (page, amount, NULL, first_text (product, "title", NULL),
                      NULL);
}

static void
read_meta_object (QmPage *page, json_t *object)
{
  json_t *product = json_object_get (object, "product");

  if (json_is_object (product))
    read_shopify (page, product);
}

/* A product object alone in a script of data. */
static void
read_data (QmPage *page, const Script *script)
{
  const char *start = script->text;
  json_t *object;

  while (g_ascii_isspace (*start))
    start++;
  if (*start != '{' || strstr (start, "\"price_min\"") == NULL
      || strstr (start, "\"handle\"") == NULL)
    return;
  object = qm_lax_json_read_one (
      start, script->length - (gsize) (start - script->text), NULL);
  if (json_object_get (object, "variants") != NULL)
    read_shopify (page, object);
  else
    read_meta_object (page, object);
  json_decref (object);
}

static void
read_script (QmPage *page, const xmlNode *node)
{
  const char *type = qm_page_attribute (node, "type");
  const xmlNode *child = node->children;
  Script script;

  if (child == NULL || child->content == NULL)
    return;
  script.text = (const char *) child->content;
  script.length = strnlen (script.text, SCRIPT_BYTES_MAX + 1);
  if (script.length > SCRIPT_BYTES_MAX)
    return;
  if (type != NULL && strstr (type, "ld+json") != NULL)
    return;
  if (type != NULL && g_str_has_prefix (type, "application/json"))
    {
      read_data (page, &script);
      return;
    }
  find_objects (page, &script, "ecommerce", read_ecommerce);
  find_objects (page, &script, "view_item", read_ecommerce);
  find_objects (page, &script, "ViewContent", read_view);
  if (strstr (script.text, "ShopifyAnalytics") != NULL)
    find_objects (page, &script, "var meta", read_meta_object);
}

void
qm_page_read_scripts (QmPage *page)
{
  xmlNode *top = xmlDocGetRootElement (page->doc);

  for (xmlNode *node = top; node != NULL; node = qm_page_next (top, node, TRUE))
    if (qm_page_is (node, "script") && page->products->len < QM_PAGE_ITEMS_MAX)
      read_script (page, node);
}
