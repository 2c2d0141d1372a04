/* SPDX-License-Identifier: Apache-2.0 */

/* What is said about devices and measurements. */

#include "ui/machine/qm-machine-text.h"

#include <glib.h>
#include <math.h>

static void
assert_text (char *text, const char *expected)
{
  g_assert_cmpstr (text, ==, expected);
  g_free (text);
}

static void
test_durations (void)
{
  static const struct
  {
    double seconds;
    const char *text;
  } cases[] = {
    { 0, "1 second" },
    { NAN, "1 second" },
    { 41.4, "41 seconds" },
    { 100, "2 minutes" },
    { 89 * 60, "89 minutes" },
    { 7200, "2 hours" },
    { 7500, "2 hours 5 minutes" },
    { 13 * 3600 + 60, "13 hours" },
    { 3 * 86400, "3 days" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_text (qm_machine_text_duration (cases[i].seconds), cases[i].text);
}

static void
test_bytes (void)
{
  assert_text (qm_machine_text_bytes (-1), "");
  assert_text (qm_machine_text_bytes (3 << 20), "3 MiB");
  assert_text (qm_machine_text_bytes (130 << 20), "130 MiB");
  assert_text (qm_machine_text_bytes ((gint64) 3 << 29), "1.5 GiB");
  assert_text (qm_machine_text_bytes ((gint64) 141 << 30), "141 GiB");
}

static void
test_figures (void)
{
  assert_text (qm_machine_text_figure (NAN), "");
  assert_text (qm_machine_text_figure (INFINITY), "");
  assert_text (qm_machine_text_figure (0), "0");
  assert_text (qm_machine_text_figure (0.031234), "0.0312");
  assert_text (qm_machine_text_figure (34.24), "34.2");
  assert_text (qm_machine_text_figure (12400.4), "12,400");
  assert_text (qm_machine_text_interval (30, 28.1, 45.6), "28.1 to 45.6");
  assert_text (qm_machine_text_interval (30, NAN, 45.6), "30");
  assert_text (qm_machine_text_interval (30, 30.001, 30.002), "30");
  assert_text (qm_machine_text_interval (NAN, NAN, NAN), "");
}

static void
test_methods (void)
{
  assert_text (qm_machine_text_method ("naive", FALSE, "none"), "Naive");
  assert_text (qm_machine_text_method ("free-lunch", TRUE, NULL),
               "Free lunch, checkpointing");
  assert_text (qm_machine_text_method ("free-lunch", TRUE, "zero_3"),
               "Free lunch, checkpointing, ZeRO 3 offloading");
  assert_text (qm_machine_text_method ("free-lunch", FALSE, "fsdp_2"),
               "Free lunch, FSDP 2 offloading");
  /* What is not known is said as it is. */
  assert_text (qm_machine_text_method ("tf32+compile", FALSE, "else"),
               "tf32+compile, else");
  assert_text (qm_machine_text_method (NULL, FALSE, ""), "");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/machine-text/durations", test_durations);
  g_test_add_func ("/machine-text/bytes", test_bytes);
  g_test_add_func ("/machine-text/figures", test_figures);
  g_test_add_func ("/machine-text/methods", test_methods);
  return g_test_run ();
}
