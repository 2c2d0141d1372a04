/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/plot/pdf.h"

#include <string.h>

static const char *
find (const char *at, const char *end, const char *text)
{
  gsize length = strlen (text);

  for (; at + length <= end; at++)
    if (memcmp (at, text, length) == 0)
      return at;
  return NULL;
}

static void
inflate (GString *objects, const char *packed, gsize size)
{
  g_autoptr (GZlibDecompressor) zlib =
      g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_ZLIB);
  GConverterResult result = G_CONVERTER_CONVERTED;

  while (result == G_CONVERTER_CONVERTED)
    {
      g_autoptr (GError) error = NULL;
      char buffer[4096];
      gsize read, written;

      result = g_converter_convert (G_CONVERTER (zlib), packed, size, buffer,
                                    sizeof buffer, G_CONVERTER_NO_FLAGS, &read,
                                    &written, &error);
      g_assert_no_error (error);
      g_string_append_len (objects, buffer, (gssize) written);
      packed += read;
      size -= read;
    }
}

GString *
pdf_objects (GBytes *pdf)
{
  gsize size;
  const char *at = g_bytes_get_data (pdf, &size);
  const char *end = at + size;
  GString *objects = g_string_new_len (at, (gssize) size);

  while ((at = find (at, end, "/Type /ObjStm")) != NULL)
    {
      const char *stop;

      at = find (at, end, "stream\n");
      g_assert_nonnull (at);
      at += strlen ("stream\n");
      stop = find (at, end, "endstream");
      g_assert_nonnull (stop);
      inflate (objects, at, (gsize) (stop - at));
      at = stop;
    }
  return objects;
}

guint
pdf_count (const GString *objects, const char *text)
{
  const char *at = objects->str;
  const char *end = at + objects->len;
  guint n = 0;

  for (; (at = find (at, end, text)) != NULL; at++)
    n++;
  return n;
}
