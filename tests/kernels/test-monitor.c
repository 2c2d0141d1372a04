/* SPDX-License-Identifier: Apache-2.0 */

/* The monitor, over stand-ins for NVIDIA's library: argv[1 + FAKE], as
 * fake-nvml.c numbers them. */

#include "kernels/monitor.h"
#include "kernels/nvml.h"
#include "tests/data/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BUS "0000:1b:00.0"

static QmMonitor *
open_fake (const char *library)
{
  QmMonitor *monitor = NULL;
  QmError error = { 0 };

  CHECK_INT (qm_monitor_open (BUS, library, &monitor, &error), QM_OK);
  CHECK_STRING (error.message, "");
  if (monitor == NULL)
    exit (check_report ());
  return monitor;
}

static void
sleep_milliseconds (long milliseconds)
{
  const struct timespec time = { .tv_nsec = milliseconds * 1000000 };

  nanosleep (&time, NULL);
}

static void
test_facts (const char *library)
{
  QmMonitor *monitor = open_fake (library);
  QmFacts facts;

  check_case ("facts");
  qm_monitor_facts (monitor, &facts);
  CHECK_STRING (facts.driver, "580.95.05");
  CHECK_INT (facts.total_bytes, 1000);
  CHECK_INT (facts.free_bytes, 900);
  CHECK_NEAR (facts.sm_mhz_max, 1980, 1e-9);
  CHECK_NEAR (facts.memory_mhz_max, 3201, 1e-9);
  CHECK_NEAR (facts.watts_max, 700, 1e-9);
  CHECK_INT (facts.pcie_generation, 1);
  CHECK_INT (facts.pcie_width, 8);
  CHECK_INT (facts.pcie_generation_max, 5);
  CHECK_INT (facts.pcie_width_max, 16);
  CHECK_INT (facts.n_links, 3);
  CHECK_NEAR (facts.link_gbs, 26.562, 1e-9);
  CHECK_STRING (facts.links[1].bus, "00000000:2B:00.1");
  CHECK (!facts.links[1].to_switch && facts.links[2].to_switch);
  CHECK_INT (facts.ecc, 1);
  CHECK_INT (facts.mig, 0);
  CHECK_INT (facts.display, 0);
  CHECK_INT (facts.persistent, 1);
  CHECK_INT (facts.compute_mode, QM_COMPUTE_EXCLUSIVE);
  CHECK_INT (facts.n_processes, 2);
  CHECK_INT (facts.processes[0].id, 4711);
  CHECK_INT (facts.processes[0].bytes, 64);
  CHECK_INT (facts.processes[1].bytes, -1);
  qm_monitor_close (monitor);
}

static void
test_watch (const char *library)
{
  QmMonitor *monitor = open_fake (library);
  QmWatch watch, later, nothing = qm_watch_nothing ();
  QmError error = { 0 };
  const char *words[4];

  check_case ("watch");
  CHECK_INT (qm_monitor_begin (monitor, &error), QM_OK);
  CHECK_INT (qm_monitor_begin (monitor, &error), QM_STATUS_INVALID);
  sleep_milliseconds (180);
  qm_monitor_end (monitor, &watch);
  CHECK (watch.samples >= 3 && watch.samples <= 8);
  CHECK (watch.seconds > 0.17 && watch.seconds < 5);
  /* The clock falls by 10 with each reading, the rest rises by 1. */
  CHECK_NEAR (watch.sm_mhz.most - watch.sm_mhz.least, 10 * (watch.samples - 1),
              1e-9);
  CHECK_NEAR (watch.celsius.mean,
              (watch.celsius.least + watch.celsius.most) / 2, 1e-9);
  CHECK_NEAR (watch.watts.most - watch.watts.least, watch.samples - 1, 1e-9);
  CHECK_NEAR (watch.joules, watch.samples - 1, 1e-9);
  CHECK_NEAR (watch.memory_mhz.mean, 3201, 1e-9);
  CHECK (!watch.lost);
  CHECK_INT (watch.throttle, NVML_REASON_GPU_IDLE | NVML_REASON_SW_POWER_CAP);
  CHECK_INT (qm_throttle_words (watch.throttle, words, 4), 2);
  CHECK_STRING (words[0], "idle");
  CHECK_STRING (words[1], "power cap");
  CHECK (qm_throttle_slows (watch.throttle));
  CHECK (!qm_throttle_slows (NVML_REASON_GPU_IDLE) && !qm_throttle_slows (-1));
  CHECK_INT (qm_throttle_words (-1, words, 4), 0);
  CHECK_INT (qm_throttle_words (1LL << 40, words, 4), 1);

  CHECK_INT (qm_monitor_begin (monitor, &error), QM_OK);
  qm_monitor_end (monitor, &later);
  CHECK_INT (later.samples, 2);
  qm_watch_join (&nothing, &watch);
  qm_watch_join (&nothing, &later);
  CHECK_INT (nothing.samples, watch.samples + 2);
  CHECK_NEAR (nothing.sm_mhz.least, later.sm_mhz.least, 1e-9);
  CHECK_NEAR (nothing.sm_mhz.most, watch.sm_mhz.most, 1e-9);
  CHECK_NEAR (nothing.joules, watch.samples, 1e-9);
  /* Closing ends a watch. */
  CHECK_INT (qm_monitor_begin (monitor, &error), QM_OK);
  qm_monitor_close (monitor);
}

static void
test_bare (const char *library)
{
  QmMonitor *monitor = open_fake (library);
  QmReading reading;
  QmFacts facts;
  QmWatch watch;

  check_case ("nothing but the GPU");
  qm_monitor_facts (monitor, &facts);
  CHECK_STRING (facts.driver, "");
  CHECK (isnan (facts.sm_mhz_max) && isnan (facts.watts_max)
         && isnan (facts.link_gbs));
  CHECK_INT (facts.total_bytes, -1);
  CHECK_INT (facts.pcie_width, -1);
  CHECK_INT (facts.n_links, -1);
  CHECK_INT (facts.ecc, -1);
  CHECK_INT (facts.compute_mode, QM_COMPUTE_UNKNOWN);
  CHECK_INT (facts.n_processes, -1);
  qm_monitor_read (monitor, &reading);
  CHECK (isnan (reading.sm_mhz) && isnan (reading.watts)
         && isnan (reading.joules));
  CHECK_INT (reading.used_bytes, -1);
  CHECK_INT (reading.throttle, -1);
  CHECK_INT (qm_monitor_begin (monitor, NULL), QM_OK);
  qm_monitor_end (monitor, &watch);
  CHECK (isnan (watch.celsius.mean) && isnan (watch.joules) && !watch.lost);
  CHECK_INT (watch.throttle, -1);
  qm_monitor_close (monitor);
}

static void
test_lost (const char *library)
{
  QmMonitor *monitor = open_fake (library);
  QmWatch watch;

  check_case ("lost");
  CHECK_INT (qm_monitor_begin (monitor, NULL), QM_OK);
  sleep_milliseconds (180);
  qm_monitor_end (monitor, &watch);
  CHECK (watch.lost);
  CHECK (watch.sm_mhz.most > 1900 && watch.sm_mhz.least > 1900);
  qm_monitor_close (monitor);
}

static void
test_refusals (char **libraries)
{
  QmMonitor *monitor;
  QmError error = { 0 };

  check_case ("refusals");
  CHECK_INT (qm_monitor_open (BUS, "/nowhere/libnvidia-ml.so.1", &monitor,
                              &error),
             QM_STATUS_NOT_FOUND);
  CHECK (monitor == NULL);
  CHECK_CONTAINS (error.message, "NVML");
  CHECK_INT (qm_monitor_open ("0000:00:00.0", libraries[0], &monitor, &error),
             QM_STATUS_NOT_FOUND);
  CHECK_CONTAINS (error.message, "0000:00:00.0");
  CHECK_INT (qm_monitor_open (BUS, libraries[2], &monitor, &error),
             QM_STATUS_DEVICE);
  CHECK_CONTAINS (error.message, "Driver Not Loaded");
  CHECK_INT (qm_monitor_open (BUS, libraries[4], &monitor, &error),
             QM_STATUS_NOT_FOUND);
  CHECK_CONTAINS (error.message, "lacks functions");
  CHECK (monitor == NULL);
  qm_monitor_close (NULL);
}

int
main (int argc, char **argv)
{
  if (argc != 6)
    return 2;
  test_facts (argv[1]);
  test_watch (argv[1]);
  test_bare (argv[2]);
  test_lost (argv[4]);
  test_refusals (argv + 1);
  return check_report ();
}
