/* SPDX-License-Identifier: Apache-2.0 */

/* The processors that this process may use, as Linux tells it. */

#ifndef QM_KERNELS_CORES_H
#define QM_KERNELS_CORES_H

#include <stddef.h>

/* Fills `cpus` with up to `max` numbers of processors, one for each physical
 * core that has a processor on which the calling thread may run, in ascending
 * order, and returns how many there are in all; 0 where the system does not
 * tell.  `root` stands before the names of system files: "", or in a test a
 * folder. */
size_t qm_cores_list (const char *root, int *cpus, size_t max);

/* The CPU time that the control groups of this process grant, in processors:
 * the least of its own group and those above, of version 1 or 2; INFINITY where
 * there is no limit. */
double qm_cores_quota (const char *root);

#endif
