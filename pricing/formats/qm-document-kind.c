/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-quote-import.h"

#include "pricing/formats/qm-mail.h"
#include "pricing/formats/qm-workbook.h"

#include <string.h>

/* So much is looked at. */
#define LOOK ((gsize) 4096)

static gboolean
starts_with (const char *data, gsize size, const char *mark, gsize length)
{
  return size >= length && memcmp (data, mark, length) == 0;
}

/* The first characters as ASCII, whatever the encoding; others are "?". */
static char *
get_beginning (const char *data, gsize size)
{
  GString *text = g_string_new (NULL);
  gsize step = 1, first = 0;

  if (starts_with (data, size, "\xef\xbb\xbf", 3))
    first = 3;
  else if (starts_with (data, size, "\xff\xfe", 2)
           || (size >= 4 && data[0] != '\0' && data[1] == '\0'))
    {
      first = starts_with (data, size, "\xff\xfe", 2) ? 2 : 0;
      step = 2;
    }
  else if (starts_with (data, size, "\xfe\xff", 2)
           || (size >= 4 && data[0] == '\0' && data[1] != '\0'))
    {
      first = data[0] == '\0' ? 1 : 3;
      step = 2;
    }
  for (gsize i = first; i < MIN (size, LOOK); i += step)
    g_string_append_c (text,
                       g_ascii_isprint (data[i]) || g_ascii_isspace (data[i])
                           ? g_ascii_tolower (data[i])
                           : '?');
  return g_string_free (text, FALSE);
}

/* Skips what may stand before the first element. */
static const char *
skip_prolog (const char *text)
{
  for (;;)
    {
      const char *end = NULL;

      while (g_ascii_isspace (*text))
        text++;
      if (g_str_has_prefix (text, "<?"))
        end = strstr (text, "?>");
      else if (g_str_has_prefix (text, "<!--"))
        end = strstr (text, "-->");
      if (end == NULL)
        return text;
      text = end + (*end == '-' ? 3 : 2);
    }
}

static gboolean
is_page (const char *text)
{
  static const char *const beginnings[] = { "<!doctype html",
                                            "<html",
                                            "<head",
                                            "<body",
                                            "<meta",
                                            "<title",
                                            "<script",
                                            "<div",
                                            "<table",
                                            "<p",
                                            "<span",
                                            "<style",
                                            "<center",
                                            "<font",
                                            "<section",
                                            "<main",
                                            "<article",
                                            "<blockquote",
                                            "<h1",
                                            "<h2",
                                            "<h3",
                                            "<br",
                                            "<link",
                                            "<base" };

  for (guint i = 0; i < G_N_ELEMENTS (beginnings); i++)
    if (g_str_has_prefix (text, beginnings[i])
        && !g_ascii_isalnum (text[strlen (beginnings[i])]))
      return TRUE;
  return FALSE;
}

static gboolean
names (const char *media_type, const char *what)
{
  return media_type != NULL && strstr (media_type, what) != NULL;
}

/* Documents that are no text, by what they begin with. */
static gboolean
is_binary (const char *data, gsize size)
{
  static const struct
  {
    const char *mark;
    gsize length;
  } marks[] = {
    { "PK\x05\x06", 4 },
    { "\xd0\xcf\x11\xe0", 4 },
    { "\x78\x9f\x3e\x22", 4 },
    { "\x89PNG", 4 },
    { "\xff\xd8\xff", 3 },
    { "GIF8", 4 },
    { "RIFF", 4 },
    { "II*\0", 4 },
    { "MM\0*", 4 },
    { "\x1f\x8b", 2 },
    { "BZh", 3 },
    { "\xfd"
      "7zXZ",
      5 },
    { "7z\xbc\xaf", 4 },
    { "Rar!", 4 },
    { "\x28\xb5\x2f\xfd", 4 },
    { "SQLite format 3", 15 },
    { "{\\rtf", 5 },
    { "\x7f"
      "ELF",
      4 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (marks); i++)
    if (starts_with (data, size, marks[i].mark, marks[i].length))
      return TRUE;
  return FALSE;
}

QmDocumentKind
qm_document_kind (const char *data,
                  gsize size,
                  const char *name,
                  const char *media_type)
{
  g_autofree char *text = NULL;
  const char *first;

  g_return_val_if_fail (data != NULL || size == 0, QM_DOCUMENT_OTHER);

  if (size > 0 && qm_workbook_may_be (data, size))
    return QM_DOCUMENT_WORKBOOK;
  if (starts_with (data, size, "%PDF", 4))
    return QM_DOCUMENT_PDF;
  if (size == 0 || is_binary (data, size))
    return QM_DOCUMENT_OTHER;
  if (qm_mail_may_be (data, size, name, media_type))
    return QM_DOCUMENT_MAIL;
  text = get_beginning (data, size);
  first = skip_prolog (text);
  if (is_page (first))
    return QM_DOCUMENT_PAGE;
  if (*first == '<')
    return names (media_type, "html") && !g_str_has_prefix (text, "<?xml")
               ? QM_DOCUMENT_PAGE
               : QM_DOCUMENT_XML;
  if (*first == '{' || (*first == '[' && strpbrk (first, "{\"]") != NULL))
    return QM_DOCUMENT_JSON;
  if (names (media_type, "html")
      || (name != NULL
          && (g_str_has_suffix (name, ".html")
              || g_str_has_suffix (name, ".htm"))))
    return QM_DOCUMENT_PAGE;
  return QM_DOCUMENT_CSV;
}
