/* SPDX-License-Identifier: Apache-2.0 */

/* What the user is asked about a quote, and the answers. */

#include "config.h"

#include "pricing/quotes/qm-quote.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* No unit has more GPUs. */
#define MAX_GPUS 1024

static const char *const ask_names[QM_N_ASKS] = {
  "rent", "pack", "price", "date", "validity", "revision", "totals"
};

void
qm_quote_line_ask (QmQuoteLine *line, QmAsk ask)
{
  g_return_if_fail (line != NULL && (ask & ~QM_ASKS_OF_LINE) == 0);

  line->asked |= ask;
}

void
qm_quote_ask (QmQuote *quote, QmAsk ask)
{
  g_return_if_fail (quote != NULL && (ask & ~QM_ASKS_OF_QUOTE) == 0);

  quote->asked |= ask;
}

guint
qm_quote_line_open (const QmQuoteLine *line)
{
  g_return_val_if_fail (line != NULL, 0);

  return line->asked & ~line->answered;
}

guint
qm_quote_open (const QmQuote *quote)
{
  g_return_val_if_fail (quote != NULL, 0);

  return quote->asked & ~quote->answered;
}

static guint
count (guint asks)
{
  guint n = 0;

  for (; asks != 0; asks &= asks - 1)
    n++;
  return n;
}

guint
qm_quote_n_open (const QmQuote *quote)
{
  guint n = count (qm_quote_open (quote));

  for (guint i = 0; i < quote->lines->len; i++)
    n += count (qm_quote_line_open (g_ptr_array_index (quote->lines, i)));
  return n;
}

gboolean
qm_quote_line_answer (QmQuoteLine *line, QmAsk ask, int number)
{
  g_return_val_if_fail (line != NULL && (ask & ~QM_ASKS_OF_LINE) == 0, FALSE);

  switch (ask)
    {
    case QM_ASK_RENT:
      if (number != 0 && number != 1)
        return FALSE;
      if (number == 1)
        line->thing = QM_THING_RENT;
      else if (line->thing == QM_THING_RENT)
        line->thing = QM_THING_UNSTATED;
      break;
    case QM_ASK_PACK:
      if (number < 1 || number > MAX_GPUS)
        return FALSE;
      line->gpus = number;
      if (number > 1 && line->thing == QM_THING_UNSTATED)
        line->thing = QM_THING_GPU;
      break;
    default:
      break;
    }
  line->asked |= ask;
  line->answered |= ask;
  return TRUE;
}

void
qm_quote_answer (QmQuote *quote, QmAsk ask)
{
  g_return_if_fail (quote != NULL && (ask & ~QM_ASKS_OF_QUOTE) == 0);

  quote->asked |= ask;
  quote->answered |= ask;
}

gboolean
qm_quote_is_undated (const QmQuote *quote)
{
  g_return_val_if_fail (quote != NULL, TRUE);

  return (quote->issued_on.year == 0 && quote->valid_from.year == 0)
         || (qm_quote_open (quote) & (QM_ASK_DATE | QM_ASK_VALIDITY)) != 0;
}

char *
qm_asks_to_text (guint asks)
{
  GString *text = NULL;

  for (guint i = 0; i < QM_N_ASKS; i++)
    if ((asks & (1u << i)) != 0)
      {
        if (text == NULL)
          text = g_string_new (ask_names[i]);
        else
          g_string_append_printf (text, ";%s", ask_names[i]);
      }
  return text != NULL ? g_string_free (text, FALSE) : NULL;
}

/* The number of a question with this name; -1: there is none. */
static int
find_ask (const char *name)
{
  for (int i = 0; i < QM_N_ASKS; i++)
    if (strcmp (name, ask_names[i]) == 0)
      return i;
  return -1;
}

gboolean
qm_asks_from_text (const char *text, guint *asks)
{
  g_auto (GStrv) names = g_strsplit (text != NULL ? text : "", ";", -1);
  guint set = 0;

  g_return_val_if_fail (asks != NULL, FALSE);

  for (guint i = 0; names[i] != NULL; i++)
    {
      int ask = find_ask (names[i]);

      if (ask < 0)
        return FALSE;
      set |= 1u << ask;
    }
  *asks = set;
  return TRUE;
}

const char *
qm_ask_text (QmAsk ask)
{
  switch (ask)
    {
    case QM_ASK_RENT:
      return _ ("Is it a rent?");
    case QM_ASK_PACK:
      return _ ("How many GPUs is the price for?");
    case QM_ASK_PRICE:
      return _ ("The price is far from every known one. Is it right?");
    case QM_ASK_DATE:
      return _ ("On which day was it issued?");
    case QM_ASK_VALIDITY:
      return _ ("Until when does it hold?");
    case QM_ASK_TOTALS:
      return _ (
          "Its amounts contradict each other. Is what it comes to right?");
    case QM_ASK_REVISION:
    default:
      return _ ("Is it a revision of the other quote?");
    }
}

const char *
qm_ask_name (QmAsk ask)
{
  for (int i = 0; i < QM_N_ASKS; i++)
    if ((guint) ask == 1u << i)
      return ask_names[i];
  return "";
}
