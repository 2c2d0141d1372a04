/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/quotes/qm-backups-window.h"

#include "pricing/qm-format.h"

#include "pricing/quotes/qm-quote-store-backup.h"
#include "ui/qm-toasts.h"

#include <glib/gi18n-lib.h>

struct _QmBackupsWindow
{
  AdwWindow parent_instance;

  AdwToastOverlay *overlay;
  AdwPreferencesGroup *backups;
  AdwPreferencesGroup *damages;

  QmQuoteBook *book;
  GPtrArray *rows; /* GtkWidget, borrowed */
};

G_DEFINE_FINAL_TYPE (QmBackupsWindow, qm_backups_window, ADW_TYPE_WINDOW)

/* --- rows --- */

/* A row with a button that runs an action on a path. */
static void
add_backup_row (QmBackupsWindow *self,
                AdwPreferencesGroup *group,
                const char *title,
                const char *subtitle,
                const char *label,
                const char *action,
                const char *path)
{
  g_autofree char *title_markup = g_markup_escape_text (title, -1);
  g_autofree char *subtitle_markup = g_markup_escape_text (subtitle, -1);
  GtkWidget *row = g_object_new (ADW_TYPE_ACTION_ROW, "title", title_markup,
                                 "subtitle", subtitle_markup, NULL);

  if (label != NULL)
    {
      GtkWidget *button = gtk_button_new_with_label (label);

      gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
      gtk_actionable_set_action_name (GTK_ACTIONABLE (button), action);
      gtk_actionable_set_action_target (GTK_ACTIONABLE (button), "^ay", path);
      gtk_accessible_update_property (GTK_ACCESSIBLE (button),
                                      GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                      title, -1);
      adw_action_row_add_suffix (ADW_ACTION_ROW (row), button);
      adw_action_row_set_activatable_widget (ADW_ACTION_ROW (row), button);
    }
  adw_preferences_group_add (group, row);
  g_object_set_data (G_OBJECT (row), "group", group);
  g_ptr_array_add (self->rows, row);
}

static void
add_backup (QmBackupsWindow *self, const QmStoreBackup *backup)
{
  g_autofree char *title = qm_format_moment (backup->made_at);
  g_autofree char *subtitle =
      backup->trouble != NULL
          ? g_strdup (backup->trouble)
          : g_strdup_printf (ngettext ("%d quote", "%d quotes",
                                       (gulong) backup->n_quotes),
                             (int) backup->n_quotes);

  add_backup_row (self, self->backups, title, subtitle,
                  backup->trouble == NULL ? _ ("Bring Back") : NULL,
                  "backups.restore", backup->path);
}

static void
add_damage (QmBackupsWindow *self, const QmStoreDamage *damage)
{
  g_autofree char *base = g_path_get_basename (damage->path);
  g_autofree char *name = g_filename_display_name (base);

  add_backup_row (self, self->damages, name, damage->text, _ ("Show File"),
                  "backups.show-file", damage->path);
}

static void
update_backups (QmBackupsWindow *self)
{
  const char *path = qm_quote_book_get_path (self->book);
  g_autoptr (GPtrArray) backups = qm_quote_store_backups (path);
  g_autoptr (GPtrArray) damages = qm_quote_store_damages (path);

  for (guint i = 0; i < self->rows->len; i++)
    {
      GtkWidget *row = g_ptr_array_index (self->rows, i);

      adw_preferences_group_remove (g_object_get_data (G_OBJECT (row), "group"),
                                    row);
    }
  g_ptr_array_set_size (self->rows, 0);
  for (guint i = 0; i < backups->len; i++)
    add_backup (self, g_ptr_array_index (backups, i));
  if (backups->len == 0)
    add_backup_row (self, self->backups, _ ("No backup yet"),
                    _ ("The first one is made when something is stored"), NULL,
                    NULL, NULL);
  for (guint i = 0; i < damages->len; i++)
    add_damage (self, g_ptr_array_index (damages, i));
  gtk_widget_set_visible (GTK_WIDGET (self->damages), damages->len > 0);
}

/* --- actions --- */

static void
restore_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmBackupsWindow *self = QM_BACKUPS_WINDOW (widget);
  g_autoptr (GError) error = NULL;

  if (!qm_quote_store_restore_backup (qm_quote_book_get_path (self->book),
                                      g_variant_get_bytestring (parameter),
                                      &error))
    {
      qm_toasts_tell (self->overlay, error->message);
      return;
    }
  qm_quote_book_reload (self->book);
  update_backups (self);
  qm_toasts_tell (self->overlay,
                  _ ("The backup is in use; what was there before is kept"));
}

static void
show_file_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  g_autofree char *folder =
      g_path_get_dirname (g_variant_get_bytestring (parameter));
  g_autofree char *uri = g_filename_to_uri (folder, NULL, NULL);

  if (uri != NULL)
    gtk_show_uri (GTK_WINDOW (widget), uri, GDK_CURRENT_TIME);
}

GtkWidget *
qm_backups_window_new (GtkWindow *parent, QmQuoteBook *book)
{
  QmBackupsWindow *self;

  g_return_val_if_fail (parent == NULL || GTK_IS_WINDOW (parent), NULL);
  g_return_val_if_fail (QM_IS_QUOTE_BOOK (book), NULL);

  self = g_object_new (QM_TYPE_BACKUPS_WINDOW, "transient-for", parent, NULL);
  self->book = g_object_ref (book);
  g_signal_connect_object (book, "problems", G_CALLBACK (update_backups), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (book, "changed", G_CALLBACK (update_backups), self,
                           G_CONNECT_SWAPPED);
  update_backups (self);
  return GTK_WIDGET (self);
}

static void
qm_backups_window_dispose (GObject *object)
{
  g_clear_object (&QM_BACKUPS_WINDOW (object)->book);

  G_OBJECT_CLASS (qm_backups_window_parent_class)->dispose (object);
}

static void
qm_backups_window_finalize (GObject *object)
{
  g_ptr_array_unref (QM_BACKUPS_WINDOW (object)->rows);

  G_OBJECT_CLASS (qm_backups_window_parent_class)->finalize (object);
}

static void
qm_backups_window_class_init (QmBackupsWindowClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->dispose = qm_backups_window_dispose;
  object_class->finalize = qm_backups_window_finalize;

  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-backups-window.ui");
  gtk_widget_class_bind_template_child (widget_class, QmBackupsWindow, overlay);
  gtk_widget_class_bind_template_child (widget_class, QmBackupsWindow, backups);
  gtk_widget_class_bind_template_child (widget_class, QmBackupsWindow, damages);
  gtk_widget_class_install_action (widget_class, "backups.restore", "ay",
                                   restore_cb);
  gtk_widget_class_install_action (widget_class, "backups.show-file", "ay",
                                   show_file_cb);
}

static void
qm_backups_window_init (QmBackupsWindow *self)
{
  self->rows = g_ptr_array_new ();
  gtk_widget_init_template (GTK_WIDGET (self));
}
