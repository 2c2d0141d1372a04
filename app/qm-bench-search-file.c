/* SPDX-License-Identifier: Apache-2.0 */

/* The results file of a search: opened when no other search has it, and whole
 * at the end, whatever others did to it. */

#include "app/qm-bench-search.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* Waits until the file is free, and says meanwhile that it lives. */
static QmStatus
wait_for_file (QmBenchSearch *search, const char *path, QmError *error)
{
  const struct timespec moment = { .tv_nsec = 200000000 };
  bool busy = true;
  QmStatus status = QM_OK;

  qm_bench_say ("another search is writing to %s; waiting", path);
  while (busy)
    {
      if (qm_bench_interrupted ())
        return qm_error_set (error, QM_STATUS_INTERRUPTED, "", 0, 0,
                             "interrupted");
      qm_bench_events_alive (search->events);
      nanosleep (&moment, NULL);
      status =
          qm_results_open (path, false, false, &busy, &search->file, error);
    }
  return status;
}

QmStatus
qm_bench_open_results (QmBenchSearch *search, QmError *error)
{
  const char *path = search->options->results;
  bool busy;
  QmStatus status;

  if (path == NULL
      && !qm_results_default_path (search->path, sizeof search->path))
    {
      search->cause = "no-home";
      return qm_error_set (error, QM_STATUS_IO, "", 0, 0,
                           "there is no home folder: --results has to say "
                           "where results go");
    }
  if (path != NULL
      && snprintf (search->path, sizeof search->path, "%s", path)
             >= (int) sizeof search->path)
    return qm_error_set (error, QM_STATUS_IO, path, 0, 0,
                         "is longer than a path may be");
  if (search->options->dry_run && access (search->path, F_OK) != 0)
    return QM_OK;
  status = qm_results_open (search->path, path == NULL, false, &busy,
                            &search->file, error);
  if (busy && search->options->dry_run)
    {
      search->cause = "busy";
      return qm_error_set (error, QM_STATUS_IO, search->path, 0, 0,
                           "another search is writing to it");
    }
  if (busy)
    status = wait_for_file (search, search->path, error);
  if (status == QM_OK && qm_results_file_repaired (search->file) > 0)
    qm_bench_say ("%s: the last line was broken off, and is left out",
                  search->path);
  return status;
}

void
qm_bench_say_change (const QmBenchSearch *search)
{
  static const char *const words[] = {
    [QM_RESULTS_GONE] = "was deleted while this search ran; it was made anew "
                        "from what is known",
    [QM_RESULTS_REPLACED] = "was replaced while this search ran; what it "
                            "lacked was added",
    [QM_RESULTS_CUT] = "was cut while this search ran; what it lacked was "
                       "added",
    [QM_RESULTS_GROWN] = "was written to by another program while this search "
                         "ran; what it wrote was kept",
  };
  QmResultsChange change = qm_results_file_change (search->file);

  if (change != QM_RESULTS_UNCHANGED)
    qm_bench_say ("%s: %s", search->path, words[change]);
}

QmStatus
qm_bench_secure_results (const QmBenchSearch *search,
                         QmStatus status,
                         QmError *error)
{
  QmError problem = { 0 };

  if (search->file == NULL || search->options->dry_run)
    return status;
  if (qm_results_secure (search->file, &problem) == QM_OK)
    {
      qm_bench_say_change (search);
      return status;
    }
  if (status == QM_OK)
    *error = problem;
  else
    qm_bench_fail (&problem);
  return status == QM_OK ? problem.status : status;
}
