/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-catalog.h"
#include "app/qm-cli-options.h"
#include "app/qm-cli-output.h"
#include "app/qm-cli-save.h"
#include "app/qm-cli-share.h"
#include "app/qm-cli-table.h"
#include "app/qm-cli.h"
#include "data/file-kind.h"
#include "pricing/qm-format.h"
#include "ui/machine/qm-share.h"

#include <glib/gi18n-lib.h>

/* The values of the options as they were typed. */
typedef struct
{
  GStrv model, results, output;
  gboolean sign_off, force;
} Typed;

static void
clear_typed_share (Typed *typed)
{
  g_clear_pointer (&typed->model, g_strfreev);
  g_clear_pointer (&typed->results, g_strfreev);
  g_clear_pointer (&typed->output, g_strfreev);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Typed, clear_typed_share)

static void
append_results (const QmShare *share, GString *out, const QmCliScreen *screen)
{
  const QmCliColumn columns[] = {
    { _ ("Model"), .shrink = 12 },
    { _ ("GPUs"), .shrink = 14 },
    { _ ("Software"), .drop = 2, .shrink = 20 },
    { _ ("Method"), .shrink = 20 },
    { _ ("Time"), QM_CLI_RIGHT },
    { _ ("Measured"), .drop = 1 },
  };
  g_autoptr (QmCliTable) table =
      qm_cli_table_new (columns, G_N_ELEMENTS (columns));
  guint n;
  const QmResult *const *results = qm_share_get_results (share, &n);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *device = qm_share_device (results[i]);
      g_autofree char *software = qm_share_software (results[i]);
      g_autofree char *method = qm_share_method (results[i]);
      g_autofree char *days = qm_format_days (results[i]->days);
      g_autofree char *day = qm_cli_date_text (results[i]->measured_on);
      const char *cells[] = {
        results[i]->model, device, software, method, days, day
      };

      qm_cli_table_add_row (table, QM_CLI_PLAIN, cells);
    }
  qm_cli_table_append (table, out, screen);
  g_string_append_c (out, '\n');
}

static gboolean
show_share (const QmShare *share, const char *output, GError **error)
{
  QmCliScreen screen = qm_cli_screen ();
  g_autoptr (GString) out = g_string_new (NULL);
  g_autofree char *where = qm_share_where ();
  g_autofree char *next = NULL;

  append_results (share, out, &screen);
  qm_cli_append_paragraph (out, &screen, QM_CLI_PLAIN, "", 0,
                           qm_share_assurance ());
  if (output == NULL)
    /* Translators: a sentence. */
    next = g_strdup_printf (_ ("To write the file, say with --sign-off "
                               "--output FILE: %s"),
                            qm_share_statement ());
  else
    {
      g_autofree char *name = g_filename_display_name (output);

      /* Translators: file name. */
      next = g_strdup_printf (_ ("Written: %s. Read it, it is text."), name);
    }
  qm_cli_append_paragraph (out, &screen, QM_CLI_PLAIN, "", 0, next);
  qm_cli_append_paragraph (out, &screen, QM_CLI_PLAIN, "", 0, where);
  return qm_cli_write_text (out->str, error);
}

/* Over nothing but a file of this kind: the results themselves look alike. */
static gboolean
write_file (const QmShare *share,
            const char *output,
            gboolean force,
            GError **error)
{
  g_autoptr (GBytes) bytes = qm_share_make (share, NULL, error);

  return bytes != NULL
         && qm_cli_save (bytes, output,
                         force
                             || qm_file_is_replaceable (output, QM_FILE_SHARED),
                         error);
}

static gboolean
check_share_options (const Typed *typed, const char *output, GError **error)
{
  if (typed->sign_off && output == NULL)
    g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                         _ ("--sign-off needs --output, which names the file "
                            "to share"));
  else if (!typed->sign_off && output != NULL)
    /* Translators: a sentence. */
    g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                 _ ("with --sign-off you say: %s"), qm_share_statement ());
  else
    return TRUE;
  return FALSE;
}

static int
share_results (const Typed *typed, GError **error)
{
  const char *model, *path, *output;
  g_autoptr (QmCatalog) catalog = NULL;
  g_autoptr (QmShare) share = NULL;
  GError *problem = NULL;

  if (!qm_cli_option_single ("model", typed->model, &model, error)
      || !qm_cli_option_single ("results", typed->results, &path, error)
      || !qm_cli_option_single ("output", typed->output, &output, error)
      || !check_share_options (typed, output, error)
      || (catalog = qm_cli_catalog_load (error)) == NULL
      || (model != NULL && !qm_cli_catalog_check_model (catalog, model, error)))
    return QM_CLI_EXIT_BAD_INPUT;
  share = qm_share_new (catalog, path, model, &problem);
  if (share == NULL)
    {
      gboolean nothing =
          g_error_matches (problem, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);

      g_propagate_error (error, problem);
      return nothing ? QM_CLI_EXIT_NOTHING_FITS : QM_CLI_EXIT_BAD_INPUT;
    }
  if (output != NULL && !write_file (share, output, typed->force, error))
    return QM_CLI_EXIT_BAD_INPUT;
  if (output != NULL && g_str_equal (output, "-"))
    return QM_CLI_EXIT_FOUND;
  return show_share (share, output, error) ? QM_CLI_EXIT_FOUND
                                           : QM_CLI_EXIT_BAD_INPUT;
}

int
qm_cli_share (const char *const *arguments, GError **error)
{
  const QmCliVerb verb = {
    .name = "share",
    .summary = _ ("Makes a small file of what you measured, for everybody, "
                  "and says where to send it;\nwithout --sign-off it shows "
                  "what would be in it."),
    .description = _ ("Exit status: 0 done, 1 nothing to share, 2 bad input."),
  };
  g_auto (Typed) typed = { 0 };
  g_autoptr (GArray) options = qm_cli_options_new ();
  int status;

  qm_cli_options_add_value (options, "model", 0, _ ("MODEL"),
                            _ ("Of this model alone"), &typed.model);
  qm_cli_options_add_value (options, "results", 0, _ ("FILE"),
                            _ ("A results file; this machine’s if not given"),
                            &typed.results);
  qm_cli_options_add_flag (options, "sign-off",
                           _ ("Say that you measured it and give it away"),
                           &typed.sign_off);
  qm_cli_options_add_value (options, "output", 'o', _ ("FILE"),
                            _ ("Where to; - for standard output"),
                            &typed.output);
  qm_cli_options_add_flag (options, "force",
                           _ ("Replace a file that is no such file"),
                           &typed.force);
  if (!qm_cli_options_parse (&verb, options, arguments, NULL, &status, error))
    return status;
  return share_results (&typed, error);
}
