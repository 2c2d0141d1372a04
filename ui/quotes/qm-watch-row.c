/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/quotes/qm-watch-row.h"

#include "pricing/qm-format.h"
#include "ui/quotes/qm-quote-text.h"

#include <glib/gi18n-lib.h>

struct _QmWatchRow
{
  AdwActionRow parent_instance;

  GtkWidget *warning;
  GtkWidget *refresh_button;
  GtkWidget *remove_button;

  char *address;
};

G_DEFINE_FINAL_TYPE (QmWatchRow, qm_watch_row, ADW_TYPE_ACTION_ROW)

const char *
qm_watch_kind_text (QmWatchKind kind)
{
  switch (kind)
    {
    case QM_WATCH_AZURE:
      return "Azure";
    case QM_WATCH_VAST:
      return "Vast.ai";
    case QM_WATCH_RUNPOD:
      return "RunPod";
    case QM_WATCH_PAGE:
    case QM_N_WATCH_KINDS:
    default:
      return _ ("Web page");
    }
}

static char *
title_text (const QmWatched *watched)
{
  QmWatchKind kind = qm_watch_kind_of_address (watched->address);

  if (kind != QM_WATCH_PAGE)
    /* Translators: the name of a company. */
    return g_strdup_printf (_ ("Prices for rent of %s"),
                            qm_watch_kind_text (kind));
  return g_strdup (watched->title != NULL ? watched->title : watched->address);
}

/* The last price, or of a feed how many, or that there is none. */
static char *
price_text (const QmWatched *watched, guint n_prices)
{
  g_autofree char *day = qm_format_date (watched->last_date);
  g_autofree char *price = NULL;

  if (watched->last_date.year == 0)
    return g_strdup (watched->tried_at != 0 ? _ ("No price yet")
                                            : _ ("Not looked at yet"));
  if (watched->last_micros == QM_AMOUNT_UNSTATED)
    /* Translators: a number, a date. */
    return g_strdup_printf (ngettext ("%u price of %s", "%u prices of %s",
                                      n_prices),
                            n_prices, day);
  price = qm_quote_price_text (watched->last_micros, watched->last_currency);
  /* Translators: a price, a date. */
  return g_strdup_printf (_ ("%s, seen on %s"), price, day);
}

static char *
details_text (const QmCatalog *catalog,
              const QmWatched *watched,
              guint n_prices)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_autofree char *price = price_text (watched, n_prices);
  g_auto (GStrv) lines = NULL;

  g_strv_builder_add (builder, price);
  if (watched->error != NULL)
    {
      g_autofree char *failure =
          /* Translators: why. */
          g_strdup_printf (_ ("Could not be refreshed: %s"), watched->error);

      g_strv_builder_add (builder, failure);
    }
  if (watched->item != NULL)
    {
      g_autofree char *item = qm_quote_item_text (catalog, watched->item);

      g_strv_builder_add (builder, item);
    }
  if (watched->title != NULL
      || qm_watch_kind_of_address (watched->address) != QM_WATCH_PAGE)
    g_strv_builder_add (builder, watched->address);
  lines = g_strv_builder_end (builder);
  return g_strjoinv ("\n", lines);
}

static void
name_button (GtkWidget *button, const char *name)
{
  gtk_accessible_update_property (GTK_ACCESSIBLE (button),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  gtk_widget_set_tooltip_text (button, name);
}

void
qm_watch_row_set_watched (QmWatchRow *self,
                          const QmCatalog *catalog,
                          const QmWatched *watched,
                          guint n_prices)
{
  g_autofree char *title = NULL;
  g_autofree char *details = NULL;
  g_autofree char *refresh = NULL;
  g_autofree char *remove = NULL;

  g_return_if_fail (QM_IS_WATCH_ROW (self));
  g_return_if_fail (watched != NULL);

  title = title_text (watched);
  details = details_text (catalog, watched, n_prices);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self), title);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (self), details);
  gtk_widget_set_visible (self->warning, watched->error != NULL);
  /* Translators: what a page sells, or its address. */
  refresh = g_strdup_printf (_ ("Refresh %s"), title);
  name_button (self->refresh_button, refresh);
  /* Translators: what a page sells, or its address. */
  remove = g_strdup_printf (_ ("No longer watch %s"), title);
  name_button (self->remove_button, remove);
}

GtkWidget *
qm_watch_row_new (const char *address)
{
  QmWatchRow *self;

  g_return_val_if_fail (address != NULL, NULL);

  self = g_object_new (QM_TYPE_WATCH_ROW, NULL);
  self->address = g_strdup (address);
  gtk_actionable_set_action_target (GTK_ACTIONABLE (self->refresh_button), "s",
                                    address);
  gtk_actionable_set_action_target (GTK_ACTIONABLE (self->remove_button), "s",
                                    address);
  return GTK_WIDGET (self);
}

const char *
qm_watch_row_get_address (QmWatchRow *self)
{
  g_return_val_if_fail (QM_IS_WATCH_ROW (self), NULL);

  return self->address;
}

static void
qm_watch_row_finalize (GObject *object)
{
  g_free (QM_WATCH_ROW (object)->address);

  G_OBJECT_CLASS (qm_watch_row_parent_class)->finalize (object);
}

static void
qm_watch_row_class_init (QmWatchRowClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = qm_watch_row_finalize;

  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-watch-row.ui");
  gtk_widget_class_bind_template_child (widget_class, QmWatchRow, warning);
  gtk_widget_class_bind_template_child (widget_class, QmWatchRow,
                                        refresh_button);
  gtk_widget_class_bind_template_child (widget_class, QmWatchRow,
                                        remove_button);
}

static void
qm_watch_row_init (QmWatchRow *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
