/* SPDX-License-Identifier: Apache-2.0 */

/* The window's commands for questions that are files, and the question of the
 * very first start. */

#include "config.h"

#include "ui/advisor/qm-first-dialog.h"
#include "ui/qm-window-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* The desktop remembers it, as what this program opens. */
static void
remember (GFile *file)
{
  g_autofree char *uri = g_file_get_uri (file);
  char *groups[] = { NULL };
  GtkRecentData data = { .mime_type = (char *) QM_WINDOW_QUESTION_TYPE,
                         .app_name = (char *) g_get_application_name (),
                         .app_exec = (char *) "quartermaster %f",
                         .groups = groups };

  gtk_recent_manager_add_full (gtk_recent_manager_get_default (), uri, &data);
}

/* (transfer full) */
static char *
name_of (GFile *file)
{
  g_autofree char *base = g_file_get_basename (file);

  return g_filename_display_name (base);
}

static void
tell_not_opened (QmWindow *self, GFile *file, const char *why)
{
  g_autofree char *name = name_of (file);
  /* Translators: file name, what is wrong. */
  g_autofree char *message =
      g_strdup_printf (_ ("“%s” is not opened: %s"), name, why);

  qm_window_add_toast (self, message);
}

static void
tell_not_saved (QmWindow *self, GFile *file, const char *why)
{
  g_autofree char *name = name_of (file);
  /* Translators: file name, what is wrong. */
  g_autofree char *message =
      g_strdup_printf (_ ("“%s” is not saved: %s"), name, why);

  qm_window_add_toast (self, message);
}

/* What is asked from now on. */
static void
tell_opened (QmWindow *self, GFile *file, const QmAsked *asked)
{
  g_autofree char *name = name_of (file);
  g_autofree char *message = NULL;

  if (asked->question->purse.budget_minor >= 0)
    /* Translators: file name. */
    message = g_strdup_printf (_ ("“%s” is asked"), name);
  else
    /* Translators: file name. */
    message = g_strdup_printf (_ ("“%s” is asked, which has no budget: set "
                                  "one"),
                               name);
  qm_window_add_toast (self, message);
}

/* The question of a text, with the exchange rate of its currency. */
static void
take_text (QmWindow *self, GFile *file, const char *text, gsize length)
{
  g_autofree char *shown = name_of (file);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmAsked) asked = qm_asked_read (text, length, shown, &error);

  if (asked != NULL)
    qm_window_ensure_rates (self, asked->question->purse.currency);
  if (asked == NULL || !qm_advisor_take_asked (self->advisor, asked, &error))
    {
      tell_not_opened (self, file, error->message);
      return;
    }
  adw_view_stack_set_visible_child_name (self->stack, "advisor");
  remember (file);
  tell_opened (self, file, asked);
}

/* A file while it is read. */
typedef struct
{
  QmWindow *window;
  GFile *file;
  char *text;
} Reading;

static void
reading_free (Reading *reading)
{
  g_object_unref (reading->window);
  g_object_unref (reading->file);
  g_free (reading->text);
  g_free (reading);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Reading, reading_free)

static void
read_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (Reading) reading = data;
  g_autoptr (GError) error = NULL;
  gsize length;
  gboolean done = g_input_stream_read_all_finish (G_INPUT_STREAM (source),
                                                  result, &length, &error);

  /* The window may be gone by now. */
  if (reading->window->advisor == NULL)
    return;
  if (done)
    take_text (reading->window, reading->file, reading->text, length);
  else
    tell_not_opened (reading->window, reading->file, error->message);
}

/* More than a question may have is not read. */
static void
opened_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (Reading) reading = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GFileInputStream) stream =
      g_file_read_finish (reading->file, result, &error);
  char *text;

  if (reading->window->advisor == NULL)
    return;
  if (stream == NULL)
    {
      tell_not_opened (reading->window, reading->file, error->message);
      return;
    }
  text = reading->text = g_malloc (QM_ASKED_MAX_BYTES + 1);
  g_input_stream_read_all_async (G_INPUT_STREAM (stream), text,
                                 QM_ASKED_MAX_BYTES + 1, G_PRIORITY_DEFAULT,
                                 NULL, read_cb, g_steal_pointer (&reading));
}

void
qm_window_open_question (QmWindow *self, GFile *file)
{
  Reading *reading;

  g_return_if_fail (QM_IS_WINDOW (self) && G_IS_FILE (file));

  if (self->advisor == NULL)
    return;
  if (self->first != NULL)
    gtk_window_close (GTK_WINDOW (self->first));
  reading = g_new0 (Reading, 1);
  reading->window = g_object_ref (self);
  reading->file = g_object_ref (file);
  g_file_read_async (file, G_PRIORITY_DEFAULT, NULL, opened_cb, reading);
}

static void
written_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (QmWindow) self = data;
  g_autoptr (GError) error = NULL;
  g_autofree char *name = NULL;
  g_autofree char *message = NULL;
  gboolean done =
      g_file_replace_contents_finish (G_FILE (source), result, NULL, &error);

  if (self->advisor == NULL)
    return;
  if (!done)
    {
      tell_not_saved (self, G_FILE (source), error->message);
      return;
    }
  remember (G_FILE (source));
  name = name_of (G_FILE (source));
  /* Translators: file name. */
  message = g_strdup_printf (_ ("“%s” is saved"), name);
  qm_window_add_toast (self, message);
}

/* The file of that name with its ending, unless somebody has that one: the
 * chooser asked about the other. */
static GFile *
with_ending (QmWindow *self, GFile *file)
{
  g_autofree char *name = g_file_get_basename (file);
  g_autofree char *full = NULL;
  g_autoptr (GFile) folder = NULL;
  g_autoptr (GFile) other = NULL;

  if (g_str_has_suffix (name, QM_ASKED_SUFFIX))
    return g_object_ref (file);
  full = g_strconcat (name, QM_ASKED_SUFFIX, NULL);
  folder = g_file_get_parent (file);
  if (folder == NULL)
    return NULL;
  other = g_file_get_child (folder, full);
  if (!g_file_query_exists (other, NULL))
    return g_steal_pointer (&other);
  tell_not_saved (self, other, _ ("a file of that name is there already"));
  return NULL;
}

static void
save (QmWindow *self, GFile *chosen)
{
  g_autoptr (GFile) file = with_ending (self, chosen);
  g_autoptr (QmAsked) asked = NULL;
  g_autoptr (GBytes) bytes = NULL;
  char *text;

  if (file == NULL)
    return;
  asked = qm_advisor_get_asked (self->advisor);
  text = qm_asked_write (asked);
  bytes = g_bytes_new_take (text, strlen (text));
  g_file_replace_contents_bytes_async (file, bytes, NULL, FALSE,
                                       G_FILE_CREATE_REPLACE_DESTINATION, NULL,
                                       written_cb, g_object_ref (self));
}

static void
response_cb (QmWindow *self, int response)
{
  g_autoptr (GtkFileChooserNative) chooser = g_steal_pointer (&self->chooser);
  g_autoptr (GFile) file = NULL;

  if (response == GTK_RESPONSE_ACCEPT)
    file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (chooser));
  if (file == NULL || self->advisor == NULL)
    return;
  if (gtk_file_chooser_get_action (GTK_FILE_CHOOSER (chooser))
      == GTK_FILE_CHOOSER_ACTION_SAVE)
    save (self, file);
  else
    qm_window_open_question (self, file);
}

static void
choose (QmWindow *self, const char *title, GtkFileChooserAction action)
{
  g_autoptr (GtkFileFilter) filter = gtk_file_filter_new ();

  if (self->chooser != NULL)
    return;
  self->chooser = gtk_file_chooser_native_new (title, GTK_WINDOW (self), action,
                                               NULL, NULL);
  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (self->chooser), TRUE);
  gtk_file_filter_set_name (filter, _ ("Questions (NAME.quartermaster)"));
  gtk_file_filter_add_pattern (filter, "*" QM_ASKED_SUFFIX);
  gtk_file_chooser_add_filter (GTK_FILE_CHOOSER (self->chooser), filter);
  if (action == GTK_FILE_CHOOSER_ACTION_SAVE)
    {
      /* Translators: name of a file, before its ending. */
      g_autofree char *name =
          g_strconcat (_ ("Question"), QM_ASKED_SUFFIX, NULL);

      gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (self->chooser),
                                         name);
    }
  g_signal_connect_object (self->chooser, "response", G_CALLBACK (response_cb),
                           self, G_CONNECT_SWAPPED);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (self->chooser));
}

/* Whether somebody asked something before, by any version. */
static gboolean
has_asked (GSettings *settings)
{
  g_autoptr (GVariant) models = g_settings_get_user_value (settings, "models");

  return models != NULL || g_settings_get_boolean (settings, "first-asked");
}

static void
first_asked_cb (QmWindow *self)
{
  g_clear_weak_pointer (&self->first);
  if (self->settings != NULL)
    g_settings_set_boolean (self->settings, "first-asked", TRUE);
}

void
qm_window_ask_first (QmWindow *self)
{
  g_return_if_fail (QM_IS_WINDOW (self));

  /* Where nothing is kept, every start would be the first. */
  if (self->settings == NULL || self->advisor == NULL || self->first != NULL
      || has_asked (self->settings))
    return;
  g_set_weak_pointer (&self->first,
                      qm_first_dialog_new (GTK_WINDOW (self), self->advisor));
  g_signal_connect_object (self->first, "response", G_CALLBACK (first_asked_cb),
                           self, G_CONNECT_SWAPPED);
  gtk_window_present (GTK_WINDOW (self->first));
}

static void
open_question_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  choose (QM_WINDOW (widget), _ ("Open Question"),
          GTK_FILE_CHOOSER_ACTION_OPEN);
}

static void
save_question_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  choose (QM_WINDOW (widget), _ ("Save Question As"),
          GTK_FILE_CHOOSER_ACTION_SAVE);
}

void
qm_window_install_questions (GtkWidgetClass *widget_class)
{
  gtk_widget_class_install_action (widget_class, "win.open-question", NULL,
                                   open_question_cb);
  gtk_widget_class_install_action (widget_class, "win.save-question", NULL,
                                   save_question_cb);
}
