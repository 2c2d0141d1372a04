/* SPDX-License-Identifier: Apache-2.0 */

/* What `qm-bench links --json` wrote, and calibrate of several GPUs. */

#include "data/link-times.h"

#include "data/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* No exchange is of more bytes, or takes longer, and no machine has more. */
#define MOST_BYTES   1e15
#define MOST_SECONDS 3600.0
#define MOST_RANKS   1024

const char *
qm_links_op_name (QmLinksOp collective)
{
  static const char *const names[QM_LINKS_OPS] = {
    [QM_LINKS_ALL_REDUCE] = "all_reduce",
    [QM_LINKS_REDUCE_SCATTER] = "reduce_scatter",
    [QM_LINKS_ALL_GATHER] = "all_gather",
  };

  return names[collective];
}

bool
qm_link_times_add (QmLinkTimes *times,
                   QmLinksOp collective,
                   double bytes,
                   double seconds)
{
  size_t n = times->n[collective];

  if (n == QM_LINK_TIMES_MOST || !(bytes > 0) || !(seconds > 0)
      || !isfinite (bytes) || !isfinite (seconds)
      || (n > 0 && bytes <= times->times[collective][n - 1].bytes))
    return false;
  times->times[collective][n].bytes = bytes;
  times->times[collective][n].seconds = seconds;
  times->n[collective]++;
  return true;
}

static void
take_time (QmJsonObject *all,
           const char *name,
           QmLinksOp collective,
           json_t *element,
           QmLinkTimes *times)
{
  QmJsonObject one;
  double bytes, seconds;

  if (!json_is_object (element))
    {
      qm_json_fail (all, name, QM_STATUS_INVALID, "has to be of objects");
      return;
    }
  qm_json_begin (&one, all->source, element, all->error);
  bytes = qm_json_number (&one, "bytes", 1, MOST_BYTES);
  seconds = qm_json_number (&one, "seconds", 1e-9, MOST_SECONDS);
  all->status = qm_json_finish (&one, (const char *const[]){ "bus_gbs", NULL });
  /* Devices of little memory have the largest size twice. */
  if (all->status == QM_OK && times->n[collective] > 0
      && bytes == times->times[collective][times->n[collective] - 1].bytes)
    return;
  if (all->status == QM_OK
      && !qm_link_times_add (times, collective, bytes, seconds))
    qm_json_fail (all, name, QM_STATUS_INVALID,
                  "has to be at most %d times of bytes that rise",
                  QM_LINK_TIMES_MOST);
}

static void
take_collective (QmJsonObject *all, QmLinksOp collective, QmLinkTimes *times)
{
  const char *name = qm_links_op_name (collective);
  json_t *array = qm_json_take (all, name), *element;
  size_t i;

  if (!json_is_array (array) || json_array_size (array) == 0)
    {
      qm_json_fail (all, name, QM_STATUS_INVALID, "has to be a list of times");
      return;
    }
  json_array_foreach (array, i, element)
  {
    if (all->status == QM_OK)
      take_time (all, name, collective, element, times);
  }
}

/* Whoever `times` are of. */
static void
take_collectives (QmJsonObject *object, QmLinkTimes *times)
{
  const char *transport = qm_json_string (object, "transport", false);
  QmJsonObject all;

  if (object->status != QM_OK)
    return;
  if (transport != NULL && strlen (transport) < sizeof times->transport
      && qm_text_is_line (transport))
    strcpy (times->transport, transport);
  qm_json_enter (object, "collectives", &all);
  for (int c = 0; c < QM_LINKS_OPS && all.status == QM_OK; c++)
    take_collective (&all, (QmLinksOp) c, times);
  object->status = qm_json_finish (&all, NULL);
}

void
qm_link_times_take (QmJsonObject *object, QmLinkTimes *times)
{
  memset (times, 0, sizeof *times);
  times->ranks = (int) qm_json_integer (object, "gpus", 2, MOST_RANKS);
  take_collectives (object, times);
}

json_t *
qm_link_times_json (const QmLinkTimes *times)
{
  json_t *all = json_object ();

  for (int c = 0; c < QM_LINKS_OPS; c++)
    {
      json_t *array = json_array ();

      for (size_t i = 0; i < times->n[c]; i++)
        json_array_append_new (
            array, json_pack ("{s:I, s:f}", "bytes",
                              (json_int_t) times->times[c][i].bytes, "seconds",
                              times->times[c][i].seconds));
      json_object_set_new (all, qm_links_op_name ((QmLinksOp) c), array);
    }
  return json_pack ("{s:i, s:s, s:o}", "gpus", times->ranks, "transport",
                    times->transport, "collectives", all);
}

/* 0 devices of what is none; of several machines it is said how many there are.
 */
static void
take_link_times (QmJsonObject *top, QmLinkTimes *times)
{
  json_t *devices = qm_json_take (top, "devices");
  int64_t n = qm_json_integer_or (top, "gpus", 1, MOST_RANKS,
                                  (int64_t) json_array_size (devices));

  if (n < 2 || n > MOST_RANKS || !qm_json_has (top, "collectives"))
    {
      qm_json_fail (top, "devices", QM_STATUS_INVALID,
                    "says of no devices that exchange");
      return;
    }
  times->ranks = (int) n;
  times->nodes = (int) qm_json_integer_or (top, "nodes", 1, MOST_RANKS, 1);
  if (times->ranks % times->nodes != 0)
    qm_json_fail (top, "nodes", QM_STATUS_INVALID,
                  "cannot have equally many of %d devices", times->ranks);
  take_collectives (top, times);
}

QmStatus
qm_link_times_load (const char *path, QmLinkTimes *times, QmError *error)
{
  static const char *const harmless[] = { "provenance",      "pairs",
                                          "between",         "scaling",
                                          "no_peer",         "nccl",
                                          "transport_trial", NULL };
  QmJsonText source = { .file = path };
  QmJsonObject top;
  json_t *root;
  char *text;
  QmStatus status = qm_text_read_file (path, &text, &source.length, error);

  memset (times, 0, sizeof *times);
  if (status != QM_OK)
    return status;
  source.text = text;
  status = qm_json_parse (&source, &root, error);
  if (status == QM_OK)
    {
      qm_json_begin (&top, &source, root, error);
      take_link_times (&top, times);
      status = qm_json_finish (&top, harmless);
      json_decref (root);
    }
  free (text);
  return status;
}
