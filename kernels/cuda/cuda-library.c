/* SPDX-License-Identifier: Apache-2.0 */

#define _GNU_SOURCE /* dlinfo() */

#include "kernels/cuda/cuda-library.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Search
{
  const QmCudaSought *sought;
  const QmCudaSymbol *symbols;
  size_t n;
  QmCudaLibrary *library;
  char other[PATH_MAX]; /* one of another major version */
} Search;

static int
cublaslt_version (void *handle)
{
  size_t (*get) (void) = NULL;
  void *address = dlsym (handle, "cublasLtGetVersion");
  size_t version;

  if (address == NULL)
    return 0;
  memcpy (&get, &address, sizeof address);
  version = get ();
  return version < INT_MAX ? (int) version : 0;
}

/* Up to 2.8 it is 1000 x major + 100 x minor + patch. */
static int
nccl_version (void *handle)
{
  int (*get) (int *version) = NULL;
  void *address = dlsym (handle, "ncclGetVersion");
  int version = 0;

  if (address == NULL)
    return 0;
  memcpy (&get, &address, sizeof address);
  if (get (&version) != 0 || version < 0)
    return 0;
  return version < 10000 ? version / 1000 * 10000 + version % 1000 : version;
}

const QmCudaSought qm_cuda_cublaslt = {
  .name = "cuBLASLt",
  .variable = "QUARTERMASTER_CUBLASLT",
  .file = QM_CUBLASLT_FILE,
  .files = "libcublasLt.so.[0-9]*",
  .package = "cublas",
  .major = 13,
  .version = cublaslt_version,
};

const QmCudaSought qm_cuda_nccl = {
  .name = "NCCL",
  .variable = "QUARTERMASTER_NCCL",
  .file = QM_NCCL_FILE,
  .files = "libnccl.so.[0-9]*",
  .package = "nccl",
  .major = 2,
  .version = nccl_version,
};

static bool
present (const char *text)
{
  return text != NULL && text[0] != '\0';
}

static const char *
variable (const char *name)
{
  const char *value = getenv (name);

  return present (value) ? value : NULL;
}

void
qm_cuda_places_here (const QmCudaSought *sought,
                     QmCudaPlaces *places,
                     char *program,
                     size_t size)
{
  ssize_t length = readlink ("/proc/self/exe", program, size - 1);
  char *slash;

  program[length > 0 ? length : 0] = '\0';
  slash = strrchr (program, '/');
  if (slash != NULL)
    *slash = '\0';
  *places = (QmCudaPlaces){
    .named = variable (sought->variable),
    .program = program,
    .loader = true,
    .cuda = { variable ("CUDA_HOME"), variable ("CUDA_PATH") },
    .python = { variable ("VIRTUAL_ENV"), variable ("CONDA_PREFIX") },
    .home = variable ("HOME"),
    .root = "",
  };
}

/* Remembers the first library that could not be taken, and why. */
static void
pass_over (Search *search, const char *path, const char *why)
{
  QmCudaLibrary *library = search->library;

  if (library->note[0] == '\0')
    snprintf (library->note, sizeof library->note,
              "%.240s cannot be used: %.200s.", path, why);
}

/* Fills in the functions; the name of one that is missing, or NULL. */
static const char *
find_symbols (Search *search, void *handle)
{
  for (size_t i = 0; i < search->n; i++)
    {
      void *address = dlsym (handle, search->symbols[i].name);

      if (address == NULL)
        return search->symbols[i].name;
      memcpy (search->symbols[i].function, &address, sizeof address);
    }
  return NULL;
}

/* The file that was loaded, where the loader found it itself. */
static void
find_path (void *handle, const char *asked, char *path, size_t size)
{
  struct link_map *map = NULL;

  if (dlinfo (handle, RTLD_DI_LINKMAP, &map) == 0 && map != NULL
      && present (map->l_name))
    asked = map->l_name;
  snprintf (path, size, "%s", asked);
}

/* Loads a file, or what the loader finds by that name; whether it is the one.
 */
static bool
take_library (Search *search, const char *path)
{
  QmCudaLibrary *library = search->library;
  void *handle = dlopen (path, RTLD_NOW | RTLD_LOCAL);
  const char *missing;
  char why[200];

  if (handle == NULL)
    {
      const char *problem = dlerror ();

      /* The loader's own words begin with the path. */
      if (problem != NULL && strncmp (problem, path, strlen (path)) == 0)
        problem += strlen (path) + strspn (problem + strlen (path), ": ");
      if (strchr (path, '/') != NULL)
        pass_over (search, path, problem != NULL ? problem : "not loaded");
      return false;
    }
  library->version = search->sought->version (handle);
  if (library->version / 10000 != search->sought->major)
    {
      if (library->version == 0)
        snprintf (why, sizeof why, "it does not tell its version");
      else
        snprintf (why, sizeof why, "it is version %d.%d, and %d is needed",
                  library->version / 10000, library->version % 10000 / 100,
                  search->sought->major);
      pass_over (search, path, why);
      dlclose (handle);
      return false;
    }
  missing = find_symbols (search, handle);
  if (missing != NULL)
    {
      snprintf (why, sizeof why, "it has no function %s", missing);
      pass_over (search, path, why);
      dlclose (handle);
      return false;
    }
  library->handle = handle;
  find_path (handle, path, library->path, sizeof library->path);
  return true;
}

/* Names can have any sign in them, patterns not. */
static bool
escape (const char *text, char *pattern, size_t size)
{
  size_t n = 0;

  for (; *text != '\0'; text++)
    {
      if (n + 3 > size)
        return false;
      if (strchr ("*?[]\\", *text) != NULL)
        pattern[n++] = '\\';
      pattern[n++] = *text;
    }
  pattern[n] = '\0';
  return true;
}

/* Tries the libraries that match a pattern below a folder, the last name first:
 * that of the newest version. */
static bool
try_pattern (Search *search, const char *folder, const char *pattern)
{
  char start[PATH_MAX], all[2 * PATH_MAX];
  bool found = false;
  glob_t names;

  if (!present (folder) || !escape (folder, start, sizeof start))
    return false;
  snprintf (all, sizeof all, "%s/%s%s", start, pattern, search->sought->files);
  if (glob (all, 0, NULL, &names) != 0)
    return false;
  for (size_t i = names.gl_pathc; i-- > 0 && !found;)
    {
      const char *path = names.gl_pathv[i];
      const char *number = strrchr (path, '.') + 1;

      if (strcmp (strrchr (path, '/') + 1, search->sought->file) == 0)
        found = take_library (search, path);
      else if (strlen (number) <= 3 && search->other[0] == '\0'
               && strstr (strrchr (path, '/'), ".so.") + 4 == number)
        snprintf (search->other, sizeof search->other, "%s", path);
    }
  globfree (&names);
  return found;
}

static bool
try_patterns (Search *search,
              const char *folder,
              const char *const *patterns,
              size_t n)
{
  bool found = false;

  for (size_t i = 0; i < n && !found; i++)
    found = try_pattern (search, folder, patterns[i]);
  return found;
}

#define TRY(search, folder, ...)                                      \
  try_patterns (search, folder, (const char *const[]){ __VA_ARGS__ }, \
                sizeof ((const char *const[]){ __VA_ARGS__ })         \
                    / sizeof (const char *))

/* Python's packages in a folder that has its libraries. */
static bool
try_packages (Search *search, const char *folder, const char *packages)
{
  char all[64], own[64];

  snprintf (all, sizeof all, "%s/nvidia/cu13/lib/", packages);
  snprintf (own, sizeof own, "%s/nvidia/%s/lib/", packages,
            search->sought->package);
  return TRY (search, folder, all, own);
}

/* An environment of Python: conda's library lies in "lib" itself. */
static bool
try_python (Search *search, const char *folder)
{
  return TRY (search, folder, "lib/")
         || try_packages (search, folder, "lib/python3*/site-packages");
}

static bool
try_system (Search *search, const QmCudaPlaces *places)
{
  const char *root = places->root != NULL ? places->root : "";
  char local[PATH_MAX], lib[PATH_MAX], user[PATH_MAX] = "";

  snprintf (local, sizeof local, "%.*s/usr/local", PATH_MAX - 32, root);
  snprintf (lib, sizeof lib, "%.*s/usr/lib", PATH_MAX - 32, root);
  if (present (places->home))
    snprintf (user, sizeof user, "%.*s/.local", PATH_MAX - 32, places->home);
  return TRY (search, local, "cuda/lib64/", "cuda-13*/lib64/")
         || try_python (search, places->python[0])
         || try_python (search, places->python[1]) || try_python (search, user)
         || try_python (search, local)
         || try_packages (search, local, "lib/python3*/dist-packages")
         || try_packages (search, lib, "python3*/dist-packages")
         || try_packages (search, lib, "python3*/site-packages");
}

static QmStatus
take_named (Search *search, const char *named, QmError *error)
{
  struct stat facts;
  bool found;

  if (stat (named, &facts) == 0 && S_ISDIR (facts.st_mode))
    found = try_pattern (search, named, "");
  else
    found = take_library (search, named);
  if (found)
    return QM_OK;
  if (search->library->note[0] == '\0')
    snprintf (search->library->note, sizeof search->library->note,
              "%.240s has no %s.", named, search->sought->file);
  return qm_error_set (error, QM_STATUS_NOT_FOUND, "", 0, 0, "%s: %.400s",
                       search->sought->variable, search->library->note);
}

static bool
try_all (Search *search, const QmCudaPlaces *places)
{
  return TRY (search, places->program, "", "lib/")
         || try_packages (search, places->program,
                          "../lib/python3*/site-packages")
         || (places->loader && take_library (search, search->sought->file))
         || TRY (search, places->cuda[0], "lib64/", "lib/")
         || TRY (search, places->cuda[1], "lib64/", "lib/")
         || try_system (search, places);
}

/* Says why there is none. */
static void
explain (const Search *search)
{
  QmCudaLibrary *library = search->library;

  if (library->note[0] != '\0')
    return;
  if (search->other[0] != '\0')
    snprintf (library->note, sizeof library->note,
              "There is no %s %d here; %.300s is another version.",
              search->sought->name, search->sought->major, search->other);
  else
    snprintf (library->note, sizeof library->note, "There is no %s %d here.",
              search->sought->name, search->sought->major);
}

QmStatus
qm_cuda_library_find (const QmCudaSought *sought,
                      const QmCudaPlaces *places,
                      const QmCudaSymbol *symbols,
                      size_t n,
                      QmCudaLibrary *library,
                      QmError *error)
{
  Search search = {
    .sought = sought, .symbols = symbols, .n = n, .library = library
  };

  memset (library, 0, sizeof *library);
  if (present (places->named) && strcmp (places->named, "none") != 0)
    return take_named (&search, places->named, error);
  if (present (places->named))
    snprintf (library->note, sizeof library->note, "%s says to use none.",
              sought->variable);
  else if (!try_all (&search, places))
    explain (&search);
  if (library->handle == NULL)
    library->version = 0;
  return QM_OK;
}

void
qm_cuda_library_name (const QmCudaSought *sought,
                      const QmCudaLibrary *library,
                      char *text,
                      size_t size)
{
  if (library->handle == NULL)
    snprintf (text, size, "own");
  else
    snprintf (text, size, "%s %d.%d.%d", sought->name, library->version / 10000,
              library->version % 10000 / 100, library->version % 100);
}
