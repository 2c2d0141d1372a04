/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/qm-guide.h"

#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"

/* (transfer full) (nullable) */
static char *
find_in (const char *folder, const char *language)
{
  g_autofree char *path =
      g_build_filename (folder, "guide", language, "index.html", NULL);

  return g_file_test (path, G_FILE_TEST_IS_REGULAR) ? g_steal_pointer (&path)
                                                    : NULL;
}

char *
qm_guide_find (const char *folder, const char *const *languages)
{
  g_return_val_if_fail (folder != NULL && languages != NULL, NULL);

  for (guint i = 0; languages[i] != NULL; i++)
    {
      char *path;

      /* "C" is the last; words of the environment are no paths. */
      if (g_str_equal (languages[i], "C"))
        break;
      if (languages[i][0] == '\0'
          || strspn (languages[i], LETTERS) != strlen (languages[i]))
        continue;
      path = find_in (folder, languages[i]);
      if (path != NULL)
        return path;
    }
  return find_in (folder, "en");
}
