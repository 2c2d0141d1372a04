/* SPDX-License-Identifier: Apache-2.0 */

/* Workbooks cell by cell, and what must not be read of them. */

#include "pricing/formats/qm-quote-import.h"
#include "pricing/formats/qm-sheet.h"
#include "pricing/formats/qm-workbook.h"
#include "tests/pricing/zip-maker.h"

#include <string.h>

#define MAIN "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
#define LINKS \
  "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
#define TYPES "http://schemas.openxmlformats.org/package/2006/relationships"
#define ODF   "urn:oasis:names:tc:opendocument:xmlns:"

/* An XLSX file of up to three sheets. */
typedef struct
{
  const char *properties; /* of the workbook */
  const char *states[3];  /* attributes of the sheets */
  const char *sheets[3];  /* what is in their elements */
  const char *strings, *styles, *target;
} Book;

static GBytes *
make_book (const Book *book)
{
  g_autoptr (GString) list = g_string_new (NULL);
  g_autoptr (GString) links = g_string_new (NULL);
  g_autofree char *sheets[3] = { NULL };
  g_autofree char *workbook = NULL;
  g_autofree char *parts = NULL;
  g_autofree char *strings =
      g_strdup_printf ("<sst xmlns='" MAIN "'>%s</sst>",
                       book->strings != NULL ? book->strings : "");
  g_autofree char *styles =
      g_strdup_printf ("<styleSheet xmlns='" MAIN "'>%s</styleSheet>",
                       book->styles != NULL ? book->styles : "");
  ZipPart zip[9] = { { "[Content_Types].xml", "<Types/>", -1, 0, FALSE } };
  guint n = 1;
  GBytes *bytes;

  for (guint i = 0; i < 3 && book->sheets[i] != NULL; i++)
    {
      g_string_append_printf (list,
                              "<sheet name='S%u' sheetId='%u' r:id='r%u' %s/>",
                              i, i, i,
                              book->states[i] != NULL ? book->states[i] : "");
      g_string_append_printf (links,
                              "<Relationship Id='r%u' Type='" LINKS
                              "/worksheet' Target='%s%u.xml'/>",
                              i, book->target != NULL ? book->target : "sheet",
                              i);
      sheets[i] = g_strdup_printf ("<worksheet xmlns='" MAIN "'>%s</worksheet>",
                                   book->sheets[i]);
    }
  workbook = g_strdup_printf ("<workbook xmlns='" MAIN "' xmlns:r='" LINKS "'>"
                              "%s<sheets>%s</sheets></workbook>",
                              book->properties != NULL ? book->properties : "",
                              list->str);
  parts = g_strdup_printf ("<Relationships xmlns='" TYPES "'>%s"
                           "<Relationship Id='s' Type='" LINKS
                           "/sharedStrings' Target='strings.xml'/>"
                           "<Relationship Id='t' Type='" LINKS
                           "/styles' Target='/xl/styles.xml'/>"
                           "</Relationships>",
                           links->str);
  zip[n++] = (ZipPart){ "xl/workbook.xml", workbook, -1, 0, TRUE };
  zip[n++] = (ZipPart){ "xl/_rels/workbook.xml.rels", parts, -1, 0, TRUE };
  zip[n++] = (ZipPart){ "xl/strings.xml", strings, -1, 0, TRUE };
  zip[n++] = (ZipPart){ "xl/styles.xml", styles, -1, 0, FALSE };
  for (guint i = 0; i < 3; i++)
    if (sheets[i] != NULL)
      {
        static const char *const names[] = { "xl/sheet0.xml", "xl/sheet1.xml",
                                             "xl/sheet2.xml" };

        zip[n++] = (ZipPart){ names[i], sheets[i], -1, 0, TRUE };
      }
  bytes = zip_make (zip, n);
  for (guint i = 0; i < 3; i++)
    g_clear_pointer (&sheets[i], g_free);
  return bytes;
}

static GBytes *
make_ods (const char *styles, const char *tables, const char *manifest)
{
  g_autofree char *content =
      g_strdup_printf ("<o:document-content xmlns:o='" ODF
                       "office:1.0' xmlns:t='" ODF "table:1.0' xmlns:x='" ODF
                       "text:1.0' xmlns:s='" ODF "style:1.0'>"
                       "<o:automatic-styles>%s</o:automatic-styles>"
                       "<o:body><o:spreadsheet>%s</o:spreadsheet></o:body>"
                       "</o:document-content>",
                       styles, tables);
  ZipPart zip[] = {
    { "mimetype", "application/vnd.oasis.opendocument.spreadsheet", -1, 0,
      FALSE },
    { "content.xml", content, -1, 0, TRUE },
    { manifest != NULL ? "META-INF/manifest.xml" : NULL,
      manifest != NULL ? manifest : "", -1, 0, TRUE },
  };

  return zip_make (zip, G_N_ELEMENTS (zip));
}

static GPtrArray *
read_all (GBytes *bytes, GError **error)
{
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);

  return qm_workbook_read (data, size, NULL, error);
}

/* That its sheets are these tables, without the line that names the sign. */
static void
assert_tables (GBytes *bytes, const char *first, const char *second)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) sheets = read_all (bytes, &error);
  const char *const wanted[] = { first, second };

  g_assert_no_error (error);
  g_assert_cmpuint (sheets->len, ==, second != NULL ? 2 : 1);
  for (guint i = 0; i < sheets->len; i++)
    {
      g_autoptr (GBytes) table =
          qm_cells_to_csv (g_ptr_array_index (sheets, i));
      gsize size;
      const char *data = g_bytes_get_data (table, &size);
      g_autofree char *text = g_strndup (data, size);

      g_assert_true (g_str_has_prefix (text, "sep=;\n"));
      g_assert_cmpstr (text + 6, ==, wanted[i]);
    }
  g_bytes_unref (bytes);
}

static void
assert_refused (GBytes *bytes, QmReadError code, const char *words)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) sheets = read_all (bytes, &error);

  g_assert_null (sheets);
  g_assert_error (error, QM_READ_ERROR, (int) code);
  if (strstr (error->message, words) == NULL)
    g_error ("“%s” does not say “%s”", error->message, words);
  g_bytes_unref (bytes);
}

static void
test_cells (void)
{
  assert_tables (
      make_book (&(Book){
          .strings = "<si><t>one</t></si><si><r><t>two </t></r><r><t>parts</t>"
                     "</r><rPh sb='0' eb='1'><t>spoken</t></rPh></si>",
          .styles = "<numFmts><numFmt numFmtId='170' formatCode='#,##0.00\\ "
                    "[$€-407]'/><numFmt numFmtId='171' "
                    "formatCode='yyyy\\-mm\\-dd'/><numFmt numFmtId='172' "
                    "formatCode='[$$-409]#,##0.00'/><numFmt numFmtId='173' "
                    "formatCode='0\" GPU\"'/></numFmts>"
                    "<cellXfs><xf numFmtId='0'/><xf numFmtId='170'/>"
                    "<xf numFmtId='171'/><xf numFmtId='9'/><xf numFmtId='172'/>"
                    "<xf numFmtId='173'/></cellXfs>",
          .sheets = { "<sheetData>"
                      "<row r='1'><c r='A1' t='s'><v>0</v></c>"
                      "<c r='C1' t='s'><v>1</v></c></row>"
                      "<row r='3'><c r='A3'><v>1234.567</v></c>"
                      "<c r='B3' s='1'><v>1234.567</v></c>"
                      "<c r='C3' s='2'><v>46100</v></c>"
                      "<c r='D3' s='3'><v>0.19</v></c>"
                      "<c r='E3' s='4'><v>-50000</v></c>"
                      "<c r='F3' s='5'><v>4</v></c></row>"
                      "<row><c t='str'><f>A1</f><v>said; \"so\"</v></c>"
                      "<c t='b'><v>1</v></c><c t='e'><v>#N/A</v></c>"
                      "<c><f>B3*2</f></c>"
                      "<c t='inlineStr'><is><t>in line</t></is></c>"
                      "<c t='s'><v>99</v></c><c t='d'><v>2026-03-01T00:00</v>"
                      "</c><c><v>1e300</v></c></row>"
                      "</sheetData>" } }),
      "\"one\";;\"two parts\"\n\n"
      "1234.5670;1234.57 €;\"2026-03-19\";19 %;-50000.00 USD;4\n"
      "\"said; \"\"so\"\"\";\"1\";\"#N/A\";\"?\";\"in line\";\"?\";"
      "\"2026-03-01\";\"?\"\n",
      NULL);
}

/* Days from 1904, hidden sheets, rows and columns, and no numbers of rows. */
static void
test_hidden (void)
{
  assert_tables (
      make_book (&(Book){
          .properties = "<workbookPr date1904='1'/>",
          .styles = "<cellXfs><xf numFmtId='14'/></cellXfs>",
          .states = { "state='hidden'", NULL, "state='veryHidden'" },
          .sheets = { "<sheetData><row><c><v>1</v></c></row></sheetData>",
                      "<cols><col min='2' max='3' hidden='1'/></cols>"
                      "<sheetData><row><c t='str'><v>a</v></c><c t='str'>"
                      "<v>b</v></c><c t='str'><v>c</v></c><c s='0'>"
                      "<v>44638</v></c></row><row hidden='true'>"
                      "<c t='str'><v>d</v></c></row>"
                      "<row><c t='str'><v>e</v></c></row></sheetData>",
                      "<sheetData><row><c><v>3</v></c></row></sheetData>" } }),
      "\"a\";;;\"2026-03-19\"\n\n\"e\"\n", NULL);
  assert_tables (
      make_ods ("<s:style s:name='h'><s:table-properties t:display='false'/>"
                "</s:style>",
                "<t:table t:name='A' t:style-name='h'><t:table-row>"
                "<t:table-cell><x:p>no</x:p></t:table-cell></t:table-row>"
                "</t:table><t:table t:name='B'>"
                "<t:table-column/><t:table-column t:visibility='collapse'/>"
                "<t:table-column t:number-columns-repeated='1000'/>"
                "<t:table-header-rows><t:table-row><t:table-cell><x:p>a</x:p>"
                "<x:p>b<x:s/>c</x:p></t:table-cell><t:table-cell><x:p>no</x:p>"
                "</t:table-cell><t:table-cell o:value-type='currency' "
                "o:currency='CHF' o:value='1000.5'><x:p>1'000.50</x:p>"
                "</t:table-cell></t:table-row></t:table-header-rows>"
                "<t:table-row t:visibility='filter'><t:table-cell><x:p>no</x:p>"
                "</t:table-cell></t:table-row><t:table-row "
                "t:number-rows-repeated='2'><t:table-cell "
                "t:number-columns-repeated='2'/><t:covered-table-cell "
                "o:value-type='date' o:date-value='2026-03-01T10:00:00'>"
                "<x:p>1. März</x:p></t:covered-table-cell><t:table-cell "
                "o:value-type='percentage' o:value='0.19'><x:p>19 %</x:p>"
                "</t:table-cell><t:table-cell t:number-columns-repeated='16384'"
                "/></t:table-row><t:table-row t:number-rows-repeated='1048576'>"
                "<t:table-cell/></t:table-row></t:table>",
                NULL),
      "\"a\nb c\";;1000.50 CHF\n\n;;\"2026-03-01\";19 %\n;;\"2026-03-01\";19 "
      "%\n",
      NULL);
}

/* Where texts have a comma before their decimals, numbers have it, too. */
static void
test_sign (void)
{
  assert_tables (
      make_book (&(Book){
          .sheets = { "<sheetData><row><c t='str'><v>1.234,50 €</v></c>"
                      "<c><v>0.5</v></c></row></sheetData>",
                      "<sheetData><row><c t='str'><v>1,234.50</v></c>"
                      "<c><v>0.5</v></c></row></sheetData>" } }),
      "\"1.234,50 €\";0,5\n", "\"1,234.50\";0.5\n");
}

/* What is elsewhere is not fetched, as a part or as an entity. */
static void
test_elsewhere (void)
{
  static const char declared[] =
      "<!DOCTYPE w [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>"
      "<workbook xmlns='" MAIN "'>&x;</workbook>";
  ZipPart entity[] = { { "[Content_Types].xml", "<Types/>", -1, 0, FALSE },
                       { "xl/workbook.xml", declared, -1, 0, TRUE } };

  assert_refused (zip_make (entity, 2), QM_READ_ERROR_MALFORMED, "DOCTYPE");
  /* The part that it names is there. */
  assert_refused (make_book (&(Book){
                      .sheets = { "<sheetData><row><c><v>1</v></c></row>"
                                  "</sheetData>" },
                      .target = "sheet0.xml' TargetMode='External' Other='" }),
                  QM_READ_ERROR_NO_QUOTE, "Nothing is written");
}

static void
test_refused (void)
{
  g_autofree char *bomb = g_malloc0 (12 << 20);
  g_autofree char *rows = NULL;
  ZipPart bombs[] = { { "[Content_Types].xml", "<Types/>", -1, 0, FALSE },
                      { "xl/workbook.xml", bomb, 12 << 20, 0, TRUE } };
  ZipPart locked[] = { { "[Content_Types].xml", "<Types/>", -1, 0, FALSE },
                       { "xl/workbook.xml", "x", -1, 1, FALSE } };
  ZipPart letter[] = { { "word/document.xml", "x", -1, 0, FALSE } };
  GString *cells = g_string_new ("<sheetData>");

  for (guint i = 0; i < 210000; i++)
    g_string_append (cells, "<row><c><v>1</v></c></row>");
  rows = g_string_free (cells, FALSE);
  assert_refused (make_book (&(Book){ .sheets = { rows } }),
                  QM_READ_ERROR_TOO_LARGE, "elements");
  assert_refused (zip_make (bombs, 2), QM_READ_ERROR_TOO_LARGE, "8 MiB");
  assert_refused (zip_make (locked, 2), QM_READ_ERROR_KIND, "password");
  assert_refused (zip_make (letter, 1), QM_READ_ERROR_KIND, "archive");
  assert_refused (make_book (&(Book){ .sheets = { "<sheetData/>" } }),
                  QM_READ_ERROR_NO_QUOTE, "Nothing is written");
  assert_refused (make_book (&(Book){
                      .sheets = { "<sheetData><row r='2'><c><v>1</v></c>"
                                  "</row><row r='1'><c><v>1</v></c></row>"
                                  "</sheetData>" } }),
                  QM_READ_ERROR_MALFORMED, "not in order");
  assert_refused (make_book (&(Book){
                      .sheets = { "<sheetData><row><c r='ZZZ1'><v>1</v>"
                                  "</c></row></sheetData>" } }),
                  QM_READ_ERROR_TOO_LARGE, "columns");
  assert_refused (make_book (&(Book){
                      .sheets = { "<sheetData><row r='1048577'><c><v>1</v>"
                                  "</c></row></sheetData>" } }),
                  QM_READ_ERROR_TOO_LARGE, "rows");
  assert_refused (make_book (&(Book){ .sheets = { "<sheetData/>" },
                                      .target = "absent" }),
                  QM_READ_ERROR_MALFORMED, "no part");
  assert_refused (
      make_ods ("",
                "<t:table><t:table-row t:number-rows-repeated='9999999'>"
                "<t:table-cell><x:p>1</x:p></t:table-cell></t:table-row>"
                "</t:table>",
                NULL),
      QM_READ_ERROR_TOO_LARGE, "rows");
  assert_refused (make_ods ("", "<t:table/>",
                            "<m:manifest xmlns:m='" ODF
                            "manifest:1.0'><m:file-entry>"
                            "<m:encryption-data/></m:file-entry></m:manifest>"),
                  QM_READ_ERROR_KIND, "password");
  assert_refused (g_bytes_new ("PK\x03\x04 and no more", 16),
                  QM_READ_ERROR_MALFORMED, "cut off");
}

/* Cut off anywhere, or with any byte changed, it is refused or read. */
static void
test_harmed (void)
{
  g_autoptr (GBytes) whole =
      make_book (&(Book){ .sheets = { "<sheetData><row><c><v>1</v></c></row>"
                                      "</sheetData>" } });
  gsize size;
  const char *data = g_bytes_get_data (whole, &size);
  guint refused = 0;

  for (gsize n = 0; n < size; n++)
    {
      g_autofree char *harmed = g_memdup2 (data, size);
      g_autoptr (GError) cut = NULL;
      g_autoptr (GError) changed = NULL;
      g_autoptr (GPtrArray) sheets = qm_workbook_read (data, n, NULL, &cut);

      g_assert_null (sheets);
      g_assert_nonnull (cut);
      harmed[n] ^= 0x55;
      sheets = qm_workbook_read (harmed, size, NULL, &changed);
      g_assert_true ((sheets == NULL) == (changed != NULL));
      refused += changed != NULL;
    }
  g_assert_cmpuint (refused, >, size / 2);
}

/* The first sheet that can be a quote is read, and another one named. */
static void
test_sheets (void)
{
#define ROW(what, price)                                                      \
  "<row><c t='str'><v>" what "</v></c><c><v>2</v></c><c><v>" price "</v></c>" \
  "</row>"
#define HEAD                                                             \
  "<row><c t='str'><v>Description</v></c><c t='str'><v>Quantity</v></c>" \
  "<c t='str'><v>Unit price (EUR)</v></c></row>"
  g_autoptr (GBytes) bytes = make_book (&(Book){
      .sheets = { "<sheetData><row><c t='str'><v>Dear customer</v></c></row>"
                  "</sheetData>",
                  "<sheetData>" HEAD ROW ("NVIDIA L40S", "7500") "</sheetData>",
                  "<sheetData>" HEAD ROW ("NVIDIA H200 NVL",
                                          "31000") "</sheetData>" } });
  g_autoptr (GError) error = NULL;
  g_autoptr (QmImport) import =
      qm_import_bytes (bytes, "offer.xlsx", NULL, NULL, NULL, &error);
  const QmQuote *quote;
  const QmFinding *finding;

  g_assert_no_error (error);
  g_assert_cmpint (import->kind, ==, QM_DOCUMENT_WORKBOOK);
  g_assert_cmpuint (import->quotes->len, ==, 1);
  quote = g_ptr_array_index (import->quotes, 0);
  g_assert_cmpint (quote->origin, ==, QM_QUOTE_FROM_CSV);
  g_assert_cmpuint (quote->lines->len, ==, 1);
  finding = g_ptr_array_index (quote->findings, 0);
  g_assert_nonnull (strstr (finding->message, "“S1”"));
  g_assert_nonnull (strstr (finding->message, "“S2”"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/workbook/cells", test_cells);
  g_test_add_func ("/workbook/hidden", test_hidden);
  g_test_add_func ("/workbook/sign", test_sign);
  g_test_add_func ("/workbook/elsewhere", test_elsewhere);
  g_test_add_func ("/workbook/refused", test_refused);
  g_test_add_func ("/workbook/harmed", test_harmed);
  g_test_add_func ("/workbook/sheets", test_sheets);
  return g_test_run ();
}
