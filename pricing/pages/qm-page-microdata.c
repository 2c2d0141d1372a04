/* SPDX-License-Identifier: Apache-2.0 */

/* Microdata (HTML Standard, chapter 5) and what is marked up alike with the
 * attributes of RDFa: typeof for itemscope and itemtype, property for
 * itemprop. */

#include "pricing/pages/qm-page-private.h"

#include "pricing/pages/qm-page-scan.h"
#include "pricing/pages/qm-page-text.h"

#include <string.h>

#define REFERENCES_MAX 20

typedef struct
{
  QmPage *page;
  QmStatedProduct *product; /* that is being read */
  GHashTable *inside;       /* prices that belong to an item */
  guint budget;
} Reader;

typedef enum
{
  SCOPE_NONE,
  SCOPE_PRODUCT,
  SCOPE_OFFER,
  SCOPE_SPECIFICATION,
  SCOPE_LIST,
  SCOPE_OTHER
} Scope;

static const char *const specification_types[] =
    QM_PAGE_LIST (QM_EACH_TYPE_SPECIFICATION);

/* Whether one of the words of an attribute is among the names. */
static gboolean
has_word (const char *words, const char *const *names)
{
  g_auto (GStrv) list = g_strsplit_set (words, " \t\r\n\f", 16);

  for (guint i = 0; list[i] != NULL; i++)
    if (list[i][0] != '\0' && qm_page_type_is (list[i], names))
      return TRUE;
  return FALSE;
}

static Scope
scope_of (const xmlNode *node)
{
  static const struct
  {
    const char *const *types;
    Scope scope;
  } scopes[] = { { qm_page_product_types, SCOPE_PRODUCT },
                 { qm_page_offer_types, SCOPE_OFFER },
                 { specification_types, SCOPE_SPECIFICATION },
                 { qm_page_list_types, SCOPE_LIST } };
  const char *type = qm_page_attribute (node, "itemtype");
  gboolean is_scope = qm_page_attribute (node, "itemscope") != NULL;

  if (type == NULL && !is_scope)
    type = qm_page_attribute (node, "typeof");
  if (type == NULL)
    return is_scope ? SCOPE_OTHER : SCOPE_NONE;
  for (guint i = 0; i < G_N_ELEMENTS (scopes); i++)
    if (has_word (type, scopes[i].types))
      return scopes[i].scope;
  return SCOPE_OTHER;
}

/* itemprop, or property where that is no name of Open Graph. */
static const char *
property_of (const xmlNode *node)
{
  const char *name = qm_page_attribute (node, "itemprop");

  if (name != NULL)
    return name;
  name = qm_page_attribute (node, "property");
  return name == NULL || g_str_has_prefix (name, "og:")
                 || g_str_has_prefix (name, "product:")
                 || g_str_has_prefix (name, "twitter:")
             ? NULL
             : name;
}

/* FALSE where it is NULL. */
static gboolean
is_property (const char *property, const char *name)
{
  const char *const names[] = { name, NULL };

  return property != NULL && has_word (property, names);
}

/* The value of a property.  (transfer full) (nullable) */
static char *
value_of (const xmlNode *node)
{
  static const struct
  {
    const char *element;
    const char *attribute;
  } carriers[] = { { "a", "href" },      { "link", "href" },
                   { "area", "href" },   { "img", "src" },
                   { "object", "data" }, { "data", "value" },
                   { "meter", "value" }, { "time", "datetime" } };
  const char *content = qm_page_attribute (node, "content");

  if (content != NULL && *content != '\0')
    return qm_page_one_line_unescaped (content, 500);
  for (guint i = 0; i < G_N_ELEMENTS (carriers); i++)
    if (qm_page_is (node, carriers[i].element))
      {
        const char *value = qm_page_attribute (node, carriers[i].attribute);

        if (value != NULL)
          return qm_page_one_line (value, 500);
      }
  return qm_page_node_text (node, 500);
}

/* A price may stand as text among words, or split into elements.
 *
 * other: (out): another reading, as qm_page_parse_price() has it. */
static void
set_price (QmStatedPrice *price,
           const xmlNode *node,
           gint64 *micros,
           gint64 *other)
{
  const char *content = qm_page_attribute (node, "content");
  char currency[4];
  gint64 read;

  if (content == NULL || *content == '\0')
    content = qm_page_attribute (node, "data-price");
  if (!qm_page_parse_price (content, &read, other, currency))
    {
      *other = QM_AMOUNT_UNSTATED;
      if (!qm_page_scan_one (node, &read, currency))
        return;
    }
  *micros = read;
  if (price->currency[0] == '\0')
    memcpy (price->currency, currency, 4);
}

static void
set_once (char **field, const xmlNode *node)
{
  if (*field == NULL)
    *field = value_of (node);
}

static void
read_offer_property (QmStatedPrice *price,
                     const xmlNode *node,
                     const char *property)
{
  gint64 unused;

  if (is_property (property, "price") || is_property (property, "lowPrice"))
    {
      if (price->micros == QM_AMOUNT_UNSTATED)
        set_price (price, node, &price->micros, &price->other_micros);
    }
  else if (is_property (property, "highPrice"))
    set_price (price, node, &price->high_micros, &unused);
  else if (is_property (property, "seller"))
    set_once (&price->seller, node);
  else if (is_property (property, "sku"))
    set_once (&price->sku, node);
  else
    {
      g_autofree char *value = value_of (node);

      if (is_property (property, "priceCurrency"))
        qm_stated_price_set_currency (price, value);
      else if (is_property (property, "priceValidUntil"))
        price->valid_until = qm_page_parse_date (value);
      else if (is_property (property, "availability")
               && price->availability == QM_AVAILABILITY_UNSTATED)
        price->availability = qm_page_parse_availability (value);
    }
}

static void
read_product_property (QmStatedProduct *product,
                       const xmlNode *node,
                       const char *property)
{
  if (is_property (property, "name"))
    set_once (&product->name, node);
  else if (is_property (property, "sku") || is_property (property, "productID"))
    set_once (&product->sku, node);
  else if (is_property (property, "mpn"))
    set_once (&product->mpn, node);
  else if (is_property (property, "url"))
    set_once (&product->url, node);
}

static void
read_scope (Reader *reader, QmStatedPrice *price, xmlNode *node, guint depth);

static void
read_references (Reader *reader,
                 QmStatedPrice *price,
                 xmlNode *node,
                 guint depth)
{
  const char *words = qm_page_attribute (node, "itemref");
  g_auto (GStrv) list = NULL;

  if (words == NULL || depth > QM_PAGE_DEPTH_MAX)
    return;
  list = g_strsplit_set (words, " \t\r\n\f", REFERENCES_MAX);
  for (guint i = 0; list[i] != NULL; i++)
    {
      const xmlAttr *id =
          xmlGetID (reader->page->doc, (const xmlChar *) list[i]);

      if (id != NULL)
        read_scope (reader, price, id->parent, depth + 50);
    }
}

static void
read_children (Reader *reader, QmStatedPrice *price, xmlNode *node, guint depth)
{
  for (xmlNode *child = node->children; child != NULL; child = child->next)
    if (child->type == XML_ELEMENT_NODE)
      read_scope (reader, price, child, depth + 1);
}

static void
read_offer (Reader *reader, xmlNode *node, guint depth)
{
  GPtrArray *prices = reader->product->prices;
  guint before = prices->len;
  QmStatedPrice *price;

  if (before >= QM_PAGE_ITEMS_MAX)
    return;
  price = qm_stated_price_new ();
  g_ptr_array_add (prices, price);
  read_children (reader, price, node, depth);
  read_references (reader, price, node, depth);
  /* One that only holds others. */
  if (price->micros == QM_AMOUNT_UNSTATED && prices->len > before + 1)
    g_ptr_array_remove_index (prices, before);
}

/* An element within an item, which may be one of its properties, or an item of
 * its own. */
static void
read_scope (Reader *reader, QmStatedPrice *price, xmlNode *node, guint depth)
{
  const char *property = property_of (node);
  Scope scope = scope_of (node);

  if (depth > QM_PAGE_DEPTH_MAX || reader->budget == 0)
    return;
  reader->budget--;
  if (scope == SCOPE_OFFER)
    {
      g_hash_table_add (reader->inside, node);
      read_offer (reader, node, depth);
      return;
    }
  if (scope == SCOPE_PRODUCT || scope == SCOPE_LIST)
    return;
  if (property != NULL && price != NULL)
    {
      read_offer_property (price, node, property);
      g_hash_table_add (reader->inside, node);
    }
  else if (scope != SCOPE_SPECIFICATION
           && (is_property (property, "price")
               || is_property (property, "lowPrice")))
    {
      QmStatedPrice *own = qm_stated_price_new ();

      /* A price of the product itself, without an offer around it. */
      read_offer_property (own, node, property);
      g_hash_table_add (reader->inside, node);
      g_ptr_array_add (reader->product->prices, own);
    }
  else if (property != NULL)
    read_product_property (reader->product, node, property);
  if (scope != SCOPE_OTHER || is_property (property, "offers"))
    read_children (reader, price, node, depth);
}

/* Currency and availability that stand beside a price instead of in its
 * offer. */
static void
read_loose (QmStatedProduct *product, const xmlNode *top)
{
  QmStatedPrice *price;

  if (product->prices->len != 1)
    return;
  price = g_ptr_array_index (product->prices, 0);
  for (xmlNode *node = top->children; node != NULL;
       node = qm_page_next (top, node, TRUE))
    {
      const char *property = property_of (node);

      if ((price->currency[0] == '\0'
           && is_property (property, "priceCurrency"))
          || (price->availability == QM_AVAILABILITY_UNSTATED
              && is_property (property, "availability")))
        read_offer_property (price, node, property);
    }
}

static gboolean
is_listed (const xmlNode *node)
{
  const char *property = property_of (node);

  static const char *const away[] = { "isRelatedTo", "isSimilarTo",
                                      "isAccessoryOrSparePartFor",
                                      "itemListElement", NULL };

  if (property != NULL && has_word (property, away))
    return TRUE;
  for (const xmlNode *up = node->parent; up != NULL; up = up->parent)
    if (up->type == XML_ELEMENT_NODE && scope_of (up) == SCOPE_LIST
        && !qm_page_is (up, "body") && !qm_page_is (up, "html"))
      return TRUE;
  return FALSE;
}

static QmStatedProduct *
add_product (Reader *reader, xmlNode *node)
{
  QmStatedProduct *product = qm_page_add_product (
      reader->page, qm_page_attribute (node, "itemscope") != NULL
                            || qm_page_attribute (node, "itemprop") != NULL
                        ? QM_PAGE_MICRODATA
                        : QM_PAGE_RDFA);

  product->node = node;
  reader->product = product;
  return product;
}

/* Offers and prices that belong to no product. */
static void
read_stray (Reader *reader, xmlNode *node)
{
  if (g_hash_table_contains (reader->inside, node))
    return;
  if (scope_of (node) == SCOPE_OFFER)
    {
      add_product (reader, node);
      read_offer (reader, node, 0);
    }
  else if (is_property (property_of (node), "price"))
    {
      QmStatedPrice *price = qm_stated_price_new ();

      g_ptr_array_add (add_product (reader, node)->prices, price);
      set_price (price, node, &price->micros, &price->other_micros);
    }
}

/* Whether an element has an attribute that is read here. */
static gboolean
is_marked (const xmlNode *node)
{
  if (node->type != XML_ELEMENT_NODE)
    return FALSE;
  for (const xmlAttr *a = node->properties; a != NULL; a = a->next)
    if ((a->name[0] == 'i' && g_str_has_prefix ((const char *) a->name, "item"))
        || qm_page_same_name (a->name, "typeof")
        || qm_page_same_name (a->name, "property"))
      return TRUE;
  return FALSE;
}

void
qm_page_read_microdata (QmPage *page)
{
  g_autoptr (GHashTable) inside = g_hash_table_new (NULL, NULL);
  Reader reader = { .page = page, .inside = inside, .budget = 200000 };
  xmlNode *top = xmlDocGetRootElement (page->doc);

  for (xmlNode *node = top; node != NULL; node = qm_page_next (top, node, TRUE))
    if (is_marked (node) && page->products->len < QM_PAGE_ITEMS_MAX
        && scope_of (node) == SCOPE_PRODUCT)
      {
        QmStatedProduct *product = add_product (&reader, node);

        product->listed = is_listed (node);
        read_children (&reader, NULL, node, 0);
        read_references (&reader, NULL, node, 0);
        read_loose (product, node);
      }
  for (xmlNode *node = top; node != NULL; node = qm_page_next (top, node, TRUE))
    if (is_marked (node) && page->products->len < QM_PAGE_ITEMS_MAX)
      read_stray (&reader, node);
}
