/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/ui/folder.h"

#include <glib/gstdio.h>

void
remove_folder (const char *path)
{
  g_autoptr (GDir) folder = g_dir_open (path, 0, NULL);
  const char *name;

  while (folder != NULL && (name = g_dir_read_name (folder)) != NULL)
    {
      g_autofree char *entry = g_build_filename (path, name, NULL);

      remove_folder (entry);
    }
  g_remove (path);
}
