/* SPDX-License-Identifier: Apache-2.0 */

/* What a line of a quote sells: a GPU, a machine, a part of one, a service.
 *
 * A baseboard, a chassis, a processor or a warranty is no machine.  Several
 * GPUs are one only where words beside them say so: "8 x H100" or "HGX H100
 * 8-GPU" are GPUs, "GPU server, 2 x EPYC, 8 x H100" is a machine. */

#pragma once

#include "pricing/quotes/qm-quote.h"

G_BEGIN_DECLS

/* What a line sells: as it states, else as its match and its words tell.  Never
 * QM_THING_UNSTATED. */
QmLineThing qm_line_thing (const QmCatalog *catalog, const QmQuoteLine *line);

/* Whether a service is among the words of a line, whatever it sells: a
 * warranty, support, an installation. */
gboolean qm_line_names_service (const QmQuoteLine *line);

/* Whether a part is a processor: what makes a machine of parts. */
gboolean qm_line_is_processor (const QmQuoteLine *line);

/* Whether a part is a chassis or barebone, of which each machine has one. */
gboolean qm_line_is_shell (const QmQuoteLine *line);

/* Whether words name a desktop or workstation instead of a machine for a
 * rack. */
gboolean qm_line_names_desktop (const QmQuoteLine *line);

/* Whether words name a model of GPU ("H100", "RTX 4090"), or anything that is
 * sold: that, a machine, a part, a service. */
gboolean qm_words_name_model (const char *text);
gboolean qm_words_name_goods (const char *text);

G_END_DECLS
