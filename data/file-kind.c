/* SPDX-License-Identifier: Apache-2.0 */

#include "data/file-kind.h"

#include "data/file.h"
#include "data/shared.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a file so much is looked at, in bytes: no header of ours is longer than
 * its first names. */
#define LOOKED_AT 65536

typedef struct Start
{
  char *bytes; /* and a zero */
  size_t n;
  uint64_t size; /* of the whole file */
} Start;

static bool
begins (const Start *start, const char *words)
{
  return start->n >= strlen (words)
         && memcmp (start->bytes, words, strlen (words)) == 0;
}

/* Whether it is JSON, as far as one sees, with one of these names. */
static bool
is_json_with (const Start *start, const char *const *names, size_t n)
{
  if (start->bytes[strspn (start->bytes, " \t\r\n")] != '{')
    return false;
  for (size_t i = 0; i < n; i++)
    if (strstr (start->bytes, names[i]) != NULL)
      return true;
  return false;
}

/* The length of a header of JSON, and the header. */
static bool
is_safetensors (const Start *start)
{
  uint64_t length = 0;

  if (start->n < 9)
    return false;
  for (int i = 7; i >= 0; i--)
    length = length << 8 | (unsigned char) start->bytes[i];
  return start->bytes[8] == '{' && length >= 2 && length <= start->size - 8;
}

static bool
is_svg (const Start *start)
{
  return start->bytes[strspn (start->bytes, " \t\r\n")] == '<'
         && strstr (start->bytes, "<svg") != NULL;
}

static bool
is_of_kind (const Start *start, QmFileKind kind)
{
  static const char *const results[] = { "\"settings\"", "\"days\"",
                                         "\"device\"" };
  static const char *const speeds[] = { "\"probes\"" };
  static const char *const settings[] = { "\"per_device_train_batch_size\"",
                                          "\"train_micro_batch_size_per_gpu\"",
                                          "\"zero_optimization\"" };

  switch (kind)
    {
    case QM_FILE_RESULTS:
      return is_json_with (start, results, 1)
             && is_json_with (start, results + 1, 2);
    case QM_FILE_SHARED:
      return begins (start, "{\"format\":\"" QM_SHARED_FORMAT "\"");
    case QM_FILE_SPEEDS:
      return is_json_with (start, speeds, 1);
    case QM_FILE_SETTINGS:
      return is_json_with (start, settings,
                           sizeof settings / sizeof settings[0]);
    case QM_FILE_SAFETENSORS:
      return is_safetensors (start);
    case QM_FILE_SVG:
      return is_svg (start);
    case QM_FILE_PDF:
      return begins (start, "%PDF-");
    case QM_FILE_PNG:
      return begins (start, "\x89PNG\r\n\x1a\n");
    default:
      return false;
    }
}

bool
qm_file_is_replaceable (const char *path, QmFileKind kind)
{
  Start start = { 0 };
  FILE *stream;
  bool good;

  if (!qm_file_exists (path)
      || qm_file_open (path, &stream, &start.size, NULL) != QM_OK)
    return true;
  start.bytes = calloc (1, LOOKED_AT + 1);
  if (start.bytes != NULL)
    start.n = fread (start.bytes, 1, LOOKED_AT, stream);
  fclose (stream);
  good = start.size == 0 || (start.bytes != NULL && is_of_kind (&start, kind));
  free (start.bytes);
  return good;
}

QmStatus
qm_file_check_kind (const char *path,
                    QmFileKind kind,
                    bool force,
                    QmError *error)
{
  static const char *const names[] = {
    [QM_FILE_RESULTS] = "of results",
    [QM_FILE_SHARED] = "of shared results",
    [QM_FILE_SPEEDS] = "of a GPU's speeds",
    [QM_FILE_SETTINGS] = "of settings",
    [QM_FILE_SAFETENSORS] = "of safetensors",
    [QM_FILE_SVG] = "of SVG",
    [QM_FILE_PDF] = "of PDF",
    [QM_FILE_PNG] = "of PNG",
  };

  if (force || qm_file_is_replaceable (path, kind))
    return QM_OK;
  return qm_error_set (error, QM_STATUS_IO, path, 0, 0,
                       "exists already and is no file %s; --force replaces it",
                       names[kind]);
}
