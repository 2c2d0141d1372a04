/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-host-times.h"

#include "data/result-terms.h"
#include "data/results-adopt.h"
#include "data/results-file.h"

#include <limits.h>
#include <math.h>
#include <string.h>

struct _QmHostTimes
{
  gatomicrefcount references;
  QmCatalog *catalog;  /* which models and GPUs belong to */
  GPtrArray *results;  /* QmResults, which strings belong to */
  GArray *times;       /* QmMeasurement */
  GStringChunk *texts; /* sources */
  guint n_unsaid;
};

/* The catalog's model, if it is trained in the same way. */
static const QmModel *
model_of (const QmCatalog *catalog, const QmResult *result)
{
  const QmModel *model = qm_catalog_model (catalog, result->model);

  return model != NULL && qm_result_is_of_model (result, model) ? model : NULL;
}

static gboolean
is_same_place (const QmMeasurement *a, const QmMeasurement *b)
{
  return a->model == b->model && a->gpu == b->gpu && a->gpus == b->gpus
         && a->engine == b->engine && a->settings == b->settings;
}

/* Keeps the faster one of a place. */
static void
keep_faster_time (QmHostTimes *times, const QmMeasurement *time)
{
  for (guint i = 0; i < times->times->len; i++)
    {
      QmMeasurement *known = &g_array_index (times->times, QmMeasurement, i);

      if (!is_same_place (known, time))
        continue;
      if (time->days < known->days)
        *known = *time;
      return;
    }
  g_array_append_vals (times->times, time, 1);
}

static void
take_host_time (QmHostTimes *times,
                const QmCatalog *catalog,
                const QmResult *result)
{
  g_autofree char *name = NULL;
  g_autofree char *source = NULL;
  QmMeasurement time = {
    .model = model_of (catalog, result),
    .gpu = qm_catalog_gpu (catalog, result->gpu),
    .gpus = result->gpus,
    .settings = qm_result_settings (result),
    .feasibility = QM_FEASIBLE,
    .days = result->days,
    .days_low = NAN,
    .days_high = NAN,
    .checkpointing = result->checkpointing ? QM_YES : QM_NO,
    .sharding = result->sharding,
    .offloading = result->offloading ? QM_YES : QM_NO,
    .micro_batch_size = result->micro_batch,
    .accumulation = result->accumulation,
    .provenance = QM_PROVENANCE_MEASURED,
    .engine = qm_result_engine (result),
    .engine_version = result->version,
    .measured_on = result->measured_on,
  };

  if (result->status != QM_RESULT_MEASURED || time.model == NULL
      || time.gpu == NULL || time.engine == QM_ENGINE_UNSTATED
      || !(time.days > 0) || isinf (time.days) || time.gpus < 1
      || qm_result_aside (result, time.gpu) != QM_ASIDE_NOT)
    return;
  name = g_path_get_basename (result->file);
  source = g_strdup_printf ("%s, line %d", name, result->line);
  time.source = g_string_chunk_insert (times->texts, source);
  keep_faster_time (times, &time);
}

static void
take_file (QmHostTimes *times,
           const QmCatalog *catalog,
           const QmIdentity *here,
           const QmResults *results)
{
  size_t n;
  const QmResult *all = qm_results_list (results, &n);

  for (size_t i = 0; i < n; i++)
    if (qm_result_where (&all[i], here) == QM_WHERE_HERE)
      take_host_time (times, catalog, &all[i]);
}

QmHostTimes *
qm_host_times_new (const QmCatalog *catalog, GPtrArray *results)
{
  g_autoptr (QmHostTimes) times = g_new0 (QmHostTimes, 1);
  QmIdentity here;

  g_atomic_ref_count_init (&times->references);
  times->times = g_array_new (FALSE, FALSE, sizeof (QmMeasurement));
  times->texts = g_string_chunk_new (1024);
  times->results = results;
  times->catalog = qm_catalog_ref (catalog);
  qm_identity_here (&here);
  for (guint i = 0; i < results->len; i++)
    take_file (times, catalog, &here, g_ptr_array_index (results, i));
  if (results->len > 0)
    times->n_unsaid =
        (guint) qm_results_count_unsaid (g_ptr_array_index (results, 0));
  return times->times->len > 0 || times->n_unsaid > 0 ? g_steal_pointer (&times)
                                                      : NULL;
}

/* One that cannot be read is as if it were empty. */
static void
read_times_file (GPtrArray *files, const char *path)
{
  QmResults *results = qm_results_new ();

  if (results == NULL)
    return;
  if (qm_results_read (results, path, NULL, NULL, NULL) != QM_OK)
    {
      qm_results_free (results);
      results = qm_results_new ();
    }
  if (results != NULL)
    g_ptr_array_add (files, results);
}

/* The other files of the folder, in any order: of two results of this machine
 * the faster one counts. */
static void
read_others (GPtrArray *files, const char *own)
{
  g_autofree char *folder = g_path_get_dirname (own);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      if (name[0] != '.' && g_str_has_suffix (name, ".jsonl")
          && strcmp (path, own) != 0)
        read_times_file (files, path);
    }
}

GPtrArray *
qm_host_times_read (const char *path)
{
  GPtrArray *files =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_results_free);
  char own[PATH_MAX];

  if (path != NULL)
    read_times_file (files, path);
  else if (qm_results_default_path (own, sizeof own))
    {
      read_times_file (files, own);
      read_others (files, own);
    }
  return files;
}

QmHostTimes *
qm_host_times_load (const QmCatalog *catalog, const char *path)
{
  g_return_val_if_fail (catalog != NULL, NULL);

  return qm_host_times_new (catalog, qm_host_times_read (path));
}

guint
qm_host_times_n_unsaid (const QmHostTimes *times)
{
  g_return_val_if_fail (times != NULL, 0);

  return times->n_unsaid;
}

QmHostTimes *
qm_host_times_ref (QmHostTimes *times)
{
  g_return_val_if_fail (times != NULL, NULL);

  g_atomic_ref_count_inc (&times->references);
  return times;
}

void
qm_host_times_unref (QmHostTimes *times)
{
  if (times == NULL || !g_atomic_ref_count_dec (&times->references))
    return;
  g_ptr_array_unref (times->results);
  g_array_unref (times->times);
  g_string_chunk_free (times->texts);
  qm_catalog_free (times->catalog);
  g_free (times);
}

const QmMeasurement *
qm_host_times_list (const QmHostTimes *times, guint *n)
{
  g_return_val_if_fail (times != NULL && n != NULL, NULL);

  *n = times->times->len;
  return (const QmMeasurement *) (gconstpointer) times->times->data;
}
