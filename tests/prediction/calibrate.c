/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/prediction/calibrate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What intervals ought to cover, and the least and the most that they may. */
#define COVERED 0.9
#define LEAST   0.85
#define MOST    0.98

/* What just is in an interval here ought to be when errors are made anew, which
 * left-out.csv rounds to thousandths. */
#define NEARLY 0.001

/* A step in which intervals become narrower, and how many rates have to tell
 * that they are too wide: of fewer one more is several percent. */
#define NARROWER 0.99
#define TELLING  20

/* Fewer rates on cards tell nothing of how far they are off, nor do those of
 * one source, whose errors have as much in common as cards may have. */
#define MANY    8
#define SOURCES 2

static bool
is_on_card (const Rate *rate, const char *level)
{
  return !rate->held && rate->defect[0] == '\0'
         && strcmp (level_of (rate), level) == 0
         && strcmp (carrier_of (rate), "card") == 0;
}

static size_t
count_cards (const Rates *rates, const char *level, size_t *sources)
{
  size_t n = 0;

  *sources = 0;
  for (size_t i = 0; i < rates->n; i++)
    {
      bool first = true;

      if (!is_on_card (&rates->rates[i], level))
        continue;
      for (size_t j = 0; j < i && first; j++)
        first = !is_on_card (&rates->rates[j], level)
                || strcmp (source_of (&rates->rates[j]),
                           source_of (&rates->rates[i]))
                       != 0;
      *sources += first;
      n++;
    }
  return n;
}

/* What is known of how far a level is off on cards. */
typedef enum Cards
{
  CARDS_FEW,      /* nothing */
  CARDS_TOGETHER, /* not apart from boards */
  CARDS_APART
} Cards;

static Cards
cards_of (const Rates *rates, const char *level)
{
  size_t sources, n = count_cards (rates, level, &sources);

  return n < MANY            ? CARDS_FEW
         : sources < SOURCES ? CARDS_TOGETHER
                             : CARDS_APART;
}

/* What intervals of a level cover of unseen errors: the least of all kinds, or
 * the most; NaN where too few rates tell. */
static double
covered_by (const Rates *rates,
            const LeftOut *left_out,
            const QmCalibration *calibration,
            const char *level,
            bool most)
{
  const Group group = { .level = level,
                        .key = place_of,
                        .value = "not offloaded" };
  double covered = NAN;

  for (int k = 0; k < N_WITHOUT; k++)
    {
      Summary is = summarize (rates, left_out->errors[k], left_out->left[k],
                              calibration, &group);

      if (is.n < TELLING)
        return NAN;
      covered = most ? fmax (covered, is.covered) : fmin (covered, is.covered);
    }
  return covered;
}

/* Makes both intervals of a level narrower while they cover more of a kind of
 * unseen errors than they ought to, and of none less than they may. */
static void
narrow (const Rates *rates,
        const LeftOut *left_out,
        QmCalibration *calibration,
        QmLevel *level)
{
  double *spread = &level->constants[QM_CONSTANT_SPREAD];
  double *cards = &level->constants[QM_CONSTANT_SPREAD_CARDS];

  while (covered_by (rates, left_out, calibration, level->name, true) > MOST)
    {
      *spread *= NARROWER;
      *cards *= NARROWER;
      if (covered_by (rates, left_out, calibration, level->name, false)
          >= LEAST)
        continue;
      *spread /= NARROWER;
      *cards /= NARROWER;
      return;
    }
}

void
set_spreads (const Rates *rates,
             const LeftOut *left_out,
             QmCalibration *calibration)
{
  Unseen unseen[N_WITHOUT];
  double wider = 0, levels = 0;

  for (int k = 0; k < N_WITHOUT; k++)
    unseen[k] = (Unseen){ left_out->errors[k], left_out->left[k] };

  for (size_t i = 0; i < calibration->n_levels; i++)
    {
      QmLevel *level = &calibration->levels[i];
      double *spread = &level->constants[QM_CONSTANT_SPREAD];
      double *cards = &level->constants[QM_CONSTANT_SPREAD_CARDS];
      Cards known = cards_of (rates, level->name);

      *spread = NEARLY
                + spread_of (rates, unseen, N_WITHOUT, level->name,
                             known == CARDS_TOGETHER ? NULL : "board", COVERED,
                             LEAST);
      *cards = *spread;
      if (known != CARDS_APART)
        continue;
      /* Fewer rates than boards have say no more than they do: cards differ by
       * what boards differ by, too. */
      *cards = fmax (NEARLY
                         + spread_of (rates, unseen, N_WITHOUT, level->name,
                                      "card", COVERED, LEAST),
                     *spread);
      wider += log (*cards / *spread);
      levels++;
    }
  wider = levels > 0 ? exp (wider / levels) : 1;
  for (size_t i = 0; i < calibration->n_levels; i++)
    if (cards_of (rates, calibration->levels[i].name) == CARDS_FEW)
      calibration->levels[i].constants[QM_CONSTANT_SPREAD_CARDS] *= wider;
  for (size_t i = 0; i < calibration->n_levels; i++)
    narrow (rates, left_out, calibration, &calibration->levels[i]);
}

/* One constant.  What did not move rests on what it began with. */
static void
write_constant (const Basis *basis,
                const char *scope,
                const char *name,
                const char *constant,
                double value,
                double prior)
{
  printf ("%s,%s,%s,%.4g,%s\n", scope, name, constant, value,
          fabs (value / prior - 1) > 1e-3
              ? BASIS_FIT
              : basis_of (basis, scope, name, constant));
}

static void
write_levels (const QmCalibration *c,
              const QmCalibration *prior,
              const Basis *basis)
{
  for (size_t i = 0; i < c->n_levels; i++)
    for (int j = 0; j < QM_N_CONSTANTS; j++)
      write_constant (basis, "level", c->levels[i].name,
                      qm_constant_name ((QmConstant) j),
                      c->levels[i].constants[j], prior->levels[i].constants[j]);
}

static void
write_generations (const QmCalibration *c,
                   const QmCalibration *prior,
                   const Basis *basis)
{
  for (size_t i = 0; i < c->n_generations; i++)
    {
      char name[16];

      snprintf (name, sizeof name, "%d", c->generations[i].architecture);
      write_constant (basis, "generation", name, "joules-per-flop",
                      c->generations[i].joules_per_flop,
                      prior->generations[i].joules_per_flop);
      write_constant (basis, "generation", name, "clock",
                      c->generations[i].clock, prior->generations[i].clock);
    }
}

void
write_calibration (const QmCalibration *c,
                   const QmCalibration *prior,
                   const Basis *basis)
{
  const QmPower *power = &c->power, *before = &prior->power;

  puts ("scope,name,constant,value,basis");
  write_levels (c, prior, basis);
  write_generations (c, prior, basis);
  write_constant (basis, "power", "all", "tf32", power->tf32, before->tf32);
  write_constant (basis, "power", "all", "fp32", power->fp32, before->fp32);
  write_constant (basis, "power", "all", "joules-per-byte",
                  power->joules_per_byte, before->joules_per_byte);
  write_constant (basis, "power", "all", "inner", power->inner, before->inner);
  write_constant (basis, "power", "all", "exponent", power->exponent,
                  before->exponent);
  write_constant (basis, "power", "all", "base", power->base, before->base);
  write_constant (basis, "products", "all", "half-rate", c->half_rate,
                  prior->half_rate);
  write_constant (basis, "link", "all", "nvlink", c->nvlink, prior->nvlink);
  write_constant (basis, "link", "all", "pcie", c->pcie, prior->pcie);
  write_constant (basis, "link", "all", "pcie-host", c->pcie_host,
                  prior->pcie_host);
  write_constant (basis, "link", "all", "latency-s", c->latency,
                  prior->latency);
  write_constant (basis, "link", "all", "hidden", c->hidden, prior->hidden);
  write_constant (basis, "gpus", "all", "differ", c->differ, prior->differ);
  write_constant (basis, "host", "all", "copies", c->host.copies,
                  prior->host.copies);
  write_constant (basis, "host", "all", "add-s", c->host.add, prior->host.add);
  write_constant (basis, "host", "all", "adam-s", c->host.adam,
                  prior->host.adam);
}
