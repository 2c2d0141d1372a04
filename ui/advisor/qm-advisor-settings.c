/* SPDX-License-Identifier: Apache-2.0 */

/* The question between two starts of the program. */

#include "config.h"

#include "ui/advisor/qm-advisor-private.h"

#include <math.h>

static const char *const flag_keys[] = {
  "as-in-paper",   "any-price", "expired-quotes", "total-cost",
  "measured-only", "desktops",  "servers",        "log-axes",
  "all-gpus",      "portfolio", "gross"
};
static const char *const number_keys[] = {
  "budget",        "deadline",     "run-deadline", "lifetime", "time-factor",
  "machine-least", "machine-most", "tax",          "slack"
};

static void
save_runs (QmAdvisor *self, GSettings *settings)
{
  GVariantBuilder runs;

  g_variant_builder_init (&runs, G_VARIANT_TYPE ("a(sd)"));
  for (guint i = 0; i < qm_advisor_get_n_runs (self); i++)
    {
      double runs_per_year;
      const char *model = qm_advisor_get_run (self, i, &runs_per_year);

      g_variant_builder_add (&runs, "(sd)", model, runs_per_year);
    }
  g_settings_set_value (settings, "runs", g_variant_builder_end (&runs));
}

/* As they are typed: USD an hour, and 0 hours for as many as it takes. */
static void
save_uses (QmAdvisor *self, GSettings *settings)
{
  GVariantBuilder uses;

  g_variant_builder_init (&uses, G_VARIANT_TYPE ("a(sidd)"));
  for (guint i = 0; i < qm_advisor_get_n_uses (self); i++)
    {
      const QmUse *use = qm_advisor_get_use (self, i);

      g_variant_builder_add (&uses, "(sidd)", use->gpu, use->gpus,
                             (double) use->hour_micros / QM_MICROS_PER_UNIT,
                             qm_known (use->walltime_hours)
                                 ? use->walltime_hours
                                 : 0.0);
    }
  g_settings_set_value (settings, "uses", g_variant_builder_end (&uses));
}

static void
save_filters (QmAdvisor *self, GSettings *settings)
{
  GVariantBuilder off;
  const char *const *gpus = qm_advisor_get_gpus (self);
  guint n;
  const int *counts = qm_advisor_get_counts (self, &n);

  g_variant_builder_init (&off, G_VARIANT_TYPE_STRING_ARRAY);
  for (guint i = 0; gpus[i] != NULL; i++)
    if (!qm_advisor_get_gpu_enabled (self, gpus[i]))
      g_variant_builder_add (&off, "s", gpus[i]);
  g_settings_set_value (settings, "gpus-off", g_variant_builder_end (&off));

  g_variant_builder_init (&off, G_VARIANT_TYPE ("ai"));
  for (guint i = 0; i < n; i++)
    if (!qm_advisor_get_count_enabled (self, counts[i]))
      g_variant_builder_add (&off, "i", counts[i]);
  g_settings_set_value (settings, "counts-off", g_variant_builder_end (&off));
}

static void
save_times_of (QmAdvisor *self, GSettings *settings)
{
  int times_of;

  g_object_get (self, "times-of", &times_of, NULL);
  g_settings_set_string (settings, "times-of",
                         qm_times_of_name ((QmTimesOf) times_of));
}

static void
save_settings (QmAdvisor *self, GSettings *settings)
{
  int value;

  g_object_get (self, "settings", &value, NULL);
  g_settings_set_string (settings, "settings",
                         qm_settings_name ((QmSettings) value));
  g_settings_reset (settings, "naive-settings");
}

static void
save_room (QmAdvisor *self, GSettings *settings)
{
  int room;

  g_object_get (self, "room", &room, NULL);
  g_settings_set_string (settings, "room", qm_room_name ((QmRoom) room));
}

/* What differs from the defaults, by key, and the parts that are on. */
static void
save_ownership (QmAdvisor *self, GSettings *settings)
{
  const QmOwnershipSettings *ownership = qm_advisor_get_ownership (self);
  g_autoptr (GPtrArray) assumptions = qm_ownership_assumptions (ownership);
  GVariantBuilder values, parts;

  g_variant_builder_init (&values, G_VARIANT_TYPE ("a{sd}"));
  for (guint i = 0; i < assumptions->len; i++)
    {
      const QmAssumption *assumption = g_ptr_array_index (assumptions, i);

      /* The lifetime is the question's. */
      if (assumption->changed && !g_str_equal (assumption->key, "lifetime"))
        g_variant_builder_add (&values, "{sd}", assumption->key,
                               qm_ownership_get (ownership, assumption->key));
    }
  g_settings_set_value (settings, "ownership-values",
                        g_variant_builder_end (&values));
  g_variant_builder_init (&parts, G_VARIANT_TYPE ("as"));
  for (guint part = 1; part <= QM_OWNERSHIP_ALL; part <<= 1)
    if ((ownership->parts & part) != 0)
      g_variant_builder_add (&parts, "s",
                             qm_ownership_part_name ((QmOwnershipParts) part));
  g_settings_set_value (settings, "ownership-parts",
                        g_variant_builder_end (&parts));
}

void
qm_advisor_save (QmAdvisor *self, GSettings *settings)
{
  g_auto (GStrv) models = NULL;
  g_autofree char *currency = NULL;
  int at_once;

  g_return_if_fail (QM_IS_ADVISOR (self) && G_IS_SETTINGS (settings));

  for (guint i = 0; i < G_N_ELEMENTS (flag_keys); i++)
    {
      gboolean value;

      g_object_get (self, flag_keys[i], &value, NULL);
      g_settings_set_boolean (settings, flag_keys[i], value);
    }
  for (guint i = 0; i < G_N_ELEMENTS (number_keys); i++)
    {
      double value;

      g_object_get (self, number_keys[i], &value, NULL);
      g_settings_set_double (settings, number_keys[i], value);
    }
  g_object_get (self, "models", &models, "at-once", &at_once, "currency",
                &currency, NULL);
  g_settings_set_string (settings, "currency", currency);
  g_settings_set_strv (settings, "models", (const char *const *) models);
  g_settings_set_int (settings, "at-once", at_once);
  save_times_of (self, settings);
  save_settings (self, settings);
  save_room (self, settings);
  save_ownership (self, settings);
  save_runs (self, settings);
  save_uses (self, settings);
  save_filters (self, settings);
}

static void
restore_runs (QmAdvisor *self, GSettings *settings)
{
  g_autoptr (GVariant) runs = g_settings_get_value (settings, "runs");
  const QmCatalog *catalog = qm_advisor_get_catalog (self);
  GVariantIter iter;
  const char *model;
  double runs_per_year;

  g_variant_iter_init (&iter, runs);
  while (g_variant_iter_next (&iter, "(&sd)", &model, &runs_per_year))
    if (qm_catalog_model (catalog, model) != NULL && runs_per_year > 0
        && runs_per_year <= QM_RUNS_PER_YEAR_MAX)
      qm_advisor_add_run (self, model, runs_per_year);
}

/* Adds GPUs to use, unless the catalog does not know them, the numbers make no
 * sense, or there are as many lines already as there may be. */
static void
add_use_if_any (QmAdvisor *self, const QmUse *use)
{
  if (qm_advisor_get_n_uses (self) < QM_USES_MAX
      && qm_advisor_is_use (self, use))
    qm_advisor_add_use (self, use);
}

static void
restore_uses (QmAdvisor *self, GSettings *settings)
{
  g_autoptr (GVariant) uses = g_settings_get_value (settings, "uses");
  GVariantIter iter;
  QmUse use;
  double hour, walltime;

  g_variant_iter_init (&iter, uses);
  while (g_variant_iter_next (&iter, "(&sidd)", &use.gpu, &use.gpus, &hour,
                              &walltime))
    {
      /* NaN is neither. */
      if (!(hour >= 0 && hour <= QM_USE_HOUR_MAX)
          || !(walltime >= 0 && walltime <= QM_USE_WALLTIME_MAX))
        continue;
      use.hour_micros = llround (hour * QM_MICROS_PER_UNIT);
      use.walltime_hours = walltime > 0 ? walltime : NAN;
      add_use_if_any (self, &use);
    }
}

/* Switches off what the settings name, as far as the catalog has it. */
static void
restore_filters (QmAdvisor *self, GSettings *settings)
{
  g_auto (GStrv) gpus = g_settings_get_strv (settings, "gpus-off");
  g_autoptr (GVariant) off = g_settings_get_value (settings, "counts-off");
  guint n;
  const int *counts = qm_advisor_get_counts (self, &n);
  GVariantIter iter;
  int count;

  for (guint i = 0; gpus[i] != NULL; i++)
    if (g_strv_contains (qm_advisor_get_gpus (self), gpus[i]))
      qm_advisor_set_gpu_enabled (self, gpus[i], FALSE);
  g_variant_iter_init (&iter, off);
  while (g_variant_iter_next (&iter, "i", &count))
    for (guint i = 0; i < n; i++)
      if (counts[i] == count)
        qm_advisor_set_count_enabled (self, count, FALSE);
}

static void
restore_times_of (QmAdvisor *self, GSettings *settings)
{
  g_autofree char *name = g_settings_get_string (settings, "times-of");

  for (int i = 0; i < QM_TIMES_OF_PUBLICATION; i++)
    if (g_str_equal (name, qm_times_of_name ((QmTimesOf) i)))
      g_object_set (self, "times-of", i, NULL);
}

/* An earlier version had two kinds of settings, and a key that says whether
 * they are the naive ones, which is no longer set. */
static void
restore_settings (QmAdvisor *self, GSettings *settings)
{
  g_autofree char *name = g_settings_get_string (settings, "settings");

  if (g_settings_get_boolean (settings, "naive-settings"))
    {
      g_object_set (self, "settings", QM_SETTINGS_NAIVE, NULL);
      return;
    }
  for (int i = 0; i < QM_N_SETTINGS; i++)
    if (g_str_equal (name, qm_settings_name ((QmSettings) i)))
      g_object_set (self, "settings", i, NULL);
}

static void
restore_room (QmAdvisor *self, GSettings *settings)
{
  g_autofree char *name = g_settings_get_string (settings, "room");

  for (int i = 0; i < QM_N_ROOMS; i++)
    if (g_str_equal (name, qm_room_name ((QmRoom) i)))
      g_object_set (self, "room", i, NULL);
}

/* Sets one assumption, unless nothing can be computed with it. */
static void
restore_assumption (QmOwnershipSettings *ownership,
                    const char *key,
                    double value)
{
  const QmOwned probe = { .price = { .minor = 100000, .currency = "USD" },
                          .machines = 1,
                          .gpus = 1,
                          .gpu_watts = 100 };
  QmOwnershipSettings changed = *ownership;
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  QmOwnership sum;

  g_ascii_formatd (text, sizeof text, "%.6f", value);
  if (qm_ownership_settings_set (&changed, key, text, NULL)
      && qm_ownership_compute (&changed, &probe, &sum, NULL))
    *ownership = changed;
}

static void
restore_ownership (QmAdvisor *self, GSettings *settings)
{
  QmOwnershipSettings ownership = qm_ownership_settings_default ();
  g_autoptr (GVariant) values =
      g_settings_get_value (settings, "ownership-values");
  g_auto (GStrv) parts = g_settings_get_strv (settings, "ownership-parts");
  GVariantIter iter;
  const char *key;
  double value;

  g_variant_iter_init (&iter, values);
  while (g_variant_iter_next (&iter, "{&sd}", &key, &value))
    restore_assumption (&ownership, key, value);
  for (guint i = 0; parts[i] != NULL; i++)
    ownership.parts |= qm_ownership_part_of_name (parts[i]);
  qm_advisor_set_ownership (self, &ownership);
}

void
qm_advisor_restore (QmAdvisor *self, GSettings *settings)
{
  g_auto (GStrv) models = NULL;
  g_autofree char *currency = NULL;

  g_return_if_fail (QM_IS_ADVISOR (self) && G_IS_SETTINGS (settings));

  g_object_freeze_notify (G_OBJECT (self));
  qm_advisor_reset (self);
  for (guint i = 0; i < G_N_ELEMENTS (flag_keys); i++)
    g_object_set (self, flag_keys[i],
                  g_settings_get_boolean (settings, flag_keys[i]), NULL);
  for (guint i = 0; i < G_N_ELEMENTS (number_keys); i++)
    g_object_set (self, number_keys[i],
                  g_settings_get_double (settings, number_keys[i]), NULL);
  currency = g_settings_get_string (settings, "currency");
  g_object_set (self, "currency", currency, NULL);
  models = g_settings_get_strv (settings, "models");
  g_object_set (self, "models", models, "at-once",
                g_settings_get_int (settings, "at-once"), NULL);
  restore_times_of (self, settings);
  restore_settings (self, settings);
  restore_room (self, settings);
  restore_ownership (self, settings);
  restore_runs (self, settings);
  restore_uses (self, settings);
  restore_filters (self, settings);
  g_object_thaw_notify (G_OBJECT (self));
}

static void
copy_runs (QmAdvisor *self, QmAdvisor *other)
{
  for (guint i = 0; i < qm_advisor_get_n_runs (other); i++)
    {
      double runs_per_year;
      const char *model = qm_advisor_get_run (other, i, &runs_per_year);

      if (qm_catalog_model (qm_advisor_get_catalog (self), model) != NULL)
        qm_advisor_add_run (self, model, runs_per_year);
    }
}

static void
copy_filters (QmAdvisor *self, QmAdvisor *other)
{
  const char *const *gpus = qm_advisor_get_gpus (self);
  guint n;
  const int *counts = qm_advisor_get_counts (self, &n);

  for (guint i = 0; gpus[i] != NULL; i++)
    qm_advisor_set_gpu_enabled (self, gpus[i],
                                qm_advisor_get_gpu_enabled (other, gpus[i]));
  for (guint i = 0; i < n; i++)
    qm_advisor_set_count_enabled (
        self, counts[i], qm_advisor_get_count_enabled (other, counts[i]));
}

void
qm_advisor_ask_like (QmAdvisor *self, QmAdvisor *other)
{
  g_autofree GParamSpec **properties = NULL;
  guint n;

  g_return_if_fail (QM_IS_ADVISOR (self) && QM_IS_ADVISOR (other));

  properties = g_object_class_list_properties (G_OBJECT_GET_CLASS (other), &n);
  g_object_freeze_notify (G_OBJECT (self));
  qm_advisor_reset (self);
  for (guint i = 0; i < n; i++)
    {
      g_auto (GValue) value = G_VALUE_INIT;

      g_value_init (&value, properties[i]->value_type);
      g_object_get_property (G_OBJECT (other), properties[i]->name, &value);
      g_object_set_property (G_OBJECT (self), properties[i]->name, &value);
    }
  copy_runs (self, other);
  for (guint i = 0; i < qm_advisor_get_n_uses (other); i++)
    add_use_if_any (self, qm_advisor_get_use (other, i));
  copy_filters (self, other);
  g_object_thaw_notify (G_OBJECT (self));
  qm_advisor_select_like (self, other);
}
