/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-pdf-words.h"

#include "pricing/formats/qm-pdf-child.h"
#include "pricing/formats/qm-xml.h"
#include "pricing/quotes/qm-quote-read.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

#define XHTML "http://www.w3.org/1999/xhtml"
/* No page is larger, in points (ISO 32000-1, annex C.2). */
#define LARGEST 14400.0
/* Nobody reads letters that are lower. */
#define LOWEST 3.0

static void
clear_word (gpointer data)
{
  g_free (((QmPdfWord *) data)->text);
}

static void
free_page (gpointer data)
{
  QmPdfPage *page = data;

  g_array_unref (page->words);
  g_free (page);
}

/* A length in points.  FALSE: there is none that can be. */
static gboolean
read_length (const xmlNode *node, const char *name, double *length)
{
  g_autofree char *text = qm_xml_attribute (node, name);
  char *end = NULL;

  if (text == NULL)
    return FALSE;
  *length = g_ascii_strtod (text, &end);
  return end != text && *end == '\0' && isfinite (*length)
         && fabs (*length) <= LARGEST;
}

/* Ligatures (U+FB00 to U+FB06) as the letters that they stand for, and no
 * hyphens that are not seen. */
static char *
spell_out (const char *text)
{
  static const char *const ligatures[] = { "ff",  "fi", "fl", "ffi",
                                           "ffl", "st", "st" };
  GString *plain = g_string_new (NULL);

  for (const char *p = text; *p != '\0'; p = g_utf8_next_char (p))
    {
      gunichar c = g_utf8_get_char (p);

      if (c >= 0xfb00 && c <= 0xfb06)
        g_string_append (plain, ligatures[c - 0xfb00]);
      else if (c != 0xad)
        g_string_append_unichar (plain, c);
    }
  return g_string_free (plain, FALSE);
}

/* Whether a person who looks at the page sees a word and reads it from left to
 * right. */
static gboolean
is_seen (const QmPdfPage *page, const QmPdfBox *box, const char *text)
{
  double width = box->right - box->left, height = box->bottom - box->top;

  return width > 0 && height >= LOWEST && box->right > 0 && box->bottom > 0
         && box->left < page->width && box->top < page->height
         && (g_utf8_strlen (text, -1) < 3 || height < 2 * width);
}

static void
add_word (QmPdfPage *page, const xmlNode *node)
{
  QmPdfWord word;
  g_autofree char *read = NULL;
  g_autofree char *text = qm_xml_text (node);

  if (text == NULL || !read_length (node, "xMin", &word.box.left)
      || !read_length (node, "yMin", &word.box.top)
      || !read_length (node, "xMax", &word.box.right)
      || !read_length (node, "yMax", &word.box.bottom))
    return;
  read = qm_read_text (text);
  if (read == NULL || !is_seen (page, &word.box, read))
    return;
  word.text = spell_out (read);
  if (*word.text == '\0')
    g_free (word.text);
  else
    g_array_append_val (page->words, word);
}

/* Words are in lines, in blocks, in flows; no deeper than qm_xml_parse() has
 * let them be. */
static void
add_words (QmPdfPage *page, const xmlNode *parent)
{
  for (const xmlNode *node = parent->children; node != NULL; node = node->next)
    if (qm_xml_is (node, XHTML, "word"))
      add_word (page, node);
    else if (node->type == XML_ELEMENT_NODE)
      add_words (page, node);
}

static gboolean
add_page (GPtrArray *pages, const xmlNode *node, guint *words, GError **error)
{
  QmPdfPage *page;
  double width, height;

  if (pages->len >= QM_PDF_MOST_PAGES)
    {
      g_set_error (error, QM_READ_ERROR, QM_READ_ERROR_TOO_LARGE,
                   _ ("This PDF has more than %d pages."), QM_PDF_MOST_PAGES);
      return FALSE;
    }
  if (!read_length (node, "width", &width)
      || !read_length (node, "height", &height))
    return qm_read_refuse (error, QM_READ_ERROR_MALFORMED,
                           _ ("A page of this PDF has no size."));
  page = g_new0 (QmPdfPage, 1);
  page->width = width;
  page->height = height;
  page->words = g_array_new (FALSE, FALSE, sizeof (QmPdfWord));
  g_array_set_clear_func (page->words, clear_word);
  g_ptr_array_add (pages, page);
  add_words (page, node);
  *words += page->words->len;
  return *words <= QM_PDF_MOST_WORDS
         || qm_read_refuse (error, QM_READ_ERROR_TOO_LARGE,
                            _ ("There is too much text in this PDF."));
}

/* The part between <doc> and </doc>, as XML: before it is a document type, and
 * what the PDF calls itself; and words may have characters that XML cannot. */
static char *
cut_out (const char *data, gsize size)
{
  g_autofree char *valid = g_utf8_make_valid (data, (gssize) size);
  const char *first = strstr (valid, "<doc>");
  const char *last = g_strrstr (valid, "</doc>");

  if (first == NULL || last == NULL || last < first)
    return NULL;
  for (char *p = valid; *p != '\0'; p++)
    if ((guchar) *p < ' ' && *p != '\n')
      *p = ' ';
    else if (strncmp (p, "\xef\xbf\xbe", 3) == 0
             || strncmp (p, "\xef\xbf\xbf", 3) == 0)
      memset (p, '?', 3);
  return g_strdup_printf ("<doc xmlns='" XHTML "'>%.*s</doc>",
                          (int) (last - first - (gssize) strlen ("<doc>")),
                          first + strlen ("<doc>"));
}

GPtrArray *
qm_pdf_words_parse (const char *data,
                    gsize size,
                    GCancellable *cancellable,
                    GError **error)
{
  g_autoptr (GPtrArray) pages = g_ptr_array_new_with_free_func (free_page);
  g_autoptr (GError) problem = NULL;
  g_autofree char *text = NULL;
  xmlDoc *document;
  guint words = 0;
  gboolean good = TRUE;

  g_return_val_if_fail (data != NULL || size == 0, NULL);

  text = cut_out (data != NULL ? data : "", size);
  if (text == NULL)
    {
      qm_read_refuse (error, QM_READ_ERROR_MALFORMED,
                      _ ("pdftotext did not write what it should."));
      return NULL;
    }
  document = qm_xml_parse (text, strlen (text), cancellable, &problem);
  if (document == NULL)
    {
      if (g_error_matches (problem, QM_READ_ERROR, QM_READ_ERROR_MALFORMED))
        qm_read_refuse (error, QM_READ_ERROR_MALFORMED,
                        _ ("pdftotext did not write what it should."));
      else
        g_propagate_error (error, g_steal_pointer (&problem));
      return NULL;
    }
  for (const xmlNode *node = xmlDocGetRootElement (document)->children;
       good && node != NULL; node = node->next)
    if (qm_xml_is (node, XHTML, "page"))
      good = add_page (pages, node, &words, error);
  xmlFreeDoc (document);
  if (good && pages->len == 0)
    good = qm_read_refuse (error, QM_READ_ERROR_MALFORMED,
                           _ ("This PDF has no pages."));
  return good ? g_steal_pointer (&pages) : NULL;
}
