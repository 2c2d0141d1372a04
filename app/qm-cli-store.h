/* SPDX-License-Identifier: Apache-2.0 */

/* The user's store of quotes, for the commands that read or change it. */

#pragma once

#include "data/catalog.h"
#include "pricing/qm-rates.h"
#include "pricing/quotes/qm-quote-store-prices.h"
#include "pricing/quotes/qm-quote-store.h"

G_BEGIN_DECLS

/* Adds "--store". */
void qm_cli_store_add_option (GArray *options, GStrv *typed);

typedef enum
{
  QM_CLI_STORE_READ,          /* nothing is changed, made or locked */
  QM_CLI_STORE_CHANGE,        /* what is there */
  QM_CLI_STORE_CREATE,        /* where there is none, too, which is said */
  QM_CLI_STORE_CREATE_QUIETLY /* likewise, but for programs */
} QmCliStoreMode;

/* The path of the store that "--store" names, or else of the user's.
 * (transfer full): FALSE with an error, also where there is neither. */
gboolean qm_cli_store_find (GStrv typed, char **path, GError **error);

/* Opens the store that "--store" names, or else the user's.  Where there is no
 * file of that name it is an error, unless it may be created; where the user
 * has none yet, an empty store in memory stands for it.  What is wrong with it
 * goes to standard error.  Returns: (transfer full): NULL with an error. */
QmQuoteStore *
qm_cli_store_open (GStrv typed, QmCliStoreMode mode, GError **error);

/* The same to read for advice, which is given without quotes where they cannot
 * be read: NULL then.
 *
 * troubles: what is wrong is added to it, and not told: sentences for people.
 * error: set only where the user has named a file that is no store. */
QmQuoteStore *
qm_cli_store_open_for_advice (GStrv typed, GPtrArray *troubles, GError **error);

/* "WHY. Your quotes do not count here ..."  (transfer full) */
char *qm_cli_store_unused_text (const char *why);

/* After something was written: today's backup, and what else is due.  Where
 * that fails it is told, and no error. */
void qm_cli_store_done (QmQuoteStore *store);

/* Writes a sentence about a store to standard error. */
void qm_cli_store_warn (const char *sentence);

/* The shipped exchange rates and those of the store, which go before them.
 * Returns: (transfer full): NULL with an error. */
QmRates *qm_cli_store_rates (QmQuoteStore *store, GError **error);

/* The rates that are shipped.  Returns: (transfer full): NULL with an error. */
QmRates *qm_cli_shipped_rates (GError **error);

G_END_DECLS
