/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/papers/qm-paper-xml.h"
#include "pricing/papers/qm-paper.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* Cell styles: text and number of each kind of row, and what is best. */
static const char styles[] =
    "<office:automatic-styles>"
    "<number:number-style style:name=\"N\"><number:number "
    "number:min-integer-digits=\"1\" number:decimal-places=\"2\" "
    "number:grouping=\"true\"/></number:number-style>"
    "<style:style style:name=\"wide\" style:family=\"table-column\">"
    "<style:table-column-properties style:column-width=\"7cm\"/>"
    "</style:style>"
    "<style:style style:name=\"narrow\" style:family=\"table-column\">"
    "<style:table-column-properties style:column-width=\"5cm\"/>"
    "</style:style>"
    "<style:style style:name=\"text\" style:family=\"table-column\">"
    "<style:table-column-properties style:column-width=\"20cm\"/>"
    "</style:style>"
    "<style:style style:name=\"plain\" style:family=\"table-cell\" "
    "style:data-style-name=\"N\"><style:table-cell-properties "
    "fo:wrap-option=\"wrap\" style:vertical-align=\"top\"/></style:style>"
    "<style:style style:name=\"strong\" style:family=\"table-cell\" "
    "style:data-style-name=\"N\"><style:table-cell-properties "
    "fo:wrap-option=\"wrap\" style:vertical-align=\"top\"/>"
    "<style:text-properties fo:font-weight=\"bold\"/></style:style>"
    "<style:style style:name=\"best\" style:family=\"table-cell\" "
    "style:data-style-name=\"N\"><style:table-cell-properties "
    "fo:wrap-option=\"wrap\" style:vertical-align=\"top\" "
    "fo:background-color=\"#d8f0d8\"/>"
    "<style:text-properties fo:font-weight=\"bold\"/></style:style>"
    "<style:style style:name=\"section\" style:family=\"table-cell\">"
    "<style:table-cell-properties fo:background-color=\"#e6e6e6\"/>"
    "<style:text-properties fo:font-weight=\"bold\"/></style:style>"
    "</office:automatic-styles>";

static const char head[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    "<office:document-content "
    "xmlns:office=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\" "
    "xmlns:style=\"urn:oasis:names:tc:opendocument:xmlns:style:1.0\" "
    "xmlns:text=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\" "
    "xmlns:table=\"urn:oasis:names:tc:opendocument:xmlns:table:1.0\" "
    "xmlns:number=\"urn:oasis:names:tc:opendocument:xmlns:datastyle:1.0\" "
    "xmlns:fo=\"urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0\" "
    "office:version=\"1.2\">";

static void
append_paragraphs (GString *xml, const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_string_append (xml, "<text:p>");
      qm_paper_xml_append (xml, lines[i]);
      g_string_append (xml, "</text:p>");
    }
}

static void
append_ods_cell (GString *xml, const QmPaperCell *cell, const char *style)
{
  if (cell->text == NULL && cell->number == NULL)
    {
      g_string_append_printf (xml,
                              "<table:table-cell table:style-name=\"%s\"/>",
                              style);
      return;
    }
  g_string_append_printf (xml, "<table:table-cell table:style-name=\"%s\" ",
                          style);
  if (cell->number != NULL)
    g_string_append_printf (xml,
                            "office:value-type=\"float\" office:value=\"%s\">",
                            cell->number);
  else
    g_string_append (xml, "office:value-type=\"string\">");
  append_paragraphs (xml, cell->text != NULL ? cell->text : cell->number);
  g_string_append (xml, "</table:table-cell>");
}

static void
begin_table (GString *xml, const char *name)
{
  g_string_append (xml, "<table:table table:name=\"");
  qm_paper_xml_append (xml, name);
  g_string_append (xml, "\">");
}

static void
append_ods_table (GString *xml, const QmPaperTable *table)
{
  begin_table (xml, table->name);
  g_string_append_printf (xml,
                          "<table:table-column table:style-name=\"wide\"/>"
                          "<table:table-column table:style-name=\"narrow\" "
                          "table:number-columns-repeated=\"%u\"/>"
                          "<table:table-row>",
                          MAX (table->n_columns, 2) - 1);
  for (guint i = 0; i < table->n_columns; i++)
    append_ods_cell (xml, &(QmPaperCell){ .text = table->heads[i] }, "section");
  g_string_append (xml, "</table:table-row>");
  for (guint i = 0; i < table->rows->len; i++)
    {
      const QmPaperRow *row = &g_array_index (table->rows, QmPaperRow, i);

      g_string_append (xml, "<table:table-row>");
      for (guint j = 0; j < table->n_columns; j++)
        append_ods_cell (xml, &row->cells[j],
                         row->kind == QM_ROW_SECTION  ? "section"
                         : row->cells[j].best         ? "best"
                         : row->kind == QM_ROW_STRONG ? "strong"
                                                      : "plain");
      g_string_append (xml, "</table:table-row>");
    }
  g_string_append (xml, "</table:table>");
}

static void
append_text_row (GString *xml, const char *text, gboolean strong)
{
  g_string_append (xml, "<table:table-row>");
  append_ods_cell (xml, &(QmPaperCell){ .text = (char *) text },
                   strong ? "strong" : "plain");
  g_string_append (xml, "</table:table-row>");
}

/* All that is no table, in a sheet of its own. */
static void
append_texts (GString *xml, const QmPaper *paper)
{
  begin_table (xml, _ ("Notes"));
  g_string_append (xml, "<table:table-column table:style-name=\"text\"/>");
  append_text_row (xml, paper->title, TRUE);
  if (paper->subtitle != NULL)
    append_text_row (xml, paper->subtitle, FALSE);
  for (guint i = 0; i < paper->blocks->len; i++)
    {
      const QmPaperBlock *block =
          &g_array_index (paper->blocks, QmPaperBlock, i);

      if (block->kind != QM_PAPER_TABLE)
        append_text_row (xml, block->text, block->kind == QM_PAPER_HEADING);
    }
  g_string_append (xml, "</table:table>");
}

GBytes *
qm_paper_to_ods (const QmPaper *paper)
{
  g_autoptr (GString) xml = g_string_new (head);

  g_return_val_if_fail (paper != NULL, NULL);

  g_string_append (xml, styles);
  g_string_append (xml, "<office:body><office:spreadsheet>");
  for (guint i = 0; i < paper->blocks->len; i++)
    {
      const QmPaperBlock *block =
          &g_array_index (paper->blocks, QmPaperBlock, i);

      if (block->kind == QM_PAPER_TABLE)
        append_ods_table (xml, block->table);
    }
  append_texts (xml, paper);
  g_string_append (xml, "</office:spreadsheet></office:body>"
                        "</office:document-content>\n");
  return qm_paper_odf_package ("application/vnd.oasis.opendocument.spreadsheet",
                               xml->str);
}
