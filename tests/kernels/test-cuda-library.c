/* SPDX-License-Identifier: Apache-2.0 */

/* Where cuBLASLt and NCCL are looked for, and which is taken, over stand-ins:
 * argv[1 + FAKE], as fake-cublaslt.c numbers them. */

#include "kernels/cuda/cuda-library.h"
#include "tests/data/check.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME  "/" QM_CUBLASLT_FILE
#define WHEEL "/lib/python3.12/site-packages/nvidia/cu13/lib"
#define DIST  "/lib/python3.11/dist-packages/nvidia/cu13/lib"

static char **fakes;

/* Puts a stand-in into the scratch directory. */
static void
put (const char *name, const char *from)
{
  FILE *file = fopen (from, "rb");
  char *bytes = malloc (1 << 20);
  size_t n =
      file != NULL && bytes != NULL ? fread (bytes, 1, 1 << 20, file) : 0;

  CHECK (n > 0);
  scratch_write (name, bytes, n);
  free (bytes);
  if (file != NULL)
    fclose (file);
}

/* A folder of the scratch directory; valid until forget(). */
static char *folders[32];
static size_t n_folders;

static const char *
folder (const char *name)
{
  if (n_folders == sizeof folders / sizeof folders[0])
    abort ();
  return folders[n_folders++] = strdup (scratch_path (name));
}

/* Ends a case. */
static void
forget (void)
{
  while (n_folders > 0)
    free (folders[--n_folders]);
  scratch_clear ();
}

typedef int (*Function) (void);

static QmStatus
find (const QmCudaPlaces *places,
      QmCudaLibrary *library,
      Function *multiply,
      QmError *error)
{
  Function create;
  const QmCudaSymbol symbols[] = { { "cublasLtCreate", &create },
                                   { "cublasLtMatmul", multiply } };

  memset (error, 0, sizeof *error);
  return qm_cuda_library_find (&qm_cuda_cublaslt, places, symbols, 2, library,
                               error);
}

/* Checks that what is found is the file `name` of the scratch directory, and
 * works; "" for none.  Returns what was said. */
static const char *
check_found (const QmCudaPlaces *places, const char *name)
{
  static QmCudaLibrary library;
  char text[32];
  Function multiply = NULL;
  QmError error;

  CHECK_INT (find (places, &library, &multiply, &error), QM_OK);
  qm_cuda_library_name (&qm_cuda_cublaslt, &library, text, sizeof text);
  if (name[0] == '\0')
    {
      CHECK (library.handle == NULL);
      CHECK_STRING (library.path, "");
      CHECK_STRING (text, "own");
      CHECK (library.note[0] != '\0');
      return library.note;
    }
  CHECK (library.handle != NULL);
  CHECK_STRING (library.path, scratch_path (name));
  CHECK_STRING (text, "cuBLASLt 13.1.2");
  CHECK (multiply != NULL && multiply () == 8);
  /* Else the loader would give the same for another file of that name. */
  dlclose (library.handle);
  return library.note;
}

/* All places, each behind the one before; with one library after the other
 * taken away the next is found. */
static void
test_order (void)
{
  static const char *const order[] = {
    "program" NAME,
    "program/lib" NAME,
    "program/.." WHEEL NAME,
    "home/lib" NAME,
    "path/lib64" NAME,
    "root/usr/local/cuda/lib64" NAME,
    "root/usr/local/cuda-13.4/lib64" NAME,
    "root/usr/local/cuda-13.1/lib64" NAME,
    "venv [1]*" WHEEL NAME,
    "conda/lib" NAME,
    "user/.local" WHEEL NAME,
    "root/usr/local" DIST NAME,
  };
  const size_t n = sizeof order / sizeof order[0];
  QmCudaPlaces places = { .program = folder ("program"),
                          .cuda = { folder ("home"), folder ("path") },
                          .python = { folder ("venv [1]*"), folder ("conda") },
                          .home = folder ("user"),
                          .root = folder ("root") };

  check_case ("order");
  for (size_t i = 0; i < n; i++)
    put (order[i], fakes[0]);
  for (size_t i = 0; i < n; i++)
    {
      CHECK_STRING (check_found (&places, order[i]), "");
      unlink (scratch_path (order[i]));
    }
  CHECK_CONTAINS (check_found (&places, ""), "There is no cuBLASLt 13 here.");
  forget ();
}

/* What cannot be used is passed over, with a word of why. */
static void
test_passed_over (void)
{
  QmCudaPlaces places = { .program = folder ("program"),
                          .python = { folder ("venv") },
                          .root = folder ("root") };

  check_case ("passed over");
  put ("venv" WHEEL NAME, fakes[0]);
  scratch_write_text ("program" NAME, "not a library at all");
  CHECK_CONTAINS (check_found (&places, "venv" WHEEL NAME), "program" NAME);
  put ("program" NAME, fakes[1]);
  CHECK_CONTAINS (check_found (&places, "venv" WHEEL NAME),
                  "it is version 12.9, and 13 is needed");
  put ("program" NAME, fakes[2]);
  CHECK_CONTAINS (check_found (&places, "venv" WHEEL NAME),
                  "it has no function cublasLtMatmul");
  put ("program" NAME, fakes[3]);
  CHECK_CONTAINS (check_found (&places, "venv" WHEEL NAME),
                  "it does not tell its version");
  scratch_write_text ("program" NAME, "");
  unlink (scratch_path ("venv" WHEEL NAME));
  CHECK_CONTAINS (check_found (&places, ""), "cannot be used");
  forget ();
}

/* One of another version is no reason to look no further, and is named. */
static void
test_other_version (void)
{
  QmCudaPlaces places = { .program = folder ("program"),
                          .python = { folder ("venv") },
                          .root = folder ("root") };

  check_case ("other version");
  put ("venv/lib/python3.10/site-packages/nvidia/cublas/lib/libcublasLt.so.12",
       fakes[1]);
  CHECK_CONTAINS (check_found (&places, ""), "libcublasLt.so.12 is another");
  put ("venv" WHEEL NAME, fakes[0]);
  CHECK_STRING (check_found (&places, "venv" WHEEL NAME), "");
  forget ();
}

/* What the user names is taken or refused, never replaced in silence. */
static void
test_named (void)
{
  QmCudaPlaces places = { .program = folder ("program"),
                          .root = folder ("root") };
  QmCudaLibrary library;
  Function multiply;
  QmError error;

  check_case ("named");
  put ("program" NAME, fakes[0]);
  put ("there" NAME, fakes[0]);
  put ("old" NAME, fakes[1]);
  places.named = folder ("there");
  CHECK_STRING (check_found (&places, "there" NAME), "");
  places.named = folder ("there" NAME);
  CHECK_STRING (check_found (&places, "there" NAME), "");
  places.named = "none";
  CHECK_CONTAINS (check_found (&places, ""), "QUARTERMASTER_CUBLASLT");
  places.named = folder ("old");
  CHECK_INT (find (&places, &library, &multiply, &error), QM_STATUS_NOT_FOUND);
  CHECK (library.handle == NULL);
  CHECK_CONTAINS (error.message, "QUARTERMASTER_CUBLASLT");
  places.named = folder ("nowhere/at.all");
  CHECK_INT (find (&places, &library, &multiply, &error), QM_STATUS_NOT_FOUND);
  places.named = folder ("root");
  CHECK_INT (find (&places, &library, &multiply, &error), QM_STATUS_NOT_FOUND);
  scratch_directory ("empty");
  places.named = folder ("empty");
  CHECK_INT (find (&places, &library, &multiply, &error), QM_STATUS_NOT_FOUND);
  CHECK_CONTAINS (error.message, "has no " QM_CUBLASLT_FILE);
  forget ();
}

/* The places of a process are those of its program and its environment. */
static void
test_here (void)
{
  QmCudaPlaces places;
  char program[4096], small[8];

  check_case ("here");
  setenv ("QUARTERMASTER_CUBLASLT", "/a", 1);
  setenv ("CUDA_HOME", "/b", 1);
  unsetenv ("CUDA_PATH");
  setenv ("VIRTUAL_ENV", "", 1);
  setenv ("CONDA_PREFIX", "/c", 1);
  qm_cuda_places_here (&qm_cuda_cublaslt, &places, program, sizeof program);
  CHECK_STRING (places.named, "/a");
  CHECK_STRING (places.cuda[0], "/b");
  CHECK (places.cuda[1] == NULL && places.python[0] == NULL);
  CHECK_STRING (places.python[1], "/c");
  CHECK (places.program == program && program[0] == '/' && places.loader);
  CHECK (strstr (program, "test-cuda-library") == NULL);
  qm_cuda_places_here (&qm_cuda_cublaslt, &places, small, sizeof small);
  CHECK (strlen (small) < sizeof small);
}

/* NCCL is looked for in the same places, under its own names. */
static void
test_nccl (void)
{
  const QmCudaSought *nccl = &qm_cuda_nccl;
  QmCudaPlaces places = { .python = { folder ("venv") },
                          .root = folder ("root") };
  char program[4096], text[32];
  QmCudaLibrary library;
  QmError error = { 0 };
  Function start = NULL;
  const QmCudaSymbol symbols[] = { { "ncclStart", &start } };

  check_case ("nccl");
  put ("root/usr/local/cuda/lib64" NAME, fakes[0]);
  put ("venv/lib/python3.12/site-packages/nvidia/nccl/lib/" QM_NCCL_FILE,
       fakes[4]);
  CHECK_INT (qm_cuda_library_find (nccl, &places, symbols, 1, &library, &error),
             QM_OK);
  CHECK (library.handle != NULL && start != NULL && start () == 9);
  qm_cuda_library_name (nccl, &library, text, sizeof text);
  CHECK_STRING (text, "NCCL 2.28.3");
  if (library.handle != NULL)
    dlclose (library.handle);
  put ("root/usr/local/cuda/lib64/" QM_NCCL_FILE, fakes[5]);
  CHECK_INT (qm_cuda_library_find (nccl, &places, symbols, 1, &library, &error),
             QM_OK);
  CHECK_CONTAINS (library.note, "has no function ncclStart");
  places.named = folder ("root/usr/local/cuda/lib64/" QM_NCCL_FILE);
  CHECK_INT (qm_cuda_library_find (nccl, &places, symbols, 1, &library, &error),
             QM_STATUS_NOT_FOUND);
  CHECK_CONTAINS (error.message, "QUARTERMASTER_NCCL: ");
  setenv ("QUARTERMASTER_NCCL", "/n", 1);
  qm_cuda_places_here (nccl, &places, program, sizeof program);
  CHECK_STRING (places.named, "/n");
  forget ();
}

int
main (int argc, char **argv)
{
  if (argc != 7)
    return 2;
  fakes = argv + 1;
  scratch_begin ();
  test_order ();
  test_passed_over ();
  test_other_version ();
  test_named ();
  test_here ();
  test_nccl ();
  scratch_end ();
  return check_report ();
}
