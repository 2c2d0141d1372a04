/* SPDX-License-Identifier: Apache-2.0 */

#define _GNU_SOURCE

#include "kernels/cores.h"

#include "kernels/cgroup.h"

#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CPUS 8192

/* The set of processors of the calling thread, or NULL. */
static cpu_set_t *
allowed_cpus (size_t *size)
{
  /* The kernel refuses a set that is smaller than its own. */
  for (int cpus = 1024; cpus <= MAX_CPUS; cpus *= 2)
    {
      cpu_set_t *set = CPU_ALLOC (cpus);

      *size = CPU_ALLOC_SIZE (cpus);
      if (set == NULL)
        return NULL;
      if (sched_getaffinity (0, *size, set) == 0)
        return set;
      CPU_FREE (set);
    }
  return NULL;
}

/* Whether processor `cpu` is the first in the set of those that share its core.
 * The list is like "0-1,64-65". */
static bool
is_first_of_core (const char *root, int cpu, const cpu_set_t *set, size_t size)
{
  char path[128];
  FILE *file;
  int first, last;
  bool found = false, other = false;

  snprintf (path, sizeof path,
            "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
  file = qm_cgroup_open (root, path);
  while (file != NULL && fscanf (file, "%d", &first) == 1)
    {
      last = first;
      if (fscanf (file, "-%d", &last) == 1 && last > MAX_CPUS)
        last = MAX_CPUS;
      for (int i = first < 0 ? 0 : first; i <= last && i < cpu; i++)
        other = other || CPU_ISSET_S ((size_t) i, size, set);
      found = found || (first <= cpu && cpu <= last);
      if (fgetc (file) != ',')
        break;
    }
  if (file != NULL)
    fclose (file);
  /* A list without the processor itself is not what we take it for. */
  return !found || !other;
}

size_t
qm_cores_list (const char *root, int *cpus, size_t max)
{
  size_t size, n = 0;
  cpu_set_t *set = allowed_cpus (&size);

  if (set == NULL)
    return 0;
  for (int cpu = 0; cpu < (int) (size * 8); cpu++)
    if (CPU_ISSET_S ((size_t) cpu, size, set)
        && is_first_of_core (root, cpu, set, size))
      {
        if (n < max)
          cpus[n] = cpu;
        n++;
      }
  CPU_FREE (set);
  return n;
}

/* The quota may be "max" or -1, which is no limit. */
static double
read_quota (const char *root, const char *folder, bool second_version)
{
  double quota = -1, period = 0, unused;

  if (second_version)
    qm_cgroup_read (root, folder, "cpu.max", &quota, &period);
  else
    {
      qm_cgroup_read (root, folder, "cpu.cfs_quota_us", &quota, &unused);
      qm_cgroup_read (root, folder, "cpu.cfs_period_us", &period, &unused);
    }
  return quota > 0 && period > 0 ? quota / period : INFINITY;
}

double
qm_cores_quota (const char *root)
{
  return qm_cgroup_least (root, "cpu", read_quota);
}
