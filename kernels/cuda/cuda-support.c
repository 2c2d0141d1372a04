/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/cuda/cuda-support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The oldest GPUs that the operators are written for: bf16, asynchronous copies
 * to shared memory. */
#define OLDEST_ARCHITECTURE 80

/* Whether code for one of the architectures that kernels were compiled for, as
 * "80 86 90a", runs on a GPU: machine code within the same major version,
 * unless it is for one architecture alone; the last is there in a form for all
 * newer ones as well. */
static bool
has_code (const char *compiled, int capability)
{
  int newest = 0;

  while (*compiled != '\0')
    {
      char *end;
      int code = (int) strtol (compiled, &end, 10);

      if (*end == 'a' ? code == capability
                      : code / 10 == capability / 10 && code <= capability)
        return true;
      newest = code;
      compiled = end + strspn (end, "a ");
    }
  return capability >= newest;
}

void
qm_cuda_find_trouble (QmDeviceInfo *info, const char *compiled)
{
  int major = info->capability / 10, minor = info->capability % 10;

  info->trouble[0] = '\0';
  info->cause = info->capability < OLDEST_ARCHITECTURE   ? QM_TROUBLE_OLD_GPU
                : !has_code (compiled, info->capability) ? QM_TROUBLE_NO_CODE
                                                         : QM_TROUBLE_NONE;
  if (info->cause == QM_TROUBLE_OLD_GPU)
    snprintf (info->trouble, sizeof info->trouble,
              "%s, an %.60s, has compute capability %d.%d; 8.0 or newer is "
              "needed (Ampere, Ada, Hopper or later).",
              info->id, info->name, major, minor);
  else if (info->cause == QM_TROUBLE_NO_CODE)
    snprintf (info->trouble, sizeof info->trouble,
              "This program was built without code for compute capability "
              "%d.%d, which %s has.",
              major, minor, info->id);
}
