/* SPDX-License-Identifier: Apache-2.0 */

/* A comparison of the publication (pricing/advice/qm-standing.h) as a plot:
 * each time against what it is held against, a colour and a shape for each type
 * of GPU, and the line on which both are equal. */

#pragma once

#include "pricing/advice/qm-standing.h"
#include "ui/qm-plot-source.h"

G_BEGIN_DECLS

#define QM_TYPE_STANDING_SOURCE (qm_standing_source_get_type ())
G_DECLARE_FINAL_TYPE (
    QmStandingSource, qm_standing_source, QM, STANDING_SOURCE, QmPlotSource)

/* Of `catalog`, which it keeps a reference of, of `study`, which may be NULL
 * and has to live until this returns, and of the results files in `folder`. */
QmPlotSource *qm_standing_source_new (const QmCatalog *catalog,
                                      const QmStudy *study,
                                      const char *folder,
                                      QmStanding standing);

/* What it is called: "GPU-days against the original trainings"; static. */
const char *qm_standing_source_title (QmStanding standing);

/* What it shows, a sentence.  (transfer full) */
char *qm_standing_source_sum_up (QmStandingSource *self);

G_END_DECLS
