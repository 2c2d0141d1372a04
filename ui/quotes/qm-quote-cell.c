/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/quotes/qm-quote-cell.h"

#include "ui/qm-column-view.h"
#include "ui/qm-show.h"

#include <glib/gi18n-lib.h>

/* What belongs to a cell, kept by its widget. */
typedef struct
{
  QmQuoteList *list;
  QmQuoteCellKind kind;
  GtkWidget *widget;
  QmQuoteItem *item; /* NULL: none yet */
  gboolean filling;
} Cell;

static GQuark
cell_quark (void)
{
  return g_quark_from_static_string ("qm-quote-cell");
}

/* Filling. */

static void
name_row (Cell *cell, const QmQuoteShown *shown)
{
  const char *note = qm_quote_shown_note (shown);
  g_autofree char *what =
      g_strdup_printf ("%s, %s, %s, %s%s%s", shown->title, shown->detail,
                       shown->validity, shown->total, note != NULL ? ", " : "",
                       note != NULL ? note : "");

  qm_column_view_name_row (cell->widget, what);
}

static void
fill_mark (Cell *cell, const QmQuoteShown *shown)
{
  g_autofree char *label = g_strdup_printf (_ ("Compare: %s"), shown->title);

  cell->filling = TRUE;
  gtk_check_button_set_active (GTK_CHECK_BUTTON (cell->widget),
                               qm_quote_list_is_marked (cell->list, shown->id));
  cell->filling = FALSE;
  gtk_accessible_update_property (GTK_ACCESSIBLE (cell->widget),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
}

/* A sign before the title, with its meaning for who does not see it. */
static void
fill_sign (GtkWidget *sign, const QmQuoteShown *shown)
{
  const char *note = qm_quote_shown_note (shown);

  gtk_widget_set_visible (sign, note != NULL);
  if (note == NULL)
    return;
  gtk_image_set_from_icon_name (GTK_IMAGE (sign), qm_quote_shown_icon (shown));
  qm_show_class (sign, "error", shown->broken);
  qm_show_class (sign, "warning", !shown->broken);
  gtk_accessible_update_property (GTK_ACCESSIBLE (sign),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL, note, -1);
}

static void
fill_quote (GtkWidget *box, const QmQuoteShown *shown)
{
  GtkWidget *head = gtk_widget_get_first_child (box);
  GtkWidget *title = gtk_widget_get_last_child (head);
  GtkWidget *detail = gtk_widget_get_last_child (box);

  fill_sign (gtk_widget_get_first_child (head), shown);

  gtk_label_set_label (GTK_LABEL (title), shown->title);
  gtk_label_set_label (GTK_LABEL (detail), shown->detail);
  gtk_widget_set_visible (detail, *shown->detail != '\0');
  qm_show_class (title, "dim-label", shown->expired);
}

static void
fill_total (GtkWidget *label, const QmQuoteShown *shown)
{
  const char *note = qm_quote_shown_note (shown);

  gtk_label_set_label (GTK_LABEL (label), shown->total);
  qm_show_class (label, "warning", note != NULL);
  if (note != NULL)
    gtk_accessible_update_property (GTK_ACCESSIBLE (label),
                                    GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, note,
                                    -1);
  else
    gtk_accessible_reset_property (GTK_ACCESSIBLE (label),
                                   GTK_ACCESSIBLE_PROPERTY_DESCRIPTION);
}

static void
fill_quote_cell (Cell *cell)
{
  const QmQuoteShown *shown = qm_quote_item_get_shown (cell->item);

  switch (cell->kind)
    {
    case QM_QUOTE_CELL_MARK:
      name_row (cell, shown);
      fill_mark (cell, shown);
      break;
    case QM_QUOTE_CELL_QUOTE:
      fill_quote (cell->widget, shown);
      break;
    case QM_QUOTE_CELL_ISSUED:
      gtk_label_set_label (GTK_LABEL (cell->widget), shown->issued);
      break;
    case QM_QUOTE_CELL_VALIDITY:
      gtk_label_set_label (GTK_LABEL (cell->widget), shown->validity);
      qm_show_class (cell->widget, "error", shown->expired);
      break;
    case QM_QUOTE_CELL_TOTAL:
    case QM_N_QUOTE_CELLS:
    default:
      fill_total (cell->widget, shown);
    }
}

static void
clear_item (Cell *cell)
{
  if (cell->item != NULL)
    g_signal_handlers_disconnect_by_data (cell->item, cell);
  g_clear_object (&cell->item);
}

/* Where a row has only moved, GTK 4.8 binds it again to what it shows. */
void
qm_quote_cell_set_item (GtkWidget *widget, QmQuoteItem *item)
{
  Cell *cell;

  g_return_if_fail (GTK_IS_WIDGET (widget) && QM_IS_QUOTE_ITEM (item));

  cell = g_object_get_qdata (G_OBJECT (widget), cell_quark ());
  if (cell->item == item)
    return;
  clear_item (cell);
  cell->item = g_object_ref (item);
  g_signal_connect_swapped (item, "changed", G_CALLBACK (fill_quote_cell),
                            cell);
  fill_quote_cell (cell);
}

/* What it does. */

static void
mark_cb (GtkCheckButton *button, GParamSpec *pspec, Cell *cell)
{
  if (cell->item != NULL && !cell->filling)
    qm_quote_list_mark (cell->list, qm_quote_item_get_shown (cell->item)->id,
                        gtk_check_button_get_active (button));
}

/* GTK 4.8 gives the keyboard to what is in a row and never to the row itself,
 * so that Enter would mark what it should open. */
static gboolean
open_cb (GtkEventControllerKey *controller,
         guint keyval,
         guint keycode,
         GdkModifierType state,
         Cell *cell)
{
  if (cell->item == NULL
      || (keyval != GDK_KEY_Return && keyval != GDK_KEY_KP_Enter
          && keyval != GDK_KEY_ISO_Enter)
      || (state & gtk_accelerator_get_default_mod_mask ()) != 0)
    return FALSE;
  qm_quote_list_open (cell->list, qm_quote_item_get_shown (cell->item)->id);
  return TRUE;
}

/* To set a tooltip asks the display where the pointer is and waits for the
 * answer: too long for the cells of a list that follows typing. */
static gboolean
tooltip_cb (GtkWidget *widget,
            int x,
            int y,
            gboolean keyboard,
            GtkTooltip *tooltip,
            Cell *cell)
{
  const QmQuoteShown *shown;
  const char *text = NULL;

  if (cell->item == NULL)
    return FALSE;
  shown = qm_quote_item_get_shown (cell->item);
  if (cell->kind == QM_QUOTE_CELL_MARK)
    text = _ ("Mark to compare");
  else
    text = qm_quote_shown_note (shown);
  if (text == NULL && cell->kind == QM_QUOTE_CELL_QUOTE)
    text = shown->title;
  gtk_tooltip_set_text (tooltip, text);
  return text != NULL;
}

/* Making. */

static GtkWidget *
new_cell_label (float xalign)
{
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (label), xalign);
  gtk_label_set_justify (GTK_LABEL (label),
                         xalign > 0 ? GTK_JUSTIFY_RIGHT : GTK_JUSTIFY_LEFT);
  return label;
}

static GtkWidget *
new_ellipsized_label (void)
{
  GtkWidget *label = new_cell_label (0);

  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  return label;
}

static GtkWidget *
new_wrapped_label (float xalign)
{
  GtkWidget *label = new_cell_label (xalign);

  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_width_chars (GTK_LABEL (label), 10);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 16);
  return label;
}

static GtkWidget *
new_mark (Cell *cell)
{
  GtkWidget *button = gtk_check_button_new ();
  GtkEventController *keys = gtk_event_controller_key_new ();

  g_signal_connect (button, "notify::active", G_CALLBACK (mark_cb), cell);
  gtk_event_controller_set_propagation_phase (keys, GTK_PHASE_CAPTURE);
  g_signal_connect (keys, "key-pressed", G_CALLBACK (open_cb), cell);
  gtk_widget_add_controller (button, keys);
  return button;
}

static GtkWidget *
new_quote (void)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  GtkWidget *detail = new_ellipsized_label ();

  gtk_box_append (GTK_BOX (head), gtk_image_new ());
  gtk_box_append (GTK_BOX (head), new_ellipsized_label ());
  gtk_box_append (GTK_BOX (box), head);
  gtk_widget_add_css_class (detail, "caption");
  gtk_widget_add_css_class (detail, "dim-label");
  gtk_box_append (GTK_BOX (box), detail);
  return box;
}

static GtkWidget *
new_widget (Cell *cell)
{
  GtkWidget *label;

  if (cell->kind == QM_QUOTE_CELL_MARK)
    return new_mark (cell);
  if (cell->kind == QM_QUOTE_CELL_QUOTE)
    return new_quote ();
  if (cell->kind != QM_QUOTE_CELL_TOTAL)
    return new_wrapped_label (0);
  label = new_wrapped_label (1);
  gtk_widget_add_css_class (label, "numeric");
  return label;
}

static void
cell_free (Cell *cell)
{
  clear_item (cell);
  g_free (cell);
}

GtkWidget *
qm_quote_cell_new (QmQuoteList *list, QmQuoteCellKind kind)
{
  Cell *cell;

  g_return_val_if_fail (QM_IS_QUOTE_LIST (list), NULL);
  g_return_val_if_fail (kind < QM_N_QUOTE_CELLS, NULL);

  cell = g_new0 (Cell, 1);
  cell->list = list;
  cell->kind = kind;
  cell->widget = new_widget (cell);
  g_object_set_qdata_full (G_OBJECT (cell->widget), cell_quark (), cell,
                           (GDestroyNotify) cell_free);
  if (kind != QM_QUOTE_CELL_ISSUED && kind != QM_QUOTE_CELL_VALIDITY)
    {
      g_signal_connect (cell->widget, "query-tooltip", G_CALLBACK (tooltip_cb),
                        cell);
      gtk_widget_set_has_tooltip (cell->widget, TRUE);
    }
  return cell->widget;
}
