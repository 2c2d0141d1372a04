/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/engine/in-ranks.h"

#include "tests/data/check.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

RanksPlace
in_ranks_place (const char *name)
{
  RanksPlace place = { .transport = QM_TRANSPORT_HOST, .ranks = IN_RANKS_MAX };
  QmDeviceInfo info = { .id = "" };
  char id[24];

  place.each = strcmp (name, "cuda") == 0 || strcmp (name, "cuda-host") == 0;
  if (strcmp (name, "cuda") == 0)
    place.transport = QM_TRANSPORT_AUTO;
  snprintf (place.device, sizeof place.device, "%s",
            place.each ? "cuda:0" : name);
  CHECK_INT (qm_device_describe (place.device, &info, NULL), QM_OK);
  place.target = info.target;
  if (!place.each && place.target.kind == QM_DEVICE_CUDA)
    place.ranks = 1;
  for (int i = 1; place.each && i < place.ranks; i++)
    {
      snprintf (id, sizeof id, "cuda:%d", i);
      if (qm_device_describe (id, &info, NULL) != QM_OK)
        place.ranks = i;
    }
  return place;
}

int
in_ranks_some (const RanksPlace *place, int wanted)
{
  return wanted < place->ranks ? wanted : place->ranks;
}

typedef struct Rank
{
  const RanksPlace *place;
  QmWorld *world; /* NULL of one rank */
  int number;
  InRanksBody body;
  void *data;
  QmError error;
} Rank;

static void *
run_rank (void *data)
{
  Rank *rank = data;
  const RanksPlace *place = rank->place;
  QmDevice *device = NULL;
  QmCommunicator *communicator = NULL;
  char id[24];
  QmStatus status;

  if (place->each)
    snprintf (id, sizeof id, "cuda:%d", rank->number);
  else
    snprintf (id, sizeof id, "%s", place->device);
  status = qm_device_open (id, 0, &device, &rank->error);
  if (status == QM_OK && rank->world != NULL)
    status =
        qm_communicator_new (rank->world, rank->number, device,
                             place->transport, &communicator, &rank->error);
  if (status == QM_OK)
    status = rank->body (rank->data, rank->number, device, communicator,
                         &rank->error);
  if (status != QM_OK && rank->world != NULL)
    qm_world_abort (rank->world, rank->number, rank->error.message);
  qm_communicator_free (communicator);
  qm_device_close (device);
  return NULL;
}

void
in_ranks_run (const RanksPlace *place,
              int ranks,
              InRanksBody body,
              void *data,
              size_t size)
{
  Rank all[IN_RANKS_MAX] = { { NULL } };
  pthread_t threads[IN_RANKS_MAX];
  QmWorld *world = NULL;
  QmWorldOptions options = { .ranks = ranks, .local = ranks, .patience = 60 };

  if (ranks > 1)
    CHECK_INT (qm_world_new (&options, &world, NULL), QM_OK);
  for (int i = 0; i < ranks; i++)
    {
      all[i] = (Rank){ .place = place,
                       .world = world,
                       .number = i,
                       .body = body,
                       .data = (char *) data + (size_t) i * size };
      CHECK_INT (pthread_create (&threads[i], NULL, run_rank, &all[i]), 0);
    }
  for (int i = 0; i < ranks; i++)
    {
      pthread_join (threads[i], NULL);
      CHECK_STRING (all[i].error.message, "");
    }
  qm_world_free (world);
}
