/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/pricing/zip-maker.h"

#include <string.h>
#include <zlib.h>

static void
put (GByteArray *bytes, guint width, guint64 value)
{
  for (guint i = 0; i < width; i++)
    {
      guint8 byte = (guint8) (value >> 8 * i);

      g_byte_array_append (bytes, &byte, 1);
    }
}

static GByteArray *
deflate_all (const char *data, gsize size)
{
  z_stream stream = { .next_in = (Bytef *) data, .avail_in = (uInt) size };
  GByteArray *packed = g_byte_array_new ();

  g_assert_cmpint (deflateInit2 (&stream, 9, Z_DEFLATED, -MAX_WBITS, 8,
                                 Z_DEFAULT_STRATEGY),
                   ==, Z_OK);
  g_byte_array_set_size (packed, (guint) deflateBound (&stream, size));
  stream.next_out = packed->data;
  stream.avail_out = packed->len;
  g_assert_cmpint (deflate (&stream, Z_FINISH), ==, Z_STREAM_END);
  g_byte_array_set_size (packed, (guint) stream.total_out);
  deflateEnd (&stream);
  return packed;
}

/* What the local header and the list have in common. */
static void
put_common (GByteArray *bytes,
            const ZipPart *part,
            gsize size,
            const GByteArray *packed,
            guint32 checksum)
{
  put (bytes, 2, 20);
  put (bytes, 2, part->flags);
  put (bytes, 2, part->deflated ? 8 : 0);
  put (bytes, 4, 0);
  put (bytes, 4, checksum);
  put (bytes, 4, packed->len);
  put (bytes, 4, size);
  put (bytes, 2, strlen (part->name));
  put (bytes, 2, 0);
}

GBytes *
zip_make (const ZipPart *parts, guint n)
{
  GByteArray *bytes = g_byte_array_new ();
  g_autoptr (GByteArray) list = g_byte_array_new ();
  guint written = 0, begin;

  for (guint i = 0; i < n; i++)
    {
      const ZipPart *part = &parts[i];
      gsize size = part->size < 0 ? strlen (part->data) : (gsize) part->size;
      g_autoptr (GByteArray) packed = NULL;
      guint32 checksum =
          (guint32) crc32 (0, (const Bytef *) part->data, (uInt) size);
      guint local = bytes->len;

      if (part->name == NULL)
        continue;
      if (part->deflated)
        packed = deflate_all (part->data, size);
      else
        packed =
            g_byte_array_append (g_byte_array_new (),
                                 (const guint8 *) part->data, (guint) size);
      put (bytes, 4, 0x04034b50);
      put_common (bytes, part, size, packed, checksum);
      g_byte_array_append (bytes, (const guint8 *) part->name,
                           (guint) strlen (part->name));
      g_byte_array_append (bytes, packed->data, packed->len);
      put (list, 4, 0x02014b50);
      put (list, 2, 20);
      put_common (list, part, size, packed, checksum);
      put (list, 8, 0);
      put (list, 2, 0);
      put (list, 4, local);
      g_byte_array_append (list, (const guint8 *) part->name,
                           (guint) strlen (part->name));
      written++;
    }
  begin = bytes->len;
  g_byte_array_append (bytes, list->data, list->len);
  put (bytes, 4, 0x06054b50);
  put (bytes, 4, 0);
  put (bytes, 2, written);
  put (bytes, 2, written);
  put (bytes, 4, list->len);
  put (bytes, 4, begin);
  put (bytes, 2, 0);
  return g_byte_array_free_to_bytes (bytes);
}
