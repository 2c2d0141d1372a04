/* SPDX-License-Identifier: Apache-2.0 */

/* Whether the streams of offloading wait for each other where they have to.
 * The CPU does everything in the order in which it was queued, so a missing
 * wait changes nothing there.  Here the calls to it are watched: two that use
 * the same memory, one of which writes it, have to be on one stream or to be
 * ordered by events.  usage: test-ordering FOLDER */

#include "data/text.h"
#include "engine/executor.h"
#include "kernels/backend.h"
#include "tests/data/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STREAMS 4
#define EVENTS  256

/* How much of each stream has been waited for. */
typedef struct Clock
{
  int64_t at[STREAMS];
} Clock;

typedef struct Access
{
  const char *begin, *end;
  bool write;
  int stream;
  int64_t when; /* on its stream */
} Access;

static QmBackend real, watching;
static QmStream *streams[STREAMS];
static Clock clocks[STREAMS];
static QmEvent *events[EVENTS];
static Clock recorded[EVENTS];
static Access *accesses;
static size_t n_accesses, capacity, conflicts;
static int64_t waits, forgotten; /* the wait that is left out, or -1 */

static int
index_of (QmStream *stream)
{
  for (int i = 0; i < STREAMS; i++)
    {
      if (streams[i] == NULL)
        streams[i] = stream;
      if (streams[i] == stream)
        return i;
    }
  CHECK (!"there are more streams");
  return 0;
}

static Clock *
clock_of (QmEvent *event)
{
  for (int i = 0; i < EVENTS; i++)
    {
      if (events[i] == NULL)
        events[i] = event;
      if (events[i] == event)
        return &recorded[i];
    }
  CHECK (!"there are more events");
  return &recorded[0];
}

static void
use (int stream, const void *memory, size_t bytes, bool write)
{
  Access access = { memory, (const char *) memory + bytes, write, stream,
                    clocks[stream].at[stream] };

  for (size_t i = 0; i < n_accesses; i++)
    {
      const Access *other = &accesses[i];

      conflicts += other->stream != stream && (other->write || write)
                   && other->begin < access.end && access.begin < other->end
                   && clocks[stream].at[other->stream] < other->when;
    }
  if (n_accesses == capacity)
    {
      capacity = capacity * 2 + 1024;
      accesses = realloc (accesses, capacity * sizeof *accesses);
      if (accesses == NULL)
        abort ();
    }
  accesses[n_accesses++] = access;
}

static void
use_tensor (int stream, const QmTensor *tensor, bool write)
{
  int64_t last = 0;

  if (!qm_tensor_present (tensor))
    return;
  for (int32_t i = 0; i < tensor->rank; i++)
    last += (tensor->shape[i] - 1) * tensor->stride[i];
  use (stream, tensor->data, (size_t) (last + 1) * qm_type_size (tensor->type),
       write);
}

static int
tick (QmStream *s)
{
  int stream = index_of (s);

  clocks[stream].at[stream]++;
  return stream;
}

static QmStatus
watch_run (QmDevice *d, QmStream *s, const QmOpCall *call, QmError *e)
{
  int stream = tick (s);

  for (int i = 0; i < QM_OP_MAX_INPUTS; i++)
    use_tensor (stream, &call->inputs[i], false);
  for (int i = 0; i < QM_OP_MAX_OUTPUTS; i++)
    use_tensor (stream, &call->outputs[i], true);
  return real.run (d, s, call, e);
}

static QmStatus
watch_set (
    QmDevice *d, QmStream *s, void *memory, int byte, size_t n, QmError *e)
{
  use (tick (s), memory, n, true);
  return real.set (d, s, memory, byte, n, e);
}

static QmStatus
watch_write (
    QmDevice *d, QmStream *s, void *to, const void *from, size_t n, QmError *e)
{
  int stream = tick (s);

  use (stream, to, n, true);
  use (stream, from, n, false);
  return real.stream_write (d, s, to, from, n, e);
}

static QmStatus
watch_read (
    QmDevice *d, QmStream *s, void *to, const void *from, size_t n, QmError *e)
{
  int stream = tick (s);

  use (stream, to, n, true);
  use (stream, from, n, false);
  return real.stream_read (d, s, to, from, n, e);
}

static QmStatus
watch_record (QmDevice *d, QmStream *s, QmEvent *event, QmError *e)
{
  *clock_of (event) = clocks[tick (s)];
  return real.event_record (d, s, event, e);
}

static QmStatus
watch_wait (QmDevice *d, QmStream *s, QmEvent *event, QmError *e)
{
  int stream = tick (s);
  const Clock *other = clock_of (event);

  if (waits++ == forgotten)
    return QM_OK;
  for (int i = 0; i < STREAMS; i++)
    if (other->at[i] > clocks[stream].at[i])
      clocks[stream].at[i] = other->at[i];
  return real.stream_wait (d, s, event, e);
}

static QmDevice *
open_watched (void)
{
  QmDevice *device = NULL;

  CHECK_INT (qm_device_open ("cpu", 0, &device, NULL), QM_OK);
  real = watching = *device->backend;
  watching.run = watch_run;
  watching.set = watch_set;
  watching.stream_write = watch_write;
  watching.stream_read = watch_read;
  watching.event_record = watch_record;
  watching.stream_wait = watch_wait;
  device->backend = &watching;
  return device;
}

static void
forget (void)
{
  memset (streams, 0, sizeof streams);
  memset (clocks, 0, sizeof clocks);
  memset (events, 0, sizeof events);
  memset (recorded, 0, sizeof recorded);
  n_accesses = conflicts = 0;
  waits = 0;
}

/* Two steps of two passes; what comes before is waited for by the host. */
static void
run_steps (QmDevice *device, const QmPlan *plan)
{
  QmExecutor *executor = NULL;

  forget ();
  CHECK_INT (qm_executor_new (plan, device, NULL, 7, &executor, NULL), QM_OK);
  if (executor == NULL)
    return;
  CHECK_INT (qm_executor_initialise (executor, NULL), QM_OK);
  CHECK_INT (qm_executor_random_batch (executor, NULL), QM_OK);
  CHECK_INT (qm_executor_synchronize (executor, NULL), QM_OK);
  n_accesses = 0;
  waits = 0;
  for (int i = 0; i < 2; i++)
    {
      CHECK_INT (qm_executor_pass (executor, true, NULL), QM_OK);
      CHECK_INT (qm_executor_pass (executor, true, NULL), QM_OK);
      CHECK_INT (qm_executor_update (executor, NULL), QM_OK);
    }
  qm_executor_free (executor);
}

static QmPlan *
make_plan (const char *folder, QmSharding sharding, QmPrecision precision)
{
  QmRecipe recipe = { .batch_size = 4,
                      .steps = 2,
                      .sequence_length = 16,
                      .precision = precision,
                      .optimizer = QM_OPTIMIZER_ADAMW,
                      .learning_rate = 0.01,
                      .beta1 = 0.9,
                      .beta2 = 0.95,
                      .epsilon = 1e-8 };
  QmPlanOptions options = { .micro_batch = 2,
                            .checkpoint = true,
                            .sharding = sharding,
                            .offload = true,
                            .bucket = 700 };
  QmModelConfig config = { 0 };
  QmPlan *plan = NULL;
  char path[512], *text = NULL;
  size_t length = 0;

  snprintf (path, sizeof path, "%s/gpt-neox-parallel.json", folder);
  CHECK_INT (qm_text_read_file (path, &text, &length, NULL), QM_OK);
  if (text != NULL)
    CHECK_INT (qm_model_config_parse (text, length, path, &config, NULL),
               QM_OK);
  free (text);
  CHECK_INT (qm_plan_new (&config, &recipe, &options, &plan, NULL), QM_OK);
  return plan;
}

/* Nothing conflicts; and waits are missed where they are left out, if not all:
 * what threads of the host use is not seen, and memory of the arena that nobody
 * else took in between needs none. */
static void
test_offload (const char *folder,
              QmDevice *device,
              QmSharding sharding,
              QmPrecision precision)
{
  QmPlan *plan = make_plan (folder, sharding, precision);
  int64_t missed = 0, all;

  if (plan == NULL)
    return;
  check_case (qm_sharding_name (sharding));
  forgotten = -1;
  run_steps (device, plan);
  CHECK_INT ((int64_t) conflicts, 0);
  CHECK (waits > 40);
  all = waits;
  for (forgotten = 0; forgotten < all; forgotten += 1 + all / 30)
    {
      run_steps (device, plan);
      missed += conflicts > 0;
    }
  CHECK (missed > 0);
  qm_plan_free (plan);
}

int
main (int argc, char **argv)
{
  QmDevice *device = open_watched ();

  CHECK_INT (argc, 2);
  for (int i = QM_SHARDING_ZERO_1; argc == 2 && i < QM_N_SHARDINGS; i++)
    {
      test_offload (argv[1], device, (QmSharding) i, QM_PRECISION_FP32);
      test_offload (argv[1], device, (QmSharding) i, QM_PRECISION_FP16);
    }
  free (accesses);
  device->backend = &real;
  qm_device_close (device);
  return check_report ();
}
