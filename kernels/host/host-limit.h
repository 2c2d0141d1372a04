/* SPDX-License-Identifier: Apache-2.0 */

#ifndef QM_KERNELS_HOST_HOST_LIMIT_H
#define QM_KERNELS_HOST_HOST_LIMIT_H

#include <stdint.h>

/* Bytes of the host's memory that this process can have: what Linux says is
 * available, but no more than its control groups leave; 0 where that is not
 * known.  `root` stands before the names of system files: "", or in a test a
 * folder. */
uint64_t qm_host_available (const char *root);

#endif
