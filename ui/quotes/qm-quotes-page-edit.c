/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/quotes/qm-quotes-page-private.h"

#include "pricing/formats/qm-quote-csv.h"
#include "pricing/formats/qm-quote-ubl.h"
#include "ui/advisor/qm-results-files.h"
#include "ui/qm-toasts.h"
#include "ui/quotes/qm-price-history.h"
#include "ui/quotes/qm-quote-editor.h"
#include "ui/quotes/qm-quote-text.h"

#include <glib/gi18n-lib.h>

static void
saved_cb (QmQuotesPage *self, gint64 id)
{
  qm_quote_list_select (self->list, id);
  qm_quotes_page_tell (self, _ ("The quote is stored"));
}

static void
open_editor (QmQuotesPage *self, const QmQuote *quote)
{
  GtkWidget *editor;

  if (qm_quote_book_get_store (self->book) == NULL)
    return;
  editor =
      qm_quote_editor_new (qm_quotes_page_window (self), self->book, quote);
  g_signal_connect_object (editor, "saved", G_CALLBACK (saved_cb), self,
                           G_CONNECT_SWAPPED);
  gtk_window_present (GTK_WINDOW (editor));
}

static void
new_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  open_editor (QM_QUOTES_PAGE (widget), NULL);
}

static void
edit_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmQuotesPage *self = QM_QUOTES_PAGE (widget);
  g_autoptr (QmQuote) quote = qm_quotes_page_get_quote (self);

  if (quote != NULL)
    open_editor (self, quote);
}

/* Deleting. */

/* What cannot be undone any more is not offered. */
static void
dismiss_undo (QmQuotesPage *self)
{
  if (self->undo_toast != NULL)
    qm_toasts_dismiss (self->overlay, self->undo_toast);
  g_clear_weak_pointer (&self->undo_toast);
}

/* Where what had the keyboard is gone, its keys would go to nobody, Ctrl+Z
 * among them. */
static void
keep_keyboard (QmQuotesPage *self)
{
  GtkRoot *root = gtk_widget_get_root (GTK_WIDGET (self));
  GtkWidget *focus = root != NULL ? gtk_root_get_focus (root) : NULL;

  if (focus != NULL && gtk_widget_get_mapped (focus)
      && gtk_widget_is_ancestor (focus, GTK_WIDGET (self)))
    return;
  if (!qm_quote_list_focus_rows (self->list))
    gtk_widget_child_focus (GTK_WIDGET (self->overlay), GTK_DIR_TAB_FORWARD);
}

static void
delete_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmQuotesPage *self = QM_QUOTES_PAGE (widget);
  g_autoptr (QmQuote) quote = qm_quotes_page_get_quote (self);
  g_autoptr (GError) error = NULL;
  g_autofree char *title = NULL;
  g_autofree char *message = NULL;
  g_autofree char *markup = NULL;
  AdwToast *toast;

  if (quote == NULL)
    return;
  /* Before the list hears of it, so that it can be undone from then on. */
  g_array_append_val (self->deleted, quote->id);
  if (!qm_quote_book_delete (self->book, quote->id, &error))
    {
      g_array_set_size (self->deleted, self->deleted->len - 1);
      qm_quotes_page_tell (self, error->message);
      return;
    }
  title = qm_quote_title (quote->vendor, quote->number, quote->alternative,
                          quote->source);
  message = g_strdup_printf (_ ("Deleted: %s"), title);
  markup = g_markup_escape_text (message, -1);
  toast = adw_toast_new (markup);
  adw_toast_set_button_label (toast, _ ("_Undo"));
  adw_toast_set_action_name (toast, "quotes.restore");
  adw_toast_set_action_target (toast, "x", quote->id);
  dismiss_undo (self);
  g_set_weak_pointer (&self->undo_toast, toast);
  qm_toasts_show (self->overlay, toast);
  adw_leaflet_set_visible_child_name (self->leaflet, "list");
  keep_keyboard (self);
}

static void
restore (QmQuotesPage *self, gint64 id)
{
  g_autoptr (GError) error = NULL;

  dismiss_undo (self);
  for (guint i = self->deleted->len; i > 0; i--)
    if (g_array_index (self->deleted, gint64, i - 1) == id)
      g_array_remove_index (self->deleted, i - 1);
  if (qm_quote_book_restore (self->book, id, &error))
    qm_quote_list_select (self->list, id);
  else
    qm_quotes_page_tell (self, error->message);
}

static void
restore_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  restore (QM_QUOTES_PAGE (widget), g_variant_get_int64 (parameter));
}

static void
undo_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmQuotesPage *self = QM_QUOTES_PAGE (widget);

  if (self->deleted->len > 0)
    restore (self,
             g_array_index (self->deleted, gint64, self->deleted->len - 1));
}

/* One window at a time: what is asked for last is shown. */
static void
show_history (QmQuotesPage *self, const char *item)
{
  if (self->history != NULL)
    qm_price_history_set_item (QM_PRICE_HISTORY (self->history), item);
  else
    g_set_weak_pointer (&self->history,
                        qm_price_history_new (qm_quotes_page_window (self),
                                              self->book, item));
  gtk_window_present (GTK_WINDOW (self->history));
}

/* The history of the first GPU or machine that the quote is about. */
static void
history_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmQuotesPage *self = QM_QUOTES_PAGE (widget);
  g_autoptr (QmQuote) quote = qm_quotes_page_get_quote (self);

  for (guint i = 0; quote != NULL && i < quote->lines->len; i++)
    {
      const QmQuoteLine *line = g_ptr_array_index (quote->lines, i);

      if (line->item == NULL)
        continue;
      show_history (self, line->item);
      return;
    }
  if (quote != NULL)
    qm_quotes_page_tell (self, _ ("This quote names nothing of the catalog"));
}

/* Exporting: the marked quotes as a table, or else the selected one. */

static GBytes *
csv_bytes (gpointer owner, QmPlotFormat format, guint kinds, GError **error)
{
  QmQuotesPage *self = owner;
  GArray *marked = qm_quote_list_get_marked (self->list);
  g_autoptr (GPtrArray) quotes =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
  gint64 selected = qm_quote_list_get_selected (self->list);

  for (guint i = 0; i < MAX (marked->len, 1); i++)
    {
      gint64 id =
          marked->len > 0 ? g_array_index (marked, gint64, i) : selected;
      QmQuote *quote = qm_quote_book_get (self->book, id, error);

      if (quote == NULL)
        return NULL;
      g_ptr_array_add (quotes, quote);
    }
  return qm_quote_csv_write (quotes);
}

static GBytes *
ubl_bytes (gpointer owner, QmPlotFormat format, guint kinds, GError **error)
{
  QmQuotesPage *self = owner;
  g_autoptr (QmQuote) quote =
      qm_quote_book_get (self->book, qm_quote_list_get_selected (self->list),
                         error);

  return quote != NULL ? qm_quote_ubl_write (quote, error) : NULL;
}

static void
done_cb (gpointer owner, const char *message)
{
  qm_quotes_page_tell (owner, message);
}

static void
export_csv_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  const QmSaveRequest request = {
    .title = _ ("Export Quotes"),
    .name = _ ("quotes.csv"),
    .make_bytes = csv_bytes,
    .done = done_cb,
  };

  qm_results_save (widget, &request);
}

static void
export_ubl_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  const QmSaveRequest request = {
    .title = _ ("Export Quote"),
    .name = _ ("quote.xml"),
    .filter_name = _ ("UBL documents"),
    .filter_pattern = "*.xml",
    .make_bytes = ubl_bytes,
    .done = done_cb,
  };

  qm_results_save (widget, &request);
}

void
qm_quotes_page_install_edit (GtkWidgetClass *widget_class)
{
  static const struct
  {
    const char *action;
    GtkWidgetActionActivateFunc callback;
    guint key;
    GdkModifierType modifiers;
  } actions[] = {
    { "quotes.new", new_cb, GDK_KEY_n, GDK_CONTROL_MASK },
    { "quotes.edit", edit_cb, GDK_KEY_F2, 0 },
    { "quotes.delete", delete_cb, GDK_KEY_Delete, 0 },
    { "quotes.history", history_cb, GDK_KEY_h, GDK_CONTROL_MASK },
    { "quotes.undo", undo_cb, GDK_KEY_z, GDK_CONTROL_MASK },
    { "quotes.export-csv", export_csv_cb, GDK_KEY_s, GDK_CONTROL_MASK },
    { "quotes.export-ubl", export_ubl_cb, GDK_KEY_u, GDK_CONTROL_MASK },
  };

  for (guint i = 0; i < G_N_ELEMENTS (actions); i++)
    {
      gtk_widget_class_install_action (widget_class, actions[i].action, NULL,
                                       actions[i].callback);
      gtk_widget_class_add_binding_action (widget_class, actions[i].key,
                                           actions[i].modifiers,
                                           actions[i].action, NULL);
    }
  gtk_widget_class_install_action (widget_class, "quotes.restore", "x",
                                   restore_cb);
}
