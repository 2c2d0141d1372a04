/* SPDX-License-Identifier: Apache-2.0 */

#include "data/catalog-private.h"

enum
{
  COLUMN_MODEL,
  COLUMN_GPU,
  COLUMN_GPUS,
  COLUMN_SETTINGS,
  COLUMN_FEASIBILITY,
  COLUMN_DAYS,
  COLUMN_DAYS_LOW,
  COLUMN_DAYS_HIGH,
  COLUMN_ROUNDING_DAYS,
  COLUMN_CHECKPOINTING,
  COLUMN_SHARDING,
  COLUMN_OFFLOADING,
  COLUMN_MICRO_BATCH_SIZE,
  COLUMN_ACCUMULATION,
  COLUMN_PROVENANCE,
  COLUMN_ENGINE,
  COLUMN_ENGINE_VERSION,
  COLUMN_MEASURED_ON,
  COLUMN_SOURCE,
  N_COLUMNS
};

static const QmCsvColumn columns[N_COLUMNS] = {
  [COLUMN_MODEL] = { "model", true },
  [COLUMN_GPU] = { "gpu", true },
  [COLUMN_GPUS] = { "gpus", true },
  [COLUMN_SETTINGS] = { "settings", true },
  [COLUMN_FEASIBILITY] = { "feasibility", true },
  [COLUMN_DAYS] = { "days", true },
  [COLUMN_DAYS_LOW] = { "days_low", false },
  [COLUMN_DAYS_HIGH] = { "days_high", false },
  [COLUMN_ROUNDING_DAYS] = { "rounding_days", false },
  [COLUMN_CHECKPOINTING] = { "checkpointing", false },
  [COLUMN_SHARDING] = { "sharding", false },
  [COLUMN_OFFLOADING] = { "offloading", false },
  [COLUMN_MICRO_BATCH_SIZE] = { "micro_batch_size", false },
  [COLUMN_ACCUMULATION] = { "accumulation", false },
  [COLUMN_PROVENANCE] = { "provenance", true },
  [COLUMN_ENGINE] = { "engine", false },
  [COLUMN_ENGINE_VERSION] = { "engine_version", false },
  [COLUMN_MEASURED_ON] = { "measured_on", false },
  [COLUMN_SOURCE] = { "source", true },
};

static const char *const provenance_words[] = { "published", "measured",
                                                "predicted", "reported" };
static const char *const engine_words[] = { "", "quartermaster", "pytorch" };
static const char *const settings_words[QM_N_SETTINGS] = { "optimal", "naive",
                                                           "eager" };
static const char *const feasibility_words[] = { "feasible", "infeasible",
                                                 "illegible" };
static const char *const sharding_words[] = { "none",   "zero_1", "zero_2",
                                              "zero_3", "fsdp_2", "fsdp_3" };
static const char *const tristate_words[] = { "no", "yes" };

#define N_WORDS(words) (sizeof (words) / sizeof (words)[0])

#define MAX_GPUS   1000000
#define LEAST_DAYS 1e-9
#define MOST_DAYS  1e9
#define MOST_BATCH (INT64_C (1) << 24)

const char *
qm_provenance_name (QmProvenance provenance)
{
  return provenance_words[provenance];
}

const char *
qm_engine_name (QmEngine engine)
{
  return engine_words[engine];
}

const char *
qm_settings_name (QmSettings settings)
{
  return settings_words[settings];
}

const char *
qm_feasibility_name (QmFeasibility feasibility)
{
  return feasibility_words[feasibility];
}

static size_t
read_reference (QmCsvRow *row,
                size_t column,
                const char *what,
                const QmList *list)
{
  size_t at = qm_list_find (list, qm_csv_id (row, column));

  if (at == QM_LIST_NONE)
    qm_batch_fail_unknown (row, column, what, &list, 1);
  return at;
}

static QmTristate
read_tristate (QmCsvRow *row, size_t column)
{
  if (qm_csv_is_empty (row, column))
    return QM_UNSTATED;
  return qm_csv_word (row, column, tristate_words, 2, 0) == 1 ? QM_YES : QM_NO;
}

static void
require_empty (QmCsvRow *row, size_t column, const char *why)
{
  if (!qm_csv_is_empty (row, column))
    qm_csv_fail (row, column, QM_STATUS_INVALID, "must be empty %s", why);
}

static void
require (QmCsvRow *row, size_t column, const char *why)
{
  if (qm_csv_is_empty (row, column))
    qm_csv_fail (row, column, QM_STATUS_INVALID, "must not be empty %s", why);
}

static void
read_times (QmCsvRow *row, QmMeasurement *m)
{
  m->days = qm_csv_number (row, COLUMN_DAYS, LEAST_DAYS, MOST_DAYS);
  m->days_low = qm_csv_number (row, COLUMN_DAYS_LOW, LEAST_DAYS, MOST_DAYS);
  m->days_high = qm_csv_number (row, COLUMN_DAYS_HIGH, LEAST_DAYS, MOST_DAYS);
  m->rounding_days = qm_csv_number (row, COLUMN_ROUNDING_DAYS, 0, MOST_DAYS);
  if (!qm_known (m->rounding_days))
    m->rounding_days = 0;

  if (m->feasibility == QM_FEASIBLE)
    require (row, COLUMN_DAYS, "where it is feasible");
  else
    require_empty (row, COLUMN_DAYS, "unless it is feasible");
  if (m->feasibility == QM_FEASIBLE && m->provenance == QM_PROVENANCE_PREDICTED)
    {
      require (row, COLUMN_DAYS_LOW, "where the time is predicted");
      require (row, COLUMN_DAYS_HIGH, "where the time is predicted");
    }
  else
    {
      require_empty (row, COLUMN_DAYS_LOW, "unless the time is predicted");
      require_empty (row, COLUMN_DAYS_HIGH, "unless the time is predicted");
    }
  if (m->days_low > m->days)
    qm_csv_fail (row, COLUMN_DAYS_LOW, QM_STATUS_INVALID, "is more than days");
  if (m->days_high < m->days)
    qm_csv_fail (row, COLUMN_DAYS_HIGH, QM_STATUS_INVALID, "is less than days");
}

static void
read_method (QmCsvRow *row, QmMeasurement *m)
{
  m->checkpointing = read_tristate (row, COLUMN_CHECKPOINTING);
  m->offloading = read_tristate (row, COLUMN_OFFLOADING);
  m->sharding = "";
  if (!qm_csv_is_empty (row, COLUMN_SHARDING))
    m->sharding =
        sharding_words[qm_csv_word (row, COLUMN_SHARDING, sharding_words,
                                    N_WORDS (sharding_words), 0)];
  m->micro_batch_size =
      qm_csv_integer (row, COLUMN_MICRO_BATCH_SIZE, 1, MOST_BATCH, 0);
  m->accumulation = qm_csv_integer (row, COLUMN_ACCUMULATION, 1, MOST_BATCH, 0);
}

const char *
qm_measurement_key (QmPool *pool,
                    const QmMeasurementEntry *entry,
                    const char *origin)
{
  const QmMeasurement *m = &entry->measurement;

  return qm_pool_format (pool,
                         "%zu\x1f%zu\x1f%d\x1f%d\x1f%d\x1f%d\x1f%d\x1f%d\x1f%s",
                         entry->model, entry->gpu, m->gpus, (int) m->settings,
                         (int) m->provenance, (int) m->engine, (int) m->aside,
                         m->machines, origin);
}

static void
read_engine (QmCsvRow *row, QmMeasurement *m)
{
  m->engine = QM_ENGINE_UNSTATED;
  if (!qm_csv_is_empty (row, COLUMN_ENGINE))
    m->engine = (QmEngine) (1
                            + qm_csv_word (row, COLUMN_ENGINE, engine_words + 1,
                                           N_WORDS (engine_words) - 1, 0));
  m->engine_version = qm_csv_text (row, COLUMN_ENGINE_VERSION, false);
  if (m->engine == QM_ENGINE_UNSTATED)
    require_empty (row, COLUMN_ENGINE_VERSION, "without an engine");
}

static void
read_measurement (QmCsvRow *row, void *data)
{
  QmBatch *batch = data;
  QmMeasurementEntry entry = { 0 };
  QmMeasurementEntry *added;
  QmMeasurement *m = &entry.measurement;
  const char *key;

  entry.model =
      read_reference (row, COLUMN_MODEL, "model", &batch->known->models);
  entry.gpu = read_reference (row, COLUMN_GPU, "GPU", &batch->known->gpus);
  m->gpus = (int) qm_csv_integer (row, COLUMN_GPUS, 1, MAX_GPUS, -1);
  m->settings = (QmSettings) qm_csv_word (row, COLUMN_SETTINGS, settings_words,
                                          N_WORDS (settings_words), -1);
  m->feasibility =
      (QmFeasibility) qm_csv_word (row, COLUMN_FEASIBILITY, feasibility_words,
                                   N_WORDS (feasibility_words), -1);
  m->provenance =
      (QmProvenance) qm_csv_word (row, COLUMN_PROVENANCE, provenance_words,
                                  N_WORDS (provenance_words), -1);
  read_times (row, m);
  read_method (row, m);
  read_engine (row, m);
  m->measured_on = qm_csv_date (row, COLUMN_MEASURED_ON);
  m->source = qm_csv_text (row, COLUMN_SOURCE, true);

  key = qm_measurement_key (row->pool, &entry, m->source);
  added = qm_batch_add (&batch->entries.measurements, key, row, COLUMN_MODEL);
  if (added != NULL)
    *added = entry;
}

QmStatus
qm_batch_read_measurements (QmBatch *batch,
                            const char *text,
                            size_t length,
                            QmError *error)
{
  return qm_csv_read (text, length, batch->file, columns, N_COLUMNS,
                      &batch->entries.pool, read_measurement, batch, error);
}
