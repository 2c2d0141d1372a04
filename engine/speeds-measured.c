/* SPDX-License-Identifier: Apache-2.0 */

/* What GPUs can do that were measured (engine/probe.h).
 *
 * Levels of software were fitted to what trainings reach of the catalog's rates
 * of one GPU, the reference.  So what probes of another found counts as a
 * multiple of what those of the reference did: a GPU whose products take twice
 * their time has half the reference's rates, whatever its data sheet says. */

#include "engine/probe.h"
#include "engine/speeds-private.h"

#include <math.h>
#include <string.h>

/* A board whose clock is below the highest, and that draws nearly what it may,
 * is held back by just that: the limit says better what it draws than a meter
 * does within a second or two. */
#define SLOWED 0.98
#define NEARLY 0.9

void
qm_calibration_set_reference (QmCalibration *calibration,
                              const QmProbes *reference,
                              const QmGpu *gpu)
{
  calibration->reference = reference;
  calibration->reference_gpu = gpu;
}

bool
qm_calibration_add_probes (QmCalibration *calibration, const QmProbes *probes)
{
  const size_t most =
      sizeof calibration->measured / sizeof calibration->measured[0];
  size_t i = 0;

  while (i < calibration->n_measured
         && strcmp (calibration->measured[i]->gpu, probes->gpu) != 0)
    i++;
  if (i == most)
    return false;
  calibration->measured[i] = probes;
  if (i == calibration->n_measured)
    calibration->n_measured++;
  return true;
}

static double
watts_of (const QmProbes *probes, const QmProbe *probe)
{
  return probe->sm_mhz < SLOWED * probes->sm_mhz_max
                 && probe->watts > NEARLY * probes->watts_limit
             ? probes->watts_limit
             : probe->watts;
}

/* Joules of an operation at the rated clock that explain what the board drew in
 * products of 16 bits (engine/predict.h); NaN or no more than 0 where they do
 * not.  What a product draws by its K cancels where two machines are compared.
 */
static double
joules_of (const QmCalibration *calibration,
           const QmProbes *probes,
           double highest)
{
  const QmPower *power = &calibration->power;
  size_t n;
  const QmProbeCall *calls = qm_probe_calls (&n);
  double joules = 0, work = 0;

  for (size_t i = 0; i < n; i++)
    {
      const QmProbe *probe = qm_probes_find (probes, calls[i].name);
      double above;

      if (calls[i].kind != QM_PROBE_PRODUCT_16 || probe == NULL)
        continue;
      above = watts_of (probes, probe) - power->base * probes->watts_limit;
      joules += above - probe->bytes / probe->seconds * power->joules_per_byte;
      work +=
          probe->flops / probe->seconds
          * pow (probe->sm_mhz / probes->sm_mhz_max * highest, power->exponent);
    }
  return joules / work;
}

/* Sets what a ratio tells, unless it tells nothing. */
static void
set_by_ratio (double *value, double reference, double ratio)
{
  if (isfinite (ratio))
    *value = reference * ratio;
}

static void
set_power (const QmCalibration *calibration,
           const QmProbes *own,
           const QmSpeeds *reference,
           QmSpeeds *speeds)
{
  double highest = reference->power.clock;
  double joules = joules_of (calibration, own, highest);
  double others = joules_of (calibration, calibration->reference, highest);

  /* Rates are those at the highest clock, over what the reference's is. */
  speeds->power.clock = highest;
  if (joules > 0 && others > 0)
    set_by_ratio (&speeds->power.joules_per_flop,
                  reference->power.joules_per_flop, joules / others);
  if (own->watts_limit > 0)
    speeds->watts = own->watts_limit;
}

static void
set_host (const QmProbes *own,
          const QmProbes *others,
          const QmSpeeds *reference,
          QmSpeeds *speeds)
{
  set_by_ratio (&speeds->host.copies, reference->host.copies,
                fmin (own->down / others->down, own->up / others->up));
  set_by_ratio (&speeds->host.add, reference->host.add, own->add / others->add);
  set_by_ratio (&speeds->host.adam, reference->host.adam,
                own->adam / others->adam);
}

static void
set_measured (const QmCalibration *calibration,
              const QmProbes *own,
              const QmSpeeds *reference,
              QmSpeeds *speeds)
{
  const QmProbes *others = calibration->reference;
  double ratios[QM_N_PROBE_KINDS];

  for (int i = 0; i < QM_N_PROBE_KINDS; i++)
    ratios[i] = qm_probe_ratio (own, others, (QmProbeKind) i);
  if (!isfinite (ratios[QM_PROBE_PRODUCT_16]))
    return; /* without clocks nothing can be said */
  set_by_ratio (&speeds->rates[QM_ARITHMETIC_16],
                reference->rates[QM_ARITHMETIC_16],
                ratios[QM_PROBE_PRODUCT_16]);
  set_by_ratio (&speeds->rates[QM_ARITHMETIC_TF32],
                reference->rates[QM_ARITHMETIC_TF32],
                ratios[QM_PROBE_PRODUCT_TF32]);
  set_by_ratio (&speeds->rates[QM_ARITHMETIC_FP32],
                reference->rates[QM_ARITHMETIC_FP32],
                ratios[QM_PROBE_PRODUCT_FP32]);
  speeds->half_rate = 1; /* is part of what was measured */
  set_by_ratio (&speeds->bandwidth, reference->bandwidth,
                ratios[QM_PROBE_BYTES]);
  set_by_ratio (&speeds->attention, 1,
                ratios[QM_PROBE_ATTENTION] / ratios[QM_PROBE_PRODUCT_16]);
  set_by_ratio (&speeds->attention_backward, 1,
                ratios[QM_PROBE_ATTENTION_BACKWARD]
                    / ratios[QM_PROBE_PRODUCT_16]);
  set_power (calibration, own, reference, speeds);
  set_host (own, others, reference, speeds);
  speeds->measured = own;
}

/* Of so many in one machine, by what the user did not say is another link. */
static void
set_links (const QmProbes *own, QmInterconnect link, QmSpeeds *speeds)
{
  const QmLinkTimes *times = qm_probes_links (own, speeds->gpus);
  size_t n = times != NULL ? times->n[QM_LINKS_ALL_REDUCE] : 0;
  double sent = 2.0 * (speeds->gpus - 1) / speeds->gpus;

  if (n == 0 || link != QM_INTERCONNECT_OF_GPU)
    return;
  speeds->links = times;
  speeds->latency = times->times[QM_LINKS_ALL_REDUCE][0].seconds;
  speeds->exchange = sent * times->times[QM_LINKS_ALL_REDUCE][n - 1].bytes
                     / times->times[QM_LINKS_ALL_REDUCE][n - 1].seconds;
  if (strcmp (times->transport, "host") == 0)
    speeds->way = QM_WAY_HOST;
}

QmStatus
qm_speeds_of_gpu (const QmCalibration *calibration,
                  const QmGpu *gpu,
                  int gpus,
                  QmInterconnect link,
                  QmSpeeds *speeds,
                  QmError *error)
{
  QmSpeeds reference;
  QmStatus status =
      qm_speeds_of_sheet (calibration, gpu, gpus, link, speeds, error);

  for (size_t i = 0; status == QM_OK && calibration->reference != NULL
                     && i < calibration->n_measured;
       i++)
    if (strcmp (calibration->measured[i]->gpu, gpu->id) == 0)
      {
        status = qm_speeds_of_sheet (calibration, calibration->reference_gpu, 1,
                                     link, &reference, error);
        if (status != QM_OK)
          return status;
        set_measured (calibration, calibration->measured[i], &reference,
                      speeds);
        set_links (calibration->measured[i], link, speeds);
      }
  return status;
}
