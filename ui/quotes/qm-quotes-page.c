/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/quotes/qm-quotes-page-private.h"

#include "pricing/quotes/qm-plausible.h"
#include "ui/qm-spinner.h"
#include "ui/qm-toasts.h"
#include "ui/quotes/qm-quote-questions.h"
#include "ui/quotes/qm-quote-text.h"
#include "ui/quotes/qm-watch-window.h"

#include <glib/gi18n-lib.h>
#include <string.h>

G_DEFINE_FINAL_TYPE (QmQuotesPage, qm_quotes_page, ADW_TYPE_BIN)

void
qm_quotes_page_focus_search (QmQuotesPage *self)
{
  g_return_if_fail (QM_IS_QUOTES_PAGE (self));

  adw_leaflet_set_visible_child_name (self->leaflet, "list");
  qm_quote_list_focus_search (self->list);
}

void
qm_quotes_page_tell (QmQuotesPage *self, const char *message)
{
  qm_toasts_tell (self->overlay, message);
}

GtkWindow *
qm_quotes_page_window (QmQuotesPage *self)
{
  GtkRoot *root = gtk_widget_get_root (GTK_WIDGET (self));

  return GTK_IS_WINDOW (root) ? GTK_WINDOW (root) : NULL;
}

QmQuote *
qm_quotes_page_get_quote (QmQuotesPage *self)
{
  gint64 id = qm_quote_list_get_selected (self->list);
  g_autoptr (GError) error = NULL;
  QmQuote *quote;

  if (id == 0)
    return NULL;
  quote = qm_quote_book_get (self->book, id, &error);
  if (quote == NULL)
    qm_quotes_page_tell (self, error->message);
  return quote;
}

static gboolean
is_comparing (QmQuotesPage *self)
{
  return g_strcmp0 (gtk_stack_get_visible_child_name (self->detail_stack),
                    "compare")
         == 0;
}

static void
update_actions (QmQuotesPage *self)
{
  static const char *const of_quote[] = { "quotes.edit", "quotes.delete",
                                          "quotes.history", "quotes.export-csv",
                                          "quotes.export-ubl" };
  gboolean selected = qm_quote_list_get_selected (self->list) != 0;
  guint n_marked = qm_quote_list_get_marked (self->list)->len;

  for (guint i = 0; i < G_N_ELEMENTS (of_quote); i++)
    gtk_widget_action_set_enabled (GTK_WIDGET (self), of_quote[i], selected);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "quotes.compare",
                                 n_marked >= 2
                                     && n_marked <= QM_QUOTES_COMPARED);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "quotes.undo",
                                 self->deleted->len > 0);
  gtk_widget_set_visible (self->unmark_button, n_marked > 0);
  qm_quotes_page_update_papers (self);
}

/* What is shown stays as it is where the store says the same: nothing loses
 * its place or the focus then. */
static void
show_quote (QmQuotesPage *self)
{
  g_autoptr (QmQuote) quote = qm_quotes_page_get_quote (self);
  const QmQuote *shown = qm_quote_view_get_quote (self->view);

  if (quote == NULL || shown == NULL || shown->id != quote->id
      || !qm_quote_equal (shown, quote))
    qm_quote_view_set_quote (self->view, qm_quote_book_get_keeper (self->book),
                             quote);
  gtk_stack_set_visible_child_name (self->detail_stack,
                                    quote != NULL ? "quote" : "none");
}

static gboolean
show_comparison (QmQuotesPage *self)
{
  GArray *marked = qm_quote_list_get_marked (self->list);
  g_autoptr (GPtrArray) quotes =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);

  for (guint i = 0; i < marked->len && i < QM_QUOTES_COMPARED; i++)
    {
      QmQuote *quote =
          qm_quote_book_get (self->book, g_array_index (marked, gint64, i),
                             NULL);

      if (quote != NULL)
        g_ptr_array_add (quotes, quote);
    }
  if (quotes->len < 2)
    return FALSE;
  qm_quote_compare_view_set_quotes (self->compare_view, self->book,
                                    self->advisor, quotes);
  gtk_stack_set_visible_child_name (self->detail_stack, "compare");
  return TRUE;
}

static void
quote_selected_cb (QmQuotesPage *self)
{
  show_quote (self);
  update_actions (self);
}

static void
activated_cb (QmQuotesPage *self)
{
  if (is_comparing (self))
    {
      show_quote (self);
      update_actions (self);
    }
  adw_leaflet_set_visible_child_name (self->leaflet, "detail");
}

static void
marked_cb (QmQuotesPage *self)
{
  if (is_comparing (self) && !show_comparison (self))
    show_quote (self);
  update_actions (self);
}

static void
compare_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmQuotesPage *self = QM_QUOTES_PAGE (widget);

  if (show_comparison (self))
    adw_leaflet_set_visible_child_name (self->leaflet, "detail");
  update_actions (self);
}

/* Times or the money have changed. */
static void
comparison_rebuilt_cb (QmQuotesPage *self)
{
  if (is_comparing (self))
    show_comparison (self);
}

void
qm_quotes_page_set_advisor (QmQuotesPage *self, QmAdvisor *advisor)
{
  g_return_if_fail (QM_IS_QUOTES_PAGE (self));

  if (self->advisor != NULL)
    g_signal_handlers_disconnect_by_func (self->advisor,
                                          (gpointer) comparison_rebuilt_cb,
                                          self);
  g_set_object (&self->advisor, advisor);
  if (advisor != NULL)
    g_signal_connect_object (advisor, "rebuilt",
                             G_CALLBACK (comparison_rebuilt_cb), self,
                             G_CONNECT_SWAPPED);
  comparison_rebuilt_cb (self);
  update_actions (self);
}

static void
back_cb (QmQuotesPage *self)
{
  adw_leaflet_set_visible_child_name (self->leaflet, "list");
}

static void
folded_cb (QmQuotesPage *self)
{
  gboolean folded = adw_leaflet_get_folded (self->leaflet);

  gtk_widget_set_visible (self->back_button, folded);
  qm_quote_list_set_narrow (self->list, folded);
}

/* The user has said what a line is about. */
static void
matched_cb (QmQuotesPage *self, guint number, const char *item)
{
  g_autoptr (QmQuote) before = qm_quotes_page_get_quote (self);
  g_autoptr (QmQuote) after = NULL;
  g_autoptr (GError) error = NULL;

  if (before == NULL || number >= before->lines->len)
    return;
  after = qm_quote_copy (before);
  qm_quote_line_choose (g_ptr_array_index (after->lines, number),
                        qm_quote_book_get_catalog (self->book), item);
  qm_quote_ask_prices (after, qm_quote_book_get_catalog (self->book),
                       qm_quote_book_get_rates (self->book));
  if (!qm_quote_book_update (self->book, after, before, &error))
    qm_quotes_page_tell (self, error->message);
}

/* The user has answered a question. */
static void
quote_answered_cb (QmQuotesPage *self, guint line, guint ask, int number)
{
  g_autoptr (QmQuote) before = qm_quotes_page_get_quote (self);
  g_autoptr (QmQuote) after = NULL;
  g_autoptr (GError) error = NULL;

  if (before == NULL)
    return;
  after = qm_quote_copy (before);
  if (!qm_quote_apply_answer (after, line, (QmAsk) ask, number))
    return;
  if (!qm_quote_book_update (self->book, after, before, &error))
    qm_quotes_page_tell (self, error->message);
}

static guint
count_quotes (QmQuotesPage *self)
{
  const QmQuoteFilter everything = { 0 };
  guint n = 0;
  g_autoptr (GPtrArray) rows =
      qm_quote_index_quotes (qm_quote_book_get_index (self->book), &everything,
                             QM_QUOTE_SORT_ADDED, TRUE, 0, 1, &n);

  return n;
}

static void
page_of_quotes_cb (QmQuotesPage *self)
{
  gtk_stack_set_visible_child_name (self->stack, count_quotes (self) > 0
                                                     ? "quotes"
                                                     : "empty");
  if (is_comparing (self) && !show_comparison (self))
    show_quote (self);
  update_actions (self);
}

static void
failed_cb (QmQuotesPage *self, const char *message)
{
  g_autofree char *markup = NULL;

  if (qm_quote_book_get_index (self->book) != NULL)
    {
      qm_quotes_page_tell (self, message);
      return;
    }
  markup = g_markup_escape_text (message, -1);
  adw_status_page_set_description (self->failed, markup);
  gtk_stack_set_visible_child_name (self->stack, "failed");
}

/* The watch list. */

static void
watch_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmQuotesPage *self = QM_QUOTES_PAGE (widget);

  if (qm_quote_book_get_store (self->book) == NULL)
    return;
  if (self->watch_window == NULL)
    g_set_weak_pointer (&self->watch_window,
                        qm_watch_window_new (qm_quotes_page_window (self),
                                             self->watch));
  gtk_window_present (GTK_WINDOW (self->watch_window));
}

/* The window of the watch list tells it itself. */
static void
refreshed_cb (QmQuotesPage *self, const char *message)
{
  if (self->watch_window == NULL)
    qm_quotes_page_tell (self, message);
}

static void
set_watch (QmQuotesPage *self, QmPriceWatch *watch)
{
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "quotes.watch",
                                 watch != NULL);
  if (watch == NULL)
    return;
  self->watch = g_object_ref (watch);
  g_signal_connect_object (watch, "finished", G_CALLBACK (refreshed_cb), self,
                           G_CONNECT_SWAPPED);
}

static void
set_book (QmQuotesPage *self, QmQuoteBook *book)
{
  const char *const *problems = qm_quote_book_get_problems (book);

  self->book = g_object_ref (book);
  g_signal_connect_object (book, "failed", G_CALLBACK (failed_cb), self,
                           G_CONNECT_SWAPPED);
  qm_quote_list_set_book (self->list, book);
  g_signal_connect_object (book, "changed", G_CALLBACK (page_of_quotes_cb),
                           self, G_CONNECT_SWAPPED);
  /* The book may be older than the page. */
  if (qm_quote_book_get_index (book) != NULL)
    page_of_quotes_cb (self);
  else if (problems[0] != NULL)
    failed_cb (self, problems[0]);
}

GtkWidget *
qm_quotes_page_new (QmQuoteBook *book, QmPriceWatch *watch)
{
  QmQuotesPage *self;

  g_return_val_if_fail (QM_IS_QUOTE_BOOK (book), NULL);

  self = g_object_new (QM_TYPE_QUOTES_PAGE, NULL);
  set_watch (self, watch);
  set_book (self, book);
  return GTK_WIDGET (self);
}

static void
qm_quotes_page_dispose (GObject *object)
{
  QmQuotesPage *self = QM_QUOTES_PAGE (object);

  g_clear_object (&self->chooser);
  g_clear_weak_pointer (&self->watch_window);
  g_clear_weak_pointer (&self->history);
  g_clear_weak_pointer (&self->undo_toast);
  g_clear_object (&self->watch);
  g_clear_object (&self->advisor);
  g_clear_object (&self->book);

  G_OBJECT_CLASS (qm_quotes_page_parent_class)->dispose (object);
}

static void
qm_quotes_page_finalize (GObject *object)
{
  g_clear_pointer (&QM_QUOTES_PAGE (object)->deleted, g_array_unref);

  G_OBJECT_CLASS (qm_quotes_page_parent_class)->finalize (object);
}

static void
bind_quotes_page (GtkWidgetClass *widget_class)
{
  gtk_widget_class_bind_template_child (widget_class, QmQuotesPage, overlay);
  gtk_widget_class_bind_template_child (widget_class, QmQuotesPage, stack);
  gtk_widget_class_bind_template_child (widget_class, QmQuotesPage, failed);
  gtk_widget_class_bind_template_child (widget_class, QmQuotesPage, leaflet);
  gtk_widget_class_bind_template_child (widget_class, QmQuotesPage, list);
  gtk_widget_class_bind_template_child (widget_class, QmQuotesPage, list_box);
  gtk_widget_class_bind_template_child (widget_class, QmQuotesPage, detail_box);
  gtk_widget_class_bind_template_child (widget_class, QmQuotesPage,
                                        back_button);
  gtk_widget_class_bind_template_child (widget_class, QmQuotesPage,
                                        unmark_button);
  gtk_widget_class_bind_template_child (widget_class, QmQuotesPage,
                                        detail_stack);
  gtk_widget_class_bind_template_child (widget_class, QmQuotesPage, view);
  gtk_widget_class_bind_template_child (widget_class, QmQuotesPage,
                                        compare_view);
}

static void
qm_quotes_page_class_init (QmQuotesPageClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->dispose = qm_quotes_page_dispose;
  object_class->finalize = qm_quotes_page_finalize;

  g_type_ensure (QM_TYPE_QUOTE_LIST);
  g_type_ensure (QM_TYPE_QUOTE_VIEW);
  g_type_ensure (QM_TYPE_QUOTE_COMPARE_VIEW);
  g_type_ensure (QM_TYPE_SPINNER);

  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-quotes-page.ui");
  bind_quotes_page (widget_class);
  gtk_widget_class_bind_template_callback (widget_class, quote_selected_cb);
  gtk_widget_class_bind_template_callback (widget_class, activated_cb);
  gtk_widget_class_bind_template_callback (widget_class, marked_cb);
  gtk_widget_class_bind_template_callback (widget_class, back_cb);
  gtk_widget_class_bind_template_callback (widget_class, folded_cb);
  gtk_widget_class_bind_template_callback (widget_class, matched_cb);
  gtk_widget_class_bind_template_callback (widget_class, quote_answered_cb);
  gtk_widget_class_bind_template_callback (widget_class,
                                           qm_quote_list_unmark_all);

  qm_quotes_page_install_import (widget_class);
  qm_quotes_page_install_edit (widget_class);
  qm_quotes_page_install_papers (widget_class);
  gtk_widget_class_install_action (widget_class, "quotes.compare", NULL,
                                   compare_cb);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_d,
                                       GDK_CONTROL_MASK, "quotes.compare",
                                       NULL);
  gtk_widget_class_install_action (widget_class, "quotes.watch", NULL,
                                   watch_cb);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_p,
                                       GDK_CONTROL_MASK | GDK_SHIFT_MASK,
                                       "quotes.watch", NULL);
}

static void
qm_quotes_page_init (QmQuotesPage *self)
{
  self->deleted = g_array_new (FALSE, FALSE, sizeof (gint64));
  gtk_widget_init_template (GTK_WIDGET (self));
  qm_quotes_page_accept_drops (self);
  folded_cb (self);
  update_actions (self);
}
