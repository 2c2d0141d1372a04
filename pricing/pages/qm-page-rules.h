/* SPDX-License-Identifier: Apache-2.0 */

/* Rules for sites: where on the pages of a host the price stands, for pages
 * that say it in no other way that is understood.
 *
 *   <rules version="1">
 *     <site host="shop.example" currency="EUR" decimal="comma">
 *       <name>//h1</name>
 *       <price>//div[@id="buy"]//span[@class="now"]</price>
 *     </site>
 *   </rules>
 *
 * Elements of a site: price (required, several are tried in their order), name,
 * currency, availability, sku, mpn, seller, valid-until.  Each is an expression
 * of XPath 1.0 over the page as it was sent, names in lower case; its value is
 * the text of the first node found, or the value itself.
 *
 * Attributes: host, which also stands for its subdomains and may be several,
 * by spaces; currency, an ISO 4217 code for prices without one; decimal,
 * "point" or "comma"; always="yes" lets the rule go before everything that the
 * page states. */

#pragma once

#include "pricing/qm-amount.h"

G_BEGIN_DECLS

typedef struct _QmPageRules QmPageRules;

#define QM_PAGE_RULES_ERROR (qm_page_rules_error_quark ())

typedef enum
{
  QM_PAGE_RULES_ERROR_READ, /* the file cannot be read */
  QM_PAGE_RULES_ERROR_RULE  /* it is no file of rules, or a rule is wrong */
} QmPageRulesError;

GQuark qm_page_rules_error_quark (void);

/* Reads rules.  Messages name the file and the line.
 *
 * name: what messages call the file.
 *
 * Returns: (transfer full): NULL with `error` set where a rule is wrong; none
 *   of the others is in effect then. */
QmPageRules *qm_page_rules_parse (const char *text,
                                  gsize length,
                                  const char *name,
                                  GError **error);

/* Reads a regular file of at most 1 MiB.  (transfer full) (nullable) */
QmPageRules *qm_page_rules_load (const char *path, GError **error);

/* The user's rules, page-rules.xml in their data directory, and behind them the
 * shipped ones; files that are not there have none.
 *
 * problems: (nullable) (element-type QmError): gets what is wrong in a file,
 *   which is then left out whole.
 *
 * Returns: (transfer full). */
QmPageRules *qm_page_rules_load_default (GArray *problems);

void qm_page_rules_free (QmPageRules *rules);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmPageRules, qm_page_rules_free)

G_END_DECLS
