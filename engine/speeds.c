/* SPDX-License-Identifier: Apache-2.0 */

/* What GPUs of the catalog can do. */

#include "engine/speeds-private.h"

#include "data/architecture.h"

#include <math.h>
#include <string.h>

/* Bytes/s of a lane in one direction, by generation of PCIe from 3 (PCI-SIG:
 * 8 GT/s and 128b/130b, doubled by each; 6 with its own coding). */
static double
lane_of (double generation)
{
  return 8e9 / 8 * 128 / 130 * exp2 (generation - 3);
}

/* Those of the generation, or of the last one before it; without any, power is
 * no limit. */
static void
set_power (const QmCalibration *calibration, const QmGpu *gpu, QmSpeeds *speeds)
{
  speeds->power = calibration->power;
  speeds->power.clock = 1;
  speeds->watts = NAN;
  for (size_t i = 0; i < calibration->n_generations; i++)
    if (calibration->generations[i].architecture <= speeds->architecture)
      {
        speeds->power.joules_per_flop =
            calibration->generations[i].joules_per_flop;
        speeds->power.clock = calibration->generations[i].clock;
        speeds->watts = gpu->tdp_w;
      }
}

/* Cards have NVLink where somebody has put a bridge on them, and it connects no
 * more than so many. */
static bool
has_nvlink (const QmGpu *gpu, int gpus, QmInterconnect link)
{
  bool card = gpu->cooling <= QM_GPU_COOLING_PASSIVE;

  return gpu->nvlink_gbs > 0 && link != QM_INTERCONNECT_PCIE
         && (link == QM_INTERCONNECT_NVLINK || !card)
         && !(gpus > gpu->nvlink_gpus);
}

/* Where nobody has said whether GPUs read each other's memory through PCIe,
 * those that are sold for games do not. */
static bool
has_peers (const QmGpu *gpu)
{
  return gpu->peer_access == QM_UNSTATED ? gpu->cooling != QM_GPU_COOLING_OPEN
                                         : gpu->peer_access == QM_YES;
}

static void
set_exchange (const QmCalibration *calibration,
              const QmGpu *gpu,
              QmInterconnect link,
              QmSpeeds *speeds)
{
  double generation = isnan (gpu->pcie_generation) ? 4 : gpu->pcie_generation;
  double lanes = isnan (gpu->pcie_lanes) ? 16 : gpu->pcie_lanes;

  speeds->way = has_nvlink (gpu, speeds->gpus, link) ? QM_WAY_NVLINK
                : has_peers (gpu)                    ? QM_WAY_PCIE
                                                     : QM_WAY_HOST;
  if (speeds->way == QM_WAY_NVLINK)
    speeds->exchange = gpu->nvlink_gbs * 1e9 * calibration->nvlink;
  else
    speeds->exchange = lane_of (generation) * lanes
                       * (speeds->way == QM_WAY_PCIE ? calibration->pcie
                                                     : calibration->pcie_host);
  speeds->thinned = 1;
  speeds->latency = calibration->latency;
  speeds->hidden = calibration->hidden;
}

/* The mean of the largest is the integral over x > 0 of the chance that it is
 * above x less the chance that it is below -x (by Simpson's rule). */
#define FARTHEST  8.0
#define INTERVALS 64

double
qm_largest_of (int n)
{
  const double step = FARTHEST / INTERVALS;
  double sum = 0;

  for (int i = 0; i <= INTERVALS && n > 1; i++)
    {
      double above = erfc (i * step / sqrt (2)) / 2;
      double some = 1 - pow (1 - above, n) - pow (above, n);

      sum += some * (i == 0 || i == INTERVALS ? 1 : i % 2 == 1 ? 4 : 2);
    }
  return sum * step / 3;
}

const char *
qm_way_name (QmWay way)
{
  static const char *const names[] = { "nvlink", "pcie", "host" };

  return names[way];
}

/* Multiply-adds in 16 bits of a multiprocessor in a clock: 512 or more, but of
 * GeForce cards 256 (NVIDIA's papers on GA102, AD102 and GB202). */
#define HALF_RATE 400

static bool
has_half_rate (const QmGpu *gpu)
{
  return gpu->fp16_tflops * 1e6 / (2 * gpu->multiprocessors * gpu->boost_mhz)
         < HALF_RATE;
}

/* Of fp32, while a multiprocessor computes one exponential: it has 16 units for
 * those, and 64 or 128 for the others (CUDA C++ Programming Guide, "Arithmetic
 * Instructions"). */
static double
multiply_adds_of (int architecture)
{
  return architecture <= 80 ? 64 / 16 : 128 / 16;
}

static void
set_host (const QmCalibration *calibration, const QmGpu *gpu, QmSpeeds *speeds)
{
  speeds->host = calibration->host;
  if (gpu->pcie_generation > 0 && gpu->pcie_lanes > 0)
    speeds->host.copies *= lane_of (gpu->pcie_generation) * gpu->pcie_lanes;
  else
    speeds->host.copies = 0;
}

QmStatus
qm_speeds_of_sheet (const QmCalibration *calibration,
                    const QmGpu *gpu,
                    int gpus,
                    QmInterconnect link,
                    QmSpeeds *speeds,
                    QmError *error)
{
  memset (speeds, 0, sizeof *speeds);
  speeds->attention = speeds->attention_backward = 1;
  speeds->architecture = qm_gpu_architecture (gpu);
  if (speeds->architecture == 0)
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "no rates are known to predict those of %s from",
                         gpu->name);
  if (!(gpu->fp16_tflops > 0) || !(gpu->memory_bandwidth_gbs > 0))
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "the rates of %s are not known", gpu->name);
  speeds->rates[QM_ARITHMETIC_16] = gpu->fp16_tflops * 1e12;
  speeds->rates[QM_ARITHMETIC_FP32] =
      (gpu->fp32_tflops > 0 ? gpu->fp32_tflops : gpu->fp16_tflops / 16) * 1e12;
  /* Where there is no TF32, products of fp32 are what they are. */
  speeds->rates[QM_ARITHMETIC_TF32] = gpu->tf32_tflops > 0
                                          ? gpu->tf32_tflops * 1e12
                                          : speeds->rates[QM_ARITHMETIC_FP32];
  speeds->spread = qm_constant_spread (gpu);
  speeds->multiprocessors = gpu->multiprocessors;
  speeds->half_rate = has_half_rate (gpu) ? calibration->half_rate : 1;
  speeds->exponentials = speeds->rates[QM_ARITHMETIC_FP32]
                         / (2 * multiply_adds_of (speeds->architecture));
  speeds->bandwidth = gpu->memory_bandwidth_gbs * 1e9;
  set_power (calibration, gpu, speeds);
  speeds->gpus = gpus;
  speeds->differ = calibration->differ;
  speeds->slower = speeds->differ * qm_largest_of (gpus);
  set_exchange (calibration, gpu, link, speeds);
  set_host (calibration, gpu, speeds);
  return QM_OK;
}
