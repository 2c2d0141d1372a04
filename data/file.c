/* SPDX-License-Identifier: Apache-2.0 */

#define _XOPEN_SOURCE 700 /* realpath() */

#include "data/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool
qm_file_exists (const char *path)
{
  struct stat info;

  return lstat (path, &info) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

QmStatus
qm_file_open (const char *path, FILE **stream, uint64_t *size, QmError *error)
{
  struct stat info;
  /* Without O_NONBLOCK a named pipe would wait for a writer. */
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

  *stream = NULL;
  if (fd < 0)
    return qm_error_set (error, QM_STATUS_IO, path, 0, 0,
                         "cannot be opened: %s", strerror (errno));
  if (fstat (fd, &info) == 0 && S_ISREG (info.st_mode))
    {
      *stream = fdopen (fd, "rb");
      *size = (uint64_t) info.st_size;
      if (*stream != NULL)
        return QM_OK;
      qm_error_set (error, QM_STATUS_IO, path, 0, 0, "cannot be opened: %s",
                    strerror (errno));
    }
  else
    qm_error_set (error, QM_STATUS_IO, path, 0, 0,
                  S_ISDIR (info.st_mode) ? "is a directory, not a file"
                                         : "is not a regular file");
  close (fd);
  return QM_STATUS_IO;
}

QmStatus
qm_file_place (const char *path, char *place, size_t size, QmError *error)
{
  struct stat info;
  char *target = NULL;
  int length;

  if (lstat (path, &info) == 0)
    {
      target = realpath (path, NULL);
      if (target == NULL || stat (target, &info) != 0)
        {
          free (target);
          return qm_error_set (error, QM_STATUS_IO, path, 0, 0,
                               "cannot be written: %s", strerror (errno));
        }
      if (!S_ISREG (info.st_mode))
        {
          free (target);
          return qm_error_set (error, QM_STATUS_IO, path, 0, 0,
                               S_ISDIR (info.st_mode)
                                   ? "is a directory, not a file"
                                   : "is not a regular file");
        }
      /* Renaming does not ask; whoever has made it read-only wants it kept. */
      if ((info.st_mode & 0222) == 0)
        {
          free (target);
          return qm_error_set (error, QM_STATUS_IO, path, 0, 0,
                               "cannot be written: %s", strerror (EACCES));
        }
    }
  length = snprintf (place, size, "%s", target != NULL ? target : path);
  free (target);
  if (length >= 0 && (size_t) length < size)
    return QM_OK;
  return qm_error_set (error, QM_STATUS_IO, path, 0, 0,
                       "is longer than a path may be");
}

bool
qm_file_part_name (const char *place, char *name, size_t size)
{
  int length = snprintf (name, size, "%s.%ld.part", place, (long) getpid ());

  return length >= 0 && (size_t) length < size;
}

FILE *
qm_file_create_part (const char *name)
{
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  int fd = open (name, flags, 0666);
  FILE *stream;

  if (fd < 0 && errno == EEXIST && unlink (name) == 0)
    fd = open (name, flags, 0666);
  if (fd < 0)
    return NULL;
  stream = fdopen (fd, "wb");
  if (stream == NULL)
    close (fd);
  return stream;
}

void
qm_file_synchronize_folder (const char *path)
{
  char folder[PATH_MAX];
  char *slash;
  int fd;

  if (strlen (path) >= sizeof folder)
    return;
  strcpy (folder, path);
  slash = strrchr (folder, '/');
  if (slash == NULL)
    strcpy (folder, ".");
  else
    slash[slash == folder] = '\0';
  fd = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return;
  fsync (fd);
  close (fd);
}

QmStatus
qm_file_make_folders (const char *path, QmError *error)
{
  char folder[PATH_MAX];

  if (strlen (path) >= sizeof folder)
    return qm_error_set (error, QM_STATUS_IO, path, 0, 0,
                         "is longer than a path may be");
  strcpy (folder, path);
  for (char *slash = strchr (folder + 1, '/'); slash != NULL;
       slash = strchr (slash + 1, '/'))
    {
      *slash = '\0';
      if (mkdir (folder, 0777) == 0)
        qm_file_synchronize_folder (folder);
      else if (errno != EEXIST)
        return qm_error_set (error, QM_STATUS_IO, folder, 0, 0,
                             "cannot be made: %s", strerror (errno));
      *slash = '/';
    }
  return QM_OK;
}

/* `end` is written behind the bytes. */
static QmStatus
write_whole (const char *path,
             const char *bytes,
             size_t length,
             const char *end,
             QmError *error)
{
  char place[PATH_MAX], part[PATH_MAX];
  struct stat info;
  FILE *file;
  bool good;
  QmStatus status = qm_file_place (path, place, sizeof place, error);

  if (status != QM_OK)
    return status;
  if (!qm_file_part_name (place, part, sizeof part))
    return qm_error_set (error, QM_STATUS_IO, path, 0, 0,
                         "is longer than a path may be");
  file = qm_file_create_part (part);
  if (file == NULL)
    return qm_error_set (error, QM_STATUS_IO, path, 0, 0,
                         "cannot be written: %s", strerror (errno));
  good = fwrite (bytes, 1, length, file) == length && fputs (end, file) >= 0
         && fflush (file) == 0 && fsync (fileno (file)) == 0;
  if (good && stat (place, &info) == 0)
    fchmod (fileno (file), info.st_mode & 0777);
  good = fclose (file) == 0 && good;
  if (good && rename (part, place) == 0)
    return QM_OK;
  qm_error_set (error, QM_STATUS_IO, path, 0, 0, "cannot be written: %s",
                strerror (errno));
  unlink (part);
  return QM_STATUS_IO;
}

QmStatus
qm_file_replace (const char *path,
                 const char *bytes,
                 size_t length,
                 QmError *error)
{
  return write_whole (path, bytes, length, "", error);
}

QmStatus
qm_file_write (const char *path, const char *text, QmError *error)
{
  return write_whole (path, text, strlen (text), "\n", error);
}
