/* SPDX-License-Identifier: Apache-2.0 */

/* What machines can do: every call is timed, on the CPU and smaller than on a
 * GPU; what is found of one counts as a multiple of the reference's. */

#include "engine/predict-exchange.h"
#include "engine/predict.h"
#include "engine/probe.h"
#include "tests/data/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALLER 32

static QmProbes
ask (bool (*progress) (void *data, double done), void *data, QmStatus wanted)
{
  const QmProbeOptions options = {
    .seconds = 0.01, .smaller = SMALLER, .progress = progress, .data = data
  };
  QmDevice *device = NULL;
  QmProbes probes;
  QmError error = { 0 };

  CHECK_INT (qm_device_open ("cpu", 0, &device, &error), QM_OK);
  CHECK_INT (qm_probe_device (device, &options, &probes, &error), wanted);
  qm_device_close (device);
  return probes;
}

static bool
count (void *data, double done)
{
  double *last = data;

  CHECK (done > *last && done <= 1);
  *last = done;
  return true;
}

static bool
stop (void *data, double done)
{
  return ++*(int *) data < 2;
}

static void
test_all_are_timed (void)
{
  double done = 0;
  int calls = 0;
  QmProbes probes = ask (count, &done, QM_OK);
  size_t n;
  const QmProbeCall *listed = qm_probe_calls (&n);

  CHECK (done == 1);
  CHECK_INT (probes.n, n);
  CHECK (n <= QM_PROBES_MAX);
  for (size_t i = 0; i < n; i++)
    {
      const QmProbe *probe = qm_probes_find (&probes, listed[i].name);

      CHECK (probe != NULL && probe->seconds > 0 && probe->bytes > 0);
      CHECK ((probe->flops > 0) == (listed[i].kind != QM_PROBE_BYTES));
      CHECK (isnan (probe->sm_mhz) && isnan (probe->watts));
    }
  CHECK (probes.up > 0 && probes.down > 0);
  CHECK (probes.add > 0 && probes.adam > 0);
  CHECK (probes.device[0] != '\0' && probes.gpu[0] == '\0');
  CHECK (isnan (qm_probe_ratio (&probes, &probes, QM_PROBE_PRODUCT_16)));
  check_near (qm_probe_ratio (&probes, &probes, QM_PROBE_BYTES), 1, 1e-12,
              "bytes beside themselves", __FILE__, __LINE__);

  ask (stop, &calls, QM_STATUS_INTERRUPTED);
  CHECK_INT (calls, 2);
}

/* A product counts its operations, and no more. */
static void
test_flops (void)
{
  double done = 0;
  QmProbes probes = ask (count, &done, QM_OK);
  const QmProbe *product = qm_probes_find (&probes, "product-16-1024");
  const QmProbe *copy = qm_probes_find (&probes, "copy");

  CHECK (product->flops
         == 2.0 * 16384 * 1024 * 4096 / SMALLER / SMALLER / SMALLER);
  CHECK (copy->bytes == 2.0 * 2 * 65536 * 2048 / SMALLER / SMALLER);
}

static QmCatalog *catalog;
static QmCalibration calibration;

static QmSpeeds
speeds_of (const QmGpu *gpu)
{
  QmSpeeds speeds;
  QmError error = { 0 };

  CHECK_INT (qm_speeds_of_gpu (&calibration, gpu, 1, QM_INTERCONNECT_OF_GPU,
                               &speeds, &error),
             QM_OK);
  return speeds;
}

static void
check_equal (double got, double wanted, const char *what)
{
  check_near (got, wanted, 1e-9, what, __FILE__, __LINE__);
}

/* What a machine like the reference would find, at other speeds. */
static QmProbes
made_up (const char *gpu, double rate, double bandwidth, double watts)
{
  size_t n;
  const QmProbeCall *listed = qm_probe_calls (&n);
  QmProbes probes = { .sm_mhz_max = 2000,
                      .watts_limit = 700,
                      .up = 5e10,
                      .down = 5e10,
                      .add = 7e-11,
                      .adam = 2.5e-10,
                      .n = n };

  snprintf (probes.gpu, sizeof probes.gpu, "%s", gpu);
  for (size_t i = 0; i < n; i++)
    {
      bool moves = listed[i].kind == QM_PROBE_BYTES;

      probes.probes[i] =
          (QmProbe){ .flops = moves ? 0 : 1e12,
                     .bytes = 1e9,
                     .seconds = moves ? 1e-3 / bandwidth : 1.5e-3 / rate,
                     .sm_mhz = 1500,
                     .watts = watts };
      snprintf (probes.probes[i].name, sizeof probes.probes[i].name, "%s",
                listed[i].name);
    }
  return probes;
}

static void
test_measured (void)
{
  const QmGpu *reference = qm_catalog_gpu (catalog, QM_REFERENCE_GPU);
  const QmGpu *card = qm_catalog_gpu (catalog, "rtx4090");
  QmProbes ours = made_up (QM_REFERENCE_GPU, 1, 1, 700);
  QmProbes same = made_up ("rtx4090", 1, 1, 700);
  QmProbes slower = made_up ("rtx4090", 0.25, 0.2, 650);
  QmSpeeds sheet = speeds_of (card), base = speeds_of (reference), speeds;

  CHECK (sheet.measured == NULL && sheet.attention == 1);
  CHECK (qm_calibration_add_probes (&calibration, &same));
  CHECK (speeds_of (card).measured == NULL); /* without the reference */
  qm_calibration_set_reference (&calibration, &ours, reference);

  /* Who finds what the reference found is as fast. */
  speeds = speeds_of (card);
  CHECK (speeds.measured == &same);
  for (int i = 0; i < QM_N_ARITHMETICS; i++)
    check_equal (speeds.rates[i], base.rates[i], "rate");
  check_equal (speeds.bandwidth, base.bandwidth, "bandwidth");
  check_equal (speeds.host.copies, base.host.copies, "copies");
  check_equal (speeds.power.clock, base.power.clock, "clock");
  check_equal (speeds.power.joules_per_flop, base.power.joules_per_flop, "j");
  check_equal (speeds.attention, 1, "attention");
  CHECK (speeds.architecture == 89 && speeds.watts == 700);

  /* Later ones count.  Fewer watts over four times the time are more joules. */
  slower.watts_limit = 600;
  slower.adam *= 3;
  CHECK (qm_calibration_add_probes (&calibration, &slower));
  CHECK_INT (calibration.n_measured, 1);
  speeds = speeds_of (card);
  check_equal (speeds.rates[QM_ARITHMETIC_16], base.rates[QM_ARITHMETIC_16] / 4,
               "a quarter");
  check_equal (speeds.bandwidth, base.bandwidth / 5, "a fifth");
  check_equal (speeds.host.adam, base.host.adam * 3, "three times");
  CHECK (speeds.power.joules_per_flop > 3.5 * base.power.joules_per_flop
         && speeds.power.joules_per_flop < 10 * base.power.joules_per_flop);
  CHECK (speeds.watts == 600);
  check_equal (speeds.attention, 1, "attention goes with products");

  /* Attention alone that is slower. */
  for (size_t i = 0; i < slower.n; i++)
    if (strncmp (slower.probes[i].name, "attention", 9) == 0)
      slower.probes[i].seconds *=
          strstr (slower.probes[i].name, "back") ? 4 : 2;
  speeds = speeds_of (card);
  check_equal (speeds.attention, 0.5, "attention");
  check_equal (speeds.attention_backward, 0.25, "attention backward");

  /* Twice the clock is not twice the rate at the highest. */
  for (size_t i = 0; i < slower.n; i++)
    slower.probes[i].sm_mhz = 750;
  speeds = speeds_of (card);
  check_equal (speeds.rates[QM_ARITHMETIC_16], base.rates[QM_ARITHMETIC_16] / 2,
               "at the highest clock");

  /* Without clocks the catalog stays. */
  slower.sm_mhz_max = NAN;
  speeds = speeds_of (card);
  check_equal (speeds.rates[QM_ARITHMETIC_16], sheet.rates[QM_ARITHMETIC_16],
               "by the catalog");
  CHECK (speeds.measured == NULL);
  calibration.n_measured = 0;
  qm_calibration_set_reference (&calibration, NULL, NULL);
}

/* Of so many GPUs in one machine, unless another link is meant. */
static void
test_links (void)
{
  const QmGpu *reference = qm_catalog_gpu (catalog, QM_REFERENCE_GPU);
  const QmGpu *card = qm_catalog_gpu (catalog, "rtx4090");
  QmProbes ours = made_up (QM_REFERENCE_GPU, 1, 1, 700);
  QmProbes found = made_up ("rtx4090", 1, 1, 700);
  QmLevel level = calibration.levels[0];
  QmSpeeds speeds;
  QmExchange exchange;

  found.links[found.n_links++] =
      (QmLinkTimes){ .ranks = 4,
                     .transport = "nccl",
                     .n = { [QM_LINKS_ALL_REDUCE] = 2 },
                     .times = { { { 1e5, 0.001 }, { 1e9, 0.15 } } } };
  qm_calibration_set_reference (&calibration, &ours, reference);
  CHECK (qm_calibration_add_probes (&calibration, &found));
  for (int gpus = 2; gpus <= 4; gpus += 2)
    for (int pcie = 0; pcie < 2; pcie++)
      {
        bool known = gpus == 4 && !pcie;

        CHECK_INT (qm_speeds_of_gpu (&calibration, card, gpus,
                                     pcie ? QM_INTERCONNECT_PCIE
                                          : QM_INTERCONNECT_OF_GPU,
                                     &speeds, NULL),
                   QM_OK);
        CHECK ((speeds.links != NULL) == known);
        exchange = qm_exchange_of (&speeds, &level, NULL);
        if (!known)
          continue;
        check_equal (speeds.latency, 0.001, "latency");
        check_equal (speeds.exchange, 1.5 * 1e9 / 0.15, "bandwidth");
        check_equal (qm_exchange_seconds (&exchange, QM_LINKS_ALL_REDUCE, 1e9),
                     0.15, "as measured");
      }

  /* What a card reads of another through the host says so. */
  CHECK (speeds.way != QM_WAY_NVLINK);
  strcpy (found.links[0].transport, "host");
  CHECK_INT (qm_speeds_of_gpu (&calibration, reference, 4,
                               QM_INTERCONNECT_OF_GPU, &speeds, NULL),
             QM_OK);
  CHECK (speeds.links == NULL && speeds.way == QM_WAY_NVLINK);
  strcpy (found.gpu, QM_REFERENCE_GPU);
  CHECK_INT (qm_speeds_of_gpu (&calibration, reference, 4,
                               QM_INTERCONNECT_OF_GPU, &speeds, NULL),
             QM_OK);
  CHECK (speeds.links != NULL && speeds.way == QM_WAY_HOST);
  calibration.n_measured = 0;
  qm_calibration_set_reference (&calibration, NULL, NULL);
}

/* No room for more than there is. */
static void
test_room (void)
{
  QmProbes
      many[sizeof calibration.measured / sizeof calibration.measured[0] + 1];
  const size_t n = sizeof many / sizeof many[0];

  for (size_t i = 0; i < n; i++)
    {
      many[i] = (QmProbes){ 0 };
      snprintf (many[i].gpu, sizeof many[i].gpu, "gpu-%zu", i);
      CHECK_INT (qm_calibration_add_probes (&calibration, &many[i]), i + 1 < n);
    }
  CHECK (qm_calibration_add_probes (&calibration, &many[0]));
  calibration.n_measured = 0;
}

int
main (void)
{
  const char *folder = getenv ("QM_TEST_DATA_DIR");
  char path[512];
  QmError error = { 0 };

  snprintf (path, sizeof path, "%s/calibration.csv", folder);
  CHECK_INT (qm_catalog_load (folder, NULL, &catalog, &error), QM_OK);
  CHECK_INT (qm_calibration_load (path, &calibration, &error), QM_OK);
  test_all_are_timed ();
  test_flops ();
  test_measured ();
  test_links ();
  test_room ();
  qm_catalog_free (catalog);
  return check_report ();
}
