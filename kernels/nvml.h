/* SPDX-License-Identifier: Apache-2.0 */

/* The part of NVIDIA's management library that we call, as its public
 * reference (NVML API Reference Guide) describes it: NVIDIA's header need not
 * be installed.  Only for kernels/ and its tests. */

#ifndef QM_KERNELS_NVML_H
#define QM_KERNELS_NVML_H

typedef struct nvmlDevice_st *nvmlDevice_t;

/* nvmlReturn_t; the values that are told apart. */
enum
{
  NVML_SUCCESS = 0,
  NVML_ERROR_NOT_SUPPORTED = 3,
  NVML_ERROR_NOT_FOUND = 6,
  NVML_ERROR_INSUFFICIENT_SIZE = 7,
  NVML_ERROR_GPU_IS_LOST = 15
};

/* nvmlClockType_t, nvmlTemperatureSensors_t, nvmlEnableState_t. */
enum
{
  NVML_CLOCK_SM = 1,
  NVML_CLOCK_MEM = 2,
  NVML_TEMPERATURE_GPU = 0,
  NVML_FEATURE_ENABLED = 1
};

/* nvmlIntNvLinkDeviceType_t */
enum
{
  NVML_NVLINK_DEVICE_TYPE_GPU = 0,
  NVML_NVLINK_DEVICE_TYPE_SWITCH = 2
};

/* nvmlClocksEventReasons, before driver 535 nvmlClocksThrottleReasons. */
#define NVML_REASON_GPU_IDLE            0x001
#define NVML_REASON_APPLICATIONS_CLOCKS 0x002
#define NVML_REASON_SW_POWER_CAP        0x004
#define NVML_REASON_HW_SLOWDOWN         0x008
#define NVML_REASON_SYNC_BOOST          0x010
#define NVML_REASON_SW_THERMAL          0x020
#define NVML_REASON_HW_THERMAL          0x040
#define NVML_REASON_HW_POWER_BRAKE      0x080
#define NVML_REASON_DISPLAY_CLOCKS      0x100

#define NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON 90

/* Of a process whose memory is not known. */
#define NVML_VALUE_NOT_AVAILABLE (~0ULL)

typedef struct nvmlMemory_t
{
  unsigned long long total, free, used; /* bytes */
} nvmlMemory_t;

typedef struct nvmlPciInfo_t
{
  char busIdLegacy[16];
  unsigned int domain, bus, device;
  unsigned int pciDeviceId, pciSubSystemId;
  char busId[32];
} nvmlPciInfo_t;

/* Of the calls that end in _v2 and _v3. */
typedef struct nvmlProcessInfo_t
{
  unsigned int pid;
  unsigned long long usedGpuMemory;
  unsigned int gpuInstanceId, computeInstanceId;
} nvmlProcessInfo_t;

typedef struct nvmlFieldValue_t
{
  unsigned int fieldId, scopeId;
  long long timestamp, latencyUsec;
  int valueType; /* 0 double, 1 unsigned int, 2 unsigned long, ... */
  int nvmlReturn;
  union
  {
    double dVal;
    int siVal;
    unsigned int uiVal;
    unsigned long ulVal;
    unsigned long long ullVal;
    long long sllVal;
  } value;
} nvmlFieldValue_t;

typedef int (*NvmlPlain) (void);
typedef int (*NvmlText) (char *, unsigned int);
typedef int (*NvmlFind) (const char *, nvmlDevice_t *);
typedef int (*NvmlNumber) (nvmlDevice_t, unsigned int *);
typedef int (*NvmlNumberOf) (nvmlDevice_t, unsigned int, unsigned int *);
typedef int (*NvmlTwoNumbers) (nvmlDevice_t, unsigned int *, unsigned int *);
typedef int (*NvmlLong) (nvmlDevice_t, unsigned long long *);
typedef int (*NvmlMemory) (nvmlDevice_t, nvmlMemory_t *);
typedef int (*NvmlRemote) (nvmlDevice_t, unsigned int, nvmlPciInfo_t *);
typedef int (*NvmlFields) (nvmlDevice_t, int, nvmlFieldValue_t *);
typedef int (*NvmlProcesses) (nvmlDevice_t,
                              unsigned int *,
                              nvmlProcessInfo_t *);
typedef const char *(*NvmlErrorString) (int);

/* The library; a function that it does not have is NULL, except init and
 * find. */
typedef struct QmNvml
{
  void *handle;
  NvmlPlain init, shutdown;
  NvmlErrorString error_string;
  NvmlFind find;
  NvmlText driver;
  NvmlNumberOf clock, clock_max, temperature, link_state, link_remote_type;
  NvmlNumber power, power_limit, compute_mode, display, persistence;
  NvmlNumber pcie_generation, pcie_width, pcie_generation_max, pcie_width_max;
  NvmlTwoNumbers ecc, mig;
  NvmlLong reasons, energy;
  NvmlMemory memory;
  NvmlRemote link_remote;
  NvmlFields fields;
  NvmlProcesses processes;
} QmNvml;

#endif
