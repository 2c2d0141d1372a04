/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "data/datadir.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

__attribute__ ((format (printf, 3, 4))) static bool
write_path (char *buffer, size_t size, const char *format, ...)
{
  va_list arguments;
  int length;

  va_start (arguments, format);
  length = vsnprintf (buffer, size, format, arguments);
  va_end (arguments);
  if (length >= 0 && (size_t) length < size)
    return true;
  if (size > 0)
    buffer[0] = '\0';
  return false;
}

static bool
program_directory (char *buffer, size_t size)
{
  ssize_t length = readlink ("/proc/self/exe", buffer, size - 1);
  char *slash;

  if (length <= 0 || (size_t) length >= size - 1)
    return false;
  buffer[length] = '\0';
  slash = strrchr (buffer, '/');
  if (slash == NULL)
    return false;
  *slash = '\0';
  return true;
}

static bool
holds_catalog (const char *directory)
{
  char path[PATH_MAX];

  return write_path (path, sizeof path, "%s/gpus.csv", directory)
         && access (path, R_OK) == 0;
}

bool
qm_data_dir (char *buffer, size_t size)
{
  static const char *const near[] = { "../data", "../../data",
                                      "../share/quartermaster",
                                      "../quartermaster" };
  const char *variable = getenv ("QUARTERMASTER_DATA_DIR");
  char program[PATH_MAX];

  if (variable != NULL && *variable != '\0')
    return write_path (buffer, size, "%s", variable);
  if (program_directory (program, sizeof program))
    for (size_t i = 0; i < sizeof near / sizeof near[0]; i++)
      if (write_path (buffer, size, "%s/%s", program, near[i])
          && holds_catalog (buffer))
        return true;
  return write_path (buffer, size, "%s", QM_PKGDATADIR);
}

bool
qm_user_data_dir (char *buffer, size_t size)
{
  const char *data_home = getenv ("XDG_DATA_HOME");
  const char *home = getenv ("HOME");

  if (data_home != NULL && *data_home == '/')
    return write_path (buffer, size, "%s/quartermaster", data_home);
  if (home != NULL && *home == '/')
    return write_path (buffer, size, "%s/.local/share/quartermaster", home);
  if (size > 0)
    buffer[0] = '\0';
  return false;
}
