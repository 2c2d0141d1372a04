/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/machine/qm-machine-devices.h"

#include "ui/machine/qm-machine-text.h"
#include "ui/qm-input.h"

#include <glib/gi18n-lib.h>

struct _QmMachineDevices
{
  AdwPreferencesGroup parent_instance;

  QmLocalMachine *machine;
  GPtrArray *rows; /* GtkWidget, in the group */
};

G_DEFINE_FINAL_TYPE (QmMachineDevices,
                     qm_machine_devices,
                     ADW_TYPE_PREFERENCES_GROUP)

static void
add_part (GString *text, char *part)
{
  if (part != NULL && *part != '\0')
    {
      if (text->len > 0)
        g_string_append (text, " · ");
      g_string_append (text, part);
    }
  g_free (part);
}

static char *
describe_links (const QmMachineDevice *device)
{
  GString *text = g_string_new (NULL);

  if (device->pcie_generation > 0 && device->pcie_width > 0)
    /* Translators: generation and lanes of PCI Express. */
    add_part (text,
              g_strdup_printf (_ ("PCIe %d.0 ×%d"), device->pcie_generation,
                               device->pcie_width));
  if (device->nvlinks > 0)
    add_part (text, g_strdup_printf (ngettext ("%d NVLink", "%d NVLinks",
                                               device->nvlinks),
                                     device->nvlinks));
  return g_string_free (text, FALSE);
}

static void
append_sentence (GString *text, const char *line)
{
  if (text->len > 0)
    g_string_append_c (text, '\n');
  g_string_append (text, line);
}

static char *
describe_device (const QmMachineDevice *device)
{
  gboolean own = g_strcmp0 (device->products, "own") == 0;
  GString *text = g_string_new (NULL);

  add_part (text, qm_machine_text_bytes (device->memory_bytes));
  if (device->driver != NULL && *device->driver != '\0')
    add_part (text, g_strdup_printf (_ ("driver %s"), device->driver));
  if (device->is_cpu)
    add_part (text, g_strdup_printf (ngettext ("%d thread", "%d threads",
                                               device->processors),
                                     device->processors));
  add_part (text, describe_links (device));
  if (!own)
    add_part (text, g_strdup (device->products));
  if (own && device->usable)
    append_sentence (text,
                     _ ("There is no cuBLASLt 13 here: products of matrices "
                        "are our own, which take longer."));
  if (device->trouble != NULL && *device->trouble != '\0')
    append_sentence (text, device->trouble);
  return g_string_free (text, FALSE);
}

static void
add_device_row (QmMachineDevices *self, GtkWidget *row)
{
  g_ptr_array_add (self->rows, row);
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (self), row);
}

static GtkWidget *
new_row (const char *title, const char *subtitle)
{
  GtkWidget *row = adw_action_row_new ();

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), subtitle);
  return row;
}

static void
add_device (QmMachineDevices *self, const QmMachineDevice *device)
{
  g_autofree char *what = describe_device (device);
  GtkWidget *row = new_row (device->name, what);

  if (device->drives_display)
    {
      GtkWidget *mark = gtk_label_new (_ ("display"));

      gtk_widget_set_tooltip_text (
          mark, _ ("It also draws this screen: both become slower while it "
                   "measures."));
      gtk_widget_add_css_class (mark, "caption");
      gtk_widget_add_css_class (mark, "warning");
      adw_action_row_add_suffix (ADW_ACTION_ROW (row), mark);
    }
  add_device_row (self, row);
}

/* Without a GPU there is still something to do. */
static void
say_none (QmMachineDevices *self, const char *why)
{
  g_autofree char *what = g_strdup_printf (
      "%s%s%s", why, *why != '\0' ? "\n" : "",
      _ ("Small models train on the processor, and the advisor plans for GPUs "
         "that are not here."));
  GtkWidget *import = new_row (_ ("Results of other machines"), "");
  GtkWidget *button = gtk_button_new_with_label (_ ("Import…"));

  add_device_row (self, new_row (_ ("No GPU can be used"), what));
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text (button, _ ("Import results files"));
  qm_input_name_button (button, _ ("Import results files"));
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button),
                                  "win.import-results");
  adw_action_row_add_suffix (ADW_ACTION_ROW (import), button);
  add_device_row (self, import);
}

static void
fill_device_rows (QmMachineDevices *self)
{
  guint n, n_gpus = 0;
  const QmMachineDevice *devices =
      qm_local_machine_get_devices (self->machine, &n);

  for (guint i = 0; i < self->rows->len; i++)
    adw_preferences_group_remove (ADW_PREFERENCES_GROUP (self),
                                  g_ptr_array_index (self->rows, i));
  g_ptr_array_set_size (self->rows, 0);
  if (qm_local_machine_get_state (self->machine) == QM_MACHINE_ASKING)
    {
      add_device_row (self, new_row (_ ("Looking for devices…"), ""));
      return;
    }
  for (guint i = 0; i < n; i++)
    n_gpus += !devices[i].is_cpu && devices[i].usable;
  for (guint i = 0; i < n; i++)
    add_device (self, &devices[i]);
  if (n_gpus == 0)
    say_none (self, qm_local_machine_get_reason (self->machine));
}

void
qm_machine_devices_set_machine (QmMachineDevices *self, QmLocalMachine *machine)
{
  g_return_if_fail (QM_IS_MACHINE_DEVICES (self));
  g_return_if_fail (QM_IS_LOCAL_MACHINE (machine));
  g_return_if_fail (self->machine == NULL);

  self->machine = g_object_ref (machine);
  g_signal_connect_object (machine, "changed", G_CALLBACK (fill_device_rows),
                           self, G_CONNECT_SWAPPED);
  fill_device_rows (self);
}

static void
qm_machine_devices_dispose (GObject *object)
{
  g_clear_object (&QM_MACHINE_DEVICES (object)->machine);

  G_OBJECT_CLASS (qm_machine_devices_parent_class)->dispose (object);
}

static void
qm_machine_devices_finalize (GObject *object)
{
  g_ptr_array_unref (QM_MACHINE_DEVICES (object)->rows);

  G_OBJECT_CLASS (qm_machine_devices_parent_class)->finalize (object);
}

static void
qm_machine_devices_class_init (QmMachineDevicesClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = qm_machine_devices_dispose;
  G_OBJECT_CLASS (klass)->finalize = qm_machine_devices_finalize;
}

static void
qm_machine_devices_init (QmMachineDevices *self)
{
  GtkWidget *button = gtk_button_new_from_icon_name ("view-refresh-symbolic");

  self->rows = g_ptr_array_new ();
  gtk_widget_set_tooltip_text (button, _ ("Look again (F5)"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (button),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Look for devices again"), -1);
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class (button, "flat");
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "machine.reload");
  adw_preferences_group_set_title (ADW_PREFERENCES_GROUP (self),
                                   _ ("This Machine"));
  adw_preferences_group_set_header_suffix (ADW_PREFERENCES_GROUP (self),
                                           button);
}
