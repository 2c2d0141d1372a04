/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/machine/qm-share.h"

#include "data/result-terms.h"
#include "data/results-file.h"
#include "data/shared.h"
#include "pricing/advice/qm-prose.h"
#include "ui/machine/qm-machine-text.h"

#include <glib/gi18n-lib.h>
#include <limits.h>

struct _QmShare
{
  QmResults *results;
  const QmResult **chosen;
  gsize n;
};

static gboolean
fail (GError **error, const QmError *problem)
{
  if (problem->file[0] != '\0')
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s:%d: %s",
                 problem->file, problem->line, problem->message);
  else
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s", problem->message);
  return FALSE;
}

static gboolean
set_nothing (GError **error)
{
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                       _ ("nothing was measured here of a model and a GPU that "
                          "the catalog has"));
  return FALSE;
}

static gboolean
load (QmShare *self,
      const QmCatalog *catalog,
      const char *path,
      const char *model,
      GError **error)
{
  QmError problem = { 0 };
  QmStatus status;

  self->results = qm_results_new ();
  if (self->results == NULL)
    g_error ("out of memory");
  if (qm_results_read (self->results, path, NULL, NULL, &problem) != QM_OK)
    return fail (error, &problem);
  status = qm_shared_choose (self->results, catalog, model, &self->chosen,
                             &self->n, &problem);
  if (status == QM_STATUS_NOT_FOUND)
    return set_nothing (error);
  return status == QM_OK || fail (error, &problem);
}

QmShare *
qm_share_new (const QmCatalog *catalog,
              const char *path,
              const char *model,
              GError **error)
{
  g_autoptr (QmShare) self = g_new0 (QmShare, 1);
  char own[PATH_MAX];

  g_return_val_if_fail (catalog != NULL, NULL);

  if (path == NULL)
    {
      if (!qm_results_default_path (own, sizeof own)
          || !g_file_test (own, G_FILE_TEST_EXISTS))
        {
          set_nothing (error);
          return NULL;
        }
      path = own;
    }
  return load (self, catalog, path, model, error) ? g_steal_pointer (&self)
                                                  : NULL;
}

void
qm_share_free (QmShare *self)
{
  if (self == NULL)
    return;
  free (self->chosen);
  qm_results_free (self->results);
  g_free (self);
}

const QmResult *const *
qm_share_get_results (const QmShare *self, guint *n)
{
  *n = (guint) self->n;
  return self->chosen;
}

GBytes *
qm_share_make (const QmShare *self, const char *const *models, GError **error)
{
  g_autofree const QmResult **given = g_new0 (const QmResult *, self->n + 1);
  QmError problem = { 0 };
  gsize n = 0, length;
  char *text;

  for (gsize i = 0; i < self->n; i++)
    if (models == NULL || g_strv_contains (models, self->chosen[i]->model))
      given[n++] = self->chosen[i];
  if (qm_shared_make (given, n, &text, &length, &problem) != QM_OK)
    {
      fail (error, &problem);
      return NULL;
    }
  return g_bytes_new_with_free_func (text, length, free, text);
}

char *
qm_share_device (const QmResult *result)
{
  if (result->nodes == 1)
    return g_strdup_printf ("%d × %s", result->gpus, result->device);
  return g_strdup_printf (
      /* Translators: how many machines, GPUs of each, which GPU. */
      ngettext ("%d machine of %d × %s", "%d machines of %d × %s",
                (gulong) result->nodes),
      result->nodes, result->gpus / result->nodes, result->device);
}

char *
qm_share_software (const QmResult *result)
{
  const QmMeasurement said = { .engine = qm_result_engine (result),
                               .engine_version = result->version };
  g_autofree char *engine = qm_prose_engine (&said);

  if (engine == NULL)
    engine = g_strdup (result->engine);
  if (*result->driver == '\0')
    return g_steal_pointer (&engine);
  /* Translators: software with its version, version of NVIDIA's driver. */
  return g_strdup_printf (_ ("%s, driver %s"), engine, result->driver);
}

char *
qm_share_method (const QmResult *result)
{
  g_autofree char *method =
      qm_machine_text_method (result->settings, result->checkpointing,
                              result->offloading ? NULL : result->sharding,
                              result->offloading ? result->sharding : NULL);

  /* Translators: methods, number of samples. */
  return g_strdup_printf (_ ("%s, micro-batch %" G_GINT64_FORMAT), method,
                          (gint64) result->micro_batch);
}

const char *
qm_share_statement (void)
{
  return _ ("I measured these results, as their fields say, and give them to "
            "everybody under CC0 1.0.");
}

const char *
qm_share_assurance (void)
{
  return _ ("Model, device, software, method, times and the day: nothing of "
            "you, and of your machine nothing that tells it from others of its "
            "kind.");
}

char *
qm_share_where (void)
{
  /* Translators: the name of a form, which is in English. */
  return g_strdup_printf (
      _ ("Attach the file to an issue of the project, under "
         "“%s”: a maintainer holds it against the hardware "
         "and what is predicted, and takes it into the "
         "catalog for everybody."),
      QM_SHARED_FORM);
}
