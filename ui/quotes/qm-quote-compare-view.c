/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/quotes/qm-quote-compare-view.h"

#include "pricing/qm-format.h"
#include "pricing/quotes/qm-quote-compare.h"
#include "pricing/quotes/qm-quote-offer.h"
#include "pricing/quotes/qm-quote-totals.h"
#include "ui/quotes/qm-quote-text.h"

#include <glib/gi18n-lib.h>
#include <string.h>

struct _QmQuoteCompareView
{
  AdwBin parent_instance;

  GtkScrolledWindow *scroller;
};

G_DEFINE_FINAL_TYPE (QmQuoteCompareView, qm_quote_compare_view, ADW_TYPE_BIN)

/* What is compared while the grid is made. */
typedef struct
{
  GtkGrid *grid;
  QmQuoteBook *book;
  GPtrArray *quotes;
  int row;
} Comparison;

static GtkWidget *
attach (Comparison *comparison, int column, const char *text, const char *css)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_xalign (GTK_LABEL (label), column == 0 ? 0 : 1);
  gtk_label_set_justify (GTK_LABEL (label),
                         column == 0 ? GTK_JUSTIFY_LEFT : GTK_JUSTIFY_RIGHT);
  gtk_label_set_width_chars (GTK_LABEL (label), column == 0 ? 16 : 14);
  gtk_label_set_max_width_chars (GTK_LABEL (label), column == 0 ? 36 : 24);
  gtk_widget_set_hexpand (label, TRUE);
  gtk_widget_set_valign (label, GTK_ALIGN_START);
  if (css != NULL)
    gtk_widget_add_css_class (label, css);
  if (column > 0)
    gtk_widget_add_css_class (label, "numeric");
  gtk_grid_attach (comparison->grid, label, column, comparison->row, 1, 1);
  return label;
}

static void
add_separator (Comparison *comparison)
{
  gtk_grid_attach (comparison->grid,
                   gtk_separator_new (GTK_ORIENTATION_HORIZONTAL), 0,
                   comparison->row++, (int) comparison->quotes->len + 1, 1);
}

static void
add_heads (Comparison *comparison)
{
  QmDate today = qm_date_today ();

  attach (comparison, 0, _ ("Quote"), "dim-label");
  for (guint i = 0; i < comparison->quotes->len; i++)
    {
      const QmQuote *quote = g_ptr_array_index (comparison->quotes, i);
      g_autofree char *title =
          qm_quote_title (quote->vendor, quote->number, quote->alternative,
                          quote->source);

      attach (comparison, (int) i + 1, title, "heading");
    }
  comparison->row++;
  attach (comparison, 0, _ ("Valid"), "dim-label");
  for (guint i = 0; i < comparison->quotes->len; i++)
    {
      const QmQuote *quote = g_ptr_array_index (comparison->quotes, i);
      g_autofree char *validity =
          qm_validity_text (quote->valid_from, quote->valid_until, today, TRUE);
      gboolean expired =
          qm_validity_on (quote->valid_from, quote->valid_until, today)
          == QM_VALIDITY_EXPIRED;

      attach (comparison, (int) i + 1, validity, expired ? "error" : NULL);
    }
  comparison->row++;
  add_separator (comparison);
}

/* Lines. */

static const QmQuoteLine *
first_line (const Comparison *comparison, const QmComparedLine *compared)
{
  for (guint i = 0; i < comparison->quotes->len; i++)
    if (compared->lines[i] != NULL)
      return compared->lines[i];
  return NULL;
}

static char *
what_text (const Comparison *comparison, const QmComparedLine *compared)
{
  const QmQuoteLine *line = first_line (comparison, compared);
  const char *role = qm_quote_role_text (compared->role);
  g_autofree char *item = NULL;
  const char *what = NULL;

  if (line == NULL)
    return g_strdup ("");
  if (line->item != NULL)
    item = qm_quote_item_text (qm_quote_book_get_catalog (comparison->book),
                               line->item);
  what = line->description != NULL ? line->description : line->part_number;
  if (what == NULL)
    what = item != NULL ? item : _ ("No description");
  return role != NULL ? g_strdup_printf ("%s\n%s", what, role)
                      : g_strdup (what);
}

static char *
differences_text (QmLineDifferences differences)
{
  GString *text = g_string_new (NULL);
  const struct
  {
    QmLineDifferences difference;
    const char *name;
  } names[] = {
    { QM_DIFFERS_MISSING, _ ("not in all quotes") },
    { QM_DIFFERS_QUANTITY, _ ("quantities differ") },
    { QM_DIFFERS_PRICE, _ ("prices differ") },
  };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (differences & names[i].difference)
      g_string_append_printf (text, text->len > 0 ? ", %s" : "%s",
                              names[i].name);
  return g_string_free (text, FALSE);
}

static void
add_line_cell (Comparison *comparison, const QmComparedLine *compared, guint i)
{
  const QmQuote *quote = g_ptr_array_index (comparison->quotes, i);
  const QmQuoteLine *line = compared->lines[i];
  g_autofree char *sum = NULL;
  g_autofree char *cost = NULL;
  g_autofree char *text = NULL;

  if (line == NULL)
    {
      attach (comparison, (int) i + 1, _ ("not offered"), "warning");
      return;
    }
  sum = qm_quote_line_sum_text (quote, line);
  cost =
      qm_quote_amount_text (qm_quote_line_cost (quote, line), quote->currency);
  text = *sum != '\0' ? g_strdup_printf ("%s\n%s", cost, sum) : g_strdup (cost);
  attach (comparison, (int) i + 1, text,
          compared->differences & (QM_DIFFERS_QUANTITY | QM_DIFFERS_PRICE)
              ? "accent"
              : NULL);
}

static void
add_lines (Comparison *comparison)
{
  g_autoptr (GPtrArray) rows = qm_quote_compare (comparison->quotes);

  for (guint i = 0; i < rows->len; i++)
    {
      const QmComparedLine *compared = g_ptr_array_index (rows, i);
      g_autofree char *what = what_text (comparison, compared);
      g_autofree char *differences = differences_text (compared->differences);

      attach (comparison, 0, what, NULL);
      for (guint j = 0; j < comparison->quotes->len; j++)
        add_line_cell (comparison, compared, j);
      comparison->row++;
      if (*differences != '\0')
        {
          GtkWidget *label = attach (comparison, 0, differences, "caption");

          gtk_widget_add_css_class (label, "warning");
          comparison->row++;
        }
    }
  add_separator (comparison);
}

/* Totals. */

/* What an advice counts; unstated where that contains tax. */
static gint64
net_of (const QmQuote *quote)
{
  gint64 net, tax;
  gboolean taxed;

  qm_quote_come_to (quote, &net, &tax, &taxed);
  return taxed ? QM_AMOUNT_UNSTATED : net;
}

static char *
converted_text (const Comparison *comparison,
                const QmQuote *quote,
                gint64 minor,
                const char *currency,
                char **rate_text)
{
  QmMoney amount = { .minor = minor };
  g_autoptr (GError) error = NULL;
  QmMoney converted;
  QmCrossRate rate;
  QmRates *rates = qm_quote_book_get_rates (comparison->book);

  *rate_text = NULL;
  if (rates == NULL || amount.minor == QM_AMOUNT_UNSTATED
      || !qm_currency_valid (quote->currency) || !qm_currency_valid (currency))
    return g_strdup ("—");
  memcpy (amount.currency, quote->currency, sizeof amount.currency);
  if (!qm_rates_find (rates, quote->currency, currency, qm_quote_day (quote),
                      QM_RATES_STALE_DAYS, &rate, &error)
      || !qm_cross_rate_convert (&rate, amount, &converted, &error))
    {
      *rate_text = g_strdup (error->message);
      return g_strdup ("—");
    }
  if (strcmp (quote->currency, currency) != 0)
    *rate_text = qm_quote_rate_text (&rate);
  return qm_quote_amount_text (converted.minor, currency);
}

static gboolean
has_currencies (const Comparison *comparison)
{
  const QmQuote *first = g_ptr_array_index (comparison->quotes, 0);

  for (guint i = 1; i < comparison->quotes->len; i++)
    {
      const QmQuote *quote = g_ptr_array_index (comparison->quotes, i);

      if (strcmp (quote->currency, first->currency) != 0)
        return TRUE;
    }
  return FALSE;
}

typedef gint64 (*AmountFunc) (const QmQuote *quote);

static void
add_amounts (Comparison *comparison, const char *name, AmountFunc amount)
{
  attach (comparison, 0, name, "heading");
  for (guint i = 0; i < comparison->quotes->len; i++)
    {
      const QmQuote *quote = g_ptr_array_index (comparison->quotes, i);
      g_autofree char *text =
          qm_quote_amount_text (amount (quote), quote->currency);

      attach (comparison, (int) i + 1, text, "heading");
    }
  comparison->row++;
}

/* The same in the currency of the first quote. */
static void
add_converted (Comparison *comparison, const char *format, AmountFunc amount)
{
  const QmQuote *first = g_ptr_array_index (comparison->quotes, 0);
  g_autofree char *in = g_strdup_printf (format, first->currency);

  attach (comparison, 0, in, "heading");
  for (guint i = 0; i < comparison->quotes->len; i++)
    {
      const QmQuote *quote = g_ptr_array_index (comparison->quotes, i);
      g_autofree char *rate = NULL;
      g_autofree char *total =
          converted_text (comparison, quote, amount (quote), first->currency,
                          &rate);
      g_autofree char *text = rate != NULL
                                  ? g_strdup_printf ("%s\n%s", total, rate)
                                  : g_strdup (total);

      attach (comparison, (int) i + 1, text, NULL);
    }
  comparison->row++;
}

static void
add_totals (Comparison *comparison)
{
  add_amounts (comparison, _ ("Total"), qm_quote_total);
  add_amounts (comparison, _ ("Without tax"), net_of);
  if (!has_currencies (comparison))
    return;
  /* Translators: a currency. */
  add_converted (comparison, _ ("Total in %s"), qm_quote_total);
  /* Translators: a currency. */
  add_converted (comparison, _ ("Without tax in %s"), net_of);
}

void
qm_quote_compare_view_set_quotes (QmQuoteCompareView *self,
                                  QmQuoteBook *book,
                                  GPtrArray *quotes)
{
  Comparison comparison = { .book = book, .quotes = quotes };
  GtkWidget *grid;

  g_return_if_fail (QM_IS_QUOTE_COMPARE_VIEW (self));
  g_return_if_fail (QM_IS_QUOTE_BOOK (book));
  g_return_if_fail (quotes != NULL && quotes->len >= 2);

  /* GTK 4.18 gives a name to a group, and none to a mere grid. */
  grid = g_object_new (GTK_TYPE_GRID, "accessible-role",
                       GTK_ACCESSIBLE_ROLE_GROUP, NULL);
  gtk_grid_set_column_spacing (GTK_GRID (grid), 18);
  gtk_grid_set_row_spacing (GTK_GRID (grid), 9);
  gtk_widget_set_margin_start (grid, 12);
  gtk_widget_set_margin_end (grid, 12);
  gtk_widget_set_margin_top (grid, 12);
  gtk_widget_set_margin_bottom (grid, 24);
  gtk_accessible_update_property (GTK_ACCESSIBLE (grid),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Quotes side by side"), -1);
  comparison.grid = GTK_GRID (grid);
  add_heads (&comparison);
  add_lines (&comparison);
  add_totals (&comparison);
  gtk_scrolled_window_set_child (self->scroller, grid);
}

static void
qm_quote_compare_view_class_init (QmQuoteCompareViewClass *klass)
{
}

static void
qm_quote_compare_view_init (QmQuoteCompareView *self)
{
  GtkWidget *scroller = gtk_scrolled_window_new ();

  self->scroller = GTK_SCROLLED_WINDOW (scroller);
  gtk_widget_set_vexpand (scroller, TRUE);
  adw_bin_set_child (ADW_BIN (self), scroller);
}
