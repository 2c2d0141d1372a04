/* SPDX-License-Identifier: Apache-2.0 */

/* Over the shipped catalog: rates follow from multiprocessors and clocks, which
 * finds what was mistyped in either. */

#include "data/catalog.h"
#include "tests/data/check.h"

#include "data/architecture.h"

#include <stdlib.h>
#include <string.h>

/* How far a rate that a maker rounds may be from what follows, and one that is
 * derived or in doubt. */
#define ROUNDED 0.02
#define DOUBTED 0.055

/* Lanes of fp32 in a multiprocessor: NVIDIA's white papers of each generation
 * (V100, Turing, A100, GA102, Ada, H100, Blackwell); AMD's compute units of
 * CDNA 2 count packed operations no more than single ones. */
static double
lanes_of (const QmGpu *gpu)
{
  int architecture = qm_gpu_architecture (gpu);

  if (architecture > 0)
    return architecture <= 80 ? 64 : 128;
  return strncmp (gpu->id, "mi2", 3) == 0 ? 64 : 128;
}

/* Operations of 16 bits in a cycle of a multiprocessor, summed up in fp32; 0
 * where no source says. */
static double
tensor_of (const QmGpu *gpu)
{
  switch (qm_gpu_architecture (gpu))
    {
    case 70:
    case 75:
      return 1024;
    case 80:
      return 2048;
    case 86:
    case 89:
    case 120:
      /* Cards that are sold for games have half of it. */
      return strncmp (gpu->id, "rtx30", 5) == 0
                     || strncmp (gpu->id, "rtx40", 5) == 0
                     || strncmp (gpu->id, "rtx50", 5) == 0
                 ? 512
                 : 1024;
    case 90:
      return 4096;
    case 100:
    case 103:
      return 8192;
    default:
      return 0;
    }
}

static double
doubt_of (const QmGpu *gpu)
{
  return strstr (gpu->unverified, "boost_mhz") != NULL
                 || strstr (gpu->unverified, "tflops") != NULL
             ? DOUBTED
             : ROUNDED;
}

static double
peak_in_fp8 (const QmCatalog *catalog, const char *gpu)
{
  return qm_gpu_peak_tflops (qm_catalog_gpu (catalog, gpu), QM_PRECISION_FP8,
                             true);
}

/* FP8 came with Ada and Hopper; a tensor core does twice as much in it as in 16
 * bits.  Of some of Blackwell's workstation cards none is printed. */
static void
check_fp8 (const QmGpu *gpu, double fp16, double doubt, bool slower)
{
  int architecture = qm_gpu_architecture (gpu);

  if (architecture > 0 && architecture < 89)
    CHECK (!qm_known (gpu->fp8_tflops));
  if (architecture >= 89 && architecture < 120)
    CHECK (qm_known (gpu->fp8_tflops));
  if (qm_known (gpu->fp8_tflops) && fp16 > 0)
    CHECK (gpu->fp8_tflops < 2 * fp16 * (1 + doubt)
           && gpu->fp8_tflops > 2 * fp16 * (slower ? 0.86 : 1 - doubt));
}

/* Products may be rated at a lower clock than the highest: on Hopper and the
 * data centre's Blackwell by up to an eighth. */
static void
check_rates (const QmGpu *gpu)
{
  double cycles = gpu->multiprocessors * gpu->boost_mhz * 1e6;
  double fp32 = cycles * lanes_of (gpu) * 2 / 1e12;
  double fp16 = cycles * tensor_of (gpu) / 1e12;
  double doubt = doubt_of (gpu);
  bool slower =
      qm_gpu_architecture (gpu) >= 90 && qm_gpu_architecture (gpu) < 120;

  CHECK (gpu->fp32_tflops < fp32 * (1 + doubt)
         && gpu->fp32_tflops > fp32 * (1 - doubt));
  if (fp16 > 0)
    CHECK (gpu->fp16_tflops < fp16 * (1 + doubt)
           && gpu->fp16_tflops > fp16 * (slower ? 0.86 : 1 - doubt));
  check_fp8 (gpu, fp16, doubt, slower);
}

/* What was seen is what the memory can, less a quarter at most. */
static void
check_bandwidth (const QmGpu *gpu)
{
  if (qm_known (gpu->measured_bandwidth_gbs))
    CHECK (gpu->measured_bandwidth_gbs <= gpu->memory_bandwidth_gbs
           && gpu->measured_bandwidth_gbs > gpu->memory_bandwidth_gbs * 0.74);
}

int
main (void)
{
  QmCatalog *catalog = NULL;
  QmError error;
  size_t n, processors = 0, caches = 0, copies = 0, rates8 = 0;
  const QmGpu *gpus;

  CHECK (
      qm_catalog_load (getenv ("QM_SHIPPED_DATA_DIR"), NULL, &catalog, &error)
      == QM_OK);
  gpus = qm_catalog_gpus (catalog, &n);
  for (size_t i = 0; i < n; i++)
    {
      check_case (gpus[i].id);
      if (qm_known (gpus[i].multiprocessors) && qm_known (gpus[i].boost_mhz))
        {
          check_rates (&gpus[i]);
          processors++;
        }
      check_bandwidth (&gpus[i]);
      /* Dense, not sparse: at most twice, as far as both are rounded. */
      CHECK (!qm_known (gpus[i].fp8_tflops)
             || (gpus[i].fp8_tflops >= gpus[i].fp16_tflops
                 && gpus[i].fp8_tflops < gpus[i].fp16_tflops * 2.05));
      rates8 += qm_known (gpus[i].fp8_tflops);
      caches += qm_known (gpus[i].l2_mib);
      copies += qm_known (gpus[i].measured_bandwidth_gbs);
    }
  check_case ("how many are known");
  CHECK (processors >= 40 && caches >= 30 && copies >= 7 && rates8 >= 23);
  check_case ("FP8");
  CHECK_NEAR (peak_in_fp8 (catalog, "h100-80gb-sxm"), 1979, 0);
  /* With fp32 accumulation: half of what it has with fp16. */
  CHECK_NEAR (peak_in_fp8 (catalog, "rtx4090"), 330.3, 0);
  CHECK (!qm_known (peak_in_fp8 (catalog, "a100-80gb-sxm")));
  qm_catalog_free (catalog);
  return check_report ();
}
