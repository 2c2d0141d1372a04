/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-ownership.h"
#include "pricing/qm-exact.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

#define MONTHS_PER_YEAR 12
#define MAX_LIFETIME    50
#define MAX_SHARE                                       \
  (10 * QM_PPM) /* a PUE, or overhead, beyond that is a \
                   slip of the pen */
#define MAX_RACK_UNITS   1000
#define MICROWATTS_IN_KW 1000000000

G_DEFINE_QUARK (qm - ownership - error - quark, qm_ownership_error)

QmOwnershipSettings
qm_ownership_settings_default (void)
{
  /* The sources are in qm-ownership-assumptions.c. */
  return (QmOwnershipSettings){
    .parts = QM_OWNERSHIP_PRICE_ALONE,
    .currency = "USD",
    .lifetime_years = QM_LIFETIME_DEFAULT,
    .overhead_threshold_minor = 1000000,
    .utilization_ppm = QM_PPM,
    .idle_ppm = QM_PPM / 10,
    .rest_ppm = QM_PPM / 2,
    .pue_ppm = QM_PPM * 3 / 2,
    .kwh_micros = 120000,
    .hosting_unit_minor = 15000,
    .rack_units = 4,
    .support_ppm = QM_PPM * 15 / 100,
  };
}

/* Whether a candidate is for a rack.  Of this machine that is not known: one
 * with modules, or with more GPUs than desktops of the catalog take, is. */
static gboolean
is_for_rack (const QmCandidate *candidate)
{
  if (candidate->here)
    return qm_gpu_is_mezzanine (candidate->gpu) || candidate->gpus > 2;
  if (qm_candidate_is_whole (candidate))
    return candidate->machine_offer->kind == QM_MACHINE_SERVER;
  if (candidate->machine == NULL)
    return candidate->platform != NULL
           && candidate->platform->form == QM_PLATFORM_RACK;
  return candidate->machine->kind == QM_MACHINE_SERVER;
}

/* What quotes with tax in them make up of the price of a candidate. */
static gint64
taxed_part (const QmCandidate *candidate)
{
  const QmOffer *gpu = candidate->gpu_offer;
  const QmOffer *machine = candidate->machine_offer;
  gint64 micros = 0, one;

  if (gpu != NULL && gpu->taxed
      && (!qm_exact_scale (gpu->price.micros, candidate->gpus, 1, &one)
          || !qm_exact_add (&micros, one)))
    return candidate->price_minor;
  if (machine != NULL && machine->taxed
      && !qm_exact_add (&micros, machine->price.micros))
    return candidate->price_minor;
  if (!qm_exact_scale (micros, candidate->machines, 1, &micros))
    return candidate->price_minor;
  return MIN (qm_money_from_micros (micros, "USD").minor,
              candidate->price_minor);
}

/* What the catalog states of the platform that carries a candidate's GPUs. */
static void
take_stated (const QmCandidate *candidate, QmOwned *owned)
{
  const QmPlatform *platform = candidate->platform;

  if (platform == NULL || candidate->here || candidate->machine != NULL
      || qm_candidate_is_whole (candidate)
      || candidate->carry.problem != QM_CARRY_NONE)
    return;
  if (qm_known (candidate->carry.wall_watts))
    owned->wall_watts = candidate->carry.wall_watts;
  if (qm_known (platform->rack_units))
    owned->rack_units = (int) platform->rack_units;
}

gboolean
qm_owned_of_candidate (const QmCandidate *candidate, QmOwned *owned)
{
  g_return_val_if_fail (candidate != NULL && owned != NULL, FALSE);

  if (candidate->price_minor < 0)
    return FALSE;
  *owned = (QmOwned){ .price = { .minor = candidate->price_minor,
                                 .currency = "USD" },
                      .machines = candidate->machines,
                      .gpus = candidate->gpus,
                      .gpu_watts = candidate->gpu->tdp_w,
                      .here = candidate->here,
                      .rack = is_for_rack (candidate),
                      .taxed_minor = taxed_part (candidate) };
  take_stated (candidate, owned);
  return TRUE;
}

static gboolean
fail_ownership (GError **error, QmOwnershipError code, const char *message)
{
  g_set_error_literal (error, QM_OWNERSHIP_ERROR, code, message);
  return FALSE;
}

static gboolean
fail_range (GError **error)
{
  return fail_ownership (error, QM_OWNERSHIP_ERROR_RANGE,
                         _ ("the cost is too large to be computed"));
}

static gboolean
check_settings (const QmOwnershipSettings *settings, GError **error)
{
  const struct
  {
    const char *name;
    gint64 value;
    gint64 low;
    gint64 high;
  } ranges[] = {
    { N_ ("discount"), settings->discount_ppm, 0, QM_PPM },
    { N_ ("shipping"), settings->shipping_minor, 0, G_MAXINT64 },
    { N_ ("tax"), settings->tax_ppm, 0, MAX_SHARE },
    { N_ ("overhead"), settings->overhead_ppm, 0, MAX_SHARE },
    { N_ ("threshold for overhead"), settings->overhead_threshold_minor, 0,
      G_MAXINT64 },
    { N_ ("residual value"), settings->residual_ppm, 0, QM_PPM },
    { N_ ("use"), settings->utilization_ppm, 0, QM_PPM },
    { N_ ("idle power"), settings->idle_ppm, 0, QM_PPM },
    { N_ ("power besides the GPUs"), settings->rest_ppm, 0, MAX_SHARE },
    { N_ ("PUE"), settings->pue_ppm, QM_PPM, MAX_SHARE },
    { N_ ("price of electricity"), settings->kwh_micros, 0, G_MAXINT64 },
    { N_ ("hosting a machine"), settings->hosting_machine_minor, 0,
      G_MAXINT64 },
    { N_ ("hosting a kilowatt"), settings->hosting_kw_minor, 0, G_MAXINT64 },
    { N_ ("hosting a rack unit"), settings->hosting_unit_minor, 0, G_MAXINT64 },
    { N_ ("rack units"), settings->rack_units, 0, MAX_RACK_UNITS },
    { N_ ("support"), settings->support_ppm, 0, QM_PPM },
  };

  if (!(settings->lifetime_years > 0)
      || settings->lifetime_years > MAX_LIFETIME)
    return fail_ownership (
        error, QM_OWNERSHIP_ERROR_SETTING,
        _ ("the lifetime must be positive and at most 50 years"));
  for (gsize i = 0; i < G_N_ELEMENTS (ranges); i++)
    if (ranges[i].value < ranges[i].low || ranges[i].value > ranges[i].high)
      {
        g_set_error (error, QM_OWNERSHIP_ERROR, QM_OWNERSHIP_ERROR_SETTING,
                     _ ("an assumption is out of range: %s"),
                     _ (ranges[i].name));
        return FALSE;
      }
  return TRUE;
}

static gboolean
check_currency (const QmOwnershipSettings *settings,
                const char *currency,
                GError **error)
{
  if (strcmp (settings->currency, currency) == 0)
    return TRUE;
  g_set_error (error, QM_OWNERSHIP_ERROR, QM_OWNERSHIP_ERROR_CURRENCY,
               _ ("a price is in %s, the assumptions are in %s"), currency,
               settings->currency);
  return FALSE;
}

/* Micros of the major unit in one minor unit. */
static gint64
micros_in_minor (const char *currency)
{
  gint64 micros = QM_MICROS_PER_UNIT;

  for (int i = qm_currency_decimals (currency); i > 0; i--)
    micros /= 10;
  return micros;
}

/* What the sum is made from; a step that overflows sets `broken`. */
typedef struct
{
  const QmOwnershipSettings *settings;
  const QmOwned *owned;
  gint64 minor_micros;
  gboolean broken;
} Sum;

static gboolean
counts_part (const Sum *sum, QmOwnershipParts part)
{
  return (sum->settings->parts & part) != 0;
}

static gint64
scale (Sum *sum, gint64 value, QmInt128 numerator, QmInt128 denominator)
{
  gint64 result = 0;

  if (!qm_exact_scale (value, numerator, denominator, &result))
    sum->broken = TRUE;
  return result;
}

static void
add_exactly (Sum *sum, gint64 *to, gint64 value)
{
  if (!qm_exact_add (to, value))
    sum->broken = TRUE;
}

static gint64
microwatts (Sum *sum, double watts)
{
  if (!(watts >= 0 && watts < 1e6))
    {
      sum->broken = TRUE;
      return 0;
    }
  return llround (watts * 1e6);
}

static QmOwnershipBasis
basis_of (gboolean own, gboolean stated)
{
  return own ? QM_BASIS_OWN : stated ? QM_BASIS_STATED : QM_BASIS_ASSUMED;
}

static QmOwnershipBasis
basis_of_power (const QmOwnershipSettings *settings, const QmOwned *owned)
{
  return basis_of (settings->rest_ppm
                       != qm_ownership_settings_default ().rest_ppm,
                   owned->wall_watts > 0);
}

double
qm_ownership_machine_watts (const QmOwnershipSettings *settings,
                            const QmOwned *owned,
                            QmOwnershipBasis *basis)
{
  QmOwnershipBasis from;

  g_return_val_if_fail (settings != NULL && owned != NULL, NAN);

  from = basis_of_power (settings, owned);
  if (basis != NULL)
    *basis = from;
  return from == QM_BASIS_STATED
             ? owned->wall_watts
             : owned->gpu_watts * owned->gpus
                   * (1 + (double) settings->rest_ppm / QM_PPM);
}

int
qm_ownership_rack_units (const QmOwnershipSettings *settings,
                         const QmOwned *owned,
                         QmOwnershipBasis *basis)
{
  QmOwnershipBasis from;

  g_return_val_if_fail (settings != NULL && owned != NULL, 0);

  from = basis_of (settings->rack_units
                       != qm_ownership_settings_default ().rack_units,
                   owned->rack_units > 0);
  if (basis != NULL)
    *basis = from;
  return from == QM_BASIS_STATED ? owned->rack_units : settings->rack_units;
}

/* What a machine draws at a use of its GPUs, without cooling. */
static gint64
machine_microwatts (Sum *sum, gint64 use_ppm)
{
  const QmOwnershipSettings *settings = sum->settings;
  gint64 drawn = use_ppm * QM_PPM + (QM_PPM - use_ppm) * settings->idle_ppm;
  gint64 gpus;

  if (basis_of_power (settings, sum->owned) == QM_BASIS_STATED)
    return scale (sum, microwatts (sum, sum->owned->wall_watts), drawn,
                  (QmInt128) QM_PPM * QM_PPM);
  gpus =
      scale (sum, microwatts (sum, sum->owned->gpu_watts), sum->owned->gpus, 1);
  return scale (sum, gpus, (QmInt128) drawn * (QM_PPM + settings->rest_ppm),
                (QmInt128) QM_PPM * QM_PPM * QM_PPM);
}

/* A month of all machines, in micros. */
static gint64
electricity_of_month (Sum *sum)
{
  const QmOwnershipSettings *settings = sum->settings;
  gint64 machine = machine_microwatts (sum, settings->utilization_ppm);
  gint64 all = scale (sum, machine, sum->owned->machines, 1);

  return scale (sum, all,
                (QmInt128) settings->pue_ppm * QM_HOURS_PER_MONTH
                    * settings->kwh_micros,
                (QmInt128) QM_PPM * MICROWATTS_IN_KW);
}

static gint64
hosting_of_month (Sum *sum)
{
  const QmOwnershipSettings *settings = sum->settings;
  gint64 micros =
      scale (sum, settings->hosting_machine_minor, sum->minor_micros, 1);

  add_exactly (sum, &micros,
               scale (sum, settings->hosting_unit_minor,
                      (QmInt128) sum->minor_micros
                          * qm_ownership_rack_units (settings, sum->owned,
                                                     NULL),
                      1));
  if (settings->hosting_kw_minor > 0)
    add_exactly (sum, &micros,
                 scale (sum, settings->hosting_kw_minor,
                        (QmInt128) sum->minor_micros
                            * machine_microwatts (sum, QM_PPM),
                        MICROWATTS_IN_KW));
  return scale (sum, micros, sum->owned->machines, 1);
}

static gint64
support_of_month (Sum *sum, gint64 net)
{
  return scale (sum, net,
                (QmInt128) sum->minor_micros * sum->settings->support_ppm,
                (QmInt128) QM_PPM * MONTHS_PER_YEAR);
}

/* From the micros of a month to the minor units of the life. */
static gint64
over_life (Sum *sum, gint64 month_micros)
{
  gint64 life_ppm = llround (sum->settings->lifetime_years * QM_PPM);

  return scale (sum, month_micros, (QmInt128) MONTHS_PER_YEAR * life_ppm,
                (QmInt128) QM_PPM * sum->minor_micros);
}

/* Of goods that cost so much, what tax is still to be added to: not the part
 * of the price that contains it, less its share of the discount. */
static gint64
taxable (Sum *sum, gint64 goods, gint64 net)
{
  const QmOwned *owned = sum->owned;
  gint64 taxed = owned->taxed_minor;

  if (taxed > 0 && owned->price.minor > 0)
    taxed = scale (sum, net, taxed, owned->price.minor);
  add_exactly (sum, &goods, -taxed);
  return goods;
}

/* What is paid at the beginning; *net is what the machines themselves cost. */
static void
add_purchase (Sum *sum, QmOwnership *ownership, gint64 *net)
{
  const QmOwnershipSettings *settings = sum->settings;
  gint64 goods, unit;

  ownership->price = sum->owned->price.minor;
  if (counts_part (sum, QM_OWNERSHIP_DISCOUNT))
    ownership->discount =
        -scale (sum, ownership->price, settings->discount_ppm, QM_PPM);
  *net = ownership->price;
  add_exactly (sum, net, ownership->discount);
  if (counts_part (sum, QM_OWNERSHIP_SHIPPING) && !sum->owned->here)
    ownership->shipping =
        scale (sum, settings->shipping_minor, sum->owned->machines, 1);
  goods = *net;
  add_exactly (sum, &goods, ownership->shipping);
  if (counts_part (sum, QM_OWNERSHIP_TAX) && !settings->tax_included)
    ownership->tax =
        scale (sum, taxable (sum, goods, *net), settings->tax_ppm, QM_PPM);
  add_exactly (sum, &goods, ownership->tax);
  ownership->begin = goods;

  unit = goods / sum->owned->machines;
  ownership->exempt = unit >= settings->overhead_threshold_minor;
  if (counts_part (sum, QM_OWNERSHIP_OVERHEAD) && !ownership->exempt)
    ownership->overhead = scale (sum, goods, settings->overhead_ppm, QM_PPM);
  add_exactly (sum, &ownership->begin, ownership->overhead);
  if (counts_part (sum, QM_OWNERSHIP_RESIDUAL))
    ownership->residual = -scale (sum, *net, settings->residual_ppm, QM_PPM);
}

static double
kwh_over_life (Sum *sum)
{
  const QmOwnershipSettings *settings = sum->settings;
  double kilowatts =
      (double) machine_microwatts (sum, settings->utilization_ppm)
      * sum->owned->machines / MICROWATTS_IN_KW;

  return kilowatts * settings->pue_ppm / QM_PPM * QM_HOURS_PER_MONTH
         * MONTHS_PER_YEAR * settings->lifetime_years;
}

static void
add_running (Sum *sum, QmOwnership *ownership, gint64 net)
{
  gint64 electricity = 0;
  gint64 hosting = 0;
  gint64 support = 0;
  gint64 services, overhead = 0;

  if (counts_part (sum, QM_OWNERSHIP_ELECTRICITY))
    {
      electricity = electricity_of_month (sum);
      ownership->kwh = kwh_over_life (sum);
    }
  if (counts_part (sum, QM_OWNERSHIP_HOSTING) && sum->owned->rack)
    hosting = hosting_of_month (sum);
  if (counts_part (sum, QM_OWNERSHIP_SUPPORT))
    support = support_of_month (sum, net);
  services = hosting;
  add_exactly (sum, &services, support);
  if (counts_part (sum, QM_OWNERSHIP_OVERHEAD))
    overhead = scale (sum, services, sum->settings->overhead_ppm, QM_PPM);

  ownership->electricity = over_life (sum, electricity);
  ownership->hosting = over_life (sum, hosting);
  ownership->support = over_life (sum, support);
  add_exactly (sum, &ownership->overhead, over_life (sum, overhead));
  ownership->month_micros = electricity;
  add_exactly (sum, &ownership->month_micros, services);
  add_exactly (sum, &ownership->month_micros, overhead);
}

static gboolean
needs_power (const QmOwnershipSettings *settings)
{
  return (settings->parts & QM_OWNERSHIP_ELECTRICITY) != 0
         || ((settings->parts & QM_OWNERSHIP_HOSTING) != 0
             && settings->hosting_kw_minor > 0);
}

static gboolean
check_owned (const QmOwnershipSettings *settings,
             const QmOwned *owned,
             GError **error)
{
  if (owned->price.minor < 0 || owned->machines < 1 || owned->gpus < 0
      || owned->taxed_minor < 0 || owned->taxed_minor > owned->price.minor)
    return fail_ownership (
        error, QM_OWNERSHIP_ERROR_SETTING,
        _ ("there is no machine with a price to compute with"));
  if (needs_power (settings)
      && !qm_known (qm_ownership_machine_watts (settings, owned, NULL)))
    return fail_ownership (error, QM_OWNERSHIP_ERROR_UNKNOWN,
                           _ ("the power that the GPU draws is unknown"));
  return check_currency (settings, owned->price.currency, error);
}

gboolean
qm_ownership_compute (const QmOwnershipSettings *settings,
                      const QmOwned *owned,
                      QmOwnership *ownership,
                      GError **error)
{
  QmOwnership made = { .kwh = NAN };
  Sum sum = { .settings = settings, .owned = owned };
  gint64 net = 0;

  g_return_val_if_fail (settings != NULL && owned != NULL, FALSE);
  g_return_val_if_fail (ownership != NULL, FALSE);

  if (!check_settings (settings, error)
      || !check_owned (settings, owned, error))
    return FALSE;
  memcpy (made.currency, settings->currency, sizeof made.currency);
  made.lifetime_years = settings->lifetime_years;
  made.machines = owned->machines;
  sum.minor_micros = micros_in_minor (settings->currency);
  add_purchase (&sum, &made, &net);
  add_running (&sum, &made, net);

  const gint64 lines[] = { made.price,       made.discount, made.shipping,
                           made.tax,         made.overhead, made.residual,
                           made.electricity, made.hosting,  made.support };

  for (gsize i = 0; i < G_N_ELEMENTS (lines); i++)
    add_exactly (&sum, &made.total, lines[i]);
  if (sum.broken)
    return fail_range (error);
  *ownership = made;
  return TRUE;
}

double
qm_ownership_experiment_cost (const QmOwnership *ownership, double machine_days)
{
  QmMoney total = { 0 };

  g_return_val_if_fail (ownership != NULL, NAN);

  total.minor = ownership->total;
  memcpy (total.currency, ownership->currency, sizeof total.currency);
  /* In the order in which qm-candidates.c computes it. */
  return qm_money_to_double (total) / ownership->machines * machine_days
         / (ownership->lifetime_years * QM_DAYS_PER_YEAR);
}

static int
instances_for (const QmRent *rent, gint64 gpus)
{
  return (int) MIN ((gpus + rent->gpus - 1) / rent->gpus, G_MAXINT);
}

double
qm_rent_experiment_cost (const QmRent *rent, int gpus, double days)
{
  g_return_val_if_fail (rent != NULL && rent->gpus > 0, NAN);

  return (double) rent->hour_micros / QM_MICROS_PER_UNIT
         * instances_for (rent, gpus) * days * 24;
}

/* What a month of renting costs at the use of the settings. */
static gint64
rent_of_month (Sum *sum, const QmRent *rent, int instances)
{
  const QmOwnershipSettings *settings = sum->settings;
  gint64 micros = scale (sum, rent->hour_micros,
                         (QmInt128) instances * QM_HOURS_PER_MONTH
                             * settings->utilization_ppm,
                         QM_PPM);

  if (counts_part (sum, QM_OWNERSHIP_TAX))
    add_exactly (sum, &micros, scale (sum, micros, settings->tax_ppm, QM_PPM));
  if (counts_part (sum, QM_OWNERSHIP_OVERHEAD))
    add_exactly (sum, &micros,
                 scale (sum, micros, settings->overhead_ppm, QM_PPM));
  return micros;
}

static void
find_break_even (const QmOwnershipSettings *settings,
                 gint64 minor_micros,
                 QmOwnOrRent *comparison)
{
  QmInt128 saved =
      (QmInt128) comparison->rent_month_micros - comparison->own_month_micros;
  QmInt128 begin = (QmInt128) comparison->own_begin_minor * minor_micros;
  QmInt128 whole;

  comparison->months = NAN;
  comparison->whole_months = -1;
  comparison->outcome = QM_BREAK_EVEN_NEVER;
  if (begin <= 0)
    {
      comparison->months = 0;
      comparison->whole_months = 0;
      comparison->outcome = QM_BREAK_EVEN_REACHED;
      return;
    }
  if (saved <= 0)
    return;
  whole = (begin + saved - 1) / saved;
  if (whole > G_MAXINT64)
    return;
  comparison->months = (double) begin / (double) saved;
  comparison->whole_months = (gint64) whole;
  comparison->outcome =
      comparison->months <= settings->lifetime_years * MONTHS_PER_YEAR
          ? QM_BREAK_EVEN_REACHED
          : QM_BREAK_EVEN_AFTER_LIFE;
}

gboolean
qm_ownership_compare_rent (const QmOwnershipSettings *settings,
                           const QmOwned *owned,
                           const QmRent *rent,
                           QmOwnOrRent *comparison,
                           GError **error)
{
  QmOwnOrRent made = { 0 };
  QmOwnership ownership;
  Sum sum = { .settings = settings, .owned = owned };

  g_return_val_if_fail (settings != NULL && owned != NULL, FALSE);
  g_return_val_if_fail (rent != NULL && comparison != NULL, FALSE);

  if (!qm_ownership_compute (settings, owned, &ownership, error)
      || !check_currency (settings, rent->currency, error))
    return FALSE;
  if (rent->hour_micros < 0 || rent->gpus < 1 || owned->gpus < 1)
    return fail_ownership (error, QM_OWNERSHIP_ERROR_SETTING,
                           _ ("there are no GPUs with a price to rent"));
  if ((gint64) owned->machines * owned->gpus % rent->gpus != 0)
    {
      g_set_error (error, QM_OWNERSHIP_ERROR, QM_OWNERSHIP_ERROR_COUNT,
                   /* Translators: a number of GPUs. */
                   ngettext ("%d GPU is rented at a time",
                             "only %d GPUs are rented together", rent->gpus),
                   rent->gpus);
      return FALSE;
    }
  made.instances = instances_for (rent, (gint64) owned->machines * owned->gpus);
  made.rent_month_micros = rent_of_month (&sum, rent, made.instances);
  made.own_month_micros = ownership.month_micros;
  made.own_begin_minor = ownership.begin;
  add_exactly (&sum, &made.own_begin_minor, ownership.residual);
  if (sum.broken)
    return fail_range (error);
  find_break_even (settings, micros_in_minor (settings->currency), &made);
  *comparison = made;
  return TRUE;
}
