/* SPDX-License-Identifier: Apache-2.0 */

#include "data/json-skim.h"

#include <stdbool.h>
#include <string.h>

#define MOST_DEPTH  8
#define MOST_NAMES  64 /* of an object */
#define MOST_DIGITS 18 /* of a number, with its signs: none overflows */

/* A string in the text, without its quotes. */
typedef struct Name
{
  const char *text;
  size_t length;
} Name;

typedef struct Skim
{
  const char *at, *end;
  char *out;
  const QmJsonPart *parts;
  size_t n_parts;
} Skim;

static bool walk_value (Skim *skim, int depth);

static void
skip_space (Skim *skim)
{
  while (skim->at < skim->end
         && (*skim->at == ' ' || *skim->at == '\t' || *skim->at == '\n'
             || *skim->at == '\r'))
    skim->at++;
}

static bool
take (Skim *skim, char c)
{
  skip_space (skim);
  if (skim->at == skim->end || *skim->at != c)
    return false;
  skim->at++;
  return true;
}

/* A string of ASCII that means itself. */
static bool
take_string (Skim *skim, Name *name)
{
  if (!take (skim, '"'))
    return false;
  name->text = skim->at;
  for (; skim->at < skim->end && *skim->at != '"'; skim->at++)
    if (*skim->at == '\\' || *skim->at < 0x20 || *skim->at > 0x7e)
      return false;
  name->length = (size_t) (skim->at - name->text);
  return take (skim, '"');
}

static bool
skip_digits (Skim *skim)
{
  const char *begin = skim->at;

  while (skim->at < skim->end && *skim->at >= '0' && *skim->at <= '9')
    skim->at++;
  return skim->at > begin;
}

static bool
skip_char (Skim *skim, const char *any)
{
  if (skim->at == skim->end || *skim->at == '\0'
      || strchr (any, *skim->at) == NULL)
    return false;
  skim->at++;
  return true;
}

/* Exponents are for numbers that may be too large. */
static bool
walk_number (Skim *skim)
{
  const char *begin = skim->at;

  skip_char (skim, "-");
  if (!skip_char (skim, "0") && !skip_digits (skim))
    return false;
  if (skip_char (skim, ".") && !skip_digits (skim))
    return false;
  if (skip_char (skim, "eE"))
    {
      if (!skip_char (skim, "-") || !skip_digits (skim))
        return false;
    }
  return skim->at - begin <= MOST_DIGITS;
}

static bool
walk_word (Skim *skim, const char *word)
{
  size_t length = strlen (word);

  if ((size_t) (skim->end - skim->at) < length
      || memcmp (skim->at, word, length) != 0)
    return false;
  skim->at += length;
  return true;
}

static bool
same_name (const Name *a, const Name *b)
{
  return a->length == b->length && memcmp (a->text, b->text, a->length) == 0;
}

/* The name of a member, and its colon; false where it cannot be told from those
 * before it. */
static bool
take_name (Skim *skim, Name *names, size_t *n)
{
  if (*n == MOST_NAMES || !take_string (skim, &names[*n]) || !take (skim, ':'))
    return false;
  for (size_t i = 0; i < *n; i++)
    if (same_name (&names[i], &names[*n]))
      return false;
  ++*n;
  skip_space (skim);
  return true;
}

static bool
walk_object (Skim *skim, int depth)
{
  Name names[MOST_NAMES];
  size_t n = 0;

  if (take (skim, '}'))
    return true;
  do
    if (!take_name (skim, names, &n) || !walk_value (skim, depth + 1))
      return false;
  while (take (skim, ','));
  return take (skim, '}');
}

static bool
walk_array (Skim *skim, int depth)
{
  if (take (skim, ']'))
    return true;
  do
    if (!walk_value (skim, depth + 1))
      return false;
  while (take (skim, ','));
  return take (skim, ']');
}

static bool
walk_value (Skim *skim, int depth)
{
  Name string;

  skip_space (skim);
  if (skim->at == skim->end || depth > MOST_DEPTH)
    return false;
  switch (*skim->at)
    {
    case '{':
      skim->at++;
      return walk_object (skim, depth);

    case '[':
      skim->at++;
      return walk_array (skim, depth);

    case '"':
      return take_string (skim, &string);

    case 't':
      return walk_word (skim, "true");

    case 'f':
      return walk_word (skim, "false");

    case 'n':
      return walk_word (skim, "null");

    default:
      return walk_number (skim);
    }
}

static void
copy_text (Skim *skim, const char *begin, const char *end)
{
  size_t length = (size_t) (end - begin);

  memcpy (skim->out, begin, length);
  skim->out += length;
}

/* The name of a member, after those that are there. */
static void
copy_name (Skim *skim, const Name *name)
{
  if (skim->out[-1] != '{')
    *skim->out++ = ',';
  copy_text (skim, name->text - 1, name->text + name->length + 1);
  *skim->out++ = ':';
}

static bool
is_called (const Name *name, const char *wanted)
{
  return *wanted == *name->text
         && strncmp (wanted, name->text, name->length) == 0
         && wanted[name->length] == '\0';
}

static const QmJsonPart *
find_part (const Skim *skim, const Name *name)
{
  for (size_t i = 0; i < skim->n_parts; i++)
    if (is_called (name, skim->parts[i].name))
      return &skim->parts[i];
  return NULL;
}

static bool
is_read (const QmJsonPart *part, const Name *name)
{
  for (size_t i = 0; i < QM_JSON_PART_NAMES && part->read[i] != NULL; i++)
    if (is_called (name, part->read[i]))
      return true;
  return false;
}

/* The members of a part that are read, after its brace. */
static bool
skim_part (Skim *skim, const QmJsonPart *part)
{
  Name names[MOST_NAMES];
  size_t n = 0;

  if (take (skim, '}'))
    return true;
  do
    {
      const char *value;

      if (!take_name (skim, names, &n))
        return false;
      value = skim->at;
      if (!walk_value (skim, 2))
        return false;
      if (is_read (part, &names[n - 1]))
        {
          copy_name (skim, &names[n - 1]);
          copy_text (skim, value, skim->at);
        }
    }
  while (take (skim, ','));
  return take (skim, '}');
}

static bool
skim_member (Skim *skim, const Name *name)
{
  const QmJsonPart *part = find_part (skim, name);
  const char *value = skim->at;

  if (part != NULL && part->read[0] == NULL)
    return walk_value (skim, 1);
  copy_name (skim, name);
  if (part == NULL || !take (skim, '{'))
    {
      if (!walk_value (skim, 1))
        return false;
      copy_text (skim, value, skim->at);
      return true;
    }
  *skim->out++ = '{';
  if (!skim_part (skim, part))
    return false;
  *skim->out++ = '}';
  return true;
}

size_t
qm_json_skim (const char *text,
              size_t length,
              const QmJsonPart *parts,
              size_t n_parts,
              char *out)
{
  Skim skim = { text, text + length, out, parts, n_parts };
  Name names[MOST_NAMES];
  size_t n = 0;

  if (!take (&skim, '{'))
    return 0;
  *skim.out++ = '{';
  do
    if (!take_name (&skim, names, &n) || !skim_member (&skim, &names[n - 1]))
      return 0;
  while (take (&skim, ','));
  if (!take (&skim, '}'))
    return 0;
  skip_space (&skim);
  if (skim.at != skim.end)
    return 0;
  *skim.out++ = '}';
  return (size_t) (skim.out - out);
}
