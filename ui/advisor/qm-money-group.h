/* SPDX-License-Identifier: Apache-2.0 */

/* The money of the question: its currency, the tax, and what a funder pays of
 * one machine. */

#pragma once

#include "ui/advisor/qm-advisor.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_MONEY_GROUP (qm_money_group_get_type ())
G_DECLARE_FINAL_TYPE (
    QmMoneyGroup, qm_money_group, QM, MONEY_GROUP, AdwPreferencesGroup)

/* To be called once. */
void qm_money_group_set_advisor (QmMoneyGroup *self, QmAdvisor *advisor);

G_END_DECLS
