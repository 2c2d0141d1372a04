/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/host/host-limit.h"

#include "kernels/cgroup.h"

#include <math.h>
#include <string.h>

/* The number behind a word at the beginning of a line; `absent` without. */
static double
number_behind_word (const char *root,
                    const char *path,
                    const char *word,
                    double absent)
{
  FILE *file = qm_cgroup_open (root, path);
  char line[256];
  size_t length = strlen (word);
  double number = absent;

  while (file != NULL && fgets (line, sizeof line, file) != NULL)
    if (strncmp (line, word, length) == 0
        && (line[length] == ' ' || line[length] == ':')
        && sscanf (line + length + 1, "%lf", &number) == 1)
      break;
  if (file != NULL)
    fclose (file);
  return number;
}

/* What a group may still take: its limit without what it uses, but for the
 * pages of files that it would drop first. */
static double
left_of_group (const char *root, const char *folder, bool second_version)
{
  char stat[QM_CGROUP_PATH_SIZE];
  double limit = -1, used = 0, unused, files;

  /* "max" is no number. */
  if (qm_cgroup_read (root, folder,
                      second_version ? "memory.max" : "memory.limit_in_bytes",
                      &limit, &unused)
          < 1
      || limit < 0
      || snprintf (stat, sizeof stat, "%s/memory.stat", folder)
             >= (int) sizeof stat)
    return INFINITY;
  qm_cgroup_read (root, folder,
                  second_version ? "memory.current" : "memory.usage_in_bytes",
                  &used, &unused);
  files = number_behind_word (
      root, stat, second_version ? "inactive_file" : "total_inactive_file", 0);
  return fmax (limit - fmax (used - files, 0), 0);
}

uint64_t
qm_host_available (const char *root)
{
  double kibibytes =
      number_behind_word (root, "/proc/meminfo", "MemAvailable", 0);
  double left = qm_cgroup_least (root, "memory", left_of_group);

  return (uint64_t) fmin (kibibytes * 1024, left);
}
