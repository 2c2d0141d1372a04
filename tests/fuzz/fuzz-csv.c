/* SPDX-License-Identifier: Apache-2.0 */

/* The tables of a catalog.  The first byte chooses the kind of table: g, m, p
 * or t for GPUs, machines, prices or training times. */

#include "data/catalog-private.h"
#include "data/text.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static const char known_gpus[] = "id,name,memory_gib,fp16_tflops,source\n"
                                 "a6000,RTX A6000,48,154.8,test\n";
static const char known_machines[] = "machine,name,kind,gpus,source\n"
                                     "server,Server,server,4,test\n";
static const char known_model[] =
    "{\"id\": \"tiny\", \"name\": \"Tiny\", \"source\": \"test\","
    "\"config\": {\"model_type\": \"bert\", \"hidden_size\": 64,"
    "\"num_hidden_layers\": 2, \"num_attention_heads\": 4,"
    "\"intermediate_size\": 128},"
    "\"recipe\": {\"batch_size\": 8, \"steps\": 10,"
    "\"sequence_length\": 128, \"precision\": \"fp32\","
    "\"optimizer\": \"adam\", \"learning_rate\": 1e-4, \"beta1\": 0.9,"
    "\"beta2\": 0.999, \"epsilon\": 1e-8, \"weight_decay\": 0}}";

static void
require (bool holds)
{
  if (!holds)
    abort ();
}

static QmBatchReader
choose_reader (char kind)
{
  switch (kind)
    {
    case 'g':
      return qm_batch_read_gpus;
    case 'm':
      return qm_batch_read_machines;
    case 'p':
      return qm_batch_read_prices;
    case 't':
      return qm_batch_read_measurements;
    default:
      return NULL;
    }
}

static void
check_gpus (const QmEntries *entries)
{
  for (size_t i = 0; i < entries->gpus.n; i++)
    {
      const QmGpu *gpu = qm_list_item (&entries->gpus, i);

      require (qm_id_problem (gpu->id) == NULL);
      require (qm_list_find (&entries->gpus, gpu->id) == i);
      require (gpu->name[0] != '\0' && gpu->source[0] != '\0');
      require (!(gpu->memory_gib <= 0) && !(gpu->fp16_tflops <= 0));
      require (!(gpu->measured_bandwidth_gbs > gpu->memory_bandwidth_gbs));
      require (!(gpu->multiprocessors < 1) && !(gpu->boost_mhz <= 0)
               && !(gpu->l2_mib <= 0) && !isinf (gpu->l2_mib));
      require (!(gpu->fp8_tflops <= 0) && !isinf (gpu->fp8_tflops));
      require (!isinf (gpu->memory_gib) && !isinf (gpu->fp16_tflops));
    }
}

static void
check_machines (const QmEntries *entries)
{
  for (size_t i = 0; i < entries->machines.n; i++)
    {
      const QmMachine *machine = qm_list_item (&entries->machines, i);

      require (qm_id_problem (machine->id) == NULL);
      require (machine->gpus > 0);
      for (size_t j = 0; j < machine->n_parts; j++)
        require (machine->parts[j].part[0] != '\0'
                 && machine->parts[j].price_micros >= -1);
    }
}

static void
check_prices (const QmEntries *entries)
{
  for (size_t i = 0; i < entries->prices.n; i++)
    {
      const QmPrice *price = qm_list_item (&entries->prices, i);
      bool range =
          price->low_micros >= 0 && price->high_micros >= price->low_micros;

      require (price->gpus > 0 && qm_currency_valid (price->currency));
      require ((price->micros >= 0) != range);
      require (price->source[0] != '\0');
    }
}

static void
check_measurements (const QmEntries *entries)
{
  for (size_t i = 0; i < entries->measurements.n; i++)
    {
      const QmMeasurementEntry *entry =
          qm_list_item (&entries->measurements, i);
      const QmMeasurement *m = &entry->measurement;

      require (entry->model == 0 && entry->gpu == 0 && m->gpus > 0);
      require (qm_known (m->days) == (m->feasibility == QM_FEASIBLE));
      require (!(m->days <= 0) && m->rounding_days >= 0);
      require (!(m->days_low > m->days) && !(m->days_high < m->days));
    }
}

/* Reads a copy without anything around it, so that the sanitizer sees a byte
 * too many. */
static void
read_table (QmBatchReader reader,
            const QmEntries *known,
            const char *data,
            size_t length)
{
  char *text = malloc (length > 0 ? length : 1);
  QmError error = { 0 };
  QmBatch batch;
  QmStatus status;

  require (text != NULL);
  memcpy (text, data, length);
  qm_batch_init (&batch, known, "fuzz.csv", true);
  if (qm_text_check (text, length, "fuzz.csv", &error) == QM_OK)
    {
      status = reader (&batch, text, length, &error);
      if (status == QM_OK)
        {
          check_gpus (&batch.entries);
          check_machines (&batch.entries);
          check_prices (&batch.entries);
          check_measurements (&batch.entries);
        }
      else
        require (error.status == status && error.line > 0 && error.column > 0
                 && error.message[0] != '\0');
    }
  qm_batch_clear (&batch);
  free (text);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  QmBatchReader reader = size > 0 ? choose_reader ((char) data[0]) : NULL;
  QmBatch nothing, known;

  if (reader == NULL)
    return 0;
  qm_batch_init (&nothing, NULL, "", false);
  qm_batch_init (&known, &nothing.entries, "known", false);
  require (qm_batch_read_gpus (&known, known_gpus, strlen (known_gpus), NULL)
           == QM_OK);
  require (qm_batch_read_machines (&known, known_machines,
                                   strlen (known_machines), NULL)
           == QM_OK);
  require (qm_batch_read_model (&known, known_model, strlen (known_model), NULL)
           == QM_OK);
  read_table (reader, &known.entries, (const char *) data + 1, size - 1);
  qm_batch_clear (&known);
  qm_batch_clear (&nothing);
  return 0;
}
