/* SPDX-License-Identifier: Apache-2.0 */

/* A benchmark for another machine: a folder with qm-bench, what it needs, the
 * models with their recipes, and a script that measures them; for a cluster
 * also a batch script of Slurm.  What it finds comes back as a results file
 * (ui/machine/qm-results-import.h). */

#pragma once

#include <gio/gio.h>
#include <jansson.h>

G_BEGIN_DECLS

/* What to measure where.  Words that go into scripts are checked by
 * qm_elsewhere_check(), and quoted for the shell besides. */
typedef struct
{
  GStrv models;        /* ids of the catalog, at least one */
  char *methods;       /* "naive", "free-lunch" or "all" */
  char *device;        /* as qm-bench knows it; NULL: the first GPU */
  char *library;       /* the file of cuBLASLt to take along; NULL: none */
  gint64 time_limit_s; /* of all; 0: none */
  gboolean slurm;      /* for a cluster; of that alone: */
  char *partition;     /* NULL: the cluster's default */
  char *account;       /* NULL: the user's default */
  char *gpus;          /* of each machine: "1", "a100:1" */
  int nodes;           /* machines that work together; 0: one */
} QmElsewhere;

/* Asks for nothing yet; the strings are its own, to be allocated with GLib.
 * (transfer full) */
QmElsewhere *qm_elsewhere_new (void);
void qm_elsewhere_free (QmElsewhere *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmElsewhere, qm_elsewhere_free)

/* How many GPUs each machine of a cluster has for it, as "4" and "a100:4" say;
 * 1 where nothing is said. */
int qm_elsewhere_count_gpus (const QmElsewhere *self);

/* What the other machine has to have, as the files that it gets say. */
typedef struct
{
  const char *machine; /* its processor, as `uname -m` calls it; NULL: any */
  guint glibc;         /* the oldest C library: 2.34 is 2034; 0: any */
  guint driver;        /* the oldest of NVIDIA's drivers, 580; 0: any */
  gboolean gpus;       /* whether qm-bench can use GPUs at all */
  gint64 host_bytes;   /* memory of the host, for all that is measured */
  int processors;      /* threads that there is work for */
} QmElsewhereNeeds;

/* The oldest major version of NVIDIA's driver for a program of that version of
 * CUDA, 13000; 0 where that is not known. */
guint qm_elsewhere_oldest_driver (int cuda);

/* Reads the files and asks qm-bench, which takes seconds. */
gboolean qm_elsewhere_find_needs (const QmElsewhere *self,
                                  QmElsewhereNeeds *needs,
                                  GCancellable *cancellable,
                                  GError **error);

/* NVIDIA's library for products of matrices, as qm-bench says of a device, one
 * object of "devices --json"; NULL: it is not on this computer. */
const char *qm_elsewhere_library_of (const json_t *device);

/* The same, asking qm-bench, which takes a moment; NULL also where it cannot be
 * asked.  (transfer full) (nullable) (type filename) */
char *qm_elsewhere_find_library (GCancellable *cancellable);

/* The libraries that go into the folder, by their paths: what `program` needs
 * and a bare machine may not have, and that of products.  Fails where the
 * program needs one that this program does not have itself.
 * (transfer full) (element-type filename) */
GPtrArray *qm_elsewhere_libraries (const QmElsewhere *self,
                                   const char *program,
                                   GError **error);

/* Whether a word can stand in a batch script as the name of a partition or an
 * account, or as the GPUs of a node: letters, digits and _ . , : @ + -. */
gboolean qm_elsewhere_is_word (const char *text);

/* Statuses that run.sh ends with before it measures; those of qm-bench are
 * below. */
enum
{
  QM_ELSEWHERE_OTHER_PROCESSOR = 10,
  QM_ELSEWHERE_OLD_C_LIBRARY = 11,
  QM_ELSEWHERE_DOES_NOT_START = 12,
  QM_ELSEWHERE_NO_DRIVER = 13,
  QM_ELSEWHERE_OLD_DRIVER = 14,
  QM_ELSEWHERE_DISK_FULL = 15
};

/* The script that measures, once it found that the machine has what it takes.
 * (transfer full) */
char *qm_elsewhere_script (const QmElsewhere *self,
                           const QmElsewhereNeeds *needs);

/* The batch script of Slurm.  (transfer full) */
char *qm_elsewhere_job (const QmElsewhere *self, const QmElsewhereNeeds *needs);

/* What to do with the folder.  (transfer full) */
char *qm_elsewhere_readme (const QmElsewhere *self,
                           const QmElsewhereNeeds *needs);

/* Bytes that the folder will take, about; 0 where there is no qm-bench. */
guint64 qm_elsewhere_measure (const QmElsewhere *self);

/* Called by the thread that writes. */
typedef void (*QmElsewhereProgress) (guint64 done, guint64 of, gpointer data);

/* Writes the folder `path`, which must not exist: it is there whole or not at
 * all.  Takes as long as the copying does, and tells `progress`, which may be
 * NULL, how far it is. */
gboolean qm_elsewhere_write (const QmElsewhere *self,
                             const char *path,
                             QmElsewhereProgress progress,
                             gpointer data,
                             GCancellable *cancellable,
                             GError **error);

G_END_DECLS
