/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/qm-input.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

void
qm_input_ignore_wheel (GtkWidget *widget)
{
  g_autoptr (GListModel) controllers = NULL;

  g_return_if_fail (GTK_IS_WIDGET (widget));

  controllers = gtk_widget_observe_controllers (widget);
  for (guint i = 0; i < g_list_model_get_n_items (controllers); i++)
    {
      g_autoptr (GtkEventController) controller =
          g_list_model_get_item (controllers, i);

      if (GTK_IS_EVENT_CONTROLLER_SCROLL (controller))
        gtk_event_controller_set_propagation_phase (controller, GTK_PHASE_NONE);
    }
}

void
qm_input_name_button (GtkWidget *button, const char *name)
{
  g_return_if_fail (GTK_IS_WIDGET (button));
  g_return_if_fail (name != NULL);

  gtk_accessible_update_property (GTK_ACCESSIBLE (button),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  /* In GTK 4.18 the text on it would go first. */
  gtk_accessible_reset_relation (GTK_ACCESSIBLE (button),
                                 GTK_ACCESSIBLE_RELATION_LABELLED_BY);
}

/* What has the keyboard says what is chosen, too: the button inside the list,
 * which has no name of its own in GTK 4.8, and in GTK 4.18 that of the list. */
void
qm_input_name_drop_down (GtkDropDown *drop_down,
                         const char *title,
                         const char *choice)
{
  GtkWidget *button;
  g_autofree char *name = NULL;

  g_return_if_fail (GTK_IS_DROP_DOWN (drop_down));
  g_return_if_fail (title != NULL && choice != NULL);

  /* Translators: "Times of", name of software. */
  name = g_strdup_printf (_ ("%s: %s"), title, choice);
  button = gtk_widget_get_first_child (GTK_WIDGET (drop_down));
  qm_input_name_button (GTK_WIDGET (drop_down), name);
  if (GTK_IS_TOGGLE_BUTTON (button))
    qm_input_name_button (button, name);
}

void
qm_input_name_reset (GtkWidget *button, const char *title)
{
  g_autofree char *name = NULL;

  g_return_if_fail (GTK_IS_WIDGET (button));
  g_return_if_fail (title != NULL);

  /* Translators: the name of a button; the parameter is what it resets, such
   * as "Budget". */
  name = g_strdup_printf (_ ("Reset: %s"), title);
  qm_input_name_button (button, name);
}

/* As many as it needs, and at most as many as there are. */
static int
digits_of (double value, int most)
{
  double scaled = value;

  for (int digits = 0; digits < most; digits++, scaled *= 10)
    if (fabs (scaled - round (scaled)) < 1e-6)
      return digits;
  return most;
}

static gboolean
output_cb (GtkSpinButton *spin)
{
  double value = gtk_spin_button_get_value (spin);
  int digits = digits_of (value, (int) gtk_spin_button_get_digits (spin));
  g_autofree char *text = g_strdup_printf ("%.*f", digits, value);

  if (strcmp (text, gtk_editable_get_text (GTK_EDITABLE (spin))) != 0)
    gtk_editable_set_text (GTK_EDITABLE (spin), text);

  return TRUE;
}

void
qm_input_short_numbers (GtkSpinButton *spin)
{
  g_return_if_fail (GTK_IS_SPIN_BUTTON (spin));

  g_signal_connect (spin, "output", G_CALLBACK (output_cb), NULL);
  gtk_spin_button_update (spin);
}
