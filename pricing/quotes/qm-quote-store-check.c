/* SPDX-License-Identifier: Apache-2.0 */

/* What may be stored. */

#include "config.h"

#include "pricing/quotes/qm-quote-store-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

gboolean
qm_quote_store_refuse (GError **error, const char *message)
{
  g_set_error_literal (error, QM_QUOTE_STORE_ERROR,
                       QM_QUOTE_STORE_ERROR_INVALID, message);
  return FALSE;
}

gboolean
qm_store_check_text (const char *text, GError **error)
{
  gsize length;

  if (text == NULL)
    return TRUE;
  length = strlen (text);
  if (length > QM_QUOTE_STORE_MAX_TEXT)
    return qm_quote_store_refuse (
        error, _ ("A text of the quote is too long to be stored."));
  if (!g_utf8_validate (text, (gssize) length, NULL))
    return qm_quote_store_refuse (
        error, _ ("A text of the quote is not valid UTF-8."));
  return TRUE;
}

gboolean
qm_store_check_date (QmDate date, GError **error)
{
  char text[sizeof "9999-12-31"];
  QmDate parsed;

  if (date.year == 0 && date.month == 0 && date.day == 0)
    return TRUE;
  if (date.year >= 1970 && date.year <= 9999 && date.month >= 0
      && date.month <= 12 && date.day >= 0 && date.day <= 31)
    {
      if (date.month == 0 && date.day == 0)
        return TRUE;
      g_snprintf (text, sizeof text, "%04d-%02d-%02d", date.year, date.month,
                  date.day != 0 ? date.day : 1);
      if (qm_date_parse (text, &parsed))
        return TRUE;
    }
  return qm_quote_store_refuse (
      error, _ ("A date of the quote is none of the calendar."));
}

gboolean
qm_store_check_currency (const char *currency, GError **error)
{
  if (currency[0] == '\0' || qm_currency_valid (currency))
    return TRUE;
  return qm_quote_store_refuse (error,
                                _ ("The currency is no code of three capital "
                                   "letters."));
}

static gboolean
check_line (const QmQuoteLine *line, GError **error)
{
  const char *const texts[] = { line->number,      line->part_number,
                                line->description, line->unit,
                                line->item,        line->candidates };

  if ((guint) line->role >= QM_N_LINE_ROLES
      || (guint) line->match >= QM_N_MATCHES
      || (guint) line->thing >= QM_N_THINGS
      || ((line->asked | line->answered) & ~(guint) QM_ASKS_OF_LINE) != 0)
    return qm_quote_store_refuse (
        error, _ ("A line of the quote has a role that is not "
                  "known."));
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    if (!qm_store_check_text (texts[i], error))
      return FALSE;
  return TRUE;
}

static gboolean
check_finding (const QmFinding *finding, GError **error)
{
  if ((guint) finding->level >= QM_N_FINDING_LEVELS || finding->message == NULL)
    return qm_quote_store_refuse (error,
                                  _ ("A finding of the quote says nothing."));
  return qm_store_check_text (finding->place, error)
         && qm_store_check_text (finding->message, error);
}

gboolean
qm_store_check_digest (const char *sha256, GError **error)
{
  if (sha256 != NULL && strlen (sha256) == 64
      && strspn (sha256, "0123456789abcdefABCDEF") == 64)
    return TRUE;
  return qm_quote_store_refuse (error,
                                _ ("The digest of the document is not one of "
                                   "SHA-256."));
}

static gboolean
check_head (const QmQuote *quote, GError **error)
{
  const char *const texts[] = { quote->vendor,      quote->number,
                                quote->note,        quote->source,
                                quote->alternative, quote->supersedes };

  if (quote->kind > QM_PRICE_CLOUD || quote->unit > QM_PRICE_HOUR
      || (guint) quote->origin >= QM_N_QUOTE_ORIGINS
      || ((quote->asked | quote->answered) & ~(guint) QM_ASKS_OF_QUOTE) != 0)
    return qm_quote_store_refuse (error,
                                  _ ("The kind of the quote is not known."));
  if (quote->sha256 != NULL && !qm_store_check_digest (quote->sha256, error))
    return FALSE;
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    if (!qm_store_check_text (texts[i], error))
      return FALSE;
  return qm_store_check_currency (quote->currency, error)
         && qm_store_check_date (quote->issued_on, error)
         && qm_store_check_date (quote->valid_from, error)
         && qm_store_check_date (quote->valid_until, error);
}

gboolean
qm_store_check_quote (const QmQuote *quote, GError **error)
{
  if (!check_head (quote, error))
    return FALSE;
  if (quote->lines->len > QM_QUOTE_STORE_MAX_LINES
      || quote->findings->len > QM_QUOTE_STORE_MAX_LINES)
    return qm_quote_store_refuse (
        error, _ ("The quote has too many lines to be stored."));
  for (guint i = 0; i < quote->lines->len; i++)
    if (!check_line (g_ptr_array_index (quote->lines, i), error))
      return FALSE;
  for (guint i = 0; i < quote->findings->len; i++)
    if (!check_finding (g_ptr_array_index (quote->findings, i), error))
      return FALSE;
  return TRUE;
}
