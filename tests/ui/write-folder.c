/* SPDX-License-Identifier: Apache-2.0 */

/* write-folder FOLDER MODELS METHODS DEVICE [LIBRARY]: writes a benchmark for
 * another machine as the window does.  DEVICE "gpu" is the first GPU there. */

#include "config.h"

#include "ui/machine/qm-elsewhere.h"

#include <string.h>

int
main (int argc, char **argv)
{
  g_autoptr (QmElsewhere) elsewhere = qm_elsewhere_new ();
  g_autoptr (GError) error = NULL;

  if (argc != 5 && argc != 6)
    {
      g_printerr ("Usage: write-folder FOLDER MODELS METHODS DEVICE "
                  "[LIBRARY]\n");
      return 2;
    }
  elsewhere->models = g_strsplit (argv[2], ",", -1);
  elsewhere->methods = g_strdup (argv[3]);
  elsewhere->device = strcmp (argv[4], "gpu") != 0 ? g_strdup (argv[4]) : NULL;
  elsewhere->library = argc == 6 ? g_strdup (argv[5]) : NULL;
  elsewhere->slurm = TRUE;
  elsewhere->gpus = g_strdup ("1");
  elsewhere->time_limit_s = 3600;
  if (qm_elsewhere_write (elsewhere, argv[1], NULL, NULL, NULL, &error))
    return 0;
  g_printerr ("write-folder: %s\n", error->message);
  return 1;
}
