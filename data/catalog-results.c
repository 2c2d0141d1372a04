/* SPDX-License-Identifier: Apache-2.0 */

/* From results to measurements: which results are of the catalog's models and
 * GPUs, and which of them is the best. */

#include "data/catalog-private.h"
#include "data/result-terms.h"
#include "data/text.h"

#include <math.h>
#include <string.h>

#define LEAST_DAYS 1e-9
#define MOST_DAYS  1e9

/* What is known of one model on so many GPUs of one type, and so many machines,
 * with one engine and one kind of settings. */
typedef struct Group
{
  QmMeasurementEntry entry;
  const QmResult *best;   /* the fastest that was measured */
  const QmResult *denied; /* the last that does not fit */
  bool checkpointed;      /* also with checkpointing something does not fit */
} Group;

typedef struct Picking
{
  QmBatch *batch;
  QmPool pool;
  QmList groups; /* Group */
  QmList noted;  /* a byte, by file and reason */
  QmNoticeFunc notice;
  void *data;
} Picking;

static const char *
base_name (const char *path)
{
  const char *slash = strrchr (path, '/');

  return slash != NULL ? slash + 1 : path;
}

/* Says something of a result once for each file; false where memory is out. */
static bool
note_once (Picking *picking, const QmResult *result, const char *sentence)
{
  const char *key =
      qm_pool_format (&picking->pool, "%s\x1f%s", result->file, sentence);
  QmError notice;

  if (key == NULL)
    return false;
  if (qm_list_find (&picking->noted, key) != QM_LIST_NONE)
    return true;
  if (qm_list_add (&picking->noted, key) == NULL)
    return false;
  qm_error_set (&notice, QM_STATUS_NOT_FOUND, result->file, result->line, 1,
                "%s", sentence);
  return picking->notice (picking->data, &notice);
}

/* Says why results are left out. */
static bool
leave_out (Picking *picking,
           const QmResult *result,
           const char *what,
           const char *name)
{
  char quoted[QM_QUOTE_BYTES];
  const char *sentence =
      qm_pool_format (&picking->pool, "%s %s: its results are left out", what,
                      qm_text_quote (name, quoted));

  return sentence != NULL && note_once (picking, result, sentence);
}

/* Says that nothing is advised by results. */
static bool
put_aside (Picking *picking, const QmResult *result, QmAside aside)
{
  const char *sentence =
      aside == QM_ASIDE_MACHINES
          ? qm_pool_format (&picking->pool,
                            "results of %d machines together are times of no "
                            "one machine: nothing is advised by them",
                            result->nodes)
          : "results whose GPUs were made to exchange in a slower way than "
            "theirs are no times of their machine: nothing is advised by them";

  return sentence != NULL && note_once (picking, result, sentence);
}

/* Whether a result says how long a training takes, or that it does not fit. */
static bool
says_something (const QmResult *result)
{
  if (result->status == QM_RESULT_INFEASIBLE)
    return result->memory_limit < 0 && result->host_limit < 0;
  return result->status == QM_RESULT_MEASURED && result->days >= LEAST_DAYS
         && result->days <= MOST_DAYS;
}

/* The group of a result in *group, NULL where it has none; false where memory
 * is out. */
static bool
find_group (Picking *picking, const QmResult *result, Group **group)
{
  const QmEntries *known = picking->batch->known;
  QmMeasurementEntry entry = { 0 };
  QmMeasurement *m = &entry.measurement;
  const char *key;
  size_t at;

  *group = NULL;
  /* What was measured on a processor has no place here, and nobody has to be
   * told. */
  if (result->gpu[0] == '\0' && result->architecture == 0)
    return true;
  entry.model = qm_list_find (&known->models, result->model);
  if (entry.model == QM_LIST_NONE)
    return leave_out (picking, result, "the catalog has no model",
                      result->model);
  if (!qm_result_is_of_model (result,
                              qm_list_item (&known->models, entry.model)))
    return leave_out (picking, result,
                      "another configuration or recipe than the catalog's of",
                      result->model);
  entry.gpu = qm_list_find (&known->gpus, result->gpu);
  if (entry.gpu == QM_LIST_NONE)
    return leave_out (picking, result, "no GPU of the catalog is",
                      result->gpu[0] != '\0' ? result->gpu : result->device);
  m->engine = qm_result_engine (result);
  if (m->engine == QM_ENGINE_UNSTATED)
    return leave_out (picking, result, "the catalog does not know the engine",
                      result->engine);
  m->gpus = result->gpus;
  m->settings = qm_result_settings (result);
  m->provenance = QM_PROVENANCE_MEASURED;
  m->aside = qm_result_aside (result, qm_list_item (&known->gpus, entry.gpu));
  m->machines = m->aside == QM_ASIDE_MACHINES ? result->nodes : 0;
  if (m->aside != QM_ASIDE_NOT && !put_aside (picking, result, m->aside))
    return false;
  key = qm_measurement_key (&picking->pool, &entry, "");
  if (key == NULL)
    return false;
  at = qm_list_find (&picking->groups, key);
  if (at != QM_LIST_NONE)
    {
      *group = qm_list_item (&picking->groups, at);
      return true;
    }
  *group = qm_list_add (&picking->groups, key);
  if (*group != NULL)
    (*group)->entry = entry;
  return *group != NULL;
}

static bool
take_measured (Picking *picking, const QmResult *result)
{
  Group *group;

  if (!says_something (result))
    return true;
  if (!find_group (picking, result, &group))
    return false;
  if (group == NULL)
    return true;
  if (result->status == QM_RESULT_INFEASIBLE)
    {
      group->denied = result;
      group->checkpointed |= result->checkpointing;
    }
  else if (group->best == NULL || result->days < group->best->days)
    group->best = result;
  return true;
}

static bool
set_texts (QmPool *pool, const QmResult *result, QmMeasurement *m)
{
  m->sharding = qm_pool_string (pool, result->sharding);
  m->engine_version = qm_pool_string (pool, result->version);
  m->source = qm_pool_format (pool, "%s, line %d", base_name (result->file),
                              result->line);
  return m->sharding != NULL && m->engine_version != NULL && m->source != NULL;
}

/* In *fits: whether something of a group was measured on GPUs that were held
 * back, which is no time of theirs and needs the memory that it needs in any
 * way.  What several machines did is no such thing: each has a host's memory of
 * its own.  False where memory is out. */
static bool
find_held_back (Picking *picking, const Group *group, bool *fits)
{
  QmMeasurementEntry entry = group->entry;
  const char *key;
  size_t at;

  entry.measurement.aside = QM_ASIDE_PATH;
  key = qm_measurement_key (&picking->pool, &entry, "");
  if (key == NULL)
    return false;
  at = qm_list_find (&picking->groups, key);
  *fits =
      at != QM_LIST_NONE
      && ((const Group *) qm_list_item (&picking->groups, at))->best != NULL;
  return true;
}

/* Whether two entries are of the same place, of which one is a time of the
 * machine and the other none. */
static bool
is_of_place_held_back (const QmMeasurementEntry *a, const QmMeasurementEntry *b)
{
  const QmMeasurement *one = &a->measurement, *other = &b->measurement;

  return a->model == b->model && a->gpu == b->gpu && one->gpus == other->gpus
         && one->settings == other->settings && one->engine == other->engine
         && one->provenance == other->provenance;
}

void
qm_entries_disprove (QmEntries *into, const QmEntries *from)
{
  for (size_t i = 0; i < from->aside.n; i++)
    {
      const QmMeasurementEntry *seen = qm_list_item (&from->aside, i);

      if (seen->measurement.aside != QM_ASIDE_PATH
          || seen->measurement.feasibility != QM_FEASIBLE)
        continue;
      for (size_t j = 0; j < into->measurements.n; j++)
        {
          QmMeasurementEntry *known = qm_list_item (&into->measurements, j);

          known->replaced |= known->measurement.feasibility == QM_INFEASIBLE
                             && is_of_place_held_back (known, seen);
        }
    }
}

/* Makes a group a measurement of the batch, where it says something. */
static bool
add_group (Picking *picking, const Group *group)
{
  QmBatch *batch = picking->batch;
  const QmResult *result = group->best != NULL ? group->best : group->denied;
  QmMeasurementEntry entry = group->entry;
  QmMeasurement *m = &entry.measurement;
  QmList *list = m->aside == QM_ASIDE_NOT ? &batch->entries.measurements
                                          : &batch->entries.aside;
  QmMeasurementEntry *added;
  const char *key;
  bool fits = false;

  if (group->best == NULL && m->settings == QM_SETTINGS_OPTIMAL
      && !group->checkpointed)
    return true;
  if (group->best == NULL && m->aside == QM_ASIDE_NOT
      && !find_held_back (picking, group, &fits))
    return false;
  if (fits)
    return true;
  m->feasibility = group->best != NULL ? QM_FEASIBLE : QM_INFEASIBLE;
  m->days = group->best != NULL ? result->days : NAN;
  m->days_low = m->days_high = NAN;
  m->checkpointing = result->checkpointing ? QM_YES : QM_NO;
  m->offloading = result->offloading ? QM_YES : QM_NO;
  m->micro_batch_size = result->micro_batch;
  m->accumulation = group->best != NULL ? result->accumulation : 0;
  m->measured_on = result->measured_on;
  /* No source of a table is empty, so that no key is the same. */
  key = qm_measurement_key (&batch->entries.pool, &entry, "");
  if (key == NULL || !set_texts (&batch->entries.pool, result, m))
    return false;
  added = qm_list_add (list, key);
  if (added == NULL)
    return false;
  *added = entry;
  return true;
}

QmStatus
qm_batch_take_results (QmBatch *batch,
                       const QmResults *results,
                       QmNoticeFunc notice,
                       void *data)
{
  Picking picking = { .batch = batch, .notice = notice, .data = data };
  size_t n;
  const QmResult *all = qm_results_list (results, &n);
  bool good = true;

  qm_list_init (&picking.groups, sizeof (Group));
  qm_list_init (&picking.noted, 1);
  for (size_t i = 0; i < n && good; i++)
    good = take_measured (&picking, &all[i]);
  for (size_t i = 0; i < picking.groups.n && good; i++)
    good = add_group (&picking, qm_list_item (&picking.groups, i));
  qm_list_clear (&picking.groups);
  qm_list_clear (&picking.noted);
  qm_pool_clear (&picking.pool);
  return good ? QM_OK : QM_STATUS_NO_MEMORY;
}
