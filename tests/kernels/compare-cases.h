/* SPDX-License-Identifier: Apache-2.0 */

/* The calls that compare-devices makes on two devices. */

#ifndef QM_TESTS_KERNELS_COMPARE_CASES_H
#define QM_TESTS_KERNELS_COMPARE_CASES_H

#include "kernels/operators.h"

/* What a sample of size['f'] rows is. */
#define COMPARE_ROWS 240

/* Tensors are words: how its memory lies, then a letter for every dimension.
 *   f  float, dense                 s  f32, dense
 *   g  float, rows with a gap       i  whole numbers below the size that the
 *   p  float [b h s d] as a third      letter after ':' has
 *      of packed heads              -  absent
 *   o  float [b h s d] as [b s h d]
 *   l  float [b c y x] as [b y x c]
 *   w  whole numbers, each once     c  different ones in a row, as i
 *   z  where groups of the rows of the letter after ':' begin and end
 *   m  f32, dense and small
 *   4  E4M3, dense                  5  E5M2, dense
 * An output that is "=N" is input N, changed in place. */
typedef struct CompareCase
{
  QmOp op;
  const char *inputs, *outputs;
  QmAttributes attributes;
} CompareCase;

extern const CompareCase compare_cases[];
extern const size_t compare_n_cases;

#endif
