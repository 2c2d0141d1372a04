/* SPDX-License-Identifier: Apache-2.0 */

/* The file in which mappings are remembered. */

#include "config.h"

#include "pricing/formats/qm-csv-mapping.h"

#include "data/file.h"
#include "data/text.h"

#include <errno.h>
#include <glib/gi18n-lib.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES ((size_t) 1024 * 1024)

/* What is in the file; NULL, with the reason, where it is none of ours. */
static char *
read_mapping_file (const char *path, QmError *problem)
{
  char *text, *copy;
  size_t length;

  if (qm_text_read_bytes (path, MOST_BYTES, &text, &length, problem) != QM_OK)
    return NULL;
  copy = strlen (text) == length ? g_strdup (text) : NULL;
  free (text);
  if (copy != NULL && qm_csv_mappings_check (copy))
    return copy;
  qm_error_set (problem, QM_STATUS_PARSE, path, 0, 0, "%s",
                _ ("these are no mappings of columns"));
  g_free (copy);
  return NULL;
}

char *
qm_csv_mappings_load (const char *path, GArray *problems)
{
  QmError problem = { 0 };
  char *text;

  g_return_val_if_fail (path != NULL, NULL);

  if (!qm_file_exists (path))
    return NULL;
  text = read_mapping_file (path, &problem);
  if (text == NULL && problems != NULL)
    g_array_append_val (problems, problem);
  return text;
}

/* Puts aside what somebody may want to mend, under a name that is free. */
static gboolean
set_aside (const char *path, GError **error)
{
  g_autofree char *name = g_strconcat (path, ".damaged", NULL);

  for (int i = 2; qm_file_exists (name); i++)
    {
      g_free (name);
      name = g_strdup_printf ("%s.damaged-%d", path, i);
    }
  if (g_rename (path, name) == 0)
    return TRUE;
  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (errno),
               _ ("cannot write %s: %s"), path, g_strerror (errno));
  return FALSE;
}

gboolean
qm_csv_mappings_save (const char *path, const char *json, GError **error)
{
  g_autofree char *folder = NULL;
  g_autofree char *before = NULL;
  QmError problem = { 0 };

  g_return_val_if_fail (path != NULL && json != NULL, FALSE);

  folder = g_path_get_dirname (path);
  if (g_mkdir_with_parents (folder, 0700) != 0)
    {
      g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (errno),
                   _ ("cannot write %s: %s"), folder, g_strerror (errno));
      return FALSE;
    }
  if (qm_file_exists (path)
      && (before = read_mapping_file (path, &problem)) == NULL
      && !set_aside (path, error))
    return FALSE;
  return g_file_set_contents_full (path, json, -1,
                                   G_FILE_SET_CONTENTS_CONSISTENT, 0600, error);
}
