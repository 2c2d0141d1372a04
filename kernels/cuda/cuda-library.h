/* SPDX-License-Identifier: Apache-2.0 */

/* Where NVIDIA's libraries of matrix products, cuBLASLt, and of collectives,
 * NCCL, are: they are looked for when they are needed, so that a program built
 * with CUDA starts on a machine that has nothing but the driver.  Plain C,
 * compiled also where no GPU can be used; only for kernels/cuda/ and its tests.
 *
 * The places, in this order:
 *
 *   1. the file or folder that QUARTERMASTER_CUBLASLT or QUARTERMASTER_NCCL
 *      names; "none": no library
 *   2. the program's folder, "lib" in it, and Python's packages of the
 *      environment that it was installed into
 *   3. where the loader looks: LD_LIBRARY_PATH, the system's folders
 *   4. CUDA_HOME and CUDA_PATH
 *   5. /usr/local/cuda, then /usr/local/cuda-13*
 *   6. Python's packages: of VIRTUAL_ENV, CONDA_PREFIX, the user, the system
 */

#ifndef QM_KERNELS_CUDA_CUDA_LIBRARY_H
#define QM_KERNELS_CUDA_CUDA_LIBRARY_H

#include "data/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Those whose functions we know; another major version may change them. */
#define QM_CUBLASLT_FILE "libcublasLt.so.13"
#define QM_NCCL_FILE     "libnccl.so.2"

/* What is looked for. */
typedef struct QmCudaSought
{
  const char *name;     /* for people */
  const char *variable; /* of the environment, which names one */
  const char *file;     /* with the major version at its end */
  const char *files;    /* a pattern for those of all versions */
  const char *package;  /* its folder among Python's, besides "cu13" */
  int major;
  /* 10000 x major + 100 x minor + patch; 0 where it does not tell. */
  int (*version) (void *handle);
} QmCudaSought;

extern const QmCudaSought qm_cuda_cublaslt, qm_cuda_nccl;

/* Where to look; NULL or empty: nowhere. */
typedef struct QmCudaPlaces
{
  const char *named;   /* a file or a folder, or "none" */
  const char *program; /* the folder of the program */
  bool loader;         /* whether the loader is asked */
  const char *cuda[2];
  const char *python[2]; /* environments, with lib/python3.N in them */
  const char *home;
  const char *root; /* goes before the system's folders; "" for its own */
} QmCudaPlaces;

/* A function that is needed, and where its address goes. */
typedef struct QmCudaSymbol
{
  const char *name;
  void *function; /* points to a pointer to a function */
} QmCudaSymbol;

typedef struct QmCudaLibrary
{
  void *handle;   /* NULL: there is none */
  int version;    /* 10000 x major + 100 x minor + patch */
  char path[512]; /* of its file */
  char note[512]; /* a sentence: why there is none, or what was passed over */
} QmCudaLibrary;

/* The places of this process; `program` has room for the folder's name. */
void qm_cuda_places_here (const QmCudaSought *sought,
                          QmCudaPlaces *places,
                          char *program,
                          size_t size);

/* Loads the first library that is of our major version and has all functions,
 * and fills them in.  None is no failure: `library` has no handle then, and
 * says why.  QM_STATUS_NOT_FOUND where one was named that cannot be used.
 * What was loaded stays until the process ends. */
QmStatus qm_cuda_library_find (const QmCudaSought *sought,
                               const QmCudaPlaces *places,
                               const QmCudaSymbol *symbols,
                               size_t n,
                               QmCudaLibrary *library,
                               QmError *error);

/* Writes "cuBLASLt 13.1.0", or "own" where there is none of products. */
void qm_cuda_library_name (const QmCudaSought *sought,
                           const QmCudaLibrary *library,
                           char *text,
                           size_t size);

#endif
