/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "tests/ui/widgets.h"
#include "ui/qm-field-row.h"

#include <locale.h>
#include <math.h>

static QmFieldRow *row;

/* Whether it is marked as wrong, with a sentence that says why. */
static gboolean
is_wrong (void)
{
  gboolean wrong = gtk_widget_has_css_class (GTK_WIDGET (row), "qm-wrong");
  const char *subtitle = adw_action_row_get_subtitle (ADW_ACTION_ROW (row));

  g_assert_true (!wrong || (subtitle != NULL && *subtitle != '\0'));
  return wrong;
}

static gboolean
whole (const char *text, gint64 *value)
{
  qm_field_row_set_text (row, text);
  return qm_field_row_read_whole (row, 1, 1000000, value);
}

static gboolean
number (const char *text, gboolean optional, double *value)
{
  qm_field_row_set_text (row, text);
  return qm_field_row_read_number (row, 0, 10, optional, value);
}

static void
test_whole (void)
{
  static const char *const bad[] = { "",      "0",   "-3",  "1.5",  "1,5",
                                     "1.000", "2M",  "x",   "1e3e", "k",
                                     "inf",   "0x1", "1e-1" };
  gint64 value;

  g_assert_true (whole ("143 000", &value));
  g_assert_cmpint (value, ==, 143000);
  g_assert_true (whole ("2k", &value));
  g_assert_cmpint (value, ==, 2000);
  g_assert_true (whole ("1e6", &value));
  g_assert_cmpint (value, ==, 1000000);
  g_assert_false (is_wrong ());
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_assert_false (whole (bad[i], &value));
      g_assert_true (is_wrong ());
    }
}

static void
test_number (void)
{
  double value;

  g_assert_true (number ("3e-4", FALSE, &value));
  g_assert_cmpfloat (value, ==, 3e-4);
  g_assert_true (number (" 0.5 ", FALSE, &value));
  g_assert_cmpfloat (value, ==, 0.5);
  g_assert_true (number ("", TRUE, &value));
  g_assert_true (isnan (value));
  g_assert_false (number ("", FALSE, &value));
  g_assert_false (number ("11", FALSE, &value));
  g_assert_false (number ("nan", TRUE, &value));
  g_assert_false (number ("0.5.5", FALSE, &value));
}

static void
test_written (void)
{
  const double values[] = { 3e-4, 0.95, 1.0 / 3, 1024, 1e-8, 300e9 };
  double value;

  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    {
      qm_field_row_set_number (row, values[i]);
      g_assert_true (qm_field_row_read_number (row, 0, 1e12, FALSE, &value));
      g_assert_cmpfloat (value, ==, values[i]);
    }
  qm_field_row_set_number (row, NAN);
  g_assert_cmpstr (qm_field_row_get_text (row), ==, "");
}

static void
test_comma (void)
{
  double value;

  if (setlocale (LC_NUMERIC, "de_DE.UTF-8") == NULL)
    {
      g_test_skip ("no German locale");
      return;
    }
  g_assert_true (number ("0,5", FALSE, &value));
  g_assert_cmpfloat (value, ==, 0.5);
  g_assert_true (number ("0.5", FALSE, &value));
  g_assert_cmpfloat (value, ==, 0.5);
  g_assert_false (number ("1.000,5", FALSE, &value));
  test_written ();
  setlocale (LC_NUMERIC, "C");
  g_assert_false (number ("0,5", FALSE, &value));
}

int
main (int argc, char **argv)
{
  int status;

  widgets_init (&argc, &argv);
  row = g_object_ref_sink (QM_FIELD_ROW (qm_field_row_new ("Title", "Hint")));
  g_test_add_func ("/field-row/whole", test_whole);
  g_test_add_func ("/field-row/number", test_number);
  g_test_add_func ("/field-row/written", test_written);
  g_test_add_func ("/field-row/comma", test_comma);
  status = g_test_run ();
  widgets_finalize (row);
  return status;
}
