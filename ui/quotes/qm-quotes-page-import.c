/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/quotes/qm-quotes-page-private.h"

#include "ui/quotes/qm-quote-draft.h"

#include <glib/gi18n-lib.h>

static void
stored_cb (QmQuotesPage *self, gint64 id, guint added, guint present)
{
  g_autofree char *message = NULL;

  if (added == 0)
    message = g_strdup (_ ("This document was imported before"));
  else if (present == 0)
    message = g_strdup_printf (
        ngettext ("%u quote stored", "%u quotes stored", added), added);
  else
    /* Translators: numbers of quotes. */
    message =
        g_strdup_printf (_ ("%u stored, %u were there before"), added, present);
  qm_quotes_page_tell (self, message);
  qm_quote_list_select (self->list, id);
}

static void
import_readers (QmQuotesPage *self, GPtrArray *readers)
{
  GtkWidget *draft;

  if (qm_quote_book_get_store (self->book) == NULL || readers->len == 0)
    return;
  draft =
      qm_quote_draft_new (qm_quotes_page_window (self), self->book, readers);
  g_signal_connect_object (draft, "stored", G_CALLBACK (stored_cb), self,
                           G_CONNECT_SWAPPED);
  gtk_window_present (GTK_WINDOW (draft));
}

static void
import_text (QmQuotesPage *self, const char *text)
{
  g_autoptr (GPtrArray) readers =
      g_ptr_array_new_with_free_func (g_object_unref);

  if (qm_quote_reader_is_address (text))
    g_ptr_array_add (readers,
                     qm_quote_reader_new_for_address (self->book, text));
  else
    g_ptr_array_add (readers, qm_quote_reader_new_for_text (self->book, text));
  import_readers (self, readers);
}

/* Imports files: what was read is shown before it is stored.
 *
 * files: of GFile. */
static void
import_files (QmQuotesPage *self, GListModel *files)
{
  g_autoptr (GPtrArray) readers =
      g_ptr_array_new_with_free_func (g_object_unref);

  g_return_if_fail (QM_IS_QUOTES_PAGE (self));
  g_return_if_fail (G_IS_LIST_MODEL (files));

  for (guint i = 0; i < g_list_model_get_n_items (files); i++)
    {
      g_autoptr (GFile) file = g_list_model_get_item (files, i);

      g_ptr_array_add (readers,
                       qm_quote_reader_new_for_file (self->book, file));
    }
  import_readers (self, readers);
}

static void
import_file_list (QmQuotesPage *self, const GValue *value)
{
  GdkFileList *list = g_value_get_boxed (value);
  g_autoptr (GSList) files = gdk_file_list_get_files (list);
  g_autoptr (GListStore) store = g_list_store_new (G_TYPE_FILE);

  for (GSList *iter = files; iter != NULL; iter = iter->next)
    g_list_store_append (store, iter->data);
  import_files (self, G_LIST_MODEL (store));
}

/* Files. */

static void
files_chosen_cb (QmQuotesPage *self, int response)
{
  g_autoptr (GListModel) files = NULL;

  if (response == GTK_RESPONSE_ACCEPT)
    files = gtk_file_chooser_get_files (GTK_FILE_CHOOSER (self->chooser));
  if (files != NULL)
    import_files (self, files);
  g_clear_object (&self->chooser);
}

static void
import_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmQuotesPage *self = QM_QUOTES_PAGE (widget);
  g_autoptr (GtkFileFilter) usual = gtk_file_filter_new ();
  g_autoptr (GtkFileFilter) all = gtk_file_filter_new ();
  static const char *const patterns[] = { "*.pdf", "*.xlsx", "*.ods", "*.csv",
                                          "*.tsv", "*.txt",  "*.xml", "*.html",
                                          "*.htm", "*.eml",  "*.json" };
  GtkFileChooser *chooser;

  if (self->chooser != NULL)
    return;
  self->chooser =
      gtk_file_chooser_native_new (_ ("Import Quotes"),
                                   qm_quotes_page_window (self),
                                   GTK_FILE_CHOOSER_ACTION_OPEN, NULL, NULL);
  chooser = GTK_FILE_CHOOSER (self->chooser);
  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (self->chooser), TRUE);
  gtk_file_chooser_set_select_multiple (chooser, TRUE);
  gtk_file_filter_set_name (usual, _ ("Documents with quotes"));
  for (guint i = 0; i < G_N_ELEMENTS (patterns); i++)
    gtk_file_filter_add_pattern (usual, patterns[i]);
  gtk_file_chooser_add_filter (chooser, usual);
  gtk_file_filter_set_name (all, _ ("All files"));
  gtk_file_filter_add_pattern (all, "*");
  gtk_file_chooser_add_filter (chooser, all);
  g_signal_connect_object (self->chooser, "response",
                           G_CALLBACK (files_chosen_cb), self,
                           G_CONNECT_SWAPPED);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (self->chooser));
}

/* The clipboard. */

static void
pasted_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (QmQuotesPage) self = user_data;
  g_autoptr (GError) error = NULL;
  const GValue *value =
      gdk_clipboard_read_value_finish (GDK_CLIPBOARD (source), result, &error);

  if (value == NULL)
    qm_quotes_page_tell (self, error->message);
  else if (G_VALUE_HOLDS (value, GDK_TYPE_FILE_LIST))
    import_file_list (self, value);
  else if (g_value_get_string (value) != NULL)
    import_text (self, g_value_get_string (value));
}

static void
paste_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmQuotesPage *self = QM_QUOTES_PAGE (widget);
  GdkClipboard *clipboard = gtk_widget_get_clipboard (widget);
  GdkContentFormats *formats = gdk_clipboard_get_formats (clipboard);
  g_autoptr (GdkContentFormats) readable =
      gdk_content_formats_union_deserialize_gtypes (
          gdk_content_formats_ref (formats));
  GType type = G_TYPE_STRING;

  if (gdk_content_formats_contain_gtype (readable, GDK_TYPE_FILE_LIST))
    type = GDK_TYPE_FILE_LIST;
  else if (!gdk_content_formats_contain_gtype (readable, G_TYPE_STRING))
    {
      qm_quotes_page_tell (self, _ ("There is no text and no file to paste"));
      return;
    }
  gdk_clipboard_read_value_async (clipboard, type, G_PRIORITY_DEFAULT, NULL,
                                  pasted_cb, g_object_ref (self));
}

/* Addresses. */

static void
address_response_cb (QmQuotesPage *self,
                     const char *response,
                     GtkWidget *dialog)
{
  GtkWidget *entry =
      adw_message_dialog_get_extra_child (ADW_MESSAGE_DIALOG (dialog));
  const char *text = gtk_editable_get_text (GTK_EDITABLE (entry));
  g_autoptr (GPtrArray) readers = NULL;

  if (g_strcmp0 (response, "read") != 0 || *text == '\0')
    return;
  readers = g_ptr_array_new_with_free_func (g_object_unref);
  g_ptr_array_add (readers, qm_quote_reader_new_for_address (self->book, text));
  import_readers (self, readers);
}

static void
address_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmQuotesPage *self = QM_QUOTES_PAGE (widget);
  GtkWidget *entry = gtk_entry_new ();
  GtkWidget *dialog = adw_message_dialog_new (
      qm_quotes_page_window (self), _ ("From Web Address"),
      _ ("The page is fetched once, now. What it says is shown before "
         "anything is stored."));
  AdwMessageDialog *message = ADW_MESSAGE_DIALOG (dialog);

  gtk_entry_set_placeholder_text (GTK_ENTRY (entry), "https://");
  gtk_entry_set_input_purpose (GTK_ENTRY (entry), GTK_INPUT_PURPOSE_URL);
  gtk_entry_set_activates_default (GTK_ENTRY (entry), TRUE);
  gtk_accessible_update_property (GTK_ACCESSIBLE (entry),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Web address"), -1);
  adw_message_dialog_set_extra_child (message, entry);
  adw_message_dialog_add_responses (message, "cancel", _ ("_Cancel"), "read",
                                    _ ("_Read"), NULL);
  adw_message_dialog_set_response_appearance (message, "read",
                                              ADW_RESPONSE_SUGGESTED);
  adw_message_dialog_set_default_response (message, "read");
  adw_message_dialog_set_close_response (message, "cancel");
  g_signal_connect_object (dialog, "response", G_CALLBACK (address_response_cb),
                           self, G_CONNECT_SWAPPED);
  gtk_window_present (GTK_WINDOW (dialog));
  gtk_widget_grab_focus (entry);
}

/* Dropping. */

static gboolean
quotes_dropped_cb (GtkDropTarget *target,
                   const GValue *value,
                   double x,
                   double y,
                   QmQuotesPage *self)
{
  if (G_VALUE_HOLDS (value, GDK_TYPE_FILE_LIST))
    import_file_list (self, value);
  else if (G_VALUE_HOLDS (value, G_TYPE_STRING)
           && g_value_get_string (value) != NULL)
    import_text (self, g_value_get_string (value));
  else
    return FALSE;
  return TRUE;
}

void
qm_quotes_page_accept_drops (QmQuotesPage *self)
{
  GtkDropTarget *target = gtk_drop_target_new (G_TYPE_INVALID, GDK_ACTION_COPY);
  GType types[] = { GDK_TYPE_FILE_LIST, G_TYPE_STRING };

  gtk_drop_target_set_gtypes (target, types, G_N_ELEMENTS (types));
  g_signal_connect_object (target, "drop", G_CALLBACK (quotes_dropped_cb), self,
                           0);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (target));
}

void
qm_quotes_page_install_import (GtkWidgetClass *widget_class)
{
  gtk_widget_class_install_action (widget_class, "quotes.import", NULL,
                                   import_cb);
  gtk_widget_class_install_action (widget_class, "quotes.paste", NULL,
                                   paste_cb);
  gtk_widget_class_install_action (widget_class, "quotes.address", NULL,
                                   address_cb);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_v,
                                       GDK_CONTROL_MASK, "quotes.paste", NULL);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_l,
                                       GDK_CONTROL_MASK, "quotes.address",
                                       NULL);
}
