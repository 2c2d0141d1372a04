/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/qm-application.h"

#include "data/datadir.h"
#include "pricing/qm-terms.h"
#include "pricing/quotes/qm-quote-store.h"
#include "ui/machine/qm-bench-session.h"
#include "ui/qm-guide.h"
#include "ui/qm-patience.h"
#include "ui/qm-window.h"

#include <glib-unix.h>
#include <glib/gi18n-lib.h>
#include <limits.h>
#include <signal.h>

struct _QmApplication
{
  AdwApplication parent_instance;

  GSettings *settings;
  QmCatalogKeeper *keeper;
  char *failure; /* why it has no catalog */
  char *color_scheme;
  guint signal_sources[2];
};

enum
{
  PROP_0,
  PROP_COLOR_SCHEME,
  N_PROPS
};

G_DEFINE_FINAL_TYPE (QmApplication, qm_application, ADW_TYPE_APPLICATION)

static GParamSpec *properties[N_PROPS];

typedef struct
{
  const char *action;
  const char *accels[4];
} Shortcut;

static const Shortcut shortcuts[] = {
  { "app.quit", { "<Control>q" } },
  { "app.guide", { "F1" } },
  { "window.close", { "<Control>w" } },
  { "win.reset", { "<Control>r" } },
  { "win.show-sidebar", { "F9" } },
  { "win.open-question", { "<Control><Alt>o" } },
  { "win.save-question", { "<Control><Alt>s" } },
  { "win.search-model", { "<Control>f" } },
  { "win.focus-budget", { "<Control>b" } },
  { "win.import-quotes", { "<Control>o" } },
  { "win.new-model", { "<Control>n" } },
  { "win.models", { "<Control>m" } },
  { "win.take-away", { "<Control>k" } },
  { "win.benchmark-elsewhere", { "<Control><Shift>b" } },
  { "win.import-results", { "<Control><Shift>o" } },
  { "win.show-page::advisor", { "<Alt>1" } },
  { "win.show-page::quotes", { "<Alt>2" } },
  { "win.show-page::machine", { "<Alt>3" } },
  { "win.export-plot", { "<Control>e" } },
  { "win.copy-plot", { "<Control><Shift>c" } },
  { "win.save-table", { "<Control>s", "<Control><Shift>e" } },
  { "win.print", { "<Control>p" } },
  { "win.total-cost", { "<Control>t" } },
  { "win.compare-published", { "<Control><Shift>t" } },
  { "win.all-gpus", { "<Control>j" } },
  { "win.zoom-in", { "<Control>plus", "<Control>equal", "<Control>KP_Add" } },
  { "win.zoom-out", { "<Control>minus", "<Control>KP_Subtract" } },
  { "win.zoom-reset", { "<Control>0", "<Control>KP_0" } },
};

QmApplication *
qm_application_new (GSettings *settings)
{
  QmApplication *self;

  g_return_val_if_fail (settings == NULL || G_IS_SETTINGS (settings), NULL);

  self = g_object_new (QM_TYPE_APPLICATION, "application-id", QM_APP_ID,
                       "flags", G_APPLICATION_HANDLES_OPEN, NULL);
  g_set_object (&self->settings, settings);

  return self;
}

static void
set_color_scheme (QmApplication *self, const char *name)
{
  AdwColorScheme scheme = ADW_COLOR_SCHEME_DEFAULT;

  if (g_strcmp0 (name, "light") == 0)
    scheme = ADW_COLOR_SCHEME_FORCE_LIGHT;
  else if (g_strcmp0 (name, "dark") == 0)
    scheme = ADW_COLOR_SCHEME_FORCE_DARK;
  else
    name = "system";

  if (g_strcmp0 (self->color_scheme, name) == 0)
    return;

  g_free (self->color_scheme);
  self->color_scheme = g_strdup (name);
  adw_style_manager_set_color_scheme (
      adw_application_get_style_manager (ADW_APPLICATION (self)), scheme);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_COLOR_SCHEME]);
}

static QmWindow *
open_window (QmApplication *self)
{
  GtkWidget *window = qm_window_new (GTK_APPLICATION (self), self->settings);

  /* Not before it is needed: it is being read since the start. */
  if (qm_catalog_keeper_get (self->keeper) == NULL)
    qm_catalog_keeper_load (self->keeper, NULL);
  if (qm_catalog_keeper_get (self->keeper) != NULL)
    {
      g_autofree char *path = qm_quote_store_default_path ();

      qm_window_open_catalog (QM_WINDOW (window), self->keeper);
      if (path != NULL)
        qm_window_open_quotes (QM_WINDOW (window), path);
      qm_window_open_machine (QM_WINDOW (window));
    }
  else
    qm_window_show_failure (QM_WINDOW (window), self->failure);
  gtk_window_present (GTK_WINDOW (window));
  return QM_WINDOW (window);
}

/* The window that is used, under whichever dialogs; NULL: none. */
static QmWindow *
used_window (GApplication *application)
{
  GtkWindow *window =
      gtk_application_get_active_window (GTK_APPLICATION (application));

  while (window != NULL && !QM_IS_WINDOW (window))
    window = gtk_window_get_transient_for (window);
  return window != NULL ? QM_WINDOW (window) : NULL;
}

static void
qm_application_activate (GApplication *application)
{
  GtkWindow *window =
      gtk_application_get_active_window (GTK_APPLICATION (application));

  if (window != NULL)
    gtk_window_present (window);
  else
    qm_window_ask_first (open_window (QM_APPLICATION (application)));
}

/* A file manager opens a question so. */
static void
qm_application_open (GApplication *application,
                     GFile **files,
                     int n_files,
                     const char *hint)
{
  QmWindow *window = used_window (application);

  /* Who brings a question is not asked for one. */
  if (window != NULL)
    gtk_window_present (GTK_WINDOW (window));
  else
    window = open_window (QM_APPLICATION (application));
  if (n_files > 0)
    qm_window_open_question (window, files[n_files - 1]);
}

/* Closing, unlike quitting, lets windows save their state. */
static void
close_windows (QmApplication *self)
{
  g_autoptr (GList) windows =
      g_list_copy (gtk_application_get_windows (GTK_APPLICATION (self)));

  for (GList *iter = windows; iter != NULL; iter = iter->next)
    gtk_window_close (iter->data);
}

static void
quit_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  close_windows (user_data);
}

/* Whoever sends a signal cannot answer a question. */
static gboolean
signal_cb (gpointer user_data)
{
  GtkApplication *application = user_data;
  g_autoptr (GList) windows =
      g_list_copy (gtk_application_get_windows (application));

  for (GList *iter = windows; iter != NULL; iter = iter->next)
    if (QM_IS_WINDOW (iter->data))
      qm_window_stop_and_close (iter->data);

  return G_SOURCE_CONTINUE;
}

static void
about_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  GtkApplication *application = user_data;
  GtkWidget *about = adw_about_window_new ();

  g_object_set (
      about, "transient-for", gtk_application_get_active_window (application),
      "modal", TRUE, "application-name", _ ("Quartermaster"),
      "application-icon", QM_APP_ID, "version", QM_VERSION, "developer-name",
      _ ("The Quartermaster authors"), "license-type", GTK_LICENSE_APACHE_2_0,
      "comments",
      _ ("Which GPUs to buy to train a model, how long the training takes and "
         "what an experiment costs.\n\nTimes and prices of the published "
         "analysis: “$100K or 100 Days: Trade-offs when Pre-Training with "
         "Academic Resources”."),
      /* Translators: your name, one translator a line. */
      "translator-credits", _ ("translator-credits"), NULL);
  adw_about_window_add_link (ADW_ABOUT_WINDOW (about),
                             _ ("The Published Analysis"),
                             "https://arxiv.org/abs/2410.23261");
  gtk_window_present (GTK_WINDOW (about));
}

static void
guide_shown_cb (GObject *parent, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (QmWindow) window = user_data;
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;

  if (gtk_show_uri_full_finish (GTK_WINDOW (parent), result, &error))
    return;
  text = g_strdup_printf (_ ("The user guide cannot be opened: %s"),
                          error->message);
  qm_window_add_toast (window, text);
}

/* The guide, at the place of a term or, with NULL, at its beginning. */
static void
open_guide (GtkApplication *application, const char *term)
{
  /* It shows what went wrong. */
  QmWindow *window = used_window (G_APPLICATION (application));
  char folder[PATH_MAX];
  g_autofree char *uri = NULL;

  if (window == NULL)
    return;
  if (qm_data_dir (folder, sizeof folder))
    uri = qm_guide_find (folder, g_get_language_names (), term);
  if (uri == NULL)
    {
      qm_window_add_toast (window, _ ("The user guide is not installed"));
      return;
    }
  gtk_show_uri_full (GTK_WINDOW (window), uri, GDK_CURRENT_TIME, NULL,
                     guide_shown_cb, g_object_ref (window));
}

static void
guide_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  open_guide (user_data, NULL);
}

/* Other programs may ask, too, and for anything. */
static void
explain_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  const char *id = g_variant_get_string (parameter, NULL);
  QmTerm term;

  if (qm_term_find (id, &term))
    open_guide (user_data, id);
}

static void
add_actions (QmApplication *self)
{
  static const GActionEntry entries[] = {
    { .name = "quit", .activate = quit_cb },
    { .name = "about", .activate = about_cb },
    { .name = "guide", .activate = guide_cb },
    { .name = "explain", .activate = explain_cb, .parameter_type = "s" },
  };
  g_autoptr (GPropertyAction) color_scheme =
      g_property_action_new ("color-scheme", self, "color-scheme");

  g_action_map_add_action_entries (G_ACTION_MAP (self), entries,
                                   G_N_ELEMENTS (entries), self);
  g_action_map_add_action (G_ACTION_MAP (self), G_ACTION (color_scheme));
  for (guint i = 0; i < G_N_ELEMENTS (shortcuts); i++)
    gtk_application_set_accels_for_action (GTK_APPLICATION (self),
                                           shortcuts[i].action,
                                           shortcuts[i].accels);
}

static void
failed_cb (QmApplication *self, const char *reason)
{
  g_free (self->failure);
  self->failure = g_strdup (reason);
}

static void
qm_application_startup (GApplication *application)
{
  QmApplication *self = QM_APPLICATION (application);
  static const int signals[] = { SIGINT, SIGTERM };

  /* The catalog takes as long to read as the toolkit to start. */
  qm_catalog_keeper_load_ahead (self->keeper);
  G_APPLICATION_CLASS (qm_application_parent_class)->startup (application);

  gtk_window_set_default_icon_name (QM_APP_ID);
  add_actions (self);
  if (self->settings != NULL)
    g_settings_bind (self->settings, "color-scheme", self, "color-scheme",
                     G_SETTINGS_BIND_DEFAULT);
  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    self->signal_sources[i] = g_unix_signal_add (signals[i], signal_cb, self);

  g_signal_connect_object (self->keeper, "failed", G_CALLBACK (failed_cb), self,
                           G_CONNECT_SWAPPED);
}

static void
sync_settings (gpointer data)
{
  g_settings_sync ();
}

/* Waits until all is on the disk, but not for one that does not answer: what
 * was there before stays as it was, since files are replaced as a whole. */
static void
settle_disk (void)
{
  if (!qm_patience_run (sync_settings, NULL, QM_PATIENCE_USEC))
    g_printerr (_ ("quartermaster: settings could not be saved: the disk does "
                   "not answer\n"));
  if (!qm_bench_session_settle ())
    g_printerr (_ ("quartermaster: how far the benchmark got could not be "
                   "saved: the disk does not answer\n"));
}

static void
qm_application_shutdown (GApplication *application)
{
  QmApplication *self = QM_APPLICATION (application);

  for (guint i = 0; i < G_N_ELEMENTS (self->signal_sources); i++)
    g_clear_handle_id (&self->signal_sources[i], g_source_remove);
  settle_disk ();

  G_APPLICATION_CLASS (qm_application_parent_class)->shutdown (application);
}

static void
qm_application_finalize (GObject *object)
{
  QmApplication *self = QM_APPLICATION (object);

  g_clear_object (&self->settings);
  g_clear_pointer (&self->color_scheme, g_free);
  g_clear_object (&self->keeper);
  g_free (self->failure);

  G_OBJECT_CLASS (qm_application_parent_class)->finalize (object);
}

static void
qm_application_get_property (GObject *object,
                             guint prop_id,
                             GValue *value,
                             GParamSpec *pspec)
{
  switch (prop_id)
    {
    case PROP_COLOR_SCHEME:
      g_value_set_string (value, QM_APPLICATION (object)->color_scheme);
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
qm_application_set_property (GObject *object,
                             guint prop_id,
                             const GValue *value,
                             GParamSpec *pspec)
{
  switch (prop_id)
    {
    case PROP_COLOR_SCHEME:
      set_color_scheme (QM_APPLICATION (object), g_value_get_string (value));
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
qm_application_class_init (QmApplicationClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GApplicationClass *application_class = G_APPLICATION_CLASS (klass);

  object_class->finalize = qm_application_finalize;
  object_class->get_property = qm_application_get_property;
  object_class->set_property = qm_application_set_property;
  application_class->activate = qm_application_activate;
  application_class->open = qm_application_open;
  application_class->startup = qm_application_startup;
  application_class->shutdown = qm_application_shutdown;

  properties[PROP_COLOR_SCHEME] =
      g_param_spec_string ("color-scheme", NULL, NULL, "system",
                           G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY
                               | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
qm_application_init (QmApplication *self)
{
  self->color_scheme = g_strdup ("system");
  self->keeper = qm_catalog_keeper_new ();
}
