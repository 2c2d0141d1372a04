/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/safetensors-private.h"

#include "data/file.h"
#include "kernels/convert.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Half of what the format allows; a model of a thousand layers has less. */
#define MAX_HEADER   (UINT64_C (50) << 20)
#define MAX_ELEMENTS (INT64_C (1) << 40)

/* Elements that are converted at once. */
#define BLOCK 4096

static const struct
{
  const char *name;
  int bytes;
} types[] = {
  { "F64", 8 },  { "F32", 4 }, { "F16", 2 },     { "BF16", 2 },
  { "I64", 8 },  { "I32", 4 }, { "I16", 2 },     { "I8", 1 },
  { "U64", 8 },  { "U32", 4 }, { "U16", 2 },     { "U8", 1 },
  { "BOOL", 1 }, { "C64", 8 }, { "F8_E4M3", 1 }, { "F8_E5M2", 1 },
};

static QmStatus
bad_file (const QmSafetensors *file, QmError *error, const char *why)
{
  return qm_error_set (error, QM_STATUS_PARSE, file->path, 0, 0,
                       "not a safetensors file: %s", why);
}

static QmStatus
bad_tensor (const QmSafetensors *file,
            const char *name,
            QmError *error,
            const char *why)
{
  return qm_error_set (error, QM_STATUS_PARSE, file->path, 0, 0,
                       "tensor '%.100s': %s", name, why);
}

static int
type_bytes (const char *type)
{
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
    if (strcmp (types[i].name, type) == 0)
      return types[i].bytes;
  return 0;
}

static bool
read_shape (json_t *shape, QmStoredTensor *tensor)
{
  if (!json_is_array (shape)
      || json_array_size (shape) > QM_SAFETENSORS_MAX_RANK)
    return false;
  tensor->rank = (int32_t) json_array_size (shape);
  tensor->elements = 1;
  for (int32_t i = 0; i < tensor->rank; i++)
    {
      json_t *value = json_array_get (shape, (size_t) i);
      json_int_t size = json_integer_value (value);

      if (!json_is_integer (value) || size < 0
          || (size > 0 && tensor->elements > MAX_ELEMENTS / size))
        return false;
      tensor->shape[i] = size;
      tensor->elements *= size;
    }
  return true;
}

static QmStatus
read_entry (QmSafetensors *file, const char *name, json_t *json, QmError *error)
{
  QmStoredTensor *tensor = &file->tensors[file->n];
  const char *type = json_string_value (json_object_get (json, "dtype"));
  json_t *offsets = json_object_get (json, "data_offsets");
  json_t *first = json_array_get (offsets, 0);
  json_t *last = json_array_get (offsets, 1);
  json_int_t begin = json_integer_value (first), end;

  end = json_integer_value (last);
  if (type == NULL || type_bytes (type) == 0)
    return bad_tensor (file, name, error, "its type is not known");
  if (!read_shape (json_object_get (json, "shape"), tensor))
    return bad_tensor (file, name, error, "its shape is not a shape");
  if (json_array_size (offsets) != 2 || !json_is_integer (first)
      || !json_is_integer (last) || begin < 0 || end < begin
      || (uint64_t) end > file->size - file->data)
    return bad_tensor (file, name, error, "its data is outside of the file");
  if (end - begin != tensor->elements * type_bytes (type))
    return bad_tensor (file, name, error,
                       "its data does not have the size of its shape");
  snprintf (tensor->type, sizeof tensor->type, "%s", type);
  tensor->name = name;
  tensor->begin = file->data + (uint64_t) begin;
  tensor->bytes = (uint64_t) (end - begin);
  file->n++;
  return QM_OK;
}

static QmStatus
read_entries (QmSafetensors *file, QmError *error)
{
  const char *name;
  json_t *value;
  QmStatus status = QM_OK;

  file->tensors =
      calloc (json_object_size (file->header) + 1, sizeof *file->tensors);
  if (file->tensors == NULL)
    return qm_error_no_memory (error);
  json_object_foreach (file->header, name, value)
  {
    if (strcmp (name, "__metadata__") == 0)
      continue;
    status = read_entry (file, name, value, error);
    if (status != QM_OK)
      break;
  }
  return status;
}

static QmStatus
read_header (QmSafetensors *file, QmError *error)
{
  unsigned char prefix[8];
  uint64_t length = 0;
  json_error_t trouble;
  char *text;

  if (file->size < sizeof prefix
      || fread (prefix, 1, sizeof prefix, file->stream) != sizeof prefix)
    return bad_file (file, error, "it is too short");
  for (int i = 7; i >= 0; i--)
    length = length << 8 | prefix[i];
  if (length > MAX_HEADER || length > file->size - sizeof prefix)
    return bad_file (file, error, "its header is longer than it could be");
  file->data = sizeof prefix + length;
  text = malloc ((size_t) length + 1);
  if (text == NULL)
    return qm_error_no_memory (error);
  if (fread (text, 1, (size_t) length, file->stream) != length)
    {
      free (text);
      return bad_file (file, error, "its header cannot be read");
    }
  file->header =
      json_loadb (text, (size_t) length, JSON_REJECT_DUPLICATES, &trouble);
  free (text);
  if (file->header == NULL)
    return bad_file (file, error, trouble.text);
  if (!json_is_object (file->header))
    return bad_file (file, error, "its header is not an object");
  return read_entries (file, error);
}

QmStatus
qm_safetensors_open_stream (FILE *stream,
                            uint64_t size,
                            const char *name,
                            QmSafetensors **file,
                            QmError *error)
{
  QmSafetensors *new = calloc (1, sizeof *new);
  QmStatus status;

  *file = NULL;
  if (new != NULL)
    new->path = strdup (name);
  if (new == NULL || new->path == NULL)
    {
      free (new);
      fclose (stream);
      return qm_error_no_memory (error);
    }
  new->stream = stream;
  new->size = size;
  status = read_header (new, error);
  if (status == QM_OK)
    *file = new;
  else
    qm_safetensors_close (new);
  return status;
}

QmStatus
qm_safetensors_open (const char *path, QmSafetensors **file, QmError *error)
{
  FILE *stream;
  uint64_t size;
  QmStatus status;

  if (qm_safetensors_is_index (path))
    return qm_safetensors_open_index (path, file, error);
  status = qm_file_open (path, &stream, &size, error);
  *file = NULL;
  return status == QM_OK
             ? qm_safetensors_open_stream (stream, size, path, file, error)
             : status;
}

void
qm_safetensors_close (QmSafetensors *file)
{
  if (file == NULL)
    return;
  if (file->stream != NULL)
    fclose (file->stream);
  for (size_t i = 0; i < file->n_shards; i++)
    qm_safetensors_close (file->shards[i]);
  free (file->shards);
  json_decref (file->header);
  free (file->tensors);
  free (file->path);
  free (file);
}

const QmStoredTensor *
qm_safetensors_all (const QmSafetensors *file, size_t *n)
{
  *n = file->n;
  return file->tensors;
}

const QmStoredTensor *
qm_safetensors_find (const QmSafetensors *file, const char *name)
{
  for (size_t i = 0; i < file->n; i++)
    if (strcmp (file->tensors[i].name, name) == 0)
      return &file->tensors[i];
  return NULL;
}

bool
qm_stored_has_shape (const QmStoredTensor *tensor,
                     int32_t rank,
                     const int64_t *shape)
{
  if (tensor->rank != rank)
    return false;
  for (int32_t i = 0; i < rank; i++)
    if (tensor->shape[i] != shape[i])
      return false;
  return true;
}

/* Converts `n` elements, which are little-endian, as this host is. */
typedef bool (*Convert) (
    const char *type, const void *from, size_t n, int64_t done, void *to);

static bool
convert_floats (
    const char *type, const void *from, size_t n, int64_t done, void *to)
{
  float *floats = (float *) to + done;

  if (strcmp (type, "F64") == 0)
    for (size_t i = 0; i < n; i++)
      floats[i] = (float) ((const double *) from)[i];
  else if (strcmp (type, "F32") == 0)
    memcpy (floats, from, n * sizeof *floats);
  else if (strcmp (type, "F16") == 0)
    qm_floats_load (QM_TYPE_F16, from, 1, (int64_t) n, floats);
  else if (strcmp (type, "BF16") == 0)
    qm_floats_load (QM_TYPE_BF16, from, 1, (int64_t) n, floats);
  else
    return false;
  return true;
}

typedef struct Integers
{
  int32_t min, max;
  int32_t *to;
  bool outside;
} Integers;

static bool
convert_ints (
    const char *type, const void *from, size_t n, int64_t done, void *data)
{
  Integers *integers = data;

  for (size_t i = 0; i < n; i++)
    {
      int64_t value;

      if (strcmp (type, "I64") == 0)
        value = ((const int64_t *) from)[i];
      else if (strcmp (type, "I32") == 0)
        value = ((const int32_t *) from)[i];
      else if (strcmp (type, "U8") == 0)
        value = ((const uint8_t *) from)[i];
      else
        return false;
      if (value < integers->min || value > integers->max)
        integers->outside = true;
      else
        integers->to[(size_t) done + i] = (int32_t) value;
    }
  return true;
}

static QmStatus
read_blocks (QmSafetensors *file,
             const QmStoredTensor *tensor,
             Convert convert,
             void *to,
             QmError *error)
{
  size_t size = (size_t) type_bytes (tensor->type);
  int64_t block[BLOCK]; /* aligned for every type */

  if (file->n_shards > 0)
    file = file->shards[tensor->shard];
  if (fseeko (file->stream, (off_t) tensor->begin, SEEK_SET) != 0)
    return bad_tensor (file, tensor->name, error, "its data cannot be read");
  for (int64_t done = 0; done < tensor->elements; done += BLOCK)
    {
      size_t n = tensor->elements - done < BLOCK
                     ? (size_t) (tensor->elements - done)
                     : BLOCK;

      if (fread (block, size, n, file->stream) != n)
        return bad_tensor (file, tensor->name, error,
                           "its data cannot be read");
      if (!convert (tensor->type, block, n, done, to))
        return qm_error_set (error, QM_STATUS_UNSUPPORTED, file->path, 0, 0,
                             "tensor '%.100s': type %s is not supported here",
                             tensor->name, tensor->type);
    }
  return QM_OK;
}

QmStatus
qm_safetensors_read_floats (QmSafetensors *file,
                            const QmStoredTensor *tensor,
                            float *to,
                            QmError *error)
{
  return read_blocks (file, tensor, convert_floats, to, error);
}

QmStatus
qm_safetensors_read_ints (QmSafetensors *file,
                          const QmStoredTensor *tensor,
                          int32_t min,
                          int32_t max,
                          int32_t *to,
                          QmError *error)
{
  Integers integers = { .min = min, .max = max, .to = to };
  QmStatus status = read_blocks (file, tensor, convert_ints, &integers, error);

  if (status == QM_OK && integers.outside)
    return qm_error_set (error, QM_STATUS_INVALID, file->path, 0, 0,
                         "tensor '%.100s': an element is not between %" PRId32
                         " and %" PRId32,
                         tensor->name, min, max);
  return status;
}

static json_t *
json_tensor (const QmTensorToStore *tensor, uint64_t *next)
{
  json_t *shape = json_array ();
  uint64_t bytes = sizeof (float);

  for (int32_t i = 0; i < tensor->rank; i++)
    {
      json_array_append_new (shape, json_integer (tensor->shape[i]));
      bytes *= (uint64_t) tensor->shape[i];
    }
  *next += bytes;
  return json_pack ("{s:s, s:o, s:[I, I]}", "dtype", "F32", "shape", shape,
                    "data_offsets", (json_int_t) (*next - bytes),
                    (json_int_t) *next);
}

/* The header, padded with blanks so that data is aligned. */
static char *
make_header (const QmTensorToStore *tensors, size_t n)
{
  json_t *header = json_object ();
  uint64_t next = 0;
  char *text, *padded;
  size_t length;

  /* Transformers loads only what says that it is laid out so. */
  json_object_set_new (header, "__metadata__",
                       json_pack ("{s:s}", "format", "pt"));
  for (size_t i = 0; i < n; i++)
    if (json_object_set_new (header, tensors[i].name,
                             json_tensor (&tensors[i], &next))
        != 0)
      {
        json_decref (header);
        return NULL;
      }
  text = json_dumps (header, JSON_COMPACT);
  json_decref (header);
  if (text == NULL)
    return NULL;
  length = strlen (text);
  padded = realloc (text, length + 9);
  if (padded == NULL)
    {
      free (text);
      return NULL;
    }
  memset (padded + length, ' ', 8);
  padded[(length + 7) / 8 * 8] = '\0';
  return padded;
}

static QmStatus
write_tensors (FILE *stream,
               const char *path,
               const QmTensorToStore *tensors,
               size_t n,
               QmTensorSource source,
               void *data,
               QmError *error)
{
  QmStatus status = QM_OK;

  for (size_t i = 0; i < n && status == QM_OK; i++)
    {
      size_t elements = 1;
      float *values;

      for (int32_t d = 0; d < tensors[i].rank; d++)
        elements *= (size_t) tensors[i].shape[d];
      values = malloc ((elements + 1) * sizeof *values);
      if (values == NULL)
        return qm_error_no_memory (error);
      status = source (data, i, values, error);
      if (status == QM_OK
          && fwrite (values, sizeof *values, elements, stream) != elements)
        status = qm_error_set (error, QM_STATUS_IO, path, 0, 0,
                               "cannot be written: %s", strerror (errno));
      free (values);
    }
  return status;
}

static bool
write_header (FILE *stream, const char *header)
{
  uint64_t length = strlen (header);
  unsigned char prefix[8];

  for (int i = 0; i < 8; i++)
    prefix[i] = (unsigned char) (length >> (8 * i));
  return fwrite (prefix, 1, sizeof prefix, stream) == sizeof prefix
         && fwrite (header, 1, (size_t) length, stream) == length;
}

static QmStatus
write_tensor_file (const char *temporary,
                   const char *path,
                   const char *header,
                   const QmTensorToStore *tensors,
                   size_t n,
                   QmTensorSource source,
                   void *data,
                   QmError *error)
{
  FILE *stream = qm_file_create_part (temporary);
  QmStatus status = QM_OK;

  if (stream == NULL)
    return qm_error_set (error, QM_STATUS_IO, path, 0, 0,
                         "cannot be written: %s", strerror (errno));
  if (!write_header (stream, header))
    status = qm_error_set (error, QM_STATUS_IO, path, 0, 0,
                           "cannot be written: %s", strerror (errno));
  if (status == QM_OK)
    status = write_tensors (stream, path, tensors, n, source, data, error);
  if (status == QM_OK && fflush (stream) == 0)
    fsync (fileno (stream));
  if (fclose (stream) != 0 && status == QM_OK)
    status = qm_error_set (error, QM_STATUS_IO, path, 0, 0,
                           "cannot be written: %s", strerror (errno));
  if (status == QM_OK && rename (temporary, path) != 0)
    status = qm_error_set (error, QM_STATUS_IO, path, 0, 0,
                           "cannot be written: %s", strerror (errno));
  if (status != QM_OK)
    unlink (temporary);
  return status;
}

QmStatus
qm_safetensors_write (const char *path,
                      const QmTensorToStore *tensors,
                      size_t n,
                      QmTensorSource source,
                      void *data,
                      QmError *error)
{
  char place[PATH_MAX], part[PATH_MAX];
  char *header = make_header (tensors, n);
  QmStatus status = qm_file_place (path, place, sizeof place, error);

  if (status == QM_OK && header == NULL)
    status = qm_error_no_memory (error);
  if (status == QM_OK && !qm_file_part_name (place, part, sizeof part))
    status = qm_error_set (error, QM_STATUS_IO, path, 0, 0,
                           "is longer than a path may be");
  if (status == QM_OK)
    status = write_tensor_file (part, place, header, tensors, n, source, data,
                                error);
  free (header);
  return status;
}
