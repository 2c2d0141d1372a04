/* SPDX-License-Identifier: Apache-2.0 */

/* Waits by the monotonic clock, which nobody sets. */

#ifndef QM_KERNELS_DEADLINE_H
#define QM_KERNELS_DEADLINE_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

/* So many seconds from now. */
struct timespec qm_deadline (double seconds);

/* Seconds until then; not below 0. */
double qm_deadline_left (const struct timespec *deadline);

/* A condition whose timed waits take a deadline; false where the system has no
 * memory for it. */
bool qm_condition_init (pthread_cond_t *condition);

#endif
