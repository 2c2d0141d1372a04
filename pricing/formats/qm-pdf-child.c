/* SPDX-License-Identifier: Apache-2.0 */

/* unshare, memfd_create. */
#define _GNU_SOURCE

#include "config.h"

#include "pricing/formats/qm-pdf-child.h"

#include "pricing/quotes/qm-quote-read.h"

#include <errno.h>
#include <glib/gi18n-lib.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MEMORY ((rlim_t) 1 << 30)
#define FILES  64
/* Of its complaints, so much is kept; the rest is read and forgotten. */
#define MOST_COMPLAINTS 8192

typedef struct
{
  GPid pid;
  int out, err;
  GByteArray *output;
  GString *complaints;
  gint64 end; /* monotonic time */
  GCancellable *cancellable;
} Child;

static void
limit (__rlimit_resource_t what, rlim_t most)
{
  struct rlimit both = { most, most };

  setrlimit (what, &both);
}

/* Between fork and exec, where nothing may be called that allocates.  What the
 * system does not allow is left out: the other limits hold. */
static void
confine (gpointer user_data)
{
  setpgid (0, 0);
  prctl (PR_SET_PDEATHSIG, SIGKILL);
  prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  limit (RLIMIT_CORE, 0);
  limit (RLIMIT_CPU, QM_PDF_MOST_TIME / 1000);
  limit (RLIMIT_AS, MEMORY);
  limit (RLIMIT_FSIZE, 0);
  limit (RLIMIT_NOFILE, FILES);
  if (unshare (CLONE_NEWUSER | CLONE_NEWNET) != 0)
    unshare (CLONE_NEWNET);
}

/* The document as a file without a name. */
static int
open_input (const char *data, gsize size, GError **error)
{
  int fd = memfd_create ("quote", MFD_CLOEXEC);
  gsize done = 0;

  while (fd >= 0 && done < size)
    {
      gssize n = write (fd, data + done, size - done);

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        {
          close (fd);
          fd = -1;
          break;
        }
      done += (gsize) n;
    }
  if (fd < 0 || lseek (fd, 0, SEEK_SET) != 0)
    {
      int problem = errno;

      if (fd >= 0)
        close (fd);
      g_set_error (error, QM_READ_ERROR, QM_READ_ERROR_TOO_LARGE,
                   _ ("There is no room for a copy of the PDF: %s"),
                   g_strerror (problem));
      return -1;
    }
  return fd;
}

static gboolean
start (Child *child, int input, GError **error)
{
  char pages[16];
  const char *arguments[] = { "pdftotext", "-bbox-layout", "-enc", "UTF-8",
                              "-l",        pages,          "-",    "-",
                              NULL };
  g_auto (GStrv) environment = g_get_environ ();
  g_autoptr (GError) problem = NULL;

  g_snprintf (pages, sizeof pages, "%d", QM_PDF_MOST_PAGES + 1);
  environment = g_environ_setenv (environment, "LC_ALL", "C", TRUE);
  if (g_spawn_async_with_pipes_and_fds (
          NULL, arguments, (const char *const *) environment,
          G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD, confine, NULL, input,
          -1, -1, NULL, NULL, 0, &child->pid, NULL, &child->out, &child->err,
          &problem))
    return TRUE;
  if (g_error_matches (problem, G_SPAWN_ERROR, G_SPAWN_ERROR_NOENT))
    return qm_read_refuse (
        error, QM_READ_ERROR_KIND,
        _ ("To read a PDF, the program pdftotext is needed. Install "
           "the package poppler-utils and try again."));
  g_set_error (error, QM_READ_ERROR, QM_READ_ERROR_KIND,
               _ ("pdftotext, which reads a PDF, could not be started: %s"),
               problem->message);
  return FALSE;
}

/* Reads what is there.  FALSE: that was the end of it. */
static gboolean
take_output (Child *child, int fd)
{
  char piece[16384];
  gssize n;

  do
    n = read (fd, piece, sizeof piece);
  while (n < 0 && errno == EINTR);
  if (n <= 0)
    return FALSE;
  if (fd == child->out)
    g_byte_array_append (child->output, (const guint8 *) piece, (guint) n);
  else
    g_string_append_len (child->complaints, piece,
                         MIN (n, (gssize) (MOST_COMPLAINTS
                                           - child->complaints->len)));
  return TRUE;
}

/* Milliseconds that are left; 0: none. */
static int
time_left (const Child *child)
{
  gint64 left = child->end - g_get_monotonic_time ();

  return left > 0 ? (int) (left / 1000) + 1 : 0;
}

static gboolean
refuse_late (GError **error)
{
  return qm_read_refuse (
      error, QM_READ_ERROR_TOO_LARGE,
      _ ("pdftotext took too long over this PDF and was ended."));
}

/* Reads until it has closed both its ends. */
static gboolean
listen_to (Child *child, GError **error)
{
  struct pollfd ends[3] = { { .fd = child->out, .events = POLLIN },
                            { .fd = child->err, .events = POLLIN },
                            { .fd = -1 } };
  GPollFD stop;
  gboolean good = TRUE;
  gboolean stoppable = g_cancellable_make_pollfd (child->cancellable, &stop);

  if (stoppable)
    {
      ends[2].fd = stop.fd;
      ends[2].events = POLLIN;
    }
  while (good && (ends[0].fd >= 0 || ends[1].fd >= 0))
    {
      int left = time_left (child);

      if (left == 0)
        good = refuse_late (error);
      else if (poll (ends, 3, left) < 0 && errno != EINTR)
        good =
            qm_read_refuse (error, QM_READ_ERROR_TOO_LARGE, g_strerror (errno));
      else if (g_cancellable_set_error_if_cancelled (child->cancellable, error))
        good = FALSE;
      for (guint i = 0; good && i < 2; i++)
        if (ends[i].fd >= 0 && ends[i].revents != 0
            && !take_output (child, ends[i].fd))
          ends[i].fd = -1;
      if (good && child->output->len > QM_READ_MAX_BYTES)
        good = qm_read_refuse (error, QM_READ_ERROR_TOO_LARGE,
                               _ ("There is too much text in this PDF."));
    }
  if (stoppable)
    g_cancellable_release_fd (child->cancellable);
  return good;
}

/* Waits for its end.  One that has closed its ends and lives on is ended, too.
 *
 * Returns: what waitpid() says, or -1. */
static int
await_end (Child *child)
{
  int status = 0;
  pid_t ended = 0;

  while (time_left (child) > 0
         && (ended = waitpid (child->pid, &status, WNOHANG)) == 0)
    g_usleep (1000);
  return ended == child->pid ? status : -1;
}

static void
end_child (Child *child)
{
  kill (-child->pid, SIGKILL);
  kill (child->pid, SIGKILL);
  while (waitpid (child->pid, NULL, 0) < 0 && errno == EINTR)
    ;
}

static gboolean
says (const Child *child, const char *words)
{
  return strstr (child->complaints->str, words) != NULL;
}

/* What it ended with (pdftotext(1), EXIT CODES). */
static gboolean
check_end (const Child *child, int status, GError **error)
{
  if (status == -1)
    return refuse_late (error);
  if (WIFEXITED (status) && WEXITSTATUS (status) == 0)
    return TRUE;
  if (WIFSIGNALED (status) && WTERMSIG (status) == SIGXCPU)
    return refuse_late (error);
  if (says (child, "Incorrect password"))
    return qm_read_refuse (
        error, QM_READ_ERROR_KIND,
        _ ("This PDF is locked with a password. Save it without one "
           "and import that."));
  if (WIFEXITED (status) && WEXITSTATUS (status) == 3)
    return qm_read_refuse (
        error, QM_READ_ERROR_KIND,
        _ ("This PDF does not allow its text to be copied. Ask the "
           "vendor for one that does, or for a spreadsheet."));
  if (says (child, "Out of memory") || says (child, "bad_alloc"))
    return qm_read_refuse (error, QM_READ_ERROR_TOO_LARGE,
                           _ ("pdftotext needs too much memory for this PDF."));
  return qm_read_refuse (
      error, QM_READ_ERROR_MALFORMED,
      _ ("This is not a sound PDF: pdftotext cannot read it. It may "
         "be damaged or cut off."));
}

GBytes *
qm_pdf_child_run (const char *data,
                  gsize size,
                  guint most_time,
                  gboolean *damaged,
                  GCancellable *cancellable,
                  GError **error)
{
  g_autoptr (GByteArray) output = g_byte_array_new ();
  g_autoptr (GString) complaints = g_string_new (NULL);
  Child child = { .output = output,
                  .complaints = complaints,
                  .cancellable = cancellable };
  int input, status = -1;
  gboolean good;

  g_return_val_if_fail (data != NULL && damaged != NULL, NULL);

  input = open_input (data, size, error);
  if (input < 0)
    return NULL;
  child.end = g_get_monotonic_time () + most_time * G_TIME_SPAN_MILLISECOND;
  good = start (&child, input, error);
  close (input);
  if (!good)
    return NULL;
  good = listen_to (&child, error);
  if (good)
    status = await_end (&child);
  if (status == -1)
    end_child (&child);
  close (child.out);
  close (child.err);
  g_spawn_close_pid (child.pid);
  if (!good || !check_end (&child, status, error))
    return NULL;
  *damaged = says (&child, "Syntax Error");
  return g_byte_array_free_to_bytes (g_steal_pointer (&output));
}
