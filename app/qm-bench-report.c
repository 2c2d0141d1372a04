/* SPDX-License-Identifier: Apache-2.0 */

/* What a search found, for each model: every configuration, the best, and what
 * it gains over free-lunch settings alone and over naive ones.  Speeds are
 * those of figures 4 and 5 of Khandelwal et al. 2024: the time with free-lunch
 * settings alone over the time with the best, the median and the worst
 * combination of methods that save memory. */

#include "config.h"

#include "app/qm-bench-nodes.h"
#include "app/qm-bench-search.h"
#include "data/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What stands out of one model. */
typedef struct Summary
{
  const QmBenchEntry *best, *plain, *naive; /* NULL: none was measured */
  QmSearchGain saving;
} Summary;

/* Days, NaN where it was not measured. */
static double
days_of_entry (const QmBenchSearch *search, const QmBenchEntry *entry)
{
  const QmResult *result =
      entry != NULL ? qm_bench_entry_result (search, entry) : NULL;

  return result != NULL && result->status == QM_RESULT_MEASURED ? result->days
                                                                : NAN;
}

static void
keep_faster (const QmBenchSearch *search,
             const QmBenchEntry **best,
             const QmBenchEntry *entry)
{
  double days = days_of_entry (search, entry);

  if (isfinite (days) && !(days >= days_of_entry (search, *best)))
    *best = entry;
}

/* Whether two entries are of one configuration. */
static bool
is_same_configuration (const QmBenchEntry *a, const QmBenchEntry *b)
{
  return a->model == b->model
         && a->rank % QM_SEARCH_MOST == b->rank % QM_SEARCH_MOST;
}

/* The fastest micro-batch of an entry's configuration; NULL where this is not
 * the first entry of it. */
static const QmBenchEntry *
best_of_configuration (const QmBenchSearch *search, const QmBenchEntry *entry)
{
  const QmBenchEntry *best = NULL;

  for (size_t i = 0; i < search->n_entries; i++)
    if (is_same_configuration (&search->entries[i], entry))
      {
        if (best == NULL && &search->entries[i] < entry)
          return NULL;
        keep_faster (search, &best, &search->entries[i]);
      }
  return best;
}

static Summary
summarise (const QmBenchSearch *search, size_t model)
{
  Summary s = { 0 };
  double saving[QM_SEARCH_MOST];
  size_t n = 0;

  for (size_t i = 0; i < search->n_entries; i++)
    {
      const QmBenchEntry *entry = &search->entries[i];
      const QmSearchConfig *config = &entry->config;
      const QmBenchEntry *best =
          entry->model == model ? best_of_configuration (search, entry) : NULL;

      if (best == NULL)
        continue;
      keep_faster (search, &s.best, best);
      if (config->methods == 0)
        s.naive = best;
      else if (!config->checkpoint && config->sharding == QM_SHARDING_NONE)
        s.plain = best;
      else if (n < QM_SEARCH_MOST)
        saving[n++] = days_of_entry (search, best);
    }
  s.saving = qm_search_gain (saving, n, days_of_entry (search, s.plain));
  return s;
}

static const char *
state_of (const QmBenchSearch *search, const QmBenchEntry *entry)
{
  const QmResult *result = qm_bench_entry_result (search, entry);

  if (entry->state == QM_BENCH_NOT_RUN)
    return "not run";
  if (result == NULL
      || (result->status != QM_RESULT_MEASURED && entry->state != QM_BENCH_KNOWN
          && entry->state != QM_BENCH_NEW))
    return "left";
  return qm_result_status_name (result->status);
}

/* Why there is no time, or nothing. */
static void
write_note (const QmBenchSearch *search,
            const QmBenchEntry *entry,
            char note[QM_BENCH_CELL])
{
  const char *state = state_of (search, entry);
  const QmResult *result = qm_bench_entry_result (search, entry);
  char need[QM_BENCH_CELL], lack[QM_BENCH_CELL];

  if (strcmp (state, "infeasible") == 0)
    {
      double needs = (double) result->needs_bytes;

      qm_bench_format_bytes (needs, need);
      qm_bench_format_bytes (needs - (double) result->available_bytes, lack);
      snprintf (note, QM_BENCH_CELL, "infeasible: needs %.20s%s, %.20s short",
                need, result->host_is_short ? " of the host" : "", lack);
    }
  else if (strcmp (state, "failed") == 0 || strcmp (state, "cut") == 0)
    snprintf (note, QM_BENCH_CELL, "%s: %.100s", state, result->reason);
  else if (strcmp (state, "not run") == 0)
    snprintf (note, QM_BENCH_CELL, "not run: %.100s", entry->reason);
  else if (strcmp (state, "left") == 0)
    snprintf (note, QM_BENCH_CELL, "left");
}

/* What is shared; on one device, which shares nothing, how it offloads, as the
 * column is called then. */
static void
write_sharding (const QmBenchSearch *search,
                const QmSearchConfig *config,
                char cell[QM_BENCH_CELL])
{
  char way[QM_BENCH_WAY_BYTES];

  qm_bench_format_way (false, config->sharding,
                       config->offload && search->gpus > 1, way);
  snprintf (cell, QM_BENCH_CELL, "%s", way[0] != '\0' ? way : "no");
}

static void
add_entry_row (const QmBenchSearch *search,
               const QmBenchEntry *entry,
               const QmBenchEntry *plain,
               QmBenchTable *table)
{
  const QmResult *result = qm_bench_entry_result (search, entry);
  double days = days_of_entry (search, entry);
  char (*cells)[QM_BENCH_CELL] = qm_bench_table_row (table);

  if (cells == NULL)
    return;
  qm_methods_format (entry->config.methods, cells[0], QM_BENCH_CELL);
  strcpy (cells[1], entry->config.checkpoint ? "yes" : "no");
  write_sharding (search, &entry->config, cells[2]);
  if (entry->fits && entry->state != QM_BENCH_NOT_RUN)
    snprintf (cells[3], QM_BENCH_CELL, "%lld",
              (long long) entry->options.micro_batch);
  if (isfinite (days))
    {
      qm_bench_format (days, cells[4]);
      qm_bench_format (result->step, cells[5]);
      if (isfinite (result->mfu))
        snprintf (cells[6], QM_BENCH_CELL, "%.1f %%", result->mfu * 100);
      qm_bench_format ((double) result->planned_bytes / 0x1p30, cells[7]);
      if (result->host_bytes > 0)
        qm_bench_format ((double) result->host_bytes / 0x1p30, cells[8]);
      if (plain != NULL)
        snprintf (cells[9], QM_BENCH_CELL, "%.2fx",
                  days_of_entry (search, plain) / days);
    }
  write_note (search, entry, cells[10]);
}

/* The command that writes the same for PyTorch, of one machine: export knows
 * nothing of others without a result. */
static void
print_export (const QmBenchSearch *search, const QmBenchEntry *best)
{
  const QmBenchSearched *searched = &search->models[best->model];
  QmBenchModel model = { .config = searched->config,
                         .recipe = searched->recipe };
  QmPlanOptions way = best->options;
  char line[QM_BENCH_LINE_BYTES];

  snprintf (model.name, sizeof model.name, "%s", searched->name);
  way.sharding = best->config.sharding;
  way.ranks = search->gpus;
  if (qm_bench_nodes (search->options) < 2
      && qm_bench_format_export (&model, search->options, &way, line,
                                 sizeof line))
    qm_bench_print ("the same in PyTorch, which may need more memory: %s",
                    line);
}

static void
print_gain (const QmBenchSearch *search, const Summary *s)
{
  char name[QM_BENCH_CELL], what[256], days[QM_BENCH_CELL];

  if (s->best == NULL)
    {
      printf ("nothing was measured\n");
      return;
    }
  qm_text_escape (search->models[s->best->model].name, name, sizeof name);
  qm_bench_describe (search, s->best, what, sizeof what);
  qm_bench_format (days_of_entry (search, s->best), days);
  /* The model's name stands above, and may have commas in it. */
  printf ("best: %s: %s days", what + strlen (name) + 2, days);
  if (s->plain != NULL)
    printf (", %.2f times as fast as free-lunch alone",
            days_of_entry (search, s->plain) / days_of_entry (search, s->best));
  if (s->naive != NULL)
    printf ("%s %.2f times as naive", s->plain != NULL ? " and" : ",",
            days_of_entry (search, s->naive) / days_of_entry (search, s->best));
  printf ("\n");
  if (s->saving.n > 0 && s->plain != NULL)
    printf ("%zu ways to save memory against free-lunch alone: best %.2fx, "
            "median %.2fx, worst %.2fx\n",
            s->saving.n, s->saving.best, s->saving.median, s->saving.worst);
  print_export (search, s->best);
}

static void
print_model (const QmBenchSearch *search, size_t model)
{
  static const char *const head[] = {
    "settings", "checkpoint", "offload",  "micro-batch", "days", "step s",
    "MFU",      "GiB",        "host GiB", "speed",       ""
  };
  const int columns = (int) (sizeof head / sizeof head[0]);
  QmBenchTable table = { .columns = columns, .left = 3 };
  Summary s = summarise (search, model);
  char devices[320];
  char (*cells)[QM_BENCH_CELL] = qm_bench_table_row (&table);

  for (int i = 0; i < columns && cells != NULL; i++)
    strcpy (cells[i], i == 2 && search->gpus > 1 ? "sharding" : head[i]);
  for (int rank = 0; rank < QM_SEARCH_MOST; rank++)
    for (size_t i = 0; i < search->n_entries; i++)
      if (search->entries[i].model == model
          && search->entries[i].rank % QM_SEARCH_MOST == rank)
        add_entry_row (search, &search->entries[i], s.plain, &table);
  if (model > 0)
    printf ("\n");
  if (search->gpus > 1)
    qm_bench_print (
        "%s on %s", search->models[model].name,
        qm_bench_format_devices (search->gpus, qm_bench_nodes (search->options),
                                 search->info.name, devices, sizeof devices));
  else
    qm_bench_print ("%s on %s", search->models[model].name, search->info.name);
  qm_bench_table_print (&table);
  print_gain (search, &s);
}

static json_t *
json_of_entry (const QmBenchSearch *search,
               const QmBenchEntry *entry,
               const QmBenchEntry *plain)
{
  const QmResult *result = qm_bench_entry_result (search, entry);
  const char *state = state_of (search, entry);
  json_t *object = qm_bench_json_setting (&entry->options,
                                          &search->models[entry->model].recipe);

  json_object_set_new (object, "status", json_string (state));
  json_object_set_new (object, "half", json_boolean (entry->half));
  json_object_set_new (object, "known",
                       json_boolean (entry->state == QM_BENCH_KNOWN));
  if (strcmp (state, "not run") == 0)
    {
      json_object_set_new (object, "sharding",
                           json_string (
                               qm_sharding_name (entry->config.sharding)));
      json_object_set_new (object, "reason", json_string (entry->reason));
    }
  if (strcmp (state, "measured") == 0)
    {
      qm_bench_json_number (object, "days", result->days);
      qm_bench_json_number (object, "step_s", result->step);
      qm_bench_json_number (object, "mfu", result->mfu);
      qm_bench_json_whole (object, "total_bytes", result->planned_bytes);
      qm_bench_json_whole (object, "host_bytes", result->host_bytes);
      qm_bench_json_number (object, "speedup",
                            days_of_entry (search, plain) / result->days);
    }
  if (strcmp (state, "infeasible") == 0 || strcmp (state, "failed") == 0
      || strcmp (state, "cut") == 0)
    json_object_set_new (object, "reason", json_string (result->reason));
  if (strcmp (state, "infeasible") == 0)
    {
      json_object_set_new (object, "memory",
                           json_string (result->host_is_short ? "host"
                                                              : "device"));
      qm_bench_json_whole (object, "needs_bytes", result->needs_bytes);
      qm_bench_json_whole (object, "available_bytes", result->available_bytes);
    }
  return object;
}

static void
print_model_json (const QmBenchSearch *search, size_t model)
{
  Summary s = summarise (search, model);
  json_t *object = json_object (), *list = json_array ();
  json_t *gain = json_object (), *saving = json_object ();
  double best = days_of_entry (search, s.best);

  for (int rank = 0; rank < QM_SEARCH_MOST; rank++)
    for (size_t i = 0; i < search->n_entries; i++)
      if (search->entries[i].model == model
          && search->entries[i].rank % QM_SEARCH_MOST == rank)
        json_array_append_new (list, json_of_entry (search, &search->entries[i],
                                                    s.plain));
  json_object_set_new (saving, "count", json_integer ((json_int_t) s.saving.n));
  qm_bench_json_number (saving, "best", s.saving.best);
  qm_bench_json_number (saving, "median", s.saving.median);
  qm_bench_json_number (saving, "worst", s.saving.worst);
  qm_bench_json_number (gain, "over_free_lunch",
                        days_of_entry (search, s.plain) / best);
  qm_bench_json_number (gain, "over_naive",
                        days_of_entry (search, s.naive) / best);
  json_object_set_new (gain, "memory_saving", saving);
  json_object_set_new (object, "model",
                       json_string (search->models[model].name));
  json_object_set_new (object, "model_key",
                       json_string (search->models[model].key));
  json_object_set_new (object, "version", json_string (QM_VERSION));
  json_object_set_new (object, "device", qm_bench_json_device (&search->info));
  json_object_set_new (object, "gpus", json_integer (search->gpus));
  json_object_set_new (object, "nodes",
                       json_integer (qm_bench_nodes (search->options)));
  json_object_set_new (object, "configurations", list);
  json_object_set_new (object, "best",
                       s.best != NULL ? json_of_entry (search, s.best, s.plain)
                                      : json_null ());
  json_object_set_new (object, "gain", gain);
  qm_bench_print_json (object);
}

void
qm_bench_print_report (const QmBenchSearch *search)
{
  for (size_t i = 0; i < search->n_models; i++)
    if (search->options->json)
      print_model_json (search, i);
    else
      print_model (search, i);
}
