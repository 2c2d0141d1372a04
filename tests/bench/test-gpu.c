/* SPDX-License-Identifier: Apache-2.0 */

/* Names that drivers give, and the GPUs that they mean. */

#include "app/qm-bench.h"
#include "tests/data/check.h"

#include <stdio.h>
#include <stdlib.h>

static const struct
{
  const char *name;
  double gib;
  const char *id;
} devices[] = {
  { "NVIDIA H200", 139.8, "h200-141gb-sxm" },
  { "NVIDIA H200 NVL", 139.8, "h200-141gb-nvl" },
  { "NVIDIA H100 80GB HBM3", 79.1, "h100-80gb-sxm" },
  { "NVIDIA H100 PCIe", 79.2, "h100-80gb-pcie" },
  { "NVIDIA H100 NVL", 93.1, "h100-94gb-nvl" },
  { "NVIDIA A100-SXM4-80GB", 79.2, "a100-80gb-sxm" },
  { "NVIDIA A100-SXM4-40GB", 39.4, "a100-40gb-sxm" },
  { "NVIDIA A100 80GB PCIe", 79.2, "a100-80gb-pcie" },
  { "NVIDIA GeForce RTX 3090", 23.7, "rtx3090" },
  { "NVIDIA GeForce RTX 3090 Ti", 23.7, "rtx3090-ti" },
  { "NVIDIA GeForce RTX 4090", 23.6, "rtx4090" },
  { "NVIDIA GeForce RTX 4090 D", 23.6, NULL },
  { "NVIDIA GeForce RTX 3090 Laptop GPU", 23.7, NULL },
  { "NVIDIA RTX A6000", 47.5, "a6000" },
  { "NVIDIA RTX 6000 Ada Generation", 47.5, "rtx6000-ada" },
  { "Tesla V100-SXM2-32GB", 31.7, "v100-32gb-sxm2" },
  { "Tesla T4", 14.6, "t4" },
  { "NVIDIA L40S", 44.4, "l40s" },
  { "NVIDIA A10", 22.1, "a10" },
  { "NVIDIA H300", 139.8, NULL },
  { "NVIDIA A100-SXM4-80GB MIG 1g.10gb", 9.5, NULL },
  { "", 80, NULL },
};

int
main (void)
{
  QmCatalog *catalog = NULL;

  CHECK_INT (qm_catalog_load (getenv ("QM_TEST_DATA_DIR"), NULL, &catalog,
                              NULL),
             QM_OK);
  for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++)
    {
      QmDeviceInfo info = { .target = { QM_DEVICE_CUDA, 90 } };
      const QmGpu *gpu;

      check_case (devices[i].name);
      snprintf (info.name, sizeof info.name, "%s", devices[i].name);
      info.memory_bytes = (uint64_t) (devices[i].gib * 0x1p30);
      gpu = qm_bench_find_gpu (catalog, &info);
      CHECK ((gpu != NULL) == (devices[i].id != NULL));
      if (gpu != NULL && devices[i].id != NULL)
        CHECK_STRING (gpu->id, devices[i].id);
      info.target.kind = QM_DEVICE_CPU;
      CHECK (qm_bench_find_gpu (catalog, &info) == NULL);
    }
  qm_catalog_free (catalog);
  return check_report ();
}
