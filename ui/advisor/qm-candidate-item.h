/* SPDX-License-Identifier: Apache-2.0 */

/* A row of the table: which candidate of which topic.  What the row says is
 * the advisor's, so that rows outlive a changed question. */

#pragma once

#include <glib-object.h>

G_BEGIN_DECLS

#define QM_TYPE_CANDIDATE_ITEM (qm_candidate_item_get_type ())
G_DECLARE_FINAL_TYPE (
    QmCandidateItem, qm_candidate_item, QM, CANDIDATE_ITEM, GObject)

/* (transfer full) */
QmCandidateItem *qm_candidate_item_new (guint topic, guint index);

/* The topic of the advisor. */
guint qm_candidate_item_get_topic (QmCandidateItem *self);

/* The candidate's number within the topic. */
guint qm_candidate_item_get_index (QmCandidateItem *self);

G_END_DECLS
