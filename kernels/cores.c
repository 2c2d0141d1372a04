/* SPDX-License-Identifier: Apache-2.0 */

#define _GNU_SOURCE

#include "kernels/cores.h"

#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CPUS 8192
#define MAX_PATH 4096

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

static FILE *
open_file (const char *root, const char *path)
{
  char name[MAX_PATH];

  if (snprintf (name, sizeof name, "%s%s", root, path) >= (int) sizeof name)
    return NULL;
  return fopen (name, "re");
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
  file = open_file (root, path);
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

/* Up to two numbers at the beginning of a file; how many there are. */
static int
read_numbers (const char *root,
              const char *folder,
              const char *file_name,
              double *first,
              double *second)
{
  char path[MAX_PATH + 32];
  FILE *file;
  int n = 0;

  snprintf (path, sizeof path, "%s/%s", folder, file_name);
  file = open_file (root, path);
  if (file != NULL)
    {
      n = fscanf (file, "%lf %lf", first, second);
      fclose (file);
    }
  return n;
}

/* The quota may be "max" or -1, which is no limit. */
static double
read_quota (const char *root, const char *folder, bool second_version)
{
  double quota = -1, period = 0, unused;

  if (second_version)
    read_numbers (root, folder, "cpu.max", &quota, &period);
  else
    {
      read_numbers (root, folder, "cpu.cfs_quota_us", &quota, &unused);
      read_numbers (root, folder, "cpu.cfs_period_us", &period, &unused);
    }
  return quota > 0 && period > 0 ? quota / period : INFINITY;
}

/* The least quota of `mount` + `group` and of every folder between them. */
static double
least_quota (const char *root,
             const char *mount,
             const char *group,
             bool second_version)
{
  char folder[MAX_PATH];
  double least = INFINITY;
  size_t shortest = strlen (mount);

  if (snprintf (folder, sizeof folder, "%s%s", mount, group)
      >= (int) sizeof folder)
    return INFINITY;
  for (;;)
    {
      char *slash = strrchr (folder, '/');

      least = fmin (least, read_quota (root, folder, second_version));
      if (strlen (folder) <= shortest || slash == NULL)
        return least;
      *slash = '\0';
    }
}

/* Whether a list like "cpu,cpuacct" has the controller `cpu`. */
static bool
has_cpu (const char *controllers)
{
  for (;;)
    {
      size_t length = strcspn (controllers, ",");

      if (length == 3 && strncmp (controllers, "cpu", 3) == 0)
        return true;
      if (controllers[length] == '\0')
        return false;
      controllers += length + 1;
    }
}

/* Lines are number:controllers:/group, without controllers in version 2. */
double
qm_cores_quota (const char *root)
{
  FILE *file = open_file (root, "/proc/self/cgroup");
  char line[MAX_PATH], mount[MAX_PATH + 32];
  double least = INFINITY;

  while (file != NULL && fgets (line, sizeof line, file) != NULL)
    {
      char *controllers = strchr (line, ':');
      char *group = controllers != NULL ? strchr (controllers + 1, ':') : NULL;

      if (group == NULL)
        continue;
      *group++ = '\0';
      group[strcspn (group, "\n")] = '\0';
      controllers++;
      if (*controllers == '\0')
        {
          least =
              fmin (least, least_quota (root, "/sys/fs/cgroup", group, true));
          least = fmin (least, least_quota (root, "/sys/fs/cgroup/unified",
                                            group, true));
        }
      else if (has_cpu (controllers))
        {
          snprintf (mount, sizeof mount, "/sys/fs/cgroup/%s", controllers);
          least = fmin (least, least_quota (root, mount, group, false));
        }
    }
  if (file != NULL)
    fclose (file);
  return least;
}
