/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/data/check.h"

#include <ftw.h>
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Some tests check in several threads. */
static atomic_int n_passed;
static atomic_int n_failed;
static const char *case_name = "";
static char scratch[4096];

void
check_case (const char *name)
{
  case_name = name;
}

static bool
count (bool passed, const char *file, int line)
{
  if (passed)
    n_passed++;
  else
    {
      n_failed++;
      printf ("%s:%d: FAILED %s%s", file, line, case_name,
              case_name[0] != '\0' ? ": " : "");
    }
  return passed;
}

void
check_true (bool value, const char *what, const char *file, int line)
{
  if (!count (value, file, line))
    printf ("%s\n", what);
}

void
check_int (
    int64_t got, int64_t wanted, const char *what, const char *file, int line)
{
  if (!count (got == wanted, file, line))
    printf ("%s is %" PRId64 ", not %" PRId64 "\n", what, got, wanted);
}

void
check_string (const char *got,
              const char *wanted,
              const char *what,
              const char *file,
              int line)
{
  bool equal =
      got == NULL || wanted == NULL ? got == wanted : strcmp (got, wanted) == 0;

  if (!count (equal, file, line))
    printf ("%s is \"%s\", not \"%s\"\n", what, got != NULL ? got : "(null)",
            wanted != NULL ? wanted : "(null)");
}

void
check_contains (const char *got,
                const char *wanted,
                const char *what,
                const char *file,
                int line)
{
  if (!count (strstr (got, wanted) != NULL, file, line))
    printf ("%s is \"%s\", without \"%s\"\n", what, got, wanted);
}

void
check_near (double got,
            double wanted,
            double relative,
            const char *what,
            const char *file,
            int line)
{
  if (!count (fabs (got - wanted) <= relative * fabs (wanted), file, line))
    printf ("%s is %.17g, not %.17g\n", what, got, wanted);
}

char *
check_replaced (const char *text, const char *from, const char *to)
{
  const char *at = strstr (text, from);
  char *result = malloc (strlen (text) + strlen (to) + 1);

  CHECK (at != NULL && result != NULL);
  memcpy (result, text, (size_t) (at - text));
  strcpy (result + (at - text), to);
  strcat (result, at + strlen (from));
  return result;
}

int
check_report (void)
{
  printf ("%d passed, %d failed\n", n_passed, n_failed);
  return n_failed == 0 && n_passed > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static void
give_up (const char *what)
{
  perror (what);
  exit (EXIT_FAILURE);
}

const char *
scratch_begin (void)
{
  const char *parent = getenv ("TMPDIR");

  snprintf (scratch, sizeof scratch, "%s/qm-test-XXXXXX",
            parent != NULL ? parent : "/tmp");
  if (mkdtemp (scratch) == NULL)
    give_up (scratch);
  return scratch;
}

static int
remove_cb (const char *path,
           const struct stat *info,
           int type,
           struct FTW *walk)
{
  if (walk->level == 0)
    return 0;
  return remove (path);
}

void
scratch_clear (void)
{
  if (nftw (scratch, remove_cb, 16, FTW_DEPTH | FTW_PHYS) != 0)
    give_up (scratch);
}

void
scratch_end (void)
{
  scratch_clear ();
  if (rmdir (scratch) != 0)
    give_up (scratch);
}

const char *
scratch_path (const char *name)
{
  static char path[8192];

  snprintf (path, sizeof path, "%s/%s", scratch, name);
  return path;
}

static void
make_directories (char *path)
{
  for (char *slash = strchr (path + strlen (scratch) + 1, '/'); slash != NULL;
       slash = strchr (slash + 1, '/'))
    {
      *slash = '\0';
      mkdir (path, 0700);
      *slash = '/';
    }
}

void
scratch_directory (const char *name)
{
  char path[8192];

  snprintf (path, sizeof path, "%s/", scratch_path (name));
  make_directories (path);
}

void
scratch_write (const char *name, const char *text, size_t length)
{
  char path[8192];
  FILE *file;

  snprintf (path, sizeof path, "%s", scratch_path (name));
  make_directories (path);
  file = fopen (path, "wb");
  if (file == NULL || fwrite (text, 1, length, file) != length
      || fclose (file) != 0)
    give_up (path);
}

void
scratch_write_text (const char *name, const char *text)
{
  scratch_write (name, text, strlen (text));
}
