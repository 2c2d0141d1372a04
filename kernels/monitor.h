/* SPDX-License-Identifier: Apache-2.0 */

/* What an NVIDIA GPU tells about itself while it works: clocks, temperature,
 * power, why it is slowed down, links, who uses its memory.
 *
 * It tells it through NVML, a library that comes with the driver and is loaded
 * when a monitor is opened; a program that cannot load it works without.  What
 * the library or the GPU does not know is NaN, or -1 where it is a whole
 * number.  Names and values: NVIDIA, NVML API Reference Guide.
 */

#ifndef QM_KERNELS_MONITOR_H
#define QM_KERNELS_MONITOR_H

#include "data/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct QmMonitor QmMonitor;

/* One moment. */
typedef struct QmReading
{
  double sm_mhz, memory_mhz; /* clocks */
  double celsius;
  double watts;       /* over the last second, on newer GPUs */
  double joules;      /* since the driver was loaded */
  int64_t used_bytes; /* of its memory, by everybody */
  int64_t throttle;   /* why clocks are not higher; qm_throttle_words() */
} QmReading;

typedef struct QmRange
{
  double mean, least, most; /* NaN where nothing was read */
} QmRange;

/* What was read in a while. */
typedef struct QmWatch
{
  QmRange sm_mhz, memory_mhz, celsius, watts;
  int64_t throttle; /* every reason that was seen */
  int samples;
  double seconds;
  double joules; /* that were used */
  bool lost;     /* the GPU fell off its bus */
} QmWatch;

#define QM_MONITOR_LINKS     18
#define QM_MONITOR_PROCESSES 16

typedef enum QmComputeMode
{
  QM_COMPUTE_UNKNOWN = -1,
  QM_COMPUTE_SHARED,
  QM_COMPUTE_EXCLUSIVE_THREAD,
  QM_COMPUTE_PROHIBITED,
  QM_COMPUTE_EXCLUSIVE
} QmComputeMode;

/* An NVLink that is up, and what is at its other end. */
typedef struct QmLink
{
  char bus[32]; /* the PCI address; empty where it is not known */
  bool to_switch;
} QmLink;

typedef struct QmProcess
{
  int64_t id;    /* in the name space of the driver */
  int64_t bytes; /* of the GPU's memory */
} QmProcess;

/* What changes rarely. */
typedef struct QmFacts
{
  char driver[32];
  int64_t total_bytes, free_bytes;
  double sm_mhz_max, memory_mhz_max;
  double watts_max;                        /* the limit in force */
  int pcie_generation, pcie_width;         /* now: less while idle */
  int pcie_generation_max, pcie_width_max; /* with this board */
  int n_links;                             /* NVLinks that are up */
  double link_gbs; /* 10^9 bytes a second, of one NVLink in one direction */
  QmLink links[QM_MONITOR_LINKS];
  int ecc, display, persistent; /* 0 off, 1 on */
  int mig; /* 1: split into instances; figures are of the whole GPU */
  QmComputeMode compute_mode;
  int n_processes; /* there may be more than fit below */
  QmProcess processes[QM_MONITOR_PROCESSES];
} QmFacts;

/* Opens the GPU at a PCI address, as QmDeviceInfo has it.  `library` is the
 * file to load; NULL: libnvidia-ml.so.1, wherever the system has it.
 * QM_STATUS_NOT_FOUND where there is no such library or GPU, QM_STATUS_DEVICE
 * where the library fails. */
QmStatus qm_monitor_open (const char *bus,
                          const char *library,
                          QmMonitor **monitor,
                          QmError *error);

/* Ends a watch that was begun; NULL is allowed. */
void qm_monitor_close (QmMonitor *monitor);

/* What is so now.  Takes a millisecond or a few. */
void qm_monitor_facts (const QmMonitor *monitor, QmFacts *facts);
void qm_monitor_read (const QmMonitor *monitor, QmReading *reading);

/* Reads about every 50 ms, in a thread, until qm_monitor_end(), and once at
 * the beginning and the end; a monitor watches one thing at a time. */
QmStatus qm_monitor_begin (QmMonitor *monitor, QmError *error);
void qm_monitor_end (QmMonitor *monitor, QmWatch *watch);

/* A watch in which nothing was seen. */
QmWatch qm_watch_nothing (void);

/* Joins what was seen in two watches, the one after the other. */
void qm_watch_join (QmWatch *watch, const QmWatch *later);

/* Names reasons of QmReading.throttle, as "power cap"; returns how many there
 * are, of which up to `max` are in words[]. */
size_t qm_throttle_words (int64_t throttle, const char *words[], size_t max);

/* Whether one of the reasons is that the GPU had to protect itself or stay
 * within a limit, so that another GPU of the kind might be faster. */
bool qm_throttle_slows (int64_t throttle);

#endif
