/* SPDX-License-Identifier: Apache-2.0 */

/* Which generation a GPU of the catalog is of. */

#ifndef QM_DATA_ARCHITECTURE_H
#define QM_DATA_ARCHITECTURE_H

#include "data/catalog.h"

/* The compute capability of an NVIDIA GPU, 86 for 8.6; 0 where it is not known
 * or the GPU is another maker's. */
int qm_gpu_architecture (const QmGpu *gpu);

#endif
