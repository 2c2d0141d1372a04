/* SPDX-License-Identifier: Apache-2.0 */

/* Limits that Linux's control groups set to this process. */

#ifndef QM_KERNELS_CGROUP_H
#define QM_KERNELS_CGROUP_H

#include <stdbool.h>
#include <stdio.h>

#define QM_CGROUP_PATH_SIZE 4096

/* The limit that a group's folder tells, of version 1 or 2; INFINITY where it
 * tells none.  `root` stands before the names of system files: "", or in a test
 * a folder. */
typedef double (*QmCgroupLimit) (const char *root,
                                 const char *folder,
                                 bool second_version);

/* The least limit of the group of this process and those above, where a version
 * 1 has the controller of that name; INFINITY where there is none. */
double
qm_cgroup_least (const char *root, const char *controller, QmCgroupLimit limit);

/* Opens root + path to be read, or returns NULL. */
FILE *qm_cgroup_open (const char *root, const char *path);

/* Up to two numbers at the beginning of a file of a folder; how many there are.
 */
int qm_cgroup_read (const char *root,
                    const char *folder,
                    const char *file_name,
                    double *first,
                    double *second);

#endif
