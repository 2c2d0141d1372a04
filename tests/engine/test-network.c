/* SPDX-License-Identifier: Apache-2.0 */

/* Networks by name, and what joining machines through one makes of what they
 * can do. */

#include "data/catalog.h"
#include "engine/predict-exchange.h"
#include "tests/data/check.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static QmCatalog *catalog;
static QmCalibration calibration;

static void
test_names (void)
{
  static const char *const wrong[] = { "",        "x",      "hd",     "hdrx",
                                       "xhdr",    "0xhdr",  "17xhdr", "100xhdr",
                                       "8x",      "8xhdr ", "-1xhdr", "8 xhdr",
                                       "1.5xhdr", "8xx hdr" };
  size_t n;
  const QmNetwork *all = qm_networks (&n);
  int adapters;

  check_case ("names");
  CHECK (n == 8);
  for (size_t i = 0; i < n; i++)
    {
      char several[64];

      CHECK (qm_network_parse (all[i].id, &adapters) == &all[i]);
      CHECK_INT (adapters, 1);
      snprintf (several, sizeof several, "16x%s", all[i].id);
      CHECK (qm_network_parse (several, &adapters) == &all[i]);
      CHECK_INT (adapters, 16);
      CHECK (all[i].source[0] != '\0' && all[i].name[0] != '\0');
      CHECK (i == 0 || all[i].gbits >= all[i - 1].gbits);
    }
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    CHECK (qm_network_parse (wrong[i], &adapters) == NULL);
}

static QmSpeeds
speeds_of (const char *gpu, int gpus)
{
  QmSpeeds speeds;
  QmError error = { 0 };

  CHECK_INT (qm_speeds_of_gpu (&calibration, qm_catalog_gpu (catalog, gpu),
                               gpus, QM_INTERCONNECT_OF_GPU, &speeds, &error),
             QM_OK);
  return speeds;
}

static QmSpeeds
joined (const char *gpu, int gpus, int machines, const char *between)
{
  QmSpeeds speeds = speeds_of (gpu, gpus);
  int adapters;
  const QmNetwork *network = qm_network_parse (between, &adapters);

  CHECK (network != NULL);
  qm_speeds_join (&speeds, machines, network, adapters);
  return speeds;
}

/* A ring sends no faster than the slower of a machine and its network. */
static void
test_join (void)
{
  const QmSpeeds alone = speeds_of ("h100-80gb-sxm", 8);
  QmSpeeds one = joined ("h100-80gb-sxm", 8, 1, "10gbe");
  QmSpeeds speeds = joined ("h100-80gb-sxm", 8, 4, "10gbe");

  check_case ("join");
  CHECK (alone.thinned == 1);
  CHECK (one.gpus == 8 && one.machines == 0 && one.exchange == alone.exchange
         && one.latency == alone.latency && one.thinned == 1);
  CHECK_INT (speeds.gpus, 32);
  CHECK_INT (speeds.machines, 4);
  CHECK_NEAR (speeds.exchange, 1.25e9 * 1448 / 1538, 1e-9);
  CHECK_NEAR (speeds.thinned, speeds.exchange / alone.exchange, 1e-9);
  CHECK_NEAR (speeds.latency, alone.latency + 6 * 50e-6, 1e-9);
  CHECK_NEAR (speeds.host.adam, alone.host.adam / 4, 1e-9);
  speeds = joined ("h100-80gb-sxm", 8, 4, "8xhdr");
  CHECK_NEAR (speeds.exchange, 8 * 25e9 * 4096 / 4178, 1e-9);
  /* Cards without peers are the slower of both. */
  speeds = joined ("rtx4090", 4, 2, "ndr");
  CHECK_NEAR (speeds.exchange, speeds_of ("rtx4090", 4).exchange, 1e-9);
  CHECK (speeds.thinned == 1);
  /* One GPU of each has nothing but the network. */
  speeds = joined ("rtx4090", 1, 2, "ndr");
  CHECK_NEAR (speeds.exchange, 50e9 * 4096 / 4178, 1e-9);
}

/* What an exchange through a slower network takes from a GPU is as much less as
 * it takes longer. */
static void
test_taken (void)
{
  const QmLevel *level = qm_calibration_level (&calibration, "tuned");
  const QmSpeeds alone = speeds_of ("h100-80gb-sxm", 8);
  const QmSpeeds speeds = joined ("h100-80gb-sxm", 8, 4, "25gbe");
  QmExchange one = qm_exchange_of (&alone, level, NULL);
  QmExchange all = qm_exchange_of (&speeds, level, NULL);

  check_case ("taken");
  CHECK_NEAR (all.taken, one.taken * speeds.thinned, 1e-12);
  CHECK (qm_exchange_seconds (&all, QM_LINKS_ALL_REDUCE, 1e9)
         > 10 * qm_exchange_seconds (&one, QM_LINKS_ALL_REDUCE, 1e9));
}

/* Largest of n draws: the means that tables of order statistics have (Teichroew
 * 1956), and a pass of the slowest. */
static void
test_slowest (void)
{
  static const struct
  {
    int n;
    double above;
  } known[] = { { 1, 0 },       { 2, 0.56419 },  { 3, 0.84628 }, { 4, 1.02938 },
                { 8, 1.42360 }, { 16, 1.76599 }, { 20, 1.86748 } };
  const QmLevel *level = qm_calibration_level (&calibration, "engine");
  const QmWork work = { .passes = 3, .steps = 1 };
  QmSpeeds speeds = speeds_of ("h100-80gb-sxm", 8);
  QmPrediction prediction = { .alone = 2 };
  QmError error = { 0 };

  check_case ("slowest");
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    {
      speeds = speeds_of ("h100-80gb-sxm", known[i].n);
      CHECK (fabs (speeds.slower - calibration.differ * known[i].above) < 1e-7);
    }
  /* All GPUs of all machines. */
  speeds = joined ("h100-80gb-sxm", 8, 2, "8xhdr");
  CHECK_NEAR (speeds.slower, calibration.differ * 1.76599, 1e-4);
  CHECK (speeds.slower > 0.005 && speeds.slower < 0.02);
  CHECK_INT (qm_predict_step (&work, &speeds, level, &prediction, &error),
             QM_OK);
  CHECK_NEAR (prediction.pass, 2 * (1 + speeds.slower), 1e-9);
}

/* Of links that were measured between machines, an adapter that lets each GPU
 * send as much as it did. */
static void
test_measured (void)
{
  QmLinkTimes links = { .ranks = 4, .nodes = 2 };
  QmSpeeds speeds = speeds_of ("rtx4090", 2);
  QmNetwork network;

  check_case ("measured");
  CHECK (qm_link_times_add (&links, QM_LINKS_ALL_REDUCE, 1e6, 1));
  CHECK (qm_link_times_add (&links, QM_LINKS_ALL_REDUCE, 1e9, 0.5));
  network = qm_network_of_links (&links);
  qm_speeds_join (&speeds, 2, &network, 1);
  CHECK_INT (speeds.gpus, 4);
  CHECK_INT (speeds.machines, 2);
  CHECK_NEAR (speeds.exchange, 1.5 * 1e9 / 0.5, 1e-9);
}

int
main (void)
{
  const char *folder = getenv ("QM_TEST_DATA_DIR");
  char path[PATH_MAX];
  QmError error = { 0 };

  snprintf (path, sizeof path, "%s/calibration.csv", folder);
  CHECK_INT (qm_catalog_load (folder, NULL, &catalog, &error), QM_OK);
  CHECK_INT (qm_calibration_load (path, &calibration, &error), QM_OK);
  test_names ();
  test_join ();
  test_taken ();
  test_measured ();
  test_slowest ();
  qm_catalog_free (catalog);
  return check_report ();
}
