/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/quotes/qm-store-bar.h"

#include "pricing/quotes/qm-quote-store-backup.h"
#include "ui/quotes/qm-backups-window.h"

struct _QmStoreBar
{
  AdwBin parent_instance;

  GtkLabel *label;
  GtkWidget *accept_button;
  GtkWidget *again_button;

  QmQuoteBook *book;
  GtkWidget *backups; /* weak; NULL: not open */
};

G_DEFINE_FINAL_TYPE (QmStoreBar, qm_store_bar, ADW_TYPE_BIN)

static void
update_problems (QmStoreBar *self)
{
  const char *const *problems = qm_quote_book_get_problems (self->book);
  g_autofree char *text = g_strjoinv ("\n", (GStrv) problems);
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  g_autoptr (GPtrArray) damages =
      qm_quote_store_damages (qm_quote_book_get_path (self->book));

  gtk_label_set_text (self->label, valid);
  gtk_widget_set_visible (self->accept_button, damages->len > 0);
  gtk_widget_set_visible (self->again_button,
                          !qm_quote_book_is_writable (self->book));
  gtk_widget_set_visible (GTK_WIDGET (self), problems[0] != NULL);
}

static void
accept_cb (QmStoreBar *self)
{
  g_autoptr (GError) error = NULL;

  if (!qm_quote_store_accept_damages (qm_quote_book_get_path (self->book),
                                      &error))
    gtk_label_set_text (self->label, error->message);
  else
    qm_quote_book_reload (self->book);
}

static void
again_cb (QmStoreBar *self)
{
  qm_quote_book_reload (self->book);
}

static void
show_backups_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmStoreBar *self = QM_STORE_BAR (widget);
  GtkRoot *root = gtk_widget_get_root (widget);

  if (self->book == NULL)
    return;
  if (self->backups == NULL)
    g_set_weak_pointer (
        &self->backups,
        qm_backups_window_new (GTK_IS_WINDOW (root) ? GTK_WINDOW (root) : NULL,
                               self->book));
  gtk_window_present (GTK_WINDOW (self->backups));
}

void
qm_store_bar_set_book (QmStoreBar *self, QmQuoteBook *book)
{
  g_return_if_fail (QM_IS_STORE_BAR (self));
  g_return_if_fail (QM_IS_QUOTE_BOOK (book) && self->book == NULL);

  self->book = g_object_ref (book);
  g_signal_connect_object (book, "problems", G_CALLBACK (update_problems), self,
                           G_CONNECT_SWAPPED);
  update_problems (self);
}

static void
qm_store_bar_dispose (GObject *object)
{
  QmStoreBar *self = QM_STORE_BAR (object);

  g_clear_weak_pointer (&self->backups);
  g_clear_object (&self->book);

  G_OBJECT_CLASS (qm_store_bar_parent_class)->dispose (object);
}

static void
qm_store_bar_class_init (QmStoreBarClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = qm_store_bar_dispose;

  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-store-bar.ui");
  gtk_widget_class_bind_template_child (widget_class, QmStoreBar, label);
  gtk_widget_class_bind_template_child (widget_class, QmStoreBar,
                                        accept_button);
  gtk_widget_class_bind_template_child (widget_class, QmStoreBar, again_button);
  gtk_widget_class_bind_template_callback (widget_class, accept_cb);
  gtk_widget_class_bind_template_callback (widget_class, again_cb);
  gtk_widget_class_install_action (widget_class, "store.backups", NULL,
                                   show_backups_cb);
}

static void
qm_store_bar_init (QmStoreBar *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
