/* SPDX-License-Identifier: Apache-2.0 */

#include "data/error.h"

#include "data/text.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* What formatting is done in: escapes need more room than what they stand for,
 * and what is cut afterwards is cut where a character ends. */
#define ROOM 1024

QmStatus
qm_error_set (QmError *error,
              QmStatus status,
              const char *file,
              int line,
              int column,
              const char *format,
              ...)
{
  char text[ROOM];
  va_list arguments;

  if (error == NULL)
    return status;

  error->status = status;
  error->line = line;
  error->column = column;

  snprintf (text, sizeof text, "%s", file != NULL ? file : "");
  qm_text_trim (text);
  qm_text_escape (text, error->file, sizeof error->file);

  va_start (arguments, format);
  vsnprintf (text, sizeof text, format, arguments);
  va_end (arguments);
  qm_text_trim (text);
  qm_text_escape (text, error->message, sizeof error->message);

  return status;
}

QmStatus
qm_error_no_memory (QmError *error)
{
  return qm_error_set (error, QM_STATUS_NO_MEMORY, "", 0, 0,
                       "the host is out of memory");
}
