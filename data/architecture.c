/* SPDX-License-Identifier: Apache-2.0 */

#include "data/architecture.h"

#include <string.h>
#include <strings.h>

/* NVIDIA, CUDA GPU Compute Capability (developer.nvidia.com/cuda-gpus). */
static const struct
{
  const char *id; /* how ids of the catalog begin; the longest counts */
  int architecture;
} architectures[] = {
  { "v100", 70 },   { "t4", 75 },          { "a100", 80 },  { "a30", 80 },
  { "rtx30", 86 },  { "a10", 86 },         { "a40", 86 },   { "a5000", 86 },
  { "a6000", 86 },  { "rtx40", 89 },       { "l4", 89 },    { "l40", 89 },
  { "h100", 90 },   { "rtx6000-ada", 89 }, { "h200", 90 },  { "gh200", 90 },
  { "b200", 100 },  { "gb200", 100 },      { "b300", 103 }, { "gb300", 103 },
  { "rtx50", 120 }, { "rtxpro", 120 },     { "gb10", 121 },
};

int
qm_gpu_architecture (const QmGpu *gpu)
{
  size_t longest = 0;
  int architecture = 0;

  if (strcasecmp (gpu->vendor, "NVIDIA") != 0)
    return 0;
  for (size_t i = 0; i < sizeof architectures / sizeof architectures[0]; i++)
    {
      size_t length = strlen (architectures[i].id);

      if (length > longest
          && strncmp (gpu->id, architectures[i].id, length) == 0)
        {
          longest = length;
          architecture = architectures[i].architecture;
        }
    }
  return architecture;
}
