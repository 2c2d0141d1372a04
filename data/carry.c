/* SPDX-License-Identifier: Apache-2.0 */

#include "data/carry.h"

#include <math.h>
#include <string.h>

const char *
qm_carry_problem_name (QmCarryProblem what)
{
  static const char *const names[QM_N_CARRY_PROBLEMS] = {
    "",           "sold-with", "count",  "cooling", "width",
    "card-watts", "supplies",  "memory", "circuit", "unknown",
  };

  return names[what];
}

static QmCarry
problem (QmCarryProblem what, double needed, double available)
{
  return (QmCarry){ what, needed, available, NAN };
}

static QmCarry
no_problem (void)
{
  return problem (QM_CARRY_NONE, NAN, NAN);
}

/* Whether no more is needed than is available; an unknown number decides
 * against. */
static QmCarry
at_most (QmCarryProblem what, double needed, double available)
{
  if (!qm_known (needed) || !qm_known (available))
    return problem (QM_CARRY_UNKNOWN, needed, available);
  return needed <= available ? no_problem ()
                             : problem (what, needed, available);
}

static bool
is_card (const QmGpu *gpu)
{
  return gpu->cooling >= QM_GPU_COOLING_OPEN
         && gpu->cooling <= QM_GPU_COOLING_PASSIVE;
}

/* One that comes with its GPUs. */
static QmCarry
fit_whole (const QmPlatform *platform, const QmGpu *gpu, int gpus)
{
  if (strcmp (platform->sold_with, gpu->id) != 0)
    return problem (QM_CARRY_SOLD_WITH, NAN, NAN);
  if (gpus != platform->gpus)
    return problem (QM_CARRY_COUNT, gpus, platform->gpus);
  return no_problem ();
}

/* One that takes cards.  With every second place empty they may be twice as
 * wide. */
static QmCarry
fit_cards (const QmPlatform *platform, const QmGpu *gpu, int gpus)
{
  QmCarry fit;

  if (gpu->cooling == QM_GPU_COOLING_UNSTATED)
    return problem (QM_CARRY_UNKNOWN, NAN, NAN);
  if (!is_card (gpu))
    return problem (QM_CARRY_SOLD_WITH, NAN, NAN);
  if (gpus > platform->gpus)
    return problem (QM_CARRY_COUNT, gpus, platform->gpus);
  if ((platform->takes & 1u << gpu->cooling) == 0)
    return problem (QM_CARRY_COOLING, NAN, NAN);
  fit = at_most (QM_CARRY_WIDTH, gpu->slot_width,
                 platform->slot_width * (platform->gpus / gpus));
  if (fit.problem == QM_CARRY_NONE)
    fit = at_most (QM_CARRY_CARD_WATTS, gpu->tdp_w, platform->gpu_watts);
  if (fit.problem == QM_CARRY_NONE)
    fit = at_most (
        QM_CARRY_SUPPLIES, gpus * gpu->tdp_w + platform->host_watts,
        platform->psus == 0
            ? NAN
            : platform->psu_watts * (platform->psus - platform->psu_spare)
                  * (platform->psu_spare > 0 ? 1 : QM_CARRY_SUPPLY_SHARE));
  return fit;
}

/* The host's memory: as much as is needed must go in. */
static QmCarry
fit_memory (const QmPlatform *platform, double memory_gib)
{
  double most = qm_known (platform->memory_max_gib) ? platform->memory_max_gib
                                                    : platform->memory_gib;

  return memory_gib > 0 ? at_most (QM_CARRY_MEMORY, memory_gib, most)
                        : no_problem ();
}

double
qm_carry_share_of_lanes (const QmPlatform *platform, const QmGpu *gpu)
{
  double older = fmin (platform->pcie_generation, gpu->pcie_generation);
  double fewer = fmin (platform->pcie_lanes, gpu->pcie_lanes);

  /* fmin() passes over what is not known. */
  if (!qm_known (platform->pcie_generation * platform->pcie_lanes
                 * gpu->pcie_generation * gpu->pcie_lanes))
    return NAN;
  return exp2 (older - gpu->pcie_generation) * fewer / gpu->pcie_lanes;
}

QmCarry
qm_carry (const QmPlatform *platform,
          const QmGpu *gpu,
          int gpus,
          double memory_gib,
          double circuit_watts)
{
  double wall =
      (gpus * gpu->tdp_w + platform->host_watts) / QM_CARRY_SUPPLY_EFFICIENCY;
  QmCarry fit;

  if (gpus < 1)
    return problem (QM_CARRY_COUNT, gpus, platform->gpus);
  fit = *platform->sold_with != '\0' ? fit_whole (platform, gpu, gpus)
                                     : fit_cards (platform, gpu, gpus);
  if (fit.problem == QM_CARRY_NONE)
    fit = fit_memory (platform, memory_gib);
  if (fit.problem == QM_CARRY_NONE && !isinf (circuit_watts))
    fit = at_most (QM_CARRY_CIRCUIT, wall, circuit_watts);
  fit.wall_watts = wall;
  return fit;
}
