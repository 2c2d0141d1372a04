/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "tests/ui/widgets.h"
#include "ui/advisor/qm-use-row.h"
#include "ui/advisor/qm-uses-editor.h"

#include <math.h>
#include <string.h>

typedef struct
{
  QmAdvisor *advisor;
  QmUsesEditor *editor;
  GtkWidget *window; /* without one, actions are nowhere */
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->advisor = qm_advisor_new (widgets_catalog ());
  g_object_set (fixture->advisor, "measured-only", TRUE, NULL);
  fixture->editor =
      g_object_ref_sink (g_object_new (QM_TYPE_USES_EDITOR, NULL));
  qm_uses_editor_set_advisor (fixture->editor, fixture->advisor);
  fixture->window = gtk_window_new ();
  gtk_window_set_child (GTK_WINDOW (fixture->window),
                        GTK_WIDGET (fixture->editor));
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  gtk_window_destroy (GTK_WINDOW (fixture->window));
  widgets_finalize (fixture->editor);
  g_assert_finalize_object (fixture->advisor);
}

static void
act (Fixture *fixture, const char *action)
{
  gtk_widget_activate_action (GTK_WIDGET (fixture->editor), action, NULL);
}

static guint
count_rows (Fixture *fixture)
{
  return widgets_count_visible (fixture->editor, QM_TYPE_USE_ROW);
}

static QmUseRow *
row_at (Fixture *fixture, guint index)
{
  return widgets_find (fixture->editor, QM_TYPE_USE_ROW, index);
}

/* The numbers of a row, as they stand below one another. */
enum
{
  GPUS,
  HOUR,
  WALLTIME
};

static GtkSpinButton *
spin_at (Fixture *fixture, guint index, guint which)
{
  return widgets_find (row_at (fixture, index), GTK_TYPE_SPIN_BUTTON, which);
}

static const char *
text_at (Fixture *fixture, guint index, guint which)
{
  return gtk_editable_get_text (GTK_EDITABLE (spin_at (fixture, index, which)));
}

/* Types into a number, and goes on to the next thing. */
static void
type_at (Fixture *fixture, guint index, guint which, const char *text)
{
  GtkSpinButton *spin = spin_at (fixture, index, which);

  gtk_editable_set_text (GTK_EDITABLE (spin), text);
  gtk_spin_button_update (spin);
}

/* What the advisor has, which the row shows, too. */
static void
assert_use (Fixture *fixture, guint index, const QmUse *expected)
{
  const QmUse *use = qm_advisor_get_use (fixture->advisor, index);
  QmUse shown;

  g_assert_cmpstr (use->gpu, ==, expected->gpu);
  g_assert_cmpint (use->gpus, ==, expected->gpus);
  g_assert_cmpint (use->hour_micros, ==, expected->hour_micros);
  g_assert_true (qm_use_equal (use, expected));
  qm_use_row_get (row_at (fixture, index), &shown);
  g_assert_true (qm_use_equal (&shown, expected));
}

static void
assert_named (gpointer widget, const char *name)
{
  g_autofree char *problem =
      gtk_test_accessible_check_property (GTK_ACCESSIBLE (widget),
                                          GTK_ACCESSIBLE_PROPERTY_LABEL, name);

  g_assert_cmpstr (problem, ==, NULL);
}

static void
test_add (Fixture *fixture, gconstpointer data)
{
  const QmUse *first, *second;

  g_assert_cmpuint (count_rows (fixture), ==, 0);
  act (fixture, "uses.add");
  act (fixture, "uses.add");
  g_assert_cmpuint (count_rows (fixture), ==, 2);
  g_assert_cmpuint (qm_advisor_get_n_uses (fixture->advisor), ==, 2);

  /* One GPU that costs nothing and is there as long as it takes, each another
   * one of which something is known. */
  first = qm_advisor_get_use (fixture->advisor, 0);
  second = qm_advisor_get_use (fixture->advisor, 1);
  g_assert_cmpstr (first->gpu, ==, "rtx3090");
  g_assert_cmpstr (second->gpu, ==, "a6000");
  g_assert_cmpint (first->gpus, ==, 1);
  g_assert_cmpint (first->hour_micros, ==, 0);
  g_assert_false (qm_known (first->walltime_hours));
  g_assert_cmpstr (text_at (fixture, 0, GPUS), ==, "1");
  g_assert_cmpstr (text_at (fixture, 0, HOUR), ==, "0");
  g_assert_cmpstr (text_at (fixture, 0, WALLTIME), ==, "");
}

static void
count_cb (guint *count)
{
  (*count)++;
}

static void
test_change (Fixture *fixture, gconstpointer data)
{
  QmUse expected = { (char *) "rtx3090", 12, 1500000, 24 };
  guint rebuilt = 0;
  QmUseRow *row;
  size_t n;

  act (fixture, "uses.add");
  widgets_settle ();
  row = row_at (fixture, 0);
  assert_named (row, "1 × GeForce RTX 3090 to use");
  g_signal_connect_swapped (fixture->advisor, "rebuilt", G_CALLBACK (count_cb),
                            &rebuilt);
  type_at (fixture, 0, GPUS, "12");
  widgets_settle ();
  g_assert_cmpuint (rebuilt, ==, 1);
  type_at (fixture, 0, HOUR, "1.5");
  type_at (fixture, 0, WALLTIME, "24");
  widgets_settle ();
  g_assert_cmpuint (rebuilt, ==, 2);
  assert_use (fixture, 0, &expected);
  g_assert_cmpstr (text_at (fixture, 0, HOUR), ==, "1.50");
  g_assert_cmpstr (text_at (fixture, 0, WALLTIME), ==, "24");

  gtk_drop_down_set_selected (widgets_find (row, GTK_TYPE_DROP_DOWN, 0), 1);
  widgets_settle ();
  expected.gpu = (char *) qm_catalog_gpus (widgets_catalog (), &n)[1].id;
  assert_use (fixture, 0, &expected);

  /* No row was made anew under the user's hands. */
  g_assert_true (row_at (fixture, 0) == row);

  /* Nothing is as many hours as it takes. */
  type_at (fixture, 0, WALLTIME, "");
  expected.walltime_hours = NAN;
  assert_use (fixture, 0, &expected);
}

/* What is shown is what counts, to the last digit; what makes no sense does
 * not. */
static void
test_limits (Fixture *fixture, gconstpointer data)
{
  QmUse expected = { (char *) "rtx3090", QM_USE_GPUS_MAX,
                     QM_USE_HOUR_MAX * (gint64) QM_MICROS_PER_UNIT,
                     QM_USE_WALLTIME_MAX };

  act (fixture, "uses.add");
  type_at (fixture, 0, GPUS, "999999");
  type_at (fixture, 0, HOUR, "999999");
  type_at (fixture, 0, WALLTIME, "99999999");
  assert_use (fixture, 0, &expected);
  type_at (fixture, 0, GPUS, "0");
  type_at (fixture, 0, HOUR, "-1");
  type_at (fixture, 0, WALLTIME, "-24");
  expected = (QmUse){ (char *) "rtx3090", 1, 0, NAN };
  assert_use (fixture, 0, &expected);
  type_at (fixture, 0, HOUR, "0.000001");
  expected.hour_micros = 1;
  assert_use (fixture, 0, &expected);
  g_assert_cmpstr (text_at (fixture, 0, HOUR), ==, "0.000001");
  type_at (fixture, 0, HOUR, "0.0625");
  g_assert_cmpstr (text_at (fixture, 0, HOUR), ==, "0.0625");
  type_at (fixture, 0, HOUR, "9999.999999");
  expected.hour_micros = 9999999999;
  assert_use (fixture, 0, &expected);
  g_assert_cmpstr (text_at (fixture, 0, HOUR), ==, "9999.999999");
  /* Less than the least that there is. */
  type_at (fixture, 0, WALLTIME, "0.001");
  g_assert_cmpstr (text_at (fixture, 0, WALLTIME), ==, "");
  assert_use (fixture, 0, &expected);
  type_at (fixture, 0, WALLTIME, "0.01");
  expected.walltime_hours = QM_USE_WALLTIME_MIN;
  assert_use (fixture, 0, &expected);
}

/* There may be so many, and no more. */
static void
test_many (Fixture *fixture, gconstpointer data)
{
  GtkWidget *add = widgets_find (fixture->editor, ADW_TYPE_ACTION_ROW, 0);

  for (guint i = 0; i < QM_USES_MAX; i++)
    {
      g_assert_true (gtk_widget_get_sensitive (add));
      act (fixture, "uses.add");
    }
  g_assert_cmpuint (count_rows (fixture), ==, QM_USES_MAX);
  g_assert_false (gtk_widget_get_sensitive (add));
  act (fixture, "uses.add");
  g_assert_cmpuint (count_rows (fixture), ==, QM_USES_MAX);

  gtk_widget_activate_action (GTK_WIDGET (row_at (fixture, 3)), "use.remove",
                              NULL);
  g_assert_cmpuint (count_rows (fixture), ==, QM_USES_MAX - 1);
  g_assert_true (gtk_widget_get_sensitive (add));
}

static void
test_remove (Fixture *fixture, gconstpointer data)
{
  g_autofree char *second = NULL;
  GtkWidget *button;

  act (fixture, "uses.add");
  act (fixture, "uses.add");
  second = g_strdup (qm_advisor_get_use (fixture->advisor, 1)->gpu);
  button = widgets_find_button (row_at (fixture, 0), "Remove");
  assert_named (button, "Remove: 1 × GeForce RTX 3090 to use");
  g_signal_emit_by_name (button, "clicked");
  widgets_settle ();
  g_assert_cmpuint (count_rows (fixture), ==, 1);
  g_assert_cmpuint (qm_advisor_get_n_uses (fixture->advisor), ==, 1);
  g_assert_cmpstr (qm_advisor_get_use (fixture->advisor, 0)->gpu, ==, second);
}

static gboolean
says_unknown (Fixture *fixture, guint index)
{
  QmUseRow *row = row_at (fixture, index);
  guint n = widgets_count (row, GTK_TYPE_LABEL);

  for (guint i = 0; i < n; i++)
    {
      GtkWidget *label = widgets_find (row, GTK_TYPE_LABEL, i);

      if (g_str_has_prefix (gtk_label_get_text (GTK_LABEL (label)),
                            "No time on them"))
        return gtk_widget_get_visible (label);
    }
  g_assert_not_reached ();
}

static void
test_advisor_changes (Fixture *fixture, gconstpointer data)
{
  QmUse known = { (char *) "a6000", 4, 0, NAN };
  QmUse unknown = { (char *) "mi300x", 3, 62500, 0.5 };

  qm_advisor_add_use (fixture->advisor, &known);
  qm_advisor_add_use (fixture->advisor, &unknown);
  widgets_settle ();
  g_assert_cmpuint (count_rows (fixture), ==, 2);
  assert_use (fixture, 0, &known);
  assert_use (fixture, 1, &unknown);
  g_assert_cmpstr (text_at (fixture, 1, WALLTIME), ==, "0.5");
  g_assert_false (says_unknown (fixture, 0));
  g_assert_true (says_unknown (fixture, 1));

  qm_advisor_set_use (fixture->advisor, 1, &known);
  widgets_settle ();
  assert_use (fixture, 1, &known);
  g_assert_false (says_unknown (fixture, 1));

  qm_advisor_reset (fixture->advisor);
  widgets_settle ();
  g_assert_cmpuint (count_rows (fixture), ==, 0);
}

/* What is added is compared, and never recommended. */
static void
test_never_recommended (Fixture *fixture, gconstpointer data)
{
  QmUse free_ones = { (char *) "h100-80gb-sxm", 8, 0, NAN };
  int best = qm_advisor_get_recommendation (fixture->advisor, 0)->best;
  const QmCandidate *candidates;
  guint n, before, uses = 0;

  qm_advice_candidates (qm_advisor_get_advice (fixture->advisor, 0), &before);
  qm_advisor_add_use (fixture->advisor, &free_ones);
  candidates =
      qm_advice_candidates (qm_advisor_get_advice (fixture->advisor, 0), &n);
  g_assert_cmpuint (n, ==, before + 1);
  for (guint i = 0; i < n; i++)
    uses += candidates[i].use != NULL;
  g_assert_cmpuint (uses, ==, 1);
  g_assert_cmpint (qm_advisor_get_recommendation (fixture->advisor, 0)->best,
                   ==, best);
  g_assert_null (candidates[best].use);
}

static void
test_reset (Fixture *fixture, gconstpointer data)
{
  GtkWidget *reset =
      widgets_find_button (fixture->editor, "Forget the GPUs to use");

  g_assert_false (gtk_widget_get_visible (reset));
  act (fixture, "uses.add");
  act (fixture, "uses.add");
  g_assert_true (gtk_widget_get_visible (reset));
  g_signal_emit_by_name (reset, "clicked");
  g_assert_false (gtk_widget_get_visible (reset));
  g_assert_cmpuint (count_rows (fixture), ==, 0);
  g_assert_cmpuint (qm_advisor_get_n_uses (fixture->advisor), ==, 0);
}

/* The numbers fit into the panel whatever the GPU is called. */
static void
test_narrow (Fixture *fixture, gconstpointer data)
{
  QmUse use = { (char *) "rtxpro6000-ws", 1024, 9999999999, 1e6 };
  int least;

  qm_advisor_add_use (fixture->advisor, &use);
  widgets_settle ();
  gtk_widget_measure (GTK_WIDGET (fixture->editor), GTK_ORIENTATION_HORIZONTAL,
                      -1, &least, NULL, NULL, NULL);
  g_assert_cmpint (least, <=, 316);
}

/* Both hold the same. */
static void
assert_same_uses (QmAdvisor *a, QmAdvisor *b)
{
  g_assert_cmpuint (qm_advisor_get_n_uses (a), ==, qm_advisor_get_n_uses (b));
  for (guint i = 0; i < qm_advisor_get_n_uses (a); i++)
    g_assert_true (
        qm_use_equal (qm_advisor_get_use (a, i), qm_advisor_get_use (b, i)));
}

static void
test_kept (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GSettings) settings = g_settings_new (QM_APP_ID);
  QmAdvisor *next = qm_advisor_new (widgets_catalog ());
  QmAdvisor *other = qm_advisor_new (widgets_catalog ());
  QmUse use = { (char *) "a6000", 1024, 9999999999, 0.01 };

  qm_advisor_add_use (fixture->advisor, &use);
  use = (QmUse){ (char *) "rtx3090", 1, 0, NAN };
  qm_advisor_add_use (fixture->advisor, &use);
  use = (QmUse){ (char *) "rtx3090", 1, 1, 1e6 };
  qm_advisor_add_use (fixture->advisor, &use);
  qm_advisor_save (fixture->advisor, settings);
  qm_advisor_restore (next, settings);
  assert_same_uses (next, fixture->advisor);
  qm_advisor_restore (next, settings);
  assert_same_uses (next, fixture->advisor);
  qm_advisor_ask_like (other, fixture->advisor);
  assert_same_uses (other, fixture->advisor);
  g_settings_reset (settings, "uses");
  qm_advisor_restore (next, settings);
  g_assert_cmpuint (qm_advisor_get_n_uses (next), ==, 0);
  g_assert_finalize_object (next);
  g_assert_finalize_object (other);
}

/* Anybody can write anything into the settings. */
static void
test_hostile_settings (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    const char *gpu;
    int gpus;
    double hour, walltime;
  } bad[] = {
    { "", 1, 0, 0 },
    { "no-such-gpu", 1, 0, 0 },
    { "rtx3090", 0, 0, 0 },
    { "rtx3090", -4, 0, 0 },
    { "rtx3090", QM_USE_GPUS_MAX + 1, 0, 0 },
    { "rtx3090", G_MAXINT, 0, 0 },
    { "rtx3090", 1, -0.01, 0 },
    { "rtx3090", 1, QM_USE_HOUR_MAX + 0.01, 0 },
    { "rtx3090", 1, NAN, 0 },
    { "rtx3090", 1, INFINITY, 0 },
    { "rtx3090", 1, 0, -1 },
    { "rtx3090", 1, 0, QM_USE_WALLTIME_MIN / 2 },
    { "rtx3090", 1, 0, QM_USE_WALLTIME_MAX * 2 },
    { "rtx3090", 1, 0, NAN },
    { "rtx3090", 1, 0, -INFINITY },
  };
  g_autoptr (GSettings) settings = g_settings_new (QM_APP_ID);
  GVariantBuilder uses;

  g_variant_builder_init (&uses, G_VARIANT_TYPE ("a(sidd)"));
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    g_variant_builder_add (&uses, "(sidd)", bad[i].gpu, bad[i].gpus,
                           bad[i].hour, bad[i].walltime);
  g_variant_builder_add (&uses, "(sidd)", "a6000", 4, 0.5, 24.0);
  g_settings_set_value (settings, "uses", g_variant_builder_end (&uses));
  qm_advisor_restore (fixture->advisor, settings);
  widgets_settle ();
  g_assert_cmpuint (count_rows (fixture), ==, 1);
  assert_use (fixture, 0, &(QmUse){ (char *) "a6000", 4, 500000, 24 });

  /* More than there may be. */
  g_variant_builder_init (&uses, G_VARIANT_TYPE ("a(sidd)"));
  for (guint i = 0; i < 10 * QM_USES_MAX; i++)
    g_variant_builder_add (&uses, "(sidd)", "a6000", 4, 0.0, 0.0);
  g_settings_set_value (settings, "uses", g_variant_builder_end (&uses));
  qm_advisor_restore (fixture->advisor, settings);
  widgets_settle ();
  g_assert_cmpuint (count_rows (fixture), ==, QM_USES_MAX);
  g_settings_reset (settings, "uses");
}

#define ADD(name, function) \
  g_test_add ("/uses-editor/" name, Fixture, NULL, set_up, function, tear_down)

int
main (int argc, char **argv)
{
  widgets_init (&argc, &argv);
  ADD ("add", test_add);
  ADD ("change", test_change);
  ADD ("limits", test_limits);
  ADD ("many", test_many);
  ADD ("remove", test_remove);
  ADD ("advisor-changes", test_advisor_changes);
  ADD ("never-recommended", test_never_recommended);
  ADD ("reset", test_reset);
  ADD ("narrow", test_narrow);
  ADD ("kept", test_kept);
  ADD ("hostile-settings", test_hostile_settings);

  return g_test_run ();
}
