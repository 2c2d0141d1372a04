/* SPDX-License-Identifier: Apache-2.0 */

/* qm-bench results: what is in results files. */

#include "app/qm-bench-nodes.h"
#include "app/qm-bench-search.h"
#include "data/results-adopt.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Results that are shown, in order. */
typedef struct Chosen
{
  const QmResult **results;
  size_t n;
} Chosen;

static int
compare_results (const void *a, const void *b)
{
  return qm_result_compare (*(const QmResult *const *) a,
                            *(const QmResult *const *) b);
}

/* Whether two results are about the same model on the same devices of as many
 * machines, which exchange in the same way, with the same software. */
static bool
is_same_place (const QmResult *a, const QmResult *b)
{
  return strcmp (a->model, b->model) == 0
         && strcmp (a->model_key, b->model_key) == 0
         && strcmp (a->device, b->device) == 0
         && strcmp (a->driver, b->driver) == 0
         && a->architecture == b->architecture
         && strcmp (a->engine, b->engine) == 0
         && strcmp (a->version, b->version) == 0 && a->gpus == b->gpus
         && a->nodes == b->nodes && a->path == b->path
         && qm_result_through_host (a) == qm_result_through_host (b)
         && a->deterministic == b->deterministic;
}

/* Keeps the fastest of each place. */
static void
keep_best (Chosen *chosen)
{
  size_t kept = 0;

  for (size_t i = 0; i < chosen->n; i++)
    {
      const QmResult *result = chosen->results[i];
      size_t at = 0;

      if (result->status != QM_RESULT_MEASURED)
        continue;
      while (at < kept && !is_same_place (chosen->results[at], result))
        at++;
      if (at == kept)
        chosen->results[kept++] = result;
      else if (result->days < chosen->results[at]->days)
        chosen->results[at] = result;
    }
  chosen->n = kept;
}

/* Chooses what the options say, and puts it in order. */
static QmStatus
choose_results (const QmBenchOptions *options,
                const QmResults *results,
                Chosen *chosen,
                QmError *error)
{
  size_t n;
  const QmResult *list = qm_results_list (results, &n);

  chosen->results = malloc ((n + 1) * sizeof (const QmResult *));
  if (chosen->results == NULL)
    return qm_error_no_memory (error);
  for (size_t i = 0; i < n; i++)
    if (options->model == NULL || strcmp (options->model, list[i].model) == 0)
      chosen->results[chosen->n++] = &list[i];
  if (chosen->n == 0 && options->model != NULL)
    return qm_error_set (error, QM_STATUS_NOT_FOUND, "", 0, 0,
                         "there are no results of '%.64s'", options->model);
  qsort (chosen->results, chosen->n, sizeof (const QmResult *),
         compare_results);
  if (options->best)
    keep_best (chosen);
  return QM_OK;
}

static void
add_result_row (const QmResult *r, QmBenchTable *table)
{
  char (*cells)[QM_BENCH_CELL] = qm_bench_table_row (table);

  if (cells == NULL)
    return;
  snprintf (cells[0], QM_BENCH_CELL, "%.60s", r->settings);
  strcpy (cells[1], r->checkpointing ? "yes" : "no");
  snprintf (cells[2], QM_BENCH_CELL, "%s", r->sharding);
  strcpy (cells[3], r->offloading ? "yes" : "no");
  if (r->status != QM_RESULT_INFEASIBLE)
    snprintf (cells[4], QM_BENCH_CELL, "%lld", (long long) r->micro_batch);
  if (r->status == QM_RESULT_MEASURED)
    {
      qm_bench_format (r->days, cells[5]);
      qm_bench_format (r->step, cells[6]);
      if (isfinite (r->mfu))
        snprintf (cells[7], QM_BENCH_CELL, "%.1f %%", r->mfu * 100);
      if (r->planned_bytes >= 0)
        qm_bench_format ((double) r->planned_bytes / 0x1p30, cells[8]);
    }
  snprintf (cells[9], QM_BENCH_CELL, "%.10s", r->time);
  if (r->status != QM_RESULT_MEASURED)
    snprintf (cells[10], QM_BENCH_CELL, "%s%s: %.90s",
              qm_result_status_name (r->status),
              r->memory_limit >= 0 || r->host_limit >= 0 ? " within a limit"
                                                         : "",
              r->reason);
}

/* How GPUs exchanged, where that is not how they do by themselves. */
static const char *
how_exchanged (const QmResult *result)
{
  if (qm_result_through_host (result))
    return result->nodes > 1 ? ", through sockets"
                             : ", through the memory of the host";
  return result->path != QM_PATH_OWN ? ", held back" : "";
}

/* Prints results of one place, the first `n`. */
static void
print_place (const QmResult *const *results, size_t n)
{
  static const char *const head[] = {
    "settings",    "checkpoint", "sharding", "offload",
    "micro-batch", "days",       "step s",   "MFU",
    "GiB",         "measured",   ""
  };
  const int columns = (int) (sizeof head / sizeof head[0]);
  QmBenchTable table = { .columns = columns, .left = 4 };
  char (*cells)[QM_BENCH_CELL] = qm_bench_table_row (&table);
  const QmResult *first = results[0];
  char devices[320], fp8[64] = "";

  for (int i = 0; i < columns && cells != NULL; i++)
    strcpy (cells[i], head[i]);
  for (size_t i = 0; i < n; i++)
    add_result_row (results[i], &table);
  qm_bench_format_devices (first->gpus, first->nodes, first->device, devices,
                           sizeof devices);
  if (first->fp8_scales[0] != '\0')
    snprintf (fp8, sizeof fp8, ", %s (%s, %s, %s)", first->precision,
              first->fp8_scales, first->fp8_amax, first->fp8_gradients);
  qm_bench_print ("%s%s on %s%s%s%s, %s %s%s", first->model, fp8, devices,
                  how_exchanged (first),
                  first->driver[0] != '\0' ? ", driver " : "", first->driver,
                  first->engine, first->version,
                  first->deterministic ? ", deterministic" : "");
  qm_bench_table_print (&table);
}

static void
print_chosen_text (const Chosen *chosen)
{
  size_t n;

  for (size_t i = 0; i < chosen->n; i += n)
    {
      const QmResult *const *first =
          (const QmResult *const *) chosen->results + i;

      for (n = 1; i + n < chosen->n && is_same_place (first[0], first[n]); n++)
        ;
      if (i > 0)
        printf ("\n");
      print_place (first, n);
    }
}

/* Reads a file; says where a line was broken off. */
static QmStatus
read_results_file (QmResults *results, const char *path, QmError *error)
{
  size_t whole, length;
  QmStatus status = qm_results_read (results, path, &whole, &length, error);

  if (status == QM_OK && whole < length)
    qm_bench_say ("%s: the last line was broken off, and is left out", path);
  return status;
}

/* Reads all files, and says what is wrong with any of them; the last status
 * that is not good. */
static int
read_files (const QmBenchOptions *options, QmResults *results)
{
  char own[PATH_MAX], *path = own;
  char **files = options->n_files > 0 ? options->files : &path;
  int result = QM_BENCH_OK;

  if (options->n_files == 0 && !qm_results_default_path (own, sizeof own))
    {
      qm_bench_say ("there is no home folder: name a file");
      return QM_BENCH_FAILED;
    }
  for (int i = 0; i < (options->n_files > 0 ? options->n_files : 1); i++)
    {
      QmError error = { 0 };

      if (read_results_file (results, files[i], &error) != QM_OK)
        result = qm_bench_fail (&error);
    }
  return result;
}

/* Says of each file that what does not say it is of this machine. */
static int
adopt (const QmBenchOptions *options)
{
  char own[PATH_MAX], *path = own;
  char **files = options->n_files > 0 ? options->files : &path;
  int result = QM_BENCH_OK;
  QmIdentity here;

  if (options->n_files == 0 && !qm_results_default_path (own, sizeof own))
    {
      fprintf (stderr, "qm-bench: there is no home folder: name a file\n");
      return QM_BENCH_FAILED;
    }
  qm_identity_here (&here);
  for (int i = 0; i < (options->n_files > 0 ? options->n_files : 1); i++)
    {
      QmError error = { 0 };
      size_t n;

      if (qm_results_adopt (files[i], &here, &n, &error) != QM_OK)
        result = qm_bench_fail (&error);
      else
        fprintf (stderr, "qm-bench: %s: %zu results are of this machine now\n",
                 files[i], n);
    }
  return result;
}

int
qm_bench_results (const QmBenchOptions *options)
{
  QmResults *results = qm_results_new ();
  Chosen chosen = { 0 };
  QmError error = { 0 };
  QmStatus status = QM_OK;
  int result = options->adopt ? adopt (options) : QM_BENCH_OK;

  if (result == QM_BENCH_OK)
    result = results != NULL ? read_files (options, results) : QM_BENCH_FULL;
  if (result == QM_BENCH_OK)
    status = choose_results (options, results, &chosen, &error);
  if (result == QM_BENCH_OK && status == QM_OK && options->merge != NULL)
    status =
        qm_results_write (options->merge, chosen.results, chosen.n, &error);
  else if (result == QM_BENCH_OK && status == QM_OK && options->json)
    for (size_t i = 0; i < chosen.n; i++)
      qm_bench_put_json (chosen.results[i]->text);
  else if (result == QM_BENCH_OK && status == QM_OK)
    print_chosen_text (&chosen);
  free (chosen.results);
  qm_results_free (results);
  return status == QM_OK ? result : qm_bench_fail (&error);
}
