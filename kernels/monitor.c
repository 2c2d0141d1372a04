/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/monitor.h"

#include "kernels/deadline.h"
#include "kernels/nvml.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LIBRARY  "libnvidia-ml.so.1"
#define INTERVAL 0.05

typedef struct Sum
{
  double sum, least, most;
  int n;
} Sum;

struct QmMonitor
{
  QmNvml nvml;
  nvmlDevice_t device;

  /* A watch; everything below belongs to whoever holds the lock. */
  bool watching;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t wake;
  bool stop, lost;
  struct timespec begin;
  double first_joules;
  Sum sm, memory, celsius, watts;
  int64_t throttle;
  int samples;
};

/* A function's address; POSIX lets one be copied from a pointer to data. */
static void
find_symbol (void *library, const char *name, const char *older, void *function)
{
  void *address = dlsym (library, name);

  if (address == NULL && older != NULL)
    address = dlsym (library, older);
  memcpy (function, &address, sizeof address);
}

static void
find_symbols (QmNvml *nvml)
{
  const struct
  {
    const char *name, *older;
    void *function;
  } symbols[] = {
    { "nvmlInit_v2", "nvmlInit", &nvml->init },
    { "nvmlShutdown", NULL, &nvml->shutdown },
    { "nvmlErrorString", NULL, &nvml->error_string },
    { "nvmlDeviceGetHandleByPciBusId_v2", "nvmlDeviceGetHandleByPciBusId",
      &nvml->find },
    { "nvmlSystemGetDriverVersion", NULL, &nvml->driver },
    { "nvmlDeviceGetClockInfo", NULL, &nvml->clock },
    { "nvmlDeviceGetMaxClockInfo", NULL, &nvml->clock_max },
    { "nvmlDeviceGetTemperature", NULL, &nvml->temperature },
    { "nvmlDeviceGetNvLinkState", NULL, &nvml->link_state },
    { "nvmlDeviceGetNvLinkRemoteDeviceType", NULL, &nvml->link_remote_type },
    { "nvmlDeviceGetPowerUsage", NULL, &nvml->power },
    { "nvmlDeviceGetEnforcedPowerLimit", "nvmlDeviceGetPowerManagementLimit",
      &nvml->power_limit },
    { "nvmlDeviceGetComputeMode", NULL, &nvml->compute_mode },
    { "nvmlDeviceGetDisplayActive", NULL, &nvml->display },
    { "nvmlDeviceGetPersistenceMode", NULL, &nvml->persistence },
    { "nvmlDeviceGetCurrPcieLinkGeneration", NULL, &nvml->pcie_generation },
    { "nvmlDeviceGetCurrPcieLinkWidth", NULL, &nvml->pcie_width },
    { "nvmlDeviceGetMaxPcieLinkGeneration", NULL, &nvml->pcie_generation_max },
    { "nvmlDeviceGetMaxPcieLinkWidth", NULL, &nvml->pcie_width_max },
    { "nvmlDeviceGetEccMode", NULL, &nvml->ecc },
    { "nvmlDeviceGetMigMode", NULL, &nvml->mig },
    { "nvmlDeviceGetCurrentClocksEventReasons",
      "nvmlDeviceGetCurrentClocksThrottleReasons", &nvml->reasons },
    { "nvmlDeviceGetTotalEnergyConsumption", NULL, &nvml->energy },
    { "nvmlDeviceGetMemoryInfo", NULL, &nvml->memory },
    { "nvmlDeviceGetNvLinkRemotePciInfo_v2", NULL, &nvml->link_remote },
    { "nvmlDeviceGetFieldValues", NULL, &nvml->fields },
    { "nvmlDeviceGetComputeRunningProcesses_v3",
      "nvmlDeviceGetComputeRunningProcesses_v2", &nvml->processes },
  };

  for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++)
    find_symbol (nvml->handle, symbols[i].name, symbols[i].older,
                 symbols[i].function);
}

static QmStatus
nvml_failed (const QmNvml *nvml,
             const char *what,
             int code,
             QmStatus status,
             QmError *error)
{
  const char *why =
      nvml->error_string != NULL ? nvml->error_string (code) : NULL;

  if (why != NULL)
    return qm_error_set (error, status, "", 0, 0, "NVML: %s: %s", what, why);
  return qm_error_set (error, status, "", 0, 0, "NVML: %s: error %d", what,
                       code);
}

static QmStatus
load_nvml (QmNvml *nvml, const char *library, QmError *error)
{
  const char *name = library != NULL ? library : LIBRARY;
  int code;

  nvml->handle = dlopen (name, RTLD_NOW | RTLD_LOCAL);
  if (nvml->handle == NULL)
    return qm_error_set (error, QM_STATUS_NOT_FOUND, "", 0, 0,
                         "NVML cannot be loaded: %s", dlerror ());
  find_symbols (nvml);
  if (nvml->init == NULL || nvml->find == NULL)
    return qm_error_set (error, QM_STATUS_NOT_FOUND, "", 0, 0,
                         "%s is not NVML: it lacks functions", name);
  code = nvml->init ();
  if (code == NVML_SUCCESS)
    return QM_OK;
  /* Nothing to shut down. */
  nvml->shutdown = NULL;
  return nvml_failed (nvml, "it does not start", code, QM_STATUS_DEVICE, error);
}

QmStatus
qm_monitor_open (const char *bus,
                 const char *library,
                 QmMonitor **monitor,
                 QmError *error)
{
  QmMonitor *new = calloc (1, sizeof *new);
  QmStatus status;
  int code;

  *monitor = NULL;
  if (new == NULL || !qm_condition_init (&new->wake))
    {
      free (new);
      return qm_error_no_memory (error);
    }
  pthread_mutex_init (&new->lock, NULL);
  status = load_nvml (&new->nvml, library, error);
  if (status == QM_OK)
    {
      code = new->nvml.find (bus, &new->device);
      if (code != NVML_SUCCESS)
        status = nvml_failed (&new->nvml, bus, code,
                              code == NVML_ERROR_NOT_FOUND ? QM_STATUS_NOT_FOUND
                                                           : QM_STATUS_DEVICE,
                              error);
    }
  if (status == QM_OK)
    *monitor = new;
  else
    qm_monitor_close (new);
  return status;
}

void
qm_monitor_close (QmMonitor *monitor)
{
  QmWatch watch;

  if (monitor == NULL)
    return;
  if (monitor->watching)
    qm_monitor_end (monitor, &watch);
  if (monitor->nvml.shutdown != NULL)
    monitor->nvml.shutdown ();
  if (monitor->nvml.handle != NULL)
    dlclose (monitor->nvml.handle);
  pthread_cond_destroy (&monitor->wake);
  pthread_mutex_destroy (&monitor->lock);
  free (monitor);
}

static double
number (const QmMonitor *monitor, NvmlNumber get, double unit)
{
  unsigned int value = 0;

  return get != NULL && get (monitor->device, &value) == NVML_SUCCESS
             ? value * unit
             : NAN;
}

static double
nvml_number (const QmMonitor *monitor, NvmlNumberOf get, unsigned int of)
{
  unsigned int value = 0;

  return get != NULL && get (monitor->device, of, &value) == NVML_SUCCESS
             ? value
             : NAN;
}

static int
whole (double value)
{
  return isfinite (value) ? (int) value : -1;
}

static int
first_of_two (const QmMonitor *monitor, NvmlTwoNumbers get)
{
  unsigned int now = 0, later = 0;

  return get != NULL && get (monitor->device, &now, &later) == NVML_SUCCESS
             ? now == NVML_FEATURE_ENABLED
             : -1;
}

void
qm_monitor_read (const QmMonitor *monitor, QmReading *reading)
{
  const QmNvml *nvml = &monitor->nvml;
  unsigned long long value = 0;
  nvmlMemory_t memory;

  reading->sm_mhz = nvml_number (monitor, nvml->clock, NVML_CLOCK_SM);
  reading->memory_mhz = nvml_number (monitor, nvml->clock, NVML_CLOCK_MEM);
  reading->celsius =
      nvml_number (monitor, nvml->temperature, NVML_TEMPERATURE_GPU);
  reading->watts = number (monitor, nvml->power, 1e-3);
  reading->joules =
      nvml->energy != NULL
              && nvml->energy (monitor->device, &value) == NVML_SUCCESS
          ? (double) value * 1e-3
          : NAN;
  reading->used_bytes =
      nvml->memory != NULL
              && nvml->memory (monitor->device, &memory) == NVML_SUCCESS
          ? (int64_t) memory.used
          : -1;
  reading->throttle =
      nvml->reasons != NULL
              && nvml->reasons (monitor->device, &value) == NVML_SUCCESS
          ? (int64_t) value
          : -1;
}

static void
read_links (const QmMonitor *monitor, QmFacts *facts)
{
  const QmNvml *nvml = &monitor->nvml;
  nvmlFieldValue_t speed = { .fieldId = NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON };

  facts->n_links = nvml->link_state != NULL ? 0 : -1;
  for (unsigned int i = 0; i < QM_MONITOR_LINKS && nvml->link_state != NULL;
       i++)
    {
      QmLink *link = &facts->links[facts->n_links];
      unsigned int state = 0, type = ~0u;
      nvmlPciInfo_t remote = { .bus = 0 };

      if (nvml->link_state (monitor->device, i, &state) != NVML_SUCCESS
          || state != NVML_FEATURE_ENABLED)
        continue;
      facts->n_links++;
      if (nvml->link_remote != NULL
          && nvml->link_remote (monitor->device, i, &remote) == NVML_SUCCESS)
        snprintf (link->bus, sizeof link->bus, "%.31s", remote.busId);
      link->to_switch =
          nvml->link_remote_type != NULL
          && nvml->link_remote_type (monitor->device, i, &type) == NVML_SUCCESS
          && type == NVML_NVLINK_DEVICE_TYPE_SWITCH;
    }
  facts->link_gbs = NAN;
  if (facts->n_links > 0 && nvml->fields != NULL
      && nvml->fields (monitor->device, 1, &speed) == NVML_SUCCESS
      && speed.nvmlReturn == NVML_SUCCESS && speed.value.uiVal > 0)
    facts->link_gbs = speed.value.uiVal * 1e-3;
}

static void
read_processes (const QmMonitor *monitor, QmFacts *facts)
{
  nvmlProcessInfo_t processes[QM_MONITOR_PROCESSES * 4];
  unsigned int n = sizeof processes / sizeof processes[0];

  facts->n_processes = -1;
  if (monitor->nvml.processes == NULL
      || monitor->nvml.processes (monitor->device, &n, processes)
             != NVML_SUCCESS)
    return;
  facts->n_processes = (int) n;
  for (unsigned int i = 0; i < n && i < QM_MONITOR_PROCESSES; i++)
    facts->processes[i] = (QmProcess){
      .id = processes[i].pid,
      .bytes = processes[i].usedGpuMemory == NVML_VALUE_NOT_AVAILABLE
                   ? -1
                   : (int64_t) processes[i].usedGpuMemory,
    };
}

void
qm_monitor_facts (const QmMonitor *monitor, QmFacts *facts)
{
  const QmNvml *nvml = &monitor->nvml;
  nvmlMemory_t memory;

  memset (facts, 0, sizeof *facts);
  if (nvml->driver == NULL
      || nvml->driver (facts->driver, sizeof facts->driver) != NVML_SUCCESS)
    facts->driver[0] = '\0';
  facts->total_bytes = facts->free_bytes = -1;
  if (nvml->memory != NULL
      && nvml->memory (monitor->device, &memory) == NVML_SUCCESS)
    {
      facts->total_bytes = (int64_t) memory.total;
      facts->free_bytes = (int64_t) memory.free;
    }
  facts->sm_mhz_max = nvml_number (monitor, nvml->clock_max, NVML_CLOCK_SM);
  facts->memory_mhz_max =
      nvml_number (monitor, nvml->clock_max, NVML_CLOCK_MEM);
  facts->watts_max = number (monitor, nvml->power_limit, 1e-3);
  facts->pcie_generation = whole (number (monitor, nvml->pcie_generation, 1));
  facts->pcie_width = whole (number (monitor, nvml->pcie_width, 1));
  facts->pcie_generation_max =
      whole (number (monitor, nvml->pcie_generation_max, 1));
  facts->pcie_width_max = whole (number (monitor, nvml->pcie_width_max, 1));
  facts->ecc = first_of_two (monitor, nvml->ecc);
  facts->mig = first_of_two (monitor, nvml->mig);
  facts->display = whole (number (monitor, nvml->display, 1));
  facts->persistent = whole (number (monitor, nvml->persistence, 1));
  facts->compute_mode =
      (QmComputeMode) whole (number (monitor, nvml->compute_mode, 1));
  read_links (monitor, facts);
  read_processes (monitor, facts);
}

static void
add_to_sum (Sum *sum, double value)
{
  if (!isfinite (value))
    return;
  sum->least = sum->n == 0 ? value : fmin (sum->least, value);
  sum->most = sum->n == 0 ? value : fmax (sum->most, value);
  sum->sum += value;
  sum->n++;
}

static QmRange
range_of (const Sum *sum)
{
  if (sum->n == 0)
    return (QmRange){ NAN, NAN, NAN };
  return (QmRange){ sum->sum / sum->n, sum->least, sum->most };
}

/* Reads and adds; returns what was read. */
static QmReading
read_and_add (QmMonitor *monitor)
{
  unsigned int celsius = 0;
  QmReading reading;

  qm_monitor_read (monitor, &reading);
  add_to_sum (&monitor->sm, reading.sm_mhz);
  add_to_sum (&monitor->memory, reading.memory_mhz);
  add_to_sum (&monitor->celsius, reading.celsius);
  add_to_sum (&monitor->watts, reading.watts);
  if (reading.throttle >= 0)
    monitor->throttle =
        (monitor->throttle >= 0 ? monitor->throttle : 0) | reading.throttle;
  monitor->samples++;
  if (!isfinite (reading.celsius) && monitor->nvml.temperature != NULL
      && monitor->nvml.temperature (monitor->device, NVML_TEMPERATURE_GPU,
                                    &celsius)
             == NVML_ERROR_GPU_IS_LOST)
    monitor->lost = true;
  return reading;
}

static void *
watch_thread (void *data)
{
  QmMonitor *monitor = data;

  pthread_mutex_lock (&monitor->lock);
  while (!monitor->stop)
    {
      struct timespec when = qm_deadline (INTERVAL);

      pthread_cond_timedwait (&monitor->wake, &monitor->lock, &when);
      if (!monitor->stop)
        read_and_add (monitor);
    }
  pthread_mutex_unlock (&monitor->lock);
  return NULL;
}

QmStatus
qm_monitor_begin (QmMonitor *monitor, QmError *error)
{
  static const Sum nothing;

  if (monitor->watching)
    return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                         "the monitor is watching already");
  monitor->stop = monitor->lost = false;
  monitor->sm = monitor->memory = monitor->celsius = monitor->watts = nothing;
  monitor->throttle = -1;
  monitor->samples = 0;
  clock_gettime (CLOCK_MONOTONIC, &monitor->begin);
  monitor->first_joules = read_and_add (monitor).joules;
  if (pthread_create (&monitor->thread, NULL, watch_thread, monitor) != 0)
    return qm_error_set (error, QM_STATUS_NO_MEMORY, "", 0, 0,
                         "the host has no thread to watch the GPU with");
  monitor->watching = true;
  return QM_OK;
}

void
qm_monitor_end (QmMonitor *monitor, QmWatch *watch)
{
  struct timespec end;
  QmReading last;

  *watch = qm_watch_nothing ();
  if (!monitor->watching)
    return;
  pthread_mutex_lock (&monitor->lock);
  monitor->stop = true;
  pthread_cond_signal (&monitor->wake);
  pthread_mutex_unlock (&monitor->lock);
  pthread_join (monitor->thread, NULL);
  monitor->watching = false;
  last = read_and_add (monitor);
  clock_gettime (CLOCK_MONOTONIC, &end);
  watch->sm_mhz = range_of (&monitor->sm);
  watch->memory_mhz = range_of (&monitor->memory);
  watch->celsius = range_of (&monitor->celsius);
  watch->watts = range_of (&monitor->watts);
  watch->throttle = monitor->throttle;
  watch->samples = monitor->samples;
  watch->seconds = (double) (end.tv_sec - monitor->begin.tv_sec)
                   + (double) (end.tv_nsec - monitor->begin.tv_nsec) * 1e-9;
  watch->joules = last.joules - monitor->first_joules;
  watch->lost = monitor->lost;
}
