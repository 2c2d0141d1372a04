/* SPDX-License-Identifier: Apache-2.0 */

/* What the commands about quotes share. */

#pragma once

#include "app/qm-cli-output.h"
#include "app/qm-cli-table.h"
#include "pricing/pages/qm-page-rules.h"
#include "pricing/pages/qm-page.h"
#include "pricing/qm-rates.h"
#include "pricing/quotes/qm-quote-store.h"

#include <jansson.h>

G_BEGIN_DECLS

/* The commands, on the arguments behind their names. */
int qm_cli_quotes_answer (const char *const *arguments, GError **error);
int qm_cli_quotes_backups (const char *const *arguments, GError **error);
int qm_cli_quotes_compare (const char *const *arguments, GError **error);
int qm_cli_quotes_delete (const char *const *arguments, GError **error);
int qm_cli_quotes_export (const char *const *arguments, GError **error);
int qm_cli_quotes_fetch (const char *const *arguments, GError **error);
int qm_cli_quotes_history (const char *const *arguments, GError **error);
int qm_cli_quotes_import (const char *const *arguments, GError **error);
int qm_cli_quotes_list (const char *const *arguments, GError **error);
int qm_cli_quotes_rates (const char *const *arguments, GError **error);
int qm_cli_quotes_request (const char *const *arguments, GError **error);
int qm_cli_quotes_restore (const char *const *arguments, GError **error);
int qm_cli_quotes_show (const char *const *arguments, GError **error);

/* --- reading arguments --- */

/* Numbers of quotes, each once.  (transfer full): a GArray of gint64 with at
 * least `min` and at most `max`; NULL with an error. */
GArray *qm_cli_quote_ids (GStrv words, guint min, guint max, GError **error);

/* An option's value as UTF-8; *text is NULL where it was not given. */
gboolean qm_cli_option_text (const char *name,
                             GStrv values,
                             char **text,
                             GError **error);

/* A whole date as in files; *date is left alone where it was not given. */
gboolean qm_cli_option_date (const char *name,
                             GStrv values,
                             QmDate *date,
                             GError **error);

/* A code of ISO 4217, in either case; *currency is left alone where it was not
 * given. */
gboolean qm_cli_option_currency (const char *name,
                                 GStrv values,
                                 char currency[4],
                                 GError **error);

/* Whether an argument is an address and not a file. */
gboolean qm_cli_is_address (const char *argument);

/* Whether an address may be fetched.  (transfer full): as it will be fetched;
 * NULL with an error that names it. */
char *qm_cli_check_address (const char *address, GError **error);

/* --- what a quote says --- */

/* The quotes of those numbers.  (transfer full): of QmQuote; NULL with an
 * error. */
GPtrArray *
qm_cli_quotes_get (QmQuoteStore *store, const GArray *ids, GError **error);

/* Passes an error of the store on; where something is not there, as `missing`,
 * which is taken. */
void qm_cli_quote_missing (GError *trouble, char *missing, GError **error);

/* Whether it holds on a day. */
gboolean qm_cli_quote_holds (const QmQuote *quote, QmDate day);

/* What it comes to: to be paid as written, else computed; or
 * QM_AMOUNT_UNSTATED. */
gint64 qm_cli_quote_total (const QmQuote *quote);

/* An amount in another currency, at the rate of the quote's day.
 *
 * Returns: FALSE with QM_RATES_ERROR where there is no rate, or with the
 *   amount unstated. */
gboolean qm_cli_quote_convert (const QmQuote *quote,
                               gint64 minor,
                               QmRates *rates,
                               const char *currency,
                               gint64 *converted,
                               QmCrossRate *rate,
                               GError **error);

/* "12,345.67 EUR"; NULL where it is unstated.  (transfer full) (nullable) */
char *qm_cli_quote_minor_text (gint64 minor, const char *currency);

/* The same of a price in millionths, with as many decimals as it has. */
char *qm_cli_quote_micros_text (gint64 micros, const char *currency);

/* "8" or "0.5"; NULL where it is unstated.  (transfer full) (nullable) */
char *qm_cli_quote_quantity_text (gint64 micros);

/* What one unit of a line costs, or "23.24 EUR for 10"; NULL where it is
 * unstated.  (transfer full) (nullable) */
char *qm_cli_line_price_text (const QmQuote *quote, const QmQuoteLine *line);

/* A text with line breaks as blanks; NULL for NULL.
 * (transfer full) (nullable) */
char *qm_cli_one_line (const char *text);

/* The role of a line in the user's language; static. */
const char *qm_cli_line_role_text (QmLineRole role);

/* "1 EUR = 1.16840 USD on 2026-04-13", and whether that is old.
 * (transfer full) */
char *qm_cli_rate_text (const QmCrossRate *rate);

/* Everything of a quote, for people. */
void qm_cli_quote_append (const QmQuote *quote,
                          QmRates *rates,
                          GString *out,
                          const QmCliScreen *screen);

/* Everything of a quote as export has it, unknown ones as null, with its
 * number, whether it holds today, and what it comes to. */
json_t *qm_cli_quote_json (const QmQuote *quote, QmRates *rates, QmDate today);

/* A rate; null where `rate` converts nothing. */
json_t *qm_cli_rate_json (const QmCrossRate *rate);

G_END_DECLS
