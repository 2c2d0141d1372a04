/* SPDX-License-Identifier: Apache-2.0 */

/* What another machine has to have: as the program's file says, and as the
 * program itself answers. */

#define _GNU_SOURCE /* dl_iterate_phdr() */

#include "config.h"

#include "ui/machine/qm-elsewhere.h"

#include "ui/machine/qm-bench-process.h"
#include "ui/machine/qm-elf.h"

#include <glib/gi18n-lib.h>
#include <glib/gstdio.h>
#include <jansson.h>
#include <link.h>
#include <string.h>

/* A plan of a usual GPU tells what is in memory of the host: that does not
 * depend on which GPU it is. */
static const char *const any_gpu[] = { "--architecture", "80",
                                       "--memory",       "80GiB",
                                       "--host-memory",  "1000TiB" };

/* Threads that what is offloaded keeps busy, and what a GPU alone does; no more
 * than clusters give for each GPU. */
#define PROCESSORS_OFFLOAD 8
#define PROCESSORS_PLAIN   4

/* No answer is longer. */
#define MOST_BYTES (4 * 1024 * 1024)

guint
qm_elsewhere_oldest_driver (int cuda)
{
  /* CUDA Toolkit Release Notes, "Minimum Required Driver Version for CUDA Minor
   * Version Compatibility". */
  static const struct
  {
    int cuda;
    guint driver;
  } known[] = { { 11, 450 }, { 12, 525 }, { 13, 580 } };

  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (known[i].cuda == cuda / 1000)
      return known[i].driver;
  return 0;
}

/* What qm-bench answers, one object a line.  (transfer full) */
static GPtrArray *
ask_bench (const char *program,
           const char *const *arguments,
           GCancellable *cancellable,
           GError **error)
{
  g_autoptr (GSubprocess) process = NULL;
  g_autofree char *out = NULL;
  g_auto (GStrv) lines = NULL;
  GPtrArray *answers;

  process = g_subprocess_newv (arguments,
                               G_SUBPROCESS_FLAGS_STDOUT_PIPE
                                   | G_SUBPROCESS_FLAGS_STDERR_SILENCE,
                               error);
  if (process == NULL)
    return NULL;
  if (!g_subprocess_communicate_utf8 (process, NULL, cancellable, &out, NULL,
                                      error))
    {
      g_subprocess_force_exit (process);
      return NULL;
    }
  answers = g_ptr_array_new_with_free_func ((GDestroyNotify) json_decref);
  if (out == NULL || strlen (out) > MOST_BYTES)
    return answers;
  lines = g_strsplit (out, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      json_t *object = json_loads (lines[i], 0, NULL);

      if (object != NULL)
        g_ptr_array_add (answers, object);
    }
  return answers;
}

const char *
qm_elsewhere_library_of (const json_t *device)
{
  const json_t *none = json_object_get (device, "no_gpu");

  return json_string_value (
      json_object_get (none != NULL ? none : device, "products_file"));
}

char *
qm_elsewhere_find_library (GCancellable *cancellable)
{
  g_autofree char *program = qm_bench_find ();
  const char *arguments[] = { program, "devices", "--json", NULL };
  g_autoptr (GPtrArray) devices =
      program != NULL ? ask_bench (program, arguments, cancellable, NULL)
                      : NULL;

  for (guint i = 0; devices != NULL && i < devices->len; i++)
    {
      const char *file =
          qm_elsewhere_library_of (g_ptr_array_index (devices, i));

      if (file != NULL && g_file_test (file, G_FILE_TEST_IS_REGULAR))
        return g_strdup (file);
    }
  return NULL;
}

/* The version of CUDA that qm-bench has, 0 without. */
static int
find_cuda (GPtrArray *devices)
{
  for (guint i = 0; i < devices->len; i++)
    {
      const json_t *device = g_ptr_array_index (devices, i);
      const json_t *none = json_object_get (device, "no_gpu");
      json_int_t cuda = json_integer_value (
          json_object_get (none != NULL ? none : device, "runtime_cuda"));

      if (cuda > 0 && cuda < 1000000)
        return (int) cuda;
    }
  return 0;
}

/* The most memory of the host that a plan takes. */
static gint64
most_host_bytes (GPtrArray *plans)
{
  gint64 most = 0;

  for (guint i = 0; i < plans->len; i++)
    {
      const json_t *memory =
          json_object_get (g_ptr_array_index (plans, i), "memory_bytes");

      most = MAX (most, json_integer_value (json_object_get (memory, "host")));
    }
  return most;
}

static gboolean
ask_for_plans (const QmElsewhere *self,
               const char *program,
               QmElsewhereNeeds *needs,
               GCancellable *cancellable,
               GError **error)
{
  for (guint i = 0; self->models[i] != NULL; i++)
    {
      const char *arguments[] = { program,
                                  "plan",
                                  "--json",
                                  "--model",
                                  self->models[i],
                                  "--methods",
                                  self->methods ? self->methods : "all",
                                  any_gpu[0],
                                  any_gpu[1],
                                  any_gpu[2],
                                  any_gpu[3],
                                  any_gpu[4],
                                  any_gpu[5],
                                  NULL };
      g_autoptr (GPtrArray) plans =
          ask_bench (program, arguments, cancellable, error);

      if (plans == NULL)
        return FALSE;
      needs->host_bytes = MAX (needs->host_bytes, most_host_bytes (plans));
    }
  return TRUE;
}

/* Libraries of the C library itself, which the machine's loader belongs to. */
static gboolean
is_of_system (const char *name)
{
  static const char *const own[] = { "libc.so.",  "libm.so.",  "libpthread.so.",
                                     "libdl.so.", "librt.so.", "ld-linux" };

  for (guint i = 0; i < G_N_ELEMENTS (own); i++)
    if (g_str_has_prefix (name, own[i]))
      return TRUE;
  return FALSE;
}

static gboolean
is_called (gconstpointer path, gconstpointer name)
{
  g_autofree char *base = g_path_get_basename (path);

  return strcmp (base, name) == 0;
}

typedef struct
{
  const char *name;
  char *path;
} Loaded;

static int
compare_loaded (struct dl_phdr_info *info, size_t size, void *data)
{
  Loaded *loaded = data;
  g_autofree char *name = g_path_get_basename (info->dlpi_name);

  if (strcmp (name, loaded->name) != 0)
    return 0;
  loaded->path = g_strdup (info->dlpi_name);
  return 1;
}

/* Adds what a file needs, as far as this program has it loaded itself. */
static gboolean
add_needed (GPtrArray *paths, const char *file, gboolean all, GError **error)
{
  g_auto (QmElf) elf = { 0 };

  if (!qm_elf_read (file, &elf, error))
    return FALSE;
  for (guint i = 0; i < elf.needed->len; i++)
    {
      Loaded loaded = { g_ptr_array_index (elf.needed, i), NULL };

      if (is_of_system (loaded.name)
          || g_ptr_array_find_with_equal_func (paths, loaded.name, is_called,
                                               NULL))
        continue;
      dl_iterate_phdr (compare_loaded, &loaded);
      if (loaded.path != NULL)
        g_ptr_array_add (paths, loaded.path);
      else if (all)
        {
          g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                       /* Translators: the name of a library. */
                       _ ("qm-bench needs %s, which cannot be taken along"),
                       loaded.name);
          return FALSE;
        }
    }
  return TRUE;
}

GPtrArray *
qm_elsewhere_libraries (const QmElsewhere *self,
                        const char *program,
                        GError **error)
{
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);

  g_return_val_if_fail (self != NULL && program != NULL, NULL);

  if (!add_needed (paths, program, TRUE, error))
    return NULL;
  for (guint i = 0; i < paths->len; i++)
    if (!add_needed (paths, g_ptr_array_index (paths, i), TRUE, error))
      return NULL;
  if (self->library == NULL)
    return g_steal_pointer (&paths);
  if (!add_needed (paths, self->library, FALSE, error))
    return NULL;
  g_ptr_array_add (paths, g_strdup (self->library));
  return g_steal_pointer (&paths);
}

guint64
qm_elsewhere_measure (const QmElsewhere *self)
{
  g_autofree char *program = qm_bench_find ();
  g_autoptr (GPtrArray) paths = NULL;
  guint64 bytes = 0;
  GStatBuf facts;

  g_return_val_if_fail (self != NULL, 0);

  if (program != NULL)
    paths = qm_elsewhere_libraries (self, program, NULL);
  if (paths == NULL)
    return 0;
  g_ptr_array_add (paths, g_steal_pointer (&program));
  for (guint i = 0; i < paths->len; i++)
    if (g_stat (g_ptr_array_index (paths, i), &facts) == 0)
      bytes += (guint64) facts.st_size;
  return bytes;
}

/* What the files ask for. */
static gboolean
read_files (const QmElsewhere *self,
            const char *program,
            QmElsewhereNeeds *needs,
            GError **error)
{
  g_autoptr (GPtrArray) paths = qm_elsewhere_libraries (self, program, error);

  if (paths == NULL)
    return FALSE;
  g_ptr_array_add (paths, g_strdup (program));
  for (guint i = 0; i < paths->len; i++)
    {
      g_auto (QmElf) elf = { 0 };

      if (!qm_elf_read (g_ptr_array_index (paths, i), &elf, error))
        return FALSE;
      needs->machine = elf.machine;
      needs->glibc = MAX (needs->glibc, elf.glibc);
    }
  return TRUE;
}

gboolean
qm_elsewhere_find_needs (const QmElsewhere *self,
                         QmElsewhereNeeds *needs,
                         GCancellable *cancellable,
                         GError **error)
{
  g_autofree char *program = qm_bench_find ();
  const char *devices[] = { program, "devices", "--json", NULL };
  g_autoptr (GPtrArray) answers = NULL;
  int cuda;

  *needs = (QmElsewhereNeeds){ 0 };
  if (program == NULL)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "%s",
                   _ ("there is no program qm-bench"));
      return FALSE;
    }
  if (!read_files (self, program, needs, error))
    return FALSE;
  answers = ask_bench (program, devices, cancellable, error);
  if (answers == NULL
      || !ask_for_plans (self, program, needs, cancellable, error))
    return FALSE;
  cuda = find_cuda (answers);
  needs->gpus = cuda > 0;
  needs->driver = qm_elsewhere_oldest_driver (cuda);
  needs->processors =
      needs->host_bytes > 0 ? PROCESSORS_OFFLOAD : PROCESSORS_PLAIN;
  return TRUE;
}
