/* SPDX-License-Identifier: Apache-2.0 */

/* OpenDocument spreadsheets, ISO/IEC 26300-1, section 9. */

#include "config.h"

#include "pricing/formats/qm-workbook-private.h"

#include "pricing/formats/qm-sheet.h"
#include "pricing/quotes/qm-quote-read.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define NS       "urn:oasis:names:tc:opendocument:xmlns:"
#define OFFICE   NS "office:1.0"
#define TABLE    NS "table:1.0"
#define TEXT     NS "text:1.0"
#define STYLE    NS "style:1.0"
#define MANIFEST NS "manifest:1.0"

typedef struct
{
  QmWorkbook *book;
  QmCells *cells;
  GHashTable *hidden; /* names of the styles of sheets that are not shown */
  gboolean columns[QM_SHEET_MAX_COLUMNS]; /* those that are not */
  guint row, column, next_column;
} Ods;

static char *
attribute (const xmlNode *node, const char *namespace, const char *name)
{
  xmlChar *value = xmlGetNsProp ((xmlNode *) node, (const xmlChar *) name,
                                 (const xmlChar *) namespace);
  char *text = g_strdup ((const char *) value);

  xmlFree (value);
  return text;
}

/* How often a row, a column or a cell stands there. */
static guint
repeats (const xmlNode *node, const char *name)
{
  g_autofree char *text = attribute (node, TABLE, name);
  guint64 n;

  return text != NULL
                 && g_ascii_string_to_unsigned (text, 10, 1, 1 << 24, &n, NULL)
             ? (guint) n
             : 1;
}

static gboolean
is_shown (const xmlNode *node)
{
  g_autofree char *text = attribute (node, TABLE, "visibility");

  return text == NULL || g_str_equal (text, "visible");
}

/* Appends what is written in a paragraph; spaces and tabs are elements. */
static void
append_text (GString *text, const xmlNode *paragraph, guint depth)
{
  for (xmlNode *node = paragraph->children; node != NULL; node = node->next)
    if (node->type == XML_TEXT_NODE || node->type == XML_CDATA_SECTION_NODE)
      g_string_append (text, (const char *) node->content);
    else if (qm_xml_is (node, TEXT, "s") || qm_xml_is (node, TEXT, "tab")
             || qm_xml_is (node, TEXT, "line-break"))
      g_string_append_c (text, ' ');
    else if (node->type == XML_ELEMENT_NODE && depth < QM_XML_MAX_DEPTH
             && !qm_xml_is (node, OFFICE, "annotation"))
      append_text (text, node, depth + 1);
}

/* What a cell shows: its paragraphs, each a line. */
static char *
shown_text (const xmlNode *cell)
{
  GString *text = g_string_new (NULL);
  xmlNode *paragraph = qm_xml_child (cell, TEXT, "p");

  for (; paragraph != NULL; paragraph = qm_xml_next (paragraph, TEXT, "p"))
    {
      if (text->len > 0)
        g_string_append_c (text, '\n');
      append_text (text, paragraph, 0);
    }
  return g_string_free (text, FALSE);
}

/* The decimals of a number as it is shown, "1.234,50 €". */
static guint
shown_decimals (const char *text)
{
  const char *sign = NULL;
  guint n = 0;

  for (const char *c = text; *c != '\0'; c++)
    if (*c == ',' || *c == '.')
      sign = c;
  while (sign != NULL && g_ascii_isdigit (sign[n + 1]))
    n++;
  /* Three may be thousands. */
  return n == 3 ? 0 : n;
}

static gboolean
add_number (Ods *ods,
            guint column,
            const xmlNode *cell,
            const char *type,
            const char *shown,
            GError **error)
{
  g_autofree char *text = attribute (cell, OFFICE, "value");
  g_autofree char *currency = attribute (cell, OFFICE, "currency");
  gboolean percent = g_str_equal (type, "percentage");
  /* A format of one's own has it as text. */
  const char *unit =
      currency != NULL ? currency : qm_number_format_unit (shown, -1);
  char *end = NULL;
  double value = text != NULL ? g_ascii_strtod (text, &end) : 0;

  if (text == NULL || end == text || *end != '\0')
    return qm_cells_add_text (ods->cells, ods->row, column, shown, error);
  return qm_cells_add_number (ods->cells, ods->row, column,
                              percent ? value * 100 : value,
                              shown_decimals (shown), percent ? "%" : unit,
                              error);
}

static gboolean
add_cell (Ods *ods, guint column, const xmlNode *cell, GError **error)
{
  g_autofree char *type = attribute (cell, OFFICE, "value-type");
  g_autofree char *shown = shown_text (cell);
  g_autofree char *day = NULL;

  if (type != NULL
      && (g_str_equal (type, "float") || g_str_equal (type, "currency")
          || g_str_equal (type, "percentage")))
    return add_number (ods, column, cell, type, shown, error);
  if (g_strcmp0 (type, "date") == 0)
    day = attribute (cell, OFFICE, "date-value");
  if (day != NULL)
    day[MIN (strlen (day), 10)] = '\0';
  return qm_cells_add_text (ods->cells, ods->row, column,
                            day != NULL ? day : shown, error);
}

static gboolean
is_cell (const xmlNode *node)
{
  return qm_xml_is (node, TABLE, "table-cell")
         || qm_xml_is (node, TABLE, "covered-table-cell");
}

/* Whether there is anything in a cell, or a sheet's last ones only repeat. */
static gboolean
has_something (const xmlNode *cell)
{
  return xmlHasNsProp ((xmlNode *) cell, (const xmlChar *) "value-type",
                       (const xmlChar *) OFFICE)
             != NULL
         || qm_xml_child (cell, TEXT, "p") != NULL;
}

static gboolean
take_cells (Ods *ods, const xmlNode *row, GError **error)
{
  guint column = 0;

  for (xmlNode *cell = row->children; cell != NULL; cell = cell->next)
    {
      guint n;

      if (!is_cell (cell))
        continue;
      n = repeats (cell, "number-columns-repeated");
      for (guint i = 0; i < n && has_something (cell); i++)
        if ((column + i >= QM_SHEET_MAX_COLUMNS || !ods->columns[column + i])
            && !add_cell (ods, column + i, cell, error))
          return FALSE;
      column = MIN (column + n, 1 << 24);
    }
  return TRUE;
}

/* A row that repeats is there as often, where there is anything in it. */
static gboolean
take_row (Ods *ods, const xmlNode *row, GError **error)
{
  guint n = repeats (row, "number-rows-repeated");
  gboolean any = FALSE;

  for (xmlNode *cell = row->children; cell != NULL && !any; cell = cell->next)
    any = is_cell (cell) && has_something (cell);
  for (guint i = 0; i < n && any && is_shown (row); i++)
    {
      if (!take_cells (ods, row, error))
        return FALSE;
      ods->row++;
    }
  if (!any || !is_shown (row))
    ods->row = MIN (ods->row + n, 1 << 24);
  return TRUE;
}

static void
take_column (Ods *ods, const xmlNode *column)
{
  guint n = repeats (column, "number-columns-repeated");

  for (guint i = 0; i < n && ods->next_column < QM_SHEET_MAX_COLUMNS; i++)
    ods->columns[ods->next_column++] = !is_shown (column);
}

/* Rows and columns may be in groups, which may be in others. */
static gboolean
take_part (Ods *ods, const xmlNode *part, guint depth, GError **error)
{
  for (xmlNode *node = part->children; node != NULL; node = node->next)
    {
      if (node->type != XML_ELEMENT_NODE)
        continue;
      if (qm_xml_is (node, TABLE, "table-column"))
        take_column (ods, node);
      else if (qm_xml_is (node, TABLE, "table-row"))
        {
          if (!take_row (ods, node, error))
            return FALSE;
        }
      else if (depth < QM_XML_MAX_DEPTH
               && (g_str_has_prefix ((const char *) node->name, "table-row")
                   || g_str_has_prefix ((const char *) node->name,
                                        "table-column")
                   || g_str_has_prefix ((const char *) node->name,
                                        "table-header"))
               && !take_part (ods, node, depth + 1, error))
        return FALSE;
    }
  return TRUE;
}

/* The styles of sheets that are hidden. */
static void
read_styles (Ods *ods, const xmlNode *root)
{
  xmlNode *style =
      qm_xml_child (qm_xml_child (root, OFFICE, "automatic-styles"), STYLE,
                    "style");

  for (; style != NULL; style = qm_xml_next (style, STYLE, "style"))
    {
      xmlNode *properties = qm_xml_child (style, STYLE, "table-properties");
      g_autofree char *display =
          properties != NULL ? attribute (properties, TABLE, "display") : NULL;

      if (g_strcmp0 (display, "false") == 0)
        g_hash_table_add (ods->hidden, attribute (style, STYLE, "name"));
    }
}

static gboolean
read_sheet (Ods *ods, const xmlNode *table, GError **error)
{
  g_autofree char *name = attribute (table, TABLE, "name");
  g_autofree char *style = attribute (table, TABLE, "style-name");

  if (style != NULL && g_hash_table_contains (ods->hidden, style))
    return TRUE;
  ods->cells = qm_workbook_begin (ods->book, name != NULL ? name : "", error);
  ods->row = ods->next_column = 0;
  memset (ods->columns, 0, sizeof ods->columns);
  return ods->cells != NULL && take_part (ods, table, 0, error);
}

/* Parts are encrypted one by one, and the list of parts says so. */
static gboolean
check_open (QmWorkbook *book, GError **error)
{
  xmlDoc *list = qm_zip_has (book->zip, "META-INF/manifest.xml")
                     ? qm_workbook_parse (book, "META-INF/manifest.xml", NULL)
                     : NULL;
  xmlNode *entry = list != NULL ? qm_xml_child (xmlDocGetRootElement (list),
                                                MANIFEST, "file-entry")
                                : NULL;
  gboolean locked = FALSE;

  for (; entry != NULL; entry = qm_xml_next (entry, MANIFEST, "file-entry"))
    locked |= qm_xml_child (entry, MANIFEST, "encryption-data") != NULL;
  xmlFreeDoc (list);
  if (locked)
    g_set_error_literal (error, QM_READ_ERROR, QM_READ_ERROR_KIND,
                         _ ("The file is protected by a password. Save it "
                            "without one, and import that."));
  return !locked;
}

gboolean
qm_workbook_read_ods (QmWorkbook *book, GError **error)
{
  Ods ods = { .book = book };
  xmlDoc *document;
  xmlNode *root, *table;
  gboolean good = TRUE;

  if (!check_open (book, error))
    return FALSE;
  document = qm_workbook_parse (book, "content.xml", error);
  if (document == NULL)
    return FALSE;
  root = xmlDocGetRootElement (document);
  ods.hidden = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  read_styles (&ods, root);
  table = qm_xml_child (qm_xml_child (qm_xml_child (root, OFFICE, "body"),
                                      OFFICE, "spreadsheet"),
                        TABLE, "table");
  for (; table != NULL && good; table = qm_xml_next (table, TABLE, "table"))
    good = read_sheet (&ods, table, error);
  g_hash_table_unref (ods.hidden);
  xmlFreeDoc (document);
  return good;
}
