/* SPDX-License-Identifier: Apache-2.0 */

/* What each machine's process saw of its devices, brought together at the end
 * of a measurement: as text, of which the first machine's makes the ranks of
 * the result. */

#include "app/qm-bench-nodes.h"
#include "app/qm-bench-ranks.h"
#include "app/qm-bench-run.h"

#include <stdlib.h>
#include <string.h>

/* Bytes for what is told of one device; without its name it is a third. */
#define SEEN_BYTES 4096

/* Of numbers.  Of a thousand ranks a line of a results file has room. */
#define SEEN_DIGITS 6

typedef struct Gathering
{
  QmBenchRun *run;
  json_t *seen; /* what the first rank of this process was told */
} Gathering;

/* What is told of a rank of this process, as text. */
static void
write_seen (const QmBenchRun *run, int number, char text[SEEN_BYTES])
{
  const QmBenchRun *rank = qm_bench_run_rank (run, number);
  json_t *object = qm_bench_json_rank (run, number);

  json_object_set_new (object, "node", json_integer (run->options->nodes.self));
  json_object_set_new (object, "machine", qm_bench_json_machine (&rank->info));
  if (json_dumpb (object, text, SEEN_BYTES,
                  JSON_COMPACT | JSON_REAL_PRECISION (SEEN_DIGITS))
      >= SEEN_BYTES)
    {
      json_object_del (object, "device");
      memset (text, 0, SEEN_BYTES);
      json_dumpb (object, text, SEEN_BYTES - 1,
                  JSON_COMPACT | JSON_REAL_PRECISION (SEEN_DIGITS));
    }
  json_decref (object);
}

/* Reads what was told of all ranks; what is no object tells nothing. */
static json_t *
read_seen (const char *all, int ranks)
{
  json_t *array = json_array ();

  for (int i = 0; i < ranks; i++)
    {
      const char *text = all + (size_t) i * SEEN_BYTES;
      json_t *object = json_loadb (text, strnlen (text, SEEN_BYTES), 0, NULL);

      if (!json_is_object (object))
        {
          json_decref (object);
          object = json_object ();
        }
      json_array_append_new (array, object);
    }
  return array;
}

static QmStatus
gather_rank (void *data, int number, QmError *error)
{
  Gathering *gathering = data;
  const QmBenchRun *run = gathering->run;
  char text[SEEN_BYTES] = "";
  char *all = calloc ((size_t) run->ranks, SEEN_BYTES);
  QmStatus status;

  if (all == NULL)
    return qm_error_no_memory (error);
  write_seen (run, number, text);
  status =
      qm_communicator_gather (qm_bench_run_rank (run, number)->communicator,
                              text, all, SEEN_BYTES, error);
  if (status == QM_OK && number == 0 && !qm_bench_follows (run->options))
    gathering->seen = read_seen (all, run->ranks);
  free (all);
  return status;
}

QmStatus
qm_bench_run_gather (QmBenchRun *run, QmError *error)
{
  Gathering gathering = { .run = run };
  QmStatus status;

  if (qm_bench_nodes (run->options) == 1)
    return QM_OK;
  status = qm_bench_ranks_do (run->rank, run->local, run->world, gather_rank,
                              NULL, &gathering, error);
  run->seen = gathering.seen;
  return status;
}
