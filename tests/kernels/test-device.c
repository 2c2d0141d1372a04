/* SPDX-License-Identifier: Apache-2.0 */

/* Devices: opening, memory, capture, the checks of calls. */

#include "kernels/cuda/cuda-support.h"
#include "kernels/operators.h"
#include "tests/data/check.h"

#include <stdio.h>
#include <string.h>

typedef struct Bench
{
  QmDevice *device;
  QmStream *stream;
  float *x, *y;
} Bench;

#define N 1000

static QmOpCall
add_call (const Bench *bench)
{
  const int64_t n = N;
  QmOpCall call = { .op = QM_OP_ADD };

  call.inputs[0] = qm_tensor_dense (QM_TYPE_F32, 1, &n, bench->x);
  call.inputs[1] = qm_tensor_dense (QM_TYPE_F32, 1, &n, bench->y);
  call.outputs[0] = call.inputs[0];
  return call;
}

static void
test_capture (Bench *bench)
{
  QmOpCall call = add_call (bench);
  QmCapture *capture = NULL;
  float ones[N], got[N];

  check_case ("capture");
  for (int i = 0; i < N; i++)
    ones[i] = 1;
  CHECK_INT (qm_device_write (bench->device, bench->stream, bench->y, ones,
                              sizeof ones, NULL),
             QM_OK);
  CHECK_INT (qm_device_set (bench->device, bench->stream, bench->x, 0,
                            sizeof ones, NULL),
             QM_OK);
  CHECK_INT (qm_capture_begin (bench->device, bench->stream, NULL), QM_OK);
  for (int i = 0; i < 100; i++)
    CHECK_INT (qm_op_run (bench->device, bench->stream, &call, NULL), QM_OK);
  CHECK_INT (qm_capture_end (bench->device, bench->stream, &capture, NULL),
             QM_OK);
  qm_device_read (bench->device, bench->stream, got, bench->x, sizeof got,
                  NULL);
  CHECK_NEAR (got[7], 0, 0);
  for (int i = 0; i < 3; i++)
    CHECK_INT (qm_capture_launch (bench->device, bench->stream, capture, NULL),
               QM_OK);
  CHECK_INT (qm_stream_synchronize (bench->device, bench->stream, NULL), QM_OK);
  qm_device_read (bench->device, bench->stream, got, bench->x, sizeof got,
                  NULL);
  CHECK_NEAR (got[0], 300, 0);
  CHECK_NEAR (got[N - 1], 300, 0);
  qm_capture_free (bench->device, capture);
}

static void
add_one (void *data)
{
  float *number = data;

  *number += 1;
}

/* y goes to the host, which changes the first number of it, and back to x. */
static QmStatus
queue_round (const Bench *bench,
             QmStream *other,
             QmEvent *events[2],
             float *host,
             bool join)
{
  QmDevice *device = bench->device;
  size_t bytes = N * sizeof *host;

  CHECK_INT (qm_event_record (device, bench->stream, events[0], NULL), QM_OK);
  CHECK_INT (qm_stream_wait (device, other, events[0], NULL), QM_OK);
  CHECK_INT (qm_stream_read (device, other, host, bench->y, bytes, NULL),
             QM_OK);
  CHECK_INT (qm_stream_call (device, other, add_one, host, NULL), QM_OK);
  CHECK_INT (qm_stream_write (device, other, bench->x, host, bytes, NULL),
             QM_OK);
  CHECK_INT (qm_event_record (device, other, events[1], NULL), QM_OK);
  return join ? qm_stream_wait (device, bench->stream, events[1], NULL) : QM_OK;
}

/* A second stream, by itself and in a capture, which it has to leave. */
static void
test_streams (Bench *bench)
{
  QmDevice *device = bench->device;
  float ones[N], got[N], host[N];
  QmStream *other = NULL;
  QmEvent *events[2] = { NULL };
  QmCapture *capture = NULL;
  QmError error = { 0 };

  check_case ("streams");
  for (int i = 0; i < N; i++)
    ones[i] = 1;
  CHECK_INT (qm_stream_create (device, &other, NULL), QM_OK);
  for (int i = 0; i < 2; i++)
    CHECK_INT (qm_event_create (device, &events[i], NULL), QM_OK);
  CHECK_INT (qm_host_pin (device, host, sizeof host, NULL), QM_OK);
  qm_device_write (device, bench->stream, bench->y, ones, sizeof ones, NULL);
  CHECK_INT (queue_round (bench, other, events, host, true), QM_OK);
  qm_device_read (device, bench->stream, got, bench->x, sizeof got, NULL);
  CHECK_NEAR (got[0], 2, 0);
  CHECK_NEAR (got[N - 1], 1, 0);

  CHECK_INT (qm_capture_begin (device, bench->stream, NULL), QM_OK);
  CHECK_INT (queue_round (bench, other, events, host, true), QM_OK);
  CHECK_INT (qm_capture_end (device, bench->stream, &capture, NULL), QM_OK);
  ones[0] = 5;
  qm_device_write (device, bench->stream, bench->y, ones, sizeof ones, NULL);
  CHECK_INT (qm_capture_launch (device, bench->stream, capture, NULL), QM_OK);
  qm_device_read (device, bench->stream, got, bench->x, sizeof got, NULL);
  CHECK_NEAR (got[0], 6, 0);
  qm_capture_free (device, capture);

  CHECK_INT (qm_capture_begin (device, bench->stream, NULL), QM_OK);
  CHECK_INT (queue_round (bench, other, events, host, false), QM_OK);
  CHECK_INT (qm_capture_end (device, bench->stream, &capture, &error),
             QM_STATUS_DEVICE);
  CHECK (capture == NULL);
  CHECK_CONTAINS (error.message, "not waited for");
  CHECK_INT (queue_round (bench, other, events, host, true), QM_OK);
  qm_host_unpin (device, host);
  for (int i = 0; i < 2; i++)
    qm_event_free (device, events[i]);
  qm_stream_free (device, other);
}

static void
test_clock (Bench *bench)
{
  QmEvent *from = NULL, *to = NULL;
  double seconds = -1;

  check_case ("clock");
  CHECK_INT (qm_event_create (bench->device, &from, NULL), QM_OK);
  CHECK_INT (qm_event_create (bench->device, &to, NULL), QM_OK);
  CHECK_INT (qm_event_record (bench->device, bench->stream, from, NULL), QM_OK);
  CHECK_INT (qm_event_record (bench->device, bench->stream, to, NULL), QM_OK);
  CHECK_INT (qm_event_elapsed (bench->device, from, to, &seconds, NULL), QM_OK);
  CHECK (seconds >= 0 && seconds < 10);
  qm_event_free (bench->device, from);
  qm_event_free (bench->device, to);
}

static void
expect_refusal (const Bench *bench, const QmOpCall *call, const char *message)
{
  QmError error = { 0 };

  CHECK_INT (qm_op_run (bench->device, bench->stream, call, &error),
             QM_STATUS_INVALID);
  CHECK_CONTAINS (error.message, message);
}

static void
test_checks (Bench *bench)
{
  QmOpCall call = add_call (bench);

  check_case ("checks");
  call.inputs[1].shape[0] = N - 1;
  expect_refusal (bench, &call, "add: input 1 has the wrong shape");
  call = add_call (bench);
  call.inputs[1].type = QM_TYPE_I32;
  expect_refusal (bench, &call, "add: input 1 has the wrong type");
  call = add_call (bench);
  call.inputs[1].type = QM_TYPE_NONE;
  expect_refusal (bench, &call, "add: input 1 is missing");
  call = add_call (bench);
  call.outputs[0].stride[0] = 2;
  expect_refusal (bench, &call, "add: output 0 has the wrong strides");
  call = add_call (bench);
  call.inputs[2] = call.inputs[1];
  expect_refusal (bench, &call, "add: input 2 does not exist");
  call = add_call (bench);
  call.outputs[0].shape[0] = 0;
  expect_refusal (bench, &call, "add: output 0 has the wrong shape");
  call.op = QM_OP_COUNT;
  expect_refusal (bench, &call, "no operator");
}

static void
test_names (void)
{
  QmDeviceInfo infos[8];
  QmDevice *device;
  QmError error = { 0 };
  char note[128];
  int driver, runtime;
  size_t n = qm_device_list (infos, 8, note, sizeof note);

  check_case ("names");
  CHECK (n >= 1);
  CHECK_STRING (infos[n - 1].id, "cpu");
  CHECK (infos[n - 1].memory_bytes > 0 && infos[n - 1].processors > 0);
  CHECK (n > 1 || note[0] != '\0');
  CHECK ((n > 1) == (qm_device_absence (&driver, &runtime) == QM_TROUBLE_NONE));
  CHECK_INT (qm_device_open ("gpu", 0, &device, &error), QM_STATUS_NOT_FOUND);
  CHECK_CONTAINS (error.message, "'gpu'");
  CHECK (qm_device_open ("cuda:4711", 0, &device, &error) != QM_OK);
  CHECK (device == NULL);
  qm_device_close (NULL);
  CHECK_INT (qm_device_open ("cpu", 80, &device, &error), QM_STATUS_INVALID);
  CHECK_CONTAINS (error.message, "8.0");
  CHECK_INT (qm_device_describe ("tpu", &infos[0], &error),
             QM_STATUS_NOT_FOUND);
  CHECK_INT (qm_device_describe ("cuda:63", &infos[0], &error),
             QM_STATUS_NOT_FOUND);
  CHECK_CONTAINS (error.message, "cuda:63");
  CHECK_INT (qm_device_describe ("", &infos[0], &error), QM_OK);
  CHECK_STRING (infos[0].trouble, "");
  CHECK (!qm_device_peers ("cpu", "cuda:0")
         && !qm_device_peers ("cuda:62", "cuda:63"));
  for (int op = 0; op < QM_OP_COUNT; op++)
    {
      CHECK (strlen (qm_op_name ((QmOp) op)) > 2);
      CHECK (qm_op_inputs ((QmOp) op) <= QM_OP_MAX_INPUTS);
      CHECK (qm_op_outputs ((QmOp) op) <= QM_OP_MAX_OUTPUTS);
    }
}

/* GPUs that programs compiled for some architectures can use. */
static void
test_support (void)
{
  static const struct
  {
    const char *compiled;
    int capability;
    const char *trouble;
  } cases[] = {
    { "75 80 86 89 90a", 70, "capability 7.0; 7.5 or newer" },
    { "70 80 86 89 90a", 72, "an Old GPU, has" },
    { "75 80 86 89 90a", 75, "" },
    { "80 86 89 90a", 75, "without code for compute capability 7.5" },
    { "75", 90, "" },
    { "80 86 89 90a", 80, "" },
    { "80 86 89 90a", 86, "" },
    { "80 86 89 90a", 87, "" },
    { "80 86 89 90a", 90, "" },
    { "80 86 89 90a", 120, "" },
    { "80", 90, "" },
    { "86", 80, "without code for compute capability 8.0" },
    { "90a", 80, "without code" },
    { "90a", 89, "which cuda:3 has" },
    { "90a", 100, "" },
    { "89", 86, "without code" },
  };

  check_case ("support");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    {
      QmDeviceInfo info = { .capability = cases[i].capability,
                            .id = "cuda:3",
                            .name = "Old GPU",
                            .trouble = "from before" };

      qm_cuda_find_trouble (&info, cases[i].compiled);
      CHECK_CONTAINS (info.trouble, cases[i].trouble);
      CHECK ((info.trouble[0] == '\0') == (cases[i].trouble[0] == '\0'));
      CHECK_STRING (qm_trouble_name (info.cause),
                    cases[i].trouble[0] == '\0' ? "none"
                    : cases[i].capability < 75  ? "old-gpu"
                                                : "no-code");
    }
}

/* What a GPU runs as, and what it multiplies. */
static void
test_architecture (void)
{
  static const struct
  {
    const char *compiled;
    int capability, architecture;
  } cases[] = {
    { "75 80 86 89 90a", 75, 75 },
    { "75 80 86 89 90a", 80, 80 },
    { "75 80 86 89 90a", 87, 87 },
    { "75 80 86 89 90a", 90, 90 },
    { "75 80 86 89 90a", 120, 120 },
    { "75", 75, 75 },
    { "75", 86, 75 },
    { "75", 90, 75 },
    { "75 80", 90, 90 },
    { "80 75", 90, 75 },
  };
  QmTarget cpu = { QM_DEVICE_CPU, 0 };

  check_case ("architecture");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    {
      QmTarget target = { QM_DEVICE_CUDA,
                          qm_cuda_architecture (cases[i].capability,
                                                cases[i].compiled) };
      bool full = cases[i].architecture >= 80;

      CHECK_INT (target.architecture, cases[i].architecture);
      CHECK (qm_target_multiplies (&target, QM_TYPE_F16, false));
      CHECK (qm_target_multiplies (&target, QM_TYPE_F32, false));
      CHECK (qm_target_multiplies (&target, QM_TYPE_F32, true) == full);
      CHECK (qm_target_multiplies (&target, QM_TYPE_BF16, false) == full);
    }
  CHECK (qm_target_multiplies (&cpu, QM_TYPE_BF16, false));
}

int
main (void)
{
  Bench bench = { NULL };
  void *x = NULL, *y = NULL;
  QmError error = { 0 };

  test_names ();
  test_support ();
  test_architecture ();
  CHECK_INT (qm_device_open ("cpu", 0, &bench.device, NULL), QM_OK);
  CHECK_INT (qm_stream_create (bench.device, &bench.stream, NULL), QM_OK);
  CHECK_INT (qm_device_allocate (bench.device, N * 4, &x, NULL), QM_OK);
  CHECK_INT (qm_device_allocate (bench.device, N * 4, &y, NULL), QM_OK);
  CHECK_INT ((intptr_t) x % 256, 0);
  CHECK (qm_device_free_bytes (bench.device) > 0);
  bench.x = x;
  bench.y = y;
  test_capture (&bench);
  test_streams (&bench);
  test_clock (&bench);
  test_checks (&bench);
  CHECK_INT (qm_device_allocate (bench.device, (size_t) 1 << 60, &x, &error),
             QM_STATUS_DEVICE_FULL);
  CHECK (x == NULL);
  CHECK (error.message[0] != '\0');
  qm_device_free (bench.device, bench.x);
  qm_device_free (bench.device, bench.y);
  qm_stream_free (bench.device, bench.stream);
  qm_device_close (bench.device);
  return check_report ();
}
