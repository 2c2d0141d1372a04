/* SPDX-License-Identifier: Apache-2.0 */

/* Every operator of a device against the reference, over types and odd shapes,
 * with guards around what it may write.
 *
 * usage: compare-devices DEVICE [OPERATOR] [--architecture N]
 *
 * --architecture uses the kernels of older GPUs, as 75 for sm_75.
 * With "cpu" it holds the reference against itself, which shows that every
 * operator runs in every type and stays inside of its outputs. */

#include "kernels/convert.h"
#include "kernels/diffusion.h"
#include "kernels/operators.h"
#include "kernels/random.h"
#include "tests/data/check.h"
#include "tests/kernels/compare-cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GUARD_BYTES 512
#define GUARD       0xa5
#define MAX_TENSORS (QM_OP_MAX_INPUTS + QM_OP_MAX_OUTPUTS)

/* Sizes by letter; t, u, q, w, e, z, l, E, P, Q and R follow from others, and X
 * and Y are for groups of many rows. */
static const struct
{
  int64_t m, n, k, b, h, s, d, v;
} shapes[] = {
  { 1, 1, 1, 1, 1, 2, 4, 3 },
  { 33, 40, 24, 2, 3, 17, 8, 29 },
  { 70, 129, 65, 1, 2, 65, 64, 77 },
  { 128, 256, 64, 2, 2, 48, 80, 64 },
};

typedef struct Operand
{
  QmTensor tensor;
  size_t elements; /* of memory */
  void *initial;   /* on the host, in its own type */
  void *memory[2]; /* of both devices, behind a guard */
  void *raw[2];
} Operand;

typedef struct Compare
{
  QmDevice *devices[2];
  QmStream *streams[2];
  QmType type;
  QmOp op; /* that is compared */
  int64_t size[128];
  uint32_t seed;
  int cases;       /* that there were */
  int unsupported; /* cases that the device says it has no kernel for */
} Compare;

static void
set_sizes (Compare *compare, size_t index)
{
  int64_t *size = compare->size;

  for (int64_t i = 0; i <= 9; i++)
    size['0' + i] = i;
  size['m'] = shapes[index].m;
  size['n'] = shapes[index].n;
  size['k'] = shapes[index].k;
  size['b'] = shapes[index].b;
  size['h'] = shapes[index].h;
  size['H'] = 3 * shapes[index].h;
  size['s'] = shapes[index].s;
  size['d'] = shapes[index].d;
  size['v'] = shapes[index].v;
  size['M'] = 6 * size['m'];
  size['F'] = 8 * COMPARE_ROWS;
  size['r'] = 4;
  size['c'] = 2;
  size['y'] = 7;
  size['x'] = 10;
  size['t'] = size['b'] * size['s'];
  size['u'] = size['b'] * (size['s'] - 1);
  size['T'] = size['b'] * (size['s'] + 4);
  size['N'] = 2 * size['n'];
  size['q'] = size['b'] * 2 * 3;
  size['w'] = 2 * 3 * 3;
  size['W'] = 2 * size['w'];
  size['f'] = COMPARE_ROWS;
  size['e'] = size['b'] * COMPARE_ROWS;
  size['A'] = COMPARE_ROWS / 4;
  size['V'] = COMPARE_ROWS + 1;
  size['O'] = size['b'] * size['A'];
  size['B'] = size['b'] * (size['A'] + 1);
  size['C'] = size['b'] * size['V'];
  size['I'] = 3 * 15;
  size['J'] = 3 * 16;
  size['a'] = 16;
  size['i'] = 7;
  size['j'] = 10;
  size['z'] = size['b'] * 3 * 5;
  size['l'] = size['n'] * 2 * 2;
  size['E'] = 4 + 20 * (int64_t) index;
  size['P'] = size['E'] + 1;
  size['K'] = 3;
  size['Q'] = 2 * size['b'];
  size['U'] = 2 * size['b'] * COMPARE_ROWS;
  size['X'] = 3;
  size['Y'] = 4;
  size['R'] = size['m'] * size['K'];
  size['D'] = size['m'] * 10;
  size['g'] = 48;
  size['L'] = 80;
}

/* Strides of a layout, from the dense ones; returns the elements of memory. */
static size_t
lay_out (QmTensor *tensor, char layout)
{
  const int64_t *n = tensor->shape;
  int64_t *stride = tensor->stride;
  int64_t parts = layout == 'p' ? 3 : 1;

  if (layout == 'g' && tensor->rank == 2)
    {
      stride[0] += 8;
      return (size_t) (n[0] * stride[0]);
    }
  if (layout == 'p' || layout == 'o')
    {
      stride[1] = parts * n[3];
      stride[2] = n[1] * stride[1];
      stride[0] = n[2] * stride[2];
      return (size_t) (n[0] * stride[0]);
    }
  if (layout == 'l')
    {
      stride[1] = 1;
      stride[3] = n[1];
      stride[2] = n[3] * n[1];
    }
  return (size_t) qm_tensor_elements (tensor);
}

static float
number (Compare *compare, size_t i)
{
  return qm_random_normal (qm_philox (compare->seed, 1, (uint32_t) i, 0, 0, 0),
                           0);
}

/* Numbers of rows and experts, the first groups of which are small, or empty;
 * of patches that are kept, one in four, and their places. */
static int32_t
index_at (const Operand *operand, char kind, size_t i, int64_t below)
{
  size_t n = operand->elements, last = n - 1;
  size_t columns = (size_t) operand->tensor.shape[operand->tensor.rank - 1];

  switch (kind)
    {
    case 'w': /* 1031 is prime, and divides no size */
      return (int32_t) (i * 1031 % n);
    case 'h':
      return i % columns % 4 == i / columns % 4 ? (int32_t) (i % columns / 4)
                                                : -1;
    case 'j':
      return (int32_t) (i % columns * 4 + i / columns % 4);
    case 'c':
      return (int32_t) ((i / columns * 7 + i % columns * 5) % (size_t) below);
    default:
      return (int32_t) ((size_t) below * i * i / (last * last));
    }
}

static void
fill (Compare *compare, Operand *operand, char kind, int64_t below)
{
  size_t bytes = qm_type_size (operand->tensor.type);

  compare->seed++;
  operand->initial = malloc (operand->elements * bytes);
  for (size_t i = 0; i < operand->elements; i++)
    {
      float x = number (compare, i);

      /* Second moments, sums of squares and deviations are positive, and of a
       * training state, every gradient was finite. */
      if (operand->tensor.rank == 1)
        x = fabsf (x) + 0.5f;
      /* Logarithms that are multiplied by are small. */
      if (kind == 'm')
        x *= 0.1f;
      /* Schedules of noise are, too, and no larger than exponents may be. */
      if (operand->tensor.rank == 2
          && operand->tensor.shape[1] == QM_SCHEDULE_SIZE)
        x = 0.5f + 0.5f / (1 + fabsf (x));
      if (operand->tensor.rank == 1 && operand->elements == QM_STATE_SIZE
          && i == QM_STATE_NOT_FINITE)
        x = 0;
      if (operand->tensor.type == QM_TYPE_I32)
        ((int32_t *) operand->initial)[i] =
            kind == 'i' ? (int32_t) (fabsf (x) * 1000) % (int32_t) below
                        : index_at (operand, kind, i, below);
      else
        qm_floats_store (operand->tensor.type,
                         (char *) operand->initial + i * bytes, 1, 1, &x);
    }
}

static void
put (Compare *compare, Operand *operand)
{
  size_t bytes = operand->elements * qm_type_size (operand->tensor.type);

  for (int i = 0; i < 2; i++)
    {
      QmDevice *device = compare->devices[i];

      CHECK_INT (qm_device_allocate (device, bytes + 2 * GUARD_BYTES,
                                     &operand->raw[i], NULL),
                 QM_OK);
      operand->memory[i] = (char *) operand->raw[i] + GUARD_BYTES;
      qm_device_set (device, compare->streams[i], operand->raw[i], GUARD,
                     bytes + 2 * GUARD_BYTES, NULL);
      CHECK_INT (qm_device_write (device, compare->streams[i],
                                  operand->memory[i], operand->initial, bytes,
                                  NULL),
                 QM_OK);
    }
}

/* Makes the tensor that a word describes; returns the rest of the words. */
static const char *
make (Compare *compare, const char *word, Operand *operand)
{
  size_t length = strcspn (word, " ");
  int64_t shape[QM_MAX_RANK], below = 1;
  int32_t rank = 0;

  memset (operand, 0, sizeof *operand);
  if (word[0] != '-' && word[0] != '=')
    {
      for (size_t i = 1; i < length && word[i] != ':'; i++)
        shape[rank++] = compare->size[(unsigned char) word[i]];
      if (word[length - 1] != ':' && length > 2 && word[length - 2] == ':')
        below = compare->size[(unsigned char) word[length - 1]];
      operand->tensor =
          qm_tensor_dense (word[0] == '4'                       ? QM_TYPE_E4M3
                           : word[0] == '5'                     ? QM_TYPE_E5M2
                           : word[0] == 's' || word[0] == 'm'   ? QM_TYPE_F32
                           : strchr ("iwczhj", word[0]) != NULL ? QM_TYPE_I32
                                                                : compare->type,
                           rank, shape, NULL);
      operand->elements = lay_out (&operand->tensor, word[0]);
      fill (compare, operand, word[0], below);
      put (compare, operand);
    }
  return word + length + (word[length] == ' ');
}

static double
tolerance (QmType type)
{
  switch (type)
    {
    case QM_TYPE_F16:
      return 2e-3;
    case QM_TYPE_BF16:
      return 1.6e-2;
    default:
      return 2e-5;
    }
}

static void
read_floats (Compare *compare, const Operand *operand, int device, float *to)
{
  size_t n = operand->elements, bytes = qm_type_size (operand->tensor.type);
  void *raw = malloc (n * bytes);

  CHECK_INT (qm_device_read (compare->devices[device], compare->streams[device],
                             raw, operand->memory[device], n * bytes, NULL),
             QM_OK);
  if (operand->tensor.type == QM_TYPE_I32)
    for (size_t i = 0; i < n; i++)
      to[i] = (float) ((int32_t *) raw)[i];
  else
    qm_floats_load (operand->tensor.type, raw, 1, (int64_t) n, to);
  free (raw);
}

static void
check_guards (Compare *compare, const Operand *operand)
{
  size_t bytes = operand->elements * qm_type_size (operand->tensor.type);
  unsigned char guard[2 * GUARD_BYTES];
  int damaged = 0;

  qm_device_read (compare->devices[1], compare->streams[1], guard,
                  operand->raw[1], GUARD_BYTES, NULL);
  qm_device_read (compare->devices[1], compare->streams[1], guard + GUARD_BYTES,
                  (char *) operand->memory[1] + bytes, GUARD_BYTES, NULL);
  for (size_t i = 0; i < sizeof guard; i++)
    damaged += guard[i] != GUARD;
  CHECK_INT (damaged, 0);
}

/* Half a last place of 1 in fp32: of a sum that cancels out, as the slope of a
 * loss of directions does where there is one column, rounding is all there is.
 */
#define NOTHING 0x1p-24

/* Of slopes in 16 bits, what kernels/cuda/gelu.cuh says of them, which matters
 * where one crosses zero and there is one element. */
#define NOTHING_OF_SLOPES 4.2e-5

/* Of sums of either sign, over tokens or of products, a few last places of what
 * is added; a gate that is nothing below 0 leaves that of one which is 0. */
#define NOTHING_OF_SUMS 0x1p-20

/* Of sums over rows of products of either sign, where there is one column: of
 * 240 that are 1200 without their signs and 1.3 with them, the two devices
 * are 2.5e-5 apart, and the CPU is 3e-6 from the exact sum. */
#define NOTHING_OF_ROWS 0x1p-15

static double
nothing (const Compare *compare, size_t elements)
{
  if (compare->op == QM_OP_RESTORE_TOKENS_BACKWARD
      || compare->op == QM_OP_GATED_LINEAR)
    return NOTHING_OF_SUMS;
  if (compare->op == QM_OP_LAYER_NORM_BACKWARD && elements == 1)
    return NOTHING_OF_ROWS;
  return compare->op == QM_OP_ACTIVATION_BACKWARD
                 && compare->type != QM_TYPE_F32
             ? NOTHING_OF_SLOPES
             : NOTHING;
}

/* Of sums of numbers of either sign, each of differences of logarithms that are
 * themselves sums. */
#define SUMS_OF_DECAYS 1e-4

/* Tensor cores of Hopper add 32 products in FP8 with 13 bits below the largest
 * of them. */
#define SUMS_OF_FP8 2e-3

/* What was accumulated from rounded products is no better than those; a scan
 * whose every factor is rounded leaves more: where one product is all there is,
 * its four factors are each half a last place off, 2^-9 in bf16. */
static double
accumulated (const Compare *compare)
{
  if (compare->op == QM_OP_SCALED_LINEAR
      || compare->op == QM_OP_SCALED_WEIGHT_GRAD)
    return SUMS_OF_FP8;
  if (compare->op != QM_OP_DUAL_SCAN_BACKWARD)
    return tolerance (compare->type) / 16;
  return fmax (tolerance (compare->type) / 2, SUMS_OF_DECAYS);
}

/* By the norm of the difference; elements between rows count too: nobody writes
 * them here. */
static void
compare_operand (Compare *compare, const Operand *operand)
{
  size_t n = operand->elements;
  float *wanted = malloc (n * sizeof *wanted), *got = malloc (n * sizeof *got);
  double difference = 0, size = 0;
  double allowed =
      fmax (tolerance (operand->tensor.type), accumulated (compare));

  read_floats (compare, operand, 0, wanted);
  read_floats (compare, operand, 1, got);
  for (size_t i = 0; i < n; i++)
    {
      difference +=
          ((double) got[i] - wanted[i]) * ((double) got[i] - wanted[i]);
      size += (double) wanted[i] * wanted[i];
    }
  allowed = allowed * sqrt (size) + nothing (compare, n) * sqrt ((double) n);
  if (!(sqrt (difference) <= allowed))
    printf ("  %g of %g\n", sqrt (difference), sqrt (size));
  CHECK (sqrt (difference) <= allowed);
  check_guards (compare, operand);
  free (wanted);
  free (got);
}

/* False where the device has no such operator, which the CPU has to have. */
static bool
run (Compare *compare, QmOpCall *call, Operand *operands, int device)
{
  const QmTarget *target = &qm_device_info (compare->devices[device])->target;
  QmStatus status;
  QmError error = { 0 };

  for (int i = 0; i < MAX_TENSORS; i++)
    {
      QmTensor *tensor = i < QM_OP_MAX_INPUTS
                             ? &call->inputs[i]
                             : &call->outputs[i - QM_OP_MAX_INPUTS];

      *tensor = operands[i].tensor;
      tensor->data = operands[i].memory[device];
    }
  call->workspace_bytes = qm_op_workspace (target, call);
  CHECK_INT (qm_device_allocate (compare->devices[device],
                                 call->workspace_bytes + 1, &call->workspace,
                                 NULL),
             QM_OK);
  status = qm_op_run (compare->devices[device], compare->streams[device], call,
                      &error);
  if (target->kind == QM_DEVICE_CPU || status != QM_STATUS_UNSUPPORTED)
    {
      CHECK_INT (status, QM_OK);
      CHECK_STRING (error.message, "");
    }
  CHECK_INT (qm_stream_synchronize (compare->devices[device],
                                    compare->streams[device], &error),
             QM_OK);
  qm_device_free (compare->devices[device], call->workspace);
  compare->cases++;
  compare->unsupported += status == QM_STATUS_UNSUPPORTED;
  return status != QM_STATUS_UNSUPPORTED;
}

static void
compare_case (Compare *compare, const CompareCase *item)
{
  Operand operands[MAX_TENSORS];
  QmOpCall call = { .op = item->op, .attributes = item->attributes };
  const char *words = item->inputs;
  bool ran;

  compare->op = item->op;
  memset (operands, 0, sizeof operands);
  for (int i = 0; *words != '\0'; i++)
    words = make (compare, words, &operands[i]);
  words = item->outputs;
  for (int i = 0; *words != '\0'; i++)
    {
      Operand *output = &operands[QM_OP_MAX_INPUTS + i];
      int source = words[0] == '=' ? words[1] - '0' : -1;

      words = make (compare, words, output);
      if (source >= 0)
        {
          *output = operands[source];
          output->raw[0] = output->raw[1] = NULL;
        }
    }
  run (compare, &call, operands, 0);
  ran = run (compare, &call, operands, 1);
  for (int i = 0; i < MAX_TENSORS; i++)
    if (operands[i].raw[0] != NULL && ran)
      compare_operand (compare, &operands[i]);
  for (int i = 0; i < MAX_TENSORS; i++)
    if (operands[i].raw[0] != NULL)
      {
        for (int j = 0; j < 2; j++)
          qm_device_free (compare->devices[j], operands[i].raw[j]);
        free (operands[i].initial);
      }
}

/* The gradient of attention needs what attention made.  `rotary` elements of a
 * head are turned. */
static void
compare_attention_backward (Compare *compare,
                            QmCausal causal,
                            double dropout,
                            bool shared,
                            int window,
                            int64_t rotary)
{
  static const char *const alike[MAX_TENSORS] = {
    "obhsd", "pbhsd", "pbhsd",
    "pbhsd", "obhsd", "sbhs",
    "i3:k",  "ssr",   [QM_OP_MAX_INPUTS] = "pbhsd",
    "pbhsd", "pbhsd",
  };
  /* Heads of keys that three of queries share. */
  static const char *const fewer[MAX_TENSORS] = {
    "obHsd", "obHsd", "pbhsd",
    "pbhsd", "obHsd", "sbHs",
    "i3:k",  "ssr",   [QM_OP_MAX_INPUTS] = "obHsd",
    "pbhsd", "pbhsd",
  };
  const char *const *words = shared ? fewer : alike;
  Operand operands[MAX_TENSORS], forward[MAX_TENSORS] = { 0 };
  QmOpCall call = { .op = QM_OP_ATTENTION };
  int64_t usual = compare->size['r'];
  bool ran;

  compare->size['r'] = rotary;
  call.attributes = (QmAttributes){
    .causal = causal,
    .scale = 0.2,
    .dropout = dropout,
    .site = 5,
    .window = window,
  };
  for (int i = 0; i < MAX_TENSORS; i++)
    make (compare, words[i] != NULL && (i != 7 || rotary > 0) ? words[i] : "-",
          &operands[i]);
  compare->size['r'] = usual;
  for (int i = 0; i < 3; i++)
    forward[i] = operands[1 + i];
  forward[3] = operands[6];
  forward[QM_OP_MAX_INPUTS] = operands[4];
  forward[QM_OP_MAX_INPUTS + 1] = operands[5];
  run (compare, &call, forward, 0);
  run (compare, &call, forward, 1);
  compare->op = call.op = QM_OP_ATTENTION_BACKWARD;
  call.attributes.rotary = rotary;
  run (compare, &call, operands, 0);
  ran = run (compare, &call, operands, 1);
  for (int i = 0; i < MAX_TENSORS; i++)
    if (operands[i].raw[0] != NULL)
      {
        if (ran)
          compare_operand (compare, &operands[i]);
        for (int j = 0; j < 2; j++)
          qm_device_free (compare->devices[j], operands[i].raw[j]);
        free (operands[i].initial);
      }
}

static void
compare_all (Compare *compare, size_t shape, const char *only)
{
  char name[64];

  set_sizes (compare, shape);
  for (size_t i = 0; i < compare_n_cases; i++)
    if (only == NULL || strcmp (only, qm_op_name (compare_cases[i].op)) == 0)
      {
        snprintf (name, sizeof name, "%s (%zu), %s, shape %zu",
                  qm_op_name (compare_cases[i].op), i,
                  qm_type_name (compare->type), shape);
        check_case (name);
        compare_case (compare, &compare_cases[i]);
      }
  for (int i = 0; i < 48; i++)
    if (only == NULL
        || strcmp (only, qm_op_name (QM_OP_ATTENTION_BACKWARD)) == 0)
      {
        snprintf (name, sizeof name, "attention_backward %d, %s, shape %zu", i,
                  qm_type_name (compare->type), shape);
        check_case (name);
        compare_attention_backward (
            compare, i % 2 == 0 ? QM_CAUSAL_NONE : QM_CAUSAL_RESULT,
            i / 2 % 2 == 0 ? 0 : 0.2, i / 4 % 2 == 1, i / 8 % 2 == 0 ? 0 : 6,
            i < 16   ? 0
            : i < 32 ? compare->size['d'] / 4 / 2 * 2 + 2
                     : compare->size['d']);
      }
}

/* Groups with so many rows that every multiprocessor takes tile after tile. */
static void
compare_large_groups (Compare *compare, const char *only)
{
  char name[64];

  set_sizes (compare, 0);
  compare->size['n'] = 1024;
  compare->size['k'] = 576;
  compare->size['R'] = 7000;
  for (size_t i = 0; i < compare_n_cases; i++)
    if (strstr (compare_cases[i].inputs, "zY:R") != NULL
        && (only == NULL
            || strcmp (only, qm_op_name (compare_cases[i].op)) == 0))
      {
        snprintf (name, sizeof name, "%s, %s, large groups",
                  qm_op_name (compare_cases[i].op),
                  qm_type_name (compare->type));
        check_case (name);
        compare_case (compare, &compare_cases[i]);
      }
}

/* Losses of more words than a block of Hopper keeps: two blocks, four or eight
 * have a row together.  Rows of 151933 are not aligned, so none has. */
static void
compare_many_words (Compare *compare, const char *only)
{
  static const int64_t words[] = { 55560, 128256, 151933, 151936, 262144 };
  char name[64];

  set_sizes (compare, 0);
  for (size_t n = 0; n < sizeof words / sizeof words[0]; n++)
    for (size_t i = 0; i < compare_n_cases; i++)
      if (compare_cases[i].op == QM_OP_CROSS_ENTROPY
          && (only == NULL
              || strcmp (only, qm_op_name (compare_cases[i].op)) == 0))
        {
          compare->size['v'] = words[n];
          snprintf (name, sizeof name, "%s (%zu), %s, %lld words",
                    qm_op_name (compare_cases[i].op), i,
                    qm_type_name (compare->type), (long long) words[n]);
          check_case (name);
          compare_case (compare, &compare_cases[i]);
        }
}

int
main (int argc, char **argv)
{
  static const QmType types[] = { QM_TYPE_F32, QM_TYPE_F16, QM_TYPE_BF16 };
  const char *names[2] = { "cpu", argc > 1 ? argv[1] : "cpu" };
  const char *only = NULL;
  int architecture = 0;
  Compare compare = { .seed = 1 };
  QmError error = { 0 };

  for (int i = 2; i < argc; i++)
    if (strcmp (argv[i], "--architecture") == 0 && i + 1 < argc)
      architecture = (int) strtol (argv[++i], NULL, 10);
    else
      only = argv[i];
  for (int i = 0; i < 2; i++)
    {
      CHECK_INT (qm_device_open (names[i], i == 0 ? 0 : architecture,
                                 &compare.devices[i], &error),
                 QM_OK);
      if (compare.devices[i] == NULL)
        {
          fprintf (stderr, "%s\n", error.message);
          return check_report ();
        }
      CHECK_INT (qm_stream_create (compare.devices[i], &compare.streams[i],
                                   NULL),
                 QM_OK);
    }
  for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
      {
        compare.type = types[t];
        compare_all (&compare, s, only);
      }
  /* Takes a processor long, and would show nothing there. */
  for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
    if (qm_device_info (compare.devices[1])->target.kind != QM_DEVICE_CPU)
      {
        compare.type = types[t];
        compare_large_groups (&compare, only);
        compare_many_words (&compare, only);
      }
  check_case ("all");
  CHECK (compare.cases > 0); /* a name that is no operator's has none */
  if (compare.unsupported > 0)
    printf ("%d cases are for operators that %s does not have\n",
            compare.unsupported, names[1]);
  for (int i = 0; i < 2; i++)
    {
      qm_stream_free (compare.devices[i], compare.streams[i]);
      qm_device_close (compare.devices[i]);
    }
  return check_report ();
}
