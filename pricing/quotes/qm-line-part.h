/* SPDX-License-Identifier: Apache-2.0 */

/* Which part of a whole offer a line of a quote is, so that offers of several
 * vendors can be laid side by side: GPUs beside GPUs, memory beside memory. */

#pragma once

#include "pricing/quotes/qm-quote.h"

G_BEGIN_DECLS

typedef enum
{
  QM_PART_GPUS,
  QM_PART_SERVER, /* the machine, or what makes one of parts: a chassis, a
                     board, processors */
  QM_PART_MEMORY, /* of the host */
  QM_PART_STORAGE,
  QM_PART_NETWORK, /* cards, switches, cables and bridges */
  QM_PART_SERVICE, /* warranty, support, installation, licences */
  QM_PART_SHIPPING,
  QM_PART_OTHER,
  QM_PART_DISCOUNT, /* of the whole quote; no line is one */
  QM_PART_OPTIONS,  /* substitutes, alternatives and options: do not count */
  QM_N_PARTS
} QmOfferPart;

/* Which part a line is. */
QmOfferPart qm_line_part (const QmCatalog *catalog, const QmQuoteLine *line);

/* Which parts a line names besides, as one that describes a whole machine does:
 * bits 1 << QmOfferPart of memory, storage, network and service. */
guint qm_line_parts_named (const QmQuoteLine *line);

/* "gpus", "server" and so on, as files have it; static. */
const char *qm_offer_part_name (QmOfferPart part);

/* "GPUs", "Server" and so on; static, translated. */
const char *qm_offer_part_text (QmOfferPart part);

G_END_DECLS
