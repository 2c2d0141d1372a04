/* SPDX-License-Identifier: Apache-2.0 */

/* From options to the money of a question: how much, in which currency, with
 * tax or without, and what a funder pays. */

#pragma once

#include "pricing/advice/qm-question.h"

G_BEGIN_DECLS

/* The values of the options as they were typed. */
typedef struct
{
  GStrv budget;
  GStrv currency;
  GStrv tax;
  GStrv machine_least;
  GStrv machine_most;
  gboolean gross;
} QmCliMoney;

void qm_cli_money_add_options (QmCliMoney *typed, GArray *options);

void qm_cli_money_clear (QmCliMoney *typed);

/* Whether there is more than a budget, which would contradict the paper's
 * prices. */
gboolean qm_cli_money_is_particular (const QmCliMoney *typed);

/* Reads a tax of 0 to 100 %; *free: it was said to be 0.  FALSE, leaving both
 * as they were, on anything else. */
gboolean qm_cli_read_tax (const char *text, double *percent, gboolean *free);

/* Takes what is given over the question's purse, and the purse for its budget.
 * The question must have its rates, and what owning is assumed to cost. */
gboolean qm_cli_money_read (const QmCliMoney *typed,
                            QmQuestion *question,
                            GError **error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QmCliMoney, qm_cli_money_clear)

G_END_DECLS
