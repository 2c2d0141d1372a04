/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/qm-guide.h"

#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"

/* (transfer full) (nullable) */
static char *
find_in (const char *folder, const char *language, const char *term)
{
  g_autofree char *path =
      g_build_filename (folder, "guide", language,
                        term != NULL ? "glossary.html" : "index.html", NULL);
  g_autofree char *uri = NULL;

  if (!g_file_test (path, G_FILE_TEST_IS_REGULAR))
    return NULL;
  uri = g_filename_to_uri (path, NULL, NULL);
  if (uri == NULL || term == NULL)
    return g_steal_pointer (&uri);
  return g_strconcat (uri, "#", term, NULL);
}

char *
qm_guide_find (const char *folder,
               const char *const *languages,
               const char *term)
{
  g_return_val_if_fail (folder != NULL && languages != NULL, NULL);

  for (guint i = 0; languages[i] != NULL; i++)
    {
      char *uri;

      /* "C" is the last; words of the environment are no paths. */
      if (g_str_equal (languages[i], "C"))
        break;
      if (languages[i][0] == '\0'
          || strspn (languages[i], LETTERS) != strlen (languages[i]))
        continue;
      uri = find_in (folder, languages[i], term);
      if (uri != NULL)
        return uri;
    }
  return find_in (folder, "en", term);
}
