/* SPDX-License-Identifier: Apache-2.0 */

/* A quote for people. */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-quotes-private.h"
#include "pricing/quotes/qm-quote-offer.h"
#include "pricing/quotes/qm-quote-totals.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define COUNTED_IN "USD"

/* Longer quotes are exported rather than read. */
#define LINES_SHOWN    500
#define FINDINGS_SHOWN 50

static void
append_field (GString *out,
              const QmCliScreen *screen,
              const char *label,
              const char *text)
{
  g_autofree char *start = NULL;
  g_autofree char *line = NULL;

  if (text == NULL || *text == '\0')
    return;
  start = g_strdup_printf ("%s: ", label);
  line = qm_cli_one_line (text);
  qm_cli_append_paragraph (out, screen, QM_CLI_PLAIN, start, 2, line);
}

/* What a line is about. */
static char *
match_text (const QmQuoteLine *line)
{
  if (line->match == QM_MATCH_AMBIGUOUS)
    return g_strdup (_ ("several"));
  if (line->item == NULL)
    return NULL;
  if (line->gpus > 1)
    return g_strdup_printf ("%d × %s", line->gpus, line->item);
  return g_strdup (line->item);
}

static void
add_line_row (const QmQuote *quote, guint index, QmCliTable *table)
{
  const QmQuoteLine *line = g_ptr_array_index (quote->lines, index);
  g_autofree char *position = g_strdup_printf ("%u", index + 1);
  g_autofree char *quantity =
      qm_cli_quote_quantity_text (line->quantity_micros);
  g_autofree char *price = qm_cli_line_price_text (quote, line);
  g_autofree char *total =
      qm_cli_quote_minor_text (qm_quote_line_cost (quote, line),
                               quote->currency);
  g_autofree char *match = match_text (line);
  g_autofree char *words = qm_cli_one_line (line->description);
  g_autofree char *description = NULL;

  if (line->role == QM_LINE_QUOTED)
    description = g_steal_pointer (&words);
  else
    description = g_strdup_printf ("%s: %s", qm_cli_line_role_text (line->role),
                                   words != NULL ? words : "");
  qm_cli_table_add_row (
      table, line->role == QM_LINE_QUOTED ? QM_CLI_PLAIN : QM_CLI_FAINT,
      (const char *[]){ position, line->part_number, description, quantity,
                        price, total, match });
}

static void
append_lines (const QmQuote *quote, GString *out, const QmCliScreen *screen)
{
  const QmCliColumn columns[] = {
    { _ ("Line"), QM_CLI_RIGHT },
    { _ ("Part number"), .drop = 2, .shrink = 10 },
    { _ ("Description"), .shrink = 16 },
    { _ ("Quantity"), QM_CLI_RIGHT },
    { _ ("Price"), QM_CLI_RIGHT },
    { _ ("Total"), QM_CLI_RIGHT, .drop = 1 },
    { _ ("In the catalog"), .shrink = 14 },
  };
  g_autoptr (QmCliTable) table =
      qm_cli_table_new (columns, G_N_ELEMENTS (columns));

  for (guint i = 0; i < quote->lines->len && i < LINES_SHOWN; i++)
    add_line_row (quote, i, table);
  g_string_append_c (out, '\n');
  qm_cli_table_append (table, out, screen);
  if (quote->lines->len > LINES_SHOWN)
    {
      g_string_append_printf (out, _ ("… and %u lines more"),
                              quote->lines->len - LINES_SHOWN);
      g_string_append_c (out, '\n');
    }
}

static void
append_amount (const QmQuote *quote,
               GString *out,
               const QmCliScreen *screen,
               const char *label,
               gint64 minor)
{
  g_autofree char *text = qm_cli_quote_minor_text (minor, quote->currency);

  append_field (out, screen, label, text);
}

static void
append_conversion (const QmQuote *quote,
                   QmRates *rates,
                   GString *out,
                   const QmCliScreen *screen)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *amount = NULL;
  g_autofree char *how = NULL;
  g_autofree char *text = NULL;
  QmCrossRate rate;
  gint64 converted;

  if (strcmp (quote->currency, COUNTED_IN) == 0
      || qm_cli_quote_total (quote) == QM_AMOUNT_UNSTATED)
    return;
  if (!qm_cli_quote_convert (quote, qm_cli_quote_total (quote), rates,
                             COUNTED_IN, &converted, &rate, &error))
    {
      append_field (out, screen, _ ("In USD"), error->message);
      return;
    }
  amount = qm_cli_quote_minor_text (converted, COUNTED_IN);
  how = qm_cli_rate_text (&rate);
  text = g_strdup_printf ("%s (%s)", amount, how);
  append_field (out, screen, _ ("In USD"), text);
}

/* What the advice starts from: all of it, without tax. */
static void
append_what_counts (const QmQuote *quote,
                    GString *out,
                    const QmCliScreen *screen)
{
  gint64 net, tax;
  gboolean taxed;

  qm_quote_come_to (quote, &net, &tax, &taxed);
  append_amount (quote, out, screen,
                 taxed ? _ ("Comes to, with tax that is not told")
                 : qm_quote_tax_is_untold (quote)
                     ? _ ("Comes to, taken as without tax")
                     : _ ("Comes to, without tax"),
                 net);
}

static void
append_totals (const QmQuote *quote,
               QmRates *rates,
               GString *out,
               const QmCliScreen *screen)
{
  QmQuoteTotals totals;

  qm_quote_totals_compute (quote, &totals);
  g_string_append_c (out, '\n');
  append_amount (quote, out, screen, _ ("Lines"), totals.lines_minor);
  if (quote->discount_minor != 0)
    append_amount (quote, out, screen, _ ("Discount"), quote->discount_minor);
  if (quote->charge_minor != 0)
    append_amount (quote, out, screen, _ ("Shipping and charges"),
                   quote->charge_minor);
  append_amount (quote, out, screen, _ ("Net, as written"), quote->net_minor);
  append_amount (quote, out, screen, _ ("Tax"), quote->tax_minor);
  append_amount (quote, out, screen, _ ("To be paid, as written"),
                 quote->payable_minor);
  if (totals.payable_minor != quote->payable_minor)
    append_amount (quote, out, screen, _ ("To be paid, by our sum"),
                   totals.payable_minor);
  append_what_counts (quote, out, screen);
  append_conversion (quote, rates, out, screen);
}

static void
append_asks (const char *place,
             guint asks,
             gint64 id,
             GString *out,
             const QmCliScreen *screen)
{
  g_autofree char *number = g_strdup_printf ("%" G_GINT64_FORMAT, id);

  for (guint i = 0; i < QM_N_ASKS; i++)
    {
      QmAsk ask = (QmAsk) (1u << i);
      g_autofree char *text = NULL;

      if ((asks & (guint) ask) == 0)
        continue;
      if (id != 0)
        /* Translators: "Line 2 does not count yet. " or nothing, a question,
         * the number of a quote, "LINE:" or nothing, a word. */
        text = g_strdup_printf (_ ("%s%s Answer it with “quotes answer %s "
                                   "%s%s=…”."),
                                place, qm_ask_text (ask), number,
                                place[0] != '\0' ? _ ("LINE:") : "",
                                qm_ask_name (ask));
      else
        text = g_strconcat (place, qm_ask_text (ask), NULL);
      qm_cli_append_paragraph (out, screen, QM_CLI_BAD, "? ", 2, text);
    }
}

/* Asks which GPU a line is about, where it may be one of several. */
static void
append_which (const QmQuote *quote,
              guint index,
              GString *out,
              const QmCliScreen *screen)
{
  const QmQuoteLine *line = g_ptr_array_index (quote->lines, index);
  g_auto (GStrv) ids = NULL;
  g_autofree char *all = NULL;
  g_autofree char *number = g_strdup_printf ("%" G_GINT64_FORMAT, quote->id);
  g_autofree char *text = NULL;

  if (line->match != QM_MATCH_AMBIGUOUS || line->candidates == NULL)
    return;
  ids = g_strsplit (line->candidates, ";", 0);
  all = g_strjoinv (", ", ids);
  if (quote->id != 0)
    /* Translators: a number, ids of GPUs, the number of a quote, the first
     * number again. */
    text = g_strdup_printf (_ ("Line %u may be one of %s, and does not count "
                               "until you say which: “quotes answer %s "
                               "%u:item=ID”"),
                            index + 1, all, number, index + 1);
  else
    /* Translators: a number, ids of GPUs, the number again. */
    text = g_strdup_printf (_ ("Line %u may be one of %s, and does not count "
                               "until you say which: --item %u=ID"),
                            index + 1, all, index + 1);
  qm_cli_append_paragraph (out, screen, QM_CLI_BAD, "? ", 2, text);
}

/* What the user is asked. */
static void
append_questions (const QmQuote *quote, GString *out, const QmCliScreen *screen)
{
  if (qm_quote_n_open (quote) > 0)
    g_string_append_c (out, '\n');
  append_asks ("", qm_quote_open (quote), quote->id, out, screen);
  for (guint i = 0; i < quote->lines->len && i < LINES_SHOWN; i++)
    {
      g_autofree char *place =
          /* Translators: a number. */
          g_strdup_printf (_ ("Line %u does not count yet. "), i + 1);

      append_asks (place,
                   qm_quote_line_open (g_ptr_array_index (quote->lines, i)),
                   quote->id, out, screen);
      append_which (quote, i, out, screen);
    }
}

static void
append_findings (const QmQuote *quote, GString *out, const QmCliScreen *screen)
{
  if (quote->findings->len > 0)
    g_string_append_c (out, '\n');
  for (guint i = 0; i < quote->findings->len && i < FINDINGS_SHOWN; i++)
    {
      const QmFinding *finding = g_ptr_array_index (quote->findings, i);
      gboolean warns = finding->level == QM_FINDING_WARNING;
      g_autofree char *text =
          finding->place != NULL
              ? g_strdup_printf ("%s: %s", finding->place, finding->message)
              : g_strdup (finding->message);

      qm_cli_append_paragraph (out, screen, warns ? QM_CLI_BAD : QM_CLI_PLAIN,
                               warns ? "! " : "- ", 2, text);
    }
  if (quote->findings->len > FINDINGS_SHOWN)
    {
      g_string_append_printf (out, _ ("… and %u findings more"),
                              quote->findings->len - FINDINGS_SHOWN);
      g_string_append_c (out, '\n');
    }
}

/* "Quote Q-17 of Delta Computers".  (transfer full) */
static char *
title_of (const QmQuote *quote)
{
  const char *vendor =
      quote->vendor != NULL ? quote->vendor : _ ("an unnamed vendor");

  if (quote->number == NULL)
    /* Translators: a vendor. */
    return g_strdup_printf (_ ("Quote of %s"), vendor);
  /* Translators: the number of a quote, a vendor. */
  return g_strdup_printf (_ ("Quote %s of %s"), quote->number, vendor);
}

/* "until 2026-12-31", and whether that is over.  (transfer full) */
static char *
validity_of (const QmQuote *quote)
{
  g_autofree char *from = qm_cli_date_text (quote->valid_from);
  g_autofree char *until = qm_cli_date_text (quote->valid_until);
  g_autofree char *text = NULL;

  if (from == NULL && until == NULL)
    return NULL;
  if (from == NULL)
    /* Translators: a date. */
    text = g_strdup_printf (_ ("until %s"), until);
  else if (until == NULL)
    /* Translators: a date. */
    text = g_strdup_printf (_ ("from %s"), from);
  else
    /* Translators: two dates. */
    text = g_strdup_printf (_ ("%s to %s"), from, until);
  if (qm_cli_quote_holds (quote, qm_date_today ()))
    return g_steal_pointer (&text);
  /* Translators: "until 2026-03-31". */
  return g_strdup_printf (_ ("%s, not today"), text);
}

void
qm_cli_quote_append (const QmQuote *quote,
                     QmRates *rates,
                     GString *out,
                     const QmCliScreen *screen)
{
  g_autofree char *title = title_of (quote);
  g_autofree char *issued = qm_cli_date_text (quote->issued_on);
  g_autofree char *valid = validity_of (quote);

  qm_cli_append_paragraph (out, screen, QM_CLI_STRONG, "", 0, title);
  append_field (out, screen, _ ("Alternative"), quote->alternative);
  append_field (out, screen, _ ("Replaces quote"), quote->supersedes);
  append_field (out, screen, _ ("Issued"),
                issued != NULL ? issued : _ ("not told: undated"));
  append_field (out, screen, _ ("Valid"), valid);
  append_field (out, screen, _ ("Currency"), quote->currency);
  if (quote->tax_included != QM_UNSTATED)
    append_field (out, screen, _ ("Prices"),
                  quote->tax_included == QM_YES ? _ ("with tax")
                                                : _ ("without tax"));
  else if (qm_quote_tax_is_untold (quote))
    append_field (out, screen, _ ("Prices"),
                  _ ("with or without tax is not told: taken as without"));
  if (quote->unit == QM_PRICE_HOUR)
    append_field (out, screen, _ ("Rent"), _ ("by the hour"));
  append_field (out, screen, _ ("Read from"), quote->source);
  append_field (out, screen, _ ("Note"), quote->note);
  append_lines (quote, out, screen);
  append_totals (quote, rates, out, screen);
  append_questions (quote, out, screen);
  append_findings (quote, out, screen);
}
