/* SPDX-License-Identifier: Apache-2.0 */

/* A request for quotation as OASIS UBL 2.1 RequestForQuotation: a line for the
 * machines with the requirements as properties of the item, one for the
 * warranty, and one for shipping.  Elements stand in the order of the published
 * schema (UBL-RequestForQuotation-2.1.xsd); who buys and who sells is left for
 * the buyer to fill in. */

#pragma once

#include "pricing/advice/qm-request.h"

G_BEGIN_DECLS

/* The document, in UTF-8.
 *
 * id: of the request.
 *
 * Returns: (transfer full): NULL without memory. */
GBytes *qm_request_ubl_write (const QmRequest *request, const char *id);

G_END_DECLS
