/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/pages/qm-page-private.h"

#include "data/datadir.h"
#include "data/file.h"
#include "data/text.h"
#include "pricing/pages/qm-page-scan.h"
#include "pricing/pages/qm-page-text.h"

#include <gio/gio.h>
#include <glib/gi18n-lib.h>
#include <libxml/parser.h>
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>
#include <limits.h>
#include <string.h>

#define FILE_NAME      "page-rules.xml"
#define FILE_BYTES_MAX (1024 * 1024)
#define SITES_MAX      2000
#define EXPRESSION_MAX 1000
#define OPERATIONS_MAX 500000 /* steps of one expression */
#define PRICES_MAX     8
#define QUOTED_MAX     100 /* characters repeated in a message */
#define HOSTS_MAX      40

typedef enum
{
  FIELD_NAME,
  FIELD_PRICE,
  FIELD_CURRENCY,
  FIELD_AVAILABILITY,
  FIELD_SKU,
  FIELD_MPN,
  FIELD_SELLER,
  FIELD_VALID_UNTIL,
  N_FIELDS
} Field;

static const char *const field_names[N_FIELDS] = {
  "name", "price", "currency", "availability",
  "sku",  "mpn",   "seller",   "valid-until",
};

typedef struct
{
  GStrv hosts;
  char currency[4];
  QmDecimal decimal;
  gboolean always;
  char *fields[N_FIELDS]; /* expressions; but for prices */
  GPtrArray *prices;      /* of char * */
} Site;

struct _QmPageRules
{
  GPtrArray *sites; /* of Site */
};

G_DEFINE_QUARK (qm - page - rules - error - quark, qm_page_rules_error)

static void
site_free (gpointer data)
{
  Site *site = data;

  g_strfreev (site->hosts);
  for (guint i = 0; i < N_FIELDS; i++)
    g_free (site->fields[i]);
  g_ptr_array_unref (site->prices);
  g_free (site);
}

void
qm_page_rules_free (QmPageRules *rules)
{
  if (rules == NULL)
    return;
  g_ptr_array_unref (rules->sites);
  g_free (rules);
}

/* What a file is read with. */
typedef struct
{
  const char *file; /* as messages call it */
  QmError *error;
} Reading;

/* FALSE, with what is wrong in a line. */
#define WRONG(reading, line, ...)                                      \
  (qm_error_set ((reading)->error, QM_STATUS_INVALID, (reading)->file, \
                 (int) (line), 0, __VA_ARGS__)                         \
   == QM_OK)

/* As much of a text as a message can hold.  (transfer full) */
static char *
shorten (const char *text)
{
  char *line = qm_page_one_line (text, QUOTED_MAX);

  return line != NULL ? line : g_strdup ("");
}

static void
ignore_xml_error (void *data, xmlErrorPtr problem)
{
  (void) data;
  (void) problem;
}

static xmlXPathContext *
context_new (xmlDoc *doc)
{
  xmlXPathContext *context = xmlXPathNewContext (doc);

  if (context == NULL)
    g_error ("out of memory");
  context->error = ignore_xml_error;
  return context;
}

static gboolean
compiles (const char *expression)
{
  xmlXPathContext *context = context_new (NULL);
  xmlXPathCompExpr *compiled;

  compiled = xmlXPathCtxtCompile (context, (const xmlChar *) expression);
  if (compiled != NULL)
    xmlXPathFreeCompExpr (compiled);
  xmlXPathFreeContext (context);
  return compiled != NULL;
}

static gboolean
is_host (const char *host)
{
  static const char allowed[] = G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "-.";
  const char *dot = *host != '\0' ? strchr (host + 1, '.') : NULL;

  return *host != '\0' && strlen (host) <= 253
         && host[strspn (host, allowed)] == '\0'
         && ((dot != NULL && dot[1] != '\0')
             || g_str_equal (host, "localhost"));
}

static gboolean
read_attribute (Site *site,
                const xmlAttr *attribute,
                long line,
                const Reading *in)
{
  const char *name = (const char *) attribute->name;
  const char *value =
      attribute->children != NULL && attribute->children->content != NULL
          ? (const char *) attribute->children->content
          : "";
  g_autofree char *part = shorten (value);

  if (g_str_equal (name, "host"))
    {
      g_autofree char *lower = g_ascii_strdown (value, -1);

      g_strfreev (site->hosts);
      site->hosts = g_strsplit (lower, " ", HOSTS_MAX);
      for (guint i = 0; site->hosts[i] != NULL; i++)
        if (!is_host (site->hosts[i]))
          return WRONG (in, line, _ ("“%s” is no name of a host"), part);
    }
  else if (g_str_equal (name, "currency"))
    {
      if (!qm_currency_valid (value) || strlen (value) != 3)
        return WRONG (in, line, _ ("“%s” is no currency as “EUR”"), part);
      memcpy (site->currency, value, 4);
    }
  else if (g_str_equal (name, "decimal"))
    {
      if (g_str_equal (value, "point"))
        site->decimal = QM_DECIMAL_POINT;
      else if (g_str_equal (value, "comma"))
        site->decimal = QM_DECIMAL_COMMA;
      else
        return WRONG (in, line, _ ("decimal is “point” or “comma”"));
    }
  else if (g_str_equal (name, "always"))
    {
      if (!g_str_equal (value, "yes") && !g_str_equal (value, "no"))
        return WRONG (in, line, _ ("always is “yes” or “no”"));
      site->always = g_str_equal (value, "yes");
    }
  else
    return WRONG (in, line, _ ("a site has no attribute “%s”"), name);
  return TRUE;
}

static gboolean
read_field (Site *site, const xmlNode *node, const Reading *in)
{
  long line = xmlGetLineNo (node);
  g_autofree char *text = qm_page_node_text (node, EXPRESSION_MAX + 1);
  g_autofree char *part = shorten (text);
  Field field;

  for (field = 0; field < N_FIELDS; field++)
    if (g_str_equal (node->name, field_names[field]))
      break;
  if (field == N_FIELDS)
    return WRONG (in, line, _ ("a site has no element “%s”"),
                  (const char *) node->name);
  if (text == NULL)
    return WRONG (in, line, _ ("the expression is empty"));
  if (g_utf8_strlen (text, -1) > EXPRESSION_MAX)
    return WRONG (in, line, _ ("the expression is longer than %d characters"),
                  EXPRESSION_MAX);
  if (!compiles (text))
    return WRONG (in, line, _ ("“%s” is no expression of XPath 1.0"), part);
  if (field == FIELD_PRICE && site->prices->len < PRICES_MAX)
    g_ptr_array_add (site->prices, g_steal_pointer (&text));
  else if (field == FIELD_PRICE)
    return WRONG (in, line, _ ("a site has at most %d prices to try"),
                  PRICES_MAX);
  else if (site->fields[field] != NULL)
    return WRONG (in, line, _ ("%s stands here twice"), field_names[field]);
  else
    site->fields[field] = g_steal_pointer (&text);
  return TRUE;
}

static gboolean
read_site (QmPageRules *rules, const xmlNode *node, const Reading *in)
{
  Site *site = g_new0 (Site, 1);
  long line = xmlGetLineNo (node);

  site->prices = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (rules->sites, site);
  for (const xmlAttr *a = node->properties; a != NULL; a = a->next)
    if (!read_attribute (site, a, line, in))
      return FALSE;
  if (site->hosts == NULL || site->hosts[0] == NULL)
    return WRONG (in, line, _ ("a site needs a host"));
  for (const xmlNode *child = node->children; child != NULL;
       child = child->next)
    if (child->type == XML_ELEMENT_NODE && !read_field (site, child, in))
      return FALSE;
  if (site->prices->len == 0)
    return WRONG (in, line, _ ("a site needs a price"));
  return TRUE;
}

static gboolean
read_document (QmPageRules *rules, xmlDoc *doc, const Reading *in)
{
  const xmlNode *root = xmlDocGetRootElement (doc);

  if (doc->intSubset != NULL)
    return WRONG (in, 1, _ ("a document type does not belong here"));
  if (root == NULL || !g_str_equal (root->name, "rules"))
    return WRONG (in, root != NULL ? xmlGetLineNo (root) : 1,
                  _ ("this is no file of rules: its root is not “rules”"));
  if (g_strcmp0 (qm_page_attribute (root, "version"), "1") != 0)
    return WRONG (in, xmlGetLineNo (root),
                  _ ("the version of the rules is not “1”"));
  for (const xmlNode *node = root->children; node != NULL; node = node->next)
    {
      if (node->type != XML_ELEMENT_NODE)
        continue;
      if (!g_str_equal (node->name, "site"))
        return WRONG (in, xmlGetLineNo (node), _ ("“%s” instead of a site"),
                      (const char *) node->name);
      if (rules->sites->len == SITES_MAX)
        return WRONG (in, xmlGetLineNo (node),
                      _ ("there are more than %d sites"), SITES_MAX);
      if (!read_site (rules, node, in))
        return FALSE;
    }
  return TRUE;
}

/* What is wrong, as those are told who read one file. */
static void
tell_of_rules (const QmError *problem, const char *name, GError **error)
{
  if (problem->line > 0)
    /* Translators: a file, a line and what is wrong there. */
    g_set_error (error, QM_PAGE_RULES_ERROR, QM_PAGE_RULES_ERROR_RULE,
                 _ ("%s, line %ld: %s"), name, (long) problem->line,
                 problem->message);
  else
    g_set_error (error, QM_PAGE_RULES_ERROR, QM_PAGE_RULES_ERROR_READ,
                 _ ("%s cannot be read: %s"), name, problem->message);
}

static QmPageRules *
rules_new (void)
{
  QmPageRules *rules = g_new0 (QmPageRules, 1);

  rules->sites = g_ptr_array_new_with_free_func (site_free);
  return rules;
}

static QmPageRules *
parse_rules (const char *text, gsize length, const char *name, QmError *error)
{
  const Reading in = { name, error };
  const int options = XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING
                      | XML_PARSE_NOCDATA;
  g_autoptr (QmPageRules) rules = rules_new ();
  xmlParserCtxt *parser;
  gboolean read;
  xmlDoc *doc;

  if (length > FILE_BYTES_MAX)
    {
      qm_error_set (error, QM_STATUS_INVALID, name, 0, 0,
                    _ ("it is larger than %d bytes"), FILE_BYTES_MAX);
      return NULL;
    }
  parser = xmlNewParserCtxt ();
  if (parser == NULL)
    g_error ("out of memory");
  doc = xmlCtxtReadMemory (parser, text, (int) length, NULL, NULL, options);
  if (doc == NULL)
    {
      const xmlError *problem = xmlCtxtGetLastError (parser);
      g_autofree char *message =
          qm_page_one_line (problem != NULL ? problem->message : NULL, 200);

      read =
          WRONG (&in, problem != NULL && problem->line > 0 ? problem->line : 1,
                 "%s", message != NULL ? message : _ ("this is not XML"));
    }
  else
    read = read_document (rules, doc, &in);
  xmlFreeParserCtxt (parser);
  xmlFreeDoc (doc);
  return read ? g_steal_pointer (&rules) : NULL;
}

QmPageRules *
qm_page_rules_parse (const char *text,
                     gsize length,
                     const char *name,
                     GError **error)
{
  QmError problem = { 0 };
  QmPageRules *rules;

  g_return_val_if_fail (text != NULL && name != NULL, NULL);

  rules = parse_rules (text, length, name, &problem);
  if (rules == NULL)
    tell_of_rules (&problem, name, error);
  return rules;
}

QmPageRules *
qm_page_rules_load (const char *path, GError **error)
{
  QmError problem = { 0 };
  QmPageRules *rules;
  size_t length;
  char *text;

  g_return_val_if_fail (path != NULL, NULL);

  /* A file that waits, or never ends, is none. */
  if (qm_text_read_bytes (path, FILE_BYTES_MAX, &text, &length, &problem)
      != QM_OK)
    {
      tell_of_rules (&problem, path, error);
      return NULL;
    }
  rules = qm_page_rules_parse (text, length, path, error);
  free (text);
  return rules;
}

/* Appends the rules of a file of a folder, if it is there and all of them are
 * right. */
static void
add_file (QmPageRules *rules, const char *folder, GArray *problems)
{
  g_autofree char *path = g_build_filename (folder, FILE_NAME, NULL);
  g_autoptr (QmPageRules) more = NULL;
  QmError problem = { 0 };
  size_t length;
  char *text;

  if (!qm_file_exists (path))
    return;
  if (qm_text_read_bytes (path, FILE_BYTES_MAX, &text, &length, &problem)
      == QM_OK)
    {
      more = parse_rules (text, length, path, &problem);
      free (text);
    }
  if (more == NULL && problems != NULL)
    g_array_append_val (problems, problem);
  while (more != NULL && more->sites->len > 0)
    g_ptr_array_add (rules->sites, g_ptr_array_steal_index (more->sites, 0));
}

QmPageRules *
qm_page_rules_load_default (GArray *problems)
{
  QmPageRules *rules = rules_new ();
  char folder[PATH_MAX];

  if (qm_user_data_dir (folder, sizeof folder))
    add_file (rules, folder, problems);
  if (qm_data_dir (folder, sizeof folder))
    add_file (rules, folder, problems);
  return rules;
}

/* The longest of a site's hosts that is the host or above it; NULL: none. */
static const char *
match_host (const Site *site, const char *host)
{
  const char *best = NULL;
  gsize all = strlen (host);

  for (guint i = 0; site->hosts[i] != NULL; i++)
    {
      gsize n = strlen (site->hosts[i]);

      if (g_str_has_suffix (host, site->hosts[i])
          && (all == n || host[all - n - 1] == '.')
          && (best == NULL || n > strlen (best)))
        best = site->hosts[i];
    }
  return best;
}

static const Site *
find_site (const QmPage *page)
{
  const QmPageContext *context = page->context;
  const char *url = context->url != NULL ? context->url : page->canonical;
  g_autofree char *host = NULL, *lower = NULL;
  const char *best_host = NULL;
  const Site *best = NULL;

  if (context->rules == NULL || url == NULL
      || !g_uri_split (url, G_URI_FLAGS_PARSE_RELAXED, NULL, NULL, &host, NULL,
                       NULL, NULL, NULL, NULL)
      || host == NULL)
    return NULL;
  lower = g_ascii_strdown (host, -1);
  for (guint i = 0; i < context->rules->sites->len; i++)
    {
      const Site *site = g_ptr_array_index (context->rules->sites, i);
      const char *matched = match_host (site, lower);

      if (matched != NULL
          && (best == NULL || strlen (matched) > strlen (best_host)))
        {
          best = site;
          best_host = matched;
        }
    }
  return best;
}

/* (transfer full) (nullable): what an expression selects; `node` is the first
 * node, where it selects nodes. */
static char *
evaluate (const QmPage *page, const char *expression, const xmlNode **node)
{
  xmlXPathContext *context = context_new (page->doc);
  const xmlNode *first = NULL;
  xmlXPathObject *object;
  char *value = NULL;

  *node = NULL;
  context->opLimit = OPERATIONS_MAX;
  context->node = (xmlNode *) page->doc;
  object = xmlXPathEval ((const xmlChar *) expression, context);
  if (object != NULL && object->type == XPATH_NODESET
      && !xmlXPathNodeSetIsEmpty (object->nodesetval))
    {
      xmlXPathNodeSetSort (object->nodesetval);
      first = object->nodesetval->nodeTab[0];
    }
  if (first != NULL && first->type == XML_ELEMENT_NODE)
    {
      *node = first;
      value = qm_page_node_text (first, 500);
    }
  else if (object != NULL
           && (first == NULL || first->type == XML_ATTRIBUTE_NODE
               || first->type == XML_TEXT_NODE))
    {
      xmlChar *text = xmlXPathCastToString (object);

      value = qm_page_one_line ((const char *) text, 500);
      xmlFree (text);
    }
  xmlXPathFreeObject (object);
  xmlXPathFreeContext (context);
  return value;
}

static gboolean
evaluate_price (const QmPage *page,
                const Site *site,
                const char *expression,
                QmStatedPrice *price)
{
  const xmlNode *node;
  g_autofree char *text = evaluate (page, expression, &node);

  if (text == NULL)
    return FALSE;
  if (qm_amount_parse (text, site->decimal, &price->micros, price->currency)
      || (site->decimal == QM_DECIMAL_GUESS && node != NULL
          && qm_page_scan_one (node, &price->micros, price->currency)))
    return price->micros > 0;
  price->micros = QM_AMOUNT_UNSTATED;
  return FALSE;
}

static char *
evaluate_field (const QmPage *page, const Site *site, Field field)
{
  const xmlNode *node;

  return site->fields[field] != NULL
             ? evaluate (page, site->fields[field], &node)
             : NULL;
}

gboolean
qm_page_apply_rules (QmPage *page, gboolean *always)
{
  const Site *site = find_site (page);
  QmStatedPrice *price;
  QmStatedProduct *product;
  g_autofree char *currency = NULL, *availability = NULL, *until = NULL;
  gboolean found = FALSE;

  if (site == NULL)
    return FALSE;
  *always = site->always;
  price = qm_stated_price_new ();
  for (guint i = 0; i < site->prices->len && !found; i++)
    found =
        evaluate_price (page, site, g_ptr_array_index (site->prices, i), price);
  if (!found)
    {
      qm_stated_price_free (price);
      return FALSE;
    }
  currency = evaluate_field (page, site, FIELD_CURRENCY);
  qm_stated_price_set_currency (price, currency);
  if (price->currency[0] == '\0')
    memcpy (price->currency, site->currency, 4);
  availability = evaluate_field (page, site, FIELD_AVAILABILITY);
  price->availability = qm_page_parse_availability (availability);
  until = evaluate_field (page, site, FIELD_VALID_UNTIL);
  price->valid_until = qm_page_parse_date (until);
  price->seller = evaluate_field (page, site, FIELD_SELLER);
  product = qm_page_add_product (page, QM_PAGE_RULE);
  product->name = evaluate_field (page, site, FIELD_NAME);
  product->sku = evaluate_field (page, site, FIELD_SKU);
  product->mpn = evaluate_field (page, site, FIELD_MPN);
  g_ptr_array_add (product->prices, price);
  return TRUE;
}
