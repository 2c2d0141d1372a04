/* SPDX-License-Identifier: Apache-2.0 */

#include "data/results-adopt.h"

#include "data/file.h"
#include "data/results-file.h"
#include "data/text.h"

#include <stdlib.h>
#include <string.h>

/* What is written. */
typedef struct Copy
{
  char *text; /* NULL: memory is out */
  size_t length, size;
} Copy;

QmWhere
qm_result_where (const QmResult *result, const QmIdentity *here)
{
  return qm_identity_where (here, result->machine, result->machine_gpus);
}

size_t
qm_results_count_unsaid (const QmResults *results)
{
  size_t n, count = 0;
  const QmResult *all = qm_results_list (results, &n);

  for (size_t i = 0; i < n; i++)
    count += all[i].machine[0] == '\0' && all[i].machine_gpus[0] == '\0';
  return count;
}

static void
put_bytes (Copy *copy, const char *text, size_t n)
{
  if (copy->text == NULL)
    return;
  if (copy->size - copy->length < n)
    {
      size_t size = 2 * (copy->length + n);
      char *grown = realloc (copy->text, size);

      if (grown == NULL)
        {
          free (copy->text);
          copy->text = NULL;
          return;
        }
      copy->text = grown;
      copy->size = size;
    }
  memcpy (copy->text + copy->length, text, n);
  copy->length += n;
}

/* A machine with an id needs no GPUs: which of them it was is not known. */
static json_t *
json_machine (const QmIdentity *here)
{
  json_t *object = json_object (), *gpus = json_array ();

  json_object_set_new (object, "id",
                       here->machine[0] != '\0' ? json_string (here->machine)
                                                : json_null ());
  for (size_t i = 0; here->machine[0] == '\0' && i < here->n_gpus; i++)
    json_array_append_new (gpus, json_string (here->gpus[i]));
  json_object_set_new (object, "gpus", gpus);
  return object;
}

/* Whether a line is an object that says nothing of its machine. */
static bool
is_unsaid (const json_t *line)
{
  const json_t *machine = json_object_get (line, "machine");

  return json_is_object (line)
         && !json_is_string (json_object_get (machine, "id"))
         && json_array_size (json_object_get (machine, "gpus")) == 0;
}

/* Copies a line; one that is adopted keeps every other letter of it. */
static bool
copy_line (Copy *copy, const char *line, size_t length, const char *machine)
{
  json_t *object = json_loadb (line, length, JSON_REJECT_DUPLICATES, NULL);
  bool adopted = is_unsaid (object);
  const char *brace = adopted ? memchr (line, '{', length) : NULL;
  char *text;

  if (adopted && json_object_get (object, "machine") == NULL && brace != NULL)
    {
      put_bytes (copy, line, (size_t) (brace + 1 - line));
      put_bytes (copy, "\"machine\":", 10);
      put_bytes (copy, machine, strlen (machine));
      put_bytes (copy, ",", 1);
      put_bytes (copy, brace + 1, length - (size_t) (brace + 1 - line));
    }
  else if (adopted)
    {
      json_object_set_new (object, "machine",
                           json_loads (machine, JSON_REJECT_DUPLICATES, NULL));
      text = json_dumps (object, JSON_COMPACT | JSON_REAL_PRECISION (17));
      put_bytes (copy, text != NULL ? text : line,
                 text != NULL ? strlen (text) : length);
      free (text);
    }
  else
    put_bytes (copy, line, length);
  json_decref (object);
  return adopted;
}

static QmStatus
copy_all (const char *path,
          const QmIdentity *here,
          Copy *copy,
          size_t *n,
          QmError *error)
{
  json_t *object = json_machine (here);
  char *machine = json_dumps (object, JSON_COMPACT);
  char *text;
  size_t length = 0;
  QmStatus status =
      qm_text_read_bytes (path, QM_RESULTS_MAX_BYTES, &text, &length, error);

  json_decref (object);
  *copy = (Copy){ .text = malloc (length + 1), .size = length + 1 };
  for (size_t i = 0; status == QM_OK && machine != NULL && i < length;)
    {
      const char *end = memchr (text + i, '\n', length - i);
      size_t line = end != NULL ? (size_t) (end - text) - i : length - i;

      *n += copy_line (copy, text + i, line, machine);
      if (end != NULL)
        put_bytes (copy, "\n", 1);
      i += line + (end != NULL);
    }
  if (status == QM_OK && (copy->text == NULL || machine == NULL))
    status =
        qm_error_set (error, QM_STATUS_NO_MEMORY, path, 0, 0, "out of memory");
  free (machine);
  free (text);
  return status;
}

/* There is to be no file that cannot be read. */
static QmStatus
check_readable (const char *path, const Copy *copy, QmError *error)
{
  QmResults *results = qm_results_new ();
  size_t whole;
  QmStatus status = results == NULL ? qm_error_set (error, QM_STATUS_NO_MEMORY,
                                                    path, 0, 0, "out of memory")
                    : copy->length > QM_RESULTS_MAX_BYTES
                        ? qm_error_set (error, QM_STATUS_IO, path, 0, 0,
                                        "cannot be larger than %zu MiB",
                                        QM_RESULTS_MAX_BYTES / 1024 / 1024)
                        : qm_results_parse (results, copy->text, copy->length,
                                            path, &whole, error);

  qm_results_free (results);
  return status;
}

QmStatus
qm_results_adopt (const char *path,
                  const QmIdentity *here,
                  size_t *n,
                  QmError *error)
{
  Copy copy = { NULL };
  QmResultsFile *file;
  bool busy;
  QmStatus status;

  *n = 0;
  if (here->machine[0] == '\0' && here->n_gpus == 0)
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, path, 0, 0,
                         "this machine has no identity: there is no "
                         "/etc/machine-id");
  if (!qm_file_exists (path))
    return qm_error_set (error, QM_STATUS_NOT_FOUND, path, 0, 0,
                         "there is no such file");
  /* Nobody appends to it meanwhile. */
  status = qm_results_open (path, false, false, &busy, &file, error);
  if (status != QM_OK)
    return status;
  status = copy_all (path, here, &copy, n, error);
  if (status == QM_OK && *n > 0)
    status = check_readable (path, &copy, error);
  if (status == QM_OK && *n > 0)
    status = qm_file_replace (path, copy.text, copy.length, error);
  qm_results_close (file);
  free (copy.text);
  return status;
}
