/* SPDX-License-Identifier: Apache-2.0 */

/* What the files of the UBL reader share. */

#pragma once

/* What the format has no element for goes into additional references of the
 * document and properties of an item, under these names. */
#define QM_UBL_ALTERNATIVE "Alternative"
#define QM_UBL_SUPERSEDES  "Supersedes"
#define QM_UBL_ROLE        "Role"
#define QM_UBL_SELLS       "Sells"

#include "pricing/quotes/qm-quote.h"

#include <libxml/tree.h>

typedef struct
{
  QmQuote *quote;
  gint64 line_tax; /* of all quoted lines */
  GError *error;   /* the first */
} QmUblReader;

/* A child: an aggregate, a basic one, or the text of a basic one (transfer
 * full) (nullable). */
xmlNode *qm_ubl_cac (const xmlNode *node, const char *name);
xmlNode *qm_ubl_cbc (const xmlNode *node, const char *name);
char *qm_ubl_text (const xmlNode *node, const char *name);

/* Makes an error that of the document, unless it has one; takes it. */
void qm_ubl_fail (QmUblReader *reader, GError *error);

/* An element's number in 10^-decimals units; QM_AMOUNT_UNSTATED where `node` is
 * NULL or holds none, which is a finding. */
gint64 qm_ubl_decimal (QmUblReader *reader,
                       const xmlNode *node,
                       const char *place,
                       int decimals);

/* The amount in a child, in minor units; its currency must be the quote's. */
gint64 qm_ubl_amount (QmUblReader *reader,
                      const xmlNode *parent,
                      const char *name,
                      const char *place);

/* The same in millionths of the major unit. */
gint64 qm_ubl_price (QmUblReader *reader,
                     const xmlNode *parent,
                     const char *name,
                     const char *place);

/* Adds the allowances and charges that are children to two sums. */
void qm_ubl_allowances (QmUblReader *reader,
                        const xmlNode *parent,
                        const char *place,
                        gint64 *discount,
                        gint64 *charge);

/* Reads all QuotationLines. */
void qm_ubl_read_lines (QmUblReader *reader, const xmlNode *root);
