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
#define FINDS_MAX        8  /* objects of a kind in one script */
#define GAP_MAX          60 /* bytes between a word and its object */
#define BEFORE_MAX       300

typedef struct
{
  const char *text;
  gsize length;
} Script;

static char *
first_text (json_t *object, const char *const *names)
{
  for (; *names != NULL; names++)
    {
      char *text = qm_page_json_text (json_object_get (object, *names));

      if (text != NULL)
        return text;
    }
  return NULL;
}

static void
add_stated_product (QmPage *page,
                    const char *amount,
                    const char *currency,
                    char *name,
                    char *sku)
{
  gint64 micros, other;
  char code[4];
  QmStatedProduct *product;
  QmStatedPrice *price;

  if (amount == NULL || !qm_page_parse_price (amount, &micros, &other, code))
    {
      g_free (name);
      g_free (sku);
      return;
    }
  product = qm_page_add_product (page, QM_PAGE_SCRIPT);
  product->name = name;
  product->sku = sku;
  price = qm_stated_price_new ();
  price->micros = micros;
  price->other_micros = other;
  memcpy (price->currency, code, 4);
  qm_stated_price_set_currency (price, currency);
  g_ptr_array_add (product->prices, price);
}

/* The one product of a list in an ecommerce object. */
static void
read_items (QmPage *page, json_t *items, const char *currency)
{
  static const char *const prices[] = { "price", "item_price", NULL };
  static const char *const names[] = { "name", "item_name", "title", NULL };
  static const char *const ids[] = { "id", "item_id", "sku", NULL };
  static const char *const currencies[] = { "currency", NULL };
  json_t *item;
  g_autofree char *amount = NULL;
  g_autofree char *own = NULL;

  if (!json_is_array (items) || json_array_size (items) != 1)
    return;
  item = json_array_get (items, 0);
  amount = first_text (item, prices);
  own = first_text (item, currencies);
  add_stated_product (page, amount, own != NULL ? own : currency,
                      first_text (item, names), first_text (item, ids));
}

/* {detail: {products: [...]}} or {items: [...]} */
static void
read_ecommerce (QmPage *page, json_t *object)
{
  static const char *const currencies[] = { "currencyCode", "currency", NULL };
  g_autofree char *currency = first_text (object, currencies);
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
  static const char *const values[] = { "value", NULL };
  static const char *const currencies[] = { "currency", NULL };
  static const char *const names[] = { "content_name", NULL };
  json_t *ids = json_object_get (object, "content_ids");
  g_autofree char *amount = first_text (object, values);
  g_autofree char *currency = first_text (object, currencies);

  if (json_is_array (ids) && json_array_size (ids) > 1)
    return;
  add_stated_product (page, amount, currency, first_text (object, names), NULL);
}

/* Whether words shortly before say that an object is about a list. */
static gboolean
is_about_list (const Script *script, const char *at)
{
  gsize before = MIN ((gsize) (at - script->text), BEFORE_MAX);
  g_autofree char *text = g_strndup (at - before, before);

  return strstr (text, "_list") != NULL || strstr (text, "add_to_cart") != NULL
         || strstr (text, "addToCart") != NULL
         || strstr (text, "AddToCart") != NULL
         || strstr (text, "function") != NULL
         || strstr (text, "purchase") != NULL;
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

      if (gap > GAP_MAX || at[n + gap] != '{' || g_ascii_isalnum (at[n])
          || at[n] == '_' || is_about_list (script, at))
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
  static const char *const names[] = { "title", NULL };
  json_t *variants = json_object_get (product, "variants");
  json_t *variant, *price = NULL;
  g_autofree char *amount = NULL;
  size_t i;

  json_array_foreach (variants, i, variant)
  {
    json_t *one = json_object_get (variant, "price");

    if (!json_is_integer (one))
      return;
    if (price == NULL)
      price = one;
    else if (json_integer_value (one) != json_integer_value (price))
      return;
  }
  amount = hundredths (price);
  if (amount != NULL)
    add_stated_product (page, amount, NULL, first_text (product, names), NULL);
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
  if (json_is_object (object))
    {
      if (json_object_get (object, "variants") != NULL)
        read_shopify (page, object);
      else
        read_meta_object (page, object);
    }
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
