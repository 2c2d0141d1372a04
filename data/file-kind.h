/* SPDX-License-Identifier: Apache-2.0 */

/* What kind of file is where one is to be written: what is none of the kind
 * that is written there is somebody else's, and stays. */

#ifndef QM_DATA_FILE_KIND_H
#define QM_DATA_FILE_KIND_H

#include "data/error.h"

#include <stdbool.h>

typedef enum QmFileKind
{
  QM_FILE_RESULTS,     /* of measurements, JSON lines */
  QM_FILE_SHARED,      /* of those that are given away */
  QM_FILE_SPEEDS,      /* of a GPU, JSON */
  QM_FILE_SETTINGS,    /* for Transformers or DeepSpeed, JSON */
  QM_FILE_SAFETENSORS, /* weights, or loss and gradients */
  QM_FILE_SVG,
  QM_FILE_PDF,
  QM_FILE_PNG
} QmFileKind;

/* Whether a file of a kind may be written at `path` in place of what is there:
 * nothing, an empty file, or one that begins as those of the kind do.  What
 * cannot be opened, or is no regular file, is left to who writes. */
bool qm_file_is_replaceable (const char *path, QmFileKind kind);

/* The same; QM_STATUS_IO, with the way to replace it all the same, where it may
 * not.  force: the user wants that. */
QmStatus qm_file_check_kind (const char *path,
                             QmFileKind kind,
                             bool force,
                             QmError *error);

#endif
