/* SPDX-License-Identifier: Apache-2.0 */

/* What several GPUs' exchange costs: as worked out by hand, of every way to
 * train, and with links that were measured. */

#include "engine/search.h"
#include "engine/ways.h"
#include "tests/data/check.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static QmCatalog *catalog;
static QmCalibration calibration;

static QmSpeeds
speeds_of (const char *id, int gpus, QmInterconnect link)
{
  QmSpeeds speeds;
  const QmGpu *gpu = qm_catalog_gpu (catalog, id);

  CHECK (gpu != NULL);
  CHECK_INT (qm_speeds_of_gpu (&calibration, gpu, gpus, link, &speeds, NULL),
             QM_OK);
  return speeds;
}

static void
test_seconds (void)
{
  QmSpeeds speeds = { .gpus = 4, .exchange = 1e9, .latency = 0.5 };
  QmLinkTimes measured = { .ranks = 2 };
  QmExchange exchange = { .speeds = &speeds };

  CHECK_NEAR (qm_exchange_seconds (&exchange, QM_LINKS_ALL_REDUCE, 4e9),
              0.5 + 6, 1e-9);
  CHECK_NEAR (qm_exchange_seconds (&exchange, QM_LINKS_ALL_GATHER, 4e9),
              0.5 + 3, 1e-9);
  speeds.gpus = 1;
  CHECK (!(qm_exchange_seconds (&exchange, QM_LINKS_ALL_REDUCE, 4e9) > 0));

  CHECK (qm_link_times_add (&measured, QM_LINKS_ALL_REDUCE, 100, 1));
  CHECK (qm_link_times_add (&measured, QM_LINKS_ALL_REDUCE, 300, 2));
  CHECK (!qm_link_times_add (&measured, QM_LINKS_ALL_REDUCE, 300, 3));
  CHECK (!qm_link_times_add (&measured, QM_LINKS_ALL_REDUCE, 400, 0));
  exchange.measured = &measured;
  speeds.gpus = 2;
  CHECK_NEAR (qm_exchange_seconds (&exchange, QM_LINKS_ALL_REDUCE, 10), 1,
              1e-12);
  CHECK_NEAR (qm_exchange_seconds (&exchange, QM_LINKS_ALL_REDUCE, 200), 1.5,
              1e-12);
  CHECK_NEAR (qm_exchange_seconds (&exchange, QM_LINKS_ALL_REDUCE, 900), 6,
              1e-12);
  /* Four send half as much again as two do. */
  speeds.gpus = 4;
  CHECK_NEAR (qm_exchange_seconds (&exchange, QM_LINKS_ALL_REDUCE, 600), 6,
              1e-12);
  /* What was not measured is as the catalog has it. */
  CHECK_NEAR (qm_exchange_seconds (&exchange, QM_LINKS_ALL_GATHER, 4e9), 3.5,
              1e-9);
}

/* Work of three equal products, the sum of the first of which goes on beside
 * the others. */
static QmWork
work_of (QmWorkRow *row, QmWorkCall order[6])
{
  const QmWorkCall product = { .op = QM_OP_LINEAR, .unit = -1 };
  const QmWorkCall sum = { .op = QM_OP_ALL_REDUCE,
                           .phase = QM_PHASE_LAST,
                           .row = -1,
                           .unit = -1,
                           .bytes = 1e9 };
  const QmWorkCall wait = {
    .op = QM_OP_EXCHANGED, .phase = QM_PHASE_LAST, .row = -1, .unit = -1
  };

  *row = (QmWorkRow){
    .op = QM_OP_LINEAR, .count = 3, .flops = 1e13, .bytes = 1e6, .inner = 4096
  };
  order[0] = order[2] = order[3] = product;
  order[1] = sum;
  order[4] = wait;
  return (QmWork){ .rows = row,
                   .n = 1,
                   .order = order,
                   .n_order = 5,
                   .ranks = 2,
                   .parts = 1,
                   .passes = 3,
                   .samples = 3,
                   .steps = 1,
                   .calls = 3,
                   .type = QM_TYPE_BF16 };
}

static double
exposed_with (double taken, double seconds, double *call)
{
  QmSpeeds speeds = speeds_of ("h100-80gb-sxm", 2, QM_INTERCONNECT_OF_GPU);
  const QmLevel *level = qm_calibration_level (&calibration, "engine");
  QmExchange exchange = { .speeds = &speeds, .taken = taken };
  QmPrediction prediction;
  QmWorkRow row;
  QmWorkCall order[6];
  QmWork work = work_of (&row, order);
  QmExchanged exchanged;

  speeds.latency = 0;
  speeds.exchange = 1e9 / seconds;
  CHECK_INT (qm_predict_rows (&work, &speeds, level, call, NULL), QM_OK);
  *call *= 1 + speeds.slower;
  CHECK_INT (qm_predict_ranks (&work, &exchange, level, &prediction, &exchanged,
                               NULL),
             QM_OK);
  CHECK_NEAR (exchanged.total, seconds, 1e-9);
  CHECK_NEAR (exchanged.pass, 3 * *call, 1e-9);
  CHECK_NEAR (prediction.pass, 3 * *call, 1e-9);
  CHECK_NEAR (prediction.step, 9 * *call + prediction.exchange, 1e-9);
  return prediction.exchange;
}

static void
test_by_hand (void)
{
  double call, exposed;

  exposed = exposed_with (0, 0.001, &call);
  CHECK (call > 0.005);
  CHECK (fabs (exposed) < 1e-9);
  /* As long as five of the two that hide it. */
  exposed = exposed_with (0, 5 * call, &call);
  CHECK_NEAR (exposed, 3 * call, 1e-9);
  /* A quarter of what goes on meanwhile is taken, or all. */
  exposed = exposed_with (0.25, call, &call);
  CHECK_NEAR (exposed, 0.25 * call, 1e-9);
  exposed = exposed_with (1, call, &call);
  CHECK_NEAR (exposed, call, 1e-9);
}

static QmStatus
find (const char *model_id,
      const char *gpu_id,
      const QmSpeeds *speeds,
      const QmLinkTimes *measured,
      const QmSearchConfig *config,
      QmWayFound *found)
{
  const QmModel *model = qm_catalog_model (catalog, model_id);
  const QmGpu *gpu = qm_catalog_gpu (catalog, gpu_id);
  const QmLevel *level = qm_calibration_level (&calibration, "engine");
  QmExchange exchange = qm_exchange_of (speeds, level, measured);
  QmPlanOptions options = { .target = { QM_DEVICE_CUDA, speeds->architecture },
                            .methods = config->methods,
                            .checkpoint = config->checkpoint,
                            .ranks = speeds->gpus,
                            .sharding = config->sharding,
                            .offload = config->offload };

  CHECK (model != NULL && gpu != NULL);
  return qm_way_find (&model->config, &model->recipe, &options,
                      (uint64_t) (gpu->memory_gib * 0.98 * 0x1p30), &exchange,
                      level, found, NULL);
}

/* A way that our own software has no kernels for, other software may go. */
static void
test_foreign (void)
{
  static const char text[] = "{\"model_type\":\"mamba\",\"hidden_size\":16,"
                             "\"num_hidden_layers\":1,\"vocab_size\":60,"
                             "\"state_size\":64}";
  QmRecipe recipe = qm_catalog_model (catalog, "mamba-2.8b")->recipe;
  QmModelConfig config;
  QmSpeeds speeds;

  check_case ("other software");
  recipe.precision = QM_PRECISION_FP16;
  CHECK_INT (qm_model_config_parse (text, sizeof text - 1, "", &config, NULL),
             QM_OK);
  CHECK_INT (qm_speeds_of_gpu (&calibration, qm_catalog_gpu (catalog, "t4"), 2,
                               QM_INTERCONNECT_OF_GPU, &speeds, NULL),
             QM_OK);
  for (int own = 0; own < 2; own++)
    for (int64_t size = 0; size < 2; size++)
      {
        const QmLevel *level =
            qm_calibration_level (&calibration, own ? "engine" : "tuned");
        const QmExchange exchange = qm_exchange_of (&speeds, level, NULL);
        const QmPlanOptions options = { .target = { QM_DEVICE_CUDA,
                                                    speeds.architecture },
                                        .methods = QM_METHOD_ALL,
                                        .micro_batch = size,
                                        .ranks = 2,
                                        .sharding = QM_SHARDING_ZERO_1 };
        QmWayFound found;

        CHECK_INT (qm_way_find (&config, &recipe, &options, UINT64_C (15) << 30,
                                &exchange, level, &found, NULL),
                   own ? QM_STATUS_UNSUPPORTED : QM_OK);
        CHECK (own || found.fits);
      }
}

/* Of every way: an exchange that costs nothing leaves nothing exposed, a slower
 * link is never faster, and what is exposed is no more than what there is. */
static void
test_ways (void)
{
  QmSearchConfig configs[QM_SEARCH_MOST];
  size_t n = qm_search_configurations (QM_SEARCH_ALL, 4, configs);
  size_t fitted = 0;

  CHECK_INT (n, 23);
  for (size_t i = 0; i < n; i++)
    {
      QmSpeeds speeds = speeds_of ("rtx4090", 4, QM_INTERCONNECT_OF_GPU);
      QmWayFound slow, fast, none;

      CHECK_INT (speeds.way, QM_WAY_HOST);
      CHECK_INT (find ("pythia-410m", "rtx4090", &speeds, NULL, &configs[i],
                       &slow),
                 QM_OK);
      fitted += slow.fits;
      CHECK (slow.prediction.exchange > 0);
      CHECK (slow.prediction.exchange <= slow.exchanged.total * (1 + 1e-9));
      speeds.exchange *= 20;
      CHECK_INT (find ("pythia-410m", "rtx4090", &speeds, NULL, &configs[i],
                       &fast),
                 QM_OK);
      CHECK (fast.prediction.step < slow.prediction.step);
      speeds.exchange = INFINITY;
      speeds.latency = 0;
      CHECK_INT (find ("pythia-410m", "rtx4090", &speeds, NULL, &configs[i],
                       &none),
                 QM_OK);
      CHECK (none.prediction.exchange < 1e-6 * none.prediction.step);
      CHECK (none.prediction.step < fast.prediction.step);
    }
  CHECK_INT (fitted, n);
}

/* The type that is said of sums over ranks is the one that is queued, by the
 * first node that does it. */
static void
test_sums (void)
{
  const QmModel *model = qm_catalog_model (catalog, "pythia-160m");
  QmSearchConfig configs[QM_SEARCH_MOST];
  size_t n = qm_search_configurations (QM_SEARCH_ALL, 2, configs), narrow = 0;

  CHECK_INT (model->recipe.precision, QM_PRECISION_FP16);
  for (size_t i = 0; i < n; i++)
    {
      QmPlanOptions options = { .target = { QM_DEVICE_CUDA, 90 },
                                .micro_batch = 1,
                                .methods = configs[i].methods,
                                .checkpoint = configs[i].checkpoint,
                                .ranks = 2,
                                .sharding = configs[i].sharding,
                                .offload = configs[i].offload };
      QmPrecision sums = qm_plan_sums (&options, &model->recipe);
      QmPlan *plan;
      const QmNode *node;
      QmValueId sent;

      CHECK_INT (qm_plan_new (&model->config, &model->recipe, &options, &plan,
                              NULL),
                 QM_OK);
      node = plan->graph->nodes;
      while (node->op != QM_OP_SEND && node->op != QM_OP_ALL_REDUCE
             && node->op != QM_OP_REDUCE_SCATTER)
        node++;
      CHECK (node->phase != QM_PHASE_UPDATE);
      sent = node->op == QM_OP_SEND ? node->inputs[0] : node->outputs[0];
      CHECK_INT (plan->graph->values[sent].tensor.type,
                 sums == QM_PRECISION_FP32 ? QM_TYPE_F32 : QM_TYPE_F16);
      narrow += sums == QM_PRECISION_FP16;
      qm_plan_free (plan);
    }
  CHECK_INT (narrow, 16);
}

/* A way is measured at a smaller micro-batch only where that is as fast and
 * makes it shorter. */
static void
test_shorten (void)
{
  const QmLevel *level = qm_calibration_level (&calibration, "engine");
  const QmModel *model = qm_catalog_model (catalog, "pythia-1b");
  QmSpeeds speeds = speeds_of ("h200-141gb-sxm", 2, QM_INTERCONNECT_OF_GPU);
  QmExchange exchange = qm_exchange_of (&speeds, level, NULL);
  const uint64_t bytes = (uint64_t) 139 << 30;
  QmSearchConfig configs[QM_SEARCH_MOST];
  size_t n = qm_search_configurations (QM_SEARCH_ALL, 2, configs), shorter = 0;

  for (size_t i = 0; i < n; i++)
    {
      QmPlanOptions options = { .target = { QM_DEVICE_CUDA, 90 },
                                .methods = configs[i].methods,
                                .checkpoint = configs[i].checkpoint,
                                .ranks = 2,
                                .sharding = configs[i].sharding,
                                .offload = configs[i].offload };
      QmPlanOptions same;
      QmWayFound largest, found;
      QmMemory memory;
      QmShortage shortage;
      bool fits;

      CHECK_INT (qm_search_fit (&model->config, &model->recipe, &options, bytes,
                                &memory, &fits, &shortage, NULL),
                 QM_OK);
      CHECK (fits);
      CHECK_INT (qm_way_find (&model->config, &model->recipe, &options, bytes,
                              &exchange, level, &largest, NULL),
                 QM_OK);
      same = options;
      CHECK_INT (qm_way_shorten (&model->config, &model->recipe, &same, bytes,
                                 &exchange, level, INFINITY, &memory, NULL),
                 QM_OK);
      CHECK_INT (same.micro_batch, options.micro_batch);
      CHECK_INT (qm_way_shorten (&model->config, &model->recipe, &options,
                                 bytes, &exchange, level, 1.5, &memory, NULL),
                 QM_OK);
      CHECK_INT (qm_way_find (&model->config, &model->recipe, &options, bytes,
                              &exchange, level, &found, NULL),
                 QM_OK);
      CHECK (found.prediction.step <= 1.005 * largest.prediction.step);
      CHECK_INT (memory.total, found.memory.total);
      CHECK_INT (largest.micro_batch % found.micro_batch, 0);
      if (found.micro_batch == largest.micro_batch)
        continue;
      shorter++;
      CHECK (largest.prediction.pass > 1.5 && found.prediction.pass > 0.5);
      CHECK (found.prediction.pass < 0.6 * largest.prediction.pass);
    }
  /* Of those that save memory a pass at the largest takes seconds. */
  CHECK (shorter >= 8);
}

/* One GPU has nothing to exchange, and takes as long as ever. */
static void
test_one (void)
{
  const QmLevel *level = qm_calibration_level (&calibration, "engine");
  const QmModel *model = qm_catalog_model (catalog, "pythia-160m");
  QmSpeeds speeds = speeds_of ("rtx4090", 1, QM_INTERCONNECT_OF_GPU);
  QmPlanOptions options = { .target = { QM_DEVICE_CUDA, 89 },
                            .micro_batch = 4,
                            .methods = QM_METHOD_ALL };
  const QmSearchConfig config = { .methods = QM_METHOD_ALL };
  QmPrediction plain, ranks;
  QmWayFound found;
  QmPlan *plan;
  QmWork *work;
  QmExchange exchange = qm_exchange_of (&speeds, level, NULL);

  CHECK_INT (qm_plan_new (&model->config, &model->recipe, &options, &plan,
                          NULL),
             QM_OK);
  CHECK_INT (qm_work_new (plan, &work, NULL), QM_OK);
  CHECK (work->order == NULL);
  CHECK_INT (qm_predict (work, &speeds, level, &plain, NULL), QM_OK);
  CHECK_INT (qm_predict_ranks (work, &exchange, level, &ranks, NULL, NULL),
             QM_OK);
  CHECK_NEAR (ranks.step, plain.step, 1e-12);
  CHECK_INT (find ("pythia-160m", "rtx4090", &speeds, NULL, &config, &found),
             QM_OK);
  CHECK (found.fits && found.prediction.exchange < 1e-12);
  speeds.gpus = 2;
  CHECK_INT (qm_predict_ranks (work, &exchange, level, &ranks, NULL, NULL),
             QM_STATUS_INVALID);
  qm_work_free (work);
  qm_plan_free (plan);
}

static QmStatus
load_text (const char *text, QmLinkTimes *times)
{
  char path[] = "/tmp/test-exchange-XXXXXX";
  int file = mkstemp (path);
  FILE *stream = fdopen (file, "w");
  QmError error = { 0 };
  QmStatus status;

  CHECK (stream != NULL && fputs (text, stream) >= 0);
  CHECK_INT (fclose (stream), 0);
  status = qm_link_times_load (path, times, &error);
  CHECK (status == QM_OK || error.message[0] != '\0');
  remove (path);
  return status;
}

#define TIME(b, s) "{\"bytes\": " b ", \"seconds\": " s ", \"bus_gbs\": 1.5}"
#define TWO        "{\"devices\": [{}, {\"x\": 1}], \"provenance\": \"measured\", "
#define ALL(times)                                                           \
  "\"collectives\": {\"all_reduce\": [" times                                \
  "], \"reduce_scatter\": [" TIME ("8", "0.1") "], \"all_gather\": [" TIME ( \
      "8", "0.1") "]}}"

/* Of several machines, which have equally many. */
static void
test_machines_of_file (void)
{
  QmLinkTimes times;

  CHECK_INT (load_text (TWO "\"gpus\": 4, \"nodes\": 2, " ALL (TIME ("8", "1")),
                        &times),
             QM_OK);
  CHECK_INT (times.ranks, 4);
  CHECK_INT (times.nodes, 2);
  for (int nodes = 3; nodes <= 8; nodes += 5)
    {
      char text[1024];

      snprintf (text, sizeof text,
                TWO "\"gpus\": 4, \"nodes\": %d, " ALL (TIME ("8", "1")),
                nodes);
      CHECK_INT (load_text (text, &times), QM_STATUS_INVALID);
    }
}

static void
test_file (void)
{
  QmLinkTimes times;

  CHECK_INT (load_text (TWO "\"transport\": \"host\", \"pairs\": [1], " ALL (
                            TIME ("64", "0.5") ", " TIME ("128", "0.75")),
                        &times),
             QM_OK);
  CHECK_INT (times.ranks, 2);
  CHECK_STRING (times.transport, "host");
  CHECK_INT (times.n[QM_LINKS_ALL_REDUCE], 2);
  CHECK_NEAR (times.times[QM_LINKS_ALL_REDUCE][1].seconds, 0.75, 1e-12);
  CHECK_INT (times.n[QM_LINKS_ALL_GATHER], 1);
  CHECK_INT (load_text (TWO ALL (TIME ("64", "0.5") ", " TIME ("32", "0.5")),
                        &times),
             QM_STATUS_INVALID);
  CHECK (load_text (TWO ALL (TIME ("64", "-1")), &times) != QM_OK);
  CHECK (load_text (TWO ALL ("3"), &times) != QM_OK);
  CHECK (load_text (TWO ALL (""), &times) != QM_OK);
  CHECK (load_text (TWO "\"more\": 1, " ALL (TIME ("8", "1")), &times)
         != QM_OK);
  CHECK (load_text ("{\"devices\": [{}]}", &times) != QM_OK);
  test_machines_of_file ();
  CHECK (load_text ("[]", &times) != QM_OK);
}

int
main (void)
{
  const char *folder = getenv ("QM_TEST_DATA_DIR");
  char path[PATH_MAX];

  CHECK (folder != NULL);
  CHECK_INT (qm_catalog_load (folder, NULL, &catalog, NULL), QM_OK);
  snprintf (path, sizeof path, "%s/calibration.csv", folder);
  CHECK_INT (qm_calibration_load (path, &calibration, NULL), QM_OK);
  test_seconds ();
  test_by_hand ();
  test_foreign ();
  test_ways ();
  test_sums ();
  test_shorten ();
  test_one ();
  test_file ();
  qm_catalog_free (catalog);
  return check_report ();
}
