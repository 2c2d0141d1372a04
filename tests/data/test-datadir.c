/* SPDX-License-Identifier: Apache-2.0 */

/* Where the catalog is looked for.  With an argument the program says where it
 * finds it, so that copies of it in other places can be asked. */

#include "config.h"

#include "data/datadir.h"
#include "tests/data/check.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void
test_environment (void)
{
  char path[64], small[4] = "xyz";

  setenv ("QUARTERMASTER_DATA_DIR", "/some/where", 1);
  CHECK (qm_data_dir (path, sizeof path));
  CHECK_STRING (path, "/some/where");
  CHECK (!qm_data_dir (small, sizeof small));
  CHECK_STRING (small, "");
  CHECK (!qm_data_dir (NULL, 0));
  unsetenv ("QUARTERMASTER_DATA_DIR");
}

static void
test_user (void)
{
  char path[64];

  setenv ("HOME", "/home/somebody", 1);
  setenv ("XDG_DATA_HOME", "/xdg", 1);
  CHECK (qm_user_data_dir (path, sizeof path));
  CHECK_STRING (path, "/xdg/quartermaster");
  setenv ("XDG_DATA_HOME", "relative", 1);
  CHECK (qm_user_data_dir (path, sizeof path));
  CHECK_STRING (path, "/home/somebody/.local/share/quartermaster");
  unsetenv ("XDG_DATA_HOME");
  CHECK (qm_user_data_dir (path, sizeof path));
  CHECK_STRING (path, "/home/somebody/.local/share/quartermaster");
  CHECK (!qm_user_data_dir (path, 20));
  CHECK_STRING (path, "");
  unsetenv ("HOME");
  CHECK (!qm_user_data_dir (path, sizeof path));
  CHECK_STRING (path, "");
}

static void
copy_program (const char *name)
{
  static char program[1 << 24];
  FILE *file = fopen ("/proc/self/exe", "rb");
  size_t length;

  CHECK (file != NULL);
  length = fread (program, 1, sizeof program, file);
  CHECK (length > 0 && length < sizeof program);
  fclose (file);
  scratch_write (name, program, length);
  CHECK (chmod (scratch_path (name), 0700) == 0);
}

/* What a copy of the program at `name` says. */
static void
check_copy (const char *name, const char *wanted)
{
  char command[PATH_MAX + 64], found[PATH_MAX] = "", real[PATH_MAX];
  FILE *pipe;

  check_case (name);
  copy_program (name);
  snprintf (command, sizeof command, "'%s' say", scratch_path (name));
  pipe = popen (command, "r");
  CHECK (pipe != NULL);
  CHECK (fgets (found, sizeof found, pipe) != NULL);
  CHECK (pclose (pipe) == 0);
  found[strcspn (found, "\n")] = '\0';
  CHECK_STRING (realpath (found, real) != NULL ? real : found, wanted);
}

static void
test_program (void)
{
  char directory[PATH_MAX], wanted[PATH_MAX + 64];

  CHECK (realpath (scratch_path ("."), directory) != NULL);
  check_copy ("tree/build/app/program", QM_PKGDATADIR);
  scratch_write_text ("tree/data/gpus.csv", "");
  snprintf (wanted, sizeof wanted, "%s/tree/data", directory);
  check_copy ("tree/build/app/program", wanted);
  check_copy ("tree/app/program", wanted);
  scratch_write_text ("usr/share/quartermaster/gpus.csv", "");
  snprintf (wanted, sizeof wanted, "%s/usr/share/quartermaster", directory);
  check_copy ("usr/bin/program", wanted);
}

int
main (int argc, char **argv)
{
  char path[PATH_MAX];

  unsetenv ("QUARTERMASTER_DATA_DIR");
  if (argc > 1)
    {
      puts (qm_data_dir (path, sizeof path) ? path : "");
      return EXIT_SUCCESS;
    }
  scratch_begin ();
  test_environment ();
  test_user ();
  test_program ();
  scratch_end ();
  return check_report ();
}
