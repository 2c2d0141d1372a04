/* SPDX-License-Identifier: Apache-2.0 */

/* What a GPU and its host were measured to do, call by call, as `qm-bench
 * calibrate` writes it: a JSON file for each type of GPU, gpus.csv's id as its
 * name, in the folder `speeds` of the shipped directory or of the user's. */

#ifndef QM_DATA_PROBES_H
#define QM_DATA_PROBES_H

#include "data/error.h"
#include "data/link-times.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* The folder, and how names of files in it end. */
#define QM_PROBES_FOLDER "speeds"
#define QM_PROBES_SUFFIX ".json"

#define QM_PROBES_MAX 48

/* Of two GPUs, of four, of eight ... */
#define QM_PROBES_LINKS 8

/* One kind of call, over and over for a second or so. */
typedef struct QmProbe
{
  char name[48]; /* as engine/probe.h lists them */
  double flops;  /* of a call; 0: it is bound by what it moves */
  double bytes;
  double seconds; /* of a call */
  double sm_mhz;  /* meanwhile; NaN where the driver did not say */
  double watts;   /* of the board; NaN, too */
} QmProbe;

/* Where and when, and what was found. */
typedef struct QmProbes
{
  char gpu[64];      /* id in gpus.csv; empty: it is not in there */
  char device[96];   /* as its maker calls it */
  char driver[32];   /* version */
  char products[32]; /* what multiplied matrices: "cuBLASLt 13.1.0" */
  char date[16];     /* 2026-11-23 */
  int architecture;  /* of the kernels that were timed */
  double sm_mhz_max; /* highest clock; NaN where the driver did not say */
  double watts_limit;
  double down, up;  /* bytes/s to and from the host, one at a time; NaN */
  double add, adam; /* s of the host for a gradient and for a parameter; NaN */
  QmProbe probes[QM_PROBES_MAX];
  size_t n;
  /* How several of them in one machine exchange, by how many that are. */
  QmLinkTimes links[QM_PROBES_LINKS];
  size_t n_links;
} QmProbes;

/* Reads a file that somebody may have changed.  QM_STATUS_PARSE or
 * QM_STATUS_INVALID with the place of what is wrong. */
QmStatus qm_probes_read (const char *path, QmProbes *probes, QmError *error);

/* The same of a text, which errors say is of `file`. */
QmStatus qm_probes_parse (const char *text,
                          size_t length,
                          const char *file,
                          QmProbes *probes,
                          QmError *error);

/* Writes a file as a whole, in place of one that is there. */
QmStatus
qm_probes_write (const QmProbes *probes, const char *path, QmError *error);

/* The same as JSON, the caller's. */
json_t *qm_probes_json (const QmProbes *probes);

/* The one of that name, or NULL. */
const QmProbe *qm_probes_find (const QmProbes *probes, const char *name);

/* What so many of them take to exchange, or NULL. */
const QmLinkTimes *qm_probes_links (const QmProbes *probes, int gpus);

/* Writes the path of the file of a GPU below a directory; false where `size` is
 * too small. */
bool qm_probes_path (const char *directory,
                     const char *gpu,
                     char *path,
                     size_t size);

#endif
