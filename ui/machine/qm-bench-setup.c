/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/machine/qm-bench-setup.h"

#include "ui/advisor/qm-models.h"
#include "ui/machine/qm-machine-devices.h"
#include "ui/machine/qm-machine-links.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* A model that can be chosen. */
typedef struct
{
  char *model; /* id */
  AdwActionRow *row;
  GtkCheckButton *check;
} Choice;

static void
choice_clear (gpointer data)
{
  g_free (((Choice *) data)->model);
}

struct _QmBenchSetup
{
  GtkWidget parent_instance;

  GtkWidget *scroller;
  GtkWidget *separator;
  GtkWidget *footer;
  QmMachineDevices *devices;
  QmMachineLinks *links;
  AdwComboRow *device_row;
  AdwComboRow *gpus_row;
  AdwComboRow *methods_row;
  AdwPreferencesGroup *models;
  GtkButton *all_button;
  GtkLabel *estimate;

  QmCatalogKeeper *keeper;
  QmLocalMachine *machine;
  char *device;          /* chosen before devices were known; NULL */
  char *gpus;            /* the same; NULL: as many as there are */
  GPtrArray *device_ids; /* char*, as in the row */
  GPtrArray *counts;     /* char*, as in the row: "1", "2", "1,2" */
  char *together;        /* the devices of the largest number */
  GArray *choices;       /* Choice */
  gboolean filling;      /* what changes is not the user's doing */
};

enum
{
  CHANGED,
  LINKS,
  N_SIGNALS
};

G_DEFINE_FINAL_TYPE (QmBenchSetup, qm_bench_setup, GTK_TYPE_WIDGET)

static guint signals[N_SIGNALS];

static void
ticked_changed_cb (QmBenchSetup *self)
{
  if (!self->filling)
    g_signal_emit (self, signals[CHANGED], 0);
}

static void
links_cb (QmBenchSetup *self)
{
  g_signal_emit (self, signals[LINKS], 0);
}

static const char *
selected_of (AdwComboRow *row, const GPtrArray *values)
{
  guint position = adw_combo_row_get_selected (row);

  return position < values->len ? g_ptr_array_index (values, position) : NULL;
}

/* The devices that can work together with the chosen one, that one first: GPUs
 * of its type that are not parts of one.  (transfer full) */
static GPtrArray *
list_alike (QmBenchSetup *self)
{
  const char *id = selected_of (self->device_row, self->device_ids);
  const QmMachineDevice *chosen =
      qm_local_machine_get_device (self->machine, id);
  GPtrArray *ids = g_ptr_array_new ();
  guint n;
  const QmMachineDevice *devices =
      qm_local_machine_get_devices (self->machine, &n);

  if (chosen == NULL)
    return ids;
  g_ptr_array_add (ids, (gpointer) chosen->id);
  for (guint i = 0; i < n && !chosen->is_cpu && !chosen->is_part; i++)
    if (&devices[i] != chosen && devices[i].usable && !devices[i].is_part
        && g_str_equal (devices[i].name, chosen->name))
      g_ptr_array_add (ids, (gpointer) devices[i].id);
  return ids;
}

/* "1, 2 and 4" of "1,2,4".  (transfer full) */
static char *
describe_counts (const char *counts)
{
  g_auto (GStrv) numbers = g_strsplit (counts, ",", -1);
  guint n = g_strv_length (numbers);
  g_autofree char *last = NULL;
  g_autofree char *others = NULL;

  if (n < 2)
    return g_strdup (counts);
  last = g_steal_pointer (&numbers[n - 1]);
  others = g_strjoinv (", ", numbers);
  /* Translators: numbers of GPUs, "1, 2 and 4". */
  return g_strdup_printf (_ ("%s and %s, one after the other"), others, last);
}

static void
add_count (QmBenchSetup *self, GtkStringList *names, const char *counts)
{
  g_autofree char *name = describe_counts (counts);

  gtk_string_list_append (names, name);
  g_ptr_array_add (self->counts, g_strdup (counts));
}

/* How many can work together: powers of two, all of them, and each of these. */
static void
fill_counts (QmBenchSetup *self)
{
  g_autofree char *shown =
      g_strdup (selected_of (self->gpus_row, self->counts));
  const char *chosen = self->gpus != NULL ? self->gpus : shown;
  g_autoptr (GPtrArray) alike = list_alike (self);
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);
  g_autoptr (GString) each = g_string_new (NULL);
  g_autoptr (GString) together = g_string_new (NULL);
  guint position;

  g_ptr_array_set_size (self->counts, 0);
  for (guint n = 1; n <= alike->len; n++)
    {
      g_autofree char *count = g_strdup_printf ("%u", n);

      g_string_append_printf (together, "%s%s", n > 1 ? "," : "",
                              (char *) g_ptr_array_index (alike, n - 1));
      if ((n & (n - 1)) != 0 && n != alike->len)
        continue;
      add_count (self, names, count);
      g_string_append_printf (each, "%s%u", n > 1 ? "," : "", n);
    }
  if (alike->len > 1)
    add_count (self, names, each->str);
  g_free (self->together);
  self->together = g_strdup (together->str);
  position = self->counts->len - 1;
  for (guint i = 0; i < self->counts->len; i++)
    if (g_strcmp0 (g_ptr_array_index (self->counts, i), chosen) == 0)
      position = i;
  adw_combo_row_set_model (self->gpus_row, G_LIST_MODEL (names));
  adw_combo_row_set_selected (self->gpus_row, position);
  gtk_widget_set_visible (GTK_WIDGET (self->gpus_row), alike->len > 1);
  if (alike->len > 0)
    g_clear_pointer (&self->gpus, g_free);
}

/* The devices that can be trained on; the choice stays where its device is
 * still there. */
static void
fill_devices (QmBenchSetup *self)
{
  g_autofree char *shown =
      g_strdup (selected_of (self->device_row, self->device_ids));
  const char *chosen = shown != NULL ? shown : self->device;
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);
  guint n, position = 0;
  const QmMachineDevice *devices =
      qm_local_machine_get_devices (self->machine, &n);

  g_ptr_array_set_size (self->device_ids, 0);
  for (guint i = 0; i < n; i++)
    if (devices[i].usable)
      {
        if (g_strcmp0 (devices[i].id, chosen) == 0)
          position = self->device_ids->len;
        gtk_string_list_append (names, devices[i].name);
        g_ptr_array_add (self->device_ids, g_strdup (devices[i].id));
      }
  adw_combo_row_set_model (self->device_row, G_LIST_MODEL (names));
  adw_combo_row_set_selected (self->device_row, position);
  gtk_widget_set_visible (GTK_WIDGET (self->device_row),
                          self->device_ids->len > 1);
}

static void
machine_changed_cb (QmBenchSetup *self)
{
  g_autofree char *device = g_strdup (qm_bench_setup_get_device (self));
  g_autofree char *gpus = g_strdup (qm_bench_setup_get_gpus (self));

  self->filling = TRUE;
  fill_devices (self);
  fill_counts (self);
  self->filling = FALSE;
  if (g_strcmp0 (device, qm_bench_setup_get_device (self)) != 0
      || g_strcmp0 (gpus, qm_bench_setup_get_gpus (self)) != 0)
    ticked_changed_cb (self);
}

static void
device_changed_cb (QmBenchSetup *self)
{
  if (self->filling)
    return;
  self->filling = TRUE;
  fill_counts (self);
  self->filling = FALSE;
  ticked_changed_cb (self);
}

/* Everything that fits, or nothing where that is chosen already. */
static void
all_cb (QmBenchSetup *self)
{
  gboolean all = TRUE;

  for (guint i = 0; i < self->choices->len; i++)
    {
      Choice *choice = &g_array_index (self->choices, Choice, i);

      if (gtk_widget_get_sensitive (GTK_WIDGET (choice->check)))
        all &= gtk_check_button_get_active (choice->check);
    }
  self->filling = TRUE;
  for (guint i = 0; i < self->choices->len; i++)
    {
      Choice *choice = &g_array_index (self->choices, Choice, i);

      gtk_check_button_set_active (
          choice->check,
          !all && gtk_widget_get_sensitive (GTK_WIDGET (choice->check)));
    }
  self->filling = FALSE;
  ticked_changed_cb (self);
}

static void
add_model (QmBenchSetup *self, const QmModel *model, gboolean chosen)
{
  Choice choice = { .model = g_strdup (model->id) };

  choice.row = ADW_ACTION_ROW (adw_action_row_new ());
  choice.check = GTK_CHECK_BUTTON (gtk_check_button_new ());
  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (choice.row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (choice.row), model->name);
  gtk_widget_set_valign (GTK_WIDGET (choice.check), GTK_ALIGN_CENTER);
  gtk_check_button_set_active (choice.check, chosen);
  g_signal_connect_object (choice.check, "toggled",
                           G_CALLBACK (ticked_changed_cb), self,
                           G_CONNECT_SWAPPED);
  adw_action_row_add_prefix (choice.row, GTK_WIDGET (choice.check));
  adw_action_row_set_activatable_widget (choice.row, GTK_WIDGET (choice.check));
  qm_models_add_row (self->models, choice.row, model);
  g_array_append_val (self->choices, choice);
}

/* The models of the catalog as it is now. */
static void
fill_models (QmBenchSetup *self, const char *const *chosen)
{
  g_autoptr (GPtrArray) models =
      qm_models_sorted (qm_catalog_keeper_get (self->keeper));

  for (guint i = 0; i < self->choices->len; i++)
    adw_preferences_group_remove (
        self->models,
        GTK_WIDGET (g_array_index (self->choices, Choice, i).row));
  g_array_set_size (self->choices, 0);
  for (guint i = 0; i < models->len; i++)
    {
      const QmModel *model = g_ptr_array_index (models, i);

      add_model (self, model,
                 chosen != NULL && g_strv_contains (chosen, model->id));
    }
}

/* What was chosen stays so, where it is still there; what was predicted will be
 * again. */
static void
setup_catalog_cb (QmBenchSetup *self)
{
  g_autofree const char **ids = qm_bench_setup_get_models (self);
  g_auto (GStrv) chosen = g_strdupv ((char **) ids);

  self->filling = TRUE;
  fill_models (self, (const char *const *) chosen);
  self->filling = FALSE;
}

void
qm_bench_setup_open (QmBenchSetup *self,
                     QmCatalogKeeper *keeper,
                     QmLocalMachine *machine,
                     const char *device,
                     const char *gpus,
                     const char *const *chosen,
                     QmBenchMethods methods)
{
  g_return_if_fail (QM_IS_BENCH_SETUP (self));
  g_return_if_fail (QM_IS_CATALOG_KEEPER (keeper));
  g_return_if_fail (QM_IS_LOCAL_MACHINE (machine));
  g_return_if_fail (self->machine == NULL);

  self->machine = g_object_ref (machine);
  self->device = g_strndup (device, device != NULL ? strcspn (device, ",") : 0);
  self->gpus = g_strdup (gpus);
  self->keeper = g_object_ref (keeper);
  fill_models (self, chosen);
  self->filling = TRUE;
  adw_combo_row_set_selected (self->methods_row, (guint) methods);
  self->filling = FALSE;
  qm_machine_devices_set_machine (self->devices, machine);
  qm_machine_links_open (self->links, machine, keeper);
  g_signal_connect_object (machine, "changed", G_CALLBACK (machine_changed_cb),
                           self, G_CONNECT_SWAPPED);
  g_signal_connect_object (keeper, "changed", G_CALLBACK (setup_catalog_cb),
                           self, G_CONNECT_SWAPPED);
  machine_changed_cb (self);
}

const char *
qm_bench_setup_get_device (QmBenchSetup *self)
{
  g_return_val_if_fail (QM_IS_BENCH_SETUP (self), NULL);

  return qm_bench_setup_get_gpus (self) != NULL
             ? self->together
             : selected_of (self->device_row, self->device_ids);
}

const char *
qm_bench_setup_get_gpus (QmBenchSetup *self)
{
  const char *counts;

  g_return_val_if_fail (QM_IS_BENCH_SETUP (self), NULL);

  counts = selected_of (self->gpus_row, self->counts);
  return counts != NULL && !g_str_equal (counts, "1") ? counts : NULL;
}

QmBenchMethods
qm_bench_setup_get_methods (QmBenchSetup *self)
{
  g_return_val_if_fail (QM_IS_BENCH_SETUP (self), QM_BENCH_METHODS_ALL);

  return (QmBenchMethods) adw_combo_row_get_selected (self->methods_row);
}

const char **
qm_bench_setup_get_models (QmBenchSetup *self)
{
  GPtrArray *ids = g_ptr_array_new ();

  g_return_val_if_fail (QM_IS_BENCH_SETUP (self), NULL);

  for (guint i = 0; i < self->choices->len; i++)
    {
      const Choice *choice = &g_array_index (self->choices, Choice, i);

      if (gtk_check_button_get_active (choice->check))
        g_ptr_array_add (ids, choice->model);
    }
  g_ptr_array_add (ids, NULL);
  return (const char **) g_ptr_array_free (ids, FALSE);
}

void
qm_bench_setup_set_prediction (QmBenchSetup *self,
                               const char *model,
                               const char *prediction,
                               gboolean fits)
{
  g_return_if_fail (QM_IS_BENCH_SETUP (self));

  for (guint i = 0; i < self->choices->len; i++)
    {
      Choice *choice = &g_array_index (self->choices, Choice, i);

      if (g_strcmp0 (choice->model, model) != 0)
        continue;
      adw_action_row_set_subtitle (choice->row,
                                   prediction != NULL ? prediction : "");
      gtk_widget_set_sensitive (GTK_WIDGET (choice->check), fits);
    }
}

void
qm_bench_setup_set_predicts (QmBenchSetup *self, gboolean predicts)
{
  g_return_if_fail (QM_IS_BENCH_SETUP (self));

  adw_preferences_group_set_description (
      self->models,
      predicts ? _ ("How long the whole training takes on this device, "
                    "predicted from operations and memory before anything "
                    "runs.")
               : _ ("Whether the training fits into this device’s memory. How "
                    "long it takes is predicted for GPUs of the catalog alone: "
                    "here it is known when it was measured."));
}

void
qm_bench_setup_set_estimate (QmBenchSetup *self, const char *estimate)
{
  g_return_if_fail (QM_IS_BENCH_SETUP (self));

  gtk_label_set_text (self->estimate, estimate);
}

void
qm_bench_setup_set_locked (QmBenchSetup *self, gboolean locked)
{
  g_return_if_fail (QM_IS_BENCH_SETUP (self));

  gtk_widget_set_sensitive (GTK_WIDGET (self->models), !locked);
  gtk_widget_set_sensitive (GTK_WIDGET (self->device_row), !locked);
  gtk_widget_set_sensitive (GTK_WIDGET (self->gpus_row), !locked);
  gtk_widget_set_sensitive (GTK_WIDGET (self->methods_row), !locked);
}

gboolean
qm_bench_setup_is_measuring (QmBenchSetup *self)
{
  g_return_val_if_fail (QM_IS_BENCH_SETUP (self), FALSE);

  return qm_machine_links_is_measuring (self->links);
}

void
qm_bench_setup_set_busy (QmBenchSetup *self, gboolean busy)
{
  g_return_if_fail (QM_IS_BENCH_SETUP (self));

  qm_machine_links_set_allowed (self->links, !busy);
}

static void
qm_bench_setup_dispose (GObject *object)
{
  QmBenchSetup *self = QM_BENCH_SETUP (object);

  g_clear_object (&self->keeper);
  g_clear_object (&self->machine);
  g_clear_pointer (&self->scroller, gtk_widget_unparent);
  g_clear_pointer (&self->separator, gtk_widget_unparent);
  g_clear_pointer (&self->footer, gtk_widget_unparent);

  G_OBJECT_CLASS (qm_bench_setup_parent_class)->dispose (object);
}

static void
qm_bench_setup_finalize (GObject *object)
{
  QmBenchSetup *self = QM_BENCH_SETUP (object);

  g_free (self->device);
  g_free (self->gpus);
  g_free (self->together);
  g_ptr_array_unref (self->device_ids);
  g_ptr_array_unref (self->counts);
  g_array_unref (self->choices);

  G_OBJECT_CLASS (qm_bench_setup_parent_class)->finalize (object);
}

static void
qm_bench_setup_class_init (QmBenchSetupClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = qm_bench_setup_dispose;
  G_OBJECT_CLASS (klass)->finalize = qm_bench_setup_finalize;

  g_type_ensure (QM_TYPE_MACHINE_DEVICES);
  g_type_ensure (QM_TYPE_MACHINE_LINKS);

  signals[CHANGED] =
      g_signal_new ("changed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0,
                    NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[LINKS] =
      g_signal_new ("links", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0,
                    NULL, NULL, NULL, G_TYPE_NONE, 0);

  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-bench-setup.ui");
  gtk_widget_class_bind_template_child (widget_class, QmBenchSetup, scroller);
  gtk_widget_class_bind_template_child (widget_class, QmBenchSetup, separator);
  gtk_widget_class_bind_template_child (widget_class, QmBenchSetup, footer);
  gtk_widget_class_bind_template_child (widget_class, QmBenchSetup, devices);
  gtk_widget_class_bind_template_child (widget_class, QmBenchSetup, links);
  gtk_widget_class_bind_template_child (widget_class, QmBenchSetup, device_row);
  gtk_widget_class_bind_template_child (widget_class, QmBenchSetup, gpus_row);
  gtk_widget_class_bind_template_child (widget_class, QmBenchSetup,
                                        methods_row);
  gtk_widget_class_bind_template_child (widget_class, QmBenchSetup, models);
  gtk_widget_class_bind_template_child (widget_class, QmBenchSetup, all_button);
  gtk_widget_class_bind_template_child (widget_class, QmBenchSetup, estimate);
  gtk_widget_class_bind_template_callback (widget_class, ticked_changed_cb);
  gtk_widget_class_bind_template_callback (widget_class, device_changed_cb);
  gtk_widget_class_bind_template_callback (widget_class, all_cb);
  gtk_widget_class_bind_template_callback (widget_class, links_cb);
}

static void
qm_bench_setup_init (QmBenchSetup *self)
{
  const char *const methods[] = {
    [QM_BENCH_METHODS_NAIVE] = _ ("Naive"),
    [QM_BENCH_METHODS_FREE_LUNCH] = _ ("Free lunch"),
    [QM_BENCH_METHODS_ALL] = _ ("All"),
    NULL,
  };
  g_autoptr (GtkStringList) names = gtk_string_list_new (methods);

  self->device_ids = g_ptr_array_new_with_free_func (g_free);
  self->counts = g_ptr_array_new_with_free_func (g_free);
  self->choices = g_array_new (FALSE, FALSE, sizeof (Choice));
  g_array_set_clear_func (self->choices, choice_clear);
  self->filling = TRUE;
  gtk_widget_init_template (GTK_WIDGET (self));
  qm_bench_setup_set_predicts (self, TRUE);
  adw_combo_row_set_model (self->methods_row, G_LIST_MODEL (names));
  adw_combo_row_set_selected (self->methods_row, QM_BENCH_METHODS_FREE_LUNCH);
  self->filling = FALSE;
}
