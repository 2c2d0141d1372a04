/* SPDX-License-Identifier: Apache-2.0 */

#define _GNU_SOURCE

#include "kernels/cgroup.h"

#include <math.h>
#include <string.h>

FILE *
qm_cgroup_open (const char *root, const char *path)
{
  char name[QM_CGROUP_PATH_SIZE];

  if (snprintf (name, sizeof name, "%s%s", root, path) >= (int) sizeof name)
    return NULL;
  return fopen (name, "re");
}

int
qm_cgroup_read (const char *root,
                const char *folder,
                const char *file_name,
                double *first,
                double *second)
{
  char path[QM_CGROUP_PATH_SIZE + 32];
  FILE *file;
  int n = 0;

  snprintf (path, sizeof path, "%s/%s", folder, file_name);
  file = qm_cgroup_open (root, path);
  if (file != NULL)
    {
      n = fscanf (file, "%lf %lf", first, second);
      fclose (file);
    }
  return n;
}

/* The least limit of `mount` + `group` and of every folder between them. */
static double
least_limit (const char *root,
             const char *mount,
             const char *group,
             bool second_version,
             QmCgroupLimit limit)
{
  char folder[QM_CGROUP_PATH_SIZE];
  double least = INFINITY;
  size_t shortest = strlen (mount);

  if (snprintf (folder, sizeof folder, "%s%s", mount, group)
      >= (int) sizeof folder)
    return INFINITY;
  for (;;)
    {
      char *slash = strrchr (folder, '/');

      least = fmin (least, limit (root, folder, second_version));
      if (strlen (folder) <= shortest || slash == NULL)
        return least;
      *slash = '\0';
    }
}

/* Whether a list like "cpu,cpuacct" has a controller. */
static bool
has_controller (const char *controllers, const char *wanted)
{
  for (;;)
    {
      size_t length = strcspn (controllers, ",");

      if (length == strlen (wanted)
          && strncmp (controllers, wanted, length) == 0)
        return true;
      if (controllers[length] == '\0')
        return false;
      controllers += length + 1;
    }
}

/* Lines are number:controllers:/group, without controllers in version 2. */
double
qm_cgroup_least (const char *root, const char *controller, QmCgroupLimit limit)
{
  FILE *file = qm_cgroup_open (root, "/proc/self/cgroup");
  char line[QM_CGROUP_PATH_SIZE], mount[QM_CGROUP_PATH_SIZE + 32];
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
          least = fmin (least, least_limit (root, "/sys/fs/cgroup", group, true,
                                            limit));
          least = fmin (least, least_limit (root, "/sys/fs/cgroup/unified",
                                            group, true, limit));
        }
      else if (has_controller (controllers, controller))
        {
          snprintf (mount, sizeof mount, "/sys/fs/cgroup/%s", controllers);
          least = fmin (least, least_limit (root, mount, group, false, limit));
        }
    }
  if (file != NULL)
    fclose (file);
  return least;
}
