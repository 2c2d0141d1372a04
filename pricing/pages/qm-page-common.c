/* SPDX-License-Identifier: Apache-2.0 */

#include "pricing/pages/qm-page-private.h"

#include "data/money.h"
#include "pricing/pages/qm-page-text.h"
#include "pricing/qm-amount.h"

#include <string.h>

const char *const qm_page_product_types[] = QM_PAGE_LIST (QM_EACH_TYPE_PRODUCT);
const char *const qm_page_offer_types[] = QM_PAGE_LIST (QM_EACH_TYPE_OFFER);
const char *const qm_page_list_types[] = QM_PAGE_LIST (QM_EACH_TYPE_LIST);

static const char *const availability_names[QM_N_AVAILABILITIES] = {
  NULL,        "InStock",    "LimitedAvailability", "PreOrder",
  "BackOrder", "OutOfStock", "Discontinued",
};

const char *
qm_availability_name (QmAvailability availability)
{
  g_return_val_if_fail (availability < QM_N_AVAILABILITIES, NULL);
  return availability_names[availability];
}

const char *
qm_page_method_name (QmPageMethod method)
{
  static const char *const names[QM_N_PAGE_METHODS] = {
    "none", "json-ld", "microdata", "rdfa", "meta", "script", "rule", "text",
  };

  g_return_val_if_fail (method < QM_N_PAGE_METHODS, "");
  return names[method];
}

QmStatedPrice *
qm_stated_price_new (void)
{
  QmStatedPrice *price = g_new0 (QmStatedPrice, 1);

  price->micros = QM_AMOUNT_UNSTATED;
  price->other_micros = QM_AMOUNT_UNSTATED;
  price->high_micros = QM_AMOUNT_UNSTATED;
  price->tax_included = QM_UNSTATED;
  return price;
}

void
qm_stated_price_free (QmStatedPrice *price)
{
  g_free (price->seller);
  g_free (price->sku);
  g_free (price->mpn);
  g_free (price->url);
  g_free (price);
}

void
qm_stated_price_set_currency (QmStatedPrice *price, const char *text)
{
  char currency[4];

  if (text != NULL && qm_amount_parse_currency (text, currency)
      && currency[0] != '\0')
    memcpy (price->currency, currency, 4);
}

QmStatedProduct *
qm_page_add_product (QmPage *page, QmPageMethod method)
{
  QmStatedProduct *product = g_new0 (QmStatedProduct, 1);

  product->method = method;
  product->prices =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_stated_price_free);
  g_ptr_array_add (page->products, product);
  return product;
}

QmStatedProduct *
qm_page_add_priced (QmPage *page,
                    QmPageMethod method,
                    const char *amount,
                    const char *currency)
{
  QmStatedPrice *price = qm_stated_price_new ();
  QmStatedProduct *product;

  if (!qm_stated_price_set_text (price, amount))
    {
      qm_stated_price_free (price);
      return NULL;
    }
  qm_stated_price_set_currency (price, currency);
  product = qm_page_add_product (page, method);
  g_ptr_array_add (product->prices, price);
  return product;
}

/* Whether a plain decimal may have been meant as a group of three: "1.299". */
static gboolean
could_be_group (const char *text)
{
  const char *point = strchr (text, '.');

  return point != NULL && point - text >= 1 && point - text <= 3
         && text[0] != '0' && strlen (point) == 4;
}

gboolean
qm_page_parse_price (const char *text,
                     gint64 *micros,
                     gint64 *other,
                     char currency[4])
{
  g_autofree char *line = qm_page_one_line_unescaped (text, 64);

  memset (currency, 0, 4);
  *other = QM_AMOUNT_UNSTATED;
  if (line == NULL)
    return FALSE;
  if (qm_micros_parse (line, micros))
    {
      char unused[4];

      if (could_be_group (line))
        qm_amount_parse (line, QM_DECIMAL_COMMA, other, unused);
    }
  else if (!qm_amount_parse (line, QM_DECIMAL_GUESS, micros, currency))
    return FALSE;
  return *micros >= 0;
}

gboolean
qm_stated_price_set_text (QmStatedPrice *price, const char *text)
{
  char currency[4];
  gint64 micros, other;

  if (!qm_page_parse_price (text, &micros, &other, currency))
    return FALSE;
  price->micros = micros;
  price->other_micros = other;
  if (price->currency[0] == '\0')
    memcpy (price->currency, currency, 4);
  return TRUE;
}

QmAvailability
qm_page_parse_availability (const char *text)
{
#define AVAILABILITY(word, tells) { word, QM_AVAILABILITY_##tells },
  static const struct
  {
    const char *word;
    QmAvailability availability;
  } words[] = { QM_EACH_AVAILABILITY (AVAILABILITY) };
  char plain[64];
  gsize n = 0;

  if (text == NULL)
    return QM_AVAILABILITY_UNSTATED;
  for (; *text != '\0' && n + 1 < sizeof plain; text++)
    if (*text == '/' || *text == ':' || *text == '#')
      n = 0;
    else if (g_ascii_isalpha (*text))
      plain[n++] = g_ascii_tolower (*text);
  plain[n] = '\0';
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (g_str_equal (plain, words[i].word))
      return words[i].availability;
  return QM_AVAILABILITY_UNSTATED;
}

QmDate
qm_page_parse_date (const char *text)
{
  QmDate date = { 0 };
  g_autofree char *line = qm_page_one_line (text, 40);

  if (line == NULL || strlen (line) < 10 || g_ascii_isdigit (line[10]))
    return date;
  line[10] = '\0';
  qm_date_parse (line, &date);
  return date;
}

const char *
qm_page_local_name (const char *name)
{
  const char *local = name;

  while ((name = strpbrk (name, "/:#")) != NULL)
    local = ++name;
  return local;
}

gboolean
qm_page_type_is (const char *type, const char *const *names)
{
  const char *local = qm_page_local_name (type);

  for (; *names != NULL; names++)
    if (g_ascii_strcasecmp (local, *names) == 0)
      return TRUE;
  return FALSE;
}

const char *
qm_page_attribute (const xmlNode *node, const char *name)
{
  if (node->type != XML_ELEMENT_NODE)
    return NULL;
  for (const xmlAttr *a = node->properties; a != NULL; a = a->next)
    if (qm_page_same_name (a->name, name))
      return a->children != NULL && a->children->content != NULL
                 ? (const char *) a->children->content
                 : "";
  return NULL;
}

gboolean
qm_page_is (const xmlNode *node, const char *name)
{
  return node->type == XML_ELEMENT_NODE && qm_page_same_name (node->name, name);
}

gboolean
qm_page_is_any (const xmlNode *node, const char *const *names)
{
  for (; node->type == XML_ELEMENT_NODE && *names != NULL; names++)
    if (qm_page_same_name (node->name, *names))
      return TRUE;
  return FALSE;
}

gboolean
qm_page_holds_any (const char *text, const char *const *parts)
{
  for (; text != NULL && *parts != NULL; parts++)
    if (strstr (text, *parts) != NULL)
      return TRUE;
  return FALSE;
}

gboolean
qm_page_is_struck (const xmlNode *node)
{
  static const char *const names[] = { "del", "s", "strike", NULL };

  return qm_page_is_any (node, names);
}

gboolean
qm_page_is_styled_struck (const xmlNode *node)
{
  const char *style = qm_page_attribute (node, "style");

  return style != NULL && strstr (style, "line-through") != NULL;
}

gboolean
qm_page_is_code (const xmlNode *node)
{
  return qm_page_is (node, "script") || qm_page_is (node, "style");
}

xmlNode *
qm_page_next (const xmlNode *top, xmlNode *node, gboolean into)
{
  if (into && node->type == XML_ELEMENT_NODE && node->children != NULL)
    return node->children;
  while (node != top)
    {
      if (node->next != NULL)
        return node->next;
      node = node->parent;
      if (node == NULL || node->type == XML_HTML_DOCUMENT_NODE)
        return NULL;
    }
  return NULL;
}

char *
qm_page_node_text (const xmlNode *node, gsize max)
{
  g_autoptr (GString) text = g_string_new (NULL);
  xmlNode *at = (xmlNode *) node;
  guint nodes = 0;

  while (at != NULL && text->len < max * 4 && nodes++ < QM_PAGE_TEXT_NODES_MAX)
    {
      if (at->type == XML_TEXT_NODE && at->content != NULL)
        g_string_append_len (text, (const char *) at->content,
                             (gssize) strnlen ((const char *) at->content,
                                               max * 4));
      else if (at->type == XML_ELEMENT_NODE)
        g_string_append_c (text, ' ');
      at = qm_page_next (node, at, !qm_page_is_code (at));
    }
  return qm_page_one_line (text->str, max);
}

gboolean
qm_page_names_alike (const char *a, const char *b)
{
  g_autofree char *x = NULL, *y = NULL;
  g_auto (GStrv) words = NULL;
  guint n = 0, common = 0;

  if (a == NULL || b == NULL || strlen (a) < 3 || strlen (b) < 3)
    return FALSE;
  x = g_utf8_casefold (a, -1);
  y = g_utf8_casefold (b, -1);
  if (strstr (x, y) != NULL || strstr (y, x) != NULL)
    return TRUE;
  words = g_strsplit_set (x, " ,:;()|", 24);
  for (guint i = 0; words[i] != NULL && i < 23; i++)
    if (strlen (words[i]) >= 3)
      {
        n++;
        common += strstr (y, words[i]) != NULL;
      }
  return n >= 2 && common * 3 >= n * 2;
}

char *
qm_page_json_text (const json_t *value)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];

  if (json_is_string (value))
    return qm_page_one_line_unescaped (json_string_value (value), 500);
  if (json_is_integer (value))
    return g_strdup_printf ("%" JSON_INTEGER_FORMAT,
                            json_integer_value (value));
  if (json_is_real (value))
    return g_strdup (g_ascii_formatd (buffer, sizeof buffer, "%.15g",
                                      json_real_value (value)));
  return NULL;
}
