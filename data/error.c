/* SPDX-License-Identifier: Apache-2.0 */

#include "data/error.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Drops the bytes of a sequence that the end of the buffer has cut. */
static void
trim_utf8 (char *text)
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

QmStatus
qm_error_set (QmError *error,
              QmStatus status,
              const char *file,
              int line,
              int column,
              const char *format,
              ...)
{
  va_list arguments;

  if (error == NULL)
    return status;

  error->status = status;
  error->line = line;
  error->column = column;

  snprintf (error->file, sizeof error->file, "%s", file != NULL ? file : "");
  trim_utf8 (error->file);

  va_start (arguments, format);
  vsnprintf (error->message, sizeof error->message, format, arguments);
  va_end (arguments);
  trim_utf8 (error->message);

  return status;
}
