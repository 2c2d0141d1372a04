/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/quotes/qm-watch-window.h"

#include "pricing/qm-format.h"
#include "ui/qm-toasts.h"
#include "ui/quotes/qm-quote-text.h"
#include "ui/quotes/qm-watch-row.h"

#include <glib/gi18n-lib.h>
#include <string.h>

struct _QmWatchWindow
{
  AdwWindow parent_instance;

  GtkWidget *refresh_button;
  GtkWidget *stop_button;
  GtkRevealer *revealer;
  GtkLabel *progress_label;
  GtkProgressBar *progress;
  AdwToastOverlay *overlay;
  AdwPreferencesGroup *list;
  AdwComboRow *kind;
  GtkWidget *address_row;
  GtkWidget *address;
  AdwComboRow *item;
  GtkLabel *problem;
  AdwActionRow *rates;
  GtkWidget *rates_warning;
  GtkWidget *start_row;
  GtkWidget *start_switch;

  QmPriceWatch *watch;
  GPtrArray *rows;      /* QmWatchRow, borrowed */
  GtkWidget *nothing;   /* the row that stands where there are none */
  GPtrArray *removed;   /* QmWatched, to be put back from the end */
  AdwToast *undo_toast; /* weak: what offers the last of them */
  GStrv items;          /* ids below "not said" */
};

G_DEFINE_FINAL_TYPE (QmWatchWindow, qm_watch_window, ADW_TYPE_WINDOW)

/* What is shown. */

/* Whether the rows are of these addresses in this order. */
static gboolean
has_rows (QmWatchWindow *self, GPtrArray *watched)
{
  if (self->rows->len != watched->len)
    return FALSE;
  for (guint i = 0; i < watched->len; i++)
    {
      const QmWatched *one = g_ptr_array_index (watched, i);

      if (strcmp (qm_watch_row_get_address (g_ptr_array_index (self->rows, i)),
                  one->address)
          != 0)
        return FALSE;
    }
  return TRUE;
}

static void
make_rows (QmWatchWindow *self, GPtrArray *watched)
{
  for (guint i = 0; i < self->rows->len; i++)
    adw_preferences_group_remove (self->list,
                                  g_ptr_array_index (self->rows, i));
  g_ptr_array_set_size (self->rows, 0);
  for (guint i = 0; i < watched->len; i++)
    {
      const QmWatched *one = g_ptr_array_index (watched, i);
      GtkWidget *row = qm_watch_row_new (one->address);

      adw_preferences_group_add (self->list, row);
      g_ptr_array_add (self->rows, row);
    }
}

/* How many prices a feed brought the last time.  What the store cannot tell
 * here, it said where the list was read. */
static guint
count_prices (QmWatchWindow *self, const QmWatched *watched)
{
  QmQuoteBook *book = qm_price_watch_get_book (self->watch);
  gint64 n = 0;

  if (watched->last_date.year != 0
      && qm_watch_kind_of_address (watched->address) != QM_WATCH_PAGE)
    n = qm_quote_store_count_prices (qm_quote_book_get_store (book),
                                     watched->address, watched->last_date,
                                     NULL);
  return n > 0 ? (guint) n : 0;
}

/* Rows stay while their addresses do: nothing loses the focus then. */
static void
update_list (QmWatchWindow *self)
{
  const QmCatalog *catalog =
      qm_quote_book_get_catalog (qm_price_watch_get_book (self->watch));
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) watched = qm_price_watch_list (self->watch, &error);

  if (watched == NULL)
    {
      qm_toasts_tell (self->overlay, error->message);
      return;
    }
  if (!has_rows (self, watched))
    make_rows (self, watched);
  for (guint i = 0; i < watched->len; i++)
    {
      const QmWatched *one = g_ptr_array_index (watched, i);

      qm_watch_row_set_watched (g_ptr_array_index (self->rows, i), catalog, one,
                                count_prices (self, one));
    }
  gtk_widget_set_visible (self->nothing, watched->len == 0);
}

static void
update_rates (QmWatchWindow *self)
{
  QmRates *rates =
      qm_quote_book_get_rates (qm_price_watch_get_book (self->watch));
  const char *failure = qm_price_watch_get_rates_failure (self->watch);
  QmDate last = rates != NULL ? qm_rates_last_day (rates) : (QmDate){ 0 };
  g_autofree char *day = qm_format_date (last);
  g_autofree char *known =
      last.year != 0
          /* Translators: a date. */
          ? g_strdup_printf (_ ("The newest known rates are of %s"), day)
          : g_strdup (_ ("No rates are known"));
  g_autofree char *text =
      failure != NULL ? g_strdup_printf (_ ("%s\nCould not be refreshed: %s"),
                                         known, failure)
                      : g_strdup (known);

  adw_action_row_set_subtitle (self->rates, text);
  gtk_widget_set_visible (self->rates_warning, failure != NULL);
}

static char *
progress_text (guint done, guint total, int seconds_left)
{
  if (total == 0)
    return g_strdup (_ ("Beginning…"));
  if (seconds_left < 1)
    /* Translators: how many of how many are refreshed. */
    return g_strdup_printf (_ ("%u of %u"), done, total);
  return g_strdup_printf (ngettext ("%u of %u, about %d second left",
                                    "%u of %u, about %d seconds left",
                                    seconds_left),
                          done, total, seconds_left);
}

static void
update_progress (QmWatchWindow *self)
{
  static const char *const of_idle[] = { "watch.refresh", "watch.refresh-all",
                                         "watch.refresh-rates" };
  gboolean busy = qm_price_watch_is_busy (self->watch);
  gboolean stop_focused = gtk_widget_has_focus (self->stop_button);
  g_autofree char *text = NULL;
  guint done, total;
  int seconds_left;

  qm_price_watch_get_progress (self->watch, &done, &total, &seconds_left);
  text = progress_text (done, total, seconds_left);
  gtk_label_set_label (self->progress_label, text);
  gtk_progress_bar_set_fraction (self->progress,
                                 total > 0 ? (double) done / total : 0);
  gtk_revealer_set_reveal_child (self->revealer, busy);
  for (guint i = 0; i < G_N_ELEMENTS (of_idle); i++)
    gtk_widget_action_set_enabled (GTK_WIDGET (self), of_idle[i], !busy);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "watch.stop", busy);
  gtk_widget_set_visible (self->stop_button, busy);
  gtk_widget_set_visible (self->refresh_button, !busy);
  if (stop_focused && !busy)
    gtk_widget_grab_focus (self->refresh_button);
}

static void
watches_changed_cb (QmWatchWindow *self)
{
  update_list (self);
  update_rates (self);
  update_progress (self);
}

static void
finished_cb (QmWatchWindow *self, const char *message)
{
  qm_toasts_tell (self->overlay, message);
}

/* Adding. */

static void
set_problem (QmWatchWindow *self, const char *problem)
{
  gtk_label_set_label (self->problem, problem != NULL ? problem : "");
  gtk_widget_set_visible (GTK_WIDGET (self->problem), problem != NULL);
  if (problem != NULL)
    gtk_widget_add_css_class (self->address, "error");
  else
    gtk_widget_remove_css_class (self->address, "error");
}

static void
address_cb (QmWatchWindow *self)
{
  set_problem (self, NULL);
}

/* A feed has an address of its own, and says itself what it sells. */
static void
kind_cb (QmWatchWindow *self)
{
  gboolean page = adw_combo_row_get_selected (self->kind) == QM_WATCH_PAGE;

  gtk_widget_set_sensitive (self->address_row, page);
  gtk_widget_set_sensitive (GTK_WIDGET (self->item), page);
  set_problem (self, NULL);
}

/* The id of what is chosen in the list; NULL: nothing. */
static const char *
chosen_item (QmWatchWindow *self)
{
  guint selected = adw_combo_row_get_selected (self->item);

  return self->items != NULL && selected > 0
                 && selected <= g_strv_length (self->items)
             ? self->items[selected - 1]
             : NULL;
}

static void
add_cb (QmWatchWindow *self)
{
  guint kind = adw_combo_row_get_selected (self->kind);
  const char *item = kind == QM_WATCH_PAGE ? chosen_item (self) : NULL;
  g_autofree char *typed = g_strstrip (
      g_strdup (gtk_editable_get_text (GTK_EDITABLE (self->address))));
  g_autofree char *address = NULL;
  g_autofree char *message = NULL;
  g_autoptr (GError) error = NULL;

  address =
      qm_price_watch_add (self->watch, kind,
                          kind == QM_WATCH_PAGE ? typed : NULL, item, &error);
  if (address == NULL)
    {
      set_problem (self, error->message);
      gtk_widget_grab_focus (self->address);
      return;
    }
  gtk_editable_set_text (GTK_EDITABLE (self->address), "");
  /* Translators: an address. */
  message = g_strdup_printf (_ ("Watching %s"), address);
  qm_toasts_tell (self->overlay, message);
}

/* Taking off. */

/* What cannot be undone any more is not offered. */
static void
dismiss_undo (QmWatchWindow *self)
{
  if (self->undo_toast != NULL)
    qm_toasts_dismiss (self->overlay, self->undo_toast);
  g_clear_weak_pointer (&self->undo_toast);
}

static const QmWatched *
find_watched (GPtrArray *list, const char *address)
{
  for (guint i = 0; i < list->len; i++)
    {
      const QmWatched *one = g_ptr_array_index (list, i);

      if (strcmp (one->address, address) == 0)
        return one;
    }
  return NULL;
}

static void
remove_watch_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmWatchWindow *self = QM_WATCH_WINDOW (widget);
  const char *address = g_variant_get_string (parameter, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) list = qm_price_watch_list (self->watch, &error);
  const QmWatched *one = list != NULL ? find_watched (list, address) : NULL;
  g_autofree char *message = NULL;
  g_autofree char *markup = NULL;
  AdwToast *toast;
  guint index;

  if (one == NULL || !qm_price_watch_remove (self->watch, address, &error))
    {
      if (error != NULL)
        qm_toasts_tell (self->overlay, error->message);
      return;
    }
  g_ptr_array_find (list, one, &index);
  g_ptr_array_add (self->removed, g_ptr_array_steal_index (list, index));
  /* Translators: an address. */
  message = g_strdup_printf (_ ("No longer watching %s"), one->address);
  markup = g_markup_escape_text (message, -1);
  toast = adw_toast_new (markup);
  adw_toast_set_button_label (toast, _ ("_Undo"));
  adw_toast_set_action_name (toast, "watch.undo");
  dismiss_undo (self);
  g_set_weak_pointer (&self->undo_toast, toast);
  qm_toasts_show (self->overlay, toast);
  gtk_widget_action_set_enabled (widget, "watch.undo", TRUE);
}

static void
undo_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  QmWatchWindow *self = QM_WATCH_WINDOW (widget);
  g_autoptr (GError) error = NULL;

  dismiss_undo (self);
  if (self->removed->len == 0)
    return;
  if (qm_price_watch_put_back (
          self->watch,
          g_ptr_array_index (self->removed, self->removed->len - 1), &error))
    g_ptr_array_set_size (self->removed, (int) self->removed->len - 1);
  else
    qm_toasts_tell (self->overlay, error->message);
  gtk_widget_action_set_enabled (widget, "watch.undo", self->removed->len > 0);
}

/* Refreshing. */

static void
refresh_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  qm_price_watch_refresh (QM_WATCH_WINDOW (widget)->watch,
                          QM_PRICE_WATCH_PRICES,
                          g_variant_get_string (parameter, NULL));
}

static void
refresh_all_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  qm_price_watch_refresh (QM_WATCH_WINDOW (widget)->watch,
                          QM_PRICE_WATCH_PRICES | QM_PRICE_WATCH_RATES, NULL);
}

static void
refresh_rates_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  qm_price_watch_refresh (QM_WATCH_WINDOW (widget)->watch, QM_PRICE_WATCH_RATES,
                          NULL);
}

static void
stop_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  qm_price_watch_cancel (QM_WATCH_WINDOW (widget)->watch);
}

/* The window. */

static void
fill_kinds (QmWatchWindow *self)
{
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);

  for (guint kind = QM_WATCH_PAGE; kind < QM_N_WATCH_KINDS; kind++)
    {
      g_autofree char *name = kind == QM_WATCH_PAGE
                                  ? g_strdup (qm_watch_kind_text (kind))
                                  /* Translators: the name of a company. */
                                  : g_strdup_printf (_ ("Price feed of %s"),
                                                     qm_watch_kind_text (kind));

      gtk_string_list_append (names, name);
    }
  adw_combo_row_set_model (self->kind, G_LIST_MODEL (names));
}

/* The GPUs and machines of the catalog as it is; what is chosen stays, where it
 * is still there. */
static void
fill_items (QmWatchWindow *self)
{
  const QmCatalog *catalog =
      qm_quote_book_get_catalog (qm_price_watch_get_book (self->watch));
  g_autofree char *chosen = g_strdup (chosen_item (self));
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);
  g_autoptr (GStrvBuilder) ids = g_strv_builder_new ();
  size_t n_gpus, n_machines;
  const QmGpu *gpus = qm_catalog_gpus (catalog, &n_gpus);
  const QmMachine *machines = qm_catalog_machines (catalog, &n_machines);

  for (size_t i = 0; i < n_gpus; i++)
    g_strv_builder_add (ids, gpus[i].id);
  for (size_t i = 0; i < n_machines; i++)
    g_strv_builder_add (ids, machines[i].id);
  g_strfreev (self->items);
  self->items = g_strv_builder_end (ids);
  gtk_string_list_append (names, _ ("Not said"));
  for (guint i = 0; self->items[i] != NULL; i++)
    {
      g_autofree char *name = qm_quote_item_text (catalog, self->items[i]);

      gtk_string_list_append (names, name);
    }
  adw_combo_row_set_model (self->item, G_LIST_MODEL (names));
  for (guint i = 0; chosen != NULL && self->items[i] != NULL; i++)
    if (g_str_equal (self->items[i], chosen))
      adw_combo_row_set_selected (self->item, i + 1);
}

static void
bind_settings (QmWatchWindow *self, GSettings *settings)
{
  gtk_widget_set_sensitive (self->start_row, settings != NULL);
  if (settings != NULL)
    g_settings_bind (settings, "refresh-prices-at-start", self->start_switch,
                     "active", G_SETTINGS_BIND_DEFAULT);
}

GtkWidget *
qm_watch_window_new (GtkWindow *parent, QmPriceWatch *watch)
{
  QmWatchWindow *self;

  g_return_val_if_fail (parent == NULL || GTK_IS_WINDOW (parent), NULL);
  g_return_val_if_fail (QM_IS_PRICE_WATCH (watch), NULL);

  self = g_object_new (QM_TYPE_WATCH_WINDOW, "transient-for", parent, NULL);
  self->watch = g_object_ref (watch);
  fill_kinds (self);
  fill_items (self);
  bind_settings (self, qm_price_watch_get_settings (watch));
  g_signal_connect_object (
      qm_quote_book_get_keeper (qm_price_watch_get_book (watch)), "changed",
      G_CALLBACK (fill_items), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (watch, "changed", G_CALLBACK (watches_changed_cb),
                           self, G_CONNECT_SWAPPED);
  g_signal_connect_object (watch, "finished", G_CALLBACK (finished_cb), self,
                           G_CONNECT_SWAPPED);
  watches_changed_cb (self);
  return GTK_WIDGET (self);
}

static void
qm_watch_window_finalize (GObject *object)
{
  QmWatchWindow *self = QM_WATCH_WINDOW (object);

  g_clear_object (&self->watch);
  g_clear_weak_pointer (&self->undo_toast);
  g_clear_pointer (&self->rows, g_ptr_array_unref);
  g_clear_pointer (&self->removed, g_ptr_array_unref);
  g_strfreev (self->items);

  G_OBJECT_CLASS (qm_watch_window_parent_class)->finalize (object);
}

static void
bind_watch_window (GtkWidgetClass *widget_class)
{
  gtk_widget_class_bind_template_child (widget_class, QmWatchWindow,
                                        refresh_button);
  gtk_widget_class_bind_template_child (widget_class, QmWatchWindow,
                                        stop_button);
  gtk_widget_class_bind_template_child (widget_class, QmWatchWindow, revealer);
  gtk_widget_class_bind_template_child (widget_class, QmWatchWindow,
                                        progress_label);
  gtk_widget_class_bind_template_child (widget_class, QmWatchWindow, progress);
  gtk_widget_class_bind_template_child (widget_class, QmWatchWindow, overlay);
  gtk_widget_class_bind_template_child (widget_class, QmWatchWindow, list);
  gtk_widget_class_bind_template_child (widget_class, QmWatchWindow, kind);
  gtk_widget_class_bind_template_child (widget_class, QmWatchWindow,
                                        address_row);
  gtk_widget_class_bind_template_child (widget_class, QmWatchWindow, address);
  gtk_widget_class_bind_template_child (widget_class, QmWatchWindow, item);
  gtk_widget_class_bind_template_child (widget_class, QmWatchWindow, problem);
  gtk_widget_class_bind_template_child (widget_class, QmWatchWindow, rates);
  gtk_widget_class_bind_template_child (widget_class, QmWatchWindow,
                                        rates_warning);
  gtk_widget_class_bind_template_child (widget_class, QmWatchWindow, start_row);
  gtk_widget_class_bind_template_child (widget_class, QmWatchWindow,
                                        start_switch);
}

static void
qm_watch_window_class_init (QmWatchWindowClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = qm_watch_window_finalize;

  gtk_widget_class_install_action (widget_class, "watch.refresh", "s",
                                   refresh_cb);
  gtk_widget_class_install_action (widget_class, "watch.refresh-all", NULL,
                                   refresh_all_cb);
  gtk_widget_class_install_action (widget_class, "watch.refresh-rates", NULL,
                                   refresh_rates_cb);
  gtk_widget_class_install_action (widget_class, "watch.stop", NULL, stop_cb);
  gtk_widget_class_install_action (widget_class, "watch.remove", "s",
                                   remove_watch_cb);
  gtk_widget_class_install_action (widget_class, "watch.undo", NULL, undo_cb);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_z,
                                       GDK_CONTROL_MASK, "watch.undo", NULL);

  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-watch-window.ui");
  bind_watch_window (widget_class);
  gtk_widget_class_bind_template_callback (widget_class, add_cb);
  gtk_widget_class_bind_template_callback (widget_class, kind_cb);
  gtk_widget_class_bind_template_callback (widget_class, address_cb);
}

static void
qm_watch_window_init (QmWatchWindow *self)
{
  self->rows = g_ptr_array_new ();
  self->removed =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_watched_free);
  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "watch.undo", FALSE);
  self->nothing = g_object_new (ADW_TYPE_ACTION_ROW, "title",
                                _ ("Nothing is watched yet"), NULL);
  adw_preferences_group_add (self->list, self->nothing);
}
