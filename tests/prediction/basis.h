/* SPDX-License-Identifier: Apache-2.0 */

/* What each constant of a calibration.csv, or of where a fit begins, rests on:
 * the file's last column. */

#ifndef QM_TESTS_BASIS_H
#define QM_TESTS_BASIS_H

#include "data/pool.h"

#include <stdbool.h>

/* What is written of a constant that rates moved. */
#define BASIS_FIT "fit to rates.csv"

typedef struct BasisRow
{
  const char *scope, *name, *constant, *basis;
  double value;
} BasisRow;

typedef struct Basis
{
  BasisRow rows[512];
  size_t n;
  QmPool strings;
} Basis;

/* Reads it; false, with a word on stderr, on failure. */
bool basis_load (const char *path, Basis *basis);
void basis_clear (Basis *basis);

/* That of one constant; "" where the file has none. */
const char *basis_of (const Basis *basis,
                      const char *scope,
                      const char *name,
                      const char *constant);

#endif
