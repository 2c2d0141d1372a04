/* SPDX-License-Identifier: Apache-2.0 */

#include "data/catalog.h"

#include "data/catalog-private.h"
#include "data/file.h"
#include "data/text.h"

#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

struct QmCatalog
{
  atomic_uint references;
  bool without_times; /* measurements are not read */
  QmEntries entries;
  QmMeasurement *measurements, *aside;
  QmError *problems;
  size_t n_problems;
  size_t n_measurements, n_aside;
  QmError *notices;
  size_t n_notices;
};

static void
entries_init (QmEntries *entries)
{
  entries->pool = (QmPool){ NULL };
  qm_list_init (&entries->gpus, sizeof (QmGpu));
  qm_list_init (&entries->machines, sizeof (QmMachine));
  qm_list_init (&entries->platforms, sizeof (QmPlatform));
  qm_list_init (&entries->models, sizeof (QmModel));
  qm_list_init (&entries->prices, sizeof (QmPrice));
  qm_list_init (&entries->measurements, sizeof (QmMeasurementEntry));
  qm_list_init (&entries->aside, sizeof (QmMeasurementEntry));
}

static void
entries_clear (QmEntries *entries)
{
  qm_pool_clear (&entries->pool);
  qm_list_clear (&entries->gpus);
  qm_list_clear (&entries->machines);
  qm_list_clear (&entries->platforms);
  qm_list_clear (&entries->models);
  qm_list_clear (&entries->prices);
  qm_list_clear (&entries->measurements);
  qm_list_clear (&entries->aside);
}

void
qm_batch_init (QmBatch *batch,
               const QmEntries *known,
               const char *file,
               bool from_user)
{
  batch->known = known;
  batch->file = file;
  batch->from_user = from_user;
  entries_init (&batch->entries);
}

void
qm_batch_clear (QmBatch *batch)
{
  entries_clear (&batch->entries);
}

void *
qm_batch_add (QmList *list, const char *key, QmCsvRow *row, size_t column)
{
  void *entry;

  if (row->status != QM_OK)
    return NULL;
  if (key != NULL && qm_list_find (list, key) != QM_LIST_NONE)
    {
      qm_csv_fail (row, column, QM_STATUS_INVALID,
                   "the file has this entry twice");
      return NULL;
    }
  entry = key != NULL ? qm_list_add (list, key) : NULL;
  if (entry == NULL)
    qm_csv_fail (row, column, QM_STATUS_NO_MEMORY, "out of memory");
  return entry;
}

void
qm_batch_fail_unknown (QmCsvRow *row,
                       size_t column,
                       const char *what,
                       const QmList *const *lists,
                       size_t n_lists)
{
  const char *text = row->cells[column].text;
  char quoted[QM_QUOTE_BYTES];
  const char *candidates[QM_MAX_LISTS];
  const char *nearest;
  size_t n = 0;

  for (size_t i = 0; i < n_lists && i < QM_MAX_LISTS; i++)
    {
      nearest = qm_nearest_name (text, lists[i]->keys, lists[i]->n);
      if (nearest != NULL)
        candidates[n++] = nearest;
    }
  nearest = n > 0 ? qm_nearest_name (text, candidates, n) : NULL;
  qm_text_quote (text, quoted);
  if (nearest != NULL)
    qm_csv_fail (row, column, QM_STATUS_NOT_FOUND,
                 "unknown %s %s; did you mean '%s'?", what, quoted, nearest);
  else
    qm_csv_fail (row, column, QM_STATUS_NOT_FOUND, "unknown %s %s", what,
                 quoted);
}

/* Puts the entries of a batch's list into the catalog's. */
static bool
merge_list (QmList *into, const QmList *from)
{
  for (size_t i = 0; i < from->n; i++)
    {
      size_t at = qm_list_find (into, from->keys[i]);
      void *entry = at != QM_LIST_NONE ? qm_list_item (into, at)
                                       : qm_list_add (into, from->keys[i]);

      if (entry == NULL)
        return false;
      memcpy (entry, qm_list_item (from, i), from->item_size);
    }
  return true;
}

static size_t
replace_times (QmList *list, size_t model)
{
  size_t n = 0;

  for (size_t i = 0; i < list->n; i++)
    {
      QmMeasurementEntry *entry = qm_list_item (list, i);

      if (entry->model == model && !entry->replaced)
        {
          entry->replaced = true;
          n++;
        }
    }
  return n;
}

/* Takes the times of models away that others of their names take the places
 * of, with another configuration or recipe.  Returns how many. */
static size_t
replace_models (QmEntries *into, const QmEntries *from)
{
  size_t n = 0;

  for (size_t i = 0; i < from->models.n; i++)
    {
      size_t at = qm_list_find (&into->models, from->models.keys[i]);
      const QmModel *new = qm_list_item (&from->models, i), *old;
      char keys[2][QM_MODEL_KEY_BYTES];

      if (at == QM_LIST_NONE)
        continue;
      old = qm_list_item (&into->models, at);
      qm_model_key (&old->config, &old->recipe, keys[0]);
      qm_model_key (&new->config, &new->recipe, keys[1]);
      if (strcmp (keys[0], keys[1]) != 0)
        n += replace_times (&into->measurements, at)
             + replace_times (&into->aside, at);
    }
  return n;
}

static bool
merge (QmEntries *into, QmEntries *from)
{
  qm_entries_disprove (into, from);
  qm_pool_take (&into->pool, &from->pool);
  return merge_list (&into->gpus, &from->gpus)
         && merge_list (&into->machines, &from->machines)
         && merge_list (&into->platforms, &from->platforms)
         && merge_list (&into->models, &from->models)
         && merge_list (&into->prices, &from->prices)
         && merge_list (&into->measurements, &from->measurements)
         && merge_list (&into->aside, &from->aside);
}

static bool
append_notice (QmError **list, size_t *n, const QmError *item)
{
  QmError *grown = realloc (*list, (*n + 1) * sizeof **list);

  if (grown == NULL)
    return false;
  *list = grown;
  grown[(*n)++] = *item;
  return true;
}

static QmStatus
add_problem (QmCatalog *catalog, const QmError *problem, QmError *error)
{
  if (problem->status == QM_STATUS_NO_MEMORY
      || !append_notice (&catalog->problems, &catalog->n_problems, problem))
    return qm_error_no_memory (error);
  return QM_OK;
}

/* Puts what a file has into the catalog, and says what does not count any more;
 * false where memory is out. */
static bool
take_batch (QmCatalog *catalog, QmBatch *batch)
{
  size_t n = replace_models (&catalog->entries, &batch->entries);
  QmError notice;

  if (n > 0)
    {
      qm_error_set (&notice, QM_STATUS_NOT_FOUND, batch->file, 0, 0,
                    "%zu times of the model that was there under this name, of "
                    "another configuration or recipe, are left out",
                    n);
      if (!append_notice (&catalog->notices, &catalog->n_notices, &notice))
        return false;
    }
  return merge (&catalog->entries, &batch->entries);
}

/* Reads one file; returns an error only where memory is out. */
static QmStatus
load_file (QmCatalog *catalog,
           const char *path,
           bool from_user,
           QmBatchReader reader,
           QmError *error)
{
  QmBatch batch;
  QmError problem;
  char *text = NULL;
  size_t length;
  QmStatus status = qm_text_read_file (path, &text, &length, &problem);

  if (status != QM_OK)
    return add_problem (catalog, &problem, error);

  qm_batch_init (&batch, &catalog->entries, path, from_user);
  status = reader (&batch, text, length, &problem);
  free (text);
  if (status != QM_OK)
    status = add_problem (catalog, &problem, error);
  else if (!take_batch (catalog, &batch))
    status = qm_error_no_memory (error);
  qm_batch_clear (&batch);
  return status;
}

static char *
path_in (const char *directory, const char *name)
{
  size_t size = strlen (directory) + strlen (name) + 2;
  char *path = malloc (size);

  if (path != NULL)
    snprintf (path, size, "%s/%s", directory, name);
  return path;
}

/* The results of a directory while they are read. */
typedef struct Gathering
{
  QmCatalog *catalog;
  QmResults *results;
  size_t n_notices;
} Gathering;

/* Notes something of a directory, as long as there are not too many notes. */
static bool
add_notice (void *data, const QmError *notice)
{
  Gathering *gathering = data;
  QmError shown = *notice;

  if (gathering->n_notices >= QM_CATALOG_MAX_NOTICES)
    return true;
  if (++gathering->n_notices == QM_CATALOG_MAX_NOTICES)
    qm_error_set (&shown, QM_STATUS_INVALID, notice->file, 0, 0,
                  "more results are left out");
  return append_notice (&gathering->catalog->notices,
                        &gathering->catalog->n_notices, &shown);
}

/* Reads one results file; returns an error only where memory is out. */
static QmStatus
gather_results (Gathering *gathering, const char *path, QmError *error)
{
  size_t whole, length;
  QmError problem;
  QmStatus status =
      qm_results_read (gathering->results, path, &whole, &length, &problem);

  if (status != QM_OK)
    return add_problem (gathering->catalog, &problem, error);
  if (whole == length)
    return QM_OK;
  qm_error_set (&problem, QM_STATUS_PARSE, path, 0, 0,
                "the last line was not finished and does not count");
  return add_notice (gathering, &problem) ? QM_OK : qm_error_no_memory (error);
}

/* A file that a directory need not have. */
static QmStatus
load_optional (QmCatalog *catalog,
               const char *directory,
               const char *name,
               bool from_user,
               QmBatchReader reader,
               QmError *error)
{
  char *path = path_in (directory, name);
  QmStatus status = QM_OK;

  if (path == NULL)
    return qm_error_no_memory (error);
  if (qm_file_exists (path))
    status = load_file (catalog, path, from_user, reader, error);
  free (path);
  return status;
}

/* A file that the user's directory need not have. */
static QmStatus
load_named (QmCatalog *catalog,
            const char *directory,
            const char *name,
            bool from_user,
            QmBatchReader reader,
            QmError *error)
{
  char *path;
  QmStatus status;

  if (from_user)
    return load_optional (catalog, directory, name, from_user, reader, error);
  path = path_in (directory, name);
  if (path == NULL)
    return qm_error_no_memory (error);
  status = load_file (catalog, path, from_user, reader, error);
  free (path);
  return status;
}

static bool
has_suffix (const char *name, const char *suffix)
{
  size_t n_name = strlen (name), n_suffix = strlen (suffix);

  return n_name > n_suffix && strcmp (name + n_name - n_suffix, suffix) == 0;
}

static int
compare_file_names (const void *a, const void *b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

/* Names in a directory that end in `suffix` and are not hidden, sorted
 * bytewise; false where memory is out. */
static bool
list_directory (DIR *directory, const char *suffix, QmPool *pool, QmList *names)
{
  const struct dirent *entry;

  while ((entry = readdir (directory)) != NULL)
    {
      const char *copy;

      if (entry->d_name[0] == '.' || !has_suffix (entry->d_name, suffix))
        continue;
      copy = qm_pool_string (pool, entry->d_name);
      if (copy == NULL || qm_list_add (names, copy) == NULL)
        return false;
    }
  if (names->n > 1)
    qsort (names->keys, names->n, sizeof *names->keys, compare_file_names);
  return true;
}

static QmStatus
load_sorted (QmCatalog *catalog,
             const char *path,
             DIR *directory,
             const char *suffix,
             bool from_user,
             QmBatchReader reader,
             QmError *error)
{
  QmPool pool = { NULL };
  QmList names;
  QmStatus status = QM_OK;

  qm_list_init (&names, 1);
  if (!list_directory (directory, suffix, &pool, &names))
    status = qm_error_no_memory (error);
  for (size_t i = 0; i < names.n && status == QM_OK; i++)
    status =
        load_named (catalog, path, names.keys[i], from_user, reader, error);
  qm_list_clear (&names);
  qm_pool_clear (&pool);
  return status;
}

/* All results files of a directory into one set. */
static QmStatus
gather_sorted (Gathering *gathering,
               const char *path,
               DIR *directory,
               QmError *error)
{
  QmPool pool = { NULL };
  QmList names;
  QmStatus status = QM_OK;

  qm_list_init (&names, 1);
  if (!list_directory (directory, ".jsonl", &pool, &names))
    status = qm_error_no_memory (error);
  for (size_t i = 0; i < names.n && status == QM_OK; i++)
    {
      char *file = path_in (path, names.keys[i]);

      status = file != NULL ? gather_results (gathering, file, error)
                            : qm_error_no_memory (error);
      free (file);
    }
  qm_list_clear (&names);
  qm_pool_clear (&pool);
  return status;
}

static QmStatus
take_results (Gathering *gathering, bool from_user, QmError *error)
{
  QmCatalog *catalog = gathering->catalog;
  QmBatch batch;
  bool taken;

  qm_batch_init (&batch, &catalog->entries, "", from_user);
  taken =
      qm_batch_take_results (&batch, gathering->results, add_notice, gathering)
          == QM_OK
      && merge (&catalog->entries, &batch.entries);
  qm_batch_clear (&batch);
  return taken ? QM_OK : qm_error_no_memory (error);
}

/* The results files among the measurements.  Why the directory cannot be opened
 * is said where the tables are read. */
static QmStatus
load_results (QmCatalog *catalog,
              const char *parent,
              bool from_user,
              QmError *error)
{
  Gathering gathering = { catalog, qm_results_new (), 0 };
  char *path = path_in (parent, "measurements");
  DIR *directory = path != NULL ? opendir (path) : NULL;
  QmStatus status = QM_OK;

  if (path == NULL || gathering.results == NULL)
    status = qm_error_no_memory (error);
  if (status == QM_OK && directory != NULL)
    status = gather_sorted (&gathering, path, directory, error);
  if (status == QM_OK)
    status = take_results (&gathering, from_user, error);
  if (directory != NULL)
    closedir (directory);
  free (path);
  qm_results_free (gathering.results);
  return status;
}

/* Every file of a kind in a directory of their own. */
static QmStatus
load_directory (QmCatalog *catalog,
                const char *parent,
                const char *name,
                const char *suffix,
                bool from_user,
                QmBatchReader reader,
                QmError *error)
{
  char *path = path_in (parent, name);
  DIR *directory;
  QmStatus status = QM_OK;

  if (path == NULL)
    return qm_error_no_memory (error);
  directory = opendir (path);
  if (directory != NULL)
    {
      status = load_sorted (catalog, path, directory, suffix, from_user, reader,
                            error);
      closedir (directory);
    }
  else if (!from_user || qm_file_exists (path))
    {
      QmError problem;

      qm_error_set (&problem, QM_STATUS_IO, path, 0, 0, "cannot be opened: %s",
                    strerror (errno));
      status = add_problem (catalog, &problem, error);
    }
  free (path);
  return status;
}

static QmStatus
load_measurements (QmCatalog *catalog,
                   const char *directory,
                   bool from_user,
                   QmError *error)
{
  QmStatus status =
      load_directory (catalog, directory, "measurements", ".csv", from_user,
                      qm_batch_read_measurements, error);

  return status == QM_OK ? load_results (catalog, directory, from_user, error)
                         : status;
}

static QmStatus
load_all (QmCatalog *catalog,
          const char *directory,
          bool from_user,
          QmError *error)
{
  QmStatus status = load_named (catalog, directory, "gpus.csv", from_user,
                                qm_batch_read_gpus, error);

  if (status == QM_OK)
    status = load_named (catalog, directory, "machines.csv", from_user,
                         qm_batch_read_machines, error);
  if (status == QM_OK)
    status = load_optional (catalog, directory, "platforms.csv", from_user,
                            qm_batch_read_platforms, error);
  if (status == QM_OK)
    status = load_directory (catalog, directory, "models", ".json", from_user,
                             qm_batch_read_model, error);
  if (status == QM_OK)
    status = load_named (catalog, directory, "prices.csv", from_user,
                         qm_batch_read_prices, error);
  if (status == QM_OK && !catalog->without_times)
    status = load_measurements (catalog, directory, from_user, error);
  return status;
}

/* Gives `n` measurements, those that still count, their models and GPUs, whose
 * places are now final; NULL where memory is out. */
static QmMeasurement *
resolve_list (const QmEntries *entries, const QmList *list, size_t *n)
{
  QmMeasurement *resolved =
      calloc (list->n > 0 ? list->n : 1, sizeof (QmMeasurement));

  *n = 0;
  for (size_t i = 0; i < list->n && resolved != NULL; i++)
    {
      const QmMeasurementEntry *entry = qm_list_item (list, i);
      QmMeasurement *m = &resolved[*n];

      if (entry->replaced)
        continue;
      *m = entry->measurement;
      m->model = qm_list_item (&entries->models, entry->model);
      m->gpu = qm_list_item (&entries->gpus, entry->gpu);
      ++*n;
    }
  return resolved;
}

static QmStatus
resolve_measurements (QmCatalog *catalog, QmError *error)
{
  const QmEntries *entries = &catalog->entries;

  catalog->measurements =
      resolve_list (entries, &entries->measurements, &catalog->n_measurements);
  catalog->aside = resolve_list (entries, &entries->aside, &catalog->n_aside);
  return catalog->measurements != NULL && catalog->aside != NULL
             ? QM_OK
             : qm_error_no_memory (error);
}

static QmStatus
check_directory (const char *path, QmError *error)
{
  DIR *directory = opendir (path);

  if (directory == NULL)
    return qm_error_set (error,
                         errno == ENOENT ? QM_STATUS_NOT_FOUND : QM_STATUS_IO,
                         path, 0, 0, "cannot be opened: %s", strerror (errno));
  closedir (directory);
  return QM_OK;
}

static QmStatus
load_user (QmCatalog *catalog, const char *directory, QmError *error)
{
  QmError problem;
  QmStatus status = check_directory (directory, &problem);

  if (status == QM_STATUS_NOT_FOUND)
    return QM_OK;
  if (status != QM_OK)
    return add_problem (catalog, &problem, error);
  return load_all (catalog, directory, true, error);
}

static QmStatus
load_directories (const char *shipped_dir,
                  const char *user_dir,
                  bool without_times,
                  QmCatalog **catalog,
                  QmError *error)
{
  QmCatalog *loading;
  QmStatus status = check_directory (shipped_dir, error);

  if (status != QM_OK)
    return status;
  loading = calloc (1, sizeof *loading);
  if (loading == NULL)
    return qm_error_no_memory (error);
  atomic_init (&loading->references, 1);
  loading->without_times = without_times;
  entries_init (&loading->entries);

  status = load_all (loading, shipped_dir, false, error);
  if (status == QM_OK && user_dir != NULL)
    status = load_user (loading, user_dir, error);
  if (status == QM_OK)
    status = resolve_measurements (loading, error);
  if (status != QM_OK)
    {
      qm_catalog_free (loading);
      return status;
    }
  *catalog = loading;
  return QM_OK;
}

QmStatus
qm_catalog_load (const char *shipped_dir,
                 const char *user_dir,
                 QmCatalog **catalog,
                 QmError *error)
{
  return load_directories (shipped_dir, user_dir, false, catalog, error);
}

QmStatus
qm_catalog_load_without_times (const char *shipped_dir,
                               const char *user_dir,
                               QmCatalog **catalog,
                               QmError *error)
{
  return load_directories (shipped_dir, user_dir, true, catalog, error);
}

QmCatalog *
qm_catalog_ref (const QmCatalog *catalog)
{
  /* The count alone changes, and no catalog is made constant. */
  QmCatalog *counted = (QmCatalog *) catalog;

  atomic_fetch_add (&counted->references, 1);
  return counted;
}

void
qm_catalog_free (QmCatalog *catalog)
{
  if (catalog == NULL || atomic_fetch_sub (&catalog->references, 1) > 1)
    return;
  entries_clear (&catalog->entries);
  free (catalog->measurements);
  free (catalog->aside);
  free (catalog->problems);
  free (catalog->notices);
  free (catalog);
}

const QmError *
qm_catalog_problems (const QmCatalog *catalog, size_t *n)
{
  *n = catalog->n_problems;
  return catalog->problems;
}

const QmError *
qm_catalog_notices (const QmCatalog *catalog, size_t *n)
{
  *n = catalog->n_notices;
  return catalog->notices;
}

/* A list's entries as an array. */
static const void *
list_array (const QmList *list, size_t *n)
{
  *n = list->n;
  return list->items;
}

const QmGpu *
qm_catalog_gpus (const QmCatalog *catalog, size_t *n)
{
  return list_array (&catalog->entries.gpus, n);
}

const QmMachine *
qm_catalog_machines (const QmCatalog *catalog, size_t *n)
{
  return list_array (&catalog->entries.machines, n);
}

const QmPlatform *
qm_catalog_platforms (const QmCatalog *catalog, size_t *n)
{
  return list_array (&catalog->entries.platforms, n);
}

const QmModel *
qm_catalog_models (const QmCatalog *catalog, size_t *n)
{
  return list_array (&catalog->entries.models, n);
}

const QmPrice *
qm_catalog_prices (const QmCatalog *catalog, size_t *n)
{
  return list_array (&catalog->entries.prices, n);
}

const QmMeasurement *
qm_catalog_measurements (const QmCatalog *catalog, size_t *n)
{
  *n = catalog->n_measurements;
  return catalog->measurements;
}

const QmMeasurement *
qm_catalog_aside (const QmCatalog *catalog, size_t *n)
{
  *n = catalog->n_aside;
  return catalog->aside;
}

static const void *
list_entry (const QmList *list, const char *id)
{
  size_t at = qm_list_find (list, id);

  return at != QM_LIST_NONE ? qm_list_item (list, at) : NULL;
}

const QmGpu *
qm_catalog_gpu (const QmCatalog *catalog, const char *id)
{
  return list_entry (&catalog->entries.gpus, id);
}

const QmMachine *
qm_catalog_machine (const QmCatalog *catalog, const char *id)
{
  return list_entry (&catalog->entries.machines, id);
}

const QmModel *
qm_catalog_model (const QmCatalog *catalog, const char *id)
{
  return list_entry (&catalog->entries.models, id);
}
