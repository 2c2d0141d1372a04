/* SPDX-License-Identifier: Apache-2.0 */

#include "pricing/pages/qm-page-private.h"

#include "pricing/pages/qm-lax-json.h"
#include "pricing/pages/qm-page-text.h"

#include <string.h>

/* Of all scripts together: a byte of JSON can take fifty of memory. */
#define JSON_BYTES_MAX (2 * 1024 * 1024)

#define OBJECTS_MAX 100000

typedef struct
{
  QmPage *page;
  QmStatedProduct *product; /* that is being read */
  GHashTable *nodes;        /* @id to json_t, borrowed */
  guint budget;             /* objects that may still be looked at */
} Reader;

/* (transfer none) (nullable) */
static json_t *
member (json_t *object, const char *name)
{
  json_t *value = json_object_get (object, name);
  const char *key;

  if (value != NULL)
    return value;
  json_object_foreach (object, key, value)
  {
    if (g_ascii_strcasecmp (qm_page_local_name (key), name) == 0)
      return value;
  }
  return NULL;
}

/* A string or number, the first of several, or the name of an object.
 * (transfer full) (nullable) */
static char *
text_of_value (json_t *value)
{
  for (int i = 0; i < 4 && value != NULL; i++)
    {
      if (json_is_array (value))
        value = json_array_get (value, 0);
      else if (json_is_object (value))
        {
          json_t *inner = json_object_get (value, "@value");

          if (inner == NULL)
            inner = member (value, "name");
          value = inner != NULL ? inner : json_object_get (value, "@id");
        }
      else
        break;
    }
  return qm_page_json_text (value);
}

static char *
member_text (json_t *object, const char *name)
{
  return text_of_value (member (object, name));
}

/* The text of one member or, where it has none, of another.  (transfer full)
 * (nullable) */
static char *
either_text (json_t *object, const char *name, const char *other)
{
  char *text = member_text (object, name);

  return text != NULL ? text : member_text (object, other);
}

/* Whether the text of a member is one of these; without one it is "". */
static gboolean
member_is (json_t *object, const char *name, const char *const *texts)
{
  g_autofree char *text = member_text (object, name);

  return g_strv_contains (texts, text != NULL ? text : "");
}

static gboolean
is_type (json_t *object, const char *const *names)
{
  json_t *type = member (object, "@type");
  json_t *one;
  size_t i;

  if (json_is_string (type))
    return qm_page_type_is (json_string_value (type), names);
  json_array_foreach (type, i, one)
  {
    if (json_is_string (one)
        && qm_page_type_is (json_string_value (one), names))
      return TRUE;
  }
  return FALSE;
}

/* A node that only points to another one is that one. */
static json_t *
resolve (Reader *reader, json_t *value)
{
  json_t *id, *node;

  if (json_is_string (value))
    id = value;
  else if (json_is_object (value) && json_object_size (value) <= 2)
    id = json_object_get (value, "@id");
  else
    return value;
  if (!json_is_string (id))
    return value;
  node = g_hash_table_lookup (reader->nodes, json_string_value (id));
  return node != NULL ? node : value;
}

static void
set_price_text (QmStatedPrice *price, json_t *value)
{
  g_autofree char *text = text_of_value (value);

  if (qm_stated_price_set_text (price, text) && json_is_number (value))
    price->other_micros = QM_AMOUNT_UNSTATED;
}

static void
set_ld_currency (QmStatedPrice *price, json_t *object)
{
  g_autofree char *text = either_text (object, "priceCurrency", "currency");

  qm_stated_price_set_currency (price, text);
}

/* A price that is not what one pays: struck through, of a kilogram, of a
 * member, of more than one. */
static gboolean
is_beside (json_t *specification)
{
  static const char *const kinds[] = QM_PAGE_LIST (QM_EACH_PRICE_BESIDE);
  static const char *const least[] = { "", "0", "1", NULL };
  static const char *const pieces[] = { "C62", "H87", "EA", NULL };
  g_autofree char *kind = member_text (specification, "priceType");
  g_autofree char *billing = member_text (specification, "billingDuration");
  json_t *quantity = member (specification, "eligibleQuantity");
  json_t *reference = member (specification, "referenceQuantity");

  if (kind != NULL && qm_page_type_is (kind, kinds))
    return TRUE;
  if ((json_is_object (quantity) && !member_is (quantity, "minValue", least))
      || (json_is_object (reference)
          && !member_is (reference, "unitCode", pieces)))
    return TRUE;
  return billing != NULL || member (specification, "validForMemberTier") != NULL
         || member (specification, "membershipPointsEarned") != NULL;
}

static void
set_tax (QmStatedPrice *price, json_t *object)
{
  json_t *tax = member (object, "valueAddedTaxIncluded");
  const char *text = json_is_string (tax) ? json_string_value (tax) : "";

  if (json_is_true (tax) || g_ascii_strcasecmp (text, "true") == 0)
    price->tax_included = QM_YES;
  else if (json_is_false (tax) || g_ascii_strcasecmp (text, "false") == 0)
    price->tax_included = QM_NO;
}

static void
set_specification (Reader *reader,
                   QmStatedPrice *price,
                   json_t *value,
                   guint depth)
{
  json_t *one, *parts;
  size_t i;

  value = resolve (reader, value);
  if (json_is_array (value) && depth < 4)
    {
      json_array_foreach (value, i, one)
      {
        set_specification (reader, price, one, depth + 1);
      }
      return;
    }
  if (!json_is_object (value) || is_beside (value))
    return;
  set_tax (price, value);
  if (price->currency[0] == '\0')
    set_ld_currency (price, value);
  if (price->valid_until.year == 0)
    {
      g_autofree char *until = member_text (value, "validThrough");

      price->valid_until = qm_page_parse_date (until);
    }
  if (price->micros != QM_AMOUNT_UNSTATED)
    return;
  set_price_text (price, member (value, "price"));
  parts = member (value, "priceComponent");
  if (price->micros == QM_AMOUNT_UNSTATED && parts != NULL && depth < 4
      && (json_is_object (parts) || json_array_size (parts) == 1))
    set_specification (reader, price, parts, depth + 1);
}

static void
set_offer_words (QmStatedPrice *price, json_t *offer)
{
  g_autofree char *availability = member_text (offer, "availability");
  g_autofree char *until = member_text (offer, "priceValidUntil");

  price->availability = qm_page_parse_availability (availability);
  price->valid_until = qm_page_parse_date (until);
  price->seller = either_text (offer, "seller", "offeredBy");
  price->sku = member_text (offer, "sku");
  price->mpn = member_text (offer, "mpn");
  price->url = member_text (offer, "url");
}

static void
set_ld_range (QmStatedPrice *price, json_t *offer)
{
  g_autofree char *high = member_text (offer, "highPrice");
  gint64 micros, other;
  char currency[4];

  if (price->micros != QM_AMOUNT_UNSTATED)
    return;
  set_price_text (price, member (offer, "lowPrice"));
  if (qm_page_parse_price (high, &micros, &other, currency)
      && price->micros != QM_AMOUNT_UNSTATED && micros > price->micros)
    price->high_micros = micros;
}

static void
read_offers (Reader *reader, json_t *value, guint depth)
{
  GPtrArray *prices = reader->product->prices;
  QmStatedPrice *price;
  guint before = prices->len;
  json_t *one, *nested;
  size_t i;

  value = resolve (reader, value);
  if (depth > 6 || prices->len >= QM_PAGE_ITEMS_MAX || reader->budget == 0)
    return;
  reader->budget--;
  json_array_foreach (value, i, one)
  {
    read_offers (reader, one, depth + 1);
  }
  if (!json_is_object (value))
    return;
  nested = member (value, "offers");
  if (nested != NULL)
    {
      read_offers (reader, nested, depth + 1);
      for (guint j = before; j < prices->len; j++)
        {
          price = g_ptr_array_index (prices, j);
          if (price->currency[0] == '\0')
            set_ld_currency (price, value);
        }
      if (prices->len > before)
        return;
    }
  price = qm_stated_price_new ();
  set_ld_currency (price, value);
  set_offer_words (price, value);
  set_tax (price, value);
  set_price_text (price, member (value, "price"));
  set_specification (reader, price, member (value, "priceSpecification"), 0);
  set_ld_range (price, value);
  if (is_beside (value))
    price->micros = QM_AMOUNT_UNSTATED;
  g_ptr_array_add (prices, price);
}

static void
read_variants (Reader *reader, json_t *value)
{
  GPtrArray *prices = reader->product->prices;
  json_t *one;
  size_t i;

  value = resolve (reader, value);
  if (json_is_object (value))
    {
      guint before = prices->len;

      read_offers (reader, member (value, "offers"), 0);
      for (guint j = before; j < prices->len; j++)
        {
          QmStatedPrice *price = g_ptr_array_index (prices, j);

          if (price->sku == NULL)
            price->sku = member_text (value, "sku");
          if (price->mpn == NULL)
            price->mpn = member_text (value, "mpn");
          if (price->url == NULL)
            price->url = member_text (value, "url");
        }
    }
  json_array_foreach (value, i, one)
  {
    one = resolve (reader, one);
    if (json_is_object (one))
      read_variants (reader, one);
  }
}

static void
read_product (Reader *reader, json_t *object, gboolean listed)
{
  QmStatedProduct *product =
      qm_page_add_product (reader->page, QM_PAGE_JSON_LD);

  reader->product = product;
  product->listed = listed;
  product->name = member_text (object, "name");
  product->sku = either_text (object, "sku", "productID");
  product->mpn = member_text (object, "mpn");
  product->url = member_text (object, "url");
  read_offers (reader, member (object, "offers"), 0);
  read_variants (reader, member (object, "hasVariant"));
}

/* Members that lead to other products than the page's. */
static const char *const away[] = QM_PAGE_LIST (QM_EACH_LEADS_AWAY);

static void walk (Reader *reader, json_t *value, gboolean listed, guint depth);

static void
walk_object (Reader *reader, json_t *object, gboolean listed, guint depth)
{
  static const char *const feeds[] = { "DataFeed", NULL };
  static const char *const pages[] = QM_PAGE_LIST (QM_EACH_TYPE_RESULTS);
  static const char *const articles[] = QM_PAGE_LIST (QM_EACH_TYPE_ARTICLE);
  const char *key;
  json_t *value;

  if (is_type (object, pages))
    reader->page->is_list = TRUE;
  if (is_type (object, articles))
    reader->page->is_article = TRUE;
  if (is_type (object, qm_page_list_types) || is_type (object, feeds))
    listed = TRUE;
  if (is_type (object, qm_page_product_types))
    read_product (reader, object, listed);
  else if (is_type (object, qm_page_offer_types))
    {
      json_t *item = resolve (reader, member (object, "itemOffered"));

      if (json_is_object (item) && member (item, "offers") == NULL)
        {
          read_product (reader, item, listed);
          read_offers (reader, object, 0);
        }
      return;
    }
  json_object_foreach (object, key, value)
  {
    if ((json_is_object (value) || json_is_array (value))
        && !qm_page_type_is (key, away))
      walk (reader, value, listed, depth + 1);
  }
}

static void
walk (Reader *reader, json_t *value, gboolean listed, guint depth)
{
  json_t *one;
  size_t i;

  if (depth > QM_PAGE_DEPTH_MAX || reader->budget == 0
      || reader->page->products->len >= QM_PAGE_ITEMS_MAX)
    return;
  reader->budget--;
  if (json_is_object (value))
    walk_object (reader, value, listed, depth);
  json_array_foreach (value, i, one)
  {
    walk (reader, one, listed, depth + 1);
  }
}

static void
collect_ids (Reader *reader, json_t *value, guint depth)
{
  const char *key;
  json_t *one;
  size_t i;

  if (depth > QM_PAGE_DEPTH_MAX || reader->budget == 0)
    return;
  reader->budget--;
  json_array_foreach (value, i, one)
  {
    collect_ids (reader, one, depth + 1);
  }
  if (!json_is_object (value))
    return;
  one = json_object_get (value, "@id");
  if (json_is_string (one) && json_object_size (value) > 2)
    g_hash_table_insert (reader->nodes, (char *) json_string_value (one),
                         value);
  json_object_foreach (value, key, one)
  {
    if (json_is_object (one) || json_is_array (one))
      collect_ids (reader, one, depth + 1);
  }
}

/* `rest`: bytes that may still be read. */
static void
read_script (xmlNode *script, GPtrArray *all, gsize *rest)
{
  xmlNode *text = script->children;
  g_autoptr (GPtrArray) values = NULL;
  gsize length;

  if (text == NULL || text->content == NULL)
    return;
  length = strlen ((const char *) text->content);
  if (length > *rest)
    return;
  *rest -= length;
  values = qm_lax_json_read ((const char *) text->content, length);
  for (guint i = 0; i < values->len && all->len < QM_PAGE_ITEMS_MAX; i++)
    g_ptr_array_add (all, json_incref (g_ptr_array_index (values, i)));
}

void
qm_page_read_json_ld (QmPage *page)
{
  g_autoptr (GPtrArray) values =
      g_ptr_array_new_with_free_func ((GDestroyNotify) json_decref);
  g_autoptr (GHashTable) nodes = g_hash_table_new (g_str_hash, g_str_equal);
  Reader reader = { .page = page, .nodes = nodes, .budget = OBJECTS_MAX };
  xmlNode *top = xmlDocGetRootElement (page->doc);
  gsize rest = JSON_BYTES_MAX;

  for (xmlNode *node = top; node != NULL; node = qm_page_next (top, node, TRUE))
    if (qm_page_is (node, "script"))
      {
        const char *type = qm_page_attribute (node, "type");

        if (type != NULL
            && g_ascii_strncasecmp (type, "application/ld+json", 19) == 0)
          read_script (node, values, &rest);
      }
  for (guint i = 0; i < values->len; i++)
    collect_ids (&reader, g_ptr_array_index (values, i), 0);
  reader.budget = OBJECTS_MAX;
  for (guint i = 0; i < values->len; i++)
    walk (&reader, g_ptr_array_index (values, i), FALSE, 0);
}
