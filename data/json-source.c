/* SPDX-License-Identifier: Apache-2.0 */

#include "data/json-source.h"

#include "data/catalog.h"
#include "data/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t skip_string (const QmJsonText *source, size_t at);

/* Python writes numbers without end as Infinity, which is no JSON.  A copy with
 * the largest number in its place, of as many bytes; NULL where there is none,
 * or no memory. */
static char *
without_infinity (const QmJsonText *source)
{
  static const char infinity[] = "Infinity", largest[] = "1.7e+308";
  const size_t length = sizeof infinity - 1;
  char *copy = NULL;

  for (size_t at = 0; at + length <= source->length;)
    {
      if (source->text[at] == '"')
        at = skip_string (source, at);
      else if (memcmp (source->text + at, infinity, length) == 0)
        {
          if (copy == NULL && (copy = malloc (source->length)) != NULL)
            memcpy (copy, source->text, source->length);
          if (copy == NULL)
            return NULL;
          memcpy (copy + at, largest, length);
          at += length;
        }
      else
        at++;
    }
  return copy;
}

static json_t *
load_text (const QmJsonText *source, json_error_t *trouble)
{
  json_t *root = json_loadb (source->text, source->length,
                             JSON_REJECT_DUPLICATES, trouble);
  char *copy = root == NULL ? without_infinity (source) : NULL;

  if (copy != NULL)
    root = json_loadb (copy, source->length, JSON_REJECT_DUPLICATES, trouble);
  free (copy);
  return root;
}

static bool
is_space (char c)
{
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Whether that is the next character but for spaces. */
static bool
is_followed (const QmJsonText *source, size_t at, char c)
{
  while (at < source->length && is_space (source->text[at]))
    at++;
  return at < source->length && source->text[at] == c;
}

#define KEY_LEVELS 16

/* The name of the field whose value ends at `end`, or has that in it, with a
 * colon and a space after it; "" where there is none. */
static void
write_key_at (const QmJsonText *source, size_t end, char *text, size_t size)
{
  size_t keys[KEY_LEVELS] = { 0 }; /* where each begins */
  char name[QM_QUOTE_BYTES], safe[QM_QUOTE_BYTES];
  int level = 0;

  for (size_t at = 0; at < end && at < source->length;)
    {
      size_t begin = at;
      char c = source->text[at];

      at = c == '"' ? skip_string (source, at) : at + 1;
      if ((c == '{' || c == '[') && ++level < KEY_LEVELS)
        keys[level] = 0;
      else if ((c == '}' || c == ']') && level > 0)
        level--;
      else if (c == '"' && level < KEY_LEVELS && is_followed (source, at, ':'))
        keys[level] = begin + 1;
    }
  text[0] = '\0';
  level = level < KEY_LEVELS ? level : KEY_LEVELS - 1;
  while (level > 0 && keys[level] == 0)
    level--;
  if (keys[level] == 0)
    return;
  snprintf (name, sizeof name, "%.*s",
            (int) (skip_string (source, keys[level] - 1) - 1 - keys[level]),
            source->text + keys[level]);
  snprintf (text, size, "%s: ", qm_text_escape (name, safe, sizeof safe));
}

QmStatus
qm_json_parse (const QmJsonText *source, json_t **root, QmError *error)
{
  json_error_t trouble;
  char name[QM_QUOTE_BYTES + 2] = "";
  int line, column;

  *root = load_text (source, &trouble);
  if (*root == NULL)
    {
      /* Without memory jansson often fails without saying why. */
      if (json_error_code (&trouble) == json_error_out_of_memory
          || trouble.text[0] == '\0')
        return qm_error_set (error, QM_STATUS_NO_MEMORY, source->file, 0, 0,
                             "out of memory");
      qm_text_position (source->text, source->length,
                        trouble.position > 0 ? (size_t) trouble.position : 0,
                        &line, &column);
      if (json_error_code (&trouble) == json_error_numeric_overflow
          && trouble.position > 0)
        write_key_at (source, (size_t) trouble.position, name, sizeof name);
      return qm_error_set (error, QM_STATUS_PARSE, source->file, line, column,
                           "%s%s", name, trouble.text);
    }
  if (!json_is_object (*root))
    {
      json_decref (*root);
      *root = NULL;
      return qm_error_set (error, QM_STATUS_PARSE, source->file, 1, 1,
                           "is not a JSON object");
    }
  return QM_OK;
}

void
qm_json_begin (QmJsonObject *object,
               const QmJsonText *source,
               json_t *root,
               QmError *error)
{
  *object = (QmJsonObject){ .source = source, .json = root, .error = error };
}

/* The byte after the string that begins at `at`. */
static size_t
skip_string (const QmJsonText *source, size_t at)
{
  for (at++; at < source->length && source->text[at] != '"'; at++)
    if (source->text[at] == '\\')
      at++;
  return at + 1;
}

/* Whether the string in quotes at `at` is that name and a key. */
static bool
is_key (const QmJsonText *source, size_t at, const char *name)
{
  size_t length = strlen (name);
  size_t end = at + 1 + length;

  return end < source->length
         && strncmp (source->text + at + 1, name, length) == 0
         && source->text[end] == '"' && is_followed (source, end + 1, ':');
}

/* Finds the key `name` of the object that begins at or after *from in text that
 * is valid JSON; false where it is not written so. */
static bool
find_key (const QmJsonText *source, size_t *from, const char *name)
{
  int level = 0;
  size_t at = *from;

  while (at < source->length)
    {
      char c = source->text[at];

      if (c == '"')
        {
          if (level == 1 && is_key (source, at, name))
            {
              *from = at;
              return true;
            }
          at = skip_string (source, at);
          continue;
        }
      if (c == '{' || c == '[')
        level++;
      else if ((c == '}' || c == ']') && --level == 0)
        return false;
      at++;
    }
  return false;
}

/* Where the object's key stands in the text, and where to look for its own. */
static void
find_object (const QmJsonObject *object, size_t *key, size_t *inside)
{
  *key = *inside = 0;
  if (object->parent == NULL)
    return;
  find_object (object->parent, key, inside);
  if (find_key (object->source, inside, object->section))
    {
      *key = *inside;
      *inside += strlen (object->section) + 2;
    }
}

const char *
qm_json_text (const QmJsonObject *object, size_t *length)
{
  const QmJsonText *source = object->source;
  size_t key, at, begin;
  int level = 0;

  find_object (object, &key, &at);
  while (at < source->length && source->text[at] != '{')
    at++;
  begin = at;
  while (at < source->length)
    {
      char c = source->text[at];

      at = c == '"' ? skip_string (source, at) : at + 1;
      if (c == '{' || c == '[')
        level++;
      else if ((c == '}' || c == ']') && --level == 0)
        break;
    }
  *length = at <= source->length ? at - begin : 0;
  return source->text + begin;
}

static void
locate (const QmJsonObject *object, const char *name, int *line, int *column)
{
  const QmJsonText *source = object->source;
  size_t at, inside;

  find_object (object, &at, &inside);
  if (find_key (source, &inside, name))
    at = inside;
  qm_text_position (source->text, source->length, at, line, column);
}

/* Writes "config.rope_parameters." */
static void
write_path (const QmJsonObject *object, char *path, size_t size)
{
  size_t used;

  if (object->parent == NULL)
    return;
  write_path (object->parent, path, size);
  used = strlen (path);
  snprintf (path + used, size - used, "%s.", object->section);
}

void
qm_json_fail (QmJsonObject *object,
              const char *name,
              QmStatus status,
              const char *format,
              ...)
{
  char message[QM_MESSAGE_BYTES], path[128] = "";
  va_list arguments;
  int line, column;

  if (object->status != QM_OK)
    return;
  va_start (arguments, format);
  vsnprintf (message, sizeof message, format, arguments);
  va_end (arguments);
  locate (object, name, &line, &column);
  write_path (object, path, sizeof path);
  object->status = qm_error_set (object->error, status, object->source->file,
                                 line, column, "%s%s: %s", path, name, message);
}

bool
qm_json_has (const QmJsonObject *object, const char *name)
{
  json_t *value = json_object_get (object->json, name);

  return value != NULL && !json_is_null (value);
}

json_t *
qm_json_take (QmJsonObject *object, const char *name)
{
  if (object->n_read < QM_JSON_MAX_READ)
    object->read[object->n_read++] = name;
  return qm_json_has (object, name) ? json_object_get (object->json, name)
                                    : NULL;
}

void
qm_json_enter (QmJsonObject *parent, const char *name, QmJsonObject *object)
{
  json_t *value = qm_json_take (parent, name);

  if (value == NULL)
    qm_json_fail (parent, name, QM_STATUS_INVALID, "is missing");
  else if (!json_is_object (value))
    qm_json_fail (parent, name, QM_STATUS_INVALID, "is not an object");
  *object = (QmJsonObject){ .source = parent->source,
                            .json = value,
                            .parent = parent,
                            .section = name,
                            .status = parent->status,
                            .error = parent->error };
}

int64_t
qm_json_integer_or (QmJsonObject *object,
                    const char *name,
                    int64_t min,
                    int64_t max,
                    int64_t absent)
{
  json_t *value = qm_json_take (object, name);
  json_int_t number;

  if (value == NULL)
    return absent;
  if (!json_is_integer (value))
    {
      qm_json_fail (object, name, QM_STATUS_INVALID, "is not a whole number");
      return min;
    }
  number = json_integer_value (value);
  if (number < min || number > max)
    {
      qm_json_fail (object, name, QM_STATUS_INVALID,
                    "%lld is not between %lld and %lld", (long long) number,
                    (long long) min, (long long) max);
      return min;
    }
  return number;
}

static void
require (QmJsonObject *object, const char *name)
{
  if (!qm_json_has (object, name))
    qm_json_fail (object, name, QM_STATUS_INVALID, "is missing");
}

int64_t
qm_json_integer (QmJsonObject *object,
                 const char *name,
                 int64_t min,
                 int64_t max)
{
  require (object, name);
  return qm_json_integer_or (object, name, min, max, min);
}

double
qm_json_number_or (QmJsonObject *object,
                   const char *name,
                   double min,
                   double max,
                   double absent)
{
  json_t *value = qm_json_take (object, name);
  double number;

  if (value == NULL)
    return absent;
  if (!json_is_number (value))
    {
      qm_json_fail (object, name, QM_STATUS_INVALID, "is not a number");
      return min;
    }
  number = json_number_value (value);
  if (number < min || number > max)
    {
      qm_json_fail (object, name, QM_STATUS_INVALID,
                    "%.10g is not between %.10g and %.10g", number, min, max);
      return min;
    }
  return number;
}

double
qm_json_number (QmJsonObject *object, const char *name, double min, double max)
{
  require (object, name);
  return qm_json_number_or (object, name, min, max, min);
}

bool
qm_json_boolean_or (QmJsonObject *object, const char *name, bool absent)
{
  json_t *value = qm_json_take (object, name);

  if (value == NULL)
    return absent;
  if (!json_is_boolean (value))
    {
      qm_json_fail (object, name, QM_STATUS_INVALID,
                    "is neither true nor false");
      return absent;
    }
  return json_is_true (value);
}

const char *
qm_json_string (QmJsonObject *object, const char *name, bool required)
{
  json_t *value;

  if (required)
    require (object, name);
  value = qm_json_take (object, name);
  if (value == NULL)
    return NULL;
  if (!json_is_string (value))
    {
      qm_json_fail (object, name, QM_STATUS_INVALID, "is not a string");
      return NULL;
    }
  return json_string_value (value);
}

static bool
contains (const char *const *names, size_t n_names, const char *name)
{
  for (size_t i = 0; names != NULL && i < n_names && names[i] != NULL; i++)
    if (strcmp (names[i], name) == 0)
      return true;
  return false;
}

QmStatus
qm_json_finish (QmJsonObject *object, const char *const *harmless)
{
  const char *name;
  json_t *value;

  if (object->status != QM_OK)
    return object->status;
  json_object_foreach (object->json, name, value)
  {
    const char *nearest;

    if (contains (object->read, object->n_read, name)
        || contains (harmless, SIZE_MAX, name))
      continue;
    if (object->lax && json_is_null (value))
      continue;
    nearest = qm_nearest_name (name, object->read, object->n_read);
    if (object->lax && json_is_false (value) && nearest == NULL)
      continue;
    if (nearest != NULL)
      qm_json_fail (object, name, QM_STATUS_UNSUPPORTED,
                    "unsupported field; did you mean '%s'?", nearest);
    else
      qm_json_fail (object, name, QM_STATUS_UNSUPPORTED, "unsupported field");
    break;
  }
  return object->status;
}
