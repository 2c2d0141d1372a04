/* SPDX-License-Identifier: Apache-2.0 */

#include "data/catalog-private.h"

#include <string.h>

enum
{
  COLUMN_ID,
  COLUMN_NAME,
  COLUMN_VENDOR,
  COLUMN_FORM,
  COLUMN_RACK_UNITS,
  COLUMN_GPUS,
  COLUMN_SOLD_WITH,
  COLUMN_TAKES,
  COLUMN_SLOT_WIDTH,
  COLUMN_GPU_WATTS,
  COLUMN_PCIE_GENERATION,
  COLUMN_PCIE_LANES,
  COLUMN_PSU_WATTS,
  COLUMN_PSUS,
  COLUMN_PSU_SPARE,
  COLUMN_HOST_WATTS,
  COLUMN_MEMORY_GIB,
  COLUMN_MEMORY_MAX_GIB,
  COLUMN_MEMORY_KIND,
  COLUMN_CPU_CORES,
  COLUMN_COOLING,
  COLUMN_NOISE,
  COLUMN_NETWORKS,
  COLUMN_SOURCE,
  COLUMN_UNVERIFIED,
  COLUMN_NOTES,
  N_COLUMNS
};

static const QmCsvColumn columns[N_COLUMNS] = {
  [COLUMN_ID] = { "id", true },
  [COLUMN_NAME] = { "name", true },
  [COLUMN_VENDOR] = { "vendor", false },
  [COLUMN_FORM] = { "form", true },
  [COLUMN_RACK_UNITS] = { "rack_units", false },
  [COLUMN_GPUS] = { "gpus", true },
  [COLUMN_SOLD_WITH] = { "sold_with", false },
  [COLUMN_TAKES] = { "takes", false },
  [COLUMN_SLOT_WIDTH] = { "slot_width", false },
  [COLUMN_GPU_WATTS] = { "gpu_watts", false },
  [COLUMN_PCIE_GENERATION] = { "pcie_generation", false },
  [COLUMN_PCIE_LANES] = { "pcie_lanes", false },
  [COLUMN_PSU_WATTS] = { "psu_watts", false },
  [COLUMN_PSUS] = { "psus", false },
  [COLUMN_PSU_SPARE] = { "psu_spare", false },
  [COLUMN_HOST_WATTS] = { "host_watts", false },
  [COLUMN_MEMORY_GIB] = { "memory_gib", false },
  [COLUMN_MEMORY_MAX_GIB] = { "memory_max_gib", false },
  [COLUMN_MEMORY_KIND] = { "memory_kind", false },
  [COLUMN_CPU_CORES] = { "cpu_cores", false },
  [COLUMN_COOLING] = { "cooling", false },
  [COLUMN_NOISE] = { "noise", false },
  [COLUMN_NETWORKS] = { "networks", false },
  [COLUMN_SOURCE] = { "source", true },
  [COLUMN_UNVERIFIED] = { "unverified", false },
  [COLUMN_NOTES] = { "notes", false },
};

static const char *const form_words[] = { "desktop", "workstation", "rack" };
static const char *const memory_words[] = { "ddr4-udimm", "ddr4-rdimm",
                                            "ddr5-udimm", "ddr5-rdimm",
                                            "soldered" };
static const char *const memory_items[] = { "memory-ddr4-udimm",
                                            "memory-ddr4-rdimm",
                                            "memory-ddr5-udimm",
                                            "memory-ddr5-rdimm" };
static const char *const cooling_words[] = { "air", "liquid" };
static const char *const noise_words[] = { "quiet", "office", "machine-room" };

#define N_WORDS(words) (sizeof (words) / sizeof (words)[0])

/* More than any machine has. */
#define MAX_GPUS       1024
#define MAX_PSUS       64
#define MAX_RACK_UNITS 100
#define MAX_WATTS      1e6
#define MAX_GIB        1e6
#define MAX_WIDTH      8

const char *
qm_platform_form_name (QmPlatformForm form)
{
  return form_words[form];
}

const char *
qm_memory_kind_name (QmMemoryKind kind)
{
  return kind == QM_MEMORY_UNSTATED ? "" : memory_words[kind];
}

const char *
qm_memory_kind_item (QmMemoryKind kind)
{
  return kind >= 0 && (size_t) kind < N_WORDS (memory_items)
             ? memory_items[kind]
             : NULL;
}

const char *
qm_liquid_name (QmTristate liquid)
{
  return liquid == QM_UNSTATED ? "" : cooling_words[liquid];
}

const char *
qm_noise_name (QmNoise noise)
{
  return noise == QM_NOISE_UNSTATED ? "" : noise_words[noise];
}

bool
qm_is_memory_item (const char *item)
{
  for (size_t i = 0; i < N_WORDS (memory_items); i++)
    if (strcmp (memory_items[i], item) == 0)
      return true;
  return false;
}

/* One of some words, or -1 where the cell is empty. */
static int
read_optional_word (QmCsvRow *row,
                    size_t column,
                    const char *const *words,
                    size_t n_words)
{
  return qm_csv_is_empty (row, column)
             ? -1
             : qm_csv_word (row, column, words, n_words, 0);
}

/* What comes with it, or what cards it takes: one of both. */
static void
read_gpus (const QmBatch *batch, QmCsvRow *row, QmPlatform *platform)
{
  platform->gpus = (int) qm_csv_integer (row, COLUMN_GPUS, 1, MAX_GPUS, -1);
  platform->sold_with = qm_csv_text (row, COLUMN_SOLD_WITH, false);
  platform->takes = qm_csv_gpu_coolings (row, COLUMN_TAKES);
  if (qm_csv_is_empty (row, COLUMN_SOLD_WITH))
    {
      if (platform->takes == 0)
        qm_csv_fail (row, COLUMN_TAKES, QM_STATUS_INVALID,
                     "must say what it takes where nothing is sold with it");
      return;
    }
  if (platform->takes != 0)
    qm_csv_fail (row, COLUMN_TAKES, QM_STATUS_INVALID,
                 "must be empty where GPUs are sold with it");
  if (qm_list_find (&batch->known->gpus, platform->sold_with) == QM_LIST_NONE)
    qm_batch_fail_unknown (row, COLUMN_SOLD_WITH, "GPU",
                           (const QmList *const[]){ &batch->known->gpus }, 1);
}

static void
read_power (QmCsvRow *row, QmPlatform *platform)
{
  platform->gpu_watts = qm_csv_number (row, COLUMN_GPU_WATTS, 1, MAX_WATTS);
  platform->host_watts = qm_csv_number (row, COLUMN_HOST_WATTS, 1, MAX_WATTS);
  platform->psu_watts = qm_csv_number (row, COLUMN_PSU_WATTS, 1, MAX_WATTS);
  platform->psus = (int) qm_csv_integer (row, COLUMN_PSUS, 1, MAX_PSUS, 0);
  platform->psu_spare =
      (int) qm_csv_integer (row, COLUMN_PSU_SPARE, 0, MAX_PSUS, 0);
  if (platform->psus > 0 && platform->psu_spare >= platform->psus)
    qm_csv_fail (row, COLUMN_PSU_SPARE, QM_STATUS_INVALID,
                 "is not less than psus");
}

static void
read_memory (QmCsvRow *row, QmPlatform *platform)
{
  platform->memory_gib = qm_csv_number (row, COLUMN_MEMORY_GIB, 1, MAX_GIB);
  platform->memory_max_gib =
      qm_csv_number (row, COLUMN_MEMORY_MAX_GIB, 1, MAX_GIB);
  platform->memory_kind =
      (QmMemoryKind) read_optional_word (row, COLUMN_MEMORY_KIND, memory_words,
                                         N_WORDS (memory_words));
  if (qm_known (platform->memory_gib) && qm_known (platform->memory_max_gib)
      && platform->memory_gib > platform->memory_max_gib)
    qm_csv_fail (row, COLUMN_MEMORY_MAX_GIB, QM_STATUS_INVALID,
                 "is less than memory_gib");
}

/* Its id, which no GPU and no machine has. */
static const char *
read_id (const QmBatch *batch, QmCsvRow *row)
{
  const char *id = qm_csv_id (row, COLUMN_ID);

  if (qm_list_find (&batch->known->gpus, id) != QM_LIST_NONE)
    qm_csv_fail (row, COLUMN_ID, QM_STATUS_INVALID, "'%s' is the name of a GPU",
                 id);
  if (qm_list_find (&batch->known->machines, id) != QM_LIST_NONE)
    qm_csv_fail (row, COLUMN_ID, QM_STATUS_INVALID,
                 "'%s' is the name of a machine", id);
  if (qm_is_memory_item (id))
    qm_csv_fail (row, COLUMN_ID, QM_STATUS_INVALID,
                 "'%s' is the name of a kind of memory", id);
  return id;
}

static void
read_platform (QmCsvRow *row, void *data)
{
  QmBatch *batch = data;
  QmPlatform platform = { 0 };
  QmPlatform *entry;

  platform.id = read_id (batch, row);
  platform.name = qm_csv_text (row, COLUMN_NAME, true);
  platform.vendor = qm_csv_text (row, COLUMN_VENDOR, false);
  platform.form = (QmPlatformForm) qm_csv_word (row, COLUMN_FORM, form_words,
                                                N_WORDS (form_words), -1);
  platform.rack_units =
      qm_csv_number (row, COLUMN_RACK_UNITS, 0.5, MAX_RACK_UNITS);
  read_gpus (batch, row, &platform);
  platform.slot_width = qm_csv_number (row, COLUMN_SLOT_WIDTH, 1, MAX_WIDTH);
  platform.pcie_generation =
      qm_csv_number (row, COLUMN_PCIE_GENERATION, 1, 100);
  platform.pcie_lanes = qm_csv_number (row, COLUMN_PCIE_LANES, 1, 1024);
  read_power (row, &platform);
  read_memory (row, &platform);
  platform.cpu_cores = qm_csv_number (row, COLUMN_CPU_CORES, 1, 1e5);
  platform.liquid =
      (QmTristate) read_optional_word (row, COLUMN_COOLING, cooling_words,
                                       N_WORDS (cooling_words));
  platform.noise = (QmNoise) read_optional_word (row, COLUMN_NOISE, noise_words,
                                                 N_WORDS (noise_words));
  platform.networks = qm_csv_text (row, COLUMN_NETWORKS, false);
  platform.source = qm_csv_text (row, COLUMN_SOURCE, true);
  platform.unverified = qm_csv_columns (row, COLUMN_UNVERIFIED, N_COLUMNS);
  platform.notes = qm_csv_text (row, COLUMN_NOTES, false);

  entry = qm_batch_add (&batch->entries.platforms, platform.id, row, COLUMN_ID);
  if (entry != NULL)
    *entry = platform;
}

QmStatus
qm_batch_read_platforms (QmBatch *batch,
                         const char *text,
                         size_t length,
                         QmError *error)
{
  return qm_csv_read (text, length, batch->file, columns, N_COLUMNS,
                      &batch->entries.pool, read_platform, batch, error);
}
