/* SPDX-License-Identifier: Apache-2.0 */

/* What owning machines costs over their life, and when that is less than
 * renting the same GPUs.
 *
 * Every part can be switched off.  With all of them off the cost is the price
 * alone, and the share of one experiment is that of "$100K or 100 Days"
 * (arXiv 2410.23261, section 4.1): the price spread evenly over the life.
 *
 *   net       = price - discount
 *   purchase  = net + shipping + tax on both + overhead
 *   running   = electricity + hosting + support + overhead on the last two
 *   total     = purchase + running - residual value
 *
 * Overhead (indirect cost, facilities and administration) is what an
 * institution draws from a grant on what the grant pays.  US federal grants
 * exempt equipment: a unit that costs the threshold or more draws none (2 CFR
 * 200.1, "equipment" and "modified total direct cost").  A unit is one machine
 * with its GPUs, with shipping and tax.  Hosting, support and rent are services
 * and always draw it; electricity never does, since that is what overhead pays.
 *
 * Tax is on what does not contain it yet: not on a quoted price with tax that
 * is not told apart.  Hosting is for machines in a rack.  Renting is taxed as
 * buying is, and used as much.
 *
 * What a machine draws at full load, and how many rack units it takes, is what
 * the catalog states of the platform that carries its GPUs: `rest_ppm` and
 * `rack_units` of the assumptions stand in where it states nothing, or where
 * the user set another than the default.  The power of the catalog's is that of
 * the GPUs and of the machine itself, with what its supplies lose
 * (data/carry.h).  At less than full use all of it becomes less as the GPUs'
 * does.
 *
 * Amounts are exact: shares are millionths (ppm), and each line is rounded
 * once.  A year has 365 days and twelve months of 730 hours. */

#pragma once

#include "pricing/advice/qm-advice.h"

G_BEGIN_DECLS

#define QM_PPM             1000000
#define QM_HOURS_PER_MONTH 730

typedef enum
{
  QM_OWNERSHIP_DISCOUNT = 1 << 0,
  QM_OWNERSHIP_SHIPPING = 1 << 1,
  QM_OWNERSHIP_TAX = 1 << 2,
  QM_OWNERSHIP_OVERHEAD = 1 << 3,
  QM_OWNERSHIP_RESIDUAL = 1 << 4,
  QM_OWNERSHIP_ELECTRICITY = 1 << 5,
  QM_OWNERSHIP_HOSTING = 1 << 6,
  QM_OWNERSHIP_SUPPORT = 1 << 7,
  QM_OWNERSHIP_PRICE_ALONE = 0,
  QM_OWNERSHIP_ALL = (1 << 8) - 1
} QmOwnershipParts;

/* What is assumed.  Amounts are in `currency`. */
struct _QmOwnershipSettings
{
  QmOwnershipParts parts; /* those that count */
  char currency[4];
  double lifetime_years; /* > 0, at most 50 */
  gint64 discount_ppm;   /* of the price; at most all of it */
  gint64 shipping_minor; /* a machine */
  gint64 tax_ppm;
  gboolean tax_included; /* the price contains it: none is added; a rent does
                            not */
  gint64 overhead_ppm;
  gint64 overhead_threshold_minor; /* a unit from this on draws none */
  gint64 residual_ppm;    /* of the net price, at the end of the life */
  gint64 utilization_ppm; /* of all hours that the GPUs are in use; at most all;
                             also the hours that would be rented */
  gint64 idle_ppm;        /* of a GPU's full power, when it is not */
  gint64 rest_ppm;        /* what the rest of a machine draws, of its GPUs',
                             where nothing is stated of it */
  gint64 pue_ppm;         /* power usage effectiveness; at least 1 */
  gint64 kwh_micros;      /* price of a kWh, millionths of the major unit */
  gint64 hosting_machine_minor; /* a month, for each machine, */
  gint64 hosting_kw_minor;      /* for each kW that it draws at most, */
  gint64 hosting_unit_minor;    /* and for each rack unit */
  int rack_units;               /* of a machine of which none are stated */
  gint64 support_ppm;           /* of the net price, a year */
};

/* Price alone, USD, and the documented defaults of everything else. */
QmOwnershipSettings qm_ownership_settings_default (void);

/* Sets one assumption by the key that qm_ownership_assumptions() lists, for
 * files and command lines: "pue" to "1.2", "tax" to "19" (percent), "kwh" to
 * "0.31".
 *
 * value: a plain decimal in the C locale, in the unit that the list has.
 *
 * Returns: FALSE with QM_OWNERSHIP_ERROR_SETTING, with *settings as it was, for
 *   another key or no number.  Whether the number makes sense is looked at when
 *   it is computed with. */
gboolean qm_ownership_settings_set (QmOwnershipSettings *settings,
                                    const char *key,
                                    const char *value,
                                    GError **error);

/* The name of a part for files and command lines: "electricity"; NULL for
 * anything but one part; static. */
const char *qm_ownership_part_name (QmOwnershipParts part);

/* The part of that name; 0 where there is none. */
QmOwnershipParts qm_ownership_part_of_name (const char *name);

/* The parts that are switched on, as people read them: "tax, electricity".
 *
 * Returns: (transfer full): NULL where it is the price alone. */
char *qm_ownership_describe_parts (const QmOwnershipSettings *settings);

/* One thing that is assumed, for a list on a screen or in a report. */
typedef struct
{
  const char *key; /* "pue"; for files */
  char *name;
  char *value; /* as people read it, without the unit */
  char *unit;  /* may be empty */
  char *source;
  QmOwnershipParts part; /* that it belongs to; 0: to all */
  gboolean counts;       /* whether that part is switched on */
  gboolean changed;      /* the user's own: differs from the default */
} QmAssumption;

/* Returns: (transfer full): of QmAssumption, in the order of the sum. */
GPtrArray *qm_ownership_assumptions (const QmOwnershipSettings *settings);

/* The value of one assumption by its key, in the unit that the list has; NaN
 * where there is no such key. */
double qm_ownership_get (const QmOwnershipSettings *settings, const char *key);

/* What is owned. */
typedef struct
{
  QmMoney price; /* of all machines with their GPUs */
  int machines;
  int gpus;           /* in one machine */
  double gpu_watts;   /* of one at full power; NaN: unknown */
  double wall_watts;  /* of a machine at full load, as the catalog states; 0:
                         it states nothing */
  int rack_units;     /* of a machine, likewise */
  gboolean here;      /* not to be bought: nothing is shipped */
  gboolean rack;      /* machines for a rack, which somebody hosts; others stand
                         on a desk */
  gint64 taxed_minor; /* of the price, what contains tax already: none is added
                         to that */
} QmOwned;

/* What a candidate of an advice buys.
 *
 * Returns: FALSE where it has no price. */
gboolean qm_owned_of_candidate (const QmCandidate *candidate, QmOwned *owned);

/* What a number of a machine is from. */
typedef enum
{
  QM_BASIS_ASSUMED, /* the default: nothing is stated of the machine */
  QM_BASIS_STATED,  /* the catalog states it of the machine */
  QM_BASIS_OWN      /* an assumption that the user set to another value */
} QmOwnershipBasis;

/* What one machine draws at full load, in watts; NaN where that of its GPUs is
 * needed and unknown.  `basis` may be NULL. */
double qm_ownership_machine_watts (const QmOwnershipSettings *settings,
                                   const QmOwned *owned,
                                   QmOwnershipBasis *basis);

/* How many rack units one machine takes.  `basis` may be NULL. */
int qm_ownership_rack_units (const QmOwnershipSettings *settings,
                             const QmOwned *owned,
                             QmOwnershipBasis *basis);

/* The same as sentences for people, with what they are from.
 *
 * Returns: (transfer full): NULL where no amount rests on it. */
char *qm_ownership_power_text (const QmOwnershipSettings *settings,
                               const QmOwned *owned);
char *qm_ownership_units_text (const QmOwnershipSettings *settings,
                               const QmOwned *owned);

/* Whether amounts contain a tax, as a sentence.  (transfer full) */
char *qm_ownership_tax_text (const QmOwnershipSettings *settings,
                             const QmOwned *owned);

/* What qm_ownership_assumptions() lists, of these machines: what the catalog
 * states of them does not count as assumed.
 *
 * Returns: (transfer full): of QmAssumption. */
GPtrArray *qm_ownership_assumptions_of (const QmOwnershipSettings *settings,
                                        const QmOwned *owned);

/* The sum, in minor units over the whole life.  A part that is switched off is
 * 0; discount and residual value are negative. */
typedef struct
{
  char currency[4];
  double lifetime_years;
  int machines;
  gint64 price;
  gint64 discount;
  gint64 shipping;
  gint64 tax;
  gint64 overhead; /* on all that draws it */
  gint64 residual;
  gint64 electricity;
  gint64 hosting;
  gint64 support;
  gint64 total;
  gint64 begin;        /* what is paid when it is bought */
  gint64 month_micros; /* what each month costs then, millionths of the major
                          unit */
  double kwh;          /* over the life, with PUE; NaN where not asked for */
  gboolean exempt;     /* the machines draw no overhead */
} QmOwnership;

#define QM_OWNERSHIP_ERROR (qm_ownership_error_quark ())
GQuark qm_ownership_error_quark (void);

typedef enum
{
  QM_OWNERSHIP_ERROR_SETTING,  /* an assumption that cannot be */
  QM_OWNERSHIP_ERROR_CURRENCY, /* amounts in different ones */
  QM_OWNERSHIP_ERROR_UNKNOWN,  /* electricity of GPUs of unknown power */
  QM_OWNERSHIP_ERROR_COUNT,    /* as many GPUs cannot be rented */
  QM_OWNERSHIP_ERROR_RANGE     /* absurdly large */
} QmOwnershipError;

/* Returns: FALSE with QM_OWNERSHIP_ERROR. */
gboolean qm_ownership_compute (const QmOwnershipSettings *settings,
                               const QmOwned *owned,
                               QmOwnership *ownership,
                               GError **error);

/* The share of an experiment that keeps a machine busy for so many days, in
 * major units: one machine's total, by days, over its life.  With the price
 * alone, that is what candidates have as `experiment_cost`. */
double qm_ownership_experiment_cost (const QmOwnership *ownership,
                                     double machine_days);

/* What can be rented in its place. */
typedef struct
{
  gint64 hour_micros; /* an hour of `gpus` GPUs */
  char currency[4];
  int gpus; /* that are rented together: 8 for an instance with eight, 1 where
               each is rented on its own */
} QmRent;

/* What a price of the catalog rents.
 *
 * Returns: FALSE where it is not one for an hour. */
gboolean qm_rent_of_price (const QmPrice *price, QmRent *rent);

/* At which prices of the catalog GPUs of a type can be rented: of each source
 * the newest, the cheapest per GPU first, since between a market of private
 * hosts and a large cloud there is a factor of ten.
 *
 * Returns: (transfer container): of const QmPrice, which are the catalog's. */
GPtrArray *qm_rent_prices (const QmCatalog *catalog,
                           const char *gpu,
                           const char *currency);

typedef enum
{
  QM_BREAK_EVEN_REACHED,    /* owning is cheaper from that month on */
  QM_BREAK_EVEN_AFTER_LIFE, /* it would be, but the machines do not last so
                               long */
  QM_BREAK_EVEN_NEVER       /* renting costs less every month */
} QmBreakEven;

typedef struct
{
  QmBreakEven outcome;
  double months;       /* NaN where never */
  gint64 whole_months; /* the first month at whose end owning has cost no more;
                          -1 where never */
  int instances;       /* rented at a time, to have as many GPUs */
  gint64 rent_month_micros; /* at the use of the settings, with tax and
                               overhead */
  gint64 own_month_micros;
  gint64 own_begin_minor; /* with the residual value taken off */
} QmOwnOrRent;

/* Compares at settings->utilization_ppm the same number of GPUs: where they are
 * rented eight together, none is held against one that is owned
 * (QM_OWNERSHIP_ERROR_COUNT).  The residual value counts as at the
 * end of the life, although machines sold earlier would bring more: so owning
 * is not flattered.
 *
 * Returns: FALSE with QM_OWNERSHIP_ERROR. */
gboolean qm_ownership_compare_rent (const QmOwnershipSettings *settings,
                                    const QmOwned *owned,
                                    const QmRent *rent,
                                    QmOwnOrRent *comparison,
                                    GError **error);

/* What it costs to rent `gpus` GPUs for so many days, in major units, without
 * overhead; whole instances are paid. */
double qm_rent_experiment_cost (const QmRent *rent, int gpus, double days);

G_END_DECLS
