/* SPDX-License-Identifier: Apache-2.0 */

/* Office Open XML spreadsheets (ECMA-376, part 1, 18): texts stand in their
 * cells, and styles are by their place in cellXfs. */

#include "config.h"

#include "pricing/papers/qm-paper.h"

#include "pricing/papers/qm-paper-xml.h"
#include "pricing/papers/qm-zip-write.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* No name of a sheet is longer, in characters, nor has one of these. */
#define NAME_MOST 31
#define NOT_NAMES "[]:*?/\\"

#define DECLARATION \
  "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
#define MAIN "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
#define RELATIONS \
  "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
#define PACKAGE "http://schemas.openxmlformats.org/package/2006/"
#define TYPE    "application/vnd.openxmlformats-officedocument.spreadsheetml."

/* Places in cellXfs. */
enum
{
  STYLE_PLAIN,
  STYLE_STRONG,
  STYLE_BEST,
  STYLE_SECTION
};

static const char styles[] = DECLARATION
    "<styleSheet xmlns=\"" MAIN "\">"
    "<fonts count=\"2\"><font><sz val=\"11\"/><name val=\"Calibri\"/></font>"
    "<font><b/><sz val=\"11\"/><name val=\"Calibri\"/></font></fonts>"
    "<fills count=\"4\"><fill><patternFill patternType=\"none\"/></fill>"
    "<fill><patternFill patternType=\"gray125\"/></fill>"
    "<fill><patternFill patternType=\"solid\"><fgColor rgb=\"FFD8F0D8\"/>"
    "</patternFill></fill>"
    "<fill><patternFill patternType=\"solid\"><fgColor rgb=\"FFE6E6E6\"/>"
    "</patternFill></fill></fills>"
    "<borders count=\"1\"><border><left/><right/><top/>"
    "<bottom/><diagonal/></border></borders>"
    "<cellStyleXfs count=\"1\"><xf numFmtId=\"0\" fontId=\"0\" "
    "fillId=\"0\" borderId=\"0\"/></cellStyleXfs>"
    "<cellXfs count=\"4\">"
    "<xf numFmtId=\"4\" applyNumberFormat=\"1\" applyAlignment=\"1\">"
    "<alignment vertical=\"top\" wrapText=\"1\"/></xf>"
    "<xf numFmtId=\"4\" fontId=\"1\" applyNumberFormat=\"1\" applyFont=\"1\" "
    "applyAlignment=\"1\"><alignment vertical=\"top\" wrapText=\"1\"/></xf>"
    "<xf numFmtId=\"4\" fontId=\"1\" fillId=\"2\" applyNumberFormat=\"1\" "
    "applyFont=\"1\" applyFill=\"1\" applyAlignment=\"1\">"
    "<alignment vertical=\"top\" wrapText=\"1\"/></xf>"
    "<xf fontId=\"1\" fillId=\"3\" applyFont=\"1\" applyFill=\"1\"/>"
    "</cellXfs><cellStyles count=\"1\"><cellStyle name=\"Normal\" xfId=\"0\" "
    "builtinId=\"0\"/></cellStyles></styleSheet>\n";

static const char relations[] = DECLARATION
    "<Relationships xmlns=\"" PACKAGE "relationships\">"
    "<Relationship Id=\"rId1\" Type=\"" RELATIONS "/officeDocument\" "
    "Target=\"xl/workbook.xml\"/></Relationships>\n";

/* "B3" */
static void
append_place (GString *xml, guint column, guint row)
{
  if (column >= 26)
    g_string_append_c (xml, (char) ('A' + column / 26 - 1));
  g_string_append_c (xml, (char) ('A' + column % 26));
  g_string_append_printf (xml, "%u", row);
}

static void
append_xlsx_cell (
    GString *xml, const QmPaperCell *cell, guint column, guint row, int style)
{
  g_string_append (xml, "<c r=\"");
  append_place (xml, column, row);
  g_string_append_printf (xml, "\" s=\"%d\"", style);
  if (cell->number != NULL)
    g_string_append_printf (xml, "><v>%s</v></c>", cell->number);
  else if (cell->text != NULL)
    {
      g_string_append (xml, " t=\"inlineStr\"><is><t xml:space=\"preserve\">");
      qm_paper_xml_append (xml, cell->text);
      g_string_append (xml, "</t></is></c>");
    }
  else
    g_string_append (xml, "/>");
}

static void
begin_sheet (GString *xml, guint n_columns, guint first, guint others)
{
  g_string_append (xml, DECLARATION "<worksheet xmlns=\"" MAIN "\"><cols>");
  g_string_append_printf (
      xml, "<col min=\"1\" max=\"1\" width=\"%u\" customWidth=\"1\"/>", first);
  if (n_columns > 1)
    g_string_append_printf (
        xml, "<col min=\"2\" max=\"%u\" width=\"%u\" customWidth=\"1\"/>",
        n_columns, others);
  g_string_append (xml, "</cols><sheetData>");
}

static const char sheet_end[] = "</sheetData></worksheet>\n";

/* (transfer full) */
static char *
table_sheet (const QmPaperTable *table)
{
  GString *xml = g_string_new (NULL);

  begin_sheet (xml, table->n_columns, 36, 26);
  g_string_append (xml, "<row r=\"1\">");
  for (guint i = 0; i < table->n_columns; i++)
    append_xlsx_cell (xml, &(QmPaperCell){ .text = table->heads[i] }, i, 1,
                      STYLE_SECTION);
  g_string_append (xml, "</row>");
  for (guint i = 0; i < table->rows->len; i++)
    {
      const QmPaperRow *row = &g_array_index (table->rows, QmPaperRow, i);

      g_string_append_printf (xml, "<row r=\"%u\">", i + 2);
      for (guint j = 0; j < table->n_columns; j++)
        append_xlsx_cell (xml, &row->cells[j], j, i + 2,
                          row->kind == QM_ROW_SECTION  ? STYLE_SECTION
                          : row->cells[j].best         ? STYLE_BEST
                          : row->kind == QM_ROW_STRONG ? STYLE_STRONG
                                                       : STYLE_PLAIN);
      g_string_append (xml, "</row>");
    }
  g_string_append (xml, sheet_end);
  return g_string_free (xml, FALSE);
}

static void
append_text_row (GString *xml, const char *text, guint row, int style)
{
  g_string_append_printf (xml, "<row r=\"%u\">", row);
  append_xlsx_cell (xml, &(QmPaperCell){ .text = (char *) text }, 0, row,
                    style);
  g_string_append (xml, "</row>");
}

/* All that is no table.  (transfer full) */
static char *
text_sheet (const QmPaper *paper)
{
  GString *xml = g_string_new (NULL);
  guint row = 1;

  begin_sheet (xml, 1, 100, 0);
  append_text_row (xml, paper->title, row++, STYLE_STRONG);
  if (paper->subtitle != NULL)
    append_text_row (xml, paper->subtitle, row++, STYLE_PLAIN);
  for (guint i = 0; i < paper->blocks->len; i++)
    {
      const QmPaperBlock *block =
          &g_array_index (paper->blocks, QmPaperBlock, i);

      if (block->kind != QM_PAPER_TABLE)
        append_text_row (xml, block->text, row++,
                         block->kind == QM_PAPER_HEADING ? STYLE_STRONG
                                                         : STYLE_PLAIN);
    }
  g_string_append (xml, sheet_end);
  return g_string_free (xml, FALSE);
}

/* What a sheet may be called, and no other is.  (transfer full) */
static char *
sheet_name (GPtrArray *names, const char *wanted)
{
  g_autofree char *valid = g_utf8_make_valid (wanted, -1);
  g_autofree char *cut = NULL;
  char *name;

  g_strdelimit (valid, NOT_NAMES "\n\t", ' ');
  cut =
      g_utf8_substring (valid, 0,
                        MIN (g_utf8_strlen (valid, -1), (glong) NAME_MOST - 3));
  name = g_strdup (cut[0] != '\0' ? cut : "1");
  for (guint i = 2;
       g_ptr_array_find_with_equal_func (names, name, g_str_equal, NULL)
       && i < 100;
       i++)
    {
      g_free (name);
      name = g_strdup_printf ("%s %u", cut, i);
    }
  return name;
}

/* (transfer full) */
static char *
workbook (GPtrArray *names)
{
  GString *xml =
      g_string_new (DECLARATION "<workbook xmlns=\"" MAIN
                                "\" xmlns:r=\"" RELATIONS "\"><sheets>");

  for (guint i = 0; i < names->len; i++)
    {
      g_string_append (xml, "<sheet name=\"");
      qm_paper_xml_append (xml, g_ptr_array_index (names, i));
      g_string_append_printf (xml, "\" sheetId=\"%u\" r:id=\"rId%u\"/>", i + 1,
                              i + 1);
    }
  g_string_append (xml, "</sheets></workbook>\n");
  return g_string_free (xml, FALSE);
}

/* (transfer full) */
static char *
workbook_relations (guint n)
{
  GString *xml = g_string_new (DECLARATION "<Relationships xmlns=\"" PACKAGE
                                           "relationships\">");

  for (guint i = 1; i <= n; i++)
    g_string_append_printf (xml,
                            "<Relationship Id=\"rId%u\" Type=\"" RELATIONS
                            "/worksheet\" Target=\"worksheets/sheet%u.xml\"/>",
                            i, i);
  g_string_append_printf (xml,
                          "<Relationship Id=\"rId%u\" Type=\"" RELATIONS
                          "/styles\" Target=\"styles.xml\"/></Relationships>\n",
                          n + 1);
  return g_string_free (xml, FALSE);
}

/* (transfer full) */
static char *
content_types (guint n)
{
  GString *xml = g_string_new (
      DECLARATION
      "<Types xmlns=\"" PACKAGE "content-types\"><Default Extension=\"rels\" "
      "ContentType=\"application/vnd.openxmlformats-package.relationships+xml\""
      "/><Default Extension=\"xml\" ContentType=\"application/xml\"/>"
      "<Override PartName=\"/xl/workbook.xml\" ContentType=\"" TYPE
      "sheet.main+xml\"/><Override PartName=\"/xl/styles.xml\" "
      "ContentType=\"" TYPE "styles+xml\"/>");

  for (guint i = 1; i <= n; i++)
    g_string_append_printf (
        xml,
        "<Override PartName=\"/xl/worksheets/sheet%u.xml\" ContentType=\"" TYPE
        "worksheet+xml\"/>",
        i);
  g_string_append (xml, "</Types>\n");
  return g_string_free (xml, FALSE);
}

GBytes *
qm_paper_to_xlsx (const QmPaper *paper)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) sheets = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  g_autofree QmZipPart *parts = NULL;
  g_autofree char *types = NULL;
  g_autofree char *book = NULL;
  g_autofree char *book_relations = NULL;
  guint n = 0;

  g_return_val_if_fail (paper != NULL, NULL);

  for (guint i = 0; i < paper->blocks->len; i++)
    {
      const QmPaperTable *table =
          g_array_index (paper->blocks, QmPaperBlock, i).table;

      if (table == NULL)
        continue;
      g_ptr_array_add (names, sheet_name (names, table->name));
      g_ptr_array_add (sheets, table_sheet (table));
    }
  g_ptr_array_add (names, sheet_name (names, _ ("Notes")));
  g_ptr_array_add (sheets, text_sheet (paper));
  types = content_types (sheets->len);
  book = workbook (names);
  book_relations = workbook_relations (sheets->len);
  parts = g_new0 (QmZipPart, sheets->len + 5);
  parts[n++] = (QmZipPart){ "[Content_Types].xml", types };
  parts[n++] = (QmZipPart){ "_rels/.rels", relations };
  parts[n++] = (QmZipPart){ "xl/workbook.xml", book };
  parts[n++] = (QmZipPart){ "xl/_rels/workbook.xml.rels", book_relations };
  parts[n++] = (QmZipPart){ "xl/styles.xml", styles };
  for (guint i = 0; i < sheets->len; i++)
    {
      char *path = g_strdup_printf ("xl/worksheets/sheet%u.xml", i + 1);

      g_ptr_array_add (paths, path);
      parts[n++] = (QmZipPart){ path, g_ptr_array_index (sheets, i) };
    }
  return qm_zip_write (parts, n);
}
