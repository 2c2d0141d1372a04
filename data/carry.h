/* SPDX-License-Identifier: Apache-2.0 */

/* Whether a platform carries GPUs: by what it takes, by the slots and their
 * width, by what each card and all of them draw, by host memory, and by the
 * power of the room.  What is not known of a platform or GPU, and would decide,
 * keeps it from being offered: a machine that may not run is none to buy. */

#ifndef QM_DATA_CARRY_H
#define QM_DATA_CARRY_H

#include "data/catalog.h"

/* The first thing that does not fit, in this order. */
typedef enum QmCarryProblem
{
  QM_CARRY_NONE,      /* it fits */
  QM_CARRY_SOLD_WITH, /* one comes with GPUs, and these are others; or these are
                       sold only in machines of their own */
  QM_CARRY_COUNT,     /* too many; of what is sold whole, too few as well */
  QM_CARRY_COOLING,   /* does not take cards that are cooled so */
  QM_CARRY_WIDTH,     /* cards are wider than the slots */
  QM_CARRY_CARD_WATTS, /* a card draws more than its place gives */
  QM_CARRY_SUPPLIES,   /* all together draw more than the supplies give */
  QM_CARRY_MEMORY,     /* less host memory than is needed */
  QM_CARRY_CIRCUIT,    /* the room's power does not suffice */
  QM_CARRY_UNKNOWN,    /* what would decide is not stated */
  QM_N_CARRY_PROBLEMS
} QmCarryProblem;

typedef struct QmCarry
{
  QmCarryProblem problem;
  /* Of what does not fit: GPUs, slots, watts or GiB; NaN for what has no
   * number. */
  double needed, available;
  /* What the machine draws from the wall with all of them at work; NaN where
   * not known. */
  double wall_watts;
} QmCarry;

/* Supplies without a spare are loaded to this share and no more: the rest is
 * for what GPUs draw for some milliseconds beyond their rating, and for age.
 * (Of 1,000 W, NVIDIA's requirement for a machine with one GeForce RTX 5090,
 * its 575 W and a host of 200 W are 0.78.)  Where there are spare ones, which
 * carry those peaks, the others must give all of it. */
#define QM_CARRY_SUPPLY_SHARE 0.9

/* What supplies deliver of what they draw; 80 PLUS Platinum asks for 0.92 at
 * half load and 0.89 at all of it, at 115 V; 0.94 and 0.91 at 230 V. */
#define QM_CARRY_SUPPLY_EFFICIENCY 0.92

/* "count", "cooling", ... as programs read it, empty for none; static. */
const char *qm_carry_problem_name (QmCarryProblem problem);

/* What a place of `platform` moves of what such a card does: both use the older
 * generation of PCIe, of which each doubles what a lane moves, and the fewer
 * lanes.  NaN where that is not known. */
double qm_carry_share_of_lanes (const QmPlatform *platform, const QmGpu *gpu);

/* Whether `platform` carries `gpus` of `gpu` where training needs `memory_gib`
 * of host memory (0: any) and the circuits give `circuit_watts` (INFINITY:
 * enough). Of what is sold with its GPUs the maker answers for slots, cards and
 * supplies.
 */
QmCarry qm_carry (const QmPlatform *platform,
                  const QmGpu *gpu,
                  int gpus,
                  double memory_gib,
                  double circuit_watts);

#endif
