/* SPDX-License-Identifier: Apache-2.0 */

/* What a web page says its product costs.
 *
 * A page often says it several times: as JSON-LD, microdata or RDFa of
 * schema.org, in its <meta> elements, in the data of its scripts, and in what
 * people see.  These are read in this order of trust, then the rules of the
 * user for its site, and they are held against each other.  Where they
 * contradict each other, or name several prices without saying which one is the
 * product's, there is no price: a wrong one is worse than none.
 *
 * Nothing is fetched and nothing of the page is executed. */

#pragma once

#include "pricing/pages/qm-page-rules.h"
#include "pricing/quotes/qm-quote.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/* How large a page may be. */
#define QM_PAGE_BYTES_MAX (8 * 1024 * 1024)

/* Where the price was found. */
typedef enum
{
  QM_PAGE_NOTHING,
  QM_PAGE_JSON_LD,
  QM_PAGE_MICRODATA,
  QM_PAGE_RDFA,
  QM_PAGE_META,   /* Open Graph and its like */
  QM_PAGE_SCRIPT, /* data for the page's own scripts */
  QM_PAGE_RULE,   /* a rule of the user */
  QM_PAGE_TEXT,   /* what people see */
  QM_N_PAGE_METHODS
} QmPageMethod;

typedef enum
{
  QM_AVAILABILITY_UNSTATED,
  QM_AVAILABILITY_IN_STOCK,
  QM_AVAILABILITY_LIMITED,
  QM_AVAILABILITY_PRE_ORDER,
  QM_AVAILABILITY_BACK_ORDER,
  QM_AVAILABILITY_OUT_OF_STOCK,
  QM_AVAILABILITY_DISCONTINUED,
  QM_N_AVAILABILITIES
} QmAvailability;

/* Strings are UTF-8 of one line, NULL where the page does not say. */
typedef struct
{
  char *name;
  gint64 price_micros; /* QM_AMOUNT_UNSTATED: no price */
  char currency[4];    /* empty: not said, or by a sign that means several */
  QmAvailability availability;
  QmDate valid_until; /* year 0: unstated */
  QmPageMethod method;
  gboolean confirmed; /* people see the same price on the page */
  char *seller;
  char *sku;
  char *mpn;
  QmTristate tax_included;
  char *reason;     /* why there is no price, for people; NULL with one */
  GPtrArray *notes; /* of char *: contradictions and readings to check */
} QmPageOffer;

/* What is known besides the bytes; all may be NULL. */
typedef struct
{
  const char *charset; /* of the Content-Type header */
  const char *url;     /* the page's address; NULL: the one that it states */
  const QmPageRules *rules;
} QmPageContext;

/* Reads a page.
 *
 * context: (nullable)
 *
 * Returns: (transfer full): what it says, with a reason where it says no price;
 *   NULL with `error` set (G_IO_ERROR) where the bytes are no page: empty, too
 *   large, or not HTML, or where it was cancelled. */
QmPageOffer *qm_page_read (const guint8 *bytes,
                           gsize size,
                           const QmPageContext *context,
                           GCancellable *cancellable,
                           GError **error);

void qm_page_offer_free (QmPageOffer *offer);

/* The offer as a quote with one line of one piece: kind QM_PRICE_STREET, origin
 * QM_QUOTE_FROM_PAGE, issued on `read_on`.  What is to be known of the reading
 * is with its findings.
 *
 * source: the page's address or the file's name.
 * sha256: of the page's bytes, or NULL.
 *
 * Returns: (transfer full) (nullable): NULL where the offer has no price. */
QmQuote *qm_page_offer_to_quote (const QmPageOffer *offer,
                                 const char *source,
                                 const char *sha256,
                                 QmDate read_on);

/* "json-ld", "text" and so on; static. */
const char *qm_page_method_name (QmPageMethod method);

/* The name that schema.org has, "InStock"; NULL for unstated; static. */
const char *qm_availability_name (QmAvailability availability);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmPageOffer, qm_page_offer_free)

G_END_DECLS
