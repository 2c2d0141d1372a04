/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/machine/qm-results-stamp.h"

#include "data/datadir.h"
#include "data/results-file.h"

#include <glib/gstdio.h>
#include <limits.h>
#include <string.h>

/* FNV-1a: http://www.isthe.com/chongo/tech/comp/fnv/ */
#define FNV_BASIS 0xcbf29ce484222325u
#define FNV_PRIME 0x100000001b3u

static guint64
mix (guint64 stamp, const void *data, gsize size)
{
  const guint8 *bytes = data;

  for (gsize i = 0; i < size; i++)
    stamp = (stamp ^ bytes[i]) * FNV_PRIME;
  return stamp;
}

/* Of one file; 0 where there is none. */
static guint64
stamp_of (const char *path)
{
  guint64 stamp = FNV_BASIS;
  GStatBuf about;

  if (g_stat (path, &about) != 0)
    return 0;
  stamp = mix (stamp, path, strlen (path));
  stamp = mix (stamp, &about.st_ino, sizeof about.st_ino);
  stamp = mix (stamp, &about.st_size, sizeof about.st_size);
  return mix (stamp, &about.st_mtim, sizeof about.st_mtim);
}

guint64
qm_results_stamp (void)
{
  g_autofree char *folder = NULL;
  g_autoptr (GDir) dir = NULL;
  char user[PATH_MAX];
  char own[PATH_MAX];
  guint64 sum = 0;
  const char *name;

  if (!qm_user_data_dir (user, sizeof user))
    return 0;
  if (!qm_results_default_path (own, sizeof own))
    own[0] = '\0';
  folder = g_build_filename (user, "measurements", NULL);
  dir = g_dir_open (folder, 0, NULL);
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      /* The order of a folder says nothing. */
      if (g_str_has_suffix (name, ".jsonl") && !g_str_equal (path, own))
        sum += stamp_of (path);
    }
  return sum;
}
