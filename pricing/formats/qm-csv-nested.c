/* SPDX-License-Identifier: Apache-2.0 */

/* Lines 1.1 and 1.2 that tell what line 1 is made of. */

#include "config.h"

#include "pricing/formats/qm-csv-draft.h"

#include "pricing/quotes/qm-quote-totals.h"

#include <string.h>

/* The bytes of a line's number without a point, or ".0", at its end. */
static gsize
number_length (const char *number)
{
  gsize n = strlen (number);

  if (n > 2 && strcmp (number + n - 2, ".0") == 0)
    n -= 2;
  while (n > 0 && strchr (". ", number[n - 1]) != NULL)
    n--;
  return n;
}

/* Whether a line is below another by its number: 2.1 below 2. */
static gboolean
is_below (const QmQuoteLine *line, const QmQuoteLine *parent)
{
  gsize n = number_length (parent->number);

  return line->number != NULL && n > 0
         && strncmp (line->number, parent->number, n) == 0
         && line->number[n] != '\0' && strchr (".,-", line->number[n]) != NULL
         && g_ascii_isalnum (line->number[n + 1]);
}

/* The lines below one that are numbered so: the index behind the last of them.
 * sum: what those of them that count cost. */
static guint
sum_below (const QmQuote *quote, guint parent, gint64 *sum)
{
  guint i = parent + 1;

  *sum = 0;
  for (; i < quote->lines->len; i++)
    {
      const QmQuoteLine *line = qm_quote_line_at (quote, i);
      gint64 cost = qm_quote_line_cost (quote, line);

      if (!is_below (line, qm_quote_line_at (quote, parent)))
        break;
      if (line->role == QM_LINE_QUOTED && cost != QM_AMOUNT_UNSTATED
          && __builtin_add_overflow (*sum, cost, sum))
        return parent;
    }
  return i;
}

static gboolean
is_near (gint64 a, gint64 b, guint n_lines)
{
  gint64 difference;

  return a != QM_AMOUNT_UNSTATED && !__builtin_sub_overflow (a, b, &difference)
         && ABS (difference) <= (gint64) n_lines;
}

/* What one piece of a line costs. */
static gint64
cost_of_one (const QmQuote *quote, const QmQuoteLine *line)
{
  QmQuoteLine one = *line;

  if (line->quantity_micros == QM_AMOUNT_UNSTATED
      || line->quantity_micros == QM_MICROS_PER_UNIT)
    return qm_quote_line_cost (quote, line);
  one.quantity_micros = one.base_quantity_micros;
  one.total_minor = QM_AMOUNT_UNSTATED;
  return qm_quote_line_cost (quote, &one);
}

/* Whether whole pieces of each of some lines go into one of several. */
static gboolean
can_divide (const QmQuote *quote, guint first, guint end, gint64 pieces)
{
  for (guint i = first; i < end; i++)
    {
      gint64 quantity = qm_quote_line_at (quote, i)->quantity_micros;

      if (quantity != QM_AMOUNT_UNSTATED
          && quantity % (pieces * QM_MICROS_PER_UNIT) != 0)
        return FALSE;
    }
  return TRUE;
}

static void
set_parts (QmQuote *quote, guint first, guint end, gint64 pieces)
{
  for (guint i = first; i < end; i++)
    {
      QmQuoteLine *line = g_ptr_array_index (quote->lines, i);

      if (line->role == QM_LINE_QUOTED)
        line->role = QM_LINE_PART;
      if (pieces > 1 && line->quantity_micros != QM_AMOUNT_UNSTATED)
        line->quantity_micros /= pieces;
      if (pieces > 1 && line->total_minor != QM_AMOUNT_UNSTATED)
        line->total_minor = line->total_minor % pieces == 0
                                ? line->total_minor / pieces
                                : QM_AMOUNT_UNSTATED;
    }
}

gboolean
qm_csv_nest (QmQuote *quote)
{
  gboolean any = FALSE;

  /* From the end, so that parts that are made of others are found. */
  for (guint i = quote->lines->len; i > 0; i--)
    {
      const QmQuoteLine *parent = qm_quote_line_at (quote, i - 1);
      gint64 pieces = parent->quantity_micros / QM_MICROS_PER_UNIT, sum;
      guint end;

      if (parent->number == NULL || parent->role != QM_LINE_QUOTED)
        continue;
      end = sum_below (quote, i - 1, &sum);
      if (end <= i || sum <= 0)
        continue;
      if (is_near (cost_of_one (quote, parent), sum, end - i))
        pieces = 1;
      else if (!is_near (qm_quote_line_cost (quote, parent), sum, end - i)
               || pieces < 1
               || parent->quantity_micros % QM_MICROS_PER_UNIT != 0
               || !can_divide (quote, i, end, pieces))
        continue;
      set_parts (quote, i, end, pieces);
      any = TRUE;
    }
  return any;
}
