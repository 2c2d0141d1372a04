/* SPDX-License-Identifier: Apache-2.0 */

#include "pricing/pages/qm-lax-json.h"

#include <string.h>

#define DEPTH_MAX  128
#define VALUES_MAX 256
#define DIGITS_MAX 15

/* Reads a literal and writes it as JSON. */
typedef struct
{
  const char *at;
  const char *end;
  GString *out;
  guint depth;
} Mender;

static gboolean mend_value (Mender *m);

static gboolean
begins (const Mender *m, const char *with)
{
  gsize n = strlen (with);

  return (gsize) (m->end - m->at) >= n && memcmp (m->at, with, n) == 0;
}

/* Behind a mark, or to the end. */
static void
skip_to (Mender *m, const char *mark)
{
  while (m->at < m->end && !begins (m, mark))
    m->at++;
  m->at += MIN ((gsize) (m->end - m->at), strlen (mark));
}

/* Space, control characters, comments, and the wrapping of CDATA and HTML
 * comments. */
static void
skip_space (Mender *m)
{
  static const char *const wrappings[] = { "//<![CDATA[",  "//]]>",
                                           "<![CDATA[",    "]]>",
                                           "<!--",         "-->",
                                           "\357\273\277", "\302\240" };

  while (m->at < m->end)
    {
      const char *before = m->at;

      while (m->at < m->end && (guchar) *m->at <= ' ')
        m->at++;
      for (guint i = 0; i < G_N_ELEMENTS (wrappings); i++)
        if (begins (m, wrappings[i]))
          m->at += strlen (wrappings[i]);
      if (begins (m, "/*"))
        skip_to (m, "*/");
      else if (begins (m, "//"))
        while (m->at < m->end && *m->at != '\n' && *m->at != '\r')
          m->at++;
      if (m->at == before)
        return;
    }
}

/* Whether a quote at m->at ends its string: what follows is what may follow a
 * string. */
static gboolean
quote_ends (const Mender *m)
{
  const char *at = m->at + 1;

  while (at < m->end && (guchar) *at <= ' ')
    at++;
  if (at == m->end || (*at != '\0' && strchr (",:}]", *at) != NULL))
    return TRUE;
  return *at == '/' && at + 1 < m->end && (at[1] == '/' || at[1] == '*');
}

/* Whether so many hexadecimal digits come, and what they are. */
static gboolean
read_hex (Mender *m, guint digits, guint *value)
{
  *value = 0;
  if ((gsize) (m->end - m->at) < digits)
    return FALSE;
  for (guint i = 0; i < digits; i++)
    {
      if (!g_ascii_isxdigit (m->at[i]))
        return FALSE;
      *value = *value * 16 + (guint) g_ascii_xdigit_value (m->at[i]);
    }
  m->at += digits;
  return TRUE;
}

static void
put_unicode (Mender *m, guint value)
{
  g_string_append_printf (m->out, "\\u%04x", value);
}

static void
put_quoted (Mender *m, const char *start)
{
  g_string_append_c (m->out, '"');
  g_string_append_len (m->out, start, m->at - start);
  g_string_append_c (m->out, '"');
}

/* After a backslash. */
static void
mend_escape (Mender *m)
{
  char c = m->at < m->end ? *m->at++ : '\0';
  guint value;

  if (c != '\0' && strchr ("\"\\/bfnrt", c) != NULL)
    {
      g_string_append_c (m->out, '\\');
      g_string_append_c (m->out, c);
    }
  else if ((c == 'u' && read_hex (m, 4, &value))
           || (c == 'x' && read_hex (m, 2, &value)))
    /* A half of a pair alone is not UTF-8; pairs are of no use for prices. */
    put_unicode (m, value == 0 || (value >= 0xd800 && value <= 0xdfff) ? 0xfffd
                                                                       : value);
  else if ((guchar) c < ' ')
    g_string_append_c (m->out, ' ');
  else
    g_string_append_c (m->out, c);
}

static gboolean
mend_string (Mender *m)
{
  char quote = *m->at++;

  g_string_append_c (m->out, '"');
  while (m->at < m->end)
    {
      char c = *m->at;

      if (c == quote && (quote != '"' || quote_ends (m)))
        {
          m->at++;
          g_string_append_c (m->out, '"');
          return TRUE;
        }
      m->at++;
      if (c == '\\')
        mend_escape (m);
      else if (c == '"')
        g_string_append (m->out, "\\\"");
      else if ((guchar) c < ' ' || c == 0x7f)
        g_string_append_c (m->out, ' ');
      else
        g_string_append_c (m->out, c);
    }
  return FALSE;
}

/* Skips a name, which may be empty.  Returns: where it begins. */
static const char *
skip_name (Mender *m)
{
  const char *start = m->at;

  while (m->at < m->end
         && (g_ascii_isalnum (*m->at) || *m->at == '_' || *m->at == '$'
             || (guchar) *m->at >= 0x80))
    m->at++;
  return start;
}

/* A number as it is, or as a string where a double would not keep it. */
static gboolean
mend_number (Mender *m)
{
  const char *start = m->at;
  guint digits = 0, points = 0;
  gboolean plain = TRUE;

  if (*m->at == '-' || *m->at == '+')
    m->at++;
  for (; m->at < m->end; m->at++)
    {
      if (g_ascii_isdigit (*m->at))
        digits++;
      else if (*m->at == '.')
        points++;
      else if (*m->at != '\0' && strchr ("eE+-xXabcdfABCDF_n", *m->at) != NULL)
        plain = FALSE;
      else
        break;
    }
  plain = plain && *start != '+' && digits > 0 && digits <= DIGITS_MAX
          && points <= 1 && m->at[-1] != '.'
          && g_ascii_isdigit (start[*start == '-']);
  if (plain && start[*start == '-'] == '0' && digits > 1
      && start[(*start == '-') + 1] != '.')
    plain = FALSE;
  if (plain)
    g_string_append_len (m->out, start, m->at - start);
  else
    put_quoted (m, start);
  return digits > 0;
}

/* true, false, null and what JavaScript has for null. */
static gboolean
mend_word (Mender *m)
{
  static const char *const truths[] = { "true", "false", NULL };
  static const char *const nulls[] = { "undefined", "NaN", NULL };
  const char *start = skip_name (m);
  g_autofree char *word = g_strndup (start, (gsize) (m->at - start));

  if (g_strv_contains (truths, word))
    g_string_append (m->out, word);
  else if (g_strv_contains (nulls, word)
           || g_ascii_strcasecmp (word, "null") == 0)
    g_string_append (m->out, "null");
  else
    return FALSE;
  return TRUE;
}

static gboolean
mend_key (Mender *m)
{
  const char *start;

  if (*m->at == '"' || *m->at == '\'')
    return mend_string (m);
  start = skip_name (m);
  if (m->at == start)
    return FALSE;
  put_quoted (m, start);
  return TRUE;
}

static gboolean
mend_member (Mender *m, char close)
{
  if (close == '}')
    {
      if (!mend_key (m))
        return FALSE;
      skip_space (m);
      if (m->at == m->end || *m->at != ':')
        return FALSE;
      m->at++;
      g_string_append_c (m->out, ':');
      skip_space (m);
    }
  return mend_value (m);
}

/* Space, and any of the marks. */
static void
skip_marks (Mender *m, const char *marks)
{
  skip_space (m);
  while (m->at < m->end && *m->at != '\0' && strchr (marks, *m->at) != NULL)
    {
      m->at++;
      skip_space (m);
    }
}

static gboolean
mend_container (Mender *m)
{
  char close = *m->at == '{' ? '}' : ']';
  gboolean first = TRUE;

  if (++m->depth > DEPTH_MAX)
    return FALSE;
  g_string_append_c (m->out, *m->at++);
  for (;;)
    {
      skip_marks (m, ",");
      if (m->at == m->end)
        return FALSE;
      if (*m->at == close)
        break;
      if (!first)
        g_string_append_c (m->out, ',');
      first = FALSE;
      if (!mend_member (m, close))
        return FALSE;
      skip_space (m);
      if (m->at < m->end && *m->at != ',' && *m->at != close)
        return FALSE;
    }
  m->at++;
  m->depth--;
  g_string_append_c (m->out, close);
  return TRUE;
}

static gboolean
mend_value (Mender *m)
{
  if (m->at == m->end)
    return FALSE;
  switch (*m->at)
    {
    case '{':
    case '[':
      return mend_container (m);
    case '"':
    case '\'':
      return mend_string (m);
    default:
      if (g_ascii_isdigit (*m->at) || *m->at == '-' || *m->at == '+'
          || *m->at == '.')
        return mend_number (m);
      return mend_word (m);
    }
}

json_t *
qm_lax_json_read_one (const char *text, gsize length, gsize *end)
{
  Mender mender = { .at = text, .end = text + length };
  json_error_t error;
  json_t *value = NULL;

  g_return_val_if_fail (text != NULL, NULL);

  if (length == 0 || (*text != '{' && *text != '['))
    return NULL;
  mender.out = g_string_sized_new (MIN (length, 65536));
  if (mend_container (&mender))
    value =
        json_loadb (mender.out->str, mender.out->len, JSON_ALLOW_NUL, &error);
  g_string_free (mender.out, TRUE);
  if (end != NULL)
    *end = (gsize) (mender.at - text);
  return value;
}

/* "&quot;" all over instead of quotes.  (transfer full) (nullable) */
static char *
unescape_quotes (const char *text, gsize length)
{
  g_autofree char *copy = NULL;
  GString *out;

  if (memchr (text, '"', length) != NULL)
    return NULL;
  copy = g_strndup (text, length);
  if (strstr (copy, "&quot;") == NULL)
    return NULL;
  out = g_string_new (copy);
  g_string_replace (out, "&quot;", "\"", 0);
  return g_string_free (out, FALSE);
}

static void
read_values (const char *text, gsize length, GPtrArray *values)
{
  Mender m = { .at = text, .end = text + length };

  while (values->len < VALUES_MAX)
    {
      json_t *value;
      gsize used;

      skip_marks (&m, ";,");
      if (m.at == m.end || (*m.at != '{' && *m.at != '['))
        return;
      value = qm_lax_json_read_one (m.at, (gsize) (m.end - m.at), &used);
      if (value == NULL)
        return;
      g_ptr_array_add (values, value);
      m.at += used;
    }
}

GPtrArray *
qm_lax_json_read (const char *text, gsize length)
{
  GPtrArray *values =
      g_ptr_array_new_with_free_func ((GDestroyNotify) json_decref);
  g_autofree char *unescaped = NULL;

  g_return_val_if_fail (text != NULL, values);

  unescaped = unescape_quotes (text, length);
  read_values (unescaped != NULL ? unescaped : text,
               unescaped != NULL ? strlen (unescaped) : length, values);
  return values;
}
