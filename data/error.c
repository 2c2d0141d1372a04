/* SPDX-License-Identifier: Apache-2.0 */

#include "data/error.h"

#include "data/text.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* What moves a terminal's cursor, or worse, has no place in a message. */
static void
blank_controls (char *text)
{
  for (; *text != '\0'; text++)
    if ((unsigned char) *text < 0x20 || *text == 0x7f)
      *text = '?';
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
  qm_text_trim (error->file);
  blank_controls (error->file);

  va_start (arguments, format);
  vsnprintf (error->message, sizeof error->message, format, arguments);
  va_end (arguments);
  qm_text_trim (error->message);
  blank_controls (error->message);

  return status;
}
