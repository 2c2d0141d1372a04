/* SPDX-License-Identifier: Apache-2.0 */

/* Runs a fuzz target over the files of a directory. */

#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static int
run_file (const char *directory, const char *name)
{
  static uint8_t data[1 << 16];
  char path[4096];
  FILE *file;
  size_t size;

  snprintf (path, sizeof path, "%s/%s", directory, name);
  file = fopen (path, "rb");
  if (file == NULL)
    {
      perror (path);
      return -1;
    }
  size = fread (data, 1, sizeof data, file);
  fclose (file);
  return LLVMFuzzerTestOneInput (data, size);
}

int
main (int argc, char **argv)
{
  DIR *directory = argc == 2 ? opendir (argv[1]) : NULL;
  const struct dirent *entry;
  int n = 0;

  if (directory == NULL)
    {
      fprintf (stderr, "%s: needs a directory of inputs\n", argv[0]);
      return EXIT_FAILURE;
    }
  while ((entry = readdir (directory)) != NULL)
    if (entry->d_name[0] != '.')
      {
        if (run_file (argv[1], entry->d_name) != 0)
          return EXIT_FAILURE;
        n++;
      }
  closedir (directory);
  printf ("%d inputs\n", n);
  return n > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
