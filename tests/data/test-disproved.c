/* SPDX-License-Identifier: Apache-2.0 */

/* What the user measured of a training that shipped results say does not fit:
 * also where it is no time of a machine, since its GPUs were held back. */

#include "data/catalog.h"
#include "tests/data/check.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A line: whether it was measured, GPUs, settings, engine and what else.  All
 * but those of naive settings are with checkpointing. */
typedef struct Line
{
  bool fits;
  int gpus;
  const char *settings;
  const char *engine;
  const char *more;
} Line;

#define OWN     "\"engine\":\"quartermaster\",\"version\":\"0.1.0\","
#define PYTORCH "\"engine\":\"pytorch\",\"framework\":{\"torch\":\"2.11.0\"},"

static const Line denied = { false, 4, "free-lunch", OWN, "" };

static void
write_lines (const char *name, const Line *lines, size_t n)
{
  char text[4096] = "", key[QM_MODEL_KEY_BYTES];
  QmCatalog *catalog = NULL;
  const QmModel *model;
  QmError error;
  size_t used = 0;

  CHECK (qm_catalog_load (getenv ("QM_TEST_DATA_DIR"), NULL, &catalog, &error)
         == QM_OK);
  model = qm_catalog_model (catalog, "pythia-1b");
  qm_model_key (&model->config, &model->recipe, key);
  for (size_t i = 0; i < n; i++)
    used += (size_t) snprintf (
        text + used, sizeof text - used,
        "{\"schema\":1,\"time\":\"2026-11-21T06:40:00Z\",\"model\":"
        "\"pythia-1b\",\"model_key\":\"%s\",%s\"gpu\":\"h200-141gb-sxm\","
        "\"device\":{\"name\":\"H200\",\"driver\":\"580\","
        "\"architecture\":90},\"gpus\":%d,\"settings\":\"%s\","
        "\"checkpointing\":%s,\"offloading\":false,\"sharding\":\"none\","
        "%s%s\"micro_batch\":1,\"accumulation\":4,\"precision\":\"bf16\"}\n",
        key, lines[i].engine, lines[i].gpus, lines[i].settings,
        strcmp (lines[i].settings, "naive") == 0 ? "false" : "true",
        lines[i].fits
            ? "\"status\":\"measured\",\"days\":7,\"step\":{\"mean_s\":1},"
            : "\"status\":\"infeasible\",\"reason\":\"too little\","
              "\"memory\":\"device\",\"needs_bytes\":9,\"available_bytes\":8,",
        lines[i].more);
  scratch_write_text (name, text);
  qm_catalog_free (catalog);
}

/* A shipped directory that has all but the times of the tests' own. */
static void
ship (void)
{
  static const char *const names[] = { "gpus.csv", "machines.csv", "prices.csv",
                                       "platforms.csv", "models" };
  char from[PATH_MAX], to[PATH_MAX];

  scratch_clear ();
  scratch_directory ("shipped/measurements");
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    {
      snprintf (from, sizeof from, "%s/%s", getenv ("QM_TEST_DATA_DIR"),
                names[i]);
      snprintf (to, sizeof to, "%s/%s", scratch_path ("shipped"), names[i]);
      CHECK (symlink (from, to) == 0);
    }
}

/* How many times are there, and how many of those beside them. */
static void
check_times (int wanted, QmFeasibility feasibility, int wanted_aside)
{
  char shipped[PATH_MAX];
  QmCatalog *catalog = NULL;
  const QmMeasurement *m;
  const QmError *problems;
  QmError error;
  size_t n;

  snprintf (shipped, sizeof shipped, "%s", scratch_path ("shipped"));
  CHECK (qm_catalog_load (shipped, scratch_path ("user"), &catalog, &error)
         == QM_OK);
  problems = qm_catalog_problems (catalog, &n);
  CHECK_INT ((int64_t) n, 0);
  for (size_t i = 0; i < n; i++)
    printf ("%s:%d: %s\n", problems[i].file, problems[i].line,
            problems[i].message);
  m = qm_catalog_measurements (catalog, &n);
  CHECK_INT ((int64_t) n, wanted);
  for (size_t i = 0; i < n; i++)
    CHECK_INT (m[i].feasibility, feasibility);
  qm_catalog_aside (catalog, &n);
  CHECK_INT ((int64_t) n, wanted_aside);
  qm_catalog_free (catalog);
}

/* It fits: that it does not is no more to be seen, and no time is known. */
static void
test_held_back (void)
{
  Line line = denied;

  check_case ("the user's GPUs, held back, did it");
  ship ();
  write_lines ("shipped/measurements/s.jsonl", &denied, 1);
  scratch_directory ("user");
  check_times (1, QM_INFEASIBLE, 0);
  line.fits = true;
  line.more = "\"no_peer\":true,";
  write_lines ("user/measurements/u.jsonl", &line, 1);
  check_times (0, QM_FEASIBLE, 1);
}

/* As a time of the user's own stands in the place of what was shipped, whatever
 * either says. */
static void
test_as_times (void)
{
  Line fits = denied;

  fits.fits = true;
  check_case ("the user's own time");
  ship ();
  write_lines ("shipped/measurements/s.jsonl", &denied, 1);
  write_lines ("user/measurements/u.jsonl", &fits, 1);
  check_times (1, QM_FEASIBLE, 0);
  check_case ("the user's own does not fit");
  write_lines ("shipped/measurements/s.jsonl", &fits, 1);
  write_lines ("user/measurements/u.jsonl", &denied, 1);
  check_times (1, QM_INFEASIBLE, 0);
  check_case ("where shipped ones did that were held back");
  fits.more = "\"no_peer\":true,";
  write_lines ("shipped/measurements/s.jsonl", &fits, 1);
  check_times (1, QM_INFEASIBLE, 1);
}

/* Other numbers, settings, engines, and machines that have a host's memory
 * each, tell nothing; nor does it that the user's own does not fit either. */
static void
test_others (void)
{
  const Line others[] = {
    { true, 8, "free-lunch", OWN, "\"no_peer\":true," },
    { true, 4, "naive", OWN, "\"no_peer\":true," },
    { true, 4, "free-lunch", PYTORCH, "\"no_peer\":true," },
    { true, 4, "free-lunch", OWN, "\"nodes\":2," },
    { false, 4, "free-lunch", OWN, "\"no_peer\":true," },
  };

  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
    {
      check_case (others[i].fits ? others[i].settings : "nobody did it");
      ship ();
      write_lines ("shipped/measurements/s.jsonl", &denied, 1);
      write_lines ("user/measurements/u.jsonl", &others[i], 1);
      check_times (1, QM_INFEASIBLE, others[i].fits);
    }
}

int
main (void)
{
  scratch_begin ();
  test_held_back ();
  test_as_times ();
  test_others ();
  scratch_end ();
  return check_report ();
}
