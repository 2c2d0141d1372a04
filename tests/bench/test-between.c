/* SPDX-License-Identifier: Apache-2.0 */

/* Two machines are measured by the transport that all have: what it is not
 * able to do is what fails, and no other one is taken for it. */

#include "app/qm-bench-between.h"
#include "tests/bench/tiny.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MACHINES 2
#define BYTES    ((size_t) 1 << 20)

/* The program's, which nothing here needs. */
bool
qm_bench_interrupted (void)
{
  return false;
}

/* One machine's process. */
typedef struct Machine
{
  QmBenchOptions options;
  QmTransport transport;
  QmBenchBetween found[MACHINES];
  QmStatus status;
  QmError error;
  pthread_t thread;
} Machine;

static void *
measure_machine (void *data)
{
  Machine *machine = data;
  QmBenchEnd end = { .bytes = BYTES };

  CHECK_INT (qm_device_open ("cpu", 0, &end.device, NULL), QM_OK);
  CHECK_INT (qm_device_allocate (end.device, BYTES, &end.memory, NULL), QM_OK);
  machine->status =
      qm_bench_time_between (&machine->options, &end, machine->transport,
                             machine->found, &machine->error);
  qm_device_free (end.device, end.memory);
  qm_device_close (end.device);
  return NULL;
}

static void
measure_all (QmTransport transport, Machine machines[MACHINES])
{
  int port = free_port ();

  for (int i = 0; i < MACHINES; i++)
    {
      QmBenchNodes *nodes = &machines[i].options.nodes;

      machines[i] = (Machine){ .transport = transport,
                               .options = { .command = "links", .wait = 20 } };
      nodes->count = MACHINES;
      nodes->self = i;
      snprintf (nodes->rendezvous, sizeof nodes->rendezvous, "127.0.0.1:%d",
                port);
      pthread_create (&machines[i].thread, NULL, measure_machine, &machines[i]);
    }
  for (int i = 0; i < MACHINES; i++)
    pthread_join (machines[i].thread, NULL);
}

static void
test_host (void)
{
  Machine machines[MACHINES];

  check_case ("the host");
  measure_all (QM_TRANSPORT_HOST, machines);
  for (int i = 0; i < MACHINES; i++)
    CHECK_INT (machines[i].status, QM_OK);
  CHECK (machines[0].found[0].bandwidth > 0);
  CHECK (machines[0].found[0].latency > 0);
}

/* Which CPUs do not have; left to themselves they would take the host. */
static void
test_nccl (void)
{
  Machine machines[MACHINES];

  check_case ("NCCL");
  measure_all (QM_TRANSPORT_NCCL, machines);
  for (int i = 0; i < MACHINES; i++)
    {
      CHECK (machines[i].status != QM_OK);
      CHECK (strstr (machines[i].error.message, "NCCL is for NVIDIA GPUs")
             != NULL);
    }
}

int
main (void)
{
  test_host ();
  test_nccl ();
  return check_report ();
}
