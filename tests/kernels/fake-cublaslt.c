/* SPDX-License-Identifier: Apache-2.0 */

/* A stand-in for cuBLASLt.  FAKE selects what it is like: 0 as it should be
 * 1 of version 12 2 without a function that is needed 3 of no version. */

#include <stddef.h>

#define EXPORT __attribute__ ((visibility ("default")))

EXPORT size_t cublasLtGetVersion (void);
EXPORT int cublasLtCreate (void);
EXPORT int cublasLtMatmul (void);

#if FAKE != 3
size_t
cublasLtGetVersion (void)
{
  return FAKE == 1 ? 120903 : 130102;
}
#endif

int
cublasLtCreate (void)
{
  return 7;
}

#if FAKE != 2
int
cublasLtMatmul (void)
{
  return 8;
}
#endif
