/* SPDX-License-Identifier: Apache-2.0 */

#include "data/catalog-private.h"

#include <string.h>

enum
{
  COLUMN_MACHINE,
  COLUMN_NAME,
  COLUMN_KIND,
  COLUMN_GPUS,
  COLUMN_MEMORY_GIB,
  COLUMN_CPU_CORES,
  COLUMN_PCIE_GENERATION,
  COLUMN_PCIE_LANES,
  COLUMN_PART,
  COLUMN_DETAIL,
  COLUMN_PRICE,
  COLUMN_CURRENCY,
  COLUMN_QUOTED_ON,
  COLUMN_SOURCE,
  N_COLUMNS
};

static const QmCsvColumn columns[N_COLUMNS] = {
  [COLUMN_MACHINE] = { "machine", true },
  [COLUMN_NAME] = { "name", true },
  [COLUMN_KIND] = { "kind", true },
  [COLUMN_GPUS] = { "gpus", true },
  [COLUMN_MEMORY_GIB] = { "memory_gib", false },
  [COLUMN_CPU_CORES] = { "cpu_cores", false },
  [COLUMN_PCIE_GENERATION] = { "pcie_generation", false },
  [COLUMN_PCIE_LANES] = { "pcie_lanes", false },
  [COLUMN_PART] = { "part", false },
  [COLUMN_DETAIL] = { "detail", false },
  [COLUMN_PRICE] = { "price", false },
  [COLUMN_CURRENCY] = { "currency", false },
  [COLUMN_QUOTED_ON] = { "quoted_on", false },
  [COLUMN_SOURCE] = { "source", true },
};

static const char *const kind_words[] = { "desktop", "server" };

/* More than any machine carries. */
#define MAX_GPUS  1024
#define MAX_GIB   1e6
#define MAX_CORES 1e5

/* A part, and which of the batch's machines it belongs to. */
typedef struct PartEntry
{
  QmMachinePart part;
  size_t machine;
} PartEntry;

typedef struct MachinesReader
{
  QmBatch *batch;
  QmList parts; /* PartEntry */
} MachinesReader;

const char *
qm_machine_kind_name (QmMachineKind kind)
{
  return kind_words[kind];
}

/* An amount and its currency, where there is an amount. */
static int64_t
read_price_cell (QmCsvRow *row, char currency[4])
{
  int64_t micros = qm_csv_micros (row, COLUMN_PRICE);

  if (micros >= 0)
    qm_csv_currency (row, COLUMN_CURRENCY, currency);
  return micros;
}

static void
require_empty (QmCsvRow *row, size_t column, const char *why)
{
  if (!qm_csv_is_empty (row, column))
    qm_csv_fail (row, column, QM_STATUS_INVALID, "%s", why);
}

static void
read_machine_quote (MachinesReader *reader,
                    QmCsvRow *row,
                    const QmMachine *machine)
{
  QmPrice price = { .item = machine->id,
                    .kind = QM_PRICE_QUOTE,
                    .unit = QM_PRICE_EACH,
                    .gpus = 1,
                    .low_micros = -1,
                    .high_micros = -1,
                    .source = machine->source };

  price.micros = read_price_cell (row, price.currency);
  price.observed_on = qm_csv_date (row, COLUMN_QUOTED_ON);
  if (price.micros >= 0)
    qm_batch_add_price (reader->batch, &price, row, COLUMN_PRICE);
}

/* What a training sees of the host. */
static void
read_host (QmCsvRow *row, QmMachine *machine)
{
  machine->memory_gib = qm_csv_number (row, COLUMN_MEMORY_GIB, 1, MAX_GIB);
  machine->cpu_cores = qm_csv_number (row, COLUMN_CPU_CORES, 1, MAX_CORES);
  machine->pcie_generation =
      qm_csv_number (row, COLUMN_PCIE_GENERATION, 1, 100);
  machine->pcie_lanes = qm_csv_number (row, COLUMN_PCIE_LANES, 1, 1024);
}

static void
read_machine (MachinesReader *reader, QmCsvRow *row)
{
  QmMachine machine = { 0 };
  QmMachine *entry;

  machine.id = qm_csv_id (row, COLUMN_MACHINE);
  if (qm_list_find (&reader->batch->known->gpus, machine.id) != QM_LIST_NONE)
    qm_csv_fail (row, COLUMN_MACHINE, QM_STATUS_INVALID,
                 "'%s' is the name of a GPU", machine.id);
  if (qm_list_find (&reader->batch->known->platforms, machine.id)
      != QM_LIST_NONE)
    qm_csv_fail (row, COLUMN_MACHINE, QM_STATUS_INVALID,
                 "'%s' is the name of a platform", machine.id);
  machine.name = qm_csv_text (row, COLUMN_NAME, true);
  machine.kind =
      (QmMachineKind) qm_csv_word (row, COLUMN_KIND, kind_words, 2, -1);
  machine.gpus = (int) qm_csv_integer (row, COLUMN_GPUS, 1, MAX_GPUS, -1);
  read_host (row, &machine);
  require_empty (row, COLUMN_DETAIL, "only a part has a detail");
  machine.source = qm_csv_text (row, COLUMN_SOURCE, true);
  entry = qm_batch_add (&reader->batch->entries.machines, machine.id, row,
                        COLUMN_MACHINE);
  if (entry == NULL)
    return;
  *entry = machine;
  read_machine_quote (reader, row, &machine);
}

static void
read_part (MachinesReader *reader, QmCsvRow *row)
{
  static const char whole[] = "belongs into the machine's own row";
  const QmList *machines = &reader->batch->entries.machines;
  const char *id = qm_csv_id (row, COLUMN_MACHINE);
  PartEntry entry = { .machine = qm_list_find (machines, id) };
  const char *key;
  PartEntry *added;

  if (entry.machine == QM_LIST_NONE)
    qm_csv_fail (row, COLUMN_MACHINE, QM_STATUS_INVALID,
                 "'%s' has no row of its own above this part", id);
  require_empty (row, COLUMN_NAME, whole);
  require_empty (row, COLUMN_KIND, whole);
  for (size_t i = COLUMN_GPUS; i <= COLUMN_PCIE_LANES; i++)
    require_empty (row, i, whole);
  require_empty (row, COLUMN_QUOTED_ON, whole);
  require_empty (row, COLUMN_SOURCE, whole);
  entry.part.part = qm_csv_text (row, COLUMN_PART, true);
  entry.part.detail = qm_csv_text (row, COLUMN_DETAIL, false);
  entry.part.price_micros = read_price_cell (row, entry.part.currency);
  key = qm_pool_format (row->pool, "%s\x1f%s\x1f%s", id, entry.part.part,
                        entry.part.detail);
  added = qm_batch_add (&reader->parts, key, row, COLUMN_PART);
  if (added != NULL)
    *added = entry;
}

static void
read_machine_row (QmCsvRow *row, void *data)
{
  if (qm_csv_is_empty (row, COLUMN_PART))
    read_machine (data, row);
  else
    read_part (data, row);
}

/* Gives every machine its parts, in the order of the file. */
static QmStatus
distribute_parts (MachinesReader *reader, QmError *error)
{
  QmEntries *entries = &reader->batch->entries;
  QmMachinePart *free_part =
      qm_pool_alloc (&entries->pool,
                     (reader->parts.n + 1) * sizeof (QmMachinePart));

  if (free_part == NULL)
    return qm_error_set (error, QM_STATUS_NO_MEMORY, reader->batch->file, 0, 0,
                         "out of memory");
  for (size_t i = 0; i < reader->parts.n; i++)
    {
      const PartEntry *part = qm_list_item (&reader->parts, i);
      QmMachine *machine = qm_list_item (&entries->machines, part->machine);

      machine->n_parts++;
    }
  for (size_t i = 0; i < entries->machines.n; i++)
    {
      QmMachine *machine = qm_list_item (&entries->machines, i);

      machine->parts = free_part;
      free_part += machine->n_parts;
      machine->n_parts = 0;
    }
  for (size_t i = 0; i < reader->parts.n; i++)
    {
      const PartEntry *part = qm_list_item (&reader->parts, i);
      QmMachine *machine = qm_list_item (&entries->machines, part->machine);

      ((QmMachinePart *) machine->parts)[machine->n_parts++] = part->part;
    }
  return QM_OK;
}

QmStatus
qm_batch_read_machines (QmBatch *batch,
                        const char *text,
                        size_t length,
                        QmError *error)
{
  MachinesReader reader = { .batch = batch };
  QmStatus status;

  qm_list_init (&reader.parts, sizeof (PartEntry));
  status = qm_csv_read (text, length, batch->file, columns, N_COLUMNS,
                        &batch->entries.pool, read_machine_row, &reader, error);
  if (status == QM_OK)
    status = distribute_parts (&reader, error);
  qm_list_clear (&reader.parts);
  return status;
}
