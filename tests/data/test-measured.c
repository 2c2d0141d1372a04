/* SPDX-License-Identifier: Apache-2.0 */

/* Results files as the catalog takes them: which result becomes the time of a
 * place, what is left out with a note, and what is refused. */

#include "data/catalog.h"
#include "tests/data/check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_NAME "user/measurements/results.jsonl"

/* What a line of a test says; the rest is the same in all. */
typedef struct Line
{
  const char *model;    /* NULL: pythia-1b */
  const char *key;      /* NULL: the catalog's */
  const char *gpu;      /* NULL: h200-141gb-sxm; empty: null */
  const char *engine;   /* NULL: quartermaster */
  const char *settings; /* NULL: free-lunch */
  const char *sharding; /* NULL: none */
  int gpus;             /* 0: 1 */
  int micro_batch;      /* 0: 8 */
  bool checkpointing;
  bool cpu;    /* with an empty `gpu` */
  double days; /* 0: infeasible; below: failed */
  const char *more;
} Line;

static char text[200000];
static size_t used;

static QmCatalog *
load (const char *user, size_t n_problems, size_t n_notices)
{
  QmCatalog *catalog = NULL;
  QmError error;
  const QmError *problems, *notices;
  size_t n, m;

  CHECK (qm_catalog_load (getenv ("QM_TEST_DATA_DIR"),
                          user != NULL ? scratch_path (user) : NULL, &catalog,
                          &error)
         == QM_OK);
  problems = qm_catalog_problems (catalog, &n);
  notices = qm_catalog_notices (catalog, &m);
  CHECK_INT ((int64_t) n, (int64_t) n_problems);
  CHECK_INT ((int64_t) m, (int64_t) n_notices);
  for (size_t i = 0; i < n && n != n_problems; i++)
    printf ("%s:%d: %s\n", problems[i].file, problems[i].line,
            problems[i].message);
  for (size_t i = 0; i < m && m != n_notices; i++)
    printf ("%s:%d: %s\n", notices[i].file, notices[i].line,
            notices[i].message);
  return catalog;
}

static void
model_key (const char *id, char key[QM_MODEL_KEY_BYTES])
{
  QmCatalog *catalog = load (NULL, 0, 0);
  const QmModel *model = qm_catalog_model (catalog, id);

  strcpy (key, "0000000000000000");
  if (model != NULL)
    qm_model_key (&model->config, &model->recipe, key);
  qm_catalog_free (catalog);
}

static void
begin (const char *name)
{
  check_case (name);
  scratch_clear ();
  used = 0;
  text[0] = '\0';
}

static void append (const char *format, ...)
    __attribute__ ((format (printf, 1, 2)));

static void
append (const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  used +=
      (size_t) vsnprintf (text + used, sizeof text - used, format, arguments);
  va_end (arguments);
}

static void
append_outcome (const Line *line)
{
  if (line->days > 0)
    append ("\"status\":\"measured\",\"days\":%.9g,\"step\":{\"mean_s\":1},",
            line->days);
  else if (line->days < 0)
    append ("\"status\":\"failed\",\"reason\":\"lost\",");
  else
    append ("\"status\":\"infeasible\",\"reason\":\"too little\","
            "\"memory\":\"device\",\"needs_bytes\":9,\"available_bytes\":8,");
}

static void
add (Line line)
{
  const char *model = line.model != NULL ? line.model : "pythia-1b";
  const char *gpu = line.gpu != NULL ? line.gpu : "h200-141gb-sxm";
  const char *engine = line.engine != NULL ? line.engine : "quartermaster";
  char key[QM_MODEL_KEY_BYTES];

  model_key (model, key);
  append ("{\"schema\":1,\"time\":\"2026-11-21T06:40:00Z\",\"model\":\"%s\","
          "\"model_key\":\"%s\",\"engine\":\"%s\",",
          model, line.key != NULL ? line.key : key, engine);
  if (strcmp (engine, "quartermaster") == 0)
    append ("\"version\":\"0.1.0\",");
  else
    append ("\"framework\":{\"torch\":\"2.11.0\"},");
  if (*gpu != '\0')
    append ("\"gpu\":\"%s\",", gpu);
  append ("\"device\":{\"name\":\"%s\",\"driver\":\"580\","
          "\"architecture\":%d},\"gpus\":%d,\"settings\":\"%s\","
          "\"checkpointing\":%s,\"offloading\":%s,\"sharding\":\"%s\",",
          *gpu != '\0' ? gpu : "Some GPU", line.cpu ? 0 : 90,
          line.gpus > 0 ? line.gpus : 1,
          line.settings != NULL ? line.settings : "free-lunch",
          line.checkpointing ? "true" : "false",
          line.sharding != NULL ? "true" : "false",
          line.sharding != NULL ? line.sharding : "none");
  append_outcome (&line);
  append ("%s\"micro_batch\":%d,\"accumulation\":4,\"precision\":\"bf16\"}\n",
          line.more != NULL ? line.more : "",
          line.micro_batch > 0 ? line.micro_batch : 8);
}

static QmCatalog *
load_lines (size_t n_problems, size_t n_notices)
{
  scratch_write (FILE_NAME, text, used);
  return load ("user", n_problems, n_notices);
}

/* The measurements that are not published, at most 16 of them. */
static size_t
measured (const QmCatalog *catalog, const QmMeasurement *found[16])
{
  size_t n, n_found = 0;
  const QmMeasurement *all = qm_catalog_measurements (catalog, &n);

  for (size_t i = 0; i < n && n_found < 16; i++)
    if (all[i].provenance != QM_PROVENANCE_PUBLISHED)
      found[n_found++] = &all[i];
  return n_found;
}

static void
test_best (void)
{
  const QmMeasurement *m[16];
  QmCatalog *catalog;

  begin ("the best");
  add ((Line){ .days = 40 });
  add ((Line){ .days = 36.5, .micro_batch = 16 });
  add ((Line){ .days = 38, .checkpointing = true });
  add ((Line){ .days = 30, .settings = "naive" });
  add ((Line){ .days = 0, .settings = "free-lunch", .micro_batch = 1 });
  add ((Line){ .days = -1, .sharding = "zero_3" });
  catalog = load_lines (0, 0);
  CHECK_INT ((int64_t) measured (catalog, m), 2);
  CHECK_STRING (m[0]->model->id, "pythia-1b");
  CHECK_STRING (m[0]->gpu->id, "h200-141gb-sxm");
  CHECK_INT (m[0]->gpus, 1);
  CHECK_INT (m[0]->settings, QM_SETTINGS_OPTIMAL);
  CHECK_INT (m[0]->feasibility, QM_FEASIBLE);
  CHECK_NEAR (m[0]->days, 36.5, 0);
  CHECK (!qm_known (m[0]->days_low) && !qm_known (m[0]->days_high));
  CHECK (m[0]->rounding_days == 0);
  CHECK_INT (m[0]->micro_batch_size, 16);
  CHECK_INT (m[0]->accumulation, 4);
  CHECK_INT (m[0]->checkpointing, QM_NO);
  CHECK_INT (m[0]->offloading, QM_NO);
  CHECK_STRING (m[0]->sharding, "none");
  CHECK_INT (m[0]->provenance, QM_PROVENANCE_MEASURED);
  CHECK_INT (m[0]->engine, QM_ENGINE_QUARTERMASTER);
  CHECK_STRING (m[0]->engine_version, "0.1.0");
  CHECK_INT (m[0]->measured_on.year, 2026);
  CHECK_INT (m[0]->measured_on.day, 21);
  CHECK_STRING (m[0]->source, "results.jsonl, line 2");
  CHECK_INT (m[1]->settings, QM_SETTINGS_NAIVE);
  CHECK_NEAR (m[1]->days, 30, 0);
  qm_catalog_free (catalog);
}

/* Naive is what nothing was done to; with checkpointing it is a method. */
static void
test_naive (void)
{
  const QmMeasurement *m[16];
  QmCatalog *catalog;

  begin ("naive with a method");
  add ((Line){ .days = 50, .settings = "naive", .checkpointing = true });
  add ((Line){ .days = 60, .settings = "naive", .sharding = "fsdp_2" });
  catalog = load_lines (0, 0);
  CHECK_INT ((int64_t) measured (catalog, m), 1);
  CHECK_INT (m[0]->settings, QM_SETTINGS_OPTIMAL);
  CHECK_NEAR (m[0]->days, 50, 0);
  qm_catalog_free (catalog);
}

static void
test_engines (void)
{
  const QmMeasurement *m[16];
  QmCatalog *catalog;

  begin ("engines, counts and models stay apart");
  add ((Line){ .days = 36 });
  add ((Line){ .days = 50, .engine = "pytorch" });
  add ((Line){ .days = 9, .gpus = 4, .sharding = "zero_1" });
  add ((Line){ .days = 7, .model = "pythia-160m", .gpu = "a6000" });
  catalog = load_lines (0, 0);
  CHECK_INT ((int64_t) measured (catalog, m), 4);
  CHECK_INT (m[1]->engine, QM_ENGINE_PYTORCH);
  CHECK_STRING (m[1]->engine_version, "torch 2.11.0");
  CHECK_INT (m[2]->gpus, 4);
  CHECK_INT (m[2]->offloading, QM_YES);
  CHECK_STRING (m[2]->sharding, "zero_1");
  CHECK_STRING (m[3]->model->id, "pythia-160m");
  CHECK_STRING (m[3]->gpu->id, "a6000");
  qm_catalog_free (catalog);
}

/* Of several machines: it is kept, and no time of a machine with so many
 * GPUs. */
static void
test_several_machines (void)
{
  const QmMeasurement *m[16], *aside;
  const QmError *notices;
  QmCatalog *catalog;
  size_t n;

  begin ("several machines");
  add ((Line){ .days = 20, .gpus = 2, .more = "\"nodes\":1," });
  add ((Line){ .days = 3, .gpus = 2, .more = "\"nodes\":2," });
  add ((Line){ .days = 4,
               .gpus = 2,
               .micro_batch = 4,
               .more = "\"nodes\":2,\"transport\":\"sockets\"," });
  add ((Line){ .days = 2, .gpus = 4, .more = "\"nodes\":4," });
  add ((Line){ .days = 1, .gpus = 4, .more = "\"nodes\":2," });
  catalog = load_lines (0, 2);
  CHECK_INT ((int64_t) measured (catalog, m), 1);
  CHECK_NEAR (m[0]->days, 20, 0);
  CHECK_INT (m[0]->aside, QM_ASIDE_NOT);
  aside = qm_catalog_aside (catalog, &n);
  CHECK_INT ((int64_t) n, 3);
  for (size_t i = 0; i < n && n == 3; i++)
    {
      CHECK_INT (aside[i].aside, QM_ASIDE_MACHINES);
      CHECK_STRING (aside[i].model->id, "pythia-1b");
      CHECK_STRING (aside[i].gpu->id, "h200-141gb-sxm");
      CHECK_INT (aside[i].machines, i == 1 ? 4 : 2);
      CHECK_INT (aside[i].gpus, i == 0 ? 2 : 4);
      CHECK_NEAR (aside[i].days, i == 0 ? 3 : i == 1 ? 2 : 1, 0);
    }
  notices = qm_catalog_notices (catalog, &n);
  CHECK_INT (notices[0].line, 2);
  CHECK_CONTAINS (notices[0].message, "of 2 machines together");
  CHECK_CONTAINS (notices[1].message, "of 4 machines together");
  qm_catalog_free (catalog);

  begin ("machines with halves of GPUs");
  add ((Line){ .days = 3, .gpus = 3, .more = "\"nodes\":2," });
  catalog = load_lines (1, 0);
  qm_catalog_free (catalog);
}

/* Nor is what GPUs did that were held back. */
static void
test_held_back (void)
{
  const QmMeasurement *m[16], *aside;
  const QmError *notices;
  QmCatalog *catalog;
  size_t n;

  begin ("GPUs that were held back");
  add ((Line){ .days = 20, .gpus = 2, .more = "\"transport\":\"nccl\"," });
  add ((Line){ .days = 3, .gpus = 2, .more = "\"transport\":\"host\"," });
  add ((Line){ .days = 4, .gpus = 4, .more = "\"no_peer\":true," });
  add ((Line){
      .days = 5, .gpus = 8, .more = "\"nccl\":{\"NCCL_P2P_DISABLE\":\"1\"}," });
  /* None of these holds anything back. */
  add ((Line){ .days = 6,
               .gpus = 16,
               .more = "\"nccl\":{\"NCCL_P2P_DISABLE\":\"0\",\"NCCL_NVLS_"
                       "ENABLE\":\"0\",\"NCCL_DEBUG\":7}," });
  add ((Line){ .days = 40, .more = "\"nccl\":{\"NCCL_P2P_LEVEL\":\"LOC\"}," });
  catalog = load_lines (0, 1);
  CHECK_INT ((int64_t) measured (catalog, m), 3);
  CHECK_NEAR (m[0]->days, 20, 0);
  CHECK_NEAR (m[1]->days, 6, 0);
  CHECK_NEAR (m[2]->days, 40, 0);
  aside = qm_catalog_aside (catalog, &n);
  CHECK_INT ((int64_t) n, 3);
  for (size_t i = 0; i < n && n == 3; i++)
    {
      CHECK_INT (aside[i].aside, QM_ASIDE_PATH);
      CHECK_NEAR (aside[i].days, (double) (3 + i), 0);
    }
  notices = qm_catalog_notices (catalog, &n);
  CHECK_CONTAINS (notices[0].message, "made to exchange in a slower way");
  qm_catalog_free (catalog);
}

/* It was seen to be the faster, as they cannot read each other's memory, and
 * what does not fit does not in any way. */
static void
test_no_other_way (void)
{
  const QmMeasurement *m[16];
  QmCatalog *catalog;

  begin ("GPUs that have no other way");
  add ((Line){ .days = 3,
               .gpus = 2,
               .more = "\"transport\":\"host\",\"transport_trial\":{\"bytes\":"
                       "67108864,\"nccl_s\":2,\"host_s\":1}," });
  add ((Line){ .days = 0,
               .gpus = 4,
               .checkpointing = true,
               .more = "\"no_peer\":true," });
  catalog = load_lines (0, 0);
  CHECK_INT ((int64_t) measured (catalog, m), 2);
  CHECK_NEAR (m[0]->days, 3, 0);
  CHECK_INT (m[1]->feasibility, QM_INFEASIBLE);
  qm_catalog_free (catalog);
}

/* No link joins these: the memory of the host is their way, but not what
 * the user asked for. */
static void
test_without_links (void)
{
  const QmMeasurement *m[16];
  QmCatalog *catalog;

  begin ("GPUs without links");
  add ((Line){ .days = 7,
               .gpu = "rtx4090",
               .gpus = 2,
               .more = "\"transport\":\"host\"," });
  add ((Line){ .days = 8,
               .gpu = "rtx4090",
               .gpus = 4,
               .more = "\"nccl\":{\"NCCL_P2P_DISABLE\":\"1\"}," });
  add ((Line){ .days = 9,
               .gpu = "rtx4090",
               .gpus = 8,
               .more = "\"transport\":\"host\",\"no_peer\":true," });
  catalog = load_lines (0, 1);
  CHECK_INT ((int64_t) measured (catalog, m), 2);
  CHECK_NEAR (m[0]->days, 7, 0);
  CHECK_NEAR (m[1]->days, 8, 0);
  qm_catalog_free (catalog);
}

/* A way that does not fit tells nothing of another that did, though that was
 * measured on GPUs that were held back. */
static void
test_fits_held_back (void)
{
  static const char *const names[] = { "naive", "free-lunch" };
  const QmMeasurement *m[16];
  QmCatalog *catalog;
  size_t n;

  for (int i = 0; i < 8; i++)
    {
      const Line line = { .gpus = 3,
                          .settings = names[i / 4],
                          .micro_batch = 1,
                          .checkpointing = i >= 4,
                          .more = "\"no_peer\":true," };
      Line fits = line;

      begin ("GPUs that were held back fit it");
      fits.days = 7;
      fits.micro_batch = 8;
      if (i >= 4)
        fits.sharding = "zero_1";
      add (i % 2 == 0 ? line : fits);
      if (i % 4 >= 2)
        {
          scratch_write ("user/measurements/first.jsonl", text, used);
          used = 0;
        }
      add (i % 2 == 0 ? fits : line);
      catalog = load_lines (0, 1);
      CHECK_INT ((int64_t) measured (catalog, m), 0);
      CHECK_NEAR (qm_catalog_aside (catalog, &n)->days, 7, 0);
      CHECK_INT ((int64_t) n, 1);
      qm_catalog_free (catalog);
    }
}

/* What is no such way: as many GPUs of several machines, which have the memory
 * of several hosts, other settings, another number of GPUs or engine. */
static void
test_fits_elsewhere (void)
{
  const QmMeasurement *m[16];
  QmCatalog *catalog;

  begin ("other GPUs that were held back fit it");
  add ((Line){ .gpus = 4, .checkpointing = true });
  add ((Line){ .days = 7, .gpus = 4, .more = "\"nodes\":2," });
  add ((Line){ .days = 7, .gpus = 8, .more = "\"no_peer\":true," });
  add ((Line){
      .days = 7, .gpus = 4, .settings = "naive", .more = "\"no_peer\":true," });
  add ((Line){
      .days = 7, .gpus = 4, .engine = "pytorch", .more = "\"no_peer\":true," });
  catalog = load_lines (0, 2);
  CHECK_INT ((int64_t) measured (catalog, m), 1);
  CHECK_INT (m[0]->feasibility, QM_INFEASIBLE);
  qm_catalog_free (catalog);
}

static void
test_infeasible (void)
{
  const QmMeasurement *m[16];
  QmCatalog *catalog;

  begin ("infeasible");
  add ((Line){ .days = 0 });
  add ((Line){ .days = 0, .checkpointing = true });
  add ((Line){ .days = 0, .settings = "naive" });
  catalog = load_lines (0, 0);
  CHECK_INT ((int64_t) measured (catalog, m), 2);
  CHECK_INT (m[0]->feasibility, QM_INFEASIBLE);
  CHECK (!qm_known (m[0]->days));
  CHECK_INT (m[0]->accumulation, 0);
  CHECK_INT (m[1]->feasibility, QM_INFEASIBLE);
  CHECK_INT (m[1]->settings, QM_SETTINGS_NAIVE);
  qm_catalog_free (catalog);

  begin ("with checkpointing, and then without");
  add ((Line){ .days = 0, .checkpointing = true });
  add ((Line){ .days = 0 });
  add ((Line){ .days = 0, .sharding = "zero_1" });
  catalog = load_lines (0, 0);
  CHECK_INT ((int64_t) measured (catalog, m), 1);
  CHECK_INT (m[0]->settings, QM_SETTINGS_OPTIMAL);
  CHECK_INT (m[0]->feasibility, QM_INFEASIBLE);
  qm_catalog_free (catalog);

  begin ("not all was tried");
  add ((Line){ .days = 0 });
  add ((Line){ .days = 0, .sharding = "zero_1" });
  catalog = load_lines (0, 0);
  CHECK_INT ((int64_t) measured (catalog, m), 0);
  qm_catalog_free (catalog);

  begin ("as if there were less memory");
  add ((Line){
      .days = 0, .checkpointing = true, .more = "\"memory_limit_bytes\":8," });
  add ((Line){
      .days = 0, .settings = "naive", .more = "\"host_limit_bytes\":8," });
  catalog = load_lines (0, 0);
  CHECK_INT ((int64_t) measured (catalog, m), 0);
  qm_catalog_free (catalog);
}

/* Each reason once for a file, with the first line that it holds for. */
static void
test_notices (void)
{
  const QmMeasurement *m[16];
  QmCatalog *catalog;
  const QmError *notices;
  size_t n;

  begin ("notices");
  add ((Line){ .days = 36 });
  add ((Line){ .days = 1, .key = "0123456789abcdef" });
  add ((Line){ .days = 2, .key = "0123456789abcdee" });
  add ((Line){ .days = 1, .model = "my/config.json" });
  add ((Line){ .days = 1, .gpu = "" });
  add ((Line){ .days = 2, .gpu = "", .micro_batch = 4 });
  add ((Line){ .days = 1, .gpu = "h200" });
  catalog = load_lines (0, 4);
  CHECK_INT ((int64_t) measured (catalog, m), 1);
  CHECK_NEAR (m[0]->days, 36, 0);
  notices = qm_catalog_notices (catalog, &n);
  CHECK_CONTAINS (notices[0].file, "results.jsonl");
  CHECK_INT (notices[0].line, 2);
  CHECK_CONTAINS (notices[0].message, "another configuration or recipe");
  CHECK_CONTAINS (notices[0].message, "'pythia-1b'");
  CHECK_INT (notices[1].line, 4);
  CHECK_CONTAINS (notices[1].message, "no model 'my/config.json'");
  CHECK_INT (notices[2].line, 5);
  CHECK_CONTAINS (notices[2].message, "no GPU of the catalog is 'Some GPU'");
  CHECK_CONTAINS (notices[3].message, "no GPU of the catalog is 'h200'");
  qm_catalog_free (catalog);

  begin ("processors");
  add ((Line){ .days = 36 });
  add ((Line){ .days = 1, .gpu = "", .cpu = true });
  add ((Line){ .days = 1, .gpu = "", .cpu = true, .model = "my-model" });
  catalog = load_lines (0, 0);
  CHECK_INT ((int64_t) measured (catalog, m), 1);
  qm_catalog_free (catalog);

  begin ("very many notices");
  for (int i = 0; i < 60; i++)
    {
      char name[24];

      snprintf (name, sizeof name, "model-%d", i);
      add ((Line){ .days = 1, .model = name });
    }
  catalog = load_lines (0, QM_CATALOG_MAX_NOTICES);
  notices = qm_catalog_notices (catalog, &n);
  CHECK_CONTAINS (notices[n - 1].message, "more results are left out");
  qm_catalog_free (catalog);

  begin ("an engine that nobody knows");
  add ((Line){ .days = 1, .engine = "jax" });
  catalog = load_lines (0, 1);
  notices = qm_catalog_notices (catalog, &n);
  CHECK_CONTAINS (notices[0].message, "the engine 'jax'");
  CHECK_INT ((int64_t) measured (catalog, m), 0);
  qm_catalog_free (catalog);

  begin ("times that cannot be");
  add ((Line){ .days = 2e9 });
  catalog = load_lines (0, 0);
  CHECK_INT ((int64_t) measured (catalog, m), 0);
  qm_catalog_free (catalog);
}

/* What a killed program leaves. */
static void
test_unfinished (void)
{
  const QmMeasurement *m[16];
  QmCatalog *catalog;
  const QmError *notices;
  size_t n;

  begin ("an unfinished line");
  add ((Line){ .days = 36 });
  append ("{\"schema\":1,\"status\":\"mea");
  catalog = load_lines (0, 1);
  CHECK_INT ((int64_t) measured (catalog, m), 1);
  notices = qm_catalog_notices (catalog, &n);
  CHECK_CONTAINS (notices[0].file, "results.jsonl");
  CHECK_CONTAINS (notices[0].message, "the last line was not finished");
  qm_catalog_free (catalog);
}

/* A file with a wrong line is left out as a whole, with the line, and all
 * others count. */
static void
test_hostile (void)
{
  static const struct
  {
    const char *line;
    const char *message;
  } lines[] = {
    { "{\"schema\":1,\"status\":\"mea\n", "" },
    { "nonsense\n", "" },
    { "[1,2]\n", "" },
    { "{\"schema\":2}\n", "schema" },
    { "{}\n", "" },
    { "\xff\xfe\n", "UTF-8" },
    { "{\"schema\":1,\"status\":\"measured\"}\n", "" },
  };
  const QmMeasurement *m[16];
  const QmError *problems;
  QmCatalog *catalog;
  size_t n;

  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
    {
      begin (lines[i].line);
      add ((Line){ .days = 8, .gpu = "a6000" });
      scratch_write ("user/measurements/good.jsonl", text, used);
      used = 0;
      add ((Line){ .days = 36 });
      append ("%s", lines[i].line);
      add ((Line){ .days = 37, .micro_batch = 4 });
      catalog = load_lines (1, 0);
      CHECK_INT ((int64_t) measured (catalog, m), 1);
      CHECK_STRING (m[0]->gpu->id, "a6000");
      problems = qm_catalog_problems (catalog, &n);
      CHECK_CONTAINS (problems[0].file, "results.jsonl");
      CHECK_INT (problems[0].line, 2);
      CHECK_CONTAINS (problems[0].message, lines[i].message);
      qm_catalog_free (catalog);
    }

  begin ("no file at all");
  scratch_directory ("user/measurements/folder.jsonl");
  catalog = load ("user", 1, 0);
  problems = qm_catalog_problems (catalog, &n);
  CHECK_CONTAINS (problems[0].file, "folder.jsonl");
  qm_catalog_free (catalog);
}

/* All files of a directory are one set. */
static void
test_several_files (void)
{
  const QmMeasurement *m[16];
  QmCatalog *catalog;

  begin ("several files");
  add ((Line){ .days = 40 });
  scratch_write ("user/measurements/node-1.jsonl", text, used);
  used = 0;
  add ((Line){ .days = 39, .micro_batch = 4 });
  scratch_write ("user/measurements/node-2.jsonl", text, used);
  scratch_write_text ("user/measurements/.hidden.jsonl", "garbage");
  catalog = load ("user", 0, 0);
  CHECK_INT ((int64_t) measured (catalog, m), 1);
  CHECK_NEAR (m[0]->days, 39, 0);
  CHECK_STRING (m[0]->source, "node-2.jsonl, line 1");
  qm_catalog_free (catalog);
}

/* The user's results replace the shipped ones of the same place. */
static void
test_override (void)
{
  const QmMeasurement *m[16];
  const char *gpus = "id,name,memory_gib,fp16_tflops,source\n"
                     "h200-141gb-sxm,H200,141,989,t\n";
  char shipped[4096];
  QmCatalog *catalog = NULL;
  QmError error;
  size_t n;

  begin ("override");
  scratch_write_text ("shipped/gpus.csv", gpus);
  scratch_write_text ("shipped/machines.csv",
                      "machine,name,kind,gpus,source\nm,M,server,8,t\n");
  scratch_write_text ("shipped/prices.csv",
                      "item,kind,price,currency,source\nm,list,1,USD,t\n");
  scratch_write_text (
      "shipped/models/tiny.json",
      "{\"id\": \"tiny\", \"name\": \"Tiny\", \"source\": \"t\","
      "\"config\": {\"model_type\": \"bert\", \"hidden_size\": 64,"
      "\"num_hidden_layers\": 2, \"num_attention_heads\": 4,"
      "\"intermediate_size\": 128},"
      "\"recipe\": {\"batch_size\": 8, \"steps\": 10,"
      "\"sequence_length\": 128, \"precision\": \"bf16\","
      "\"optimizer\": \"adam\", \"learning_rate\": 1e-4, \"beta1\": 0.9,"
      "\"beta2\": 0.999, \"epsilon\": 1e-8, \"weight_decay\": 0}}");
  scratch_directory ("shipped/measurements");
  snprintf (shipped, sizeof shipped, "%s", scratch_path ("shipped"));
  CHECK (qm_catalog_load (shipped, NULL, &catalog, &error) == QM_OK);
  if (catalog != NULL)
    {
      static char key[QM_MODEL_KEY_BYTES];
      const QmModel *tiny = qm_catalog_model (catalog, "tiny");

      qm_model_key (&tiny->config, &tiny->recipe, key);
      qm_catalog_free (catalog);
      add ((Line){ .model = "tiny", .key = key, .days = 10 });
      add ((Line){
          .model = "tiny", .key = key, .days = 20, .settings = "naive" });
      add ((Line){
          .model = "tiny", .key = key, .days = 15, .engine = "pytorch" });
      scratch_write ("shipped/measurements/s.jsonl", text, used);
      used = 0;
      add ((Line){ .model = "tiny", .key = key, .days = 12 });
      scratch_write (FILE_NAME, text, used);
    }
  CHECK (qm_catalog_load (shipped, scratch_path ("user"), &catalog, &error)
         == QM_OK);
  qm_catalog_problems (catalog, &n);
  CHECK_INT ((int64_t) n, 0);
  CHECK_INT ((int64_t) measured (catalog, m), 3);
  CHECK_NEAR (m[0]->days, 12, 0);
  CHECK_STRING (m[0]->source, "results.jsonl, line 1");
  CHECK_NEAR (m[1]->days, 20, 0);
  CHECK_NEAR (m[2]->days, 15, 0);
  qm_catalog_free (catalog);

  /* Who does without times does not even see that one is broken. */
  scratch_write_text ("user/measurements/broken.csv", "nonsense\n");
  CHECK (qm_catalog_load_without_times (shipped, scratch_path ("user"),
                                        &catalog, &error)
         == QM_OK);
  qm_catalog_measurements (catalog, &n);
  CHECK_INT ((int64_t) n, 0);
  qm_catalog_problems (catalog, &n);
  CHECK_INT ((int64_t) n, 0);
  CHECK (qm_catalog_model (catalog, "tiny") != NULL);
  qm_catalog_free (catalog);
}

/* A table may say with what its times were taken. */
static void
test_table (void)
{
  const QmMeasurement *m[16];
  QmCatalog *catalog;

  begin ("a table");
  scratch_write_text (
      "user/measurements/t.csv",
      "model,gpu,gpus,settings,feasibility,days,provenance,engine,"
      "engine_version,source\n"
      "pythia-1b,a6000,1,optimal,feasible,90,measured,pytorch,2.9,us\n"
      "pythia-1b,a6000,1,optimal,feasible,70,measured,quartermaster,,us\n"
      "pythia-1b,a6000,1,optimal,feasible,80,measured,,,us\n");
  catalog = load ("user", 0, 0);
  CHECK_INT ((int64_t) measured (catalog, m), 3);
  CHECK_INT (m[0]->engine, QM_ENGINE_PYTORCH);
  CHECK_STRING (m[0]->engine_version, "2.9");
  CHECK_INT (m[1]->engine, QM_ENGINE_QUARTERMASTER);
  CHECK_STRING (m[1]->engine_version, "");
  CHECK_INT (m[2]->engine, QM_ENGINE_UNSTATED);
  qm_catalog_free (catalog);
}

/* What is shipped loads without a word, and is all of measured places. */
static void
test_shipped (void)
{
  QmCatalog *catalog = NULL;
  QmError error;
  const QmMeasurement *all;
  size_t n;

  check_case ("shipped");
  CHECK (
      qm_catalog_load (getenv ("QM_SHIPPED_DATA_DIR"), NULL, &catalog, &error)
      == QM_OK);
  qm_catalog_problems (catalog, &n);
  CHECK_INT ((int64_t) n, 0);
  qm_catalog_notices (catalog, &n);
  CHECK_INT ((int64_t) n, 0);
  all = qm_catalog_measurements (catalog, &n);
  CHECK (n >= 288);
  for (size_t i = 0; i < n; i++)
    if (all[i].provenance == QM_PROVENANCE_MEASURED)
      {
        CHECK (all[i].engine != QM_ENGINE_UNSTATED);
        CHECK (all[i].engine_version[0] != '\0');
        CHECK (all[i].measured_on.day > 0);
      }
  qm_catalog_free (catalog);
}

int
main (void)
{
  scratch_begin ();
  test_best ();
  test_naive ();
  test_engines ();
  test_several_machines ();
  test_held_back ();
  test_no_other_way ();
  test_without_links ();
  test_fits_held_back ();
  test_fits_elsewhere ();
  test_infeasible ();
  test_notices ();
  test_unfinished ();
  test_hostile ();
  test_several_files ();
  test_override ();
  test_table ();
  test_shipped ();
  scratch_end ();
  return check_report ();
}
