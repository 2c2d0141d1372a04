/* SPDX-License-Identifier: Apache-2.0 */

/* Which sizes of a call GPUs have kernels for, by their architecture; no GPU is
 * needed to know. */

#include "kernels/cuda/attention-parts.h"
#include "kernels/operators.h"
#include "tests/data/check.h"

#include <math.h>
#include <string.h>

#define LARGEST 8192

static _Alignas(16) float memory[LARGEST];

static QmTensor
tensor (QmType type, int rank, const int64_t *shape)
{
  return qm_tensor_dense (type, rank, shape, memory);
}

/* Whether such a GPU takes the call; what is too large is told. */
static bool
is_taken (int architecture, const QmOpCall *call)
{
  const QmTarget gpu = { QM_DEVICE_CUDA, architecture };
  const QmTarget cpu = { QM_DEVICE_CPU, 0 };
  QmError error = { 0 };
  QmStatus status = qm_target_takes (&gpu, call, &error);

  CHECK_INT (qm_target_takes (&cpu, call, NULL), QM_OK);
  CHECK (status == QM_OK || status == QM_STATUS_UNSUPPORTED);
  if (status != QM_OK)
    CHECK_CONTAINS (error.message, qm_op_name (call->op));
  CHECK (status == QM_OK || qm_op_has_limits (&gpu, call->op));
  CHECK (!qm_op_has_limits (&cpu, call->op));
  return status == QM_OK;
}

static QmOpCall
attention (QmType type, bool tf32, int64_t heads, int64_t rows, int64_t size)
{
  const int64_t shape[] = { 2, heads, rows, size };
  QmOpCall call = { .op = QM_OP_ATTENTION };

  call.attributes.tf32 = tf32;
  call.attributes.scale = 0.5;
  for (int i = 0; i < 3; i++)
    call.inputs[i] = tensor (type, 4, shape);
  call.outputs[0] = tensor (type, 4, shape);
  call.outputs[1] = tensor (QM_TYPE_F32, 3, shape);
  return call;
}

static void
test_attention (void)
{
  QmOpCall call = attention (QM_TYPE_BF16, false, 4, 16, 256);

  check_case ("attention");
  CHECK (is_taken (90, &call));
  call = attention (QM_TYPE_BF16, false, 4, 16, 264);
  CHECK (!is_taken (90, &call));
  /* Without tensor cores, a row of blocks for each head of each sample. */
  call = attention (QM_TYPE_BF16, false, 40000, 16, 64);
  CHECK (is_taken (90, &call));
  call = attention (QM_TYPE_BF16, false, 40000, 16, 60);
  CHECK (!is_taken (90, &call));
  call = attention (QM_TYPE_F32, false, 40000, 16, 64);
  CHECK (!is_taken (90, &call));
  call = attention (QM_TYPE_F32, true, 40000, 16, 64);
  CHECK (is_taken (80, &call));
  CHECK (!is_taken (75, &call)); /* which has no TF32 */
  call = attention (QM_TYPE_BF16, false, 1, (1 << 24) + 1, 64);
  CHECK (!is_taken (90, &call));
  /* Of the gradient, queries are the second input. */
  call = attention (QM_TYPE_BF16, false, 4, 16, 264);
  call.op = QM_OP_ATTENTION_BACKWARD;
  for (int i = 1; i < 5; i++)
    call.inputs[i] = call.inputs[0];
  call.outputs[1] = call.outputs[2] = call.outputs[0];
  CHECK (!is_taken (90, &call));
}

/* The gradient of that attention, of whose heads so much is turned. */
static QmOpCall
turned (const QmOpCall *attention, int64_t rotary)
{
  const QmTensor *q = &attention->inputs[0];
  const int64_t table[] = { q->shape[2], rotary };
  QmOpCall call = { .op = QM_OP_ATTENTION_BACKWARD };

  call.attributes = attention->attributes;
  call.attributes.rotary = rotary;
  for (int i = 0; i < 5; i++)
    call.inputs[i] = *q;
  call.inputs[5] = attention->outputs[1];
  call.inputs[7] = tensor (QM_TYPE_F32, 2, table);
  call.outputs[0] = call.outputs[1] = call.outputs[2] = *q;
  return call;
}

/* Which GPUs turn gradients where they are made, and what of a head. */
static void
test_turns (void)
{
  static const struct
  {
    int architecture;
    QmType type;
    int64_t rows, size, rotary;
    double dropout;
    bool turns;
    QmCausal causal;
    int64_t window;
  } cases[] = {
    { 90, QM_TYPE_BF16, 80, 64, 64, 0, true },
    { 90, QM_TYPE_F16, 80, 64, 16, 0, true },
    { 90, QM_TYPE_BF16, 16, 80, 80, 0, true },
    { 90, QM_TYPE_BF16, 16, 128, 32, 0, true },
    { 90, QM_TYPE_BF16, 16, 256, 64, 0, true },
    { 90, QM_TYPE_BF16, 80, 64, 32, 0, false },
    { 90, QM_TYPE_BF16, 80, 80, 20, 0, false },
    { 90, QM_TYPE_BF16, 80, 72, 72, 0, false },
    { 90, QM_TYPE_BF16, 64, 64, 64, 0, false },
    { 90, QM_TYPE_BF16, 64, 64, 64, 0, false, .window = 64 },
    { 90, QM_TYPE_BF16, 64, 64, 64, 0, true, .window = 17 },
    { 90, QM_TYPE_BF16, 64, 64, 64, 0, true, .causal = QM_CAUSAL_RESULT },
    { 90, QM_TYPE_BF16, 80, 64, 64, 0.1, false },
    { 90, QM_TYPE_F32, 80, 64, 64, 0, false },
    { 80, QM_TYPE_BF16, 80, 64, 64, 0, false },
    { 100, QM_TYPE_BF16, 80, 64, 64, 0, false },
  };
  const QmTarget cpu = { QM_DEVICE_CPU, 0 };

  check_case ("turns");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    {
      const QmTarget gpu = { QM_DEVICE_CUDA, cases[i].architecture };
      QmOpCall call =
          attention (cases[i].type, true, 2, cases[i].rows, cases[i].size);

      call = turned (&call, cases[i].rotary);
      call.attributes.dropout = cases[i].dropout;
      call.attributes.causal = cases[i].causal;
      call.attributes.window = cases[i].window;
      CHECK (qm_target_turns (&gpu, &call) == cases[i].turns);
      CHECK (qm_target_has_turns (&gpu) == (gpu.architecture == 90));
      CHECK (!qm_target_turns (&cpu, &call) && !qm_target_has_turns (&cpu));
      call.inputs[7] = (QmTensor){ 0 };
      CHECK (!qm_target_turns (&gpu, &call));
    }
}

/* A product of x and weights for a gate, or on its way back, between so many
 * columns and so many features, each matrix with rows that are `step` more
 * elements apart than they are long. */
static QmOpCall
gated (bool forward, QmType type, int64_t in, int64_t features, int64_t step)
{
  const int64_t x[] = { 4, in }, y[] = { 4, features };
  const int64_t pre[] = { 4, 2 * features }, up[] = { 2 * features, in };
  const int64_t down[] = { in, features };
  QmOpCall call = { .op =
                        forward ? QM_OP_GATED_LINEAR : QM_OP_GATED_INPUT_GRAD };

  call.attributes.activation = QM_FUNCTION_SILU;
  call.inputs[0] = tensor (type, 2, x);
  call.inputs[1] = tensor (type, 2, forward ? up : down);
  if (!forward)
    call.inputs[2] = tensor (type, 2, pre);
  call.outputs[0] = tensor (type, 2, forward ? y : pre);
  if (forward)
    call.outputs[1] = tensor (type, 2, pre);
  for (int i = 0; i < 3; i++)
    call.inputs[i].stride[0] += step;
  for (int i = 0; i < 2; i++)
    call.outputs[i].stride[0] += step;
  return call;
}

/* Which GPUs have kernels for products that end in gates, and of what. */
static void
test_gates (void)
{
  static const struct
  {
    int architecture;
    QmType type;
    int64_t in, features, step;
    QmFunction activation;
    bool gates;
  } cases[] = {
    { 90, QM_TYPE_BF16, 64, 24, 0, QM_FUNCTION_SILU, true },
    { 90, QM_TYPE_F16, 64, 24, 0, QM_FUNCTION_GELU, true },
    { 90, QM_TYPE_BF16, 64, 24, 0, QM_FUNCTION_GELU_TANH, true },
    { 90, QM_TYPE_BF16, 64, 24, 8, QM_FUNCTION_SILU, true },
    { 90, QM_TYPE_BF16, 64, 24, 4, QM_FUNCTION_SILU, false },
    { 90, QM_TYPE_BF16, 64, 24, 0, QM_FUNCTION_RELU, false },
    { 90, QM_TYPE_BF16, 64, 24, 0, QM_FUNCTION_NONE, false },
    { 90, QM_TYPE_F32, 64, 24, 0, QM_FUNCTION_SILU, false },
    { 90, QM_TYPE_BF16, 60, 24, 0, QM_FUNCTION_SILU, false },
    { 90, QM_TYPE_BF16, 64, 20, 0, QM_FUNCTION_SILU, false },
    { 80, QM_TYPE_BF16, 64, 24, 0, QM_FUNCTION_SILU, false },
    { 100, QM_TYPE_BF16, 64, 24, 0, QM_FUNCTION_SILU, false },
  };
  const QmTarget cpu = { QM_DEVICE_CPU, 0 };

  check_case ("gates");
  CHECK (!qm_target_has_gates (&cpu));
  for (size_t i = 0; i < 2 * (sizeof cases / sizeof cases[0]); i++)
    {
      const QmTarget gpu = { QM_DEVICE_CUDA, cases[i / 2].architecture };
      QmOpCall call = gated (i % 2 == 0, cases[i / 2].type, cases[i / 2].in,
                             cases[i / 2].features, cases[i / 2].step);
      QmOpCall other;

      call.attributes.activation = cases[i / 2].activation;
      CHECK_INT (qm_op_check (&call, NULL), QM_OK);
      CHECK (qm_target_gates (&gpu, &call) == cases[i / 2].gates);
      CHECK (qm_target_has_gates (&gpu) == (gpu.architecture == 90));
      CHECK (!qm_target_gates (&cpu, &call));
      other = call;
      other.inputs[1].type =
          call.inputs[1].type == QM_TYPE_F16 ? QM_TYPE_BF16 : QM_TYPE_F16;
      CHECK (!qm_target_gates (&gpu, &other));
      other = call;
      other.op = i % 2 == 0 ? QM_OP_LINEAR : QM_OP_LINEAR_INPUT_GRAD;
      CHECK (!qm_target_gates (&gpu, &other));
    }
}

/* A plan's calls have no addresses; those of a call are of whole 16 bytes, and
 * so are rows of each matrix. */
static void
test_gate_addresses (void)
{
  const QmTarget gpu = { QM_DEVICE_CUDA, 90 };
  static _Alignas(16) char bytes[32];

  check_case ("addresses of gates");
  for (int i = 0; i < 2; i++)
    {
      QmOpCall call = gated (i == 0, QM_TYPE_BF16, 64, 24, 0);
      const int64_t shape[] = { 48 };

      for (int j = 0; j < 3; j++)
        call.inputs[j].data = NULL;
      call.outputs[0].data = call.outputs[1].data = NULL;
      CHECK (qm_target_gates (&gpu, &call));
      call.inputs[0].data = bytes;
      CHECK (qm_target_gates (&gpu, &call));
      call.inputs[0].data = bytes + 8;
      CHECK (!qm_target_gates (&gpu, &call));
      call.inputs[0].data = NULL;
      for (int j = 0; j < 4; j++)
        {
          QmOpCall other = call;
          QmTensor *const each[] = { &other.inputs[0], &other.inputs[1],
                                     &other.outputs[0],
                                     i == 0 ? &other.outputs[1]
                                            : &other.inputs[2] };

          each[j]->stride[0] += 4;
          CHECK (!qm_target_gates (&gpu, &other));
          each[j]->stride[0] += 4;
          CHECK (qm_target_gates (&gpu, &other));
        }
      if (i > 0)
        continue;
      call.outputs[1] = (QmTensor){ 0 };
      CHECK (qm_target_gates (&gpu, &call));
      call.inputs[2] = tensor (QM_TYPE_BF16, 1, shape);
      CHECK (qm_target_gates (&gpu, &call));
      call.inputs[2] = tensor (QM_TYPE_F32, 1, shape);
      CHECK (!qm_target_gates (&gpu, &call));
    }
}

/* What no head can be turned by. */
static void
test_tables (void)
{
  const int64_t rows[] = { 15, 8 };
  QmOpCall forward = attention (QM_TYPE_BF16, false, 2, 16, 8), call;

  check_case ("tables");
  call = turned (&forward, 8);
  CHECK_INT (qm_op_check (&call, NULL), QM_OK);
  call.attributes.rotary = 6;
  CHECK_INT (qm_op_check (&call, NULL), QM_STATUS_INVALID);
  call = turned (&forward, 7);
  CHECK_INT (qm_op_check (&call, NULL), QM_STATUS_INVALID);
  call = turned (&forward, 10);
  CHECK_INT (qm_op_check (&call, NULL), QM_STATUS_INVALID);
  call = turned (&forward, 8);
  call.inputs[7] = tensor (QM_TYPE_F32, 2, rows);
  CHECK_INT (qm_op_check (&call, NULL), QM_STATUS_INVALID);
  call.inputs[7] = (QmTensor){ 0 };
  CHECK_INT (qm_op_check (&call, NULL), QM_STATUS_INVALID);
  call.attributes.rotary = 0;
  CHECK_INT (qm_op_check (&call, NULL), QM_OK);
}

/* What no kernel can scale scores by, nor as fp32, and other windows. */
static void
test_scales (void)
{
  static const struct
  {
    double scale;
    int64_t window;
    const char *message; /* NULL: there is none */
  } cases[] = {
    { 0.125, 0, NULL },
    { 1e9, 3, NULL },
    { 1e-30, 0, NULL },
    { 0, 0, "the scale of its scores is 0, and has to be above 0" },
    { -0.125, 0, "the scale of its scores is -0.125, and has to be above 0" },
    { 1e-60, 0, "the scale of its scores is 1e-60, and has to be above 0" },
    { NAN, 0, "the scale of its scores is nan" },
    { INFINITY, 0, "the scale of its scores is inf" },
    { 0.125, -1, "the window is -1, and cannot be negative" },
  };

  check_case ("scales");
  for (size_t i = 0; i < 2 * (sizeof cases / sizeof cases[0]); i++)
    {
      const char *message = cases[i / 2].message;
      QmOpCall call = attention (QM_TYPE_BF16, false, 2, 16, 8);
      QmError error = { 0 };

      if (i % 2 == 1)
        call = turned (&call, 8);
      call.attributes.scale = cases[i / 2].scale;
      call.attributes.window = cases[i / 2].window;
      CHECK_INT (qm_op_check (&call, &error),
                 message == NULL ? QM_OK : QM_STATUS_INVALID);
      if (message == NULL)
        continue;
      CHECK_CONTAINS (error.message, qm_op_name (call.op));
      CHECK_CONTAINS (error.message, message);
    }
}

static QmOpCall
scan (int64_t sequences, int64_t states)
{
  const int64_t rows[] = { sequences * 2, 8 }, rates[] = { 8, states };
  QmOpCall call = { .op = QM_OP_SELECTIVE_SCAN };

  call.attributes.width = 2;
  call.inputs[0] = call.inputs[1] = tensor (QM_TYPE_BF16, 2, rows);
  call.inputs[2] = tensor (QM_TYPE_F32, 2, rates);
  return call;
}

/* The gradient has the same inputs behind another. */
static QmOpCall
gradient (const QmOpCall *call, QmOp op)
{
  QmOpCall other = *call;

  other.op = op;
  memmove (other.inputs + 1, call->inputs,
           (QM_OP_MAX_INPUTS - 1) * sizeof *call->inputs);
  return other;
}

static void
test_scans (void)
{
  static const struct
  {
    int architecture;
    int64_t states, of_heads; /* the most */
  } cases[] = {
    { 75, 16, 128 },  { 80, 128, 256 },  { 86, 64, 256 },  { 89, 64, 256 },
    { 90, 128, 256 }, { 100, 128, 256 }, { 120, 64, 256 },
  };

  check_case ("scans");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    for (int more = 0; more < 2; more++)
      {
        const int64_t columns[] = { 4, 2 * (cases[i].of_heads + more) };
        QmOpCall call = scan (2, cases[i].states + more);
        QmOpCall back = gradient (&call, QM_OP_SELECTIVE_SCAN_BACKWARD);

        CHECK (is_taken (cases[i].architecture, &call) == !more);
        CHECK (is_taken (cases[i].architecture, &back) == !more);
        call.op = QM_OP_DUAL_SCAN;
        call.attributes.count = 2;
        call.inputs[3] = tensor (QM_TYPE_BF16, 2, columns);
        back = gradient (&call, QM_OP_DUAL_SCAN_BACKWARD);
        CHECK (is_taken (cases[i].architecture, &call) == !more);
        CHECK (is_taken (cases[i].architecture, &back) == !more);
      }
  QmOpCall many = scan (65535, 16), more = scan (65536, 16);
  CHECK (is_taken (90, &many));
  CHECK (!is_taken (90, &more));
}

/* Rows that a block keeps in registers. */
static void
test_rows (void)
{
  static const struct
  {
    QmOp op;
    int64_t most;
  } cases[] = {
    { QM_OP_LAYER_NORM, 32768 },
    { QM_OP_LAYER_NORM_BACKWARD, 32768 },
    { QM_OP_SOFTMAX, 32760 },
    { QM_OP_SOFTMAX_BACKWARD, 32760 },
  };

  check_case ("rows");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    for (int more = 0; more < 2; more++)
      {
        const int64_t n = cases[i].most + more;
        const int64_t matrix[] = { 2, n }, scores[] = { 1, 1, n, n };
        QmOpCall call = { .op = cases[i].op };

        call.inputs[0] = cases[i].most == 32768
                             ? tensor (QM_TYPE_BF16, 2, matrix)
                             : tensor (QM_TYPE_BF16, 4, scores);
        CHECK (is_taken (90, &call) == !more);
      }
}

/* Rows of samples some of which are chosen are counted in 32 bits. */
static void
test_chosen_rows (int64_t rows, bool wanted)
{
  const int64_t all[] = { rows, 1 }, chosen[] = { 1, 1 };
  QmOpCall call = { .op = QM_OP_LAYER_SCALE };

  call.outputs[0] = tensor (QM_TYPE_BF16, 2, all);
  CHECK (is_taken (90, &call));
  call.inputs[4] = tensor (QM_TYPE_I32, 2, chosen);
  CHECK (is_taken (90, &call) == wanted);
  call.op = QM_OP_LAYER_SCALE_BACKWARD;
  call.inputs[0] = call.outputs[0];
  CHECK (is_taken (90, &call) == wanted);
}

/* What has a row of blocks for each sample. */
static void
test_samples (void)
{
  check_case ("samples");
  for (int more = 0; more < 2; more++)
    {
      const int64_t samples[] = { 65535 + more, 4 };
      QmOpCall call = { .op = QM_OP_GATED_ADD_BACKWARD };

      call.inputs[2] = tensor (QM_TYPE_BF16, 2, samples);
      CHECK (is_taken (90, &call) == !more);
      call.op = QM_OP_ADAPTIVE_NORM_BACKWARD;
      CHECK (is_taken (90, &call) == !more);
      call = (QmOpCall){ .op = QM_OP_DRAW_NOISE };
      call.outputs[2] = tensor (QM_TYPE_F32, 2, samples);
      CHECK (is_taken (90, &call) == !more);
      test_chosen_rows (INT32_MAX + (int64_t) more, !more);
      call = (QmOpCall){ .op = QM_OP_COPY };
      call.inputs[0] = tensor (QM_TYPE_BF16, 2, samples);
      CHECK (is_taken (90, &call));
    }
}

/* Heads of queries are divided by what divides them, no more than gives tiles
 * enough, and plans know of the sums. */
static void
test_parts (void)
{
  const int64_t q[] = { 2, 24, 4096, 128 }, k[] = { 2, 2, 4096, 128 };
  const QmTarget gpu = { QM_DEVICE_CUDA, 90 }, older = { QM_DEVICE_CUDA, 80 };
  QmOpCall call = { .op = QM_OP_ATTENTION_BACKWARD };
  size_t whole, parts;

  check_case ("parts");
  for (int64_t heads = 1; heads <= 512; heads += 1 + heads / 3)
    for (int shared = 1; shared <= 24; shared++)
      for (int64_t rows = 1; rows <= 8192; rows += rows)
        {
          const int64_t tiles = heads * ((rows + 127) / 128);
          const int n = qm_attention_parts (heads, shared, rows, 64);
          int fewer = n - 1;

          while (fewer > 0 && shared % fewer != 0)
            fewer--;
          CHECK (n >= 1 && n <= shared && shared % n == 0);
          CHECK (tiles * n >= QM_ATTENTION_PART_TILES || n == shared);
          CHECK (fewer == 0 || tiles * fewer < QM_ATTENTION_PART_TILES);
          CHECK_INT (qm_attention_parts (heads, shared, rows, 256), 1);
        }
  call.inputs[1] = tensor (QM_TYPE_BF16, 4, q);
  call.inputs[2] = tensor (QM_TYPE_BF16, 4, q);
  whole = qm_op_workspace (&gpu, &call);
  call.inputs[2] = tensor (QM_TYPE_BF16, 4, k);
  parts = qm_op_workspace (&gpu, &call);
  CHECK_INT (parts - whole, 12 * 2 * (int64_t) (2 * 2 * 4096 * 128 * 4));
  /* Portable kernels divide nothing. */
  CHECK (qm_op_workspace (&older, &call) <= whole);
}

int
main (void)
{
  test_attention ();
  test_parts ();
  test_turns ();
  test_gates ();
  test_gate_addresses ();
  test_tables ();
  test_scales ();
  test_scans ();
  test_rows ();
  test_samples ();
  return check_report ();
}
