/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/quotes/qm-quote-view.h"

#include "pricing/qm-format.h"
#include "pricing/quotes/qm-quote-offer.h"
#include "pricing/quotes/qm-quote-totals.h"
#include "ui/quotes/qm-quote-questions.h"
#include "ui/quotes/qm-quote-text.h"

#include <glib/gi18n-lib.h>

/* Lines shown at first, and with each press of "More". */
#define LINES_AT_ONCE 100

struct _QmQuoteView
{
  AdwBin parent_instance;

  GtkBox *box;
  GtkListBox *lines;
  GtkWidget *more;

  QmCatalogKeeper *keeper; /* NULL: nothing was shown yet */
  QmQuote *quote;
  guint shown; /* lines */
};

enum
{
  MATCHED,
  ANSWERED,
  N_SIGNALS
};

G_DEFINE_FINAL_TYPE (QmQuoteView, qm_quote_view, ADW_TYPE_BIN)

static guint signals[N_SIGNALS];

static GtkWidget *
new_fact_label (const char *text, const char *css_class)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_selectable (GTK_LABEL (label), FALSE);
  if (css_class != NULL)
    gtk_widget_add_css_class (label, css_class);
  return label;
}

static void
add_heading (QmQuoteView *self, const char *text)
{
  GtkWidget *label = new_fact_label (text, "heading");

  gtk_widget_set_margin_top (label, 6);
  gtk_box_append (self->box, label);
}

/* Questions. */

/* Who has the quote applies it, and shows it anew. */
static void
line_answered_cb (gpointer user_data, guint line, QmAsk ask, int number)
{
  g_signal_emit (user_data, signals[ANSWERED], 0, line, (guint) ask, number);
}

/* The head: a list of what is stated, each with its name. */

static void
add_fact (GtkGrid *grid, const char *name, const char *value, const char *css)
{
  int row = GPOINTER_TO_INT (g_object_get_data (G_OBJECT (grid), "rows"));
  GtkWidget *key, *text;

  if (value == NULL || *value == '\0')
    return;
  key = new_fact_label (name, "dim-label");
  text = new_fact_label (value, css);
  gtk_widget_set_valign (key, GTK_ALIGN_START);
  gtk_widget_set_hexpand (text, TRUE);
  gtk_grid_attach (grid, key, 0, row, 1, 1);
  gtk_grid_attach (grid, text, 1, row, 1, 1);
  g_object_set_data (G_OBJECT (grid), "rows", GINT_TO_POINTER (row + 1));
}

static GtkGrid *
new_facts (QmQuoteView *self, const char *name)
{
  GtkWidget *grid = gtk_grid_new ();

  gtk_grid_set_column_spacing (GTK_GRID (grid), 12);
  gtk_grid_set_row_spacing (GTK_GRID (grid), 6);
  gtk_widget_add_css_class (grid, "card");
  gtk_widget_add_css_class (grid, "qm-facts");
  gtk_accessible_update_property (GTK_ACCESSIBLE (grid),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  gtk_box_append (self->box, grid);
  return GTK_GRID (grid);
}

static char *
date_fact (QmDate date)
{
  return date.year != 0 ? qm_format_date (date) : NULL;
}

static char *
source_fact (const QmQuote *quote)
{
  const char *origin = qm_quote_origin_text (quote->origin);

  if (quote->source == NULL)
    return g_strdup (origin);
  /* Translators: "spreadsheet", the name of a file or an address. */
  return g_strdup_printf (_ ("%s: %s"), origin, quote->source);
}

static char *
read_fact (const QmQuote *quote)
{
  return quote->read_at > 0 ? qm_format_moment (quote->read_at) : NULL;
}

static void
show_head (QmQuoteView *self)
{
  const QmQuote *quote = self->quote;
  g_autofree char *title = qm_quote_title (quote->vendor, quote->number,
                                           quote->alternative, quote->source);
  g_autofree char *issued = date_fact (quote->issued_on);
  g_autofree char *from = date_fact (quote->valid_from);
  g_autofree char *validity =
      qm_validity_text (quote->valid_from, quote->valid_until, qm_date_today (),
                        FALSE);
  g_autofree char *source = source_fact (quote);
  g_autofree char *read = read_fact (quote);
  gboolean expired =
      qm_validity_on (quote->valid_from, quote->valid_until, qm_date_today ())
      == QM_VALIDITY_EXPIRED;
  GtkGrid *grid;

  gtk_box_append (self->box, new_fact_label (title, "title-2"));
  grid = new_facts (self, _ ("Head of the quote"));
  add_fact (grid, _ ("Vendor"), quote->vendor, NULL);
  add_fact (grid, _ ("Number"), quote->number, NULL);
  add_fact (grid, _ ("Alternative"), quote->alternative, NULL);
  add_fact (grid, _ ("Replaces quote"), quote->supersedes, NULL);
  add_fact (grid, _ ("Issued"), issued, NULL);
  if (qm_quote_is_undated (quote))
    add_fact (grid, _ ("Dates"),
              _ ("not clear, so that dated quotes go before it"), "warning");
  add_fact (grid, _ ("Valid from"), from, NULL);
  add_fact (grid, _ ("Valid"), validity, expired ? "error" : NULL);
  add_fact (grid, _ ("Currency"),
            quote->currency[0] != '\0' ? quote->currency : _ ("not stated"),
            quote->currency[0] != '\0' ? NULL : "warning");
  if (quote->unit == QM_PRICE_HOUR)
    add_fact (grid, _ ("Prices are"), _ ("for an hour"), NULL);
  if (quote->tax_included != QM_UNSTATED)
    add_fact (grid, _ ("Tax"),
              quote->tax_included == QM_YES ? _ ("contained in the prices")
                                            : _ ("not contained in the prices"),
              NULL);
  add_fact (grid, _ ("Note"), quote->note, NULL);
  add_fact (grid, _ ("Source"), source, NULL);
  add_fact (grid, _ ("Read"), read, NULL);
  if (qm_quote_open (quote) != 0)
    gtk_box_append (self->box, qm_quote_questions_new (qm_quote_open (quote),
                                                       QM_QUESTION_OF_QUOTE, 0,
                                                       line_answered_cb, self));
}

/* Totals. */

static void
add_total (GtkGrid *grid,
           int row,
           const char *name,
           gint64 written,
           gint64 computed,
           const char *currency)
{
  g_autofree char *left = qm_quote_amount_text (written, currency);
  g_autofree char *right = qm_quote_amount_text (computed, currency);
  gboolean differs = written != QM_AMOUNT_UNSTATED
                     && computed != QM_AMOUNT_UNSTATED && written != computed;
  g_autofree char *marked =
      /* Translators: an amount that is another one than the document's. */
      differs ? g_strdup_printf (_ ("%s (differs)"), right) : NULL;
  GtkWidget *labels[3] = {
    new_fact_label (name, "dim-label"), new_fact_label (left, "numeric"),
    new_fact_label (differs ? marked : right, "numeric")
  };

  for (int i = 0; i < 3; i++)
    {
      gtk_label_set_xalign (GTK_LABEL (labels[i]), i == 0 ? 0 : 1);
      gtk_label_set_wrap (GTK_LABEL (labels[i]), TRUE);
      gtk_widget_set_hexpand (labels[i], TRUE);
      gtk_grid_attach (grid, labels[i], i, row, 1, 1);
    }
  if (differs)
    gtk_widget_add_css_class (labels[2], "warning");
}

static void
show_totals (QmQuoteView *self)
{
  const QmQuote *quote = self->quote;
  const char *currency = quote->currency;
  QmQuoteTotals totals;
  gint64 net, tax;
  gboolean taxed;
  GtkGrid *grid;
  int row = 1;

  qm_quote_totals_compute (quote, &totals);
  add_heading (self, _ ("Totals"));
  grid = new_facts (self, _ ("Totals"));
  for (int i = 0; i < 2; i++)
    {
      GtkWidget *label =
          new_fact_label (i == 0 ? _ ("As written") : _ ("Recomputed"),
                          "caption");

      gtk_label_set_xalign (GTK_LABEL (label), 1);
      gtk_grid_attach (grid, label, i + 1, 0, 1, 1);
    }
  add_total (grid, row++, _ ("Lines"), QM_AMOUNT_UNSTATED, totals.lines_minor,
             currency);
  if (quote->discount_minor != QM_AMOUNT_UNSTATED)
    add_total (grid, row++, _ ("Discount"), quote->discount_minor,
               QM_AMOUNT_UNSTATED, currency);
  if (quote->charge_minor != QM_AMOUNT_UNSTATED)
    add_total (grid, row++, _ ("Shipping and charges"), quote->charge_minor,
               QM_AMOUNT_UNSTATED, currency);
  add_total (grid, row++, _ ("Net"), quote->net_minor, totals.net_minor,
             currency);
  if (quote->tax_minor != QM_AMOUNT_UNSTATED)
    add_total (grid, row++, _ ("Tax"), quote->tax_minor, QM_AMOUNT_UNSTATED,
               currency);
  add_total (grid, row++, _ ("To be paid"), quote->payable_minor,
             totals.payable_minor, currency);
  qm_quote_come_to (quote, &net, &tax, &taxed);
  add_total (grid, row++,
             taxed ? _ ("Comes to, with tax that is not told")
             : qm_quote_tax_is_untold (self->quote)
                 ? _ ("Comes to, taken as without tax")
                 : _ ("Comes to, without tax"),
             QM_AMOUNT_UNSTATED, net, currency);
}

/* Findings. */

static void
show_findings (QmQuoteView *self)
{
  GtkWidget *list;

  if (self->quote->findings->len == 0)
    return;
  add_heading (self, _ ("Noticed While Reading"));
  list = gtk_list_box_new ();
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (list), GTK_SELECTION_NONE);
  gtk_widget_add_css_class (list, "boxed-list");
  gtk_accessible_update_property (GTK_ACCESSIBLE (list),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Noticed while reading"), -1);
  for (guint i = 0; i < self->quote->findings->len; i++)
    {
      const QmFinding *finding = g_ptr_array_index (self->quote->findings, i);
      gboolean warning = finding->level == QM_FINDING_WARNING;
      g_autofree char *title = g_markup_escape_text (finding->message, -1);
      g_autofree char *place =
          g_markup_escape_text (finding->place != NULL ? finding->place : "",
                                -1);
      GtkWidget *icon = gtk_image_new_from_icon_name (
          warning ? "dialog-warning-symbolic" : "dialog-information-symbolic");
      GtkWidget *row = g_object_new (ADW_TYPE_ACTION_ROW, "title", title,
                                     "subtitle", place, NULL);

      gtk_accessible_update_property (GTK_ACCESSIBLE (icon),
                                      GTK_ACCESSIBLE_PROPERTY_LABEL,
                                      warning ? _ ("Warning") : _ ("Note"), -1);
      if (warning)
        gtk_widget_add_css_class (icon, "warning");
      adw_action_row_add_prefix (ADW_ACTION_ROW (row), icon);
      gtk_list_box_append (GTK_LIST_BOX (list), row);
    }
  gtk_box_append (self->box, list);
}

/* Lines. */

void
qm_quote_line_choose (QmQuoteLine *line,
                      const QmCatalog *catalog,
                      const char *item)
{
  g_return_if_fail (line != NULL);

  g_free (line->item);
  line->item = g_strdup (item);
  line->match = QM_MATCH_CHOSEN;
  if (item == NULL)
    line->gpus = 0;
  else if (line->gpus == 0 && qm_catalog_gpu (catalog, item) != NULL)
    line->gpus = 1;
}

static void
item_chosen_cb (GtkDropDown *choice, GParamSpec *pspec, QmQuoteView *self)
{
  guint selected = gtk_drop_down_get_selected (choice);
  guint line = GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (choice), "line"));
  const char *const *ids = g_object_get_data (G_OBJECT (choice), "ids");

  if (selected == 0 || selected == GTK_INVALID_LIST_POSITION)
    return;
  qm_quote_line_choose (g_ptr_array_index (self->quote->lines, line),
                        qm_catalog_keeper_get (self->keeper), ids[selected]);
  g_signal_emit (self, signals[MATCHED], 0, line, ids[selected]);
}

/* Ids by position: 0 asks, the last one is none. */
static GtkWidget *
new_choice (QmQuoteView *self, const QmQuoteLine *line, guint number)
{
  g_auto (GStrv) candidates = g_strsplit (line->candidates, ";", -1);
  guint n = g_strv_length (candidates);
  char **ids = g_new0 (char *, n + 3);
  GtkStringList *names = gtk_string_list_new (NULL);
  GtkWidget *choice;
  guint selected = 0;
  g_autofree char *label = NULL;

  gtk_string_list_append (names, _ ("Which one is it?"));
  ids[0] = g_strdup ("");
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name =
          qm_quote_item_text (qm_catalog_keeper_get (self->keeper),
                              candidates[i]);

      gtk_string_list_append (names, name);
      ids[i + 1] = g_strdup (candidates[i]);
      if (line->match == QM_MATCH_CHOSEN
          && g_strcmp0 (line->item, candidates[i]) == 0)
        selected = i + 1;
    }
  gtk_string_list_append (names, _ ("None of these"));
  if (line->match == QM_MATCH_CHOSEN && line->item == NULL)
    selected = n + 1;

  choice = gtk_drop_down_new (G_LIST_MODEL (names), NULL);
  gtk_drop_down_set_selected (GTK_DROP_DOWN (choice), selected);
  gtk_widget_set_halign (choice, GTK_ALIGN_START);
  g_object_set_data_full (G_OBJECT (choice), "ids", ids,
                          (GDestroyNotify) g_strfreev);
  g_object_set_data (G_OBJECT (choice), "line", GUINT_TO_POINTER (number));
  label = g_strdup_printf (_ ("GPU or machine of line %u"), number + 1);
  gtk_accessible_update_property (GTK_ACCESSIBLE (choice),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
  g_signal_connect_object (choice, "notify::selected",
                           G_CALLBACK (item_chosen_cb), self, 0);
  return choice;
}

static char *
match_text (QmQuoteView *self, const QmQuoteLine *line)
{
  g_autofree char *name = NULL;
  g_autofree char *counted = NULL;

  if (line->item == NULL)
    return NULL;
  name = qm_quote_item_text (qm_catalog_keeper_get (self->keeper), line->item);
  counted = line->gpus > 1 ? g_strdup_printf ("%d × %s", line->gpus, name)
                           : g_strdup (name);
  /* Translators: a GPU or machine of the catalog. */
  return g_strdup_printf (line->match == QM_MATCH_CHOSEN
                              ? _ ("Catalog: %s, as you chose")
                              : _ ("Catalog: %s"),
                          counted);
}

static GtkWidget *
new_line_top (QmQuoteView *self, const QmQuoteLine *line)
{
  GtkWidget *top = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *what =
      new_fact_label (line->description != NULL   ? line->description
                      : line->part_number != NULL ? line->part_number
                                                  : _ ("No description"),
                      NULL);
  g_autofree char *cost =
      qm_quote_amount_text (qm_quote_line_cost (self->quote, line),
                            self->quote->currency);
  GtkWidget *total = gtk_label_new (cost);

  gtk_widget_set_hexpand (what, TRUE);
  gtk_widget_set_valign (total, GTK_ALIGN_START);
  gtk_widget_add_css_class (total, "numeric");
  gtk_widget_add_css_class (total, line->role == QM_LINE_QUOTED ? "heading"
                                                                : "dim-label");
  gtk_box_append (GTK_BOX (top), what);
  gtk_box_append (GTK_BOX (top), total);
  return top;
}

static GtkWidget *
new_line_row (QmQuoteView *self, guint number)
{
  const QmQuoteLine *line = g_ptr_array_index (self->quote->lines, number);
  GtkWidget *row = gtk_list_box_row_new ();
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 3);
  g_autofree char *sum = qm_quote_line_sum_text (self->quote, line);
  g_autofree char *match = match_text (self, line);
  const char *role = qm_quote_role_text (line->role);

  gtk_widget_add_css_class (row, "qm-quote-line");
  gtk_box_append (GTK_BOX (box), new_line_top (self, line));
  if (role != NULL)
    gtk_box_append (GTK_BOX (box), new_fact_label (role, "caption-heading"));
  if (*sum != '\0')
    gtk_box_append (GTK_BOX (box), new_fact_label (sum, "dim-label"));
  if (line->candidates != NULL
      && (line->match == QM_MATCH_AMBIGUOUS || line->match == QM_MATCH_CHOSEN))
    gtk_box_append (GTK_BOX (box), new_choice (self, line, number));
  else if (match != NULL)
    gtk_box_append (GTK_BOX (box), new_fact_label (match, "accent"));
  if (line->thing == QM_THING_RENT)
    gtk_box_append (GTK_BOX (box), new_fact_label (_ ("A rent: does not count"),
                                                   "caption-heading"));
  if (qm_quote_line_open (line) != 0)
    gtk_box_append (GTK_BOX (box),
                    qm_quote_questions_new (qm_quote_line_open (line), number,
                                            line->gpus, line_answered_cb,
                                            self));
  gtk_list_box_row_set_child (GTK_LIST_BOX_ROW (row), box);
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), FALSE);
  gtk_accessible_update_property (
      GTK_ACCESSIBLE (row), GTK_ACCESSIBLE_PROPERTY_LABEL,
      line->description != NULL ? line->description : sum, -1);
  return row;
}

static void
show_more_lines (QmQuoteView *self)
{
  guint until = MIN (self->shown + LINES_AT_ONCE, self->quote->lines->len);
  guint left = self->quote->lines->len - until;
  g_autofree char *label =
      g_strdup_printf (ngettext ("Show More (%u Line Left)",
                                 "Show More (%u Lines Left)", left),
                       left);

  for (; self->shown < until; self->shown++)
    gtk_list_box_append (self->lines, new_line_row (self, self->shown));
  gtk_button_set_label (GTK_BUTTON (self->more), label);
  gtk_widget_set_visible (self->more, left > 0);
}

static void
show_lines (QmQuoteView *self)
{
  guint n = self->quote->lines->len;
  g_autofree char *heading =
      g_strdup_printf (ngettext ("%u Line", "%u Lines", n), n);
  GtkWidget *list = gtk_list_box_new ();

  add_heading (self, heading);
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (list), GTK_SELECTION_NONE);
  gtk_widget_add_css_class (list, "boxed-list");
  gtk_accessible_update_property (GTK_ACCESSIBLE (list),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL, _ ("Lines"),
                                  -1);
  gtk_widget_set_visible (list, n > 0);
  gtk_box_append (self->box, list);
  self->lines = GTK_LIST_BOX (list);
  self->shown = 0;
  self->more = gtk_button_new ();
  gtk_widget_set_halign (self->more, GTK_ALIGN_CENTER);
  g_signal_connect_object (self->more, "clicked", G_CALLBACK (show_more_lines),
                           self, G_CONNECT_SWAPPED);
  gtk_box_append (self->box, self->more);
  show_more_lines (self);
}

static void
clear (QmQuoteView *self)
{
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self->box))) != NULL)
    gtk_box_remove (self->box, child);
  self->lines = NULL;
  self->more = NULL;
}

/* Shows the quote that there is. */
static void
show_whole_quote (QmQuoteView *self)
{
  clear (self);
  if (self->quote == NULL)
    return;
  show_head (self);
  show_findings (self);
  show_totals (self);
  show_lines (self);
}

void
qm_quote_view_set_quote (QmQuoteView *self,
                         QmCatalogKeeper *keeper,
                         const QmQuote *quote)
{
  QmQuote *before;

  g_return_if_fail (QM_IS_QUOTE_VIEW (self));
  g_return_if_fail (QM_IS_CATALOG_KEEPER (keeper));
  g_return_if_fail (self->keeper == NULL || self->keeper == keeper);

  if (self->keeper == NULL)
    {
      self->keeper = g_object_ref (keeper);
      g_signal_connect_object (keeper, "changed", G_CALLBACK (show_whole_quote),
                               self, G_CONNECT_SWAPPED);
    }
  before = self->quote;
  self->quote = quote != NULL ? qm_quote_copy (quote) : NULL;
  g_clear_pointer (&before, qm_quote_free);
  show_whole_quote (self);
}

const QmQuote *
qm_quote_view_get_quote (QmQuoteView *self)
{
  g_return_val_if_fail (QM_IS_QUOTE_VIEW (self), NULL);

  return self->quote;
}

static void
qm_quote_view_finalize (GObject *object)
{
  g_clear_pointer (&QM_QUOTE_VIEW (object)->quote, qm_quote_free);
  g_clear_object (&QM_QUOTE_VIEW (object)->keeper);

  G_OBJECT_CLASS (qm_quote_view_parent_class)->finalize (object);
}

static void
qm_quote_view_class_init (QmQuoteViewClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->finalize = qm_quote_view_finalize;

  signals[MATCHED] = g_signal_new ("matched", G_TYPE_FROM_CLASS (klass),
                                   G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                   G_TYPE_NONE, 2, G_TYPE_UINT, G_TYPE_STRING);
  signals[ANSWERED] =
      g_signal_new ("answered", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0,
                    NULL, NULL, NULL, G_TYPE_NONE, 3, G_TYPE_UINT, G_TYPE_UINT,
                    G_TYPE_INT);
}

static void
qm_quote_view_init (QmQuoteView *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12);
  GtkWidget *clamp = adw_clamp_new ();
  GtkWidget *scroller = gtk_scrolled_window_new ();

  gtk_widget_set_margin_start (box, 12);
  gtk_widget_set_margin_end (box, 12);
  gtk_widget_set_margin_top (box, 12);
  gtk_widget_set_margin_bottom (box, 24);
  self->box = GTK_BOX (box);
  adw_clamp_set_maximum_size (ADW_CLAMP (clamp), 860);
  adw_clamp_set_child (ADW_CLAMP (clamp), box);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scroller),
                                  GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), clamp);
  gtk_widget_set_vexpand (scroller, TRUE);
  adw_bin_set_child (ADW_BIN (self), scroller);
}
