/* SPDX-License-Identifier: Apache-2.0 */

/* What GPUs of the catalog can do. */

#include "engine/predict.h"

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

static void
set_exchange (const QmCalibration *calibration,
              const QmGpu *gpu,
              QmInterconnect link,
              QmSpeeds *speeds)
{
  bool nvlink = link == QM_INTERCONNECT_NVLINK
                || (link == QM_INTERCONNECT_OF_GPU && gpu->nvlink_gbs > 0);
  double generation = isnan (gpu->pcie_generation) ? 4 : gpu->pcie_generation;
  double lanes = isnan (gpu->pcie_lanes) ? 16 : gpu->pcie_lanes;

  speeds->nvlink = nvlink && gpu->nvlink_gbs > 0;
  speeds->exchange = speeds->nvlink
                         ? gpu->nvlink_gbs * 1e9 * calibration->nvlink
                         : lane_of (generation) * lanes * calibration->pcie;
  speeds->latency = calibration->latency;
  speeds->hidden = calibration->hidden;
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
qm_speeds_of_gpu (const QmCalibration *calibration,
                  const QmGpu *gpu,
                  int gpus,
                  QmInterconnect link,
                  QmSpeeds *speeds,
                  QmError *error)
{
  memset (speeds, 0, sizeof *speeds);
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
  speeds->bandwidth = gpu->memory_bandwidth_gbs * 1e9;
  set_power (calibration, gpu, speeds);
  speeds->gpus = gpus;
  set_exchange (calibration, gpu, link, speeds);
  set_host (calibration, gpu, speeds);
  return QM_OK;
}
