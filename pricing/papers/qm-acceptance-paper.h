/* SPDX-License-Identifier: Apache-2.0 */

/* How the machine is tested once it is delivered, as a section of a document.
 */

#pragma once

#include "data/acceptance.h"
#include "data/catalog.h"
#include "pricing/papers/qm-paper.h"

G_BEGIN_DECLS

/* file: what it is held against is called; its folders are left out. */
void qm_paper_add_acceptance (QmPaper *paper,
                              const QmAcceptance *acceptance,
                              const QmCatalog *catalog,
                              const char *file);

G_END_DECLS
