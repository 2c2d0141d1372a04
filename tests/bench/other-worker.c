/* SPDX-License-Identifier: Apache-2.0 */

/* The program, whose searches measure in another one: the one that
 * QM_TEST_WORKER names, with the same arguments. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The program's main(), by the linker's --wrap. */
int __real_main (int argc, char **argv);
int __wrap_main (int argc, char **argv);

int
__wrap_main (int argc, char **argv)
{
  const char *worker = getenv ("QM_TEST_WORKER");

  if (argc < 2 || worker == NULL || strcmp (argv[1], "worker") != 0)
    return __real_main (argc, argv);
  execv (worker, argv);
  perror (worker);
  return 125;
}
