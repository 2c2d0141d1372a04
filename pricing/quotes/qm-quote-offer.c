/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/quotes/qm-quote-offer.h"

#include "pricing/qm-amount.h"
#include "pricing/qm-exact.h"
#include "pricing/quotes/qm-line-thing.h"
#include "pricing/quotes/qm-quote-totals.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* No quote is of more pieces, and no machine has more GPUs. */
#define MAX_PIECES 1000000
#define MAX_GPUS   1024

/* A line that counts, as far as it matters here. */
typedef struct
{
  guint index;
  QmLineThing thing;
  const char *gpu; /* NULL: none in it */
  int gpus;        /* of it in one piece */
  gint64 pieces;   /* 0: not a whole number */
  gint64 cost;     /* QM_AMOUNT_UNSTATED: not told */
  gboolean open;   /* a question about it is */
} Good;

/* A quote, or a variant of it. */
typedef struct
{
  const QmCatalog *catalog;
  const QmQuote *quote;
  GArray *goods;  /* of Good */
  gint64 net;     /* what the quote comes to, and its tax: see */
  gint64 tax;     /* qm_quote_come_to() */
  gboolean taxed; /* the net amount contains tax */
  int instead;    /* the index of the line that makes the variant; -1: none */
  GArray *offers;
  GArray *left_out; /* NULL: nobody asks */
} Reader;

/* What a line costs: where it tells no quantity, what its price says. */
static gint64
cost_of_one_or_more (const QmQuote *quote, const QmQuoteLine *line)
{
  QmQuoteLine one = *line;

  if (one.quantity_micros == QM_AMOUNT_UNSTATED)
    one.quantity_micros = one.base_quantity_micros;
  return qm_quote_line_cost (quote, &one);
}

/* How many pieces a line has; 0 where that is no whole number. */
static gint64
pieces_of (const QmQuoteLine *line)
{
  gint64 micros = line->quantity_micros != QM_AMOUNT_UNSTATED
                      ? line->quantity_micros
                      : line->base_quantity_micros;

  if (micros <= 0 || micros % QM_MICROS_PER_UNIT != 0
      || micros / QM_MICROS_PER_UNIT > MAX_PIECES)
    return 0;
  return micros / QM_MICROS_PER_UNIT;
}

/* The GPU type of the parts of a line and how many of it there are in one
 * piece; NULL where they name none, or several. */
static const char *
gpu_of_parts (const Reader *reader, guint index, int *gpus)
{
  const GPtrArray *lines = reader->quote->lines;
  const char *gpu = NULL;
  gint64 n = 0;

  for (guint i = index + 1; i < lines->len; i++)
    {
      const QmQuoteLine *part = g_ptr_array_index (lines, i);

      if (part->role != QM_LINE_PART)
        break;
      if (part->item == NULL
          || qm_catalog_gpu (reader->catalog, part->item) == NULL)
        continue;
      if (gpu != NULL && strcmp (gpu, part->item) != 0)
        return NULL;
      gpu = part->item;
      n += MAX (part->gpus, 1) * CLAMP (pieces_of (part), 1, MAX_GPUS);
    }
  *gpus = (int) MIN (n, MAX_GPUS);
  return gpu;
}

/* Whether a question about a line or one of its parts is open, also which GPU
 * it is. */
static gboolean
is_open (const QmQuote *quote, guint index)
{
  gboolean open = FALSE;
  guint i = index;

  do
    {
      const QmQuoteLine *line = qm_quote_line_at (quote, i);

      open = open || qm_quote_line_open (line) != 0
             || line->match == QM_MATCH_AMBIGUOUS;
      i++;
    }
  while (i < quote->lines->len
         && qm_quote_line_at (quote, i)->role == QM_LINE_PART);
  return open;
}

/* Whether it is not clear which GPU a line or one of its parts is. */
static gboolean
is_ambiguous (const QmQuote *quote, guint index)
{
  guint i = index;

  do
    if (qm_quote_line_at (quote, i)->match == QM_MATCH_AMBIGUOUS)
      return TRUE;
  while (++i < quote->lines->len
         && qm_quote_line_at (quote, i)->role == QM_LINE_PART);
  return FALSE;
}

static Good
read_good (const Reader *reader, guint index)
{
  const QmQuoteLine *line = qm_quote_line_at (reader->quote, index);
  gboolean matched = line->item != NULL && line->match != QM_MATCH_AMBIGUOUS
                     && qm_catalog_gpu (reader->catalog, line->item) != NULL;
  Good good = { .index = index,
                .thing = qm_line_thing (reader->catalog, line),
                .pieces = pieces_of (line),
                .cost = cost_of_one_or_more (reader->quote, line),
                .open = is_open (reader->quote, index) };

  if (matched)
    {
      good.gpu = line->item;
      good.gpus = CLAMP (line->gpus, 1, MAX_GPUS);
    }
  else
    {
      good.gpu = gpu_of_parts (reader, index, &good.gpus);
      if (good.gpu != NULL && line->thing == QM_THING_UNSTATED)
        good.thing = QM_THING_MACHINE;
    }
  if (good.thing != QM_THING_MACHINE && good.thing != QM_THING_GPU)
    good.gpu = NULL;
  return good;
}

static const Good *
good_at (const Reader *reader, guint i)
{
  return &g_array_index (reader->goods, Good, i);
}

static void
leave_out (const Reader *reader, guint line, const char *reason)
{
  QmQuoteOmission omission = { line, NULL };

  if (reader->left_out == NULL)
    return;
  omission.reason = g_strdup (reason);
  g_array_append_val (reader->left_out, omission);
}

static void
omission_clear (gpointer data)
{
  QmQuoteOmission *omission = data;

  g_free (omission->reason);
}

/* amount x part / whole; QM_AMOUNT_UNSTATED where there is none. */
static gint64
share_of (gint64 amount, gint64 part, gint64 whole)
{
  gint64 share;

  if (!qm_amount_is_stated (amount) || part < 0 || whole <= 0
      || !qm_exact_scale (amount, part, whole, &share))
    return QM_AMOUNT_UNSTATED;
  return share;
}

/* Adds an offer that has `part` of `whole`. */
static void
add_offer (const Reader *reader, QmQuoteOffer offer, gint64 part, gint64 whole)
{
  offer.variant = reader->instead >= 0;
  offer.net_minor = share_of (reader->net, part, whole);
  offer.tax_minor = share_of (reader->tax, part, whole);
  offer.taxed = reader->taxed;
  if (offer.pieces <= 0)
    leave_out (reader, offer.line,
               _ ("the quote tells no whole number of pieces"));
  else if (!qm_amount_is_stated (offer.net_minor) || offer.net_minor <= 0)
    leave_out (reader, offer.line, _ ("the quote tells no price of one"));
  else
    g_array_append_val (reader->offers, offer);
}

/* --- a quote of one machine, or several that are alike --- */

/* The goods of a quote at a glance. */
typedef struct
{
  const char *gpu; /* of all GPUs; NULL: none, or of several types */
  gint64 gpus;
  guint n_types;        /* 0, 1, 2: more than one */
  guint n_machines;     /* lines that are machines ... */
  guint n_with_gpus;    /* ... with GPUs in them ... */
  const Good *machine;  /* ... the last one, or the last with GPUs */
  const Good *gpu_line; /* the first with a GPU */
  gboolean open;
} Glance;

static void
look_at_good (const Good *good, Glance *glance)
{
  if (good->gpu != NULL)
    {
      if (glance->gpu_line == NULL)
        glance->gpu_line = good;
      if (glance->n_types == 0)
        glance->gpu = good->gpu;
      else if (glance->gpu == NULL || strcmp (glance->gpu, good->gpu) != 0)
        glance->gpu = NULL;
      glance->n_types = glance->gpu != NULL ? 1 : 2;
      glance->gpus += good->gpus * good->pieces;
    }
  if (good->thing == QM_THING_MACHINE)
    {
      glance->n_machines++;
      glance->n_with_gpus += good->gpu != NULL;
      if (good->gpu != NULL || glance->n_with_gpus == 0)
        glance->machine = good;
    }
  glance->open = glance->open || good->open;
}

static Glance
glance_at (const Reader *reader)
{
  Glance glance = { 0 };

  for (guint i = 0; i < reader->goods->len; i++)
    look_at_good (good_at (reader, i), &glance);
  return glance;
}

/* Whether there is a processor: what makes a machine of parts. */
static gboolean
has_processor (const Reader *reader)
{
  for (guint i = 0; i < reader->goods->len; i++)
    if (good_at (reader, i)->thing == QM_THING_PART
        && qm_line_is_processor (
            qm_quote_line_at (reader->quote, good_at (reader, i)->index)))
      return TRUE;
  return FALSE;
}

/* How many machines the chassis of a quote are for; 1 where it has none. */
static gint64
count_shells (const Reader *reader)
{
  for (guint i = 0; i < reader->goods->len; i++)
    if (good_at (reader, i)->thing == QM_THING_PART
        && qm_line_is_shell (
            qm_quote_line_at (reader->quote, good_at (reader, i)->index)))
      return good_at (reader, i)->pieces;
  return 1;
}

static gboolean
any_names_desktop (const Reader *reader)
{
  for (guint i = 0; i < reader->goods->len; i++)
    if (qm_line_names_desktop (
            qm_quote_line_at (reader->quote, good_at (reader, i)->index)))
      return TRUE;
  return FALSE;
}

/* Reads a quote as that of a machine of the catalog without GPUs.  FALSE: it is
 * none. */
static gboolean
read_as_empty_machine (const Reader *reader, const Glance *glance)
{
  QmQuoteOffer offer = { 0 };

  if (glance->n_types != 0 || glance->n_machines != 1 || glance->open)
    return FALSE;
  offer.line = glance->machine->index;
  offer.item = qm_quote_line_at (reader->quote, offer.line)->item;
  offer.pieces = glance->machine->pieces;
  if (offer.item == NULL)
    return FALSE;
  add_offer (reader, offer, 1, 1);
  return TRUE;
}

/* Reads a quote as that of a machine.  FALSE: it is none, and its lines are to
 * be read one by one. */
static gboolean
read_as_machine (const Reader *reader)
{
  const Glance glance = glance_at (reader);
  QmQuoteOffer offer = { 0 };
  gint64 machines;

  if (glance.n_types != 1 || glance.n_with_gpus > 1
      || (glance.machine == NULL && !has_processor (reader)))
    return read_as_empty_machine (reader, &glance);
  offer.line =
      glance.machine != NULL ? glance.machine->index : glance.gpu_line->index;
  if (glance.n_machines > 1 && glance.n_with_gpus == 0)
    {
      leave_out (reader, offer.line,
                 _ ("the quote has several machines; say which of its lines "
                    "are parts"));
      return TRUE;
    }
  machines =
      glance.machine != NULL ? glance.machine->pieces : count_shells (reader);
  offer.item = glance.gpu;
  offer.pieces = machines;
  if (machines > 0 && glance.gpus % machines == 0
      && glance.gpus / machines <= MAX_GPUS)
    offer.gpus = (int) (glance.gpus / machines);
  offer.desktop = any_names_desktop (reader);
  if (glance.open)
    leave_out (reader, offer.line, _ ("a question about it is open"));
  else if (offer.gpus == 0)
    leave_out (reader, offer.line,
               _ ("its GPUs cannot be shared evenly among its machines"));
  else
    add_offer (reader, offer, 1, 1);
  return TRUE;
}

/* --- what the quote comes to --- */

/* The sum of its lines that are bought, with those of which the cost is known;
 * *all: whether that is all of them. */
static gint64
sum_lines (const QmQuote *quote, gboolean *all)
{
  gint64 sum = 0;

  *all = TRUE;
  for (guint i = 0; i < quote->lines->len; i++)
    {
      const QmQuoteLine *line = qm_quote_line_at (quote, i);
      gint64 cost = cost_of_one_or_more (quote, line);

      if (line->role != QM_LINE_QUOTED)
        continue;
      if (!qm_amount_is_stated (cost))
        *all = FALSE;
      else if (!qm_exact_add (&sum, cost))
        return QM_AMOUNT_UNSTATED;
    }
  return sum;
}

/* a + b - c; unstated where one is, or where it is too large. */
static gint64
add_and_take (gint64 a, gint64 b, gint64 c)
{
  if (!qm_amount_is_stated (a) || !qm_exact_add (&a, b)
      || !qm_exact_add (&a, -c))
    return QM_AMOUNT_UNSTATED;
  return a;
}

/* Lines - discount + charges.  Where a line tells no price, the document's own
 * sum of them serves. */
static gint64
compute (const QmQuote *quote)
{
  gboolean all;
  gint64 sum = sum_lines (quote, &all);

  if (!all && qm_amount_is_stated (quote->net_minor) && quote->net_minor > sum)
    sum = quote->net_minor;
  return add_and_take (sum, qm_amount_or_nothing (quote->charge_minor),
                       qm_amount_or_nothing (quote->discount_minor));
}

/* Of prices without tax: what is to be paid less the tax, as the document says
 * it.  What it says is to be paid may contain tax that it does not tell, and is
 * then no less than the lines come to. */
static gint64
net_of_document (const QmQuote *quote, gint64 computed)
{
  gint64 payable = quote->payable_minor;

  if (!qm_amount_is_stated (payable) || payable <= 0
      || (quote->tax_included == QM_NO && payable == computed))
    return computed;
  if (qm_amount_is_stated (quote->tax_minor) && quote->tax_minor >= 0
      && quote->tax_minor < payable)
    {
      gint64 net = payable - quote->tax_minor;

      /* What is to be paid may have been made a round amount. */
      return qm_amount_is_stated (quote->net_minor)
                     && ABS (net - quote->net_minor) <= 5
                 ? quote->net_minor
                 : net;
    }
  return qm_amount_is_stated (computed) && payable >= computed ? computed
                                                               : payable;
}

/* Whether the net amount is but a sum before charges and discounts of the whole
 * quote, which come to what is to be paid: the tax is in both. */
static gboolean
is_subtotal (const QmQuote *quote, gint64 payable)
{
  gint64 after = add_and_take (quote->net_minor,
                               qm_amount_or_nothing (quote->charge_minor),
                               qm_amount_or_nothing (quote->discount_minor));

  return qm_amount_is_stated (after)
         && ABS (after - payable) <= (gint64) quote->lines->len;
}

gboolean
qm_quote_tax_is_untold (const QmQuote *quote)
{
  g_return_val_if_fail (quote != NULL, FALSE);

  return quote->tax_included == QM_UNSTATED
         && !qm_amount_is_stated (quote->tax_minor)
         && !qm_amount_is_stated (quote->net_minor);
}

void
qm_quote_come_to (const QmQuote *quote,
                  gint64 *net_minor,
                  gint64 *tax_minor,
                  gboolean *taxed)
{
  gint64 computed, gross;

  g_return_if_fail (quote != NULL && net_minor != NULL && tax_minor != NULL
                    && taxed != NULL);

  computed = compute (quote);
  *tax_minor = quote->tax_minor >= 0 ? quote->tax_minor : QM_AMOUNT_UNSTATED;
  *taxed = FALSE;
  if (quote->tax_included != QM_YES)
    {
      *net_minor = net_of_document (quote, computed);
      return;
    }
  gross = qm_amount_is_stated (quote->payable_minor) && quote->payable_minor > 0
              ? quote->payable_minor
              : computed;
  *net_minor = gross;
  if (!qm_amount_is_stated (*tax_minor)
      && qm_amount_is_stated (quote->net_minor) && quote->net_minor > 0
      && quote->net_minor < gross && gross == quote->payable_minor
      && !is_subtotal (quote, gross))
    *tax_minor = gross - quote->net_minor;
  if (qm_amount_is_stated (gross) && qm_amount_is_stated (*tax_minor)
      && *tax_minor < gross)
    *net_minor = gross - *tax_minor;
  else
    *taxed = TRUE;
}

/* --- line by line --- */

/* Whether two amounts are so near that a discount or a charge that was not
 * understood may explain it: a tenth. */
static gboolean
are_near (gint64 amount, gint64 other)
{
  return ABS (amount - other) <= ABS (other) / 10;
}

/* Whether what a quote comes to may be shared among its lines: not where they
 * come to something else by far, as where it offers one or the other. */
static gboolean
lines_add_up (const QmQuote *quote)
{
  gint64 computed = compute (quote);
  gint64 net, tax;
  gboolean taxed;

  qm_quote_come_to (quote, &net, &tax, &taxed);
  return !qm_amount_is_stated (net) || !qm_amount_is_stated (computed)
         || are_near (net, computed)
         || (qm_amount_is_stated (tax) && are_near (net + tax, computed));
}

/* What a line takes off is shared as a discount is. */
static gboolean
is_shared (const Good *good)
{
  return good->thing == QM_THING_SERVICE || good->thing == QM_THING_SHIPPING
         || (qm_amount_is_stated (good->cost) && good->cost < 0);
}

/* What all goods cost among which the quote is shared. */
static gint64
sum_goods (const Reader *reader)
{
  gint64 sum = 0;

  for (guint i = 0; i < reader->goods->len; i++)
    {
      const Good *good = good_at (reader, i);

      if (!is_shared (good) && qm_amount_is_stated (good->cost)
          && !qm_exact_add (&sum, good->cost))
        return 0;
    }
  return sum;
}

static void
read_good_alone (const Reader *reader, const Good *good, gint64 sum)
{
  const QmQuoteLine *line = qm_quote_line_at (reader->quote, good->index);
  gboolean whole = good->gpu != NULL && good->thing == QM_THING_MACHINE;
  QmQuoteOffer offer = { .line = good->index,
                         .item = good->gpu != NULL ? good->gpu : line->item,
                         .gpus = whole ? good->gpus : 0,
                         .desktop = whole && qm_line_names_desktop (line),
                         .board = !whole && good->gpus > 1,
                         .pieces = good->pieces };

  if (!is_ambiguous (reader->quote, good->index)
      && (offer.item == NULL
          || (good->gpu == NULL && good->thing != QM_THING_MACHINE)))
    return;
  if (good->gpu != NULL && !whole)
    offer.pieces *= good->gpus;
  if (good->open)
    leave_out (reader, good->index, _ ("a question about it is open"));
  else if (!qm_amount_is_stated (good->cost))
    leave_out (reader, good->index, _ ("the quote tells no price of one"));
  else if (!lines_add_up (reader->quote))
    leave_out (reader, good->index,
               _ ("the lines of the quote come to something else than it says; "
                  "say which of them are options"));
  else
    add_offer (reader, offer, good->cost, sum);
}

/* Whether an offer has to do with the line that makes a variant. */
static gboolean
is_of_variant (const Reader *reader, const Good *good)
{
  return reader->instead < 0 || good->index == (guint) reader->instead;
}

static void
read_lines (const Reader *reader)
{
  gint64 sum = sum_goods (reader);

  for (guint i = 0; i < reader->goods->len; i++)
    if (is_of_variant (reader, good_at (reader, i)))
      read_good_alone (reader, good_at (reader, i), sum);
}

/* --- variants --- */

/* Takes an amount off what the quote comes to, or adds it, in prices of
 * lines. */
static void
change_by (Reader *reader, gint64 amount)
{
  gint64 before = reader->net;
  gint64 gross;

  if (!qm_amount_is_stated (before) || before <= 0)
    return;
  if (reader->quote->tax_included == QM_YES && qm_amount_is_stated (reader->tax)
      && (gross = add_and_take (before, reader->tax, 0)) > 0
      && !qm_exact_scale (amount, before, gross, &amount))
    amount = 0;
  reader->net = add_and_take (before, amount, 0);
  if (qm_amount_is_stated (reader->tax) && reader->net > 0
      && !qm_exact_scale (reader->tax, reader->net, before, &reader->tax))
    reader->tax = QM_AMOUNT_UNSTATED;
}

/* Whether a line names GPUs that are for nothing: what somebody has already, or
 * lends. */
static gboolean
is_for_nothing (const Good *good)
{
  return good->gpu != NULL && good->cost == 0;
}

/* Leaves out GPUs that cost nothing beside others that are bought; not those of
 * a type that is, of which some may come on top, nor where none has a price of
 * its own. */
static void
drop_for_nothing (const Reader *reader)
{
  g_autoptr (GHashTable) bought = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < reader->goods->len; i++)
    if (good_at (reader, i)->gpu != NULL
        && !is_for_nothing (good_at (reader, i)))
      g_hash_table_add (bought, (gpointer) good_at (reader, i)->gpu);
  for (guint i = reader->goods->len; i > 0; i--)
    {
      const Good *good = good_at (reader, i - 1);

      if (!is_for_nothing (good) || g_hash_table_size (bought) == 0
          || g_hash_table_contains (bought, good->gpu))
        continue;
      if (reader->instead < 0)
        leave_out (reader, good->index, _ ("it costs nothing"));
      g_array_remove_index (reader->goods, i - 1);
    }
}

/* Reads the lines that count, with `instead` in place of `base` where that is
 * not negative. */
static void
read_variant (Reader *reader, int base, int instead)
{
  const QmQuote *quote = reader->quote;
  g_autoptr (GArray) goods = g_array_new (FALSE, FALSE, sizeof (Good));

  qm_quote_come_to (quote, &reader->net, &reader->tax, &reader->taxed);
  reader->goods = goods;
  reader->instead = instead;
  for (guint i = 0; i < quote->lines->len; i++)
    {
      guint index = (int) i == base ? (guint) instead : i;
      Good good;

      if (qm_quote_line_at (quote, i)->role != QM_LINE_QUOTED)
        continue;
      good = read_good (reader, index);
      if (index != i)
        change_by (reader,
                   add_and_take (good.cost, 0,
                                 cost_of_one_or_more (
                                     quote, qm_quote_line_at (quote, i))));
      if (good.thing == QM_THING_RENT)
        change_by (reader, -qm_amount_or_nothing (good.cost));
      else
        g_array_append_val (goods, good);
    }
  drop_for_nothing (reader);
  if (!read_as_machine (reader))
    read_lines (reader);
}

/* Whether a line has to do with the GPUs or machines of a quote, so that
 * another one in its place makes another offer. */
static gboolean
matters (const Reader *reader, guint index)
{
  Good good = read_good (reader, index);

  return good.gpu != NULL || good.thing == QM_THING_MACHINE;
}

static void
read_variants (Reader *reader)
{
  const QmQuote *quote = reader->quote;
  int base = -1;

  for (guint i = 0; i < quote->lines->len; i++)
    {
      const QmQuoteLine *line = qm_quote_line_at (quote, i);

      if (line->role == QM_LINE_QUOTED)
        base = (int) i;
      if ((line->role != QM_LINE_SUBSTITUTE
           && line->role != QM_LINE_ALTERNATIVE)
          || base < 0 || !matters (reader, i))
        continue;
      if (qm_amount_is_stated (cost_of_one_or_more (quote, line))
          && qm_amount_is_stated (cost_of_one_or_more (
              quote, qm_quote_line_at (quote, (guint) base))))
        read_variant (reader, base, (int) i);
      else
        leave_out (reader, i, _ ("the quote tells no price of one"));
    }
}

/* The first line that names something of the catalog; -1: there is none, as in
 * most quotes of a large store. */
static int
find_named (const QmQuote *quote)
{
  for (guint i = 0; i < quote->lines->len; i++)
    if (qm_quote_line_at (quote, i)->item != NULL
        || qm_quote_line_at (quote, i)->match == QM_MATCH_AMBIGUOUS)
      return (int) i;
  return -1;
}

GArray *
qm_quote_offers (const QmCatalog *catalog,
                 const QmQuote *quote,
                 GArray **left_out)
{
  Reader reader = { .catalog = catalog, .quote = quote };
  int named;

  g_return_val_if_fail (catalog != NULL && quote != NULL, NULL);

  reader.offers = g_array_new (FALSE, FALSE, sizeof (QmQuoteOffer));
  if (left_out != NULL)
    {
      *left_out = g_array_new (FALSE, FALSE, sizeof (QmQuoteOmission));
      g_array_set_clear_func (*left_out, omission_clear);
      reader.left_out = *left_out;
    }
  named = find_named (quote);
  if (quote->unit != QM_PRICE_EACH || quote->kind == QM_PRICE_CLOUD
      || named < 0)
    return reader.offers;
  if (!qm_currency_valid (quote->currency))
    leave_out (&reader, (guint) named, _ ("the quote tells no currency"));
  else if ((qm_quote_open (quote) & QM_ASK_TOTALS) != 0)
    leave_out (&reader, (guint) named,
               _ ("the amounts of the quote contradict each other; say whether "
                  "what it comes to is right"));
  else
    {
      read_variant (&reader, -1, -1);
      read_variants (&reader);
    }
  return reader.offers;
}

gboolean
qm_quote_offer_price (const QmQuote *quote,
                      const QmQuoteOffer *offer,
                      gint64 *micros)
{
  gint64 per_minor = QM_MICROS_PER_UNIT;

  g_return_val_if_fail (quote != NULL && offer != NULL && micros != NULL,
                        FALSE);

  for (int i = qm_currency_decimals (quote->currency); i > 0; i--)
    per_minor /= 10;
  return qm_exact_scale (offer->net_minor, per_minor, offer->pieces, micros)
         && *micros > 0;
}
