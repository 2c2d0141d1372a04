/* SPDX-License-Identifier: Apache-2.0 */

#include "data/shared.h"

#include "data/file.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STRING 128

static const char *const memory[] = {
  "weights",     "master_weights", "gradients", "optimizer",
  "activations", "other",          "workspace", "reserved",
  "total",       "host",           NULL
};
static const char *const device[] = {
  "name",         "driver",       "processors",
  "memory_bytes", "architecture", "driver_cuda",
  "runtime_cuda", "products",     NULL
};
static const char *const framework[] = { "torch", "transformers", "cuda",
                                         NULL };
/* Those of qm_result_variable_path(), and one that is often needed. */
static const char *const variables[] = { "NCCL_P2P_DISABLE",
                                         "NCCL_P2P_LEVEL",
                                         "NCCL_SHM_DISABLE",
                                         "NCCL_MAX_NCHANNELS",
                                         "NCCL_MAX_CTAS",
                                         "NCCL_NVLS_ENABLE",
                                         NULL };
static const char *const times[] = { "mean_s", "min_s", "max_s", NULL };
static const char *const use[] = { "predicted_bytes", "used_bytes", "source",
                                   NULL };
static const char *const energy[] = { "watts", "step_j", "training_kwh", NULL };

static const char *const trial[] = { "bytes", "nccl_s", "host_s", NULL };

/* What a line may have, in the order in which it has it. */
static const struct Field
{
  const char *name;
  const char *const
      *inside; /* of an object; NULL: a number, a word, a switch */
} fields[] = {
  { "schema", NULL },
  { "status", NULL },
  { "time", NULL },
  { "model", NULL },
  { "model_key", NULL },
  { "engine", NULL },
  { "version", NULL },
  { "framework", framework },
  { "attention", NULL },
  { "settings", NULL },
  { "checkpointing", NULL },
  { "sharding", NULL },
  { "offloading", NULL },
  { "deterministic", NULL },
  { "precision", NULL },
  { "fp8_scales", NULL },
  { "fp8_amax", NULL },
  { "fp8_gradients", NULL },
  { "fp8_share", NULL },
  { "micro_batch", NULL },
  { "accumulation", NULL },
  { "gpus", NULL },
  { "nodes", NULL },
  { "transport", NULL },
  { "no_peer", NULL },
  { "nccl", variables },
  { "transport_trial", trial },
  { "sums", NULL },
  { "gpu", NULL },
  { "device", device },
  { "provenance", NULL },
  { "steps", NULL },
  { "repeat", NULL },
  { "memory_bytes", memory },
  { "allocated_bytes", NULL },
  { "pass", times },
  { "last_pass", times },
  { "update", times },
  { "step", times },
  { "days", NULL },
  { "model_tflops", NULL },
  { "mfu", NULL },
  { "memory_use", use },
  { "energy", energy },
};

#define N_FIELDS (sizeof fields / sizeof fields[0])

/* Whether a program wrote it: short, of printable ASCII, and neither a path nor
 * an address. */
static bool
is_word (const char *text, size_t length)
{
  if (length > MAX_STRING || strlen (text) != length)
    return false;
  for (; *text != '\0'; text++)
    if (*text < ' ' || *text > '~' || strchr ("\"'\\/<>@`$", *text) != NULL)
      return false;
  return true;
}

static bool
is_plain (const json_t *value)
{
  return json_is_string (value)
             ? is_word (json_string_value (value), json_string_length (value))
             : !json_is_object (value) && !json_is_array (value);
}

/* What may be shared of an object; NULL where a value is none that a program
 * writes, which *field then names. */
static json_t *
pick (const json_t *object, const char *const *names, const char **field)
{
  json_t *picked = json_object ();

  for (; *names != NULL && picked != NULL; names++)
    {
      json_t *value = json_object_get (object, *names);

      if (value == NULL || json_is_null (value))
        continue;
      if (!is_plain (value) || json_object_set (picked, *names, value) != 0)
        {
          *field = *names;
          json_decref (picked);
          return NULL;
        }
    }
  return picked;
}

/* Of the time the day. */
static json_t *
day_of (const json_t *time)
{
  const char *text = json_string_value (time);

  return text != NULL && strlen (text) == 20
             ? json_sprintf ("%.10sT00:00:00Z", text)
             : NULL;
}

/* The same of a line, and of the objects in it. */
static json_t *
strip (const json_t *line, const char **field)
{
  json_t *stripped = json_object ();

  for (size_t i = 0; i < N_FIELDS && stripped != NULL; i++)
    {
      const char *const one[] = { fields[i].name, NULL };
      json_t *value = json_object_get (line, fields[i].name), *picked;

      if (value == NULL || json_is_null (value))
        continue;
      *field = fields[i].name;
      if (fields[i].inside != NULL)
        picked = json_is_object (value) ? pick (value, fields[i].inside, field)
                                        : NULL;
      else if (strcmp (fields[i].name, "time") == 0)
        picked = day_of (value);
      else
        {
          json_t *alone = pick (line, one, field);

          picked = json_incref (json_object_get (alone, fields[i].name));
          json_decref (alone);
        }
      if (picked == NULL
          || json_object_set_new (stripped, fields[i].name, picked) != 0)
        {
          json_decref (stripped);
          return NULL;
        }
    }
  return stripped;
}

/* A field of one that the other lacks or has otherwise. */
static const char *
difference (json_t *line, json_t *stripped)
{
  const char *name;
  json_t *value;

  json_object_foreach (
      line, name,
      value) if (!json_equal (value,
                              json_object_get (stripped, name))) return name;
  return NULL;
}

/* Appends a line to text that grows. */
static bool
append_object (char **text, size_t *length, json_t *object)
{
  char *line = json_dumps (object, JSON_COMPACT | JSON_REAL_PRECISION (12));
  size_t size = line != NULL ? strlen (line) : 0;
  char *grown = line != NULL ? realloc (*text, *length + size + 2) : NULL;

  if (grown != NULL)
    {
      *text = grown;
      memcpy (grown + *length, line, size);
      *length += size;
      grown[(*length)++] = '\n';
      grown[*length] = '\0';
    }
  free (line);
  return grown != NULL;
}

static json_t *
make_head (size_t n)
{
  return json_pack ("{s:s, s:i, s:I, s:s}", "format", QM_SHARED_FORMAT,
                    "version", QM_SHARED_VERSION, "results", (json_int_t) n,
                    "signed_off", QM_SHARED_STATEMENT);
}

static QmStatus
append_result (char **text,
               size_t *length,
               const QmResult *result,
               QmError *error)
{
  json_t *line = json_loads (result->text, JSON_REJECT_DUPLICATES, NULL);
  const char *field = "";
  json_t *stripped = line != NULL ? strip (line, &field) : NULL;
  QmStatus status = QM_OK;

  if (stripped == NULL)
    status = qm_error_set (error, QM_STATUS_INVALID, result->file, result->line,
                           1, "\"%s\" is nothing that can be shared", field);
  else if (!append_object (text, length, stripped))
    status = qm_error_no_memory (error);
  json_decref (stripped);
  json_decref (line);
  return status;
}

QmStatus
qm_shared_make (const QmResult *const *results,
                size_t n,
                char **text,
                size_t *length,
                QmError *error)
{
  json_t *head = make_head (n);
  QmResults *again = qm_results_new ();
  QmStatus status = QM_OK;

  *text = NULL;
  *length = 0;
  if (n == 0 || n > QM_SHARED_MAX_RESULTS)
    status =
        qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                      "%zu results are not 1 to %d", n, QM_SHARED_MAX_RESULTS);
  else if (head == NULL || again == NULL || !append_object (text, length, head))
    status = qm_error_no_memory (error);
  for (size_t i = 0; i < n && status == QM_OK; i++)
    status = append_result (text, length, results[i], error);
  /* What nobody could read is not given away. */
  if (status == QM_OK)
    status = qm_shared_parse (again, *text, *length, "", error);
  if (status != QM_OK)
    {
      free (*text);
      *text = NULL;
    }
  qm_results_free (again);
  json_decref (head);
  return status;
}

QmStatus
qm_shared_write (const char *path,
                 const QmResult *const *results,
                 size_t n,
                 QmError *error)
{
  char *text;
  size_t length;
  QmStatus status = qm_shared_make (results, n, &text, &length, error);

  if (status != QM_OK)
    return status;
  status = qm_file_replace (path, text, length, error);
  free (text);
  return status;
}

/* Whether a result can be of use to others. */
static bool
is_for_others (const QmResult *r, const QmCatalog *catalog, const char *only)
{
  const QmModel *model = qm_catalog_model (catalog, r->model);
  char key[QM_MODEL_KEY_BYTES];

  if (r->status != QM_RESULT_MEASURED || model == NULL
      || qm_catalog_gpu (catalog, r->gpu) == NULL
      || (only != NULL && strcmp (only, r->model) != 0))
    return false;
  qm_model_key (&model->config, &model->recipe, key);
  return strcmp (key, r->model_key) == 0;
}

QmStatus
qm_shared_choose (const QmResults *results,
                  const QmCatalog *catalog,
                  const char *model,
                  const QmResult ***chosen,
                  size_t *n,
                  QmError *error)
{
  size_t all;
  const QmResult *list = qm_results_list (results, &all);

  *n = 0;
  *chosen = calloc (all + 1, sizeof (const QmResult *));
  if (*chosen == NULL)
    return qm_error_no_memory (error);
  for (size_t i = 0; i < all; i++)
    if (is_for_others (&list[i], catalog, model))
      (*chosen)[(*n)++] = &list[i];
  if (*n > 0)
    return QM_OK;
  free (*chosen);
  *chosen = NULL;
  return qm_error_set (error, QM_STATUS_NOT_FOUND, "", 0, 0,
                       "nothing was measured of a model and a GPU of the "
                       "catalog");
}

/* Checks one line behind the first. */
static QmStatus
check_line (const char *text,
            size_t length,
            const char *file,
            int number,
            QmError *error)
{
  json_error_t problem;
  json_t *line = json_loadb (text, length, JSON_REJECT_DUPLICATES, &problem);
  const char *field = "";
  json_t *stripped = NULL;
  QmStatus status = QM_OK;

  if (line == NULL)
    return qm_error_set (error, QM_STATUS_PARSE, file, number,
                         problem.column > 0 ? problem.column : 1, "%s",
                         problem.text);
  if (json_is_object (line))
    stripped = strip (line, &field);
  if (stripped != NULL)
    field = difference (line, stripped);
  if (field != NULL)
    status = qm_error_set (error, QM_STATUS_INVALID, file, number, 1,
                           "\"%.40s\" is nothing that a shared result has so",
                           field);
  else if (strcmp (json_string_value (json_object_get (line, "status")) != NULL
                       ? json_string_value (json_object_get (line, "status"))
                       : "",
                   "measured")
           != 0)
    status = qm_error_set (error, QM_STATUS_INVALID, file, number, 1,
                           "only what was measured is shared");
  json_decref (stripped);
  json_decref (line);
  return status;
}

/* Reads the first line; *n: how many follow. */
static QmStatus
check_head (const char *text,
            size_t length,
            const char *file,
            size_t *n,
            QmError *error)
{
  json_t *head = json_loadb (text, length, JSON_REJECT_DUPLICATES, NULL);
  const char *format = json_string_value (json_object_get (head, "format"));
  const char *signed_off =
      json_string_value (json_object_get (head, "signed_off"));
  json_int_t version = json_integer_value (json_object_get (head, "version"));
  json_int_t results = json_integer_value (json_object_get (head, "results"));
  QmStatus status = QM_OK;

  *n = 0;
  if (format == NULL || strcmp (format, QM_SHARED_FORMAT) != 0)
    status = qm_error_set (error, QM_STATUS_PARSE, file, 1, 1,
                           "is no file of shared results");
  else if (version != QM_SHARED_VERSION)
    status = qm_error_set (error, QM_STATUS_UNSUPPORTED, file, 1, 1,
                           "version %lld is not known, but %d",
                           (long long) version, QM_SHARED_VERSION);
  else if (signed_off == NULL || strcmp (signed_off, QM_SHARED_STATEMENT) != 0
           || json_object_size (head) != 4)
    status = qm_error_set (error, QM_STATUS_INVALID, file, 1, 1,
                           "is not signed off as such files are");
  else if (results < 1 || results > QM_SHARED_MAX_RESULTS)
    status = qm_error_set (error, QM_STATUS_INVALID, file, 1, 1,
                           "%lld results are not 1 to %d", (long long) results,
                           QM_SHARED_MAX_RESULTS);
  else
    *n = (size_t) results;
  json_decref (head);
  return status;
}

/* Checks all lines; *begin: of the second. */
static QmStatus
check_lines (const char *text,
             size_t length,
             const char *file,
             size_t *begin,
             QmError *error)
{
  size_t at = 0, n = 0, expected = 0;
  QmStatus status = QM_OK;

  while (at < length && status == QM_OK)
    {
      const char *end = memchr (text + at, '\n', length - at);
      size_t size = end != NULL ? (size_t) (end - text) - at : length - at;

      if (end == NULL)
        return qm_error_set (error, QM_STATUS_PARSE, file, (int) n + 1, 1,
                             "the last line was broken off");
      if (n == 0)
        {
          status = check_head (text, size, file, &expected, error);
          *begin = size + 1;
        }
      else
        status = check_line (text + at, size, file, (int) n + 1, error);
      n++;
      at += size + 1;
    }
  if (status == QM_OK && n != expected + 1)
    status = qm_error_set (error, QM_STATUS_INVALID, file, 1, 1,
                           "says that %zu results follow, there are %zu",
                           expected, n > 0 ? n - 1 : 0);
  return status;
}

QmStatus
qm_shared_parse (QmResults *results,
                 const char *text,
                 size_t length,
                 const char *file,
                 QmError *error)
{
  size_t begin = 0, whole;
  QmStatus status;

  if (length > QM_SHARED_MAX_BYTES)
    return qm_error_set (error, QM_STATUS_INVALID, file, 0, 0,
                         "is larger than the %zu bytes of such files",
                         QM_SHARED_MAX_BYTES);
  if (length == 0)
    return qm_error_set (error, QM_STATUS_PARSE, file, 1, 1,
                         "is no file of shared results");
  status = check_lines (text, length, file, &begin, error);
  if (status != QM_OK)
    return status;
  status = qm_results_parse (results, text + begin, length - begin, file,
                             &whole, error);
  /* That begins with the second line. */
  if (status != QM_OK && error != NULL && error->line > 0)
    error->line++;
  return status;
}

QmStatus
qm_shared_read (QmResults *results, const char *path, QmError *error)
{
  FILE *stream;
  uint64_t size;
  QmStatus status = qm_file_open (path, &stream, &size, error);
  char *text;
  size_t length;

  if (status != QM_OK)
    return status;
  text = malloc (QM_SHARED_MAX_BYTES + 1);
  if (text == NULL)
    {
      fclose (stream);
      return qm_error_no_memory (error);
    }
  length = fread (text, 1, QM_SHARED_MAX_BYTES + 1, stream);
  status =
      ferror (stream) != 0
          ? qm_error_set (error, QM_STATUS_IO, path, 0, 0, "cannot be read")
          : qm_shared_parse (results, text, length, path, error);
  fclose (stream);
  free (text);
  return status;
}
