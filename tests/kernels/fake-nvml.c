/* SPDX-License-Identifier: Apache-2.0 */

/* A stand-in for NVIDIA's management library: one GPU at 0000:1b:00.0 whose
 * clock falls and whose temperature rises with every reading.  FAKE selects
 * what it is like: 0 a GPU that tells everything 1 a library with nothing but
 * what it cannot do without 2 a library that does not start 3 a GPU that gets
 * lost after a while 4 a library of another name */

#include "kernels/nvml.h"

#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__ ((visibility ("default")))

#if FAKE == 4
EXPORT int fake (void);

int
fake (void)
{
  return 0;
}
#else

EXPORT int nvmlInit_v2 (void);
EXPORT int nvmlDeviceGetHandleByPciBusId_v2 (const char *bus, nvmlDevice_t *to);

int
nvmlInit_v2 (void)
{
  return FAKE == 2 ? 9 : NVML_SUCCESS;
}

int
nvmlDeviceGetHandleByPciBusId_v2 (const char *bus, nvmlDevice_t *to)
{
  static int gpu;

  if (strcmp (bus, "0000:1b:00.0") != 0)
    return NVML_ERROR_NOT_FOUND;
  *to = (nvmlDevice_t) (void *) &gpu;
  return NVML_SUCCESS;
}
#endif

#if FAKE == 2
EXPORT const char *nvmlErrorString (int code);

const char *
nvmlErrorString (int code)
{
  return code == 9 ? "Driver Not Loaded" : "another";
}
#endif

#if FAKE == 0 || FAKE == 3
static int readings;

/* What every call about the device answers. */
static int
answer (void)
{
  return FAKE == 3 && readings > 2 ? NVML_ERROR_GPU_IS_LOST : NVML_SUCCESS;
}

static int
give (unsigned int *to, unsigned int value)
{
  if (answer () == NVML_SUCCESS)
    *to = value;
  return answer ();
}

#define NUMBER(name, value)                           \
  EXPORT int name (nvmlDevice_t d, unsigned int *to); \
  int name (nvmlDevice_t d, unsigned int *to)         \
  {                                                   \
    return give (to, value);                          \
  }
#define TWO_NUMBERS(name, value)                                        \
  EXPORT int name (nvmlDevice_t d, unsigned int *to, unsigned int *t2); \
  int name (nvmlDevice_t d, unsigned int *to, unsigned int *t2)         \
  {                                                                     \
    *t2 = 0;                                                            \
    return give (to, value);                                            \
  }
#define NUMBER_OF(name, value)                                         \
  EXPORT int name (nvmlDevice_t d, unsigned int of, unsigned int *to); \
  int name (nvmlDevice_t d, unsigned int of, unsigned int *to)         \
  {                                                                    \
    return give (to, (unsigned int) (value));                          \
  }
#define LONG(name, value)                                   \
  EXPORT int name (nvmlDevice_t d, unsigned long long *to); \
  int name (nvmlDevice_t d, unsigned long long *to)         \
  {                                                         \
    *to = (value);                                          \
    return answer ();                                       \
  }

NUMBER (nvmlDeviceGetPowerUsage, 500000 + 1000 * (unsigned int) readings)
NUMBER (nvmlDeviceGetEnforcedPowerLimit, 700000)
NUMBER (nvmlDeviceGetComputeMode, 3)
NUMBER (nvmlDeviceGetDisplayActive, 0)
NUMBER (nvmlDeviceGetPersistenceMode, 1)
NUMBER (nvmlDeviceGetCurrPcieLinkGeneration, 1)
NUMBER (nvmlDeviceGetCurrPcieLinkWidth, 8)
NUMBER (nvmlDeviceGetMaxPcieLinkGeneration, 5)
NUMBER (nvmlDeviceGetMaxPcieLinkWidth, 16)
TWO_NUMBERS (nvmlDeviceGetEccMode, 1)
TWO_NUMBERS (nvmlDeviceGetMigMode, 0)
NUMBER_OF (nvmlDeviceGetMaxClockInfo, of == NVML_CLOCK_SM ? 1980 : 3201)
NUMBER_OF (nvmlDeviceGetNvLinkState, of < 3)
NUMBER_OF (nvmlDeviceGetNvLinkRemoteDeviceType,
           of == 2 ? NVML_NVLINK_DEVICE_TYPE_SWITCH
                   : NVML_NVLINK_DEVICE_TYPE_GPU)
NUMBER_OF (nvmlDeviceGetTemperature, 40 + readings)
LONG (nvmlDeviceGetTotalEnergyConsumption, 1000ULL * (unsigned) readings)
LONG (nvmlDeviceGetCurrentClocksThrottleReasons,
      readings % 2 ? NVML_REASON_SW_POWER_CAP : NVML_REASON_GPU_IDLE)

EXPORT int
nvmlDeviceGetClockInfo (nvmlDevice_t d, unsigned int of, unsigned int *to);
EXPORT int nvmlSystemGetDriverVersion (char *text, unsigned int size);
EXPORT int nvmlDeviceGetMemoryInfo (nvmlDevice_t d, nvmlMemory_t *to);
EXPORT int nvmlDeviceGetNvLinkRemotePciInfo_v2 (nvmlDevice_t d,
                                                unsigned int link,
                                                nvmlPciInfo_t *to);
EXPORT int
nvmlDeviceGetFieldValues (nvmlDevice_t d, int n, nvmlFieldValue_t *values);
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3 (nvmlDevice_t d,
                                                    unsigned int *n,
                                                    nvmlProcessInfo_t *to);

/* The first call of every reading. */
int
nvmlDeviceGetClockInfo (nvmlDevice_t d, unsigned int of, unsigned int *to)
{
  if (of == NVML_CLOCK_SM)
    readings++;
  return give (to,
               of == NVML_CLOCK_SM ? 1980u - 10u * (unsigned) readings : 3201u);
}

int
nvmlSystemGetDriverVersion (char *text, unsigned int size)
{
  snprintf (text, size, "580.95.05");
  return NVML_SUCCESS;
}

int
nvmlDeviceGetMemoryInfo (nvmlDevice_t d, nvmlMemory_t *to)
{
  *to = (nvmlMemory_t){ 1000, 900, 100 };
  return answer ();
}

int
nvmlDeviceGetNvLinkRemotePciInfo_v2 (nvmlDevice_t d,
                                     unsigned int link,
                                     nvmlPciInfo_t *to)
{
  snprintf (to->busId, sizeof to->busId, "00000000:2B:00.%u", link);
  return answer ();
}

int
nvmlDeviceGetFieldValues (nvmlDevice_t d, int n, nvmlFieldValue_t *values)
{
  for (int i = 0; i < n; i++)
    {
      values[i].valueType = 1;
      values[i].nvmlReturn =
          values[i].fieldId == 90 ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
      values[i].value.uiVal = 26562;
    }
  return answer ();
}

int
nvmlDeviceGetComputeRunningProcesses_v3 (nvmlDevice_t d,
                                         unsigned int *n,
                                         nvmlProcessInfo_t *to)
{
  if (*n < 2)
    return NVML_ERROR_INSUFFICIENT_SIZE;
  *n = 2;
  to[0] = (nvmlProcessInfo_t){ .pid = 4711, .usedGpuMemory = 64 };
  to[1] = (nvmlProcessInfo_t){ .pid = 4712,
                               .usedGpuMemory = NVML_VALUE_NOT_AVAILABLE };
  return answer ();
}
#endif
