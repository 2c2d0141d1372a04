/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-money-group.h"

#include "ui/qm-input.h"
#include "ui/qm-list-row.h"

#include <glib/gi18n-lib.h>

struct _QmMoneyGroup
{
  AdwPreferencesGroup parent_instance;

  GtkWidget *reset_button;
  QmListRow *currency_row;
  AdwActionRow *tax_row;
  GtkWidget *tax_spin;
  GtkAdjustment *tax_adjustment;
  GtkWidget *gross_row;
  GtkWidget *gross_switch;
  GtkWidget *least_spin;
  GtkAdjustment *least_adjustment;
  GtkWidget *most_spin;
  GtkAdjustment *most_adjustment;

  QmAdvisor *advisor;
};

G_DEFINE_FINAL_TYPE (QmMoneyGroup, qm_money_group, ADW_TYPE_PREFERENCES_GROUP)

/* Those of the European Central Bank's reference rates, what most funders pay
 * in first. */
static const char *const currencies[] = {
  "USD", "EUR", "GBP", "CHF", "CAD", "AUD", "JPY", "CNY", "INR", "KRW",
  "SEK", "NOK", "DKK", "ISK", "PLN", "CZK", "HUF", "RON", "TRY", "ILS",
  "BRL", "MXN", "ZAR", "NZD", "SGD", "HKD", "THB", "MYR", "IDR", "PHP",
};

/* What differs from its default when something is to be reset. */
static const char *const properties[] = { "currency", "tax", "gross",
                                          "machine-least", "machine-most" };

static GParamSpec *
spec_of (QmMoneyGroup *self, const char *property)
{
  return g_object_class_find_property (G_OBJECT_GET_CLASS (self->advisor),
                                       property);
}

static gboolean
is_default (QmMoneyGroup *self, const char *property)
{
  GParamSpec *spec = spec_of (self, property);
  g_auto (GValue) value = G_VALUE_INIT;

  g_value_init (&value, spec->value_type);
  g_object_get_property (G_OBJECT (self->advisor), property, &value);
  return g_param_value_defaults (spec, &value);
}

static void
money_changed_cb (QmMoneyGroup *self)
{
  gboolean changed = FALSE, taxed;
  double tax;

  for (guint i = 0; i < G_N_ELEMENTS (properties); i++)
    changed |= !is_default (self, properties[i]);
  gtk_widget_set_visible (self->reset_button, changed);
  g_object_get (self->advisor, "tax", &tax, NULL);
  taxed = qm_advisor_owns_with_tax (self->advisor);
  gtk_widget_set_sensitive (self->gross_row, tax > 0 && !taxed);
  adw_action_row_set_subtitle (
      self->tax_row,
      taxed ? _ ("Not added: the total cost contains a tax already")
            : _ ("Percent of the price that come on top; 0: not told"));
}

static void
money_reset_cb (QmMoneyGroup *self)
{
  /* The button is about to go, and the focus must not go with it. */
  if (gtk_widget_has_focus (self->reset_button))
    gtk_widget_child_focus (GTK_WIDGET (self->currency_row),
                            GTK_DIR_TAB_FORWARD);
  g_object_freeze_notify (G_OBJECT (self->advisor));
  for (guint i = 0; i < G_N_ELEMENTS (properties); i++)
    g_object_set_property (G_OBJECT (self->advisor), properties[i],
                           g_param_spec_get_default_value (
                               spec_of (self, properties[i])));
  g_object_thaw_notify (G_OBJECT (self->advisor));
}

/* What the list does not have is left as it is. */
static gboolean
to_index (GBinding *binding, const GValue *from, GValue *to, gpointer data)
{
  const char *code = g_value_get_string (from);

  for (guint i = 0; i < G_N_ELEMENTS (currencies); i++)
    if (g_strcmp0 (currencies[i], code) == 0)
      {
        g_value_set_int (to, (int) i);
        return TRUE;
      }
  return FALSE;
}

static gboolean
to_code (GBinding *binding, const GValue *from, GValue *to, gpointer data)
{
  guint index = (guint) g_value_get_int (from);

  if (index >= G_N_ELEMENTS (currencies))
    return FALSE;
  g_value_set_static_string (to, currencies[index]);
  return TRUE;
}

static void
set_up_currencies (QmMoneyGroup *self)
{
  QmListChoice choices[G_N_ELEMENTS (currencies)];

  for (guint i = 0; i < G_N_ELEMENTS (currencies); i++)
    choices[i] = (QmListChoice){
      (int) i, currencies[i],
      i == 0 ? _ ("As prices in the catalog are")
             : _ ("Converted at the European Central Bank’s newest rate that "
                  "is known")
    };
  qm_list_row_set_choices (self->currency_row, choices, G_N_ELEMENTS (choices));
}

static void
bind (QmMoneyGroup *self,
      const char *property,
      gpointer widget,
      const char *widget_property)
{
  g_object_bind_property (self->advisor, property, widget, widget_property,
                          G_BINDING_SYNC_CREATE | G_BINDING_BIDIRECTIONAL);
}

void
qm_money_group_set_advisor (QmMoneyGroup *self, QmAdvisor *advisor)
{
  g_return_if_fail (QM_IS_MONEY_GROUP (self) && QM_IS_ADVISOR (advisor));
  g_return_if_fail (self->advisor == NULL);

  self->advisor = g_object_ref (advisor);
  g_object_bind_property_full (advisor, "currency", self->currency_row, "value",
                               G_BINDING_SYNC_CREATE | G_BINDING_BIDIRECTIONAL,
                               to_index, to_code, NULL, NULL);
  bind (self, "tax", self->tax_adjustment, "value");
  bind (self, "gross", self->gross_switch, "active");
  bind (self, "machine-least", self->least_adjustment, "value");
  bind (self, "machine-most", self->most_adjustment, "value");
  for (guint i = 0; i < G_N_ELEMENTS (properties); i++)
    {
      g_autofree char *signal = g_strconcat ("notify::", properties[i], NULL);

      g_signal_connect_object (advisor, signal, G_CALLBACK (money_changed_cb),
                               self, G_CONNECT_SWAPPED);
    }
  g_signal_connect_object (advisor, "rebuilt", G_CALLBACK (money_changed_cb),
                           self, G_CONNECT_SWAPPED);
  money_changed_cb (self);
}

static void
qm_money_group_dispose (GObject *object)
{
  g_clear_object (&QM_MONEY_GROUP (object)->advisor);

  G_OBJECT_CLASS (qm_money_group_parent_class)->dispose (object);
}

static void
qm_money_group_class_init (QmMoneyGroupClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = qm_money_group_dispose;

  g_type_ensure (QM_TYPE_LIST_ROW);
  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-money-group.ui");
  gtk_widget_class_bind_template_child (widget_class, QmMoneyGroup,
                                        reset_button);
  gtk_widget_class_bind_template_child (widget_class, QmMoneyGroup,
                                        currency_row);
  gtk_widget_class_bind_template_child (widget_class, QmMoneyGroup, tax_row);
  gtk_widget_class_bind_template_child (widget_class, QmMoneyGroup, tax_spin);
  gtk_widget_class_bind_template_child (widget_class, QmMoneyGroup,
                                        tax_adjustment);
  gtk_widget_class_bind_template_child (widget_class, QmMoneyGroup, gross_row);
  gtk_widget_class_bind_template_child (widget_class, QmMoneyGroup,
                                        gross_switch);
  gtk_widget_class_bind_template_child (widget_class, QmMoneyGroup, least_spin);
  gtk_widget_class_bind_template_child (widget_class, QmMoneyGroup,
                                        least_adjustment);
  gtk_widget_class_bind_template_child (widget_class, QmMoneyGroup, most_spin);
  gtk_widget_class_bind_template_child (widget_class, QmMoneyGroup,
                                        most_adjustment);
  gtk_widget_class_bind_template_callback (widget_class, money_reset_cb);
}

static void
qm_money_group_init (QmMoneyGroup *self)
{
  GtkWidget **const spins[] = { &self->tax_spin, &self->least_spin,
                                &self->most_spin };

  gtk_widget_init_template (GTK_WIDGET (self));
  set_up_currencies (self);
  for (guint i = 0; i < G_N_ELEMENTS (spins); i++)
    {
      qm_input_ignore_wheel (*spins[i]);
      qm_input_short_numbers (GTK_SPIN_BUTTON (*spins[i]));
    }
}
