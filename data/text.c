/* SPDX-License-Identifier: Apache-2.0 */

#include "data/text.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads until the end, into memory that grows from `expected` bytes. */
static QmStatus
read_to_end (int fd,
             const char *path,
             size_t expected,
             size_t most,
             char **text,
             size_t *length,
             QmError *error)
{
  size_t size = expected + 2;

  *text = malloc (size);
  *length = 0;
  while (*text != NULL && *length <= most)
    {
      ssize_t n = read (fd, *text + *length, size - 1 - *length);

      if (n == 0)
        {
          (*text)[*length] = '\0';
          return QM_OK;
        }
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return qm_error_set (error, QM_STATUS_IO, path, 0, 0,
                             "cannot be read: %s", strerror (errno));
      *length += (size_t) n;
      if (*length == size - 1)
        {
          char *grown = realloc (*text, size * 2);

          if (grown == NULL)
            break;
          *text = grown;
          size *= 2;
        }
    }
  if (*length > most)
    return qm_error_set (error, QM_STATUS_IO, path, 0, 0,
                         "is larger than %zu MiB", most / 1024 / 1024);
  return qm_error_set (error, QM_STATUS_NO_MEMORY, path, 0, 0, "out of memory");
}

QmStatus
qm_text_read_bytes (
    const char *path, size_t most, char **text, size_t *length, QmError *error)
{
  struct stat info;
  QmStatus status;
  size_t expected = most;
  /* Without O_NONBLOCK a named pipe would wait for a writer. */
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

  *text = NULL;
  if (fd < 0)
    return qm_error_set (error, QM_STATUS_IO, path, 0, 0,
                         "cannot be opened: %s", strerror (errno));
  if (fstat (fd, &info) != 0 || !S_ISREG (info.st_mode))
    {
      bool directory = S_ISDIR (info.st_mode);

      close (fd);
      return qm_error_set (error, QM_STATUS_IO, path, 0, 0,
                           directory ? "is a directory, not a file"
                                     : "is not a regular file");
    }
  if (info.st_size >= 0 && (uintmax_t) info.st_size < expected)
    expected = (size_t) info.st_size;
  status = read_to_end (fd, path, expected, most, text, length, error);
  close (fd);
  if (status != QM_OK)
    {
      free (*text);
      *text = NULL;
    }
  return status;
}

QmStatus
qm_text_read_file (const char *path,
                   char **text,
                   size_t *length,
                   QmError *error)
{
  QmStatus status =
      qm_text_read_bytes (path, QM_TEXT_MAX_BYTES, text, length, error);

  if (status != QM_OK)
    return status;
  if (*length >= 3 && memcmp (*text, "\xef\xbb\xbf", 3) == 0)
    {
      *length -= 3;
      memmove (*text, *text + 3, *length + 1);
    }
  status = qm_text_check (*text, *length, path, error);
  if (status != QM_OK)
    {
      free (*text);
      *text = NULL;
    }
  return status;
}

void
qm_text_trim (char *text)
{
  size_t length = strlen (text);
  size_t start = length;
  size_t needed;
  unsigned char lead;

  while (start > 0 && ((unsigned char) text[start - 1] & 0xc0) == 0x80)
    start--;
  if (start == 0)
    return;
  lead = (unsigned char) text[start - 1];
  needed = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  if (length - (start - 1) < needed)
    text[start - 1] = '\0';
}

/* Bytes of the UTF-8 sequence at `text`, or 0 where there is none: Unicode
 * 15.0, table 3-7. */
static size_t
sequence_length (const unsigned char *text, size_t left)
{
  unsigned char lead = text[0];
  unsigned char low = 0x80, high = 0xbf;
  size_t length;

  if (lead < 0x80)
    return 1;
  if (lead < 0xc2 || lead > 0xf4)
    return 0;
  length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (length > left)
    return 0;

  if (lead == 0xe0)
    low = 0xa0;
  else if (lead == 0xed)
    high = 0x9f;
  else if (lead == 0xf0)
    low = 0x90;
  else if (lead == 0xf4)
    high = 0x8f;
  if (text[1] < low || text[1] > high)
    return 0;
  for (size_t i = 2; i < length; i++)
    if ((text[i] & 0xc0) != 0x80)
      return 0;
  return length;
}

static bool
is_control (unsigned char byte)
{
  return (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r')
         || byte == 0x7f;
}

QmStatus
qm_text_check (const char *text,
               size_t length,
               const char *file,
               QmError *error)
{
  size_t i = 0;
  int line, column;

  while (i < length)
    {
      unsigned char byte = (unsigned char) text[i];
      size_t step =
          sequence_length ((const unsigned char *) text + i, length - i);

      if (step == 0 || is_control (byte))
        {
          qm_text_position (text, length, i, &line, &column);
          if (step == 0)
            return qm_error_set (error, QM_STATUS_PARSE, file, line, column,
                                 "is not UTF-8 text: byte 0x%02x", byte);
          return qm_error_set (error, QM_STATUS_PARSE, file, line, column,
                               "is not text: control character 0x%02x", byte);
        }
      i += step;
    }
  return QM_OK;
}

bool
qm_text_is_line (const char *text)
{
  for (; *text != '\0'; text++)
    if ((unsigned char) *text < 0x20 || *text == 0x7f)
      return false;
  return true;
}

void
qm_text_position (
    const char *text, size_t length, size_t offset, int *line, int *column)
{
  if (offset > length)
    offset = length;
  *line = 1;
  *column = 1;
  for (size_t i = 0; i < offset; i++)
    {
      /* A carriage return ends a line unless a line feed does. */
      if (text[i] == '\n'
          || (text[i] == '\r' && (i + 1 == length || text[i + 1] != '\n')))
        {
          (*line)++;
          *column = 1;
        }
      else
        (*column)++;
    }
}

/* Whether text is [+-] digits [. digits] [e [+-] digits]. */
static bool
is_decimal (const char *text)
{
  static const char digits[] = "0123456789";
  size_t n;

  if (*text == '+' || *text == '-')
    text++;
  n = strspn (text, digits);
  if (n == 0)
    return false;
  text += n;
  if (*text == '.')
    {
      n = strspn (text + 1, digits);
      if (n == 0)
        return false;
      text += n + 1;
    }
  if (*text == 'e' || *text == 'E')
    {
      text++;
      if (*text == '+' || *text == '-')
        text++;
      n = strspn (text, digits);
      if (n == 0)
        return false;
      text += n;
    }
  return *text == '\0';
}

bool
qm_number_parse (const char *text, double *value)
{
  locale_t c_locale, previous;
  double parsed;

  if (!is_decimal (text))
    return false;

  /* strtod() reads the decimal point of the locale. */
  c_locale = newlocale (LC_ALL_MASK, "C", (locale_t) 0);
  if (c_locale == (locale_t) 0)
    return false;
  previous = uselocale (c_locale);
  parsed = strtod (text, NULL);
  uselocale (previous);
  freelocale (c_locale);

  if (!isfinite (parsed))
    return false;
  *value = parsed;
  return true;
}

/* The character that a sequence of UTF-8 is. */
static uint32_t
decode (const unsigned char *text, size_t length)
{
  static const unsigned char masks[] = { 0x00, 0x7f, 0x1f, 0x0f, 0x07 };
  uint32_t code = text[0] & masks[length];

  for (size_t i = 1; i < length; i++)
    code = code << 6 | (text[i] & 0x3f);
  return code;
}

/* Whether a character does something to what is around it, or to a terminal:
 * controls of C0 and C1, the controls of direction, what is seen as nothing,
 * what breaks lines, tags and private use. */
static bool
is_unsafe (uint32_t code)
{
  static const uint32_t ranges[][2] = {
    { 0x0000, 0x001f },    { 0x007f, 0x009f }, { 0x00ad, 0x00ad },
    { 0x061c, 0x061c },    { 0x200b, 0x200f }, { 0x2028, 0x202e },
    { 0x2060, 0x206f },    { 0xe000, 0xf8ff }, { 0xfeff, 0xfeff },
    { 0xfff0, 0xfffb },    { 0xfffe, 0xffff }, { 0xe0000, 0xe0fff },
    { 0xf0000, 0x10ffff },
  };

  for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
    if (code >= ranges[i][0] && code <= ranges[i][1])
      return true;
  return false;
}

size_t
qm_text_next (const char *text, uint32_t *code)
{
  size_t length =
      sequence_length ((const unsigned char *) text, strnlen (text, 4));

  *code = length > 0 ? decode ((const unsigned char *) text, length)
                     : (unsigned char) *text;
  if (length == 0)
    return 0;
  return is_unsafe (*code) ? 0 : length;
}

char *
qm_text_escape (const char *text, char *safe, size_t size)
{
  static const char ellipsis[] = "…";
  size_t used = 0, last = 0; /* where an ellipsis still has room */

  while (*text != '\0')
    {
      char piece[16];
      uint32_t code;
      size_t step = qm_text_next (text, &code), length = step;

      if (step > 0)
        memcpy (piece, text, step);
      else
        {
          step =
              sequence_length ((const unsigned char *) text, strnlen (text, 4));
          length = (size_t) snprintf (piece, sizeof piece,
                                      step > 1 ? "\\u%04x" : "\\x%02x",
                                      (unsigned) code);
          step = step > 0 ? step : 1;
        }
      if (used + length >= size)
        break;
      memcpy (safe + used, piece, length);
      used += length;
      if (used + sizeof ellipsis <= size)
        last = used;
      text += step;
    }
  if (*text == '\0')
    safe[used] = '\0';
  else if (size >= sizeof ellipsis)
    strcpy (safe + last, ellipsis);
  else
    safe[0] = '\0';
  return safe;
}

const char *
qm_text_quote (const char *text, char buffer[QM_QUOTE_BYTES])
{
  buffer[0] = '\'';
  qm_text_escape (text, buffer + 1, QM_QUOTE_BYTES - 2);
  strcat (buffer, "'");
  return buffer;
}

char *
qm_text_end_line (char *text)
{
  char *line = text != NULL ? realloc (text, strlen (text) + 2) : NULL;

  if (line == NULL)
    free (text);
  else
    strcat (line, "\n");
  return line;
}
