/* SPDX-License-Identifier: Apache-2.0 */

#include "data/catalog-private.h"

#include "data/architecture.h"
#include "data/text.h"

#include <string.h>

enum
{
  COLUMN_ID,
  COLUMN_NAME,
  COLUMN_VENDOR,
  COLUMN_FORM_FACTOR,
  COLUMN_SLOT_WIDTH,
  COLUMN_COOLING,
  COLUMN_MEMORY_GIB,
  COLUMN_MEMORY_BANDWIDTH_GBS,
  COLUMN_MEASURED_BANDWIDTH_GBS,
  COLUMN_FP16_TFLOPS,
  COLUMN_BF16,
  COLUMN_FP8_TFLOPS,
  COLUMN_TF32_TFLOPS,
  COLUMN_FP32_TFLOPS,
  COLUMN_MEASURED_FP16_TFLOPS,
  COLUMN_TDP_W,
  COLUMN_MULTIPROCESSORS,
  COLUMN_BOOST_MHZ,
  COLUMN_L2_MIB,
  COLUMN_NVLINK_GBS,
  COLUMN_NVLINK_GPUS,
  COLUMN_PCIE_GENERATION,
  COLUMN_PCIE_LANES,
  COLUMN_PEER_ACCESS,
  COLUMN_PEER_TO_PEER,
  COLUMN_RELEASED_ON,
  COLUMN_LAUNCH_PRICE_USD,
  COLUMN_SOURCE,
  COLUMN_VENDOR_DOCUMENT,
  COLUMN_UNVERIFIED,
  COLUMN_NOTES,
  N_COLUMNS
};

static const QmCsvColumn columns[N_COLUMNS] = {
  [COLUMN_ID] = { "id", true },
  [COLUMN_NAME] = { "name", true },
  [COLUMN_VENDOR] = { "vendor", false },
  [COLUMN_FORM_FACTOR] = { "form_factor", false },
  [COLUMN_SLOT_WIDTH] = { "slot_width", false },
  [COLUMN_COOLING] = { "cooling", false },
  [COLUMN_MEMORY_GIB] = { "memory_gib", true },
  [COLUMN_MEMORY_BANDWIDTH_GBS] = { "memory_bandwidth_gbs", false },
  [COLUMN_MEASURED_BANDWIDTH_GBS] = { "measured_bandwidth_gbs", false },
  [COLUMN_FP16_TFLOPS] = { "fp16_tflops", true },
  [COLUMN_BF16] = { "bf16", false },
  [COLUMN_FP8_TFLOPS] = { "fp8_tflops", false },
  [COLUMN_TF32_TFLOPS] = { "tf32_tflops", false },
  [COLUMN_FP32_TFLOPS] = { "fp32_tflops", false },
  [COLUMN_MEASURED_FP16_TFLOPS] = { "measured_fp16_tflops", false },
  [COLUMN_TDP_W] = { "tdp_w", false },
  [COLUMN_MULTIPROCESSORS] = { "multiprocessors", false },
  [COLUMN_BOOST_MHZ] = { "boost_mhz", false },
  [COLUMN_L2_MIB] = { "l2_mib", false },
  [COLUMN_NVLINK_GBS] = { "nvlink_gbs", false },
  [COLUMN_NVLINK_GPUS] = { "nvlink_gpus", false },
  [COLUMN_PCIE_GENERATION] = { "pcie_generation", false },
  [COLUMN_PCIE_LANES] = { "pcie_lanes", false },
  [COLUMN_PEER_ACCESS] = { "peer_access", false },
  [COLUMN_PEER_TO_PEER] = { "peer_to_peer", false },
  [COLUMN_RELEASED_ON] = { "released_on", false },
  [COLUMN_LAUNCH_PRICE_USD] = { "launch_price_usd", false },
  [COLUMN_SOURCE] = { "source", true },
  [COLUMN_VENDOR_DOCUMENT] = { "vendor_document", false },
  [COLUMN_UNVERIFIED] = { "unverified", false },
  [COLUMN_NOTES] = { "notes", false },
};

/* A rate, power or size that is neither zero nor absurd. */
#define LEAST 1e-3
#define MOST  1e7

/* Megahertz of a processor that works, and how much of it there may be. */
#define SLOWEST         100
#define FASTEST         10000
#define MULTIPROCESSORS 4096
#define LARGEST_L2      65536

/* Slots that a card may take. */
#define WIDEST 8

static const char *const cooling_words[] = { "open", "blower", "passive",
                                             "board", "system" };

#define N_COOLINGS (sizeof cooling_words / sizeof cooling_words[0])

const char *
qm_gpu_cooling_name (QmGpuCooling cooling)
{
  return cooling == QM_GPU_COOLING_UNSTATED ? "" : cooling_words[cooling];
}

unsigned
qm_csv_gpu_coolings (QmCsvRow *row, size_t column)
{
  const char *text = row->cells[column].text;
  unsigned coolings = 0;

  while (*text != '\0')
    {
      size_t length = strcspn (text, " ");
      size_t i = 0;

      /* Those that come with a machine are no cards. */
      while (i < QM_GPU_COOLING_BOARD
             && (strlen (cooling_words[i]) != length
                 || strncmp (cooling_words[i], text, length) != 0))
        i++;
      if (i == QM_GPU_COOLING_BOARD)
        {
          qm_csv_fail (row, column, QM_STATUS_INVALID,
                       "'%.*s' is not open, blower or passive",
                       length < 40 ? (int) length : 40, text);
          break;
        }
      coolings |= 1u << i;
      text += length + (text[length] == ' ');
    }
  return coolings;
}

static QmTristate
read_yes_or_no (QmCsvRow *row, size_t column)
{
  static const char *const words[] = { "no", "yes" };

  if (qm_csv_is_empty (row, column))
    return QM_UNSTATED;
  return qm_csv_word (row, column, words, 2, 0) == 1 ? QM_YES : QM_NO;
}

/* What the processor is made of. */
static void
read_processor (QmCsvRow *row, QmGpu *gpu)
{
  int64_t multiprocessors =
      qm_csv_integer (row, COLUMN_MULTIPROCESSORS, 1, MULTIPROCESSORS, 0);

  gpu->multiprocessors = multiprocessors > 0 ? (double) multiprocessors : NAN;
  gpu->boost_mhz = qm_csv_number (row, COLUMN_BOOST_MHZ, SLOWEST, FASTEST);
  gpu->l2_mib = qm_csv_number (row, COLUMN_L2_MIB, LEAST, LARGEST_L2);
}

static void
read_rates (QmCsvRow *row, QmGpu *gpu)
{
  gpu->memory_gib = qm_csv_number (row, COLUMN_MEMORY_GIB, LEAST, MOST);
  gpu->memory_bandwidth_gbs =
      qm_csv_number (row, COLUMN_MEMORY_BANDWIDTH_GBS, LEAST, MOST);
  gpu->measured_bandwidth_gbs =
      qm_csv_number (row, COLUMN_MEASURED_BANDWIDTH_GBS, LEAST, MOST);
  if (gpu->measured_bandwidth_gbs > gpu->memory_bandwidth_gbs)
    qm_csv_fail (row, COLUMN_MEASURED_BANDWIDTH_GBS, QM_STATUS_INVALID,
                 "is more than the memory's %g GB/s",
                 gpu->memory_bandwidth_gbs);
  gpu->fp16_tflops = qm_csv_number (row, COLUMN_FP16_TFLOPS, LEAST, MOST);
  gpu->bf16 = read_yes_or_no (row, COLUMN_BF16);
  gpu->fp8_tflops = qm_csv_number (row, COLUMN_FP8_TFLOPS, LEAST, MOST);
  gpu->tf32_tflops =
      qm_csv_number_or_none (row, COLUMN_TF32_TFLOPS, LEAST, MOST);
  gpu->fp32_tflops = qm_csv_number (row, COLUMN_FP32_TFLOPS, LEAST, MOST);
  gpu->measured_fp16_tflops =
      qm_csv_number (row, COLUMN_MEASURED_FP16_TFLOPS, LEAST, MOST);
  gpu->tdp_w = qm_csv_number (row, COLUMN_TDP_W, LEAST, MOST);
  gpu->nvlink_gbs = qm_csv_number_or_none (row, COLUMN_NVLINK_GBS, LEAST, MOST);
  gpu->nvlink_gpus = qm_csv_number (row, COLUMN_NVLINK_GPUS, 2, 1024);
  gpu->peer_access = read_yes_or_no (row, COLUMN_PEER_ACCESS);
  gpu->pcie_generation = qm_csv_number (row, COLUMN_PCIE_GENERATION, 1, 100);
  gpu->pcie_lanes = qm_csv_number (row, COLUMN_PCIE_LANES, 1, 1024);
}

static void
read_gpu (QmCsvRow *row, void *data)
{
  QmBatch *batch = data;
  QmGpu gpu = { 0 };
  QmGpu *entry;

  gpu.id = qm_csv_id (row, COLUMN_ID);
  if (qm_list_find (&batch->known->machines, gpu.id) != QM_LIST_NONE)
    qm_csv_fail (row, COLUMN_ID, QM_STATUS_INVALID,
                 "'%s' is the name of a machine", gpu.id);
  if (qm_list_find (&batch->known->platforms, gpu.id) != QM_LIST_NONE)
    qm_csv_fail (row, COLUMN_ID, QM_STATUS_INVALID,
                 "'%s' is the name of a platform", gpu.id);
  gpu.name = qm_csv_text (row, COLUMN_NAME, true);
  gpu.vendor = qm_csv_text (row, COLUMN_VENDOR, false);
  gpu.form_factor = qm_csv_text (row, COLUMN_FORM_FACTOR, false);
  gpu.slot_width = qm_csv_number (row, COLUMN_SLOT_WIDTH, 1, WIDEST);
  gpu.cooling = qm_csv_is_empty (row, COLUMN_COOLING)
                    ? QM_GPU_COOLING_UNSTATED
                    : (QmGpuCooling) qm_csv_word (row, COLUMN_COOLING,
                                                  cooling_words, N_COOLINGS, 0);
  read_rates (row, &gpu);
  read_processor (row, &gpu);
  gpu.peer_to_peer = qm_csv_text (row, COLUMN_PEER_TO_PEER, false);
  gpu.released_on = qm_csv_date (row, COLUMN_RELEASED_ON);
  gpu.launch_price_usd = qm_csv_number (row, COLUMN_LAUNCH_PRICE_USD, 0, 1e9);
  gpu.source = qm_csv_text (row, COLUMN_SOURCE, true);
  gpu.vendor_document = qm_csv_text (row, COLUMN_VENDOR_DOCUMENT, false);
  gpu.unverified = qm_csv_columns (row, COLUMN_UNVERIFIED, N_COLUMNS);
  gpu.notes = qm_csv_text (row, COLUMN_NOTES, false);

  entry = qm_batch_add (&batch->entries.gpus, gpu.id, row, COLUMN_ID);
  if (entry != NULL)
    *entry = gpu;
}

QmStatus
qm_batch_read_gpus (QmBatch *batch,
                    const char *text,
                    size_t length,
                    QmError *error)
{
  return qm_csv_read (text, length, batch->file, columns, N_COLUMNS,
                      &batch->entries.pool, read_gpu, batch, error);
}

double
qm_gpu_peak_tflops (const QmGpu *gpu, QmPrecision precision, bool tf32)
{
  switch (precision)
    {
    case QM_PRECISION_FP16:
      return gpu->fp16_tflops;
    case QM_PRECISION_BF16:
      return gpu->bf16 == QM_NO ? NAN : gpu->fp16_tflops;
    case QM_PRECISION_FP32:
      if (tf32 && gpu->tf32_tflops != 0)
        return gpu->tf32_tflops;
      return gpu->fp32_tflops;
    case QM_PRECISION_FP8:
      return gpu->fp8_tflops;
    }
  return NAN;
}

static bool
has_form (const QmGpu *gpu, const char *form)
{
  return strncmp (gpu->form_factor, form, strlen (form)) == 0;
}

bool
qm_gpu_is_card (const QmGpu *gpu)
{
  return has_form (gpu, "PCIe");
}

bool
qm_gpu_is_mezzanine (const QmGpu *gpu)
{
  return has_form (gpu, "SXM") || has_form (gpu, "OAM");
}

/* Without a link it has no bandwidth; what is known of neither tells nothing.
 */
static bool
is_at_least (double value, double other)
{
  return (value > 0 ? value : 0) >= (other > 0 ? other : 0);
}

bool
qm_gpu_is_no_worse (const QmGpu *gpu, const QmGpu *other)
{
  return qm_gpu_architecture (other) > 0
         && qm_gpu_architecture (gpu) >= qm_gpu_architecture (other)
         && gpu->memory_gib >= other->memory_gib
         && gpu->memory_bandwidth_gbs >= other->memory_bandwidth_gbs
         && gpu->fp16_tflops >= other->fp16_tflops
         && is_at_least (gpu->tf32_tflops, other->tf32_tflops)
         && is_at_least (gpu->fp32_tflops, other->fp32_tflops)
         && is_at_least (gpu->tdp_w, other->tdp_w)
         && is_at_least (gpu->multiprocessors, other->multiprocessors)
         && is_at_least (gpu->nvlink_gbs, other->nvlink_gbs)
         && is_at_least (gpu->pcie_generation, other->pcie_generation)
         && is_at_least (gpu->pcie_lanes, other->pcie_lanes);
}
