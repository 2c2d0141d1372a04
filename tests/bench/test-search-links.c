/* SPDX-License-Identifier: Apache-2.0 */

/* What a search says of the links that --links names: the program with another
 * main(), by the linker's --wrap, since no GPU is needed to ask. */

#include "app/qm-bench-search.h"
#include "data/datadir.h"
#include "tests/data/check.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int __wrap_main (void);

#define ROWS \
  "[{\"bytes\":4096,\"seconds\":1e-5},{\"bytes\":65536,\"seconds\":1e-4}]"

static const char two[] =
    "{\"devices\":[{},{}],\"collectives\":{\"all_reduce\":" ROWS
    ",\"reduce_scatter\":" ROWS ",\"all_gather\":" ROWS "}}\n";

static char said[1024];

/* Asks with standard error in a file, and reads that; of one model in each
 * precision that there is. */
static QmStatus
ask_of (const QmCatalog *catalog,
        const char *gpu,
        int gpus,
        int machines,
        const QmPrecision *precisions,
        size_t n)
{
  QmBenchSearched models[2] = { 0 };
  char links[PATH_MAX];
  QmBenchOptions options = { .links = links };
  QmBenchSearch search = { .options = &options,
                           .catalog = (QmCatalog *) catalog,
                           .gpu = qm_catalog_gpu (catalog, gpu),
                           .gpus = gpus,
                           .models = models,
                           .n_models = n };
  QmError error = { 0 };
  int before = dup (STDERR_FILENO);
  QmStatus status;
  FILE *file;

  snprintf (links, sizeof links, "%s", scratch_path ("links.json"));
  snprintf (search.info.name, sizeof search.info.name, "some device");
  options.nodes.count = machines;
  for (size_t i = 0; i < n; i++)
    models[i].recipe.precision = precisions[i];
  fflush (stderr);
  CHECK (freopen (scratch_path ("said"), "w", stderr) != NULL);
  status = qm_bench_say_search_links (&search, &error);
  fflush (stderr);
  CHECK (dup2 (before, STDERR_FILENO) >= 0);
  close (before);
  memset (said, 0, sizeof said);
  file = fopen (scratch_path ("said"), "r");
  CHECK (file != NULL && fread (said, 1, sizeof said - 1, file) < sizeof said);
  fclose (file);
  if (status != QM_OK)
    CHECK_STRING (said, "");
  return status;
}

static QmStatus
ask (const QmCatalog *catalog, const char *gpu, int gpus, int machines)
{
  return ask_of (catalog, gpu, gpus, machines,
                 (const QmPrecision[]){ QM_PRECISION_BF16 }, 1);
}

static void
test_fp8 (const QmCatalog *catalog)
{
  const QmPrecision alone[] = { QM_PRECISION_FP8, QM_PRECISION_FP8 };
  const QmPrecision mixed[] = { QM_PRECISION_FP8, QM_PRECISION_BF16 };

  check_case ("FP8 alone");
  for (int gpus = 2; gpus <= 4; gpus += 2)
    {
      CHECK (ask_of (catalog, "h100-80gb-sxm", gpus, 1, alone, 2) == QM_OK);
      CHECK_CONTAINS (said, "links.json is not used: nothing is predicted of "
                            "trainings in FP8");
      CHECK (strstr (said, "extrapolated") == NULL);
    }
  check_case ("FP8 and others");
  CHECK (ask_of (catalog, "h100-80gb-sxm", 4, 1, mixed, 2) == QM_OK);
  CHECK_CONTAINS (said, "what 4 exchange is extrapolated from them");
}

int
__wrap_main (void)
{
  char folder[PATH_MAX];
  QmCatalog *catalog = NULL;
  QmError error = { 0 };

  scratch_begin ();
  scratch_write_text ("links.json", two);
  qm_data_dir (folder, sizeof folder);
  CHECK (qm_catalog_load (folder, NULL, &catalog, &error) == QM_OK);

  check_case ("as many");
  CHECK (ask (catalog, "h100-80gb-sxm", 2, 1) == QM_OK);
  CHECK_STRING (said, "");

  check_case ("of others");
  CHECK (ask (catalog, "h100-80gb-sxm", 4, 1) == QM_OK);
  CHECK_CONTAINS (said, "has links of 2 GPUs; what 4 exchange is extrapolated "
                        "from them");

  check_case ("one GPU");
  CHECK (ask (catalog, "h100-80gb-sxm", 1, 1) == QM_OK);
  CHECK_CONTAINS (said, "links.json is not used: one device exchanges nothing");

  check_case ("a device that nobody knows");
  CHECK (ask (catalog, "none", 4, 1) == QM_OK);
  CHECK_CONTAINS (said, "links.json is not used: nothing is predicted of some "
                        "device");

  test_fp8 (catalog);

  check_case ("several machines");
  CHECK (ask (catalog, "h100-80gb-sxm", 4, 2) == QM_STATUS_USAGE);

  check_case ("no links");
  scratch_write_text ("links.json", "{}\n");
  CHECK (ask (catalog, "h100-80gb-sxm", 1, 1) != QM_OK);

  qm_catalog_free (catalog);
  scratch_end ();
  return check_report ();
}
