/* SPDX-License-Identifier: Apache-2.0 */

/* A norm that scales what it adds, and its gradient, on the CPU: to the bit
 * what a layer scale and a norm make one after the other. */

#include "kernels/random.h"
#include "tests/data/check.h"
#include "tests/kernels/operator-bench.h"

#include <string.h>

enum
{
  ROWS = 12,
  COLUMNS = 3
};

typedef float Rows[ROWS][COLUMNS];

/* What goes in. */
typedef struct Given
{
  int32_t rng[QM_RNG_SIZE];
  Rows x, a, dy, dsum;
  float gain[COLUMNS], gamma[COLUMNS];
} Given;

/* What comes out: d are the gradients of gamma, beta and the gain. */
typedef struct Made
{
  Rows sum, y, dx, da;
  float mean[ROWS], rstd[ROWS], d[3][COLUMNS];
} Made;

/* Calls in the order in which a training has them. */
typedef struct Calls
{
  QmOpCall scale, norm, back, scale_back;
} Calls;

static QmTensor
rows_of (Rows rows)
{
  return tensor2 (QM_TYPE_F32, ROWS, COLUMNS, rows);
}

static Calls
two_operators (Given *given, Made *made)
{
  const QmAttributes attributes = {
    .dropout = 0.25, .site = 11, .height = 3, .width = 2, .epsilon = 0.5
  };
  QmTensor rng = tensor1 (QM_TYPE_I32, QM_RNG_SIZE, given->rng);
  QmTensor gain = tensor1 (QM_TYPE_F32, COLUMNS, given->gain);
  QmTensor gamma = tensor1 (QM_TYPE_F32, COLUMNS, given->gamma);
  QmTensor mean = tensor1 (QM_TYPE_F32, ROWS, made->mean);
  QmTensor rstd = tensor1 (QM_TYPE_F32, ROWS, made->rstd);
  QmTensor d[3];

  for (int i = 0; i < 3; i++)
    d[i] = tensor1 (QM_TYPE_F32, COLUMNS, made->d[i]);
  return (Calls){
    .scale = { .op = QM_OP_LAYER_SCALE,
               .attributes = attributes,
               .inputs = { rows_of (given->a), gain, rows_of (given->x), rng },
               .outputs = { rows_of (made->sum) } },
    .norm = { .op = QM_OP_LAYER_NORM,
              .attributes = attributes,
              .inputs = { rows_of (made->sum), gamma, gamma },
              .outputs = { rows_of (made->y), mean, rstd } },
    .back = { .op = QM_OP_LAYER_NORM_BACKWARD,
              .attributes = attributes,
              .inputs = { rows_of (given->dy), rows_of (made->sum), gamma, mean,
                          rstd, rows_of (given->dsum) },
              .outputs = { rows_of (made->dx), d[0], d[1] } },
    .scale_back = { .op = QM_OP_LAYER_SCALE_BACKWARD,
                    .attributes = attributes,
                    .inputs = { rows_of (made->dx), rows_of (given->a), gain,
                                rng },
                    .outputs = { rows_of (made->da), d[2] } },
  };
}

/* The norm and its gradient take the layer scale in. */
static void
join (Calls *calls)
{
  QmOpCall *norm = &calls->norm, *back = &calls->back;

  norm->inputs[0] = calls->scale.inputs[2];
  norm->inputs[3] = calls->scale.inputs[0];
  norm->inputs[7] = calls->scale.inputs[3];
  norm->inputs[8] = calls->scale.inputs[1];
  norm->outputs[3] = calls->scale.outputs[0];
  back->inputs[8] = calls->scale_back.inputs[3];
  back->inputs[9] = calls->scale_back.inputs[1];
  back->inputs[10] = calls->scale_back.inputs[2];
  back->outputs[5] = calls->scale_back.outputs[0];
  back->outputs[7] = calls->scale_back.outputs[1];
}

static Given
numbers (void)
{
  Given given = { .rng = { 11, 12, 0 },
                  .gain = { 3, 0.5f, -0.3f },
                  .gamma = { 2, 10, 0.7f } };

  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++)
      {
        given.x[i][j] = (float) (i * (j + 1) % 5);
        given.a[i][j] = (float) (i * i % 7 - 3 * j) / 3;
        given.dy[i][j] = (float) (i % 3 - j) / 7;
        given.dsum[i][j] = (float) (5 * j - i);
      }
  return given;
}

static void
test_equal (const Bench *bench)
{
  Given given = numbers ();
  Made two = { .d = { { 1 } } }, one = two;
  Calls calls = two_operators (&given, &two);
  int kept = 0;

  check_case ("a norm with a gain");
  run (bench, &calls.scale);
  run (bench, &calls.norm);
  run (bench, &calls.back);
  run (bench, &calls.scale_back);
  calls = two_operators (&given, &one);
  join (&calls);
  run (bench, &calls.norm);
  run (bench, &calls.back);
  CHECK (memcmp (&one, &two, sizeof one) == 0);
  /* A sample is left out, and another is not. */
  for (int i = 0; i < ROWS; i += 6)
    kept += one.sum[i + 1][1] != given.x[i + 1][1];
  CHECK_INT (kept, 1);
}

/* The gradient of a branch in the place of the branch, or of what comes in. */
static void
test_in_place (const Bench *bench)
{
  const Given given = numbers ();
  Made wanted = { .d = { { 1 } } };
  Given copy = given;
  Calls calls = two_operators (&copy, &wanted);

  check_case ("in place");
  join (&calls);
  run (bench, &calls.norm);
  run (bench, &calls.back);
  for (int way = 0; way < 3; way++)
    {
      Made made = wanted;
      QmOpCall *back = &calls.back;
      const float *dx = way == 2 ? &copy.a[0][0] : &copy.dsum[0][0];
      const float *da = way == 0 ? &copy.a[0][0] : &copy.dy[0][0];

      copy = given;
      memset (made.d, 0, sizeof made.d);
      made.d[0][0] = 1;
      calls = two_operators (&copy, &made);
      join (&calls);
      back->outputs[5] = back->inputs[way == 0 ? 9 : 0];
      back->outputs[0] = back->inputs[way == 2 ? 9 : 5];
      run (bench, back);
      CHECK (memcmp (dx, wanted.dx, sizeof wanted.dx) == 0);
      CHECK (memcmp (da, wanted.da, sizeof wanted.da) == 0);
      CHECK (memcmp (made.d, wanted.d, sizeof wanted.d) == 0);
    }
}

static void
test_refused (const Bench *bench)
{
  Given given = numbers ();
  Made made;
  Calls calls = two_operators (&given, &made);
  QmOpCall call;

  check_case ("refused");
  join (&calls);
  call = calls.norm;
  call.inputs[4] = call.inputs[3];
  refused (bench, &call);
  call = calls.norm;
  call.attributes.height = 7;
  refused (bench, &call);
  call = calls.norm;
  call.inputs[7] = (QmTensor){ 0 };
  refused (bench, &call);
  call = calls.norm;
  call.inputs[3] = call.outputs[3] = (QmTensor){ 0 };
  refused (bench, &call);
  for (int slot = 8; slot <= 10; slot++)
    {
      call = calls.back;
      call.inputs[slot] = (QmTensor){ 0 };
      refused (bench, &call);
    }
  for (int slot = 5; slot <= 7; slot += 2)
    {
      call = calls.back;
      call.outputs[slot] = (QmTensor){ 0 };
      refused (bench, &call);
    }
  call = calls.back;
  call.outputs[6] = call.outputs[5];
  refused (bench, &call);
}

int
main (void)
{
  Bench bench = { 0 };

  CHECK_INT (qm_device_open ("cpu", 0, &bench.device, NULL), QM_OK);
  CHECK_INT (qm_stream_create (bench.device, &bench.stream, NULL), QM_OK);
  test_equal (&bench);
  test_in_place (&bench);
  test_refused (&bench);
  qm_stream_free (bench.device, bench.stream);
  qm_device_close (bench.device);
  return check_report ();
}
