/* SPDX-License-Identifier: Apache-2.0 */

/* What a program or a library needs of the machine that it runs on, as its file
 * (ELF) says. */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct
{
  const char *machine; /* as `uname -m` calls it; NULL: another */
  guint glibc;         /* the oldest GNU C library: 2.34 is 2034; 0: any */
  GPtrArray *needed;   /* of char *: the libraries that the loader loads */
} QmElf;

void qm_elf_clear (QmElf *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QmElf, qm_elf_clear)

/* Reads the file of a program or a library of 64 bits; anything may be in it.
 * G_IO_ERROR_INVALID_DATA for what is none. */
gboolean qm_elf_read (const char *path, QmElf *elf, GError **error);

G_END_DECLS
