/* SPDX-License-Identifier: Apache-2.0 */

/* What a platform carries: each way of not fitting, what is unknown, and over
 * the shipped catalog that whatever fits really does. */

#include "data/carry.h"
#include "tests/data/check.h"

#include <stdlib.h>
#include <string.h>

/* 4U for eight two-slot server cards, three of whose four supplies suffice. */
static QmPlatform
rack (void)
{
  return (QmPlatform){ .id = "rack",
                       .sold_with = "",
                       .gpus = 8,
                       .takes = 1u << QM_GPU_COOLING_PASSIVE
                                | 1u << QM_GPU_COOLING_OPEN,
                       .slot_width = 2,
                       .gpu_watts = 600,
                       .psu_watts = 2000,
                       .psus = 4,
                       .psu_spare = 1,
                       .host_watts = 1000,
                       .memory_gib = 512,
                       .memory_max_gib = 4096 };
}

static QmGpu
card (QmGpuCooling cooling, double width, double watts)
{
  return (QmGpu){
    .id = "card", .cooling = cooling, .slot_width = width, .tdp_w = watts
  };
}

static void
check_fit (const QmPlatform *platform,
           const QmGpu *gpu,
           int gpus,
           QmCarryProblem expected,
           double needed,
           double available)
{
  QmCarry fit = qm_carry (platform, gpu, gpus, 0, INFINITY);

  CHECK_INT (fit.problem, expected);
  if (qm_known (needed))
    CHECK_NEAR (fit.needed, needed, 1e-9);
  if (qm_known (available))
    CHECK_NEAR (fit.available, available, 1e-9);
}

static void
test_cards (void)
{
  QmPlatform platform = rack ();
  QmGpu server = card (QM_GPU_COOLING_PASSIVE, 2, 350);
  QmGpu consumer = card (QM_GPU_COOLING_OPEN, 3.5, 575);
  QmGpu workstation = card (QM_GPU_COOLING_BLOWER, 2, 300);
  QmGpu hot = card (QM_GPU_COOLING_PASSIVE, 2, 700);
  QmGpu module = card (QM_GPU_COOLING_BOARD, NAN, 700);

  check_case ("cards");
  check_fit (&platform, &server, 8, QM_CARRY_NONE, NAN, NAN);
  check_fit (&platform, &server, 9, QM_CARRY_COUNT, 9, 8);
  check_fit (&platform, &server, 0, QM_CARRY_COUNT, 0, 8);
  check_fit (&platform, &workstation, 1, QM_CARRY_COOLING, NAN, NAN);
  check_fit (&platform, &module, 8, QM_CARRY_SOLD_WITH, NAN, NAN);
  check_fit (&platform, &hot, 1, QM_CARRY_CARD_WATTS, 700, 600);
  /* Wide ones fit with every second place empty. */
  check_fit (&platform, &consumer, 5, QM_CARRY_WIDTH, 3.5, 2);
  check_fit (&platform, &consumer, 4, QM_CARRY_NONE, NAN, NAN);
}

static void
test_supplies (void)
{
  QmPlatform platform = rack ();
  QmGpu gpu = card (QM_GPU_COOLING_PASSIVE, 2, 550);

  check_case ("supplies");
  /* With a spare one the others give all: 8 x 625 + 1000 = 3 x 2000. */
  platform.gpu_watts = 700;
  gpu.tdp_w = 625;
  check_fit (&platform, &gpu, 8, QM_CARRY_NONE, NAN, NAN);
  gpu.tdp_w = 626;
  check_fit (&platform, &gpu, 8, QM_CARRY_SUPPLIES, 6008, 6000);
  platform.psu_spare = 2;
  check_fit (&platform, &gpu, 5, QM_CARRY_SUPPLIES, 4130, 4000);
  check_fit (&platform, &gpu, 4, QM_CARRY_NONE, NAN, NAN);
  /* Without one some is left: 5 x 520 + 1000 = 0.9 x 2 x 2000. */
  platform.psu_spare = 0;
  platform.psus = 2;
  gpu.tdp_w = 520;
  check_fit (&platform, &gpu, 5, QM_CARRY_NONE, NAN, NAN);
  gpu.tdp_w = 521;
  check_fit (&platform, &gpu, 5, QM_CARRY_SUPPLIES, 3605, 3600);
}

static void
test_memory_and_room (void)
{
  QmPlatform platform = rack ();
  QmGpu gpu = card (QM_GPU_COOLING_PASSIVE, 2, 350);
  QmCarry fit;

  check_case ("memory");
  CHECK_INT (qm_carry (&platform, &gpu, 1, 4096, INFINITY).problem,
             QM_CARRY_NONE);
  fit = qm_carry (&platform, &gpu, 1, 4097, INFINITY);
  CHECK_INT (fit.problem, QM_CARRY_MEMORY);
  CHECK_NEAR (fit.available, 4096, 0);
  platform.memory_max_gib = NAN;
  CHECK_INT (qm_carry (&platform, &gpu, 1, 512, INFINITY).problem,
             QM_CARRY_NONE);
  CHECK_INT (qm_carry (&platform, &gpu, 1, 513, INFINITY).problem,
             QM_CARRY_MEMORY);
  platform.memory_gib = NAN;
  CHECK_INT (qm_carry (&platform, &gpu, 1, 1, INFINITY).problem,
             QM_CARRY_UNKNOWN);
  CHECK_INT (qm_carry (&platform, &gpu, 1, 0, INFINITY).problem, QM_CARRY_NONE);

  check_case ("circuit");
  fit = qm_carry (&platform, &gpu, 4, 0, 2700);
  CHECK_INT (fit.problem, QM_CARRY_NONE);
  CHECK_NEAR (fit.wall_watts, 2400 / 0.92, 1e-9);
  fit = qm_carry (&platform, &gpu, 4, 0, 2600);
  CHECK_INT (fit.problem, QM_CARRY_CIRCUIT);
  CHECK_NEAR (fit.needed, 2400 / 0.92, 1e-9);
}

/* What would decide and is not stated decides against. */
static void
test_unknown (void)
{
  QmGpu gpu = card (QM_GPU_COOLING_PASSIVE, 2, 350);
  QmGpu unstated = gpu;

  check_case ("unknown");
  for (int i = 0; i < 5; i++)
    {
      QmPlatform platform = rack ();
      double *const numbers[] = { &platform.slot_width, &platform.gpu_watts,
                                  &platform.psu_watts, &platform.host_watts };

      if (i < 4)
        *numbers[i] = NAN;
      else
        platform.psus = 0;
      check_fit (&platform, &gpu, 1, QM_CARRY_UNKNOWN, NAN, NAN);
    }
  for (int i = 0; i < 3; i++)
    {
      QmPlatform platform = rack ();

      unstated = gpu;
      if (i == 0)
        unstated.slot_width = NAN;
      else if (i == 1)
        unstated.tdp_w = NAN;
      else
        unstated.cooling = QM_GPU_COOLING_UNSTATED;
      check_fit (&platform, &unstated, 1, QM_CARRY_UNKNOWN, NAN, NAN);
    }
}

static void
test_whole (void)
{
  QmPlatform platform = { .id = "board",
                          .sold_with = "module",
                          .gpus = 8,
                          .host_watts = 2600,
                          .slot_width = NAN,
                          .gpu_watts = NAN,
                          .memory_gib = 2048,
                          .memory_max_gib = 4096 };
  QmGpu gpu = card (QM_GPU_COOLING_BOARD, NAN, 700);
  QmGpu other = gpu;

  check_case ("sold with its GPUs");
  gpu.id = "module";
  check_fit (&platform, &gpu, 8, QM_CARRY_NONE, NAN, NAN);
  check_fit (&platform, &gpu, 4, QM_CARRY_COUNT, 4, 8);
  check_fit (&platform, &other, 8, QM_CARRY_SOLD_WITH, NAN, NAN);
  CHECK_INT (qm_carry (&platform, &gpu, 8, 0, 3680).problem, QM_CARRY_CIRCUIT);
  CHECK_INT (qm_carry (&platform, &gpu, 8, 0, 11000).problem, QM_CARRY_NONE);
}

/* Of the shipped catalog: whatever fits has its parts, told from the tables
 * alone. */
static void
check_part (const QmPlatform *platform, const QmGpu *gpu, int n)
{
  double watts = n * gpu->tdp_w + platform->host_watts;

  check_case (platform->id);
  CHECK (n <= platform->gpus);
  if (*platform->sold_with != '\0')
    {
      CHECK_STRING (platform->sold_with, gpu->id);
      CHECK_INT (n, platform->gpus);
      return;
    }
  CHECK (gpu->cooling == QM_GPU_COOLING_OPEN
         || gpu->cooling == QM_GPU_COOLING_BLOWER
         || gpu->cooling == QM_GPU_COOLING_PASSIVE);
  CHECK ((platform->takes >> gpu->cooling & 1) == 1);
  CHECK (gpu->tdp_w <= platform->gpu_watts);
  CHECK (n * gpu->slot_width <= platform->gpus * platform->slot_width);
  CHECK (watts < platform->psu_watts * (platform->psus - platform->psu_spare));
}

static void
test_shipped (void)
{
  QmCatalog *catalog = NULL;
  QmError error;
  size_t n_gpus, n_platforms, n_fit = 0, n_sold = 0;
  const QmGpu *gpus;
  const QmPlatform *platforms;

  CHECK (
      qm_catalog_load (getenv ("QM_SHIPPED_DATA_DIR"), NULL, &catalog, &error)
      == QM_OK);
  gpus = qm_catalog_gpus (catalog, &n_gpus);
  platforms = qm_catalog_platforms (catalog, &n_platforms);
  for (size_t i = 0; i < n_platforms; i++)
    for (size_t g = 0; g < n_gpus; g++)
      for (int n = 1; n <= 16; n++)
        if (qm_carry (&platforms[i], &gpus[g], n, 0, INFINITY).problem
            == QM_CARRY_NONE)
          {
            n_fit++;
            n_sold += *platforms[i].sold_with != '\0';
            check_part (&platforms[i], &gpus[g], n);
          }
  check_case ("shipped");
  CHECK ((int64_t) n_platforms >= 25);
  CHECK (n_fit > 100);
  CHECK (n_sold >= 8);
  /* Nobody sells an SXM module in a desktop. */
  for (size_t i = 0; i < n_platforms; i++)
    if (platforms[i].form == QM_PLATFORM_DESKTOP)
      CHECK (qm_carry (&platforms[i], qm_catalog_gpu (catalog, "h100-80gb-sxm"),
                       1, 0, INFINITY)
                 .problem
             == QM_CARRY_SOLD_WITH);
  qm_catalog_free (catalog);
}

int
main (void)
{
  test_cards ();
  test_supplies ();
  test_memory_and_room ();
  test_unknown ();
  test_whole ();
  test_shipped ();
  return check_report ();
}
