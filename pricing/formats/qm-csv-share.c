/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-csv-reader.h"

#include "pricing/quotes/qm-quote-read.h"

#include <glib/gi18n-lib.h>

/* No table with alternatives has more quotes, ... */
#define MAX_DRAFTS 2000
/* ... and no more lines come about by giving each what all have. */
#define MAX_COPIES 100000

gboolean
qm_csv_is_same_document (const QmQuote *a, const QmQuote *b)
{
  return g_strcmp0 (a->vendor, b->vendor) == 0
         && g_strcmp0 (a->number, b->number) == 0;
}

static gboolean
has_quoted_line (const QmCsvDraft *draft)
{
  for (guint i = 0; i < draft->quote->lines->len; i++)
    {
      const QmQuoteLine *line = g_ptr_array_index (draft->quote->lines, i);

      if (line->role == QM_LINE_QUOTED)
        return TRUE;
    }
  return FALSE;
}

/* The alternatives of the same document. */
static GPtrArray *
alternatives_of (QmCsvReader *reader, const QmCsvDraft *common)
{
  GPtrArray *found = g_ptr_array_new ();

  for (guint i = 0; i < reader->drafts->len; i++)
    {
      QmCsvDraft *draft = g_ptr_array_index (reader->drafts, i);

      if (draft->quote->alternative != NULL
          && qm_csv_is_same_document (draft->quote, common->quote))
        g_ptr_array_add (found, draft);
    }
  return found;
}

static void
clear_lines (QmCsvDraft *draft)
{
  g_ptr_array_set_size (draft->quote->lines, 0);
  g_array_set_size (draft->notes, 0);
}

static void
set_too_large (QmCsvReader *reader)
{
  if (reader->error == NULL)
    reader->error =
        g_error_new_literal (QM_READ_ERROR, QM_READ_ERROR_TOO_LARGE,
                             _ ("There are too many alternatives."));
}

/* A document with a total of its own is a quote, and what it calls options
 * without one is to be had besides.  Else its lines are those of all
 * alternatives. */
static void
share_common (QmCsvReader *reader, QmCsvDraft *common)
{
  g_autoptr (GPtrArray) alternatives = alternatives_of (reader, common);
  gboolean is_whole = common->n_summed > 0 && has_quoted_line (common);

  if (alternatives->len > QM_CSV_MAX_ALTERNATIVES
      || alternatives->len * (guint64) common->notes->len > MAX_COPIES)
    {
      set_too_large (reader);
      return;
    }
  for (guint i = 0; i < alternatives->len; i++)
    {
      QmCsvDraft *draft = g_ptr_array_index (alternatives, i);

      if (!is_whole)
        qm_csv_draft_add_common (draft, common);
      else if (!draft->has_totals)
        {
          qm_csv_draft_add_besides (common, draft);
          clear_lines (draft);
        }
    }
  if (!is_whole && alternatives->len > 0)
    clear_lines (common);
}

/* Takes what is stated there and not here. */
static void
take_document (QmQuote *quote, const QmQuote *other)
{
  if (quote->number == NULL)
    quote->number = g_strdup (other->number);
  if (quote->vendor == NULL)
    quote->vendor = g_strdup (other->vendor);
  if (quote->issued_on.year == 0)
    quote->issued_on = other->issued_on;
  if (quote->valid_from.year == 0 && quote->valid_until.year == 0)
    {
      quote->valid_from = other->valid_from;
      quote->valid_until = other->valid_until;
    }
}

/* A table without columns for them is one document: what stands among the lines
 * of one alternative, its number and its days, holds for all. */
static void
share_document (QmCsvReader *reader)
{
  g_autoptr (QmQuote) all = qm_quote_new ();

  if (reader->is_ours || reader->drafts->len > QM_CSV_MAX_ALTERNATIVES
      || qm_csv_mapping_column (reader->mapping, QM_CSV_QUOTE) >= 0
      || qm_csv_mapping_column (reader->mapping, QM_CSV_VENDOR) >= 0)
    return;
  for (guint i = 0; i < reader->drafts->len; i++)
    take_document (
        all, ((QmCsvDraft *) g_ptr_array_index (reader->drafts, i))->quote);
  for (guint i = 0; i < reader->drafts->len; i++)
    take_document (
        ((QmCsvDraft *) g_ptr_array_index (reader->drafts, i))->quote, all);
}

void
qm_csv_share (QmCsvReader *reader)
{
  gboolean any = FALSE;

  share_document (reader);

  for (guint i = 0; i < reader->drafts->len && !any; i++)
    {
      const QmCsvDraft *draft = g_ptr_array_index (reader->drafts, i);

      any = draft->quote->alternative != NULL;
    }
  if (!any || reader->is_ours)
    return;
  if (reader->drafts->len > MAX_DRAFTS)
    {
      set_too_large (reader);
      return;
    }
  for (guint i = 0; i < reader->drafts->len && reader->error == NULL; i++)
    {
      QmCsvDraft *draft = g_ptr_array_index (reader->drafts, i);

      if (draft->quote->alternative == NULL)
        share_common (reader, draft);
    }
}
