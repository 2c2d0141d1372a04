/* SPDX-License-Identifier: Apache-2.0 */

#include "pricing/pages/qm-page-text.h"

#include "pricing/words-encodings.h"

#include <stdlib.h>
#include <string.h>

#define META_BYTES_MAX 4096

/* Labels of the encodings that browsers know (WHATWG Encoding Standard, section
 * 4.2), and their names for iconv.  No other name reaches iconv. */
#define ENCODING(label, name) { label, #name },
static const struct
{
  const char *label;
  const char *name;
} encodings[] = { QM_EACH_ENCODING (ENCODING) };

static const char *
find_encoding (const char *label, gsize length)
{
  while (length > 0 && strchr (" \t\"'", label[0]) != NULL)
    label++, length--;
  while (length > 0 && strchr (" \t\"';", label[length - 1]) != NULL)
    length--;
  for (guint i = 0; i < G_N_ELEMENTS (encodings); i++)
    if (strlen (encodings[i].label) == length
        && g_ascii_strncasecmp (label, encodings[i].label, length) == 0)
      return encodings[i].name;
  return NULL;
}

/* The first "charset=" of the page's beginning; NULL: none that is known. */
static const char *
find_declared (const guint8 *bytes, gsize size)
{
  g_autoptr (GRegex) pattern =
      g_regex_new ("charset[ =]*[\"']*([a-z0-9_-]+)",
                   G_REGEX_CASELESS | G_REGEX_RAW, 0, NULL);
  g_autoptr (GMatchInfo) found = NULL;
  int start, end;

  g_regex_match_full (pattern, (const char *) bytes,
                      (gssize) MIN (size, META_BYTES_MAX), 0, 0, &found, NULL);
  return g_match_info_fetch_pos (found, 1, &start, &end)
             ? find_encoding ((const char *) bytes + start,
                              (gsize) (end - start))
             : NULL;
}

/* Converts as much as there is; what cannot be becomes U+FFFD.  UTF-8, and what
 * iconv does not have, stays as it is. */
static char *
convert_bytes (const guint8 *bytes, gsize size, const char *name, gsize *length)
{
  GIConv iconv =
      g_str_equal (name, "UTF-8") ? (GIConv) -1 : g_iconv_open ("UTF-8", name);
  GString *out = g_string_sized_new (size + 16);
  char *in = (char *) bytes;
  gboolean wide = g_str_has_prefix (name, "UTF-16");

  if (iconv == (GIConv) -1)
    {
      g_string_append_len (out, (const char *) bytes, (gssize) size);
      size = 0;
    }
  while (size > 0)
    {
      char buffer[4096];
      char *to = buffer;
      gsize room = sizeof buffer;
      gsize result = g_iconv (iconv, &in, &size, &to, &room);

      g_string_append_len (out, buffer, to - buffer);
      if (result == (gsize) -1 && room > 8 && size > 0)
        {
          gsize bad = MIN (size, wide ? 2 : 1);

          g_string_append (out, "\357\277\275");
          in += bad;
          size -= bad;
        }
    }
  if (iconv != (GIConv) -1)
    g_iconv_close (iconv);
  *length = out->len;
  return g_string_free (out, FALSE);
}

/* Whether bytes that are no valid UTF-8 have no character of it either: then
 * whoever wrote that they are in it was wrong, and it is no damage. */
static gboolean
is_other_than_utf8 (const guint8 *bytes, gsize size)
{
  for (gsize i = 0; i + 1 < size; i++)
    if (bytes[i] >= 0xc2 && bytes[i] < 0xf5 && (bytes[i + 1] & 0xc0) == 0x80)
      return FALSE;
  return !g_utf8_validate_len ((const char *) bytes, size, NULL);
}

static const char *
choose_encoding (const guint8 *bytes, gsize size, const char *charset)
{
  const char *name = NULL;

  if (size >= 2 && bytes[0] == 0xff && bytes[1] == 0xfe)
    return "UTF-16LE";
  if (size >= 2 && bytes[0] == 0xfe && bytes[1] == 0xff)
    return "UTF-16BE";
  if (charset != NULL)
    name = find_encoding (charset, strlen (charset));
  if (name != NULL)
    return name;
  name = find_declared (bytes, size);
  /* A declaration that can be read byte by byte is not in UTF-16. */
  if (name != NULL && !g_str_has_prefix (name, "UTF-16"))
    return name;
  return "CP1252";
}

char *
qm_page_to_utf8 (const guint8 *bytes,
                 gsize size,
                 const char *charset,
                 gsize *length)
{
  g_autofree char *text = NULL;
  const char *name;
  char *valid;
  gsize n;

  g_return_val_if_fail (bytes != NULL || size == 0, NULL);
  g_return_val_if_fail (length != NULL, NULL);

  if (size == 0)
    bytes = (const guint8 *) "";
  if (size >= 3 && memcmp (bytes, "\357\273\277", 3) == 0)
    {
      bytes += 3;
      size -= 3;
      charset = "utf-8";
    }
  name = choose_encoding (bytes, size, charset);
  /* All other encodings here have ASCII in common. */
  if (!g_str_has_prefix (name, "UTF-")
      && g_utf8_validate_len ((const char *) bytes, size, NULL))
    name = "UTF-8";
  else if (g_str_equal (name, "UTF-8") && is_other_than_utf8 (bytes, size))
    name = "CP1252";
  text = convert_bytes (bytes, size, name, &n);
  for (gsize i = 0; i < n; i++)
    if (text[i] == '\0')
      text[i] = ' ';
  valid = g_utf8_make_valid (text, (gssize) n);
  *length = strlen (valid);
  return valid;
}

char *
qm_page_one_line (const char *text, gsize max)
{
  GString *out = g_string_new (NULL);
  gsize n = 0;
  gboolean space = FALSE;

  for (; text != NULL && *text != '\0' && n < max;
       text = g_utf8_next_char (text))
    {
      gunichar c = g_utf8_get_char_validated (text, -1);

      if (c == (gunichar) -1 || c == (gunichar) -2)
        break;
      if (g_unichar_isspace (c) || g_unichar_iscntrl (c) || c == 0x200b
          || c == 0xfeff)
        {
          space = out->len > 0;
          continue;
        }
      if (space && n + 1 < max)
        {
          g_string_append_c (out, ' ');
          n++;
        }
      space = FALSE;
      g_string_append_unichar (out, c);
      n++;
    }
  return g_string_free (out, out->len == 0);
}

/* The character of an entity ("&amp;", "&#39;", "&#x27;"), 0: none that occurs
 * escaped twice. */
static gunichar
read_entity (const char *text, gsize *length)
{
  static const struct
  {
    const char *name;
    gunichar character;
  } names[] = { { "&amp;", '&' },     { "&quot;", '"' },   { "&apos;", '\'' },
                { "&lt;", '<' },      { "&gt;", '>' },     { "&nbsp;", ' ' },
                { "&euro;", 0x20ac }, { "&pound;", 0xa3 }, { "&yen;", 0xa5 } };
  guint64 value;
  char *end;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_str_has_prefix (text, names[i].name))
      {
        *length = strlen (names[i].name);
        return names[i].character;
      }
  if (text[1] != '#')
    return 0;
  if (text[2] == 'x' && g_ascii_isxdigit (text[3]))
    value = g_ascii_strtoull (text + 3, &end, 16);
  else if (g_ascii_isdigit (text[2]))
    value = g_ascii_strtoull (text + 2, &end, 10);
  else
    return 0;
  *length = (gsize) (end - text) + 1;
  return *end == ';' && value > 0 && value <= 0x10ffff
                 && g_unichar_validate ((gunichar) value)
             ? (gunichar) value
             : 0;
}

char *
qm_page_one_line_unescaped (const char *text, gsize max)
{
  g_autoptr (GString) out = g_string_new (NULL);

  if (text == NULL)
    return NULL;
  while (*text != '\0' && out->len < max * 8)
    {
      gsize length = 0;
      gunichar c = *text == '&' ? read_entity (text, &length) : 0;

      if (c == 0)
        g_string_append_c (out, *text++);
      else
        {
          g_string_append_unichar (out, c);
          text += length;
        }
    }
  return qm_page_one_line (out->str, max);
}
