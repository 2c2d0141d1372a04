/* SPDX-License-Identifier: Apache-2.0 */

/* Loading a catalog while memory is out: every allocation in turn fails, alone
 * or with all after it.  The program is linked with --wrap, so that the
 * allocations of data/ come here. */

#include "data/catalog.h"
#include "tests/data/check.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static long n_allocations;
static long fail_at = -1;
static bool fail_after;

static bool
fails (void)
{
  long n = n_allocations++;

  return fail_at >= 0 && (n == fail_at || (fail_after && n > fail_at));
}

void *__real_malloc (size_t size);
void *__real_calloc (size_t n, size_t size);
void *__real_realloc (void *memory, size_t size);
void *__wrap_malloc (size_t size);
void *__wrap_calloc (size_t n, size_t size);
void *__wrap_realloc (void *memory, size_t size);

void *
__wrap_malloc (size_t size)
{
  return fails () ? NULL : __real_malloc (size);
}

void *
__wrap_calloc (size_t n, size_t size)
{
  return fails () ? NULL : __real_calloc (n, size);
}

void *
__wrap_realloc (void *memory, size_t size)
{
  return fails () ? NULL : __real_realloc (memory, size);
}

static void
write_files (const char *directory)
{
  char name[64];
  char text[1024];
  int used;

  snprintf (name, sizeof name, "%s/gpus.csv", directory);
  used =
      snprintf (text, sizeof text, "id,name,memory_gib,fp16_tflops,source\n");
  for (int i = 0; i < 40; i++)
    used += snprintf (text + used, sizeof text - (size_t) used,
                      "x%d,X,24,71,t\n", i);
  scratch_write_text (name, text);
  snprintf (name, sizeof name, "%s/machines.csv", directory);
  scratch_write_text (name,
                      "machine,name,kind,gpus,part,price,currency,source\n"
                      "m1,M,server,4,,1,USD,t\nm1,,,,CPU,,,\n");
  snprintf (name, sizeof name, "%s/prices.csv", directory);
  scratch_write_text (name, "item,kind,price,currency,source\n"
                            "x1,street,12,USD,t\n");
  snprintf (name, sizeof name, "%s/models/m.json", directory);
  scratch_write_text (
      name, "{\"id\": \"tiny\", \"name\": \"Tiny\", \"source\": \"t\","
            "\"config\": {\"model_type\": \"bert\", \"hidden_size\": 64,"
            "\"num_hidden_layers\": 2, \"num_attention_heads\": 4,"
            "\"intermediate_size\": 128},"
            "\"recipe\": {\"batch_size\": 8, \"steps\": 10,"
            "\"sequence_length\": 128, \"precision\": \"fp32\","
            "\"optimizer\": \"adam\", \"learning_rate\": 1e-4, \"beta1\": 0.9,"
            "\"beta2\": 0.999, \"epsilon\": 1e-8, \"weight_decay\": 0}}");
  snprintf (name, sizeof name, "%s/measurements/m.csv", directory);
  scratch_write_text (
      name, "model,gpu,gpus,settings,feasibility,days,provenance,source\n"
            "tiny,x1,2,optimal,feasible,10,measured,t\n");
}

/* Results of a model that is there, of a GPU that is not, and an unfinished
 * one. */
static void
write_results (const char *directory, const char *key)
{
  static const char *const gpus[] = { "x1", "x2", "unknown" };
  char name[64];
  char text[4096];
  int used = 0;

  snprintf (name, sizeof name, "%s/measurements/r.jsonl", directory);
  for (size_t i = 0; i < sizeof gpus / sizeof gpus[0]; i++)
    used += snprintf (
        text + used, sizeof text - (size_t) used,
        "{\"schema\":1,\"time\":\"2026-11-21T06:40:00Z\",\"model\":\"tiny\","
        "\"model_key\":\"%s\",\"engine\":\"quartermaster\",\"version\":\"1\","
        "\"gpu\":\"%s\",\"device\":{\"name\":\"%s\"},\"gpus\":1,"
        "\"settings\":\"naive\",\"checkpointing\":false,\"offloading\":false,"
        "\"sharding\":\"none\",\"status\":\"measured\",\"days\":1,"
        "\"step\":{\"mean_s\":1},\"micro_batch\":1,\"precision\":\"fp32\"}\n",
        key, gpus[i], gpus[i]);
  snprintf (text + used, sizeof text - (size_t) used, "{");
  scratch_write_text (name, text);
}

static QmStatus
load (QmCatalog **catalog, QmError *error)
{
  char shipped[4096];

  snprintf (shipped, sizeof shipped, "%s", scratch_path ("shipped"));
  *catalog = NULL;
  n_allocations = 0;
  return qm_catalog_load (shipped, scratch_path ("user"), catalog, error);
}

/* The number of allocations of an undisturbed load. */
static long
count_allocations (void)
{
  QmCatalog *catalog;
  QmError error;
  size_t n;

  CHECK (load (&catalog, &error) == QM_OK);
  qm_catalog_problems (catalog, &n);
  CHECK_INT ((int64_t) n, 1);
  qm_catalog_gpus (catalog, &n);
  CHECK_INT ((int64_t) n, 40);
  qm_catalog_notices (catalog, &n);
  CHECK_INT ((int64_t) n, 4);
  qm_catalog_measurements (catalog, &n);
  CHECK_INT ((int64_t) n, 3);
  qm_catalog_free (catalog);
  return n_allocations;
}

static void
model_key (char key[QM_MODEL_KEY_BYTES])
{
  QmCatalog *catalog;
  QmError error;
  const QmModel *tiny;

  CHECK (load (&catalog, &error) == QM_OK);
  tiny = qm_catalog_model (catalog, "tiny");
  qm_model_key (&tiny->config, &tiny->recipe, key);
  qm_catalog_free (catalog);
}

static QmStatus
load_failing (long n, bool after)
{
  QmCatalog *catalog;
  QmError error = { 0 };
  QmStatus status;

  fail_after = after;
  fail_at = n;
  status = load (&catalog, &error);
  fail_at = -1;
  CHECK ((status == QM_OK) == (catalog != NULL));
  CHECK_INT (error.status, status);
  qm_catalog_free (catalog);
  return status;
}

static void
test_own_allocations (void)
{
  long n = count_allocations ();

  CHECK (n > 20);
  for (long i = 0; i < n; i++)
    {
      CHECK_INT (load_failing (i, false), QM_STATUS_NO_MEMORY);
      CHECK_INT (load_failing (i, true), QM_STATUS_NO_MEMORY);
    }
}

/* jansson takes some failures for mistakes in the file. */
static void
test_jansson (void)
{
  long n;

  json_set_alloc_funcs (__wrap_malloc, free);
  n = count_allocations ();
  CHECK (n > 100);
  for (long i = 0; i < n; i++)
    {
      QmStatus status = load_failing (i, false);

      CHECK (status == QM_STATUS_NO_MEMORY || status == QM_OK);
      CHECK_INT (load_failing (i, true), QM_STATUS_NO_MEMORY);
    }
}

int
main (void)
{
  char key[QM_MODEL_KEY_BYTES];

  scratch_begin ();
  write_files ("shipped");
  write_files ("user");
  model_key (key);
  write_results ("shipped", key);
  write_results ("user", key);
  scratch_write_text ("user/prices.csv", "refused\n");
  test_own_allocations ();
  test_jansson ();
  scratch_end ();
  return check_report ();
}
