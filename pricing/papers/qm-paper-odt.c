/* SPDX-License-Identifier: Apache-2.0 */

/* OpenDocument texts (ODF 1.2): the document as a person would type it, to be
 * worked on further. */

#include "config.h"

#include "pricing/papers/qm-paper.h"

#include "pricing/papers/qm-paper-xml.h"

#include <string.h>

#define MIME "application/vnd.oasis.opendocument.text"

static const char head[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    "<office:document-content "
    "xmlns:office=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\" "
    "xmlns:style=\"urn:oasis:names:tc:opendocument:xmlns:style:1.0\" "
    "xmlns:text=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\" "
    "xmlns:table=\"urn:oasis:names:tc:opendocument:xmlns:table:1.0\" "
    "xmlns:fo=\"urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0\" "
    "office:version=\"1.2\"><office:automatic-styles>"
    "<style:style style:name=\"title\" style:family=\"paragraph\">"
    "<style:paragraph-properties fo:margin-bottom=\"0.2cm\"/>"
    "<style:text-properties fo:font-size=\"20pt\" fo:font-weight=\"bold\"/>"
    "</style:style>"
    "<style:style style:name=\"heading\" style:family=\"paragraph\">"
    "<style:paragraph-properties fo:margin-top=\"0.5cm\" "
    "fo:margin-bottom=\"0.2cm\" fo:keep-with-next=\"always\"/>"
    "<style:text-properties fo:font-size=\"14pt\" fo:font-weight=\"bold\"/>"
    "</style:style>"
    "<style:style style:name=\"body\" style:family=\"paragraph\">"
    "<style:paragraph-properties fo:margin-bottom=\"0.2cm\"/></style:style>"
    "<style:style style:name=\"cell\" style:family=\"paragraph\">"
    "<style:text-properties fo:font-size=\"9pt\"/></style:style>"
    "<style:style style:name=\"number\" style:family=\"paragraph\">"
    "<style:paragraph-properties fo:text-align=\"end\"/>"
    "<style:text-properties fo:font-size=\"9pt\"/></style:style>"
    "<style:style style:name=\"strong\" style:family=\"text\">"
    "<style:text-properties fo:font-weight=\"bold\"/></style:style>"
    "<style:style style:name=\"box\" style:family=\"table-cell\">"
    "<style:table-cell-properties fo:padding=\"0.1cm\" "
    "fo:border-bottom=\"0.5pt solid #999999\"/></style:style>"
    "</office:automatic-styles><office:body><office:text>";

static const char foot[] = "</office:text></office:body>"
                           "</office:document-content>\n";

/* A text with its line breaks. */
static void
append_lines (GString *xml, const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      if (i > 0)
        g_string_append (xml, "<text:line-break/>");
      qm_paper_xml_append (xml, lines[i]);
    }
}

static void
append_paragraph (GString *xml, const char *style, const char *text)
{
  g_string_append_printf (xml, "<text:p text:style-name=\"%s\">", style);
  append_lines (xml, text);
  g_string_append (xml, "</text:p>");
}

static void
append_heading (GString *xml, const char *style, int level, const char *text)
{
  g_string_append_printf (
      xml, "<text:h text:style-name=\"%s\" text:outline-level=\"%d\">", style,
      level);
  append_lines (xml, text);
  g_string_append (xml, "</text:h>");
}

static void
append_odt_cell (GString *xml,
                 const char *text,
                 gboolean words,
                 gboolean strong)
{
  g_string_append_printf (xml,
                          "<table:table-cell table:style-name=\"box\" "
                          "office:value-type=\"string\">"
                          "<text:p text:style-name=\"%s\">",
                          words ? "cell" : "number");
  if (strong)
    g_string_append (xml, "<text:span text:style-name=\"strong\">");
  append_lines (xml, text != NULL ? text : "–");
  g_string_append_printf (xml, "%s</text:p></table:table-cell>",
                          strong ? "</text:span>" : "");
}

static void
append_odt_row (GString *xml, const QmPaperTable *table, const QmPaperRow *row)
{
  g_string_append (xml, "<table:table-row>");
  for (guint i = 0; i < table->n_columns; i++)
    append_odt_cell (xml,
                     row->kind == QM_ROW_SECTION && i > 0 ? ""
                                                          : row->cells[i].text,
                     qm_paper_table_is_words (table, i),
                     row->kind != QM_ROW_PLAIN || row->cells[i].best);
  g_string_append (xml, "</table:table-row>");
}

static void
append_odt_table (GString *xml, const QmPaperTable *table)
{
  g_string_append (xml, "<table:table table:name=\"");
  qm_paper_xml_append (xml, table->name);
  g_string_append_printf (xml,
                          "\"><table:table-column "
                          "table:number-columns-repeated=\"%u\"/>"
                          "<table:table-header-rows><table:table-row>",
                          table->n_columns);
  for (guint i = 0; i < table->n_columns; i++)
    append_odt_cell (xml, table->heads[i], qm_paper_table_is_words (table, i),
                     TRUE);
  g_string_append (xml, "</table:table-row></table:table-header-rows>");
  for (guint i = 0; i < table->rows->len; i++)
    append_odt_row (xml, table, &g_array_index (table->rows, QmPaperRow, i));
  g_string_append (xml, "</table:table>");
}

static void
append_block (GString *xml, const QmPaperBlock *block)
{
  switch (block->kind)
    {
    case QM_PAPER_HEADING:
      append_heading (xml, "heading", 2, block->text);
      break;
    case QM_PAPER_ITEM:
      g_string_append (xml, "<text:list-item>");
      append_paragraph (xml, "body", block->text);
      g_string_append (xml, "</text:list-item>");
      break;
    case QM_PAPER_TABLE:
      append_odt_table (xml, block->table);
      break;
    case QM_PAPER_TEXT:
    default:
      append_paragraph (xml, "body", block->text);
      break;
    }
}

GBytes *
qm_paper_to_odt (const QmPaper *paper)
{
  g_autoptr (GString) xml = g_string_new (head);
  gboolean listing = FALSE;

  g_return_val_if_fail (paper != NULL, NULL);

  append_heading (xml, "title", 1, paper->title);
  if (paper->subtitle != NULL)
    append_paragraph (xml, "body", paper->subtitle);
  for (guint i = 0; i < paper->blocks->len; i++)
    {
      const QmPaperBlock *block =
          &g_array_index (paper->blocks, QmPaperBlock, i);

      if (listing != (block->kind == QM_PAPER_ITEM))
        g_string_append (xml, listing ? "</text:list>" : "<text:list>");
      listing = block->kind == QM_PAPER_ITEM;
      append_block (xml, block);
    }
  if (listing)
    g_string_append (xml, "</text:list>");
  g_string_append (xml, foot);
  return qm_paper_odf_package (MIME, xml->str);
}
