/* SPDX-License-Identifier: Apache-2.0 */

/* OASIS UBL Quotation documents, versions 2.0 to 2.4, which share their
 * namespaces; elements are known by namespace and local name alone.
 *
 * A line is a QuotationLine's LineItem.  Its SubLineItems are its parts, the
 * SellerProposedSubstituteLineItems and AlternativeLineItems follow in those
 * roles.  Prices are without tax, as the standard says.  The net amount is
 * QuotedMonetaryTotal/LineExtensionAmount; TaxExclusiveAmount is only compared
 * with it, because some senders put the tax there. */

#pragma once

#include "pricing/quotes/qm-quote.h"

#include <gio/gio.h>

G_BEGIN_DECLS

#define QM_UBL_QUOTATION \
  "urn:oasis:names:specification:ubl:schema:xsd:Quotation-2"
#define QM_UBL_CAC                                \
  "urn:oasis:names:specification:ubl:schema:xsd:" \
  "CommonAggregateComponents-2"
#define QM_UBL_CBC                                \
  "urn:oasis:names:specification:ubl:schema:xsd:" \
  "CommonBasicComponents-2"

/* Reads a quotation.  What could not be understood is among its findings;
 * totals are not checked yet (qm_quote_totals_check()).
 *
 * Returns: (transfer full): the quote, or NULL with an error of QM_READ_ERROR:
 *   not well-formed or hostile, too large, another root element (which is
 *   named), no lines, several currencies. */
QmQuote *qm_quote_ubl_read (const char *data,
                            gsize size,
                            GCancellable *cancellable,
                            GError **error);

/* Writes a UBL 2.1 Quotation.  What it cannot hold is left out: to which GPU a
 * line belongs, and findings.  A date of issue that is missing is that of
 * reading; an amount to be paid that is missing is computed.
 *
 * Returns: (transfer full): the document, or NULL with QM_READ_ERROR_UNSUITED
 *   where the quote has no lines, currency or date, where an amount to be paid
 *   can neither be read nor computed, or where prices contain tax. */
GBytes *qm_quote_ubl_write (const QmQuote *quote, GError **error);

G_END_DECLS
