/* SPDX-License-Identifier: Apache-2.0 */

/* A user's files extend and override the shipped ones. */

#include "data/catalog.h"
#include "data/text.h"
#include "tests/data/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prices in the test's catalog. */
#define N_PRICES 74

static QmCatalog *
load (void)
{
  QmCatalog *catalog = NULL;
  QmError error;
  const QmError *problems;
  size_t n;

  CHECK (qm_catalog_load (getenv ("QM_TEST_DATA_DIR"), scratch_path ("user"),
                          &catalog, &error)
         == QM_OK);
  problems = qm_catalog_problems (catalog, &n);
  CHECK_INT ((int64_t) n, 0);
  for (size_t i = 0; i < n; i++)
    printf ("%s:%d:%d: %s\n", problems[i].file, problems[i].line,
            problems[i].column, problems[i].message);
  return catalog;
}

static void
test_gpus (void)
{
  QmCatalog *catalog;
  const QmGpu *gpus;
  size_t n;

  check_case ("GPUs");
  scratch_clear ();
  /* With a byte order mark, blanks, CRLF and columns in another order. */
  scratch_write_text ("user/gpus.csv",
                      "\xef\xbb\xbfsource, name ,id,fp16_tflops,memory_gib\r\n"
                      "test,\"Card, \"\"mine\"\" ä\",my-card.2,80.5,32\r\n"
                      "\r\n"
                      "test,Our A6000,a6000,150,48\r\n");
  catalog = load ();
  gpus = qm_catalog_gpus (catalog, &n);
  CHECK_INT ((int64_t) n, 36);
  CHECK_STRING (gpus[35].id, "my-card.2");
  CHECK_STRING (gpus[35].name, "Card, \"mine\" ä");
  CHECK_NEAR (gpus[35].fp16_tflops, 80.5, 0);
  CHECK_INT (gpus[35].bf16, QM_UNSTATED);
  CHECK (!qm_known (gpus[35].nvlink_gbs));
  CHECK_STRING (gpus[35].notes, "");

  CHECK_STRING (gpus[5].id, "a6000");
  CHECK_STRING (gpus[5].name, "Our A6000");
  CHECK (!qm_known (gpus[5].tdp_w));
  CHECK (qm_catalog_gpu (catalog, "a6000") == &gpus[5]);
  qm_catalog_free (catalog);
}

/* The least and the most that a column may hold are good. */
static void
test_limits (void)
{
  QmCatalog *catalog;
  const QmGpu *gpu;

  check_case ("limits");
  scratch_clear ();
  scratch_write_text (
      "user/gpus.csv",
      "id,name,memory_gib,fp16_tflops,tdp_w,pcie_generation,pcie_lanes,"
      "launch_price_usd,source\n"
      "least,L,0.001,0.001,1e-3,1,1,0,t\n"
      "most,M,10000000,1e7,10000000.0,100,1024,1000000000,t\n");
  scratch_write_text (
      "user/measurements/m.csv",
      "model,gpu,gpus,settings,feasibility,days,days_low,days_high,"
      "provenance,source\n"
      "pythia-1b,least,1000000,optimal,feasible,1e9,1e9,1e9,predicted,t\n"
      "pythia-1b,most,1,optimal,feasible,1e-9,1e-9,1e-9,predicted,t\n");
  catalog = load ();
  gpu = qm_catalog_gpu (catalog, "least");
  CHECK (gpu != NULL && qm_catalog_gpu (catalog, "most") != NULL);
  if (gpu != NULL && qm_catalog_gpu (catalog, "most") != NULL)
    {
      CHECK_NEAR (gpu->memory_gib, 0.001, 0);
      CHECK_NEAR (gpu->pcie_lanes, 1, 0);
      CHECK_NEAR (gpu->launch_price_usd, 0, 0);
      gpu = qm_catalog_gpu (catalog, "most");
      CHECK_NEAR (gpu->fp16_tflops, 1e7, 0);
      CHECK_NEAR (gpu->pcie_lanes, 1024, 0);
      CHECK_NEAR (gpu->launch_price_usd, 1e9, 0);
    }
  qm_catalog_free (catalog);
}

/* The shipped measurements are the overridden GPU's. */
static void
test_references (void)
{
  QmCatalog *catalog;
  const QmMeasurement *all;
  size_t n, found = 0;

  check_case ("references");
  scratch_clear ();
  scratch_write_text ("user/gpus.csv", "id,name,memory_gib,fp16_tflops,source\n"
                                       "a6000,Our A6000,48,150,test\n"
                                       "new-1,New,48,150,test\n");
  scratch_write_text (
      "user/measurements/a.csv",
      "model,gpu,gpus,settings,feasibility,days,provenance,source\n"
      "pythia-1b,new-1,2,optimal,feasible,10,measured,ours\n"
      "pythia-1b,a6000,1,optimal,feasible,99,published,"
      "\"arXiv 2410.23261, table 1\"\n");
  scratch_write_text (
      "user/measurements/b.csv",
      "model,gpu,gpus,settings,feasibility,days,days_low,days_high,"
      "checkpointing,provenance,measured_on,source\n"
      "pythia-1b,new-1,2,optimal,feasible,11,,,yes,measured,2026-03,ours\n"
      "pythia-1b,new-1,4,optimal,feasible,6,5,7.5,,predicted,,ours\n");
  scratch_write_text ("user/measurements/.hidden.csv", "garbage");
  scratch_write_text ("user/measurements/notes.txt", "garbage");
  catalog = load ();
  all = qm_catalog_measurements (catalog, &n);
  CHECK_INT ((int64_t) n, 288 + 2);
  for (size_t i = 0; i < n; i++)
    if (strcmp (all[i].gpu->id, "a6000") == 0)
      {
        CHECK_STRING (all[i].gpu->name, "Our A6000");
        if (all[i].gpus == 1 && all[i].settings == QM_SETTINGS_OPTIMAL
            && strcmp (all[i].model->id, "pythia-1b") == 0)
          {
            found++;
            CHECK (i < 288);
            CHECK_NEAR (all[i].days, 99, 0);
            CHECK_STRING (all[i].sharding, "");
            CHECK_INT (all[i].offloading, QM_UNSTATED);
          }
      }
  CHECK_INT ((int64_t) found, 1);
  CHECK_NEAR (all[288].days, 11, 0);
  CHECK_INT (all[288].checkpointing, QM_YES);
  CHECK_INT (all[288].measured_on.month, 3);
  CHECK (all[288].rounding_days == 0);
  CHECK_NEAR (all[289].days_low, 5, 0);
  CHECK_NEAR (all[289].days_high, 7.5, 0);
  qm_catalog_free (catalog);
}

static void
test_machines (void)
{
  QmCatalog *catalog;
  const QmMachine *machine;
  const QmPrice *prices;
  size_t n;

  check_case ("machines");
  scratch_clear ();
  scratch_write_text (
      "user/machines.csv",
      "machine,name,kind,gpus,part,detail,price,currency,quoted_on,source\n"
      "server-4gpu,Our server,server,5,,,6999.5,EUR,2026-01-31,reseller\n"
      "rack,Rack,server,10,,,,,,attic\n"
      "server-4gpu,,,,CPU,Fast,100,EUR,,\n"
      "rack,,,,Shelf,,,,,\n"
      "server-4gpu,,,,Memory,Much,,,,\n");
  catalog = load ();
  qm_catalog_machines (catalog, &n);
  CHECK_INT ((int64_t) n, 5);
  machine = qm_catalog_machine (catalog, "server-4gpu");
  CHECK_STRING (machine->name, "Our server");
  CHECK_INT (machine->gpus, 5);
  CHECK_INT ((int64_t) machine->n_parts, 2);
  CHECK_STRING (machine->parts[0].detail, "Fast");
  CHECK_INT (machine->parts[0].price_micros, 100000000);
  CHECK_STRING (machine->parts[0].currency, "EUR");
  CHECK_STRING (machine->parts[1].part, "Memory");
  CHECK_INT (machine->parts[1].price_micros, -1);
  machine = qm_catalog_machine (catalog, "rack");
  CHECK_INT ((int64_t) machine->n_parts, 1);
  CHECK_STRING (machine->parts[0].part, "Shelf");

  prices = qm_catalog_prices (catalog, &n);
  CHECK_INT ((int64_t) n, N_PRICES + 1);
  CHECK_STRING (prices[N_PRICES].item, "server-4gpu");
  CHECK_INT (prices[N_PRICES].kind, QM_PRICE_QUOTE);
  CHECK_INT (prices[N_PRICES].micros, 6999500000);
  CHECK_STRING (prices[N_PRICES].currency, "EUR");
  CHECK_INT (prices[N_PRICES].observed_on.day, 31);
  CHECK (prices[N_PRICES].from_user);
  qm_catalog_free (catalog);
}

static const QmPlatform *
find_platform (const QmCatalog *catalog, const char *id)
{
  size_t n;
  const QmPlatform *platforms = qm_catalog_platforms (catalog, &n);

  for (size_t i = 0; i < n; i++)
    if (strcmp (platforms[i].id, id) == 0)
      return &platforms[i];
  return NULL;
}

static void
test_platforms (void)
{
  QmCatalog *catalog;
  const QmPlatform *platform;
  const QmPrice *prices;
  size_t n, n_known;

  check_case ("platforms");
  scratch_clear ();
  catalog = load ();
  qm_catalog_platforms (catalog, &n_known);
  qm_catalog_free (catalog);
  scratch_write_text (
      "user/platforms.csv",
      "id,name,form,rack_units,gpus,sold_with,takes,slot_width,gpu_watts,"
      "psu_watts,psus,psu_spare,host_watts,memory_gib,memory_max_gib,"
      "memory_kind,cooling,noise,unverified,source\n"
      "tower,Our tower,desktop,,2,,open blower,3.5,450,1600,1,,250,64,192,"
      "ddr5-udimm,air,office,noise;host_watts,attic\n"
      "board,A board,rack,8,8,h100-80gb-sxm,,,,3300,6,2,2600,2048,4096,"
      "soldered,liquid,machine-room,,dealer\n");
  scratch_write_text ("user/prices.csv",
                      "item,kind,unit,price,low,high,currency,observed_on,"
                      "source\n"
                      "tower,estimate,,,1900,2600,EUR,2026-09,sum\n"
                      "memory-ddr5-udimm,street,gib,13.5,,,USD,2026-08,shop\n");
  catalog = load ();
  qm_catalog_problems (catalog, &n);
  CHECK_INT ((int64_t) n, 0);
  qm_catalog_platforms (catalog, &n);
  CHECK_INT ((int64_t) n, (int64_t) n_known + 2);
  platform = find_platform (catalog, "tower");
  CHECK_STRING (platform->name, "Our tower");
  CHECK_INT (platform->form, QM_PLATFORM_DESKTOP);
  CHECK (!qm_known (platform->rack_units));
  CHECK_INT (platform->gpus, 2);
  CHECK_STRING (platform->sold_with, "");
  CHECK_INT (platform->takes,
             (1 << QM_GPU_COOLING_OPEN) | (1 << QM_GPU_COOLING_BLOWER));
  CHECK_NEAR (platform->slot_width, 3.5, 0);
  CHECK_NEAR (platform->psu_watts, 1600, 0);
  CHECK_INT (platform->psus, 1);
  CHECK_INT (platform->psu_spare, 0);
  CHECK_INT (platform->memory_kind, QM_MEMORY_DDR5_UDIMM);
  CHECK_STRING (qm_memory_kind_item (platform->memory_kind),
                "memory-ddr5-udimm");
  CHECK_INT (platform->liquid, QM_NO);
  CHECK_INT (platform->noise, QM_NOISE_OFFICE);
  CHECK_STRING (platform->unverified, "noise;host_watts");
  platform = find_platform (catalog, "board");
  CHECK_STRING (platform->sold_with, "h100-80gb-sxm");
  CHECK_INT (platform->takes, 0);
  CHECK_INT (platform->liquid, QM_YES);
  CHECK (qm_memory_kind_item (platform->memory_kind) == NULL);
  CHECK (find_platform (catalog, "h100-80gb-sxm") == NULL);

  prices = qm_catalog_prices (catalog, &n);
  CHECK_INT (prices[n - 2].kind, QM_PRICE_ESTIMATE);
  CHECK_INT (prices[n - 2].high_micros, 2600000000);
  CHECK_INT (prices[n - 1].unit, QM_PRICE_GIB);
  CHECK_INT (prices[n - 1].micros, 13500000);
  qm_catalog_free (catalog);
}

static void
test_prices (void)
{
  QmCatalog *catalog;
  const QmPrice *prices;
  size_t n, replaced = 0;

  check_case ("prices");
  scratch_clear ();
  scratch_write_text (
      "user/prices.csv",
      "item,kind,unit,gpus,price,low,high,currency,observed_on,source\n"
      "a6000,quote,,,4321.123456,,,EUR,2026-05-04,reseller\n"
      "a6000,quote,,,4000,,,EUR,2026-05-05,reseller\n"
      "server-4gpu,street,each,1,,1,2,USD,,somebody\n"
      "rtx3090,list,each,1,1,,,USD,,launch list price\n"
      "a6000,street,each,1,,3,3,USD,,a range of one price\n"
      "l4,cloud,hour,3,0,,,USD,2026,free\n");
  catalog = load ();
  prices = qm_catalog_prices (catalog, &n);
  CHECK_INT ((int64_t) n, N_PRICES + 5);
  CHECK_INT (prices[N_PRICES].micros, 4321123456);
  CHECK (prices[N_PRICES].from_user && !prices[0].from_user);
  CHECK_INT (prices[N_PRICES + 2].micros, -1);
  CHECK_INT (prices[N_PRICES + 2].high_micros, 2000000);
  CHECK_INT (prices[N_PRICES + 3].low_micros, 3000000);
  CHECK_INT (prices[N_PRICES + 3].high_micros, 3000000);
  CHECK_INT (prices[N_PRICES + 4].gpus, 3);
  CHECK_INT (prices[N_PRICES + 4].micros, 0);
  for (size_t i = 0; i < N_PRICES; i++)
    if (prices[i].from_user)
      {
        replaced++;
        CHECK_STRING (prices[i].item, "rtx3090");
        CHECK_INT (prices[i].micros, 1000000);
      }
  CHECK_INT ((int64_t) replaced, 1);
  qm_catalog_free (catalog);
}

static const char model[] =
    "{ \"id\": \"%s\", \"name\": \"%s\", \"source\": \"test\",\n"
    "  \"config\": { \"model_type\": \"bert\", \"hidden_size\": 64,\n"
    "    \"num_hidden_layers\": 2, \"num_attention_heads\": 4,\n"
    "    \"intermediate_size\": 128 },\n"
    "  \"recipe\": { \"batch_size\": 8, \"steps\": 10,\n"
    "    \"sequence_length\": 128, \"precision\": \"fp32\",\n"
    "    \"optimizer\": \"adam\", \"learning_rate\": 1e-4, \"beta1\": 0.9,\n"
    "    \"beta2\": 0.999, \"epsilon\": 1e-8, \"weight_decay\": 0 } }\n";

static void
test_models (void)
{
  char text[1024];
  QmCatalog *catalog;
  const QmModel *models;
  const QmMeasurement *all;
  const QmError *notices;
  size_t n;

  check_case ("models");
  scratch_clear ();
  snprintf (text, sizeof text, model, "tiny", "Tiny");
  scratch_write_text ("user/models/b.json", text);
  snprintf (text, sizeof text, model, "pythia-1b", "Replaced");
  scratch_write_text ("user/models/a.json", text);
  catalog = load ();
  models = qm_catalog_models (catalog, &n);
  CHECK_INT ((int64_t) n, 10);
  CHECK_STRING (models[9].id, "tiny");
  CHECK_INT (models[9].config.family, QM_FAMILY_BERT);
  CHECK_INT (models[9].config.bert.vocab_size, 30522);
  CHECK_INT (models[9].recipe.batch_size, 8);
  CHECK (models[9].recipe.max_grad_norm == 0);
  CHECK (!qm_known (models[9].recipe.dropout));
  CHECK_STRING (qm_catalog_model (catalog, "pythia-1b")->name, "Replaced");
  /* Times of what had that name are not its. */
  all = qm_catalog_measurements (catalog, &n);
  CHECK_INT ((int64_t) n, 256);
  for (size_t i = 0; i < n; i++)
    CHECK (strcmp (all[i].model->id, "pythia-1b") != 0);
  notices = qm_catalog_notices (catalog, &n);
  CHECK_INT ((int64_t) n, 1);
  CHECK_CONTAINS (notices[0].file, "a.json");
  CHECK_CONTAINS (notices[0].message, "32 times of the model that was there");
  qm_catalog_free (catalog);
}

/* Another name alone leaves a model its times. */
static void
test_renamed (void)
{
  char path[1024], *text = NULL, *name;
  QmCatalog *catalog;
  const QmMeasurement *all;
  QmError error;
  size_t n, of_it = 0;

  check_case ("renamed");
  scratch_clear ();
  snprintf (path, sizeof path, "%s/models/pythia-1b.json",
            getenv ("QM_TEST_DATA_DIR"));
  CHECK_INT (qm_text_read_file (path, &text, &n, &error), QM_OK);
  name = strstr (text, "Pythia");
  CHECK (name != NULL);
  if (name != NULL)
    memcpy (name, "Mython", 6);
  scratch_write_text ("user/models/mine.json", text);
  free (text);
  catalog = load ();
  all = qm_catalog_measurements (catalog, &n);
  CHECK_INT ((int64_t) n, 288);
  for (size_t i = 0; i < n; i++)
    if (strcmp (all[i].model->id, "pythia-1b") == 0)
      {
        CHECK_CONTAINS (all[i].model->name, "Mython");
        of_it++;
      }
  CHECK_INT ((int64_t) of_it, 32);
  qm_catalog_notices (catalog, &n);
  CHECK_INT ((int64_t) n, 0);
  qm_catalog_free (catalog);
}

/* A file that names a GPU of a refused file is refused too; no other is. */
static void
test_cascade (void)
{
  QmCatalog *catalog = NULL;
  const QmError *problems;
  QmError error;
  size_t n;

  check_case ("cascade");
  scratch_clear ();
  scratch_write_text ("user/gpus.csv", "id,name,memory_gib,fp16_tflops,source\n"
                                       "new-1,New,48,fast,test\n");
  scratch_write_text ("user/prices.csv", "item,kind,price,currency,source\n"
                                         "new-1,quote,1,USD,test\n");
  scratch_write_text (
      "user/machines.csv",
      "machine,name,kind,gpus,source\nrack,Rack,server,10,attic\n");
  CHECK (qm_catalog_load (getenv ("QM_TEST_DATA_DIR"), scratch_path ("user"),
                          &catalog, &error)
         == QM_OK);
  problems = qm_catalog_problems (catalog, &n);
  CHECK_INT ((int64_t) n, 2);
  CHECK_CONTAINS (problems[0].file, "gpus.csv");
  CHECK_CONTAINS (problems[1].file, "prices.csv");
  CHECK_CONTAINS (problems[1].message, "unknown GPU or machine 'new-1'");
  CHECK (qm_catalog_machine (catalog, "rack") != NULL);
  CHECK (qm_catalog_gpu (catalog, "new-1") == NULL);
  qm_catalog_free (catalog);
}

/* The nearest name of two lists. */
static void
test_nearest (void)
{
  QmCatalog *catalog = NULL;
  const QmError *problems;
  QmError error;
  size_t n;

  check_case ("nearest");
  scratch_clear ();
  scratch_write_text ("user/machines.csv",
                      "machine,name,kind,gpus,source\nh100-box,B,server,8,t\n");
  scratch_write_text ("user/prices.csv", "item,kind,price,currency,source\n"
                                         "h100,quote,1,USD,test\n");
  CHECK (qm_catalog_load (getenv ("QM_TEST_DATA_DIR"), scratch_path ("user"),
                          &catalog, &error)
         == QM_OK);
  problems = qm_catalog_problems (catalog, &n);
  CHECK_INT ((int64_t) n, 1);
  CHECK_STRING (problems[0].message, "item: unknown GPU or machine 'h100'; did "
                                     "you mean 'h100-box'?");
  qm_catalog_free (catalog);
}

/* Many entries: the index grows. */
static void
test_many (void)
{
  static char text[200000];
  QmCatalog *catalog;
  size_t n, used;

  check_case ("many");
  scratch_clear ();
  used = (size_t) snprintf (text, sizeof text,
                            "id,name,memory_gib,fp16_tflops,source\n");
  for (int i = 0; i < 5000; i++)
    used += (size_t) snprintf (text + used, sizeof text - used,
                               "gpu-%d,G%d,%d,1,t\n", i, i, i + 1);
  scratch_write_text ("user/gpus.csv", text);
  catalog = load ();
  qm_catalog_gpus (catalog, &n);
  CHECK_INT ((int64_t) n, 5035);
  CHECK_NEAR (qm_catalog_gpu (catalog, "gpu-4999")->memory_gib, 5000, 0);
  CHECK_NEAR (qm_catalog_gpu (catalog, "gpu-0")->memory_gib, 1, 0);
  CHECK_STRING (qm_catalog_gpu (catalog, "a6000")->name, "RTX A6000");
  qm_catalog_free (catalog);
}

int
main (void)
{
  scratch_begin ();
  test_gpus ();
  test_limits ();
  test_references ();
  test_machines ();
  test_platforms ();
  test_prices ();
  test_models ();
  test_renamed ();
  test_cascade ();
  test_nearest ();
  test_many ();
  scratch_end ();
  return check_report ();
}
