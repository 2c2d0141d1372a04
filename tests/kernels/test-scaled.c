/* SPDX-License-Identifier: Apache-2.0 */

/* Numbers in FP8, their scales and products, on the CPU, against what
 * kernels/scaled.h and the standard say. */

#include "kernels/convert.h"
#include "kernels/operators.h"
#include "kernels/scaled.h"
#include "tests/data/check.h"
#include "tests/kernels/operator-bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A type as the standard has it (OFP8 1.0, table 1). */
typedef struct Format
{
  QmType type;
  int fraction, bias, largest; /* the last as a code */
  double most, least, tiny;
} Format;

static const Format formats[] = {
  { QM_TYPE_E4M3, 3, 7, 0x7e, 448, 0x1p-6, 0x1p-9 },
  { QM_TYPE_E5M2, 2, 15, 0x7b, 57344, 0x1p-14, 0x1p-16 },
};

/* The number of a code without a sign. */
static double
value_of (const Format *format, int code)
{
  int exponent = code >> format->fraction;
  int rest = code & ((1 << format->fraction) - 1);

  return exponent == 0 ? ldexp (rest, 1 - format->bias - format->fraction)
                       : ldexp ((1 << format->fraction) + rest,
                                exponent - format->bias - format->fraction);
}

static float
decoded (const Format *format, int code)
{
  uint8_t bits = (uint8_t) code;
  float value;

  qm_floats_load (format->type, &bits, 1, 1, &value);
  return value;
}

static int
encoded (const Format *format, double value)
{
  float number = (float) value;
  uint8_t bits;

  qm_floats_store (format->type, &bits, 1, 1, &number);
  return bits;
}

/* Each code, and what lies between it and the next: half way goes to the even
 * one, all else to the nearer. */
static void
test_codes (const Format *format)
{
  check_case (qm_type_name (format->type));
  CHECK_INT ((int64_t) qm_type_size (format->type), 1);
  CHECK (qm_type_is_fp8 (format->type));
  CHECK_NEAR (qm_scaled_most (format->type), format->most, 0);
  CHECK_NEAR (value_of (format, format->largest), format->most, 0);
  CHECK_NEAR (value_of (format, 1 << format->fraction), format->least, 0);
  CHECK_NEAR (value_of (format, 1), format->tiny, 0);
  for (int code = 0; code <= format->largest; code++)
    {
      double value = value_of (format, code);
      double next = value_of (format, code + 1), middle = (value + next) / 2;

      CHECK (decoded (format, code) == value);
      CHECK (decoded (format, code | 0x80) == -value);
      CHECK (signbit (decoded (format, code | 0x80)));
      CHECK_INT (encoded (format, value), code);
      CHECK_INT (encoded (format, copysign (value, -1)), code | 0x80);
      if (code == format->largest)
        break;
      CHECK_INT (encoded (format, middle), code + code % 2);
      CHECK_INT (encoded (format, nextafterf ((float) middle, 0)), code);
      CHECK_INT (encoded (format, -nextafterf ((float) middle, 1e9f)),
                 (code + 1) | 0x80);
    }
  for (int code = format->largest + 1; code <= 0x7f; code++)
    CHECK (code == 0x7c ? format->type == QM_TYPE_E5M2
                              && decoded (format, code) == INFINITY
                              && decoded (format, code | 0x80) == -INFINITY
                        : isnan (decoded (format, code))
                              && isnan (decoded (format, code | 0x80)));
  CHECK_INT (encoded (format, format->most * 1.01), format->largest);
  CHECK_INT (encoded (format, -1e30), format->largest | 0x80);
  CHECK_INT (encoded (format, INFINITY), format->largest);
  CHECK_INT (encoded (format, -INFINITY), format->largest | 0x80);
  CHECK_INT (encoded (format, NAN), 0x7f);
  CHECK_INT (encoded (format, -NAN), 0x7f);
  CHECK_INT (encoded (format, 1e-30), 0);
}

enum
{
  ROWS = 5,
  COLUMNS = 7,
  GAP = 2,
  NOTED = 4
};

typedef struct Quantized
{
  uint8_t q[ROWS][COLUMNS], qt[COLUMNS][ROWS];
  float scale[ROWS], scale_t[COLUMNS], amax[1];
} Quantized;

static float x[ROWS][COLUMNS + GAP];

/* Numbers of some magnitudes. */
static void
make_numbers (void)
{
  uint32_t seed = 7;

  for (int r = 0; r < ROWS; r++)
    for (int c = 0; c < COLUMNS + GAP; c++)
      {
        seed = seed * 1664525 + 1013904223;
        x[r][c] = ((float) (seed >> 8) / 0x1p23f - 1) * ldexpf (1, r - c);
      }
}

static QmOpCall
quantize_call (QmType type, bool by_row, Quantized *to)
{
  QmOpCall call = { .op = QM_OP_QUANTIZE, .attributes.by_row = by_row };

  memset (to, 0xaa, sizeof *to);
  call.inputs[0] = tensor2 (QM_TYPE_F32, ROWS, COLUMNS, x);
  call.inputs[0].stride[0] = COLUMNS + GAP;
  call.outputs[0] = tensor2 (type, ROWS, COLUMNS, to->q);
  call.outputs[1] = tensor1 (QM_TYPE_F32, by_row ? ROWS : 1, to->scale);
  call.outputs[2] = tensor2 (type, COLUMNS, ROWS, to->qt);
  if (by_row)
    call.outputs[3] = tensor1 (QM_TYPE_F32, COLUMNS, to->scale_t);
  return call;
}

static float
largest_of (int row, int column)
{
  float amax = 0;

  for (int r = 0; r < ROWS; r++)
    for (int c = 0; c < COLUMNS; c++)
      if ((row < 0 || r == row) && (column < 0 || c == column))
        amax = fmaxf (amax, fabsf (x[r][c]));
  return amax;
}

/* Each number is the nearest one there is to a share of its scale. */
static void
check_numbers (const Format *format, const Quantized *got, bool by_row)
{
  for (int r = 0; r < ROWS; r++)
    for (int c = 0; c < COLUMNS; c++)
      {
        float scale = got->scale[by_row ? r : 0];
        float scale_t = by_row ? got->scale_t[c] : scale;

        CHECK_INT (got->q[r][c], encoded (format, x[r][c] * (1 / scale)));
        CHECK_INT (got->qt[c][r], encoded (format, x[r][c] * (1 / scale_t)));
      }
}

static void
test_quantize (const Bench *bench, const Format *format)
{
  const float most = (float) format->most;
  Quantized got;
  QmOpCall call = quantize_call (format->type, false, &got);

  check_case ("one scale");
  run (bench, &call);
  CHECK (got.scale[0] == largest_of (-1, -1) / most);
  check_numbers (format, &got, false);
  check_case ("a scale a row");
  call = quantize_call (format->type, true, &got);
  run (bench, &call);
  for (int r = 0; r < ROWS; r++)
    CHECK (got.scale[r] == largest_of (r, -1) / most);
  for (int c = 0; c < COLUMNS; c++)
    CHECK (got.scale_t[c] == largest_of (-1, c) / most);
  check_numbers (format, &got, true);
  check_case ("one of both");
  call.outputs[0] = call.outputs[1] = (QmTensor){ 0 };
  memset (&got, 0xaa, sizeof got);
  run (bench, &call);
  CHECK (got.scale_t[2] == largest_of (-1, 2) / most);
  CHECK_INT (got.q[0][0], 0xaa);
  call = quantize_call (format->type, false, &got);
  call.outputs[2] = (QmTensor){ 0 };
  run (bench, &call);
  CHECK_INT (got.q[1][1], encoded (format, x[1][1] * (1 / got.scale[0])));
  CHECK_INT (got.qt[0][0], 0xaa);
}

/* Nothing but zeros, numbers next to nothing, and what is none. */
static void
test_edges (const Bench *bench, const Format *format)
{
  float kept[2] = { x[3][4], x[1][1] };
  Quantized got;
  QmOpCall call = quantize_call (format->type, true, &got);

  check_case ("edges");
  memset (x[2], 0, sizeof x[2]);
  x[1][1] = INFINITY;
  x[3][4] = NAN;
  run (bench, &call);
  CHECK (got.scale[2] == 1);
  CHECK_INT (got.q[2][3], 0);
  CHECK (got.scale[1] == INFINITY);
  CHECK (isnan (got.scale[3]) && isfinite (got.scale[4]));
  CHECK_INT (got.q[3][4], 0x7f);
  call = quantize_call (format->type, false, &got);
  run (bench, &call);
  CHECK (isnan (got.scale[0]));
  x[3][4] = kept[0];
  x[1][1] = kept[1];
  for (int c = 0; c < COLUMNS; c++)
    x[2][c] = c == 0 ? 0x1p-130f : -0x1p-140f;
  call = quantize_call (format->type, true, &got);
  run (bench, &call);
  CHECK (got.scale[2] == 1);
  CHECK_INT (got.q[2][0], 0);
  CHECK_INT (got.q[2][1], 0x80);
}

static void
test_history (const Bench *bench, const Format *format)
{
  float history[NOTED] = { 0 }, two[2][NOTED] = { { 1, 2, 3, 4 } };
  float amax[2] = { 9, INFINITY };
  const float all = largest_of (-1, -1), most = (float) format->most;
  Quantized got;
  QmOpCall call = quantize_call (format->type, false, &got);
  QmOpCall note = { .op = QM_OP_NOTE_AMAX };

  check_case ("history");
  call.outputs[4] = tensor1 (QM_TYPE_F32, 1, got.amax);
  refused (bench, &call);
  call.inputs[1] = tensor1 (QM_TYPE_F32, NOTED, history);
  run (bench, &call);
  CHECK (got.scale[0] == all / most && got.amax[0] == all);
  history[0] = all / 8;
  history[2] = all / 4;
  run (bench, &call);
  CHECK (got.scale[0] == all / 4 / most && got.amax[0] == all);
  check_numbers (format, &got, false);
  CHECK (history[0] == all / 8 && history[1] == 0);
  call.outputs[4] = (QmTensor){ 0 };
  run (bench, &call);
  CHECK (got.scale[0] == all / 4 / most);
  call = quantize_call (format->type, true, &got);
  call.inputs[1] = tensor1 (QM_TYPE_F32, NOTED, history);
  call.outputs[4] = tensor1 (QM_TYPE_F32, 1, got.amax);
  refused (bench, &call);
  note.inputs[0] = tensor1 (QM_TYPE_F32, 2, amax);
  note.outputs[0] = tensor2 (QM_TYPE_F32, 2, NOTED, two);
  two[1][0] = 5;
  run (bench, &note);
  CHECK (two[0][0] == 9 && two[0][1] == 1 && two[0][3] == 3);
  CHECK (two[1][0] == 0 && two[1][1] == 5 && two[1][2] == 0);
}

/* Columns of the transpose behind the rows of x. */
static void
test_behind (const Bench *bench, const Format *format)
{
  uint8_t wide[COLUMNS][ROWS + 3];
  Quantized got;
  QmOpCall call = quantize_call (format->type, true, &got);

  check_case ("behind");
  run (bench, &call);
  memset (wide, 0xaa, sizeof wide);
  call.outputs[2] = tensor2 (format->type, COLUMNS, ROWS + 3, wide);
  run (bench, &call);
  for (int c = 0; c < COLUMNS; c++)
    for (int r = 0; r < ROWS + 3; r++)
      CHECK_INT (wide[c][r], r < ROWS ? got.qt[c][r] : 0);
  CHECK (got.scale_t[3] == largest_of (-1, 3) / (float) format->most);
  call.outputs[2].shape[1] = ROWS - 1;
  call.outputs[2].stride[0] = ROWS - 1;
  refused (bench, &call);
}

static void
test_refused (const Bench *bench)
{
  Quantized got;
  QmOpCall call = quantize_call (QM_TYPE_E4M3, false, &got);

  check_case ("refused");
  call.outputs[2].type = QM_TYPE_E5M2;
  refused (bench, &call);
  call = quantize_call (QM_TYPE_BF16, false, &got);
  refused (bench, &call);
  call = quantize_call (QM_TYPE_E4M3, false, &got);
  call.inputs[0].type = QM_TYPE_E4M3;
  refused (bench, &call);
  call = quantize_call (QM_TYPE_E4M3, true, &got);
  call.outputs[1].shape[0] = 1;
  refused (bench, &call);
  call = quantize_call (QM_TYPE_E4M3, false, &got);
  call.outputs[0] = call.outputs[2] = (QmTensor){ 0 };
  refused (bench, &call);
  call = quantize_call (QM_TYPE_E4M3, false, &got);
  call.outputs[1] = (QmTensor){ 0 };
  refused (bench, &call);
  /* Who knows no scales takes none of them. */
  call = (QmOpCall){ .op = QM_OP_COPY };
  call.inputs[0] = tensor2 (QM_TYPE_E4M3, ROWS, COLUMNS, got.q);
  call.outputs[0] = tensor2 (QM_TYPE_F32, ROWS, COLUMNS, x);
  refused (bench, &call);
  call.op = QM_OP_ADD;
  refused (bench, &call);
}

enum
{
  OUT = 6,
  INNER = 19
};

/* Plain loops. */
static double
product_of (const Format *fa,
            uint8_t (*a)[INNER],
            const Format *fb,
            uint8_t (*b)[INNER],
            int r,
            int o)
{
  double sum = 0;

  for (int k = 0; k < INNER; k++)
    sum += (double) decoded (fa, a[r][k]) * decoded (fb, b[o][k]);
  return sum;
}

static void
test_products (const Bench *bench,
               const Format *fa,
               const Format *fb,
               bool by_row)
{
  uint8_t a[ROWS][INNER], b[OUT][INNER];
  float sa[ROWS], sb[OUT], bias[OUT], y[ROWS][OUT];
  QmOpCall call = { .op = QM_OP_SCALED_LINEAR };

  check_case (by_row ? "products of rows" : "products");
  for (int i = 0; i < ROWS * INNER; i++)
    a[i / INNER][i % INNER] =
        (uint8_t) (0x30 + i * 7 % 20 + (i % 3 == 0 ? 0x80 : 0));
  for (int i = 0; i < OUT * INNER; i++)
    b[i / INNER][i % INNER] =
        (uint8_t) (0x28 + i * 11 % 23 + (i % 5 == 0 ? 0x80 : 0));
  for (int r = 0; r < ROWS; r++)
    sa[r] = 0.25f + (float) r;
  for (int o = 0; o < OUT; o++)
    {
      sb[o] = 0.125f + 0.5f * (float) o;
      bias[o] = (float) o - 2;
    }
  call.inputs[0] = tensor2 (fa->type, ROWS, INNER, a);
  call.inputs[1] = tensor2 (fb->type, OUT, INNER, b);
  call.inputs[2] = tensor1 (QM_TYPE_F32, by_row ? ROWS : 1, sa);
  call.inputs[3] = tensor1 (QM_TYPE_F32, by_row ? OUT : 1, sb);
  call.inputs[4] = tensor1 (QM_TYPE_F32, OUT, bias);
  call.outputs[0] = tensor2 (QM_TYPE_F32, ROWS, OUT, y);
  run (bench, &call);
  for (int r = 0; r < ROWS; r++)
    for (int o = 0; o < OUT; o++)
      CHECK_NEAR (y[r][o] + 100,
                  (double) sa[by_row ? r : 0] * sb[by_row ? o : 0]
                          * product_of (fa, a, fb, b, r, o)
                      + bias[o] + 100,
                  1e-5);
  call.op = QM_OP_SCALED_WEIGHT_GRAD;
  refused (bench, &call);
  call.inputs[4] = (QmTensor){ 0 };
  for (int i = 0; i < ROWS * OUT; i++)
    y[i / OUT][i % OUT] = (float) i;
  run (bench, &call);
  for (int i = 0; i < ROWS * OUT; i++)
    CHECK_NEAR (y[i / OUT][i % OUT] + 100,
                (double) sa[by_row ? i / OUT : 0] * sb[by_row ? i % OUT : 0]
                        * product_of (fa, a, fb, b, i / OUT, i % OUT)
                    + i + 100,
                1e-5);
  call.inputs[2].shape[0] = by_row ? 1 : ROWS;
  refused (bench, &call);
  /* One row has one scale, and the other factor its own. */
  call.op = QM_OP_SCALED_LINEAR;
  call.inputs[0].shape[0] = call.inputs[2].shape[0] = 1;
  call.outputs[0].shape[0] = 1;
  run (bench, &call);
  CHECK (qm_scaled_by_row (&call) == by_row);
  for (int o = 0; o < OUT; o++)
    CHECK_NEAR (y[0][o] + 100,
                (double) sa[0] * sb[by_row ? o : 0]
                        * product_of (fa, a, fb, b, 0, o)
                    + 100,
                1e-5);
}

static QmStatus
taken (int architecture, const QmOpCall *call, const char *why)
{
  const QmTarget target = { QM_DEVICE_CUDA, architecture };
  QmError error = { 0 };
  QmStatus status = qm_target_takes (&target, call, &error);

  CHECK (qm_op_has_limits (&target, call->op));
  CHECK_CONTAINS (error.message, why);
  return status;
}

/* Which GPUs multiply what. */
static void
test_limits (void)
{
  static float memory[1];
  QmOpCall call = { .op = QM_OP_SCALED_LINEAR };
  const QmTarget ampere = { QM_DEVICE_CUDA, 80 }, ada = { QM_DEVICE_CUDA, 89 };
  const QmTarget cpu = { QM_DEVICE_CPU, 0 };

  check_case ("limits");
  call.inputs[0] = tensor2 (QM_TYPE_E4M3, 32, 48, memory);
  call.inputs[1] = tensor2 (QM_TYPE_E5M2, 64, 48, memory);
  call.inputs[2] = call.inputs[3] = tensor1 (QM_TYPE_F32, 1, memory);
  call.outputs[0] = tensor2 (QM_TYPE_BF16, 32, 64, memory);
  CHECK (!qm_target_multiplies (&ampere, QM_TYPE_E4M3, false));
  CHECK (qm_target_multiplies (&ada, QM_TYPE_E5M2, false));
  CHECK (qm_target_multiplies (&cpu, QM_TYPE_E4M3, false));
  CHECK_INT (taken (86, &call, "below 8.9"), QM_STATUS_UNSUPPORTED);
  CHECK_INT (taken (89, &call, ""), QM_OK);
  CHECK_INT (taken (120, &call, ""), QM_OK);
  call.inputs[1].type = QM_TYPE_E4M3;
  call.inputs[2] = tensor1 (QM_TYPE_F32, 32, memory);
  call.inputs[3] = tensor1 (QM_TYPE_F32, 64, memory);
  CHECK_INT (taken (89, &call, "for each row"), QM_STATUS_UNSUPPORTED);
  CHECK_INT (taken (90, &call, ""), QM_OK);
  CHECK_INT (taken (100, &call, "for each row"), QM_STATUS_UNSUPPORTED);
  call.inputs[0].shape[0] = call.inputs[2].shape[0] = 1;
  call.outputs[0].shape[0] = 1;
  CHECK_INT (taken (89, &call, "for each row"), QM_STATUS_UNSUPPORTED);
  CHECK_INT (taken (90, &call, ""), QM_OK);
  call.inputs[3].shape[0] = 1;
  CHECK_INT (taken (89, &call, ""), QM_OK);
  call.inputs[2].shape[0] = call.inputs[0].shape[0] = 32;
  call.inputs[3].shape[0] = 64;
  call.outputs[0].shape[0] = 32;
  call.inputs[0].type = call.inputs[1].type = QM_TYPE_E5M2;
  CHECK_INT (taken (90, &call, "two factors"), QM_STATUS_UNSUPPORTED);
  call.inputs[0].type = QM_TYPE_E4M3;
  call.inputs[0].shape[0] = 23;
  call.outputs[0].shape[0] = 23;
  CHECK_INT (taken (90, &call, ""), QM_OK);
  CHECK_NEAR (qm_op_flops (&call), 2.0 * 23 * 48 * 64, 0);
  call.outputs[0].stride[0] = 72;
  CHECK_INT (taken (90, &call, ""), QM_OK);
  call.outputs[0].stride[0] = 68;
  CHECK_INT (taken (90, &call, "16 bytes apart"), QM_STATUS_UNSUPPORTED);
  call.outputs[0].stride[0] = 64;
  call.inputs[1].shape[0] = 72;
  CHECK_INT (taken (90, &call, "multiples of 16"), QM_STATUS_UNSUPPORTED);
  call.inputs[1].shape[0] = 64;
  call.inputs[0].shape[1] = call.inputs[1].shape[1] = 40;
  CHECK_INT (taken (90, &call, "multiples of 16"), QM_STATUS_UNSUPPORTED);
  CHECK_INT (qm_target_takes (&cpu, &call, NULL), QM_OK);
}

int
main (void)
{
  Bench bench = { NULL };

  CHECK_INT (qm_device_open ("cpu", 0, &bench.device, NULL), QM_OK);
  CHECK_INT (qm_stream_create (bench.device, &bench.stream, NULL), QM_OK);
  for (int i = 0; i < 2; i++)
    {
      test_codes (&formats[i]);
      make_numbers ();
      test_quantize (&bench, &formats[i]);
      test_history (&bench, &formats[i]);
      test_behind (&bench, &formats[i]);
      test_edges (&bench, &formats[i]);
    }
  make_numbers ();
  test_refused (&bench);
  for (int i = 0; i < 8; i++)
    test_products (&bench, &formats[i % 2], &formats[i / 2 % 2], i / 4 == 1);
  test_limits ();
  qm_stream_free (bench.device, bench.stream);
  qm_device_close (bench.device);
  return check_report ();
}
