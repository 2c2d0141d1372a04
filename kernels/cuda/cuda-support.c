/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/cuda/cuda-support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The oldest GPUs that the operators are written for. */
#define OLDEST_ARCHITECTURE 75

/* The first with bf16, TF32 and asynchronous copies to shared memory. */
#define FULL_ARCHITECTURE 80

/* The first whose tensor cores have FP8 (PTX ISA 9.0, mma, "sm_89"). */
#define FP8_ARCHITECTURE 89

/* Which of the architectures that kernels were compiled for, as "80 86 90a", a
 * GPU takes its code from, or 0: machine code within the same major version,
 * unless it is for one architecture alone; the last is there in a form for all
 * newer ones as well. */
static int
code_for (const char *compiled, int capability)
{
  int newest = 0, found = 0;

  while (*compiled != '\0')
    {
      char *end;
      int code = (int) strtol (compiled, &end, 10);

      if (code > found
          && (*end == 'a' ? code == capability
                          : code / 10 == capability / 10 && code <= capability))
        found = code;
      newest = code;
      compiled = end + strspn (end, "a ");
    }
  return found > 0 ? found : capability >= newest ? newest : 0;
}

int
qm_cuda_architecture (int capability, const char *compiled)
{
  int code = code_for (compiled, capability);

  return code > 0 && code < FULL_ARCHITECTURE ? code : capability;
}

bool
qm_cuda_multiplies (int architecture, QmType type, bool tf32)
{
  if (qm_type_is_fp8 (type))
    return architecture >= FP8_ARCHITECTURE;
  return architecture >= FULL_ARCHITECTURE
         || (type != QM_TYPE_BF16 && !(type == QM_TYPE_F32 && tf32));
}

bool
qm_cuda_is_hopper (int architecture)
{
  return architecture == 90;
}

void
qm_cuda_find_trouble (QmDeviceInfo *info, const char *compiled)
{
  int major = info->capability / 10, minor = info->capability % 10;

  info->trouble[0] = '\0';
  info->cause = info->capability < OLDEST_ARCHITECTURE ? QM_TROUBLE_OLD_GPU
                : code_for (compiled, info->capability) == 0
                    ? QM_TROUBLE_NO_CODE
                    : QM_TROUBLE_NONE;
  if (info->cause == QM_TROUBLE_OLD_GPU)
    snprintf (info->trouble, sizeof info->trouble,
              "%s, an %.60s, has compute capability %d.%d; 7.5 or newer is "
              "needed (Turing, Ampere, Ada, Hopper or later).",
              info->id, info->name, major, minor);
  else if (info->cause == QM_TROUBLE_NO_CODE)
    snprintf (info->trouble, sizeof info->trouble,
              "This program was built without code for compute capability "
              "%d.%d, which %s has.",
              major, minor, info->id);
}
