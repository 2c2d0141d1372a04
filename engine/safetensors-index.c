/* SPDX-License-Identifier: Apache-2.0 */

/* Tensors in several files, as Hugging Face splits large models:
 *
 *   { "metadata": { ... },
 *     "weight_map": { "gpt_neox.embed_in.weight":
 *                     "model-00001-of-00002.safetensors", ... } }
 *
 * The files stand beside the index.  An index is hostile, too: it may name no
 * other place, and has to say of every tensor where it is. */

#include "engine/safetensors-private.h"

#include "data/json-source.h"
#include "data/text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

#define ENDING ".index.json"

/* All are open at the same time. */
#define MOST_SHARDS 512

/* An index while it is opened. */
typedef struct Opening
{
  const char *path;
  QmSafetensors *file;
  json_t *map;                    /* names of files, by tensor */
  const char *names[MOST_SHARDS]; /* of the shards */
  QmError *error;
} Opening;

bool
qm_safetensors_is_index (const char *path)
{
  size_t length = strlen (path), end = strlen (ENDING);

  return length > end && strcmp (path + length - end, ENDING) == 0;
}

static QmStatus
fail_opening (const Opening *opening, QmStatus status, const char *what)
{
  return qm_error_set (opening->error, status, opening->path, 0, 0, "%s", what);
}

static QmStatus
fail_tensor (const Opening *opening,
             const char *tensor,
             const char *what,
             const char *where)
{
  char quoted[QM_QUOTE_BYTES], place[QM_QUOTE_BYTES];

  return qm_error_set (opening->error, QM_STATUS_INVALID, opening->path, 0, 0,
                       "tensor %s %s %s", qm_text_quote (tensor, quoted), what,
                       qm_text_quote (where, place));
}

/* Whether it can only be a file in the same folder. */
static bool
is_plain_name (const char *name)
{
  return name[0] != '\0' && name[0] != '.' && strchr (name, '/') == NULL
         && strlen (name) <= NAME_MAX && !qm_safetensors_is_index (name);
}

/* Opens a file beside the index. */
static QmStatus
open_shard (const Opening *opening, const char *name, QmSafetensors **shard)
{
  const char *slash = strrchr (opening->path, '/');
  int folder = slash != NULL ? (int) (slash + 1 - opening->path) : 0;
  char path[PATH_MAX], quoted[QM_QUOTE_BYTES];

  if (!is_plain_name (name))
    return qm_error_set (opening->error, QM_STATUS_INVALID, opening->path, 0, 0,
                         "weight_map: %s is no name of a file in its folder",
                         qm_text_quote (name, quoted));
  if (snprintf (path, sizeof path, "%.*s%s", folder, opening->path, name)
      >= (int) sizeof path)
    return fail_opening (opening, QM_STATUS_IO, "is longer than a path may be");
  return qm_safetensors_open (path, shard, opening->error);
}

/* Opens every file that the map names, each once. */
static QmStatus
open_shards (Opening *opening)
{
  QmSafetensors *file = opening->file;
  QmStatus status = QM_OK;
  const char *tensor;
  json_t *value;

  file->shards = calloc (MOST_SHARDS, sizeof (QmSafetensors *));
  if (file->shards == NULL)
    return fail_opening (opening, QM_STATUS_NO_MEMORY, "out of memory");
  json_object_foreach (opening->map, tensor, value)
  {
    const char *name = json_string_value (value);
    size_t at = 0;

    if (name == NULL)
      return fail_tensor (opening, tensor, "has no name of a file in",
                          "weight_map");
    while (at < file->n_shards && strcmp (opening->names[at], name) != 0)
      at++;
    if (at < file->n_shards)
      continue;
    if (at == MOST_SHARDS)
      return fail_opening (opening, QM_STATUS_UNSUPPORTED,
                           "weight_map: names more than 512 files");
    status = open_shard (opening, name, &file->shards[at]);
    if (status != QM_OK)
      return status;
    opening->names[file->n_shards++] = name;
  }
  return QM_OK;
}

/* Takes the tensors of one file over. */
static QmStatus
take_tensors (Opening *opening, size_t index)
{
  QmSafetensors *file = opening->file;
  const char *name = opening->names[index];
  size_t n;
  const QmStoredTensor *all = qm_safetensors_all (file->shards[index], &n);

  for (size_t i = 0; i < n; i++)
    {
      json_t *place = json_object_get (opening->map, all[i].name);

      if (place == NULL)
        return fail_tensor (opening, all[i].name,
                            "is not in weight_map, but in", name);
      if (strcmp (json_string_value (place), name) != 0)
        return fail_tensor (opening, all[i].name,
                            "is in two files, the other one is", name);
      file->tensors[file->n] = all[i];
      file->tensors[file->n++].shard = (int32_t) index;
    }
  return QM_OK;
}

/* Names the first tensor that is in none of the files. */
static QmStatus
find_missing (const Opening *opening)
{
  const char *tensor;
  json_t *value;

  json_object_foreach (opening->map, tensor, value)
  {
    if (qm_safetensors_find (opening->file, tensor) == NULL)
      return fail_tensor (opening, tensor, "is not in",
                          json_string_value (value));
  }
  return QM_OK;
}

static QmStatus
read_index (Opening *opening)
{
  QmSafetensors *file = opening->file;
  char *text;
  size_t length;
  QmStatus status =
      qm_text_read_file (opening->path, &text, &length, opening->error);

  if (status != QM_OK)
    return status;
  status = qm_json_parse (&(QmJsonText){ text, length, opening->path },
                          &file->header, opening->error);
  free (text);
  if (status != QM_OK)
    return status;
  opening->map = json_object_get (file->header, "weight_map");
  if (!json_is_object (opening->map) || json_object_size (opening->map) == 0)
    return fail_opening (
        opening, QM_STATUS_INVALID,
        "weight_map: is missing, or says of no tensor where it is");
  file->tensors =
      calloc (json_object_size (opening->map), sizeof *file->tensors);
  if (file->tensors == NULL)
    return fail_opening (opening, QM_STATUS_NO_MEMORY, "out of memory");
  status = open_shards (opening);
  for (size_t i = 0; i < file->n_shards && status == QM_OK; i++)
    status = take_tensors (opening, i);
  return status == QM_OK ? find_missing (opening) : status;
}

QmStatus
qm_safetensors_open_index (const char *path,
                           QmSafetensors **file,
                           QmError *error)
{
  Opening opening = { .path = path, .error = error };
  QmStatus status;

  *file = NULL;
  opening.file = calloc (1, sizeof *opening.file);
  if (opening.file != NULL)
    opening.file->path = strdup (path);
  if (opening.file == NULL || opening.file->path == NULL)
    status = fail_opening (&opening, QM_STATUS_NO_MEMORY, "out of memory");
  else
    status = read_index (&opening);
  if (status == QM_OK)
    *file = opening.file;
  else
    qm_safetensors_close (opening.file);
  return status;
}
