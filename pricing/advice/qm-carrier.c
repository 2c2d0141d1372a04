/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-carrier.h"

#include <math.h>
#include <string.h>

/* Memory is bought in modules of at least that, in GiB. */
#define MODULE_GIB 16

#define MAX_MICROS 9e18

/* What prices add up to, in millionths, and the squares of how far they may be
 * below and above. */
typedef struct
{
  gint64 micros;
  double below, above;
  gboolean broken; /* beyond an int64 */
} Sum;

struct _QmCarriers
{
  const QmCatalog *catalog;
  const QmQuestion *question;
  GHashTable *prices; /* item -> const QmPrice*, NULL where there is none */
  GHashTable *offers; /* item -> const QmOffer*, where its price is one's */
  double spread;
};

/* One way to carry GPUs. */
typedef struct
{
  const QmPlatform *platform;
  const QmMachine *machine;
  QmCarry carry;
  const QmPrice *price;
  const QmPrice *memory_price;
  double extra_gib;
  Sum sum;       /* without GPUs that are not contained */
  gboolean weak; /* nobody is known to sell it at that, and that matters */
} Way;

QmCarriers *
qm_carriers_new (const QmCatalog *catalog, const QmQuestion *question)
{
  QmCarriers *carriers = g_new0 (QmCarriers, 1);

  carriers->catalog = catalog;
  carriers->question = question;
  carriers->prices = g_hash_table_new (g_str_hash, g_str_equal);
  carriers->offers = g_hash_table_new (g_str_hash, g_str_equal);
  if (question->today.year > 0)
    carriers->spread = qm_price_spread (catalog, NULL);
  return carriers;
}

void
qm_carriers_free (QmCarriers *carriers)
{
  if (carriers == NULL)
    return;
  g_hash_table_unref (carriers->prices);
  g_hash_table_unref (carriers->offers);
  g_free (carriers);
}

static const QmPrice *
price_of (QmCarriers *carriers, const char *item, QmPriceUnit unit)
{
  QmOffers *offers = carriers->question->offers;
  const QmOffer *offer = NULL;
  gpointer price;

  if (g_hash_table_lookup_extended (carriers->prices, item, NULL, &price))
    return price;
  if (offers != NULL)
    offer = qm_offers_find (offers, item, carriers->question->expired_offers);
  if (offer != NULL)
    g_hash_table_insert (carriers->offers, (gpointer) item, (gpointer) offer);
  price = offer != NULL ? (gpointer) &offer->price
                        : (gpointer) qm_price_choose (
                            carriers->catalog, carriers->question->rates, item,
                            unit, qm_question_price_basis (carriers->question));
  g_hash_table_insert (carriers->prices, (gpointer) item, price);
  return price;
}

/* The price of an item that counts, looked up once, or NULL; a quote's goes
 * before the catalog's.  `offer` (may be NULL) becomes the quote that it is of,
 * or NULL. */
static const QmPrice *
offered_price (QmCarriers *carriers, const char *item, const QmOffer **offer)
{
  const QmPrice *price;

  g_return_val_if_fail (carriers != NULL && item != NULL, NULL);

  price = price_of (carriers, item, QM_PRICE_EACH);
  if (offer != NULL)
    *offer = g_hash_table_lookup (carriers->offers, item);
  return price;
}

gboolean
qm_carriers_allow_kind (const QmQuestion *question, QmMachineKind kind)
{
  return (question->kinds
          & (kind == QM_MACHINE_DESKTOP ? QM_KINDS_DESKTOP : QM_KINDS_SERVER))
         != 0;
}

static gboolean
form_allowed (const QmQuestion *question, QmPlatformForm form)
{
  return qm_carriers_allow_kind (question, form == QM_PLATFORM_RACK
                                               ? QM_MACHINE_SERVER
                                               : QM_MACHINE_DESKTOP);
}

void
qm_carriers_interval (const QmCarriers *carriers,
                      const QmPrice *price,
                      const QmOffer *offer,
                      gint64 *low,
                      gint64 *high)
{
  gboolean exact = offer != NULL && offer->holds;

  qm_price_interval (price, carriers->question->rates,
                     exact ? 0 : carriers->spread, carriers->question->today,
                     low, high);
}

/* Whether a price counts only where nothing else is known. */
static gboolean
is_last_resort (const QmCarriers *carriers, const QmPrice *price)
{
  return qm_question_price_basis (carriers->question) == QM_PRICES_CURRENT
         && qm_price_is_weak (price);
}

/* Adds so many of what has that price. */
static void
add_priced (const QmCarriers *carriers,
            Sum *sum,
            const QmPrice *price,
            gint64 n)
{
  gint64 one = qm_price_counted_micros (price, carriers->question->rates);
  gint64 all, low, high;

  qm_carriers_interval (carriers, price,
                        g_hash_table_lookup (carriers->offers, price->item),
                        &low, &high);
  sum->broken |= __builtin_mul_overflow (one, n, &all)
                 || __builtin_add_overflow (sum->micros, all, &sum->micros);
  sum->below += pow ((double) (one - low) * (double) n, 2);
  sum->above += pow ((double) (high - one) * (double) n, 2);
}

/* The memory that a platform has to be given, in whole modules.  FALSE: it is
 * not known what that costs. */
static gboolean
add_memory (QmCarriers *carriers, Way *way, double host_gib)
{
  const QmPlatform *platform = way->platform;
  const char *item;

  if (!(host_gib > 0)
      || (qm_known (platform->memory_gib) && host_gib <= platform->memory_gib))
    return TRUE;
  item = qm_memory_kind_item (platform->memory_kind);
  if (!qm_known (platform->memory_gib) || item == NULL)
    return FALSE;
  way->memory_price = price_of (carriers, item, QM_PRICE_GIB);
  if (way->memory_price == NULL)
    return FALSE;
  way->extra_gib =
      ceil ((host_gib - platform->memory_gib) / MODULE_GIB) * MODULE_GIB;
  add_priced (carriers, &way->sum, way->memory_price, (gint64) way->extra_gib);
  return TRUE;
}

static Way
way_of_platform (QmCarriers *carriers,
                 const QmPlatform *platform,
                 const QmCandidate *candidate)
{
  Way way = { .platform = platform };

  way.carry =
      qm_carry (platform, candidate->gpu, candidate->gpus, candidate->host_gib,
                carriers->question->room_watts / candidate->machines);
  if (way.carry.problem != QM_CARRY_NONE)
    return way;
  way.price = price_of (carriers, platform->id, QM_PRICE_EACH);
  if (way.price == NULL)
    return way;
  add_priced (carriers, &way.sum, way.price, 1);
  way.weak = is_last_resort (carriers, way.price);
  if (!add_memory (carriers, &way, candidate->host_gib))
    way.price = NULL;
  return way;
}

/* Whether `a` is more of an answer than `b`: one with a price before one
 * without, one that somebody sells before one that is only claimed or used, the
 * cheapest first; then what goes furthest. */
static gboolean
is_better_way (const Way *a, const Way *b)
{
  if ((a->price != NULL) != (b->price != NULL))
    return a->price != NULL;
  if (a->price != NULL && a->weak != b->weak)
    return b->weak;
  if (a->price != NULL)
    return a->sum.micros < b->sum.micros;
  if ((a->carry.problem == QM_CARRY_NONE)
      != (b->carry.problem == QM_CARRY_NONE))
    return a->carry.problem == QM_CARRY_NONE;
  return a->carry.problem > b->carry.problem;
}

static void
look_at_way (Way *best, const Way *way)
{
  gboolean found = best->platform != NULL || best->machine != NULL;

  if (!way->sum.broken && (!found || is_better_way (way, best)))
    *best = *way;
}

QmCarry
qm_carriers_quoted (const QmQuestion *question, const QmCandidate *candidate)
{
  QmCarry carry = { QM_CARRY_NONE, NAN, NAN, NAN };
  double watts =
      candidate->gpus * candidate->gpu->tdp_w / QM_CARRY_SUPPLY_EFFICIENCY;
  double room = question->room_watts / candidate->machines;

  /* The least that it draws; an unknown number decides nothing. */
  if (watts > room)
    carry = (QmCarry){ QM_CARRY_CIRCUIT, watts, room, watts };
  return carry;
}

/* The machines of the paper, or those that the user has quotes of. */
static void
look_at_machines (QmCarriers *carriers, const QmCandidate *candidate, Way *best)
{
  size_t n;
  const QmMachine *machines = qm_catalog_machines (carriers->catalog, &n);
  gboolean paper = carriers->question->as_in_paper;

  for (size_t i = 0; i < n; i++)
    {
      Way way = { .machine = &machines[i],
                  .carry = qm_carriers_quoted (carriers->question, candidate) };
      const QmOffer *offer;

      if (machines[i].gpus < candidate->gpus
          || !qm_carriers_allow_kind (carriers->question, machines[i].kind))
        continue;
      way.price = offered_price (carriers, machines[i].id, &offer);
      if (way.price == NULL || (!paper && offer == NULL)
          || (!paper && qm_gpu_is_mezzanine (candidate->gpu)))
        continue;
      if (way.carry.problem == QM_CARRY_NONE)
        add_priced (carriers, &way.sum, way.price, 1);
      else
        way.price = NULL;
      look_at_way (best, &way);
    }
}

static void
look_at_platforms (QmCarriers *carriers,
                   const QmCandidate *candidate,
                   Way *best)
{
  size_t n;
  const QmPlatform *platforms = qm_catalog_platforms (carriers->catalog, &n);

  for (size_t i = 0; i < n; i++)
    if (form_allowed (carriers->question, platforms[i].form))
      {
        Way way = way_of_platform (carriers, &platforms[i], candidate);

        look_at_way (best, &way);
      }
}

static gint64
cents (double micros)
{
  return qm_money_from_micros ((gint64) CLAMP (micros, 0, MAX_MICROS), "USD")
      .minor;
}

/* The prices of a candidate, in cents; -1 where the sum is absurd. */
static gint64
in_cents (const Sum *sum, gint64 *low, gint64 *high)
{
  if (sum->broken)
    return -1;
  *low = cents ((double) sum->micros - sqrt (sum->below));
  *high = cents ((double) sum->micros + sqrt (sum->above));
  return qm_money_from_micros (sum->micros, "USD").minor;
}

gint64
qm_carriers_find (QmCarriers *carriers,
                  QmCandidate *candidate,
                  gint64 *low,
                  gint64 *high)
{
  Way best = { .carry = { QM_CARRY_SOLD_WITH, NAN, NAN, NAN } };
  gboolean whole;

  g_return_val_if_fail (carriers != NULL && candidate != NULL, -1);
  g_return_val_if_fail (low != NULL && high != NULL, -1);

  *low = *high = -1;
  look_at_machines (carriers, candidate, &best);
  if (!carriers->question->as_in_paper)
    look_at_platforms (carriers, candidate, &best);
  candidate->platform = best.platform;
  candidate->machine = best.machine;
  candidate->carry = best.carry;
  if (best.carry.problem != QM_CARRY_NONE)
    {
      candidate->gpu_price =
          offered_price (carriers, candidate->gpu->id, &candidate->gpu_offer);
      candidate->weak = candidate->gpu_price != NULL
                        && qm_price_is_weak (candidate->gpu_price);
      return -1;
    }
  whole = best.platform != NULL && *best.platform->sold_with != '\0';
  candidate->gpu_price = whole ? NULL
                               : offered_price (carriers, candidate->gpu->id,
                                                &candidate->gpu_offer);
  if (best.price == NULL || (!whole && candidate->gpu_price == NULL))
    return -1;
  offered_price (carriers, best.price->item, &candidate->machine_offer);
  candidate->machine_price = best.price;
  candidate->memory_price = best.memory_price;
  candidate->extra_gib = best.extra_gib;
  candidate->weak = qm_price_is_weak (best.price)
                    || (candidate->gpu_price != NULL
                        && qm_price_is_weak (candidate->gpu_price));
  if (candidate->gpu_price != NULL)
    add_priced (carriers, &best.sum, candidate->gpu_price, candidate->gpus);
  return in_cents (&best.sum, low, high);
}
