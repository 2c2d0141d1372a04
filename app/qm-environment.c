/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "app/qm-environment.h"

#include <glib/gi18n-lib.h>
#include <locale.h>

/* A path beside the program's directory; NULL where that is unknown.
 * (transfer full) */
static char *
beside_program (const char *path)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *directory = NULL;
  g_autofree char *joined = NULL;

  if (program == NULL)
    return NULL;

  directory = g_path_get_dirname (program);
  joined = g_build_filename (directory, "..", path, NULL);

  return g_canonicalize_filename (joined, NULL);
}

/* Whether a directory holds a translation, as <language>/LC_MESSAGES/... */
static gboolean
has_translation (const char *directory)
{
  g_autoptr (GDir) dir = g_dir_open (directory, 0, NULL);
  const char *language;

  while (dir != NULL && (language = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *file =
          g_build_filename (directory, language, "LC_MESSAGES",
                            GETTEXT_PACKAGE ".mo", NULL);

      if (g_file_test (file, G_FILE_TEST_EXISTS))
        return TRUE;
    }

  return FALSE;
}

void
qm_environment_init_locale (void)
{
  g_autofree char *built = beside_program ("po");

  setlocale (LC_ALL, "");
  bindtextdomain (GETTEXT_PACKAGE, built != NULL && has_translation (built)
                                       ? built
                                       : QM_LOCALEDIR);
  bind_textdomain_codeset (GETTEXT_PACKAGE, "UTF-8");
  textdomain (GETTEXT_PACKAGE);
}

/* A schema of the build directory goes first: one that was installed may be of
 * another version.  (transfer full) (nullable) */
static GSettingsSchemaSource *
schema_source (void)
{
  GSettingsSchemaSource *installed = g_settings_schema_source_get_default ();
  g_autofree char *directory = beside_program ("data/desktop");
  GSettingsSchemaSource *built = NULL;

  if (directory != NULL)
    built = g_settings_schema_source_new_from_directory (directory, installed,
                                                         FALSE, NULL);
  if (built != NULL)
    return built;

  return installed != NULL ? g_settings_schema_source_ref (installed) : NULL;
}

GSettings *
qm_environment_settings (void)
{
  g_autoptr (GSettingsSchemaSource) source = schema_source ();
  g_autoptr (GSettingsSchema) schema = NULL;

  if (source != NULL)
    schema = g_settings_schema_source_lookup (source, QM_APP_ID, TRUE);
  if (schema == NULL)
    return NULL;

  return g_settings_new_full (schema, NULL, NULL);
}
