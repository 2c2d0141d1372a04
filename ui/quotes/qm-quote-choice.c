/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/quotes/qm-quote-choice.h"

#include "pricing/qm-order.h"
#include "ui/quotes/qm-quote-text.h"

#include <glib/gi18n-lib.h>
#include <string.h>

const char *
qm_quote_choice_get (GtkDropDown *choice, GStrv values)
{
  guint selected = gtk_drop_down_get_selected (choice);

  if (values == NULL || selected == 0 || selected == GTK_INVALID_LIST_POSITION)
    return NULL;
  return values[selected - 1];
}

/* Whether a choice shows these names. */
static gboolean
has_names (GtkDropDown *choice, GListModel *names)
{
  GListModel *shown = gtk_drop_down_get_model (choice);
  guint n = g_list_model_get_n_items (names);

  if (!GTK_IS_STRING_LIST (shown) || g_list_model_get_n_items (shown) != n)
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (strcmp (gtk_string_list_get_string (GTK_STRING_LIST (shown), i),
                gtk_string_list_get_string (GTK_STRING_LIST (names), i))
        != 0)
      return FALSE;
  return TRUE;
}

/* The same values may have other names, where the catalog has. */
static void
fill_choice (GtkDropDown *choice,
             GStrv *values,
             GStrv new_values,
             GtkStringList *names)
{
  const char *before = qm_quote_choice_get (choice, *values);
  guint position = 0;

  if (*values != NULL
      && g_strv_equal ((const char *const *) *values,
                       (const char *const *) new_values)
      && has_names (choice, G_LIST_MODEL (names)))
    return;
  for (guint i = 0; before != NULL && new_values[i] != NULL; i++)
    if (g_str_equal (new_values[i], before))
      position = i + 1;
  gtk_drop_down_set_model (choice, G_LIST_MODEL (names));
  gtk_drop_down_set_selected (choice, position);
  g_strfreev (*values);
  *values = g_strdupv (new_values);
}

void
qm_quote_choice_fill_vendors (GtkDropDown *choice,
                              GStrv *values,
                              QmQuoteBook *book)
{
  g_auto (GStrv) vendors =
      qm_quote_store_vendors (qm_quote_book_get_store (book), NULL, 1000, NULL);
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);

  if (vendors == NULL)
    return;
  gtk_string_list_append (names, _ ("All vendors"));
  for (guint i = 0; vendors[i] != NULL; i++)
    gtk_string_list_append (names, vendors[i]);
  fill_choice (choice, values, vendors, names);
}

static void
add_items (GHashTable *set, const char *ids)
{
  g_auto (GStrv) parts = g_strsplit (ids, ";", -1);

  for (guint i = 0; parts[i] != NULL; i++)
    if (*parts[i] != '\0')
      g_hash_table_add (set, g_strdup (parts[i]));
}

void
qm_quote_choice_fill_items (GtkDropDown *choice,
                            GStrv *values,
                            QmQuoteBook *book)
{
  const QmCatalog *catalog = qm_quote_book_get_catalog (book);
  const QmQuoteFilter everything = { 0 };
  g_autoptr (GPtrArray) rows =
      qm_quote_index_quotes (qm_quote_book_get_index (book), &everything,
                             QM_QUOTE_SORT_ADDED, TRUE, 0, G_MAXUINT, NULL);
  g_autoptr (GHashTable) set =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);
  g_autoptr (GPtrArray) ids = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer id;

  for (guint i = 0; i < rows->len; i++)
    {
      const QmQuoteRow *row = g_ptr_array_index (rows, i);

      if (row->items != NULL)
        add_items (set, row->items);
    }
  g_hash_table_iter_init (&iter, set);
  while (g_hash_table_iter_next (&iter, &id, NULL))
    g_ptr_array_add (ids, id);
  g_ptr_array_sort (ids, qm_order_strings);
  gtk_string_list_append (names, _ ("All GPUs and machines"));
  for (guint i = 0; i < ids->len; i++)
    {
      g_autofree char *name =
          qm_quote_item_text (catalog, g_ptr_array_index (ids, i));

      gtk_string_list_append (names, name);
    }
  g_ptr_array_add (ids, NULL);
  fill_choice (choice, values, (GStrv) ids->pdata, names);
}
