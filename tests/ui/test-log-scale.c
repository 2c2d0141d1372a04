/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/qm-format.h"
#include "tests/ui/widgets.h"
#include "ui/qm-log-scale.h"

#include <math.h>

static QmLogScale *
new_budget (void)
{
  QmLogScale *scale =
      g_object_new (QM_TYPE_LOG_SCALE, "title", "Budget", "kind",
                    QM_LOG_SCALE_MONEY, "lower", 1000.0, "upper", 1000000.0,
                    "default-value", 40000.0, "value", 40000.0, NULL);

  return g_object_ref_sink (scale);
}

static QmLogScale *
new_deadline (void)
{
  QmLogScale *scale =
      g_object_new (QM_TYPE_LOG_SCALE, "title", "Deadline", "kind",
                    QM_LOG_SCALE_DAYS, "optional", TRUE, "lower", 1.0, "upper",
                    10000.0, "default-value", 0.0, "start-value", 60.0, NULL);

  return g_object_ref_sink (scale);
}

static GtkEditable *
entry_of (QmLogScale *scale)
{
  return widgets_find (scale, GTK_TYPE_ENTRY, 0);
}

static GtkRange *
range_of (QmLogScale *scale)
{
  return widgets_find (scale, GTK_TYPE_SCALE, 0);
}

static GtkWidget *
reset_of (QmLogScale *scale)
{
  return widgets_find_button (scale, "Reset to the default");
}

static void
assert_shows (QmLogScale *scale, double value)
{
  g_autofree char *text = qm_format_money (value, "USD", FALSE);

  g_assert_cmpfloat (widgets_get_double (scale, "value"), ==, value);
  g_assert_cmpfloat_with_epsilon (gtk_range_get_value (range_of (scale)),
                                  log10 (value), 1e-9);
  g_assert_cmpstr (gtk_editable_get_text (entry_of (scale)), ==, text);
  gtk_test_accessible_assert_property (GTK_ACCESSIBLE (range_of (scale)),
                                       GTK_ACCESSIBLE_PROPERTY_VALUE_TEXT,
                                       text);
}

static void
test_snap (void)
{
  static const struct
  {
    double value, snapped;
    QmLogScaleKind kind;
  } cases[] = {
    { 1000, 1000, QM_LOG_SCALE_MONEY },    { 1234, 1240, QM_LOG_SCALE_MONEY },
    { 1999, 2000, QM_LOG_SCALE_MONEY },    { 2026, 2050, QM_LOG_SCALE_MONEY },
    { 40321, 40500, QM_LOG_SCALE_MONEY },  { 51499, 51000, QM_LOG_SCALE_MONEY },
    { 99960, 100000, QM_LOG_SCALE_MONEY }, { 1e6, 1e6, QM_LOG_SCALE_MONEY },
    { 1.2, 1, QM_LOG_SCALE_DAYS },         { 7.6, 8, QM_LOG_SCALE_DAYS },
    { 61.3, 61, QM_LOG_SCALE_DAYS },       { 123.4, 124, QM_LOG_SCALE_DAYS },
    { 6543, 6500, QM_LOG_SCALE_DAYS },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpfloat_with_epsilon (qm_log_scale_snap (cases[i].value,
                                                       cases[i].kind),
                                    cases[i].snapped, 1e-6);
}

static void
test_step (void)
{
  double up = 1000, days = 1;

  for (guint i = 0; i < 300; i++)
    {
      double next = qm_log_scale_step (up, QM_LOG_SCALE_MONEY, 1);

      g_assert_cmpfloat (next, >, up);
      g_assert_cmpfloat (next, <=, up * 1.045);
      g_assert_cmpfloat (qm_log_scale_step (next, QM_LOG_SCALE_MONEY, -1), <,
                         next);
      up = next;
    }
  g_assert_cmpfloat (up, >, 100000);

  for (guint i = 0; i < 50; i++)
    {
      double next = qm_log_scale_step (days, QM_LOG_SCALE_DAYS, 1);

      g_assert_cmpfloat (next, ==, days + 1);
      g_assert_cmpfloat (qm_log_scale_step (next, QM_LOG_SCALE_DAYS, -1), ==,
                         days);
      days = next;
    }
}

static void
test_value (void)
{
  QmLogScale *scale = new_budget ();
  guint notified;

  widgets_count_notify (scale, "value", &notified);
  assert_shows (scale, 40000);

  qm_log_scale_set_value (scale, 12345);
  assert_shows (scale, 12345);
  g_assert_cmpuint (notified, ==, 1);

  qm_log_scale_set_value (scale, 12345);
  g_assert_cmpuint (notified, ==, 1);

  qm_log_scale_set_value (scale, 5);
  assert_shows (scale, 1000);
  qm_log_scale_set_value (scale, 1e9);
  assert_shows (scale, 1e6);
  g_assert_cmpuint (notified, ==, 3);

  widgets_finalize (scale);
}

static void
test_slider (void)
{
  QmLogScale *scale = new_budget ();
  guint notified;

  widgets_count_notify (scale, "value", &notified);

  gtk_range_set_value (range_of (scale), log10 (20010));
  assert_shows (scale, 20000);
  g_assert_cmpuint (notified, ==, 1);

  /* Within the same rounded value the slider goes back to it. */
  gtk_range_set_value (range_of (scale), log10 (20020));
  assert_shows (scale, 20000);
  g_assert_cmpuint (notified, ==, 1);

  g_signal_emit_by_name (range_of (scale), "move-slider",
                         GTK_SCROLL_STEP_FORWARD);
  assert_shows (scale, 20500);
  g_signal_emit_by_name (range_of (scale), "move-slider",
                         GTK_SCROLL_STEP_BACKWARD);
  assert_shows (scale, 20000);
  g_signal_emit_by_name (range_of (scale), "move-slider",
                         GTK_SCROLL_PAGE_FORWARD);
  assert_shows (scale, 25000);
  g_signal_emit_by_name (range_of (scale), "move-slider", GTK_SCROLL_START);
  assert_shows (scale, 1000);
  g_signal_emit_by_name (range_of (scale), "move-slider",
                         GTK_SCROLL_STEP_BACKWARD);
  assert_shows (scale, 1000);
  g_signal_emit_by_name (range_of (scale), "move-slider", GTK_SCROLL_END);
  assert_shows (scale, 1e6);
  g_assert_cmpuint (notified, ==, 6);

  widgets_finalize (scale);
}

static void
test_entry (void)
{
  QmLogScale *scale = new_budget ();
  GtkEditable *entry = entry_of (scale);
  guint notified;

  widgets_count_notify (scale, "value", &notified);

  gtk_editable_set_text (entry, "50k");
  g_signal_emit_by_name (entry, "activate");
  assert_shows (scale, 50000);
  g_assert_cmpuint (notified, ==, 1);

  /* While it is typed a text stays as it is, but counts already. */
  gtk_editable_set_text (entry, "72345");
  g_assert_cmpfloat (widgets_get_double (scale, "value"), ==, 72345);
  g_assert_cmpstr (gtk_editable_get_text (entry), ==, "72345");
  g_signal_emit_by_name (entry, "activate");
  assert_shows (scale, 72345);

  gtk_editable_set_text (entry, "$1,500");
  g_signal_emit_by_name (entry, "activate");
  assert_shows (scale, 1500);
  g_assert_cmpuint (notified, ==, 3);

  widgets_finalize (scale);
}

static void
test_invalid_entry (void)
{
  static const char *const bad[] = { "",      "abc",  "-5",  "5",      "1e400",
                                     "10;20", "40kk", "nan", "2000000" };
  QmLogScale *scale = new_budget ();
  GtkEditable *entry = entry_of (scale);
  guint notified;

  widgets_count_notify (scale, "value", &notified);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      gtk_editable_set_text (entry, bad[i]);
      g_signal_emit_by_name (entry, "activate");
      g_assert_cmpfloat (widgets_get_double (scale, "value"), ==, 40000);
      g_assert_true (gtk_widget_has_css_class (GTK_WIDGET (entry), "error"));
      g_assert_nonnull (gtk_widget_get_tooltip_text (GTK_WIDGET (entry)));
      gtk_test_accessible_assert_state (GTK_ACCESSIBLE (entry),
                                        GTK_ACCESSIBLE_STATE_INVALID,
                                        GTK_ACCESSIBLE_INVALID_TRUE);
    }
  g_assert_cmpuint (notified, ==, 0);

  gtk_range_set_value (range_of (scale), log10 (3000));
  assert_shows (scale, 3000);
  g_assert_false (gtk_widget_has_css_class (GTK_WIDGET (entry), "error"));
  g_assert_null (gtk_widget_get_tooltip_text (GTK_WIDGET (entry)));

  widgets_finalize (scale);
}

static void
test_optional (void)
{
  QmLogScale *scale = new_deadline ();
  GtkSwitch *toggle = widgets_find (scale, GTK_TYPE_SWITCH, 0);
  guint notified;

  widgets_count_notify (scale, "value", &notified);
  g_assert_cmpfloat (widgets_get_double (scale, "value"), ==, 0);
  g_assert_false (gtk_switch_get_active (toggle));
  g_assert_false (gtk_widget_get_visible (GTK_WIDGET (range_of (scale))));
  g_assert_false (gtk_widget_get_visible (reset_of (scale)));

  gtk_switch_set_active (toggle, TRUE);
  g_assert_cmpfloat (widgets_get_double (scale, "value"), ==, 60);
  g_assert_true (gtk_widget_get_visible (GTK_WIDGET (range_of (scale))));
  g_assert_cmpstr (gtk_editable_get_text (entry_of (scale)), ==, "60");

  gtk_editable_set_text (entry_of (scale), "90 days");
  g_signal_emit_by_name (entry_of (scale), "activate");
  g_assert_cmpfloat (widgets_get_double (scale, "value"), ==, 90);
  g_assert_cmpstr (gtk_editable_get_text (entry_of (scale)), ==, "90");

  qm_log_scale_set_value (scale, 0);
  g_assert_false (gtk_switch_get_active (toggle));
  gtk_switch_set_active (toggle, TRUE);
  g_assert_cmpfloat (widgets_get_double (scale, "value"), ==, 90);
  g_assert_cmpuint (notified, ==, 4);

  widgets_finalize (scale);
}

static void
test_reset (void)
{
  QmLogScale *budget = new_budget ();
  QmLogScale *deadline = new_deadline ();

  g_assert_false (gtk_widget_get_visible (reset_of (budget)));
  qm_log_scale_set_value (budget, 41000);
  g_assert_true (gtk_widget_get_visible (reset_of (budget)));
  g_signal_emit_by_name (reset_of (budget), "clicked");
  assert_shows (budget, 40000);
  g_assert_false (gtk_widget_get_visible (reset_of (budget)));

  qm_log_scale_set_value (deadline, 30);
  g_signal_emit_by_name (reset_of (deadline), "clicked");
  g_assert_cmpfloat (widgets_get_double (deadline, "value"), ==, 0);

  widgets_finalize (budget);
  widgets_finalize (deadline);
}

int
main (int argc, char **argv)
{
  widgets_init (&argc, &argv);
  g_test_add_func ("/log-scale/snap", test_snap);
  g_test_add_func ("/log-scale/step", test_step);
  g_test_add_func ("/log-scale/value", test_value);
  g_test_add_func ("/log-scale/slider", test_slider);
  g_test_add_func ("/log-scale/entry", test_entry);
  g_test_add_func ("/log-scale/invalid-entry", test_invalid_entry);
  g_test_add_func ("/log-scale/optional", test_optional);
  g_test_add_func ("/log-scale/reset", test_reset);

  return g_test_run ();
}
