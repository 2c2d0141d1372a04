/* SPDX-License-Identifier: Apache-2.0 */

/* What exchanges between several GPUs were measured to take. */

#ifndef QM_DATA_LINK_TIMES_H
#define QM_DATA_LINK_TIMES_H

#include "data/error.h"
#include "data/json-source.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* No file of links has more sizes. */
#define QM_LINK_TIMES_MOST 32

typedef enum QmLinksOp
{
  QM_LINKS_ALL_REDUCE,
  QM_LINKS_REDUCE_SCATTER,
  QM_LINKS_ALL_GATHER,
  QM_LINKS_OPS
} QmLinksOp;

/* "all_reduce", "reduce_scatter", "all_gather"; static. */
const char *qm_links_op_name (QmLinksOp collective);

/* What collectives were measured to take, of fp32 of so many bytes in all. */
typedef struct QmLinkTimes
{
  int ranks;          /* of all machines */
  int nodes;          /* that work together; 0 or 1: it is one */
  char transport[16]; /* "nccl", "host" */
  size_t n[QM_LINKS_OPS];
  struct
  {
    double bytes, seconds; /* of ascending bytes */
  } times[QM_LINKS_OPS][QM_LINK_TIMES_MOST];
} QmLinkTimes;

/* Reads what `qm-bench links --json` wrote, of one machine or several;
 * QM_STATUS_INVALID where it has no collectives. */
QmStatus
qm_link_times_load (const char *path, QmLinkTimes *times, QmError *error);

/* Takes `gpus`, `transport` and `collectives` of an object, which a failure is
 * told to. */
void qm_link_times_take (QmJsonObject *object, QmLinkTimes *times);

/* An object that qm_link_times_take() takes; the caller's. */
json_t *qm_link_times_json (const QmLinkTimes *times);

/* Adds a time; of bytes that rise.  False where there is no room, or it makes
 * no sense. */
bool qm_link_times_add (QmLinkTimes *times,
                        QmLinksOp collective,
                        double bytes,
                        double seconds);

#endif
