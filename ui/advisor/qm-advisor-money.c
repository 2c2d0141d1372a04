/* SPDX-License-Identifier: Apache-2.0 */

/* The limits of the question, and the money that it counts in. */

#include "config.h"

#include "ui/advisor/qm-advisor-private.h"

#include <string.h>

/* Of the currency, where there is a limit. */
static gint64
minor_of (const QmPurse *purse, double major)
{
  return major > 0 ? qm_money_from_double (major, purse->currency).minor : -1;
}

gboolean
qm_advisor_owns_with_tax (QmAdvisor *self)
{
  g_return_val_if_fail (QM_IS_ADVISOR (self), FALSE);

  return self->total_cost && (self->ownership.parts & QM_OWNERSHIP_TAX) != 0;
}

void
qm_advisor_renew_purse (QmAdvisor *self)
{
  QmPurse purse = qm_purse_default ();
  if (self->rates != NULL)
    qm_purse_set_currency (&purse, self->currency, self->rates,
                           qm_date_today (), NULL);
  purse.tax_percent = qm_advisor_owns_with_tax (self) ? 0 : self->tax;
  purse.gross = self->gross && purse.tax_percent > 0;
  purse.machine_least = minor_of (&purse, self->machine_least);
  purse.machine_most = minor_of (&purse, self->machine_most);
  self->purse = purse;
  qm_advisor_queue_rebuild (self);
}

const QmPurse *
qm_advisor_get_purse (QmAdvisor *self)
{
  g_return_val_if_fail (QM_IS_ADVISOR (self), NULL);

  return &self->purse;
}

QmRates *
qm_advisor_get_rates (QmAdvisor *self)
{
  g_return_val_if_fail (QM_IS_ADVISOR (self), NULL);

  return self->rates;
}

gint64
qm_advisor_get_budget_minor (QmAdvisor *self)
{
  g_return_val_if_fail (QM_IS_ADVISOR (self), -1);

  return qm_purse_to_usd (
      &self->purse,
      qm_money_from_double (self->budget, self->purse.currency).minor);
}

static double
days_of (double value)
{
  return value > 0 ? value : NAN;
}

double
qm_advisor_get_deadline_days (QmAdvisor *self)
{
  g_return_val_if_fail (QM_IS_ADVISOR (self), NAN);

  return days_of (self->deadline);
}

double
qm_advisor_get_run_deadline_days (QmAdvisor *self)
{
  g_return_val_if_fail (QM_IS_ADVISOR (self), NAN);

  return self->portfolio ? days_of (self->run_deadline) : NAN;
}
