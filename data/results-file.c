/* SPDX-License-Identifier: Apache-2.0 */

#include "data/results-file.h"

#include "data/datadir.h"
#include "data/file.h"
#include "data/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

#define HOST_BYTES 65

/* Of an error that is to name a file as well. */
#define MOST_WHY 140

#define HOST_CHARACTERS \
  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

struct QmResultsFile
{
  char *path;
  int fd;
  off_t end;    /* of the last whole line */
  off_t length; /* of all that is in it */
  size_t repaired;
  bool unended; /* the last whole line is without its line feed */
  bool kept;    /* what was known is in a file of another name */
  QmResultsChange change;
  QmResults *content;
};

static QmStatus
fail_by_errno (QmError *error, const char *path, const char *what)
{
  return qm_error_set (error, QM_STATUS_IO, path, 0, 0, "%s: %s", what,
                       strerror (errno));
}

/* The name of this host up to its first dot, as a part of a file's name. */
static void
write_host (char name[HOST_BYTES])
{
  if (gethostname (name, HOST_BYTES) != 0)
    name[0] = '\0';
  name[HOST_BYTES - 1] = '\0';
  name[strcspn (name, ".")] = '\0';
  for (char *c = name; *c != '\0'; c++)
    if (strchr (HOST_CHARACTERS, *c) == NULL)
      *c = '-';
  if (name[0] == '\0')
    strcpy (name, "this-host");
}

bool
qm_results_default_path (char *path, size_t size)
{
  char host[HOST_BYTES], name[HOST_BYTES + 32];
  int length;

  write_host (host);
  length = snprintf (name, sizeof name, "/measurements/%s.jsonl", host);
  if (size <= (size_t) length
      || !qm_user_data_dir (path, size - (size_t) length))
    return false;
  strcat (path, name);
  return true;
}

void
qm_results_now (char text[QM_RESULTS_TIME_BYTES])
{
  time_t now = time (NULL);
  struct tm parts = { .tm_year = 70, .tm_mday = 1 };

  gmtime_r (&now, &parts);
  if (strftime (text, QM_RESULTS_TIME_BYTES, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
    memcpy (text, "1970-01-01T00:00:00Z", QM_RESULTS_TIME_BYTES);
}

/* Opens the regular file; a pipe must not be waited for. */
static QmStatus
open_regular (const char *path, int *fd, QmError *error)
{
  const int flags = O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  struct stat info;
  bool is_new;

  *fd = open (path, flags | O_CREAT | O_EXCL, 0666);
  is_new = *fd >= 0;
  if (*fd < 0 && errno == EEXIST)
    *fd = open (path, flags);
  if (*fd < 0)
    return fail_by_errno (error, path, "cannot be opened for writing");
  if (is_new)
    qm_file_synchronize_folder (path);
  if (fstat (*fd, &info) == 0 && S_ISREG (info.st_mode))
    return QM_OK;
  close (*fd);
  *fd = -1;
  return qm_error_set (error, QM_STATUS_IO, path, 0, 0,
                       "is not a regular file");
}

static QmStatus
lock (int fd, const char *path, bool wait, bool *busy, QmError *error)
{
  int result = flock (fd, LOCK_EX | LOCK_NB);

  *busy = result != 0 && errno == EWOULDBLOCK;
  if (*busy && wait)
    result = flock (fd, LOCK_EX);
  if (result == 0)
    return QM_OK;
  if (errno == EINTR)
    return qm_error_set (error, QM_STATUS_INTERRUPTED, path, 0, 0,
                         "interrupted");
  if (*busy)
    return qm_error_set (error, QM_STATUS_IO, path, 0, 0,
                         "another program is writing results into it");
  return fail_by_errno (error, path, "cannot be locked");
}

/* Whether the file is still the one of that name: another may have taken its
 * place while it was waited for. */
static bool
is_named (int fd, const char *path)
{
  struct stat mine, named;

  return fstat (fd, &mine) == 0 && stat (path, &named) == 0
         && mine.st_dev == named.st_dev && mine.st_ino == named.st_ino;
}

static QmStatus
open_and_lock (const char *path, bool wait, bool *busy, int *fd, QmError *error)
{
  QmStatus status;

  *busy = false;
  do
    {
      status = open_regular (path, fd, error);
      if (status != QM_OK)
        return status;
      status = lock (*fd, path, wait, busy, error);
      if (status == QM_OK && is_named (*fd, path))
        return QM_OK;
      close (*fd);
      *fd = -1;
    }
  while (status == QM_OK);
  return status;
}

static QmStatus
write_all (int fd, const char *path, const char *text, size_t n, QmError *error)
{
  while (n > 0)
    {
      ssize_t written = write (fd, text, n);

      if (written < 0 && errno == EINTR)
        continue;
      if (written <= 0)
        return fail_by_errno (error, path, "cannot be written");
      text += written;
      n -= (size_t) written;
    }
  return QM_OK;
}

static QmStatus
synchronize (int fd, const char *path, QmError *error)
{
  int result;

  do
    result = fsync (fd);
  while (result != 0 && errno == EINTR);
  return result == 0 ? QM_OK : fail_by_errno (error, path, "cannot be written");
}

/* Makes the file end where its last whole line does. */
static QmStatus
cut_behind_lines (QmResultsFile *file, QmError *error)
{
  if (ftruncate (file->fd, file->end) != 0)
    return fail_by_errno (error, file->path, "cannot be written");
  file->length = file->end;
  return QM_OK;
}

/* Appends `n` bytes behind the last whole line, or nothing. */
static QmStatus
append_to_results (QmResultsFile *file,
                   const char *text,
                   size_t n,
                   QmError *error)
{
  QmStatus status = cut_behind_lines (file, error);

  if ((size_t) file->end + n > QM_RESULTS_MAX_BYTES)
    return qm_error_set (error, QM_STATUS_IO, file->path, 0, 0,
                         "is full: it cannot be larger than %zu MiB",
                         QM_RESULTS_MAX_BYTES / 1024 / 1024);
  if (status != QM_OK)
    return status;
  if (lseek (file->fd, file->end, SEEK_SET) < 0)
    return fail_by_errno (error, file->path, "cannot be written");
  if (file->unended)
    status = write_all (file->fd, file->path, "\n", 1, error);
  if (status == QM_OK)
    status = write_all (file->fd, file->path, text, n, error);
  if (status == QM_OK)
    status = synchronize (file->fd, file->path, error);
  if (status == QM_OK)
    {
      file->end += (off_t) n + file->unended;
      file->length = file->end;
      file->unended = false;
    }
  else if (cut_behind_lines (file, NULL) == QM_OK)
    fsync (file->fd);
  return status;
}

/* Reads the file.  It is not changed before there is something to append. */
static QmStatus
read_content (QmResultsFile *file, QmError *error)
{
  size_t whole, length;
  char last;
  QmStatus status =
      qm_results_read (file->content, file->path, &whole, &length, error);

  if (status != QM_OK)
    return status;
  file->end = (off_t) whole;
  file->length = (off_t) length;
  file->repaired = length - whole;
  file->unended = whole > 0 && pread (file->fd, &last, 1, file->end - 1) == 1
                  && last != '\n';
  return QM_OK;
}

QmStatus
qm_results_open (const char *path,
                 bool folders,
                 bool wait,
                 bool *busy,
                 QmResultsFile **file,
                 QmError *error)
{
  QmResultsFile *new = calloc (1, sizeof *new);
  QmStatus status = QM_OK;

  *file = NULL;
  *busy = false;
  if (new == NULL)
    return qm_error_no_memory (error);
  new->fd = -1;
  new->path = strdup (path);
  new->content = qm_results_new ();
  if (new->path == NULL || new->content == NULL)
    status = qm_error_no_memory (error);
  if (status == QM_OK && folders)
    status = qm_file_make_folders (path, error);
  if (status == QM_OK)
    status = open_and_lock (path, wait, busy, &new->fd, error);
  if (status == QM_OK)
    status = read_content (new, error);
  if (status == QM_OK)
    *file = new;
  else
    qm_results_close (new);
  return status;
}

void
qm_results_close (QmResultsFile *file)
{
  if (file == NULL)
    return;
  if (file->fd >= 0)
    close (file->fd);
  qm_results_free (file->content);
  free (file->path);
  free (file);
}

const QmResults *
qm_results_file_content (const QmResultsFile *file)
{
  return file->content;
}

size_t
qm_results_file_repaired (const QmResultsFile *file)
{
  return file->repaired;
}

/* What somebody who asked for no lock did to the file. */
static QmResultsChange
find_change (const QmResultsFile *file)
{
  struct stat mine;

  if (access (file->path, F_OK) != 0)
    return QM_RESULTS_GONE;
  if (!is_named (file->fd, file->path) || fstat (file->fd, &mine) != 0)
    return QM_RESULTS_REPLACED;
  return mine.st_size < file->length   ? QM_RESULTS_CUT
         : mine.st_size > file->length ? QM_RESULTS_GROWN
                                       : QM_RESULTS_UNCHANGED;
}

/* Whether a file that has `found` of that measurement, or NULL, lacks it. */
static bool
is_missing (const QmResult *known, const QmResult *found)
{
  QmResult ours = *known;

  /* It is not the file that it was read from: the time says which is newer. */
  ours.file = "";
  return found == NULL
         || (strcmp (known->text, found->text) != 0
             && qm_result_replaces (&ours, found));
}

/* The lines of what is known and not in the file; NULL where memory is out. */
static char *
join_missing (const QmResults *known, const QmResults *found, size_t *length)
{
  char *text = NULL;
  FILE *out = open_memstream (&text, length);
  size_t n;
  const QmResult *list = qm_results_list (known, &n);
  bool good;

  if (out == NULL)
    return NULL;
  for (size_t i = 0; i < n; i++)
    if (is_missing (&list[i], qm_results_find (found, list[i].key)))
      fprintf (out, "%s\n", list[i].text);
  good = !ferror (out);
  if (fclose (out) == 0 && good)
    return text;
  free (text);
  return NULL;
}

/* Opens the file that has the name now; it is made where there is none. */
static QmStatus
open_again (QmResultsFile *file, QmError *error)
{
  bool busy;
  int fd;
  QmStatus status = qm_file_make_folders (file->path, error);

  if (status == QM_OK)
    status = open_and_lock (file->path, false, &busy, &fd, error);
  if (status != QM_OK)
    return status;
  close (file->fd);
  file->fd = fd;
  return QM_OK;
}

/* Reads the file as it is now, and appends what is known besides. */
static QmStatus
write_missing (QmResultsFile *file, QmError *error)
{
  QmResults *known = file->content;
  size_t length, whole;
  char *text = NULL;
  QmStatus status = QM_OK;

  file->content = qm_results_new ();
  if (file->content == NULL)
    status = qm_error_no_memory (error);
  if (status == QM_OK)
    status = read_content (file, error);
  if (status == QM_OK
      && (text = join_missing (known, file->content, &length)) == NULL)
    status = qm_error_no_memory (error);
  if (status == QM_OK && length > 0)
    status = append_to_results (file, text, length, error);
  if (status == QM_OK)
    status = qm_results_parse (file->content, text, length, file->path, &whole,
                               error);
  free (text);
  if (status == QM_OK)
    {
      qm_results_free (known);
      return QM_OK;
    }
  qm_results_free (file->content);
  file->content = known;
  return status;
}

/* Makes the file what it has to be. */
static QmStatus
regain (QmResultsFile *file, QmError *error)
{
  QmResultsChange change = find_change (file);
  QmStatus status = QM_OK;

  if (change == QM_RESULTS_UNCHANGED)
    return QM_OK;
  file->change = change;
  if (change == QM_RESULTS_GONE || change == QM_RESULTS_REPLACED)
    status = open_again (file, error);
  if (status == QM_OK)
    status = write_missing (file, error);
  /* Whatever is there then, it is not what is known. */
  if (status != QM_OK)
    file->length = -1;
  return status;
}
static QmStatus
write_lines (int fd,
             const char *path,
             const QmResult *const *results,
             size_t n,
             QmError *error)
{
  QmStatus status = QM_OK;

  for (size_t i = 0; i < n && status == QM_OK; i++)
    {
      status = write_all (fd, path, results[i]->text, strlen (results[i]->text),
                          error);
      if (status == QM_OK)
        status = write_all (fd, path, "\n", 1, error);
    }
  return status == QM_OK ? synchronize (fd, path, error) : status;
}

/* Puts what is known into a file beside the one that cannot be regained, once,
 * and says so behind the error. */
static void
keep_aside (QmResultsFile *file, QmError *error)
{
  char place[PATH_MAX], why[sizeof error->message];
  const char *name;
  size_t n;
  const QmResult *list = qm_results_list (file->content, &n);
  const QmResult **all = malloc ((n + 1) * sizeof (const QmResult *));
  int fd = -1,
      length = snprintf (place, sizeof place, "%s.kept-XXXXXX", file->path);

  if (all != NULL && n > 0 && !file->kept && length > 0
      && (size_t) length < sizeof place)
    fd = mkstemp (place);
  for (size_t i = 0; i < n && all != NULL; i++)
    all[i] = &list[i];
  if (fd >= 0)
    {
      file->kept = write_lines (fd, place, all, n, NULL) == QM_OK;
      close (fd);
    }
  free (all);
  if (fd < 0 || !file->kept)
    return;
  qm_file_synchronize_folder (place);
  name = strrchr (place, '/');
  memcpy (why, error->message, sizeof why);
  why[MOST_WHY] = '\0';
  qm_text_trim (why);
  qm_error_set (error, error->status, error->file, error->line, error->column,
                "%s; what was found is beside it, in %s", why,
                name != NULL ? name + 1 : place);
}

QmStatus
qm_results_secure (QmResultsFile *file, QmError *error)
{
  QmError problem = { 0 };

  if (regain (file, &problem) == QM_OK)
    return QM_OK;
  keep_aside (file, &problem);
  if (error != NULL)
    *error = problem;
  return problem.status;
}

QmResultsChange
qm_results_file_change (QmResultsFile *file)
{
  QmResultsChange change = file->change;

  file->change = QM_RESULTS_UNCHANGED;
  return change;
}

/* Appends a line of a result, wherever the file is now. */
static QmStatus
append_line (QmResultsFile *file,
             const char *line,
             size_t length,
             QmError *error)
{
  QmError problem = { 0 };
  size_t whole;
  bool lost = regain (file, &problem) != QM_OK;
  QmStatus status =
      lost ? QM_OK : append_to_results (file, line, length, error);

  if (status == QM_OK)
    status = qm_results_parse (file->content, line, length, file->path, &whole,
                               error);
  if (!lost)
    return status;
  keep_aside (file, &problem);
  if (error != NULL)
    *error = problem;
  return problem.status;
}

QmStatus
qm_results_append (QmResultsFile *file, const json_t *object, QmError *error)
{
  char *text = json_dumps (object, JSON_COMPACT | JSON_REAL_PRECISION (12));
  QmResults *copy = qm_results_new ();
  size_t length, whole;
  char *line = NULL;
  QmStatus status;

  if (text == NULL || copy == NULL
      || (line = realloc (text, strlen (text) + 2)) == NULL)
    {
      free (text);
      qm_results_free (copy);
      return qm_error_no_memory (error);
    }
  length = strlen (line);
  line[length++] = '\n';
  /* Read once before it is written: there is to be no file that cannot be
   * read. */
  status = qm_results_parse (copy, line, length, file->path, &whole, error);
  if (status == QM_OK)
    status = append_line (file, line, length, error);
  free (line);
  qm_results_free (copy);
  return status;
}

QmStatus
qm_results_write (const char *path,
                  const QmResult *const *results,
                  size_t n,
                  QmError *error)
{
  char place[PATH_MAX], unfinished[PATH_MAX];
  int length, fd, locked;
  bool busy, was_there = access (path, F_OK) == 0;
  struct stat info;
  QmStatus status = qm_file_place (path, place, sizeof place, error);

  if (status != QM_OK)
    return status;
  length = snprintf (unfinished, sizeof unfinished, "%s.XXXXXX", place);
  if (length < 0 || (size_t) length >= sizeof unfinished)
    return qm_error_set (error, QM_STATUS_IO, path, 0, 0,
                         "is longer than a path may be");
  status = open_and_lock (path, false, &busy, &locked, error);
  if (status != QM_OK)
    return status;
  fd = mkstemp (unfinished);
  if (fd < 0)
    status = fail_by_errno (error, path, "cannot be written");
  else
    {
      status = write_lines (fd, path, results, n, error);
      if (fstat (locked, &info) == 0)
        fchmod (fd, info.st_mode & 0777);
      close (fd);
      if (status == QM_OK && rename (unfinished, place) != 0)
        status = fail_by_errno (error, path, "cannot be written");
      if (status == QM_OK)
        qm_file_synchronize_folder (place);
      else
        unlink (unfinished);
    }
  if (status != QM_OK && !was_there)
    unlink (path);
  close (locked);
  return status;
}
