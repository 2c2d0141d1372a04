/* SPDX-License-Identifier: Apache-2.0 */

/* The filters: which GPU types, counts and kinds of machine take part. */

#pragma once

#include "ui/advisor/qm-advisor.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_FILTER_GROUP (qm_filter_group_get_type ())
G_DECLARE_FINAL_TYPE (
    QmFilterGroup, qm_filter_group, QM, FILTER_GROUP, AdwPreferencesGroup)

/* To be called once. */
void qm_filter_group_set_advisor (QmFilterGroup *self, QmAdvisor *advisor);

G_END_DECLS
