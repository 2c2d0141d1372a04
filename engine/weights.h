/* SPDX-License-Identifier: Apache-2.0 */

/* Weights from files. */

#ifndef QM_ENGINE_WEIGHTS_H
#define QM_ENGINE_WEIGHTS_H

#include "engine/executor.h"
#include "engine/safetensors.h"

/* Sets every parameter from a file that has them under their names or aliases.
 * stored[] receives, by parameter, the tensor that it came from. */
QmStatus qm_weights_load (const QmPlan *plan,
                          QmExecutor *executor,
                          QmSafetensors *file,
                          const char *path,
                          const QmStoredTensor **stored,
                          QmError *error);

#endif
