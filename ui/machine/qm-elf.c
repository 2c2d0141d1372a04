/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/machine/qm-elf.h"

#include <elf.h>
#include <glib/gi18n-lib.h>
#include <string.h>

/* More than any file has. */
#define MOST_SECTIONS 4096
#define MOST_ENTRIES  65536

typedef struct
{
  const char *bytes;
  gsize size;
  Elf64_Ehdr header;
} File;

/* Copies what stands in the file at a place; FALSE where the file ends before.
 */
static gboolean
take (const File *file, guint64 at, void *to, gsize size)
{
  if (at > file->size || size > file->size - at)
    return FALSE;
  memcpy (to, file->bytes + at, size);
  return TRUE;
}

/* A name in a section of strings, or NULL. */
static const char *
string_at (const File *file, const Elf64_Shdr *strings, guint64 offset)
{
  const char *text;

  if (strings->sh_type != SHT_STRTAB || strings->sh_offset > file->size
      || strings->sh_size > file->size - strings->sh_offset
      || offset >= strings->sh_size)
    return NULL;
  text = file->bytes + strings->sh_offset + offset;
  return memchr (text, '\0', strings->sh_size - offset) != NULL ? text : NULL;
}

static gboolean
section_at (const File *file, guint index, Elf64_Shdr *section)
{
  return index < file->header.e_shnum
         && take (file,
                  file->header.e_shoff
                      + (guint64) index * file->header.e_shentsize,
                  section, sizeof *section);
}

/* "GLIBC_2.34" as 2034; 0 for another name. */
static guint
glibc_version (const char *name)
{
  guint64 major, minor;
  char *end;

  if (name == NULL || !g_str_has_prefix (name, "GLIBC_")
      || !g_ascii_isdigit (name[6]))
    return 0;
  major = g_ascii_strtoull (name + 6, &end, 10);
  if (*end != '.' || !g_ascii_isdigit (end[1]))
    return 0;
  minor = g_ascii_strtoull (end + 1, NULL, 10);
  return major < 1000 && minor < 1000 ? (guint) (major * 1000 + minor) : 0;
}

/* The versions of symbols of other libraries: a list of libraries, each with a
 * list of versions. */
static void
read_versions (const File *file,
               const Elf64_Shdr *section,
               const Elf64_Shdr *strings,
               QmElf *elf)
{
  guint64 at = section->sh_offset;
  guint left = MOST_ENTRIES;
  Elf64_Verneed need;

  while (left-- > 0 && take (file, at, &need, sizeof need))
    {
      guint64 place = at + need.vn_aux;
      Elf64_Vernaux version;

      for (guint i = 0; i < need.vn_cnt && left > 0; i++, left--)
        {
          if (!take (file, place, &version, sizeof version))
            break;
          elf->glibc =
              MAX (elf->glibc,
                   glibc_version (string_at (file, strings, version.vna_name)));
          place += version.vna_next;
        }
      if (need.vn_next == 0)
        break;
      at += need.vn_next;
    }
}

static void
read_needed (const File *file,
             const Elf64_Shdr *section,
             const Elf64_Shdr *strings,
             QmElf *elf)
{
  Elf64_Dyn entry;

  for (guint i = 0; i < MOST_ENTRIES; i++)
    {
      const char *name;

      if (!take (file, section->sh_offset + i * sizeof entry, &entry,
                 sizeof entry)
          || entry.d_tag == DT_NULL)
        return;
      if (entry.d_tag != DT_NEEDED)
        continue;
      name = string_at (file, strings, entry.d_un.d_val);
      if (name != NULL)
        g_ptr_array_add (elf->needed, g_strdup (name));
    }
}

static const char *
machine_name (guint machine)
{
  return machine == EM_X86_64    ? "x86_64"
         : machine == EM_AARCH64 ? "aarch64"
         : machine == EM_PPC64   ? "ppc64le"
         : machine == EM_RISCV   ? "riscv64"
                                 : NULL;
}

static gboolean
is_elf (const Elf64_Ehdr *header)
{
  return memcmp (header->e_ident, ELFMAG, SELFMAG) == 0
         && header->e_ident[EI_CLASS] == ELFCLASS64
         && header->e_ident[EI_DATA]
                == (G_BYTE_ORDER == G_LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB)
         && (header->e_type == ET_EXEC || header->e_type == ET_DYN)
         && header->e_shentsize >= sizeof (Elf64_Shdr)
         && header->e_shnum <= MOST_SECTIONS;
}

void
qm_elf_clear (QmElf *self)
{
  g_clear_pointer (&self->needed, g_ptr_array_unref);
}

gboolean
qm_elf_read (const char *path, QmElf *elf, GError **error)
{
  g_autoptr (GMappedFile) mapped = g_mapped_file_new (path, FALSE, error);
  Elf64_Shdr section, strings;
  File file;

  memset (elf, 0, sizeof *elf);
  if (mapped == NULL)
    return FALSE;
  file.bytes = g_mapped_file_get_contents (mapped);
  file.size = g_mapped_file_get_length (mapped);
  if (file.bytes == NULL || !take (&file, 0, &file.header, sizeof file.header)
      || !is_elf (&file.header))
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                   _ ("“%s” is no program"), path);
      return FALSE;
    }
  elf->machine = machine_name (file.header.e_machine);
  elf->needed = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; section_at (&file, i, &section); i++)
    {
      if ((section.sh_type != SHT_GNU_verneed && section.sh_type != SHT_DYNAMIC)
          || !section_at (&file, section.sh_link, &strings))
        continue;
      if (section.sh_type == SHT_DYNAMIC)
        read_needed (&file, &section, &strings, elf);
      else
        read_versions (&file, &section, &strings, elf);
    }
  return TRUE;
}
