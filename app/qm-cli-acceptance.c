/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-acceptance.h"

#include "app/qm-cli-forecast.h"
#include "app/qm-cli-options.h"
#include "app/qm-cli-save.h"
#include "pricing/advice/qm-acceptance.h"
#include "pricing/papers/qm-acceptance-paper.h"

#include <glib/gi18n-lib.h>
#include <stdlib.h>
#include <string.h>

void
qm_cli_acceptance_add_options (QmCliAcceptance *typed, GArray *options)
{
  qm_cli_options_add_value (options, "acceptance", 0, _ ("FILE"),
                            _ ("Write what “qm-bench accept” holds the machine "
                               "against once it is delivered"),
                            &typed->file);
  qm_cli_options_add_value (options, "tolerance", 0, _ ("PERCENT"),
                            _ ("That it may then be below what is guaranteed; "
                               "5 if not given"),
                            &typed->tolerance);
}

void
qm_cli_acceptance_clear (QmCliAcceptance *typed)
{
  g_clear_pointer (&typed->file, g_strfreev);
  g_clear_pointer (&typed->tolerance, g_strfreev);
}

static gboolean
read_both (const QmCliAcceptance *typed,
           const char **file,
           double *tolerance,
           GError **error)
{
  const char *value;

  *tolerance = QM_ACCEPTANCE_TOLERANCE;
  if (!qm_cli_option_single ("acceptance", typed->file, file, error)
      || !qm_cli_option_single ("tolerance", typed->tolerance, &value, error))
    return FALSE;
  if (value != NULL
      && !qm_cli_read_number (value, QM_ACCEPTANCE_MOST_TOLERANCE, tolerance))
    return qm_cli_set_value_error (
        error, "tolerance", value,
        _ ("is not a percentage above 0 and up to 50"));
  return TRUE;
}

gboolean
qm_cli_acceptance_check (const QmCliAcceptance *typed, GError **error)
{
  const char *file;
  double tolerance;

  return read_both (typed, &file, &tolerance, error);
}

gboolean
qm_cli_acceptance_write (const QmCliAcceptance *typed,
                         QmQuestion *question,
                         const QmCatalog *catalog,
                         const QmRequest *request,
                         gboolean named,
                         gboolean replace,
                         QmPaper *paper,
                         GError **error)
{
  g_autoptr (GBytes) bytes = NULL;
  QmAcceptance acceptance;
  const char *file;
  double tolerance;
  char *text;

  if (!read_both (typed, &file, &tolerance, error))
    return FALSE;
  if (file == NULL)
    return TRUE;
  for (guint i = 0; i < request->trainings->len; i++)
    qm_cli_forecast_engine (
        question,
        g_array_index (request->trainings, QmRequestedTraining, i).model->id,
        request->gpu, request->gpus);
  qm_acceptance_of_request (request, question->forecasts, named, tolerance,
                            &acceptance);
  text = qm_acceptance_format (&acceptance);
  if (text == NULL)
    g_error ("out of memory");
  bytes = g_bytes_new_with_free_func (text, strlen (text), free, text);
  if (!qm_cli_save (bytes, file, replace, error))
    return FALSE;
  if (paper != NULL)
    qm_paper_add_acceptance (paper, &acceptance, catalog, file);
  return TRUE;
}
