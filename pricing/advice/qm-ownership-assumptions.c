/* SPDX-License-Identifier: Apache-2.0 */

/* What is assumed about owning, where that comes from, and how people read
 * it. */

#include "config.h"

#include "pricing/advice/qm-ownership.h"
#include "pricing/qm-format.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

typedef enum
{
  FORM_YEARS,
  FORM_SHARE, /* ppm, as a percentage */
  FORM_RATIO, /* ppm, as a number */
  FORM_MINOR,
  FORM_MICROS,
  FORM_COUNT
} Form;

#define PUBLISHED   N_ ("“$100K or 100 Days” (arXiv 2410.23261), section 4.1")
#define NOT_COUNTED N_ ("none, as in the published analysis; set your own")
#define CFR         N_ ("US federal grants: equipment, 2 CFR 200.1; set your own")
#define PLANNER                                                                \
  N_ ("a public planner's default (Amit33-design/Network-Automation, request " \
      "33); set your own")
#define OURS N_ ("an assumption without a measurement; set your own")

/* In the order of the sum.  Sources of the defaults: what public tools document
 * (the power usage effectiveness of data centres that they let users set is 1.1
 * to 2.2, mlco2/codecarbon issue 416; 1 is a machine in an office). */
static const struct
{
  const char *key;
  const char *name;
  const char *unit; /* "%s" is the currency */
  const char *source;
  QmOwnershipParts part;
  Form form;
  gsize offset;
} fields[] = {
  { "lifetime", N_ ("Lifetime"), N_ ("years"), PUBLISHED, 0, FORM_YEARS,
    offsetof (QmOwnershipSettings, lifetime_years) },
  { "utilization", N_ ("Use, of all hours"), "%%",
    N_ ("always, as in the published analysis; set your own"), 0, FORM_SHARE,
    offsetof (QmOwnershipSettings, utilization_ppm) },
  { "discount", N_ ("Discount on the price"), "%%", NOT_COUNTED,
    QM_OWNERSHIP_DISCOUNT, FORM_SHARE,
    offsetof (QmOwnershipSettings, discount_ppm) },
  { "shipping", N_ ("Shipping"), N_ ("%s a machine"), NOT_COUNTED,
    QM_OWNERSHIP_SHIPPING, FORM_MINOR,
    offsetof (QmOwnershipSettings, shipping_minor) },
  { "tax", N_ ("Tax"), "%%", NOT_COUNTED, QM_OWNERSHIP_TAX, FORM_SHARE,
    offsetof (QmOwnershipSettings, tax_ppm) },
  { "overhead", N_ ("Institutional overhead"), "%%", NOT_COUNTED,
    QM_OWNERSHIP_OVERHEAD, FORM_SHARE,
    offsetof (QmOwnershipSettings, overhead_ppm) },
  { "overhead_threshold", N_ ("No overhead on units from"), "%s", CFR,
    QM_OWNERSHIP_OVERHEAD, FORM_MINOR,
    offsetof (QmOwnershipSettings, overhead_threshold_minor) },
  { "residual", N_ ("Residual value"), "%%", NOT_COUNTED, QM_OWNERSHIP_RESIDUAL,
    FORM_SHARE, offsetof (QmOwnershipSettings, residual_ppm) },
  { "kwh", N_ ("Price of electricity"), N_ ("%s a kWh"), PLANNER,
    QM_OWNERSHIP_ELECTRICITY, FORM_MICROS,
    offsetof (QmOwnershipSettings, kwh_micros) },
  { "pue", N_ ("Power usage effectiveness"), "", PLANNER,
    QM_OWNERSHIP_ELECTRICITY, FORM_RATIO,
    offsetof (QmOwnershipSettings, pue_ppm) },
  { "idle", N_ ("Power of an idle GPU"), N_ ("%% of its full power"), OURS,
    QM_OWNERSHIP_ELECTRICITY, FORM_SHARE,
    offsetof (QmOwnershipSettings, idle_ppm) },
  { "rest", N_ ("Power besides the GPUs"), N_ ("%% of theirs"), OURS,
    QM_OWNERSHIP_ELECTRICITY, FORM_SHARE,
    offsetof (QmOwnershipSettings, rest_ppm) },
  { "hosting_machine", N_ ("Hosting a machine"), N_ ("%s a month"), NOT_COUNTED,
    QM_OWNERSHIP_HOSTING, FORM_MINOR,
    offsetof (QmOwnershipSettings, hosting_machine_minor) },
  { "hosting_kw", N_ ("Hosting a kilowatt"), N_ ("%s a month"), NOT_COUNTED,
    QM_OWNERSHIP_HOSTING, FORM_MINOR,
    offsetof (QmOwnershipSettings, hosting_kw_minor) },
  { "hosting_unit", N_ ("Hosting a rack unit"), N_ ("%s a month"), PLANNER,
    QM_OWNERSHIP_HOSTING, FORM_MINOR,
    offsetof (QmOwnershipSettings, hosting_unit_minor) },
  { "rack_units", N_ ("Rack units of a machine"), "", OURS,
    QM_OWNERSHIP_HOSTING, FORM_COUNT,
    offsetof (QmOwnershipSettings, rack_units) },
  { "support", N_ ("Support"), N_ ("%% of the price a year"), PLANNER,
    QM_OWNERSHIP_SUPPORT, FORM_SHARE,
    offsetof (QmOwnershipSettings, support_ppm) },
};

static void
free_assumption (QmAssumption *assumption)
{
  if (assumption == NULL)
    return;
  g_free (assumption->name);
  g_free (assumption->value);
  g_free (assumption->unit);
  g_free (assumption->source);
  g_free (assumption);
}

/* The value as a number in the field's unit. */
static double
value_of (const QmOwnershipSettings *settings, guint i)
{
  const char *field = (const char *) settings + fields[i].offset;
  gint64 integer = 0;
  double real = 0;
  int count = 0;

  switch (fields[i].form)
    {
    case FORM_YEARS:
      memcpy (&real, field, sizeof real);
      return real;
    case FORM_COUNT:
      memcpy (&count, field, sizeof count);
      return count;
    case FORM_SHARE:
      memcpy (&integer, field, sizeof integer);
      return (double) integer * 100 / QM_PPM;
    case FORM_RATIO:
    case FORM_MICROS:
      memcpy (&integer, field, sizeof integer);
      return (double) integer / QM_PPM;
    case FORM_MINOR:
    default:
      memcpy (&integer, field, sizeof integer);
      return (double) integer
             / pow (10, qm_currency_decimals (settings->currency));
    }
}

GPtrArray *
qm_ownership_assumptions (const QmOwnershipSettings *settings)
{
  GPtrArray *list =
      g_ptr_array_new_with_free_func ((GDestroyNotify) free_assumption);
  QmOwnershipSettings usual = qm_ownership_settings_default ();

  g_return_val_if_fail (settings != NULL, list);

  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    {
      QmAssumption *assumption = g_new0 (QmAssumption, 1);
      double value = value_of (settings, i);
      const char *unit = fields[i].unit;

      assumption->key = fields[i].key;
      assumption->name = g_strdup (_ (fields[i].name));
      assumption->value = qm_format_number (value, 6);
      assumption->unit = g_strdup_printf (*unit != '\0' ? _ (unit) : "%.0s",
                                          settings->currency);
      assumption->part = fields[i].part;
      assumption->counts =
          fields[i].part == 0 || (settings->parts & fields[i].part) != 0;
      assumption->changed = value != value_of (&usual, i);
      assumption->source = g_strdup (
          assumption->changed ? _ ("your own setting") : _ (fields[i].source));
      g_ptr_array_add (list, assumption);
    }
  return list;
}

GPtrArray *
qm_ownership_assumptions_of (const QmOwnershipSettings *settings,
                             const QmOwned *owned)
{
  GPtrArray *list = qm_ownership_assumptions (settings);
  QmOwnershipBasis power, units;

  g_return_val_if_fail (settings != NULL && owned != NULL, list);

  qm_ownership_machine_watts (settings, owned, &power);
  qm_ownership_rack_units (settings, owned, &units);
  for (guint i = 0; i < list->len; i++)
    {
      QmAssumption *one = g_ptr_array_index (list, i);

      if ((strcmp (one->key, "rest") != 0 || power != QM_BASIS_STATED)
          && (strcmp (one->key, "rack_units") != 0 || units != QM_BASIS_STATED))
        continue;
      one->counts = FALSE;
      g_free (one->source);
      one->source =
          g_strdup (_ ("not needed: the catalog states it of this machine"));
    }
  return list;
}

char *
qm_ownership_power_text (const QmOwnershipSettings *settings,
                         const QmOwned *owned)
{
  g_autofree char *kilowatts = NULL;
  g_autofree char *rest = NULL;
  QmOwnershipBasis basis;
  double watts;

  g_return_val_if_fail (settings != NULL && owned != NULL, NULL);

  watts = qm_ownership_machine_watts (settings, owned, &basis);
  if (!qm_known (watts)
      || ((settings->parts & QM_OWNERSHIP_ELECTRICITY) == 0
          && ((settings->parts & QM_OWNERSHIP_HOSTING) == 0 || !owned->rack
              || settings->hosting_kw_minor == 0)))
    return NULL;
  kilowatts = qm_format_number (watts / 1000, 1);
  rest = qm_format_percentage ((double) settings->rest_ppm * 100 / QM_PPM, 2);
  if (basis == QM_BASIS_STATED)
    /* Translators: a number of kW. */
    return g_strdup_printf (
        _ ("A machine draws %s\u00a0kW at full load, by what "
           "the catalog states of it."),
        kilowatts);
  if (basis == QM_BASIS_OWN)
    /* Translators: a number of kW, a percentage. */
    return g_strdup_printf (_ ("A machine draws %s\u00a0kW at full load: its "
                               "GPUs and %s of that besides, by your setting."),
                            kilowatts, rest);
  /* Translators: a number of kW, a percentage. */
  return g_strdup_printf (
      _ ("A machine draws %s\u00a0kW at full load: its GPUs "
         "and %s of that besides, which is assumed, since "
         "nothing is stated of it."),
      kilowatts, rest);
}

char *
qm_ownership_units_text (const QmOwnershipSettings *settings,
                         const QmOwned *owned)
{
  QmOwnershipBasis basis;
  int units;

  g_return_val_if_fail (settings != NULL && owned != NULL, NULL);

  units = qm_ownership_rack_units (settings, owned, &basis);
  if ((settings->parts & QM_OWNERSHIP_HOSTING) == 0 || !owned->rack
      || settings->hosting_unit_minor == 0)
    return NULL;
  if (basis == QM_BASIS_STATED)
    return g_strdup_printf (
        ngettext ("A machine takes %d rack unit, as the catalog states of it.",
                  "A machine takes %d rack units, as the catalog states of it.",
                  (gulong) units),
        units);
  if (basis == QM_BASIS_OWN)
    return g_strdup_printf (
        ngettext ("A machine takes %d rack unit, by your setting.",
                  "A machine takes %d rack units, by your setting.",
                  (gulong) units),
        units);
  return g_strdup_printf (
      ngettext (
          "A machine takes %d rack unit, which is assumed, since nothing "
          "is stated of it.",
          "A machine takes %d rack units, which is assumed, since nothing "
          "is stated of it.",
          (gulong) units),
      units);
}

char *
qm_ownership_tax_text (const QmOwnershipSettings *settings,
                       const QmOwned *owned)
{
  g_autofree char *percent = NULL;

  g_return_val_if_fail (settings != NULL && owned != NULL, NULL);

  percent = qm_format_percentage ((double) settings->tax_ppm * 100 / QM_PPM, 2);
  if ((settings->parts & QM_OWNERSHIP_TAX) != 0 && settings->tax_ppm > 0)
    /* Translators: a currency, a percentage. */
    return g_strdup_printf (_ ("Amounts are in %s, the total with tax of %s on "
                               "what is bought and shipped."),
                            settings->currency, percent);
  if (owned->taxed_minor > 0)
    /* Translators: a currency. */
    return g_strdup_printf (_ ("Amounts are in %s, without tax but for what is "
                               "in the prices of quotes."),
                            settings->currency);
  /* Translators: a currency. */
  return g_strdup_printf (_ ("Amounts are in %s, without tax."),
                          settings->currency);
}

static const char *const part_names[] = { "discount", "shipping", "tax",
                                          "overhead", "residual", "electricity",
                                          "hosting",  "support" };

double
qm_ownership_get (const QmOwnershipSettings *settings, const char *key)
{
  g_return_val_if_fail (settings != NULL && key != NULL, NAN);

  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    if (strcmp (fields[i].key, key) == 0)
      return value_of (settings, i);
  return NAN;
}

const char *
qm_ownership_part_name (QmOwnershipParts part)
{
  for (guint i = 0; i < G_N_ELEMENTS (part_names); i++)
    if ((guint) part == 1u << i)
      return part_names[i];
  return NULL;
}

char *
qm_ownership_describe_parts (const QmOwnershipSettings *settings)
{
  /* In the order of the sum, as words within a sentence. */
  static const struct
  {
    QmOwnershipParts part;
    const char *word;
  } words[] = {
    { QM_OWNERSHIP_DISCOUNT, N_ ("discount") },
    { QM_OWNERSHIP_SHIPPING, N_ ("shipping") },
    { QM_OWNERSHIP_TAX, N_ ("tax") },
    { QM_OWNERSHIP_ELECTRICITY, N_ ("electricity") },
    { QM_OWNERSHIP_HOSTING, N_ ("hosting") },
    { QM_OWNERSHIP_SUPPORT, N_ ("support") },
    { QM_OWNERSHIP_OVERHEAD, N_ ("overhead") },
    { QM_OWNERSHIP_RESIDUAL, N_ ("residual value") },
  };
  GString *text;

  g_return_val_if_fail (settings != NULL, NULL);

  if (settings->parts == QM_OWNERSHIP_PRICE_ALONE)
    return NULL;
  text = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if ((settings->parts & words[i].part) != 0)
      g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "",
                              _ (words[i].word));
  return g_string_free (text, FALSE);
}

QmOwnershipParts
qm_ownership_part_of_name (const char *name)
{
  g_return_val_if_fail (name != NULL, 0);

  for (guint i = 0; i < G_N_ELEMENTS (part_names); i++)
    if (strcmp (part_names[i], name) == 0)
      return 1u << i;
  return 0;
}

/* Writes what the micros of a number mean in a field's form. */
static void
set_field (QmOwnershipSettings *settings, guint i, gint64 micros)
{
  char *field = (char *) settings + fields[i].offset;
  double real = (double) micros / QM_MICROS_PER_UNIT;
  gint64 integer = micros;
  int count = (int) CLAMP (micros / QM_MICROS_PER_UNIT, G_MININT, G_MAXINT);

  switch (fields[i].form)
    {
    case FORM_YEARS:
      memcpy (field, &real, sizeof real);
      return;
    case FORM_COUNT:
      memcpy (field, &count, sizeof count);
      return;
    case FORM_SHARE:
      integer = micros / 100;
      break;
    case FORM_MINOR:
      integer = qm_money_from_micros (micros, settings->currency).minor;
      break;
    case FORM_RATIO:
    case FORM_MICROS:
    default:
      break;
    }
  memcpy (field, &integer, sizeof integer);
}

gboolean
qm_ownership_settings_set (QmOwnershipSettings *settings,
                           const char *key,
                           const char *value,
                           GError **error)
{
  gint64 micros;

  g_return_val_if_fail (settings != NULL && key != NULL, FALSE);
  g_return_val_if_fail (value != NULL, FALSE);

  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    {
      if (strcmp (fields[i].key, key) != 0)
        continue;
      if (qm_micros_parse (value, &micros)
          && (fields[i].form != FORM_COUNT || micros % QM_PPM == 0))
        {
          set_field (settings, i, micros);
          return TRUE;
        }
      g_set_error (error, QM_OWNERSHIP_ERROR, QM_OWNERSHIP_ERROR_SETTING,
                   _ ("“%s” is not a number to set “%s” to"), value, key);
      return FALSE;
    }
  g_set_error (error, QM_OWNERSHIP_ERROR, QM_OWNERSHIP_ERROR_SETTING,
               _ ("there is no assumption “%s”"), key);
  return FALSE;
}
