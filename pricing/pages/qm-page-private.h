/* SPDX-License-Identifier: Apache-2.0 */

/* What the files that read pages, and tables in them, share; for nobody else.
 */

#pragma once

#include "pricing/pages/qm-page.h"
#include "pricing/words-pages.h"
#include "pricing/words-thresholds.h"

#include <jansson.h>
#include <libxml/HTMLparser.h>
#include <string.h>

G_BEGIN_DECLS

/* Lists of products and prices that are longer say nothing about one product.
 */
#define QM_PAGE_ITEMS_MAX 500

/* Levels of elements or JSON that are looked into. */
#define QM_PAGE_DEPTH_MAX 200

/* Nodes that are looked into for the text of one element. */
#define QM_PAGE_TEXT_NODES_MAX 5000

/* A list of data/words/pages.csv as an array of texts with NULL at its end. */
#define QM_PAGE_WORD(word, tells) word,
#define QM_PAGE_LIST(each)   \
  {                          \
    each (QM_PAGE_WORD) NULL \
  }

/* A price that some data states. */
typedef struct
{
  gint64 micros;       /* QM_AMOUNT_UNSTATED: none */
  gint64 other_micros; /* the other reading of "1.299"; QM_AMOUNT_UNSTATED: it
                          has only one */
  gint64 high_micros;  /* of a range that begins with micros; likewise */
  char currency[4];
  QmAvailability availability;
  QmDate valid_until;
  QmTristate tax_included;
  char *seller;
  char *sku;
  char *mpn;
  char *url;
} QmStatedPrice;

/* A product that some data states. */
typedef struct
{
  QmPageMethod method;
  char *name;
  char *sku;
  char *mpn;
  char *url;
  gboolean listed;   /* stands in a list, or as related to another one */
  xmlNode *node;     /* where it is marked up; NULL: in a script */
  GPtrArray *prices; /* of QmStatedPrice, owned */
} QmStatedProduct;

/* An amount that people see. */
typedef struct
{
  gint64 micros;
  char currency[4];
  char sign[8];  /* as written, where it has one that may mean several */
  xmlNode *node; /* the innermost element */
  guint flags;   /* QmSeenFlags */
  guint area;    /* levels from the heading to what holds both; G_MAXUINT:
                    there is no heading */
} QmSeenAmount;

typedef enum
{
  QM_SEEN_PRICE = 1 << 0,    /* an element around it says price */
  QM_SEEN_CURRENT = 1 << 1,  /* and that it is the present one */
  QM_SEEN_OLD = 1 << 2,      /* struck through, or called an old one */
  QM_SEEN_ASIDE = 1 << 3,    /* in a header, footer, basket, list of others */
  QM_SEEN_PART = 1 << 4,     /* of a month, kilogram, saving, delivery */
  QM_SEEN_FROM = 1 << 5,     /* "from" */
  QM_SEEN_RANGE = 1 << 6,    /* one end of "10 - 15" */
  QM_SEEN_CARD = 1 << 7,     /* in one of several alike elements */
  QM_SEEN_LINK = 1 << 8,     /* in a link */
  QM_SEEN_CURRENCY = 1 << 9, /* with a sign or code */
  QM_SEEN_LONE = 1 << 10,    /* nothing else in its element */
  QM_SEEN_NEAR = 1 << 11,    /* the element that says price holds little else */
  QM_SEEN_REGULAR = 1 << 12  /* called regular: an old one beside another */
} QmSeenFlags;

/* A page being read. */
typedef struct
{
  xmlDoc *doc;
  const QmPageContext *context;
  GPtrArray *products;  /* of QmStatedProduct, owned */
  GArray *seen;         /* of QmSeenAmount, in the page's order */
  xmlNode *heading;     /* that names the product; NULL: none found */
  char *title;          /* of the page, og:title or <title> */
  char *heading_text;   /* of `heading` */
  char *canonical;      /* the page's own address, as it states it */
  gboolean is_list;     /* says itself that it is a list */
  gboolean is_article;  /* or an article, which some shops say of products */
  gboolean is_product;  /* or a product */
  gboolean sees_signed; /* a price with a currency is seen */
  gboolean can_buy;     /* there is something to put it into the basket */
  GHashTable *words;    /* what names of elements tell, once found out */
  gboolean cut;         /* too deep to be read to the end */
} QmPage;

/* A product is added with qm_page_add_product() and belongs to the page. */
QmStatedProduct *qm_page_add_product (QmPage *page, QmPageMethod method);

/* A price of which nothing is known. */
QmStatedPrice *qm_stated_price_new (void);
void qm_stated_price_free (QmStatedPrice *price);

/* Takes the currency that a text names; one that names none, or NULL, changes
 * nothing. */
void qm_stated_price_set_currency (QmStatedPrice *price, const char *text);

/* Takes a price as qm_page_parse_price() reads it, and its currency unless
 * there is one already.  FALSE where the text, which may be NULL, is no price.
 */
gboolean qm_stated_price_set_text (QmStatedPrice *price, const char *text);

/* Adds a product with one price.
 *
 * currency: (nullable): names it, before what stands beside the amount.
 *
 * Returns: (nullable): NULL where `amount`, which may be NULL, is no price. */
QmStatedProduct *qm_page_add_priced (QmPage *page,
                                     QmPageMethod method,
                                     const char *amount,
                                     const char *currency);

/* A price as data states it: a plain decimal, or as people write it.  Where
 * a group of three could be decimals, `other` is the other reading. */
gboolean qm_page_parse_price (const char *text,
                              gint64 *micros,
                              gint64 *other,
                              char currency[4]);

/* Availability as an address or a name, "https://schema.org/InStock". */
QmAvailability qm_page_parse_availability (const char *text);

/* A text or number of JSON as it stands; NULL of all else.  (transfer full) */
char *qm_page_json_text (const json_t *value);

/* A date or date and time; the date alone counts. */
QmDate qm_page_parse_date (const char *text);

/* The last part of "http://schema.org/price", "schema:price" or "price". */
const char *qm_page_local_name (const char *name);

/* "schema:Product", "http://schema.org/Product" and "Product" name the same;
 * letters' case does not count. */
gboolean qm_page_type_is (const char *type, const char *const *names);

/* Types of schema.org: what can be bought, offers, and what holds many. */
extern const char *const qm_page_product_types[];
extern const char *const qm_page_offer_types[];
extern const char *const qm_page_list_types[];

/* Whether two names are of one thing: one holds the other, or most words of the
 * first are in the second.  FALSE for NULL and names of one or two bytes. */
gboolean qm_page_names_alike (const char *a, const char *b);

/* Attributes and text.  The parser has made all names lower case. */
static inline gboolean
qm_page_same_name (const xmlChar *a, const char *b)
{
  /* Most names differ in their first letter. */
  return a[0] == (xmlChar) b[0] && strcmp ((const char *) a, b) == 0;
}

/* The value of an attribute; NULL: there is none.  Whether a node is an element
 * of a name, or of one of several up to NULL. */
const char *qm_page_attribute (const xmlNode *node, const char *name);
gboolean qm_page_is (const xmlNode *node, const char *name);
gboolean qm_page_is_any (const xmlNode *node, const char *const *names);
/* Whether a text, which may be NULL, holds one of several others. */
gboolean qm_page_holds_any (const char *text, const char *const *parts);
/* Whether text is struck through, by the name of its element or its style. */
gboolean qm_page_is_struck (const xmlNode *node);
gboolean qm_page_is_styled_struck (const xmlNode *node);
/* Scripts and styles, whose text people do not see. */
gboolean qm_page_is_code (const xmlNode *node);
char *qm_page_node_text (const xmlNode *node, gsize max);
/* The next node in the order of the page below `top`, with `into` saying
 * whether children of `node` come. */
xmlNode *qm_page_next (const xmlNode *top, xmlNode *node, gboolean into);

/* The currency that a sign with several meanings has on this page, by the
 * region of its language or of its host; left as it is where that is not
 * clear. */
void
qm_page_guess_currency (const QmPage *page, const char *sign, char currency[4]);

/* The readers. */
void qm_page_read_json_ld (QmPage *page);
void qm_page_read_microdata (QmPage *page);
void qm_page_read_meta (QmPage *page);
void qm_page_read_scripts (QmPage *page);
void qm_page_read_seen (QmPage *page);

/* Applies the rule for the page's host and adds what it finds as a product of
 * QM_PAGE_RULE.
 *
 * always: (out): whether the rule goes before what the page states.
 *
 * Returns: FALSE where there is no rule or it finds no price. */
gboolean qm_page_apply_rules (QmPage *page, gboolean *always);

/* Weighs what was read. */
void qm_page_decide (QmPage *page, QmPageOffer *offer);

G_END_DECLS
