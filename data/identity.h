/* SPDX-License-Identifier: Apache-2.0 */

/* Which machine results are of, so that only what was measured here counts as
 * this machine, whatever it is called.
 *
 * A machine is known by its machine-id(5), its GPUs by the UUIDs that the
 * driver tells in /proc/driver/nvidia/gpus.  Both are confidential or at least
 * nobody's business: results have the first 128 bits of a SHA-256 of the
 * program's name and them, from which they cannot be had back. */

#ifndef QM_DATA_IDENTITY_H
#define QM_DATA_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>

#define QM_IDENTITY_BYTES 33 /* 32 hexadecimal digits and a zero byte */
#define QM_IDENTITY_GPUS  64 /* no machine has more */

typedef struct QmIdentity
{
  char machine[QM_IDENTITY_BYTES]; /* empty: it has no machine-id */
  size_t n_gpus;                   /* 0: none, or the driver tells nothing */
  char gpus[QM_IDENTITY_GPUS][QM_IDENTITY_BYTES];
} QmIdentity;

/* This machine.  The file that the environment's QUARTERMASTER_MACHINE_ID names
 * has its id, where that is set, as for containers that are one machine; else
 * /etc/machine-id or that of D-Bus. */
void qm_identity_here (QmIdentity *identity);

/* The same from these places; either may be missing. */
void
qm_identity_read (const char *file, const char *folder, QmIdentity *identity);

/* The GPU at that PCI address ("0000:1b:00.0") of this machine; false, and
 * empty, where the driver tells nothing of it. */
bool qm_identity_gpu (const char *bus, char gpu[QM_IDENTITY_BYTES]);

/* What a result gets as its machine that is of none that is known, but not of
 * the one that it was found on. */
#define QM_IDENTITY_ANOTHER "00000000000000000000000000000000"

/* Whether a text has the form of one. */
bool qm_identity_is_valid (const char *text);

typedef enum QmWhere
{
  QM_WHERE_HERE,
  QM_WHERE_ELSEWHERE,
  QM_WHERE_UNSAID /* the result does not say: it is of an older version, or of
                     a machine without an identity */
} QmWhere;

/* Where something was measured that names its machine and GPUs, the latter
 * separated by spaces; both may be empty.  Where GPUs are known of both sides
 * they decide, for a system that is installed anew has another id, and a copied
 * one the same: it was here if every one of them is.  Else the id does. */
QmWhere qm_identity_where (const QmIdentity *here,
                           const char *machine,
                           const char *gpus);

#endif
