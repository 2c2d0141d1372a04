/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/models/qm-model-memory.h"

#include "pricing/qm-format.h"
#include "ui/machine/qm-machine-text.h"

#include <glib/gi18n-lib.h>

/* Chosen first, where the catalog has it. */
#define DEFAULT_GPU "h100-80gb-sxm"

struct _QmModelMemory
{
  AdwPreferencesGroup parent_instance;

  AdwComboRow *gpu_row;
  GPtrArray *rows; /* of AdwActionRow, one for each way */

  QmCatalogKeeper *keeper;
  char *chosen; /* id of a GPU */
  gboolean filling;
  QmModelPlans *plans;
};

G_DEFINE_FINAL_TYPE (QmModelMemory, qm_model_memory, ADW_TYPE_PREFERENCES_GROUP)

static const QmGpu *
chosen_gpu (QmModelMemory *self)
{
  size_t n;
  const QmGpu *gpus =
      qm_catalog_gpus (qm_catalog_keeper_get (self->keeper), &n);
  guint chosen = adw_combo_row_get_selected (self->gpu_row);

  return chosen < n ? &gpus[chosen] : NULL;
}

/* A loss over pairs sees those of a pass alone, so that what is learned depends
 * on what fits.  (transfer full) */
static char *
add_pairs (const char *text, gint64 pairs)
{
  g_autofree char *number = qm_format_number ((double) pairs, 0);

  /* Translators: micro-batch and memory, a number of pairs of an image and a
   * text, of which a pass has fewer than a step. */
  return g_strdup_printf (_ ("%s. The loss compares the %s pairs of a pass "
                             "alone, not all of a step."),
                          text, number);
}

/* "Micro-batch 16: 21.3 GiB, and 15.3 GiB of the host".  (transfer full) */
static char *
describe_plan (const QmModelPlan *plan)
{
  g_autofree char *bytes = qm_machine_text_bytes (plan->bytes);
  g_autofree char *host = qm_machine_text_bytes (plan->host_bytes);
  g_autofree char *size = qm_format_number ((double) plan->micro_batch, 0);
  g_autofree char *text = NULL;

  if (plan->unsupported != NULL)
    return g_strdup (plan->unsupported);
  if (plan->fits)
    /* Translators: the largest micro-batch that fits, and its memory. */
    text = g_strdup_printf (_ ("Micro-batch %s: %s"), size, bytes);
  else
    /* Translators: memory. */
    text = g_strdup_printf (_ ("Does not fit: %s at micro-batch 1"), bytes);
  if (plan->host_bytes > 0)
    {
      char *both =
          /* Translators: what it takes of the GPU, memory of the host. */
          g_strdup_printf (_ ("%s, and %s of the host"), text, host);

      g_free (text);
      text = both;
    }
  return plan->fits && plan->pairs > 0 ? add_pairs (text, plan->pairs)
                                       : g_steal_pointer (&text);
}

static AdwActionRow *
row_at (QmModelMemory *self, guint index)
{
  GtkWidget *row;

  while (index >= self->rows->len)
    {
      row = adw_action_row_new ();
      adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
      adw_action_row_set_subtitle_lines (ADW_ACTION_ROW (row), 0);
      adw_action_row_set_title_lines (ADW_ACTION_ROW (row), 0);
      adw_preferences_group_add (ADW_PREFERENCES_GROUP (self), row);
      g_ptr_array_add (self->rows, row);
    }
  return g_ptr_array_index (self->rows, index);
}

static void
show_plan (QmModelMemory *self, guint index, const QmModelPlan *plan)
{
  AdwActionRow *row = row_at (self, index);
  g_autofree char *way = qm_model_plan_name (plan);
  g_autofree char *text = describe_plan (plan);

  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), way);
  adw_action_row_set_subtitle (row, text);
  adw_action_row_set_icon_name (row, plan->unsupported == NULL && plan->fits
                                         ? "emblem-ok-symbolic"
                                         : "action-unavailable-symbolic");
  gtk_widget_set_visible (GTK_WIDGET (row), TRUE);
}

static void
refresh_memory (QmModelMemory *self)
{
  GPtrArray *plans = qm_model_plans_get (self->plans);
  const QmGpu *gpu = chosen_gpu (self);
  guint n = 0;

  for (guint i = 0; i < plans->len && gpu != NULL; i++)
    {
      const QmModelPlan *plan = g_ptr_array_index (plans, i);

      if (g_strcmp0 (plan->gpu, gpu->id) == 0)
        show_plan (self, n++, plan);
    }
  for (; n < self->rows->len; n++)
    gtk_widget_set_visible (g_ptr_array_index (self->rows, n), FALSE);
}

/* What is chosen stays, where it is still there. */
static void
fill_gpus (QmModelMemory *self)
{
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);
  const char *wanted = self->chosen != NULL ? self->chosen : DEFAULT_GPU;
  size_t n;
  const QmGpu *gpus =
      qm_catalog_gpus (qm_catalog_keeper_get (self->keeper), &n);
  guint chosen = 0;

  for (size_t i = 0; i < n; i++)
    {
      gtk_string_list_append (names, gpus[i].name);
      if (g_str_equal (gpus[i].id, wanted))
        chosen = (guint) i;
    }
  self->filling = TRUE;
  adw_combo_row_set_model (self->gpu_row, G_LIST_MODEL (names));
  adw_combo_row_set_selected (self->gpu_row, chosen);
  self->filling = FALSE;
  refresh_memory (self);
}

static void
gpu_chosen_cb (QmModelMemory *self)
{
  const QmGpu *gpu = self->filling ? NULL : chosen_gpu (self);

  if (gpu == NULL)
    return;
  g_free (self->chosen);
  self->chosen = g_strdup (gpu->id);
  refresh_memory (self);
}

GtkWidget *
qm_model_memory_new (QmCatalogKeeper *keeper, QmModelPlans *plans)
{
  QmModelMemory *self;

  g_return_val_if_fail (QM_IS_CATALOG_KEEPER (keeper), NULL);
  g_return_val_if_fail (QM_IS_MODEL_PLANS (plans), NULL);

  self = g_object_new (QM_TYPE_MODEL_MEMORY, NULL);
  self->keeper = g_object_ref (keeper);
  self->plans = g_object_ref (plans);
  fill_gpus (self);
  g_signal_connect_object (plans, "changed", G_CALLBACK (refresh_memory), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->gpu_row, "notify::selected",
                           G_CALLBACK (gpu_chosen_cb), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (keeper, "changed", G_CALLBACK (fill_gpus), self,
                           G_CONNECT_SWAPPED);
  return GTK_WIDGET (self);
}

static void
qm_model_memory_finalize (GObject *object)
{
  QmModelMemory *self = QM_MODEL_MEMORY (object);

  g_clear_object (&self->plans);
  g_clear_object (&self->keeper);
  g_ptr_array_unref (self->rows);
  g_free (self->chosen);
  G_OBJECT_CLASS (qm_model_memory_parent_class)->finalize (object);
}

static void
qm_model_memory_class_init (QmModelMemoryClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = qm_model_memory_finalize;
}

static void
qm_model_memory_init (QmModelMemory *self)
{
  GtkWidget *row = adw_combo_row_new ();

  self->rows = g_ptr_array_new ();
  adw_preferences_group_set_title (ADW_PREFERENCES_GROUP (self), _ ("Memory"));
  adw_preferences_group_set_description (
      ADW_PREFERENCES_GROUP (self), _ ("Predicted, and what the benchmark "
                                       "allocates: each way to train at its "
                                       "largest micro-batch."));
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), _ ("On one"));
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (self), row);
  self->gpu_row = ADW_COMBO_ROW (row);
}
