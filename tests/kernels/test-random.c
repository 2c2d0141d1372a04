/* SPDX-License-Identifier: Apache-2.0 */

/* Random numbers and conversions. */

#include "kernels/convert.h"
#include "kernels/random.h"
#include "tests/data/check.h"

#include <math.h>
#include <string.h>

/* Of the authors' own test vectors for philox4x32 with seven rounds. */
static void
test_philox (void)
{
  static const struct
  {
    uint32_t counter[4], key[2], wanted[4];
  } vectors[] = {
    { { 0, 0, 0, 0 },
      { 0, 0 },
      { 0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48 } },
    { { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff },
      { 0xffffffff, 0xffffffff },
      { 0x5207ddc2, 0x45165e59, 0x4d8ee751, 0x8c52f662 } },
    { { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 },
      { 0xa4093822, 0x299f31d0 },
      { 0x4dfccaba, 0x190a87f0, 0xc47362ba, 0xb6b5242a } },
  };

  check_case ("philox");
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++)
    {
      QmRandomBits bits =
          qm_philox (vectors[i].key[0], vectors[i].key[1],
                     vectors[i].counter[0], vectors[i].counter[1],
                     vectors[i].counter[2], vectors[i].counter[3]);

      for (int j = 0; j < 4; j++)
        CHECK_INT (bits.word[j], vectors[i].wanted[j]);
    }
}

/* Every element of a row tile has its own half-word of its own block. */
static void
test_tiles (void)
{
  static unsigned char seen[4 * 32][8];

  check_case ("tiles");
  for (int64_t row = 0; row < 16; row++)
    for (int64_t column = 0; column < 64; column++)
      {
        int half;
        uint32_t block = qm_tile_block (row, column, &half);

        CHECK (block < 4 * 32 && half >= 0 && half < 8);
        CHECK_INT (seen[block][half]++, 0);
      }
  /* The lanes of a product of tensor cores. */
  for (int64_t lane = 0; lane < 32; lane++)
    for (int i = 0; i < 8; i++)
      {
        int half;

        CHECK_INT (qm_tile_block (lane / 4 + i / 4 * 8,
                                  lane % 4 * 2 + i / 2 % 2 * 8 + i % 2, &half),
                   lane);
        CHECK_INT (half, i);
      }
}

static void
test_dropout_numbers (void)
{
  check_case ("dropout");
  CHECK_INT (qm_dropout_threshold (0), 0);
  CHECK_INT (qm_dropout_threshold (0.5), 32768);
  CHECK_NEAR (qm_dropout_scale (0.5), 2, 0);
  /* The expected value stays what it was, for the rate that is really used. */
  for (int i = 1; i < 100; i++)
    {
      double kept = (65536 - qm_dropout_threshold (i / 100.0)) / 65536.0;

      CHECK_NEAR (kept, 1 - i / 100.0, 1e-3);
      CHECK_NEAR (kept * qm_dropout_scale (i / 100.0), 1, 1e-6);
    }
}

static void
test_f16 (void)
{
  check_case ("f16");
  for (uint32_t bits = 0; bits < 65536; bits++)
    {
      float value = qm_float_from_f16 ((uint16_t) bits);

      if (isnan (value))
        CHECK (isnan (qm_float_from_f16 (qm_float_to_f16 (value))));
      else
        CHECK_INT (qm_float_to_f16 (value), bits);
    }
  CHECK_NEAR (qm_float_from_f16 (0x3c00), 1, 0);
  CHECK_NEAR (qm_float_from_f16 (0x7bff), 65504, 0);
  CHECK_NEAR (qm_float_from_f16 (0x0001), 0x1p-24, 0);
  /* Half way: to even, and at the end of the range to infinity. */
  CHECK_INT (qm_float_to_f16 (1 + 0x1p-11f), 0x3c00);
  CHECK_INT (qm_float_to_f16 (1 + 3 * 0x1p-11f), 0x3c02);
  CHECK_INT (qm_float_to_f16 (65519.996f), 0x7bff);
  CHECK_INT (qm_float_to_f16 (65520), 0x7c00);
  CHECK_INT (qm_float_to_f16 (0x1p-25f), 0);
  CHECK_INT (qm_float_to_f16 (nextafterf (0x1p-25f, 1)), 1);
  CHECK_INT (qm_float_to_f16 (-INFINITY), 0xfc00);
}

static void
test_bf16 (void)
{
  check_case ("bf16");
  for (uint32_t bits = 0; bits < 65536; bits++)
    {
      float value = qm_float_from_bf16 ((uint16_t) bits);

      if (isnan (value))
        CHECK (isnan (qm_float_from_bf16 (qm_float_to_bf16 (value))));
      else
        CHECK_INT (qm_float_to_bf16 (value), bits);
    }
  CHECK_INT (qm_float_to_bf16 (1 + 0x1p-8f), 0x3f80);
  CHECK_INT (qm_float_to_bf16 (1 + 3 * 0x1p-8f), 0x3f82);
  CHECK_INT (qm_float_to_bf16 (3.4e38f), 0x7f80);
}

static void
test_normal (void)
{
  double sum = 0, squares = 0;
  const int n = 40000;

  check_case ("normal");
  for (int i = 0; i < n; i++)
    {
      double x = qm_random_normal (
          qm_random_block ((int32_t[]){ 1, 2, 3 }, 4, (uint64_t) i / 4), i % 4);

      sum += x;
      squares += x * x;
    }
  CHECK (fabs (sum / n) < 4 / sqrt (n));
  CHECK_NEAR (squares / n, 1, 4 * sqrt (2.0 / n));
}

int
main (void)
{
  test_philox ();
  test_tiles ();
  test_dropout_numbers ();
  test_f16 ();
  test_bf16 ();
  test_normal ();
  return check_report ();
}
