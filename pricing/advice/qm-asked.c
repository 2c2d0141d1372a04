/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-asked-private.h"

#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

G_DEFINE_QUARK (qm - asked - error - quark, qm_asked_error)

QmAsked *
qm_asked_new (const char *const *models, const QmQuestion *question)
{
  QmAsked *asked = g_new0 (QmAsked, 1);

  asked->models =
      models != NULL ? g_strdupv ((GStrv) models) : g_new0 (char *, 1);
  asked->question =
      question != NULL ? qm_question_copy (question) : qm_question_new ();
  return asked;
}

void
qm_asked_free (QmAsked *asked)
{
  if (asked == NULL)
    return;
  g_strfreev (asked->models);
  qm_question_free (asked->question);
  g_free (asked);
}

static gboolean
set_unknown (GError **error, const char *form, const char *id)
{
  g_set_error (error, QM_ASKED_ERROR, QM_ASKED_ERROR_UNKNOWN, form, id);
  return FALSE;
}

gboolean
qm_asked_check (const QmAsked *asked, const QmCatalog *catalog, GError **error)
{
  const QmQuestion *question;

  g_return_val_if_fail (asked != NULL && catalog != NULL, FALSE);

  question = asked->question;
  for (guint i = 0; asked->models[i] != NULL; i++)
    if (qm_catalog_model (catalog, asked->models[i]) == NULL)
      return set_unknown (error, _ ("unknown model “%s”"), asked->models[i]);
  for (guint i = 0; question->runs != NULL && i < question->runs->len; i++)
    {
      const char *id = g_array_index (question->runs, QmRun, i).model;

      if (qm_catalog_model (catalog, id) == NULL)
        return set_unknown (error, _ ("unknown model “%s”"), id);
    }
  for (guint i = 0; question->gpus != NULL && question->gpus[i] != NULL; i++)
    if (qm_catalog_gpu (catalog, question->gpus[i]) == NULL)
      return set_unknown (error, _ ("unknown GPU “%s”"), question->gpus[i]);
  for (guint i = 0; question->uses != NULL && i < question->uses->len; i++)
    {
      const char *id = g_array_index (question->uses, QmUse, i).gpu;

      if (qm_catalog_gpu (catalog, id) == NULL)
        return set_unknown (error, _ ("unknown GPU “%s”"), id);
    }
  return TRUE;
}

static void
set_file_error (GError **error, const char *path, int number)
{
  g_set_error (error, G_FILE_ERROR, (gint) g_file_error_from_errno (number),
               "%s: %s", path, g_strerror (number));
}

/* Reads at most `size` bytes; -1 with an error. */
static gssize
read_all (int descriptor, char *buffer, gsize size)
{
  gsize n = 0;

  while (n < size)
    {
      gssize got = read (descriptor, buffer + n, size - n);

      if (got < 0 && errno == EINTR)
        continue;
      if (got < 0)
        return -1;
      if (got == 0)
        break;
      n += (gsize) got;
    }
  return (gssize) n;
}

QmAsked *
qm_asked_load (const char *path, GError **error)
{
  g_autofree char *text = g_malloc (QM_ASKED_MAX_BYTES + 1);
  QmAsked *asked = NULL;
  struct stat about;
  gssize n;
  int descriptor;

  g_return_val_if_fail (path != NULL, NULL);

  descriptor = g_open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
  if (descriptor < 0)
    {
      set_file_error (error, path, errno);
      return NULL;
    }
  if (fstat (descriptor, &about) == 0 && !S_ISREG (about.st_mode))
    g_set_error (error, QM_ASKED_ERROR, QM_ASKED_ERROR_FORMAT,
                 _ ("%s: is not a file"), path);
  else if ((n = read_all (descriptor, text, QM_ASKED_MAX_BYTES + 1)) < 0)
    set_file_error (error, path, errno);
  else
    asked = qm_asked_read (text, (gsize) n, path, error);
  close (descriptor);
  return asked;
}
