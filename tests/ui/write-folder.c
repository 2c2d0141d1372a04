/* SPDX-License-Identifier: Apache-2.0 */

/* write-folder FOLDER MODELS METHODS DEVICE [LIBRARY [NODES]]: writes a
 * benchmark for another machine as the window does.  DEVICE "gpu" is the first
 * GPU there; a LIBRARY "-" is none. */

#include "config.h"

#include "ui/machine/qm-elsewhere.h"

#include <stdlib.h>
#include <string.h>

int
main (int argc, char **argv)
{
  g_autoptr (QmElsewhere) elsewhere = qm_elsewhere_new ();
  g_autoptr (GError) error = NULL;

  if (argc < 5 || argc > 7)
    {
      g_printerr ("Usage: write-folder FOLDER MODELS METHODS DEVICE "
                  "[LIBRARY [NODES]]\n");
      return 2;
    }
  elsewhere->models = g_strsplit (argv[2], ",", -1);
  elsewhere->methods = g_strdup (argv[3]);
  elsewhere->device = strcmp (argv[4], "gpu") != 0 ? g_strdup (argv[4]) : NULL;
  if (argc > 5 && strcmp (argv[5], "-") != 0)
    elsewhere->library = g_strdup (argv[5]);
  elsewhere->slurm = TRUE;
  if (argc < 7 || strcmp (argv[4], "cpu") != 0)
    elsewhere->gpus = g_strdup ("1");
  elsewhere->nodes = argc > 6 ? atoi (argv[6]) : 1;
  elsewhere->time_limit_s = 3600;
  if (qm_elsewhere_write (elsewhere, argv[1], NULL, NULL, NULL, &error))
    return 0;
  g_printerr ("write-folder: %s\n", error->message);
  return 1;
}
