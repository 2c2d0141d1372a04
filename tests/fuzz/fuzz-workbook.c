/* SPDX-License-Identifier: Apache-2.0 */

/* Workbooks: 'z' and an archive, or the name of a part and what is in it, in an
 * archive that is well. */

#include "pricing/formats/qm-sheet.h"
#include "pricing/formats/qm-workbook.h"
#include "pricing/quotes/qm-quote-read.h"
#include "tests/fuzz/fuzz-quotes.h"
#include "tests/pricing/zip-maker.h"

#define MAIN "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
#define LINKS \
  "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
#define TYPES "http://schemas.openxmlformats.org/package/2006/relationships"

static const char workbook[] =
    "<workbook xmlns='" MAIN "' xmlns:r='" LINKS "'><sheets>"
    "<sheet name='A' sheetId='1' r:id='a'/></sheets></workbook>";
static const char links[] =
    "<Relationships xmlns='" TYPES "'>"
    "<Relationship Id='a' Type='" LINKS "/worksheet' Target='a.xml'/>"
    "<Relationship Id='s' Type='" LINKS "/sharedStrings' Target='s.xml'/>"
    "<Relationship Id='t' Type='" LINKS "/styles' Target='t.xml'/>"
    "</Relationships>";
static const char sheet[] =
    "<worksheet xmlns='" MAIN "'><sheetData><row><c s='0'><v>46100</v></c>"
    "<c t='s'><v>0</v></c><c "
    "s='1'><v>0.5</v></c></row></sheetData></worksheet>";
static const char strings[] = "<sst xmlns='" MAIN "'><si><t>x</t></si></sst>";
static const char styles[] = "<styleSheet xmlns='" MAIN "'><cellXfs>"
                             "<xf numFmtId='14'/><xf numFmtId='9'/></cellXfs>"
                             "</styleSheet>";

static GBytes *
make (char part, const char *data, size_t size)
{
  ZipPart xlsx[] = { { "[Content_Types].xml", "<Types/>", -1, 0, FALSE },
                     { "xl/workbook.xml", workbook, -1, 0, FALSE },
                     { "xl/_rels/workbook.xml.rels", links, -1, 0, FALSE },
                     { "xl/a.xml", sheet, -1, 0, FALSE },
                     { "xl/s.xml", strings, -1, 0, FALSE },
                     { "xl/t.xml", styles, -1, 0, FALSE } };
  ZipPart ods[] = { { "mimetype",
                      "application/vnd.oasis.opendocument.spreadsheet", -1, 0,
                      FALSE },
                    { "content.xml", data, (gssize) size, 0, FALSE } };
  const char order[] = " wrast";

  if (part == 'o')
    return zip_make (ods, G_N_ELEMENTS (ods));
  for (guint i = 1; i < G_N_ELEMENTS (xlsx); i++)
    if (part == order[i])
      {
        xlsx[i].data = data;
        xlsx[i].size = (gssize) size;
      }
  return zip_make (xlsx, G_N_ELEMENTS (xlsx));
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  const char *rest = (const char *) data + 1;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GPtrArray) sheets = NULL;
  g_autoptr (GError) error = NULL;
  const char *archive;
  gsize length;

  if (size < 1)
    return 0;
  bytes = data[0] == 'z' ? g_bytes_new (rest, size - 1)
                         : make ((char) data[0], rest, size - 1);
  archive = g_bytes_get_data (bytes, &length);
  sheets =
      qm_workbook_read (archive != NULL ? archive : "", length, NULL, &error);
  require ((sheets == NULL) == (error != NULL));
  require (error == NULL || error->domain == QM_READ_ERROR);
  for (guint i = 0; sheets != NULL && i < sheets->len; i++)
    {
      g_autoptr (GBytes) table =
          qm_cells_to_csv (g_ptr_array_index (sheets, i));
      gsize n;
      const char *text = g_bytes_get_data (table, &n);
      g_autofree char *whole = g_strndup (text, n);
      g_autoptr (QmSheet) rows = qm_sheet_new (whole, n, ';', 0, NULL, NULL);

      /* It can be told apart again. */
      require (rows != NULL && g_utf8_validate (text, (gssize) n, NULL));
    }
  return 0;
}
