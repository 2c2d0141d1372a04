/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/quotes/qm-quote.h"

#include <glib/gi18n-lib.h>
#include <string.h>

static void
line_free (gpointer data)
{
  QmQuoteLine *line = data;

  g_free (line->number);
  g_free (line->part_number);
  g_free (line->description);
  g_free (line->unit);
  g_free (line->item);
  g_free (line->candidates);
  g_free (line);
}

static void
finding_free (gpointer data)
{
  QmFinding *finding = data;

  g_free (finding->place);
  g_free (finding->message);
  g_free (finding);
}

QmQuote *
qm_quote_new (void)
{
  QmQuote *quote = g_new0 (QmQuote, 1);

  quote->kind = QM_PRICE_QUOTE;
  quote->unit = QM_PRICE_EACH;
  quote->tax_included = QM_UNSTATED;
  quote->net_minor = QM_AMOUNT_UNSTATED;
  quote->discount_minor = QM_AMOUNT_UNSTATED;
  quote->charge_minor = QM_AMOUNT_UNSTATED;
  quote->tax_minor = QM_AMOUNT_UNSTATED;
  quote->payable_minor = QM_AMOUNT_UNSTATED;
  quote->lines = g_ptr_array_new_with_free_func (line_free);
  quote->findings = g_ptr_array_new_with_free_func (finding_free);
  return quote;
}

void
qm_quote_free (QmQuote *quote)
{
  if (quote == NULL)
    return;
  g_free (quote->vendor);
  g_free (quote->number);
  g_free (quote->alternative);
  g_free (quote->supersedes);
  g_free (quote->note);
  g_free (quote->source);
  g_free (quote->sha256);
  g_ptr_array_unref (quote->lines);
  g_ptr_array_unref (quote->findings);
  g_free (quote);
}

QmQuoteLine *
qm_quote_add_line (QmQuote *quote, QmLineRole role)
{
  QmQuoteLine *line;

  g_return_val_if_fail (quote != NULL, NULL);

  line = g_new0 (QmQuoteLine, 1);
  line->role = role;
  line->quantity_micros = QM_AMOUNT_UNSTATED;
  line->price_micros = QM_AMOUNT_UNSTATED;
  line->base_quantity_micros = QM_MICROS_PER_UNIT;
  line->total_minor = QM_AMOUNT_UNSTATED;
  g_ptr_array_add (quote->lines, line);
  return line;
}

void
qm_quote_add_finding (QmQuote *quote,
                      QmFindingLevel level,
                      const char *place,
                      const char *message)
{
  QmFinding *finding;

  g_return_if_fail (quote != NULL && message != NULL);

  finding = g_new0 (QmFinding, 1);
  finding->level = level;
  finding->place = g_strdup (place);
  finding->message = g_strdup (message);
  g_ptr_array_add (quote->findings, finding);
}

static void
copy_line (QmQuote *to, const QmQuoteLine *from)
{
  QmQuoteLine *line = qm_quote_add_line (to, from->role);

  *line = *from;
  line->number = g_strdup (from->number);
  line->part_number = g_strdup (from->part_number);
  line->description = g_strdup (from->description);
  line->unit = g_strdup (from->unit);
  line->item = g_strdup (from->item);
  line->candidates = g_strdup (from->candidates);
}

QmQuote *
qm_quote_copy (const QmQuote *quote)
{
  QmQuote *copy = qm_quote_new ();
  GPtrArray *lines = copy->lines, *findings = copy->findings;

  g_return_val_if_fail (quote != NULL, copy);

  *copy = *quote;
  copy->vendor = g_strdup (quote->vendor);
  copy->number = g_strdup (quote->number);
  copy->alternative = g_strdup (quote->alternative);
  copy->supersedes = g_strdup (quote->supersedes);
  copy->note = g_strdup (quote->note);
  copy->source = g_strdup (quote->source);
  copy->sha256 = g_strdup (quote->sha256);
  copy->lines = lines;
  copy->findings = findings;
  for (guint i = 0; i < quote->lines->len; i++)
    copy_line (copy, g_ptr_array_index (quote->lines, i));
  for (guint i = 0; i < quote->findings->len; i++)
    {
      const QmFinding *finding = g_ptr_array_index (quote->findings, i);

      qm_quote_add_finding (copy, finding->level, finding->place,
                            finding->message);
    }
  return copy;
}

static gboolean
dates_equal (QmDate a, QmDate b)
{
  return a.year == b.year && a.month == b.month && a.day == b.day;
}

static gboolean
lines_equal (const QmQuoteLine *a, const QmQuoteLine *b)
{
  return a->role == b->role && g_strcmp0 (a->number, b->number) == 0
         && g_strcmp0 (a->part_number, b->part_number) == 0
         && g_strcmp0 (a->description, b->description) == 0
         && g_strcmp0 (a->unit, b->unit) == 0
         && a->quantity_micros == b->quantity_micros
         && a->price_micros == b->price_micros
         && a->base_quantity_micros == b->base_quantity_micros
         && a->discount_minor == b->discount_minor
         && a->charge_minor == b->charge_minor
         && a->total_minor == b->total_minor && a->match == b->match
         && g_strcmp0 (a->item, b->item) == 0 && a->gpus == b->gpus
         && g_strcmp0 (a->candidates, b->candidates) == 0
         && a->thing == b->thing && a->asked == b->asked
         && a->answered == b->answered;
}

static gboolean
findings_equal (const QmFinding *a, const QmFinding *b)
{
  return a->level == b->level && g_strcmp0 (a->place, b->place) == 0
         && g_strcmp0 (a->message, b->message) == 0;
}

static gboolean
heads_equal (const QmQuote *a, const QmQuote *b)
{
  return g_strcmp0 (a->vendor, b->vendor) == 0
         && g_strcmp0 (a->number, b->number) == 0
         && g_strcmp0 (a->alternative, b->alternative) == 0
         && g_strcmp0 (a->supersedes, b->supersedes) == 0
         && a->asked == b->asked && a->answered == b->answered
         && g_strcmp0 (a->note, b->note) == 0
         && strcmp (a->currency, b->currency) == 0 && a->kind == b->kind
         && a->unit == b->unit && dates_equal (a->issued_on, b->issued_on)
         && dates_equal (a->valid_from, b->valid_from)
         && dates_equal (a->valid_until, b->valid_until)
         && a->tax_included == b->tax_included && a->net_minor == b->net_minor
         && a->discount_minor == b->discount_minor
         && a->charge_minor == b->charge_minor && a->tax_minor == b->tax_minor
         && a->payable_minor == b->payable_minor && a->origin == b->origin
         && g_strcmp0 (a->source, b->source) == 0
         && g_strcmp0 (a->sha256, b->sha256) == 0;
}

gboolean
qm_quote_equal (const QmQuote *a, const QmQuote *b)
{
  g_return_val_if_fail (a != NULL && b != NULL, FALSE);

  if (!heads_equal (a, b) || a->lines->len != b->lines->len
      || a->findings->len != b->findings->len)
    return FALSE;
  for (guint i = 0; i < a->lines->len; i++)
    if (!lines_equal (g_ptr_array_index (a->lines, i),
                      g_ptr_array_index (b->lines, i)))
      return FALSE;
  for (guint i = 0; i < a->findings->len; i++)
    if (!findings_equal (g_ptr_array_index (a->findings, i),
                         g_ptr_array_index (b->findings, i)))
      return FALSE;
  return TRUE;
}

gboolean
qm_quote_dates_hold (QmDate issued_on,
                     QmDate valid_from,
                     QmDate valid_until,
                     QmDate on)
{
  QmDate begin = valid_from.year != 0 ? valid_from : issued_on;

  return (begin.year == 0 || qm_date_compare (begin, on) <= 0)
         && (valid_until.year == 0 || qm_date_compare (valid_until, on) >= 0);
}

QmDate
qm_quote_day (const QmQuote *quote)
{
  g_autoptr (GDateTime) time = NULL;
  QmDate date = { 0 };

  g_return_val_if_fail (quote != NULL, date);

  if (quote->issued_on.year != 0)
    return quote->issued_on;
  if (quote->valid_from.year != 0)
    return quote->valid_from;
  if (quote->read_at > 0)
    time = g_date_time_new_from_unix_utc (quote->read_at);
  if (time != NULL)
    g_date_time_get_ymd (time, &date.year, &date.month, &date.day);
  return date;
}

const char *
qm_quote_origin_name (QmQuoteOrigin origin)
{
  static const char *const names[QM_N_QUOTE_ORIGINS] = { "hand", "ubl", "csv",
                                                         "page", "json" };

  g_return_val_if_fail (origin < QM_N_QUOTE_ORIGINS, "");
  return names[origin];
}

const char *
qm_line_role_name (QmLineRole role)
{
  static const char *const names[QM_N_LINE_ROLES] = { "quoted", "part",
                                                      "substitute",
                                                      "alternative", "option" };

  g_return_val_if_fail (role < QM_N_LINE_ROLES, "");
  return names[role];
}

const char *
qm_match_state_name (QmMatchState state)
{
  static const char *const names[QM_N_MATCHES] = { "none", "ambiguous", "found",
                                                   "chosen" };

  g_return_val_if_fail (state < QM_N_MATCHES, "");
  return names[state];
}

const char *
qm_line_thing_name (QmLineThing thing)
{
  static const char *const names[QM_N_THINGS] = { "",     "gpu",     "machine",
                                                  "part", "service", "shipping",
                                                  "rent", "other" };

  g_return_val_if_fail (thing < QM_N_THINGS, "");
  return names[thing];
}

char *
qm_quote_title (const char *vendor,
                const char *number,
                const char *alternative,
                const char *source)
{
  g_autofree char *name = NULL;

  if (vendor != NULL && number != NULL)
    /* Translators: a vendor, the number of a quote. */
    name = g_strdup_printf (_ ("%s, %s"), vendor, number);
  else if (vendor != NULL)
    name = g_strdup (vendor);
  else if (number != NULL)
    name = g_strdup_printf (_ ("Quote %s"), number);
  else
    name = g_strdup (source != NULL ? source : _ ("Unnamed quote"));
  return g_strjoin (", ", name, alternative, NULL);
}
