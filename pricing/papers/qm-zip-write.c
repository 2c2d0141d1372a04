/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/papers/qm-zip-write.h"

#include <string.h>
#include <zlib.h>

/* APPNOTE.TXT of PKWARE, 4.3.7, 4.3.12 and 4.3.16. */
#define LOCAL_HEADER      0x04034b50
#define LIST_HEADER       0x02014b50
#define END_OF_LIST       0x06054b50
#define VERSION           20
#define UTF8_NAMES        (1 << 11)
#define FIRST_OF_JAN_1980 0x0021

static void
put_bytes_of (GByteArray *bytes, guint width, guint64 value)
{
  for (guint i = 0; i < width; i++)
    {
      guint8 byte = (guint8) (value >> 8 * i);

      g_byte_array_append (bytes, &byte, 1);
    }
}

static void
put_name (GByteArray *bytes, const char *text)
{
  g_byte_array_append (bytes, (const guint8 *) text, (guint) strlen (text));
}

/* What the header of a part and its entry in the list have in common. */
static void
put_common (GByteArray *bytes, const QmZipPart *part)
{
  const gsize size = strlen (part->text);

  put_bytes_of (bytes, 2, VERSION);
  put_bytes_of (bytes, 2, UTF8_NAMES);
  put_bytes_of (bytes, 2, 0);
  put_bytes_of (bytes, 2, 0);
  put_bytes_of (bytes, 2, FIRST_OF_JAN_1980);
  put_bytes_of (bytes, 4, crc32 (0, (const Bytef *) part->text, (uInt) size));
  put_bytes_of (bytes, 4, size);
  put_bytes_of (bytes, 4, size);
  put_bytes_of (bytes, 2, strlen (part->name));
  put_bytes_of (bytes, 2, 0);
}

GBytes *
qm_zip_write (const QmZipPart *parts, guint n)
{
  GByteArray *bytes = g_byte_array_new ();
  g_autoptr (GByteArray) list = g_byte_array_new ();
  guint begin;

  g_return_val_if_fail (parts != NULL && n <= G_MAXUINT16, NULL);

  for (guint i = 0; i < n; i++)
    {
      guint local = bytes->len;

      put_bytes_of (bytes, 4, LOCAL_HEADER);
      put_common (bytes, &parts[i]);
      put_name (bytes, parts[i].name);
      put_name (bytes, parts[i].text);
      put_bytes_of (list, 4, LIST_HEADER);
      put_bytes_of (list, 2, VERSION);
      put_common (list, &parts[i]);
      put_bytes_of (list, 2, 0); /* no comment, first disk, no attributes */
      put_bytes_of (list, 2, 0);
      put_bytes_of (list, 2, 0);
      put_bytes_of (list, 4, 0);
      put_bytes_of (list, 4, local);
      put_name (list, parts[i].name);
    }
  begin = bytes->len;
  g_byte_array_append (bytes, list->data, list->len);
  put_bytes_of (bytes, 4, END_OF_LIST);
  put_bytes_of (bytes, 4, 0);
  put_bytes_of (bytes, 2, n);
  put_bytes_of (bytes, 2, n);
  put_bytes_of (bytes, 4, list->len);
  put_bytes_of (bytes, 4, begin);
  put_bytes_of (bytes, 2, 0);
  return g_byte_array_free_to_bytes (bytes);
}
