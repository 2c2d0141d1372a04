/* SPDX-License-Identifier: Apache-2.0 */

/* In which money the user counts: a currency, with tax or without.
 *
 * Prices and costs of candidates are in USD cents without tax.  The purse turns
 * a budget into that, and a cost back into what the user pays:
 *
 *   USD without tax = amount / (1 + tax / 100 if it contains it) / rate
 *
 * with the reference rate of the European Central Bank that is the newest on
 * the day of the question (pricing/qm-rates.h).  Limits hold for a cost as it
 * is told, to the minor unit of the currency: what is said to cost the budget
 * is within it. */

#pragma once

#include "pricing/qm-rates.h"

G_BEGIN_DECLS

#define QM_PURSE_TAX_MAX 100.0

typedef struct
{
  char currency[4];
  double tax_percent;   /* 0: nobody asks about tax, unless */
  gboolean tax_free;    /* it was said that it is 0: with it is without it */
  gboolean gross;       /* amounts contain it */
  QmCrossRate rate;     /* from USD; of USD itself, 1 */
  gint64 budget_minor;  /* as asked, in the currency's minor units; -1: none */
  gint64 machine_least; /* what one machine must cost at least, so that a
                           funder pays it, and may cost at most; in the same
                           units; -1: anything */
  gint64 machine_most;
} QmPurse;

/* USD without tax, and no limits. */
QmPurse qm_purse_default (void);

/* Whether amounts are in USD without tax, so that there is nothing to tell. */
gboolean qm_purse_is_plain (const QmPurse *purse);

/* Counts in a currency from now on, at its rate on a day.
 *
 * rates: may be NULL, for USD alone.
 *
 * Returns: FALSE, and the purse as it was, with QM_RATES_ERROR where no rate is
 *   known. */
gboolean qm_purse_set_currency (QmPurse *purse,
                                const char *currency,
                                QmRates *rates,
                                QmDate day,
                                GError **error);

/* The most USD cents without tax that are told as an amount of the purse; -1 of
 * -1. */
gint64 qm_purse_to_usd (const QmPurse *purse, gint64 minor);

/* USD cents without tax in major units of the purse's currency: `with_tax` as
 * stated, whatever the amounts of the purse contain. */
double
qm_purse_from_usd (const QmPurse *purse, gint64 usd_minor, gboolean with_tax);

/* USD cents without tax as people read them in the purse's currency and on its
 * basis: "€57,263".  `purse` may be NULL: "$62,000".  (transfer full) */
char *qm_purse_format (const QmPurse *purse, gint64 usd_minor);

/* The decade of the currency's units, for ranges of amounts: 1 of one that is
 * worth about a US dollar, 100 of the yen. */
double qm_purse_scale (const QmPurse *purse);

/* Whether a funder pays a machine that costs so many USD cents without tax: see
 * `machine_least`. */
gboolean qm_purse_funds (const QmPurse *purse, gint64 usd_minor);

G_END_DECLS
