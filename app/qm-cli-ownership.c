/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-json.h"
#include "app/qm-cli-options.h"
#include "app/qm-cli-ownership.h"
#include "app/qm-cli-quotes-input.h"
#include "app/qm-cli-table.h"
#include "pricing/advice/qm-prose.h"
#include "pricing/qm-format.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

#define FILE_MAX 65536

static const QmOwnershipParts all_parts[] = {
  QM_OWNERSHIP_DISCOUNT, QM_OWNERSHIP_SHIPPING,    QM_OWNERSHIP_TAX,
  QM_OWNERSHIP_OVERHEAD, QM_OWNERSHIP_ELECTRICITY, QM_OWNERSHIP_HOSTING,
  QM_OWNERSHIP_SUPPORT,  QM_OWNERSHIP_RESIDUAL,
};

/* --- the options --- */

void
qm_cli_ownership_add_options (QmCliOwnership *typed, GArray *options)
{
  qm_cli_options_add_value (
      options, "ownership", 0, _ ("KEY=VALUE,…"),
      _ ("What owning costs: all, none, no-support, pue=1.3 and so on"),
      &typed->assumptions);
  qm_cli_options_add_value (options, "ownership-file", 0, _ ("FILE"),
                            _ ("The same from a file, one in a line"),
                            &typed->files);
}

void
qm_cli_ownership_clear (QmCliOwnership *typed)
{
  g_clear_pointer (&typed->assumptions, g_strfreev);
  g_clear_pointer (&typed->files, g_strfreev);
}

gboolean
qm_cli_ownership_is_asked (const QmCliOwnership *typed)
{
  return typed->assumptions != NULL || typed->files != NULL;
}

static gboolean
set_unknown (const char *word, GError **error)
{
  const QmOwnershipSettings usual = qm_ownership_settings_default ();
  g_autoptr (GPtrArray) assumptions = qm_ownership_assumptions (&usual);
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autoptr (GString) all = g_string_new (NULL);
  g_autofree char *otherwise = NULL;

  g_ptr_array_add (names, (gpointer) "all");
  g_ptr_array_add (names, (gpointer) "none");
  for (guint i = 0; i < G_N_ELEMENTS (all_parts); i++)
    g_ptr_array_add (names, (gpointer) qm_ownership_part_name (all_parts[i]));
  for (guint i = 0; i < assumptions->len; i++)
    {
      const QmAssumption *one = g_ptr_array_index (assumptions, i);

      g_ptr_array_add (names, (gpointer) one->key);
      g_string_append_printf (all, "%s%s", i > 0 ? ", " : "", one->key);
    }
  otherwise = g_strdup_printf (_ ("assumptions are %s"), all->str);
  return qm_cli_set_unknown (error, _ ("--ownership: there is no %s"), word,
                             (const char *const *) names->pdata, names->len,
                             otherwise);
}

/* "all", "none", "tax", "no-tax". */
static gboolean
apply_word (QmOwnershipSettings *settings, const char *word, GError **error)
{
  gboolean off = g_str_has_prefix (word, "no-");
  QmOwnershipParts part = qm_ownership_part_of_name (off ? word + 3 : word);

  if (g_str_equal (word, "all"))
    settings->parts = QM_OWNERSHIP_ALL;
  else if (g_str_equal (word, "none"))
    settings->parts = QM_OWNERSHIP_PRICE_ALONE;
  else if (part == QM_OWNERSHIP_PRICE_ALONE)
    return set_unknown (word, error);
  else if (off)
    settings->parts &= ~part;
  else
    settings->parts |= part;
  return TRUE;
}

/* Whether there is an assumption of that name, and to which part it belongs. */
static gboolean
find_key (const char *word, QmOwnershipParts *part)
{
  const QmOwnershipSettings usual = qm_ownership_settings_default ();
  g_autoptr (GPtrArray) assumptions = qm_ownership_assumptions (&usual);

  for (guint i = 0; i < assumptions->len; i++)
    {
      const QmAssumption *one = g_ptr_array_index (assumptions, i);

      if (!g_str_equal (word, one->key))
        continue;
      *part = one->part;
      return TRUE;
    }
  return FALSE;
}

static gboolean
apply (QmOwnershipSettings *settings, const char *item, GError **error)
{
  const char *sign = strchr (item, '=');
  g_autofree char *key = NULL;
  g_autofree char *value = NULL;
  g_autofree char *quoted = NULL;
  QmOwnershipParts part;

  if (sign == NULL)
    return apply_word (settings, item, error);
  key = g_strchomp (g_strndup (item, (gsize) (sign - item)));
  if (!find_key (key, &part))
    return set_unknown (key, error);
  value = g_strchug (g_strdup (sign + 1));
  if (g_str_has_suffix (value, "%"))
    value[strlen (value) - 1] = '\0';
  g_strchomp (value);
  if (qm_ownership_settings_set (settings, key, value, NULL))
    {
      settings->parts |= part;
      return TRUE;
    }
  quoted = qm_cli_quote (item);
  g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
               _ ("--ownership: %s has no number as it is needed; write it "
                  "like %s=1.5"),
               quoted, key);
  return FALSE;
}

/* One assumption in a line; "#" begins a comment. */
static gboolean
apply_file (QmOwnershipSettings *settings, const char *path, GError **error)
{
  g_autofree char *quoted = qm_cli_quote (path);
  g_auto (QmCliInput) input = { 0 };
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  g_autoptr (GError) trouble = NULL;
  gconstpointer bytes;
  gsize length;

  if (!qm_cli_input_read_file (&input, path, NULL, error))
    return FALSE;
  bytes = g_bytes_get_data (input.bytes, &length);
  /* Of an empty file there are none. */
  text = g_strndup (bytes != NULL ? bytes : "", length);
  if (length > FILE_MAX || strlen (text) != length
      || !g_utf8_validate (text, -1, NULL))
    {
      g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                   _ ("%s is no file of assumptions"), quoted);
      return FALSE;
    }
  lines = g_strsplit (text, "\n", 0);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      lines[i][strcspn (lines[i], "#")] = '\0';
      g_strstrip (lines[i]);
      if (*lines[i] != '\0' && !apply (settings, lines[i], &trouble))
        {
          g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE, "%s:%u: %s",
                       quoted, i + 1, trouble->message);
          return FALSE;
        }
    }
  return TRUE;
}

/* The tax of the answer's other amounts, beside which the sum stands: it counts
 * where these contain it. */
static void
take_tax (const QmPurse *purse, QmOwnershipSettings *settings)
{
  settings->tax_ppm = llround (purse->tax_percent * QM_PPM / 100);
  if (purse->gross)
    settings->parts |= QM_OWNERSHIP_TAX;
}

gboolean
qm_cli_ownership_read (const QmCliOwnership *typed,
                       const QmPurse *purse,
                       double lifetime_years,
                       QmOwnershipSettings *settings,
                       GError **error)
{
  const QmOwned probe = { .price = { .minor = 100000, .currency = "USD" },
                          .machines = 1,
                          .gpus = 1,
                          .gpu_watts = 100 };
  g_auto (GStrv) items = NULL;
  g_autoptr (GError) trouble = NULL;
  QmOwnership ownership;

  *settings = qm_ownership_settings_default ();
  settings->lifetime_years = lifetime_years;
  if (purse != NULL)
    take_tax (purse, settings);
  if (!qm_cli_ownership_is_asked (typed))
    settings->parts = QM_OWNERSHIP_ALL;
  for (guint i = 0; typed->files != NULL && typed->files[i] != NULL; i++)
    if (!apply_file (settings, typed->files[i], error))
      return FALSE;
  if (!qm_cli_option_list ("ownership", typed->assumptions, &items, error))
    return FALSE;
  for (guint i = 0; items != NULL && items[i] != NULL; i++)
    if (!apply (settings, items[i], error))
      return FALSE;
  if (qm_ownership_compute (settings, &probe, &ownership, &trouble))
    return TRUE;
  g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE, "--ownership: %s",
               trouble->message);
  return FALSE;
}

/* --- for programs --- */

static json_t *
minor_json (gint64 minor, const char *currency)
{
  return json_real (qm_money_to_double ((QmMoney){
      .minor = minor,
      .currency = { currency[0], currency[1], currency[2], '\0' } }));
}

static const char *
outcome_name (QmBreakEven outcome)
{
  switch (outcome)
    {
    case QM_BREAK_EVEN_REACHED:
      return "reached";
    case QM_BREAK_EVEN_AFTER_LIFE:
      return "after_life";
    case QM_BREAK_EVEN_NEVER:
    default:
      return "never";
    }
}

static json_t *
rent_json (const QmOwnershipSettings *settings,
           const QmOwned *owned,
           const QmPrice *price)
{
  QmRent rent;
  g_autoptr (GError) error = NULL;
  QmOwnOrRent found;
  json_t *object = json_object ();

  json_object_set_new (object, "source", qm_cli_json_text (price->source));
  json_object_set_new (object, "observed_on",
                       qm_cli_json_date (price->observed_on));
  json_object_set_new (object, "hour", qm_cli_json_micros (price->micros));
  json_object_set_new (object, "gpus", json_integer (price->gpus));
  if (!qm_rent_of_price (price, &rent)
      || !qm_ownership_compare_rent (settings, owned, &rent, &found, &error))
    {
      json_object_set_new (object, "error",
                           error != NULL ? qm_cli_json_text (error->message)
                                         : json_null ());
      return object;
    }
  json_object_set_new (object, "instances", json_integer (found.instances));
  json_object_set_new (object, "rent_month",
                       qm_cli_json_micros (found.rent_month_micros));
  json_object_set_new (object, "own_month",
                       qm_cli_json_micros (found.own_month_micros));
  json_object_set_new (object, "own_begin",
                       minor_json (found.own_begin_minor, settings->currency));
  json_object_set_new (object, "outcome",
                       json_string (outcome_name (found.outcome)));
  json_object_set_new (object, "months", qm_cli_json_number (found.months, 2));
  json_object_set_new (object, "whole_months",
                       found.whole_months >= 0
                           ? json_integer (found.whole_months)
                           : json_null ());
  return object;
}

static json_t *
assumptions_json (const QmOwnershipSettings *settings, const QmOwned *owned)
{
  g_autoptr (GPtrArray) assumptions =
      owned != NULL ? qm_ownership_assumptions_of (settings, owned)
                    : qm_ownership_assumptions (settings);
  json_t *array = json_array ();

  for (guint i = 0; i < assumptions->len; i++)
    {
      const QmAssumption *one = g_ptr_array_index (assumptions, i);
      json_t *object = json_object ();

      json_object_set_new (object, "key", json_string (one->key));
      json_object_set_new (object, "name", qm_cli_json_text (one->name));
      json_object_set_new (object, "value",
                           json_real (qm_ownership_get (settings, one->key)));
      json_object_set_new (object, "unit", qm_cli_json_text (one->unit));
      json_object_set_new (object, "part",
                           one->part != 0 ? json_string (
                               qm_ownership_part_name (one->part))
                                          : json_null ());
      json_object_set_new (object, "counts", json_boolean (one->counts));
      json_object_set_new (object, "changed", json_boolean (one->changed));
      json_object_set_new (object, "source", qm_cli_json_text (one->source));
      json_array_append_new (array, object);
    }
  return array;
}

static void
add_sum (json_t *object, const QmOwnership *sum, double days)
{
  const struct
  {
    const char *name;
    gint64 minor;
  } amounts[] = {
    { "price", sum->price },       { "discount", sum->discount },
    { "shipping", sum->shipping }, { "tax", sum->tax },
    { "overhead", sum->overhead }, { "electricity", sum->electricity },
    { "hosting", sum->hosting },   { "support", sum->support },
    { "residual", sum->residual }, { "total", sum->total },
    { "begin", sum->begin },
  };

  json_object_set_new (object, "currency", json_string (sum->currency));
  json_object_set_new (object, "lifetime_years",
                       qm_cli_json_number (sum->lifetime_years, 6));
  for (guint i = 0; i < G_N_ELEMENTS (amounts); i++)
    json_object_set_new (object, amounts[i].name,
                         minor_json (amounts[i].minor, sum->currency));
  json_object_set_new (object, "month", qm_cli_json_micros (sum->month_micros));
  json_object_set_new (object, "kwh", qm_cli_json_number (sum->kwh, 1));
  json_object_set_new (object, "exempt_from_overhead",
                       json_boolean (sum->exempt));
  json_object_set_new (
      object, "experiment_cost",
      qm_cli_json_number (qm_ownership_experiment_cost (sum, days), 2));
}

static const char *
basis_name (QmOwnershipBasis basis)
{
  static const char *const names[] = { "assumed", "catalog", "own" };

  return names[basis];
}

/* What a machine draws and takes, and what that is from. */
static void
add_machine (json_t *object,
             const QmOwnershipSettings *settings,
             const QmOwned *owned)
{
  QmOwnershipBasis power, units;
  double watts = qm_ownership_machine_watts (settings, owned, &power);
  int taken = qm_ownership_rack_units (settings, owned, &units);

  json_object_set_new (object, "with_tax",
                       json_boolean ((settings->parts & QM_OWNERSHIP_TAX) != 0
                                     && settings->tax_ppm > 0));
  json_object_set_new (object, "machine_watts", qm_cli_json_number (watts, 1));
  json_object_set_new (object, "machine_watts_from",
                       json_string (basis_name (power)));
  json_object_set_new (object, "rack_units",
                       owned->rack ? json_integer (taken) : json_null ());
  json_object_set_new (object, "rack_units_from",
                       owned->rack ? json_string (basis_name (units))
                                   : json_null ());
}

/* Days that machines are kept busy. */
static double
machine_days (const QmCandidate *candidate)
{
  return candidate->days * candidate->machines;
}

json_t *
qm_cli_ownership_json (const QmOwnershipSettings *settings,
                       const QmCatalog *catalog,
                       const QmCandidate *candidate)
{
  json_t *object = json_object ();
  json_t *rents = json_array ();
  g_autoptr (GError) error = NULL;
  QmOwned owned;
  QmOwnership sum;
  gboolean priced = qm_owned_of_candidate (candidate, &owned);
  g_autoptr (GPtrArray) prices =
      qm_rent_prices (catalog, candidate->gpu->id, settings->currency);

  if (!priced)
    json_object_set_new (object, "error",
                         json_string (_ ("the candidate has no price")));
  else if (!qm_ownership_compute (settings, &owned, &sum, &error))
    json_object_set_new (object, "error", qm_cli_json_text (error->message));
  else
    {
      add_sum (object, &sum, machine_days (candidate));
      add_machine (object, settings, &owned);
      for (guint i = 0; i < prices->len; i++)
        json_array_append_new (
            rents, rent_json (settings, &owned, g_ptr_array_index (prices, i)));
    }
  json_object_set_new (object, "own_or_rent", rents);
  json_object_set_new (object, "assumptions",
                       assumptions_json (settings, priced ? &owned : NULL));
  return object;
}

/* --- for people --- */

static char *
money_text (gint64 minor, const char *currency)
{
  const QmMoney money = {
    .minor = minor, .currency = { currency[0], currency[1], currency[2], '\0' }
  };

  return qm_format_money (qm_money_to_double (money), currency, FALSE);
}

static void
append_sum (const QmOwnershipSettings *settings,
            const QmOwned *owned,
            const QmOwnership *sum,
            QmCliTable *table)
{
  const struct
  {
    const char *name;
    QmOwnershipParts part;
    gint64 minor;
  } rows[] = {
    { _ ("Price"), 0, sum->price },
    { _ ("Discount"), QM_OWNERSHIP_DISCOUNT, sum->discount },
    { _ ("Shipping"), QM_OWNERSHIP_SHIPPING, sum->shipping },
    { _ ("Tax"), QM_OWNERSHIP_TAX, sum->tax },
    { _ ("Institutional overhead"), QM_OWNERSHIP_OVERHEAD, sum->overhead },
    { _ ("Electricity"), QM_OWNERSHIP_ELECTRICITY, sum->electricity },
    { _ ("Hosting"), QM_OWNERSHIP_HOSTING, sum->hosting },
    { _ ("Support"), QM_OWNERSHIP_SUPPORT, sum->support },
    { _ ("Residual value"), QM_OWNERSHIP_RESIDUAL, sum->residual },
    { _ ("Total"), 0, sum->total },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      gboolean counts =
          rows[i].part == 0 || (settings->parts & rows[i].part) != 0;
      gboolean on_desk =
          rows[i].part == QM_OWNERSHIP_HOSTING && counts && !owned->rack;
      g_autofree char *amount = on_desk
                                    ? g_strdup (_ ("none: stands on a desk"))
                                    : money_text (rows[i].minor, sum->currency);

      qm_cli_table_add_row (table, counts ? QM_CLI_PLAIN : QM_CLI_FAINT,
                            (const char *[]){ rows[i].name,
                                              counts ? amount
                                                     : _ ("not counted") });
    }
}

/* "after 7.2 months".  (transfer full) */
static char *
break_even_text (const QmOwnOrRent *found)
{
  g_autofree char *months = NULL;

  if (found->outcome == QM_BREAK_EVEN_NEVER)
    return g_strdup (_ ("never: renting costs less"));
  months = qm_format_number (found->months, 1);
  if (found->outcome == QM_BREAK_EVEN_AFTER_LIFE)
    /* Translators: a number of months. */
    return g_strdup_printf (_ ("not in its life (%s months)"), months);
  /* Translators: a number of months. */
  return g_strdup_printf (_ ("after %s months"), months);
}

static void
add_rent_row (const QmOwnershipSettings *settings,
              const QmOwned *owned,
              const QmPrice *price,
              QmCliTable *table)
{
  QmRent rent;
  g_autofree char *hour = qm_format_price (price, TRUE);
  g_autofree char *gpus = g_strdup_printf ("%d", price->gpus);
  g_autofree char *date = qm_cli_date_text (price->observed_on);
  g_autofree char *rented = NULL;
  g_autofree char *owning = NULL;
  g_autofree char *outcome = NULL;
  g_autoptr (GError) error = NULL;
  QmOwnOrRent found;

  if (qm_rent_of_price (price, &rent)
      && qm_ownership_compare_rent (settings, owned, &rent, &found, &error))
    {
      rented = qm_format_money ((double) found.rent_month_micros
                                    / QM_MICROS_PER_UNIT,
                                price->currency, FALSE);
      owning =
          qm_format_money ((double) found.own_month_micros / QM_MICROS_PER_UNIT,
                           price->currency, FALSE);
      outcome = break_even_text (&found);
    }
  qm_cli_table_add_row (table, QM_CLI_PLAIN,
                        (const char *[]){
                            price->source, hour, gpus, date, rented, owning,
                            error != NULL ? error->message : outcome });
}

static void
append_rents (const QmOwnershipSettings *settings,
              const QmCatalog *catalog,
              const QmCandidate *candidate,
              const QmOwned *owned,
              GString *out,
              const QmCliScreen *screen)
{
  const QmCliColumn columns[] = {
    { _ ("Rented from"), .shrink = 16 },
    { _ ("An hour"), QM_CLI_RIGHT },
    { _ ("GPUs"), QM_CLI_RIGHT },
    { _ ("Date"), .drop = 2 },
    { _ ("Rent a month"), QM_CLI_RIGHT, .drop = 1 },
    { _ ("Own a month"), QM_CLI_RIGHT, .drop = 1 },
    { _ ("Owning is cheaper") },
  };
  g_autoptr (QmCliTable) table =
      qm_cli_table_new (columns, G_N_ELEMENTS (columns));
  g_autofree char *use =
      qm_format_percent ((double) settings->utilization_ppm / QM_PPM);
  g_autofree char *heading =
      /* Translators: a share of all hours, "80 %". */
      g_strdup_printf (_ ("Own or rent, in use %s of the time"), use);
  g_autoptr (GPtrArray) prices =
      qm_rent_prices (catalog, candidate->gpu->id, settings->currency);

  qm_cli_table_add_heading (table, heading);
  for (guint i = 0; i < prices->len; i++)
    add_rent_row (settings, owned, g_ptr_array_index (prices, i), table);
  g_string_append_c (out, '\n');
  if (prices->len > 0)
    qm_cli_table_append (table, out, screen);
  else
    qm_cli_append_paragraph (out, screen, QM_CLI_PLAIN, "", 0,
                             _ ("The catalog knows no price at which that GPU "
                                "is rented."));
}

static void
append_assumptions (const QmOwnershipSettings *settings,
                    const QmOwned *owned,
                    GString *out,
                    const QmCliScreen *screen)
{
  const QmCliColumn columns[] = {
    { _ ("Assumed") }, { _ ("Value"), QM_CLI_RIGHT },
    { _ ("Unit") },    { _ ("Key") },
    { _ ("Counts") },  { _ ("Source"), .shrink = 20 },
  };
  g_autoptr (QmCliTable) table =
      qm_cli_table_new (columns, G_N_ELEMENTS (columns));
  g_autoptr (GPtrArray) assumptions =
      qm_ownership_assumptions_of (settings, owned);

  for (guint i = 0; i < assumptions->len; i++)
    {
      const QmAssumption *one = g_ptr_array_index (assumptions, i);

      qm_cli_table_add_row (
          table, one->counts ? QM_CLI_PLAIN : QM_CLI_FAINT,
          (const char *[]){ one->name, one->value,
                            *one->unit != '\0' ? one->unit : " ", one->key,
                            one->counts ? _ ("yes") : _ ("no"), one->source });
    }
  g_string_append_c (out, '\n');
  qm_cli_table_append (table, out, screen);
}

/* Whether amounts contain tax, and what those of a machine rest on. */
static void
append_basis (const QmOwnershipSettings *settings,
              const QmOwned *owned,
              GString *out,
              const QmCliScreen *screen)
{
  char *const texts[] = { qm_ownership_tax_text (settings, owned),
                          qm_ownership_power_text (settings, owned),
                          qm_ownership_units_text (settings, owned) };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      if (texts[i] != NULL)
        qm_cli_append_paragraph (out, screen, QM_CLI_PLAIN, "", 0, texts[i]);
      g_free (texts[i]);
    }
}

void
qm_cli_ownership_append (const QmOwnershipSettings *settings,
                         const QmCatalog *catalog,
                         const QmCandidate *candidate,
                         GString *out,
                         const QmCliScreen *screen)
{
  const QmCliColumn columns[] = { { "" }, { _ ("Amount"), QM_CLI_RIGHT } };
  g_autoptr (QmCliTable) table =
      qm_cli_table_new (columns, G_N_ELEMENTS (columns));
  g_autoptr (GError) error = NULL;
  g_autofree char *what = qm_prose_candidate (candidate);
  g_autofree char *years = qm_format_number (settings->lifetime_years, 2);
  g_autofree char *heading =
      /* Translators: "4 × H100 SXM5 80GB", a number of years. */
      g_strdup_printf (_ ("Owning %s for %s years"), what, years);
  g_autofree char *experiment = NULL;
  g_autofree char *line = NULL;
  QmOwned owned;
  QmOwnership sum;

  g_string_append_c (out, '\n');
  if (!qm_owned_of_candidate (candidate, &owned))
    return;
  if (!qm_ownership_compute (settings, &owned, &sum, &error))
    {
      qm_cli_append_paragraph (out, screen, QM_CLI_BAD, "! ", 2,
                               error->message);
      return;
    }
  qm_cli_table_add_heading (table, heading);
  append_sum (settings, &owned, &sum, table);
  qm_cli_table_append (table, out, screen);
  append_basis (settings, &owned, out, screen);
  if (qm_known (candidate->days))
    {
      experiment = qm_format_money (
          qm_ownership_experiment_cost (&sum, machine_days (candidate)),
          sum.currency, FALSE);
      /* Translators: an amount. */
      line = g_strdup_printf (_ ("An experiment’s share of that: %s."),
                              experiment);
      qm_cli_append_paragraph (out, screen, QM_CLI_PLAIN, "", 0, line);
    }
  append_rents (settings, catalog, candidate, &owned, out, screen);
  append_assumptions (settings, &owned, out, screen);
}
