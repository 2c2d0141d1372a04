/* SPDX-License-Identifier: Apache-2.0 */

/* Graphs that plans of one training have in common, kept while many are made:
 * those of a pass of one device, before anything is divided, sent or updated.
 * What differs behind it, the number of ranks and where states are, changes
 * none of it, but for models that compare pairs with those of other ranks. */

#ifndef QM_ENGINE_PLAN_BASES_H
#define QM_ENGINE_PLAN_BASES_H

#include "engine/plan.h"

typedef struct QmPlanBases QmPlanBases;

/* None yet; NULL where the host is out of memory. */
QmPlanBases *qm_plan_bases_new (void);
void qm_plan_bases_free (QmPlanBases *bases);

/* A copy of the one that a plan with these options has, when its step has so
 * many passes of all ranks together; NULL where there is none.  Its names are
 * those of the original: it has to be freed before `bases`. */
QmGraph *qm_plan_bases_find (const QmPlanBases *bases,
                             const QmPlanOptions *options,
                             int64_t passes);

/* Keeps a copy, of the newest few, and takes the names of the graph, which has
 * to be freed before `bases`; does nothing where there is no memory. */
void qm_plan_bases_keep (QmPlanBases *bases,
                         const QmPlanOptions *options,
                         int64_t passes,
                         QmGraph *graph);

/* Checks a plan's graph (qm_graph_check()).  With `bases` not NULL once a way,
 * of whatever micro-batch: its operators fit together as those of the first do.
 * What is trained by is made without, and always checked. */
QmStatus
qm_plan_bases_check (QmPlanBases *bases, const QmPlan *plan, QmError *error);

/* qm_plan_new(), with what others of the same configuration and recipe had in
 * common with it.  The plan has to be freed before `bases`, which may be
 * NULL. */
QmStatus qm_plan_new_from (QmPlanBases *bases,
                           const QmModelConfig *config,
                           const QmRecipe *recipe,
                           const QmPlanOptions *options,
                           QmPlan **plan,
                           QmError *error);

#endif
