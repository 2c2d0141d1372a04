/* SPDX-License-Identifier: Apache-2.0 */

/* Where the files of a catalog are. */

#ifndef QM_DATA_DATADIR_H
#define QM_DATA_DATADIR_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the path of the shipped directory: the environment's
 * QUARTERMASTER_DATA_DIR if it is set; else one with a gpus.csv near the
 * program (../data or ../../data in a source tree, ../share/quartermaster where
 * it was installed and moved, ../quartermaster where pip put it); else where it
 * was configured to be installed.
 * Returns false, with an empty path, where `size` is too small. */
bool qm_data_dir (char *buffer, size_t size);

/* Writes the path of the user's directory, which need not exist:
 * $XDG_DATA_HOME/quartermaster, or ~/.local/share/quartermaster where that is
 * unset or no absolute path.  Returns false, with an empty path, where there
 * is no home or `size` is too small. */
bool qm_user_data_dir (char *buffer, size_t size);

#endif
