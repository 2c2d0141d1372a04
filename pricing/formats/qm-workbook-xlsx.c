/* SPDX-License-Identifier: Apache-2.0 */

/* SpreadsheetML, ISO/IEC 29500-1, section 18, in its transitional and its
 * strict namespace. */

#include "config.h"

#include "pricing/formats/qm-workbook-private.h"

#include "pricing/formats/qm-sheet.h"
#include "pricing/quotes/qm-quote-read.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define MAIN   "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
#define STRICT "http://purl.oclc.org/ooxml/spreadsheetml/main"
#define LINKS \
  "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
#define STRICT_LINKS "http://purl.oclc.org/ooxml/officeDocument/relationships"
#define PACKAGE      "http://schemas.openxmlformats.org/package/2006/relationships"

typedef struct
{
  QmWorkbook *book;
  xmlDoc *parts;      /* which parts the workbook has */
  GPtrArray *strings; /* that cells share */
  GArray *formats;    /* of QmNumberFormat, by a cell's style */
  GDate epoch;
} Xlsx;

/* One sheet, and where in it. */
typedef struct
{
  Xlsx *xlsx;
  QmCells *cells;
  gboolean hidden[QM_SHEET_MAX_COLUMNS];
  guint row, column;
} Place;

static gboolean
is (const xmlNode *node, const char *name)
{
  return qm_xml_is (node, MAIN, name) || qm_xml_is (node, STRICT, name);
}

static xmlNode *
child (const xmlNode *node, const char *name)
{
  xmlNode *found = node != NULL ? node->children : NULL;

  while (found != NULL && !is (found, name))
    found = found->next;
  return found;
}

static gboolean
is_true (const xmlNode *node, const char *attribute)
{
  g_autofree char *text = qm_xml_attribute (node, attribute);

  return text != NULL
         && (g_str_equal (text, "1") || g_str_equal (text, "true"));
}

/* A whole number of an attribute; `otherwise` where it is none. */
static guint64
number_attribute (const xmlNode *node, const char *attribute, guint64 otherwise)
{
  g_autofree char *text = qm_xml_attribute (node, attribute);
  guint64 number;

  return text != NULL
                 && g_ascii_string_to_unsigned (text, 10, 0, G_MAXUINT32,
                                                &number, NULL)
             ? number
             : otherwise;
}

/* The name in the archive of the part with that id, or else of that kind; NULL:
 * there is none, or it is outside the file. */
static char *
find_part (const Xlsx *xlsx, const char *id, const char *kind)
{
  xmlNode *part = qm_xml_child (xmlDocGetRootElement (xlsx->parts), PACKAGE,
                                "Relationship");

  for (; part != NULL; part = qm_xml_next (part, PACKAGE, "Relationship"))
    {
      g_autofree char *its = qm_xml_attribute (part, "Id");
      g_autofree char *type = qm_xml_attribute (part, "Type");
      g_autofree char *target = qm_xml_attribute (part, "Target");
      g_autofree char *mode = qm_xml_attribute (part, "TargetMode");

      if (target == NULL || type == NULL || g_strcmp0 (mode, "External") == 0
          || !g_str_has_suffix (type, kind)
          || (id != NULL && g_strcmp0 (its, id) != 0))
        continue;
      return *target == '/' ? g_strdup (target + 1)
                            : g_strconcat ("xl/", target, NULL);
    }
  return NULL;
}

/* A part that a workbook need not have. */
static xmlDoc *
parse_other (Xlsx *xlsx, const char *kind, GError **error)
{
  g_autofree char *name = find_part (xlsx, NULL, kind);

  return name != NULL && qm_zip_has (xlsx->book->zip, name)
             ? qm_workbook_parse (xlsx->book, name, error)
             : NULL;
}

/* The text of a string, in pieces of different looks; how it is spoken is not a
 * part of it. */
static char *
text_of_string (const xmlNode *string)
{
  GString *text = g_string_new (NULL);

  for (xmlNode *node = string->children; node != NULL; node = node->next)
    {
      xmlNode *piece = is (node, "r") ? child (node, "t") : node;
      xmlChar *content =
          piece != NULL && is (piece, "t") ? xmlNodeGetContent (piece) : NULL;

      if (content != NULL)
        g_string_append (text, (const char *) content);
      xmlFree (content);
    }
  return g_string_free (text, FALSE);
}

static gboolean
read_strings (Xlsx *xlsx, GError **error)
{
  g_autoptr (GError) broken = NULL;
  xmlDoc *document = parse_other (xlsx, "/sharedStrings", &broken);

  if (broken != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&broken));
      return FALSE;
    }
  if (document == NULL)
    return TRUE;
  for (xmlNode *node = xmlDocGetRootElement (document)->children; node != NULL;
       node = node->next)
    if (is (node, "si"))
      g_ptr_array_add (xlsx->strings, text_of_string (node));
  xmlFreeDoc (document);
  return TRUE;
}

/* The format of that id, of the file's own or a built-in one. */
static QmNumberFormat
find_format (const xmlNode *own, guint id)
{
  xmlNode *node = own != NULL ? own->children : NULL;

  for (; node != NULL; node = node->next)
    if (is (node, "numFmt")
        && number_attribute (node, "numFmtId", G_MAXUINT) == id)
      {
        g_autofree char *code = qm_xml_attribute (node, "formatCode");

        return qm_number_format_read (code != NULL ? code : "General");
      }
  return qm_number_format_of_id (id);
}

static gboolean
read_styles (Xlsx *xlsx, GError **error)
{
  g_autoptr (GError) broken = NULL;
  xmlDoc *document = parse_other (xlsx, "/styles", &broken);
  xmlNode *root, *own, *styles;

  if (broken != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&broken));
      return FALSE;
    }
  if (document == NULL)
    return TRUE;
  root = xmlDocGetRootElement (document);
  own = child (root, "numFmts");
  styles = child (root, "cellXfs");
  for (xmlNode *node = styles != NULL ? styles->children : NULL;
       node != NULL && xlsx->formats->len < 4096; node = node->next)
    if (is (node, "xf"))
      {
        QmNumberFormat format =
            find_format (own, (guint) number_attribute (node, "numFmtId", 0));

        g_array_append_val (xlsx->formats, format);
      }
  xmlFreeDoc (document);
  return TRUE;
}

/* "C12" is column 2; more columns than there may be are all beyond them. */
static gboolean
read_column (const char *text, guint *column)
{
  guint n = 0;

  for (; g_ascii_isupper (*text); text++)
    n = MIN (n * 26 + (guint) (*text - 'A') + 1, 1000000);
  if (n == 0 || !g_ascii_isdigit (*text))
    return FALSE;
  *column = n - 1;
  return TRUE;
}

static QmNumberFormat
format_of (const Xlsx *xlsx, const xmlNode *cell)
{
  guint64 style = number_attribute (cell, "s", 0);

  return style < xlsx->formats->len
             ? g_array_index (xlsx->formats, QmNumberFormat, style)
             : qm_number_format_of_id (0);
}

static gboolean
add_number (Place *place, const xmlNode *cell, const char *text, GError **error)
{
  QmNumberFormat format = format_of (place->xlsx, cell);
  char *end;
  double value = g_ascii_strtod (text, &end);

  if (end == text || *end != '\0')
    return qm_cells_add_text (place->cells, place->row, place->column, text,
                              error);
  if (format.is_day)
    /* The day before 1 March 1900 is one that there was not. */
    return qm_cells_add_day (place->cells, place->row, place->column,
                             &place->xlsx->epoch, value, error);
  return qm_cells_add_number (place->cells, place->row, place->column,
                              format.is_percent ? value * 100 : value,
                              format.decimals,
                              format.is_percent        ? "%"
                              : format.unit[0] != '\0' ? format.unit
                                                       : NULL,
                              error);
}

/* A text that cells share, by its number. */
static const char *
shared (const Xlsx *xlsx, const char *number)
{
  guint64 at;

  return g_ascii_string_to_unsigned (number, 10, 0, G_MAXUINT32, &at, NULL)
                 && at < xlsx->strings->len
             ? g_ptr_array_index (xlsx->strings, at)
             : "?";
}

static gboolean
take_cell (Place *place, const xmlNode *cell, GError **error)
{
  g_autofree char *type = qm_xml_attribute (cell, "t");
  g_autofree char *value = qm_xml_text (child (cell, "v"));
  g_autofree char *own = NULL;
  const char *text = value;

  if (g_strcmp0 (type, "inlineStr") == 0)
    text = own =
        child (cell, "is") != NULL ? text_of_string (child (cell, "is")) : NULL;
  else if (value == NULL && child (cell, "f") != NULL)
    /* What it comes to nobody has said. */
    text = "?";
  else if (value != NULL && (type == NULL || g_str_equal (type, "n")))
    return add_number (place, cell, value, error);
  else if (value != NULL && g_strcmp0 (type, "s") == 0)
    text = shared (place->xlsx, value);
  else if (value != NULL && g_strcmp0 (type, "d") == 0)
    value[MIN (strlen (value), 10)] = '\0';
  if (text == NULL)
    return TRUE;
  return qm_cells_add_text (place->cells, place->row, place->column, text,
                            error);
}

static gboolean
take_row (Place *place, const xmlNode *row, GError **error)
{
  for (xmlNode *cell = row->children; cell != NULL; cell = cell->next)
    {
      g_autofree char *name = NULL;

      if (!is (cell, "c"))
        continue;
      name = qm_xml_attribute (cell, "r");
      if (name != NULL && !read_column (name, &place->column))
        {
          g_set_error_literal (error, QM_READ_ERROR, QM_READ_ERROR_MALFORMED,
                               _ ("The cells of the sheet are not in order."));
          return FALSE;
        }
      if ((place->column >= QM_SHEET_MAX_COLUMNS
           || !place->hidden[place->column])
          && !take_cell (place, cell, error))
        return FALSE;
      place->column++;
    }
  return TRUE;
}

static void
read_hidden (Place *place, const xmlNode *columns)
{
  for (xmlNode *node = columns != NULL ? columns->children : NULL; node != NULL;
       node = node->next)
    if (is (node, "col") && is_true (node, "hidden"))
      {
        guint64 last = number_attribute (node, "max", 0);

        for (guint64 i = number_attribute (node, "min", 1);
             i >= 1 && i <= MIN (last, QM_SHEET_MAX_COLUMNS); i++)
          place->hidden[i - 1] = TRUE;
      }
}

static gboolean
read_sheet (Xlsx *xlsx, const char *part, const char *name, GError **error)
{
  Place place = { .xlsx = xlsx };
  xmlDoc *document = qm_workbook_parse (xlsx->book, part, error);
  xmlNode *root, *data;
  gboolean good;
  guint next = 0;

  if (document == NULL)
    return FALSE;
  root = xmlDocGetRootElement (document);
  data = child (root, "sheetData");
  place.cells = qm_workbook_begin (xlsx->book, name, error);
  good = place.cells != NULL;
  read_hidden (&place, child (root, "cols"));
  for (xmlNode *row = data != NULL ? data->children : NULL; row != NULL && good;
       row = row->next)
    if (is (row, "row"))
      {
        place.row = (guint) MAX (number_attribute (row, "r", next + 1), 1) - 1;
        place.column = 0;
        next = place.row + 1;
        if (!is_true (row, "hidden"))
          good = take_row (&place, row, error);
      }
  xmlFreeDoc (document);
  return good;
}

/* The id of the part that a sheet is in. */
static char *
link_of (const xmlNode *sheet)
{
  xmlChar *id =
      xmlGetNsProp (sheet, (const xmlChar *) "id", (const xmlChar *) LINKS);
  char *text;

  if (id == NULL)
    id = xmlGetNsProp (sheet, (const xmlChar *) "id",
                       (const xmlChar *) STRICT_LINKS);
  text = g_strdup ((const char *) id);
  xmlFree (id);
  return text;
}

static gboolean
read_sheets (Xlsx *xlsx, const xmlNode *root, GError **error)
{
  xmlNode *sheets = child (root, "sheets");

  for (xmlNode *sheet = sheets != NULL ? sheets->children : NULL; sheet != NULL;
       sheet = sheet->next)
    {
      g_autofree char *state = NULL;
      g_autofree char *name = NULL;
      g_autofree char *id = NULL;
      g_autofree char *part = NULL;

      if (!is (sheet, "sheet"))
        continue;
      state = qm_xml_attribute (sheet, "state");
      name = qm_xml_attribute (sheet, "name");
      id = link_of (sheet);
      part = id != NULL ? find_part (xlsx, id, "/worksheet") : NULL;
      /* A sheet without cells is a diagram. */
      if (part == NULL || (state != NULL && !g_str_equal (state, "visible")))
        continue;
      if (!read_sheet (xlsx, part, name != NULL ? name : "", error))
        return FALSE;
    }
  return TRUE;
}

gboolean
qm_workbook_read_xlsx (QmWorkbook *book, GError **error)
{
  Xlsx xlsx = { .book = book };
  xmlDoc *workbook = qm_workbook_parse (book, "xl/workbook.xml", error);
  xmlNode *root;
  gboolean good = FALSE;

  if (workbook == NULL)
    return FALSE;
  root = xmlDocGetRootElement (workbook);
  /* Days are counted from 1900, with one too many in it, or from 1904. */
  if (is_true (child (root, "workbookPr"), "date1904"))
    g_date_set_dmy (&xlsx.epoch, 1, G_DATE_JANUARY, 1904);
  else
    g_date_set_dmy (&xlsx.epoch, 30, G_DATE_DECEMBER, 1899);
  xlsx.strings = g_ptr_array_new_with_free_func (g_free);
  xlsx.formats = g_array_new (FALSE, FALSE, sizeof (QmNumberFormat));
  xlsx.parts = qm_workbook_parse (book, "xl/_rels/workbook.xml.rels", error);
  if (xlsx.parts != NULL)
    good = read_strings (&xlsx, error) && read_styles (&xlsx, error)
           && read_sheets (&xlsx, root, error);
  xmlFreeDoc (xlsx.parts);
  xmlFreeDoc (workbook);
  g_ptr_array_unref (xlsx.strings);
  g_array_unref (xlsx.formats);
  return good;
}
