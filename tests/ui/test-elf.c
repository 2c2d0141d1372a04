/* SPDX-License-Identifier: Apache-2.0 */

/* What a program needs of a machine, read from its file; and from files that
 * are broken. */

#include "config.h"

#include "ui/machine/qm-elf.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/utsname.h>

static char *folder;

static gboolean
read_bytes (const char *bytes, gsize size, QmElf *elf, GError **error)
{
  g_autofree char *path = g_build_filename (folder, "program", NULL);
  gboolean good;

  g_assert_true (g_file_set_contents (path, bytes, (gssize) size, NULL));
  good = qm_elf_read (path, elf, error);
  g_unlink (path);
  return good;
}

static gboolean
needs (const QmElf *elf, const char *name)
{
  for (guint i = 0; i < elf->needed->len; i++)
    if (strcmp (g_ptr_array_index (elf->needed, i), name) == 0)
      return TRUE;
  return FALSE;
}

/* This program itself. */
static void
test_own (void)
{
  g_auto (QmElf) elf = { 0 };
  g_autoptr (GError) error = NULL;
  struct utsname system;

  g_assert_true (qm_elf_read ("/proc/self/exe", &elf, &error));
  g_assert_no_error (error);
  g_assert_cmpint (uname (&system), ==, 0);
  g_assert_cmpstr (elf.machine, ==, system.machine);
  g_assert_true (needs (&elf, "libglib-2.0.so.0"));
  g_assert_false (needs (&elf, "libcublasLt.so.13"));
#ifdef __GLIBC__
  g_assert_true (needs (&elf, "libc.so.6"));
  /* Not newer than what it runs on; of 2.2 is the oldest of x86-64. */
  g_assert_cmpuint (elf.glibc, >=, 2002);
  g_assert_cmpuint (elf.glibc, <=, __GLIBC__ * 1000 + __GLIBC_MINOR__);
#endif
}

static void
assert_refused (const char *bytes, gsize size)
{
  g_auto (QmElf) elf = { 0 };
  g_autoptr (GError) error = NULL;

  g_assert_false (read_bytes (bytes, size, &elf, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
}

static void
test_no_programs (void)
{
  char script[100] = "#!/bin/sh\n";
  g_auto (QmElf) elf = { 0 };
  g_autoptr (GError) error = NULL;

  assert_refused ("", 0);
  assert_refused (script, 4);
  assert_refused (script, sizeof script);
  memcpy (script,
          "\x7f"
          "ELF",
          4);
  assert_refused (script, 4);
  assert_refused (script, sizeof script);
  g_assert_false (qm_elf_read ("/nowhere/at/all", &elf, &error));
  g_assert_nonnull (error);
}

/* Programs that were cut off, or in which bytes are others, are read or
 * refused; nothing outside of them is.  The shell is small: this program,
 * watched for memory errors, has tens of megabytes. */
static void
test_broken (void)
{
  g_autofree char *bytes = NULL;
  GRand *rand = g_rand_new_with_seed (1);
  gsize size;

  g_assert_true (g_file_get_contents ("/bin/sh", &bytes, &size, NULL));
  for (int i = 0; i < 200; i++)
    {
      g_autofree char *copy = g_memdup2 (bytes, size);
      g_auto (QmElf) elf = { 0 };
      gsize length =
          i % 2 == 0 ? size : (gsize) g_rand_int_range (rand, 0, (int) size);

      /* Headers of sections are at the end, that of the file at its begin. */
      for (int n = 0; n < 40 && i % 2 == 0; n++)
        {
          gsize at = (gsize) g_rand_int_range (rand, 0, n % 2 == 0 ? 64 : 4096);

          copy[n % 2 == 0 ? at : size - 1 - at] = (char) g_rand_int (rand);
        }
      memcpy (copy, bytes, 16);
      read_bytes (copy, length, &elf, NULL);
    }
  g_rand_free (rand);
}

int
main (int argc, char **argv)
{
  int status;

  folder = g_dir_make_tmp ("qm-elf-XXXXXX", NULL);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/elf/own", test_own);
  g_test_add_func ("/elf/no-programs", test_no_programs);
  g_test_add_func ("/elf/broken", test_broken);
  status = g_test_run ();
  g_rmdir (folder);
  g_free (folder);
  return status;
}
