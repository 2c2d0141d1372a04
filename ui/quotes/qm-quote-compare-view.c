/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/quotes/qm-quote-compare-view.h"

#include "pricing/advice/qm-quote-times.h"
#include "pricing/papers/qm-compare-paper.h"

#include <glib/gi18n-lib.h>
#include <string.h>

struct _QmQuoteCompareView
{
  AdwBin parent_instance;

  GtkScrolledWindow *scroller;
  QmPaper *paper; /* NULL: nothing is shown */
};

G_DEFINE_FINAL_TYPE (QmQuoteCompareView, qm_quote_compare_view, ADW_TYPE_BIN)

/* --- the grid --- */

static GtkWidget *
new_compared_label (const char *text, gboolean numeric)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_xalign (GTK_LABEL (label), numeric ? 1 : 0);
  gtk_label_set_justify (GTK_LABEL (label),
                         numeric ? GTK_JUSTIFY_RIGHT : GTK_JUSTIFY_LEFT);
  gtk_widget_set_hexpand (label, TRUE);
  gtk_widget_set_valign (label, GTK_ALIGN_START);
  return label;
}

static GtkWidget *
attach (GtkGrid *grid, int column, int row, const char *text)
{
  GtkWidget *label = new_compared_label (text, column > 0);

  /* So that a narrow window has two or three quotes side by side. */
  gtk_label_set_width_chars (GTK_LABEL (label), 10);
  gtk_label_set_max_width_chars (GTK_LABEL (label), column == 0 ? 36 : 24);
  if (column > 0)
    gtk_widget_add_css_class (label, "numeric");
  gtk_grid_attach (grid, label, column, row, 1, 1);
  return label;
}

static void
attach_section (GtkGrid *grid, int row, int n_columns, const char *text)
{
  GtkWidget *label = new_compared_label (text, FALSE);

  gtk_widget_add_css_class (label, "heading");
  gtk_widget_set_margin_top (label, 12);
  gtk_grid_attach (grid, label, 0, row, n_columns, 1);
}

static void
attach_row (GtkGrid *grid, int y, const QmPaperRow *row, int n_columns)
{
  if (row->kind == QM_ROW_SECTION)
    {
      attach_section (grid, y, n_columns, row->cells[0].text);
      return;
    }
  for (int i = 0; i < n_columns; i++)
    {
      const QmPaperCell *cell = &row->cells[i];
      g_autofree char *text = cell->text == NULL ? g_strdup ("—")
                              /* Translators: the best of a row. */
                              : cell->best
                                  ? g_strdup_printf (_ ("★ %s"), cell->text)
                                  : g_strdup (cell->text);
      GtkWidget *label = attach (grid, i, y, text);

      if (i == 0)
        gtk_widget_add_css_class (label, "dim-label");
      else if (cell->best)
        gtk_widget_add_css_class (label, "success");
      if (i > 0 && row->kind == QM_ROW_STRONG)
        gtk_widget_add_css_class (label, "heading");
      if (cell->best)
        gtk_widget_set_tooltip_text (label, _ ("The lowest of these"));
    }
}

/* (transfer full) (floating) */
static GtkWidget *
new_grid (const QmPaperTable *table)
{
  GtkWidget *grid = g_object_new (GTK_TYPE_GRID, "accessible-role",
                                  GTK_ACCESSIBLE_ROLE_GROUP, NULL);

  /* GTK 4.18 gives a name to a group, and none to a mere grid. */
  gtk_grid_set_column_spacing (GTK_GRID (grid), 18);
  gtk_grid_set_row_spacing (GTK_GRID (grid), 9);
  gtk_accessible_update_property (GTK_ACCESSIBLE (grid),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Quotes side by side"), -1);
  for (guint i = 0; i < table->n_columns; i++)
    gtk_widget_add_css_class (
        attach (GTK_GRID (grid), (int) i, 0, table->heads[i]), "heading");
  for (guint i = 0; i < table->rows->len; i++)
    attach_row (GTK_GRID (grid), (int) i + 1,
                &g_array_index (table->rows, QmPaperRow, i),
                (int) table->n_columns);
  return grid;
}

/* The document, from the top. */
static void
show_paper (QmQuoteCompareView *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);

  gtk_widget_set_margin_start (box, 12);
  gtk_widget_set_margin_end (box, 12);
  gtk_widget_set_margin_top (box, 12);
  gtk_widget_set_margin_bottom (box, 24);
  for (guint i = 0; i < self->paper->blocks->len; i++)
    {
      const QmPaperBlock *block =
          &g_array_index (self->paper->blocks, QmPaperBlock, i);
      GtkWidget *child;

      if (block->kind == QM_PAPER_TABLE)
        child = new_grid (block->table);
      else
        child = new_compared_label (block->text, FALSE);
      if (block->kind == QM_PAPER_HEADING)
        {
          gtk_widget_add_css_class (child, "heading");
          gtk_widget_set_margin_top (child, 12);
        }
      gtk_box_append (GTK_BOX (box), child);
    }
  gtk_scrolled_window_set_child (self->scroller, box);
}

/* --- what is compared --- */

static QmComparedTerms
terms_of (QmAdvisor *advisor)
{
  QmComparedTerms terms = { .lifetime_years = QM_LIFETIME_DEFAULT,
                            .today = qm_date_today () };
  const QmPurse *purse;

  if (advisor == NULL)
    return terms;
  purse = qm_advisor_get_purse (advisor);
  g_object_get (advisor, "lifetime", &terms.lifetime_years, NULL);
  terms.tax_percent = purse->tax_percent;
  if (strcmp (purse->currency, "USD") != 0)
    g_strlcpy (terms.currency, purse->currency, sizeof terms.currency);
  return terms;
}

static void
add_trainings (QmQuoteComparison *comparison,
               const QmCatalog *catalog,
               const QmQuestion *question,
               GPtrArray *quotes)
{
  g_autoptr (GError) error = NULL;

  if (!qm_quote_times_add (comparison, catalog, question, quotes, &error))
    g_debug ("no trainings are compared: %s", error->message);
}

static const QmCatalog *
catalog_of (QmQuoteBook *book, QmAdvisor *advisor)
{
  return advisor != NULL ? qm_advisor_get_catalog (advisor)
                         : qm_quote_book_get_catalog (book);
}

QmQuoteComparison *
qm_quote_compare_make (QmQuoteBook *book,
                       QmAdvisor *advisor,
                       const QmQuestion *question,
                       GPtrArray *quotes)
{
  QmComparedTerms terms = terms_of (advisor);
  QmQuoteComparison *comparison;

  g_return_val_if_fail (QM_IS_QUOTE_BOOK (book), NULL);
  g_return_val_if_fail (quotes != NULL && quotes->len >= 1, NULL);
  g_return_val_if_fail (quotes->len <= QM_COMPARED_MOST, NULL);

  comparison = qm_quote_comparison_new (catalog_of (book, advisor), quotes,
                                        qm_quote_book_get_rates (book), &terms);
  if (question != NULL)
    add_trainings (comparison, catalog_of (book, advisor), question, quotes);
  return comparison;
}

void
qm_quote_compare_view_set_quotes (QmQuoteCompareView *self,
                                  QmQuoteBook *book,
                                  QmAdvisor *advisor,
                                  GPtrArray *quotes)
{
  g_autoptr (QmQuoteComparison) comparison = NULL;

  g_return_if_fail (QM_IS_QUOTE_COMPARE_VIEW (self));
  g_return_if_fail (QM_IS_QUOTE_BOOK (book));

  comparison = qm_quote_compare_make (book, advisor, NULL, quotes);
  for (guint i = 0; advisor != NULL && i < qm_advisor_get_n_topics (advisor);
       i++)
    add_trainings (comparison, catalog_of (book, advisor),
                   qm_advisor_get_question (advisor, i), quotes);
  g_clear_pointer (&self->paper, qm_paper_free);
  self->paper = qm_compare_paper_new (comparison);
  show_paper (self);
}

const QmPaper *
qm_quote_compare_view_get_paper (QmQuoteCompareView *self)
{
  g_return_val_if_fail (QM_IS_QUOTE_COMPARE_VIEW (self), NULL);

  return self->paper;
}

static void
qm_quote_compare_view_finalize (GObject *object)
{
  g_clear_pointer (&QM_QUOTE_COMPARE_VIEW (object)->paper, qm_paper_free);

  G_OBJECT_CLASS (qm_quote_compare_view_parent_class)->finalize (object);
}

static void
qm_quote_compare_view_class_init (QmQuoteCompareViewClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = qm_quote_compare_view_finalize;
}

static void
qm_quote_compare_view_init (QmQuoteCompareView *self)
{
  GtkWidget *scroller = gtk_scrolled_window_new ();

  self->scroller = GTK_SCROLLED_WINDOW (scroller);
  gtk_widget_set_vexpand (scroller, TRUE);
  adw_bin_set_child (ADW_BIN (self), scroller);
}
