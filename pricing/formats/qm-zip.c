/* SPDX-License-Identifier: Apache-2.0 */

/* PKWARE's APPNOTE.TXT 6.3, sections 4.3.7 (local header), 4.3.12 (central
 * directory) and 4.3.16 (its end), as far as workbooks use it. */

#include "config.h"

#include "pricing/formats/qm-zip.h"

#include "pricing/quotes/qm-quote-read.h"

#include <glib/gi18n-lib.h>
#include <string.h>
#include <zlib.h>

#define END_MARK     0x06054b50
#define ENTRY_MARK   0x02014b50
#define LOCAL_MARK   0x04034b50
#define END_SIZE     22
#define ENTRY_SIZE   46
#define LOCAL_SIZE   30
#define MOST_COMMENT 65535
#define PIECE        ((gsize) 1 << 16)

enum
{
  STORED = 0,
  DEFLATED = 8
};

/* Bits of a member's flags. */
enum
{
  ENCRYPTED = 1 << 0,
  ENCRYPTED_STRONGLY = 1 << 6
};

typedef struct
{
  guint flags, method;
  guint32 checksum;
  gsize packed, unpacked, local;
} Member;

struct _QmZip
{
  const guint8 *data;
  gsize size;
  GHashTable *members; /* of name to Member */
};

static guint
read16 (const guint8 *at)
{
  return at[0] | (guint) at[1] << 8;
}

static guint32
read32 (const guint8 *at)
{
  return read16 (at) | (guint32) read16 (at + 2) << 16;
}

static gboolean
refuse_broken (GError **error)
{
  return qm_read_refuse (
      error, QM_READ_ERROR_MALFORMED,
      _ ("The file is damaged, or was cut off: it does not hang "
         "together as a zip archive."));
}

/* Where the end of the list is told; a comment may follow. */
static const guint8 *
find_end (const QmZip *zip)
{
  gsize first;

  if (zip->size < END_SIZE)
    return NULL;
  first = zip->size - END_SIZE;
  for (gsize back = 0; back <= MIN (first, MOST_COMMENT); back++)
    {
      const guint8 *at = zip->data + first - back;

      if (read32 (at) == END_MARK && read16 (at + 20) == back)
        return at;
    }
  return NULL;
}

/* Takes one entry of the list; how long it is, 0: it is none. */
static gsize
take_entry (QmZip *zip, gsize at)
{
  const guint8 *entry = zip->data + at;
  gsize room = zip->size - at;
  gsize name_length, length;
  Member *member;

  if (room < ENTRY_SIZE || read32 (entry) != ENTRY_MARK)
    return 0;
  name_length = read16 (entry + 28);
  length = ENTRY_SIZE + name_length + read16 (entry + 30) + read16 (entry + 32);
  if (room < length)
    return 0;
  member = g_new0 (Member, 1);
  member->flags = read16 (entry + 8);
  member->method = read16 (entry + 10);
  member->checksum = read32 (entry + 16);
  member->packed = read32 (entry + 20);
  member->unpacked = read32 (entry + 24);
  member->local = read32 (entry + 42);
  g_hash_table_insert (
      zip->members, g_strndup ((const char *) entry + ENTRY_SIZE, name_length),
      member);
  return length;
}

static gboolean
read_list (QmZip *zip, GError **error)
{
  const guint8 *end = find_end (zip);
  guint n;
  gsize at;

  if (end == NULL)
    return refuse_broken (error);
  n = read16 (end + 10);
  at = read32 (end + 16);
  if (n > QM_ZIP_MAX_MEMBERS)
    return qm_read_refuse (error, QM_READ_ERROR_TOO_LARGE,
                           _ ("The archive has too many files."));
  for (guint i = 0; i < n; i++)
    {
      gsize length = at < zip->size ? take_entry (zip, at) : 0;

      if (length == 0)
        return refuse_broken (error);
      at += length;
    }
  return TRUE;
}

QmZip *
qm_zip_new (const char *data, gsize size, GError **error)
{
  g_autoptr (QmZip) zip = g_new0 (QmZip, 1);

  g_return_val_if_fail (data != NULL || size == 0, NULL);

  zip->data = (const guint8 *) data;
  zip->size = size;
  zip->members =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return read_list (zip, error) ? g_steal_pointer (&zip) : NULL;
}

void
qm_zip_free (QmZip *zip)
{
  if (zip == NULL)
    return;
  g_hash_table_unref (zip->members);
  g_free (zip);
}

gboolean
qm_zip_has (const QmZip *zip, const char *name)
{
  g_return_val_if_fail (zip != NULL && name != NULL, FALSE);

  return g_hash_table_contains (zip->members, name);
}

/* Where the packed bytes of a member begin; NULL: not in the file. */
static const guint8 *
packed_bytes (const QmZip *zip, const Member *member)
{
  const guint8 *local;
  gsize header;

  if (member->local > zip->size || zip->size - member->local < LOCAL_SIZE)
    return NULL;
  local = zip->data + member->local;
  header = LOCAL_SIZE + read16 (local + 26) + (gsize) read16 (local + 28);
  if (read32 (local) != LOCAL_MARK || zip->size - member->local < header
      || zip->size - member->local - header < member->packed)
    return NULL;
  return local + header;
}

static gboolean
refuse_large (gsize most, GError **error)
{
  g_set_error (error, QM_READ_ERROR, QM_READ_ERROR_TOO_LARGE,
               _ ("A part of the file unpacks to more than %u MiB."),
               (guint) (most >> 20));
  return FALSE;
}

/* Unpacks piece by piece, and stops where there would be too much. */
static gboolean
inflate_all (GByteArray *into,
             const guint8 *packed,
             gsize size,
             gsize most,
             GError **error)
{
  g_autofree guint8 *piece = g_malloc (PIECE);
  z_stream stream = { .next_in = (Bytef *) packed, .avail_in = (uInt) size };
  gboolean fits = TRUE;
  int result;

  if (inflateInit2 (&stream, -MAX_WBITS) != Z_OK)
    return qm_read_refuse (error, QM_READ_ERROR_TOO_LARGE,
                           _ ("There is no memory left."));
  do
    {
      stream.next_out = piece;
      stream.avail_out = (uInt) PIECE;
      result = inflate (&stream, Z_NO_FLUSH);
      fits = into->len + (PIECE - stream.avail_out) <= most;
      if (fits)
        g_byte_array_append (into, piece, (guint) (PIECE - stream.avail_out));
    }
  while (result == Z_OK && fits);
  inflateEnd (&stream);
  if (!fits)
    return refuse_large (most, error);
  return result == Z_STREAM_END ? TRUE : refuse_broken (error);
}

static gboolean
unpack (GByteArray *into,
        const Member *member,
        const guint8 *packed,
        gsize most,
        GError **error)
{
  if ((member->flags & (ENCRYPTED | ENCRYPTED_STRONGLY)) != 0)
    return qm_read_refuse (
        error, QM_READ_ERROR_KIND,
        _ ("The file is protected by a password. Save it without "
           "one, and import that."));
  if (packed == NULL)
    return refuse_broken (error);
  if (member->unpacked > most)
    return refuse_large (most, error);
  if (member->method == DEFLATED)
    return inflate_all (into, packed, member->packed, most, error);
  if (member->method != STORED || member->packed != member->unpacked)
    return qm_read_refuse (error, QM_READ_ERROR_KIND,
                           _ ("The file is packed in a way that no spreadsheet "
                              "program uses."));
  g_byte_array_append (into, packed, (guint) member->packed);
  return TRUE;
}

GBytes *
qm_zip_read (const QmZip *zip, const char *name, gsize most, GError **error)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  const Member *member;

  g_return_val_if_fail (zip != NULL && name != NULL, NULL);
  g_return_val_if_fail (most <= G_MAXUINT32 - PIECE, NULL);

  member = g_hash_table_lookup (zip->members, name);
  if (member == NULL)
    {
      g_set_error (error, QM_READ_ERROR, QM_READ_ERROR_MALFORMED,
                   _ ("The file has no part “%s”."), name);
      return NULL;
    }
  if (!unpack (bytes, member, packed_bytes (zip, member), most, error))
    return NULL;
  if (crc32 (crc32 (0, NULL, 0), bytes->data, bytes->len) != member->checksum)
    {
      refuse_broken (error);
      return NULL;
    }
  return g_byte_array_free_to_bytes (g_steal_pointer (&bytes));
}
