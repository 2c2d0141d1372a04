/* SPDX-License-Identifier: Apache-2.0 */

/* qm-bench calibrate: what the GPU at hand can do, so that what is predicted
 * for it rests on that and not on its data sheet. */

#include "app/qm-bench-progress.h"
#include "app/qm-bench-ranks.h"
#include "app/qm-bench-run.h"

#include "data/datadir.h"
#include "data/file.h"
#include "data/results-file.h"
#include "data/text.h"
#include "engine/links.h"
#include "engine/probe.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Seconds that a call is timed for; all take less than a minute. */
#define SECONDS 1.5

/* Where to write; empty where the GPU is no other's to look up, or was used as
 * an older one, unless the user says where. */
static QmStatus
find_place (const QmBenchOptions *options,
            const QmProbes *probes,
            char *path,
            size_t size,
            QmError *error)
{
  char folder[PATH_MAX];

  path[0] = '\0';
  if (options->out != NULL)
    {
      if ((size_t) snprintf (path, size, "%s", options->out) < size)
        return QM_OK;
      return qm_error_set (error, QM_STATUS_IO, options->out, 0, 0,
                           "is longer than a path may be");
    }
  if (probes->gpu[0] == '\0' || options->architecture != NULL)
    return QM_OK;
  if (!qm_user_data_dir (folder, sizeof folder)
      || !qm_probes_path (folder, probes->gpu, path, size))
    return qm_error_set (error, QM_STATUS_IO, "", 0, 0,
                         "there is no folder of the user's to keep it in; see "
                         "--out");
  return QM_OK;
}

/* Before a minute is spent. */
static QmStatus
check_place (const QmBenchOptions *options, const char *path, QmError *error)
{
  char part[PATH_MAX];
  QmStatus status = QM_OK;

  if (path[0] == '\0')
    return QM_OK;
  if (options->out == NULL)
    status = qm_file_make_folders (path, error);
  return status == QM_OK ? qm_bench_check_out (path, part, sizeof part, error)
                         : status;
}

static void
print_number (double value, double unit, const char *name)
{
  if (isfinite (value))
    printf ("  %8.4g %s", value / unit, name);
}

static void
print_probe (const QmProbe *probe)
{
  printf ("%-24s", probe->name);
  if (probe->flops > 0)
    printf ("%8.1f TFLOP/s", probe->flops / probe->seconds * 1e-12);
  else
    printf ("%8.0f GB/s   ", probe->bytes / probe->seconds * 1e-9);
  print_number (probe->sm_mhz, 1, "MHz");
  print_number (probe->watts, 1, "W");
  printf ("\n");
}

static void
print_host (const QmProbes *probes)
{
  if (!isfinite (probes->up))
    {
      printf ("%-24s not known: no memory can be pinned\n", "host");
      return;
    }
  printf ("%-24s%8.1f GB/s\n", "copies to the host", probes->down * 1e-9);
  printf ("%-24s%8.1f GB/s\n", "copies from the host", probes->up * 1e-9);
  printf ("%-24s%8.3f ns\n", "adding up a gradient", probes->add * 1e9);
  printf ("%-24s%8.3f ns\n", "updating a parameter", probes->adam * 1e9);
}

/* Of the largest sum. */
static void
print_links (const QmLinkTimes *times)
{
  size_t last = times->n[QM_LINKS_ALL_REDUCE] - 1;
  char name[32];

  snprintf (name, sizeof name, "sum over %d GPUs", times->ranks);
  printf ("%-24s%8.1f GB/s that each sends, by %s\n", name,
          qm_links_bandwidth (
              QM_LINKS_ALL_REDUCE, times->ranks,
              (size_t) times->times[QM_LINKS_ALL_REDUCE][last].bytes,
              times->times[QM_LINKS_ALL_REDUCE][last].seconds)
              * 1e-9,
          times->transport);
}

static void
print_probes (const QmProbes *probes, const char *path)
{
  char safe[PATH_MAX];

  qm_bench_print ("%s, driver %s, %s", probes->device, probes->driver,
                  probes->products);
  print_number (probes->sm_mhz_max, 1, "MHz at most");
  print_number (probes->watts_limit, 1, "W at most");
  printf ("\n\n");
  for (size_t i = 0; i < probes->n; i++)
    print_probe (&probes->probes[i]);
  print_host (probes);
  for (size_t i = 0; i < probes->n_links; i++)
    print_links (&probes->links[i]);
  printf ("\n");
  if (path[0] != '\0')
    printf ("Kept in %s: predict takes it for %s.\n",
            qm_text_escape (path, safe, sizeof safe), probes->gpu);
  else if (probes->gpu[0] == '\0')
    printf ("Not kept: the catalog has no such GPU.\n");
  else
    printf ("Not kept: these are the kernels for an older GPU; see --out.\n");
}

static void
say_probes (const QmBenchOptions *options,
            const QmProbes *probes,
            const char *path,
            QmBenchEvents *events)
{
  json_t *object;

  if (events == NULL && !options->json)
    {
      print_probes (probes, path);
      return;
    }
  object = qm_probes_json (probes);
  json_object_set_new (object, "path",
                       path[0] != '\0' ? json_string (path) : json_null ());
  if (events == NULL)
    {
      qm_bench_print_json (object);
      return;
    }
  qm_bench_events_say (events, "result", object);
  qm_bench_events_end (events, NULL);
}

/* Fills in what qm_probe_device() does not know. */
static void
name_gpu (const QmBenchRun *run, QmProbes *probes)
{
  char time[QM_RESULTS_TIME_BYTES];
  QmCatalog *catalog;
  const QmGpu *gpu;

  qm_results_now (time);
  snprintf (probes->date, sizeof probes->date, "%.10s", time);
  if (qm_bench_load_catalog (&catalog, NULL) != QM_OK)
    return;
  gpu = qm_bench_find_gpu (catalog, &run->info);
  if (gpu != NULL)
    snprintf (probes->gpu, sizeof probes->gpu, "%s", gpu->id);
  qm_catalog_free (catalog);
}

static QmStatus
refuse_calibration (const QmBenchRun *run, QmError *error)
{
  if (!qm_target_is_gpu (&run->info.target))
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "times are predicted for GPUs, and %s is none",
                         run->info.id);
  if (run->monitor == NULL || !(run->facts.sm_mhz_max > 0))
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "the clock of the GPU is not known, without which "
                         "its rates tell little%s%s",
                         run->silence[0] != '\0' ? ": " : "", run->silence);
  return QM_OK;
}

/* How two of the GPUs exchange, four, and so on up to as many as --gpus says.
 */
static QmStatus
time_links (const QmBenchOptions *options, QmProbes *probes, QmError *error)
{
  int gpus = (int) options->gpus;
  QmStatus status = QM_OK;

  for (int n = 2; n < 2 * gpus && status == QM_OK; n *= 2)
    {
      QmBenchOptions some = *options;
      char names[QM_BENCH_MOST_RANKS * 32];

      some.gpus = n < gpus ? n : gpus;
      if (options->device != NULL)
        {
          qm_bench_first_devices (options->device, (int) some.gpus, names,
                                  sizeof names);
          some.device = names;
        }
      status =
          qm_bench_time_links (&some, &probes->links[probes->n_links], error);
      if (status == QM_OK)
        probes->n_links++;
    }
  return status;
}

static QmStatus
calibrate (QmBenchRun *run,
           const QmBenchOptions *whole,
           QmBenchMeter *meter,
           QmError *error)
{
  const QmProbeOptions options = { .seconds = SECONDS,
                                   .smaller = 1,
                                   .monitor = run->monitor,
                                   .progress = qm_bench_meter_move,
                                   .data = meter };
  QmProbes probes = { 0 }, known = { 0 };
  char path[PATH_MAX];
  QmStatus status = refuse_calibration (run, error);

  name_gpu (run, &known);
  if (status == QM_OK)
    status = find_place (run->options, &known, path, sizeof path, error);
  if (status == QM_OK)
    status = check_place (run->options, path, error);
  if (status != QM_OK)
    return status;
  qm_bench_say_products (&run->info);
  qm_bench_events_open (meter->events, &run->info);
  status = qm_probe_device (run->device, &options, &probes, error);
  if (status != QM_OK)
    return status;
  name_gpu (run, &probes);
  qm_bench_run_close (run);
  status = time_links (whole, &probes, error);
  if (status != QM_OK)
    return status;
  if (path[0] != '\0')
    status = qm_probes_write (&probes, path, error);
  if (status == QM_OK)
    say_probes (run->options, &probes, path, meter->events);
  return status;
}

/* Before a minute is spent: that there are so many. */
static QmStatus
find_first (const QmBenchOptions *options,
            QmBenchOptions *first,
            char ids[][32],
            QmError *error)
{
  QmStatus status;

  *first = *options;
  if (options->gpus < 2)
    return QM_OK;
  if (options->gpus > QM_BENCH_MOST_RANKS)
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "--gpus can be at most %d", QM_BENCH_MOST_RANKS);
  status = qm_bench_rank_devices (options, (int) options->gpus, ids, error);
  first->device = ids[0];
  first->gpus = 1;
  return status;
}

int
qm_bench_calibrate (const QmBenchOptions *options)
{
  QmBenchMeter meter = qm_bench_meter (options);
  char ids[QM_BENCH_MOST_RANKS][32];
  QmBenchOptions first;
  QmBenchRun run = { .options = &first };
  QmError error = { 0 };
  QmStatus status = find_first (options, &first, ids, &error);

  if (status == QM_OK)
    status = qm_bench_run_open (&run, &error);
  if (status == QM_OK)
    status = calibrate (&run, options, &meter, &error);
  if (status != QM_OK)
    qm_bench_meter_break (&meter);
  qm_bench_run_close (&run);
  if (status != QM_OK)
    qm_bench_events_error (meter.events, &error, NULL);
  qm_bench_events_free (meter.events);
  return status == QM_OK ? QM_BENCH_OK : qm_bench_fail (&error);
}
