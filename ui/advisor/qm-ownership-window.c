/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-ownership-window.h"

#include "pricing/advice/qm-ownership.h"
#include "pricing/advice/qm-prose-rent.h"
#include "pricing/advice/qm-prose.h"
#include "pricing/qm-format.h"
#include "ui/qm-dialog.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define N_PARTS 8

struct _QmOwnershipWindow
{
  AdwWindow parent_instance;

  AdwWindowTitle *title;
  AdwActionRow *problem_row;
  GtkLabel *begin_label;
  GtkLabel *month_label;
  AdwActionRow *total_row;
  GtkLabel *total_label;
  AdwActionRow *experiment_row;
  GtkLabel *experiment_label;
  GtkWidget *rent_group;
  AdwComboRow *rent_row;
  AdwActionRow *rent_answer;
  AdwPreferencesGroup *parts;
  GtkWidget *count_switch;
  GtkWidget *reset_button;

  QmAdvisor *advisor;
  QmOwnershipSettings settings;
  AdwExpanderRow *expanders[N_PARTS];
  GtkLabel *amounts[N_PARTS];
  GHashTable *spins; /* key -> GtkSpinButton */
  GPtrArray *rents;  /* const QmPrice, of rent_gpu, the cheapest first */
  const QmGpu *rent_gpu;
  int rent_gpus;     /* that are rented at a time */
  gboolean updating; /* widgets are being set from the settings */
};

G_DEFINE_FINAL_TYPE (QmOwnershipWindow, qm_ownership_window, ADW_TYPE_WINDOW)

/* The parts, in the order of the sum. */
static const struct
{
  QmOwnershipParts part;
  const char *title;
  gsize amount; /* in QmOwnership */
} part_rows[N_PARTS] = {
  { QM_OWNERSHIP_DISCOUNT, N_ ("Discount"), offsetof (QmOwnership, discount) },
  { QM_OWNERSHIP_SHIPPING, N_ ("Shipping"), offsetof (QmOwnership, shipping) },
  { QM_OWNERSHIP_TAX, N_ ("Tax"), offsetof (QmOwnership, tax) },
  { QM_OWNERSHIP_ELECTRICITY, N_ ("Electricity"),
    offsetof (QmOwnership, electricity) },
  { QM_OWNERSHIP_HOSTING, N_ ("Hosting"), offsetof (QmOwnership, hosting) },
  { QM_OWNERSHIP_SUPPORT, N_ ("Support"), offsetof (QmOwnership, support) },
  { QM_OWNERSHIP_OVERHEAD, N_ ("Institutional overhead"),
    offsetof (QmOwnership, overhead) },
  { QM_OWNERSHIP_RESIDUAL, N_ ("Residual value"),
    offsetof (QmOwnership, residual) },
};

/* How assumptions are typed in: those of no part stand above the parts, and the
 * lifetime is the question's. */
static const struct
{
  const char *key;
  double lower, upper, step;
  guint digits;
} inputs[] = {
  { "utilization", 0, 100, 5, 1 }, { "discount", 0, 100, 1, 2 },
  { "shipping", 0, 1e6, 50, 2 },   { "tax", 0, 100, 1, 2 },
  { "overhead", 0, 300, 1, 2 },    { "overhead_threshold", 0, 1e7, 1000, 2 },
  { "residual", 0, 100, 5, 2 },    { "kwh", 0, 100, 0.01, 4 },
  { "pue", 1, 10, 0.05, 2 },       { "idle", 0, 100, 5, 1 },
  { "rest", 0, 1000, 5, 1 },       { "hosting_machine", 0, 1e6, 50, 2 },
  { "hosting_kw", 0, 1e6, 50, 2 }, { "hosting_unit", 0, 1e6, 50, 2 },
  { "rack_units", 0, 1000, 1, 0 }, { "support", 0, 100, 1, 2 },
};

static void refresh_ownership (QmOwnershipWindow *self);
static void sync_inputs (QmOwnershipWindow *self);

/* --- What is asked about -------------------------------------------------- */

/* The selected machine, or the first that is recommended; NULL: none. */
static const QmCandidate *
find_subject (QmAdvisor *advisor)
{
  guint topic, index;

  if (qm_advisor_get_selected (advisor, &topic, &index))
    return qm_advice_candidate (qm_advisor_get_advice (advisor, topic),
                                (int) index);
  for (topic = 0; topic < qm_advisor_get_n_topics (advisor); topic++)
    {
      const QmCandidate *best = qm_advice_candidate (
          qm_advisor_get_advice (advisor, topic),
          qm_advisor_get_recommendation (advisor, topic)->best);

      if (best != NULL)
        return best;
    }
  return NULL;
}

/* --- Settings ------------------------------------------------------------- */

static void
set_value (QmOwnershipWindow *self, const char *key, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (text, sizeof text, "%.6f", value);
  qm_ownership_settings_set (&self->settings, key, text, NULL);
}

/* --- The sums ------------------------------------------------------------- */

static void
set_amount (GtkLabel *label, gint64 minor, const char *currency)
{
  QmMoney money = { .minor = minor };
  g_autofree char *text = NULL;

  g_strlcpy (money.currency, currency, sizeof money.currency);
  text = qm_format_money (qm_money_to_double (money), currency, FALSE);
  gtk_label_set_text (label, text);
}

static void
show_sums (QmOwnershipWindow *self,
           const QmCandidate *candidate,
           const QmOwnership *sum)
{
  g_autofree char *years = qm_format_number (sum->lifetime_years, 1);
  g_autofree char *experiment = NULL;
  /* Translators: a number of years. */
  g_autofree char *subtitle = g_strdup_printf (_ ("Over %s years"), years);
  double share;

  set_amount (self->begin_label, sum->begin, sum->currency);
  set_amount (self->month_label,
              qm_money_from_micros (sum->month_micros, sum->currency).minor,
              sum->currency);
  set_amount (self->total_label, sum->total, sum->currency);
  adw_action_row_set_subtitle (self->total_row, subtitle);
  share = qm_ownership_experiment_cost (sum, candidate->days);
  gtk_widget_set_visible (GTK_WIDGET (self->experiment_row),
                          candidate->machines == 1 && qm_known (share));
  experiment = qm_format_money (share, sum->currency, FALSE);
  gtk_label_set_text (self->experiment_label, experiment);
  for (guint i = 0; i < N_PARTS; i++)
    {
      const char *field = (const char *) sum + part_rows[i].amount;
      gint64 amount;

      memcpy (&amount, field, sizeof amount);
      set_amount (self->amounts[i], amount, sum->currency);
      gtk_widget_set_visible (GTK_WIDGET (self->amounts[i]),
                              (self->settings.parts & part_rows[i].part) != 0);
    }
}

static void
set_basis (QmOwnershipWindow *self, QmOwnershipParts part, char *text)
{
  for (guint i = 0; i < N_PARTS; i++)
    if (part_rows[i].part == part)
      adw_expander_row_set_subtitle (self->expanders[i],
                                     text != NULL ? text : "");
  g_free (text);
}

/* What amounts of a machine rest on, and whether they contain tax. */
static void
show_basis (QmOwnershipWindow *self, const QmOwned *owned)
{
  set_basis (self, QM_OWNERSHIP_TAX,
             qm_ownership_tax_text (&self->settings, owned));
  set_basis (self, QM_OWNERSHIP_ELECTRICITY,
             qm_ownership_power_text (&self->settings, owned));
  set_basis (self, QM_OWNERSHIP_HOSTING,
             qm_ownership_units_text (&self->settings, owned));
}

/* (transfer full) */
static char *
describe_rent (const QmOwnOrRent *comparison, const char *currency)
{
  g_autofree char *own = NULL;
  g_autofree char *rent = NULL;
  g_autofree char *months = NULL;

  own = qm_format_money ((double) comparison->own_month_micros
                             / QM_MICROS_PER_UNIT,
                         currency, FALSE);
  rent = qm_format_money ((double) comparison->rent_month_micros
                              / QM_MICROS_PER_UNIT,
                          currency, FALSE);
  if (comparison->outcome == QM_BREAK_EVEN_NEVER)
    /* Translators: amounts of a month. */
    return g_strdup_printf (_ ("Renting is always cheaper: it costs %s a month "
                               "at this use, running your own %s."),
                            rent, own);
  months = qm_format_number (comparison->months, 1);
  if (comparison->outcome == QM_BREAK_EVEN_AFTER_LIFE)
    /* Translators: amount of a month, number of months. */
    return g_strdup_printf (_ ("Renting is cheaper: it costs %s a month at "
                               "this use, and owning would pay only after %s "
                               "months, when the machine has served its time."),
                            rent, months);
  /* Translators: number of months, amounts of a month. */
  return g_strdup_printf (_ ("Owning is cheaper after %s months: renting costs "
                             "%s a month at this use, running your own %s."),
                          months, rent, own);
}

static void
show_rent (QmOwnershipWindow *self, const QmOwned *owned)
{
  guint selected = adw_combo_row_get_selected (self->rent_row);
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  QmOwnOrRent comparison;
  const QmPrice *price;
  QmRent rent = { 0 };

  if (selected >= self->rents->len)
    return;
  price = g_ptr_array_index (self->rents, selected);
  if (!qm_rent_of_price (price, &rent))
    return;
  if (qm_ownership_compare_rent (&self->settings, owned, &rent, &comparison,
                                 &error))
    text = describe_rent (&comparison, rent.currency);
  else
    text = g_strdup (error->message);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->rent_answer), text);
}

/* (transfer full) */
static char *
describe_offer (const QmPrice *price)
{
  g_autofree char *hour = qm_format_money ((double) price->micros / price->gpus
                                               / QM_MICROS_PER_UNIT,
                                           price->currency, TRUE);
  g_autofree char *date = qm_format_date (price->observed_on);

  /* Translators: who rents it out, price of an hour of one GPU, a date. */
  return g_strdup_printf (_ ("%s: %s an hour and GPU (%s)"), price->source,
                          hour, date);
}

static double
cost_of_renting (const QmPrice *price, int gpus)
{
  QmRent rent = { 0 };

  return qm_rent_of_price (price, &rent)
             ? qm_rent_experiment_cost (&rent, gpus, 1)
             : 0;
}

/* By what the GPUs cost that are wanted, where instances are rented whole. */
static int
compare_rents (gconstpointer a, gconstpointer b, gpointer gpus)
{
  const QmPrice *const *p = a;
  const QmPrice *const *q = b;
  double first = cost_of_renting (*p, GPOINTER_TO_INT (gpus));
  double second = cost_of_renting (*q, GPOINTER_TO_INT (gpus));

  return (first > second) - (first < second);
}

/* Who rents GPUs of that type out, as the catalog knows. */
static void
find_rents (QmOwnershipWindow *self, const QmGpu *gpu, int gpus)
{
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);

  if (self->rent_gpu == gpu && self->rent_gpus == gpus)
    return;
  self->rent_gpu = gpu;
  self->rent_gpus = gpus;
  g_clear_pointer (&self->rents, g_ptr_array_unref);
  self->rents = qm_rent_prices (qm_advisor_get_catalog (self->advisor), gpu->id,
                                self->settings.currency);
  g_ptr_array_sort_with_data (self->rents, compare_rents,
                              GINT_TO_POINTER (gpus));
  for (guint i = 0; i < self->rents->len; i++)
    {
      g_autofree char *name =
          describe_offer (g_ptr_array_index (self->rents, i));

      gtk_string_list_append (names, name);
    }
  adw_combo_row_set_model (self->rent_row, G_LIST_MODEL (names));
  gtk_widget_set_visible (self->rent_group, self->rents->len > 0);
}

static void
show_ownership_problem (QmOwnershipWindow *self, const char *problem)
{
  gtk_widget_set_visible (GTK_WIDGET (self->problem_row), problem != NULL);
  if (problem == NULL)
    return;
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->problem_row),
                                 problem);
  for (guint i = 0; i < N_PARTS; i++)
    gtk_widget_set_visible (GTK_WIDGET (self->amounts[i]), FALSE);
  gtk_label_set_text (self->begin_label, "–");
  gtk_label_set_text (self->month_label, "–");
  gtk_label_set_text (self->total_label, "–");
  gtk_label_set_text (self->experiment_label, "–");
}

static void
refresh_ownership (QmOwnershipWindow *self)
{
  const QmCandidate *candidate;
  g_autofree char *name = NULL;
  g_autoptr (GError) error = NULL;
  QmOwnership sum;
  QmOwned owned;

  if (self->updating || self->advisor == NULL)
    return;
  self->updating = TRUE;
  candidate = find_subject (self->advisor);
  if (candidate != NULL)
    find_rents (self, candidate->gpu, candidate->gpus * candidate->machines);
  g_object_get (self->advisor, "lifetime", &self->settings.lifetime_years,
                NULL);
  name = candidate != NULL ? qm_prose_candidate (candidate) : g_strdup ("");
  adw_window_title_set_subtitle (self->title, name);
  if (candidate == NULL || !qm_owned_of_candidate (candidate, &owned))
    show_ownership_problem (self,
                            candidate == NULL
                                ? _ ("No machine is selected or recommended")
                                : _ ("No price is known for this machine"));
  else if (!qm_ownership_compute (&self->settings, &owned, &sum, &error))
    show_ownership_problem (self, error->message);
  else
    {
      show_ownership_problem (self, NULL);
      show_sums (self, candidate, &sum);
      show_basis (self, &owned);
      show_rent (self, &owned);
    }
  self->updating = FALSE;
}

/* --- Input ---------------------------------------------------------------- */

static void
value_changed_cb (QmOwnershipWindow *self, GtkSpinButton *spin)
{
  if (self->updating)
    return;
  set_value (self, g_object_get_data (G_OBJECT (spin), "key"),
             gtk_spin_button_get_value (spin));
  qm_advisor_set_ownership (self->advisor, &self->settings);
  refresh_ownership (self);
}

/* Tax that is switched on is that of the question's money, where none is set.
 */
static void
take_money_tax (QmOwnershipWindow *self)
{
  double tax;

  if (self->settings.tax_ppm != 0)
    return;
  g_object_get (self->advisor, "tax", &tax, NULL);
  set_value (self, "tax", tax);
  sync_inputs (self);
}

static void
enabled_changed_cb (QmOwnershipWindow *self,
                    GParamSpec *pspec,
                    AdwExpanderRow *row)
{
  if (self->updating)
    return;
  for (guint i = 0; i < N_PARTS; i++)
    if (self->expanders[i] == row)
      {
        self->settings.parts &= (QmOwnershipParts) ~part_rows[i].part;
        if (adw_expander_row_get_enable_expansion (row))
          self->settings.parts |= part_rows[i].part;
        if ((self->settings.parts & part_rows[i].part) == QM_OWNERSHIP_TAX)
          take_money_tax (self);
      }
  qm_advisor_set_ownership (self->advisor, &self->settings);
  refresh_ownership (self);
}

/* The widgets as the settings are. */
static void
sync_inputs (QmOwnershipWindow *self)
{
  g_autoptr (GPtrArray) assumptions =
      qm_ownership_assumptions (&self->settings);

  self->updating = TRUE;
  for (guint i = 0; i < assumptions->len; i++)
    {
      const QmAssumption *assumption = g_ptr_array_index (assumptions, i);
      GtkSpinButton *spin = g_hash_table_lookup (self->spins, assumption->key);

      if (spin != NULL)
        gtk_spin_button_set_value (spin, qm_ownership_get (&self->settings,
                                                           assumption->key));
    }
  for (guint i = 0; i < N_PARTS; i++)
    adw_expander_row_set_enable_expansion (
        self->expanders[i], (self->settings.parts & part_rows[i].part) != 0);
  self->updating = FALSE;
}

static void
ownership_reset_cb (QmOwnershipWindow *self)
{
  self->settings = qm_ownership_settings_default ();
  sync_inputs (self);
  qm_advisor_set_ownership (self->advisor, &self->settings);
  refresh_ownership (self);
}

/* --- Building ------------------------------------------------------------- */

static GtkWidget *
make_input (QmOwnershipWindow *self, const QmAssumption *assumption, guint i)
{
  GtkWidget *row = adw_action_row_new ();
  GtkWidget *spin =
      gtk_spin_button_new_with_range (inputs[i].lower, inputs[i].upper,
                                      inputs[i].step);
  g_autofree char *title = NULL;

  /* Translators: what is assumed, its unit. */
  title =
      *assumption->unit != '\0'
          ? g_strdup_printf (_ ("%s (%s)"), assumption->name, assumption->unit)
          : g_strdup (assumption->name);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), assumption->source);
  gtk_spin_button_set_digits (GTK_SPIN_BUTTON (spin), inputs[i].digits);
  gtk_spin_button_set_numeric (GTK_SPIN_BUTTON (spin), TRUE);
  gtk_editable_set_width_chars (GTK_EDITABLE (spin), 7);
  gtk_widget_set_valign (spin, GTK_ALIGN_CENTER);
  gtk_accessible_update_property (GTK_ACCESSIBLE (spin),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL, title, -1);
  g_object_set_data (G_OBJECT (spin), "key", (gpointer) inputs[i].key);
  g_signal_connect_object (spin, "value-changed", G_CALLBACK (value_changed_cb),
                           self, G_CONNECT_SWAPPED);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), spin);
  adw_action_row_set_activatable_widget (ADW_ACTION_ROW (row), spin);
  g_hash_table_insert (self->spins, (gpointer) inputs[i].key, spin);
  return row;
}

static AdwExpanderRow *
make_expander (QmOwnershipWindow *self, guint part)
{
  GtkWidget *row = adw_expander_row_new ();
  GtkWidget *amount = gtk_label_new (NULL);

  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row),
                                 _ (part_rows[part].title));
  adw_expander_row_set_show_enable_switch (ADW_EXPANDER_ROW (row), TRUE);
  adw_expander_row_add_action (ADW_EXPANDER_ROW (row), amount);
  g_signal_connect_object (row, "notify::enable-expansion",
                           G_CALLBACK (enabled_changed_cb), self,
                           G_CONNECT_SWAPPED);
  self->expanders[part] = ADW_EXPANDER_ROW (row);
  self->amounts[part] = GTK_LABEL (amount);
  adw_preferences_group_add (self->parts, row);
  return ADW_EXPANDER_ROW (row);
}

static void
add_inputs (QmOwnershipWindow *self, AdwExpanderRow *row, QmOwnershipParts part)
{
  QmOwnershipSettings usual = qm_ownership_settings_default ();
  g_autoptr (GPtrArray) assumptions = qm_ownership_assumptions (&usual);

  for (guint i = 0; i < assumptions->len; i++)
    {
      const QmAssumption *assumption = g_ptr_array_index (assumptions, i);

      for (guint j = 0; j < G_N_ELEMENTS (inputs); j++)
        if (assumption->part == part
            && strcmp (assumption->key, inputs[j].key) == 0)
          {
            GtkWidget *input = make_input (self, assumption, j);

            if (row != NULL)
              adw_expander_row_add_row (row, input);
            else
              adw_preferences_group_add (self->parts, input);
          }
    }
}

GtkWidget *
qm_ownership_window_new (GtkWindow *parent, QmAdvisor *advisor)
{
  QmOwnershipWindow *self;

  g_return_val_if_fail (parent == NULL || GTK_IS_WINDOW (parent), NULL);
  g_return_val_if_fail (QM_IS_ADVISOR (advisor), NULL);

  self = g_object_new (QM_TYPE_OWNERSHIP_WINDOW, NULL);
  qm_dialog_follow (GTK_WINDOW (self), parent);
  self->advisor = g_object_ref (advisor);
  self->settings = *qm_advisor_get_ownership (advisor);
  g_object_bind_property (advisor, "total-cost", self->count_switch, "active",
                          G_BINDING_SYNC_CREATE | G_BINDING_BIDIRECTIONAL);
  sync_inputs (self);
  g_signal_connect_object (advisor, "rebuilt", G_CALLBACK (refresh_ownership),
                           self, G_CONNECT_SWAPPED);
  g_signal_connect_object (advisor, "limits-changed",
                           G_CALLBACK (refresh_ownership), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (advisor, "selection-changed",
                           G_CALLBACK (refresh_ownership), self,
                           G_CONNECT_SWAPPED);
  refresh_ownership (self);
  return GTK_WIDGET (self);
}

static void
qm_ownership_window_dispose (GObject *object)
{
  QmOwnershipWindow *self = QM_OWNERSHIP_WINDOW (object);

  g_clear_object (&self->advisor);
  G_OBJECT_CLASS (qm_ownership_window_parent_class)->dispose (object);
}

static void
qm_ownership_window_finalize (GObject *object)
{
  QmOwnershipWindow *self = QM_OWNERSHIP_WINDOW (object);

  g_clear_pointer (&self->spins, g_hash_table_unref);
  g_clear_pointer (&self->rents, g_ptr_array_unref);
  G_OBJECT_CLASS (qm_ownership_window_parent_class)->finalize (object);
}

static void
qm_ownership_window_class_init (QmOwnershipWindowClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->dispose = qm_ownership_window_dispose;
  object_class->finalize = qm_ownership_window_finalize;

  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_Escape, 0,
                                       "window.close", NULL);
  gtk_widget_class_set_template_from_resource (
      widget_class,
      "/org/quartermaster/Quartermaster/ui/qm-ownership-window.ui");
#define BIND(name) \
  gtk_widget_class_bind_template_child (widget_class, QmOwnershipWindow, name)
  BIND (title);
  BIND (problem_row);
  BIND (begin_label);
  BIND (month_label);
  BIND (total_row);
  BIND (total_label);
  BIND (experiment_row);
  BIND (experiment_label);
  BIND (rent_group);
  BIND (rent_row);
  BIND (rent_answer);
  BIND (parts);
  BIND (count_switch);
  BIND (reset_button);
#undef BIND
  gtk_widget_class_bind_template_callback (widget_class, refresh_ownership);
  gtk_widget_class_bind_template_callback (widget_class, ownership_reset_cb);
}

static void
qm_ownership_window_init (QmOwnershipWindow *self)
{
  self->settings = qm_ownership_settings_default ();
  self->spins = g_hash_table_new (g_str_hash, g_str_equal);
  self->rents = g_ptr_array_new ();
  self->updating = TRUE;
  gtk_widget_init_template (GTK_WIDGET (self));
  adw_preferences_group_set_description (
      ADW_PREFERENCES_GROUP (self->rent_group), qm_prose_rent_left_out ());
  add_inputs (self, NULL, 0);
  for (guint i = 0; i < N_PARTS; i++)
    add_inputs (self, make_expander (self, i), part_rows[i].part);
  self->updating = FALSE;
}
