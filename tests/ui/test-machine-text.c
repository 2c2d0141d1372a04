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
  assert_text (qm_machine_text_method ("naive", FALSE, NULL, "none"), "Naive");
  assert_text (qm_machine_text_method ("free-lunch", TRUE, NULL, NULL),
               "Free lunch, checkpointing");
  assert_text (qm_machine_text_method ("free-lunch", TRUE, NULL, "zero_3"),
               "Free lunch, checkpointing, ZeRO 3 offloading");
  assert_text (qm_machine_text_method ("free-lunch", FALSE, NULL, "fsdp_2"),
               "Free lunch, FSDP 2 offloading");
  /* What is not known is said as it is. */
  assert_text (qm_machine_text_method ("tf32+compile", FALSE, NULL, "else"),
               "tf32+compile, else");
  assert_text (qm_machine_text_method (NULL, FALSE, NULL, ""), "");
  /* What GPUs share is not offloaded. */
  assert_text (qm_machine_text_method ("free-lunch", TRUE, "zero_3", "none"),
               "Free lunch, checkpointing, ZeRO 3");
  assert_text (qm_machine_text_method ("naive", FALSE, "fsdp_2", NULL),
               "Naive, FSDP 2");
}

/* What a function says of a line. */
static void
assert_said (char *(*say) (const json_t *line),
             const char *line,
             const char *expected)
{
  json_t *object = json_loads (line, 0, NULL);

  g_assert_nonnull (object);
  assert_text (say (object), expected);
  json_decref (object);
}

static void
test_reasons (void)
{
  static const struct
  {
    const char *line, *text;
  } cases[] = {
    { "{}", "" },
    { "{\"reason\": \"as it is said\"}", "as it is said" },
    { "{\"cause\": \"memory\", \"memory\": \"device\", \"reason\": \"x\","
      " \"needs_bytes\": 25769803776, \"available_bytes\": 17179869184}",
      "a micro-batch of 1 needs 24 GiB of the device’s memory, and there are "
      "16 GiB" },
    { "{\"cause\": \"memory\", \"memory\": \"host\", \"reason\": \"x\","
      " \"needs_bytes\": 25769803776, \"available_bytes\": 0}",
      "a micro-batch of 1 needs 24 GiB of the host’s memory, and there are "
      "0 MiB" },
    { "{\"cause\": \"silence\", \"silence_s\": 121, \"reason\": \"x\"}",
      "it made no progress for 121 seconds and was given up" },
    { "{\"cause\": \"exit\", \"exit_status\": 7, \"reason\": \"x\"}",
      "the process that measured ended with status 7" },
    { "{\"cause\": \"out-of-memory\", \"reason\": \"cuda:0 is full\"}",
      "memory ran out (cuda:0 is full)" },
    { "{\"cause\": \"device\", \"reason\": \"lost\"}",
      "the device failed (lost)" },
    { "{\"cause\": \"unsupported\"}", "the engine cannot do it" },
    { "{\"cause\": \"slower\", \"cut_step_s\": 12.345,"
      " \"fastest_step_s\": 3, \"reason\": \"x\"}",
      "by one pass a step takes about 12.3 s, and the fastest way 3 s" },
    /* Something is missing, of another kind, absurd or new. */
    { "{\"cause\": \"memory\", \"memory\": \"device\", \"reason\": \"x\","
      " \"needs_bytes\": 1}",
      "x" },
    { "{\"cause\": \"memory\", \"memory\": \"disk\", \"reason\": \"x\","
      " \"needs_bytes\": 2, \"available_bytes\": 1}",
      "x" },
    { "{\"cause\": \"memory\", \"memory\": 4, \"reason\": \"x\","
      " \"needs_bytes\": -9223372036854775808, \"available_bytes\": 1.5}",
      "x" },
    { "{\"cause\": \"signal\", \"signal\": 0, \"reason\": \"x\"}", "x" },
    { "{\"cause\": \"exit\", \"reason\": \"x\"}", "x" },
    { "{\"cause\": \"slower\", \"cut_step_s\": -1, \"fastest_step_s\": 3,"
      " \"reason\": \"x\"}",
      "x" },
    { "{\"cause\": \"slower\", \"cut_step_s\": 1, \"reason\": \"x\"}", "x" },
    { "{\"cause\": \"something new\", \"reason\": \"x\"}", "x" },
    { "{\"cause\": [1], \"reason\": \"x\"}", "x" },
    { "{\"cause\": \"device\", \"reason\": 7}", "the device failed" },
  };
  json_t *line = json_pack ("{s:s, s:i, s:s}", "cause", "signal", "signal", 9,
                            "reason", "ended by signal 9");
  g_autofree char *text = qm_machine_text_reason (line);
  g_autofree char *hostile = NULL;

  g_assert_true (g_str_has_prefix (
      text, "the process that measured was ended by signal 9 ("));
  json_object_set_new (line, "signal", json_integer (G_MAXINT64));
  hostile = qm_machine_text_reason (line);
  g_assert_nonnull (hostile);
  json_decref (line);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_said (qm_machine_text_reason, cases[i].line, cases[i].text);
}

static void
test_errors (void)
{
  assert_said (qm_machine_text_error, "{\"cause\": \"busy\"}",
               "Another search is writing to the results.");
  assert_said (qm_machine_text_error, "{\"cause\": \"other-device\"}",
               "The device is another one than before.");
  assert_said (qm_machine_text_error,
               "{\"cause\": null, \"reason\": \"it fell\"}", NULL);
  assert_said (qm_machine_text_error, "{}", NULL);
}

static void
test_troubles (void)
{
  static const struct
  {
    const char *line, *text;
  } cases[] = {
    { "{}", "" },
    { "{\"trouble\": \"odd\", \"cause\": \"new\"}", "odd" },
    { "{\"trouble\": \"x\", \"cause\": \"old-gpu\", \"capability\": 70}",
      "Its compute capability is 7.0; 7.5 or newer is needed (Turing, Ampere, "
      "Ada, "
      "Hopper or later)." },
    { "{\"trouble\": \"x\", \"cause\": \"old-gpu\"}", "x" },
    { "{\"trouble\": \"x\", \"cause\": \"no-code\", \"capability\": 90}",
      "This program was built without code for its compute capability, 9.0." },
    { "{\"trouble\": \"lost\", \"cause\": \"broken\"}",
      "The GPU or its driver does not work: lost" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_said (qm_machine_text_trouble, cases[i].line, cases[i].text);
  assert_said (qm_machine_text_no_gpu, "{}", NULL);
  assert_said (qm_machine_text_no_gpu, "{\"no_gpu\": 7}", NULL);
  assert_said (qm_machine_text_no_gpu,
               "{\"no_gpu\": {\"cause\": \"new\", \"reason\": \"why\"}}",
               "why");
  assert_said (qm_machine_text_no_gpu,
               "{\"no_gpu\": {\"cause\": \"no-cuda\", \"reason\": \"x\"}}",
               "This program was built without CUDA.");
  assert_said (qm_machine_text_no_gpu,
               "{\"no_gpu\": {\"cause\": \"old-driver\", \"reason\": \"x\","
               " \"driver_cuda\": 11040, \"runtime_cuda\": 13000}}",
               "The NVIDIA driver is for CUDA 11.4; this program needs one for "
               "CUDA 13.0.");
  assert_said (qm_machine_text_no_gpu,
               "{\"no_gpu\": {\"cause\": \"old-driver\", \"reason\": \"x\","
               " \"driver_cuda\": null}}",
               "x");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/machine-text/bytes", test_bytes);
  g_test_add_func ("/machine-text/figures", test_figures);
  g_test_add_func ("/machine-text/methods", test_methods);
  g_test_add_func ("/machine-text/reasons", test_reasons);
  g_test_add_func ("/machine-text/errors", test_errors);
  g_test_add_func ("/machine-text/troubles", test_troubles);
  return g_test_run ();
}
