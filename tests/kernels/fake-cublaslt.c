/* SPDX-License-Identifier: Apache-2.0 */

/* A stand-in for cuBLASLt.  FAKE selects what it is like: 0 as it should be,
 * 1 of version 12, 2 without a function that is needed, 3 of no version; or for
 * NCCL: 4 as it should be, 5 without a function. */

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

#if FAKE >= 4
EXPORT int ncclGetVersion (int *version);
EXPORT int ncclStart (void);

int
ncclGetVersion (int *version)
{
  *version = FAKE == 4 ? 22803 : 2804;
  return 0;
}

#if FAKE == 4
int
ncclStart (void)
{
  return 9;
}
#endif
#endif
