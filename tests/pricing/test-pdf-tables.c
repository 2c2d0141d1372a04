/* SPDX-License-Identifier: Apache-2.0 */

/* Tables of tests/pricing/procurement, drawn as programs that print offers draw
 * them: each comes to what a person reads off it, or to a question.  Each table
 * in one layout, or with QM_TEST_FULL in all. */

#include "tests/pricing/pdf-maker.h"
#include "tests/pricing/procurement.h"

/* So many layouts besides those that have a name. */
#define BY_CHANCE 20

typedef struct
{
  const char *file;
  PdfLayout layout;
} Drawing;

static GBytes *
draw (const Drawing *drawing)
{
  g_autoptr (QmCsvMapping) mapping = NULL;
  g_autoptr (QmSheet) sheet =
      procurement_sheet (drawing->file, QM_CSV_DESCRIPTION, &mapping);

  if (sheet == NULL)
    return NULL;
  return pdf_draw_table (&drawing->layout, sheet, mapping);
}

/* Where rows are as close as the lines of a head, one in two languages cannot
 * be told from them: its currency is asked. */
static gboolean
is_asked (const char *file, const PdfLayout *layout)
{
  return layout->above < 1 && g_str_has_prefix (file, "ch-zweisprachig");
}

/* Whether columns of it stand so close that they are asked about. */
static gboolean
is_merged (const char *file, GBytes *bytes)
{
  return g_str_has_prefix (file, "ch-zweisprachig")
         && procurement_asks_columns (file, bytes);
}

static void
test_drawing (gconstpointer data)
{
  const Drawing *drawing = data;
  g_autoptr (GBytes) bytes = draw (drawing);
  g_autofree char *program = g_find_program_in_path ("pdftotext");

  procurement_keep ("QM_KEEP_PDF", bytes);
  if (bytes == NULL)
    g_test_skip ("it is no table with a head that is known");
  else if (program == NULL)
    g_test_skip ("there is no pdftotext");
  else if (!is_merged (drawing->file, bytes))
    procurement_check (drawing->file, bytes);
}

static void
add_drawing (const char *file, const PdfLayout *layout, guint number)
{
  Drawing *drawing = g_new0 (Drawing, 1);
  g_autofree char *path =
      g_strdup_printf ("/pdf/%s-%u/%s", layout->name, number, file);

  drawing->file = file;
  drawing->layout = *layout;
  g_test_add_data_func_full (path, drawing, test_drawing, g_free);
}

int
main (int argc, char **argv)
{
  static const char *const endings[] = { ".csv", NULL };
  g_autoptr (GPtrArray) names = NULL;
  gboolean full = g_getenv ("QM_TEST_FULL") != NULL;
  int result;

  g_test_init (&argc, &argv, NULL);
  procurement_begin ();
  names = procurement_files (endings);
  for (guint i = 0; i < names->len; i++)
    {
      const char *file = g_ptr_array_index (names, i);

      for (guint j = 0; j < pdf_n_layouts; j++)
        if (procurement_takes (file, j, pdf_n_layouts)
            && !is_asked (file, &pdf_layouts[j]))
          add_drawing (file, &pdf_layouts[j], j);
      for (guint j = 0; full && j < BY_CHANCE; j++)
        {
          PdfLayout layout;

          pdf_layout_by_chance (j, &layout);
          add_drawing (file, &layout, j);
        }
    }
  result = g_test_run ();
  procurement_end ();
  return result;
}
