/* SPDX-License-Identifier: Apache-2.0 */

/* A benchmark for another machine: a folder with qm-bench, what it needs, the
 * models with their recipes, and a script that measures them; for a cluster
 * also a batch script of Slurm.  What it finds comes back as a results file
 * (ui/machine/qm-results-import.h). */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* What to measure where.  Words that go into scripts are checked by
 * qm_elsewhere_check(), and quoted for the shell besides. */
typedef struct
{
  GStrv models;        /* ids of the catalog, at least one */
  char *methods;       /* "naive", "free-lunch" or "all" */
  char *device;        /* as qm-bench knows it; NULL: the first GPU */
  gint64 time_limit_s; /* of all; 0: none */
  gboolean slurm;      /* for a cluster; of that alone: */
  char *partition;     /* NULL: the cluster's default */
  char *account;       /* NULL: the user's default */
  char *gpus;          /* "1", "a100:1" */
} QmElsewhere;

QmElsewhere *qm_elsewhere_new (void);
void qm_elsewhere_free (QmElsewhere *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmElsewhere, qm_elsewhere_free)

/* Whether a word can stand in a batch script as the name of a partition or an
 * account, or as the GPUs of a node: letters, digits and _ . , : @ + -. */
gboolean qm_elsewhere_is_word (const char *text);

/* The script that measures.  (transfer full) */
char *qm_elsewhere_script (const QmElsewhere *self);

/* The batch script of Slurm.  (transfer full) */
char *qm_elsewhere_job (const QmElsewhere *self);

/* Writes the folder `path`, which must not exist: it is there whole or not at
 * all.  Takes as long as the copying does. */
gboolean qm_elsewhere_write (const QmElsewhere *self,
                             const char *path,
                             GCancellable *cancellable,
                             GError **error);

G_END_DECLS
