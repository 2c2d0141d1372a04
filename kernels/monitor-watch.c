/* SPDX-License-Identifier: Apache-2.0 */

/* What was watched, and the words for it. */

#include "kernels/monitor.h"
#include "kernels/nvml.h"

#include <math.h>

static const struct
{
  int64_t reason;
  const char *word;
} words_of_reasons[] = {
  { NVML_REASON_GPU_IDLE, "idle" },
  { NVML_REASON_APPLICATIONS_CLOCKS, "application clocks" },
  { NVML_REASON_SW_POWER_CAP, "power cap" },
  { NVML_REASON_HW_SLOWDOWN, "hardware slowdown" },
  { NVML_REASON_SYNC_BOOST, "sync boost" },
  { NVML_REASON_SW_THERMAL, "software thermal slowdown" },
  { NVML_REASON_HW_THERMAL, "hardware thermal slowdown" },
  { NVML_REASON_HW_POWER_BRAKE, "power brake" },
  { NVML_REASON_DISPLAY_CLOCKS, "display clocks" },
};

#define N_WORDS (sizeof words_of_reasons / sizeof words_of_reasons[0])

size_t
qm_throttle_words (int64_t throttle, const char *words[], size_t max)
{
  int64_t left = throttle;
  size_t n = 0;

  if (throttle < 0)
    return 0;
  for (size_t i = 0; i < N_WORDS; i++)
    if ((throttle & words_of_reasons[i].reason) != 0)
      {
        left &= ~words_of_reasons[i].reason;
        if (n < max)
          words[n] = words_of_reasons[i].word;
        n++;
      }
  if (left != 0)
    {
      if (n < max)
        words[n] = "another reason";
      n++;
    }
  return n;
}

bool
qm_throttle_slows (int64_t throttle)
{
  const int64_t harmless =
      NVML_REASON_GPU_IDLE | NVML_REASON_APPLICATIONS_CLOCKS;

  return throttle > 0 && (throttle & ~harmless) != 0;
}

QmWatch
qm_watch_nothing (void)
{
  const QmRange none = { NAN, NAN, NAN };

  return (QmWatch){ .sm_mhz = none,
                    .memory_mhz = none,
                    .celsius = none,
                    .watts = none,
                    .throttle = -1,
                    .joules = NAN };
}

static void
join_ranges (QmRange *range,
             int samples,
             const QmRange *later,
             int later_samples)
{
  if (!isfinite (later->mean))
    return;
  if (!isfinite (range->mean))
    {
      *range = *later;
      return;
    }
  range->mean = (range->mean * samples + later->mean * later_samples)
                / (samples + later_samples);
  range->least = fmin (range->least, later->least);
  range->most = fmax (range->most, later->most);
}

void
qm_watch_join (QmWatch *watch, const QmWatch *later)
{
  if (later->samples == 0)
    return;
  if (watch->samples == 0)
    {
      *watch = *later;
      return;
    }
  join_ranges (&watch->sm_mhz, watch->samples, &later->sm_mhz, later->samples);
  join_ranges (&watch->memory_mhz, watch->samples, &later->memory_mhz,
               later->samples);
  join_ranges (&watch->celsius, watch->samples, &later->celsius,
               later->samples);
  join_ranges (&watch->watts, watch->samples, &later->watts, later->samples);
  if (later->throttle >= 0)
    watch->throttle =
        (watch->throttle >= 0 ? watch->throttle : 0) | later->throttle;
  watch->samples += later->samples;
  watch->seconds += later->seconds;
  watch->joules += later->joules;
  watch->lost = watch->lost || later->lost;
}
